"""A table of rows as values, for the window, paper, terminal and files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from enum import Enum
from typing import NamedTuple

from gpudesk.domain.diffusion import DiffusionEstimate
from gpudesk.domain.estimate import EstimateBasis, EstimateRequest
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.messages import capitalize_first
from gpudesk.text.translation import tr


@frozen_dataclass
class DataColumn:
    """A column: figures are right-aligned; `stretch` is its share of the free width.

    A column without a stretch has its minimum width. With a `slot` the head is the name of the accelerator with that
    palette index. `figure` is explained by a click on a cell, `detail` is the name of its second lines.
    """

    head: str
    is_figure: bool = False
    stretch: int = 0
    is_bar: bool = False
    slot: int = 0
    is_variant: bool = False
    figure: str = ""
    detail: str = ""


class CellSeverity(Enum):
    """Whether a cell reports a problem, and how grave it is: requests queue, or there is no result."""

    NONE = "none"
    WARNING = "warning"
    FAULT = "fault"


@frozen_dataclass
class DataCell:
    """A text with an optional second line, an icon before it and a glyph after it; or a bar of `share`, 0 to 1.

    With a `slot` the text is the name of the accelerator with that palette index. The best is tinted; warnings and
    errors have a color. `sentence` is the full text, if it is more than head, text and second line.
    """

    text: str = ""
    detail: str = ""
    icon: str = ""
    mark: str = ""
    share: float | None = None
    is_strong: bool = False
    is_quiet: bool = False
    slot: int = 0
    is_variant: bool = False
    is_best: bool = False
    severity: CellSeverity = CellSeverity.NONE
    sentence: str = ""


@frozen_dataclass
class DataRow:
    """A row and its target: a deployment, an attribute of the accelerator, or another accelerator.

    `sentence` is its full text. `diffusion` has the settings of an image or a video.
    """

    key: str
    cells: tuple[DataCell, ...]
    sentence: str
    request: EstimateRequest | None = None
    attribute: str = ""
    accelerator: str = ""
    diffusion: DiffusionEstimate | None = None


@frozen_dataclass
class DataTable:
    """A titled table; `note` is shown below it, and instead of missing rows."""

    id: str
    title: str
    subtitle: str
    columns: tuple[DataColumn, ...]
    rows: tuple[DataRow, ...]
    note: str = ""


def explain_cell_marks(rows: Iterable[DataRow]) -> tuple[tuple[str, str], ...]:
    """Return the marks after the cells of rows, each with its meaning."""
    marks = {cell.mark for row in rows for cell in row.cells}
    meanings = {basis.value: capitalize_first(basis.label) for basis in EstimateBasis} | {"own": tr("Your settings")}
    return tuple((mark, text) for mark, text in meanings.items() if mark in marks)


class FigureRow(NamedTuple):
    """An accelerator: texts of its figures, a remark, and whether that reports a problem."""

    key: str
    slot: int
    is_variant: bool
    name: str
    figures: tuple[str, ...]
    remark: str
    severity: CellSeverity = CellSeverity.NONE


def build_accelerator_table(
    title: str,
    heads: Sequence[str],
    rows: Iterable[FigureRow],
    *,
    leading: AbstractSet[int],
    figures: Sequence[str] = (),
    remarks: str = "",
) -> DataTable:
    """Return a table of accelerator figures, bold in the columns of `leading`, with a remark on each.

    `figures` are explained by clicks on the columns. `remarks` is the head of the remarks, by default for the limiter.
    """
    explained = tuple(figures) or ("",) * len(heads)
    columns = (
        DataColumn(tr("Accelerator"), figure=explained[0]),
        *(DataColumn(head, is_figure=True, figure=name) for head, name in zip(heads, explained, strict=True)),
        DataColumn(remarks or tr("Limiting factor"), stretch=1, figure=explained[-1]),
    )
    return DataTable("figures", title, "", columns, tuple(_build_figure_row(row, heads, leading) for row in rows))


def _build_figure_row(row: FigureRow, heads: Sequence[str], leading: AbstractSet[int]) -> DataRow:
    figures = (
        DataCell(
            text,
            is_strong=place in leading,
            is_quiet=place not in leading,
            sentence=tr("{figure}, {name}: {value}", figure=heads[place], name=row.name, value=text),
        )
        for place, text in enumerate(row.figures)
    )
    name = DataCell(row.name, slot=row.slot, is_variant=row.is_variant, is_strong=True)
    remark = DataCell(row.remark, is_quiet=True, severity=row.severity)
    return DataRow(row.key, (name, *figures, remark), row.name)
