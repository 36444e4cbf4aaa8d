"""From an edit of the load or a first look to the painted window, with six accelerators."""

import gc
import statistics
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QEventLoop, QObject, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from gpudesk.desktop.pages.page import MultiViewPage
from gpudesk.desktop.session import scenario_edits
from gpudesk.desktop.session.selection import select_figure
from gpudesk.desktop.ui.charts.bar_chart import BarChart
from gpudesk.desktop.ui.tables.data_table import FiguresTable
from gpudesk.desktop.window.app import DesktopProgram
from gpudesk.desktop.window.document_window import list_page_modules
from gpudesk.desktop.window.main_window import MainWindow
from gpudesk.domain.progress import run_to_end
from gpudesk.service import GpuDeskService
from tests.benchmarks.conftest import Say

#: Six accelerators.
TEMPLATE = "405b-one-node"
#: The window, and the bar for the page that it shows, in milliseconds.
SIZES = [pytest.param((1280, 800), 16.0, id="1280x800"), pytest.param((1920, 1080), 33.0, id="1920x1080")]
#: Milliseconds for one turn of the event loop, and from a click to the first paint of what was not seen before.
FRAME_MS, LOOK_MS = 16.0, 100.0
STEPS = 150
ROUNDS = 4


@pytest.fixture(scope="module")
def service() -> Iterator[GpuDeskService]:
    with GpuDeskService.open() as opened:
        yield opened


@pytest.fixture
def window(service: GpuDeskService, qapp: QApplication, qtbot: QtBot, user_home: Path) -> Iterator[MainWindow]:
    program = DesktopProgram(qapp, service)
    program.set_theme("light")
    new_window = program.open_new_window()
    new_window.open_template(TEMPLATE)
    yield new_window
    new_window.desk.undo_stack.setClean()
    new_window.close()
    qapp.processEvents()


@pytest.mark.parametrize("page", ["compare", "performance", "memory"])
@pytest.mark.parametrize(("size", "bar_ms"), SIZES)
def test_slider_to_painted(
    window: MainWindow, qapp: QApplication, say: Say, page: str, size: tuple[int, int], bar_ms: float
) -> None:
    window.resize(*size)
    window.show_page(page)
    window.desk.select(select_figure(window.desk.keys[0], "output_tokens_per_s"))
    settle(qapp)
    rounds = [drag(window, qapp) for _ in range(ROUNDS)]
    # The first round warms caches; of the others the quietest counts, since the machine has other work too.
    median = min(statistics.median(each_round) for each_round in rounds[1:])
    slowest = min(sorted(each_round)[int(STEPS * 0.99)] for each_round in rounds[1:])
    say(f"{page} {size[0]} x {size[1]}: median {median:.1f} ms (bar {bar_ms:.0f}), p99 {slowest:.1f} ms")
    assert median <= bar_ms, f"median {median:.1f} ms"
    assert slowest <= 2 * bar_ms, f"p99 {slowest:.1f} ms, median {median:.1f} ms"


@pytest.mark.parametrize(
    ("page", "view", "kind"),
    [("performance", "throughput", FiguresTable), ("performance", "split", BarChart), ("cost", "overview", BarChart)],
)
def test_the_panel_follows_an_arrow_key_within_a_frame(
    window: MainWindow, qapp: QApplication, say: Say, page: str, view: str, kind: type[QWidget]
) -> None:
    window.resize(1440, 900)
    show_view(window, page, view)
    settle(qapp)
    assert isinstance(window.page, MultiViewPage)
    widget = next(each for each in window.page.view.findChildren(kind) if each.isVisible())
    widget.setFocus(Qt.FocusReason.TabFocusReason)
    steps = []
    for key in (*[Qt.Key.Key_Down] * 5, *[Qt.Key.Key_Up] * 5) * ROUNDS:
        start = time.process_time()
        QTest.keyClick(widget, key)
        qapp.processEvents()
        steps.append((time.process_time() - start) * 1000.0)
    median = statistics.median(steps[10:])
    say(f"a step of an arrow key at {page} {view}: median {median:.1f} ms of the processor (bar {FRAME_MS:.0f})")
    assert median <= FRAME_MS


