"""The profile of an accelerator as lines of text and as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from gpudesk.domain.claim import AttributeClaims
from gpudesk.domain.diffusion import DiffusionEstimate, DiffusionGrade, DiffusionSoftware
from gpudesk.domain.estimate import EstimateRequest
from gpudesk.domain.profile import (
    AcceleratorProfile,
    Capability,
    CapabilityStatus,
    OutOfReach,
    ResourceHeadroom,
    Trait,
    Upgrade,
)
from gpudesk.domain.registry import ATTRIBUTES, find_quantity
from gpudesk.report.diffusion import describe_diffusion_item, label_software
from gpudesk.report.labels import (
    label_attribute_alone,
    label_basis,
    label_precision,
    label_serving_engine,
    shorten_name,
)
from gpudesk.report.profile_tables import label_factor, label_job, label_mode, label_resource, label_task
from gpudesk.report.writers.json_values import encode_each, encode_fields, encode_value
from gpudesk.report.writers.text import align_table, indent_hanging, wrap_text
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter, IntervalEstimate, Quantity
from gpudesk.text.messages import Message, format_message
from gpudesk.text.translation import tr

#: Attributes of peers that are none of the catalog's.
_PRICE: Final = "price"
_BULLET: Final = "- "

Strong = Callable[[str], str]


def format_status(capability: Capability, formatter: Formatter) -> str:
    """Return how a task is done, with the count where several are needed."""
    count = capability.count or 1
    texts = {
        CapabilityStatus.NATIVE: tr("native"),
        CapabilityStatus.QUANTIZED: tr("quantized"),
        CapabilityStatus.NEEDS_MORE: tr("needs {count}", count=formatter.count(count)),
        CapabilityStatus.IMPOSSIBLE: tr("not possible"),
        CapabilityStatus.UNKNOWN: tr("unknown"),
    }
    return texts[capability.status]


def label_peer_attribute(attribute: str) -> str:
    return tr("Purchase price") if attribute == _PRICE else label_attribute_alone(attribute)


def format_peer_value(attribute: str, value: float | None, formatter: Formatter) -> str:
    """Return a value of an attribute with its unit."""
    if value is None:
        return MISSING_VALUE_TEXT
    if attribute == _PRICE:
        return formatter.catalog_with_unit(value, Quantity.USD)
    return formatter.catalog_with_unit(value, find_quantity(attribute, ATTRIBUTES[attribute].unit))


def list_profile_lines(
    profile: AcceleratorProfile, names: Mapping[str, str], formatter: Formatter, width: int, strong: Strong
) -> Iterator[str]:
    """Yield a profile for a terminal, the verdict first; `names` are those of models and accelerators by id."""
    yield from map(strong, wrap_text(f"{format_message(profile.headline, formatter)}.", width))
    yield from wrap_text(f"{format_message(profile.advice.verdict, formatter)}.", width)
    yield " · ".join([profile.accelerator.name, *(format_message(tag.text, formatter) for tag in profile.tags)])
    yield from wrap_text(_describe_load(profile, names, formatter), width)
    yield from _list_traits(profile.traits, formatter, width, strong)
    for title, table in (
        (tr("Capabilities"), _tabulate_capabilities(profile, names, formatter)),
        (tr("Images and video"), _tabulate_diffusion(profile, names, formatter)),
        (tr("First limits"), _tabulate_limits(profile.limits, formatter)),
        (tr("Several accelerators"), _tabulate_scale(profile, formatter)),
        (tr("Just out of reach"), _tabulate_out_of_reach(profile.out_of_reach, names, formatter)),
        (tr("Upgrades"), _tabulate_upgrades(profile, names, formatter)),
        (_title_ranking(profile), _tabulate_recommendations(profile, names, formatter)),
        (tr("Peers"), _tabulate_peers(profile, names, formatter)),
        (tr("Specifications (◇: sources disagree)"), _tabulate_specifications(profile, formatter)),
    ):
        head, rows, right = table
        if rows:
            yield ""
            yield strong(title)
            yield from align_table(head, rows, width, right=right)
    yield from _list_unlocked(profile.upgrades, names, width, strong)
    yield from _list_advice(profile, formatter, width, strong)


#: Heads, rows, and the columns that are flushed right.
_Table = tuple[Sequence[str], Sequence[Sequence[str]], tuple[int, ...]]


def _describe_load(profile: AcceleratorProfile, names: Mapping[str, str], formatter: Formatter) -> str:
    question = profile.question
    model = MISSING_VALUE_TEXT if profile.model is None else names.get(profile.model, profile.model)
    return tr(
        "Load: {concurrency} requests in flight, {input} input and {output} output tokens. Model of counts and limits: "
        "{model}.",
        concurrency=formatter.count(question.concurrency),
        input=formatter.count(question.input_tokens),
        output=formatter.count(question.output_tokens),
        model=model,
    )


def _list_traits(traits: Sequence[Trait], formatter: Formatter, width: int, strong: Strong) -> Iterator[str]:
    for title, is_strength in ((tr("Strengths"), True), (tr("Considerations"), False)):
        texts = [format_message(each.text, formatter) for each in traits if each.is_strength is is_strength]
        yield from _list_bullets(title, texts, width, strong)


def _list_bullets(title: str, texts: Iterable[str], width: int, strong: Strong) -> Iterator[str]:
    lines = [line for text in texts for line in indent_hanging(_BULLET, text, width)]
    if lines:
        yield ""
        yield strong(title)
        yield from lines


def _format_rate(figure: IntervalEstimate | None, formatter: Formatter) -> str:
    return MISSING_VALUE_TEXT if figure is None else formatter.banded(figure)


def _format_basis(capability: Capability, formatter: Formatter) -> str:
    """Return what is to be known of a row: a reason, else what its figures rest on."""
    if capability.reason is None and capability.basis is not None:
        return label_basis(capability.basis)
    return _format_reason(capability.reason, formatter)


def _format_reason(reason: Message | None, formatter: Formatter) -> str:
    return "" if reason is None else format_message(reason, formatter)


def _tabulate_capabilities(profile: AcceleratorProfile, names: Mapping[str, str], formatter: Formatter) -> _Table:
    head = (
        tr("Task"),
        tr("Status"),
        tr("Model"),
        tr("Weights"),
        tr("Context"),
        tr("Single tok/s"),
        tr("Output tok/s"),
        tr("Method, or reason"),
    )
    rows = [
        (
            label_task(each.task),
            format_status(each, formatter),
            MISSING_VALUE_TEXT if each.model is None else names.get(each.model, each.model),
            MISSING_VALUE_TEXT if each.weights is None else label_precision(each.weights),
            formatter.count(each.context_tokens),
            MISSING_VALUE_TEXT if each.single is None else formatter.estimate(each.single.value),
            _format_rate(each.figure, formatter),
            _format_basis(each, formatter),
        )
        for each in profile.capabilities
        if each.unit == "tok/s"
    ]
    return head, rows, (4, 5, 6)


def format_diffusion_settings(estimate: DiffusionEstimate, formatter: Formatter) -> str:
    """Return how an image or a video is made; the software where it is not the usual one."""
    request = estimate.request
    item = describe_diffusion_item(request, None, formatter)
    return item if request.software is DiffusionSoftware.COMPILED else f"{item}, {label_software(request.software)}"


def _tabulate_diffusion(profile: AcceleratorProfile, names: Mapping[str, str], formatter: Formatter) -> _Table:
    head = (
        tr("Task"),
        tr("Status"),
        tr("Model"),
        tr("Weights"),
        tr("Settings"),
        tr("Seconds each"),
        tr("Grade"),
        tr("Method, or reason"),
    )
    rows = [
        (
            label_task(each.task),
            format_status(each, formatter),
            MISSING_VALUE_TEXT if each.model is None else names.get(each.model, each.model),
            MISSING_VALUE_TEXT if each.weights is None else label_precision(each.weights),
            MISSING_VALUE_TEXT if each.diffusion is None else format_diffusion_settings(each.diffusion, formatter),
            _format_rate(each.figure, formatter),
            label_grade(None if each.diffusion is None else each.diffusion.grade),
            _format_basis(each, formatter),
        )
        for each in (*(each for each in profile.capabilities if each.unit == "s"), *profile.diffusion)
    ]
    return head, rows, (5,)


def label_grade(grade: DiffusionGrade | None) -> str:
    grades = {DiffusionGrade.FAST: tr("fast"), DiffusionGrade.USABLE: tr("usable"), DiffusionGrade.SLOW: tr("slow")}
    return MISSING_VALUE_TEXT if grade is None else grades[grade]


def _tabulate_limits(limits: Sequence[ResourceHeadroom], formatter: Formatter) -> _Table:
    head = (tr("Resource"), tr("Headroom"), tr("Used, and what raises the limit"))
    rows = [
        (
            label_resource(each.resource),
            MISSING_VALUE_TEXT if each.headroom is None else formatter.per_cent(each.headroom),
            ". ".join(
                format_message(part, formatter) for part in (each.used, each.remedy, each.reason) if part is not None
            ),
        )
        for each in limits
    ]
    return head, rows, (1,)


def _tabulate_scale(profile: AcceleratorProfile, formatter: Formatter) -> _Table:
    head = (
        tr("Count"),
        tr("Memory GiB"),
        tr("Models that fit"),
        tr("Output tok/s"),
        tr("Per accelerator"),
        tr("Document's bandwidth"),
    )
    rows = [
        (
            formatter.count(each.count),
            formatter.gib(each.memory_bytes),
            tr("{held} of {models}", held=formatter.count(each.models_held), models=formatter.count(each.models)),
            _format_rate(each.figure, formatter),
            MISSING_VALUE_TEXT if each.per_accelerator is None else formatter.estimate(each.per_accelerator.value),
            MISSING_VALUE_TEXT if each.bandwidth_rule is None else formatter.quantity(each.bandwidth_rule, "B/s"),
        )
        for each in profile.scale
    ]
    return head, rows, (0, 1, 2, 3, 4, 5)


def _tabulate_out_of_reach(rows: Sequence[OutOfReach], names: Mapping[str, str], formatter: Formatter) -> _Table:
    head = (
        tr("Model"),
        tr("Weights"),
        tr("Missing GiB"),
        tr("Needs"),
        tr("Output tok/s"),
        tr("USD/M tokens"),
        tr("Format that fits"),
    )
    cells = [
        (
            names.get(each.model, each.model),
            label_precision(each.weights),
            formatter.gib(each.missing_bytes),
            formatter.count(each.count),
            _format_rate(each.figure, formatter),
            MISSING_VALUE_TEXT
            if each.usd_per_million_output is None
            else formatter.estimate(each.usd_per_million_output.value),
            _format_reason(each.reason, formatter)
            if each.smaller_format is None
            else label_precision(each.smaller_format),
        )
        for each in rows
    ]
    return head, cells, (2, 3, 4, 5)


def format_upgrade(upgrade: Upgrade, names: Mapping[str, str], formatter: Formatter) -> str:
    """Return the step: so many of an accelerator, with a word on one that is announced."""
    name = shorten_name(names.get(upgrade.accelerator, upgrade.accelerator))
    text = name if upgrade.count == 1 else f"{formatter.count(upgrade.count)} × {name}"
    return tr("{name} (announced)", name=text) if upgrade.announced else text


def _tabulate_upgrades(profile: AcceleratorProfile, names: Mapping[str, str], formatter: Formatter) -> _Table:
    head = (tr("Step"), tr("Unlocks"), tr("Speed"), tr("Extra USD"), tr("USD per model"), tr("Budget"))
    budgets = {None: MISSING_VALUE_TEXT, True: tr("within"), False: tr("above")}
    rows = [
        (
            format_upgrade(each, names, formatter),
            formatter.count(len(each.unlocked)),
            MISSING_VALUE_TEXT if each.speedup is None else f"{formatter.estimate(each.speedup)} ×",
            formatter.count(each.extra_usd),
            formatter.count(each.usd_per_unlocked),
            budgets[each.within_budget],
        )
        for each in profile.upgrades
    ]
    return head, rows, (1, 2, 3, 4)


def _list_unlocked(upgrades: Sequence[Upgrade], names: Mapping[str, str], width: int, strong: Strong) -> Iterator[str]:
    formatter = Formatter()
    texts = [
        f"{format_upgrade(each, names, formatter)}: {', '.join(names.get(model, model) for model in each.unlocked)}"
        for each in upgrades
        if each.unlocked
    ]
    yield from _list_bullets(tr("Unlocked models"), texts, width, strong)


def _title_ranking(profile: AcceleratorProfile) -> str:
    weights = ", ".join(f"{label_factor(factor)} {weight:g}" for factor, weight in profile.weights.items())
    return tr("Models by job ({mode}: {weights})", mode=label_mode(profile.question.mode), weights=weights)


def _tabulate_recommendations(profile: AcceleratorProfile, names: Mapping[str, str], formatter: Formatter) -> _Table:
    head = (
        tr("Job"),
        tr("Model"),
        tr("Weights"),
        tr("Score"),
        tr("Context"),
        tr("Single tok/s"),
        tr("Output tok/s"),
        tr("Engine"),
    )
    rows = []
    last = None
    for each in profile.recommendations:
        rows.append(
            (
                "" if each.job == last else label_job(each.job),
                names.get(each.model, each.model),
                label_precision(each.weights),
                formatter.number(each.score, 2),
                formatter.count(each.context_tokens),
                MISSING_VALUE_TEXT if each.single is None else formatter.estimate(each.single.value),
                _format_rate(each.figure, formatter),
                label_serving_engine(each.serving_engine),
            )
        )
        last = each.job
    return head, rows, (3, 4, 5, 6)


def _tabulate_peers(profile: AcceleratorProfile, names: Mapping[str, str], formatter: Formatter) -> _Table:
    rivals = tuple(dict.fromkeys((*profile.rivals_by_price, *profile.rivals_by_memory)))
    head = (
        tr("Attribute"),
        shorten_name(profile.accelerator.name),
        tr("Category mean"),
        tr("Members"),
        *(shorten_name(names.get(rival, rival)) for rival in rivals),
    )
    rows = [
        (
            label_peer_attribute(each.attribute),
            format_peer_value(each.attribute, each.value, formatter),
            format_peer_value(each.attribute, each.mean, formatter),
            formatter.count(each.members),
            *(format_peer_value(each.attribute, each.rivals[rival], formatter) for rival in rivals),
        )
        for each in profile.peers
    ]
    return head, rows, (3,)


def _tabulate_specifications(profile: AcceleratorProfile, formatter: Formatter) -> _Table:
    head = (tr("Attribute"), tr("Value"), tr("Source"))
    rows = []
    for name, attribute in ATTRIBUTES.items():
        claims = profile.attributes.get(name)
        if claims is None or (claim := claims.preferred) is None:
            continue
        value = formatter.catalog_with_unit(claims.value, find_quantity(name, attribute.unit))
        marked = f"{value} ◇" if claims.disputed else value
        rows.append((label_attribute_alone(name), marked, claim.source.title))
    return head, rows, ()


def _list_advice(profile: AcceleratorProfile, formatter: Formatter, width: int, strong: Strong) -> Iterator[str]:
    advice = profile.advice
    shares = tr(
        "{well} of {models} models run well, {fits} of {models} fit",
        well=formatter.count(advice.runs_well),
        fits=formatter.count(advice.fits),
        models=formatter.count(advice.models),
    )
    texts = [
        shares,
        format_message(advice.rule, formatter),
        *(format_message(each, formatter) for each in advice.checks),
    ]
    yield from _list_bullets(tr("Before you buy"), texts, width, strong)
    yield from _list_bullets(tr("Notes"), [format_message(each, formatter) for each in profile.notes], width, strong)


# JSON


def write_profile_json(profile: AcceleratorProfile) -> dict[str, Any]:
    """Return a profile as JSON values: figures as {value, low, high}, messages as sentences."""
    question = profile.question
    return {
        "question": {
            **encode_fields(
                question, "accelerator input_tokens output_tokens concurrency serving_engine mode budget_usd"
            ),
            "model": profile.model,
            "weights": encode_value(profile.weights),
            "tiers": None if question.tiers is None else dict(question.tiers),
        },
        "headline": format_message(profile.headline),
        "accelerator": encode_fields(profile.accelerator, "id name vendor announced status form_factor platform")
        | {"category": profile.category, "released": _find_text(profile, "release_date")},
        "tags": encode_each(profile.tags, "id text rule"),
        "specifications": [_write_specification(each) for each in profile.attributes.values() if each.preferred],
        "strengths": [_write_trait(each) for each in profile.traits if each.is_strength],
        "considerations": [_write_trait(each) for each in profile.traits if not each.is_strength],
        "capabilities": [_write_capability(each) for each in profile.capabilities],
        "diffusion": [_write_capability(each) for each in profile.diffusion],
        "limits": encode_each(profile.limits, "resource headroom used remedy reason"),
        "scale": encode_each(
            profile.scale, "count memory_bytes models_held models figure per_accelerator bandwidth_rule reason"
        ),
        "out_of_reach": [
            encode_fields(each, "model weights missing_bytes count smaller_format figure usd_per_million_output reason")
            | {"request": _write_request(each.request)}
            for each in profile.out_of_reach
        ],
        "upgrades": encode_each(
            profile.upgrades,
            "accelerator count unlocked speedup extra_usd usd_per_unlocked announced within_budget reason",
        ),
        "recommendations": [
            encode_fields(each, "job model weights score factors context_tokens single figure serving_engine basis why")
            | {"request": _write_request(each.request)}
            for each in profile.recommendations
        ],
        "peers": encode_each(profile.peers, "attribute value mean members rivals"),
        "category_members": list(profile.category_members),
        "generation_members": list(profile.generation_members),
        "rivals_by_price": list(profile.rivals_by_price),
        "rivals_by_memory": list(profile.rivals_by_memory),
        "advice": encode_fields(profile.advice, "verdict runs_well fits models rule checks"),
        "notes": [format_message(each) for each in profile.notes],
    }


def _find_text(profile: AcceleratorProfile, attribute: str) -> str | None:
    claims = profile.attributes.get(attribute)
    return None if claims is None or claims.value is None else str(claims.value)


def _write_specification(claims: AttributeClaims) -> dict[str, Any]:
    """Return an attribute with the value taken, and who states it."""
    claim = claims.preferred
    source = None if claim is None else claim.source
    return {
        "attribute": claims.name,
        "value": encode_value(claims.value),
        "unit": claims.unit,
        "disputed": claims.disputed,
        "source": None if source is None else encode_fields(source, "id title publisher url date"),
        "retrieved": None if claim is None else claim.retrieved,
    }


def _write_capability(capability: Capability) -> dict[str, Any]:
    """Return a row; of images and videos with their settings, of text with its request."""
    row = encode_fields(
        capability, "task status model weights count context_tokens figure single unit basis queues reason"
    )
    if capability.unit == "tok/s":
        return row | {"request": _write_request(capability.request)}
    estimate = capability.diffusion
    if estimate is None:
        return row | {"settings": None, "grade": None}
    settings = encode_fields(estimate.request, "width height frames steps batch software")
    return row | {"settings": settings, "grade": encode_value(estimate.grade)}


def _write_trait(trait: Trait) -> dict[str, Any]:
    return encode_fields(trait, "id text attribute standing")


def _write_request(request: EstimateRequest | None) -> dict[str, Any] | None:
    """Return what opens the scenario of a row: the options of `gpudesk estimate`."""
    if request is None:
        return None
    work = request.workload
    return encode_fields(request, "accelerator model weights kv count serving_engine") | {
        "input_tokens": work.input_tokens,
        "output_tokens": work.output_tokens,
        "concurrency": work.load.concurrency,
    }
