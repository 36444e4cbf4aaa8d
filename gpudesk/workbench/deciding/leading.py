"""Who leads: which columns nobody beats, where figures have bands, and in draws of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from gpudesk.domain.answers import Answer
from gpudesk.domain.comparison import HIGHER_IS_BETTER, difference
from gpudesk.domain.estimates import Banded

Draws = NDArray[np.float64]
Beats = Callable[[int, int], bool | None]


def leads(places: Sequence[int], beats: Beats) -> dict[int, bool | None]:
    """Return for each place whether it leads: nobody beats it, and it beats one of the others.

    `beats` says whether the first beats the second; None where nothing is known of one of them. A place that
    is beaten does not lead; one that is not and beats nobody is undecided.
    """
    found: dict[int, bool | None] = {}
    for place in places:
        others = [other for other in places if other != place]
        wins = [beats(place, other) for other in others]
        losses = [beats(other, place) for other in others]
        if not others or all(each is None for each in (*wins, *losses)):
            found[place] = None
        elif True in losses:
            found[place] = False
        else:
            found[place] = True if True in wins else None
    return found


def by_number(values: Sequence[float | None], *, higher: bool) -> Beats:
    """Return whether one plain number is better than another."""

    def beats(one: int, other: int) -> bool | None:
        ours, theirs = values[one], values[other]
        if ours is None or theirs is None:
            return None
        return ours > theirs if higher else ours < theirs

    return beats


def by_figure(answer: Answer, keys: Sequence[str], figure: str) -> Beats:
    """Return whether a figure of one column beats that of another, as the answer judges it."""

    def beats(one: int, other: int) -> bool | None:
        found = difference(answer, figure, keys[one], keys[other]) or difference(
            answer, figure, keys[other], keys[one]
        )
        return None if found is None else found.winner == keys[one]

    return beats


def by_speed(answer: Answer, keys: Sequence[str], values: Sequence[Banded | None], *, higher: bool) -> Beats:
    """Return whether what is as throughput, or as its reciprocal like costs, is better for one column.

    The ratio of the likely values has the band of the ratio of throughputs.
    """

    def beats(one: int, other: int) -> bool | None:
        ours, theirs = values[one], values[other]
        if ours is None or theirs is None:
            return None
        better = ours.value / theirs.value if higher else theirs.value / ours.value
        return better > _spread(answer, keys[one], keys[other])

    return beats


def _spread(answer: Answer, one: str, other: str) -> float:
    """Return by what factor one throughput over another may be below its likely value."""
    forth = difference(answer, "output_tokens_per_s", other, one)
    if forth is not None:
        return forth.ratio.value / forth.ratio.low
    back = difference(answer, "output_tokens_per_s", one, other)
    return 1.0 if back is None else back.ratio.high / back.ratio.value


def in_draws(draws: Mapping[int, Draws], *, higher: bool) -> dict[int, NDArray[np.bool_]]:
    """Return in which draws each place is the best; equal ones lead together. Empty with fewer than two."""
    if len(draws) < 2:
        return {}
    table = np.stack(list(draws.values()))
    best = table.max(axis=0) if higher else table.min(axis=0)
    return {place: row == best for place, row in zip(draws, table, strict=True)}


#: Facts that say who leads in a figure of the answer -> the figure.
FIGURES: Mapping[str, str] = {
    "leads_throughput": "output_tokens_per_s",
    "leads_throughput_each": "output_tokens_per_s_per_accelerator",
    "leads_ttft": "ttft_ms",
    "leads_tpot": "tpot_ms",
}


def is_higher_better(figure: str) -> bool:
    """Whether more of a figure is better."""
    return HIGHER_IS_BETTER[figure]
