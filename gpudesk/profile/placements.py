"""Common data of a profile: how an accelerator holds each model of the catalog, estimates and prices."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from gpudesk.catalog.read import Catalog
from gpudesk.costing.scenario_costs import CostCalculator
from gpudesk.domain.accelerator import Accelerator, resolve_fp4
from gpudesk.domain.answer import AcceleratorChoice, ComparisonColumn
from gpudesk.domain.cost import ResolvedCostInput
from gpudesk.domain.estimate import Estimate, EstimateRequest, Load, LoadKind, ParallelPlan, Workload
from gpudesk.domain.model import Model
from gpudesk.domain.precision import STORAGE_FORMATS, Precision
from gpudesk.domain.profile import ProfileQuestion
from gpudesk.domain.sizing import FitQuestion
from gpudesk.engine.sharding import shard_model
from gpudesk.estimation.sizing.fit_matrix import DeploymentLadder, FitFinder, LadderStep, count_model_parameters
from gpudesk.estimation.sizing.minimum import WIDTHS, list_weight_formats
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.profile.settings import ProfileSettings
from gpudesk.text.formatting import ClaimValue, IntervalEstimate
from gpudesk.text.messages import InputError, Message, message
from gpudesk.text.units import MONTHS_PER_YEAR

#: The longest context to search for models without a stated maximum; tokens.
_LONGEST_ASSUMED: Final = 131_072


@frozen_dataclass
class FormatPlacement:
    """A model with its weights in one format: the smallest deployment within a host or domain, None without one.

    `step` holds one request, `served` as many as a model that runs well serves at once. `ladder` is the reason if no
    serving engine runs the format.
    """

    weights: Precision
    ladder: DeploymentLadder | Message
    step: LadderStep | None = None
    served: LadderStep | None = None

    @property
    def kv(self) -> Precision:
        return self.ladder.configuration.kv if isinstance(self.ladder, DeploymentLadder) else Precision.FP16

    @property
    def count(self) -> int | None:
        return None if self.step is None else self.step.memory.plan.count

    @property
    def served_count(self) -> int | None:
        return None if self.served is None else self.served.memory.plan.count


@dataclass(frozen=True)
class ModelPlacement:
    """A model on an accelerator: every format tried, from the published one to the narrowest."""

    model: Model
    published: Precision
    formats: tuple[FormatPlacement, ...]

    @cached_property
    def best(self) -> FormatPlacement | None:
        """The first format that one accelerator holds, else that of the fewest accelerators; None without one."""
        possible_formats = [each for each in self.formats if each.count is not None]
        return min(possible_formats, key=lambda each: each.count or 0, default=None)

    @property
    def held_alone(self) -> bool:
        best = self.best
        return best is not None and best.count == 1

    @cached_property
    def deployment(self) -> FormatPlacement | None:
        """The deployment to use: the first format in which the fewest accelerators serve, else `best`."""
        served = [each for each in self.formats if each.served is not None]
        return min(served, key=lambda each: each.served_count or 0, default=self.best)

    @property
    def deployed_step(self) -> LadderStep | None:
        deployment = self.deployment
        return None if deployment is None else deployment.served or deployment.step

    @property
    def deployed_count(self) -> int | None:
        step = self.deployed_step
        return None if step is None else step.memory.plan.count

    @property
    def is_native(self) -> bool:
        deployment = self.deployment
        return deployment is not None and deployment.weights is self.published

    def find_kv(self, weights: Precision) -> Precision:
        """Return the KV cache of the tried format with these weights."""
        return next(each.kv for each in self.formats if each.weights is weights)

    def find_longest_context(self) -> int:
        """Return the longest sequence in tokens that the deployment holds, up to the model's own maximum."""
        step = self.deployed_step
        return 0 if step is None else step.find_longest_context(self.model.max_context or _LONGEST_ASSUMED)

    def explain(self, tokens: int) -> Message:
        """Return why no format fits: for the narrowest one that a serving engine runs, else for the first."""
        runnable = [each.ladder for each in self.formats if isinstance(each.ladder, DeploymentLadder)]
        if runnable:
            return _explain_ladder(runnable[-1], tokens)
        first = self.formats[0].ladder
        assert isinstance(first, Message)
        return first


