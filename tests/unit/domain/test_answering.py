"""Answers: columns, differences of all pairs, disputes, and the hash over the content."""

from dataclasses import replace

import pytest

from gpudesk.domain.answer import (
    AcceleratorChoice,
    Answer,
    FigureDifference,
    LeadVerdict,
    Scenario,
    compute_win_odds,
    find_difference,
    find_leaders,
    find_rival,
    judge_odds,
    make_column_keys,
    rank_figures,
)
from gpudesk.domain.estimate import Load, LoadKind, Workload
from gpudesk.domain.precision import Precision
from gpudesk.estimation.estimator import add_curves, answer_scenario
from gpudesk.text.formatting import IntervalEstimate
from gpudesk.text.messages import InputError, format_input_error, format_message
from tests.fakes import FakeCatalog, FakeEstimator

SCENARIO = Scenario(
    name="Two for 70B",
    model="llama-3.1-70b",
    weights=Precision.FP8,
    workload=Workload(2000, 500, Load(LoadKind.CONCURRENCY, concurrency=64)),
    accelerators=(AcceleratorChoice("h200-sxm", 1), AcceleratorChoice("mi325x", 1)),
)


def make_answer(*parts: AcceleratorChoice | str, with_curves: bool = False) -> Answer:
    scenario = SCENARIO
    if parts:
        choices = tuple(AcceleratorChoice(part) if isinstance(part, str) else part for part in parts)
        scenario = replace(SCENARIO, accelerators=choices)
    answer = answer_scenario(scenario, FakeCatalog(), FakeEstimator(), "cal-1")
    return add_curves(answer, FakeEstimator()) if with_curves else answer


def test_answer_holds_facts_estimates_and_disputes() -> None:
    answer = make_answer()
    assert [column.accelerator.id for column in answer.columns] == ["h200-sxm", "mi325x"]
    assert answer.columns[1].attributes["memory_bandwidth"].value == 6.0e12
    assert answer.columns[0].estimate is not None
    assert answer.columns[0].curve is None
    assert [dispute.id for dispute in answer.disputes] == ["D-001"]
    assert answer.model_attributes["licence"].value == "Llama 3.1 Community"
    assert answer.catalog_revision == FakeCatalog.revision


def test_curves_come_when_asked_for() -> None:
    curve = make_answer(with_curves=True).columns[0].curve
    assert curve is not None
    assert curve.max_concurrency == 8


def test_differences_cover_all_pairs_and_name_the_winner() -> None:
    answer = make_answer("h200-sxm", "mi325x", "mi355x")
    faster = find_difference(answer, "output_tokens_per_s", "h200-sxm", "mi325x")
    assert faster is not None
    assert faster.winner == "mi325x"
    assert faster.ratio.value == 1.25
    sooner = find_difference(answer, "ttft_ms", "h200-sxm", "mi325x")
    assert sooner is not None
    assert sooner.winner == "mi325x"
    close = find_difference(answer, "output_tokens_per_s", "h200-sxm", "mi355x")
    assert close is not None
    assert close.winner is None
    assert find_difference(answer, "output_tokens_per_s", "mi325x", "mi355x") is not None


def test_leaders_are_those_that_the_best_does_not_beat() -> None:
    assert find_leaders(make_answer("h200-sxm", "mi325x", "mi355x"), "output_tokens_per_s") == (1,)
    assert find_leaders(make_answer("h200-sxm", "mi355x"), "output_tokens_per_s") == (0, 1)
    assert find_leaders(make_answer("h200-sxm", "mi355x"), "ttft_ms") == (0, 1)
    assert find_leaders(make_answer("h200-sxm"), "output_tokens_per_s") == ()


