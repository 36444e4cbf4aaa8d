"""Other estimators in the accuracy report: their answers to the same runs beside ours from held-out fits."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gpudesk.evidence.judging import Judged
from gpudesk.evidence.report_measures import View, view_of


@dataclass(frozen=True, slots=True)
class PeerAnswers:
    """What an estimator says under one setting, by run and figure, and why it says nothing of others."""

    peer: str
    version: str
    setting: str
    values: Mapping[tuple[str, str], float]
    refused: Mapping[tuple[str, str], str]


@dataclass(frozen=True, slots=True)
class PeerSpeed:
    """How many runs an estimator answers a second on one machine."""

    peer: str
    version: str
    how: str
    runs: int
    runs_per_s: float


@dataclass(frozen=True, slots=True)
class Miss:
    """Median and 90th hundredth of the error, and median predicted over measured."""

    median: float
    p90: float
    bias: float


@dataclass(frozen=True, slots=True)
class PeerRecord:
    """An estimator beside ours on the rows that it answers, of `asked` rows."""

    answers: PeerAnswers
    view: View
    asked: int
    answered: int
    theirs: Miss
    ours: Miss


def read_peers(path: Path) -> tuple[PeerAnswers, ...]:
    """Read the answers of all estimators and settings."""
    values: dict[tuple[str, str, str], dict[tuple[str, str], float]] = {}
    refused: dict[tuple[str, str, str], dict[tuple[str, str], str]] = {}
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            key = (row["peer"], row["version"], row["setting"])
            values.setdefault(key, {})
            refused.setdefault(key, {})
            place = (row["run"], row["figure"])
            if row["value"]:
                values[key][place] = float(row["value"])
            else:
                refused[key][place] = row["reason"]
    return tuple(PeerAnswers(*key, values[key], refused[key]) for key in values)


def read_speeds(path: Path) -> tuple[PeerSpeed, ...]:
    """Read how quick the estimators are."""
    with path.open(newline="", encoding="utf-8") as file:
        return tuple(
            PeerSpeed(row["peer"], row["version"], row["how"], int(row["runs"]), float(row["runs_per_s"]))
            for row in csv.DictReader(file)
        )


def peer_records(peers: Iterable[PeerAnswers], rows: Sequence[Judged]) -> tuple[PeerRecord, ...]:
    """Return how each estimator does on the rows that it was asked for, by view."""
    found: list[PeerRecord] = []
    by_place = {(row.run.id, row.figure): row for row in rows}
    for peer in peers:
        for view in View:
            asked = {place: row for place, row in by_place.items() if view_of(row.figure, row.run) is view}
            answered = [(row, peer.values[place]) for place, row in asked.items() if place in peer.values]
            known = len(answered) + sum(place in peer.refused for place in asked)
            if answered:
                theirs = _miss([value / row.measured for row, value in answered])
                ours = _miss([row.ratio for row, _ in answered])
                found.append(PeerRecord(peer, view, known, len(answered), theirs, ours))
    return tuple(found)


def refusals(peer: PeerAnswers) -> list[tuple[str, int]]:
    """Return why an estimator leaves figures open, most often first."""
    return Counter(peer.refused.values()).most_common()


def _miss(ratios: Sequence[float]) -> Miss:
    found = np.array(ratios)
    errors = np.abs(found - 1.0)
    return Miss(float(np.median(errors)), float(np.quantile(errors, 0.9)), float(np.median(found)))