def _explain_ladder(ladder: DeploymentLadder, tokens: int) -> Message:
    """Return why no deployment within a host or domain holds a request, with the smallest larger one that does."""
    beyond = ladder.lowest(tokens, 1)
    if beyond is None:
        return ladder.reason(tokens, 1)
    return message(
        "profile.beyond_host",
        "Needs {count}; a host or scale-up domain has {most}",
        count=beyond.memory.plan.count,
        most=ladder.configuration.accelerator.cards_per_host,
    )


class PlacementFinder:
    """Places models on accelerators for one question; the fit finder caches the rest."""

    def __init__(self, fit: FitFinder, question: ProfileQuestion, served: int) -> None:
        """Place for requests of the question; `served` is how many at once a model that runs well serves."""
        self._fit = fit
        self._engine = question.serving_engine
        self._kv = question.kv
        self._served: Final = min(served, question.concurrency)
        self.tokens: Final = question.input_tokens + question.output_tokens

    def place(self, accelerator: Accelerator, model: Model) -> ModelPlacement:
        """Return how a model is placed within a host or scale-up domain."""
        published = resolve_fp4(model.native_precision or Precision.BF16, accelerator.vendor)
        limit = accelerator.cards_per_host
        bits = STORAGE_FORMATS[published].bits
        narrower = [width for width in WIDTHS if width < bits]
        formats: list[FormatPlacement] = []
        for width in (bits, *narrower):
            placement = self._place_width(accelerator, model, published, width, limit)
            formats.append(placement)
            if placement.served_count == 1:
                break
        if all(isinstance(each.ladder, Message) for each in formats):
            # No engine runs the checkpoint directly: it can be converted to a wider format.
            wider = [width for width in reversed(WIDTHS) if width > bits]
            formats += [self._place_width(accelerator, model, published, width, limit) for width in wider]
        return ModelPlacement(model, published, tuple(formats))

    def is_within_context(self, model: Model) -> bool:
        """Whether a model reads a request of the question."""
        return model.max_context is None or self.tokens <= model.max_context

    def holds_alone(self, accelerator: Accelerator, model: Model) -> bool:
        """Whether one accelerator holds a model in some format."""
        published = resolve_fp4(model.native_precision or Precision.BF16, accelerator.vendor)
        bits = STORAGE_FORMATS[published].bits
        for width in (*(width for width in reversed(WIDTHS) if width < bits), bits):
            formats = list_weight_formats(width, published, model, accelerator)
            if not any(_has_room(accelerator, model, weights) for weights in formats):
                # Wider formats need more memory.
                return False
            for weights in formats:
                ladder = self._find_ladder(accelerator, model, weights)
                if isinstance(ladder, DeploymentLadder):
                    return ladder.lowest(self.tokens, 1, 1) is not None
        return False

    def _place_width(
        self, accelerator: Accelerator, model: Model, published: Precision, width: int, limit: int
    ) -> FormatPlacement:
        """Return the first format of a width that some serving engine runs, else the refusal of the first."""
        refused: FormatPlacement | None = None
        for weights in list_weight_formats(width, published, model, accelerator):
            ladder = self._find_ladder(accelerator, model, weights)
            if isinstance(ladder, DeploymentLadder):
                step = ladder.lowest(self.tokens, 1, limit)
                served = None if step is None else ladder.lowest(self.tokens, self._served, limit)
                return FormatPlacement(weights, ladder, step, served)
            refused = refused or FormatPlacement(weights, ladder)
        assert refused is not None
        return refused

    def _find_ladder(self, accelerator: Accelerator, model: Model, weights: Precision) -> DeploymentLadder | Message:
        if not self.is_within_context(model):
            return message(
                "profile.beyond_context",
                "supports at most {most} tokens, input and output together",
                most=model.max_context or 0,
            )
        question = FitQuestion(weights, self._kv, context=self.tokens, serving_engine=self._engine)
        ladder = self._fit.find_ladder(question, accelerator, model)
        if isinstance(ladder, Message) and self._kv is not Precision.FP16:
            # The format of the scenario's model is not supported for every model and accelerator.
            return self._fit.find_ladder(replace(question, kv=Precision.FP16), accelerator, model)
        return ladder


