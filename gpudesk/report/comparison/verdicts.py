"""The verdict of each page as sentences, the answer first, and the effect of changed facts on an answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from gpudesk.domain.answer import (
    Answer,
    AnswerImpact,
    ColumnChange,
    FigureChange,
    LeaderChange,
    LeadVerdict,
    compute_win_odds,
    find_best,
    find_difference,
    find_leaders,
    find_rival,
    judge_odds,
    rank_figures,
)
from gpudesk.domain.cost import AVERAGE_OVER_PEAK
from gpudesk.domain.decision import Decision, DecisionCandidate, ObjectiveName
from gpudesk.domain.estimate import LoadKind
from gpudesk.domain.registry import FIGURES, MAX_CONCURRENCY, list_headline_figures
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.report.comparison.estimate_rows import (
    FigureText,
    describe_missing_value,
    find_usual_limit,
    format_limiter,
    get_max_concurrencies,
    list_unlike_rents,
)
from gpudesk.report.costs import (
    MoneyFormatter,
    add_provider_kind,
    describe_bought_singly,
    describe_other_prices,
    describe_rent_terms,
    describe_server_share,
    describe_utilization,
    list_partly_used,
    list_rent_class_remarks,
    list_same_provider_rents,
)
from gpudesk.report.decision.recommendation import list_removed_columns
from gpudesk.report.decision.rules import DOUBTS_TO_BUY
from gpudesk.report.decision.verdict import describe_doubts, format_objective, format_user_speed, list_undecided
from gpudesk.report.labels import (
    describe_distance,
    drop_count,
    format_distance,
    format_load,
    format_odds,
    get_figure_unit,
    join_alternatives,
    join_names,
    label_figure,
    list_column_names,
    list_counted_names,
    map_column_names,
)
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter, IntervalEstimate, find_readable_unit
from gpudesk.text.messages import format_message, lower_for_sentence, to_sentence
from gpudesk.text.translation import tr, trn

_THROUGHPUT: Final = "output_tokens_per_s"
_RENTED, _OWNED = "rented_usd_per_million_output", "owned_usd_per_million_output"
_CHEAPEST_BY_PAYMENT: Final = {"owned": "Cheapest to own", "rented": "Cheapest to rent"}
#: That one accelerator has more, or less, than another of memory, purchase price and board power.
_CERTAIN: Final = (
    ("{distance} more memory", "{distance} less memory"),
    ("{distance} higher price", "{distance} lower price"),
    ("{distance} more board power", "{distance} less board power"),
)
_PAIR: Final = 2
#: Smaller differences are not worth a sentence.
_CLEAR: Final = 0.05


def describe_comparison(answer: Answer, decision: Decision, formatter: Formatter) -> list[str]:
    """Return the leader by the decision's objective and its rival, what speaks for the rival, and who is left out."""
    return _ComparisonVerdict(answer, decision, formatter).describe()


