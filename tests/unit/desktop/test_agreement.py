"""A figure has the same text in every view, and every dash has a reason."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Final

import pytest
from _pytest.mark import ParameterSet
from PySide6.QtWidgets import QApplication

from gpudesk.desktop.pages.memory.bars import make_memory_bars, make_memory_data
from gpudesk.desktop.pages.performance.concurrency_charts import ThroughputChart
from gpudesk.desktop.pages.performance.views import describe_limiter, make_estimate_figures
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.selection import select_figure as figure_of_column
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.window.sources_panel import SelectionExplainer
from gpudesk.documents.scenario_file import read_template
from gpudesk.domain.answer import AcceleratorChoice, Scenario, compute_win_odds, find_leaders
from gpudesk.domain.estimate import Estimate, Load, LoadKind
from gpudesk.report.comparison.headlines import build_screen_headlines
from gpudesk.report.comparison.sheet import build_sheet
from gpudesk.report.comparison.table import build_comparison_table
from gpudesk.report.comparison.tables import CellMarking, ComparisonRow, ComparisonSheet
from gpudesk.report.data_table import CellSeverity, DataRow
from gpudesk.report.explanation.parts import Explanation
from gpudesk.report.labels import get_figure_unit, label_figure
from gpudesk.report.writers.json import encode_answer
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import ENGLISH_NUMBERS, MISSING_VALUE_TEXT, Formatter, IntervalEstimate
from gpudesk.text.units import GIB

FORMATTER: Final = Formatter(ENGLISH_NUMBERS)
FIGURES: Final = (
    "output_tokens_per_s",
    "output_tokens_per_s_per_accelerator",
    "total_tokens_per_s",
    "ttft_ms",
    "tpot_ms",
    "request_s",
    "batch_s",
)
HEADLINE_FIGURES: Final = ("output_tokens_per_s", "ttft_ms", "tpot_ms")

#: Units of times on display, in ms.
TIMES: Final = {"ms": 1.0, "s": 1e3, "min": 6e4, "h": 3.6e6}

LOADS: Final = {
    "closed": Load(LoadKind.CONCURRENCY, concurrency=48),
    "queueing": Load(LoadKind.CONCURRENCY, concurrency=20_000),
    "finite": Load(LoadKind.CONCURRENCY, concurrency=16, requests=200),
    "one": Load(LoadKind.BATCH, batch=1),
    "batch": Load(LoadKind.BATCH, batch=900),
    "saturated": Load(LoadKind.SATURATE, requests=1000),
    "slow": Load(LoadKind.REQUEST_RATE, request_rate=0.2),
    "overloaded": Load(LoadKind.REQUEST_RATE, request_rate=500.0),
    "limits": Load(LoadKind.LIMITS, ttft_ms=3000.0, tpot_ms=60.0),
    "unmet limits": Load(LoadKind.LIMITS, ttft_ms=0.5, tpot_ms=0.01),
}
#: Models with accelerators: similar, of every vendor, single, announced, too small, twice the same, an impossible plan.
ACCELERATORS: Final = {
    "llama-3.1-70b": ("h200-sxm:1", "mi325x:1"),
    "llama-3.1-8b": ("l40s:1", "gaudi3:1", "tpu-v6e:4", "trainium2:1", "h100-pcie:2", "mi300x:1"),
    "mixtral-8x7b": ("h100-sxm:2",),
    "deepseek-v3": ("h200-sxm:8", "mi355x:8", "vera-rubin-nvl72", "l4:1"),
    "llama-3.1-405b": ("h100-sxm:4", "h100-sxm:16", "b200-hgx"),
    "gpt-oss-120b": ("rtx-4090:1", "a100-80gb-sxm:2", "mi300x:7"),
}


def scenario(model: str, load: str) -> Scenario:
    split = (accelerator.partition(":") for accelerator in ACCELERATORS[model])
    choices = tuple(AcceleratorChoice(accelerator, int(count) if count else None) for accelerator, _, count in split)
    template = read_template("mi325x-or-h200-70b")
    workload = replace(template.workload, input_tokens=1500, output_tokens=700, load=LOADS[load])
    return replace(template, model=model, accelerators=choices, workload=workload)


@dataclass(frozen=True)
class AnswerViews:
    """One answer in all its forms."""

    desk: Desk
    rows: dict[str, ComparisonRow]
    sheet: ComparisonSheet
    fields: list[dict[str, Any]]

    @property
    def estimates(self) -> list[Estimate | None]:
        assert self.desk.answer is not None
        return [column.estimate for column in self.desk.answer.columns]

    def sheet_row(self, label: str) -> ComparisonRow | None:
        """Return the sheet's row of results with a label; differences have rows of their own."""
        groups = [group for group in self.sheet.table.groups if group.title == "At this workload"]
        return next((row for group in groups for row in group.rows if row.label == label), None)


