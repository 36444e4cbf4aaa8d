"""Texts about MLPerf results: leaders, stated results, citations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from gpudesk.domain.claim import Source
from gpudesk.domain.mlperf import MlperfHeadToHead, MlperfOutcome, MlperfResult, MlperfScenario, StatedMlperfRatio
from gpudesk.report.labels import format_date, label_precision, label_serving_engine
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter
from gpudesk.text.messages import lower_for_sentence
from gpudesk.text.translation import tr, translate_data, trn

#: Statements required by MLCommons for derived figures, and for its trademark.
_DERIVED: Final = (
    "Tokens per second of each accelerator, and ratios of them, are derived; they are not the primary metric "
    "of MLPerf and are not verified by MLCommons Association."
)
_LEGEND: Final = (
    "The MLPerf name and logo are registered and unregistered trademarks of MLCommons Association in the "
    "United States and other countries. All rights reserved. Unauthorized use strictly prohibited. See "
    "www.mlcommons.org for more information."
)
#: A stated ratio is confirmed within its rounding error and a small tolerance.
_ROUNDED: Final = 0.015


def format_ratio(ratio: float | None, formatter: Formatter) -> str:
    return MISSING_VALUE_TEXT if ratio is None else formatter.number(ratio, 2)


def format_share(share: float, formatter: Formatter) -> str:
    """Return a share in percent with one decimal."""
    return tr("{n}%", n=formatter.number(share * 100.0, 1))


def describe_mlperf_verdict(
    head_to_head: MlperfHeadToHead, accelerator: str, names: Mapping[str, str], formatter: Formatter
) -> str:
    row, outcomes = head_to_head.row(accelerator), head_to_head.outcomes(accelerator)
    if row is None or accelerator == head_to_head.baseline or not outcomes:
        return tr("Choose another accelerator with results to compare with {name}.", name=names[head_to_head.baseline])
    pair = names[accelerator], names[head_to_head.baseline]
    results = []
    for scenario, outcome in outcomes.items():
        ratio = row.cells[scenario].ratio or 1.0
        values = {
            "scenario": lower_for_sentence(scenario.label),
            "leader": pair[ratio < 1.0],
            "other": pair[ratio >= 1.0],
            "lead": format_share(max(ratio, 1.0 / ratio) - 1.0, formatter),
        }
        if outcome is MlperfOutcome.TIE:
            results.append(tr("{scenario}: too close to call ({leader} by {lead})", **values))
        else:
            results.append(tr("{scenario}: {leader} leads {other} by {lead}", **values))
    parts = [
        tr("Per accelerator, {results}.", results="; ".join(results)),
        tr(
            "Leads below {share} are noise: two in three repeat submissions differ by less.",
            share=format_share(head_to_head.tie_share, formatter),
        ),
    ]
    if len(set(outcomes.values())) > 1:
        parts.insert(1, tr("The leader depends on the MLPerf scenario."))
    return " ".join(parts)


def describe_mlperf_result(result: MlperfResult, formatter: Formatter) -> str:
    engine = "" if result.serving_engine is None else label_serving_engine(result.serving_engine)
    details = (
        trn(
            "{submitter}: {n} accelerator",
            "{submitter}: {n} accelerators",
            result.count,
            n=formatter.count(result.count),
            submitter=result.submitter,
        ),
        label_precision(result.weights) if result.weights else "",
        engine,
        tr("preview system") if result.preview else "",
    )
    return ", ".join(each for each in details if each)


def build_submission_rows(results: Sequence[MlperfResult], formatter: Formatter) -> list[tuple[str, ...]]:
    """Return one row per result: scenario, per accelerator, total, accelerators, submitter and system, software."""
    return [
        (
            each.mlperf_scenario.label,
            formatter.count(round(each.per_accelerator)),
            formatter.count(round(each.output_tokens_per_s)),
            formatter.count(each.count),
            f"{each.submitter}, {each.system}",
            ", ".join(part for part in (label_precision(each.weights), each.software) if part),
        )
        for each in results
    ]


def build_stated_ratio_row(
    published_ratio: StatedMlperfRatio,
    names: Mapping[str, str],
    models: Mapping[str, str],
    source: Source,
    formatter: Formatter,
) -> tuple[str, ...]:
    """Return a stated ratio in cells: subject, ratio, author, ratio of the results, verdict, source."""
    scenario = (
        tr("unnamed scenario")
        if published_ratio.mlperf_scenario is None
        else lower_for_sentence(published_ratio.mlperf_scenario.label)
    )
    what = tr(
        "{one} to {other}, {model}, {scenario}",
        one=names[published_ratio.accelerator],
        other=names[published_ratio.baseline],
        model=models[published_ratio.model],
        scenario=scenario,
    )
    return (
        what if published_ratio.round is None else f"{published_ratio.round}: {what}",
        format_ratio(published_ratio.ratio, formatter),
        format_ratio(published_ratio.computed, formatter),
        describe_stated_ratio(published_ratio),
        translate_data(published_ratio.computed_by),
        translate_data(source.title),
    )


def describe_stated_ratio(published_ratio: StatedMlperfRatio) -> str:
    if published_ratio.round is None:
        return tr("no MLPerf round stated")
    if published_ratio.computed is None:
        return tr("no matching results")
    if abs(published_ratio.computed - published_ratio.ratio) <= _ROUNDED:
        return tr("confirmed")
    return tr("not confirmed")


def cite_mlperf_result(head_to_head: MlperfHeadToHead, model: str, source: Source, retrieved: str) -> str:
    """Return the footnote that MLCommons requires with its results."""
    scenarios = {scenario for row in head_to_head.rows for scenario in row.cells}
    listed = ", ".join(scenario.value for scenario in MlperfScenario if scenario in scenarios)
    cited = tr(
        "MLPerf® {round} Inference Closed {model}: {scenarios}. Retrieved from {url}, {date}; entries by "
        "submitter and system as listed. Results of whole systems were verified by MLCommons Association.",
        round=head_to_head.round,
        model=model,
        scenarios=listed,
        url=source.url or source.title,
        date=format_date(retrieved),
    )
    return f"{cited} {tr(_DERIVED)} {tr(_LEGEND)}"
