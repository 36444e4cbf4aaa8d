"""Worked examples: figures printed by documents, read from their table and computed again from their inputs."""

from __future__ import annotations

import ast
import csv
import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Final

from gpudesk.domain.deployment_analysis import (
    DerivationTerm,
    FigureTolerance,
    WorkedExample,
    WorkedExampleVerdict,
    WorkedFigure,
    derive_term,
    format_placeholder,
)
from gpudesk.engine.memory import round_up_to_power_of_two
from gpudesk.files import describe_unreadable, read_toml
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.input_records import parse_record
from gpudesk.text.messages import InputError, explain_system_error, input_error


@frozen_dataclass
class CalculationInput:
    """The meaning of a symbol of a formula, and the unit shown; `scale` is that unit in the unit of examples."""

    name: str
    unit: str | None = None
    scale: float = 1.0


_Values = Mapping[str, float]


@frozen_dataclass
class Calculation:
    """The result of a formula, its unit, and its inputs by symbol.

    `text` is the formula with its inputs by name if it differs from the formula verbatim, or is written differently in
    other languages.
    """

    result: str
    unit: str | None = None
    inputs: dict[str, CalculationInput] = field(default_factory=dict)
    text: str = ""

    def term(self, formula: str, values: _Values) -> DerivationTerm:
        """Return the derivation of a result; raises KeyError for an unknown symbol."""
        symbols = {symbol: self.inputs[symbol] for symbol in values}
        inputs = tuple(
            DerivationTerm(each.name, values[symbol] / each.scale, each.unit) for symbol, each in symbols.items()
        )
        value = _evaluate(ast.parse(formula, mode="eval").body, values)
        text = self.text or _spell_formula(formula, symbols)
        return derive_term(self.result, value, self.unit, text, *inputs)


@frozen_dataclass
class CalculationGroup:
    """Calculations by formula, and the inputs that they share by symbol."""

    calculations: dict[str, Calculation]
    inputs: dict[str, CalculationInput] = field(default_factory=dict)


@frozen_dataclass
class CalculationFile:
    """The content of data/calculations.toml: the usual inputs by symbol, and groups by name."""

    inputs: dict[str, CalculationInput]
    groups: dict[str, CalculationGroup]


_OPERATIONS: Final[Mapping[type[ast.operator], Callable[[float, float], float]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
_FUNCTIONS: Final[Mapping[str, Callable[[float], float]]] = {
    "ceil": math.ceil,
    "floor": math.floor,
    "log2": math.log2,
    "pow2": lambda count: round_up_to_power_of_two(int(count)),
}
_SIGNS: Final = {"**": " ^ ", "*": " × ", "/": " ÷ ", "+": " + ", "-": " − "}
_RAISED: Final = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def _evaluate(node: ast.expr, values: _Values) -> float:
    match node:
        case ast.Constant(value=int() | float() as number):
            return number
        case ast.Name(id=symbol):
            return values[symbol]
        case ast.BinOp(left=left, op=sign, right=right):
            return _OPERATIONS[type(sign)](_evaluate(left, values), _evaluate(right, values))
        case ast.Call(func=ast.Name(id=function), args=[argument]):
            return _FUNCTIONS[function](_evaluate(argument, values))
        case ast.IfExp(test=ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]), body=body, orelse=other):
            return _evaluate(body if _evaluate(left, values) == _evaluate(right, values) else other, values)
    raise ValueError(ast.dump(node))


def _spell_formula(formula: str, symbols: Mapping[str, CalculationInput]) -> str:

    def spell(match: re.Match[str]) -> str:
        word = match[0]
        if word in symbols:
            return format_placeholder(symbols[word].name)
        return f"10{word.removeprefix('1e').translate(_RAISED)}" if word.startswith("1e") else _SIGNS.get(word, word)

    for function, left, right in (("ceil", "⌈", "⌉"), ("floor", "⌊", "⌋")):
        formula = re.sub(rf"^{function}\((.*)\)$", rf"{left}\1{right}", formula)
    return re.sub(r"1e\d+|[A-Za-z_]\w*|\*\*|[-+*/]", spell, formula)


#: The formula of dates: only the first word of an example's statement tells what it counts.
SPAN: Final = "a-b"

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


def read_calculations(path: Path) -> Mapping[str, Calculation]:
    """Return the calculations by formula, those of dates by what they count; raises `InputError` naming the file."""
    content = parse_record(CalculationFile, read_toml(path), f"{path}:")
    return {
        formula: replace(calculation, inputs={**content.inputs, **group.inputs, **calculation.inputs})
        for group in content.groups.values()
        for formula, calculation in group.calculations.items()
    }


def compute_worked_figure(example: WorkedExample, calculations: Mapping[str, Calculation]) -> WorkedFigure | None:
    """Return an example with its derivation; None for an unknown calculation."""
    if example.formula is None:
        return WorkedFigure(example, None)
    calculation = calculations.get(example.statement.split(" ")[0] if example.formula == SPAN else example.formula)
    return None if calculation is None else WorkedFigure(example, calculation.term(example.formula, example.inputs))


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
