"""All constants as one vector: where values lie, what a move costs, and that keys find the same value."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration.parameters import ConstantPrior, ParameterVector, PriorOverride
from calibration.priors import read_priors
from gpudesk.engine.calibration import CONSTANT_KEYS, NO_KEYS, ConstantKeys
from gpudesk.engine.rates import KeyGroup

HOPPER = {"generation": ("hopper",)}
WIDE = {"generation": ("hopper",), "precision": ("fp16", "bf16")}
SMALL = ParameterVector(
    (
        ConstantPrior(
            "reads",
            "1",
            "share of the bandwidth",
            0.8,
            0.1,
            (PriorOverride(HOPPER, 0.7), PriorOverride(WIDE, 0.9, 0.05, pinned=True)),
            0.2,
            low=0.1,
            high=0.95,
        ),
        ConstantPrior("held", "B/s", "a port", 5e10, 0.0, (PriorOverride(HOPPER, 6e10),)),
        ConstantPrior("step", "s", "time of a step", 1e-3, 0.4, (PriorOverride(HOPPER, 0.0),)),
    )
)


def cost(values: list[float]) -> float:
    """Return how many standard deviations values are from what is believed, squared."""
    with np.errstate(divide="ignore", invalid="ignore"):
        shift = np.nan_to_num(np.log(np.array(values) / SMALL.initial))
    away = SMALL.penalty @ shift
    return float(away @ away)


def test_each_default_is_followed_by_its_exceptions() -> None:
    assert SMALL.size == 7
    assert SMALL.starts == {"reads": 0, "held": 3, "step": 5}
    assert SMALL.initial.tolist() == [0.8, 0.7, 0.9, 5e10, 6e10, 1e-3, 0.0]
    assert SMALL.low.tolist() == [0.1] * 3 + [1e-12] * 4
    assert SMALL.high.tolist() == [0.95] * 3 + [1e12] * 4
    assert SMALL.name(2) == "reads {'generation': ('hopper',), 'precision': ('fp16', 'bf16')}"
    assert SMALL.name(3) == "held"
    with pytest.raises(IndexError):
        SMALL.name(7)


def test_what_is_held_and_what_is_nothing_does_not_move() -> None:
    assert SMALL.free.tolist() == [0, 1, 2, 5]


def test_exceptions_follow_their_default_and_pinned_ones_do_not() -> None:
    # The default and its override together: one standard deviation of the default, none of the ratio.
    together = [0.8 * np.e**0.1, 0.7 * np.e**0.1, 0.9, 5e10, 6e10, 1e-3, 0.0]
    assert cost(together) == pytest.approx(1.0)
    # The override alone, by twice what is believed of its ratio.
    assert cost([0.8, 0.7 * np.e**0.4, 0.9, 5e10, 6e10, 1e-3, 0.0]) == pytest.approx(4.0)
    # The default alone leaves its override behind.
    assert cost([0.8 * np.e**0.2, 0.7, 0.9, 5e10, 6e10, 1e-3, 0.0]) == pytest.approx(4.0 + 1.0)
    # What operators pin stays where it is when the default moves, and costs by its own spread.
    assert cost([0.8, 0.7, 0.9 * np.e**0.05, 5e10, 6e10, 1e-3, 0.0]) == pytest.approx(1.0)


def test_an_exception_without_spread_takes_that_of_its_constant() -> None:
    prior = ConstantPrior("reads", "1", "", 0.8, 0.1, (PriorOverride(HOPPER, 0.7),))
    assert ParameterVector((prior,)).spreads.tolist() == [0.1, 0.1]


def test_constants_come_back_with_the_values_of_the_vector() -> None:
    values = np.array([0.5, 0.6, 0.7, 1.0, 2.0, 3.0, 4.0])
    calibration = SMALL.calibration(values, "2026-01")
    assert calibration.value("reads", ConstantKeys("ada", "fp16")) == 0.5
    assert calibration.value("reads", ConstantKeys("hopper", "fp8")) == 0.6
    assert calibration.value("reads", ConstantKeys("hopper", "bf16")) == 0.7
    assert (calibration.value("held", NO_KEYS), calibration.value("step", ConstantKeys("hopper"))) == (1.0, 4.0)
    assert calibration.newest_month == "2026-01"
    rows = SMALL.constant(SMALL.priors[0], values, np.arange(7)).overrides
    assert [each.rows for each in rows] == [1, 2]


ALL = ParameterVector(read_priors(Path(__file__).parents[3] / "data"))
#: Values of the keys as parts and serving engines have them, and some that no override names.
_WORDS: Mapping[str, tuple[str, ...]] = {
    name: tuple(sorted({word for prior in ALL.priors for each in prior.overrides for word in each.where.get(name, ())}))
    for name in CONSTANT_KEYS
}


@st.composite
def keys(draw: st.DrawFn) -> dict[KeyGroup, ConstantKeys]:
    """Return keys of a deployment, for every slot others, some of them missing."""
    words = {name: st.sampled_from([*key_words, "another"]) for name, key_words in _WORDS.items()}
    each = st.fixed_dictionaries({}, optional=words)
    return {slot: ConstantKeys(**draw(each)) for slot in KeyGroup}


@given(st.lists(keys(), min_size=1, max_size=8))
def test_positions_find_what_the_engine_looks_up(keys_of_runs: list[dict[KeyGroup, ConstantKeys]]) -> None:
    # Every value another one, so that a wrong position cannot hide.
    values = 1.0 + np.arange(ALL.size) / ALL.size
    calibration = ALL.calibration(values, "2026-01")
    lookups = [(prior.name, slot) for prior in ALL.priors for slot in KeyGroup]
    for (name, slot), column in ALL.positions(lookups, keys_of_runs).items():
        assert values[column].tolist() == [calibration.value(name, each[slot]) for each in keys_of_runs]
