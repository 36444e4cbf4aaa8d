"""The facts of an answered scenario that do not depend on answers in the dialogue."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from gpudesk.costing.accelerator_costs import AcceleratorCostInputs
from gpudesk.costing.systems import find_site_needs, find_usual_delivery, is_off_the_shelf
from gpudesk.costing.uncertainty import PaymentBasis
from gpudesk.decision.facts.accelerator_facts import (
    AcceleratorView,
    get_likely_input,
    get_number,
    list_accelerator_facts,
)
from gpudesk.decision.facts.answers import get_cost_platform
from gpudesk.decision.facts.deployments import DeploymentChooser, cost_on_platform
from gpudesk.decision.services import PlanningServices
from gpudesk.domain.accelerator import COMMON_PLATFORMS, OTHER_PLATFORM, Accelerator
from gpudesk.domain.answer import Answer, ComparisonColumn
from gpudesk.domain.cost import CostAnswer, CostInputOrigin
from gpudesk.domain.decision import AnswerValue, Decision, FactValue, FactValues, MediaFit, QuestionAnswer, WayOut
from gpudesk.domain.diffusion import DiffusionRequest
from gpudesk.domain.estimate import Estimate, EstimateRequest, Limiter, Load, LoadKind
from gpudesk.domain.fleet import FleetSettings, SiteCooling
from gpudesk.domain.model import Attention, Model, MoeFfn
from gpudesk.domain.progress import ProgressSteps
from gpudesk.domain.serving_engine import list_platforms
from gpudesk.domain.sizing import FitQuestion
from gpudesk.engine.engine_support import find_objections
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.formatting import IntervalEstimate
from gpudesk.text.messages import InputError
from gpudesk.text.units import GB

if TYPE_CHECKING:
    from gpudesk.decision.purchasing.reference_data import ReferenceData


class DecisionServices(PlanningServices, Protocol):
    """The services of plans, and the records of source documents."""

    @property
    def reference_data(self) -> ReferenceData: ...


_BILLION: Final = 1e9
#: Bytes of weights, gradients and optimizer state per trained parameter: Adam in mixed precision (S. Rajbhandari et
#: al., ZeRO, 2020), and per frozen one in BF16 and in NF4 with doubly quantized constants (T. Dettmers et al., QLoRA,
#: 2023). Adapters are taken to have this share of all parameters; their papers use less than that.
_TRAINED, _FROZEN, _FROZEN_NF4, _ADAPTERS = 16.0, 2.0, 4.127 / 8.0, 0.01
#: Facts of the memory for tuning, before activations -> its bytes per parameter.
_TUNING_BYTES: Final = {
    "full_tuning_gb": _TRAINED,
    "lora_gb": _FROZEN + _ADAPTERS * _TRAINED,
    "qlora_gb": _FROZEN_NF4 + _ADAPTERS * _TRAINED,
}


def list_scenario_facts(
    answer: Answer, views: Sequence[AcceleratorView], parts: Sequence[FactValues]
) -> dict[str, FactValue]:
    """Return the facts of an answered scenario; `parts` are those of its columns."""
    return {
        **_list_model_facts(answer),
        **_list_need_facts(views, parts),
        **_list_count_facts(parts),
        **_list_load_facts(views, parts),
        **_list_scenario_cost_facts(views),
        **_list_site_limits(answer.scenario.fleet),
        "spare_replicas": None if answer.scenario.demand is None else float(answer.scenario.demand.spare_replicas),
    }


def _list_site_limits(fleet: FleetSettings) -> dict[str, FactValue]:
    return {"air_only": fleet.cooling is SiteCooling.AIR, "kw_per_rack": fleet.kw_per_rack}


def _list_model_facts(answer: Answer) -> dict[str, FactValue]:
    model, work = answer.model, answer.scenario.workload
    parameters = answer.model_attributes.get("total_parameters")
    total = None if parameters is None else parameters.value
    context = model.max_context
    return {
        "has_model": True,
        "model_id": model.id,
        "generic_architecture": model.generic_architecture,
        "model_moe": model_has_experts(model),
        "standard_model": not model_has_experts(model) and _plain_attention(model),
        "params_b": total / _BILLION if isinstance(total, (int, float)) else None,
        **{
            name: total / _BILLION * size if isinstance(total, (int, float)) else None
            for name, size in _TUNING_BYTES.items()
        },
        "context_tokens": float(work.input_tokens + work.output_tokens),
        "model_context": None if context is None else float(context),
    }


def model_has_experts(model: Model) -> bool:
    return any(isinstance(group.ffn, MoeFfn) for group in model.layers)


def _plain_attention(model: Model) -> bool:
    """Whether every layer has ordinary attention to all tokens."""
    return all(
        isinstance(group.mixer, Attention) and group.mixer.window is None
        for group in model.layers
        if group.mixer is not None
    )


def _list_need_facts(views: Sequence[AcceleratorView], parts: Sequence[FactValues]) -> dict[str, FactValue]:
    """Return the memory needs of one request, and of all in flight; vendors' own formats differ little."""
    one = next((part for part in parts if part.get("needs_alone_gb") is not None), None)
    if one is None:
        return {}
    weights, kv_one = get_number(one, "alone_weights_gb"), get_number(one, "kv_one_gb")
    return {
        "weights_gb": weights,
        "needs_gb": None if weights is None or kv_one is None else weights + kv_one,
        "kv_some_short": _is_any_short(parts),
        "least_memory_gb": min(view.column.accelerator.memory_bytes for view in views) / GB,
    }