@pytest.mark.parametrize("view", ["result", "record"])
def test_each_step_of_a_drag_fits_a_frame(window: MainWindow, qapp: QApplication, say: Say, view: str) -> None:
    show_view(window, "decide", view)
    settle(qapp)
    desk, dispatcher = window.desk, QCoreApplication.eventDispatcher()
    longest: list[float] = []
    desk.begin_gesture("load")
    for count in range(40, 40 + STEPS):
        desk.apply(scenario_edits.replace_load_value(desk.scenario, count), "Change of load")
        ends, turns = time.perf_counter() + FRAME_MS / 1000.0, []
        while time.perf_counter() < ends:
            start = time.thread_time()
            QCoreApplication.sendPostedEvents()
            dispatcher.processEvents(QEventLoop.ProcessEventsFlag.AllEvents)
            turns.append((time.thread_time() - start) * 1000)
            time.sleep(0.001)
        longest.append(max(turns))
    desk.end_gesture()
    median = statistics.median(longest)
    say(f"{view}, longest turn of a frame: median {median:.1f} ms (bar {FRAME_MS:.0f})")
    assert median <= FRAME_MS


@pytest.mark.parametrize(
    ("page", "view"),
    [
        ("performance", ""),
        ("memory", ""),
        ("cost", ""),
        ("catalog", ""),
        ("decide", "result"),
        ("decide", "timing"),
        ("decide", "buying"),
        ("decide", "record"),
    ],
)
def test_first_paint_of_a_view_is_fast(window: MainWindow, qapp: QApplication, say: Say, page: str, view: str) -> None:
    run_to_end(window.desk.service.load_steps())
    for name in list_page_modules():
        import_module(name)
    window.show_page("decide" if view else "compare")
    settle(qapp)
    # As in the program, whose collector leaves out what was loaded: searching that takes 80 ms.
    gc.collect()
    gc.freeze()
    start = time.thread_time()
    show_view(window, page, view)
    assert window.page is not None
    wait_for_paint(window.page)
    elapsed_ms = (time.thread_time() - start) * 1000
    gc.unfreeze()
    say(f"first look at {page} {view}: {elapsed_ms:.0f} ms (bar {LOOK_MS:.0f})")
    assert elapsed_ms <= LOOK_MS


def show_view(window: MainWindow, page: str, view: str) -> None:
    window.show_page(page)
    if view:
        assert isinstance(window.page, MultiViewPage)
        window.page.choose_view(view)


class PaintCounter(QObject):
    """Counts the paints of a widget."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self.count = 0
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        self.count += watched is self.parent() and event.type() == QEvent.Type.Paint
        return False


def wait_for_paint(widget: QWidget) -> None:
    """Deliver events, and no timers, until a widget and what it holds have been painted."""
    counter = PaintCounter(widget)
    widget.update()
    while not counter.count:
        QCoreApplication.sendPostedEvents()


def settle(qapp: QApplication) -> None:
    """Let everything be laid out and loaded that comes after the first paint."""
    ends = time.perf_counter() + 0.5
    while time.perf_counter() < ends:
        qapp.processEvents()


def drag(window: MainWindow, qapp: QApplication) -> list[float]:
    """Move the load step by step; return the milliseconds that each took to the screen."""
    times_ms = []
    desk = window.desk
    desk.begin_gesture("load")
    for count in range(40, 40 + STEPS):
        start = time.perf_counter()
        desk.apply(scenario_edits.replace_load_value(desk.scenario, count), "Change of load")
        qapp.processEvents()
        times_ms.append((time.perf_counter() - start) * 1000)
        assert desk.answer is not None
        assert desk.answer.scenario.workload.load.concurrency == count
    desk.end_gesture()
    return times_ms
