"""Rows of the comparison that estimates fill, and differences against the baseline."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from gpudesk.domain.answer import (
    Answer,
    ComparisonColumn,
    find_difference,
    find_leaders,
    make_column_keys,
    mask_unranked,
)
from gpudesk.domain.estimate import DisaggregatedPools, Estimate
from gpudesk.report.comparison.attribute_rows import format_delta
from gpudesk.report.comparison.tables import (
    CellMarking,
    ComparedCell,
    ComparedRow,
    RowOrigin,
    RowReference,
    SheetCell,
    SheetGroup,
    SheetRow,
)
from gpudesk.report.labels import FIGURE_UNITS, label_basis, label_figure, label_limiter, label_serving_engine
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter, IntervalEstimate, Quantity, convert_to_display_unit
from gpudesk.text.messages import format_message
from gpudesk.text.translation import tr

#: Figures against the baseline, in this order.
_DIFFERENCE_FIGURES: Final = ("output_tokens_per_s", "output_tokens_per_s_per_accelerator", "ttft_ms", "tpot_ms")

_INTERVAL_FIGURES: Final = (
    "output_tokens_per_s",
    "output_tokens_per_s_per_accelerator",
    "ttft_ms",
    "tpot_ms",
    "request_s",
    "batch_s",
)


def build_difference_groups(answer: Answer, names: tuple[str, ...], formatter: Formatter) -> tuple[SheetGroup, ...]:
    """Return each column against the first, or nothing where there is nothing to compare."""
    keys = make_column_keys(answer.scenario.accelerators)
    compared = [
        figure
        for figure in _DIFFERENCE_FIGURES
        if any(found.figure == figure and found.baseline == keys[0] for found in answer.differences)
    ]
    if len({column.estimate.count if column.estimate else 1 for column in answer.columns}) == 1:
        # With equal counts the figure per accelerator says the same again.
        compared = [figure for figure in compared if figure != "output_tokens_per_s_per_accelerator"]
    if not compared:
        return ()
    rows = tuple(
        SheetRow(
            label_figure(figure),
            "%",
            (
                SheetCell(tr("baseline")),
                *(_build_difference_cell(answer, figure, keys[0], key, formatter) for key in keys[1:]),
            ),
        )
        for figure in compared
    )
    return (SheetGroup(tr("Against {baseline}", baseline=names[0]), rows),)


def is_compared(answer: Answer, figure: str) -> bool:
    return any(found.figure == figure for found in answer.differences)


def _build_difference_cell(answer: Answer, figure: str, baseline: str, key: str, formatter: Formatter) -> SheetCell:
    found = find_difference(answer, figure, baseline, key)
    if found is None:
        return SheetCell(MISSING_VALUE_TEXT)
    return SheetCell(
        formatter.signed_per_cent(found.ratio.value),
        low=formatter.signed_per_cent(found.ratio.low),
        high=formatter.signed_per_cent(found.ratio.high),
        mark=CellMarking.OPEN if found.winner is None else None,
    )


def build_workload_group(answer: Answer, formatter: Formatter) -> SheetGroup:
    """Return the rows of results: what fits, how fast, what limits, on what basis."""
    plans = _build_plan_row(answer, formatter)
    # One count for all, each accelerator by itself, is said among the assumptions.
    rows = [plans] if len(set(plans.cells)) > 1 or any(cell.detail for cell in plans.cells) else []
    if any(cell.mark is CellMarking.FAILS or cell.detail for cell in _build_fit_cells(answer, formatter)):
        # Where all is well the figures say so.
        rows.insert(0, SheetRow(tr("Fits"), None, _build_fit_cells(answer, formatter)))
    rows += [
        _build_estimate_row(answer, figure, formatter)
        for figure in _INTERVAL_FIGURES
        if _has_figure_to_show(answer.columns, figure)
    ]
    rows.append(_build_concurrency_row(answer, formatter))
    rows.append(_build_word_row(answer, tr("Limited by"), format_limiter))
    if len({column.estimate.serving_engine for column in answer.columns if column.estimate}) > 1:
        # One for all is said among the assumptions.
        rows.append(_build_word_row(answer, tr("Serving engine"), lambda e: label_serving_engine(e.serving_engine)))
    rows.append(_build_word_row(answer, tr("Basis of the estimate"), lambda e: label_basis(e.basis)))
    return SheetGroup(tr("At this workload"), tuple(rows))


def build_memory_rows(answer: Answer, formatter: Formatter) -> tuple[SheetRow, ...]:
    return tuple(
        SheetRow(label, "GiB", tuple(_build_gib_cell(column, part, formatter) for column in answer.columns))
        for _, label, part in list_memory_parts()
    )


def list_memory_parts() -> tuple[tuple[str, str, Callable[[Estimate], int | None]], ...]:
    """Return the parts of the memory of the fullest accelerator: key, label, bytes of an estimate.

    What does not fit runs no load and leaves nothing free: there the bytes are None.
    """
    return (
        ("weights", tr("Weights on the fullest"), lambda estimate: estimate.memory.weights_bytes),
        ("kv", tr("KV cache at this load"), lambda estimate: estimate.memory.kv_bytes if estimate.fits else None),
        (
            "activations",
            tr("Activations and runtime"),
            lambda estimate: estimate.memory.activations_bytes + estimate.memory.runtime_bytes,
        ),
        ("free", tr("Left free"), lambda estimate: estimate.memory.free_bytes if estimate.fits else None),
    )


def _build_gib_cell(
    column: ComparisonColumn, part: Callable[[Estimate], int | None], formatter: Formatter
) -> SheetCell:
    size = None if column.estimate is None else part(column.estimate)
    return SheetCell(MISSING_VALUE_TEXT if size is None else formatter.gib(size))


def _has_figure_to_show(columns: Iterable[ComparisonColumn], figure: str) -> bool:
    """Whether a row is worth having: some column has the figure, and it says more than another row."""
    estimates = [column.estimate for column in columns if column.estimate is not None]
    if figure == "output_tokens_per_s_per_accelerator" and len({e.count for e in estimates}) < 2:
        return False
    return any(getattr(estimate, figure) is not None for estimate in estimates)


def _build_estimate_row(answer: Answer, figure: str, formatter: Formatter) -> SheetRow:
    cells = tuple(
        build_estimate_cell(value, formatter, mark)
        for value, mark in zip(get_column_figures(answer, figure), mark_figures(answer, figure), strict=True)
    )
    return SheetRow(label_figure(figure), FIGURE_UNITS[figure], cells)


def get_column_figures(answer: Answer, figure: str) -> list[IntervalEstimate | None]:
    """Return a figure of each column; None where it has none."""
    return [None if column.estimate is None else getattr(column.estimate, figure) for column in answer.columns]


def mark_figures(answer: Answer, figure: str) -> list[CellMarking | None]:
    """Return for each column whether it is the best at a figure, or among those that nobody beats."""
    best = find_leaders(answer, figure) if is_compared(answer, figure) else ()
    mark = CellMarking.BEST
    if len(best) > 1:
        stated = sum(value is not None for value in mask_unranked(answer, get_column_figures(answer, figure)))
        mark = CellMarking.OPEN if len(best) == stated else CellMarking.TIED
    return [mark if position in best else None for position in range(len(answer.columns))]


def build_estimate_cell(
    value: IntervalEstimate | None, formatter: Formatter, mark: CellMarking | None = None
) -> SheetCell:
    if value is None:
        return SheetCell(MISSING_VALUE_TEXT)
    return SheetCell(
        formatter.estimate(value.value),
        low=formatter.estimate(value.low),
        high=formatter.estimate(value.high),
        mark=mark,
    )


def _build_fit_cells(answer: Answer, formatter: Formatter) -> tuple[SheetCell, ...]:
    return tuple(build_fit_cell(column, formatter) for column in answer.columns)


def build_fit_cell(column: ComparisonColumn, formatter: Formatter) -> SheetCell:
    """Return whether a column fits, with what it takes or holds where that is not all that is asked."""
    estimate = column.estimate
    if estimate is None:
        return SheetCell(tr("no estimate"), mark=CellMarking.FAILS)
    if not estimate.fits:
        remedy = None if estimate.needs is None else tr("use {n}", n=formatter.count(estimate.needs))
        return SheetCell(
            tr("does not fit on {n}", n=formatter.count(estimate.count)), detail=remedy, mark=CellMarking.FAILS
        )
    asked, admitted = estimate.concurrency, estimate.admitted
    if asked is not None and admitted is not None and admitted < asked:
        numbers = {"n": formatter.count(admitted), "m": formatter.count(asked)}
        by_memory = admitted == estimate.max_concurrency
        held = tr("holds {n} of {m}", **numbers) if by_memory else tr("runs {n} of {m}", **numbers)
        return SheetCell(tr("fits"), detail=held)
    return SheetCell(tr("fits"))


def describe_running_requests(estimate: Estimate, formatter: Formatter) -> str:
    """Return how many run where more do than memory would hold at full length."""
    running, most = formatter.count(estimate.admitted), formatter.count(estimate.max_concurrency)
    if (estimate.concurrency or 0) > (estimate.admitted or 0):
        asked = formatter.count(estimate.concurrency)
        return tr("runs {n} of {m} at once; memory holds {most} at full length", n=running, m=asked, most=most)
    return tr("runs {n} at once; memory holds {most} at full length", n=running, most=most)


def _build_plan_row(answer: Answer, formatter: Formatter) -> SheetRow:
    cells = tuple(
        SheetCell(MISSING_VALUE_TEXT) if column.estimate is None else build_plan_cell(column.estimate, formatter)
        for column in answer.columns
    )
    return SheetRow(tr("Deployment"), None, cells)


def build_plan_cell(estimate: Estimate, formatter: Formatter) -> SheetCell:
    """Return the count, and below it those degrees of the plan that are above one."""
    if estimate.pools is not None:
        return SheetCell(f"× {formatter.count(estimate.count)}", detail=describe_pools(estimate.pools, formatter))
    plan = estimate.plan
    degrees = (("TP", plan.tp), ("PP", plan.pp), ("EP", plan.ep), ("DP", plan.dp))
    named = [f"{name} {formatter.count(degree)}" for name, degree in degrees if degree > 1]
    if plan.attention_dp:
        named.append(tr("attention DP"))
    return SheetCell(f"× {formatter.count(estimate.count)}", detail=", ".join(named) or None)


def describe_pools(pools: DisaggregatedPools, formatter: Formatter) -> str:
    prefill, decode = formatter.count(pools.prefill.count), formatter.count(pools.decode.count)
    return tr("{n} prefill, {m} decode", n=prefill, m=decode)


def describe_memory_deployment(estimate: Estimate, formatter: Formatter) -> str:
    """Return the deployment whose memory an estimate tells: of pools the one that decodes."""
    if estimate.pools is not None:
        part, whole = formatter.count(estimate.pools.decode.count), formatter.count(estimate.count)
        return tr("decode pool, {n} of {count}", n=part, count=whole)
    plan = build_plan_cell(estimate, formatter)
    return f"{plan.text}, {plan.detail}" if plan.detail else plan.text


def _build_concurrency_row(answer: Answer, formatter: Formatter) -> SheetRow:
    held = get_max_concurrencies(answer)
    best = find_largest_concurrency(mask_unranked(answer, held))
    cells = tuple(
        SheetCell(formatter.count(value), mark=CellMarking.BEST if position == best else None)
        for position, value in enumerate(held)
    )
    return SheetRow(label_figure("max_concurrency"), None, cells)


def get_max_concurrencies(answer: Answer) -> list[int | None]:
    """Return how many requests each column holds at most; None where not even one fits."""
    estimates = [column.estimate for column in answer.columns]
    return [None if e is None or not e.fits else e.max_concurrency for e in estimates]


def find_largest_concurrency(held: Sequence[int | None]) -> int | None:
    """Return the position of the one that holds more than all others; memory is exact and has no band."""
    known = [value for value in held if value]
    most = max(known, default=0)
    return held.index(most) if known.count(most) == 1 and len(held) > 1 else None


def format_limiter(estimate: Estimate) -> str:
    """Return what binds the deployment; where no load meets the latency limits, these do."""
    if estimate.fits and estimate.output_tokens_per_s is None and estimate.stable is not False:
        return tr("the latency limits")
    return MISSING_VALUE_TEXT if estimate.limiter is None else label_limiter(estimate.limiter)


def _build_word_row(answer: Answer, label: str, word: Callable[[Estimate], str]) -> SheetRow:
    cells = tuple(
        SheetCell(MISSING_VALUE_TEXT) if column.estimate is None else SheetCell(word(column.estimate))
        for column in answer.columns
    )
    return SheetRow(label, None, cells)


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


def build_workload_rows(answer: Answer, formatter: Formatter) -> tuple[ComparedRow, ...]:
    rows = [*_build_compared_fit_rows(answer, formatter)]
    rows += [
        _build_compared_estimate_row(answer, figure, more, formatter)
        for figure, more in _BANDED
        if _is_row_informative(answer, figure)
    ]
    rows.append(_build_compared_concurrency_row(answer, formatter))
    rows.append(_build_compared_word_row(answer, "limiter", tr("Limited by"), _name_limiter))
    rows.append(_build_compared_plan_row(answer, formatter))
    rows.append(
        _build_compared_word_row(
            answer, "serving_engine", tr("Serving engine"), lambda e: label_serving_engine(e.serving_engine)
        )
    )
    rows.append(_build_compared_word_row(answer, "basis", tr("Basis of the estimate"), lambda e: label_basis(e.basis)))
    return tuple(row for row in rows if any(cell.value is not None for cell in row.cells))


def build_memory_use_rows(answer: Answer, formatter: Formatter) -> tuple[ComparedRow, ...]:
    if all(column.estimate is None for column in answer.columns):
        return ()
    return tuple(
        _build_compared_memory_row(answer, key, label, part, formatter) for key, label, part in list_memory_parts()
    )


def describe_missing_figure(column: ComparisonColumn, formatter: Formatter) -> tuple[str, str | None]:
    """Return in a few words why a column has no such figure, and in a sentence where there is more to say."""
    estimate = column.estimate
    if estimate is None:
        return tr("no estimate"), None if column.problem is None else format_message(column.problem, formatter)
    if not estimate.fits:
        short = tr("does not fit on {n}", n=formatter.count(estimate.count))
        return short, None if estimate.reason is None else format_message(estimate.reason, formatter)
    if estimate.stable is False:
        return tr("overloaded"), tr("Requests arrive faster than they can be answered")
    if estimate.output_tokens_per_s is None:
        return tr("limits not met"), tr("Not even one request in flight meets the latency limits")
    return tr("not at this load"), None


def _build_unknown_cell(column: ComparisonColumn, formatter: Formatter) -> ComparedCell:
    reason, explanation = describe_missing_figure(column, formatter)
    return ComparedCell(MISSING_VALUE_TEXT, reason=reason, explanation=explanation)


def _is_row_informative(answer: Answer, figure: str) -> bool:
    """Whether the row says more than another one: per accelerator only where their counts differ."""
    if figure == _PER_ACCELERATOR:
        return len({column.estimate.count for column in answer.columns if column.estimate}) > 1
    return True


def _build_compared_estimate_row(
    answer: Answer, figure: str, more_is_better: bool, formatter: Formatter
) -> ComparedRow:
    keys = make_column_keys(answer.scenario.accelerators)
    values, marks = get_column_figures(answer, figure), mark_figures(answer, figure)
    cells = []
    for position, (column, value) in enumerate(zip(answer.columns, values, strict=True)):
        if value is None or column.estimate is None:
            cells.append(_build_unknown_cell(column, formatter))
            continue
        ratio = _find_ratio_to_baseline(answer, figure, keys, position)
        delta = None if ratio is None else format_delta(ratio, formatter)
        cells.append(_build_compared_estimate_cell(value, column.estimate, delta, marks[position], formatter))
    return ComparedRow(
        figure,
        label_figure(figure),
        FIGURE_UNITS[figure],
        tuple(cells),
        RowReference(RowOrigin.FIGURE, figure),
        more_is_better,
    )


def _find_ratio_to_baseline(answer: Answer, figure: str, keys: tuple[str, ...], position: int) -> float | None:
    """Return a column's figure over the baseline's: as the answer judges it, else plainly."""
    found = find_difference(answer, figure, keys[0], keys[position]) if position else None
    if found is not None:
        return found.ratio.value
    values = get_column_figures(answer, figure)
    base, value = values[0], values[position]
    if not position or base is None or value is None or not base.value:
        return None
    return value.value / base.value


def _build_compared_estimate_cell(
    value: IntervalEstimate, estimate: Estimate, delta: str | None, mark: CellMarking | None, formatter: Formatter
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


def _build_compared_concurrency_row(answer: Answer, formatter: Formatter) -> ComparedRow:
    held = get_max_concurrencies(answer)
    best = find_largest_concurrency(mask_unranked(answer, held))
    cells = tuple(
        _build_unknown_cell(column, formatter)
        if value is None
        else ComparedCell(
            formatter.count(value),
            value=value,
            delta=format_delta(value / held[0], formatter) if position and held[0] else None,
            mark=CellMarking.BEST if position == best else None,
        )
        for position, (column, value) in enumerate(zip(answer.columns, held, strict=True))
    )
    return ComparedRow(
        "max_concurrency",
        label_figure("max_concurrency"),
        None,
        cells,
        RowReference(RowOrigin.FIGURE, "max_concurrency"),
        more_is_better=True,
    )


def _build_compared_fit_rows(answer: Answer, formatter: Formatter) -> tuple[ComparedRow, ...]:
    """Return who fits, where some do not or hold fewer than asked; else the figures say so."""
    found = [build_fit_cell(column, formatter) for column in answer.columns]
    if not any(cell.mark is CellMarking.FAILS or cell.detail for cell in found):
        return ()
    cells = tuple(
        ComparedCell(
            cell.text,
            value=cell.text,
            second=cell.detail,
            explanation=describe_missing_figure(column, formatter)[1] if cell.mark is CellMarking.FAILS else None,
            mark=cell.mark,
        )
        for cell, column in zip(found, answer.columns, strict=True)
    )
    return (ComparedRow("fits", tr("Fits"), None, cells, RowReference(RowOrigin.FIGURE, "memory")),)


def _build_compared_plan_row(answer: Answer, formatter: Formatter) -> ComparedRow:
    cells = []
    for column in answer.columns:
        if column.estimate is None:
            cells.append(_build_unknown_cell(column, formatter))
            continue
        shown = build_plan_cell(column.estimate, formatter)
        cells.append(ComparedCell(shown.text, value=shown.text, second=shown.detail))
    reference = RowReference(RowOrigin.FIGURE, "memory")
    return ComparedRow("plan", tr("Deployment"), None, tuple(cells), reference)


def _build_compared_memory_row(
    answer: Answer, key: str, label: str, part: Callable[[Estimate], int | None], formatter: Formatter
) -> ComparedRow:
    sizes = [None if column.estimate is None else part(column.estimate) for column in answer.columns]
    cells = tuple(
        _build_unknown_cell(column, formatter)
        if size is None
        else ComparedCell(
            formatter.gib(size),
            value=convert_to_display_unit(size, Quantity.MEMORY),
            delta=format_delta(size / sizes[0], formatter) if position and sizes[0] else None,
        )
        for position, (column, size) in enumerate(zip(answer.columns, sizes, strict=True))
    )
    return ComparedRow(f"memory.{key}", label, "GiB", cells, RowReference(RowOrigin.FIGURE, "memory"))


def _name_limiter(estimate: Estimate) -> str | None:
    said = format_limiter(estimate)
    return None if said == MISSING_VALUE_TEXT else said


def _build_compared_word_row(
    answer: Answer, key: str, label: str, word: Callable[[Estimate], str | None]
) -> ComparedRow:
    words = [None if column.estimate is None else word(column.estimate) for column in answer.columns]
    cells = tuple(
        _build_unknown_cell(column, Formatter()) if said is None else ComparedCell(said, value=said)
        for column, said in zip(answer.columns, words, strict=True)
    )
    return ComparedRow(key, label, None, cells, RowReference(RowOrigin.FIGURE, _THROUGHPUT))
