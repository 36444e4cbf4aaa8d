"""Runs that are left out: predicted once for each way of leaving out, by fits that know nothing of them."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from calibration.bench import BENCH_FIGURES
from calibration.fit import (
    LARGEST_BUNDLE,
    OTHERS,
    SMALL_GROUP,
    assign_fold_groups,
    fit_to_runs,
    list_bundles,
    list_folds,
    predict_left_out,
)
from gpudesk.estimation.published_runs import HeldOutFigure, read_held_out, write_held_out
from tests.unit.calibration.synthetic_runs import make_bench, make_measured, make_truth

FIGURES_OF_RUNS = make_measured(make_truth(), noise=0.05)
MADE = make_bench(FIGURES_OF_RUNS)


@cache
def predict_groups(trait: str) -> tuple[HeldOutFigure, ...]:
    """Leave out every group of runs that share a trait, one after the other."""
    return tuple(each for bundle in list_bundles(MADE.runs, trait) for each in predict_left_out(MADE, trait, bundle))


def index_by_run(figures: tuple[HeldOutFigure, ...]) -> dict[tuple[str, str], float]:
    return {(each.run, each.figure): each.predicted for each in figures}


@pytest.mark.parametrize("trait", ["accelerator", pytest.param("weights", marks=pytest.mark.thorough)])
def test_what_is_measured_of_a_group_never_reaches_its_own_predictions(trait: str) -> None:
    honest = index_by_run(predict_groups(trait))
    groups = list_folds(MADE.runs, trait)
    for group in groups:
        inside = [name == group for name in assign_fold_groups(MADE.runs, trait)]
        wrong = [
            {name: value * 7 for name, value in figures.items()} if within else figures
            for figures, within in zip(FIGURES_OF_RUNS, inside, strict=True)
        ]
        bench = make_bench(wrong)
        of_group = {run.id for run, within in zip(bench.runs, inside, strict=True) if within}
        bundle = next(each for each in list_bundles(bench.runs, trait) if group in each)
        predictions = index_by_run(predict_left_out(bench, trait, bundle))
        assert {key: value for key, value in predictions.items() if key[0] in of_group} == {
            key: value for key, value in honest.items() if key[0] in of_group
        }
        # The others do learn from it.
        other = next(each for each in groups if each != group)
        learned = index_by_run(predict_left_out(bench, trait, (other,)))
        assert any(predicted != honest[key] for key, predicted in learned.items())


def test_bundles_hold_every_group_once_and_share_out_the_largest() -> None:
    runs = [
        replace(MADE.runs[0], traits={**MADE.runs[0].traits, "accelerator": f"part {part:02}"})
        for part in range(8)
        for _ in range(SMALL_GROUP + part)
    ]
    bundles = list_bundles(runs, "accelerator")
    assert sorted(group for bundle in bundles for group in bundle) == list(list_folds(runs, "accelerator"))
    assert {bundle[0] for bundle in bundles} == {"part 07", "part 06"}
    assert max(map(len, bundles)) <= LARGEST_BUNDLE
    assert list_bundles(MADE.runs, "model") == ()


def test_every_figure_is_predicted_once() -> None:
    figures = predict_groups("accelerator")
    expected = {(run.id, figure) for run in MADE.runs for figure in BENCH_FIGURES}
    assert len(figures) == len(expected)
    assert {(each.run, each.figure) for each in figures} == expected
    assert {each.fold for each in figures} == {"accelerator"}
    first = next(each for each in figures if each.run == "R000" and each.figure == "ttft_ms")
    assert first.measured == FIGURES_OF_RUNS[0]["ttft_ms"]


def test_a_fold_differs_from_the_fit_to_all() -> None:
    all_runs = MADE.predict(fit_to_runs(MADE).values).figures["output_tokens_per_s"]
    predictions = index_by_run(predict_groups("accelerator"))
    predicted_rates = np.array([predictions[run.id, "output_tokens_per_s"] for run in MADE.runs])
    assert (predicted_rates != all_runs).all()


def test_small_groups_are_left_out_together() -> None:
    runs = MADE.runs
    few = [run for run in runs if run.traits["accelerator"] == "h200"][: SMALL_GROUP - 1]
    many = [run for run in runs if run.traits["accelerator"] == "mi325x"][:SMALL_GROUP]
    assert assign_fold_groups([*few, *many], "accelerator") == [OTHERS] * len(few) + ["mi325x"] * len(many)


def test_a_trait_that_all_runs_share_leaves_nothing_to_learn_from() -> None:
    assert list_folds(MADE.runs, "model") == ()


def test_predictions_are_read_as_they_were_written(tmp_path: Path) -> None:
    figures = (
        HeldOutFigure("b", "ttft_ms", "series", 120.0, 118.25),
        HeldOutFigure("a", "tpot_ms", "series", 0.5, 0.50125),
        HeldOutFigure("a", "tpot_ms", "model", 0.5, 0.49),
    )
    path = tmp_path / "held-out.csv"
    write_held_out(path, figures)
    assert read_held_out(path) == (figures[2], figures[1], figures[0])
    assert path.read_text().splitlines()[:2] == ["run,figure,fold,measured,predicted", "a,tpot_ms,model,0.5,0.49"]
