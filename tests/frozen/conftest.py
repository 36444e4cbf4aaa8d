"""The frozen program, as a user has it: of this environment it gets a home and no screen, no more."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_DEFAULT = ROOT / "build" / "packages" / "frozen" / "gpudesk"

#: The program's own files in the folder.
BUNDLE = Path("_internal", "gpudesk", "_bundled")
#: The interpreter of the environment that the program was frozen from, which the tools of packaging/ need.
BUILDERS_PYTHON = ROOT / "build/packages/venv" / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")

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


def environment(home: Path) -> dict[str, str]:
    return {
        "HOME": str(home),
        "GPUDESK_HOME": str(home),
        "LANG": "C.UTF-8",
        "PATH": "/usr/bin:/bin",
        "QT_QPA_PLATFORM": "offscreen",
    }


@pytest.fixture(scope="session")
def frozen() -> Path:
    return frozen_folder()


@pytest.fixture
def run_frozen(frozen: Path, tmp_path: Path) -> RunFrozen:
    def run(*arguments: str, **settings: str) -> Completed:
        return subprocess.run(
            [str(frozen / "gpudesk"), *arguments],
            cwd=tmp_path,
            env={**environment(tmp_path / "home"), **settings},
            capture_output=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )

    return run
