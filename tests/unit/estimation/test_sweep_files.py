"""Files of a sweep: the same answers as CSV and as a grid for NumPy, whole or not at all."""

from __future__ import annotations

import csv
import re
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpudesk.catalog.read import Catalog
from gpudesk.engine.calibration import Calibration
from gpudesk.estimation.sweep import evaluation
from gpudesk.estimation.sweep.evaluation import COUNT_COLUMNS, WORD_COLUMNS, SweepEvaluation, list_figure_columns
from gpudesk.estimation.sweep.grid import Sweep
from gpudesk.estimation.sweep.output import SweepRun
from gpudesk.text.messages import InputError
from tests.unit.domain.sweeps import SMALL, sweep_of

MIB = 1 << 20


def write(sweep: Sweep, target: Path, facts: Catalog, calibration: Calibration) -> SweepRun:
    run = SweepRun(sweep, facts, calibration, target)
    assert list(run.steps())[-1] == run.evaluated_points == sweep.points
    return run


def grid(path: Path) -> dict[str, Any]:
    with np.load(path, allow_pickle=False) as arrays:
        return dict(arrays)


def test_grid_can_be_indexed_by_its_axes(tmp_path: Path, facts: Catalog, calibration: Calibration) -> None:
    sweep = replace(SMALL, tp=(None, 1, 8))
    write(sweep, tmp_path / "grid.npz", facts, calibration)
    arrays = grid(tmp_path / "grid.npz")
    assert arrays["axes"].tolist() == [
        "accelerator",
        "model",
        "weights",
        "kv",
        "tp",
        "input_tokens",
        "output_tokens",
        "concurrency",
    ]
    assert arrays["accelerator"].tolist() == ["h100-sxm", "mi325x", "rtx-4090"]
    assert arrays["tp"].tolist() == [0, 1, 8]
    assert arrays["concurrency"].tolist() == [1, 7, 5000]
    for name in ("fits", *list_figure_columns(), *COUNT_COLUMNS, *WORD_COLUMNS):
        assert arrays[name].shape == sweep.shape
    blocks = list(SweepEvaluation(sweep, facts, calibration).blocks())
    rates = np.concatenate([block.figures[0] for block in blocks]).reshape(sweep.shape)
    np.testing.assert_array_equal(arrays["output_tokens_per_s"], rates)
    at = (1, 0, 0, 1, 2, 0, 1, 1)
    assert arrays["fits"][at]
    assert arrays["plan_words"][arrays["plan"][at]] == "tp8"
    assert 0 < arrays["tpot_ms_low"][at] < arrays["tpot_ms"][at] < arrays["tpot_ms_high"][at]
    assert np.isnan(arrays["tpot_ms"][1, 0, 0, 1, 2, 0, 0, 1]), "one token has no time between tokens"
    without = ~arrays["fits"]
    reasons = set(arrays["reason_words"][arrays["reason"][without]].tolist())
    assert reasons == {"weights-do-not-fit", "request-does-not-fit"}
    assert np.isnan(arrays["ttft_ms"][without]).all()


