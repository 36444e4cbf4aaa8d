"""Ranks of an accelerator among its peers by category and generation, strengths, considerations, rivals."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import fmean, median
from types import MappingProxyType
from typing import Final

from gpudesk.domain.accelerator import Accelerator
from gpudesk.domain.estimate import ParallelPlan
from gpudesk.domain.profile import PeerValue, Standing, Trait
from gpudesk.domain.registry import find_quantity
from gpudesk.domain.serving_engine import list_platforms
from gpudesk.engine.sharding import shard_model
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.profile.placements import AcceleratorFacts, ProfileContext
from gpudesk.text.messages import FormatName, Message, MessageParameter, Term, message, message_n

CATEGORY: Final = "category"
GENERATION: Final = "generation"
#: Smallest group with a meaningful rank.
LEAST_MEMBERS: Final = 3
_CUDA: Final = "CUDA"
_HALF_BITS: Final = "peak_dense_bf16"


@frozen_dataclass
class RankedAttribute:
    """An attribute to rank by: its unit, its name in sentences, and whether less is better."""

    key: str
    name: Term
    unit: str
    less_is_better: bool = False


RANKED: Final = (
    RankedAttribute("memory", Term("profile.memory", "Memory"), "B"),
    RankedAttribute("memory_bandwidth", Term("profile.bandwidth", "Memory bandwidth"), "B/s"),
    RankedAttribute(_HALF_BITS, Term("profile.bf16", "Dense BF16 peak"), "FLOP/s"),
    RankedAttribute("peak_dense_fp8", Term("profile.fp8", "Dense FP8 peak"), "FLOP/s"),
    RankedAttribute("peak_dense_fp4", Term("profile.fp4", "Dense FP4 peak"), "FLOP/s"),
    RankedAttribute("scale_up_bandwidth", Term("profile.link", "Scale-up link"), "B/s"),
    RankedAttribute("tdp", Term("profile.tdp", "Board power"), "W", less_is_better=True),
    RankedAttribute("price", Term("profile.price", "Purchase price"), "USD", less_is_better=True),
)


@frozen_dataclass
class PeerGroups:
    """The accelerators of the same category, and those of about the same release date; each includes itself."""

    category: tuple[AcceleratorFacts, ...]
    generation: tuple[AcceleratorFacts, ...]


def find_peers(context: ProfileContext) -> PeerGroups:
    """Return the groups of an accelerator; its generation is empty without a known release date."""
    own = context.facts
    category = tuple(each for each in context.others if each.category == own.category)
    months = own.months
    if months is None:
        return PeerGroups((own, *category), ())
    near = tuple(
        each
        for each in context.others
        if each.months is not None and abs(each.months - months) <= context.settings.generation_months
    )
    return PeerGroups((own, *category), (own, *near))


def compute_standing(
    attribute: RankedAttribute, own: AcceleratorFacts, group: str, members: Sequence[AcceleratorFacts]
) -> Standing | None:
    """Return the rank among the members with a known value; None for too few, or if its own is unknown.

    The percentile is the share of the other members that are not better, in percent.
    """
    value = own.get_value(attribute.key)
    values = [each for member in members if (each := member.get_value(attribute.key)) is not None]
    if value is None or len(values) < LEAST_MEMBERS:
        return None
    better = sum(each < value if attribute.less_is_better else each > value for each in values)
    best = min(values) if attribute.less_is_better else max(values)
    percentile = 100.0 * (len(values) - 1 - better) / (len(values) - 1)
    return Standing(attribute.key, value, group, better + 1, len(values), percentile, median(values), best)


# Strengths and considerations


def list_traits(context: ProfileContext, peers: PeerGroups) -> tuple[Trait, ...]:
    """Return strengths, then considerations: by rank among peers, then by absolute facts."""
    ranked = [trait for attribute in RANKED if (trait := _rank_trait(attribute, context, peers)) is not None]
    ranked.sort(key=lambda trait: -abs(trait.standing.percentile - 50.0) if trait.standing is not None else 0.0)
    traits = (*ranked, *_list_fact_traits(context))
    return (*(each for each in traits if each.is_strength), *(each for each in traits if not each.is_strength))


def _rank_trait(attribute: RankedAttribute, context: ProfileContext, peers: PeerGroups) -> Trait | None:
    """Return the trait of an attribute by the group in which it stands out most; None without one."""
    standings = [
        standing
        for group, members in ((CATEGORY, peers.category), (GENERATION, peers.generation))
        if (standing := compute_standing(attribute, context.facts, group, members)) is not None
    ]
    if not standings:
        return None
    standing = max(standings, key=lambda each: abs(each.percentile - 50.0))
    settings = context.settings
    is_strength = standing.percentile >= settings.strong_percentile
    # If all values are equal, being the best is not a strength.
    if standing.median == standing.best == standing.value or not (
        is_strength or standing.percentile <= settings.weak_percentile
    ):
        return None
    return Trait(
        f"{attribute.key}.{standing.group}", is_strength, _describe(attribute, standing), standing, attribute.key
    )


def _describe(attribute: RankedAttribute, standing: Standing) -> Message:
    quantity = find_quantity(attribute.key, attribute.unit)
    parameters: dict[str, MessageParameter] = {
        "name": attribute.name,
        "value": (standing.value, quantity),
        "rank": standing.rank,
        "members": standing.members,
        "median": (standing.median, quantity),
    }
    if standing.group == CATEGORY:
        return message(
            "profile.standing.category",
            "{name}: {value}; rank {rank} of {members} in its category, median {median}",
            **parameters,
        )
    return message(
        "profile.standing.generation",
        "{name}: {value}; rank {rank} of {members} in its generation, median {median}",
        **parameters,
    )


def _list_fact_traits(context: ProfileContext) -> Iterator[Trait]:
    own = context.facts
    accelerator, settings = own.accelerator, context.settings
    if own.price_usd is not None and own.price_usd >= settings.high_price_usd:
        yield Trait(
            "high_price",
            False,
            message(
                "profile.trait.price",
                "High purchase price: {price} ({limit} or more is high)",
                price=(own.price_usd, "USD"),
                limit=(float(settings.high_price_usd), "USD"),
            ),
            attribute="price",
        )
    if own.category in ("module", "rack"):
        yield Trait(
            "form_factor",
            False,
            message_n(
                "profile.trait.form",
                "Form factor {form}: needs a server for {count} accelerator",
                "Form factor {form}: needs a server or rack for {count} accelerators",
                "count",
                form=accelerator.form_factor or "",
                count=accelerator.cards_per_host,
            ),
            attribute="form_factor",
        )
    if accelerator.scale_up_bandwidth is None:
        yield Trait("no_link", False, _describe_missing_link(accelerator), attribute="scale_up_bandwidth")
    if "fp8" not in accelerator.peak_dense:
        yield Trait(
            "no_fp8",
            False,
            message("profile.trait.no_fp8", "No published FP8 peak: 8-bit weights save memory, not compute time"),
            attribute="peak_dense_fp8",
        )
    elif "fp4" not in accelerator.peak_dense:
        yield Trait(
            "no_fp4",
            False,
            message("profile.trait.no_fp4", "No published FP4 peak: 4-bit weights save memory, not compute time"),
            attribute="peak_dense_fp4",
        )
    yield from _compare_predecessor(context)
    yield from _compare_software(context)
    yield from _weigh_largest(context)


def _describe_missing_link(accelerator: Accelerator) -> Message:
    if not accelerator.lacks_scale_up:
        return message("profile.trait.unknown_link", "Scale-up link unknown: estimates of 2 or more assume PCIe")
    if accelerator.cards_per_host > 1:
        return message("profile.trait.no_link", "No scale-up link: 2 or more accelerators communicate over PCIe")
    return message("profile.trait.alone", "Alone in its host: 2 or more communicate over the network")


def _compare_predecessor(context: ProfileContext) -> Iterator[Trait]:
    """Yield a consideration if the predecessor, of the same maker and form factor, computes as fast."""
    own = context.facts
    months, peak = own.months, own.get_value(_HALF_BITS)
    earlier = [
        each
        for each in context.others
        if each.accelerator.vendor == own.accelerator.vendor
        and each.accelerator.form_factor == own.accelerator.form_factor
        and each.months is not None
        and months is not None
        and each.months < months
    ]
    if not earlier or peak is None:
        return
    predecessor = max(earlier, key=lambda each: each.months or 0)
    if predecessor.get_value(_HALF_BITS) == peak:
        yield Trait(
            "same_compute",
            False,
            message(
                "profile.trait.same_compute",
                "Dense BF16 peak of {peak}, as for the earlier {predecessor}",
                peak=(peak, "FLOP/s"),
                predecessor=predecessor.accelerator.name,
            ),
            attribute=_HALF_BITS,
        )


def _compare_software(context: ProfileContext) -> Iterator[Trait]:
    """Yield how many serving engines run on it, and for another platform the CUDA rival with less memory."""
    own = context.facts.accelerator
    engines = context.catalog.serving_engines()
    running = [each for each in engines if each.runs_on(own, None)]
    most = max(sum(engine.runs_on(each.accelerator, None) for engine in engines) for each in context.others)
    yield Trait(
        "engines",
        len(running) >= most,
        message("profile.trait.all_engines", "All {engines} serving engines support it", engines=len(engines))
        if len(running) == len(engines)
        else message_n(
            "profile.trait.engines",
            "{count} of {engines} serving engines supports it; the most for any accelerator is {most}",
            "{count} of {engines} serving engines support it; the most for any accelerator is {most}",
            "count",
            count=len(running),
            engines=len(engines),
            most=max(most, len(running)),
        ),
        attribute="software_platform",
    )
    if _CUDA in list_platforms(own):
        return
    smaller = [
        each.accelerator
        for each in context.others
        if each.category == context.facts.category
        and _CUDA in list_platforms(each.accelerator)
        and each.accelerator.memory_bytes < own.memory_bytes
    ]
    if smaller:
        rival = max(smaller, key=lambda each: each.memory_bytes)
        yield Trait(
            "cuda_rival",
            False,
            message(
                "profile.trait.cuda_rival",
                "{rival} runs CUDA software, with {memory} of memory instead of {own}",
                rival=rival.name,
                memory=(float(rival.memory_bytes), "B"),
                own=(float(own.memory_bytes), "B"),
            ),
            attribute="software_platform",
        )


def _weigh_largest(context: ProfileContext) -> Iterator[Trait]:
    """Yield the largest model that one accelerator holds as published, and the tasks' models that it does not hold."""
    fitting_placements = [each for each in context.placements.values() if each.formats[0].count == 1]
    sized = [
        (context.parameters[each.model.id], each) for each in fitting_placements if each.model.id in context.parameters
    ]
    if sized:
        parameters, placement = max(sized, key=lambda pair: pair[0])
        yield Trait(
            "largest_native",
            True,
            message(
                "profile.trait.largest",
                "Largest model that fits as published: {model}, {parameters} billion parameters",
                model=placement.model.name,
                parameters=parameters / 1e9,
            ),
            attribute="memory",
        )
    for task in context.settings.tasks:
        model = next((each for each in task.models if each in context.placements), None)
        if model is None:
            continue
        large = context.placements[model]
        published = large.formats[0]
        if (published.count or 0) <= 1:
            continue
        yield Trait(
            f"needs_more.{task.id}",
            False,
            message(
                "profile.trait.needs_more",
                "{model} as published ({weights}) takes {bytes} of weights: needs {count} accelerators",
                model=large.model.name,
                weights=FormatName(published.weights),
                bytes=(float(shard_model(large.model, published.weights, ParallelPlan()).resident_bytes), "B"),
                count=published.count or 0,
            ),
            attribute="memory",
        )


