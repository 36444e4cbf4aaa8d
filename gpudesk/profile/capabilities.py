"""The capability matrix: tasks done natively, in fewer bits, with several accelerators, or not at all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from gpudesk.domain.diffusion import DiffusionEstimate, DiffusionRequest, DiffusionSettings
from gpudesk.domain.estimate import MISSING_FACTS, Estimate, EstimateRequest
from gpudesk.domain.precision import STORAGE_FORMATS, Precision
from gpudesk.domain.profile import Capability, CapabilityStatus, ScaleStep
from gpudesk.engine.engine_support import scale_bandwidth
from gpudesk.estimation.diffusion import REFUTED, DiffusionEstimator
from gpudesk.profile.placements import ModelPlacement, ProfileContext, explain_answer
from gpudesk.profile.settings import ProfileTask
from gpudesk.text.messages import FormatName, InputError, Message, message, message_n

#: Formats of denoisers, as published first, with the bits of the published format.
_DIFFUSION_FORMATS: Final = (Precision.BF16, Precision.FP8, Precision.INT4)
_PUBLISHED_BITS: Final = 16
_PIPELINE_SETTINGS: Final = DiffusionSettings()


def list_capability_requests(context: ProfileContext) -> list[EstimateRequest]:
    return [
        context.memo.make_request(
            context.accelerator.id,
            placement.model.id,
            deployment.weights,
            placement.deployed_count,
            deployment.kv,
            alone=alone,
        )
        for _, placement in _iterate_text_tasks(context)
        if (deployment := placement.deployment) is not None
        for alone in (False, True)
    ]


def list_capabilities(context: ProfileContext) -> tuple[Capability, ...]:
    """Return the rows of text models, in the order of the settings."""
    return tuple(_make_capability(task, placement, context) for task, placement in _iterate_text_tasks(context))


def _iterate_text_tasks(context: ProfileContext) -> Iterator[tuple[ProfileTask, ModelPlacement]]:
    for task in context.settings.tasks:
        if task.settings is None and (placement := _choose(task, context)) is not None:
            yield task, placement


def _choose(task: ProfileTask, context: ProfileContext) -> ModelPlacement | None:
    """Return the first model of a task that is placed, else the first in the catalog."""
    known = [context.placements[model] for model in task.models if model in context.placements]
    return next((each for each in known if each.deployment is not None), known[0] if known else None)


def _make_capability(task: ProfileTask, placement: ModelPlacement, context: ProfileContext) -> Capability:
    deployment, count, model = placement.deployment, placement.deployed_count, placement.model.id
    if deployment is None or count is None:
        reason = placement.explain(context.finder.tokens)
        is_unknown = reason.id in MISSING_FACTS
        return Capability(
            task.id,
            CapabilityStatus.UNKNOWN if is_unknown else CapabilityStatus.IMPOSSIBLE,
            model,
            placement.published,
            reason=reason,
        )
    request, alone = (
        context.memo.make_request(context.accelerator.id, model, deployment.weights, count, deployment.kv, alone=alone)
        for alone in (False, True)
    )
    at_load, single = context.memo.answer([request, alone])
    fits_load = isinstance(at_load, Estimate) and at_load.fits
    return Capability(
        task.id,
        _judge(placement, count),
        model,
        deployment.weights,
        count,
        placement.find_longest_context(),
        at_load.output_tokens_per_s if isinstance(at_load, Estimate) else None,
        single.output_tokens_per_s if isinstance(single, Estimate) else None,
        basis=at_load.basis if isinstance(at_load, Estimate) and fits_load else None,
        request=request,
        queues=isinstance(at_load, Estimate) and fits_load and at_load.queues,
        reason=_explain_row(at_load, placement, context),
    )


def _judge(placement: ModelPlacement, count: int) -> CapabilityStatus:
    if count > 1:
        return CapabilityStatus.NEEDS_MORE
    return CapabilityStatus.NATIVE if placement.is_native else CapabilityStatus.QUANTIZED


def _explain_row(at_load: Estimate | InputError, placement: ModelPlacement, context: ProfileContext) -> Message | None:
    """Return why there is no figure, that requests wait, or why the published format is not used."""
    if not isinstance(at_load, Estimate) or not at_load.fits:
        return explain_answer(at_load)
    if at_load.queues:
        return message(
            "profile.capability.queues",
            "{admitted} of {concurrency} run at once",
            admitted=at_load.admitted or 0,
            concurrency=at_load.concurrency or 0,
        )
    published = placement.formats[0]
    if placement.is_native or published.step is None or published.step.memory.plan.count > (at_load.count or 1):
        return None
    return message_n(
        "profile.capability.crowded",
        "{weights} weights leave room for {held} request of {tokens} tokens",
        "{weights} weights leave room for {held} requests of {tokens} tokens",
        "held",
        weights=FormatName(published.weights),
        held=published.step.memory.budget.max_sequences(context.finder.tokens),
        tokens=context.finder.tokens,
    )


# Images and videos


def list_media_capabilities(context: ProfileContext, estimator: DiffusionEstimator) -> tuple[Capability, ...]:
    """Return the rows of images and videos, in the order of the settings; models without dimensions are left out."""
    rows = []
    for task in context.settings.tasks:
        if task.settings is None:
            continue
        settings = _find_settings(task.id, task.settings, context)
        capabilities = [
            capability
            for model in task.models
            if (capability := _place_diffusion(task.id, model, settings, context, estimator)) is not None
        ]
        fitting = [each for each in capabilities if each.figure is not None]
        rows += fitting[:1] or capabilities[:1]
    return tuple(rows)


def list_diffusion_models(context: ProfileContext, estimator: DiffusionEstimator) -> tuple[Capability, ...]:
    """Return a row for each image and video model of known dimensions, at the settings of its pipeline."""
    rows = (
        _place_diffusion(
            model.medium,
            model.id,
            _find_settings(f"{model.medium}:{model.id}", _PIPELINE_SETTINGS, context),
            context,
            estimator,
        )
        for model in context.catalog.diffusion_models()
    )
    return tuple(each for each in rows if each is not None)


def _find_settings(row: str, usual: DiffusionSettings, context: ProfileContext) -> DiffusionSettings:
    """Return the user's settings of a row, or the defaults."""
    return (context.question.media or {}).get(row, usual)


