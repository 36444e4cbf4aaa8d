"""The verdict in words: reasons, exclusions, flips, and robustness."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from gpudesk.domain.answer import LeadVerdict, judge_odds
from gpudesk.domain.decision import (
    COUNTED_WHOLE,
    NO_LIMIT_ANSWER,
    QUESTIONS,
    SYSTEMS_COUNTED,
    UNKNOWN_ANSWER,
    AnswerOrigin,
    AnswerValue,
    ConditionResult,
    Decision,
    DecisionCandidate,
    DecisionFlip,
    DecisionObjective,
    DecisionReason,
    DecisionRule,
    DecisionVerdict,
    FactValue,
    ObjectiveName,
    PilotMeasurement,
    RuleExclusion,
    TraceLine,
    WayOut,
    WayOutKind,
)
from gpudesk.report.costs import (
    add_provider_kind,
    describe_utilization,
    format_input_amount,
    get_input_unit,
    label_cost_input,
)
from gpudesk.report.decision.facts import format_fact, get_fact_unit, label_fact
from gpudesk.report.decision.questions import format_answer
from gpudesk.report.decision.rules import describe_condition_result
from gpudesk.report.labels import (
    drop_count,
    format_months,
    format_odds,
    format_tokens,
    join_alternatives,
    join_names,
    label_figure,
    label_precision,
    shorten_name,
)
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter, IntervalEstimate
from gpudesk.text.messages import format_message, lower_for_sentence, to_sentence
from gpudesk.text.translation import tr, translate_data, trn

#: Costs that sentences give in dollars alone, because their label has the rest of the unit.
PER_MILLION: Final = frozenset({"usd_per_million", "owned_usd_per_million", "rented_usd_per_million"})
NamesByKey = Mapping[str, str]

_CLEAR_VERDICTS: Final = {
    "buy": "Buy {deployment}: {value}",
    "rent": "Rent {deployment}: {value}",
    "choose": "Choose {deployment}: {value}",
}
#: By the way to pay for the recommended accelerator and for the runner-up.
_CLOSE_VERDICTS: Final = {
    ("buy", "buy"): "Buy {deployment} or {other}: too close to call",
    ("rent", "rent"): "Rent {deployment} or {other}: too close to call",
    ("buy", "rent"): "Buy {deployment} or rent {other}: too close to call",
    ("rent", "buy"): "Rent {deployment} or buy {other}: too close to call",
    ("choose", "choose"): "Choose {deployment} or {other}: too close to call",
}

_ODDS: Final = {
    ObjectiveName.COST: "{odds} odds of being the cheapest",
    ObjectiveName.THROUGHPUT: "{odds} odds of being the fastest per accelerator",
    ObjectiveName.DENSITY: "{odds} odds of being the fastest per kW",
    ObjectiveName.LATENCY: "{odds} odds of being the fastest to answer",
    ObjectiveName.CAPACITY: "{odds} odds of the highest concurrency",
    ObjectiveName.TIME: "{odds} odds of being first in production",
}

#: Facts that make the purchase or the figures of the leading column doubtful, the gravest first.
_DOUBTS: Final = ("announced", "license_limit", "discontinued", "old_price", "old_rent", "basis")
#: Of more candidates with the same figure, no two are named as the recommendation.
_PAIR: Final = 2
#: Shorter durations are in minutes, longer ones in hours.
_MINUTES_FROM: Final = 90.0
#: A boolean fact -> the two numbers behind it, the smaller one first.
_BEHIND: Final[Mapping[str, tuple[str, str]]] = {
    "fits_alone": ("needs_alone_gb", "memory_gb"),
    "holds_load": ("in_flight", "max_concurrency"),
}


# The verdict


def find_leading_column(decision: Decision) -> str | None:
    """Return the key of the recommended column; None without one."""
    return None if decision.recommended is None else decision.recommended.key


def label_arguments(decision: Decision, names: NamesByKey) -> tuple[str, str]:
    """Return the headings of the arguments for and against the recommended column."""
    key = find_leading_column(decision)
    if key is None:
        return tr("For"), tr("Against")
    return tr("For {name}", name=names[key]), tr("Against {name}", name=names[key])


def find_candidate(decision: Decision, key: str) -> DecisionCandidate:
    return next(each for each in decision.candidates if each.key == key)


def format_verdict(decision: Decision, names: NamesByKey, formatter: Formatter) -> str:
    """Return the recommendation with its figure and its odds; of two that are too close to call, both names."""
    if not decision.scope.answered:
        return tr("No recommendation for this kind of work")
    if decision.verdict is DecisionVerdict.NONE_FITS:
        return tr("No accelerator meets every limit")
    candidate = decision.recommended
    if candidate is None:
        if ObjectiveName.COST in (decision.objective.name, decision.objective.instead_of):
            return tr("No recommendation: prices are unknown")
        return tr("No recommendation: figures are missing")
    first = find_candidate(decision, candidate.key)
    verb = _choose_verb(decision, first)
    values = {
        "deployment": _format_lots(first, names, formatter),
        "value": _format_value(decision.objective, first.value, formatter),
    }
    second = None if decision.runner_up is None else find_candidate(decision, decision.runner_up)
    if second is not None and _is_too_close(decision, first, second):
        equals = _list_equals(decision, first)
        if len(equals) > _PAIR:
            return tr("Any of {n}: {value}", n=formatter.count(len(equals)), value=values["value"])
        values["other"] = _format_lots(second, names, formatter)
        return tr(_CLOSE_VERDICTS[verb, _choose_verb(decision, second)], **values)
    verdict = tr(_CLEAR_VERDICTS[verb], **values)
    lead = _describe_lead(decision, first, formatter)
    return tr("{verdict} ({odds})", verdict=verdict, odds=lead) if lead else verdict


def _describe_lead(decision: Decision, first: DecisionCandidate, formatter: Formatter) -> str:
    """Return how sure the recommendation is; empty for the only candidate."""
    if decision.tied_by is not None:
        return tr("close to the best")
    if decision.runner_up is not None:
        return describe_odds(decision.objective, first, formatter)
    if any(each.removed for each in decision.candidates):
        return tr("the only one that meets every limit")
    return tr("the only one with figures to compare") if len(decision.candidates) > 1 else ""


def _list_equals(decision: Decision, first: DecisionCandidate) -> list[DecisionCandidate]:
    """Return the candidates with the very figure of the leading one, such as the time until what is on sale arrives."""
    return [each for each in decision.candidates if each.eligible and each.value == first.value]


def _format_lots(candidate: DecisionCandidate, names: NamesByKey, formatter: Formatter) -> str:
    """Return what to buy or rent for a deployment: `8 × MI325X (1 in use)`, since modules are sold in systems.

    If only the accelerators in use count, it is `1 × MI325X (share of 8)`.
    """
    lots, count, name = candidate.lots, candidate.count or 0, drop_count(names[candidate.key])
    paid = count if lots is None or lots.is_shared else lots.accelerators
    deployment = tr("{n} × {name}", n=formatter.count(paid), name=name)
    if paid == count:
        if lots is None or not lots.is_shared or not lots.idle:
            return deployment
        return tr("{deployment} (share of {n})", deployment=deployment, n=formatter.count(lots.accelerators))
    return tr("{deployment} ({n} in use)", deployment=deployment, n=formatter.count(count))


def describe_verdict_terms(decision: Decision, names: NamesByKey, formatter: Formatter) -> str:
    """Return, in sentences, what the figures of a verdict assume: utilization, what is paid for, speed per user."""
    key = find_leading_column(decision)
    if key is None or not decision.scope.answered:
        return ""
    leaders = _list_leaders(decision, find_candidate(decision, key))
    terms = []
    if decision.utilization is not None and (share := describe_utilization(decision.utilization, formatter)):
        terms.append(tr("At {utilization}", utilization=share))
    if any(each.key in decision.set_counts for each in leaders):
        terms.append(tr("Counts are those you set, not sized for the demand"))
    terms += filter(None, (_describe_lots(each, decision, names, formatter) for each in leaders))
    terms += filter(None, (_describe_user_speed(decision, leaders, names, formatter),))
    return " ".join(map(to_sentence, terms))


def _list_leaders(decision: Decision, first: DecisionCandidate) -> list[DecisionCandidate]:
    """Return the candidates that a verdict names: the recommended one, and its equals or the next one if too close."""
    second = None if decision.runner_up is None else find_candidate(decision, decision.runner_up)
    if second is None or not _is_too_close(decision, first, second):
        return [first]
    equals = _list_equals(decision, first)
    return equals if len(equals) > _PAIR else [first, second]


def _describe_lots(
    candidate: DecisionCandidate, decision: Decision, names: NamesByKey, formatter: Formatter
) -> str | None:
    """Return what a candidate's cost counts of the systems or instances it is sold in; None if it counts all used."""
    lots, spend = candidate.lots, decision.parts[decision.columns.index(candidate.key)].get("spend_usd")
    if lots is None or not lots.idle:
        return None
    values = {
        "name": drop_count(names[candidate.key]),
        "size": formatter.count(lots.size),
        "counted": tr("assumes that others use the rest") if lots.is_shared else tr("includes all of them"),
    }
    if _choose_verb(decision, candidate) == "rent":
        return tr("{name} is rented in instances of {size}; the cost {counted}", **values)
    if not isinstance(spend, float):
        return tr("{name} is sold in systems of {size}; the cost {counted}", **values)
    usd = spend / lots.used * lots.accelerators if lots.is_shared else spend
    values["price"] = formatter.money(formatter.estimate(usd), "USD")
    return tr("{name} is sold in systems of {size} ({price} with network); the cost {counted}", **values)


