"""Never beyond physics: every accelerator, model, format, TP degree and kind of load of the catalog.

What no deployment can beat is computed here again, from bytes, FLOPs, peaks and bandwidths alone, so
that a wrong unit or a lost factor in the engine shows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
from typing import Any, Final

import numpy as np
import pytest
from numpy.typing import NDArray

from gpudesk.catalog.read import Catalog
from gpudesk.domain.estimate import Estimate, LoadKind
from gpudesk.engine.calibration import Calibration
from gpudesk.engine.memory import KvCacheProfile
from gpudesk.engine.serving import LOAD_CODES
from gpudesk.engine.sharding import ModelShards
from gpudesk.engine.steps import Array
from gpudesk.estimation.estimator import Estimator
from gpudesk.estimation.evaluation import FigureIntervals, IntervalArrays
from gpudesk.estimation.search_space import SearchSpaceTable
from gpudesk.text.messages import format_message
from tests.unit.conftest import DATA
from tests.unit.estimation.deployments import (
    KV,
    WEIGHTS,
    WORKLOADS,
    Answers,
    Deployment,
    Every,
    answers,
    degrees_of,
    resolve_every,
)

Mask = NDArray[np.bool_]
#: A rule, and where it does not hold.
Broken = tuple[str, Mask]

PARTS: Final = sorted(path.stem for path in (DATA / "accelerators").glob("*.toml"))
#: Rounding of sums in another order.
SLACK: Final = 1.0 + 1e-9


@pytest.mark.parametrize("part", PARTS)
def test_nothing_on_a_part_is_beyond_physics(part: str, facts: Catalog, calibration: Calibration) -> None:
    """With every 24th model; neighbors in the list of parts have others, so that each is on two parts."""
    models = [model.id for model in facts.models()][PARTS.index(part) % 24 :: 24]
    assert_physics(facts, calibration, part, models)


@pytest.mark.thorough
@pytest.mark.parametrize("part", PARTS)
def test_nothing_on_a_part_is_beyond_physics_with_any_model(
    part: str, facts: Catalog, calibration: Calibration
) -> None:
    assert_physics(facts, calibration, part, [model.id for model in facts.models()])


def assert_physics(facts: Catalog, calibration: Calibration, part: str, models: Sequence[str]) -> None:
    table = SearchSpaceTable(facts, calibration)
    combinations = resolve_every(table, facts.accelerator(part), models)
    if not facts.accelerator(part).peak_dense:
        assert not combinations.deployments, "nothing is estimated without a peak"
        return
    answers_of_part = answers(table, combinations, calibration)
    assert_nothing_is_left_out(combinations, models)
    wrong = [
        line
        for check in CHECKS
        for rule, mask in check(combinations, answers_of_part)
        for line in describe_fault(combinations, answers_of_part, rule, mask)
    ]
    assert not wrong, "\n".join([part, *wrong])


def describe_fault(combinations: Every, answers_of_part: Answers, rule: str, mask: Mask) -> Iterator[str]:
    broken = np.flatnonzero(mask)
    if len(broken):
        first = broken[0]
        loads = Counter(str(WORKLOADS[place].load.kind) for place in answers_of_part.work[broken].tolist())
        deployment = combinations.deployments[answers_of_part.owner[first]]
        results = {
            each.name: getattr(answers_of_part.results, each.name)[first] for each in fields(answers_of_part.results)
        }
        yield f"{rule}: {len(broken)} of {len(mask)} cases, {dict(loads)}, as in"
        request = deployment.request
        yield f"  {request.model} {request.weights} {request.kv} {deployment.memory.plan}"
        yield f"  {WORKLOADS[answers_of_part.work[first]]} {results}"


def assert_nothing_is_left_out(combinations: Every, models: Sequence[str]) -> None:
    """Every combination runs or is refused, never both, and every refusal is a sentence."""

    def key(each: Any) -> tuple[object, ...]:  # noqa: ANN401 - a deployment or a refusal
        request = each.request
        return request.model, request.weights, request.kv, request.tp

    runs, refused = {key(each) for each in combinations.deployments}, [key(each) for each in combinations.refusals]
    assert runs.isdisjoint(refused)
    everything = len(models) * len(WEIGHTS) * len(KV) * len(degrees_of(combinations.part))
    assert len(runs) + len(refused) == everything
    assert len(set(refused)) == len(refused)
    assert all(len(format_message(each.reason)) > 10 for each in combinations.refusals)


def of(answers_of_part: Answers, *kinds: LoadKind) -> Mask:
    mask: Mask = np.isin(answers_of_part.arrays.loads.kind, [LOAD_CODES[kind] for kind in kinds])
    return mask


def unanswered(answers_of_part: Answers) -> tuple[Mask, Mask]:
    """Return which cases have no rate, since limits are not met, and which no latency, overload included."""
    unmet = of(answers_of_part, LoadKind.LIMITS) & (answers_of_part.results.running == 0)
    return unmet, unmet | (of(answers_of_part, LoadKind.REQUEST_RATE) & ~answers_of_part.results.stable)


def column(combinations: Every, answers_of_part: Answers, value: Callable[[Deployment], float]) -> Array:
    return np.array([value(each) for each in combinations.deployments], dtype=np.float64)[answers_of_part.owner]


def figures_are_numbers(_: Every, answers_of_part: Answers) -> Iterator[Broken]:
    """A figure is finite and positive, or has no meaning for the load; its band lies around it."""
    unmet, silent = unanswered(answers_of_part)
    single = answers_of_part.arrays.requests.output == 1
    missing = {"ttft_ms": silent, "tpot_ms": silent | single, "request_s": silent}
    for each in fields(FigureIntervals):
        value, low, high = band = getattr(answers_of_part.figures, each.name)
        expected = missing.get(each.name, unmet)
        if each.name == "batch_s":
            expected = ~of(answers_of_part, LoadKind.BATCH)
        yield f"{each.name} is known where it has a meaning", np.isnan(value) != expected
        ordered = (low > 0) & (low <= value) & (value <= high) & np.isfinite(high)
        yield f"{each.name} lies in its band", ~(np.isnan(value) | ordered)
        yield f"{each.name} has a whole band or none", np.isnan(band).any(axis=0) != np.isnan(value)


def figures_agree(combinations: Every, answers_of_part: Answers) -> Iterator[Broken]:
    """Figures of one case follow from each other; units are seconds, milliseconds and tokens."""
    figures, requests = answers_of_part.figures, answers_of_part.arrays.requests
    rate, output = figures.output_tokens_per_s, requests.output
    tokens = (requests.held_prompt + output) / output
    yield "total tokens count the prompt", unlike(figures.total_tokens_per_s, times(rate, tokens))
    cards = column(combinations, answers_of_part, lambda each: float(each.memory.plan.tp))
    per_card = figures.output_tokens_per_s_per_accelerator
    yield "accelerators share the tokens", unlike(per_card, times(rate, 1 / cards))
    later = np.where(output > 1, (output - 1) * np.nan_to_num(figures.tpot_ms[0]), 0.0)
    stay = (figures.ttft_ms[0] + later) / 1e3
    yield "a request takes its first token and all others", differs(figures.request_s[0], stay)
    size = np.where(of(answers_of_part, LoadKind.BATCH), answers_of_part.arrays.loads.amount, np.nan)
    yield "a batch ends with its last token", differs(figures.batch_s[0], size * output / rate[0])
    # Of varied requests short ones have a slow pace, which a mean one does not keep for all of its tokens.
    lasts = np.where(requests.varied, figures.ttft_ms[0] / 1e3, figures.request_s[0])
    yield "a batch lasts as long as its requests", lasts > figures.batch_s[0] * SLACK


def times(band: IntervalArrays, factor: Array) -> IntervalArrays:
    return band[0] * factor, band[1] * factor, band[2] * factor


def unlike(one: IntervalArrays, other: IntervalArrays) -> Mask:
    first, second, third = (differs(a, b) for a, b in zip(one, other, strict=True))
    return first | second | third


def differs(one: Array, other: Array) -> Mask:
    return ~np.isclose(one, other, rtol=1e-9, atol=0.0, equal_nan=True)


def admission_comes_first(combinations: Every, answers_of_part: Answers) -> Iterator[Broken]:
    """No more run than memory and the serving engine admit, and no more than are asked for."""
    results, requests, loads = answers_of_part.results, answers_of_part.arrays.requests, answers_of_part.arrays.loads
    is_counted = of(answers_of_part, LoadKind.BATCH, LoadKind.CONCURRENCY)
    grows = ~requests.varied & (
        column(combinations, answers_of_part, lambda each: float(each.deployment.configuration.kv_on_demand)) > 0
    )
    most = column(combinations, answers_of_part, lambda each: float(each.memory.max_running))
    yield "no more are admitted than are in flight", results.admitted > results.concurrency * SLACK
    yield "no more run than the serving engine lets", results.running > most
    yield "no more run than memory holds", ~grows & (results.admitted > answers_of_part.sequences)
    yield (
        "what memory holds runs",
        (is_counted & (loads.amount <= requests.capacity) & (np.abs(results.admitted - loads.amount) > 1e-6)),
    )
    # Where memory is given as sequences of one length grow, they stand at different ages.
    pool = column(combinations, answers_of_part, lambda each: float(each.memory.budget.pool_bytes))
    ranks = column(combinations, answers_of_part, lambda each: float(each.memory.budget.attention_ranks))
    share = answers_of_part.constants.kv_growth_share
    grown = cached(
        combinations, answers_of_part, lambda work: work.input_tokens + 1 + int(share * (work.output_tokens - 1))
    )
    yield "caches of one length fit as they grow", grows & (results.admitted * grown > pool * ranks * SLACK)


def cached(combinations: Every, answers_of_part: Answers, tokens: Callable[[Any], int]) -> Array:
    """Return the bytes of one sequence at a length that depends on the workload."""
    lengths = np.array([tokens(work) for work in WORKLOADS])
    caches: list[KvCacheProfile] = [each.memory.budget.cache for each in combinations.deployments]
    sequence_bytes: Array = np.array([cache.compute_sequences_bytes(lengths) for cache in caches], dtype=np.float64)
    return sequence_bytes[answers_of_part.owner, answers_of_part.work]


def littles_law_holds(_: Every, answers_of_part: Answers) -> Iterator[Broken]:
    results, output = answers_of_part.results, answers_of_part.arrays.requests.output
    decoding = results.rate * np.where(output > 1, (output - 1) * np.nan_to_num(results.tpot), 0.0)
    flight = results.rate * results.ttft + decoding
    closed = of(answers_of_part, LoadKind.CONCURRENCY)
    steady = closed & np.isinf(answers_of_part.arrays.loads.total)
    ending = of(answers_of_part, LoadKind.BATCH, LoadKind.SATURATE) | (closed & ~steady)
    arriving = ~np.isnan(flight) & of(answers_of_part, LoadKind.REQUEST_RATE, LoadKind.LIMITS)
    yield "a closed loop keeps its requests in flight", steady & differs(flight, results.concurrency)
    most = np.where(answers_of_part.arrays.requests.varied, results.rate * results.ttft, flight)
    yield "a run has no more in flight than it was given", ending & (most > results.concurrency * SLACK)
    yield "arrivals stay as long as they take", arriving & differs(np.maximum(flight, 1), results.concurrency)


def the_roofline_holds(combinations: Every, answers_of_part: Answers) -> Iterator[Broken]:
    results, requests, figures = answers_of_part.results, answers_of_part.arrays.requests, answers_of_part.figures
    bandwidth = combinations.part.memory_bandwidth
    peak = max(combinations.part.peak_dense.values())
    weights = column(combinations, answers_of_part, lambda each: read_bytes(each.memory.budget.shards))
    flop = column(
        combinations, answers_of_part, lambda each: token_flop(each.memory.budget.shards) / each.memory.plan.tp
    )
    later = np.maximum(requests.output - 1, 0.0)
    rate, running = figures.output_tokens_per_s[0] / requests.output, np.maximum(results.running, 1.0)
    yield "every token waits for the weights", figures.tpot_ms[0] / 1e3 * bandwidth * SLACK < weights
    yield "every step reads the weights", rate * later / running * weights > bandwidth * SLACK
    yield "prompts take their arithmetic", figures.ttft_ms[0] / 1e3 * peak * SLACK < flop * requests.prompt
    yield "tokens take their arithmetic", rate * (requests.prompt + later) * flop > peak * SLACK
    most = figures.output_tokens_per_s[2] / requests.output
    yield "no band is above the arithmetic", most * (requests.prompt + later) * flop > peak * SLACK
    least = figures.tpot_ms[1] / 1e3
    yield "no band is below the reading", least * bandwidth * SLACK < weights


def read_bytes(shards: ModelShards) -> float:
    """Return the least bytes that one rank reads in a step: the experts of one token, and all else."""
    experts = shards.experts.stored_bytes * shards.experts_per_token / max(1, shards.expert_count)
    return shards.dense.stored_bytes + shards.head.stored_bytes + experts


def token_flop(shards: ModelShards) -> float:
    return 2.0 * (shards.dense_elements_undivided + shards.active_expert_elements)


CHECKS: Final = (figures_are_numbers, figures_agree, admission_comes_first, littles_law_holds, the_roofline_holds)


@pytest.mark.parametrize("part", ["mi300x", "trainium2"])
def test_the_program_answers_with_the_best_of_these(part: str, facts: Catalog, calibration: Calibration) -> None:
    """What is looked at above is what a user is told: every 97th case is asked of the program."""
    table = SearchSpaceTable(facts, calibration)
    combinations = resolve_every(table, facts.accelerator(part), [model.id for model in facts.models()])
    answers_of_part = answers(table, combinations, calibration)
    estimator = Estimator(facts, calibration)
    rate = np.nan_to_num(answers_of_part.figures.output_tokens_per_s[0])
    sampled_cases = range(0, len(rate), 97)
    requests = [
        replace(
            combinations.deployments[answers_of_part.owner[case]].request,
            workload=WORKLOADS[answers_of_part.work[case]],
        )
        for case in sampled_cases
    ]
    for case, answer in zip(sampled_cases, estimator.estimate_many(requests), strict=True):
        assert isinstance(answer, Estimate), answer
        rate_of_answer = 0.0 if answer.output_tokens_per_s is None else answer.output_tokens_per_s.value
        # Among plans within a thousandth the one with the lower TPOT is told.
        assert rate_of_answer >= rate[case] * (1.0 - 1e-3)
        if answer.plan == combinations.deployments[answers_of_part.owner[case]].memory.plan:
            assert rate_of_answer == pytest.approx(rate[case], rel=1e-9)
    refused = [each for each in combinations.refusals if not each.reason.id.startswith("estimate.")][::97]
    answers_no = estimator.estimate_many([each.request for each in refused])
    assert [str(answer) for answer in answers_no] == [each.reason.id for each in refused]
