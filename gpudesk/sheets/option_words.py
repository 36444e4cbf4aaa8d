"""What an answer does before it is given, in words: which accelerators it leaves, and which then leads."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from gpudesk.domain.decisions import Answered, Decision, Origin, Standing, Verdict
from gpudesk.domain.formatting import Formatter
from gpudesk.domain.questions import QUESTIONS, AnswerValue, Strength
from gpudesk.sheets.question_words import answer_text
from gpudesk.text import tr, trn

_LED_BY_TWO = 2


class Fate(StrEnum):
    """What becomes of an accelerator under an answer."""

    STAYS = "stays"
    UNDECIDED = "undecided"
    REMOVED = "removed"


def fate_of(standing: Standing) -> Fate:
    """Return what becomes of a column: removed by likely figures, in doubt, or neither."""
    if standing.removed:
        return Fate.REMOVED
    return Fate.UNDECIDED if standing.open_rules else Fate.STAYS


def fate_text(fate: Fate) -> str:
    """Return in a word what becomes of a column."""
    return {
        Fate.STAYS: tr("stays"),
        Fate.UNDECIDED: tr("undecided"),
        Fate.REMOVED: tr("removed"),
    }[fate]


def leaves_text(decision: Decision, names: Mapping[str, str]) -> str:
    """Return how many columns are left, and which of them are in doubt."""
    fates = {each.key: fate_of(each) for each in decision.standings}
    left = [key for key, fate in fates.items() if fate is not Fate.REMOVED]
    open_keys = [key for key in left if fates[key] is Fate.UNDECIDED]
    if not left:
        return tr("Leaves none")
    count = tr("Leaves all {n}", n=len(left)) if len(left) == len(fates) else tr("Leaves {n}", n=len(left))
    if len(fates) == 1:
        count = tr("Leaves it")
    if not open_keys:
        return count
    return tr("{leaves}, {undecided}", leaves=count, undecided=_undecided(open_keys, left, names))


def _undecided(open_keys: list[str], left: list[str], names: Mapping[str, str]) -> str:
    if len(open_keys) == 1 and len(left) > 1:
        return tr("{name} undecided", name=names[open_keys[0]])
    if len(open_keys) < len(left):
        return trn("{n} undecided", "{n} undecided", len(open_keys))
    if len(left) == 1:
        return tr("undecided")
    return tr("both undecided") if len(left) == _LED_BY_TWO else tr("all undecided")


def lead_text(decision: Decision, names: Mapping[str, str]) -> str:
    """Return which column leads in how many of 100 draws, of a contest the first two; empty without any."""
    ranked = sorted((each for each in decision.standings if not each.removed), key=lambda each: -each.share)
    if not ranked:
        return ""
    first = ranked[0]
    if decision.verdict is Verdict.WINNER or len(ranked) == 1:
        return tr("{name} leads, {n} of 100", name=names[first.key], n=_of_hundred(first.share))
    second = ranked[1]
    return tr(
        "{one} {n} of 100, {other} {m}",
        one=names[first.key],
        n=_of_hundred(first.share),
        other=names[second.key],
        m=_of_hundred(second.share),
    )


def option_text(question: str, decision: Decision, names: Mapping[str, str]) -> str:
    """Return what an answer does, by the decision under it: what it leaves, or who leads, or both.

    Questions of what must hold say what is left; the others who leads, and what is left where not all is.
    """
    leaves, leads = leaves_text(decision, names), lead_text(decision, names)
    if QUESTIONS[question].screen.strength is Strength.HARD or not leads:
        return leaves
    if any(each.removed or each.open_rules for each in decision.standings):
        return tr("{leaves}; {leads}", leaves=leaves, leads=leads)
    return leads


def brief_text(question: str, decision: Decision, names: Mapping[str, str]) -> str:
    """Return what an answer does where there is little room: what it leaves, else who leads by how much."""
    lead = max(
        (each for each in decision.standings if not each.removed), key=lambda each: each.share, default=None
    )
    some_in_doubt = any(each.removed or each.open_rules for each in decision.standings)
    if lead is None or some_in_doubt or QUESTIONS[question].screen.strength is Strength.HARD:
        return leaves_text(decision, names)
    return tr("{name} {n} of 100", name=names[lead.key], n=_of_hundred(lead.share))


def option_sentence(decision: Decision, names: Mapping[str, str]) -> str:
    """Return what an answer does as one reads it out: what it leaves, who leads, and what becomes of each."""
    fates = ", ".join(f"{names[each.key]} {fate_text(fate_of(each))}" for each in decision.standings)
    said = (leaves_text(decision, names), lead_text(decision, names), fates)
    return "; ".join(part for part in said if part)


def origin_text(answered: Answered) -> str:
    """Return whose answer it is."""
    return {
        Origin.YOURS: tr("yours"),
        Origin.SCENARIO: tr("from the scenario"),
        Origin.DEFAULT: tr("default"),
    }[answered.origin]


def short_answer(question: str, answered: Answered, formatter: Formatter) -> str:
    """Return the answer in force for a list: whose it is too, unless the user gave it."""
    if answered.origin is Origin.DEFAULT:
        return tr("not answered")
    text = answer_text(question, answered.value, formatter)
    if answered.origin is Origin.SCENARIO:
        return tr("{answer}, from the scenario", answer=text)
    return text


def shown_values(question: str, in_force: AnswerValue) -> tuple[AnswerValue, ...]:
    """Return what is offered, a number in force that is none of it at its place among the numbers."""
    asked = QUESTIONS[question]
    if in_force in asked.offered or isinstance(in_force, str):
        return asked.offered
    return (*sorted((*asked.presets, in_force)), *asked.options)


def _of_hundred(share: float) -> int:
    return round(share * 100.0)
