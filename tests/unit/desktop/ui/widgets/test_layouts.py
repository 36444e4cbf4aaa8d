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


@pytest.mark.usefixtures("qapp")
def test_items_of_an_even_flow_are_below_each_other() -> None:
    holder = QWidget()
    row = FlowLayout(10, is_even=True)
    make_column(row, on=holder)
    labels = [QLabel(text) for text in ("a", "the widest of all labels", "short", "b", "some words", "c")]
    for label in labels:
        row.addWidget(label)
    widest = max(label.sizeHint().width() for label in labels)
    holder.resize(3 * widest + 20, 400)
    row.setGeometry(holder.rect())
    assert (
        [label.x() for label in labels[:3]] == [label.x() for label in labels[3:]] == [0, widest + 10, 2 * widest + 20]
    )
    assert {label.width() for label in labels} == {widest}
