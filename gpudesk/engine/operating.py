"""From work and rates to the coefficients of a step, in seconds.

The same lines serve one deployment (floats) and many at once (arrays of one shape).
"""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np

from gpudesk.engine.rates import LOSSLESS, Rates
from gpudesk.engine.steps import StepRow
from gpudesk.engine.work import Work

#: Fields of a row that are times, which older software and unlucky pairings stretch.
_TIMES = tuple(
    field.name
    for field in fields(StepRow)
    if field.name.endswith(("_read", "_flop", "_token", "_fixed", "_sequence"))
    or field.name in ("state", "request")
)


def step_row(work: Work, rates: Rates) -> StepRow:
    """Return the coefficients of a step."""
    attention_share = rates.imbalance / work.attention_ranks
    read = work.bandwidth * rates.dense_read_efficiency
    read_kv = work.bandwidth * rates.kv_read_efficiency / attention_share
    attend = work.attention_peak * rates.attention_efficiency / attention_share
    direct = work.link_bandwidth * rates.direct_efficiency
    ring = work.link_bandwidth * rates.link_efficiency
    experts = work.dispatch_bandwidth * rates.dispatch_efficiency
    stages = work.stage_bandwidth * rates.stage_efficiency
    # The divisor is one where there are no experts, whose offset is nothing then.
    touched = work.active_share * work.expert_spread + (1.0 - work.has_experts)
    others_fixed = work.dispatches * rates.dispatch_s + work.transfers * rates.transfer_s
    others_token = work.dispatch_moved / experts + work.stage_moved / stages
    row = StepRow(
        dense_read=work.dense_bytes / read,
        dense_flop=work.dense_flop / (work.dense_peak * rates.dense_efficiency),
        expert_read=work.expert_bytes / (work.bandwidth * rates.expert_read_efficiency),
        expert_flop=work.expert_flop / (work.expert_peak * rates.expert_efficiency),
        expert_offset=work.has_experts * rates.expert_half_tokens / touched,
        expert_log_miss=work.log_miss,
        expert_evenness=rates.expert_evenness,
        expert_spread=work.expert_spread,
        head_read=work.head_bytes / read,
        head_flop=work.head_flop / (work.attention_peak * rates.dense_efficiency),
        kv_token=work.kv_bytes / read_kv,
        kv1_token=work.kv1_bytes / read_kv,
        kv1_window=work.kv1_window,
        kv2_token=work.kv2_bytes / read_kv,
        kv2_window=work.kv2_window,
        state=work.state_bytes / read_kv,
        att_token=work.att_flop / attend,
        att1_token=work.att1_flop / attend,
        att2_token=work.att2_flop / attend,
        patt_token=work.patt_flop / attend,
        patt1_token=work.patt1_flop / attend,
        patt1_window=work.patt1_window,
        comm_fixed=work.collectives * rates.collective_s + others_fixed,
        comm_token=work.exchanged / direct + others_token,
        ring_fixed=work.collectives * rates.ring_s + others_fixed,
        ring_token=work.moved / ring + others_token,
        overhead_fixed=work.layers * (rates.layer_s + rates.quantise_s) + work.moe_layers * rates.moe_layer_s,
        host_fixed=rates.step_s,
        host_sequence=rates.sequence_s,
        host_overlap=rates.host_overlap,
        activation_token=(
            rates.activation_traffic * work.layer_vectors + rates.expert_traffic * work.expert_vectors
        )
        / read,
        attention_ranks=work.attention_ranks,
        stages=work.stages,
        bubble=rates.stage_bubble,
        request=rates.request_s,
        chunk_tokens=work.chunk_tokens,
        tokens_per_step=work.tokens_per_step,
        verified_tokens=work.verified_tokens,
        step_batch_cap=work.step_batch_cap,
        latency=rates.first_token_s,
        mixes=work.mixed_steps,
        on_demand=work.kv_on_demand,
        burst_equal=rates.burst_equal,
        burst_varied=rates.burst_varied,
        limit_queue=rates.limit_queue,
    )
    stretch = rates.stretch
    if np.ndim(stretch) == 0 and stretch == 1.0:
        return row
    return replace(row, **{name: getattr(row, name) * stretch for name in _TIMES})


def lossless_row(work: Work, expert_evenness: float) -> StepRow:
    """Return the row of a part that reaches every peak and adds no overhead.

    Times the bandwidth or the peak of its class, each of its coefficients is bytes or FLOPs. How evenly
    experts are chosen is a matter of the model, not of the part.
    """
    return step_row(work, replace(LOSSLESS, expert_evenness=expert_evenness))


def ideal_row(work: Work, embedding_lookup_bytes: float, expert_evenness: float) -> StepRow:
    """Return the row without any loss as the bound of physics.

    The embedding counts as read, as the usual roofline has it, which keeps the bound on the safe side.
    """
    row = lossless_row(work, expert_evenness)
    return replace(row, dense_read=row.dense_read + embedding_lookup_bytes / work.bandwidth)
