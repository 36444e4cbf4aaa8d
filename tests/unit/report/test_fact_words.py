"""Facts and conditions of rules in words: every one that rules name, and none as the program writes it."""

from collections.abc import Iterator

import pytest

from gpudesk import paths
from gpudesk.decision.rules.conditions import parse_condition
from gpudesk.decision.rules.data_files import read_rules
from gpudesk.domain.decision import NO_LIMIT, QUESTIONS, DecisionRule, FactValue
from gpudesk.domain.decision import ConditionResult as Comparison
from gpudesk.report.decision import rules as words
from gpudesk.report.decision.facts import format_fact, label_fact
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter, IntervalEstimate
from gpudesk.text.messages import lower_for_sentence

FORMATTER = Formatter()


def rules() -> tuple[DecisionRule, ...]:
    return read_rules(paths.get_data_path("rules"))


def conditions(rule: DecisionRule) -> Iterator[str]:
    for case in rule.cases:
        yield from (text for text in (case.when, case.requires, case.favours, case.checks) if text)


def list_names() -> list[str]:
    names = {rule.shows for rule in rules() if rule.shows}
    for rule in rules():
        for text in conditions(rule):
            names |= parse_condition(text).names
    return sorted(names)


def plain(text: str) -> str:
    return text.replace("\N{NO-BREAK SPACE}", " ")


def test_every_fact_of_rules_has_a_name_and_a_format() -> None:
    names = list_names()
    assert len(names) > 80
    for name in names:
        assert "_" not in label_fact(name), name
        assert format_fact(name, None, FORMATTER) == MISSING_VALUE_TEXT
        if name not in QUESTIONS:
            for value in (True, False, 412.0, IntervalEstimate(2.0, 1.0, 3.0), 0.0, float("inf")):
                assert format_fact(name, value, FORMATTER)


def test_no_two_facts_are_called_the_same_in_one_condition() -> None:
    for rule in rules():
        for text in conditions(rule):
            used = parse_condition(text).names
            assert len({label_fact(name) for name in used}) == len(used), text


def test_no_condition_is_shown_as_the_program_writes_it() -> None:
    for rule in rules():
        for text in conditions(rule):
            description = words.describe_condition(text, FORMATTER)
            assert "_" not in description, description
            assert "==" not in description
            assert "1e" not in description
            assert "not: " not in description


@pytest.mark.parametrize(
    ("name", "fact", "expected"),
    [
        ("needs_alone_gb", 412.345, "412 GB"),
        ("memory_gib", 141.0, "141 GiB"),
        ("bandwidth_tbs", 4.8, "4.8 TB/s"),
        ("link_gbs", 1071.4, "1,071 GB/s"),
        ("host_traffic_gbs", 1.2e-5, "under 0.01 GB/s"),
        ("peak_pflops", 0.9895, "0.9895 PFLOPS"),
        ("tokens_per_s", IntervalEstimate(1731.2, 1506.0, 1956.0), "1,730 (1,510 – 1,960) tok/s"),
        ("ttft_ms", IntervalEstimate(1990.0, 1630.0, 2550.0), "1,990 (1,630 – 2,550) ms"),
        ("rent_usd_h", 1.95, "$1.95/h"),
        ("spend_usd", 2362.5, "$2,360"),
        ("usd_per_million", IntervalEstimate(0.665, 0.439, 0.961), "$0.67 (0.44 – 0.96)"),
        ("payback_hours", 20_400.0, "20,400 h/month"),
        ("payback_hours", float("inf"), "never"),
        ("params_b", 70.0, "70B"),
        ("years", 1.0, "1 year"),
        ("decode_share", 0.987, "99%"),
        ("max_concurrency", 276.0, "276"),
        ("engines", "llama.cpp, sglang, tensorrt-llm", "llama.cpp, SGLang, TensorRT-LLM"),
        ("generation", "blackwell-ultra", "Blackwell Ultra"),
        ("generation", "of-tomorrow", "of-tomorrow"),
        ("form", "oam", "OAM"),
        ("form", "other", "other"),
        ("limiter", "memory bandwidth", "memory bandwidth"),
        ("fits_alone", False, "no"),
        ("serving_engine", "tensorrt-llm", "TensorRT-LLM"),
        ("ttft_limit_ms", 2000.0, "2 s"),
        ("ttft_limit_ms", NO_LIMIT, "no limit"),
        ("export_score", 20_912.0, "20,912"),
    ],
)
def test_facts_have_the_digits_and_the_unit_of_the_field(name: str, fact: FactValue, expected: str) -> None:
    assert plain(format_fact(name, fact, FORMATTER)) == expected


