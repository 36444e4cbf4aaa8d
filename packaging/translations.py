"""Collects the texts of the program for translators, and turns their files into what the program reads.

translations.py update    bring each language's gpudesk.po up to it
translations.py compile   write what the program reads, build/translations/*/LC_MESSAGES/gpudesk.mo
translations.py missing   list what a language lacks; the exit status is 1 if it lacks anything
"""

from __future__ import annotations

import argparse
import ast
import csv
import json
import re
import sys
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from operator import itemgetter
from pathlib import Path
from typing import Final

from babel.messages.catalog import Catalog, Message
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

ROOT: Final = Path(__file__).parents[1]
TRANSLATIONS: Final = ROOT / "resources" / "translations"
COMPILED: Final = ROOT / "build" / "translations"

#: Functions and classes with translated arguments, by position or name.
_TEXT_ARGUMENTS: Final[dict[str, tuple[tuple[int, ...], frozenset[str]]]] = {
    "tr": ((0,), frozenset()),
    "message": ((1,), frozenset()),
    "input_error": ((1,), frozenset()),
    "Term": ((1,), frozenset()),
    "Figure": ((1,), frozenset()),
    "Attribute": ((1,), frozenset({"label", "full_label", "form_label", "explanation"})),
    "CatalogColumn": ((), frozenset({"head", "meaning"})),
    "CostDefaultSource": ((0,), frozenset()),
    "DerivationTerm": ((0, 3), frozenset({"name", "formula"})),
    "ListColumn": ((), frozenset({"head"})),
    "UnitChoice": ((0,), frozenset({"label"})),
    # Names and formulas of derivations
    "_attention": ((4,), frozenset()),
    "_join_operator": ((0,), frozenset()),
    "_make_constant_term": ((0,), frozenset()),
    "_make_figure_column": ((1, 2), frozenset()),
    "_make_held_term": ((0,), frozenset()),
    "_timed": ((0, 2), frozenset()),
    "derive_term": ((0, 3), frozenset()),
    "make_scenario_term": ((0,), frozenset()),
    "replace": ((), frozenset({"name"})),
}
_PLACEHOLDER: Final = re.compile(r"\{[A-Za-z_]\w*\}|%\(\w+\)s|%[rs]")
#: With a singular and a plural each.
_COUNTED_ARGUMENTS: Final = {"trn": (0, 1), "message_n": (1, 2)}
#: Keys of the data files with texts of decisions and sheets.
_DATA_KEYS: Final = frozenset(
    {"about", "advice", "ask", "basis", "caution", "corrected", "counts", "disagreement", "if_not", "if_passed"}
    | {"label", "look_for", "native_note", "note", "otherwise", "printed", "reason", "scope", "text", "title"}
    | {"trust", "unfounded", "verdict", "what", "why"}
)
#: Notes on sources; their titles are names.
_SOURCE_KEYS: Final = frozenset({"note", "trust"})
#: Attributes of accelerators whose values are common words, not names.
_WORDS: Final = frozenset({"form_factor", "license_limit", "sales_region", "status"})
#: The data files with texts, and their keys.
_DATA: Final[dict[str, frozenset[str]]] = {
    "data/accelerators/*.toml": _DATA_KEYS | {"conditions"},
    "data/calculations.toml": frozenset({"name", "result", "text"}),
    "data/claims/*.csv": frozenset({"attribute", "conditions", "note", "unit", "verdict"}),
    "data/cost_assumptions.toml": _DATA_KEYS,
    "data/diffusion/*.toml": _DATA_KEYS,
    "data/disputes/*.csv": _DATA_KEYS | {"attribute"},
    "data/export_rules.toml": _DATA_KEYS | {"name"},
    "data/launch.toml": frozenset({"read", "reason"}),
    "data/measurements/mlperf.toml": frozenset({"computed_by"}),
    "data/models/*.toml": _DATA_KEYS,
    "data/prices/*.csv": _DATA_KEYS | {"missing"},
    "data/priors.toml": frozenset({"meaning"}),
    "data/references.toml": _DATA_KEYS | {"who"},
    "data/reference_designs/*.toml": _DATA_KEYS | {"conditions"},
    "data/rules/*.toml": _DATA_KEYS,
    "data/software_support/*.toml": _DATA_KEYS | {"name"},
    "data/sources/*.toml": _SOURCE_KEYS,
    "data/systems/*.toml": _DATA_KEYS | {"conditions"},
    "data/worked_examples.csv": frozenset({"statement"}),
    "resources/manual/glossary.toml": frozenset({"meaning", "term"}),
    "resources/templates/*.gpudesk": frozenset({"name", "note"}),
}
_READERS: Final[dict[str, Callable[[str], object]]] = {
    ".csv": lambda content: list(csv.DictReader(content.splitlines())),
    ".gpudesk": json.loads,
    ".toml": tomllib.loads,
}


