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
some = st.floats(0.5, 1e6)
stated = st.none() | some


@st.composite
def conditions(draw: st.DrawFn) -> RunConditions:
    words: dict[str, Any] = {name: draw(st.sampled_from("abc")) for name in WORDS}
    numbers: dict[str, Any] = {name: draw(some) for name in (*RATIOS, *STEPS)}
    for name in ("in_flight", "queued", "request_rate", "ttft_limit_ms", "tpot_limit_ms", "tp", "pp"):
        numbers[name] = draw(stated)
    return RunConditions(**words, **numbers)


def apart(asked: RunConditions, run: RunConditions, figure: str = "output_tokens_per_s") -> float:
    return float(NearestRuns([run]).distances(asked, figure)[0])


@given(conditions(), conditions(), figures)
def test_it_is_the_same_in_both_directions_and_nothing_to_itself(
    one: RunConditions, two: RunConditions, figure: str
) -> None:
    assert apart(one, one, figure) == 0
    assert apart(one, two, figure) >= 0
    assert apart(one, two, figure) == pytest.approx(apart(two, one, figure))


@given(conditions(), conditions(), figures, st.sampled_from([*WORDS, *RATIOS, *STEPS]))
def test_one_more_difference_never_brings_a_run_nearer(
    asked: RunConditions, run: RunConditions, figure: str, name: str
) -> None:
    nearer = replace(run, **{name: getattr(asked, name)})
    assert apart(asked, nearer, figure) <= apart(asked, run, figure) + 1e-9


@given(conditions(), st.lists(conditions(), min_size=1, max_size=6), figures)
def test_all_runs_at_once_are_as_far_as_each_alone(
    asked: RunConditions, runs: list[RunConditions], figure: str
) -> None:
    together = NearestRuns(runs).distances(asked, figure)
    assert together == pytest.approx([apart(asked, run, figure) for run in runs])


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
    assert apart(HERE, replace(HERE, **changes)) == pytest.approx(distance)


def test_how_requests_arrive_counts_most_for_the_first_token() -> None:
    queued, longer = replace(HERE, load="saturate"), replace(HERE, output_tokens=2000)
    assert apart(HERE, queued, "ttft_ms") == 2 * apart(HERE, queued, "tpot_ms")
    assert apart(HERE, longer, "tpot_ms") < apart(HERE, longer, "output_tokens_per_s")


def chosen(distances: list[float], publications: str, publishers: str, most: int = 3) -> list[int]:
    return find_nearest(
        np.array(distances), np.array([*map(ord, publications)]), np.array([*map(ord, publishers)]), most
    )


def test_another_publication_that_is_nearly_as_near_is_preferred() -> None:
    # The second row of a table costs 1 more, and 0.5 for its publisher; the third twice that.
    assert chosen([0.0, 0.1, 0.2, 1.0, 1.4], "aaabc", "xxxyz") == [0, 3, 4]
    assert chosen([0.0, 0.1, 0.2, 1.7, 3.3], "aaabc", "xxxyz") == [0, 1, 3]
    assert chosen([0.0, 0.6, 0.4], "abc", "xyx", most=2) == [0, 1]


def test_of_equally_near_runs_the_first_is_taken() -> None:
    assert chosen([1.0, 1.0 - 1e-12, 2.0], "abc", "xyz", most=1) == [0]


def test_runs_at_infinity_and_tables_without_runs_give_none() -> None:
    assert chosen([np.inf, 2.0], "ab", "xy") == [1]
    assert chosen([], "", "") == []
    assert NearestRuns([]).distances(HERE, "ttft_ms").shape == (0,)