@pytest.mark.parametrize(
    ("tested", "expected"),
    [
        (
            Comparison("needs_alone_gb <= memory_gb", 412.0, 256.0, holds=False),
            ("memory needed on one, 412 GB > memory 256 GB"),
        ),
        (Comparison("weights_gb > 140", 72.6, 140.0, holds=False), "weights, 72.6 GB ≤ 140 GB"),
        (
            Comparison("ttft_ms <= ttft_limit_ms", IntervalEstimate(1990.0, 1630.0, 2550.0), 2000.0, holds=None),
            "time to first token, 1,990 (1,630 – 2,550) ms ≤ TTFT limit 2 s: undecided",
        ),
        (Comparison("ttft_limit_ms < 1000000000000.0", 2000.0, 1e12, holds=True), "TTFT limit: 2 s"),
        (Comparison("fits_alone", True, None, holds=True), "fits on one: yes"),
        (Comparison("fits_alone", None, None, holds=None), "fits on one: undecided"),
        (Comparison("form == 'oam'", "sxm", "oam", holds=False), "form: SXM, not OAM"),
        (Comparison("team == 'rocm'", "rocm", "rocm", holds=True), "team: skilled in ROCm"),
        (Comparison("team == 'rocm'", None, "rocm", holds=None), "team: —"),
        (
            Comparison("fewest_count == most_count", 1.0, 2.0, holds=False),
            "accelerators, min of all, 1 ≠ accelerators, max of all 2",
        ),
    ],
)
def test_comparisons_show_their_numbers_and_result(tested: Comparison, expected: str) -> None:
    assert plain(words.describe_condition_result(tested, FORMATTER)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("needs_gb > 200 and shape == 'one'", "weights and one request > 200 GB and must fit on one: yes"),
        ("team == 'cuda' or team == 'small'", "team: CUDA only or small or new"),
        ("not needs_port", "needs no port"),
        ("not fits", "not: the deployment fits"),
        ("ttft_limit_ms < 1e12", "TTFT limit is set"),
        ("standing != 'frontier'", "references required: other than frontier scale"),
        (
            "budget_usd < 1e12 and (long_context == 'yes' or weights_gb > 140)",
            "up-front budget is set and (long context needed: yes or weights > 140 GB)",
        ),
        ("spend_usd <= budget_usd", "up-front cost with network ≤ up-front budget"),
        ("headroom_gb > kv_one_gb * 2", "spare memory per accelerator > kv_one_gb * 2"),
    ],
)
def test_conditions_read_as_words(text: str, expected: str) -> None:
    assert plain(words.describe_condition(text, FORMATTER)) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Weights", "weights"),
        ("KV cache of one request", "KV cache of one request"),
        ("PCIe, bidirectional", "PCIe, bidirectional"),
        ("TensorRT-LLM", "TensorRT-LLM"),
        ("I don't know", "I don't know"),
        ("Interactive user", "interactive user"),
        ("16-bit compute, dense", "16-bit compute, dense"),
    ],
)
def test_names_of_their_own_keep_their_capitals(name: str, expected: str) -> None:
    assert lower_for_sentence(name) == expected
