"""What stands in the cells of the catalog's lists, and what goes to the clipboard."""

from collections.abc import Sequence

import pytest

from gpudesk.domain.catalog_tables import (
    CatalogRow,
    CatalogTable,
    CellMark,
    CellValue,
    Column,
    ColumnKind,
    Section,
)
from gpudesk.domain.formatting import ENGLISH, GERMAN, Formatter, NumberStyle, Quantity
from gpudesk.sheets.catalog_cells import CatalogWriter, clipping, sort_key
from gpudesk.sheets.catalog_words import column_head, column_meaning, section_label
from gpudesk.workbench.catalog_columns import COLUMNS

TODAY = "2026-11-20"


def table(columns: Sequence[Column], *rows: Sequence[CellValue], **fields: object) -> CatalogTable:
    made = tuple(CatalogRow(key=str(n), values=tuple(values), **fields) for n, values in enumerate(rows))  # type: ignore[arg-type]
    return CatalogTable(Section.ACCELERATORS, tuple(columns), made)


def writer(made: CatalogTable, style: NumberStyle = ENGLISH) -> CatalogWriter:
    return CatalogWriter(made, Formatter(style), TODAY)


def texts(made: CatalogTable, place: int = 0, style: NumberStyle = ENGLISH) -> list[str]:
    return [writer(made, style).text(row, place) for row in made.rows]


def test_figures_of_a_column_have_one_count_of_decimals() -> None:
    bandwidth = Column("memory_bandwidth", ColumnKind.FIGURE, Quantity.MEMORY_BANDWIDTH, "memory_bandwidth")
    made = table([bandwidth], [6e12], [3.35e12], [None])
    assert texts(made) == ["6.00", "3.35", "—"]


@pytest.mark.parametrize(
    ("column", "value", "text"),
    [
        (Column("total", ColumnKind.FIGURE, Quantity.COUNT, None, 1e9, 1), 70_553_706_496, "70.6"),
        (Column("usd", ColumnKind.MONEY, Quantity.USD), (20000.0, 25000.0), "20,000 – 25,000"),
        (Column("usd_hour", ColumnKind.MONEY, Quantity.USD_PER_HOUR), 2.5, "2.50"),
        (Column("kind", ColumnKind.WORD), "vendor_datasheet", "Data sheet"),
        (Column("stored_in", ColumnKind.WORD), "mxfp4", "MXFP4"),
        (Column("term", ColumnKind.WORD), "on_demand", "on demand"),
        (Column("attribute", ColumnKind.ATTRIBUTE), "memory_bandwidth", "Bandwidth"),
        (Column("attribute", ColumnKind.ATTRIBUTE), "small_model_speed", "Small model speed"),
        (Column("difference", ColumnKind.RATIO), 1.25, "+25 %"),
        (Column("age", ColumnKind.AGE), "2026-08", "3 months"),
        (Column("age", ColumnKind.AGE), None, "—"),
        (Column("trust", ColumnKind.TEXT), "two\nlines\tof  text", "two lines of text"),
        (Column("steps", ColumnKind.TEXT), ("64", "32"), "64, 32"),
        (Column("open", ColumnKind.TEXT), True, "yes"),
    ],
)
def test_values_are_written_by_the_kind_of_their_column(column: Column, value: CellValue, text: str) -> None:
    assert texts(table([column], [value])) == [text]


def test_a_claim_is_written_in_the_unit_of_its_attribute() -> None:
    columns = [Column("value", ColumnKind.VALUE), Column("unit", ColumnKind.UNIT)]
    figure = table(columns, [6e12, "B/s"], attribute="memory_bandwidth", unit="B/s")
    assert [texts(figure, place)[0] for place in (0, 1)] == ["6.0", "TB/s"]
    words = table(columns, ["HBM3e", None], attribute="memory_type")
    assert [texts(words, place)[0] for place in (0, 1)] == ["HBM3e", "—"]
    statement = table(columns, ["5.3", "TB/s"], unit="TB/s")
    assert [texts(statement, place)[0] for place in (0, 1)] == ["5.3", "TB/s"]


def test_short_names_are_used_where_they_name_one_part_only() -> None:
    name = Column("name", ColumnKind.NAME)
    made = table([name], ["Instinct MI300X"], ["A100 40GB"], ["A100 80GB"])
    assert texts(made) == ["MI300X", "A100 40GB", "A100 80GB"]
    assert "instinct" in writer(made).search_text(made.rows[0])