def _describe_user_speed(
    decision: Decision, leaders: Sequence[DecisionCandidate], names: NamesByKey, formatter: Formatter
) -> str | None:
    speeds = [
        tr("{speed} ({name})", speed=speed, name=names[each.key])
        for each in leaders
        if (speed := format_user_speed(decision, each, formatter)) is not None
    ]
    return tr("Speed per user: {speeds}", speeds=", ".join(speeds)) if speeds else None


def format_user_speed(decision: Decision, candidate: DecisionCandidate, formatter: Formatter) -> str | None:
    """Return the output speed that each user gets; None if the user has set a limit, or that none is needed."""
    limit = decision.answers["tpot_limit_ms"]
    speed = decision.parts[decision.columns.index(candidate.key)].get("interactivity")
    if speed is None or limit.value != NO_LIMIT_ANSWER or limit.origin is AnswerOrigin.YOURS:
        return None
    return format_fact("interactivity", _get_middle(speed), formatter)


def _is_too_close(decision: Decision, first: DecisionCandidate, second: DecisionCandidate) -> bool:
    """Return whether odds alone cannot tell two candidates apart, and no argument does."""
    is_close = decision.tied_by is None and judge_odds(first.odds) is LeadVerdict.TOO_CLOSE
    return is_close and not is_like_for_like_tie(first, second)


