"""The watch list: signals that would change the choice, and the user's notes on them."""

from __future__ import annotations

from functools import partial
from typing import Final, NamedTuple

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QGridLayout, QLineEdit, QPushButton, QSizePolicy, QWidget

from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.buttons import Button, LinkButton, SegmentedControl
from gpudesk.desktop.ui.widgets.layouts import (
    STRETCH,
    BoxItem,
    FlowLayout,
    Hairline,
    ThemedLabel,
    clear_layout,
    make_column,
    make_row,
)
from gpudesk.desktop.ui.widgets.marked_list import MarkIcon
from gpudesk.desktop.ui.widgets.number_edit import NumberError, NumberFormat, ValueEdit
from gpudesk.desktop.ui.widgets.qt_support import AccessibleRole, mark_fault
from gpudesk.domain.reference_data import SignalStatus, WatchValue
from gpudesk.domain.reference_data import WatchSignal as Watching
from gpudesk.report.decision.buy_or_wait import (
    SignalState,
    describe_idle_note,
    describe_known_value,
    describe_recorded_value,
    describe_signal,
    describe_signal_distance,
    describe_signal_effect,
    describe_signal_note,
    find_signal_state,
    format_threshold,
)
from gpudesk.text.formatting import Formatter, NumberStyle
from gpudesk.text.translation import tr, translate_data

#: Larger than any signal.
_MOST_VALUE: Final = 1e9
_DECIMALS: Final = 9
_OPEN, _YES, _NO = "", "yes", "no"
#: Widths of the fields.
_WIDTHS: Final = {"value": 90, "date": 200, "source": 204, "note": 204}
_ENTER: Final = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class WatchEntry(NamedTuple):
    """The input; the value is None if missing, and `fault` explains an unreadable one."""

    value: WatchValue | None
    date: str
    source: str
    note: str
    fault: str = ""


class WatchForm(QWidget):
    """Value, date, source and a note side by side; Enter saves, Esc cancels."""

    #: Save the input.
    saved = Signal()
    #: Close without saving.
    left = Signal()
    #: Remove the former note.
    removed = Signal()

    def __init__(self, theme: Theme, watched: SignalStatus, style: NumberStyle, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._signal = theme, watched.signal
        self._format = NumberFormat(-_MOST_VALUE, _MOST_VALUE, _DECIMALS, style)
        noted = watched.note or watched.idle
        self.setAccessibleName(tr("Note on {signal}", signal=translate_data(watched.signal.title)))
        self.lines = {
            "value": ValueEdit(self),
            "date": ValueEdit(self),
            "source": QLineEdit(self),
            "note": QLineEdit(self),
        }
        self.answer = SegmentedControl(theme, tr("Value"), ((_OPEN, "—"), (_YES, tr("yes")), (_NO, tr("no"))), self)
        self.fault = ThemedLabel(theme, font="small", color="unfit", wrap=True, parent=self)
        self.fault.hide()
        self.save = Button(theme, tr("Save note"), self.saved, parent=self)
        self.leave = LinkButton(theme, tr("Cancel"), self.left, parent=self)
        self.remove = LinkButton(theme, tr("Delete note"), self.removed, parent=self)
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
            "note": tr("Note (optional)"),
        }
        self.lines["date"].setPlaceholderText(tr("YYYY-MM or YYYY-MM-DD"))
        self.lines["source"].setPlaceholderText(tr("publisher or link"))
        fields = FlowLayout(px(12))
        for name, line in self.lines.items():
            line.setAccessibleName(captions[name])
            line.setFixedWidth(px(_WIDTHS[name]))
            line.textEdited.connect(lambda _text: self.tell("", ""))
            is_answer = name == "value" and signal.threshold is None
            line.setVisible(not is_answer)
            caption = captions[name]
            field = self.answer if is_answer else line
            holder = QWidget(self)
            label = ThemedLabel(self._theme, caption, font="caption", color="text3", parent=holder)
            make_column(label, field, gap=self._theme.px(2), on=holder)
            fields.addWidget(holder)
        self.answer.setVisible(signal.threshold is None)
        self.answer.setFocusProxy(self.answer.findChildren(QPushButton)[0])
        self.answer.chosen.connect(lambda _key: self.tell("", ""))
        buttons = make_row(self.save, self.leave, self.remove, STRETCH, gap=px(12))
        make_column(fields, self.fault, buttons, gap=px(6), margins=(0, px(4), 0, px(6)), on=self)

    def _fill(self, value: WatchValue, date: str, source: str, note: str) -> None:
        if self._signal.threshold is None and isinstance(value, bool):
            self.answer.set_value(_YES if value else _NO)
        elif self._signal.threshold is not None and not isinstance(value, bool):
            self.lines["value"].setText(self._format.text(float(value)))
        for name, text in (("date", date), ("source", source), ("note", note)):
            self.lines[name].setText(text)
            self.lines[name].setCursorPosition(0)

    # Input

    def entry(self) -> WatchEntry:
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
        """Show a problem, at the field of that name if any; an empty text clears it."""
        self.fault.show_text(sentence)
        for each, line in self.lines.items():
            wrong = bool(sentence) and each == name
            line.setAccessibleDescription(sentence if wrong else "")
            mark_fault(line, wrong)
        if sentence and name in self.lines:
            self.focus_control(name)

    def focus_control(self, name: str = "value") -> None:
        if name == "value" and self._signal.threshold is None:
            self.answer.setFocus(Qt.FocusReason.TabFocusReason)
        else:
            self.lines[name].setFocus(Qt.FocusReason.TabFocusReason)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        elif event.key() in _ENTER:
            self.saved.emit()
        else:
            super().keyPressEvent(event)


