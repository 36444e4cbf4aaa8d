"""Measure two states in turn: `python -m tests.parity.speed OLD NEW [--rounds N]`, each a checkout.

Prints the medians of both, the median of new over old of all rounds, and that of the best rounds. Times are
those of the processor, but for one of the start, so that others at work count little. Each round takes both
states, each in a process of its own, so that they find the machine alike.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from tests.parity.case import MODELS, PARTS
from tests.parity.environment import ROOT, run_command

_ROUNDS: Final = 5
#: What a measurement may lose, as a share, until it is called slower.
_SLOWER: Final = 1.02
_LINES: Final = 20_000
_SLIDER_STEPS: Final = 60
_SHEETS: Final = 7
_BATCHES: Final = 2
_SWITCHES: Final = 3
_BATCHED: Final = (("llama-3.1-70b", "fp8"), ("gpt-oss-120b", "mxfp4"), ("deepseek-v3", "fp8"), ("qwen3-32b", "bf16"))
_BATCHED_PARTS: Final = ("h100-sxm", "h200-sxm", "b200-hgx", "mi300x", "mi325x", "mi355x")
_SWEEP: Final = (
    "sweep --accelerators h200-sxm,mi325x --models llama-3.1-70b,qwen3-32b --weights fp8 --tp 4 "
    "--input-tokens 128..6400+200 --output-tokens 64..1650+100 --concurrency 1..256+1"
)

Times = dict[str, float]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure both, or in a process of its own one of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path, nargs="?", default=ROOT)
    parser.add_argument("--rounds", type=int, default=_ROUNDS)
    parser.add_argument("--only", nargs="*", choices=tuple(_PARTS), default=list(_PARTS))
    parser.add_argument("--measure", choices=tuple(_PARTS), help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.measure:
        _prepare(options.old.resolve())
        print(json.dumps(_PARTS[options.measure](options.old.resolve())))
        return 0
    trees = (options.old.resolve(), options.new.resolve())
    # Modules are compiled before anything counts.
    for tree in trees:
        _measured("start", tree)
    times_of_states: list[list[Times]] = [[], []]
    for number in range(options.rounds):
        # Who begins changes, so that no one always finds the machine as the other left it.
        for side in (0, 1) if number % 2 == 0 else (1, 0):
            times_of_states[side].append(
                {k: v for part in options.only for k, v in _measured(part, trees[side]).items()}
            )
        print(f"round {number + 1} of {options.rounds}", file=sys.stderr)
    for line in _report(*times_of_states):
        print(line)
    return 0


def _measured(part: str, tree: Path) -> Times:
    """Measure in a process of its own."""
    with tempfile.TemporaryDirectory(prefix="parity-") as folder:
        environment = {
            **os.environ,
            "GPUDESK_HOME": str(Path(folder, "home")),
            "GPUDESK_LANGUAGE": "en",
            "LC_ALL": "C.UTF-8",
            "QT_QPA_PLATFORM": "offscreen",
            "PARITY_BEGUN": repr(time.monotonic()),
            # Modules are compiled once, as those of an installed program are.
            "PYTHONDONTWRITEBYTECODE": "",
            "PYTHONPYCACHEPREFIX": str(ROOT / "build" / "parity" / "compiled"),
        }
        command = [sys.executable, "-m", "tests.parity.speed", "--measure", part, str(tree)]
        completed = subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True)
    times: Times = json.loads(completed.stdout.splitlines()[-1])
    return times


def _prepare(tree: Path) -> None:
    """Let this process be one of the program of a tree."""
    sys.path.insert(0, str(tree))
    import gpudesk

    if Path(str(gpudesk.__file__)).resolve().parents[1] != tree:
        raise SystemExit(f"the program did not come from {tree}")


def _report(old: Sequence[Times], new: Sequence[Times]) -> Iterator[str]:
    yield f"{'':44}{'old':>12}{'new':>12}{'new / old':>12}{'of bests':>12}"
    for name in old[0]:
        one, other = (statistics.median(times[name] for times in side) for side in (old, new))
        ratio = statistics.median(b[name] / a[name] for a, b in zip(old, new, strict=True))
        # What someone waits for is better the smaller it is, lines a second the larger.
        is_rate = name.endswith("/s")
        best = max if is_rate else min
        bests = best(times[name] for times in new) / best(times[name] for times in old)
        # Chance rarely moves both.
        is_slower = all((1 / each if is_rate else each) > _SLOWER for each in (ratio, bests))
        yield f"{name:44}{one:12,.1f}{other:12,.1f}{ratio:12.3f}{bests:12.3f}{'  slower' * is_slower}"


# What is measured


def _start(tree: Path) -> Times:
    """From the start of the process to the first paint of the window with a scenario."""
    begin_time = float(os.environ["PARITY_BEGUN"])
    times: Times = {}

    def instead(app: Any) -> None:  # noqa: ANN401 - Qt's application
        _until_painted(app)
        times["start to first paint, ms"] = (time.monotonic() - begin_time) * 1000
        times["start to first paint, ms of processor"] = time.process_time() * 1000

    _in_window(tree, instead)
    return times


def _window(tree: Path) -> Times:
    """Steps of the load slider on three pages, theme switch with all pages open, and memory after that."""
    times: Times = {}

    def instead(app: Any) -> None:  # noqa: ANN401 - Qt's application
        window = _main_window(app)
        window.resize(1280, 800)
        _until_painted(app)
        for page in ("Compare", "Performance", "Memory and fit"):
            times[f"first opening of {page}, ms"] = _triggered(app, _entry(window, "View", page))
            _rest(app)
            times[f"slider step on {page}, ms"] = _drag(app, window)
        for page in ("Cost", "Decide", "Catalog"):
            times[f"first opening of {page}, ms"] = _triggered(app, _entry(window, "View", page))
            _rest(app)
        switches = []
        for _ in range(_SWITCHES):
            for theme in ("Dark", "Light"):
                switches.append(_triggered(app, _theme_entry(window, theme)))
                _rest(app)
        times["theme switch, all pages open, ms"] = statistics.median(switches)
        statm = Path("/proc/self/statm").read_text(encoding="ascii")
        times["memory after all pages, MB"] = int(statm.split()[1]) * 4096 / 1e6

    _in_window(tree, instead, template="405b-one-node")
    return times


def _commands(_: Path) -> Times:
    """Sheet, sweep and batch, by the commands, in a process that has done each once before."""
    times: Times = {}
    with tempfile.TemporaryDirectory(prefix="parity-") as folder:
        sheet = ["sheet", "--template", "70b-chat-on-four", "-o", f"{folder}/sheet.pdf"]
        _timed(sheet)
        times["sheet as PDF, ms"] = statistics.median(_timed(sheet) for _ in range(_SHEETS)) * 1000
        for suffix in ("npz", "csv"):
            step = [*_SWEEP.split(), "-o", f"{folder}/sweep.{suffix}"]
            times[f"sweep to {suffix}, ms"] = min(_timed(step), _timed(step)) * 1000
        for name, make_requests in (("alike", _alike), ("all different", _different)):
            requests_path, few = Path(folder, "asked.jsonl"), Path(folder, "few.jsonl")
            few.write_text("".join(_lines(_alike, 200)), encoding="utf-8")
            requests_path.write_text("".join(_lines(make_requests, _LINES)), encoding="utf-8")
            started = _timed(["estimate", "--batch", str(few)])
            took = min(_timed(["estimate", "--batch", str(requests_path)]) for _ in range(_BATCHES)) - started
            times[f"batch, lines {name}, lines/s"] = (_LINES - 200) / took
    return times


_PARTS: Final[dict[str, Callable[[Path], Times]]] = {"start": _start, "window": _window, "commands": _commands}


def _timed(arguments: list[str]) -> float:
    """Return the seconds of processor time that a command takes."""
    start = time.process_time()
    output = run_command(arguments)
    if output.code not in (0, 1):
        raise SystemExit(f"{arguments[:2]}: {output.code} {output.err[-500:]}")
    return time.process_time() - start


def _lines(make: Callable[[int, random.Random], dict[str, Any]], count: int) -> Iterator[str]:
    draw = random.Random(2)
    for number in range(count):
        yield json.dumps(make(number, draw)) + "\n"


def _alike(number: int, draw: random.Random) -> dict[str, Any]:
    model, weights = draw.choice(_BATCHED)
    degrees = {"tp": 8, "pp": 1, "ep": 1, "dp": 1, "attention_dp": False}
    return {
        "id": number,
        "accelerator": draw.choice(_BATCHED_PARTS),
        "count": 8,
        "model": model,
        "weights": weights,
        "kv": "fp8",
        "serving_engine": "vllm",
        **degrees,
        "input_tokens": draw.randint(100, 8000),
        "output_tokens": draw.randint(100, 2000),
        "load": {"concurrency": draw.randint(1, 512)},
    }


def _different(number: int, draw: random.Random) -> dict[str, Any]:
    tp = draw.choice((1, 2, 4, 8))
    return {
        **_alike(number, draw),
        "model": draw.choice(MODELS),
        "weights": draw.choice(("bf16", "fp8", "int4")),
        "tp": tp,
        "dp": 8 // tp,
        "accelerator": draw.choice(PARTS),
    }


# The window, by what Qt knows of it


def _in_window(tree: Path, work: Callable[[Any], None], template: str = "70b-chat-on-four") -> None:
    from PySide6.QtWidgets import QApplication

    from gpudesk.cli.main import main as start

    faults: list[BaseException] = []

    def instead(*_: object) -> int:
        try:
            work(QApplication.instance())
        except BaseException as error:  # noqa: BLE001 - told once the program has ended
            faults.append(error)
        return 0

    QApplication.exec = instead  # type: ignore[method-assign]
    start([str(tree / "resources" / "templates" / f"{template}.gpudesk")])
    if faults:
        raise faults[0]


def _main_window(app: Any) -> Any:  # noqa: ANN401 - Qt's
    from PySide6.QtWidgets import QMainWindow

    return next(each for each in app.topLevelWidgets() if isinstance(each, QMainWindow))


def _until_painted(app: Any) -> None:  # noqa: ANN401 - Qt's
    """Let the window be painted for the first time."""
    from PySide6.QtCore import QEvent, QObject

    class Eye(QObject):
        is_painted = False

        def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
            self.is_painted = self.is_painted or event.type() == QEvent.Type.Paint
            return False

    eye = Eye()
    app.installEventFilter(eye)
    end = time.monotonic() + 5
    while not eye.is_painted and time.monotonic() < end:
        app.processEvents()
    app.removeEventFilter(eye)


def _rest(app: Any) -> None:  # noqa: ANN401 - Qt's
    end = time.perf_counter() + 0.5
    while time.perf_counter() < end:
        app.processEvents()
        time.sleep(0.005)


def _drag(app: Any, window: Any) -> float:  # noqa: ANN401 - Qt's
    """Return the median milliseconds from a key at the slider of the load to the painted window."""
    from PySide6.QtCore import Qt
    from PySide6.QtTest import QTest
    from PySide6.QtWidgets import QAbstractSlider, QScrollBar

    slider = next(
        each
        for each in window.findChildren(QAbstractSlider)
        if each.isVisible() and not isinstance(each, QScrollBar) and each.accessibleName().startswith("Concurrency")
    )
    elapsed_times = []
    for number in range(_SLIDER_STEPS):
        key = Qt.Key.Key_Right if number // 5 % 2 == 0 else Qt.Key.Key_Left
        before = slider.value()
        start = time.thread_time()
        QTest.keyClick(slider, key)
        app.processEvents()
        elapsed_times.append((time.thread_time() - start) * 1000)
        if slider.value() == before:
            raise LookupError("the slider does not move")
    return statistics.median(elapsed_times[10:])


def _triggered(app: Any, action: Any) -> float:  # noqa: ANN401 - Qt's
    """Return the milliseconds until what an entry of a menu does is painted."""
    start = time.thread_time()
    action.trigger()
    app.processEvents()
    return (time.thread_time() - start) * 1000


def _entry(window: Any, title: str, name: str) -> Any:  # noqa: ANN401 - Qt's
    from PySide6.QtWidgets import QMenuBar

    bar = window.findChild(QMenuBar)
    menu = next(each.menu() for each in bar.actions() if each.text().replace("&", "") == title)
    menu.aboutToShow.emit()
    return next(each for each in menu.actions() if each.text().partition("\t")[0] == name)


def _theme_entry(window: Any, name: str) -> Any:  # noqa: ANN401 - Qt's
    return next(each for each in _entry(window, "View", "Theme").menu().actions() if each.text() == name)


if __name__ == "__main__":
    sys.exit(main())
