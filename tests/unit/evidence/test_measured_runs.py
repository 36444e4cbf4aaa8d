"""The published runs: all there, read in SI figures, and refused with file and line where a row is wrong."""

from __future__ import annotations

import csv
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from catalog_build.writer import build_catalog
from gpudesk import paths
from gpudesk.catalog.read import Catalog
from gpudesk.domain.estimate import Load, LoadKind
from gpudesk.domain.precision import Precision
from gpudesk.estimation.estimator import Estimator
from gpudesk.evidence.calibration_file import read_calibration
from gpudesk.evidence.measured_runs import (
    MeasuredRun,
    MeasuredRunSet,
    MeasurementsError,
    list_run_files,
    read_measured_runs,
)
from gpudesk.text.messages import InputError

#: Rows of each file: all, and those that are used.
ROWS = {
    "runs-accelmark.csv": (124, 95),
    "runs-amd-pages.csv": (30, 30),
    "runs-amd.csv": (120, 120),
    "runs-argonne.csv": (56, 56),
    "runs-azure.csv": (17, 17),
    "runs-cloudrift.csv": (117, 117),
    "runs-dennislee22.csv": (39, 26),
    "runs-dstack-llama-405b.csv": (51, 49),
    "runs-dstack.csv": (459, 150),
    "runs-further.csv": (29, 26),
    "runs-gpustack-further.csv": (396, 340),
    "runs-gpustack.csv": (468, 359),
    "runs-inferencex-threads.csv": (171, 154),
    "runs-inferencex.csv": (182, 81),
    "runs-intel.csv": (19, 0),
    "runs-iog.csv": (22, 21),
    "runs-later-publishers.csv": (301, 219),
    "runs-later-threads.csv": (74, 74),
    "runs-mlperf-v4.1.csv": (360, 200),
    "runs-mlperf-v5.1.csv": (560, 398),
    "runs-mlperf-v6.0.csv": (625, 372),
    "runs-mlperf-v6.1.csv": (30, 21),
    "runs-new-publishers.csv": (187, 116),
    "runs-nim.csv": (312, 312),
    "runs-others.csv": (62, 44),
    "runs-qwen.csv": (75, 73),
    "runs-repositories-further.csv": (255, 187),
    "runs-repositories.csv": (105, 85),
    "runs-sglang-cookbook-further.csv": (216, 135),
    "runs-sglang-cookbook.csv": (167, 124),
    "runs-sglang.csv": (124, 98),
    "runs-shaamil101.csv": (28, 28),
    "runs-tensorrt-llm-bench.csv": (989, 989),
    "runs-tensorrt-llm-online.csv": (216, 173),
    "runs-tensorrt-llm-pages.csv": (53, 53),
    "runs-tensorrt-llm-static.csv": (378, 350),
    "runs-threads.csv": (44, 42),
    "runs-vllm-threads.csv": (13, 13),
}


@pytest.fixture(scope="module")
def measured() -> MeasuredRunSet:
    return read_measured_runs(paths.get_data_path("measurements"))


@pytest.fixture(scope="module")
def run(measured: MeasuredRunSet) -> Callable[[str], MeasuredRun]:
    by_id = {each.id: each for each in measured.used}
    return by_id.__getitem__


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Catalog]:
    path = tmp_path_factory.mktemp("catalog") / "catalog.sqlite"
    build_catalog(paths.get_data_path("measurements").parent, path)
    with Catalog.open(path) as opened:
        yield opened


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the tables of the project and no runs."""
    for table in paths.get_data_path("measurements").glob("*.toml"):
        shutil.copy(table, tmp_path)
    return tmp_path


def rows_of(name: str) -> list[dict[str, str]]:
    """Read a file of runs without the program's reader."""
    with (paths.get_data_path("measurements") / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, strict=True))


