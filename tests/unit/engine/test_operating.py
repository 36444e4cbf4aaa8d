"""From a deployment to seconds: what each coefficient of a step is made of, by hand."""

import math
from dataclasses import fields, replace
from types import MappingProxyType

import numpy as np
import pytest

from gpudesk.domain.accelerator import Accelerator
from gpudesk.domain.estimate import ParallelPlan
from gpudesk.domain.precision import Precision
from gpudesk.engine.calibration import ConstantKeys, ConstantOverride
from gpudesk.engine.rates import KeyGroup, compute_single_step_model, get_ranks_key, make_constant_keys
from gpudesk.engine.step_work import compute_ceilings
from gpudesk.engine.steps import StepCoefficients, compute_decode_step
from tests.unit.engine import published
from tests.unit.engine.bench import H200, MI325X, calibration, configure, deploy, plant, rows_of

ONE = ParallelPlan()
LAYERS_70B = 80 * (2 * 8192 * 8192 + 2 * 8192 * 1024 + 3 * 8192 * 28672)  # matrices of all layers
TABLE_70B = 128256 * 8192


def test_coefficients_of_llama_70b_in_16_bits_by_hand() -> None:
    row = plant(H200, published.llama_3_1_70b(), ONE, Precision.FP16).row
    assert row.dense_read == pytest.approx((LAYERS_70B + 80 * 2 * 8192) * 2 / (4.8e12 * 0.8))
    assert row.dense_flop == pytest.approx(2 * LAYERS_70B / (9.89e14 * 0.6))
    assert row.head_read == pytest.approx(TABLE_70B * 2 / (4.8e12 * 0.8))
    assert row.head_flop == pytest.approx(2 * TABLE_70B / (9.89e14 * 0.6))
    assert row.kv_token == pytest.approx(327_680 / (4.8e12 * 0.75))
    assert row.att_token == pytest.approx(80 * 2 * 64 * 256 / (9.89e14 * 0.4))
    assert row.patt_token == row.att_token
    assert row.overhead_fixed == pytest.approx(80 * 12e-6)
    assert row.activation_token == pytest.approx(12 * 80 * 8192 * 2 / (4.8e12 * 0.8))
    assert (row.comm_fixed, row.comm_token, row.expert_read, row.expert_flop) == (0, 0, 0, 0)


def test_tensor_ranks_share_the_work_and_reduce_twice_a_layer() -> None:
    one = plant(H200, published.llama_3_1_70b(), ONE).row
    eight = plant(H200, published.llama_3_1_70b(), ParallelPlan(tp=8)).row
    assert eight.dense_flop == pytest.approx(one.dense_flop / 8)
    assert eight.head_flop == pytest.approx(one.head_flop / 8)
    assert eight.kv_token == pytest.approx(one.kv_token / 8)
    assert eight.comm_fixed == pytest.approx(160 * 26e-6)
    # Each rank to the seven others at once, or less than twice around a ring, which starts later.
    assert eight.comm_token == pytest.approx(160 * 7 * 8192 * 2 / (4.5e11 * 0.5))
    assert eight.ring_fixed == pytest.approx(160 * 46e-6)
    assert eight.ring_token == pytest.approx(160 * 2 * 7 / 8 * 8192 * 2 / (4.5e11 * 0.6))


def test_stages_hand_over_between_them() -> None:
    row = plant(H200, published.llama_3_1_70b(), ParallelPlan(pp=4)).row
    assert row.stages == 4
    assert row.comm_fixed == pytest.approx(3 * 26e-6)
    assert row.comm_token == pytest.approx(3 * 8192 * 2 / (4.5e11 * 0.6))


def test_attention_dp_divides_sequences_and_gathers_around_feed_forward_blocks() -> None:
    sharded = plant(H200, published.deepseek_v3(), ParallelPlan(tp=8, ep=8)).row
    spread = plant(H200, published.deepseek_v3(), ParallelPlan(tp=8, ep=8, attention_dp=True)).row
    # Each rank attends for an eighth of the sequences with all heads, the slowest for 1.2 times that.
    assert spread.kv_token == pytest.approx(sharded.kv_token / 8 * 1.2)
    assert spread.att_token == pytest.approx(sharded.att_token * 1.2)
    assert spread.attention_ranks == 8
    assert spread.chunk_tokens == 8 * 8192
    assert spread.comm_fixed == pytest.approx(sharded.comm_fixed / 2)
    assert spread.expert_read == sharded.expert_read
    assert spread.dense_read > sharded.dense_read


