"""Between a window and the catalog: what its page and panel ask for, and what the note tells of a change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject

from gpudesk.desktop.after_paint import after_paint
from gpudesk.desktop.opened_by_system import documents_and_facts
from gpudesk.desktop.pages.catalog.requests import EditorRequest
from gpudesk.desktop.shell.writing_anew import anew_remedies
from gpudesk.domain.messages import InputError
from gpudesk.sentences import problem
from gpudesk.text import tr

if TYPE_CHECKING:
    from gpudesk.desktop.main_window import MainWindow

#: Lines that the note says after the sentence on what a change did.
_MOST_LINES = 2


class CatalogLink(QObject):
    """Opens the catalog's dialogs over one window, and tells there what its edits did."""

    def __init__(self, window: MainWindow) -> None:
        """Follow the catalog. What the window shows first does not wait for it."""
        super().__init__(window)
        self._window = window
        window.files.take_facts = self._take_facts
        window.desk.impact_changed.connect(self._tell_impact)
        window.installEventFilter(self)
        if window.desk.workbench.own.problem is not None:
            after_paint(window, self._say_problem)

    def _say_problem(self) -> None:
        from gpudesk.desktop.shell.own_file import say_own_problem

        say_own_problem(self._window)

    # Dialogs

    def open_editor(self, request: EditorRequest) -> None:
        """Open the editor that is asked for."""
        from gpudesk.desktop.pages.catalog.editors.opening import open_editor

        window = self._window
        open_editor(window, window.desk, window.theme, window.settings, request)

    def ask_for_imports(self) -> None:
        """Let the user choose files to bring in."""
        from gpudesk.desktop.pages.catalog.importing.flow import ask_for_imports

        ask_for_imports(self._window)

    def import_files(self, paths: Sequence[Path], then: Callable[[], object] | None = None) -> None:
        """Bring in what files hold; `then` is done where anything was taken."""
        from gpudesk.desktop.pages.catalog.importing.flow import import_files

        import_files(self._window, paths, then)

    def _take_facts(self, path: Path) -> None:
        """Show the facts that a scenario carries, and open it where any are taken."""
        self.import_files([path], partial(self._window.open_path, path))

    def show_backups(self) -> None:
        """Show the backups of the user's facts."""
        from gpudesk.desktop.shell.own_file import show_backups

        show_backups(self._window)

    def export(self) -> None:
        """Write a table of the catalog into a file."""
        from gpudesk.desktop.pages.catalog.exporting import export_table

        export_table(self._window)

    def make_pack(self) -> None:
        """Put facts of the user into a file for others."""
        from gpudesk.desktop.pages.catalog.exporting import make_pack

        make_pack(self._window)

    # Files that were dropped

    def open_dropped(self, paths: Sequence[Path]) -> None:
        """Open scenarios, and bring in what the other files hold."""
        documents, facts = documents_and_facts(paths)
        for path in documents:
            self._window.open_path(path)
        if facts:
            self.import_files(facts)

    # Steps

    def undo(self) -> None:
        """Take the last step back."""
        self._step(self._window.desk.workbench.own.undo)

    def redo(self) -> None:
        """Do again what was undone last."""
        self._step(self._window.desk.workbench.own.redo)

    def _step(self, take: Callable[[], object]) -> None:
        try:
            take()
        except InputError as error:
            self.say_not_done(error)

    def say_not_done(self, error: InputError) -> None:
        """Say why a step was not taken."""
        said = problem(error, self._window.desk.formatter).rstrip(".")
        own, formatter = self._window.desk.workbench.own, self._window.desk.formatter
        remedies = anew_remedies(own, formatter, self._say_anew)
        if remedies:
            remedies.append((tr("Show backups"), self.show_backups))
        text = tr("Not done: {problem}. Your facts are as they were.", problem=said)
        self._window.note.show_note(text, remedies)

    def _say_anew(self, text: str, fault: bool) -> None:
        self._window.note.show_note(text, fault=fault)

    def _tell_impact(self) -> None:
        """Say what a change of the catalog did to the result, and offer to take it back."""
        window = self._window
        impact = window.desk.impact
        if impact is None:
            return
        from gpudesk.sheets.impact_words import impact_words

        words = impact_words(impact, window.desk.formatter)
        said = " ".join(f"{line}." for line in (words.sentence, *words.lines[:_MOST_LINES]))
        remedies = [(tr("Undo"), self.undo)] if window.desk.workbench.own.undo_text is not None else []
        window.note.show_note(said, remedies, fault=False)

    # Other programs

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """Look at the user's file when the window becomes active: another program may have changed it."""
        if event.type() == QEvent.Type.WindowActivate:
            self._window.desk.workbench.own.look_again()
        return super().eventFilter(watched, event)
