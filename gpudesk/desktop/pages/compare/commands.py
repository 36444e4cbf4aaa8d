"""Menus and actions of the comparison table, and the arrangement they change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Final

from PySide6.QtCore import QMimeData, QObject, QPoint, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu, QWidget

from gpudesk.desktop.pages.compare.comparison_model import (
    ComparisonArrangement,
    ComparisonModel,
    choose_next_row_sorting,
    move_row,
)
from gpudesk.desktop.pages.compare.table import ComparisonTableView
from gpudesk.desktop.session import scenario_edits
from gpudesk.desktop.session.actions import ActionSpec, MenuId
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.settings import UserSettings
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.qt_support import add_entry, make_menu, pop_up
from gpudesk.domain.answer import make_column_keys
from gpudesk.report.comparison.tables import ComparisonHead, ComparisonRow, ComparisonTable
from gpudesk.report.writers.clipboard import build_comparison_clipping
from gpudesk.text.translation import tr

_HIDDEN_ROWS: Final = "compare.hidden_rows"
_ROW_ORDER: Final = "compare.row_order"
_DIFFERENCES: Final = "compare.differences_only"


class ArrangementController(QObject):
    """Holds one `ComparisonArrangement`. Hidden columns and sorting last for the session."""

    changed = Signal()

    def __init__(self, settings: UserSettings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings = settings
        self.arrangement = ComparisonArrangement(
            differences_only=settings.get(_DIFFERENCES, default=False),
            hidden_rows=frozenset(_read_words(settings.get(_HIDDEN_ROWS, []))),
            row_order=_read_words(settings.get(_ROW_ORDER, [])),
        )

    def change(self, **fields: Any) -> None:  # noqa: ANN401 - any field of an arrangement
        self._take(replace(self.arrangement, **fields))

    def _take(self, arrangement: ComparisonArrangement) -> None:
        if arrangement == self.arrangement:
            return
        self.arrangement = arrangement
        self._settings.put(_HIDDEN_ROWS, sorted(arrangement.hidden_rows))
        self._settings.put(_ROW_ORDER, list(arrangement.row_order))
        self._settings.put(_DIFFERENCES, arrangement.differences_only)
        self.changed.emit()

    # Rows

    def hide_row(self, key: str) -> None:
        self.change(hidden_rows=self.arrangement.hidden_rows | {key})

    def show_all_rows(self) -> None:
        """Show all rows: none hidden, none filtered out."""
        self.change(hidden_rows=frozenset(), differences_only=False, filter="")

    def move_row(self, table: ComparisonTable, key: str, step: int) -> None:
        """Move a row up (-1) or down (1) within its group."""
        self._take(move_row(table, self.arrangement, key, step))

    # Columns

    def sort_by(self, table: ComparisonTable, key: str) -> None:
        """Order the columns by a row: best first, then the reverse, then as in the scenario."""
        self.change(sorting=choose_next_row_sorting(table, self.arrangement.sorting, key))

    def hide_column(self, key: str) -> None:
        self.change(hidden_columns=self.arrangement.hidden_columns | {key})

    def show_all_columns(self) -> None:
        self.change(hidden_columns=frozenset())

    def forget_columns(self, table: ComparisonTable) -> None:
        """Forget hidden columns that are no longer in the scenario; at least one column stays visible."""
        hidden = self.arrangement.hidden_columns & {head.key for head in table.heads}
        if len(hidden) == len(table.heads):
            hidden = frozenset()
        if hidden != self.arrangement.hidden_columns:
            self.arrangement = replace(self.arrangement, hidden_columns=hidden)


def _read_words(values: list[Any]) -> tuple[str, ...]:
    return tuple(value for value in values if isinstance(value, str))


#: Sections of the menus for the page's actions.
_SECTION: Final = 50


class ComparisonCommands:
    """Acts on the arrangement, the scenario and the clipboard; -1 means no row or no column."""

    def __init__(
        self,
        desk: Desk,
        theme: Theme,
        arranger: ArrangementController,
        model: ComparisonModel,
        view: ComparisonTableView,
    ) -> None:
        self._desk = desk
        self._theme = theme
        self._arranger = arranger
        self._model = model
        self._view = view

    # Rows

    def row_of(self, number: int) -> ComparisonRow | None:
        return self._model.lines[number].row if 0 <= number < len(self._model.lines) else None

    def _get_current_row(self) -> ComparisonRow | None:
        return self.row_of(self._view.currentIndex().row())

    def sort_by(self, number: int) -> None:
        row = self.row_of(number)
        if row is not None:
            self._sort(row.key)

    def _on_row(self, act: Callable[[str], object]) -> Callable[[], None]:
        """Return the command that acts on the current row, by its key."""

        def run() -> None:
            row = self._get_current_row()
            if row is not None:
                act(row.key)

        return run

    def _sort(self, key: str) -> None:
        self._arranger.sort_by(self._model.table, key)

    def _move(self, step: int, key: str) -> None:
        self._arranger.move_row(self._model.table, key, step)

    # Columns

    def _get_current_head(self) -> ComparisonHead | None:
        column = self._view.currentIndex().column()
        return self._model.head(column) if 0 <= column < self._model.columnCount() else None

    def _on_head(self, act: Callable[[ComparisonHead], object]) -> Callable[[], None]:
        """Return the command that acts on the current column."""

        def run() -> None:
            head = self._get_current_head()
            if head is not None:
                act(head)

        return run

    def _position(self, head: ComparisonHead) -> int | None:
        """Return the position of a column in the scenario, which can have changed since the answer."""
        keys = make_column_keys(self._desk.scenario.accelerators)
        return keys.index(head.key) if head.key in keys else None

    def set_baseline(self, head: ComparisonHead) -> None:
        position = self._position(head)
        if position:
            edited = scenario_edits.make_baseline(self._desk.scenario, position)
            self._desk.apply(edited, tr("Set {name} as baseline", name=head.name))

    def move_column(self, head: ComparisonHead, step: int) -> None:
        """Move a column past its visible neighbor, in the scenario's order."""
        self._arranger.change(sorting=None)
        target = self._find_neighbor(head, step)
        position = self._position(head)
        if position is not None and target is not None:
            edited = scenario_edits.move_accelerator(self._desk.scenario, position, target)
            self._desk.apply(edited, tr("Move {name}", name=head.name))

    def _find_neighbor(self, head: ComparisonHead, step: int) -> int | None:
        """Return the scenario position of the next visible column, in the scenario's order."""
        hidden = self._arranger.arrangement.hidden_columns
        visible_heads = [each for each in self._model.table.heads if each.key not in hidden]
        place = next((place for place, each in enumerate(visible_heads) if each.key == head.key), None)
        if place is None or not 0 <= place + step < len(visible_heads):
            return None
        return self._position(visible_heads[place + step])

    def remove_column(self, head: ComparisonHead) -> None:
        position = self._position(head)
        if position is not None:
            edited = scenario_edits.remove_accelerator(self._desk.scenario, position)
            self._desk.apply(edited, tr("Remove {name}", name=head.name))

    def _can_hide(self) -> bool:
        return self._get_current_head() is not None and self._model.columnCount() > 1

    # Copying

    def copy(self) -> None:
        """Copy the selected cells: a single one as its number, several with their labels; none copies the table."""
        cells = self._view.list_selected_indices()
        if not cells:
            self.copy_table()
            return
        rows = [row for number in sorted({row for row, _ in cells}) if (row := self.row_of(number))]
        columns = sorted({column for _, column in cells})
        self._copy(rows, [self._model.positions[column] for column in columns], with_heads=len(cells) > 1)

    def copy_table(self) -> None:
        rows = [line.row for line in self._model.lines if line.row is not None]
        self._copy(rows, list(self._model.positions), with_heads=True)

    def _copy(self, rows: list[ComparisonRow], positions: list[int], *, with_heads: bool) -> None:
        if not rows or not positions:
            return
        style = self._desk.formatter.style
        clipping = build_comparison_clipping(self._model.table, rows, positions, style, with_heads=with_heads)
        data = QMimeData()
        data.setText(clipping.text)
        data.setHtml(clipping.html)
        QGuiApplication.clipboard().setMimeData(data)

    # Menus

    def open_menu(self, row: int, column: int, place: QPoint, parent: QWidget) -> None:
        menu = make_menu(parent=parent)
        line_row = self.row_of(row)
        if line_row is not None:
            self._fill_row_menu(menu, line_row, with_copy=column >= 0)
        elif 0 <= column < self._model.columnCount():
            self._fill_head_menu(menu, self._model.head(column))
        pop_up(menu, place)

    def _fill_row_menu(self, menu: QMenu, row: ComparisonRow, *, with_copy: bool) -> None:
        if with_copy:
            add_entry(menu, self._theme.icon("copy"), tr("Copy"), self.copy)
        add_entry(menu, self._theme.icon("table-2"), tr("Copy table"), self.copy_table)
        menu.addSeparator()
        add_entry(menu, self._theme.icon("arrow-up-down"), tr("Sort columns by this row"), lambda: self._sort(row.key))
        if self._arranger.arrangement.sorting is not None:
            add_entry(menu, self._theme.icon("rotate-ccw"), tr("Reset column order"), self._unsort)
        menu.addSeparator()
        add_entry(menu, self._theme.icon("arrow-up"), tr("Move row up"), lambda: self._move(-1, row.key))
        add_entry(menu, self._theme.icon("arrow-down"), tr("Move row down"), lambda: self._move(1, row.key))
        add_entry(menu, self._theme.icon("eye-off"), tr("Hide row"), lambda: self._arranger.hide_row(row.key))
        if self._arranger.arrangement.hidden_rows:
            add_entry(menu, self._theme.icon("eye"), tr("Show all rows"), self._arranger.show_all_rows)

    def _fill_head_menu(self, menu: QMenu, head: ComparisonHead) -> None:
        baseline = add_entry(menu, self._theme.icon("equal"), tr("Set as baseline"), lambda: self.set_baseline(head))
        baseline.setEnabled(head.key != self._model.table.heads[0].key)
        menu.addSeparator()
        for step, icon, text in ((-1, "arrow-left", tr("Move left")), (1, "arrow-right", tr("Move right"))):
            entry = add_entry(menu, self._theme.icon(icon), text, partial(self.move_column, head, step))
            entry.setEnabled(self._find_neighbor(head, step) is not None)
        menu.addSeparator()
        hide = add_entry(
            menu, self._theme.icon("eye-off"), tr("Hide column"), lambda: self._arranger.hide_column(head.key)
        )
        hide.setEnabled(self._model.columnCount() > 1)
        if self._arranger.arrangement.hidden_columns:
            add_entry(menu, self._theme.icon("eye"), tr("Show all columns"), self._arranger.show_all_columns)
        remove = tr("Remove {name}", name=head.name)
        add_entry(menu, self._theme.icon("trash-2"), remove, lambda: self.remove_column(head))

    def _unsort(self) -> None:
        self._arranger.change(sorting=None)

    # Actions

    def actions(self) -> list[ActionSpec]:
        return [*self._copy_actions(), *self._list_row_actions(), *self._list_column_actions()]

    def _copy_actions(self) -> list[ActionSpec]:
        make = partial(ActionSpec, menu=MenuId.EDIT, section=_SECTION)
        return [
            make("compare.copy", tr("Copy selected cells"), self.copy, "copy"),
            make(
                "compare.copy_table",
                tr("Copy table"),
                self.copy_table,
                "table-2",
                ("Ctrl+Shift+C",),
                enabled=lambda: self._model.rowCount() > 0,
            ),
        ]

    def _list_row_actions(self) -> list[ActionSpec]:
        make = partial(ActionSpec, menu=MenuId.VIEW, section=_SECTION + 1)
        on_row = partial(make, enabled=lambda: self._get_current_row() is not None)
        sort, hide = self._on_row(self._sort), self._on_row(self._arranger.hide_row)
        up, down = (self._on_row(partial(self._move, step)) for step in (-1, 1))
        return [
            on_row("compare.sort", tr("Sort columns by this row"), sort, "arrow-up-down"),
            on_row("compare.row_up", tr("Move row up"), up, "arrow-up", ("Alt+Up",)),
            on_row("compare.row_down", tr("Move row down"), down, "arrow-down", ("Alt+Down",)),
            on_row("compare.hide_row", tr("Hide row"), hide, "eye-off"),
            make("compare.show_rows", tr("Show all rows"), self._arranger.show_all_rows, "eye"),
        ]

    def _list_column_actions(self) -> list[ActionSpec]:
        arranger = self._arranger
        make = partial(ActionSpec, menu=MenuId.VIEW, section=_SECTION + 2)
        on_column = partial(make, enabled=lambda: self._get_current_head() is not None)
        baseline, remove = self._on_head(self.set_baseline), self._on_head(self.remove_column)
        left, right = (self._on_head(partial(self.move_column, step=step)) for step in (-1, 1))
        hide = self._on_head(lambda head: arranger.hide_column(head.key))
        return [
            on_column("compare.baseline", tr("Set column as baseline"), baseline, "equal", ("B",), single_key=True),
            on_column("compare.left", tr("Move column left"), left, "arrow-left"),
            on_column("compare.right", tr("Move column right"), right, "arrow-right"),
            make(
                "compare.unsort",
                tr("Reset column order"),
                self._unsort,
                "rotate-ccw",
                enabled=lambda: arranger.arrangement.sorting is not None,
            ),
            make("compare.hide_column", tr("Hide column"), hide, "eye-off", enabled=self._can_hide),
            make(
                "compare.show_columns",
                tr("Show all columns"),
                arranger.show_all_columns,
                "eye",
                enabled=lambda: bool(arranger.arrangement.hidden_columns),
            ),
            on_column("compare.remove_column", tr("Remove this accelerator"), remove, "trash-2"),
        ]
