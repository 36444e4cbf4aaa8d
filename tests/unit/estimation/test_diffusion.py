"""Estimates of diffusion models on the real catalog: measured runs, refuted statements, refusals."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from gpudesk.domain.diffusion import DiffusionGrade, DiffusionRequest, DiffusionSoftware
from gpudesk.domain.estimate import EstimateBasis
from gpudesk.domain.precision import Precision
from gpudesk.estimation.diffusion import read_diffusion_constants
from gpudesk.service import GpuDeskService
from gpudesk.text.messages import InputError, format_input_error, format_message


def test_measured_times_lie_within_the_interval_four_times_in_five(service: GpuDeskService) -> None:
    constants = service.diffusion.constants
    runs = service.diffusion.measured_runs
    misses = [abs(math.log(run.compute_item_s(constants) / run.item_s)) for run in runs]
    within = sum(miss <= math.log(constants.interval_factors["calibrated"]) for miss in misses) / len(misses)
    assert len(runs) > 60
    assert 0.75 <= within <= 0.90
    assert max(misses) < math.log(2.6)


def test_dimensions_agree_with_the_parameters_that_are_stated(service: GpuDeskService) -> None:
    for model in service.catalog.diffusion_models():
        architecture = model.architecture
        if architecture is None:
            assert model.id.startswith("magi-"), "whose dimensions no source gave"
            continue
        parameters = service.catalog.attribute(model.id, "parameters").value
        assert isinstance(parameters, int)
        assert 0.84 < architecture.parameters / parameters < 1.13, model.id


def test_a_statement_faster_than_the_full_peak_is_refuted(service: GpuDeskService) -> None:
    estimate = service.estimate_diffusion(DiffusionRequest("mi325x", "flux1-dev"))
    assert estimate.flop_per_step * 28 / 1.2 / 1e12 == pytest.approx(1735, abs=1), "TFLOPS that 1.2 s would need"
    assert estimate.floor_s == pytest.approx(1.593, abs=5e-4)
    assert estimate.item_s is not None
    assert estimate.item_s.low >= estimate.floor_s
    (refuted,) = (note for note in estimate.notes if note.id == "diffusion.refuted")
    assert "1.20" in format_message(refuted)
    assert "1.59" in format_message(refuted)


def test_defaults_are_those_of_the_pipeline(service: GpuDeskService) -> None:
    estimate = service.estimate_diffusion(DiffusionRequest("h100-sxm", "wan2.1-1.3b"))
    request = estimate.request
    assert (request.width, request.height, request.frames, request.steps) == (832, 480, 81, 50)


def test_diffusion_basis_follows_the_measurements(service: GpuDeskService) -> None:
    def basis(accelerator: str, model: str) -> EstimateBasis:
        return service.estimate_diffusion(DiffusionRequest(accelerator, model)).basis

    assert basis("h200-sxm", "flux1-dev") is EstimateBasis.CALIBRATED, "H100 is of its generation"
    assert basis("mi325x", "flux1-dev") is EstimateBasis.ESTIMATED
    assert basis("h100-sxm", "mochi-1") is EstimateBasis.UNCALIBRATED


def test_intervals_widen_with_less_evidence(service: GpuDeskService) -> None:
    widths = []
    for accelerator, model in (("h100-sxm", "flux1-dev"), ("mi325x", "flux1-dev"), ("h100-sxm", "mochi-1")):
        band = service.estimate_diffusion(DiffusionRequest(accelerator, model)).item_s
        assert band is not None
        widths.append(band.high / band.value)
    assert widths == sorted(widths)
    assert widths[1] >= 2.5


def test_the_nearest_run_is_of_the_same_conditions(service: GpuDeskService) -> None:
    request = DiffusionRequest("h100-sxm", "flux1-dev", software=DiffusionSoftware.EAGER)
    nearest = service.estimate_diffusion(request).nearest
    assert nearest is not None
    assert nearest.measured_s == 6.71
    assert nearest.computed_s == pytest.approx(6.71, rel=0.1)


def test_oversized_model_has_no_time(service: GpuDeskService) -> None:
    estimate = service.estimate_diffusion(DiffusionRequest("rtx-4090", "flux1-dev"))
    assert not estimate.fits
    assert estimate.item_s is None
    assert estimate.grade is None
    narrow = service.estimate_diffusion(DiffusionRequest("rtx-4090", "sdxl", weights=Precision.FP8))
    assert narrow.fits
    assert narrow.grade is DiffusionGrade.USABLE


def test_accelerators_multiply_items_or_share_one(service: GpuDeskService) -> None:
    one, four, together = (
        service.estimate_diffusion(
            DiffusionRequest("h100-sxm", "flux1-dev", count=count, sequence_parallel=sequence_parallel)
        )
        for count, sequence_parallel in ((1, False), (4, False), (4, True))
    )
    assert one.item_s is not None
    assert one.items_per_hour is not None
    assert four.items_per_hour is not None
    assert together.item_s is not None
    assert four.item_s == one.item_s
    assert four.items_per_hour.value == pytest.approx(4 * one.items_per_hour.value)
    assert together.item_s.value == pytest.approx(1.63, rel=0.4), "measured on four H100"


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"model": "flux1"}, "unknown diffusion model 'flux1'; did you mean"),
        ({"model": "magi-1-24b"}, "the catalog lacks the dimensions of MAGI-1 24B"),
        ({"frames": 25}, "frames: flux1-dev makes images, not video"),
        ({"steps": 0}, "steps: 0 is not between 1 and 1,000"),
        ({"width": 10}, "width: 10 is not between 64 and 8,192"),
        ({"model": "sdxl", "count": 2, "sequence_parallel": True}, "a UNet does not run on several accelerators"),
        ({"accelerator": "h100"}, "unknown accelerator 'h100'"),
    ],
)
def test_refusals_name_the_field(service: GpuDeskService, fields: dict[str, object], text: str) -> None:
    request = DiffusionRequest(**({"accelerator": "h100-sxm", "model": "flux1-dev"} | fields))  # type: ignore[arg-type]
    with pytest.raises(InputError) as caught:
        service.estimate_diffusion(request)
    assert text in format_input_error(caught.value)


def test_wrong_constants_name_their_file(tmp_path: Path) -> None:
    file = tmp_path / "diffusion_constants.toml"
    file.write_text("peak_share = 0.7\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_diffusion_constants(file)
    assert "diffusion_constants.toml" in format_input_error(caught.value)
