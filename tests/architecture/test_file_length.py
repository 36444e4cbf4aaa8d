"""No file of the program, its tests or its packaging grows past what a reader can hold."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LONGEST = 800


@pytest.mark.parametrize("folder", ["gpudesk", "packaging", "tests"])
def test_no_file_is_longer_than_the_limit(folder: str) -> None:
    lengths = {
        str(file.relative_to(ROOT)): len(file.read_text(encoding="utf-8").splitlines())
        for file in (ROOT / folder).rglob("*.py")
    }
    assert {name: length for name, length in lengths.items() if length > LONGEST} == {}
