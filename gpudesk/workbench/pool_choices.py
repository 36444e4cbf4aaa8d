"""Which pools a disaggregated deployment can have: splits of its accelerators, and plans of each pool."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import product
from typing import Final

from gpudesk.domain.deployments import Disaggregation, ParallelPlan, PoolWish
from gpudesk.domain.estimates import Estimate, EstimateRequest, PoolKind
from gpudesk.domain.messages import InputError, Message, message
from gpudesk.workbench.candidates import Candidate
from gpudesk.workbench.cases import Options, Setup, SetupTable
from gpudesk.workbench.results import unfit_estimate

#: Splits of a deployment that are tried at the most; larger ones are split in steps.
MOST_SPLITS: Final = 32
_DEGREES: Final = ("tp", "pp", "ep", "dp", "attention_dp")


@dataclass(frozen=True, slots=True)
class Side:
    """One pool to be chosen: its question as if it stood alone, and the tokens that it holds of a request."""

    kind: PoolKind
    request: EstimateRequest
    setup: Setup
    tokens: int


@dataclass(frozen=True, slots=True)
class PoolChoice:
    """A plan of one pool: its candidate, sequences that one replica runs, and bytes of one on a rank."""

    candidate: Candidate
    capacity: float
    max_sequences: int
    sequence_bytes: int


#: A plan of the prefill pool with one of the decode pool.
Pair = tuple[PoolChoice, PoolChoice]


def pool_request(request: EstimateRequest, wish: PoolWish) -> EstimateRequest:
    """Return the question for one pool as if it stood alone."""
    return replace(
        request,
        disaggregated=None,
        count=wish.count,
        tp=wish.tp,
        pp=wish.pp,
        ep=wish.ep,
        dp=wish.dp,
        attention_dp=wish.attention_dp,
    )


def plan_request(request: EstimateRequest, plan: ParallelPlan) -> EstimateRequest:
    """Return the question for one pool of which the plan is known."""
    wish = PoolWish(plan.count, plan.tp, plan.pp, plan.ep, plan.dp, plan.attention_dp)
    return pool_request(request, wish)


def sides(request: EstimateRequest, table: SetupTable) -> tuple[Side, Side]:
    """Return prefill and decode pool of a question; raises InputError for a plan that cannot be."""
    wish = request.disaggregated or Disaggregation()
    for name in _DEGREES:
        if getattr(request, name) is not None:
            raise InputError(message("pools.degree", name=name), name)
    work = request.workload
    return (
        _side(request, PoolKind.PREFILL, wish.prefill, work.input_tokens, table),
        _side(request, PoolKind.DECODE, wish.decode, work.input_tokens + work.output_tokens, table),
    )


def _side(request: EstimateRequest, kind: PoolKind, wish: PoolWish, tokens: int, table: SetupTable) -> Side:
    own = pool_request(request, wish)
    with _in_pool(kind):
        return Side(kind, own, table.setup(own), tokens)


@contextmanager
def _in_pool(kind: PoolKind) -> Iterator[None]:
    """Name the pool where something is wrong with its plan."""
    try:
        yield
    except InputError as error:
        if error.where in ("count", *_DEGREES):
            raise InputError(error.problem, f"disaggregated.{kind}.{error.where}") from error
        raise


def pairs(request: EstimateRequest, prefill: Side, decode: Side, table: SetupTable) -> list[Pair]:
    """Return every pair of plans that holds a request, over all splits of the accelerators."""
    return [
        pair
        for one, other in _splits(request, prefill, decode, table)
        for pair in product(choices(prefill, one, table), choices(decode, other, table))
    ]


def _splits(
    request: EstimateRequest, prefill: Side, decode: Side, table: SetupTable
) -> tuple[tuple[int, int], ...]:
    """Return the counts of both pools to try; without a count in all, those of the smallest pools."""
    total, one, other = request.count, prefill.request.count, decode.request.count
    if total is None:
        one, other = one or _smallest(prefill, table), other or _smallest(decode, table)
        return () if one is None or other is None else ((one, other),)
    if one is not None and other is not None:
        if one + other != total:
            raise InputError(message("pools.sum", count=total, prefill=one, decode=other), "count")
        return ((one, other),)
    if total <= max(one or 1, other or 1):
        raise InputError(message("pools.none_left", count=total), "count")
    if one is not None:
        return ((one, total - one),)
    if other is not None:
        return ((total - other, other),)
    step = 1
    while total > step * MOST_SPLITS:
        step *= 2
    return tuple((part, total - part) for part in range(step, total, step))


def _smallest(side: Side, table: SetupTable) -> int | None:
    """Return how many accelerators the pool takes at least; None where none is known."""
    with _in_pool(side.kind):
        options = table.options(side.request, side.setup, side.tokens)
    return None if options is None else options.count


def choices(side: Side, count: int, table: SetupTable) -> list[PoolChoice]:
    """Return the plans of a pool that fit; with pipeline stages only where none fits without them."""
    with _in_pool(side.kind):
        options = table.options_of(side.request, side.setup, count, side.tokens)
    made = [] if options is None else _choices_of(options)
    return [each for each in made if each.candidate.plan.pp == 1] or made


def _choices_of(options: Options) -> list[PoolChoice]:
    columns = (options.chosen, options.capacity, options.sequences, options.sequence_bytes)
    return [PoolChoice(*each) for each in zip(*columns, strict=True)]


def unfit_pools(request: EstimateRequest, prefill: Side, decode: Side, table: SetupTable) -> Estimate:
    """Say which pool has no room, or that no split gives room to both, and how many accelerators would do."""
    known = [_smallest(_free(side, table), table) for side in (prefill, decode)]
    total = None if None in known else sum(count or 0 for count in known)
    for side in (decode, prefill):
        whole = request.count is None and side.request.count is None
        if (whole and _smallest(side, table) is None) or _too_small(side, table):
            found = unfit_estimate(side.request, side.setup, table)
            return replace(found, request=request, count=request.count or found.count, needs=total)
    rest = pool_request(request, PoolWish(count=(request.count or 2) - 1))
    found = unfit_estimate(rest, table.setup(rest), table)
    return replace(
        found,
        request=request,
        count=request.count or found.count,
        needs=total,
        reason=_reason(request, decode, known),
    )


def _too_small(side: Side, table: SetupTable) -> bool:
    """Whether the accelerators that the user gave a pool do not hold a request."""
    return side.request.count is not None and not choices(side, side.request.count, table)


def _free(side: Side, table: SetupTable) -> Side:
    """Return the pool with count and plan left to the program."""
    own = pool_request(side.request, PoolWish())
    return replace(side, request=own, setup=table.setup(own))


def _reason(request: EstimateRequest, decode: Side, known: list[int | None]) -> Message:
    prefill_needs, decode_needs = (count or 0 for count in known)
    return message(
        "pools.do_not_fit" if prefill_needs and decode_needs else "pools.never_fit",
        count=request.count or 0,
        accelerator=decode.setup.frame.accelerator.name,
        prefill=prefill_needs,
        decode=decode_needs,
    )
