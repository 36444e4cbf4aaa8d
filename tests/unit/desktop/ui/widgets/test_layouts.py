"""Nested layouts, and the lifetime of their items."""

import gc

import pytest
from PySide6.QtWidgets import QLabel, QWidget, QWidgetItem
from shiboken6 import delete, isValid

from gpudesk.desktop.ui.widgets.layouts import STRETCH, FlowLayout, make_column, make_row


def count_wrapped_items() -> int:
    return sum(isinstance(each, QWidgetItem) and isValid(each) for each in gc.get_objects())


@pytest.mark.usefixtures("qapp")
def test_items_of_nested_layouts_leave_no_wrappers() -> None:
    """Qt deletes an item with its widget without telling PySide; a stale wrapper crashes when its address is reused."""
    before = count_wrapped_items()
    holder = QWidget()
    labels = [QLabel(text) for text in ("one", "two", "three")]
    make_column(make_row(*labels[:2], STRETCH), make_row(make_column(labels[2])), on=holder)
    assert [label.parentWidget() for label in labels] == [holder] * 3
    assert count_wrapped_items() == before


@pytest.mark.usefixtures("qapp")
def test_items_of_a_flow_layout_are_deleted_with_it() -> None:
    holder = QWidget()
    row = FlowLayout()
    make_column(row, on=holder)
    for _ in range(3):
        row.addWidget(QWidget(holder))
    items = [row.itemAt(position) for position in range(3)]
    delete(holder)
    assert not any(map(isValid, items))