class _ComparisonVerdict:
    def __init__(self, answer: Answer, decision: Decision, formatter: Formatter) -> None:
        self._answer, self._decision, self._formatter = answer, decision, formatter
        self._names = map_column_names(answer)
        self._candidates = {each.key: each for each in decision.candidates}

    def describe(self) -> list[str]:
        winner, second = self._decision.recommended, self._decision.runner_up
        if winner is None or not self._decision.scope.answered:
            return describe_throughput(self._answer, self._formatter)
        first = self._candidates[winner.key]
        if second is None:
            outsiders = _list_outsiders(self._answer, list_column_names(self._answer), self._formatter)
            return [self._describe_alone(first), *self._list_ruled_out(), *outsiders]
        rival = self._candidates[second]
        by_cost = self._decision.objective.name is ObjectiveName.COST
        is_shared = by_cost and any(each.lots is not None and each.lots.is_shared for each in (first, rival))
        shared = describe_bought_singly(self._answer.scenario.costs) if is_shared else ""
        sentences = (
            self._describe_lead(first, rival),
            *list_undecided(self._decision, (first, rival), self._names),
            describe_doubts(self._decision, (first, rival), self._names, self._formatter, DOUBTS_TO_BUY),
            self._describe_certain(first, rival),
            self._describe_rival(first, rival),
            self._describe_table(),
            *self._list_left_out(),
            to_sentence(shared) if shared else "",
            self._describe_user_speeds(first, rival),
        )
        return [each for each in sentences if each]

    def _describe_alone(self, first: DecisionCandidate) -> str:
        value = "" if first.value is None else format_objective(self._decision, first, self._formatter)
        if len(self._decision.columns) == 1:
            return tr("{name}: {value}.", name=self._name_candidate(first), value=value)
        load = self._answer.scenario.workload.load
        if self._queues_on_others():
            return tr(
                "Only {name} runs all {n} requests at once: {value}.",
                name=self._name_candidate(first),
                n=self._formatter.count(load.concurrency or load.batch),
                value=value,
            )
        if sum(bool(each.removed) for each in self._decision.candidates):
            return tr("Only {name} meets every limit: {value}.", name=self._name_candidate(first), value=value)
        return tr("Only {name} has a figure to compare: {value}.", name=self._name_candidate(first), value=value)

    def _queues_on_others(self) -> bool:
        """Return whether requests queue on all columns but one."""
        load, columns = self._answer.scenario.workload.load, self._answer.columns
        in_flight = load.concurrency or load.batch
        return in_flight is not None and sum(column.queues for column in columns) == len(columns) - 1

    def _list_ruled_out(self) -> Iterator[str]:
        """Yield why the others are ruled out, except by memory or a queue, which `_list_outsiders` states."""
        if self._queues_on_others():
            return
        for reason in list_removed_columns(self._decision, self._names, self._formatter, has_unfit=False):
            yield tr("Ruled out: {reason}.", reason=reason)

    def _describe_lead(self, first: DecisionCandidate, rival: DecisionCandidate) -> str:
        """Return what the contest is about, and the figures of the two ahead in it."""
        decision, formatter = self._decision, self._formatter
        payments = {each.payment for each in decision.candidates if each.eligible}
        contest, compared = decision.objective.name.label, (first, rival)
        if decision.objective.name is ObjectiveName.COST and len(payments) == 1 and first.payment is not None:
            # The contest names how all are paid for, else each figure does.
            contest = tr(_CHEAPEST_BY_PAYMENT[first.payment])
            compared = (replace(first, payment=None), replace(rival, payment=None))
        if decision.utilization is not None and decision.utilization.source == AVERAGE_OVER_PEAK:
            # The average load of a demand would read as a utilization, which is another figure.
            contest = tr("{contest} for this demand", contest=contest)
        elif decision.utilization is not None:
            utilization = describe_utilization(decision.utilization, formatter, brief=True)
            contest = tr("{contest} at {utilization}", contest=contest, utilization=utilization)
        values = {
            "contest": contest,
            "name": self._name_candidate(first),
            "value": format_objective(decision, compared[0], formatter),
            "odds": format_odds(first.odds, formatter),
            "other": self._name_candidate(rival),
            "other_value": format_objective(decision, compared[1], formatter, brief=True),
            "other_odds": format_odds(rival.odds, formatter),
        }
        if decision.tied_by is not None:
            text = "{contest}: too close to call. Preferred: {name} ({value}) over {other} ({other_value})."
            return tr(text, **values)
        return {
            LeadVerdict.LEADS: tr(
                "{contest}: {name} leads with {value} ({odds} odds of being best); {other}: {other_value}.", **values
            ),
            LeadVerdict.LIKELY_LEADS: tr(
                "{contest}: {name} likely leads with {value} ({odds} odds of being best); {other}: {other_value}.",
                **values,
            ),
            LeadVerdict.LEANS: tr(
                "{contest}: leans toward {name} at {value} ({odds} odds of being best); {other}: {other_value}.",
                **values,
            ),
            LeadVerdict.TOO_CLOSE: tr(
                "{contest}: {name} ({value}, {odds} odds) or {other} ({other_value}, {other_odds}), too close to call.",
                **values,
            ),
        }[judge_odds(first.odds)]

    def _describe_certain(self, first: DecisionCandidate, rival: DecisionCandidate) -> str:
        """Return the differences of two that are too close to call in what no estimate affects; empty without any."""
        if judge_odds(first.odds) is not LeadVerdict.TOO_CLOSE:
            return ""
        pairs = zip(self._list_certain(first), self._list_certain(rival), _CERTAIN, strict=True)
        differences = [
            tr(more if ours > theirs else less, distance=format_distance(ours / theirs, self._formatter))
            for ours, theirs, (more, less) in pairs
            if ours and theirs and abs(ours / theirs - 1.0) > _CLEAR
        ]
        if not differences:
            return ""
        name, other = (drop_count(self._names[each.key]) for each in (first, rival))
        text = "Per accelerator, {name} compared with {other}: {differences}."
        return tr(text, name=name, differences=join_names(differences), other=other)

    def _list_certain(self, candidate: DecisionCandidate) -> tuple[float | None, ...]:
        """Return memory, purchase price and board power of one accelerator, as in `_CERTAIN`; None if unknown."""
        place = self._decision.columns.index(candidate.key)
        accelerator, costs = self._answer.columns[place].accelerator, self._answer.costs
        price = None if costs is None else costs.columns[place].inputs["price_usd"].spread
        return accelerator.memory_bytes, None if price is None else price.likely, accelerator.tdp_w

    def _describe_user_speeds(self, first: DecisionCandidate, rival: DecisionCandidate) -> str:
        """Return how fast each user gets output on the two; empty if speed is the objective, or limited by the user."""
        speeds = [format_user_speed(self._decision, each, self._formatter) for each in (first, rival)]
        if None in speeds or self._decision.objective.name is ObjectiveName.TIME:
            return ""
        names = [self._name_candidate(each) for each in (first, rival)]
        text = "Per user: {speed} on {name}, {other_speed} on {other}."
        return tr(text, name=names[0], speed=speeds[0], other=names[1], other_speed=speeds[1])

    def _describe_rival(self, first: DecisionCandidate, rival: DecisionCandidate) -> str:
        """Return the advantages of the rival; empty without any."""
        name = self._name_candidate(rival)
        is_wider = self._has_wider_software(rival) and not self._has_wider_software(first)
        if merit := self._describe_merit(first, rival):
            text = "{name} {merit} and has wider software support." if is_wider else "{name} {merit}."
            return tr(text, name=name, merit=merit)
        return tr("{name} has wider software support.", name=name) if is_wider else ""

    def _describe_merit(self, first: DecisionCandidate, rival: DecisionCandidate) -> str:
        """Return how much faster the rival is, or cheaper to rent if throughput is the objective; empty if not."""
        if not all(map(self._is_as_compared, (first, rival))):
            return ""
        by_throughput = self._decision.objective.name is ObjectiveName.THROUGHPUT
        figure = _RENTED if by_throughput else _THROUGHPUT
        ours, theirs = (self._decision.columns.index(each.key) for each in (first, rival))
        ratio = FigureText(self._answer, figure, self._formatter).compare_columns(theirs, ours)
        if ratio is None:
            return ""
        distance = format_distance(ratio, self._formatter)
        if by_throughput:
            return tr("costs {d} less to rent", d=distance) if ratio < 1.0 - _CLEAR else ""
        return tr("is {d} faster", d=distance) if ratio > 1.0 + _CLEAR else ""

    def _list_left_out(self) -> list[str]:
        """Return which accelerators are not in the contest, and why."""
        first = self._decision.recommended
        needed = {"owned": "price_usd", "rented": "rent_usd_per_hour"}
        by_cost = self._decision.objective.name is ObjectiveName.COST
        payment = self._candidates[first.key].payment if by_cost and first is not None else None
        costs = self._answer.costs
        missing = (
            []
            if costs is None or payment is None
            else [
                name
                for name, column in zip(self._names.values(), costs.columns, strict=True)
                if needed[payment] in column.missing
            ]
        )
        sentences = [*_list_outsiders(self._answer, list_column_names(self._answer), self._formatter)]
        if missing:
            names = join_names(missing)
            no_price = tr("No purchase price: {names}.", names=names)
            no_rent = tr("No rental price: {names}.", names=names)
            sentences.insert(0, no_price if payment == "owned" else no_rent)
        return sentences

    def _describe_table(self) -> str:
        """Return the counts of the table for those that the verdict and its odds are about with other counts."""
        eligible = (each for each in self._decision.candidates if each.eligible)
        counts = list_counted_names(self._answer, eligible, self._formatter)
        text = "Odds here compare the best count of each. The table shows {deployments}."
        return tr(text, deployments=join_names(counts)) if counts else ""

    def _is_as_compared(self, candidate: DecisionCandidate) -> bool:
        """Whether the decision is about the deployment shown in the column."""
        estimate = self._answer.columns[self._decision.columns.index(candidate.key)].estimate
        return estimate is not None and (estimate.count, estimate.plan) == (candidate.count, candidate.plan)

    def _name_candidate(self, candidate: DecisionCandidate) -> str:
        name = self._names[candidate.key]
        if candidate.count is None or self._is_as_compared(candidate):
            return name
        return tr("{n} × {name}", n=self._formatter.count(candidate.count), name=drop_count(name))

    def _has_wider_software(self, candidate: DecisionCandidate) -> bool:
        return self._decision.parts[self._decision.columns.index(candidate.key)].get("widest_software") is True


