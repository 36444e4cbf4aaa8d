"""What all pages have in common: they show the desk's answer while they are visible, and rest while not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QWidget

from gpudesk.desktop.actions import ActionSpec, Menu
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.settings import Settings
from gpudesk.desktop.theme.theme import Theme
from gpudesk.sentences import sentence
from gpudesk.text import tr


class Page(QWidget):
    """A page of the window. Subclasses set `page_id` and write `refresh`."""

    #: Short name in settings, actions and shortcuts.
    page_id = ""
    #: Whether the page shows figures against concurrency.
    needs_curves = False

    #: The user wants to fill in what is missing: `model` or `accelerators`.
    wanted = Signal(str)
    #: The user wants to see the sheet.
    preview_requested = Signal()
    #: The user wants to add or change a fact: an `EditorRequest` of the page Catalog.
    wanted_editor = Signal(object)
    #: The user wants to bring in facts from files, or to see the backups of the user's own.
    import_requested = Signal()
    backups_requested = Signal()

    def __init__(self, desk: Desk, theme: Theme, settings: Settings, parent: QWidget | None = None) -> None:
        """Keep what the page shows and how; nothing is computed until it is seen."""
        super().__init__(parent)
        self.desk = desk
        self.theme = theme
        self.settings = settings
        self._stale = True
        desk.answered.connect(self._answered)

    def refresh(self) -> None:
        """Show the desk's answer; called only while the page is visible."""
        raise NotImplementedError

    @property
    def problem_text(self) -> str:
        """Why the last edit cannot be answered, empty where it is."""
        wrong = self.desk.problem
        return "" if wrong is None else sentence(wrong.problem, self.desk.formatter)

    def actions_of_page(self) -> list[ActionSpec]:
        """Return the commands that this page adds while it is shown."""
        return []

    def focus_content(self) -> None:
        """Give the focus to what the page is about."""
        self.setFocus()

    def _answered(self) -> None:
        if self.isVisible():
            self._stale = False
            self.refresh()
        else:
            self._stale = True

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """Catch up with what happened while the page was hidden."""
        super().showEvent(event)
        if self.needs_curves:
            self.desk.want_curves(self.page_id, wanted=True)
            self.desk.flush()
        if self._stale:
            self._stale = False
            self.refresh()

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802 - Qt's name
        """Stop asking for curves."""
        super().hideEvent(event)
        if self.needs_curves:
            self.desk.want_curves(self.page_id, wanted=False)


def view_actions(
    page_id: str, group: str, views: Sequence[tuple[str, str]], choose: Callable[[str], object], section: int
) -> list[ActionSpec]:
    """Return an action for each view of a page, given as (key, text)."""
    return [
        ActionSpec(
            f"{page_id}.{key}",
            tr("Show {view}", view=text),
            partial(choose, key),
            Menu.VIEW,
            section,
            group=group,
        )
        for key, text in views
    ]


def chart_actions(
    page_id: str,
    section: int,
    table: tuple[str, Callable[[], object]],
    copy: tuple[str, Callable[[], object]],
    usable: Callable[[], bool],
) -> list[ActionSpec]:
    """Return what the charts of a page can be asked for: their numbers as a table, and a copy."""
    return [
        ActionSpec(
            f"{page_id}.table",
            *table,
            Menu.VIEW,
            section + 1,
            "table-2",
            ("Alt+T",),
            enabled=usable,
        ),
        ActionSpec(
            f"{page_id}.copy",
            *copy,
            Menu.EDIT,
            section,
            "copy",
            ("Ctrl+Shift+C",),
            enabled=usable,
        ),
    ]
