"""The rows of a sheet that an estimate fills, and the differences against the baseline."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from gpudesk.domain.answers import Answer, Column
from gpudesk.domain.comparison import column_keys, difference, leaders, ranked
from gpudesk.domain.estimates import Banded, Estimate, Pools
from gpudesk.domain.formatting import UNKNOWN, Formatter
from gpudesk.sheets.labels import (
    FIGURE_UNITS,
    basis_label,
    engine_name,
    figure_label,
    limiter_label,
)
from gpudesk.sheets.sheet import Cell, Group, Mark, Row
from gpudesk.text import tr

#: Figures against the baseline, in this order.
_COMPARED: Final = (
    "output_tokens_per_s",
    "output_tokens_per_s_per_accelerator",
    "ttft_ms",
    "tpot_ms",
)

_WITH_BAND: Final = (
    "output_tokens_per_s",
    "output_tokens_per_s_per_accelerator",
    "ttft_ms",
    "tpot_ms",
    "request_s",
    "batch_s",
)


def difference_groups(answer: Answer, names: tuple[str, ...], formatter: Formatter) -> tuple[Group, ...]:
    """Return each column against the first, or nothing where there is nothing to compare."""
    keys = column_keys(answer.scenario.accelerators)
    compared = [
        figure
        for figure in _COMPARED
        if any(found.figure == figure and found.baseline == keys[0] for found in answer.differences)
    ]
    if len({column.estimate.count if column.estimate else 1 for column in answer.columns}) == 1:
        # With equal counts the figure per accelerator says the same again.
        compared = [figure for figure in compared if figure != "output_tokens_per_s_per_accelerator"]
    if not compared:
        return ()
    rows = tuple(
        Row(
            figure_label(figure),
            "%",
            (
                Cell(tr("baseline")),
                *(_difference_cell(answer, figure, keys[0], key, formatter) for key in keys[1:]),
            ),
        )
        for figure in compared
    )
    return (Group(tr("Against {baseline}", baseline=names[0]), rows),)


def is_compared(answer: Answer, figure: str) -> bool:
    """Return whether the answer states differences of this figure, without which nobody leads."""
    return any(found.figure == figure for found in answer.differences)


def _difference_cell(answer: Answer, figure: str, baseline: str, key: str, formatter: Formatter) -> Cell:
    found = difference(answer, figure, baseline, key)
    if found is None:
        return Cell(UNKNOWN)
    return Cell(
        formatter.signed_per_cent(found.ratio.value),
        low=formatter.signed_per_cent(found.ratio.low),
        high=formatter.signed_per_cent(found.ratio.high),
        mark=Mark.OPEN if found.winner is None else None,
    )


def workload_group(answer: Answer, formatter: Formatter) -> Group:
    """Return the rows of results: what fits, how fast, what limits, on what basis."""
    plans = _plan_row(answer, formatter)
    # One count for all, each accelerator by itself, is said among the assumptions.
    rows = [plans] if len(set(plans.cells)) > 1 or any(cell.detail for cell in plans.cells) else []
    if any(cell.mark is Mark.FAILS or cell.detail for cell in _fit_cells(answer, formatter)):
        # Where all is well the figures say so.
        rows.insert(0, Row(tr("Fits"), None, _fit_cells(answer, formatter)))
    rows += [
        _banded_row(answer, figure, formatter) for figure in _WITH_BAND if _shown(answer.columns, figure)
    ]
    rows.append(_most_in_flight_row(answer, formatter))
    rows.append(_word_row(answer, tr("Limited by"), limiter_text))
    if len({column.estimate.serving_engine for column in answer.columns if column.estimate}) > 1:
        # One for all is said among the assumptions.
        rows.append(_word_row(answer, tr("Serving engine"), lambda e: engine_name(e.serving_engine)))
    rows.append(_word_row(answer, tr("Basis of the estimate"), lambda e: basis_label(e.basis)))
    return Group(tr("At this workload"), tuple(rows))


def memory_rows(answer: Answer, formatter: Formatter) -> tuple[Row, ...]:
    """Return what fills the memory of the fullest accelerator."""
    return tuple(
        Row(label, "GiB", tuple(_gib_cell(column, part, formatter) for column in answer.columns))
        for _, label, part in memory_parts()
    )


def memory_parts() -> tuple[tuple[str, str, Callable[[Estimate], int | None]], ...]:
    """Return the parts of the memory of the fullest accelerator: key, label, bytes of an estimate.

    What does not fit runs no load and leaves nothing free: there the bytes are None.
    """
    return (
        ("weights", tr("Weights on the fullest"), lambda estimate: estimate.memory.weights_bytes),
        (
            "kv",
            tr("KV cache at this load"),
            lambda estimate: estimate.memory.kv_bytes if estimate.fits else None,
        ),
        (
            "activations",
            tr("Activations and runtime"),
            lambda estimate: estimate.memory.activations_bytes + estimate.memory.runtime_bytes,
        ),
        ("free", tr("Left free"), lambda estimate: estimate.memory.free_bytes if estimate.fits else None),
    )


def _gib_cell(column: Column, part: Callable[[Estimate], int | None], formatter: Formatter) -> Cell:
    size = None if column.estimate is None else part(column.estimate)
    return Cell(UNKNOWN if size is None else formatter.gib(size))


def _shown(columns: Iterable[Column], figure: str) -> bool:
    """Whether a row is worth having: some column has the figure, and it says more than another row."""
    estimates = [column.estimate for column in columns if column.estimate is not None]
    if figure == "output_tokens_per_s_per_accelerator" and len({e.count for e in estimates}) < 2:
        return False
    return any(getattr(estimate, figure) is not None for estimate in estimates)


def _banded_row(answer: Answer, figure: str, formatter: Formatter) -> Row:
    cells = tuple(
        banded_cell(value, formatter, mark)
        for value, mark in zip(figures_of(answer, figure), figure_marks(answer, figure), strict=True)
    )
    return Row(figure_label(figure), FIGURE_UNITS[figure], cells)


def figures_of(answer: Answer, figure: str) -> list[Banded | None]:
    """Return a figure of each column; None where it has none."""
    return [
        None if column.estimate is None else getattr(column.estimate, figure) for column in answer.columns
    ]


def figure_marks(answer: Answer, figure: str) -> list[Mark | None]:
    """Return for each column whether it is the best at a figure, or among those that nobody beats."""
    best = leaders(answer, figure) if is_compared(answer, figure) else ()
    mark = Mark.BEST
    if len(best) > 1:
        stated = sum(value is not None for value in ranked(answer, figures_of(answer, figure)))
        mark = Mark.OPEN if len(best) == stated else Mark.TIED
    return [mark if position in best else None for position in range(len(answer.columns))]


def banded_cell(value: Banded | None, formatter: Formatter, mark: Mark | None = None) -> Cell:
    """Return a figure with its band."""
    if value is None:
        return Cell(UNKNOWN)
    return Cell(
        formatter.estimate(value.value),
        low=formatter.estimate(value.low),
        high=formatter.estimate(value.high),
        mark=mark,
    )


def _fit_cells(answer: Answer, formatter: Formatter) -> tuple[Cell, ...]:
    return tuple(fit_cell(column, formatter) for column in answer.columns)


def fit_cell(column: Column, formatter: Formatter) -> Cell:
    """Return whether a column fits, with what it takes or holds where that is not all that is asked."""
    estimate = column.estimate
    if estimate is None:
        return Cell(tr("no estimate"), mark=Mark.FAILS)
    if not estimate.fits:
        remedy = None if estimate.needs is None else tr("use {n}", n=formatter.count(estimate.needs))
        return Cell(
            tr("does not fit on {n}", n=formatter.count(estimate.count)), detail=remedy, mark=Mark.FAILS
        )
    asked, admitted = estimate.concurrency, estimate.admitted
    if asked is not None and admitted is not None and admitted < asked:
        numbers = {"n": formatter.count(admitted), "m": formatter.count(asked)}
        by_memory = admitted == estimate.max_concurrency
        held = tr("holds {n} of {m}", **numbers) if by_memory else tr("runs {n} of {m}", **numbers)
        return Cell(tr("fits"), detail=held)
    return Cell(tr("fits"))


def grown_text(estimate: Estimate, formatter: Formatter) -> str:
    """Return how many run where more do than memory would hold at full length."""
    running, most = formatter.count(estimate.admitted), formatter.count(estimate.max_concurrency)
    if (estimate.concurrency or 0) > (estimate.admitted or 0):
        asked = formatter.count(estimate.concurrency)
        return tr(
            "runs {n} of {m} at once; memory holds {most} at full length", n=running, m=asked, most=most
        )
    return tr("runs {n} at once; memory holds {most} at full length", n=running, most=most)


def _plan_row(answer: Answer, formatter: Formatter) -> Row:
    cells = tuple(
        Cell(UNKNOWN) if column.estimate is None else plan_cell(column.estimate, formatter)
        for column in answer.columns
    )
    return Row(tr("Deployment"), None, cells)


def plan_cell(estimate: Estimate, formatter: Formatter) -> Cell:
    """Return the count, and below it those degrees of the plan that are above one."""
    if estimate.pools is not None:
        return Cell(f"× {formatter.count(estimate.count)}", detail=pools_text(estimate.pools, formatter))
    plan = estimate.plan
    degrees = (("TP", plan.tp), ("PP", plan.pp), ("EP", plan.ep), ("DP", plan.dp))
    named = [f"{name} {formatter.count(degree)}" for name, degree in degrees if degree > 1]
    if plan.attention_dp:
        named.append(tr("attention DP"))
    return Cell(f"× {formatter.count(estimate.count)}", detail=", ".join(named) or None)


def pools_text(pools: Pools, formatter: Formatter) -> str:
    """Return how the accelerators of a disaggregated deployment are split."""
    prefill, decode = formatter.count(pools.prefill.count), formatter.count(pools.decode.count)
    return tr("{n} prefill, {m} decode", n=prefill, m=decode)


def remembered_text(estimate: Estimate, formatter: Formatter) -> str:
    """Return the deployment whose memory an estimate tells: of pools the one that decodes."""
    if estimate.pools is not None:
        part, whole = formatter.count(estimate.pools.decode.count), formatter.count(estimate.count)
        return tr("decode pool, {n} of {count}", n=part, count=whole)
    plan = plan_cell(estimate, formatter)
    return f"{plan.text}, {plan.detail}" if plan.detail else plan.text


def _most_in_flight_row(answer: Answer, formatter: Formatter) -> Row:
    held = most_in_flight(answer)
    best = most_holding(ranked(answer, held))
    cells = tuple(
        Cell(formatter.count(value), mark=Mark.BEST if position == best else None)
        for position, value in enumerate(held)
    )
    return Row(figure_label("max_concurrency"), None, cells)


def most_in_flight(answer: Answer) -> list[int | None]:
    """Return how many requests each column holds at most; None where not even one fits."""
    estimates = [column.estimate for column in answer.columns]
    return [None if e is None or not e.fits else e.max_concurrency for e in estimates]


def most_holding(held: Sequence[int | None]) -> int | None:
    """Return the position of the one that holds more than all others; memory is exact and has no band."""
    known = [value for value in held if value]
    most = max(known, default=0)
    return held.index(most) if known.count(most) == 1 and len(held) > 1 else None


def limiter_text(estimate: Estimate) -> str:
    """Return what binds the deployment; where no load meets the latency limits, these do."""
    if estimate.fits and estimate.output_tokens_per_s is None and estimate.stable is not False:
        return tr("the latency limits")
    return UNKNOWN if estimate.limiter is None else limiter_label(estimate.limiter)


def _word_row(answer: Answer, label: str, word: Callable[[Estimate], str]) -> Row:
    cells = tuple(
        Cell(UNKNOWN) if column.estimate is None else Cell(word(column.estimate)) for column in answer.columns
    )
    return Row(label, None, cells)
