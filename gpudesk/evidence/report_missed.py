"""Section of the accuracy report: where bars are not met, which groups carry it, and what data would help."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from gpudesk.evidence.judging import Judged
from gpudesk.evidence.report_causes import described, help_in_short
from gpudesk.evidence.report_data import ReportData
from gpudesk.evidence.report_measures import (
    BARS,
    SLICE_COVERAGE,
    WHOLE_COVERAGE,
    View,
    by_trait,
    by_view,
    measure,
    misses,
)
from gpudesk.evidence.report_words import (
    SLICES,
    Names,
    count,
    factor,
    joined,
    share,
    table,
    title,
    whole_share,
)

#: What makes a group whose share of the large errors is counted.
_GROUP: Final = ("series", "accelerator", "model")
#: So many groups are listed for a figure.
_LISTED: Final = 8


@dataclass(frozen=True, slots=True)
class Group:
    """Rows of one publisher, accelerator and model, how many are beyond the bar, and p90 without them."""

    rows: tuple[Judged, ...]
    beyond: int
    p90_without: float | None


def missed_section(data: ReportData) -> list[str]:
    """Return the section."""
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
    for view, rows in by_view(data.series_rows).items():
        lines += _of_view(view, rows, data.names)
    return lines + _bands(data)


def _whole(data: ReportData) -> list[str]:
    """Return which bars all rows together miss, publisher left out."""
    lines = []
    for view, rows in by_view(data.series_rows, whole=True).items():
        found = measure(rows)
        missed = misses(found, view, WHOLE_COVERAGE)
        parts = []
        bar = BARS[view]
        if missed.median and bar.median is not None:
            parts.append(f"the median is {share(found.median)} instead of {whole_share(bar.median)}")
        if missed.p90 and bar.p90 is not None:
            parts.append(f"p90 is {share(found.p90)} instead of {whole_share(bar.p90)}")
        if missed.coverage:
            low, high = (whole_share(each) for each in WHOLE_COVERAGE)
            parts.append(f"the band holds {share(found.coverage)} instead of {low} to {high}")
        if missed.width:
            parts.append(f"high/low is {found.width:.2f} instead of {bar.width}")
        lines.append(f"- {title(view)}: {joined(parts) or _met(view)}.")
    return lines


def _met(view: View) -> str:
    return "the band meets its bars" if BARS[view].median is None else "all bars are met"


def groups_beyond(view: View, rows: Sequence[Judged]) -> list[Group]:
    """Return the groups with most rows beyond the bar of the 90th hundredth."""
    bar = BARS[view].p90 or float(np.quantile([row.error for row in rows], 0.9))
    by_group: dict[tuple[str, ...], list[Judged]] = {}
    for row in rows:
        by_group.setdefault(tuple(row.run.traits[trait] for trait in _GROUP), []).append(row)
    found = []
    for key, inside in by_group.items():
        beyond = sum(row.error > bar for row in inside)
        if beyond:
            others = [row.error for row in rows if tuple(row.run.traits[trait] for trait in _GROUP) != key]
            without = float(np.quantile(others, 0.9)) if others else None
            found.append(Group(tuple(inside), beyond, without))
    return sorted(found, key=lambda each: (-each.beyond, described(_traits(each), Names())))[:_LISTED]


def _traits(group: Group) -> dict[str, str]:
    return {trait: group.rows[0].run.traits[trait] for trait in _GROUP}


def _of_view(view: View, rows: Sequence[Judged], names: Names) -> list[str]:
    groups = groups_beyond(view, rows)
    if not groups:
        return []
    bar = BARS[view].p90
    beyond = sum(row.error > (bar or 0.0) for row in rows)
    body = []
    for each in groups:
        traits = [names.trait(trait, value) for trait, value in _traits(each).items()]
        found = measure(each.rows)
        body.append(
            (
                *traits,
                help_in_short(each.rows, rows),
                f"{found.rows:,}",
                f"{each.beyond:,}",
                factor(found.bias),
                "—" if each.p90_without is None else share(each.p90_without),
            )
        )
    head = (
        *(SLICES.get(trait, trait) for trait in _GROUP),
        "what would help",
        "rows",
        "beyond",
        "bias",
        "p90 without",
    )
    held = sum(each.beyond for each in groups)
    intro = f"### {title(view)}, beyond the bar"
    said = (
        f"{count(beyond, 'row')} of {len(rows):,} are beyond {whole_share(bar)}"
        if bar is not None
        else ("No bar is set; counted is what lies beyond the 90th hundredth")
    )
    return [intro, "", f"{said}; these groups hold {held:,} of them.", "", *table(head, body, text_columns=4)]


def _bands(data: ReportData) -> list[str]:
    """Return the slices whose band holds too few or too many, and what cannot be reached."""
    body = []
    for view, rows in by_view(data.series_rows).items():
        for trait, heading in SLICES.items():
            for value, inside in by_trait(rows, trait).items():
                found = measure(inside)
                if misses(found, view).coverage:
                    body.append(
                        (
                            title(view),
                            heading,
                            data.names.trait(trait, value),
                            help_in_short(inside, rows),
                            f"{found.rows:,}",
                            share(found.coverage),
                            factor(found.bias),
                        )
                    )
    low, high = (whole_share(each) for each in SLICE_COVERAGE)
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
        *table(
            ("figure", "slice", "", "what would help", "rows", "band holds", "bias"), body, text_columns=4
        ),
    ]
