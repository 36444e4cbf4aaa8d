"""Single operators: reading the measured rows, the robust fit, and what the rows give."""

from __future__ import annotations

import csv
import math
import tomllib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest

from calibration.operator_constants import OperatorFit, fit_operators
from calibration.operator_runs import (
    AttentionRun,
    CollectiveRun,
    GemmRun,
    KernelRun,
    OperatorFileError,
    OperatorRuns,
    read_operator_runs,
)
from calibration.robust_fit import LogNormalPrior, OperatorConstant, fit_robust
from gpudesk.catalog.read import Catalog
from gpudesk.domain.accelerator import Accelerator
from gpudesk.domain.precision import Precision
from gpudesk.engine.calibration import CONSTANT_KEYS, ConstantKeys
from gpudesk.evidence.calibration_file import read_calibration
from gpudesk.paths import get_built_catalog_path

DATA = Path(__file__).parents[3] / "data"
MEASUREMENTS = DATA / "measurements"

#: Rows of each file; a row that is lost or read twice shows here.
FILES = {
    "gemm": 1759,
    "attention": 404,
    "collectives": 447,
    "bandwidth": 34,
    "experts": 2625,
    "prefill": 1202,
    "latent": 610,
}

PART = Accelerator(
    id="part",
    name="Part",
    vendor="NVIDIA",
    generation="made-up",
    announced=False,
    platform="CUDA",
    memory_bytes=10**11,
    memory_bandwidth=2e12,
    scale_up_bandwidth=800e9,
    scale_up_domain=8,
    peak_dense=MappingProxyType({"bf16": 5e14, "fp8": 1e15}),
)


@pytest.fixture(scope="module")
def accelerators() -> Mapping[str, Accelerator]:
    with Catalog.open(get_built_catalog_path()) as catalog:
        return {part.id: part for part in catalog.accelerators()}


@pytest.fixture(scope="module")
def rows(accelerators: Mapping[str, Accelerator]) -> OperatorRuns:
    return read_operator_runs(MEASUREMENTS, accelerators)


@pytest.fixture(scope="module")
def fitted(rows: OperatorRuns) -> OperatorFit:
    return fit_operators(rows)


def gemm(m: int, n: int, seconds: float, precision: Precision = Precision.BF16) -> GemmRun:
    return GemmRun("G", "bench", PART, "vLLM", None, precision, "", m, n, 8192, False, seconds)


def make_runs(gemms: tuple[GemmRun, ...] = (), attention: tuple[AttentionRun, ...] = ()) -> OperatorRuns:
    return OperatorRuns(gemms, attention, (), (), {"vLLM": "vllm"})


def rows_of_kernels(rows: OperatorRuns) -> tuple[tuple[KernelRun, ...], ...]:
    return rows.experts, rows.prompts, rows.latent


def get_only(constants: tuple[OperatorConstant, ...]) -> OperatorConstant:
    (entry,) = constants
    return entry


