"""Build hook: the files of a wheel besides the code, and the record of its commit.

A wheel gets the shipped catalog, made from `data/`, the resources, the compiled translations and the record. A source
archive has no git history, so it carries the record for wheels built from it.
"""

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

BUNDLE = "gpudesk/_bundled"

# Everything else in data/ is compiled into the catalog.
RUN_TIME_DATA = (
    "calculations.toml",
    "calibration.json",
    "cost_assumptions.toml",
    "diffusion_constants.toml",
    "export_rules.toml",
    "launch.toml",
    "measurements",
    "model_architectures",
    "plausibility.toml",
    "price_names.toml",
    "profile.toml",
    "references.toml",
    "rules",
    "software_support",
    "worked_examples.csv",
)

# The program reads only the compiled form of these.
TRANSLATIONS = "translations"

# Slow to make, and optional.
OPTIONAL_DATA = ("accuracy/held-out.csv",)

# Git can take its time here, because the record cannot be made later.
PATIENCE_S = 60.0


class BundleBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Adds `gpudesk/_bundled/` to a wheel; an editable install reads the checkout and gets none."""

    _folder: tempfile.TemporaryDirectory[str] | None = None

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Make the generated files in a temporary folder and pass every file to the builder."""
        if version == "editable":
            return
        root = Path(self.root)
        self._folder = tempfile.TemporaryDirectory(prefix="gpudesk-bundle-")
        folder = Path(self._folder.name)
        code = [str(root), str(root / "packaging")]
        sys.path[:0] = code
        try:
            included = build_data["force_include"]
            if self.target_name == "sdist":
                _include_source_record(root, folder, included)
            else:
                _include_bundle(root, folder, included)
        finally:
            for each in code:
                sys.path.remove(each)

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Remove the temporary folder once the archive is complete."""
        if self._folder is not None:
            self._folder.cleanup()


# The imports below use this source tree, which is not installed during the build.


def _include_bundle(root: Path, folder: Path, included: dict[str, str]) -> None:
    from bundle_manifest import list_included_files, make_manifest_text
    from catalog_build.writer import build_catalog
    from gpudesk.bundle_manifest import MANIFEST
    from translations import compile_languages

    catalog, record = folder / "catalog.sqlite", folder / "build.json"
    build_catalog(root / "data", catalog)
    _write_record(root, record)
    for file in (catalog, record):
        included[str(file)] = f"{BUNDLE}/{file.name}"
    for entry in sorted((root / "resources").iterdir()):
        if entry.name != TRANSLATIONS:
            included[str(entry)] = f"{BUNDLE}/resources/{entry.name}"
    compile_languages(folder / TRANSLATIONS)
    included[str(folder / TRANSLATIONS)] = f"{BUNDLE}/resources/{TRANSLATIONS}"
    optional = [name for name in OPTIONAL_DATA if (root / "data" / name).exists()]
    for name in (*RUN_TIME_DATA, *optional):
        included[str(root / "data" / name)] = f"{BUNDLE}/data/{name}"
    manifest = folder / MANIFEST
    manifest.write_text(make_manifest_text(list_included_files(included, BUNDLE)), encoding="utf-8", newline="\n")
    included[str(manifest)] = f"{BUNDLE}/{MANIFEST}"


def _include_source_record(root: Path, folder: Path, included: dict[str, str]) -> None:
    from gpudesk.release import SOURCE_RECORD

    _write_record(root, folder / SOURCE_RECORD)
    included[str(folder / SOURCE_RECORD)] = SOURCE_RECORD


def _write_record(root: Path, target: Path) -> None:
    """Write the record of the sources; the same commit gives the same bytes."""
    from gpudesk.release import read_release

    record = read_release(root, PATIENCE_S).record()
    target.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