def describe_throughput(answer: Answer, formatter: Formatter) -> list[str]:
    """Return who has the highest throughput and its limiter; then the columns not compared."""
    names = list_column_names(answer)
    ranked = rank_figures(answer, _THROUGHPUT)
    if not ranked:
        outsiders = list(_list_outsiders(answer, names, formatter))
        return outsiders or [tr("Throughput at this load is unknown.")]
    sentences = [describe_figure_lead(answer, _THROUGHPUT, formatter)]
    limiters = {place: format_limiter(each) for place in ranked if (each := answer.columns[place].estimate) is not None}
    best = find_best(ranked, _THROUGHPUT)
    if len(limiters) > 1 and len(set(limiters.values())) == 1:
        sentences.append(tr("All are limited by {limiter}.", limiter=limiters[best]))
    elif best in limiters:
        sentences.append(tr("{name} is limited by {limiter}.", name=names[best], limiter=limiters[best]))
    return [*sentences, *_list_outsiders(answer, names, formatter)]


def describe_figure_lead(answer: Answer, figure: str, formatter: Formatter) -> str:
    """Return the leader in a figure with its odds of being the best of all compared, and the distance of the next."""
    names, ranked = list_column_names(answer), rank_figures(answer, figure)
    if not ranked:
        return tr("{figure}: unknown at this load.", figure=label_figure(figure))
    best, text = find_best(ranked, figure), FigureText(answer, figure, formatter)
    values = {
        "figure": label_figure(figure),
        "name": names[best],
        "value": f"{text.format(ranked[best].value)} {text.unit}",
    }
    place, odds = find_rival(answer, figure), compute_win_odds(answer, figure)
    if place is None:
        return tr("{figure}: {name}, {value}.", **values)
    values |= {
        "other": names[place],
        "other_value": f"{text.format(ranked[place].value)} {text.unit}",
        "odds": format_odds(odds[best], formatter),
        "other_odds": format_odds(odds[place], formatter),
        "distance": describe_distance(text.compare_columns(best, place) or 1.0, formatter),
    }
    return {
        LeadVerdict.LEADS: tr(
            "{figure}: {name} leads with {value} ({odds} odds of being best), {distance} than {other}.", **values
        ),
        LeadVerdict.LIKELY_LEADS: tr(
            "{figure}: {name} likely leads with {value} ({odds} odds of being best), {distance} than {other}.", **values
        ),
        LeadVerdict.LEANS: tr(
            "{figure}: leans toward {name} at {value} ({odds} odds of being best), {distance} than {other}.", **values
        ),
        LeadVerdict.TOO_CLOSE: tr(
            "{figure}: {name} ({value}, {odds} odds) or {other} ({other_value}, {other_odds}), too close to call.",
            **values,
        ),
    }[judge_odds(odds[best])]


