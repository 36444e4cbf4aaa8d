"""Which accelerators hold which models, and how many of each that takes: all pairs at once.

Memory is that of the estimator, to the byte: the same frames, placements and budgets, without any timing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from gpudesk.domain.accelerators import Accelerator
from gpudesk.domain.estimates import EstimateRequest
from gpudesk.domain.fit_matrix import FitCell, FitMatrix, FitQuestion
from gpudesk.domain.messages import InputError, Message, message
from gpudesk.domain.models import Model
from gpudesk.domain.precision import Precision, concrete
from gpudesk.domain.workloads import Load, LoadKind, Workload
from gpudesk.engine.constants import Calibration
from gpudesk.workbench.fit_ladders import Ladder
from gpudesk.workbench.setups import counts, frame

if TYPE_CHECKING:
    from gpudesk.workbench.estimating import Facts

#: Settings (formats, serving engine, memory fraction) whose pairs are remembered, of about 10 MB each.
MOST_SETTINGS: Final = 4

_Settings = tuple[Precision, Precision, str | None, float | None]
_Pairs = dict[tuple[str, str], "Ladder | Message"]


class FitFinder:
    """Answers questions about all pairs; keeps what depends neither on lengths nor on load."""

    def __init__(self, catalog: Facts, calibration: Calibration) -> None:
        """Take the facts and the constants; both stay as they are."""
        self._engines = catalog.serving_engines()
        self._calibration = calibration
        self._known: dict[_Settings, _Pairs] = {}

    def matrix(
        self, question: FitQuestion, accelerators: Sequence[Accelerator], models: Sequence[Model]
    ) -> FitMatrix:
        """Return all cells; raises `InputError` for a context or concurrency below 1."""
        rows = tuple(self.rows(question, accelerators, models))
        return FitMatrix(question, tuple(accelerators), tuple(models), rows)

    def rows(
        self, question: FitQuestion, accelerators: Sequence[Accelerator], models: Sequence[Model]
    ) -> Iterator[tuple[FitCell, ...]]:
        """Yield the cells of one model after the other, for whoever shows how far it is."""
        _check(question)
        pairs = self._pairs(question)
        for model in models:
            yield tuple(self._cell(question, pairs, part, model) for part in accelerators)

    def _pairs(self, question: FitQuestion) -> _Pairs:
        """Return what is known for the settings of a question, and forget those asked for longest ago."""
        settings = (question.weights, question.kv, question.serving_engine, question.memory_fraction)
        pairs = self._known.pop(settings, {})
        self._known[settings] = pairs
        while len(self._known) > MOST_SETTINGS:
            del self._known[next(iter(self._known))]
        return pairs

    def _cell(self, question: FitQuestion, pairs: _Pairs, part: Accelerator, model: Model) -> FitCell:
        key = part.id, model.id
        ladder = pairs.get(key)
        if ladder is None:
            ladder = pairs[key] = self._ladder(question, part, model)
        weights, kv = concrete(question.weights, part.vendor), concrete(question.kv, part.vendor)
        if isinstance(ladder, Message):
            return FitCell(part.id, model.id, weights, kv, fits=False, reason=ladder)
        engine = ladder.frame.engine.id
        rung = ladder.lowest(question.context, question.concurrency)
        if rung is None:
            reason = ladder.reason(question.context, question.concurrency)
            return FitCell(part.id, model.id, weights, kv, fits=False, serving_engine=engine, reason=reason)
        return FitCell(
            part.id,
            model.id,
            weights,
            kv,
            fits=True,
            serving_engine=engine,
            count=rung.placement.plan.count,
            plan=rung.placement.plan,
            usable_bytes=rung.usable_bytes,
            headroom_bytes=rung.headroom_bytes,
        )

    def _ladder(self, question: FitQuestion, part: Accelerator, model: Model) -> Ladder | Message:
        """Return the deployments of a pair, or the reason why nothing runs it."""
        request = _request(question, part, model)
        try:
            made = frame(request, part, model, self._engines, self._calibration)
            return Ladder(request, made, counts(request, made))
        except InputError as error:
            return error.problem


def _request(question: FitQuestion, part: Accelerator, model: Model) -> EstimateRequest:
    """Return a question to the estimator with these settings; its lengths and load are not looked at."""
    return EstimateRequest(
        accelerator=part.id,
        model=model.id,
        weights=question.weights,
        kv=question.kv,
        workload=Workload(1, 1, Load(LoadKind.CONCURRENCY, concurrency=1)),
        serving_engine=question.serving_engine,
        memory_fraction=question.memory_fraction,
    )


def _check(question: FitQuestion) -> None:
    for name in ("context", "concurrency"):
        value = getattr(question, name)
        if value < 1:
            raise InputError(message("fit.below_one", given=value), name)
