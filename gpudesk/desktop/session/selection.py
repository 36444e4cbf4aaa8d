"""What the user has selected: one figure, of which the panel shows sources and working."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class SelectionKind(StrEnum):
    """Where a selected figure comes from."""

    #: An attribute of the column's accelerator, from the catalog.
    ATTRIBUTE = "attribute"
    #: A figure of the column's estimate.
    FIGURE = "figure"
    #: An attribute of the model, from the catalog.
    MODEL = "model"


@dataclass(frozen=True, slots=True)
class Selection:
    """A figure of one column, named by its key (`domain.comparison.column_keys`; empty for the model's)."""

    column: str
    kind: SelectionKind
    name: str


def attribute(column: str, name: str) -> Selection:
    """Return the selection of an attribute of a column's accelerator."""
    return Selection(column, SelectionKind.ATTRIBUTE, name)


def figure(column: str, name: str) -> Selection:
    """Return the selection of a figure of a column's estimate."""
    return Selection(column, SelectionKind.FIGURE, name)


def model_attribute(name: str) -> Selection:
    """Return the selection of an attribute of the model."""
    return Selection("", SelectionKind.MODEL, name)
