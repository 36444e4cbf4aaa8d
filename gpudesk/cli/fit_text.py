"""Which accelerators hold which models, as text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from gpudesk.cli.tables import table
from gpudesk.domain.fit_matrix import FitCell
from gpudesk.domain.formatting import UNKNOWN, Formatter
from gpudesk.sentences import plan_name, sentence
from gpudesk.sheets.labels import engine_name, precision_name
from gpudesk.text import tr


def fit_lines(
    cells: Sequence[FitCell],
    parts: Mapping[str, str],
    models: Mapping[str, str],
    formatter: Formatter,
    width: int,
    strong: Callable[[str], str],
) -> Iterator[str]:
    """Yield a table with one pair in a row."""
    head = (
        tr("Model"),
        tr("Weights"),
        tr("Accelerator"),
        tr("Count"),
        tr("Free, GiB"),
        tr("Plan and serving engine, or why not"),
    )
    rows = [
        (
            models[cell.model],
            precision_name(cell.weights),
            parts[cell.accelerator],
            formatter.count(cell.count),
            UNKNOWN if cell.headroom_bytes is None else formatter.gib(cell.headroom_bytes),
            _remark(cell, formatter),
        )
        for cell in cells
    ]
    yield from table(head, rows, width, right=(3, 4), strong=strong)


def _remark(cell: FitCell, formatter: Formatter) -> str:
    if cell.plan is None:
        return "" if cell.reason is None else sentence(cell.reason, formatter)
    engine = "" if cell.serving_engine is None else engine_name(cell.serving_engine)
    return tr("{plan}, {engine}", plan=plan_name(cell.plan), engine=engine)
