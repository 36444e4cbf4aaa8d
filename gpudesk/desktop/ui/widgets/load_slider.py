"""The load of a scenario: its kind, a slider with logarithmic steps, and the same value typed."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, QRect, QRectF, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QFontMetricsF, QKeyEvent, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QSlider, QStyle, QStyleOptionSlider, QWidget

from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import PaintedButton, ThemePainter
from gpudesk.desktop.ui.theme.tokens import LEAST_TARGET
from gpudesk.desktop.ui.widgets.choice_popup import ChoiceOption, ChoicePopup
from gpudesk.desktop.ui.widgets.fields import HEIGHT, FieldErrorNote
from gpudesk.desktop.ui.widgets.number_edit import NumberEdit, NumberFormat, find_nearest_step

#: Lengths of the slider (minimum next to a long number), and of the rest at the common field height.
_NARROWEST = 80.0
_SHORTEST = 40.0
_USUAL = 200.0
_FIELD = 64.0
_GAP = 14.0
_CAPTION_TOP = 3.0
_LEVEL_BOTTOM = 14.0


class LoadSlider(QWidget):
    """One value with three controls; a drag or a held key is one gesture."""

    #: The key of the chosen load kind.
    kind_chosen = Signal(str)
    #: The value while moving and when typed: int if the format has no decimals, else float.
    moved = Signal(object)
    gesture_began = Signal()
    gesture_ended = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._format = NumberFormat(1, 1)
        self._steps: tuple[float, ...] = (1,)
        self.value: float = 1
        self.kind = CaptionButton(theme, self)
        self.slider = JumpSlider(self)
        self.field = NumberEdit(theme, "", self._format, self)
        self.field.setAlignment(Qt.AlignmentFlag.AlignRight)
        self._fault = FieldErrorNote(self.field, theme)
        self.field.fault_changed.connect(self._fault.set_text)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusProxy(self.slider)
        self.kind.chosen.connect(self.kind_chosen)
        self.slider.valueChanged.connect(self._slid)
        self.slider.gesture_began.connect(self.gesture_began)
        self.slider.gesture_ended.connect(self.gesture_ended)
        self.field.edited.connect(self._typed)
        self.field.textChanged.connect(self._fit_field)
        theme.follow(self._dress)

    def set_kinds(self, kinds: Sequence[ChoiceOption], key: str) -> None:
        self.kind.set_options(kinds, key)
        self.kind.resize(self.kind.sizeHint())
        self._describe_value()

    def set_scale(self, steps: Sequence[float], number_format: NumberFormat) -> None:
        """Set the steps of the slider; the field accepts any value within the format's limits."""
        self._format = number_format
        self.field.set_format(number_format)
        self.field.set_steps(tuple(steps))
        if tuple(steps) != self._steps:
            self._steps = tuple(steps)
            with QSignalBlocker(self.slider):
                self.slider.setRange(0, len(self._steps) - 1)
        self._show_value()

    def set_value(self, value: float) -> None:
        """Show the current value; between two steps the slider moves to the nearer."""
        self.value = value
        self._show_value()

    def _show_value(self) -> None:
        self.field.set_value(self.value)
        if not self.slider.isSliderDown():
            with QSignalBlocker(self.slider):
                self.slider.setValue(find_nearest_step(self._steps, self.value))
            self.slider.update()
        self._describe_value()

    def _slid(self, position: int) -> None:
        self.value = self._steps[position]
        self.field.set_value(self.value)
        self._describe_value()
        self.moved.emit(round(self.value) if self._format.decimals == 0 else self.value)

    def _typed(self, value: float) -> None:
        self.value = value
        self._show_value()
        self.moved.emit(value)

    def _describe_value(self) -> None:
        name = self.kind.text()
        self.field.setAccessibleName(name)
        self.slider.setAccessibleName(f"{name}: {self._format.text(self.value)}")

    def sizeHint(self) -> QSize:
        return self._size(_USUAL)

    def minimumSizeHint(self) -> QSize:
        return self._size(_NARROWEST)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: ARG002 - Qt's name
        self._place()

    def _fit_field(self) -> None:
        if self._measure_field() != self.field.width():
            self._place()

    def _place(self) -> None:
        """Give the field the width of its digits, and the slider the rest."""
        px, width, height = self._theme.px, self.width(), self.height()
        level = height - px(_LEVEL_BOTTOM)
        field = self._measure_field()
        self.setMinimumWidth(max(self.minimumSizeHint().width(), field + px(_GAP) + px(_SHORTEST)))
        room = width - field - px(_GAP)
        caption = self.kind.sizeHint()
        self.kind.setGeometry(0, px(_CAPTION_TOP), min(caption.width(), room + px(_GAP)), caption.height())
        tall = px(LEAST_TARGET)
        self.slider.setGeometry(0, level - tall // 2, room, tall)
        self.field.setGeometry(width - field, level - px(28) // 2, field, px(28))

    def _measure_field(self) -> int:
        return max(self._theme.px(_FIELD), self.field.measure_width_for(self.field.text() + "0"))

    def _size(self, slider: float) -> QSize:
        px = self._theme.px
        return QSize(px(slider) + px(_GAP) + px(_FIELD), px(HEIGHT))

    def _dress(self) -> None:
        self.updateGeometry()
        self._place()


class JumpSlider(QSlider):
    """A slider that jumps to a click, and signals the start and the end of a gesture."""

    gesture_began = Signal()
    gesture_ended = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._in_gesture = False
        self.setRange(0, 0)
        self.setPageStep(4)
        self.setProperty("ringRadius", 4.0)
        self.sliderPressed.connect(self._begin)
        self.sliderReleased.connect(self._end)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        place = event.position().toPoint()
        if event.button() == Qt.MouseButton.LeftButton and not self._handle().contains(place):
            self._begin()
            self.setValue(self._compute_value_at(place.x()))
        super().mousePressEvent(event)
        if not self.isSliderDown():
            self._end()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in _MOVING_KEYS:
            self._begin()
        super().keyPressEvent(event)

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        super().keyReleaseEvent(event)
        if not event.isAutoRepeat() and not self.isSliderDown():
            self._end()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if not self.isSliderDown():
            self._end()

    def _begin(self) -> None:
        if not self._in_gesture:
            self._in_gesture = True
            self.gesture_began.emit()

    def _end(self) -> None:
        if self._in_gesture:
            self._in_gesture = False
            self.gesture_ended.emit()

    def _handle(self) -> QRect:
        option = QStyleOptionSlider()
        self.initStyleOption(option)
        return self.style().subControlRect(
            QStyle.ComplexControl.CC_Slider, option, QStyle.SubControl.SC_SliderHandle, self
        )

    def _compute_value_at(self, x: int) -> int:
        width = self._handle().width()
        return QStyle.sliderValueFromPosition(self.minimum(), self.maximum(), x - width // 2, self.width() - width)


_MOVING_KEYS = frozenset(
    {
        Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Down,
        Qt.Key.Key_PageUp, Qt.Key.Key_PageDown, Qt.Key.Key_Home, Qt.Key.Key_End,
    }
)  # fmt: skip


class CaptionButton(PaintedButton):
    """A caption that is itself a choice."""

    chosen = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, parent)
        self._options: tuple[ChoiceOption, ...] = ()
        self._key = ""
        self.popup: ChoicePopup | None = None
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setProperty("ringRadius", 3.0)
        self.clicked.connect(self.open_list)
        theme.changed.connect(self.updateGeometry)

    def set_options(self, options: Sequence[ChoiceOption], key: str) -> None:
        if self.popup is not None and self._options != tuple(options):
            # An open list can offer outdated options.
            self.popup.close()
        self._options = tuple(options)
        self._key = key
        self.setText(next((option.text for option in options if option.key == key), ""))
        self.setAccessibleName(self.text())
        self.updateGeometry()
        self.update()

    def open_list(self) -> None:
        if self.popup is None:
            self.popup = ChoicePopup(self._theme, self.text(), self)
            self.popup.chosen.connect(self.chosen)
        place = QRect(self.mapToGlobal(QPoint(0, 0)), self.size())
        self.popup.open_below(place, self._options, self._key)

    def sizeHint(self) -> QSize:
        width = QFontMetricsF(self._theme.font("caption")).horizontalAdvance(self.text())
        return QSize(int(width) + self._theme.px(18), self._theme.line("caption"))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Down):
            self.open_list()
        else:
            super().keyPressEvent(event)

    def paint(self, pen: ThemePainter) -> None:
        color = "disabled" if not self.isEnabled() else "text1" if self.underMouse() else "text3"
        side = self._theme.px(12)
        rect = QRectF(0, 0, self.width() - side, self.height())
        width = pen.text(rect, self.text(), font="caption", color=color)
        pen.icon("chevron-down", width + 3, (self.height() - side) / 2 + 1, side, color)
