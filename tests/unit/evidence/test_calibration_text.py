"""The calibration file as text: bands can be replaced without touching the constants."""

from __future__ import annotations

import json
from pathlib import Path

from gpudesk import paths
from gpudesk.engine.constants import BandRule
from gpudesk.evidence.calibration_text import with_bands
from gpudesk.workbench.calibration_file import read_calibration

RULES = (
    BandRule("throughput", "calibrated", 0.8, 1.3),
    BandRule("throughput", "calibrated", 0.7, 1.5, {"serving_engine": frozenset({"vllm"})}),
)


def test_other_bands_leave_the_constants_to_the_last_digit(tmp_path: Path) -> None:
    text = paths.calibration_path().read_text()
    target = tmp_path / "calibration.json"
    target.write_text(with_bands(text, RULES, RULES[:1]))
    found = read_calibration(target)
    assert found.bands == RULES
    assert found.pair_bands == RULES[:1]
    before, after = json.loads(text), json.loads(target.read_text())
    assert {**before, "bands": [], "pair_bands": []} == {**after, "bands": [], "pair_bands": []}
    assert target.read_text().startswith(text.partition('"bands"')[0])


def test_the_same_bands_give_the_same_file() -> None:
    path = paths.calibration_path()
    known = read_calibration(path)
    assert with_bands(path.read_text(), known.bands, known.pair_bands) == path.read_text()
