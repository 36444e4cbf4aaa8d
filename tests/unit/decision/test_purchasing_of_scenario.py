"""Purchasing facts that follow from a scenario: destination, storage, accelerators that occur twice."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from gpudesk.decision.purchasing.plan_inputs import WHERE, parse_plans
from gpudesk.documents.scenario_file import read_template
from gpudesk.domain.answer import AcceleratorChoice, Scenario
from gpudesk.domain.decision import AnswerValue
from gpudesk.domain.deployment_analysis import WeightLoading
from gpudesk.service import GpuDeskService
from gpudesk.text.messages import InputError, Message


def scenario_of(plans: Mapping[str, AnswerValue], *parts: tuple[str, int]) -> Scenario:
    scenario = read_template("70b-chat-on-four")
    choices = tuple(AcceleratorChoice(*part) for part in parts)
    return replace(scenario, accelerators=choices, decision=replace(scenario.decision, plans=plans))


def test_each_accelerator_is_checked_once_for_the_destination(service: GpuDeskService) -> None:
    parts = (("h200-sxm", 1), ("mi325x", 1), ("h200-sxm", 2))
    checks = service.reference_data.export_checks(scenario_of({"destination_name": "Macau"}, *parts))
    assert [check.accelerator for check in checks] == ["h200-sxm", "mi325x"]
    assert {check.destination for check in checks} == {"Macau"}
    assert {check.destination for check in service.reference_data.export_checks(scenario_of({}, *parts))} == {None}


def test_each_column_has_a_time_or_a_reason(service: GpuDeskService) -> None:
    scenario = scenario_of({}, ("h200-sxm", 1), ("h200-sxm", 2), ("l4", 1))
    loadings = service.reference_data.loadings(service.answer(scenario))
    assert len(loadings) == 3
    one, two, none = loadings.values()
    assert isinstance(one, WeightLoading)
    assert isinstance(two, WeightLoading)
    assert one.storage_bytes_per_s is None
    assert isinstance(none, Message)


def test_the_rate_of_storage_is_in_gigabytes_a_second(service: GpuDeskService) -> None:
    scenario = scenario_of({"storage_gb_s": 14.0}, ("h200-sxm", 1))
    loading = service.reference_data.loadings(service.answer(scenario))["h200-sxm"]
    assert isinstance(loading, WeightLoading)
    assert loading.storage_bytes_per_s == 14e9
    assert loading.one.storage_s == pytest.approx(loading.weights_bytes / 14e9)


@pytest.mark.parametrize(
    "plans", [{"storage_gb_s": 0.0}, {"storage_gb_s": "fast"}, {"destination_name": ""}, {"destination_name": 3.0}]
)
def test_impossible_value_is_refused_by_its_name(plans: dict[str, object]) -> None:
    with pytest.raises(InputError) as refused:
        parse_plans(WHERE, plans)
    assert refused.value.where == f"decision.plans.{next(iter(plans))}"


def test_plans_of_a_purchase_are_kept_by_a_document() -> None:
    values = {"storage_gb_s": 14.0, "destination_name": "Peru", "competing_quote": "no"}
    assert parse_plans(WHERE, values) == values
