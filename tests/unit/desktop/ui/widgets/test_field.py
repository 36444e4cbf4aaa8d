"""Scenario fields by keyboard and mouse: values, lists, faults."""

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetricsF, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QListView, QWidget
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.choice_popup import ChoiceOption, ChoiceOptionModel
from gpudesk.desktop.ui.widgets.fields import ChoiceField, NumberField
from gpudesk.desktop.ui.widgets.number_edit import NumberFormat

Key = Qt.Key

MODELS = [
    *(ChoiceOption(f"llama-{size}", f"Llama {size}B", (f"{size} B",), group="Meta") for size in (1, 3, 8, 70, 405)),
    *(ChoiceOption(f"qwen-{size}", f"Qwen {size}B", (f"{size} B",), group="Alibaba") for size in (4, 14, 32, 72)),
    ChoiceOption("next", "Next 70B", tag="Announced", group="Other"),
    ChoiceOption("big", "Big 2000B", reason="Does not fit on anything", group="Other"),
]
FORMATS = [
    ChoiceOption("fp8", "FP8"),
    ChoiceOption("fp16", "FP16"),
    ChoiceOption("fp4", "FP4", reason="H200 has no FP4"),
]


@pytest.fixture
def show(qtbot: QtBot, theme: Theme) -> Callable[[QWidget], None]:
    def show_field(field: QWidget) -> None:
        window = QWidget()
        qtbot.addWidget(window)
        window.resize(600, 200)
        field.setParent(window)
        field.move(20, 20)
        field.resize(field.sizeHint())
        with qtbot.waitActive(window):
            window.show()
        window.activateWindow()
        field.setFocus()
        windows.append(window)

    windows: list[QWidget] = []
    return show_field


def get_search_line(field: ChoiceField) -> QLineEdit:
    popup = field.popup
    assert popup is not None
    line = popup.findChild(QLineEdit)
    assert isinstance(line, QLineEdit)
    return line


def list_rows(field: ChoiceField) -> list[str]:
    popup = field.popup
    assert popup is not None
    view = popup.findChild(QListView)
    assert isinstance(view, QListView)
    model = view.model()
    return [model.index(row, 0).data() for row in range(model.rowCount())]


def test_choice_by_keyboard(theme: Theme, qtbot: QtBot, show: Callable[[QWidget], None]) -> None:
    field = ChoiceField(theme, "Model")
    field.set_options(MODELS)
    field.set_value("llama-8")
    show(field)
    assert field.accessibleName() == "Model: Llama 8B"
    QTest.keyClick(field, Key.Key_Down)
    line = get_search_line(field)
    QTest.keyClick(line, Key.Key_Down)
    with qtbot.waitSignal(field.chosen) as signal:
        QTest.keyClick(line, Key.Key_Return)
    assert signal.args == ["llama-70"]
    assert field.popup is not None
    assert not field.popup.isVisible()
    assert field.value == "llama-8", "the scenario decides what is shown"


def test_closed_list_has_no_native_window(theme: Theme, qtbot: QtBot, show: Callable[[QWidget], None]) -> None:
    field = ChoiceField(theme, "Model")
    field.set_options(MODELS)
    show(field)
    for _ in range(2):
        field.open_list()
        assert field.popup is not None
        assert field.popup.windowHandle().isVisible()
        assert list_rows(field) != []
        field.popup.close()
        qtbot.waitUntil(lambda: field.popup is not None and field.popup.windowHandle() is None)


def test_typing_opens_and_narrows_the_list(theme: Theme, qtbot: QtBot, show: Callable[[QWidget], None]) -> None:
    field = ChoiceField(theme, "Model")
    field.set_options(MODELS)
    show(field)
    QTest.keyClicks(field, "7")
    line = get_search_line(field)
    assert line.text() == "7"
    assert list_rows(field) == ["Llama 70B", "Qwen 72B", "Next 70B"]
    QTest.keyClicks(line, "0 ll")
    assert list_rows(field) == ["Llama 70B"]
    with qtbot.waitSignal(field.chosen) as signal:
        QTest.keyClick(line, Key.Key_Return)
    assert signal.args == ["llama-70"]


