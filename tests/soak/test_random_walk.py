"""Ten thousand random steps at a real window: nothing fails, nothing hangs, nothing grows (`make soak`).

Seeds are fresh at each run and part of the test's name; `SOAK_SEEDS` repeats a walk, `SOAK_STEPS` shortens it.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from tests.soak.walker import RandomWalk, counted, open_window, pause, program_to_walk, resident_bytes

STEPS = int(os.environ.get("SOAK_STEPS", "10000"))
SEEDS = [int(each) for each in os.environ.get("SOAK_SEEDS", "").split()] or [secrets.randbelow(10**6)]
#: Steps after which all that is loaded once has been, and each list and menu was open.
WARM = 500
#: Resident bytes that the program may take at the end of a walk.
MOST_BYTES = 300e6


@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_walk(qapp: QApplication, tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    with program_to_walk(qapp, monkeypatch) as program:
        # Nothing else may know the window: a walk can close it and go on with another.
        walk = RandomWalk(program, open_window(program), tmp_path, seed)
        walk.walk(range(WARM))
        walk.tour()
        pause()
        before, memory = counted(walk.window), resident_bytes()
        walk.walk(range(WARM, STEPS))
        walk.tour()
        pause()
        grown = {kind: number - before[kind] for kind, number in counted(walk.window).items()}
        now, slow = resident_bytes(), [turn for turn in walk.turns[WARM:] if turn.too_long]
        failures = [*map(str, walk.faults), *map(str, slow)]
        # Lists and menus that had not been opened before are there once.
        if grown["top-level widgets"] > 8 or grown["widgets"] > 60:
            failures.append(str(grown))
        if now > MOST_BYTES:
            failures.append(f"{now / 1e6:.0f} MB, {(now - memory) / 1e6:.0f} of them since the warm-up")
        assert not failures, "\n\n".join(failures)
