"""The profile of one accelerator, built in steps that can be canceled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, Protocol

from gpudesk.catalog.read import Catalog
from gpudesk.costing.scenario_costs import CostCalculator
from gpudesk.decision.purchasing.reference_data import ReferenceData
from gpudesk.domain.accelerator import Accelerator
from gpudesk.domain.profile import AcceleratorProfile, Capability, ProfileQuestion
from gpudesk.domain.progress import JobProgress, ProgressSteps
from gpudesk.domain.reference_data import ExportCheck
from gpudesk.domain.registry import list_required_attributes
from gpudesk.engine.calibration import Calibration
from gpudesk.estimation.diffusion import REFUTED, DiffusionEstimator
from gpudesk.estimation.estimator import Estimator
from gpudesk.estimation.sizing.fit_matrix import FitFinder
from gpudesk.paths import MissingFileError
from gpudesk.profile.advice import (
    advise,
    find_release_date,
    list_ranked_models,
    list_ranking_requests,
    list_tags,
    make_headline,
    recommend,
    resolve_weights,
)
from gpudesk.profile.capabilities import (
    list_capabilities,
    list_capability_requests,
    list_diffusion_models,
    list_media_capabilities,
    list_scale_counts,
    list_scale_steps,
)
from gpudesk.profile.growth import list_limits, list_out_of_reach, list_upgrades
from gpudesk.profile.placements import EstimateMemo, ModelPlacement, PlacementFinder, ProfileContext
from gpudesk.profile.settings import ProfileSettings
from gpudesk.profile.standing import (
    find_peers,
    find_rivals,
    list_peer_values,
    list_traits,
    measure_memory_distance,
    measure_price_distance,
)
from gpudesk.text.messages import InputError, Message, Term, input_error, message, message_n

_STEPS: Final = 4
#: The accelerator whose vendor publishes a count of models.
_COUNTED_BY_VENDOR: Final = "mi325x"
#: The required attributes of an estimate, inside a sentence.
REQUIRED_TERMS: Final = {
    "memory": Term("memory", "memory capacity"),
    "memory_bandwidth": Term("memory_bandwidth", "memory bandwidth"),
    "software_platform": Term("software_platform", "software platform"),
}


class ProfileSource(Protocol):
    """The services that profiles need."""

    @property
    def catalog(self) -> Catalog: ...
    @property
    def calibration(self) -> Calibration: ...
    @property
    def estimator(self) -> Estimator: ...
    @property
    def fit(self) -> FitFinder: ...
    @property
    def diffusion(self) -> DiffusionEstimator: ...
    @property
    def costing(self) -> CostCalculator: ...
    @property
    def reference_data(self) -> ReferenceData: ...


class ProfileBuilder:
    """Builds profiles from one catalog."""

    def __init__(self, source: ProfileSource, settings: ProfileSettings) -> None:
        self._source = source
        self._settings = settings

    def steps(self, question: ProfileQuestion) -> ProgressSteps[AcceleratorProfile]:
        """Build a profile as a job; raises `InputError` for unknown ids and for an entry without required values."""
        yield _make_progress(0)
        context = self._begin(question)
        yield _make_progress(1)
        _answer_together(context)
        models = list_ranked_models(context)
        diffusion = self._source.diffusion
        capabilities = (*list_capabilities(context), *list_media_capabilities(context, diffusion))
        media = list_diffusion_models(context, diffusion)
        limits = list_limits(context, self._source.estimator)
        yield _make_progress(2)
        scale, out_of_reach, upgrades = list_scale_steps(context), list_out_of_reach(context), list_upgrades(context)
        yield _make_progress(3)
        peers = find_peers(context)
        by_price = find_rivals(context, measure_price_distance(context))
        by_memory = find_rivals(context, measure_memory_distance(context))
        advice = advise(models, self._check_export(context.accelerator), context)
        return AcceleratorProfile(
            question=question,
            accelerator=context.accelerator,
            attributes={each.name: each for each in context.catalog.attributes(question.accelerator)},
            category=context.facts.category,
            generation_members=tuple(each.accelerator.id for each in peers.generation),
            category_members=tuple(each.accelerator.id for each in peers.category),
            headline=make_headline(advice, limits, context),
            tags=list_tags(context, peers),
            traits=list_traits(context, peers),
            capabilities=capabilities,
            diffusion=media,
            model=context.model,
            limits=limits,
            scale=scale,
            out_of_reach=out_of_reach,
            upgrades=upgrades,
            recommendations=recommend(models, context),
            weights=resolve_weights(question, self._settings),
            peers=list_peer_values(context, peers, tuple(dict.fromkeys((*by_price, *by_memory)))),
            is_system_price=context.facts.price.system is not None,
            rivals_by_price=by_price,
            rivals_by_memory=by_memory,
            advice=advice,
            notes=tuple(_list_notes(question, capabilities, media, context)),
        )

    def _begin(self, question: ProfileQuestion) -> ProfileContext:
        catalog = self._source.catalog
        accelerator = _find_accelerator(catalog, question.accelerator)
        if question.model is not None:
            catalog.model(question.model)
        engine = question.serving_engine
        if engine is not None and not catalog.serving_engine(engine).runs_on(accelerator):
            # The profile reports this, and shows the other results.
            question = replace(question, serving_engine=None)
        finder = PlacementFinder(self._source.fit, question, self._settings.runs_well.concurrency)
        placements = {model.id: finder.place(accelerator, model) for model in catalog.models()}
        return ProfileContext(
            question=question,
            settings=self._settings,
            catalog=catalog,
            costing=self._source.costing,
            accelerator=accelerator,
            finder=finder,
            memo=EstimateMemo(question, self._source.estimator.estimate_many),
            placements=placements,
            model=question.model or self._choose_model(placements),
        )

    def _choose_model(self, placements: Mapping[str, ModelPlacement]) -> str | None:
        """Return the first common model that one accelerator holds."""
        common = [placements[model] for model in self._settings.common_models if model in placements]
        return next((each.model.id for each in common if each.held_alone), None)

    def _check_export(self, accelerator: Accelerator) -> ExportCheck | None:
        try:
            return self._source.reference_data.export_check(accelerator.id)
        except (InputError, MissingFileError):
            return None


def _answer_together(context: ProfileContext) -> None:
    """Answer most requests of a profile in one vectorized pass, and cache the answers for its sections."""
    scale = (context.make_model_request(context.accelerator.id, count) for count in list_scale_counts(context))
    context.memo.answer(
        [
            *list_ranking_requests(context),
            *list_capability_requests(context),
            *(request for request in scale if request is not None),
        ]
    )


def _make_progress(finished_steps: int) -> JobProgress:
    return JobProgress(message("profile.building", "Computing the profile"), finished_steps, _STEPS)


def _find_accelerator(catalog: Catalog, accelerator_id: str) -> Accelerator:
    """Return an accelerator; raises `InputError` that names missing required values."""
    known = {each.id for each in catalog.accelerators()}
    if accelerator_id not in known and any(each.id == accelerator_id for each in catalog.things()):
        values = catalog.get_accelerator_values(accelerator_id)
        missing = tuple(REQUIRED_TERMS[name] for name in list_required_attributes() if name not in values)
        if missing:
            raise input_error(
                "profile.incomplete",
                "{accelerator} has no {missing}; enter these values to see its profile",
                "accelerator",
                accelerator=catalog.thing(accelerator_id).name,
                missing=missing,
            )
    return catalog.accelerator(accelerator_id)


def _list_notes(
    question: ProfileQuestion, capabilities: Sequence[Capability], media: Sequence[Capability], context: ProfileContext
) -> Iterator[Message]:
    """Yield notes on the whole profile: the meaning of "fits", and reasons for deviating published counts."""
    engine = question.serving_engine
    if engine is not None and context.question.serving_engine is None:
        yield message(
            "profile.note.engine",
            "{engine} does not run on {accelerator}; each model uses the best engine that does",
            engine=context.catalog.serving_engine(engine).name,
            accelerator=context.accelerator.name,
        )
    yield message(
        "profile.note.fit",
        "Fits: weights as published or narrower, down to 4 bits, with 1 request of {tokens} tokens",
        tokens=context.finder.tokens,
    )
    short = sum(not context.finder.is_within_context(each.model) for each in context.placements.values())
    if short:
        yield message_n(
            "profile.note.context",
            "{count} model supports fewer tokens than the request and counts as not fitting",
            "{count} models support fewer tokens than the request and count as not fitting",
            "count",
            count=short,
        )
    if context.accelerator.id == _COUNTED_BY_VENDOR:
        yield message(
            "profile.note.counts",
            "The MI325X product page counts 363 of 374 models; its list is unpublished. "
            "GPU Desk counts its own {models} models",
            models=len(context.placements),
        )
    yield message(
        "profile.note.media",
        "{fits} of {models} image and video models fit on 1 accelerator",
        fits=sum(each.figure is not None for each in media),
        models=len(media),
    )
    reasons = {each.model: each.reason for each in (*capabilities, *media)}
    for model, reason in reasons.items():
        if model is not None and reason is not None and reason.id == REFUTED:
            name = context.catalog.diffusion_model(model).name
            yield message("profile.note.refuted", "{model}: {reason}", model=name, reason=reason)
    yield message(
        "profile.note.dates",
        "Release dates are known for {known} of {models} models; recency ranks only these",
        known=sum(find_release_date(model, context) is not None for model in context.placements),
        models=len(context.placements),
    )
    yield message(
        "profile.note.tier", "Model quality is not scored: without your tiers, the tier factor ranks by parameters"
    )
    yield message(
        "profile.note.estimates", "All rates are estimates with 80% intervals, except those marked as measured"
    )
