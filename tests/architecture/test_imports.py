"""The import rules: a package sees only those below it, and each heavy library has one home."""

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import gpudesk

ROOT = Path(gpudesk.__file__).parent


@dataclass(frozen=True, slots=True)
class Rule:
    """What a part may import of the project (`inside`) and of others beside the standard library (`outside`).

    `lazily` names modules of the project that may be imported inside a function only.
    """

    inside: frozenset[str]
    outside: frozenset[str] = frozenset()
    lazily: frozenset[str] = frozenset()


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


RULES = {
    # One file each: what every part may need.
    "__init__": Rule(_names("")),
    "__main__": Rule(_names("cli")),
    "paths": Rule(_names("")),
    "release": Rule(_names("paths __init__")),
    "parts": Rule(_names("paths text")),
    "text": Rule(_names("paths")),
    "sentences": Rule(
        _names(
            "domain text sentences_beside sentences_buying sentences_catalog sentences_costs "
            "sentences_decide sentences_dialogue sentences_fit sentences_launch sentences_sizing "
            "sentences_topology sentences_worked"
        )
    ),
    "sentences_beside": Rule(_names("")),
    "sentences_buying": Rule(_names("")),
    "sentences_catalog": Rule(_names("sentences_configs sentences_imports sentences_packs")),
    "sentences_configs": Rule(_names("")),
    "sentences_costs": Rule(_names("")),
    "sentences_decide": Rule(_names("")),
    "sentences_dialogue": Rule(_names("")),
    "sentences_fit": Rule(_names("")),
    "sentences_imports": Rule(_names("")),
    "sentences_launch": Rule(_names("")),
    "sentences_packs": Rule(_names("")),
    "sentences_sizing": Rule(_names("")),
    "sentences_topology": Rule(_names("")),
    "sentences_worked": Rule(_names("")),
    # From the bottom up.
    "domain": Rule(_names("")),
    "engine": Rule(_names("domain"), _names("numpy")),
    "economics": Rule(_names("domain"), _names("numpy")),
    "advisor": Rule(_names("domain engine economics"), _names("numpy")),
    "evidence": Rule(_names("domain engine paths text"), _names("numpy")),
    "catalog": Rule(_names("domain paths text"), _names("sqlmodel sqlalchemy pydantic")),
    "workbench": Rule(
        _names("domain engine economics advisor evidence catalog paths text sentences"), _names("numpy orjson nacl")
    ),
    "sheets": Rule(_names("domain paths text sentences"), _names("xlsxwriter")),
    "cli": Rule(
        _names("domain workbench sheets paths parts release text sentences __init__"),
        _names("orjson"),
        # The window, paper, and what the check of an installation asks of Qt.
        lazily=_names(
            "gpudesk.desktop.window.app gpudesk.desktop.faults gpudesk.desktop.printing gpudesk.desktop.window.self_check"
        ),
    ),
    "desktop": Rule(
        _names("domain workbench sheets paths parts release text sentences __init__"),
        _names("PySide6 shiboken6 pyqtgraph numpy"),
    ),
}


@dataclass(frozen=True, slots=True)
class Import:
    """One imported module and where."""

    module: str
    in_function: bool
    line: int


def part_of(file: Path) -> str:
    """Return the package below gpudesk that a file belongs to, or its own name when it lies at the top."""
    first = file.relative_to(ROOT).parts[0]
    return first.removesuffix(".py")


def imports_of(tree: ast.Module) -> Iterator[Import]:
    """Yield every import statement's modules. `from gpudesk import x` counts as gpudesk.x."""

    def walk(node: ast.AST, in_function: bool) -> Iterator[Import]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import):
                yield from (Import(alias.name, in_function, child.lineno) for alias in child.names)
            elif isinstance(child, ast.ImportFrom):
                yield from (
                    Import(_target(child.module or "", alias.name), in_function, child.lineno) for alias in child.names
                )
            else:
                is_function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
                yield from walk(child, in_function or is_function)

    return walk(tree, in_function=False)


def _target(module: str, name: str) -> str:
    if module in {"PySide6", "urllib"}:
        return f"{module}.{name}"
    if module != "gpudesk":
        return module
    return f"gpudesk.{name}" if name in RULES else "gpudesk"


