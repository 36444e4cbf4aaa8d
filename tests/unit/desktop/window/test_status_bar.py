"""The status bar."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.buttons import LinkButton
from gpudesk.desktop.window import bars
from gpudesk.desktop.window.bars import StatusBar

CATALOG = "Catalog 2026-11-20 · 52 accelerators, 83 models"


@pytest.fixture
def bar(theme: Theme, qtbot: QtBot) -> StatusBar:
    status_bar = StatusBar(theme)
    qtbot.addWidget(status_bar)
    status_bar.set_catalog(CATALOG)
    status_bar.resize(1000, status_bar.height())
    status_bar.show()
    qtbot.waitExposed(status_bar)
    return status_bar


def list_texts(bar: StatusBar) -> list[str]:
    labels = [label for label in bar.findChildren(QLabel) if label.isVisible() and label.text()]
    return [label.text() for label in sorted(labels, key=lambda label: label.x())]


def test_offline_is_always_last(bar: StatusBar) -> None:
    assert list_texts(bar) == [CATALOG, "Offline"]
    bar.set_saved("Edited")
    bar.set_elapsed("Recalculated in 3 ms")
    assert list_texts(bar) == [CATALOG, "Edited", "Recalculated in 3 ms", "Offline"]


def test_empty_text_is_hidden(bar: StatusBar) -> None:
    bar.set_saved("Edited")
    bar.set_saved("")
    assert list_texts(bar) == [CATALOG, "Offline"]


def test_message_disappears_after_a_while(theme: Theme, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bars, "_STANDS_MS", 30)
    bar = StatusBar(theme)
    qtbot.addWidget(bar)
    bar.set_catalog(CATALOG)
    bar.resize(1000, bar.height())
    bar.show()
    bar.show_message("Copied 12 cells")
    assert list_texts(bar) == ["Copied 12 cells", "Offline"]
    qtbot.waitUntil(lambda: list_texts(bar) == [CATALOG, "Offline"])
    assert bar.message == ""


def test_catalog_text_is_elided_first_with_a_tool_tip(bar: StatusBar) -> None:
    bar.set_saved("Saved 14:02")
    bar.resize(260, bar.height())
    catalog, saved, offline = list_texts(bar)
    assert catalog.endswith("…")
    assert (saved, offline) == ("Saved 14:02", "Offline")
    catalog_label = next(label for label in bar.findChildren(QLabel) if label.text() == catalog)
    assert catalog_label.toolTip() == CATALOG
    assert catalog_label.accessibleName() == CATALOG


def test_job_is_shown_first_and_can_be_canceled(bar: StatusBar, qtbot: QtBot) -> None:
    bar.set_saved("Edited")
    bar.set_job("Prices, 3,200 of 10,000")
    assert list_texts(bar) == [CATALOG, "Prices, 3,200 of 10,000", "Edited", "Offline"]
    cancel = bar.findChild(LinkButton)
    assert cancel is not None
    assert not cancel.isVisible()
    bar.set_job("Prices, 9,000 of 10,000", True)
    assert cancel.isVisible()
    assert cancel.accessibleName() == "Cancel: Prices, 9,000 of 10,000"
    with qtbot.waitSignal(bar.job_canceled, timeout=500):
        QTest.keyClick(cancel, Qt.Key.Key_Space)
    bar.set_job("")
    assert list_texts(bar) == [CATALOG, "Edited", "Offline"]
    assert not cancel.isVisible()


def test_height_follows_the_text_size(bar: StatusBar, theme: Theme) -> None:
    assert bar.height() == 24
    theme.set_font_percent(150)
    assert bar.height() == 36
