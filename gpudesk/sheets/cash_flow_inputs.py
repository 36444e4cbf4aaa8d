"""The sheet of a cash flow that holds all one may change: every input of owning and of renting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from gpudesk.domain.cost_inputs import INPUTS
from gpudesk.domain.costs import CostColumn
from gpudesk.sheets.cash_flow_cells import Looks, Page, Term
from gpudesk.sheets.cost_words import input_label, input_unit, is_share, origin_text
from gpudesk.text import tr

#: Name of the input of how many accelerators there are, and of the output tokens/s of all of them.
COUNT: Final = "count"
THROUGHPUT: Final = "throughput"
#: Inputs of other figures than the cost of owning and of renting.
_OF_OTHERS: Final = frozenset(
    {
        "requests_per_user_month",
        "rack_kw",
        "api_input_usd_per_million",
        "api_output_usd_per_million",
        "grid_g_per_kwh",
        "embodied_kg",
    }
)
#: All inputs that have a row, in its order.
ASKED: Final = (COUNT, THROUGHPUT, *(name for name in INPUTS if name not in _OF_OTHERS))
#: Cells of the inputs of one accelerator, by name, as all sheets refer to them.
Given = Mapping[str, Term]

_HEAD: Final = 3
#: A spreadsheet takes no longer message.
_LONGEST_ERROR: Final = 255


def write_inputs(
    page: Page, columns: Sequence[CostColumn], names: Mapping[str, str], revision: str, looks: Looks
) -> dict[str, Given]:
    """Write the inputs, one a row, accelerators side by side; return the cells by key of the column.

    Values are the likely ones. What is not known stays empty, for the reader to fill in.
    """
    last = len(columns) + 1
    page.say(0, 0, tr("Inputs"), looks.title)
    page.say(
        1, 0, tr("Change the shaded cells: all other sheets follow. Values are the likely ones."), looks.label
    )
    heads = (tr("Input"), *(names[column.key] for column in columns), tr("Unit"), tr("Where from"))
    page.say_all(_HEAD, heads, looks.head)
    given: dict[str, dict[str, Term]] = {column.key: {} for column in columns}
    for row, name in enumerate(ASKED, start=_HEAD + 1):
        page.say(row, 0, _label(name), looks.label)
        for place, column in enumerate(columns, start=1):
            look = looks.share if is_share(name) else looks.given
            given[column.key][name] = page.from_afar(page.give(row, place, _value(column, name), look))
        if columns and name in INPUTS:
            page.sheet.data_validation(row, 1, row, len(columns), _allowed(name))
        page.say(row, last, "" if name == COUNT else input_unit(name), looks.label)
        page.say(row, last + 1, _where_from(name, columns, names, revision), looks.long)
    page.sheet.freeze_panes(_HEAD + 1, 1)
    page.sheet.set_column(0, 0, 34)
    page.sheet.set_column(1, last, 16)
    page.sheet.set_column(last + 1, last + 1, 90)
    return dict(given)


def _label(name: str) -> str:
    if name == COUNT:
        return tr("Accelerators")
    return tr("Output of all accelerators") if name == THROUGHPUT else input_label(name)


def _value(column: CostColumn, name: str) -> float | None:
    if name == COUNT:
        return None if column.count is None else float(column.count)
    if name == THROUGHPUT:
        return None if column.tokens_per_s is None else float(column.tokens_per_s.value)
    spread = column.inputs[name].spread
    return None if spread is None else float(spread.likely)


def _allowed(name: str) -> dict[str, Any]:
    """Return what a spreadsheet is to accept: the bounds of the input, which the rows of months rest on."""
    bounds = INPUTS[name].bounds
    pattern = ".0%" if is_share(name) else ",.15g"
    low, high = (format(each, pattern) for each in bounds[:2])
    return {
        "validate": "decimal",
        "criteria": "between",
        "minimum": bounds.low,
        "maximum": bounds.high,
        "error_message": tr("A number from {low} to {high}", low=low, high=high)[:_LONGEST_ERROR],
    }


def _where_from(name: str, columns: Sequence[CostColumn], names: Mapping[str, str], revision: str) -> str:
    """Return where the values of an input come from: once where it is the same for all accelerators."""
    if name == COUNT:
        return tr("the comparison; with another number the output is another one too")
    if name == THROUGHPUT:
        return tr("estimated by the program for the load of the comparison")
    said = [(names[column.key], origin_text(column.inputs[name], revision)) for column in columns]
    if len({origin for _, origin in said}) == 1:
        return said[0][1]
    return "\n".join(tr("{name}: {origin}", name=each, origin=origin) for each, origin in said)
