"""Whole systems: which is bought, how many, and what their hosts draw."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpudesk.costing.inputs import choose_system
from gpudesk.domain.accelerator import Accelerator
from gpudesk.domain.system import System, SystemKind, count_systems
from gpudesk.service import GpuDeskService


def make_system(name: str, count: int, kind: SystemKind = SystemKind.SERVER, usd: float | None = None) -> System:
    return System(name, name, "Maker", kind, "h100-sxm", count, price_low_usd=usd)


FOUR = make_system("four", 4)
EIGHT = make_system("eight", 8)
CHEAP = make_system("cheap", 8, usd=200_000.0)
RACK = make_system("rack", 72, SystemKind.RACK)
CLOUD = make_system("cloud", 2, SystemKind.INSTANCE)


@pytest.fixture(scope="module")
def h100(service: GpuDeskService) -> Accelerator:
    return service.catalog.accelerator("h100-sxm")


@pytest.mark.parametrize(
    ("replica", "copies", "name", "systems", "idle"),
    [
        (1, 1, "four", 1, 3),
        (8, 2, "cheap", 2, 0),
        (2, 5, "four", 3, 2),
        (1, 8, "cheap", 1, 0),
        (3, 2, "cheap", 1, 2),
        (16, 1, "rack", 1, 56),
        (144, 1, "rack", 2, 0),
    ],
)
def test_the_smallest_order_that_splits_no_replica_is_bought(
    h100: Accelerator, replica: int, copies: int, name: str, systems: int, idle: int
) -> None:
    system = choose_system(h100, (CLOUD, FOUR, EIGHT, CHEAP, RACK), replica, copies)
    assert system is not None
    assert system.name == name
    counted = count_systems(system.accelerator_count, replica, copies)
    assert (counted.systems, counted.idle) == (systems, idle)


def test_cards_and_accelerators_without_a_system_are_bought_singly(service: GpuDeskService, h100: Accelerator) -> None:
    assert choose_system(h100, (CLOUD,), 1, 4) is None
    assert choose_system(service.catalog.accelerator("l40s"), (FOUR, EIGHT), 1, 4) is None


@given(st.integers(1, 80), st.integers(1, 20), st.integers(1, 40))
def test_whole_systems_hold_every_replica(size: int, replica: int, copies: int) -> None:
    counted = count_systems(size, replica, copies)
    assert counted.used == replica * copies
    assert counted.accelerators == counted.used + counted.idle == counted.systems * size
    assert counted.idle >= 0
    assert count_systems(size, replica, copies + 1).systems >= counted.systems
