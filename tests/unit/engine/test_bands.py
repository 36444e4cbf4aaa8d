"""Bands: what an estimate rests on, and how wide that makes it."""

from dataclasses import replace

import pytest

from gpudesk.domain.estimates import Banded, Basis
from gpudesk.engine.bands import BandFactors, band, basis, pair_band
from gpudesk.engine.constants import BandRule, Calibration

CALIBRATION = Calibration(
    "c",
    "r",
    "2026-08",
    {},
    (
        BandRule("throughput", "calibrated", 0.8, 1.25),
        BandRule("throughput", "estimated", 0.5, 2.0),
        BandRule("ttft", "calibrated", 0.4, 3.0),
    ),
    (
        BandRule("throughput", "calibrated", 0.9, 1.1),
        BandRule("throughput", "estimated", 0.7, 1.4),
        BandRule("throughput", "uncalibrated", 0.6, 1.7),
    ),
    {("hopper", "vllm"): 10, ("cdna3", "sglang"): 0},
)


@pytest.mark.parametrize(
    ("generation", "family", "expected"),
    [
        ("hopper", "vllm", Basis.CALIBRATED),
        ("hopper", "tgi", Basis.ESTIMATED),
        ("ada", "vllm", Basis.ESTIMATED),
        ("ada", "tgi", Basis.UNCALIBRATED),
        # No rows are no basis.
        ("cdna3", "sglang", Basis.UNCALIBRATED),
    ],
)
def test_basis_follows_from_the_rows(generation: str, family: str, expected: Basis) -> None:
    assert basis(CALIBRATION, generation, family) is expected


def test_the_band_is_that_of_figure_and_basis() -> None:
    assert band(CALIBRATION, "throughput", Basis.ESTIMATED) == BandFactors(0.5, 2.0)
    assert band(CALIBRATION, "ttft", Basis.CALIBRATED).around(10.0) == Banded(10.0, 4.0, 30.0)
    with pytest.raises(KeyError, match="ttft/estimated"):
        band(CALIBRATION, "ttft", Basis.ESTIMATED)


@pytest.mark.parametrize(
    ("first", "second", "low"),
    [
        (Basis.CALIBRATED, Basis.CALIBRATED, 0.9),
        (Basis.CALIBRATED, Basis.ESTIMATED, 0.7),
        (Basis.UNCALIBRATED, Basis.CALIBRATED, 0.6),
        (Basis.MEASURED, Basis.CALIBRATED, 0.9),
    ],
)
def test_a_pair_is_as_sure_as_its_weaker_part(first: Basis, second: Basis, low: float) -> None:
    assert pair_band(CALIBRATION, "throughput", first, second).low == low


def test_the_rule_that_names_most_holds() -> None:
    wide = BandRule("tpot", "calibrated", 0.5, 2.0)
    narrow = BandRule("tpot", "calibrated", 0.8, 1.2, {"load": frozenset({"batch"})})
    known = replace(CALIBRATION, bands=(wide, narrow))
    assert band(known, "tpot", Basis.CALIBRATED, {"load": "batch"}).low == 0.8
    assert band(known, "tpot", Basis.CALIBRATED, {"load": "limits"}).low == 0.5
    assert band(known, "tpot", Basis.CALIBRATED).low == 0.5


def test_software_that_nobody_measured_yet_is_less_sure() -> None:
    now = BandFactors(0.8, 1.25)
    assert now.widened(0.0) == now
    assert now.widened(2.0).low == pytest.approx(0.8**1.5)
    assert now.widened(2.0).high == pytest.approx(1.25**1.5)
