"""A line for one number, which is taken over by Enter or when the focus leaves."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QFontMetricsF, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QLineEdit, QWidget

from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.numbers import NumberError, NumberFormat
from gpudesk.desktop.widgets.steps import decades, step_from

_STEPS = {Qt.Key.Key_Up: 1, Qt.Key.Key_Down: -1, Qt.Key.Key_PageUp: 4, Qt.Key.Key_PageDown: -4}


class NumberEdit(QLineEdit):
    """↑ ↓ take the next round value; Esc brings back the value in force.

    What cannot be read is marked and kept to be mended; nothing is taken over meanwhile.
    """

    #: The value that the user gave: int where the format has no decimals, else float.
    edited = Signal(object)
    #: The sentence that says what is wrong, empty where nothing is.
    fault_changed = Signal(str)

    def __init__(
        self, theme: Theme, name: str, number_format: NumberFormat, parent: QWidget | None = None
    ) -> None:
        """Begin with the smallest value; `name` says what the number is."""
        super().__init__(parent)
        self._theme = theme
        self._format = number_format
        self._steps: tuple[float, ...] | None = None
        self._value: float = number_format.least
        self._own_fault = ""
        self._given_fault = ""
        self._name = name
        self.setText(number_format.text(self._value))
        self.setAccessibleName(name)
        self.editingFinished.connect(self.commit)
        self.textEdited.connect(self._typed)

    @property
    def value(self) -> float:
        """The value in force."""
        return self._value

    def set_value(self, value: float) -> None:
        """Show a value as the one in force; what is being mended stays while the value stays the same."""
        if value == self._value and (self._own_fault or self.isModified()):
            return
        self._value = value
        self._show_value()

    def set_format(self, number_format: NumberFormat) -> None:
        """Change limits or language."""
        if number_format != self._format:
            self._format = number_format
            self._steps = None
            self._show_value()

    def set_steps(self, steps: tuple[float, ...]) -> None:
        """Set the values that the arrow keys take."""
        self._steps = steps

    @property
    def fault(self) -> str:
        """What is wrong: with what was typed, else with the value in force."""
        return self._own_fault or self._given_fault

    def set_fault(self, sentence: str) -> None:
        """Say what is wrong with the value in force; an empty sentence clears it."""
        self._given_fault = sentence
        self._tell_fault()

    def commit(self) -> None:
        """Take over what was typed, or say why it cannot be."""
        if not self.isModified():
            return
        try:
            value = self._format.parse(self.text())
        except NumberError as error:
            self._own_fault = str(error)
            self._tell_fault()
            return
        self._take(value)

    def event(self, event: QEvent) -> bool:
        """Leave undo and redo to the window unless there is something typed to take back."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            undo, redo = QKeySequence.StandardKey.Undo, QKeySequence.StandardKey.Redo
            if not self.isModified() and (event.matches(undo) or event.matches(redo)):
                event.ignore()
                return False
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Act on the keys that move or bring back the value."""
        key = Qt.Key(event.key())
        if key in _STEPS:
            self.commit()
            if not self._own_fault:
                self._take(step_from(self._round_values(), self._value, _STEPS[key]))
        elif key == Qt.Key.Key_Escape and (self.isModified() or self._own_fault):
            self._show_value()
            self.selectAll()
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802 - Qt's name
        """Select the value, ready to be typed over."""
        super().focusInEvent(event)
        if event.reason() in (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason):
            self.selectAll()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Leave room for the value in force."""
        width = QFontMetricsF(self.font()).horizontalAdvance("0" * 6)
        return QSize(int(width) + 2 * self._theme.px(8) + 2, self._theme.px(28))

    def _take(self, value: float) -> None:
        changed = value != self._value
        self._value = value
        self._show_value()
        if changed:
            self.edited.emit(round(value) if self._format.decimals == 0 else value)

    def _typed(self) -> None:
        """Take a fault away while it is being mended."""
        if self._own_fault:
            self._own_fault = ""
            self._tell_fault()

    def _show_value(self) -> None:
        self._own_fault = ""
        self.setText(self._format.text(self._value))
        self.setModified(False)
        self._tell_fault()

    def _round_values(self) -> tuple[float, ...]:
        if self._steps is None:
            least, most = self._format.least, self._format.most
            whole = self._format.decimals == 0
            self._steps = (
                tuple(sorted({round(step) for step in decades(max(least, 1), most)} | {round(least)}))
                if whole
                else decades(least, most)
            )
        return self._steps

    def _tell_fault(self) -> None:
        fault = self.fault
        self.setAccessibleDescription(fault)
        self.setToolTip(fault)
        if self.property("fault") != ("true" if fault else "false"):
            self.setProperty("fault", "true" if fault else "false")
            self.style().unpolish(self)
            self.style().polish(self)
        self.fault_changed.emit(fault)
