"""Checks of files, facts, the user's folder, known figures, and of the network: no socket is opened."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from gpudesk import paths
from gpudesk.cli.self_test.report import (
    CheckFailedError,
    CheckFinding,
    fail_on_faults,
    join_limited,
    open_shipped_catalog,
)
from gpudesk.text.formatting import Formatter
from gpudesk.text.messages import explain_system_error
from gpudesk.text.translation import tr, trn

#: Contents of a checkout's resources, by folder.
_FOLDERS: Final = {
    "fonts": "*.ttf",
    "icons": "*.svg",
    "manual": "*.md",
    "self_test": "*.json",
    "templates": "*.gpudesk",
}


def check_resources() -> CheckFinding:
    """In a bundle every file is unchanged since the build; in a checkout the sources are readable."""
    bundle = paths.find_bundle_dir()
    finding = _read_resources() if bundle is None else _compare(bundle)
    from gpudesk.documents.scenario_file import list_template_ids

    names = list_template_ids()
    if not names:
        raise CheckFailedError(tr("templates are missing"))
    with open_shipped_catalog() as service:
        for name in names:
            service.read_scenario(paths.resource(f"templates/{name}.gpudesk"))
    return finding


def _compare(bundle: Path) -> CheckFinding:
    from gpudesk.bundle_manifest import compare_bundle, list_missing_program_files

    differences = compare_bundle(bundle)
    harmed = []
    if differences.changed:
        harmed.append(tr("changed: {names}", names=join_limited(differences.changed)))
    if differences.missing:
        harmed.append(tr("missing: {names}", names=join_limited(differences.missing)))
    faults = [tr("{harm} (in {folder})", harm="; ".join(harmed), folder=bundle)] if harmed else []
    lost = list_missing_program_files(bundle)
    if lost:
        harm = tr("missing: {names}", names=join_limited(lost))
        faults.append(tr("{harm} (in {folder})", harm=harm, folder=bundle.parents[1]))
    fail_on_faults(faults)
    count = trn("{n} file intact", "{n} files intact", differences.unharmed)
    if differences.added:
        added = join_limited(differences.added)
        return CheckFinding(tr("{count}; unexpected files: {names}", count=count, names=added), doubt=True)
    return CheckFinding(count)


def _read_resources() -> CheckFinding:
    file_count = 0
    for name, pattern in _FOLDERS.items():
        files = sorted(paths.resource(name).glob(pattern))
        empty = [file for file in files if not file.read_bytes()]
        if empty or not files:
            raise CheckFailedError(tr("{file} is empty", file=empty[0] if empty else paths.resource(name)))
        file_count += len(files)
    paths.resource("translations")
    return CheckFinding(
        trn("{n} file read from a source checkout", "{n} files read from a source checkout", file_count)
    )


def check_catalog() -> CheckFinding:
    """SQLite finds the file intact, and all its rows are consistent and unchanged since the build."""
    from gpudesk.text.messages import format_message

    with open_shipped_catalog() as service:
        findings = service.verify()
        if findings:
            problem = format_message(findings[0].problem)
            raise CheckFailedError(f"{findings[0].where}: {problem}" if findings[0].where else problem)
        catalog = service.catalog
        return CheckFinding(
            tr(
                "{accelerators} accelerators, {models} models, {date}, revision {revision}",
                accelerators=len(catalog.accelerators()),
                models=len(catalog.models()),
                date=Formatter().date(catalog.data_date),
                revision=catalog.shipped_revision[:8],
            )
        )


def check_calibration() -> CheckFinding:
    with open_shipped_catalog() as service:
        calibration = service.calibration
        return CheckFinding(
            tr(
                "{n} constants, up to {month}, revision {revision}",
                n=len(calibration.constants),
                month=Formatter().date(calibration.newest_month),
                revision=calibration.revision[:8],
            )
        )


def check_user_file() -> CheckFinding:
    """The user's file opens; if it does not, the program still works, and the finding names the file."""
    from gpudesk.catalog.user_store.user_catalog import UserCatalog
    from gpudesk.text.messages import format_input_error

    path = paths.get_user_catalog_path()
    user_catalog = UserCatalog(path, lambda *_: None)
    try:
        if user_catalog.problem is not None:
            problem = format_input_error(user_catalog.problem).rstrip(".")
            problem = tr("your values cannot be loaded: {problem}; the shipped catalog still works", problem=problem)
            return CheckFinding(problem, doubt=True)
        if not os.access(path, os.F_OK):
            return CheckFinding(tr("no file yet"))
        return CheckFinding(trn("{n} value in your file", "{n} values in your file", len(user_catalog.facts)))
    finally:
        user_catalog.close()


