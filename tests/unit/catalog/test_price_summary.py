"""Ranges of prices: low, median and high by part and term."""

from __future__ import annotations

from typing import Any

import pytest

from gpudesk import paths
from gpudesk.catalog.price_ranges import ComparablePrices, summarize_prices
from gpudesk.catalog.read import Catalog
from gpudesk.domain.claim import PriceRecord, ProviderClass, Source, SourceKind
from gpudesk.domain.user_facts import list_current_prices

SOURCE = Source("own-list", "List", "Somebody", SourceKind.USER)


def price(
    usd: float | None,
    *,
    low: float | None = None,
    high: float | None = None,
    **fields: Any,  # noqa: ANN401 - whatever a price has
) -> PriceRecord:
    fields_of_price = {"accelerator": "l4", "term": "on_demand", **fields}
    return PriceRecord(
        id=str(usd), source=SOURCE, kind=SourceKind.USER, usd=usd, usd_low=low, usd_high=high, **fields_of_price
    )


def test_low_median_and_high_with_their_dates_and_providers() -> None:
    (summary,) = summarize_prices(
        [
            price(1.0, provider="B", date="2026-03-01"),
            price(4.0, provider="A", date="2025-01"),
            price(2.0, provider="A"),
        ]
    )
    assert (summary.low, summary.median, summary.high, summary.count) == (1.0, 2.0, 4.0, 3)
    assert (summary.oldest, summary.newest, summary.undated) == ("2025-01", "2026-03-01", 1)
    assert summary.providers == ("A", "B")


@pytest.mark.parametrize(
    ("dates", "is_old"),
    [
        (["2024-12-23"], True),
        (["2025-11-27"], True),
        (["2025-11-28"], False),
        (["2025-10"], True),
        (["2025-11"], False),
        (["2024"], True),
        (["2025"], False),
        (["2022-05", "2026-03"], False),
        (["2022-05", None], False),
        ([None], False),
    ],
)
def test_prices_are_old_that_all_have_a_date_before_the_last_year(dates: list[str | None], *, is_old: bool) -> None:
    (summary,) = summarize_prices([price(1.0, date=date) for date in dates])
    assert summary.is_older_than_year("2026-11-28") is is_old


def test_range_counts_once_by_its_middle() -> None:
    (summary,) = summarize_prices([price(None, low=1.0, high=9.0), price(2.0), price(6.0)])
    assert (summary.low, summary.median, summary.high) == (1.0, 5.0, 9.0)


def test_shipped_and_user_prices_make_one_range() -> None:
    (together,) = summarize_prices([price(1.0), price(3.0, own=True)])
    assert (together.count, together.user_count, together.median) == (2, 1, 2.0)


def test_terms_have_an_order_and_purchases_come_last() -> None:
    terms = ("purchase", "spot", "reserved_1_year", "on_demand")
    summaries = summarize_prices([price(1.0, term=term) for term in terms])
    assert [each.term for each in summaries] == ["on_demand", "spot", "reserved_1_year", "purchase"]


def test_prices_of_other_things_are_in_no_summary() -> None:
    assert summarize_prices([price(None), price(1.0, accelerator=None)]) == ()
    refused = price(70_000.0, term="purchase", note="not taken")
    assert summarize_prices([refused]) == ()
    (summary,) = summarize_prices([price(70_000.0, term="purchase", note="our quote", own=True)])
    assert summary.user_count == 1


def test_shipped_prices_have_ranges(facts: Catalog) -> None:
    summaries = {(each.accelerator, each.term): each for each in summarize_prices(facts.prices())}
    spot, rent = summaries["h100-sxm", "spot"], summaries["h100-sxm", "on_demand"]
    assert spot.median < rent.median
    assert rent.low <= rent.median <= rent.high
    assert summaries["b200-hgx", "purchase"].high == 55_000


def rent(accelerator: str, usd: float, provider: str, provider_class: ProviderClass, **fields: Any) -> PriceRecord:  # noqa: ANN401
    return price(usd, accelerator=accelerator, provider=provider, provider_class=provider_class, **fields)


SPECIALIZED, HYPERSCALER, MARKETPLACE = (
    ProviderClass.SPECIALIZED,
    ProviderClass.HYPERSCALER,
    ProviderClass.MARKETPLACE,
)
#: At the hyperscaler of both, MI355X costs less than B200; at specialized clouds B200 costs less than either.
MIXED = (
    rent("mi355x", 8.6, "Oracle", HYPERSCALER, date="2026-09"),
    rent("b200-hgx", 14.0, "Oracle", HYPERSCALER, date="2026-09"),
    rent("b200-hgx", 20.0, "Oracle", HYPERSCALER, date="2025-09"),
    rent("b200-hgx", 5.0, "Lambda", SPECIALIZED),
    rent("l4", 0.5, "Vast", MARKETPLACE),
    rent("l4", 0.7, "Lambda", SPECIALIZED),
)


