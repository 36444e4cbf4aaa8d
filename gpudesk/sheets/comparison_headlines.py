"""The headline answers above the comparison table: who leads at what, by how much, or that nobody does."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from gpudesk.domain.answers import Answer
from gpudesk.domain.comparison import (
    HIGHER_IS_BETTER,
    column_keys,
    difference,
    leaders,
    ranked,
    repeated,
    slots,
)
from gpudesk.domain.estimates import Banded
from gpudesk.domain.formatting import UNKNOWN, Formatter
from gpudesk.sheets.announced import Announced, announced_holding, announced_line
from gpudesk.sheets.comparison_results import why_no_figure
from gpudesk.sheets.figures import figures_of, is_compared, most_in_flight
from gpudesk.sheets.labels import FIGURE_UNITS, figure_label
from gpudesk.sheets.names import column_names
from gpudesk.text import tr

_FIGURES: Final = ("output_tokens_per_s", "ttft_ms", "tpot_ms")
_IN_FLIGHT: Final = "max_concurrency"

#: From this ratio on a distance is a factor rather than per cent, as everywhere.
_FACTOR_FROM: Final = 3.0


@dataclass(frozen=True, slots=True)
class Leader:
    """A column that leads, or one of those that nobody beats; `key` is that of the column."""

    key: str
    name: str
    slot: int
    hollow: bool


@dataclass(frozen=True, slots=True)
class HeadlineAnswer:
    """One question with its answer. `is_open` says that nobody wins among the leaders.

    `announced` says of an announced part, which is not ranked beside shipping ones, that it would lead.
    """

    figure: str
    label: str
    leaders: tuple[Leader, ...]
    text: str
    unit: str
    detail: str
    is_open: bool
    announced: Announced = field(default_factory=Announced)


def headline_answers(answer: Answer, formatter: Formatter) -> tuple[HeadlineAnswer, ...]:
    """Return output throughput, the two latencies and the most requests in flight."""
    view = _View(answer, formatter)
    return (*(view.of_figure(figure) for figure in _FIGURES), view.most_in_flight())


class _View:
    """One answer with the names and looks of its columns."""

    def __init__(self, answer: Answer, formatter: Formatter) -> None:
        choices = answer.scenario.accelerators
        self._answer = answer
        self._formatter = formatter
        self._keys = column_keys(choices)
        self._names = column_names(answer)
        self._columns = tuple(
            Leader(*look)
            for look in zip(self._keys, self._names, slots(choices), repeated(choices), strict=True)
        )

    def of_figure(self, figure: str) -> HeadlineAnswer:
        """Return the answer to who is best at a figure with a band."""
        values = ranked(self._answer, figures_of(self._answer, figure))
        known = [position for position, value in enumerate(values) if value is not None]
        if len(known) < 2 or not is_compared(self._answer, figure):
            return self._alone(figure, known, values)
        best = leaders(self._answer, figure)
        shown = [value.value for position in best if (value := values[position]) is not None]
        if len(best) > 1:
            return self._open(figure, best, shown)
        rest = [position for position in known if position not in best]
        pick = max if HIGHER_IS_BETTER[figure] else min
        runner = pick(rest, key=lambda position: _value(values[position]))
        ratio = self._ratio(figure, best[0], runner)
        detail = "" if ratio is None else self._distance(ratio, runner)
        return self._made(figure, best, self._formatter.estimate(shown[0]), detail)

    def most_in_flight(self) -> HeadlineAnswer:
        """Return the answer to who holds most; memory is exact, so nobody wins only where alike."""
        held = ranked(self._answer, most_in_flight(self._answer))
        sizes = {position: value for position, value in enumerate(held) if value is not None}
        if not sizes:
            return self._nobody(_IN_FLIGHT)
        most = max(sizes.values())
        best = tuple(position for position, value in sizes.items() if value == most)
        text = self._formatter.count(most)
        if len(held) == 1:
            return self._made(_IN_FLIGHT, best, text, tr("then memory is full"))
        if len(sizes) == 1:
            return self._made(_IN_FLIGHT, best, text, self._only())
        if len(best) > 1:
            return self._made(_IN_FLIGHT, best, text, tr("No winner: as many on each"), is_open=True)
        runner = max((p for p in sizes if p not in best), key=lambda position: sizes[position])
        detail = self._distance(most / sizes[runner], runner) if sizes[runner] else ""
        return self._made(_IN_FLIGHT, best, text, detail)

    def _alone(self, figure: str, known: list[int], values: list[Banded | None]) -> HeadlineAnswer:
        """Return the answer where there is nothing to compare: the one figure that there is."""
        if not known:
            return self._nobody(figure)
        value = values[known[0]]
        assert value is not None
        if len(values) == 1:
            detail = tr(
                "{low} to {high}, four times in five",
                low=self._formatter.estimate(value.low),
                high=self._formatter.estimate(value.high),
            )
        else:
            detail = self._only()
        return self._made(figure, tuple(known[:1]), self._formatter.estimate(value.value), detail)

    def _nobody(self, figure: str) -> HeadlineAnswer:
        reasons = {why_no_figure(column, self._formatter)[0] for column in self._answer.columns}
        reason = reasons.pop() if len(reasons) == 1 else tr("none has this figure")
        if all(column.estimate is not None and not column.estimate.fits for column in self._answer.columns):
            reason = tr("none fits") if len(self._answer.columns) > 1 else reason
        return replace(self._made(figure, (), UNKNOWN, reason), unit="")

    def _only(self) -> str:
        """Say why only one column has the figure."""
        if len(self._answer.unranked) == len(self._answer.columns) - 1:
            return tr("The only one that ships")
        others = [column.estimate for column in self._answer.columns]
        fitting = [estimate for estimate in others if estimate is not None and estimate.fits]
        return tr("The only one that fits") if len(fitting) == 1 else tr("The only one with this figure")

    def _open(self, figure: str, best: tuple[int, ...], values: list[float]) -> HeadlineAnswer:
        formatter = self._formatter
        texts = list(dict.fromkeys(formatter.estimate(value) for value in values))
        if len(best) == 2:
            text = tr("{one} or {two}", one=texts[0], two=texts[1]) if len(texts) == 2 else texts[0]
            return self._made(figure, best, text, tr("No winner: the bands overlap"), is_open=True)
        text = formatter.interval(min(values), max(values)) if len(texts) > 1 else texts[0]
        words = ("", "", "", tr("three"), tr("four"), tr("five"), tr("six"))
        count = words[len(best)] if len(best) < len(words) else formatter.count(len(best))
        return self._made(figure, best, text, tr("No winner among {count}", count=count), is_open=True)

    def _ratio(self, figure: str, winner: int, runner: int) -> float | None:
        """Return the winner's figure over the other's, as the answer states it."""
        found = difference(self._answer, figure, self._keys[runner], self._keys[winner])
        if found is not None:
            return found.ratio.value
        found = difference(self._answer, figure, self._keys[winner], self._keys[runner])
        return None if found is None else 1 / found.ratio.value

    def _distance(self, ratio: float, runner: int) -> str:
        name = self._names[runner]
        if ratio >= _FACTOR_FROM:
            return tr("{factor} times {name}", factor=self._formatter.estimate(ratio), name=name)
        share = abs(ratio - 1)
        if share < 0.005:
            return tr("less than 1 % from {name}", name=name)
        per_cent = self._formatter.per_cent(share)
        if ratio > 1:
            return tr("{distance} above {name}", distance=per_cent, name=name)
        return tr("{distance} below {name}", distance=per_cent, name=name)

    def _made(
        self, figure: str, best: tuple[int, ...], text: str, detail: str, *, is_open: bool = False
    ) -> HeadlineAnswer:
        return HeadlineAnswer(
            figure=figure,
            label=tr("Most in flight") if figure == _IN_FLIGHT else figure_label(figure),
            leaders=tuple(self._columns[position] for position in best),
            text=text,
            unit=tr("requests") if figure == _IN_FLIGHT else FIGURE_UNITS[figure] or "",
            detail=detail,
            is_open=is_open,
            announced=self._announced(figure),
        )

    def _announced(self, figure: str) -> Announced:
        if figure == _IN_FLIGHT:
            return announced_holding(self._answer, self._names, self._formatter)
        return announced_line(self._answer, figure, self._names, self._formatter)


def _value(banded: Banded | None) -> float:
    assert banded is not None
    return banded.value
