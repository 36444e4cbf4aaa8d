"""The program's source, read once for all tests of its architecture."""

from pathlib import Path

import pytest

import gpudesk
from tests.architecture.source_tree import SourceTree


@pytest.fixture(scope="session")
def program() -> SourceTree:
    return SourceTree(Path(gpudesk.__file__).parent)