def _list_enough(answer: Answer, names: Sequence[str], formatter: Formatter) -> list[str]:
    """Return how many of each accelerator carry the load without a queue, where that is known."""
    return [
        f"{formatter.count(column.enough)} × {name}"
        for name, column in zip(names, answer.columns, strict=True)
        if column.enough is not None
    ]


def _list_late(answer: Answer, names: Sequence[str], formatter: Formatter) -> list[str]:
    """Return the deployments that miss the latency limits of the load even with one request."""
    return [
        f"{formatter.count(column.estimate.count)} × {name}"
        for name, column in zip(names, answer.columns, strict=True)
        if column.estimate is not None
        and column.estimate.fits
        and column.estimate.output_tokens_per_s is None
        and answer.scenario.workload.load.kind is LoadKind.LIMITS
    ]


def _list_outsiders(answer: Answer, names: Sequence[str], formatter: Formatter) -> Iterator[str]:
    """Yield the accelerators whose requests queue, those that hold not even one, and those that miss limits."""
    deployed: dict[bool, list[str]] = {True: [], False: []}
    for name, column in zip(names, answer.columns, strict=True):
        count = None if column.estimate is None else column.estimate.count
        deployed[column.queues].append(name if count is None else f"{formatter.count(count)} × {name}")
    queueing, others = deployed[True], deployed[False]
    if len(queueing) > 1 and len(others) == 1:
        yield tr("Requests queue on all except {name}.", name=others[0])
    elif queueing:
        yield tr("Requests queue on {names}.", names=join_names(queueing))
    if queueing and not others and (enough := _list_enough(answer, names, formatter)):
        yield tr("Enough for this load: {deployments}.", deployments=join_alternatives(enough))
    short = [
        (name, column.estimate)
        for name, column in zip(names, answer.columns, strict=True)
        if column.estimate is not None and not column.estimate.fits
    ]
    needed = [f"{formatter.count(each.needs)} × {name}" for name, each in short if each.needs is not None]
    if len(needed) > 1:
        yield tr("The model needs at least {deployments}.", deployments=join_alternatives(needed))
    for name, each in short:
        if each.needs is None or len(needed) == 1:
            yield f"{_describe_short_deployment(name, each.count, each.needs, formatter)}."
    if late := _list_late(answer, names, formatter):
        yield tr("Latency limits missed by {deployments}.", deployments=join_names(late))


