"""What processes do that are killed or find no room: edits at the window, imports and exports."""

from __future__ import annotations

import io
import os
import time
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from itertools import count, cycle, product
from pathlib import Path
from random import Random

from PySide6.QtCore import QTimer

from gpudesk.catalog.user_store.user_file import UserFile
from gpudesk.cli.main import main
from gpudesk.desktop.session.scenario_edits import replace_load_value
from gpudesk.desktop.window import app
from gpudesk.desktop.window.app import DesktopProgram
from gpudesk.desktop.window.main_window import MainWindow
from gpudesk.documents.packs import make_pack
from gpudesk.domain.claim import Source, SourceKind
from gpudesk.domain.user_facts import UserFacts, UserPrice
from tests.unit.catalog.processes import ROOT
from tests.unit.catalog.user_file_process import print_json
from tests.unit.catalog.user_samples import numbered

#: The document that is edited; next to it the user's folder.
DOCUMENT = "chat.gpudesk"
#: Prices of one import: enough for a backup before it.
PRICES = 60
#: Facts of one source that an import adds, by what is imported.
IMPORTED_FACTS = {"prices": PRICES, "model": 18, "pack": PRICES}
_CONFIG = ROOT / "tests/data/hf/llama-3.1-405b.json"
_SHEET = ("sheet", "--template", "70b-chat-on-four")
_SWEEP = ("--accelerators", "h100-sxm", "--models", "llama-3.1-8b", "--weights", "fp8", "--input-tokens", "1024")
EXPORTS = {
    "own.csv": ("catalog", "export", "own"),
    "own.xlsx": ("catalog", "export", "own"),
    "own.gpudeskpack": ("catalog", "pack"),
    "sheet.html": _SHEET,
    "sheet.gpudesk": _SHEET,
    "sheet.csv": _SHEET,
    "sheet.xlsx": _SHEET,
    "sheet.pdf": _SHEET,
    "cash_flow.xlsx": ("cost", *_SHEET[1:], "--draws", "500"),
    "sweep.csv": ("sweep", *_SWEEP, "--output-tokens", "512", "--concurrency", "1..256*2"),
}


def edit_at_window(home: Path) -> None:
    """Open the document, move its load from 1000 upwards every few milliseconds, and save it now and then."""
    os.environ.update({"GPUDESK_HOME": str(home), "QT_QPA_PLATFORM": "offscreen"})
    start, random, loads = app._start, Random(), count(1000)

    def edit(window: MainWindow) -> None:
        load = next(loads)
        window.desk.apply(replace_load_value(window.desk.scenario, load), "Load")
        print_json(load=load, at=_read_clock())
        if random.random() < 0.05:
            window.document.save()
        QTimer.singleShot(random.randrange(120), lambda: edit(window))

    def start_and_edit(program: DesktopProgram, files: Sequence[Path]) -> MainWindow:
        window = start(program, files)
        QTimer.singleShot(0, lambda: edit(window))
        return window

    app._start = start_and_edit
    app.run_window([str(home.parent / DOCUMENT)])


def _read_clock() -> float:
    """Return seconds that pass while this thread runs or sleeps, not while others have the processor."""
    waited_ns = int(Path("/proc/thread-self/schedstat").read_text().split()[1])
    return time.monotonic() - waited_ns / 1e9


def _run(*command: str) -> None:
    with redirect_stdout(io.StringIO()):
        assert main(command) == 0


def import_files(home: Path) -> None:
    """Import prices, a model and a pack in turn, each with a source of its own."""
    os.environ["GPUDESK_HOME"] = str(home)
    with UserFile.open(home / "catalog.sqlite") as file:
        first = sum(isinstance(fact, Source) for fact in file.facts)
    for number in count(first):
        kind = list(IMPORTED_FACTS)[number % len(IMPORTED_FACTS)]
        # The source of a model is named after its folder.
        folder = home.parent / f"{kind}-{number}"
        folder.mkdir(exist_ok=True)
        match kind:
            case "prices":
                path = folder / f"prices-{number}.csv"
                _write_prices(path, number)
                _run("import", str(path))
            case "model":
                path = folder / "config.json"
                path.write_bytes(_CONFIG.read_bytes())
                _run("import", str(path), "--as", f"model-{number}")
            case _:
                path = folder / "prices.gpudeskpack"
                path.write_bytes(_make_pack(number))
                _run("import", str(path), "--trust")
        print_json(done=number)


def _make_pack(number: int) -> bytes:
    source = Source(f"own-pack-{number}", f"pack-{number}", "a test", SourceKind.USER)
    prices = (
        UserPrice(f"own-{number}-{place}", "mi325x", "on_demand", source.id, SourceKind.USER, 2.0)
        for place in range(PRICES)
    )
    facts = UserFacts.of((source, *prices))
    return make_pack(facts, facts.facts.keys(), "Prices", date="2026-07-01", about="a test")


def _write_prices(path: Path, number: int) -> None:
    rows = (f"h200-sxm,{1 + number / 100},on demand,Provider {row},eu,2026-01-02" for row in range(PRICES))
    path.write_text("\n".join(("accelerator,usd_per_accelerator_hour,term,provider,region,date", *rows)))


def export_all(home: Path) -> None:
    """Write each export in turn."""
    os.environ["GPUDESK_HOME"] = str(home)
    names = list(EXPORTS)
    start = Random().randrange(len(names))
    for name in cycle(names[start:] + names[:start]):
        _run(*EXPORTS[name], "-o", str(home.parent / name))
        print_json(done=name)


def write_without_room(folder: Path) -> None:
    """Export everything and import a list on a disk that has ever more room, and say how each command ended."""
    home, ballast, prices = folder / "home", folder / "ballast", folder / "prices.csv"
    home.mkdir()
    os.environ["GPUDESK_HOME"] = str(home)
    _write_prices(prices, 0)
    with UserFile.open(home / "catalog.sqlite") as file:
        file.apply(numbered(1))
    commands = {name: (*command, "-o", str(folder / name)) for name, command in EXPORTS.items()}
    commands["import"] = ("import", str(prices))
    for room, (name, command) in product((0, *(4096 << power for power in range(9))), commands.items()):
        (folder / name).write_bytes(b"before")
        _leave_room(ballast, room)
        before = set(folder.iterdir())
        errors = io.StringIO()
        with redirect_stdout(io.StringIO()), redirect_stderr(errors):
            code = main(command)
        left = [each.name for each in set(folder.iterdir()) - before]
        ballast.unlink()
        with UserFile.open(home / "catalog.sqlite") as file:
            facts = len(file.facts)
        is_unchanged = (folder / name).read_bytes() == b"before"
        print_json(name=name, room=room, code=code, errors=errors.getvalue(), kept=is_unchanged, facts=facts, left=left)


def _leave_room(ballast: Path, room: int) -> None:
    with ballast.open("wb", buffering=0) as file:
        for piece in (1 << 16, 4096):
            with suppress(OSError):
                while file.write(bytes(piece)) == piece:
                    pass
        file.truncate(max(file.tell() - room, 0))
