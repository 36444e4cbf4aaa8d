"""Starts the program with a window and reads when it says that each page was painted."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path


def timed_start(command: Sequence[str], home: Path, settings: Mapping[str, str]) -> Mapping[str, float]:
    """Return seconds since the start of the process by what was painted, and the bytes of `memory`."""
    environment = {
        **os.environ,
        "GPUDESK_HOME": str(home),
        "GPUDESK_TIMING": "1",
        "QT_QPA_PLATFORM": "offscreen",
        **settings,
    }
    start = time.monotonic()
    completed = subprocess.run(command, env=environment, check=True, capture_output=True, text=True, timeout=60)
    marks = dict(line.split() for line in completed.stdout.splitlines())
    return {word: float(value) - (0.0 if word == "memory" else start) for word, value in marks.items()}
