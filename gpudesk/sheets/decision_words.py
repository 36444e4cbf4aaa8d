"""Decisions in words that screen, paper and command line share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from gpudesk.domain.decisions import (
    Decision,
    Effect,
    Exclusion,
    Fact,
    Flip,
    Pilot,
    Rule,
    Tested,
    TraceLine,
    Verdict,
    Weighed,
)
from gpudesk.domain.estimates import Banded
from gpudesk.domain.formatting import Formatter
from gpudesk.domain.questions import QUESTIONS, UNKNOWN, AnswerValue
from gpudesk.sheets.condition_words import tested_text
from gpudesk.sheets.cost_words import amount_text, input_label, input_unit
from gpudesk.sheets.fact_words import fact_name, fact_text, in_sentence
from gpudesk.sheets.labels import figure_label
from gpudesk.sheets.question_words import answer_text
from gpudesk.sheets.rule_words import (
    answer_line,
    effect_text,
    factor_name,
    level_text,
    rule_lines,
    short_id,
    source_label,
    strength_text,
)
from gpudesk.text import tr, trn

__all__ = [
    "answer_line",
    "because",
    "effect_text",
    "exclusion_text",
    "fact_name",
    "fact_text",
    "factor_name",
    "firmness",
    "flip_text",
    "leading",
    "level_text",
    "pilot_text",
    "reason_text",
    "rule_lines",
    "shares_text",
    "source_label",
    "strength_text",
    "tested_text",
    "verdict_reason",
    "verdict_title",
]

Names = Mapping[str, str]

#: A share of draws that makes one of a hundred.
_WORTH_SAYING: Final = 0.005
#: A fact that is true or not -> the two numbers that it is about, the lesser one first.
_BEHIND: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {"fits_alone": ("needs_alone_gb", "memory_gb")}
)


# The verdict


def leading(decision: Decision) -> str | None:
    """Return the key of the column that leads, deployed or not; None where none is left."""
    if decision.recommended is not None:
        return decision.recommended.key
    left = [each for each in decision.standings if not each.removed]
    return max(left, key=lambda each: (each.share, each.score)).key if left else None


def verdict_title(decision: Decision, names: Names, formatter: Formatter) -> str:
    """Return the recommendation in one sentence without a full stop."""
    key = leading(decision)
    if decision.verdict is Verdict.NONE_FITS or key is None:
        return tr("None of these meets everything that must hold")
    if decision.verdict is Verdict.OPEN:
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


def verdict_reason(decision: Decision, names: Names, formatter: Formatter) -> str:
    """Return in one or two sentences why, or what keeps it open."""
    if decision.verdict is Verdict.NONE_FITS:
        return _why_none(decision)
    if decision.verdict is Verdict.OPEN:
        return _why_open(decision, names)
    said = [reason_text(each, decision, names, formatter) for each in decision.reasons[:2]]
    if not said:
        return tr("Nothing else is left; no preference speaks for it.")
    first = tr("{reasons}.", reasons="; ".join((said[0], *(in_sentence(each) for each in said[1:]))))
    if not decision.against:
        return first
    against = in_sentence(decision.against[0].line.title)
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


def _why_open(decision: Decision, names: Names) -> str:
    key = leading(decision)
    name = "" if key is None else names[key]
    first = tr("{name} leads, but in fewer than two draws of three.", name=name)
    if decision.pilot is None:
        return first
    figure = in_sentence(figure_label(decision.pilot.figure))
    return tr("{first} Measure {figure} on both.", first=first, figure=figure)


def firmness(decision: Decision, names: Names) -> str:
    """Return in how many draws of all that is not known the answer is the same."""
    if decision.verdict is Verdict.NONE_FITS:
        return tr("All are removed by rules that must hold")
    count = _of_hundred(decision.robustness)
    if decision.verdict is Verdict.WINNER:
        return tr("Holds in {n} of 100 draws", n=count)
    key = leading(decision)
    return tr("{name} leads in {n} of 100 draws", name="" if key is None else names[key], n=count)


def shares_text(decision: Decision, names: Names) -> str:
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


def reason_text(weighed: Weighed, decision: Decision, names: Names, formatter: Formatter) -> str:
    """Return what speaks for the leading column, or for others against it, with the figures of both sides."""
    title = weighed.line.title
    ours, theirs = leading(decision), None
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
        fact=in_sentence(fact_name(shown)),
        value=value,
        other=other,
        name=names[theirs],
    )


def _sides(line: TraceLine, decision: Decision) -> tuple[list[str], list[str]]:
    """Return the keys of columns that a rule favours and of those that it does not, the strongest first."""
    ranked = sorted(decision.standings, key=lambda each: (bool(each.removed), -each.share, -each.score))
    favours = {
        key for key, cell in zip(decision.columns, line.cells, strict=True) if cell.effect is Effect.FAVOURS
    }
    keys = [each.key for each in ranked if not each.removed or each.key not in favours]
    return [key for key in keys if key in favours], [key for key in keys if key not in favours]


def _shown(decision: Decision, line: TraceLine, key: str, formatter: Formatter) -> str:
    value = line.cells[decision.columns.index(key)].value
    return fact_text(line.rule.shows or "", _middle(value), formatter)


def _middle(fact: Fact) -> Fact:
    """Return a figure without its band, for sentences."""
    return float(f"{fact.value:.3g}") if isinstance(fact, Banded) else fact


def exclusion_text(
    exclusion: Exclusion, names: Names, formatter: Formatter, decision: Decision | None = None
) -> str:
    """Return which rule removes an accelerator, and the comparison that does it.

    With the decision, what is only true or not is said with the numbers behind it.
    """
    tested = because(exclusion, decision)
    title = exclusion.rule.title if decision is None else _line_of(exclusion.rule, decision).title
    said = tr("{name}: {title}", name=names[exclusion.key], title=in_sentence(title))
    if not tested:
        return said
    return tr(
        "{said}; {tested}", said=said, tested="; ".join(tested_text(each, formatter) for each in tested)
    )


def because(exclusion: Exclusion, decision: Decision | None) -> tuple[Tested, ...]:
    """Return the comparisons for which a rule removes a column, with numbers where the decision is given."""
    if decision is None:
        return exclusion.because
    place = decision.columns.index(exclusion.key)
    # What must not be so has no comparison that fails.
    tested = exclusion.because or _line_of(exclusion.rule, decision).cells[place].tested
    return tuple(_with_numbers(each, decision.parts[place]) for each in tested)


def _line_of(rule: Rule, decision: Decision) -> TraceLine:
    return next(line for line in decision.trace if line.rule.id == rule.id)


def _with_numbers(tested: Tested, part: Mapping[str, Fact]) -> Tested:
    behind = _BEHIND.get(tested.text)
    if behind is None:
        return tested
    less, more = (part.get(name) for name in behind)
    if not isinstance(less, float) or not isinstance(more, float) or (less <= more) is not tested.holds:
        return tested
    return Tested(f"{behind[0]} <= {behind[1]}", less, more, tested.holds)


# What would change it


def flip_text(flip: Flip, decision: Decision, names: Names, formatter: Formatter) -> tuple[str, str, str]:
    """Return the change of one input, what it is now, and what the answer becomes."""
    before = flip.before
    if flip.input in QUESTIONS:
        label = fact_name(flip.input)
        before = decision.answers[flip.input].value if before is None else before
    else:
        part, _, name = flip.input.rpartition(".")
        label = input_label(name)
        if part:
            label = tr("{name}, {input}", name=_part_name(part, decision, names), input=in_sentence(label))
    after = in_sentence(_input_value(flip.input, flip.after, formatter))
    change = tr("{input}: {value}", input=label, value=after)
    if before is None:
        return change, tr("now not stated"), _becomes(flip, names)
    now = in_sentence(_input_value(flip.input, before, formatter))
    return change, tr("now {value}", value=now), _becomes(flip, names)


def _input_value(name: str, value: AnswerValue, formatter: Formatter) -> str:
    if name in QUESTIONS:
        return tr("not known") if value == UNKNOWN else answer_text(name, value, formatter)
    _, _, cost = name.rpartition(".")
    if isinstance(value, str):
        return value
    unit = input_unit(cost)
    amount = amount_text(cost, value, formatter)
    return f"{amount}\N{NO-BREAK SPACE}{unit}" if unit else amount


def _part_name(part: str, decision: Decision, names: Names) -> str:
    """Return what an accelerator is called; by its id where it stands in several columns."""
    keys = [each.key for each in decision.standings if part in (each.key, each.accelerator)]
    return names[keys[0]] if len(keys) == 1 else short_id(part)


def _becomes(flip: Flip, names: Names) -> str:
    if not flip.becomes:
        return tr("none is left")
    leads = tr(" or ").join(names[key] for key in flip.becomes)
    return leads if flip.verdict is Verdict.WINNER else tr("{name}, no clear winner", name=leads)


def pilot_text(
    pilot: Pilot,
    decision: Decision,  # noqa: ARG001 - every part of a decision is put into words with it
    names: Names,
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
        figure=in_sentence(figure_label(pilot.figure)),
    )
