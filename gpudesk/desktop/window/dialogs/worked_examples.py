"""Printed figures and their recalculation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from gpudesk.desktop.ui.tables.data_table import TextTable
from gpudesk.desktop.ui.theme.focus_ring import ThemedDialog
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.buttons import Button, CopyButton, SegmentedControl
from gpudesk.desktop.ui.widgets.filters import FilterField
from gpudesk.desktop.ui.widgets.layouts import STRETCH, FullWidthScrollArea, ThemedLabel, make_column, make_row
from gpudesk.domain.deployment_analysis import WorkedExampleVerdict, WorkedFigure
from gpudesk.report.data_table import DataCell
from gpudesk.report.explanation.worked_examples import (
    describe_worked_note,
    describe_worked_verdict,
    format_computed_figure,
    format_printed_figure,
    label_worked_claim,
    label_worked_verdict,
    list_worked_arithmetic,
)
from gpudesk.text.formatting import Formatter
from gpudesk.text.translation import tr, translate_data, trn

_WIDTH, _HEIGHT, _FIELD, _DETAIL = 980.0, 680.0, 220.0, 148.0
_ALL: Final = "all"
#: Icon of a verdict; the column has it in words too.
_ICONS: Final = {
    WorkedExampleVerdict.REPRODUCED: "circle-check",
    WorkedExampleVerdict.REFUSED: "circle-alert",
    WorkedExampleVerdict.NOT_DERIVABLE: "circle-help",
}
_ABOUT: Final = (
    "Figures published on accelerator pages, recomputed from the inputs on the same page. Refused: the computed "
    "value contradicts the published one. Select a row to see its calculation."
)


class WorkedExamplesDialog(ThemedDialog):
    """Lists figures with their verdicts, and below the calculation of the current one, which Copy copies."""

    manual_topic = "working#printed-figures"

    def __init__(
        self,
        theme: Theme,
        examples: Sequence[WorkedFigure],
        source_title: Callable[[str], str],
        formatter: Formatter,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(theme, tr("Checked claims"), (_WIDTH, _HEIGHT), parent)
        self._formatter = formatter
        self._examples = tuple(examples)
        self._source_title = source_title
        self._make_head()
        self.table = self._make_table()
        self._make_detail()
        self.copy = CopyButton(self._theme, tr("Copy calculation"), lambda: self.text)
        self.leave = Button(self._theme, tr("Close"), self.reject, kind="primary")
        px = self._theme.px
        head = make_row(self.verdict, self._count, STRETCH, self.filter, gap=px(12))
        foot = make_row(self.copy, STRETCH, self.leave, gap=px(8))
        make_column(
            self.note_label,
            head,
            (self.table, 1),
            self._detail,
            foot,
            gap=px(12),
            margins=(px(24), px(20), px(24), px(16)),
            on=self,
        )
        self._narrow()
        self.filter.setFocus()

    # Construction

    def _make_head(self) -> None:
        theme = self._theme
        self.note_label = ThemedLabel(theme, tr(_ABOUT), color="text2", wrap=True)
        options = ((_ALL, tr("All")), *((each.value, each.label) for each in WorkedExampleVerdict))
        self.verdict = SegmentedControl(theme, tr("Verdict"), options)
        self.verdict.chosen.connect(self._narrow)
        tip = tr("Filter by number, document or text")
        self.filter = FilterField(theme, tr("Filter"), tip, framed=True, width=_FIELD)
        self.filter.changed.connect(self._narrow)
        self.filter.left.connect(self._go_to_rows)
        self._count = ThemedLabel(theme, font="small", color="text3")

    def _make_table(self) -> TextTable:
        heads = [tr("Number"), tr("Verdict"), tr("Claim"), tr("Published"), tr("Computed")]
        table = TextTable(self._theme, tr("Checked claims"), heads, numbers=(3, 4), giving=(2,), scrolls=True)
        table.selectionModel().currentRowChanged.connect(self._show_current)
        return table

    def _make_cells(self, figure: WorkedFigure) -> list[DataCell]:
        verdict = DataCell(label_worked_verdict(figure), icon=_ICONS[figure.verdict])
        texts = (
            label_worked_claim(figure),
            format_printed_figure(figure, self._formatter),
            format_computed_figure(figure, self._formatter),
        )
        return [DataCell(figure.example.id), verdict, *map(DataCell, texts)]

    def _make_detail(self) -> None:
        theme = self._theme
        self.working = ThemedLabel(theme, wrap=True, selectable=True)
        self.working.setAccessibleName(tr("Calculation"))
        self._detail = FullWidthScrollArea()
        self._detail.setFixedHeight(theme.px(_DETAIL))
        holder = QWidget()
        margin = theme.px(12)
        make_column(self.working, STRETCH, margins=(margin, margin, margin, margin), on=holder)
        self._detail.show_widget(holder)

    # Interaction

    @property
    def current(self) -> WorkedFigure | None:
        row = self.table.current_row
        return None if row is None else self._examples[int(row.key)]

    @property
    def text(self) -> str:
        """The copied text of the current derivation; empty without one."""
        figure = self.current
        return "" if figure is None else "\n".join(self._list_lines(figure))

    def _narrow(self) -> None:
        words, chosen = self.filter.text().casefold().split(), self.verdict.value
        rows = {
            str(place): self._make_cells(figure)
            for place, figure in enumerate(self._examples)
            if chosen in (_ALL, figure.verdict.value) and self._has(figure, words)
        }
        count_text = trn("{n} claim", "{n} claims", len(rows), n=self._formatter.count(len(rows)))
        self._count.setText(count_text)
        self.filter.setAccessibleDescription(count_text)
        self.table.set_cells(rows)
        self.table.choose_any()
        self._show_current()

    def _has(self, figure: WorkedFigure, words: Sequence[str]) -> bool:
        example = figure.example
        texts = (example.id, translate_data(example.statement), self._get_document_title(figure), example.note)
        example_text = " ".join(texts).casefold()
        return all(word in example_text for word in words)

    def _get_document_title(self, figure: WorkedFigure) -> str:
        source = figure.example.source
        return "" if source is None else self._source_title(source)

    def _show_current(self) -> None:
        self.copy.reset()
        self.copy.setEnabled(self.current is not None)
        self.working.setText(self.text or tr("No matching claims. Clear the filter."))

    def _list_lines(self, figure: WorkedFigure) -> list[str]:
        example = figure.example
        head = tr("{number}: {statement}", number=example.id, statement=label_worked_claim(figure))
        text = " ".join(filter(None, (describe_worked_verdict(figure, self._formatter), describe_worked_note(example))))
        lines = [head, self._get_document_title(figure), *list_worked_arithmetic(figure, self._formatter), text]
        return [line for line in lines if line]

    def _go_to_rows(self) -> None:
        self.table.setFocus(Qt.FocusReason.TabFocusReason)