def _has_room(accelerator: Accelerator, model: Model, weights: Precision) -> bool:
    """Whether the weights alone fit one accelerator; True if the dimensions of the model are unknown."""
    if not model.dimensions_known:
        return True
    return shard_model(model, weights, ParallelPlan()).resident_bytes < accelerator.memory_bytes


class EstimateMemo:
    """Answers each request of a profile once; requests of one call share a vectorized pass."""

    def __init__(
        self,
        question: ProfileQuestion,
        estimate_many: Callable[[Sequence[EstimateRequest]], list[Estimate | InputError]],
    ) -> None:
        self._question = question
        self._estimate_many = estimate_many
        self._answers: dict[EstimateRequest, Estimate | InputError] = {}

    def make_request(
        self, accelerator: str, model: str, weights: Precision, count: int | None, kv: Precision, *, alone: bool = False
    ) -> EstimateRequest:
        """Return the request for a model under the load of the profile, or for a single request in flight."""
        question = self._question
        load = Load(LoadKind.CONCURRENCY, concurrency=1 if alone else question.concurrency)
        return EstimateRequest(
            accelerator,
            model,
            weights,
            Workload(question.input_tokens, question.output_tokens, load),
            kv=kv,
            count=count,
            serving_engine=question.serving_engine,
        )

    def answer(self, requests: Sequence[EstimateRequest]) -> list[Estimate | InputError]:
        """Return estimates in the order of the requests; a failed one gives its `InputError`."""
        missing = [each for each in dict.fromkeys(requests) if each not in self._answers]
        self._answers.update(zip(missing, self._estimate_many(missing), strict=True))
        return [self._answers[each] for each in requests]

    def fitting(self, requests: Sequence[EstimateRequest]) -> list[Estimate | None]:
        """Return the estimates that fit, None in place of all others."""
        return [each if isinstance(each, Estimate) and each.fits else None for each in self.answer(requests)]


def explain_answer(answer: Estimate | InputError) -> Message | None:
    """Return why an answer has no figures, None where it has."""
    return answer.problem if isinstance(answer, InputError) else answer.reason


def iterate_held(
    placements: Mapping[str, ModelPlacement],
) -> Iterator[tuple[ModelPlacement, FormatPlacement, LadderStep]]:
    """Yield the models that one accelerator runs, each with its format and deployment."""
    for placement in placements.values():
        deployment, step = placement.deployment, placement.deployed_step
        if deployment is not None and step is not None and step.memory.plan.count == 1:
            yield placement, deployment, step


#: A year with a month, a quarter or a half: 2024-10-10, 2024-Q2, 2026-H2.
_DATE: Final = re.compile(r"(\d{4})(?:-(?:(\d{2})|Q([1-4])|H([12])))?")


def count_months(date: str | None) -> int | None:
    """Return the months from year 0 to a date; quarters, halves and years count from their middle.

    None for anything that is not a date.
    """
    match = _DATE.match(date or "")
    if match is None:
        return None
    year, month, quarter, half = match.groups()
    if month is not None:
        months = int(month)
    elif quarter is not None:
        months = 3 * int(quarter) - 1
    else:
        months = 6 * int(half) - 2 if half is not None else 7
    return int(year) * round(MONTHS_PER_YEAR) + months


