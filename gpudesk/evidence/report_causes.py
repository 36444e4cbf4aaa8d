"""What is behind a slice that misses a bar, in a sentence: which rows miss, which way, and what would help.

Everything is counted from the rows of the slice: the group that holds most misses beyond its share of the
rows, whether they all miss to one side, how many publishers there are, and what the publications leave open.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from gpudesk.evidence.judging import Judged
from gpudesk.evidence.report_measures import BARS, Misses, View, by_trait
from gpudesk.evidence.report_words import Names, count, factor, sentence, whole_share

#: Traits by which a group of misses is looked for, the most telling first.
_LOOKED_AT: Final = ("series", "accelerator", "model", "load", "weights", "version")
#: How the parts of the name of a group follow each other, and what each is called.
_PARTS: Final[Mapping[str, tuple[str, str]]] = {
    "model": ("", "{}"),
    "weights": ("with", "{} weights"),
    "accelerator": ("on", "{}"),
    "series": ("by", "{}"),
    "version": ("with", "{}"),
    "load": ("under", "the load “{}”"),
}
#: A group is named if it holds this share of the misses, and its parts likewise.
_MOST: Final = 0.4
#: Of which at least this share of all misses must be more than its share of the rows would bring.
_BEYOND_ITS_SHARE: Final = 0.1
#: Misses go one way if this share of them does.
_ONE_WAY: Final = 0.8
_HALF: Final = 0.5
_NEARLY_ALL: Final = 0.995
#: So many rows let a fit tell a habit from chance; below, more rows are asked for.
_ENOUGH: Final = 60


@dataclass(frozen=True, slots=True)
class Hot:
    """The rows of a slice that hold most of its misses: those that share `traits`."""

    traits: Mapping[str, str]
    rows: tuple[Judged, ...]
    missing: tuple[Judged, ...]


def missing_rows(rows: Sequence[Judged], view: View, missed: Misses) -> tuple[list[Judged], str]:
    """Return the rows that make a slice miss its bar, and what they have in common."""
    bar = BARS[view]
    for hit, limit in ((missed.p90, bar.p90), (missed.median, bar.median)):
        if hit and limit is not None:
            return [row for row in rows if row.error > limit], f"miss by more than {whole_share(limit)}"
    return [row for row in rows if not row.inside], "lie outside their band"


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
    best, most = None, _BEYOND_ITS_SHARE * all_misses
    for trait in _LOOKED_AT:
        sizes = by_trait(rows, trait)
        if trait in known or len(sizes) < 2:
            continue
        for value, inside in by_trait(missing, trait).items():
            excess = len(inside) - rate * len(sizes[value])
            if excess > most and len(inside) >= _MOST * all_misses:
                best, most = (trait, value), excess
    return best


def cause(rows: Sequence[Judged], view: View, missed: Misses, every: Sequence[Judged], names: Names) -> str:
    """Return what is behind a slice that misses a bar, and which data would help.

    `every` are all rows of the view, among which the rows of other publishers are looked for.
    """
    if missed.coverage and not (missed.median or missed.p90) and _too_wide(rows):
        parts: tuple[str, ...] = (
            "the band is wider than these rows need: it comes from rows of others, which scatter more",
            help_wanted(rows, every),
        )
    else:
        missing, how = missing_rows(rows, view, missed)
        hot = hottest(rows, missing)
        parts = (
            f"{len(missing):,} of {count(len(rows), 'row')} {how}{_held(hot, missing, names)}",
            _direction(hot.missing),
            help_wanted(hot.rows, every),
        )
    return " ".join(sentence(part) for part in parts)


def _too_wide(rows: Sequence[Judged]) -> bool:
    return float(np.mean([row.inside for row in rows])) > 0.9


def _held(hot: Hot, missing: Sequence[Judged], names: Names) -> str:
    """Return which group holds most of the misses, as the end of a sentence."""
    if not hot.traits:
        groups = len({(row.run.traits["series"], row.run.traits["accelerator"]) for row in missing})
        return f", spread over {count(groups, 'pair')} of publisher and accelerator" if groups > 1 else ""
    some = "all" if len(hot.missing) == len(missing) else f"{len(hot.missing):,}"
    of_all = f"which has {count(len(hot.rows), 'row')} here"
    return f", {some} of them of {described(hot.traits, names)}, {of_all}"


def described(traits: Mapping[str, str], names: Names) -> str:
    """Return what a group is called by its traits: "Llama 3.1 8B on MI300X by dstack"."""
    found = ""
    for trait, (link, form) in _PARTS.items():
        if trait in traits:
            name = form.format(names.trait(trait, traits[trait]))
            found = f"{found} {link} {name}" if found else name
    return found


def _direction(missing: Sequence[Judged]) -> str:
    ratios = np.array([row.ratio for row in missing])
    high = float(np.mean(ratios > 1.0))
    if max(high, 1.0 - high) < _ONE_WAY:
        return f"{whole_share(high)} of these are predicted too high and the others too low"
    side = "high" if high > 0.5 else "low"
    middle = factor(float(np.median(ratios)))
    return f"they are predicted too {side}, in the median {middle} of what was measured"


def help_wanted(rows: Sequence[Judged], every: Sequence[Judged]) -> str:
    """Return which data would help most where these rows miss; `every` are all rows of the view."""
    publishers = sorted(by_trait(rows, "series"))
    alike = _alike(rows, every)
    alone = _alone(rows, every)
    if _open_plans(rows) > _HALF:
        return f"{_of_them(_open_plans(rows))} leave the plan open: rows that state it would help"
    if alone > _HALF and len(publishers) == 1:
        return (
            f"{_of_them(alone)} are of an accelerator and a model that no other publisher has measured "
            f"together: a second one would tell the habits of {publishers[0]} from what the engine lacks"
        )
    if alone > _HALF:
        return (
            f"{_of_them(alone)} are of an accelerator and a model that one publisher alone has measured "
            "together: second publishers would help"
        )
    if len(alike) < _ENOUGH:
        return f"there are only {count(len(alike), 'row')} of these accelerators and models: more would help"
    return (
        f"{count(len(by_trait(alike, 'series')), 'publisher')} measured these accelerators with these models "
        "and differ: one configuration by two of them, with every setting stated, would help"
    )


def help_in_short(rows: Sequence[Judged], every: Sequence[Judged]) -> str:
    """Return the same in a few words, for a table."""
    if _open_plans(rows) > _HALF:
        return "plans that are stated"
    if _alone(rows, every) > _HALF:
        return "a second publisher"
    return "more rows" if len(_alike(rows, every)) < _ENOUGH else "one configuration by two publishers"


def _of_them(part: float) -> str:
    return "all of them" if part > _NEARLY_ALL else f"{whole_share(part)} of them"


def _open_plans(rows: Sequence[Judged]) -> float:
    return float(np.mean([row.run.traits["tp"] == "not stated" for row in rows]))


def _subject(row: Judged) -> tuple[str, str]:
    return row.run.traits["accelerator"], row.run.traits["model"]


def _alike(rows: Sequence[Judged], every: Sequence[Judged]) -> list[Judged]:
    """Return all rows of the accelerators and models of some rows, whoever published them."""
    subjects = {_subject(row) for row in rows}
    return [row for row in every if _subject(row) in subjects]


def _alone(rows: Sequence[Judged], every: Sequence[Judged]) -> float:
    """Return the share of rows whose accelerator and model no second publisher has measured together."""
    publishers: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row in every:
        publishers[_subject(row)].add(row.run.traits["series"])
    return float(np.mean([len(publishers[_subject(row)]) == 1 for row in rows]))
