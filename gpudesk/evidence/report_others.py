"""Sections of the accuracy report on pairs, of accelerators and of plans, and on other estimators."""

from __future__ import annotations

from collections.abc import Sequence

from gpudesk.evidence.pairing import PAIR_FOLDS
from gpudesk.evidence.report_data import ReportData
from gpudesk.evidence.report_measures import View
from gpudesk.evidence.report_pairs import JudgedPair, by_figure, pair_record
from gpudesk.evidence.report_peers import Miss, PeerRecord, refusals
from gpudesk.evidence.report_words import (
    FOLD_NAMES,
    NONE,
    bold,
    count,
    factor,
    figure_name,
    joined,
    share,
    table,
    whole_share,
)


def pairs_section(data: ReportData) -> list[str]:
    """Return the section on pairs and known ratios."""
    lines = [
        "## 4. Two accelerators under the same question",
        "",
        (
            "A pair is two accelerators that one publisher measured with the same model, serving engine, "
            "load, lengths and count. A winner is named where the band of the predicted ratio leaves out "
            "1; that is right where the measured ratio lies on the same side (or within 3 % of 1). "
            "Otherwise the answer is “no winner”, which is right where the band holds the measured ratio. "
            "The bands have not seen the publisher."
        ),
        "",
    ]
    body = [
        (FOLD_NAMES[fold], *_pair_cells(figure, chosen))
        for _, fold in PAIR_FOLDS
        for figure, chosen in by_figure(data.pairs.accelerators, fold).items()
    ]
    head = ("left out", *_PAIR_HEAD)
    lines += table(head, body, text_columns=2) if body else ["No two accelerators were measured alike.", ""]
    return [*lines, *_ratios(data), *_plans(data)]


def _plans(data: ReportData) -> list[str]:
    """Return how well the ratio between two plans of one accelerator is predicted."""
    lines = ["### Two parallel plans of one accelerator", ""]
    found = by_figure(data.pairs.plans, PAIR_FOLDS[0][1])
    if not found:
        return [*lines, "No two plans of one accelerator were measured alike.", ""]
    body = [_pair_cells(figure, chosen) for figure, chosen in found.items()]
    return [
        *lines,
        (
            "The same of two plans that one publisher measured on one accelerator with the same model, "
            "formats, software and load, with the publisher left out. Mostly they take different numbers of "
            "accelerators, since hardly anybody publishes two plans of one size."
        ),
        "",
        *table(_PAIR_HEAD, body),
    ]


_PAIR_HEAD = (
    "figure",
    "publishers",
    "pairs",
    "winner named",
    "rightly",
    "no winner",
    "rightly",
    "ratio error, median",
    "p90",
    "band holds",
    "high/low",
)


def _pair_cells(figure: str, chosen: Sequence[JudgedPair]) -> tuple[str, ...]:
    """Return the cells of a row under `_PAIR_HEAD`."""
    found = pair_record(chosen)
    return (
        figure_name(figure),
        f"{found.publishers:,}",
        f"{found.pairs:,}",
        f"{found.named:,}",
        NONE if found.named_right is None else whole_share(found.named_right),
        f"{found.open:,}",
        NONE if found.open_right is None else whole_share(found.open_right),
        share(found.median),
        share(found.p90),
        share(found.coverage),
        f"{found.width:.2f}",
    )


def _ratios(data: ReportData) -> list[str]:
    folds = [fold for fold in ("series", "accelerator") if fold in data.folds]
    found = {(each.known.title, each.fold): each for each in data.ratios}
    titles = list(dict.fromkeys(each.known.title for each in data.ratios))
    if not titles or not folds:
        return []
    body = []
    for name in titles:
        known = [found[name, fold] for fold in folds if (name, fold) in found]
        if known:
            cells = [
                f"{found[name, fold].predicted:.2f}" if (name, fold) in found else NONE for fold in folds
            ]
            body.append((name, f"{known[0].measured:.2f}", *cells))
    head = (
        "ratio",
        "measured",
        *(f"predicted, {FOLD_NAMES[fold]} left out" for fold in folds),
    )
    return [
        (
            "Ratios that are often quoted, from MLPerf Llama-2-70B: the best submission for each "
            "accelerator, tokens per second and accelerator."
        ),
        "",
        *table(head, body),
    ]


def peers_section(data: ReportData) -> list[str]:
    """Return the section on other estimators."""
    lines = [
        "## 5. Other estimators on the same rows",
        "",
        (
            "Each row compares on exactly the figures that the other estimator answers, ours predicted "
            "without any row of their publisher. The others are as they install, with the settings named; "
            "none of them gives a band. What is better stands in bold."
        ),
        "",
    ]
    if not data.peer_records:
        return [*lines, "No other estimator has been asked.", ""]
    head = ("estimator", "setting", "figure", "answers", "of", "median, its / ours", "p90", "bias")
    lines += table(head, [_peer_row(each) for each in data.peer_records], text_columns=3)
    lines += [*_ahead(data.peer_records), "", *_refusals(data), ""]
    return lines + _speeds(data)


def _peer_row(found: PeerRecord) -> tuple[str, ...]:
    peer = found.answers
    theirs, ours = found.theirs, found.ours
    return (
        f"{peer.peer} {peer.version}",
        peer.setting or "as it comes",
        str(found.view),
        f"{found.answered:,}",
        whole_share(found.answered / max(1, found.asked)),
        _both(theirs.median, ours.median),
        _both(theirs.p90, ours.p90),
        f"{factor(theirs.bias)} / {factor(ours.bias)}",
    )


def _both(theirs: float, ours: float) -> str:
    return f"{bold(share(theirs), theirs < ours)} / {bold(share(ours), ours < theirs)}"


def _ahead(records: Sequence[PeerRecord]) -> list[str]:
    """Return in how many comparisons ours is nearer, and the nearest other setting for throughput."""
    nearer = sum(_better(each.ours, each.theirs) for each in records)
    lines = [
        (
            f"Both the median and the 90th hundredth of ours are smaller in {nearer} of "
            f"{count(len(records), 'comparison')}."
        )
    ]
    rates = [each for each in records if each.view is View.THROUGHPUT]
    if rates:
        best = min(rates, key=lambda each: each.theirs.median)
        lines.append(
            f"The nearest of the others on throughput is {best.answers.peer} with "
            f"{share(best.theirs.median)} beside {share(best.ours.median)} of ours on the same "
            f"{count(best.answered, 'row')}."
        )
    return lines


def _better(ours: Miss, theirs: Miss) -> bool:
    return ours.median < theirs.median and ours.p90 < theirs.p90


def _refusals(data: ReportData) -> list[str]:
    lines = []
    for peer in {each.peer: each for each in data.peers}.values():
        reasons = refusals(peer)[:4]
        if reasons:
            named = joined([f"{reason} ({number:,})" for reason, number in reasons])
            lines.append(f"- {peer.peer} leaves figures open for want of: {named}.")
    return lines


def _speeds(data: ReportData) -> list[str]:
    if not data.speeds:
        return []
    body = [
        (f"{each.peer} {each.version}", each.how, f"{each.runs:,}", f"{float(f'{each.runs_per_s:.3g}'):,g}")
        for each in data.speeds
    ]
    return [
        "Speed on one machine, every run with all its plans; estimates a second of processor time:",
        "",
        *table(("estimator", "how", "runs", "runs a second"), body, text_columns=2),
    ]