def fault(part: str, found: Import) -> str | None:
    """Say what is wrong with an import, or None."""
    rule = RULES[part]
    top, _, rest = found.module.partition(".")
    if top != "gpudesk":
        known = top in sys.stdlib_module_names or top in rule.outside
        return None if known else f"may not import {found.module}"
    target = rest.partition(".")[0] or "__init__"
    if target == part or target in rule.inside:
        return None
    if any(found.module == lazy or found.module.startswith(f"{lazy}.") for lazy in rule.lazily):
        return None if found.in_function else f"may import {found.module} inside a function only"
    return f"may not import {found.module}"


def source_files() -> list[Path]:
    """Return every module of the program."""
    return sorted(file for file in ROOT.rglob("*.py") if "_bundled" not in file.parts)


@pytest.mark.parametrize("file", source_files(), ids=lambda file: str(file.relative_to(ROOT)))
def test_file_imports_only_what_its_part_may(file: Path) -> None:
    part = part_of(file)
    assert part in RULES, f"{part} is not a part of the design"
    tree = ast.parse(file.read_text(encoding="utf-8"))
    faults = [
        f"line {found.line}: {part} {message}"
        for found in imports_of(tree)
        if (message := fault(part, found)) is not None
    ]
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize(
    ("part", "source", "expected"),
    [
        ("domain", "import json", None),
        ("domain", "import numpy", "may not import numpy"),
        ("domain", "from gpudesk.text.translation import tr", "may not import gpudesk.text.translation"),
        ("engine", "from gpudesk.text.units import GIB", None),
        ("engine", "from gpudesk import catalog", "may not import gpudesk.catalog"),
        ("workbench", "import sqlalchemy.orm", "may not import sqlalchemy.orm"),
        ("sheets", "from gpudesk.workbench import resolve", "may not import gpudesk.workbench"),
        ("cli", "def f():\n from gpudesk.desktop.window.app import run", None),
        (
            "cli",
            "from gpudesk.desktop.window.app import run",
            "may import gpudesk.desktop.window.app inside a function only",
        ),
        ("cli", "def f():\n import gpudesk.desktop.pages", "may not import gpudesk.desktop.pages"),
        ("cli", "from PySide6 import QtCore", "may not import PySide6.QtCore"),
        ("evidence", "if True:\n from gpudesk.advisor import rules", "may not import gpudesk.advisor"),
    ],
)
def test_rules_judge_known_imports(part: str, source: str, expected: str | None) -> None:
    (found,) = imports_of(ast.parse(source))
    assert fault(part, found) == expected


#: What reaches other machines, or brings along what does. Nothing in the program has a use for it.
NETWORK = _names(
    "socket socketserver ssl select selectors asyncio http urllib.request urllib.robotparser urllib.error "
    "ftplib imaplib poplib smtplib telnetlib nntplib xmlrpc wsgiref webbrowser multiprocessing.managers "
    "multiprocessing.connection logging.config PySide6.QtNetwork PySide6.QtNetworkAuth PySide6.QtWebSockets "
    "PySide6.QtWebEngineCore PySide6.QtHttpServer PySide6.QtRemoteObjects requests httpx urllib3 aiohttp"
)


def reaches_out(found: Import) -> bool:
    """Whether an import is of a module that reaches other machines."""
    return any(found.module == name or found.module.startswith(f"{name}.") for name in NETWORK)


@pytest.mark.parametrize("file", source_files(), ids=lambda file: str(file.relative_to(ROOT)))
def test_no_file_imports_what_reaches_other_machines(file: Path) -> None:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    assert [found for found in imports_of(tree) if reaches_out(found)] == []


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
def test_imports_that_reach_other_machines_are_known(source: str, expected: bool) -> None:
    assert any(reaches_out(found) for found in imports_of(ast.parse(source))) is expected


#: What every page may be built on.
SHARED_BY_PAGES = _names("gpudesk.desktop.pages.page gpudesk.desktop.pages.page")


def test_pages_do_not_know_each_other() -> None:
    """Each page sees the session; what two of them need lies among the widgets or is shared by all."""
    pages = ROOT / "desktop" / "pages"
    faults = []
    for file in sorted(pages.rglob("*.py")):
        folder = file.relative_to(pages).parts[0]
        own = f"gpudesk.desktop.pages.{folder.removesuffix('.py')}"
        for found in imports_of(ast.parse(file.read_text(encoding="utf-8"))):
            other = found.module.startswith("gpudesk.desktop.pages.") and not found.module.startswith(own)
            if other and found.module not in SHARED_BY_PAGES:
                faults.append(f"{file.relative_to(ROOT)}, line {found.line}: imports {found.module}")
    assert not faults, "\n".join(faults)
