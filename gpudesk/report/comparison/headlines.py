"""Headline answers of a comparison, for the screen and the sheet: leaders, leads, and what does not fit."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from gpudesk.domain.answer import (
    Answer,
    LeadVerdict,
    assign_palette_indexes,
    compute_win_odds,
    find_announced_leader,
    find_best,
    find_leaders,
    find_rival,
    find_variants,
    get_column_figures,
    judge_odds,
    mask_unranked,
    rank_figures,
)
from gpudesk.domain.estimate import Estimate
from gpudesk.domain.registry import COST_FIGURES, MAX_CONCURRENCY, list_headline_figures
from gpudesk.report.comparison.estimate_rows import (
    FigureText,
    describe_missing_value,
    get_max_concurrencies,
    is_compared,
    list_unlike_rents,
)
from gpudesk.report.comparison.tables import CellMarking, Headline, HeadlineLeader, UnrankedLead
from gpudesk.report.costs import add_provider_kind
from gpudesk.report.labels import (
    describe_distance,
    describe_lead,
    format_distance,
    format_odds,
    join_names,
    label_figure,
    list_column_names,
)
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter, IntervalEstimate
from gpudesk.text.messages import capitalize_first
from gpudesk.text.translation import tr, trn

_LEAST_TO_COMPARE: Final = 2
_IN_FLIGHT: Final = MAX_CONCURRENCY.key
#: More than four answers are too many for a glance.
_GIVES_WAY: Final = "tpot_ms"


def build_screen_headlines(answer: Answer, formatter: Formatter) -> tuple[Headline, ...]:
    """Return the leaders' figure for each question, with the lead over the next."""
    view = _ScreenHeadlines(answer, formatter)
    return (
        *(view.make_figure_headline(figure) for figure in _list_headline_figures(answer)),
        view.make_concurrency_headline(),
    )


def build_sheet_headlines(answer: Answer, formatter: Formatter) -> tuple[Headline, ...]:
    """Return the leader's name for each question, with its figure; if too close to call, the figures with their odds.

    Columns that do not fit come first; a question without an answer is left out.
    """
    view = _SheetHeadlines(answer, formatter)
    figures = map(view.make_figure_headline, _list_headline_figures(answer))
    headlines = (view.make_fit_headline(), *figures, view.make_concurrency_headline())
    return tuple(headline for headline in headlines if headline is not None)


def _list_headline_figures(answer: Answer) -> tuple[str, ...]:
    """Return the figures of headlines; if costs are known, token cost replaces TPOT.

    It is that of renting, or of owning if none can be rented.
    """
    figures = list_headline_figures()
    if answer.costs is None:
        return tuple(name for name in figures if name not in COST_FIGURES)
    cost_figures = [name for name in COST_FIGURES if any(get_column_figures(answer, name))]
    return (
        *(name for name in figures if name not in (_GIVES_WAY, *COST_FIGURES)),
        (cost_figures or [*COST_FIGURES])[0],
    )


def get_column_looks(answer: Answer) -> tuple[tuple[int, bool], ...]:
    choices = answer.scenario.accelerators
    return tuple(zip(assign_palette_indexes(choices), find_variants(choices), strict=True))


