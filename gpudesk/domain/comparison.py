"""Reading the columns of an answer against each other: their names, who leads, where nobody wins.

Nothing is judged here: whether a figure beats another stands in the `Difference`s of the answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from gpudesk.domain.answers import Answer, Difference
from gpudesk.domain.estimates import Banded
from gpudesk.domain.scenarios import MOST_SLOTS, AcceleratorChoice

_T = TypeVar("_T")

#: Figures of an estimate that columns are compared by -> whether more of it is better.
HIGHER_IS_BETTER: Final = {
    "output_tokens_per_s": True,
    "output_tokens_per_s_per_accelerator": True,
    "total_tokens_per_s": True,
    "ttft_ms": False,
    "tpot_ms": False,
    "request_s": False,
    "batch_s": False,
}


def column_keys(choices: Sequence[AcceleratorChoice]) -> tuple[str, ...]:
    """Return a name for each column: the part's id, with `:count` and `#n` where a part comes twice."""
    ids = Counter(choice.accelerator for choice in choices)
    keys = [
        f"{choice.accelerator}:{choice.count}"
        if ids[choice.accelerator] > 1 and choice.count is not None
        else choice.accelerator
        for choice in choices
    ]
    met: Counter[str] = Counter()
    unique = []
    for key in keys:
        met[key] += 1
        unique.append(key if met[key] == 1 else f"{key}#{met[key]}")
    return tuple(unique)


def part_of(key: str) -> str:
    """Return the id of the part that a column's key stands for."""
    return key.partition("#")[0].partition(":")[0]


def slots(choices: Sequence[AcceleratorChoice]) -> tuple[int, ...]:
    """Return each column's place in the palette: its own, else the lowest free one; a part has one place."""
    taken: dict[str, int] = {}
    for choice in choices:
        if choice.slot is not None and choice.slot not in taken.values():
            taken.setdefault(choice.accelerator, choice.slot)
    for choice in choices:
        if choice.accelerator not in taken:
            taken[choice.accelerator] = lowest_free(taken.values())
    return tuple(taken[choice.accelerator] for choice in choices)


def lowest_free(taken: Iterable[int]) -> int:
    """Return the first place in the palette that nobody has."""
    used = set(taken)
    return next(slot for slot in range(1, MOST_SLOTS + 1) if slot not in used)


def repeated(choices: Sequence[AcceleratorChoice]) -> tuple[bool, ...]:
    """Return for each column whether its part stands further left too, which hollow markers tell."""
    return tuple(
        any(other.accelerator == choice.accelerator for other in choices[:position])
        for position, choice in enumerate(choices)
    )


def difference(answer: Answer, figure: str, baseline: str, other: str) -> Difference | None:
    """Return the difference of two columns by their keys as the answer states it, in that direction."""
    for found in answer.differences:
        if (found.figure, found.baseline, found.accelerator) == (figure, baseline, other):
            return found
    return None


def leaders(answer: Answer, figure: str) -> tuple[int, ...]:
    """Return the positions of the best column and of those that nobody beats; empty without two figures.

    More than one means that there is no winner among them. The best may be too uncertain to beat one that
    another beats, which is no leader then. Columns that the answer does not rank take no part.
    """
    keys = column_keys(answer.scenario.accelerators)
    values = _ranked_values(answer, figure)
    if len(values) < 2:
        return ()
    better = max if HIGHER_IS_BETTER[figure] else min
    best = better(values, key=lambda position: values[position].value)
    beaten = _beaten(answer, figure)
    return tuple(
        position
        for position in values
        if position == best
        or (keys[position] not in beaten and _undecided(answer, figure, keys[best], keys[position]))
    )


@dataclass(frozen=True, slots=True)
class Prospect:
    """What an announced column that is not ranked would be: `ratio` is its figure over the best ranked one.

    `decided` tells whether it would win; else nobody would.
    """

    position: int
    against: int
    ratio: float
    decided: bool


def prospect(answer: Answer, figure: str) -> Prospect | None:
    """Return the announced column that would lead if it were ranked; None where none would."""
    shipping = _ranked_values(answer, figure)
    values = _values(answer, figure)
    others = {position: value for position in answer.unranked if (value := values[position]) is not None}
    if not shipping or not others:
        return None
    sign = 1 if HIGHER_IS_BETTER[figure] else -1
    best = max(shipping, key=lambda position: sign * shipping[position].value)
    first = max(others, key=lambda position: sign * others[position].value)
    ours, theirs = shipping[best].value, others[first].value
    if sign * theirs <= sign * ours:
        return None
    keys = column_keys(answer.scenario.accelerators)
    one, two = keys[best], keys[first]
    found = difference(answer, figure, one, two) or difference(answer, figure, two, one)
    return Prospect(first, best, theirs / ours, found is not None and found.winner == two)


def ranked(answer: Answer, values: Sequence[_T | None]) -> list[_T | None]:
    """Return the value of each column, None for those that the answer does not rank."""
    return [None if position in answer.unranked else value for position, value in enumerate(values)]


def _values(answer: Answer, figure: str) -> list[Banded | None]:
    return [
        None if column.estimate is None else getattr(column.estimate, figure) for column in answer.columns
    ]


def _ranked_values(answer: Answer, figure: str) -> dict[int, Banded]:
    """Return the figures of the columns that are ranked and have it, by position."""
    values = ranked(answer, _values(answer, figure))
    return {position: value for position, value in enumerate(values) if value is not None}


def _beaten(answer: Answer, figure: str) -> set[str]:
    """Return the keys of the columns that some other ranked one beats."""
    keys = column_keys(answer.scenario.accelerators)
    outside = {keys[position] for position in answer.unranked}
    return {
        found.baseline if found.winner == found.accelerator else found.accelerator
        for found in answer.differences
        if found.figure == figure and found.winner is not None and found.winner not in outside
    }


def _undecided(answer: Answer, figure: str, one: str, two: str) -> bool:
    found = difference(answer, figure, one, two) or difference(answer, figure, two, one)
    return found is not None and found.winner is None
