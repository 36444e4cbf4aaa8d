"""Pieces of the page Compare: widths, typing ahead, what yields in the strip, the legend."""

from dataclasses import replace

import pytest
from pytestqt.qtbot import QtBot

from gpudesk.desktop.pages.compare.headline_strip import HeadlineStrip, Naming
from gpudesk.desktop.pages.compare.legend import marks_in
from gpudesk.desktop.pages.compare.measures import DENSE, WIDE, Measures
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.text_cache import TextCache
from gpudesk.desktop.widgets.type_ahead import TypeAhead
from gpudesk.domain.formatting import ENGLISH, Formatter
from gpudesk.sheets.comparison_headlines import headline_answers
from gpudesk.sheets.comparison_parts import ComparisonTable
from gpudesk.sheets.comparison_table import comparison_table
from gpudesk.workbench.templates import read_template
from gpudesk.workbench.workbench import Workbench
from tests.unit.desktop.pages.compare.conftest import FOUR, with_counts

PLAIN = Formatter(ENGLISH)
LABELS = ["Output throughput", "Time per output token", "Time to first token", "Board power"]


def test_letters_make_a_word_and_single_letters_go_round() -> None:
    typed = TypeAhead()
    assert typed.find("t", LABELS, -1) == 1
    assert typed.find("i", LABELS, 1) == 1
    assert [typed.find(letter, LABELS, 1) for letter in "me to"][-1] == 2
    assert TypeAhead().find("t", LABELS, 2) == 1, "after the last it begins again"
    assert TypeAhead().find("pow", LABELS, -1) == 3, "no label begins so, one has it"
    assert TypeAhead().find("xyz", LABELS, 0) is None


def table_of(workbench: Workbench, name: str) -> ComparisonTable:
    return comparison_table(workbench.answer(read_template(name)), PLAIN)


@pytest.mark.parametrize(
    ("name", "room", "margins"),
    [("mi325x-or-h200-70b", 934, WIDE), (FOUR, 934, WIDE), ("405b-one-node", 934, DENSE)],
)
def test_columns_fit_the_room_of_usual_windows(
    workbench: Workbench, theme: Theme, name: str, room: int, margins: object
) -> None:
    table = table_of(workbench, name)
    widths = Measures(theme, TextCache(theme)).widths(room, table.heads, table.rows)
    assert widths.margins is margins
    assert widths.label + widths.column * len(table.heads) <= room


def test_columns_keep_their_figures_where_room_is_short(workbench: Workbench, theme: Theme) -> None:
    table = table_of(workbench, "405b-one-node")
    measures = Measures(theme, TextCache(theme))
    short, usual = (measures.widths(room, table.heads, table.rows) for room in (500, 934))
    assert short.column == pytest.approx(usual.column, abs=6)
    assert short.label > usual.label, "what has to be scrolled anyway leaves labels whole"


def test_one_long_name_does_not_push_figures_out_of_sight(workbench: Workbench, theme: Theme) -> None:
    table = table_of(workbench, "405b-one-node")
    long = replace(table.heads[0], name="A name that is far longer than any figure of its column")
    measures = Measures(theme, TextCache(theme))
    widths = measures.widths(934, (long, *table.heads[1:]), table.rows)
    assert widths.label + widths.column * len(table.heads) <= 934


def test_names_yield_before_swatches_and_swatches_before_answers(
    workbench: Workbench, theme: Theme, qtbot: QtBot
) -> None:
    strip = HeadlineStrip(theme)
    qtbot.addWidget(strip)
    strip.resize(1300, strip.height())
    strip.show()
    strip.show_answers(headline_answers(workbench.answer(read_template(FOUR)), PLAIN))
    assert [box.naming for box in strip._boxes] == [Naming.NAMES] * 4
    strip.resize(930, strip.height())
    assert Naming.SWATCHES in [box.naming for box in strip._boxes]
    assert strip._boxes[-1].naming is Naming.NAMES, "one winner keeps its name longest"
    assert all(box.isVisible() for box in strip._boxes)
    strip.resize(560, strip.height())
    assert [box.figure for box in strip._boxes if box.isVisible()] == [
        "output_tokens_per_s",
        "max_concurrency",
    ]


def test_widths_hold_in_a_drag(workbench: Workbench, theme: Theme, qtbot: QtBot) -> None:
    strip = HeadlineStrip(theme)
    qtbot.addWidget(strip)
    strip.resize(1300, strip.height())
    scenario = read_template("mi325x-or-h200-70b")
    strip.show_answers(headline_answers(workbench.answer(scenario), PLAIN))
    before = [box.geometry() for box in strip._boxes]
    strip.show_answers(headline_answers(workbench.answer(with_counts(scenario, 2, 2)), PLAIN), steady=True)
    assert [box.geometry() for box in strip._boxes] == before


def test_legend_explains_only_the_marks_that_are_there(workbench: Workbench) -> None:
    table = table_of(workbench, FOUR)
    assert marks_in(table.rows) == ("best", "overlap", "disputed", "calibrated")
    price = [row for row in table.rows if row.key == "price"]
    assert marks_in(price) == ("disputed",)
    scenario = with_counts(read_template("405b-one-node"), 4, 4, 4, 4, 4, 4)
    short = comparison_table(workbench.answer(scenario), PLAIN)
    assert "unfit" in marks_in(short.rows)
