"""The terms of one step: what every operator class reads and computes, with the constants behind it."""

from __future__ import annotations

from gpudesk.domain.answers import Term
from gpudesk.engine.hardware import Peak
from gpudesk.engine.steps import StepRow
from gpudesk.workbench.setups import Candidate, Frame

_JOIN = "(read^4 + arithmetic^4)^(1/4)"


def _join(read: float, arithmetic: float) -> float:
    return float((read**4 + arithmetic**4) ** 0.25)


def _bandwidth(frame: Frame) -> Term:
    part = frame.accelerator
    return Term(
        "memory bandwidth", part.memory_bandwidth, "B/s", source=f"catalog:{part.id}/memory_bandwidth"
    )


def _peak(frame: Frame, peak: Peak) -> Term:
    source = f"catalog:{frame.accelerator.id}/peak_dense_{peak.precision}"
    return Term("peak", peak.flops, "FLOP/s", source=source)


def _constant(name: str, value: float, unit: str | None = None) -> Term:
    return Term(name.replace("_", " "), value, unit, source=f"calibration:{name}")


def _dense(frame: Frame, candidate: Candidate, tokens: float) -> Term:
    row, point, shards = candidate.row, candidate.point, candidate.budget.shards
    return Term(
        "dense matrices",
        _join(row.dense_read, row.dense_flop * tokens),
        "s",
        _JOIN,
        inputs=(
            Term(
                "read",
                row.dense_read,
                "s",
                "bytes / (bandwidth x efficiency)",
                inputs=(
                    Term("bytes", shards.dense.stored_bytes, "B", source=f"catalog:{frame.model.id}"),
                    _bandwidth(frame),
                    _constant("weight_read_efficiency", point.dense_read_efficiency),
                ),
            ),
            Term(
                "arithmetic",
                row.dense_flop * tokens,
                "s",
                "2 x parameters x tokens / (ranks x peak x efficiency)",
                inputs=(
                    Term(
                        "parameters",
                        shards.dense_elements_undivided,
                        None,
                        source=f"catalog:{frame.model.id}",
                    ),
                    Term("tokens", tokens, "tokens"),
                    Term("ranks", candidate.plan.tp, None),
                    _peak(frame, point.dense_peak),
                    _constant("gemm_efficiency", point.dense_efficiency),
                ),
            ),
        ),
    )


def _experts(frame: Frame, candidate: Candidate, tokens: float) -> Term:
    row, point, shards = candidate.row, candidate.point, candidate.budget.shards
    missed = (1.0 - shards.experts_per_token / shards.expert_count) ** (tokens * row.expert_spread)
    read, arithmetic = (
        row.expert_read * (1.0 - missed),
        row.expert_flop * (tokens + row.expert_offset * (1.0 - missed)),
    )
    return Term(
        "routed experts",
        _join(read, arithmetic),
        "s",
        _JOIN,
        inputs=(
            Term(
                "read",
                read,
                "s",
                "bytes x (1 - (1 - k/E)^tokens) / (bandwidth x efficiency)",
                inputs=(
                    Term("bytes", shards.experts.stored_bytes, "B", source=f"catalog:{frame.model.id}"),
                    Term("share of experts touched", 1.0 - missed, None),
                    _bandwidth(frame),
                    _constant("weight_read_efficiency", point.expert_read_efficiency),
                ),
            ),
            Term(
                "arithmetic",
                arithmetic,
                "s",
                "2 x active parameters x (tokens + half tokens x touched / k) / (ranks x peak x efficiency)",
                inputs=(
                    Term(
                        "active parameters",
                        shards.active_expert_elements,
                        None,
                        source=f"catalog:{frame.model.id}",
                    ),
                    Term("tokens", tokens, "tokens"),
                    _constant("expert_half_tokens", point.expert_half_tokens, "tokens"),
                    _peak(frame, point.expert_peak),
                    _constant("gemm_efficiency", point.expert_efficiency),
                ),
            ),
        ),
    )


def _cache(frame: Frame, candidate: Candidate, held: float, context: float) -> Term:
    row, point = candidate.row, candidate.point
    window1, window2 = min(context, row.kv1_window), min(context, row.kv2_window)
    read = held * (row.kv_token * context + row.kv1_token * window1 + row.kv2_token * window2 + row.state)
    arithmetic = (
        held
        * row.verified_tokens
        * (row.att_token * context + row.att1_token * window1 + row.att2_token * window2)
    )
    return Term(
        "attention over the cache",
        _join(read, arithmetic),
        "s",
        _JOIN,
        inputs=(
            Term(
                "read",
                read,
                "s",
                "sequences x bytes of their context / (bandwidth x efficiency)",
                inputs=(
                    Term("sequences", held, None),
                    Term("mean context", context, "tokens", "input tokens + output tokens / 2"),
                    _bandwidth(frame),
                    _constant("kv_read_efficiency", point.kv_read_efficiency),
                ),
            ),
            Term(
                "arithmetic",
                arithmetic,
                "s",
                inputs=(
                    _peak(frame, point.attention_peak),
                    _constant("attention_efficiency", point.attention_efficiency),
                ),
            ),
        ),
    )


