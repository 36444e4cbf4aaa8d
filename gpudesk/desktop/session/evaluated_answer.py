"""The desk's answer with derived data, each computed once: columns, costs, decisions, additions to a sheet."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from gpudesk.domain.answer import Answer, ComparisonColumn, SheetExtras, assign_palette_indexes, find_variants
from gpudesk.domain.cost import CostAnswer, CostColumn
from gpudesk.domain.decision import AnswerValue, Decision, DecisionFlip, WayOut
from gpudesk.domain.fleet import FleetAnswer
from gpudesk.domain.sizing import AcceleratorNeeds
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.report.labels import list_column_names, list_counted_names
from gpudesk.text.formatting import Formatter, IntervalEstimate

if TYPE_CHECKING:
    from gpudesk.decision.outcome.search import OptionDecisions
    from gpudesk.report.costs import MoneyFormatter
    from gpudesk.service import GpuDeskService


@frozen_dataclass
class AcceleratorColumn:
    """One column of an answer with its identification.

    `palette_index` counts from 1. `is_variant` is a further count of an accelerator, which is drawn hollow.
    """

    key: str
    name: str
    palette_index: int
    is_variant: bool
    column: ComparisonColumn

    @property
    def identity(self) -> tuple[str, int, bool, str]:
        """Key, palette index, whether it is a variant, and name: the first fields of curves and table rows."""
        return self.key, self.palette_index, self.is_variant, self.name

    def figure(self, name: str) -> IntervalEstimate | None:
        return None if self.column.estimate is None else getattr(self.column.estimate, name)

    @property
    def fits(self) -> bool:
        return self.column.estimate is not None and self.column.estimate.fits


def list_columns(answer: Answer) -> tuple[AcceleratorColumn, ...]:
    choices = answer.scenario.accelerators
    looks = zip(
        answer.keys,
        list_column_names(answer),
        assign_palette_indexes(choices),
        find_variants(choices),
        answer.columns,
        strict=True,
    )
    return tuple(AcceleratorColumn(*look) for look in looks)


class EvaluatedAnswer:
    """An answer, and data derived from it on demand.

    All of it raises `InputError` or `MissingFileError` if assumptions or rules cannot be read. `flips` are the changes
    found that would alter the decision, `ways_out` those after which something meets every limit, `next_questions` the
    questions whose answer can, in order; None before the search.
    """

    def __init__(self, answer: Answer, service: GpuDeskService, formatter: Formatter) -> None:
        self.answer = answer
        self.formatter = formatter
        self.flips: tuple[DecisionFlip, ...] | None = None
        self.ways_out: tuple[WayOut, ...] | None = None
        self.next_questions: Mapping[str, OptionDecisions] | None = None
        self._service = service
        self._alternatives: dict[tuple[str, AnswerValue], Decision] = {}

    def take_over(self, former: EvaluatedAnswer, *, with_cost_curves: bool) -> None:
        """Copy the data computed from another answer to the same question, which can lack curves.

        Costs follow the throughput curves: with `with_cost_curves`, costs without curves are not copied.
        """
        mine, theirs = self.answer, former.answer
        if (mine.scenario, mine.catalog_revision, mine.unranked) == (
            theirs.scenario,
            theirs.catalog_revision,
            theirs.unranked,
        ):
            names = ["needs", "decision", "decision_costs", "fleet"]
            if "decision" in former.__dict__:
                # The decider still has them; for another answer it would compute them again.
                _ = former.decision_costs
            pairs = zip(mine.columns, theirs.columns, strict=True)
            if not with_cost_curves or all((one.curve is None) == (two.curve is None) for one, two in pairs):
                names += ["costs", "full_costs"]
            self.__dict__.update({name: value for name, value in former.__dict__.items() if name in names})
            self.flips, self.next_questions = former.flips, former.next_questions
            self.ways_out = former.ways_out
            self._alternatives = former._alternatives

    # Columns

    @cached_property
    def columns(self) -> tuple[AcceleratorColumn, ...]:
        return list_columns(self.answer)

    @cached_property
    def fitting_columns(self) -> tuple[AcceleratorColumn, ...]:
        return tuple(column for column in self.columns if column.fits)

    @cached_property
    def keys(self) -> tuple[str, ...]:
        return tuple(column.key for column in self.columns)

    @cached_property
    def names(self) -> Mapping[str, str]:
        return {column.key: column.name for column in self.columns}

    def column(self, key: str) -> AcceleratorColumn:
        return self.columns[self.keys.index(key)]

    def place(self, key: str) -> int:
        """Return the position of a column, 0 for an unknown key."""
        return self.keys.index(key) if key in self.keys else 0

    # Costs

    @cached_property
    def money(self) -> MoneyFormatter:
        from gpudesk.report.costs import MoneyFormatter

        return MoneyFormatter(self.formatter, self.answer.scenario.costs.currency)

    @cached_property
    def costs(self) -> CostAnswer:
        """The costs of all columns, with break-even points only against renting."""
        return self._service.costing.costs(self.answer, brief=True)

    @cached_property
    def answer_with_costs(self) -> Answer:
        return self._service.costing.add_costs(self.answer, self.costs)

    @cached_property
    def full_costs(self) -> CostAnswer:
        """The costs of all columns, with every break-even point between them."""
        return self._service.costing.costs(self.answer)

    @cached_property
    def decision_costs(self) -> CostAnswer:
        """The costs behind the decision, for the deployments that it judges."""
        return self._service.decider.get_decision_costs(self.answer)

    def pair_column_costs(self) -> Iterator[tuple[AcceleratorColumn, CostColumn]]:
        return zip(self.columns, self.costs.columns, strict=True)

    # Fleets

    @cached_property
    def fleet(self) -> FleetAnswer:
        """The fleets for the scenario's demand; raises `InputError` without one."""
        return self._service.fleet(self.answer.scenario)

    def collect_fleet_looks(self) -> Mapping[str, tuple[str, int]]:
        return {
            column.column.accelerator.id: (column.name.partition(" × ")[0], column.palette_index)
            for column in self.columns
        }

    # Decisions

    @cached_property
    def decision(self) -> Decision:
        """The decision; its ways out follow from a search."""
        return self._service.decider.decide(self.answer)

    def list_counted_names(self) -> list[str]:
        """Return the deployments of the columns, `1 × H100 SXM`, whose candidates have another count."""
        eligible = [each for each in self.decision.candidates if each.eligible]
        return list_counted_names(self.answer, eligible, self.formatter)

    def keep_ways_out(self, ways: tuple[WayOut, ...]) -> None:
        self.ways_out, self.decision = ways, replace(self.decision, ways_out=ways)

    def decide_with_answers(self, answers: Mapping[str, AnswerValue]) -> EvaluatedAnswer:
        """Return the same comparison decided with another set of answers."""
        other = EvaluatedAnswer(self.answer, self._service, self.formatter)
        other.decision = self._service.decider.decide(self.answer, answers)
        return other

    def find_alternative(self, question: str, value: AnswerValue) -> Decision | None:
        """Return the cached decision with another answer to a question, if computed."""
        return self._alternatives.get((question, value))

    def decide_alternative(self, question: str, value: AnswerValue) -> Decision:
        """Return the decision with another answer to a question; it takes about 10 ms once."""
        alternative = self.find_alternative(question, value)
        if alternative is None:
            if self.decision.answers[question].value == value:
                alternative = self.decision
            else:
                answers = {**self.answer.scenario.decision.answers, question: value}
                alternative = self._service.decider.decide(self.answer, answers)
            self._alternatives[question, value] = alternative
        return alternative

    def keep_questions(self, option_decisions: Mapping[str, OptionDecisions]) -> None:
        """Store the questions that can still matter, with the decisions under their options."""
        self.next_questions = option_decisions
        for question, decisions in option_decisions.items():
            self._alternatives |= {(question, value): decision for value, decision in decisions.items()}

    # Sheets

    @cached_property
    def needs(self) -> AcceleratorNeeds:
        return self._service.how_many(self.answer.scenario)

    @property
    def sheet_lacks_ways_out(self) -> bool:
        """Whether a sheet has a recommendation without the ways out, which take a search."""
        return bool(self.answer.scenario.decision.answers) and self.ways_out is None and self.decision.lacks_ways_out

    def make_sheet_extras(self) -> SheetExtras:
        """Return what a sheet adds to the answer; a recommendation only if the user answered questions."""
        is_answered = bool(self.answer.scenario.decision.answers)
        return SheetExtras(
            self.needs,
            self.full_costs,
            self.decision if is_answered else None,
            self.flips or (),
            leading=self.decision,
            fleet=None if self.answer.scenario.demand is None else self.fleet,
            decision_costs=self.decision_costs if is_answered else None,
            throughput_biases=self._service.list_throughput_biases(self.answer),
        )


class AlternativeDecisions(QObject):
    """Computes decisions with other answers, one per event of the event loop."""

    #: A question and an answer to it, whose decision is now cached.
    computed = Signal(str, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._evaluated: EvaluatedAnswer | None = None
        self._queue: deque[tuple[str, AnswerValue]] = deque()
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._step)

    @property
    def busy(self) -> bool:
        return bool(self._queue)

    def request(self, evaluated: EvaluatedAnswer, options: Iterable[tuple[str, AnswerValue]]) -> None:
        """Compute these in order, replacing the queue."""
        self._evaluated, self._queue = evaluated, deque(options)
        if self._queue:
            self._timer.start()

    def pause(self) -> None:
        """Pause the queue until `resume`, while nothing shows its results."""
        self._timer.stop()

    def resume(self) -> None:
        if self._queue:
            self._timer.start()

    def _step(self) -> None:
        if not self._queue or self._evaluated is None:
            self._timer.stop()
            return
        question, value = self._queue.popleft()
        self._evaluated.decide_alternative(question, value)
        self.computed.emit(question, value)
