"""After a random walk the program ends with exit code 0 and nothing on standard error (`make soak`)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

#: One walk each; `SOAK_EXITS` takes another number.
EXITS = int(os.environ.get("SOAK_EXITS", "100"))
#: Few, since what differs is where a walk ends.
STEPS = 20

#: A walk in a program of its own, which ends in the middle of any open page.
WALKS_AND_ENDS = """
import sys
from pathlib import Path
from tests.soak.walker import walk_in_program

seed, steps, folder, scenario = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]), sys.argv[4]

def walk_and_end(walk):
    walk.walk(range(steps))
    if seed % 2:
        walk.program.app.exit(0)
    else:
        walk.program.quit()

sys.exit(walk_in_program(walk_and_end, folder, seed, [scenario]))
"""


@pytest.mark.parametrize("seed", range(1, EXITS + 1))
def test_the_program_ends_cleanly(tmp_path: Path, seed: int) -> None:
    scenario = Path("resources/templates/b200-or-mi355x.gpudesk").absolute()
    ended = subprocess.run(
        [sys.executable, "-c", WALKS_AND_ENDS, str(seed), str(STEPS), str(tmp_path), str(scenario)],
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen", "GPUDESK_HOME": str(tmp_path / "home")},
        capture_output=True,
        text=True,
        # Next to other programs a walk takes many times as long as alone.
        timeout=900,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
