"""What a walk touched, measured in a process that does nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.walks.walk import take

_CHECKOUT = Path(__file__).parents[2]
_LONGEST_S = 300


@dataclass(frozen=True, slots=True)
class Measured:
    """The files of the program that a walk touched, and how often it called which function of which file."""

    files: tuple[str, ...]
    calls: tuple[tuple[str, str, int], ...]

    @property
    def call_count(self) -> int:
        """The calls of all functions together."""
        return sum(count for _, _, count in self.calls)


def measure(name: str) -> Measured:
    """Take a walk in a new process."""
    completed = subprocess.run(
        [sys.executable, "-m", "tests.walks", "--as-json", name],
        stdout=subprocess.PIPE,
        encoding="utf-8",
        timeout=_LONGEST_S,
        cwd=_CHECKOUT,
        check=True,
    )
    measurements = json.loads(completed.stdout)
    return Measured(
        tuple(measurements["files"]), tuple((file, name, count) for file, name, count in measurements["calls"])
    )


def measured_as_json(name: str) -> str:
    """Take a walk in this process, and return what `measure` reads."""
    walked = take(name)
    by_count = sorted(walked.calls.items(), key=lambda item: (-item[1], item[0].file, item[0].line))
    calls = [(function.file, function.name, count) for function, count in by_count]
    return json.dumps({"files": sorted(walked.files), "calls": calls})
