"""The memory bars as data: segments, capacity, verdict and remedies of each column."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.evaluated_answer import AcceleratorColumn
from gpudesk.desktop.ui.charts.chart_data import ChartData
from gpudesk.domain.answer import Answer
from gpudesk.domain.estimate import Estimate
from gpudesk.domain.sizing import FitRemedy, FitRemedyKind, UsableMemory
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.report.comparison.estimate_rows import build_fit_cell, build_plan_cell, describe_memory_deployment
from gpudesk.report.labels import label_precision
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter
from gpudesk.text.messages import capitalize_first, format_message
from gpudesk.text.translation import tr, trn


class ColumnFitState(StrEnum):
    """How a column fits; the values name glyphs."""

    FITS = "fits"
    #: Fewer requests are in flight than the load asks for.
    PARTLY = "partly"
    UNFIT = "unfit"
    #: There is no estimate.
    UNKNOWN = "unknown"


class MemorySegmentKind(StrEnum):
    """The segments of a bar, from the left."""

    WEIGHTS = "weights"
    KV = "kv"
    OTHER = "other"
    SPARE = "spare"
    #: Requested beyond the usable memory.
    SHORT = "short"
    #: Kept free by the serving engine.
    KEPT = "kept"


class MemorySegment(NamedTuple):
    """A segment of a bar in bytes from its left end, its label, and its sentence."""

    kind: MemorySegmentKind
    start: int
    end: int
    text: str
    sentence: str


@frozen_dataclass
class ColumnMemoryBar:
    """The bar of one column; `capacity`, `usable` and `needed` are bytes.

    `headline` and `detail` are the verdict, `reason` its explanation. Without an estimate there are no segments, and
    `usable` and `needed` are 0.
    """

    key: str
    slot: int
    is_variant: bool
    name: str
    deployment: str
    state: ColumnFitState
    headline: str
    detail: str
    reason: str
    capacity: int
    capacity_text: str
    usable: int = 0
    needed: int = 0
    needed_text: str = ""
    parts: tuple[MemorySegment, ...] = ()
    remedies: tuple[FitRemedy, ...] = ()
    sentence: str = ""

    @property
    def extent(self) -> int:
        return max(self.capacity, self.needed)

    def part(self, kind: MemorySegmentKind) -> MemorySegment | None:
        return next((part for part in self.parts if part.kind is kind), None)


def make_memory_bars(desk: Desk) -> tuple[ColumnMemoryBar, ...]:
    """Return the bars of the desk's answer. During a drag only obvious remedies are offered."""
    return tuple(
        _make_bar_without_estimate(each, desk.formatter)
        if each.column.estimate is None
        else _make_bar_with_estimate(each, each.column.estimate, desk)
        for each in desk.columns
    )


def _make_bar_without_estimate(part: AcceleratorColumn, formatter: Formatter) -> ColumnMemoryBar:
    column = part.column
    capacity, count = column.accelerator.memory_bytes, column.choice.count
    reason = capitalize_first("" if column.problem is None else format_message(column.problem, formatter))
    headline = tr("No estimate")
    return ColumnMemoryBar(
        *part.identity,
        "" if count is None else f"× {formatter.count(count)}",
        state=ColumnFitState.UNKNOWN,
        headline=headline,
        detail="",
        reason=reason,
        capacity=capacity,
        capacity_text=formatter.gib(capacity),
        sentence=f"{part.name}: {headline}. {reason}",
    )


def _make_bar_with_estimate(part: AcceleratorColumn, estimate: Estimate, desk: Desk) -> ColumnMemoryBar:
    formatter, room = desk.formatter, desk.service.estimator.compute_usable_memory(estimate)
    state = _find_fit_state(estimate)
    headline, detail = _format_verdict(estimate, state, room, formatter)
    capacity = estimate.memory.capacity_bytes
    parts = _make_segments(estimate, state, room, formatter)
    deployment = describe_memory_deployment(estimate, formatter)
    return ColumnMemoryBar(
        *part.identity,
        deployment,
        state=state,
        headline=headline,
        detail=detail,
        reason="" if estimate.reason is None else format_message(estimate.reason, formatter),
        capacity=capacity,
        capacity_text=formatter.gib(capacity),
        usable=room.usable_bytes,
        needed=room.needed_bytes,
        needed_text=_format_needed(state, room, formatter),
        parts=parts,
        remedies=_list_remedies(estimate, state, desk),
        sentence=_describe_bar(f"{part.name} {deployment}", headline, detail, parts, capacity, formatter),
    )


