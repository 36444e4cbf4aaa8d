"""Purchasing answers as JSON: complete, finite, and null where a value is unknown."""

import json
from dataclasses import replace
from typing import Any

import pytest

from gpudesk.documents.scenario_file import read_template
from gpudesk.domain.answer import AcceleratorChoice
from gpudesk.domain.cost import UncertainValue
from gpudesk.report.writers.decision_json import (
    encode_export_checks,
    encode_negotiation,
    encode_reference_deployments,
    encode_software_support,
    encode_weight_loading,
)
from gpudesk.service import GpuDeskService


def round_trip(value: object) -> Any:  # noqa: ANN401 - whatever JSON has
    return json.loads(json.dumps(value, allow_nan=False))


def test_exports_have_rules_scores_and_the_warning(service: GpuDeskService) -> None:
    checks = [service.reference_data.export_check(part, "China") for part in ("mi300x", "l4")]
    document = round_trip(encode_export_checks(checks, service.reference_data.export_rules))
    assert document["warning"].startswith("Arithmetic, not legal advice")
    assert document["destination"] == "China"
    days = [rule["in_force"] or rule["published"] for rule in document["rules"]]
    assert days == sorted(days, reverse=True)
    mi300x, l4 = document["accelerators"]
    october = next(rule for rule in mi300x["rules"] if rule["rule"] == "bis-2023-10")
    assert (october["threshold"], october["standing"], october["described"]) == (4800, "above", True)
    assert october["names_destination"] is True
    assert mi300x["refused"][0]["tpp"] == pytest.approx(20912)
    assert mi300x["scores"][0]["tpp"] == pytest.approx(20919.2)
    assert mi300x["scores"][-1]["bits"] is None
    rule_of_2023 = next(rule for rule in l4["rules"] if rule["rule"] == "bis-2023-10")
    assert rule_of_2023["described"] is None
    density = rule_of_2023["lines"][1]["limits"][1]
    assert (density["measured"], density["value"], density["standing"]) == ("density", None, "unknown")


def test_exports_of_nothing_have_no_destination(service: GpuDeskService) -> None:
    document = round_trip(encode_export_checks([], service.reference_data.export_rules))
    assert (document["destination"], document["accelerators"]) == (None, [])


def test_software_keeps_every_entry(service: GpuDeskService) -> None:
    support = service.reference_data.support
    cuda, rocm, gaudi = round_trip(encode_software_support(support, ["CUDA", "ROCm", "SynapseAI"]))
    assert gaudi == {"platform": "SynapseAI", "software": []}
    for platform in (cuda, rocm):
        entries = [entry for each in platform["software"] for entry in each["entries"]]
        assert len(entries) == len(support.support(platform["platform"]))
    vllm = next(each for each in rocm["software"] if each["id"] == "vllm")
    assert vllm["entries"][0] == {
        "level": "works",
        "scope": "Works on ROCm 7",
        "date": "2026-05-15",
        "source": "seed-003",
        "statements": ["C003-032"],
        "disputes": [],
    }


def test_deployments_have_no_count_where_none_is_printed(service: GpuDeskService) -> None:
    deployments = {
        each["id"]: each for each in round_trip(encode_reference_deployments(service.reference_data.references))
    }
    assert deployments["azure-production"]["count"] == 4800
    assert deployments["azure-announced"]["count"] is None
    assert deployments["sovereign-cloud"]["named"] is False


def test_steps_show_what_is_missing_and_done(service: GpuDeskService) -> None:
    scenario = read_template("70b-chat-on-four")
    ticks = {"P002-06": "", "P002-04.response": "4 h"}
    costs = scenario.costs.with_input("fleet", UncertainValue.exactly(800.0))
    scenario = replace(scenario, decision=replace(scenario.decision, done=ticks), costs=costs)
    decision = service.decide(service.answer(scenario))
    document = round_trip(encode_negotiation(service.reference_data.negotiation(scenario, decision, "2026-11-23")))
    assert document["done"] == 1
    first, *_, last = document["steps"]
    assert (first["applies"], first["missing"], first["past"]) == (None, ["competing_quote"], True)
    assert first["tested"][0] == {"condition": "fleet_size > 200", "left": 800, "right": 200, "holds": True}
    assert first["figures"][0]["anecdotal"] is True
    assert last["done"] is True
    point = next(each for each in document["steps"][3]["points"] if each["id"] == "P002-04.response")
    assert (point["done"], point["note"]) == (True, "4 h")


def test_loading_has_times_or_a_reason(service: GpuDeskService) -> None:
    parts = (AcceleratorChoice("h200-sxm", 1), AcceleratorChoice("gb200-nvl72", 8), AcceleratorChoice("l4", 1))
    answer = service.answer(replace(read_template("70b-chat-on-four"), accelerators=parts))
    h200, gb200, l4 = round_trip(encode_weight_loading(service.reference_data.loadings(answer)))
    assert h200["one"]["seconds"] == pytest.approx(h200["weights_bytes"] / h200["link_bytes_per_s"])
    assert h200["quoted"][0]["statement"] == "C000-035"
    assert gb200["host"]["seconds"] is None
    assert "per host is unknown" in gb200["host"]["reason"]
    assert set(l4) == {"key", "reason"}
