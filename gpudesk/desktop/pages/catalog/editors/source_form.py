"""The form of a source: a new one, or what is said of one of the user's."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from gpudesk.desktop.pages.catalog.editors.form import FormDialog
from gpudesk.desktop.pages.catalog.editors.source_block import SourceBlock
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.theme.theme import Theme
from gpudesk.domain.claims import Source
from gpudesk.domain.messages import InputError, message
from gpudesk.domain.own_facts import Edit
from gpudesk.text import tr, trn
from gpudesk.workbench.own_edits import add, change_source
from gpudesk.workbench.own_forms import rests_on


class SourceForm(FormDialog):
    """Changes a source of the user's for all figures that rest on it, or makes one."""

    def __init__(
        self, desk: Desk, theme: Theme, *, source: str | None = None, parent: QWidget | None = None
    ) -> None:
        """Begin with the user's source `source`; raises `InputError` where it is none of the user's."""
        self.held = _held(desk, source)
        adding = self.held is None
        super().__init__(
            desk,
            theme,
            tr("Add source") if adding else tr("Change source"),
            save=tr("Add source") if adding else tr("Save source"),
            leave=tr("Add none") if adding else tr("Keep as it was"),
            parent=parent,
        )
        self.add_head(self.windowTitle(), self._used())
        self.source = SourceBlock(theme, desk.workbench.own.facts, desk, prefilled=False)
        self.add_rows(self.source.rows())
        if self.held is not None:
            self.source.show_source(self.held)
        self.source.title.take_focus()

    def edit(self) -> Edit:
        """Return the step that changes or makes the source."""
        catalog = self.desk.workbench.catalog
        if self.held is None:
            made = self.source.source()
            return add(catalog, (made,), made.title)
        return change_source(catalog, self.source.changed(self.held))

    def after_saving(self) -> None:
        """Keep a new source for the next form."""
        if self.held is None:
            self.source.remember()

    def _used(self) -> str:
        if self.held is None:
            return tr("Offered in every form from then on")
        count = rests_on(self.desk.workbench.own.facts, self.held.id)
        return trn("{n} figure of yours rests on it", "{n} figures of yours rest on it", count)


def _held(desk: Desk, source: str | None) -> Source | None:
    if source is None:
        return None
    found = desk.workbench.own.facts.get("source", source)
    if not isinstance(found, Source):
        raise InputError(message("own.not_own", id=source), "id")
    return found
