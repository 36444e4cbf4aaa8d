"""Questions of the guided decision, and the effect of each option."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gpudesk.domain.answer import LeadVerdict, judge_odds
from gpudesk.domain.decision import (
    QUESTIONS,
    AnswerOrigin,
    AnswerValue,
    Decision,
    DecisionCandidate,
    DecisionVerdict,
    QuestionAnswer,
    RuleStrength,
)
from gpudesk.report.decision.facts import format_answer
from gpudesk.report.labels import format_odds
from gpudesk.text.formatting import Formatter
from gpudesk.text.translation import LabeledEnum, tr, trn

_GROUPS: Final[Mapping[RuleStrength, str]] = {
    RuleStrength.HARD: "Required",
    RuleStrength.STRONG: "Most important",
    RuleStrength.MILD: "Details",
}
#: Question -> (title, reason).
_QUESTIONS: Final[Mapping[str, tuple[str, str]]] = {
    "serving_engine": (
        "Which serving engine do you need?",
        "Accelerators that this serving engine does not support are ruled out.",
    ),
    "tuned_for": (
        "Is your code tied to one platform?",
        "Kernels tuned for one platform or generation must be rewritten for another.",
    ),
    "porting": ("Can you port your software?", "If not, only accelerators of your current platform remain."),
    "shape": (
        "Must the model fit on one accelerator?",
        "A model on one accelerator needs no traffic between accelerators.",
    ),
    "long_context": (
        "Is long context a core need?",
        "The KV cache grows with context and uses the memory that weights leave free.",
    ),
    "precision": (
        "Which number format do you need?",
        "FP4 needs hardware support; unquantized weights need more memory.",
    ),
    "ttft_limit_ms": (
        "What is your limit for time to first token?",
        "Accelerators whose whole 80% interval misses the limit are ruled out.",
    ),
    "tpot_limit_ms": (
        "What is your limit per output token?",
        "Reading speed: 50 ms per token is 20 tokens per second.",
    ),
    "service": ("Who waits for answers?", "Interactive use needs low latency; batch work needs throughput."),
    "site": ("Where will it run?", "Form factor, rack power and licenses limit the choice of accelerators."),
    "destination": (
        "Is the destination under export control?",
        "Compares performance with the current thresholds. This is not legal advice.",
    ),
    "priority": ("What matters most?", "All accelerators that meet your limits are ranked by this goal."),
    "work": ("What kind of work is it?", "Estimates cover LLM serving; other work has other bottlenecks."),
    "standing": (
        "Do you need reference deployments?",
        "Customers or management may require proof from named deployments.",
    ),
    "team": ("Who will operate it?", "The team does the porting, tuning and troubleshooting."),
    "tuning": ("How much tuning will you do?", "Less tuning favors the platform with wider software support."),
    "current_platform": (
        "Which platform do you run today?",
        "Switching platforms takes engineering time; staying does not.",
    ),
    "acquisition": ("Buy or rent?", "Buyers spread tuning cost over years; renting depends on available providers."),
    "monthly_hours": (
        "How many accelerator-hours do you rent per month?",
        "With enough hours, lower rent pays for porting.",
    ),
    "budget_usd": (
        "What is your up-front budget?",
        "What you pay at once: accelerators, servers, network, racks, spares and porting.",
    ),
    "adoption_months": (
        "How many months of infrastructure work can you fund?",
        "Sources report 3 to 12 months to adopt another platform.",
    ),
    "months_to_launch": ("When do you go live?", "Waiting helps only if the next accelerator is available by then."),
    "waiting": ("Would you wait for the next accelerator?", "Release dates slip, often by two quarters."),
    "vendor_policy": (
        "One vendor or two?",
        "Different accelerators in one pool slow each other down; separate pools avoid this.",
    ),
    "api_checked": ("Have you compared a hosted API?", "An API may be cheaper than hosting the model yourself."),
}


def label_question_group(strength: RuleStrength) -> str:
    return tr(_GROUPS[strength])


def get_question_text(name: str) -> str:
    return tr(_QUESTIONS[name][0])


def get_question_reason(name: str) -> str:
    return tr(_QUESTIONS[name][1])


_LED_BY_TWO = 2


class ColumnOutcome(LabeledEnum):
    """The outcome of an accelerator under an answer."""

    STAYS = "stays", "remains"
    UNDECIDED = "undecided", "undecided"
    REMOVED = "removed", "ruled out"


def find_column_outcome(standing: DecisionCandidate) -> ColumnOutcome:
    """Return the outcome of a column: removed by likely figures, undecided, or neither."""
    if standing.removed:
        return ColumnOutcome.REMOVED
    return ColumnOutcome.UNDECIDED if standing.open_rules else ColumnOutcome.STAYS


def describe_remaining(decision: Decision, names: Mapping[str, str]) -> str:
    fates = {each.key: find_column_outcome(each) for each in decision.candidates}
    remaining = [key for key, fate in fates.items() if fate is not ColumnOutcome.REMOVED]
    open_keys = [key for key in remaining if fates[key] is ColumnOutcome.UNDECIDED]
    if not remaining:
        return tr("None remain")
    count = (
        tr("All {n} remain", n=len(remaining)) if len(remaining) == len(fates) else tr("{n} remain", n=len(remaining))
    )
    if len(remaining) == 1:
        count = tr("1 remains")
    if not open_keys:
        return count
    return tr("{leaves}; {undecided}", leaves=count, undecided=_describe_undecided(open_keys, remaining, names))


def _describe_undecided(open_keys: list[str], remaining: list[str], names: Mapping[str, str]) -> str:
    if len(open_keys) == 1 and len(remaining) > 1:
        return tr("{name} undecided", name=names[open_keys[0]])
    if len(open_keys) < len(remaining):
        return trn("{n} undecided", "{n} undecided", len(open_keys))
    if len(remaining) == 1:
        return tr("undecided")
    return tr("both undecided") if len(remaining) == _LED_BY_TWO else tr("all undecided")


def describe_lead(decision: Decision, names: Mapping[str, str], formatter: Formatter) -> str:
    """Return the recommendation with its odds, for a close call also the next one; empty without any."""
    odds = {each.key: each.odds for each in decision.candidates}
    candidate = decision.recommended
    if candidate is None:
        return ""
    contest, first = decision.objective.name.label, names[candidate.key]
    n = format_odds(odds[candidate.key], formatter)
    if decision.verdict is DecisionVerdict.WINNER or decision.runner_up is None:
        if judge_odds(odds[candidate.key]) is LeadVerdict.LEADS:
            return tr("{contest}: {name} leads ({odds} odds)", contest=contest, name=first, odds=n)
        return tr("{contest}: {name} likely leads ({odds} odds)", contest=contest, name=first, odds=n)
    one, other = sorted((candidate.key, decision.runner_up), key=lambda key: -odds[key])
    n, m = (format_odds(odds[key], formatter) for key in (one, other))
    values = {"contest": contest, "one": names[one], "n": n, "other": names[other], "m": m}
    return tr("{contest}: {one} {n}, {other} {m} odds", **values)


def describe_option_effect(question: str, decision: Decision, names: Mapping[str, str], formatter: Formatter) -> str:
    """Return the effect of an answer, by the decision under it: remaining accelerators, or the leader, or both.

    Questions about requirements state what remains; the others the leader first, then what remains if not all do.
    """
    leaves, leads = describe_remaining(decision, names), describe_lead(decision, names, formatter)
    if QUESTIONS[question].screen.strength is RuleStrength.HARD or not leads:
        return leaves
    if any(each.removed or each.open_rules for each in decision.candidates):
        return tr("{leads}. {leaves}", leads=leads, leaves=leaves)
    return leads


def describe_option_briefly(question: str, decision: Decision, names: Mapping[str, str], formatter: Formatter) -> str:
    """Return the effect of an answer briefly: what remains, else the leader and its lead."""
    lead = decision.recommended
    some_in_doubt = any(each.removed or each.open_rules for each in decision.candidates)
    if lead is None or some_in_doubt or QUESTIONS[question].screen.strength is RuleStrength.HARD:
        return describe_remaining(decision, names)
    return tr("{name}, {odds} odds", name=names[lead.key], odds=format_odds(decision.robustness, formatter))


def describe_option_fully(decision: Decision, names: Mapping[str, str], formatter: Formatter) -> str:
    """Return the effect of an answer for screen readers: how many remain, who leads, and the outcome of each."""
    fates = ", ".join(f"{names[each.key]} {find_column_outcome(each).label}" for each in decision.candidates)
    parts = (describe_remaining(decision, names), describe_lead(decision, names, formatter), fates)
    return "; ".join(part for part in parts if part)


def format_short_answer(question: str, answered: QuestionAnswer, formatter: Formatter) -> str:
    """Return the current answer for a list: with its origin, unless the user gave it."""
    if answered.origin is AnswerOrigin.DEFAULT:
        return tr("not answered")
    text = format_answer(question, answered.value, formatter)
    if answered.origin is AnswerOrigin.SCENARIO:
        return tr("{answer}, from the scenario", answer=text)
    return text


def list_offered_values(question: str, in_force: AnswerValue) -> tuple[AnswerValue, ...]:
    """Return the suggestions, with the current number inserted in order if it is not one of them."""
    definition = QUESTIONS[question]
    if in_force in definition.offered or isinstance(in_force, str):
        return definition.offered
    return (*sorted((*definition.presets, in_force)), *definition.options)
