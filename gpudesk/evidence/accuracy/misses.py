"""Report sections on missed bars: which slices miss, why, and which data would help."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from gpudesk.evidence.accuracy.data import AccuracyData
from gpudesk.evidence.accuracy.measures import (
    BARS,
    LEAST_JUDGED,
    SLICE_COVERAGE,
    WHOLE_COVERAGE,
    FigureView,
    JudgedFigure,
    MissedBars,
    find_misses,
    group_by_trait,
    group_by_view,
    measure_errors,
)
from gpudesk.evidence.accuracy.wording import (
    MEASURED_HEAD,
    SLICES,
    ReportNames,
    capitalize,
    format_count,
    format_factor,
    format_measure_cells,
    format_share,
    format_whole_share,
    join_words,
    make_markdown_table,
    make_sentence,
)

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
class MissCluster:
    """The rows of a slice that hold most of its misses: those that share `traits`."""

    traits: Mapping[str, str]
    rows: tuple[JudgedFigure, ...]
    missing: tuple[JudgedFigure, ...]


def find_missing_rows(
    rows: Sequence[JudgedFigure], view: FigureView, missed: MissedBars
) -> tuple[list[JudgedFigure], str]:
    bar = BARS[view]
    for hit, limit in ((missed.p90, bar.p90), (missed.median, bar.median)):
        if hit and limit is not None:
            return [row for row in rows if row.error > limit], f"miss by more than {format_whole_share(limit)}"
    return [row for row in rows if not row.inside], "lie outside their band"


def find_cluster(rows: Sequence[JudgedFigure], missing: Sequence[JudgedFigure]) -> MissCluster:
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
    return MissCluster(traits, tuple(inside), tuple(within))


def _step(
    rows: Sequence[JudgedFigure], missing: Sequence[JudgedFigure], known: Mapping[str, str], all_misses: int
) -> tuple[str, str] | None:
    """Return the trait and value that hold most misses beyond their share; None where none holds many."""
    rate = len(missing) / max(1, len(rows))
    best, most = None, _BEYOND_ITS_SHARE * all_misses
    for trait in _LOOKED_AT:
        sizes = group_by_trait(rows, trait)
        if trait in known or len(sizes) < 2:
            continue
        for value, inside in group_by_trait(missing, trait).items():
            excess = len(inside) - rate * len(sizes[value])
            if excess > most and len(inside) >= _MOST * all_misses:
                best, most = (trait, value), excess
    return best


def explain_miss(
    rows: Sequence[JudgedFigure],
    view: FigureView,
    missed: MissedBars,
    every: Sequence[JudgedFigure],
    names: ReportNames,
) -> str:
    """Return what is behind a slice that misses a bar, and which data would help.

    `every` are all rows of the view, among which the rows of other publishers are looked for.
    """
    if missed.coverage and not (missed.median or missed.p90) and _too_wide(rows):
        parts: tuple[str, ...] = (
            "the band is wider than these rows need: it comes from rows of others, which scatter more",
            suggest_data(rows, every),
        )
    else:
        missing, how = find_missing_rows(rows, view, missed)
        hot = find_cluster(rows, missing)
        parts = (
            f"{len(missing):,} of {format_count(len(rows), 'row')} {how}{_held(hot, missing, names)}",
            _direction(hot.missing),
            suggest_data(hot.rows, every),
        )
    return " ".join(make_sentence(part) for part in parts)


def _too_wide(rows: Sequence[JudgedFigure]) -> bool:
    return float(np.mean([row.inside for row in rows])) > 0.9


def _held(hot: MissCluster, missing: Sequence[JudgedFigure], names: ReportNames) -> str:
    """Return which group holds most of the misses, as the end of a sentence."""
    if not hot.traits:
        groups = len({(row.run.traits["series"], row.run.traits["accelerator"]) for row in missing})
        return f", spread over {format_count(groups, 'pair')} of publisher and accelerator" if groups > 1 else ""
    some = "all" if len(hot.missing) == len(missing) else f"{len(hot.missing):,}"
    of_all = f"which has {format_count(len(hot.rows), 'row')} here"
    return f", {some} of them of {describe_cluster(hot.traits, names)}, {of_all}"


def describe_cluster(traits: Mapping[str, str], names: ReportNames) -> str:
    """Return what a group is called by its traits: "Llama 3.1 8B on MI300X by dstack"."""
    found = ""
    for trait, (link, form) in _PARTS.items():
        if trait in traits:
            name = form.format(names.trait(trait, traits[trait]))
            found = f"{found} {link} {name}" if found else name
    return found


def _direction(missing: Sequence[JudgedFigure]) -> str:
    ratios = np.array([row.ratio for row in missing])
    high = float(np.mean(ratios > 1.0))
    if max(high, 1.0 - high) < _ONE_WAY:
        return f"{format_whole_share(high)} of these are predicted too high and the others too low"
    side = "high" if high > 0.5 else "low"
    middle = format_factor(float(np.median(ratios)))
    return f"they are predicted too {side}, in the median {middle} of what was measured"


def suggest_data(rows: Sequence[JudgedFigure], every: Sequence[JudgedFigure]) -> str:
    """Return which data would help most where these rows miss; `every` are all rows of the view."""
    publishers = sorted(group_by_trait(rows, "series"))
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
        return f"there are only {format_count(len(alike), 'row')} of these accelerators and models: more would help"
    counted = format_count(len(group_by_trait(alike, "series")), "publisher")
    return (
        f"{counted} measured these accelerators with these models and differ:"
        " one configuration by two of them, with every setting stated, would help"
    )


def suggest_data_briefly(rows: Sequence[JudgedFigure], every: Sequence[JudgedFigure]) -> str:
    """Return the same in a few words, for a table."""
    if _open_plans(rows) > _HALF:
        return "plans that are stated"
    if _alone(rows, every) > _HALF:
        return "a second publisher"
    return "more rows" if len(_alike(rows, every)) < _ENOUGH else "one configuration by two publishers"


def _of_them(part: float) -> str:
    return "all of them" if part > _NEARLY_ALL else f"{format_whole_share(part)} of them"


def _open_plans(rows: Sequence[JudgedFigure]) -> float:
    return float(np.mean([row.run.traits["tp"] == "not stated" for row in rows]))


def _subject(row: JudgedFigure) -> tuple[str, str]:
    return row.run.traits["accelerator"], row.run.traits["model"]


def _alike(rows: Sequence[JudgedFigure], every: Sequence[JudgedFigure]) -> list[JudgedFigure]:
    """Return all rows of the accelerators and models of some rows, whoever published them."""
    subjects = {_subject(row) for row in rows}
    return [row for row in every if _subject(row) in subjects]


def _alone(rows: Sequence[JudgedFigure], every: Sequence[JudgedFigure]) -> float:
    """Return the share of rows whose accelerator and model no second publisher has measured together."""
    publishers: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row in every:
        publishers[_subject(row)].add(row.run.traits["series"])
    return float(np.mean([len(publishers[_subject(row)]) == 1 for row in rows]))


#: Slices with fewer rows are not shown: two or three rows have no 90th hundredth.
LEAST_SHOWN = 5


def write_slices_section(data: AccuracyData) -> list[str]:
    lines = [
        "## 3. Slices, publisher left out",
        "",
        (
            f"A slice of {LEAST_JUDGED} rows or more is held to the bars of the errors, and its band is to hold "
            f"{format_whole_share(SLICE_COVERAGE[0])} to {format_whole_share(SLICE_COVERAGE[1])}; smaller ones are "
            f"shown without being judged, those of fewer than {LEAST_SHOWN} rows not at all. Below each "
            "table stands what is behind the slices that miss a bar, and which data would help."
        ),
        "",
    ]
    for view, rows in group_by_view(data.series_rows).items():
        lines += [f"### {capitalize(view)}, by slice", ""]
        body: list[tuple[str, ...]] = []
        why: list[str] = []
        for trait, heading in SLICES.items():
            for value, inside in group_by_trait(rows, trait).items():
                if len(inside) < LEAST_SHOWN:
                    continue
                found = measure_errors(inside)
                missed = find_misses(found, view)
                name = data.names.trait(trait, value)
                body.append((heading, name, *format_measure_cells(found, missed)))
                if missed:
                    why.append(
                        f"- {capitalize(heading)} **{name}**: {explain_miss(inside, view, missed, rows, data.names)}"
                    )
        head = ("slice", "", *MEASURED_HEAD)
        lines += make_markdown_table(head, body, text_columns=2)
        lines += [*why, ""] if why else [_none_missed(view, body), ""]
    return lines


def _none_missed(view: FigureView, body: list[tuple[str, ...]]) -> str:
    return f"None of the {format_count(len(body), 'slice')} of {view} misses a bar."


#: What makes a group whose share of the large errors is counted.
_GROUP: Final = ("series", "accelerator", "model")
#: So many groups are listed for a figure.
_LISTED: Final = 8


@dataclass(frozen=True, slots=True)
class MissGroup:
    """Rows of one publisher, accelerator and model, how many are beyond the bar, and p90 without them."""

    rows: tuple[JudgedFigure, ...]
    beyond: int
    p90_without: float | None


def write_missed_section(data: AccuracyData) -> list[str]:
    lines = [
        "## 6. Where the bars are not met",
        "",
        *_whole(data),
        "",
        (
            "The tables list the groups with most rows beyond the bar of the 90th hundredth, publisher left "
            "out; the last column is what that hundredth of all rows would be without the group."
        ),
        "",
    ]
    for view, rows in group_by_view(data.series_rows).items():
        lines += _of_view(view, rows, data.names)
    return lines + _bands(data)


def _whole(data: AccuracyData) -> list[str]:
    lines = []
    for view, rows in group_by_view(data.series_rows, whole=True).items():
        found = measure_errors(rows)
        missed = find_misses(found, view, WHOLE_COVERAGE)
        parts = []
        bar = BARS[view]
        if missed.median and bar.median is not None:
            parts.append(f"the median is {format_share(found.median)} instead of {format_whole_share(bar.median)}")
        if missed.p90 and bar.p90 is not None:
            parts.append(f"p90 is {format_share(found.p90)} instead of {format_whole_share(bar.p90)}")
        if missed.coverage:
            low, high = (format_whole_share(each) for each in WHOLE_COVERAGE)
            parts.append(f"the band holds {format_share(found.coverage)} instead of {low} to {high}")
        if missed.width:
            parts.append(f"high/low is {found.width:.2f} instead of {bar.width}")
        lines.append(f"- {capitalize(view)}: {join_words(parts) or _met(view)}.")
    return lines


def _met(view: FigureView) -> str:
    return "the band meets its bars" if BARS[view].median is None else "all bars are met"


def find_worst_groups(view: FigureView, rows: Sequence[JudgedFigure]) -> list[MissGroup]:
    """Return the groups with most rows beyond the bar of the 90th hundredth."""
    bar = BARS[view].p90 or float(np.quantile([row.error for row in rows], 0.9))
    by_group: dict[tuple[str, ...], list[JudgedFigure]] = {}
    for row in rows:
        by_group.setdefault(tuple(row.run.traits[trait] for trait in _GROUP), []).append(row)
    found = []
    for key, inside in by_group.items():
        beyond = sum(row.error > bar for row in inside)
        if beyond:
            others = [row.error for row in rows if tuple(row.run.traits[trait] for trait in _GROUP) != key]
            without = float(np.quantile(others, 0.9)) if others else None
            found.append(MissGroup(tuple(inside), beyond, without))
    return sorted(found, key=lambda each: (-each.beyond, describe_cluster(_traits(each), ReportNames())))[:_LISTED]


def _traits(group: MissGroup) -> dict[str, str]:
    return {trait: group.rows[0].run.traits[trait] for trait in _GROUP}


def _of_view(view: FigureView, rows: Sequence[JudgedFigure], names: ReportNames) -> list[str]:
    groups = find_worst_groups(view, rows)
    if not groups:
        return []
    bar = BARS[view].p90
    beyond = sum(row.error > (bar or 0.0) for row in rows)
    body = []
    for each in groups:
        traits = [names.trait(trait, value) for trait, value in _traits(each).items()]
        found = measure_errors(each.rows)
        body.append(
            (
                *traits,
                suggest_data_briefly(each.rows, rows),
                f"{found.rows:,}",
                f"{each.beyond:,}",
                format_factor(found.bias),
                "—" if each.p90_without is None else format_share(each.p90_without),
            )
        )
    head = (*(SLICES.get(trait, trait) for trait in _GROUP), "what would help", "rows", "beyond", "bias", "p90 without")
    held = sum(each.beyond for each in groups)
    intro = f"### {capitalize(view)}, beyond the bar"
    said = (
        f"{format_count(beyond, 'row')} of {len(rows):,} are beyond {format_whole_share(bar)}"
        if bar is not None
        else ("No bar is set; counted is what lies beyond the 90th hundredth")
    )
    return [
        intro,
        "",
        f"{said}; these groups hold {held:,} of them.",
        "",
        *make_markdown_table(head, body, text_columns=4),
    ]


def _bands(data: AccuracyData) -> list[str]:
    """Return the slices whose band holds too few or too many, and what cannot be reached."""
    body = []
    for view, rows in group_by_view(data.series_rows).items():
        for trait, heading in SLICES.items():
            for value, inside in group_by_trait(rows, trait).items():
                found = measure_errors(inside)
                if find_misses(found, view).coverage:
                    body.append(
                        (
                            capitalize(view),
                            heading,
                            data.names.trait(trait, value),
                            suggest_data_briefly(inside, rows),
                            f"{found.rows:,}",
                            format_share(found.coverage),
                            format_factor(found.bias),
                        )
                    )
    low, high = (format_whole_share(each) for each in SLICE_COVERAGE)
    if not body:
        return [f"The band holds {low} to {high} in every slice.", ""]
    return [
        "### Slices that the band holds too seldom or too often",
        "",
        (
            f"It is to hold {low} to {high} of each. What a publisher does differently from all others is "
            "not in the rows of the others: a band that held it would be too wide for everyone else, and "
            "one that fitted a careful publisher would be too narrow for the next. Such slices cannot be "
            "met without further publishers."
        ),
        "",
        *make_markdown_table(
            ("figure", "slice", "", "what would help", "rows", "band holds", "bias"), body, text_columns=4
        ),
    ]
