"""The verdict of each page in a sentence or two: who leads, by how much, with which odds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from gpudesk.domain.answer import (
    Answer,
    LeadVerdict,
    compute_win_odds,
    find_best,
    find_difference,
    find_rival,
    judge_odds,
    rank_figures,
)
from gpudesk.domain.decision import Decision, DecisionCandidate, ObjectiveName
from gpudesk.report.comparison.estimate_rows import (
    FigureText,
    describe_missing_value,
    format_limiter,
    get_max_concurrencies,
)
from gpudesk.report.costs import (
    MoneyFormatter,
    describe_bought_singly,
    describe_prices_used,
    describe_rent_terms,
    describe_server_share,
    describe_utilization,
    list_partly_used,
    list_rent_class_remarks,
    list_same_provider_rents,
)
from gpudesk.report.decision.verdict import format_objective, label_odds, label_payment
from gpudesk.report.labels import (
    describe_distance,
    format_distance,
    format_load,
    format_months,
    format_odds,
    join_names,
    label_figure,
    list_column_names,
)
from gpudesk.text.formatting import Formatter
from gpudesk.text.messages import to_sentence
from gpudesk.text.translation import tr, trn

_THROUGHPUT: Final = "output_tokens_per_s"
_RENTED, _OWNED = "rented_usd_per_million_output", "owned_usd_per_million_output"
_RENTS: Final = ("rented", "rented")


def describe_comparison(answer: Answer, decision: Decision, formatter: Formatter) -> str:
    """Return who leads by the objective of the decision, against whom, and what else sets the two apart."""
    return _ComparisonVerdict(answer, decision, formatter).describe()


class _ComparisonVerdict:
    def __init__(self, answer: Answer, decision: Decision, formatter: Formatter) -> None:
        self._answer, self._decision, self._formatter = answer, decision, formatter
        self._names = dict(zip(decision.columns, list_column_names(answer), strict=True))
        self._candidates = {each.key: each for each in decision.candidates}

    def describe(self) -> str:
        winner, second = self._decision.recommended, self._decision.runner_up
        if winner is None or not self._decision.scope.answered:
            return describe_throughput(self._answer, self._formatter)
        first = self._candidates[winner.key]
        if second is None:
            outsiders = _list_outsiders(self._answer, list_column_names(self._answer), self._formatter)
            return " ".join([self._describe_alone(first), *outsiders])
        rival = self._candidates[second]
        label, odds = label_odds(self._decision.objective), format_odds(first.odds, self._formatter)
        sentences = [self._describe_lead(first, rival), tr("{label}: {odds}.", label=label, odds=odds)]
        if self._has_wider_software(rival) and not self._has_wider_software(first):
            sentences.append(tr("{name} has wider software support.", name=self._names[rival.key]))
        return " ".join(sentences)

    def _describe_alone(self, first: DecisionCandidate) -> str:
        value = "" if first.value is None else self._format_value(first)
        if len(self._decision.columns) == 1:
            return tr("{name}: {value}.", name=self._name(first), value=value)
        if sum(bool(each.removed) for each in self._decision.candidates):
            return tr("Only {name} meets every limit: {value}.", name=self._name(first), value=value)
        return tr("Only {name} has a figure to compare: {value}.", name=self._name(first), value=value)

    def _format_value(self, first: DecisionCandidate) -> str:
        return format_objective(self._decision, first, self._formatter)

    def _describe_lead(self, first: DecisionCandidate, rival: DecisionCandidate) -> str:
        values = {
            "name": self._name(first),
            "figures": ", ".join(self._list_distances(first, rival)),
            "other": self._name(rival),
        }
        if self._decision.tied_by is not None:
            return tr("Too close to call; {name} is preferred to {other}: {figures}.", **values)
        return {
            LeadVerdict.LEADS: tr("{name} leads {other}: {figures}.", **values),
            LeadVerdict.LIKELY_LEADS: tr("{name} likely leads {other}: {figures}.", **values),
            LeadVerdict.LEANS: tr("Leans to {name} over {other}: {figures}.", **values),
            LeadVerdict.TOO_CLOSE: tr("Too close to call. {name} compared with {other}: {figures}.", **values),
        }[judge_odds(first.odds)]

    def _list_distances(self, first: DecisionCandidate, rival: DecisionCandidate) -> Iterator[str]:
        """Yield what the objective says of the two, then throughput, or the rent where that is the objective."""
        objective = self._decision.objective
        if objective.name is ObjectiveName.TIME:
            yield self._describe_months(first, rival)
        elif first.value is not None and rival.value is not None:
            payments = first.payment, rival.payment
            yield self._describe_distance(first.value.value / rival.value.value, objective.name, payments)
        if not all(map(self._is_as_compared, (first, rival))):
            return
        by_throughput = objective.name is ObjectiveName.THROUGHPUT
        figure = _RENTED if by_throughput else _THROUGHPUT
        difference = find_difference(self._answer, figure, rival.key, first.key)
        back = find_difference(self._answer, figure, first.key, rival.key)
        if difference is not None or back is not None:
            ratio = (
                difference.ratio.value
                if difference is not None
                else 1.0 / back.ratio.value
                if back is not None
                else 1.0
            )
            aim = ObjectiveName.COST if by_throughput else None
            yield self._describe_distance(ratio, aim, _RENTS)

    def _describe_distance(self, ratio: float, objective: ObjectiveName | None, payments: Sequence[str | None]) -> str:
        """Return how far apart two values are, `ratio` of the first over the second; of throughput without an aim.

        `payments` are how the two are paid for, of costs.
        """
        d = format_distance(ratio, self._formatter)
        if objective is ObjectiveName.COST:
            more, less = tr("{d} higher cost per token (rented)", d=d), tr("{d} lower cost per token (rented)", d=d)
            if payments == ("owned", "owned"):
                more, less = tr("{d} higher cost per token (owned)", d=d), tr("{d} lower cost per token (owned)", d=d)
            elif payments != _RENTS:
                ours, theirs = (label_payment(each or "rented") for each in payments)
                more = tr("{d} higher cost per token ({payment}, not {other})", d=d, payment=ours, other=theirs)
                less = tr("{d} lower cost per token ({payment}, not {other})", d=d, payment=ours, other=theirs)
        elif objective is ObjectiveName.THROUGHPUT:
            more, less = tr("{d} more throughput per accelerator", d=d), tr("{d} less throughput per accelerator", d=d)
        elif objective is ObjectiveName.DENSITY:
            more, less = tr("{d} more throughput per kW", d=d), tr("{d} less throughput per kW", d=d)
        elif objective is ObjectiveName.LATENCY:
            more, less = tr("{d} higher latency", d=d), tr("{d} lower latency", d=d)
        elif objective is ObjectiveName.CAPACITY:
            more, less = tr("{d} more requests in flight", d=d), tr("{d} fewer requests in flight", d=d)
        else:
            more, less = tr("{d} more throughput", d=d), tr("{d} less throughput", d=d)
        return more if ratio >= 1.0 else less

    def _describe_months(self, first: DecisionCandidate, rival: DecisionCandidate) -> str:
        if first.value is None or rival.value is None:
            return ""
        months = rival.value.value - first.value.value
        difference = format_months(abs(months), self._formatter)
        if months >= 0.0:
            return tr("{months} sooner in production", months=difference)
        return tr("{months} later in production", months=difference)

    def _is_as_compared(self, candidate: DecisionCandidate) -> bool:
        """Whether the decision is about the deployment that the column shows."""
        estimate = self._answer.columns[self._decision.columns.index(candidate.key)].estimate
        return estimate is not None and (estimate.count, estimate.plan) == (candidate.count, candidate.plan)

    def _name(self, candidate: DecisionCandidate) -> str:
        name = self._names[candidate.key]
        if candidate.count is None or self._is_as_compared(candidate):
            return name
        return tr("{n} × {name}", n=self._formatter.count(candidate.count), name=name)

    def _has_wider_software(self, candidate: DecisionCandidate) -> bool:
        return self._decision.parts[self._decision.columns.index(candidate.key)].get("widest_software") is True


def describe_throughput(answer: Answer, formatter: Formatter) -> str:
    """Return who has the highest throughput, and what limits it; then who is not compared."""
    names = list_column_names(answer)
    ranked = rank_figures(answer, _THROUGHPUT)
    if not ranked:
        return " ".join(_list_outsiders(answer, names, formatter)) or tr("Throughput at this load is unknown.")
    sentences = [describe_figure_lead(answer, _THROUGHPUT, formatter)]
    limiters = {place: format_limiter(each) for place in ranked if (each := answer.columns[place].estimate) is not None}
    best = find_best(ranked, _THROUGHPUT)
    if len(limiters) > 1 and len(set(limiters.values())) == 1:
        sentences.append(tr("All are limited by {limiter}.", limiter=limiters[best]))
    elif best in limiters:
        sentences.append(tr("{name} is limited by {limiter}.", name=names[best], limiter=limiters[best]))
    return " ".join([*sentences, *_list_outsiders(answer, names, formatter)])


def describe_figure_lead(answer: Answer, figure: str, formatter: Formatter) -> str:
    """Return who is best at a figure, how far from the next, and with which odds of leading that one."""
    names, ranked = list_column_names(answer), rank_figures(answer, figure)
    if not ranked:
        return tr("{figure}: unknown at this load.", figure=label_figure(figure))
    best, text = find_best(ranked, figure), FigureText(answer, figure, formatter)
    values = {
        "figure": label_figure(figure),
        "name": names[best],
        "value": f"{text.format(ranked[best].value)} {text.unit}",
    }
    rival = find_rival(answer, figure, best)
    if rival is None:
        return tr("{figure}: {name}, {value}.", **values)
    place, odds = rival
    values |= {
        "other": names[place],
        "other_value": f"{text.format(ranked[place].value)} {text.unit}",
        "odds": format_odds(odds, formatter),
        "distance": describe_distance(ranked[best].value / ranked[place].value, formatter),
    }
    return {
        LeadVerdict.LEADS: tr("{figure}: {name} leads with {value}, {distance} than {other} ({odds} odds).", **values),
        LeadVerdict.LIKELY_LEADS: tr(
            "{figure}: {name} likely leads with {value}, {distance} than {other} ({odds} odds).", **values
        ),
        LeadVerdict.LEANS: tr(
            "{figure}: leans to {name} with {value}, {distance} than {other} ({odds} odds).", **values
        ),
        LeadVerdict.TOO_CLOSE: tr(
            "{figure}: too close to call. {name}: {value} ({odds} odds of leading), {other}: {other_value}.", **values
        ),
    }[judge_odds(odds)]


def _list_outsiders(answer: Answer, names: Sequence[str], formatter: Formatter) -> Iterator[str]:
    """Yield on which accelerators requests queue, and which hold not even one."""
    queueing = [name for name, column in zip(names, answer.columns, strict=True) if column.queues]
    if queueing:
        yield tr("Requests queue on {names}.", names=join_names(queueing))
    short = [
        describe_short_deployment(name, column.estimate.count, column.estimate.needs, formatter)
        for name, column in zip(names, answer.columns, strict=True)
        if column.estimate is not None and not column.estimate.fits
    ]
    yield from (f"{each}." for each in short)


def describe_short_deployment(name: str, count: int, needs: int | None, formatter: Formatter) -> str:
    """Return that a model does not fit on so many accelerators, and on how many it would."""
    values = {"name": name, "n": formatter.count(count), "needs": formatter.count(needs)}
    if needs is None:
        return tr("{name}: the model does not fit at any count", **values)
    return tr("{name}: the model needs {needs} accelerators, not {n}", **values)


#: How many hold a number of requests in flight -> the sentence about them.
_FITS: Final = {
    "none": "No accelerator holds {load} in memory.",
    "one": "{names} holds {load} in memory and has room for {n}.",
    "some": "{names} hold {load} in memory; {best} has room for the most, {n}.",
    "all": "All {all} accelerators hold {load} in memory; {best} has room for the most, {n}.",
}
#: The same for loads that do not say how many requests are in flight.
_HANDLES: Final = {
    "none": "No accelerator handles this load ({load}).",
    "one": "{names} handles this load ({load}) and has room for {requests}.",
    "some": "{names} handle this load ({load}); {best} has room for the most requests, {n}.",
    "all": "All {all} accelerators handle this load ({load}); {best} has room for the most requests, {n}.",
}


def describe_fit(answer: Answer, formatter: Formatter) -> str:
    """Return who holds the load, who has the most room to spare, where requests queue and what does not fit."""
    names, most = list_column_names(answer), get_max_concurrencies(answer)
    holding = [
        place
        for place, column in enumerate(answer.columns)
        if column.estimate is not None and column.estimate.fits and not column.queues
    ]
    in_flight = answer.scenario.workload.load.concurrency or answer.scenario.workload.load.batch
    values = {
        "names": join_names([names[place] for place in holding]),
        "all": formatter.count(len(names)),
        "load": format_load(answer.scenario.workload.load, formatter)
        if in_flight is None
        else trn("{n} request", "{n} requests", in_flight, n=formatter.count(in_flight)),
    }
    sentences = []
    if holding:
        roomiest = max(holding, key=lambda place: most[place] or 0)
        room = most[roomiest] or 0
        values |= {
            "best": names[roomiest],
            "n": formatter.count(room),
            "requests": trn("{n} request", "{n} requests", room, n=formatter.count(room)),
        }
        of = "one" if len(holding) == 1 else "all" if len(holding) == len(names) else "some"
        sentences.append(tr(_FITS[of] if in_flight is not None else _HANDLES[of], **values))
    elif any(column.estimate is not None for column in answer.columns):
        sentences.append(tr((_HANDLES if in_flight is None else _FITS)["none"], **values))
    return " ".join([*sentences, *_list_outsiders(answer, names, formatter)])


def describe_token_cost(answer: Answer, formatter: Formatter) -> str:
    """Return who has the cheapest token to own and to rent, with odds; the cheaper way comes first.

    The answer carries its costs.
    """
    ranked = {figure: ranking for figure in (_RENTED, _OWNED) if (ranking := rank_figures(answer, figure))}
    if answer.costs is None or not ranked:
        reasons = {describe_missing_value(answer, _RENTED, place, formatter)[0] for place in range(len(answer.columns))}
        return to_sentence(tr("Cost per token unknown: {reasons}", reasons="; ".join(sorted(reasons))))
    cheapest = {figure: find_best(ranking, figure) for figure, ranking in ranked.items()}
    order = sorted(ranked, key=lambda figure: ranked[figure][cheapest[figure]].value)
    return " ".join(_describe_cheapest(answer, figure, figure == order[0], formatter) for figure in order)


#: Figure -> the sentence where there is one price only, where two are too close to call, and by how sure a lead is.
_CHEAPEST: Final = {
    _OWNED: {
        None: "To own, {name} costs {value}.",
        LeadVerdict.TOO_CLOSE: "To own, {name} ({value}) and {other} ({other_value}) are too close to call.",
        LeadVerdict.LEANS: "To own, {name} leans cheapest: {value} ({odds} odds).",
        LeadVerdict.LIKELY_LEADS: "To own, {name} is likely cheapest: {value} ({odds} odds).",
        LeadVerdict.LEADS: "To own, {name} is cheapest: {value} ({odds} odds).",
    },
    _RENTED: {
        None: "To rent, {name} costs {value}.",
        LeadVerdict.TOO_CLOSE: "To rent, {name} ({value}) and {other} ({other_value}) are too close to call.",
        LeadVerdict.LEANS: "To rent, {name} leans cheapest: {value} ({odds} odds).",
        LeadVerdict.LIKELY_LEADS: "To rent, {name} is likely cheapest: {value} ({odds} odds).",
        LeadVerdict.LEADS: "To rent, {name} is cheapest: {value} ({odds} odds).",
    },
}


def _describe_cheapest(answer: Answer, figure: str, names_unit: bool, formatter: Formatter) -> str:
    ranked, odds = rank_figures(answer, figure), compute_win_odds(answer, figure)
    names, text, best = list_column_names(answer), FigureText(answer, figure, formatter), find_best(ranked, figure)
    amount = text.format_money(ranked[best].value)
    values = {
        "name": names[best],
        "value": tr("{amount} per million output tokens", amount=amount) if names_unit else amount,
    }
    if not odds:
        return tr(_CHEAPEST[figure][None], **values)
    rival = max((place for place in odds if place != best), key=lambda place: odds[place])
    values |= {
        "odds": format_odds(odds[best], formatter),
        "other": names[rival],
        "other_value": text.format_money(ranked[rival].value),
    }
    return tr(_CHEAPEST[figure][judge_odds(odds[best])], **values)


def describe_cost_terms(answer: Answer, formatter: Formatter) -> str:
    """Return what the costs of an answer rest on: use, rent, servers, and the purchase prices."""
    costs, settings = answer.costs, answer.scenario.costs
    if costs is None:
        return ""
    terms = (
        describe_utilization(costs.utilisation, formatter),
        describe_rent_terms(settings.rent_term, costs),
        describe_server_share(costs.columns, formatter),
        describe_bought_singly(settings),
    )
    names = dict(zip(answer.keys, list_column_names(answer), strict=True))
    prices = describe_prices_used(costs.columns, names, MoneyFormatter(formatter, settings.currency))
    systems = list_partly_used(costs.columns, names, formatter)
    rents = list_rent_class_remarks(costs, names) or list_same_provider_rents(costs, names)
    lines = (", ".join(filter(None, terms)), prices, *systems, *rents)
    return " ".join(to_sentence(each) for each in lines if each)


def describe_payback(answer: Answer, formatter: Formatter) -> str:
    """Return after how many months of use around the clock buying pays back, the soonest first."""
    costs = answer.costs
    points = [] if costs is None else [each for each in costs.break_evens if each.name == "months_to_own"]
    if not points:
        return tr("Payback period unknown: enter purchase and rental prices.")
    names = dict(zip(answer.keys, list_column_names(answer), strict=True))
    known_points = sorted((each.value, names[each.key]) for each in points if each.value is not None)
    sentences = []
    if known_points:
        months = [
            trn("{n} month ({name})", "{n} months ({name})", round(value), n=formatter.number(value), name=name)
            for value, name in known_points
        ]
        sentences.append(
            tr("Buying pays back after {months} of 24/7 use; for less use, rent.", months=join_names(months))
        )
    if never := [names[each.key] for each in points if each.value is None]:
        text = "Within the service life, buying does not pay back for {names}."
        sentences.append(tr(text, names=join_names(never)))
    return " ".join(sentences)