# Comparison with peers


def list_peer_values(context: ProfileContext, peers: PeerGroups, rivals: Sequence[str]) -> tuple[PeerValue, ...]:
    """Return each attribute with the mean of the category, the accelerator included, and the rivals' values."""
    by_id: Mapping[str, AcceleratorFacts] = MappingProxyType({each.accelerator.id: each for each in context.others})
    rows = []
    for attribute in RANKED:
        values = [each for member in peers.category if (each := member.get_value(attribute.key)) is not None]
        rows.append(
            PeerValue(
                attribute.key,
                context.facts.get_value(attribute.key),
                fmean(values) if values else None,
                len(values),
                MappingProxyType({rival: by_id[rival].get_value(attribute.key) for rival in rivals}),
            )
        )
    return tuple(rows)


def find_rivals(context: ProfileContext, distance: Callable[[AcceleratorFacts], float | None]) -> tuple[str, ...]:
    """Return the nearest accelerators by a ratio, those of the same category first on ties."""
    own = context.facts.category
    near = [
        (value, each.category != own, each.accelerator.id)
        for each in context.others
        if (value := distance(each)) is not None
    ]
    return tuple(rival for _, _, rival in sorted(near)[: context.settings.rivals])


def measure_price_distance(context: ProfileContext) -> Callable[[AcceleratorFacts], float | None]:
    """Return the price distance of another accelerator, as a ratio of at least 1; None if one is unknown."""
    return lambda each: _measure_ratio(context.facts.price_usd, each.price_usd)


def measure_memory_distance(context: ProfileContext) -> Callable[[AcceleratorFacts], float | None]:
    own = float(context.accelerator.memory_bytes)
    return lambda each: _measure_ratio(own, float(each.accelerator.memory_bytes))


def _measure_ratio(one: float | None, other: float | None) -> float | None:
    return None if not one or not other else max(one / other, other / one)