def test_experts_shared_by_replicas_travel_to_all_of_them() -> None:
    apart = plant(H200, published.deepseek_v3(), ParallelPlan(tp=8, ep=8, dp=2)).row
    shared = plant(H200, published.deepseek_v3(), ParallelPlan(tp=8, ep=16, dp=2)).row
    assert shared.expert_spread == 2
    assert shared.expert_read == pytest.approx(apart.expert_read / 2)
    assert shared.expert_offset == pytest.approx(apart.expert_offset / 2)
    assert shared.expert_flop == apart.expert_flop
    assert apart.expert_offset == pytest.approx(16 * 256 / 8)
    assert math.exp(apart.expert_log_miss) == pytest.approx(1 - 8 / 256)


def test_windows_of_gemma() -> None:
    row = plant(H200, published.gemma_3_27b(), ONE).row
    layer = 2 * 16 * 128 * 2 / (4.8e12 * 0.75)
    assert row.kv_token == pytest.approx(10 * layer)
    assert row.kv1_token == pytest.approx(52 * layer)
    assert row.patt1_token == pytest.approx(52 / 10 * row.patt_token)
    assert (row.kv1_window, row.patt1_window, row.kv2_token) == (1024, 1024, 0)


def test_states_are_read_and_written() -> None:
    row = plant(H200, published.jamba(), ONE).row
    assert row.state == pytest.approx(2 * 28 * (8192 * 16 * 4 + 8192 * 3 * 2) / (4.8e12 * 0.75))


def test_a_checkpoint_of_narrow_experts_multiplies_the_rest_in_16_bits() -> None:
    row = plant(H200, published.gpt_oss_120b(), ONE, Precision.MXFP4).row
    dense = 36 * (2 * 2880 * 4096 + 2 * 2880 * 512)
    assert row.dense_flop == pytest.approx(2 * dense / (9.89e14 * 0.6))
    # No FP4 arithmetic on this part, so the experts multiply in the next wider format; biases count too.
    assert row.expert_flop == pytest.approx(2 * 36 * 4 * 3 * 2880 * 2881 / (1.979e15 * 0.6 * 0.75))


def test_speculation_verifies_one_token_more_than_it_yields() -> None:
    row = plant(H200, published.llama_3_1_70b(), ONE, acceptance_length=2.5).row
    assert (row.tokens_per_step, row.verified_tokens) == (2.5, 3.5)
    assert plant(H200, published.llama_3_1_70b(), ONE).row.verified_tokens == 1


def test_servers_older_software_and_eager_mode_cost_time() -> None:
    model = published.llama_3_1_70b()
    now = plant(H200, model, ONE).row
    assert now.request == pytest.approx(1.9e-3)
    assert plant(H200, model, ONE, server=False).row.request == pytest.approx(0.2e-3)
    eager = plant(H200, model, ONE, eager=True).row
    assert eager.overhead_fixed == pytest.approx(80 * 36e-6)
    old = plant(H200, model, ONE, months_old=12.0).row
    assert old.dense_read == pytest.approx(now.dense_read * math.exp(0.15))
    assert old.kv_token == pytest.approx(now.kv_token * math.exp(0.15))
    for name in ("stages", "chunk_tokens", "kv1_window", "verified_tokens", "expert_log_miss"):
        assert getattr(old, name) == getattr(now, name)