def list_cases() -> Iterator[ParameterSet]:
    """Yield every model under every load; an ordinary run covers each model and each load once, the soak all pairs."""
    for (row, model), (column, load) in product(enumerate(ACCELERATORS), enumerate(LOADS)):
        marks = () if (row + column) % 6 == 0 else (pytest.mark.thorough,)
        yield pytest.param((model, load), id=f"{model} {load}", marks=marks)


@pytest.fixture(params=list_cases())
def views(service: GpuDeskService, qapp: QApplication, request: pytest.FixtureRequest) -> AnswerViews:
    desk = Desk(service, FORMATTER)
    desk.want_curves("test", are_wanted=True)
    desk.open(scenario(*request.param))
    answer = desk.answer
    assert answer is not None
    return AnswerViews(
        desk,
        {row.key: row for row in build_comparison_table(answer, FORMATTER).rows},
        build_sheet(answer),
        encode_answer(answer)["accelerators"],
    )


def expected_text(views: AnswerViews, position: int, name: str, unit: str | None = None) -> tuple[str, str | None]:
    """Return how a figure and its interval should read in a unit, from the values in JSON."""
    estimate = views.fields[position]["estimate"]
    fields = None if estimate is None else estimate[name]
    if fields is None:
        return MISSING_VALUE_TEXT, None
    stored = get_figure_unit(name)
    factor = TIMES[unit] / TIMES[stored] if unit in TIMES and stored in TIMES else 1.0
    interval = IntervalEstimate(*(fields[bound] / factor for bound in ("value", "low", "high")))
    return FORMATTER.estimate(interval.value), FORMATTER.band(interval)


def expected_cell_text(
    views: AnswerViews, position: int, name: str, cell: str, unit: str | None
) -> tuple[str, str | None]:
    """Return how a cell should read in the unit of its row or head, or in the longer unit that it names itself."""
    own_unit = cell.partition("\N{NO-BREAK SPACE}")[2]
    if not own_unit:
        return expected_text(views, position, name, unit)
    assert TIMES[own_unit] > TIMES[str(unit)]
    text, band = expected_text(views, position, name, own_unit)
    return f"{text}\N{NO-BREAK SPACE}{own_unit}", band and f"{band}\N{NO-BREAK SPACE}{own_unit}"


def test_figures_read_the_same_everywhere(views: AnswerViews, theme: Theme) -> None:
    check_figures(views)
    check_panel(views)
    check_cursor_readout(views, theme)
    check_headlines(views)
    check_memory(views)
    check_physics(views)


def check_figures(views: AnswerViews) -> None:
    for name in FIGURES:
        compared, printed = views.rows.get(name), views.sheet_row(label_figure(name))
        figures = make_estimate_figures(views.desk, (name,))
        charted = {row.key: row for row in figures.rows} if name in HEADLINE_FIGURES else {}
        for position, key in enumerate(views.desk.keys):
            text, _ = expected_text(views, position, name)
            if compared is not None:
                cell = compared.cells[position]
                assert (cell.text, cell.band) == expected_cell_text(views, position, name, cell.text, compared.unit)
                assert cell.reason if text == MISSING_VALUE_TEXT else not cell.reason
                check_reason(views.estimates[position], cell.reason, charted.get(key))
            if printed is not None:
                cell = printed.cells[position]
                assert (cell.text, cell.band) == expected_cell_text(views, position, name, cell.text, printed.unit)
            if charted:
                row = charted[key]
                head_unit = figures.columns[1].head.rpartition(", ")[2]
                in_unit, band_in_unit = expected_cell_text(views, position, name, row.cells[1].text, head_unit)
                assert [each.text for each in row.cells[1:3]] == [in_unit, band_in_unit or ""]
                assert text != MISSING_VALUE_TEXT or row.cells[-1].text


