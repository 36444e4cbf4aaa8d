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


def read_held_out(path: Path) -> tuple[HeldOut, ...]:
    """Read the figures that `write_held_out` wrote."""
    with path.open(newline="") as file:
        return tuple(
            HeldOut(row["run"], row["figure"], row["fold"], float(row["measured"]), float(row["predicted"]))
            for row in csv.DictReader(file)
        )
