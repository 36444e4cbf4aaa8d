"""Effect of a catalog change on a scenario: two answers compared."""

from __future__ import annotations

from typing import Final

from gpudesk.domain.answer import (
    Answer,
    AnswerImpact,
    ColumnChange,
    FigureChange,
    LeaderChange,
    find_leaders,
    make_column_keys,
    mask_unranked,
)
from gpudesk.domain.estimate import Estimate
from gpudesk.domain.registry import FIGURES, list_headline_figures

IN_FLIGHT: Final = "max_concurrency"
#: Figures that matter most to users, in order.


def compare_answers(before: Answer, after: Answer) -> AnswerImpact:
    """Return the changes between two answers to one scenario; columns are matched by key."""
    former = dict(zip(make_column_keys(before.scenario.accelerators), before.columns, strict=True))
    columns = []
    for key, column in zip(make_column_keys(after.scenario.accelerators), after.columns, strict=True):
        was = former[key].estimate if key in former else None
        if was != column.estimate:
            change = ColumnChange(key, was, column.estimate, _list_changed_figures(was, column.estimate))
            if change.figures or _summarize_deployment(was) != _summarize_deployment(column.estimate):
                columns.append(change)
    leads = [
        LeaderChange(figure, _find_leaders(before, figure), _find_leaders(after, figure))
        for figure in list_headline_figures()
    ]
    leads.append(LeaderChange(IN_FLIGHT, _find_largest_capacity(before), _find_largest_capacity(after)))
    return AnswerImpact(before, after, tuple(columns), tuple(leads))


def _list_changed_figures(before: Estimate | None, after: Estimate | None) -> tuple[FigureChange, ...]:
    """Return the figures that differ, in the order in which figures are shown."""
    pairs = [(name, getattr(before, name, None), getattr(after, name, None)) for name in FIGURES]
    return tuple(FigureChange(name, was, now) for name, was, now in pairs if was != now)


def _summarize_deployment(estimate: Estimate | None) -> tuple[object, ...]:
    """Return other visible results: fit, capacity, limiter."""
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


def _find_leaders(answer: Answer, figure: str) -> tuple[str, ...]:
    keys = make_column_keys(answer.scenario.accelerators)
    return tuple(keys[position] for position in find_leaders(answer, figure))


def _find_largest_capacity(answer: Answer) -> tuple[str, ...]:
    """Return the keys of the ranked columns with the largest capacity; none with fewer than two columns."""
    keys = make_column_keys(answer.scenario.accelerators)
    estimates = mask_unranked(answer, [column.estimate for column in answer.columns])
    capacities = {
        key: estimate.max_concurrency
        for key, estimate in zip(keys, estimates, strict=True)
        if estimate and estimate.fits
    }
    return (
        tuple(key for key, most in capacities.items() if most == max(capacities.values()))
        if len(capacities) > 1
        else ()
    )