def check_reason(estimate: Estimate | None, reason: str | None, charted: DataRow | None) -> None:
    """Overload and unmet limits are the reason of a missing figure, in the table and below charts."""
    if reason is None or estimate is None or not estimate.fits:
        return
    if estimate.stable is False:
        assert reason == "overloaded"
    elif estimate.output_tokens_per_s is None:
        assert reason == "limits not met"
    else:
        return
    assert charted is None or (charted.cells[-1].text, charted.cells[-1].severity) == (reason, CellSeverity.FAULT)


def check_panel(views: AnswerViews) -> None:
    """Compare the panel's explanation of each figure; a missing figure has a reason."""
    explainer = SelectionExplainer(views.desk)
    for name in (*FIGURES, "max_concurrency"):
        for position, key in enumerate(views.desk.keys):
            explanation = explainer.explain(figure_of_column(key, name))
            assert explanation is not None
            estimate = views.estimates[position]
            if estimate is not None and not estimate.fits:
                check_shortage(views, position, explanation)
                continue
            if name == "max_concurrency":
                assert explanation.figure == views.rows[name].cells[position].text
                continue
            text, band = expected_text(views, position, name, explanation.unit)
            assert explanation.figure == text
            assert band is None or explanation.band == f"80% interval: {band.replace('–', 'to')}"
            assert (
                explanation.figure != MISSING_VALUE_TEXT or explanation.band or explanation.basis or explanation.facts
            )


def check_shortage(views: AnswerViews, position: int, explanation: Explanation) -> None:
    assert explanation.unit == "GiB short"
    short = f"{explanation.figure} GiB"
    column = views.desk.columns[position]
    assert short in describe_limiter(column, views.desk)[0]
    bar = make_memory_bars(views.desk)[position]
    assert short in bar.detail
    assert short in bar.sentence


def check_cursor_readout(views: AnswerViews, theme: Theme) -> None:
    answer = views.desk.answer
    assert answer is not None
    if answer.scenario.workload.load.kind is not LoadKind.CONCURRENCY:
        return
    drawing = ThroughputChart(views.desk, theme).make_drawing()
    rows = {} if drawing.cursor_readout is None else {row.key: row for row in drawing.cursor_readout.rows}
    for position, (key, estimate) in enumerate(zip(views.desk.keys, views.estimates, strict=True)):
        if key in rows and estimate is not None and estimate.admitted == estimate.concurrency:
            assert rows[key].cells[0] == expected_text(views, position, "output_tokens_per_s")[0]


def check_headlines(views: AnswerViews) -> None:
    answer = views.desk.answer
    assert answer is not None
    keys = views.desk.keys
    # Announced accelerators next to shipping ones, and those that queue, have figures but no rank.
    queues = {key for key, e in zip(keys, views.estimates, strict=True) if e and e.queues}
    outside = {keys[position] for position in answer.unranked} | (queues if len(keys) > 1 else set())
    strip = {each.figure: each for each in build_screen_headlines(answer, FORMATTER)}
    for name in HEADLINE_FIGURES:
        keys_with_value = [key for key, e in zip(keys, views.estimates, strict=True) if e and getattr(e, name)]
        ranked = [key for key in keys_with_value if key not in outside]
        figures = {key: getattr(e, name).value for key, e in zip(keys, views.estimates, strict=True) if key in ranked}
        pick = min if name.endswith("_ms") else max
        first = pick(ranked, key=figures.__getitem__, default="")
        best = {keys[position] for position in find_leaders(answer, name)}
        row = views.rows.get(name)
        marks = {} if row is None else {key: cell.mark for key, cell in zip(keys, row.cells, strict=True)}
        headline = strip[name]
        if len(ranked) > 1:
            assert first in best <= set(ranked)
            assert (max(compute_win_odds(answer, name).values()) >= 0.65) == (len(best) == 1)
            assert {leader.key for leader in headline.leaders} == best
            assert headline.is_open == (len(best) > 1)
            marked = {key for key, mark in marks.items() if mark not in (None, CellMarking.QUEUES)}
            assert marked == best
            assert (CellMarking.BEST in marks.values()) == (len(best) == 1)
        else:
            assert set(marks.values()) <= {None, CellMarking.QUEUES}
            assert not headline.is_open
        assert {key for key, mark in marks.items() if mark is CellMarking.QUEUES} == queues & set(keys_with_value)
        if len(best) <= 1 and ranked:
            assert headline.text == expected_text(views, keys.index(first), name, headline.unit)[0]
        assert headline.text != MISSING_VALUE_TEXT or headline.detail


