"""The self-test in the frozen program: silent, without traces, and telling of harm to the tree."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.frozen.conftest import BUNDLE, RunFrozen, environment

Test = Callable[[], dict[str, Any]]


@pytest.fixture
def copy(frozen: Path, tmp_path: Path) -> Path:
    """Return a copy of the program to be harmed; what is changed there has to be removed first."""
    return Path(shutil.copytree(frozen, tmp_path / "gpudesk", copy_function=os.link, symlinks=True))


@pytest.fixture
def run_self_test(copy: Path, tmp_path: Path) -> Test:
    def run() -> dict[str, Any]:
        completed = subprocess.run(
            [str(copy / "gpudesk"), "--self-test", "--json"],
            # It asks for no screen by itself.
            env={**environment(tmp_path / "home"), "QT_QPA_PLATFORM": ""},
            capture_output=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )
        assert completed.stderr == ""
        result: dict[str, Any] = json.loads(completed.stdout)
        assert completed.returncode == (0 if result["ok"] else 1)
        return result

    return run


def failed(result: dict[str, Any]) -> dict[str, str]:
    return {check["id"]: check["found"] for check in result["checks"] if not check["ok"]}


def test_intact_program_passes_and_is_unchanged(run_frozen: RunFrozen, tmp_path: Path, frozen: Path) -> None:
    (tmp_path / "temporary").mkdir()
    before = {file: file.stat().st_mtime_ns for file in frozen.rglob("*")}
    completed = run_frozen("--self-test", "--json", TMPDIR=str(tmp_path / "temporary"))
    result = json.loads(completed.stdout)
    assert (completed.returncode, completed.stderr) == (0, "")
    assert {check["outcome"] for check in result["checks"]} == {"ok"}, result
    assert result["installation"] == "frozen"
    assert list((tmp_path / "temporary").iterdir()) == []
    assert [file for file in (tmp_path / "home").rglob("*") if file.is_file()] == [Path(result["file"])]
    assert {file: file.stat().st_mtime_ns for file in frozen.rglob("*")} == before


@pytest.mark.thorough
def test_damaged_files_are_named(copy: Path, run_self_test: Test) -> None:
    catalog = copy / BUNDLE / "catalog.sqlite"
    raw = bytearray(catalog.read_bytes())
    raw[-1] ^= 1
    catalog.unlink()
    catalog.write_bytes(raw)
    (copy / BUNDLE / "resources" / "icons" / "check.svg").unlink()
    (copy / BUNDLE / "licenses" / "mine.txt").touch()
    failures = failed(run_self_test())
    assert failures["resources"].startswith("changed: catalog.sqlite; missing: resources/icons/check.svg (in ")


@pytest.mark.thorough
def test_extra_file_is_a_warning(copy: Path, run_self_test: Test) -> None:
    (copy / BUNDLE / "licenses" / "mine.txt").touch()
    result = run_self_test()
    assert failed(result) == {}
    assert "not of the program: licenses/mine.txt" in result["checks"][0]["found"]
    assert result["checks"][0]["outcome"] == "warning"


@pytest.mark.thorough
def test_missing_font_is_reported(copy: Path, run_self_test: Test) -> None:
    (copy / BUNDLE / "resources" / "fonts" / "DeskSans-Regular.ttf").unlink()
    failures = failed(run_self_test())
    assert failures["fonts"] == "font DeskSans-Regular.ttf cannot be loaded"
    assert "resources" in failures


@pytest.mark.thorough
def test_missing_platform_plugins_are_reported(copy: Path, run_self_test: Test) -> None:
    for file in (copy / "_internal" / "PySide6" / "Qt" / "plugins" / "platforms").iterdir():
        if "offscreen" not in file.name:
            file.unlink()
    failures = failed(run_self_test())
    assert set(failures) == {"resources", "display"}
    assert failures["display"] == "Qt platform plug-ins are missing"


@pytest.mark.thorough
def test_one_missing_platform_plugin_is_reported(copy: Path, run_self_test: Test) -> None:
    for file in (copy / "_internal" / "PySide6").rglob("libqxcb.so"):
        file.unlink()
    failures = failed(run_self_test())
    assert failures["resources"].startswith("missing: PySide6/Qt/plugins/platforms/libqxcb.so (in ")


@pytest.mark.thorough
def test_missing_offscreen_plugin_does_not_end_the_self_test(copy: Path, run_self_test: Test) -> None:
    for file in (copy / "_internal" / "PySide6").rglob("libqoffscreen.so"):
        file.unlink()
    failures = failed(run_self_test())
    assert set(failures) == {"resources", "icons", "fonts", "paper", "window", "display"}
    assert "qoffscreen is missing in " in failures["paper"]


@pytest.mark.thorough
def test_missing_package_is_named_by_its_files(copy: Path, run_self_test: Test) -> None:
    shutil.rmtree(copy / "_internal" / "numpy")
    failures = failed(run_self_test())
    assert failures["resources"].startswith("missing: numpy/")
    assert "catalog" not in failures


@pytest.mark.thorough
def test_missing_library_of_a_plugin_is_named(copy: Path, run_self_test: Test) -> None:
    """What the plug-in for X needs and no program without a screen: the most common fault of Qt on Linux."""
    for file in (copy / "_internal").rglob("libQt6XcbQpa.so*"):
        file.unlink()
    (display,) = (check for check in run_self_test()["checks"] if check["id"] == "display")
    assert "libQt6XcbQpa" in display["found"]
    assert display["outcome"] in ("warning", "failed")


@pytest.mark.thorough
def test_unloadable_qt_fails_only_the_checks_that_need_it(copy: Path, run_self_test: Test) -> None:
    for file in (copy / "_internal").rglob("libQt6Widgets.so*"):
        file.unlink()
    failures = failed(run_self_test())
    assert failures.pop("resources").startswith("missing: PySide6/Qt/lib/libQt6Widgets")
    assert set(failures) == {"icons", "fonts", "window", "display"}
    assert all("Qt cannot be loaded (libQt6Widgets" in message for message in failures.values())
