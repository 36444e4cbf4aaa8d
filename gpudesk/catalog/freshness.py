"""Whether the catalog of a checkout still says what `data/` says, and building it anew where it does not.

The digest of everything that a catalog is made from lies in the catalog itself. It goes by content, not by
dates: dates change with a checkout and stay with a copy. Reading the files takes some milliseconds.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final

from gpudesk.catalog import readers
from gpudesk.catalog.store import CatalogFileError, Store, file_problem

#: The parts of `data/` that lie in the catalog.
PARTS: Final = (
    "accelerators",
    "claims",
    "diffusion",
    "disputes",
    "models",
    "prices",
    "serving_engines",
    "sources",
)
_PACKAGE: Final = Path(__file__).resolve().parents[1]


def inputs_digest(data_dir: Path) -> str:
    """Digest the data files and the code that turns them into a catalog."""
    digest = hashlib.sha256()
    for folder in (*(data_dir / part for part in PARTS), _PACKAGE / "domain", _PACKAGE / "catalog"):
        for file in sorted(folder.glob("*.*")):
            if file.suffix in {".toml", ".csv", ".py"}:
                content = file.read_bytes()
                digest.update(f"{folder.name}/{file.name} {len(content)}\n".encode())
                digest.update(content)
    return digest.hexdigest()


def catalog_is_stale(data_dir: Path, path: Path) -> bool:
    """Whether the catalog at `path` is missing, unusable, or made from other data than `data_dir` holds."""
    if file_problem(path) is not None:
        return True
    try:
        with Store(path) as store:
            return readers.read_meta(store).get("inputs") != inputs_digest(data_dir)
    except CatalogFileError:
        return True


def ensure_built(data_dir: Path, path: Path) -> bool:
    """Build the catalog of a checkout if it is stale, and return whether it was.

    Two processes may do so at once: each builds a file of its own, and either takes the place whole. A file
    that is something else than a catalog is not overwritten; that raises `CatalogFileError`.
    """
    problem = file_problem(path)
    if problem is not None and problem.id == "catalog.file.foreign":
        raise CatalogFileError(problem, path)
    if not catalog_is_stale(data_dir, path):
        return False
    # Building needs SQLAlchemy and pydantic, which take longer to load than a fresh catalog to read.
    from gpudesk.catalog.build import build_catalog

    build_catalog(data_dir, path)
    return True
