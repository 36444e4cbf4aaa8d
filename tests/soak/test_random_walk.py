"""Ten thousand random steps at a real window: nothing fails, nothing hangs, nothing grows (`make soak`).

Seeds are fresh at each run and part of the test's name; `SOAK_SEEDS` repeats a walk, `SOAK_STEPS` shortens it.
"""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import time
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


def _start_walk(seed: int, folder: Path) -> subprocess.Popen[str]:
    scenario = Path("resources/templates/405b-one-node.gpudesk").absolute()
    return subprocess.Popen(
        [sys.executable, "-c", WALKS_AND_TELLS, str(seed), str(STEPS), str(folder), str(scenario)],
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen", "GPUDESK_HOME": str(folder / "home")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_walk(tmp_path: Path, seed: int) -> None:
    walk = _start_walk(seed, tmp_path)
    output, errors = walk.communicate()
    # In full: what fails at one step of ten thousand may not fail again.
    sys.stdout.write(f"{output}\n{errors}")
    assert (walk.returncode, output.strip(), errors) == (0, "", "")


def test_a_walk_ends_on_a_termination_request(tmp_path: Path) -> None:
    walk, step = _start_walk(1, tmp_path), tmp_path / "step"
    deadline = time.monotonic() + 120
    while not step.exists():
        assert walk.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.1)
    walk.terminate()
    output, errors = walk.communicate(timeout=120)
    assert (walk.returncode, output, errors) == (0, "", "")
