"""The plans of an estimate in words: what is shown at once, and what stands in groups."""

from __future__ import annotations

from dataclasses import replace

from gpudesk.domain.estimate import ConsideredPlan, ParallelPlan, PlanChoice
from gpudesk.report.explanation.claims import format_explanation
from gpudesk.report.explanation.figure import FigureEvidence, explain_figure
from gpudesk.report.explanation.working import build_explained_plans, describe_plan_reason
from gpudesk.text.formatting import ENGLISH_NUMBERS, GERMAN_NUMBERS, Formatter
from gpudesk.text.messages import Share, Term, message
from tests.fakes import around
from tests.unit.report.conftest import MakeAnswer

FORMATTER = Formatter(ENGLISH_NUMBERS)


def slower(tp: int, rate: float) -> ConsideredPlan:
    return ConsideredPlan(
        ParallelPlan(tp, dp=8 // tp),
        fits=True,
        is_chosen=False,
        reasons=(
            message(
                "plan.slower_share",
                "{behind} slower: {part} takes {now} of its time, up from {before}",
                behind=Share(0.12),
                part=Term("part.collectives", "communication"),
                now=Share(0.31),
                before=Share(0.04),
            ),
            message("plan.within_error", "within the error"),
        ),
        output_tokens_per_s=around(rate),
        ttft_ms=around(243.0),
        tpot_ms=around(31.4),
    )


TAKEN = ConsideredPlan(
    ParallelPlan(4, dp=2),
    fits=True,
    is_chosen=True,
    reasons=(message("plan.ahead", "{ahead} faster than the next plan, {plan}", ahead=Share(0.12), plan=("TP 8",)),),
    output_tokens_per_s=around(3560.0),
    ttft_ms=around(200.0),
    tpot_ms=around(28.0),
)
UNFIT = ConsideredPlan(
    ParallelPlan(dp=8),
    fits=False,
    is_chosen=False,
    reasons=(
        message(
            "plan.weights_do_not_fit",
            "does not fit: weights take {weights} of {capacity}",
            weights=141.0,
            capacity=(80.0, "GiB"),
        ),
    ),
)
UNTRIED = ConsideredPlan(
    ParallelPlan(8, ep=8, attention_dp=True),
    fits=None,
    is_chosen=False,
    reasons=(message("plan.no_attention_dp", "{engine} does not support data-parallel attention", engine="TGI"),),
)
CHOICE = PlanChoice((TAKEN, *(slower(tp, 3140.0) for tp in (8, 8, 2, 2, 1, 1)), UNFIT, UNTRIED))


def test_a_plan_is_one_line_with_its_reason() -> None:
    lines = build_explained_plans(CHOICE, FORMATTER)
    assert lines is not None
    first, second, *_ = lines.first_plans
    assert (first.name, first.value, first.reason) == (
        "TP 4 × DP 2",
        "3,560 tok/s",
        "12% faster than the next plan, TP 8",
    )
    assert second.sentence == (
        "TP 8, 3,140 tok/s, TTFT 243 ms, TPOT 31.4 ms, 12% slower: communication takes 31% of its time, up from "
        "4%; within the error"
    )
    assert first.sentence.startswith("TP 4 × DP 2, chosen, 3,560 tok/s")


def test_less_likely_plans_are_grouped() -> None:
    lines = build_explained_plans(CHOICE, FORMATTER)
    assert lines is not None
    assert len(lines.first_plans) == 4
    assert [(group.label, len(group.plans)) for group in lines.more] == [
        ("3 slower plans", 3),
        ("1 plan that does not fit", 1),
        ("1 plan not tried", 1),
    ]
    unfit, untried = lines.more[1].plans[0], lines.more[2].plans[0]
    assert unfit.sentence == "DP 8, does not fit: weights take 141 of 80.0 GiB"
    assert unfit.figure == "—"
    assert untried.sentence == "TP 8 + EP 8 + attention DP, TGI does not support data-parallel attention"


def test_figures_follow_the_language() -> None:
    lines = build_explained_plans(CHOICE, Formatter(GERMAN_NUMBERS))
    assert lines is not None
    assert lines.first_plans[1].figure == "3.140"
    assert "31,4 ms" in lines.first_plans[1].latency


def test_no_sentence_without_a_choice() -> None:
    single = PlanChoice((replace(TAKEN, reasons=(message("plan.single", "the only plan with one accelerator"),)),))
    for choice in (single, PlanChoice(()), PlanChoice((UNFIT, UNTRIED))):
        assert build_explained_plans(choice, FORMATTER) is None
        assert describe_plan_reason(choice, FORMATTER) is None
    assert describe_plan_reason(CHOICE, FORMATTER) == "12% faster than the next plan, TP 8"


def test_plan_is_next_to_the_figure_and_in_its_copy(make_answer: MakeAnswer) -> None:
    answer = make_answer("h200-sxm")
    explanation = explain_figure(answer, 0, "output_tokens_per_s", FigureEvidence(plans=CHOICE), FORMATTER)
    assert explanation.plans == build_explained_plans(CHOICE, FORMATTER)
    copied = format_explanation(explanation)
    assert "Why this plan:\n- TP 4 × DP 2, chosen, 3,560 tok/s" in copied
    assert explain_figure(answer, 0, "output_tokens_per_s", FigureEvidence(), FORMATTER).plans is None
