"""What is behind a slice that misses a bar, in a sentence: which rows miss, which way, and what would help.

Everything is counted from the rows of the slice: the group that holds most misses beyond its share of the
rows, whether they all miss to one side, how many publishers there are, and what the publications leave open.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from gpudesk.evidence.judging import Judged
from gpudesk.evidence.report_measures import BARS, LEAST_JUDGED, Misses, View, by_trait
from gpudesk.evidence.report_words import Names, count, factor, joined, sentence, whole_share

#: Traits by which a group of misses is looked for, the most telling first.
_LOOKED_AT: Final = ("series", "accelerator", "model", "load", "weights", "version")
#: A group is named if it holds this share of the misses, and its parts likewise.
_MOST: Final = 0.4
#: Misses go one way if this share of them does.
_ONE_WAY: Final = 0.8
#: So many rows let a fit tell a habit from chance; below, more rows are asked for.
_ENOUGH: Final = 60


@dataclass(frozen=True, slots=True)
class Hot:
    """The rows of a slice that hold most of its misses: those that share `traits`."""

    traits: Mapping[str, str]
    rows: tuple[Judged, ...]
    missing: tuple[Judged, ...]


def missing_rows(rows: Sequence[Judged], view: View, missed: Misses) -> list[Judged]:
    """Return the rows that make a slice miss its bar."""
    bar = BARS[view]
    if missed.p90 and bar.p90 is not None:
        return [row for row in rows if row.error > bar.p90]
    if missed.median and bar.median is not None:
        return [row for row in rows if row.error > bar.median]
    return [row for row in rows if not row.inside]


def hottest(rows: Sequence[Judged], missing: Sequence[Judged]) -> Hot:
    """Return the group that holds most misses beyond its share, narrowed once more by a second trait."""
    traits: dict[str, str] = {}
    inside, within = list(rows), list(missing)
    for _ in range(2):
        best = _step(inside, within, traits, len(missing))
        if best is None:
            break
        trait, value = best
        traits[trait] = value
        inside = [row for row in inside if row.run.traits[trait] == value]
        within = [row for row in within if row.run.traits[trait] == value]
    return Hot(traits, tuple(inside), tuple(within))


def _step(
    rows: Sequence[Judged], missing: Sequence[Judged], known: Mapping[str, str], all_misses: int
) -> tuple[str, str] | None:
    """Return the trait and value that hold most misses beyond their share; None where none holds many."""
    rate = len(missing) / max(1, len(rows))
    best, most = None, 0.0
    for trait in _LOOKED_AT:
        sizes = by_trait(rows, trait)
        if trait in known or len(sizes) < 2:
            continue
        for value, inside in by_trait(missing, trait).items():
            excess = len(inside) - rate * len(sizes[value])
            if excess > most and len(inside) >= _MOST * all_misses:
                best, most = (trait, value), excess
    return best


def cause(rows: Sequence[Judged], view: View, missed: Misses, names: Names) -> str:
    """Return what is behind a slice that misses a bar, and which data would help."""
    if missed.coverage and not (missed.median or missed.p90) and _too_wide(rows):
        return sentence(
            "The band is wider than these rows need: it comes from rows of others, which scatter more; "
            + help_wanted(rows)
        )
    missing = missing_rows(rows, view, missed)
    if not missing:
        return sentence("The error is spread evenly; " + help_wanted(rows))
    hot = hottest(rows, missing)
    return " ".join(
        (
            _who(hot, missing, rows, names),
            sentence(_direction(hot.missing or missing)),
            sentence(help_wanted(hot.rows or rows)),
        )
    )


def _too_wide(rows: Sequence[Judged]) -> bool:
    return float(np.mean([row.inside for row in rows])) > 0.9


def _who(hot: Hot, missing: Sequence[Judged], rows: Sequence[Judged], names: Names) -> str:
    beyond = f"{count(len(missing), 'row')} of {len(rows):,} {'misses' if len(missing) == 1 else 'miss'}"
    if not hot.traits:
        groups = len({(row.run.traits["series"], row.run.traits["accelerator"]) for row in missing})
        return sentence(f"{beyond}, spread over {count(groups, 'pair')} of publisher and accelerator")
    if len(hot.missing) == len(missing):
        held = "all of them are" if len(missing) > 1 else "it is"
    else:
        held = f"{len(hot.missing):,} of them are"
    return sentence(f"{beyond}; {held} of {described(hot.traits, names)} ({count(len(hot.rows), 'row')})")


def described(traits: Mapping[str, str], names: Names) -> str:
    """Return what a group is called by its traits."""
    return joined([names.trait(trait, value) for trait, value in traits.items()], "with")


def _direction(missing: Sequence[Judged]) -> str:
    ratios = np.array([row.ratio for row in missing])
    high = float(np.mean(ratios > 1.0))
    if max(high, 1.0 - high) < _ONE_WAY:
        return f"{whole_share(high)} of these are predicted too high, the others too low"
    side = "high" if high > 0.5 else "low"
    middle = factor(float(np.median(ratios)))
    return f"they are predicted too {side}, in the median {middle} of what was measured"


def help_wanted(rows: Sequence[Judged]) -> str:
    """Return which data would help most where these rows miss."""
    series = by_trait(rows, "series")
    open_plans = float(np.mean([row.run.traits["tp"] == "not stated" for row in rows]))
    if len(series) == 1:
        publisher = next(iter(series))
        return (
            f"only {publisher} has such rows, so a second publisher is needed to tell its habits from physics"
        )
    if open_plans > 0.5:
        return f"{whole_share(open_plans)} of them leave the plan open: rows that state it would help"
    largest, inside = next(iter(series.items()))
    if len(rows) < max(LEAST_JUDGED, _ENOUGH):
        return (
            f"there are only {count(len(rows), 'row')} of {count(len(series), 'publisher')}: more would help"
        )
    if len(inside) > 0.8 * len(rows):
        most = whole_share(len(inside) / len(rows))
        return f"{most} of them are of {largest}: rows of other publishers would help"
    return (
        f"{count(len(series), 'publisher')} differ here: one configuration, measured by two of them with "
        "every setting stated, would help"
    )
