"""What the dialogue leaves out changes nothing: every answer to it has the same result."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpudesk.decision.facts.answers import explain_skipped_question
from gpudesk.documents.scenario_file import read_template
from gpudesk.domain.answer import AcceleratorChoice
from gpudesk.domain.decision import QUESTIONS
from gpudesk.service import GpuDeskService


@pytest.mark.parametrize(
    ("parts", "runs_on"),
    [(("h200-sxm", "b200-hgx"), "CUDA"), (("mi325x", "mi355x"), "ROCm"), (("mi325x", "mi355x"), "CUDA")],
)
def test_no_answer_to_what_is_not_asked_moves_anything(
    service: GpuDeskService, parts: tuple[str, ...], runs_on: str
) -> None:
    scenario = read_template("70b-chat-on-four")
    answer = service.answer(replace(scenario, accelerators=tuple(map(AcceleratorChoice, parts))))
    now = service.decide(answer, {"current_platform": runs_on})
    left_out = [name for name in QUESTIONS if explain_skipped_question(name, now)]
    assert "team" in left_out
    stays = (runs_on == "CUDA") is ("h200-sxm" in parts)
    assert ("porting" in left_out) is stays
    for name in left_out:
        for value in QUESTIONS[name].offered:
            then = service.decide(answer, {"current_platform": runs_on, name: value})
            assert then.verdict is now.verdict, (name, value)
            for ours, theirs in zip(then.candidates, now.candidates, strict=True):
                assert ours.removed == theirs.removed, (name, value)
                assert ours.odds == pytest.approx(theirs.odds), (name, value)
