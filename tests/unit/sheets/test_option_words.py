"""What an answer does before it is given, in words."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from gpudesk.domain.decisions import Answered, Decision, Origin, Standing, Verdict
from gpudesk.domain.formatting import Formatter
from gpudesk.domain.questions import AnswerValue
from gpudesk.sheets.option_words import (
    Fate,
    brief_text,
    fate_of,
    fate_text,
    lead_text,
    leaves_text,
    option_sentence,
    option_text,
    origin_text,
    short_answer,
    shown_values,
)
from gpudesk.workbench.templates import read_template
from gpudesk.workbench.workbench import Workbench

NAMES = {"a": "Alpha", "b": "Beta", "c": "Gamma"}


@pytest.fixture(scope="module")
def decision() -> Iterator[Decision]:
    """Return a decision to put other standings into."""
    with Workbench.open(with_own=False) as workbench:
        yield workbench.decide(workbench.answer(read_template("70b-chat-on-four")))


def standing(key: str, share: float, fate: Fate = Fate.STAYS) -> Standing:
    removed = ("L-01",) if fate is Fate.REMOVED else ()
    return Standing(key, key, 0.0, share, removed, ("L-02",) if fate is Fate.UNDECIDED else ())


@pytest.mark.parametrize(
    ("fates", "said"),
    [
        ("sss", "Leaves all 3"),
        ("ssu", "Leaves all 3, Gamma undecided"),
        ("suu", "Leaves all 3, 2 undecided"),
        ("uuu", "Leaves all 3, all undecided"),
        ("rss", "Leaves 2"),
        ("rsu", "Leaves 2, Gamma undecided"),
        ("ruu", "Leaves 2, both undecided"),
        ("rru", "Leaves 1, undecided"),
        ("rrr", "Leaves none"),
        ("s", "Leaves it"),
        ("u", "Leaves it, undecided"),
    ],
)
def test_what_is_left_is_counted_and_doubts_are_named(decision: Decision, fates: str, said: str) -> None:
    of = {"s": Fate.STAYS, "u": Fate.UNDECIDED, "r": Fate.REMOVED}
    standings = tuple(standing(key, 0.3, of[fate]) for key, fate in zip(NAMES, fates, strict=False))
    assert leaves_text(replace(decision, standings=standings), NAMES) == said


def test_the_leader_is_named_alone_where_it_is_clear(decision: Decision) -> None:
    ahead = (standing("a", 0.1), standing("b", 0.71), standing("c", 0.19))
    clear = replace(decision, standings=ahead, verdict=Verdict.WINNER)
    assert lead_text(clear, NAMES) == "Beta leads, 71 of 100"
    near = replace(decision, standings=ahead, verdict=Verdict.OPEN)
    assert lead_text(near, NAMES) == "Beta 71 of 100, Gamma 19"
    out = replace(decision, standings=(standing("a", 0.0, Fate.REMOVED),), verdict=Verdict.NONE_FITS)
    assert lead_text(out, NAMES) == ""
    assert option_text("priority", out, NAMES) == "Leaves none"
    assert brief_text("priority", out, NAMES) == "Leaves none"


def test_questions_of_what_must_hold_say_what_is_left_and_others_who_leads(decision: Decision) -> None:
    ahead = (standing("a", 0.1), standing("b", 0.71), standing("c", 0.19))
    found = replace(decision, standings=ahead, verdict=Verdict.WINNER)
    assert option_text("ttft_limit_ms", found, NAMES) == "Leaves all 3"
    assert option_text("priority", found, NAMES) == "Beta leads, 71 of 100"
    assert brief_text("ttft_limit_ms", found, NAMES) == "Leaves all 3"
    assert brief_text("priority", found, NAMES) == "Beta 71 of 100"
    less = replace(found, standings=(standing("a", 0.0, Fate.REMOVED), *ahead[1:]))
    assert option_text("priority", less, NAMES) == "Leaves 2; Beta leads, 71 of 100"
    assert brief_text("priority", less, NAMES) == "Leaves 2"
    assert option_sentence(less, NAMES) == (
        "Leaves 2; Beta leads, 71 of 100; Alpha removed, Beta stays, Gamma stays"
    )


def test_every_fate_and_origin_has_a_word() -> None:
    assert [fate_text(fate) for fate in Fate] == ["stays", "undecided", "removed"]
    assert [fate_of(standing("a", 0.1, fate)) for fate in Fate] == list(Fate)
    assert {origin_text(Answered("any", origin)) for origin in Origin} == {
        "yours",
        "from the scenario",
        "default",
    }


@pytest.mark.parametrize(
    ("origin", "said"),
    [(Origin.YOURS, "Cost"), (Origin.SCENARIO, "Cost, from the scenario"), (Origin.DEFAULT, "not answered")],
)
def test_a_list_says_the_answer_and_whose_it_is(origin: Origin, said: str) -> None:
    assert short_answer("priority", Answered("cost", origin), Formatter()) == said


@pytest.mark.parametrize(
    ("in_force", "values"),
    [
        (1500.0, (1000.0, 1500.0, 2000.0, 5000.0, "none")),
        (2000.0, (1000.0, 2000.0, 5000.0, "none")),
        ("none", (1000.0, 2000.0, 5000.0, "none")),
    ],
)
def test_a_number_of_the_users_own_stands_at_its_place(
    in_force: AnswerValue, values: tuple[AnswerValue, ...]
) -> None:
    assert shown_values("ttft_limit_ms", in_force) == values
