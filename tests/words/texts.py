"""Every text that the program shows: sentences in code, in data files and in the documents that ship with it."""

from __future__ import annotations

import ast
import csv
import json
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.source import parse_source

ROOT = Path(__file__).parents[2]
#: Functions and classes that take texts, and which of their arguments are texts.
_MAKERS = {
    "tr": (0,),
    "trn": (0, 1),
    "message": (1,),
    "message_n": (1, 2),
    "input_error": (1,),
    "Term": (1,),
    "Figure": (1,),
    "Attribute": (1,),
    "CostDefaultSource": (0,),
    "UnitChoice": (0,),
    # Names and formulas of derivations
    "DerivationTerm": (0, 3),
    "derive_term": (0, 3),
    "make_scenario_term": (0,),
    "_attention": (4,),
    "_join_operator": (0,),
    "_make_held_term": (0,),
    "_timed": (0, 2),
}
_DATA_KEYS = frozenset(
    {"advice", "basis", "caution", "corrected", "description", "disagreement", "explanation", "help", "if_not"}
    | {"if_passed", "label", "look_for", "meaning", "native_note", "note", "otherwise", "printed", "reason"}
    | {"about", "ask", "conditions", "counts", "scope", "text", "title", "trust", "unfounded", "verdict", "what", "why"}
)
#: Statements and figures as their publishers print them, and results of programs.
_UNREAD = ("data/accuracy/", "data/claims/", "data/worked_examples.csv")
#: Titles here are names that others gave.
_SOURCES = "data/sources/"
#: The name that a heading of the manual has in links.
_ANCHOR = re.compile(r" \{#[\w-]+\}$")
#: What begins an item of a list, and the lines without prose: tables, code, links, pictures, HTML.
_ITEM = re.compile(r"\s*([-*]|\d+\.) ")
_NO_PROSE = ("|", "    ", "[", "<", "![")
#: Lines that hold a comment only, in succession.
_COMMENTS = re.compile(r"(?:^[ ]*#[^\n]*\n)+", re.MULTILINE)
_COMMENT_SIGN = re.compile(r"^ *#[:!]? ?|\n *#[:!]? ?")
_DOCUMENTS = ("*.md", "resources/sheets/*.md", "resources/manual/*.md", "packaging/**/*.md")


@dataclass(frozen=True)
class ShownText:
    """A text, the file and line (or row) where it stands."""

    place: str
    text: str


@cache
def read_code() -> tuple[ShownText, ...]:
    """Return the literals given to the text system; of an id and its sentence, the sentence."""
    return tuple(text for file in sorted((ROOT / "gpudesk").rglob("*.py")) for text in _read_module(file))


def _read_module(file: Path) -> Iterator[ShownText]:
    for node in ast.walk(parse_source(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ClassDef) and any(ast.unparse(base) == "LabeledEnum" for base in node.bases):
            for member in node.body:
                match member:
                    case ast.Assign(value=ast.Tuple(elts=[_, ast.Constant(value=str(label))])):
                        yield ShownText(f"{file.relative_to(ROOT)}:{member.lineno}", label)
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id not in _MAKERS:
            continue
        for argument in (node.args[place] for place in _MAKERS[node.func.id] if place < len(node.args)):
            for literal in ast.walk(argument):
                if isinstance(literal, ast.Constant) and isinstance(literal.value, str):
                    yield ShownText(f"{file.relative_to(ROOT)}:{literal.lineno}", literal.value)


def read_comments(*folders: str) -> Iterator[ShownText]:
    """Yield the docstrings and the comments of Python code; a comment of several lines is one text."""
    for file in sorted(file for folder in folders for file in (ROOT / folder).rglob("*.py")):
        name, source = str(file.relative_to(ROOT)), file.read_text(encoding="utf-8")
        for node in ast.walk(parse_source(source)):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (text := ast.get_docstring(node)):
                yield ShownText(f"{name}:{getattr(node, 'lineno', 1)}", text)
        for block in _COMMENTS.finditer(source):
            line = source.count("\n", 0, block.start()) + 1
            yield ShownText(f"{name}:{line}", _COMMENT_SIGN.sub(" ", block.group()))


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
            if key == "title" and place.startswith(_SOURCES):
                continue
            if key in _DATA_KEYS and isinstance(each, str):
                yield ShownText(f"{here}:{key}", each)
            elif isinstance(each, (list, dict)):
                yield from _read_values(here, each)


def read_templates() -> Iterator[ShownText]:
    """Yield the names and notes of the scenarios that ship with the program."""
    for file in sorted((ROOT / "resources/templates").glob("*.gpudesk")):
        scenario = json.loads(file.read_text(encoding="utf-8"))["scenario"]
        for key in ("name", "note"):
            yield ShownText(f"{file.relative_to(ROOT)}:{key}", scenario[key])


def read_documents() -> Iterator[ShownText]:
    """Yield the headings, paragraphs and items of documents in Markdown, their lines joined."""
    for pattern in _DOCUMENTS:
        for file in sorted(ROOT.glob(pattern)):
            yield from _read_blocks(str(file.relative_to(ROOT)), file.read_text(encoding="utf-8"))


def _read_blocks(name: str, text: str) -> Iterator[ShownText]:
    block: list[str] = []
    start, is_code = 0, False
    for number, line in enumerate((*text.splitlines(), ""), start=1):
        is_fence = line.startswith("```")
        is_code = is_code is not is_fence
        is_prose = not (is_code or is_fence or line.startswith(_NO_PROSE))
        ends = not line.strip() or line.startswith("#") or _ITEM.match(line) is not None
        if block and (ends or not is_prose or block[0].startswith("#")):
            yield ShownText(f"{name}:{start}", _ANCHOR.sub("", " ".join(block)))
            block = []
        if is_prose and line.strip():
            start = start if block else number
            block.append(line.strip())


@cache
def read_all() -> tuple[ShownText, ...]:
    return (*read_code(), *read_data(), *read_templates(), *read_documents())