def is_like_for_like_tie(first: DecisionCandidate, second: DecisionCandidate) -> bool:
    """Return whether two are too close to call only at a rent that the second one does not have on record."""
    is_unlike = first.unlike_rent is None and second.unlike_rent is not None
    return is_unlike and judge_odds(first.odds) is LeadVerdict.TOO_CLOSE


def _choose_verb(decision: Decision, candidate: DecisionCandidate) -> str:
    how = candidate.payment or str(decision.facts.get("acquisition"))
    return "buy" if how in ("owned", "own") else "rent" if how in ("rented", "rent") else "choose"


def format_objective(
    decision: Decision, candidate: DecisionCandidate, formatter: Formatter, *, brief: bool = False
) -> str:
    """Return a candidate's figure by the objective with its unit, and how it is paid for; a dash without one.

    `brief` is for small spaces.
    """
    value = _format_value(decision.objective, candidate.value, formatter, brief=brief)
    if candidate.value is None:
        return value
    if brief and candidate.like_for_like is not None:
        amount, usual = (
            formatter.money(formatter.small_amount(each), "USD")
            for each in (candidate.value.value, candidate.like_for_like)
        )
        return tr("{amount}, ≈ {usual} like for like", amount=amount, usual=usual)
    value = add_provider_kind(value, candidate.unlike_rent)
    if candidate.payment is None:
        return value
    return tr("{value}, {payment}", value=value, payment=label_payment(candidate.payment))


def label_payment(payment: str) -> str:
    return tr("owned") if payment == "owned" else tr("rented")


