"""The numbers of the bar chart as a table."""

from __future__ import annotations

from gpudesk.desktop.charts.data_table import Data
from gpudesk.desktop.session.desk import Desk
from gpudesk.domain.estimates import Estimate
from gpudesk.domain.formatting import MACHINE, UNKNOWN, Formatter
from gpudesk.domain.units import GIB
from gpudesk.sheets.figures import fit_cell, plan_cell
from gpudesk.text import tr

#: Decimals of GiB in tables for programs: a MiB is not lost.
_MACHINE_DECIMALS = 4
#: Columns with figures of an estimate.
_FIGURES = 10


def bars_data(desk: Desk, formatter: Formatter, title: str) -> Data:
    """Return a row for each column of the desk's answer."""
    heads = (
        tr("Accelerator"),
        tr("Plan"),
        tr("Verdict"),
        tr("Count"),
        tr("Weights, GiB"),
        tr("KV cache, GiB"),
        tr("Activations, GiB"),
        tr("Runtime, GiB"),
        tr("Needed, GiB"),
        tr("Usable, GiB"),
        tr("Capacity, GiB"),
        tr("In flight"),
        tr("Most in flight"),
    )
    answer = desk.answer
    rows = []
    for name, column in zip(desk.names, () if answer is None else answer.columns, strict=True):
        verdict = fit_cell(column, formatter)
        said = ", ".join(each for each in (verdict.text, verdict.detail) if each)
        estimate = column.estimate
        if estimate is None:
            rows.append((name, "", said, *[UNKNOWN] * _FIGURES))
        else:
            plan = plan_cell(estimate, formatter).detail or ""
            rows.append((name, plan, said, *_figures(estimate, desk, formatter)))
    return Data(title=title, heads=heads, rows=tuple(rows), first_number=3)


def _figures(estimate: Estimate, desk: Desk, formatter: Formatter) -> tuple[str, ...]:
    use, room = estimate.memory, desk.workbench.memory_room(estimate)
    sizes = (
        use.weights_bytes,
        use.kv_bytes,
        use.activations_bytes,
        use.runtime_bytes,
        room.needed_bytes,
        room.usable_bytes,
        use.capacity_bytes,
    )
    return (
        formatter.count(estimate.count),
        *(_gib(size, formatter) for size in sizes),
        formatter.count(estimate.admitted),
        formatter.count(estimate.max_concurrency),
    )


def _gib(size: int, formatter: Formatter) -> str:
    exact = formatter.style is MACHINE
    return formatter.number(size / GIB, _MACHINE_DECIMALS) if exact else formatter.gib(size)
