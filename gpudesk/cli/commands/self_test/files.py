"""Whether every file that belongs to the program is there and unharmed."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from gpudesk import paths
from gpudesk.cli.commands.self_test.found import FailedError, Found, fail_for, listed, opened
from gpudesk.text import tr, trn

#: What the resources of a checkout have, by folder.
_FOLDERS: Final = {
    "fonts": "*.ttf",
    "icons": "*.svg",
    "manual": "*.md",
    "self_test": "*.json",
    "templates": "*.gpudesk",
}


def check_resources() -> Found:
    """In a bundle every file is as it was built; in a checkout what is edited there can be read."""
    bundle = paths.bundle_dir()
    found = _read_resources() if bundle is None else _compare(bundle)
    _open_templates()
    return found


def _compare(bundle: Path) -> Found:
    from gpudesk.workbench.bundle_manifest import compare_bundle, missing_program_files

    differences = compare_bundle(bundle)
    harmed = []
    if differences.changed:
        harmed.append(tr("changed: {names}", names=listed(differences.changed)))
    if differences.missing:
        harmed.append(tr("missing: {names}", names=listed(differences.missing)))
    faults = [tr("{harm} (in {folder})", harm="; ".join(harmed), folder=bundle)] if harmed else []
    lost = missing_program_files(bundle)
    if lost:
        harm = tr("missing: {names}", names=listed(lost))
        faults.append(tr("{harm} (in {folder})", harm=harm, folder=bundle.parents[1]))
    fail_for(faults)
    count = trn("{n} file unharmed", "{n} files unharmed", differences.unharmed)
    if differences.added:
        added = listed(differences.added)
        return Found(tr("{count}; not of the program: {names}", count=count, names=added), doubt=True)
    return Found(count)


def _read_resources() -> Found:
    read = 0
    for name, pattern in _FOLDERS.items():
        files = sorted(paths.resource(name).glob(pattern))
        empty = [file for file in files if not file.read_bytes()]
        if empty or not files:
            raise FailedError(tr("nothing is in {file}", file=empty[0] if empty else paths.resource(name)))
        read += len(files)
    paths.resource("translations")
    return Found(trn("{n} file read in a checkout", "{n} files read in a checkout", read))


def _open_templates() -> None:
    """Every ready-made scenario opens, and the catalog knows what it names."""
    from gpudesk.workbench.templates import template_ids

    names = template_ids()
    if not names:
        raise FailedError(tr("there are no templates"))
    with opened() as workbench:
        for name in names:
            workbench.read_scenario(paths.resource(f"templates/{name}.gpudesk"))