def _format_value(
    objective: DecisionObjective, value: IntervalEstimate | None, formatter: Formatter, *, brief: bool = False
) -> str:
    if value is None:
        return MISSING_VALUE_TEXT
    write = formatter.small_amount if objective.name is ObjectiveName.COST else formatter.estimate
    n, months = write(value.value), format_months(value.value, formatter)
    if objective.name is ObjectiveName.CAPACITY and value.value.is_integer():
        n = formatter.count(int(value.value))
    full, short = {
        ObjectiveName.COST: (tr("${n} per million output tokens", n=n), tr("${n}/M tokens", n=n)),
        ObjectiveName.THROUGHPUT: (tr("{n} output tokens/s per accelerator", n=n), tr("{n} tok/s each", n=n)),
        ObjectiveName.DENSITY: (tr("{n} output tokens/s per kW", n=n), tr("{n} tok/s per kW", n=n)),
        ObjectiveName.LATENCY: (tr("{n} s per request", n=n), tr("{n} s", n=n)),
        ObjectiveName.CAPACITY: (
            trn("{n} request in flight per accelerator", "{n} requests in flight per accelerator", value.value, n=n),
            trn("{n} request each", "{n} requests each", value.value, n=n),
        ),
        ObjectiveName.TIME: (tr("{months} to production", months=months), months),
    }[objective.name]
    return short if brief else full


def describe_verdict_reason(decision: Decision, names: NamesByKey, formatter: Formatter) -> str:
    """Return, in one sentence, what is close or what the verdict rests on; empty if neither needs to be stated."""
    if decision.scope.why is not None:
        return format_message(decision.scope.why, formatter)
    if decision.verdict is DecisionVerdict.NONE_FITS:
        return _explain_no_winner(decision, names, formatter)
    key = find_leading_column(decision)
    if key is None:
        problem = tr("Enter a price on the Cost page, or choose another goal.")
        return f"{problem} {_list_alternatives(decision, formatter)}".strip()
    first = find_candidate(decision, key)
    second = None if decision.runner_up is None else find_candidate(decision, decision.runner_up)
    sentences = []
    if decision.tied_by is not None:
        sentences.append(_describe_tie(decision, first, names, formatter))
    elif second is not None and judge_odds(first.odds) is LeadVerdict.TOO_CLOSE:
        sentences.append(_describe_close_call(decision, first, second, names, formatter))
    elif decision.objective.instead_of is ObjectiveName.COST:
        sentences.append(tr("Too few prices are known, so throughput is compared instead of cost."))
    if first.open_rules:
        titles = {line.rule.id: line.title for line in decision.trace}
        open_titles = ", ".join(lower_for_sentence(titles[rule]) for rule in first.open_rules)
        sentences.append(tr("Undecided limits: {limits}.", limits=open_titles))
    sentences.append(_describe_doubt(decision, _list_leaders(decision, first), names, formatter))
    return " ".join(filter(None, sentences))


def _describe_doubt(
    decision: Decision, leaders: Sequence[DecisionCandidate], names: NamesByKey, formatter: Formatter
) -> str:
    """Return the gravest doubt about candidates; of several, with the names of those that it is about."""
    fact = next((each for each in _DOUBTS if any(each in leader.doubts for leader in leaders)), None)
    if fact is None:
        return ""
    values = {
        leader.key: decision.parts[decision.columns.index(leader.key)].get(fact)
        for leader in leaders
        if fact in leader.doubts
    }
    value = next(iter(values.values()))
    doubt = describe_reason(DecisionReason(fact, value, None, None), names, formatter)
    doubted = join_names([drop_count(names[key]) for key, other in values.items() if other == value])
    return f"{doubt}." if len(leaders) == 1 else tr("{doubt} ({names}).", doubt=doubt, names=doubted)


def _describe_close_call(
    decision: Decision, first: DecisionCandidate, second: DecisionCandidate, names: NamesByKey, formatter: Formatter
) -> str:
    """Return the figures and odds of two candidates that are too close to call, or the names of more equal ones."""
    equals = _list_equals(decision, first)
    if len(equals) > _PAIR:
        return tr("Equal by this goal: {names}.", names=join_names([names[each.key] for each in equals]))
    values = {
        "name": names[first.key],
        "value": format_objective(decision, first, formatter),
        "odds": describe_odds(decision.objective, first, formatter),
        "other": names[second.key],
        "other_value": format_objective(decision, second, formatter, brief=True),
        "other_odds": format_odds(second.odds, formatter),
    }
    if is_like_for_like_tie(first, second):
        return tr("Like for like, too close to call with {other} ({other_value}; {other_odds} odds).", **values)
    return tr("{name}: {value} ({odds}); {other}: {other_value} ({other_odds}).", **values)


