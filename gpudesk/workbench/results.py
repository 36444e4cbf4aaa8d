"""From engine results to an `Estimate`: units, bands inside physics, memory, notes, and what does not fit."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from gpudesk.domain.estimates import Banded, Basis, Estimate, EstimateRequest, Limiter
from gpudesk.domain.messages import InputError, Message, message
from gpudesk.domain.workloads import LoadKind
from gpudesk.engine.memory import MemoryBudget
from gpudesk.engine.steps import LIMITERS
from gpudesk.workbench.candidates import Candidate
from gpudesk.workbench.setups import Frame, Placement

if TYPE_CHECKING:
    from gpudesk.workbench.cases import Setup, SetupTable


#: Beyond so many rounds the end of a run hardly counts.
_MANY_ROUNDS = 10


class Figures(NamedTuple):
    """What one question's winning case does; None where a figure has no meaning for the load."""

    concurrency: int | None
    admitted: int | None
    stable: bool
    limiter: int
    output_tokens_per_s: Banded | None
    total_tokens_per_s: Banded | None
    output_tokens_per_s_per_accelerator: Banded | None
    ttft_ms: Banded | None
    tpot_ms: Banded | None
    request_s: Banded | None
    batch_s: Banded | None


def chosen_estimate(
    request: EstimateRequest,
    frame: Frame,
    basis: Basis,
    candidate: Candidate,
    max_sequences: int,
    sequence_bytes: int,
    figures: Figures,
) -> Estimate:
    """Make the estimate of the winning plan; `sequence_bytes` is what one sequence holds on a rank."""
    admitted, concurrency = figures.admitted, figures.concurrency
    limiter = LIMITERS[figures.limiter]
    if admitted is not None and concurrency is not None and admitted < concurrency:
        limiter = Limiter.CAPACITY
    # Of requests that are given memory as they grow more run than it holds at full length.
    resident = max(1, min(admitted or 1, candidate.budget.admitted(sequence_bytes)))
    return Estimate(
        request=request,
        fits=True,
        serving_engine=frame.engine.id,
        plan=candidate.plan,
        count=candidate.plan.count,
        memory=candidate.budget.use(resident, sequence_bytes),
        max_concurrency=max_sequences,
        concurrency=concurrency,
        admitted=admitted,
        limiter=limiter,
        basis=basis,
        output_tokens_per_s=figures.output_tokens_per_s,
        total_tokens_per_s=figures.total_tokens_per_s,
        output_tokens_per_s_per_accelerator=figures.output_tokens_per_s_per_accelerator,
        ttft_ms=figures.ttft_ms,
        tpot_ms=figures.tpot_ms,
        request_s=figures.request_s,
        batch_s=figures.batch_s,
        stable=figures.stable,
        notes=_notes(request, frame, candidate, max_sequences, figures),
    )


def _notes(
    request: EstimateRequest, frame: Frame, candidate: Candidate, max_sequences: int, figures: Figures
) -> tuple[Message, ...]:
    notes = frame.notes
    if candidate.plan.count > 1 and None in (request.tp, request.pp, request.dp):
        notes += (candidate.plan_note,)
        if candidate.plan.count & (candidate.plan.count - 1):
            notes += (_uneven(candidate.plan.count),)
    if figures.output_tokens_per_s is not None and _in_short_steps(request, frame, candidate):
        notes += (message("estimate.short_steps", tokens=round(frame.limit_tokens)),)
    if _ends_unevenly(request, figures):
        notes += (message("estimate.uneven_end"),)
    return notes + candidate.notes + load_notes(request, frame, candidate.budget, max_sequences, figures)


def _in_short_steps(request: EstimateRequest, frame: Frame, candidate: Candidate) -> bool:
    """Whether steps are held to fewer tokens than the serving engine would put into one."""
    load = request.workload.load
    p99 = load.kind is LoadKind.LIMITS and load.limit == "p99"
    return p99 and frame.limit_tokens < candidate.situation.max_batched_tokens


def _ends_unevenly(request: EstimateRequest, figures: Figures) -> bool:
    """Whether the longest answers of a run go on alone for a share of it that counts."""
    work = request.workload
    total = work.load.requests
    if not work.uneven or work.output_tokens == 1 or total is None or not figures.admitted:
        return False
    return 1 < total < _MANY_ROUNDS * figures.admitted


