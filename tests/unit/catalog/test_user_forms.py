"""Steps of forms: how figures are entered, what takes the place of what, and whether figures can be."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from gpudesk import paths
from gpudesk.catalog.importing.accelerator_plausibility import check_new_value
from gpudesk.catalog.read import Catalog
from gpudesk.catalog.user_store.edits import (
    copy_figure,
    count_resting_figures,
    group_by_generation,
    make_entry_id,
    make_entry_step,
    prefer_claim,
    rename_entry,
    state_value,
)
from gpudesk.catalog.user_store.entry import ValueKind, make_entry, make_new_entry, make_user_source
from gpudesk.domain.claim import CatalogEntryKind, PlausibilityGrade
from gpudesk.domain.user_facts import FactEdit, UserAccelerator, UserClaim
from gpudesk.service import GpuDeskService
from gpudesk.text.messages import InputError

PART, NAME, DAY = "mi325x", "memory_bandwidth", "2026-11-21"


@pytest.fixture
def bench() -> Iterator[GpuDeskService]:
    with GpuDeskService.open():
        path = paths.get_built_catalog_path()
    with GpuDeskService(Catalog.open(path)) as opened:
        yield opened


def state(bench: GpuDeskService, value: float, title: str) -> FactEdit:
    return state_value(bench.catalog, PART, NAME, value, "TB/s", make_user_source(title), today=DAY)


# How a figure is entered


@pytest.mark.parametrize(
    ("name", "kind", "units"),
    [
        ("memory", ValueKind.NUMBER, ["GiB", "GB"]),
        (NAME, ValueKind.NUMBER, ["TB/s", "GB/s"]),
        ("peak_dense_int8", ValueKind.NUMBER, ["TOPS"]),
        ("memory_type", ValueKind.WORD, []),
        ("supported_precisions", ValueKind.WORDS, []),
        # No one states these of this part.
        ("peak_dense_fp4", ValueKind.NUMBER, ["TFLOPS", "PFLOPS"]),
    ],
)
def test_value_keeps_its_type(bench: GpuDeskService, name: str, kind: ValueKind, units: list[str]) -> None:
    entry = make_entry(bench.catalog, PART, name)
    assert entry.kind is kind
    assert [unit.label for unit in entry.units] == units
    assert make_new_entry(bench.catalog, CatalogEntryKind.ACCELERATOR, name).kind is kind


def test_words_of_other_parts_are_offered(bench: GpuDeskService) -> None:
    assert "HBM3e" in make_entry(bench.catalog, PART, "memory_type").words


def test_attribute_that_there_cannot_be_is_refused(bench: GpuDeskService) -> None:
    with pytest.raises(InputError):
        make_entry(bench.catalog, PART, "color")


# What takes the place of what


def test_new_value_replaces_the_current_one(bench: GpuDeskService) -> None:
    bench.user_catalog.do(state(bench, 5.3, "First"))
    bench.user_catalog.do(state(bench, 5.5, "Second"))
    own = [claim for claim in bench.catalog.attribute(PART, NAME).claims if claim.own]
    assert [(claim.source.title, claim.value) for claim in own] == [("Second", 5.5e12)]
    assert not any(source.title == "First" for source in bench.catalog.sources())
    bench.user_catalog.undo()
    assert bench.catalog.attribute(PART, NAME).value == 5.3e12


def test_rival_of_the_users_stays_where_a_shipped_claim_holds(bench: GpuDeskService) -> None:
    bench.user_catalog.do(state(bench, 5.3, "First"))
    shipped_value = bench.catalog.attribute(PART, NAME).shipped
    assert shipped_value is not None
    bench.user_catalog.do(prefer_claim(bench.catalog, PART, NAME, shipped_value, "", today=DAY))
    bench.user_catalog.do(state(bench, 5.5, "Second"))
    own = [claim.source.title for claim in bench.catalog.attribute(PART, NAME).claims if claim.own]
    assert own == ["First", "Second"]


def test_figures_that_rest_on_a_source_are_counted(bench: GpuDeskService) -> None:
    bench.user_catalog.do(state(bench, 5.3, "First"))
    source = make_user_source("First")
    assert count_resting_figures(bench.user_catalog.facts, source.id) == 1
    bench.user_catalog.do(state_value(bench.catalog, PART, "tdp", 900, "W", source, today=DAY))
    assert count_resting_figures(bench.user_catalog.facts, source.id) == 2


# Accelerators


def add_part(bench: GpuDeskService) -> UserAccelerator:
    figures = {
        each.name: copy_figure(each.preferred) for each in bench.catalog.attributes(PART) if each.preferred is not None
    }
    part = UserAccelerator(make_entry_id(bench.catalog, "Ours"), "Ours", "AMD", "cdna3")
    bench.user_catalog.do(make_entry_step(bench.catalog, part, figures, today=DAY))
    return part


def test_copy_is_estimated_like_its_original(bench: GpuDeskService) -> None:
    part = add_part(bench)
    own, original = bench.catalog.accelerator(part.id), bench.catalog.accelerator(PART)
    assert (own.memory_bytes, own.memory_bandwidth, own.platform) == (
        original.memory_bytes,
        original.memory_bandwidth,
        original.platform,
    )
    assert dict(own.peak_dense) == dict(original.peak_dense)
    assert make_entry_id(bench.catalog, "Ours") == "ours-2"


def test_change_of_one_figure_touches_that_alone(bench: GpuDeskService) -> None:
    part = add_part(bench)
    figures = {
        each.name: copy_figure(each.preferred)
        for each in bench.catalog.attributes(part.id)
        if each.preferred is not None
    }
    with pytest.raises(InputError):
        make_entry_step(bench.catalog, part, figures, today="2026-12-01")
    source = make_user_source("Own run")
    changed = {**figures, "tdp": replace(figures["tdp"], value=900, source=source, printed=None)}
    step = make_entry_step(bench.catalog, part, changed, today="2026-12-01")
    assert {fact.attribute for fact in step.after if isinstance(fact, UserClaim)} == {"tdp"}
    assert {fact.attribute for fact in step.before if isinstance(fact, UserClaim)} == {"tdp"}
    bench.user_catalog.do(step)
    assert bench.catalog.accelerator(part.id).tdp_w == 900


def test_part_without_bandwidth_is_refused_at_it(bench: GpuDeskService) -> None:
    part = UserAccelerator("ours", "Ours", "AMD", "cdna3")
    with pytest.raises(InputError) as refused:
        make_entry_step(bench.catalog, part, {}, today=DAY)
    assert refused.value.where == "memory"


def test_generations_name_their_parts(bench: GpuDeskService) -> None:
    parts_by_generation = {each.name: each.parts for each in group_by_generation(bench.catalog)}
    assert "Instinct MI325X" in parts_by_generation["cdna3"]


def test_only_user_entries_are_renamed(bench: GpuDeskService) -> None:
    part = add_part(bench)
    bench.user_catalog.do(rename_entry(bench.catalog, part.id, " Theirs ", "ACME"))
    assert bench.catalog.thing(part.id).name == "Theirs"
    with pytest.raises(InputError):
        rename_entry(bench.catalog, PART, "Other", "AMD")


# Whether it can be


@pytest.mark.parametrize(
    ("value", "grade"), [(6.0e12, None), (5.3e15, PlausibilityGrade.REFUSED), (5.3e9, PlausibilityGrade.REFUSED)]
)
def test_slip_of_the_unit_is_refused(bench: GpuDeskService, value: float, grade: PlausibilityGrade | None) -> None:
    checked = check_new_value(bench.catalog, PART, NAME, value)
    assert {each.grade for each in checked if each.attribute == NAME} >= ({grade} if grade else set())
    assert checked == () or grade is not None


def test_figures_of_models_are_not_judged(bench: GpuDeskService) -> None:
    assert check_new_value(bench.catalog, bench.catalog.models()[0].id, "hidden_size", 1) == ()
