"""A short random walk at a real window, always the same; `make soak` takes long ones."""

from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from tests.soak.walker import RandomWalk, window_to_walk

STEPS = 75


def test_a_short_random_walk_finds_no_fault(
    qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with window_to_walk(qapp, monkeypatch) as (program, window):
        walk = RandomWalk(program, window, tmp_path, seed=7)
        walk.walk(range(STEPS))
    assert not walk.faults, "\n\n".join(str(fault) for fault in walk.faults)
