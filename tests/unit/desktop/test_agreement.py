"""One answer, one text: a figure reads the same in every place, and no dash stands without a reason."""

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
from gpudesk.report.data_table import DataRow
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
COMPARED: Final = ("output_tokens_per_s", "ttft_ms", "tpot_ms")

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
    "never met": Load(LoadKind.LIMITS, ttft_ms=0.5, tpot_ms=0.01),
}
#: Models with parts: alike, of all makers, one alone, announced, too small, a part twice, an impossible plan.
PARTS: Final = {
    "llama-3.1-70b": ("h200-sxm:1", "mi325x:1"),
    "llama-3.1-8b": ("l40s:1", "gaudi3:1", "tpu-v6e:4", "trainium2:1", "h100-pcie:2", "mi300x:1"),
    "mixtral-8x7b": ("h100-sxm:2",),
    "deepseek-v3": ("h200-sxm:8", "mi355x:8", "vera-rubin-nvl72", "l4:1"),
    "llama-3.1-405b": ("h100-sxm:4", "h100-sxm:16", "b200-hgx"),
    "gpt-oss-120b": ("rtx-4090:1", "a100-80gb-sxm:2", "mi300x:7"),
}


def scenario(model: str, load: str) -> Scenario:
    split = (part.partition(":") for part in PARTS[model])
    chosen = tuple(AcceleratorChoice(part, int(count) if count else None) for part, _, count in split)
    made = read_template("mi325x-or-h200-70b")
    workload = replace(made.workload, input_tokens=1500, output_tokens=700, load=LOADS[load])
    return replace(made, model=model, accelerators=chosen, workload=workload)


@dataclass(frozen=True)
class Shown:
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
    """Yield every model under every load; a test run answers every load and every model at least once, the soak all."""
    for (row, model), (column, load) in product(enumerate(PARTS), enumerate(LOADS)):
        marks = () if (row + column) % 6 == 0 else (pytest.mark.thorough,)
        yield pytest.param((model, load), id=f"{model} {load}", marks=marks)


@pytest.fixture(params=list_cases())
def shown(service: GpuDeskService, qapp: QApplication, request: pytest.FixtureRequest) -> Shown:
    desk = Desk(service, FORMATTER)
    desk.want_curves("test", are_wanted=True)
    desk.open(scenario(*request.param))
    answer = desk.answer
    assert answer is not None
    return Shown(
        desk,
        {row.key: row for row in build_comparison_table(answer, FORMATTER).rows},
        build_sheet(answer),
        encode_answer(answer)["accelerators"],
    )


def text_of(shown: Shown, position: int, name: str, unit: str | None = None) -> tuple[str, str | None]:
    """Return how a figure and its interval should read in a unit, from the values in JSON."""
    estimate = shown.fields[position]["estimate"]
    found = None if estimate is None else estimate[name]
    if found is None:
        return MISSING_VALUE_TEXT, None
    stored = get_figure_unit(name)
    factor = TIMES[unit] / TIMES[stored] if unit in TIMES and stored in TIMES else 1.0
    interval = IntervalEstimate(*(found[end] / factor for end in ("value", "low", "high")))
    return FORMATTER.estimate(interval.value), FORMATTER.band(interval)


def cell_text_of(shown: Shown, position: int, name: str, cell: str, unit: str | None) -> tuple[str, str | None]:
    """Return how a cell should read in the unit of its row or head, or in the longer unit that it names itself."""
    own_unit = cell.partition("\N{NO-BREAK SPACE}")[2]
    if not own_unit:
        return text_of(shown, position, name, unit)
    assert TIMES[own_unit] > TIMES[str(unit)]
    text, band = text_of(shown, position, name, own_unit)
    return f"{text}\N{NO-BREAK SPACE}{own_unit}", band and f"{band}\N{NO-BREAK SPACE}{own_unit}"


def test_it_reads_the_same_everywhere(shown: Shown, theme: Theme) -> None:
    check_figures(shown)
    check_panel(shown)
    check_read_out(shown, theme)
    check_headlines(shown)
    check_memory(shown)
    check_physics(shown)


