"""What the bars of memory say: parts, capacity, verdict and ways out of each column, as data and sentences.

Everything is about the fullest accelerator of a column, in bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from gpudesk.desktop.session.desk import Desk
from gpudesk.domain.answers import Answer, Column
from gpudesk.domain.estimates import Estimate
from gpudesk.domain.formatting import Formatter
from gpudesk.domain.sizing import MemoryRoom, Remedy, RemedyKind
from gpudesk.sentences import sentence
from gpudesk.sheets.figures import remembered_text
from gpudesk.sheets.labels import precision_name
from gpudesk.text import tr, trn


class State(StrEnum):
    """What is to be said of a column; the words are those of glyphs."""

    FITS = "fits"
    #: Fewer requests are in flight than the load asks for.
    PARTLY = "partly"
    UNFIT = "unfit"
    #: There is no estimate.
    UNKNOWN = "unknown"


class PartKind(StrEnum):
    """The parts of a bar, from the left."""

    WEIGHTS = "weights"
    KV = "kv"
    OTHER = "other"
    SPARE = "spare"
    #: What is asked for and exceeds what may be used.
    SHORT = "short"
    #: Kept free by the serving engine.
    KEPT = "kept"


class Part(NamedTuple):
    """A stretch of a bar in bytes from its left end, what it shows inside, and the sentence about it."""

    kind: PartKind
    start: int
    end: int
    text: str
    sentence: str


@dataclass(frozen=True, slots=True)
class MemoryBar:
    """The bar of one column; `capacity`, `usable` and `needed` are bytes.

    `headline` and `detail` are the verdict, `reason` what stands behind it. Without an estimate there are no
    parts and nothing is known of `usable` and `needed`, which are 0.
    """

    key: str
    name: str
    deployment: str
    slot: int
    hollow: bool
    state: State
    headline: str
    detail: str
    reason: str
    capacity: int
    capacity_text: str
    usable: int = 0
    needed: int = 0
    needed_text: str = ""
    parts: tuple[Part, ...] = ()
    remedies: tuple[Remedy, ...] = ()
    sentence: str = ""

    @property
    def extent(self) -> int:
        """Bytes that a drawing has to have room for."""
        return max(self.capacity, self.needed)

    def part(self, kind: PartKind) -> Part | None:
        """Return a part, or None where the bar has none of it."""
        return next((part for part in self.parts if part.kind is kind), None)


def memory_bars(desk: Desk) -> tuple[MemoryBar, ...]:
    """Return the bars of the desk's answer. While something is dragged only obvious ways out are offered."""
    answer = desk.answer
    if answer is None:
        return ()
    looks = zip(desk.keys, desk.names, desk.slots, desk.hollow, answer.columns, strict=True)
    return tuple(
        _without_estimate(key, name, slot, hollow, column, desk.formatter)
        if column.estimate is None
        else _with_estimate(key, name, slot, hollow, column.estimate, desk)
        for key, name, slot, hollow, column in looks
    )


def _without_estimate(
    key: str, name: str, slot: int, hollow: bool, column: Column, formatter: Formatter
) -> MemoryBar:
    capacity = column.accelerator.memory_bytes
    reason = "" if column.problem is None else sentence(column.problem, formatter)
    reason = reason[:1].upper() + reason[1:]
    headline = tr("No estimate")
    count = column.choice.count
    return MemoryBar(
        key=key,
        name=name,
        deployment="" if count is None else f"× {formatter.count(count)}",
        slot=slot,
        hollow=hollow,
        state=State.UNKNOWN,
        headline=headline,
        detail="",
        reason=reason,
        capacity=capacity,
        capacity_text=formatter.gib(capacity),
        sentence=f"{name}: {headline}. {reason}",
    )


