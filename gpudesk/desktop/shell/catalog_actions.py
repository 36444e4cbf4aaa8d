"""The commands of the catalog: facts in, facts out, and the steps between."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from gpudesk.desktop.actions import ActionSpec, Menu
from gpudesk.desktop.pages.catalog.requests import EditorKind, EditorRequest
from gpudesk.sentences import sentence
from gpudesk.text import tr

if TYPE_CHECKING:
    from gpudesk.desktop.main_window import MainWindow


def catalog_actions(window: MainWindow) -> list[ActionSpec]:
    """Return the commands that there are on every page."""
    link, own = window.catalog, window.desk.workbench.own

    def writable() -> bool:
        return own.writable

    def open_editor(kind: EditorKind) -> partial[None]:
        return partial(link.open_editor, EditorRequest(kind))

    return [
        ActionSpec(
            "catalog.import",
            tr("Import facts…"),
            link.ask_for_imports,
            Menu.CATALOG,
            0,
            "import",
            ("Ctrl+Shift+O",),
            enabled=writable,
            palette=tr("Import models, accelerators, prices or packs"),
        ),
        ActionSpec(
            "catalog.add_accelerator",
            tr("New accelerator of yours…"),
            open_editor(EditorKind.ACCELERATOR),
            Menu.CATALOG,
            0,
            "cpu",
            enabled=writable,
        ),
        ActionSpec(
            "catalog.add_price",
            tr("New price of yours…"),
            open_editor(EditorKind.PRICE),
            Menu.CATALOG,
            0,
            "coins",
            enabled=writable,
        ),
        ActionSpec(
            "catalog.export",
            tr("Export a table…"),
            link.export,
            Menu.CATALOG,
            1,
            "table-2",
            palette=tr("Export a table of the catalog"),
        ),
        ActionSpec(
            "catalog.pack",
            tr("Hand on your facts as a pack…"),
            link.make_pack,
            Menu.CATALOG,
            1,
            "file-down",
            enabled=lambda: len(own.facts) > 0,
        ),
        ActionSpec(
            "catalog.stale",
            tr("When facts are stale…"),
            open_editor(EditorKind.STALENESS),
            Menu.CATALOG,
            2,
            "history",
        ),
        ActionSpec(
            "catalog.backups", tr("Backups of your facts…"), link.show_backups, Menu.CATALOG, 2, "database"
        ),
    ]


def undo_actions(window: MainWindow) -> list[ActionSpec]:
    """Return undo and redo of the catalog's steps, which are not those of the scenario."""
    link, own = window.catalog, window.desk.workbench.own
    undo, redo = own.undo_text, own.redo_text
    formatter = window.desk.formatter
    return [
        ActionSpec(
            "edit.undo",
            tr("Undo in the catalog")
            if undo is None
            else tr("Undo in the catalog: {step}", step=sentence(undo, formatter)),
            link.undo,
            Menu.EDIT,
            0,
            "undo-2",
            ("Ctrl+Z",),
            enabled=lambda: own.undo_text is not None,
        ),
        ActionSpec(
            "edit.redo",
            tr("Redo in the catalog")
            if redo is None
            else tr("Redo in the catalog: {step}", step=sentence(redo, formatter)),
            link.redo,
            Menu.EDIT,
            0,
            "redo-2",
            ("Ctrl+Shift+Z", "Ctrl+Y"),
            enabled=lambda: own.redo_text is not None,
        ),
    ]