def _describe_short_deployment(name: str, count: int, needs: int | None, formatter: Formatter) -> str:
    """Return that a model does not fit on this many accelerators, and the count that would."""
    values = {"name": name, "n": formatter.count(count), "needs": formatter.count(needs)}
    if needs is None:
        return tr("{name}: the model does not fit at any count", **values)
    return tr("{name}: the model needs {needs} accelerators, not {n}", **values)


#: How many columns hold a number of requests in flight -> the sentence about them.
_FITS: Final = {
    "none": "No accelerator holds {load} in memory.",
    "one": "{names} holds {load} in memory and has room for {n}.",
    "some": "{names} hold {load} in memory; {best} has room for the most, {n}.",
    "both": "Both accelerators hold {load} in memory; {best} has room for the most, {n}.",
    "all": "All {all} accelerators hold {load} in memory; {best} has room for the most, {n}.",
}
#: The same for loads that do not determine the number of requests in flight.
_HANDLES: Final = {
    "none": "No accelerator handles this load ({load}).",
    "one": "{names} handles this load ({load}) and has room for {requests}.",
    "some": "{names} handle this load ({load}); {best} has room for the most requests, {n}.",
    "both": "Both accelerators handle this load ({load}); {best} has room for the most requests, {n}.",
    "all": "All {all} accelerators handle this load ({load}); {best} has room for the most requests, {n}.",
}


def describe_fit(answer: Answer, formatter: Formatter) -> list[str]:
    """Return who holds the load, who has the most headroom, where requests queue and what does not fit."""
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
        everyone = "both" if len(names) == _PAIR else "all"
        of = "one" if len(holding) == 1 else everyone if len(holding) == len(names) else "some"
        sentences.append(tr(_FITS[of] if in_flight is not None else _HANDLES[of], **values))
    elif any(column.estimate is not None for column in answer.columns):
        sentences.append(tr((_HANDLES if in_flight is None else _FITS)["none"], **values))
    return [*sentences, *_list_outsiders(answer, names, formatter), *_list_usual_limits(answer, formatter)]


def _list_usual_limits(answer: Answer, formatter: Formatter) -> Iterator[str]:
    """Yield why requests queue although all memory would hold them."""
    for name, column in zip(list_column_names(answer), answer.columns, strict=True):
        estimate = column.estimate
        note = None if estimate is None else find_usual_limit(estimate)
        if estimate is not None and note is not None and estimate.max_concurrency >= (estimate.concurrency or 0):
            yield f"{name}: {format_message(note, formatter)}."


def describe_token_cost(answer: Answer, formatter: Formatter) -> list[str]:
    """Return the cheapest token cost to own and to rent, with odds, and omitted columns; the cheaper way first.

    The answer includes its costs.
    """
    ranked = {figure: ranking for figure in (_RENTED, _OWNED) if (ranking := rank_figures(answer, figure))}
    if answer.costs is None or not ranked:
        reasons = {describe_missing_value(answer, _RENTED, place, formatter)[0] for place in range(len(answer.columns))}
        return [to_sentence(tr("Cost per token unknown: {reasons}", reasons="; ".join(sorted(reasons))))]
    cheapest = {figure: find_best(ranking, figure) for figure, ranking in ranked.items()}
    order = sorted(ranked, key=lambda figure: ranked[figure][cheapest[figure]].value)
    sentences = [_describe_cheapest(answer, figure, figure == order[0], formatter) for figure in order]
    if (api := answer.costs.api) is not None:
        amount = FigureText(answer, order[0], formatter).format_money(api.value)
        least = ranked[order[0]][cheapest[order[0]]].value
        is_less = tr("A hosted API costs less: {amount}.", amount=amount)
        sentences.append(is_less if api.value < least else tr("A hosted API costs {amount}.", amount=amount))
    return [*sentences, *_list_outsiders(answer, list_column_names(answer), formatter)]


