"""Sources as a table to hand on."""

from __future__ import annotations

from collections.abc import Iterable

from gpudesk.domain.claims import Source
from gpudesk.sheets.export_cells import ExportCells
from gpudesk.sheets.table_export import CellKind, Column, ExportTable
from gpudesk.text import tr


def sources_table(sources: Iterable[Source], cells: ExportCells) -> ExportTable:
    """Return a row for each source."""
    head = (
        Column("source", tr("Source")),
        Column("title", tr("Title")),
        Column("publisher", tr("Publisher")),
        Column("kind", tr("Kind")),
        Column("date", tr("Date"), kind=CellKind.DATE),
        Column("url", tr("Address")),
        Column("remark", tr("Remark")),
        Column("own", tr("Own"), kind=CellKind.YES_NO),
    )
    rows = [
        (
            source.id,
            source.title,
            source.publisher,
            cells.kind(source.kind),
            source.date,
            source.url,
            source.trust,
            source.own,
        )
        for source in sources
    ]
    return ExportTable(tr("Sources"), head, rows)
