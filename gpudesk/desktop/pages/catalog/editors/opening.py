"""From what a page asks for to the editor of it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QMessageBox, QWidget

from gpudesk.desktop.pages.catalog.editors.form import FormDialog
from gpudesk.desktop.pages.catalog.requests import EditorKind, EditorRequest
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.settings import Settings
from gpudesk.desktop.theme.theme import Theme
from gpudesk.domain.messages import InputError
from gpudesk.domain.things import ThingKind
from gpudesk.sentences import sentence
from gpudesk.text import tr


def open_editor(
    parent: QWidget, desk: Desk, theme: Theme, settings: Settings, request: EditorRequest
) -> bool:
    """Open the editor that is asked for over a window, and return whether there is one.

    It stays open when this returns; what it writes is told by `desk.catalog_changed`. What cannot be edited
    is said in a box.
    """
    try:
        dialog = _editor(parent, desk, theme, settings, request)
    except InputError as error:
        _say(parent, sentence(error.problem, desk.formatter))
        return False
    if dialog is None:
        return False
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()
    return True


def _editor(
    parent: QWidget, desk: Desk, theme: Theme, settings: Settings, request: EditorRequest
) -> FormDialog | None:
    """Make the editor; None where the request names too little for one."""
    from gpudesk.desktop.pages.catalog.editors.prefer_editor import PreferEditor
    from gpudesk.desktop.pages.catalog.editors.price_form import PriceForm
    from gpudesk.desktop.pages.catalog.editors.source_form import SourceForm
    from gpudesk.desktop.pages.catalog.editors.stale_form import StaleForm
    from gpudesk.desktop.pages.catalog.editors.value_editor import ValueEditor

    thing, name = request.thing, request.attribute
    makers: dict[EditorKind, Callable[[], FormDialog | None]] = {
        EditorKind.PRICE: lambda: PriceForm(desk, theme, price=request.price, thing=thing, parent=parent),
        EditorKind.SOURCE: lambda: SourceForm(desk, theme, source=request.source, parent=parent),
        EditorKind.STALENESS: lambda: StaleForm(desk, theme, settings, parent=parent),
        EditorKind.ACCELERATOR: lambda: _thing_form(parent, desk, theme, thing),
        EditorKind.MODEL: lambda: None if thing is None else _thing_form(parent, desk, theme, thing),
    }
    if thing is not None and name is not None:
        makers[EditorKind.VALUE] = lambda: ValueEditor(desk, theme, thing, name, parent=parent)
        makers[EditorKind.PREFERENCE] = lambda: PreferEditor(
            desk, theme, thing, name, claim=request.claim, parent=parent
        )
    maker = makers.get(request.kind)
    return None if maker is None else maker()


def _thing_form(parent: QWidget, desk: Desk, theme: Theme, thing: str | None) -> FormDialog:
    """Return the form of an accelerator, or for a model that of its name: its dimensions are values."""
    from gpudesk.desktop.pages.catalog.editors.accelerator_form import AcceleratorForm
    from gpudesk.desktop.pages.catalog.editors.name_form import NameForm

    if thing is not None and desk.workbench.catalog.kind_of(thing) is not ThingKind.ACCELERATOR:
        return NameForm(desk, theme, thing, parent=parent)
    return AcceleratorForm(desk, theme, thing=thing, parent=parent)


def _say(parent: QWidget, text: str) -> None:
    box = QMessageBox(parent)
    box.setIcon(QMessageBox.Icon.NoIcon)
    box.setWindowTitle(tr("GPU Desk"))
    box.setText(f"{text[:1].upper()}{text[1:]}.")
    box.addButton(tr("Close"), QMessageBox.ButtonRole.RejectRole)
    box.finished.connect(box.deleteLater)
    box.open()
