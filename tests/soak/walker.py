"""A user without a plan: takes random steps at a real window, and notes everything that goes wrong.

Each step draws from a source of its own, made of the walk's seed and the step's number. A walk that failed
can so be repeated with fewer steps until only those are left that matter.
"""

from __future__ import annotations

import gc
import logging
import re
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from types import TracebackType
from typing import TYPE_CHECKING

from PySide6.QtCore import (
    QCoreApplication,
    QEvent,
    QObject,
    QPoint,
    QPointF,
    Qt,
    QTimer,
    QtMsgType,
    qInstallMessageHandler,
)
from PySide6.QtGui import QWheelEvent
from PySide6.QtPrintSupport import QPrintDialog
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QFileDialog, QInputDialog, QLineEdit, QMessageBox, QWidget
from shiboken6 import isValid

from gpudesk.desktop.pages.catalog.editors.form import FormDialog
from gpudesk.desktop.pages.page import MultiViewPage
from gpudesk.desktop.session.jobs import Jobs
from gpudesk.desktop.session.selection import select_attribute, select_figure
from gpudesk.desktop.window import app as entry
from gpudesk.desktop.window.app import DesktopProgram
from gpudesk.desktop.window.file_actions import FileActions
from gpudesk.desktop.window.main_window import MainWindow
from gpudesk.documents.scenario_file import read_template
from gpudesk.service import GpuDeskService
from gpudesk.text.messages import InputError
from tests.soak.random_scenarios import RandomScenarios

if TYPE_CHECKING:
    import pytest

#: CPU seconds that one turn of the event loop may take once all is loaded, where nothing else runs on the machine.
LONGEST_TURN_S = 0.25
#: The same where every widget is styled again, or all parts and the model change, as when a file is opened.
LONGEST_RARE_TURN_S = 0.5

#: Windows that are left open: each takes about 7 MB, and no user has dozens. The oldest of more are closed.
MOST_WINDOWS = 3
#: Steps after which all that is loaded once has been, each list and menu was open, and caches are full.
WARM = 1000
#: Resident bytes that the program may take at the end of a walk, and how many more than after the warm-up.
MOST_BYTES = 300e6
MOST_GROWN_BYTES = 20e6

_HARMLESS = re.compile(r"This plugin does not support|(Keyboard|Mouse) event .*not accepted by receiving widget")
_SIZES = ((720, 480), (900, 600), (1280, 800), (1440, 900), (1920, 1080))
_FIGURES = (
    "output_tokens_per_s",
    "output_tokens_per_s_per_accelerator",
    "total_tokens_per_s",
    "ttft_ms",
    "tpot_ms",
    "request_s",
    "batch_s",
    "memory",
    "max_concurrency",
    "no such figure",
)
_KEYS = (
    *(Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Home, Qt.Key.Key_End),
    *(Qt.Key.Key_PageUp, Qt.Key.Key_PageDown, Qt.Key.Key_Tab, Qt.Key.Key_Backtab, Qt.Key.Key_Return),
    *(Qt.Key.Key_Escape, Qt.Key.Key_Space, Qt.Key.Key_Delete, Qt.Key.Key_Backspace, Qt.Key.Key_F6),
    *(Qt.Key.Key_A, Qt.Key.Key_B, Qt.Key.Key_S, Qt.Key.Key_Slash, Qt.Key.Key_Plus, Qt.Key.Key_Minus),
)
_MODIFIERS = (
    *(Qt.KeyboardModifier.NoModifier,) * 6,
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.AltModifier,
)
_TYPED = ("0", "-5", "7", "64", "1e9", "abc", "1,000", "1.5", "99999999999999999999", "h200", "mi", "<b>", "")
_BUTTONS = (Qt.MouseButton.LeftButton,) * 5 + (Qt.MouseButton.RightButton,)
_RARE = ("look", "action view.theme", "action view.text", "action view.language", "another scenario")
_TEMPLATE = "405b-one-node"
#: What would end the walk, ask the system for something, or start the program again.
_LEFT_OUT = {"file.close", "file.quit", "file.open", "file.save", "file.save_as", "help.logs", "help.check"}

Act = Callable[[Random], object]


@dataclass(frozen=True, slots=True)
class Fault:
    """What went wrong, and in which step."""

    step: int
    act: str
    what: str


@dataclass(frozen=True, slots=True)
class Turn:
    """The longest turn of the event loop in a step, in CPU seconds of a machine without other work."""

    longest_s: float
    step: int
    act: str

    @property
    def too_long(self) -> bool:
        return self.longest_s > (LONGEST_RARE_TURN_S if self.act.startswith(_RARE) else LONGEST_TURN_S)


