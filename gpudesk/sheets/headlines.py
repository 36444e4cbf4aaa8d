"""The headline answers of a sheet: who wins on what, where nobody does, and what does not fit."""

from __future__ import annotations

from typing import Final

from gpudesk.domain.answers import Answer, Column
from gpudesk.domain.comparison import column_keys, difference, leaders, ranked, repeated, slots
from gpudesk.domain.estimates import Banded, Estimate
from gpudesk.domain.formatting import Formatter
from gpudesk.sheets.announced import announced_holding, announced_line
from gpudesk.sheets.labels import FIGURE_UNITS, figure_label
from gpudesk.sheets.sheet import Headline, Mark
from gpudesk.text import tr

_LEAST_TO_COMPARE: Final = 2

#: Headline figures, of which each takes one place at the top of the sheet.
_HEADLINES: Final = ("output_tokens_per_s", "ttft_ms", "tpot_ms")


def headlines(answer: Answer, names: tuple[str, ...], formatter: Formatter) -> tuple[Headline, ...]:
    """Return the answers in their order; `names` are those of the columns."""
    made = [_do_not_fit(answer, names, formatter)]
    made += [_headline(answer, figure, names, formatter) for figure in _HEADLINES]
    made.append(_most_in_flight(answer, names, formatter))
    return tuple(headline for headline in made if headline is not None)


def _do_not_fit(answer: Answer, names: tuple[str, ...], formatter: Formatter) -> Headline | None:
    """Return how many of the deployments do not fit, with what each of them takes; None where all fit."""
    short = {
        name: column.estimate
        for name, column in zip(names, answer.columns, strict=True)
        if column.estimate is not None and not column.estimate.fits
    }
    if not short:
        return None
    remedies = "; ".join(f"{name}: {_remedy(estimate, formatter)}" for name, estimate in short.items())
    count, of = len(short), len(names)
    said = tr("None fits") if count == of else tr("{n} of {m} do not fit", n=count, m=of)
    if count == 1 and of > 1:
        said = tr("{name} does not fit", name=next(iter(short)))
    return Headline(tr("Fits"), said, remedies, mark=Mark.FAILS)


def _remedy(estimate: Estimate, formatter: Formatter) -> str:
    if estimate.needs is None:
        return tr("fits on no count")
    return tr("use {n}", n=formatter.count(estimate.needs))


def _headline(answer: Answer, figure: str, names: tuple[str, ...], formatter: Formatter) -> Headline | None:
    best = leaders(answer, figure) or _only_ranked(answer, figure)
    if not best:
        return None
    question = f"{figure_label(figure)}, {FIGURE_UNITS[figure]}"
    announced = announced_line(answer, figure, names, formatter).text
    if len(best) > 1:
        tied = _tied(answer, figure, best, names, formatter)
        return Headline(question, tr("No winner"), _with(tied, announced), mark=Mark.OPEN)
    (winner,) = best
    detail = formatter.banded(_figure(answer.columns[winner], figure))
    if len(answer.unranked) == len(answer.columns) - 1:
        detail = f"{detail}, {tr('the only one that ships')}"
    elif winner != 0:
        detail = f"{detail}, {_against_baseline(answer, figure, winner, names, formatter)}"
    return Headline(question, names[winner], _with(detail, announced), *looks(answer)[winner])


def _only_ranked(answer: Answer, figure: str) -> tuple[int, ...]:
    """Return the one column that is ranked, where all others are announced and it has the figure."""
    values = ranked(answer, [_value(column, figure) for column in answer.columns])
    known = tuple(position for position, value in enumerate(values) if value is not None)
    return known if answer.unranked and len(known) == 1 else ()


def _with(detail: str, announced: str) -> str:
    return f"{detail}; {announced}" if announced else detail


def _tied(
    answer: Answer, figure: str, best: tuple[int, ...], names: tuple[str, ...], formatter: Formatter
) -> str:
    """Return those that nobody can tell apart: two each with its figure, more with the range of theirs."""
    values = {position: _value(answer.columns[position], figure) or 0.0 for position in best}
    if len(best) == _LEAST_TO_COMPARE:
        return "; ".join(
            f"{names[position]}: {formatter.estimate(value)}" for position, value in values.items()
        )
    return tr(
        "{range} among {names}",
        range=formatter.interval(min(values.values()), max(values.values())),
        names=", ".join(names[position] for position in best),
    )


def _figure(column: Column, figure: str) -> Banded | None:
    value: Banded | None = getattr(column.estimate, figure, None)
    return value


def _value(column: Column, figure: str) -> float | None:
    value = _figure(column, figure)
    return None if value is None else value.value


def _most_in_flight(answer: Answer, names: tuple[str, ...], formatter: Formatter) -> Headline | None:
    """Return who holds most requests; memory is exact, so nothing is within a band here."""
    held = {
        position: column.estimate.max_concurrency
        for position, column in enumerate(answer.columns)
        if column.estimate is not None and column.estimate.fits and position not in answer.unranked
    }
    if len(held) < _LEAST_TO_COMPARE:
        return None
    announced = announced_holding(answer, names, formatter).text
    most = max(held.values())
    winners = [position for position, value in held.items() if value == most]
    question = figure_label("max_concurrency")
    if len(winners) > 1:
        tied = ", ".join(names[position] for position in winners)
        each = tr("{n} each: {names}", n=formatter.count(most), names=tied)
        return Headline(question, tr("No winner"), _with(each, announced), mark=Mark.OPEN)
    (winner,) = winners
    detail = tr("{n} in flight", n=formatter.count(most))
    if winner != 0 and 0 in held:
        detail = tr(
            "{n} against {m} on {baseline}",
            n=formatter.count(most),
            m=formatter.count(held[0]),
            baseline=names[0],
        )
    return Headline(question, names[winner], _with(detail, announced), *looks(answer)[winner])


def _against_baseline(
    answer: Answer, figure: str, position: int, names: tuple[str, ...], formatter: Formatter
) -> str:
    keys = column_keys(answer.scenario.accelerators)
    found = difference(answer, figure, keys[0], keys[position])
    if found is None:
        return tr("{baseline} has none", baseline=names[0])
    return tr(
        "{difference} against {baseline}",
        difference=formatter.difference(found.ratio.value),
        baseline=names[0],
    )


def looks(answer: Answer) -> tuple[tuple[int, bool], ...]:
    """Return for each column its place in the palette and whether its marker is hollow."""
    choices = answer.scenario.accelerators
    return tuple(zip(slots(choices), repeated(choices), strict=True))
