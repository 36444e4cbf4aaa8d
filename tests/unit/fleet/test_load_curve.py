"""Load curves: presets and own multipliers average 1; what makes no curve is refused with its hour."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpudesk.domain.fleet import FleetSettings, LoadCurveKind, check_multipliers, make_load_curve
from gpudesk.domain.sizing import DEFAULT_PEAK_FACTOR
from gpudesk.fleet.supply import check_fleet_settings
from gpudesk.text.messages import InputError


def make_own(*multipliers: float) -> FleetSettings:
    return FleetSettings(LoadCurveKind.OWN, multipliers)


@pytest.mark.parametrize("kind", [kind for kind in LoadCurveKind if kind is not LoadCurveKind.OWN])
def test_presets_average_one(kind: LoadCurveKind) -> None:
    curve = make_load_curve(FleetSettings(kind))
    assert len(curve.multipliers) == 24
    assert math.fsum(curve.multipliers) / 24 == pytest.approx(1.0)


def test_presets_have_their_busiest_hours() -> None:
    office = make_load_curve(FleetSettings(LoadCurveKind.OFFICE))
    night = make_load_curve(FleetSettings(LoadCurveKind.OVERNIGHT))
    assert office.multipliers.index(office.peak_factor) in range(10, 16)
    assert night.multipliers.index(night.peak_factor) == 0
    assert make_load_curve(FleetSettings(LoadCurveKind.GLOBAL)).peak_factor < 1.25
    assert make_load_curve(FleetSettings(LoadCurveKind.FLAT)).peak_factor == 1.0


def test_the_usual_curve_has_the_peak_that_sizing_assumes() -> None:
    assert make_load_curve(FleetSettings()).peak_factor == pytest.approx(DEFAULT_PEAK_FACTOR)


@given(st.lists(st.floats(0.0, 1e300), min_size=24, max_size=24).filter(any))
def test_own_multipliers_keep_their_shape(multipliers: list[float]) -> None:
    curve = make_load_curve(make_own(*multipliers))
    assert math.fsum(curve.multipliers) / 24 == pytest.approx(1.0)
    assert curve.multipliers.index(curve.peak_factor) == multipliers.index(max(multipliers))


@pytest.mark.parametrize(
    ("multipliers", "problem", "where"),
    [
        ((1.0,) * 23, "fleet.curve_length", "fleet.own_multipliers"),
        ((0.0,) * 24, "fleet.curve_empty", "fleet.own_multipliers"),
        ((1.0,) * 7 + (-0.5,) + (1.0,) * 16, "fleet.curve_hour", "fleet.own_multipliers[7]"),
        ((1.0,) * 23 + (math.nan,), "fleet.curve_hour", "fleet.own_multipliers[23]"),
        ((math.inf,) + (1.0,) * 23, "fleet.curve_hour", "fleet.own_multipliers[0]"),
    ],
)
def test_invalid_curve_is_refused(multipliers: tuple[float, ...], problem: str, where: str) -> None:
    with pytest.raises(InputError) as caught:
        check_multipliers(multipliers)
    assert (caught.value.problem.id, caught.value.where) == (problem, where)


@pytest.mark.parametrize(
    ("settings", "where"),
    [
        (FleetSettings(growth_per_year=-1.0), "fleet.growth_per_year"),
        (FleetSettings(spare_systems=-1), "fleet.spare_systems"),
        (FleetSettings(kw_per_rack=0.0), "fleet.kw_per_rack"),
        (FleetSettings(months_to_live=math.inf), "fleet.months_to_live"),
    ],
)
def test_numbers_outside_their_range_are_refused(settings: FleetSettings, where: str) -> None:
    with pytest.raises(InputError) as caught:
        check_fleet_settings(settings)
    assert caught.value.where == where
