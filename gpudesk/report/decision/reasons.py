"""Reasons for and against a recommendation, and exclusions, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gpudesk.domain.decision import (
    ConditionResult,
    Decision,
    DecisionCandidate,
    DecisionReason,
    DecisionRule,
    FactValue,
    RuleExclusion,
    TraceLine,
)
from gpudesk.report.decision.facts import format_fact, get_fact_unit, label_fact
from gpudesk.report.decision.rules import describe_condition_result
from gpudesk.text.formatting import Formatter, IntervalEstimate
from gpudesk.text.messages import lower_for_sentence
from gpudesk.text.translation import tr, translate_data

#: Costs that sentences give in dollars alone, because their label has the rest of the unit.
PER_MILLION: Final = frozenset({"usd_per_million", "owned_usd_per_million", "rented_usd_per_million"})
NamesByKey = Mapping[str, str]

#: Facts that make the purchase or the figures of the leading column doubtful, the gravest first.
DOUBTS: Final = ("announced", "discontinued", "old_release", "license_limit", "old_price", "old_rent", "basis")
#: A boolean fact -> the two numbers behind it, the smaller one first.
_BEHIND: Final[Mapping[str, tuple[str, str]]] = {
    "fits_alone": ("needs_alone_gb", "memory_gb"),
    "holds_load": ("in_flight", "max_concurrency"),
}


def find_candidate(decision: Decision, key: str) -> DecisionCandidate:
    return next(each for each in decision.candidates if each.key == key)


def label_payment(payment: str) -> str:
    return tr("owned") if payment == "owned" else tr("rented")


def describe_reason(reason: DecisionReason, names: NamesByKey, formatter: Formatter) -> str:
    """Return a reason with its figure on both sides, and their difference."""
    fact, line = reason.fact, reason.line
    if line is None and fact in DOUBTS:
        date = formatter.date(str(reason.ours))
        return {
            "basis": tr("Figures are estimates: no published measurement covers this accelerator and serving engine"),
            "announced": tr("Announced, but not available yet"),
            "discontinued": tr("Discontinued: check that you can still buy it at this price"),
            "old_release": tr("Released {date}: check that it is still sold new", date=date),
            "license_limit": tr("The driver license excludes data centers"),
            "old_price": tr("Price from {date}: ask for a current quote", date=date),
            "old_rent": tr("Price from {date}: ask for a current quote", date=date),
        }[fact]
    if fact is None:
        return line.title if line is not None else ""
    sides = zip((reason.ours, reason.theirs), reason.payments, strict=True)
    ours, theirs = (_format_middle(fact, value, formatter, payment) for value, payment in sides)
    if reason.ours is None or (line is not None and ours == theirs):
        return label_fact(fact) if line is None else line.title
    values = {"label": label_fact(fact), "value": ours}
    change = _format_change(get_middle(reason.ours), get_middle(reason.theirs), formatter)
    if reason.other is not None and reason.theirs is not None:
        name = names[reason.other]
        text = tr("{label}: {value}, compared with {other} for {name}", other=theirs, name=name, **values)
    else:
        text = tr("{label}: {value}", **values)
    # The figure first, then the rule that makes it count.
    details = "; ".join(each for each in (change, "" if line is None else lower_for_sentence(line.title)) if each)
    return f"{text} ({details})" if details else text


def _format_change(ours: FactValue, theirs: FactValue, formatter: Formatter) -> str:
    """Return the difference between the figures of two columns, `+12%`; empty without one."""
    if not isinstance(ours, float) or not isinstance(theirs, float) or theirs == 0.0:
        return ""
    change = formatter.difference(ours / theirs)
    return "" if change == formatter.difference(1.0) else change


def get_reason_figure(reason: DecisionReason) -> tuple[FactValue, str | None]:
    """Return the leading column's figure behind a reason, with its unit."""
    ours = reason.ours.value if isinstance(reason.ours, IntervalEstimate) else reason.ours
    return ours, None if reason.fact is None else get_fact_unit(reason.fact)


def _format_middle(fact: str, value: FactValue, formatter: Formatter, payment: str | None) -> str:
    if fact in PER_MILLION and isinstance(value, IntervalEstimate):
        amount = tr("${value}", value=formatter.small_amount(value.value))
        return amount if payment is None else tr("{amount} {payment}", amount=amount, payment=label_payment(payment))
    return format_fact(fact, get_middle(value), formatter)


def get_middle(fact: FactValue) -> FactValue:
    return fact.value if isinstance(fact, IntervalEstimate) else fact


def describe_exclusion(
    exclusion: RuleExclusion, names: NamesByKey, formatter: Formatter, decision: Decision | None = None
) -> str:
    """Return the rule that removes an accelerator, and the failed comparison.

    With the decision, boolean facts get the numbers behind them.
    """
    tested = [describe_condition_result(each, formatter) for each in list_exclusion_tests(exclusion, decision)]
    if decision is not None:
        tested += _list_shown_fact(exclusion, decision, formatter)
    title = translate_data(exclusion.rule.title) if decision is None else _find_line(exclusion.rule, decision).title
    rule = tr("{name}: {title}", name=names[exclusion.key], title=lower_for_sentence(title))
    return "; ".join((rule, *tested))


def describe_unfit(key: str, decision: Decision, names: NamesByKey, formatter: Formatter) -> str:
    """Return the number of accelerators that a column needs if the model does not fit; else nothing."""
    is_removed = any(
        each.key == key and any(test.text == "fits" for test in each.because) for each in decision.exclusions
    )
    if not is_removed or find_candidate(decision, key).problem is not None:
        return ""
    needed = decision.parts[decision.columns.index(key)].get("count")
    if not isinstance(needed, float):
        return tr("{name} is too small", name=names[key])
    return tr("{name} needs {n}", name=names[key], n=formatter.count(needed))


def _list_shown_fact(exclusion: RuleExclusion, decision: Decision, formatter: Formatter) -> list[str]:
    """Return the figure behind a rule that tested only a boolean fact."""
    shows = exclusion.rule.shows
    value = None if shows is None else decision.parts[decision.columns.index(exclusion.key)].get(shows)
    tests = list_exclusion_tests(exclusion, decision)
    if shows is None or value is None or isinstance(value, bool) or any(each.right is not None for each in tests):
        return []
    return [
        tr("{label}: {value}", label=lower_for_sentence(label_fact(shows)), value=format_fact(shows, value, formatter))
    ]


def list_exclusion_tests(exclusion: RuleExclusion, decision: Decision | None) -> tuple[ConditionResult, ...]:
    """Return the comparisons for which a rule removes a column, with numbers if the decision is given."""
    if decision is None:
        return exclusion.because
    place = decision.columns.index(exclusion.key)
    # Negated conditions have no failed comparison.
    tested = exclusion.because or _find_line(exclusion.rule, decision).cells[place].tested
    return tuple(_replace_with_numbers(each, decision.parts[place]) for each in tested)


def _find_line(rule: DecisionRule, decision: Decision) -> TraceLine:
    return next(line for line in decision.trace if line.rule.id == rule.id)


def _replace_with_numbers(tested: ConditionResult, part: Mapping[str, FactValue]) -> ConditionResult:
    behind = _BEHIND.get(tested.text)
    if behind is None:
        return tested
    less, more = (part.get(name) for name in behind)
    if not isinstance(less, float) or not isinstance(more, float) or (less <= more) is not tested.holds:
        return tested
    return ConditionResult(f"{behind[0]} <= {behind[1]}", less, more, tested.holds)
