"""The catalog's tables for export: every figure with its unit, its source, its date, and whose it is."""

from collections.abc import Iterator
from typing import Any

import pytest

from gpudesk.catalog.read import Catalog
from gpudesk.domain.claim import ClaimPreference, Source, SourceKind
from gpudesk.domain.user_facts import UserAccelerator, UserClaim, UserFacts, UserPrice
from gpudesk.report.catalog_export import EXPORT_KINDS, build_catalog_table
from gpudesk.report.writers.export_table import ExportTable
from gpudesk.service import GpuDeskService

LAB = Source("own-lab-1", "Our lab", "us", SourceKind.MEASURED_INDEPENDENT, date="2026-10")


@pytest.fixture(scope="module")
def shipped_catalog() -> Iterator[Catalog]:
    with GpuDeskService.open() as service:
        yield service.catalog


@pytest.fixture(scope="module")
def catalog(shipped_catalog: Catalog) -> Catalog:
    today = "2026-11-01"
    return shipped_catalog.with_user_facts(
        UserFacts.of(
            [
                LAB,
                UserClaim("mi325x", "memory_bandwidth", 5.5e12, LAB.id, LAB.kind, today, "5.5 TB/s"),
                ClaimPreference("mi325x", "memory_bandwidth", LAB.id, 5.5e12, "measured by us", today),
                UserAccelerator("ours", "Ours", "Us", "hopper"),
                UserClaim("ours", "memory", 96 * 2**30, LAB.id, SourceKind.USER, today),
                UserClaim("ours", "memory_bandwidth", 2e12, LAB.id, SourceKind.USER, today),
                UserClaim("ours", "software_platform", "CUDA", LAB.id, SourceKind.USER, today),
                UserPrice("p1", "ours", "on_demand", LAB.id, SourceKind.USER, None, 1.5, 2.5, provider="=cmd"),
            ]
        )
    )


def records(table: ExportTable) -> list[dict[str, Any]]:
    keys = [column.key for column in table.head]
    assert len(set(keys)) == len(keys)
    return [dict(zip(keys, row, strict=True)) for row in table.rows]


def unit(table: ExportTable, key: str) -> str | None:
    return next(column.unit for column in table.head if column.key == key)


def test_exported_value_has_unit_source_date_and_kind(catalog: Catalog) -> None:
    table = build_catalog_table("accelerators", catalog)
    parts = {row["id"]: row for row in records(table)}
    assert len(parts) == len(catalog.accelerators())
    assert (parts["mi325x"]["memory_bandwidth"], unit(table, "memory_bandwidth")) == (5.5, "TB/s")
    assert parts["mi325x"]["memory_bandwidth_source"] == LAB.id
    assert parts["mi325x"]["memory_bandwidth_date"] == "2026-10"
    assert parts["mi325x"]["memory_bandwidth_kind"] == "measured independently"
    assert parts["mi325x"]["memory_bandwidth_own"] is True
    assert parts["h200-sxm"]["memory_bandwidth_own"] is False
    assert (parts["ours"]["own"], parts["ours"]["memory"], parts["ours"]["tdp"]) == (True, 96, None)
    named = {source.id for source in table.sources}
    assert LAB in table.sources
    for row in parts.values():
        assert {value for key, value in row.items() if key.endswith("_source")} <= named | {None}


def test_programs_get_the_units_used_inside_and_no_words_that_are_translated(catalog: Catalog) -> None:
    table = build_catalog_table("accelerators", catalog, for_programs=True)
    part = next(row for row in records(table) if row["id"] == "mi325x")
    assert (part["memory_bandwidth"], unit(table, "memory_bandwidth")) == (5.5e12, "B/s")
    assert part["memory_bandwidth_kind"] == "measured_independent"


def test_every_claim_has_a_row_with_its_status(catalog: Catalog) -> None:
    rows = records(build_catalog_table("claims", catalog))
    attributes = [each for thing in catalog.things() for each in catalog.attributes(thing.id)]
    assert len(rows) == sum(len(each.claims) for each in attributes)
    bandwidth = [r for r in rows if (r["thing"], r["attribute"]) == ("mi325x", "memory_bandwidth")]
    assert [row["stance"] for row in bandwidth].count("used") == 1
    assert (bandwidth[0]["value"], bandwidth[0]["unit"], bandwidth[0]["own"]) == (5.5, "TB/s", True)
    assert {(row["value"], row["source"]) for row in bandwidth} >= {(5.3, "seed-000"), (6, "seed-004")}


def test_prices_show_payment_period_and_user_values(catalog: Catalog) -> None:
    table = build_catalog_table("prices", catalog)
    rows = {row["id"]: row for row in records(table)}
    assert rows["p1"] | {"own": True, "usd_low": 1.5, "usd_high": 2.5, "per": "by the hour"} == rows["p1"]
    bought = next(row for row in rows.values() if row["term"] == "purchase")
    assert (bought["per"], bought["own"]) == ("once", False)


def test_user_facts_are_listed_next_to_shipped_ones(catalog: Catalog) -> None:
    rows = records(build_catalog_table("own", catalog))
    assert [row["fact"] for row in rows].count("claim") == 4
    claim_row = next(row for row in rows if row["thing"] == "mi325x" and row["fact"] == "claim")
    assert (claim_row["value"], claim_row["unit"], claim_row["shipped"]) == (5.5, "TB/s", 6)
    assert (claim_row["source_title"], claim_row["published"]) == ("Our lab", "5.5 TB/s")
    preference_row = next(row for row in rows if row["fact"] == "preference")
    assert (preference_row["reason"], preference_row["source"]) == ("measured by us", LAB.id)
    new = next(row for row in rows if row["thing"] == "ours" and row["attribute"] == "memory")
    assert (new["value"], new["unit"], new["shipped"]) == (96, "GiB", None)


def test_choice_of_a_removed_claim_is_still_listed(shipped_catalog: Catalog) -> None:
    gone = ClaimPreference("no-such-part", "tdp", "no-such-source", 500, "because", "2026-11-01")
    (row,) = records(build_catalog_table("own", shipped_catalog.with_user_facts(UserFacts.of([gone]))))
    assert (row["thing"], row["value"], row["source"]) == ("no-such-part", 500, "no-such-source")


@pytest.mark.parametrize("kind", EXPORT_KINDS)
def test_every_export_is_complete_and_names_its_catalog(catalog: Catalog, kind: str) -> None:
    for for_programs in (False, True):
        table = build_catalog_table(kind, catalog, for_programs=for_programs)
        assert table.rows
        assert all(len(row) == len(table.head) for row in table.rows)
        assert catalog.revision[:8] in table.notes[0]
        keys = {column.key for column in table.head}
        assert {column.about for column in table.head} <= keys | {None}


def test_user_sources_are_distinguished_from_shipped_ones(catalog: Catalog) -> None:
    rows = {row["source"]: row for row in records(build_catalog_table("sources", catalog))}
    assert len(rows) == len(catalog.sources())
    assert (rows[LAB.id]["own"], rows["seed-000"]["own"]) == (True, False)