def _with_estimate(key: str, name: str, slot: int, hollow: bool, estimate: Estimate, desk: Desk) -> MemoryBar:
    formatter, room = desk.formatter, desk.workbench.memory_room(estimate)
    state = _state(estimate)
    headline, detail = _verdict(estimate, state, room, formatter)
    capacity = estimate.memory.capacity_bytes
    parts = _parts(estimate, state, room, formatter)
    deployment = remembered_text(estimate, formatter)
    return MemoryBar(
        key=key,
        name=name,
        deployment=deployment,
        slot=slot,
        hollow=hollow,
        state=state,
        headline=headline,
        detail=detail,
        reason="" if estimate.reason is None else sentence(estimate.reason, formatter),
        capacity=capacity,
        capacity_text=formatter.gib(capacity),
        usable=room.usable_bytes,
        needed=room.needed_bytes,
        needed_text=_needed_text(state, room, formatter),
        parts=parts,
        remedies=_ways_out(estimate, state, desk),
        sentence=_sentence(f"{name} {deployment}", headline, detail, parts, capacity, formatter),
    )


def _needed_text(state: State, room: MemoryRoom, formatter: Formatter) -> str:
    needed = formatter.gib(room.needed_bytes)
    if state is State.UNFIT:
        return tr("{needed} needed for one", needed=needed)
    return tr("{needed} needed", needed=needed)


def _state(estimate: Estimate) -> State:
    if not estimate.fits:
        return State.UNFIT
    asked, admitted = estimate.concurrency, estimate.admitted
    return State.PARTLY if asked is not None and (admitted or 0) < asked else State.FITS


def _verdict(estimate: Estimate, state: State, room: MemoryRoom, formatter: Formatter) -> tuple[str, str]:
    """Return the headline and what stands below it."""
    count = formatter.count
    gib = formatter.gib(abs(room.spare_bytes))
    short = tr("{gib} GiB short", gib=gib)
    if state is State.UNFIT:
        return tr("Does not fit on {n}", n=count(estimate.count)), short
    most = count(estimate.max_concurrency)
    if state is State.FITS and estimate.grows:
        return tr("Runs {n} at once", n=count(estimate.admitted)), tr("{n} at full length", n=most)
    if state is State.FITS:
        return tr("Fits, up to {n} in flight", n=most), tr("{gib} GiB to spare", gib=gib)
    admitted, asked = count(estimate.admitted), count(estimate.concurrency)
    runs = tr("Runs {n} of {asked} at once", n=admitted, asked=asked)
    if room.spare_bytes < 0:
        held = tr("Holds {n} of {asked} in flight", n=admitted, asked=asked)
        return runs if estimate.grows else held, short
    return runs, tr("memory holds {n}", n=most)


def _parts(estimate: Estimate, state: State, room: MemoryRoom, formatter: Formatter) -> tuple[Part, ...]:
    use = estimate.memory
    requests = 1 if state is State.UNFIT else max(1, estimate.admitted or 1)
    cache = trn("KV cache of {n} request", "KV cache of {n} requests", requests, n=formatter.count(requests))
    other = use.activations_bytes + use.runtime_bytes
    filled = [
        (PartKind.WEIGHTS, use.weights_bytes, tr("Weights")),
        (PartKind.KV, use.kv_bytes, cache),
        (PartKind.OTHER, other, tr("Activations and runtime")),
    ]
    parts: list[Part] = []
    at = 0
    for kind, size, label in filled:
        parts.append(_part(kind, at, at + size, label, formatter))
        at += size
    if room.usable_bytes > at:
        parts.append(_part(PartKind.SPARE, at, room.usable_bytes, tr("Free for more requests"), formatter))
    if room.needed_bytes > room.usable_bytes:
        start = min(at, room.usable_bytes) if state is State.UNFIT else at
        parts.append(_part(PartKind.SHORT, start, room.needed_bytes, tr("Short"), formatter))
    kept_from = max(room.usable_bytes, room.needed_bytes, at)
    if use.capacity_bytes > kept_from:
        label = tr("Kept free by the serving engine")
        kept = _part(PartKind.KEPT, room.usable_bytes, use.capacity_bytes, label, formatter)
        parts.append(kept._replace(start=kept_from))
    return tuple(parts)


