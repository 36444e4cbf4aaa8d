"""The import rules: a package sees only those below it, each heavy library has one home, and none talks."""

import ast

import pytest

from tests.architecture.checks import fault, network_imports, reaches_out
from tests.architecture.rules import RULES
from tests.architecture.source_tree import SourceTree, imports_of

_KNOWN = frozenset(f"gpudesk.{part}" for part in RULES)


def test_no_file_imports_network_modules(program: SourceTree) -> None:
    assert network_imports(program) == []


@pytest.mark.parametrize(
    ("part", "source", "expected"),
    [
        ("domain", "import json", None),
        ("domain", "import numpy", "may not import numpy"),
        ("domain", "from gpudesk.cli import output", "may not import gpudesk.cli"),
        ("engine", "from gpudesk.text.units import GIB", None),
        ("engine", "from gpudesk import catalog", "may not import gpudesk.catalog"),
        ("engine", "from gpudesk import __version__", "may not import gpudesk"),
        ("engine", "import sqlalchemy.orm", "may not import sqlalchemy.orm"),
        ("cli", "def f():\n from gpudesk.desktop.window.app import run", None),
        (
            "cli",
            "from gpudesk.desktop.window.app import run",
            "may import gpudesk.desktop.window.app inside a function only",
        ),
        ("cli", "def f():\n import gpudesk.desktop.pages", "may not import gpudesk.desktop.pages"),
        ("cli", "from PySide6 import QtCore", "may not import PySide6.QtCore"),
        ("evidence", "if True:\n from gpudesk.cli import output", "may not import gpudesk.cli"),
    ],
)
def test_rules_judge_known_imports(part: str, source: str, expected: str | None) -> None:
    (imported,) = imports_of(ast.parse(source), _KNOWN)
    assert fault(part, imported, RULES) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import socket", True),
        ("def f():\n from urllib.request import urlopen", True),
        ("from http import client", True),
        ("from PySide6.QtNetwork import QLocalServer", True),
        ("from PySide6 import QtNetwork", True),
        ("from urllib.parse import quote", False),
        ("import html", False),
    ],
)
def test_allowed_network_imports_are_current(source: str, expected: bool) -> None:
    assert any(reaches_out(imported) for imported in imports_of(ast.parse(source), frozenset())) is expected
