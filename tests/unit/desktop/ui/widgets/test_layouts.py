"""Layouts within layouts."""

import gc

import pytest
from PySide6.QtWidgets import QLabel, QWidget, QWidgetItem
from shiboken6 import delete, isValid

from gpudesk.desktop.ui.widgets.layouts import STRETCH, FlowLayout, make_column, make_row


def count_wrapped_items() -> int:
    return sum(isinstance(each, QWidgetItem) and isValid(each) for each in gc.get_objects())


@pytest.mark.usefixtures("qapp")
def test_items_of_inner_layouts_have_no_wrapper_that_outlives_them() -> None:
    """Qt deletes an item with its widget and does not tell PySide: the next object at its address crashes later."""
    before = count_wrapped_items()
    holder = QWidget()
    labels = [QLabel(text) for text in ("one", "two", "three")]
    make_column(make_row(*labels[:2], STRETCH), make_row(make_column(labels[2])), on=holder)
    assert [label.parentWidget() for label in labels] == [holder] * 3
    assert count_wrapped_items() == before


@pytest.mark.usefixtures("qapp")
def test_items_of_a_wrapping_layout_go_with_it() -> None:
    holder = QWidget()
    row = FlowLayout()
    make_column(row, on=holder)
    for _ in range(3):
        row.addWidget(QWidget(holder))
    items = [row.itemAt(place) for place in range(3)]
    delete(holder)
    assert not any(map(isValid, items))
