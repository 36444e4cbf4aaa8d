"""The catalog's lists as item models: order, filters, stepwise creation, and signals."""

import pytest
from pytestqt.modeltest import ModelTester

from gpudesk.catalog.list_rows import make_catalog_table
from gpudesk.desktop.pages.catalog.catalog_model import (
    CatalogFacets,
    CatalogHeading,
    CatalogModel,
    CatalogSections,
    CatalogSorting,
    choose_next_column_sorting,
    find_matching,
    find_ranked_end,
    is_largest_first,
    order_places,
)
from gpudesk.domain.attributes import (
    CatalogCellValue,
    CatalogColumn,
    CatalogColumnKind,
    CatalogRow,
    CatalogSection,
    CatalogTable,
    get_stale_days,
)
from gpudesk.domain.claim import SourceKind, StalenessLimits
from gpudesk.report.catalog_lists import CatalogCellFormatter
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import ENGLISH_NUMBERS, Formatter, Quantity

TODAY = "2026-11-20"
COLUMNS = (
    CatalogColumn("name", CatalogColumnKind.NAME),
    CatalogColumn("tdp", CatalogColumnKind.FIGURE, Quantity.POWER, "tdp"),
    CatalogColumn("date", CatalogColumnKind.DATE),
    CatalogColumn("age", CatalogColumnKind.AGE),
)


def make_row(name: str, watts: CatalogCellValue, date: str | None = None, **fields: object) -> CatalogRow:
    return CatalogRow(name, (name, watts, date, date), date=date, **fields)  # type: ignore[arg-type]


@pytest.fixture
def table() -> CatalogTable:
    rows = (
        make_row("A", 700, "2025", maker="AMD", kinds=(SourceKind.PRESS,)),
        make_row("B", None, maker="NVIDIA", disputed=True),
        make_row("C", 9000, "2026-10-01", maker="NVIDIA", announced=True),
        make_row("D", 1000, "2026-11", maker="AMD", own=True, kinds=(SourceKind.USER,)),
        make_row("E", 700, "2024-05", maker="Intel", kinds=(SourceKind.PRESS, SourceKind.ESTIMATE)),
    )
    return CatalogTable(CatalogSection.ACCELERATORS, COLUMNS, rows)


def join_names(table: CatalogTable, positions: list[int]) -> str:
    return "".join(table.rows[position].key for position in positions)


@pytest.mark.parametrize(
    ("sorting", "announced_among", "order"),
    [
        (None, False, "ABCDE"),
        (CatalogSorting("tdp", descending=True), False, "DAEBC"),
        (CatalogSorting("tdp", descending=False), False, "AEDBC"),
        (CatalogSorting("tdp", descending=True), True, "CDAEB"),
        (CatalogSorting("name", descending=True), False, "EDCBA"),
        (CatalogSorting("date", descending=True), False, "DCAEB"),
        (CatalogSorting("age", descending=True), False, "EACDB"),
        (CatalogSorting("age", descending=False), False, "DCAEB"),
        (CatalogSorting("no such column", descending=True), False, "ABCDE"),
    ],
)
def test_sort_order_is_stable_with_unknown_and_announced_last(
    table: CatalogTable, sorting: CatalogSorting | None, announced_among: bool, order: str
) -> None:
    assert join_names(table, order_places(table, sorting, announced_among=announced_among)) == order


def test_end_of_the_ranked_rows(table: CatalogTable) -> None:
    by_power = CatalogSorting("tdp", descending=True)
    positions = order_places(table, by_power)
    assert find_ranked_end(table, positions, by_power) == 4
    assert find_ranked_end(table, positions[:4], by_power) == -1, "no unranked row is visible"
    assert find_ranked_end(table, positions[4:], by_power) == -1, "no ranked row is visible"
    assert find_ranked_end(table, order_places(table, None), None) == -1


def test_sorting_cycles_through_both_directions_and_none() -> None:
    first = choose_next_column_sorting(None, "tdp", largest_first=is_largest_first(CatalogColumnKind.FIGURE))
    assert first == CatalogSorting("tdp", descending=True)
    second = choose_next_column_sorting(first, "tdp", largest_first=True)
    assert second == CatalogSorting("tdp", descending=False)
    assert choose_next_column_sorting(second, "tdp", largest_first=True) is None
    assert choose_next_column_sorting(
        first, "name", largest_first=is_largest_first(CatalogColumnKind.NAME)
    ) == CatalogSorting("name", False)