@dataclass(frozen=True)
class SourceText:
    """A text of the program, its plural if it counts, and its location."""

    singular: str
    plural: str | None
    place: tuple[str, int]

    @property
    def message_id(self) -> str | tuple[str, str]:
        return self.singular if self.plural is None else (self.singular, self.plural)


@cache
def list_source_texts() -> tuple[SourceText, ...]:
    return (*_read_code(), *_read_data_files())


def _read_code() -> Iterator[SourceText]:
    for file in sorted((ROOT / "gpudesk").rglob("*.py")):
        yield from _read_module(ast.parse(file.read_text(encoding="utf-8")), str(file.relative_to(ROOT)))


def _read_data_files() -> Iterator[SourceText]:
    for pattern, keys in _DATA.items():
        for file in sorted(ROOT.glob(pattern)):
            for text in _read_data(_READERS[file.suffix](file.read_text(encoding="utf-8")), keys):
                yield SourceText(text, None, (str(file.relative_to(ROOT)), 0))


def _read_module(module: ast.Module, name: str) -> Iterator[SourceText]:
    tables = _find_tables(module)
    for call, function in sorted(_find_calls(module), key=lambda call_site: call_site[0].lineno):
        yield from _read_call(call, function, tables, name)
    for node in module.body:
        if isinstance(node, ast.ClassDef) and any(_get_name(base) == "LabeledEnum" for base in node.bases):
            members = (
                each.value.elts
                for each in node.body
                if isinstance(each, ast.Assign | ast.AnnAssign) and isinstance(each.value, ast.Tuple)
            )
            for _, label in members:
                yield from (SourceText(text, None, (name, line)) for text, line in _list_literals(label))


def _find_calls(module: ast.Module) -> Iterator[tuple[ast.Call, ast.AST]]:
    """Yield every call with its innermost function, class or module."""
    waiting: list[tuple[ast.AST, ast.AST]] = [(module, module)]
    while waiting:
        node, scope = waiting.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Call):
                yield child, scope
            waiting.append((child, child if isinstance(child, ast.FunctionDef | ast.ClassDef) else scope))


def _get_name(called: ast.expr) -> str:
    if isinstance(called, ast.Attribute):
        return called.attr
    return called.id if isinstance(called, ast.Name) else ""


def _read_call(call: ast.Call, function: ast.AST, tables: dict[str, ast.expr], name: str) -> Iterator[SourceText]:
    called = _get_name(call.func)
    if called in _COUNTED_ARGUMENTS:
        first, second = (list(_list_literals(call.args[place])) for place in _COUNTED_ARGUMENTS[called])
        for (singular, line), (plural, _) in zip(first, second, strict=True):
            yield SourceText(singular, plural, (name, line))
        return
    if called not in _TEXT_ARGUMENTS:
        return
    places, names = _TEXT_ARGUMENTS[called]
    arguments = [call.args[place] for place in places if place < len(call.args)]
    arguments += [keyword.value for keyword in call.keywords if keyword.arg in names]
    for argument in arguments:
        literals = list(_list_literals(argument, function)) or list(_list_table_texts(argument, function, tables))
        for text, line in literals:
            if any(character.isalpha() for character in text):
                yield SourceText(text, None, (name, line))