#: State -> icon or glyph, its color, and that of the text.
_STATES: Final = {
    SignalState.PASSED: ("check", "text1", "text1"),
    SignalState.NOT: ("minus", "text2", "text2"),
    SignalState.UNKNOWN: ("circle-help", "disputed", "disputed_text"),
}
_HEADS: Final = ("State", "Signal", "Threshold and status", "Effect")
#: Width shares of signal, known values and consequences; the state has its own width.
_SHARES: Final = (0, 5, 4, 4)
_STATE: Final = 108.0


class WatchSignalRow(QWidget):
    """One signal in the columns of the list; below it, on demand, the form of the user's note."""

    accessible_role = AccessibleRole.Grouping
    #: The form was opened.
    opened = Signal()
    #: Save the input of the form.
    saved = Signal()
    #: Remove the user's note.
    removed = Signal()

    def __init__(self, theme: Theme, watched: SignalStatus, source: str, formatter: Formatter) -> None:
        super().__init__()
        self.watched, self.source = watched, source
        self.setAccessibleName(describe_signal(watched, source, formatter))
        mark, color, words = _STATES[find_signal_state(watched)]
        self.state = ThemedLabel(theme, find_signal_state(watched).label, font="body_strong", color=words, parent=self)
        self.edit = LinkButton(
            theme, tr("Add value") if watched.note is None else tr("Edit note"), self.open_form, parent=self
        )
        self.edit.setAccessibleName(f"{self.edit.text()}: {translate_data(watched.signal.title)}")
        self.form: WatchForm | None = None
        self._theme, self._style = theme, formatter.style
        state = make_row(
            (MarkIcon(theme, mark, color, self), 0, Qt.AlignmentFlag.AlignVCenter), (self.state, 1), gap=theme.px(5)
        )
        record = describe_recorded_value(watched, source, formatter)
        notes = (describe_signal_note(watched), record, describe_idle_note(watched))
        columns: tuple[tuple[BoxItem, ...], ...] = (
            (
                self._label(translate_data(watched.signal.title), "body_strong", "text1"),
                self._label(translate_data(watched.signal.look_for), "small", "text2"),
            ),
            (
                self._label(_format_threshold(watched, formatter), "small", "text2"),
                self._label(describe_known_value(watched, source, formatter), "small", "text1"),
                *(self._label(text, "caption", "text3") for text in notes if text),
                (self.edit, 0, Qt.AlignmentFlag.AlignLeft),
            ),
            (self._label(describe_signal_effect(watched), "small", "text1"),),
        )
        grid = _make_grid(self, theme)
        grid.setContentsMargins(0, theme.px(8), 0, theme.px(10))
        grid.addLayout(state, 0, 0, Qt.AlignmentFlag.AlignTop)
        for place, items in enumerate(columns, start=1):
            grid.addLayout(make_column(*items, STRETCH, gap=theme.px(2)), 0, place)
        self._grid = grid

    def open_form(self) -> None:
        if self.form is None:
            self.form = WatchForm(self._theme, self.watched, self._style, self)
            self.form.saved.connect(self.saved)
            self.form.removed.connect(self.removed)
            self.form.left.connect(self.close_form)
            self._grid.addWidget(self.form, 1, 1, 1, 3)
            # Before the next event, because it gets the focus.
            self.form.show()
            self.edit.hide()
            self.opened.emit()
        self.form.focus_control()

    def close_form(self) -> None:
        form, self.form = self.form, None
        if form is None:
            return
        self.edit.show()
        focus: QWidget | None = QApplication.focusWidget()
        if focus is not None and form.isAncestorOf(focus):
            self.edit.setFocus(Qt.FocusReason.OtherFocusReason)
        self._grid.removeWidget(form)
        form.hide()
        form.deleteLater()

    def _label(self, text: str, font: str, color: str) -> ThemedLabel:
        label = ThemedLabel(self._theme, text, font=font, color=color, wrap=True, parent=self)
        label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        return label


