"""The dialog in which the user notes what they found out about a signal of the watch list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from PySide6.QtWidgets import QWidget

from gpudesk.desktop.pages.catalog.editors.fields import DateRow, NoteRow, TextRow, YesNoRow
from gpudesk.desktop.pages.catalog.editors.form import FormDialog
from gpudesk.desktop.pages.catalog.editors.number_row import NUMBER_DECIMALS, NumberRow
from gpudesk.desktop.pages.catalog.editors.rows import FieldFault
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.buttons import Button
from gpudesk.desktop.widgets.numbers import NumberError, NumberFormat
from gpudesk.domain.formatting import NumberStyle
from gpudesk.domain.messages import InputError
from gpudesk.domain.own_facts import Edit
from gpudesk.domain.watching import Signal, Watched, WatchNote, WatchValue
from gpudesk.sheets.watch_words import threshold_text
from gpudesk.text import tr
from gpudesk.workbench.deciding.watch_edits import forget_signal, note_signal
from gpudesk.workbench.own_entry import UnitChoice

#: No signal comes near this.
_MOST = 1e9


class ValueRow(NumberRow):
    """A number in the unit of a threshold; unlike a fact of the catalog it may be nought or below."""

    def __init__(self, theme: Theme, units: Sequence[UnitChoice], style: NumberStyle) -> None:
        """Begin empty."""
        super().__init__(theme, "value", tr("Value"), units, required=True, style=style)
        self._plain = NumberFormat(-_MOST, _MOST, NUMBER_DECIMALS, style)

    def number(self) -> int | float:
        """Return the number as typed; raises `FieldFault`."""
        unit = self.unit.label
        typed = self.edit.text().strip().removesuffix(unit)
        try:
            return self._plain.parse(typed)
        except NumberError as error:
            raise FieldFault(str(error)) from error


class WatchForm(FormDialog):
    """Asks for value, date, source and a note; the button at the left takes a former note away."""

    def __init__(self, desk: Desk, theme: Theme, watched: Watched, parent: QWidget | None = None) -> None:
        """Begin with the user's note on the signal, if there is one."""
        self.signal = watched.signal
        noted = watched.note or watched.idle
        super().__init__(
            desk,
            theme,
            tr("Note a value") if noted is None else tr("Change your note"),
            save=tr("Save note"),
            leave=tr("Note none") if noted is None else tr("Keep as it was"),
            parent=parent,
        )
        self.add_head(watched.signal.title, watched.signal.look_for)
        self.value: ValueRow | YesNoRow = self._value_row()
        self.date = DateRow(theme, "date", tr("As of"), required=True)
        self.date.edit.setPlaceholderText(tr("YYYY-MM or YYYY-MM-DD"))
        self.source = TextRow(theme, "source", tr("Source"), required=True, empty=tr("where you found it"))
        self.note_row = NoteRow(theme, "note", tr("Note"))
        self.add_rows([self.value, self.date, self.source, self.note_row])
        if noted is not None:
            self._fill(noted)
            remove = Button(theme, tr("Remove your note"))
            remove.clicked.connect(self._remove)
            self.add_left_button(remove)
        self.value.take_focus()

    def _value_row(self) -> ValueRow | YesNoRow:
        limit = self.signal.threshold
        if limit is None:
            return YesNoRow(self.theme, "value", tr("Value"), required=True)
        row = ValueRow(self.theme, (UnitChoice(limit.unit, None),), self.desk.formatter.style)
        row.set_echo(tr("passes {threshold}", threshold=threshold_text(self.signal, self.desk.formatter)))
        return row

    def _fill(self, noted: WatchNote) -> None:
        if isinstance(self.value, YesNoRow):
            if isinstance(noted.value, bool):
                self.value.show_yes(noted.value)
        elif not isinstance(noted.value, bool):
            self.value.show_number(noted.value)
        self.date.show_value(noted.date)
        self.source.show_value(noted.source)
        self.note_row.show_value(noted.note)

    def edit(self) -> Edit:
        """Return the step that puts the note into the user's file."""
        return note_signal(
            self.desk.workbench.own.watched,
            self.signal,
            self._stated(),
            date=self.date.text() or "",
            source=self.source.text() or "",
            note=self.note_row.text(),
        )

    def _stated(self) -> WatchValue:
        if isinstance(self.value, YesNoRow):
            return bool(self.value.yes())
        return cast("float", self.value.number())

    def _remove(self) -> None:
        try:
            step = forget_signal(self.desk.workbench.own.watched, self.signal)
        except InputError as error:
            self.tell(error)
        else:
            self.take(step)


def open_watch_form(desk: Desk, theme: Theme, signal: Signal, parent: QWidget) -> WatchForm:
    """Open the form of a signal over a window; it stays open when this returns."""
    watched = next(each for each in desk.workbench.beside.watch_list() if each.signal.id == signal.id)
    dialog = WatchForm(desk, theme, watched, parent)
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()
    return dialog
