"""Why a decision recommends nothing, and what would help."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from gpudesk.domain.decision import AnswerOrigin, Decision, DecisionVerdict, ObjectiveName, WayOut, WayOutKind
from gpudesk.domain.estimate import MISSING_FACTS
from gpudesk.report.decision.facts import format_fact, label_fact
from gpudesk.report.decision.rules import NamesByKey, describe_unfit, get_middle
from gpudesk.report.labels import (
    drop_count,
    format_tokens,
    join_alternatives,
    join_names,
    label_precision,
    shorten_name,
)
from gpudesk.text.formatting import Formatter
from gpudesk.text.messages import format_message, lower_for_sentence, to_sentence
from gpudesk.text.translation import tr


def format_no_recommendation(decision: Decision) -> str:
    """Return the verdict of a decision that recommends nothing."""
    if not decision.scope.answered:
        return tr("No recommendation for this kind of work")
    candidates = decision.candidates
    lacks_facts = all(each.problem is not None and each.problem.id in MISSING_FACTS for each in candidates)
    if decision.verdict is DecisionVerdict.NONE_FITS and not lacks_facts:
        needed = [decision.set_counts.get(each.key) for each in candidates]
        if all(count and count > (each.count or 0) for count, each in zip(needed, candidates, strict=True)):
            return tr("The counts that you set do not carry the demand")
        return tr("No accelerator meets every limit")
    if decision.verdict is not DecisionVerdict.NONE_FITS and ObjectiveName.COST in (
        decision.objective.name,
        decision.objective.instead_of,
    ):
        return tr("No recommendation: prices are unknown")
    return tr("No recommendation: figures are missing")


def list_needed_counts(decision: Decision, names: NamesByKey, formatter: Formatter) -> str:
    """Return how many of each column with a count of the user the demand needs; empty if that is unknown."""
    needed = [
        tr("{n} × {name}", n=formatter.count(count), name=drop_count(names[key]))
        for key, count in decision.set_counts.items()
        if count is not None
    ]
    return tr("The demand needs {deployments}", deployments=join_alternatives(needed)) if needed else ""


def explain_no_winner(decision: Decision, names: NamesByKey, formatter: Formatter) -> str:
    unpriced = [names[each.key] for each in decision.candidates if not each.removed]
    sentences = [_explain_limits(decision, names, formatter)]
    if unpriced:
        sentences.append(tr("Purchase price unknown: {names}.", names=join_names(unpriced)))
    return " ".join(sentences)


def _explain_limits(decision: Decision, names: NamesByKey, formatter: Formatter) -> str:
    if needed := list_needed_counts(decision, names, formatter):
        return to_sentence(needed)
    if decision.ways_out:
        return list_alternatives(decision, formatter)
    lines = {line.rule.id: line for line in decision.trace}
    counts = Counter(each.rule.id for each in decision.exclusions)
    if not counts:
        return tr("Add an accelerator to get a recommendation.")
    # Of rules that remove equally many, the user's own is named.
    user_answers = {name for name, answer in decision.answers.items() if answer.origin is AnswerOrigin.YOURS}
    rule = max(counts, key=lambda rule: (counts[rule], bool(user_answers & set(lines[rule].answers))))
    needs = [describe_unfit(key, decision, names, formatter) for key in decision.columns]
    problems = [format_message(each.problem, formatter) for each in decision.candidates if each.problem is not None]
    values = {"title": lines[rule].title, "n": counts[rule], "total": len(decision.columns)}
    if all(needs):
        return tr("The model does not fit: {needs}.", needs=", ".join(needs))
    if len(problems) == len(decision.candidates):
        # Each is listed where its accelerator is ruled out.
        return to_sentence(problems[0])
    every = [each for each, count in counts.items() if count == len(decision.columns)]
    best = _describe_best_reached(decision, every, names, formatter)
    if len(every) > 1:
        values["titles"] = join_names([tr("“{title}”", title=lines[each].title) for each in every])
        text = tr("{titles} each rule out all {total}: relax them, or compare other accelerators.", **values)
    else:
        text = tr("“{title}” rules out {n} of {total}: relax this limit, or compare other accelerators.", **values)
    return " ".join(filter(None, (text, best)))


def _describe_best_reached(decision: Decision, rules: Sequence[str], names: NamesByKey, formatter: Formatter) -> str:
    """Return the figures closest to the latency limits that nothing meets; empty without such a limit."""
    best = []
    for rule in rules:
        figure = {"L-01": "ttft_ms", "L-02": "tpot_ms"}.get(rule)
        reached = {
            each.key: value
            for each, part in zip(decision.candidates, decision.parts, strict=True)
            if figure is not None and isinstance(value := get_middle(part.get(figure)), float)
        }
        if figure is not None and reached:
            key = min(reached, key=lambda each: reached[each])
            values = {
                "figure": lower_for_sentence(label_fact(figure)),
                "value": format_fact(figure, reached[key], formatter),
            }
            best.append(tr("{figure} {value} ({name})", name=names[key], **values))
    return tr("Best reached: {figures}.", figures=", ".join(best)) if best else ""


def list_alternatives(decision: Decision, formatter: Formatter) -> str:
    ways = join_alternatives([describe_way_out(way, formatter)[1] for way in decision.ways_out])
    if not decision.ways_out:
        return ""
    undecided = dict.fromkeys(limit for way in decision.ways_out for limit in way.undecided)
    if undecided:
        limits = ", ".join(map(lower_for_sentence, undecided))
        return tr("Alternatives: {ways}; undecided: {limits}.", ways=ways, limits=limits)
    return tr("Alternatives: {ways}.", ways=ways)


def describe_way_out(way: WayOut, formatter: Formatter) -> tuple[str, str]:
    """Return the change with which every limit is met, and the resulting deployment."""
    estimate = way.estimate
    request = estimate.request
    deployment = tr(
        "{n} × {name} in {format}",
        n=formatter.count(estimate.count),
        name=shorten_name(way.name),
        format=label_precision(request.weights),
    )
    if way.budget_usd is not None:
        price = formatter.money(formatter.number(way.budget_usd), "USD")
        deployment = tr("{deployment} for {price}", deployment=deployment, price=price)
    if way.kind is WayOutKind.RENT:
        deployment = tr("{deployment} (rented)", deployment=deployment)
    if way.kind is WayOutKind.CONTEXT:
        deployment = tr("{deployment} (shorter prompts)", deployment=deployment)
    titles = {
        WayOutKind.CONTEXT: tr(
            "Shorter prompts ({tokens})", tokens=format_tokens(request.workload.input_tokens, formatter)
        ),
        WayOutKind.WEIGHTS: tr("Another number format"),
        WayOutKind.COUNT: tr("As many as each needs"),
        WayOutKind.ACCELERATOR: tr("Another accelerator"),
        WayOutKind.BUDGET: tr("A larger budget"),
        WayOutKind.RENT: tr("Renting"),
    }
    title = titles[way.kind]
    if way.undecided:
        limits = ", ".join(map(lower_for_sentence, way.undecided))
        title = tr("{title} (undecided: {limits})", title=title, limits=limits)
    return title, deployment
