"""From a scenario to its answer: facts, estimates, differences and disputes, frozen under one hash."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from itertools import combinations
from types import MappingProxyType
from typing import Any, Protocol

import orjson

from gpudesk.domain.accelerators import Accelerator
from gpudesk.domain.answers import Answer, Column, Curve, Difference
from gpudesk.domain.claims import Attribute, Dispute
from gpudesk.domain.comparison import HIGHER_IS_BETTER, column_keys
from gpudesk.domain.estimates import Estimate, EstimateRequest
from gpudesk.domain.messages import InputError, Message, message
from gpudesk.domain.models import Model
from gpudesk.domain.scenarios import Scenario


class Facts(Protocol):
    """What an answer takes from the catalog; each method raises `InputError` for an unknown id."""

    @property
    def revision(self) -> str:
        """Digest of all facts."""

    @property
    def data_date(self) -> str:
        """Day of the newest fact."""

    def accelerator(self, accelerator_id: str) -> Accelerator:
        """Return a part by its id."""

    def model(self, model_id: str) -> Model:
        """Return a model by its id."""

    def attributes(self, thing_id: str) -> tuple[Attribute, ...]:
        """Return all attributes of a thing with their claims."""

    def disputes(self, thing: str | None = None) -> tuple[Dispute, ...]:
        """Return the judged contradictions about a thing."""


class Estimates(Protocol):
    """What an answer takes from the estimator."""

    def estimate_many(self, requests: Sequence[EstimateRequest]) -> list[Estimate | InputError]:
        """Return one answer for each request, in order."""

    def curves(self, estimates: Sequence[Estimate]) -> tuple[Curve, ...]:
        """Return for each estimate, which fits, its figures against concurrency."""

    def differences(self, baseline: Estimate, other: Estimate) -> tuple[Difference, ...]:
        """Compare two estimates figure by figure."""


def check_ids(scenario: Scenario, facts: Facts) -> None:
    """Raise `InputError`, with the place in the scenario, for an id that the catalog does not have.

    What the scenario leaves open is not looked for.
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


def answer_scenario(
    scenario: Scenario,
    facts: Facts,
    estimates: Estimates,
    calibration: str,
    *,
    with_curves: bool = False,
    rank_announced: bool = False,
) -> Answer:
    """Return the answer to a scenario; `calibration` names the constants that the estimates rest on.

    A part that cannot be estimated keeps its column, with the problem. Announced parts are ranked beside
    shipping ones only where that is asked for. A scenario without a model or without accelerators, and an
    unknown id, raise `InputError`.
    """
    if not scenario.model:
        raise InputError(message("scenario.no_model"), "scenario.model")
    if not scenario.accelerators:
        raise InputError(message("scenario.no_accelerators"), "scenario.accelerators")
    check_ids(scenario, facts)
    found = estimates.estimate_many(scenario.requests())
    columns = tuple(_column(scenario, position, result, facts) for position, result in enumerate(found))
    if with_curves:
        columns = _with_curves(columns, estimates)
    unranked = () if rank_announced else _unranked(columns)
    return Answer(
        scenario=scenario,
        catalog_revision=facts.revision,
        data_date=facts.data_date,
        calibration=calibration,
        model=facts.model(scenario.model),
        model_attributes=_by_name(facts.attributes(scenario.model)),
        columns=columns,
        differences=_differences(scenario, columns, estimates),
        disputes=_disputes(scenario, facts),
        notes=_notes(scenario, facts, tuple(columns[place].accelerator.name for place in unranked)),
        digest=content_hash,
        unranked=unranked,
    )


def _column(scenario: Scenario, position: int, result: Estimate | InputError, facts: Facts) -> Column:
    choice = scenario.accelerators[position]
    estimate = result if isinstance(result, Estimate) else None
    return Column(
        choice=choice,
        accelerator=facts.accelerator(choice.accelerator),
        attributes=_by_name(facts.attributes(choice.accelerator)),
        estimate=estimate,
        curve=None,
        problem=result.problem if isinstance(result, InputError) else None,
    )


def _unranked(columns: tuple[Column, ...]) -> tuple[int, ...]:
    """Return the positions of the announced columns, none where no other stands beside them."""
    announced = tuple(place for place, column in enumerate(columns) if column.accelerator.announced)
    return () if len(announced) == len(columns) else announced


def _with_curves(columns: tuple[Column, ...], estimates: Estimates) -> tuple[Column, ...]:
    """Return the columns with the curves of those that fit."""
    fitting = [column.estimate for column in columns if column.estimate and column.estimate.fits]
    curves = iter(estimates.curves(fitting))
    return tuple(
        replace(column, curve=next(curves)) if column.estimate and column.estimate.fits else column
        for column in columns
    )


def _by_name(attributes: tuple[Attribute, ...]) -> Mapping[str, Attribute]:
    return MappingProxyType({attribute.name: attribute for attribute in attributes})


def _differences(
    scenario: Scenario, columns: tuple[Column, ...], estimates: Estimates
) -> tuple[Difference, ...]:
    """Compare every pair of columns, the baseline's first, so that who leads can be read off."""
    keys = column_keys(scenario.accelerators)
    found = []
    for (one, baseline), (two, other) in combinations(zip(keys, columns, strict=True), 2):
        if baseline.estimate is None or other.estimate is None:
            continue
        compared = estimates.differences(baseline.estimate, other.estimate)
        found += [_named(difference, one, two) for difference in compared]
    return tuple(found)


def _named(difference: Difference, baseline: str, other: str) -> Difference:
    """Return a difference under the keys of its columns, which tell two counts of one part apart."""
    winner = None
    if difference.winner is not None:
        other_wins = (difference.ratio.value > 1) == HIGHER_IS_BETTER[difference.figure]
        winner = other if other_wins else baseline
    return Difference(difference.figure, other, baseline, difference.ratio, winner)


def _disputes(scenario: Scenario, facts: Facts) -> tuple[Dispute, ...]:
    """Return the contradictions about the things of the scenario, each once."""
    things = dict.fromkeys([*(choice.accelerator for choice in scenario.accelerators), scenario.model])
    found = {dispute.id: dispute for thing in things for dispute in facts.disputes(thing)}
    return tuple(found.values())


def _notes(scenario: Scenario, facts: Facts, unranked: tuple[str, ...]) -> tuple[Message, ...]:
    notes = [message("answer.unranked", names=tuple(dict.fromkeys(unranked)))] if unranked else []
    if scenario.catalog_revision not in (None, facts.revision):
        notes.append(message("answer.other_catalog", date=facts.data_date))
    return tuple(notes)


def content_hash(answer: Answer) -> str:
    """Return the SHA-256 of the answer's content.

    What only the file carries, the places in the palette, and curves, which follow from the rest, are left
    out: the same comparison has the same hash wherever it is shown.
    """
    content = {field.name: getattr(answer, field.name) for field in fields(answer)}
    content["scenario"] = replace(
        answer.scenario,
        catalog_revision=None,
        own_records=(),
        unknown_sections=MappingProxyType({}),
        accelerators=tuple(replace(choice, slot=None) for choice in answer.scenario.accelerators),
    )
    content["columns"] = tuple(
        replace(column, choice=replace(column.choice, slot=None), curve=None) for column in answer.columns
    )
    del content["digest"], content["notes"]
    canonical = orjson.dumps(content, default=_plain, option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(canonical).hexdigest()


def _plain(value: object) -> Any:  # noqa: ANN401 - whatever JSON can hold
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, tuple):
        # Named tuples, which are tuples to everybody but the encoder.
        return list(value)
    raise TypeError(type(value).__name__)
