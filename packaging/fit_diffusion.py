"""Fits the constants of diffusion models to the measured runs and prints them, with errors on held-out publishers.

Residuals are logarithms of computed over measured times, linear beyond a quarter (pseudo-Huber). Runs of one publisher,
model and accelerator count as the square root of their number. Each constant has a prior: its value before the fit and
the standard deviation of its logarithm. Damped Gauss-Newton; ceilings only rise from eager to tuned.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gpudesk.domain.diffusion import DiffusionSoftware
from gpudesk.engine.diffusion import DiffusionConstants
from gpudesk.estimation.diffusion import MeasuredDiffusionRun
from gpudesk.service import GpuDeskService

Vector = NDArray[np.float64]
#: Spread between publishers, in the logarithm.
SCALE = 0.25
#: Logarithms of: peak share, eager ceiling, compiled over eager, tuned over compiled, overheads of eager and of others,
#: parallel efficiency, UNet slowdown.
PRIOR = np.array([np.log(0.7), np.log(500e12), 0.6, 0.15, np.log(100e-6), np.log(15e-6), np.log(0.9), 0.2])
SPREAD = np.array([0.4, 0.8, 0.4, 0.2, 0.5, 0.5, 0.1, 0.3])
LOW = np.array([-3.0, np.log(1e13), 0.0, 0.0, -16.0, -16.0, -1.0, 0.0])
HIGH = np.array([0.0, np.log(1e17), 3.0, 3.0, -5.0, -5.0, 0.0, 1.0])
STEPS = 40


def make_constants(values: Vector, constants: DiffusionConstants) -> DiffusionConstants:
    """Return constants with the fitted ones replaced."""
    eager, compiled, tuned = DiffusionSoftware
    ceilings = np.exp(np.cumsum(values[1:4]))
    overheads = np.exp(values[4:6])
    return replace(
        constants,
        peak_share=float(np.exp(values[0])),
        ceiling_flops={each: float(ceilings[place]) for place, each in enumerate(DiffusionSoftware)},
        block_overhead_s={eager: float(overheads[0]), compiled: float(overheads[1]), tuned: float(overheads[1])},
        parallel_efficiency=float(np.exp(values[6])),
        unet_slowdown=float(np.exp(values[7])),
    )


def compute_misses(values: Vector, runs: Sequence[MeasuredDiffusionRun], constants: DiffusionConstants) -> Vector:
    """Return the logarithm of computed over measured time of each run."""
    fitted = make_constants(values, constants)
    return np.array([np.log(run.compute_item_s(fitted) / run.item_s) for run in runs])


def fit(runs: Sequence[MeasuredDiffusionRun], constants: DiffusionConstants) -> Vector:
    """Return the logarithms of the constants."""

    def group(run: MeasuredDiffusionRun) -> tuple[str, str, str]:
        return run.result.source.publisher, run.model.id, run.result.accelerator or run.result.part

    counts = Counter(map(group, runs))
    weights = np.array([counts[group(run)] ** -0.5 for run in runs])

    def residuals(values: Vector) -> Vector:
        scaled = weights * compute_misses(values, runs, constants) / SCALE
        bent = np.sign(scaled) * np.sqrt(2 * (np.sqrt(1 + scaled**2) - 1))
        return np.concatenate([bent, (values - PRIOR) / SPREAD])

    values, damping = PRIOR.copy(), 1e-3
    current = residuals(values)
    for _ in range(STEPS):
        shifts = np.diag(np.full(len(values), 1e-4))
        jacobian = np.stack([(residuals(values + shift) - current) / 1e-4 for shift in shifts], axis=1)
        normal, gradient = jacobian.T @ jacobian, jacobian.T @ current
        step = np.linalg.solve(normal + damping * np.diag(np.diag(normal)), -gradient)
        moved = np.clip(values + step, LOW, HIGH)
        further = residuals(moved)
        if further @ further < current @ current:
            values, current, damping = moved, further, damping / 4
        else:
            damping *= 8
    return values


def main() -> None:
    with GpuDeskService.open(with_user_facts=False) as service:
        runs, constants = service.diffusion.measured_runs, service.diffusion.constants
    values = fit(runs, constants)
    fitted = make_constants(values, constants)
    print(f"peak_share = {fitted.peak_share:.3f}")
    print(f"unet_slowdown = {fitted.unet_slowdown:.2f}")
    print(f"parallel_efficiency = {fitted.parallel_efficiency:.3f}")
    for each in DiffusionSoftware:
        print(
            f"{each}: ceiling {fitted.ceiling_flops[each]:.4g} FLOP/s, overhead {fitted.block_overhead_s[each]:.3g} s"
        )
    misses: list[float] = []
    for publisher in sorted({run.result.source.publisher for run in runs}):
        other_runs = [run for run in runs if run.result.source.publisher != publisher]
        left_out = [run for run in runs if run.result.source.publisher == publisher]
        missed = compute_misses(fit(other_runs, constants), left_out, constants)
        misses.extend(missed)
        print(f"without {publisher}: {len(missed)} runs, root mean square {np.sqrt(np.mean(missed**2)):.3f}")
    absolute = np.abs(misses)
    root = np.sqrt(np.mean(absolute**2))
    print(f"all left out: root mean square {root:.3f}, four in five {np.quantile(absolute, 0.8):.3f}")


if __name__ == "__main__":
    main()
