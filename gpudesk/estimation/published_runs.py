"""The published runs nearest to a request or an estimate: conditions, differences, held-out predictions."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, fields, replace
from functools import lru_cache, partial
from operator import attrgetter
from pathlib import Path
from sys import intern
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gpudesk.catalog.read import Catalog
from gpudesk.domain.accelerator import Accelerator, resolve_fp4
from gpudesk.domain.deployment_analysis import ComparableRun, RunCondition, find_published_figure
from gpudesk.domain.estimate import Estimate, EstimateRequest, Load, LoadKind, Workload, to_calendar_months
from gpudesk.domain.model import Model
from gpudesk.domain.precision import KV_BYTES, STORAGE_FORMATS, Precision
from gpudesk.engine.step_work import get_attention_key, has_experts
from gpudesk.engine.tensors import count_active_parameters, count_parameters
from gpudesk.evidence.measured_runs import MEASURED_FIGURES, MeasuredRun, read_measured_runs
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.formatting import IntervalEstimate
from gpudesk.text.messages import InputError, Message, explain_system_error, message

FloatArray = NDArray[np.float64]


def _weigh(kind: str, weight: float, **default: float | None) -> Any:  # noqa: ANN401 - a field of any type
    return field(metadata={kind: weight}, **default)  # type: ignore[call-overload]


_compare_word = partial(_weigh, "word")
_compare_ratio = partial(_weigh, "ratio")
_compare_step = partial(_weigh, "step")


@frozen_dataclass
class RunConditions:
    """Compared conditions of a run or request; None is unstated, or has no meaning for the load.

    Parameters are total and active parameters of the model; `weights_bits` and `kv_bits` are per element;
    `memory_bandwidth` is in bytes/s. `in_flight` are sequences of one replica, `queued` the requests queued at once,
    `request_rate` requests/s per accelerator. `month` counts from year 0. Switches are 0 or 1.

    Each has its distance. That of a word is for a mismatch. Another vendor implies another generation and another
    accelerator, so these add up: 0.5 for another accelerator of a generation, 1.5 for another generation, 3 for another
    vendor. Likewise for models: 0.25 within a family, 0.75 outside it, more for another architecture. That of a ratio
    is per doubling: concurrency and lengths determine a figure; the number of replicas and the queue length hardly do;
    TTFT limits seldom bind. That of a step is per unit of the difference: half a unit for a year of software.
    """

    accelerator: str = _compare_word(0.5)
    generation: str = _compare_word(1.0)
    vendor: str = _compare_word(1.5)
    model: str = _compare_word(0.25)
    family: str = _compare_word(0.5)
    experts: str = _compare_word(1.0)
    latent: str = _compare_word(0.75)
    serving_engine: str = _compare_word(1.0)
    weights: str = _compare_word(0.25)
    load: str = _compare_word(1.0)
    memory_bandwidth: float = _compare_ratio(0.5)
    total_parameters: float = _compare_ratio(0.25)
    active_parameters: float = _compare_ratio(0.5)
    weights_bits: float = _compare_ratio(0.75)
    kv_bits: float = _compare_ratio(0.25)
    input_tokens: float = _compare_ratio(0.5)
    output_tokens: float = _compare_ratio(0.5)
    count: float = _compare_ratio(0.1)
    month: float = _compare_step(0.5 / 12)
    in_flight: float | None = _compare_ratio(0.5, default=None)
    queued: float | None = _compare_ratio(0.1, default=None)
    request_rate: float | None = _compare_ratio(0.5, default=None)
    ttft_limit_ms: float | None = _compare_ratio(0.15, default=None)
    tpot_limit_ms: float | None = _compare_ratio(0.5, default=None)
    tp: float | None = _compare_ratio(0.5, default=None)
    pp: float | None = _compare_ratio(0.5, default=None)
    attention_dp: float | None = _compare_step(0.5, default=None)
    expert_parallel: float | None = _compare_step(0.25, default=None)
    prefix_hit_rate: float = _compare_step(2.0, default=0.0)
    acceptance_length: float = _compare_ratio(1.0, default=1.0)
    varied: float = _compare_step(0.25, default=1.0)
    server: float = _compare_step(0.25, default=1.0)
    eager: float = _compare_step(0.5, default=0.0)
    disaggregated: float = _compare_step(1.5, default=0.0)


#: The distances of words, ratios and steps, by condition.
WORDS, RATIOS, STEPS = (
    {each.name: each.metadata[kind] for each in fields(RunConditions) if kind in each.metadata}
    for kind in ("word", "ratio", "step")
)

#: Exceptions by figure: arrival pattern and prompt length delay the first token; answer length does not, and does not
#: slow the tokens down.
OF_FIGURE: Final[Mapping[str, Mapping[str, float]]] = {
    "ttft_ms": {"load": 2.0, "input_tokens": 0.75, "output_tokens": 0.25},
    "tpot_ms": {"output_tokens": 0.25},
}

#: Distance if one side states a number and the other does not; zero for all others.
UNSTATED: Final = {"in_flight": 1.0, "tp": 0.5, "attention_dp": 0.1, "expert_parallel": 0.1}

#: By how much a second run of a publication must be nearer than a run of another publication, and of another publisher.
SAME_PUBLICATION: Final = 1.0
SAME_PUBLISHER: Final = 0.5

_NUMBERS: Final = (*RATIOS, *STEPS)
_words_of = attrgetter(*WORDS)
_numbers_of = attrgetter(*_NUMBERS)
_UNSTATED: Final = np.array([UNSTATED.get(name, 0.0) for name in _NUMBERS])
#: A code that no run has.
_NO_CODE: Final = -1


class NearestRuns:
    """Runs as arrays, so that one request is compared with all of them at once."""

    def __init__(self, runs: Iterable[RunConditions]) -> None:
        rows = list(runs)
        self._codes: dict[str, dict[str, int]] = {name: {} for name in WORDS}
        self._words = np.array([self._encode_words(row) for row in rows], dtype=np.intp).reshape(-1, len(WORDS))
        self._numbers = _tabulate_numbers(rows)

    def _encode_words(self, row: RunConditions) -> list[int]:
        pairs = zip(self._codes.values(), _words_of(row), strict=True)
        return [codes.setdefault(word, len(codes)) for codes, word in pairs]

    def distances(self, conditions: RunConditions, figure: str) -> FloatArray:
        own = OF_FIGURE.get(figure, {})
        pairs = zip(self._codes.values(), _words_of(conditions), strict=True)
        words = [codes.get(word, _NO_CODE) for codes, word in pairs]
        apart: FloatArray = (self._words != words) @ _list_weights(WORDS, own)
        numbers = _tabulate_numbers([conditions])
        gaps = np.abs(self._numbers - numbers)
        open_ = np.isnan(gaps)
        one_sided = np.isnan(self._numbers) != np.isnan(numbers)
        weights = np.concatenate((_list_weights(RATIOS, own), _list_weights(STEPS, own)))
        apart += np.where(open_, 0.0, gaps) @ weights + one_sided @ _UNSTATED
        return apart


def _list_weights(usual: Mapping[str, float], own: Mapping[str, float]) -> FloatArray:
    return np.array([own.get(name, weight) for name, weight in usual.items()])


def _tabulate_numbers(rows: Sequence[RunConditions]) -> FloatArray:
    """Return a row of numbers for each: ratios as logarithms, NaN if unstated."""
    table = np.array([_numbers_of(row) for row in rows], dtype=np.float64)
    table = table.reshape(-1, len(_NUMBERS))
    ratios = len(RATIOS)
    table[:, :ratios] = np.log2(table[:, :ratios])
    return table


def find_nearest(
    distances: FloatArray, publications: NDArray[np.intp], publishers: NDArray[np.intp], most: int = 3
) -> list[int]:
    """Return the positions of the nearest runs, nearest first; ties go to the first.

    A second run of a publication or publisher is taken only if it is clearly nearer than any other: three runs of one
    table add little. Runs at infinite distance are left out.
    """
    costs = np.round(distances, 9)
    chosen: list[int] = []
    while len(chosen) < most and len(costs):
        place = int(np.argmin(costs))
        if not np.isfinite(costs[place]):
            break
        chosen.append(place)
        costs[place] = np.inf
        costs[publications == publications[place]] += SAME_PUBLICATION
        costs[publishers == publishers[place]] += SAME_PUBLISHER
    return sorted(chosen, key=lambda place: (round(float(distances[place]), 9), place))


@frozen_dataclass
class HeldOutFigure:
    """A figure of a run, and its prediction by a fit that did not use the group of the run."""

    run: str
    figure: str
    fold: str
    measured: float
    predicted: float


COLUMNS: Final = ("run", "figure", "fold", "measured", "predicted")


def write_held_out(path: Path, figures: Iterable[HeldOutFigure]) -> None:
    """Write the figures, sorted by run, figure and fold; predictions to five significant digits."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for each in sorted(figures, key=lambda one: (one.run, one.figure, one.fold)):
            writer.writerow([each.run, each.figure, each.fold, f"{each.measured:g}", f"{each.predicted:.5g}"])


