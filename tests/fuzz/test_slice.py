"""A slice of `make fuzz` that is the same each time: damaged files of every kind, and odd command lines."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.fuzz.cases import FILE_KINDS, HOSTILE, make_case
from tests.fuzz.execution import FuzzFinding, run_case

posix = pytest.mark.skipif(sys.platform == "win32", reason="what a case takes is counted as POSIX does")
pytestmark = [posix, pytest.mark.filterwarnings("ignore")]


def _find_faults(seed: str, folder: Path) -> list[FuzzFinding]:
    # How long each takes, and how much memory, depends on what ran before it here: `make fuzz` looks at both.
    return [each for each in run_case(make_case(seed), folder) if not each.signature.startswith(("slow", "memory"))]


@pytest.mark.parametrize(("kind", "times"), [*((kind, 3) for kind in FILE_KINDS), ("line", 20)])
def test_damaged_input_ends_in_an_answer_or_a_refusal(kind: str, times: int, tmp_path: Path) -> None:
    faults = [fault for number in range(times) for fault in _find_faults(f"{kind}:{number}:5", tmp_path / "case")]
    assert faults == []


def test_undamaged_corpus_is_read(tmp_path: Path) -> None:
    """What is damaged must be good before, or nothing behind the first check is reached."""
    from gpudesk.cli.main import main

    for name in (
        "plain.csv",
        "skypilot.csv",
        "gpuhunt.csv",
        "accelerator.json",
        "mixtral.gguf",
        "unsigned.gpudeskpack",
    ):
        assert main(["import", str(HOSTILE / name), "--dry-run"]) == 0, name
    assert main(["import", str(HOSTILE / "unsigned.gpudeskpack"), "--trust"]) == 0
    for name in ("full.gpudesk", "template.gpudesk", "carried.gpudesk", "sheet.pdf"):
        assert main(["estimate", "--scenario", str(HOSTILE / name)]) == 0, name
    assert main(["estimate", "--batch", str(HOSTILE / "batch.jsonl")]) == 0
    assert main(["catalog", "restore", str(HOSTILE / "user.sqlite")]) == 0
