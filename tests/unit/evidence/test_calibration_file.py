"""A calibration file that no estimate can be made with is refused where it is read, and says why."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gpudesk import paths
from gpudesk.evidence.calibration_file import read_calibration
from gpudesk.text.messages import InputError, format_input_error

Content = dict[str, Any]
SHIPPED: Content = json.loads(paths.get_data_path("calibration.json").read_text())


def refused(tmp_path: Path, text: str) -> str:
    path = tmp_path / "calibration.json"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_calibration(path)
    assert caught.value.where == str(path)
    return format_input_error(caught.value)


def test_every_constant_of_the_engine_has_to_be_there(subtests: pytest.Subtests, tmp_path: Path) -> None:
    for name in sorted(SHIPPED["constants"]):
        with subtests.test(name=name):
            constants = {other: entry for other, entry in SHIPPED["constants"].items() if other != name}
            message = refused(tmp_path, json.dumps({**SHIPPED, "constants": constants}))
            assert f"the constant {name} is missing" in message


def without(field: str) -> Callable[[Content], None]:
    return lambda content: content.pop(field)


def constant(name: str, **changed: object) -> Callable[[Content], None]:
    return lambda content: content["constants"][name].update(changed)


def narrowed(content: Content) -> None:
    entry = content["constants"]["link_efficiency"]
    entry["overrides"].append({"where": {"link": ["pcie"]}, "value": 0.0})


def swapped(content: Content) -> None:
    for rule in content["bands"]:
        rule["low"], rule["high"] = rule["high"], rule["low"]


def flattened(content: Content) -> None:
    for entry in content["lead_scales"]:
        entry["scale"] = 0.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (without("bands"), "'bands' is missing"),
        (without("constants"), "'constants' is missing"),
        (lambda content: content.update(version=2), "version 2, where this program reads 1"),
        (lambda content: content.update(newest_month="soon"), "newest_month is soon"),
        (lambda content: content.update(newest_month=7), "newest_month is 7"),
        (lambda content: content.update(bands=[]), "bands has none for throughput, calibrated"),
        (lambda content: content.update(plan_bands=[]), "plan_bands has none for throughput, calibrated"),
        (lambda content: content.update(lead_scales=[]), "lead_scales has none for throughput, calibrated, plans"),
        (flattened, "the lead scale of throughput, calibrated, plans is 0.0"),
        (swapped, "one of the bands does not enclose its value"),
        (constant("layer_time", default=float("nan")), "the constant layer_time has a value that cannot be"),
        (constant("step_time", default=-1e-3), "the constant step_time has a value that cannot be"),
        (constant("gemm_efficiency", default=0), "the constant gemm_efficiency has a value that cannot be"),
        (narrowed, "the constant link_efficiency has a value that cannot be"),
        (constant("step_time", default="fast"), "could not convert string to float: 'fast'"),
    ],
)
def test_faults_of_a_file_are_reported(tmp_path: Path, change: Callable[[Content], None], message: str) -> None:
    content = json.loads(json.dumps(SHIPPED))
    change(content)
    assert message in refused(tmp_path, json.dumps(content))


@pytest.mark.parametrize("text", ["", "[]", "null", "{}", "7", json.dumps(SHIPPED)[:9000]])
def test_other_files_are_refused_too(tmp_path: Path, text: str) -> None:
    assert "the calibration file is damaged" in refused(tmp_path, text)
