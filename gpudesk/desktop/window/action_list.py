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
from gpudesk.text.translation import LANGUAGE_NAMES, list_available_languages, tr, translate_data

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

    _open(MoreSettingsDialog(desk, window.theme, edited_scenario, apply, parent=window))


def show_manual(window: DocumentWindow) -> None:
    window.program.show_manual(find_manual_topic(window.focused() or window))


def show_keys(window: DocumentWindow) -> None:
    from gpudesk.desktop.window.dialogs.keyboard import KeyboardDialog, list_shortcuts
    from gpudesk.desktop.window.menus import list_menu_titles

    entries = list_shortcuts(window.list_window_actions(), list_menu_titles())
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
    user_catalog = window.desk.service.user_catalog

    def open_editor(kind: EditorKind) -> partial[None]:
        return partial(catalog.open_editor, EditorRequest(kind))

    make = partial(ActionSpec, menu=MenuId.CATALOG)
    new, share = partial(make, enabled=lambda: user_catalog.writable), partial(make, section=1)
    importing = tr("Import models, accelerators, prices or packs")
    return [
        new("catalog.import", tr("Import…"), catalog.ask_for_imports, "import", ("Ctrl+Shift+O",), palette=importing),
        new("catalog.add_accelerator", tr("New accelerator…"), open_editor(EditorKind.ACCELERATOR), "cpu"),
        new("catalog.add_system", tr("New system…"), open_editor(EditorKind.SYSTEM), "server"),
        new("catalog.add_price", tr("New price…"), open_editor(EditorKind.PRICE), "coins"),
        share("catalog.export", tr("Export table…"), catalog.export, "table-2", palette=tr("Export a catalog table")),
        share(
            "catalog.pack",
            tr("Share your values…"),
            catalog.make_pack,
            "file-down",
            enabled=lambda: len(user_catalog.facts) > 0,
        ),
        make("catalog.stale", tr("Age limits…"), open_editor(EditorKind.STALENESS), "history", section=2),
        make("catalog.backups", tr("Backups of your values…"), catalog.show_backups, "database", section=2),
    ]


#: The text of an action, its function, and whether it is enabled.
_Undoing = tuple[str, Callable[[], object], Callable[[], bool]]


def _make_undo_actions(undo: _Undoing, redo: _Undoing) -> list[ActionSpec]:
    (undo_text, run_undo, can_undo), (redo_text, run_redo, can_redo) = undo, redo
    make, redo_keys = partial(ActionSpec, menu=MenuId.EDIT), ("Ctrl+Shift+Z", "Ctrl+Y")
    return [
        make("edit.undo", undo_text, run_undo, "undo-2", ("Ctrl+Z",), enabled=can_undo),
        make("edit.redo", redo_text, run_redo, "redo-2", redo_keys, enabled=can_redo),
    ]


def list_undo_actions(window: DocumentWindow, catalog: CatalogController) -> list[ActionSpec]:
    """Return undo and redo of catalog edits, which are separate from the scenario's."""
    user_catalog, formatter = window.desk.service.user_catalog, window.desk.formatter
    undo, redo = tr("Undo in catalog"), tr("Redo in catalog")
    if user_catalog.undo_text is not None:
        undo = tr("Undo in catalog: {step}", step=format_message(user_catalog.undo_text, formatter))
    if user_catalog.redo_text is not None:
        redo = tr("Redo in catalog: {step}", step=format_message(user_catalog.redo_text, formatter))
    return _make_undo_actions(
        (undo, catalog.undo, lambda: user_catalog.undo_text is not None),
        (redo, catalog.redo, lambda: user_catalog.redo_text is not None),
    )


FONT_PERCENTS = (90, 100, 110, 125, 150)


def list_actions(window: DocumentWindow, catalog: CatalogController) -> list[ActionSpec]:
    """Return the actions of a window; those of the visible page come last."""
    return [
        *_list_file_actions(window),
        *_edit_actions(window, catalog),
        *_view_actions(window),
        *_list_scenario_actions(window),
        *list_catalog_actions(window, catalog),
        *_list_help_actions(window),
        *([] if window.page is None else window.page.list_page_actions()),
    ]