def _is_any_short(parts: Sequence[FactValues]) -> bool | None:
    """Whether the requests in flight exceed the KV cache of some deployment; None if unknown."""
    pairs = [(get_number(part, "kv_needed_gb"), get_number(part, "kv_room_gb")) for part in parts]
    is_short = [needed > room for needed, room in pairs if needed is not None and room is not None]
    return any(is_short) if is_short else None


def _list_count_facts(parts: Sequence[FactValues]) -> dict[str, FactValue]:
    alone = [part.get("fits_alone") for part in parts]
    counts = [each for each in (get_number(part, "count") for part in parts) if each is not None]
    hosts = [each for each in (get_number(part, "hosts") for part in parts) if each is not None]
    model_counts = [each for each in (get_number(part, "models_held") for part in parts) if each is not None]
    several = len(counts) > 1
    return {
        "all_fit_alone": None if None in alone else all(alone),
        "some_fit_alone": None if None in alone else any(alone),
        "fewest_count": min(counts) if several else None,
        "most_count": max(counts) if counts else None,
        "most_hosts": max(hosts) if hosts else None,
        "coverage_most": max(model_counts) if len(model_counts) > 1 else None,
        "coverage_least": min(model_counts) if len(model_counts) > 1 else None,
    }


def _list_load_facts(views: Sequence[AcceleratorView], parts: Sequence[FactValues]) -> dict[str, FactValue]:
    shares = [each for each in (get_number(part, "decode_share") for part in parts) if each is not None]
    traffic = [each for each in (get_number(part, "host_traffic_gbs") for part in parts) if each is not None]
    return {
        "bound_by": _find_binding_limiter(view.estimate for view in views),
        "decode_share": sum(shares) / len(shares) if shares else None,
        "host_traffic_most_gbs": max(traffic) if traffic else None,
    }


def _find_binding_limiter(estimates: Iterable[Estimate | None]) -> str | None:
    """Return the limiter of most deployments; ties go to the first among limiters."""
    limiters = Counter(each.limiter for each in estimates if each is not None and each.limiter is not None)
    if not limiters:
        return None
    order = list(Limiter)
    return min(limiters, key=lambda limiter: (-limiters[limiter], order.index(limiter))).value


def _list_scenario_cost_facts(views: Sequence[AcceleratorView]) -> dict[str, FactValue]:
    if not views:
        return {}
    costs = views[0].costs
    fleet = costs.inputs.get("fleet")
    # Costs assume a number of accelerators that share software; without a stated number there is no order size.
    is_user_value = fleet is not None and fleet.origin is CostInputOrigin.YOURS
    return {
        "years": get_likely_input(costs, "years"),
        "fleet": get_likely_input(costs, "fleet") if is_user_value else None,
    }


def list_platform_facts(
    current: FactValue, part: Mapping[str, FactValue], widest: int, engines_by_platform: Mapping[str, int]
) -> dict[str, FactValue]:
    """Return the facts of a column about the user's platform and the breadth of its own."""
    platform = part.get("platform")
    needs_port = _needs_port(current, platform)
    wide = max((engines_by_platform.get(name, 0) for name in str(platform).split(", ")), default=0)
    return {"needs_port": needs_port, "widest_software": wide >= widest}


