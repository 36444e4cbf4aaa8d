"""The form of a name: what an accelerator or a model of the user's is called, and by whom it is."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from gpudesk.desktop.pages.catalog.editors.fields import TextRow
from gpudesk.desktop.pages.catalog.editors.form import FormDialog
from gpudesk.desktop.pages.catalog.editors.removing import may_remove
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.buttons import Button
from gpudesk.domain.messages import InputError, message
from gpudesk.domain.own_facts import Edit
from gpudesk.domain.things import Thing, ThingKind
from gpudesk.text import tr
from gpudesk.workbench.own_edits import remove_thing
from gpudesk.workbench.own_forms import rename


class NameForm(FormDialog):
    """Renames an entry of the user's, or removes it."""

    def __init__(self, desk: Desk, theme: Theme, thing: str, *, parent: QWidget | None = None) -> None:
        """Begin with the names in force; raises `InputError` where the entry is none of the user's."""
        self.thing = desk.workbench.catalog.thing(thing)
        if not self.thing.own:
            raise InputError(message("own.not_own", id=thing), "id")
        super().__init__(
            desk, theme, tr("Rename"), save=tr("Save name"), leave=tr("Keep as it was"), parent=parent
        )
        of_model = self.thing.kind is ThingKind.MODEL
        self.add_head(tr("Rename {name}", name=self.thing.name), tr("Its id stays: {id}", id=thing))
        self.name = TextRow(theme, "name", tr("Name"), required=True)
        self.maker = TextRow(theme, "maker", tr("Organisation") if of_model else tr("Vendor"), required=True)
        self.name.show_value(self.thing.name)
        self.maker.show_value(self.thing.maker)
        self.add_rows([self.name, self.maker])
        self.remove_button = Button(theme, tr("Remove…"), icon="trash-2")
        self.remove_button.clicked.connect(self._remove)
        self.add_left_button(self.remove_button)
        self.name.take_focus()

    def edit(self) -> Edit:
        """Return the step that renames."""
        catalog = self.desk.workbench.catalog
        return rename(catalog, self.thing.id, self.name.text() or "", self.maker.text() or "")

    def _remove(self) -> None:
        step = removal(self, self.desk, self.thing)
        if step is not None:
            self.take(step)


def removal(parent: FormDialog, desk: Desk, thing: Thing) -> Edit | None:
    """Ask whether an entry of the user's is to go; return the step that removes it, None where it stays."""
    question = tr("Remove {name}?", name=thing.name)
    if not may_remove(parent, question, tr("Remove {name}", name=thing.name), _what_else(desk, thing)):
        return None
    try:
        return remove_thing(desk.workbench.catalog, thing.id)
    except InputError as error:
        parent.tell(error)
        return None


def _what_else(desk: Desk, thing: Thing) -> str:
    """Say what goes with it or is left without it."""
    scenario = desk.scenario
    used = thing.id == scenario.model or any(each.accelerator == thing.id for each in scenario.accelerators)
    said = [tr("Its figures and prices go with it.")]
    if used:
        said.append(tr("The open scenario uses it."))
    return " ".join(said)
