"""The facts of an answered scenario that do not depend on what is said in the dialogue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from gpudesk.domain.accelerators import Accelerator
from gpudesk.domain.answers import Answer, Column
from gpudesk.domain.charts import RequestTime
from gpudesk.domain.comparison import column_keys
from gpudesk.domain.costs import CostAnswer
from gpudesk.domain.decisions import Fact
from gpudesk.domain.estimates import Estimate, EstimateRequest
from gpudesk.domain.fit_matrix import FitQuestion
from gpudesk.domain.messages import InputError
from gpudesk.domain.serving_engines import platforms_of
from gpudesk.domain.workloads import Load, LoadKind
from gpudesk.engine.support import runs
from gpudesk.workbench.costing.columns import Situation
from gpudesk.workbench.deciding.part_facts import PartView, part_facts
from gpudesk.workbench.deciding.scenario_facts import scenario_facts

if TYPE_CHECKING:
    from gpudesk.workbench.workbench import Workbench

#: Stands for a serving engine that the user's own code is.
_OWN = "own"
_ANY = "any"


@dataclass(frozen=True, slots=True)
class Ground:
    """The columns of a scenario with their facts, its costs, and which serving engines run where.

    `widest` is on how many engines the platform with the most of them runs, of those compared. With
    `ranked_apart`, announced columns are not ranked beside shipping ones.
    """

    answer: Answer
    views: tuple[PartView, ...]
    parts: tuple[dict[str, Fact], ...]
    costs: CostAnswer
    situations: tuple[Situation, ...]
    engines: tuple[frozenset[str], ...]
    engines_by_platform: Mapping[str, int]
    widest: int
    ranked_apart: bool

    def facts(self, places: Sequence[int]) -> dict[str, Fact]:
        """Return the facts of the scenario where these columns are compared."""
        views, parts = [self.views[place] for place in places], [self.parts[place] for place in places]
        return scenario_facts(self.answer, views, parts)

    def for_engine(self, asked: Fact) -> list[dict[str, Fact]]:
        """Return for each column whether the serving engine that is asked for runs on it."""
        return [{"runs_engine": _runs(asked, engines)} for engines in self.engines]

    def everywhere(self, asked: Fact, places: Sequence[int]) -> bool | None:
        """Whether a serving engine, or some one where any will do, runs on these; None for own code."""
        engines = [self.engines[place] for place in places]
        if asked == _ANY:
            return bool(frozenset.intersection(*engines)) if engines else None
        found = [_runs(asked, each) for each in engines]
        return None if None in found else all(found)


def _runs(asked: Fact, engines: frozenset[str]) -> bool | None:
    if asked in (_OWN, None):
        return None
    return bool(engines) if asked == _ANY else asked in engines


class _Asked(NamedTuple):
    """What is asked of the engine about a column: one request on one accelerator, and on the fewest."""

    alone: Estimate | InputError
    fewest: Estimate | InputError
    serving: int
    held: int
    rows: int
    time: RequestTime | None


class GroundMaker:
    """Finds the ground of answered scenarios; the last is kept, for dialogues ask for it again and again."""

    def __init__(self, workbench: Workbench) -> None:
        """Take the workbench."""
        self._workbench = workbench
        self._last: dict[str | None, tuple[Answer, Ground]] = {}
        self._asked: tuple[tuple[Column, ...], tuple[_Asked, ...]] | None = None

    def apart(self, answer: Answer) -> GroundMaker:
        """Return one that a job may use on its thread: it does not ask the engine about this answer again."""
        made = GroundMaker(self._workbench)
        made._asked = answer.columns, self._asked_of(answer)
        return made

    def of(self, answer: Answer, platform: str | None) -> Ground:
        """Return the ground of an answer, whose software runs on a platform where one is named."""
        kept = self._last.get(platform)
        if kept is not None and kept[0] is answer:
            return kept[1]
        ground = self._made(answer, platform)
        if kept is None or len(self._last) > 1:
            self._last.clear()
        self._last[platform] = answer, ground
        return ground

    def _made(self, answer: Answer, platform: str | None) -> Ground:
        costed = _on_platform(answer, platform)
        costing = self._workbench.costing
        costs, situations = costing.costs(costed), costing.situations(costed)
        engines = tuple(self._engines(column.accelerator.id) for column in answer.columns)
        views = self._views(answer, costs, engines)
        parts = tuple(part_facts(view) for view in views)
        compared = {name for column in answer.columns for name in platforms_of(column.accelerator)}
        by_platform = self._engines_by_platform
        return Ground(
            answer=answer,
            views=views,
            parts=parts,
            costs=costs,
            situations=situations,
            engines=engines,
            engines_by_platform=by_platform,
            widest=max((by_platform.get(name, 0) for name in compared), default=0),
            ranked_apart=bool(answer.unranked),
        )

    def _engines(self, part_id: str) -> frozenset[str]:
        catalog = self._workbench.catalog
        part = catalog.accelerator(part_id)
        return frozenset(engine.id for engine in catalog.serving_engines() if engine.runs_on(part))

    @cached_property
    def _engines_by_platform(self) -> Mapping[str, int]:
        """On how many serving engines some accelerator of each platform runs."""
        found: dict[str, set[str]] = {}
        for part in self._workbench.catalog.accelerators():
            for name in platforms_of(part):
                found.setdefault(name, set()).update(self._engines(part.id))
        return {name: len(engines) for name, engines in found.items()}

    def _views(
        self, answer: Answer, costs: CostAnswer, engines: Sequence[frozenset[str]]
    ) -> tuple[PartView, ...]:
        keys = column_keys(answer.scenario.accelerators)
        return tuple(
            PartView(
                key=keys[place],
                column=column,
                alone=asked.alone,
                fewest=asked.fewest,
                costs=costs.columns[place],
                engines=tuple(sorted(engines[place])),
                serving=asked.serving,
                held=asked.held,
                rows=asked.rows,
                time=asked.time,
                references=self._workbench.beside.named_references(column.accelerator.id),
                export=self._workbench.beside.export_facts(column.accelerator.id),
            )
            for place, (column, asked) in enumerate(zip(answer.columns, self._asked_of(answer), strict=True))
        )

    def _asked_of(self, answer: Answer) -> tuple[_Asked, ...]:
        """Return what is asked of the engine beside an answer; costs change without it."""
        # Jobs ask for other answers meanwhile: what is returned is that of this one.
        last = self._asked
        if last is None or last[0] is not answer.columns:
            requests = answer.scenario.requests()
            found = self._workbench.estimator.estimate_many(
                [_one_request(each, count) for count in (1, None) for each in requests]
            )
            held = self._held(answer)
            asked = tuple(
                _Asked(
                    alone=found[place],
                    fewest=found[place + len(requests)],
                    serving=self._serving(answer, column.accelerator),
                    held=held.get(column.accelerator.id, 0),
                    rows=0 if column.estimate is None else self._rows(column.estimate),
                    time=self._time(column.estimate),
                )
                for place, column in enumerate(answer.columns)
            )
            self._asked = last = answer.columns, asked
        return last[1]

    def _time(self, estimate: Estimate | None) -> RequestTime | None:
        return None if estimate is None or not estimate.fits else self._workbench.request_time(estimate)

    def _serving(self, answer: Answer, part: Accelerator) -> int:
        """Return how many serving engines serve the scenario's model on an accelerator, in its formats."""
        scenario = answer.scenario
        return sum(
            not runs(engine, part, answer.model, scenario.weights, scenario.kv, scenario.date)
            for engine in self._workbench.catalog.serving_engines()
        )

    def _rows(self, estimate: Estimate) -> int:
        return self._workbench.rows_behind(estimate).together

    def _held(self, answer: Answer) -> dict[str, int]:
        """Return how many models of the catalog one accelerator holds, in the scenario's formats."""
        scenario = answer.scenario
        question = FitQuestion(scenario.weights, scenario.kv)
        ids = tuple(dict.fromkeys(choice.accelerator for choice in scenario.accelerators))
        matrix = self._workbench.fit_matrix(question, ids)
        return {part: sum(row[place].count == 1 for row in matrix.rows) for place, part in enumerate(ids)}


def _on_platform(answer: Answer, platform: str | None) -> Answer:
    """Return the answer with costs of software that runs on a platform; the same one where it does."""
    scenario = answer.scenario
    if platform is None or scenario.costs.runs_on == platform:
        return answer
    costs = replace(scenario.costs, runs_on=platform)
    return replace(answer, scenario=replace(scenario, costs=costs))


def _one_request(request: EstimateRequest, count: int | None) -> EstimateRequest:
    """Return the question for one request in flight on so many accelerators, None for the fewest."""
    one = Load(LoadKind.CONCURRENCY, concurrency=1)
    return replace(
        request,
        workload=replace(request.workload, load=one),
        count=count,
        tp=None,
        pp=None,
        ep=None,
        dp=None,
        attention_dp=None,
        disaggregated=None,
    )
