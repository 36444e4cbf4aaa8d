"""From files to facts: read beside the window, shown one after the other, written, and put to use."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog

from gpudesk import paths
from gpudesk.desktop.pages.catalog.importing.dialog import ImportDialog
from gpudesk.desktop.pages.catalog.importing.pack_dialog import PackDialog
from gpudesk.desktop.shell.note_bar import Remedy
from gpudesk.domain.messages import InputError
from gpudesk.domain.own_facts import Edit, OwnModel, OwnPrice, Proposal
from gpudesk.sentences import problem
from gpudesk.sheets.dates import today
from gpudesk.sheets.impact_words import impact_words
from gpudesk.text import tr, trn
from gpudesk.workbench.importing import Import, propose
from gpudesk.workbench.proposals import subject_of

if TYPE_CHECKING:
    from gpudesk.desktop.main_window import MainWindow

log = logging.getLogger(__name__)

_FOLDER = "import.folder"


def ask_for_imports(window: MainWindow) -> None:
    """Let the user choose files, and bring in what they hold."""
    chosen, _ = QFileDialog.getOpenFileNames(
        window,
        tr("Import facts"),
        window.settings.get(_FOLDER, str(paths.home_dir())),
        tr("Models, accelerators, prices, packs (*.json *.gguf *.csv *.gpudeskpack);;All files (*)"),
    )
    if chosen:
        window.settings.put(_FOLDER, str(Path(chosen[0]).absolute().parent))
        import_files(window, [Path(name) for name in chosen])


def import_files(window: MainWindow, paths: Sequence[Path], then: Callable[[], object] | None = None) -> None:
    """Show what files and folders would bring, one after the other, and write what the user takes.

    `then` is done where anything was taken, in the place of a note.
    """
    ImportFlow(window, then).read(paths)


class ImportFlow(QObject):
    """One import, from the files to the last of its dialogs."""

    def __init__(self, window: MainWindow, then: Callable[[], object] | None = None) -> None:
        """Belong to a window."""
        super().__init__(window)
        self._window = window
        self._then = then
        self._waiting: list[Import] = []
        self._total = 0
        self._taken: list[Proposal] = []
        self._steps: list[Edit] = []

    def read(self, paths: Sequence[Path]) -> None:
        """Read the files beside the window."""
        window = self._window
        steps = propose(paths, window.desk.workbench.catalog, today=today())
        window.jobs.start("import", steps, self._show, self._refuse, self.deleteLater)

    def _refuse(self, error: InputError) -> None:
        said = problem(error, self._window.desk.formatter).rstrip(".")
        self._window.note.show_note(tr("Not imported: {problem}. Nothing was written.", problem=said))
        self.deleteLater()

    def _show(self, found: tuple[Import, ...]) -> None:
        self._waiting = list(found)
        self._total = len(found)
        self._window.note.clear()
        self._next()

    def _next(self) -> None:
        if not self._waiting:
            self._tell()
            self.deleteLater()
            return
        found = self._waiting.pop(0)
        window, number = self._window, self._total - len(self._waiting)
        place = tr("{n} of {total}", n=number, total=self._total) if self._total > 1 else ""
        dialog: ImportDialog | PackDialog
        if found.pack is not None:
            dialog = PackDialog(window.desk, window.theme, window.jobs, found, found.pack, window)
        else:
            dialog = ImportDialog(window.desk, window.theme, window.jobs, found, place=place, parent=window)
        dialog.finished.connect(partial(self._closed, dialog))
        dialog.open()

    def _closed(self, dialog: ImportDialog | PackDialog, _result: int) -> None:
        if dialog.step is not None:
            self._taken.append(dialog.proposal)
            self._steps.append(dialog.step)
        dialog.deleteLater()
        self._next()

    def _tell(self) -> None:
        """Say what was added, and offer what one does with it."""
        log.info("imported: %d of %d", len(self._taken), self._total)
        if self._taken and self._then is not None:
            self._then()
        elif self._taken:
            window = self._window
            impact = window.desk.impact
            take_back: Remedy = (tr("Undo"), partial(undo, window, tuple(self._steps)))
            remedies = [*_uses(window, self._taken), take_back]
            said = [added_text(self._taken, window)]
            if impact is not None:
                said.append(f"{impact_words(impact, window.desk.formatter).sentence}.")
            window.note.show_note(" ".join(said), remedies, fault=False)


def _uses(window: MainWindow, taken: Sequence[Proposal]) -> list[Remedy]:
    """Return what one does with a model or an accelerator that was added by itself."""
    subject = subject_of(taken[0])
    if subject is None or len(taken) > 1:
        return []
    if isinstance(subject, OwnModel):
        put = partial(window.desk.edit, tr("Change of model"), model=subject.id)
        return [(tr("Set as model"), put)]
    return [(tr("Add to the scenario"), partial(window.chips.add_accelerator, subject.id))]


def added_text(taken: Sequence[Proposal], window: MainWindow) -> str:
    """Return what was added, in one sentence."""
    prices = sum(isinstance(fact, OwnPrice) for proposal in taken for fact in proposal.facts)
    names = [proposal.name for proposal in taken if proposal.kind != "prices"]
    if not names:
        count = window.desk.formatter.count(prices)
        return trn(
            "Added {count} price to your facts.", "Added {count} prices to your facts.", prices, count=count
        )
    return tr("Added {names} to your facts.", names=", ".join(names))


def undo(window: MainWindow, steps: Sequence[Edit]) -> None:
    """Take these steps back, the last first; where something else was done since, say where to undo."""
    own = window.desk.workbench.own
    try:
        for step in reversed(steps):
            if own.undo_text is not step.text:
                window.note.show_note(
                    tr("Not undone: something else was changed since. Undo that first, on the page Catalog.")
                )
                return
            own.undo()
    except InputError as error:
        said = problem(error, window.desk.formatter).rstrip(".")
        window.note.show_note(tr("Not undone: {problem}.", problem=said))