def check_figures(shown: Shown) -> None:
    for name in FIGURES:
        compared, printed = shown.rows.get(name), shown.sheet_row(label_figure(name))
        figures = make_estimate_figures(shown.desk, (name,))
        charted = {row.key: row for row in figures.rows} if name in COMPARED else {}
        for position, key in enumerate(shown.desk.keys):
            text, _ = text_of(shown, position, name)
            if compared is not None:
                cell = compared.cells[position]
                assert (cell.text, cell.band) == cell_text_of(shown, position, name, cell.text, compared.unit)
                assert cell.reason if text == MISSING_VALUE_TEXT else not cell.reason
                check_reason(shown.estimates[position], cell.reason, charted.get(key))
            if printed is not None:
                cell = printed.cells[position]
                assert (cell.text, cell.band) == cell_text_of(shown, position, name, cell.text, printed.unit)
            if charted:
                row = charted[key]
                head_unit = figures.columns[1].head.rpartition(", ")[2]
                in_unit, band_in_unit = cell_text_of(shown, position, name, row.cells[1].text, head_unit)
                assert [each.text for each in row.cells[1:3]] == [in_unit, band_in_unit or ""]
                assert text != MISSING_VALUE_TEXT or row.cells[-1].text


def check_reason(estimate: Estimate | None, reason: str | None, charted: DataRow | None) -> None:
    """Under overload and unmet limits a missing figure says just that, in the table and under charts."""
    if reason is None or estimate is None or not estimate.fits:
        return
    if estimate.stable is False:
        assert reason == "overloaded"
    elif estimate.output_tokens_per_s is None:
        assert reason == "limits not met"
    else:
        return
    assert charted is None or (charted.cells[-1].text, charted.cells[-1].is_fault) == (reason, True)


def check_panel(shown: Shown) -> None:
    """Compare what is said of a selected figure; where none exists, it says why."""
    explainer = SelectionExplainer(shown.desk)
    for name in (*FIGURES, "max_concurrency"):
        for position, key in enumerate(shown.desk.keys):
            found = explainer.explain(figure_of_column(key, name))
            assert found is not None
            estimate = shown.estimates[position]
            if estimate is not None and not estimate.fits:
                check_shortage(shown, position, found)
                continue
            if name == "max_concurrency":
                assert found.figure == shown.rows[name].cells[position].text
                continue
            text, band = text_of(shown, position, name, found.unit)
            assert found.figure == text
            assert band is None or found.band == f"80% interval: {band.replace('–', 'to')}"
            assert found.figure != MISSING_VALUE_TEXT or found.band or found.basis or found.facts


def check_shortage(shown: Shown, position: int, found: Explanation) -> None:
    assert found.unit == "GiB short"
    short = f"{found.figure} GiB"
    part = shown.desk.columns[position]
    assert short in describe_limiter(part, shown.desk)[0]
    bar = make_memory_bars(shown.desk)[position]
    assert short in bar.detail
    assert short in bar.sentence


def check_read_out(shown: Shown, theme: Theme) -> None:
    answer = shown.desk.answer
    assert answer is not None
    if answer.scenario.workload.load.kind is not LoadKind.CONCURRENCY:
        return
    drawing = ThroughputChart(shown.desk, theme).make_drawing()
    rows = {} if drawing.cursor_readout is None else {row.key: row for row in drawing.cursor_readout.rows}
    for position, (key, estimate) in enumerate(zip(shown.desk.keys, shown.estimates, strict=True)):
        if key in rows and estimate is not None and estimate.admitted == estimate.concurrency:
            assert rows[key].cells[0] == text_of(shown, position, "output_tokens_per_s")[0]


