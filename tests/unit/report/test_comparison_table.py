"""The comparison table: what each cell says, who leads, why something is unknown, and what is copied."""

from dataclasses import replace

import pytest

from gpudesk.documents.scenario_file import list_template_ids, read_template
from gpudesk.domain.answer import Answer
from gpudesk.domain.estimate import EstimateBasis, Load, LoadKind
from gpudesk.report.comparison.estimate_rows import build_difference_group
from gpudesk.report.comparison.headlines import build_screen_headlines
from gpudesk.report.comparison.sheet import build_sheet
from gpudesk.report.comparison.table import (
    ComparisonTableBuilder,
    build_comparison_table,
    describe_compared_cell,
    describe_compared_row,
    describe_headline,
)
from gpudesk.report.comparison.tables import (
    CellMarking,
    ComparisonRow,
    ComparisonTable,
    Headline,
    RowOrigin,
    RowReference,
)
from gpudesk.report.writers.clipboard import build_comparison_clipping
from gpudesk.report.writers.html import write_sheet_html
from gpudesk.report.writers.markdown import write_sheet_markdown
from gpudesk.report.writers.text import list_sheet_lines
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import ENGLISH_NUMBERS, GERMAN_NUMBERS, Formatter, IntervalEstimate
from gpudesk.text.messages import message
from tests.unit.report.conftest import MakeAnswer

PLAIN = Formatter(ENGLISH_NUMBERS)


def find_row(table: ComparisonTable, key: str) -> ComparisonRow:
    return next(row for row in table.rows if row.key == key)


def find_headline(answer: Answer, figure: str) -> Headline:
    return next(headline for headline in build_screen_headlines(answer, PLAIN) if headline.figure == figure)


def test_results_have_bands_differences_basis_and_a_reference(make_answer: MakeAnswer) -> None:
    table = build_comparison_table(make_answer("h200-sxm", "mi325x", "b200-hgx"), PLAIN)
    row = find_row(table, "output_tokens_per_s")
    assert [cell.text for cell in row.cells] == ["1,000", "1,250", "2,000"]
    assert [cell.delta for cell in row.cells] == [None, "+25%", "+100%"]
    assert [cell.mark for cell in row.cells] == [None, None, CellMarking.BEST]
    assert row.cells[1].band == "1,120 – 1,380"
    assert row.cells[1].basis is EstimateBasis.CALIBRATED
    assert row.reference == RowReference(RowOrigin.FIGURE, "output_tokens_per_s")


def test_undecided_leaders_are_tied_and_a_row_without_winner_is_open(make_answer: MakeAnswer) -> None:
    pair = build_comparison_table(make_answer("h200-sxm", "mi355x"), PLAIN)
    assert [cell.mark for cell in find_row(pair, "output_tokens_per_s").cells] == [CellMarking.OPEN, CellMarking.OPEN]


def test_specs_are_compared_by_plain_ratio_and_disputes_counted(make_answer: MakeAnswer) -> None:
    table = build_comparison_table(make_answer("h200-sxm", "mi325x"), PLAIN)
    bandwidth = find_row(table, "memory_bandwidth")
    assert [cell.text for cell in bandwidth.cells] == ["4.8", "6.0"]
    assert [cell.value for cell in bandwidth.cells] == [4.8, 6.0]
    assert [cell.delta for cell in bandwidth.cells] == [None, "+25%"]
    assert [cell.disputed for cell in bandwidth.cells] == [0, 2]
    assert find_row(table, "tdp").cells[1].delta == "same"
    assert [cell.detail for cell in find_row(table, "memory").cells] == [None, None]


def test_unknown_value_has_a_short_reason_and_a_sentence(make_answer: MakeAnswer) -> None:
    answer = make_answer("h200-sxm", "mi325x", input_tokens=120_000)
    table = build_comparison_table(answer, PLAIN)
    assert "max_concurrency" not in {each_row.key for each_row in table.rows}
    fits = find_row(table, "fits").cells[0]
    assert (fits.text, fits.detail, fits.mark) == ("does not fit on 1", "needs 4", CellMarking.FAILS)
    problem = replace(
        answer.columns[1],
        estimate=None,
        problem=message(
            "engine.unknown", "unknown serving engine {engine}; the options are {known}", engine="x", known=()
        ),
    )
    mixed = build_comparison_table(replace(answer, columns=(answer.columns[0], problem)), PLAIN)
    assert find_row(mixed, "fits").cells[1].text == "no estimate"