def _list_literals(node: ast.expr, function: ast.AST | None = None) -> Iterator[tuple[str, int]]:
    """Yield the possible texts of an expression; with a function, a variable has its assignments there."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value, node.lineno
    elif isinstance(node, ast.IfExp):
        yield from _list_literals(node.body, function)
        yield from _list_literals(node.orelse, function)
    elif isinstance(node, ast.Name) and function is not None:
        yield from _list_assigned_texts(node.id, function)


def _list_assigned_texts(name: str, function: ast.AST) -> Iterator[tuple[str, int]]:
    texts: list[tuple[str, int]] = []
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            for target, value in _pair(node.targets[0], node.value):
                if isinstance(target, ast.Name) and target.id == name:
                    texts += _list_literals(value)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and node.target.id == name:
            texts += [(text + more, line) for text, line in texts for more, _ in _list_literals(node.value)]
        elif isinstance(node, ast.comprehension) and isinstance(node.iter, ast.Tuple):
            for each in node.iter.elts:
                for target, value in _pair(node.target, each):
                    if isinstance(target, ast.Name) and target.id == name:
                        texts += _list_literals(value)
    yield from texts


def _pair(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """Return the targets of an assignment, each with its value."""
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        return list(zip(target.elts, value.elts, strict=False))
    return [(target, value)]


def _find_tables(module: ast.Module) -> dict[str, ast.expr]:
    """Return the constants of a module by name."""
    tables: dict[str, ast.expr] = {}
    for node in module.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            if ast.unparse(node.annotation) == "TypeAlias":
                continue
            tables[node.target.id] = node.value
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            tables[node.targets[0].id] = node.value
    return tables


def _list_table_texts(argument: ast.expr, function: ast.AST, tables: dict[str, ast.expr]) -> Iterator[tuple[str, int]]:
    """Yield the texts of the tables behind an argument; for a variable, those named in its function."""
    named = {node.id for node in ast.walk(argument) if isinstance(node, ast.Name)} & tables.keys()
    if not named:
        named = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)} & tables.keys()
    for each in sorted(named):
        yield from _list_values(tables[each], tables)


def _list_values(node: ast.expr, tables: dict[str, ast.expr]) -> Iterator[tuple[str, int]]:
    """Yield the texts among the values of a constant: no mapping keys, no called functions."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value, node.lineno
    elif isinstance(node, ast.Name) and isinstance(tables.get(node.id), ast.Constant):
        yield from _list_values(tables[node.id], tables)
    children: list[ast.expr] = []
    if isinstance(node, ast.Dict):
        children = node.values
    elif isinstance(node, ast.Tuple | ast.List | ast.Set):
        children = node.elts
    elif isinstance(node, ast.Call):
        places, _ = _TEXT_ARGUMENTS.get(_get_name(node.func), ((0,), None))
        children = [*node.args[min(places, default=0) :], *(keyword.value for keyword in node.keywords)]
    elif isinstance(node, ast.BinOp):
        children = [node.left, node.right]
    elif isinstance(node, ast.Starred):
        children = [node.value]
    for child in children:
        yield from _list_values(child, tables)


def _read_data(value: object, keys: frozenset[str]) -> Iterator[str]:
    if isinstance(value, list):
        for each in value:
            yield from _read_data(each, keys)
    elif isinstance(value, dict):
        for key, each in value.items():
            if key in keys and isinstance(each, str) and each:
                yield each
            elif isinstance(each, (list, dict)):
                yield from _read_data(each, keys | {"value"} if key in _WORDS else keys)


