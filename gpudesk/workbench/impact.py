"""What a change of the catalog does to a scenario: two answers held against each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gpudesk.domain.answers import Answer
from gpudesk.domain.comparison import HIGHER_IS_BETTER, column_keys, leaders, ranked
from gpudesk.domain.estimates import Estimate
from gpudesk.domain.impacts import ColumnChange, FigureChange, Impact, LeadChange

if TYPE_CHECKING:
    from gpudesk.domain.own_facts import Edit
    from gpudesk.domain.scenarios import Scenario
    from gpudesk.workbench.workbench import Workbench

__all__ = ["Impact", "impact", "impact_of"]

IN_FLIGHT: Final = "max_concurrency"
#: What people choose by, the most important first.
_LEADS: Final = ("output_tokens_per_s", "ttft_ms", "tpot_ms")


def impact(before: Answer, after: Answer) -> Impact:
    """Return what changed between two answers to one scenario; columns are told by their keys."""
    former = dict(zip(column_keys(before.scenario.accelerators), before.columns, strict=True))
    columns = []
    for key, column in zip(column_keys(after.scenario.accelerators), after.columns, strict=True):
        was = former[key].estimate if key in former else None
        if was != column.estimate:
            change = ColumnChange(key, was, column.estimate, _figures(was, column.estimate))
            if change.figures or _deployed(was) != _deployed(column.estimate):
                columns.append(change)
    leads = [LeadChange(figure, _leaders(before, figure), _leaders(after, figure)) for figure in _LEADS]
    leads.append(LeadChange(IN_FLIGHT, _holding_most(before), _holding_most(after)))
    return Impact(before, after, tuple(columns), tuple(leads))


def impact_of(workbench: Workbench, scenario: Scenario, edit: Edit) -> Impact:
    """Return what an edit would do to a scenario; nothing is written.

    Raises `InputError` where the scenario cannot be answered, before or after.
    """
    from gpudesk.workbench.answering import answer_scenario
    from gpudesk.workbench.estimating import Estimator

    before = workbench.answer(scenario)
    catalog = workbench.catalog.with_own(workbench.own.facts.after(edit))
    estimator = Estimator(catalog, workbench.calibration) if edit.moves_estimates else workbench.estimator
    after = answer_scenario(
        scenario, catalog, estimator, before.calibration, rank_announced=workbench.rank_announced
    )
    return impact(before, after)


def _figures(before: Estimate | None, after: Estimate | None) -> tuple[FigureChange, ...]:
    """Return the figures that differ, in the order in which figures are shown."""
    pairs = [(name, getattr(before, name, None), getattr(after, name, None)) for name in HIGHER_IS_BETTER]
    return tuple(FigureChange(name, was, now) for name, was, now in pairs if was != now)


def _deployed(estimate: Estimate | None) -> tuple[object, ...]:
    """Return what else of a result people see: whether and how it fits, how much it holds, what limits it."""
    if estimate is None:
        return ()
    return (
        estimate.fits,
        estimate.needs,
        estimate.count,
        estimate.plan,
        estimate.max_concurrency,
        estimate.limiter,
        estimate.memory,
    )


def _leaders(answer: Answer, figure: str) -> tuple[str, ...]:
    keys = column_keys(answer.scenario.accelerators)
    return tuple(keys[position] for position in leaders(answer, figure))


def _holding_most(answer: Answer) -> tuple[str, ...]:
    """Return the keys of the ranked columns that hold most requests; none where there are fewer than two."""
    keys = column_keys(answer.scenario.accelerators)
    estimates = ranked(answer, [column.estimate for column in answer.columns])
    held = {
        key: found.max_concurrency for key, found in zip(keys, estimates, strict=True) if found and found.fits
    }
    return tuple(key for key, most in held.items() if most == max(held.values())) if len(held) > 1 else ()
