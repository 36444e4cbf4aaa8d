"""The terms of one replica's work: its decode step and its prefill of a prompt, at an operating point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gpudesk.domain.answers import Term
from gpudesk.domain.estimates import Banded, Estimate
from gpudesk.domain.formulas import slot, sum_of
from gpudesk.domain.workloads import LoadKind
from gpudesk.engine.steps import Rows, StepTime, decode_step, prefill_step, request_prefill
from gpudesk.workbench.candidates import Candidate
from gpudesk.workbench.step_terms import prefill_terms, step_terms

if TYPE_CHECKING:
    from gpudesk.workbench.cases import Setup

_BURSTS = (LoadKind.BATCH, LoadKind.SATURATE)


@dataclass(frozen=True, slots=True)
class Context:
    """Everything that the terms of one estimate are made from."""

    estimate: Estimate
    setup: Setup
    candidate: Candidate
    rows: Rows
    running: float
    prompt: float
    cached: float
    context: float

    @property
    def decode(self) -> StepTime:
        """The decode step of the figure."""
        return decode_step(self.rows, np.array([self.running]), np.array([self.context]))


def context_of(estimate: Estimate, setup: Setup, candidate: Candidate, running: float) -> Context:
    """Return what the terms of a replica are made from that runs so many sequences."""
    work = estimate.request.workload
    return Context(
        estimate=estimate,
        setup=setup,
        candidate=candidate,
        rows=Rows(Rows.table([candidate.row])),
        running=running,
        prompt=max(1.0, work.input_tokens * (1.0 - work.prefix_hit_rate)),
        cached=work.input_tokens * work.prefix_hit_rate,
        context=work.input_tokens + 0.5 * work.output_tokens,
    )


def value_of(figure: Banded | None) -> float | None:
    """Return the value of a figure; None where it has no meaning."""
    return None if figure is None else figure.value


def scenario_term(name: str, value: float | str | None, unit: str | None = None) -> Term:
    """Return a term that the user put in."""
    return Term(name, value, unit, source="scenario")


def decode_term(context: Context) -> Term:
    """Return a decode step by operator class."""
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


def prefill_term(context: Context, waiting: float | None = None) -> Term:
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
            scenario_term("prompt", context.prompt, "tokens"),
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


def tokens_a_step_term(context: Context) -> Term:
    """Return how many tokens of a sequence a step yields, which are no more than there are to come."""
    work = context.estimate.request.workload
    later = max(1, work.output_tokens - 1)
    if work.acceptance_length <= later:
        return scenario_term("tokens a step", work.acceptance_length)
    return Term("tokens a step", later, None, "as many as there are after the first")


def decode_steps_term(context: Context) -> Term:
    """Return how many steps follow the first token."""
    work = context.estimate.request.workload
    later = max(work.output_tokens - 1, 0)
    output = scenario_term("output tokens", work.output_tokens, "tokens")
    if work.acceptance_length == 1:
        return Term("decode steps", later, None, "{output_tokens} − 1", inputs=(output,))
    each = tokens_a_step_term(context)
    rule = "({output_tokens} − 1) ÷ {tokens_a_step}"
    return Term("decode steps", later / each.number, None, rule, inputs=(output, each))
