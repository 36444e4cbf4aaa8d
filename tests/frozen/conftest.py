"""The frozen program, as a user has it: of this environment it gets a display and a home, no more."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_DEFAULT = ROOT / "build" / "packages" / "frozen" / "gpudesk"

Completed = subprocess.CompletedProcess[str]
RunFrozen = Callable[..., Completed]


#: A scenario to open.
TEMPLATE = ROOT / "resources" / "templates" / "70b-chat-on-four.gpudesk"


def frozen_folder() -> Path:
    """Return the folder of the frozen program; `GPUDESK_FROZEN` names another than `make freeze` makes."""
    folder = Path(os.environ.get("GPUDESK_FROZEN", _DEFAULT)).absolute()
    if not (folder / "gpudesk").exists():
        pytest.fail(f"{folder} holds no frozen program; run `make freeze`")
    return folder


@pytest.fixture(scope="session")
def frozen() -> Path:
    """Return the folder of the frozen program."""
    return frozen_folder()


@pytest.fixture
def run_frozen(frozen: Path, tmp_path: Path) -> RunFrozen:
    """Return what runs the frozen program with arguments and settings, and gives its output."""

    def run(*arguments: str, **settings: str) -> Completed:
        environment = {
            "HOME": str(tmp_path),
            "GPUDESK_HOME": str(tmp_path / "home"),
            "LANG": "C.UTF-8",
            "PATH": "/usr/bin:/bin",
            "QT_QPA_PLATFORM": "offscreen",
            **settings,
        }
        return subprocess.run(
            [str(frozen / "gpudesk"), *arguments],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )

    return run
