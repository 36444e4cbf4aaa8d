"""Rows of the comparison from estimates, and differences from the baseline."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from gpudesk.domain.accelerator import SystemCount
from gpudesk.domain.answer import (
    Answer,
    ComparisonColumn,
    find_best,
    find_difference,
    find_leaders,
    get_column_figures,
    mask_unranked,
    rank_figures,
)
from gpudesk.domain.cost import ResolvedCostInput
from gpudesk.domain.estimate import DisaggregatedPools, Estimate, EstimateBasis
from gpudesk.domain.registry import COST_FIGURES, FIGURES, MAX_CONCURRENCY, Figure
from gpudesk.report.comparison.attribute_rows import format_delta
from gpudesk.report.comparison.tables import (
    CellMarking,
    ComparisonCell,
    ComparisonGroup,
    ComparisonRow,
    RowOrigin,
    RowReference,
)
from gpudesk.report.costs import MoneyFormatter, describe_missing_input, format_system_count
from gpudesk.report.labels import (
    format_degrees,
    format_odds,
    get_figure_unit,
    label_estimate_basis,
    label_figure,
    label_serving_engine,
)
from gpudesk.text.formatting import (
    MISSING_VALUE_TEXT,
    Formatter,
    IntervalEstimate,
    Quantity,
    convert_to_display_unit,
    find_common_unit,
)
from gpudesk.text.messages import Message, format_message
from gpudesk.text.translation import tr

#: Figures that explain words about a deployment.
_THROUGHPUT: Final = "output_tokens_per_s"
#: A mark on more than two columns of a row adds little.
_MOST_TIED: Final = 2
#: Figures without odds, and the figure that decides them: of a request's time almost all is decoding.
_MARKED_LIKE: Final = {"total_tokens_per_s": _THROUGHPUT, "request_s": "tpot_ms"}
_RENTED: Final = "rented_usd_per_million_output"
_OWNED: Final = "owned_usd_per_million_output"
#: Keys of the rows with the instances behind rented costs and the systems behind owned ones.
INSTANCES_ROW: Final = "instances"
SYSTEMS_ROW: Final = "systems"
_MEMORY: Final = RowReference(RowOrigin.FIGURE, "memory")


def build_difference_group(answer: Answer, names: tuple[str, ...], formatter: Formatter) -> ComparisonGroup | None:
    """Return each column compared with the first, or None without a second one."""
    keys = answer.keys
    # With equal counts the figure per accelerator repeats the total.
    alike = len({column.estimate.count if column.estimate else 1 for column in answer.columns}) == 1
    compared = [
        figure
        for figure in dict.fromkeys(
            difference.figure for difference in answer.differences if difference.baseline == keys[0]
        )
        if not (alike and figure in FIGURES and FIGURES[figure].is_per_accelerator)
    ]
    if not compared:
        return None
    rows = tuple(
        ComparisonRow(
            f"difference.{figure}",
            label_figure(figure),
            "%",
            (
                ComparisonCell(tr("baseline")),
                *(_build_difference_cell(answer, figure, place, formatter) for place in range(1, len(keys))),
            ),
        )
        for figure in compared
    )
    title = tr("Change from {baseline}, with odds of being better", baseline=names[0])
    return ComparisonGroup("difference", title, rows)


def is_compared(answer: Answer, figure: str) -> bool:
    """Return whether the answer has differences of this figure, without which nothing leads."""
    return any(difference.figure == figure for difference in answer.differences)


def _build_difference_cell(answer: Answer, figure: str, position: int, formatter: Formatter) -> ComparisonCell:
    difference = find_difference(answer, figure, answer.keys[0], answer.keys[position])
    ratio = FigureText(answer, figure, formatter).compare_columns(position, 0)
    if difference is None or ratio is None:
        return ComparisonCell(MISSING_VALUE_TEXT)
    return ComparisonCell(
        formatter.signed_per_cent(ratio),
        low_text=formatter.signed_per_cent(difference.ratio.low),
        high_text=formatter.signed_per_cent(difference.ratio.high),
        detail=format_odds(difference.odds, formatter),
    )


def list_memory_parts() -> tuple[tuple[str, str, Callable[[Estimate], int | None]], ...]:
    """Return the memory breakdown of the most loaded accelerator: key, label, bytes of an estimate.

    A deployment that does not fit runs no load and leaves nothing free: those bytes are None.
    """
    return (
        ("weights", tr("Weights per accelerator"), lambda estimate: estimate.memory.weights_bytes),
        ("kv", tr("KV cache at this load"), lambda estimate: estimate.memory.kv_bytes if estimate.fits else None),
        (
            "activations",
            tr("Activations and runtime"),
            lambda estimate: estimate.memory.activations_bytes + estimate.memory.runtime_bytes,
        ),
        ("free", tr("Free after reserve"), lambda estimate: estimate.memory.spare_bytes if estimate.fits else None),
    )


class FigureText:
    """The format of one figure of an answer: costs in the scenario's currency, times in one unit."""

    def __init__(self, answer: Answer, figure: str, formatter: Formatter) -> None:
        self._formatter = formatter
        self._money = MoneyFormatter(formatter, answer.scenario.costs.currency) if figure in COST_FIGURES else None
        self._values = get_column_figures(answer, figure)
        unit = get_figure_unit(figure)
        if self._money is not None:
            self._factor, self.unit = 1.0, unit if unit is None else self._money.unit(unit)
        else:
            values = [interval.value for interval in self._values if interval]
            self._factor, self.unit = find_common_unit(values, unit)

    def format(self, value: float) -> str:
        return self._formatter.estimate(value / self._factor) if self._money is None else self._money.small(value)

    def compare_columns(self, position: int, base: int) -> float | None:
        """Return the ratio of two columns' values as they are shown, so that a difference agrees with them."""
        value, base_value = self._values[position], self._values[base]
        if value is None or base_value is None or not base_value.value:
            return None
        return self._round(value.value) / (self._round(base_value.value) or base_value.value)

    def _round(self, value: float) -> float:
        if self._money is not None:
            return self._formatter.round_small_amount(self._money.convert_to_currency(value))
        return self._formatter.round_estimate(value / self._factor)

    def format_money(self, value: float) -> str:
        """Return an amount with its currency, a dollar sign first."""
        code = "" if self._money is None else self._money.code
        return self._formatter.money(self.format(value), code)

    def format_interval(self, interval: IntervalEstimate) -> str:
        if self._money is None:
            return self._formatter.estimate_with_interval(IntervalEstimate(*(each / self._factor for each in interval)))
        return f"{self._money.small(interval.value)} ({self._money.band(interval)})"

    def list_texts(self, interval: IntervalEstimate) -> list[str]:
        """Return a value and the ends of its interval in the unit of the row."""
        return [self.format(each) for each in interval]

    def make_cell(
        self, interval: IntervalEstimate, mark: CellMarking | None, delta: str | None, basis: EstimateBasis
    ) -> ComparisonCell:
        text, low_text, high_text = self.list_texts(interval)
        if self._money is not None:
            value, low, high = map(self._money.convert_to_currency, interval)
        else:
            value, low, high = (each / self._factor for each in interval)
        return ComparisonCell(text, value, low, high, low_text, high_text, delta=delta, mark=mark, basis=basis)


