"""Keeps how the user has arranged the comparison table; what outlives the session lies in the settings."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from PySide6.QtCore import QObject, Signal

from gpudesk.desktop.itemmodels.arrangement import Arrangement, moved, next_sorting
from gpudesk.desktop.session.settings import Settings
from gpudesk.sheets.comparison_parts import ComparisonTable

_HIDDEN_ROWS: Final = "compare.hidden_rows"
_ROW_ORDER: Final = "compare.row_order"
_DIFFERENCES: Final = "compare.differences_only"


class Arranger(QObject):
    """Holds one `Arrangement`. Which columns are hidden and how they are ordered ends with the session."""

    changed = Signal()

    def __init__(self, settings: Settings, parent: QObject | None = None) -> None:
        """Begin with what the settings hold."""
        super().__init__(parent)
        self._settings = settings
        self._arrangement = Arrangement(
            differences_only=settings.get(_DIFFERENCES, default=False),
            hidden_rows=frozenset(_words(settings.get(_HIDDEN_ROWS, []))),
            row_order=_words(settings.get(_ROW_ORDER, [])),
        )

    @property
    def arrangement(self) -> Arrangement:
        """How things are arranged now."""
        return self._arrangement

    def change(self, **fields: Any) -> None:  # noqa: ANN401 - any field of an arrangement
        """Replace fields of the arrangement."""
        self._take(replace(self._arrangement, **fields))

    def _take(self, arrangement: Arrangement) -> None:
        if arrangement == self._arrangement:
            return
        self._arrangement = arrangement
        self._settings.put(_HIDDEN_ROWS, sorted(arrangement.hidden_rows))
        self._settings.put(_ROW_ORDER, list(arrangement.row_order))
        self._settings.put(_DIFFERENCES, arrangement.differences_only)
        self.changed.emit()

    # Rows

    def hide_row(self, key: str) -> None:
        """Hide a row."""
        self.change(hidden_rows=self._arrangement.hidden_rows | {key})

    def show_all_rows(self) -> None:
        """Show all rows: none hidden, none filtered out."""
        self.change(hidden_rows=frozenset(), differences_only=False, filter="")

    def move_row(self, table: ComparisonTable, key: str, step: int) -> None:
        """Move a row up (-1) or down (1) within its group."""
        self._take(moved(table, self._arrangement, key, step))

    # Columns

    def sort_by(self, table: ComparisonTable, key: str) -> None:
        """Order the columns by a row: best first, then the reverse, then as in the scenario."""
        self.change(sorting=next_sorting(table, self._arrangement.sorting, key))

    def hide_column(self, key: str) -> None:
        """Hide a column."""
        self.change(hidden_columns=self._arrangement.hidden_columns | {key})

    def show_all_columns(self) -> None:
        """Show all columns."""
        self.change(hidden_columns=frozenset())

    def forget_columns(self, table: ComparisonTable) -> None:
        """Let go of hidden columns that the scenario no longer has; one at least is always shown."""
        hidden = self._arrangement.hidden_columns & {head.key for head in table.heads}
        if len(hidden) == len(table.heads):
            hidden = frozenset()
        if hidden != self._arrangement.hidden_columns:
            self._arrangement = replace(self._arrangement, hidden_columns=hidden)


def _words(values: list[Any]) -> tuple[str, ...]:
    """Return the words of a list that came from a file."""
    return tuple(value for value in values if isinstance(value, str))
