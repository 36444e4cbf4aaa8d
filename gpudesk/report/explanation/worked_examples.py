"""Worked examples of source documents: printed figures and their recalculation."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from gpudesk.domain.deployment_analysis import (
    DerivationTerm,
    WorkedExample,
    WorkedExampleVerdict,
    WorkedFigure,
    to_placeholder,
)
from gpudesk.report.explanation.working import format_named_formula
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter, join_unit
from gpudesk.text.messages import capitalize_first
from gpudesk.text.translation import tr, translate_data

_FORMULA_IN_WORDS: Final = frozenset({"computed consequence", "seed states no figure"})
#: Significant digits of printed figures and of the inputs: more would be floating-point noise.
_DIGITS: Final = 6
#: Those of computed figures, or as many as the document prints; up to four digits are shown in full.
_COMPUTED_DIGITS: Final = 3
_SHORT_DIGITS: Final = 4


def label_worked_verdict(figure: WorkedFigure) -> str:
    if figure.verdict is WorkedExampleVerdict.REPRODUCED and not _is_printed(figure.example):
        return tr("Follows")
    return figure.verdict.label


def label_worked_claim(figure: WorkedFigure) -> str:
    """Return the claim without the unit at its end, which its figures have."""
    text, unit = translate_data(figure.example.statement), "" if figure.working is None else figure.working.unit
    return capitalize_first(text.replace(f", {unit} (", " (").removesuffix(f", {unit}") if unit else text)


def _is_bound(example: WorkedExample) -> bool:
    """Whether a figure is only a bound for another, without being printed as such."""
    return example.published is None and (example.published_low is None) != (example.published_high is None)


def _is_printed(example: WorkedExample) -> bool:
    return (example.published, example.published_low, example.published_high) != (None, None, None)


def format_worked_number(
    value: float | None, formatter: Formatter, unit: str | None = None, digits: int = _DIGITS
) -> str:
    """Return a number with limited significant digits, whole numbers in full, and its unit."""
    if value is None or not math.isfinite(value):
        return MISSING_VALUE_TEXT
    whole = value == int(value) if abs(value) < 1e15 else False
    rounded = value if whole else float(f"{value:.{max(digits, len(str(int(abs(value)))))}g}")
    number_text = formatter.exact(rounded)
    return number_text if unit is None else join_unit(number_text, unit, " ")


def format_printed_figure(figure: WorkedFigure, formatter: Formatter) -> str:
    """Return the printed figure or range in the unit of the computed one; a dash for none."""
    example = figure.example
    if example.formula is None:
        return example.published_text or MISSING_VALUE_TEXT
    unit = None if figure.working is None else figure.working.unit
    low, high = example.published_low, example.published_high
    if example.published is not None:
        return format_worked_number(example.published, formatter, unit)
    if low is not None and high is not None:
        text = f"{format_worked_number(low, formatter)} – {format_worked_number(high, formatter)}"
        return text if unit is None else join_unit(text, unit, "\N{NO-BREAK SPACE}")
    if low is not None:
        return tr("at least {n}", n=format_worked_number(low, formatter, unit))
    return MISSING_VALUE_TEXT if high is None else tr("at most {n}", n=format_worked_number(high, formatter, unit))


def format_computed_figure(figure: WorkedFigure, formatter: Formatter) -> str:
    """Return the computed figure with its unit; a dash if it cannot be derived."""
    working, example = figure.working, figure.example
    if working is None:
        return MISSING_VALUE_TEXT
    printed = (example.published, example.published_low, example.published_high)
    digits = max(_COMPUTED_DIGITS, *(_count_digits(each) for each in printed if each is not None), 0)
    if _count_digits(working.number) <= _SHORT_DIGITS:
        digits = max(digits, _SHORT_DIGITS)
    return format_worked_number(working.number, formatter, working.unit, digits)


def _count_digits(value: float) -> int:
    """Return the number of significant digits of a figure."""
    return len(f"{abs(value):.{_DIGITS}g}".replace(".", "").strip("0"))


def list_worked_arithmetic(figure: WorkedFigure, formatter: Formatter) -> list[str]:
    """Return the formula by names and with its numbers; empty if it cannot be derived."""
    working = figure.working
    if working is None:
        return []
    name = tr(working.name)
    result = format_computed_figure(figure, formatter)
    return [f"{name} = {format_named_formula(working)}", f"= {_fill_in_numbers(working, formatter)} = {result}"]


def _fill_in_numbers(working: DerivationTerm, formatter: Formatter) -> str:
    numbers = {to_placeholder(each.name): format_worked_number(each.number, formatter) for each in working.inputs}
    return tr(working.formula or "", **numbers)


def describe_worked_verdict(figure: WorkedFigure, formatter: Formatter) -> str:
    example = figure.example
    printed, computed = format_printed_figure(figure, formatter), format_computed_figure(figure, formatter)
    if figure.verdict is WorkedExampleVerdict.NOT_DERIVABLE:
        return tr("The document gives no inputs to check this figure.")
    if not _is_printed(example):
        return tr("Follows from the document, which does not print this figure.")
    reproduced = figure.verdict is WorkedExampleVerdict.REPRODUCED
    if _is_bound(example) and reproduced:
        return tr("The document requires {bound}; arithmetic gives {worked}.", bound=printed, worked=computed)
    if _is_bound(example):
        return tr("The document requires {bound}, but arithmetic gives {worked}.", bound=printed, worked=computed)
    if reproduced:
        return tr("Published: {printed}, which agrees with {worked}.", printed=printed, worked=computed)
    return tr("Published: {printed}, but arithmetic gives {worked}.", printed=printed, worked=computed)


def describe_worked_note(example: WorkedExample) -> str:
    """Return the remark on an example as a sentence; empty without one."""
    parts = example.note.split(", ")
    # Repeats `verdict_sentence`.
    note = ", ".join(part for part in parts if part not in _FORMULA_IN_WORDS)
    return f"{capitalize_first(note)}." if note else ""


_TITLES: Final[Mapping[str, str]] = {
    "model_of_800": "3 years of 800 accelerators",
    "listed_rents": "Rents as listed",
    "rents_of_the_faq": "Rents of the same page's FAQ",
}


def label_cost_case(case: str) -> str:
    return tr(_TITLES[case])


def describe_cost_case(case: str, figures: Sequence[WorkedFigure], formatter: Formatter) -> str:
    """Return the result of a case's inputs; every number is a recalculated figure."""
    values = {each.example.id: each.working.number for each in figures if each.working is not None}

    def number(example: str, decimals: int = 1) -> str:
        value = values.get(example)
        return MISSING_VALUE_TEXT if value is None else formatter.number(value, decimals)

    return _CONCLUSIONS[case](number)


