"""The capability matrix: what an accelerator does natively, in fewer bits, with more of its kind, or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from gpudesk.domain.estimate import Estimate
from gpudesk.domain.profile import Capability, CapabilityStatus, ScaleStep
from gpudesk.engine.plans import scale_bandwidth
from gpudesk.profile.placements import ModelPlacement
from gpudesk.profile.settings import ProfileTask
from gpudesk.text.messages import InputError, Message, message

if TYPE_CHECKING:
    from gpudesk.profile.context import ProfileContext

#: Refusals that rest on a missing fact rather than on what the accelerator is.
_MISSING_FACTS: Final = frozenset({"estimate.no_peak", "model.no_dimensions"})


def list_capabilities(context: ProfileContext) -> tuple[Capability, ...]:
    """Return the rows of text models, in the order of the settings."""
    tasks = [(task, placement) for task in context.settings.tasks if (placement := _choose(task, context)) is not None]
    requests = [
        context.memo.make_request(context.accelerator.id, placement.model.id, best.weights, best.count, alone=alone)
        for _, placement in tasks
        if (best := placement.best) is not None
        for alone in (False, True)
    ]
    context.memo.answer(requests)
    return tuple(_make_capability(task, placement, context) for task, placement in tasks)


def _choose(task: ProfileTask, context: ProfileContext) -> ModelPlacement | None:
    """Return the first model of a task that is placed, else the first that the catalog has."""
    if task.is_diffusion:
        return None
    known = [context.placements[model] for model in task.models if model in context.placements]
    return next((each for each in known if each.best is not None), known[0] if known else None)


def _make_capability(task: ProfileTask, placement: ModelPlacement, context: ProfileContext) -> Capability:
    best, model = placement.best, placement.model.id
    if best is None or best.count is None:
        reason = placement.explain(context.finder.tokens)
        is_unknown = reason.id in _MISSING_FACTS
        return Capability(
            task.id,
            CapabilityStatus.UNKNOWN if is_unknown else CapabilityStatus.IMPOSSIBLE,
            model,
            placement.published,
            reason=reason,
        )
    request, alone = (
        context.memo.make_request(context.accelerator.id, model, best.weights, best.count, alone=alone)
        for alone in (False, True)
    )
    at_load, single = context.memo.answer([request, alone])
    held = isinstance(at_load, Estimate) and at_load.fits
    return Capability(
        task.id,
        _judge(placement, best.count),
        model,
        best.weights,
        best.count,
        placement.find_longest_context(),
        at_load.output_tokens_per_s if isinstance(at_load, Estimate) else None,
        single.output_tokens_per_s if isinstance(single, Estimate) else None,
        basis=at_load.basis if isinstance(at_load, Estimate) and held else None,
        request=request,
        reason=_explain(at_load),
    )


def _judge(placement: ModelPlacement, count: int) -> CapabilityStatus:
    if count > 1:
        return CapabilityStatus.NEEDS_MORE
    return CapabilityStatus.NATIVE if placement.is_native else CapabilityStatus.QUANTIZED


def _explain(answer: Estimate | InputError) -> Message | None:
    return answer.problem if isinstance(answer, InputError) else answer.reason


def list_scale_steps(context: ProfileContext) -> tuple[ScaleStep, ...]:
    """Return the table of counts: memory, the models of the catalog that fit, and rates of the profile's model."""
    accelerator, model = context.accelerator, context.model
    counts = [count for count in context.settings.counts if count <= accelerator.cards_per_host]
    needed = sorted(
        best.count for each in context.placements.values() if (best := each.best) is not None and best.count is not None
    )
    answers: Sequence[Estimate | InputError | None] = [None] * len(counts)
    best = None if model is None else context.placements[model].best
    if model is not None and best is not None:
        answers = context.memo.answer(
            [context.memo.make_request(accelerator.id, model, best.weights, count) for count in counts]
        )
    return tuple(
        _make_scale_step(count, sum(each <= count for each in needed), answer, context)
        for count, answer in zip(counts, answers, strict=True)
    )


def _make_scale_step(count: int, held: int, answer: Estimate | InputError | None, context: ProfileContext) -> ScaleStep:
    accelerator = context.accelerator
    estimate = answer if isinstance(answer, Estimate) and answer.fits else None
    return ScaleStep(
        count,
        count * accelerator.memory_bytes,
        held,
        len(context.placements),
        None if estimate is None else estimate.output_tokens_per_s,
        None if estimate is None else estimate.output_tokens_per_s_per_accelerator,
        scale_bandwidth(accelerator.memory_bandwidth, count),
        message("profile.no_model", "None of the 5 common models fits on one accelerator")
        if answer is None
        else _explain(answer),
    )