def test_one_column_that_does_not_fit_keeps_the_figures_of_the_others(make_answer: MakeAnswer) -> None:
    good, bad = make_answer("h200-sxm", "mi325x"), make_answer("h200-sxm", "mi325x", input_tokens=120_000)
    answer = replace(good, columns=(good.columns[0], bad.columns[1]), differences=())
    cells = find_row(build_comparison_table(answer, PLAIN), "output_tokens_per_s").cells
    assert cells[1].reason == "does not fit on 1"
    assert cells[1].explanation is not None
    assert cells[1].explanation.startswith("One request of this length does not fit")
    assert find_headline(answer, "output_tokens_per_s").detail == "Only one that fits"
    assert find_headline(answer, "max_concurrency").detail == "Only one that fits"
    table = build_comparison_table(answer, PLAIN)
    for name in ("memory.kv", "memory.free"):
        fitting, short = find_row(table, name).cells
        assert fitting.value is not None
        assert (short.value, short.reason) == (None, "does not fit on 1")
    assert find_row(table, "memory.weights").cells[1].value is not None


def test_specs_are_kept_while_the_parts_stay(make_answer: MakeAnswer) -> None:
    maker = ComparisonTableBuilder(PLAIN)
    one = maker.table(make_answer("h200-sxm", "mi325x"))
    two = maker.table(make_answer("h200-sxm", "mi325x", input_tokens=900))
    assert find_row(one, "memory") is find_row(two, "memory")
    assert find_row(maker.table(make_answer("mi325x", "h200-sxm")), "memory").cells[0].text == "256.0"


def test_headline_names_the_winner_and_its_distance(make_answer: MakeAnswer) -> None:
    answer = make_answer("h200-sxm", "mi325x", "b200-hgx")
    headline = find_headline(answer, "output_tokens_per_s")
    assert (headline.text, headline.unit, headline.detail, headline.is_open) == (
        "2,000",
        "tok/s",
        "B200-HGX leads: 99% odds",
        False,
    )
    assert [leader.slot for leader in headline.leaders] == [3]
    faster = find_headline(answer, "ttft_ms")
    assert faster.detail == "B200-HGX leads: 99% odds"
    assert faster.spoken_odds.startswith("38% lower than MI325X; odds of being best: B200-HGX 99%")


def test_headline_reports_a_tie(make_answer: MakeAnswer) -> None:
    headline = find_headline(make_answer("h200-sxm", "mi355x"), "output_tokens_per_s")
    assert (headline.text, headline.detail, headline.is_open) == ("1,040 or 1,000", "MI355X 60%, H200-SXM 40%", True)
    assert headline.spoken_odds.startswith("too close to call; odds of being best: MI355X 60%")
    held_requests = find_headline(make_answer("h200-sxm", "mi355x"), "max_concurrency")
    assert (held_requests.text, held_requests.detail, held_requests.is_open) == ("120", "Same on all", True)


def queue_columns(answer: Answer, *positions: int) -> Answer:
    """Return the answer with columns that run 40 of the 64 requests that are asked for."""
    columns = list(answer.columns)
    for position in positions:
        estimate = columns[position].estimate
        assert estimate is not None
        columns[position] = replace(columns[position], estimate=replace(estimate, admitted=40))
    return replace(answer, columns=tuple(columns))


def test_queueing_column_is_marked_and_in_no_headline(make_answer: MakeAnswer) -> None:
    answer = queue_columns(make_answer("h200-sxm", "mi325x", "b200-hgx"), 2)
    table = build_comparison_table(answer, PLAIN)
    cells = find_row(table, "output_tokens_per_s").cells
    assert [cell.mark for cell in cells] == [None, CellMarking.BEST, CellMarking.QUEUES]
    assert (find_row(table, "fits").cells[2].detail, find_row(table, "fits").cells[2].mark) == (
        "40 of 64 at once",
        CellMarking.QUEUES,
    )
    assert "requests queue" in describe_compared_cell(table, find_row(table, "output_tokens_per_s"), 2, PLAIN)
    headline = find_headline(answer, "output_tokens_per_s")
    assert [leader.key for leader in headline.leaders] == ["mi325x"]
    assert headline.detail == "MI325X likely leads: 90% odds"
    assert headline.unranked.text == "B200-HGX: 2,000, but 24 of 64 requests wait"
    assert headline.unranked.brief == "B200-HGX: 2,000, queues"
    sheet = build_sheet(answer, PLAIN)
    assert sheet.headlines[0].detail.endswith("; B200-HGX: 2,000, but 24 of 64 requests wait")
    assert all("B200" not in line.text for line in sheet.headlines)
    assert "△ requests queue" in sheet.key
    assert '<td class="queues">' in write_sheet_html(sheet)
    assert "2,000 △" in write_sheet_markdown(sheet)
    assert any("2,000 △" in line for line in list_sheet_lines(sheet, 100, str))


