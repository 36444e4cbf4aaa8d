"""Worked examples read from their table, and worked out."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from gpudesk.domain.messages import InputError, message
from gpudesk.domain.worked_examples import Tolerance, Verdict, WorkedExample, WorkedFigure
from gpudesk.workbench.worked.calculation import Calculation
from gpudesk.workbench.worked.costs import COSTS
from gpudesk.workbench.worked.counts import COUNTS
from gpudesk.workbench.worked.media import MEDIA
from gpudesk.workbench.worked.rates import RATES
from gpudesk.workbench.worked.ratios import RATIOS
from gpudesk.workbench.worked.spans import SPAN, SPANS

#: The calculations by the formula that examples name them with; those of dates share one, `SPAN`.
CALCULATIONS: Final[Mapping[str, Calculation]] = MappingProxyType(
    {**COUNTS, **RATES, **RATIOS, **COSTS, **MEDIA}
)

_COLUMNS: Final = ("id", "seed", "statement", "inputs", "expected", "tolerance", "verdict")
_SEED: Final = re.compile(r"(\d{3})_\w+\.txt")
_STATED: Final = ("stated", "stated_low", "stated_high")
_WORDS: Final = frozenset({"expr", "note", *_STATED})


def read_examples(path: Path) -> tuple[WorkedExample, ...]:
    """Return all examples of a table; raises `InputError` that names file, line and what is wrong."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = csv.DictReader(file)
            if tuple(rows.fieldnames or ()) != _COLUMNS:
                raise InputError(message("worked.columns", known=_COLUMNS), str(path))
            return tuple(_example(row, f"{path}:{rows.line_num}") for row in rows)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(message("file.unreadable", reason=reason.lower()), str(path)) from error


def work_out(example: WorkedExample) -> WorkedFigure | None:
    """Return an example with its working; None where its form of calculation is not one of these."""
    if example.formula is None:
        return WorkedFigure(example, None)
    calculation = _calculation(example.formula, example.statement)
    return None if calculation is None else WorkedFigure(example, calculation.term(example.inputs))


def _calculation(formula: str, statement: str) -> Calculation | None:
    if formula == SPAN:
        counted, _, _ = statement.partition(" ")
        return SPANS.get(counted)
    return CALCULATIONS.get(formula)


def _example(row: Mapping[str, str | None], where: str) -> WorkedExample:
    cells = {name: row[name] or "" for name in _COLUMNS}
    fields = dict(_field(part, where) for part in cells["inputs"].split("; "))
    formula = fields.get("expr")
    numbers = {name: _number(text, where) for name, text in fields.items() if name not in _WORDS}
    # What cannot be derived is quoted as it is printed, which need not be a number.
    stated = {
        name: _number(fields[name], where) for name in _STATED if name in fields and formula is not None
    }
    seed = _SEED.fullmatch(cells["seed"])
    return WorkedExample(
        id=cells["id"],
        source=None if seed is None else f"seed-{seed[1]}",
        statement=cells["statement"],
        formula=formula,
        inputs=MappingProxyType(numbers),
        stated_text=fields.get("stated", ""),
        expected=_number(cells["expected"], where) if cells["expected"] else None,
        tolerance=_tolerance(cells["tolerance"], where),
        verdict=_verdict(cells["verdict"], where),
        note=fields.get("note", ""),
        **stated,
    )


def _field(text: str, where: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise InputError(message("worked.input", given=text), where)
    return name, value


def _number(text: str, where: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(message("worked.number", given=text), where) from None


def _tolerance(text: str, where: str) -> Tolerance:
    kind, _, amount = text.partition(" ")
    if kind in ("", "exact"):
        return Tolerance()
    if kind == "abs":
        return Tolerance(absolute=_number(amount, where))
    if kind == "rel" and amount.endswith("%"):
        return Tolerance(relative=_number(amount.removesuffix("%"), where) / 100.0)
    raise InputError(message("worked.tolerance", given=text), where)


def _verdict(text: str, where: str) -> Verdict:
    try:
        return Verdict(text)
    except ValueError:
        known = tuple(each.value for each in Verdict)
        raise InputError(message("worked.verdict", given=text, known=known), where) from None
