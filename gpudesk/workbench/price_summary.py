"""Low, median and high of what accelerators cost by term: shipped and own prices, together or apart."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from typing import Final

from gpudesk.domain.claims import Price
from gpudesk.domain.price_ranges import PriceRange

PURCHASE: Final = "purchase"
#: Terms in the order of lists; others stand between, by their names.
_FIRST: Final = ("on_demand", "spot")


def price_summary(prices: Iterable[Price], *, apart: bool = False) -> tuple[PriceRange, ...]:
    """Return the range of each accelerator and term, in the order of first mention; rents before purchases.

    With `apart`, shipped and own prices make ranges of their own, the shipped first. Prices of no part of
    the catalog, without an amount, or refused by the catalog are in none.
    """
    groups: dict[tuple[str, str, bool | None], list[Price]] = {}
    for price in prices:
        if price.accelerator is not None and _amounts(price) and not _refused(price):
            key = (price.accelerator, price.term, price.own if apart else None)
            groups.setdefault(key, []).append(price)
    places = {part: place for place, part in enumerate(dict.fromkeys(part for part, _, _ in groups))}
    ordered = sorted(groups, key=lambda key: (places[key[0]], *_place(key[1]), key[2] is True))
    return tuple(_range(*key, groups[key]) for key in ordered)


def _range(accelerator: str, term: str, own: bool | None, prices: list[Price]) -> PriceRange:
    amounts = [_amounts(price) for price in prices]
    dates = sorted(price.date for price in prices if price.date is not None)
    return PriceRange(
        accelerator=accelerator,
        term=term,
        own=own,
        low=min(map(min, amounts)),
        # A price that is a range counts once, by its middle.
        median=statistics.median((min(each) + max(each)) / 2 for each in amounts),
        high=max(map(max, amounts)),
        count=len(prices),
        own_count=sum(price.own for price in prices),
        oldest=dates[0] if dates else None,
        newest=dates[-1] if dates else None,
        undated=len(prices) - len(dates),
        providers=tuple(sorted({price.provider for price in prices if price.provider})),
    )


def _amounts(price: Price) -> tuple[float, ...]:
    return tuple(each for each in (price.usd_low, price.usd, price.usd_high) if each is not None)


def _refused(price: Price) -> bool:
    """Whether the catalog keeps a price but does not take it: shipped purchases say so in their note."""
    return not price.own and price.term == PURCHASE and price.note is not None


def _place(term: str) -> tuple[int, str]:
    if term in _FIRST:
        return _FIRST.index(term), ""
    return (len(_FIRST) + (term == PURCHASE)), term
