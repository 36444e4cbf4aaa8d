"""What the program says of the memory figures that serving engines print."""

from __future__ import annotations

from collections.abc import Iterable

from gpudesk.engine.constants import Calibration
from gpudesk.evidence.memory_rows import JudgedMemory, MemoryRow
from gpudesk.workbench.estimating import Facts
from gpudesk.workbench.setups import frame, placements


def memory_record(
    rows: Iterable[MemoryRow], facts: Facts, calibration: Calibration
) -> tuple[JudgedMemory, ...]:
    """Return the rows that are judged by, each beside what an estimate of its deployment says."""
    return tuple(_judged(row, facts, calibration) for row in rows if row.unused is None)


def _judged(row: MemoryRow, facts: Facts, calibration: Calibration) -> JudgedMemory:
    request = row.request
    part = row.part(facts.accelerator(request.accelerator))
    setup = frame(request, part, facts.model(request.model), facts.serving_engines(), calibration)
    (placed,) = placements(request, setup, request.count or 1)
    return JudgedMemory(row, row.predicted(placed.budget))
