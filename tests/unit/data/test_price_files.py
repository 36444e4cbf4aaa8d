"""The prices: every row kept, each with a figure or a range, each on a part of the catalog."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from gpudesk.domain.cost import RENT_TERMS

Table = dict[str, Any]
Rows = list[dict[str, str]]


def test_most_rents_have_a_date(rows: Callable[[str], Rows]) -> None:
    cloud = rows("prices/cloud.csv")
    assert len(cloud) >= 300
    assert sum(bool(row["date"]) for row in cloud) >= 0.95 * len(cloud)
    assert {row["term"] for row in cloud} == set(RENT_TERMS)


def test_a_cloud_price_is_a_figure_or_a_range(rows: Callable[[str], Rows]) -> None:
    for row in rows("prices/cloud.csv"):
        if row["usd_per_accelerator_hour"]:
            assert float(row["usd_per_accelerator_hour"]) > 0, row
        else:
            assert 0 < float(row["usd_low"]) < float(row["usd_high"]), row
        assert int(row["accelerators_in_instance"]) >= 1, row


def test_every_accelerator_in_production_has_a_price_or_a_note_that_none_is_public(
    rows: Callable[[str], Rows], accelerators: dict[str, Table]
) -> None:
    priced = {row["accelerator"] for row in rows("prices/cloud.csv") if row["date"] and row["provider"]}
    priced |= {row["accelerator"] for row in rows("prices/purchase.csv") if row["date"] and row["seller"]}
    noted = {row["accelerator"] for row in rows("prices/missing.csv") if row["note"]}
    for name, accelerator in accelerators.items():
        assert accelerator["announced"] or name in priced | noted, name


def test_purchases_have_amounts_and_the_reason_why_some_are_not_used(
    rows: Callable[[str], Rows], accelerators: dict[str, Table]
) -> None:
    purchase = rows("prices/purchase.csv")
    assert len(purchase) >= 70
    for row in purchase:
        assert row["accelerator"] in accelerators, row
        assert 0 < float(row["usd_low"]) <= float(row["usd_high"]), row
        assert not row["verdict"] or row["verdict"].startswith("not taken: "), row
        assert row["verdict"] or "used" not in row["basis"] or not _has_new_price(purchase, row["accelerator"]), row


def test_shares_of_racks_and_of_complete_systems_are_no_prices_of_accelerators(rows: Callable[[str], Rows]) -> None:
    for row in rows("prices/purchase.csv"):
        assert row["verdict"] or not re.search(r"(rack|DGX|server)\b.*divided", row["basis"]), row


def _has_new_price(purchase: Rows, accelerator: str) -> bool:
    return any(
        row["accelerator"] == accelerator and not row["verdict"] and not re.search("used|sales", row["basis"])
        for row in purchase
    )


def test_api_prices_are_those_of_at_least_ten_models(rows: Callable[[str], Rows]) -> None:
    api = rows("prices/api.csv")
    assert len({row["model"] for row in api}) >= 10
    assert all(row["date"] for row in api)


def test_the_same_shop_sells_the_amd_part_for_less_although_its_class_is_dearer(rows: Callable[[str], Rows]) -> None:
    """MI355X at a hyperscaler costs more than B200 at specialized clouds, and less than B200 at the same provider."""
    rents = {
        (row["provider"], row["accelerator"]): float(row["usd_per_accelerator_hour"])
        for row in rows("prices/cloud.csv")
        if row["term"] == "on_demand" and row["provider"] in ("Oracle Cloud (OCI)", "Lambda")
    }
    assert rents["Lambda", "b200-hgx"] < rents["Oracle Cloud (OCI)", "mi355x"]
    assert rents["Oracle Cloud (OCI)", "mi355x"] < rents["Oracle Cloud (OCI)", "b200-hgx"]