def _list_file_actions(window: DocumentWindow) -> list[ActionSpec]:
    document, files = window.document, window.files
    make = partial(ActionSpec, menu=MenuId.FILE)
    new, recent = partial(make, group=tr("New from template")), partial(make, group=tr("Open recent"))
    save, close = partial(make, section=1), partial(make, section=3)
    templates = [(each.id, translate_data(each.scenario.name)) for each in list_templates()]
    return [
        make("file.new", tr("New scenario"), window.new, "file-plus", ("Ctrl+N",)),
        make("file.choose", tr("Help me choose…"), partial(show_chooser, window), "signpost"),
        *(
            new(
                f"file.template.{key}",
                name,
                partial(window.open_template, key),
                "layout-template",
                palette=tr("New: {name}", name=name),
            )
            for key, name in templates
        ),
        make("file.open", tr("Open…"), window.ask_to_open, "folder-open", ("Ctrl+O",)),
        *(
            recent(
                f"file.recent.{position}",
                path.name,
                partial(window.open_path, path),
                "history",
                palette=tr("Open {name}", name=path.name),
            )
            for position, path in enumerate(list_recent_files(window.settings))
        ),
        recent(
            "file.recent.clear",
            tr("Clear recent files"),
            partial(clear_recent, window.settings),
            "x",
            enabled=lambda: bool(list_recent_files(window.settings)),
        ),
        save("file.save", tr("Save"), files.save, "save", ("Ctrl+S",)),
        save("file.save_as", tr("Save as…"), files.save_as, shortcuts=("Ctrl+Shift+S",)),
        make(
            "sheet.preview",
            tr("Preview sheet…"),
            window.preview,
            "printer",
            ("Ctrl+P",),
            section=2,
            enabled=window.desk.has_answer,
            palette=tr("Print or save the comparison sheet"),
        ),
        close("file.close", tr("Close window"), window.close, "x", ("Ctrl+W",)),
        close("file.quit", tr("Quit"), window.program.quit, "log-out", ("Ctrl+Q",)),
        make("file.start", tr("Show start page"), window.show_start, enabled=lambda: document.untouched),
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
    theme, program = window.theme, window.program
    looks = (
        (themes.SYSTEM, tr("System"), "monitor"),
        (themes.LIGHT, tr("Light"), "sun"),
        (themes.DARK, tr("Dark"), "moon"),
    )
    languages = [(code, LANGUAGE_NAMES[code]) for code in list_available_languages() if code in LANGUAGE_NAMES]
    make = partial(ActionSpec, menu=MenuId.VIEW)
    panel, style, go = partial(make, section=1), partial(make, section=2), partial(make, section=3)
    return [
        *(
            make(
                f"view.page.{spec.id}",
                spec.title,
                partial(window.show_page, spec.id),
                spec.icon,
                (f"Ctrl+{spec.digit}",),
                checked=partial(window.is_page, spec.id),
                palette=tr("Go to {page}", page=spec.title),
            )
            for spec in window.page_specs
        ),
        panel(
            "view.panel",
            tr("Sources and calculation"),
            window.panel.toggle,
            "panel-right",
            ("Ctrl+I",),
            checked=lambda: window.panel.is_visible,
            palette=tr("Show or hide sources and calculation"),
        ),
        panel("view.rail", tr("Collapse sidebar"), window.rail.toggle, "panel-left-close"),
        *(
            style(
                f"view.theme.{look}",
                title,
                partial(program.set_theme, look),
                icon,
                group=tr("Theme"),
                checked=lambda look=look: theme.preference == look,
                palette=tr("Theme: {name}", name=title),
            )
            for look, title, icon in looks
        ),
        *(
            style(
                f"view.text.{percent}",
                tr("{n}%", n=percent),
                partial(program.set_font_percent, percent),
                "a-large-small",
                group=tr("Text size"),
                checked=lambda percent=percent: theme.font_percent == percent,
                palette=tr("Text size: {n}%", n=percent),
            )
            for percent in FONT_PERCENTS
        ),
        *(
            style(
                f"view.language.{code or 'system'}",
                name,
                partial(program.set_language, code),
                "languages",
                group=tr("Language"),
                checked=lambda code=code: window.settings.get(LANGUAGE, "") == code,
                palette=tr("Language: {name}", name=name),
            )
            for code, name in (("", tr("As the system")), *languages)
        ),
        go("view.next_region", tr("Go to next region"), partial(go_to_region, window, 1), shortcuts=("F6",)),
        go(
            "view.previous_region",
            tr("Go to previous region"),
            partial(go_to_region, window, -1),
            shortcuts=("Shift+F6",),
        ),
    ]


def _list_scenario_actions(window: DocumentWindow) -> list[ActionSpec]:
    desk, chips, ranking = window.desk, window.chips, window.ranking
    make = partial(ActionSpec, menu=MenuId.SCENARIO)
    by_letter, on_answer = partial(make, single_key=True), partial(make, enabled=window.desk.has_answer)
    settings = partial(show_more_settings, window)
    return [
        by_letter("scenario.add", tr("Add accelerator…"), chips.open_list, "plus", ("A",), enabled=chips.add.isEnabled),
        by_letter("scenario.model", tr("Choose model…"), window.choose_model, "cpu", ("M",)),
        make("scenario.settings", tr("More settings…"), settings, "sliders-horizontal", ("Ctrl+,",), section=1),
        on_answer(
            "scenario.launch",
            tr("Launch commands…"),
            partial(show_launch, window),
            "corner-down-right",
            ("Ctrl+L",),
            section=3,
            palette=tr("Show launch commands for a deployment"),
        ),
        make(
            "scenario.rank_announced",
            tr("Rank announced accelerators"),
            ranking.toggle,
            section=1,
            checked=lambda: ranking.announced,
            palette=tr("Rank announced accelerators with available ones"),
        ),
        on_answer("scenario.pin", tr("Pin result"), desk.pin_ghost, "ghost", ("Ctrl+G",), section=2),
        make(
            "scenario.unpin",
            tr("Unpin result"),
            desk.clear_ghost,
            "pin-off",
            ("Ctrl+Shift+G",),
            section=2,
            enabled=lambda: desk.ghost is not None,
        ),
    ]


def _list_help_actions(window: DocumentWindow) -> list[ActionSpec]:
    make = partial(ActionSpec, menu=MenuId.HELP)
    support = partial(make, section=1)
    return [
        make("help.palette", tr("Search or run a command…"), window.open_palette, "search", ("Ctrl+K",)),
        make("help.manual", tr("Manual"), partial(show_manual, window), "circle-help", ("F1",)),
        make("help.keys", tr("Keyboard shortcuts"), partial(show_keys, window), "keyboard", ("Ctrl+F1",)),
        make("help.examples", tr("Checked claims…"), partial(show_worked_examples, window), "microscope"),
        support("help.logs", tr("Open log folder"), window.program.open_logs, "folder"),
        support("help.check", tr("Check installation…"), partial(show_installation_check, window), "circle-check"),
        make("help.about", tr("About GPU Desk"), partial(show_about, window), "info", section=2),
    ]
