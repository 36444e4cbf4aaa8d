"""How long the frozen program takes to its first paint in a real window, warm and cold, and its size.

`make bench` freezes the program first.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import median

import pytest

from tests.benchmarks.conftest import Say
from tests.benchmarks.timed_start import timed_start
from tests.e2e.x_session import x_server
from tests.frozen.conftest import TEMPLATE, frozen_folder

#: Seconds to the first paint with the scenario's table, with the program's files in memory and not.
WARM = 0.9
COLD = 1.8
INSTALLED_BYTES = 270e6

RUNS = 7


@pytest.fixture(scope="module")
def frozen() -> Path:
    return frozen_folder()


@pytest.fixture(scope="module")
def display() -> Iterator[str]:
    """Return the name of a display without a screen."""
    with x_server() as name:
        yield name


def _start(frozen: Path, display: str, home: Path) -> Mapping[str, float]:
    settings = {"DISPLAY": display, "QT_QPA_PLATFORM": "xcb"}
    return timed_start([str(frozen / "gpudesk"), str(TEMPLATE)], home, settings)


def _forget(folder: Path) -> None:
    """Ask the system to drop a folder's files from memory, so that the next start reads them from the disk.

    The libraries that the system itself keeps in use stay in memory.
    """
    for path in folder.rglob("*"):
        if path.is_file():
            with path.open("rb") as file:
                os.fsync(file.fileno())
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def test_first_paint_with_files_in_memory(frozen: Path, display: str, tmp_path: Path, say: Say) -> None:
    runs = [_start(frozen, display, tmp_path / "home") for _ in range(RUNS + 1)][1:]
    table, charts = (median(run[word] for run in runs) for word in ("table", "charts"))
    memory = median(run["memory"] for run in runs)
    say(f"frozen, warm: table {table:.2f} s (bar {WARM}), charts {charts:.2f} s, {memory / 1e6:.0f} MB")
    assert table <= WARM


def test_first_paint_with_files_on_the_disk(frozen: Path, display: str, tmp_path: Path, say: Say) -> None:
    runs = []
    for _ in range(RUNS):
        _forget(frozen)
        runs.append(_start(frozen, display, tmp_path / "home"))
    table, charts = (median(run[word] for run in runs) for word in ("table", "charts"))
    say(f"frozen, cold: table {table:.2f} s (bar {COLD}), charts {charts:.2f} s")
    assert table <= COLD


def test_size_on_the_disk(frozen: Path, say: Say) -> None:
    size_bytes = sum(path.stat().st_size for path in frozen.rglob("*") if path.is_file())
    say(f"frozen: {size_bytes / 1e6:.0f} MB (bar {INSTALLED_BYTES / 1e6:.0f})")
    assert size_bytes <= INSTALLED_BYTES
