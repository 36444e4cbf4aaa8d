"""All actions of a window, and the dialogs that they open."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QDialog

from gpudesk.desktop.session.actions import ActionSpec, MenuId
from gpudesk.desktop.session.selection import EditorKind, EditorRequest
from gpudesk.desktop.session.settings import LANGUAGE, clear_recent, list_recent_files
from gpudesk.desktop.ui.theme import theme as themes
from gpudesk.desktop.window.menus import find_manual_topic, go_to_region
from gpudesk.documents.scenario_file import get_valid_note, list_templates, make_title
from gpudesk.domain.answer import Scenario
from gpudesk.text.messages import format_message
from gpudesk.text.translation import LANGUAGE_NAMES, available_languages, tr, translate_data

if TYPE_CHECKING:
    from gpudesk.desktop.window.catalog_link import CatalogController
    from gpudesk.desktop.window.document_window import DocumentWindow


def show_more_settings(window: DocumentWindow) -> None:
    """Show the settings that do not fit into the scenario bar; applying them is one step."""
    from gpudesk.desktop.window.dialogs.more_settings import MoreSettingsDialog

    desk, stored = window.desk, window.desk.scenario
    edited_scenario = replace(stored, name=make_title(stored, desk.service.catalog), note=get_valid_note(stored))

    def apply(scenario: Scenario) -> None:
        """Keep an unchanged title and note, so that they still follow the scenario."""
        name = stored.name if scenario.name == edited_scenario.name else scenario.name
        note = stored.note if scenario.note == edited_scenario.note else scenario.note
        desk.apply(replace(scenario, name=name, note=note), tr("Change settings"))

    _open(MoreSettingsDialog(window.theme, edited_scenario, apply, style=desk.formatter.style, parent=window))


def show_manual(window: DocumentWindow) -> None:
    """Show the manual at the topic of the focused control."""
    window.program.show_manual(find_manual_topic(window.focused() or window))


def show_keys(window: DocumentWindow) -> None:
    from gpudesk.desktop.window.dialogs.keyboard import KeyboardDialog, list_shortcuts
    from gpudesk.desktop.window.menus import list_menu_titles

    entries = list_shortcuts(window.actions_of_window(), list_menu_titles())
    _open(KeyboardDialog(window.theme, entries, window))


def show_about(window: DocumentWindow) -> None:
    from gpudesk.desktop.window.dialogs.about import AboutDialog, list_program_facts
    from gpudesk.third_party import list_third_party

    _open(AboutDialog(window.theme, list_program_facts(window.program.service), list_third_party(), window))


def show_installation_check(window: DocumentWindow) -> None:
    from gpudesk.desktop.window.dialogs.installation import InstallationDialog

    _open(InstallationDialog(window.theme, window))


def show_chooser(window: DocumentWindow) -> None:
    """Ask a few questions, and open the best catalog accelerators for the answers."""
    from gpudesk.desktop.window.dialogs.chooser import ChooserDialog

    dialog = ChooserDialog(window.desk, window.theme, window)
    dialog.found.connect(window.open_recommendation)
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()


def show_launch(window: DocumentWindow) -> None:
    from gpudesk.desktop.window.dialogs.launch import LaunchDialog

    desk = window.desk
    if desk.answer is not None:
        service = window.program.service
        _open(LaunchDialog(window.theme, service, desk.answer, desk.formatter, window))


def show_worked_examples(window: DocumentWindow) -> None:
    from gpudesk.desktop.window.dialogs.worked_examples import WorkedExamplesDialog

    service = window.program.service
    _open(
        WorkedExamplesDialog(
            window.theme,
            service.worked_examples,
            lambda source: service.catalog.source(source).title,
            window.desk.formatter,
            window,
        )
    )


def _open(dialog: QDialog) -> None:
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()


def list_catalog_actions(window: DocumentWindow, catalog: CatalogController) -> list[ActionSpec]:
    own = window.desk.service.user_catalog

    def writable() -> bool:
        return own.writable

    def open_editor(kind: EditorKind) -> partial[None]:
        return partial(catalog.open_editor, EditorRequest(kind))

    return [
        ActionSpec(
            "catalog.import",
            tr("Import…"),
            catalog.ask_for_imports,
            MenuId.CATALOG,
            0,
            "import",
            ("Ctrl+Shift+O",),
            enabled=writable,
            palette=tr("Import models, accelerators, prices or packs"),
        ),
        ActionSpec(
            "catalog.add_accelerator",
            tr("New accelerator…"),
            open_editor(EditorKind.ACCELERATOR),
            MenuId.CATALOG,
            0,
            "cpu",
            enabled=writable,
        ),
        ActionSpec(
            "catalog.add_system",
            tr("New system…"),
            open_editor(EditorKind.SYSTEM),
            MenuId.CATALOG,
            0,
            "server",
            enabled=writable,
        ),
        ActionSpec(
            "catalog.add_price",
            tr("New price…"),
            open_editor(EditorKind.PRICE),
            MenuId.CATALOG,
            0,
            "coins",
            enabled=writable,
        ),
        ActionSpec(
            "catalog.export",
            tr("Export table…"),
            catalog.export,
            MenuId.CATALOG,
            1,
            "table-2",
            palette=tr("Export a catalog table"),
        ),
        ActionSpec(
            "catalog.pack",
            tr("Share your values…"),
            catalog.make_pack,
            MenuId.CATALOG,
            1,
            "file-down",
            enabled=lambda: len(own.facts) > 0,
        ),
        ActionSpec("catalog.stale", tr("Age limits…"), open_editor(EditorKind.STALENESS), MenuId.CATALOG, 2, "history"),
        ActionSpec(
            "catalog.backups", tr("Backups of your values…"), catalog.show_backups, MenuId.CATALOG, 2, "database"
        ),
    ]


#: The text of an action, its function, and whether it is enabled.
_Undoing = tuple[str, Callable[[], object], Callable[[], bool]]


def _make_undo_actions(undo: _Undoing, redo: _Undoing) -> list[ActionSpec]:
    (undo_text, run_undo, can_undo), (redo_text, run_redo, can_redo) = undo, redo
    redo_keys = ("Ctrl+Shift+Z", "Ctrl+Y")
    return [
        ActionSpec("edit.undo", undo_text, run_undo, MenuId.EDIT, 0, "undo-2", ("Ctrl+Z",), enabled=can_undo),
        ActionSpec("edit.redo", redo_text, run_redo, MenuId.EDIT, 0, "redo-2", redo_keys, enabled=can_redo),
    ]


def list_undo_actions(window: DocumentWindow, catalog: CatalogController) -> list[ActionSpec]:
    """Return undo and redo of catalog edits, which are separate from the scenario's."""
    own, formatter = window.desk.service.user_catalog, window.desk.formatter
    undo, redo = tr("Undo in catalog"), tr("Redo in catalog")
    if own.undo_text is not None:
        undo = tr("Undo in catalog: {step}", step=format_message(own.undo_text, formatter))
    if own.redo_text is not None:
        redo = tr("Redo in catalog: {step}", step=format_message(own.redo_text, formatter))
    return _make_undo_actions(
        (undo, catalog.undo, lambda: own.undo_text is not None), (redo, catalog.redo, lambda: own.redo_text is not None)
    )


