"""The deployment of each accelerator that a decision judges: as stated, else the best one for the load."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from gpudesk.decision.facts.answers import get_cost_platform, get_reading_tpot_ms
from gpudesk.decision.services import PlanningServices
from gpudesk.domain.accelerator import COMMON_PLATFORMS, OTHER_PLATFORM, round_up_to_lots
from gpudesk.domain.answer import AcceleratorChoice, Answer, ComparisonColumn, Scenario, make_column_keys
from gpudesk.domain.decision import NO_LIMIT_ANSWER, QuestionAnswer
from gpudesk.domain.estimate import Estimate, EstimateRequest, LoadKind
from gpudesk.domain.serving_engine import ServingEngine
from gpudesk.domain.sizing import ALIKE_TIME, NO_LIMIT_MS, exceeds_one_machine, weigh_request_time
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.formatting import IntervalEstimate
from gpudesk.text.messages import InputError

if TYPE_CHECKING:
    from gpudesk.domain.sizing import SizingResult

#: Notes of an estimate that cannot carry its load.
FALLS_SHORT: Final = frozenset({"estimate.overload", "estimate.limits_not_met"})
#: A deployment of the program's choice has a capacity of this multiple of the requests.
_RESERVE: Final = 1.1
#: A larger deployment takes at most this share of the effort of a smaller one, else the smaller one is chosen.
_WORTHWHILE: Final = 0.999
_ONE: Final = "one"


def carries_load(estimate: Estimate | None) -> bool | None:
    """Whether a deployment keeps up with its load without a queue; None without one that fits.

    A static batch and a full queue wait by definition.
    """
    if estimate is None or not estimate.fits:
        return None
    note_ids = {note.id for note in estimate.notes}
    queues = estimate.queues and estimate.request.workload.load.kind is not LoadKind.BATCH
    return not queues and note_ids.isdisjoint(FALLS_SHORT)


@frozen_dataclass
class DeploymentTerms:
    """Requirements of the answers on a deployment.

    `serving_engine` is None for any, `ttft_ms` and `tpot_ms` are infinite without a limit. With `quickest`, the size is
    chosen by the time of a request on at most one host, else by accelerators per token.
    Accelerators count in whole systems or instances that are `paid` for, by whether those are rented: the size is the
    best for each open way to pay, and of two the cheaper. `budget_usd` is infinite unless all are bought within it,
    porting from `platform` included; `purchase_usd` is that of those who may also rent.
    """

    serving_engine: str | None
    ttft_ms: float
    tpot_ms: float
    alone: bool
    quickest: bool
    paid: tuple[bool, ...] = ()
    budget_usd: float = math.inf
    purchase_usd: float = math.inf
    platform: str | None = None

    @property
    def depends_on_prices(self) -> bool:
        return self.budget_usd < math.inf or len(self.paid) > 1

    def drop_prices(self) -> DeploymentTerms:
        """Return the terms that decide which deployments serve."""
        return replace(self, paid=(), budget_usd=math.inf, purchase_usd=math.inf, platform=None)


#: The answer on buying or renting -> for each open way to pay, whether it is renting.
_PAID: Final[Mapping[str, tuple[bool, ...]]] = {"own": (False,), "rent": (True,)}
#: The goals whose sizes depend on what is paid for.
_IN_LOTS: Final = ("cost", "balanced")


def read_deployment_terms(answers: Mapping[str, QuestionAnswer], engines: Sequence[ServingEngine]) -> DeploymentTerms:
    engine = answers["serving_engine"].value
    limits = [answers[name].value for name in ("ttft_limit_ms", "tpot_limit_ms")]
    ttft, tpot = (limit if isinstance(limit, float) else math.inf for limit in limits)
    priority, acquisition = answers["priority"].value, str(answers["acquisition"].value)
    answered_budget = answers["budget_usd"].value
    budget = answered_budget if isinstance(answered_budget, float) else math.inf
    paid = _PAID.get(acquisition, (True, False)) if priority in _IN_LOTS else ()
    is_open = len(paid) > 1
    return DeploymentTerms(
        serving_engine=str(engine) if engine in {each.id for each in engines} else None,
        ttft_ms=ttft,
        tpot_ms=get_reading_tpot_ms(answers) or tpot,
        alone=answers["shape"].value == _ONE,
        quickest=priority == "latency",
        paid=paid,
        budget_usd=budget if acquisition == "own" else math.inf,
        purchase_usd=budget if is_open else math.inf,
        platform=get_cost_platform(answers) if is_open or (acquisition == "own" and budget < math.inf) else None,
    )


#: For each column what serves within the limits, by count.
_Trials = tuple[list[Estimate], ...]
#: For each way to pay, the smallest lot of each column.
_Lots = tuple[tuple[int, ...], ...]


class DeploymentChooser:
    """Chooses deployments; caches those of the last answer, because dialogues ask again and again."""

    def __init__(self, service: PlanningServices) -> None:
        self._service = service
        self._last: Answer | None = None
        self._chosen: dict[tuple[DeploymentTerms, _Lots], Answer] = {}
        self._tried: dict[DeploymentTerms, _Trials] = {}
        self._sized: dict[DeploymentTerms, SizingResult] = {}

    def choose(self, answer: Answer, answers: Mapping[str, QuestionAnswer]) -> Answer:
        """Return the answer on the deployments to judge; the same one if nothing was left open."""
        terms = self.read_terms(answers)
        cache_key = terms, self._find_lots(answer.scenario, terms)
        last = self._last
        if last is None or (last.columns is not answer.columns or last.scenario.demand != answer.scenario.demand):
            self._last, self._chosen, self._tried, self._sized = answer, {}, {}, {}
        chosen_answer, scenario = self._chosen.get(cache_key), answer.scenario
        if chosen_answer is None or (terms.depends_on_prices and not _has_same_prices(chosen_answer, scenario)):
            chosen_answer = self._chosen[cache_key] = self._choose(answer, *cache_key)
        # Prices, answers and the site change no estimate.
        chosen_scenario = replace(
            chosen_answer.scenario, fleet=scenario.fleet, costs=scenario.costs, decision=scenario.decision
        )
        if chosen_scenario != chosen_answer.scenario:
            # The facts of a decision are cached by its answer.
            chosen_answer = self._chosen[cache_key] = replace(chosen_answer, scenario=chosen_scenario)
        return chosen_answer

    def read_terms(self, answers: Mapping[str, QuestionAnswer]) -> DeploymentTerms:
        return read_deployment_terms(answers, self._service.catalog.serving_engines())

    def take_over(self, former: DeploymentChooser) -> None:
        """Copy the cache of another chooser, for a job on its own thread."""
        self._last, self._chosen, self._tried = former._last, dict(former._chosen), dict(former._tried)
        self._sized = dict(former._sized)

    def _find_lots(self, scenario: Scenario, terms: DeploymentTerms) -> _Lots:
        """Return the smallest lot size of each accelerator for each way to pay."""
        accelerators = [choice.accelerator for choice in scenario.accelerators]
        if not terms.paid or all(choice.count is not None for choice in scenario.accelerators):
            return ((1,) * len(accelerators),)
        return tuple(self._service.costing.find_lots(accelerators, scenario, rented=rented) for rented in terms.paid)

    def _choose(self, answer: Answer, terms: DeploymentTerms, lots: _Lots) -> Answer:
        scenario = answer.scenario
        choices = tuple(self._set_engine(choice, terms.serving_engine) for choice in scenario.accelerators)
        if scenario.demand is not None:
            scenario, choices = self._size_demand(replace(scenario, accelerators=choices), terms)
        else:
            choices = self._search_counts(answer, replace(scenario, accelerators=choices), terms, lots)
        chosen_scenario = replace(scenario, accelerators=choices)
        if chosen_scenario == answer.scenario:
            return answer
        return self._find_same_choices(chosen_scenario) or self._service.answer(chosen_scenario)

    def _find_same_choices(self, scenario: Scenario) -> Answer | None:
        """Return the answer to the same deployments, found for other terms, such as another budget."""
        same = (each for each in self._chosen.values() if each.scenario.accelerators == scenario.accelerators)
        return next((each for each in same if each.scenario.workload == scenario.workload), None)

    def _set_engine(self, choice: AcceleratorChoice, engine: str | None) -> AcceleratorChoice:
        """Return the choice with the requested serving engine, if that runs on it."""
        if engine is None or choice.serving_engine == engine:
            return choice
        part = self._service.catalog.accelerator(choice.accelerator)
        engines = {each.id: each for each in self._service.catalog.serving_engines()}
        return replace(choice, serving_engine=engine) if engines[engine].runs_on(part) else choice

    def _size_demand(
        self, scenario: Scenario, terms: DeploymentTerms
    ) -> tuple[Scenario, tuple[AcceleratorChoice, ...]]:
        """Return the scenario at the peak of its demand, with as many of each as carry it, spares included."""
        sized = self._size(scenario, terms)
        choices = tuple(
            choice
            if choice.count is not None or option.count is None
            else replace(
                choice.with_plan(replace(option.plan, dp=option.count // option.plan.count)),
                serving_engine=choice.serving_engine if option.estimate is None else option.estimate.serving_engine,
            )
            for choice, option in zip(scenario.accelerators, sized.candidates, strict=True)
        )
        return replace(scenario, workload=replace(scenario.workload, load=sized.peak_load)), choices

    def list_set_counts(self, scenario: Scenario, answers: Mapping[str, QuestionAnswer]) -> Mapping[str, int | None]:
        """Return the count for the demand of each column whose stated one is another; none without a demand."""
        if scenario.demand is None or all(choice.count is None for choice in scenario.accelerators):
            return {}
        terms = self.read_terms(answers)
        choices = tuple(self._set_engine(choice, terms.serving_engine) for choice in scenario.accelerators)
        sized = self._size(replace(scenario, accelerators=choices), terms)
        rows = zip(make_column_keys(scenario.accelerators), choices, sized.candidates, strict=True)
        return {key: option.count for key, choice, option in rows if choice.count not in (None, option.count)}

    def _size(self, scenario: Scenario, terms: DeploymentTerms) -> SizingResult:
        """Return the sizes for a demand, within the budget where the cheapest ones are not."""
        assert scenario.demand is not None
        demand = scenario.demand
        limited = replace(
            demand, ttft_ms=_tighten(demand.ttft_ms, terms.ttft_ms), tpot_ms=_tighten(demand.tpot_ms, terms.tpot_ms)
        )
        scenario = replace(scenario, demand=limited)
        answers = {name: each for name, each in scenario.decision.answers.items() if name != "budget_usd"}
        answers["priority"] = "latency" if terms.quickest else "cost"
        # The demand has the limit already.
        answers["tpot_limit_ms"] = NO_LIMIT_ANSWER
        unlimited = replace(terms, budget_usd=math.inf, purchase_usd=math.inf, platform=None)
        if unlimited not in self._sized:
            free = replace(scenario, decision=replace(scenario.decision, answers=answers))
            self._sized[unlimited] = self._service.size(free)
        sized = self._sized[unlimited]
        if terms.budget_usd == math.inf:
            return sized
        costed, costing = cost_on_platform(scenario, terms.platform), self._service.costing
        spends = [
            costing.compute_sized_upfront_usd(each.estimate, each.count, costed)
            for each in sized.candidates
            if each.estimate is not None and each.count is not None
        ]
        if all(spend is None or spend <= terms.budget_usd for spend in spends):
            return sized
        answers |= {"budget_usd": terms.budget_usd, "acquisition": "own"}
        return self._service.size(replace(costed, decision=replace(costed.decision, answers=answers)))

    def _search_counts(
        self, answer: Answer, scenario: Scenario, terms: DeploymentTerms, lots: _Lots
    ) -> tuple[AcceleratorChoice, ...]:
        """Return the choices with the best count for those without one, within the budget or closest to it."""
        key = terms.drop_prices()
        if key not in self._tried:
            self._tried[key] = self._try_counts(scenario, terms)
        costed = cost_on_platform(scenario, terms.platform)
        choices = []
        for choice, column, trials, sizes in zip(
            scenario.accelerators, answer.columns, self._tried[key], zip(*lots, strict=True), strict=True
        ):
            bests = [self._find_affordable(trials, column, terms, costed, lot) for lot in sizes]
            choices.append(_fix_count(choice, self._find_cheapest(bests, column, terms, costed), column.estimate))
        return tuple(choices)

    def _find_cheapest(
        self, bests: Sequence[Estimate | None], column: ComparisonColumn, terms: DeploymentTerms, costed: Scenario
    ) -> Estimate | None:
        """Return the deployment with the cheapest tokens, of the best one for each way to pay."""
        first = bests[0]
        if all(each is first for each in bests):
            return first
        costs: list[float] = []
        for rented, estimate in zip(terms.paid, bests, strict=True):
            usd = self._service.costing.compute_token_usd(replace(column, estimate=estimate), costed, rented=rented)
            if not rented and terms.purchase_usd < math.inf:
                spend = self._service.costing.compute_upfront_usd(replace(column, estimate=estimate), costed)
                usd = None if spend is None or spend > terms.purchase_usd else usd
            costs.append(math.inf if usd is None else usd)
        return bests[costs.index(min(costs))]

    def _try_counts(self, scenario: Scenario, terms: DeploymentTerms) -> _Trials:
        """Return for each column what serves within the limits; nothing if its count is stated."""
        tried: list[tuple[int, EstimateRequest]] = []
        for place, (choice, request) in enumerate(zip(scenario.accelerators, scenario.requests(), strict=True)):
            if choice.count is None and choice.disaggregated is None:
                tried += [(place, replace(request, count=count)) for count in self._list_counts(request, terms)]
        estimates = self._service.estimator.estimate_many([request for _, request in tried])
        trials: _Trials = tuple([] for _ in scenario.accelerators)
        for (place, _), estimate in zip(tried, estimates, strict=True):
            if not isinstance(estimate, InputError) and serves_within(estimate, terms):
                trials[place].append(estimate)
        return trials

    def _find_affordable(
        self, trials: Sequence[Estimate], column: ComparisonColumn, terms: DeploymentTerms, costed: Scenario, lot: int
    ) -> Estimate | None:
        """Return the deployment of least effort within the budget; without one, that of the least excess."""
        open_ = [(each, _compute_effort(each, terms, lot)) for each in trials]
        excesses: list[tuple[float, int, Estimate]] = []
        while open_:
            best = open_[0]
            for each in open_[1:]:
                best = each if each[1] < (ALIKE_TIME if terms.quickest else _WORTHWHILE) * best[1] else best
            excess = self._compute_excess(column, best[0], terms, costed)
            if excess == 0.0:
                return best[0]
            excesses.append((excess, len(excesses), best[0]))
            open_.remove(best)
        return min(excesses, key=lambda each: each[:2])[2] if excesses else None

    def _compute_excess(
        self, column: ComparisonColumn, estimate: Estimate, terms: DeploymentTerms, costed: Scenario
    ) -> float:
        """Return the dollars by which a deployment exceeds the budget; 0 if its cost is unknown."""
        if terms.budget_usd == math.inf:
            return 0.0
        spend = self._service.costing.compute_upfront_usd(replace(column, estimate=estimate), costed)
        return 0.0 if spend is None else max(0.0, spend - terms.budget_usd)

    def _list_counts(self, request: EstimateRequest, terms: DeploymentTerms) -> tuple[int, ...]:
        try:
            counts = self._service.estimator.list_counts(request)
        except InputError:
            return ()
        if terms.alone:
            return (1,) if 1 in counts else ()
        if terms.quickest:
            host = self._service.catalog.accelerator(request.accelerator).cards_per_host
            return tuple(count for count in counts if not exceeds_one_machine(count, host)) or counts
        return counts


def cost_on_platform(scenario: Scenario, platform: str | None) -> Scenario:
    """Return the scenario with costs for software of a platform; the same one if it already has them."""
    runs_on = scenario.costs.runs_on
    is_user_platform = runs_on not in (None, *COMMON_PLATFORMS)
    if platform is None or runs_on == platform or (platform == OTHER_PLATFORM and is_user_platform):
        return scenario
    return replace(scenario, costs=replace(scenario.costs, runs_on=platform))


def _has_same_prices(answer: Answer, scenario: Scenario) -> bool:
    return answer.scenario.costs == scenario.costs and answer.scenario.fleet == scenario.fleet


def _tighten(user_limit: float | None, limit: float) -> float | None:
    least = min(math.inf if user_limit is None else user_limit, limit)
    # A demand takes no looser limits, which searches for what would change a decision try.
    return None if least > NO_LIMIT_MS else least


def serves_within(estimate: Estimate, terms: DeploymentTerms) -> bool:
    """Whether a deployment carries its load within the limits, with a reserve."""
    if not carries_load(estimate) or _exceeds(estimate.ttft_ms, terms.ttft_ms):
        return False
    if _exceeds(estimate.tpot_ms, terms.tpot_ms):
        return False
    load = estimate.request.workload.load
    return load.kind is not LoadKind.CONCURRENCY or estimate.max_concurrency >= _RESERVE * (load.concurrency or 0)


def _exceeds(figure: IntervalEstimate | None, limit: float) -> bool:
    return figure is not None and figure.value > limit


def _compute_effort(estimate: Estimate, terms: DeploymentTerms, lot: int) -> float:
    """Return the seconds of a request, or the accelerator-seconds per token in whole lots."""
    rate, request = estimate.output_tokens_per_s, estimate.request_s
    if terms.quickest and request is not None:
        return weigh_request_time(request.value, estimate.count)
    return math.inf if rate is None or rate.value <= 0.0 else round_up_to_lots(estimate.count, lot) / rate.value


def _fix_count(choice: AcceleratorChoice, best: Estimate | None, estimate: Estimate | None) -> AcceleratorChoice:
    """Return the choice with the count found; unchanged if the count is the displayed one anyway."""
    if best is None or (estimate is not None and estimate.count == best.count and estimate.plan == best.plan):
        return choice
    return replace(choice, count=best.count)
