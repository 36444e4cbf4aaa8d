"""Constants: which exception holds, and what the coverage says."""

import pytest

from gpudesk.engine.calibration import (
    MOST_KEPT_KEYS,
    NO_KEYS,
    Calibration,
    CalibrationConstant,
    ConstantKeys,
    ConstantOverride,
)


def override(value: float, **where: str) -> ConstantOverride:
    return ConstantOverride({name: frozenset(values.split("|")) for name, values in where.items()}, value)


RATE = CalibrationConstant(
    "rate",
    "1",
    "a share",
    0.5,
    (
        override(0.6, generation="hopper"),
        override(0.7, generation="hopper|ampere", precision="fp8"),
        override(0.8, serving_engine="vllm", precision="fp8"),
        override(0.9, generation="cdna3", precision="fp8|int8", ranks="8"),
    ),
)


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        ({}, 0.5),
        ({"generation": "ada"}, 0.5),
        ({"generation": "hopper"}, 0.6),
        ({"generation": "hopper", "precision": "bf16"}, 0.6),
        ({"generation": "ampere", "precision": "fp8"}, 0.7),
        # The one that names most keys; the first of equals.
        ({"generation": "hopper", "precision": "fp8"}, 0.7),
        ({"generation": "hopper", "precision": "fp8", "serving_engine": "vllm"}, 0.7),
        ({"generation": "ada", "precision": "fp8", "serving_engine": "vllm"}, 0.8),
        ({"generation": "cdna3", "precision": "int8", "ranks": "8"}, 0.9),
        # A key that the case lacks does not match.
        ({"generation": "cdna3", "precision": "int8"}, 0.5),
    ],
)
def test_the_most_specific_exception_holds(keys: dict[str, str], value: float) -> None:
    assert RATE.value(ConstantKeys(**keys)) == value
    override = RATE.find_override(ConstantKeys(**keys))
    assert (override is None) == (value == RATE.default)


def test_coverage_counts_rows_of_part_and_family() -> None:
    rows = {("hopper", "vllm"): 10, ("hopper", "sglang"): 5, ("cdna3", "vllm"): 7}
    calibration = Calibration("c", "r", "2026-08", {"rate": RATE}, (), (), rows)
    assert calibration.rows("hopper", "vllm") == 10
    assert calibration.rows("ada", "vllm") == 0
    assert calibration.count_generation_rows("hopper") == 15
    assert calibration.count_family_rows("vllm") == 17
    assert calibration.count_family_rows("tgi") == 0
    assert calibration.value("rate", ConstantKeys("hopper")) == 0.6
    with pytest.raises(KeyError, match="unheard"):
        calibration.value("unheard", NO_KEYS)


def test_constants_of_few_combinations_of_keys_are_kept() -> None:
    calibration = Calibration("sample", "r", "2026-01", {"rate": RATE}, (), ())
    for number in range(2 * MOST_KEPT_KEYS):
        assert calibration.value("rate", ConstantKeys("hopper", ranks=str(number))) == 0.6
        assert len(calibration._values_by_keys) <= MOST_KEPT_KEYS
