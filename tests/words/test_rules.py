"""The rules for shown texts: each finds what it is there for, and leaves plain sentences alone."""

import pytest

from tests.words.rules import find_code_faults, find_faults


@pytest.mark.parametrize(
    "text",
    [
        "H200 SXM: buying pays back after 21.8 months, compared with renting around the clock.",
        "What matters most: cost, speed or model size?",
        "Unknown model ‘lama-70b’. Did you mean llama-3.1-70b?",
        "Undecided: estimated TTFT is {ttft} (80% interval {low}–{high}), so it may miss your {limit} limit.",
        "Set aside as part of the import.",
        "This accelerator is no longer compared.",
        "--name and --organization work with one file only.",
        "There is no threshold.",
        "{engine} cannot split the {part} of {model}.",
        "Neither vLLM nor SGLang",
    ],
)
def test_plain_sentences_pass(text: str) -> None:
    assert not list(find_faults(text))


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("The parts compared", "“parts”"),
        ("It is no currency", "“is no”"),
        ("Nothing is shown that is not published.", "negated twice"),
        ("What speaks against {name}", "begins with “What”"),
        ("Colours of the chart", "“Colours”"),
        ("Optimise for cost", "“Optimise”"),
        ("19 % faster", "“9 %”"),
        (" ".join(["word"] * 21), "21 words"),
    ],
)
def test_faults_are_found(text: str, fault: str) -> None:
    assert any(fault in each_fault for each_fault in find_faults(text))


def test_code_may_use_words_that_readers_do_not_see() -> None:
    assert not list(find_code_faults("Draw the parts; `reason` says why, a dash stands for none."))
    (fault,) = find_code_faults("A line beside the chart")
    assert "next to" in fault
