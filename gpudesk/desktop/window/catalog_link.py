"""Connects a window with the catalog: requests of its page and panel, notes on changes, faults of the user file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from gpudesk.desktop.pages.catalog.backups import make_rewrite_actions
from gpudesk.desktop.session.selection import EditorRequest
from gpudesk.desktop.session.single_instance import split_files
from gpudesk.desktop.ui.widgets.note_bar import show_folder
from gpudesk.desktop.ui.widgets.qt_support import call_after_paint
from gpudesk.text.messages import InputError, format_input_error, format_message
from gpudesk.text.translation import tr, trn

if TYPE_CHECKING:
    from gpudesk.desktop.window.document_window import DocumentWindow


def show_user_file_problem(window: DocumentWindow) -> None:
    """Show why user values are missing, with the remedies; do nothing if all are loaded."""
    user_catalog = window.desk.service.user_catalog
    remedies = [(tr("Show backups"), partial(show_backups, window))]
    if user_catalog.problem is None:
        if user_catalog.unreadable:
            text = trn(
                "{n} of your values cannot be used: {first}.",
                "{n} of your values cannot be used. First problem: {first}.",
                len(user_catalog.unreadable),
                first=format_message(user_catalog.unreadable[0], window.desk.formatter),
            )
            window.note.show_note(text, remedies)
        return
    problem = format_input_error(user_catalog.problem, window.desk.formatter).rstrip(".")
    window.note.show_note(
        tr("Your values are not loaded: {problem}. Their file is unchanged.", problem=problem),
        [
            *remedies,
            (tr("Start with an empty file"), partial(set_file_aside, window)),
            (tr("Open folder"), partial(_open_folder, window)),
        ],
    )


def show_backups(window: DocumentWindow) -> None:
    from gpudesk.desktop.pages.catalog.backups import BackupsDialog

    dialog = BackupsDialog(window.theme, window.desk.service.user_catalog, window.desk.formatter, window)
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()


def set_file_aside(window: DocumentWindow) -> None:
    """Move an unusable file out of the way, and start without facts."""
    user_catalog = window.desk.service.user_catalog
    try:
        place = user_catalog.set_aside()
    except InputError as error:
        problem = format_input_error(error, window.desk.formatter).rstrip(".")
        window.note.show_note(tr("File not moved: {problem}.", problem=problem))
        return
    name = "" if place is None else place.name
    text = tr("Your values were reset. The old file is kept as {name}.", name=name)
    window.note.show_note(text, [(tr("Open folder"), partial(_open_folder, window))], fault=False)


def _open_folder(window: DocumentWindow) -> None:
    path = window.desk.service.user_catalog.path
    if path is not None:
        show_folder(path.parent, window.note.show_note)


#: Lines of the note after the sentence on the effect of a change.
_MOST_LINES = 2


class CatalogController(QObject):
    """Opens the catalog's dialogs over one window, and reports the effect of its edits there."""

    def __init__(self, window: DocumentWindow) -> None:
        """Follow the catalog, without delaying the first view of the window."""
        super().__init__(window)
        self._window = window
        window.files.take_facts = self._take_facts
        window.desk.impact_changed.connect(self._tell_impact)
        user_catalog = window.desk.service.user_catalog
        if user_catalog.problem is not None or user_catalog.unreadable:
            call_after_paint(window, partial(show_user_file_problem, window))

    # Dialogs

    def open_editor(self, request: EditorRequest) -> None:
        from gpudesk.desktop.pages.catalog.editors.open_editor import open_editor

        window = self._window
        open_editor(window, window.desk, window.theme, window.settings, request)

    def ask_for_imports(self) -> None:
        from gpudesk.desktop.window.catalog_files import ask_for_imports

        ask_for_imports(self._window)

    def import_files(self, paths: Sequence[Path], then: Callable[[], object] | None = None) -> None:
        """Import facts from files; `then` is called if anything was imported."""
        from gpudesk.desktop.window.catalog_files import import_files

        import_files(self._window, paths, then)

    def _take_facts(self, path: Path) -> None:
        self.import_files([path], partial(self._window.open_path, path))

    def show_backups(self) -> None:
        show_backups(self._window)

    def export(self) -> None:
        from gpudesk.desktop.window.catalog_files import export_table

        export_table(self._window)

    def make_pack(self) -> None:
        from gpudesk.desktop.window.catalog_files import export_pack

        export_pack(self._window)

    # Dropped files

    def open_dropped(self, paths: Sequence[Path]) -> None:
        documents, facts = split_files(paths)
        for path in documents:
            self._window.open_path(path)
        if facts:
            self.import_files(facts)

    # Steps

    def undo(self) -> None:
        self._step(self._window.desk.service.user_catalog.undo)

    def redo(self) -> None:
        self._step(self._window.desk.service.user_catalog.redo)

    def _step(self, take: Callable[[], object]) -> None:
        try:
            take()
        except InputError as error:
            self.say_not_done(error)

    def say_not_done(self, error: InputError) -> None:
        problem = format_input_error(error, self._window.desk.formatter).rstrip(".")
        user_catalog, formatter = self._window.desk.service.user_catalog, self._window.desk.formatter
        remedies = make_rewrite_actions(user_catalog, formatter, self._show_rewrite_offer)
        if remedies:
            remedies.append((tr("Show backups"), self.show_backups))
        text = tr("Change failed: {problem}. Your values are unchanged.", problem=problem)
        self._window.note.show_note(text, remedies)

    def _show_rewrite_offer(self, text: str, fault: bool) -> None:
        self._window.note.show_note(text, fault=fault)

    def _tell_impact(self) -> None:
        window = self._window
        impact = window.desk.impact
        if impact is None:
            return
        from gpudesk.report.comparison.verdicts import describe_impact

        words = describe_impact(impact, window.desk.formatter)
        text = " ".join(f"{line}." for line in (words.sentence, *words.lines[:_MOST_LINES]))
        remedies = [(tr("Undo"), self.undo)] if window.desk.service.user_catalog.undo_text is not None else []
        window.note.show_note(text, remedies, fault=False)