FONT_PERCENTS = (90, 100, 110, 125, 150)


def list_actions(window: DocumentWindow, catalog: CatalogController) -> list[ActionSpec]:
    """Return the actions of a window; those of the visible page come last."""
    return [
        *_file_actions(window),
        *_edit_actions(window, catalog),
        *_view_actions(window),
        *_scenario_actions(window),
        *list_catalog_actions(window, catalog),
        *_help_actions(window),
        *([] if window.page is None else window.page.actions_of_page()),
    ]


def _file_actions(window: DocumentWindow) -> list[ActionSpec]:
    document = window.document
    return [
        ActionSpec("file.new", tr("New scenario"), window.new, MenuId.FILE, 0, "file-plus", ("Ctrl+N",)),
        ActionSpec("file.choose", tr("Help me choose…"), partial(show_chooser, window), MenuId.FILE, 0, "signpost"),
        *(
            ActionSpec(
                f"file.template.{template.id}",
                translate_data(template.scenario.name),
                partial(window.open_template, template.id),
                MenuId.FILE,
                0,
                "layout-template",
                group=tr("New from template"),
                palette=tr("New: {name}", name=translate_data(template.scenario.name)),
            )
            for template in list_templates()
        ),
        ActionSpec("file.open", tr("Open…"), window.ask_to_open, MenuId.FILE, 0, "folder-open", ("Ctrl+O",)),
        *(
            ActionSpec(
                f"file.recent.{position}",
                path.name,
                partial(window.open_path, path),
                MenuId.FILE,
                0,
                "history",
                group=tr("Open recent"),
                palette=tr("Open {name}", name=path.name),
            )
            for position, path in enumerate(list_recent_files(window.settings))
        ),
        ActionSpec(
            "file.recent.clear",
            tr("Clear recent files"),
            partial(clear_recent, window.settings),
            MenuId.FILE,
            0,
            "x",
            enabled=lambda: bool(list_recent_files(window.settings)),
            group=tr("Open recent"),
        ),
        ActionSpec("file.save", tr("Save"), window.files.save, MenuId.FILE, 1, "save", ("Ctrl+S",)),
        ActionSpec("file.save_as", tr("Save as…"), window.files.save_as, MenuId.FILE, 1, shortcuts=("Ctrl+Shift+S",)),
        ActionSpec(
            "sheet.preview",
            tr("Preview sheet…"),
            window.preview,
            MenuId.FILE,
            2,
            "printer",
            ("Ctrl+P",),
            enabled=window.has_answer,
            palette=tr("Print or save the comparison sheet"),
        ),
        ActionSpec("file.close", tr("Close window"), window.close, MenuId.FILE, 3, "x", ("Ctrl+W",)),
        ActionSpec("file.quit", tr("Quit"), window.program.quit, MenuId.FILE, 3, "log-out", ("Ctrl+Q",)),
        ActionSpec(
            "file.start", tr("Show start page"), window.show_start, MenuId.FILE, 0, enabled=lambda: document.untouched
        ),
    ]


