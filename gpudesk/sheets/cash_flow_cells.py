"""Cells with live formulas: what a formula says and what it gives are made together, so that they agree.

A `Term` is a piece of a formula with its value. Written into a cell it becomes a reference to that cell, of
which the next formulas are made.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from xlsxwriter.utility import xl_rowcol_to_cell

from gpudesk.sheets.plain_text import begins_formula, shown_text

#: What a cell holds; empty text is a cell that shows nothing.
Value = float | str

#: How firmly signs bind. A minus before a term binds more than all others.
_BINDING: Final[Mapping[str, int]] = MappingProxyType({"+": 1, "-": 1, "*": 2, "/": 2})
_NEGATED: Final = 3
_WHOLE: Final = 4
_DONE: Final[Mapping[str, Callable[[float, float], float]]] = MappingProxyType(
    {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
)


@dataclass(frozen=True, slots=True)
class Term:
    """A piece of a formula and its value; `binding` says whether it needs parentheses among others.

    Arithmetic with text gives no number: such a term may stand in a branch that is not taken only.
    """

    text: str
    value: Value
    binding: int = _WHOLE

    def __add__(self, other: Operand) -> Term:
        """Return the sum."""
        return _joined(self, "+", other)

    def __radd__(self, other: Operand) -> Term:
        """Return the sum."""
        return _joined(other, "+", self)

    def __sub__(self, other: Operand) -> Term:
        """Return the difference."""
        return _joined(self, "-", other)

    def __rsub__(self, other: Operand) -> Term:
        """Return the difference."""
        return _joined(other, "-", self)

    def __mul__(self, other: Operand) -> Term:
        """Return the product."""
        return _joined(self, "*", other)

    def __truediv__(self, other: Operand) -> Term:
        """Return the quotient."""
        return _joined(self, "/", other)

    def __neg__(self) -> Term:
        """Return what this is below nothing."""
        return Term(f"-{_enclosed(self, _NEGATED)}", -_number(self), _NEGATED)


Operand = Term | float | str


def summed(cells: Sequence[Term]) -> Term:
    """Return the sum of cells that lie next to each other."""
    return Term(f"SUM({_span(cells)})", math.fsum(_number(cell) for cell in cells))


def lesser(first: Operand, second: Operand) -> Term:
    """Return the smaller one of two numbers."""
    pair = (_term(first), _term(second))
    return Term(f"MIN({pair[0].text},{pair[1].text})", min(_number(each) for each in pair))


def sign_of(number: Term) -> Term:
    """Return 1 above 0, -1 below, and 0."""
    value = _number(number)
    return Term(f"SIGN({number.text})", float((value > 0.0) - (value < 0.0)))


def if_blank(tested: Term, then: Operand, otherwise: Operand) -> Term:
    """Return one thing where a cell shows nothing, and another where it holds something."""
    return _chosen(f'{tested.text}=""', tested.value == "", then, otherwise)


def if_below(low: Term, high: Term, then: Operand, otherwise: Operand) -> Term:
    """Return one thing where a number is below another, and another where it is not."""
    return _chosen(f"{low.text}<{high.text}", _number(low) < _number(high), then, otherwise)


def first_above_zero(signs: Sequence[Term], labels: Sequence[Term], nowhere: str) -> Term:
    """Return the label beside the first sign that is 1; `nowhere` where none is."""
    searched = _span(signs)
    places = [place for place, sign in enumerate(signs) if sign.value == 1.0]
    matched = Term(
        f"INDEX({_span(labels)},MATCH(1,{searched},0))", labels[places[0]].value if places else math.nan
    )
    return _chosen(f"MAX({searched})=1", bool(places), matched, nowhere)


def _chosen(condition: str, holds: bool, then: Operand, otherwise: Operand) -> Term:
    one, other = _term(then), _term(otherwise)
    return Term(f"IF({condition},{one.text},{other.text})", one.value if holds else other.value)


def _joined(left: Operand, sign: str, right: Operand) -> Term:
    one, other, binding = _term(left), _term(right), _BINDING[sign]
    text = f"{_enclosed(one, binding)}{sign}{_enclosed(other, binding + 1)}"
    return Term(text, _DONE[sign](_number(one), _number(other)), binding)


def _enclosed(term: Term, binding: int) -> str:
    return term.text if term.binding >= binding else f"({term.text})"


def _term(operand: Operand) -> Term:
    if isinstance(operand, Term):
        return operand
    if isinstance(operand, str):
        doubled = operand.replace('"', '""')
        return Term(f'"{doubled}"', operand)
    return Term(f"{operand:.15g}", operand)


def _number(term: Term) -> float:
    return math.nan if isinstance(term.value, str) else term.value


def _span(cells: Sequence[Term]) -> str:
    return f"{cells[0].text}:{cells[-1].text}"


class TextLook(NamedTuple):
    """The format of text, and of text that would become a formula if somebody typed it in again."""

    plain: Any
    quoted: Any


class Looks:
    """The formats of cells, each made once.

    `given` are inputs and `share` those in per cent; `amount` are whole dollars, `money` has cents and
    `small` parts of them.
    """

    def __init__(self, workbook: Any) -> None:  # noqa: ANN401 - the library has no types
        """Make the formats of a workbook."""

        def text(**looks: object) -> TextLook:
            both = {"valign": "top", **looks}
            return TextLook(workbook.add_format(both), workbook.add_format({**both, "quote_prefix": True}))

        def number(pattern: str, **looks: object) -> Any:  # noqa: ANN401
            return workbook.add_format({"num_format": pattern, "valign": "top", "align": "right", **looks})

        shaded = {"bg_color": "#FFF4CC", "border": 1, "border_color": "#BFBFBF"}
        self.title = text(bold=True, font_size=14)
        self.head = text(bold=True, bottom=1, text_wrap=True)
        self.label = text()
        self.long = text(text_wrap=True)
        self.sum = text(bold=True, top=1)
        self.given = number("[>=1000]#,##0;General", **shaded)
        self.share = number("0.0#%", **shaded)
        self.count = number("#,##0")
        self.number = number("#,##0.00")
        self.amount = number("#,##0")
        self.money = number("#,##0.00")
        self.small = number("#,##0.0000")
        self.total = number("#,##0", bold=True, top=1)


class Page:
    """One sheet of a workbook; rows and columns count from 0."""

    def __init__(self, workbook: Any, name: str) -> None:  # noqa: ANN401
        """Add a sheet, which prints as wide as a page."""
        self.sheet = workbook.add_worksheet(name)
        self.sheet.set_landscape()
        self.sheet.fit_to_pages(1, 0)
        doubled = name.replace("'", "''")
        self._prefix = f"'{doubled}'!"

    def say(self, row: int, column: int, text: str, look: TextLook) -> None:
        """Write text, which nothing takes for a formula or a link."""
        shown = shown_text(text)
        if shown:
            self.sheet.write_string(row, column, shown, look.quoted if begins_formula(shown) else look.plain)

    def say_all(self, row: int, texts: Sequence[str], look: TextLook) -> None:
        """Write texts side by side."""
        for column, text in enumerate(texts):
            self.say(row, column, text, look)

    def give(self, row: int, column: int, value: float | None, look: Any) -> Term:  # noqa: ANN401
        """Write a number that the reader may change, or leave its place; return the cell."""
        if value is None:
            self.sheet.write_blank(row, column, None, look)
        else:
            self.sheet.write_number(row, column, value, look)
        return Term(_cell(row, column, fixed=True), "" if value is None else value)

    def work_out(self, row: int, column: int, term: Term, look: Any, *, fixed: bool = True) -> Term:  # noqa: ANN401
        """Write a formula with what it gives; return the cell, which moves with copies unless `fixed`."""
        if isinstance(term.value, float) and not math.isfinite(term.value):
            raise ValueError(f"{self._prefix}{_cell(row, column, fixed=False)} gives no number: {term.text}")
        self.sheet.write_formula(row, column, f"={term.text}", look, term.value)
        return Term(_cell(row, column, fixed=fixed), term.value)

    def from_afar(self, cell: Term) -> Term:
        """Return a cell of this sheet as other sheets refer to it."""
        return replace(cell, text=f"{self._prefix}{cell.text}")


def _cell(row: int, column: int, *, fixed: bool) -> str:
    return str(xl_rowcol_to_cell(row, column, row_abs=fixed, col_abs=fixed))
