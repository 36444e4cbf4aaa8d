"""What an answer does before it is given, in words."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from gpudesk.documents.scenario_file import read_template
from gpudesk.domain.decision import (
    AnswerOrigin,
    AnswerValue,
    Decision,
    DecisionCandidate,
    DecisionVerdict,
    QuestionAnswer,
    RecommendedDeployment,
)
from gpudesk.domain.estimate import ParallelPlan
from gpudesk.report.decision.questions import (
    ColumnOutcome,
    describe_lead,
    describe_option_briefly,
    describe_option_effect,
    describe_option_fully,
    describe_remaining,
    find_column_outcome,
    format_short_answer,
    list_offered_values,
)
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import Formatter

FORMATTER = Formatter()
NAMES = {"a": "Alpha", "b": "Beta", "c": "Gamma"}


@pytest.fixture(scope="module")
def decision() -> Iterator[Decision]:
    with GpuDeskService.open(with_user_facts=False) as service:
        yield service.decide(service.answer(read_template("70b-chat-on-four")))


def standing(key: str, share: float, fate: ColumnOutcome = ColumnOutcome.STAYS) -> DecisionCandidate:
    removed = ("L-01",) if fate is ColumnOutcome.REMOVED else ()
    open_rules = ("L-02",) if fate is ColumnOutcome.UNDECIDED else ()
    return DecisionCandidate(key, key, 1, ParallelPlan(), not removed, None, share, 0.0, 0.0, removed, open_rules)


@pytest.mark.parametrize(
    ("fates", "expected"),
    [
        ("sss", "All 3 remain"),
        ("ssu", "All 3 remain; Gamma undecided"),
        ("suu", "All 3 remain; 2 undecided"),
        ("uuu", "All 3 remain; all undecided"),
        ("rss", "2 remain"),
        ("rsu", "2 remain; Gamma undecided"),
        ("ruu", "2 remain; both undecided"),
        ("rru", "1 remains; undecided"),
        ("rrr", "None remain"),
        ("s", "1 remains"),
        ("u", "1 remains; undecided"),
    ],
)
def test_remaining_accelerators_are_counted_and_doubts_named(decision: Decision, fates: str, expected: str) -> None:
    of = {"s": ColumnOutcome.STAYS, "u": ColumnOutcome.UNDECIDED, "r": ColumnOutcome.REMOVED}
    standings = tuple(standing(key, 0.3, of[fate]) for key, fate in zip(NAMES, fates, strict=False))
    assert describe_remaining(replace(decision, candidates=standings), NAMES) == expected


def test_the_leader_is_named_alone_where_it_is_clear(decision: Decision) -> None:
    ahead = (standing("a", 0.1), standing("b", 0.71), standing("c", 0.19))
    beta = RecommendedDeployment("b", "b", 1, ParallelPlan())
    decision = replace(decision, recommended=beta, runner_up="c", robustness=0.71)
    clear = replace(decision, candidates=ahead, verdict=DecisionVerdict.WINNER)
    assert describe_lead(clear, NAMES, FORMATTER) == "Cheapest: Beta likely leads (71% odds)"
    sure = replace(clear, candidates=(standing("a", 0.03), standing("b", 0.97)))
    assert describe_lead(sure, NAMES, FORMATTER) == "Cheapest: Beta leads (97% odds)"
    near = replace(decision, candidates=ahead, verdict=DecisionVerdict.OPEN)
    assert describe_lead(near, NAMES, FORMATTER) == "Cheapest: Beta 71%, Gamma 19% odds"
    argued = replace(near, recommended=RecommendedDeployment("c", "c", 1, ParallelPlan()), runner_up="b")
    assert describe_lead(argued, NAMES, FORMATTER) == "Cheapest: Beta 71%, Gamma 19% odds", "by odds"
    removed = (standing("a", 0.0, ColumnOutcome.REMOVED),)
    out = replace(decision, candidates=removed, verdict=DecisionVerdict.NONE_FITS, recommended=None)
    assert describe_lead(out, NAMES, FORMATTER) == ""
    assert describe_option_effect("priority", out, NAMES, FORMATTER) == "None remain"
    assert describe_option_briefly("priority", out, NAMES, FORMATTER) == "None remain"


def test_limits_show_what_remains_and_goals_show_who_leads(decision: Decision) -> None:
    ahead = (standing("a", 0.1), standing("b", 0.71), standing("c", 0.19))
    beta = RecommendedDeployment("b", "b", 1, ParallelPlan())
    close_call = replace(decision, candidates=ahead, verdict=DecisionVerdict.WINNER, recommended=beta, robustness=0.71)
    assert describe_option_effect("ttft_limit_ms", close_call, NAMES, FORMATTER) == "All 3 remain"
    assert describe_option_effect("priority", close_call, NAMES, FORMATTER) == "Cheapest: Beta likely leads (71% odds)"
    assert describe_option_briefly("ttft_limit_ms", close_call, NAMES, FORMATTER) == "All 3 remain"
    assert describe_option_briefly("priority", close_call, NAMES, FORMATTER) == "Beta, 71% odds"
    less = replace(close_call, candidates=(standing("a", 0.0, ColumnOutcome.REMOVED), *ahead[1:]))
    effect = describe_option_effect("priority", less, NAMES, FORMATTER)
    assert effect == "Cheapest: Beta likely leads (71% odds). 2 remain"
    assert describe_option_briefly("priority", less, NAMES, FORMATTER) == "2 remain"
    assert describe_option_fully(less, NAMES, FORMATTER) == (
        "2 remain; Cheapest: Beta likely leads (71% odds); Alpha ruled out, Beta remains, Gamma remains"
    )


def test_every_fate_and_origin_has_a_word() -> None:
    assert [fate.label for fate in ColumnOutcome] == ["remains", "undecided", "ruled out"]
    assert [find_column_outcome(standing("a", 0.1, fate)) for fate in ColumnOutcome] == list(ColumnOutcome)
    assert {QuestionAnswer("any", origin).origin.label for origin in AnswerOrigin} == {
        "yours",
        "from the scenario",
        "default",
    }


@pytest.mark.parametrize(
    ("origin", "expected"),
    [
        (AnswerOrigin.YOURS, "Cost"),
        (AnswerOrigin.SCENARIO, "Cost, from the scenario"),
        (AnswerOrigin.DEFAULT, "not answered"),
    ],
)
def test_short_answer_names_its_origin(origin: AnswerOrigin, expected: str) -> None:
    assert format_short_answer("priority", QuestionAnswer("cost", origin), Formatter()) == expected


@pytest.mark.parametrize(
    ("in_force", "values"),
    [
        (1500.0, (1000.0, 1500.0, 2000.0, 5000.0, "none")),
        (2000.0, (1000.0, 2000.0, 5000.0, "none")),
        ("none", (1000.0, 2000.0, 5000.0, "none")),
    ],
)
def test_user_number_is_listed_in_order(in_force: AnswerValue, values: tuple[AnswerValue, ...]) -> None:
    assert list_offered_values("ttft_limit_ms", in_force) == values
