"""Headings between the prices of one part and the next: what it costs, from the lowest to the highest."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from statistics import median

from gpudesk.desktop.itemmodels.catalog_model import Heading, Line
from gpudesk.desktop.itemmodels.catalog_query import Sorting
from gpudesk.domain.catalog_tables import CatalogRow, CatalogTable, Section
from gpudesk.domain.claims import Price
from gpudesk.domain.formatting import Formatter
from gpudesk.sheets.catalog_words import word
from gpudesk.text import tr


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
    """Return low, median and high of each term that has several prices."""
    terms: dict[str, list[float]] = {}
    for row in rows:
        if isinstance(row.item, Price):
            terms.setdefault(row.item.term, []).extend(_ends(row.item))
    parts = []
    for term, amounts in terms.items():
        decimals = 0 if term == "purchase" else 2
        unit = "USD" if term == "purchase" else "USD/h"
        low, middle, high = (
            formatter.number(amount, decimals) for amount in (min(amounts), median(amounts), max(amounts))
        )
        if low == high:
            parts.append(tr("{term} {amount} {unit}", term=word(term), amount=low, unit=unit))
        else:
            parts.append(
                tr(
                    "{term} {low} – {high} {unit}, median {median}",
                    term=word(term),
                    low=low,
                    high=high,
                    median=middle,
                    unit=unit,
                )
            )
    return "   ·   ".join(parts)


def _ends(price: Price) -> list[float]:
    """Return the amounts that a price states: one, or the ends of a range."""
    if price.usd is not None:
        return [price.usd]
    return [end for end in (price.usd_low, price.usd_high) if end is not None]
