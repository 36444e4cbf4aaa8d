"""What the user has selected: one figure, of which the panel shows sources and working."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class SelectionKind(StrEnum):
    """Where a selected figure comes from."""

    #: An attribute of the column's accelerator, from the catalog.
    ATTRIBUTE = "attribute"
    #: A figure of the column's estimate.
    FIGURE = "figure"
    #: A cost of the column.
    COST = "cost"
    #: An attribute of the model, from the catalog.
    MODEL = "model"
    #: An attribute of any thing of the catalog, whether the scenario has it or not.
    CATALOG = "catalog"
    #: A whole entry of the catalog.
    THING = "thing"
    PRICE = "price"
    SOURCE = "source"
    DISPUTE = "dispute"
    #: A statement of a source document.
    STATEMENT = "statement"


#: Kinds that are explained from the catalog alone, without an answer.
_OF_CATALOG: Final = frozenset(
    {
        SelectionKind.CATALOG,
        SelectionKind.THING,
        SelectionKind.PRICE,
        SelectionKind.SOURCE,
        SelectionKind.DISPUTE,
        SelectionKind.STATEMENT,
    }
)


@dataclass(frozen=True, slots=True)
class Selection:
    """A figure of one column, named by its key (`domain.comparison.column_keys`; empty for the model's).

    What is selected in the catalog has no column: `thing` is the entry that it is about, `name` an attribute
    of it or the id of a price, source, dispute or statement.
    """

    column: str
    kind: SelectionKind
    name: str
    thing: str = ""

    @property
    def of_catalog(self) -> bool:
        """Whether it is something of the catalog, with or without an answer."""
        return self.kind in _OF_CATALOG


def attribute(column: str, name: str) -> Selection:
    """Return the selection of an attribute of a column's accelerator."""
    return Selection(column, SelectionKind.ATTRIBUTE, name)


def figure(column: str, name: str) -> Selection:
    """Return the selection of a figure of a column's estimate."""
    return Selection(column, SelectionKind.FIGURE, name)


def cost(column: str, name: str) -> Selection:
    """Return the selection of a cost of a column."""
    return Selection(column, SelectionKind.COST, name)


def model_attribute(name: str) -> Selection:
    """Return the selection of an attribute of the model."""
    return Selection("", SelectionKind.MODEL, name)


def catalog_attribute(thing: str, name: str) -> Selection:
    """Return the selection of an attribute of any thing of the catalog."""
    return Selection("", SelectionKind.CATALOG, name, thing)


def catalog_thing(thing: str) -> Selection:
    """Return the selection of a whole entry of the catalog."""
    return Selection("", SelectionKind.THING, "", thing)


def catalog_price(price: str) -> Selection:
    """Return the selection of a price by its id."""
    return Selection("", SelectionKind.PRICE, price)


def catalog_source(source: str) -> Selection:
    """Return the selection of a source by its id."""
    return Selection("", SelectionKind.SOURCE, source)


def catalog_dispute(dispute: str) -> Selection:
    """Return the selection of a dispute by its id."""
    return Selection("", SelectionKind.DISPUTE, dispute)


def catalog_statement(statement: str) -> Selection:
    """Return the selection of a statement of a source document by its id."""
    return Selection("", SelectionKind.STATEMENT, statement)
