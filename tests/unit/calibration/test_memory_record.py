"""How far the memory of the program is from what serving engines print of theirs."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable

import numpy as np
import pytest

from calibration.memory_measurements import CACHE_METRICS, MemoryFileError, MemoryMeasurement, read_memory_measurements
from calibration.runs import judge_memory_rows
from gpudesk.catalog.read import Catalog
from gpudesk.engine.calibration import Calibration
from tests.unit.conftest import DATA

MEASUREMENTS = DATA / "measurements"
#: Rows whose figure is off by more, and why that is left so.
KNOWN = {
    "MEM0002": "Version 0.2 kept what its first collectives took.",
    "MEM0029": "Marlin kernels take 1.4 GiB more than Triton's, which the program takes to run.",
}


@pytest.fixture(scope="module")
def rows() -> tuple[MemoryMeasurement, ...]:
    return read_memory_measurements(MEASUREMENTS)


@pytest.fixture(scope="module")
def ratios(rows: tuple[MemoryMeasurement, ...], facts: Catalog, calibration: Calibration) -> dict[str, float]:
    return {each.row.id: each.ratio for each in judge_memory_rows(rows, facts, calibration)}


def _of(rows: Iterable[MemoryMeasurement], ratios: dict[str, float], *metrics: str) -> dict[str, float]:
    return {row.id: ratios[row.id] for row in rows if row.metric in metrics and row.id in ratios}


def test_room_for_the_cache_is_that_of_the_logs(rows: tuple[MemoryMeasurement, ...], ratios: dict[str, float]) -> None:
    ratios_of_metric = _of(rows, ratios, *CACHE_METRICS)
    assert len(ratios_of_metric) >= 23
    off = np.abs(np.log(list(ratios_of_metric.values())))
    assert np.exp(np.median(off)) < 1.03
    assert np.exp(np.quantile(off, 0.9)) < 1.15
    assert (
        0.97 < np.exp(np.mean(np.log([ratio for name, ratio in ratios_of_metric.items() if name not in KNOWN]))) < 1.03
    )
    assert {name for name, ratio in ratios_of_metric.items() if not 0.88 < ratio < 1.13} == set(KNOWN)


def test_no_serving_engine_is_off_one_way(rows: tuple[MemoryMeasurement, ...], ratios: dict[str, float]) -> None:
    engines = {row.id: row.request.serving_engine for row in rows}
    ratios_of_metric = _of(rows, ratios, *CACHE_METRICS)
    for engine in ("vllm", "sglang", "tensorrt-llm"):
        of_it = [np.log(ratio) for name, ratio in ratios_of_metric.items() if engines[name] == engine]
        assert abs(np.median(of_it)) < 0.07, engine


@pytest.mark.parametrize(("metric", "most"), [("weights", 0.08), ("activations", 0.04), ("driver_memory", 0.02)])
def test_the_parts_of_memory_are_those_of_the_logs(
    rows: tuple[MemoryMeasurement, ...], ratios: dict[str, float], metric: str, most: float
) -> None:
    ratios_of_metric = _of(rows, ratios, metric)
    assert len(ratios_of_metric) >= 4
    assert {name: ratio for name, ratio in ratios_of_metric.items() if abs(ratio - 1.0) > most} == {}


def test_every_source_and_reason_is_reported(rows: tuple[MemoryMeasurement, ...]) -> None:
    reasons: set[str] = set()
    for name in ("memory", "serving_engines"):
        content = (DATA / "sources" / f"{name}.toml").read_text(encoding="utf-8")
        reasons |= set(tomllib.loads(content)["sources"])
    assert {row.source for row in rows} <= reasons
    words = tomllib.loads((MEASUREMENTS / "memory.toml").read_text(encoding="utf-8"))
    assert {row.unused for row in rows} - {None} == set(words["unused"])
    assert {row.metric for row in rows} == set(words["metrics"])
    assert set(KNOWN) <= {row.id for row in rows}


@pytest.mark.parametrize(
    ("row_text", "wrong", "message"),
    [
        (",cache,53.29,GiB,", ",cash,53.29,GiB,", "memory.toml does not know 'cash'"),
        (",cache,53.29,GiB,", ",cache,53.29,GB,", "is 'GB', the metric has another"),
        (",cache,53.29,GiB,", ",cache,0,GiB,", "'0' is not above zero"),
        ("MEM0006,", "MEM0005,", "MEM0005 is there twice"),
        ("MEM0006,vllm-pull-10511,2024-12,H100 SXM 80GB", "MEM0006,vllm-pull-10511,2024-12,H100 XL", "'H100 XL'"),
    ],
)
def test_a_row_that_cannot_be_read_is_named(
    tmp_path_factory: pytest.TempPathFactory, row_text: str, wrong: str, message: str
) -> None:
    folder = tmp_path_factory.mktemp("memory")
    for name in ("memory.toml", "aliases.toml"):
        (folder / name).write_bytes((MEASUREMENTS / name).read_bytes())
    content = (MEASUREMENTS / "memory.csv").read_text(encoding="utf-8")
    assert row_text in content
    (folder / "memory.csv").write_text(content.replace(row_text, wrong), encoding="utf-8")
    with pytest.raises(MemoryFileError) as raised:
        read_memory_measurements(folder)
    assert message in str(raised.value)
    assert "line 7" in str(raised.value)