def list_unlike_rents(answer: Answer, figure: str) -> list[ResolvedCostInput | None]:
    """Return the rent behind a figure of each column that no specialized cloud rents, None for others."""
    columns = answer.costs.columns if answer.costs is not None and figure == _RENTED else ()
    rents = [column.inputs["rent_usd_per_hour"] for column in columns]
    return [None if each.class_ratio is None else each for each in rents] or [None] * len(answer.columns)


def mark_figures(answer: Answer, figure: str) -> list[CellMarking | None]:
    """Return for each column whether it leads all others at 65% odds or more, is too close to call, or queues."""
    marks: list[CellMarking | None] = [CellMarking.QUEUES if column.queues else None for column in answer.columns]
    decisive = _MARKED_LIKE.get(figure, figure)
    ranked = rank_figures(answer, figure)
    best = find_leaders(answer, decisive) if ranked and is_compared(answer, decisive) else ()
    first = find_best(ranked, figure) if ranked else None
    best = best if first in best else ()
    mark = CellMarking.BEST
    if len(best) > 1:
        is_open = len(best) > _MOST_TIED or len(best) == len(ranked)
        mark = CellMarking.OPEN if is_open else CellMarking.TIED
    # A cost that only another kind of provider could match is not marked as one of the best.
    rents = list_unlike_rents(answer, figure)
    for position in best:
        marks[position] = mark if position == first or rents[position] is None else CellMarking.OPEN
    return marks


