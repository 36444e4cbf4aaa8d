"""The form of what a file does not state: a row for each field, with what it means, and a fitting control."""

from __future__ import annotations

from collections.abc import Sequence

from gpudesk.desktop.pages.catalog.editors.fields import ChoiceRow, TextRow
from gpudesk.desktop.pages.catalog.editors.number_row import NumberRow
from gpudesk.desktop.pages.catalog.editors.rows import FieldFault, FormRow
from gpudesk.desktop.theme.theme import Theme
from gpudesk.domain.formatting import Formatter
from gpudesk.domain.own_facts import MissingField
from gpudesk.sentences import sentence
from gpudesk.text import tr
from gpudesk.workbench.own_entry import UnitChoice

_YES, _NO = "yes", "no"
_PLAIN = (UnitChoice("", None),)


def missing_rows(theme: Theme, fields: Sequence[MissingField], formatter: Formatter) -> list[FormRow]:
    """Return a row for each field; its name is that of the file, its meaning stands below."""
    return [_row(theme, field, formatter) for field in fields]


def _row(theme: Theme, field: MissingField, formatter: Formatter) -> FormRow:
    row: FormRow
    # Names of fields have no blanks at which a narrow column could break them.
    label = field.name.replace("_", "_\u200b").replace(".", ".\u200b")
    if field.kind == "yes_no":
        options = [("", tr("Choose…")), (_YES, tr("Yes")), (_NO, tr("No"))]
        row = ChoiceRow(theme, field.name, label, options, required=True)
    elif field.choices:
        words = [("", tr("Choose…")), *((word, word) for word in field.choices)]
        row = ChoiceRow(theme, field.name, label, words, required=True)
    elif field.kind == "word":
        row = TextRow(theme, field.name, label, required=True)
    else:
        row = NumberRow(theme, field.name, label, _PLAIN, required=True, style=formatter.style)
    row.set_echo(sentence(field.why, formatter))
    return row


def answer_of(row: FormRow, field: MissingField) -> object:
    """Return what the user answers, None where nothing stands there; raises `FieldFault`."""
    value = row.value()
    if value is None:
        return None
    if field.kind == "yes_no":
        return value == _YES
    if field.kind == "whole" and not isinstance(value, int):
        raise FieldFault(tr("A whole number is wanted"))
    return value
