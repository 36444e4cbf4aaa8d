"""How long an answer takes while a slider is dragged, and what the charts ask for besides."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from statistics import median
from time import perf_counter

import pytest

from gpudesk.documents.scenario_file import SAMPLE_TEMPLATE, read_template
from gpudesk.domain.answer import AcceleratorChoice, Scenario
from gpudesk.domain.estimate import Estimate
from gpudesk.service import GpuDeskService
from tests.benchmarks.conftest import Say

PARTS = ("h200-sxm", "mi325x", "b200-hgx", "mi355x", "h100-sxm", "mi300x")
#: Milliseconds at the median, for six accelerators.
ANSWER = 6.0
NEEDED = 20.0
CURVES = 2.0
FIGURES = 5.0

ROUNDS = 100


@pytest.fixture(scope="module")
def service() -> Iterator[GpuDeskService]:
    with GpuDeskService.open() as opened:
        opened.answer(scenario(), with_curves=True)
        yield opened


def scenario() -> Scenario:
    return replace(read_template(SAMPLE_TEMPLATE), accelerators=tuple(AcceleratorChoice(part) for part in PARTS))


def with_concurrency(concurrency: int) -> Scenario:
    changed = scenario()
    load = replace(changed.workload.load, concurrency=concurrency)
    return replace(changed, workload=replace(changed.workload, load=load))


def with_input(tokens: int) -> Scenario:
    changed = scenario()
    return replace(changed, workload=replace(changed.workload, input_tokens=tokens))


def milliseconds(work: Callable[[int], object]) -> float:
    """Return the median of calls with the numbers from 0 on."""
    times = []
    for number in range(ROUNDS):
        start = perf_counter()
        work(number)
        times.append(perf_counter() - start)
    return median(times) * 1e3


def fitting(service: GpuDeskService) -> list[Estimate]:
    return [column.estimate for column in service.answer(scenario()).columns if column.estimate]


_lengths = count(1000)


@pytest.mark.parametrize(
    "changed",
    [lambda number: with_concurrency(1 + number), lambda _: with_input(next(_lengths))],
    ids=["concurrency", "input"],
)
def test_answer_with_curves_while_dragging(
    service: GpuDeskService, changed: Callable[[int], Scenario], say: Say
) -> None:
    scenarios = [changed(number) for number in range(ROUNDS)]
    took = milliseconds(lambda number: service.answer(scenarios[number], with_curves=True))
    say(f"answer with curves, six accelerators: median {took:.1f} ms (bar {ANSWER:g})")
    assert took <= ANSWER


def test_curves_of_six_uncached_accelerators(service: GpuDeskService, say: Say) -> None:
    answers = [service.answer(with_input(next(_lengths))) for _ in range(ROUNDS)]
    estimates = [[column.estimate for column in answer.columns if column.estimate] for answer in answers]
    took = milliseconds(lambda number: service.estimator.curves(estimates[number]))
    say(f"curves of six: median {took:.1f} ms (bar {CURVES:g})")
    assert took <= CURVES


def test_needed_accelerators(service: GpuDeskService, say: Say) -> None:
    service.needed(scenario())
    took = milliseconds(lambda _: service.needed(with_input(next(_lengths))))
    say(f"accelerators needed, six by four: median {took:.1f} ms (bar {NEEDED:g})")
    assert took <= NEEDED


@pytest.mark.parametrize("name", ["roofline", "compute_time_shares", "request_time", "compute_kv_by_context"])
def test_figures_behind_the_charts(service: GpuDeskService, name: str, say: Say) -> None:
    estimates = fitting(service)
    figure: Callable[[Estimate], object] = getattr(service.estimator, name)
    took = milliseconds(lambda _: [figure(estimate) for estimate in estimates])
    say(f"{name} of six: median {took:.1f} ms (bar {FIGURES:g})")
    assert took <= FIGURES
