"""Scenarios, the documents of user input; and answers, the results for one on one catalog revision."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from types import MappingProxyType
from typing import Final, Protocol, TypeVar

from gpudesk.domain.accelerator import Accelerator
from gpudesk.domain.claim import AttributeClaims, Dispute
from gpudesk.domain.cost import NO_COST_SETTINGS, CostAnswer, CostSettings
from gpudesk.domain.decision import NO_DECISION_SETTINGS, Decision, DecisionFlip, DecisionSettings
from gpudesk.domain.estimate import DisaggregationRequest, Estimate, EstimateRequest, ParallelPlan, Workload
from gpudesk.domain.fleet import NO_FLEET_SETTINGS, FleetAnswer, FleetSettings
from gpudesk.domain.model import Model
from gpudesk.domain.precision import Precision
from gpudesk.domain.registry import COST_FIGURES, FIGURES, is_more_better, list_headline_figures
from gpudesk.domain.sizing import AcceleratorNeeds, Demand
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.formatting import IntervalEstimate
from gpudesk.text.messages import InputError, Message, input_error

#: Most accelerators in a comparison.
MAX_ACCELERATORS = 6
#: Colors for accelerators; each has its own dash and marker too.
MAX_PALETTE_INDEX = 8


@frozen_dataclass
class AcceleratorChoice:
    """One column of the comparison: an accelerator, with count and plan if the user chose them.

    `slot` is the palette index, 1 to 8, that the accelerator gets when added and keeps until removed.
    """

    accelerator: str
    count: int | None = None
    tp: int | None = None
    pp: int | None = None
    ep: int | None = None
    dp: int | None = None
    attention_dp: bool | None = None
    disaggregated: DisaggregationRequest | None = None
    serving_engine: str | None = None
    slot: int | None = None

    def with_plan(self, plan: ParallelPlan) -> AcceleratorChoice:
        """Return the choice with the count and all degrees of a plan."""
        return replace(
            self, count=plan.count, tp=plan.tp, pp=plan.pp, ep=plan.ep, dp=plan.dp, attention_dp=plan.attention_dp
        )


@frozen_dataclass
class Scenario:
    """A model, a workload and up to six accelerators.

    An incomplete scenario can lack a model (empty) and accelerators; it can be saved but has no answer. The first
    accelerator is the baseline of differences. `catalog_revision` is that of the last save. `costs` are the user's
    prices and operating costs, `decision` the answers. `demand` is the demand to size for; None if unset. `fleet` is
    its distribution over the day and the years, and the limits of the site. `user_records` are copies of the user's
    catalog records that the scenario uses. `unknown_sections` hold unknown sections of the file, which survive a save.
    """

    name: str
    model: str
    weights: Precision
    workload: Workload
    accelerators: tuple[AcceleratorChoice, ...]
    kv: Precision = Precision.FP16
    serving_engine: str | None = None
    date: str | None = None
    memory_fraction: float | None = None
    max_batch: int | None = None
    max_batched_tokens: int | None = None
    note: str = ""
    demand: Demand | None = None
    fleet: FleetSettings = NO_FLEET_SETTINGS
    costs: CostSettings = NO_COST_SETTINGS
    decision: DecisionSettings = NO_DECISION_SETTINGS
    catalog_revision: str | None = None
    user_records: tuple[Mapping[str, object], ...] = ()
    unknown_sections: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))

    def requests(self) -> tuple[EstimateRequest, ...]:
        """The requests to the engine, one per accelerator, in order."""
        return tuple(
            EstimateRequest(
                accelerator=choice.accelerator,
                model=self.model,
                weights=self.weights,
                kv=self.kv,
                workload=self.workload,
                count=choice.count,
                serving_engine=choice.serving_engine or self.serving_engine,
                date=self.date,
                tp=choice.tp,
                pp=choice.pp,
                ep=choice.ep,
                dp=choice.dp,
                attention_dp=choice.attention_dp,
                memory_fraction=self.memory_fraction,
                max_batch=self.max_batch,
                max_batched_tokens=self.max_batched_tokens,
                disaggregated=choice.disaggregated,
            )
            for choice in self.accelerators
        )


class AnswerCatalog(Protocol):
    """The part of the catalog that an answer needs; each method raises `InputError` for an unknown id."""

    @property
    def revision(self) -> str:
        """Digest of all facts."""

    @property
    def data_date(self) -> str:
        """Day of the newest fact."""

    def accelerator(self, accelerator_id: str) -> Accelerator: ...

    def model(self, model_id: str) -> Model: ...

    def attributes(self, thing_id: str) -> tuple[AttributeClaims, ...]: ...

    def disputes(self, thing: str | None = None) -> tuple[Dispute, ...]: ...


def check_scenario_ids(scenario: Scenario, facts: AnswerCatalog) -> None:
    """Raise `InputError`, with the place in the scenario, for an unknown id.

    Open choices of the scenario are not checked.
    """
    try:
        if scenario.model:
            facts.model(scenario.model)
    except InputError as error:
        raise InputError(error.problem, "scenario.model") from error
    for position, choice in enumerate(scenario.accelerators):
        try:
            facts.accelerator(choice.accelerator)
        except InputError as error:
            where = f"scenario.accelerators[{position}].accelerator"
            raise InputError(error.problem, where) from error


def check_context(scenario: Scenario, model: Model) -> None:
    """Raise `InputError` if a request exceeds the model's context."""
    work, most = scenario.workload, model.max_context
    if most is not None and work.request_tokens > most:
        raise input_error(
            "scenario.beyond_context",
            "{model} supports at most {most} tokens, input and output together; use at most {room} input tokens",
            "scenario.workload.input_tokens",
            model=model.name,
            most=most,
            room=max(1, most - work.output_tokens),
        )