def check_headlines(shown: Shown) -> None:
    answer = shown.desk.answer
    assert answer is not None
    keys = shown.desk.keys
    # Announced accelerators next to shipping ones, and what queues, have their figures and no place in the ranking.
    queues = {key for key, e in zip(keys, shown.estimates, strict=True) if e and e.queues}
    outside = {keys[position] for position in answer.unranked} | (queues if len(keys) > 1 else set())
    strip = {each.figure: each for each in build_screen_headlines(answer, FORMATTER)}
    for name in COMPARED:
        have = [key for key, e in zip(keys, shown.estimates, strict=True) if e and getattr(e, name)]
        known = [key for key in have if key not in outside]
        figures = {key: getattr(e, name).value for key, e in zip(keys, shown.estimates, strict=True) if key in known}
        pick = min if name.endswith("_ms") else max
        first = pick(known, key=figures.__getitem__, default="")
        best = {keys[position] for position in find_leaders(answer, name)}
        row = shown.rows.get(name)
        marks = {} if row is None else {key: cell.mark for key, cell in zip(keys, row.cells, strict=True)}
        asked = strip[name]
        if len(known) > 1:
            assert first in best <= set(known)
            assert (max(compute_win_odds(answer, name).values()) >= 0.65) == (len(best) == 1)
            assert {leader.key for leader in asked.leaders} == best
            assert asked.is_open == (len(best) > 1)
            marked = {key for key, mark in marks.items() if mark not in (None, CellMarking.QUEUES)}
            assert marked == best
            assert (CellMarking.BEST in marks.values()) == (len(best) == 1)
        else:
            assert set(marks.values()) <= {None, CellMarking.QUEUES}
            assert not asked.is_open
        assert {key for key, mark in marks.items() if mark is CellMarking.QUEUES} == queues & set(have)
        if len(best) <= 1 and known:
            assert asked.text == text_of(shown, keys.index(first), name, asked.unit)[0]
        assert asked.text != MISSING_VALUE_TEXT or asked.detail


def check_memory(shown: Shown) -> None:
    data = make_memory_data(shown.desk, FORMATTER, "")
    at = {head: number for number, head in enumerate(data.heads)}
    bars = make_memory_bars(shown.desk)
    for position, estimate in enumerate(shown.estimates):
        cells, bar = data.rows[position], bars[position]
        if estimate is None:
            assert cells[-1] == MISSING_VALUE_TEXT
            assert bar.sentence
            continue
        use = shown.fields[position]["estimate"]["memory_gib"]
        assert cells[at["Weights, GiB"]] == FORMATTER.gib(use["weights"] * GIB)
        assert cells[at["KV cache, GiB"]] == FORMATTER.gib(use["kv"] * GIB)
        assert cells[at["Capacity, GiB"]] == FORMATTER.gib(use["capacity"] * GIB)
        compared = {key: shown.rows[f"memory.{key}"].cells[position].text for key in ("weights", "kv", "free")}
        use["free"] = estimate.memory.spare_bytes / GIB
        known = compared if estimate.fits else ("weights",)
        assert compared == {
            key: FORMATTER.gib(use[key] * GIB) if key in known else MISSING_VALUE_TEXT for key in compared
        }
        most = shown.rows["max_concurrency"].cells[position] if "max_concurrency" in shown.rows else None
        if most is not None:
            assert most.text == (cells[at["Max concurrency"]] if estimate.fits else MISSING_VALUE_TEXT)


def room_left(estimate: Estimate, shown: Shown) -> bool:
    """Return whether memory holds what runs, at full length or said to be given as it grows."""
    said = {note.id for note in estimate.notes} & {"estimate.grown", "estimate.queued_grown"}
    room = shown.desk.service.estimator.compute_usable_memory(estimate)
    waits = (estimate.admitted or 0) < (estimate.concurrency or 0)
    return estimate.grows == bool(said) and (room.spare_bytes >= 0 or waits)


def check_physics(shown: Shown) -> None:
    for part, estimate in zip(shown.desk.columns, shown.estimates, strict=True):
        if estimate is None:
            assert part.column.problem is not None
            continue
        said, faulty = describe_limiter(part, shown.desk)
        if not estimate.fits:
            assert faulty
            assert said
            assert all(getattr(estimate, name) is None for name in FIGURES)
            continue
        use = estimate.memory
        assert sum(use[1:-1]) == use.capacity_bytes
        assert min(use) >= 0
        assert room_left(estimate, shown)
        for banded in (getattr(estimate, name) for name in FIGURES):
            assert banded is None or 0 < banded.low <= banded.value <= banded.high
        roofline = shown.desk.service.estimator.roofline(estimate)
        assert roofline is not None
        for point in (roofline.prefill, roofline.decode):
            assert point is None or point.flops <= roofline.paper.at(point.intensity) * (1 + 1e-9)
