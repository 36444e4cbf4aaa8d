"""How fast the command line starts and answers JSON lines."""

import io
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from gpudesk.workbench.requests import parse_request
from gpudesk.workbench.workbench import Workbench

LINES = 20_000
#: Lines a second, and seconds until the first answer.
LEAST_RATE = 20_000
LONGEST_START = 1.0

_PARTS = ("h100-sxm", "h200-sxm", "b200-hgx", "mi300x", "mi325x", "mi355x")
_MODELS = (("llama-3.1-70b", "fp8"), ("gpt-oss-120b", "mxfp4"), ("deepseek-v3", "fp8"), ("qwen3-32b", "bf16"))


def lines(count: int) -> bytes:
    """Return JSON lines of parts, models, lengths and loads as they come."""
    draw = random.Random(1)
    return b"".join(json.dumps(_line(number, draw)).encode() + b"\n" for number in range(count))


def _line(number: int, draw: random.Random) -> dict[str, Any]:
    model, weights = draw.choice(_MODELS)
    return {
        "id": number,
        "accelerator": draw.choice(_PARTS),
        "count": 8,
        "model": model,
        "weights": weights,
        "kv": "fp8",
        "serving_engine": "vllm",
        "tp": 8,
        "pp": 1,
        "ep": 1,
        "dp": 1,
        "attention_dp": False,
        "input_tokens": draw.randint(100, 8000),
        "output_tokens": draw.randint(100, 2000),
        "load": {"concurrency": draw.randint(1, 512)},
    }


def test_lines_a_second(record_property: Callable[[str, object], None]) -> None:
    asked = lines(LINES)
    rate = max(_rate(asked) for _ in range(3))
    record_property("lines_per_s", round(rate))
    assert rate >= LEAST_RATE


def _rate(asked: bytes) -> float:
    """Lines a second of processor time, of a workbench that knows the deployments and not yet the lengths."""
    with Workbench.open() as workbench:
        workbench.estimate_lines(io.BytesIO(lines(200)), io.BytesIO())
        began = time.process_time()
        faults = workbench.estimate_lines(io.BytesIO(asked), io.BytesIO())
        assert faults == 0
        return LINES / (time.process_time() - began)


def test_start(record_property: Callable[[str, object], None]) -> None:
    began = time.perf_counter()
    completed = subprocess.run(
        [sys.executable, "-m", "gpudesk", "estimate", "--batch", "-"],
        input=lines(1),
        capture_output=True,
        env=os.environ,
        check=True,
    )
    seconds = time.perf_counter() - began
    record_property("seconds", round(seconds, 3))
    assert json.loads(completed.stdout)["id"] == 0
    assert seconds <= LONGEST_START


@pytest.mark.benchmark(group="parse")
def test_parsing_a_line(benchmark: BenchmarkFixture) -> None:
    fields = _line(1, random.Random(1))
    assert benchmark(parse_request, fields).count == 8
