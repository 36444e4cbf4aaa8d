"""What is believed before any run: complete, readable, and pinned where single operators were measured."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, replace

import pytest

from calibration.operator_constants import OperatorFit, fit_operators
from calibration.operator_runs import read_operator_runs
from calibration.parameters import ConstantPrior, PriorOverride
from calibration.priors import APART, INSIDE_AN_ENGINE, pin_priors, read_priors
from calibration.robust_fit import OperatorConstant
from gpudesk.catalog.read import Catalog
from gpudesk.engine.calibration import CONSTANT_KEYS
from gpudesk.engine.loads import SchedulingConstants
from gpudesk.engine.rates import KeyGroup, compute_rates
from gpudesk.engine.step_work import StepWork
from gpudesk.paths import get_built_catalog_path
from tests.unit.calibration.test_operators import MEASUREMENTS

BELIEFS = read_priors(MEASUREMENTS.parent)
PRIORS = {prior.name: prior for prior in BELIEFS}
#: Constants that neither step times nor loads ask for: links between hosts, and a hand-over between pools.
ASKED_ELSEWHERE = {"node_bandwidth", "handover_time"}
HOPPER: Mapping[str, tuple[str, ...]] = {"generation": ("hopper",)}
WIDE: Mapping[str, tuple[str, ...]] = {**HOPPER, "precision": ("fp16", "bf16")}
#: Constants that kernels tell apart by serving engine.
BY_ENGINE = {
    "expert_read_efficiency",
    "expert_gemm_efficiency",
    "expert_half_tokens",
    "routing_traffic",
    "expert_call_time",
    "attention_efficiency",
    "attention_offset",
    "decode_attention_efficiency",
}
PAIR: Mapping[str, tuple[str, ...]] = {**HOPPER, "ranks": ("2",)}


def looked_up() -> set[str]:
    names = {each.name for each in fields(SchedulingConstants)}

    def constant(name: str, slot: KeyGroup = KeyGroup.ALL) -> float:
        names.add(name)
        return 1.0

    compute_rates(constant, StepWork(*(1.0 for _ in fields(StepWork))))
    return names


def test_every_constant_that_the_engine_asks_for_is_believed_something_of() -> None:
    assert looked_up() | ASKED_ELSEWHERE == set(PRIORS)
    assert len(PRIORS) == len(BELIEFS)


def test_a_belief_can_be_read_and_lies_within_its_bounds(subtests: pytest.Subtests) -> None:
    for name, prior in PRIORS.items():
        with subtests.test(name=name):
            assert prior.unit in {"1", "s", "B/s", "tokens", "1/year", "W per TFLOP/s"}
            assert len(prior.meaning) > 15
            assert prior.spread >= 0
            # Nothing is held without a word of where it comes from, but for what stands in its meaning.
            assert prior.spread > 0 or prior.source or name in ASKED_ELSEWHERE
            for value in [prior.value, *(each.value for each in prior.overrides)]:
                assert value == 0 or prior.low <= value <= prior.high
            wheres = [tuple(sorted(each.where.items())) for each in prior.overrides]
            assert len(set(wheres)) == len(wheres)
            for each in prior.overrides:
                assert each.where
                assert set(each.where) <= set(CONSTANT_KEYS)
                assert all(words and not isinstance(words, str) for words in each.where.values())


def test_priors_of_efficiencies_stay_below_one(subtests: pytest.Subtests) -> None:
    for name in [name for name in PRIORS if name.endswith("_efficiency")]:
        with subtests.test(name=name):
            assert PRIORS[name].high < 1.0


def entry(
    constant: str, where: Mapping[str, tuple[str, ...]], value: float, sigma: float, kernels: str = ""
) -> OperatorConstant:
    return OperatorConstant(constant, where, value, sigma, 10, 0.03, kernels)


def pin(override: PriorOverride, name: str, *entries: OperatorConstant) -> PriorOverride:
    """Return an override of a constant after operators were looked at."""
    prior = ConstantPrior(name, "1", "a constant", 0.5, 0.3, (override,))
    (pinned_prior,) = pin_priors((prior,), OperatorFit(entries, 0, 0))
    assert (pinned_prior.name, pinned_prior.value, pinned_prior.spread) == (name, 0.5, 0.3)
    return pinned_prior.overrides[0]


def test_operators_pin_a_belief_to_their_weighted_mean() -> None:
    believed = PriorOverride(HOPPER, 0.7)
    near, far = entry("gemm_efficiency", WIDE, 0.8, 0.02), entry("gemm_efficiency", HOPPER, 0.4, 0.04)
    override = pin(believed, "gemm_efficiency", near, far)
    assert override.pinned
    assert override.value == pytest.approx(math.exp((4 * math.log(0.8) + math.log(0.4)) / 5))
    assert override.spread == pytest.approx(math.hypot(INSIDE_AN_ENGINE, 0.02))
    assert override.where == HOPPER


def test_what_operators_say_of_others_pins_nothing() -> None:
    believed = PriorOverride(WIDE, 0.7)
    other = {**HOPPER, "precision": ("fp8",)}
    for constant in (
        entry("gemm_efficiency", other, 0.4, 0.02),
        entry("gemm_efficiency", {"generation": ("ada",), "precision": ("fp16",)}, 0.4, 0.02),
        # Wider than the belief: it holds for other formats, too.
        entry("gemm_efficiency", HOPPER, 0.4, 0.02),
        entry("weight_read_efficiency", WIDE, 0.4, 0.02),
        entry("gemm_efficiency", WIDE, 0.4, 0.02, kernels="vLLM"),
    ):
        assert pin(believed, "gemm_efficiency", constant) is believed


def test_a_collective_of_some_ranks_pins_no_belief_of_all() -> None:
    constant = entry("allreduce_latency", PAIR, 5e-6, 0.05, kernels="TensorRT-LLM")
    of_all = PriorOverride(HOPPER, 4e-6)
    assert pin(of_all, "allreduce_latency", constant) is of_all
    assert pin(PriorOverride(PAIR, 4e-6), "allreduce_latency", constant).value == pytest.approx(5e-6)


def test_kernels_of_an_engine_add_an_override_that_runs_may_move() -> None:
    where = {**WIDE, "serving_engine": ("vllm",)}
    constant = entry("expert_gemm_efficiency", where, 0.4, 0.05, kernels="vLLM")
    prior = ConstantPrior("expert_gemm_efficiency", "1", "a constant", 0.5, 0.3, high=0.95)
    (pinned_prior,) = pin_priors((prior,), OperatorFit((constant,), 0, 0))
    (added,) = pinned_prior.overrides
    assert (added.where, added.value, added.pinned) == (where, 0.4, True)
    assert added.spread == pytest.approx(math.hypot(APART, 0.05))
    (bounded,) = pin_priors((prior,), OperatorFit((replace(constant, value=1.2),), 0, 0))[0].overrides
    assert bounded.value == prior.high


def test_engines_without_kernels_borrow_from_the_others() -> None:
    believed = PriorOverride(HOPPER, 0.7)
    narrow = {**WIDE, "attention": ("latent",)}
    near, far = (
        entry("decode_attention_efficiency", {**narrow, "serving_engine": (engine,)}, value, 0.02, kernels)
        for engine, value, kernels in (("sglang", 0.4, "SGLang"), ("tensorrt-llm", 0.9, "TensorRT-LLM"))
    )
    prior = ConstantPrior("decode_attention_efficiency", "1", "a constant", 0.5, 0.3, (believed,))
    override = pin_priors((prior,), OperatorFit((near, far), 0, 0))[0].overrides[0]
    assert override.value == pytest.approx(0.6)
    assert override.spread == pytest.approx(math.hypot(APART, 0.02))


def test_measured_operators_pin_what_they_measured() -> None:
    with Catalog.open(get_built_catalog_path()) as catalog:
        parts = {part.id: part for part in catalog.accelerators()}
    operators = fit_operators(read_operator_runs(MEASUREMENTS, parts))
    priors = {prior.name: prior for prior in pin_priors(BELIEFS, operators)}
    pinned_overrides = {name: [each for each in prior.overrides if each.pinned] for name, prior in priors.items()}
    assert {name for name, overrides in pinned_overrides.items() if overrides} == {
        "weight_read_efficiency",
        "gemm_efficiency",
        "kv_read_efficiency",
        "allreduce_latency",
        "direct_efficiency",
        "ring_latency",
        *BY_ENGINE,
    }
    assert sum(map(len, pinned_overrides.values())) >= 20
    for name, overrides in pinned_overrides.items():
        for each in overrides:
            inside = [
                entry.value
                for entry in operators.entries
                if entry.constant == name
                and all(set(entry.where.get(key, ("",))) <= set(words) for key, words in each.where.items())
            ]
            most = priors[name].high
            assert min(*inside, most) * (1 - 1e-9) <= each.value <= max(inside) * (1 + 1e-9)
            assert each.spread is not None
            # Sources differ most on how soon a ring of eight starts: with the sum in the switch, or without.
            assert INSIDE_AN_ENGINE <= each.spread < 0.5
    assert [prior.value for prior in priors.values()] == [prior.value for prior in BELIEFS]
