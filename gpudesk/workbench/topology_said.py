"""What a comparison of two deployments comes to, in messages: cost, bandwidth, room, and who is ahead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gpudesk.domain.answers import Difference
from gpudesk.domain.estimates import Estimate, Limiter
from gpudesk.domain.messages import Message, message
from gpudesk.domain.topology import Deployed

#: Shares of bandwidth that differ by less than this are the same to a reader.
_SAME: Final = 0.005


@dataclass(frozen=True, slots=True)
class _Pair:
    """The more spread deployment and the other, with what they are called."""

    many: Deployed
    few: Deployed
    names: tuple[str, str]


def said_of(
    sides: tuple[Deployed, Deployed],
    names: tuple[str, str],
    at_load: Sequence[Difference],
    at_one: Sequence[Difference],
) -> tuple[Message, ...]:
    """Say what sharding costs, what it brings, which keeps more room, and who is ahead, in that order."""
    pair = _Pair(*sides, names)
    if _spread(sides[0]) < _spread(sides[1]):
        pair = _Pair(sides[1], sides[0], (names[1], names[0]))
    said = [_cost(pair), _bandwidth(pair), _room(pair)]
    said += [_single(pair, at_one), _load(pair, at_load), _each(pair, at_load)]
    return tuple(each for each in said if each is not None)


def _spread(side: Deployed) -> tuple[int, int]:
    return side.estimate.plan.replica, side.estimate.count


def _cost(pair: _Pair) -> Message:
    many = pair.many
    if many.estimate.plan.replica == 1:
        return message("topology.unspread")
    return message(
        "topology.cost",
        many=pair.names[0],
        share=many.single_spread.collectives,
        each=(many.single_spread.collective_ms, "ms"),
        now=many.spread.collectives,
    )


def _bandwidth(pair: _Pair) -> Message | None:
    if pair.many.estimate.plan.replica == 1:
        return None
    left, whole = pair.many.single_arriving, pair.few.single_arriving
    ratio = left / whole
    more = "topology.bandwidth_more" if ratio > 1.0 else "topology.bandwidth_less"
    name = "topology.bandwidth_same" if abs(ratio - 1.0) < _SAME else more
    return message(
        name,
        few=pair.names[1],
        left=(left, "B/s"),
        whole=(whole, "B/s"),
        ahead=abs(ratio - 1.0),
    )


def _room(pair: _Pair) -> Message:
    sides = ((pair.many, pair.names[0]), (pair.few, pair.names[1]))
    (most, roomy), (least, tight) = sorted(sides, key=lambda each: -each[0].kv_room_bytes)
    return message(
        "topology.room",
        roomy=roomy,
        tight=tight,
        room=(most.kv_room_bytes, "B"),
        less=(least.kv_room_bytes, "B"),
        most=most.estimate.max_concurrency,
        fewest=least.estimate.max_concurrency,
    )


# Who is ahead


@dataclass(frozen=True, slots=True)
class _Ahead:
    """Who wins in a figure (None: nobody), and the figures of both with their unit."""

    many_wins: bool | None
    own: tuple[float, str]
    against: tuple[float, str]


def _ahead(differences: Sequence[Difference], figure: str, sides: tuple[Estimate, Estimate]) -> _Ahead | None:
    """Read the winner off the difference; of one part twice the better figure says which of the two it is."""
    found = next((each for each in differences if each.figure == figure), None)
    if found is None:
        return None
    ours, theirs = (float(getattr(side, figure).value) for side in sides)
    unit = "ms" if figure.endswith("_ms") else "tok/s"
    wins = None if found.winner is None else (ours < theirs) == figure.endswith("_ms")
    return _Ahead(wins, (ours, unit), (theirs, unit))


def _single(pair: _Pair, differences: Sequence[Difference]) -> Message | None:
    ahead = _ahead(differences, "tpot_ms", (pair.many.single, pair.few.single))
    if ahead is None:
        return None
    one = "topology.single_many" if ahead.many_wins else "topology.single_few"
    name = "topology.single_none" if ahead.many_wins is None else one
    return message(name, many=pair.names[0], few=pair.names[1], own=ahead.own, against=ahead.against)


def _load(pair: _Pair, differences: Sequence[Difference]) -> Message | None:
    many, few = pair.many.estimate, pair.few.estimate
    ahead = _ahead(differences, "output_tokens_per_s", (many, few))
    if ahead is None:
        return None
    short = many.limiter is Limiter.CAPACITY and few.limiter is not Limiter.CAPACITY
    less = "topology.load_few_by_room" if short else "topology.load_few"
    one = "topology.load_many" if ahead.many_wins else less
    name = "topology.load_none" if ahead.many_wins is None else one
    return message(
        name,
        many=pair.names[0],
        few=pair.names[1],
        own=ahead.own,
        against=ahead.against,
        held=many.admitted or 0,
    )


def _each(pair: _Pair, differences: Sequence[Difference]) -> Message | None:
    figure = "output_tokens_per_s_per_accelerator"
    ahead = _ahead(differences, figure, (pair.many.estimate, pair.few.estimate))
    if ahead is None or pair.many.estimate.count == pair.few.estimate.count:
        return None
    one = "topology.each_many" if ahead.many_wins else "topology.each_few"
    name = "topology.each_none" if ahead.many_wins is None else one
    return message(name, many=pair.names[0], few=pair.names[1], own=ahead.own, against=ahead.against)
