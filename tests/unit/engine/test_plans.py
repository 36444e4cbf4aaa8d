"""Plans: every way of spreading that makes sense, none that cannot be, and what the user fixed stays."""

from dataclasses import replace

import pytest

from gpudesk.domain.estimate import ParallelPlan
from gpudesk.domain.model import (
    Attention,
    Compressed,
    DenseFfn,
    GatedDeltaNet,
    LayerGroup,
    Mamba1,
    Mamba2,
    Mixer,
    Model,
)
from gpudesk.engine.engine_support import PlanConstraints, divides_heads, list_parallel_plans, list_replica_counts
from tests.unit.engine import published
from tests.unit.engine.bench import H200

FREE = PlanConstraints()


def with_mixer(mixer: Mixer) -> Model:
    return Model("m", "M", "O", 1024, 1000, False, None, None, (LayerGroup(8, mixer, DenseFfn(4096)),))


@pytest.mark.parametrize(
    ("mixer", "possible", "impossible"),
    [
        (Attention(32, 8, 128), (1, 2, 4, 8, 16, 32), (3, 5, 64)),
        # Ten KV heads: eight ranks could neither share nor repeat them evenly.
        (Attention(40, 10, 128), (1, 2, 5, 10, 20), (4, 8)),
        (Compressed(64, 512, 1024, 1024, 8, 128), (1, 8, 64), (3, 48)),
        (GatedDeltaNet(16, 48, 128, 128, 4), (1, 8, 16), (3, 32)),
        (Mamba2(96, 64, 128, 8, 4), (1, 3, 32), (64,)),
        (Mamba1(8192, 16, 4, 256), (1, 64), (3,)),
    ],
)
def test_tensor_ranks_divide_the_heads(mixer: Mixer, possible: tuple[int, ...], impossible: tuple[int, ...]) -> None:
    model = with_mixer(mixer)
    assert all(divides_heads(model, tp) for tp in possible)
    assert not any(divides_heads(model, tp) for tp in impossible)


def test_every_plan_takes_all_accelerators_once(subtests: pytest.Subtests) -> None:
    for model in [published.llama_3_1_70b(), published.deepseek_v3(), published.jamba()]:
        for count in [1, 2, 4, 8, 16, 24, 32]:
            with subtests.test(model=model.name, count=count):
                plans = list_parallel_plans(model, H200, count, FREE)
                assert len(set(plans)) == len(plans) > 0
                assert {plan.count for plan in plans} == {count}
                assert all(plan.tp <= 8 and divides_heads(model, plan.tp) for plan in plans)


def test_plans_of_a_dense_model_by_hand() -> None:
    plans = list_parallel_plans(published.llama_3_1_70b(), H200, 4, FREE)
    assert set(plans) == {
        ParallelPlan(tp, pp, 1, dp) for tp, pp, dp in ((1, 1, 4), (1, 2, 2), (1, 4, 1), (2, 1, 2), (2, 2, 1), (4, 1, 1))
    }


def test_experts_may_spread_over_the_tensor_ranks() -> None:
    plans = list_parallel_plans(published.gpt_oss_120b(), H200, 2, FREE)
    assert set(plans) == {
        ParallelPlan(1, 1, 1, 2),
        ParallelPlan(1, 2, 1, 1),
        ParallelPlan(2, 1, 1, 1),
        ParallelPlan(2, 1, 2, 1),
        ParallelPlan(2, 1, 2, 1, attention_dp=True),
    }


def test_a_serving_engine_narrows_the_plans() -> None:
    wishes = PlanConstraints(allow_pp=False, allow_ep=False, allow_attention_dp=False)
    plans = list_parallel_plans(published.gpt_oss_120b(), H200, 4, wishes)
    assert plans == (ParallelPlan(1, 1, 1, 4), ParallelPlan(2, 1, 1, 2), ParallelPlan(4, 1, 1, 1))


@pytest.mark.parametrize(
    "wishes",
    [
        PlanConstraints(tp=4),
        PlanConstraints(pp=2),
        PlanConstraints(dp=2),
        PlanConstraints(ep=8),
        PlanConstraints(ep=1),
        PlanConstraints(attention_dp=True),
        PlanConstraints(attention_dp=False),
        PlanConstraints(tp=8, ep=16, dp=2),
        PlanConstraints(tp=2, pp=2, ep=4, dp=4),
    ],
)
def test_plans_keep_the_users_degrees(wishes: PlanConstraints) -> None:
    plans = list_parallel_plans(published.deepseek_v3(), H200, 16, wishes)
    assert plans
    for name in ("tp", "pp", "ep", "dp", "attention_dp"):
        wished = getattr(wishes, name)
        assert wished is None or {getattr(plan, name) for plan in plans} == {wished}


def test_three_hosts_can_be_three_stages() -> None:
    assert ParallelPlan(8, 3) in list_parallel_plans(published.llama_3_1_405b(), H200, 24, FREE)
    assert 24 in list_replica_counts(H200, FREE)


def test_sizes_rise_and_follow_the_wishes() -> None:
    for wishes in (FREE, PlanConstraints(tp=4), PlanConstraints(tp=2, pp=2, dp=3)):
        sizes = list_replica_counts(H200, wishes)
        assert sizes == tuple(sorted(set(sizes)))
        least = (wishes.tp or 1) * (wishes.pp or 1) * (wishes.dp or 1)
        assert sizes[0] == least
        assert all(size % least == 0 for size in sizes)
    assert list_replica_counts(replace(H200, scale_up_domain=72), FREE) == (1, 2, 4, 8, 16, 32, 64)
