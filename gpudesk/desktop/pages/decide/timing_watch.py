"""The watch list: what would change the choice, what is known of it, and what the user found out."""

from __future__ import annotations

from functools import partial
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QApplication, QGridLayout, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from gpudesk.desktop.pages.decide.result_parts import Mark
from gpudesk.desktop.pages.decide.timing_watch_form import WatchForm
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.buttons import LinkButton
from gpudesk.desktop.widgets.ground import Rule
from gpudesk.desktop.widgets.label import Label
from gpudesk.desktop.widgets.roles import Role
from gpudesk.domain.formatting import Formatter
from gpudesk.domain.watching import Watched
from gpudesk.sheets.watch_words import (
    WatchState,
    about_text,
    changes_text,
    idle_text,
    known_text,
    missing_text,
    record_text,
    state_text,
    threshold_text,
    watch_sentence,
    watch_state,
)
from gpudesk.text import tr

#: State -> icon or glyph, its colour, and that of the word.
_STATES: Final = {
    WatchState.PASSED: ("check", "text1", "text1"),
    WatchState.NOT: ("minus", "text2", "text2"),
    WatchState.UNKNOWN: ("circle-help", "disputed", "disputed_text"),
}
_HEADS: Final = ("State", "Signal", "Threshold and what is known", "What it changes")
#: Shares of the width of signal, known and changes; the state takes what it needs.
_SHARES: Final = (0, 5, 4, 4)
_STATE: Final = 108.0


class WatchRow(QWidget):
    """One signal in the columns of the list; below it, on demand, the form of the user's note."""

    accessible_role = Role.Grouping
    #: The form was opened.
    opened = Signal()
    #: What was typed in it is to be saved.
    saved = Signal()
    #: The user's note is to be taken away.
    removed = Signal()

    def __init__(self, theme: Theme, watched: Watched, source: str, formatter: Formatter) -> None:
        """Show a signal; `source` is where the value on record is from."""
        super().__init__()
        self.watched, self.source = watched, source
        self.setAccessibleName(watch_sentence(watched, source, formatter))
        mark, colour, words = _STATES[watch_state(watched)]
        self.state = Label(
            theme, state_text(watch_state(watched)), font="body_strong", colour=words, parent=self
        )
        self.edit = LinkButton(
            theme, tr("Note a value") if watched.note is None else tr("Change your note"), parent=self
        )
        self.edit.setAccessibleName(f"{self.edit.text()}: {watched.signal.title}")
        self.edit.clicked.connect(self.open_form)
        self.form: WatchForm | None = None
        self._theme, self._style = theme, formatter.style
        state = QHBoxLayout()
        state.setSpacing(theme.px(5))
        state.addWidget(Mark(theme, mark, colour, self), 0, Qt.AlignmentFlag.AlignVCenter)
        state.addWidget(self.state, 1)
        first, known = self._column(theme), self._column(theme)
        first.addWidget(self._label(theme, watched.signal.title, "body_strong", "text1"))
        first.addWidget(self._label(theme, watched.signal.look_for, "small", "text2"))
        known.addWidget(self._label(theme, _threshold(watched, formatter), "small", "text2"))
        known.addWidget(self._label(theme, known_text(watched, source, formatter), "small", "text1"))
        record = record_text(watched, source, formatter)
        for text in (about_text(watched), record, idle_text(watched)):
            if text:
                known.addWidget(self._label(theme, text, "caption", "text3"))
        known.addWidget(self.edit, 0, Qt.AlignmentFlag.AlignLeft)
        changes = self._column(theme)
        changes.addWidget(self._label(theme, changes_text(watched), "small", "text1"))
        grid = _grid(self, theme)
        grid.setContentsMargins(0, theme.px(8), 0, theme.px(10))
        grid.addLayout(state, 0, 0, Qt.AlignmentFlag.AlignTop)
        for place, column in enumerate((first, known, changes), start=1):
            column.addStretch(1)
            grid.addLayout(column, 0, place)
        self._grid = grid

    def open_form(self) -> None:
        """Show the form, and give it the focus."""
        if self.form is None:
            self.form = WatchForm(self._theme, self.watched, self._style, self)
            self.form.saved.connect(self.saved)
            self.form.removed.connect(self.removed)
            self.form.left.connect(self.close_form)
            self._grid.addWidget(self.form, 1, 1, 1, 3)
            # Not only with the next turn of the event loop: it gets the focus.
            self.form.show()
            self.edit.hide()
            self.opened.emit()
        self.form.take_focus()

    def close_form(self) -> None:
        """Leave the note as it was."""
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

    def _label(self, theme: Theme, text: str, font: str, colour: str) -> Label:
        label = Label(theme, text, font=font, colour=colour, wrap=True, parent=self)
        label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        return label

    @staticmethod
    def _column(theme: Theme) -> QVBoxLayout:
        column = QVBoxLayout()
        column.setSpacing(theme.px(2))
        return column