def test_constants_are_looked_up_by_part_precision_family_ranks_and_link() -> None:
    configuration = configure(H200, published.llama_3_1_70b())
    eight = deploy(configuration, ParallelPlan(tp=8))
    keys = make_constant_keys(eight, compute_ceilings(configuration, eight.plan, 5e10))
    common = ConstantKeys(
        generation="hopper",
        serving_engine="vllm",
        ranks="8",
        link="scale-up",
        experts="no",
        attention="heads",
        runtime="present",
    )
    assert keys[KeyGroup.ALL] == keys[KeyGroup.STAGES] == common
    assert keys[KeyGroup.DENSE_WEIGHTS] == common._replace(precision="fp8")
    assert keys[KeyGroup.CACHE] == common._replace(precision="fp16")
    assert [get_ranks_key(ranks) for ranks in (1, 2, 3, 8, 72)] == ["1", "2", "4", "8", "8"]
    constants_file = calibration()
    narrowed = replace(
        constants_file.constants["weight_read_efficiency"],
        overrides=(ConstantOverride({"precision": frozenset({"fp8"}), "link": frozenset({"scale-up"})}, 0.3),),
    )
    constants = MappingProxyType({**constants_file.constants, "weight_read_efficiency": narrowed})
    constants_file = replace(constants_file, constants=constants)
    assert compute_single_step_model(eight, constants_file).rates.dense_read_efficiency == 0.3
    wide = deploy(configure(H200, published.llama_3_1_70b(), Precision.BF16), ParallelPlan(tp=8))
    assert compute_single_step_model(wide, constants_file).rates.dense_read_efficiency == 0.8


def test_products_of_widened_weights_reach_the_share_of_their_format() -> None:
    constants_file = calibration()
    widened = replace(
        constants_file.constants["gemm_efficiency"],
        overrides=(ConstantOverride({"precision": frozenset({"fp8"})}, 0.3),),
    )
    constants_file = replace(constants_file, constants={**constants_file.constants, "gemm_efficiency": widened})

    def read_efficiency(weights: Precision) -> float:
        deployment = deploy(configure(H200, published.llama_3_1_70b(), weights, Precision.BF16), ONE)
        return compute_single_step_model(deployment, constants_file).rates.dense_efficiency

    assert read_efficiency(Precision.FP8) == 0.3
    assert read_efficiency(Precision.BF16) == 0.6


def test_launches_of_experts_depend_on_their_format() -> None:
    constants_file = calibration()
    fused = replace(
        constants_file.constants["moe_layer_time"],
        overrides=(ConstantOverride({"precision": frozenset({"mxfp4"})}, 5e-6),),
    )
    constants_file = replace(constants_file, constants={**constants_file.constants, "moe_layer_time": fused})
    for weights, seconds in ((Precision.MXFP4, 5e-6), (Precision.BF16, 25e-6)):
        deployment = deploy(configure(H200, published.gpt_oss_120b(), weights), ParallelPlan(tp=2))
        assert compute_single_step_model(deployment, constants_file).rates.moe_layer_s == seconds


def test_stages_beyond_the_domain_hand_over_through_the_network() -> None:
    model = published.llama_3_1_70b()
    inside = compute_ceilings(configure(H200, model), ParallelPlan(tp=4, pp=2), 5e10)
    across = compute_ceilings(configure(H200, model), ParallelPlan(tp=8, pp=2), 5e10)
    assert inside.stage_link == inside.link
    assert across.link.kind == "scale-up"
    assert across.stage_link.kind == "node"
    row = plant(H200, model, ParallelPlan(tp=8, pp=2)).row
    inner = plant(H200, model, ParallelPlan(tp=8)).row
    assert row.comm_token - inner.comm_token == pytest.approx(8192 * 2 / (5e10 * 0.6))


def test_matrices_of_two_formats_take_the_arithmetic_of_both() -> None:
    llama = published.llama_3_1_70b()
    blocks = replace(llama, id="blocks", native_precision=Precision.NVFP4, quantised_tensors="ffn")
    ceilings = compute_ceilings(configure(H200, blocks, Precision.NVFP4, Precision.FP8), ONE, 5e10)
    attention, ffn = 2 * 8192 * (8192 + 1024), 3 * 8192 * 28672
    share = ffn / (attention + ffn)
    fast, wide = H200.peak_dense["fp8"], H200.peak_dense["bf16"]
    assert [(part, peak.flops) for part, peak in ceilings.dense_parts] == [(share, fast), (1 - share, wide)]
    assert ceilings.dense_peak.flops == pytest.approx(1 / (share / fast + (1 - share) / wide))
    # Constants are those of the greater part.
    assert (ceilings.dense_weights, ceilings.dense_arithmetic) == (Precision.NVFP4, Precision.FP8)
    assert compute_ceilings(configure(H200, llama, Precision.NVFP4, Precision.FP8), ONE, 5e10).dense_parts == ()


