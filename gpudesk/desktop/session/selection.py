"""What the user has selected: one figure, of which the panel shows sources and working."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from gpudesk.domain.questions import QUESTIONS, AnswerValue


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
    #: An answer to a question of the dialogue, in force or not.
    OPTION = "option"
    #: What a rule says of the column, or of all of them.
    TRACE = "trace"


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
_OF_DECISION: Final = frozenset({SelectionKind.OPTION, SelectionKind.TRACE})


@dataclass(frozen=True, slots=True)
class Selection:
    """A figure of one column, named by its key (`domain.comparison.column_keys`; empty for the model's).

    What is selected in the catalog has no column: `thing` is the entry that it is about, `name` an attribute
    of it or the id of a price, source, dispute or statement. Of an answer `name` is the question and `thing`
    what is answered; of a rule `name` is its id.
    """

    column: str
    kind: SelectionKind
    name: str
    thing: str = ""

    @property
    def of_catalog(self) -> bool:
        """Whether it is something of the catalog, with or without an answer."""
        return self.kind in _OF_CATALOG

    @property
    def of_decision(self) -> bool:
        """Whether it is part of a decision: an answer, or what a rule says."""
        return self.kind in _OF_DECISION

    @property
    def of_all(self) -> bool:
        """Whether it is about the scenario as a whole, not about one column of it."""
        return self.kind is SelectionKind.MODEL or (self.of_decision and not self.column)

    @property
    def answer(self) -> AnswerValue:
        """What is answered, where it is an answer to a question."""
        return self.thing if self.thing in QUESTIONS[self.name].options else float(self.thing)


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


def decision_option(question: str, value: AnswerValue) -> Selection:
    """Return the selection of an answer to a question, in force or not."""
    return Selection("", SelectionKind.OPTION, question, str(value))


def trace_row(rule: str, column: str = "") -> Selection:
    """Return the selection of what a rule says of a column, by the rule's id; without one of all of them."""
    return Selection(column, SelectionKind.TRACE, rule)