def _format_needed(state: ColumnFitState, room: UsableMemory, formatter: Formatter) -> str:
    needed = formatter.gib(room.needed_bytes)
    if state is ColumnFitState.UNFIT:
        return tr("{needed} needed for 1 request", needed=needed)
    return tr("{needed} needed", needed=needed)


def _find_fit_state(estimate: Estimate) -> ColumnFitState:
    if not estimate.fits:
        return ColumnFitState.UNFIT
    concurrency, admitted = estimate.concurrency, estimate.admitted
    return ColumnFitState.PARTLY if concurrency is not None and (admitted or 0) < concurrency else ColumnFitState.FITS


def _format_verdict(
    estimate: Estimate, state: ColumnFitState, room: UsableMemory, formatter: Formatter
) -> tuple[str, str]:
    count = formatter.count
    gib = formatter.gib(abs(room.spare_bytes))
    short = tr("{gib} GiB short", gib=gib)
    if state is ColumnFitState.UNFIT:
        return tr("Does not fit on {n}", n=count(estimate.count)), short
    most = count(estimate.max_concurrency)
    if state is ColumnFitState.FITS and estimate.grows:
        running = estimate.admitted or 0
        runs = trn("Runs {n} request", "Runs {n} requests", running, n=count(running))
        return runs, tr("max {n} at full length", n=most)
    if state is ColumnFitState.FITS:
        fits = trn("Fits, up to {n} request", "Fits, up to {n} requests", estimate.max_concurrency, n=most)
        return fits, tr("{gib} GiB free", gib=gib)
    numbers = {"n": count(estimate.admitted), "asked": count(estimate.concurrency)}
    runs = tr("Runs {n} of {asked} requests", **numbers)
    if room.spare_bytes < 0:
        return runs if estimate.grows else tr("Fits {n} of {asked} requests", **numbers), short
    return runs, tr("memory fits {n}", n=most)


def _make_segments(
    estimate: Estimate, state: ColumnFitState, room: UsableMemory, formatter: Formatter
) -> tuple[MemorySegment, ...]:
    use = estimate.memory
    requests = 1 if state is ColumnFitState.UNFIT else max(1, estimate.admitted or 1)
    cache = trn("KV cache, {n} request", "KV cache, {n} requests", requests, n=formatter.count(requests))
    other = use.activations_bytes + use.runtime_bytes
    memory_uses = [
        (MemorySegmentKind.WEIGHTS, use.weights_bytes, tr("Weights")),
        (MemorySegmentKind.KV, use.kv_bytes, cache),
        (MemorySegmentKind.OTHER, other, tr("Activations and runtime")),
    ]
    parts: list[MemorySegment] = []
    at = 0
    for kind, size, label in memory_uses:
        parts.append(_make_segment(kind, at, at + size, label, formatter))
        at += size
    if room.usable_bytes > at:
        parts.append(
            _make_segment(MemorySegmentKind.SPARE, at, room.usable_bytes, tr("Free for more requests"), formatter)
        )
    if room.needed_bytes > room.usable_bytes:
        start = min(at, room.usable_bytes) if state is ColumnFitState.UNFIT else at
        parts.append(_make_segment(MemorySegmentKind.SHORT, start, room.needed_bytes, tr("Short"), formatter))
    kept_from = max(room.usable_bytes, room.needed_bytes, at)
    if use.capacity_bytes > kept_from:
        label = tr("Memory reserve")
        reserve = _make_segment(MemorySegmentKind.KEPT, room.usable_bytes, use.capacity_bytes, label, formatter)
        parts.append(reserve._replace(start=kept_from))
    return tuple(parts)


def _make_segment(kind: MemorySegmentKind, start: int, end: int, label: str, formatter: Formatter) -> MemorySegment:
    size = end - start
    text = tr("{label}: {memory}", label=label, memory=formatter.memory(size))
    return MemorySegment(kind, start, end, formatter.gib(size), text)


def _list_remedies(estimate: Estimate, state: ColumnFitState, desk: Desk) -> tuple[FitRemedy, ...]:
    """Return at most two remedies that work: a larger memory fraction, more accelerators, narrower formats."""
    if state not in (ColumnFitState.UNFIT, ColumnFitState.PARTLY):
        return ()
    if desk.in_gesture:
        # Testing them takes longer than a frame.
        needs = estimate.needs
        return () if needs is None else (FitRemedy(FitRemedyKind.COUNT, needs, works=True, estimate=None),)
    order = (FitRemedyKind.FRACTION, FitRemedyKind.COUNT, FitRemedyKind.WEIGHTS, FitRemedyKind.KV)
    ways = [way for way in desk.service.estimator.remedies(estimate) if way.works and way.kind in order]
    return tuple(sorted(ways, key=lambda way: order.index(way.kind)))[:2]