#: Figure -> the sentence for a single price, for a tie, and by the confidence of a lead.
_CHEAPEST: Final = {
    _OWNED: {
        None: "When owned, {name} costs {value}.",
        LeadVerdict.TOO_CLOSE: "When owned, {name} ({value}) and {other} ({other_value}) are too close to call.",
        LeadVerdict.LEANS: "When owned: leans toward {name}, {value} ({odds} odds of being the cheapest).",
        LeadVerdict.LIKELY_LEADS: "When owned, {name} likely leads: {value} ({odds} odds of being the cheapest).",
        LeadVerdict.LEADS: "When owned, {name} leads: {value} ({odds} odds of being the cheapest).",
    },
    _RENTED: {
        None: "When rented, {name} costs {value}.",
        LeadVerdict.TOO_CLOSE: "When rented, {name} ({value}) and {other} ({other_value}) are too close to call.",
        LeadVerdict.LEANS: "When rented: leans toward {name}, {value} ({odds} odds of being the cheapest).",
        LeadVerdict.LIKELY_LEADS: "When rented, {name} likely leads: {value} ({odds} odds of being the cheapest).",
        LeadVerdict.LEADS: "When rented, {name} leads: {value} ({odds} odds of being the cheapest).",
    },
}
#: Figure -> the sentence for a tie of more than two.
_SEVERAL_CHEAPEST: Final = {
    _OWNED: "When owned, {n} are too close to call: {amounts}.",
    _RENTED: "When rented, {n} are too close to call: {amounts}.",
}


def _describe_cheapest(answer: Answer, figure: str, names_unit: bool, formatter: Formatter) -> str:
    ranked, odds = rank_figures(answer, figure), compute_win_odds(answer, figure)
    names, text, best = list_column_names(answer), FigureText(answer, figure, formatter), find_best(ranked, figure)
    rents = list_unlike_rents(answer, figure)
    prices = {place: add_provider_kind(text.format_money(ranked[place].value), rents[place]) for place in ranked}
    if names_unit and answer.costs is not None:
        utilization = describe_utilization(answer.costs.utilisation, formatter, brief=True)
        prices[best] = tr("{amount} per million output tokens", amount=prices[best])
        if utilization:
            prices[best] = tr("{amount} at {utilization}", amount=prices[best], utilization=utilization)
    values = {"name": names[best], "value": prices[best]}
    if len(tied := find_leaders(answer, figure)) > 2:
        by_price = sorted(tied, key=lambda place: (place != best, ranked[place].value))
        amounts = join_names([f"{names[place]} ({prices[place]})" for place in by_price])
        return tr(_SEVERAL_CHEAPEST[figure], n=formatter.count(len(tied)), amounts=amounts)
    if not odds:
        return tr(_CHEAPEST[figure][None], **values)
    rival = max((place for place in odds if place != best), key=lambda place: odds[place])
    values |= {"odds": format_odds(odds[best], formatter), "other": names[rival], "other_value": prices[rival]}
    return tr(_CHEAPEST[figure][judge_odds(odds[best])], **values)


def describe_cost_terms(answer: Answer, formatter: Formatter) -> str:
    """Return the terms that a verdict on costs leaves out: of the rent, of servers, and partly used systems."""
    costs, settings = answer.costs, answer.scenario.costs
    if costs is None:
        return ""
    terms = (
        describe_rent_terms(settings.rent_term, costs),
        describe_server_share(costs.columns, formatter),
        describe_bought_singly(settings),
    )
    names = map_column_names(answer)
    lines = ("; ".join(filter(None, terms)), *list_partly_used(costs.columns, names, formatter))
    return " ".join(to_sentence(each) for each in lines if each)


def describe_price_doubts(answer: Answer, formatter: Formatter) -> str:
    """Return what makes the prices behind the costs of an answer hard to compare."""
    costs = answer.costs
    if costs is None:
        return ""
    names = map_column_names(answer)
    money = MoneyFormatter(formatter, answer.scenario.costs.currency)
    prices = describe_other_prices(costs.columns, names, money)
    rents = list_rent_class_remarks(costs, names) or list_same_provider_rents(costs, names)
    return " ".join(to_sentence(each) for each in (prices, *rents) if each)