def test_times_of_a_row_have_one_unit(make_answer: MakeAnswer) -> None:
    answer = make_answer("h200-sxm", "mi325x", "b200-hgx")
    columns = list(answer.columns)
    for position, seconds in enumerate((0.549, 1.2, 43.0)):
        estimate = columns[position].estimate
        assert estimate is not None
        times = IntervalEstimate(1e3 * seconds, 800 * seconds, 1.2e3 * seconds)
        columns[position] = replace(columns[position], estimate=replace(estimate, ttft_ms=times))
    row = find_row(build_comparison_table(replace(answer, columns=tuple(columns)), PLAIN), "ttft_ms")
    assert (row.unit, [cell.text for cell in row.cells]) == ("s", ["0.549", "1.20", "43.0"])
    assert row.cells[2].band == "34.4 – 51.6"


def test_only_one_without_a_queue_has_no_rival_in_the_headline(make_answer: MakeAnswer) -> None:
    pair = make_answer("h200-sxm", "mi325x")
    headline = find_headline(queue_columns(pair, 1), "output_tokens_per_s")
    assert (headline.text, headline.detail) == ("1,000", "Only one without queueing")
    none = find_headline(queue_columns(pair, 0, 1), "output_tokens_per_s")
    assert (none.text, none.detail, none.leaders) == ("—", "requests queue on all", ())
    assert [line.text for line in build_sheet(queue_columns(pair, 1), PLAIN).headlines] == ["H200-SXM"] * 3


def test_headline_of_a_single_part_is_its_figure(make_answer: MakeAnswer) -> None:
    headline = find_headline(make_answer("h200-sxm"), "output_tokens_per_s")
    assert (headline.text, headline.detail) == ("1,000", "80% interval: 900 to 1,100")
    assert describe_headline(headline) == (
        "Output throughput, 1,000 tokens per second, H200-SXM, 80% interval: 900 to 1,100"
    )


def test_headline_where_nothing_fits(make_answer: MakeAnswer) -> None:
    headline = find_headline(make_answer("h200-sxm", "mi325x", input_tokens=120_000), "ttft_ms")
    assert (headline.text, headline.detail, headline.leaders) == ("—", "does not fit on any", ())


def test_sentences_contain_everything_that_a_cell_shows(make_answer: MakeAnswer) -> None:
    table = build_comparison_table(make_answer("h200-sxm", "mi355x", "mi325x"), PLAIN)
    rate = find_row(table, "output_tokens_per_s")
    assert describe_compared_cell(table, rate, 2, PLAIN) == (
        "Output throughput, MI325X, 1,250 tokens per second, 80% interval 1,120 to 1,380, best in row, "
        "+25% compared with H200-SXM, calibrated"
    )
    pair = build_comparison_table(make_answer("h200-sxm", "mi355x"), PLAIN)
    assert "too close to call with MI355X" in describe_compared_cell(pair, find_row(pair, "tpot_ms"), 0, PLAIN)
    bandwidth = find_row(table, "memory_bandwidth")
    assert describe_compared_cell(table, bandwidth, 2, PLAIN) == (
        "Bandwidth, MI325X, 6.0 terabytes per second, +25% compared with H200-SXM, 2 sources disagree"
    )
    assert describe_compared_row(bandwidth) == "Bandwidth, terabytes per second"


def test_copy_has_the_shown_figures_with_units_and_intervals(make_answer: MakeAnswer) -> None:
    table = build_comparison_table(make_answer("h200-sxm", "mi325x"), Formatter(GERMAN_NUMBERS))
    rows = [find_row(table, "output_tokens_per_s"), find_row(table, "memory_bandwidth")]
    clipping = build_comparison_clipping(table, rows, [0, 1], GERMAN_NUMBERS)
    lines = [line.split("\t") for line in clipping.text.split("\n")]
    assert lines[0][:6] == ["Group", "Row", "Unit", "H200-SXM, Hopper · SXM · × 1", "H200-SXM low", "H200-SXM high"]
    assert lines[1][1:6] == ["Output throughput", "tok/s", "1.000", "900", "1.100"]
    assert lines[2][:4] == ["Memory", "Bandwidth", "TB/s", "4,8"]
    assert '<td sdval="4.8" sdnum="1033;" x:num="4.8">4,8</td>' in clipping.html
    assert '<td sdval="1100" sdnum="1033;" x:num="1100">1.100</td>' in clipping.html
    assert build_comparison_clipping(table, rows[1:], [1], GERMAN_NUMBERS, with_heads=False).text == "6,0"


