"""First-use hints are shown one at a time, and not again once closed or followed."""

from dataclasses import replace

from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from gpudesk.desktop.session.selection import select_figure
from gpudesk.desktop.window.main_window import MainWindow
from gpudesk.desktop.window.start_page import FirstHints, list_hints
from gpudesk.domain.estimate import Load, LoadKind

LOAD, FIGURE, PRINT = list_hints().values()


def test_no_hints_by_default(window: MainWindow) -> None:
    assert window.note.offers == []


def test_following_a_hint_shows_the_next(window: MainWindow) -> None:
    hints = FirstHints(window)
    hints.show_next()
    assert window.note.offers == [LOAD]
    desk = window.desk
    workload = replace(desk.scenario.workload, load=Load(LoadKind.CONCURRENCY, concurrency=32))
    desk.apply(replace(desk.scenario, workload=workload), "")
    desk.flush()
    assert window.note.offers == [FIGURE]
    desk.select(select_figure("h200-sxm", "tpot_ms"))
    assert window.note.offers == [PRINT]
    assert hints.seen_hints == ["load", "figure"]


def test_closed_hint_is_not_shown_again(window: MainWindow) -> None:
    hints = FirstHints(window)
    hints.show_next()
    hints.finish("load")
    assert window.note.offers == [FIGURE]
    hints.deleteLater()
    second_hints = FirstHints(window)
    window.settings.put("hints.seen", ["load", "figure", "print"])
    second_hints.show_next()
    assert LOAD not in window.note.offers


def test_all_hints_are_hidden_at_once(window: MainWindow) -> None:
    hints = FirstHints(window)
    hints.show_next()
    hints.hide()
    assert window.note.offers == []
    window.desk.evaluate()
    assert window.note.offers == []
    assert hints.seen_hints == list(list_hints())


def test_hints_finished_before_the_first_paint(window: MainWindow) -> None:
    window.settings.put("hints.seen", list(list_hints()))
    hints = FirstHints(window)
    window.desk.evaluate()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    hints.show_next()
    assert window.note.offers == []


def test_hiding_hints_focuses_the_page(window: MainWindow, qtbot: QtBot) -> None:
    with qtbot.waitActive(window):
        window.show()
        window.activateWindow()
    hints = FirstHints(window)
    hints.show_next()
    hide = next(each for each in window.note.findChildren(QPushButton) if each.text() == "Hide tips")
    QTest.mouseClick(hide, Qt.MouseButton.LeftButton)
    focused = window.focusWidget()
    assert window.page is not None
    assert focused is not None
    assert window.page.isAncestorOf(focused)