def _needs_port(current: FactValue, platform: FactValue) -> bool | None:
    """Whether software has to be ported to a platform; from an unnamed one only to the common ones."""
    if not isinstance(current, str) or not isinstance(platform, str):
        return None
    names = platform.split(", ")
    if current == OTHER_PLATFORM:
        return True if COMMON_PLATFORMS & set(names) else None
    return current != "none" and current not in names


#: The open ways to pay for each column.
Payments = tuple[tuple[PaymentBasis, ...], ...]
#: Stands for the user's own code instead of a serving engine.
_OWN = "own"
_ANY = "any"


@frozen_dataclass
class DecisionFacts:
    """The columns of a scenario with their facts, its costs, and the serving engines of each platform.

    `widest` is the largest number of engines of a compared platform. With `ranked_apart`, announced columns are not
    ranked with shipping ones.
    """

    answer: Answer
    views: tuple[AcceleratorView, ...]
    parts: tuple[dict[str, FactValue], ...]
    costs: CostAnswer
    situations: tuple[AcceleratorCostInputs, ...]
    engines: tuple[frozenset[str], ...]
    engines_by_platform: Mapping[str, int]
    widest: int
    ranked_apart: bool
    #: Leaders by the remaining columns and the way to pay for each: independent of other answers.
    leading: dict[tuple[tuple[int, ...], Payments], list[dict[str, FactValue]]] = field(default_factory=dict)

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the columns in the scenario as it was answered, before counts were chosen."""
        return tuple(view.key for view in self.views)

    def facts(self, places: Sequence[int]) -> dict[str, FactValue]:
        views, parts = [self.views[place] for place in places], [self.parts[place] for place in places]
        return list_scenario_facts(self.answer, views, parts)

    def list_engine_facts(self, engine_fact: FactValue) -> list[dict[str, FactValue]]:
        """Return for each column whether the requested serving engine runs on it."""
        return [{"runs_engine": _runs_engine(engine_fact, engines)} for engines in self.engines]

    def everywhere(self, engine_fact: FactValue, places: Sequence[int]) -> bool | None:
        """Whether a serving engine, or any engine, runs on all of these; None for own code."""
        engines = [self.engines[place] for place in places]
        if engine_fact == _ANY:
            return bool(frozenset.intersection(*engines)) if engines else None
        runs = [_runs_engine(engine_fact, each) for each in engines]
        return None if None in runs else all(runs)


def _runs_engine(engine_fact: FactValue, engines: frozenset[str]) -> bool | None:
    if engine_fact in (_OWN, None):
        return None
    return bool(engines) if engine_fact == _ANY else engine_fact in engines


#: Cached answers by their questions: those between which a user alternates.
_KEPT: Final = 16


class _EngineAnswers(NamedTuple):
    """Engine results for a column: one request on one accelerator, and on the fewest."""

    alone: Estimate | InputError
    fewest: Estimate | InputError
    serving: int
    model_count: int
    rows: int


class _RecordedFacts(NamedTuple):
    """Records about an accelerator: its engines, deployments with named operators, and export control."""

    engines: frozenset[str]
    references: int
    export: dict[str, FactValue]


class DecisionFactsBuilder:
    """Builds the facts of answered scenarios; the last ones are cached, because dialogues ask again and again."""

    def __init__(self, service: DecisionServices) -> None:
        self._service = service
        self._chooser = DeploymentChooser(service)
        self._last: dict[tuple[int, str | None, tuple[str, ...]], tuple[Answer, DecisionFacts]] = {}
        # The last of each: they stay while a load is dragged.
        self._single: dict[tuple[EstimateRequest, ...], Sequence[Estimate | InputError]] = {}
        self._fit_counts: dict[tuple[FitQuestion, str], int] = {}
        self._engine_answers: dict[int, tuple[tuple[ComparisonColumn, ...], tuple[_EngineAnswers, ...]]] = {}
        # The catalog does not change in its lifetime.
        self._recorded: dict[str, _RecordedFacts] = {}

    def fork(self, answer: Answer | None = None) -> DecisionFactsBuilder:
        """Return one for a job on its thread, with the engine results for this answer."""
        builder = DecisionFactsBuilder(self._service)
        # Every thread would count the same.
        builder._fit_counts = self._fit_counts
        if answer is None:
            return builder
        builder._chooser.take_over(self._chooser)
        builder._single = self._single
        builder._engine_answers, builder._recorded = dict(self._engine_answers), dict(self._recorded)
        builder._engine_answers[id(answer.columns)] = answer.columns, self._list_engine_answers(answer)
        return builder

    def of(self, answer: Answer, answers: Mapping[str, QuestionAnswer]) -> DecisionFacts:
        """Return the facts of an answer on the deployments to judge under answers in the dialogue."""
        sized = self._chooser.choose(answer, answers)
        platform = get_cost_platform(answers)
        # Counts of the deployments would change the keys of duplicates.
        key = id(sized), platform, answer.keys
        cached = self._last.get(key)
        if cached is None or cached[0] is not sized:
            if len(self._last) >= _KEPT:
                self._last.clear()
            self._last[key] = cached = sized, self._make_facts(sized, *key[1:])
        return cached[1]

    def list_set_counts(self, answer: Answer, answers: Mapping[str, QuestionAnswer]) -> Mapping[str, int | None]:
        """Return the count for the demand of each column whose stated one is another; none without a demand."""
        return self._chooser.list_set_counts(answer.scenario, answers)

    def list_media_fits(self, answer: Answer) -> tuple[MediaFit, ...]:
        """Return which image and video models each accelerator holds: in BF16, with the sizes of their pipelines."""
        fits = []
        for key, column in zip(answer.keys, answer.columns, strict=True):
            names_by_fit: dict[bool, list[str]] = {True: [], False: []}
            for model in self._service.catalog.diffusion_models():
                with suppress(InputError):
                    request = DiffusionRequest(column.accelerator.id, model.id)
                    names_by_fit[self._service.estimate_diffusion(request).fits].append(model.name)
            fits.append(MediaFit(key, tuple(names_by_fit[True]), tuple(names_by_fit[False])))
        return tuple(fits)

    def search_ways_out(
        self, ground: DecisionFacts, decision: Decision, decide: Callable[[Answer, Mapping[str, AnswerValue]], Decision]
    ) -> ProgressSteps[tuple[WayOut, ...]]:
        """Search for changes after which a deployment meets every limit, as `search_ways_out` does."""
        from gpudesk.decision.outcome.ways_out import search_ways_out

        terms = self._chooser.read_terms(decision.answers)
        return search_ways_out(self._service, ground.answer, terms, decision, decide)

    def _make_facts(self, answer: Answer, platform: str | None, keys: tuple[str, ...]) -> DecisionFacts:
        scenario = cost_on_platform(answer.scenario, platform)
        costed = answer if scenario is answer.scenario else replace(answer, scenario=scenario)
        costing = self._service.costing
        costs, situations = costing.costs(costed, brief=True), costing.situations(costed)
        views = self._make_views(answer, costs, keys)
        parts = tuple(list_accelerator_facts(view) for view in views)
        compared = {name for column in answer.columns for name in list_platforms(column.accelerator)}
        by_platform = self._engines_by_platform
        return DecisionFacts(
            answer=answer,
            views=views,
            parts=parts,
            costs=costs,
            situations=situations,
            engines=tuple(self._get_recorded(column.accelerator.id).engines for column in answer.columns),
            engines_by_platform=by_platform,
            widest=max((by_platform.get(name, 0) for name in compared), default=0),
            ranked_apart=bool(answer.unranked),
        )

    def _get_recorded(self, part_id: str) -> _RecordedFacts:
        if part_id not in self._recorded:
            records = self._service.reference_data
            references, export = records.count_named_references(part_id), records.export_facts(part_id)
            self._recorded[part_id] = _RecordedFacts(self._list_engines(part_id), references, export)
        return self._recorded[part_id]

    def _list_engines(self, part_id: str) -> frozenset[str]:
        catalog = self._service.catalog
        part = catalog.accelerator(part_id)
        return frozenset(engine.id for engine in catalog.serving_engines() if engine.runs_on(part))

    @cached_property
    def _engines_by_platform(self) -> Mapping[str, int]:
        """The number of serving engines of each platform."""
        engine_ids: dict[str, set[str]] = {}
        for part in self._service.catalog.accelerators():
            for name in list_platforms(part):
                engine_ids.setdefault(name, set()).update(self._list_engines(part.id))
        return {name: len(engines) for name, engines in engine_ids.items()}

    @cached_property
    def _usual_delivery(self) -> Mapping[bool, IntervalEstimate]:
        """The weeks of delivery of those off the shelf (True) and of other accelerators."""
        catalog = self._service.catalog
        return find_usual_delivery((part, catalog.list_systems_with(part.id)) for part in catalog.accelerators())

    def _make_views(self, answer: Answer, costs: CostAnswer, keys: tuple[str, ...]) -> tuple[AcceleratorView, ...]:
        catalog, fleet = self._service.catalog, answer.scenario.fleet
        systems = [catalog.list_systems_with(column.accelerator.id) for column in answer.columns]
        recorded = [self._get_recorded(column.accelerator.id) for column in answer.columns]
        return tuple(
            AcceleratorView(
                key=keys[place],
                column=column,
                alone=engine_answers.alone,
                fewest=engine_answers.fewest,
                costs=costs.columns[place],
                engines=tuple(sorted(recorded[place].engines)),
                serving=engine_answers.serving,
                model_count=engine_answers.model_count,
                rows=engine_answers.rows,
                references=recorded[place].references,
                export=recorded[place].export,
                site=find_site_needs(column.accelerator, systems[place], fleet),
                usual_weeks=self._usual_delivery.get(is_off_the_shelf(column.accelerator, systems[place])),
            )
            for place, (column, engine_answers) in enumerate(
                zip(answer.columns, self._list_engine_answers(answer), strict=True)
            )
        )

    def _list_engine_answers(self, answer: Answer) -> tuple[_EngineAnswers, ...]:
        """Return the engine's further results for an answer; they do not change with costs."""
        # Jobs ask for other answers meanwhile: return that of this call.
        last = self._engine_answers.get(id(answer.columns))
        if last is None or last[0] is not answer.columns:
            estimates = self._estimate_single(answer)
            engine_answers = tuple(
                _EngineAnswers(
                    alone=estimates[place],
                    fewest=estimates[place + len(answer.columns)],
                    serving=self._count_serving_engines(answer, column.accelerator),
                    model_count=self._count_held(answer, column.accelerator.id),
                    rows=0 if column.estimate is None else self._count_rows(column.estimate),
                )
                for place, column in enumerate(answer.columns)
            )
            if len(self._engine_answers) >= _KEPT:
                self._engine_answers.clear()
            self._engine_answers[id(answer.columns)] = last = answer.columns, engine_answers
        return last[1]

    def _estimate_single(self, answer: Answer) -> Sequence[Estimate | InputError]:
        """Return estimates of a single request on one of each accelerator, then on the fewest; no load changes them."""
        requests = answer.scenario.requests()
        single_requests = tuple(_make_single_request(each, count) for count in (1, None) for each in requests)
        if single_requests not in self._single:
            self._single = {single_requests: self._service.estimator.estimate_many(single_requests)}
        return self._single[single_requests]

    def _count_serving_engines(self, answer: Answer, part: Accelerator) -> int:
        scenario = answer.scenario
        return sum(
            not find_objections(engine, part, answer.model, scenario.weights, scenario.kv, scenario.date)
            for engine in self._service.catalog.serving_engines()
        )

    def _count_rows(self, estimate: Estimate) -> int:
        return self._service.count_calibration_rows(estimate).together

    def _count_held(self, answer: Answer, part_id: str) -> int:
        """Return how many catalog models one accelerator holds in the formats of the scenario."""
        question = FitQuestion(answer.scenario.weights, answer.scenario.kv)
        if (question, part_id) not in self._fit_counts:
            self._fit_counts[question, part_id] = self._service.count_models_held(question, part_id)
        return self._fit_counts[question, part_id]


def _make_single_request(request: EstimateRequest, count: int | None) -> EstimateRequest:
    """Return the request for a single request in flight on this many accelerators, None for the fewest."""
    one = Load(LoadKind.CONCURRENCY, concurrency=1)
    return replace(request.with_open_plan(count), workload=replace(request.workload, load=one))
