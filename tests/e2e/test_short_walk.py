"""A short random walk at a real window, always the same; `make soak` takes long ones."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from tests.soak.walker import RandomWalk, open_window, program_to_walk

STEPS = 75


def test_a_short_random_walk_finds_no_fault(
    qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with program_to_walk(qapp, monkeypatch) as program:
        walk = RandomWalk(program, open_window(program), tmp_path, seed=7)
        walk.walk(range(STEPS))
    assert not walk.faults, "\n\n".join(str(fault) for fault in walk.faults)
    assert QApplication.mouseButtons() == Qt.MouseButton.NoButton, "what stays pressed would disturb later tests"


REPLACES_THE_FIRST_WINDOW = """
import gc, sys
from pathlib import Path
from gpudesk.desktop.window.main_window import MainWindow
from tests.soak.walker import settle, walk_in_program

def replace_and_count(walk):
    walk.program.set_language("de")
    walk.window = walk.program.windows[0]
    settle()
    gc.collect()
    print(sum(isinstance(each, MainWindow) for each in gc.get_objects()))
    walk.program.app.exit(0)

sys.exit(walk_in_program(replace_and_count, Path(sys.argv[1]), 1))
"""


def test_replaced_window_is_freed(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", REPLACES_THE_FIRST_WINDOW, str(tmp_path)],
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen", "GPUDESK_HOME": str(tmp_path / "home")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout.strip(), ended.stderr) == (0, "1", "")
