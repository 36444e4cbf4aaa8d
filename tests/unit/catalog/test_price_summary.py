"""Ranges of prices: low, median and high by part and term."""

from __future__ import annotations

from typing import Any

from gpudesk.catalog.price_ranges import summarize_prices
from gpudesk.catalog.read import Catalog
from gpudesk.domain.claim import PriceRecord, Source, SourceKind

SOURCE = Source("own-list", "List", "Somebody", SourceKind.USER)


def price(
    usd: float | None,
    *,
    low: float | None = None,
    high: float | None = None,
    **fields: Any,  # noqa: ANN401 - whatever a price has
) -> PriceRecord:
    stated = {"accelerator": "l4", "term": "on_demand", **fields}
    return PriceRecord(id=str(usd), source=SOURCE, kind=SourceKind.USER, usd=usd, usd_low=low, usd_high=high, **stated)


def test_low_median_and_high_with_their_dates_and_providers() -> None:
    (found,) = summarize_prices(
        [
            price(1.0, provider="B", date="2026-03-01"),
            price(4.0, provider="A", date="2025-01"),
            price(2.0, provider="A"),
        ]
    )
    assert (found.low, found.median, found.high, found.count) == (1.0, 2.0, 4.0, 3)
    assert (found.oldest, found.newest, found.undated) == ("2025-01", "2026-03-01", 1)
    assert found.providers == ("A", "B")


def test_range_counts_once_by_its_middle() -> None:
    (found,) = summarize_prices([price(None, low=1.0, high=9.0), price(2.0), price(6.0)])
    assert (found.low, found.median, found.high) == (1.0, 5.0, 9.0)


def test_shipped_and_own_make_one_range() -> None:
    (together,) = summarize_prices([price(1.0), price(3.0, own=True)])
    assert (together.count, together.own_count, together.median) == (2, 1, 2.0)


def test_terms_have_an_order_and_purchases_come_last() -> None:
    terms = ("purchase", "spot", "reserved_1_year", "on_demand")
    found = summarize_prices([price(1.0, term=term) for term in terms])
    assert [each.term for each in found] == ["on_demand", "spot", "reserved_1_year", "purchase"]


def test_what_is_no_price_of_a_part_is_in_none() -> None:
    assert summarize_prices([price(None), price(1.0, accelerator=None)]) == ()
    refused = price(70_000.0, term="purchase", note="not taken")
    assert summarize_prices([refused]) == ()
    (kept,) = summarize_prices([price(70_000.0, term="purchase", note="our quote", own=True)])
    assert kept.own_count == 1


def test_shipped_prices_have_ranges(facts: Catalog) -> None:
    found = {(each.accelerator, each.term): each for each in summarize_prices(facts.prices())}
    spot, rent = found["h100-sxm", "spot"], found["h100-sxm", "on_demand"]
    assert spot.median < rent.median
    assert rent.low <= rent.median <= rent.high
    assert found["b200-hgx", "purchase"].high == 55_000
