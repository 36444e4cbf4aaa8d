"""Report sections on missed bars: which slices miss, why, and which data would help."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from accuracy_report.data import AccuracyData
from accuracy_report.measures import (
    BARS,
    LEAST_CELL,
    LEAST_JUDGED,
    MOST_BIAS,
    SLICE_COVERAGE,
    WHOLE_COVERAGE,
    FigureView,
    JudgedFigure,
    MissedBars,
    find_misses,
    group_by_trait,
    group_by_traits,
    group_by_view,
    measure_errors,
)
from accuracy_report.wording import (
    MEASURED_HEAD,
    SLICES,
    ReportNames,
    format_count,
    format_factor,
    format_measure_cells,
    format_share,
    format_whole_share,
    join_words,
    make_markdown_table,
    make_sentence,
    mark_bold,
)
from gpudesk.text.messages import capitalize_first

#: Traits that could explain misses, the most likely first.
_LOOKED_AT: Final = ("series", "accelerator", "model", "load", "weights", "version")
#: Preposition and form of each trait in the name of a group, in order.
_PARTS: Final[Mapping[str, tuple[str, str]]] = {
    "model": ("", "{}"),
    "weights": ("with", "{} weights"),
    "accelerator": ("on", "{}"),
    "series": ("by", "{}"),
    "version": ("with", "{}"),
    "load": ("under", "the load “{}”"),
}
#: A group is named if it has this share of the misses.
_MOST: Final = 0.4
#: Minimum excess of its misses over its share of the rows, relative to all misses.
_BEYOND_ITS_SHARE: Final = 0.1
#: Misses are one-sided from this share in one direction.
_ONE_WAY: Final = 0.8
_HALF: Final = 0.5
_NEARLY_ALL: Final = 0.995
#: With fewer rows, a miss can be due to chance.
_ENOUGH: Final = 60


@dataclass(frozen=True, slots=True)
class MissCluster:
    """The rows of a slice with most of its misses: those that share `traits`."""

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
    return [row for row in rows if not row.inside], "are outside their interval"


def find_cluster(rows: Sequence[JudgedFigure], missing: Sequence[JudgedFigure]) -> MissCluster:
    """Return the group with the largest excess of misses, narrowed by a second trait."""
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
    rows: Sequence[JudgedFigure], missing: Sequence[JudgedFigure], traits: Mapping[str, str], all_misses: int
) -> tuple[str, str] | None:
    """Return the trait and value with the largest excess of misses; None if none has many."""
    rate = len(missing) / max(1, len(rows))
    best, most = None, _BEYOND_ITS_SHARE * all_misses
    for trait in _LOOKED_AT:
        sizes = group_by_trait(rows, trait)
        if trait in traits or len(sizes) < 2:
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
    """Return why a slice misses a bar, and which data would help; `every` are all rows of the view."""
    if missed.coverage and not (missed.median or missed.p90) and _too_wide(rows):
        parts: tuple[str, ...] = (
            "the interval is wider than needed: it comes from other figures, which scatter more",
            suggest_data(rows, every),
        )
    else:
        missing, how = find_missing_rows(rows, view, missed)
        hot = find_cluster(rows, missing)
        parts = (
            f"{len(missing):,} of {format_count(len(rows), 'figure')} {how}",
            _locate_misses(hot, missing, names),
            _direction(hot.missing),
            suggest_data(hot.rows, every),
        )
    return " ".join(make_sentence(part) for part in parts if part)


def _too_wide(rows: Sequence[JudgedFigure]) -> bool:
    return float(np.mean([row.inside for row in rows])) > 0.9


def _locate_misses(hot: MissCluster, missing: Sequence[JudgedFigure], names: ReportNames) -> str:
    """Return the group with most of the misses; empty if they have one publisher and accelerator."""
    if not hot.traits:
        groups = len({(row.run.traits["series"], row.run.traits["accelerator"]) for row in missing})
        return f"they are spread over {groups:,} pairs of publisher and accelerator" if groups > 1 else ""
    some = "all" if len(hot.missing) == len(missing) else f"{len(hot.missing):,}"
    size = format_count(len(hot.rows), "figure")
    return f"{some} of them are in one group: {describe_cluster(hot.traits, names)} ({size})"


def describe_cluster(traits: Mapping[str, str], names: ReportNames) -> str:
    """Return the name of a group: "Llama 3.1 8B on MI300X by dstack"."""
    text = ""
    for trait, (link, form) in _PARTS.items():
        if trait in traits:
            name = form.format(names.trait(trait, traits[trait]))
            text = f"{text} {link} {name}" if text else name
    return text


def _direction(missing: Sequence[JudgedFigure]) -> str:
    ratios = np.array([row.ratio for row in missing])
    high = float(np.mean(ratios > 1.0))
    if max(high, 1.0 - high) < _ONE_WAY:
        return f"{format_whole_share(high)} of these are predicted too high, the others too low"
    side = "high" if high > 0.5 else "low"
    middle = format_factor(float(np.median(ratios)))
    return f"these are predicted too {side}: the median of predicted / measured is {middle}"


def suggest_data(rows: Sequence[JudgedFigure], every: Sequence[JudgedFigure]) -> str:
    """Return the most useful further data; `every` are all rows of the view."""
    publishers = sorted(group_by_trait(rows, "series"))
    alike = _alike(rows, every)
    alone = _alone(rows, every)
    if _open_plans(rows) > _HALF:
        return f"{_name_share(_open_plans(rows))} lack a published plan: figures with a plan would help"
    if alone > _HALF and len(publishers) == 1:
        return (
            f"{_name_share(alone)} have an accelerator and model that only {publishers[0]} has measured together: "
            f"a second publisher would separate the habits of {publishers[0]} from errors of the engine"
        )
    if alone > _HALF:
        return (
            f"{_name_share(alone)} have an accelerator and model that only one publisher has measured together: "
            "second publishers would help"
        )
    if len(alike) < _ENOUGH:
        return f"these accelerators and models have only {format_count(len(alike), 'figure')}: more would help"
    publisher_count = format_count(len(group_by_trait(alike, "series")), "publisher")
    return (
        f"{publisher_count} measured these accelerators and models, with different results:"
        " the same configuration from two of them, with all settings, would help"
    )


def suggest_data_briefly(rows: Sequence[JudgedFigure], every: Sequence[JudgedFigure]) -> str:
    """Return `suggest_data` in a few words, for a table."""
    if _open_plans(rows) > _HALF:
        return "published plans"
    if _alone(rows, every) > _HALF:
        return "a second publisher"
    return "more figures" if len(_alike(rows, every)) < _ENOUGH else "same configuration, two publishers"


def _name_share(share: float) -> str:
    return "all figures" if share > _NEARLY_ALL else f"{format_whole_share(share)} of the figures"


def _open_plans(rows: Sequence[JudgedFigure]) -> float:
    return float(np.mean([row.run.traits["tp"] == "not stated" for row in rows]))


def _subject(row: JudgedFigure) -> tuple[str, str]:
    return row.run.traits["accelerator"], row.run.traits["model"]


def _alike(rows: Sequence[JudgedFigure], every: Sequence[JudgedFigure]) -> list[JudgedFigure]:
    """Return the rows of all publishers with the same accelerators and models."""
    subjects = {_subject(row) for row in rows}
    return [row for row in every if _subject(row) in subjects]


def _alone(rows: Sequence[JudgedFigure], every: Sequence[JudgedFigure]) -> float:
    """Return the share of rows whose pair of accelerator and model only one publisher has measured."""
    publishers: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row in every:
        publishers[_subject(row)].add(row.run.traits["series"])
    return float(np.mean([len(publishers[_subject(row)]) == 1 for row in rows]))


#: Slices with fewer rows are omitted: two or three rows have no 90th percentile.
LEAST_SHOWN = 5


def write_slices_section(data: AccuracyData) -> list[str]:
    lines = [
        "## 3. Errors by slice",
        "",
        (
            f"The publisher is left out. A slice of at least {LEAST_JUDGED} figures is judged by the bars of the "
            f"errors. {format_whole_share(SLICE_COVERAGE[0])} to {format_whole_share(SLICE_COVERAGE[1])} of its "
            f"figures should be in the interval. Smaller slices are shown only for information; slices of fewer than "
            f"{LEAST_SHOWN} figures are omitted. The list below each table gives reasons for missed bars, and data "
            "that would help."
        ),
        "",
    ]
    for view, rows in group_by_view(data.series_rows).items():
        lines += [f"### {capitalize_first(view)}, by slice", ""]
        body: list[tuple[str, ...]] = []
        why: list[str] = []
        for trait, heading in SLICES.items():
            for value, inside in group_by_trait(rows, trait).items():
                if len(inside) < LEAST_SHOWN:
                    continue
                measure = measure_errors(inside)
                missed = find_misses(measure, view)
                name = data.names.trait(trait, value)
                body.append((heading, name, *format_measure_cells(measure, missed)))
                if missed:
                    reason = explain_miss(inside, view, missed, rows, data.names)
                    why.append(f"- {capitalize_first(heading)} **{name}**: {reason}")
        head = ("slice", "", *MEASURED_HEAD)
        lines += make_markdown_table(head, body, text_columns=2)
        lines += [*why, ""] if why else [_none_missed(view, body), ""]
    return [*lines, *_write_cells(data)]


#: Traits of the cells judged for bias.
_CELL: Final = ("engine", "experts", "load")


def _write_cells(data: AccuracyData) -> list[str]:
    """Return the errors by serving engine, kind of model and load: where the formulas are biased."""
    body = []
    for view, rows in group_by_view(data.series_rows).items():
        for (engine, kind, load), inside in group_by_traits(rows, *_CELL).items():
            if len(inside) < LEAST_CELL:
                continue
            measure = measure_errors(inside)
            biased = abs(measure.bias - 1.0) > MOST_BIAS
            body.append(
                (
                    str(view),
                    data.names.trait("engine", engine),
                    kind,
                    data.names.trait("load", load),
                    f"{measure.rows:,}",
                    mark_bold(format_factor(measure.bias), biased),
                    format_share(measure.median),
                    format_share(measure.p90),
                    format_share(measure.coverage),
                )
            )
    lines = ["### By serving engine, kind of model and load", ""]
    if not body:
        return [*lines, f"No combination has {LEAST_CELL} figures.", ""]
    head = ("metric", "serving engine", "kind of model", "load", "figures", "bias", "median", "p90", "in interval")
    return [
        *lines,
        (
            f"The publisher is left out. Combinations of fewer than {LEAST_CELL} figures are omitted. "
            f"A bias of more than {format_whole_share(MOST_BIAS)} is bold."
        ),
        "",
        *make_markdown_table(head, body, text_columns=4),
    ]


def _none_missed(view: FigureView, body: list[tuple[str, ...]]) -> str:
    return f"No slice misses a bar ({format_count(len(body), 'slice')} of {view})."


#: Traits of a group whose large errors are counted.
_GROUP: Final = ("series", "accelerator", "model")
#: Number of groups in the table of a view.
_LISTED: Final = 8


@dataclass(frozen=True, slots=True)
class MissGroup:
    """Rows of one publisher, accelerator and model; how many exceed the bar; p90 of all other rows."""

    rows: tuple[JudgedFigure, ...]
    beyond: int
    p90_without: float | None


def write_missed_section(data: AccuracyData) -> list[str]:
    lines = [
        "## 6. Missed bars",
        "",
        *_whole(data),
        "",
        (
            "The tables list the groups with the most figures beyond the p90 bar, with the publisher left "
            "out. The last column is the p90 of all figures without the group."
        ),
        "",
    ]
    for view, rows in group_by_view(data.series_rows).items():
        lines += _of_view(view, rows, data.names)
    return lines + _bands(data)


def _whole(data: AccuracyData) -> list[str]:
    lines = []
    for view, rows in group_by_view(data.series_rows, whole=True).items():
        measure = measure_errors(rows)
        missed = find_misses(measure, view, WHOLE_COVERAGE)
        parts = []
        bar = BARS[view]
        if missed.median and bar.median is not None:
            parts.append(f"the median is {format_share(measure.median)} (bar: {format_whole_share(bar.median)})")
        if missed.p90 and bar.p90 is not None:
            parts.append(f"p90 is {format_share(measure.p90)} (bar: {format_whole_share(bar.p90)})")
        if missed.coverage:
            low, high = (format_whole_share(each) for each in WHOLE_COVERAGE)
            parts.append(f"{format_share(measure.coverage)} are in the interval (bar: {low} to {high})")
        if missed.width:
            parts.append(f"high/low is {measure.width:.2f} (bar: {bar.width})")
        lines.append(f"- {capitalize_first(view)}: {join_words(parts) or _describe_bar(view)}.")
    return lines


def _describe_bar(view: FigureView) -> str:
    return "the interval meets its bars" if BARS[view].median is None else "all bars are met"


def find_worst_groups(view: FigureView, rows: Sequence[JudgedFigure]) -> list[MissGroup]:
    """Return the groups with the most rows beyond the p90 bar."""
    bar = BARS[view].p90 or float(np.quantile([row.error for row in rows], 0.9))
    by_group: dict[tuple[str, ...], list[JudgedFigure]] = {}
    for row in rows:
        by_group.setdefault(tuple(row.run.traits[trait] for trait in _GROUP), []).append(row)
    groups = []
    for key, inside in by_group.items():
        beyond = sum(row.error > bar for row in inside)
        if beyond:
            others = [row.error for row in rows if tuple(row.run.traits[trait] for trait in _GROUP) != key]
            without = float(np.quantile(others, 0.9)) if others else None
            groups.append(MissGroup(tuple(inside), beyond, without))
    return sorted(groups, key=lambda each: (-each.beyond, describe_cluster(_traits(each), ReportNames())))[:_LISTED]


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
        measure = measure_errors(each.rows)
        body.append(
            (
                *traits,
                suggest_data_briefly(each.rows, rows),
                f"{measure.rows:,}",
                f"{each.beyond:,}",
                format_factor(measure.bias),
                "—" if each.p90_without is None else format_share(each.p90_without),
            )
        )
    head = (*(SLICES.get(trait, trait) for trait in _GROUP), "helpful data", "figures", "beyond", "bias", "p90 without")
    listed = sum(each.beyond for each in groups)
    summary = (
        f"{beyond:,} of {format_count(len(rows), 'figure')} are beyond {format_whole_share(bar)}; "
        f"{listed:,} of them are in these groups."
        if bar is not None
        else f"No bar is set; {listed:,} of the figures beyond the 90th percentile are in these groups."
    )
    return [
        f"### {capitalize_first(view)}, beyond the bar",
        "",
        summary,
        "",
        *make_markdown_table(head, body, text_columns=4),
    ]


def _bands(data: AccuracyData) -> list[str]:
    """Return the slices whose interval coverage is too low or too high."""
    body = []
    for view, rows in group_by_view(data.series_rows).items():
        for trait, heading in SLICES.items():
            for value, inside in group_by_trait(rows, trait).items():
                measure = measure_errors(inside)
                if find_misses(measure, view).coverage:
                    body.append(
                        (
                            capitalize_first(view),
                            heading,
                            data.names.trait(trait, value),
                            suggest_data_briefly(inside, rows),
                            f"{measure.rows:,}",
                            format_share(measure.coverage),
                            format_factor(measure.bias),
                        )
                    )
    low, high = (format_whole_share(each) for each in SLICE_COVERAGE)
    if not body:
        return [f"In every slice, {low} to {high} of the figures are in the interval.", ""]
    return [
        "### Slices and intervals",
        "",
        (
            f"The interval should contain {low} to {high} of each slice. These slices are outside that range. "
            "Each publisher has habits that are invisible in the figures of others. An interval that covers such "
            "habits would be too wide for all others. An interval for a careful publisher would be too narrow for "
            "the next. Only figures from further publishers can help."
        ),
        "",
        *make_markdown_table(
            ("metric", "slice", "", "helpful data", "figures", "in interval", "bias"), body, text_columns=4
        ),
    ]
