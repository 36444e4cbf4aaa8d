"""Ten thousand random steps at a real window: nothing fails, nothing hangs, nothing grows (`make soak`).

Seeds are fresh at each run and part of the test's name; `SOAK_SEEDS` repeats a walk, `SOAK_STEPS` shortens it.
"""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from pathlib import Path

import pytest

STEPS = int(os.environ.get("SOAK_STEPS", "10000"))
SEEDS = [int(each) for each in os.environ.get("SOAK_SEEDS", "").split()] or [secrets.randbelow(10**6)]

#: A walk in a program of its own, whose memory holds nothing of what tests need.
WALKS_AND_TELLS = """
import sys
from pathlib import Path
from tests.soak.walker import list_failures, walk_in_program

def walk_and_tell(walk):
    print(*list_failures(walk, steps), sep="\\n\\n")
    walk.program.app.exit(0)

seed, steps, folder, scenario = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]), sys.argv[4]
sys.exit(walk_in_program(walk_and_tell, folder, seed, [scenario]))
"""


@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_walk(tmp_path: Path, seed: int) -> None:
    scenario = Path("resources/templates/405b-one-node.gpudesk").absolute()
    walk = subprocess.run(
        [sys.executable, "-c", WALKS_AND_TELLS, str(seed), str(STEPS), str(tmp_path), str(scenario)],
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen", "GPUDESK_HOME": str(tmp_path / "home")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (walk.returncode, walk.stdout.strip(), walk.stderr) == (0, "", "")
