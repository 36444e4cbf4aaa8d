"""The accuracy report as a page of the manual: sections in Markdown, every number computed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from gpudesk.evidence.held_out import SMALL_GROUP
from gpudesk.evidence.report_cells import MEASURED_HEAD, measured_cells
from gpudesk.evidence.report_data import ReportData
from gpudesk.evidence.report_measures import (
    BARS,
    WHOLE_COVERAGE,
    Measure,
    View,
    by_view,
    measure,
    misses,
    of_fold,
    view_of,
)
from gpudesk.evidence.report_memory import memory_section
from gpudesk.evidence.report_missed import missed_section
from gpudesk.evidence.report_others import pairs_section, peers_section
from gpudesk.evidence.report_slices import slices_section
from gpudesk.evidence.report_words import (
    FOLD_NAMES,
    NONE,
    count,
    figure_name,
    joined,
    sentence,
    table,
    title,
    whole_share,
)

#: Files beside the page and where the constants lie, seen from the page.
PARITY_FILE: Final = "accuracy-parity.svg"
LATENCY_FILE: Final = "accuracy-latency.svg"
CONSTANTS_LINK: Final = "../../data/calibration.json"


def accuracy_page(data: ReportData) -> str:
    """Return the page."""
    parts = [
        ["# How accurate the estimates are", ""],
        _short(data),
        _compared(data),
        _by_fold(data),
        slices_section(data),
        pairs_section(data),
        peers_section(data),
        missed_section(data),
        memory_section(data),
        _constants(data),
    ]
    return "\n".join(line for part in parts for line in part).rstrip() + "\n"


def _short(data: ReportData) -> list[str]:
    """Return the record in short: what was reached when whole publishers are left out."""
    head = ("figure", "rows", "median", "bar", "p90", "bar", "band holds", "bar", "high/low", "bar")
    body = [_short_row(view, measure(rows)) for view, rows in by_view(data.series_rows, whole=True).items()]
    return [
        (
            "Every figure below is of a published run, predicted by constants that were fitted without the "
            "rows of its group. This page is written by `make accuracy` from the measurements; no number in "
            "it is typed by hand. In short, with the publisher of each row left out:"
        ),
        "",
        *table(head, body),
        "What misses its bar stands in bold.",
        "",
        f"![Measured against predicted throughput on logarithmic axes]({PARITY_FILE})",
        "",
        f"![Measured against predicted TPOT and TTFT on logarithmic axes]({LATENCY_FILE})",
        "",
        (
            "Each point is one published figure, predicted without any row of its publisher; the dashed "
            "lines are 25 % above and below."
        ),
        "",
    ]


def _short_row(view: View, found: Measure) -> tuple[str, ...]:
    missed = misses(found, view, WHOLE_COVERAGE)
    bar = BARS[view]
    rows, median, p90, _, holds, width = measured_cells(found, missed)
    low, high = (whole_share(each) for each in WHOLE_COVERAGE)
    errors = (NONE if each is None else f"≤ {whole_share(each)}" for each in (bar.median, bar.p90))
    return (
        title(view),
        rows,
        median,
        next(errors),
        p90,
        next(errors),
        holds,
        f"{low} to {high}",
        width,
        NONE if bar.width is None else f"≤ {bar.width}",
    )


def _compared(data: ReportData) -> list[str]:
    figures = sum(len(run.figures) for run in data.runs)
    months = sorted(run.traits["date"] for run in data.runs if run.traits["date"])
    by_series: dict[str, list[int]] = {}
    for place, run in enumerate(data.runs):
        by_series.setdefault(run.traits["series"], []).append(place)
    unused = sum(data.unused.values())
    small = sum(len(places) < SMALL_GROUP for places in by_series.values())
    return [
        "## 1. What was compared",
        "",
        (
            f"{count(figures, 'figure')} of {count(len(data.runs), 'published run')} by "
            f"{count(len(by_series), 'publisher')}, whose software dates from {months[0]} to {months[-1]}. "
            f"{_unpredicted(data)}{_refused(data)}{_unused(unused, data)}"
        ),
        "",
        (
            "A fold leaves out all rows that share a trait, fits all constants to the others, and "
            f"predicts what was left out. Groups of fewer than {SMALL_GROUP} runs are left out together "
            f"({count(small, 'publisher')} of that size). A publisher is one organisation with one "
            "harness, since its figures share habits that no formula knows: leaving it out comes closest "
            "to the next publication that nobody has seen. Bands are held to the same rule: the band of a "
            "figure comes from what folds miss of all other groups, never from its own."
        ),
        "",
        (
            "The form of the formulas, what was believed of the constants before the fit, and which rows "
            "are left aside were settled while looking at these very rows. A fold does not undo that, so "
            "rows of a publication that appears tomorrow may be missed by more than this page says."
        ),
        "",
        *table(
            ("publisher", "published by", "accelerators", "months", "runs", "figures"),
            [_series_row(data, series, places) for series, places in _largest_first(by_series)],
            text_columns=4,
        ),
    ]


def _largest_first(by_series: dict[str, list[int]]) -> list[tuple[str, list[int]]]:
    return sorted(by_series.items(), key=lambda each: (-len(each[1]), each[0]))


def _unused(unused: int, data: ReportData) -> str:
    if not unused:
        return ""
    reasons = sorted(data.unused.items(), key=lambda each: (-each[1], each[0]))[:3]
    named = joined([f"{reason.replace('-', ' ')} ({number:,})" for reason, number in reasons])
    return (
        f"{count(unused, 'further published figure')} are kept and shown without being used; the most "
        f"frequent reasons are: {named}."
    )


def _unpredicted(data: ReportData) -> str:
    missing = data.unpredicted("series")
    total = sum(missing.values())
    if not total:
        return ""
    named = joined([f"{number:,} of {figure_name(figure)}" for figure, number in missing.items()])
    return (
        f"{count(total, 'figure')} {'has' if total == 1 else 'have'} no prediction once the publisher is "
        f"left out, {named}, and {'counts' if total == 1 else 'count'} in no error below: no plan then meets "
        "the latency limits of the run, its rate is more than its deployment is thought to keep up with, or "
        "the run came after the fit. "
    )


def _refused(data: ReportData) -> str:
    if not data.refused:
        return ""
    return (
        f"{count(data.refused, 'further run')} {'is' if data.refused == 1 else 'are'} not answered at all, "
        "since the program finds no room for the run or no way in which its serving engine runs it. "
    )


def _series_row(data: ReportData, series: str, places: Sequence[int]) -> tuple[str, ...]:
    runs = [data.runs[place] for place in places]
    publishers = Counter(data.names.publishers.get(run.traits["source"], "") for run in runs)
    named = [name for name, _ in publishers.most_common() if name]
    parts = len({run.traits["accelerator"] for run in runs})
    months = sorted({run.traits["date"] for run in runs if run.traits["date"]})
    figures = sum(len(run.figures) for run in runs)
    some = joined(named) if len(named) < 3 else f"{', '.join(named[:2])} and {len(named) - 2} more"
    span = months[0] if len(months) == 1 else f"{months[0]} to {months[-1]}" if months else ""
    return (series, some, str(parts), span, f"{len(runs):,}", f"{figures:,}")


def _by_fold(data: ReportData) -> list[str]:
    lines = [
        "## 2. By what was left out",
        "",
        (
            "The error is |predicted − measured| / measured: its median and its 90th hundredth. The bias "
            "is the median of predicted / measured. The band is to hold four figures in five. What misses "
            "a bar stands in bold."
        ),
        "",
    ]
    asked = _asked(data)
    for view in View:
        rows = [(fold, by_view(of_fold(data.rows, fold), whole=True).get(view, [])) for fold in data.folds]
        rows = [(fold, inside) for fold, inside in rows if inside]
        if not rows:
            continue
        lines += [f"### {title(view)}", "", _bars(view), ""]
        head = ("left out", "groups", *MEASURED_HEAD, "without prediction")
        body = [
            (
                FOLD_NAMES.get(fold, fold),
                str(len({row.group for row in inside})),
                *measured_cells(measure(inside), misses(measure(inside), view, WHOLE_COVERAGE)),
                f"{asked[view] - len(inside):,}",
            )
            for fold, inside in rows
        ]
        lines += table(head, body)
    return lines


def _asked(data: ReportData) -> Counter[View]:
    """Return how many published figures there are of each view, predicted or not."""
    asked = Counter(view_of(figure, run) for run in data.runs for figure in run.figures)
    asked[View.TTFT] = asked[View.BURST_TTFT] + asked[View.OTHER_TTFT]
    return asked


def _bars(view: View) -> str:
    """Return what the figures of a view are held to."""
    bar = BARS[view]
    limits = (("median", bar.median), ("p90", bar.p90))
    parts = [f"{name} at most {whole_share(limit)}" for name, limit in limits if limit is not None]
    low, high = (whole_share(each) for each in WHOLE_COVERAGE)
    parts.append(f"the band holds {low} to {high}")
    if bar.width is not None:
        parts.append(f"median high/low at most {bar.width}")
    return sentence(f"Bars: {joined(parts)}")


def _constants(data: ReportData) -> list[str]:
    figures = sum(len(run.figures) for run in data.runs)
    publishers = len({run.traits["series"] for run in data.runs})
    hashes = (("measurements", data.data_revision), ("calibration", data.calibration_revision))
    lines = [
        "## 8. The constants",
        "",
        (
            f"The {count(data.constants, 'constant')} with unit, meaning, exceptions and the rows behind "
            f"each are in [calibration.json]({CONSTANTS_LINK}), fitted to all {count(figures, 'figure')} "
            f"of {count(publishers, 'publisher')}. The newest software among them is of "
            f"{data.newest_month}."
        ),
        "",
    ]
    if data.fitted_revision != data.data_revision:
        lines += ["The measurements have changed since the fit; `make calibrate` brings it up to date.", ""]
    body = [(name, f"`{value}`") for name, value in hashes]
    return lines + table(("of", "SHA-256"), body, text_columns=2)
