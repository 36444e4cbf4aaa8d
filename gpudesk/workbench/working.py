"""Working: the derivation of a figure as a tree of terms with formulas, numbers, units and sources.

The tree is computed from the same rows and functions as the figure, so that it adds up to it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gpudesk.domain.answers import Term
from gpudesk.domain.estimates import Banded, Estimate, Limiter
from gpudesk.domain.formulas import slot, sum_of
from gpudesk.domain.messages import InputError, message
from gpudesk.domain.workloads import LoadKind
from gpudesk.engine.loads import ServingConstants
from gpudesk.engine.steps import Rows, StepTime, decode_step, prefill_step, request_prefill
from gpudesk.workbench.memory_terms import max_concurrency_term, memory_term
from gpudesk.workbench.setups import Candidate
from gpudesk.workbench.step_terms import prefill_terms, step_terms

if TYPE_CHECKING:
    from gpudesk.workbench.cases import Setup, SetupTable


@dataclass(frozen=True, slots=True)
class _Context:
    """Everything that the terms of one estimate are made from."""

    estimate: Estimate
    setup: Setup
    candidate: Candidate
    constants: ServingConstants
    rows: Rows
    running: float
    prompt: float
    cached: float
    context: float

    @property
    def decode(self) -> StepTime:
        """The decode step of the figure."""
        return decode_step(self.rows, np.array([self.running]), np.array([self.context]))


def explain(
    estimate: Estimate, figure: str, setup: Setup, table: SetupTable, constants: ServingConstants
) -> Term:
    """Return the derivation of `figure`; raises InputError that names the figures there are."""
    maker = _FIGURES.get(figure)
    if maker is None:
        raise InputError(message("explain.unknown", figure=figure, known=tuple(_FIGURES)), "figure")
    placements = table.placements(estimate.request, setup, estimate.count)
    placed = next(each for each in placements if each.plan == estimate.plan)
    candidate = table.candidate(estimate.request, setup, placed)
    work = estimate.request.workload
    active = max(1, min(estimate.plan.dp, estimate.admitted or 1))
    return maker(
        _Context(
            estimate=estimate,
            setup=setup,
            candidate=candidate,
            constants=constants,
            rows=Rows(Rows.table([candidate.row])),
            running=max(1.0, (estimate.admitted or 1) / active),
            prompt=max(1.0, work.input_tokens * (1.0 - work.prefix_hit_rate)),
            cached=work.input_tokens * work.prefix_hit_rate,
            context=work.input_tokens + 0.5 * work.output_tokens,
        )
    )


def _value(figure: Banded | None) -> float | None:
    return None if figure is None else figure.value


def _scenario(name: str, value: float | str | None, unit: str | None = None) -> Term:
    return Term(name, value, unit, source="scenario")


def _memory(context: _Context) -> Term:
    return memory_term(context.estimate, context.setup.frame, context.candidate)


def _max_concurrency(context: _Context) -> Term:
    return max_concurrency_term(context.estimate, context.setup.frame, context.candidate)


def _decode_term(context: _Context) -> Term:
    terms = step_terms(context.setup.frame, context.candidate, context.running, context.context)
    timed = sum_of(tuple(term.name for term in terms if term.unit == "s"))
    stretch = tuple(slot(term.name) for term in terms if term.unit is None)
    return Term(
        "decode step",
        float(context.decode.total[0]),
        "s",
        " × ".join((f"({timed})", *stretch)) if stretch else timed,
        inputs=terms,
    )


def _prefill_term(context: _Context, waiting: float | None = None) -> Term:
    """The prefill of one prompt, `waiting` of which queue; unset, that follows from the load."""
    prompt = np.array([context.prompt])
    in_burst = context.estimate.request.workload.load.kind in _BURSTS
    queued = waiting or (context.running if in_burst else 1.0)
    each, _ = request_prefill(context.rows, prompt, np.array([queued]), context.cached)
    chunk, step = prefill_step(context.rows, prompt, np.array([queued]), context.cached)
    terms = prefill_terms(
        context.setup.frame, context.candidate, float(chunk[0]), context.prompt, context.cached, queued
    )
    stages = context.candidate.plan.pp
    return Term(
        "prefill of one prompt",
        float(each[0]),
        "s",
        "{chunk_time} × {prompt} ÷ {chunk_tokens} ÷ {stages} + {request_time}"
        if stages > 1
        else "{chunk_time} × {prompt} ÷ {chunk_tokens} + {request_time}",
        inputs=(
            Term(
                "chunk time",
                float(step.total[0]),
                "s",
                sum_of(tuple(term.name for term in terms)),
                inputs=terms,
            ),
            _scenario("prompt", context.prompt, "tokens"),
            Term(
                "chunk tokens",
                float(chunk[0]),
                "tokens",
                source=f"setting:{context.setup.frame.engine.id}/max_batched_tokens",
            ),
            *((Term("stages", stages, None),) if stages > 1 else ()),
            Term("request time", context.candidate.row.request, "s", source="calibration:request_time"),
        ),
    )


_BURSTS = (LoadKind.BATCH, LoadKind.SATURATE)


def _no_figure(context: _Context) -> str:
    return "the limits cannot be met" if context.estimate.stable else "the queue grows without end"


def _total(context: _Context) -> Term:
    work = context.estimate.request.workload
    return Term(
        "input and output tokens/s",
        _value(context.estimate.total_tokens_per_s),
        "tok/s",
        "{output_tokens_s} × ({input_tokens} + {output_tokens}) ÷ {output_tokens}",
        inputs=(
            _throughput(context),
            _scenario("input tokens", work.input_tokens, "tokens"),
            _scenario("output tokens", work.output_tokens, "tokens"),
        ),
    )


def _per_accelerator(context: _Context) -> Term:
    return Term(
        "output tokens/s per accelerator",
        _value(context.estimate.output_tokens_per_s_per_accelerator),
        "tok/s",
        "{output_tokens_s} ÷ {accelerators}",
        inputs=(_throughput(context), Term("accelerators", context.estimate.count, None)),
    )


def _request(context: _Context) -> Term:
    work = context.estimate.request.workload
    return Term(
        "time of a request",
        _value(context.estimate.request_s),
        "s",
        "{TTFT} + ({output_tokens} − 1) × {TPOT}",
        inputs=(_ttft(context), _tpot(context), _scenario("output tokens", work.output_tokens, "tokens")),
    )


def _batch(context: _Context) -> Term:
    size = context.estimate.request.workload.load.batch
    if size is None:
        return Term("time of the batch", None, "s", "the load is not a static batch")
    return Term(
        "time of the batch",
        _value(context.estimate.batch_s),
        "s",
        "{requests} × {output_tokens} ÷ {output_tokens_s}",
        inputs=(
            _scenario("requests", size),
            _scenario("output tokens", context.estimate.request.workload.output_tokens, "tokens"),
            _throughput(context),
        ),
    )


def _tpot(context: _Context) -> Term:
    work = context.estimate.request.workload
    tpot = _value(context.estimate.tpot_ms)
    decode = _decode_term(context)
    pure_ms = float(context.decode.total[0]) / work.acceptance_length * 1e3
    if tpot is None:
        reason = "a single output token has none" if work.output_tokens == 1 else _no_figure(context)
        return Term("TPOT", None, "ms", reason, inputs=(decode,))
    speculates = work.acceptance_length != 1
    return Term(
        "TPOT",
        tpot,
        "ms",
        "{decode_step} ÷ {tokens_a_step} + {stall_by_prefill}"
        if speculates
        else "{decode_step} + {stall_by_prefill}",
        inputs=(
            decode,
            *((_scenario("tokens a step", work.acceptance_length),) if speculates else ()),
            Term(
                "stall by prefill",
                tpot - pure_ms,
                "ms",
                "prefill work of other requests while one decodes, per output token",
                inputs=(_prefill_term(context),),
            ),
            Term("running sequences in a replica", context.running, None),
        ),
    )


def _ttft(context: _Context) -> Term:
    ttft = _value(context.estimate.ttft_ms)
    own = _prefill_term(context, waiting=1.0)
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
                ttft - _number(own) * 1e3,
                "ms",
                "for the running step, the prompts before it, and a place in the cache",
                inputs=(_decode_term(context), _max_concurrency(context)),
            ),
        ),
    )


def _throughput(context: _Context) -> Term:
    estimate = context.estimate
    work = estimate.request.workload
    value = _value(estimate.output_tokens_per_s)
    if value is None:
        return Term("output tokens/s", None, "tok/s", "the limits cannot be met")
    active = max(1, min(estimate.plan.dp, estimate.admitted or 1))
    replicas = (Term("busy replicas", active, None),) if active > 1 else ()
    factors = (_running(context), *replicas, _scenario("output tokens", work.output_tokens, "tokens"))
    return Term(
        "output tokens/s",
        value,
        "tok/s",
        f"{' × '.join(slot(factor.name) for factor in factors)} ÷ {{round}}",
        inputs=(*factors, _round(context, context.running * active * work.output_tokens / value)),
    )


def _running(context: _Context) -> Term:
    """How many sequences run: what the load asks for, or what memory admits of it."""
    estimate, load = context.estimate, context.estimate.request.workload.load
    name = "running sequences in a replica"
    if estimate.limiter is Limiter.CAPACITY or (estimate.admitted or 0) < (estimate.concurrency or 0):
        return Term(name, context.running, None, inputs=(_max_concurrency(context),))
    stated = load.concurrency is not None or load.batch is not None
    return Term(name, context.running, None, source="scenario" if stated else None)


def _round(context: _Context, seconds: float) -> Term:
    """The time in which every running sequence is answered once."""
    steps, decode, prefill = _decode_steps(context), _decode_term(context), _prefill_term(context)
    busy = _number(steps) * _number(decode) + context.running * _number(prefill)
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


def _decode_steps(context: _Context) -> Term:
    work = context.estimate.request.workload
    later = max(work.output_tokens - 1, 0)
    given = (
        _scenario("output tokens", work.output_tokens, "tokens"),
        _scenario("tokens a step", work.acceptance_length),
    )
    if work.acceptance_length == 1:
        return Term("decode steps", later, None, "{output_tokens} − 1", inputs=given[:1])
    rule = "({output_tokens} − 1) ÷ {tokens_a_step}"
    return Term("decode steps", later / work.acceptance_length, None, rule, inputs=given)


def _number(term: Term) -> float:
    return float(term.value) if isinstance(term.value, int | float) else 0.0


_FIGURES: dict[str, Callable[[_Context], Term]] = {
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
