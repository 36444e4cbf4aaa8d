"""JSON lines: one answer a line, in order, for any lines."""

import io
import json
from collections.abc import Sequence
from typing import Any

import pytest

from gpudesk.domain.estimate import Estimate, EstimateRequest
from gpudesk.estimation.batch import answer_stream
from gpudesk.text.messages import InputError
from tests.fakes import FakeEstimator

GOOD: dict[str, Any] = {
    "id": "a1",
    "accelerator": "h200-sxm",
    "model": "llama-3.1-70b",
    "weights": "fp8",
    "input_tokens": 1000,
    "output_tokens": 1000,
    "load": {"concurrency": 64},
}

KEYS = [
    "id",
    "fits",
    "serving_engine",
    "parallel",
    "count",
    "concurrency",
    "admitted",
    "limiter",
    "basis",
    "output_tokens_per_s",
    "total_tokens_per_s",
    "output_tokens_per_s_per_accelerator",
    "ttft_ms",
    "tpot_ms",
    "request_s",
    "batch_s",
    "stable",
    "memory_gib",
    "max_concurrency",
    "notes",
    "pools",
]


def answers(*lines: bytes | dict[str, Any]) -> tuple[list[dict[str, Any]], int]:
    raw = b"\n".join(line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines)
    target = io.BytesIO()
    faults = answer_stream(FakeEstimator(), io.BytesIO(raw), target)
    return [json.loads(line) for line in target.getvalue().splitlines()], faults


def test_answer_has_the_keys_of_the_contract_in_order() -> None:
    (answer,), faults = answers(GOOD)
    assert faults == 0
    assert list(answer) == KEYS
    assert list(answer["parallel"]) == ["tp", "pp", "ep", "dp", "attention_dp"]
    assert list(answer["memory_gib"]) == ["capacity", "weights", "kv", "activations", "runtime", "free"]
    assert answer["output_tokens_per_s"] == {"value": 1000.0, "low": 900.0, "high": 1100.0}
    assert answer["memory_gib"]["capacity"] == 141.0
    assert answer["batch_s"] is None
    assert answer["notes"] == ["Serving engine chosen: vLLM"]
    assert (answer["limiter"], answer["basis"]) == ("memory bandwidth", "calibrated")


def test_oversized_model_is_explained_with_a_count_that_fits() -> None:
    (answer,), faults = answers(GOOD | {"input_tokens": 2_000_000})
    assert faults == 0
    assert list(answer) == [*KEYS, "reason", "needs"]
    assert answer["fits"] is False
    assert answer["needs"] == 4
    assert answer["reason"].startswith("One request of this length does not fit 1 × H200-SXM: 7.0 GiB")


def test_broken_line_between_two_good_ones() -> None:
    answer_lines, faults = answers(GOOD, b'{"id": "a2", "accel', GOOD | {"id": 3})
    assert faults == 1
    assert [answer["id"] for answer in answer_lines] == ["a1", None, 3]
    assert answer_lines[1] == {"id": None, "line": 2, "error": "is not valid JSON at column 20: unexpected end of data"}
    assert answer_lines[2]["fits"] is True


def test_blank_lines_are_skipped_and_counted() -> None:
    answer_lines, _ = answers(b"", GOOD, b"  \t\r", b"[1]", b"")
    assert [answer.get("line") for answer in answer_lines] == [None, 4]


@pytest.mark.parametrize(
    ("line", "error"),
    [
        (GOOD | {"output_tokens": "many"}, "output_tokens: 'many' is text; expected a whole number"),
        (GOOD | {"accelerator": "h300"}, "h300 is not one of"),
        (GOOD | {"id": 1.5}, "id: 1.5 is a number"),
        (b"\xff\xfe", "is not valid JSON at column 1: str is not valid UTF-8"),
        (b"7", "7 is a whole number; expected an object"),
        (b"[" * 3000, "is not valid JSON"),
        (b'"' + b"x" * (1 << 20) + b'"', "is longer than 1,048,576 bytes"),
    ],
)
def test_line_at_fault_is_answered_with_its_number(line: bytes | dict[str, Any], error: str) -> None:
    answer_lines, faults = answers(GOOD, line, GOOD)
    assert faults == 1
    assert len(answer_lines) == 3
    assert answer_lines[1]["line"] == 2
    assert answer_lines[1]["error"].startswith(error)


def test_id_of_a_line_at_fault_is_kept() -> None:
    answer_lines, _ = answers(GOOD | {"id": "x", "count": 0}, GOOD | {"id": 8, "model": "unknown", "tp": 2, "count": 3})
    assert [answer["id"] for answer in answer_lines] == ["x", 8]


def test_endless_line_is_answered_once_and_the_next_as_usual() -> None:
    answer_lines, faults = answers(b"x" * (5 << 20), GOOD)
    assert faults == 1
    assert [answer.get("line") for answer in answer_lines] == [1, None]


def test_nothing_is_held_back_while_input_is_awaited() -> None:
    class Pipe(io.BytesIO):
        """Gives one line at a time and looks at what has been answered before the next."""

        def read1(self, _size: int | None = -1) -> bytes:
            counts.append(len(target.getvalue().splitlines()))
            return self.readline()

    counts: list[int] = []
    target = io.BytesIO()
    line = json.dumps(GOOD).encode() + b"\n"
    answer_stream(FakeEstimator(), Pipe(line * 3), target)
    assert counts == [0, 1, 2, 3]


def test_mistake_of_the_program_spoils_one_line_alone() -> None:
    class Mistaken(FakeEstimator):
        """Breaks on one request, and with it on every call that holds it."""

        def estimate_many(self, requests: Sequence[EstimateRequest]) -> list[Estimate | InputError]:
            if any(request.count == 7 for request in requests):
                raise ZeroDivisionError
            return super().estimate_many(requests)

    lines = [GOOD, GOOD | {"id": "a2", "count": 7}, GOOD | {"id": "a3"}]
    target = io.BytesIO()
    faults = answer_stream(Mistaken(), io.BytesIO("\n".join(map(json.dumps, lines)).encode()), target)
    answer_lines = [json.loads(line) for line in target.getvalue().splitlines()]
    assert faults == 1
    assert [answer["id"] for answer in answer_lines] == ["a1", "a2", "a3"]
    assert answer_lines[1]["line"] == 2
    assert "ZeroDivisionError" in answer_lines[1]["error"]


def test_many_lines_come_out_in_order() -> None:
    lines = [GOOD | {"id": number, "count": number % 7 + 1} for number in range(12_000)]
    answer_lines, faults = answers(*lines)
    assert faults == 0
    assert [answer["id"] for answer in answer_lines] == list(range(12_000))
    assert [answer["count"] for answer in answer_lines] == [number % 7 + 1 for number in range(12_000)]
