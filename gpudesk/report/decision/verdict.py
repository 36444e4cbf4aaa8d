"""The verdict in words: reasons, exclusions, flips, and how robust it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from gpudesk.domain.decision import (
    QUESTIONS,
    UNKNOWN_ANSWER,
    AnswerValue,
    ConditionResult,
    Decision,
    DecisionFlip,
    DecisionRule,
    DecisionVerdict,
    FactValue,
    PilotMeasurement,
    RuleEffect,
    RuleExclusion,
    TraceLine,
    WeighedRule,
)
from gpudesk.report.costs import format_input_amount, get_input_unit, label_cost_input
from gpudesk.report.decision.facts import format_fact, label_fact, lower_for_sentence
from gpudesk.report.decision.questions import format_answer
from gpudesk.report.decision.rules import describe_condition_result, shorten_id
from gpudesk.report.labels import label_figure
from gpudesk.text.formatting import Formatter, IntervalEstimate
from gpudesk.text.translation import tr, trn

NamesByKey = Mapping[str, str]

#: A share of draws that makes one of a hundred.
_WORTH_SAYING: Final = 0.005
#: A fact that is true or not -> the two numbers that it is about, the lesser one first.
_BEHIND: Final[Mapping[str, tuple[str, str]]] = MappingProxyType({"fits_alone": ("needs_alone_gb", "memory_gb")})


# The verdict


def find_leading_column(decision: Decision) -> str | None:
    """Return the key of the column that leads, deployed or not; None where none is left."""
    if decision.recommended is not None:
        return decision.recommended.key
    left = [each for each in decision.standings if not each.removed]
    return max(left, key=lambda each: (each.share, each.score)).key if left else None


def format_verdict(decision: Decision, names: NamesByKey, formatter: Formatter) -> str:
    key = find_leading_column(decision)
    if decision.verdict is DecisionVerdict.NONE_FITS or key is None:
        return tr("None of these meets everything that must hold")
    if decision.verdict is DecisionVerdict.OPEN:
        if decision.runner_up is None:
            return tr("No clear winner: {name} is left", name=names[key])
        return tr("No clear winner: {one} or {other}", one=names[key], other=names[decision.runner_up])
    verb = {"own": tr("Buy"), "rent": tr("Rent")}.get(str(decision.facts.get("acquisition")), tr("Take"))
    return tr("{verb} {name}, {count}", verb=verb, name=names[key], count=_count(decision, formatter))


def _count(decision: Decision, formatter: Formatter) -> str:
    found = decision.recommended
    if found is None:
        return tr("which is not deployed here")
    in_flight = _in_flight(decision)
    number = formatter.count(found.count)
    if in_flight is None:
        return trn("{n} accelerator", "{n} accelerators", found.count, n=number)
    return trn(
        "{count} for {n} request in flight",
        "{count} for {n} requests in flight",
        in_flight,
        n=formatter.count(in_flight),
        count=number,
    )


def _in_flight(decision: Decision) -> int | None:
    """Return how many requests the load puts in flight: their KV cache over that of one."""
    found = decision.recommended
    if found is None:
        return None
    part = decision.parts[decision.columns.index(found.key)]
    every, one = part.get("kv_needed_gb"), part.get("kv_one_gb")
    if not isinstance(every, float) or not isinstance(one, float) or one <= 0.0:
        return None
    return round(every / one)


def describe_verdict_reason(decision: Decision, names: NamesByKey, formatter: Formatter) -> str:
    if decision.verdict is DecisionVerdict.NONE_FITS:
        return _why_none(decision)
    if decision.verdict is DecisionVerdict.OPEN:
        return _why_open(decision, names)
    said = [describe_reason(each, decision, names, formatter) for each in decision.reasons[:2]]
    if not said:
        return tr("Nothing else is left; no preference speaks for it.")
    first = tr("{reasons}.", reasons="; ".join((said[0], *(lower_for_sentence(each) for each in said[1:]))))
    if not decision.against:
        return first
    against = lower_for_sentence(decision.against[0].line.title)
    return tr("{reasons} Against it: {against}.", reasons=first, against=against)


def _why_none(decision: Decision) -> str:
    titles = {line.rule.id: line.title for line in decision.trace}
    counts = Counter(each.rule.id for each in decision.exclusions)
    if not counts:
        return tr("No accelerator is left to choose from.")
    rule, count = counts.most_common(1)[0]
    return tr(
        "“{title}” removes {n} of {total}. Relax it, or compare others.",
        title=titles[rule],
        n=count,
        total=len(decision.columns),
    )


def _why_open(decision: Decision, names: NamesByKey) -> str:
    key = find_leading_column(decision)
    name = "" if key is None else names[key]
    first = tr("{name} leads, but in fewer than two draws of three.", name=name)
    if decision.pilot is None:
        return first
    figure = lower_for_sentence(label_figure(decision.pilot.figure))
    return tr("{first} Measure {figure} on both.", first=first, figure=figure)


def describe_robustness(decision: Decision, names: NamesByKey) -> str:
    """Return in how many draws of all that is not known the answer is the same."""
    if decision.verdict is DecisionVerdict.NONE_FITS:
        return tr("All are removed by rules that must hold")
    count = _of_hundred(decision.robustness)
    if decision.verdict is DecisionVerdict.WINNER:
        return tr("Holds in {n} of 100 draws", n=count)
    key = find_leading_column(decision)
    return tr("{name} leads in {n} of 100 draws", name="" if key is None else names[key], n=count)


def format_draw_shares(decision: Decision, names: NamesByKey) -> str:
    """Return how many of 100 draws each column wins, the most first, and in how many none is left."""
    standings = decision.standings
    won = sorted((each for each in standings if each.share >= _WORTH_SAYING), key=lambda each: -each.share)
    parts = [tr("{name} {n}", name=names[each.key], n=_of_hundred(each.share)) for each in won]
    none = 1.0 - sum(each.share for each in standings)
    if won and none >= _WORTH_SAYING:
        parts.append(tr("none left {n}", n=_of_hundred(none)))
    return ", ".join(parts)


def _of_hundred(share: float) -> int:
    return round(share * 100.0)


# Reasons and exclusions


def describe_reason(weighed: WeighedRule, decision: Decision, names: NamesByKey, formatter: Formatter) -> str:
    """Return what speaks for the leading column, or for others against it, with the figures of both sides."""
    title = weighed.line.title
    ours, theirs = find_leading_column(decision), None
    favoured, others = _sides(weighed.line, decision)
    if weighed.gain < 0.0:
        title = tr("{title}, for {names}", title=title, names=", ".join(names[key] for key in favoured))
        ours, theirs = next(iter(favoured), None), ours
    else:
        theirs = next(iter(others), None)
    shown = weighed.rule.shows
    if shown is None or ours is None or theirs is None:
        return title
    value, other = (_shown(decision, weighed.line, key, formatter) for key in (ours, theirs))
    if value == other:
        return title
    return tr(
        "{title}: {fact}, {value} against {other} of {name}",
        title=title,
        fact=lower_for_sentence(label_fact(shown)),
        value=value,
        other=other,
        name=names[theirs],
    )


def _sides(line: TraceLine, decision: Decision) -> tuple[list[str], list[str]]:
    """Return the keys of columns that a rule favours and of those that it does not, the strongest first."""
    ranked = sorted(decision.standings, key=lambda each: (bool(each.removed), -each.share, -each.score))
    favours = {key for key, cell in zip(decision.columns, line.cells, strict=True) if cell.effect is RuleEffect.FAVOURS}
    keys = [each.key for each in ranked if not each.removed or each.key not in favours]
    return [key for key in keys if key in favours], [key for key in keys if key not in favours]


def _shown(decision: Decision, line: TraceLine, key: str, formatter: Formatter) -> str:
    value = line.cells[decision.columns.index(key)].value
    return format_fact(line.rule.shows or "", _middle(value), formatter)


def _middle(fact: FactValue) -> FactValue:
    return float(f"{fact.value:.3g}") if isinstance(fact, IntervalEstimate) else fact


def describe_exclusion(
    exclusion: RuleExclusion, names: NamesByKey, formatter: Formatter, decision: Decision | None = None
) -> str:
    """Return which rule removes an accelerator, and the comparison that does it.

    With the decision, what is only true or not is said with the numbers behind it.
    """
    tested = list_exclusion_tests(exclusion, decision)
    title = exclusion.rule.title if decision is None else _line_of(exclusion.rule, decision).title
    said = tr("{name}: {title}", name=names[exclusion.key], title=lower_for_sentence(title))
    if not tested:
        return said
    return tr(
        "{said}; {tested}", said=said, tested="; ".join(describe_condition_result(each, formatter) for each in tested)
    )


def list_exclusion_tests(exclusion: RuleExclusion, decision: Decision | None) -> tuple[ConditionResult, ...]:
    """Return the comparisons for which a rule removes a column, with numbers where the decision is given."""
    if decision is None:
        return exclusion.because
    place = decision.columns.index(exclusion.key)
    # What must not be so has no comparison that fails.
    tested = exclusion.because or _line_of(exclusion.rule, decision).cells[place].tested
    return tuple(_with_numbers(each, decision.parts[place]) for each in tested)


def _line_of(rule: DecisionRule, decision: Decision) -> TraceLine:
    return next(line for line in decision.trace if line.rule.id == rule.id)


def _with_numbers(tested: ConditionResult, part: Mapping[str, FactValue]) -> ConditionResult:
    behind = _BEHIND.get(tested.text)
    if behind is None:
        return tested
    less, more = (part.get(name) for name in behind)
    if not isinstance(less, float) or not isinstance(more, float) or (less <= more) is not tested.holds:
        return tested
    return ConditionResult(f"{behind[0]} <= {behind[1]}", less, more, tested.holds)


# What would change it


def describe_flip(
    flip: DecisionFlip, decision: Decision, names: NamesByKey, formatter: Formatter
) -> tuple[str, str, str]:
    """Return the change of one input, what it is now, and what the answer becomes."""
    before = flip.before
    if flip.input in QUESTIONS:
        label = label_fact(flip.input)
        before = decision.answers[flip.input].value if before is None else before
    else:
        part, _, name = flip.input.rpartition(".")
        label = label_cost_input(name)
        if part:
            label = tr("{name}, {input}", name=_part_name(part, decision, names), input=lower_for_sentence(label))
    after = lower_for_sentence(_input_value(flip.input, flip.after, formatter))
    change = tr("{input}: {value}", input=label, value=after)
    if before is None:
        return change, tr("now not stated"), _becomes(flip, names)
    now = lower_for_sentence(_input_value(flip.input, before, formatter))
    return change, tr("now {value}", value=now), _becomes(flip, names)


def _input_value(name: str, value: AnswerValue, formatter: Formatter) -> str:
    if name in QUESTIONS:
        return tr("not known") if value == UNKNOWN_ANSWER else format_answer(name, value, formatter)
    _, _, cost = name.rpartition(".")
    if isinstance(value, str):
        return value
    unit = get_input_unit(cost)
    amount = format_input_amount(cost, value, formatter)
    return f"{amount}\N{NO-BREAK SPACE}{unit}" if unit else amount


def _part_name(part: str, decision: Decision, names: NamesByKey) -> str:
    """Return what an accelerator is called; by its id where it stands in several columns."""
    keys = [each.key for each in decision.standings if part in (each.key, each.accelerator)]
    return names[keys[0]] if len(keys) == 1 else shorten_id(part)


def _becomes(flip: DecisionFlip, names: NamesByKey) -> str:
    if not flip.becomes:
        return tr("none is left")
    leads = tr(" or ").join(names[key] for key in flip.becomes)
    return leads if flip.verdict is DecisionVerdict.WINNER else tr("{name}, no clear winner", name=leads)


def describe_pilot(
    pilot: PilotMeasurement,
    decision: Decision,  # noqa: ARG001 - every part of a decision is put into words with it
    names: NamesByKey,
    formatter: Formatter,
) -> str:
    """Return what to measure, on what and for how long, so that the answer is clear."""
    return trn(
        "Run {n} request of your own load on {names}, about {hours} h each, and compare {figure}.",
        "Run {n} requests of your own load on {names}, about {hours} h each, and compare {figure}.",
        pilot.requests,
        n=formatter.count(pilot.requests),
        names=tr(" and on ").join(names[key] for key in pilot.keys),
        hours=formatter.stated(pilot.hours),
        figure=lower_for_sentence(label_figure(pilot.figure)),
    )
