"""Sizing a demand: factors that multiply up, more for more, reasons for much, and a place in the file."""

import json
import math
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpudesk.documents.scenario_file import parse_demand, read_template, write_demand_section
from gpudesk.domain.answer import AcceleratorChoice, Scenario
from gpudesk.domain.decision import DecisionSettings
from gpudesk.domain.estimate import DisaggregationRequest
from gpudesk.domain.precision import Precision
from gpudesk.domain.sizing import DEMAND_BOUNDS, Demand, DemandKind, SizingOption, SizingResult
from gpudesk.service import GpuDeskService
from gpudesk.text.messages import InputError

PARTS = ("h100-sxm", "h200-sxm", "mi355x", "l40s")
MODELS = (("llama-3.1-8b", "fp8"), ("llama-3.1-70b", "fp8"), ("gpt-oss-120b", "mxfp4"), ("deepseek-r1", "fp8"))


def make_scenario(demand: Demand, model: str = "llama-3.1-70b", weights: str = "fp8") -> Scenario:
    template = read_template("70b-chat-on-four")
    return replace(
        template,
        model=model,
        weights=Precision(weights),
        workload=replace(template.workload, input_tokens=1000, output_tokens=300),
        accelerators=tuple(AcceleratorChoice(part) for part in PARTS),
        demand=demand,
    )


def counts(sizing: SizingResult) -> list[float]:
    return [math.inf if each.count is None else each.count for each in sizing.candidates]


def size(sizing: SizingResult) -> list[SizingOption]:
    return [each for each in sizing.candidates if each.count is not None]


demands = st.builds(
    Demand,
    kind=st.sampled_from(list(DemandKind)),
    amount=st.floats(1.0, 1e5),
    requests_per_user_hour=st.floats(0.5, 200.0),
    peak_factor=st.floats(1.0, 5.0),
    ttft_ms=st.none() | st.floats(200.0, 20_000.0),
    tpot_ms=st.none() | st.floats(15.0, 500.0),
    utilisation_cap=st.floats(0.2, 1.0),
    spare_replicas=st.integers(0, 4),
)


@given(demand=demands, model=st.sampled_from(MODELS))
def test_count_equals_its_factors(service: GpuDeskService, demand: Demand, model: tuple[str, str]) -> None:
    sizing = service.size(make_scenario(demand, *model))
    assert len(sizing.candidates) == len(PARTS)
    for each in size(sizing):
        plan = each.plan
        assert math.prod(factor.value for factor in each.factors) == pytest.approx(each.count, rel=1e-9)
        assert each.count == each.replicas * plan.tp * plan.pp + each.spare
        assert each.spare == demand.spare_replicas * plan.tp * plan.pp
        assert each.concurrency == each.concurrency_per_replica * each.replicas
        rate = each.output_tokens_per_s
        assert rate is not None
        if sizing.output_tokens_per_s is not None:
            assert rate.value * demand.utilisation_cap >= sizing.output_tokens_per_s * (1 - 1e-9)
        assert rate.low <= rate.value <= rate.high
        assert each.nodes >= 1
    for each in sizing.candidates:
        assert (each.count is None) == (each.reason is not None)


@given(demand=demands, model=st.sampled_from(MODELS))
def test_a_count_above_ten_times_the_floor_is_explained_and_none_is_below_it(
    service: GpuDeskService, demand: Demand, model: tuple[str, str]
) -> None:
    for each in size(service.size(make_scenario(demand, *model))):
        assert each.bound is not None
        assert each.count is not None
        assert each.bound.ratio == pytest.approx(each.count / each.bound.floor)
        assert each.bound.ratio >= 1.0
        assert bool(each.bound.reasons) is (each.bound.ratio > 10.0)


@given(demand=demands, more=st.floats(1.0, 20.0))
def test_higher_demand_never_needs_fewer(service: GpuDeskService, demand: Demand, more: float) -> None:
    less, greater = (
        counts(service.size(make_scenario(replace(demand, amount=demand.amount * factor)))) for factor in (1.0, more)
    )
    assert all(before <= after for before, after in zip(less, greater, strict=True))