def read_held_out(path: Path, fold: str | None = None) -> tuple[HeldOutFigure, ...]:
    """Read the figures that `write_held_out` wrote, all or those of one fold, which is quicker."""
    with path.open(newline="") as file:
        rows = csv.reader(file)
        header = next(rows, [])
        run, figure, trait, measured, predicted = (header.index(name) for name in COLUMNS)
        return tuple(
            HeldOutFigure(
                run=intern(row[run]),
                figure=intern(row[figure]),
                fold=intern(row[trait]),
                measured=float(row[measured]),
                predicted=float(row[predicted]),
            )
            for row in rows
            if fold is None or row[trait] == fold
        )


def get_model_family(model: Model) -> str:
    """Return the family of a model by its id: the name before a version, with the major version for Llama."""
    words = model.id.split("-")
    if words[0] == "gpt":
        return "-".join(words[:2])
    return f"llama-{words[1][0]}" if words[0] == "llama" else words[0]


#: Sequences assumed to run at once from a longer queue: memory decides, and is not compared.
RUN_OF_A_QUEUE = 256
#: Without a requested date, software older than the newest by this many months counts as different.
OLD_MONTHS = 12


def complete_request(estimate: Estimate, vendor: str, newest_month: str) -> EstimateRequest:
    """Return the question with the program's choices: serving engine, count, plan, formats, date."""
    request, plan = estimate.request, estimate.plan
    return replace(
        request,
        serving_engine=estimate.serving_engine,
        count=estimate.count,
        weights=_merge_16_bit(resolve_fp4(request.weights, vendor)),
        kv=_merge_16_bit(resolve_fp4(request.kv, vendor)),
        tp=plan.tp,
        pp=plan.pp,
        ep=plan.ep,
        dp=plan.dp,
        attention_dp=plan.attention_dp,
        date=request.date or newest_month,
    )


