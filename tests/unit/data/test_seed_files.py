"""The claims of the five documents and what became of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

Table = dict[str, Any]
Rows = list[dict[str, str]]
OTHER_THINGS = {
    "deepseek-v3",
    "deepseek-v4-flash",
    "devstral-2-123b",
    "flux1-dev",
    "gpt-oss-120b",
    "ltx-video-2b",
    "magi-1-24b",
    "magi-1-4.5b",
    "qwen3.5-122b-a10b",
    "sd3.5-large",
    "sdxl",
    "wan2.1-14b",
}
NOT_A_CLAIM = {"ARITHMETIC", "PUBLIC-RECORD"}


def test_all_claims_are_there(rows: Callable[[str], Rows]) -> None:
    claims = rows("claims/seeds.csv")
    assert len(claims) == len({claim["id"] for claim in claims}) == 373
    assert Counter(claim["source"] for claim in claims) == {
        "seed-000": 80,
        "seed-001": 41,
        "seed-002": 94,
        "seed-003": 68,
        "seed-004": 90,
    }


def test_a_claim_about_a_part_names_an_attribute_that_the_part_has(
    rows: Callable[[str], Rows], accelerators: dict[str, Table]
) -> None:
    for claim in rows("claims/seeds.csv"):
        for thing in filter(None, claim["thing"].split(";")):
            if thing in accelerators:
                named = filter(None, claim["thing_attribute"].split(";"))
                assert set(named) <= set(accelerators[thing]["attributes"]), claim["id"]
            else:
                assert thing in OTHER_THINGS, claim["id"]


@pytest.mark.parametrize(
    ("claim", "thing", "attribute"),
    [
        ("C000-014", "mi325x", "memory_bandwidth"),
        ("C000-002", "h200-sxm", "memory_label"),
        ("C000-019", "h200-sxm", "peak_dense_bf16"),
        ("C002-038", "mi325x", "tdp"),
        ("C003-008", "mi355x", "memory_bandwidth"),
        ("C000-004", "mi325x;h200-sxm", ""),
        ("C000-037", "mi325x", "price_low;price_high"),
        ("C000-010", "", ""),
    ],
)
def test_claims_point_at_the_right_figure(claim: str, thing: str, attribute: str, rows: Callable[[str], Rows]) -> None:
    claim_row = next(row for row in rows("claims/seeds.csv") if row["id"] == claim)
    assert (claim_row["thing"], claim_row["thing_attribute"]) == (thing, attribute)


def test_all_disputes_are_there_in_order(rows: Callable[[str], Rows]) -> None:
    assert [row["id"] for row in rows("disputes/seeds.csv")] == [f"D-{n:03d}" for n in range(1, 126)]


@pytest.mark.parametrize("table", ["disputes/seeds.csv", "disputes/hardware.csv"])
def test_a_dispute_is_between_known_claims_and_is_decided(table: str, rows: Callable[[str], Rows]) -> None:
    claim_ids = {claim["id"] for claim in rows("claims/seeds.csv")} | NOT_A_CLAIM
    for row in rows(table):
        assert row["claim_b"] in claim_ids, row["id"]
        assert row["claim_a"] in claim_ids - NOT_A_CLAIM or (row["claim_a"] == "" and table.endswith("hardware.csv"))
        assert all(row[field] for field in ("subject", "attribute", "disagreement", "verdict", "reason")), row["id"]


def test_disputes_of_hardware_name_their_part(rows: Callable[[str], Rows], accelerators: dict[str, Table]) -> None:
    disputes = rows("disputes/hardware.csv")
    for row in disputes:
        assert row["accelerator"] in row["thing"].split(";"), row["id"]
        assert row["thing_attribute"] in accelerators[row["accelerator"]]["attributes"], row["id"]
    fits = next(row for row in disputes if row["attribute"] == "405B in FP16 on one accelerator")
    assert fits["accelerator"] == "mi325x"
    assert "810 GB" in fits["reason"]


def test_a_dispute_about_a_part_names_a_part(rows: Callable[[str], Rows], accelerators: dict[str, Table]) -> None:
    for row in rows("disputes/seeds.csv"):
        for thing in filter(None, row["thing"].split(";")):
            assert thing in accelerators or thing in OTHER_THINGS, row["id"]
            if thing in accelerators:
                named = filter(None, row["thing_attribute"].split(";"))
                assert set(named) <= set(accelerators[thing]["attributes"]), row["id"]
