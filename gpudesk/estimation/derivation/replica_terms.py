"""The terms of one replica: memory and admitted requests, its work at an operating point, and figures that follow."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gpudesk.domain.deployment_analysis import DerivationTerm, derive_term, format_placeholder, format_sum
from gpudesk.domain.estimate import Estimate
from gpudesk.domain.model import reuses_cache
from gpudesk.engine.loads import LoadTerms
from gpudesk.engine.memory import (
    MemoryBudget,
    ResolvedDeployment,
    ServingConfiguration,
    compute_sampling_bytes,
    compute_step_bytes,
)
from gpudesk.engine.rates import StepModel
from gpudesk.engine.steps import (
    CoefficientColumns,
    StepTime,
    compute_decode_step,
    compute_prefill_step,
    compute_request_prefill,
)
from gpudesk.estimation.derivation.step_terms import make_chunk_terms, make_step_terms, make_stretch_terms
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.formatting import IntervalEstimate

if TYPE_CHECKING:
    from gpudesk.estimation.search_space import SearchSpace


_TAKEN = "weights, activations and runtime"
#: The memory available to the KV cache, by the base of the memory fraction.
_POOLS = {
    "total": "{fraction} × {capacity} − {weights} − {activations} − {runtime}",
    "free": "{fraction} × ({capacity} − {weights} − {activations} − {runtime})",
    "static": "{fraction} × ({capacity} − {runtime}) − {weights}",
}


def make_memory_term(estimate: Estimate, deployment: ResolvedDeployment) -> DerivationTerm:
    """Return the free memory of the most loaded accelerator at this load, or its shortage for one request."""
    if not estimate.fits:
        return _make_short_term(estimate, deployment)
    capacity, weights, activations, runtime = _make_static_terms(deployment)
    setting = _make_fraction_term(deployment.configuration).source
    reserve = DerivationTerm("reserve", estimate.memory.reserved_bytes, "B", source=setting)
    return derive_term(
        "free memory",
        estimate.memory.spare_bytes,
        "B",
        "{capacity} − {weights} − {KV_cache} − {activations} − {runtime} − {reserve}",
        capacity,
        weights,
        _make_cache_term(estimate, deployment),
        activations,
        runtime,
        reserve,
    )


def make_max_concurrency_term(estimate: Estimate, deployment: ResolvedDeployment) -> DerivationTerm:
    pool = _make_pool_term(deployment.budget.pool_bytes, _make_fraction_term(deployment.configuration), deployment)
    return _make_held_term("max concurrency", estimate.max_concurrency, pool, estimate, deployment)


def make_admission_term(estimate: Estimate, deployment: ResolvedDeployment) -> DerivationTerm:
    """Return what makes requests wait: the batch limit of the serving engine, or memory."""
    budget, engine = deployment.budget, deployment.configuration.engine.id
    by_memory = budget.count_admitted_sequences(estimate.request.workload.request_tokens)
    if by_memory > (estimate.admitted or 0):
        most = deployment.memory.settings.max_batch
        return DerivationTerm("max per step", most, None, source=f"setting:{engine}/max_batch")
    if by_memory == estimate.max_concurrency:
        return make_max_concurrency_term(estimate, deployment)
    pool = _make_pool_term(budget.usual_pool_bytes, _make_usual_fraction_term(deployment), deployment)
    return _make_held_term("admitted sequences", by_memory, pool, estimate, deployment)


def _make_held_term(
    name: str, sequences: int, pool: DerivationTerm, estimate: Estimate, deployment: ResolvedDeployment
) -> DerivationTerm:
    """Return how many sequences a pool on each attention rank holds in the whole deployment.

    If the default pool holds none, its memory fraction is raised until it holds one.
    """
    budget, sequence = deployment.budget, _make_sequence_term(estimate, deployment)
    groups = tuple(
        DerivationTerm(group, count, None)
        for group, count in (("attention ranks", budget.attention_ranks), ("replicas", budget.replicas))
        if count > 1
    )
    formula = "floor({KV_pool} ÷ {bytes_of_one_sequence})"
    if budget.pool_bytes <= 0:
        formula, groups = "none, since nothing is left for the KV cache", ()
    elif sequences and pool.number < sequence.number:
        formula = f"max(1, {formula})"
    return derive_term(
        name,
        sequences,
        "sequences",
        " × ".join((formula, *(format_placeholder(group.name) for group in groups))),
        pool,
        sequence,
        *groups,
    )


def _make_cache_term(estimate: Estimate, deployment: ResolvedDeployment) -> DerivationTerm:
    budget, admitted = deployment.budget, estimate.admitted or 1
    resident = min(admitted, budget.count_admitted_sequences(estimate.request.workload.request_tokens))
    rank_bytes = -(-resident // (budget.attention_ranks * budget.replicas))
    return derive_term(
        "KV cache",
        estimate.memory.kv_bytes,
        "B",
        "{sequences} × {bytes_of_one_sequence}",
        DerivationTerm("sequences", rank_bytes, None, source="scenario" if resident == admitted else None),
        _make_sequence_term(estimate, deployment),
    )


def _make_pool_term(pool_bytes: int, fraction: DerivationTerm, deployment: ResolvedDeployment) -> DerivationTerm:
    capacity, weights, _, runtime = static = _make_static_terms(deployment)
    formula = _POOLS[deployment.configuration.settings.memory_fraction_of]
    inputs: tuple[DerivationTerm, ...] = (fraction, *static)
    if deployment.configuration.settings.memory_fraction_of == "static":
        inputs = (fraction, capacity, runtime, weights)
        if _ends_at_activations(pool_bytes, deployment.budget):
            formula, inputs = "{capacity} − {weights} − {activations} − {runtime}", static
    return derive_term("KV pool", pool_bytes, "B", formula, *inputs)


def _ends_at_activations(pool_bytes: int, budget: MemoryBudget) -> bool:
    """Whether a pool is limited by the activations next to it before it reaches its fraction."""
    occupied_bytes = budget.weights_bytes + budget.activations_bytes + budget.runtime_bytes
    return pool_bytes == budget.capacity_bytes - occupied_bytes


def _make_short_term(estimate: Estimate, deployment: ResolvedDeployment) -> DerivationTerm:
    """Return the shortage of the most loaded accelerator for the weights and one request on each attention rank."""
    budget = deployment.budget
    occupied_bytes = budget.weights_bytes + budget.activations_bytes + budget.runtime_bytes
    _, weights, activations, runtime = _make_static_terms(deployment)
    sequence = _make_sequence_term(estimate, deployment)
    sequence_bytes = budget.cache.sequence_bytes(estimate.request.workload.request_tokens)
    parts = (weights, sequence, activations, runtime)
    usable = _make_usable_term(budget.pool_bytes + occupied_bytes, occupied_bytes, deployment)
    needed = derive_term(
        "needed", occupied_bytes + sequence_bytes, "B", format_sum(tuple(part.name for part in parts)), *parts
    )
    missing = sequence_bytes - budget.pool_bytes
    return derive_term("missing memory", missing, "B", "{needed} − {usable}", needed, usable)


def _make_usable_term(usable_bytes: int, occupied_bytes: int, deployment: ResolvedDeployment) -> DerivationTerm:
    capacity, _, activations, runtime = _make_static_terms(deployment)
    fraction = _make_fraction_term(deployment.configuration)
    kind = deployment.configuration.settings.memory_fraction_of
    if kind == "total":
        return derive_term("usable", usable_bytes, "B", "{fraction} × {capacity}", fraction, capacity)
    if kind == "free":
        formula = f"{{fraction}} × ({{capacity}} − {format_placeholder(_TAKEN)}) + {format_placeholder(_TAKEN)}"
        return derive_term(
            "usable", usable_bytes, "B", formula, fraction, capacity, DerivationTerm(_TAKEN, occupied_bytes, "B")
        )
    if _ends_at_activations(deployment.budget.pool_bytes, deployment.budget):
        return derive_term("usable", usable_bytes, "B", "{capacity}", capacity)
    formula = "{fraction} × ({capacity} − {runtime}) + {activations} + {runtime}"
    return derive_term("usable", usable_bytes, "B", formula, fraction, capacity, runtime, activations)


def _make_static_terms(
    deployment: ResolvedDeployment,
) -> tuple[DerivationTerm, DerivationTerm, DerivationTerm, DerivationTerm]:
    """Return capacity, weights, activations and runtime, which do not depend on the load."""
    return (
        DerivationTerm(
            "capacity",
            deployment.budget.capacity_bytes,
            "B",
            source=f"catalog:{deployment.configuration.accelerator.id}/memory",
        ),
        _make_weights_term(deployment),
        _make_activations_term(deployment),
        _make_runtime_term(deployment),
    )


def _make_weights_term(deployment: ResolvedDeployment) -> DerivationTerm:
    budget, source = deployment.budget, f"catalog:{deployment.configuration.model.id}"
    formula = "elements on the most loaded accelerator × bytes of their format, block scales included"
    if deployment.plan.count == 1:
        formula = "elements × bytes of their format, block scales included"
    if deployment.configuration.model.layer_input_size:
        formula += ", with the table of the layers' own inputs"
    padding = budget.shards.padding_bytes
    if not padding:
        return DerivationTerm("weights", budget.weights_bytes, "B", formula, source=source)
    return derive_term(
        "weights",
        budget.weights_bytes,
        "B",
        "{weights_as_stored} + {padding_of_experts}",
        DerivationTerm("weights as stored", budget.weights_bytes - padding, "B", formula, source=source),
        DerivationTerm(
            "padding of experts", padding, "B", source=f"setting:{deployment.configuration.engine.id}/kernels"
        ),
    )


def _make_activations_term(deployment: ResolvedDeployment) -> DerivationTerm:
    engine, settings = deployment.configuration.engine.id, deployment.memory.settings
    step = compute_step_bytes(deployment.configuration.model, deployment.plan, settings)
    drawing = compute_sampling_bytes(deployment.configuration.model, settings)
    return derive_term(
        "activations",
        deployment.budget.activations_bytes,
        "B",
        "max({a_step}, {sampling})",
        DerivationTerm("a step", step, "B", source=f"setting:{engine}/max_batched_tokens"),
        DerivationTerm("sampling", drawing, "B", source=f"setting:{engine}/logit_bytes"),
    )


def _make_runtime_term(deployment: ResolvedDeployment) -> DerivationTerm:
    engine, settings = deployment.configuration.engine.id, deployment.configuration.settings
    total = deployment.budget.runtime_bytes
    source = f"setting:{engine}/runtime_bytes"
    if total == settings.runtime_bytes:
        return DerivationTerm("runtime", total, "B", source=source)
    return derive_term(
        "runtime",
        total,
        "B",
        "{of_one_accelerator} + {of_collectives}",
        DerivationTerm("of one accelerator", settings.runtime_bytes, "B", source=source),
        DerivationTerm("of collectives", settings.collective_bytes, "B", source=f"setting:{engine}/collective_bytes"),
    )


def _make_usual_fraction_term(deployment: ResolvedDeployment) -> DerivationTerm:
    """Return the default memory fraction, which can leave memory free for attention ranks."""
    configuration, fraction = deployment.configuration, deployment.memory.settings.usual_fraction
    source = f"setting:{configuration.engine.id}"
    usual = DerivationTerm("fraction", configuration.settings.usual_fraction, None, source=f"{source}/memory_fraction")
    if fraction is None or fraction == usual.value:
        return usual
    free_bytes, source = configuration.settings.attention_rank_bytes, f"{source}/attention_rank_bytes"
    return derive_term(
        "fraction",
        fraction,
        None,
        "{default} − {attention_ranks} × {free_per_rank} ÷ {capacity}",
        replace(usual, name="default"),
        DerivationTerm("attention ranks", deployment.budget.attention_ranks, None),
        DerivationTerm("free per rank", free_bytes, "B", source=source),
        _make_static_terms(deployment)[0],
    )


def _make_fraction_term(configuration: ServingConfiguration) -> DerivationTerm:
    """Return the memory fraction used to judge the fit: the user's, or the largest safe one."""
    is_user_fraction = configuration.settings.usual_fraction is None
    source = "scenario" if is_user_fraction else f"setting:{configuration.engine.id}/safe_memory_fraction"
    return DerivationTerm("fraction", configuration.settings.memory_fraction, None, source=source)


