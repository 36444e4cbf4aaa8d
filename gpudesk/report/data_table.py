"""A table of rows as values, for the window, paper, terminal and files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import NamedTuple

from gpudesk.domain.diffusion import DiffusionEstimate
from gpudesk.domain.estimate import EstimateRequest
from gpudesk.text.translation import tr


@dataclass(frozen=True, slots=True)
class DataColumn:
    """A column: figures are set flush right; `stretch` is the share of the free width that it takes.

    A column without a stretch has the width that it needs. With a `slot` the head is the name of the accelerator at
    that place in the palette. `figure` is what a click on a cell explains, `detail` what its second lines are.
    """

    head: str
    is_figure: bool = False
    stretch: int = 0
    is_bar: bool = False
    slot: int = 0
    is_variant: bool = False
    figure: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class DataCell:
    """A text, a second line in small type, an icon before it and a glyph behind it; or a bar of `share`, 0 to 1.

    With a `slot` the text is the name of the accelerator at that place in the palette. The best is tinted, a fault
    has its color. `sentence` is all that a cell says, where that is more than its head, text and second line.
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
    is_fault: bool = False
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class DataRow:
    """A row with what it can lead to: a deployment, an attribute of the accelerator, or another accelerator.

    `sentence` is all of it in words. `diffusion` has the settings of an image or a video.
    """

    key: str
    cells: tuple[DataCell, ...]
    sentence: str
    request: EstimateRequest | None = None
    attribute: str = ""
    accelerator: str = ""
    diffusion: DiffusionEstimate | None = None


@dataclass(frozen=True, slots=True)
class DataTable:
    """A titled table; `note` is said below it, and in place of the rows where there are none."""

    id: str
    title: str
    subtitle: str
    columns: tuple[DataColumn, ...]
    rows: tuple[DataRow, ...]
    note: str = ""


class FigureRow(NamedTuple):
    """An accelerator: texts of its figures, a remark, and whether that tells of a fault."""

    key: str
    slot: int
    is_variant: bool
    name: str
    figures: tuple[str, ...]
    remark: str
    is_fault: bool = False


def build_accelerator_table(
    title: str,
    heads: Sequence[str],
    rows: Iterable[FigureRow],
    *,
    leading: AbstractSet[int],
    figures: Sequence[str] = (),
    remarks: str = "",
) -> DataTable:
    """Return a table of figures of accelerators, strong in the columns of `leading`, with a remark on each.

    `figures` are what clicks on the columns explain. `remarks` is the head of the remarks, which otherwise say what
    limits an accelerator.
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
    remark = DataCell(row.remark, is_quiet=True, is_fault=row.is_fault)
    return DataRow(row.key, (name, *figures, remark), row.name)
