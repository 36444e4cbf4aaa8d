"""Low, median and high of what accelerators cost, by term."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from gpudesk.domain.claims import PURCHASE, Price
from gpudesk.domain.own_facts import OwnPrice
from gpudesk.domain.price_ranges import PriceRange

#: Terms in the order of lists; others stand between, by their names.
_FIRST: Final = ("on_demand", "spot")


class _Stated(NamedTuple):
    """A price and its ends, which are one where it is a single amount."""

    low: float
    high: float
    price: Price | OwnPrice


def price_summary(prices: Iterable[Price | OwnPrice]) -> tuple[PriceRange, ...]:
    """Return the range of each accelerator and term, in the order of first mention; rents before purchases.

    Prices of no part of the catalog, without an amount, or refused by the catalog are in none.
    """
    groups: dict[tuple[str, str], list[_Stated]] = {}
    for price in prices:
        amounts = [each for each in (price.usd_low, price.usd, price.usd_high) if each is not None]
        if price.accelerator is not None and amounts and not _refused(price):
            stated = _Stated(min(amounts), max(amounts), price)
            groups.setdefault((price.accelerator, price.term), []).append(stated)
    places = {part: place for place, part in enumerate(dict.fromkeys(part for part, _ in groups))}
    ordered = sorted(groups, key=lambda key: (places[key[0]], *_place(key[1])))
    return tuple(_range(*key, groups[key]) for key in ordered)


def _range(accelerator: str, term: str, stated: Sequence[_Stated]) -> PriceRange:
    prices = [each.price for each in stated]
    dates = [price.date for price in prices if price.date is not None]
    return PriceRange(
        accelerator=accelerator,
        term=term,
        low=min(each.low for each in stated),
        # A price that is a range counts once, by its middle.
        median=statistics.median((each.low + each.high) / 2 for each in stated),
        high=max(each.high for each in stated),
        count=len(prices),
        own_count=sum(price.own for price in prices),
        oldest=min(dates, default=None),
        newest=max(dates, default=None),
        undated=len(prices) - len(dates),
        providers=tuple(sorted({price.provider for price in prices if price.provider})),
    )


def _refused(price: Price | OwnPrice) -> bool:
    """Whether the catalog keeps a price but does not take it: shipped purchases say so in their note."""
    return not price.own and price.term == PURCHASE and price.note is not None


def _place(term: str) -> tuple[int, str]:
    if term in _FIRST:
        return _FIRST.index(term), ""
    return (len(_FIRST) + (term == PURCHASE)), term
