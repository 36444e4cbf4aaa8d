"""The program's source, read once for all tests of its architecture."""

from pathlib import Path

import pytest

import gpudesk
from tests.architecture.source_tree import SourceTree


@pytest.fixture(scope="session")
def program() -> SourceTree:
    """Return the modules of the program."""
    return SourceTree(Path(gpudesk.__file__).parent)