def test_rows_are_the_points_of_the_grid_in_order(
    tmp_path: Path, facts: Catalog, calibration: Calibration, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluation, "_MOST_PLANS", 20)
    sweep = replace(SMALL, tp=(None, 3, 8))
    write(sweep, tmp_path / "rows.csv", facts, calibration)
    write(sweep, tmp_path / "grid.npz", facts, calibration)
    arrays = grid(tmp_path / "grid.npz")
    with (tmp_path / "rows.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0])[:10] == [*arrays["axes"], "fits", "reason"]
    assert len(rows) == sweep.points
    for row, at in zip(rows, np.ndindex(*sweep.shape), strict=True):
        places = zip(arrays["axes"], at, strict=True)
        axes = [str(arrays[name][place]) for name, place in places]
        assert [row[name] for name in arrays["axes"]] == [*axes[:4], axes[4].replace("0", "auto"), *axes[5:]]
        assert row["fits"] == ("true" if arrays["fits"][at] else "false")
        for name in WORD_COLUMNS:
            assert row[name] == arrays[f"{name}_words"][arrays[name][at]]
        for name in COUNT_COLUMNS:
            assert row[name] == (str(arrays[name][at]) if arrays["fits"][at] else "")
        for name in list_figure_columns():
            value = arrays[name][at]
            assert row[name] == "" if np.isnan(value) else float(row[name]) == float(value)


def test_no_number_of_a_row_looks_like_a_whole_number_that_it_is_not(
    tmp_path: Path, facts: Catalog, calibration: Calibration
) -> None:
    write(sweep_of(amounts=(1, 16, 256)), tmp_path / "rows.csv", facts, calibration)
    text = (tmp_path / "rows.csv").read_text(encoding="utf-8")
    assert re.search(r"\.0(,|$)", text, re.MULTILINE) is None
    assert re.search(r",\d+\.\d+,", text)
    assert "null" not in text


@pytest.mark.parametrize("suffix", [".csv", ".npz"])
@pytest.mark.parametrize("old", [b"what was there", None])
def test_stopped_halfway_nothing_has_changed(
    suffix: str,
    old: bytes | None,
    tmp_path: Path,
    facts: Catalog,
    calibration: Calibration,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(evaluation, "_MOST_PLANS", 20)
    target = tmp_path / f"sweep{suffix}"
    if old is not None:
        target.write_bytes(old)
    with closing(SweepRun(SMALL, facts, calibration, target).steps()) as steps:
        assert 0 < next(steps) < SMALL.points
    assert [file.read_bytes() for file in tmp_path.iterdir()] == ([] if old is None else [old])


def test_interrupt_leaves_nothing_behind(tmp_path: Path, facts: Catalog, calibration: Calibration) -> None:
    steps = SweepRun(SMALL, facts, calibration, tmp_path / "sweep.npz").steps()
    next(steps)
    with pytest.raises(KeyboardInterrupt):
        steps.throw(KeyboardInterrupt())
    assert list(tmp_path.iterdir()) == []


def test_folder_that_is_not_there_is_reported(tmp_path: Path, facts: Catalog, calibration: Calibration) -> None:
    target = tmp_path / "no" / "sweep.csv"
    with pytest.raises(InputError) as caught:
        list(SweepRun(SMALL, facts, calibration, target).steps())
    assert (caught.value.problem.id, caught.value.where) == ("file.unwritable", str(target))


def test_other_suffixes_are_refused(tmp_path: Path, facts: Catalog, calibration: Calibration) -> None:
    with pytest.raises(InputError) as caught:
        SweepRun(SMALL, facts, calibration, tmp_path / "sweep.xlsx")
    assert caught.value.problem.id == "sweep.format"


_MEASURED = """
import resource, sys
from gpudesk.cli.main import main
assert main(sys.argv[1:]) == 0
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def peak_memory(target: Path, *loads: str) -> int:
    """Return bytes that a process takes at most while it sweeps 4,096 cells with some loads."""
    arguments = ["--accelerators", "h200-sxm,mi325x", "--models", "llama-3.1-70b,qwen3-32b", "--weights", "fp8"]
    lengths = ["--tp", "4", "--input-tokens", "128..6328+200", "--output-tokens", "64..1614+50"]
    completed = subprocess.run(
        [sys.executable, "-c", _MEASURED, "sweep", *arguments, *lengths, *loads, "-o", str(target)],
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    return int(completed.stdout.splitlines()[-1]) * 1024


@pytest.mark.parametrize("suffix", [".csv", pytest.param(".npz", marks=pytest.mark.thorough)])
def test_a_million_points_take_little_more_memory_than_a_few(suffix: str, tmp_path: Path) -> None:
    few = peak_memory(tmp_path / f"few{suffix}", "--concurrency", "1,2")
    million = peak_memory(tmp_path / f"million{suffix}", "--concurrency", "1..256")
    # The figures alone of a million points take 96 MiB.
    assert million - few < 32 * MIB