def format_remedy(remedy: FitRemedy, formatter: Formatter) -> str:
    if isinstance(remedy.value, int):
        return tr("Use {n}", n=formatter.count(remedy.value))
    if isinstance(remedy.value, float):
        return tr("Use {share}", share=formatter.per_cent(remedy.value))
    name = label_precision(remedy.value)
    return tr("{name} cache", name=name) if remedy.kind is FitRemedyKind.KV else tr("Use {name}", name=name)


def describe_remedy(remedy: FitRemedy, bar: ColumnMemoryBar, formatter: Formatter) -> str:
    """Return the full description of a remedy, as its accessible name."""
    if isinstance(remedy.value, int):
        return tr("Use {n} × {name}", n=formatter.count(remedy.value), name=bar.name)
    if isinstance(remedy.value, float):
        share = formatter.per_cent(remedy.value)
        return tr("Allow the serving engine {share} of memory", share=share)
    name = label_precision(remedy.value)
    if remedy.kind is FitRemedyKind.KV:
        return tr("Store the KV cache in {precision}", precision=name)
    return tr("Use {precision} weights", precision=name)


def _describe_bar(
    name: str, headline: str, detail: str, parts: Sequence[MemorySegment], capacity: int, formatter: Formatter
) -> str:
    shares = "; ".join(part.sentence for part in parts)
    return tr(
        "{name}: {headline}, {detail}. Use of {capacity} (accelerator with the highest use): {segments}",
        name=name,
        headline=headline,
        detail=detail,
        capacity=formatter.memory(capacity),
        segments=shares,
    )


def format_free_share(bars: Sequence[ColumnMemoryBar], formatter: Formatter) -> str:
    """Return the reserved share of memory in %, empty if it differs between accelerators."""
    shares = {formatter.per_cent((bar.capacity - bar.usable) / bar.capacity) for bar in bars if bar.parts}
    return shares.pop() if len(shares) == 1 else ""


def format_bars_subtitle(answer: Answer, formatter: Formatter) -> str:
    """Return quantity, unit and conditions of the bars."""
    scenario = answer.scenario
    tokens = scenario.workload.input_tokens + scenario.workload.output_tokens
    load = scenario.workload.load
    in_flight = load.concurrency or load.batch
    what = tr("GiB, {model} in {weights}", model=answer.model.name, weights=label_precision(scenario.weights))
    length = formatter.count(tokens)
    if in_flight is None:
        return f"{what}, {tr('requests of {tokens} tokens each', tokens=length)}"
    requests = trn(
        "{n} request of {tokens} tokens",
        "{n} requests of {tokens} tokens each",
        in_flight,
        n=formatter.count(in_flight),
        tokens=length,
    )
    return f"{what}, {requests}"


#: Columns with figures of an estimate.
_FIGURES = 10


def make_memory_data(desk: Desk, formatter: Formatter, title: str) -> ChartData:
    """Return a row for each column of the desk's answer."""
    heads = (
        tr("Accelerator"),
        tr("Plan"),
        tr("Result"),
        tr("Count"),
        tr("Weights, GiB"),
        tr("KV cache, GiB"),
        tr("Activations, GiB"),
        tr("Runtime, GiB"),
        tr("Needed, GiB"),
        tr("Usable, GiB"),
        tr("Capacity, GiB"),
        tr("In flight"),
        tr("Max concurrency"),
    )
    answer = desk.answer
    rows = []
    for name, column in zip(desk.names, () if answer is None else answer.columns, strict=True):
        verdict = build_fit_cell(column, formatter)
        verdict_text = ", ".join(each for each in (verdict.text, verdict.detail) if each)
        estimate = column.estimate
        if estimate is None:
            rows.append((name, "", verdict_text, *[MISSING_VALUE_TEXT] * _FIGURES))
        else:
            plan = build_plan_cell(estimate, formatter).detail or ""
            rows.append((name, plan, verdict_text, *_list_figures(estimate, desk, formatter)))
    return ChartData(title=title, heads=heads, rows=tuple(rows), first_number=3)


def _list_figures(estimate: Estimate, desk: Desk, formatter: Formatter) -> tuple[str, ...]:
    use, room = estimate.memory, desk.service.estimator.compute_usable_memory(estimate)
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
        *(formatter.gib(size) for size in sizes),
        formatter.count(estimate.admitted),
        formatter.count(estimate.max_concurrency),
    )
