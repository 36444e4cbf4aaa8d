"""The catalog's lists as items: order, filter and facets, made in pieces, and what Qt is told."""

from collections.abc import Iterator

import pytest
from pytestqt.modeltest import ModelTester

from gpudesk.desktop.itemmodels.catalog_model import CatalogModel, Heading
from gpudesk.desktop.itemmodels.catalog_query import (
    Facets,
    Sorting,
    largest_first,
    matching,
    next_sorting,
    ordered,
    ranked_end,
)
from gpudesk.desktop.itemmodels.catalog_shelf import Shelf
from gpudesk.domain.age_rule import AgeRule
from gpudesk.domain.catalog_tables import (
    CatalogRow,
    CatalogTable,
    CellValue,
    Column,
    ColumnKind,
    Section,
    stale_days,
)
from gpudesk.domain.claims import Kind
from gpudesk.domain.formatting import ENGLISH, Formatter, Quantity
from gpudesk.sheets.catalog_cells import CatalogWriter
from gpudesk.workbench.catalog_rows import catalog_table
from gpudesk.workbench.workbench import Workbench

TODAY = "2026-11-20"
COLUMNS = (
    Column("name", ColumnKind.NAME),
    Column("tdp", ColumnKind.FIGURE, Quantity.POWER, "tdp"),
    Column("date", ColumnKind.DATE),
    Column("age", ColumnKind.AGE),
)


def row(name: str, watts: CellValue, date: str | None = None, **fields: object) -> CatalogRow:
    return CatalogRow(name, (name, watts, date, date), date=date, **fields)  # type: ignore[arg-type]


@pytest.fixture
def table() -> CatalogTable:
    rows = (
        row("A", 700, "2025", maker="AMD", kinds=(Kind.PRESS,)),
        row("B", None, maker="NVIDIA", disputed=True),
        row("C", 9000, "2026-10-01", maker="NVIDIA", announced=True),
        row("D", 1000, "2026-11", maker="AMD", own=True, kinds=(Kind.USER,)),
        row("E", 700, "2024-05", maker="Intel", kinds=(Kind.PRESS, Kind.ESTIMATE)),
    )
    return CatalogTable(Section.ACCELERATORS, COLUMNS, rows)


def names(table: CatalogTable, places: list[int]) -> str:
    return "".join(table.rows[place].key for place in places)


@pytest.mark.parametrize(
    ("sorting", "among", "order"),
    [
        (None, False, "ABCDE"),
        (Sorting("tdp", descending=True), False, "DAEBC"),
        (Sorting("tdp", descending=False), False, "AEDBC"),
        (Sorting("tdp", descending=True), True, "CDAEB"),
        (Sorting("name", descending=True), False, "EDCBA"),
        (Sorting("date", descending=True), False, "DCAEB"),
        (Sorting("age", descending=True), False, "EACDB"),
        (Sorting("age", descending=False), False, "DCAEB"),
        (Sorting("no such column", descending=True), False, "ABCDE"),
    ],
)
def test_order_is_by_value_stable_with_the_unknown_last_and_the_announced_not_ranked(
    table: CatalogTable, sorting: Sorting | None, among: bool, order: str
) -> None:
    assert names(table, ordered(table, sorting, announced_among=among)) == order


def test_where_the_rows_begin_that_are_not_ranked(table: CatalogTable) -> None:
    by_power = Sorting("tdp", descending=True)
    places = ordered(table, by_power)
    assert ranked_end(table, places, by_power) == 4
    assert ranked_end(table, places[:4], by_power) == -1, "none of them is there"
    assert ranked_end(table, places[4:], by_power) == -1, "there is nothing that they stand after"
    assert ranked_end(table, ordered(table, None), None) == -1


def test_a_head_orders_one_way_then_the_other_then_as_the_catalog_does() -> None:
    first = next_sorting(None, "tdp", largest_first=largest_first(ColumnKind.FIGURE))
    assert first == Sorting("tdp", descending=True)
    second = next_sorting(first, "tdp", largest_first=True)
    assert second == Sorting("tdp", descending=False)
    assert next_sorting(second, "tdp", largest_first=True) is None
    assert next_sorting(first, "name", largest_first=largest_first(ColumnKind.NAME)) == Sorting("name", False)