def _merge_16_bit(precision: Precision) -> Precision:
    """Treat the two 16-bit formats as one: they are equally fast."""
    return Precision.FP16 if precision is Precision.BF16 else precision


def make_conditions(request: EstimateRequest, part: Accelerator, model: Model, family: str) -> RunConditions:
    """Return the compared conditions of a question or run with count and date; `family` of its engine."""
    work, count = request.workload, float(request.count or 1)
    weights = _merge_16_bit(resolve_fp4(request.weights, part.vendor))
    total, active, architecture = _get_model_traits(model)
    dp = request.dp or 1
    return RunConditions(
        accelerator=part.id,
        generation=part.generation,
        vendor=part.vendor,
        model=model.id,
        family=get_model_family(model),
        experts=architecture[0],
        latent=architecture[1],
        serving_engine=family,
        weights=weights,
        load=work.load.kind,
        memory_bandwidth=part.memory_bandwidth,
        total_parameters=total,
        active_parameters=active,
        weights_bits=float(STORAGE_FORMATS[weights].bits),
        kv_bits=KV_BYTES[resolve_fp4(request.kv, part.vendor)] * 8,
        input_tokens=float(work.input_tokens),
        output_tokens=float(work.output_tokens),
        count=count,
        month=float(to_calendar_months(request.date or "")),
        in_flight=_count_in_flight(work.load, dp),
        queued=(work.load.requests or 1) / dp if work.load.kind is LoadKind.SATURATE else None,
        request_rate=None if work.load.request_rate is None else work.load.request_rate / count,
        ttft_limit_ms=work.load.ttft_ms,
        tpot_limit_ms=work.load.tpot_ms,
        tp=request.tp,
        pp=request.pp,
        attention_dp=_resolve_switch(request.attention_dp, architecture),
        expert_parallel=_resolve_switch(None if request.ep is None else request.ep > 1, architecture),
        prefix_hit_rate=work.prefix_hit_rate,
        acceptance_length=work.acceptance_length,
        varied=work.varied,
        server=work.behind_server,
        eager=work.eager,
        disaggregated=request.disaggregated is not None,
    )


