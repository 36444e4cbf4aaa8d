"""Questions that cannot matter are not asked, and the reason is told."""

from dataclasses import dataclass, field

import pytest

from gpudesk.decision.facts.answers import find_skip_reason, question_matters
from gpudesk.domain.decision import QUESTIONS, AnswerOrigin, AnswerValue, FactValue, QuestionAnswer


@dataclass
class Said:
    """Answers by default, some of them otherwise, and what is known of what is compared."""

    answers: dict[str, AnswerValue] = field(default_factory=dict)
    needs_port: bool | None = True
    platforms: tuple[str | None, ...] = ("CUDA", "ROCm")
    yours: tuple[str, ...] = ()

    def why(self, question: str) -> str | None:
        question_answers = {
            name: QuestionAnswer(
                self.answers.get(name, each.default), AnswerOrigin.YOURS if name in self.yours else AnswerOrigin.DEFAULT
            )
            for name, each in QUESTIONS.items()
        }
        facts: dict[str, FactValue] = {"some_need_port": self.needs_port}
        parts: list[dict[str, FactValue]] = [{"platform": platform} for platform in self.platforms]
        reason = find_skip_reason(question, question_answers, facts, parts)
        assert question_matters(question, question_answers, facts, parts) is (reason is None)
        return None if reason is None else reason.id


def test_everything_is_asked_where_two_platforms_meet() -> None:
    assert [name for name in QUESTIONS if Said().why(name)] == []


@pytest.mark.parametrize("question", ["porting", "adoption_months", "monthly_hours"])
def test_questions_about_porting_are_left_out_without_porting(question: str) -> None:
    assert Said(needs_port=False).why(question) == "dialogue.nothing_to_port"
    assert Said(needs_port=None).why(question) is None


@pytest.mark.parametrize("question", ["team", "adoption_months"])
def test_skill_does_not_choose_between_equals(question: str) -> None:
    assert Said(platforms=("ROCm", "ROCm")).why(question) == "dialogue.one_platform"
    assert Said(platforms=("ROCm", None)).why(question) is None


def test_owners_rent_no_hours_and_tenants_buy_nothing() -> None:
    assert Said({"acquisition": "own"}).why("monthly_hours") == "dialogue.owned"
    assert Said({"acquisition": "own"}).why("budget_usd") is None
    assert Said({"acquisition": "rent"}).why("budget_usd") == "dialogue.rented"
    assert Said({"acquisition": "rent"}).why("monthly_hours") is None


@pytest.mark.parametrize("question", ["ttft_limit_ms", "tpot_limit_ms"])
def test_offline_service_skips_latency_questions(question: str) -> None:
    assert Said({"service": "offline"}).why(question) == "dialogue.nobody_waits"
    assert Said({"service": "server"}).why(question) is None


@pytest.mark.parametrize(("months", "is_asked"), [(0.0, False), (5.9, False), (6.0, True), ("unknown", True)])
def test_soon_start_skips_the_question_about_waiting(months: AnswerValue, is_asked: bool) -> None:
    assert (Said({"months_to_launch": months}).why("waiting") is None) is is_asked


def test_answered_questions_stay_visible() -> None:
    assert Said({"acquisition": "own"}, yours=("monthly_hours",)).why("monthly_hours") is None
