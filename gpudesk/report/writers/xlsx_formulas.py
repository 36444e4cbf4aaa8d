"""Cells with live formulas: a formula and its value are made together, so they agree."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from xlsxwriter.utility import xl_rowcol_to_cell

from gpudesk.report.writers.safe_text import looks_like_formula, make_visible

#: What a cell holds; empty text is a cell that shows nothing.
FormulaValue = float | str

#: How firmly signs bind. A minus before a term binds more than all others.
_BINDING: Final[Mapping[str, int]] = MappingProxyType({"+": 1, "-": 1, "*": 2, "/": 2})
_NEGATED: Final = 3
_WHOLE: Final = 4
_OPERATIONS: Final[Mapping[str, Callable[[float, float], float]]] = MappingProxyType(
    {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
)


@dataclass(frozen=True, slots=True)
class CellFormula:
    """A piece of a formula and its value; `binding` says whether it needs parentheses among others.

    Arithmetic with text gives no number: such a term may stand in a branch that is not taken only.
    """

    text: str
    value: FormulaValue
    binding: int = _WHOLE

    def __add__(self, other: Operand) -> CellFormula:
        return _join(self, "+", other)

    def __radd__(self, other: Operand) -> CellFormula:
        return _join(other, "+", self)

    def __sub__(self, other: Operand) -> CellFormula:
        return _join(self, "-", other)

    def __rsub__(self, other: Operand) -> CellFormula:
        return _join(other, "-", self)

    def __mul__(self, other: Operand) -> CellFormula:
        return _join(self, "*", other)

    def __truediv__(self, other: Operand) -> CellFormula:
        return _join(self, "/", other)

    def __neg__(self) -> CellFormula:
        return CellFormula(f"-{_parenthesize(self, _NEGATED)}", -_as_number(self), _NEGATED)


Operand = CellFormula | float | str


def sum_cells(cells: Sequence[CellFormula]) -> CellFormula:
    return CellFormula(f"SUM({_name_span(cells)})", math.fsum(_as_number(cell) for cell in cells))


def take_minimum(first: Operand, second: Operand) -> CellFormula:
    pair = (_as_term(first), _as_term(second))
    return CellFormula(f"MIN({pair[0].text},{pair[1].text})", min(_as_number(each) for each in pair))


def take_sign(number: CellFormula) -> CellFormula:
    """Return 1 above 0, -1 below, and 0."""
    value = _as_number(number)
    return CellFormula(f"SIGN({number.text})", float((value > 0.0) - (value < 0.0)))


def choose_if_blank(tested: CellFormula, then: Operand, otherwise: Operand) -> CellFormula:
    return _choose(f'{tested.text}=""', tested.value == "", then, otherwise)


def choose_if_below(low: CellFormula, high: CellFormula, then: Operand, otherwise: Operand) -> CellFormula:
    return _choose(f"{low.text}<{high.text}", _as_number(low) < _as_number(high), then, otherwise)


def find_first_positive(signs: Sequence[CellFormula], labels: Sequence[CellFormula], nowhere: str) -> CellFormula:
    """Return the label beside the first sign that is 1; `nowhere` where none is."""
    searched = _name_span(signs)
    places = [place for place, sign in enumerate(signs) if sign.value == 1.0]
    matched = CellFormula(
        f"INDEX({_name_span(labels)},MATCH(1,{searched},0))", labels[places[0]].value if places else math.nan
    )
    return _choose(f"MAX({searched})=1", bool(places), matched, nowhere)


def _choose(condition: str, holds: bool, then: Operand, otherwise: Operand) -> CellFormula:
    one, other = _as_term(then), _as_term(otherwise)
    return CellFormula(f"IF({condition},{one.text},{other.text})", one.value if holds else other.value)


def _join(left_operand: Operand, sign: str, right: Operand) -> CellFormula:
    one, other, binding = _as_term(left_operand), _as_term(right), _BINDING[sign]
    text = f"{_parenthesize(one, binding)}{sign}{_parenthesize(other, binding + 1)}"
    return CellFormula(text, _OPERATIONS[sign](_as_number(one), _as_number(other)), binding)


def _parenthesize(term: CellFormula, binding: int) -> str:
    return term.text if term.binding >= binding else f"({term.text})"


def _as_term(operand: Operand) -> CellFormula:
    if isinstance(operand, CellFormula):
        return operand
    if isinstance(operand, str):
        doubled = operand.replace('"', '""')
        return CellFormula(f'"{doubled}"', operand)
    return CellFormula(f"{operand:.15g}", operand)


def _as_number(term: CellFormula) -> float:
    return math.nan if isinstance(term.value, str) else term.value


def _name_span(cells: Sequence[CellFormula]) -> str:
    return f"{cells[0].text}:{cells[-1].text}"


class TextFormats(NamedTuple):
    """The format of text, and of text that would become a formula if somebody typed it in again."""

    plain: Any
    quoted: Any


class WorkbookFormats:
    """The formats of cells, each made once.

    `input_cell` are inputs and `share` those in per cent; `amount` are whole dollars, `money` has cents and
    `small` parts of them.
    """

    def __init__(self, workbook: Any) -> None:  # noqa: ANN401 - the library has no types
        def text(**looks: object) -> TextFormats:
            both = {"valign": "top", **looks}
            return TextFormats(workbook.add_format(both), workbook.add_format({**both, "quote_prefix": True}))

        def number(pattern: str, **looks: object) -> Any:  # noqa: ANN401
            return workbook.add_format({"num_format": pattern, "valign": "top", "align": "right", **looks})

        shaded = {"bg_color": "#FFF4CC", "border": 1, "border_color": "#BFBFBF"}
        self.title = text(bold=True, font_size=14)
        self.head = text(bold=True, bottom=1, text_wrap=True)
        self.label = text()
        self.long = text(text_wrap=True)
        self.sum = text(bold=True, top=1)
        self.input_cell = number("[>=1000]#,##0;General", **shaded)
        self.share = number("0.0#%", **shaded)
        self.count = number("#,##0")
        self.number = number("#,##0.00")
        self.amount = number("#,##0")
        self.money = number("#,##0.00")
        self.small = number("#,##0.0000")
        self.total = number("#,##0", bold=True, top=1)


class FormulaSheet:
    """One sheet of a workbook; rows and columns count from 0."""

    def __init__(self, workbook: Any, name: str) -> None:  # noqa: ANN401
        self.sheet = workbook.add_worksheet(name)
        self.sheet.set_landscape()
        self.sheet.fit_to_pages(1, 0)
        doubled = name.replace("'", "''")
        self._prefix = f"'{doubled}'!"

    def write_text(self, row: int, column: int, text: str, look: TextFormats) -> None:
        """Write text, which nothing takes for a formula or a link."""
        visible = make_visible(text)
        if visible:
            self.sheet.write_string(row, column, visible, look.quoted if looks_like_formula(visible) else look.plain)

    def write_texts(self, row: int, texts: Sequence[str], look: TextFormats) -> None:
        for column, text in enumerate(texts):
            self.write_text(row, column, text, look)

    def give(self, row: int, column: int, value: float | None, look: Any) -> CellFormula:  # noqa: ANN401
        """Write a number that the reader may change, or leave its place; return the cell."""
        if value is None:
            self.sheet.write_blank(row, column, None, look)
        else:
            self.sheet.write_number(row, column, value, look)
        return CellFormula(_name_cell(row, column, fixed=True), "" if value is None else value)

    def work_out(self, row: int, column: int, term: CellFormula, look: Any, *, fixed: bool = True) -> CellFormula:  # noqa: ANN401
        """Write a formula with what it gives; return the cell, which moves with copies unless `fixed`."""
        if isinstance(term.value, float) and not math.isfinite(term.value):
            raise ValueError(f"{self._prefix}{_name_cell(row, column, fixed=False)} gives no number: {term.text}")
        self.sheet.write_formula(row, column, f"={term.text}", look, term.value)
        return CellFormula(_name_cell(row, column, fixed=fixed), term.value)

    def reference_across_sheets(self, cell: CellFormula) -> CellFormula:
        return replace(cell, text=f"{self._prefix}{cell.text}")


def _name_cell(row: int, column: int, *, fixed: bool) -> str:
    return str(xl_rowcol_to_cell(row, column, row_abs=fixed, col_abs=fixed))