def test_a_part_without_arithmetic_is_refused() -> None:
    mute = replace(H200, peak_dense=MappingProxyType({}))
    with pytest.raises(ValueError, match="h200"):
        compute_ceilings(configure(mute, published.llama_3_1_70b()), ONE, 5e10)


def test_the_ideal_row_is_never_slower() -> None:
    for plan in (ONE, ParallelPlan(tp=8), ParallelPlan(tp=8, ep=8, attention_dp=True), ParallelPlan(pp=4)):
        resolved_plant = plant(H200, published.deepseek_v3(), plan, months_old=24.0)
        for field in fields(StepCoefficients):
            if field.name not in ("dense_read",):
                assert getattr(resolved_plant.ideal, field.name) <= getattr(resolved_plant.row, field.name), field.name
        assert (
            resolved_plant.ideal.overhead_fixed == resolved_plant.ideal.request == resolved_plant.ideal.comm_fixed == 0
        )


@pytest.mark.parametrize(("part", "published_bound"), [(H200, 34.3), (MI325X, 42.9)])
def test_llama_70b_in_16_bits_stays_below_the_bandwidth(part: Accelerator, published_bound: float) -> None:
    resolved_plant = plant(part, published.llama_3_1_70b(), ONE, Precision.FP16)
    one, context = np.array([1.0]), np.array([1.0])
    bound = 1 / compute_decode_step(rows_of(resolved_plant.ideal), one, context).total.item()
    real = 1 / compute_decode_step(rows_of(resolved_plant.row), one, context).total.item()
    assert real < bound < published_bound
    # All weights once a token, the embedding included, and hardly any cache.
    assert bound == pytest.approx(part.memory_bandwidth / 141_107_412_992, rel=1e-3)


def test_experts_beyond_the_ranks_are_reached_by_dispatch_alone() -> None:
    model = published.deepseek_v3()
    inside = plant(H200, model, ParallelPlan(tp=8, ep=8, attention_dp=True)).row
    across = plant(H200, model, ParallelPlan(tp=8, ep=16, dp=2, attention_dp=True)).row
    # Three dense layers still gather and scatter; 58 layers of experts send each token to 8 ranks and back.
    gathered = 3 * 7 * 7168 * 2 / (4.5e11 * 0.5)
    ring = 3 * 2 * 7 / 8 * 7168 * 2 / (4.5e11 * 0.6)
    dispatched = 2 * 58 * 8 / 8 * 7168 * 2 / (5e10 * 0.6)
    assert across.comm_token == pytest.approx(gathered + dispatched)
    assert across.ring_token == pytest.approx(ring + dispatched)
    assert across.comm_fixed == pytest.approx((3 + 2 * 58) * 26e-6)
    assert inside.comm_fixed == pytest.approx(61 * 26e-6)


def test_attention_dp_over_many_ranks_dispatches_too() -> None:
    model = published.deepseek_v3()
    wide = plant(H200, model, ParallelPlan(tp=32, ep=32, attention_dp=True)).row
    # Layers without experts still gather; the others send each token to 8 ranks of the 32 and back.
    gathered = 3 * 31 * 7168 * 2 / (5e10 * 0.5)
    dispatched = 2 * 58 * 8 / 32 * 7168 * 2 / (5e10 * 0.6)
    assert wide.comm_token == pytest.approx(gathered + dispatched)


def test_less_power_sustains_less_arithmetic_and_more_than_enough_adds_nothing() -> None:
    constants_file = calibration()
    constants = {
        **constants_file.constants,
        "reference_power": replace(constants_file.constants["reference_power"], default=0.7),
    }
    constants_file = replace(constants_file, constants=MappingProxyType(constants))

    def reached(watts: float | None) -> float:
        part = replace(H200, tdp_w=watts)
        deployment = deploy(configure(part, published.llama_3_1_70b()), ONE)
        return compute_single_step_model(deployment, constants_file).rates.dense_efficiency

    watts = 0.7 * H200.peak_dense["bf16"] / 1e12
    assert reached(watts) == pytest.approx(0.6)
    assert reached(watts / 2) == pytest.approx(0.6 * 0.5**0.6)
    assert reached(watts * 2) == reached(watts * 10) == pytest.approx(0.6 * 1.4**0.6)
    assert reached(None) == 0.6
