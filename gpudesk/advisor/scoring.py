"""From what rules say to scores: with likely figures, and in draws of everything that is not known."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from gpudesk.advisor.conditions import condition
from gpudesk.advisor.drawn import DrawnFact, DrawnTruth, Draws, Marks, in_draws
from gpudesk.advisor.judging import theme_of
from gpudesk.domain.decisions import Effect, TraceLine
from gpudesk.economics.uncertainty import uniform_draws

#: The weight of a theme may as well be half of what it is, or twice.
WEIGHT_DOUBT: Final = 2.0
#: Scores that differ by less are the same.
_SAME: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Drawn:
    """What is drawn: so many draws, and by fact the draws of each column."""

    count: int
    seed: int
    parts: tuple[Mapping[str, DrawnFact], ...]


@dataclass(frozen=True, slots=True)
class Shares:
    """In which share of the draws each column leads, alone or with others, and in which none is left."""

    columns: tuple[float, ...]
    none: float


def scores(lines: Sequence[TraceLine], columns: int) -> tuple[float, ...]:
    """Return the score of each column: of every theme the heaviest rule that favours it, added up."""
    best: dict[tuple[str, int], float] = {}
    for line in lines:
        for place, cell in enumerate(line.cells):
            if cell.effect is Effect.FAVOURS:
                key = (theme_of(line), place)
                best[key] = max(best.get(key, 0.0), line.weight)
    return tuple(
        math.fsum(value for (_, at), value in best.items() if at == place) for place in range(columns)
    )


def removed(lines: Sequence[TraceLine], place: int) -> tuple[str, ...]:
    """Return the rules that remove a column."""
    return tuple(line.rule.id for line in lines if line.cells[place].effect is Effect.REMOVES)


def undecided(lines: Sequence[TraceLine], place: int) -> tuple[str, ...]:
    """Return the rules that would remove a column, but cannot be decided."""
    return tuple(
        line.rule.id
        for line in lines
        if line.case.requires is not None and line.cells[place].effect is Effect.UNDECIDED
    )


def shares(
    lines: Sequence[TraceLine],
    facts: Mapping[str, DrawnFact],
    parts: Sequence[Mapping[str, DrawnFact]],
    drawn: Drawn,
) -> Shares:
    """Return how often each column leads in draws of what is not known, and of the weights.

    Columns that tie in a draw share it. A rule that removes and cannot be decided, since a fact is missing,
    removes in no draw. `facts` and `parts` are those that do not change.
    """
    count = drawn.count
    every = [{**facts, **part, **changing} for part, changing in zip(parts, drawn.parts, strict=True)]
    totals = np.zeros((len(parts), count))
    # What is removed with its whole band is so in all draws, those beyond the band too.
    out = np.repeat([[bool(removed(lines, place))] for place in range(len(parts))], count, axis=1)
    by_theme: dict[str, list[TraceLine]] = {}
    for line in lines:
        if line.case.requires is not None:
            asked = condition(line.case.requires)
            for place, each in enumerate(every):
                out[place] |= _marks(in_draws(asked, each), count, unknown=True) ^ True
        elif line.case.favours is not None and line.weight > 0.0:
            by_theme.setdefault(theme_of(line), []).append(line)
    for theme, of_theme in by_theme.items():
        doubt = WEIGHT_DOUBT ** (2.0 * uniform_draws(drawn.seed, f"weight of {theme}", count) - 1.0)
        for place, each in enumerate(every):
            totals[place] += _favour(of_theme, each, count) * doubt
    return _led(totals, out)


def _favour(lines: Sequence[TraceLine], facts: Mapping[str, DrawnFact], count: int) -> Draws:
    """Return the heaviest weight of a theme that favours a column, in each draw."""
    best = np.zeros(count)
    for line in lines:
        assert line.case.favours is not None
        holds = _marks(in_draws(condition(line.case.favours), facts), count, unknown=False)
        np.maximum(best, holds * line.weight, out=best)
    return best


def _marks(truth: DrawnTruth, count: int, *, unknown: bool) -> Marks:
    if isinstance(truth, np.ndarray):
        return truth
    return np.full(count, unknown if truth is None else truth)


def _led(totals: Draws, out: Marks) -> Shares:
    ranked = np.where(out, -np.inf, totals)
    top = ranked.max(axis=0)
    left = np.isfinite(top)
    leads = (ranked >= top - _SAME) & left & ~out
    each = leads / np.maximum(leads.sum(axis=0), 1)
    return Shares(tuple(float(share) for share in each.mean(axis=1)), float((~left).mean()))
