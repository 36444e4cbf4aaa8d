"""The page of the manual and its summary: every section is there with any rows."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import pytest

from accuracy_report.data import AccuracyData, PeerAnswers, PeerSpeed, summarize_accuracy
from accuracy_report.measures import BARS, FigureView, find_misses, measure_errors
from accuracy_report.page import write_accuracy_page
from accuracy_report.wording import ReportNames
from calibration.bench import BenchRun
from calibration.memory_measurements import JudgedMemory, MemoryMeasurement
from gpudesk.domain.estimate import Load, LoadKind
from gpudesk.estimation.published_runs import HeldOutFigure
from tests.unit.calibration.records import RATE, TPOT, TTFT, make_held_out, make_run, make_spread

FIGURES = {RATE: 1000.0, TPOT: 20.0, TTFT: 300.0}
FOLDS = ("series", "accelerator", "generation", "vendor")
RUNS = [
    make_run(
        f"{series} {place} {part}",
        FIGURES,
        series=f"s{series}",
        model=f"m{place}",
        accelerator=part,
        generation={"h200-sxm": "hopper", "mi300x": "cdna3"}[part],
        vendor={"h200-sxm": "NVIDIA", "mi300x": "AMD"}[part],
        version=f"vllm 0.{place % 3}",
    )
    for series in range(5)
    for place in range(6)
    for part in ("h200-sxm", "mi300x")
]
PEER = PeerAnswers("other", "1.0", "", {(RUNS[0].id, RATE): 1500.0}, {(RUNS[1].id, RATE): "memory"})


def report(
    held_out_figures: Sequence[HeldOutFigure],
    runs: Sequence[BenchRun] = RUNS,
    peers: Sequence[PeerAnswers] = (PEER,),
    speeds: Sequence[PeerSpeed] = (PeerSpeed("other", "1.0", "one by one", 1, 2.5),),
    fitted: str = "d" * 64,
) -> AccuracyData:
    return AccuracyData(
        runs=runs,
        held_out=held_out_figures,
        peers=peers,
        speeds=speeds,
        names=ReportNames({"h200-sxm": "H200 SXM"}, {}, {"one-2026": "One"}, {"vllm": "vLLM"}),
        unused={"same-run": 3, "speculative": 1},
        refused=0,
        data_revision="d" * 64,
        fitted_revision=fitted,
        calibration_revision="c" * 64,
        newest_month="2026-09",
        constants=36,
    )


def figures(reach: float, folds: Sequence[str] = FOLDS) -> list[HeldOutFigure]:
    return [
        each
        for figure in (RATE, TPOT, TTFT)
        for each in make_held_out(RUNS, make_spread(len(RUNS), reach), folds, figure)
    ]


@pytest.mark.parametrize("reach", [1.01, 1.3, 3.0, 50.0])
def test_accuracy_page_has_all_sections_for_any_errors(reach: float) -> None:
    page = write_accuracy_page(report(figures(reach)))
    assert [int(number) for number in re.findall(r"^## (\d)\. ", page, re.MULTILINE)] == [1, 2, 3, 4, 5, 6, 7, 8, 9]
    assert "nan" not in page
    assert "None" not in page
    assert ".." not in page.replace("../../data", "")


def test_every_table_has_as_many_cells_in_each_row_as_in_its_head() -> None:
    page = write_accuracy_page(report(figures(2.0)))
    for block in re.findall(r"(?:^\|.*\n)+", page, re.MULTILINE):
        assert len({line.count("|") for line in block.splitlines()}) == 1


def test_small_errors_miss_no_bar_of_the_error() -> None:
    page = write_accuracy_page(report(figures(1.15)))
    section = page.partition("## 6.")[2]
    assert "the median is" not in section
    assert "p90 is" not in section


def test_large_errors_are_marked_and_explained() -> None:
    page = write_accuracy_page(report(figures(4.0)))
    assert "miss by more than 35%" in page
    assert "the median is" in page.partition("## 6.")[2]


def test_one_publisher_and_no_peers_are_enough() -> None:
    page = write_accuracy_page(report(make_held_out(RUNS, make_spread(60, 1.5)), peers=(), speeds=()))
    assert "No other estimator was run." in page
    assert "TPOT" not in page.partition("## 4.")[0].partition("## 2.")[2]


def test_counts_dates_and_hashes_are_there() -> None:
    page = write_accuracy_page(report(figures(1.5)))
    assert "180 figures of 60 published runs by 5 publishers" in page
    assert "4 further published figures are kept and shown, but unused" in page
    assert f"`{'d' * 64}`" in page
    assert "[calibration.json](../../data/calibration.json)" in page


def _without(figures: Sequence[HeldOutFigure], figure: str, many: int) -> list[HeldOutFigure]:
    """Return held-out figures of which the first runs have no prediction of one figure."""
    silent = {each.id for each in RUNS[:many]}
    return [each for each in figures if each.figure != figure or each.run not in silent]


def test_figures_without_a_prediction_are_counted_by_figure() -> None:
    data = report(_without(_without(figures(1.5), RATE, 7), TPOT, 2))
    page = write_accuracy_page(data)
    assert "9 figures have no prediction" in page
    assert "7 of throughput and 2 of TPOT" in page
    assert summarize_accuracy(data)["unpredicted"] == {fold: {RATE: 7, TPOT: 2} for fold in FOLDS}
    throughput = page.partition("### Throughput")[2].partition("###")[0]
    rows = [line.split(" | ") for line in throughput.splitlines() if line.startswith("| publisher")]
    assert [row[2] for row in rows] == ["53"]
    assert [row[-1].rstrip(" |") for row in rows] == ["7"]


def test_complete_predictions_add_no_remark() -> None:
    data = report(figures(1.5))
    assert "no prediction" not in write_accuracy_page(data)
    assert summarize_accuracy(data)["unpredicted"] == {fold: {} for fold in FOLDS}


def test_runs_that_the_program_does_not_answer_are_counted() -> None:
    assert "no estimate" not in write_accuracy_page(report(figures(1.5)))
    assert "3 further runs have no estimate" in write_accuracy_page(replace(report(figures(1.5)), refused=3))


def test_publishers_count_alike_however_many_figures_each_has() -> None:
    runs = [make_run(f"many {place}", series="many") for place in range(30)]
    runs += [make_run(f"{series} {place}", series=series) for series in ("two", "three") for place in range(10)]
    ratios = [1.1] * 30 + [1.4] * 10 + [2.0] * 10
    data = report(make_held_out(runs, ratios), runs, peers=(), speeds=())
    summary = write_accuracy_page(data).partition("## 1.")[0]
    lines = [line.strip("| ").split(" | ") for line in summary.splitlines() if line.startswith("| Throughput")]
    assert lines[0] == ["Throughput", "3", "40.0%", "40.0%"]
    assert lines[1][1:3] == ["50", "10.0%"]
    assert summarize_accuracy(data)["publishers"]["throughput"]["median"] == pytest.approx(0.4)


def test_combinations_of_engine_model_and_load_that_lean_to_one_side_are_marked() -> None:
    places = [(place, f"s{place % 2}") for place in range(20)]
    kinds = ("dense", "mixture of experts")
    runs = [make_run(f"{kind} {place}", experts=kind, series=series) for kind in kinds for place, series in places]
    few = Load(LoadKind.CONCURRENCY, concurrency=8)
    runs += [make_run(f"few {place}", load=few, series=series) for place, series in places[1:]]
    data = report(make_held_out(runs, [1.05] * 20 + [0.8] * 20 + [3.0] * 19), runs, peers=(), speeds=())
    section = write_accuracy_page(data).partition("### By serving engine")[2].partition("## 4.")[0]
    rows = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("| throughput")]
    assert [(row[1], row[2], row[4], row[5]) for row in rows] == [
        ("vLLM", "dense", "20", "×1.05"),
        ("vLLM", "mixture of experts", "20", "**×0.80**"),
    ]


def test_pairs_of_plans_have_a_table_of_their_own() -> None:
    assert "No two plans of one accelerator were measured under the same conditions." in write_accuracy_page(
        report(figures(1.5))
    )
    runs = [
        make_run(f"{series} {place} {count}", FIGURES, series=f"s{series}", model=f"m{place}", count=count)
        for series in range(3)
        for place in range(5)
        for count in (1, 2)
    ]
    data = report(make_held_out(runs, [1.0, 1.2] * 15), runs, peers=(), speeds=())
    section = write_accuracy_page(data).partition("### Two parallel plans")[2].partition("## 5.")[0]
    (row,) = [line.split(" | ") for line in section.splitlines() if line.startswith("| throughput")]
    # As many as there are models of publishers.
    assert row[1:3] == ["3", "15"]
    assert row[5] == "16.7%"
    assert summarize_accuracy(data)["plans"][RATE]["pairs"] == 15


def test_memory_is_compared_with_the_logs_of_serving_engines() -> None:
    assert "No memory figures of serving engines" in write_accuracy_page(report(figures(1.5)))
    rows = [
        _memory("vllm", "cache", 50.0, 51.0),
        _memory("vllm", "kv_tokens", 1000.0, 1040.0),
        _memory("sglang", "cache", 50.0, 45.0),
        _memory("sglang", "weights", 10.0, 10.1),
    ]
    section = write_accuracy_page(replace(report(figures(1.5)), memory=rows)).partition("## 7.")[2]
    lines = [line.strip("| ").split(" | ") for line in section.partition("## 8.")[0].splitlines()]
    cells = {(line[0], line[1]): line[2:] for line in lines if len(line) > 2}
    assert cells["KV cache space", "all"] == ["3", "4.0%", "8.8%", "×1.02"]
    assert cells["KV cache space", "sglang"] == ["1", "10.0%", "10.0%", "×0.90"]
    assert cells["KV cache space", "vllm"][0] == "2"
    assert cells["weights", "all"] == ["1", "1.0%", "1.0%", "×1.01"]


def _memory(engine: str, metric: str, measured: float, predicted: float) -> JudgedMemory:
    row = SimpleNamespace(source="log", metric=metric, value=measured, request=SimpleNamespace(serving_engine=engine))
    return JudgedMemory(cast("MemoryMeasurement", row), predicted)


def test_summary_has_the_content_of_the_page() -> None:
    data = report(figures(1.5))
    summary = json.loads(json.dumps(summarize_accuracy(data)))
    assert set(summary["folds"]) == set(FOLDS)
    throughput = summary["folds"]["series"]["throughput"]
    assert throughput["rows"] == 60
    page = write_accuracy_page(data)
    assert f"{100 * throughput['median']:.1f}%" in page
    assert summary["pairs"]["series"][RATE]["pairs"] == 30


def test_a_figure_is_judged_only_where_there_are_rows_enough() -> None:
    rows = [row for row in report(figures(4.0)).series_rows if row.figure == RATE]
    assert find_misses(measure_errors(rows), FigureView.THROUGHPUT)
    assert not find_misses(measure_errors(rows[:29]), FigureView.THROUGHPUT)


def test_the_bars_are_those_that_the_report_is_for() -> None:
    assert (BARS[FigureView.THROUGHPUT].median, BARS[FigureView.THROUGHPUT].p90) == (0.11, 0.35)
    assert (BARS[FigureView.TPOT].median, BARS[FigureView.TPOT].p90) == (0.15, 0.40)
    assert (BARS[FigureView.BURST_TTFT].median, BARS[FigureView.BURST_TTFT].p90) == (0.16, 0.50)


def test_measurements_that_the_fit_has_not_seen_are_reported() -> None:
    assert "have changed since the fit" not in write_accuracy_page(report(figures(1.5)))
    assert "have changed since the fit" in write_accuracy_page(report(figures(1.5), fitted="e" * 64))
