"""Published runs nearest to a request, and held-out predictions."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class RunConditions:
    """Compared conditions of a run or request; None is unstated, or has no meaning for the load.

    Parameters are total and active parameters of the model; `weights_bits` and `kv_bits` are per element;
    `memory_bandwidth` is in bytes/s. `in_flight` are sequences of one replica, `queued` the requests queued at once,
    `request_rate` requests/s per accelerator. `month` counts from year 0. Switches are 0 or 1.
    """

    accelerator: str
    generation: str
    vendor: str
    model: str
    family: str
    experts: str
    latent: str
    serving_engine: str
    weights: str
    load: str
    memory_bandwidth: float
    total_parameters: float
    active_parameters: float
    weights_bits: float
    kv_bits: float
    input_tokens: float
    output_tokens: float
    count: float
    month: float
    in_flight: float | None = None
    queued: float | None = None
    request_rate: float | None = None
    ttft_limit_ms: float | None = None
    tpot_limit_ms: float | None = None
    tp: float | None = None
    pp: float | None = None
    attention_dp: float | None = None
    expert_parallel: float | None = None
    prefix_hit_rate: float = 0.0
    acceptance_length: float = 1.0
    varied: float = 1.0
    server: float = 1.0
    eager: float = 0.0
    disaggregated: float = 0.0


#: Categories and the distance of a mismatch. Another vendor implies another generation and another accelerator, so
#: these add up: 0.5 for another accelerator of a generation, 1.5 for another generation, 3 for another vendor. Likewise
#: for models: 0.25 within a family, 0.75 outside it, more for another architecture.
WORDS: Final = MappingProxyType(
    {
        "accelerator": 0.5,
        "generation": 1.0,
        "vendor": 1.5,
        "model": 0.25,
        "family": 0.5,
        "experts": 1.0,
        "latent": 0.75,
        "serving_engine": 1.0,
        "weights": 0.25,
        "load": 1.0,
    }
)

#: Numbers compared by ratio, and the distance per doubling. Concurrency and lengths determine a figure; the number of
#: replicas and the queue length hardly do; TTFT limits seldom bind.
RATIOS: Final = MappingProxyType(
    {
        "memory_bandwidth": 0.5,
        "total_parameters": 0.25,
        "active_parameters": 0.5,
        "weights_bits": 0.75,
        "kv_bits": 0.25,
        "input_tokens": 0.5,
        "output_tokens": 0.5,
        "count": 0.1,
        "in_flight": 0.5,
        "queued": 0.1,
        "request_rate": 0.5,
        "ttft_limit_ms": 0.15,
        "tpot_limit_ms": 0.5,
        "tp": 0.5,
        "pp": 0.5,
        "acceptance_length": 1.0,
    }
)

#: Numbers compared by difference, and the distance per unit: half a unit for a year of software.
STEPS: Final = MappingProxyType(
    {
        "month": 0.5 / 12,
        "attention_dp": 0.5,
        "expert_parallel": 0.25,
        "prefix_hit_rate": 2.0,
        "varied": 0.25,
        "server": 0.25,
        "eager": 0.5,
        "disaggregated": 1.5,
    }
)

#: Exceptions by figure: arrival pattern and prompt length delay the first token; answer length does not, and does not
#: slow the tokens down.
OF_FIGURE: Final[Mapping[str, Mapping[str, float]]] = MappingProxyType(
    {"ttft_ms": {"load": 2.0, "input_tokens": 0.75, "output_tokens": 0.25}, "tpot_ms": {"output_tokens": 0.25}}
)

#: Distance if one side states a number and the other does not; zero for all others.
UNSTATED: Final = MappingProxyType({"in_flight": 1.0, "tp": 0.5, "attention_dp": 0.1, "expert_parallel": 0.1})

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
        self._words = np.array([self._coded(row) for row in rows], dtype=np.intp).reshape(-1, len(WORDS))
        self._numbers = _numbers(rows)

    def _coded(self, row: RunConditions) -> list[int]:
        pairs = zip(self._codes.values(), _words_of(row), strict=True)
        return [codes.setdefault(word, len(codes)) for codes, word in pairs]

    def distances(self, conditions: RunConditions, figure: str) -> FloatArray:
        own = OF_FIGURE.get(figure, {})
        pairs = zip(self._codes.values(), _words_of(conditions), strict=True)
        words = [codes.get(word, _NO_CODE) for codes, word in pairs]
        apart: FloatArray = (self._words != words) @ _weights(WORDS, own)
        numbers = _numbers([conditions])
        gaps = np.abs(self._numbers - numbers)
        open_ = np.isnan(gaps)
        one_sided = np.isnan(self._numbers) != np.isnan(numbers)
        weights = np.concatenate((_weights(RATIOS, own), _weights(STEPS, own)))
        apart += np.where(open_, 0.0, gaps) @ weights + one_sided @ _UNSTATED
        return apart


def _weights(usual: Mapping[str, float], own: Mapping[str, float]) -> FloatArray:
    return np.array([own.get(name, weight) for name, weight in usual.items()])


def _numbers(rows: Sequence[RunConditions]) -> FloatArray:
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


@dataclass(frozen=True, slots=True)
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
            HeldOutFigure(row[run], row[figure], row[trait], float(row[measured]), float(row[predicted]))
            for row in rows
            if fold is None or row[trait] == fold
        )