class TestFiles:
    """Every row of the files is read, and what cannot be read says where it stands."""

    def test_every_row_is_read_once(self, rows: OperatorRuns) -> None:
        sizes = (rows.gemm, rows.attention, rows.collectives, rows.bandwidth, *rows_of_kernels(rows))
        assert [len(size) for size in sizes] == list(FILES.values())
        assert len({row.id for row in rows.all}) == sum(FILES.values())

    def test_every_source_is_described(self, rows: OperatorRuns) -> None:
        sources = tomllib.loads((DATA / "sources/operators.toml").read_text(encoding="utf-8"))["sources"]
        assert {row.source for row in rows.all} == set(sources)

    def test_every_reason_metric_and_column_is_explained_and_occurs(self) -> None:
        words = tomllib.loads((MEASUREMENTS / "operators.toml").read_text(encoding="utf-8"))
        metrics: set[str] = set()
        reasons: set[str] = set()
        columns: set[str] = set()
        for kind in FILES:
            with (MEASUREMENTS / f"operators-{kind}.csv").open(encoding="utf-8", newline="") as file:
                for row in csv.DictReader(file):
                    metrics.add(row["metric"])
                    reasons.add(row["unused"])
                    columns |= row.keys()
        assert metrics == set(words["metrics"])
        assert reasons - {""} == set(words["unused"])
        assert columns - set(words["columns"]) == {"metric", "value", "unit", "note"}

    def test_ranks_divide_the_rows_of_experts_as_the_calibration_says(self, rows: OperatorRuns) -> None:
        calibration = read_calibration(DATA / "calibration.json")
        for row in rows.experts:
            keys = ConstantKeys(
                generation=None if row.part is None else row.part.generation,
                precision=row.precision,
                serving_engine=rows.serving_engines.get(row.kernels),
            )
            assert row.routing_divided == bool(calibration.value("routing_divided", keys)), row.id

    def test_rows_that_are_fitted_stay_below_what_the_part_can_do(self, rows: OperatorRuns) -> None:
        for row in rows.gemm:
            if row.unused is None and row.part is not None:
                assert row.moved_bytes / row.seconds < 1.01 * row.part.memory_bandwidth, row.id
        for run in rows.attention:
            if run.unused is None and run.part is not None:
                assert run.cache_bytes / run.seconds < run.part.memory_bandwidth, run.id

    def test_a_part_that_the_catalog_lacks_is_kept_with_the_reason(self, rows: OperatorRuns) -> None:
        assert {row.unused for row in rows.all if row.part is None} == {"not-in-catalog"}

    def test_units_are_si(self, rows: OperatorRuns) -> None:
        by_id = {row.id: row for row in rows.all}
        product, reduce = by_id["AIC0222"], by_id["AIC0103"]
        assert isinstance(product, GemmRun)
        assert (product.m, product.n, product.k, product.seconds) == (1, 65536, 8192, 362.422e-6)
        assert isinstance(reduce, CollectiveRun)
        assert (reduce.ranks, reduce.size_bytes, reduce.seconds) == (2, 32768, 12.78e-6)

    def test_a_bus_bandwidth_becomes_the_seconds_of_the_call(self, rows: OperatorRuns) -> None:
        (row,) = (row for row in rows.collectives if row.id == "AZB0111")
        assert row.seconds == pytest.approx(2 * 7 / 8 * 2**33 / 316.82e9)

    @pytest.mark.parametrize(
        ("old", "new", "problem"),
        [
            (",kernel_time,", ",latency,", "metric is 'latency'"),
            (",1.2278e-5,", ",-1,", "value is '-1', not a finite number above 0"),
            (",1.2278e-5,", ",quick,", "value is 'quick', not a number"),
            (",16,2048,", ",16.5,2048,", "batch is '16.5', not a whole number above 0"),
            (",bf16,", ",wide,", "kv_precision is 'wide', which is no precision"),
            ("Part A", "Part B", "nothing in the catalog is called 'Part B'"),
            (",s,,", ",s,guess,", "operators.toml does not explain 'guess'"),
        ],
    )
    def test_unreadable_row_is_reported_with_number_and_reason(
        self, tmp_path: Path, old: str, new: str, problem: str
    ) -> None:
        for file in MEASUREMENTS.glob("operators-*.csv"):
            header = file.read_text(encoding="utf-8").splitlines()[0]
            (tmp_path / file.name).write_text(f"{header}\n", encoding="utf-8")
        (tmp_path / "operators.toml").write_text("[unused]\n[serving_engines]\n", encoding="utf-8")
        (tmp_path / "aliases.toml").write_text('[accelerators]\n"Part A" = "part"\n', encoding="utf-8")
        line = "X1,bench,Part A,vLLM,1,bf16,16,2048,64,8,128,kernel_time,1.2278e-5,s,,\n"
        target = tmp_path / "operators-attention.csv"
        target.write_text(target.read_text(encoding="utf-8") + line.replace(old, new), encoding="utf-8")
        with pytest.raises(OperatorFileError) as raised:
            read_operator_runs(tmp_path, {"part": PART})
        assert str(raised.value).startswith("operators-attention.csv, row X1: ")
        assert problem in str(raised.value)


