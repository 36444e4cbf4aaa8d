"""Low, median and high of prices by accelerator and term."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from gpudesk.domain.claim import PURCHASE_TERM, PriceRecord, PriceSummary
from gpudesk.domain.user_facts import UserPrice

#: Terms in the order of lists; others stand between, by their names.
_FIRST_TERMS: Final = ("on_demand", "spot")


class _PriceEnds(NamedTuple):
    """A price and its ends, which are one where it is a single amount."""

    low: float
    high: float
    price: PriceRecord | UserPrice


def summarize_prices(prices: Iterable[PriceRecord | UserPrice]) -> tuple[PriceSummary, ...]:
    """Return the range of each accelerator and term, in the order of first mention; rents before purchases.

    Prices of no part of the catalog, without an amount, or refused by the catalog are in none.
    """
    groups: dict[tuple[str, str], list[_PriceEnds]] = {}
    for price in prices:
        amounts = [each for each in (price.usd_low, price.usd, price.usd_high) if each is not None]
        if price.accelerator is not None and amounts and not _is_refused(price):
            stated = _PriceEnds(min(amounts), max(amounts), price)
            groups.setdefault((price.accelerator, price.term), []).append(stated)
    places = {part: place for place, part in enumerate(dict.fromkeys(part for part, _ in groups))}
    ordered = sorted(groups, key=lambda key: (places[key[0]], *_order_term(key[1])))
    return tuple(_make_range(*key, groups[key]) for key in ordered)


def _make_range(accelerator: str, term: str, stated: Sequence[_PriceEnds]) -> PriceSummary:
    prices = [each.price for each in stated]
    dates = [price.date for price in prices if price.date is not None]
    return PriceSummary(
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


def _is_refused(price: PriceRecord | UserPrice) -> bool:
    """Whether the catalog keeps a price but does not take it: shipped purchases say so in their note."""
    return not price.own and price.term == PURCHASE_TERM and price.note is not None


def _order_term(term: str) -> tuple[int, str]:
    if term in _FIRST_TERMS:
        return _FIRST_TERMS.index(term), ""
    return (len(_FIRST_TERMS) + (term == PURCHASE_TERM)), term