def test_rows_are_found_by_figures_with_and_without_separators() -> None:
    peak = Column("fp8", ColumnKind.FIGURE, Quantity.ARITHMETIC, "peak_dense_fp8", decimals=0)
    made = table([Column("name", ColumnKind.NAME), peak], ["H100 SXM", 1.979e15])
    found = writer(made).search_text(made.rows[0])
    assert all(words in found for words in ("h100", "1,979", "1979"))


def test_sentences_say_what_a_cell_shows_and_why_it_is_empty() -> None:
    columns = COLUMNS[Section.ACCELERATORS]
    values: list[CellValue] = [None] * len(columns)
    values[0], values[4] = "Instinct MI325X", 6e12
    marks = tuple(CellMark.DISPUTED | CellMark.OWN if n == 4 else 0 for n in range(len(columns)))
    made = table(columns, values, marks=marks, announced=True)
    write, row = writer(made), made.rows[0]
    assert write.sentence(row, 0) == "Instinct MI325X, announced"
    said = write.sentence(row, 4)
    assert said == "Instinct MI325X, Memory bandwidth, TB/s, 6.00, your value, sources differ"
    assert write.sentence(row, 3).endswith("unknown: no source states it")
    price = next(n for n, column in enumerate(columns) if column.key == "price")
    assert write.sentence(row, price).endswith("unknown: no purchase price found")


def test_the_clipboard_has_all_digits_and_nothing_that_a_spreadsheet_runs() -> None:
    columns = [
        Column("name", ColumnKind.NAME),
        Column("memory_bandwidth", ColumnKind.FIGURE, Quantity.MEMORY_BANDWIDTH, "memory_bandwidth"),
        Column("trust", ColumnKind.TEXT),
        Column("usd", ColumnKind.MONEY, Quantity.USD),
    ]
    made = table(
        columns,
        ["=HYPERLINK(1)", 3.352e12, "+cmd|' /C calc'!A0", (1.0, 2.0)],
        ["Instinct MI300X", None, "a\tb\r\nc", 9999.5],
    )
    for style, figure in ((ENGLISH, "3.352"), (GERMAN, "3,352")):
        formatter = Formatter(style)
        text = clipping(made, made.rows, (0, 1, 2, 3), CatalogWriter(made, formatter, TODAY), formatter,
                        with_heads=True)  # fmt: skip
        lines = [line.split("\t") for line in text.split("\n")]
        assert [len(line) for line in lines] == [4, 4, 4]
        assert lines[0][:2] == ["Accelerator", "TB/s"]
        assert lines[1][0] == "'=HYPERLINK(1)"
        assert lines[1][1] == figure
        assert lines[1][2].startswith("'+")
        assert lines[2][:3] == ["Instinct MI300X", "", "a b c"]
        assert lines[2][3] == ("9999.5" if style is ENGLISH else "9999,5")


def test_like_is_ordered_with_like() -> None:
    value = Column("value", ColumnKind.VALUE)
    figures = [CatalogRow("a", (9.0,), unit="W"), CatalogRow("b", (10.0,), unit="W")]
    words = CatalogRow("c", ("8 apples",))
    bytes_ = CatalogRow("d", (1e12,), unit="B")
    rows = sorted((words, *figures, bytes_), key=lambda row: sort_key(row.values[0], row, value))
    assert [row.key for row in rows] == ["d", "a", "b", "c"]
    date = Column("date", ColumnKind.DATE)
    days = ["2025", "2025-03-04", "2025-03", "unclear"]
    ordered = sorted(days, key=lambda day: sort_key(day, words, date))
    assert ordered == ["2025-03-04", "2025-03", "2025", "unclear"]


@pytest.mark.parametrize("section", Section)
def test_every_column_has_a_head_and_a_meaning(section: Section) -> None:
    assert section_label(section)
    heads = [column_head(section, column) for column in COLUMNS[section]]
    assert all(heads)
    assert len(set(heads)) == len(heads), "no two columns are called the same"
    assert not any("_" in head for head in heads)
    assert all(column_meaning(section, column) for column in COLUMNS[section])
