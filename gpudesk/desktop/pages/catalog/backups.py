"""Backups of the user's file: the dialog that restores one, and the offer to write a removed file again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QWidget

from gpudesk.catalog.user_store.user_catalog import UserCatalog
from gpudesk.desktop.ui.tables.data_table import TextTable
from gpudesk.desktop.ui.theme.focus_ring import ThemedDialog
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.buttons import Button
from gpudesk.desktop.ui.widgets.layouts import STRETCH, ThemedLabel, make_column, make_row
from gpudesk.desktop.ui.widgets.note_bar import NoteAction, show_folder
from gpudesk.desktop.ui.widgets.page_frame import ProblemNote
from gpudesk.domain.user_facts import Backup
from gpudesk.report.data_table import CellSeverity, DataCell
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter
from gpudesk.text.messages import InputError, format_input_error, format_message
from gpudesk.text.translation import tr, trn

#: Called with the result as a sentence, and whether it is an error.
ShowNote = Callable[[str, bool], object]


def make_rewrite_actions(
    user_catalog: UserCatalog, formatter: Formatter, show_note: ShowNote
) -> list[tuple[str, Callable[[], object]]]:
    """Return the note's button that saves the user's values again; empty while their file exists."""
    return (
        [(_label_rewrite(), partial(rewrite_user_file, user_catalog, formatter, show_note))]
        if user_catalog.removed
        else []
    )


def rewrite_user_file(user_catalog: UserCatalog, formatter: Formatter, show_note: ShowNote) -> None:
    """Write all user values to a new file and report the result through `show_note`."""
    try:
        user_catalog.write_anew()
    except InputError as error:
        show_note(tr("Not saved: {problem}.", problem=format_input_error(error, formatter).rstrip(".")), True)
        return
    count = len(user_catalog.facts)
    text = trn(
        "Saved your {count} value to a new file. Repeat the change that failed.",
        "Saved your {count} values to a new file. Repeat the change that failed.",
        count,
        count=formatter.count(count),
    )
    show_note(text, False)


class RewriteButton(Button):
    """Saves the user's values again; visible only while their file is missing."""

    def __init__(self, theme: Theme, user_catalog: UserCatalog, formatter: Formatter, show_note: ShowNote) -> None:
        super().__init__(theme, _label_rewrite())
        self._own = user_catalog
        self._formatter = formatter
        self._show_note = show_note
        self.clicked.connect(self._write)
        self.hide()

    def follow(self) -> None:
        """Show the button if needed; called once it is in a window."""
        self.setVisible(self._own.removed)

    def _write(self) -> None:
        rewrite_user_file(self._own, self._formatter, self._show_note)
        self.follow()


def _label_rewrite() -> str:
    return tr("Save your values again")


_WIDTH, _HEIGHT = 640.0, 344.0


