"""Figures of things as tables to hand on: one row a thing with the values taken, or one row a claim."""

from __future__ import annotations

from collections.abc import Sequence

from gpudesk.domain.claims import PRICE_ENDS, Attribute, Claim, Source, is_figure
from gpudesk.domain.things import Thing
from gpudesk.sheets.claim_lines import label_alone
from gpudesk.sheets.export_cells import ExportCells, merged_names, source_columns, whose_columns
from gpudesk.sheets.labels import attribute_label
from gpudesk.sheets.table_export import CellKind, CellValue, Column, ExportTable, Row
from gpudesk.text import tr

#: Things with all their attributes, in the order of lists.
Described = Sequence[tuple[Thing, Sequence[Attribute]]]


def figures_table(title: str, described: Described, cells: ExportCells) -> ExportTable:
    """Return a row for each thing: every attribute that is taken, and beside it who states it.

    Dimensions of single layers, which no two models share, are left to the table of claims.
    """
    known = {
        thing.id: {each.name: each for each in attributes if "." not in each.name}
        for thing, attributes in described
    }
    names = merged_names(known)
    units = {each.name: each.unit for attributes in known.values() for each in attributes.values()}
    head = [
        Column("id", tr("Id")),
        Column("name", tr("Name")),
        Column("maker", tr("Maker")),
        Column("own", tr("Own"), kind=CellKind.YES_NO),
    ]
    for name in names:
        label = _label(name)
        values = [each[name].value for each in known.values() if name in each]
        head.append(Column(name, label, cells.unit(name, units[name]), _kind(name, values)))
        head += whose_columns(name, label)
    rows: list[Row] = []
    sources: dict[str, Source] = {}
    for thing, _ in described:
        row: list[CellValue] = [thing.id, thing.name, thing.maker, thing.own]
        for name in names:
            attribute = known[thing.id].get(name)
            claim = None if attribute is None else attribute.preferred
            row.append(None if claim is None else cells.value(claim.value, name, units[name]))
            row += cells.whose(claim)
            if claim is not None:
                sources[claim.source.id] = claim.source
        rows.append(tuple(row))
    return ExportTable(title, tuple(head), rows, sources=_ordered(sources))


def claims_table(described: Described, cells: ExportCells) -> ExportTable:
    """Return a row for each claim about each attribute of each thing, the one that is taken first."""
    head = (
        Column("thing", tr("Entry")),
        Column("name", tr("Name")),
        Column("attribute", tr("Attribute")),
        Column("label", tr("Label")),
        Column("value", tr("Value"), kind=CellKind.MIXED),
        Column("unit", tr("Unit")),
        Column("stance", tr("Stance")),
        Column("verdict", tr("Verdict")),
        Column("reason", tr("Reason")),
        Column("published", tr("As published")),
        Column("conditions", tr("Conditions")),
        Column("kind", tr("Kind")),
        Column("date", tr("Date"), kind=CellKind.DATE),
        *source_columns(),
        Column("retrieved", tr("Retrieved"), kind=CellKind.DATE),
        Column("own", tr("Own"), kind=CellKind.YES_NO),
        Column("statements", tr("Statements")),
        Column("note", tr("Note")),
    )
    rows: list[Row] = []
    sources: dict[str, Source] = {}
    for thing, attributes in described:
        for attribute in attributes:
            for claim in sorted(attribute.claims, key=lambda each: not each.preferred):
                rows.append(_claim(thing, attribute, claim, cells))
                sources[claim.source.id] = claim.source
    return ExportTable(tr("Claims"), head, rows, sources=_ordered(sources))


def _claim(thing: Thing, attribute: Attribute, claim: Claim, cells: ExportCells) -> Row:
    stated = is_figure(claim.value)
    return (
        thing.id,
        thing.name,
        attribute.name,
        label_alone(attribute.name),
        cells.value(claim.value, attribute.name, attribute.unit),
        cells.unit(attribute.name, attribute.unit) if stated else None,
        cells.stance(attribute.stance(claim)),
        attribute.verdict(claim),
        attribute.reason if claim.preferred else None,
        claim.published,
        claim.conditions,
        cells.kind(claim.kind),
        claim.source.date,
        *cells.source(claim.source),
        claim.retrieved,
        claim.own,
        ", ".join(claim.statements) or None,
        claim.note,
    )


def _label(name: str) -> str:
    """Return what a column is called; the two ends of a price are told apart."""
    return attribute_label(name) if name in PRICE_ENDS else label_alone(name)


def _kind(name: str, values: Sequence[object]) -> CellKind:
    """Return what a column of these values is."""
    known = [value for value in values if value is not None]
    if name.endswith("_date"):
        return CellKind.DATE
    if any(isinstance(value, str | tuple) for value in known):
        return CellKind.TEXT if all(isinstance(value, str | tuple) for value in known) else CellKind.MIXED
    return CellKind.YES_NO if all(isinstance(value, bool) for value in known) else CellKind.NUMBER


def _ordered(sources: dict[str, Source]) -> tuple[Source, ...]:
    return tuple(sources[name] for name in sorted(sources))
