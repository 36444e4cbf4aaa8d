"""Rows of forms: accepted values, and robustness against any input."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtWidgets import QApplication, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from gpudesk.catalog.user_store.entry import list_unit_choices
from gpudesk.desktop.pages.catalog.editors.entry_forms import AcceleratorForm
from gpudesk.desktop.pages.catalog.editors.fields import NumberRow, check_date, check_plain_text, parse_number
from gpudesk.desktop.pages.catalog.editors.preference_editor import PreferenceEditor
from gpudesk.desktop.pages.catalog.editors.price_form import PriceForm
from gpudesk.desktop.pages.catalog.editors.rows import FieldError
from gpudesk.desktop.pages.catalog.editors.value_editor import ValueEditor
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.layouts import ThemedLabel
from gpudesk.desktop.ui.widgets.number_edit import NumberFormat
from gpudesk.text.translation import set_language
from tests.unit.desktop.pages.catalog.editors.keys import Show

FORMAT = NumberFormat(float("-inf"), float("inf"), 9)


@given(st.text(max_size=300))
def test_any_text_is_made_plain_or_refused(text: str) -> None:
    try:
        plain_text = check_plain_text(text, 200)
    except FieldError:
        return
    assert len(plain_text) <= 200
    assert all(unicodedata.category(each) not in ("Cc", "Cs") or each in "\n\t" for each in plain_text)
    plain_text.encode()


@given(st.text(max_size=40) | st.from_regex(r"\d{4}-\d\d-\d\d", fullmatch=True))
def test_any_text_is_a_date_or_refused(text: str) -> None:
    try:
        date = check_date(text)
    except FieldError:
        return
    assert date == text
    assert len(date) in (4, 7, 10)


@pytest.mark.parametrize("text", ["2026", "2026-11", "2026-02-28", "2024-02-29"])
def test_valid_dates_are_accepted_as_written(text: str) -> None:
    assert check_date(text) == text


@pytest.mark.parametrize("text", ["2026-02-30", "2025-02-29", "26-11", "2024-W01-1", "20241101", "²026"])
def test_invalid_dates_are_refused(text: str) -> None:
    with pytest.raises(FieldError, match="YYYY-MM-DD"):
        check_date(text)


@given(st.text(max_size=40) | st.floats().map(str) | st.integers().map(str))
def test_any_number_is_positive_or_refused(text: str) -> None:
    try:
        number = parse_number(text, FORMAT)
    except FieldError:
        return
    assert 0 < number < float("inf")


@pytest.mark.parametrize(
    ("name", "unit", "text", "base_value"),
    [
        ("memory", "B", "192", 192 * 2**30),
        ("memory", "B", "192 GB", 192 * 10**9),
        ("memory_bandwidth", "B/s", "3.35", 3_350_000_000_000),
        ("scale_up_bandwidth", "B/s", "896", 896_000_000_000),
        ("peak_dense_fp8", "FLOP/s", "4.5 PFLOPS", 4_500_000_000_000_000),
        ("peak_dense_int8", "FLOP/s", "2614.9", 2_614_900_000_000_000),
        ("tdp", "W", "1.4 kW", 1_400),
        ("total_parameters", "parameters", "70.6", 70_600_000_000),
        ("total_parameters", "parameters", "70.6 billion", 70_600_000_000),
    ],
)
def test_typed_value_is_exact_in_its_base_unit(
    theme: Theme, qtbot: QtBot, name: str, unit: str, text: str, base_value: int
) -> None:
    row = NumberRow(theme, "value", "Value", list_unit_choices(name, unit))
    qtbot.addWidget(row)
    row.edit.setText(text)
    assert row.inside() == base_value
    row.show_inside(base_value)
    assert row.inside() == base_value, "the displayed text stands for the same value"


def test_tab_follows_the_reading_order_of_a_form(desk: Desk, theme: Theme, show: Show) -> None:
    for form in (AcceleratorForm(desk, theme, thing="mi325x"), PriceForm(desk, theme, thing="mi325x")):
        show(form)
        reached: list[QWidget] = []
        while (focused := QApplication.focusWidget()) is not None and focused not in reached:
            reached.append(focused)
            form.focusNextChild()
        row_positions = [
            next(position for position, row in enumerate(form.rows) if row.isAncestorOf(each))
            for each in reached
            if any(row.isAncestorOf(each) for row in form.rows)
        ]
        start = row_positions.index(min(row_positions))
        assert row_positions[start:] + row_positions[:start] == sorted(row_positions)
        assert sum(isinstance(each, QLineEdit) for each in reached) >= 5


def test_every_control_has_a_name(desk: Desk, theme: Theme, show: Show) -> None:
    forms = (
        AcceleratorForm(desk, theme, thing="mi325x"),
        PriceForm(desk, theme, thing="mi325x"),
        ValueEditor(desk, theme, "mi325x", "memory"),
        PreferenceEditor(desk, theme, "mi325x", "memory_bandwidth"),
    )
    for form in forms:
        show(form)
        nameless = [
            each
            for each in form.findChildren(QWidget)
            if each.focusPolicy() and each.isVisible() and not each.accessibleName()
        ]
        # Qt's own inner widgets have the name of their control.
        assert [type(each).__name__ for each in nameless if type(each).__module__.startswith("gpudesk")] == []


def test_every_label_of_a_form_has_a_parent(desk: Desk, theme: Theme, show: Show) -> None:
    """A label without a parent would stay alive as a hidden window until the next garbage collection."""
    former_widgets = set(QApplication.allWidgets())
    show(AcceleratorForm(desk, theme, thing="mi325x"))
    windows = [each for each in set(QApplication.topLevelWidgets()) - former_widgets if each.parent() is None]
    assert [each for each in windows if isinstance(each, ThemedLabel)] == []


def test_all_texts_of_a_form_are_translated(desk: Desk, theme: Theme, show: Show) -> None:
    set_language("pseudo")
    try:
        form = ValueEditor(desk, theme, "mi325x", "memory_bandwidth")
        show(form)
        labels = [row.label for row in form.rows] + [form.windowTitle(), form.save_button.text()]
        assert all(label.startswith("⟦") for label in labels), labels
    finally:
        set_language("en")