class WatchBlock(QWidget):
    """All signals under their heads, with what undoes the last note."""

    accessible_role = Role.List
    #: The id of a signal, and what was typed of it.
    saved = Signal(str, object)
    #: The id of a signal whose note is to be taken away.
    removed = Signal(str)
    undo_wanted = Signal()

    def __init__(self, theme: Theme, formatter: Formatter, parent: QWidget | None = None) -> None:
        """Begin without signals."""
        super().__init__(parent)
        self._theme, self._formatter = theme, formatter
        self._shown: tuple[object, ...] = ()
        self.rows: dict[str, WatchRow] = {}
        self.setAccessibleName(tr("Watch list"))
        self.said = Label(theme, font="small", colour="text3", wrap=True, parent=self)
        self.said.setText(tr("signals that would change the choice; your notes are kept for all documents"))
        self.undo = LinkButton(theme, "", parent=self)
        self.undo.clicked.connect(self.undo_wanted)
        self.problem = Label(theme, font="small", colour="unfit", wrap=True, parent=self)
        self.problem.hide()
        head = QHBoxLayout()
        head.setSpacing(theme.px(10))
        head.addWidget(Label(theme, tr("Watch list"), font="section", parent=self))
        head.addWidget(self.said, 1)
        head.addWidget(self.undo)
        self._rows = QVBoxLayout()
        self._rows.setSpacing(0)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(theme.px(4))
        whole.addLayout(head)
        whole.addWidget(self.problem)
        whole.addWidget(self._heads())
        whole.addWidget(Rule(theme, self))
        whole.addLayout(self._rows)

    def _heads(self) -> QWidget:
        holder = QWidget(self)
        grid = _grid(holder, self._theme)
        for place, words in enumerate(_HEADS):
            head = Label(self._theme, tr(words), font="caption_strong", colour="text3", parent=holder)
            head.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
            grid.addWidget(head, 0, place)
        return holder

    def show_signals(self, signals: tuple[tuple[Watched, str], ...], *, writable: bool, undo: str) -> None:
        """Show signals, each with its source; `undo` is what takes back the last note, or empty."""
        self.undo.setText(undo)
        self.undo.setAccessibleName(undo)
        self.undo.setVisible(bool(undo))
        told = (signals, writable)
        if told == self._shown:
            return
        self._shown = told
        focused = next((name for name, row in self.rows.items() if row.form or row.edit.hasFocus()), None)
        self._clear()
        for watched, source in signals:
            row = WatchRow(self._theme, watched, source, self._formatter)
            row.opened.connect(partial(self._opened, watched.signal.id))
            row.saved.connect(partial(self._save, watched.signal.id))
            row.removed.connect(partial(self.removed.emit, watched.signal.id))
            row.edit.setEnabled(writable)
            if not writable:
                row.edit.setToolTip(tr("Your own file cannot be written"))
            self.rows[watched.signal.id] = row
            self._rows.addWidget(row)
            self._rows.addWidget(Rule(self._theme, self))
        if focused in self.rows:
            self.rows[focused].edit.setFocus(Qt.FocusReason.OtherFocusReason)

    def _opened(self, signal: str) -> None:
        """Keep one form open at a time."""
        self.say_problem("")
        for name, row in self.rows.items():
            if name != signal:
                row.close_form()

    def _save(self, signal: str) -> None:
        form = self.rows[signal].form
        if form is not None:
            self.saved.emit(signal, form.entry())

    def tell(self, signal: str, where: str, sentence: str) -> None:
        """Say in the form of a signal what is wrong with what was typed."""
        form = self.rows[signal].form
        if form is not None:
            form.tell(where, sentence)

    def say_problem(self, text: str) -> None:
        """Say why a step was not taken; an empty text takes it back."""
        self.problem.setText(text)
        self.problem.setVisible(bool(text))

    def text(self, formatter: Formatter) -> str:
        """Return the list as lines."""
        said = [tr("Watch list")]
        said += [watch_sentence(row.watched, row.source, formatter) for row in self.rows.values()]
        return "".join(f"{line}\n" for line in said)

    def _clear(self) -> None:
        while (item := self._rows.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        self.rows = {}


def _grid(holder: QWidget, theme: Theme) -> QGridLayout:
    grid = QGridLayout(holder)
    grid.setContentsMargins(0, 0, 0, 0)
    grid.setHorizontalSpacing(theme.px(18))
    grid.setColumnMinimumWidth(0, theme.px(_STATE))
    for place, share in enumerate(_SHARES):
        grid.setColumnStretch(place, share)
    return grid


def _threshold(watched: Watched, formatter: Formatter) -> str:
    threshold = tr("wanted: {threshold}", threshold=threshold_text(watched.signal, formatter))
    missing = missing_text(watched, formatter)
    return tr("{threshold}; {missing}", threshold=threshold, missing=missing) if missing else threshold
