"""From a scenario to its answer: facts, estimates, differences and disputes, frozen under one hash."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from itertools import combinations
from types import MappingProxyType
from typing import Any, Final, Protocol

import orjson

from gpudesk.domain.accelerator import Accelerator
from gpudesk.domain.answer import Answer, ComparisonColumn, ConcurrencyCurve, FigureDifference, make_column_keys
from gpudesk.domain.claim import AttributeClaims, Dispute
from gpudesk.domain.estimate import Estimate, EstimateRequest
from gpudesk.domain.model import Model
from gpudesk.domain.registry import FIGURES
from gpudesk.domain.scenario import Scenario
from gpudesk.text.messages import InputError, Message, input_error, message

#: The id of the problem of `check_context`.
BEYOND_CONTEXT: Final = "scenario.beyond_context"


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


class AnswerEstimator(Protocol):
    """The part of the estimator that an answer needs."""

    def estimate_many(self, requests: Sequence[EstimateRequest]) -> list[Estimate | InputError]:
        """Return one answer for each request, in order."""

    def curves(self, estimates: Sequence[Estimate]) -> tuple[ConcurrencyCurve, ...]:
        """Return for each estimate that fits its figures by concurrency."""

    def differences(self, baseline: Estimate, other: Estimate) -> tuple[FigureDifference, ...]: ...


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
    if most is not None and work.input_tokens + work.output_tokens > most:
        raise input_error(
            "scenario.beyond_context",
            "{model} supports at most {most} tokens, input and output together; use at most {room} input tokens",
            "scenario.workload.input_tokens",
            model=model.name,
            most=most,
            room=max(1, most - work.output_tokens),
        )


def answer_scenario(
    scenario: Scenario,
    facts: AnswerCatalog,
    estimates: AnswerEstimator,
    calibration: str,
    *,
    with_curves: bool = False,
    rank_announced: bool = False,
) -> Answer:
    """Return the answer to a scenario; `calibration` identifies the constants behind the estimates.

    An accelerator without an estimate keeps its column, with the problem. Announced accelerators are ranked with
    shipping ones only on request. A scenario without a model or accelerators, an unknown id, and requests beyond the
    model's context raise `InputError`.
    """
    if not scenario.model:
        raise input_error("scenario.no_model", "choose a model", "scenario.model")
    if not scenario.accelerators:
        raise input_error("scenario.no_accelerators", "add an accelerator", "scenario.accelerators")
    check_scenario_ids(scenario, facts)
    check_context(scenario, facts.model(scenario.model))
    answers = estimates.estimate_many(scenario.requests())
    columns = tuple(_make_column(scenario, position, result, facts) for position, result in enumerate(answers))
    if with_curves:
        columns = _add_curves(columns, estimates)
    unranked = () if rank_announced else _list_unranked(columns)
    return Answer(
        scenario=scenario,
        catalog_revision=facts.revision,
        data_date=facts.data_date,
        calibration=calibration,
        model=facts.model(scenario.model),
        model_attributes=_index_attributes(facts.attributes(scenario.model)),
        columns=columns,
        differences=_compare_columns(scenario, columns, estimates),
        disputes=_list_disputes(scenario, facts),
        notes=_make_answer_notes(scenario, facts, tuple(columns[place].accelerator.name for place in unranked)),
        digest=hash_answer,
        unranked=unranked,
    )


def _make_column(
    scenario: Scenario, position: int, result: Estimate | InputError, facts: AnswerCatalog
) -> ComparisonColumn:
    choice = scenario.accelerators[position]
    estimate = result if isinstance(result, Estimate) else None
    return ComparisonColumn(
        choice=choice,
        accelerator=facts.accelerator(choice.accelerator),
        attributes=_index_attributes(facts.attributes(choice.accelerator)),
        estimate=estimate,
        curve=None,
        problem=result.problem if isinstance(result, InputError) else None,
    )


def _list_unranked(columns: tuple[ComparisonColumn, ...]) -> tuple[int, ...]:
    """Return the positions of the announced columns, empty if all are announced."""
    announced = tuple(place for place, column in enumerate(columns) if column.accelerator.announced)
    return () if len(announced) == len(columns) else announced


def _add_curves(columns: tuple[ComparisonColumn, ...], estimates: AnswerEstimator) -> tuple[ComparisonColumn, ...]:
    fitting = [column.estimate for column in columns if column.estimate and column.estimate.fits]
    curves = iter(estimates.curves(fitting))
    return tuple(
        replace(column, curve=next(curves)) if column.estimate and column.estimate.fits else column
        for column in columns
    )


def _index_attributes(attributes: tuple[AttributeClaims, ...]) -> Mapping[str, AttributeClaims]:
    return MappingProxyType({attribute.name: attribute for attribute in attributes})


def _compare_columns(
    scenario: Scenario, columns: tuple[ComparisonColumn, ...], estimates: AnswerEstimator
) -> tuple[FigureDifference, ...]:
    """Compare every pair of columns, the baseline's first, so that leaders can be determined."""
    keys = make_column_keys(scenario.accelerators)
    differences = []
    for (one, baseline), (two, other) in combinations(zip(keys, columns, strict=True), 2):
        if baseline.estimate is None or other.estimate is None:
            continue
        compared = estimates.differences(baseline.estimate, other.estimate)
        # Keys of columns distinguish counts of one accelerator.
        differences += [replace(difference, accelerator=two, baseline=one) for difference in compared]
    return tuple(differences)


def _list_disputes(scenario: Scenario, facts: AnswerCatalog) -> tuple[Dispute, ...]:
    things = dict.fromkeys([*(choice.accelerator for choice in scenario.accelerators), scenario.model])
    disputes = {dispute.id: dispute for thing in things for dispute in facts.disputes(thing)}
    return tuple(disputes.values())


def _make_answer_notes(scenario: Scenario, facts: AnswerCatalog, unranked: tuple[str, ...]) -> tuple[Message, ...]:
    notes = (
        [
            message(
                "answer.unranked",
                "Announced, so not ranked with available accelerators: {names}",
                names=tuple(dict.fromkeys(unranked)),
            )
        ]
        if unranked
        else []
    )
    if scenario.catalog_revision not in (None, facts.revision):
        notes.append(
            message(
                "answer.other_catalog",
                "The scenario was saved with another catalog; these figures use the catalog of {date}",
                date=facts.data_date,
            )
        )
    return tuple(notes)


def hash_answer(answer: Answer) -> str:
    """Return the SHA-256 of the answer's content.

    File-only data, palette indexes, and curves and costs, which follow from the rest, are excluded: the same comparison
    has the same hash everywhere.
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
    content["differences"] = tuple(each for each in answer.differences if each.figure in FIGURES)
    del content["digest"], content["notes"], content["costs"]
    canonical = orjson.dumps(content, default=_to_plain_json, option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(canonical).hexdigest()


def _to_plain_json(value: object) -> Any:  # noqa: ANN401 - whatever JSON can hold
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, tuple):
        # Named tuples are tuples to the encoder.
        return list(value)
    if isinstance(value, float):
        # Shares in messages are floats to the encoder.
        return float(value)
    raise TypeError(type(value).__name__)
