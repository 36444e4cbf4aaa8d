"""What stands in the cells of the catalog's lists, and what goes to the clipboard."""

from collections.abc import Iterator, Sequence

import pytest

from gpudesk.catalog.list_columns import list_catalog_columns
from gpudesk.catalog.list_rows import make_catalog_table
from gpudesk.catalog.read import Catalog
from gpudesk.domain.attributes import (
    CatalogCellMark,
    CatalogCellValue,
    CatalogColumn,
    CatalogColumnKind,
    CatalogRow,
    CatalogSection,
    CatalogTable,
)
from gpudesk.report.catalog_lists import (
    CatalogCellFormatter,
    build_catalog_clipping,
    describe_column,
    label_column,
    make_sort_key,
)
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import ENGLISH_NUMBERS, GERMAN_NUMBERS, Formatter, NumberStyle, Quantity
from gpudesk.text.translation import translate_data, use_language

TODAY = "2026-11-20"
#: Columns of names, which no language translates, although other texts can be the same.
_NAMES = frozenset({"source", "subject", "attribute"})


@pytest.fixture(scope="module")
def catalog() -> Iterator[Catalog]:
    with GpuDeskService.open() as service:
        yield service.catalog


def make_table(columns: Sequence[CatalogColumn], *rows: Sequence[CatalogCellValue], **fields: object) -> CatalogTable:
    rows_of_table = tuple(CatalogRow(key=str(n), values=tuple(values), **fields) for n, values in enumerate(rows))  # type: ignore[arg-type]
    return CatalogTable(CatalogSection.ACCELERATORS, tuple(columns), rows_of_table)


def make_formatter(table: CatalogTable, style: NumberStyle = ENGLISH_NUMBERS) -> CatalogCellFormatter:
    return CatalogCellFormatter(table, Formatter(style), TODAY)


def list_texts(table: CatalogTable, place: int = 0, style: NumberStyle = ENGLISH_NUMBERS) -> list[str]:
    return [make_formatter(table, style).text(row, place) for row in table.rows]


def test_figures_of_a_column_have_one_count_of_decimals() -> None:
    bandwidth = CatalogColumn(
        "memory_bandwidth", CatalogColumnKind.FIGURE, Quantity.MEMORY_BANDWIDTH, "memory_bandwidth"
    )
    table = make_table([bandwidth], [6e12], [3.35e12], [None])
    assert list_texts(table) == ["6.00", "3.35", "—"]


@pytest.mark.parametrize(
    ("column", "value", "text"),
    [
        (CatalogColumn("total", CatalogColumnKind.FIGURE, Quantity.COUNT, None, 1e9, 1), 70_553_706_496, "70.6"),
        (CatalogColumn("usd", CatalogColumnKind.MONEY, Quantity.USD), (20000.0, 25000.0), "20,000 – 25,000"),
        (CatalogColumn("usd_hour", CatalogColumnKind.MONEY, Quantity.USD_PER_HOUR), 2.5, "2.50"),
        (CatalogColumn("kind", CatalogColumnKind.WORD), "vendor_datasheet", "Data sheet"),
        (CatalogColumn("stored_in", CatalogColumnKind.WORD), "mxfp4", "MXFP4"),
        (CatalogColumn("term", CatalogColumnKind.WORD), "on_demand", "on-demand"),
        (CatalogColumn("attribute", CatalogColumnKind.ATTRIBUTE), "memory_bandwidth", "Bandwidth"),
        (CatalogColumn("attribute", CatalogColumnKind.ATTRIBUTE), "small_model_speed", "Small model speed"),
        (CatalogColumn("difference", CatalogColumnKind.RATIO), 1.25, "+25%"),
        (CatalogColumn("age", CatalogColumnKind.AGE), "2026-08", "3 months"),
        (CatalogColumn("age", CatalogColumnKind.AGE), None, "—"),
        (CatalogColumn("trust", CatalogColumnKind.TEXT), "two\nlines\tof  text", "two lines of text"),
        (CatalogColumn("steps", CatalogColumnKind.TEXT), ("64", "32"), "64, 32"),
        (CatalogColumn("open", CatalogColumnKind.TEXT), True, "yes"),
    ],
)
def test_values_are_written_by_the_kind_of_their_column(
    column: CatalogColumn, value: CatalogCellValue, text: str
) -> None:
    assert list_texts(make_table([column], [value])) == [text]


def test_a_claim_is_written_in_the_unit_of_its_attribute() -> None:
    columns = [CatalogColumn("value", CatalogColumnKind.VALUE), CatalogColumn("unit", CatalogColumnKind.UNIT)]
    figure = make_table(columns, [6e12, "B/s"], attribute="memory_bandwidth", unit="B/s")
    assert [list_texts(figure, place)[0] for place in (0, 1)] == ["6.0", "TB/s"]
    words = make_table(columns, ["HBM3e", None], attribute="memory_type")
    assert [list_texts(words, place)[0] for place in (0, 1)] == ["HBM3e", "—"]
    statement = make_table(columns, ["5.3", "TB/s"], unit="TB/s")
    assert [list_texts(statement, place)[0] for place in (0, 1)] == ["5.3", "TB/s"]


