"""Fits the calibration to all measurements, and finds out what it misses of what it has not seen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Final

from gpudesk.catalog.queries import Catalog
from gpudesk.domain.estimates import Basis
from gpudesk.domain.measurements import MeasuredRuns
from gpudesk.domain.things import ThingKind
from gpudesk.engine.constants import BandRule, Calibration
from gpudesk.evidence.banding import BAND_FIGURES, band_rules
from gpudesk.evidence.bench import Bench
from gpudesk.evidence.calibration_text import CalibrationText, calibration_text
from gpudesk.evidence.fitting import fit
from gpudesk.evidence.held_out import FOLDS, HeldOut, folds, leave_out
from gpudesk.evidence.measured_runs import read_measured_runs
from gpudesk.evidence.operator_rows import read_operator_rows
from gpudesk.evidence.operators import fit_operators
from gpudesk.evidence.pairing import pair_rules
from gpudesk.evidence.parameters import Array, Parameters
from gpudesk.evidence.priors import beliefs, pinned
from gpudesk.workbench.bench_runs import RefusedRun, bench_runs

#: What the calibration calls itself, and what it says of its origin.
NAME: Final = "published measurements"
SOURCE: Final = "operators measured alone, then whole engines: data/measurements"
_NODE_BANDWIDTH: Final = "node_bandwidth"


@dataclass(frozen=True)
class Prepared:
    """The runs as arrays, ready for the fit; `refused` are those that the program does not answer."""

    bench: Bench
    measured: MeasuredRuns
    newest_month: str
    refused: tuple[RefusedRun, ...]


@dataclass(frozen=True, slots=True)
class Fitted:
    """A calibration: the text of its file, the fitted values, and every figure as folds predict it."""

    text: str
    values: Array
    held_out: tuple[HeldOut, ...]


def prepare(facts: Catalog, folder: Path) -> Prepared:
    """Read all measurements and lay them out; beliefs are pinned by the operators among them."""
    measured = read_measured_runs(folder)
    accelerators = {each.id: facts.accelerator(each.id) for each in facts.things(ThingKind.ACCELERATOR)}
    operators = fit_operators(read_operator_rows(folder, accelerators))
    parameters = Parameters(pinned(beliefs(), operators))
    newest = max(run.request.date[:7] for run in measured.used if run.request.date)
    runs, refused = bench_runs(measured.used, facts, _provisional(parameters, newest))
    node = float(parameters.initial[parameters.starts[_NODE_BANDWIDTH]])
    return Prepared(Bench(runs, parameters, node), measured, newest, tuple(refused))


def _provisional(parameters: Parameters, newest_month: str) -> Calibration:
    """Return the beliefs as a calibration, with bands of no width: memory and plans need no more."""
    bands = tuple(
        BandRule(figure, str(basis), 1.0, 1.0) for figure in BAND_FIGURES.values() for basis in Basis
    )
    calibration = parameters.calibration(parameters.initial, newest_month)
    return replace(calibration, bands=bands, pair_bands=bands)


def fitted_values(prepared: Prepared) -> Array:
    """Fit all constants to all runs; takes some ten seconds."""
    return fit(prepared.bench).values


def calibrate(prepared: Prepared, traits: Sequence[str] = FOLDS, workers: int = 2) -> Fitted:
    """Fit the constants, predict every run by fits that have not seen it, and make bands of the residuals.

    Takes minutes; the folds are divided among `workers` processes.
    """
    values = fitted_values(prepared)
    runs = prepared.bench.runs
    with ProcessPoolExecutor(workers, get_context("fork"), _remember, (prepared.bench,)) as pool:
        tasks = [pool.submit(_fold, trait, group) for trait in traits for group in folds(runs, trait)]
        held_out = tuple(each for task in tasks for each in task.result())
    about = CalibrationText(
        name=NAME,
        source=SOURCE,
        newest_month=prepared.newest_month,
        data_revision=prepared.measured.revision,
        bands=band_rules(held_out, runs),
        pair_bands=pair_rules(held_out, runs),
    )
    return Fitted(calibration_text(prepared.bench, values, about), values, held_out)


#: The runs in a process that works on a fold: forked processes take them over without a copy.
_remembered: list[Bench] = []


def _remember(bench: Bench) -> None:
    _remembered[:] = [bench]


def _fold(trait: str, group: str) -> tuple[HeldOut, ...]:
    return leave_out(_remembered[0], trait, group)


def differing(fitted: Array, prepared: Prepared, calibration: Calibration, digits: int = 4) -> list[str]:
    """Return the constants of a calibration that a fit does not give to so many significant digits."""
    parameters = prepared.bench.parameters
    found: list[str] = []
    for prior in parameters.priors:
        again = parameters.constant(prior, fitted)
        known = calibration.constants.get(prior.name)
        if known is None or len(known.exceptions) != len(again.exceptions):
            found.append(prior.name)
            continue
        pairs = [
            (again.default, known.default),
            *((a.value, b.value) for a, b in zip(again.exceptions, known.exceptions, strict=True)),
        ]
        if not all(math.isclose(a, b, rel_tol=0.5 * 10.0 ** (1 - digits)) for a, b in pairs):
            found.append(prior.name)
    return found
