"""The golden figures: those in the file are today's, differences are found, and rounding is none."""

import itertools
import json
import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from gpudesk import paths
from gpudesk.catalog.read import Catalog
from gpudesk.engine.calibration import Calibration, CalibrationConstant
from gpudesk.estimation.estimator import Estimator
from gpudesk.estimation.golden_figures import (
    GOLDEN_FILE,
    TOLERANCE,
    GoldenCase,
    GoldenFile,
    compare_golden,
    read_golden,
)
from gpudesk.text.messages import InputError
from make_golden import format_golden

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def golden() -> GoldenFile:
    return read_golden(paths.resource(GOLDEN_FILE))


def test_file_is_no_older_than_engine_calibration_and_facts(
    golden: GoldenFile, estimator: Estimator, calibration: Calibration
) -> None:
    """Where this fails after a change that is meant, look at the differences and run `make golden`."""
    differences = [
        f"{case.name}: {each.field}: {each.expected} is {each.actual} now"
        for case in golden.cases
        for each in compare_golden(case, estimator.estimate, 1e-9)
    ]
    assert not differences, "`make golden` writes them anew:\n" + "\n".join(differences)
    assert golden.calibration == calibration.revision, "run `make golden`"


def test_questions_cover_the_cases_of_the_engine(golden: GoldenFile) -> None:
    requests = [case.request for case in golden.cases]
    assert len({request["accelerator"] for request in requests}) >= 12
    assert {"fp16", "fp8", "int4", "mxfp4", "nvfp4"} <= {request["weights"] for request in requests}
    loads = set(itertools.chain.from_iterable(request["load"] for request in requests))
    assert {"batch", "concurrency", "saturate", "request_rate", "ttft_ms", "limit"} <= loads
    expected = [case.expected for case in golden.cases]
    plans = [each["parallel"] for each in expected]
    assert all(any(plan[degree] > 1 for plan in plans) for degree in ("tp", "pp", "ep", "dp"))
    assert {each["fits"] for each in expected} == {True, False}
    assert any(each["stable"] is False for each in expected)
    assert {each["basis"] for each in expected} >= {"calibrated", "estimated"}
    assert any(each["pools"] for each in expected)


def test_difference_beyond_the_tolerance_is_found_and_one_within_is_not(
    golden: GoldenFile, estimator: Estimator
) -> None:
    case = golden.cases[0]

    def changed(by: float) -> GoldenCase:
        figure = case.expected["ttft_ms"]
        ttft = {**figure, "high": figure["high"] * by}
        return GoldenCase(case.request, {**case.expected, "ttft_ms": ttft})

    assert compare_golden(changed(1 + TOLERANCE / 2), estimator.estimate) == ()
    (difference,) = compare_golden(changed(1 + TOLERANCE * 3), estimator.estimate)
    assert difference.field == "ttft_ms.high"


@pytest.mark.parametrize(
    ("field", "value"),
    [("fits", 1), ("limiter", "compute"), ("max_concurrency", 66), ("batch_s", None), ("once_there", 1.0)],
)
def test_other_value_of_any_kind_is_found(golden: GoldenFile, estimator: Estimator, field: str, value: object) -> None:
    case = golden.cases[0]
    (difference, *_) = compare_golden(GoldenCase(case.request, {**case.expected, field: value}), estimator.estimate)
    assert difference.field.partition(".")[0] == field


def test_no_choice_hangs_on_the_last_digits(golden: GoldenFile, facts: Catalog, calibration: Calibration) -> None:
    """Constants that differ in the tenth digit lead to the same plans, and to figures that agree."""
    draw = random.Random(7)

    def shifted(constant: CalibrationConstant) -> CalibrationConstant:
        return replace(constant, default=constant.default * (1 + draw.uniform(-1e-10, 1e-10)))

    constants = {name: shifted(constant) for name, constant in calibration.constants.items()}
    other = Estimator(facts, replace(calibration, constants=constants, _values_by_keys={}))
    differences = [(case.name, each) for case in golden.cases for each in compare_golden(case, other.estimate)]
    assert differences == []


NO_ANSWER = '{"calibration": "a", "cases": [{"request": {"id": "b"}, "expected": {}}]}'


@pytest.mark.parametrize("text", ["", "[]", '{"calibration": "a", "cases": []}', '{"cases": [{}]}', NO_ANSWER])
def test_invalid_golden_file_is_reported(text: str, tmp_path: Path) -> None:
    file = tmp_path / "golden.json"
    file.write_text(text)
    with pytest.raises(InputError) as raised:
        read_golden(file)
    assert raised.value.problem.id in ("golden.unreadable", "golden.empty")


def test_script_writes_the_file_as_it_is(golden: GoldenFile, tmp_path: Path) -> None:
    """The questions stay, and so does what is answered to them."""
    file = tmp_path / "golden.json"
    recorded = json.loads(paths.resource(GOLDEN_FILE).read_text(encoding="utf-8"))
    recorded["cases"] = [{"request": case["request"], "expected": {}} for case in recorded["cases"][:2]]
    file.write_text(json.dumps(recorded))
    script = ROOT / "packaging" / "make_golden.py"
    subprocess.run([sys.executable, script, paths.get_catalog_path(), file], check=True, capture_output=True)
    assert read_golden(file) == GoldenFile(golden.calibration, golden.cases[:2])


def test_written_figures_are_read_back(golden: GoldenFile, estimator: Estimator, tmp_path: Path) -> None:
    file = tmp_path / "golden.json"
    file.write_text(format_golden([golden.cases[-1].request], "c", estimator.estimate), encoding="utf-8")
    assert read_golden(file).cases == golden.cases[-1:]
