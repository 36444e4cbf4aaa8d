"""What the accuracy report is made of and what it comes to, for the page and for the summary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from gpudesk.evidence.bench import FIGURES, BenchRun
from gpudesk.evidence.held_out import FOLDS, HeldOut
from gpudesk.evidence.judging import Judged, judged
from gpudesk.evidence.memory_rows import JudgedMemory
from gpudesk.evidence.pairing import PAIR_FOLDS
from gpudesk.evidence.report_measures import Measure, by_view, measure, of_fold
from gpudesk.evidence.report_pairs import (
    JudgedPair,
    JudgedPairs,
    RatioFound,
    by_figure,
    judged_pairs,
    known_ratios,
    pair_record,
)
from gpudesk.evidence.report_peers import PeerAnswers, PeerRecord, PeerSpeed, peer_records
from gpudesk.evidence.report_words import Names


@dataclass(frozen=True)
class ReportData:
    """Runs with what folds say of them, other estimators, and what the calibration says of itself.

    `unused` counts published rows by the reason for which they are not used; `refused` are runs that the
    program does not answer. `fitted_revision` is that of the measurements that the fit has seen. `memory` is
    what serving engines print of theirs.
    """

    runs: Sequence[BenchRun]
    held_out: Sequence[HeldOut]
    peers: Sequence[PeerAnswers]
    speeds: Sequence[PeerSpeed]
    names: Names
    unused: Mapping[str, int]
    refused: int
    data_revision: str
    fitted_revision: str
    calibration_revision: str
    newest_month: str
    constants: int
    memory: Sequence[JudgedMemory] = ()

    @cached_property
    def rows(self) -> tuple[Judged, ...]:
        """Return every held-out figure with its cross-fitted band."""
        return judged(self.held_out, self.runs)

    @cached_property
    def folds(self) -> tuple[str, ...]:
        """Return the folds that there are, in the order of `FOLDS`."""
        made = {row.fold for row in self.rows}
        return tuple(fold for fold in FOLDS if fold in made)

    @cached_property
    def series_rows(self) -> list[Judged]:
        """Return the figures as predicted without the rows of their publisher."""
        return of_fold(self.rows, "series")

    @cached_property
    def pairs(self) -> JudgedPairs:
        """Return the pairs with their cross-fitted bands."""
        return judged_pairs(self.held_out, self.runs)

    def unpredicted(self, fold: str) -> dict[str, int]:
        """Return how many published figures a fold does not predict, by figure, those that there are."""
        missing = Counter(figure for run in self.runs for figure in run.figures)
        missing.subtract(row.figure for row in of_fold(self.rows, fold))
        return {figure: missing[figure] for figure in FIGURES if missing[figure] > 0}

    @cached_property
    def ratios(self) -> tuple[RatioFound, ...]:
        """Return the known ratios."""
        return known_ratios(self.rows)

    @cached_property
    def peer_records(self) -> tuple[PeerRecord, ...]:
        """Return how other estimators do on the same rows."""
        return peer_records(self.peers, self.series_rows)


def summary(data: ReportData) -> dict[str, Any]:
    """Return the figures of the report that other programs read.

    By fold and view, figures without a prediction, pairs of accelerators and of plans, known ratios.
    """
    folds = {
        fold: {
            str(view): _fields(measure(rows))
            for view, rows in by_view(of_fold(data.rows, fold), whole=True).items()
        }
        for fold in data.folds
    }
    pairs = {fold: _pair_fields(data.pairs.accelerators, fold) for _, fold in PAIR_FOLDS}
    ratios = [
        {
            "ratio": each.known.title,
            "fold": each.fold,
            "measured": _short(each.measured),
            "predicted": _short(each.predicted),
        }
        for each in data.ratios
    ]
    return {
        "data": data.data_revision,
        "runs": len(data.runs),
        "folds": folds,
        "unpredicted": {fold: data.unpredicted(fold) for fold in data.folds},
        "pairs": {fold: found for fold, found in pairs.items() if found},
        "plans": _pair_fields(data.pairs.plans, PAIR_FOLDS[0][1]),
        "ratios": ratios,
    }


def _pair_fields(pairs: Sequence[JudgedPair], fold: str) -> dict[str, dict[str, float | int | None]]:
    """Return how the pairs of a fold went, by figure."""
    records = {figure: pair_record(found) for figure, found in by_figure(pairs, fold).items()}
    return {
        figure: {
            "pairs": record.pairs,
            "named": record.named,
            "named_right": _short(record.named_right),
            "open": record.open,
            "open_right": _short(record.open_right),
            "coverage": _short(record.coverage),
        }
        for figure, record in records.items()
    }


def _fields(found: Measure) -> dict[str, float | int | None]:
    return {
        "rows": found.rows,
        "median": _short(found.median),
        "p90": _short(found.p90),
        "bias": _short(found.bias),
        "coverage": _short(found.coverage),
        "width": _short(found.width),
    }


def _short(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.4g}")
