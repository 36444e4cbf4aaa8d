"""From an edit of the load to the painted page Performance, with six accelerators, as a slider does it."""

import statistics
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gpudesk.desktop.pages.performance.page import PerformancePage
from gpudesk.desktop.session import edits
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.settings import Settings
from gpudesk.desktop.theme.theme import LIGHT, Theme
from gpudesk.domain.formatting import ENGLISH, Formatter
from gpudesk.workbench.templates import read_template
from gpudesk.workbench.workbench import Workbench

#: Six accelerators.
TEMPLATE = "405b-one-node"
#: The page's size in a window of 1280 × 800 and in one of 1920 × 1080, and the bar in milliseconds.
SIZES = [pytest.param(920, 652, 16.0, id="1280x800"), pytest.param(1424, 932, 33.0, id="1920x1080")]
STEPS = 150
ROUNDS = 4


@pytest.fixture(scope="module")
def workbench() -> Iterator[Workbench]:
    with Workbench.open() as opened:
        yield opened


@pytest.mark.parametrize(("width", "height", "bar_ms"), SIZES)
def test_slider_to_painted(
    workbench: Workbench,
    qapp: QApplication,
    qtbot: QtBot,
    tmp_path: Path,
    width: int,
    height: int,
    bar_ms: float,
) -> None:
    desk = Desk(workbench, Formatter(ENGLISH))
    desk.open(read_template(TEMPLATE))
    page = PerformancePage(desk, Theme(qapp, LIGHT), Settings(tmp_path / "settings.json"))
    qtbot.addWidget(page)
    page.resize(width, height)
    page.show()
    rounds = [drag(desk, qapp) for _ in range(ROUNDS)]
    # The first round warms caches; of the others the quietest counts, since the machine has other work too.
    median = min(statistics.median(taken) for taken in rounds[1:])
    slowest = min(sorted(taken)[int(STEPS * 0.99)] for taken in rounds[1:])
    assert median <= bar_ms, f"median {median:.1f} ms"
    assert slowest <= 2 * bar_ms, f"p99 {slowest:.1f} ms, median {median:.1f} ms"


def drag(desk: Desk, qapp: QApplication) -> list[float]:
    """Move the load step by step; return the milliseconds that each took to the screen."""
    taken = []
    desk.begin_gesture("load")
    for count in range(40, 40 + STEPS):
        begun = time.perf_counter()
        desk.apply(edits.with_load_value(desk.scenario, count), "Change of load")
        qapp.processEvents()
        taken.append((time.perf_counter() - begun) * 1000)
        assert desk.answer is not None
        assert desk.answer.scenario.workload.load.concurrency == count
    desk.end_gesture()
    return taken
