"""From engine results to an `Estimate`: units, bands inside physics, memory, notes, and what does not fit."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gpudesk.domain.estimates import Banded, Basis, Estimate, EstimateRequest, Limiter
from gpudesk.domain.messages import InputError, Message, message
from gpudesk.domain.workloads import LoadKind
from gpudesk.engine.bands import BandFactors
from gpudesk.engine.steps import LIMITERS
from gpudesk.workbench.setups import Candidate, Frame

if TYPE_CHECKING:
    from gpudesk.workbench.cases import Setup, SetupTable


@dataclass(frozen=True, slots=True)
class Picked:
    """The winning case of a question, in SI units; the last three are bounds of physics."""

    candidate: Candidate
    max_sequences: int
    concurrency: float
    admitted: float
    rate: float
    ttft: float
    tpot: float
    duration: float
    stable: bool
    limiter: int
    rate_bound: float
    tpot_bound: float
    ttft_bound: float


def chosen_estimate(
    request: EstimateRequest, frame: Frame, basis: Basis, bands: dict[str, BandFactors], picked: Picked
) -> Estimate:
    """Make the estimate of the winning case."""
    work, candidate = request.workload, picked.candidate
    output, tokens = work.output_tokens, work.input_tokens + work.output_tokens
    throughput = bands["throughput"]
    value, ceiling = picked.rate * output, picked.rate_bound * output
    rate = None
    if not math.isnan(value) and value > 0:
        # A value never passes the bound; where rounding of a short run would carry it there, it stops.
        value = min(value, ceiling)
        rate = throughput.around(value, ceiling=ceiling)
    ttft = _banded(picked.ttft, bands["ttft"], picked.ttft_bound)
    tpot = _banded(picked.tpot, bands["tpot"], picked.tpot_bound)
    admitted = max(0, round(picked.admitted)) if not math.isnan(picked.admitted) else None
    concurrency = max(0, round(picked.concurrency)) if not math.isnan(picked.concurrency) else None
    is_batch = work.load.kind is LoadKind.BATCH
    limiter = LIMITERS[picked.limiter]
    if admitted is not None and concurrency is not None and admitted < concurrency:
        limiter = Limiter.CAPACITY
    count = candidate.plan.count
    return Estimate(
        request=request,
        fits=True,
        serving_engine=frame.engine.id,
        plan=candidate.plan,
        count=count,
        memory=candidate.budget.use(max(1, min(admitted or 1, picked.max_sequences)), tokens),
        max_concurrency=picked.max_sequences,
        concurrency=concurrency,
        admitted=admitted,
        limiter=limiter,
        basis=basis,
        output_tokens_per_s=rate,
        total_tokens_per_s=_scaled(rate, tokens / output),
        output_tokens_per_s_per_accelerator=_scaled(rate, 1.0 / count),
        ttft_ms=_scaled(ttft, 1e3),
        tpot_ms=_scaled(tpot, 1e3),
        request_s=_request_seconds(ttft, tpot, output),
        batch_s=_inverse(rate, (work.load.batch or 1) * output) if is_batch else None,
        stable=picked.stable,
        notes=_notes(request, frame, picked, concurrency, admitted),
    )


def _banded(value: float, factors: BandFactors, floor: float) -> Banded | None:
    if math.isnan(value) or value <= 0:
        return None
    return factors.around(max(value, floor), floor=floor)


def _scaled(figure: Banded | None, factor: float) -> Banded | None:
    if figure is None:
        return None
    return Banded(figure.value * factor, figure.low * factor, figure.high * factor)


def _inverse(figure: Banded | None, amount: float) -> Banded | None:
    if figure is None:
        return None
    return Banded(amount / figure.value, amount / figure.high, amount / figure.low)


def _request_seconds(ttft: Banded | None, tpot: Banded | None, output: int) -> Banded | None:
    """First token plus the gaps after it; a single output token is the first."""
    if ttft is None:
        return None
    if tpot is None:
        return ttft if output == 1 else None
    gaps = output - 1
    return Banded(ttft.value + gaps * tpot.value, ttft.low + gaps * tpot.low, ttft.high + gaps * tpot.high)


def _notes(
    request: EstimateRequest, frame: Frame, picked: Picked, concurrency: int | None, admitted: int | None
) -> tuple[Message, ...]:
    notes = list(frame.notes)
    candidate = picked.candidate
    if None in (request.tp, request.pp, request.dp) and candidate.plan.count > 1:
        notes.append(
            message(
                "estimate.plan_chosen",
                tp=candidate.plan.tp,
                pp=candidate.plan.pp,
                ep=candidate.plan.ep,
                dp=candidate.plan.dp,
                attention="attention-DP" if candidate.plan.attention_dp else "",
            )
        )
    if admitted is not None and concurrency is not None and admitted < concurrency:
        by_memory = picked.max_sequences <= admitted
        cause = "estimate.queued_memory" if by_memory else "estimate.queued_engine"
        notes.append(
            message(cause, admitted=admitted, concurrency=concurrency, queued=concurrency - admitted)
        )
    if not picked.stable:
        notes.append(message("estimate.overload"))
    if request.workload.load.kind is LoadKind.LIMITS and not admitted:
        notes.append(message("estimate.limits_not_met"))
    if candidate.plan.count > 1 and candidate.point.link.kind != "scale-up" and candidate.plan.replica > 1:
        kind = "estimate.over_pcie" if candidate.point.link.kind == "pcie" else "estimate.between_hosts"
        notes.append(message(kind, bandwidth=(candidate.point.link.bandwidth, "B/s")))
    return tuple(notes)


def unfit_estimate(request: EstimateRequest, setup: Setup, table: SetupTable) -> Estimate:
    """Say why nothing fits, with the memory of the plan that comes closest, and how many would do."""
    tokens = request.workload.input_tokens + request.workload.output_tokens
    made = [c for count in setup.counts for c in table.candidates(request, setup, count)]
    if not made:
        raise InputError(
            message("plan.none", count=request.count or 0, model=setup.frame.model.name), "count"
        )
    nearest = max(made, key=lambda candidate: candidate.budget.headroom_bytes(tokens))
    needs = _needs(request, table, tokens)
    weights_fit = nearest.budget.pool_bytes > 0
    reason = message(
        "estimate.request_does_not_fit" if weights_fit else "estimate.weights_do_not_fit",
        accelerator=setup.frame.accelerator.name,
        count=nearest.plan.count,
        missing=(float(-nearest.budget.headroom_bytes(tokens)), "B"),
        weights=(float(nearest.budget.weights_bytes), "B"),
        capacity=(float(nearest.budget.capacity_bytes), "B"),
    )
    return Estimate(
        request=request,
        fits=False,
        serving_engine=setup.frame.engine.id,
        plan=nearest.plan,
        count=nearest.plan.count,
        memory=nearest.budget.use(1, tokens),
        max_concurrency=0,
        limiter=Limiter.CAPACITY,
        basis=setup.basis,
        reason=reason,
        needs=needs,
        notes=setup.frame.notes,
    )


def _needs(request: EstimateRequest, table: SetupTable, tokens: int) -> int | None:
    """Return the smallest deployment that fits with a plan of our choice; None where none is known."""
    free = replace(request, count=None, tp=None, pp=None, ep=None, dp=None, attention_dp=None)
    options = table.options(free, table.setup(free), tokens)
    return None if options is None else options.count
