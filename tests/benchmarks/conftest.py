"""What benchmarks share: a way to say what was measured, whether or not the bar was met."""

import gc
import sys
from collections.abc import Callable

import pytest

Say = Callable[[str], None]


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str]) -> Say:
    def show(line: str) -> None:
        with capsys.disabled():
            sys.stdout.write(f"\n  {line}")

    return show


@pytest.fixture(scope="session", autouse=True)
def _shipped_files_are_read_once() -> None:
    """Let them be read each time, and garbage be looked for as often as usual: here that is measured."""
    gc.unfreeze()
    gc.set_threshold(700, 10, 10)


@pytest.fixture(scope="session", autouse=True)
def _shipped_facts_are_opened_once() -> None:
    """Let each service open and compute its own."""