class TestFit:
    """The fit finds what made the times, and says how sure it is."""

    def test_finds_the_constants_that_made_the_times_despite_bad_rows(self) -> None:
        runs = [
            gemm(m, n, _product_seconds(m, n, read=0.8, work=0.6, call=6e-6))
            for m in (1, 16, 64, 256, 1024, 4096)
            for n in (4096, 16384, 65536)
        ]
        runs[4] = gemm(runs[4].m, runs[4].n, 5.0 * runs[4].seconds)
        fit = fit_operators(make_runs(tuple(runs)))
        assert get_only(fit.find("weight_read_efficiency", generation="made-up", precision="bf16")).value == (
            pytest.approx(0.8, rel=0.02)
        )
        assert get_only(fit.find("gemm_efficiency", generation="made-up", precision="fp16")).value == (
            pytest.approx(0.6, rel=0.02)
        )
        time = get_only(fit.find("gemm_time", generation="made-up", precision="bf16", serving_engine="vllm"))
        assert time.value == pytest.approx(6e-6, rel=0.1)

    def test_what_the_rows_leave_open_gets_no_entry(self) -> None:
        large = tuple(gemm(8192, n, _product_seconds(8192, n, 0.8, 0.6, 6e-6)) for n in (8192, 16384, 32768))
        fit = fit_operators(make_runs(large))
        assert [entry.constant for entry in fit.entries] == ["gemm_efficiency"]

    def test_scatter_between_clusters_widens_the_error(self) -> None:
        measured = np.array([1.0, 1.0, 1.0, 1.3, 1.3, 1.3])
        beliefs = [LogNormalPrior(1.0, 1.0)]

        def constant(values: np.ndarray) -> np.ndarray:
            return np.repeat(values, 6)

        apart = fit_robust(constant, measured, beliefs, clusters=range(6), series=range(6))
        together = fit_robust(constant, measured, beliefs, clusters=[0, 0, 0, 1, 1, 1], series=range(6))
        assert together.values == pytest.approx(apart.values)
        assert together.errors[0] > 1.3 * apart.errors[0]

    def test_a_long_series_does_not_outvote_a_short_one(self) -> None:
        measured = np.array([1.0, *[1.05] * 16])
        series = ["short", *["long"] * 16]
        solution = fit_robust(
            lambda values: np.repeat(values, 17), measured, [LogNormalPrior(1.0, 9.0)], clusters=series, series=series
        )
        assert np.log(solution.values[0]) == pytest.approx(0.8 * np.log(1.05), abs=0.003)

    def test_is_deterministic(self, rows: OperatorRuns, fitted: OperatorFit) -> None:
        assert fit_operators(rows) == fitted


def _product_seconds(m: int, n: int, read: float, work: float, call: float) -> float:
    row = gemm(m, n, 1.0)
    busy_read = row.moved_bytes / (PART.memory_bandwidth * read)
    busy_work = row.flops / (PART.peak_dense["bf16"] * work)
    return call + math.hypot(busy_read, busy_work)