@dataclass(slots=True)
class AcceleratorFacts:
    """An accelerator with its values by attribute, its purchase price in USD, and its category."""

    accelerator: Accelerator
    values: Mapping[str, ClaimValue]
    price: ResolvedCostInput
    category: str

    @property
    def price_usd(self) -> float | None:
        return None if self.price.spread is None else self.price.spread.likely

    def get_value(self, attribute: str) -> float | None:
        """Return a figure in the internal unit, that of "price" in USD; None if unknown."""
        if attribute == "price":
            return self.price_usd
        value = self.values.get(attribute)
        return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None

    def get_text(self, attribute: str) -> str | None:
        value = self.values.get(attribute)
        return None if value is None else str(value)

    @property
    def months(self) -> int | None:
        """The release date in months."""
        return count_months(self.get_text("release_date"))


@dataclass
class ProfileContext:
    """The accelerator of a profile with the data of all sections; `model` is that of counts and limits."""

    question: ProfileQuestion
    settings: ProfileSettings
    catalog: Catalog
    costing: CostCalculator
    accelerator: Accelerator
    finder: PlacementFinder
    memo: EstimateMemo
    placements: Mapping[str, ModelPlacement]
    model: str | None
    _facts: dict[str, AcceleratorFacts] = field(default_factory=dict)

    def get_accelerator_facts(self, accelerator: Accelerator) -> AcceleratorFacts:
        facts = self._facts.get(accelerator.id)
        if facts is None:
            facts = AcceleratorFacts(
                accelerator,
                self.catalog.get_accelerator_values(accelerator.id),
                self.costing.resolve_purchase_price(accelerator, self.question.costs),
                self.settings.categorize(accelerator),
            )
            self._facts[accelerator.id] = facts
        return facts

    @property
    def facts(self) -> AcceleratorFacts:
        return self.get_accelerator_facts(self.accelerator)

    @cached_property
    def others(self) -> tuple[AcceleratorFacts, ...]:
        return tuple(
            self.get_accelerator_facts(each) for each in self.catalog.accelerators() if each.id != self.accelerator.id
        )

    @cached_property
    def _model_formats(self) -> tuple[Precision, Precision] | None:
        """Weights and KV cache of the profile's model: as requested if some engine runs them, else as placed."""
        deployment = None if self.model is None else self.placements[self.model].deployment
        if self.model is None or deployment is None:
            return None
        question = self.question
        if question.precision is not None:
            formats = question.precision, question.kv
            request = self.memo.make_request(self.accelerator.id, self.model, formats[0], None, formats[1])
            if self.memo.fitting([request])[0] is not None:
                return formats
        return deployment.weights, deployment.kv

    def make_model_request(self, accelerator: str, count: int | None) -> EstimateRequest | None:
        """Return the request for the profile's model under the load; None without a model."""
        if self.model is None or self._model_formats is None:
            return None
        weights, kv = self._model_formats
        return self.memo.make_request(accelerator, self.model, weights, count, kv)

    @cached_property
    def model_count(self) -> int | None:
        """Accelerators for the profile's model; None leaves it to the estimate."""
        placement = None if self.model is None else self.placements[self.model]
        if placement is None or placement.deployment is None or self._model_formats is None:
            return None
        return placement.deployed_count if placement.deployment.weights is self._model_formats[0] else None

    def explain_no_model(self) -> Message:
        """Return why there is no request for the profile's model."""
        if self.model is not None:
            return self.placements[self.model].explain(self.finder.tokens)
        return message(
            "profile.no_model",
            "None of the {n} common models fits on one accelerator",
            n=len(self.settings.common_models),
        )

    @cached_property
    def parameters(self) -> Mapping[str, float]:
        """Total parameters of each model with a known number."""
        return count_model_parameters(self.catalog, self.catalog.models())

    def compute_cost_per_million(self, estimate: Estimate) -> IntervalEstimate | None:
        """Return USD per million output tokens: rented if a rent is known, else owned; None without either."""
        accelerator = self.catalog.accelerator(estimate.request.accelerator)
        column = ComparisonColumn(AcceleratorChoice(accelerator.id), accelerator, {}, estimate, None)
        costs = self.costing.cost_column(column, self.question.costs)
        rented = costs.rented_usd_per_million_output
        return costs.owned_usd_per_million_output if rented is None else rented