def label_odds(objective: DecisionObjective) -> str:
    """Return the event behind the candidates' odds, `Odds of being the cheapest`."""
    return {
        ObjectiveName.COST: tr("Odds of being the cheapest"),
        ObjectiveName.THROUGHPUT: tr("Odds of being the fastest per accelerator"),
        ObjectiveName.DENSITY: tr("Odds of being the fastest per kW"),
        ObjectiveName.LATENCY: tr("Odds of being the fastest to answer"),
        ObjectiveName.CAPACITY: tr("Odds of the highest concurrency"),
        ObjectiveName.TIME: tr("Odds of being first in production"),
    }[objective.name]


def describe_odds(objective: DecisionObjective, candidate: DecisionCandidate, formatter: Formatter) -> str:
    """Return a candidate's odds with the event, `76% odds of being the cheapest`."""
    return tr(_ODDS[objective.name], odds=format_odds(candidate.odds, formatter))


def describe_cheaper_api(decision: Decision, formatter: Formatter) -> str | None:
    """Return by how much a hosted API undercuts the recommendation; None if it does not."""
    hosted, key = decision.api_usd, find_leading_column(decision)
    value = None if key is None else find_candidate(decision, key).value
    if hosted is None or value is None or hosted >= value.value:
        return None
    return tr(
        "A hosted API costs ${hosted} per million output tokens ({change})",
        hosted=formatter.small_amount(hosted),
        change=formatter.difference(hosted / value.value),
    )


def describe_other_payment(decision: Decision, names: NamesByKey, formatter: Formatter) -> str | None:
    """Return which candidate would lead if everything were paid for in the other way; None if the same one would."""
    other = decision.other_payment
    if other is None or not decision.scope.answered:
        return None
    leader, second = other.leader, other.runner_up
    values = {
        "payment": tr("If bought") if other.payment == "owned" else tr("If rented"),
        "name": names[leader.key],
        "odds": format_odds(leader.odds, formatter),
    }
    if second is None:
        return tr("{payment}: only {name} has a price", **values)
    values |= {"other": names[second.key], "other_odds": format_odds(second.odds, formatter)}
    if judge_odds(leader.odds) is LeadVerdict.TOO_CLOSE:
        return tr("{payment}: too close to call ({name}: {odds} odds; {other}: {other_odds})", **values)
    return tr("{payment}: {name} ({odds} odds of being the cheapest; {other}: {other_odds})", **values)


def _describe_tie(decision: Decision, first: DecisionCandidate, names: NamesByKey, formatter: Formatter) -> str:
    """Return the figure and odds of the leader by figures, and what decides instead: arguments, else commitment."""
    other = find_candidate(decision, decision.tied_by or first.key)
    values = {
        "other": names[other.key],
        "value": format_objective(decision, other, formatter, brief=True),
        "odds": describe_odds(decision.objective, other, formatter),
        "name": names[first.key],
        "own_odds": format_odds(first.odds, formatter),
    }
    if first.score > other.score:
        return tr("{other}: {value} ({odds}; {name}: {own_odds}). The arguments favor {name}.", **values)
    return tr("{other}: {value} ({odds}; {name}: {own_odds}). {name} is the smaller commitment.", **values)


def _explain_no_winner(decision: Decision, names: NamesByKey, formatter: Formatter) -> str:
    if decision.ways_out:
        return _list_alternatives(decision, formatter)
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
    return tr("“{title}” rules out {n} of {total}: relax this limit, or compare other accelerators.", **values)


def _list_alternatives(decision: Decision, formatter: Formatter) -> str:
    ways = join_alternatives([describe_way_out(way, formatter)[1] for way in decision.ways_out])
    if not decision.ways_out:
        return ""
    undecided = dict.fromkeys(limit for way in decision.ways_out for limit in way.undecided)
    if undecided:
        limits = ", ".join(map(lower_for_sentence, undecided))
        return tr("Alternatives: {ways}; undecided: {limits}.", ways=ways, limits=limits)
    return tr("Alternatives: {ways}.", ways=ways)