def write(folder: Path, rows: list[dict[str, str]]) -> None:
    with (folder / "runs-test.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def a_row(**changed: str) -> dict[str, str]:
    return rows_of("runs-cloudrift.csv")[0] | changed


def test_all_rows_are_there(measured: MeasuredRunSet) -> None:
    files = {path.name: rows_of(path.name) for path in list_run_files(paths.get_data_path("measurements"))}
    counts = {name: (len(rows), sum(not row["unused"] for row in rows)) for name, rows in files.items()}
    assert counts == ROWS
    read = [figure.row for each in measured.used for figure in each.measured.values()]
    read += [row.id for row in measured.unused]
    assert sorted(read) == sorted(row["id"] for rows in files.values() for row in rows)
    assert len(read) == len(set(read)) == 7474


def test_runs_share_an_empty_set(measured: MeasuredRunSet) -> None:
    """Each of its own takes 216 bytes, 0.8 MB of all runs."""
    assert len({id(run.assumed) for run in measured.used if not run.assumed}) == 1


def test_every_reason_is_used_and_every_row_has_one(measured: MeasuredRunSet) -> None:
    assert {row.reason for row in measured.unused} == measured.reasons.keys()


def test_names_are_those_of_the_catalog(measured: MeasuredRunSet, catalog: Catalog) -> None:
    parts = {part.id for part in catalog.accelerators()}
    models = {model.id for model in catalog.models()}
    engines = {engine.id for engine in catalog.serving_engines()}
    for each in measured.used:
        request = each.request
        assert request.accelerator in parts, each.id
        assert request.model in models, each.id
        assert request.serving_engine in engines, each.id


def test_sources_of_measured_runs_are_in_the_catalog(measured: MeasuredRunSet, catalog: Catalog) -> None:
    ids = {source.id for source in catalog.sources()}
    named = {each.source for each in measured.used} | {row.source for row in measured.unused}
    assert named <= ids


def test_every_measured_run_fits_its_accelerators(measured: MeasuredRunSet, catalog: Catalog) -> None:
    estimator = Estimator(catalog, read_calibration(paths.get_data_path("calibration.json")))
    answers = estimator.estimate_many([each.request for each in measured.used])
    refused = [
        each.id
        for each, answer in zip(measured.used, answers, strict=True)
        if isinstance(answer, InputError) or not answer.fits
    ]
    assert refused == []


def test_figures_measured_together_are_one_run(run: Callable[[str], MeasuredRun]) -> None:
    server = run("MLP0365")
    assert {name: figure.row for name, figure in server.measured.items()} == {
        "output_tokens_per_s": "MLP0365",
        "ttft_ms": "MLP0366",
        "tpot_ms": "MLP0367",
    }
    assert server.request.workload.load == Load(LoadKind.LIMITS, ttft_ms=2000.0, tpot_ms=200.0)
    assert server.assumed >= {"input_tokens", "kv"}
    assert server.series == "mlperf-amd"


def test_static_batch_becomes_a_rate(run: Callable[[str], MeasuredRun]) -> None:
    batch = run("MAN0009")
    assert batch.request.workload.load == Load(LoadKind.BATCH, batch=1)
    assert batch.figures == {"output_tokens_per_s": pytest.approx(2048 / 19.08859)}


def test_rate_of_one_accelerator_becomes_that_of_all(run: Callable[[str], MeasuredRun]) -> None:
    rows = {row["id"]: row for row in rows_of("runs-tensorrt-llm-static.csv")}
    for name, count in (("TRTO0067", 2), ("TRTO0091", 4), ("TRTO0087", 1)):
        measured_run = run(name)
        assert measured_run.request.count == count
        assert measured_run.figures["output_tokens_per_s"] == pytest.approx(float(rows[name]["value"]) * count)


def test_input_tokens_are_taken_off_a_total(run: Callable[[str], MeasuredRun]) -> None:
    rows = {row["id"]: row for row in rows_of("runs-dstack.csv")}
    measured_run = run("DST0164")
    assert measured_run.request.workload.load == Load(LoadKind.SATURATE, requests=1024)
    assert measured_run.request.workload.eager
    assert measured_run.figures["output_tokens_per_s"] == pytest.approx(float(rows["DST0164"]["value"]) * 800 / 4000)


def test_plan_is_left_open_where_the_source_is(run: Callable[[str], MeasuredRun]) -> None:
    without = run("MLP1199").request
    assert (without.tp, without.pp, without.ep, without.dp, without.attention_dp) == (None,) * 5
    request = run("GPS0070").request
    assert (request.tp, request.ep, request.dp, request.attention_dp) == (8, 1, 1, True)


def test_mixtures_with_a_known_plan_show_where_their_experts_are(measured: MeasuredRunSet) -> None:
    vllm = [each.request for each in measured.used if each.series in ("gpustack", "cloudrift")]
    mixtures = [request for request in vllm if request.ep is not None]
    assert mixtures
    assert all(request.attention_dp is not None for request in mixtures)


def test_formats_are_those_that_ran(run: Callable[[str], MeasuredRun], measured: MeasuredRunSet) -> None:
    assert run("GPS0130").request.weights is Precision.MXFP4
    weights = {"mi355x": Precision.MXFP4, "b200-hgx": Precision.NVFP4}
    for part, expected in weights.items():
        llamas = {
            each.request.weights
            for each in measured.used
            if each.request.accelerator == part and each.request.model == "llama-2-70b"
        }
        assert llamas - {Precision.FP8} == {expected}


def test_no_figure_is_far_outside_of_what_machines_do(measured: MeasuredRunSet) -> None:
    for each in measured.used:
        count = each.request.count
        assert count is not None
        rate = each.figures.get("output_tokens_per_s")
        # Prompts of 100,000 tokens for ten of answer leave few a second.
        assert rate is None or 0.04 < rate / count < 60_000, each.id
        assert each.figures.get("tpot_ms", 10.0) > 1.0, each.id
        assert each.figures.get("ttft_ms", 10.0) > 3.0, each.id


def test_assumptions_name_columns_with_a_value() -> None:
    for path in list_run_files(paths.get_data_path("measurements")):
        for row in rows_of(path.name):
            assert all(row[name] for name in filter(None, row["assumed"].split(";"))), row["id"]


def test_revision_follows_the_files(folder: Path) -> None:
    write(folder, [a_row()])
    before = read_measured_runs(folder).revision
    assert read_measured_runs(folder).revision == before
    write(folder, [a_row(value="100")])
    assert read_measured_runs(folder).revision != before


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"value": "fast"}, "value: 'fast' is not a number"),
        ({"value": "-1"}, "value: '-1' is not above zero"),
        ({"value": "nan"}, "value: 'nan' is not above zero"),
        ({"unit": "ms"}, "unit: is 'ms', the metric has 'tok/s'"),
        ({"metric": "speed"}, "metric: metrics.toml does not know 'speed'"),
        ({"metric": "requests_per_s", "unit": "requests/s"}, "'requests_per_s' is no figure of an estimate"),
        ({"accelerator": "H300"}, "accelerator: aliases.toml does not know 'H300'"),
        ({"accelerator": "H800"}, "accelerator: 'H800' is not in the catalog, so the row cannot be used"),
        ({"unused": "boring"}, "unused: unused.toml does not know 'boring'"),
        ({"assumed": "color"}, "assumed: 'color' is no column, or is empty"),
        ({"assumed": "eager;max_batch", "max_batch": ""}, "assumed: 'max_batch' is no column, or is empty"),
        ({"weights": "fp7"}, "weights: 'fp7' is none of fp16"),
        ({"count": "2.5"}, "count: '2.5' is no whole number of at least 1"),
        ({"date": "2025"}, "date: '2025' is no month (YYYY-MM)"),
        ({"load": "limits", "ttft_limit_ms": ""}, "ttft_limit_ms: '' is not a number"),
        ({"load": "much"}, "load: 'much' is none of batch"),
        ({"server": "yes"}, "server: 'yes' is none of true, false"),
        ({"source": ""}, "source: is empty"),
        (
            {"metric": "mean_tpot_ms", "unit": "ms", "output_tokens": "4"},
            "output_tokens: a time of an output token needs 8 of them",
        ),
    ],
)
def test_wrong_row_is_refused_with_file_and_line(folder: Path, changed: dict[str, str], problem: str) -> None:
    write(folder, [a_row(id="X1", run="X1"), a_row(id="X2", run="X2", **changed)])
    with pytest.raises(MeasurementsError) as caught:
        read_measured_runs(folder)
    assert len(caught.value.problems) == 1
    assert caught.value.problems[0].startswith("runs-test.csv, line 3: ")
    assert problem in str(caught.value)


