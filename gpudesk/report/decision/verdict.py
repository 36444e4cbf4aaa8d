"""The verdict in words: reasons, exclusions, flips, and robustness."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final, NamedTuple

from gpudesk.domain.answer import LeadVerdict, judge_odds
from gpudesk.domain.decision import (
    NO_LIMIT_ANSWER,
    AnswerOrigin,
    Decision,
    DecisionCandidate,
    DecisionObjective,
    DecisionReason,
    DecisionVerdict,
    ObjectiveName,
)
from gpudesk.report.costs import add_provider_kind, describe_utilization
from gpudesk.report.decision.facts import format_fact
from gpudesk.report.decision.no_recommendation import (
    explain_no_winner,
    format_no_recommendation,
    list_alternatives,
    list_needed_counts,
)
from gpudesk.report.decision.rules import DOUBTS, NamesByKey, describe_reason, find_candidate, get_middle, label_payment
from gpudesk.report.labels import drop_count, format_months, format_odds, join_alternatives, join_names
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter, IntervalEstimate, join_unit
from gpudesk.text.messages import format_message, lower_for_sentence, to_sentence
from gpudesk.text.translation import tr, trn

#: Goals by speed: costs can differ far more than they do.
_SPEEDS: Final = (ObjectiveName.LATENCY, ObjectiveName.THROUGHPUT, ObjectiveName.DENSITY)
#: Up to twice as slow is named if its cost times its slowdown is at most this share of the recommendation's cost.
_MOST_SLOWDOWN, _MUCH_LESS = 2.0, 2.0 / 3.0
#: What costs at most this share to buy is named, if its tokens cost at most this multiple.
_SMALL_PURCHASE, _MOST_DEARER = 0.5, 2.0
#: A figure up to this many times worse than the best is close to it.
_CLOSE_TO_BEST: Final = 1.15
#: Doubts about what can be bought today.
_HARD_TO_BUY: Final = frozenset({"announced", "used_price", "discontinued", "old_release", "sales_region"})


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

#: Of more candidates with the same figure, no two are named as the recommendation.
_PAIR: Final = 2
#: If the best is too close to call, a verdict names up to this many: those at least half as likely to be the best.
MOST_NAMED, _AS_LIKELY = 3, 0.5
#: By other goals than cost, a candidate that costs more than this multiple of the recommendation is not its equal.
_MOST_COST: Final = 2.0
#: The answer on buying or renting -> the only way to pay.
_WAYS_TO_PAY: Final = {"own": ("owned",), "rent": ("rented",)}
_MS_PER_S: Final = 1000.0


class LeadingCandidates:
    """The recommended candidate of a decision, and those that a verdict names with it."""

    def __init__(self, decision: Decision, key: str) -> None:
        self.decision = decision
        self.first = first = find_candidate(decision, key)
        #: The leader by figures, if it is another one.
        self.tied = None if decision.tied_by is None else find_candidate(decision, decision.tied_by)
        #: Those with the very figure of the first, such as the time until what is on sale arrives.
        self.equals = [each for each in decision.candidates if each.eligible and each.value == first.value]

    @cached_property
    def payment(self) -> str | None:
        """The cheaper open way to pay for the first candidate; None if no cost is known."""
        ways = _WAYS_TO_PAY.get(str(self.decision.facts.get("acquisition")), ("rented", "owned"))
        known = {way: costs[self.first.key] for way in ways if self.first.key in (costs := self._list_costs(way))}
        return min(known, key=lambda way: known[way], default=None)

    @cached_property
    def costs(self) -> Mapping[str, float]:
        """The dollars per million output tokens by column, paid for as the first candidate; empty if unknown."""
        return {} if self.payment is None else self._list_costs(self.payment)

    def _list_costs(self, payment: str) -> dict[str, float]:
        pairs = zip(self.decision.columns, self.decision.parts, strict=True)
        middles = ((key, get_middle(part.get(f"{payment}_usd_per_million"))) for key, part in pairs)
        return {key: usd for key, usd in middles if isinstance(usd, float)}

    @cached_property
    def rivals(self) -> list[DecisionCandidate]:
        """The other candidates; by other goals than cost, without those that cost far more than the first."""
        others = [each for each in self.decision.candidates if each.eligible and each is not self.first]
        if self.decision.objective.name is ObjectiveName.COST:
            return others
        most = _MOST_COST * self.costs.get(self.first.key, math.inf)
        return [each for each in others if self.costs.get(each.key, 0.0) <= most]

    @cached_property
    def is_too_close(self) -> bool:
        """Whether no candidate is likely enough to be the best; one of several with the same figure may lead."""
        is_equal = self.tied is not None and self.tied.value == self.first.value
        if self.decision.runner_up is None or is_equal or not self.rivals:
            return False
        # Those that cost far more do not make a close call of the best equal.
        field = self.decision.candidates if self.tied is not None else (self.first, *self.rivals)
        odds = [each.odds for each in field]
        return judge_odds(max(odds) / sum(odds)) is LeadVerdict.TOO_CLOSE

    @cached_property
    def named(self) -> list[DecisionCandidate]:
        """The candidates that a verdict names: the first, and its equals or the likeliest if too close.

        One close to the best by figures is named with that one. By other goals than cost, much more expensive ones are
        not.
        """
        if not self.is_too_close:
            return [self.first] if self.tied is None else [self.first, self.tied]
        if len(self.equals) > _PAIR:
            return self.equals
        second, *further = sorted(self.rivals, key=lambda each: -each.odds)
        least = _AS_LIKELY * max(self.first.odds, second.odds)
        return [self.first, second, *(each for each in further if each.odds >= least)][:MOST_NAMED]

    def compute_slowdown(self, best: DecisionCandidate, other: DecisionCandidate) -> float:
        """Return how many times worse the figure of another candidate is; infinite without one."""
        if best.value is None or other.value is None or not best.value.value > 0.0 < other.value.value:
            return math.inf
        ratio = other.value.value / best.value.value
        return ratio if self.decision.objective.lower_is_better else 1.0 / ratio

    def format_cost_factor(self, other: DecisionCandidate, formatter: Formatter) -> str:
        return formatter.exact(round(self.costs[other.key] / self.costs[self.first.key], 1))


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


def format_verdict(decision: Decision, names: NamesByKey, formatter: Formatter) -> str:
    """Return the recommendation with its figure and its odds; of those too close to call, all names."""
    candidate = decision.recommended
    if candidate is None or not decision.scope.answered:
        return format_no_recommendation(decision)
    group = LeadingCandidates(decision, candidate.key)
    first = group.first
    verb = _choose_verb(decision, first)
    values = {
        "deployment": _format_lots(first, names, formatter),
        "value": _format_value(decision.objective, first.value, formatter),
    }
    if group.is_too_close:
        if len(group.equals) > _PAIR:
            return tr("Any of {n}: {value}", n=formatter.count(len(group.equals)), value=values["value"])
        return _format_close_verdict(decision, group.named, names, formatter)
    verdict = tr(_CLEAR_VERDICTS[verb], **values)
    lead = _describe_lead(group, formatter)
    return tr("{verdict} ({odds})", verdict=verdict, odds=lead) if lead else verdict


def _format_close_verdict(
    decision: Decision, leaders: Sequence[DecisionCandidate], names: NamesByKey, formatter: Formatter
) -> str:
    """Return `Rent 2 × A, 4 × B or 4 × C: too close to call`, first those paid for as the first one."""
    by_verb: dict[str, list[str]] = {}
    for each in leaders:
        by_verb.setdefault(_choose_verb(decision, each), []).append(_format_lots(each, names, formatter))
    verb, *other_verbs = by_verb
    deployments = by_verb[verb]
    others = by_verb[other_verbs[0]] if other_verbs else [deployments.pop()]
    text = _CLOSE_VERDICTS[verb, other_verbs[0] if other_verbs else verb]
    return tr(text, deployment=", ".join(deployments), other=join_alternatives(others))


def _describe_lead(group: LeadingCandidates, formatter: Formatter) -> str:
    """Return how sure the recommendation is; empty for the only candidate."""
    decision, first, best = group.decision, group.first, group.tied
    if best is not None:
        if best.value == first.value:
            equals = len(group.equals) - 1
            return trn("{n} other is equal", "{n} others are equal", equals, n=formatter.count(equals))
        if group.compute_slowdown(best, first) <= _CLOSE_TO_BEST:
            return tr("close to the best")
    if decision.runner_up is not None:
        return describe_odds(decision.objective, first, formatter)
    others = [each for each in decision.candidates if each is not first]
    if not others:
        return ""
    if all(each.removed for each in others):
        return tr("the only one that meets every limit")
    is_cost = decision.objective.name is ObjectiveName.COST
    return tr("the only one with a known price") if is_cost else tr("the only one with figures to compare")


def _format_lots(candidate: DecisionCandidate, names: NamesByKey, formatter: Formatter) -> str:
    """Return what to buy or rent for a deployment: `8 × MI325X (1 in use)`, since modules are sold in systems.

    If only the accelerators in use count, it is `1 × MI325X (in a system of 8)`.
    """
    lots, count, name = candidate.lots, candidate.count or 0, drop_count(names[candidate.key])
    paid = count if lots is None or lots.is_shared else lots.accelerators
    deployment = tr("{n} × {name}", n=formatter.count(paid), name=name)
    if paid == count:
        if lots is None or not lots.is_shared or not lots.idle:
            return deployment
        return tr("{deployment} (in a system of {n})", deployment=deployment, n=formatter.count(lots.accelerators))
    return tr("{deployment} ({n} in use)", deployment=deployment, n=formatter.count(count))


def describe_verdict_terms(decision: Decision, names: NamesByKey, formatter: Formatter) -> str:
    """Return, in sentences, what the figures of a verdict assume: utilization, what is paid for, speed per user."""
    key = find_leading_column(decision)
    if key is None or not decision.scope.answered:
        return ""
    group = LeadingCandidates(decision, key)
    leaders = group.named
    terms = []
    if decision.utilization is not None and (share := describe_utilization(decision.utilization, formatter)):
        terms.append(tr("At {utilization}", utilization=share))
    if any(each.key in decision.set_counts for each in leaders):
        terms.append(tr("Counts are those you set, not sized for the demand"))
        terms.append(list_needed_counts(decision, names, formatter))
    terms += _list_lots(group, names, formatter)
    upfront = _describe_upfront(decision, leaders, names, formatter)
    terms += filter(None, (upfront, _describe_user_speed(decision, leaders, names, formatter)))
    return " ".join(map(to_sentence, filter(None, terms)))


def _list_lots(group: LeadingCandidates, names: NamesByKey, formatter: Formatter) -> list[str]:
    """Return the systems or instances that candidates come in, of all that are alike together.

    With what costs per token count of them, if the verdict has any.
    """
    decision = group.decision
    has_costs = decision.objective.name in (ObjectiveName.COST, *_SPEEDS) and group.payment is not None
    alike: dict[tuple[bool, int, bool], list[str]] = {}
    for each in group.named:
        lots, spend = each.lots, decision.parts[decision.columns.index(each.key)].get("spend_usd")
        if lots is None or not lots.idle:
            continue
        is_rented, name = _choose_verb(decision, each) == "rent", drop_count(names[each.key])
        if isinstance(spend, float) and not is_rented:
            usd = spend / lots.used * lots.accelerators if lots.is_shared else spend
            price = formatter.money(formatter.estimate(usd), "USD")
            name = tr("{name} ({price} with network)", name=name, price=price)
        alike.setdefault((is_rented, lots.size, lots.is_shared), []).append(name)
    sentences = []
    for (is_rented, size, is_shared), lot_names in alike.items():
        whole = tr("whole instances") if is_rented else tr("whole systems")
        counted = tr("only accelerators in use") if is_shared else whole
        values = {"names": join_names(lot_names), "size": formatter.count(size)}
        sentence = (
            trn(
                "{names} is rented in instances of {size}",
                "{names} are rented in instances of {size}",
                len(lot_names),
                **values,
            )
            if is_rented
            else trn(
                "{names} is sold in systems of {size}",
                "{names} are sold in systems of {size}",
                len(lot_names),
                **values,
            )
        )
        sentences.append(tr("{lots}; costs count {counted}", lots=sentence, counted=counted) if has_costs else sentence)
    return sentences


def _describe_upfront(
    decision: Decision, leaders: Sequence[DecisionCandidate], names: NamesByKey, formatter: Formatter
) -> str | None:
    """Return the cost to buy of candidates that are compared as bought, unless it is that of partly used systems."""
    costs = [
        tr(
            "{amount} ({name})",
            amount=formatter.money(formatter.estimate(spend), "USD"),
            name=drop_count(names[each.key]),
        )
        for each in leaders
        if _choose_verb(decision, each) == "buy"
        and not (each.lots is not None and each.lots.idle)
        and isinstance(spend := decision.parts[decision.columns.index(each.key)].get("spend_usd"), float)
    ]
    return tr("Up-front cost with network: {costs}", costs=", ".join(costs)) if costs else None


def _describe_user_speed(
    decision: Decision, leaders: Sequence[DecisionCandidate], names: NamesByKey, formatter: Formatter
) -> str | None:
    speeds = [
        tr("{speed} ({name})", speed=speed, name=names[each.key])
        for each in leaders
        if (speed := format_user_speed(decision, each, formatter)) is not None
    ]
    if not speeds:
        return None
    values = {"speeds": ", ".join(speeds)}
    limit = decision.facts.get("reading_tpot_ms")
    if not isinstance(limit, float):
        return tr("Speed per user: {speeds}", **values)
    values["least"] = join_unit(formatter.count(round(_MS_PER_S / limit)), "tok/s")
    return tr("Speed per user: {speeds}; at least {least} is assumed", **values)


def format_user_speed(decision: Decision, candidate: DecisionCandidate, formatter: Formatter) -> str | None:
    """Return the output speed that each user gets; None if the user has set a limit, or that no one waits."""
    speed = decision.parts[decision.columns.index(candidate.key)].get("interactivity")
    limit = decision.answers["tpot_limit_ms"]
    if speed is None or decision.answers["service"].value == "offline":
        return None
    if limit.value != NO_LIMIT_ANSWER or limit.origin is AnswerOrigin.YOURS:
        return None
    return format_fact("interactivity", get_middle(speed), formatter)


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
        return tr("{amount}, ≈ {usual} elsewhere", amount=amount, usual=usual)
    value = add_provider_kind(value, candidate.unlike_rent)
    if candidate.payment is None:
        return value
    return tr("{value}, {payment}", value=value, payment=label_payment(candidate.payment))


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
        ObjectiveName.TIME: (tr("{months} to production", months=months), months)
        if value.value > 0.0
        else (tr("available now, no porting"), tr("available now")),
    }[objective.name]
    return short if brief else full


def describe_verdict_reason(decision: Decision, names: NamesByKey, formatter: Formatter) -> str:
    """Return, in one sentence, what is close or what the verdict rests on; empty if neither needs to be stated."""
    if decision.scope.why is not None:
        return format_message(decision.scope.why, formatter)
    if decision.verdict is DecisionVerdict.NONE_FITS:
        return explain_no_winner(decision, names, formatter)
    key = find_leading_column(decision)
    if key is None:
        problem = tr("Enter a price on the Cost page, or choose another goal.")
        return f"{problem} {list_alternatives(decision, formatter)}".strip()
    group = LeadingCandidates(decision, key)
    first = group.first
    sentences = []
    if group.is_too_close:
        sentences.append(_describe_close_call(group, names, formatter))
    elif group.tied is not None:
        sentences.append(_describe_tie(group, group.tied, names, formatter))
    elif outpriced := _describe_outpriced(group, names, formatter):
        sentences.append(outpriced)
    elif decision.objective.instead_of is ObjectiveName.COST:
        sentences.append(tr("Too few prices are known, so throughput is compared instead of cost."))
    if decision.objective.name in _SPEEDS:
        sentences += _list_cost_sentences(group, names, formatter)
    sentences.append(_describe_smaller_purchase(decision, first, names, formatter))
    sentences.append(_describe_ports(group, names, formatter))
    sentences += list_undecided(decision, group.named, names)
    sentences.append(describe_doubts(decision, group.named, names, formatter))
    return " ".join(filter(None, sentences))


def list_undecided(decision: Decision, leaders: Sequence[DecisionCandidate], names: NamesByKey) -> Iterator[str]:
    """Yield which candidates may miss which limits, of all alike together."""
    undecided: dict[str, list[str]] = {}
    for each in leaders:
        if each.open_rules:
            undecided.setdefault(list_open_limits(decision, each), []).append(names[each.key])
    for limits, doubtful in undecided.items():
        yield tr("Undecided for {name}: {limits}.", name=join_names(doubtful), limits=limits)


def list_open_limits(decision: Decision, candidate: DecisionCandidate) -> str:
    """Return the limits that a candidate may miss, since they are within its intervals or a fact is missing."""
    titles = {line.rule.id: line.title for line in decision.trace}
    return ", ".join(lower_for_sentence(titles[rule]) for rule in candidate.open_rules)


def _describe_ports(group: LeadingCandidates, names: NamesByKey, formatter: Formatter) -> str:
    """Return which of those named need porting, and the likeliest candidate that needs none if all do; else empty."""
    decision = group.decision
    ports = {key: part.get("needs_port") for key, part in zip(decision.columns, decision.parts, strict=True)}
    ported = [names[each.key] for each in group.named if ports[each.key] is True]
    if not ported:
        return ""
    sentence = trn(
        "{names} needs your software ported.",
        "{names} need your software ported.",
        len(ported),
        names=join_names(ported),
    )
    others = [each for each in decision.candidates if each.eligible and each.value and ports[each.key] is False]
    if len(ported) < len(group.named) or not others:
        return sentence
    best = max(others, key=lambda each: each.odds)
    values = {
        "deployment": _format_lots(best, names, formatter),
        "value": format_objective(decision, best, formatter, brief=True),
    }
    return f"{sentence} {tr('Without porting: {deployment}, {value}.', **values)}"


class _CostedCandidate(NamedTuple):
    """A candidate with its cost per million output tokens, and how much worse it is: the ratio of times, or rates."""

    candidate: DecisionCandidate
    usd: float
    slowdown: float


def _list_cost_sentences(group: LeadingCandidates, names: NamesByKey, formatter: Formatter) -> Iterator[str]:
    """Yield the cost of a recommendation by speed, and who is nearly as fast for much less, in one way to pay."""
    decision, first, costs = group.decision, group.first, group.costs
    if group.payment is None or first.value is None:
        return
    costed = [
        _CostedCandidate(each, costs[each.key], group.compute_slowdown(first, each))
        for each in decision.candidates
        if each.eligible and each.value is not None and each.key in costs
    ]
    usd = costs[first.key]
    yield tr(
        "{name} costs ${usd} per million output tokens, {payment}.",
        name=names[first.key],
        usd=formatter.small_amount(usd),
        payment=label_payment(group.payment),
    )
    near = [each for each in costed if each.slowdown <= _MOST_SLOWDOWN and each.usd * each.slowdown <= _MUCH_LESS * usd]
    if near:
        best = min(near, key=lambda each: each.usd * each.slowdown)
        values = {
            "deployment": _format_lots(best.candidate, names, formatter),
            "share": formatter.per_cent(round(best.usd / usd, 2)),
            "more": formatter.per_cent(round(best.slowdown - 1.0, 2)),
            "less": formatter.per_cent(round(1.0 - 1.0 / best.slowdown, 2)),
        }
        if decision.objective.lower_is_better:
            yield tr("{deployment} takes {more} longer at {share} of the cost.", **values)
        else:
            yield tr("{deployment} has {less} less throughput at {share} of the cost.", **values)


def _describe_smaller_purchase(
    decision: Decision, first: DecisionCandidate, names: NamesByKey, formatter: Formatter
) -> str:
    """Return who costs far less to buy than a recommendation by owned cost, and how much more its tokens cost."""
    spends = {
        key: usd
        for key, part in zip(decision.columns, decision.parts, strict=True)
        if isinstance(usd := part.get("spend_usd"), float)
    }
    by_cost = decision.objective.name is ObjectiveName.COST
    if not by_cost or first.payment != "owned" or first.value is None or first.key not in spends:
        return ""
    smaller = [
        (spends[each.key] / spends[first.key], each.value.value / first.value.value, each)
        for each in decision.candidates
        if each.eligible and each.value is not None and each.payment == "owned" and _HARD_TO_BUY.isdisjoint(each.doubts)
    ]
    smaller = [each for each in smaller if each[0] <= _SMALL_PURCHASE and each[1] <= _MOST_DEARER]
    if not smaller:
        return ""
    share, ratio, other = min(smaller, key=lambda each: each[0] * each[1])
    return tr(
        "{deployment} costs {share} as much to buy and {more} more per token.",
        deployment=_format_lots(other, names, formatter),
        share=formatter.per_cent(round(share, 2)),
        more=formatter.per_cent(round(ratio - 1.0, 2)),
    )


def describe_doubts(
    decision: Decision,
    leaders: Sequence[DecisionCandidate],
    names: NamesByKey,
    formatter: Formatter,
    doubts: Sequence[str] = DOUBTS,
) -> str:
    """Return the gravest doubt about each of the candidates; of several, with the names of those that it is about."""
    named: dict[str, list[str]] = {}
    for leader in leaders:
        fact = next((each for each in doubts if each in leader.doubts), None)
        if fact is not None:
            value = decision.parts[decision.columns.index(leader.key)].get(fact)
            doubt = describe_reason(DecisionReason(fact, value, None, None), names, formatter)
            named.setdefault(doubt, []).append(drop_count(names[leader.key]))
    if len(leaders) == 1:
        return "".join(f"{doubt}." for doubt in named)
    return " ".join(tr("{doubt} ({names}).", doubt=doubt, names=join_names(each)) for doubt, each in named.items())


def _describe_close_call(group: LeadingCandidates, names: NamesByKey, formatter: Formatter) -> str:
    """Return the figures and odds of candidates that are too close to call, or the names of more equal ones."""
    decision, first, leaders, best = group.decision, group.first, group.named, group.tied
    if len(group.equals) > _PAIR:
        return tr("Equal by this goal: {names}.", names=join_names([names[each.key] for each in leaders]))
    figures = [
        tr(
            "{name}: {value} ({odds})",
            name=names[each.key],
            value=format_objective(decision, each, formatter, brief=each is not first),
            odds=describe_odds(decision.objective, each, formatter)
            if each is first
            else format_odds(each.odds, formatter),
        )
        for each in leaders
    ]
    favored = _describe_favored(first, leaders[1], names, tied=best is not None) if best in (None, *leaders) else ""
    return f"{'; '.join(figures)}. {favored or _describe_outpriced(group, names, formatter)}".strip()


def _describe_outpriced(group: LeadingCandidates, names: NamesByKey, formatter: Formatter) -> str:
    """Return the likeliest candidate that costs far more than the first; empty if it is far less likely."""
    rivals = (group.first, *group.rivals)
    outpriced = (each for each in group.decision.candidates if each.eligible and each not in rivals)
    best = max(outpriced, key=lambda each: each.odds, default=None)
    if best is None or best.odds < _AS_LIKELY * group.first.odds:
        return ""
    return tr(
        "{name}: {value} ({odds}), at {factor} times the cost per token.",
        name=names[best.key],
        value=format_objective(group.decision, best, formatter, brief=True),
        odds=format_odds(best.odds, formatter),
        factor=group.format_cost_factor(best, formatter),
    )


def _describe_favored(first: DecisionCandidate, second: DecisionCandidate, names: NamesByKey, *, tied: bool) -> str:
    """Return which of two the arguments favor, or why the first is preferred to one `tied` by figures; else empty."""
    if tied and first.score <= second.score:
        return tr("{name} is the smaller commitment.", name=names[first.key])
    if first.score == second.score:
        return ""
    return tr("The arguments favor {name}.", name=names[max(first, second, key=lambda each: each.score).key])


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
        "name": _format_lots(leader, names, formatter),
        "odds": format_odds(leader.odds, formatter),
    }
    if second is None:
        return tr("{payment}: only {name} has a price", **values)
    values |= {"other": _format_lots(second, names, formatter), "other_odds": format_odds(second.odds, formatter)}
    if judge_odds(leader.odds) is LeadVerdict.TOO_CLOSE:
        return tr("{payment}: too close to call ({name}: {odds} odds; {other}: {other_odds})", **values)
    return tr("{payment}: {name} ({odds} odds of being the cheapest; {other}: {other_odds})", **values)


def _describe_tie(group: LeadingCandidates, best: DecisionCandidate, names: NamesByKey, formatter: Formatter) -> str:
    """Return the figure and odds of the leader by figures, and what decides instead: arguments, else commitment."""
    decision, first = group.decision, group.first
    values = {
        "other": names[best.key],
        "value": format_objective(decision, best, formatter, brief=True),
        "odds": describe_odds(decision.objective, best, formatter),
        "name": names[first.key],
        "own_odds": format_odds(first.odds, formatter),
    }
    if first.value == best.value:
        values["names"] = join_names([names[each.key] for each in group.equals if each is not first])
        if first.score > best.score:
            return tr("Equal by this goal: {names}. The arguments favor {name}.", **values)
        return tr("Equal by this goal: {names}. {name} is the smaller commitment.", **values)
    tie = tr("{other}: {value} ({odds}; {name}: {own_odds}).", **values)
    if best not in group.rivals:
        values["factor"] = group.format_cost_factor(best, formatter)
        return f"{tie} {tr('{other} costs {factor} times as much per token.', **values)}"
    return f"{tie} {_describe_favored(first, best, names, tied=True)}"


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
        "months_to_production": tr("{name}: no date from which it can be bought or rented", name=name),
    }.get(missing, tr("{name}: figures missing", name=name))
    if candidate.needed is None:
        return problem
    values = {"name": name, "price": formatter.money(formatter.estimate(candidate.needed), "USD")}
    if missing == "rent_usd_per_hour":
        values["price"] = formatter.money(formatter.small_amount(candidate.needed), "USD")
        if candidate.payment is None:
            return tr("{name} has no rental price; it would be the cheapest below {price} per hour", **values)
        text = "{name} has no rental price, so its purchase is compared; rented below {price}/h it would cost least"
        return tr(text, **values)
    if candidate.payment is None:
        return tr("{name} has no purchase price; it would be the cheapest below {price}", **values)
    text = "{name} has no purchase price, so its rent is compared; bought below {price} it would cost least"
    return tr(text, **values)
