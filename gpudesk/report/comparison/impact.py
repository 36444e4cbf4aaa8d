"""The effect of changed facts on an answer, in one sentence and in detail."""

from __future__ import annotations

from dataclasses import dataclass

from gpudesk.domain.answer import (
    Answer,
    AnswerImpact,
    ColumnChange,
    FigureChange,
    LeaderChange,
    find_difference,
    make_column_keys,
)
from gpudesk.domain.registry import FIGURES, MAX_CONCURRENCY, list_headline_figures
from gpudesk.report.labels import format_odds, get_figure_unit, join_names, label_figure, list_column_names
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter, IntervalEstimate, find_readable_unit
from gpudesk.text.messages import lower_for_sentence
from gpudesk.text.translation import tr


@dataclass(frozen=True, slots=True)
class ImpactText:
    """One sentence without a full stop, and lines that say more."""

    sentence: str
    lines: tuple[str, ...] = ()


def describe_impact(impact: AnswerImpact, formatter: Formatter) -> ImpactText:
    """Return the effects of a change: first accelerators that no longer fit, then leaders, then figures."""
    if impact.unchanged:
        return ImpactText(tr("Result unchanged"))
    view = _ImpactTextBuilder(impact, formatter)
    fits = [line for column in impact.columns if (line := view.fit(column))]
    leads = [line for lead in impact.leads if (line := view.lead(lead))]
    figures = [line for column in impact.columns for line in view.figures(column)]
    if figures and not fits and not leads and view.is_open("output_tokens_per_s"):
        figures[0] = tr("{change}; still too close to call", change=figures[0])
    sentences = [*fits, *leads, *figures] or [view.rest()]
    return ImpactText(sentences[0], tuple(sentences[1:]))