def make_interval_cell(
    interval: IntervalEstimate | None, formatter: Formatter, mark: CellMarking | None = None
) -> ComparisonCell:
    """Return an estimated figure with its interval."""
    if interval is None:
        return ComparisonCell(MISSING_VALUE_TEXT)
    value, low, high = interval
    texts = [formatter.estimate(each) for each in interval]
    return ComparisonCell(texts[0], value, low, high, texts[1], texts[2], mark=mark)


def build_fit_cell(column: ComparisonColumn, formatter: Formatter) -> ComparisonCell:
    """Return whether a column fits, with the count that would fit or its capacity if below the load."""
    estimate = column.estimate
    if estimate is None or not estimate.fits:
        text, explanation = describe_missing_figure(column, formatter)
        needs = None if estimate is None else estimate.needs
        remedy = None if needs is None else tr("needs {n}", n=formatter.count(needs))
        return ComparisonCell(text, text, detail=remedy, explanation=explanation, mark=CellMarking.FAILS)
    concurrency, admitted = estimate.concurrency, estimate.admitted
    if concurrency is None or admitted is None or admitted >= concurrency:
        mark = CellMarking.QUEUES if column.queues else None
        return ComparisonCell(tr("fits"), tr("fits"), mark=mark)
    numbers = {"n": formatter.count(admitted), "m": formatter.count(concurrency)}
    by_memory = admitted == estimate.max_concurrency
    running = tr("memory for {n} of {m}", **numbers) if by_memory else tr("{n} of {m} at once", **numbers)
    return ComparisonCell(tr("queues"), "queues", detail=running, mark=CellMarking.QUEUES)


def find_usual_limit(estimate: Estimate) -> Message | None:
    """Return the note that the engine's usual share of memory, not all memory, limits the requests that run."""
    return next((note for note in estimate.notes if note.id == "estimate.queued_usual"), None)


def _describe_usual_limit(estimate: Estimate | None, formatter: Formatter) -> str | None:
    note = None if estimate is None else find_usual_limit(estimate)
    share = None if note is None else note.parameters["usual"]
    if estimate is None or not isinstance(share, float):
        return None
    return tr("{n} at the default {share}", n=formatter.count(estimate.admitted), share=formatter.per_cent(share))


def describe_running_requests(estimate: Estimate, formatter: Formatter) -> str:
    """Return how many requests run if more do than memory holds at full length."""
    running, most = formatter.count(estimate.admitted), formatter.count(estimate.max_concurrency)
    if (estimate.concurrency or 0) > (estimate.admitted or 0):
        concurrency = formatter.count(estimate.concurrency)
        return tr("{n} of {m} in flight; memory for {most} at full length", n=running, m=concurrency, most=most)
    return tr("{n} in flight; memory for {most} at full length", n=running, most=most)


def build_plan_cell(estimate: Estimate, formatter: Formatter) -> ComparisonCell:
    """Return the count, and below it the degrees of the plan above one."""
    text = f"× {formatter.count(estimate.count)}"
    if estimate.pools is not None:
        return ComparisonCell(text, text, detail=describe_pools(estimate.pools, formatter))
    return ComparisonCell(text, text, detail=format_degrees(estimate.plan, formatter) or None)


def describe_pools(pools: DisaggregatedPools, formatter: Formatter) -> str:
    prefill, decode = formatter.count(pools.prefill.count), formatter.count(pools.decode.count)
    return tr("{n} prefill, {m} decode", n=prefill, m=decode)


def describe_memory_deployment(estimate: Estimate, formatter: Formatter) -> str:
    """Return the deployment whose memory is shown: with pools the decode pool."""
    if estimate.pools is not None:
        part, whole = formatter.count(estimate.pools.decode.count), formatter.count(estimate.count)
        return tr("decode pool, {n} of {count}", n=part, count=whole)
    plan = build_plan_cell(estimate, formatter)
    return f"{plan.text}, {plan.detail}" if plan.detail else plan.text


def get_max_concurrencies(answer: Answer) -> list[int | None]:
    """Return the maximum requests of each column; None if not even one fits."""
    estimates = [column.estimate for column in answer.columns]
    return [None if e is None or not e.fits else e.max_concurrency for e in estimates]


def find_largest_concurrency(capacities: Sequence[int | None]) -> int | None:
    """Return the position of the largest capacity; memory is exact and has no interval."""
    limits = [value for value in capacities if value]
    most = max(limits, default=0)
    return capacities.index(most) if limits.count(most) == 1 and len(capacities) > 1 else None