class TestMeasured:
    """What the rows of data/measurements/ give."""

    def test_every_row_is_counted(self, fitted: OperatorFit) -> None:
        assert fitted.used + fitted.unused == sum(FILES.values())

    def test_entries_are_named_by_keys_of_the_calibration(self, fitted: OperatorFit) -> None:
        names = [
            (entry.constant, entry.kernels, entry.variant, *sorted(entry.where.items())) for entry in fitted.entries
        ]
        assert len(set(names)) == len(names)
        assert {key for entry in fitted.entries for key in entry.where} <= set(CONSTANT_KEYS)

    def test_entries_are_plausible(self, fitted: OperatorFit) -> None:
        for entry in fitted.entries:
            assert entry.rows > 0, entry
            assert 0.02 <= entry.sigma < 0.5, entry
            # A switch that sums on the way beats the bytes of a ring, and a narrow latent cache the 16-bit peak.
            most = {"link_efficiency": 1.1, "decode_attention_efficiency": 2.0}
            if entry.constant.endswith("_efficiency"):
                assert 0.0 < entry.value < most.get(entry.constant, 1.0), entry

    @pytest.mark.parametrize(
        ("constant", "kernels", "variant", "keys", "low", "high"),
        [
            ("weight_read_efficiency", "", "", {"generation": "hopper", "precision": "bf16"}, 0.82, 0.90),
            ("weight_read_efficiency", "", "", {"generation": "blackwell", "precision": "bf16"}, 0.80, 0.88),
            (
                "weight_read_efficiency",
                "TensorRT-LLM",
                "block",
                {"generation": "hopper", "precision": "fp8", "serving_engine": "tensorrt-llm"},
                0.86,
                0.95,
            ),
            ("gemm_efficiency", "", "tensor", {"generation": "hopper", "precision": "fp8"}, 0.63, 0.71),
            ("gemm_efficiency", "", "tensor", {"generation": "cdna3", "precision": "fp8"}, 0.40, 0.47),
            ("gemm_efficiency", "", "ceiling", {"generation": "cdna4", "precision": "bf16"}, 0.45, 0.68),
            ("kv_read_efficiency", "vLLM", "", {"generation": "hopper", "precision": "bf16"}, 0.85, 0.93),
            ("stream_efficiency", "", "read", {"generation": "hopper"}, 0.93, 0.97),
            ("stream_efficiency", "", "", {"generation": "cdna3"}, 0.75, 0.81),
        ],
    )
    def test_shares_of_the_peak(
        self,
        fitted: OperatorFit,
        constant: str,
        kernels: str,
        variant: str,
        keys: dict[str, str],
        low: float,
        high: float,
    ) -> None:
        assert low < get_only(fitted.find(constant, kernels, variant, **keys)).value < high

    @pytest.mark.parametrize(
        ("constant", "kernels", "keys", "low", "high"),
        [
            ("allreduce_latency", "TensorRT-LLM", {"generation": "hopper", "ranks": "2"}, 2e-6, 3.5e-6),
            ("allreduce_latency", "TensorRT-LLM", {"generation": "blackwell", "ranks": "8"}, 5e-6, 7e-6),
            ("direct_efficiency", "TensorRT-LLM", {"generation": "hopper", "ranks": "8"}, 0.5, 0.65),
            ("direct_efficiency", "TensorRT-LLM", {"generation": "blackwell", "ranks": "4"}, 0.65, 0.8),
            ("ring_latency", "NCCL", {"generation": "hopper", "ranks": "4"}, 9e-6, 14e-6),
            ("ring_latency", "RCCL", {"generation": "cdna3", "ranks": "8"}, 45e-6, 65e-6),
        ],
    )
    def test_both_ways_of_an_all_reduce(
        self, fitted: OperatorFit, constant: str, kernels: str, keys: dict[str, str], low: float, high: float
    ) -> None:
        where = {"link": "scale-up", "serving_engine": "tensorrt-llm", **keys}
        entry = get_only(fitted.find(constant, kernels, **where))
        assert low < entry.value < high
        assert entry.median_error < 0.15

    def test_cards_over_pcie_share_the_lanes_of_their_host(self, fitted: OperatorFit) -> None:
        shares = [
            get_only(fitted.find("link_efficiency", "NCCL", generation="ada", link="pcie", ranks=ranks)).value
            for ranks in ("2", "4", "8")
        ]
        assert shares == sorted(shares, reverse=True)
        assert shares[0] > 5.0 * shares[2]
