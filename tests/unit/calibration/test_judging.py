"""Cross-fitted bands: what a figure is judged by has not seen its group."""

from __future__ import annotations

import pytest

from accuracy_report.measures import judge_figures
from gpudesk.domain.estimate import EstimateBasis
from tests.unit.calibration.records import make_held_out, make_run, make_spread

ORDINARY = [make_run(f"{place}", series=f"series {place % 4}") for place in range(80)]
STRANGE = [make_run(f"strange {place}", series="strange") for place in range(20)]


def test_a_group_does_not_widen_the_band_that_it_is_judged_by() -> None:
    judged = judge_figures(make_held_out(ORDINARY + STRANGE, make_spread(80, 1.2) + [3.0] * 20), ORDINARY + STRANGE)
    strange = [row for row in judged if row.group == "strange"]
    assert len(strange) == 20
    assert not any(row.inside for row in strange)
    assert all(row.width < 1.6 for row in strange)


def test_ordinary_rows_lie_in_their_bands() -> None:
    judged = judge_figures(make_held_out(ORDINARY + STRANGE, make_spread(80, 1.2) + [3.0] * 20), ORDINARY + STRANGE)
    ordinary = [row for row in judged if row.group != "strange"]
    assert sum(row.inside for row in ordinary) > 0.75 * len(ordinary)


def test_runs_unlike_all_others_are_uncalibrated() -> None:
    lone = [make_run(f"lone {place}", series="lone", generation="cdna3") for place in range(10)]
    alien = [make_run(f"alien {place}", series="alien", generation="ada", engine="llama.cpp") for place in range(10)]
    runs = ORDINARY + lone + alien
    judged = judge_figures(make_held_out(runs, [*make_spread(80, 1.2), *([1.0] * 20)]), runs)
    bases = {row.group: row.basis for row in judged}
    assert bases["series 0"] is EstimateBasis.CALIBRATED
    assert bases["lone"] is EstimateBasis.ESTIMATED
    assert bases["alien"] is EstimateBasis.UNCALIBRATED


def test_every_fold_is_judged_by_its_own_groups() -> None:
    runs = ORDINARY + [make_run(f"amd {place}", vendor="AMD", series="amd") for place in range(20)]
    judged = judge_figures(make_held_out(runs, make_spread(100, 1.3), ("series", "vendor")), runs)
    assert {row.group for row in judged if row.fold == "vendor"} == {"NVIDIA", "AMD"}
    assert len(judged) == 200


def test_ratio_error_and_bias_are_of_predicted_over_measured() -> None:
    row = judge_figures(make_held_out(ORDINARY, [0.8] * 80), ORDINARY)[0]
    assert row.ratio == pytest.approx(0.8)
    assert row.error == pytest.approx(0.2)
