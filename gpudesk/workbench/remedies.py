"""What would make a deployment fit: each way is tried out, and what does not help says why."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from gpudesk.domain.accelerators import Accelerator
from gpudesk.domain.estimates import Estimate, EstimateRequest
from gpudesk.domain.messages import InputError
from gpudesk.domain.models import Model
from gpudesk.domain.precision import FORMATS, KV_BYTES, Precision, concrete
from gpudesk.domain.sizing import Remedy, RemedyKind, Size
from gpudesk.domain.workloads import LoadKind
from gpudesk.workbench.needs import WIDTHS, formats, in_flight

#: Answers questions, each with an estimate or the reason why there is none.
Answers = Callable[[Sequence[EstimateRequest]], list[Estimate | InputError]]


@dataclass(frozen=True, slots=True)
class Situation:
    """An estimate that does not hold what it is asked to, with what is known about its parts.

    `for_load` is the smallest deployment of a free plan that runs everything at once, `safe_fraction` the
    largest share of the memory that its serving engine can be given.
    """

    estimate: Estimate
    part: Accelerator
    model: Model
    for_load: Size | None
    safe_fraction: float


def falls_short(estimate: Estimate) -> bool:
    """Whether a deployment does not hold one request, or fewer than its load has in flight by itself."""
    if not estimate.fits:
        return True
    stated = in_flight(estimate.request.workload.load) is not None
    return stated and (estimate.admitted or 0) < (estimate.concurrency or 0)


def remedies(situation: Situation, answers: Answers) -> tuple[Remedy, ...]:
    """Return what was tried: more of the memory, more accelerators, narrower formats, fewer requests.

    What does not fit is made to hold one request, what holds too few to hold all. Of the weights only the
    widest format that helps is named, or else the narrowest, which does not; more of the memory only where it
    helps: that the rest of it does not help either goes without saying.
    """
    tried = [
        *_fraction(situation),
        *_counts(situation),
        *_weights(situation),
        *_kv(situation),
        *_concurrency(situation),
    ]
    found = answers([request for _, _, request in tried])
    made = [
        _judged(kind, value, situation.estimate, answer)
        for (kind, value, _), answer in zip(tried, found, strict=True)
    ]
    named = _named([remedy for remedy in made if remedy.kind is RemedyKind.WEIGHTS])
    return tuple(remedy for remedy in made if remedy is named or _is_told(remedy))


def _is_told(remedy: Remedy) -> bool:
    """Whether a way that was tried is worth a line, weights apart."""
    if remedy.kind is RemedyKind.FRACTION:
        return remedy.works
    return remedy.kind is not RemedyKind.WEIGHTS


def _named(weights: list[Remedy]) -> Remedy | None:
    """Return the widest format that helps, else the first of the narrowest that run at all."""
    for remedy in weights:
        if remedy.works:
            return remedy
    running = [remedy for remedy in weights if remedy.estimate is not None] or weights
    return min(running, key=lambda remedy: FORMATS[Precision(str(remedy.value))].bits, default=None)


#: A way with its new value and the question that tries it out.
_Trial = tuple[RemedyKind, int | float | Precision, EstimateRequest]


def _fraction(situation: Situation) -> list[_Trial]:
    """Give the serving engine all that is safe, where it takes less by itself or was given less."""
    estimate = situation.estimate
    given, safe = estimate.request.memory_fraction, situation.safe_fraction
    takes_less = estimate.max_concurrency > (estimate.admitted or 0) if given is None else given < safe
    request = replace(_as_deployed(estimate), memory_fraction=safe)
    return [(RemedyKind.FRACTION, safe, request)] if takes_less else []


def _counts(situation: Situation) -> list[_Trial]:
    """More of them with a plan of the program's choice: for one request where none fits, and for the load."""
    estimate = situation.estimate
    free = replace(estimate.request, tp=None, pp=None, ep=None, dp=None, attention_dp=None)
    enough = None if situation.for_load is None else situation.for_load.count
    wanted = dict.fromkeys(count for count in (estimate.needs, enough) if count is not None)
    return [(RemedyKind.COUNT, count, replace(free, count=count)) for count in wanted]


def _weights(situation: Situation) -> list[_Trial]:
    request = _as_deployed(situation.estimate)
    held = FORMATS[concrete(request.weights, situation.part.vendor)].bits
    narrower = [
        each
        for bits in WIDTHS
        if bits < held
        for each in formats(bits, request.weights, situation.model, situation.part)
    ]
    return [(RemedyKind.WEIGHTS, each, replace(request, weights=each)) for each in narrower]


def _kv(situation: Situation) -> list[_Trial]:
    """Halve the cache, where it is the cache that does not fit."""
    estimate = situation.estimate
    weights_alone = estimate.reason is not None and estimate.reason.id == "estimate.weights_do_not_fit"
    if weights_alone or KV_BYTES[estimate.request.kv] <= 1.0:
        return []
    request = replace(_as_deployed(estimate), kv=Precision.FP8)
    return [(RemedyKind.KV, Precision.FP8, request)]


def _concurrency(situation: Situation) -> list[_Trial]:
    """Return as many requests as are admitted now, or a single one where not even that fits."""
    request = _as_deployed(situation.estimate)
    load = request.workload.load
    if in_flight(load) is None:
        return []
    fewer = max(1, situation.estimate.admitted or 1)
    less = replace(load, batch=fewer) if load.kind is LoadKind.BATCH else replace(load, concurrency=fewer)
    changed = replace(request, workload=replace(request.workload, load=less))
    return [(RemedyKind.CONCURRENCY, fewer, changed)]


def _as_deployed(estimate: Estimate) -> EstimateRequest:
    """Return the request on the present count; what of the plan nobody fixed may change."""
    return replace(estimate.request, count=estimate.count)


def _judged(
    kind: RemedyKind, value: int | float | Precision, before: Estimate, answer: Estimate | InputError
) -> Remedy:
    if isinstance(answer, InputError):
        return Remedy(kind, value, works=False, estimate=None, reason=answer.problem)
    works = answer.fits and (not before.fits or not falls_short(answer))
    reason = answer.reason or next((n for n in answer.notes if n.id.startswith("estimate.queued")), None)
    return Remedy(kind, value, works, answer, None if works else reason)