def _make_sequence_term(estimate: Estimate, deployment: ResolvedDeployment) -> DerivationTerm:
    tokens, cache = estimate.request.workload.request_tokens, deployment.budget.cache
    sequence_bytes, filled_bytes = cache.sequence_bytes(tokens), cache.compute_filled_bytes(tokens)
    length = DerivationTerm("tokens of one sequence", tokens, "tokens", source="scenario")
    filling = "sum of the bytes that all layers store"
    if any(reuses_cache(group.mixer) for group in deployment.configuration.model.layers):
        filling += ", except layers that reuse the cache of another"
    model = f"catalog:{deployment.configuration.model.id}"
    if sequence_bytes == filled_bytes:
        return DerivationTerm("bytes of one sequence", sequence_bytes, "B", filling, source=model, inputs=(length,))
    share_constant = "state_share" if cache.holding.state_share and cache.state_bytes else "window_share"
    return derive_term(
        "bytes of one sequence",
        sequence_bytes,
        "B",
        "{bytes_that_it_fills} + {set_aside_with_them}",
        DerivationTerm("bytes that it fills", filled_bytes, "B", filling, source=model, inputs=(length,)),
        DerivationTerm(
            "set aside with them",
            sequence_bytes - filled_bytes,
            "B",
            source=f"setting:{deployment.configuration.engine.id}/{share_constant}",
        ),
    )


