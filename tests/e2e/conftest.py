"""Runs the program as a user does: in a process of its own."""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

Completed = subprocess.CompletedProcess[str]
RunProgram = Callable[..., Completed]


@pytest.fixture
def gpudesk(tmp_path: Path) -> RunProgram:
    """Return what runs `gpudesk` with arguments and gives its output."""

    def run(*arguments: str, stdin: str = "", environment: Mapping[str, str] | None = None) -> Completed:
        settings = {
            **os.environ,
            "GPUDESK_HOME": str(tmp_path / "home"),
            "GPUDESK_LANGUAGE": "en",
            "COLUMNS": "100",
            "PYTHONIOENCODING": "utf-8",
            **(environment or {}),
        }
        return subprocess.run(
            [sys.executable, "-m", "gpudesk", *arguments],
            input=stdin,
            capture_output=True,
            encoding="utf-8",
            env=settings,
            timeout=120,
            check=False,
        )

    return run