def test_rents_of_one_class_are_compared() -> None:
    prices = ComparablePrices(MIXED)
    theirs, ours = (prices.find(each, "on_demand", HYPERSCALER) for each in ("b200-hgx", "mi355x"))
    assert theirs is not None
    assert ours is not None
    assert ours.median < theirs.median
    assert theirs.classes == ours.classes == (HYPERSCALER,)


def test_each_accelerator_uses_its_first_provider_class() -> None:
    """Specialized clouds come first: one that only hyperscalers rent must not set the rents of the others."""
    prices = ComparablePrices(MIXED)
    ranges = [prices.find(each, "on_demand", None) for each in ("mi355x", "b200-hgx", "l4")]
    assert [each and each.classes for each in ranges] == [(HYPERSCALER,), (SPECIALIZED,), (SPECIALIZED,)]


def test_classes_have_a_usual_ratio_where_enough_accelerators_are_rented_out_by_both() -> None:
    pairs = [
        rent(f"part-{number}", usd, "Theirs", of)
        for number, ratio in enumerate((0.3, 0.4, 0.5, 0.6, 0.9))
        for usd, of in ((10.0, HYPERSCALER), (10.0 * ratio, SPECIALIZED))
    ]
    assert ComparablePrices(pairs).find_class_ratio("on_demand", HYPERSCALER) == (0.3, 0.5, 0.9)
    assert ComparablePrices(pairs[2:]).find_class_ratio("on_demand", HYPERSCALER) is None
    assert ComparablePrices(pairs).find_class_ratio("on_demand", MARKETPLACE) is None


def test_class_that_an_accelerator_lacks_leaves_it_its_first() -> None:
    summary = ComparablePrices(MIXED).find("mi355x", "on_demand", MARKETPLACE)
    assert summary is not None
    assert summary.classes == (HYPERSCALER,)


def test_price_of_the_user_without_a_known_provider_counts_in_every_class() -> None:
    own = rent("mi355x", 2.0, "Our provider", ProviderClass.UNKNOWN, own=True)
    prices = ComparablePrices((*MIXED, own))
    summary = prices.find("mi355x", "on_demand", HYPERSCALER)
    assert summary is not None
    assert (summary.low, summary.high, summary.user_count, summary.is_user_value) == (2.0, 2.0, 1, True)


def test_prices_of_the_user_count_alone() -> None:
    prices = ComparablePrices(
        [price(usd, term="purchase") for usd in (30_000.0, 35_000.0)]
        + [price(usd, term="purchase", own=True) for usd in (20_000.0, 24_000.0)]
    )
    summary = prices.find("l4", "purchase", None)
    assert summary is not None
    assert (summary.low, summary.median, summary.high, summary.count) == (20_000.0, 22_000.0, 24_000.0, 2)


def test_same_provider_compares_its_newest_rents() -> None:
    (summary,) = ComparablePrices(MIXED).compare_same_provider("mi355x", "b200-hgx", "on_demand")
    assert (summary.provider, round(summary.ratio, 2)) == ("Oracle", 0.61)
    assert ComparablePrices(MIXED).compare_same_provider("mi355x", "l4", "on_demand") == ()


def test_shipped_rents_of_mi355x_and_b200_have_one_class(facts: Catalog) -> None:
    prices = ComparablePrices(facts.prices())
    ours, theirs = (prices.find(each, "on_demand", HYPERSCALER) for each in ("mi355x", "b200-hgx"))
    assert ours is not None
    assert theirs is not None
    assert ours.classes == theirs.classes
    (oracle,) = (
        each
        for each in prices.compare_same_provider("mi355x", "b200-hgx", "on_demand")
        if each.provider == "Oracle Cloud (OCI)"
    )
    assert round(oracle.ratio, 2) == 0.61


def test_an_older_list_of_a_provider_is_replaced_by_its_newest() -> None:
    prices = [
        price(2.29, provider="A", date="2026-03", accelerators_in_instance=1),
        price(2.3, provider="A", date="2026-03", accelerators_in_instance=8),
        price(3.8, provider="A", date="2026-09-23", accelerators_in_instance=8),
        price(3.6, provider="A", date="2026-03", term="reserved_1y"),
        price(1.95, provider="B", date="2026-01"),
        price(1.5, provider="A", date="2026-01", own=True),
    ]
    current = [each.usd for each in list_current_prices(prices)]
    assert current == [3.8, 3.6, 1.95, 1.5]
    summary = ComparablePrices(prices[:5]).find("l4", "on_demand", None)
    assert summary is not None
    assert (summary.low, summary.median, summary.high, summary.count) == (1.95, 2.875, 3.8, 2)


def test_the_catalog_counts_only_the_newest_list_of_a_provider() -> None:
    current = list_current_prices(Catalog.open(paths.get_built_catalog_path()).prices())
    offers = {
        (each.accelerator, each.provider): each.usd
        for each in current
        if each.term == "on_demand" and each.provider == "DigitalOcean"
    }
    assert offers["mi325x", "DigitalOcean"] == 3.8
