"""What the user has selected: the one figure that the panel explains."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from gpudesk.domain.decision import QUESTIONS, AnswerValue
from gpudesk.domain.estimate import EstimateRequest


class EditorKind(StrEnum):
    """What an editor is about. Without an id in the request it is for a new one."""

    ACCELERATOR = "accelerator"
    MODEL = "model"
    SYSTEM = "system"
    PRICE = "price"
    SOURCE = "source"
    #: A value of the user's for one attribute of one thing.
    VALUE = "value"
    #: Which of the claims about one attribute is taken, and why.
    PREFERENCE = "preference"
    #: From how many days on prices and facts count as stale.
    STALENESS = "staleness"


@dataclass(frozen=True, slots=True)
class EditorRequest:
    """What to open an editor for.

    `thing` and `attribute` are names of the catalog, `price` and `source` ids. `claim` is the id of the
    source of a claim about the attribute, where one was in sight when the editor was asked for.
    """

    kind: EditorKind
    thing: str | None = None
    attribute: str | None = None
    claim: str | None = None
    price: str | None = None
    source: str | None = None


class SelectionKind(StrEnum):
    """Where a selected figure comes from."""

    #: An attribute of the column's accelerator, from the catalog.
    ATTRIBUTE = "attribute"
    #: A figure of the column's estimate.
    FIGURE = "figure"
    #: A cost of the column.
    COST = "cost"
    #: A figure of the fleet of the column's accelerator.
    FLEET = "fleet"
    #: An attribute of the model, from the catalog.
    MODEL = "model"
    SYSTEM = "system"
    #: An attribute of any thing of the catalog, whether the scenario has it or not.
    CATALOG = "catalog"
    #: A figure of a deployment that no column has.
    DEPLOYMENT = "deployment"
    #: A whole entry of the catalog.
    THING = "thing"
    PRICE = "price"
    SOURCE = "source"
    DISPUTE = "dispute"
    #: A statement of a source document.
    STATEMENT = "statement"
    #: An answer to a question of the dialogue, in effect or not.
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
    what is answered; of a rule `name` is its id. A deployment that no column has is named by its `request`.
    """

    column: str
    kind: SelectionKind
    name: str
    thing: str = ""
    request: EstimateRequest | None = None

    @property
    def of_catalog(self) -> bool:
        return self.kind in _OF_CATALOG

    @property
    def of_decision(self) -> bool:
        """Whether it is part of a decision: an answer, or what a rule says."""
        return self.kind in _OF_DECISION

    @property
    def of_all(self) -> bool:
        """Whether it is about the scenario as a whole, not about one column of it."""
        of_no_column = self.kind in (SelectionKind.MODEL, SelectionKind.DEPLOYMENT)
        return of_no_column or (self.of_decision and not self.column)

    @property
    def answer(self) -> AnswerValue:
        return self.thing if self.thing in QUESTIONS[self.name].options else float(self.thing)


def select_attribute(column: str, name: str) -> Selection:
    return Selection(column, SelectionKind.ATTRIBUTE, name)


def select_figure(column: str, name: str) -> Selection:
    return Selection(column, SelectionKind.FIGURE, name)


def select_cost(column: str, name: str) -> Selection:
    return Selection(column, SelectionKind.COST, name)


def select_fleet_figure(accelerator: str, name: str) -> Selection:
    return Selection(accelerator, SelectionKind.FLEET, name)


def select_model_attribute(name: str) -> Selection:
    return Selection("", SelectionKind.MODEL, name)


def select_deployment(request: EstimateRequest) -> Selection:
    """Return the selection of the output throughput of a deployment, in the scenario or not."""
    return Selection("", SelectionKind.DEPLOYMENT, "output_tokens_per_s", request=request)


def select_catalog_attribute(thing: str, name: str) -> Selection:
    return Selection("", SelectionKind.CATALOG, name, thing)


def select_catalog_entry(thing: str) -> Selection:
    return Selection("", SelectionKind.THING, "", thing)


def select_catalog_price(price: str) -> Selection:
    return Selection("", SelectionKind.PRICE, price)


def select_catalog_source(source: str) -> Selection:
    return Selection("", SelectionKind.SOURCE, source)


def select_catalog_dispute(dispute: str) -> Selection:
    return Selection("", SelectionKind.DISPUTE, dispute)


def select_catalog_statement(statement: str) -> Selection:
    return Selection("", SelectionKind.STATEMENT, statement)


def select_decision_option(question: str, value: AnswerValue) -> Selection:
    return Selection("", SelectionKind.OPTION, question, str(value))


def select_trace_row(rule: str, column: str = "") -> Selection:
    """Return the selection of what a rule says of a column, by the rule's id; without one of all of them."""
    return Selection(column, SelectionKind.TRACE, rule)
