"""Runs a case in this process and says what went wrong: an unexpected fault, too much time, too much memory."""

from __future__ import annotations

import contextlib
import io
import os
import resource
import shutil
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import process_time
from typing import Any, Final
from unittest.mock import patch

from gpudesk import paths
from gpudesk.catalog.database import CatalogDatabase
from gpudesk.catalog.read import Catalog
from gpudesk.cli import main as entry
from gpudesk.cli.commands import cost
from gpudesk.decision.rules import data_files
from gpudesk.estimation import published_runs
from gpudesk.evidence import calibration_file
from tests.fuzz.cases import CATALOG, FOLDER, SHIPPED, FuzzCase

#: What a damaged file or an odd command line may take of the processor, in seconds, and of memory, in MiB.
MOST_SECONDS: Final = 2.0
MOST_MIB: Final = 500
#: What the program takes before a file is read.
_BASE_MIB: Final = 150
#: What takes longer on good input too, up to 3.2 s on the templates: to find what would change a decision, it decides
#: some 350 times. Other programs on the machine and odd answers make that more.
_MOST_SECONDS_OF: Final = {"decide": 8.0, "sheet": 8.0}
_CODES: Final = frozenset({0, 1, 2})
#: They are the same for all cases, and reading them takes longer than most of these.
_SAME_FILES: Final = tuple(
    (module, name, cache(getattr(module, name)))
    for module, name in (
        (calibration_file, "read_calibration"),
        (published_runs, "read_measured_runs"),
        (published_runs, "read_held_out"),
        (data_files, "read_rules"),
    )
)
_open_catalog: Final = Catalog.open
_close_database: Final = CatalogDatabase.close


@dataclass(frozen=True, slots=True)
class FuzzFinding:
    """What a command did that it must not: `signature` is alike for what is likely to be one mistake."""

    seed: str
    command: tuple[str, ...]
    signature: str
    detail: str


def get_peak_mib() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def run_case(case: FuzzCase, folder: Path) -> list[FuzzFinding]:
    """Lay out the files of a case in an empty folder and run its commands there."""
    shutil.rmtree(folder, ignore_errors=True)
    home = folder / "home"
    home.mkdir(parents=True)
    for name, raw in case.files.items():
        (folder / name).write_bytes(raw)
    with _in_folder(folder, home):
        return [
            finding
            for command in case.commands
            if (finding := _run(case.seed, tuple(word.replace(FOLDER, str(folder)) for word in command))) is not None
        ]


def _run(seed: str, command: tuple[str, ...]) -> FuzzFinding | None:
    before, began = get_peak_mib(), process_time()
    code, fault = _call(command)
    took, grown = process_time() - began, get_peak_mib() - before
    if fault is not None:
        trace = traceback.extract_tb(fault.__traceback__)
        own = next((each for each in reversed(trace) if "gpudesk" in each.filename), trace[-1])
        signature = f"{type(fault).__name__} at {Path(own.filename).name}:{own.lineno}"
        return FuzzFinding(seed, command, signature, "".join(traceback.format_exception(fault)))
    if code not in _CODES:
        return FuzzFinding(seed, command, f"exit code {code}", "")
    if grown > MOST_MIB - _BASE_MIB:
        return FuzzFinding(seed, command, f"memory: {command[0]}", f"{grown} MiB")
    most = _MOST_SECONDS_OF.get(command[0], MOST_SECONDS)
    if took > most:
        # The first time, modules are loaded.
        began = process_time()
        _call(command)
        took = process_time() - began
    if took > most:
        return FuzzFinding(seed, command, f"slow: {command[0]}", f"{took:.1f} s of the processor")
    return None


def _call(command: tuple[str, ...]) -> tuple[object, BaseException | None]:
    """Run a command line; return its exit code and the fault that no one expected."""
    faults: list[BaseException] = []

    def note(error: BaseException, _arguments: object) -> str:
        faults.append(error)
        return "an unexpected fault"

    code: object = None
    with (
        contextlib.redirect_stdout(_make_stream()),
        contextlib.redirect_stderr(_make_stream()),
        patch.object(entry, "log_unexpected", note),
    ):
        try:
            code = entry.main(command)
        except Exception as error:  # noqa: BLE001 - nothing may leave it, not even while an error is told
            note(error, command)
    return code, next(iter(faults), None)


def _make_stream() -> Any:  # noqa: ANN401 - a text stream with bytes below, as the standard ones are
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8")


@cache
def _open_shipped() -> Catalog:
    """Open the shipped catalog once for all cases; none of them can change it."""
    return _open_catalog(SHIPPED)


def _close(database: CatalogDatabase) -> None:
    if database is not _open_shipped().shipped.store:
        _close_database(database)


@contextlib.contextmanager
def _in_folder(folder: Path, home: Path) -> Iterator[None]:
    """Be in the folder, as an installed program with the catalog of the case, or the shipped one."""
    former = Path.cwd()
    own = folder / CATALOG
    catalog = own if own.exists() else SHIPPED
    os.chdir(folder)
    try:
        with patch.dict(os.environ, {"GPUDESK_HOME": str(home)}), contextlib.ExitStack() as patches:
            for owner, name, value in (
                (paths, "data_dir", lambda: None),
                (paths, "get_catalog_path", lambda: catalog),
                (Catalog, "open", lambda path: _open_shipped() if path == SHIPPED else _open_catalog(path)),
                (CatalogDatabase, "close", _close),
                (cost, "_DRAWS", 500),
                *_SAME_FILES,
            ):
                patches.enter_context(patch.object(owner, name, value))
            yield
    finally:
        os.chdir(former)
