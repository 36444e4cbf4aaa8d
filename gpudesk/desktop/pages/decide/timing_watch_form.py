"""What the user found out about a signal, typed in its row of the watch list."""

from __future__ import annotations

from typing import Final, NamedTuple

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QLineEdit, QPushButton, QVBoxLayout, QWidget

from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.buttons import Button, LinkButton
from gpudesk.desktop.widgets.flow import FlowLayout
from gpudesk.desktop.widgets.label import Label
from gpudesk.desktop.widgets.numbers import NumberError, NumberFormat
from gpudesk.desktop.widgets.segment import Segment
from gpudesk.domain.formatting import NumberStyle
from gpudesk.domain.watching import Signal as Watching
from gpudesk.domain.watching import Watched, WatchValue
from gpudesk.text import tr

#: No signal comes near this.
_MOST: Final = 1e9
_DECIMALS: Final = 9
_OPEN, _YES, _NO = "", "yes", "no"
#: Widths of the fields.
_WIDTHS: Final = {"value": 90, "date": 200, "source": 204, "note": 204}
_ENTER: Final = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class WatchEntry(NamedTuple):
    """What was typed; the value is None where it is missing, and `fault` says why it cannot be read."""

    value: WatchValue | None
    date: str
    source: str
    note: str
    fault: str = ""


class WatchForm(QWidget):
    """Value, date, source and a note side by side; Enter saves, Esc leaves all as it was."""

    #: The user wants to save what is typed.
    saved = Signal()
    #: The user wants to leave it.
    left = Signal()
    #: The user wants to take the former note away.
    removed = Signal()

    def __init__(
        self, theme: Theme, watched: Watched, style: NumberStyle, parent: QWidget | None = None
    ) -> None:
        """Begin with the user's note on the signal, if there is one."""
        super().__init__(parent)
        self._theme, self._signal = theme, watched.signal
        self._format = NumberFormat(-_MOST, _MOST, _DECIMALS, style)
        noted = watched.note or watched.idle
        self.setAccessibleName(tr("Note on {signal}", signal=watched.signal.title))
        self.lines = {name: QLineEdit(self) for name in ("value", "date", "source", "note")}
        self.answer = Segment(theme, tr("Value"), ((_OPEN, "—"), (_YES, tr("yes")), (_NO, tr("no"))), self)
        self.fault = Label(theme, font="small", colour="unfit", wrap=True, parent=self)
        self.fault.hide()
        self.save = Button(theme, tr("Save note"), parent=self)
        self.save.clicked.connect(self.saved)
        self.leave = LinkButton(theme, tr("Leave it"), parent=self)
        self.leave.clicked.connect(self.left)
        self.remove = LinkButton(theme, tr("Remove your note"), parent=self)
        self.remove.clicked.connect(self.removed)
        self.remove.setVisible(noted is not None)
        self._lay_out(watched.signal)
        if noted is not None:
            self._fill(noted.value, noted.date, noted.source, noted.note or "")

    def _lay_out(self, signal: Watching) -> None:
        px = self._theme.px
        unit = "" if signal.threshold is None else f", {signal.threshold.unit}"
        captions = {
            "value": tr("Value") + unit,
            "date": tr("As of"),
            "source": tr("Source"),
            "note": tr("Note, if any"),
        }
        self.lines["date"].setPlaceholderText(tr("YYYY-MM or YYYY-MM-DD"))
        self.lines["source"].setPlaceholderText(tr("where you found it"))
        fields = FlowLayout(px(12))
        for name, line in self.lines.items():
            line.setAccessibleName(captions[name])
            line.setFixedWidth(px(_WIDTHS[name]))
            line.textEdited.connect(lambda _text: self.tell("", ""))
            is_answer = name == "value" and signal.threshold is None
            line.setVisible(not is_answer)
            fields.addWidget(self._captioned(captions[name], self.answer if is_answer else line))
        self.answer.setVisible(signal.threshold is None)
        self.answer.setFocusProxy(self.answer.findChildren(QPushButton)[0])
        self.answer.chosen.connect(lambda _key: self.tell("", ""))
        buttons = QHBoxLayout()
        buttons.setSpacing(px(12))
        for button in (self.save, self.leave, self.remove):
            buttons.addWidget(button)
        buttons.addStretch(1)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, px(4), 0, px(6))
        whole.setSpacing(px(6))
        whole.addLayout(fields)
        whole.addWidget(self.fault)
        whole.addLayout(buttons)

    def _captioned(self, caption: str, field: QWidget) -> QWidget:
        holder = QWidget(self)
        column = QBoxLayout(QBoxLayout.Direction.TopToBottom, holder)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(self._theme.px(2))
        column.addWidget(Label(self._theme, caption, font="caption", colour="text3", parent=holder))
        column.addWidget(field)
        return holder

    def _fill(self, value: WatchValue, date: str, source: str, note: str) -> None:
        if self._signal.threshold is None and isinstance(value, bool):
            self.answer.set_value(_YES if value else _NO)
        elif self._signal.threshold is not None and not isinstance(value, bool):
            self.lines["value"].setText(self._format.text(float(value)))
        for name, text in (("date", date), ("source", source), ("note", note)):
            self.lines[name].setText(text)
            self.lines[name].setCursorPosition(0)

    # What is typed

    def entry(self) -> WatchEntry:
        """Return what is typed."""
        date, source, note = (self.lines[name].text().strip() for name in ("date", "source", "note"))
        limit = self._signal.threshold
        value: WatchValue | None = None
        fault = ""
        typed = self.lines["value"].text().strip()
        if limit is None:
            value = None if self.answer.value == _OPEN else self.answer.value == _YES
        elif typed:
            try:
                value = self._format.parse(typed.removesuffix(limit.unit).strip())
            except NumberError as error:
                fault = str(error)
        return WatchEntry(value, date, source, note, fault)

    def tell(self, name: str, sentence: str) -> None:
        """Say what is wrong, at the field that it is about if there is one; nothing takes it back."""
        self.fault.setText(sentence)
        self.fault.setVisible(bool(sentence))
        for each, line in self.lines.items():
            wrong = bool(sentence) and each == name
            line.setAccessibleDescription(sentence if wrong else "")
            if line.property("fault") != ("true" if wrong else "false"):
                line.setProperty("fault", "true" if wrong else "false")
                line.style().unpolish(line)
                line.style().polish(line)
        if sentence and name in self.lines:
            self.take_focus(name)

    def take_focus(self, name: str = "value") -> None:
        """Give a field the focus."""
        if name == "value" and self._signal.threshold is None:
            self.answer.setFocus(Qt.FocusReason.TabFocusReason)
        else:
            self.lines[name].setFocus(Qt.FocusReason.TabFocusReason)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Save with Enter, and leave with Esc."""
        if event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        elif event.key() in _ENTER:
            self.saved.emit()
        else:
            super().keyPressEvent(event)
