"""Headline answers of a comparison: who leads, by how much, what does not fit."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from gpudesk.domain.answer import (
    HIGHER_IS_BETTER,
    Answer,
    ComparisonColumn,
    assign_palette_indexes,
    find_announced_leader,
    find_difference,
    find_leaders,
    find_variants,
    make_column_keys,
    mask_unranked,
)
from gpudesk.domain.estimate import Estimate
from gpudesk.report.comparison.estimate_rows import (
    describe_missing_figure,
    get_column_figures,
    get_max_concurrencies,
    is_compared,
)
from gpudesk.report.comparison.tables import CellMarking, SheetHeadline
from gpudesk.report.labels import FIGURE_UNITS, label_figure, list_column_names
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter, IntervalEstimate
from gpudesk.text.translation import tr

#: From this ratio on a distance is a factor rather than per cent, as everywhere.
_FACTOR_FROM: Final = 3.0


@dataclass(frozen=True, slots=True)
class AnnouncedLead:
    """What an announced part that is not ranked would be: in a sentence, and where there is little room."""

    text: str = ""
    brief: str = ""


def describe_announced_lead(answer: Answer, figure: str, names: tuple[str, ...], formatter: Formatter) -> AnnouncedLead:
    """Return what an announced part that is not ranked would be at a figure; empty where no lead."""
    found = find_announced_leader(answer, figure)
    if found is None:
        return AnnouncedLead()
    name = names[found.position]
    if not found.decided:
        return AnnouncedLead(
            tr("{name} (announced) would be level: the bands overlap", name=name),
            tr("{name} (announced): level", name=name),
        )
    brief = tr("{name} (announced): {distance}", name=name, distance=formatter.difference(found.ratio))
    factor = max(found.ratio, 1 / found.ratio)
    if factor >= _FACTOR_FROM:
        times = formatter.estimate(factor)
        return AnnouncedLead(tr("{name} (announced) would be {factor} times as fast", name=name, factor=times), brief)
    share = formatter.per_cent(abs(found.ratio - 1))
    return AnnouncedLead(tr("{name} (announced) would be {distance} ahead", name=name, distance=share), brief)


def describe_announced_capacity(answer: Answer, names: tuple[str, ...], formatter: Formatter) -> AnnouncedLead:
    """Return how many requests an announced part that is not ranked would hold, where it would hold most."""
    held = get_max_concurrencies(answer)
    outside = {position: held[position] or 0 for position in answer.unranked}
    shipping = [value for value in mask_unranked(answer, held) if value]
    if not outside or not shipping:
        return AnnouncedLead()
    most = max(outside, key=lambda position: outside[position])
    if outside[most] <= max(shipping):
        return AnnouncedLead()
    count, name = formatter.count(outside[most]), names[most]
    return AnnouncedLead(
        tr("{name} (announced) would hold {n}", name=name, n=count),
        tr("{name} (announced): {distance}", name=name, distance=count),
    )


_LEAST_TO_COMPARE: Final = 2

#: Headline figures, of which each takes one place at the top of the sheet.
_HEADLINES: Final = ("output_tokens_per_s", "ttft_ms", "tpot_ms")


def build_sheet_headlines(answer: Answer, names: tuple[str, ...], formatter: Formatter) -> tuple[SheetHeadline, ...]:
    """Return the answers in their order; `names` are those of the columns."""
    made = [_build_misfit_headline(answer, names, formatter)]
    made += [_build_figure_headline(answer, figure, names, formatter) for figure in _HEADLINES]
    made.append(_build_concurrency_headline(answer, names, formatter))
    return tuple(headline for headline in made if headline is not None)


def _build_misfit_headline(answer: Answer, names: tuple[str, ...], formatter: Formatter) -> SheetHeadline | None:
    """Return how many of the deployments do not fit, with what each of them takes; None where all fit."""
    short = {
        name: column.estimate
        for name, column in zip(names, answer.columns, strict=True)
        if column.estimate is not None and not column.estimate.fits
    }
    if not short:
        return None
    remedies = "; ".join(f"{name}: {_describe_remedy(estimate, formatter)}" for name, estimate in short.items())
    count, of = len(short), len(names)
    said = tr("None fits") if count == of else tr("{n} of {m} do not fit", n=count, m=of)
    if count == 1 and of > 1:
        said = tr("{name} does not fit", name=next(iter(short)))
    return SheetHeadline(tr("Fits"), said, remedies, mark=CellMarking.FAILS)


def _describe_remedy(estimate: Estimate, formatter: Formatter) -> str:
    if estimate.needs is None:
        return tr("fits on no count")
    return tr("use {n}", n=formatter.count(estimate.needs))


def _build_figure_headline(
    answer: Answer, figure: str, names: tuple[str, ...], formatter: Formatter
) -> SheetHeadline | None:
    best = find_leaders(answer, figure) or _find_only_ranked(answer, figure)
    if not best:
        return None
    question = f"{label_figure(figure)}, {FIGURE_UNITS[figure]}"
    announced = describe_announced_lead(answer, figure, names, formatter).text
    if len(best) > 1:
        tied = _describe_tied(answer, figure, best, names, formatter)
        return SheetHeadline(question, tr("No winner"), _join_announced(tied, announced), mark=CellMarking.OPEN)
    (winner,) = best
    detail = formatter.banded(_get_sheet_figure(answer.columns[winner], figure))
    if len(answer.unranked) == len(answer.columns) - 1:
        detail = f"{detail}, {tr('the only one that ships')}"
    elif winner != 0:
        detail = f"{detail}, {_describe_distance_to_baseline(answer, figure, winner, names, formatter)}"
    return SheetHeadline(question, names[winner], _join_announced(detail, announced), *get_column_looks(answer)[winner])


def _find_only_ranked(answer: Answer, figure: str) -> tuple[int, ...]:
    values = mask_unranked(answer, [_get_sheet_median(column, figure) for column in answer.columns])
    known = tuple(position for position, value in enumerate(values) if value is not None)
    return known if answer.unranked and len(known) == 1 else ()


def _join_announced(detail: str, announced: str) -> str:
    return f"{detail}; {announced}" if announced else detail


def _describe_tied(
    answer: Answer, figure: str, best: tuple[int, ...], names: tuple[str, ...], formatter: Formatter
) -> str:
    """Return those that nobody can tell apart: two each with its figure, more with the range of theirs."""
    values = {position: _get_sheet_median(answer.columns[position], figure) or 0.0 for position in best}
    if len(best) == _LEAST_TO_COMPARE:
        return "; ".join(f"{names[position]}: {formatter.estimate(value)}" for position, value in values.items())
    return tr(
        "{range} among {names}",
        range=formatter.interval(min(values.values()), max(values.values())),
        names=", ".join(names[position] for position in best),
    )


def _get_sheet_figure(column: ComparisonColumn, figure: str) -> IntervalEstimate | None:
    value: IntervalEstimate | None = getattr(column.estimate, figure, None)
    return value


def _get_sheet_median(column: ComparisonColumn, figure: str) -> float | None:
    value = _get_sheet_figure(column, figure)
    return None if value is None else value.value


def _build_concurrency_headline(answer: Answer, names: tuple[str, ...], formatter: Formatter) -> SheetHeadline | None:
    """Return who holds most requests; memory is exact, so nothing is within a band here."""
    held = {
        position: column.estimate.max_concurrency
        for position, column in enumerate(answer.columns)
        if column.estimate is not None and column.estimate.fits and position not in answer.unranked
    }
    if len(held) < _LEAST_TO_COMPARE:
        return None
    announced = describe_announced_capacity(answer, names, formatter).text
    most = max(held.values())
    winners = [position for position, value in held.items() if value == most]
    question = label_figure("max_concurrency")
    if len(winners) > 1:
        tied = ", ".join(names[position] for position in winners)
        each = tr("{n} each: {names}", n=formatter.count(most), names=tied)
        return SheetHeadline(question, tr("No winner"), _join_announced(each, announced), mark=CellMarking.OPEN)
    (winner,) = winners
    detail = tr("{n} in flight", n=formatter.count(most))
    if winner != 0 and 0 in held:
        detail = tr(
            "{n} against {m} on {baseline}", n=formatter.count(most), m=formatter.count(held[0]), baseline=names[0]
        )
    return SheetHeadline(question, names[winner], _join_announced(detail, announced), *get_column_looks(answer)[winner])


def _describe_distance_to_baseline(
    answer: Answer, figure: str, position: int, names: tuple[str, ...], formatter: Formatter
) -> str:
    keys = make_column_keys(answer.scenario.accelerators)
    found = find_difference(answer, figure, keys[0], keys[position])
    if found is None:
        return tr("{baseline} has none", baseline=names[0])
    return tr("{difference} against {baseline}", difference=formatter.difference(found.ratio.value), baseline=names[0])


def get_column_looks(answer: Answer) -> tuple[tuple[int, bool], ...]:
    """Return for each column its place in the palette and whether its marker is is_variant."""
    choices = answer.scenario.accelerators
    return tuple(zip(assign_palette_indexes(choices), find_variants(choices), strict=True))


_HEADLINE_FIGURES: Final = ("output_tokens_per_s", "ttft_ms", "tpot_ms")
_IN_FLIGHT: Final = "max_concurrency"

#: From this ratio on a distance is a factor rather than per cent, as everywhere.


@dataclass(frozen=True, slots=True)
class HeadlineLeader:
    """A column that leads, or one of those that nobody beats; `key` is that of the column."""

    key: str
    name: str
    slot: int
    is_variant: bool


@dataclass(frozen=True, slots=True)
class HeadlineResult:
    """One question with its answer. `is_open` says that nobody wins among the leaders.

    `announced` says of an announced part, which is not ranked beside shipping ones, that it would lead.
    """

    figure: str
    label: str
    leaders: tuple[HeadlineLeader, ...]
    text: str
    unit: str
    detail: str
    is_open: bool
    announced: AnnouncedLead = field(default_factory=AnnouncedLead)


def build_headline_results(answer: Answer, formatter: Formatter) -> tuple[HeadlineResult, ...]:
    view = _HeadlineBuilder(answer, formatter)
    return (*(view.of_figure(figure) for figure in _HEADLINE_FIGURES), view.most_in_flight())


class _HeadlineBuilder:
    """One answer with the names and looks of its columns."""

    def __init__(self, answer: Answer, formatter: Formatter) -> None:
        choices = answer.scenario.accelerators
        self._answer = answer
        self._formatter = formatter
        self._keys = make_column_keys(choices)
        self._names = list_column_names(answer)
        self._columns = tuple(
            HeadlineLeader(*look)
            for look in zip(
                self._keys, self._names, assign_palette_indexes(choices), find_variants(choices), strict=True
            )
        )

    def of_figure(self, figure: str) -> HeadlineResult:
        values = mask_unranked(self._answer, get_column_figures(self._answer, figure))
        known = [position for position, value in enumerate(values) if value is not None]
        if len(known) < 2 or not is_compared(self._answer, figure):
            return self._alone(figure, known, values)
        best = find_leaders(self._answer, figure)
        shown = [value.value for position in best if (value := values[position]) is not None]
        if len(best) > 1:
            return self._open(figure, best, shown)
        rest = [position for position in known if position not in best]
        pick = max if HIGHER_IS_BETTER[figure] else min
        runner = pick(rest, key=lambda position: _get_median(values[position]))
        ratio = self._ratio(figure, best[0], runner)
        detail = "" if ratio is None else self._distance(ratio, runner)
        return self._made(figure, best, self._formatter.estimate(shown[0]), detail)

    def most_in_flight(self) -> HeadlineResult:
        """Return the answer to who holds most; memory is exact, so nobody wins only where alike."""
        held = mask_unranked(self._answer, get_max_concurrencies(self._answer))
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

    def _alone(self, figure: str, known: list[int], values: list[IntervalEstimate | None]) -> HeadlineResult:
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

    def _nobody(self, figure: str) -> HeadlineResult:
        reasons = {describe_missing_figure(column, self._formatter)[0] for column in self._answer.columns}
        reason = reasons.pop() if len(reasons) == 1 else tr("none has this figure")
        if all(column.estimate is not None and not column.estimate.fits for column in self._answer.columns):
            reason = tr("none fits") if len(self._answer.columns) > 1 else reason
        return replace(self._made(figure, (), MISSING_VALUE_TEXT, reason), unit="")

    def _only(self) -> str:
        if len(self._answer.unranked) == len(self._answer.columns) - 1:
            return tr("The only one that ships")
        others = [column.estimate for column in self._answer.columns]
        fitting = [estimate for estimate in others if estimate is not None and estimate.fits]
        return tr("The only one that fits") if len(fitting) == 1 else tr("The only one with this figure")

    def _open(self, figure: str, best: tuple[int, ...], values: list[float]) -> HeadlineResult:
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
        found = find_difference(self._answer, figure, self._keys[runner], self._keys[winner])
        if found is not None:
            return found.ratio.value
        found = find_difference(self._answer, figure, self._keys[winner], self._keys[runner])
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
    ) -> HeadlineResult:
        return HeadlineResult(
            figure=figure,
            label=tr("Most in flight") if figure == _IN_FLIGHT else label_figure(figure),
            leaders=tuple(self._columns[position] for position in best),
            text=text,
            unit=tr("requests") if figure == _IN_FLIGHT else FIGURE_UNITS[figure] or "",
            detail=detail,
            is_open=is_open,
            announced=self._announced(figure),
        )

    def _announced(self, figure: str) -> AnnouncedLead:
        if figure == _IN_FLIGHT:
            return describe_announced_capacity(self._answer, self._names, self._formatter)
        return describe_announced_lead(self._answer, figure, self._names, self._formatter)


def _get_median(banded: IntervalEstimate | None) -> float:
    assert banded is not None
    return banded.value