@frozen_dataclass
class IntervalSeries:
    """A figure with its interval at each point of a curve, as plain numbers for drawing; also a row of `Banded`.

    NaN if the figure has no meaning.
    """

    value: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]

    def __len__(self) -> int:
        return len(self.value)

    def __getitem__(self, position: int) -> IntervalEstimate:
        return IntervalEstimate(self.value[position], self.low[position], self.high[position])

    def __iter__(self) -> Iterator[IntervalEstimate]:
        return map(IntervalEstimate, self.value, self.low, self.high)


@frozen_dataclass
class LimiterShares:
    """Time breakdown of the run at each point of a curve, prefill and decode together.

    The shares add up to 1. The largest share is the limiter, unless memory admits no more requests.
    """

    memory_bandwidth: tuple[float, ...]
    compute: tuple[float, ...]
    interconnect: tuple[float, ...]
    overhead: tuple[float, ...]


@frozen_dataclass
class ConcurrencyCurve:
    """Figures of one deployment by concurrency in a closed loop, for any load of the scenario.

    The plan is that of the estimate. Points are 1, the powers of two, the memory limit, the scenario's own concurrency
    (where the curve equals the estimate) and points between. A finite run has the same number of rounds at every point.
    """

    concurrency: tuple[int, ...]
    output_tokens_per_s: IntervalSeries
    output_tokens_per_s_per_accelerator: IntervalSeries
    ttft_ms: IntervalSeries
    tpot_ms: IntervalSeries
    limiter: tuple[str, ...]
    shares: LimiterShares
    max_concurrency: int


@frozen_dataclass
class ComparisonColumn:
    """One accelerator of the comparison: its facts, and its estimate or the reason why none exists.

    `enough` is the count on which no request queues, if requests queue on all columns; None if that is unknown.
    """

    choice: AcceleratorChoice
    accelerator: Accelerator
    attributes: Mapping[str, AttributeClaims]
    estimate: Estimate | None
    curve: ConcurrencyCurve | None
    problem: Message | None = None
    enough: int | None = None

    @property
    def queues(self) -> bool:
        return self.estimate is not None and self.estimate.queues


