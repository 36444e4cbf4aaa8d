"""Low, median and high of prices by accelerator and term, and the rents used in a comparison."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from typing import Final

from gpudesk.domain.accelerator import System
from gpudesk.domain.claim import PURCHASE_TERM, ApiPrice, PriceRecord, PriceSummary, ProviderClass, Source
from gpudesk.domain.cost import RENT_TERMS, ProviderRent, SameProviderRent, UncertainValue
from gpudesk.domain.user_facts import UserPrice, list_amounts, list_current_prices

_Price = PriceRecord | UserPrice
#: Accelerators that two provider classes must both rent out for a usual price ratio.
_LEAST_PAIRS: Final = 5


def summarize_prices(prices: Iterable[_Price]) -> tuple[PriceSummary, ...]:
    """Return the range of each accelerator and term, in the order of first mention; rents before purchases.

    Only the prices that `list_current_prices` returns count.
    """
    groups: dict[tuple[str, str], list[_Price]] = {}
    for price in list_current_prices(prices):
        groups.setdefault((price.accelerator or "", price.term), []).append(price)
    places = {part: place for place, part in enumerate(dict.fromkeys(part for part, _ in groups))}
    ordered = sorted(groups, key=lambda key: (places[key[0]], *_order_term(key[1])))
    return tuple(_summarize(*key, groups[key]) for key in ordered)


class ComparablePrices:
    """The prices of a catalog for comparisons: rents of one class of providers, and purchases.

    Rents of different classes differ more than accelerators do: only `find` decides which count.
    """

    def __init__(self, prices: Iterable[PriceRecord]) -> None:
        self._groups: dict[tuple[str, str], dict[ProviderClass, list[PriceRecord]]] = {}
        for price in list_current_prices(prices):
            provider_class = ProviderClass.UNKNOWN if price.term == PURCHASE_TERM else price.provider_class
            group = self._groups.setdefault((price.accelerator or "", price.term), {})
            group.setdefault(provider_class, []).append(price)
        self._summaries: dict[tuple[str, str, ProviderClass], PriceSummary] = {}
        self._provider_rents: dict[tuple[str, str], tuple[ProviderRent, ...]] = {}
        self._class_ratios: dict[tuple[str, ProviderClass], UncertainValue | None] = {}

    def find(self, accelerator: str, term: str, provider_class: ProviderClass | None) -> PriceSummary | None:
        """Return the range of the prices that count: those of the class, or of the first class that has any.

        The user's prices of providers without a known class count in every class. If the user has prices among them,
        only these count.
        """
        group = self._groups.get((accelerator, term))
        if not group:
            return None
        chosen = provider_class if provider_class in group else next(each for each in ProviderClass if each in group)
        assert chosen is not None
        key = accelerator, term, chosen
        if key not in self._summaries:
            unclassed = [] if chosen is ProviderClass.UNKNOWN else group.get(ProviderClass.UNKNOWN, [])
            prices = [*group[chosen], *unclassed]
            own = [price for price in prices if price.own]
            self._summaries[key] = _summarize(accelerator, term, own or prices)
        return self._summaries[key]

    def find_class_ratio(self, term: str, provider_class: ProviderClass) -> UncertainValue | None:
        """Return the ratio of specialized clouds' rents to those of a class of providers: lowest, median and highest.

        It is over the accelerators that both rent out; None with fewer than five of them.
        """
        key = term, provider_class
        if key not in self._class_ratios:
            pairs = [
                [self.find(accelerator, term, each) for each in (ProviderClass.SPECIALIZED, provider_class)]
                for (accelerator, of), group in self._groups.items()
                if of == term and ProviderClass.SPECIALIZED in group and provider_class in group
            ]
            ratios = [ours.median / theirs.median for ours, theirs in pairs if ours is not None and theirs is not None]
            enough = len(ratios) >= _LEAST_PAIRS
            ratio = UncertainValue(min(ratios), statistics.median(ratios), max(ratios)) if enough else None
            self._class_ratios[key] = ratio
        return self._class_ratios[key]

    def compare_same_provider(self, accelerator: str, against: str, term: str) -> tuple[SameProviderRent, ...]:
        """Return the ratio of the newest rents of two accelerators by the name of each provider that rents both."""
        ours, theirs = (
            {rent.provider: rent.usd_per_hour for rent in self.list_provider_rents(each, term)}
            for each in (accelerator, against)
        )
        return tuple(
            SameProviderRent(provider, accelerator, against, ours[provider] / theirs[provider])
            for provider in sorted(ours.keys() & theirs.keys())
        )

    def list_provider_rents(self, accelerator: str, term: str) -> tuple[ProviderRent, ...]:
        """Return the newest rent at each provider, the cheapest first; medians over markets belong to no provider."""
        key = accelerator, term
        if key not in self._provider_rents:
            offers: dict[tuple[str, ProviderClass], list[PriceRecord]] = {}
            for provider_class, prices in self._groups.get(key, {}).items():
                for price in prices:
                    if price.provider and price.usd is not None and provider_class is not ProviderClass.MARKET:
                        offers.setdefault((price.provider, provider_class), []).append(price)
            rents = (_take_newest(*provider, term, prices) for provider, prices in offers.items())
            self._provider_rents[key] = tuple(sorted(rents, key=lambda each: (each.usd_per_hour, each.provider)))
        return self._provider_rents[key]

    def list_specialized_rents(self, accelerator: str) -> tuple[ProviderRent, ...]:
        """Return the cheapest rent of an accelerator at specialized clouds on each term that they offer."""
        offers = (
            [
                rent
                for rent in self.list_provider_rents(accelerator, term)
                if rent.provider_class is ProviderClass.SPECIALIZED
            ]
            for term in RENT_TERMS
        )
        return tuple(rents[0] for rents in offers if rents)


def _take_newest(
    provider: str, provider_class: ProviderClass, term: str, prices: Sequence[PriceRecord]
) -> ProviderRent:
    date = max(price.date or "" for price in prices)
    newest = [price for price in prices if (price.date or "") == date]
    usd_per_hour = statistics.median(price.usd for price in newest if price.usd is not None)
    smallest = min(price.accelerators_in_instance or 1 for price in newest)
    return ProviderRent(provider, provider_class, term, usd_per_hour, date or None, smallest_instance=smallest)


def summarize_api_prices(prices: Sequence[ApiPrice]) -> dict[str, PriceSummary]:
    """Return the price ranges of providers for a hosted model, by the names of the cost inputs."""
    if not prices:
        return {}
    amounts = {
        "api_input_usd_per_million": [price.usd_per_million_input for price in prices],
        "api_output_usd_per_million": [price.usd_per_million_output for price in prices],
    }
    return {
        name: PriceSummary(
            accelerator=prices[0].model,
            term=name,
            low=min(usd),
            median=statistics.median(usd),
            high=max(usd),
            count=len(usd),
            user_count=0,
            oldest=min(price.date for price in prices),
            newest=max(price.date for price in prices),
            undated=0,
            providers=tuple(sorted({price.provider for price in prices})),
        )
        for name, usd in amounts.items()
    }


def summarize_system_prices(
    accelerator: str, systems: Sequence[System], sources: Sequence[Source | None]
) -> PriceSummary:
    """Return the price range of systems with an accelerator; all have a price, from these sources."""
    prices = [price for system in systems if (price := system.price_usd) is not None]
    dated = [source.date for source in sources if source is not None and source.date is not None]
    return PriceSummary(
        accelerator=accelerator,
        term=PURCHASE_TERM,
        low=min(price.low for price in prices),
        median=statistics.median(price.value for price in prices),
        high=max(price.high for price in prices),
        count=len(prices),
        user_count=sum(system.own for system in systems),
        oldest=min(dated, default=None),
        newest=max(dated, default=None),
        undated=len(sources) - len(dated),
        providers=tuple(sorted({system.name for system in systems})),
        sources=_order_sources((source, source.date) for source in sources if source is not None),
    )


def _summarize(accelerator: str, term: str, prices: Sequence[_Price]) -> PriceSummary:
    amounts = [list_amounts(price) for price in prices]
    dates = [price.date for price in prices if price.date is not None]
    classes = {price.provider_class for price in prices if isinstance(price, PriceRecord)} - {ProviderClass.UNKNOWN}
    return PriceSummary(
        accelerator=accelerator,
        term=term,
        low=min(map(min, amounts)),
        # A price range counts once, by its middle.
        median=statistics.median((min(each) + max(each)) / 2 for each in amounts),
        high=max(map(max, amounts)),
        count=len(prices),
        user_count=sum(price.own for price in prices),
        oldest=min(dates, default=None),
        newest=max(dates, default=None),
        undated=len(prices) - len(dates),
        providers=tuple(sorted({price.provider for price in prices if price.provider})),
        classes=tuple(each for each in ProviderClass if each in classes),
        smallest_instance=min(price.accelerators_in_instance or 1 for price in prices),
        sources=_order_sources((price.source, price.date) for price in prices if isinstance(price, PriceRecord)),
        is_used=all(isinstance(price, PriceRecord) and price.is_used for price in prices),
    )


def _order_sources(dated: Iterable[tuple[Source, str | None]]) -> tuple[Source, ...]:
    """Return sources once each, those with the newest prices first."""
    ordered = sorted(dated, key=lambda each: each[1] or "", reverse=True)
    return tuple({source.id: source for source, _ in ordered}.values())


def _order_term(term: str) -> tuple[int, str]:
    if term in RENT_TERMS:
        return RENT_TERMS.index(term), ""
    return (len(RENT_TERMS) + (term == PURCHASE_TERM)), term