#: Llama 3.1 70B in 16 bits: 70,553,706,496 parameters of 2 bytes.
_WEIGHTS_70B: Final = 141_107_412_992
#: H200 reads those weights at 4.8 TB/s for each token, so a single stream cannot be faster.
_CEILING_H200: Final = 34.3
_CEILING_MI325X: Final = 42.9


def check_golden() -> CheckFinding:
    """Known questions still get their recorded answers."""
    from gpudesk.estimation.golden_figures import GOLDEN_FILE, compare_golden, read_golden

    golden = read_golden(paths.resource(GOLDEN_FILE))
    with open_shipped_catalog() as service:
        differences = [(case, each) for case in golden.cases for each in compare_golden(case, service.estimate)]
    if differences:
        case, first = differences[0]
        raise CheckFailedError(
            tr(
                "{n} of {total} test questions have wrong answers; {question}: {field} is {found}, expected {expected}",
                n=len({case.name for case, _ in differences}),
                total=len(golden.cases),
                question=case.name,
                field=first.field,
                found=first.actual,
                expected=first.expected,
            )
        )
    return CheckFinding(
        trn(
            "{n} test question has the expected answer",
            "{n} test questions have the expected answers",
            len(golden.cases),
        )
    )


def check_memory() -> CheckFinding:
    """The weights of a model of published size, on an accelerator that holds them."""
    from gpudesk.estimation.request_fields import parse_request

    with open_shipped_catalog() as service:
        small = service.estimate(parse_request(_request("h200-sxm", "llama-3.1-70b")))
        large = service.estimate(parse_request(_request("h200-sxm", "llama-3.1-405b")))
    if small.memory.weights_bytes != _WEIGHTS_70B:
        raise CheckFailedError(tr("70B takes {n} bytes", n=Formatter().count(small.memory.weights_bytes)))
    if not small.fits or large.fits:
        raise CheckFailedError(tr("expected that 70B fits one H200 and 405B does not"))
    return CheckFinding(tr("70B takes {n} bytes", n=Formatter().count(_WEIGHTS_70B)))


def check_speed() -> CheckFinding:
    """A single stream cannot be faster than one read of its weights per token."""
    from gpudesk.estimation.request_fields import parse_request

    times, number = [], Formatter().number
    with open_shipped_catalog() as service:
        for accelerator, ceiling in (("h200-sxm", _CEILING_H200), ("mi325x", _CEILING_MI325X)):
            estimate = service.estimate(parse_request(_request(accelerator, "llama-3.1-70b")))
            rate = estimate.output_tokens_per_s
            if rate is None or not 0 < rate.low <= rate.value < ceiling:
                raise CheckFailedError(
                    tr("{accelerator}: expected less than {n} tok/s", accelerator=accelerator, n=ceiling)
                )
            times.append(f"{accelerator} {number(rate.value, 1)} < {number(ceiling, 1)}")
    return CheckFinding(tr("{rates} tok/s", rates=", ".join(times)))


def _request(accelerator: str, model: str) -> dict[str, Any]:
    return {
        "accelerator": accelerator,
        "model": model,
        "weights": "fp16",
        "input_tokens": 128,
        "output_tokens": 128,
        "load": {"batch": 1},
        "count": 1,
    }


_MB: Final = 1_000_000
#: Bytes below which room for daily backups runs out soon.
_LEAST_FREE: Final = 100 * _MB