def _edit_actions(window: DocumentWindow, catalog: CatalogController) -> list[ActionSpec]:
    """Return undo and redo: of the catalog on its page, of the scenario elsewhere."""
    if window.is_page("catalog"):
        return list_undo_actions(window, catalog)
    stack = window.desk.undo_stack
    undo, redo = stack.undoText(), stack.redoText()
    return _make_undo_actions(
        (tr("Undo: {step}", step=undo) if undo else tr("Undo"), stack.undo, stack.canUndo),
        (tr("Redo: {step}", step=redo) if redo else tr("Redo"), stack.redo, stack.canRedo),
    )


def _view_actions(window: DocumentWindow) -> list[ActionSpec]:
    theme = window.theme
    looks = ((themes.SYSTEM, tr("System")), (themes.LIGHT, tr("Light")), (themes.DARK, tr("Dark")))
    icons = {themes.SYSTEM: "monitor", themes.LIGHT: "sun", themes.DARK: "moon"}
    languages = [(code, LANGUAGE_NAMES[code]) for code in available_languages() if code in LANGUAGE_NAMES]
    return [
        *(
            ActionSpec(
                f"view.page.{spec.id}",
                spec.title,
                partial(window.show_page, spec.id),
                MenuId.VIEW,
                0,
                spec.icon,
                (f"Ctrl+{spec.digit}",),
                checked=partial(window.is_page, spec.id),
                palette=tr("Go to {page}", page=spec.title),
            )
            for spec in window.page_specs
        ),
        ActionSpec(
            "view.panel",
            tr("Sources and calculation"),
            window.panel.toggle,
            MenuId.VIEW,
            1,
            "panel-right",
            ("Ctrl+I",),
            checked=lambda: window.panel.shown,
            palette=tr("Show or hide sources and calculation"),
        ),
        ActionSpec("view.rail", tr("Collapse sidebar"), window.rail.toggle, MenuId.VIEW, 1, "panel-left-close"),
        *(
            ActionSpec(
                f"view.theme.{look}",
                title,
                partial(window.program.set_theme, look),
                MenuId.VIEW,
                2,
                icons[look],
                group=tr("Theme"),
                checked=lambda look=look: theme.preference == look,  # type: ignore[misc]
                palette=tr("Theme: {name}", name=title),
            )
            for look, title in looks
        ),
        *(
            ActionSpec(
                f"view.text.{percent}",
                tr("{n}%", n=percent),
                partial(window.program.set_font_percent, percent),
                MenuId.VIEW,
                2,
                "a-large-small",
                group=tr("Text size"),
                checked=lambda percent=percent: theme.font_percent == percent,  # type: ignore[misc]
                palette=tr("Text size: {n}%", n=percent),
            )
            for percent in FONT_PERCENTS
        ),
        *(
            ActionSpec(
                f"view.language.{code or 'system'}",
                name,
                partial(window.program.set_language, code),
                MenuId.VIEW,
                2,
                "languages",
                group=tr("Language"),
                checked=lambda code=code: window.settings.get(LANGUAGE, "") == code,  # type: ignore[misc]
                palette=tr("Language: {name}", name=name),
            )
            for code, name in (("", tr("As the system")), *languages)
        ),
        ActionSpec(
            "view.next_region",
            tr("Go to next region"),
            partial(go_to_region, window, 1),
            MenuId.VIEW,
            3,
            shortcuts=("F6",),
        ),
        ActionSpec(
            "view.previous_region",
            tr("Go to previous region"),
            partial(go_to_region, window, -1),
            MenuId.VIEW,
            3,
            shortcuts=("Shift+F6",),
        ),
    ]