class _HeadlineBuilder:
    """One answer with the names and palette indexes of its columns."""

    def __init__(self, answer: Answer, formatter: Formatter) -> None:
        self._answer = answer
        self._formatter = formatter
        self._keys = answer.keys
        self._names = list_column_names(answer)
        self._leaders = tuple(
            HeadlineLeader(key, name, *look)
            for key, name, look in zip(self._keys, self._names, get_column_looks(answer), strict=True)
        )
        self._capacities = mask_unranked(answer, get_max_concurrencies(answer))

    def _make_figure_text(self, figure: str) -> FigureText:
        return FigureText(self._answer, figure, self._formatter)

    def _format_tied(self, figure: str, ranked: dict[int, IntervalEstimate], best: tuple[int, ...]) -> str:
        """Return the figures of columns that are too close to call: both of two, the best first, or a range."""
        text, first = self._make_figure_text(figure), find_best(ranked, figure)
        values = [ranked[position].value for position in sorted(best, key=lambda position: position != first)]
        figures = list(dict.fromkeys(map(text.format, values)))
        if len(figures) == 1:
            return figures[0]
        if len(best) == _LEAST_TO_COMPARE:
            return tr("{one} or {two}", one=figures[0], two=figures[1])
        return f"{text.format(min(values))} \N{EN DASH} {text.format(max(values))}"

    def _describe_lead(self, figure: str, leader: int, *, brief: bool) -> str:
        """Return the verdict on the leader with its odds; empty without odds."""
        odds = compute_win_odds(self._answer, figure).get(leader)
        return "" if odds is None else describe_lead(self._names[leader], odds, self._formatter, brief=brief)

    def _describe_distance_to_rival(self, figure: str, leader: int) -> str:
        """Return the distance of the leader from the column that is most likely to be better; empty without one."""
        rival = find_rival(self._answer, figure)
        ratio = None if rival is None else self._make_figure_text(figure).compare_columns(leader, rival)
        if rival is None or ratio is None:
            return ""
        distance = describe_distance(ratio, self._formatter)
        return tr("{distance} than {other}", distance=distance, other=self._names[rival])

    def _list_likely_best(self, figure: str, best: Iterable[int], most: int = _LEAST_TO_COMPARE) -> str:
        """Return the odds of columns that are too close to call, at most this many, the likely best first."""
        odds = compute_win_odds(self._answer, figure)
        order = sorted(best, key=lambda position: -odds[position])
        rents = list_unlike_rents(self._answer, figure)
        names = [add_provider_kind(name, rent) for name, rent in zip(self._names, rents, strict=True)]
        return ", ".join(f"{names[each]} {format_odds(odds[each], self._formatter)}" for each in order[:most])

    def _is_only_one_shipping(self) -> bool:
        return len(self._answer.unranked) == len(self._answer.columns) - 1

    def _is_only_one_without_queue(self) -> bool:
        return sum(column.queues for column in self._answer.columns) == len(self._answer.columns) - 1

    def _describe_unranked_lead(self, figure: str) -> UnrankedLead:
        """Return how an unranked column compares; empty if none would lead."""
        formatter = self._formatter
        if figure == _IN_FLIGHT:
            return self._describe_announced_capacity()
        leader = find_announced_leader(self._answer, figure)
        if leader is None:
            return self._describe_queueing_lead(figure)
        name = self._names[leader.position]
        if judge_odds(leader.odds) is LeadVerdict.TOO_CLOSE:
            return UnrankedLead(
                tr("{name} (announced): too close to call", name=name), tr("{name} (announced): equal", name=name)
            )
        distance, odds = format_distance(leader.ratio, formatter), format_odds(leader.odds, formatter)
        return UnrankedLead(
            tr("{name} (announced) would lead by {distance}, {odds} odds", name=name, distance=distance, odds=odds),
            tr("{name} (announced): {distance}", name=name, distance=formatter.difference(leader.ratio)),
        )

    def _describe_queueing_lead(self, figure: str) -> UnrankedLead:
        """Return the best column of those that queue, if its figure is better than that of the leader."""
        answer, values = self._answer, get_column_figures(self._answer, figure)
        queueing = {
            position: value
            for position, (column, value) in enumerate(zip(answer.columns, values, strict=True))
            if value is not None and column.queues and position not in answer.unranked
        }
        ranked = rank_figures(answer, figure)
        best = find_best(queueing | ranked, figure) if ranked else None
        if best is None or best not in queueing:
            return UnrankedLead()
        name, value = self._names[best], self._make_figure_text(figure).format(queueing[best].value)
        estimate = answer.columns[best].estimate
        brief = tr("{name}: {value}, queues", name=name, value=value)
        if estimate is None or estimate.concurrency is None or estimate.admitted is None:
            return UnrankedLead(tr("{name}: {value}, but requests queue", name=name, value=value), brief)
        waiting = estimate.concurrency - estimate.admitted
        text = trn(
            "{name}: {value}, but {n} of {m} requests waits",
            "{name}: {value}, but {n} of {m} requests wait",
            waiting,
            name=name,
            value=value,
            n=self._formatter.count(waiting),
            m=self._formatter.count(estimate.concurrency),
        )
        return UnrankedLead(text, brief)

    def _describe_announced_capacity(self) -> UnrankedLead:
        capacities = get_max_concurrencies(self._answer)
        outside = {position: capacities[position] or 0 for position in self._answer.unranked}
        shipping = [value for value in self._capacities if value]
        most = max(outside, key=lambda position: outside[position], default=None)
        if most is None or not shipping or outside[most] <= max(shipping):
            return UnrankedLead()
        count, name = self._formatter.count(outside[most]), self._names[most]
        return UnrankedLead(
            tr("{name} (announced): up to {n}", name=name, n=count),
            tr("{name} (announced): {distance}", name=name, distance=count),
        )