def test_group_headings_cannot_be_chosen(theme: Theme, qtbot: QtBot, show: Callable[[QWidget], None]) -> None:
    field = ChoiceField(theme, "Model")
    field.set_options(MODELS)
    field.set_value("llama-405")
    show(field)
    field.open_list()
    assert list_rows(field)[:2] == ["Meta", "Llama 1B"]
    QTest.keyClick(get_search_line(field), Key.Key_Down)
    with qtbot.waitSignal(field.chosen) as signal:
        QTest.keyClick(get_search_line(field), Key.Key_Return)
    assert signal.args == ["qwen-4"]


def test_enter_without_matches_does_nothing(theme: Theme, qtbot: QtBot, show: Callable[[QWidget], None]) -> None:
    field = ChoiceField(theme, "Model")
    field.set_options(MODELS)
    show(field)
    field.open_list("zz")
    with qtbot.assertNotEmitted(field.chosen):
        QTest.keyClick(get_search_line(field), Key.Key_Return)
    assert field.popup is not None
    assert any("“zz”" in label.text() for label in field.popup.findChildren(QLabel))


def test_escape_closes_without_a_choice(theme: Theme, qtbot: QtBot, show: Callable[[QWidget], None]) -> None:
    field = ChoiceField(theme, "Weights")
    field.set_options(FORMATS)
    field.set_value("fp8")
    show(field)
    field.open_list()
    popup = field.popup
    assert popup is not None
    view = popup.findChild(QListView)
    assert isinstance(view, QListView)
    with qtbot.assertNotEmitted(field.chosen):
        QTest.keyClick(view, Key.Key_Escape)
    assert not popup.isVisible()


def test_disabled_options_cannot_be_chosen(theme: Theme, qtbot: QtBot, show: Callable[[QWidget], None]) -> None:
    field = ChoiceField(theme, "Weights")
    field.set_options(FORMATS)
    field.set_value("fp16")
    show(field)
    field.open_list()
    assert field.popup is not None
    view = field.popup.findChild(QListView)
    assert isinstance(view, QListView)
    QTest.keyClick(view, Key.Key_Down)
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=view.visualRect(view.model().index(2, 0)).center())
    assert field.popup.isVisible()
    with qtbot.waitSignal(field.chosen) as signal:
        QTest.mouseClick(
            view.viewport(), Qt.MouseButton.LeftButton, pos=view.visualRect(view.model().index(0, 0)).center()
        )
    assert signal.args == ["fp8"]


def test_option_model_passes_the_model_tester(qtmodeltester: ModelTester) -> None:
    model = ChoiceOptionModel()
    model.set_options(MODELS)
    qtmodeltester.check(model)  # type: ignore[no-untyped-call]
    model.narrow("70")
    assert [model.index(row).data() for row in range(model.rowCount())] == ["Llama 70B", "Next 70B"]
    accessible_text = model.index(1).data(Qt.ItemDataRole.AccessibleTextRole)
    assert accessible_text == "Next 70B, Announced"


def make_number_field(theme: Theme) -> NumberField:
    field = NumberField(theme, "Input tokens", NumberFormat(1, 1_000_000))
    field.set_value(4000)
    return field


def test_enter_applies_a_number(theme: Theme, qtbot: QtBot, show: Callable[[QWidget], None]) -> None:
    field = make_number_field(theme)
    show(field)
    assert field.edit.accessibleName() == "Input tokens"
    field.edit.selectAll()
    QTest.keyClicks(field.edit, "8k")
    with qtbot.waitSignal(field.edited) as signal:
        QTest.keyClick(field.edit, Key.Key_Return)
    assert signal.args == [8000]
    assert type(signal.args[0]) is int
    assert field.edit.text() == "8,000"


@pytest.mark.parametrize("text", ["2 000", "2,000", "2k", " 2000\n"])
def test_click_and_enter_select_the_value(theme: Theme, text: str, show: Callable[[QWidget], None]) -> None:
    field = make_number_field(theme)
    show(field)
    # A click in an inactive window does not set the focus.
    field.edit.clearFocus()
    QTest.mouseClick(field.edit, Qt.MouseButton.LeftButton)
    QTest.keyClicks(field.edit, "500")
    QTest.keyClick(field.edit, Key.Key_Return)
    QTest.keyClicks(field.edit, "600")
    QTest.keyClick(field.edit, Key.Key_Return)
    assert field.value == 600
    QTest.mouseClick(field.edit, Qt.MouseButton.LeftButton)
    assert field.edit.selectedText() == "600"
    QApplication.clipboard().setText(text)
    QTest.keySequence(field.edit, QKeySequence.StandardKey.Paste)
    QTest.keyClick(field.edit, Key.Key_Return)
    assert field.value == 2000
    QTest.mouseClick(field.edit, Qt.MouseButton.LeftButton)
    QTest.mouseClick(field.edit, Qt.MouseButton.LeftButton)
    assert field.edit.selectedText() == "", "another click sets the cursor"