def _scenario_actions(window: DocumentWindow) -> list[ActionSpec]:
    desk = window.desk
    return [
        ActionSpec(
            "scenario.add",
            tr("Add accelerator…"),
            window.chips.open_list,
            MenuId.SCENARIO,
            0,
            "plus",
            ("A",),
            enabled=window.chips.add.isEnabled,
            single_key=True,
        ),
        ActionSpec(
            "scenario.model",
            tr("Choose model…"),
            window.choose_model,
            MenuId.SCENARIO,
            0,
            "cpu",
            ("M",),
            single_key=True,
        ),
        ActionSpec(
            "scenario.settings",
            tr("More settings…"),
            partial(show_more_settings, window),
            MenuId.SCENARIO,
            1,
            "sliders-horizontal",
            ("Ctrl+,",),
        ),
        ActionSpec(
            "scenario.launch",
            tr("Launch commands…"),
            partial(show_launch, window),
            MenuId.SCENARIO,
            3,
            "corner-down-right",
            ("Ctrl+L",),
            enabled=window.has_answer,
            palette=tr("Show launch commands for a deployment"),
        ),
        ActionSpec(
            "scenario.rank_announced",
            tr("Rank announced accelerators"),
            window.ranking.toggle,
            MenuId.SCENARIO,
            1,
            checked=lambda: window.ranking.announced,
            palette=tr("Rank announced accelerators with available ones"),
        ),
        ActionSpec(
            "scenario.pin",
            tr("Pin result"),
            desk.pin_ghost,
            MenuId.SCENARIO,
            2,
            "ghost",
            ("Ctrl+G",),
            enabled=window.has_answer,
        ),
        ActionSpec(
            "scenario.unpin",
            tr("Unpin result"),
            desk.clear_ghost,
            MenuId.SCENARIO,
            2,
            "pin-off",
            ("Ctrl+Shift+G",),
            enabled=lambda: desk.ghost is not None,
        ),
    ]


def _help_actions(window: DocumentWindow) -> list[ActionSpec]:
    return [
        ActionSpec(
            "help.palette", tr("Search or run a command…"), window.open_palette, MenuId.HELP, 0, "search", ("Ctrl+K",)
        ),
        ActionSpec("help.manual", tr("Manual"), partial(show_manual, window), MenuId.HELP, 0, "circle-help", ("F1",)),
        ActionSpec(
            "help.keys", tr("Keyboard shortcuts"), partial(show_keys, window), MenuId.HELP, 0, "keyboard", ("Ctrl+F1",)
        ),
        ActionSpec(
            "help.examples", tr("Checked claims…"), partial(show_worked_examples, window), MenuId.HELP, 0, "microscope"
        ),
        ActionSpec("help.logs", tr("Open log folder"), window.program.open_logs, MenuId.HELP, 1, "folder"),
        ActionSpec(
            "help.check",
            tr("Check installation…"),
            partial(show_installation_check, window),
            MenuId.HELP,
            1,
            "circle-check",
        ),
        ActionSpec("help.about", tr("About GPU Desk"), partial(show_about, window), MenuId.HELP, 2, "info"),
    ]