@lru_cache(maxsize=256)
def _get_model_traits(model: Model) -> tuple[float, float, tuple[str, str]]:
    """Return total and active parameters, and whether there are experts and latents."""
    kinds = ("experts" if has_experts(model) else "dense", "heads" if get_attention_key(model) == "heads" else "latent")
    return float(max(1, count_parameters(model))), float(max(1, count_active_parameters(model))), kinds


def _resolve_switch(switch: bool | None, architecture: tuple[str, str]) -> float | None:
    """Resolve a switch of expert models: if unstated, dense models have it off."""
    return False if switch is None and architecture[0] == "dense" else switch


def _count_in_flight(load: Load, dp: int) -> float | None:
    """Return the sequences that a replica runs at once, if the load determines them."""
    if load.kind is LoadKind.SATURATE:
        return min((load.requests or 1) / dp, RUN_OF_A_QUEUE)
    in_flight = load.batch or load.concurrency
    return None if in_flight is None else in_flight / dp


# Differences


#: Settings that differ only if the question itself sets them.
_SETTINGS = (RunCondition.MEMORY_FRACTION, RunCondition.MAX_BATCH, RunCondition.MAX_BATCHED_TOKENS)


def list_condition_differences(
    request: EstimateRequest, original: EstimateRequest, run: EstimateRequest
) -> tuple[RunCondition, ...]:
    """Return the conditions of a run that differ from the request, in display order.

    `request` has the program's choices, `original` leaves open what the user did. Open conditions do not differ, except
    for software a year older than the newest.
    """
    # Whether a stated degree differs; the number of replicas follows from the others.
    pairs = ((getattr(request, name), getattr(run, name)) for name in ("tp", "pp", "ep", "attention_dp"))
    differences = {
        RunCondition.ACCELERATOR: request.accelerator != run.accelerator,
        RunCondition.COUNT: request.count != run.count,
        RunCondition.MODEL: request.model != run.model,
        RunCondition.WEIGHTS: request.weights != _merge_16_bit(run.weights),
        RunCondition.KV: request.kv != _merge_16_bit(run.kv),
        RunCondition.SERVING_ENGINE: run.serving_engine not in (None, request.serving_engine),
        RunCondition.PLAN: any(had is not None and requested_value != had for requested_value, had in pairs),
        RunCondition.POOLS: request.disaggregated is not None,
        RunCondition.DATE: _date_differs(request, original, run),
        **_compare_workloads(request.workload, run.workload),
    }
    for setting in _SETTINGS:
        original_value, had = getattr(original, setting), getattr(run, setting)
        differences[setting] = None not in (original_value, had) and original_value != had
    return tuple(condition for condition in RunCondition if differences[condition])


#: Columns of the measurements and the condition that each is part of.
_OF_COLUMN: Final = {
    **{each.value: each for each in RunCondition},
    **dict.fromkeys(("input_tokens", "output_tokens"), RunCondition.LENGTHS),
    **dict.fromkeys(("load", "amount", "requests"), RunCondition.LOAD),
    **dict.fromkeys(("tp", "pp", "ep", "dp", "attention_dp"), RunCondition.PLAN),
    "lengths": RunCondition.SPREAD,
    "prefix_hit_rate": RunCondition.PREFIX,
}