def load_notes(
    request: EstimateRequest, frame: Frame, budget: MemoryBudget, max_sequences: int, figures: Figures
) -> tuple[Message, ...]:
    """Say what the load asks that the deployment does not give: requests that wait, limits, overload."""
    admitted, concurrency = figures.admitted, figures.concurrency
    notes: tuple[Message, ...] = ()
    tokens = request.workload.input_tokens + request.workload.output_tokens
    if admitted is not None and concurrency is not None and admitted < concurrency:
        notes += (_queued(frame, admitted, concurrency, budget.admitted_sequences(tokens), max_sequences),)
    elif admitted is not None and admitted > max_sequences:
        name = frame.engine.name
        notes += (message("estimate.grown", engine=name, admitted=admitted, most=max_sequences),)
    if not figures.stable:
        notes += (message("estimate.overload"),)
    if frame.model.max_context is not None and tokens > frame.model.max_context:
        most = frame.model.max_context
        notes += (message("estimate.beyond_context", model=frame.model.name, tokens=tokens, most=most),)
    if request.workload.load.kind is LoadKind.LIMITS and not admitted:
        notes += (message("estimate.limits_not_met"),)
    return notes


def _queued(frame: Frame, admitted: int, concurrency: int, by_memory: int, most: int) -> Message:
    """Say what keeps requests waiting: memory, what the serving engine takes of it unasked, or its batch.

    Of requests of one length more run than memory holds at full length, where they get it as they grow.
    """
    queued = concurrency - admitted
    if admitted > most:
        return message(
            "estimate.queued_grown",
            engine=frame.engine.name,
            admitted=admitted,
            concurrency=concurrency,
            most=most,
            queued=queued,
        )
    if by_memory > admitted:
        return message("estimate.queued_engine", admitted=admitted, concurrency=concurrency, queued=queued)
    if by_memory < most:
        return message(
            "estimate.queued_usual",
            engine=frame.engine.name,
            usual=frame.settings.usual_fraction or frame.settings.memory_fraction,
            admitted=admitted,
            concurrency=concurrency,
            fraction=frame.settings.memory_fraction,
            most=most,
        )
    return message("estimate.queued_memory", admitted=admitted, concurrency=concurrency, queued=queued)


def _uneven(count: int) -> Message:
    """Say why some more accelerators can be slower for few requests: heads divide by powers of two."""
    return message("estimate.uneven_count", count=count, fewer=1 << (count.bit_length() - 1))


def nearest_placement(request: EstimateRequest, setup: Setup, table: SetupTable, tokens: int) -> Placement:
    """Return the plan that comes closest to holding `tokens`; raises InputError where there is no plan."""
    made = [placed for count in setup.counts for placed in table.placements(request, setup, count)]
    if not made:
        raise InputError(
            message("plan.none", count=request.count or 0, model=setup.frame.model.name), "count"
        )
    return max(made, key=lambda placed: placed.budget.headroom_bytes(tokens))


def unfit_reason(request: EstimateRequest, frame: Frame, nearest: Placement, tokens: int) -> Message:
    """Say why a plan does not hold a request of `tokens`."""
    budget = nearest.budget
    spare = budget.use(1, budget.cache.sequence_bytes(tokens)).free_bytes
    if request.memory_fraction is not None and spare > 0:
        name = "estimate.fraction_too_small"
    elif budget.pool_bytes > 0:
        name = "estimate.request_does_not_fit"
    else:
        name = "estimate.weights_do_not_fit"
    return message(
        name,
        fraction=frame.settings.memory_fraction,
        accelerator=frame.accelerator.name,
        count=nearest.plan.count,
        missing=(float(-budget.headroom_bytes(tokens)), "B"),
        weights=(float(budget.weights_bytes), "B"),
        capacity=(float(budget.capacity_bytes), "B"),
    )


def unfit_estimate(request: EstimateRequest, setup: Setup, table: SetupTable) -> Estimate:
    """Say why nothing fits, with the memory of the plan that comes closest, and how many would do."""
    tokens = request.workload.input_tokens + request.workload.output_tokens
    nearest = nearest_placement(request, setup, table, tokens)
    budget = nearest.budget
    return Estimate(
        request=request,
        fits=False,
        serving_engine=setup.frame.engine.id,
        plan=nearest.plan,
        count=nearest.plan.count,
        memory=budget.use(1, budget.cache.sequence_bytes(tokens)),
        max_concurrency=0,
        limiter=Limiter.CAPACITY,
        basis=setup.basis,
        reason=unfit_reason(request, setup.frame, nearest, tokens),
        needs=_needs(request, table, tokens),
        notes=setup.frame.notes,
    )


def _needs(request: EstimateRequest, table: SetupTable, tokens: int) -> int | None:
    """Return the smallest deployment that fits with a plan of our choice; None where none is known."""
    free = replace(request, count=None, tp=None, pp=None, ep=None, dp=None, attention_dp=None)
    return table.needs(free, table.setup(free), tokens)
