"""Reads and writes what folds predict: one line for each figure of a run and each fold."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from gpudesk.evidence.held_out import HeldOut

COLUMNS: Final = ("run", "figure", "fold", "measured", "predicted")


def write_held_out(path: Path, figures: Iterable[HeldOut]) -> None:
    """Write the figures, sorted by run, figure and fold; predictions to five significant digits."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for each in sorted(figures, key=lambda one: (one.run, one.figure, one.fold)):
            writer.writerow([each.run, each.figure, each.fold, f"{each.measured:g}", f"{each.predicted:.5g}"])


def read_held_out(path: Path, fold: str | None = None) -> tuple[HeldOut, ...]:
    """Read the figures that `write_held_out` wrote, all or those of one fold, which is quicker."""
    with path.open(newline="") as file:
        rows = csv.reader(file)
        header = next(rows, [])
        run, figure, trait, measured, predicted = (header.index(name) for name in COLUMNS)
        return tuple(
            HeldOut(row[run], row[figure], row[trait], float(row[measured]), float(row[predicted]))
            for row in rows
            if fold is None or row[trait] == fold
        )
