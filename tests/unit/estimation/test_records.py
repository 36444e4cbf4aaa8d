"""Records next to an estimate: the nearest published figures with what was said of them unseen."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from gpudesk import paths
from gpudesk.catalog.read import Catalog
from gpudesk.domain.deployment_analysis import ComparableRun, RunCondition
from gpudesk.domain.estimate import DisaggregationRequest, Estimate, EstimateRequest, Load, LoadKind
from gpudesk.engine.calibration import Calibration
from gpudesk.estimation.estimator import Estimator
from gpudesk.estimation.published_runs import (
    NEAR_DISTANCE,
    RECORD_FOLD,
    HeldOutFigure,
    PublishedRunTable,
    list_assumed_conditions,
    read_held_out,
    read_published_runs,
    write_held_out,
)
from gpudesk.evidence.measured_runs import MeasuredRun, read_measured_runs
from gpudesk.service import GpuDeskService
from gpudesk.text.messages import InputError, format_input_error
from tests.fakes import replace_data_path
from tests.unit.domain.asking import ask, closed

Records = Callable[[EstimateRequest, str], tuple[ComparableRun, ...]]


@pytest.fixture(scope="session")
def runs() -> tuple[MeasuredRun, ...]:
    return read_measured_runs(paths.get_data_path("measurements")).used


def predictions(runs: tuple[MeasuredRun, ...], ratio: float = 1.1) -> list[HeldOutFigure]:
    return [
        HeldOutFigure(run.id, figure, RECORD_FOLD, value, value * ratio)
        for run in runs
        for figure, value in run.figures.items()
    ]


@pytest.fixture(scope="session")
def table(facts: Catalog, runs: tuple[MeasuredRun, ...]) -> PublishedRunTable:
    return PublishedRunTable(facts, runs, predictions(runs))


@pytest.fixture(scope="session")
def records(table: PublishedRunTable, estimator: Estimator, calibration: Calibration) -> Records:
    def find(request: EstimateRequest, figure: str) -> tuple[ComparableRun, ...]:
        return find_records(table, estimator, calibration, estimator.estimate(request), figure)

    return find


def find_records(
    table: PublishedRunTable, estimator: Estimator, calibration: Calibration, estimate: Estimate, figure: str
) -> tuple[ComparableRun, ...]:
    return table.nearest(estimate, figure, calibration.newest_month, estimator.estimate_many)


def as_asked(run: MeasuredRun) -> EstimateRequest:
    return replace(run.request, id=None)


def test_a_run_is_the_nearest_to_its_own_conditions(runs: tuple[MeasuredRun, ...], records: Records) -> None:
    for run in runs[::97]:
        if run.request.tp is None:
            continue  # the program may take another plan
        for figure in run.measured:
            first = records(as_asked(run), figure)[0]
            assert first.distance <= 0.2  # a switch of experts may be left open
            assert first.as_asked
            assert first.near


def test_record_shows_measurement_prediction_source_and_differences(
    runs: tuple[MeasuredRun, ...], records: Records
) -> None:
    run = next(
        each
        for each in runs
        if each.source == "trtllm-perf-overview-0-17"
        and each.request.tp == 1
        and each.request.model == "llama-3.1-70b"
        and "output_tokens_per_s" in each.measured
    )
    request = replace(as_asked(run), accelerator="h200-sxm" if run.request.accelerator == "h100-sxm" else "h100-sxm")
    nearest = records(request, "output_tokens_per_s")
    assert len(nearest) == 3
    assert [each.distance for each in nearest] == sorted(each.distance for each in nearest)
    for each in nearest:
        own = next(one for one in runs if one.id == each.run)
        assert each.measured == own.figures["output_tokens_per_s"]
        assert each.ratio == pytest.approx(1.1)
        assert each.source.url is not None
        assert each.inside_band is not None
        assert (RunCondition.ACCELERATOR in each.differs) == (each.request.accelerator != request.accelerator)


def test_figures_that_derive_from_one_share_its_records(records: Records) -> None:
    request = ask("h200-sxm", "llama-3.1-70b", "fp8", closed(64), count=4)
    throughput = records(request, "output_tokens_per_s")
    assert records(request, "output_tokens_per_s_per_accelerator") == throughput
    assert records(request, "total_tokens_per_s") == throughput
    assert records(request, "request_s") == records(request, "tpot_ms")
    assert {each.figure for each in records(request, "ttft_ms")} == {"ttft_ms"}
    assert records(request, "memory") == ()
    assert records(request, "max_concurrency") == ()


def test_a_short_answer_to_a_long_prompt_rests_on_its_first_token(records: Records) -> None:
    request = ask("h200-sxm", "llama-3.1-70b", "fp8", closed(1), (100_000, 2), count=4)
    assert {each.figure for each in records(request, "request_s")} == {"ttft_ms"}


def test_distant_requests_have_no_similar_runs(records: Records) -> None:
    far = records(ask("gaudi3", "gemma-3-27b", "bf16", closed(7), (37, 4000)), "output_tokens_per_s")
    assert far
    assert not any(each.near for each in far)
    assert far[0].distance > NEAR_DISTANCE
    assert RunCondition.ACCELERATOR in far[0].differs


def test_publications_take_turns_where_others_are_nearly_as_near(records: Records) -> None:
    limits = Load(LoadKind.SATURATE, requests=3000)
    request = ask("h100-sxm", "llama-3.1-70b", "fp8", limits, (2048, 128), count=2, tp=2, pp=1)
    nearest = records(replace(request, serving_engine="tensorrt-llm"), "output_tokens_per_s")
    assert len({each.source.id for each in nearest}) == 3


def test_similar_run_differs_by_date_not_by_open_fields(
    runs: tuple[MeasuredRun, ...], records: Records, calibration: Calibration
) -> None:
    run = next(each for each in runs if each.request.date == "2024-04" and each.request.tp == 1)
    open_ = replace(as_asked(run), date=None, serving_engine="tensorrt-llm", max_batch=None)
    one = next(each for each in records(open_, next(iter(run.measured))) if each.run == run.id)
    assert one.differs == (RunCondition.DATE,)


def test_every_column_that_is_filled_by_judgement_is_reported(runs: tuple[MeasuredRun, ...]) -> None:
    for run in runs:
        assert bool(list_assumed_conditions(run.assumed)) == bool(run.assumed)
    assert list_assumed_conditions({"date", "output_tokens", "input_tokens"}) == (
        RunCondition.LENGTHS,
        RunCondition.DATE,
    )


def test_disaggregated_pools_are_never_what_was_measured(records: Records) -> None:
    request = ask("h200-sxm", "llama-3.1-70b", "fp8", closed(64), count=8, disaggregated=DisaggregationRequest())
    assert all(RunCondition.POOLS in each.differs for each in records(request, "output_tokens_per_s"))


def test_a_prediction_of_another_measured_value_is_left_out(
    facts: Catalog, runs: tuple[MeasuredRun, ...], estimator: Estimator, calibration: Calibration
) -> None:
    run = next(each for each in runs if each.request.tp == 1 and "output_tokens_per_s" in each.measured)
    value = run.figures["output_tokens_per_s"]
    stale = HeldOutFigure(run.id, "output_tokens_per_s", RECORD_FOLD, value * 1.02, value)
    gone = HeldOutFigure("no such run", "output_tokens_per_s", RECORD_FOLD, 1.0, 1.0)
    table = PublishedRunTable(facts, runs, [stale, gone])
    assert find_records(table, estimator, calibration, estimator.estimate(as_asked(run)), "output_tokens_per_s") == ()


def test_without_predictions_there_are_no_records(
    facts: Catalog, estimator: Estimator, calibration: Calibration
) -> None:
    table = PublishedRunTable(facts, *read_published_runs(paths.get_data_path("measurements"), None))
    estimate = estimator.estimate(ask("h200-sxm", "llama-3.1-70b", "fp8", closed(64), count=4))
    assert find_records(table, estimator, calibration, estimate, "ttft_ms") == ()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x8e\xff\x00",
        b"Q3,ttft_ms,series,1,2\n",
        b"run,figure,fold,measured,predicted\nQ3,ttft_ms,series,1,fast\n",
        b"run,figure,fold,measured,predicted\nQ3\n",
    ],
)
def test_broken_predictions_are_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "held-out.csv"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_published_runs(paths.get_data_path("measurements"), path)
    assert caught.value.where == str(path)
    assert "published measurements cannot be read" in format_input_error(caught.value)


@pytest.mark.parametrize("broken", ["metrics.toml", "aliases.toml", "runs-amd.csv", None])
def test_broken_measurements_are_named(tmp_path: Path, broken: str | None) -> None:
    folder = tmp_path / "measurements"
    shutil.copytree(paths.get_data_path("measurements"), folder)
    if broken is None:
        (folder / "metrics.toml").unlink()
    else:
        (folder / broken).write_bytes(b"\x8e\xff\x00")
    held_out = tmp_path / "held-out.csv"
    write_held_out(held_out, ())
    with pytest.raises(InputError) as caught:
        read_published_runs(folder, held_out)
    assert (caught.value.where or "").startswith(str(folder))
    assert "published measurements cannot be read" in format_input_error(caught.value)


def test_missing_measurements_are_reported(monkeypatch: pytest.MonkeyPatch, facts: Catalog) -> None:
    def missing() -> Path:
        raise paths.MissingFileError("measurements is missing; restore it")

    replace_data_path(monkeypatch, "measurements", missing)
    service = GpuDeskService(facts, paths.get_data_path("calibration.json"))
    estimate = service.estimate(ask("h200-sxm", "llama-3.1-70b", "fp8", closed(8), count=8))
    with pytest.raises(InputError) as caught:
        service.record(estimate, "tpot_ms")
    assert (
        format_input_error(caught.value)
        == "published measurements are not available: measurements is missing; restore it"
    )


def test_only_the_fold_of_whole_series_is_read(tmp_path: Path, runs: tuple[MeasuredRun, ...]) -> None:
    file = tmp_path / "held-out.csv"
    predictions_by_run = predictions(runs[:3])
    write_held_out(
        file, [*predictions_by_run, *(replace(each, fold="model", predicted=1.0) for each in predictions_by_run)]
    )
    assert {(each.run, each.fold) for each in read_held_out(file, RECORD_FOLD)} == {
        (run.id, RECORD_FOLD) for run in runs[:3]
    }
    assert len(read_held_out(file)) == 2 * len(predictions_by_run)


def test_one_question_takes_little_time(
    table: PublishedRunTable, estimator: Estimator, calibration: Calibration
) -> None:
    estimate = estimator.estimate(ask("mi300x", "llama-3.1-70b", "fp8", closed(32), count=8))
    find_records(table, estimator, calibration, estimate, "tpot_ms")
    times = []
    for _ in range(9):
        start = time.thread_time()
        find_records(table, estimator, calibration, estimate, "tpot_ms")
        times.append(time.thread_time() - start)
    assert sorted(times)[4] < 5e-3