def describe_payback(answer: Answer, formatter: Formatter) -> list[str]:
    """Return the payback periods at full utilization, the shortest first."""
    costs = answer.costs
    points = [] if costs is None else [each for each in costs.break_evens if each.name == "months_to_own"]
    if costs is None or not points:
        return [tr("Payback period unknown: enter purchase and rental prices.")]
    names = map_column_names(answer)
    known_points = sorted((each.value, names[each.key]) for each in points if each.value is not None)
    sentences = []
    if known_points:
        months = [
            trn("{n} month ({name})", "{n} months ({name})", value, n=formatter.estimate(value), name=name)
            for value, name in known_points
        ]
        sentences.append(tr("Buying pays back after {months} of 24/7 use.", months=join_names(months)))
        shares = [each.value for each in costs.break_evens if each.name == "utilisation_to_own" and each.value]
        if shares:
            low, high = formatter.number(min(shares) * 100), formatter.per_cent(max(shares))
            share = high if high.startswith(low) else f"{low}–{high}"
            sentences.append(tr("Below {share} utilization, renting by the hour is cheaper.", share=share))
    if never := [names[each.key] for each in points if each.value is None]:
        text = "Within the service life, buying does not pay back for {names}."
        sentences.append(tr(text, names=join_names(never)))
    return sentences


@frozen_dataclass
class ImpactText:
    """One sentence without a full stop, and lines with details."""

    sentence: str
    lines: tuple[str, ...] = ()


def describe_impact(impact: AnswerImpact, formatter: Formatter) -> ImpactText:
    """Return the effects of a change: first accelerators that no longer fit, then leaders, then figures."""
    if impact.unchanged:
        return ImpactText(tr("Result unchanged"))
    view = _ImpactTextBuilder(impact, formatter)
    fits = [line for column in impact.columns if (line := view.fit(column))]
    leads = [line for lead in impact.leads if (line := view.lead(lead))]
    figures = [line for column in impact.columns for line in view.figures(column)]
    if figures and not fits and not leads and view.is_open("output_tokens_per_s"):
        figures[0] = tr("{change}; still too close to call", change=figures[0])
    sentences = [*fits, *leads, *figures] or [view.rest()]
    return ImpactText(sentences[0], tuple(sentences[1:]))


