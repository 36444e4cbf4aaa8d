"""The foot of the comparison table: what its marks mean."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from gpudesk.desktop.widgets.mark_legend import TINT, MarkLegend
from gpudesk.domain.estimates import Basis
from gpudesk.sheets.comparison_parts import ComparedRow
from gpudesk.sheets.sheet import Mark
from gpudesk.text import tr

_BEST: Final = TINT
#: The order in which marks are explained.
_ORDER: Final = (_BEST, "overlap", "own", "disputed", *(basis.value for basis in Basis), "unfit")


def marks_in(rows: Iterable[ComparedRow]) -> tuple[str, ...]:
    """Return the marks that stand in these rows, in the order of their explanation."""
    found: set[str] = set()
    for row in rows:
        for cell in row.cells:
            if cell.mark in (Mark.BEST, Mark.TIED):
                found.add(_BEST)
            if cell.mark in (Mark.TIED, Mark.OPEN):
                found.add("overlap")
            elif cell.mark is Mark.FAILS:
                found.add("unfit")
            elif cell.basis is not None:
                found.add(cell.basis.value)
            if cell.own:
                found.add("own")
            if cell.disputed:
                found.add("disputed")
    return tuple(mark for mark in _ORDER if mark in found)


def explanation(mark: str) -> str:
    """Return what a mark means."""
    return {
        _BEST: tr("Best in row"),
        "overlap": tr("Bands overlap"),
        "own": tr("Your value"),
        "disputed": tr("Sources differ"),
        Basis.MEASURED.value: tr("Measured"),
        Basis.CALIBRATED.value: tr("Calibrated"),
        Basis.ESTIMATED.value: tr("Estimated"),
        Basis.UNCALIBRATED.value: tr("Uncalibrated"),
        "unfit": tr("Does not run as asked"),
    }[mark]


class Legend(MarkLegend):
    """Explains the marks that are in the table, and no others."""

    def show_marks(self, marks: tuple[str, ...]) -> None:
        """Explain these marks."""
        self.explain([(mark, explanation(mark)) for mark in marks])
