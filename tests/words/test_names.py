"""Every variable, argument and function is named by what it is, not by what was done with it."""

import ast

from tests.source import parse_source
from tests.words.rules import find_participles
from tests.words.texts import ROOT


def test_no_name_is_a_participle() -> None:
    places = [
        f"{file.relative_to(ROOT)}:{line}: {name}"
        for folder in ("gpudesk", "packaging", "tests")
        for file in sorted((ROOT / folder).rglob("*.py"))
        for line, name in find_participles(parse_source(file.read_text(encoding="utf-8")))
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
