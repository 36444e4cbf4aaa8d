"""The costs of the desk's answer, worked out once for all charts of the page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gpudesk.desktop.charts.columns import Part, parts
from gpudesk.desktop.session.desk import Desk
from gpudesk.domain.costs import CostAnswer, CostColumn
from gpudesk.domain.formatting import Formatter
from gpudesk.sheets.money import Money


@dataclass(frozen=True, slots=True)
class Costed:
    """Costs beside the columns that they are of, with what writes their amounts."""

    costs: CostAnswer
    parts: tuple[Part, ...]
    money: Money
    formatter: Formatter

    def pairs(self) -> Iterator[tuple[Part, CostColumn]]:
        """Yield each column of the comparison with its costs."""
        return zip(self.parts, self.costs.columns, strict=True)

    @property
    def names(self) -> dict[str, str]:
        """What columns are called, by key."""
        return {part.key: part.name for part in self.parts}

    def place(self, key: str) -> int:
        """Return the place of a column, 0 where there is none of the key."""
        return next((place for place, part in enumerate(self.parts) if part.key == key), 0)


def costed(desk: Desk) -> Costed | None:
    """Return the costs of the desk's answer; None without one."""
    answer = desk.answer
    if answer is None:
        return None
    money = Money(desk.formatter, answer.scenario.costs.currency)
    return Costed(desk.workbench.costing.costs(answer, brief=True), parts(answer), money, desk.formatter)
