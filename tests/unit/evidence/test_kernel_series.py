"""The project's own measurements of an H200: readable, possible, and no worse predicted than at first."""

from __future__ import annotations

import csv
import shutil
import tomllib
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from gpudesk.catalog.read import Catalog
from gpudesk.domain.accelerator import Accelerator
from gpudesk.evidence.calibration_file import read_calibration
from gpudesk.evidence.measured_runs import read_measured_runs
from gpudesk.paths import get_built_catalog_path
from tests.unit.evidence.kernel_predictions import KernelPredictor

DATA = Path(__file__).parents[3] / "data"
SERIES = DATA / "measurements/h200-2026-11"
WORDS: Mapping[str, Any] = tomllib.loads((SERIES / "series.toml").read_text(encoding="utf-8"))

#: Rows of each file; a row that is lost or read twice shows here.
FILES = {
    "gemm": 1165,
    "experts": 405,
    "prefill-attention": 314,
    "decode-attention": 496,
    "latent-attention": 48,
    "elementwise": 151,
    "layer": 16,
    "launch": 2,
    "sustained": 55,
}
#: By how much the median error of a class may grow before it counts as worse: rounding of the series.
TOLERANCE = 0.002

Rows = list[dict[str, str]]


@pytest.fixture(scope="module")
def rows() -> Mapping[str, Rows]:
    rows_by_name = {}
    for name in FILES:
        with (SERIES / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            rows_by_name[name] = list(csv.DictReader(file, strict=True))
    return rows_by_name


@pytest.fixture(scope="module")
def part() -> Accelerator:
    with Catalog.open(get_built_catalog_path()) as catalog:
        return catalog.accelerator("h200-sxm")


def test_every_row_is_there_once_with_its_source(rows: Mapping[str, Rows]) -> None:
    assert {name: len(series_rows) for name, series_rows in rows.items()} == FILES
    every = [row for series_rows in rows.values() for row in series_rows]
    assert len({row["id"] for row in every}) == len(every)
    assert {row["source"] for row in every} == {WORDS["source"]["id"]}
    assert all(float(row["value"]) > 0.0 for row in every)


def test_every_column_metric_and_reason_is_explained(rows: Mapping[str, Rows]) -> None:
    shared = tomllib.loads((DATA / "measurements/operators.toml").read_text(encoding="utf-8"))
    columns = {name for series_rows in rows.values() for name in series_rows[0]}
    assert columns - {"metric", "value", "unit", "note"} <= set(shared["columns"]) | set(WORDS["columns"])
    metrics = {row["metric"] for series_rows in rows.values() for row in series_rows}
    assert metrics <= set(shared["metrics"]) | set(WORDS["metrics"])
    reasons = {row["unused"] for series_rows in rows.values() for row in series_rows} - {""}
    assert reasons <= set(WORDS["unused"])


def test_no_row_reads_faster_than_the_memory(rows: Mapping[str, Rows], part: Accelerator) -> None:
    for row in rows["gemm"]:
        width = 2 if row["precision"] == "bf16" else 1
        matrix = width * int(row["n"]) * int(row["k"])
        assert row["unused"] or matrix / float(row["value"]) < part.memory_bandwidth, row["id"]
    for row in rows["decode-attention"]:
        elements = 2 * int(row["kv_heads"]) * int(row["head_dim"]) * int(row["batch"]) * int(row["context"])
        cache = elements * (2 if row["kv_precision"] == "bf16" else 1)
        assert row["unused"] or cache / float(row["value"]) < part.memory_bandwidth, row["id"]


@pytest.mark.parametrize(
    "bar", WORDS["classes"], ids=lambda bar: f"{bar['file']} {bar['kernel']} {bar.get('scheme', '')}"
)
def test_no_class_is_predicted_worse_than_at_first(
    rows: Mapping[str, Rows], part: Accelerator, bar: Mapping[str, Any]
) -> None:
    predictor = KernelPredictor(part, read_calibration(DATA / "calibration.json"))
    errors = []
    for row in rows[bar["file"]]:
        precision = row.get("precision", row.get("kv_precision", ""))
        same = (row["kernel"], precision, row.get("scheme", ""))
        seconds = float(row["value"])
        if same != (bar["kernel"], bar.get("precision", ""), bar.get("scheme", "")) or row["unused"]:
            continue
        if seconds >= WORDS["predictions"]["least_s"]:
            ratio = seconds / predictor.predict(bar["file"], row)
            errors.append(max(ratio, 1.0 / ratio))
    assert len(errors) == bar["rows"]
    assert median(errors) <= bar.get("bar", bar["error"]) + TOLERANCE


def test_runs_are_read_like_published_ones(tmp_path: Path) -> None:
    for name in ("aliases.toml", "metrics.toml", "unused.toml"):
        shutil.copy(DATA / "measurements" / name, tmp_path)
    aliases = (tmp_path / "aliases.toml").read_text(encoding="utf-8")
    (tmp_path / "aliases.toml").write_text(
        aliases.replace("[models]\n", '[models]\n"DeepSeek-V2-Lite" = "deepseek-v2-lite"\n', 1), encoding="utf-8"
    )
    with (tmp_path / "unused.toml").open("a", encoding="utf-8") as file:
        file.write(f'compiling = "{WORDS["unused"]["compiling"]}"\n')
    shutil.copy(SERIES / "runs.csv", tmp_path / "runs-h200.csv")
    read = read_measured_runs(tmp_path)
    assert len(read.used) == 29
    assert len(read.unused) == 6
    with (SERIES / "predicted-runs.csv").open(encoding="utf-8", newline="") as file:
        predicted = {row["run"]: row for row in csv.DictReader(file)}
    assert {run.id for run in read.used} == {run for run, row in predicted.items() if not row["unused"]}
    for run in read.used:
        for name, value in run.figures.items():
            assert float(predicted[run.id][f"{name}_measured"]) == value
