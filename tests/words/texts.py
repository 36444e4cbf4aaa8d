"""Every text that the program shows: sentences in code, in data files and in the documents that ship with it."""

from __future__ import annotations

import ast
import csv
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
_MAKERS = {"tr": 1, "trn": 2, "message": 2, "message_n": 3, "input_error": 2, "Term": 2}
_DATA_KEYS = frozenset(
    {"advice", "basis", "caution", "corrected", "description", "disagreement", "explanation", "help", "if_not"}
    | {"if_passed", "label", "look_for", "meaning", "native_note", "note", "otherwise", "printed", "reason"}
    | {"about", "ask", "scope", "text", "title", "unfounded", "what", "why"}
)
#: Titles of sources are names that others gave, and measurements keep the notes of their publishers.
_UNREAD = ("data/sources/", "data/measurements/", "data/accuracy/", "data/claims/", "data/worked_examples.csv")
#: The name that a heading of the manual has in links.
_ANCHOR = re.compile(r" \{#[\w-]+\}$")
_DOCUMENTS = ("README.md", "resources/sheets/*.md", "resources/manual/*.md", "packaging/**/*.md")


@dataclass(frozen=True)
class ShownText:
    """A text, the file and line (or row) where it stands."""

    place: str
    text: str


def read_code(folder: Path = ROOT / "gpudesk") -> Iterator[ShownText]:
    """Yield the literals given to the text system; of an id and its sentence, the sentence."""
    for file in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            maker = ast.unparse(node.func)
            if maker not in _MAKERS:
                continue
            first = 0 if maker in ("tr", "trn") else 1
            for argument in node.args[first : _MAKERS[maker]]:
                for literal in ast.walk(argument):
                    if isinstance(literal, ast.Constant) and isinstance(literal.value, str):
                        yield ShownText(f"{file.relative_to(ROOT)}:{literal.lineno}", literal.value)


def read_data(folder: Path = ROOT / "data") -> Iterator[ShownText]:
    """Yield the texts of data files that tables, sheets and the decision show."""
    for file in sorted((*folder.rglob("*.toml"), *folder.rglob("*.csv"), ROOT / "resources/manual/glossary.toml")):
        name = str(file.relative_to(ROOT))
        if name.startswith(_UNREAD):
            continue
        if file.suffix == ".toml":
            yield from _read_values(name, tomllib.loads(file.read_text(encoding="utf-8")))
        else:
            with file.open(encoding="utf-8", newline="") as rows:
                for number, row in enumerate(csv.DictReader(rows), start=2):
                    yield from _read_values(f"{name}:{number}", row)


def _read_values(place: str, value: object) -> Iterator[ShownText]:
    if isinstance(value, list):
        for each in value:
            yield from _read_values(place, each)
    elif isinstance(value, dict):
        here = f"{place}:{value['id']}" if isinstance(value.get("id"), str) else place
        for key, each in value.items():
            if key in _DATA_KEYS and isinstance(each, str):
                yield ShownText(f"{here}:{key}", each)
            elif isinstance(each, (list, dict)):
                yield from _read_values(here, each)


def read_documents() -> Iterator[ShownText]:
    """Yield the paragraphs of documents in Markdown: without code, tables and links' addresses."""
    for pattern in _DOCUMENTS:
        for file in sorted(ROOT.glob(pattern)):
            is_code = False
            for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
                if line.startswith("```"):
                    is_code = not is_code
                elif not is_code and not line.startswith(("|", "    ", "[", "<")):
                    yield ShownText(f"{file.relative_to(ROOT)}:{number}", _ANCHOR.sub("", line))


@cache
def read_all() -> tuple[ShownText, ...]:
    return (*read_code(), *read_data(), *read_documents())