class _ScreenHeadlines(_HeadlineBuilder):
    """The figure of the leader, and the distance of the next one."""

    def make_figure_headline(self, figure: str) -> Headline:
        """Return the answer to who is best at an interval figure."""
        ranked = rank_figures(self._answer, figure)
        if len(ranked) < _LEAST_TO_COMPARE or not is_compared(self._answer, figure):
            if not ranked:
                return self._tell_none(figure)
            first = next(iter(ranked))
            value, low, high = map(self._make_figure_text(figure).format, ranked[first])
            if len(self._answer.columns) == 1:
                detail = tr("80% interval: {low} to {high}", low=low, high=high)
            else:
                detail = self._describe_only_one()
            return self._make(figure, (first,), value, detail)
        best = find_leaders(self._answer, figure)
        if len(best) > 1:
            return self._tell_open(figure, best, ranked)
        text = self._make_figure_text(figure).format(ranked[best[0]].value)
        lead = self._describe_lead(figure, best[0], brief=True)
        distance = self._describe_distance_to_rival(figure, best[0])
        return self._make(figure, best, text, capitalize_first(lead), distance=distance)

    def make_concurrency_headline(self) -> Headline:
        """Return the answer to who holds most; memory is exact, so only equal values tie."""
        capacities = {position: value for position, value in enumerate(self._capacities) if value is not None}
        if not capacities:
            return self._tell_none(_IN_FLIGHT)
        most = max(capacities.values())
        best = tuple(position for position, value in capacities.items() if value == most)
        text = self._formatter.count(most)
        if len(self._capacities) == 1:
            return self._make(_IN_FLIGHT, best, text, tr("limited by memory"))
        if len(capacities) == 1:
            return self._make(_IN_FLIGHT, best, text, self._describe_only_one())
        if len(best) > 1:
            return self._make(_IN_FLIGHT, best, text, tr("Same on all"), CellMarking.OPEN)
        runner = max((place for place in capacities if place not in best), key=lambda place: capacities[place])
        detail = ""
        if capacities[runner]:
            distance = format_distance(most / capacities[runner], self._formatter)
            detail = tr("{name} leads by {distance}", name=self._names[best[0]], distance=distance)
        return self._make(_IN_FLIGHT, best, text, detail)

    def _tell_none(self, figure: str) -> Headline:
        columns = self._answer.columns
        reasons = {
            describe_missing_value(self._answer, figure, position, self._formatter)[0]
            for position in range(len(columns))
        }
        reason = reasons.pop() if len(reasons) == 1 else tr("not available")
        if len(columns) > 1 and all(column.queues for column in columns):
            reason = tr("requests queue on all")
        if len(columns) > 1 and all(column.estimate is not None and not column.estimate.fits for column in columns):
            reason = tr("does not fit on any")
        return self._make(figure, (), MISSING_VALUE_TEXT, reason)

    def _describe_only_one(self) -> str:
        if self._is_only_one_shipping():
            return tr("Only one available")
        if self._is_only_one_without_queue():
            return tr("Only one without queueing")
        fitting = [column for column in self._answer.columns if column.estimate is not None and column.estimate.fits]
        return tr("Only one that fits") if len(fitting) == 1 else tr("Only one with this figure")

    def _tell_open(self, figure: str, best: tuple[int, ...], ranked: dict[int, IntervalEstimate]) -> Headline:
        """Return the answer without a leader: the figures of two with their odds, the likely best first."""
        text, first = self._format_tied(figure, ranked, best), find_best(ranked, figure)
        best = tuple(sorted(best, key=lambda position: position != first))
        if len(best) == _LEAST_TO_COMPARE:
            detail = self._list_likely_best(figure, best)
            return self._make(figure, best, text, detail, CellMarking.OPEN, tr("too close to call"))
        detail = tr("Too close to call among {n}", n=self._formatter.count(len(best)))
        return self._make(figure, best, text, detail, CellMarking.OPEN)

    def _make(
        self,
        figure: str,
        best: tuple[int, ...],
        text: str,
        detail: str,
        mark: CellMarking | None = None,
        distance: str = "",
    ) -> Headline:
        """Return an answer; `distance` of the next column is spoken, not shown."""
        unit = tr("requests") if figure == _IN_FLIGHT else self._make_figure_text(figure).unit or ""
        odds = () if figure == _IN_FLIGHT else self._list_odds(figure)
        return Headline(
            figure=figure,
            label=label_figure(figure),
            leaders=tuple(self._leaders[position] for position in best),
            text=text,
            unit=unit if best else "",
            detail=detail,
            mark=mark,
            unranked=self._describe_unranked_lead(figure),
            odds=odds,
            spoken_odds="; ".join(filter(None, (distance, self._describe_odds(odds)))),
        )

    def _describe_odds(self, odds: tuple[tuple[HeadlineLeader, float], ...]) -> str:
        """Return the odds of each for reading aloud; empty without any."""
        texts = [f"{leader.name} {format_odds(share, self._formatter)}" for leader, share in odds]
        return tr("odds of being best: {odds}", odds=", ".join(texts)) if texts else ""

    def _list_odds(self, figure: str) -> tuple[tuple[HeadlineLeader, float], ...]:
        odds = compute_win_odds(self._answer, figure)
        return tuple((self._leaders[place], odds[place]) for place in sorted(odds, key=lambda place: -odds[place]))