@pytest.mark.parametrize("name", list_template_ids())
def test_table_and_sheet_show_the_same_digits(name: str) -> None:
    with GpuDeskService.open() as service:
        answer = service.answer(read_template(name))
    table, sheet = build_comparison_table(answer, PLAIN), build_sheet(answer, PLAIN)
    ours = {row.key: row for row in table.rows}
    compared = 0
    for group in sheet.table.groups[1:]:
        for theirs in group.rows:
            if theirs.key not in ours:
                continue
            cells = ours[theirs.key].cells
            assert [cell.text for cell in cells] == [cell.text for cell in theirs.cells]
            assert [cell.band for cell in cells] == [cell.band for cell in theirs.cells]
            assert [cell.mark for cell in cells] == [cell.mark for cell in theirs.cells]
            compared += 1
    assert compared >= 8


def test_figures_without_odds_show_their_difference_and_the_mark_of_the_figure_that_decides_them() -> None:
    with GpuDeskService.open() as service:
        open_table = build_comparison_table(service.answer(read_template("mi325x-or-h200-70b")), PLAIN)
    row = find_row(open_table, "request_s")
    base, other = (cell.value for cell in row.cells)
    assert isinstance(base, float)
    assert isinstance(other, float)
    assert [cell.delta for cell in row.cells] == [None, PLAIN.difference(other / base)]
    assert [cell.mark for cell in find_row(open_table, "total_tokens_per_s").cells] == [CellMarking.OPEN] * 2
    assert [cell.mark for cell in row.cells] == [cell.mark for cell in find_row(open_table, "tpot_ms").cells]
    with GpuDeskService.open() as service:
        table = build_comparison_table(service.answer(read_template("70b-chat-on-four")), PLAIN)
    for figure, decisive in (("request_s", "tpot_ms"), ("total_tokens_per_s", "output_tokens_per_s")):
        marks = [cell.mark for cell in find_row(table, figure).cells]
        assert CellMarking.TIED in marks
        assert marks == [cell.mark for cell in find_row(table, decisive).cells]


def test_where_no_load_meets_the_limits_these_are_what_limits() -> None:
    scenario = read_template("70b-chat-on-four")
    limits = Load(LoadKind.LIMITS, ttft_ms=1.0, tpot_ms=1.0)
    scenario = replace(scenario, workload=replace(scenario.workload, load=limits))
    with GpuDeskService.open() as service:
        table = build_comparison_table(service.answer(scenario), PLAIN)
    assert {cell.text for cell in find_row(table, "limiter").cells} == {"latency limits"}


def test_counts_in_the_heads_are_written_as_all_counts_are(make_answer: MakeAnswer) -> None:
    answer = make_answer("h200-sxm", "mi325x")
    columns = tuple(
        replace(column, estimate=replace(column.estimate, count=1024)) if column.estimate else column
        for column in answer.columns
    )
    heads = build_comparison_table(replace(answer, columns=columns), PLAIN).heads
    assert all(head.detail.endswith("× 1,024") for head in heads)


def test_a_printed_difference_agrees_with_the_printed_figures(make_answer: MakeAnswer) -> None:
    answer = make_answer("h200-sxm", "mi325x")
    columns = list(answer.columns)
    # By all digits the second is 10.51% lower.
    for position, value in enumerate((10.049, 8.993)):
        estimate = columns[position].estimate
        assert estimate is not None
        interval = IntervalEstimate(value, 0.9 * value, 1.1 * value)
        columns[position] = replace(columns[position], estimate=replace(estimate, tpot_ms=interval))
    changed = replace(answer, columns=tuple(columns))
    cells = find_row(build_comparison_table(changed, PLAIN), "tpot_ms").cells
    assert [(cell.text, cell.delta) for cell in cells] == [("10.0", None), ("8.99", "−10%")]
    group = build_difference_group(changed, ("H200-SXM", "MI325X"), PLAIN)
    assert group is not None
    assert next(each for each in group.rows if each.key == "difference.tpot_ms").cells[1].text == "−10"