def test_same_number_is_no_edit(theme: Theme, qtbot: QtBot, show: Callable[[QWidget], None]) -> None:
    field = make_number_field(theme)
    show(field)
    field.edit.selectAll()
    QTest.keyClicks(field.edit, "4000")
    with qtbot.assertNotEmitted(field.edited):
        QTest.keyClick(field.edit, Key.Key_Return)
    assert field.edit.text() == "4,000"


def test_arrow_keys_step_by_round_values(theme: Theme, qtbot: QtBot, show: Callable[[QWidget], None]) -> None:
    field = make_number_field(theme)
    show(field)
    with qtbot.waitSignal(field.edited) as signal:
        QTest.keyClick(field.edit, Key.Key_Up)
    assert signal.args == [5000]
    with qtbot.waitSignal(field.edited) as signal:
        QTest.keyClick(field.edit, Key.Key_Down)
    assert signal.args == [4000]


def test_invalid_number_is_reported_and_restored(theme: Theme, qtbot: QtBot, show: Callable[[QWidget], None]) -> None:
    field = make_number_field(theme)
    show(field)
    field.edit.selectAll()
    QTest.keyClicks(field.edit, "lots")
    with qtbot.assertNotEmitted(field.edited):
        QTest.keyClick(field.edit, Key.Key_Return)
    assert field.fault == field.edit.accessibleDescription() == "Enter a number, such as 64"
    assert field.edit.text() == "lots", "what was typed stays to be mended"
    assert field.value == 4000
    field.set_value(4000)
    assert field.edit.text() == "lots"
    QTest.keyClick(field.edit, Key.Key_Escape)
    assert field.edit.text() == "4,000"
    assert field.fault == ""


def test_external_fault_stays_until_cleared(theme: Theme, show: Callable[[QWidget], None]) -> None:
    field = make_number_field(theme)
    show(field)
    sentence = "Llama 2 70B reads 4,096 tokens at most. Use 4,096"
    field.set_fault(sentence)
    assert field.edit.toolTip() == sentence
    edge = field.grab().toImage().pixelColor(field.width() // 2, 0)
    assert edge == theme.color("unfit")
    field.set_fault("")
    assert field.fault == ""


def test_fault_of_the_value_hides_while_another_is_typed(theme: Theme, show: Callable[[QWidget], None]) -> None:
    field = make_number_field(theme)
    show(field)
    field.set_fault("Use at most 4,096")
    field.edit.selectAll()
    QTest.keyClicks(field.edit, "x")
    assert field.fault == field.edit.toolTip() == ""
    QTest.keyClick(field.edit, Key.Key_Return)
    assert field.fault == "Enter a number, such as 64"
    QTest.keyClick(field.edit, Key.Key_Escape)
    assert field.fault == "Use at most 4,096"


def test_wide_field_fits_a_long_value(theme: Theme, show: Callable[[QWidget], None]) -> None:
    system = "Automatic: Supermicro AS-8126GS-TNMR, 8 MI325X"
    default, wide = ChoiceField(theme, "System"), ChoiceField(theme, "System", widest=400.0)
    for field in (default, wide):
        show(field)
        field.set_options([ChoiceOption("a", system)])
        field.set_value("a")
    needed = QFontMetricsF(theme.font("body_strong")).horizontalAdvance(system)
    assert default.sizeHint().width() < needed < wide.sizeHint().width()


def test_line_shows_what_can_be_changed(theme: Theme, qtbot: QtBot) -> None:
    """In the scenario bar all values can be changed, and none has a line."""
    for is_underlined in (True, False):
        number = NumberField(theme, "Users", NumberFormat(1, 100), is_underlined=is_underlined)
        choice = ChoiceField(theme, "Weights", is_underlined=is_underlined)
        for field in (number, choice):
            qtbot.addWidget(field)
            field.resize(field.sizeHint())
            picture = field.grab().toImage()
            column = [picture.pixelColor(picture.width() // 2, y) for y in range(picture.height())]
            assert (theme.color("strong") in column[-3:]) is is_underlined
