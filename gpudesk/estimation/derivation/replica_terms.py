"""The terms of one replica's work at an operating point, and of figures that follow from rate, TTFT and TPOT."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gpudesk.domain.derivation import DerivationTerm, format_placeholder, format_sum
from gpudesk.domain.estimate import Estimate
from gpudesk.engine.loads import LoadTerms
from gpudesk.engine.memory import ResolvedDeployment
from gpudesk.engine.rates import StepModel
from gpudesk.engine.steps import (
    CoefficientColumns,
    StepTime,
    compute_decode_step,
    compute_prefill_step,
    compute_request_prefill,
)
from gpudesk.estimation.derivation.step_terms import make_chunk_terms, make_step_terms, make_stretch_terms
from gpudesk.text.formatting import IntervalEstimate

if TYPE_CHECKING:
    from gpudesk.estimation.search_space import SearchSpace


@dataclass(frozen=True, slots=True)
class TermContext:
    """The inputs of the terms of one estimate.

    `running` sequences are in a replica, of which `waiting` queue for prefill together; `busy_replicas` is the mean
    over the run. `terms` is what the load adds to steps and prompts; None for a pool, and if nothing fits.
    """

    estimate: Estimate
    deployment: ResolvedDeployment
    steps: StepModel
    rows: CoefficientColumns
    running: float
    waiting: float
    busy_replicas: float
    terms: LoadTerms | None
    prompt: float
    cached: float
    context: float

    @property
    def decode(self) -> StepTime:
        return compute_decode_step(self.rows, np.array([self.running]), np.array([self.context]))


def make_term_context(
    estimate: Estimate,
    space: SearchSpace,
    deployment: ResolvedDeployment,
    running: float,
    waiting: float = 1.0,
    busy_replicas: float = 1.0,
    terms: LoadTerms | None = None,
) -> TermContext:
    work = estimate.request.workload
    steps = space.make_step_model(deployment)
    return TermContext(
        estimate=estimate,
        deployment=deployment,
        steps=steps,
        rows=CoefficientColumns(CoefficientColumns.table([steps.coefficients])),
        running=running,
        waiting=waiting,
        busy_replicas=busy_replicas,
        terms=terms,
        prompt=max(1.0, work.input_tokens * (1.0 - work.prefix_hit_rate)),
        cached=work.input_tokens * work.prefix_hit_rate,
        context=work.input_tokens + 0.5 * work.output_tokens,
    )


def get_figure_value(figure: IntervalEstimate | None) -> float | None:
    """Return the value of a figure; None if it has no meaning."""
    return None if figure is None else figure.value


def make_scenario_term(name: str, value: float | str | None, unit: str | None = None) -> DerivationTerm:
    return DerivationTerm(name, value, unit, source="scenario")


def make_decode_term(context: TermContext) -> DerivationTerm:
    terms = make_step_terms(context.deployment, context.steps, context.running, context.context)
    timed = format_sum(tuple(term.name for term in terms if term.unit == "s"))
    stretch = tuple(format_placeholder(term.name) for term in terms if term.unit is None)
    return DerivationTerm(
        "decode step",
        float(context.decode.total[0]),
        "s",
        " × ".join((f"({timed})", *stretch)) if stretch else timed,
        inputs=terms,
    )


def make_prefill_term(context: TermContext, waiting: float | None = None) -> DerivationTerm:
    """The prefill of one prompt, with `waiting` in the queue; by default as many as under the load."""
    prompt = np.array([context.prompt])
    queued = waiting or context.waiting
    each, _ = compute_request_prefill(context.rows, prompt, np.array([queued]), context.cached)
    chunk, step = compute_prefill_step(context.rows, prompt, np.array([queued]), context.cached)
    terms = make_chunk_terms(context.deployment, context.steps, float(chunk[0]), context.prompt, context.cached, queued)
    stages = context.deployment.plan.pp
    return DerivationTerm(
        "prefill of one prompt",
        float(each[0]),
        "s",
        "{chunk_time} × {prompt} ÷ {chunk_tokens} ÷ {stages} × {stretch_by_pipeline_stages} + {request_time}"
        if stages > 1
        else "{chunk_time} × {prompt} ÷ {chunk_tokens} + {request_time}",
        inputs=(
            DerivationTerm(
                "chunk time", float(step.total[0]), "s", format_sum(tuple(term.name for term in terms)), inputs=terms
            ),
            make_scenario_term("prompt", context.prompt, "tokens"),
            DerivationTerm(
                "chunk tokens",
                float(chunk[0]),
                "tokens",
                source=f"setting:{context.deployment.configuration.engine.id}/max_batched_tokens",
            ),
            *((DerivationTerm("stages", stages, None),) if stages > 1 else ()),
            *make_stretch_terms(context.steps.coefficients, queued),
            DerivationTerm("request time", context.steps.coefficients.request, "s", source="calibration:request_time"),
        ),
    )


def make_tokens_per_step_term(context: TermContext) -> DerivationTerm:
    """Return the tokens of a sequence per step, at most those still needed."""
    work = context.estimate.request.workload
    later = max(1, work.output_tokens - 1)
    if work.acceptance_length <= later:
        return make_scenario_term("tokens per step", work.acceptance_length)
    return DerivationTerm("tokens per step", later, None, "all output tokens after the first")


def make_decode_steps_term(context: TermContext) -> DerivationTerm:
    """Return how many steps follow the first token."""
    work = context.estimate.request.workload
    later = max(work.output_tokens - 1, 0)
    output = make_scenario_term("output tokens", work.output_tokens, "tokens")
    if work.acceptance_length == 1:
        return DerivationTerm("decode steps", later, None, "{output_tokens} − 1", inputs=(output,))
    each = make_tokens_per_step_term(context)
    rule = "({output_tokens} − 1) ÷ {tokens_per_step}"
    return DerivationTerm("decode steps", later / each.number, None, rule, inputs=(output, each))


def make_total_term(estimate: Estimate, throughput: DerivationTerm) -> DerivationTerm:
    work = estimate.request.workload
    return DerivationTerm(
        "input and output tokens/s",
        get_figure_value(estimate.total_tokens_per_s),
        "tok/s",
        "{output_tokens_s} × ({input_tokens} + {output_tokens}) ÷ {output_tokens}",
        inputs=(
            throughput,
            make_scenario_term("input tokens", work.input_tokens, "tokens"),
            make_scenario_term("output tokens", work.output_tokens, "tokens"),
        ),
    )


def make_per_accelerator_term(estimate: Estimate, throughput: DerivationTerm) -> DerivationTerm:
    return DerivationTerm(
        "output tokens/s per accelerator",
        get_figure_value(estimate.output_tokens_per_s_per_accelerator),
        "tok/s",
        "{output_tokens_s} ÷ {accelerators}",
        inputs=(throughput, DerivationTerm("accelerators", estimate.count, None)),
    )


def make_request_term(estimate: Estimate, ttft: DerivationTerm, tpot: DerivationTerm) -> DerivationTerm:
    output = estimate.request.workload.output_tokens
    return DerivationTerm(
        "time of a request",
        get_figure_value(estimate.request_s),
        "s",
        "{TTFT} + ({output_tokens} − 1) × {TPOT}",
        inputs=(ttft, tpot, make_scenario_term("output tokens", output, "tokens")),
    )


def make_batch_term(estimate: Estimate, throughput: DerivationTerm) -> DerivationTerm:
    work = estimate.request.workload
    if work.load.batch is None:
        return DerivationTerm("time of the batch", None, "s", "the load is not a static batch")
    return DerivationTerm(
        "time of the batch",
        get_figure_value(estimate.batch_s),
        "s",
        "{requests} × {output_tokens} ÷ {output_tokens_s}",
        inputs=(
            make_scenario_term("requests", work.load.batch),
            make_scenario_term("output tokens", work.output_tokens, "tokens"),
            throughput,
        ),
    )
