"""Estimates of diffusion models: the request with its defaults, times with intervals, memory, and measured runs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Final, NamedTuple

from gpudesk.catalog.read import Catalog
from gpudesk.domain.accelerator import Accelerator
from gpudesk.domain.claim import CatalogEntryKind
from gpudesk.domain.diffusion import (
    DiffusionArchitecture,
    DiffusionEstimate,
    DiffusionModel,
    DiffusionRequest,
    DiffusionResult,
    DiffusionRun,
    NearestDiffusionRun,
)
from gpudesk.domain.estimate import EstimateBasis
from gpudesk.engine.diffusion import (
    DiffusionCeilings,
    DiffusionConstants,
    DiffusionTimes,
    DiffusionWork,
    compute_diffusion_memory,
    compute_diffusion_times,
    compute_diffusion_work,
    compute_grade_limits,
    find_ceilings,
    grade_diffusion,
)
from gpudesk.files import read_toml
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.formatting import IntervalEstimate
from gpudesk.text.messages import Message, input_error, message

#: Bounds of a request: pixels of a side, frames, steps, items in a batch, accelerators.
SIZE_LIMITS: Final = {
    "width": (64, 8192),
    "height": (64, 8192),
    "frames": (1, 2000),
    "steps": (1, 1000),
    "batch": (1, 1024),
    "count": (1, 1024),
}


class DiffusionCalibration(NamedTuple):
    """The constants, and dense peaks in FLOP/s of accelerators outside the catalog by printed name and precision."""

    constants: DiffusionConstants
    peaks: Mapping[str, Mapping[str, float]]


def read_diffusion_constants(path: Path) -> DiffusionCalibration:
    """Return the content of data/diffusion_constants.toml; raises `InputError` that names the file."""
    # Loads pydantic, which estimates of language models do without.
    from gpudesk.input_records import parse_record

    document = read_toml(path)
    peaks = {
        name: {precision: tflops * 1e12 for precision, tflops in entry.items()}
        for name, entry in document.pop("peaks", {}).items()
    }
    return DiffusionCalibration(parse_record(DiffusionConstants, document, f"{path}:"), peaks)


@frozen_dataclass
class MeasuredDiffusionRun:
    """A measured time with its conditions, ready to be computed again."""

    model: DiffusionModel
    architecture: DiffusionArchitecture
    result: DiffusionResult
    run: DiffusionRun
    ceilings: DiffusionCeilings
    item_s: float

    @property
    def request(self) -> DiffusionRequest:
        run, together = self.run, self.result.count > 1 and not self.result.is_throughput
        return DiffusionRequest(
            self.result.accelerator or "",
            self.model.id,
            self.result.count,
            run.weights,
            run.width,
            run.height,
            run.frames,
            run.steps,
            run.batch,
            run.software,
            together,
        )

    def compute_times(self, constants: DiffusionConstants) -> DiffusionTimes:
        work = compute_diffusion_work(self.architecture, self.run.width, self.run.height, self.run.frames)
        return compute_diffusion_times(self.architecture, self.request, work, self.ceilings, constants)

    def compute_item_s(self, constants: DiffusionConstants) -> float:
        return float(self.compute_times(constants).batch_s) / self.run.batch


class DiffusionEstimator:
    """Estimates one deployment at a time from the catalog and the constants."""

    def __init__(self, catalog: Catalog, calibration: DiffusionCalibration) -> None:
        self._catalog = catalog
        self.constants = calibration.constants
        self._peaks = calibration.peaks

    @cached_property
    def measured_runs(self) -> tuple[MeasuredDiffusionRun, ...]:
        """Every measured time with comparable conditions, in the order of the catalog."""
        return tuple(self._iterate_runs())

    def _iterate_runs(self) -> Iterator[MeasuredDiffusionRun]:
        for model in self._catalog.diffusion_models():
            for result in model.results:
                run, item_s = result.run, result.item_s
                if result.estimated or run is None or item_s is None or model.architecture is None:
                    continue
                if result.accelerator is None:
                    # The bandwidth is unknown there; no measured run is memory-bound.
                    ceilings = find_ceilings(self._peaks.get(result.part, {}), math.inf, run.weights)
                else:
                    accelerator = self._catalog.accelerator(result.accelerator)
                    ceilings = find_ceilings(accelerator.peak_dense, accelerator.memory_bandwidth, run.weights)
                if ceilings is not None:
                    yield MeasuredDiffusionRun(model, model.architecture, result, run, ceilings, item_s)

    def estimate(self, request: DiffusionRequest) -> DiffusionEstimate:
        """Return the estimate of one deployment.

        Raises `InputError` for an unknown id, a size out of range, a model without dimensions, and an accelerator
        without a 16-bit peak.
        """
        accelerator = self._catalog.accelerator(request.accelerator)
        model = self._catalog.diffusion_model(request.model)
        architecture = _get_architecture(model)
        request = _fill_in(request, architecture)
        ceilings = find_ceilings(accelerator.peak_dense, accelerator.memory_bandwidth, request.weights)
        if ceilings is None:
            raise input_error(
                "diffusion.no_peak", "the 16-bit peak of {name} is not known", "accelerator", name=accelerator.name
            )
        width, height, frames = request.width or 0, request.height or 0, request.frames or 1
        work = compute_diffusion_work(architecture, width, height, frames)
        memory = compute_diffusion_memory(architecture, request, work, accelerator, self.constants)
        times = compute_diffusion_times(architecture, request, work, ceilings, self.constants)
        rate = architecture.frames_per_second
        clip_s = None if rate is None else frames / rate
        basis = self._find_basis(model, accelerator)
        estimate = DiffusionEstimate(
            request=request,
            memory=memory,
            basis=basis,
            flop_per_step=architecture.guidance_passes * work.pass_flop,
            floor_s=float(times.floor_s) / request.batch,
            clip_s=clip_s,
            grade_limits_s=compute_grade_limits(clip_s, self.constants),
            item_s=None,
            batch_s=None,
            step_s=None,
            items_per_hour=None,
            grade=None,
            nearest=self._find_nearest(model, accelerator, request),
        )
        if estimate.fits:
            estimate = self._add_times(estimate, times)
        return replace(estimate, notes=tuple(self._iterate_notes(estimate, model, work)))

    def _add_times(self, estimate: DiffusionEstimate, times: DiffusionTimes) -> DiffusionEstimate:
        request = estimate.request
        factor = self.constants.interval_factors[estimate.basis]

        def band(value: float, least: float) -> IntervalEstimate:
            return IntervalEstimate(value, max(value / factor, least), value * factor)

        batch_s = band(float(times.batch_s), float(times.floor_s))
        item_s = IntervalEstimate(*(each / request.batch for each in batch_s))
        replicas = 1 if request.sequence_parallel else request.count
        per_hour = IntervalEstimate(*(3600.0 * replicas / each for each in (item_s.value, item_s.high, item_s.low)))
        return replace(
            estimate,
            item_s=item_s,
            batch_s=batch_s,
            step_s=band(float(times.step_s), float(times.floor_s) / (request.steps or 1)),
            items_per_hour=per_hour,
            grade=grade_diffusion(batch_s.value, estimate.grade_limits_s),
        )

    def _find_basis(self, model: DiffusionModel, accelerator: Accelerator) -> EstimateBasis:
        """Return the kind of measured runs: of the model on the generation, of both separately, or of at most one."""
        models = {run.model.id for run in self.measured_runs}
        generations = {
            (run.model.id, self._catalog.accelerator(run.result.accelerator).generation)
            for run in self.measured_runs
            if run.result.accelerator is not None
        }
        if (model.id, accelerator.generation) in generations:
            return EstimateBasis.CALIBRATED
        if model.id in models and any(generation == accelerator.generation for _, generation in generations):
            return EstimateBasis.ESTIMATED
        return EstimateBasis.UNCALIBRATED

    def _find_nearest(
        self, model: DiffusionModel, accelerator: Accelerator, request: DiffusionRequest
    ) -> NearestDiffusionRun | None:
        """Return the measured run of the model with the nearest conditions; else one of the accelerator, or None."""

        def distance(measured: MeasuredDiffusionRun) -> tuple[float, ...]:
            run, other = measured.run, measured.result.accelerator
            generation = None if other is None else self._catalog.accelerator(other).generation
            size = run.width * run.height * run.frames * run.steps
            requested_size = (request.width or 1) * (request.height or 1) * (request.frames or 1) * (request.steps or 1)
            return (
                measured.model.id != model.id,
                other != accelerator.id,
                generation != accelerator.generation,
                run.software is not request.software,
                measured.request.sequence_parallel is not request.sequence_parallel,
                abs(math.log(size / requested_size)),
                abs(math.log(measured.result.count / request.count)),
            )

        near = [each for each in self.measured_runs if each.model is model or each.result.accelerator == accelerator.id]
        if not near:
            return None
        best = min(near, key=distance)
        return NearestDiffusionRun(best.model.id, best.result, best.item_s, best.compute_item_s(self.constants))

    def _iterate_notes(
        self, estimate: DiffusionEstimate, model: DiffusionModel, work: DiffusionWork
    ) -> Iterator[Message]:
        request = estimate.request
        if estimate.basis is not EstimateBasis.CALIBRATED:
            yield message(
                "diffusion.wide",
                "no measured run of {model} on this generation of accelerators, so the interval is wide: ×/÷ {factor}",
                model=model.name,
                factor=self.constants.interval_factors[estimate.basis],
            )
        if work.decoder_flop == 0:
            yield message("diffusion.no_decoder", "the time of the decoder is not known and left out")
        if request.sequence_parallel and request.count > _MOST_MEASURED_TOGETHER:
            yield message(
                "diffusion.beyond_measured",
                "runs on one item are measured on at most {n} accelerators",
                n=_MOST_MEASURED_TOGETHER,
            )
        for result in model.results:
            run, published_s = result.run, result.item_s
            if not result.estimated or run is None or published_s is None or result.accelerator != request.accelerator:
                continue
            if (run.width, run.height, run.frames, run.steps) == (
                request.width,
                request.height,
                request.frames,
                request.steps,
            ) and request.count == result.count:
                yield _compare_statement(published_s, estimate, result)


#: The note on a published time that the peak of the accelerator does not allow.
REFUTED: Final = "diffusion.refuted"
#: Maximum accelerators on one item in the measured runs.
_MOST_MEASURED_TOGETHER: Final = 8


def _compare_statement(published_s: float, estimate: DiffusionEstimate, result: DiffusionResult) -> Message:
    """Return how the time stated by a document compares with the estimate."""
    if published_s < estimate.floor_s:
        return message(
            "diffusion.refuted",
            "{source} states {stated}: not possible, the arithmetic takes {floor} at full peak",
            source=result.source.title,
            stated=(published_s, "s"),
            floor=(estimate.floor_s, "s"),
        )
    parameters: dict[str, str | tuple[float, str]] = {"source": result.source.title, "stated": (published_s, "s")}
    if estimate.item_s is not None and estimate.item_s.low <= published_s <= estimate.item_s.high:
        return message("diffusion.stated_within", "{source} states {stated}, within the interval", **parameters)
    return message("diffusion.stated_outside", "{source} states {stated}, outside the interval", **parameters)


def _get_architecture(model: DiffusionModel) -> DiffusionArchitecture:
    if model.architecture is None:
        raise input_error(
            "diffusion.no_dimensions",
            "the catalog lacks the dimensions of {model}, which its time and memory follow from",
            "model",
            model=model.name,
        )
    return model.architecture


def _fill_in(request: DiffusionRequest, architecture: DiffusionArchitecture) -> DiffusionRequest:
    """Return the request with the defaults of the model's pipeline; raises `InputError` for invalid values."""
    full_request = replace(
        request,
        width=architecture.width if request.width is None else request.width,
        height=architecture.height if request.height is None else request.height,
        frames=architecture.frames if request.frames is None else request.frames,
        steps=architecture.steps if request.steps is None else request.steps,
    )
    for name, (least, most) in SIZE_LIMITS.items():
        value = getattr(full_request, name)
        if not least <= value <= most:
            raise input_error(
                "diffusion.range", "{value} is not between {low} and {high}", name, value=value, low=least, high=most
            )
    if architecture.frames_per_second is None and full_request.frames != 1:
        raise input_error("diffusion.image_frames", "{model} makes images, not video", "frames", model=request.model)
    if full_request.sequence_parallel and architecture.is_unet:
        raise input_error(
            "diffusion.unet_parallel",
            "a UNet does not run on several accelerators at once; each makes separate images",
            "sequence_parallel",
        )
    return full_request


def is_diffusion_model(catalog: Catalog, model: str) -> bool:
    """Whether an id is that of a diffusion model; unknown ids are not."""
    return any(thing.id == model for thing in catalog.things(CatalogEntryKind.DIFFUSION_MODEL))