class LeadVerdict(StrEnum):
    """Confidence that the likely best column is really the best."""

    LEADS = "leads"
    LIKELY_LEADS = "likely leads"
    LEANS = "leans"
    TOO_CLOSE = "too close to call"


#: Minimum odds of the leader for each verdict.
LEAST_ODDS: Final = {LeadVerdict.LEADS: 0.95, LeadVerdict.LIKELY_LEADS: 0.8, LeadVerdict.LEANS: 0.65}


def judge_odds(odds: float) -> LeadVerdict:
    """Return the verdict on the odds that the likely leader is the best of all compared."""
    return next((verdict for verdict, least in LEAST_ODDS.items() if odds >= least), LeadVerdict.TOO_CLOSE)


@frozen_dataclass
class FigureDifference:
    """One figure of a column compared with the baseline: their ratio with its 80% interval.

    `odds` is the probability that `accelerator` is better than `baseline` at this figure.
    """

    figure: str
    accelerator: str
    baseline: str
    ratio: IntervalEstimate
    odds: float

    @property
    def error_scale(self) -> float:
        """Scale of the logistic error of ln(ratio): an end of its 80% interval is a factor of 9^scale away."""
        return math.log(self.ratio.high / self.ratio.value) / math.log(9.0)

    @property
    def winner(self) -> str | None:
        """The column that leads or likely leads; None if too close to call."""
        leader, odds = (self.accelerator, self.odds) if self.odds >= 0.5 else (self.baseline, 1.0 - self.odds)
        return leader if odds >= LEAST_ODDS[LeadVerdict.LIKELY_LEADS] else None


@dataclass(frozen=True)
class Answer:
    """All results for `scenario` on the catalog of `catalog_revision`.

    `unranked` are the positions of announced columns, which are not ranked with shipping ones. `costs` are present, and
    included in `differences`, if requested. `digest` computes the hash of an answer on demand, because it takes longer
    than the rest and is rarely needed.
    """

    scenario: Scenario
    catalog_revision: str
    data_date: str
    calibration: str
    model: Model
    model_attributes: Mapping[str, AttributeClaims]
    columns: tuple[ComparisonColumn, ...]
    differences: tuple[FigureDifference, ...]
    disputes: tuple[Dispute, ...]
    notes: tuple[Message, ...]
    digest: Callable[[Answer], str] = field(repr=False, compare=False)
    unranked: tuple[int, ...] = ()
    costs: CostAnswer | None = None

    @cached_property
    def content_hash(self) -> str:
        """Hash of the answer and the catalog revision, without date, locale, layout, colors or curves."""
        return self.digest(self)

    @property
    def has_load(self) -> bool:
        """Whether the scenario has a load; without one the answer has only specifications."""
        return any(column.estimate is not None or column.problem is not None for column in self.columns)

    def without_load(self) -> Answer:
        """Return only the specifications, without the load of the scenario."""
        columns = tuple(replace(column, estimate=None, curve=None, problem=None) for column in self.columns)
        return replace(self, columns=columns, differences=(), costs=None)

    @property
    def lacks_counts(self) -> bool:
        """Whether requests queue on all columns, and no count that is enough has been found."""
        return all(column.queues and column.enough is None for column in self.columns)

    @cached_property
    def keys(self) -> tuple[str, ...]:
        return make_column_keys(self.scenario.accelerators)

    @cached_property
    def differences_by_pair(self) -> Mapping[tuple[str, str, str], FigureDifference]:
        """The differences by (figure, baseline key, other key)."""
        return {
            (difference.figure, difference.baseline, difference.accelerator): difference
            for difference in self.differences
        }

    @cached_property
    def odds(self) -> Mapping[tuple[str, str, str], float]:
        """Probability that a column is better than another, by (figure, key, other key)."""
        forth = {
            (difference.figure, difference.accelerator, difference.baseline): difference.odds
            for difference in self.differences
        }
        return {**{(figure, two, one): 1.0 - odds for (figure, one, two), odds in forth.items()}, **forth}


