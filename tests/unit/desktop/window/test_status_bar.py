"""The line at the foot of the window."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.buttons import LinkButton
from gpudesk.desktop.window import bars
from gpudesk.desktop.window.bars import StatusBar

CATALOG = "Catalog 2026-11-20 · 51 accelerators, 83 models"


@pytest.fixture
def bar(theme: Theme, qtbot: QtBot) -> StatusBar:
    made = StatusBar(theme)
    qtbot.addWidget(made)
    made.set_catalog(CATALOG)
    made.resize(1000, made.height())
    made.show()
    qtbot.waitExposed(made)
    return made


def shown(bar: StatusBar) -> list[str]:
    labels = [label for label in bar.findChildren(QLabel) if label.isVisible() and label.text()]
    return [label.text() for label in sorted(labels, key=lambda label: label.x())]


def test_offline_stands_always_and_last(bar: StatusBar) -> None:
    assert shown(bar) == [CATALOG, "Offline"]
    bar.set_saved("Edited")
    bar.set_elapsed("Recalculated in 3 ms")
    assert shown(bar) == [CATALOG, "Edited", "Recalculated in 3 ms", "Offline"]


def test_what_is_empty_takes_no_room(bar: StatusBar) -> None:
    bar.set_saved("Edited")
    bar.set_saved("")
    assert shown(bar) == [CATALOG, "Offline"]


def test_a_sentence_passes_and_the_catalog_comes_back(
    theme: Theme, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bars, "_STANDS_MS", 30)
    bar = StatusBar(theme)
    qtbot.addWidget(bar)
    bar.set_catalog(CATALOG)
    bar.resize(1000, bar.height())
    bar.show()
    bar.show_message("Copied 12 cells")
    assert shown(bar) == ["Copied 12 cells", "Offline"]
    qtbot.waitUntil(lambda: shown(bar) == [CATALOG, "Offline"])
    assert bar.message == ""


def test_the_left_is_cut_first_and_stays_whole_in_the_tool_tip(bar: StatusBar) -> None:
    bar.set_saved("Saved 14:02")
    bar.resize(260, bar.height())
    catalog, saved, offline = shown(bar)
    assert catalog.endswith("…")
    assert (saved, offline) == ("Saved 14:02", "Offline")
    left = next(label for label in bar.findChildren(QLabel) if label.text() == catalog)
    assert left.toolTip() == CATALOG
    assert left.accessibleName() == CATALOG


def test_a_job_is_shown_before_the_rest_and_can_be_cancelled(bar: StatusBar, qtbot: QtBot) -> None:
    bar.set_saved("Edited")
    bar.set_job("Prices, 3,200 of 10,000")
    assert shown(bar) == [CATALOG, "Prices, 3,200 of 10,000", "Edited", "Offline"]
    cancel = bar.findChild(LinkButton)
    assert cancel is not None
    assert not cancel.isVisible()
    bar.set_job("Prices, 9,000 of 10,000", True)
    assert cancel.isVisible()
    assert cancel.accessibleName() == "Cancel: Prices, 9,000 of 10,000"
    with qtbot.waitSignal(bar.job_cancelled, timeout=500):
        QTest.keyClick(cancel, Qt.Key.Key_Space)
    bar.set_job("")
    assert shown(bar) == [CATALOG, "Edited", "Offline"]
    assert not cancel.isVisible()


def test_it_is_as_high_as_its_letters_need(bar: StatusBar, theme: Theme) -> None:
    assert bar.height() == 24
    theme.set_font_percent(150)
    assert bar.height() == 36