def _place_diffusion(
    task: str, model: str, settings: DiffusionSettings, context: ProfileContext, estimator: DiffusionEstimator
) -> Capability | None:
    """Return a model in the format of the settings, else in the first that fits; None without known dimensions."""
    if context.catalog.diffusion_model(model).architecture is None:
        return None
    request = DiffusionRequest(
        context.accelerator.id,
        model,
        width=settings.width,
        height=settings.height,
        frames=settings.frames,
        steps=settings.steps,
        batch=settings.batch,
        software=settings.software,
    )
    estimate: DiffusionEstimate | None = None
    for weights in _DIFFUSION_FORMATS if settings.weights is None else (settings.weights,):
        try:
            estimate = estimator.estimate(replace(request, weights=weights))
        except InputError as error:
            is_unknown = error.problem.id in MISSING_FACTS
            status = CapabilityStatus.UNKNOWN if is_unknown else CapabilityStatus.IMPOSSIBLE
            return Capability(task, status, model, unit="s", reason=error.problem)
        if estimate.fits:
            is_native = STORAGE_FORMATS[weights].bits >= _PUBLISHED_BITS
            return Capability(
                task,
                CapabilityStatus.NATIVE if is_native else CapabilityStatus.QUANTIZED,
                model,
                weights,
                1,
                figure=estimate.item_s,
                unit="s",
                basis=estimate.basis,
                diffusion=estimate,
                reason=next((note for note in estimate.notes if note.id == REFUTED), None),
            )
    assert estimate is not None
    missing = (float(-estimate.memory.free_bytes), "B")
    reason = (
        message("profile.diffusion.unfit", "Needs {missing} more memory, even with 4-bit weights", missing=missing)
        if settings.weights is None
        else message("profile.diffusion.short", "Needs {missing} more memory with these settings", missing=missing)
    )
    return Capability(
        task, CapabilityStatus.IMPOSSIBLE, model, estimate.request.weights, unit="s", diffusion=estimate, reason=reason
    )


# Several accelerators


def list_scale_counts(context: ProfileContext) -> list[int]:
    """Return the counts within one host or scale-up domain."""
    return [count for count in context.settings.counts if count <= context.accelerator.cards_per_host]


def list_scale_steps(context: ProfileContext) -> tuple[ScaleStep, ...]:
    """Return the table of counts: memory, catalog models that fit, and rates of the profile's model."""
    accelerator = context.accelerator
    counts = list_scale_counts(context)
    needed = sorted(
        best.count for each in context.placements.values() if (best := each.best) is not None and best.count is not None
    )
    requests = [
        request for count in counts if (request := context.make_model_request(accelerator.id, count)) is not None
    ]
    answers: Sequence[Estimate | InputError | None] = context.memo.answer(requests) or [None] * len(counts)
    return tuple(
        _make_scale_step(count, sum(each <= count for each in needed), answer, context)
        for count, answer in zip(counts, answers, strict=True)
    )


def _make_scale_step(
    count: int, models_held: int, answer: Estimate | InputError | None, context: ProfileContext
) -> ScaleStep:
    accelerator = context.accelerator
    estimate = answer if isinstance(answer, Estimate) and answer.fits else None
    return ScaleStep(
        count,
        count * accelerator.memory_bytes,
        models_held,
        len(context.placements),
        None if estimate is None else estimate.output_tokens_per_s,
        None if estimate is None else estimate.output_tokens_per_s_per_accelerator,
        scale_bandwidth(accelerator.memory_bandwidth, count),
        context.explain_no_model() if answer is None else explain_answer(answer),
    )
