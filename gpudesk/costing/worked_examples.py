"""Worked examples: figures printed by documents, read from their table and computed again from their inputs."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from gpudesk.costing.worked_calculations import CALCULATIONS, SPAN, SPANS, Calculation
from gpudesk.domain.deployment_analysis import FigureTolerance, WorkedExample, WorkedExampleVerdict, WorkedFigure
from gpudesk.files import describe_unreadable
from gpudesk.text.messages import InputError, explain_system_error, input_error

_COLUMNS: Final = ("id", "seed", "statement", "inputs", "expected", "tolerance", "verdict")
_SEED: Final = re.compile(r"(\d{3})_\w+\.txt")
#: The fields of a printed figure by their names in the file.
_PUBLISHED: Final = {"stated": "published", "stated_low": "published_low", "stated_high": "published_high"}
_WORDS: Final = frozenset({"expr", "note", *_PUBLISHED})


def read_worked_examples(path: Path) -> tuple[WorkedExample, ...]:
    """Return all examples of a table; raises `InputError` that names file, line and what is wrong."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = csv.DictReader(file)
            if tuple(rows.fieldnames or ()) != _COLUMNS:
                raise input_error(
                    "worked.columns", "has different columns than {known}; restore the file", str(path), known=_COLUMNS
                )
            return tuple(_parse_example(row, f"{path}:{rows.line_num}") for row in rows)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(describe_unreadable(explain_system_error(error)), str(path)) from error


def compute_worked_figure(example: WorkedExample) -> WorkedFigure | None:
    """Return an example with its derivation; None for an unknown calculation."""
    if example.formula is None:
        return WorkedFigure(example, None)
    calculation = _find_calculation(example.formula, example.statement)
    return None if calculation is None else WorkedFigure(example, calculation.term(example.formula, example.inputs))


def _find_calculation(formula: str, statement: str) -> Calculation | None:
    if formula == SPAN:
        span_name, _, _ = statement.partition(" ")
        return SPANS.get(span_name)
    return CALCULATIONS.get(formula)


def _parse_example(row: Mapping[str, str | None], where: str) -> WorkedExample:
    cells = {name: row[name] or "" for name in _COLUMNS}
    fields = dict(_get_field(part, where) for part in cells["inputs"].split("; "))
    formula = fields.get("expr")
    numbers = {name: _parse_number(text, where) for name, text in fields.items() if name not in _WORDS}
    # A figure that cannot be derived is quoted as printed, which need not be a number.
    published_values = {
        field: _parse_number(fields[name], where)
        for name, field in _PUBLISHED.items()
        if name in fields and formula is not None
    }
    seed = _SEED.fullmatch(cells["seed"])
    return WorkedExample(
        id=cells["id"],
        source=None if seed is None else f"seed-{seed[1]}",
        statement=cells["statement"],
        formula=formula,
        inputs=MappingProxyType(numbers),
        published_text=fields.get("stated", ""),
        expected=_parse_number(cells["expected"], where) if cells["expected"] else None,
        tolerance=_parse_tolerance(cells["tolerance"], where),
        verdict=_judge_example(cells["verdict"], where),
        note=fields.get("note", ""),
        **published_values,
    )


def _get_field(text: str, where: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise input_error("worked.input", "{given} must have the form name=value; restore the file", where, given=text)
    return name, value


def _parse_number(text: str, where: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise input_error("worked.number", "{given} is not a number; restore the file", where, given=text) from None


def _parse_tolerance(text: str, where: str) -> FigureTolerance:
    kind, _, amount = text.partition(" ")
    if kind in ("", "exact"):
        return FigureTolerance()
    if kind == "abs":
        return FigureTolerance(absolute=_parse_number(amount, where))
    if kind == "rel" and amount.endswith("%"):
        return FigureTolerance(relative=_parse_number(amount.removesuffix("%"), where) / 100.0)
    raise input_error(
        "worked.tolerance",
        "{given} is not a tolerance, such as exact, abs 0.1 or rel 5%; restore the file",
        where,
        given=text,
    )


def _judge_example(text: str, where: str) -> WorkedExampleVerdict:
    try:
        return WorkedExampleVerdict(text)
    except ValueError:
        verdicts = tuple(each.value for each in WorkedExampleVerdict)
        raise input_error(
            "worked.verdict", "{given} is not one of {known}; restore the file", where, given=text, known=verdicts
        ) from None