_T = TypeVar("_T")


def make_column_keys(choices: Sequence[AcceleratorChoice]) -> tuple[str, ...]:
    """Return a key for each column: the accelerator's id, with `:count` and `#n` for duplicates."""
    ids = Counter(choice.accelerator for choice in choices)
    keys = [
        f"{choice.accelerator}:{choice.count}"
        if ids[choice.accelerator] > 1 and choice.count is not None
        else choice.accelerator
        for choice in choices
    ]
    counts: Counter[str] = Counter()
    unique = []
    for key in keys:
        counts[key] += 1
        unique.append(key if counts[key] == 1 else f"{key}#{counts[key]}")
    return tuple(unique)


def get_accelerator_id(key: str) -> str:
    return key.partition("#")[0].partition(":")[0]


def assign_palette_indexes(choices: Sequence[AcceleratorChoice]) -> tuple[int, ...]:
    """Return each column's palette index: its own, else the lowest free one; an accelerator has one index."""
    indexes: dict[str, int] = {}
    for choice in choices:
        if choice.slot is not None and choice.slot not in indexes.values():
            indexes.setdefault(choice.accelerator, choice.slot)
    for choice in choices:
        if choice.accelerator not in indexes:
            indexes[choice.accelerator] = find_free_palette_index(indexes.values())
    return tuple(indexes[choice.accelerator] for choice in choices)


def find_free_palette_index(indexes: Iterable[int]) -> int:
    """Return the first unused palette index."""
    used = set(indexes)
    return next(slot for slot in range(1, MAX_PALETTE_INDEX + 1) if slot not in used)


def find_variants(choices: Sequence[AcceleratorChoice]) -> tuple[bool, ...]:
    """Return for each column whether its accelerator already occurs further left, which gives it variant markers."""
    return tuple(
        any(other.accelerator == choice.accelerator for other in choices[:position])
        for position, choice in enumerate(choices)
    )


def find_difference(answer: Answer, figure: str, baseline: str, other: str) -> FigureDifference | None:
    """Return the difference of two columns by key, in the direction stored in the answer."""
    return answer.differences_by_pair.get((figure, baseline, other))


def find_leaders(answer: Answer, figure: str, verdict: LeadVerdict = LeadVerdict.LEANS) -> tuple[int, ...]:
    """Return the position of the best column if its odds of being the best reach this verdict; else all that may be.

    These are the best, its rival, and those that no column leads in a pair with at least this verdict. Empty with fewer
    than two values. Columns that the answer does not rank are left out.
    """
    values = rank_figures(answer, figure)
    if len(values) < 2:
        return ()
    keys, least = answer.keys, LEAST_ODDS[verdict]
    best, odds = find_best(values, figure), compute_win_odds(answer, figure)
    if odds.get(best, 1.0) >= least:
        return (best,)
    most = max(odds[position] for position in values if position != best)
    return tuple(
        position
        for position in values
        if position == best
        or odds[position] >= most
        or all(
            answer.odds.get((figure, keys[other], keys[position]), 1.0) < least for other in values if other != position
        )
    )


def find_best(values: Mapping[int, IntervalEstimate], figure: str) -> int:
    """Return the position of the best value; ties go to the first."""
    better = max if is_more_better(figure) else min
    return better(values, key=lambda position: values[position].value)


def find_rival(answer: Answer, figure: str) -> int | None:
    """Return the column that is the most likely after the best one to be the best; None without odds."""
    odds = compute_win_odds(answer, figure)
    best = find_best(rank_figures(answer, figure), figure) if odds else None
    return max((position for position in odds if position != best), key=lambda position: odds[position], default=None)