def describe_missing_value(candidate: DecisionCandidate, names: NamesByKey, formatter: Formatter) -> str:
    """Return the missing price or figure of a candidate, and the price below which it would lead."""
    name, missing = names[candidate.key], candidate.missing or ""
    problem = {
        "price_usd": tr("{name}: purchase price unknown", name=name)
        if candidate.payment is None
        else tr("{name}: purchase price unknown, so only its rental cost is compared", name=name),
        "rent_usd_per_hour": tr("{name}: rental price unknown", name=name)
        if candidate.payment is None
        else tr("{name}: rental price unknown, so only its cost when bought is compared", name=name),
        "accelerator_w": tr("{name}: board power unknown", name=name),
    }.get(missing, tr("{name}: figures missing", name=name))
    if candidate.needed is None:
        return problem
    values = {"name": name, "price": formatter.money(formatter.estimate(candidate.needed), "USD")}
    if missing == "rent_usd_per_hour":
        values["price"] = formatter.money(formatter.small_amount(candidate.needed), "USD")
        if candidate.payment is None:
            return tr("{name} has no rental price; it would be the cheapest below {price} per hour", **values)
        text = "{name}, compared as bought, has no rental price; below {price}/h it would be the cheapest"
        return tr(text, **values)
    if candidate.payment is None:
        return tr("{name} has no purchase price; it would be the cheapest below {price}", **values)
    text = "{name}, compared as rented, has no purchase price; below {price} it would be the cheapest"
    return tr(text, **values)


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


class CandidateLine(NamedTuple):
    """A candidate in words: its deployment `8 × H100 SXM`, its figure by the objective, and its odds."""

    key: str
    deployment: str
    value: str
    odds: float
    odds_text: str


def list_candidate_lines(decision: Decision, names: NamesByKey, formatter: Formatter) -> tuple[CandidateLine, ...]:
    """Return the candidates with a figure and odds, the best first; empty for work out of scope."""
    scored = [each for each in decision.candidates if each.eligible and decision.scope.answered]
    return tuple(
        CandidateLine(
            each.key,
            tr("{n} × {name}", n=formatter.count(each.count or 0), name=drop_count(names[each.key])),
            format_objective(decision, each, formatter, brief=True),
            each.odds,
            format_odds(each.odds, formatter),
        )
        for each in sorted(scored, key=lambda each: (-round(each.odds, 2), -each.merit))
    )


def list_unpriced_candidates(decision: Decision) -> tuple[DecisionCandidate, ...]:
    """Return the candidates without a price that no rule removes; empty for the recommended one."""
    if not decision.scope.answered:
        return ()
    lead = find_leading_column(decision)
    return tuple(
        each for each in decision.candidates if each.missing is not None and not each.removed and each.key != lead
    )


# Reasons and exclusions


def describe_reason(reason: DecisionReason, names: NamesByKey, formatter: Formatter) -> str:
    """Return a reason with its figure on both sides, and their difference."""
    fact, line = reason.fact, reason.line
    if line is None and fact == "basis":
        return tr("Figures are estimates: no published measurement covers this accelerator and serving engine")
    if line is None and fact == "announced":
        return tr("Announced, but not available yet")
    if line is None and fact == "discontinued":
        return tr("Discontinued: check that you can still buy it at this price")
    if line is None and fact == "license_limit":
        return tr("The driver license excludes data centers")
    if line is None and fact in ("old_price", "old_rent"):
        return tr("Price from {date}: ask for a current quote", date=formatter.date(str(reason.ours)))
    if fact is None:
        return line.title if line is not None else ""
    sides = zip((reason.ours, reason.theirs), reason.payments, strict=True)
    ours, theirs = (_format_middle(fact, value, formatter, payment) for value, payment in sides)
    if reason.ours is None or (line is not None and ours == theirs):
        return label_fact(fact) if line is None else line.title
    values = {"label": label_fact(fact), "value": ours}
    change = _format_change(_get_middle(reason.ours), _get_middle(reason.theirs), formatter)
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
    return format_fact(fact, _get_middle(value), formatter)


def _get_middle(fact: FactValue) -> FactValue:
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


# Changes that would alter it


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
    if isinstance(before, float) and isinstance(flip.after, float):
        text = "{input} above {value}" if flip.after > before else "{input} below {value}"
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
