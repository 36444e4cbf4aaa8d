"""The rows of the comparison table that the estimates fill, and the memory that a deployment takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from gpudesk.domain.answers import Answer, Column
from gpudesk.domain.comparison import column_keys, difference, ranked
from gpudesk.domain.estimates import Banded, Estimate
from gpudesk.domain.formatting import UNKNOWN, Formatter, Quantity, in_display_unit
from gpudesk.sentences import sentence
from gpudesk.sheets.comparison_parts import ComparedCell, ComparedRow, Origin, Reference
from gpudesk.sheets.comparison_specs import delta_text
from gpudesk.sheets.figures import (
    figure_marks,
    figures_of,
    fit_cell,
    limiter_text,
    memory_parts,
    most_holding,
    most_in_flight,
    plan_cell,
)
from gpudesk.sheets.labels import FIGURE_UNITS, basis_label, engine_name, figure_label
from gpudesk.sheets.sheet import Mark
from gpudesk.text import tr

#: Figures with a band, in the order of their rows, with whether more of it is better.
_BANDED: Final = (
    ("output_tokens_per_s", True),
    ("output_tokens_per_s_per_accelerator", True),
    ("tpot_ms", False),
    ("ttft_ms", False),
    ("request_s", False),
    ("batch_s", False),
    ("total_tokens_per_s", True),
)
_PER_ACCELERATOR: Final = "output_tokens_per_s_per_accelerator"
#: What words about a deployment are explained by.
_THROUGHPUT: Final = "output_tokens_per_s"


def workload_rows(answer: Answer, formatter: Formatter) -> tuple[ComparedRow, ...]:
    """Return how fast each deployment is, what it holds, what limits it and how it was set up."""
    rows = [*_fit_rows(answer, formatter)]
    rows += [
        _banded_row(answer, figure, more, formatter)
        for figure, more in _BANDED
        if _is_worth_a_row(answer, figure)
    ]
    rows.append(_most_in_flight_row(answer, formatter))
    rows.append(_word_row(answer, "limiter", tr("Limited by"), _limiter))
    rows.append(_plan_row(answer, formatter))
    rows.append(
        _word_row(answer, "serving_engine", tr("Serving engine"), lambda e: engine_name(e.serving_engine))
    )
    rows.append(_word_row(answer, "basis", tr("Basis of the estimate"), lambda e: basis_label(e.basis)))
    return tuple(row for row in rows if any(cell.value is not None for cell in row.cells))


def memory_use_rows(answer: Answer, formatter: Formatter) -> tuple[ComparedRow, ...]:
    """Return what fills the memory of the fullest accelerator of each deployment."""
    if all(column.estimate is None for column in answer.columns):
        return ()
    return tuple(_memory_row(answer, key, label, part, formatter) for key, label, part in memory_parts())


def why_no_figure(column: Column, formatter: Formatter) -> tuple[str, str | None]:
    """Return in a few words why a column has no such figure, and in a sentence where there is more to say."""
    estimate = column.estimate
    if estimate is None:
        return tr("no estimate"), None if column.problem is None else sentence(column.problem, formatter)
    if not estimate.fits:
        short = tr("does not fit on {n}", n=formatter.count(estimate.count))
        return short, None if estimate.reason is None else sentence(estimate.reason, formatter)
    if estimate.stable is False:
        return tr("overloaded"), tr("Requests arrive faster than they can be answered")
    if estimate.output_tokens_per_s is None:
        return tr("limits not met"), tr("Not even one request in flight meets the latency limits")
    return tr("not at this load"), None


def _unknown(column: Column, formatter: Formatter) -> ComparedCell:
    reason, explanation = why_no_figure(column, formatter)
    return ComparedCell(UNKNOWN, reason=reason, explanation=explanation)


def _is_worth_a_row(answer: Answer, figure: str) -> bool:
    """Whether the row says more than another one: per accelerator only where their counts differ."""
    if figure == _PER_ACCELERATOR:
        return len({column.estimate.count for column in answer.columns if column.estimate}) > 1
    return True


def _banded_row(answer: Answer, figure: str, more_is_better: bool, formatter: Formatter) -> ComparedRow:
    keys = column_keys(answer.scenario.accelerators)
    values, marks = figures_of(answer, figure), figure_marks(answer, figure)
    cells = []
    for position, (column, value) in enumerate(zip(answer.columns, values, strict=True)):
        if value is None or column.estimate is None:
            cells.append(_unknown(column, formatter))
            continue
        ratio = _ratio(answer, figure, keys, position)
        delta = None if ratio is None else delta_text(ratio, formatter)
        cells.append(_banded_cell(value, column.estimate, delta, marks[position], formatter))
    return ComparedRow(
        figure,
        figure_label(figure),
        FIGURE_UNITS[figure],
        tuple(cells),
        Reference(Origin.FIGURE, figure),
        more_is_better,
    )


def _ratio(answer: Answer, figure: str, keys: tuple[str, ...], position: int) -> float | None:
    """Return a column's figure over the baseline's: as the answer judges it, else plainly."""
    found = difference(answer, figure, keys[0], keys[position]) if position else None
    if found is not None:
        return found.ratio.value
    values = figures_of(answer, figure)
    base, value = values[0], values[position]
    if not position or base is None or value is None or not base.value:
        return None
    return value.value / base.value


def _banded_cell(
    value: Banded, estimate: Estimate, delta: str | None, mark: Mark | None, formatter: Formatter
) -> ComparedCell:
    return ComparedCell(
        formatter.estimate(value.value),
        value=value.value,
        low=value.low,
        high=value.high,
        band=formatter.band(value),
        delta=delta,
        mark=mark,
        basis=estimate.basis,
    )


def _most_in_flight_row(answer: Answer, formatter: Formatter) -> ComparedRow:
    held = most_in_flight(answer)
    best = most_holding(ranked(answer, held))
    cells = tuple(
        _unknown(column, formatter)
        if value is None
        else ComparedCell(
            formatter.count(value),
            value=value,
            delta=delta_text(value / held[0], formatter) if position and held[0] else None,
            mark=Mark.BEST if position == best else None,
        )
        for position, (column, value) in enumerate(zip(answer.columns, held, strict=True))
    )
    return ComparedRow(
        "max_concurrency",
        figure_label("max_concurrency"),
        None,
        cells,
        Reference(Origin.FIGURE, "max_concurrency"),
        more_is_better=True,
    )


def _fit_rows(answer: Answer, formatter: Formatter) -> tuple[ComparedRow, ...]:
    """Return who fits, where some do not or hold fewer than asked; else the figures say so."""
    found = [fit_cell(column, formatter) for column in answer.columns]
    if not any(cell.mark is Mark.FAILS or cell.detail for cell in found):
        return ()
    cells = tuple(
        ComparedCell(
            cell.text,
            value=cell.text,
            second=cell.detail,
            explanation=why_no_figure(column, formatter)[1] if cell.mark is Mark.FAILS else None,
            mark=cell.mark,
        )
        for cell, column in zip(found, answer.columns, strict=True)
    )
    return (ComparedRow("fits", tr("Fits"), None, cells, Reference(Origin.FIGURE, "memory")),)


def _plan_row(answer: Answer, formatter: Formatter) -> ComparedRow:
    cells = []
    for column in answer.columns:
        if column.estimate is None:
            cells.append(_unknown(column, formatter))
            continue
        shown = plan_cell(column.estimate, formatter)
        cells.append(ComparedCell(shown.text, value=shown.text, second=shown.detail))
    reference = Reference(Origin.FIGURE, "memory")
    return ComparedRow("plan", tr("Deployment"), None, tuple(cells), reference)


def _memory_row(
    answer: Answer, key: str, label: str, part: Callable[[Estimate], int | None], formatter: Formatter
) -> ComparedRow:
    sizes = [None if column.estimate is None else part(column.estimate) for column in answer.columns]
    cells = tuple(
        _unknown(column, formatter)
        if size is None
        else ComparedCell(
            formatter.gib(size),
            value=in_display_unit(size, Quantity.MEMORY),
            delta=delta_text(size / sizes[0], formatter) if position and sizes[0] else None,
        )
        for position, (column, size) in enumerate(zip(answer.columns, sizes, strict=True))
    )
    return ComparedRow(f"memory.{key}", label, "GiB", cells, Reference(Origin.FIGURE, "memory"))


def _limiter(estimate: Estimate) -> str | None:
    said = limiter_text(estimate)
    return None if said == UNKNOWN else said


def _word_row(answer: Answer, key: str, label: str, word: Callable[[Estimate], str | None]) -> ComparedRow:
    words = [None if column.estimate is None else word(column.estimate) for column in answer.columns]
    cells = tuple(
        _unknown(column, Formatter()) if said is None else ComparedCell(said, value=said)
        for column, said in zip(answer.columns, words, strict=True)
    )
    return ComparedRow(key, label, None, cells, Reference(Origin.FIGURE, _THROUGHPUT))
