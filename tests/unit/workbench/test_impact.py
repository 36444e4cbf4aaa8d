"""What an edit of the catalog does to a scenario, tried without being written, and in words."""

from __future__ import annotations

import pytest

from gpudesk.catalog.queries import Catalog
from gpudesk.domain.claims import Kind
from gpudesk.domain.formatting import ENGLISH, Formatter
from gpudesk.domain.impacts import Impact
from gpudesk.domain.own_facts import Edit
from gpudesk.domain.scenarios import Scenario
from gpudesk.sheets.impact_words import impact_words
from gpudesk.workbench.impact import impact_of
from gpudesk.workbench.own_edits import own_source, revert, state_value
from gpudesk.workbench.templates import read_template
from gpudesk.workbench.workbench import Workbench

PLAIN = Formatter(ENGLISH)
SOURCE = own_source("A letter", "The maker", url=None, date="2026-11-01", kind=Kind.USER)


@pytest.fixture
def workbench(facts: Catalog) -> Workbench:
    """A workbench on the real catalog whose own facts last as long as the test."""
    return Workbench(facts.with_own(facts.own))


@pytest.fixture
def scenario() -> Scenario:
    """MI325X or H200 for a 70B model."""
    return read_template("mi325x-or-h200-70b")


def stated(workbench: Workbench, thing: str, attribute: str, value: float, unit: str) -> Edit:
    """Return the step that states a value."""
    catalog = workbench.catalog
    return state_value(catalog, thing, attribute, value, unit, SOURCE, today="2026-11-21")


def tried(workbench: Workbench, scenario: Scenario, *edit: object) -> Impact:
    """Return what stating a value would do."""
    return impact_of(workbench, scenario, stated(workbench, *edit))  # type: ignore[arg-type]


def test_less_bandwidth_lowers_the_throughput_of_one_part_alone(
    workbench: Workbench, scenario: Scenario
) -> None:
    found = tried(workbench, scenario, "mi325x", "memory_bandwidth", 5.3, "TB/s")
    assert [column.key for column in found.columns] == ["mi325x"]
    change = next(each for each in found.columns[0].figures if each.figure == "output_tokens_per_s")
    assert change.ratio is not None
    assert 5.3 / 6 <= change.ratio < 1
    words = impact_words(found, PLAIN)
    assert words.sentence.startswith("MI325X: output throughput ")
    assert words.sentence.endswith("; still no winner")
    assert any("time per output token" in line for line in words.lines)


def test_nothing_is_written_by_trying(workbench: Workbench, scenario: Scenario) -> None:
    before = workbench.catalog.revision
    tried(workbench, scenario, "mi325x", "memory_bandwidth", 5.3, "TB/s")
    assert workbench.catalog.revision == before
    assert not len(workbench.own.facts)
    assert workbench.catalog.attribute("mi325x", "memory_bandwidth").value == 6e12


def test_what_was_tried_is_what_happens(workbench: Workbench, scenario: Scenario) -> None:
    edit = stated(workbench, "mi325x", "memory_bandwidth", 5.3, "TB/s")
    expected = impact_of(workbench, scenario, edit)
    workbench.own.do(edit)
    after = workbench.answer(scenario)
    assert after.columns == expected.after.columns
    assert after.differences == expected.after.differences
    back = impact_of(workbench, scenario, revert(workbench.catalog, "mi325x", "memory_bandwidth"))
    assert back.after.columns == expected.before.columns


def test_a_fact_that_no_estimate_rests_on_leaves_the_result(workbench: Workbench, scenario: Scenario) -> None:
    found = tried(workbench, scenario, "mi325x", "price_low", 21000.0, "USD")
    assert found.unchanged
    assert impact_words(found, PLAIN).sentence == "Result unchanged"
    other = tried(workbench, scenario, "b200-hgx", "memory_bandwidth", 7.0, "TB/s")
    assert other.unchanged, "a part that is not in the scenario"


def test_a_winner_is_told_with_the_distance(workbench: Workbench, scenario: Scenario) -> None:
    found = tried(workbench, scenario, "mi325x", "memory_bandwidth", 60.0, "TB/s")
    lead = found.leads[0]
    assert (lead.figure, len(lead.before), lead.after) == ("output_tokens_per_s", 2, ("mi325x",))
    sentence = impact_words(found, PLAIN).sentence
    assert sentence.startswith("MI325X now ")
    assert sentence.endswith(" % ahead of H200 SXM in output throughput")


def test_a_lost_winner_is_told(workbench: Workbench, scenario: Scenario) -> None:
    workbench.own.do(stated(workbench, "mi325x", "memory_bandwidth", 60.0, "TB/s"))
    found = impact_of(workbench, scenario, revert(workbench.catalog, "mi325x", "memory_bandwidth"))
    words = impact_words(found, PLAIN)
    assert words.sentence == "No winner any more in output throughput: the bands overlap"


def test_what_no_longer_fits_comes_first(workbench: Workbench, scenario: Scenario) -> None:
    found = tried(workbench, scenario, "h200-sxm", "memory", 60, "GiB")
    assert impact_words(found, PLAIN).sentence == "H200 SXM no longer fits on 1: needs 2"


def test_what_is_no_change_in_per_cent_is_not_told(workbench: Workbench, scenario: Scenario) -> None:
    found = tried(workbench, scenario, "mi325x", "memory_bandwidth", 5.98, "TB/s")
    assert not found.unchanged
    words = impact_words(found, PLAIN)
    assert not any("(0 %)" in line for line in (words.sentence, *words.lines))


def test_who_leaves_the_best_is_told(workbench: Workbench) -> None:
    four = read_template("70b-chat-on-four")
    found = tried(workbench, four, "mi325x", "memory_bandwidth", 5.3, "TB/s")
    lead = next(each for each in found.leads if each.figure == "tpot_ms")
    assert (set(lead.before) - set(lead.after), len(lead.after)) == ({"mi325x"}, 2)
    words = impact_words(found, PLAIN)
    assert words.sentence == "MI325X no longer among the best in time per output token"