class _SheetHeadlines(_HeadlineBuilder):
    """The name of the leader, and its difference from the baseline."""

    def make_fit_headline(self) -> Headline | None:
        """Return how many of the deployments do not fit, with the counts that would; None if all fit."""
        short = {
            name: column.estimate
            for name, column in zip(self._names, self._answer.columns, strict=True)
            if column.estimate is not None and not column.estimate.fits
        }
        if not short:
            return None
        remedies = "; ".join(f"{name}: {self._describe_remedy(estimate)}" for name, estimate in short.items())
        count, of = len(short), len(self._names)
        text = tr("No accelerator fits") if count == of else tr("{n} of {m} do not fit", n=count, m=of)
        if count == 1 and of > 1:
            text = tr("{name} does not fit", name=next(iter(short)))
        return Headline("fits", tr("Fits"), (), text, "", remedies, CellMarking.FAILS)

    def _describe_remedy(self, estimate: Estimate) -> str:
        if estimate.needs is None:
            return tr("does not fit at any count")
        return tr("needs {n}", n=self._formatter.count(estimate.needs))

    def make_figure_headline(self, figure: str) -> Headline | None:
        """Return who is best at an interval figure, or the only ranked column next to announced ones."""
        ranked = rank_figures(self._answer, figure)
        masked = self._answer.unranked or any(column.queues for column in self._answer.columns)
        alone = tuple(ranked) if masked and len(ranked) == 1 else ()
        best = find_leaders(self._answer, figure) or alone
        if not best:
            return None
        if len(best) > 1:
            return self._make(figure, best, self._format_tied(figure, ranked, best), self._describe_tied(figure, best))
        detail = self._make_figure_text(figure).format_interval(ranked[best[0]])
        if self._is_only_one_shipping():
            detail = f"{detail}, {tr('only one available')}"
        elif alone:
            detail = f"{detail}, {tr('only one without queueing')}"
        elif lead := self._describe_lead(figure, best[0], brief=False):
            detail = "; ".join(filter(None, (detail, lead, self._describe_distance_to_rival(figure, best[0]))))
        return self._make(figure, best, self._names[best[0]], detail)

    def _describe_tied(self, figure: str, best: tuple[int, ...]) -> str:
        """Return the odds of two columns that are too close to call, and their difference; of more, the best odds."""
        ratio = self._make_figure_text(figure).compare_columns(*best) if len(best) == _LEAST_TO_COMPARE else None
        if ratio is None:
            odds = self._list_likely_best(figure, best, 1)
            return tr("too close to call among {n}; best: {odds} odds", n=self._formatter.count(len(best)), odds=odds)
        odds, rents = self._list_likely_best(figure, best), list_unlike_rents(self._answer, figure)
        if any(rents[position] is not None for position in best):
            # The odds compare rents of one kind of provider, the figures do not.
            return tr("too close to call: {odds} odds", odds=odds)
        # The larger figure over the smaller one, regardless of the leader.
        distance = format_distance(max(ratio, 1 / ratio), self._formatter)
        return tr("too close to call: {odds} odds, {distance} apart", odds=odds, distance=distance)

    def make_concurrency_headline(self) -> Headline | None:
        """Return who holds most requests; memory is exact, so there are no intervals."""
        capacities = {position: value for position, value in enumerate(self._capacities) if value is not None}
        if len(capacities) < _LEAST_TO_COMPARE:
            return None
        formatter = self._formatter
        most = max(capacities.values())
        best = tuple(position for position, value in capacities.items() if value == most)
        if len(best) > 1:
            names = join_names([self._names[position] for position in best])
            return self._make(_IN_FLIGHT, best, formatter.count(most), tr("equal on {names}", names=names))
        detail = tr("{n} in flight", n=formatter.count(most))
        if best[0] != 0 and 0 in capacities:
            detail = tr(
                "{n}, compared with {m} on {baseline}",
                n=formatter.count(most),
                m=formatter.count(capacities[0]),
                baseline=self._names[0],
            )
        return self._make(_IN_FLIGHT, best, self._names[best[0]], detail)

    def _make(self, figure: str, best: tuple[int, ...], text: str, detail: str) -> Headline:
        unranked = self._describe_unranked_lead(figure)
        unit = None if figure == _IN_FLIGHT else self._make_figure_text(figure).unit
        return Headline(
            figure=figure,
            label=f"{label_figure(figure)}, {unit}" if unit else label_figure(figure),
            leaders=tuple(self._leaders[position] for position in best),
            text=text,
            unit="",
            detail=f"{detail}; {unranked.text}" if unranked.text else detail,
            mark=None if len(best) == 1 else CellMarking.OPEN,
            unranked=unranked,
        )