def test_who_is_beaten_by_anyone_does_not_lead() -> None:
    """The best may be too uncertain to beat the last one, which the second beats all the same."""
    answer = make_answer("h200-sxm", "mi325x", "mi355x")
    best, second, last = make_column_keys(answer.scenario.accelerators)
    figures = (
        IntervalEstimate(30.0, 10.0, 90.0),
        IntervalEstimate(20.0, 19.0, 21.0),
        IntervalEstimate(10.0, 9.5, 10.5),
    )
    columns = tuple(
        replace(column, estimate=replace(column.estimate, output_tokens_per_s=figure))
        for column, figure in zip(answer.columns, figures, strict=True)
        if column.estimate is not None
    )
    name = "output_tokens_per_s"
    duels = (
        FigureDifference(name, second, best, IntervalEstimate(2 / 3, 0.2, 2.0), 0.4),
        FigureDifference(name, last, best, IntervalEstimate(1 / 3, 0.1, 1.1), 0.36),
        FigureDifference(name, last, second, IntervalEstimate(0.5, 0.45, 0.55), 0.02),
    )
    assert find_leaders(replace(answer, columns=columns, differences=duels), name) == (0, 1)


@pytest.mark.parametrize(
    ("odds", "verdict", "winner"),
    [
        (0.96, LeadVerdict.LEADS, "b"),
        (0.95, LeadVerdict.LEADS, "b"),
        (0.94, LeadVerdict.LIKELY_LEADS, "b"),
        (0.80, LeadVerdict.LIKELY_LEADS, "b"),
        (0.79, LeadVerdict.LEANS, None),
        (0.65, LeadVerdict.LEANS, None),
        (0.64, LeadVerdict.TOO_CLOSE, None),
        (0.50, LeadVerdict.TOO_CLOSE, None),
    ],
)
def test_a_winner_is_named_where_it_likely_leads(odds: float, verdict: LeadVerdict, winner: str | None) -> None:
    ratio = IntervalEstimate(1.1, 1.0, 1.2)
    assert judge_odds(odds) is verdict
    assert FigureDifference("output_tokens_per_s", "b", "a", ratio, odds).winner == winner
    assert FigureDifference("output_tokens_per_s", "a", "b", ratio, 1.0 - odds).winner == winner


def test_odds_are_there_in_both_directions_and_add_up_to_one() -> None:
    odds = make_answer("h200-sxm", "mi325x", "mi355x").odds
    assert len(odds) == 3 * 6
    for (figure, one, other), value in odds.items():
        assert value + odds[figure, other, one] == pytest.approx(1.0)
    assert odds["ttft_ms", "mi325x", "h200-sxm"] == pytest.approx(odds["output_tokens_per_s", "mi325x", "h200-sxm"])


def test_the_rival_is_the_one_that_is_most_likely_to_be_better() -> None:
    assert find_rival(make_answer("h200-sxm", "mi325x", "mi355x"), "output_tokens_per_s") == 2
    assert find_rival(make_answer("h200-sxm"), "output_tokens_per_s") is None


def test_low_odds_against_all_others_make_no_leader() -> None:
    """The best of four may be likely to beat each other one, and still unlikely to beat all three."""
    answer = make_answer("h200-sxm", "mi325x", "mi355x", "b200-hgx")
    name, (best, *others) = "output_tokens_per_s", make_column_keys(answer.scenario.accelerators)
    columns = tuple(
        replace(column, estimate=replace(column.estimate, output_tokens_per_s=IntervalEstimate(value, 1.0, 99.0)))
        for column, value in zip(answer.columns, (40.0, 33.0, 32.0, 31.0), strict=True)
        if column.estimate is not None
    )
    pairs = ((best, other, odds) for other, odds in zip(others, (0.68, 0.7, 0.72), strict=True))
    duels = tuple(FigureDifference(name, one, two, IntervalEstimate(1.2, 0.5, 3.0), odds) for one, two, odds in pairs)
    open_ = replace(answer, columns=columns, differences=duels)
    assert compute_win_odds(open_, name)[0] < 0.65
    leaders = find_leaders(open_, name)
    assert leaders[:2] == (0, 1)


