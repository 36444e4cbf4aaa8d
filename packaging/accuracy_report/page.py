"""The accuracy report as a manual page in Markdown, every number computed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

import numpy as np

from accuracy_report.data import (
    NAMED_BAR,
    ODDS_BARS,
    ODDS_CLASSES,
    ODDS_TOLERANCE,
    RIGHT_BAR,
    AccuracyData,
    JudgedPair,
    PeerError,
    PeerRecord,
    count_refusals,
    group_pairs_by_figure,
    summarize_odds,
    summarize_pairs,
)
from accuracy_report.kernels import write_kernel_section
from accuracy_report.measures import (
    BARS,
    WHOLE_COVERAGE,
    ErrorMeasure,
    FigureView,
    PublisherMeasure,
    find_misses,
    find_view,
    group_by_view,
    measure_errors,
    measure_publishers,
    select_fold,
)
from accuracy_report.misses import write_missed_section, write_slices_section
from accuracy_report.wording import (
    FOLD_NAMES,
    MEASURED_HEAD,
    NONE,
    format_count,
    format_factor,
    format_measure_cells,
    format_share,
    format_whole_share,
    join_words,
    make_markdown_table,
    make_sentence,
    mark_bold,
    name_figure,
)
from calibration.fit import SMALL_GROUP
from calibration.intervals import PAIR_FOLDS
from calibration.memory_measurements import CACHE_METRICS, JudgedMemory
from gpudesk.domain.answer import LEAST_ODDS, LeadVerdict
from gpudesk.text.messages import capitalize_first


def write_pairs_section(data: AccuracyData) -> list[str]:
    lines = [
        "## 4. Pairs of accelerators",
        "",
        (
            "A pair is two accelerators that one publisher measured with the same model, serving engine, "
            "load and lengths. For throughput the number of accelerators is equal, too. Latencies at latency limits "
            "are left out, because each system then runs at its own rate; their odds use the error between vendors. "
            "The odds of the likely leader follow from the predicted ratio and from the error of such ratios. The "
            "error depends on whether the accelerators share a generation or a vendor. The error of latencies grows "
            "with the ratio. "
            f"A leader is named from {format_whole_share(LEAST_ODDS[LeadVerdict.LIKELY_LEADS])} odds. It is right "
            "if it also leads in the measurement; a measured ratio within 3% of 1 counts as half right. "
            "Odds and intervals are fitted without the publisher."
        ),
        "",
    ]
    body = [
        (FOLD_NAMES[fold], *_pair_cells(figure, pairs))
        for _, fold in PAIR_FOLDS
        for figure, pairs in group_pairs_by_figure(data.pairs.accelerators, fold).items()
    ]
    head = ("left out", *_PAIR_HEAD)
    lines += (
        make_markdown_table(head, body, text_columns=2)
        if body
        else ["No two accelerators were measured under the same conditions.", ""]
    )
    return [*lines, *_odds(data), *_ratios(data), *_plans(data)]


def _odds(data: AccuracyData) -> list[str]:
    """Return predicted and observed odds, by held-out publisher, and the bars."""
    by_figure = group_pairs_by_figure(data.pairs.accelerators, PAIR_FOLDS[0][1])
    if not by_figure:
        return []
    body = [
        (
            name_figure(figure),
            f"{100 * record.low:.0f}–{100 * record.high:.0f}%",
            f"{record.publishers:,}",
            f"{record.pairs:,}",
            format_share(record.predicted),
            format_share(record.right),
            NONE if record.error is None else f"{100 * record.error:.0f}",
        )
        for figure, figure_pairs in by_figure.items()
        for record in summarize_odds(figure_pairs, ODDS_CLASSES)
    ]
    head = ("metric", "odds", "publishers", "pairs", "mean odds", "right", "± points")
    return [
        "### Odds of a leader",
        "",
        "Publisher left out, by class of predicted odds:",
        "",
        *make_markdown_table(head, body, text_columns=2),
        (
            f"Bars: odds around 60, 70, 80 and 90% are right within {100 * ODDS_TOLERANCE:.0f} points. For throughput, "
            f"a leader is named in {format_whole_share(NAMED_BAR)} of the pairs and right in "
            f"{format_whole_share(RIGHT_BAR)} of those. Bold figures miss their bar. ± is one standard error of the "
            "share of right leaders. The pairs of a publisher are one cluster, because they share runs, models and "
            "loads. Its pairs of one model on the same two accelerators count as the square root of their number. A "
            "miss of less than two standard errors may be chance."
        ),
        "",
        *make_markdown_table(
            ("metric", *(f"{50 * (low + high):.0f}%" for low, high in ODDS_BARS), "named", "right"),
            [_bar_cells(figure, figure_pairs) for figure, figure_pairs in by_figure.items()],
        ),
    ]


def _bar_cells(figure: str, figure_pairs: Sequence[JudgedPair]) -> tuple[str, ...]:
    """Return the observed odds around each bar, with error, mean prediction and pairs; then named leaders."""
    records = {record.low: record for record in summarize_odds(figure_pairs, ODDS_BARS)}
    cells = []
    for low, _ in ODDS_BARS:
        record = records.get(low)
        if record is None:
            cells.append(NONE)
            continue
        error = "" if record.error is None else f" ± {100 * record.error:.0f}"
        text = f"{100 * record.right:.0f}{error} of {100 * record.predicted:.0f}% ({record.pairs:,})"
        cells.append(mark_bold(text, abs(record.right - record.predicted) > ODDS_TOLERANCE))
    pairs = summarize_pairs(figure_pairs)
    share, right = pairs.named / pairs.pairs, pairs.named_right
    judged = figure == "output_tokens_per_s"
    return (
        name_figure(figure),
        *cells,
        mark_bold(format_whole_share(share), judged and share < NAMED_BAR),
        NONE if right is None else mark_bold(format_whole_share(right), judged and right < RIGHT_BAR),
    )


def _plans(data: AccuracyData) -> list[str]:
    lines = ["### Two parallel plans", ""]
    figure_pairs = group_pairs_by_figure(data.pairs.plans, PAIR_FOLDS[0][1])
    if not figure_pairs:
        return [*lines, "No two plans of one accelerator were measured under the same conditions.", ""]
    body = [_pair_cells(figure, pairs) for figure, pairs in figure_pairs.items()]
    return [
        *lines,
        (
            "The same comparison for two plans that one publisher measured on one accelerator. Model, formats, "
            "software and load are the same, and the publisher is left out. Most pairs differ in the number of "
            "accelerators, because few publishers measure two plans of one size."
        ),
        "",
        *make_markdown_table(_PAIR_HEAD, body),
    ]


_PAIR_HEAD = (
    "metric",
    "publishers",
    "pairs",
    "leader named",
    "right",
    "median ratio error",
    "p90",
    "in interval",
    "high/low",
)


def _pair_cells(figure: str, pairs: Sequence[JudgedPair]) -> tuple[str, ...]:
    summary = summarize_pairs(pairs)
    return (
        name_figure(figure),
        f"{summary.publishers:,}",
        f"{summary.pairs:,}",
        f"{summary.named:,}",
        NONE if summary.named_right is None else format_whole_share(summary.named_right),
        format_share(summary.median),
        format_share(summary.p90),
        format_share(summary.coverage),
        f"{summary.width:.2f}",
    )


def _ratios(data: AccuracyData) -> list[str]:
    folds = [fold for fold in ("series", "accelerator") if fold in data.folds]
    ratios = {(each.known_ratio.title, each.fold): each for each in data.ratios}
    titles = list(dict.fromkeys(each.known_ratio.title for each in data.ratios))
    if not titles or not folds:
        return []
    body = []
    for name in titles:
        fold_ratios = [ratios[name, fold] for fold in folds if (name, fold) in ratios]
        if fold_ratios:
            cells = [f"{ratios[name, fold].predicted:.2f}" if (name, fold) in ratios else NONE for fold in folds]
            body.append((name, f"{fold_ratios[0].measured:.2f}", *cells))
    head = ("ratio", "measured", *(f"predicted, {FOLD_NAMES[fold]} left out" for fold in folds))
    return [
        (
            "Ratios that are often quoted, from MLPerf Llama-2-70B: tokens per second per accelerator, "
            "best submission for each accelerator."
        ),
        "",
        *make_markdown_table(head, body),
    ]


def write_peers_section(data: AccuracyData) -> list[str]:
    lines = [
        "## 5. Other estimators",
        "",
        (
            "Each row compares only the figures that the other estimator answers. GPU Desk predicts them "
            "without any figure of their publisher. The other estimators run as installed, with the named "
            "settings; none of them gives an interval. The better value is bold."
        ),
        "",
    ]
    if not data.peer_records:
        return [*lines, "No other estimator was run.", ""]
    head = ("estimator", "setting", "metric", "answered", "share", "median, other / GPU Desk", "p90", "bias")
    lines += make_markdown_table(head, [_peer_row(each) for each in data.peer_records], text_columns=3)
    lines += [*_ahead(data.peer_records), "", *_refusals(data), ""]
    return lines + _speeds(data)


def _peer_row(record: PeerRecord) -> tuple[str, ...]:
    peer = record.answers
    theirs, ours = record.theirs, record.ours
    return (
        f"{peer.peer} {peer.version}",
        peer.setting or "default",
        str(record.view),
        f"{record.answered:,}",
        format_whole_share(record.answered / max(1, record.figure_count)),
        _both(theirs.median, ours.median),
        _both(theirs.p90, ours.p90),
        f"{format_factor(theirs.bias)} / {format_factor(ours.bias)}",
    )


def _both(theirs: float, ours: float) -> str:
    return f"{mark_bold(format_share(theirs), theirs < ours)} / {mark_bold(format_share(ours), ours < theirs)}"


def _ahead(records: Sequence[PeerRecord]) -> list[str]:
    nearer = sum(_better(each.ours, each.theirs) for each in records)
    lines = [
        (
            f"GPU Desk has both the smaller median and the smaller p90 in {nearer} of "
            f"{format_count(len(records), 'comparison')}."
        )
    ]
    rates = [each for each in records if each.view is FigureView.THROUGHPUT]
    if rates:
        best = min(rates, key=lambda each: each.theirs.median)
        lines.append(
            f"The closest other estimator of throughput is {best.answers.peer}: its median error is "
            f"{format_share(best.theirs.median)}, and that of GPU Desk {format_share(best.ours.median)}, on the same "
            f"{format_count(best.answered, 'figure')}."
        )
    return lines


def _better(ours: PeerError, theirs: PeerError) -> bool:
    return ours.median < theirs.median and ours.p90 < theirs.p90


def _refusals(data: AccuracyData) -> list[str]:
    lines = []
    for peer in {each.peer: each for each in data.peers}.values():
        reasons = count_refusals(peer)[:4]
        if reasons:
            reason_text = join_words([f"{reason} ({number:,})" for reason, number in reasons])
            lines.append(f"- Figures without an answer from {peer.peer}, by cause: {reason_text}.")
    return lines


def _speeds(data: AccuracyData) -> list[str]:
    if not data.speeds:
        return []
    body = [
        (f"{each.peer} {each.version}", each.how, f"{each.runs:,}", f"{float(f'{each.runs_per_s:.3g}'):,g}")
        for each in data.speeds
    ]
    return [
        "Speed on one machine, each run with all its plans, per second of processor time:",
        "",
        *make_markdown_table(("estimator", "mode", "runs", "runs per second"), body, text_columns=2),
    ]


#: Names of the memory metrics other than KV cache space.
_PARTS: Final = {"weights": "weights", "activations": "activations", "driver_memory": "memory reported by the driver"}


def write_memory_section(data: AccuracyData) -> list[str]:
    lines = ["## 7. Memory", ""]
    if not data.memory:
        return [*lines, "No memory figures of serving engines are available.", ""]
    publications = len({each.row.source for each in data.memory})
    room = [each for each in data.memory if each.row.metric in CACHE_METRICS]
    by_engine: dict[str, list[JudgedMemory]] = {}
    for each in sorted(room, key=lambda one: one.row.request.serving_engine or ""):
        by_engine.setdefault(each.row.request.serving_engine or "", []).append(each)
    body = [_row("KV cache space", "all", room)] if room else []
    body += [_row("KV cache space", engine, rows) for engine, rows in by_engine.items()]
    for metric, name in _PARTS.items():
        rows = [each for each in data.memory if each.row.metric == metric]
        if rows:
            body.append(_row(name, "all", rows))
    return [
        *lines,
        (
            "Serving engines log at startup how they divide the memory. The table compares "
            f"{format_count(len(data.memory), 'figure')} from {format_count(publications, 'publication')} with "
            "estimates of the same deployments. No constant is fitted here: settings and kernels are facts with "
            "sources. They were chosen with these figures in view, however."
        ),
        "",
        *make_markdown_table(("memory", "serving engine", "figures", "median", "p90", "bias"), body, text_columns=2),
    ]


def _row(what: str, engine: str, rows: Sequence[JudgedMemory]) -> tuple[str, ...]:
    ratios = np.array([each.ratio for each in rows])
    errors = np.abs(ratios - 1.0)
    return (
        what,
        engine,
        f"{len(rows):,}",
        format_share(float(np.median(errors))),
        format_share(float(np.quantile(errors, 0.9))),
        format_factor(float(np.median(ratios))),
    )


#: Plots and constants, relative to the page.
PARITY_FILE: Final = "accuracy-parity.svg"
LATENCY_FILE: Final = "accuracy-latency.svg"
CONSTANTS_LINK: Final = "../../data/calibration.json"


def write_accuracy_page(data: AccuracyData) -> str:
    parts = [
        ["# Accuracy", ""],
        _short(data),
        _compared(data),
        _by_fold(data),
        write_slices_section(data),
        write_pairs_section(data),
        write_peers_section(data),
        write_missed_section(data),
        write_memory_section(data),
        write_kernel_section(data.kernels),
        _constants(data),
    ]
    return "\n".join(line for part in parts for line in part).rstrip() + "\n"


def _short(data: AccuracyData) -> list[str]:
    """Return the summary: errors with whole publishers held out, and their bars."""
    by_view = group_by_view(data.series_rows, whole=True)
    head = ("metric", "figures", "median", "bar", "p90", "bar", "in interval", "bar", "high/low", "bar")
    body = [_short_row(view, measure_errors(rows)) for view, rows in by_view.items()]
    return [
        (
            "Every figure on this page is from a published run. The constants that predict a figure were fitted "
            "without the figures of its group. `make accuracy` computes every number from the measurements. "
            "This summary leaves out the publisher of each figure."
        ),
        "",
        "Each publisher counts once in this table: the median of their median errors, and of their p90 values.",
        "",
        *make_markdown_table(
            ("metric", "publishers", "median error", "p90"),
            [_publisher_row(view, measure_publishers(rows)) for view, rows in by_view.items()],
        ),
        "The same errors over all figures:",
        "",
        *make_markdown_table(head, body),
        "Bold figures miss their bar.",
        "",
        f"![Measured against predicted throughput on logarithmic axes]({PARITY_FILE})",
        "",
        f"![Measured against predicted TPOT and TTFT on logarithmic axes]({LATENCY_FILE})",
        "",
        (
            "Each point is one published figure, predicted without any figure of its publisher. The dashed "
            "lines are 25% above and below."
        ),
        "",
    ]


def _publisher_row(view: FigureView, measure: PublisherMeasure) -> tuple[str, ...]:
    return (capitalize_first(view), f"{measure.publishers:,}", format_share(measure.median), format_share(measure.p90))


def _short_row(view: FigureView, measure: ErrorMeasure) -> tuple[str, ...]:
    missed = find_misses(measure, view, WHOLE_COVERAGE)
    bar = BARS[view]
    rows, median, p90, _, holds, width = format_measure_cells(measure, missed)
    low, high = (format_whole_share(each) for each in WHOLE_COVERAGE)
    errors = (NONE if each is None else f"≤ {format_whole_share(each)}" for each in (bar.median, bar.p90))
    return (
        capitalize_first(view),
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


def _compared(data: AccuracyData) -> list[str]:
    figures = sum(len(run.figures) for run in data.runs)
    months = sorted(run.traits["date"] for run in data.runs if run.traits["date"])
    by_series: dict[str, list[int]] = {}
    for place, run in enumerate(data.runs):
        by_series.setdefault(run.traits["series"], []).append(place)
    unused = sum(data.unused.values())
    small = sum(len(places) < SMALL_GROUP for places in by_series.values())
    return [
        "## 1. Measurements",
        "",
        (
            f"The report uses {format_count(figures, 'figure')} of {format_count(len(data.runs), 'published run')} by "
            f"{format_count(len(by_series), 'publisher')}. Their software dates from {months[0]} to {months[-1]}. "
            f"{_unpredicted(data)}{_refused(data)}{_unused(unused, data)}"
        ),
        "",
        (
            "A fold leaves out all figures that share a trait and fits all constants to the others. It then "
            f"predicts the omitted figures. Groups of fewer than {SMALL_GROUP} runs are left out together "
            f"({format_count(small, 'publisher')} of that size). A publisher is one organization with one "
            "benchmark harness, because its figures share habits that no formula covers. Leaving out the "
            "publisher is the closest test of a future publication. Intervals follow the same rule: the interval "
            "of a figure comes only from the errors of other groups."
        ),
        "",
        (
            "The fit gives each publisher a common factor for each metric and serving engine: its harness, settings "
            "and tuning. The logarithms of the factors of a metric and engine have zero mean. Without them, the "
            "constants would fit the habits of the largest publishers. Predictions leave these factors out."
        ),
        "",
        (
            "Estimates of TTFT are means. A published median of a closed loop is compared with the steady state. "
            "If the first wave is at least half of the run, it is compared with the mean."
        ),
        "",
        (
            "The formulas, the priors of the constants and the list of unused figures were chosen with these "
            "measurements in view. A fold does not undo that. The errors on a new publication may therefore "
            "exceed the errors on this page."
        ),
        "",
        *make_markdown_table(
            ("publisher", "published by", "accelerators", "months", "runs", "figures"),
            [_series_row(data, series, places) for series, places in _largest_first(by_series)],
            text_columns=4,
        ),
    ]


def _largest_first(by_series: dict[str, list[int]]) -> list[tuple[str, list[int]]]:
    return sorted(by_series.items(), key=lambda each: (-len(each[1]), each[0]))


def _unused(unused: int, data: AccuracyData) -> str:
    if not unused:
        return ""
    reasons = sorted(data.unused.items(), key=lambda each: (-each[1], each[0]))[:3]
    reason_text = join_words([f"{reason.replace('-', ' ')} ({number:,})" for reason, number in reasons])
    return (
        f"{format_count(unused, 'further published figure')} are kept and shown, but unused. The most "
        f"frequent reasons are: {reason_text}."
    )


def _unpredicted(data: AccuracyData) -> str:
    missing = data.unpredicted("series")
    total = sum(missing.values())
    if not total:
        return ""
    counts = join_words([f"{number:,} of {name_figure(figure)}" for figure, number in missing.items()])
    return (
        f"{format_count(total, 'figure')} {'has' if total == 1 else 'have'} no prediction once the publisher is "
        f"left out: {counts}. The errors below exclude {'it' if total == 1 else 'them'}. Possible reasons: no plan "
        "meets the latency limits of the run; the request rate exceeds the estimated capacity of the deployment; "
        "the run is newer than the fit. "
    )


def _refused(data: AccuracyData) -> str:
    if not data.refused:
        return ""
    return (
        f"{format_count(data.refused, 'further run')} {'has' if data.refused == 1 else 'have'} no estimate: the "
        "memory is too small, or the serving engine refuses every plan. "
    )


def _series_row(data: AccuracyData, series: str, places: Sequence[int]) -> tuple[str, ...]:
    runs = [data.runs[place] for place in places]
    publishers = Counter(data.names.publishers.get(run.traits["source"], "") for run in runs)
    publisher_names = [name for name, _ in publishers.most_common() if name]
    parts = len({run.traits["accelerator"] for run in runs})
    months = sorted({run.traits["date"] for run in runs if run.traits["date"]})
    figures = sum(len(run.figures) for run in runs)
    some = (
        join_words(publisher_names)
        if len(publisher_names) < 3
        else f"{', '.join(publisher_names[:2])} and {len(publisher_names) - 2} more"
    )
    span = months[0] if len(months) == 1 else f"{months[0]} to {months[-1]}" if months else ""
    return (series, some, str(parts), span, f"{len(runs):,}", f"{figures:,}")


def _by_fold(data: AccuracyData) -> list[str]:
    lines = [
        "## 2. Errors by fold",
        "",
        (
            "The error is |predicted − measured| / measured, with its median and its 90th percentile (p90). "
            "The bias is the median of predicted / measured. The 80% interval should contain 80% of the figures; "
            "high/low is the median ratio of its ends. Bold figures miss their bar."
        ),
        "",
    ]
    figure_counts = _count_figures(data)
    for view in FigureView:
        rows = [(fold, group_by_view(select_fold(data.rows, fold), whole=True).get(view, [])) for fold in data.folds]
        rows = [(fold, inside) for fold, inside in rows if inside]
        if not rows:
            continue
        lines += [f"### {capitalize_first(view)}", "", _bars(view), ""]
        head = ("left out", "groups", *MEASURED_HEAD, "without prediction")
        body = [
            (
                FOLD_NAMES.get(fold, fold),
                str(len({row.group for row in inside})),
                *format_measure_cells(
                    measure_errors(inside), find_misses(measure_errors(inside), view, WHOLE_COVERAGE)
                ),
                f"{figure_counts[view] - len(inside):,}",
            )
            for fold, inside in rows
        ]
        lines += make_markdown_table(head, body)
    return lines


def _count_figures(data: AccuracyData) -> Counter[FigureView]:
    """Return the number of published figures of each view, predicted or not."""
    figure_counts = Counter(find_view(figure, run) for run in data.runs for figure in run.figures)
    figure_counts[FigureView.TTFT] = figure_counts[FigureView.BURST_TTFT] + figure_counts[FigureView.OTHER_TTFT]
    return figure_counts


def _bars(view: FigureView) -> str:
    bar = BARS[view]
    limits = (("median", bar.median), ("p90", bar.p90))
    parts = [f"{name} at most {format_whole_share(limit)}" for name, limit in limits if limit is not None]
    low, high = (format_whole_share(each) for each in WHOLE_COVERAGE)
    parts.append(f"{low} to {high} in the interval")
    if bar.width is not None:
        parts.append(f"median high/low at most {bar.width}")
    return make_sentence(f"Bars: {join_words(parts)}")


def _constants(data: AccuracyData) -> list[str]:
    figures = sum(len(run.figures) for run in data.runs)
    publishers = len({run.traits["series"] for run in data.runs})
    hashes = (("measurements", data.data_revision), ("calibration", data.calibration_revision))
    is_current = data.fitted_revision == data.data_revision
    fitted_to = (
        f"They are fitted to all {format_count(figures, 'figure')} of {format_count(publishers, 'publisher')}."
        if is_current
        else "The measurements have changed since the fit. Run `make calibrate` to update the constants."
    )
    lines = [
        "## 9. Constants",
        "",
        (
            f"[calibration.json]({CONSTANTS_LINK}) has {format_count(data.constants, 'constant')}, each with unit, "
            f"meaning, overrides and supporting figures. {fitted_to} The newest software is from {data.newest_month}."
        ),
        "",
    ]
    body = [(name, f"`{value}`") for name, value in hashes]
    return lines + make_markdown_table(("of", "SHA-256"), body, text_columns=2)