def _time_reference() -> float:
    """Return the CPU seconds of a fixed piece of work, which other programs make longer as they do all else."""
    start = time.thread_time()
    sum({number: str(number) for number in range(40_000)})
    return time.thread_time() - start


class Stopped(Exception):  # noqa: N818 - no error
    """The walk was asked to end."""


class RandomWalk:
    """Random steps at one window."""

    def __init__(self, program: DesktopProgram, window: MainWindow, folder: Path, seed: int) -> None:
        """Begin at a window; files that are saved go to the folder."""
        self.faults: list[Fault] = []
        #: The turns that took too long.
        self.long_turns: list[Turn] = []
        self._reference_s = min(_time_reference() for _ in range(20))
        self.program = program
        self.window = window
        self._folder = folder
        self._seed = seed
        self._scenarios = RandomScenarios(program.service)
        #: Whether to end before the next step.
        self.stopped = False
        self._step = 0
        self._act = ""
        self._longest = self._noted = 0.0
        self._acts: dict[str, tuple[int, Act]] = {
            "edit": (10, self._edit),
            "load": (6, self._load),
            "another scenario": (1, self._scenario),
            "control": (5, self._control),
            "undo or redo": (5, self._undo),
            "select": (5, self._select),
            "ghost": (2, self._ghost),
            "page": (4, self._page),
            "action": (6, self._action),
            "look": (2, self._look),
            "size": (2, self._size),
            "keys": (8, self._press),
            "type": (3, self._type),
            "click": (8, self._click),
            "move": (4, self._move),
            "wheel": (2, self._wheel),
            "preview": (1, self._preview),
            "save and open": (1, self._save_and_open),
        }

    def walk(self, steps: Iterable[int]) -> None:
        names = list(self._acts)
        weights = [weight for weight, _ in self._acts.values()]
        with self._watched():
            for step in steps:
                if self.stopped:
                    raise Stopped
                random = Random(f"{self._seed}:{step}")
                self._step, self._act = step, random.choices(names, weights)[0]
                self._take(self._acts[self._act][1], random)

    def crowd(self) -> None:
        """Measure memory at its peak: as many windows as may be open, each with all its views shown."""
        self._act = "crowd"
        with self._watched():
            self._close_what_has_popped_up()
            while len(self.program.windows) < MOST_WINDOWS:
                open_window(self.program)
            for window in self.program.windows:
                window.resize(*_SIZES[-1])
                _show_all_views(window)

    def tour(self) -> None:
        """Show a known scenario on all pages at the usual size, with nothing open above them."""
        self._act = "tour"
        with self._watched():
            self._close_what_has_popped_up()
            for other in [each for each in self.program.windows if each is not self.window]:
                other.close()
            # Its longest page takes 19 MB.
            if self.program._manual is not None:
                self.program._manual.close()
            self.program.set_theme("light")
            self.program.set_font_percent(100)
            self.window.resize(1440, 900)
            _show_all_views(self.window)

    def _take(self, act: Act, random: Random) -> None:
        self._longest = 0.0
        # Tells where a walk was that ends by a signal.
        (self._folder / "step").write_text(f"{self._step} {self._act}\n")
        try:
            self._timed(lambda: act(random))
        except Exception:  # noqa: BLE001 - whatever it is, it is what is looked for
            self._fault(traceback.format_exc())
        self._settle()
        if not isValid(self.window):
            # A click or a key has closed it.
            self.window = open_window(self.program)
        self._close_oldest_windows()
        turn = self._judge(Turn(self._longest, self._step, self._act))
        if turn.too_long:
            self.long_turns.append(turn)
        if random.random() < 0.15:
            self._close_what_has_popped_up()
        if random.random() < 0.05:
            self.window.grab()
        settle()

    def _close_oldest_windows(self) -> None:
        others = [each for each in self.program.windows if each is not self.window]
        for each in others[: max(0, len(self.program.windows) - MOST_WINDOWS)]:
            each.close()

    def _judge(self, turn: Turn) -> Turn:
        """Return a turn that seems too long as it would be without other programs, which share caches and cores."""
        if not turn.too_long:
            return turn
        now = min(_time_reference() for _ in range(3))
        self._reference_s = min(now, self._reference_s)
        return replace(turn, longest_s=turn.longest_s * self._reference_s / now)

    def _timed(self, act: Callable[[], object]) -> None:
        """Act, and note how long that took without what was noted within."""
        start, noted = time.thread_time(), self._noted
        act()
        elapsed_s = time.thread_time() - start - (self._noted - noted)
        self._noted += elapsed_s
        self._longest = max(self._longest, elapsed_s)

    def _settle(self) -> None:
        for _ in range(3):
            self._timed(QApplication.processEvents)
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)

    # Watching

    def _fault(self, what: str) -> None:
        self.faults.append(Fault(self._step, self._act, what))

    @contextmanager
    def _watched(self) -> Iterator[None]:
        """Take exceptions in slots, Qt's messages and logged warnings as faults."""
        former = sys.excepthook
        messages = qInstallMessageHandler(self._said_by_qt)
        handler = _Listener(self._fault)
        logging.getLogger().addHandler(handler)
        sys.excepthook = self._raised
        try:
            yield
        finally:
            sys.excepthook = former
            logging.getLogger().removeHandler(handler)
            qInstallMessageHandler(messages)

    def _raised(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        self._fault("".join(traceback.format_exception(kind, error, trace)))

    def _said_by_qt(self, kind: QtMsgType, context: object, text: str) -> None:  # noqa: ARG002 - Qt's
        if kind is not QtMsgType.QtDebugMsg and not _HARMLESS.search(text):
            self._fault(f"Qt: {text}\n{''.join(traceback.format_stack(limit=8)[:-1])}")

    # Steps

    def _edit(self, random: Random) -> None:
        desk = self.window.desk
        for _ in range(random.choice((1, 1, 1, 3))):
            desk.apply(self._scenarios.edited(desk.scenario, random), "Some edit")

    def _load(self, random: Random) -> None:
        slider = self.window.scenario.load.slider
        if random.random() < 0.5:
            slider.setFocus()
            for _ in range(random.randint(1, 6)):
                QTest.keyClick(slider, random.choice(_KEYS[:8]))
            return
        points = [_point(slider, random) for _ in range(4)]
        QTest.mousePress(slider, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, points[0])
        for point in points:
            QTest.mouseMove(slider, point)
            self._settle()
        QTest.mouseRelease(slider, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, points[-1])

    def _scenario(self, random: Random) -> None:
        self.window.desk.apply(self._scenarios.scenario(random), "Another scenario")

    def _control(self, random: Random) -> None:
        bar, chips = self.window.scenario, self.window.chips
        scenarios = self._scenarios
        chip = random.choice(chips.chips) if chips.chips else None
        steps: tuple[Callable[[], object], ...] = (
            lambda: bar.model.chosen.emit(random.choice(scenarios.models)),
            lambda: bar.weights.chosen.emit(random.choice(("fp16", "fp8", "nvfp4", "fp6", "int4"))),
            lambda: bar.kv.chosen.emit(random.choice(("fp16", "fp8", "nvfp4"))),
            lambda: bar.engine.chosen.emit(random.choice(("", *scenarios.engines))),
            lambda: bar.load.kind_chosen.emit(
                random.choice(("batch", "concurrency", "saturate", "request_rate", "limits"))
            ),
            lambda: chips.add_accelerator(random.choice(scenarios.parts)),
            chips.open_list,
        )
        if chip is not None:
            steps += (
                chip.clicked.emit,
                chip.removed.emit,
                chip.made_baseline.emit,
                lambda: chip.stepped.emit(random.choice((-1, 1))),
                lambda: chip.row_step_requested.emit(random.choice((-1, 1))),
            )
        random.choice(steps)()

    def _undo(self, random: Random) -> None:
        stack = self.window.desk.undo_stack
        for _ in range(random.choice((1, 2, 5, 20))):
            self._timed(stack.undo if random.random() < 0.6 else stack.redo)
            self._settle()

    def _select(self, random: Random) -> None:
        desk = self.window.desk
        answer = desk.answer
        if answer is None:
            desk.select(None)
            return
        position = random.randrange(len(answer.columns))
        key = desk.keys[position]
        select = random.choice(
            (
                lambda: None,
                lambda: select_figure(key, random.choice(_FIGURES)),
                lambda: select_attribute(key, random.choice(sorted(answer.columns[position].attributes))),
            )
        )()
        desk.select(select)

    def _ghost(self, random: Random) -> None:
        (self.window.desk.pin_ghost if random.random() < 0.7 else self.window.desk.clear_ghost)()

    def _page(self, random: Random) -> None:
        self.window.show_page(random.choice([spec.id for spec in self.window.page_specs]))

    def _action(self, random: Random) -> None:
        self._leave_forms()
        actions = [
            spec
            for spec in self.window.list_window_actions()
            if spec.id not in _LEFT_OUT
            and spec.enabled()
            and not spec.id.startswith(("file.recent", "file.new", "file.template"))
        ]
        action = random.choice(actions)
        self._act = f"action {action.id}"
        action.run()

    def _look(self, random: Random) -> None:
        self._leave_forms()
        if random.random() < 0.5:
            self.program.set_theme(random.choice(("light", "dark", "system")))
        else:
            self.program.set_font_percent(random.choice((90, 100, 110, 125, 150)))

    def _size(self, random: Random) -> None:
        self.window.resize(*random.choice(_SIZES))

    def _press(self, random: Random) -> None:
        for _ in range(random.randint(1, 5)):
            target = _keyboard_target(self.window)
            QTest.keyClick(target, random.choice(_KEYS), random.choice(_MODIFIERS))
            self._settle()

    def _type(self, random: Random) -> None:
        fields = [field for field in self.window.findChildren(QLineEdit) if field.isVisible()]
        if fields:
            random.choice(fields).setFocus()
        target = _keyboard_target(self.window)
        if isinstance(target, QLineEdit):
            target.selectAll()
        QTest.keyClicks(target, random.choice(_TYPED))
        QTest.keyClick(target, random.choice((Qt.Key.Key_Return, Qt.Key.Key_Tab, Qt.Key.Key_Escape)))

    def _click(self, random: Random) -> None:
        widget = self._somewhere(random)
        button = random.choice(_BUTTONS)
        click = QTest.mouseDClick if random.random() < 0.15 else QTest.mouseClick
        click(widget, button, random.choice(_MODIFIERS), _point(widget, random))
        if QApplication.mouseButtons() & button:
            # A window that closes at the press takes the release with it: no hand holds the button forever.
            QTest.mouseRelease(self.window.windowHandle(), button)

    def _move(self, random: Random) -> None:
        widget = self._somewhere(random)
        for _ in range(random.randint(1, 6)):
            QTest.mouseMove(widget, _point(widget, random))
            self._settle()

    def _wheel(self, random: Random) -> None:
        widget = self._somewhere(random)
        place = _point(widget, random)
        turned = QPoint(0, random.choice((-480, -120, 120, 480)))
        event = QWheelEvent(
            QPointF(place),
            QPointF(widget.mapToGlobal(place)),
            QPoint(),
            turned,
            Qt.MouseButton.NoButton,
            random.choice((Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ControlModifier)),
            Qt.ScrollPhase.NoScrollPhase,
            False,
        )
        QApplication.sendEvent(widget, event)

    def _preview(self, random: Random) -> None:  # noqa: ARG002 - all steps are alike
        self.window.preview()
        self._settle()
        self._close_what_has_popped_up()

    def _save_and_open(self, random: Random) -> None:
        path = self._folder / f"{random.randrange(3)}.gpudesk"
        document = self.window.document
        try:
            document.save(path)
            document.open_file(path)
        except InputError as error:
            self._fault(f"not saved or opened: {error}")

    # What is where

    def _somewhere(self, random: Random) -> QWidget:
        front = QApplication.activePopupWidget() or QApplication.activeModalWidget() or self.window
        there = [widget for widget in front.findChildren(QWidget) if widget.isVisible() and widget.isEnabled()]
        return random.choice(there) if there else front

    def _leave_forms(self) -> None:
        if QApplication.activeModalWidget() is not None:
            self._close_what_has_popped_up()
            settle()

    def _close_what_has_popped_up(self) -> None:
        while (popup := QApplication.activePopupWidget()) is not None:
            popup.close()
        for widget in QApplication.topLevelWidgets():
            if isinstance(widget, QDialog) and widget.isVisible():
                widget.close()


class _Listener(logging.Handler):
    """Passes warnings on."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        super().__init__(logging.WARNING)
        self._tell = tell

    def emit(self, record: logging.LogRecord) -> None:
        self._tell(f"logged: {record.getMessage()}")


def settle() -> None:
    """Let the event loop turn until nothing waits, deletions included."""
    for _ in range(3):
        QApplication.processEvents()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def _answer_questions_with_nothing(replace_attribute: Callable[[object, str, object], None]) -> None:
    for question in ("getOpenFileName", "getSaveFileName"):
        replace_attribute(QFileDialog, question, lambda *_args, **_named: ("", ""))
    replace_attribute(QFileDialog, "getOpenFileNames", lambda *_args, **_named: ([], ""))
    # A box that asks is left without an answer, and forms may be left with what was entered.
    replace_attribute(QMessageBox, "exec", lambda _: 0)
    replace_attribute(FormDialog, "_confirm_discard", lambda _: True)
    replace_attribute(QInputDialog, "exec", lambda _: 0)
    replace_attribute(QPrintDialog, "exec", lambda _: QDialog.DialogCode.Rejected)
    replace_attribute(FileActions, "may_close", lambda _: True)


def open_window(program: DesktopProgram) -> MainWindow:
    """Open a window on a template with six accelerators."""
    window = program.open_new_window()
    window.open_template(_TEMPLATE)
    settle()
    return window


def _show_all_views(window: MainWindow) -> None:
    """Show a known scenario on all pages and in all their views."""
    window.desk.open(read_template(_TEMPLATE))
    window.desk.clear_ghost()
    for spec in window.page_specs:
        window.show_page(spec.id)
        settle()
        page = window.page
        if isinstance(page, MultiViewPage):
            for view in page.view_keys:
                page.choose_view(view)
                settle()


@contextmanager
def program_to_walk(app: QApplication, monkeypatch: pytest.MonkeyPatch) -> Iterator[DesktopProgram]:
    """Start the program without a window; its questions are answered by doing nothing."""
    _answer_questions_with_nothing(monkeypatch.setattr)
    with GpuDeskService.open() as service:
        program = DesktopProgram(app, service)
        try:
            yield program
        finally:
            program.set_theme("light")
            program.set_font_percent(100)
            for each in list(program.windows):
                each.close()
            program.end()
            settle()


def walk_in_program(steps: Callable[[RandomWalk], object], folder: Path, seed: int, files: Sequence[str] = ()) -> int:
    """Start the program as a user does, take steps of a walk at its first window, and return the exit code.

    The program ends on a termination request only where its loop goes on: the walk has to stop for that.
    """
    # Resumed once a window is shown, without what is loaded until then.
    gc.disable()
    _answer_questions_with_nothing(setattr)
    start = entry._start

    def start_and_walk(program: DesktopProgram, files: Sequence[Path]) -> MainWindow:
        QTimer.singleShot(0, lambda: take_steps(program))
        return start(program, files)

    def take_steps(program: DesktopProgram) -> None:
        # Its first window may be replaced: nothing here keeps it.
        walk = RandomWalk(program, program.windows[0], folder, seed)
        signal.signal(signal.SIGTERM, lambda *_: setattr(walk, "stopped", True))
        with suppress(Stopped):
            steps(walk)

    entry._start = start_and_walk
    return entry.run_window(files)


def list_failures(walk: RandomWalk, steps: int) -> list[str]:
    """Take steps, and return all faults, slow turns and growth after the first `WARM`."""
    walk.walk(range(WARM))
    # Freed memory is partly retained by allocators: what counts is growth above the peak of the warm-up.
    walk.crowd()
    # With the results of all jobs, which would else end with their windows.
    _pause()
    walk.tour()
    _pause()
    before, memory = _count_widgets(walk.window), _resident_bytes()
    walk.walk(range(WARM, steps))
    walk.tour()
    _pause()
    grown = {kind: number - before[kind] for kind, number in _count_widgets(walk.window).items()}
    now = _resident_bytes()
    failures = [*map(str, walk.faults), *(str(turn) for turn in walk.long_turns if turn.step >= WARM)]
    # Lists and menus that had not been opened before are there once.
    if grown["top-level widgets"] > 8 or grown["widgets"] > 60:
        failures.append(str(grown))
    if now > MOST_BYTES or now - memory > MOST_GROWN_BYTES:
        failures.append(f"{now / 1e6:.0f} MB, {(now - memory) / 1e6:.0f} of them since the warm-up")
    return failures


def _pause() -> None:
    """Do nothing for as long as the program waits, after its last job, before it cleans up."""
    deadline = time.monotonic() + 5.0
    while time.monotonic() < deadline:
        QApplication.processEvents()
        time.sleep(0.05)
        if Jobs.any_running():
            deadline = time.monotonic() + 7.0


def _count_widgets(window: MainWindow) -> dict[str, int]:
    gc.collect()
    settle()
    return {
        "top-level widgets": len(QApplication.topLevelWidgets()),
        "widgets": len(QApplication.allWidgets()),
        "objects of the window": len(window.findChildren(QObject)),
    }


def _resident_bytes() -> int:
    fields = Path("/proc/self/statm").read_text().split()
    return int(fields[1]) * 4096


def _point(widget: QWidget, random: Random) -> QPoint:
    return QPoint(random.randrange(max(widget.width(), 1)), random.randrange(max(widget.height(), 1)))


def _keyboard_target(window: QWidget) -> QWidget:
    popup = QApplication.activePopupWidget()
    if popup is not None:
        inner: QWidget | None = popup.focusWidget()
        return popup if inner is None else inner
    return QApplication.activeModalWidget() or QApplication.focusWidget() or window