def make_template() -> Catalog:
    """Return all texts of the program, none translated."""
    template = Catalog(project="GPU Desk", charset="utf-8", fuzzy=False)
    for text in list_source_texts():
        template.add(text.message_id, locations=[(text.place[0], 0)])
    return template


def list_languages() -> list[str]:
    return sorted(file.parent.parent.name for file in TRANSLATIONS.glob("*/LC_MESSAGES/gpudesk.po"))


def _get_source(language: str) -> Path:
    return TRANSLATIONS / language / "LC_MESSAGES" / "gpudesk.po"


def read_language(language: str) -> Catalog:
    with _get_source(language).open("rb") as file:
        return read_po(file, locale=language)


def write_catalog(catalog: Catalog, file: Path) -> None:
    """Write a catalog without line numbers and dates, which change daily."""
    buffer = BytesIO()
    write_po(
        buffer, catalog, width=120, omit_header=False, sort_output=False, ignore_obsolete=True, include_lineno=False
    )
    lines = buffer.getvalue().decode().splitlines()
    kept_lines = [
        line for line in lines if not line.startswith(('"POT-Creation-Date', '"PO-Revision-Date', '"Generated-By'))
    ]
    file.write_text("\n".join(kept_lines).rstrip() + "\n", encoding="utf-8")


def update() -> None:
    template = make_template()
    for language in list_languages():
        catalog = read_language(language)
        update_catalog(catalog, template)
        write_catalog(catalog, _get_source(language))


def update_catalog(catalog: Catalog, template: Catalog) -> None:
    """Update a catalog to a template; new texts follow their predecessors there, and no other moves."""
    places = {_get_singular(message): place for place, message in enumerate(catalog)}
    # A text whose English changed is translated again rather than guessed.
    catalog.update(template, no_fuzzy_matching=True)
    place = 0
    placed: list[tuple[int, Message]] = []
    for message in list(catalog)[1:]:
        place = places.get(_get_singular(message), place)
        placed.append((place, message))
        catalog.delete(message.id)
    for _, message in sorted(placed, key=itemgetter(0)):
        catalog[message.id] = message


def _get_singular(message: Message) -> str:
    return message.id if isinstance(message.id, str) else message.id[0]


def compile_languages(folder: Path) -> None:
    """Write each language in the program's format into a separate folder."""
    for language in list_languages():
        target = folder / _get_source(language).relative_to(TRANSLATIONS).with_suffix(".mo")
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("wb") as file:
            write_mo(file, read_language(language))


def list_missing(language: str) -> list[str]:
    """Return the texts without a finished translation in a language, with reasons."""
    catalog = read_language(language)
    missing = []
    for message in make_template():
        texts = [message.id] if isinstance(message.id, str) else list(message.id)
        if texts[0]:
            fault = find_fault(catalog.get(texts[0]), texts)
            missing += [f"{fault}: {texts[0]}"] if fault else []
    return missing


def find_fault(translated: Message | None, texts: list[str]) -> str:
    """Return the fault of a translation; empty if it is complete."""
    if translated is None or not translated.string:
        return "not translated"
    if translated.fuzzy:
        return "to be reviewed"
    forms = [translated.string] if isinstance(translated.string, str) else list(translated.string)
    if len(forms) < len(texts) or not all(forms):
        return "without a plural"
    # A singular can name the number in a word.
    placeholders = set(_PLACEHOLDER.findall(texts[-1]))
    if (
        any(set(_PLACEHOLDER.findall(form)) - placeholders for form in forms)
        or set(_PLACEHOLDER.findall(forms[-1])) != placeholders
    ):
        return "other placeholders"
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("update", "compile", "missing"))
    action = parser.parse_args().action
    if action == "update":
        update()
    elif action == "compile":
        compile_languages(COMPILED)
    else:
        missing = [f"{language}: {text}" for language in list_languages() for text in list_missing(language)]
        for line in missing:
            print(line)
        return 1 if missing else 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
