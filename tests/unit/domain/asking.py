"""Questions to the estimator, shortly put."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gpudesk.domain.estimate import EstimateRequest, Load, LoadKind, Workload
from gpudesk.domain.precision import Precision


def closed(concurrency: int, requests: int | None = None) -> Load:
    return Load(LoadKind.CONCURRENCY, concurrency=concurrency, requests=requests)


def ask(
    accelerator: str,
    model: str,
    weights: str,
    load: Load,
    lengths: tuple[int, int] = (1000, 1000),
    **rest: Any,  # noqa: ANN401 - any field of the request
) -> EstimateRequest:
    """Return a question; `rest` are further fields of it."""
    request = EstimateRequest(accelerator, model, Precision(weights), Workload(*lengths, load))
    return replace(request, **rest)
