"""Cells that tables of the accuracy report share."""

from __future__ import annotations

from gpudesk.evidence.report_measures import Measure, Misses
from gpudesk.evidence.report_words import bold, factor, share

#: Heads of the cells.
MEASURED_HEAD = ("rows", "median", "p90", "bias", "band holds", "high/low")


def measured_cells(found: Measure, missed: Misses) -> tuple[str, ...]:
    """Return the cells of a row under `MEASURED_HEAD`; what misses a bar is marked."""
    return (
        f"{found.rows:,}",
        bold(share(found.median), missed.median),
        bold(share(found.p90), missed.p90),
        factor(found.bias),
        bold(share(found.coverage), missed.coverage),
        bold(f"{found.width:.2f}", missed.width),
    )
