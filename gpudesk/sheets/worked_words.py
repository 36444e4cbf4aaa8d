"""Worked examples in words that screen and command line share."""

from __future__ import annotations

import math
from types import MappingProxyType
from typing import Final

from gpudesk.domain.answers import Term
from gpudesk.domain.formatting import UNKNOWN, Formatter
from gpudesk.domain.formulas import placeholder
from gpudesk.domain.worked_examples import Verdict, WorkedExample, WorkedFigure
from gpudesk.sheets.terms import named_formula
from gpudesk.text import tr

_VERDICTS: Final = MappingProxyType(
    {
        Verdict.REPRODUCED: "Reproduced",
        Verdict.REFUSED: "Refused",
        Verdict.NOT_DERIVABLE: "Cannot be derived",
    }
)
_SAID: Final = frozenset({"computed consequence", "seed states no figure"})
#: What printed figures are shown with: more would be digits of floating point.
_DIGITS: Final = 6


def verdict_label(figure: WorkedFigure) -> str:
    """Return what arithmetic makes of a printed figure, in a word or two."""
    if figure.verdict is Verdict.REPRODUCED and not _is_printed(figure.example):
        return tr("Follows")
    return tr(_VERDICTS[figure.verdict])


def _is_bound(example: WorkedExample) -> bool:
    """Whether a figure is only to stay on one side of another, which need not be printed as such."""
    return example.stated is None and (example.stated_low is None) != (example.stated_high is None)


def _is_printed(example: WorkedExample) -> bool:
    return (example.stated, example.stated_low, example.stated_high) != (None, None, None)


def number_text(value: float | None, formatter: Formatter, unit: str | None = None) -> str:
    """Return a number with up to six digits, whole ones with all of theirs, and its unit."""
    if value is None or not math.isfinite(value):
        return UNKNOWN
    whole = value == int(value) if abs(value) < 1e15 else False
    shown = formatter.stated(value if whole else float(f"{value:.{_DIGITS}g}"))
    return shown if unit is None else f"{shown} {unit}"


def printed_text(example: WorkedExample, formatter: Formatter) -> str:
    """Return what the document prints: a figure, or the range that it gives; a dash for nothing."""
    if example.formula is None:
        return example.stated_text or UNKNOWN
    low, high = example.stated_low, example.stated_high
    if example.stated is not None:
        return number_text(example.stated, formatter)
    if low is not None and high is not None:
        return f"{number_text(low, formatter)} – {number_text(high, formatter)}"
    if low is not None:
        return tr("at least {n}", n=number_text(low, formatter))
    return UNKNOWN if high is None else tr("at most {n}", n=number_text(high, formatter))


def worked_text(figure: WorkedFigure, formatter: Formatter) -> str:
    """Return what arithmetic gives, with its unit; a dash where nothing can be derived."""
    working = figure.working
    return UNKNOWN if working is None else number_text(working.number, formatter, working.unit)


def arithmetic_lines(figure: WorkedFigure, formatter: Formatter) -> list[str]:
    """Return the formula by names and with its numbers; nothing where nothing can be derived."""
    working = figure.working
    if working is None:
        return []
    name = tr(working.name)
    result = worked_text(figure, formatter)
    return [f"{name} = {named_formula(working)}", f"= {_with_numbers(working, formatter)} = {result}"]


def _with_numbers(working: Term, formatter: Formatter) -> str:
    numbers = {placeholder(each.name): number_text(each.number, formatter) for each in working.inputs}
    return tr(working.formula or "", **numbers)


def verdict_sentence(figure: WorkedFigure, formatter: Formatter) -> str:
    """Return what arithmetic makes of the printed figure, in a sentence."""
    example = figure.example
    printed, worked = printed_text(example, formatter), worked_text(figure, formatter)
    if figure.verdict is Verdict.NOT_DERIVABLE:
        return tr("Nothing gives this figure: what is printed does not say what it follows from.")
    if not _is_printed(example):
        return tr("Follows from what is printed; the document draws no such figure.")
    reproduced = figure.verdict is Verdict.REPRODUCED
    if _is_bound(example) and reproduced:
        return tr(
            "What is printed requires {bound}, and arithmetic gives {worked}.", bound=printed, worked=worked
        )
    if _is_bound(example):
        return tr(
            "What is printed requires {bound}, but arithmetic gives {worked}.", bound=printed, worked=worked
        )
    if reproduced:
        return tr("Printed {printed}, which agrees with {worked}.", printed=printed, worked=worked)
    return tr("Printed {printed}, but arithmetic gives {worked}.", printed=printed, worked=worked)


def note_text(example: WorkedExample) -> str:
    """Return the remark on an example as a sentence; empty without one."""
    parts = example.note.split(", ")
    # What `verdict_sentence` says.
    note = ", ".join(part for part in parts if part not in _SAID)
    return f"{note[:1].upper()}{note[1:]}." if note else ""
