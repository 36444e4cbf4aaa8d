"""The calibration as a file: what is written is what the program reads, and a person can read it, too."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from calibration.fit import DIGITS, CalibrationHeader, format_calibration
from gpudesk.domain.estimate import EstimateBasis
from gpudesk.engine.calibration import IntervalRule, LeadScaleKey, PairRelation
from gpudesk.evidence.calibration_file import read_calibration
from tests.unit.calibration.synthetic_runs import make_bench, make_truth

PLANS = tuple(
    IntervalRule(figure, str(basis), 0.9, 1.111)
    for figure, basis in product(("throughput", "ttft", "tpot"), EstimateBasis)
)
BANDS = (
    IntervalRule("throughput", "calibrated", 0.7, 1.3, {"load": frozenset({"batch"}), "experts": frozenset({"no"})}),
    *(replace(rule, low=0.8123, high=1.25) for rule in PLANS),
)
SCALES = {
    LeadScaleKey(figure, basis, relation): 0.125
    for figure, basis, relation in product(("throughput", "ttft", "tpot"), EstimateBasis, PairRelation)
}
ABOUT = CalibrationHeader(
    name="made up",
    source='a page "with quotes" and – dashes',
    newest_month="2026-09",
    data_revision="0f" * 32,
    bands=BANDS,
    plan_bands=PLANS,
    lead_scales=SCALES,
)
BENCH = make_bench()


def test_file_survives_a_round_trip(tmp_path: Path) -> None:
    values = make_truth()
    path = tmp_path / "calibration.json"
    path.write_text(format_calibration(BENCH, values, ABOUT))
    read_back, calibration = read_calibration(path), BENCH.parameters.calibration(values, "2026-09")
    assert (read_back.name, read_back.newest_month) == ("made up", "2026-09")
    assert list(read_back.constants) == list(calibration.constants)
    behind = BENCH.rows_behind()
    for name, constant in calibration.constants.items():
        again, start = read_back.constants[name], BENCH.parameters.starts[name]
        assert (again.unit, again.meaning, again.source) == (constant.unit, constant.meaning, constant.source)
        assert again.default == pytest.approx(constant.default, rel=0.5 * 10 ** (1 - DIGITS))
        assert [each.where for each in again.overrides] == [each.where for each in constant.overrides]
        ours, theirs = ([each.value for each in one.overrides] for one in (again, constant))
        assert ours == pytest.approx(theirs, rel=0.5 * 10 ** (1 - DIGITS))
        assert [each.rows for each in again.overrides] == behind[start + 1 : start + 1 + len(theirs)].tolist()
    assert (read_back.bands, read_back.plan_bands, read_back.lead_scales) == (BANDS, PLANS, SCALES)
    assert read_back.coverage == {("hopper", "vllm"): 144, ("cdna3", "vllm"): 144}
    assert json.loads(path.read_text())["data"] == "0f" * 32


def test_the_same_values_give_the_same_file() -> None:
    values = make_truth()
    text = format_calibration(BENCH, values, ABOUT)
    assert text == format_calibration(make_bench(), values.copy(), ABOUT)
    # Differences beyond the digits that are written do not show.
    assert text == format_calibration(BENCH, np.where(values == values.max(), values * (1 + 1e-9), values), ABOUT)


def test_calibration_file_has_short_lines_and_a_meaning_per_constant() -> None:
    lines = format_calibration(BENCH, make_truth(), ABOUT).splitlines()
    assert max(map(len, lines)) < 250
    assert sum('"meaning"' in line for line in lines) == len(BENCH.parameters.priors)