@pytest.mark.parametrize(
    ("facets", "expected"),
    [
        (CatalogFacets(), "ABCDE"),
        (CatalogFacets(makers=frozenset({"AMD", "Intel"})), "ADE"),
        (CatalogFacets(kinds=frozenset({SourceKind.ESTIMATE, SourceKind.USER})), "DE"),
        (CatalogFacets(shipping=True), "ABDE"),
        (CatalogFacets(disputes=True), "B"),
        (CatalogFacets(own=True), "D"),
        (CatalogFacets(newer_than=60), "CD"),
        (CatalogFacets(stale=True), "E"),
        (CatalogFacets(own=True, disputes=True), ""),
    ],
)
def test_filters(table: CatalogTable, facets: CatalogFacets, expected: str) -> None:
    days = get_stale_days(StalenessLimits(), CatalogSection.ACCELERATORS)
    assert "".join(each.key for each in table.rows if facets.keeps(each, TODAY, days)) == expected
    assert facets.active == (facets != CatalogFacets())


def test_all_words_must_match() -> None:
    texts = ["h100 sxm nvidia", "mi300x amd", "h100 pcie nvidia"]
    assert find_matching(texts, range(3), "NVIDIA  h100") == [0, 2]
    assert find_matching(texts, [2, 0], "h100") == [2, 0], "the order is kept"
    assert find_matching(texts, range(3), "   ") == [0, 1, 2]


def test_sections_made_in_steps_equal_those_made_at_once(service: GpuDeskService) -> None:
    sections = CatalogSections(service.catalog, Formatter(ENGLISH_NUMBERS), TODAY)
    assert not sections.is_ready(CatalogSection.CLAIMS)
    steps = 0
    while sections.step(0.0005):
        steps += 1
    assert steps > 10
    for section in CatalogSection:
        assert sections.is_ready(section)
        assert sections.table(section) == make_catalog_table(section, service.catalog)


def test_extended_search_equals_a_new_one(service: GpuDeskService) -> None:
    def search(sections: CatalogSections, words: str, facets: CatalogFacets = CatalogFacets()) -> list[int]:  # noqa: B008 - frozen
        return sections.places(CatalogSection.CLAIMS, words, facets, None, announced_among=False, stale_days=365)

    extended = CatalogSections(service.catalog, Formatter(ENGLISH_NUMBERS), TODAY)
    for words in ("m", "mi", "mi3", "mi325x", "mi325x band", "mi325x", "x", "", "h200", "h200 n"):
        new = CatalogSections(service.catalog, Formatter(ENGLISH_NUMBERS), TODAY)
        assert search(extended, words) == search(new, words)
        press = CatalogFacets(kinds=frozenset({SourceKind.PRESS}))
        assert set(search(extended, words, press)) <= set(search(new, words))


def test_model_passes_the_model_tester(table: CatalogTable, qtmodeltester: ModelTester) -> None:
    model = CatalogModel()
    qtmodeltester.check(model)  # type: ignore[no-untyped-call]
    writer = CatalogCellFormatter(table, Formatter(ENGLISH_NUMBERS), TODAY)
    heading = CatalogHeading("AMD", lambda: "two parts")
    model.show(table, writer, [heading, 0, 3, 2], headings=[0])
    qtmodeltester.check(model)  # type: ignore[no-untyped-call]
    assert model.row(0) is None
    assert model.sentence(0, 0) == "AMD, two parts"
    assert model.index(1, 1).data() == "700"
    assert model.find_catalog_line("C") == 3
    assert model.find_catalog_line("B") == -1
    model.show(table, writer, [])
    qtmodeltester.check(model)  # type: ignore[no-untyped-call]


def test_stale_ages_are_marked(table: CatalogTable) -> None:
    model = CatalogModel()
    model.mark_stale(TODAY, 365)
    model.show(table, CatalogCellFormatter(table, Formatter(ENGLISH_NUMBERS), TODAY), range(5))
    assert model.sentence(4, 3).endswith("stale")
    assert "stale" not in model.sentence(0, 3)
    model.mark_stale(TODAY, 10_000)
    assert "stale" not in model.sentence(4, 3)
