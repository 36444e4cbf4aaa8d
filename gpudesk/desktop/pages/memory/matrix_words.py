"""What the fit matrix says beside its cells: legend, how much is shown, numbers as a table, its steps."""

from __future__ import annotations

from gpudesk.desktop.charts.data_table import Data
from gpudesk.desktop.itemmodels.fit_arrangement import FitTable
from gpudesk.desktop.itemmodels.fit_model import parameters_text
from gpudesk.desktop.session.selection import Selection, catalog_attribute, figure
from gpudesk.desktop.widgets.mark_legend import HATCH, OUTLINE
from gpudesk.domain.answers import Answer
from gpudesk.domain.comparison import column_keys
from gpudesk.domain.fit_matrix import FitCell, FitMatrix
from gpudesk.domain.formatting import UNKNOWN, Formatter
from gpudesk.sheets.fit_words import AMPLE, TIGHT, question_text, reading_name
from gpudesk.sheets.labels import precision_name
from gpudesk.text import tr


def marks(reading: str, formatter: Formatter) -> tuple[tuple[str, str], ...]:
    """Return the marks of the legend with what they mean; `reading` is empty for the estimator."""
    per_cent = formatter.per_cent
    none = tr("no count is known") if reading else tr("no deployment holds it")
    return (
        ("best", tr("{share} or more of the usable memory is left", share=per_cent(AMPLE))),
        ("ink4", tr("{low} to {high}", low=per_cent(TIGHT), high=per_cent(AMPLE))),
        ("ink3", tr("less: tight")),
        (HATCH, f"{UNKNOWN} {none}"),
        (OUTLINE, tr("the scenario's")),
    )


def shown_text(matrix: FitMatrix, table: FitTable, formatter: Formatter) -> str:
    """Return how much of a matrix is shown."""
    return tr(
        "{models} of {all_models} models, {parts} of {all_parts} accelerators",
        models=formatter.count(len(table.rows)),
        all_models=formatter.count(len(matrix.models)),
        parts=formatter.count(len(table.columns)),
        all_parts=formatter.count(len(matrix.accelerators)),
    )


def opening_text(model: str, part: str, count: int | None, formatter: Formatter) -> str:
    """Return what the step is called that opens a cell; without a count it is left open."""
    if count is None:
        return tr("Open {model} on {part}", model=model, part=part)
    return tr("Open {model} on {n} × {part}", model=model, n=formatter.count(count), part=part)


def selection_of(cell: FitCell, answer: Answer, reading: str) -> Selection:
    """Return what a cell rests on: the scenario's own memory, else that of the accelerator, or its label."""
    if reading:
        return catalog_attribute(cell.accelerator, "memory" if cell.count is None else "memory_label")
    choices = answer.scenario.accelerators
    parts = [choice.accelerator for choice in choices]
    if cell.model == answer.scenario.model and cell.accelerator in parts:
        return figure(column_keys(choices)[parts.index(cell.accelerator)], "memory")
    return catalog_attribute(cell.accelerator, "memory")


def matrix_data(title: str, table: FitTable, formatter: Formatter) -> Data:
    """Return the counts that are shown, one model in a row."""
    heads = (tr("Model"), tr("Billion parameters"), *(column.name for column in table.columns))
    rows = tuple(
        (
            row.model.name,
            parameters_text(row, formatter),
            *(formatter.count(cell.count) for cell in row.cells),
        )
        for row in table.rows
    )
    if table.question is not None:
        weights = precision_name(table.question.weights)
        asked = question_text(table.question, formatter)
        title = f"{title}: {f'{reading_name(table.reading)}, {weights}' if table.reading else asked}"
    return Data(title=title, heads=heads, rows=rows)