@given(demand=demands, change=st.sampled_from(["peak_factor", "utilisation_cap", "spare_replicas"]))
def test_higher_load_and_spares_never_need_fewer(service: GpuDeskService, demand: Demand, change: str) -> None:
    harder = {
        "peak_factor": demand.peak_factor * 1.5,
        "utilisation_cap": max(0.05, demand.utilisation_cap * 0.6),
        "spare_replicas": demand.spare_replicas + 1,
    }
    fields = {**asdict(demand), change: harder[change]}
    before = counts(service.size(make_scenario(demand)))
    after = counts(service.size(make_scenario(Demand(**fields))))
    assert all(less <= more for less, more in zip(before, after, strict=True))


@given(demand=demands, looser=st.floats(1.0, 10.0))
def test_looser_limits_never_need_more(service: GpuDeskService, demand: Demand, looser: float) -> None:
    strict = replace(demand, ttft_ms=demand.ttft_ms or 2000.0, tpot_ms=demand.tpot_ms or 40.0)
    loose = replace(strict, ttft_ms=(strict.ttft_ms or 0) * looser, tpot_ms=(strict.tpot_ms or 0) * looser)
    free = replace(strict, ttft_ms=None, tpot_ms=None)
    # Without a limit, users who wait have that of reading speed.
    no_limit = DecisionSettings(answers={"service": "offline"})
    scenarios = (replace(make_scenario(each), decision=no_limit) for each in (strict, loose, free))
    of_strict, of_loose, of_free = (counts(service.size(each)) for each in scenarios)
    assert all(more >= less for more, less in zip(of_strict, of_loose, strict=True))
    assert all(more >= less for more, less in zip(of_loose, of_free, strict=True))


# Known cases


def test_a_single_user_takes_one_replica_and_its_reserve(service: GpuDeskService) -> None:
    sizing = service.size(make_scenario(Demand(DemandKind.USERS, 1.0)))
    h200 = sizing.candidates[1]
    assert (h200.count, h200.replicas, h200.spare, h200.plan.replica) == (2, 1, 1, 1)
    assert h200.power_kw == pytest.approx(1.4)
    assert h200.bound is not None
    assert h200.bound.reasons[0].id == "sizing.bound_rounding"


@pytest.mark.parametrize(
    ("demand", "rate"),
    [
        (Demand(DemandKind.USERS, 600.0, peak_factor=1.0), 2.0),
        (Demand(DemandKind.USERS, 600.0, requests_per_user_hour=60.0, peak_factor=3.0), 30.0),
        (Demand(DemandKind.REQUEST_RATE, 5.0, peak_factor=2.0), 10.0),
        (Demand(DemandKind.TOKENS_PER_DAY, 25_920_000.0, peak_factor=1.5), 1.5),
    ],
)
def test_the_peak_follows_from_how_the_demand_is_stated(service: GpuDeskService, demand: Demand, rate: float) -> None:
    sizing = service.size(make_scenario(demand))
    assert sizing.requests_per_s == pytest.approx(rate)
    assert sizing.output_tokens_per_s == pytest.approx(rate * 300)


@pytest.mark.parametrize("in_flight", [1.0, 64.0, 1000.0])
def test_requests_in_flight_are_spread_over_replicas_that_hold_them(service: GpuDeskService, in_flight: float) -> None:
    demand = Demand(DemandKind.CONCURRENCY, in_flight, ttft_ms=3000.0, tpot_ms=50.0)
    sizing = service.size(make_scenario(demand))
    assert sizing.requests_per_s is None
    for each in size(sizing):
        assert math.prod(factor.value for factor in each.factors) == pytest.approx(each.count)
        assert each.estimate is not None
        assert not each.estimate.queues
        assert each.concurrency >= in_flight
        for figure, limit in ((each.estimate.ttft_ms, 3000.0), (each.estimate.tpot_ms, 50.0)):
            assert figure is not None
            assert figure.value <= limit
    more = size(service.size(make_scenario(replace(demand, amount=in_flight * 8))))
    assert all((ours.count or 0) <= (theirs.count or 0) for ours, theirs in zip(size(sizing), more, strict=True))


