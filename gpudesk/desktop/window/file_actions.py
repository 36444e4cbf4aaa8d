"""File operations of a window: open, save, recover."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QMessageBox, QWidget

from gpudesk.desktop.session.document import Document, RecoveredScenario
from gpudesk.desktop.session.settings import UserSettings, get_folder
from gpudesk.desktop.ui.widgets.note_bar import NoteAction, NoteBar
from gpudesk.desktop.ui.widgets.qt_support import ask_question, ask_save_path
from gpudesk.documents.scenario_file import SCENARIO_SUFFIX
from gpudesk.domain.user_facts import CarriedFactsError
from gpudesk.text.messages import InputError, format_input_error
from gpudesk.text.translation import tr

log = logging.getLogger(__name__)

_FOLDER = "folder"


class FileActions:
    """Opens and saves the document of one window. Each method returns whether it succeeded."""

    def __init__(self, document: Document, settings: UserSettings, note: NoteBar, window: QWidget) -> None:
        self._document = document
        self._settings = settings
        self._note = note
        self._window = window
        #: Shows the facts that a scenario carries, and reopens it if any are imported.
        self.take_facts: Callable[[Path], object] | None = None

    def ask_for_file(self) -> Path | None:
        chosen, _ = QFileDialog.getOpenFileName(
            self._window,
            tr("Open scenario"),
            str(get_folder(self._settings, _FOLDER)),
            tr("Scenarios and sheets (*{suffix} *.pdf);;All files (*)", suffix=SCENARIO_SUFFIX),
        )
        return Path(chosen) if chosen else None

    def open(self, path: Path) -> bool:
        """Open a file in this window; on failure the open document stays."""
        opened = self._read_scenario(lambda: self._document.open_file(path), path)
        if opened and self._document.carries_other_facts:
            self._note.show_note(
                tr("This file contains values from its author that differ from yours. The results use your values."),
                self._make_review_actions(path),
                fault=False,
            )
        return opened

    def _make_review_actions(self, path: Path | None) -> list[NoteAction]:
        take = self.take_facts
        return [] if take is None or path is None else [(tr("Review values…"), partial(take, path))]

    def can_open(self, path: Path) -> bool:
        """Return whether a file can be opened, and show the problem if not; no window is created for it."""
        return self._read_scenario(lambda: self._document.check(path), path)

    def open_template(self, template: str) -> bool:
        return self._read_scenario(lambda: self._document.open_template(template), None)

    def open_recovered(self, recovered: RecoveredScenario) -> bool:
        return self._read_scenario(lambda: self._document.open_recovered(recovered), None)

    def _read_scenario(self, read_file: Callable[[], None], path: Path | None) -> bool:
        try:
            read_file()
        except InputError as error:
            problem = _format_error_sentence(error)
            carries = isinstance(error, CarriedFactsError)
            self._note.show_note(
                tr("File not opened: {problem} The current scenario is unchanged.", problem=problem),
                self._make_review_actions(path) if carries else [],
            )
            return False
        self._note.clear()
        log.info("opened: %s", "a template or recovered edits" if path is None else path.suffix)
        if path is not None:
            self._settings.put(_FOLDER, str(path.absolute().parent))
        return True

    def save(self) -> bool:
        path = self._document.path
        if path is None:
            return self.save_as()
        if self._document.has_changed_on_disk and not ask_question(
            self._window,
            tr("GPU Desk"),
            tr("“{file}” has changed on disk. Overwrite it?", file=path.name),
            tr("Another program changed the file after you opened it. Saving discards those changes."),
            tr("Overwrite"),
            tr("Cancel"),
        ):
            return False
        return self._save(path)

    def save_as(self) -> bool:
        path = self._document.path
        proposed = get_folder(self._settings, _FOLDER) / self._document.suggested_name if path is None else path
        types = [(tr("Scenarios"), SCENARIO_SUFFIX)]
        target = ask_save_path(self._window, tr("Save scenario"), proposed, types)
        return target is not None and self._save(target)

    def _save(self, target: Path) -> bool:
        try:
            self._document.save(target)
        except InputError as error:
            problem = _format_error_sentence(error)
            if self._document.keep_now():
                problem = tr("Not saved: {problem} Your changes are in the recovery file.", problem=problem)
            else:
                problem = tr("Not saved: {problem} Your changes exist only in this window.", problem=problem)
            self._note.show_note(problem, [(tr("Save as…"), self.save_as)])
            return False
        self._note.clear()
        log.info("saved")
        self._settings.put(_FOLDER, str(target.absolute().parent))
        return True

    def may_close(self) -> bool:
        """Ask about unsaved changes; return whether the document can be closed."""
        if not self._document.edited:
            return True
        box = QMessageBox(self._window)
        box.setIcon(QMessageBox.Icon.NoIcon)
        box.setWindowTitle(tr("GPU Desk"))
        box.setText(tr("Save changes to “{title}”?", title=self._document.title))
        box.setInformativeText(tr("Unsaved changes are lost when the window closes."))
        save = box.addButton(tr("Save"), QMessageBox.ButtonRole.AcceptRole)
        discard = box.addButton(tr("Discard changes"), QMessageBox.ButtonRole.DestructiveRole)
        keep = box.addButton(tr("Cancel"), QMessageBox.ButtonRole.RejectRole)
        box.setDefaultButton(save)
        box.setEscapeButton(keep)
        box.exec()
        if box.clickedButton() is save:
            return self.save()
        return box.clickedButton() is discard


def _format_error_sentence(error: InputError) -> str:
    text = format_input_error(error)
    return text if text.endswith((".", "!", "?")) else f"{text}."
