"""Facts of the catalog as cells: in units on display for people, in those used inside for programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from gpudesk.domain.claims import Attribute, Claim, ClaimValue, Kind, Source, Stance
from gpudesk.domain.formatting import Quantity, display_unit, in_display_unit, quantity_of
from gpudesk.sheets.claim_lines import stance_word
from gpudesk.sheets.labels import kind_label
from gpudesk.sheets.table_export import CellKind, CellValue, Column
from gpudesk.text import tr

#: Digits that are kept of a figure in its unit on display, which takes away what the division adds.
_DIGITS: Final = 12
#: Units that the name of what is counted says already.
_SAID_BY_NAME: Final = frozenset({"stacks", "generation"})


@dataclass(frozen=True, slots=True)
class ExportCells:
    """Makes cells. For programs figures are in the units used inside, and words are ids."""

    for_programs: bool = False

    def value(self, value: ClaimValue, attribute: str, unit: str | None) -> CellValue:
        """Return a claimed value; a list of words in one cell."""
        if isinstance(value, tuple):
            return ", ".join(value)
        if self.for_programs or isinstance(value, str | bool) or value is None:
            return value
        shown = float(f"{in_display_unit(value, quantity_of(attribute, unit)):.{_DIGITS}g}")
        return int(shown) if shown.is_integer() else shown

    def unit(self, attribute: str, unit: str | None) -> str | None:
        """Return the unit of the values that `value` gives; words and plain counts have none."""
        if self.for_programs:
            return unit
        quantity = quantity_of(attribute, unit)
        counted = None if quantity is not Quantity.COUNT or unit in _SAID_BY_NAME else unit
        return display_unit(quantity, attribute) or counted

    def kind(self, kind: Kind) -> str:
        """Return how a source came to its figure."""
        return kind.value if self.for_programs else kind_label(kind)

    def stance(self, stance: Stance) -> str:
        """Return how a claim stands."""
        return stance.value if self.for_programs else stance_word(stance)

    def source(self, source: Source) -> tuple[CellValue, ...]:
        """Return the cells of `source_columns`."""
        return (source.id, source.title, source.publisher, source.url)

    def whose(self, claim: Claim | None) -> tuple[CellValue, ...]:
        """Return the cells of `whose_columns`; empty ones where there is no claim."""
        if claim is None:
            return (None, None, None, None)
        return (claim.source.id, self.kind(claim.kind), claim.source.date, claim.own)


def source_columns() -> tuple[Column, ...]:
    """Return the columns that name a source in a row of its own."""
    return (
        Column("source", tr("Source")),
        Column("source_title", tr("Title")),
        Column("publisher", tr("Publisher")),
        Column("url", tr("Address")),
    )


def whose_columns(name: str, label: str) -> tuple[Column, ...]:
    """Return the columns that say of a figure in a wide table who states it, how and when."""
    return (
        Column(f"{name}_source", tr("{figure}: source", figure=label), about=name),
        Column(f"{name}_kind", tr("{figure}: kind", figure=label), about=name),
        Column(f"{name}_date", tr("{figure}: date", figure=label), kind=CellKind.DATE, about=name),
        Column(f"{name}_own", tr("{figure}: own", figure=label), kind=CellKind.YES_NO, about=name),
    )


def merged_names(things: Mapping[str, Mapping[str, Attribute]]) -> list[str]:
    """Return the names of the attributes of all things, each after the one that it follows somewhere."""
    names: list[str] = []
    for attributes in things.values():
        place = 0
        for name in attributes:
            if name in names:
                place = names.index(name) + 1
            else:
                names.insert(place, name)
                place += 1
    return names
