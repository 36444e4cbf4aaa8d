"""Typing into every number field replaces its value, changes the scenario or reports why not; Undo restores it."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from gpudesk.desktop.pages.page import MultiViewPage
from gpudesk.desktop.ui.widgets.number_edit import NO_VALUE, NumberEdit, ValueEdit
from gpudesk.desktop.window.dialogs.chooser import ChooserDialog
from gpudesk.desktop.window.dialogs.more_settings import MoreSettingsDialog, SettingRow
from gpudesk.desktop.window.main_window import MainWindow
from gpudesk.domain.answer import Scenario
from gpudesk.domain.sizing import Demand, DemandKind

_DEMAND = Demand(DemandKind.USERS, 2000.0)
#: Number of fields in the scenario bar, which is visible on every page.
_OF_BAR = 3
#: Page, view, and the least number of fields, without those of the scenario bar.
_QUICK = (("compare", "", 0), ("memory", "size", 5), ("memory", "matrix", 2), ("cost", "assumptions", 165))
_SLOW = (
    *(("fleet", "systems", 5), ("profile", "models", 6), ("profile", "upgrades", 1)),
    *(("decide", "timing", 8), ("decide", "vendors", 1), ("decide", "record", 1)),
)
#: Views whose fields are settings of the view, not of the scenario, and therefore cannot be undone.
_VIEW_SETTINGS = ("matrix", "models", "upgrades", "record")


@pytest.mark.parametrize(("page", "view", "least"), _QUICK)
def test_typing_into_each_field(window: MainWindow, qtbot: QtBot, page: str, view: str, least: int) -> None:
    _walk(window, qtbot, page, view, least)


@pytest.mark.thorough
@pytest.mark.parametrize(("page", "view", "least"), _SLOW)
def test_typing_into_each_field_that_starts_a_search(
    window: MainWindow, qtbot: QtBot, page: str, view: str, least: int
) -> None:
    _walk(window, qtbot, page, view, least)


def _walk(window: MainWindow, qtbot: QtBot, page_id: str, view: str, least: int) -> None:
    window.desk.edit("Enter demand", demand=_DEMAND)
    window.desk.flush()
    window.show_page(page_id)
    page = window.page
    if view and isinstance(page, MultiViewPage):
        page.choose_view(view)
    bar = 0 if not view else _OF_BAR
    qtbot.waitUntil(lambda: len(_list_fields(window)) >= bar + least)
    _settle(window, qtbot)
    count = len(_list_fields(window))
    problems = []
    for position in range(bar, count):
        qtbot.waitUntil(lambda: len(_list_fields(window)) == count)
        problems += _type_into(window, qtbot, position, view)
    assert problems == []


def _type_into(window: MainWindow, qtbot: QtBot, position: int, view: str) -> list[str]:
    """Type a new value into a field, focused by Tab or by a click in turn; return the problems."""
    field, before = _list_fields(window)[position], window.desk.scenario
    name, old, typed = field.accessibleName(), field.text(), _choose_value(field)
    _focus(window, field, by_mouse=position % 2 == 1)
    QTest.keyClicks(field, typed)
    if field.text() != typed:
        return [f"{name}: {field.text()!r} after typing {typed!r} over {old!r}"]
    QTest.keyClick(field, Qt.Key.Key_Return)
    _settle(window, qtbot)
    current = _list_fields(window)[position]
    if window.desk.scenario == before:
        if view in _VIEW_SETTINGS:
            return [] if current.text() == typed else [f"{name} shows {current.text()!r}, not {typed!r}"]
        fault = _find_fault(current)
        QTest.keyClick(current, Qt.Key.Key_Escape)
        return [] if fault else [f"{name}: {typed!r} changed nothing without reporting a fault"]
    problems = [] if current.text() == typed else [f"{name} shows {current.text()!r}, not {typed!r}"]
    window.desk.undo_stack.undo()
    _settle(window, qtbot)
    if window.desk.scenario != before:
        problems.append(f"{name}: undone only in part")
    restored = _list_fields(window)[position].text()
    return problems if restored == old else [*problems, f"{name} shows {restored!r} after undo, not {old!r}"]


def _list_fields(window: QWidget) -> list[ValueEdit]:
    fields = window.findChildren(ValueEdit)
    return [field for field in fields if field.isVisible() and field.isEnabled() and not field.keeps_text]


def _find_fault(field: ValueEdit) -> str:
    if isinstance(field, NumberEdit) and field.fault:
        return field.fault
    return getattr(getattr(field.parentWidget(), "fault", None), "text", str)()


def _focus(window: QWidget, field: QWidget, *, by_mouse: bool) -> None:
    if by_mouse:
        window.setFocus()
        QTest.mouseClick(field, Qt.MouseButton.LeftButton)
    else:
        field.setFocus(Qt.FocusReason.TabFocusReason)


def _settle(window: MainWindow, qtbot: QtBot) -> None:
    """Wait until the window shows an edit, including the jobs for plans and profiles."""
    window.desk.flush()
    QApplication.processEvents()
    page = window.page
    jobs = [getattr(holder, name, None) for holder in (page, getattr(page, "view", None)) for name in ("query", "job")]
    qtbot.waitUntil(lambda: not any(job.running for job in jobs if job is not None))
    QApplication.processEvents()


def _choose_value(field: ValueEdit) -> str:
    """Return another value that the field accepts by itself; low ends go down, all others up."""
    if not isinstance(field, NumberEdit):
        return {"Currency": "EUR", "Date of the rate": "2026-01-31"}[field.accessibleName()]
    shape, value = field.number_format, field.value
    factor = 0.9 if field.accessibleName().endswith((", low", ", min")) else 1.1
    start = max(shape.least, min(1.0, shape.most)) if value in (0.0, NO_VALUE) else value * factor
    choices = (round(each, min(shape.decimals, 4)) for each in (start, value + 1, value - 1, shape.least, shape.most))
    return shape.text(next(each for each in choices if shape.least <= each <= shape.most and each != value))


# Dialogs


def test_typing_into_each_field_of_more_settings(window: MainWindow, qtbot: QtBot) -> None:
    applied: list[Scenario] = []
    scenario = replace(window.desk.scenario, memory_fraction=0.8)
    dialog = MoreSettingsDialog(window.desk, window.theme, scenario, applied.append, parent=window)
    dialog.show()
    dialog.activateWindow()
    qtbot.waitUntil(dialog.isActiveWindow)
    lines = [row for row in dialog.rows if isinstance(row, SettingRow) and not row.field.is_text]
    assert len(lines) >= 5
    for position, line in enumerate(lines):
        line.edit.setText("1")
        _focus(dialog, line.edit, by_mouse=position % 2 == 1)
        QTest.keyClicks(line.edit, "7")
        assert line.edit.text() == "7", line.field.label
    dialog.done(0)


def test_typing_into_each_field_of_help_me_choose(window: MainWindow, qtbot: QtBot) -> None:
    dialog = ChooserDialog(window.desk, window.theme, window)
    dialog.show()
    dialog.activateWindow()
    qtbot.waitUntil(dialog.isActiveWindow)
    fields = _list_fields(dialog)
    assert len(fields) == 4
    for position, field in enumerate(fields):
        typed = _choose_value(field)
        _focus(dialog, field, by_mouse=position % 2 == 1)
        QTest.keyClicks(field, typed)
        QTest.keyClick(field, Qt.Key.Key_Tab)
        assert isinstance(field, NumberEdit)
        assert field.text() == typed == field.number_format.text(field.value)
