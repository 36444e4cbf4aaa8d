"""Parts of the Compare page: column widths, type-ahead, headline strip, legend."""

from dataclasses import replace

import pytest
from pytestqt.qtbot import QtBot

from gpudesk.desktop.pages.compare.headlines import HeadlineStrip, LeaderDetail
from gpudesk.desktop.pages.compare.page import find_marks
from gpudesk.desktop.pages.compare.table import DENSE, WIDE, ComparisonLayout
from gpudesk.desktop.ui.tables.painted_table import TypeAhead
from gpudesk.desktop.ui.tables.text_layer import TextCache
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.documents.scenario_file import read_template
from gpudesk.report.comparison.headlines import build_screen_headlines
from gpudesk.report.comparison.table import build_comparison_table
from gpudesk.report.comparison.tables import ComparisonTable
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import ENGLISH_NUMBERS, Formatter
from tests.unit.desktop.pages.compare.conftest import FOUR, replace_counts

PLAIN = Formatter(ENGLISH_NUMBERS)
LABELS = ["Output throughput", "Time per output token", "Time to first token", "Board power"]


def test_type_ahead_finds_words_and_cycles_by_letter() -> None:
    type_ahead = TypeAhead()
    assert type_ahead.find("t", LABELS, -1) == 1
    assert type_ahead.find("i", LABELS, 1) == 1
    assert [type_ahead.find(letter, LABELS, 1) for letter in "me to"][-1] == 2
    assert TypeAhead().find("t", LABELS, 2) == 1, "wraps around after the last"
    assert TypeAhead().find("pow", LABELS, -1) == 3, "a label that contains the text"
    assert TypeAhead().find("xyz", LABELS, 0) is None


def build_table(service: GpuDeskService, name: str) -> ComparisonTable:
    return build_comparison_table(service.answer(read_template(name)), PLAIN)


@pytest.mark.parametrize(
    ("name", "available_width", "margins"),
    [("mi325x-or-h200-70b", 934, WIDE), (FOUR, 934, WIDE), ("405b-one-node", 934, DENSE)],
)
def test_columns_fit_common_windows(
    service: GpuDeskService, theme: Theme, name: str, available_width: int, margins: object
) -> None:
    table = build_table(service, name)
    widths = ComparisonLayout(theme, TextCache(theme)).widths(available_width, table.heads, table.rows)
    assert widths.margins is margins
    assert widths.label + widths.column * len(table.heads) <= available_width


def test_narrow_table_keeps_figure_columns(service: GpuDeskService, theme: Theme) -> None:
    table = build_table(service, "405b-one-node")
    layout = ComparisonLayout(theme, TextCache(theme))
    narrow, default = (layout.widths(available_width, table.heads, table.rows) for available_width in (500, 934))
    assert narrow.column == pytest.approx(default.column, abs=6)
    assert narrow.label > default.label, "labels are whole when columns scroll anyway"


def test_long_name_does_not_widen_its_column(service: GpuDeskService, theme: Theme) -> None:
    table = build_table(service, "405b-one-node")
    long_head = replace(table.heads[0], name="A name that is far longer than any figure of its column")
    layout = ComparisonLayout(theme, TextCache(theme))
    widths = layout.widths(934, (long_head, *table.heads[1:]), table.rows)
    assert widths.label + widths.column * len(table.heads) <= 934


def test_two_marks_fit_into_every_gutter() -> None:
    for margins in (WIDE, DENSE):
        assert margins.gutter - margins.inset >= 2 * 13 + 2, "a tie mark and a method mark, 13 px each, off the figure"


def test_headlines_drop_names_then_whole_boxes(service: GpuDeskService, theme: Theme, qtbot: QtBot) -> None:
    strip = HeadlineStrip(theme)
    qtbot.addWidget(strip)
    strip.resize(1300, strip.height())
    strip.show()
    strip.show_answers(build_screen_headlines(service.answer(read_template(FOUR)), PLAIN))
    assert [box.naming for box in strip._boxes] == [LeaderDetail.NAMES] * 4
    # A window of 1280 px with the panel of sources.
    strip.resize(919, strip.height())
    assert LeaderDetail.SWATCHES in [box.naming for box in strip._boxes]
    assert all(box.isVisible() for box in strip._boxes)
    strip.resize(1000, strip.height())
    assert strip._boxes[-1].naming is LeaderDetail.NAMES, "a single winner keeps its name longest"
    strip.resize(560, strip.height())
    assert [box.figure for box in strip._boxes if box.isVisible()] == ["output_tokens_per_s", "max_concurrency"]


def test_widths_are_stable_during_a_drag(service: GpuDeskService, theme: Theme, qtbot: QtBot) -> None:
    strip = HeadlineStrip(theme)
    qtbot.addWidget(strip)
    strip.resize(1300, strip.height())
    headlines = build_screen_headlines(service.answer(read_template("mi325x-or-h200-70b")), PLAIN)
    strip.show_answers([replace(each, text="1,234,567,890,123") for each in headlines])
    before = [box.geometry() for box in strip._boxes]
    shorter = [replace(each, text="1") if position else each for position, each in enumerate(headlines)]
    strip.show_answers(shorter, steady=True)
    assert [box.geometry() for box in strip._boxes] == before
    strip.show_answers(shorter)
    assert [box.geometry() for box in strip._boxes] != before


def test_legend_explains_only_visible_marks(service: GpuDeskService) -> None:
    table = build_table(service, FOUR)
    assert find_marks(table.rows) == ("best", "overlap", "disputed", "calibrated")
    tied = [replace(row, cells=row.cells[2:]) for row in table.rows if row.key == "ttft_ms"]
    assert find_marks(tied) == ("best", "overlap", "calibrated"), "a tied cell keeps the mark of its method"
    price = [row for row in table.rows if row.key == "price"]
    assert find_marks(price) == ("disputed",)
    scenario = replace_counts(read_template("405b-one-node"), 4, 4, 4, 4, 4, 4)
    short = build_comparison_table(service.answer(scenario), PLAIN)
    assert "unfit" in find_marks(short.rows)