def list_assumed_conditions(columns: Collection[str]) -> tuple[RunCondition, ...]:
    """Return the conditions filled by judgment, from the columns marked so."""
    conditions = {_OF_COLUMN[column] for column in columns if column in _OF_COLUMN}
    return tuple(condition for condition in RunCondition if condition in conditions)


def _compare_workloads(workload: Workload, run: Workload) -> dict[RunCondition, bool]:
    lengths, had = ((each.input_tokens, each.output_tokens) for each in (workload, run))
    return {
        RunCondition.LENGTHS: lengths != had,
        RunCondition.LOAD: _load_differs(workload.load, run.load),
        RunCondition.SERVER: workload.behind_server != run.behind_server,
        RunCondition.SPREAD: workload.varied != run.varied,
        RunCondition.EAGER: workload.eager != run.eager,
        RunCondition.PREFIX: workload.prefix_hit_rate != run.prefix_hit_rate,
        RunCondition.SPECULATION: workload.acceptance_length != run.acceptance_length,
    }


def _load_differs(load: Load, run: Load) -> bool:
    """Whether loads differ; an endless closed loop equals one with some requests."""
    if load.kind is LoadKind.CONCURRENCY and load.requests is None:
        run = replace(run, requests=None)
    return load != run


def _date_differs(request: EstimateRequest, original: EstimateRequest, run: EstimateRequest) -> bool:
    apart = to_calendar_months(request.date or "") - to_calendar_months(run.date or "")
    return apart >= OLD_MONTHS if original.date is None else apart != 0


#: The fold whose fits excluded the publisher's harness.
RECORD_FOLD: Final = "series"
#: Records per figure.
MOST_RECORDS: Final = 3
#: Up to this distance prediction errors are more similar, between publishers, than for random runs; further away the
#: error of a published figure says little about that of the question.
NEAR_DISTANCE: Final = 4.0
#: Digits within which a prediction's recorded measurement must match the published value.
_SAME: Final = 1e-3

#: Answers questions; a failed question gives its error.
EstimateMany = Callable[[Sequence[EstimateRequest]], Sequence[Estimate | InputError]]


class PublishedRunTable:
    """All published runs with held-out predictions, laid out for the search."""

    def __init__(self, catalog: Catalog, runs: Iterable[MeasuredRun], held_out: Iterable[HeldOutFigure]) -> None:
        """Keep the runs with predictions, the newest first, so that it wins ties.

        Predictions are those of one fold: at most one per figure of a run.
        """
        predicted = {(each.run, each.figure): each for each in held_out}
        newest_first = sorted(sorted(runs, key=_name_run), key=_get_date, reverse=True)
        self._catalog = catalog
        self._runs = [run for run in newest_first if any((run.id, name) in predicted for name in run.measured)]
        self._predicted = {name: _make_column_array(self._runs, predicted, name) for name in MEASURED_FIGURES}
        self._sources = {run.source: catalog.source(run.source) for run in self._runs}
        self._publications = _make_codes([run.source for run in self._runs])
        self._publishers = _make_codes([self._sources[run.source].publisher for run in self._runs])
        families = {engine.id: engine.family for engine in catalog.serving_engines()}
        self._families = families
        self._nearest = NearestRuns(self._make_conditions(run.request) for run in self._runs)
        self._bands: dict[tuple[str, str], tuple[float, float] | None] = {}

    def _make_conditions(self, request: EstimateRequest) -> RunConditions:
        part, model = self._catalog.accelerator(request.accelerator), self._catalog.model(request.model)
        return make_conditions(request, part, model, self._families.get(request.serving_engine or "", ""))

    def nearest(
        self, estimate: Estimate, figure: str, newest_month: str, ask: EstimateMany | None
    ) -> tuple[ComparableRun, ...]:
        """Return the records of a figure, the nearest first; empty without a published figure behind it.

        `ask` estimates the runs themselves, of which only the width of the interval is used; without it, whether the
        measured value is inside stays unknown.
        """
        published = find_published_figure(estimate, figure)
        if published is None or not self._runs:
            return ()
        vendor = self._catalog.accelerator(estimate.request.accelerator).vendor
        request = complete_request(estimate, vendor, newest_month)
        distances = self._nearest.distances(self._make_conditions(request), published)
        distances[np.isnan(self._predicted[published])] = np.inf
        places = find_nearest(distances, self._publications, self._publishers, MOST_RECORDS)
        if ask is not None:
            self._learn_bands([self._runs[place] for place in places], published, ask)
        return tuple(
            self._record(place, published, float(distances[place]), request, estimate.request) for place in places
        )

    def _record(
        self, place: int, figure: str, distance: float, request: EstimateRequest, original: EstimateRequest
    ) -> ComparableRun:
        run = self._runs[place]
        measured, predicted = run.measured[figure], float(self._predicted[figure][place])
        factors = self._bands.get((run.id, figure))
        inside = None
        if factors is not None:
            inside = predicted * factors[0] <= measured.value <= predicted * factors[1]
        return ComparableRun(
            run=run.id,
            row=measured.row,
            figure=figure,
            measured=measured.value,
            predicted=predicted,
            inside_band=inside,
            request=run.request,
            accelerator=self._catalog.accelerator(run.request.accelerator).name,
            model=self._catalog.model(run.request.model).name,
            engine_version=run.engine_version,
            source=self._sources[run.source],
            differs=list_condition_differences(request, original, run.request),
            distance=distance,
            near=distance <= NEAR_DISTANCE,
            assumed=list_assumed_conditions(run.assumed),
            note=run.note,
        )

    def _learn_bands(self, runs: list[MeasuredRun], figure: str, ask: EstimateMany) -> None:
        """Compute the interval of each run's figure, as low and high over its value."""
        new = [run for run in runs if (run.id, figure) not in self._bands]
        for run, answer in zip(new, ask([run.request for run in new]) if new else (), strict=True):
            value = None if isinstance(answer, InputError) else getattr(answer, figure)
            self._bands[run.id, figure] = _compute_factors(value) if isinstance(value, IntervalEstimate) else None