class BackupsDialog(ThemedDialog):
    """Lists the backups, the newest first. Restoring keeps the present file as a further backup."""

    manual_topic = "catalog#backups"

    def __init__(
        self, theme: Theme, user_catalog: UserCatalog, formatter: Formatter, parent: QWidget | None = None
    ) -> None:
        super().__init__(theme, tr("Backups of your values"), (_WIDTH, _HEIGHT), parent)
        self._own = user_catalog
        self._formatter = formatter
        self._backups: tuple[Backup, ...] = ()
        self.note = ProblemNote(theme)
        self.status_label = ThemedLabel(theme, font="small", color="text2", wrap=True)
        heads = [tr("Created"), tr("Created before"), tr("Values"), tr("Size"), tr("Version")]
        self.table = TextTable(theme, tr("Backups"), heads, numbers=(2, 3, 4), giving=(1,), scrolls=True)
        self.table.selectionModel().currentRowChanged.connect(self._describe)
        self.folder = Button(self._theme, tr("Open folder"), self.open_folder, icon="folder")
        self.anew = RewriteButton(self._theme, self._own, self._formatter, self._show_rewrite_offer)
        self.close_button = Button(self._theme, tr("Close"), self.accept)
        self.restore = Button(self._theme, tr("Restore"), self.restore_chosen, kind="primary", icon="history")
        px = self._theme.px
        foot = make_row(self.folder, self.anew, STRETCH, self.close_button, self.restore, gap=px(8))
        inner = make_column(
            (self.table, 1), self.status_label, foot, gap=px(10), margins=(px(24), px(12), px(24), px(16))
        )
        make_column(self.note, (inner, 1), gap=0, margins=(0, px(12), 0, 0), on=self)
        self.table.opened.connect(lambda: self.restore.setFocus(Qt.FocusReason.TabFocusReason))
        self._fill()

    @property
    def chosen(self) -> Backup | None:
        row = self.table.current_row
        return None if row is None else self._backups[int(row.key)]

    def restore_chosen(self) -> None:
        """Restore the chosen backup and show the result."""
        backup = self.chosen
        if backup is None or backup.problem is not None:
            return
        self.note.show_text("")
        try:
            self._own.restore(backup)
        except InputError as error:
            self._fill()
            problem = format_input_error(error, self._formatter).rstrip(".")
            self.note.show_text(tr("Not restored: {problem}.", problem=problem))
            return
        self._fill()
        facts = len(self._own.facts)
        self.status_label.setText(
            trn(
                "Restored {count} value from {made}. Your previous values are now a backup.",
                "Restored {count} values from {made}. Your previous values are now a backup.",
                facts,
                count=self._formatter.count(facts),
                made=_format_time(backup),
            )
        )

    def _show_rewrite_offer(self, text: str, fault: bool) -> None:
        self._fill()
        if fault:
            self.note.show_text(text)
        else:
            self.status_label.setText(text)
            self.close_button.setFocus()

    def open_folder(self) -> None:
        if self._own.path is not None:
            folder = self._own.backups_folder
            folder_to_open = folder if folder is not None and folder.is_dir() else self._own.path.parent
            show_folder(folder_to_open, self._say_no_folder)

    def _say_no_folder(self, text: str, remedies: Sequence[NoteAction]) -> None:
        """Show the path of the folder with the available actions."""
        self.note.show_text(text)
        for title, act in remedies:
            self.folder.setText(title)
            self.folder.clicked.disconnect()
            self.folder.clicked.connect(act)

    def sizeHint(self) -> QSize:
        return QSize(self._theme.px(_WIDTH), self._theme.px(_HEIGHT))

    # Content

    def _fill(self) -> None:
        self._backups = self._own.backups()
        self.table.set_cells({str(place): self._make_cells(each) for place, each in enumerate(self._backups)})
        self.table.setEnabled(bool(self._backups))
        if self._own.problem is not None:
            problem = format_input_error(self._own.problem, self._formatter).rstrip(".")
            self.note.show_text(tr("Your values cannot be used: {problem}.", problem=problem))
        elif self._own.removed:
            self.note.show_text(
                tr("The file with your values was deleted. Your values are still in memory and can be saved again.")
            )
        else:
            self.note.show_text("")
        self.anew.follow()
        if self._backups:
            self.table.choose_row(str(next((n for n, each in enumerate(self._backups) if each.problem is None), 0)))
        self._describe()

    def _make_cells(self, backup: Backup) -> list[DataCell]:
        formatter = self._formatter
        facts = MISSING_VALUE_TEXT if backup.facts is None else formatter.count(backup.facts)
        reason = backup.reason.label if backup.problem is None else format_message(backup.problem, formatter)
        size = formatter.memory(backup.size_bytes)
        quiet = partial(DataCell, is_quiet=backup.problem is not None)
        severity = CellSeverity.NONE if backup.problem is None else CellSeverity.FAULT
        reason_cell = DataCell(reason, severity=severity)
        return [quiet(_format_time(backup)), reason_cell, *map(quiet, (facts, size, str(backup.version)))]

    def _describe(self) -> None:
        """Describe the effect of restoring the chosen backup, or the reason why it cannot be restored."""
        backup = self.chosen
        self.restore.setEnabled(backup is not None and backup.problem is None)
        if backup is None:
            self.status_label.setText(
                tr("No backups yet. One is created before the first change of a day and before each large change.")
            )
        elif backup.problem is not None:
            self.status_label.setText(
                tr(
                    "This backup cannot be restored: {problem}.",
                    problem=format_message(backup.problem, self._formatter).rstrip("."),
                )
            )
        else:
            self.status_label.setText(
                tr(
                    "Restores your values from {made}. Your current values are backed up first. Earlier "
                    "steps can no longer be undone.",
                    made=_format_time(backup),
                )
            )


def _format_time(backup: Backup) -> str:
    return f"{backup.time.astimezone():%Y-%m-%d %H:%M:%S}"
