"""Worked examples: printed figures and what arithmetic makes of them, one in full or all in a list."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from gpudesk.cli import output
from gpudesk.cli.tables import table, wrapped
from gpudesk.domain.formatting import Formatter
from gpudesk.domain.messages import InputError, message
from gpudesk.sheets.terms import named_formula
from gpudesk.sheets.worked_words import (
    arithmetic_lines,
    note_text,
    printed_text,
    verdict_label,
    verdict_sentence,
    worked_text,
)
from gpudesk.text import tr

if TYPE_CHECKING:
    from gpudesk.domain.worked_examples import WorkedFigure
    from gpudesk.workbench.workbench import Workbench

_ALL: Final = "examples"
_NUMBER: Final = re.compile(r"[a-z]+\d*-\d+", re.IGNORECASE)


def is_example(figure: str) -> bool:
    """Whether what is to be explained is a worked example, or all of them."""
    return figure == _ALL or _NUMBER.fullmatch(figure) is not None


def say_examples(figure: str, workbench: Workbench, *, as_json: bool) -> None:
    """Write one example or all of them; raises `InputError` for one that there is not."""
    chosen = _chosen(figure, workbench)
    if as_json:
        output.say_json({"examples": [_fields(each) for each in chosen]})
        return
    lines = _list(chosen) if figure == _ALL else _one(chosen[0], workbench)
    for line in lines:
        output.say(line)


def _chosen(figure: str, workbench: Workbench) -> list[WorkedFigure]:
    examples = workbench.worked_examples
    if figure == _ALL:
        return list(examples)
    found = [each for each in examples if each.example.id == figure.upper()]
    if not found:
        raise InputError(message("worked.unknown", given=figure), tr("figure"))
    return found


def _list(examples: list[WorkedFigure]) -> list[str]:
    formatter = Formatter()
    head = (tr("Number"), tr("Printed"), tr("Arithmetic"), tr("Verdict"), tr("What"))
    rows = [
        (
            each.example.id,
            printed_text(each.example, formatter),
            worked_text(each, formatter),
            verdict_label(each),
            each.example.statement,
        )
        for each in examples
    ]
    return table(head, rows, output.width(), right=(1, 2), strong=output.strong)


def _one(figure: WorkedFigure, workbench: Workbench) -> Iterator[str]:
    formatter, width = Formatter(), output.width()
    example = figure.example
    yield output.strong(f"{example.id}  {example.statement}")
    if example.source is not None:
        yield from wrapped(workbench.catalog.source(example.source).title, width)
    for line in arithmetic_lines(figure, formatter):
        yield from wrapped(line, width, "  ")
    yield from wrapped(
        " ".join(filter(None, (verdict_sentence(figure, formatter), note_text(example)))), width
    )


def _fields(figure: WorkedFigure) -> dict[str, Any]:
    example, working = figure.example, figure.working
    return {
        "id": example.id,
        "source": example.source,
        "statement": example.statement,
        "stated": example.stated,
        "stated_low": example.stated_low,
        "stated_high": example.stated_high,
        "value": None if working is None else working.number,
        "unit": None if working is None else working.unit,
        "formula": None if working is None else named_formula(working),
        "inputs": {}
        if working is None
        else {each.name: {"value": each.number, "unit": each.unit} for each in working.inputs},
        "verdict": figure.verdict.value,
        "note": example.note,
    }
