"""What a deployment reaches of what its part offers, and the times that it adds: the calibrated constants.

`rates` takes them from any source of constants, for one deployment or, as arrays, for many at once: the
calibration is fitted through the same lines that answer with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import Enum, auto
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from gpudesk.domain.models import Model
from gpudesk.domain.precision import Precision
from gpudesk.engine.constants import Calibration
from gpudesk.engine.work import Offer, Situation, Work, has_experts, has_latent_cache

#: What older software lacks grows with this power of its years: kernels, schedulers and formats build on
#: each other, so that the first year back costs less than the second.
AGE_POWER: Final = 1.5
#: More power than this, against the reference, makes nothing faster: clocks end.
MOST_POWER: Final = 1.4


class Slot(Enum):
    """For which part of a deployment a constant is looked up: each has keys of its own."""

    ALL = auto()
    DENSE_WEIGHTS = auto()
    EXPERT_WEIGHTS = auto()
    DENSE_ARITHMETIC = auto()
    EXPERT_ARITHMETIC = auto()
    CACHE = auto()
    DISPATCH = auto()
    STAGES = auto()


class Lookup(Protocol):
    """Gives the value of a constant for a slot: a float, or an array with one value for each deployment."""

    def __call__(self, name: str, slot: Slot = Slot.ALL) -> float:
        """Return the value of constant `name`."""


@dataclass(frozen=True, slots=True)
class Rates:
    """Efficiencies as shares of what is offered, times in seconds; floats, or arrays of one shape.

    `expert_evenness` is how evenly experts are chosen: the shape of a gamma distribution.
    `request_s` is the time of one request outside the steps, `collective_s`, `ring_s`, `dispatch_s` and
    `transfer_s` what one collective (directly, or around a ring), one all-to-all and one hand-over between
    stages take at least.
    `first_token_s` is the `latency` of `StepRow`; `burst_equal`, `burst_varied`, `limit_queue`: see there.
    """

    dense_read_efficiency: float
    expert_read_efficiency: float
    kv_read_efficiency: float
    dense_efficiency: float
    expert_efficiency: float
    attention_efficiency: float
    expert_half_tokens: float
    expert_evenness: float
    layer_s: float
    quantise_s: float
    moe_layer_s: float
    step_s: float
    sequence_s: float
    host_overlap: float
    request_s: float
    first_token_s: float
    collective_s: float
    direct_efficiency: float
    ring_s: float
    link_efficiency: float
    dispatch_s: float
    dispatch_efficiency: float
    transfer_s: float
    stage_efficiency: float
    activation_traffic: float
    expert_traffic: float
    imbalance: float
    stage_bubble: float
    burst_equal: float
    burst_varied: float
    limit_queue: float
    age_factor: float
    pairing: float

    @property
    def stretch(self) -> float:
        """What all times are stretched by: older software, and part and serving engine going together."""
        return self.age_factor * self.pairing


#: A part that reaches every peak and adds nothing.
LOSSLESS: Final = Rates(
    dense_read_efficiency=1.0,
    expert_read_efficiency=1.0,
    kv_read_efficiency=1.0,
    dense_efficiency=1.0,
    expert_efficiency=1.0,
    attention_efficiency=1.0,
    expert_half_tokens=0.0,
    expert_evenness=1.0,
    layer_s=0.0,
    quantise_s=0.0,
    moe_layer_s=0.0,
    step_s=0.0,
    sequence_s=0.0,
    host_overlap=0.0,
    request_s=0.0,
    first_token_s=0.0,
    collective_s=0.0,
    direct_efficiency=1e6,
    ring_s=0.0,
    link_efficiency=1e6,
    dispatch_s=0.0,
    dispatch_efficiency=1e6,
    transfer_s=0.0,
    stage_efficiency=1e6,
    activation_traffic=0.0,
    expert_traffic=0.0,
    imbalance=1.0,
    stage_bubble=0.0,
    burst_equal=0.0,
    burst_varied=0.0,
    limit_queue=0.0,
    age_factor=1.0,
    pairing=1.0,
)


def ranks_key(ranks: int) -> str:
    """Return the key of a group of `ranks`: 1, 2, 4, or 8 for all larger ones."""
    return str(min(8, 2 ** max(0, (ranks - 1).bit_length())))


def constant_keys(situation: Situation, model: Model, offered: Offer) -> dict[Slot, dict[str, str]]:
    """Return the keys under which the constants of a deployment are looked up, by slot."""
    plan = situation.plan
    common = {
        "generation": situation.accelerator.generation,
        "serving_engine": situation.family,
        "ranks": ranks_key(plan.tp),
        "link": offered.link.kind,
        "experts": "yes" if has_experts(model) else "no",
        "attention": "latent" if has_latent_cache(model) else "heads",
        "runtime": "present" if situation.present_runtime else "earlier",
    }

    def of(precision: Precision) -> dict[str, str]:
        return {**common, "precision": str(precision)}

    return {
        Slot.ALL: common,
        Slot.DENSE_WEIGHTS: of(offered.dense_weights),
        Slot.EXPERT_WEIGHTS: of(situation.weights),
        Slot.DENSE_ARITHMETIC: of(offered.dense_arithmetic),
        Slot.EXPERT_ARITHMETIC: of(situation.arithmetic),
        Slot.CACHE: of(situation.kv),
        Slot.DISPATCH: {**common, "link": offered.dispatch_link.kind, "ranks": ranks_key(plan.ep)},
        Slot.STAGES: {**common, "link": offered.stage_link.kind, "ranks": ranks_key(plan.replica)},
    }


def looked_up(calibration: Calibration, keys: Mapping[Slot, Mapping[str, str]]) -> Lookup:
    """Return the constants of one deployment."""
    values = {slot: calibration.values(of_slot) for slot, of_slot in keys.items()}

    def value(name: str, slot: Slot = Slot.ALL) -> float:
        return values[slot][name]

    return value


def _powered(power: float, reference: float, exponent: float) -> float:
    """Return what a power limit other than the reference's makes of sustained arithmetic; 1 where unknown."""
    known = (power > 0) & (reference > 0)
    unknown = 1.0 - known
    ratio = (known * power + unknown) / (known * reference + unknown)
    return _scalar(np.minimum(ratio, MOST_POWER) ** exponent)