@pytest.mark.parametrize(
    ("facets", "kept"),
    [
        (Facets(), "ABCDE"),
        (Facets(makers=frozenset({"AMD", "Intel"})), "ADE"),
        (Facets(kinds=frozenset({Kind.ESTIMATE, Kind.USER})), "DE"),
        (Facets(shipping=True), "ABDE"),
        (Facets(disputes=True), "B"),
        (Facets(own=True), "D"),
        (Facets(newer_than=60), "CD"),
        (Facets(stale=True), "E"),
        (Facets(own=True, disputes=True), ""),
    ],
)
def test_facets(table: CatalogTable, facets: Facets, kept: str) -> None:
    days = stale_days(AgeRule(), Section.ACCELERATORS)
    assert "".join(each.key for each in table.rows if facets.keeps(each, TODAY, days)) == kept
    assert facets.active == (facets != Facets())


def test_all_words_must_be_there() -> None:
    texts = ["h100 sxm nvidia", "mi300x amd", "h100 pcie nvidia"]
    assert matching(texts, range(3), "NVIDIA  h100") == [0, 2]
    assert matching(texts, [2, 0], "h100") == [2, 0], "the order stays"
    assert matching(texts, range(3), "   ") == [0, 1, 2]


@pytest.fixture(scope="module")
def workbench() -> Iterator[Workbench]:
    with Workbench.open() as opened:
        yield opened


def test_sections_made_in_pieces_are_those_made_at_once(workbench: Workbench) -> None:
    shelf = Shelf(workbench, Formatter(ENGLISH), TODAY)
    assert not shelf.is_ready(Section.CLAIMS)
    turns = 0
    while shelf.step(0.0005):
        turns += 1
    assert turns > 10
    for section in Section:
        assert shelf.is_ready(section)
        assert shelf.table(section) == catalog_table(section, workbench.catalog)


def test_what_is_typed_on_finds_the_same_as_what_is_typed_at_once(workbench: Workbench) -> None:
    def found(shelf: Shelf, words: str, facets: Facets = Facets()) -> list[int]:  # noqa: B008 - frozen
        return shelf.places(Section.CLAIMS, words, facets, None, announced_among=False, stale_days=365)

    grown = Shelf(workbench, Formatter(ENGLISH), TODAY)
    for words in ("m", "mi", "mi3", "mi325x", "mi325x band", "mi325x", "x", "", "h200", "h200 n"):
        fresh = Shelf(workbench, Formatter(ENGLISH), TODAY)
        assert found(grown, words) == found(fresh, words)
        press = Facets(kinds=frozenset({Kind.PRESS}))
        assert set(found(grown, words, press)) <= set(found(fresh, words))


def test_the_model_keeps_to_the_rules_of_qt(table: CatalogTable, qtmodeltester: ModelTester) -> None:
    model = CatalogModel()
    qtmodeltester.check(model)  # type: ignore[no-untyped-call]
    writer = CatalogWriter(table, Formatter(ENGLISH), TODAY)
    heading = Heading("AMD", lambda: "two parts")
    model.show(table, writer, [heading, 0, 3, 2], headings=[0])
    qtmodeltester.check(model)  # type: ignore[no-untyped-call]
    assert model.row(0) is None
    assert model.sentence(0, 0) == "AMD, two parts"
    assert model.index(1, 1).data() == "700"
    assert model.line_of("C") == 3
    assert model.line_of("B") == -1
    model.show(table, writer, [])
    qtmodeltester.check(model)  # type: ignore[no-untyped-call]


def test_stale_ages_are_said(table: CatalogTable) -> None:
    model = CatalogModel()
    model.mark_stale(TODAY, 365)
    model.show(table, CatalogWriter(table, Formatter(ENGLISH), TODAY), range(5))
    assert model.sentence(4, 3).endswith("stale")
    assert "stale" not in model.sentence(0, 3)
    model.mark_stale(TODAY, 10_000)
    assert "stale" not in model.sentence(4, 3)