@frozen_dataclass
class AnnouncedLeader:
    """How an unranked announced column would compare: `ratio` is its figure over the best ranked one.

    `odds` are those that it would really lead.
    """

    position: int
    against: int
    ratio: float
    odds: float


def find_announced_leader(answer: Answer, figure: str) -> AnnouncedLeader | None:
    """Return the announced column that would lead if ranked; None if none would."""
    shipping = rank_figures(answer, figure)
    values = get_column_figures(answer, figure)
    others = {position: value for position in answer.unranked if (value := values[position])}
    if not shipping or not others:
        return None
    best, first = find_best(shipping, figure), find_best(others, figure)
    keys = answer.keys
    odds = answer.odds.get((figure, keys[first], keys[best]), 0.0)
    return AnnouncedLeader(first, best, others[first].value / shipping[best].value, odds) if odds > 0.5 else None


def get_column_figures(answer: Answer, figure: str) -> list[IntervalEstimate | None]:
    """Return a figure of each column; None if it has none, and for costs that were not requested."""
    if figure in COST_FIGURES:
        columns = () if answer.costs is None else answer.costs.columns
        return [getattr(column, figure) for column in columns] or [None] * len(answer.columns)
    return [None if column.estimate is None else getattr(column.estimate, figure) for column in answer.columns]


def mask_unranked(answer: Answer, values: Sequence[_T | None]) -> list[_T | None]:
    """Return the value of each column, None for those that are not ranked.

    These are announced columns next to shipping ones, and overloaded columns next to others.
    """
    several = len(answer.columns) > 1
    return [
        None if position in answer.unranked or (several and column.queues) else value
        for position, (column, value) in enumerate(zip(answer.columns, values, strict=True))
    ]


def rank_figures(answer: Answer, figure: str) -> dict[int, IntervalEstimate]:
    values = mask_unranked(answer, get_column_figures(answer, figure))
    return {position: value for position, value in enumerate(values) if value is not None}


def compute_best_odds(best: int, ahead: Mapping[int, float]) -> dict[int, float]:
    """Return the odds of each to be the best, from those that the likely best is ahead of each other.

    They add up to 1. Each is weighed against the likely best (D. McFadden, Conditional logit analysis of qualitative
    choice behavior, 1974), so that the order of two does not depend on a third.
    """
    weights = {best: 1.0, **{place: (1.0 - odds) / odds for place, odds in ahead.items()}}
    total = sum(weights.values())
    return {place: weight / total for place, weight in weights.items()}


def compute_win_odds(answer: Answer, figure: str) -> dict[int, float]:
    """Return for each ranked column the odds that it is the best at a figure.

    Empty with fewer than two figures whose differences are known.
    """
    ranked, keys = rank_figures(answer, figure), answer.keys
    if len(ranked) < 2:
        return {}
    best = find_best(ranked, figure)
    ahead = {place: answer.odds.get((figure, keys[best], keys[place])) for place in ranked if place != best}
    known = {place: odds for place, odds in ahead.items() if odds}
    return compute_best_odds(best, known) if len(known) == len(ahead) else {}


@frozen_dataclass
class FigureChange:
    """A figure of one column that changed; None if it was or is missing."""

    figure: str
    before: IntervalEstimate | None
    after: IntervalEstimate | None

    @property
    def ratio(self) -> float | None:
        """New over old value; None if either is missing or zero."""
        if self.before is None or self.after is None or not self.before.value:
            return None
        return self.after.value / self.before.value


@frozen_dataclass
class ColumnChange:
    """A column whose result changed, by its key, with the changed figures."""

    key: str
    before: Estimate | None
    after: Estimate | None
    figures: tuple[FigureChange, ...]

    @property
    def fitted(self) -> bool:
        return self.before is not None and self.before.fits

    @property
    def fits(self) -> bool:
        return self.after is not None and self.after.fits


