"""Announced parts beside shipping ones: their figures are shown, and not ranked unless that is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from gpudesk.domain.answers import Answer
from gpudesk.domain.comparison import prospect, ranked
from gpudesk.domain.formatting import Formatter
from gpudesk.sheets.figures import most_in_flight
from gpudesk.text import tr

#: From this ratio on a distance is a factor rather than per cent, as everywhere.
_FACTOR_FROM: Final = 3.0


@dataclass(frozen=True, slots=True)
class Announced:
    """What an announced part that is not ranked would be: in a sentence, and where there is little room."""

    text: str = ""
    brief: str = ""


def announced_line(answer: Answer, figure: str, names: tuple[str, ...], formatter: Formatter) -> Announced:
    """Return what an announced part that is not ranked would be at a figure; empty where no lead."""
    found = prospect(answer, figure)
    if found is None:
        return Announced()
    name = names[found.position]
    if not found.decided:
        return Announced(
            tr("{name} (announced) would be level: the bands overlap", name=name),
            tr("{name} (announced): level", name=name),
        )
    brief = tr("{name} (announced): {distance}", name=name, distance=formatter.difference(found.ratio))
    factor = max(found.ratio, 1 / found.ratio)
    if factor >= _FACTOR_FROM:
        times = formatter.estimate(factor)
        return Announced(
            tr("{name} (announced) would be {factor} times as fast", name=name, factor=times), brief
        )
    share = formatter.per_cent(abs(found.ratio - 1))
    return Announced(tr("{name} (announced) would be {distance} ahead", name=name, distance=share), brief)


def announced_holding(answer: Answer, names: tuple[str, ...], formatter: Formatter) -> Announced:
    """Return how many requests an announced part that is not ranked would hold, where it would hold most."""
    held = most_in_flight(answer)
    outside = {position: held[position] or 0 for position in answer.unranked}
    shipping = [value for value in ranked(answer, held) if value]
    if not outside or not shipping:
        return Announced()
    most = max(outside, key=lambda position: outside[position])
    if outside[most] <= max(shipping):
        return Announced()
    count, name = formatter.count(outside[most]), names[most]
    return Announced(
        tr("{name} (announced) would hold {n}", name=name, n=count),
        tr("{name} (announced): {distance}", name=name, distance=count),
    )
