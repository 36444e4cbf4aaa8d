"""What benchmarks share: a way to say what was measured, whether or not the bar was met."""

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
