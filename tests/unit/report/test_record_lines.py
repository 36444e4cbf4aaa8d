"""Published figures in words: what differs, how far the estimate was off, and who published them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gpudesk.domain.answer import Answer
from gpudesk.domain.claim import Source, SourceKind
from gpudesk.domain.deployment_analysis import ComparableRun, RunCondition
from gpudesk.domain.estimate import Estimate, EstimateRequest, Load, LoadKind, Workload
from gpudesk.domain.precision import Precision
from gpudesk.report.explanation.claims import format_explanation
from gpudesk.report.explanation.figure import FigureEvidence, explain_figure
from gpudesk.report.explanation.working import build_measured_runs
from gpudesk.text.formatting import ENGLISH_NUMBERS, GERMAN_NUMBERS, Formatter
from tests.unit.report.conftest import MakeAnswer

FORMATTER = Formatter(ENGLISH_NUMBERS)
PAGE = Source(
    "page", "Results of 0.17", "A maker", SourceKind.MEASURED_VENDOR, "https://maker.example/results", "2025-02"
)
RUN = EstimateRequest(
    accelerator="mi325x",
    model="llama-3.1-405b",
    weights=Precision.FP8,
    workload=Workload(2048, 128, Load(LoadKind.SATURATE, requests=3000), varied=False, server=False),
    kv=Precision.FP8,
    count=8,
    serving_engine="tensorrt-llm",
    date="2025-02",
    tp=4,
    pp=1,
    dp=2,
)
RECORD = ComparableRun(
    run="R1",
    row="R1",
    figure="output_tokens_per_s",
    measured=5000.0,
    predicted=4400.0,
    inside_band=True,
    request=RUN,
    accelerator="Instinct MI325X",
    model="Llama 3.1 405B",
    engine_version="0.17",
    source=PAGE,
    differs=(RunCondition.ACCELERATOR, RunCondition.COUNT, RunCondition.MODEL, RunCondition.LENGTHS),
    distance=2.0,
    near=True,
    assumed=(RunCondition.KV, RunCondition.DATE),
)


@pytest.fixture
def answer(make_answer: MakeAnswer) -> Answer:
    return make_answer("h200-sxm")


@pytest.fixture
def estimate(answer: Answer) -> Estimate:
    column_estimate = answer.columns[0].estimate
    assert column_estimate is not None
    return column_estimate


def describe(estimate: Estimate, **changes: Any) -> str:  # noqa: ANN401 - any field of a record
    lines = build_measured_runs(estimate, "output_tokens_per_s", (replace(RECORD, **changes),), FORMATTER)
    assert lines is not None
    return lines.lines[0].what


def test_a_record_reads_as_one_sentence(estimate: Estimate) -> None:
    lines = build_measured_runs(estimate, "output_tokens_per_s", (RECORD,), FORMATTER)
    assert lines is not None
    assert (lines.of, lines.remark) == ("", None)
    (line,) = lines.lines
    assert line.error == "−12%"
    assert line.sentence == (
        "8 × MI325X, Llama 3.1 405B, 2,048 input and 128 output tokens: measured 5,000 tok/s, "
        "estimated 4,400 (−12%, inside the 80% interval); A maker, Results of 0.17, 2025-02"
    )
    details = {detail.label: detail.value for detail in line.details}
    assert details["Hardware"] == "8 × MI325X, TP 4 × DP 2"
    assert details["Load"] == "2,048 input and 128 output tokens, 3,000 queued at once, fixed lengths, without a server"
    assert details["Software"] == "TensorRT-LLM 0.17, 2025-02"
    assert details["Assumptions"] == "FP8 KV cache, software of 2025-02"
    assert line.details[-1].url
    assert line.details[-1].value == PAGE.url


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        (RunCondition.WEIGHTS, "FP8 weights"),
        (RunCondition.KV, "FP8 KV cache"),
        (RunCondition.SERVING_ENGINE, "TensorRT-LLM"),
        (RunCondition.LOAD, "3,000 queued at once"),
        (RunCondition.PLAN, "TP 4 × DP 2"),
        (RunCondition.POOLS, "One pool for prefill and decode"),
        (RunCondition.DATE, "Software of 2025-02"),
        (RunCondition.SERVER, "Without a server"),
        (RunCondition.SPREAD, "Fixed lengths"),
        (RunCondition.EAGER, "With graph capture"),
        (RunCondition.PREFIX, "No prefix cache"),
        (RunCondition.SPECULATION, "No speculative decoding"),
    ],
)
def test_each_condition_has_its_words(estimate: Estimate, condition: RunCondition, text: str) -> None:
    assert describe(estimate, differs=(condition,)) == text


def test_every_condition_has_a_text(estimate: Estimate) -> None:
    words = describe(estimate, differs=tuple(RunCondition)).split(", ")
    # Accelerator and count are one text.
    assert len(words) == len(RunCondition) - 1


def test_identical_conditions_are_named(estimate: Estimate) -> None:
    assert describe(estimate, differs=()) == "These conditions"


@pytest.mark.parametrize(
    ("inside", "end"),
    [(True, "(−12%, inside the 80% interval)"), (False, "(−12%, outside the 80% interval)"), (None, "(−12%)")],
)
def test_similar_run_names_inside_or_outside_the_interval(estimate: Estimate, inside: bool | None, end: str) -> None:
    lines = build_measured_runs(estimate, "tpot_ms", (replace(RECORD, inside_band=inside),), FORMATTER)
    assert lines is not None
    assert f"estimated 4,400 {end}; " in lines.lines[0].sentence


@pytest.mark.parametrize(
    ("predicted", "remark"),
    [
        ((6000.0, 5500.0), "Output throughput of similar measured runs on H200 SXM was estimated 10–20% too high"),
        ((4400.0, 4200.0), "Output throughput of similar measured runs on H200 SXM was estimated 12–16% too low"),
        ((4400.0, 5600.0), None),
        ((4400.0, 4900.0), None),
        ((4400.0,), None),
    ],
)
def test_biased_similar_runs_add_a_remark(estimate: Estimate, predicted: tuple[float, ...], remark: str | None) -> None:
    request = replace(RUN, accelerator=estimate.request.accelerator)
    mine = replace(RECORD, request=request, accelerator="H200 SXM 141GB")
    runs = tuple(replace(mine, predicted=each) for each in predicted)
    # Far runs, and those of other accelerators, say little about this estimate.
    others = (replace(mine, predicted=9000.0, near=False), replace(RECORD, predicted=9000.0))
    lines = build_measured_runs(estimate, "output_tokens_per_s", (*runs, *others), FORMATTER)
    assert lines is not None
    assert lines.remark == remark


def test_distant_or_missing_runs_add_a_remark(estimate: Estimate) -> None:
    far = build_measured_runs(estimate, "ttft_ms", (replace(RECORD, near=False),) * 2, FORMATTER)
    assert far is not None
    assert far.remark == "No close match; these are the nearest runs"
    nothing = build_measured_runs(estimate, "ttft_ms", (), FORMATTER)
    assert nothing is not None
    assert nothing.remark is not None
    assert nothing.remark.startswith("No similar measured runs")
    assert nothing.lines == ()


def test_derived_figures_name_their_basis_and_exact_figures_have_no_record(estimate: Estimate) -> None:
    total = build_measured_runs(estimate, "total_tokens_per_s", (RECORD,), FORMATTER)
    assert total is not None
    assert total.of == "Output throughput"
    assert build_measured_runs(estimate, "memory", (), FORMATTER) is None
    overloaded = replace(estimate, ttft_ms=None)
    assert build_measured_runs(overloaded, "ttft_ms", (), FORMATTER) is None


def test_every_record_has_the_same_details(estimate: Estimate) -> None:
    bare = replace(RECORD, assumed=(), note=None, source=replace(PAGE, url=None, date=None))
    full = replace(RECORD, note="The table says so.", source=replace(PAGE, trust="Tuned by the maker."))
    lines = build_measured_runs(estimate, "ttft_ms", (bare, full), FORMATTER)
    assert lines is not None
    one, two = ({detail.label: detail.value for detail in line.details} for line in lines.lines)
    assert list(one) == list(two)
    assert (one["Assumptions"], one["Note"], one["URL"]) == ("none", "—", "—")
    assert two["Note"] == "The table says so. Tuned by the maker."
    assert not any(detail.url for detail in lines.lines[0].details)


def test_numbers_follow_the_language(estimate: Estimate) -> None:
    lines = build_measured_runs(estimate, "output_tokens_per_s", (RECORD,), Formatter(GERMAN_NUMBERS))
    assert lines is not None
    assert lines.lines[0].figures == "measured 5.000 tok/s, estimated 4.400"


def test_copies_hold_the_records_with_their_addresses(answer: Answer) -> None:
    explanation = explain_figure(answer, 0, "output_tokens_per_s", FigureEvidence(record=(RECORD,)), FORMATTER)
    text = format_explanation(explanation)
    assert "Similar measured runs (predicted without them):\n- 8 × MI325X" in text
    assert "2025-02, https://maker.example/results\n" in text
    assert explain_figure(answer, 0, "output_tokens_per_s", FigureEvidence(), FORMATTER).record is None


def test_long_times_are_in_seconds(estimate: Estimate) -> None:
    slow = replace(RECORD, figure="ttft_ms", measured=15_400.0, predicted=2_420.0)
    lines = build_measured_runs(estimate, "ttft_ms", (slow,), FORMATTER)
    assert lines is not None
    assert lines.lines[0].figures == "measured 15.4 s, estimated 2.42"
