"""Estimates of diffusion models as rows of text, as a table of what fits, and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from gpudesk.domain.diffusion import DiffusionEstimate, DiffusionGrade, DiffusionRequest, NearestDiffusionRun
from gpudesk.domain.estimate_json import encode_fields, encode_value
from gpudesk.report.labels import label_precision
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter
from gpudesk.text.messages import capitalize_first, format_message
from gpudesk.text.translation import tr, trn
from gpudesk.text.units import GIB

_GRADES: Final[Mapping[DiffusionGrade, str]] = {
    DiffusionGrade.FAST: "fast (below {fast})",
    DiffusionGrade.USABLE: "usable (fast below {fast}, usable below {usable})",
    DiffusionGrade.SLOW: "slow (usable below {usable})",
}
_MEMORY_PARTS: Final[Mapping[str, str]] = {
    "capacity_bytes": "Capacity",
    "denoiser_bytes": "Weights",
    "text_encoder_bytes": "Text encoders",
    "decoder_bytes": "Decoder",
    "activations_bytes": "Activations",
    "runtime_bytes": "Runtime",
}


def list_diffusion_facts(
    estimate: DiffusionEstimate, names: Mapping[str, str], formatter: Formatter
) -> list[tuple[str, str]]:
    """Return labels with texts; `names` are those of models and accelerators by their ids."""
    request = estimate.request
    facts = [
        (tr("Model"), names.get(request.model, request.model)),
        (tr("Size and steps"), describe_diffusion_item(request, estimate.clip_s, formatter)),
        (tr("Software"), f"{request.software.label}, {label_precision(request.weights)}"),
        *_list_times(estimate, formatter),
        (tr("At full peak"), _describe_floor(estimate, formatter)),
        (tr("Method"), estimate.basis.label),
    ]
    if estimate.nearest is not None:
        facts.append((tr("Nearest measured run"), describe_nearest_run(estimate.nearest, names, formatter)))
    memory = estimate.memory
    facts += [(tr(label), formatter.memory(getattr(memory, name))) for name, label in _MEMORY_PARTS.items()]
    if estimate.fits:
        facts.append((tr("Free"), formatter.memory(memory.free_bytes)))
    return facts


def _list_times(estimate: DiffusionEstimate, formatter: Formatter) -> Iterator[tuple[str, str]]:
    if estimate.item_s is None or estimate.grade is None:
        yield tr("Does not fit"), describe_missing_memory(estimate, formatter)
        return
    batch, image = estimate.request.batch, estimate.clip_s is None
    yield tr("Time per image") if image else tr("Time per clip"), formatter.estimate_with_interval(estimate.item_s, "s")
    if batch > 1:
        yield tr("Time per batch"), formatter.estimate_with_interval(estimate.batch_s, "s")
    yield tr("Time per step"), formatter.estimate_with_interval(estimate.step_s, "s")
    yield (
        tr("Images per hour") if image else tr("Clips per hour"),
        formatter.estimate_with_interval(estimate.items_per_hour),
    )
    fast, usable = (formatter.quantity(limit, "s") for limit in estimate.grade_limits_s)
    yield tr("Grade"), tr(_GRADES[estimate.grade], fast=fast, usable=usable)


def _describe_floor(estimate: DiffusionEstimate, formatter: Formatter) -> str:
    return tr(
        "{time}: {steps} steps of {work}",
        time=formatter.quantity(estimate.floor_s, "s"),
        steps=formatter.count(estimate.request.steps),
        work=formatter.quantity(estimate.flop_per_step, "FLOP"),
    )


def describe_grades(estimates: Iterable[DiffusionEstimate], formatter: Formatter) -> str:
    """Return the thresholds of the grades of images and of videos, empty without estimates of both."""
    limits = {estimate.clip_s is None: estimate for estimate in estimates}
    if len(limits) < 2:
        return ""
    (fast, usable), clip = limits[True].grade_limits_s, limits[False]
    quick, slow = (limit / (clip.clip_s or 1.0) for limit in clip.grade_limits_s)
    return tr(
        "Fast: an image in {fast} s, a clip in {quick} times its length. Usable: {usable} s or {slow} times.",
        fast=formatter.number(fast),
        usable=formatter.number(usable),
        quick=formatter.number(quick),
        slow=formatter.number(slow),
    )


def describe_diffusion_item(request: DiffusionRequest, clip_s: float | None, formatter: Formatter) -> str:
    """Return the size and steps of an item, and how many are made at once and on which accelerators.

    `clip_s` is the length of a clip in seconds, if it is to be shown.
    """
    parts = [f"{request.width} × {request.height}"]
    frames = formatter.count(request.frames)
    if clip_s is not None:
        parts.append(tr("{n} frames ({length})", n=frames, length=formatter.quantity(clip_s, "s")))
    elif (request.frames or 1) > 1:
        parts.append(tr("{n} frames", n=frames))
    parts.append(trn("{n} step", "{n} steps", request.steps or 0, n=formatter.count(request.steps)))
    if request.batch > 1:
        parts.append(tr("batch {n}", n=formatter.count(request.batch)))
    if request.sequence_parallel:
        parts.append(tr("sequence parallel"))
    return ", ".join(parts)


def describe_missing_memory(estimate: DiffusionEstimate, formatter: Formatter) -> str:
    memory = estimate.memory
    return tr(
        "needs {needed} on each accelerator, which has {capacity}",
        needed=formatter.memory(memory.capacity_bytes - memory.free_bytes),
        capacity=formatter.memory(memory.capacity_bytes),
    )


def describe_nearest_run(nearest: NearestDiffusionRun, names: Mapping[str, str], formatter: Formatter) -> str:
    result = nearest.result
    return tr(
        "{count} × {part}, {model}, {setting}: {measured} measured, {computed} computed ({source})",
        count=formatter.count(result.count),
        part=result.part,
        model=names.get(nearest.model, nearest.model),
        setting=result.setting,
        measured=formatter.quantity(nearest.measured_s, "s"),
        computed=formatter.quantity(nearest.computed_s, "s"),
        source=result.source.publisher,
    )


def list_diffusion_notes(estimate: DiffusionEstimate, formatter: Formatter) -> list[str]:
    return [f"{capitalize_first(format_message(note, formatter))}." for note in estimate.notes]


#: Head of the table of fits, and its figure columns.
DIFFUSION_FIT_FIGURES: Final = (3,)


def list_diffusion_fit_rows(
    estimates: Sequence[DiffusionEstimate], names: Mapping[str, str], formatter: Formatter
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return head and rows of a table: one row for each estimate."""
    head: tuple[str, ...] = (tr("Model"), tr("Weights"), tr("Accelerator"), tr("Free GiB"), tr("Size, or reason"))
    rows: list[tuple[str, ...]] = [
        (
            names.get(each.request.model, each.request.model),
            label_precision(each.request.weights),
            names.get(each.request.accelerator, each.request.accelerator),
            formatter.gib(each.memory.free_bytes) if each.fits else MISSING_VALUE_TEXT,
            describe_diffusion_item(each.request, each.clip_s, formatter)
            if each.fits
            else capitalize_first(describe_missing_memory(each, formatter)),
        )
        for each in estimates
    ]
    return head, rows


def encode_diffusion_estimate(estimate: DiffusionEstimate) -> dict[str, Any]:
    """Return an estimate as JSON: the request, memory in GiB, times in seconds as value, low and high."""
    nearest, memory = estimate.nearest, estimate.memory
    return {
        **encode_fields(
            estimate.request,
            "accelerator model count weights width height frames steps batch software sequence_parallel",
        ),
        "fits": estimate.fits,
        **encode_fields(
            estimate, "item_s batch_s step_s items_per_hour grade grade_limits_s clip_s basis flop_per_step floor_s"
        ),
        "memory_gib": {
            name.removesuffix("_bytes"): value / GIB for name, value in zip(memory._fields, memory, strict=True)
        },
        "nearest": None
        if nearest is None
        else {
            "model": nearest.model,
            **encode_fields(nearest.result, "part accelerator count setting run"),
            "source": nearest.result.source.id,
            **encode_fields(nearest, "measured_s computed_s"),
        },
        "notes": encode_value(estimate.notes),
    }
