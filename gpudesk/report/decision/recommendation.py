"""The recommendation in words: verdict with reasons, delivered figures, what would change it, and its rules."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Final

from gpudesk.domain.cost import CostAnswer, CostColumn
from gpudesk.domain.decision import (
    COUNTED_WHOLE,
    NO_LIMIT_ANSWER,
    QUESTIONS,
    SYSTEMS_COUNTED,
    UNDECIDED_ANSWER,
    UNKNOWN_ANSWER,
    AnswerOrigin,
    AnswerValue,
    Decision,
    DecisionCandidate,
    DecisionFlip,
    DecisionVerdict,
    MediaFit,
    ObjectiveName,
    PilotMeasurement,
    RuleEffect,
    TraceCell,
    TraceLine,
)
from gpudesk.report.comparison.estimate_rows import make_interval_cell
from gpudesk.report.comparison.tables import (
    CellMarking,
    ComparisonCell,
    ComparisonGroup,
    ComparisonHead,
    ComparisonRow,
    ComparisonSheet,
    ComparisonTable,
    SheetCandidate,
    SheetRecommendation,
    SheetRemark,
    SheetTraceRow,
)
from gpudesk.report.costs import (
    MoneyFormatter,
    describe_cheapest_rents,
    describe_old_prices,
    describe_systems,
    describe_utilization,
    describe_whole_instances,
    format_input_amount,
    get_input_unit,
    label_cost_input,
    list_rent_class_remarks,
)
from gpudesk.report.decision.facts import format_answer, format_fact, format_fact_figure, get_fact_unit, label_fact
from gpudesk.report.decision.no_recommendation import describe_way_out
from gpudesk.report.decision.rules import (
    PER_MILLION,
    NamesByKey,
    describe_exclusion,
    describe_reason,
    describe_rule_answers,
    describe_unfit,
    find_candidate,
    get_effect_mark,
    label_rule_source,
)
from gpudesk.report.decision.verdict import (
    describe_cheaper_api,
    describe_missing_value,
    describe_other_payment,
    describe_verdict_reason,
    describe_verdict_terms,
    find_leading_column,
    format_objective,
    format_verdict,
    label_arguments,
    list_open_limits,
)
from gpudesk.report.labels import (
    drop_count,
    format_degrees,
    format_months,
    format_odds,
    join_alternatives,
    join_names,
    label_figure,
    label_price_word,
)
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter, IntervalEstimate
from gpudesk.text.messages import capitalize_first, format_message, lower_for_sentence
from gpudesk.text.translation import tr, translate_data, trn

#: Facts of a column that a recommendation names, if known.
_DELIVERED: Final = (
    "tokens_per_s",
    "ttft_ms",
    "tpot_ms",
    "max_concurrency",
    "owned_usd_per_million",
    "rented_usd_per_million",
    "rent_usd_h",
    "spend_usd",
)
#: The way to pay -> facts of the other way, which are left out.
_OF_OTHER_WAY: Final = {"own": ("rented_usd_per_million", "rent_usd_h"), "rent": ("owned_usd_per_million", "spend_usd")}
#: Maximum number of changes on a sheet, the nearest first.
_MOST_FLIPS: Final = 6
#: Shorter durations are in minutes, longer ones in hours.
_MINUTES_FROM: Final = 90.0


def format_recommended_deployment(decision: Decision, formatter: Formatter) -> str | None:
    """Return the deployment of the leading column; None without one."""
    candidate = decision.recommended
    if candidate is None:
        return None
    count = trn("{n} accelerator", "{n} accelerators", candidate.count, n=formatter.count(candidate.count))
    degrees = format_degrees(candidate.plan, formatter)
    deployed = tr("{count}, {plan}", count=count, plan=degrees) if degrees else count
    spares = decision.facts.get("spare_replicas")
    # Counts that the user set instead of the one for the demand have none.
    if not isinstance(spares, float) or spares == 0 or candidate.key in decision.set_counts:
        return deployed
    return trn(
        "{deployed}; {n} replica is a spare", "{deployed}; {n} replicas are spares",
        round(spares), n=formatter.count(round(spares)), deployed=deployed,
    )  # fmt: skip


def list_delivered_figures(decision: Decision, key: str, formatter: Formatter) -> tuple[tuple[str, str], ...]:
    """Return the performance and cost of a column: each a label and a figure with its interval and unit."""
    facts = decision.parts[decision.columns.index(key)]
    left_out = _OF_OTHER_WAY.get(str(decision.facts.get("acquisition")), ())
    fact_names = [name for name in _DELIVERED if facts.get(name) is not None and name not in left_out]
    return tuple((label_fact(name), format_fact(name, facts[name], formatter)) for name in fact_names)


#: Share of memory that fixed sizes may take.
_USABLE: Final = 0.9
#: Work out of scope -> facts of the memory that it needs; the model's own is known for the rest.
_TUNING: Final[Mapping[str, tuple[str, ...]]] = {
    "fine_tuning": ("full_tuning_gb", "lora_gb", "qlora_gb"),
    "training": ("full_tuning_gb",),
}


def _describe_media_fit(fit: MediaFit, names: Mapping[str, str], formatter: Formatter) -> str:
    """Return how many models an accelerator holds, and the names of those that it holds or of the others."""
    name, total = drop_count(names[fit.key]), len(fit.held) + len(fit.too_large)
    values = {"name": name, "n": formatter.count(len(fit.held)), "total": formatter.count(total)}
    if not fit.too_large:
        return tr("{name}: all {total} image and video models fit", **values)
    fitting, too_large = join_names(list(fit.held)), join_names(list(fit.too_large))
    if len(fit.held) < len(fit.too_large):
        return tr("{name}: {n} of {total} image and video models fit: {models}", models=fitting, **values)
    return tr("{name}: {n} of {total} image and video models fit; not {models}", models=too_large, **values)


def list_memory_fits(decision: Decision, names: Mapping[str, str], formatter: Formatter) -> list[str]:
    """Return what is known of memory where figures of text serving do not apply: how many accelerators hold the work.

    For images and video it is which models one accelerator holds; the model of the scenario is another.
    """
    if decision.media_fits:
        assumed = tr("Assumed: one accelerator, BF16 weights, default sizes of each model")
        return [*(_describe_media_fit(each, names, formatter) for each in decision.media_fits), assumed]
    weights = next((each for part in decision.parts if (each := part.get("alone_weights_gb")) is not None), None)
    work = str(decision.answers["work"].value)
    needs = [(label_fact(name), decision.facts.get(name)) for name in _TUNING.get(work, ())]
    if work not in _TUNING:
        needs = [(tr("Weights"), weights)]
    lines = []
    for label, size in needs:
        if not isinstance(size, float):
            continue
        holding = (
            tr("{n} × {name}", n=formatter.count(math.ceil(size / (_USABLE * memory))), name=drop_count(names[key]))
            for key, part in zip(decision.columns, decision.parts, strict=True)
            if isinstance(memory := part["memory_gb"], float)
        )
        values = {"label": label, "size": format_fact("lora_gb", size, formatter), "deployments": ", ".join(holding)}
        lines.append(tr("{label}: {size}; fits on {deployments}", **values))
    if lines and work in _TUNING:
        text = "Assumed: Adam in mixed precision, adapters of 1% of the parameters, 10% of memory for activations"
        lines.append(tr(text))
    return lines


def list_candidate_lines(decision: Decision, names: NamesByKey, formatter: Formatter) -> tuple[SheetCandidate, ...]:
    """Return the candidates with a figure and odds, the best first.

    Empty for work out of scope, and for the only candidate, which has no odds and is in the verdict.
    """
    scored = [each for each in decision.candidates if each.eligible and decision.scope.answered]
    if len(scored) == 1:
        return ()
    return tuple(
        SheetCandidate(
            each.key,
            tr("{n} × {name}", n=formatter.count(each.count or 0), name=drop_count(names[each.key])),
            format_objective(decision, each, formatter, brief=True),
            _format_full_value(decision, each, formatter),
            each.odds,
            format_odds(each.odds, formatter),
        )
        for each in sorted(scored, key=lambda each: (-round(each.odds, 2), -each.merit))
    )


def _format_full_value(decision: Decision, candidate: DecisionCandidate, formatter: Formatter) -> str:
    value = format_objective(decision, candidate, formatter, brief=True)
    if not candidate.open_rules:
        return value
    return tr("{value}, undecided: {limits}", value=value, limits=list_open_limits(decision, candidate))


def list_unpriced_candidates(decision: Decision) -> tuple[DecisionCandidate, ...]:
    """Return the candidates without a price that no rule removes; empty for the recommended one."""
    if not decision.scope.answered:
        return ()
    lead = find_leading_column(decision)
    return tuple(
        each for each in decision.candidates if each.missing is not None and not each.removed and each.key != lead
    )


HeadNames = Mapping[str, str]

_MARKS: Final = {RuleEffect.FAVORS: CellMarking.BEST, RuleEffect.REMOVES: CellMarking.FAILS}


def build_recommendation(
    decision: Decision,
    flips: Sequence[DecisionFlip],
    heads: Sequence[ComparisonHead],
    formatter: Formatter,
    costs: CostAnswer | None = None,
) -> SheetRecommendation:
    """Return the verdict with further texts; `heads` are those of the columns in order."""
    by_key = dict(zip(decision.columns, heads, strict=True))
    names = {key: head.name for key, head in by_key.items()}
    texts = (describe(decision, names, formatter) for describe in (describe_verdict_reason, describe_verdict_terms))
    key = find_leading_column(decision)
    return SheetRecommendation(
        verdict=format_verdict(decision, names, formatter),
        reason=" ".join(filter(None, texts)),
        candidates=tuple(
            replace(each, value=each.full_value, slot=by_key[each.key].slot)
            for each in list_candidate_lines(decision, names, formatter)
        ),
        lines=list_recommendation_lines(decision, flips, names, formatter, costs),
        slot=None if key is None else by_key[key].slot,
        is_variant=key is not None and by_key[key].is_variant,
    )


def list_recommendation_lines(
    decision: Decision,
    flips: Sequence[DecisionFlip],
    names: HeadNames,
    formatter: Formatter,
    costs: CostAnswer | None = None,
) -> tuple[SheetRemark, ...]:
    """Return, by subject, the delivered figures, arguments, changes that would alter it, actions, and assumptions.

    The lines have no full stop.
    """
    unpriced = list_unpriced_candidates(decision)
    pilot = () if decision.pilot is None else (describe_pilot(decision.pilot, names, formatter),)
    label_for, label_against = label_arguments(decision, names)
    memory = () if decision.scope.answered else list_memory_fits(decision, names, formatter)
    other_payment = filter(None, (describe_other_payment(decision, names, formatter),))
    grouped: tuple[tuple[str, Iterable[str]], ...] = (
        (tr("Memory"), memory),
        (tr("Key figures"), _list_delivered_lines(decision, formatter)),
        (label_for, (describe_reason(each, names, formatter) for each in decision.reasons)),
        (label_against, list_arguments_against(decision, names, formatter, costs)),
        (tr("Alternatives"), (": ".join(describe_way_out(each, formatter)) for each in decision.ways_out)),
        (tr("Rental price"), () if costs is None else list_rent_remarks(decision, costs, names, formatter)),
        (tr("Missing figures"), (describe_missing_value(each, names, formatter) for each in unpriced)),
        (tr("Tipping points"), (*other_payment, *_list_flips(flips, decision, names, formatter))),
        (tr("Ruled out"), list_removed_columns(decision, names, formatter)),
        (tr("Measure next"), pilot),
        (tr("Next steps"), dict.fromkeys(translate_data(each.text) for each in decision.advice)),
        (tr("Assumptions"), list_decision_assumptions(decision, names, formatter, costs)),
        (tr("Your answers"), _list_user_answers(decision, formatter)),
    )
    return tuple(SheetRemark(subject, line.rstrip(".")) for subject, lines in grouped for line in lines)


def list_arguments_against(
    decision: Decision, names: HeadNames, formatter: Formatter, costs: CostAnswer | None = None
) -> Iterator[str]:
    """Yield the arguments against the recommendation, its unknown price, and a hosted API with cheaper tokens."""
    for each in decision.against:
        yield describe_reason(each, names, formatter)
    first = decision.recommended
    if first is not None and costs is not None and decision.objective.name is not ObjectiveName.COST:
        yield from _list_unknown_price(decision, first.key, costs, names, formatter)
    if (hosted := describe_cheaper_api(decision, formatter)) is not None:
        yield hosted


def _list_unknown_price(
    decision: Decision, key: str, costs: CostAnswer, names: HeadNames, formatter: Formatter
) -> Iterator[str]:
    """Yield that the recommended accelerator has no purchase price, and which other candidate is cheapest to own."""
    missing = {column.key: column.missing for column in costs.columns}
    if decision.facts.get("acquisition") == "rent" or "price_usd" not in missing[key]:
        return
    owned = {column.key: column.owned.output.value for column in costs.columns if column.owned is not None}
    eligible = [each.key for each in decision.candidates if each.eligible and each.key in owned]
    if not eligible:
        yield tr("Purchase price unknown")
        return
    other = min(eligible, key=lambda each: owned[each])
    yield tr(
        "Purchase price unknown; {name} costs ${cost} per million output tokens, owned",
        name=names[other],
        cost=formatter.small_amount(owned[other]),
    )


def list_rent_remarks(decision: Decision, costs: CostAnswer, names: HeadNames, formatter: Formatter) -> Iterator[str]:
    """Yield the cheapest provider of the recommended accelerator, and differences between rents."""
    key = find_leading_column(decision)
    if key is None or decision.facts.get("acquisition") == "own":
        return
    eligible = {each.key for each in decision.candidates if each.eligible}
    columns = tuple(column for column in costs.columns if column.key in eligible)
    for column in columns:
        if column.key == key and column.provider_rents:
            yield describe_cheapest_rents(column.provider_rents, names[key], MoneyFormatter(formatter))
        if instances := describe_whole_instances(column, names[column.key], formatter):
            yield instances
    accelerators = {column.accelerator for column in columns}
    shared = tuple(each for each in costs.same_provider if {each.accelerator, each.against} <= accelerators)
    eligible_costs = replace(costs, columns=columns, same_provider=shared)
    yield from list_rent_class_remarks(eligible_costs, names)
    yield from _list_reversals(eligible_costs, key, names)


def _list_reversals(costs: CostAnswer, key: str, names: HeadNames) -> Iterator[str]:
    """Yield accelerators whose lower token cost is due to another kind of provider, if one provider rents both.

    `key` is the recommended column.
    """
    columns = {column.key: column for column in costs.columns if column.rented is not None and column.rent_usd_per_hour}
    ratios: dict[str, dict[str, float]] = {}
    for each in costs.same_provider:
        ratios.setdefault(each.provider, {each.against: 1.0})[each.accelerator] = each.ratio
    leader, classes = columns.get(key), costs.rent_classes
    for other in columns.values():
        if leader is None or classes.get(other.key) == classes.get(key):
            continue
        for provider, of in ratios.items():
            if leader.accelerator in of and other.accelerator in of:
                rents = of[other.accelerator] / of[leader.accelerator]
                if _compare_per_rent(other) * rents < _compare_per_rent(leader):
                    yield tr(
                        "At {provider}, {name} costs less per token than {leader}",
                        provider=provider,
                        name=names[other.key],
                        leader=names[key],
                    )


def _compare_per_rent(column: CostColumn) -> float:
    assert column.rented is not None
    assert column.rent_usd_per_hour is not None
    return column.rented.output.value / column.rent_usd_per_hour


def list_decision_assumptions(
    decision: Decision, names: HeadNames, formatter: Formatter, costs: CostAnswer | None = None
) -> Iterator[str]:
    """Yield the assumptions of a recommendation: architecture of the model, payment, rents, hours of use, software."""
    architecture = decision.facts.get("generic_architecture")
    if architecture is not None:
        yield tr("Unknown model architecture {architecture}: computed as a plain decoder", architecture=architecture)
    yield from _list_assumed_deliveries(decision, names, formatter)
    by_cost = decision.objective.name is ObjectiveName.COST
    names_cost = any(each.fact in PER_MILLION for each in (*decision.reasons, *decision.against))
    if decision.recommended is None or not (by_cost or names_cost):
        return
    shared = costs.columns[0].inputs["fleet"].spread if costs is not None and costs.columns else None
    if by_cost:
        yield from _list_payment_assumptions(decision, formatter, costs)
    if costs is not None:
        if any(each.unlike_rent is not None for each in decision.candidates if each.eligible):
            yield tr("Odds compare all rents as those of specialized clouds; an estimated rent can tie, but not lead")
        # The terms of a verdict by cost state it.
        if not by_cost:
            yield describe_utilization(costs.utilisation, formatter)
        if old := describe_old_prices(costs.columns, names, formatter):
            yield old
    platform = decision.answers["current_platform"].value
    if platform == UNKNOWN_ANSWER:
        yield tr("Porting cost is excluded, because your current platform is unknown")
    elif shared is not None:
        fleet = shared.likely
        yield trn(
            "Porting cost is included, shared by {n} accelerator",
            "Porting cost is included, shared by {n} accelerators",
            round(fleet),
            n=formatter.count(round(fleet)),
        )


def _list_assumed_deliveries(decision: Decision, names: HeadNames, formatter: Formatter) -> Iterator[str]:
    """Yield the delivery that is assumed where none is on record, with the accelerators that have it.

    It matters for the goal of time, and if it is after the launch. Then yield the releases that are only planned.
    """
    assumed: dict[float, list[str]] = {}
    planned: dict[str, list[str]] = {}
    by_time = decision.objective.name is ObjectiveName.TIME
    if decision.facts.get("acquisition") == "rent":
        return
    for candidate, part in zip(decision.candidates, decision.parts, strict=True):
        months = part.get("assumed_delivery_months")
        matters = candidate.eligible and candidate.payment == "owned" if by_time else part.get("arrives_late") is True
        if matters and isinstance(months, IntervalEstimate):
            assumed.setdefault(months.value, []).append(names[candidate.key])
        if by_time and candidate.eligible and part.get("announced") is True:
            planned.setdefault(str(part.get("available")), []).append(names[candidate.key])
    for usual, similar in assumed.items():
        yield tr(
            "No delivery time on record for {names}: {months}, as of similar systems",
            names=join_names(similar),
            months=format_months(usual, formatter),
        )
    for date, announced in planned.items():
        yield trn(
            "{names} is planned for {date}; the middle of the remaining time is counted",
            "{names} are planned for {date}; the middle of the remaining time is counted",
            len(announced),
            names=join_names(announced),
            date=date,
        )


def _list_payment_assumptions(decision: Decision, formatter: Formatter, costs: CostAnswer | None) -> Iterator[str]:
    years, payments = decision.facts.get("years"), {each.payment for each in decision.candidates}
    if decision.answers["acquisition"].value == UNDECIDED_ANSWER:
        yield tr("Buy or rent is not answered: each accelerator is compared at its lower cost")
        if isinstance(decision.answers["budget_usd"].value, float):
            yield tr("Systems above your up-front budget are compared only as rented")
        if any(part.get("arrives_late") is True for part in decision.parts):
            yield tr("Systems that usually arrive after you go live are compared only as rented")
    if "rented" in payments:
        yield tr("Rented accelerators are paid around the clock")
        if costs is not None and len(classes := set(costs.rent_classes.values())) == 1:
            kind = ", ".join(map(label_price_word, *classes))
            yield tr("Rents of one kind of provider are compared: {kind}", kind=kind)
    if "owned" in payments and isinstance(years, float):
        yield trn("Bought accelerators are used for {n} year", "Bought accelerators are used for {n} years",
                  round(years), n=formatter.exact(years))  # fmt: skip


def _list_delivered_lines(decision: Decision, formatter: Formatter) -> Iterator[str]:
    """Yield the recommended deployment and its performance."""
    key = find_leading_column(decision)
    if key is None:
        return
    deployed = format_recommended_deployment(decision, formatter)
    if deployed:
        yield tr("Deployment: {plan}", plan=deployed)
    figures, systems = list_delivered_figures(decision, key, formatter), find_candidate(decision, key).systems
    # Costs of owning are those of whole systems; those of a single accelerator are the deployment.
    if systems is not None and systems.size > 1 and label_fact("spend_usd") in dict(figures):
        yield tr("To buy: {systems}", systems=describe_systems(systems, formatter))
    for label, figure in figures:
        yield tr("{label}: {figure}", label=label, figure=figure)


def list_removed_columns(
    decision: Decision, names: HeadNames, formatter: Formatter, *, has_unfit: bool = True
) -> Iterator[str]:
    """Yield each removed column: what it needs to fit, why it has no estimate, or its first rule of several.

    `has_unfit` says whether those that do not fit are among them. A reason that several share is given once.
    """
    problems: set[str] = set()
    for key, exclusions in groupby(decision.exclusions, key=lambda each: each.key):
        if unfit := describe_unfit(key, decision, names, formatter):
            if has_unfit:
                yield tr("Does not fit: {needs}", needs=unfit)
            continue
        if (problem := find_candidate(decision, key).problem) is not None:
            text = capitalize_first(format_message(problem, formatter))
            if text not in problems:
                problems.add(text)
                yield text
            continue
        first, *others = exclusions
        reason = describe_exclusion(first, names, formatter, decision)
        if others:
            reason = trn(
                "{reason}; {n} more rule", "{reason}; {n} more rules", len(others), n=len(others), reason=reason
            )
        yield reason


def _list_flips(
    flips: Sequence[DecisionFlip], decision: Decision, names: HeadNames, formatter: Formatter
) -> Iterator[str]:
    for flip in flips[:_MOST_FLIPS]:
        change, now, becomes = describe_flip(flip, decision, names, formatter)
        yield tr("{change} ({now}): {becomes}", change=change, now=now, becomes=becomes)


def _list_user_answers(decision: Decision, formatter: Formatter) -> Iterator[str]:
    for name, answered in decision.answers.items():
        if answered.origin is AnswerOrigin.YOURS:
            value = lower_for_sentence(format_answer(name, answered.value, formatter))
            yield tr("{question}: {answer}", question=label_fact(name), answer=value)


# Tipping points and measurements


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
        else trn("{n} hour", "{n} hours", pilot.hours, n=formatter.exact(round(pilot.hours, 1))),
        figure=lower_for_sentence(label_figure(pilot.figure)),
    )


# The trace


def build_trace_rows(decision: Decision, formatter: Formatter) -> tuple[SheetTraceRow, ...]:
    """Return a row for each rule that fired, by its effect."""
    return tuple(_build_trace_row(line, decision, formatter) for line in decision.trace)


def _build_trace_row(line: TraceLine, decision: Decision, formatter: Formatter) -> SheetTraceRow:
    shows = line.shows
    answer, source = describe_rule_answers(line, formatter, decision.answers), label_rule_source(line.rule)
    weight = _format_weight(line, formatter)
    fact_labels = () if shows is None else (lower_for_sentence(label_fact(shows)),)
    return SheetTraceRow(
        rule=line.rule.id,
        strength=line.role.label,
        answer=answer,
        source=source,
        weight=weight,
        row=ComparisonRow(
            key=line.rule.id,
            label=line.title,
            unit=None if shows is None else get_fact_unit(shows),
            cells=tuple(_build_trace_cell(shows, cell, formatter) for cell in line.cells),
            detail="; ".join((*fact_labels, answer, source, *((weight,) if weight else ()))),
        ),
        effects=tuple(cell.effect for cell in line.cells),
    )


def _format_weight(line: TraceLine, formatter: Formatter) -> str:
    if line.counted_with is not None:
        return tr("counted with {rule}", rule=line.counted_with)
    if line.case.favours is None:
        return ""
    return tr("weight {number}", number=formatter.exact(line.weight))


def _build_trace_cell(shows: str | None, cell: TraceCell, formatter: Formatter) -> ComparisonCell:
    mark = _MARKS.get(cell.effect)
    if shows is None or cell.value is None:
        return ComparisonCell(MISSING_VALUE_TEXT if shows else "", mark=mark)
    if isinstance(cell.value, IntervalEstimate):
        text = format_fact_figure(shows, cell.value, formatter)
        return replace(make_interval_cell(cell.value, formatter, mark), text=text)
    return ComparisonCell(format_fact_figure(shows, cell.value, formatter), mark=mark)


def build_trace_table(sheet: ComparisonSheet, *, signed: bool = True) -> ComparisonTable:
    """Return the rows by strength, each figure after the sign of its rule's effect.

    Unless `signed`, removals have no sign: the cell's painter marks them.
    """
    groups = tuple(
        ComparisonGroup(f"trace.{title}", title, tuple(_build_shown_row(row, signed=signed) for row in rows))
        for title, rows in groupby(sheet.trace, key=lambda row: row.strength)
    )
    return ComparisonTable(sheet.heads, groups, tr("Rules"))


def _build_shown_row(row: SheetTraceRow, *, signed: bool) -> ComparisonRow:
    cells = tuple(
        _add_sign(cell, effect, signed=signed) for cell, effect in zip(row.row.cells, row.effects, strict=True)
    )
    label = tr("{rule} {title}", rule=row.rule, title=row.row.label)
    return replace(row.row, label=label, cells=cells)


def _add_sign(cell: ComparisonCell, effect: RuleEffect, *, signed: bool) -> ComparisonCell:
    figure = "" if cell.text == MISSING_VALUE_TEXT else cell.text
    if effect is RuleEffect.REMOVES and not signed:
        text = figure or effect.label
    else:
        text = f"{get_effect_mark(effect)} {figure}".rstrip()
    return replace(cell, text=text)
