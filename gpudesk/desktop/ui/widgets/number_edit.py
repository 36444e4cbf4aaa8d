"""Numbers as users type them: format, steps of arrow keys, and the line edit."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QFontMetricsF, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.qt_support import leaves_undo, mark_fault
from gpudesk.domain.sizing import NumberBounds
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.formatting import ENGLISH_NUMBERS, MISSING_VALUE_TEXT, NumberStyle
from gpudesk.text.translation import tr

_MULTIPLES = {"k": 1e3, "K": 1e3, "m": 1e6, "M": 1e6}
_SPACES = " \u00a0\u2009\u202f\u2007'\u2019_"


#: Stands for no value in formats that know texts for it.
NO_VALUE: Final = -1.0
#: Texts of an emptied field whose value is left to the program.
LEFT_OPEN: Final = (MISSING_VALUE_TEXT, "-", "")


class NumberError(ValueError):
    """The typed text is not a usable number; the message states the expected input."""


@frozen_dataclass
class NumberFormat:
    """How a field shows and reads its number: language, decimals, limits.

    With `decimals` 0 only whole numbers are accepted. The texts in `empty` mean `NO_VALUE`, which the first shows.
    """

    least: float
    most: float
    decimals: int = 0
    style: NumberStyle = ENGLISH_NUMBERS
    empty: tuple[str, ...] = ()

    @classmethod
    def within(
        cls, bounds: NumberBounds, decimals: int, style: NumberStyle, scale: float = 1.0, empty: tuple[str, ...] = ()
    ) -> NumberFormat:
        """Return the format of a bounded number that is shown times `scale`."""
        least = 10.0**-decimals if bounds.above else bounds.low * scale
        return cls(least, bounds.high * scale, decimals, style, empty)

    def text(self, value: float) -> str:
        """Write a number with thousands separators and without trailing zeros."""
        if self.empty and value == NO_VALUE:
            return self.empty[0]
        digits = f"{value:,.{self.decimals}f}"
        if self.decimals:
            digits = digits.rstrip("0").rstrip(".")
        style = self.style
        return digits.translate({ord(","): style.thousands, ord("."): style.decimal, ord("-"): style.minus})

    def parse(self, text: str) -> float:
        """Read a number; `4k` is 4,000. Raises NumberError for invalid text."""
        if text.strip().casefold() in self.empty:
            return NO_VALUE
        compact = "".join(c for c in text.strip() if c not in _SPACES)
        factor = 1.0
        if compact and compact[-1] in _MULTIPLES:
            factor, compact = _MULTIPLES[compact[-1]], compact[:-1]
        value = self._parse_digits(compact) * factor
        if self.decimals == 0 and value != round(value):
            raise NumberError(tr("Enter a whole number, such as {value}", value=self.text(round(value))))
        if value < self.least:
            raise NumberError(tr("Minimum: {value}", value=self.text(self.least)))
        if value > self.most:
            raise NumberError(tr("Maximum: {value}", value=self.text(self.most)))
        return value

    def _parse_digits(self, compact: str) -> float:
        """Read digits. A thousands separator counts as such before three digits, else as a decimal sign."""
        plain = compact.replace(self.style.minus, "-")
        groups = plain.split(self.style.thousands) if self.style.thousands else [plain]
        if len(groups) > 1 and all(len(group.split(self.style.decimal)[0]) == 3 for group in groups[1:]):
            plain = "".join(groups)
        elif len(groups) == 2 and self.style.decimal not in plain:
            plain = ".".join(groups)
        try:
            value = float(plain.replace(self.style.decimal, "."))
        except ValueError:
            value = math.nan
        if not math.isfinite(value) or not any(c.isdigit() for c in plain):
            example = self.text(min(max(self.least, 64), self.most))
            raise NumberError(tr("Enter a number, such as {value}", value=example))
        return value


_DECADE = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0)


def make_count_steps(least: int, most: int) -> tuple[int, ...]:
    """Return 1, 2, 3, 4, 6, 8, 12, 16, 24 … between the limits, which are steps themselves."""
    powers = [1 << exponent for exponent in range(most.bit_length() + 1)]
    steps = {*powers, *(power * 3 for power in powers), least, most}
    return tuple(sorted(step for step in steps if least <= step <= most))


def make_decade_steps(least: float, most: float) -> tuple[float, ...]:
    """Return 1, 1.5, 2, 3, 4, 5, 6, 8, 10, 15 … between the limits, which are steps themselves."""
    steps = {least, most}
    scale = 1e-6
    while scale <= most:
        steps.update(float(f"{digit * scale:.3g}") for digit in _DECADE)
        scale *= 10
    return tuple(sorted(step for step in steps if least <= step <= most))


def find_nearest_step(steps: Sequence[float], value: float) -> int:
    right = bisect_left(steps, value)
    if right == 0 or right == len(steps):
        return min(right, len(steps) - 1)
    low, high = steps[right - 1], steps[right]
    return right if value * value >= low * high else right - 1


def step_by(steps: Sequence[float], value: float, by: int) -> float:
    """Return the step this many above or below a value, limited to the ends."""
    index = bisect_right(steps, value) - 1 + by if by > 0 else bisect_left(steps, value) + by
    return steps[min(max(index, 0), len(steps) - 1)]


#: Focus reasons that keep the cursor; a click selects when the button is released.
_KEEPS_CURSOR = frozenset(
    {Qt.FocusReason.MouseFocusReason, Qt.FocusReason.ActiveWindowFocusReason, Qt.FocusReason.PopupFocusReason}
)
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
_STEPS = {Qt.Key.Key_Up: 1, Qt.Key.Key_Down: -1, Qt.Key.Key_PageUp: 4, Qt.Key.Key_PageDown: -4}


class ValueEdit(QLineEdit):
    """Tab or the first click selects the old value, so that typing replaces it."""

    #: Whether a click only sets the cursor, as in texts.
    keeps_text = False
    focus_changed = Signal()
    _selects_on_click = False

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.focus_changed.emit()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.focus_changed.emit()
        self._selects_on_click = event.reason() == Qt.FocusReason.MouseFocusReason
        if event.reason() not in _KEEPS_CURSOR:
            self.selectAll()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        # In an inactive window, the click gives the focus later, for another reason.
        self._selects_on_click |= not self.hasFocus()
        super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Select the old value after the first click, so that typing replaces it, unless a drag selected a part."""
        super().mouseReleaseEvent(event)
        if self._selects_on_click and not self.hasSelectedText() and not self.keeps_text:
            self.selectAll()
        self._selects_on_click = False


