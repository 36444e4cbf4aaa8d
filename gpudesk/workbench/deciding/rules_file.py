"""The rules of documents, read from their files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from gpudesk.advisor.conditions import ConditionError, condition
from gpudesk.domain.decisions import Case, Rule
from gpudesk.domain.messages import InputError, message
from gpudesk.domain.questions import QUESTIONS, Strength
from gpudesk.workbench.files import read_toml

_SUFFIX: Final = "*.toml"
_RULES: Final = "rules"
_CASES: Final = frozenset({"when", "requires", "favours", "checks", "advice", "theme", "title"})


def read_rules(folder: Path) -> tuple[Rule, ...]:
    """Return the rules of all files of a folder, by file and in its order.

    Files without a table of rules are others'. Raises `InputError` that names file and rule for one that
    cannot be read, for a condition that is none, and for an id that comes twice.
    """
    rules: dict[str, Rule] = {}
    for path in sorted(folder.glob(_SUFFIX)):
        for rule in _of_file(path):
            if rule.id in rules:
                raise InputError(message("rules.twice", rule=rule.id), str(path))
            rules[rule.id] = rule
    if not rules:
        raise InputError(message("rules.none"), str(folder))
    return tuple(rules.values())


def _of_file(path: Path) -> Iterator[Rule]:
    document = read_toml(path)
    entries = document.get(_RULES, [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise InputError(message("rules.entry", reason=_RULES), str(path))
    for position, entry in enumerate(entries):
        where = f"{path}: {entry.get('id', position)}"
        try:
            yield _rule(entry, document, where)
        except ConditionError as error:
            raise InputError(message("rules.condition", reason=str(error)), where) from error
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(message("rules.entry", reason=str(error)), where) from error


def _rule(entry: dict[str, Any], document: dict[str, Any], where: str) -> Rule:
    for name in (asks := tuple(entry.get("asks", ()))):
        if name not in QUESTIONS:
            raise InputError(message("rules.question", name=name), where)
    return Rule(
        id=entry["id"],
        source=document.get("source"),
        dated=document["dated"],
        pair=tuple(document["pair"]),
        strength=Strength(entry["strength"]),
        theme=entry["theme"],
        title=entry["title"],
        why=entry["why"],
        cases=tuple(_case(case) for case in entry["cases"]),
        asks=asks,
        shows=entry.get("shows"),
        disputes=tuple(entry.get("disputes", ())),
        printed=entry.get("printed"),
        corrected=entry.get("corrected"),
        unfounded=entry.get("unfounded"),
        weight=entry.get("weight"),
        against=tuple(entry.get("against", ())),
    )


def _case(entry: dict[str, str]) -> Case:
    if unknown := entry.keys() - _CASES:
        raise ValueError(", ".join(sorted(unknown)))
    case = Case(**entry)
    for text in (case.when, case.requires, case.favours, case.checks):
        if text is not None:
            condition(text)
    return case
