"""Prefill and decode: how the time of a request, a token and a prompt divides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from PySide6.QtWidgets import QWidget

from gpudesk.desktop.pages.desk_chart import format_missing_memory
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.evaluated_answer import AcceleratorColumn
from gpudesk.desktop.session.selection import select_figure
from gpudesk.desktop.ui.charts.bar_chart import (
    OUTLINE,
    BarChart,
    BarChartStyle,
    BarGroup,
    BarLane,
    BarNote,
    BarRow,
    BarSegment,
    StackedBar,
)
from gpudesk.desktop.ui.charts.chart_data import ChartData
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.domain.answer import Answer
from gpudesk.domain.deployment_analysis import PREFILL_SHARE, DeploymentTimeShares, RequestTimeline, TimeShare
from gpudesk.report.labels import label_limiter
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter
from gpudesk.text.translation import tr

_INKS: Final = {
    "memory bandwidth": "ink3",
    "compute": "ink2",
    "interconnect": "ink1",
    "overhead": "ink4",
    PREFILL_SHARE: OUTLINE,
}
_ORDER: Final = ("memory bandwidth", "compute", "interconnect", "overhead")
_TIMES: Final = (("queue_s", "ink4"), ("prefill_s", "ink2"), ("decode_s", "ink3"))


@dataclass(frozen=True, slots=True)
class TimeSplit:
    """A column with the times of a request and the shares of steps, as far as it has them."""

    part: AcceleratorColumn
    request: RequestTimeline | None
    shares: DeploymentTimeShares | None


def label_time_share(name: str) -> str:
    return tr("prefill of other requests") if name == PREFILL_SHARE else label_limiter(name)


#: No axis: values stand at the right.
_STYLE: Final = BarChartStyle(
    names=136,
    right=96,
    bar=16,
    rows=(28, 28, 28),
    head=28,
    key=22,
    axis=0,
    below=18,
    inset=6,
    width=(640, 360),
    subtitle="text3",
)


class TimeSplitChart(BarChart):
    """Three groups of bars: a request in seconds, an output token and a prefill chunk in shares."""

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, desk.formatter, _STYLE, parent)
        self.desk = desk
        self._answer: Answer | None = None
        self._splits: tuple[TimeSplit, ...] = ()
        self.row_selected.connect(lambda key, name: desk.select(select_figure(key, name)))

    def refresh(self) -> None:
        if self._answer is not self.desk.answer:
            self._answer = self.desk.answer
            self._splits = tuple(self._list_splits())
        token = tr("% of time, including prefill of other requests")
        self.show_groups(
            self._requests(),
            self._shares(tr("One output token"), token, "tpot_ms", (*_ORDER, PREFILL_SHARE)),
            self._shares(tr("One prefill chunk"), tr("% of time"), "ttft_ms", _ORDER),
        )
        if not self.desk.in_gesture:
            self.setAccessibleName(tr("Prefill and decode, chart"))
            self.setAccessibleDescription(self.summary())

    def _list_splits(self) -> list[TimeSplit]:
        bench = self.desk.service
        splits = []
        for part in self.desk.columns:
            estimate = part.column.estimate
            if estimate is None:
                splits.append(TimeSplit(part, None, None))
            else:
                splits.append(TimeSplit(part, bench.request_time(estimate), bench.step_shares(estimate)))
        return splits

    # The groups

    def _requests(self) -> BarGroup:
        longest = max((sum(split.request) for split in self._splits if split.request is not None), default=1.0)
        names = (tr("queueing"), tr("prefill"), tr("decode"))
        return BarGroup(
            tr("One request"),
            tr("seconds from arrival to last token, mean"),
            tuple(self._request(split, longest) for split in self._splits),
            key=tuple((ink, name) for (_, ink), name in zip(_TIMES, names, strict=True)),
            figure="request_s",
        )

    def _request(self, split: TimeSplit, longest: float) -> BarRow:
        time, inks = split.request, [ink for _, ink in _TIMES]
        if time is None:
            return self._row(split, None, MISSING_VALUE_TEXT)
        texts = [tr("{n} s", n=self.formatter.estimate(seconds)) for seconds in (*time, sum(time))]
        segments = _stack([seconds / longest for seconds in time], inks, texts[:-1])
        return self._row(split, segments, texts[-1])

    def _shares(self, title: str, subtitle: str, figure_name: str, order: Sequence[str]) -> BarGroup:
        key = tuple((_INKS[name], label_time_share(name)) for name in order)
        rows = tuple(self._share_row(split, figure_name, order) for split in self._splits)
        return BarGroup(title, subtitle, rows, key=key, figure=figure_name)

    def _share_row(self, split: TimeSplit, figure_name: str, order: Sequence[str]) -> BarRow:
        shares = _shares_of(split, figure_name)
        text = self._token_time(split.part) if figure_name == "tpot_ms" else ""
        if shares is None:
            return self._row(split, None, text)
        by_name = {share.name: share.share for share in shares}
        names = [name for name in order if name in by_name]
        lengths = [by_name[name] for name in names]
        words = [self.formatter.per_cent(length) for length in lengths]
        return self._row(split, _stack(lengths, [_INKS[name] for name in names], words), text)

    def _row(self, split: TimeSplit, segments: tuple[BarSegment, ...] | None, value: str) -> BarRow:
        part = split.part
        lane: BarLane = BarNote(self._why_none(part), colour="text3") if segments is None else StackedBar(segments)
        return BarRow(
            part.key, part.name, (lane,), palette_index=part.palette_index, is_variant=part.is_variant, value=value
        )

    def _token_time(self, part: AcceleratorColumn) -> str:
        value = part.figure("tpot_ms")
        return MISSING_VALUE_TEXT if value is None else tr("{n} ms", n=self.formatter.estimate(value.value))

    def _why_none(self, part: AcceleratorColumn) -> str:
        if part.column.estimate is None:
            return tr("cannot be estimated")
        if not part.column.estimate.fits:
            return tr("does not fit: {missing}", missing=format_missing_memory(part, self.desk))
        return tr("not defined for this load")

    # In words and numbers

    def summary(self) -> str:
        sentences = []
        for split in self._splits:
            if split.request is None:
                sentences.append(f"{split.part.name}: {self._why_none(split.part)}.")
                continue
            waiting, prefill, decode = (self.formatter.estimate(seconds) for seconds in split.request)
            sentences.append(
                tr(
                    "{name}: {waiting} s queueing, {prefill} s prefill, {decode} s decode.",
                    name=split.part.name,
                    waiting=waiting,
                    prefill=prefill,
                    decode=decode,
                )
            )
        return " ".join(sentences)

    def data(self, formatter: Formatter) -> ChartData:
        heads = [tr("Accelerator"), tr("Queueing, s"), tr("Prefill, s"), tr("Decode, s")]
        heads += [tr("Token: {share}, %", share=label_time_share(name)) for name in (*_ORDER, PREFILL_SHARE)]
        heads += [tr("Prompt: {share}, %", share=label_time_share(name)) for name in _ORDER]
        rows = []
        for split in self._splits:
            times = split.request or (None, None, None)
            cells = [formatter.estimate(seconds) for seconds in times]
            for figure_name, order in (("tpot_ms", (*_ORDER, PREFILL_SHARE)), ("ttft_ms", _ORDER)):
                shares = {share.name: share.share for share in _shares_of(split, figure_name) or ()}
                cells += [
                    formatter.number(shares[name] * 100, 1) if name in shares else MISSING_VALUE_TEXT for name in order
                ]
            rows.append((split.part.name, *cells))
        return ChartData(tr("Prefill and decode"), tuple(heads), tuple(rows))


def _shares_of(split: TimeSplit, figure_name: str) -> tuple[TimeShare, ...] | None:
    if split.shares is None:
        return None
    return split.shares.token if figure_name == "tpot_ms" else split.shares.prefill


def _stack(lengths: Sequence[float], inks: Sequence[str], words: Sequence[str]) -> tuple[BarSegment, ...]:
    """Return segments one after the other."""
    ends = list(accumulate(lengths))
    starts = [0.0, *ends]
    return tuple(BarSegment(*each) for each in zip(starts, ends, inks, words, strict=False))