def _compute_factors(figure: IntervalEstimate) -> tuple[float, float]:
    return figure.low / figure.value, figure.high / figure.value


def read_published_runs(
    measurements: Path, held_out: Path | None
) -> tuple[tuple[MeasuredRun, ...], tuple[HeldOutFigure, ...]]:
    """Read runs and predictions for a `PublishedRunTable`; neither without predictions. Raises `InputError`."""
    if held_out is None:
        return (), ()
    with _name_unreadable(measurements):
        runs = read_measured_runs(measurements).used
    with _name_unreadable(held_out):
        return runs, read_held_out(held_out, RECORD_FOLD)


@contextmanager
def _name_unreadable(path: Path) -> Iterator[None]:
    """Name the unreadable file or folder, for any error."""
    try:
        yield
    except OSError as error:
        raise InputError(_describe_unreadable(explain_system_error(error)), str(error.filename or path)) from error
    except (ValueError, LookupError, TypeError, csv.Error) as error:
        reason = f"{type(error).__name__} {error}".strip()
        raise InputError(_describe_unreadable(reason), str(path)) from error


def _name_run(run: MeasuredRun) -> str:
    return run.id


def _get_date(run: MeasuredRun) -> str:
    return run.request.date or ""


def _make_column_array(
    runs: Sequence[MeasuredRun], predicted: dict[tuple[str, str], HeldOutFigure], figure: str
) -> FloatArray:
    """Return the prediction of each run, NaN without one or if it belongs to another measured value."""
    column_values = np.full(len(runs), np.nan)
    for place, run in enumerate(runs):
        measured, each = run.measured.get(figure), predicted.get((run.id, figure))
        if measured and each and math.isclose(measured.value, each.measured, rel_tol=_SAME):
            column_values[place] = each.predicted
    return column_values


def _make_codes(words: Sequence[str]) -> NDArray[np.intp]:
    """Return a code for each word, equal for equal words."""
    return np.unique(np.array(words, dtype=str), return_inverse=True)[1].astype(np.intp)


def _describe_unreadable(reason: str) -> Message:
    return message(
        "records.unreadable", "the published measurements cannot be read: {reason}; reinstall GPU Desk", reason=reason
    )
