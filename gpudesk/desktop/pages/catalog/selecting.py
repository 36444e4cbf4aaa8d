"""What a cell of the catalog is to the rest of the program: a selection, or the subject of an editor."""

from __future__ import annotations

from gpudesk.desktop.pages.catalog.requests import EditorKind, EditorRequest
from gpudesk.desktop.session import selection
from gpudesk.desktop.session.selection import Selection
from gpudesk.domain.catalog_tables import CatalogRow, Column, Section
from gpudesk.domain.claims import Claim, Price, SeedClaim

#: Attributes that columns without one of their own belong to.
_STANDS_FOR = {"price": "price_low"}


def attribute_of(section: Section, row: CatalogRow, column: Column) -> str | None:
    """Return the attribute that a cell is about, None where it is about no attribute."""
    if section in (Section.CLAIMS, Section.DISPUTES, Section.YOURS):
        return row.attribute
    return _STANDS_FOR.get(column.key, column.attribute)


def selection_of(section: Section, row: CatalogRow, column: Column) -> Selection | None:
    """Return what of the catalog a cell is about; None where the panel has nothing to say of it."""
    if isinstance(row.item, Price):
        return selection.catalog_price(row.item.id)
    if isinstance(row.item, SeedClaim):
        return selection.catalog_statement(row.item.id)
    if section is Section.SOURCES:
        return selection.catalog_source(row.key)
    if section is Section.DISPUTES:
        return selection.catalog_dispute(row.key)
    if row.thing is None:
        return None
    attribute = attribute_of(section, row, column)
    if attribute is None:
        return selection.catalog_thing(row.thing)
    return selection.catalog_attribute(row.thing, attribute)


def edit_request(section: Section, row: CatalogRow, column: Column) -> EditorRequest | None:
    """Return what would be edited in a cell, None where nothing can be."""
    if row.waits is not None:
        return None
    if isinstance(row.item, Price):
        return EditorRequest(EditorKind.PRICE, thing=row.thing, price=row.item.id)
    if section is Section.SOURCES:
        return EditorRequest(EditorKind.SOURCE, source=row.key) if row.own else None
    attribute = attribute_of(section, row, column)
    if row.thing is None:
        return None
    if attribute is None:
        kind = EditorKind.ACCELERATOR if section is Section.ACCELERATORS else EditorKind.MODEL
        named = section in (Section.ACCELERATORS, Section.MODELS)
        return EditorRequest(kind, thing=row.thing) if row.own and named and column.key == "name" else None
    claim = row.item.source.id if isinstance(row.item, Claim) else None
    return EditorRequest(EditorKind.VALUE, row.thing, attribute, claim)


def preference_request(section: Section, row: CatalogRow, column: Column) -> EditorRequest | None:
    """Return the choice among claims that a cell is about, None where there is none."""
    attribute = attribute_of(section, row, column)
    if row.thing is None or attribute is None or row.waits is not None:
        return None
    claim = row.item.source.id if isinstance(row.item, Claim) else None
    return EditorRequest(EditorKind.PREFERENCE, row.thing, attribute, claim)