def check_memory(views: AnswerViews) -> None:
    data = make_memory_data(views.desk, FORMATTER, "")
    column_index = {head: number for number, head in enumerate(data.heads)}
    bars = make_memory_bars(views.desk)
    for position, estimate in enumerate(views.estimates):
        cells, bar = data.rows[position], bars[position]
        if estimate is None:
            assert cells[-1] == MISSING_VALUE_TEXT
            assert bar.sentence
            continue
        use = views.fields[position]["estimate"]["memory_gib"]
        assert cells[column_index["Weights, GiB"]] == FORMATTER.gib(use["weights"] * GIB)
        assert cells[column_index["KV cache, GiB"]] == FORMATTER.gib(use["kv"] * GIB)
        assert cells[column_index["Capacity, GiB"]] == FORMATTER.gib(use["capacity"] * GIB)
        compared = {key: views.rows[f"memory.{key}"].cells[position].text for key in ("weights", "kv", "free")}
        use["free"] = estimate.memory.spare_bytes / GIB
        visible_keys = compared if estimate.fits else ("weights",)
        assert compared == {
            key: FORMATTER.gib(use[key] * GIB) if key in visible_keys else MISSING_VALUE_TEXT for key in compared
        }
        max_concurrency = views.rows["max_concurrency"].cells[position] if "max_concurrency" in views.rows else None
        if max_concurrency is not None:
            assert max_concurrency.text == (
                cells[column_index["Max concurrency"]] if estimate.fits else MISSING_VALUE_TEXT
            )


def is_memory_consistent(estimate: Estimate, views: AnswerViews) -> bool:
    """Return whether usable memory holds the running requests, and notes say so where the cache grows on demand."""
    growth_notes = {note.id for note in estimate.notes} & {"estimate.grown", "estimate.queued_grown"}
    usable_memory = views.desk.service.estimator.compute_usable_memory(estimate)
    waits = (estimate.admitted or 0) < (estimate.concurrency or 0)
    return estimate.grows == bool(growth_notes) and (usable_memory.spare_bytes >= 0 or waits)


def check_physics(views: AnswerViews) -> None:
    for column, estimate in zip(views.desk.columns, views.estimates, strict=True):
        if estimate is None:
            assert column.column.problem is not None
            continue
        limiter, severity = describe_limiter(column, views.desk)
        if not estimate.fits:
            assert severity is CellSeverity.FAULT
            assert limiter
            assert all(getattr(estimate, name) is None for name in FIGURES)
            continue
        use = estimate.memory
        assert sum(use[1:-1]) == use.capacity_bytes
        assert min(use) >= 0
        assert is_memory_consistent(estimate, views)
        for interval in (getattr(estimate, name) for name in FIGURES):
            assert interval is None or 0 < interval.low <= interval.value <= interval.high
        roofline = views.desk.service.estimator.roofline(estimate)
        assert roofline is not None
        for point in (roofline.prefill, roofline.decode):
            assert point is None or point.flops <= roofline.paper.at(point.intensity) * (1 + 1e-9)
