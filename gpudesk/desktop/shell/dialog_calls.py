"""From the window to its dialogs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QDialog

from gpudesk.domain.scenarios import Scenario
from gpudesk.text import tr

if TYPE_CHECKING:
    from gpudesk.desktop.main_window import MainWindow


def show_more_settings(window: MainWindow) -> None:
    """Show what the scenario bar has no room for; what is applied is one step."""
    from gpudesk.desktop.shell.dialogs.more_settings import MoreSettingsDialog

    desk = window.desk

    def apply(scenario: Scenario) -> None:
        desk.apply(scenario, tr("Change of settings"))

    _open(MoreSettingsDialog(window.theme, desk.scenario, apply, style=desk.formatter.style, parent=window))


def show_keys(window: MainWindow) -> None:
    """Show all shortcuts by menu."""
    from gpudesk.desktop.shell.dialogs.keyboard import KeyboardDialog, shortcut_entries
    from gpudesk.desktop.shell.menus import menu_titles

    entries = shortcut_entries(window.actions_of_window(), menu_titles())
    _open(KeyboardDialog(window.theme, entries, window))


def show_about(window: MainWindow) -> None:
    """Show versions, the catalog's date and the licences of all parts."""
    from gpudesk.desktop.shell.dialogs.about import AboutDialog, program_facts
    from gpudesk.parts import parts

    _open(AboutDialog(window.theme, program_facts(window.program.workbench), parts(), window))


def show_installation_check(window: MainWindow) -> None:
    """Check the installation, and show what was found."""
    from gpudesk.desktop.shell.dialogs.installation import InstallationDialog

    _open(InstallationDialog(window.theme, window))


def show_launch(window: MainWindow) -> None:
    """Show the commands that start the deployments of the comparison, once it is answered."""
    from gpudesk.desktop.shell.dialogs.launch import LaunchDialog

    desk = window.desk
    if desk.answer is not None:
        workbench = window.program.workbench
        _open(LaunchDialog(window.theme, workbench, desk.answer, desk.formatter, window))


def show_worked_examples(window: MainWindow) -> None:
    """Show the figures of documents that are worked out again."""
    from gpudesk.desktop.shell.dialogs.worked_examples import WorkedExamplesDialog

    workbench = window.program.workbench
    _open(
        WorkedExamplesDialog(
            window.theme,
            workbench.worked_examples,
            lambda source: workbench.catalog.source(source).title,
            window.desk.formatter,
            window,
        )
    )


def _open(dialog: QDialog) -> None:
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()
