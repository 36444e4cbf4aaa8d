"""The derivation of a figure as a tree of terms with formulas, numbers, units and sources.

The tree is computed from the same coefficients and functions as the figure, so that both agree.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import numpy as np

from gpudesk.catalog.read import Catalog
from gpudesk.domain.claim import AttributeClaims
from gpudesk.domain.deployment_analysis import DerivationTerm, derive_term, format_placeholder
from gpudesk.domain.estimate import CalibrationCoverage, Estimate, Limiter, LoadKind
from gpudesk.domain.field_checks import find_closest
from gpudesk.engine.calibration import Calibration
from gpudesk.engine.loads import SchedulingConstants
from gpudesk.engine.memory import ResolvedDeployment
from gpudesk.engine.serving import serve_replicas
from gpudesk.estimation.derivation.replica_terms import (
    TermContext,
    get_figure_value,
    make_admission_term,
    make_batch_term,
    make_decode_steps_term,
    make_decode_term,
    make_max_concurrency_term,
    make_memory_term,
    make_per_accelerator_term,
    make_prefill_term,
    make_request_term,
    make_scenario_term,
    make_term_context,
    make_tokens_per_step_term,
    make_total_term,
)
from gpudesk.estimation.operation import EstimateDeployment, find_deployment, make_deployment_arrays
from gpudesk.estimation.pools import PoolChoice, PoolEstimator, PoolOperatingPoint, compute_moved_bytes
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.formatting import Formatter
from gpudesk.text.messages import InputError, Message, message, quote_input
from gpudesk.text.translation import tr, translate_data

if TYPE_CHECKING:
    from gpudesk.estimation.search_space import SearchSpaceTable


#: Terms and figures that differ by less are equal: sums in another order.
_ROUNDING: Final = 1e-9


def explain_figure(
    estimate: Estimate, figure: str, table: SearchSpaceTable, constants: SchedulingConstants
) -> DerivationTerm:
    """Return the derivation of `figure`; raises InputError that lists the known figures."""
    if figure not in EXPLAINED_FIGURES:
        raise InputError(describe_unknown_figure(figure, EXPLAINED_FIGURES), "figure")
    there = find_deployment(estimate, table)
    if figure in _MEMORY_FIGURES:
        return _MEMORY_FIGURES[figure](estimate, there.deployment)
    return _FIGURES[figure](_operate_replica(there, table, constants))


def _operate_replica(there: EstimateDeployment, table: SearchSpaceTable, constants: SchedulingConstants) -> TermContext:
    """Serve the load of an estimate again, for the values behind its figures."""
    estimate, space, deployment = there.estimate, there.space, there.deployment
    arrays = make_deployment_arrays([there], table)
    kind = estimate.request.workload.load.kind
    replica, results = serve_replicas(kind, arrays.rows, arrays.requests, arrays.loads, constants)
    return make_term_context(
        estimate,
        space,
        deployment,
        running=max(1.0, float(replica.running[0])),
        waiting=float(replica.waiting[0]),
        busy_replicas=float(results.rate[0] / replica.rate[0]),
        terms=replica.compute_terms(),
    )


#: Whether the load is stable -> why there is no figure.
_NO_FIGURE: Final = {True: "the limits cannot be met", False: "the queue grows without limit"}


def _has_queue(estimate: Estimate) -> bool:
    return estimate.limiter is Limiter.CAPACITY or (estimate.admitted or 0) < (estimate.concurrency or 0)


def _derive_admission_term(context: TermContext) -> DerivationTerm:
    """What makes requests wait, or how many could run if none waits."""
    if _has_queue(context.estimate):
        return make_admission_term(context.estimate, context.deployment)
    return make_max_concurrency_term(context.estimate, context.deployment)


def _derive_total_term(context: TermContext) -> DerivationTerm:
    return make_total_term(context.estimate, _derive_throughput_term(context))


def _derive_per_accelerator_term(context: TermContext) -> DerivationTerm:
    return make_per_accelerator_term(context.estimate, _derive_throughput_term(context))


def _request_term(context: TermContext) -> DerivationTerm:
    return make_request_term(context.estimate, _derive_ttft_term(context), _derive_tpot_term(context))


def _derive_batch_term(context: TermContext) -> DerivationTerm:
    return make_batch_term(context.estimate, _derive_throughput_term(context))


def _derive_tpot_term(context: TermContext) -> DerivationTerm:
    work = context.estimate.request.workload
    tpot = get_figure_value(context.estimate.tpot_ms)
    decode = make_decode_term(context)
    each = make_tokens_per_step_term(context)
    pure_ms = float(context.decode.total[0]) / each.number * 1e3
    if tpot is None:
        reason = (
            "a single output token has none" if work.output_tokens == 1 else _NO_FIGURE[bool(context.estimate.stable)]
        )
        return derive_term("TPOT", None, "ms", reason, decode)
    stall = _derive_stall_term(context)
    speculates = work.acceptance_length != 1
    step = "{decode_step} ÷ {tokens_per_step}" if speculates else "{decode_step}"
    bound = _make_bound_terms(tpot, pure_ms + stall.number, "ms")
    return derive_term(
        "TPOT",
        tpot,
        "ms",
        " + ".join((step, *(format_placeholder(each.name) for each in (stall, *bound)))),
        decode,
        *((each,) if speculates else ()),
        stall,
        *bound,
        DerivationTerm("running sequences in a replica", context.running, None),
    )


def _make_bound_terms(figure: float, total: float, unit: str) -> tuple[DerivationTerm, ...]:
    """Return the physical bounds of a figure if its terms alone would exceed them."""
    if math.isclose(figure, total, rel_tol=_ROUNDING):
        return ()
    return (DerivationTerm("limit set by physics", figure - total, unit),)


def _derive_stall_term(context: TermContext) -> DerivationTerm:
    """The delay of TPOT by other prompts; a draining run also has emptier, shorter steps."""
    load = context.estimate.request.workload.load
    name, what = "stall by prefill", "prefill work of other requests while one decodes, per output token"
    if load.batch is not None or load.requests is not None:
        name = "stall by prefill and emptier steps"
        what += "; minus time saved while fewer requests run"
    later = max(context.estimate.request.workload.output_tokens - 1, 1)
    stall_ms = _get_term(context, "stall") / later * 1e3
    return derive_term(name, stall_ms, "ms", what, make_prefill_term(context))


def _get_term(context: TermContext, name: str) -> float:
    """Return seconds added by the load; see `LoadTerms`."""
    return 0.0 if context.terms is None else float(getattr(context.terms, name)[0])


def _derive_ttft_term(context: TermContext) -> DerivationTerm:
    ttft = get_figure_value(context.estimate.ttft_ms)
    own = make_prefill_term(context, waiting=1.0)
    if ttft is None:
        return derive_term("TTFT", None, "ms", _NO_FIGURE[bool(context.estimate.stable)], own)
    waiting_ms = _get_term(context, "queue") * 1e3
    bound = _make_bound_terms(ttft, own.number * 1e3 + waiting_ms, "ms")
    return derive_term(
        "TTFT",
        ttft,
        "ms",
        " + ".join(("{prefill_of_one_prompt} + {waiting}", *(format_placeholder(each.name) for each in bound))),
        own,
        derive_term(
            "waiting",
            waiting_ms,
            "ms",
            "for the running step, the prompts before it, and a place in the cache",
            make_decode_term(context),
            _derive_admission_term(context),
        ),
        *bound,
    )


def _derive_throughput_term(context: TermContext) -> DerivationTerm:
    estimate = context.estimate
    work = estimate.request.workload
    value = get_figure_value(estimate.output_tokens_per_s)
    if value is None:
        return DerivationTerm("output throughput", None, "tok/s", "the limits cannot be met")
    busy = context.busy_replicas
    replicas = () if busy == 1.0 else (DerivationTerm("busy replicas", busy, None),)
    factors = (
        _derive_running_term(context),
        *replicas,
        make_scenario_term("output tokens", work.output_tokens, "tokens"),
    )
    return derive_term(
        "output throughput",
        value,
        "tok/s",
        f"{' × '.join(format_placeholder(factor.name) for factor in factors)} ÷ {{round}}",
        *factors,
        _round_term(context, context.running * busy * work.output_tokens / value),
    )


def _derive_running_term(context: TermContext) -> DerivationTerm:
    """How many sequences run: the number requested, or as many as memory admits."""
    load = context.estimate.request.workload.load
    name = "running sequences in a replica"
    if _has_queue(context.estimate):
        admission = _derive_admission_term(context)
        grown = (context.estimate.admitted or 0) > admission.number
        rule = "more than at full length, because memory is allocated as they grow" if grown else None
        return derive_term(name, context.running, None, rule, admission)
    if load.kind is LoadKind.LIMITS:
        return _derive_limits_term(name, context)
    is_in_scenario = load.concurrency is not None or load.batch is not None
    return DerivationTerm(name, context.running, None, source="scenario" if is_in_scenario else None)


def _derive_limits_term(name: str, context: TermContext) -> DerivationTerm:
    """How many sequences meet the limits; p99 limits allow only short steps."""
    if context.estimate.request.workload.load.limit == "mean":
        return DerivationTerm(name, context.running, None, "as many as meet the limits")
    tokens = context.deployment.configuration.limit_tokens
    most = DerivationTerm("max tokens per step and rank", tokens, "tokens", source="calibration:limit_tokens")
    rule = "as many as meet the limits, in steps of no more tokens, prompts included"
    return derive_term(name, context.running, None, rule, most)


#: Components of a round besides steps and prompts: name, sign, and meaning.
_ROUND_PARTS: Final = (
    ("overlap", -1.0, "prompts that go through the layers in one step with the tokens of others"),
    ("waiting", 1.0, "for clients, the next arrival, a filled pipeline, and recomputed tokens"),
    ("tail", 1.0, "the end of the run, when fewer requests run; its share of each round"),
)


def _round_term(context: TermContext, seconds: float) -> DerivationTerm:
    """The time in which every running sequence is answered once."""
    steps, decode, prefill = (make_decode_steps_term(context), make_decode_term(context), make_prefill_term(context))
    total = steps.number * decode.number + context.running * prefill.number
    formula = "{decode_steps} × {decode_step} + {running_sequences} × {prefill_of_one_prompt}"
    parts = []
    for name, sign, what in _ROUND_PARTS:
        value = _get_term(context, name)
        if value:
            parts.append(DerivationTerm(name, value, "s", what))
            formula += f" {'−' if sign < 0 else '+'} {format_placeholder(name)}"
            total += sign * value
    bound = _make_bound_terms(seconds, total, "s")
    return derive_term(
        "round",
        seconds,
        "s",
        " + ".join((formula, *(format_placeholder(each.name) for each in bound))),
        steps,
        decode,
        DerivationTerm("running sequences", context.running, None),
        prefill,
        *parts,
        *bound,
    )


_FIGURES: dict[str, Callable[[TermContext], DerivationTerm]] = {
    "output_tokens_per_s": _derive_throughput_term,
    "total_tokens_per_s": _derive_total_term,
    "output_tokens_per_s_per_accelerator": _derive_per_accelerator_term,
    "request_s": _request_term,
    "batch_s": _derive_batch_term,
    "ttft_ms": _derive_ttft_term,
    "tpot_ms": _derive_tpot_term,
}
#: Figures of memory, which do not depend on the load.
_MEMORY_FIGURES: dict[str, Callable[[Estimate, ResolvedDeployment], DerivationTerm]] = {
    "max_concurrency": make_max_concurrency_term,
    "memory": make_memory_term,
}

#: Figures with derivations.
EXPLAINED_FIGURES = (*_FIGURES, *_MEMORY_FIGURES)


@frozen_dataclass
class _PoolContext:
    """The inputs of the terms of one estimate with pools."""

    estimate: Estimate
    table: PoolEstimator
    operation: PoolOperatingPoint
    prefill: TermContext
    decode: TermContext


def explain_pools(estimate: Estimate, figure: str, table: PoolEstimator) -> DerivationTerm | None:
    """Return the derivation of a figure that pools change; None for all others."""
    maker = _POOL_FIGURES.get(figure)
    if maker is None:
        return None
    operating_point = table.operate(estimate)
    contexts = [
        make_term_context(estimate, space, choice.deployment, max(1.0, float(operating_point.results.running[0])))
        for space, choice in zip(operating_point.spaces, operating_point.pair, strict=True)
    ]
    return maker(_PoolContext(estimate, table, operating_point, *contexts))


def _derive_pool_throughput_term(pools: _PoolContext) -> DerivationTerm:
    estimate = pools.estimate
    value = get_figure_value(estimate.output_tokens_per_s)
    if value is None:
        return DerivationTerm("output throughput", None, "tok/s", "the limits cannot be met")
    output = estimate.request.workload.output_tokens
    return derive_term(
        "output throughput",
        value,
        "tok/s",
        "{output_tokens} × {requests_per_second}",
        make_scenario_term("output tokens", output, "tokens"),
        _derive_pool_requests_term(pools, value / output),
    )


def _derive_pool_requests_term(pools: _PoolContext, rate: float) -> DerivationTerm:
    """Requests/s, with the maximum of each station by itself."""
    replicas = pools.operation.pair[1].deployment.plan.dp
    running = float(pools.operation.results.running[0])
    ends = [_derive_transfer_term(pools, choice) for choice in pools.operation.pair]
    rates = [at_once / time.number for time, at_once in ends]
    slower = int(np.argmin(rates))
    time, at_once = ends[slower]
    return derive_term(
        "requests per second",
        rate,
        "requests/s",
        "{decode_replicas} × {running_per_decode_replica} ÷ {stay_in_the_decode_pool}",
        DerivationTerm("decode replicas", replicas, None),
        DerivationTerm("running per decode replica", running, None),
        _derive_stay_term(pools, replicas * running / rate),
        _derive_prefill_pool_term(pools),
        derive_term(
            "link limit",
            rates[slower],
            "requests/s",
            "{transfers_at_once} ÷ {KV_transfer}",
            DerivationTerm("transfers at once", at_once, None),
            time,
        ),
    )


def _derive_stay_term(pools: _PoolContext, seconds: float) -> DerivationTerm:
    """The time of a request in the decode pool."""
    results = pools.operation.results
    steps, decode = make_decode_steps_term(pools.decode), make_decode_term(pools.decode)
    waiting = DerivationTerm("waiting", float(results.under_way[0]), "s", "for the current step")
    tail = DerivationTerm("tail", float(results.tail[0]), "s", "its share of the start and end of the run")
    bound = _make_bound_terms(seconds, steps.number * decode.number + waiting.number + tail.number, "s")
    formula = (
        "{decode_steps} × {decode_step} + {waiting} + {tail}",
        *(format_placeholder(each.name) for each in bound),
    )
    return derive_term(
        "stay in the decode pool", seconds, "s", " + ".join(formula), steps, decode, waiting, tail, *bound
    )


def _derive_prefill_pool_term(pools: _PoolContext) -> DerivationTerm:
    replicas = pools.operation.pair[0].deployment.plan.dp
    prompt = make_prefill_term(pools.prefill, waiting=float(pools.operation.results.waiting[0]))
    return derive_term(
        "prefill pool limit",
        replicas / prompt.number,
        "requests/s",
        "{prefill_replicas} ÷ {prefill_of_one_prompt}",
        DerivationTerm("prefill replicas", replicas, None),
        prompt,
    )


def _derive_transfer_term(pools: _PoolContext, choice: PoolChoice) -> tuple[DerivationTerm, float]:
    """The time in which the ranks of a pool transfer the cache of one prompt, and how many they transfer at once."""
    (each,), (at_once,) = compute_moved_bytes(pools.estimate.request, [choice])
    space = pools.operation.spaces[1]
    joined = pools.table.find_link(space, sum(each.deployment.plan.count for each in pools.operation.pair))
    reached = pools.table.find_link_efficiency(space, joined)
    model = pools.estimate.request.model
    time = derive_term(
        "KV transfer",
        float(each) / (joined.bandwidth * reached),
        "s",
        "{bytes_of_a_rank} ÷ ({link} × {link_efficiency})",
        DerivationTerm("bytes of a rank", float(each), "B", source=f"catalog:{model}"),
        DerivationTerm("link", joined.bandwidth, "B/s", source=f"link:{joined.kind}"),
        DerivationTerm("link efficiency", reached, None, source="calibration:link_efficiency"),
    )
    return time, float(at_once)


def _derive_pool_ttft_term(pools: _PoolContext) -> DerivationTerm:
    ttft = get_figure_value(pools.estimate.ttft_ms)
    own = make_prefill_term(pools.prefill, waiting=1.0)
    transfer = max(
        (_derive_transfer_term(pools, each)[0] for each in pools.operation.pair), key=lambda time: time.number
    )
    handover = DerivationTerm(
        "handover", pools.table.find_handover_time(pools.operation.spaces[1]), "s", source="calibration:handover_time"
    )
    delays = (own, transfer, handover)
    if ttft is None:
        return derive_term("TTFT", None, "ms", _NO_FIGURE[bool(pools.estimate.stable)], *delays)
    waiting = DerivationTerm(
        "waiting",
        float(pools.operation.results.queue[0]) * 1e3,
        "ms",
        "for the prompts before it, the link, and a place in the decode pool",
    )
    bound = _make_bound_terms(ttft, sum(term.number for term in delays) * 1e3 + waiting.number, "ms")
    formula = (
        "{prefill_of_one_prompt} + {KV_transfer} + {handover} + {waiting}",
        *(format_placeholder(each.name) for each in bound),
    )
    return derive_term("TTFT", ttft, "ms", " + ".join(formula), *delays, waiting, *bound)


def _derive_pool_tpot_term(pools: _PoolContext) -> DerivationTerm:
    tpot, work = get_figure_value(pools.estimate.tpot_ms), pools.estimate.request.workload
    decode = make_decode_term(pools.decode)
    if tpot is None:
        reason = (
            "a single output token has none" if work.output_tokens == 1 else _NO_FIGURE[bool(pools.estimate.stable)]
        )
        return derive_term("TPOT", None, "ms", reason, decode)
    running = DerivationTerm("running per decode replica", float(pools.operation.results.running[0]), None)
    tokens = decode.number * 1e3 / tpot
    if abs(tokens - 1.0) < 1e-9:
        return derive_term("TPOT", tpot, "ms", "{decode_step}", decode, running)
    yielded = DerivationTerm("tokens per step", tokens, None, source="scenario")
    return derive_term("TPOT", tpot, "ms", "{decode_step} ÷ {tokens_per_step}", decode, yielded, running)


_POOL_FIGURES: dict[str, Callable[[_PoolContext], DerivationTerm]] = {
    "output_tokens_per_s": _derive_pool_throughput_term,
    "total_tokens_per_s": lambda pools: make_total_term(pools.estimate, _derive_pool_throughput_term(pools)),
    "output_tokens_per_s_per_accelerator": lambda pools: make_per_accelerator_term(
        pools.estimate, _derive_pool_throughput_term(pools)
    ),
    "request_s": lambda pools: make_request_term(
        pools.estimate, _derive_pool_ttft_term(pools), _derive_pool_tpot_term(pools)
    ),
    "batch_s": lambda pools: make_batch_term(pools.estimate, _derive_pool_throughput_term(pools)),
    "ttft_ms": _derive_pool_ttft_term,
    "tpot_ms": _derive_pool_tpot_term,
}


def count_published_rows(estimate: Estimate, catalog: Catalog, calibration: Calibration) -> CalibrationCoverage:
    generation = catalog.accelerator(estimate.request.accelerator).generation
    family = catalog.serving_engine(estimate.serving_engine).family
    return CalibrationCoverage(
        together=calibration.rows(generation, family),
        generation=calibration.count_generation_rows(generation),
        family=calibration.count_family_rows(family),
    )


#: The attribute whose source represents all dimensions of a model.
_DIMENSION = "hidden_size"


_SETTINGS: Final = {
    "attention_rank_bytes": "attention rank bytes",
    "collective_bytes": "collective bytes",
    "kernels": "kernels",
    "logit_bytes": "logit bytes",
    "max_batch": "max batch",
    "max_batched_tokens": "max batched tokens",
    "memory_fraction": "memory fraction",
    "runtime_bytes": "runtime bytes",
    "safe_memory_fraction": "safe memory fraction",
    "state_share": "state share",
    "window_share": "window share",
}


def describe_term_source(source: str, catalog: Catalog, calibration: Calibration) -> str:
    kind, _, rest = source.partition(":")
    if kind == "catalog":
        return _describe_claim(rest, catalog)
    if kind == "calibration":
        constant = calibration.constants.get(rest)
        meaning = rest.replace("_", " ") if constant is None else constant.meaning
        return tr("calibration: {meaning}", meaning=translate_data(meaning))
    if kind == "setting":
        engine, _, field = rest.partition("/")
        name = catalog.serving_engine(engine).name
        return tr("setting of {engine}: {field}", engine=name, field=tr(_SETTINGS[field]))
    if kind == "link":
        return tr("link: {kind}", kind=rest)
    return tr("scenario") if kind == "scenario" else source


def _describe_claim(path: str, catalog: Catalog) -> str:
    """Return publisher and date of the preferred claim of `THING/ATTRIBUTE`, or of a model's dimensions."""
    thing, _, name = path.partition("/")
    attribute = _find_attribute(thing, name or _DIMENSION, catalog)
    claim = None if attribute is None else attribute.preferred
    if claim is None:
        return path
    words = (claim.source.publisher, claim.source.title, Formatter().date(claim.source.date or ""))
    return ", ".join(word for word in words if word)


def _find_attribute(thing: str, name: str, catalog: Catalog) -> AttributeClaims | None:
    """Return the attribute, or the first of a family: `peak_dense` means that of any precision."""
    try:
        attributes = catalog.attributes(thing)
    except InputError:
        return None
    same = (attribute for attribute in attributes if attribute.name == name)
    family = (attribute for attribute in attributes if attribute.name.startswith(f"{name}_"))
    return next(same, None) or next(family, None)


def describe_unknown_figure(figure: str, known_figures: tuple[str, ...]) -> Message:
    if near := find_closest(figure, known_figures):
        return message(
            "explain.unknown_near",
            "unknown figure {figure}; did you mean {near}?",
            figure=quote_input(figure),
            near=near,
        )
    return message(
        "explain.unknown",
        "unknown figure {figure}; use one of {known}",
        figure=quote_input(figure),
        known=known_figures,
    )
