"""The sources: each stands once, says what it is, and is used."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

Table = dict[str, Any]
Rows = list[dict[str, str]]


def test_every_source_has_title_publisher_kind_and_valid_date(sources: Table) -> None:
    for slug, source in sources.items():
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9.]+)*", slug), slug
        assert source["title"], slug
        assert source["publisher"], slug
        assert source["kind"], slug
        assert source.get("url", "https://").startswith("https://"), slug
        assert re.fullmatch(r"\d{4}(-\d{2}(-\d{2})?)?", source.get("date", "2026")), slug


def test_the_five_documents_are_press(sources: Table) -> None:
    documents = {slug: source["kind"] for slug, source in sources.items() if slug.startswith("seed-")}
    assert documents == {f"seed-{number:03d}": "press" for number in range(5)}


def test_price_rows_name_known_sources(sources: Table, rows: Callable[[str], Rows]) -> None:
    for table in (
        "prices/cloud.csv",
        "prices/purchase.csv",
        "prices/missing.csv",
        "prices/api.csv",
        "claims/seeds.csv",
    ):
        assert {row["source"] for row in rows(table)} <= sources.keys(), table
