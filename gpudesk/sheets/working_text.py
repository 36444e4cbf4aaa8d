"""How the headline figures come about, in running text: each formula once, then its numbers part by part."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from gpudesk.domain.answers import Answer, Term
from gpudesk.domain.estimates import Estimate
from gpudesk.domain.formatting import Formatter
from gpudesk.domain.messages import InputError
from gpudesk.sheets.sheet import Working
from gpudesk.sheets.terms import named_formula, numeric_formula, term_label, term_value
from gpudesk.text import tr

#: Gives the working of a figure of an estimate; raises `InputError` where there is none.
Explain = Callable[[Estimate, str], Term]

_FIGURES: Final = ("output_tokens_per_s", "ttft_ms", "tpot_ms", "max_concurrency")


def workings(
    answer: Answer, names: tuple[str, ...], formatter: Formatter, explain: Explain
) -> tuple[Working, ...]:
    """Return the workings of the headline figures; columns with one formula stand together."""
    return tuple(
        working for figure in _FIGURES for working in _of_figure(answer, figure, names, formatter, explain)
    )


def _of_figure(
    answer: Answer, figure: str, names: tuple[str, ...], formatter: Formatter, explain: Explain
) -> Iterator[Working]:
    found: dict[str, list[tuple[str, str]]] = {}
    label = ""
    for name, column in zip(names, answer.columns, strict=True):
        term = None if column.estimate is None else _explained(column.estimate, figure, explain)
        if term is not None:
            label = term_label(term.name)
            numbers = "; ".join(_numbers(each, formatter) for each in _steps(term))
            found.setdefault(_formulas(term), []).append((name, numbers))
    for formulas, lines in found.items():
        yield Working(label, formulas, tuple(lines))


def _explained(estimate: Estimate, figure: str, explain: Explain) -> Term | None:
    if figure != "max_concurrency" and getattr(estimate, figure) is None:
        return None
    try:
        return explain(estimate, figure)
    except InputError:
        return None


def _steps(term: Term) -> Iterator[Term]:
    """Yield the figure and those of its inputs that have a formula of numbers themselves."""
    yield term
    yield from (each for each in term.inputs if each.formula is not None and "{" in each.formula)


def _formulas(term: Term) -> str:
    """Return the formulas of all steps with the names of their inputs, the first without its own name."""
    said = [named_formula(term) or ""]
    said += [
        tr("{term} = {formula}", term=tr(each.name), formula=named_formula(each))
        for each in _steps(term)
        if each is not term
    ]
    return "; ".join(said)


def _numbers(term: Term, formatter: Formatter) -> str:
    value, unit = term_value(term, formatter)
    result = value if unit is None else f"{value} {unit}"
    return f"{numeric_formula(term, formatter)} = {result}"
