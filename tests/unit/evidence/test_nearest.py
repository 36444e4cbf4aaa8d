"""The distance between conditions: what holds for any two, and cases computed by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpudesk.estimation.published_runs import RATIOS, STEPS, WORDS, NearestRuns, RunConditions, find_nearest
from gpudesk.evidence.measured_runs import MEASURED_FIGURES

HERE = RunConditions(
    accelerator="h200-sxm",
    generation="hopper",
    vendor="NVIDIA",
    model="llama-3.1-70b",
    family="llama-3",
    experts="dense",
    latent="heads",
    serving_engine="vllm",
    weights="fp8",
    load="concurrency",
    memory_bandwidth=4.8e12,
    total_parameters=70e9,
    active_parameters=69e9,
    weights_bits=8,
    kv_bits=16,
    input_tokens=1000,
    output_tokens=1000,
    count=4,
    month=24_000,
    in_flight=64,
    tp=4,
    pp=1,
    attention_dp=0,
    expert_parallel=0,
)

figures = st.sampled_from(MEASURED_FIGURES)
values = st.floats(0.5, 1e6)
optional_values = st.none() | values


@st.composite
def conditions(draw: st.DrawFn) -> RunConditions:
    words: dict[str, Any] = {name: draw(st.sampled_from("abc")) for name in WORDS}
    numbers: dict[str, Any] = {name: draw(values) for name in (*RATIOS, *STEPS)}
    for name in ("in_flight", "queued", "request_rate", "ttft_limit_ms", "tpot_limit_ms", "tp", "pp"):
        numbers[name] = draw(optional_values)
    return RunConditions(**words, **numbers)


def measure_distance(
    conditions_of_request: RunConditions, run: RunConditions, figure: str = "output_tokens_per_s"
) -> float:
    return float(NearestRuns([run]).distances(conditions_of_request, figure)[0])


@given(conditions(), conditions(), figures)
def test_distance_is_symmetric_and_zero_to_itself(one: RunConditions, two: RunConditions, figure: str) -> None:
    assert measure_distance(one, one, figure) == 0
    assert measure_distance(one, two, figure) >= 0
    assert measure_distance(one, two, figure) == pytest.approx(measure_distance(two, one, figure))


@given(conditions(), conditions(), figures, st.sampled_from([*WORDS, *RATIOS, *STEPS]))
def test_one_more_difference_never_brings_a_run_nearer(
    conditions_of_request: RunConditions, run: RunConditions, figure: str, name: str
) -> None:
    nearer = replace(run, **{name: getattr(conditions_of_request, name)})
    assert (
        measure_distance(conditions_of_request, nearer, figure)
        <= measure_distance(conditions_of_request, run, figure) + 1e-9
    )


@given(conditions(), st.lists(conditions(), min_size=1, max_size=6), figures)
def test_all_runs_at_once_are_as_far_as_each_alone(
    conditions_of_request: RunConditions, runs: list[RunConditions], figure: str
) -> None:
    together = NearestRuns(runs).distances(conditions_of_request, figure)
    assert together == pytest.approx([measure_distance(conditions_of_request, run, figure) for run in runs])


@pytest.mark.parametrize(
    ("changes", "distance"),
    [
        ({"accelerator": "h100-sxm"}, 0.5),
        ({"accelerator": "b200-hgx", "generation": "blackwell"}, 1.5),
        ({"accelerator": "l40s", "generation": "ada", "memory_bandwidth": 1.2e12}, 2.5),
        ({"accelerator": "mi300x", "generation": "cdna3", "vendor": "AMD"}, 3.0),
        ({"serving_engine": "sglang"}, 1.0),
        ({"input_tokens": 4000}, 1.0),
        ({"in_flight": 16}, 1.0),
        ({"in_flight": None, "load": "limits"}, 2.0),
        ({"in_flight": 256, "load": "saturate", "queued": 3000}, 2.0),
        ({"month": 23_988}, 0.5),
        ({"weights": "nvfp4", "weights_bits": 4}, 1.0),
        ({"model": "llama-3.1-8b", "total_parameters": 70e9 / 8, "active_parameters": 69e9 / 8}, 2.5),
        ({"tp": None, "pp": None}, 0.5),
    ],
)
def test_what_differences_cost(changes: dict[str, Any], distance: float) -> None:
    assert measure_distance(HERE, replace(HERE, **changes)) == pytest.approx(distance)


def test_how_requests_arrive_counts_most_for_the_first_token() -> None:
    queued, longer = replace(HERE, load="saturate"), replace(HERE, output_tokens=2000)
    assert measure_distance(HERE, queued, "ttft_ms") == 2 * measure_distance(HERE, queued, "tpot_ms")
    assert measure_distance(HERE, longer, "tpot_ms") < measure_distance(HERE, longer, "output_tokens_per_s")


def choose(distances: list[float], publications: str, publishers: str, most: int = 3) -> list[int]:
    return find_nearest(
        np.array(distances), np.array([*map(ord, publications)]), np.array([*map(ord, publishers)]), most
    )


def test_another_publication_that_is_nearly_as_near_is_preferred() -> None:
    # The second row of a table costs 1 more, and 0.5 for its publisher; the third twice that.
    assert choose([0.0, 0.1, 0.2, 1.0, 1.4], "aaabc", "xxxyz") == [0, 3, 4]
    assert choose([0.0, 0.1, 0.2, 1.7, 3.3], "aaabc", "xxxyz") == [0, 1, 3]
    assert choose([0.0, 0.6, 0.4], "abc", "xyx", most=2) == [0, 1]


def test_first_of_equally_near_runs_is_chosen() -> None:
    assert choose([1.0, 1.0 - 1e-12, 2.0], "abc", "xyz", most=1) == [0]


def test_runs_at_infinity_and_tables_without_runs_give_none() -> None:
    assert choose([np.inf, 2.0], "ab", "xy") == [1]
    assert choose([], "", "") == []
    assert NearestRuns([]).distances(HERE, "ttft_ms").shape == (0,)
