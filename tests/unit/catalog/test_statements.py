"""What the source documents state stands among the claims, as printed, and prefers nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from catalog_build.files import DataError
from catalog_build.writer import build_catalog, read_data_tables
from gpudesk.catalog.read import Catalog
from gpudesk.domain.claim import Claim

Edit = Callable[[str, str, str], None]


def claims_of(catalog: Catalog, thing: str, attribute: str) -> dict[str, Claim]:
    record = catalog.attribute(thing, attribute)
    return {statement: claim for claim in record.claims for statement in claim.statements}


def test_bandwidth_of_the_mi325x_has_both_figures_of_one_page_behind_it(catalog: Catalog) -> None:
    attribute = catalog.attribute("mi325x", "memory_bandwidth")
    claims = claims_of(catalog, "mi325x", "memory_bandwidth")
    assert attribute.value == 6e12
    assert (claims["C000-014"].value, claims["C000-014"].source.id) == (5.3e12, "seed-000")
    assert (claims["C000-070"].value, claims["C000-070"].source.id) == (6e12, "seed-000")
    assert (claims["C002-015"].value, claims["C002-015"].source.id) == (5.3e12, "seed-002")
    assert claims["C004-005"] is claims["C004-073"]
    assert claims["C000-070"].published == "6 TB/s"
    assert claims["C000-070"].conditions == "FAQ"


def test_statement_joins_the_claim_of_the_same_value(catalog: Catalog) -> None:
    stacks = catalog.attribute("mi325x", "memory_stacks")
    assert [claim.source.id for claim in stacks.claims] == ["seed-004", "seed-000"]
    assert [claim.statements for claim in stacks.claims] == [("C004-004",), ("C000-008",)]
    assert stacks.claims[0].preferred


def test_a_range_states_both_ends(catalog: Catalog) -> None:
    assert claims_of(catalog, "mi325x", "price_low")["C000-037"].value == 20000
    assert claims_of(catalog, "mi325x", "price_high")["C000-037"].value == 25000


def test_a_statement_about_two_parts_is_a_claim_of_each(catalog: Catalog) -> None:
    for part in ("mi325x", "h200-sxm"):
        claim = claims_of(catalog, part, "pcie_bandwidth")["C000-035"]
        assert claim.value == 128e9
        assert not claim.preferred


def test_less_detail_is_no_dispute(catalog: Catalog) -> None:
    node = claims_of(catalog, "h200-sxm", "process_node")["C000-025"]
    assert node.value == "5 nm"
    assert not catalog.attribute("h200-sxm", "process_node").disputed
    assert claims_of(catalog, "deepseek-v3", "total_parameters")["C001-029"].value == 670e9
    assert not catalog.attribute("deepseek-v3", "total_parameters").disputed


def test_statement_without_a_value_concerns_only_its_attribute(catalog: Catalog) -> None:
    unknown = next(statement for statement in catalog.seed_claims() if statement.id == "C000-020")
    assert unknown.concerns("mi325x", "peak_dense_bf16")
    assert "C000-020" not in claims_of(catalog, "mi325x", "peak_dense_bf16")


def test_every_statement_that_names_an_attribute_resolves(catalog: Catalog) -> None:
    statements = catalog.seed_claims()
    assert sum(bool(statement.things) for statement in statements) == 263
    assert sum(bool(statement.attributes) for statement in statements) == 89
    for statement in statements:
        for thing in statement.things:
            names = {attribute.name for attribute in catalog.attributes(thing)}
            assert set(statement.attributes) <= names, statement.id


def test_statements_prefer_nothing(data_dir: Path, tmp_path: Path, catalog: Catalog) -> None:
    seeds = data_dir / "claims" / "seeds.csv"
    seeds.write_text(seeds.read_text(encoding="utf-8").splitlines()[0] + "\n", encoding="utf-8")
    for name in ("seeds", "hardware"):
        table = data_dir / "disputes" / f"{name}.csv"
        table.write_text(table.read_text(encoding="utf-8").splitlines()[0] + "\n", encoding="utf-8")
    build_catalog(data_dir, tmp_path / "without.sqlite")
    with Catalog.open(tmp_path / "without.sqlite") as without:
        assert not without.seed_claims()
        for thing in catalog.things():
            mine = {each.name: each.value for each in catalog.attributes(thing.id)}
            assert mine == {each.name: each.value for each in without.attributes(thing.id)}, thing.id


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "mi325x,memory_bandwidth,,\n",
            "mi325x,memory_bandwidth,fast,\n",
            "stated: is no value of mi325x memory_bandwidth: 'fast' is no figure",
        ),
        (
            "mi325x,memory_bandwidth,,\n",
            "mi325x,memory_bandwidth,7.1,\n",
            "verdict: is missing: 7.1 differs from 6000, which is taken for mi325x memory_bandwidth",
        ),
        ("4.8,,TB/s", "4.8,,furlongs", "stated: is no value of h200-sxm memory_bandwidth: furlongs"),
        (",mi325x;h200-sxm,", ",mi325x;h2000,", "thing: there is no 'h2000' in the catalog"),
        (",mi325x;h200-sxm,", ",mi325x; h200-sxm,", "thing"),
    ],
)
def test_a_statement_that_cannot_be_joined_is_refused(
    old: str, new: str, message: str, data_dir: Path, edit: Edit
) -> None:
    edit("claims/seeds.csv", old, new)
    with pytest.raises(DataError) as caught:
        read_data_tables(data_dir)
    assert message in str(caught.value)
