"""Every variable, argument and function is named by what it is, not by what was done with it, in American spelling."""

import ast
from collections.abc import Callable, Iterator

import pytest

from tests.source import parse_source
from tests.words.rules import find_british_names, find_participles
from tests.words.texts import ROOT


@pytest.mark.parametrize("find_names", [find_participles, find_british_names])
def test_no_name_is(find_names: Callable[[ast.AST], Iterator[tuple[int, str]]]) -> None:
    places = [
        f"{file.relative_to(ROOT)}:{line}: {name}"
        for folder in ("gpudesk", "packaging", "tests")
        for file in sorted((ROOT / folder).rglob("*.py"))
        for line, name in find_names(parse_source(file.read_text(encoding="utf-8")))
    ]
    assert not places


def test_participles_are_found_but_not_among_attributes() -> None:
    source = """
class Page:
    shown = Signal()

    def told(self, asked: str) -> None:
        _kept = asked
"""
    assert sorted(find_participles(ast.parse(source))) == [(5, "asked"), (5, "told"), (6, "_kept")]


def test_british_names_are_found_but_not_among_public_keys() -> None:
    source = """
class QuantisedColours:
    organisation: str

    def find_neighbour(self, real_licence: float) -> None:
        self.normalised = realistic = parallelism = quantity = 0
"""
    assert sorted(find_british_names(ast.parse(source))) == [
        (2, "QuantisedColours"),
        (5, "find_neighbour"),
        (5, "real_licence"),
        (6, "normalised"),
    ]
