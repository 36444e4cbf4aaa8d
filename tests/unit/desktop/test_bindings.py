"""What Qt's bindings do to modules that are imported after them."""

import importlib
import linecache
import sys
from pathlib import Path

import pytest

SOURCE = """
names = []


def __getattr__(name):
    names.append(name)
    raise AttributeError(name)
"""


def test_bindings_neither_read_nor_question_further_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    importlib.import_module("gpudesk.desktop")
    path = tmp_path / "imported_after_qt.py"
    path.write_text(SOURCE)
    monkeypatch.syspath_prepend(tmp_path)
    import imported_after_qt  # type: ignore[import-not-found]  # through the bindings' import function

    assert "__wrapped__" not in imported_after_qt.names
    assert str(path) not in linecache.cache
    del sys.modules["imported_after_qt"]
