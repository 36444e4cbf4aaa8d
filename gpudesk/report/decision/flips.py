"""Changes that would alter a decision, and what to measure, in words."""

from __future__ import annotations

from typing import Final

from gpudesk.domain.decision import (
    COUNTED_WHOLE,
    NO_LIMIT_ANSWER,
    QUESTIONS,
    SYSTEMS_COUNTED,
    UNKNOWN_ANSWER,
    AnswerValue,
    Decision,
    DecisionFlip,
    DecisionVerdict,
    PilotMeasurement,
)
from gpudesk.report.costs import format_input_amount, get_input_unit, label_cost_input
from gpudesk.report.decision.facts import label_fact
from gpudesk.report.decision.questions import format_answer
from gpudesk.report.decision.reasons import NamesByKey
from gpudesk.report.labels import drop_count, join_alternatives, join_names, label_figure
from gpudesk.text.formatting import Formatter
from gpudesk.text.messages import lower_for_sentence
from gpudesk.text.translation import tr, trn

#: Shorter durations are in minutes, longer ones in hours.
_MINUTES_FROM: Final = 90.0


def describe_flip(
    flip: DecisionFlip, decision: Decision, names: NamesByKey, formatter: Formatter
) -> tuple[str, str, str]:
    """Return the change of one input, its current value, and who leads then."""
    before = flip.before
    if flip.input == SYSTEMS_COUNTED:
        ways = tr("Counting whole systems"), tr("Counting only accelerators in use")
        change, now = ways if flip.after == COUNTED_WHOLE else reversed(ways)
        return change, tr("now {value}", value=lower_for_sentence(now)), _describe_new_leader(flip, names)
    if flip.input in QUESTIONS:
        label = label_fact(flip.input)
        before = decision.answers[flip.input].value if before is None else before
    else:
        part, _, name = flip.input.rpartition(".")
        label = label_cost_input(name)
        if part:
            label = tr(
                "{name}, {input}", name=_name_accelerator(part, decision, names), input=lower_for_sentence(label)
            )
    after = lower_for_sentence(_format_input_value(flip.input, flip.after, formatter))
    text = "{input}: {value}"
    if isinstance(flip.after, float) and (isinstance(before, float) or before == NO_LIMIT_ANSWER):
        rises = isinstance(before, float) and flip.after > before
        text = "{input} above {value}" if rises else "{input} below {value}"
    change = tr(text, input=label, value=after)
    if before is None:
        now = tr("now not answered") if flip.input in QUESTIONS else tr("now unknown")
        return change, now, _describe_new_leader(flip, names)
    now = lower_for_sentence(_format_input_value(flip.input, before, formatter))
    return change, tr("now {value}", value=now), _describe_new_leader(flip, names)


def _format_input_value(name: str, value: AnswerValue, formatter: Formatter) -> str:
    if name in QUESTIONS:
        return tr("unknown") if value == UNKNOWN_ANSWER else format_answer(name, value, formatter)
    _, _, cost = name.rpartition(".")
    if isinstance(value, str):
        return value
    unit = get_input_unit(cost)
    if unit.startswith("USD"):
        return formatter.money(formatter.small_amount(value), "USD") + unit.removeprefix("USD")
    amount = format_input_amount(cost, value, formatter)
    return f"{amount}\N{NO-BREAK SPACE}{unit}" if unit else amount


def _name_accelerator(part: str, decision: Decision, names: NamesByKey) -> str:
    """Return the name of an accelerator; without a count if several columns have it."""
    keys = [each.key for each in decision.candidates if part in (each.key, each.accelerator)]
    name = names[part if part in keys else keys[0]]
    return name if len(keys) == 1 else drop_count(name)


def _describe_new_leader(flip: DecisionFlip, names: NamesByKey) -> str:
    if not flip.becomes:
        return tr("no recommendation")
    leaders = [names[key] for key in flip.becomes]
    if flip.verdict is DecisionVerdict.WINNER:
        return tr("{name} leads", name=join_alternatives(leaders))
    if len(leaders) == 1:
        return tr("{name} is ahead, but too close to call", name=leaders[0])
    return tr("too close to call between {names}", names=join_names(leaders))


def describe_pilot(pilot: PilotMeasurement, names: NamesByKey, formatter: Formatter) -> str:
    """Return the measurement that would decide: what to measure, on what and for how long."""
    minutes = pilot.hours * 60.0
    return trn(
        "Run {n} of your requests on {names}: about {time} on each accelerator. Compare {figure}.",
        "Run {n} of your requests on {names}: about {time} on each accelerator. Compare {figure}.",
        pilot.requests,
        n=formatter.count(pilot.requests),
        names=join_names([names[key] for key in pilot.keys]),
        time=trn("{n} minute", "{n} minutes", max(1, round(minutes)))
        if minutes < _MINUTES_FROM
        else trn("{n} hour", "{n} hours", pilot.hours, n=formatter.stated(pilot.hours)),
        figure=lower_for_sentence(label_figure(pilot.figure)),
    )
