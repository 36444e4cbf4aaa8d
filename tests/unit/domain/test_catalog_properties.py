"""More of what a part offers never serves less: real accelerators and models, changed in one respect."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from types import MappingProxyType
from typing import cast

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gpudesk.catalog.read import Catalog
from gpudesk.domain.accelerator import Accelerator
from gpudesk.domain.estimate import Estimate, EstimateRequest, Load, LoadKind, Workload
from gpudesk.domain.model import Model
from gpudesk.domain.precision import Precision
from gpudesk.domain.serving_engine import ServingEngine
from gpudesk.engine.calibration import Calibration
from gpudesk.estimation.estimator import Estimator
from gpudesk.text.messages import InputError
from tests.unit.conftest import DATA

PARTS = sorted(path.stem for path in (DATA / "accelerators").glob("*.toml"))
MODELS = sorted(path.stem for path in (DATA / "models").glob("*.toml"))
#: Rounding of sums in another order.
SLACK = 1.0 + 1e-9
#: A last round that is paid in part, and whole sequences, cost a run that ends this much at most.
LAST_ROUND = 1.05


@dataclass(frozen=True)
class Changed:
    """The catalog with one part in a changed form."""

    facts: Catalog
    part: Accelerator

    def accelerator(self, accelerator_id: str) -> Accelerator:
        """Return the part; there is no other."""
        assert accelerator_id == self.part.id
        return self.part

    def model(self, model_id: str) -> Model:
        return self.facts.model(model_id)

    def serving_engines(self) -> tuple[ServingEngine, ...]:
        return self.facts.serving_engines()


@dataclass(frozen=True, repr=False)
class Desk:
    """The catalog and the constants, to ask about parts as they are and as they could be."""

    facts: Catalog
    calibration: Calibration

    def ask(self, question: EstimateRequest, change: Callable[[Accelerator], Accelerator] = lambda p: p) -> Estimate:
        """Return the answer on a changed part; a question that has none is rejected."""
        part = change(self.facts.accelerator(question.accelerator))
        try:
            estimate = Estimator(cast("Catalog", Changed(self.facts, part)), self.calibration).estimate(question)
        except InputError:
            assume(False)
            raise
        assume(estimate.fits)
        return estimate


@pytest.fixture(scope="module")
def desk(facts: Catalog, calibration: Calibration) -> Desk:
    return Desk(facts, calibration)


LOADS = st.one_of(
    st.builds(Load, st.just(LoadKind.BATCH), batch=st.integers(1, 500)),
    st.builds(Load, st.just(LoadKind.CONCURRENCY), concurrency=st.integers(1, 1000)),
    st.builds(Load, st.just(LoadKind.SATURATE), requests=st.integers(1, 3000)),
    st.builds(Load, st.just(LoadKind.REQUEST_RATE), request_rate=st.floats(0.01, 20)),
    st.builds(
        Load,
        st.just(LoadKind.LIMITS),
        ttft_ms=st.floats(300, 20_000),
        tpot_ms=st.floats(15, 300),
        limit=st.just("mean"),
    ),
)


@st.composite
def questions(draw: st.DrawFn, loads: st.SearchStrategy[Load] = LOADS) -> EstimateRequest:
    work = Workload(
        draw(st.sampled_from([100, 1000, 4000, 30_000])),
        draw(st.sampled_from([1, 100, 1000])),
        draw(loads),
        varied=draw(st.booleans()),
        server=True,
    )
    tp = draw(st.sampled_from([1, 2, 4, 8]))
    return EstimateRequest(
        accelerator=draw(st.sampled_from(PARTS)),
        model=draw(st.sampled_from(MODELS)),
        weights=draw(st.sampled_from([Precision.BF16, Precision.FP8, Precision.FP4])),
        workload=work,
        kv=draw(st.sampled_from([Precision.FP16, Precision.FP8])),
        tp=tp,
        pp=1,
        dp=1,
        ep=1,
        count=tp,
        attention_dp=False,
    )


def rate(answer: Estimate) -> float:
    """Return output tokens/s, 0 if limits are not met."""
    return 0.0 if answer.output_tokens_per_s is None else answer.output_tokens_per_s.value


def stay(answer: Estimate) -> float:
    """Return the seconds of a request, 0 if they are not known."""
    return 0.0 if answer.request_s is None else answer.request_s.value


def assert_not_worse(before: Estimate, after: Estimate) -> None:
    """A better part serves no fewer tokens, and no request takes longer; admission stays as it was."""
    load = before.request.workload.load
    assert rate(after) * SLACK >= rate(before)
    assert after.max_concurrency == before.max_concurrency
    if load.kind is LoadKind.REQUEST_RATE:
        assert after.stable or not before.stable
        # Fewer run at once, so that prompts share chunks with slightly fewer others.
        assert not before.stable or stay(after) <= stay(before) * 1.01
    elif load.kind is not LoadKind.LIMITS:
        assert stay(after) <= stay(before) * SLACK


FACTOR = st.floats(1.0, 5.0)


@given(question=questions(), factor=FACTOR)
def test_more_bandwidth_never_serves_less(desk: Desk, question: EstimateRequest, factor: float) -> None:
    faster = desk.ask(question, lambda part: replace(part, memory_bandwidth=part.memory_bandwidth * factor))
    assert_not_worse(desk.ask(question), faster)


@given(question=questions(), factor=FACTOR)
def test_more_arithmetic_never_serves_less(desk: Desk, question: EstimateRequest, factor: float) -> None:
    def change(part: Accelerator) -> Accelerator:
        peaks = {name: flops * factor for name, flops in part.peak_dense.items()}
        return replace(part, peak_dense=MappingProxyType(peaks))

    assert_not_worse(desk.ask(question), desk.ask(question, change))


@given(question=questions(), factor=FACTOR)
def test_faster_links_never_serve_less(desk: Desk, question: EstimateRequest, factor: float) -> None:
    def change(part: Accelerator) -> Accelerator:
        scale_up, pcie = part.scale_up_bandwidth, part.pcie_bandwidth
        return replace(
            part,
            scale_up_bandwidth=None if scale_up is None else scale_up * factor,
            pcie_bandwidth=None if pcie is None else pcie * factor,
        )

    assert_not_worse(desk.ask(question), desk.ask(question, change))


@given(question=questions(), factor=st.floats(1.0, 3.0))
def test_more_memory_never_serves_less(desk: Desk, question: EstimateRequest, factor: float) -> None:
    # With settings that are given: unasked, a serving engine may take less of a memory that is large enough.
    question = replace(question, memory_fraction=0.9, max_batch=256, max_batched_tokens=4096)
    before = desk.ask(question)
    after = desk.ask(question, lambda part: replace(part, memory_bytes=int(part.memory_bytes * factor)))
    assert after.max_concurrency >= before.max_concurrency
    ends = question.workload.load.kind in (LoadKind.BATCH, LoadKind.SATURATE)
    assert rate(after) * (LAST_ROUND if ends else SLACK) >= rate(before)
    if question.workload.load.kind is not LoadKind.REQUEST_RATE:
        assert (after.admitted or 0) >= (before.admitted or 0)


@given(question=questions(), places=st.integers(0, 3))
def test_twice_the_accelerators_never_serve_less(desk: Desk, question: EstimateRequest, places: int) -> None:
    # The plan that serves most may hold fewer sequences at once, so only what is served is compared.
    free = replace(question, tp=None, pp=None, dp=None, ep=None, attention_dp=None)
    before, after = (desk.ask(replace(free, count=2 ** (places + more))) for more in (0, 1))
    assert rate(after) * LAST_ROUND >= rate(before)


@given(question=questions())
def test_twice_the_replicas_hold_twice_as_much(desk: Desk, question: EstimateRequest) -> None:
    assert question.tp is not None
    before, after = desk.ask(question), desk.ask(replace(question, dp=2, count=2 * question.tp))
    assert after.max_concurrency == 2 * before.max_concurrency
    assert rate(after) * SLACK >= rate(before)


COUNTED = st.sampled_from([LoadKind.BATCH, LoadKind.CONCURRENCY, LoadKind.SATURATE])


@given(question=questions(), kind=COUNTED)
def test_more_requests_never_lower_throughput(desk: Desk, question: EstimateRequest, kind: LoadKind) -> None:
    name = {LoadKind.BATCH: "batch", LoadKind.CONCURRENCY: "concurrency"}.get(kind, "requests")
    rates = []
    for amount in (1, 2, 5, 16, 64, 200):
        load = Load(kind, **{name: amount})  # type: ignore[arg-type]
        estimate = desk.ask(replace(question, workload=replace(question.workload, load=load)))
        if estimate.admitted is not None and estimate.admitted < amount:
            break
        rates.append(rate(estimate))
    assume(len(rates) > 1)
    assert all(more * SLACK >= fewer for fewer, more in pairwise(rates))


@given(question=questions(), more=st.integers(2, 10))
def test_longer_requests_are_never_admitted_in_greater_numbers(
    desk: Desk, question: EstimateRequest, more: int
) -> None:
    work = question.workload
    longer = replace(question, workload=replace(work, input_tokens=work.input_tokens * more))
    before, after = desk.ask(question), desk.ask(longer)
    assert after.max_concurrency <= before.max_concurrency
    if work.load.kind is not LoadKind.LIMITS:
        assert rate(after) <= rate(before) * LAST_ROUND
