"""The load slider: steps, gestures, and typed values."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QListView
from pytestqt.qtbot import QtBot

from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.choice_popup import ChoiceOption
from gpudesk.desktop.ui.widgets.load_slider import LoadSlider
from gpudesk.desktop.ui.widgets.number_edit import NumberFormat, make_count_steps, make_decade_steps

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def load(theme: Theme, qtbot: QtBot) -> LoadSlider:
    slider = LoadSlider(theme)
    qtbot.addWidget(slider)
    slider.set_kinds([ChoiceOption("concurrency", "Concurrency"), ChoiceOption("rate", "Request rate")], "concurrency")
    slider.set_scale(make_count_steps(1, 1024), NumberFormat(1, 100_000))
    slider.set_value(64)
    slider.resize(slider.sizeHint())
    with qtbot.waitExposed(slider):
        slider.show()
    return slider


def record_signals(load: LoadSlider) -> list[object]:
    signals: list[object] = []
    load.gesture_began.connect(lambda: signals.append("began"))
    load.gesture_ended.connect(lambda: signals.append("ended"))
    load.moved.connect(signals.append)
    return signals


def test_drag_is_one_gesture(load: LoadSlider) -> None:
    signals = record_signals(load)
    middle = load.slider.height() // 2
    start = load.slider._handle().center()
    QTest.mousePress(load.slider, LEFT, pos=start)
    for x in range(start.x(), load.slider.width(), 4):
        QTest.mouseMove(load.slider, QPoint(x, middle))
    QTest.mouseRelease(load.slider, LEFT, pos=QPoint(load.slider.width() - 1, middle))
    assert signals[0] == "began"
    assert signals[-1] == "ended"
    assert signals[1:-1] == [96, 128, 192, 256, 384, 512, 768, 1024]
    assert load.field.text() == "1,024"


def test_click_is_one_gesture(load: LoadSlider) -> None:
    signals = record_signals(load)
    QTest.mouseClick(load.slider, LEFT, pos=QPoint(2, load.slider.height() // 2))
    assert signals == ["began", 1, "ended"]


def test_key_repeat_is_one_gesture(load: LoadSlider) -> None:
    signals = record_signals(load)
    QTest.keyPress(load.slider, Qt.Key.Key_Right)
    QTest.keyPress(load.slider, Qt.Key.Key_Right)
    QTest.keyRelease(load.slider, Qt.Key.Key_Right)
    assert signals == ["began", 96, 128, "ended"]
    assert load.slider.accessibleName() == "Concurrency: 128"


def test_value_between_steps_is_kept(load: LoadSlider) -> None:
    signals = record_signals(load)
    load.set_value(100)
    assert load.field.text() == "100"
    assert load.value == 100
    assert signals == [], "setting a value is no edit"


def test_typed_value_may_exceed_the_slider(load: LoadSlider, qtbot: QtBot) -> None:
    load.field.selectAll()
    QTest.keyClicks(load.field, "5000")
    with qtbot.waitSignal(load.moved) as signal:
        QTest.keyClick(load.field, Qt.Key.Key_Return)
    assert signal.args == [5000]
    assert load.slider.value() == load.slider.maximum()


def test_rates_have_decimals(load: LoadSlider) -> None:
    load.set_scale(make_decade_steps(0.1, 100), NumberFormat(0.01, 1000, decimals=2))
    load.set_value(1.5)
    signals = record_signals(load)
    QTest.keyClick(load.slider, Qt.Key.Key_Right)
    assert signals == ["began", 2.0, "ended"]
    assert isinstance(signals[1], float)


def test_caption_chooses_the_load_type(load: LoadSlider, qtbot: QtBot) -> None:
    QTest.keyClick(load.kind, Qt.Key.Key_Down)
    popup = load.kind.popup
    assert popup is not None
    view = popup.findChild(QListView)
    assert isinstance(view, QListView)
    line = popup.findChild(QLineEdit)
    assert isinstance(line, QLineEdit)
    assert not line.isVisible(), "two alternatives need no search"
    QTest.keyClick(view, Qt.Key.Key_Down)
    with qtbot.waitSignal(load.kind_chosen) as signal:
        QTest.keyClick(view, Qt.Key.Key_Return)
    assert signal.args == ["rate"]


def test_controls_fit_at_every_text_size(load: LoadSlider, theme: Theme) -> None:
    for percent in (90, 150):
        theme.set_font_percent(percent)
        load.resize(load.minimumSizeHint())
        assert load.field.geometry().bottom() < load.height() + 2
        assert load.kind.geometry().bottom() <= load.slider.geometry().center().y()
        assert load.slider.width() >= theme.px(80)


def test_field_fits_its_value(load: LoadSlider) -> None:
    for value in (64, 2_000, 100_000, 123_456_789):
        load.set_scale(make_count_steps(1, 1024), NumberFormat(1, 1e9))
        load.set_value(value)
        text = load.field.text()
        assert load.field.fontMetrics().horizontalAdvance(text) + 2 * 8 <= load.field.width(), text
        assert load.slider.width() >= 40
        assert load.field.geometry().right() < load.width() or load.width() < load.minimumWidth()


@pytest.mark.parametrize("by_mouse", [False, True])
def test_typing_replaces_the_value_after_tab_or_click(load: LoadSlider, *, by_mouse: bool) -> None:
    load.activateWindow()
    if by_mouse:
        QTest.mouseClick(load.field, LEFT, pos=QPoint(load.field.width() - 4, 10))
    else:
        load.slider.setFocus()
        QTest.keyClick(load.slider, Qt.Key.Key_Tab)
    assert load.field.hasFocus()
    QTest.keyClicks(load.field, "2,000")
    QTest.keyClick(load.field, Qt.Key.Key_Return)
    assert load.value == 2_000


def test_second_click_sets_the_cursor(load: LoadSlider) -> None:
    load.activateWindow()
    position = QPoint(load.field.width() - 4, 10)
    QTest.mouseClick(load.field, LEFT, pos=position)
    QTest.qWait(QApplication.doubleClickInterval() + 50)
    QTest.mouseClick(load.field, LEFT, pos=position)
    QTest.keyClicks(load.field, "0")
    assert load.field.text() == "640"
