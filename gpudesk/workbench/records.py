"""The published figures nearest to an estimate, each with what a fit says of it that has not seen it."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from gpudesk.domain.estimates import Banded, Estimate, EstimateRequest
from gpudesk.domain.measurements import MEASURED_FIGURES, MeasuredRun
from gpudesk.domain.messages import InputError, message
from gpudesk.domain.records import Record, published_figure
from gpudesk.evidence.held_out_file import read_held_out
from gpudesk.evidence.measured_runs import read_measured_runs
from gpudesk.evidence.nearest import Array, Conditions, NearestRuns, nearest
from gpudesk.workbench.record_conditions import asked_request, assumptions, conditions, differences

if TYPE_CHECKING:
    from gpudesk.catalog.queries import Catalog
    from gpudesk.evidence.held_out import HeldOut

#: The fold whose fits have not seen anything of the publisher's harness.
FOLD: Final = "series"
#: Records of one figure.
MOST: Final = 3
#: Up to this distance what fits miss by is more alike, between publishers, than for any two runs; further
#: away the error of a published figure tells little about that of the question.
NEAR: Final = 4.0
#: How far a prediction's own note of the measured value may be from the value as published: digits.
_SAME: Final = 1e-3

#: Answers questions; a question that cannot be answered gives its error.
EstimateMany = Callable[[Sequence[EstimateRequest]], Sequence[Estimate | InputError]]


class RecordTable:
    """All published runs that a fit predicted without having seen them, laid out for the search."""

    def __init__(self, catalog: Catalog, runs: Iterable[MeasuredRun], held_out: Iterable[HeldOut]) -> None:
        """Keep the runs that have predictions, the newest first, so that it wins where two are as near.

        Predictions are those of one fold: at most one for a figure of a run.
        """
        predicted = {(each.run, each.figure): each for each in held_out}
        newest_first = sorted(sorted(runs, key=_name), key=_date, reverse=True)
        self._catalog = catalog
        self._runs = [
            run for run in newest_first if any((run.id, name) in predicted for name in run.measured)
        ]
        self._predicted = {name: _column(self._runs, predicted, name) for name in MEASURED_FIGURES}
        self._sources = {run.source: catalog.source(run.source) for run in self._runs}
        self._publications = _codes([run.source for run in self._runs])
        self._publishers = _codes([self._sources[run.source].publisher for run in self._runs])
        families = {engine.id: engine.family for engine in catalog.serving_engines()}
        self._families = families
        self._nearest = NearestRuns(self._conditions(run.request) for run in self._runs)
        self._bands: dict[tuple[str, str], tuple[float, float] | None] = {}

    def _conditions(self, request: EstimateRequest) -> Conditions:
        part, model = self._catalog.accelerator(request.accelerator), self._catalog.model(request.model)
        return conditions(request, part, model, self._families.get(request.serving_engine or "", ""))

    def nearest(
        self, estimate: Estimate, figure: str, newest_month: str, ask: EstimateMany
    ) -> tuple[Record, ...]:
        """Return the records of a figure, the nearest first; none where nothing published is behind it.

        `ask` estimates the runs themselves, of which only the width of the band is taken.
        """
        published = published_figure(estimate, figure)
        if published is None or not self._runs:
            return ()
        vendor = self._catalog.accelerator(estimate.request.accelerator).vendor
        asked = asked_request(estimate, vendor, newest_month)
        distances = self._nearest.distances(self._conditions(asked), published)
        distances[np.isnan(self._predicted[published])] = np.inf
        places = nearest(distances, self._publications, self._publishers, MOST)
        self._learn_bands([self._runs[place] for place in places], published, ask)
        return tuple(
            self._record(place, published, float(distances[place]), asked, estimate.request)
            for place in places
        )

    def _record(
        self, place: int, figure: str, distance: float, asked: EstimateRequest, original: EstimateRequest
    ) -> Record:
        run = self._runs[place]
        measured, predicted = run.measured[figure], float(self._predicted[figure][place])
        factors = self._bands[run.id, figure]
        inside = None
        if factors is not None:
            inside = predicted * factors[0] <= measured.value <= predicted * factors[1]
        return Record(
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
            differs=differences(asked, original, run.request),
            distance=distance,
            near=distance <= NEAR,
            assumed=assumptions(run.assumed),
            note=run.note,
        )

    def _learn_bands(self, runs: list[MeasuredRun], figure: str, ask: EstimateMany) -> None:
        """Find out how wide the band of each run's figure is, as low and high over its value."""
        new = [run for run in runs if (run.id, figure) not in self._bands]
        for run, answer in zip(new, ask([run.request for run in new]) if new else (), strict=True):
            value = None if isinstance(answer, InputError) else getattr(answer, figure)
            self._bands[run.id, figure] = _factors(value) if isinstance(value, Banded) else None


def _factors(figure: Banded) -> tuple[float, float]:
    """Return the ends of a band over its value."""
    return figure.low / figure.value, figure.high / figure.value


def read_records(catalog: Catalog, measurements: Path, held_out: Path | None) -> RecordTable:
    """Read runs and predictions; without predictions there are no records. Raises `InputError`."""
    if held_out is None:
        return RecordTable(catalog, (), ())
    with _reading(measurements):
        runs = read_measured_runs(measurements).used
    with _reading(held_out):
        predicted = read_held_out(held_out, FOLD)
    return RecordTable(catalog, runs, predicted)


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Name the file or folder that cannot be read, whatever is wrong with it."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(message("records.unreadable", reason=reason), str(error.filename or path)) from error
    except (ValueError, LookupError, TypeError, csv.Error) as error:
        reason = f"{type(error).__name__} {error}".strip()
        raise InputError(message("records.unreadable", reason=reason), str(path)) from error


def _name(run: MeasuredRun) -> str:
    return run.id


def _date(run: MeasuredRun) -> str:
    return run.request.date or ""


def _column(runs: Sequence[MeasuredRun], predicted: dict[tuple[str, str], HeldOut], figure: str) -> Array:
    """Return the prediction of each run, NaN where there is none, or one of another measured value."""
    found = np.full(len(runs), np.nan)
    for place, run in enumerate(runs):
        measured, each = run.measured.get(figure), predicted.get((run.id, figure))
        if measured and each and math.isclose(measured.value, each.measured, rel_tol=_SAME):
            found[place] = each.predicted
    return found


def _codes(words: Sequence[str]) -> NDArray[np.intp]:
    """Return a number for each word, equal for equal words."""
    return np.unique(np.array(words, dtype=str), return_inverse=True)[1].astype(np.intp)