def format_limiter(estimate: Estimate) -> str:
    """Return the limiter of the deployment; if no load meets the latency limits, these."""
    if estimate.fits and estimate.output_tokens_per_s is None and estimate.stable is not False:
        return tr("latency limits")
    return MISSING_VALUE_TEXT if estimate.limiter is None else estimate.limiter.label


def build_workload_rows(answer: Answer, figures: Iterable[Figure], formatter: Formatter) -> dict[str, ComparisonRow]:
    """Return rows by key for speed, capacity, limiter and configuration of each deployment.

    `figures` are those of the surface, in row order. Rows without information are left out: fit if all fit, and figures
    per accelerator if the counts are equal.
    """
    several_counts = len({column.estimate.count for column in answer.columns if column.estimate}) > 1
    cells = tuple(
        _build_unknown_cell(column, formatter)
        if column.estimate is None
        else build_plan_cell(column.estimate, formatter)
        for column in answer.columns
    )
    rows = (
        *_build_fit_rows(answer, formatter),
        *(
            _build_figure_row(answer, figure, formatter)
            for figure in figures
            if several_counts or not figure.is_per_accelerator
        ),
        *_build_system_rows(answer, formatter),
        _build_concurrency_row(answer, formatter),
        _build_word_row(answer, "limiter", tr("Limited by"), format_limiter, formatter),
        ComparisonRow("plan", tr("Deployment"), None, cells, _MEMORY),
        _build_word_row(
            answer,
            "serving_engine",
            tr("Serving engine"),
            lambda estimate: label_serving_engine(estimate.serving_engine),
            formatter,
        ),
        _build_word_row(answer, "basis", tr("Estimation method"), label_estimate_basis, formatter),
    )
    return {row.key: row for row in rows}


def describe_missing_figure(column: ComparisonColumn, formatter: Formatter) -> tuple[str, str | None]:
    """Return briefly why a column has no such figure, and a sentence with further details."""
    estimate = column.estimate
    if estimate is None:
        return tr("no estimate"), None if column.problem is None else format_message(column.problem, formatter)
    if not estimate.fits:
        short = tr("does not fit on {n}", n=formatter.count(estimate.count))
        return short, None if estimate.reason is None else format_message(estimate.reason, formatter)
    if estimate.stable is False:
        return tr("overloaded"), tr("Requests arrive faster than this deployment can serve them")
    if estimate.output_tokens_per_s is None:
        return tr("limits not met"), tr("Even a single request misses the latency limits")
    if estimate.queues:
        return tr("requests queue"), None
    return tr("not at this load"), None


def describe_missing_value(answer: Answer, figure: str, position: int, formatter: Formatter) -> tuple[str, str | None]:
    """Return why a column has no value of a figure: for a cost the unknown price or rent."""
    if figure in COST_FIGURES and answer.costs is not None:
        needed = ("rent_usd_per_hour",) if figure == _RENTED else ("price_usd", "accelerator_w")
        missing = answer.costs.columns[position].missing
        if "throughput" not in missing and (name := next((each for each in needed if each in missing), None)):
            return describe_missing_input(name), None
    return describe_missing_figure(answer.columns[position], formatter)


def _build_unknown_cell(column: ComparisonColumn, formatter: Formatter) -> ComparisonCell:
    reason, explanation = describe_missing_figure(column, formatter)
    return ComparisonCell(MISSING_VALUE_TEXT, reason=reason, explanation=explanation)


def _build_figure_row(answer: Answer, figure: Figure, formatter: Formatter) -> ComparisonRow:
    name = figure.key
    values, marks = get_column_figures(answer, name), mark_figures(answer, name)
    text = FigureText(answer, name, formatter)
    cells = []
    for position, (column, value) in enumerate(zip(answer.columns, values, strict=True)):
        if value is None or column.estimate is None:
            reason, explanation = describe_missing_value(answer, name, position, formatter)
            cells.append(ComparisonCell(MISSING_VALUE_TEXT, reason=reason, explanation=explanation))
            continue
        ratio = text.compare_columns(position, 0) if position else None
        delta = None if ratio is None else format_delta(ratio, formatter)
        cell = text.make_cell(value, marks[position], delta, column.estimate.basis)
        usual = None if answer.costs is None else answer.costs.columns[position].like_for_like_usd
        if usual is not None and name == _RENTED:
            cell = replace(cell, detail=tr("elsewhere ≈ {usual}", usual=text.format(usual)))
        cells.append(cell)
    reference = RowReference(RowOrigin.FIGURE, name)
    return ComparisonRow(name, label_figure(name), text.unit, tuple(cells), reference, figure.more_is_better)


