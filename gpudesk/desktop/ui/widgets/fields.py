"""Fields of a scenario: a caption above a value, and the message when the value is invalid."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QBoxLayout, QSizePolicy, QWidget
from shiboken6 import isValid

from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import PaintedButton, PaintedWidget, ThemePainter, break_words
from gpudesk.desktop.ui.widgets.choice_popup import ChoiceOption, ChoicePopup
from gpudesk.desktop.ui.widgets.layouts import BoxItem, make_column
from gpudesk.desktop.ui.widgets.number_edit import NumberEdit, NumberFormat
from gpudesk.text.translation import tr

_WIDEST = 360.0
_PADDING = 8.0
_GAP = 4

_FOLLOWED = frozenset({QEvent.Type.Move, QEvent.Type.Resize})
_ENTERED = frozenset({QEvent.Type.Enter, QEvent.Type.FocusIn})
_LEFT = frozenset({QEvent.Type.Leave, QEvent.Type.FocusOut})


class FieldErrorNote(PaintedWidget):
    """Floats below an invalid field, above other widgets, and ignores the mouse.

    It is shown when the error appears and while the field is focused or hovered; then it hides.
    """

    def __init__(self, field: QWidget, theme: Theme) -> None:
        super().__init__(theme, field)
        self._field = field
        self.text = ""
        self._lines: list[str] = []
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.hide()
        self._parts = [field]
        field.destroyed.connect(self.deleteLater)
        theme.changed.connect(self._settle)

    def set_text(self, text: str) -> None:
        """Show a problem and its remedy; an empty text hides the note."""
        if text == self.text:
            return
        self.text = text
        # Without an error there is nothing to follow; most fields never have one.
        for part in self._parts:
            part.removeEventFilter(self)
            if text:
                part.installEventFilter(self)
        self.setVisible(bool(text) and self._field.isVisible())
        self._settle()

    def watch(self, part: QWidget) -> None:
        self._parts.append(part)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        kind = event.type()
        if watched is not self:
            if kind in _ENTERED:
                self.show()
                self._settle()
            elif kind in _LEFT:
                self.setVisible(self._turned_to(kind))
            elif watched is self._field and kind == QEvent.Type.Hide:
                self.hide()
            elif watched is self._field and kind in _FOLLOWED:
                self._settle()
        return False

    def paint(self, pen: ThemePainter) -> None:
        pen.frame(QRectF(self.rect()), "unfit", fill="raised")
        padding, line = self._theme.px(_PADDING), self._theme.line("small")
        for number, words in enumerate(self._lines):
            row = QRectF(padding, padding - 2 + number * line, self.width() - padding, line)
            pen.text(row, words, font="small", color="unfit")

    def _turned_to(self, left_by: QEvent.Type) -> bool:
        """Return whether the field is still focused after the mouse left, or hovered after the focus left."""
        if left_by == QEvent.Type.Leave:
            focus: QWidget | None = QApplication.focusWidget()
            return focus is not None and (focus is self._field or self._field.isAncestorOf(focus))
        return self._field.underMouse()

    def _settle(self) -> None:
        if not self.text or not isValid(self._field):
            return
        theme, window = self._theme, self._field.window()
        if self.parentWidget() is not window:
            visible = not self.isHidden()
            self.setParent(window)
            self.setVisible(visible)
        metrics = QFontMetricsF(theme.font("small"))
        padding = theme.px(_PADDING)
        room = min(theme.px(_WIDEST), window.width() - 16) - 2 * padding
        self._lines = break_words(self.text, room, metrics)
        width = max(metrics.horizontalAdvance(line) for line in self._lines) + 2 * padding + 2
        height = len(self._lines) * theme.line("small") + 2 * padding - 4
        self.resize(int(width) + 1, height)
        place = self._field.mapTo(window, QPoint(0, self._field.height() + _GAP))
        self.move(max(8, min(place.x(), window.width() - self.width() - 8)), place.y())
        self.raise_()
        self.update()


#: Padding of a field: left and right of its texts, above the caption, below the value.
FIELD_SIDE = 8
HEIGHT = 42.0
_CAPTION_TOP = 3.0
_VALUE_BOTTOM = 4.0
_CHEVRON = 14.0
_FAULT_ICON = 14.0
#: Horizontal padding of a borderless line edit.
_INSIDE = 2
#: Minimum width of a field's value when cut.
_WIDEST_VALUE = 240.0
#: Minimum width of a choice when cut.
_NARROWEST = 132.0


def align_with_fields(theme: Theme, *items: BoxItem, gap: int | None = None) -> QBoxLayout:
    """Return a column at the left edge of the texts of fields, not of their padding."""
    return make_column(*items, gap=gap, margins=(FIELD_SIDE, 0, 0, 0), scaled=theme)


class FieldFrame:
    """Common base of both kinds of fields: sizes, and the drawing of caption, hover and error.

    A line below the value shows that it can be changed, except in the scenario bar, where all values can.
    """

    def __init__(
        self, theme: Theme, caption: str, widest: float = _WIDEST_VALUE, *, is_underlined: bool = True
    ) -> None:
        self.theme = theme
        self.caption = caption
        self._is_underlined = is_underlined
        self._widest = widest

    def compute_caption_rect(self, width: int) -> QRectF:
        px = self.theme.px
        return QRectF(px(FIELD_SIDE), px(_CAPTION_TOP), width - 2 * px(FIELD_SIDE), self.theme.line("caption"))

    def compute_value_rect(self, width: int, height: int, right: int = 0) -> QRect:
        px = self.theme.px
        line = self.theme.line("body")
        return QRect(px(FIELD_SIDE), height - px(_VALUE_BOTTOM) - line, width - 2 * px(FIELD_SIDE) - right, line)

    def measure_width_for(self, value: str, right: int = 0) -> int:
        theme = self.theme
        caption = QFontMetricsF(theme.font("caption")).horizontalAdvance(self.caption)
        text = QFontMetricsF(theme.font("body_strong")).horizontalAdvance(value)
        text = min(text, theme.px(self._widest))
        return int(max(caption, text + right) + 2 * theme.px(FIELD_SIDE)) + 2

    def paint(
        self, pen: ThemePainter, widget: QWidget, *, hovered: bool, fault: str, right: int = 0, framed: bool = False
    ) -> None:
        rect = QRectF(widget.rect())
        if fault:
            pen.frame(rect, "unfit", radius=5.0, fill="page")
        elif hovered and widget.isEnabled():
            pen.tint(rect, "sunken", 5.0)
        if self._is_underlined and not fault and not framed:
            side, bottom = self.theme.px(FIELD_SIDE), rect.bottom() - 1.0
            pen.hairline(side, bottom, rect.right() - side, bottom, "strong" if widget.isEnabled() else "hair")
        color = "text3" if widget.isEnabled() else "disabled"
        pen.text(self.compute_caption_rect(widget.width()), self.caption, font="caption", color=color)
        if fault:
            side = self.theme.px(_FAULT_ICON)
            value = self.compute_value_rect(widget.width(), widget.height(), right)
            pen.icon("circle-alert", value.right() - side + 3, value.center().y() - side / 2 + 1, side, "unfit")


class ChoiceField(PaintedButton):
    """A field whose value is chosen from a list; click, Space, Enter, ↓ or a letter opens it."""

    #: The key of the chosen option.
    chosen = Signal(str)

    def __init__(
        self,
        theme: Theme,
        caption: str,
        parent: QWidget | None = None,
        *,
        widest: float = _WIDEST_VALUE,
        is_underlined: bool = True,
    ) -> None:
        """Start without options; a value longer than `widest`, in design lengths, is cut."""
        super().__init__(theme, parent)
        self._frame = FieldFrame(theme, caption, widest, is_underlined=is_underlined)
        self._options: tuple[ChoiceOption, ...] = ()
        self._provider: Callable[[], Sequence[ChoiceOption]] | None = None
        self.value = ""
        self.text_shown = tr("Choose…")
        self.popup: ChoicePopup | None = None
        self._fault = FieldErrorNote(self, theme)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setProperty("ringRadius", 5.0)
        self.clicked.connect(self._clicked)
        theme.changed.connect(self.updateGeometry)
        self._name()

    def set_options(self, options: Sequence[ChoiceOption]) -> None:
        self._options = tuple(options)
        self._provider = None
        self.set_value(self.value, "" if self._find_option_text(self.value) or not self.value else self.text_shown)

    def set_provider(self, provider: Callable[[], Sequence[ChoiceOption]]) -> None:
        """Get the options when the list is opened, if they change often or are slow to build."""
        self._provider = provider

    def set_value(self, key: str, text: str = "") -> None:
        """Show an option as the current one; `text` overrides its text in the list."""
        text_shown = text or self._find_option_text(key) or tr("Choose…")
        if (key, text_shown) == (self.value, self.text_shown):
            return
        self.value, self.text_shown = key, text_shown
        self._name()
        self.updateGeometry()
        self.update()

    @property
    def fault(self) -> str:
        """The error of the value, empty if valid."""
        return self._fault.text

    def set_fault(self, sentence: str) -> None:
        """Mark the field and show an error and its remedy below it; an empty sentence clears it."""
        if sentence == self.fault:
            return
        self._fault.set_text(sentence)
        self.setAccessibleDescription(sentence)
        self.setToolTip(sentence)
        self.updateGeometry()
        self.update()

    def open_list(self, typed: str = "") -> None:
        if self._provider is not None:
            self._options = tuple(self._provider())
        if self.popup is None:
            self.popup = ChoicePopup(self._theme, self._frame.caption, self)
            self.popup.chosen.connect(self.chosen)
            self.popup.closed.connect(self.update)
        place = QRect(self.mapToGlobal(QPoint(0, 0)), self.size())
        self.popup.open_below(place, self._options, self.value, typed)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(
            self._frame.measure_width_for(self.text_shown, self._measure_trailing_icons()), self._theme.px(HEIGHT)
        )

    def minimumSizeHint(self) -> QSize:
        return QSize(min(self.sizeHint().width(), self._theme.px(_NARROWEST)), self._theme.px(HEIGHT))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Down, Qt.Key.Key_F4):
            self.open_list()
        elif event.text().isalnum() and not event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.open_list(event.text())
        else:
            super().keyPressEvent(event)

    def paint(self, pen: ThemePainter) -> None:
        is_open = self.popup is not None and self.popup.isVisible()
        side = self._theme.px(_CHEVRON)
        right = side + self._theme.px(6)
        hovered = self.underMouse() or is_open
        self._frame.paint(pen, self, hovered=hovered, fault=self.fault, right=right)
        value = self._frame.compute_value_rect(self.width(), self.height(), self._measure_trailing_icons())
        color = "text1" if self.isEnabled() else "disabled"
        pen.text(QRectF(value), self.text_shown, font="body_strong", color=color)
        x = self.width() - side - self._theme.px(FIELD_SIDE) + 2
        y = value.center().y() - side / 2 + 1
        pen.icon("chevron-down", x, y, side, "text2" if self.isEnabled() else "disabled")

    def _measure_trailing_icons(self) -> int:
        return self._theme.px(_CHEVRON + 6) + (self._theme.px(_FAULT_ICON + 2) if self.fault else 0)

    def _clicked(self) -> None:
        self.open_list()

    def _find_option_text(self, key: str) -> str:
        return next((option.text for option in self._options if option.key == key), "")

    def _name(self) -> None:
        self.setAccessibleName(f"{self._frame.caption}: {self.text_shown}")


class NumberField(PaintedWidget):
    """A field whose value is typed; ↑ ↓ take the next round value, Esc the current one."""

    #: The entered value: int if the format has no decimals, else float.
    edited = Signal(object)

    def __init__(
        self,
        theme: Theme,
        caption: str,
        number_format: NumberFormat,
        parent: QWidget | None = None,
        *,
        is_underlined: bool = True,
    ) -> None:
        super().__init__(theme, parent)
        self._frame = FieldFrame(theme, caption, is_underlined=is_underlined)
        self.edit = NumberEdit(theme, caption, number_format, self)
        self.edit.setProperty("kind", "bare")
        self.edit.setProperty("ringParent", True)
        self.setProperty("ringRadius", 5.0)
        self._fault = FieldErrorNote(self, theme)
        self._fault.watch(self.edit)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setFocusProxy(self.edit)
        self.edit.edited.connect(self.edited)
        self.edit.fault_changed.connect(self._show_fault)
        self.edit.textChanged.connect(self.updateGeometry)
        self.edit.focus_changed.connect(self.update)
        theme.follow(self._dress)

    @property
    def value(self) -> float:
        return self.edit.value

    def set_value(self, value: float) -> None:
        self.edit.set_value(value)

    def set_caption(self, caption: str) -> None:
        if caption != self._frame.caption:
            self._frame.caption = caption
            self.edit.setAccessibleName(caption)
            self.updateGeometry()
            self.update()

    @property
    def fault(self) -> str:
        """The error of the value, empty if valid."""
        return self.edit.fault

    def set_fault(self, sentence: str) -> None:
        """Mark the field and show an error and its remedy below it; an empty sentence clears it."""
        self.edit.set_fault(sentence)

    def sizeHint(self) -> QSize:
        return QSize(
            self._frame.measure_width_for(self.edit.text() + "0", self._measure_fault_icon()), self._theme.px(HEIGHT)
        )

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self.edit.setFocus(Qt.FocusReason.OtherFocusReason)
            self.edit.selectAll()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: ARG002 - Qt's name
        self._place_edit()

    def paint(self, pen: ThemePainter) -> None:
        focused = self.edit.hasFocus() and not self.fault
        if focused:
            pen.frame(QRectF(self.rect()), "control", radius=5.0, fill="page")
        hovered = self.underMouse() and not focused
        self._frame.paint(pen, self, hovered=hovered, fault=self.fault, framed=focused)

    def _dress(self) -> None:
        self.edit.setFont(self._theme.font("body_strong"))
        self.updateGeometry()

    def _measure_fault_icon(self) -> int:
        return self._theme.px(_FAULT_ICON + 2) if self.fault else 0

    def _place_edit(self) -> None:
        place = self._frame.compute_value_rect(self.width(), self.height(), self._measure_fault_icon())
        self.edit.setGeometry(place.adjusted(-_INSIDE, 0, _INSIDE, 0))

    def _show_fault(self, sentence: str) -> None:
        self._fault.set_text(sentence)
        self._place_edit()
        self.updateGeometry()
        self.update()
