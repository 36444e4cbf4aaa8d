"""The list of all actions of a window: what menus, shortcuts, the palette and the keyboard help show."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from gpudesk.desktop.actions import ActionSpec, Menu
from gpudesk.desktop.session.recent import clear_recent, recent_files
from gpudesk.desktop.shell.catalog_actions import catalog_actions, undo_actions
from gpudesk.desktop.shell.dialog_calls import (
    show_about,
    show_installation_check,
    show_keys,
    show_launch,
    show_more_settings,
    show_worked_examples,
)
from gpudesk.desktop.shell.regions import go_to_region
from gpudesk.desktop.theme import theme as themes
from gpudesk.text import tr
from gpudesk.workbench.templates import templates

if TYPE_CHECKING:
    from gpudesk.desktop.main_window import MainWindow

FONT_PERCENTS = (90, 100, 110, 125, 150)


def all_actions(window: MainWindow) -> list[ActionSpec]:
    """Return the actions of a window; those of the page that is shown come last."""
    return [
        *_file(window),
        *_edit(window),
        *_view(window),
        *_scenario(window),
        *catalog_actions(window),
        *_help(window),
        *window.page_actions(),
    ]


def _file(window: MainWindow) -> list[ActionSpec]:
    document = window.document
    return [
        ActionSpec("file.new", tr("New scenario"), window.new, Menu.FILE, 0, "file-plus", ("Ctrl+N",)),
        *(
            ActionSpec(
                f"file.template.{template.id}",
                template.scenario.name,
                partial(window.open_template, template.id),
                Menu.FILE,
                0,
                "layout-template",
                group=tr("New from template"),
                palette=tr("New: {name}", name=template.scenario.name),
            )
            for template in templates()
        ),
        ActionSpec("file.open", tr("Open…"), window.ask_to_open, Menu.FILE, 0, "folder-open", ("Ctrl+O",)),
        *(
            ActionSpec(
                f"file.recent.{position}",
                path.name,
                partial(window.open_path, path),
                Menu.FILE,
                0,
                "history",
                group=tr("Open recent"),
                palette=tr("Open {name}", name=path.name),
            )
            for position, path in enumerate(recent_files(window.settings))
        ),
        ActionSpec(
            "file.recent.clear",
            tr("Forget recent files"),
            partial(clear_recent, window.settings),
            Menu.FILE,
            0,
            "x",
            enabled=lambda: bool(recent_files(window.settings)),
            group=tr("Open recent"),
        ),
        ActionSpec("file.save", tr("Save"), window.files.save, Menu.FILE, 1, "save", ("Ctrl+S",)),
        ActionSpec(
            "file.save_as", tr("Save as…"), window.files.save_as, Menu.FILE, 1, shortcuts=("Ctrl+Shift+S",)
        ),
        ActionSpec(
            "sheet.preview",
            tr("Preview the sheet…"),
            window.preview,
            Menu.FILE,
            2,
            "printer",
            ("Ctrl+P",),
            enabled=window.has_answer,
            palette=tr("Print or save the comparison sheet"),
        ),
        ActionSpec("file.close", tr("Close window"), window.close, Menu.FILE, 3, "x", ("Ctrl+W",)),
        ActionSpec("file.quit", tr("Quit"), window.program.quit, Menu.FILE, 3, "log-out", ("Ctrl+Q",)),
        ActionSpec(
            "file.start",
            tr("Show the start page"),
            window.show_start,
            Menu.FILE,
            0,
            enabled=lambda: document.untouched,
        ),
    ]


def _edit(window: MainWindow) -> list[ActionSpec]:
    """Return undo and redo: of the catalog on its page, of the scenario elsewhere."""
    if window.is_page("catalog"):
        return undo_actions(window)
    stack = window.desk.undo_stack
    undo, redo = stack.undoText(), stack.redoText()
    return [
        ActionSpec(
            "edit.undo",
            tr("Undo: {step}", step=undo) if undo else tr("Undo"),
            stack.undo,
            Menu.EDIT,
            0,
            "undo-2",
            ("Ctrl+Z",),
            enabled=stack.canUndo,
        ),
        ActionSpec(
            "edit.redo",
            tr("Redo: {step}", step=redo) if redo else tr("Redo"),
            stack.redo,
            Menu.EDIT,
            0,
            "redo-2",
            ("Ctrl+Shift+Z", "Ctrl+Y"),
            enabled=stack.canRedo,
        ),
    ]


def _view(window: MainWindow) -> list[ActionSpec]:
    theme = window.theme
    looks = ((themes.SYSTEM, tr("As the system")), (themes.LIGHT, tr("Light")), (themes.DARK, tr("Dark")))
    icons = {themes.SYSTEM: "monitor", themes.LIGHT: "sun", themes.DARK: "moon"}
    return [
        *(
            ActionSpec(
                f"view.page.{spec.id}",
                spec.title,
                partial(window.show_page, spec.id),
                Menu.VIEW,
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
            tr("Sources and working"),
            window.panel.toggle,
            Menu.VIEW,
            1,
            "panel-right",
            ("Ctrl+I",),
            checked=lambda: window.panel.shown,
            palette=tr("Show or hide sources and working"),
        ),
        ActionSpec(
            "view.rail", tr("Fold the list of pages"), window.toggle_rail, Menu.VIEW, 1, "panel-left-close"
        ),
        *(
            ActionSpec(
                f"view.theme.{look}",
                title,
                partial(window.program.set_theme, look),
                Menu.VIEW,
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
                tr("{n} %", n=percent),
                partial(window.program.set_font_percent, percent),
                Menu.VIEW,
                2,
                "a-large-small",
                group=tr("Size of text"),
                checked=lambda percent=percent: theme.font_percent == percent,  # type: ignore[misc]
                palette=tr("Size of text: {n} %", n=percent),
            )
            for percent in FONT_PERCENTS
        ),
        ActionSpec(
            "view.next_region",
            tr("Go to the next region"),
            partial(go_to_region, window, 1),
            Menu.VIEW,
            3,
            shortcuts=("F6",),
        ),
        ActionSpec(
            "view.previous_region",
            tr("Go to the region before"),
            partial(go_to_region, window, -1),
            Menu.VIEW,
            3,
            shortcuts=("Shift+F6",),
        ),
    ]


def _scenario(window: MainWindow) -> list[ActionSpec]:
    desk = window.desk
    return [
        ActionSpec(
            "scenario.add",
            tr("Add accelerator…"),
            window.chips.open_list,
            Menu.SCENARIO,
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
            Menu.SCENARIO,
            0,
            "cpu",
            ("M",),
            single_key=True,
        ),
        ActionSpec(
            "scenario.settings",
            tr("More settings…"),
            partial(show_more_settings, window),
            Menu.SCENARIO,
            1,
            "sliders-horizontal",
            ("Ctrl+,",),
        ),
        ActionSpec(
            "scenario.launch",
            tr("Launch commands…"),
            partial(show_launch, window),
            Menu.SCENARIO,
            3,
            "corner-down-right",
            ("Ctrl+L",),
            enabled=window.has_answer,
            palette=tr("Show the commands that launch a deployment"),
        ),
        ActionSpec(
            "scenario.rank_announced",
            tr("Rank announced parts"),
            window.ranking.toggle,
            Menu.SCENARIO,
            1,
            checked=lambda: window.ranking.announced,
            palette=tr("Rank announced parts beside shipping ones"),
        ),
        ActionSpec(
            "scenario.pin",
            tr("Pin this result"),
            desk.pin_ghost,
            Menu.SCENARIO,
            2,
            "ghost",
            ("Ctrl+G",),
            enabled=window.has_answer,
        ),
        ActionSpec(
            "scenario.unpin",
            tr("Let the pinned result go"),
            desk.clear_ghost,
            Menu.SCENARIO,
            2,
            "pin-off",
            ("Ctrl+Shift+G",),
            enabled=lambda: desk.ghost is not None,
        ),
    ]


def _help(window: MainWindow) -> list[ActionSpec]:
    return [
        ActionSpec(
            "help.palette",
            tr("Search or run a command…"),
            window.open_palette,
            Menu.HELP,
            0,
            "search",
            ("Ctrl+K",),
        ),
        ActionSpec(
            "help.keys",
            tr("Keyboard shortcuts"),
            partial(show_keys, window),
            Menu.HELP,
            0,
            "keyboard",
            ("F1",),
        ),
        ActionSpec(
            "help.examples",
            tr("Printed figures, worked out…"),
            partial(show_worked_examples, window),
            Menu.HELP,
            0,
            "microscope",
        ),
        ActionSpec(
            "help.logs", tr("Open the folder of logs"), window.program.open_logs, Menu.HELP, 1, "folder"
        ),
        ActionSpec(
            "help.check",
            tr("Check the installation…"),
            partial(show_installation_check, window),
            Menu.HELP,
            1,
            "circle-check",
        ),
        ActionSpec("help.about", tr("About GPU Desk"), partial(show_about, window), Menu.HELP, 2, "info"),
    ]