def _build_system_rows(answer: Answer, formatter: Formatter) -> Iterator[ComparisonRow]:
    """Yield what is rented and bought for the costs of a token; single accelerators are rented unless said."""
    columns = () if answer.costs is None else answer.costs.columns
    rented, bought = [column.rented_instances for column in columns], [column.bought for column in columns]
    has_instances = any(each is not None and each.size > 1 and not each.is_shared for each in rented)
    for key, label, counts, cost, is_shown in (
        (INSTANCES_ROW, tr("Instances rented"), rented, _RENTED, has_instances),
        (SYSTEMS_ROW, tr("Hardware bought"), bought, _OWNED, any(bought)),
    ):
        if is_shown:
            cells = tuple(_build_system_cell(each, formatter) for each in counts)
            yield ComparisonRow(key, label, None, cells, RowReference(RowOrigin.FIGURE, cost))


def _build_system_cell(systems: SystemCount | None, formatter: Formatter) -> ComparisonCell:
    if systems is None:
        return ComparisonCell(MISSING_VALUE_TEXT)
    count, idle = format_system_count(systems, formatter)
    return ComparisonCell(count, count, detail=idle or None)


def _build_concurrency_row(answer: Answer, formatter: Formatter) -> ComparisonRow:
    capacities = get_max_concurrencies(answer)
    best = find_largest_concurrency(mask_unranked(answer, capacities))
    cells = tuple(
        _build_unknown_cell(column, formatter)
        if value is None
        else ComparisonCell(
            formatter.count(value),
            value=value,
            detail=_describe_usual_limit(column.estimate, formatter),
            delta=format_delta(value / capacities[0], formatter) if position and capacities[0] else None,
            mark=CellMarking.BEST if position == best else None,
        )
        for position, (column, value) in enumerate(zip(answer.columns, capacities, strict=True))
    )
    name = MAX_CONCURRENCY.key
    reference = RowReference(RowOrigin.FIGURE, name)
    return ComparisonRow(name, label_figure(name), None, cells, reference, more_is_better=True)


def _build_fit_rows(answer: Answer, formatter: Formatter) -> tuple[ComparisonRow, ...]:
    """Return which columns fit, if some do not or hold fewer than requested; else the figures are enough."""
    cells = tuple(build_fit_cell(column, formatter) for column in answer.columns)
    if not any(cell.mark is CellMarking.FAILS or cell.detail for cell in cells):
        return ()
    return (ComparisonRow("fits", tr("Fits"), None, cells, _MEMORY),)


def build_memory_use_rows(answer: Answer, formatter: Formatter) -> tuple[ComparisonRow, ...]:
    """Return the memory use of the most loaded accelerator of each deployment."""
    return tuple(_build_memory_row(answer, key, label, part, formatter) for key, label, part in list_memory_parts())


def _build_memory_row(
    answer: Answer, key: str, label: str, part: Callable[[Estimate], int | None], formatter: Formatter
) -> ComparisonRow:
    sizes = [None if column.estimate is None else part(column.estimate) for column in answer.columns]
    cells = tuple(
        _build_unknown_cell(column, formatter)
        if size is None
        else ComparisonCell(
            formatter.gib(size),
            value=convert_to_display_unit(size, Quantity.MEMORY),
            delta=format_delta(size / sizes[0], formatter) if position and sizes[0] else None,
        )
        for position, (column, size) in enumerate(zip(answer.columns, sizes, strict=True))
    )
    return ComparisonRow(f"memory.{key}", label, "GiB", cells, _MEMORY)


def _build_word_row(
    answer: Answer, key: str, label: str, describe: Callable[[Estimate], str], formatter: Formatter
) -> ComparisonRow:
    words = [None if column.estimate is None else describe(column.estimate) for column in answer.columns]
    cells = tuple(
        _build_unknown_cell(column, formatter)
        if word in (None, MISSING_VALUE_TEXT)
        else ComparisonCell(str(word), value=word)
        for column, word in zip(answer.columns, words, strict=True)
    )
    return ComparisonRow(key, label, None, cells, RowReference(RowOrigin.FIGURE, _THROUGHPUT))
