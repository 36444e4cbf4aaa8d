"""The steps of a purchase: when each applies, what is missing to tell, its figures, and what is ticked."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpudesk import paths
from gpudesk.decision.purchasing.procurement import make_negotiation_sheet
from gpudesk.decision.rules.data_files import read_steps
from gpudesk.domain.decision import FactValues
from gpudesk.domain.purchase import ProcurementStepStatus
from gpudesk.text.messages import InputError

STEPS = read_steps(paths.get_data_path("rules/steps.toml"))
TODAY = "2026-11-23"


def make_line(
    step: str, facts: FactValues, ticks: dict[str, str] | None = None, today: str = TODAY
) -> ProcurementStepStatus:
    sheet = make_negotiation_sheet(STEPS, facts, ticks or {}, today)
    return next(each for each in sheet.lines if each.step.id == step)


def test_there_are_the_six_steps_of_the_document() -> None:
    assert [step.id for step in STEPS] == [f"P002-0{number}" for number in range(1, 7)]
    assert {step.source for step in STEPS} == {"seed-002"}


@pytest.mark.parametrize(
    ("fleet", "quote", "applies", "missing"),
    [
        (201.0, True, True, ()),
        (200.0, True, False, ()),
        (800.0, False, False, ()),
        (800.0, None, None, ("competing_quote",)),
        (None, None, None, ("competing_quote", "fleet_size")),
        # One fact is enough to say no.
        (None, False, False, ("fleet_size",)),
    ],
)
def test_discount_on_volume_takes_a_large_order_and_a_rival_quote(
    fleet: float | None, quote: bool | None, applies: bool | None, missing: tuple[str, ...]
) -> None:
    line = make_line("P002-01", {"fleet_size": fleet, "competing_quote": quote})
    assert (line.applies, line.missing) == (applies, missing)
    assert line.step.otherwise is not None


def test_one_request_for_both_takes_a_workload_that_runs_on_both() -> None:
    assert make_line("P002-02", {"both_platforms": True}).applies is True
    assert make_line("P002-02", {"both_platforms": False}).applies is False
    assert make_line("P002-02", {}).missing == ("both_platforms",)


def test_comparison_behind_a_step_is_shown_with_its_numbers() -> None:
    tested = make_line("P002-01", {"fleet_size": 800.0, "competing_quote": True}).tested
    assert (tested[0].left, tested[0].right, tested[0].holds) == (800.0, 200, True)


def test_step_without_a_condition_always_applies() -> None:
    for step in ("P002-03", "P002-04", "P002-05", "P002-06"):
        line = make_line(step, {})
        assert (line.applies, line.missing, line.tested) == (True, (), ())


@pytest.mark.parametrize(
    ("today", "past"), [("2024-05-31", False), ("2024-06-30", False), ("2024-07-01", True), (TODAY, True)]
)
def test_time_that_the_document_had_in_mind_ends_with_its_month(today: str, past: bool) -> None:
    assert make_line("P002-03", {}, today=today).past is past
    assert make_line("P002-06", {}, today=today).past is False, "it names no time"


def test_discounts_of_unnamed_buyers_are_listed() -> None:
    labels = ("MI325X discount: ", "MI300X discount: ", "Usual discount on H100")
    figures = [figure for figure in make_line("P002-01", {}).step.figures if figure.label.startswith(labels)]
    assert [(figure.value, figure.high) for figure in figures] == [(16, 22), (16, 22), (8, 12)]
    assert all(figure.anecdotal and figure.statements for figure in figures)


def test_test_like_production_has_a_point_for_each_setting() -> None:
    points = [each.point.id.partition(".")[2] for each in make_line("P002-06", {}).points]
    assert points == ["model", "precision", "batch", "context"]


def test_ticks_and_notes_are_those_of_the_user() -> None:
    ticks = {"P002-04.response": "4 h, in the draft", "P002-05": ""}
    support, roadmap = make_line("P002-04", {}, ticks), make_line("P002-05", {}, ticks)
    assert [(each.is_done, each.note) for each in support.points] == [
        (False, ""),
        (True, "4 h, in the draft"),
        (False, ""),
    ]
    assert (support.is_done, support.open_points) == (False, 2)
    assert (roadmap.is_done, roadmap.note, roadmap.open_points) == (True, "", 0)
    assert make_negotiation_sheet(STEPS, {}, ticks, TODAY).done == 1


def test_ticks_of_steps_that_there_are_no_more_have_no_effect() -> None:
    assert make_negotiation_sheet(STEPS, {}, {"P999-01": "old"}, TODAY).done == 0


BARE = """
source = "seed-002"
dated = "2024-02"
[[steps]]
id = "one"
strength = "mild"
title = "T"
ask = "A"
why = "W"
"""


@pytest.mark.parametrize(
    ("added", "problem"),
    [
        ('when = "fleet_size >"', "beside.condition"),
        ('when = "fleet_sise > 3"', "field.unknown_near"),
        ('when = "price > 3"', "field.unknown"),
        ('points = [{ id = "one", text = "x" }]', "beside.twice"),
        ('figures = [{ label = "x", value = "16", unit = "%" }]', "field.type"),
        ('figures = [{ label = "x", value = nan, unit = "%" }]', "field.type"),
    ],
)
def test_broken_step_is_reported_with_file_and_place(tmp_path: Path, added: str, problem: str) -> None:
    path = tmp_path / "steps.toml"
    path.write_text(f"{BARE}{added}\n", encoding="utf-8")
    with pytest.raises(InputError) as refused:
        read_steps(path)
    assert refused.value.problem.id == problem
    assert str(path) in (refused.value.where or "")