def _part(kind: PartKind, start: int, end: int, label: str, formatter: Formatter) -> Part:
    size = end - start
    said = tr("{label}: {memory}", label=label, memory=formatter.memory(size))
    return Part(kind, start, end, formatter.gib(size), said)


def _ways_out(estimate: Estimate, state: State, desk: Desk) -> tuple[Remedy, ...]:
    """Return at most two ways that work: more of the memory, more accelerators, narrower formats."""
    if state not in (State.UNFIT, State.PARTLY):
        return ()
    if desk.in_gesture:
        # Trying them out takes longer than a frame has.
        needs = estimate.needs
        return () if needs is None else (Remedy(RemedyKind.COUNT, needs, works=True, estimate=None),)
    order = (RemedyKind.FRACTION, RemedyKind.COUNT, RemedyKind.WEIGHTS, RemedyKind.KV)
    ways = [way for way in desk.workbench.remedies(estimate) if way.works and way.kind in order]
    return tuple(sorted(ways, key=lambda way: order.index(way.kind)))[:2]


def remedy_text(remedy: Remedy, formatter: Formatter) -> str:
    """Return the wording of the link that takes a way out."""
    if isinstance(remedy.value, int):
        return tr("Use {n}", n=formatter.count(remedy.value))
    if isinstance(remedy.value, float):
        return tr("Use {share}", share=formatter.per_cent(remedy.value))
    name = precision_name(remedy.value)
    return tr("{name} cache", name=name) if remedy.kind is RemedyKind.KV else tr("Use {name}", name=name)


def remedy_sentence(remedy: Remedy, bar: MemoryBar, formatter: Formatter) -> str:
    """Return what a way out does, in full: its name for those who do not see where it stands."""
    if isinstance(remedy.value, int):
        return tr("Use {n} × {name}", n=formatter.count(remedy.value), name=bar.name)
    if isinstance(remedy.value, float):
        share = formatter.per_cent(remedy.value)
        return tr("Let the serving engine use {share} of memory", share=share)
    name = precision_name(remedy.value)
    if remedy.kind is RemedyKind.KV:
        return tr("Keep the KV cache in {precision}", precision=name)
    return tr("Use {precision} weights", precision=name)


def _sentence(
    name: str, headline: str, detail: str, parts: Sequence[Part], capacity: int, formatter: Formatter
) -> str:
    shares = "; ".join(part.sentence for part in parts)
    return tr(
        "{name}: {headline}, {detail}. Of {capacity} on the fullest: {parts}",
        name=name,
        headline=headline,
        detail=detail,
        capacity=formatter.memory(capacity),
        parts=shares,
    )


def kept_share(bars: Sequence[MemoryBar], formatter: Formatter) -> str:
    """Return the share of memory that is kept free in per cent, or nothing where it differs by part."""
    shares = {formatter.per_cent((bar.capacity - bar.usable) / bar.capacity) for bar in bars if bar.parts}
    return shares.pop() if len(shares) == 1 else ""


def subtitle(answer: Answer, formatter: Formatter) -> str:
    """Return quantity, unit and conditions of the bars."""
    scenario = answer.scenario
    tokens = scenario.workload.input_tokens + scenario.workload.output_tokens
    load = scenario.workload.load
    in_flight = load.concurrency or load.batch
    what = tr("GiB, {model} in {weights}", model=answer.model.name, weights=precision_name(scenario.weights))
    length = formatter.count(tokens)
    if in_flight is None:
        return f"{what}, {tr('requests of {tokens} tokens', tokens=length)}"
    requests = trn(
        "{n} request of {tokens} tokens",
        "{n} requests of {tokens} tokens",
        in_flight,
        n=formatter.count(in_flight),
        tokens=length,
    )
    return f"{what}, {requests}"
