"""What an edit of the catalog does to a scenario, tried without being written, and in words."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from gpudesk.catalog.read import Catalog
from gpudesk.catalog.user_store.edits import revert_attribute, state_value
from gpudesk.catalog.user_store.entry import make_user_source
from gpudesk.documents.scenario_file import read_template
from gpudesk.domain.answer import AcceleratorChoice, AnswerImpact, Scenario
from gpudesk.domain.claim import SourceKind
from gpudesk.domain.user_facts import FactEdit
from gpudesk.report.comparison.verdicts import describe_impact
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import ENGLISH_NUMBERS, Formatter

PLAIN = Formatter(ENGLISH_NUMBERS)
SOURCE = make_user_source("A letter", "The maker", url=None, date="2026-11-01", kind=SourceKind.USER)


@pytest.fixture
def service(facts: Catalog) -> GpuDeskService:
    return GpuDeskService(facts.with_user_facts(facts.user_facts))


@pytest.fixture
def scenario() -> Scenario:
    """MI325X or H200 for a 70B model."""
    return read_template("mi325x-or-h200-70b")


def make_edit(service: GpuDeskService, thing: str, attribute: str, value: float, unit: str) -> FactEdit:
    catalog = service.catalog
    return state_value(catalog, thing, attribute, value, unit, SOURCE, today="2026-11-21")


def compute_impact(service: GpuDeskService, scenario: Scenario, *edit: object) -> AnswerImpact:
    return service.compute_impact(scenario, make_edit(service, *edit))  # type: ignore[arg-type]


def test_less_bandwidth_lowers_the_throughput_of_one_part_alone(service: GpuDeskService, scenario: Scenario) -> None:
    impact = compute_impact(service, scenario, "mi325x", "memory_bandwidth", 5.9, "TB/s")
    assert [column.key for column in impact.columns] == ["mi325x"]
    change = next(each for each in impact.columns[0].figures if each.figure == "output_tokens_per_s")
    assert change.ratio is not None
    assert 5.9 / 6 <= change.ratio < 1
    words = describe_impact(impact, PLAIN)
    assert words.sentence == "MI325X: time per output token 58.7 → 59.1 ms (+1%); still too close to call"
    assert words.lines == ()


def test_dry_run_writes_nothing(service: GpuDeskService, scenario: Scenario) -> None:
    before = service.catalog.revision
    compute_impact(service, scenario, "mi325x", "memory_bandwidth", 5.3, "TB/s")
    assert service.catalog.revision == before
    assert not len(service.user_catalog.facts)
    assert service.catalog.attribute("mi325x", "memory_bandwidth").value == 6e12


def test_previewed_impact_equals_the_result(service: GpuDeskService, scenario: Scenario) -> None:
    edit = make_edit(service, "mi325x", "memory_bandwidth", 5.3, "TB/s")
    expected = service.compute_impact(scenario, edit)
    service.user_catalog.do(edit)
    after = service.answer(scenario)
    assert after.columns == expected.after.columns
    assert after.differences == expected.after.differences
    back = service.compute_impact(scenario, revert_attribute(service.catalog, "mi325x", "memory_bandwidth"))
    assert back.after.columns == expected.before.columns


def test_a_fact_that_no_estimate_rests_on_leaves_the_result(service: GpuDeskService, scenario: Scenario) -> None:
    impact = compute_impact(service, scenario, "mi325x", "price_low", 21000.0, "USD")
    assert impact.unchanged
    assert describe_impact(impact, PLAIN).sentence == "Result unchanged"
    other = compute_impact(service, scenario, "b200-hgx", "memory_bandwidth", 7.0, "TB/s")
    assert other.unchanged, "a part that is not in the scenario"


def test_new_winner_is_reported_with_its_lead(service: GpuDeskService, scenario: Scenario) -> None:
    impact = compute_impact(service, scenario, "mi325x", "memory_bandwidth", 60.0, "TB/s")
    lead = impact.leads[0]
    assert (lead.figure, len(lead.before), lead.after) == ("output_tokens_per_s", 2, ("mi325x",))
    sentence = describe_impact(impact, PLAIN).sentence
    assert sentence.startswith("MI325X now ")
    assert re.search(r"% ahead of H200 SXM in output throughput \([789]\d% odds\)$", sentence)


def test_a_lost_winner_is_reported(service: GpuDeskService, scenario: Scenario) -> None:
    service.user_catalog.do(make_edit(service, "mi325x", "memory_bandwidth", 60.0, "TB/s"))
    impact = service.compute_impact(scenario, revert_attribute(service.catalog, "mi325x", "memory_bandwidth"))
    words = describe_impact(impact, PLAIN)
    assert words.sentence == "Now too close to call in output throughput"


def test_lost_fit_is_listed_first(service: GpuDeskService, scenario: Scenario) -> None:
    impact = compute_impact(service, scenario, "h200-sxm", "memory", 60, "GiB")
    assert describe_impact(impact, PLAIN).sentence == ("H200 SXM: the model no longer fits on 1, needs 2")


def test_impact_lists_no_change_of_0_percent(service: GpuDeskService, scenario: Scenario) -> None:
    impact = compute_impact(service, scenario, "mi325x", "memory_bandwidth", 5.98, "TB/s")
    assert not impact.unchanged
    words = describe_impact(impact, PLAIN)
    assert not any("(0%)" in line for line in (words.sentence, *words.lines))


def test_losing_the_lead_is_reported(service: GpuDeskService) -> None:
    choices = tuple(AcceleratorChoice(part, 1) for part in ("h200-sxm", "mi325x", "mi300x"))
    three = replace(read_template("70b-chat-on-four"), accelerators=choices)
    service.user_catalog.do(make_edit(service, "mi300x", "memory_bandwidth", 8.5, "TB/s"))
    impact = service.compute_impact(three, revert_attribute(service.catalog, "mi300x", "memory_bandwidth"))
    lead = next(each for each in impact.leads if each.figure == "tpot_ms")
    assert (set(lead.before) - set(lead.after), len(lead.after)) == ({"mi300x"}, 2)
    words = describe_impact(impact, PLAIN)
    assert words.sentence.startswith("MI300X no longer among the best in ")