class _ImpactTextBuilder:
    """The texts of one impact."""

    def __init__(self, impact: AnswerImpact, formatter: Formatter) -> None:
        self._impact = impact
        self._formatter = formatter
        self._names = map_column_names(impact.after)
        self._changed = {column.key: {each.figure for each in column.figures} for column in impact.columns}

    def fit(self, column: ColumnChange) -> str:
        name, after, before = self._names[column.key], column.after, column.before
        if after is None:
            return tr("{name} no longer has an estimate", name=name)
        count = self._formatter.count(after.count)
        if column.fitted and not column.fits:
            if after.needs is None:
                return tr("{name}: the model no longer fits on {n}", name=name, n=count)
            needs = self._formatter.count(after.needs)
            return tr("{name}: the model no longer fits on {n}, needs {needs}", name=name, n=count, needs=needs)
        if column.fits and not column.fitted:
            return tr("{name}: the model now fits on {n}", name=name, n=count)
        if before is not None and before.count != after.count:
            was = self._formatter.count(before.count)
            return tr("{name} now needs {n} (was {was})", name=name, n=count, was=was)
        return ""

    def lead(self, lead: LeaderChange) -> str:
        """Return the new leader of a figure, or that there is none; empty if unchanged."""
        label = _join_in_sentence(lead.figure)
        if len(lead.after) == 1:
            if not lead.moved and not self._touched(lead.figure):
                return ""
            return self._describe_new_lead(lead, label)
        if not lead.moved:
            return ""
        if lead.figure == MAX_CONCURRENCY.key:
            tied = join_names([self._names[key] for key in lead.after])
            return tr("{names} now have equal max concurrency", names=tied) if lead.after else ""
        if len(lead.before) == 1:
            return tr("Now too close to call in {figure}", figure=label)
        if len(lead.before) > 1 and lead.after:
            return self._group(lead, label)
        names = join_names([self._names[key] for key in lead.after])
        return tr("Too close to call in {figure}: {names}", figure=label, names=names) if names else ""

    def _group(self, lead: LeaderChange, label: str) -> str:
        """Return which columns joined or left a tie."""
        former_leaders = join_names([self._names[key] for key in lead.before if key not in lead.after])
        joined = join_names([self._names[key] for key in lead.after if key not in lead.before])
        if former_leaders and joined:
            return tr(
                "{joined} now among the best in {figure}, replacing {left}",
                joined=joined,
                left=former_leaders,
                figure=label,
            )
        if former_leaders:
            return tr("{names} no longer among the best in {figure}", names=former_leaders, figure=label)
        return tr("{names} now among the best in {figure}", names=joined, figure=label)

    def _describe_new_lead(self, lead: LeaderChange, label: str) -> str:
        (winner,) = lead.after
        name = self._names[winner]
        after, runner = self._compute_lead_over_next(self._impact.after, lead.figure, winner)
        if runner is None or after is None:
            return tr("{name} now leads in {figure}", name=name, figure=label)
        other = self._names[runner]
        now = self._format_distance(after)
        if not lead.moved:
            before, former = self._compute_lead_over_next(self._impact.before, lead.figure, winner)
            was = None if before is None or former != runner else self._format_distance(before)
            if was == now:
                return ""
            if was is not None:
                return tr(
                    "{name} now {distance} ahead of {other} in {figure} (was {was})",
                    name=name,
                    distance=now,
                    other=other,
                    figure=label,
                    was=was,
                )
        odds = self._impact.after.odds.get((lead.figure, winner, runner))
        values = {"name": name, "distance": now, "other": other, "figure": label}
        if odds is None:
            return tr("{name} now {distance} ahead of {other} in {figure}", **values)
        return tr(
            "{name} now {distance} ahead of {other} in {figure} ({odds} odds)",
            odds=format_odds(odds, self._formatter),
            **values,
        )

    def _compute_lead_over_next(self, answer: Answer, figure: str, winner: str) -> tuple[float | None, str | None]:
        """Return the ratio of the winner to the next ranked column, and that column."""
        values = {
            key: value
            for position, (key, column) in enumerate(zip(answer.keys, answer.columns, strict=True))
            if position not in answer.unranked and (value := _get_impact_value(getattr(column.estimate, figure, None)))
        }
        sign = 1 if figure == MAX_CONCURRENCY.key or FIGURES[figure].more_is_better else -1
        rest = sorted((key for key in values if key != winner), key=lambda key: -sign * values[key])
        if winner not in values or not rest:
            return None, None
        difference = find_difference(answer, figure, rest[0], winner)
        back = find_difference(answer, figure, winner, rest[0])
        ratio = values[winner] / values[rest[0]]
        if difference is not None:
            ratio = difference.ratio.value
        elif back is not None:
            ratio = 1 / back.ratio.value
        return ratio, rest[0]

    def is_open(self, figure: str) -> bool:
        return any(lead.figure == figure and len(lead.after) > 1 and not lead.moved for lead in self._impact.leads)

    def _format_distance(self, ratio: float) -> str:
        share = abs(ratio - 1)
        return tr("less than 1%") if share < 0.005 else self._formatter.per_cent(share)

    def figures(self, column: ColumnChange) -> list[str]:
        if column.after is None or not column.fits:
            return []
        lines = [
            line
            for each in column.figures
            if each.figure in list_headline_figures() and (line := self._describe_figure_change(column.key, each))
        ]
        was, now = (0 if each is None else each.max_concurrency for each in (column.before, column.after))
        if was != now and column.fitted:
            numbers = {"was": self._formatter.count(was), "now": self._formatter.count(now)}
            name = self._names[column.key]
            lines.append(tr("{name}: max concurrency {was} → {now}", name=name, **numbers))
        return lines

    def _describe_figure_change(self, key: str, change: FigureChange) -> str:
        """Return a figure before and after; empty if both look equal."""
        formatter = self._formatter
        largest = max((each.value for each in (change.before, change.after) if each is not None), default=0.0)
        factor, unit = find_readable_unit(largest, get_figure_unit(change.figure))
        was, now = (
            MISSING_VALUE_TEXT if each is None else formatter.estimate(each.value / factor)
            for each in (change.before, change.after)
        )
        if was == now or (change.ratio is not None and round(change.ratio * 100) == 100):
            return ""
        line = f"{self._names[key]}: {_join_in_sentence(change.figure)} {was} → {now} {unit or ''}".rstrip()
        return line if change.ratio is None else f"{line} ({formatter.difference(change.ratio)})"

    def rest(self) -> str:
        names = join_names([self._names[column.key] for column in self._impact.columns])
        return tr("{names}: throughput and latency change by less than 0.5%", names=names)

    def _touched(self, figure: str) -> bool:
        if figure == MAX_CONCURRENCY.key:
            return any(
                column.before is not None
                and column.after is not None
                and column.before.max_concurrency != column.after.max_concurrency
                for column in self._impact.columns
            )
        return any(figure in figures for figures in self._changed.values())


def _join_in_sentence(figure: str) -> str:
    return lower_for_sentence(label_figure(figure))


def _get_impact_value(figure: IntervalEstimate | int | None) -> float:
    return 0.0 if figure is None else float(figure.value if isinstance(figure, IntervalEstimate) else figure)
