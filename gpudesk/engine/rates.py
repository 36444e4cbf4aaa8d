"""Effective rates: the share of each ceiling that is reached, and the resulting step coefficients.

Everything is computed for many deployments at once, as arrays. `compute_rates` takes constants from any source, so that
the fit runs the same code as an estimate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from enum import Enum, auto
from functools import lru_cache
from typing import Any, Final, Protocol, TypeVar

import numpy as np

from gpudesk.domain.precision import Precision
from gpudesk.engine.calibration import NO_KEYS, Calibration, ConstantKeys
from gpudesk.engine.memory import ResolvedDeployment
from gpudesk.engine.step_work import (
    HardwareCeilings,
    StepWork,
    compute_ceilings,
    compute_step_work,
    get_attention_key,
    has_experts,
)
from gpudesk.engine.steps import StepCoefficients
from gpudesk.frozen_dataclass import frozen_dataclass

#: Slowdown of older software grows with this power of its years: kernels, schedulers and formats build on each other,
#: so that the first year back costs less than the second.
AGE_POWER: Final = 1.5
#: Tokens of a prompt between two recurrent states that kernels write: they compute prompts in such pieces.
STATE_TOKENS: Final = 64
#: Power beyond this ratio to the reference adds no speed: clocks are at their limit.
MOST_POWER: Final = 1.4


class KeyGroup(Enum):
    """The component of a deployment that a constant belongs to; each has its own lookup keys."""

    ALL = auto()
    DENSE_WEIGHTS = auto()
    EXPERT_WEIGHTS = auto()
    DENSE_ARITHMETIC = auto()
    EXPERT_ARITHMETIC = auto()
    CACHE = auto()
    DISPATCH = auto()
    STAGES = auto()


class ConstantLookup(Protocol):
    """Gives the value of a constant for a key group: a float, or an array with one value per deployment."""

    def __call__(self, name: str, slot: KeyGroup = KeyGroup.ALL) -> float:
        """Return the value of constant `name`."""


@frozen_dataclass
class EffectiveRates:
    """Efficiencies as shares of the ceilings, and times; arrays of one shape, or floats of one deployment.

    The defaults are those of an accelerator that reaches every peak and adds no overhead.
    """

    dense_read_efficiency: float = 1.0  # share of memory bandwidth, dense matrices
    expert_read_efficiency: float = 1.0  # share of memory bandwidth, routed experts
    kv_read_efficiency: float = 1.0  # share of memory bandwidth, KV cache
    dense_efficiency: float = 1.0  # share of the peak, dense matrices
    expert_efficiency: float = 1.0  # share of the peak, routed experts
    attention_efficiency: float = 1.0  # share of the 16-bit peak, attention of prompts
    decode_attention_efficiency: float = 1.0  # share of the 16-bit peak, attention of decode steps
    attention_offset: float = 0.0  # extra tokens that every prompt token seems to attend to, see `StepCoefficients`
    expert_half_tokens: float = 0.0  # tokens per expert at which grouped products reach half of their rate
    expert_evenness: float = 1.0  # shape of the gamma distribution of expert popularity
    expert_skew: float = 0.0  # factor on `StepWork.expert_skew`: excess load of the most loaded rank under EP
    expert_call_s: float = 0.0  # s per touched expert and layer, in addition to its bytes and arithmetic
    layer_s: float = 0.0  # s per layer, launches and norms
    quantize_s: float = 0.0  # s per layer, quantizing activations
    moe_layer_s: float = 0.0  # s per layer with experts, routing and grouped launch
    prefill_layer_s: float = 0.0  # s per layer, host time to launch the kernels of a prefill chunk
    prefill_moe_s: float = 0.0  # s per layer with experts, the same in addition
    prefill_state_s: float = 0.0  # s per layer with a recurrent state, the same in addition
    step_s: float = 0.0  # s per step, scheduling and sampling
    sequence_s: float = 0.0  # s per sequence and step, the same
    stream_s: float = 0.0  # s per sequence and step, sending tokens to clients
    host_overlap: float = 0.0  # share of host time hidden behind the accelerator
    request_s: float = 0.0  # s per request outside of the steps
    first_token_s: float = 0.0  # s, network time of a request and its first token
    collective_s: float = 0.0  # s, latency of one direct collective
    direct_efficiency: float = 1e6  # share of the link, direct collectives
    ring_s: float = 0.0  # s, latency of one ring collective
    link_efficiency: float = 1e6  # share of the link, ring collectives
    dispatch_s: float = 0.0  # s, latency of one all-to-all
    dispatch_efficiency: float = 1e6  # share of the link between the ranks that share experts
    transfer_s: float = 0.0  # s, latency of one transfer between stages
    stage_efficiency: float = 1e6  # share of the link between stages
    activation_traffic: float = 0.0  # memory passes of a hidden vector per layer
    state_traffic: float = 0.0  # memory passes of a recurrent state per `STATE_TOKENS` of a prompt
    routing_traffic: float = 0.0  # memory passes per expert of a token
    routing_divided: float = 1.0  # 1 if ranks that share experts pass the rows of their own experts only, 0 if all rows
    imbalance: float = 1.0  # work of the most loaded attention rank over the mean
    stage_bubble: float = 0.0  # slowdown per pipeline stage after the first, for steps of several sequences
    burst_equal: float = 0.0  # see `StepCoefficients`
    burst_varied: float = 0.0  # see `StepCoefficients`
    limit_queue: float = 0.0  # see `StepCoefficients`
    gather_steps: float = 0.0  # see `StepCoefficients`
    age_factor: float = 1.0  # slowdown of all times by older software
    pairing: float = 1.0  # slowdown of all times by the pair of accelerator and serving engine

    @property
    def stretch(self) -> float:
        """Total slowdown: older software, and the pair of accelerator and serving engine."""
        return self.age_factor * self.pairing


LOSSLESS_RATES: Final = EffectiveRates()


@lru_cache(maxsize=1_000)
def get_ranks_key(ranks: int) -> str:
    """Return the key of a group of `ranks`: 1, 2, 4, or 8 for larger groups."""
    return str(min(8, 2 ** max(0, (ranks - 1).bit_length())))


def make_constant_keys(deployment: ResolvedDeployment, ceilings: HardwareCeilings) -> Mapping[KeyGroup, ConstantKeys]:
    """Return the lookup keys of the constants of a deployment, by key group; alike deployments share an object."""
    configuration, plan = deployment.configuration, deployment.plan
    common = ConstantKeys(
        configuration.accelerator.generation,
        None,
        configuration.engine.family,
        get_ranks_key(plan.tp),
        ceilings.link.kind,
        "yes" if has_experts(configuration.model) else "no",
        get_attention_key(configuration.model),
        "present" if configuration.present_runtime else "earlier",
    )
    precisions = (
        ceilings.dense_weights,
        configuration.weights,
        ceilings.dense_arithmetic,
        configuration.kernel.arithmetic,
        configuration.kv,
    )
    dispatch, stages = (get_ranks_key(plan.ep), ceilings.dispatch_link.kind), ceilings.stage_link.kind
    return _group_constant_keys(common, precisions, dispatch, (get_ranks_key(plan.replica), stages))


@lru_cache(maxsize=1_000)
def _group_constant_keys(
    common: ConstantKeys, precisions: tuple[Precision, ...], dispatch: tuple[str, str], stages: tuple[str, str]
) -> Mapping[KeyGroup, ConstantKeys]:
    """Return the keys of each group; `dispatch` and `stages` are the ranks and the link of their groups."""
    of_formats = [common._replace(precision=precision) for precision in (None, *precisions)]
    of_links = [common._replace(ranks=ranks, link=link) for ranks, link in (dispatch, stages)]
    return dict(zip(KeyGroup, of_formats + of_links, strict=True))


def look_up_rates(calibration: Calibration, keys: Sequence[Mapping[KeyGroup, ConstantKeys]]) -> ConstantLookup:
    """Return the constants of deployments, as arrays; each object among `keys` is looked up once."""
    distinct = {id(each): each for each in keys}
    places = {key: place for place, key in enumerate(distinct)}
    cases = np.array([places[id(each)] for each in keys], dtype=np.intp)
    values = {group: [calibration.values(each[group]) for each in distinct.values()] for group in KeyGroup}

    def value(name: str, slot: KeyGroup = KeyGroup.ALL) -> Any:  # noqa: ANN401 - arrays pass for numbers
        return np.array([each[name] for each in values[slot]])[cases]

    return value


def _compute_power_factor(power: Any, reference: Any, exponent: Any) -> Any:  # noqa: ANN401 - numbers or arrays
    """Return the factor of a power limit on sustained arithmetic, relative to the reference; 1 if unknown."""
    is_known = (power > 0) & (reference > 0)
    unknown = 1.0 - is_known
    ratio = (is_known * power + unknown) / (is_known * reference + unknown)
    return np.minimum(ratio, MOST_POWER) ** exponent


def _compute_age_slowdown(constant: ConstantLookup, work: StepWork) -> Any:  # noqa: ANN401 - a number or an array
    """Return the slowdown by older software, which grows faster than linearly with its years."""
    years = work.months_old / 12.0
    return np.exp(constant("age_slowdown") * years**AGE_POWER)


def compute_rates(constant: ConstantLookup, work: StepWork) -> EffectiveRates:
    """Combine constants into rates of the shape of `work`."""
    eager = 1.0 + work.eager * (constant("eager_factor") - 1.0)
    overhead = constant("collective_overhead")
    powered = _compute_power_factor(work.power, constant("reference_power"), constant("power_exponent"))
    return EffectiveRates(
        dense_read_efficiency=constant("weight_read_efficiency", KeyGroup.DENSE_WEIGHTS),
        expert_read_efficiency=constant("expert_read_efficiency", KeyGroup.EXPERT_WEIGHTS),
        kv_read_efficiency=constant("kv_read_efficiency", KeyGroup.CACHE),
        dense_efficiency=constant("gemm_efficiency", KeyGroup.DENSE_WEIGHTS) * powered,
        expert_efficiency=constant("expert_gemm_efficiency", KeyGroup.EXPERT_WEIGHTS) * powered,
        attention_efficiency=constant("attention_efficiency"),
        decode_attention_efficiency=constant("decode_attention_efficiency", KeyGroup.CACHE),
        attention_offset=constant("attention_offset"),
        expert_half_tokens=constant("expert_half_tokens", KeyGroup.EXPERT_WEIGHTS),
        expert_evenness=constant("expert_evenness"),
        expert_skew=constant("expert_skew"),
        expert_call_s=constant("expert_call_time", KeyGroup.EXPERT_WEIGHTS),
        layer_s=constant("layer_time") * eager,
        quantize_s=constant("quantise_time", KeyGroup.DENSE_ARITHMETIC) * eager,
        moe_layer_s=constant("moe_layer_time", KeyGroup.EXPERT_WEIGHTS) * eager,
        prefill_layer_s=constant("prefill_layer_time"),
        prefill_moe_s=constant("prefill_moe_time"),
        prefill_state_s=constant("prefill_state_time"),
        step_s=constant("step_time"),
        sequence_s=constant("sequence_time"),
        stream_s=work.server * constant("stream_time"),
        host_overlap=constant("host_overlap"),
        request_s=work.server * constant("request_time") + (1.0 - work.server) * constant("offline_request_time"),
        first_token_s=work.server * constant("first_token_time"),
        collective_s=constant("allreduce_latency") + overhead,
        direct_efficiency=constant("direct_efficiency"),
        ring_s=constant("ring_latency") + overhead,
        link_efficiency=constant("link_efficiency"),
        dispatch_s=constant("allreduce_latency", KeyGroup.DISPATCH) + overhead,
        dispatch_efficiency=constant("link_efficiency", KeyGroup.DISPATCH),
        transfer_s=constant("allreduce_latency", KeyGroup.STAGES) + overhead,
        stage_efficiency=constant("link_efficiency", KeyGroup.STAGES),
        activation_traffic=constant("activation_traffic"),
        state_traffic=constant("state_traffic"),
        routing_traffic=constant("routing_traffic", KeyGroup.EXPERT_WEIGHTS),
        routing_divided=constant("routing_divided", KeyGroup.EXPERT_WEIGHTS),
        imbalance=1.0 + work.spread_sequences * (constant("attention_dp_imbalance") - 1.0),
        stage_bubble=constant("stage_bubble", KeyGroup.STAGES),
        burst_equal=constant("burst_equal"),
        burst_varied=constant("burst_varied"),
        limit_queue=constant("limit_queue"),
        gather_steps=constant("gather_steps") * (work.attention_ranks > 1.0),
        age_factor=_compute_age_slowdown(constant, work),
        pairing=constant("pairing", KeyGroup.EXPERT_ARITHMETIC),
    )


def list_rate_constants() -> tuple[tuple[str, KeyGroup], ...]:
    """Return every constant that `rates` looks up, with its key group, each once."""
    constant_keys: dict[tuple[str, KeyGroup], None] = {}

    def note(name: str, slot: KeyGroup = KeyGroup.ALL) -> float:
        constant_keys[name, slot] = None
        return 1.0

    compute_rates(note, StepWork(*(1.0 for _ in fields(StepWork))))
    return tuple(constant_keys)


#: Coefficients that are times and therefore grow with the slowdown.
_TIMES = tuple(
    field.name
    for field in fields(StepCoefficients)
    if field.name.endswith(("_read", "_flop", "_token", "_fixed", "_sequence")) or field.name in ("state", "request")
)


def compute_coefficients(work: StepWork, rates: EffectiveRates) -> StepCoefficients:
    attention_share = rates.imbalance / work.attention_ranks
    read_rate = work.bandwidth * rates.dense_read_efficiency
    read_kv = work.bandwidth * rates.kv_read_efficiency / attention_share
    attend = work.attention_peak * rates.attention_efficiency / attention_share
    attend_cache = work.attention_peak * rates.decode_attention_efficiency / attention_share
    direct = work.link_bandwidth * rates.direct_efficiency
    ring = work.link_bandwidth * rates.link_efficiency
    experts = work.dispatch_bandwidth * rates.dispatch_efficiency
    stages = work.stage_bandwidth * rates.stage_efficiency
    # The divisor is one without experts, whose offset is zero then.
    touched = work.active_share * work.expert_spread + (1.0 - work.has_experts)
    busiest = 1.0 + rates.expert_skew * work.expert_skew
    passed = np.maximum(busiest, (1.0 - rates.routing_divided) * work.gathered_ranks)
    others_fixed = work.dispatches * rates.dispatch_s + work.transfers * rates.transfer_s
    others_token = work.dispatch_moved / experts + work.stage_moved / stages
    coefficients = StepCoefficients(
        dense_read=work.dense_bytes / read_rate,
        dense_flop=work.dense_flop / (work.dense_peak * rates.dense_efficiency),
        expert_read=work.expert_bytes / (work.bandwidth * rates.expert_read_efficiency),
        expert_flop=busiest * work.expert_flop / (work.expert_peak * rates.expert_efficiency),
        expert_offset=work.has_experts * rates.expert_half_tokens / touched,
        expert_log_miss=work.log_miss,
        expert_evenness=rates.expert_evenness,
        expert_spread=work.expert_spread,
        expert_skew=work.expert_skew,
        expert_call_fixed=work.expert_calls * rates.expert_call_s,
        head_read=work.head_bytes / read_rate,
        head_flop=work.head_flop / (work.attention_peak * rates.dense_efficiency),
        kv_token=work.kv_bytes / read_kv,
        kv1_token=work.kv1_bytes / read_kv,
        kv1_window=work.kv1_window,
        kv2_token=work.kv2_bytes / read_kv,
        kv2_window=work.kv2_window,
        state=work.state_bytes / read_kv,
        att_token=work.att_flop / attend_cache,
        att1_token=work.att1_flop / attend_cache,
        att2_token=work.att2_flop / attend_cache,
        patt_token=work.patt_flop / attend,
        patt1_token=work.patt1_flop / attend,
        patt1_window=work.patt1_window,
        patt_offset=rates.attention_offset,
        pstate_token=rates.state_traffic * work.state_bytes / (STATE_TOKENS * read_kv),
        comm_fixed=work.collectives * rates.collective_s + others_fixed,
        comm_token=work.exchanged / direct + others_token,
        ring_fixed=work.collectives * rates.ring_s + others_fixed,
        ring_token=work.moved / ring + others_token,
        overhead_fixed=work.layers * (rates.layer_s + rates.quantize_s) + work.moe_layers * rates.moe_layer_s,
        prefill_fixed=(
            work.layers * rates.prefill_layer_s
            + work.moe_layers * rates.prefill_moe_s
            + work.state_layers * rates.prefill_state_s
        ),
        host_fixed=rates.step_s,
        host_sequence=rates.sequence_s + rates.stream_s,
        host_overlap=rates.host_overlap,
        activation_token=(
            rates.activation_traffic * work.layer_vectors + rates.routing_traffic * passed * work.expert_vectors
        )
        / read_rate,
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
        gather_steps=rates.gather_steps,
    )
    return replace(coefficients, **{name: getattr(coefficients, name) * rates.stretch for name in _TIMES})


def compute_lossless_coefficients(work: StepWork, expert_evenness: float) -> StepCoefficients:
    """Return the coefficients of an accelerator that reaches every peak and adds no overhead.

    Multiplied by the bandwidth or the peak of its class, each coefficient is bytes or FLOPs. Expert popularity is a
    property of the model, not of the accelerator.
    """
    return compute_coefficients(work, replace(LOSSLESS_RATES, expert_evenness=expert_evenness))


def compute_ideal_coefficients(work: StepWork, expert_evenness: float) -> StepCoefficients:
    """Return the coefficients without any loss as physical bounds.

    The embedding counts as read, as in the usual roofline, which keeps the bound conservative.
    """
    coefficients = compute_lossless_coefficients(work, expert_evenness)
    return replace(coefficients, dense_read=coefficients.dense_read + work.embedding_bytes / work.bandwidth)


@frozen_dataclass
class StepModel:
    """From work and rates to step coefficients; `ideal` are those without any loss.

    Arrays with one value per deployment, or the numbers of one.
    """

    ceilings: tuple[HardwareCeilings, ...]
    work: StepWork
    rates: EffectiveRates
    coefficients: StepCoefficients
    ideal: StepCoefficients


def compute_step_model(deployments: Sequence[ResolvedDeployment], calibration: Calibration) -> StepModel:
    """Return the step models of all deployments, as arrays."""
    node = calibration.value("node_bandwidth", NO_KEYS)
    ceilings = tuple([compute_ceilings(each.configuration, each.plan, node) for each in deployments])
    keys = [make_constant_keys(each, of_plan) for each, of_plan in zip(deployments, ceilings, strict=True)]
    work = compute_step_work(deployments, ceilings)
    rates = compute_rates(look_up_rates(calibration, keys), work)
    coefficients = compute_coefficients(work, rates)
    return StepModel(ceilings, work, rates, coefficients, compute_ideal_coefficients(work, rates.expert_evenness))


_Figures = TypeVar("_Figures", StepWork, EffectiveRates, StepCoefficients)


def compute_single_step_model(deployment: ResolvedDeployment, calibration: Calibration) -> StepModel:
    """Return the step model of one deployment, as plain numbers."""
    model = compute_step_model([deployment], calibration)

    def plain(figures: _Figures) -> _Figures:
        return type(figures)(*(np.asarray(getattr(figures, each.name)).item() for each in fields(figures)))

    return StepModel(
        model.ceilings, plain(model.work), plain(model.rates), plain(model.coefficients), plain(model.ideal)
    )
