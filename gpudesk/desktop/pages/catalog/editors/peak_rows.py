"""Rows of peak arithmetic: a number format, its rate without sparsity and its rate with it."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QWidget

from gpudesk.desktop.pages.catalog.editors.number_row import NUMBER_DECIMALS, read_number
from gpudesk.desktop.pages.catalog.editors.rows import LABEL, FieldFault, FormRow, LineEdit
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.label import Label
from gpudesk.desktop.widgets.numbers import NumberFormat
from gpudesk.domain.formatting import NumberStyle
from gpudesk.sheets.labels import precision_name
from gpudesk.text import tr
from gpudesk.workbench.own_entry import UnitChoice

_NUMBER = 116.0
DENSE, SPARSE = "peak_dense_", "peak_sparse_"


class PeakRow(FormRow):
    """Two numbers of one format, either of which may be empty."""

    def __init__(self, theme: Theme, precision: str, style: NumberStyle) -> None:
        """Begin empty."""
        unit = "TOPS" if precision.startswith("int") else ""
        shown = precision_name(precision)
        super().__init__(theme, f"{DENSE}{precision}", shown, aside=unit)
        self.precision = precision
        self._format = NumberFormat(float("-inf"), float("inf"), NUMBER_DECIMALS, style)
        self.dense, self.sparse = LineEdit(theme), LineEdit(theme)
        for edit in (self.dense, self.sparse):
            edit.setFixedWidth(theme.px(_NUMBER))
            edit.textEdited.connect(self.user_edited)
            edit.editingFinished.connect(self.check)
        both = QWidget()
        row = QHBoxLayout(both)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.px(10))
        row.addWidget(self.dense)
        row.addWidget(self.sparse)
        self.lay_out(both, left=True)
        self.dense.setAccessibleName(tr("{precision}, dense", precision=shown))
        self.sparse.setAccessibleName(tr("{precision}, sparse", precision=shown))

    def control(self) -> QWidget:
        """Return the line at fault, else the first."""
        return self.sparse if self.sparse.property("fault") == "true" else self.dense

    def is_empty(self) -> bool:
        """Say whether neither is typed."""
        return not (self.dense.text().strip() or self.sparse.text().strip())

    def read(self) -> object:
        """Return both as typed."""
        return (self.rate(self.dense), self.rate(self.sparse))

    def rate(self, edit: LineEdit) -> int | float | None:
        """Return what is typed in a line, None where it is empty; raises `FieldFault`."""
        return read_number(edit.text(), self._format) if edit.text().strip() else None

    def show_inside(self, edit: LineEdit, value: float | None, unit: UnitChoice) -> None:
        """Show a rate in the unit used inside."""
        edit.setText("" if value is None else self._format.text(unit.typed(value)))

    def mark_fault(self, wrong: bool) -> None:
        """Show at the line that is wrong that it is."""
        for edit in (self.dense, self.sparse):
            at_fault = wrong and not self._usable(edit)
            edit.setProperty("fault", "true" if at_fault else "false")
            edit.style().unpolish(edit)
            edit.style().polish(edit)

    def _usable(self, edit: LineEdit) -> bool:
        try:
            self.rate(edit)
        except FieldFault:
            return False
        return True


class PeakHead(QWidget):
    """The heads of the two columns."""

    def __init__(self, theme: Theme) -> None:
        """Show them where the lines stand."""
        super().__init__()
        px = theme.px
        row = QHBoxLayout(self)
        row.setContentsMargins(px(LABEL) + px(10), 0, 0, 0)
        row.setSpacing(px(10))
        for text in (tr("Dense"), tr("Sparse")):
            label = Label(theme, text, font="caption_strong", colour="text3")
            label.setFixedWidth(px(_NUMBER))
            row.addWidget(label)
        row.addStretch(1)
