"""How fast the command line starts and answers JSON lines."""

from __future__ import annotations

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

from gpudesk.estimation.request_fields import parse_request
from gpudesk.service import GpuDeskService
from tests.benchmarks.conftest import Say

LINES = 20_000
#: Lines a second, and seconds until the first answer.
LEAST_RATE = 25_000
LONGEST_START = 1.0
#: Lines a second where no two lines ask about the same deployment, and with pools.
LEAST_SCATTERED = 6_000
LEAST_POOLED = 60

_PARTS = ("h100-sxm", "h200-sxm", "b200-hgx", "mi300x", "mi325x", "mi355x")
_MODELS = (("llama-3.1-70b", "fp8"), ("gpt-oss-120b", "mxfp4"), ("deepseek-v3", "fp8"), ("qwen3-32b", "bf16"))


def lines(count: int) -> bytes:
    draw = random.Random(1)
    return _encode_lines([_line(number, draw) for number in range(count)])


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


def test_lines_a_second(say: Say) -> None:
    content = lines(LINES)
    rate = max(_rate(content) for _ in range(3))
    say(f"estimate --batch: {rate:,.0f} lines a second (bar {LEAST_RATE:,})")
    assert rate >= LEAST_RATE


def _rate(content: bytes) -> float:
    """Lines a second of processor time, of a service that knows the deployments and not yet the lengths."""
    with GpuDeskService.open() as service:
        service.estimate_lines(io.BytesIO(lines(200)), io.BytesIO())
        began = time.process_time()
        faults = service.estimate_lines(io.BytesIO(content), io.BytesIO())
        assert faults == 0
        return LINES / (time.process_time() - began)


def _scattered(service: GpuDeskService, count: int) -> bytes:
    """Return lines of all parts, models, formats and plans of 8; some nothing runs, some do not fit."""
    draw = random.Random(2)
    parts = [part.id for part in service.catalog.accelerators()]
    models = [model.id for model in service.catalog.models()]
    requests = []
    for number in range(count):
        tp = draw.choice((1, 2, 4, 8))
        plan = {"tp": tp, "dp": 8 // tp}
        model = {"model": draw.choice(models), "weights": draw.choice(("bf16", "fp8", "int4"))}
        requests.append({**_line(number, draw), **model, **plan, "accelerator": draw.choice(parts)})
    return _encode_lines(requests)


def _pooled(_: GpuDeskService, count: int) -> bytes:
    """Return lines of deployments with pools, of which the program chooses split and plans."""
    draw = random.Random(3)
    requests = [{**_line(number, draw), "count": 16, "disaggregated": {}} for number in range(count)]
    degrees = ("tp", "pp", "ep", "dp", "attention_dp")
    return _encode_lines([{name: line[name] for name in line if name not in degrees} for line in requests])


def _encode_lines(requests: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in requests)


@pytest.mark.parametrize(
    ("make_lines", "count", "least"), [(_scattered, 4_000, LEAST_SCATTERED), (_pooled, 200, LEAST_POOLED)]
)
def test_lines_a_second_of_other_kinds(
    make_lines: Callable[[GpuDeskService, int], bytes], count: int, least: int, say: Say
) -> None:
    with GpuDeskService.open() as service:
        content = make_lines(service, count)
        service.estimate_lines(io.BytesIO(lines(200)), io.BytesIO())
        began = time.process_time()
        service.estimate_lines(io.BytesIO(content), io.BytesIO())
        rate = count / (time.process_time() - began)
    say(f"estimate --batch, {make_lines.__name__[1:]}: {rate:,.0f} lines a second (bar {least:,})")
    assert rate >= least


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