def _collectives(candidate: Candidate, tokens: float) -> Term:
    row, point = candidate.row, candidate.point
    return Term(
        "collectives",
        row.comm_fixed + row.comm_token * tokens,
        "s",
        "number x fixed time + bytes / (link x efficiency)",
        inputs=(
            Term("fixed", row.comm_fixed, "s", source="calibration:allreduce_latency"),
            Term("per token", row.comm_token, "s"),
            Term("link", point.link.bandwidth, "B/s", note=None, source=f"link:{point.link.kind}"),
            _constant("link_efficiency", point.link_efficiency),
        ),
    )


def _overhead(candidate: Candidate, sequences: float) -> Term:
    row, point, shards = candidate.row, candidate.point, candidate.budget.shards
    return Term(
        "overhead",
        row.overhead_fixed + row.overhead_sequence * sequences,
        "s",
        "layers x (layer time + quantise time) + layers with experts x their time + step time "
        "+ sequences x sequence time",
        inputs=(
            Term("layers", shards.layers, None),
            _constant("layer_time", point.layer_s, "s"),
            _constant("quantise_time", point.quantise_s, "s"),
            Term("layers with experts", shards.moe_layers, None),
            _constant("moe_layer_time", point.moe_layer_s, "s"),
            _constant("step_time", point.step_s, "s"),
            _constant("sequence_time", point.sequence_s, "s"),
        ),
    )


def _common(frame: Frame, candidate: Candidate, tokens: float, busiest: float) -> tuple[Term, ...]:
    """Terms that decode and prefill share; `busiest` is `tokens` as the busiest attention rank has them."""
    terms = [_dense(frame, candidate, busiest)]
    if candidate.budget.shards.expert_count:
        terms.append(_experts(frame, candidate, tokens))
    terms.append(
        Term(
            "activation traffic",
            candidate.row.activation_token * busiest,
            "s",
            "tokens x bytes of a hidden vector x (layers x passes + copies for experts x passes) / bandwidth",
            inputs=(
                _constant("activation_traffic", candidate.point.activation_traffic),
                _constant("expert_traffic", candidate.point.expert_traffic),
            ),
        )
    )
    if candidate.plan.count > 1:
        terms.append(_collectives(candidate, tokens))
    return tuple(terms)


def step_terms(frame: Frame, candidate: Candidate, running: float, context: float) -> tuple[Term, ...]:
    """Return the terms of one decode step with `running` sequences in the replica."""
    row = candidate.row
    sequences = max(running / row.stages, 1.0)
    held = max(sequences, row.attention_ranks)
    busiest = held * row.verified_tokens
    head = Term("LM head", _join(row.head_read, row.head_flop * busiest / row.attention_ranks), "s", _JOIN)
    return (
        *_common(frame, candidate, sequences * row.verified_tokens, busiest),
        head,
        _cache(frame, candidate, held, context),
        _overhead(candidate, sequences),
        *_stage_term(row),
    )


def _stage_term(row: StepRow) -> tuple[Term, ...]:
    if row.stages == 1:
        return ()
    stretch = 1.0 + row.bubble * (row.stages - 1.0)
    return (Term("stretch by pipeline stages", stretch, None, source="calibration:stage_bubble"),)


def prefill_terms(
    frame: Frame, candidate: Candidate, chunk: float, prompt: float, cached: float, waiting: float
) -> tuple[Term, ...]:
    """Return the terms of one prefill chunk of `chunk` tokens when `waiting` prompts queue.

    `prompt` tokens of each are computed, after `cached` ones.
    """
    row, point = candidate.row, candidate.point
    busiest = chunk * row.attention_ranks / min(max(waiting, 1.0), row.attention_ranks)
    attended = cached + 0.5 * prompt
    seconds = busiest * (row.patt_token * attended + row.patt1_token * min(attended, row.patt1_window))
    attention = Term(
        "attention within the prompt",
        seconds,
        "s",
        "tokens x attended tokens x arithmetic / (peak x efficiency)",
        inputs=(
            Term("attended tokens", attended, "tokens", "what is cached, and half of the prompt"),
            _peak(frame, point.attention_peak),
            _constant("attention_efficiency", point.attention_efficiency),
        ),
    )
    sampled = busiest / (max(prompt, 1.0) * row.attention_ranks)
    head = Term("LM head", row.head_read + row.head_flop * sampled, "s", "read once, arithmetic per prompt")
    return (*_common(frame, candidate, chunk, busiest), attention, head, _overhead(candidate, 0.0))