def check_user_folder() -> CheckFinding:
    """The user's folder is writable, has room, and supports SQLite's journal."""
    from gpudesk.release import find_installation

    folder = paths.get_user_dir()
    try:
        paths.ensure_user_dir()
        with TemporaryDirectory(prefix=".self-test-", dir=folder) as inside:
            journal = _read_journal_mode(Path(inside) / "try.sqlite")
        free = shutil.disk_usage(folder).free
    except (OSError, sqlite3.Error) as error:
        problem = tr(
            "cannot write to {folder} ({reason}): values, settings and unsaved work are lost on exit",
            folder=folder,
            reason=explain_system_error(error),
        )
        return CheckFinding(problem, doubt=True)
    if journal != "wal":
        problem = tr("{folder} is on a drive without file locks: two programs cannot share your values", folder=folder)
        return CheckFinding(problem, doubt=True)
    if free < _LEAST_FREE:
        problem = tr("{folder} has only {n} MB free", folder=folder, n=free // _MB)
        return CheckFinding(problem, doubt=True)
    if find_installation() == "portable":
        return CheckFinding(tr("{folder}, next to the program", folder=folder))
    return CheckFinding(str(folder))


def _read_journal_mode(file: Path) -> str:
    with closing(sqlite3.connect(file)) as connection:
        (journal,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        connection.execute("CREATE TABLE try (word TEXT)")
        connection.execute("INSERT INTO try VALUES ('kept')")
        connection.commit()
    return str(journal)


#: Modules that an offline program does not need, and a frozen one does not contain.
_CLIENTS: Final = ("http.client", "ssl", "urllib.request", "PySide6.QtNetwork")

#: Tables of the sockets of a process, and the column of the inode.
_TABLES: Final = {
    **{f"{kind}{version}": 9 for kind in ("tcp", "udp", "udplite", "raw", "icmp") for version in ("", "6")},
    "packet": 8,
    "netlink": 9,
}
_UNIX_COLUMN: Final = 6
#: Reads only the system's own name.
_HARMLESS: Final = frozenset({"socket.gethostname"})
_PROCESS: Final = Path("/proc/self")
_SOCKET: Final = re.compile(r"socket:\[(\d+)\]")


class SocketWatch:
    """Records every socket that Python opens from now on; a singleton, since audit hooks cannot be removed."""

    def __init__(self) -> None:
        self.reports: list[str] = []
        self.inherited = frozenset(_open_sockets())
        sys.addaudithook(self._note)

    def _note(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event.startswith("socket.") and event not in _HARMLESS:
            # The first argument is the socket itself, possibly half initialized.
            arguments_text = ", ".join(str(each) for each in arguments[1:])
            self.reports.append(f"{event.removeprefix('socket.')}({arguments_text})")


_watch: SocketWatch | None = None


def watch() -> None:
    global _watch
    if _watch is None:
        _watch = SocketWatch()


def check_network() -> CheckFinding:
    """No connection was opened, none is open, and a frozen program lacks the modules for one."""
    watch()
    assert _watch is not None
    faults = [tr("a network socket was used: {what}", what=what) for what in _watch.reports]
    numbers = _open_sockets() - _watch.inherited
    faults += [tr("a network socket is open: {kind}", kind=kind) for kind in sorted(_list_socket_kinds(numbers))]
    if getattr(sys, "frozen", False):
        faults += [tr("{name} must not ship with the program", name=name) for name in _CLIENTS if _is_there(name)]
    fail_on_faults(faults)
    return CheckFinding(tr("no network socket opened"))


def _open_sockets() -> set[str]:
    """Return the inodes of the open sockets of this process; empty if the system does not list them."""
    numbers: set[str] = set()
    try:
        descriptors = list((_PROCESS / "fd").iterdir())
    except OSError:
        return numbers
    for descriptor in descriptors:
        # The descriptor of the listing itself is closed by now.
        with suppress(OSError):
            match = _SOCKET.fullmatch(str(descriptor.readlink()))
            if match is not None:
                numbers.add(match[1])
    return numbers


def _list_socket_kinds(numbers: set[str]) -> Iterator[str]:
    """Yield the kinds of the sockets with these inodes that can reach other machines.

    A socket that is not connected is in no table; local ones always are in theirs.
    """
    within = _list_sockets("unix", _UNIX_COLUMN)
    if within is None:
        return
    for number in numbers - within:
        kinds = (name for name, column in _TABLES.items() if number in (_list_sockets(name, column) or ()))
        yield next(kinds, tr("unknown kind"))


def _list_sockets(table: str, column: int) -> set[str] | None:
    """Return the inodes of the sockets of a table, None if the system does not show it."""
    try:
        lines = (_PROCESS / "net" / table).read_text().splitlines()[1:]
    except OSError:
        return None
    return {fields[column] for line in lines if len(fields := line.split()) > column}


def _is_there(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ImportError:
        return False