class _ImpactTextBuilder:
    """The words for one impact."""

    def __init__(self, impact: AnswerImpact, formatter: Formatter) -> None:
        self._impact = impact
        self._formatter = formatter
        keys = make_column_keys(impact.after.scenario.accelerators)
        self._names = dict(zip(keys, list_column_names(impact.after), strict=True))
        self._changed = {column.key: {each.figure for each in column.figures} for column in impact.columns}

    def fit(self, column: ColumnChange) -> str:
        name, after, before = self._names[column.key], column.after, column.before
        if after is None:
            return tr("{name} no longer has an estimate", name=name)
        count = self._formatter.count(after.count)
        if column.fitted and not column.fits:
            if after.needs is None:
                return tr("{name}: the model no longer fits on {n}", name=name, n=count)
            needs = self._formatter.count(after.needs)
            return tr("{name}: the model no longer fits on {n}, needs {needs}", name=name, n=count, needs=needs)
        if column.fits and not column.fitted:
            return tr("{name}: the model now fits on {n}", name=name, n=count)
        if before is not None and before.count != after.count:
            was = self._formatter.count(before.count)
            return tr("{name} now needs {n} (was {was})", name=name, n=count, was=was)
        return ""

    def lead(self, lead: LeaderChange) -> str:
        """Return the new leader of a figure, or that there is none; empty if it did not change."""
        label = _join_in_sentence(lead.figure)
        if len(lead.after) == 1:
            if not lead.moved and not self._touched(lead.figure):
                return ""
            return self._ahead(lead, label)
        if not lead.moved:
            return ""
        if lead.figure == MAX_CONCURRENCY.key:
            tied = join_names([self._names[key] for key in lead.after])
            return tr("{names} now have equal max concurrency", names=tied) if lead.after else ""
        if len(lead.before) == 1:
            return tr("Now too close to call in {figure}", figure=label)
        if len(lead.before) > 1 and lead.after:
            return self._group(lead, label)
        names = join_names([self._names[key] for key in lead.after])
        return tr("Too close to call in {figure}: {names}", figure=label, names=names) if names else ""

    def _group(self, lead: LeaderChange, label: str) -> str:
        """Return who joined or left a group of leaders that are too close to call."""
        former_leaders = join_names([self._names[key] for key in lead.before if key not in lead.after])
        joined = join_names([self._names[key] for key in lead.after if key not in lead.before])
        if former_leaders and joined:
            return tr(
                "{joined} now among the best in {figure}, replacing {left}",
                joined=joined,
                left=former_leaders,
                figure=label,
            )
        if former_leaders:
            return tr("{names} no longer among the best in {figure}", names=former_leaders, figure=label)
        return tr("{names} now among the best in {figure}", names=joined, figure=label)

    def _ahead(self, lead: LeaderChange, label: str) -> str:
        (winner,) = lead.after
        name = self._names[winner]
        after, runner = self._lead_over_next(self._impact.after, lead.figure, winner)
        if runner is None or after is None:
            return tr("{name} now leads in {figure}", name=name, figure=label)
        other = self._names[runner]
        now = self._distance(after)
        if not lead.moved:
            before, former = self._lead_over_next(self._impact.before, lead.figure, winner)
            was = None if before is None or former != runner else self._distance(before)
            if was == now:
                return ""
            if was is not None:
                return tr(
                    "{name} now {distance} ahead of {other} in {figure} (was {was})",
                    name=name,
                    distance=now,
                    other=other,
                    figure=label,
                    was=was,
                )
        odds = self._impact.after.odds.get((lead.figure, winner, runner))
        values = {"name": name, "distance": now, "other": other, "figure": label}
        if odds is None:
            return tr("{name} now {distance} ahead of {other} in {figure}", **values)
        return tr(
            "{name} now {distance} ahead of {other} in {figure} ({odds} odds)",
            odds=format_odds(odds, self._formatter),
            **values,
        )

    def _lead_over_next(self, answer: Answer, figure: str, winner: str) -> tuple[float | None, str | None]:
        """Return how many times as good the winner is as the next ranked column, and which that is."""
        keys = make_column_keys(answer.scenario.accelerators)
        values = {
            key: value
            for position, (key, column) in enumerate(zip(keys, answer.columns, strict=True))
            if position not in answer.unranked and (value := _get_impact_value(getattr(column.estimate, figure, None)))
        }
        sign = 1 if figure == MAX_CONCURRENCY.key or FIGURES[figure].more_is_better else -1
        rest = sorted((key for key in values if key != winner), key=lambda key: -sign * values[key])
        if winner not in values or not rest:
            return None, None
        difference = find_difference(answer, figure, rest[0], winner)
        back = find_difference(answer, figure, winner, rest[0])
        ratio = values[winner] / values[rest[0]]
        if difference is not None:
            ratio = difference.ratio.value
        elif back is not None:
            ratio = 1 / back.ratio.value
        return ratio, rest[0]

    def is_open(self, figure: str) -> bool:
        return any(lead.figure == figure and len(lead.after) > 1 and not lead.moved for lead in self._impact.leads)

    def _distance(self, ratio: float) -> str:
        share = abs(ratio - 1)
        return tr("less than 1%") if share < 0.005 else self._formatter.per_cent(share)

    def figures(self, column: ColumnChange) -> list[str]:
        if column.after is None or not column.fits:
            return []
        lines = [
            line
            for each in column.figures
            if each.figure in list_headline_figures() and (line := self._figure(column.key, each))
        ]
        was, now = (0 if each is None else each.max_concurrency for each in (column.before, column.after))
        if was != now and column.fitted:
            numbers = {"was": self._formatter.count(was), "now": self._formatter.count(now)}
            name = self._names[column.key]
            lines.append(tr("{name}: max concurrency {was} → {now}", name=name, **numbers))
        return lines

    def _figure(self, key: str, change: FigureChange) -> str:
        """Return a figure before and after; empty if both read the same or differ by 0 per cent."""
        formatter = self._formatter
        largest = max((each.value for each in (change.before, change.after) if each is not None), default=0.0)
        factor, unit = find_readable_unit(largest, get_figure_unit(change.figure))
        was, now = (
            MISSING_VALUE_TEXT if each is None else formatter.estimate(each.value / factor)
            for each in (change.before, change.after)
        )
        if was == now or (change.ratio is not None and round(change.ratio * 100) == 100):
            return ""
        line = f"{self._names[key]}: {_join_in_sentence(change.figure)} {was} → {now} {unit or ''}".rstrip()
        return line if change.ratio is None else f"{line} ({formatter.difference(change.ratio)})"

    def rest(self) -> str:
        names = join_names([self._names[column.key] for column in self._impact.columns])
        return tr("{names}: throughput and latency change by less than 0.5%", names=names)

    def _touched(self, figure: str) -> bool:
        if figure == MAX_CONCURRENCY.key:
            return any(
                column.before is not None
                and column.after is not None
                and column.before.max_concurrency != column.after.max_concurrency
                for column in self._impact.columns
            )
        return any(figure in figures for figures in self._changed.values())


def _join_in_sentence(figure: str) -> str:
    return lower_for_sentence(label_figure(figure))


def _get_impact_value(figure: IntervalEstimate | int | None) -> float:
    return 0.0 if figure is None else float(figure.value if isinstance(figure, IntervalEstimate) else figure)
