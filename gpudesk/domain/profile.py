"""The profile of one accelerator: capabilities, limits and next steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from enum import StrEnum
from typing import Self

from gpudesk.domain.accelerator import Accelerator
from gpudesk.domain.answer import Scenario
from gpudesk.domain.claim import AttributeClaims
from gpudesk.domain.cost import NO_COST_SETTINGS, CostSettings
from gpudesk.domain.diffusion import DiffusionEstimate, DiffusionSettings
from gpudesk.domain.estimate import EstimateBasis, EstimateRequest
from gpudesk.domain.precision import Precision
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.formatting import IntervalEstimate
from gpudesk.text.messages import Message
from gpudesk.text.translation import LabeledEnum


class OperatingMode(LabeledEnum):
    """The priority of a ranking of models; `BALANCED` weighs all factors equally."""

    BALANCED = "balanced", "Balanced"
    SPEED = "speed", "Speed"
    QUALITY = "quality", "Quality"
    LONG_CONTEXT = "long_context", "Long context"
    THROUGHPUT = "throughput", "Throughput"


class RankingFactor(LabeledEnum):
    """A factor of the score of a model for a job; each is scaled to 0..1 among the models that fit."""

    #: Share of usable memory left free.
    FIT = "fit", "Fit"
    #: Output tokens/s of one request.
    SPEED = "speed", "Speed"
    #: Output tokens/s at the load.
    THROUGHPUT = "throughput", "Throughput"
    #: Tokens of context that fit, up to the model's own maximum.
    CONTEXT = "context", "Context"
    #: Release date.
    RECENCY = "recency", "Recency"
    #: The user's own tier of the model; without one, the rank of its total parameters.
    TIER = "tier", "Size or tier"


@frozen_dataclass
class ProfileQuestion:
    """One accelerator, and the load for all rates. `weights` replaces those of the mode, by factor.

    `media` replaces the settings of images and videos: by task in the capability matrix, by "medium:model" in the list
    of models.
    """

    accelerator: str
    input_tokens: int = 4000
    output_tokens: int = 1000
    concurrency: int = 64
    serving_engine: str | None = None
    #: The model for limits and counts; None: the largest common model that fits.
    model: str | None = None
    #: Weights of that model; None: as published, or narrower if that does not fit.
    precision: Precision | None = None
    #: KV cache of all models; FP16 for those that do not support it.
    kv: Precision = Precision.FP16
    mode: OperatingMode = OperatingMode.BALANCED
    weights: Mapping[RankingFactor, float] | None = None
    tiers: Mapping[str, float] | None = None
    budget_usd: float | None = None
    media: Mapping[str, DiffusionSettings] | None = None
    #: What prices and costs rest on.
    costs: CostSettings = field(default=NO_COST_SETTINGS, hash=False)

    @classmethod
    def from_scenario(cls, scenario: Scenario, accelerator: str) -> Self:
        """Return the question about an accelerator at the load of a scenario, with its model, engine and formats."""
        work, usual = scenario.workload, cls(accelerator)
        return replace(
            usual,
            input_tokens=work.input_tokens,
            output_tokens=work.output_tokens,
            concurrency=work.load.concurrency or work.load.batch or usual.concurrency,
            serving_engine=scenario.serving_engine,
            model=scenario.model or None,
            precision=scenario.weights if scenario.model else None,
            kv=scenario.kv,
            costs=scenario.costs,
        )


class CapabilityStatus(StrEnum):
    """How an accelerator does a task."""

    #: In the format in which the model is published.
    NATIVE = "native"
    #: On one accelerator, in fewer bits.
    QUANTIZED = "quantized"
    #: On `count` accelerators.
    NEEDS_MORE = "needs_more"
    #: Not within one scale-up domain or host, or no serving engine runs it.
    IMPOSSIBLE = "impossible"
    #: A fact is missing, named in `reason`.
    UNKNOWN = "unknown"


@frozen_dataclass
class Capability:
    """A row of the capability matrix.

    `figure`: output tokens/s of the load, or seconds per image or video (`unit` "tok/s" or "s"). `single`: output
    tokens/s of a single request. `request` opens the scenario; None for diffusion models, whose settings are in
    `diffusion`. `queues`: some requests of the load wait for others.
    """

    task: str
    status: CapabilityStatus
    model: str | None
    weights: Precision | None = None
    count: int | None = None
    context_tokens: int | None = None
    figure: IntervalEstimate | None = None
    single: IntervalEstimate | None = None
    unit: str = "tok/s"
    basis: EstimateBasis | None = None
    request: EstimateRequest | None = None
    diffusion: DiffusionEstimate | None = None
    queues: bool = False
    reason: Message | None = None


@frozen_dataclass
class Standing:
    """The rank of a value among accelerators of a group: 1 is the best of `members`; percentile 0..100.

    `group` is "category" or "generation". `best` and `median` are of the group, in the unit of the attribute.
    """

    attribute: str
    value: float
    group: str
    rank: int
    members: int
    percentile: float
    median: float
    best: float


@frozen_dataclass
class Trait:
    """A strength or a consideration: a sentence with its number, and the standing or fact behind it."""

    id: str
    is_strength: bool
    text: Message
    standing: Standing | None = None
    attribute: str | None = None


@frozen_dataclass
class ProfileTag:
    """A tag of the header with the rule behind it."""

    id: str
    text: Message
    rule: Message


@frozen_dataclass
class ResourceHeadroom:
    """The free share of a resource under the load: 0 is none. `headroom` is None if unknown, with the `reason`.

    `resource`: memory, bandwidth, compute, links, host or power.
    """

    resource: str
    headroom: float | None
    used: Message
    remedy: Message | None = None
    reason: Message | None = None


@frozen_dataclass
class ScaleStep:
    """A count of the accelerator: memory, number of catalog models that fit, and rates of the profile's model.

    `bandwidth_rule` is in bytes/s, by the flat factor 0.88 of the source document, which estimates do not use.
    """

    count: int
    memory_bytes: int
    models_held: int
    models: int
    figure: IntervalEstimate | None
    per_accelerator: IntervalEstimate | None
    bandwidth_rule: float | None
    reason: Message | None = None


@frozen_dataclass
class OutOfReach:
    """A model that one accelerator does not hold: the missing memory, and the smallest ways to hold it."""

    model: str
    weights: Precision
    missing_bytes: int
    count: int | None
    smaller_format: Precision | None
    figure: IntervalEstimate | None
    usd_per_million_output: IntervalEstimate | None
    request: EstimateRequest | None
    reason: Message | None = None


@frozen_dataclass
class Upgrade:
    """A larger option: another accelerator (`count` 1) or more of the same. `unlocked` are models by id.

    Costs are None if no purchase price is known; `usd_per_unlocked` is extra_usd / len(unlocked), 0 for a cheaper
    accelerator.
    """

    accelerator: str
    count: int
    unlocked: tuple[str, ...]
    speedup: float | None
    extra_usd: float | None
    usd_per_unlocked: float | None
    announced: bool = False
    within_budget: bool | None = None
    reason: Message | None = None


@frozen_dataclass
class JobRecommendation:
    """A ranked model for a job (chat, coding, agentic, reasoning, rag, vision): rates, context, and the reasons."""

    job: str
    model: str
    weights: Precision
    score: float
    factors: Mapping[RankingFactor, float]
    context_tokens: int
    single: IntervalEstimate | None
    figure: IntervalEstimate | None
    serving_engine: str
    basis: EstimateBasis
    request: EstimateRequest
    why: tuple[Message, ...]


@frozen_dataclass
class PeerValue:
    """An attribute of the accelerator with the mean of its category and the values of its nearest rivals (by id)."""

    attribute: str
    value: float | None
    mean: float | None
    members: int
    rivals: Mapping[str, float | None]


@frozen_dataclass
class BuyingAdvice:
    """The verdict, and points to check, the most important first.

    `rule` states what "runs well" means, with its thresholds; models that fit but do not run well count only in `fits`.
    `runs_well` is None where models fit and no rate can be computed.
    """

    verdict: Message
    runs_well: int | None
    fits: int
    models: int
    rule: Message
    checks: tuple[Message, ...]


@frozen_dataclass
class AcceleratorProfile:
    """All facts and results of one accelerator.

    `diffusion` has a row for each image and video model, at its pipeline's settings; its tasks are media.
    `is_system_price` marks a price derived from whole systems.
    """

    question: ProfileQuestion
    accelerator: Accelerator
    attributes: Mapping[str, AttributeClaims]
    category: str
    generation_members: tuple[str, ...]
    category_members: tuple[str, ...]
    headline: Message
    tags: tuple[ProfileTag, ...]
    traits: tuple[Trait, ...]
    capabilities: tuple[Capability, ...]
    diffusion: tuple[Capability, ...]
    model: str | None
    limits: tuple[ResourceHeadroom, ...]
    scale: tuple[ScaleStep, ...]
    out_of_reach: tuple[OutOfReach, ...]
    upgrades: tuple[Upgrade, ...]
    recommendations: tuple[JobRecommendation, ...]
    weights: Mapping[RankingFactor, float]
    peers: tuple[PeerValue, ...]
    is_system_price: bool
    rivals_by_price: tuple[str, ...]
    rivals_by_memory: tuple[str, ...]
    advice: BuyingAdvice
    notes: tuple[Message, ...]