def _scalar(value: NDArray[np.float64] | np.float64) -> float:
    """Return a single number as such; arrays of many deployments pass for it, as in all of `rates`."""
    return value.item() if value.ndim == 0 else value  # type: ignore[return-value]


def _aged(constant: Lookup, work: Work) -> float:
    """Return what older software stretches all times by; years lie further back the more there are."""
    years = work.months_old / 12.0
    return _scalar(np.exp(constant("age_slowdown") * years**AGE_POWER))


def rates(constant: Lookup, work: Work) -> Rates:
    """Combine constants to rates; where `work` holds arrays, so do they."""
    eager = 1.0 + work.eager * (constant("eager_factor") - 1.0)
    overhead = constant("collective_overhead")
    powered = _powered(work.power, constant("reference_power"), constant("power_exponent"))
    return Rates(
        dense_read_efficiency=constant("weight_read_efficiency", Slot.DENSE_WEIGHTS),
        expert_read_efficiency=constant("weight_read_efficiency", Slot.EXPERT_WEIGHTS)
        * constant("expert_read_factor"),
        kv_read_efficiency=constant("kv_read_efficiency", Slot.CACHE),
        dense_efficiency=constant("gemm_efficiency", Slot.DENSE_ARITHMETIC) * powered,
        expert_efficiency=constant("gemm_efficiency", Slot.EXPERT_ARITHMETIC)
        * constant("expert_gemm_factor", Slot.EXPERT_WEIGHTS)
        * powered,
        attention_efficiency=constant("attention_efficiency"),
        expert_half_tokens=constant("expert_half_tokens"),
        expert_evenness=constant("expert_evenness"),
        layer_s=constant("layer_time") * eager,
        quantise_s=constant("quantise_time", Slot.DENSE_ARITHMETIC) * eager,
        moe_layer_s=constant("moe_layer_time") * eager,
        step_s=constant("step_time"),
        sequence_s=constant("sequence_time"),
        host_overlap=constant("host_overlap"),
        request_s=work.server * constant("request_time")
        + (1.0 - work.server) * constant("offline_request_time"),
        first_token_s=work.server * constant("first_token_time"),
        collective_s=constant("allreduce_latency") + overhead,
        direct_efficiency=constant("direct_efficiency"),
        ring_s=constant("ring_latency") + overhead,
        link_efficiency=constant("link_efficiency"),
        dispatch_s=constant("allreduce_latency", Slot.DISPATCH) + overhead,
        dispatch_efficiency=constant("link_efficiency", Slot.DISPATCH),
        transfer_s=constant("allreduce_latency", Slot.STAGES) + overhead,
        stage_efficiency=constant("link_efficiency", Slot.STAGES),
        activation_traffic=constant("activation_traffic"),
        expert_traffic=constant("expert_traffic"),
        imbalance=1.0 + work.spread_sequences * (constant("attention_dp_imbalance") - 1.0),
        stage_bubble=constant("stage_bubble"),
        burst_equal=constant("burst_equal"),
        burst_varied=constant("burst_varied"),
        limit_queue=constant("limit_queue"),
        age_factor=_aged(constant, work),
        pairing=constant("pairing", Slot.EXPERT_ARITHMETIC),
    )


def constants_of_rates() -> tuple[tuple[str, Slot], ...]:
    """Return every constant that `rates` looks up, with its slot, each once."""
    asked: dict[tuple[str, Slot], None] = {}

    def note(name: str, slot: Slot = Slot.ALL) -> float:
        asked[name, slot] = None
        return 1.0

    rates(note, Work(*(1.0 for _ in fields(Work))))
    return tuple(asked)
