"""The constants of diffusion models are those that the fit to the measured runs gives."""

from pathlib import Path

import numpy as np
import pytest

from gpudesk.domain.diffusion import DiffusionSoftware
from gpudesk.service import GpuDeskService
from tests.packaging.scripts import load

SCRIPT = load(Path(__file__).parents[2] / "packaging" / "fit_diffusion.py")


def test_constants_are_those_of_the_fit() -> None:
    with GpuDeskService.open(with_user_facts=False) as service:
        runs, constants = service.diffusion.measured_runs, service.diffusion.constants
    fitted = SCRIPT.make_constants(SCRIPT.fit(runs, constants), constants)
    for name in ("peak_share", "unet_slowdown", "parallel_efficiency"):
        assert getattr(constants, name) == pytest.approx(getattr(fitted, name), rel=0.01)
    for each in DiffusionSoftware:
        assert constants.ceiling_flops[each] == pytest.approx(fitted.ceiling_flops[each], rel=0.01)
        assert constants.block_overhead_s[each] == pytest.approx(fitted.block_overhead_s[each], rel=0.01)


def test_a_fit_without_a_publisher_predicts_its_runs() -> None:
    with GpuDeskService.open(with_user_facts=False) as service:
        runs, constants = service.diffusion.measured_runs, service.diffusion.constants
    other_runs = [run for run in runs if run.result.source.publisher != "MLCommons"]
    left_out = [run for run in runs if run.result.source.publisher == "MLCommons"]
    misses = SCRIPT.compute_misses(SCRIPT.fit(other_runs, constants), left_out, constants)
    assert np.sqrt(np.mean(misses**2)) < 0.3
