"""Lines written in columns say to the byte what estimates of the same requests say."""

from __future__ import annotations

import gc
import io
import json
from itertools import product
from typing import Any
from weakref import ref

import orjson
import pytest

from gpudesk.domain.estimate_json import write_estimate_json
from gpudesk.estimation.batch import answer_stream
from gpudesk.estimation.estimator import Estimator
from gpudesk.estimation.request_fields import parse_request
from gpudesk.text.messages import InputError

LINE: dict[str, Any] = {
    "accelerator": "h100-sxm",
    "model": "llama-3.1-70b",
    "weights": "fp8",
    "input_tokens": 1000,
    "output_tokens": 500,
    "load": {"concurrency": 16},
}
LOADS: tuple[dict[str, Any], ...] = (
    {"concurrency": 1},
    {"concurrency": 5000},
    {"concurrency": 64, "requests": 100},
    {"batch": 8},
    {"saturate": True, "requests": 300},
    {"request_rate": 0.5},
    {"request_rate": 1e6},
    {"ttft_ms": 1e5, "tpot_ms": 100},
    {"ttft_ms": 1e5, "tpot_ms": 100, "limit": "mean"},
    {"ttft_ms": 1, "tpot_ms": 1},
)
LENGTHS = ((1000, 500), (300, 1), (200_000, 10), (10**8, 10**8))
CHANGES: tuple[dict[str, Any], ...] = (
    {},
    {"count": 8, "tp": 4},
    {"count": 3, "serving_engine": "sglang", "memory_fraction": 0.9},
    {"accelerator": "mi300x", "kv": "fp8", "lengths": "fixed"},
    {"prefix_hit_rate": 0.5, "acceptance_length": 2, "server": False, "eager": True},
)


def write_answers(estimator: Estimator, lines: list[dict[str, Any]]) -> list[bytes]:
    target = io.BytesIO()
    answer_stream(estimator, io.BytesIO(b"\n".join(json.dumps(line).encode() for line in lines)), target)
    return target.getvalue().splitlines()


def test_columns_match_their_estimates(estimator: Estimator) -> None:
    lines = [
        {
            **LINE,
            **changes,
            "id": f"{number}, {{%b}}",
            "input_tokens": prompt_tokens,
            "output_tokens": output_tokens,
            "load": load,
        }
        for number, (load, (prompt_tokens, output_tokens), changes) in enumerate(product(LOADS, LENGTHS, CHANGES))
    ]
    estimates = estimator.estimate_many([parse_request(line) for line in lines])
    for line, estimate, answer in zip(lines, estimates, write_answers(estimator, lines), strict=True):
        assert not isinstance(estimate, InputError)
        assert answer == orjson.dumps(write_estimate_json(estimate, line["id"]))


class Asker:
    """Stands for a window that asks."""


def test_cached_error_holds_no_reference_to_its_callers(estimator: Estimator) -> None:
    def ask() -> tuple[object, ref[Asker]]:
        asker = Asker()
        (answer,) = estimator.estimate_many([parse_request(LINE | {"model": "no-such-model"})])
        return answer, ref(asker)

    answer, asker = ask()
    assert isinstance(answer, InputError)
    assert asker() is None


@pytest.mark.parametrize(
    "changes",
    [
        {"tp": True},
        {"id": 1.5},
        {"input_tokens": True},
        {"output_tokens": 0},
        {"load": {"concurrency": True}},
        {"load": None},
        {"id": [[[]]] * 300, "deep": json.loads("[" * 300 + "]" * 300)},
    ],
)
def test_faulty_batch_line_does_not_affect_similar_lines(estimator: Estimator, changes: dict[str, Any]) -> None:
    alike = {**LINE, "count": 8, "tp": 1, "id": 1}
    good, bad, again = [json.loads(line) for line in write_answers(estimator, [alike, {**alike, **changes}, alike])]
    assert good == again
    assert bad["line"] == 2
    with pytest.raises(InputError):
        parse_request({**alike, **changes})


def test_nearest_plan_of_a_refused_one_is_for_the_lengths_of_the_line(estimator: Estimator) -> None:
    lines = [{**LINE, "tp": 3, "input_tokens": tokens} for tokens in (100, 100_000, 1_000_000)]
    answers = [json.loads(line)["error"] for line in write_answers(estimator, lines)]
    plans = [answer.rpartition(" is ")[2] for answer in answers]
    assert plans == ["DP 3", "PP 3", "TP 4 × PP 2"]


@pytest.mark.parametrize("changes", [{"input_tokens": 0}, {"model": "no-such-model"}, {"count": 7, "tp": 4}, {"tp": 3}])
def test_a_line_at_fault_leaves_nothing_to_collect(estimator: Estimator, changes: dict[str, Any]) -> None:
    def count_errors() -> int:
        return sum(isinstance(each, InputError) for each in gc.get_objects())

    gc.collect()
    gc.disable()
    try:
        before = count_errors()
        (answer,) = write_answers(estimator, [LINE | changes])
        assert count_errors() == before
    finally:
        gc.enable()
    assert b"error" in answer
