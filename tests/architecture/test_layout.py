"""The layout: no cycles, no fragments, no long file, no name twice, and one direction inside the window."""

import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.architecture import checks
from tests.architecture.rules import RULES
from tests.architecture.source_tree import SourceTree

_EXCEPTIONS = tomllib.loads((Path(__file__).parent / "exceptions.toml").read_text(encoding="utf-8"))


def forbidden_imports(tree: SourceTree) -> list[str]:
    return checks.forbidden_imports(tree, RULES)


@pytest.mark.parametrize(
    "check",
    [
        forbidden_imports,
        checks.fragments,
        checks.import_cycles,
        checks.long_files,
        checks.own_parsers,
        checks.repeated_classes,
        checks.wrong_directions,
    ],
    ids=lambda check: check.__name__,
)
def test_exceptions_are_current(program: SourceTree, check: Callable[[SourceTree], list[str]]) -> None:
    exceptions, known_exceptions = set(check(program)), set(_EXCEPTIONS[check.__name__])
    assert sorted(exceptions - known_exceptions) == [], "new; it has to go"
    assert sorted(known_exceptions - exceptions) == [], "gone; take it out of exceptions.toml"