def test_rows_of_a_run_agree_and_differ_in_their_figure(folder: Path) -> None:
    write(folder, [a_row(id="X1", run="X1"), a_row(id="X2", run="X1"), a_row(id="X3", run="X1", tp="2")])
    with pytest.raises(MeasurementsError) as caught:
        read_measured_runs(folder)
    assert caught.value.problems == (
        f"runs-test.csv, line 4: tp: is '2', but '{a_row()['tp']}' in line 2 of the same run",
        "runs-test.csv, line 2: metric: the run has two figures for output_tokens_per_s",
    )


def test_row_that_is_there_twice_is_refused(folder: Path) -> None:
    write(folder, [a_row(id="X1", run="X1"), a_row(id="X1", run="X1")])
    with pytest.raises(MeasurementsError, match="line 3: id: X1 is there twice"):
        read_measured_runs(folder)


def test_run_in_two_files_is_refused(folder: Path) -> None:
    write(folder, [a_row(id="X1", run="X1"), a_row(id="X2", run="X2")])
    (folder / "runs-test.csv").rename(folder / "runs-a.csv")
    write(folder, [a_row(id="X3", run="X1")])
    with pytest.raises(MeasurementsError, match=r"runs-test\.csv, line 2: run: X1 is in another file too"):
        read_measured_runs(folder)


def test_other_columns_are_refused(folder: Path) -> None:
    write(folder, [{"id": "X1", "value": "3"}])
    with pytest.raises(MeasurementsError, match=r"runs-test\.csv, line 1: the columns are not those"):
        read_measured_runs(folder)


def test_row_with_a_cell_too_few_is_refused(folder: Path) -> None:
    write(folder, [a_row()])
    file = folder / "runs-test.csv"
    file.write_text(file.read_text(encoding="utf-8") + "X9,X9\n", encoding="utf-8")
    with pytest.raises(MeasurementsError, match="line 3: has 2 cells, not 41"):
        read_measured_runs(folder)


def test_series_are_folds_of_some_size(measured: MeasuredRunSet) -> None:
    runs = Counter(each.series for each in measured.used)
    assert sum(runs.values()) == 3623
    assert runs["trt-bench"] == 1031
    assert runs["mlperf-amd"] == 65
    assert runs["sglang-cookbook"] == 153
