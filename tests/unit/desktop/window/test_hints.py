"""Hints of the first use come one at a time, and stay away once closed or done."""

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


def test_windows_show_no_hints_unless_asked_for(window: MainWindow) -> None:
    assert window.note.offers == []


def test_a_move_brings_the_next_hint(window: MainWindow) -> None:
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
    assert hints.seen == ["load", "figure"]


def test_a_closed_hint_stays_away(window: MainWindow) -> None:
    hints = FirstHints(window)
    hints.show_next()
    hints.finish("load")
    assert window.note.offers == [FIGURE]
    hints.deleteLater()
    again = FirstHints(window)
    window.settings.put("hints.seen", ["load", "figure", "print"])
    again.show_next()
    assert LOAD not in window.note.offers


def test_all_hints_are_hidden_at_once(window: MainWindow) -> None:
    hints = FirstHints(window)
    hints.show_next()
    hints.hide()
    assert window.note.offers == []
    window.desk.evaluate()
    assert window.note.offers == []
    assert hints.seen == list(list_hints())


def test_an_answer_before_the_first_paint_leaves_what_the_paint_calls(window: MainWindow) -> None:
    window.settings.put("hints.seen", list(list_hints()))
    hints = FirstHints(window)
    window.desk.evaluate()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    hints.show_next()
    assert window.note.offers == []


def test_the_page_takes_the_focus_of_hidden_hints(window: MainWindow, qtbot: QtBot) -> None:
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
