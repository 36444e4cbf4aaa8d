"""A spreadsheet for tests: reads a workbook back and works its formulas out again, by itself."""

import copy
import io
import math
import operator
import re
from collections import deque
from collections.abc import Callable, Mapping
from functools import cache

import openpyxl

Value = float | str
#: The name of a sheet and a cell of it.
Place = tuple[str, str]
DONE: Mapping[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}
OF_ALL: Mapping[str, Callable[[list[float]], float]] = {"SUM": math.fsum, "MIN": min, "MAX": max}
#: Texts, references, names of functions, numbers and signs.
TOKEN = re.compile(
    r"""(?P<text>"(?:[^"]|"")*")"""
    r"""|(?P<cell>(?:'(?:[^']|'')+'!)?\$?[A-Z]+\$?\d+)"""
    r"""|(?P<word>[A-Z]+)|(?P<number>\d+(?:\.\d+)?)|(?P<sign>[-+*/^()=<>,:])"""
)


class Book:
    """A workbook that was read back, and what its formulas give."""

    def __init__(self, raw: bytes) -> None:
        self.formulas: dict[Place, str] = {}
        self.cached: dict[Place, Value] = {}
        sheets = openpyxl.load_workbook(io.BytesIO(raw), data_only=True)
        for sheet in openpyxl.load_workbook(io.BytesIO(raw)).worksheets:
            for row in sheet.iter_rows():
                for cell in row:
                    place, source_cell = (sheet.title, cell.coordinate), sheets[sheet.title][cell.coordinate].value
                    self.cached[place] = "" if source_cell is None else source_cell
                    if cell.data_type == "f":
                        self.formulas[place] = str(cell.value)[1:]
        self.titles: list[str] = sheets.sheetnames
        self._values = {place: value for place, value in self.cached.items() if place not in self.formulas}

    def with_changes(self, changes: Mapping[Place, float]) -> "Book":
        """Return the workbook after a reader has written other numbers into some cells."""
        book = copy.copy(self)
        book.formulas = {place: formula for place, formula in self.formulas.items() if place not in changes}
        constants = {place: value for place, value in self.cached.items() if place not in self.formulas}
        book._values = {**constants, **changes}
        return book

    def value(self, place: Place) -> Value:
        """Return what a cell gives."""
        if place not in self._values:
            formula = self.formulas.get(place)
            self._values[place] = "" if formula is None else Formula(self, place[0], formula).value()
        return self._values[place]

    def number(self, place: Place) -> float:
        """Return what a cell gives, which must be a number."""
        value = self.value(place)
        assert not isinstance(value, str), place
        return value

    def beside(self, sheet: str, label: str, column: str = "B") -> Place:
        row = next(
            place[1][1:]
            for place, value in self.cached.items()
            if place[0] == sheet and place[1].startswith("A") and value == label
        )
        return sheet, f"{column}{row}"

    def months(self, sheet: str) -> list[list[Value]]:
        first = int(self.beside(sheet, "Month")[1][1:]) + 1
        months = []
        for number in range(first, first + 500):
            row = [self.value((sheet, f"{letter}{number}")) for letter in "ABCDEFG"]
            if row[0] == "":
                break
            months.append(row)
        return months


@cache
def split_formula(formula: str) -> list[tuple[str, str]]:
    tokens = [(str(token.lastgroup), token.group()) for token in TOKEN.finditer(formula)]
    assert "".join(text for _, text in tokens) == formula, formula
    return tokens


class Formula:
    """What a formula gives, with as much of a spreadsheet as those of a cash flow need."""

    def __init__(self, book: Book, sheet: str, formula: str) -> None:
        self._book, self._sheet = book, sheet
        self._tokens = deque(split_formula(formula))

    def value(self) -> Value:
        result = self._compared()
        assert not self._tokens
        assert not isinstance(result, list)
        return result

    def _next(self) -> str:
        return self._tokens[0][1] if self._tokens else ""

    def _take(self) -> tuple[str, str]:
        return self._tokens.popleft()

    def _compared(self) -> Value | list[Value]:
        left = self._added()
        if self._next() not in ("=", "<", ">"):
            return left
        sign, right = self._take()[1], self._added()
        if sign == "=":
            return float(left == right)
        one, other = get_number(left), get_number(right)
        return float(one < other if sign == "<" else one > other)

    def _added(self) -> Value | list[Value]:
        left = self._multiplied()
        while self._next() in ("+", "-"):
            sign = self._take()[1]
            left = DONE[sign](get_number(left), get_number(self._multiplied()))
        return left

    def _multiplied(self) -> Value | list[Value]:
        left = self._negated()
        while self._next() in ("*", "/"):
            sign = self._take()[1]
            left = DONE[sign](get_number(left), get_number(self._negated()))
        return left

    def _negated(self) -> Value | list[Value]:
        if self._next() == "-":
            self._take()
            return -get_number(self._negated())
        return self._atom()

    def _atom(self) -> Value | list[Value]:
        kind, token = self._take()
        if kind == "number":
            return float(token)
        if kind == "text":
            return token[1:-1].replace('""', '"')
        if kind == "cell":
            return self._cells(token)
        if kind == "word":
            return self._called(token)
        assert token == "("
        inside = self._compared()
        assert self._take()[1] == ")"
        return inside

    def _cells(self, first: str) -> Value | list[Value]:
        if self._next() != ":":
            return self._book.value(self._place(first))
        self._take()
        (sheet, start), (_, end) = self._place(first), self._place(self._take()[1])
        assert start[0] == end[0]
        rows = range(int(start[1:]), int(end[1:]) + 1)
        return [self._book.value((sheet, f"{start[0]}{row}")) for row in rows]

    def _place(self, token: str) -> Place:
        sheet, _, cell = token.rpartition("!")
        return sheet[1:-1].replace("''", "'") or self._sheet, cell.replace("$", "")

    def _called(self, name: str) -> Value:
        assert self._take()[1] == "("
        arguments = [self._compared()]
        while self._next() == ",":
            self._take()
            arguments.append(self._compared())
        assert self._take()[1] == ")"
        return call_function(name, arguments)


def get_number(value: Value | list[Value]) -> float:
    """Return a number; text is none, which only a branch that is not taken may reach."""
    return math.nan if isinstance(value, str | list) else value


def list_numbers(values: list[Value | list[Value]]) -> list[float]:
    """Return the numbers among what a function was given; cells of text do not count."""
    flat = [each for one in values for each in (one if isinstance(one, list) else [one])]
    return [each for each in flat if not isinstance(each, str)]


def call_function(name: str, arguments: list[Value | list[Value]]) -> Value:
    if name == "IF":
        value = arguments[1] if arguments[0] else arguments[2]
    elif name == "INDEX":
        assert isinstance(arguments[0], list)
        place = get_number(arguments[1])
        value = math.nan if math.isnan(place) else arguments[0][int(place) - 1]
    elif name == "MATCH":
        assert isinstance(arguments[1], list)
        assert arguments[2] == 0.0
        value = float(arguments[1].index(arguments[0]) + 1) if arguments[0] in arguments[1] else math.nan
    elif name == "SIGN":
        value = math.copysign(1.0, get_number(arguments[0])) if arguments[0] else 0.0
    else:
        value = OF_ALL[name](list_numbers(arguments) or [0.0])
    assert not isinstance(value, list)
    return value