def test_short_names_are_used_where_they_name_one_part_only() -> None:
    name = CatalogColumn("name", CatalogColumnKind.NAME)
    table = make_table([name], ["Instinct MI300X"], ["A100 40GB"], ["A100 80GB"])
    assert list_texts(table) == ["MI300X", "A100 40GB", "A100 80GB"]
    assert "instinct" in make_formatter(table).search_text(table.rows[0])


def test_rows_are_found_by_figures_with_and_without_separators() -> None:
    peak = CatalogColumn("fp8", CatalogColumnKind.FIGURE, Quantity.ARITHMETIC, "peak_dense_fp8", decimals=0)
    table = make_table([CatalogColumn("name", CatalogColumnKind.NAME), peak], ["H100 SXM", 1.979e15])
    search_text = make_formatter(table).search_text(table.rows[0])
    assert all(words in search_text for words in ("h100", "1,979", "1979"))


def test_sentences_describe_a_cell_and_why_it_is_empty() -> None:
    columns = list_catalog_columns(CatalogSection.ACCELERATORS)
    values: list[CatalogCellValue] = [None] * len(columns)
    values[0], values[4] = "Instinct MI325X", 6e12
    marks = tuple(CatalogCellMark.DISPUTED | CatalogCellMark.OWN if n == 4 else 0 for n in range(len(columns)))
    table = make_table(columns, values, marks=marks, announced=True)
    write, row = make_formatter(table), table.rows[0]
    assert write.sentence(row, 0) == "Instinct MI325X, announced"
    sentence = write.sentence(row, 4)
    assert sentence == "Instinct MI325X, Memory bandwidth, TB/s, 6.00, your value, sources disagree"
    assert write.sentence(row, 3).endswith("unknown: not published")
    price = next(n for n, column in enumerate(columns) if column.key == "price")
    assert write.sentence(row, price).endswith("unknown: price not published")


def test_the_clipboard_has_what_is_shown_and_nothing_that_a_spreadsheet_runs() -> None:
    columns = [
        CatalogColumn("name", CatalogColumnKind.NAME, head="Accelerator"),
        CatalogColumn("memory_bandwidth", CatalogColumnKind.FIGURE, Quantity.MEMORY_BANDWIDTH, "memory_bandwidth"),
        CatalogColumn("trust", CatalogColumnKind.TEXT),
        CatalogColumn("usd", CatalogColumnKind.MONEY, Quantity.USD),
    ]
    table = make_table(
        columns,
        ["=HYPERLINK(1)", 3.352e12, "+cmd|' /C calc'!A0", (1.0, 2.0)],
        ["Instinct MI300X", None, "a\tb\r\nc", 9999.5],
    )
    for style, figure in ((ENGLISH_NUMBERS, "3.35"), (GERMAN_NUMBERS, "3,35")):
        formatter = Formatter(style)
        cells = CatalogCellFormatter(table, formatter, TODAY)
        text = build_catalog_clipping(table, table.rows, (0, 1, 2, 3), cells, with_heads=True)
        lines = [line.split("\t") for line in text.split("\n")]
        assert [len(line) for line in lines] == [4, 4, 4]
        assert lines[0][:2] == ["Accelerator", "TB/s"]
        assert lines[1][0] == "'=HYPERLINK(1)"
        assert lines[1][1] == figure
        assert lines[1][2].startswith("'+")
        assert lines[2][:3] == ["Instinct MI300X", "—", "a b c"]
        assert lines[2][3] == ("10,000" if style is ENGLISH_NUMBERS else "10.000")


def test_like_is_ordered_with_like() -> None:
    value = CatalogColumn("value", CatalogColumnKind.VALUE)
    figures = [CatalogRow("a", (9.0,), unit="W"), CatalogRow("b", (10.0,), unit="W")]
    words = CatalogRow("c", ("8 apples",))
    bytes_ = CatalogRow("d", (1e12,), unit="B")
    rows = sorted((words, *figures, bytes_), key=lambda row: make_sort_key(row.values[0], row, value))
    assert [row.key for row in rows] == ["d", "a", "b", "c"]
    date = CatalogColumn("date", CatalogColumnKind.DATE)
    days = ["2025", "2025-03-04", "2025-03", "unclear"]
    ordered = sorted(days, key=lambda day: make_sort_key(day, words, date))
    assert ordered == ["2025-03-04", "2025-03", "2025", "unclear"]


@pytest.mark.parametrize("section", CatalogSection)
def test_every_column_has_a_head_and_a_meaning(section: CatalogSection) -> None:
    assert section.label
    heads = [label_column(section, column) for column in list_catalog_columns(section)]
    assert all(heads)
    assert len(set(heads)) == len(heads), "no two columns are called the same"
    assert not any("_" in head for head in heads)
    assert all(describe_column(section, column) for column in list_catalog_columns(section))


@pytest.mark.parametrize("section", CatalogSection)
def test_german_lists_leave_no_known_word_in_english(section: CatalogSection, catalog: Catalog) -> None:
    table = make_catalog_table(section, catalog)
    with use_language("de"):
        formatter = CatalogCellFormatter(table, Formatter(), TODAY)
        english = {
            (column.key, value)
            for row in table.rows
            for place, (column, value) in enumerate(zip(table.columns, row.values, strict=True))
            if column.kind is not CatalogColumnKind.NAME and column.key not in _NAMES and isinstance(value, str)
            if formatter.text(row, place) == value != translate_data(value)
        }
    assert not english