@frozen_dataclass
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
    return derive_term(
        "decode step",
        float(context.decode.total[0]),
        "s",
        " × ".join((f"({timed})", *stretch)) if stretch else timed,
        *terms,
    )


def make_prefill_term(context: TermContext, waiting: float | None = None) -> DerivationTerm:
    """The prefill of one prompt, with `waiting` in the queue; by default as many as under the load."""
    prompt = np.array([context.prompt])
    queued = waiting or context.waiting
    each, _ = compute_request_prefill(context.rows, prompt, np.array([queued]), context.cached)
    chunk, step = compute_prefill_step(context.rows, prompt, np.array([queued]), context.cached)
    terms = make_chunk_terms(context.deployment, context.steps, float(chunk[0]), context.prompt, context.cached, queued)
    stages = context.deployment.plan.pp
    return derive_term(
        "prefill of one prompt",
        float(each[0]),
        "s",
        "{chunk_time} × {prompt} ÷ {chunk_tokens} ÷ {stages} × {stretch_by_pipeline_stages} + {request_time}"
        if stages > 1
        else "{chunk_time} × {prompt} ÷ {chunk_tokens} + {request_time}",
        derive_term("chunk time", float(step.total[0]), "s", format_sum(tuple(term.name for term in terms)), *terms),
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
        return derive_term("decode steps", later, None, "{output_tokens} − 1", output)
    each = make_tokens_per_step_term(context)
    rule = "({output_tokens} − 1) ÷ {tokens_per_step}"
    return derive_term("decode steps", later / each.number, None, rule, output, each)


def make_total_term(estimate: Estimate, throughput: DerivationTerm) -> DerivationTerm:
    work = estimate.request.workload
    return derive_term(
        "total token throughput",
        get_figure_value(estimate.total_tokens_per_s),
        "tok/s",
        "{output_throughput} × ({input_tokens} + {output_tokens}) ÷ {output_tokens}",
        throughput,
        make_scenario_term("input tokens", work.input_tokens, "tokens"),
        make_scenario_term("output tokens", work.output_tokens, "tokens"),
    )


def make_per_accelerator_term(estimate: Estimate, throughput: DerivationTerm) -> DerivationTerm:
    return derive_term(
        "output per accelerator",
        get_figure_value(estimate.output_tokens_per_s_per_accelerator),
        "tok/s",
        "{output_throughput} ÷ {accelerators}",
        throughput,
        DerivationTerm("accelerators", estimate.count, None),
    )


def make_request_term(estimate: Estimate, ttft: DerivationTerm, tpot: DerivationTerm) -> DerivationTerm:
    output = estimate.request.workload.output_tokens
    return derive_term(
        "request latency",
        get_figure_value(estimate.request_s),
        "s",
        "{TTFT} + ({output_tokens} − 1) × {TPOT}",
        ttft,
        tpot,
        make_scenario_term("output tokens", output, "tokens"),
    )


def make_batch_term(estimate: Estimate, throughput: DerivationTerm) -> DerivationTerm:
    work = estimate.request.workload
    if work.load.batch is None:
        return DerivationTerm("batch time", None, "s", "the load is not a static batch")
    return derive_term(
        "batch time",
        get_figure_value(estimate.batch_s),
        "s",
        "{requests} × {output_tokens} ÷ {output_throughput}",
        make_scenario_term("requests", work.load.batch),
        make_scenario_term("output tokens", work.output_tokens, "tokens"),
        throughput,
    )
