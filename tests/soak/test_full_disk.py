"""On a disk with little room each write is whole or refused in plain words (`make soak`)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.soak.victims import EXPORTS, PRICES
from tests.unit.catalog.processes import ROOT, can_mount, own_mounts
from tests.unit.catalog.user_samples import numbered

WRITES = """
import sys
from pathlib import Path
from tests.soak.victims import write_without_room
write_without_room(Path(sys.argv[1]))
"""


@pytest.mark.skipif(not can_mount(), reason="nobody else may mount a disk here")
def test_writes_to_a_full_disk_change_nothing(tmp_path: Path) -> None:
    within = own_mounts(f"mount -t tmpfs -o size=12m none {tmp_path}")
    completed = subprocess.run(
        [*within, sys.executable, "-c", WRITES, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (completed.returncode, completed.stderr) == (0, "")
    lines = [json.loads(line) for line in completed.stdout.splitlines()]
    before = len(numbered(1).after)
    codes: dict[str, list[int]] = {}
    for line in lines:
        codes.setdefault(line["name"], []).append(line["code"])
        assert line["left"] == [], line
        if line["code"] == 0:
            # A sweep says how long it took.
            assert line["errors"] == "" or line["errors"].startswith("gpudesk sweep: computed")
            assert not line["kept"] or line["name"] == "import"
        else:
            assert "no space left on device" in line["errors"] or "the disk is full" in line["errors"], line
            assert (line["kept"], line["facts"]) == (True, before), line
    assert codes.keys() == {*EXPORTS, "import"}
    # Without any room everything is refused, with enough of it nothing.
    assert all(each == sorted(each, reverse=True) and {each[0], each[-1]} == {0, 1} for each in codes.values())
    assert lines[-1]["facts"] == before + PRICES + 1
