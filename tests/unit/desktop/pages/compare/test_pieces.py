"""Pieces of the page Compare: widths, typing ahead, what yields in the strip, the legend."""

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
from tests.unit.desktop.pages.compare.conftest import FOUR, with_counts

PLAIN = Formatter(ENGLISH_NUMBERS)
LABELS = ["Output throughput", "Time per output token", "Time to first token", "Board power"]


def test_letters_make_a_word_and_single_letters_go_round() -> None:
    typed = TypeAhead()
    assert typed.find("t", LABELS, -1) == 1
    assert typed.find("i", LABELS, 1) == 1
    assert [typed.find(letter, LABELS, 1) for letter in "me to"][-1] == 2
    assert TypeAhead().find("t", LABELS, 2) == 1, "after the last it begins again"
    assert TypeAhead().find("pow", LABELS, -1) == 3, "no label begins so, one has it"
    assert TypeAhead().find("xyz", LABELS, 0) is None


def table_of(service: GpuDeskService, name: str) -> ComparisonTable:
    return build_comparison_table(service.answer(read_template(name)), PLAIN)


@pytest.mark.parametrize(
    ("name", "room", "margins"), [("mi325x-or-h200-70b", 934, WIDE), (FOUR, 934, WIDE), ("405b-one-node", 934, DENSE)]
)
def test_columns_fit_the_room_of_usual_windows(
    service: GpuDeskService, theme: Theme, name: str, room: int, margins: object
) -> None:
    table = table_of(service, name)
    widths = ComparisonLayout(theme, TextCache(theme)).widths(room, table.heads, table.rows)
    assert widths.margins is margins
    assert widths.label + widths.column * len(table.heads) <= room


def test_columns_keep_their_figures_where_room_is_short(service: GpuDeskService, theme: Theme) -> None:
    table = table_of(service, "405b-one-node")
    measures = ComparisonLayout(theme, TextCache(theme))
    short, usual = (measures.widths(room, table.heads, table.rows) for room in (500, 934))
    assert short.column == pytest.approx(usual.column, abs=6)
    assert short.label > usual.label, "what has to be scrolled anyway leaves labels whole"


def test_one_long_name_does_not_push_figures_out_of_sight(service: GpuDeskService, theme: Theme) -> None:
    table = table_of(service, "405b-one-node")
    long = replace(table.heads[0], name="A name that is far longer than any figure of its column")
    measures = ComparisonLayout(theme, TextCache(theme))
    widths = measures.widths(934, (long, *table.heads[1:]), table.rows)
    assert widths.label + widths.column * len(table.heads) <= 934


def test_two_marks_fit_into_every_gutter() -> None:
    for margins in (WIDE, DENSE):
        assert margins.gutter - margins.inset >= 2 * 11, "a tie and its method, 11 wide each"


def test_names_yield_before_swatches_and_swatches_before_answers(
    service: GpuDeskService, theme: Theme, qtbot: QtBot
) -> None:
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
    assert strip._boxes[-1].naming is LeaderDetail.NAMES, "one winner keeps its name longest"
    strip.resize(560, strip.height())
    assert [box.figure for box in strip._boxes if box.isVisible()] == ["output_tokens_per_s", "max_concurrency"]


def test_widths_hold_in_a_drag(service: GpuDeskService, theme: Theme, qtbot: QtBot) -> None:
    strip = HeadlineStrip(theme)
    qtbot.addWidget(strip)
    strip.resize(1300, strip.height())
    headlines = build_screen_headlines(service.answer(read_template("mi325x-or-h200-70b")), PLAIN)
    strip.show_answers([replace(each, text="1,234,567,890,123") for each in headlines])
    before = [box.geometry() for box in strip._boxes]
    shorter = [replace(each, text="1") if place else each for place, each in enumerate(headlines)]
    strip.show_answers(shorter, steady=True)
    assert [box.geometry() for box in strip._boxes] == before
    strip.show_answers(shorter)
    assert [box.geometry() for box in strip._boxes] != before


def test_legend_explains_only_the_marks_that_are_there(service: GpuDeskService) -> None:
    table = table_of(service, FOUR)
    assert find_marks(table.rows) == ("best", "overlap", "disputed", "calibrated")
    tied = [replace(row, cells=row.cells[2:]) for row in table.rows if row.key == "ttft_ms"]
    assert find_marks(tied) == ("best", "overlap", "calibrated"), "a tie keeps the mark of its method"
    price = [row for row in table.rows if row.key == "price"]
    assert find_marks(price) == ("disputed",)
    scenario = with_counts(read_template("405b-one-node"), 4, 4, 4, 4, 4, 4)
    short = build_comparison_table(service.answer(scenario), PLAIN)
    assert "unfit" in find_marks(short.rows)
