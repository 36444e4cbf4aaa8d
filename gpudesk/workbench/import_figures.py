"""What a proposal comes to, computed before it is written: sizes of a model, ranges of prices."""

from __future__ import annotations

import json

from gpudesk.catalog.definitions import model_of
from gpudesk.catalog.queries import Catalog
from gpudesk.domain.deployments import ParallelPlan
from gpudesk.domain.imports import ImportFigures, ModelFigures, PriceFigures
from gpudesk.domain.models import Model
from gpudesk.domain.own_facts import OwnAccelerator, OwnFacts, OwnModel, OwnPrice, Proposal
from gpudesk.domain.precision import Precision
from gpudesk.engine.kv import cache_profile
from gpudesk.engine.tensors import active_parameter_count, parameter_count
from gpudesk.workbench.price_summary import price_summary
from gpudesk.workbench.proposals import subject_of


def import_figures(proposal: Proposal, catalog: Catalog) -> ImportFigures:
    """Return the figures of a model, an accelerator or a list of prices; none for a pack."""
    subject = subject_of(proposal)
    if isinstance(subject, OwnModel):
        return ImportFigures(model=model_figures(model_of(json.loads(subject.definition))))
    if isinstance(subject, OwnAccelerator):
        alone = catalog.with_own(OwnFacts.of(proposal.facts))
        return ImportFigures(attributes=alone.attributes(subject.id))
    return ImportFigures(prices=price_figures(proposal, catalog))


def model_figures(model: Model) -> ModelFigures:
    """Return what a model takes: parameters, and its cache in a format of two bytes a number."""
    cache = cache_profile(model, Precision.BF16, ParallelPlan())
    windowed = [growth for growth in cache.stored if growth.window is not None]
    return ModelFigures(
        layers=model.layer_count,
        hidden_size=model.hidden_size,
        vocab_size=model.vocab_size,
        max_context=model.max_context,
        parameters=parameter_count(model),
        active_parameters=active_parameter_count(model),
        kv_bytes_per_token=sum(growth.per_token for growth in cache.stored if growth.window is None),
        windowed_bytes_per_token=sum(growth.per_token for growth in windowed),
        window=max((growth.window for growth in windowed if growth.window is not None), default=None),
        state_bytes=cache.state_bytes,
        precision=None if model.native_precision is None else model.native_precision.value,
    )


def price_figures(proposal: Proposal, catalog: Catalog) -> tuple[PriceFigures, ...]:
    """Return the ranges of prices by part and term, in the order of the catalog's parts."""
    prices = (fact for fact in proposal.facts if isinstance(fact, OwnPrice))
    names = {thing.id: thing.name for thing in catalog.things()}
    order = {thing: place for place, thing in enumerate(names)}
    found = sorted(price_summary(prices), key=lambda each: order.get(each.accelerator, len(order)))
    return tuple(PriceFigures(names.get(each.accelerator, each.accelerator), each) for each in found)