class NumberEdit(ValueEdit):
    """↑ ↓ take the next round value; Esc restores the current value.

    Invalid text is marked and kept for correction; nothing is applied meanwhile.
    """

    #: The entered value: int if the format has no decimals, else float.
    edited = Signal(object)
    #: The error message, empty without an error.
    fault_changed = Signal(str)

    def __init__(self, theme: Theme, name: str, number_format: NumberFormat, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.number_format = number_format
        self._steps: tuple[float, ...] | None = None
        self.value: float = number_format.least
        self._own_fault = ""
        self._given_fault = ""
        self.setText(number_format.text(self.value))
        self.setAccessibleName(name)
        self.editingFinished.connect(self.commit)
        self.textEdited.connect(self._forget_fault)

    def set_value(self, value: float) -> None:
        """Show the current value; unfinished typing stays while the value is the same."""
        if value != self.value:
            self.value = value
            self._show_value()

    def set_format(self, number_format: NumberFormat) -> None:
        if number_format != self.number_format:
            self.number_format = number_format
            self._steps = None
            self._show_value()

    def set_steps(self, steps: tuple[float, ...]) -> None:
        self._steps = steps

    @property
    def fault(self) -> str:
        """The error: of the typed text, else of the current value unless another is being typed."""
        return self._own_fault or ("" if self.isModified() else self._given_fault)

    def set_fault(self, sentence: str) -> None:
        """Show an error of the current value; an empty sentence clears it."""
        if sentence != self._given_fault:
            self._given_fault = sentence
            self._tell_fault()

    def commit(self) -> None:
        """Apply the typed text, or show its error."""
        if not self.isModified():
            return
        try:
            value = self.number_format.parse(self.text())
        except NumberError as error:
            self._own_fault = str(error)
            self._tell_fault()
            return
        self._take(value)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride and leaves_undo(self, event):
            return False
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        if key in _STEPS:
            self.commit()
            if not self._own_fault:
                if self._steps is None:
                    least, most = self.number_format.least, self.number_format.most
                    whole = self.number_format.decimals == 0
                    self._steps = (
                        tuple(sorted({round(step) for step in make_decade_steps(max(least, 1), most)} | {round(least)}))
                        if whole
                        else make_decade_steps(least, most)
                    )
                self._take(step_by(self._steps, self.value, _STEPS[key]))
        elif key == Qt.Key.Key_Escape and (self.isModified() or self._own_fault):
            self._show_value()
            self.selectAll()
        else:
            super().keyPressEvent(event)
            if key in _ENTER and self.hasFocus() and not self._own_fault:
                self.selectAll()
                self._selects_on_click = True

    def sizeHint(self) -> QSize:
        return QSize(self.measure_width_for("0" * 6), self._theme.px(28))

    def measure_width_for(self, text: str) -> int:
        """Return the pixel width at which no digit of a text is cut."""
        return int(QFontMetricsF(self.font()).horizontalAdvance(text)) + 2 * self._theme.px(8) + 2

    def _take(self, value: float) -> None:
        changed = value != self.value
        self.value = value
        self._show_value()
        if changed:
            self.edited.emit(round(value) if self.number_format.decimals == 0 else value)

    def _forget_fault(self) -> None:
        if self._own_fault or self._given_fault:
            self._own_fault = ""
            self._tell_fault()

    def _show_value(self) -> None:
        self.setText(self.number_format.text(self.value))
        self.setModified(False)
        self._forget_fault()

    def _tell_fault(self) -> None:
        fault = self.fault
        self.setAccessibleDescription(fault)
        self.setToolTip(fault)
        mark_fault(self, bool(fault))
        self.fault_changed.emit(fault)