@frozen_dataclass
class LeaderChange:
    """The keys of the current and the former leaders at a figure; several are too close to call."""

    figure: str
    before: tuple[str, ...]
    after: tuple[str, ...]

    @property
    def moved(self) -> bool:
        return self.before != self.after


@frozen_dataclass
class AnswerImpact:
    """The effect of an edit on an answer: changed columns, and changed leaders by figure."""

    before: Answer
    after: Answer
    columns: tuple[ColumnChange, ...]
    leads: tuple[LeaderChange, ...]

    @property
    def unchanged(self) -> bool:
        """Whether every result is the same to the last digit."""
        return not self.columns and not any(lead.moved for lead in self.leads)


@frozen_dataclass
class SheetExtras:
    """Counts, costs, recommendation, changes that would alter it, and fleets, for a sheet.

    `decision` is present if the user answered questions, `leading` always: the verdict names its leader. `with_rules`
    also lists every rule that fired. `decision_costs` are those of the deployments that the decision judges,
    `throughput_biases` the errors of estimates for similar measured runs of each column if they lean one way.
    """

    how_many: AcceleratorNeeds | None = None
    costs: CostAnswer | None = None
    decision: Decision | None = None
    flips: tuple[DecisionFlip, ...] = ()
    with_rules: bool = False
    leading: Decision | None = None
    fleet: FleetAnswer | None = None
    decision_costs: CostAnswer | None = None
    throughput_biases: tuple[tuple[float, float] | None, ...] = ()


_IN_FLIGHT: Final = "max_concurrency"


def compare_answers(before: Answer, after: Answer) -> AnswerImpact:
    """Return the changes between two answers to one scenario; columns are matched by key."""
    former = dict(zip(before.keys, before.columns, strict=True))
    columns = []
    for key, column in zip(after.keys, after.columns, strict=True):
        was = former[key].estimate if key in former else None
        if was != column.estimate:
            change = ColumnChange(key, was, column.estimate, _list_changed_figures(was, column.estimate))
            if change.figures or _summarize_deployment(was) != _summarize_deployment(column.estimate):
                columns.append(change)
    leads = [
        LeaderChange(figure, _find_leaders(before, figure), _find_leaders(after, figure))
        for figure in list_headline_figures()
    ]
    leads.append(LeaderChange(_IN_FLIGHT, _find_largest_capacity(before), _find_largest_capacity(after)))
    return AnswerImpact(before, after, tuple(columns), tuple(leads))


def _list_changed_figures(before: Estimate | None, after: Estimate | None) -> tuple[FigureChange, ...]:
    """Return the figures that differ, in the order in which figures are shown."""
    pairs = [(name, getattr(before, name, None), getattr(after, name, None)) for name in FIGURES]
    return tuple(FigureChange(name, was, now) for name, was, now in pairs if was != now)


def _summarize_deployment(estimate: Estimate | None) -> tuple[object, ...]:
    """Return other visible results: fit, capacity, limiter."""
    if estimate is None:
        return ()
    return (
        estimate.fits,
        estimate.needs,
        estimate.count,
        estimate.plan,
        estimate.max_concurrency,
        estimate.limiter,
        estimate.memory,
    )


def _find_leaders(answer: Answer, figure: str) -> tuple[str, ...]:
    return tuple(answer.keys[position] for position in find_leaders(answer, figure))


def _find_largest_capacity(answer: Answer) -> tuple[str, ...]:
    """Return the keys of the ranked columns with the largest capacity; none with fewer than two columns."""
    estimates = mask_unranked(answer, [column.estimate for column in answer.columns])
    capacities = {
        key: estimate.max_concurrency
        for key, estimate in zip(answer.keys, estimates, strict=True)
        if estimate and estimate.fits
    }
    return (
        tuple(key for key, most in capacities.items() if most == max(capacities.values()))
        if len(capacities) > 1
        else ()
    )
