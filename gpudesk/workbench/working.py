"""Working: the derivation of a figure as a tree of terms with formulas, numbers, units and sources.

The tree is computed from the same rows and functions as the figure, so that it adds up to it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from gpudesk.domain.answers import Term
from gpudesk.domain.estimates import Estimate, Limiter
from gpudesk.domain.formulas import slot
from gpudesk.domain.messages import InputError, message
from gpudesk.domain.workloads import LoadKind
from gpudesk.workbench.deployed import own_request, placement_of
from gpudesk.workbench.derived_terms import batch_term, per_accelerator_term, request_term, total_term
from gpudesk.workbench.memory_terms import admission_term, max_concurrency_term, memory_term
from gpudesk.workbench.replica_terms import (
    Context,
    context_of,
    decode_steps_term,
    decode_term,
    prefill_term,
    scenario_term,
    tokens_a_step_term,
    value_of,
)

if TYPE_CHECKING:
    from gpudesk.workbench.cases import SetupTable


def explain(estimate: Estimate, figure: str, table: SetupTable) -> Term:
    """Return the derivation of `figure`; raises InputError that names the figures there are."""
    maker = _FIGURES.get(figure)
    if maker is None:
        raise InputError(message("explain.unknown", figure=figure, known=tuple(_FIGURES)), "figure")
    setup, placed = placement_of(estimate, table)
    candidate = table.candidate(own_request(estimate), setup, placed)
    active = max(1, min(estimate.plan.dp, estimate.admitted or 1))
    return maker(context_of(estimate, setup, candidate, max(1.0, (estimate.admitted or 1) / active)))


def _memory(context: Context) -> Term:
    return memory_term(context.estimate, context.setup.frame, context.candidate)


def _max_concurrency(context: Context) -> Term:
    return max_concurrency_term(context.estimate, context.setup.frame, context.candidate)


def _some_wait(estimate: Estimate) -> bool:
    return estimate.limiter is Limiter.CAPACITY or (estimate.admitted or 0) < (estimate.concurrency or 0)


def _admission(context: Context) -> Term:
    """What keeps requests waiting, or how many could run where none waits."""
    if _some_wait(context.estimate):
        return admission_term(context.estimate, context.setup.frame, context.candidate)
    return _max_concurrency(context)


def _no_figure(context: Context) -> str:
    return "the limits cannot be met" if context.estimate.stable else "the queue grows without end"


def _total(context: Context) -> Term:
    return total_term(context.estimate, _throughput(context))


def _per_accelerator(context: Context) -> Term:
    return per_accelerator_term(context.estimate, _throughput(context))


def _request(context: Context) -> Term:
    return request_term(context.estimate, _ttft(context), _tpot(context))


def _batch(context: Context) -> Term:
    return batch_term(context.estimate, _throughput(context))


def _tpot(context: Context) -> Term:
    work = context.estimate.request.workload
    tpot = value_of(context.estimate.tpot_ms)
    decode = decode_term(context)
    each = tokens_a_step_term(context)
    pure_ms = float(context.decode.total[0]) / each.number * 1e3
    if tpot is None:
        reason = "a single output token has none" if work.output_tokens == 1 else _no_figure(context)
        return Term("TPOT", None, "ms", reason, inputs=(decode,))
    stalled = _stalled(context, tpot - pure_ms)
    speculates = work.acceptance_length != 1
    step = "{decode_step} ÷ {tokens_a_step}" if speculates else "{decode_step}"
    return Term(
        "TPOT",
        tpot,
        "ms",
        f"{step} + {slot(stalled.name)}",
        inputs=(
            decode,
            *((each,) if speculates else ()),
            stalled,
            Term("running sequences in a replica", context.running, None),
        ),
    )


def _stalled(context: Context, stalled_ms: float) -> Term:
    """What prompts of others add to TPOT; a run that ends has emptier steps as well, which take less."""
    load = context.estimate.request.workload.load
    name, what = "stall by prefill", "prefill work of other requests while one decodes, per output token"
    if load.batch is not None or load.requests is not None:
        name = "stall by prefill and emptier steps"
        what = f"{what}; less what steps take less before all run and after the first end"
    return Term(name, stalled_ms, "ms", what, inputs=(prefill_term(context),))


def _ttft(context: Context) -> Term:
    ttft = value_of(context.estimate.ttft_ms)
    own = prefill_term(context, waiting=1.0)
    if ttft is None:
        return Term("TTFT", None, "ms", _no_figure(context), inputs=(own,))
    return Term(
        "TTFT",
        ttft,
        "ms",
        "{prefill_of_one_prompt} + {waiting}",
        inputs=(
            own,
            Term(
                "waiting",
                ttft - own.number * 1e3,
                "ms",
                "for the running step, the prompts before it, and a place in the cache",
                inputs=(decode_term(context), _admission(context)),
            ),
        ),
    )


def _throughput(context: Context) -> Term:
    estimate = context.estimate
    work = estimate.request.workload
    value = value_of(estimate.output_tokens_per_s)
    if value is None:
        return Term("output tokens/s", None, "tok/s", "the limits cannot be met")
    active = max(1, min(estimate.plan.dp, estimate.admitted or 1))
    replicas = (Term("busy replicas", active, None),) if active > 1 else ()
    factors = (_running(context), *replicas, scenario_term("output tokens", work.output_tokens, "tokens"))
    return Term(
        "output tokens/s",
        value,
        "tok/s",
        f"{' × '.join(slot(factor.name) for factor in factors)} ÷ {{round}}",
        inputs=(*factors, _round(context, context.running * active * work.output_tokens / value)),
    )


def _running(context: Context) -> Term:
    """How many sequences run: what the load asks for, or what memory admits of it."""
    load = context.estimate.request.workload.load
    name = "running sequences in a replica"
    if _some_wait(context.estimate):
        admission = _admission(context)
        grown = (context.estimate.admitted or 0) > admission.number
        rule = "more than at full length, since memory is given as they grow" if grown else None
        return Term(name, context.running, None, rule, inputs=(admission,))
    if load.kind is LoadKind.LIMITS:
        return _within_limits(name, context)
    stated = load.concurrency is not None or load.batch is not None
    return Term(name, context.running, None, source="scenario" if stated else None)


def _within_limits(name: str, context: Context) -> Term:
    """How many sequences meet the limits, which p99 limits let run in short steps only."""
    if context.estimate.request.workload.load.limit == "mean":
        return Term(name, context.running, None, "as many as meet the limits")
    tokens = context.setup.frame.limit_tokens
    most = Term("most tokens in a step of a rank", tokens, "tokens", source="calibration:limit_tokens")
    rule = "as many as meet the limits, in steps of no more tokens, prompts included"
    return Term(name, context.running, None, rule, inputs=(most,))


def _round(context: Context, seconds: float) -> Term:
    """The time in which every running sequence is answered once."""
    steps, decode, prefill = decode_steps_term(context), decode_term(context), prefill_term(context)
    busy = steps.number * decode.number + context.running * prefill.number
    return Term(
        "round",
        seconds,
        "s",
        "{decode_steps} × {decode_step} + {running_sequences} × {prefill_of_one_prompt}"
        " + {waiting_overlap_and_tail}",
        inputs=(
            steps,
            decode,
            Term("running sequences", context.running, None),
            prefill,
            Term(
                "waiting, overlap and tail",
                seconds - busy,
                "s",
                "what the load adds: queue, last wave, arrivals; less what runs at once",
            ),
        ),
    )


_FIGURES: dict[str, Callable[[Context], Term]] = {
    "output_tokens_per_s": _throughput,
    "total_tokens_per_s": _total,
    "output_tokens_per_s_per_accelerator": _per_accelerator,
    "request_s": _request,
    "batch_s": _batch,
    "ttft_ms": _ttft,
    "tpot_ms": _tpot,
    "max_concurrency": _max_concurrency,
    "memory": _memory,
}

#: Figures that can be explained.
FIGURES = tuple(_FIGURES)

__all__ = ["FIGURES", "explain"]