def test_a_replica_that_is_wider_than_a_host_takes_whole_hosts(service: GpuDeskService) -> None:
    scenario = make_scenario(Demand(DemandKind.USERS, 1.0), "deepseek-r1")
    (h100,) = service.size(replace(scenario, accelerators=(AcceleratorChoice("h100-sxm"),))).candidates
    assert h100.plan.replica == 16
    assert (h100.count, h100.nodes) == (32, 4)


def test_degrees_that_the_scenario_fixes_are_those_of_one_replica(service: GpuDeskService) -> None:
    choice = AcceleratorChoice("h200-sxm", count=4, tp=4, pp=1, dp=1)
    scenario = replace(make_scenario(Demand(DemandKind.USERS, 500.0)), accelerators=(choice,))
    (fixed,) = service.size(scenario).candidates
    assert (fixed.plan.tp, fixed.plan.pp) == (4, 1)
    assert fixed.count is not None
    assert fixed.count % 4 == 0


def test_unreachable_limits_leave_no_count(service: GpuDeskService) -> None:
    for each in service.size(make_scenario(Demand(DemandKind.USERS, 10.0, tpot_ms=0.5))).candidates:
        assert each.count is None
        assert each.reason is not None
        assert each.reason.id == "sizing.limits_not_met"


def test_pools_cannot_be_sized(service: GpuDeskService) -> None:
    choice = AcceleratorChoice("h200-sxm", disaggregated=DisaggregationRequest())
    scenario = replace(make_scenario(Demand(DemandKind.USERS, 10.0)), accelerators=(choice,))
    (candidate,) = service.size(scenario).candidates
    assert candidate.reason is not None
    assert candidate.reason.id == "sizing.pools"


def test_without_a_demand_there_is_nothing_to_size(service: GpuDeskService) -> None:
    with pytest.raises(InputError) as caught:
        service.size(replace(make_scenario(Demand(DemandKind.USERS, 1.0)), demand=None))
    assert caught.value.problem.id == "sizing.no_demand"


@pytest.mark.parametrize("name", DEMAND_BOUNDS)
@pytest.mark.parametrize("wrong", [-1.0, math.nan, math.inf, 1e300])
def test_a_number_outside_its_range_is_refused_by_name(service: GpuDeskService, name: str, wrong: float) -> None:
    demand = replace(Demand(DemandKind.USERS, 1.0), **{name: wrong})  # type: ignore[arg-type]
    with pytest.raises(InputError) as caught:
        service.size(make_scenario(demand))
    assert caught.value.where == f"demand.{name}"


# In the file


@given(demand=demands)
def test_demand_survives_a_round_trip_through_its_fields(demand: Demand) -> None:
    assert parse_demand(json.loads(json.dumps(write_demand_section(demand)))) == demand


@given(demand=st.none() | demands)
def test_demand_survives_a_round_trip_through_the_file(
    service: GpuDeskService, tmp_path_factory: pytest.TempPathFactory, demand: Demand | None
) -> None:
    file = tmp_path_factory.mktemp("scenario") / "a.gpudesk"
    scenario = replace(read_template("70b-chat-on-four"), demand=demand)
    service.save_scenario(scenario, file)
    assert service.read_scenario(file).demand == demand


@pytest.mark.parametrize(
    ("fields", "where"),
    [
        ({"amount": 5}, "demand.kind"),
        ({"kind": "users"}, "demand.amount"),
        ({"kind": "people", "amount": 5}, "demand.kind"),
        ({"kind": "users", "amount": "many"}, "demand.amount"),
        ({"kind": "users", "amount": 0}, "demand.amount"),
        ({"kind": "users", "amount": 5, "spare_replicas": 1.5}, "demand.spare_replicas"),
        ({"kind": "users", "amount": 5, "utilisation_cap": 2}, "demand.utilisation_cap"),
        ({"kind": "users", "amount": 5, "latency": 2}, ": demand"),
    ],
)
def test_error_in_a_file_names_its_place(
    service: GpuDeskService, tmp_path: Path, fields: dict[str, object], where: str
) -> None:
    file = tmp_path / "a.gpudesk"
    service.save_scenario(read_template("70b-chat-on-four"), file)
    document = json.loads(file.read_text(encoding="utf-8"))
    document["demand"] = {"version": 1, **fields}
    file.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        service.read_scenario(file)
    assert where in str(caught.value.where)
