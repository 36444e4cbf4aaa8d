"""Working of disaggregated deployments: what both pools and the link allow, and what comes of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gpudesk.domain.answers import Term
from gpudesk.domain.estimates import Estimate
from gpudesk.workbench.derived_terms import batch_term, per_accelerator_term, request_term, total_term
from gpudesk.workbench.pool_choices import PoolChoice
from gpudesk.workbench.pools import PoolOperation, PoolTable, moved
from gpudesk.workbench.replica_terms import (
    Context,
    context_of,
    decode_steps_term,
    decode_term,
    prefill_term,
    scenario_term,
    value_of,
)


@dataclass(frozen=True, slots=True)
class _Pools:
    """Everything that the terms of one estimate with pools are made from."""

    estimate: Estimate
    table: PoolTable
    operation: PoolOperation
    prefill: Context
    decode: Context


def explain_pools(estimate: Estimate, figure: str, table: PoolTable) -> Term | None:
    """Return the derivation of a figure that pools change; None for all others."""
    maker = _FIGURES.get(figure)
    if maker is None:
        return None
    done = table.operate(estimate)
    contexts = [
        context_of(estimate, setup, choice.candidate, max(1.0, float(done.results.running[0])))
        for setup, choice in zip(done.setups, done.pair, strict=True)
    ]
    return maker(_Pools(estimate, table, done, *contexts))


def _throughput(pools: _Pools) -> Term:
    estimate = pools.estimate
    value = value_of(estimate.output_tokens_per_s)
    if value is None:
        return Term("output tokens/s", None, "tok/s", "the limits cannot be met")
    output = estimate.request.workload.output_tokens
    return Term(
        "output tokens/s",
        value,
        "tok/s",
        "{output_tokens} × {requests_a_second}",
        inputs=(scenario_term("output tokens", output, "tokens"), _requests(pools, value / output)),
    )


def _requests(pools: _Pools, rate: float) -> Term:
    """Requests/s, with what each of the stations would allow by itself."""
    replicas = pools.operation.pair[1].candidate.plan.dp
    running = float(pools.operation.results.running[0])
    steps, decode = decode_steps_term(pools.decode), decode_term(pools.decode)
    stay = replicas * running / rate
    return Term(
        "requests a second",
        rate,
        "requests/s",
        "{decode_replicas} × {running_in_each} ÷ {stay_in_the_decode_pool}",
        inputs=(
            Term("decode replicas", replicas, None),
            Term("running in each", running, None),
            Term(
                "stay in the decode pool",
                stay,
                "s",
                "{decode_steps} × {decode_step} + {waiting_and_tail}",
                inputs=(
                    steps,
                    decode,
                    Term(
                        "waiting and tail",
                        stay - steps.number * decode.number,
                        "s",
                        "for the step under way, for the limits, and while the run begins and ends",
                    ),
                ),
            ),
            _prefill_pool(pools),
            _link(pools),
        ),
    )


def _prefill_pool(pools: _Pools) -> Term:
    replicas = pools.operation.pair[0].candidate.plan.dp
    prompt = prefill_term(pools.prefill, waiting=float(pools.operation.results.waiting[0]))
    return Term(
        "most from the prefill pool",
        replicas / prompt.number,
        "requests/s",
        "{prefill_replicas} ÷ {prefill_of_one_prompt}",
        inputs=(Term("prefill replicas", replicas, None), prompt),
    )


def _link(pools: _Pools) -> Term:
    """Requests/s that the busier end of the link allows."""
    ends = [_transfer(pools, choice) for choice in pools.operation.pair]
    rates = [at_once / time.number for time, at_once in ends]
    slower = int(np.argmin(rates))
    time, at_once = ends[slower]
    return Term(
        "most over the link",
        rates[slower],
        "requests/s",
        "{transfers_at_once} ÷ {KV_transfer}",
        inputs=(Term("transfers at once", at_once, None), time),
    )


def _transfer(pools: _Pools, choice: PoolChoice) -> tuple[Term, float]:
    """Time in which the ranks of a pool move the cache of one prompt, and how many they move at once."""
    (each,), (at_once,) = moved(pools.estimate.request, [choice])
    setup = pools.operation.setups[1]
    joined = pools.table.link(setup, sum(each.candidate.plan.count for each in pools.operation.pair))
    reached = pools.table.reached(setup, joined)
    model = pools.estimate.request.model
    time = Term(
        "KV transfer",
        float(each) / (joined.bandwidth * reached),
        "s",
        "{bytes_of_a_rank} ÷ ({link} × {link_efficiency})",
        inputs=(
            Term("bytes of a rank", float(each), "B", source=f"catalog:{model}"),
            Term("link", joined.bandwidth, "B/s", source=f"link:{joined.kind}"),
            Term("link efficiency", reached, None, source="calibration:link_efficiency"),
        ),
    )
    return time, float(at_once)


def _ttft(pools: _Pools) -> Term:
    ttft = value_of(pools.estimate.ttft_ms)
    own = prefill_term(pools.prefill, waiting=1.0)
    transfer = max((_transfer(pools, each)[0] for each in pools.operation.pair), key=lambda time: time.number)
    handover = Term(
        "hand-over",
        pools.table.handover(pools.operation.setups[1]),
        "s",
        source="calibration:handover_time",
    )
    known = (own, transfer, handover)
    if ttft is None:
        return Term("TTFT", None, "ms", _no_figure(pools), inputs=known)
    waiting = Term(
        "waiting",
        ttft - sum(term.number for term in known) * 1e3,
        "ms",
        "for the prompts before it, the link, and a place in the decode pool",
    )
    return Term(
        "TTFT",
        ttft,
        "ms",
        "{prefill_of_one_prompt} + {KV_transfer} + {hand_over} + {waiting}",
        inputs=(*known, waiting),
    )


def _tpot(pools: _Pools) -> Term:
    tpot, work = value_of(pools.estimate.tpot_ms), pools.estimate.request.workload
    decode = decode_term(pools.decode)
    if tpot is None:
        reason = "a single output token has none" if work.output_tokens == 1 else _no_figure(pools)
        return Term("TPOT", None, "ms", reason, inputs=(decode,))
    running = Term("running in each", float(pools.operation.results.running[0]), None)
    tokens = decode.number * 1e3 / tpot
    if abs(tokens - 1.0) < 1e-9:
        return Term("TPOT", tpot, "ms", "{decode_step}", inputs=(decode, running))
    yielded = Term("tokens a step", tokens, None, source="scenario")
    return Term("TPOT", tpot, "ms", "{decode_step} ÷ {tokens_a_step}", inputs=(decode, yielded, running))


def _no_figure(pools: _Pools) -> str:
    return "the limits cannot be met" if pools.estimate.stable else "the queue grows without end"


_FIGURES: dict[str, Callable[[_Pools], Term]] = {
    "output_tokens_per_s": _throughput,
    "total_tokens_per_s": lambda pools: total_term(pools.estimate, _throughput(pools)),
    "output_tokens_per_s_per_accelerator": lambda pools: per_accelerator_term(
        pools.estimate, _throughput(pools)
    ),
    "request_s": lambda pools: request_term(pools.estimate, _ttft(pools), _tpot(pools)),
    "batch_s": lambda pools: batch_term(pools.estimate, _throughput(pools)),
    "ttft_ms": _ttft,
    "tpot_ms": _tpot,
}
