"""What the status bar says: the catalog, whether the document is saved, how long the answer took."""

from __future__ import annotations

from PySide6.QtCore import QObject

from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.document import Document
from gpudesk.desktop.shell.status_bar import StatusBar
from gpudesk.text import tr


class StatusText(QObject):
    """Keeps the status bar in step with desk and document."""

    def __init__(self, desk: Desk, document: Document, bar: StatusBar) -> None:
        """Say what holds now, and follow."""
        super().__init__(bar)
        self._desk = desk
        self._document = document
        self._bar = bar
        catalog = desk.workbench.catalog
        bar.set_catalog(
            tr(
                "Catalog {date} · {parts} accelerators, {models} models",
                date=catalog.data_date,
                parts=desk.formatter.count(len(catalog.accelerators())),
                models=desk.formatter.count(len(catalog.models())),
            )
        )
        document.changed.connect(self._say_saved)
        desk.answered.connect(self._say_elapsed)
        self._say_saved()

    def say_not_kept(self, folder: str) -> None:
        """Say that unsaved edits cannot be kept for the case of a crash."""
        self._bar.show_message(tr("Unsaved edits cannot be kept in {folder}: save often.", folder=folder))

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
