"""The section of fleets in a scenario file: it comes back as it was, and says where it is wrong."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpudesk.documents.scenario_file import parse_fleet, read_template, write_fleet_section
from gpudesk.domain.fleet import NO_FLEET_SETTINGS, FleetSettings, LoadCurveKind, SiteCooling
from gpudesk.service import GpuDeskService
from gpudesk.text.messages import InputError

settings_of_fleets = st.builds(
    FleetSettings,
    curve=st.sampled_from([kind for kind in LoadCurveKind if kind is not LoadCurveKind.OWN]),
    own_multipliers=st.just(()) | st.lists(st.floats(0.5, 9.0), min_size=24, max_size=24).map(tuple),
    growth_per_year=st.floats(-0.9, 10.0),
    spare_systems=st.integers(0, 64),
    systems=st.dictionaries(st.just("h100-sxm"), st.just("nvidia-dgx-h100")),
    instances=st.dictionaries(st.just("h100-sxm"), st.just("aws-p5-48xlarge")),
    cooling=st.none() | st.sampled_from(SiteCooling),
    kw_per_rack=st.none() | st.floats(0.1, 1000.0),
    months_to_live=st.none() | st.floats(0.0, 120.0),
)


@given(settings=settings_of_fleets)
def test_settings_come_back_from_their_fields(settings: FleetSettings) -> None:
    assert parse_fleet(json.loads(json.dumps(write_fleet_section(settings)))) == settings


def test_automatic_choices_are_not_written() -> None:
    assert write_fleet_section(NO_FLEET_SETTINGS) == {}


def test_settings_come_back_from_the_file(service: GpuDeskService, tmp_path: Path) -> None:
    settings = FleetSettings(LoadCurveKind.OWN, (1.0,) * 23 + (4.0,), 0.2, 1, systems={"h100-sxm": "nvidia-dgx-h100"})
    service.save_scenario(replace(read_template("70b-chat-on-four"), fleet=settings), tmp_path / "a.gpudesk")
    assert service.read_scenario(tmp_path / "a.gpudesk").fleet == settings


@pytest.mark.parametrize(
    ("fields", "where"),
    [
        ({"curve": "weekend"}, "fleet.curve"),
        ({"curve": "own"}, "fleet.own_multipliers"),
        ({"curve": "own", "own_multipliers": [1.0] * 25}, "fleet.own_multipliers"),
        ({"own_multipliers": [1.0] * 5 + [-1.0] + [1.0] * 18}, "fleet.own_multipliers[5]"),
        ({"own_multipliers": [1.0] * 23 + ["1"]}, "fleet.own_multipliers[23]"),
        ({"own_multipliers": [1.0] * 23 + [10**400]}, "fleet.own_multipliers[23]"),
        ({"own_multipliers": "1,2"}, "fleet.own_multipliers"),
        ({"growth_per_year": 11}, "fleet.growth_per_year"),
        ({"spare_systems": 1.5}, "fleet.spare_systems"),
        ({"kw_per_rack": 0}, "fleet.kw_per_rack"),
        ({"cooling": "water"}, "fleet.cooling"),
        ({"systems": ["nvidia-dgx-h100"]}, "fleet.systems"),
        ({"systems": {"h100-sxm": 8}}, "fleet.systems.h100-sxm"),
        ({"racks": 4}, "fleet"),
    ],
)
def test_faults_are_named(fields: dict[str, object], where: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_fleet(fields)
    assert caught.value.where == where
