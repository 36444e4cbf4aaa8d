"""Headings between the prices of one part and the next: what it costs, from the lowest to the highest."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Final

from gpudesk.desktop.itemmodels.catalog_model import Heading, Line
from gpudesk.desktop.itemmodels.catalog_query import Sorting
from gpudesk.domain.catalog_tables import CatalogRow, CatalogTable, Section
from gpudesk.domain.claims import Price
from gpudesk.domain.formatting import Formatter
from gpudesk.sheets.catalog_words import word
from gpudesk.text import tr
from gpudesk.workbench.price_summary import PURCHASE, PriceRange, price_summary

_BETWEEN: Final = "   ·   "


def with_headings(
    table: CatalogTable, places: Sequence[int], sorting: Sorting | None, formatter: Formatter
) -> list[Line]:
    """Return the lines of a list: prices in the order of the catalog under a heading for each part."""
    if table.section is not Section.PRICES or sorting is not None:
        return list(places)
    lines: list[Line] = []
    for name, group in groupby(places, key=lambda place: str(table.rows[place].values[0])):
        members = list(group)
        lines.append(Heading(name, _summary([table.rows[place] for place in members], formatter)))
        lines.extend(members)
    return lines


def _summary(rows: Sequence[CatalogRow], formatter: Formatter) -> str:
    """Return low, median and high of each term."""
    prices = [row.item for row in rows if isinstance(row.item, Price)]
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
