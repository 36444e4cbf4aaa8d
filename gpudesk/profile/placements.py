"""How an accelerator holds each model of the catalog: weight format, count, context, and estimates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

from gpudesk.domain.estimate import Estimate, EstimateRequest, Load, LoadKind, ParallelPlan, Workload
from gpudesk.domain.precision import STORAGE_FORMATS, Precision, resolve_fp4
from gpudesk.domain.profile import ProfileQuestion
from gpudesk.domain.sizing import FitQuestion
from gpudesk.engine.sharding import shard_model
from gpudesk.estimation.sizing.fit_matrix import DeploymentLadder, FitFinder, LadderStep
from gpudesk.estimation.sizing.minimum import WIDTHS, list_weight_formats
from gpudesk.text.messages import InputError, Message, message

if TYPE_CHECKING:
    from gpudesk.domain.accelerator import Accelerator
    from gpudesk.domain.model import Model

#: The longest context to search for models without a stated maximum; tokens.
_LONGEST_ASSUMED: Final = 131_072


@dataclass(frozen=True, slots=True)
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
        placed = [each for each in self.formats if each.count is not None]
        return min(placed, key=lambda each: each.count or 0, default=None)

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
    accelerator = ladder.configuration.accelerator
    return message(
        "profile.beyond_host",
        "Needs {count} × {accelerator}; one host or scale-up domain has {most}",
        count=beyond.memory.plan.count,
        accelerator=accelerator.name,
        most=accelerator.cards_per_host,
    )


class PlacementFinder:
    """Places models on accelerators for one question; the fit finder caches the rest."""

    def __init__(self, fit: FitFinder, question: ProfileQuestion, served: int) -> None:
        """Place for requests of the question; `served` is how many at once a model that runs well serves."""
        self._fit = fit
        self._engine = question.serving_engine
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
        question = FitQuestion(weights, context=self.tokens, serving_engine=self._engine)
        return self._fit.find_ladder(question, accelerator, model)


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
        self,
        accelerator: str,
        model: str,
        weights: Precision,
        count: int | None,
        *,
        kv: Precision = Precision.FP16,
        alone: bool = False,
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