def queue_column(answer: Answer, *positions: int) -> Answer:
    """Return the answer with columns that run 40 of the 64 requests that are asked for."""
    columns = tuple(
        replace(column, estimate=replace(column.estimate, admitted=40))
        if position in positions and column.estimate is not None
        else column
        for position, column in enumerate(answer.columns)
    )
    return replace(answer, columns=columns)


def test_a_column_whose_load_queues_leads_nothing() -> None:
    answer = queue_column(make_answer("h200-sxm", "mi325x", "b200-hgx"), 2)
    assert [column.queues for column in answer.columns] == [False, False, True]
    assert set(rank_figures(answer, "output_tokens_per_s")) == {0, 1}
    assert find_leaders(answer, "output_tokens_per_s") == (1,)
    assert find_leaders(queue_column(answer, 1), "output_tokens_per_s") == ()
    assert set(rank_figures(queue_column(make_answer("h200-sxm"), 0), "output_tokens_per_s")) == {0}, (
        "nothing to compare with"
    )


def test_overload_queues_and_saturation_does_not() -> None:
    estimate = make_answer("h200-sxm").columns[0].estimate
    assert estimate is not None
    assert not estimate.queues
    assert replace(estimate, stable=False).queues
    load = Load(LoadKind.SATURATE, requests=1000)
    request = replace(estimate.request, workload=replace(estimate.request.workload, load=load))
    assert not replace(estimate, request=request, concurrency=1000, admitted=40).queues


def test_two_counts_of_one_part_are_told_apart() -> None:
    answer = make_answer(AcceleratorChoice("h200-sxm", 1), AcceleratorChoice("h200-sxm", 2))
    doubled = find_difference(answer, "output_tokens_per_s", "h200-sxm:1", "h200-sxm:2")
    assert doubled is not None
    assert doubled.winner == "h200-sxm:2"
    twice = (AcceleratorChoice("h200-sxm"), AcceleratorChoice("h200-sxm"))
    assert make_column_keys(twice) == ("h200-sxm", "h200-sxm#2")


def test_hash_depends_on_the_content_alone() -> None:
    one = make_answer()
    assert len(one.content_hash) == 64
    assert make_answer().content_hash == one.content_hash
    saved = replace(SCENARIO, catalog_revision="old", unknown_sections={"cost": {}})
    again = answer_scenario(saved, FakeCatalog(), FakeEstimator(), "cal-1")
    assert again.content_hash == one.content_hash
    assert [format_message(note) for note in again.notes] == [
        "The scenario was saved with another catalog; these figures use the catalog of 2026-11-20"
    ]
    assert make_answer("h200-sxm").content_hash != one.content_hash
    other = answer_scenario(SCENARIO, FakeCatalog(), FakeEstimator(), "cal-2")
    assert other.content_hash != one.content_hash


def test_hash_is_the_same_with_curves_and_with_any_colors() -> None:
    plain = make_answer()
    assert make_answer(with_curves=True).content_hash == plain.content_hash
    colored = (AcceleratorChoice("h200-sxm", 1, slot=5), AcceleratorChoice("mi325x", 1, slot=2))
    assert make_answer(*colored).content_hash == plain.content_hash


@pytest.mark.parametrize(
    ("scenario", "message"),
    [
        (replace(SCENARIO, model="llama-9"), "scenario.model: llama-9 is not one of"),
        (
            replace(SCENARIO, accelerators=(AcceleratorChoice("h200-sxm"), AcceleratorChoice("h9"))),
            "scenario.accelerators[1].accelerator: h9 is not one of",
        ),
    ],
)
def test_unknown_ids_are_refused_with_their_place(scenario: Scenario, message: str) -> None:
    with pytest.raises(InputError) as caught:
        answer_scenario(scenario, FakeCatalog(), FakeEstimator(), "cal-1")
    assert format_input_error(caught.value).startswith(message)
