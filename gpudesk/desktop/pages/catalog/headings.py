"""Headings between the prices of one part and the next: what it costs, from the lowest to the highest."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import groupby
from typing import Final

from gpudesk.desktop.itemmodels.catalog_model import Heading, Line
from gpudesk.desktop.itemmodels.catalog_query import Sorting
from gpudesk.domain.catalog_tables import CatalogRow, CatalogTable, Section
from gpudesk.domain.claims import PURCHASE, Price
from gpudesk.domain.formatting import UNKNOWN, Formatter
from gpudesk.domain.price_ranges import PriceRange
from gpudesk.sheets.catalog_words import word
from gpudesk.text import tr
from gpudesk.workbench.price_summary import price_summary

_BETWEEN: Final = "   ·   "


def with_headings(
    table: CatalogTable, places: Sequence[int], sorting: Sorting | None, formatter: Formatter
) -> tuple[Sequence[Line], Sequence[int]]:
    """Return the lines of a list, and which of them are headings.

    Prices in the order of the catalog stand under a heading for each part; everything else under none.
    """
    if table.section is not Section.PRICES or sorting is not None:
        return places, ()
    rows = table.rows
    lines: list[Line] = []
    headings: list[int] = []
    for _, group in groupby(places, key=lambda place: rows[place].thing):
        members = list(group)
        title = rows[members[0]].values[0]
        note = partial(_summary, rows, members, formatter)
        headings.append(len(lines))
        lines.append(Heading(UNKNOWN if title is None else str(title), note))
        lines.extend(members)
    return lines, headings


def _summary(rows: Sequence[CatalogRow], members: Sequence[int], formatter: Formatter) -> str:
    """Return low, median and high of each term."""
    prices = [item for place in members if isinstance(item := rows[place].item, Price)]
    return _BETWEEN.join(_range_text(each, formatter) for each in price_summary(prices))


def _range_text(found: PriceRange, formatter: Formatter) -> str:
    decimals = 0 if found.term == PURCHASE else 2
    low, median, high = (
        formatter.number(amount, decimals) for amount in (found.low, found.median, found.high)
    )
    if low == high:
        return f"{word(found.term)} {low}"
    return tr(
        "{term} {low} – {high}, median {median}",
        term=word(found.term),
        low=low,
        high=high,
        median=median,
    )
