"""Conditions of the rules about serving engines."""

from __future__ import annotations

import pytest

from gpudesk.domain.accelerators import Accelerator
from gpudesk.domain.serving_engines import When, platforms_of

GIB = 2**30
PART = Accelerator(
    id="tpu-v7",
    name="TPU v7",
    vendor="Google",
    generation="tpu-v7",
    announced=False,
    platform="JAX/XLA, PyTorch",
    memory_bytes=192 * GIB,
    memory_bandwidth=7.4e12,
)


@pytest.mark.parametrize(
    ("when", "holds"),
    [
        (When(), True),
        (When(platforms=frozenset({"PyTorch"})), True),
        (When(platforms=frozenset({"CUDA"})), False),
        (When(generations=frozenset({"tpu-v7"})), True),
        (When(least_memory_bytes=192 * GIB), True),
        (When(below_memory_bytes=192 * GIB), False),
        (When(since="2025-06"), True),
        (When(since="2025-07"), False),
        (When(until="2025-06"), False),
        (When(until="2025-07"), True),
        (When(behind_server=True), True),
        (When(behind_server=False), False),
        (When(platforms=frozenset({"JAX/XLA"}), since="2025-07"), False),
    ],
)
def test_conditions(when: When, holds: bool) -> None:
    assert when.holds(PART, "2025-06-30", behind_server=True) is holds


def test_unknown_conditions() -> None:
    """The newest software has what came and not what went; what asks for a way of use needs to know it."""
    assert When(since="2030-01").holds(PART)
    assert not When(until="2030-01").holds(PART)
    assert not When(behind_server=False).holds(PART)


def test_a_part_can_have_several_platforms() -> None:
    assert platforms_of(PART) == {"JAX/XLA", "PyTorch"}
