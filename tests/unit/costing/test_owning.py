"""The cost of owning: lines that add up, straight lines in every price, and what printed cases give."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpudesk.costing.accelerator_costs import (
    Amount,
    OwnershipInputs,
    compute_energy_kwh,
    compute_monthly_usd,
    compute_upfront_usd,
    list_ownership_lines,
    sum_lines,
)

#: The lines of the total, in display order.
LINES = (
    "accelerators",
    "server",
    "network",
    "rack",
    "residual",
    "capital",
    "power",
    "cooling",
    "demand",
    "hosting",
    "support",
    "staff",
    "porting",
    "upkeep",
)
#: No cost but the price and the energy.
BARE = {
    **dict.fromkeys(("discount", "server_share", "network_share", "rack_share", "spares", "residual"), 0.0),
    **dict.fromkeys(("host_w", "idle_draw", "support", "staff_usd_per_year", "capital_rate"), 0.0),
    **dict.fromkeys(("demand_usd_per_kw_month", "hosting_usd_per_kw_month"), 0.0),
    **dict.fromkeys(("engineer_usd_per_year", "engineers", "porting_engineer_months"), 0.0),
    **dict.fromkeys(("draw", "pue", "fleet"), 1.0),
}
#: 800 accelerators for three years, with energy at a price that includes cooling.
OF_MI325X = {
    **BARE,
    "years": 3.0,
    "price_usd": 22_000.0,
    "discount": 0.14,
    "accelerator_w": 750.0,
    "energy_usd_per_kwh": 0.14,
}
MI325X = OwnershipInputs(OF_MI325X, 800.0)
H200 = OwnershipInputs({**OF_MI325X, "price_usd": 35_000.0, "accelerator_w": 700.0}, 800.0)

money = st.floats(0.0, 1e6)
share = st.floats(0.0, 1.0)


@st.composite
def ownerships(draw: st.DrawFn) -> OwnershipInputs:
    shares = ("discount", "spares", "residual", "draw", "idle_draw", "support", "capital_rate")
    ranges = {
        **dict.fromkeys(("price_usd", "staff_usd_per_year", "engineer_usd_per_year"), money),
        **dict.fromkeys(shares, share),
        **dict.fromkeys(("server_share", "network_share", "rack_share"), st.floats(0.0, 2.0)),
        "years": st.floats(0.5, 10.0),
        "accelerator_w": st.floats(0.0, 3000.0),
        "energy_usd_per_kwh": st.floats(0.0, 2.0),
        "host_w": st.floats(0.0, 1000.0),
        "pue": st.floats(1.0, 3.0),
        "demand_usd_per_kw_month": st.floats(0.0, 100.0),
        "hosting_usd_per_kw_month": st.floats(0.0, 500.0),
        "engineers": st.floats(0.0, 100.0),
        "porting_engineer_months": st.floats(0.0, 100.0),
        "fleet": st.floats(1.0, 1e5),
    }
    values = {name: draw(each) for name, each in ranges.items()}
    return OwnershipInputs(values, draw(st.floats(1.0, 1e5)), draw(st.sampled_from((0.0, 6.0))))


def change(owned: OwnershipInputs, **values: Amount) -> OwnershipInputs:
    return replace(owned, values={**owned.values, **values})


def cost(inputs: OwnershipInputs) -> float:
    return float(sum_lines(list_ownership_lines(inputs)))


def test_a_printed_case_line_by_line() -> None:
    lines = list_ownership_lines(replace(MI325X, accelerators=1.0))
    assert tuple(lines) == LINES
    assert lines["accelerators"] == pytest.approx(18_920)
    assert lines["power"] == pytest.approx(0.75 * 26_280 * 0.14)
    assert sum(map(bool, lines.values())) == 2
    assert 1 - cost(MI325X) / cost(H200) == pytest.approx(0.336523, abs=1e-6)


def test_two_engineers_for_800_accelerators_are_2100_dollars_each() -> None:
    dearer = change(MI325X, engineer_usd_per_year=280_000.0, engineers=2.0, fleet=800.0)
    assert cost(dearer) - cost(MI325X) == pytest.approx(1_680_000)
    one = replace(dearer, accelerators=1.0)
    assert list_ownership_lines(one)["upkeep"] == pytest.approx(2_100)


def test_hardware_that_keeps_its_worth_costs_its_capital_alone() -> None:
    values = {**BARE, "years": 4.0, "price_usd": 10_000.0, "residual": 1.0, "accelerator_w": 0.0, "capital_rate": 0.08}
    keeping_value = OwnershipInputs({**values, "energy_usd_per_kwh": 0.1}, 2.0)
    assert cost(keeping_value) == pytest.approx(2 * 10_000 * 0.08 * 4)
    gone = change(keeping_value, residual=0.0)
    assert list_ownership_lines(gone)["capital"] == pytest.approx(2 * 10_000 * 0.08 * 4 / 2)


def test_the_site_takes_its_share_of_the_energy() -> None:
    inputs = change(MI325X, pue=1.3, host_w=250.0, draw=0.8)
    lines = list_ownership_lines(inputs)
    assert compute_energy_kwh(inputs) == pytest.approx(800 * 1.0 * 0.8 * 1.3 * 26_280)
    assert lines["power"] + lines["cooling"] == pytest.approx(compute_energy_kwh(inputs) * 0.14)
    assert lines["cooling"] == pytest.approx(0.3 * lines["power"])


def test_idle_accelerators_are_bought_and_draw_idle_power() -> None:
    used = replace(change(MI325X, host_w=250.0, draw=0.8, idle_draw=0.1), accelerators=10.0)
    partly, full = replace(used, idle=6.0), replace(used, accelerators=16.0)
    lines, bought = list_ownership_lines(partly), list_ownership_lines(full)
    assert {name for name in LINES if lines[name] != bought[name]} == {"power"}
    kilowatts = 10 * 1.0 * 0.8 + 6 * (0.75 * 0.1 + 0.25 * 0.8)
    assert compute_energy_kwh(partly) == pytest.approx(kilowatts * 26_280)
    assert lines["power"] == pytest.approx(kilowatts * 26_280 * 0.14)


def test_idle_accelerators_share_no_software() -> None:
    shared = change(MI325X, engineer_usd_per_year=280_000.0, engineers=2.0, fleet=800.0)
    partly = replace(shared, accelerators=4.0, idle=4.0)
    assert list_ownership_lines(partly)["upkeep"] == pytest.approx(4 * 2_100)


@given(ownerships())
def test_payments_add_up(inputs: OwnershipInputs) -> None:
    lines = list_ownership_lines(inputs)
    assert tuple(lines) == LINES
    cash = compute_upfront_usd(inputs) + compute_monthly_usd(inputs) * inputs.values["years"] * 12
    assert cash == pytest.approx(cost(inputs) - lines["residual"] - lines["capital"], rel=1e-9, abs=1e-6)


@given(ownerships(), st.floats(1.0, 10.0))
def test_cost_is_proportional_to_accelerators(inputs: OwnershipInputs, factor: float) -> None:
    more = replace(inputs, accelerators=inputs.accelerators * factor, idle=inputs.idle * factor)
    assert cost(more) == pytest.approx(cost(inputs) * factor, rel=1e-9, abs=1e-6)


@pytest.mark.parametrize(
    "name",
    [
        *("price_usd", "server_share", "network_share", "rack_share", "spares", "energy_usd_per_kwh", "pue", "host_w"),
        *("demand_usd_per_kw_month", "hosting_usd_per_kw_month", "support", "staff_usd_per_year"),
        *("engineers", "porting_engineer_months", "engineer_usd_per_year", "capital_rate"),
    ],
)
@given(inputs=ownerships(), more=st.floats(0.0, 100.0))
def test_cost_never_falls_when_a_price_rises_and_is_a_straight_line(
    name: str, inputs: OwnershipInputs, more: float
) -> None:
    def dearer(by: float) -> OwnershipInputs:
        return change(inputs, **{name: inputs.values[name] + by})

    at, half, whole = cost(inputs), cost(dearer(more / 2)), cost(dearer(more))
    scale = max(abs(at), abs(whole), 1.0)
    assert whole >= at - 1e-9 * scale
    assert half == pytest.approx((at + whole) / 2, abs=1e-9 * scale)


def test_arrays_go_in_and_come_out() -> None:
    prices = np.array([20_000.0, 22_000.0, 25_000.0])
    both = sum_lines(list_ownership_lines(change(MI325X, price_usd=prices)))
    each = [cost(change(MI325X, price_usd=price)) for price in prices]
    assert np.allclose(both, each)
