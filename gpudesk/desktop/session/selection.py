"""The user's selection: the one figure that the panel explains."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from gpudesk.domain.answer import Answer, find_best, rank_figures
from gpudesk.domain.decision import QUESTIONS, AnswerValue
from gpudesk.domain.estimate import EstimateRequest
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.report.costs import OWNED, RENTED


class EditorKind(StrEnum):
    """The target of an editor. Without an id in the request it is for a new entry."""

    ACCELERATOR = "accelerator"
    MODEL = "model"
    SYSTEM = "system"
    PRICE = "price"
    SOURCE = "source"
    #: A user value for one attribute of one entry.
    VALUE = "value"
    #: The preferred claim about one attribute, with the reason.
    PREFERENCE = "preference"
    #: The age in days from which prices and facts count as stale.
    STALENESS = "staleness"


@frozen_dataclass
class EditorRequest:
    """A request for an editor.

    `thing` and `attribute` are names of the catalog, `price` and `source` ids. `claim` is the id of the source of the
    visible claim about the attribute, if any.
    """

    kind: EditorKind
    thing: str | None = None
    attribute: str | None = None
    claim: str | None = None
    price: str | None = None
    source: str | None = None


class SelectionKind(StrEnum):
    """The origin of a selected figure."""

    #: An attribute of the column's accelerator, from the catalog.
    ATTRIBUTE = "attribute"
    #: A figure of the column's estimate.
    FIGURE = "figure"
    #: A cost of the column.
    COST = "cost"
    #: A figure of the fleet of the column's accelerator.
    FLEET = "fleet"
    #: An attribute of any catalog entry, in the scenario or not.
    CATALOG = "catalog"
    #: A figure of a deployment outside the columns.
    DEPLOYMENT = "deployment"
    #: A whole entry of the catalog.
    THING = "thing"
    PRICE = "price"
    SOURCE = "source"
    DISPUTE = "dispute"
    #: A statement of a source document.
    STATEMENT = "statement"
    #: An answer to a question of the dialogue, current or not.
    OPTION = "option"
    #: A rule's effect on the column, or on all.
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


@frozen_dataclass
class Selection:
    """A figure of one column, named by its key (`domain.comparison.column_keys`; empty for the model's).

    A catalog selection has no column: `thing` is its entry, `name` an attribute of it or the id of a price, source,
    dispute or statement. For an answer `name` is the question and `thing` the answer; for a rule `name` is its id. A
    deployment outside the columns has its `request`.
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
        """Whether it is part of a decision: an answer, or a rule."""
        return self.kind in _OF_DECISION

    @property
    def of_all(self) -> bool:
        """Whether it is about the scenario as a whole, not about one column."""
        return self.kind is SelectionKind.DEPLOYMENT or (self.of_decision and not self.column)

    @property
    def answer(self) -> AnswerValue:
        return self.thing if self.thing in QUESTIONS[self.name].options else float(self.thing)


def select_attribute(column: str, name: str) -> Selection:
    return Selection(column, SelectionKind.ATTRIBUTE, name)


def select_figure(column: str, name: str) -> Selection:
    return Selection(column, SelectionKind.FIGURE, name)


def select_cost(column: str, name: str) -> Selection:
    return Selection(column, SelectionKind.COST, name)


#: Compared cost -> its name in the panel, which explains costs apart from estimates.
_EXPLAINED_COSTS: Final = {"rented_usd_per_million_output": RENTED, "owned_usd_per_million_output": OWNED}


def select_compared_figure(column: str, figure: str) -> Selection:
    cost = _EXPLAINED_COSTS.get(figure)
    return select_figure(column, figure) if cost is None else select_cost(column, cost)


def select_best_figure(answer: Answer, figure: str) -> Selection | None:
    """Return the selection of the best value of a figure, None without values."""
    values = rank_figures(answer, figure)
    return select_compared_figure(answer.keys[find_best(values, figure)], figure) if values else None


def select_fleet_figure(accelerator: str, name: str) -> Selection:
    return Selection(accelerator, SelectionKind.FLEET, name)


def select_deployment(request: EstimateRequest) -> Selection:
    """Return the selection of a deployment's output throughput, in the scenario or not."""
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
    """Return the selection of a rule's effect on a column, by the rule's id; without a column on all."""
    return Selection(column, SelectionKind.TRACE, rule)
