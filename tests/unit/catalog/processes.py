"""Starting, confining and killing processes that use a user's file."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from tests.unit.catalog.user_file_process import work

ROOT = Path(__file__).parents[3]
#: How many kills a test draws again, instead of a few at the moments of every run (`make soak`).
KILLS = int(os.environ.get("SOAK_KILLS", "0"))

#: Starts processes that have loaded already what they need: a kill then costs a fork, not a start of Python.
_FORKS = get_context("forkserver")
_FORKS.set_forkserver_preload(["tests.unit.catalog.user_file_process"])


def _command(doing: str, path: Path) -> list[str]:
    return [sys.executable, "-m", "tests.unit.catalog.user_file_process", doing, str(path)]


def start(doing: str, path: Path) -> subprocess.Popen[str]:
    """Start a process and wait until it begins what it is to do."""
    process = subprocess.Popen(
        _command(doing, path), cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == '{"ready": true}\n'
    return process


def draw_moments(seed: int) -> random.Random:
    return random.Random(None if KILLS else seed)


def kill(doing: Callable[[Path], None], path: Path, after: float, lines: int = 0) -> list[dict[str, Any]]:
    """End a process by the hardest signal some seconds after it has said so many lines; return all that it had said."""
    reading, writing = _FORKS.Pipe(duplex=False)
    process = _FORKS.Process(target=work, args=(doing, path, writing))
    process.start()
    writing.close()
    with os.fdopen(os.dup(reading.fileno()), encoding="utf-8") as output:
        reading.close()
        assert output.readline() == '{"ready": true}\n'
        first = [output.readline() for _ in range(lines)]
        time.sleep(after)
        process.kill()
        process.join()
        return [json.loads(line) for line in (*first, *output) if line.endswith("\n")]


def run(doing: str, path: Path, *, within: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """Run a process to its end, under the command `within`, and return what it said."""
    completed = subprocess.run(
        [*within, *_command(doing, path)],
        cwd=ROOT,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert completed.returncode == 0, completed.stderr
    return [json.loads(line) for line in completed.stdout.splitlines()][1:]


def own_mounts(*commands: str) -> tuple[str, ...]:
    """Return the command that runs another where `commands` have mounted what only it sees."""
    return ("unshare", "--map-root-user", "--mount", "sh", "-c", " && ".join((*commands, 'exec "$@"')), "sh")


def can_mount() -> bool:
    try:
        mounted = subprocess.run([*own_mounts("mount -t tmpfs none /mnt"), "true"], capture_output=True, check=False)
    except FileNotFoundError:
        return False
    return mounted.returncode == 0