class WatchListBlock(QWidget):
    """All signals below their heads, with undo of the last note."""

    accessible_role = AccessibleRole.List
    #: The id of a signal, and its input.
    saved = Signal(str, object)
    #: The id of a signal whose note is to be removed.
    removed = Signal(str)
    undo_requested = Signal()

    def __init__(self, theme: Theme, formatter: Formatter, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._formatter = theme, formatter
        self._contents: tuple[object, ...] = ()
        self.rows: dict[str, WatchSignalRow] = {}
        self.setAccessibleName(tr("Watch list"))
        self.status_label = ThemedLabel(theme, font="small", color="text3", wrap=True, parent=self)
        self.status_label.setText(tr("signals that could change the choice; your notes apply to all scenarios"))
        self.undo = LinkButton(theme, "", self.undo_requested, parent=self)
        self.problem = ThemedLabel(theme, font="small", color="unfit", wrap=True, parent=self)
        self.problem.hide()
        head = make_row(
            ThemedLabel(theme, tr("Watch list"), font="section", parent=self),
            (self.status_label, 1),
            self.undo,
            gap=theme.px(10),
        )
        self._rows = make_column(gap=0)
        make_column(head, self.problem, self._make_heads(), Hairline(theme, self), self._rows, gap=theme.px(4), on=self)

    def _make_heads(self) -> QWidget:
        holder = QWidget(self)
        grid = _make_grid(holder, self._theme)
        for place, words in enumerate(_HEADS):
            head = ThemedLabel(self._theme, tr(words), font="caption_strong", color="text3", parent=holder)
            head.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
            grid.addWidget(head, 0, place)
        return holder

    def show_signals(self, signals: tuple[tuple[SignalStatus, str], ...], *, writable: bool, undo: str) -> None:
        """Show signals, each with its source; `undo` is the text of the undo button, or empty."""
        self.undo.setText(undo)
        self.undo.setVisible(bool(undo))
        contents = (signals, writable)
        if contents == self._contents:
            return
        self._contents = contents
        focused = next((name for name, row in self.rows.items() if row.form or row.edit.hasFocus()), None)
        clear_layout(self._rows)
        self.rows = {}
        for watched, source in signals:
            row = WatchSignalRow(self._theme, watched, source, self._formatter)
            row.opened.connect(partial(self._opened, watched.signal.id))
            row.saved.connect(partial(self._save, watched.signal.id))
            row.removed.connect(partial(self.removed.emit, watched.signal.id))
            row.edit.setEnabled(writable)
            if not writable:
                row.edit.setToolTip(tr("The file with your values is read-only"))
            self.rows[watched.signal.id] = row
            self._rows.addWidget(row)
            self._rows.addWidget(Hairline(self._theme, self))
        if focused in self.rows:
            self.rows[focused].edit.setFocus(Qt.FocusReason.OtherFocusReason)

    def _opened(self, signal: str) -> None:
        self.show_problem("")
        for name, row in self.rows.items():
            if name != signal:
                row.close_form()

    def _save(self, signal: str) -> None:
        form = self.rows[signal].form
        if form is not None:
            self.saved.emit(signal, form.entry())

    def tell(self, signal: str, where: str, sentence: str) -> None:
        form = self.rows[signal].form
        if form is not None:
            form.tell(where, sentence)

    def show_problem(self, text: str) -> None:
        """Show why a step was not applied; an empty text clears it."""
        self.problem.show_text(text)

    def text(self, formatter: Formatter) -> str:
        lines = [tr("Watch list")]
        lines += [describe_signal(row.watched, row.source, formatter) for row in self.rows.values()]
        return "".join(f"{line}\n" for line in lines)


def _make_grid(holder: QWidget, theme: Theme) -> QGridLayout:
    grid = QGridLayout(holder)
    grid.setContentsMargins(0, 0, 0, 0)
    grid.setHorizontalSpacing(theme.px(18))
    grid.setColumnMinimumWidth(0, theme.px(_STATE))
    for place, share in enumerate(_SHARES):
        grid.setColumnStretch(place, share)
    return grid


def _format_threshold(watched: SignalStatus, formatter: Formatter) -> str:
    threshold = tr("target: {threshold}", threshold=format_threshold(watched.signal, formatter))
    missing = describe_signal_distance(watched, formatter)
    return tr("{threshold}; {missing}", threshold=threshold, missing=missing) if missing else threshold
