"""The command `gpudesk sheet -o x.pdf`, which needs no display."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gpudesk.cli.main import main
from gpudesk.service import GpuDeskService
from tests.unit.desktop.ui.printing.conftest import needs_poppler, read_info, read_words


def run_gpudesk(*arguments: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    }
    command = [sys.executable, "-m", "gpudesk", *map(str, arguments)]
    return subprocess.run(command, env=environment | variables, capture_output=True, text=True, check=False)


@needs_poppler
def test_pdf_needs_no_display(tmp_path: Path) -> None:
    target = tmp_path / "sheet.pdf"
    completed = run_gpudesk("sheet", "--template", "b200-or-mi355x", "-o", target, "--paper", "letter", LC_ALL="C")
    assert (completed.returncode, completed.stdout, completed.stderr) == (0, f"Wrote {target}\n", "")
    assert read_info(target)["Page size"].startswith("612 x 792")
    assert "too close to call" in read_words(target)


def test_scenario_is_read_from_the_pdf(tmp_path: Path, service: GpuDeskService) -> None:
    pdf, scenario = tmp_path / "sheet.pdf", tmp_path / "again.gpudesk"
    assert main(["sheet", "--template", "b200-or-mi355x", "-o", str(pdf)]) == 0
    assert main(["sheet", "--scenario", str(pdf), "-o", str(scenario)]) == 0
    assert service.read_scenario(scenario) == service.read_scenario(pdf)


def test_failure_to_write_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "no such folder" / "sheet.pdf"
    assert main(["sheet", "--template", "b200-or-mi355x", "-o", str(target)]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"gpudesk: {target}: cannot be written")


def test_unknown_paper_is_a_usage_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["sheet", "--template", "b200-or-mi355x", "-o", str(tmp_path / "x.pdf"), "--paper", "a3"]
    assert main(arguments) == 2
    assert "--paper" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [("--version",), ("sheet", "--help")])
def test_qt_is_imported_only_for_a_pdf(arguments: tuple[str, ...]) -> None:
    code = (
        "import sys\nfrom gpudesk.cli.main import main\n"
        f"main({list(arguments)!r})\nsys.exit(any(name.startswith('PySide6') for name in sys.modules))"
    )
    completed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert completed.returncode == 0