_Number = Callable[..., str]


def _format_dollars(n: _Number, example: str) -> str:
    return join_unit(n(example, 0), "USD", "\N{NO-BREAK SPACE}")


def _describe_model_of_800(n: _Number) -> str:
    sentences = (
        tr(
            "At equal throughput, the stated weights of 60 to 40 give {saving}%. The document quotes "
            "this as the figure after engineering, but it includes no engineers.",
            saving=n("W002-28"),
        ),
        tr(
            "With those weights, a saving of 31% needs {ratio} times the throughput of H200. "
            "At equal throughput, it needs an energy price of {energy}.",
            ratio=n("W002-30", 2),
            energy=join_unit(n("W002-39", 3), "USD/kWh", "\N{NO-BREAK SPACE}"),
        ),
        tr(
            "Two engineers cost {each} per accelerator, and cut a saving of 31% to between {low} and {high}%.",
            each=_format_dollars(n, "W002-41"),
            low=n("W002-42"),
            high=n("W002-44"),
        ),
        tr(
            "A cut from 31% to 19% leaves {left} for the other costs of an MI325X, less than its net price. "
            "One of the figures is wrong.",
            left=_format_dollars(n, "W002-46"),
        ),
    )
    return " ".join(sentences)


def _describe_rents(n: _Number) -> str:
    sentences = (
        tr(
            "At the listed rents, 1,000 hours per month save {low} to {high}; at the FAQ's rents, {faq}.",
            low=_format_dollars(n, "W000-33"),
            high=_format_dollars(n, "W000-34"),
            faq=_format_dollars(n, "W000-32"),
        ),
        tr("The FAQ's rent for MI325X is {ratio} times the rent listed on the same page.", ratio=n("W000-31")),
        tr(
            "At 1,000 hours per month, porting pays back after {kind} months at best and {worst} at "
            "worst. Payback within a year needs {least} to {most} hours per month.",
            kind=n("W000-44"),
            worst=n("W000-46", 0),
            least=n("W000-47", 0),
            most=n("W000-49", 0),
        ),
    )
    return " ".join(sentences)


_CONCLUSIONS: Final[Mapping[str, Callable[[_Number], str]]] = {
    "model_of_800": _describe_model_of_800,
    "listed_rents": _describe_rents,
    "rents_of_the_faq": _describe_rents,
}
