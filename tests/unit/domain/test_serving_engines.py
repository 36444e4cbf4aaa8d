"""Conditions of the rules about serving engines."""

from __future__ import annotations

import pytest

from gpudesk.domain.accelerator import Accelerator
from gpudesk.domain.serving_engine import EngineCondition, list_platforms

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
        (EngineCondition(), True),
        (EngineCondition(platforms=frozenset({"PyTorch"})), True),
        (EngineCondition(platforms=frozenset({"CUDA"})), False),
        (EngineCondition(generations=frozenset({"tpu-v7"})), True),
        (EngineCondition(least_memory_bytes=192 * GIB), True),
        (EngineCondition(below_memory_bytes=192 * GIB), False),
        (EngineCondition(since="2025-06"), True),
        (EngineCondition(since="2025-07"), False),
        (EngineCondition(until="2025-06"), False),
        (EngineCondition(until="2025-07"), True),
        (EngineCondition(behind_server=True), True),
        (EngineCondition(behind_server=False), False),
        (EngineCondition(platforms=frozenset({"JAX/XLA"}), since="2025-07"), False),
    ],
)
def test_conditions(when: EngineCondition, holds: bool) -> None:
    assert when.holds(PART, "2025-06-30", behind_server=True) is holds


def test_unknown_conditions() -> None:
    """The newest software has what came and not what went; what asks for a way of use needs to know it."""
    assert EngineCondition(since="2030-01").holds(PART)
    assert not EngineCondition(until="2030-01").holds(PART)
    assert not EngineCondition(behind_server=False).holds(PART)


def test_a_part_can_have_several_platforms() -> None:
    assert list_platforms(PART) == {"JAX/XLA", "PyTorch"}
