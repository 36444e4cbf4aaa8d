"""Build hook of the wheel: make the shipped catalog from `data/` and put it inside, with the resources."""

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

BUNDLE = "gpudesk/_bundled"

# Everything else in data/ is read when the catalog is built and lies in it.
RUN_TIME_DATA = ("calibration.json", "measurements")

# Takes minutes to make, and the program does without.
OPTIONAL_DATA = ("accuracy/held-out.csv",)

# Folders of resources/ that the README shows and the program does not.
FOR_READERS = ("pictures",)


class CatalogBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Adds `gpudesk/_bundled/` to a wheel; an editable install reads the checkout and gets none."""

    _folder: tempfile.TemporaryDirectory[str] | None = None

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the catalog in a temporary folder and name every bundled file to the wheel builder."""
        if version == "editable":
            return
        root = Path(self.root)
        self._folder = tempfile.TemporaryDirectory(prefix="gpudesk-catalog-")
        catalog = Path(self._folder.name) / "catalog.sqlite"
        _build_catalog(root, catalog)
        included = build_data["force_include"]
        included[str(catalog)] = f"{BUNDLE}/catalog.sqlite"
        for entry in sorted((root / "resources").iterdir()):
            if entry.name not in FOR_READERS:
                included[str(entry)] = f"{BUNDLE}/resources/{entry.name}"
        optional = [name for name in OPTIONAL_DATA if (root / "data" / name).exists()]
        for name in (*RUN_TIME_DATA, *optional):
            included[str(root / "data" / name)] = f"{BUNDLE}/data/{name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Remove the temporary folder once the wheel holds its content."""
        if self._folder is not None:
            self._folder.cleanup()


def _build_catalog(root: Path, target: Path) -> None:
    """Build with the code of this source tree, which is not installed while its wheel is being made."""
    sys.path.insert(0, str(root))
    try:
        from gpudesk.catalog.build import build_catalog

        build_catalog(root / "data", target)
    finally:
        sys.path.remove(str(root))
