"""What a user of the frozen program does first: asks it for its version, for a sheet, for its window."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gpudesk import __version__
from tests.frozen.conftest import TEMPLATE, RunFrozen, environment


def test_version(run_frozen: RunFrozen) -> None:
    completed = run_frozen("--version")
    assert completed.stdout.splitlines()[0] == f"gpudesk {__version__}"
    assert completed.stderr == ""


def test_sheet(run_frozen: RunFrozen, tmp_path: Path) -> None:
    completed = run_frozen("sheet", "--scenario", str(TEMPLATE), "-o", "sheet.pdf")
    assert completed.returncode == 0, completed.stderr
    assert (tmp_path / "sheet.pdf").read_bytes().startswith(b"%PDF-")


def test_every_page_opens_in_the_window(run_frozen: RunFrozen) -> None:
    """Pages are loaded when they are first shown, so a missing module shows here and nowhere else."""
    start = time.monotonic()
    completed = run_frozen(str(TEMPLATE), GPUDESK_TIMING="1")
    assert completed.returncode == 0, completed.stderr
    painted = dict(line.split() for line in completed.stdout.splitlines())
    others = {f"{page}_page" for page in ("memory", "profile", "cost", "decide", "fleet", "catalog")}
    assert set(painted) == {"table", "charts", *others, "memory"}
    assert start < float(painted["table"]) < float(painted["charts"])
    assert completed.stderr == ""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux replaces an executable that runs")
@pytest.mark.parametrize("upgrade", ["replaced", "removed"])
def test_upgrade_leaves_the_running_program_alone(frozen: Path, tmp_path: Path, upgrade: str) -> None:
    folder, home = tmp_path / "installed", tmp_path / "home"
    folder.mkdir()
    (folder / "_internal").symlink_to(frozen / "_internal")
    program = Path(shutil.copy(frozen / "gpudesk", folder))
    log = home / "logs" / "gpudesk.log"
    with subprocess.Popen(
        [str(program), str(TEMPLATE)],
        env={**environment(home), "GPUDESK_TIMING": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        while running.poll() is None and not log.exists():
            time.sleep(0.001)
        # Its pages are not loaded yet.
        program.unlink()
        if upgrade == "replaced":
            program.write_bytes(bytes((frozen / "gpudesk").stat().st_size))
        output, faults = running.communicate(timeout=60)
    assert running.returncode == 0, faults
    assert "catalog_page" in output
    assert " ERROR " not in log.read_text(encoding="utf-8")


def test_bad_input_ends_in_one_line(run_frozen: RunFrozen) -> None:
    completed = run_frozen("catalog", "show", "no-such-thing")
    assert completed.returncode == 1
    assert len(completed.stderr.splitlines()) == 1
