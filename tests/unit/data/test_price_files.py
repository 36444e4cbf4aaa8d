"""The prices: every row kept, each with a figure or a range, each on a part of the catalog."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Table = dict[str, Any]
Rows = list[dict[str, str]]


def test_all_cloud_prices_are_there(rows: Callable[[str], Rows]) -> None:
    cloud = rows("prices/cloud.csv")
    assert len(cloud) == 108
    assert {row["term"] for row in cloud} == {"on_demand", "spot"}


def test_a_cloud_price_is_a_figure_or_a_range(rows: Callable[[str], Rows]) -> None:
    for row in rows("prices/cloud.csv"):
        if row["usd_per_accelerator_hour"]:
            assert float(row["usd_per_accelerator_hour"]) > 0, row
        else:
            assert 0 < float(row["usd_low"]) < float(row["usd_high"]), row
        assert int(row["accelerators_in_instance"]) >= 1, row


def test_a_part_outside_the_catalog_is_named_in_the_note(
    rows: Callable[[str], Rows], accelerators: dict[str, Table]
) -> None:
    outside = [row for row in rows("prices/cloud.csv") if row["accelerator"] not in accelerators]
    assert [(row["accelerator"], row["instance"]) for row in outside] == [("", "gpu_1x_gh200")]
    assert "GH200 96GB" in outside[0]["note"]


def test_whole_instances_are_priced_by_the_accelerator(rows: Callable[[str], Rows]) -> None:
    eight = [
        row
        for row in rows("prices/cloud.csv")
        if row["accelerator"] == "mi325x" and row["accelerators_in_instance"] == "8"
    ]
    assert [(row["source"], row["usd_per_accelerator_hour"]) for row in eight] == [("seed-000", "2.29")]


def test_all_purchase_prices_are_there(rows: Callable[[str], Rows], accelerators: dict[str, Table]) -> None:
    purchase = rows("prices/purchase.csv")
    assert len(purchase) == 21
    for row in purchase:
        assert row["accelerator"] in accelerators, row
        assert 0 < float(row["usd_low"]) <= float(row["usd_high"]), row
    assert [row["accelerator"] for row in purchase if row["verdict"]] == ["b200-hgx"]
