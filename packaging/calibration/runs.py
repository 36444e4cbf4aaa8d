"""Fits the calibration to all measurements, and predicts each run from fits without it.

Each published run becomes an ordinary request, so that the fit uses the program's own answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Final

import numpy as np

from calibration.bench import BenchArrays, BenchCandidate, BenchRun
from calibration.fit import (
    HELD_OUT_FOLDS,
    CalibrationHeader,
    fit_to_runs,
    format_calibration,
    list_bundles,
    predict_left_out,
)
from calibration.intervals import INTERVAL_FIGURES, fit_interval_rules, fit_lead_scales, fit_plan_rules
from calibration.memory_measurements import JudgedMemory, MemoryMeasurement
from calibration.operator_constants import OperatorFit, fit_operators
from calibration.operator_runs import OperatorRuns, read_operator_runs
from calibration.parameters import Array, ParameterVector
from calibration.priors import pin_priors, read_priors
from gpudesk.catalog.read import Catalog
from gpudesk.domain.claim import CatalogEntryKind
from gpudesk.domain.estimate import EstimateBasis, EstimateRequest
from gpudesk.engine.calibration import Calibration, IntervalRule
from gpudesk.engine.engine_support import list_parallel_plans
from gpudesk.engine.memory import ResolvedDeployment, ServingConfiguration
from gpudesk.engine.step_work import has_experts
from gpudesk.estimation.deployment import configure_serving, find_objection, make_memory_plan, make_plan_wishes
from gpudesk.estimation.published_runs import HeldOutFigure, get_model_family
from gpudesk.estimation.search_space import SearchSpaceTable
from gpudesk.evidence.measured_runs import MeasuredRun, MeasuredRunSet, read_measured_runs
from gpudesk.text.messages import InputError, Message, input_error

#: Mean contexts (tokens) at which runs are sliced in reports, and their names.
_CONTEXTS = ((1024, "to 1k"), (4096, "to 4k"), (16384, "to 16k"))


#: The metric of a published median.
_MEDIAN_TTFT: Final = "median_ttft_ms"


@dataclass(frozen=True, slots=True)
class RefusedRun:
    """A run that the program cannot answer, with the reason."""

    run: MeasuredRun
    reason: Message


def prepare_bench_runs(
    runs: Iterable[MeasuredRun], facts: Catalog, calibration: Calibration
) -> tuple[list[BenchRun], list[RefusedRun]]:
    """Return the runs with every plan that they could have used, and those that cannot be requested."""
    table = SearchSpaceTable(facts, calibration)
    bench_runs: list[BenchRun] = []
    refused: list[RefusedRun] = []
    for run in runs:
        try:
            bench_runs.append(_prepare_bench_run(run, table))
        except InputError as error:
            refused.append(RefusedRun(run, error.problem))
    return bench_runs, refused


def _prepare_bench_run(run: MeasuredRun, table: SearchSpaceTable) -> BenchRun:
    request = run.request
    space = table.find_space(request)
    tokens = request.workload.request_tokens
    fitting = [
        BenchCandidate(ResolvedDeployment(space.configuration, memory), memory.compute_capacity_for(tokens))
        for memory in space.list_memory_plans(space.counts[0])
        if memory.budget.max_sequences(tokens) >= 1
    ]
    if not fitting:
        raise input_error(
            "calibration.run_does_not_fit", "the published run {run} does not fit its accelerators", run=run.id
        )
    return BenchRun(
        id=run.id,
        model=space.configuration.model,
        workload=request.workload,
        figures=run.figures,
        traits=_list_run_traits(run, space.configuration, fitting),
        candidates=tuple(fitting),
        has_median_ttft="ttft_ms" in run.measured and run.measured["ttft_ms"].metric == _MEDIAN_TTFT,
    )


def _list_run_traits(
    run: MeasuredRun, configuration: ServingConfiguration, fitting: list[BenchCandidate]
) -> dict[str, str]:
    request, part = run.request, configuration.accelerator
    plans = {each.deployment.plan for each in fitting}
    tensor = {plan.tp for plan in plans}
    return {
        "series": run.series,
        "source": run.source,
        "model": configuration.model.id,
        "family": get_model_family(configuration.model),
        "accelerator": part.id,
        "generation": part.generation,
        "vendor": part.vendor,
        "load": str(request.workload.load.kind),
        "engine": configuration.engine.family,
        "version": f"{configuration.engine.id} {run.engine_version or request.date or ''}".strip(),
        "weights": str(configuration.weights),
        "experts": "mixture of experts" if has_experts(configuration.model) else "dense",
        "tp": str(tensor.pop()) if len(tensor) == 1 else "not stated",
        "context": _name_context(request),
        "date": request.date or "",
    }


def _name_context(request: EstimateRequest) -> str:
    context_tokens = request.workload.input_tokens + request.workload.output_tokens / 2
    return next((name for most, name in _CONTEXTS if context_tokens <= most), "longer")


def judge_memory_rows(
    rows: Iterable[MemoryMeasurement], facts: Catalog, calibration: Calibration
) -> tuple[JudgedMemory, ...]:
    """Return the rows to judge, each with an estimate of its deployment."""
    return tuple(_judge_memory_row(row, facts, calibration) for row in rows if row.unused is None)


def _judge_memory_row(row: MemoryMeasurement, facts: Catalog, calibration: Calibration) -> JudgedMemory:
    request = row.request
    part = row.part(facts.accelerator(request.accelerator))
    configuration = configure_serving(request, part, facts.model(request.model), facts.serving_engines(), calibration)
    wishes = make_plan_wishes(request, configuration.engine)
    plans = list_parallel_plans(configuration.model, part, request.count or 1, wishes)
    (plan,) = [plan for plan in plans if find_objection(configuration, plan) is None]
    return JudgedMemory(row, row.predicted(make_memory_plan(request, configuration, plan).budget))


#: Identification of the calibration, and its statement of origin.
CALIBRATION_NAME: Final = "published measurements"
CALIBRATION_SOURCE: Final = "operators measured alone, then whole engines: data/measurements"
_NODE_BANDWIDTH: Final = "node_bandwidth"
#: Further searches, each starting at the result of the one before.
_MORE_SEARCHES: Final = 5
#: A calibration is that of its measurements if no fit saves a larger share of its loss: one constant 5% off costs twice
#: as much.
MOST_GAIN: Final = 1e-4


@dataclass(frozen=True)
class PreparedRuns:
    """The runs as arrays, ready for the fit; `refused` are those that the program cannot answer.

    `operators` are the constants fitted to `operator_runs` alone.
    """

    bench: BenchArrays
    measured: MeasuredRunSet
    newest_month: str
    refused: tuple[RefusedRun, ...]
    operator_runs: OperatorRuns
    operators: OperatorFit


@dataclass(frozen=True, slots=True)
class FittedCalibration:
    """A calibration: the text of its file, the fitted values, and every figure as predicted by folds."""

    text: str
    values: Array
    held_out: tuple[HeldOutFigure, ...]


def prepare_runs(facts: Catalog, folder: Path) -> PreparedRuns:
    """Read all measurements and prepare them; priors are next to their folder, and the operators pin them."""
    measured = read_measured_runs(folder)
    accelerators = {each.id: facts.accelerator(each.id) for each in facts.things(CatalogEntryKind.ACCELERATOR)}
    operator_runs = read_operator_runs(folder, accelerators)
    operators = fit_operators(operator_runs)
    parameters = ParameterVector(pin_priors(read_priors(folder.parent), operators))
    newest = max(run.request.date[:7] for run in measured.used if run.request.date)
    runs, refused = prepare_bench_runs(measured.used, facts, _make_provisional_calibration(parameters, newest))
    node = float(parameters.initial[parameters.starts[_NODE_BANDWIDTH]])
    bench = BenchArrays(runs, parameters, node)
    return PreparedRuns(bench, measured, newest, tuple(refused), operator_runs, operators)


def _make_provisional_calibration(parameters: ParameterVector, newest_month: str) -> Calibration:
    """Return the priors as a calibration, with zero-width intervals: memory and plans need no more."""
    bands = tuple(
        IntervalRule(figure, str(basis), 1.0, 1.0) for figure in INTERVAL_FIGURES.values() for basis in EstimateBasis
    )
    calibration = parameters.calibration(parameters.initial, newest_month)
    return replace(calibration, bands=bands, plan_bands=bands)


def fit_run_constants(prepared: PreparedRuns) -> Array:
    """Fit all constants to all runs; takes some ten seconds.

    A change of plans can stop a search early, so others continue from its end.
    """
    fit = fit_to_runs(prepared.bench)
    for _ in range(_MORE_SEARCHES):
        fit = fit_to_runs(prepared.bench, start=fit.values)
    return fit.values


def calibrate(prepared: PreparedRuns, traits: Sequence[str] = HELD_OUT_FOLDS, workers: int = 2) -> FittedCalibration:
    """Fit the constants, predict every run by fits without it, and make intervals of the residuals.

    Takes minutes; the folds are divided among `workers` processes.
    """
    values = fit_run_constants(prepared)
    runs = prepared.bench.runs
    with ProcessPoolExecutor(workers, get_context("fork"), _keep_bench, (prepared.bench,)) as pool:
        tasks = [pool.submit(_predict_folds, trait, bundle) for trait in traits for bundle in list_bundles(runs, trait)]
        held_out = tuple(each for task in tasks for each in task.result())
    about = CalibrationHeader(
        name=CALIBRATION_NAME,
        source=CALIBRATION_SOURCE,
        newest_month=prepared.newest_month,
        data_revision=prepared.measured.revision,
        bands=fit_interval_rules(held_out, runs),
        plan_bands=fit_plan_rules(held_out, runs),
        lead_scales=fit_lead_scales(held_out, runs),
    )
    return FittedCalibration(format_calibration(prepared.bench, values, about), values, held_out)


#: The runs in a process that computes a fold: forked processes share them without a copy.
_kept_bench: list[BenchArrays] = []


def _keep_bench(bench: BenchArrays) -> None:
    _kept_bench[:] = [bench]


def _predict_folds(trait: str, groups: Sequence[str]) -> tuple[HeldOutFigure, ...]:
    return predict_left_out(_kept_bench[0], trait, groups)


def compute_fit_gain(fitted: Array, prepared: PreparedRuns, calibration: Calibration) -> float:
    """Return the share of a calibration's loss that a fit saves: about 0 if it is that of the measurements.

    Constants themselves are not compared: the optimum is flat, and another processor ends at other ones.
    """
    starts = (list_values(prepared, calibration), fitted)
    present, best = (fit_to_runs(prepared.bench, start=start, most_steps=0).loss for start in starts)
    return 1.0 - best / present


def list_values(prepared: PreparedRuns, calibration: Calibration) -> Array:
    """Return the constants of a calibration as a fit has them."""
    constants = [calibration.constants[prior.name] for prior in prepared.bench.parameters.priors]
    return np.array([value for each in constants for value in (each.default, *(one.value for one in each.overrides))])
