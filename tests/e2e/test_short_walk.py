"""A short random walk at a real window, always the same; `make soak` takes long ones."""

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
