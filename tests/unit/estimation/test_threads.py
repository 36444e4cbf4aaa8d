"""Estimates that a job asks for while the window asks for others."""

from collections.abc import Sequence
from threading import Thread
from typing import Any

import pytest

from gpudesk.domain.estimate import Estimate
from gpudesk.engine.calibration import Calibration
from gpudesk.engine.memory import ResolvedDeployment, ServingConfiguration
from gpudesk.engine.rates import StepModel, compute_step_model
from gpudesk.estimation.deployment import compute_weights_bytes
from gpudesk.estimation.estimator import Estimator
from gpudesk.estimation.operation import EstimateDeployment, find_deployment
from gpudesk.estimation.request_fields import parse_request
from gpudesk.estimation.search_space import SearchSpaceTable
from gpudesk.service import GpuDeskService

LINE: dict[str, Any] = {
    "accelerator": "h200-sxm",
    "weights": "fp8",
    "input_tokens": 1000,
    "output_tokens": 500,
    "load": {"concurrency": 64},
}


def test_what_one_thread_adds_while_another_computes_is_kept(
    service: GpuDeskService, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, theirs = (parse_request(LINE | {"model": model}) for model in ("llama-3.1-70b", "llama-3.1-8b"))

    def make() -> Estimator:
        return Estimator(service.catalog, service.calibration)

    alone = [make().estimate(each) for each in (ours, theirs)]
    estimator = make()
    jobs: list[Thread] = []
    answers: list[Estimate] = []

    def compute_while_a_job_asks(deployments: Sequence[ResolvedDeployment], calibration: Calibration) -> StepModel:
        if not jobs:
            jobs.append(Thread(target=lambda: answers.append(estimator.estimate(theirs))))
            jobs[0].start()
            jobs[0].join(0.2)
        return compute_step_model(deployments, calibration)

    monkeypatch.setattr("gpudesk.estimation.search_space.compute_step_model", compute_while_a_job_asks)
    assert estimator.estimate(ours) == alone[0]
    jobs[0].join()
    assert answers == [alone[1]]


def test_sizes_are_tried_once_across_threads(service: GpuDeskService, monkeypatch: pytest.MonkeyPatch) -> None:
    """A job's search for a size once ran out of the sizes that the window's had listed."""
    request = parse_request(LINE | {"model": "kimi-k2", "accelerator": "l4", "weights": "bf16"})
    expected = Estimator(service.catalog, service.calibration).list_counts(request)
    estimator = Estimator(service.catalog, service.calibration)
    sizes: list[tuple[int, ...]] = []
    jobs: list[Thread] = []

    def compute_beside(configuration: ServingConfiguration) -> int:
        if not jobs:
            jobs.append(Thread(target=lambda: sizes.append(estimator.list_counts(request))))
            jobs[0].start()
            jobs[0].join(0.2)
        return compute_weights_bytes(configuration)

    monkeypatch.setattr("gpudesk.estimation.search_space.compute_weights_bytes", compute_beside)
    assert estimator.list_counts(request) == expected
    jobs[0].join()
    assert sizes == [expected]


def test_a_full_cache_on_one_thread_moves_nothing_that_another_reads(
    service: GpuDeskService, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Clearing it once gave a chart the times of another deployment, or a position past the end."""
    ours, theirs = (parse_request(LINE | {"model": model}) for model in ("llama-3.1-70b", "llama-3.1-8b"))
    estimator = Estimator(service.catalog, service.calibration)
    estimate = estimator.estimate(ours)
    expected = estimator.compute_time_shares(estimate)

    def find_while_a_job_asks(estimate: Estimate, table: SearchSpaceTable) -> EstimateDeployment:
        deployment = find_deployment(estimate, table)
        estimator.remember(1)
        job = Thread(target=lambda: estimator.estimate(theirs))
        job.start()
        job.join()
        return deployment

    monkeypatch.setattr("gpudesk.estimation.estimator.find_deployment", find_while_a_job_asks)
    assert estimator.compute_time_shares(estimate) == expected
