"""What the status bar says: the catalog, whether the document is saved, how long the answer took."""

from __future__ import annotations

from PySide6.QtCore import QObject

from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.document import Document
from gpudesk.desktop.shell.status_bar import StatusBar
from gpudesk.text import tr, trn


class StatusText(QObject):
    """Keeps the status bar in step with desk and document."""

    def __init__(self, desk: Desk, document: Document, bar: StatusBar) -> None:
        """Say what holds now, and follow."""
        super().__init__(bar)
        self._desk = desk
        self._document = document
        self._bar = bar
        document.changed.connect(self._say_saved)
        desk.answered.connect(self._say_elapsed)
        desk.catalog_changed.connect(self._say_catalog)
        self._say_catalog()
        self._say_saved()

    def say_not_kept(self, folder: str) -> None:
        """Say that unsaved edits cannot be kept for the case of a crash."""
        self._bar.show_message(tr("Unsaved edits cannot be kept in {folder}: save often.", folder=folder))

    def _say_catalog(self) -> None:
        """Say what there is to choose from, and how much of it is the user's own word."""
        workbench, count = self._desk.workbench, self._desk.formatter.count
        catalog, own = workbench.catalog, len(workbench.own.facts)
        said = tr(
            "Catalog {date} · {parts} accelerators, {models} models",
            date=catalog.data_date,
            parts=count(len(catalog.accelerators())),
            models=count(len(catalog.models())),
        )
        if own:
            yours = trn("{n} fact of yours", "{n} facts of yours", own, n=count(own))
            said = f"{said} · {yours}"
        self._bar.set_catalog(said)

    def _say_saved(self) -> None:
        document = self._document
        if document.edited:
            self._bar.set_saved(tr("Edited"))
        elif document.saved_at is not None:
            self._bar.set_saved(tr("Saved {time}", time=f"{document.saved_at:%H:%M}"))
        else:
            self._bar.set_saved("")

    def _say_elapsed(self) -> None:
        if self._desk.answer is None or self._desk.problem is not None:
            self._bar.set_elapsed("")
        else:
            ms = self._desk.formatter.number(max(1, round(self._desk.elapsed_ms)))
            self._bar.set_elapsed(tr("Recalculated in {n} ms", n=ms))
