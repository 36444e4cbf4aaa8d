"""Prefill and decode: where the time of one request goes, and what takes that of a token and of a prompt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from PySide6.QtWidgets import QWidget

from gpudesk.desktop.charts.bars import OUTLINE, BarsChart, Group, Piece, Row
from gpudesk.desktop.charts.columns import Part, parts
from gpudesk.desktop.charts.data_table import Data
from gpudesk.desktop.charts.unfit import missing_text
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.selection import figure
from gpudesk.desktop.theme.theme import Theme
from gpudesk.domain.answers import Answer
from gpudesk.domain.charts import PREFILL, RequestTime, Share, StepShares
from gpudesk.domain.formatting import UNKNOWN, Formatter
from gpudesk.sheets.labels import limiter_label
from gpudesk.text import tr

_INKS: Final = {
    "memory bandwidth": "ink3",
    "compute": "ink2",
    "interconnect": "ink1",
    "overhead": "ink4",
    PREFILL: OUTLINE,
}
_ORDER: Final = ("memory bandwidth", "compute", "interconnect", "overhead")
_TIMES: Final = (("queue_s", "ink4"), ("prefill_s", "ink2"), ("decode_s", "ink3"))


@dataclass(frozen=True, slots=True)
class Split:
    """A column with the times of a request and the shares of steps, as far as it has them."""

    part: Part
    request: RequestTime | None
    shares: StepShares | None


def share_label(name: str) -> str:
    """Return what a share of time is called."""
    return tr("prefill of others") if name == PREFILL else limiter_label(name)


class SplitChart(BarsChart):
    """Three groups of bars: a request in seconds, an output token and a prefill chunk in shares."""

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        """Show the desk's answer once told to."""
        super().__init__(theme, desk.formatter, parent)
        self.desk = desk
        self._answer: Answer | None = None
        self._splits: tuple[Split, ...] = ()
        self.row_selected.connect(lambda key, name: desk.select(figure(key, name)))

    def refresh(self) -> None:
        """Show the desk's answer."""
        if self._answer is not self.desk.answer:
            self._answer = self.desk.answer
            self._splits = tuple(self._found(self._answer))
        self.show_groups(
            (
                self._requests(),
                self._shares(
                    tr("One output token"),
                    tr("shares of its time, with the prompts of others that are read between"),
                    "tpot_ms",
                    (*_ORDER, PREFILL),
                ),
                self._shares(tr("One piece of a prompt"), tr("shares of its time"), "ttft_ms", _ORDER),
            )
        )
        if not self.desk.in_gesture:
            self.setAccessibleName(tr("Prefill and decode, chart"))
            self.setAccessibleDescription(self.summary())

    def _found(self, answer: Answer | None) -> list[Split]:
        bench = self.desk.workbench
        found = []
        for part in parts(answer):
            estimate = part.column.estimate
            if estimate is None:
                found.append(Split(part, None, None))
            else:
                found.append(Split(part, bench.request_time(estimate), bench.step_shares(estimate)))
        return found

    # The groups

    def _requests(self) -> Group:
        longest = max(
            (sum(split.request) for split in self._splits if split.request is not None), default=1.0
        )
        names = (tr("waiting"), tr("prefill"), tr("decode"))
        return Group(
            tr("One request"),
            tr("seconds from submission to the last token, mean"),
            "request_s",
            tuple((ink, name) for (_, ink), name in zip(_TIMES, names, strict=True)),
            tuple(self._request(split, longest) for split in self._splits),
        )

    def _request(self, split: Split, longest: float) -> Row:
        part, time = split.part, split.request
        told = (part.key, part.slot, part.hollow, part.name)
        if time is None:
            return Row(*told, (), UNKNOWN, self._why_none(part))
        pieces = tuple(
            Piece(seconds / longest, ink, tr("{n} s", n=self.formatter.estimate(seconds)))
            for seconds, (_, ink) in zip(time, _TIMES, strict=True)
        )
        return Row(*told, pieces, tr("{n} s", n=self.formatter.estimate(sum(time))))

    def _shares(self, title: str, subtitle: str, figure_name: str, order: Sequence[str]) -> Group:
        inks = tuple((_INKS[name], share_label(name)) for name in order)
        rows = tuple(self._share_row(split, figure_name, order) for split in self._splits)
        return Group(title, subtitle, figure_name, inks, rows)

    def _share_row(self, split: Split, figure_name: str, order: Sequence[str]) -> Row:
        part = split.part
        shares = _shares_of(split, figure_name)
        text = self._token_time(part) if figure_name == "tpot_ms" else ""
        told = (part.key, part.slot, part.hollow, part.name)
        if shares is None:
            return Row(*told, (), text, self._why_none(part))
        by_name = {share.name: share.share for share in shares}
        pieces = tuple(
            Piece(by_name[name], _INKS[name], self.formatter.per_cent(by_name[name]))
            for name in order
            if name in by_name
        )
        return Row(*told, pieces, text)

    def _token_time(self, part: Part) -> str:
        value = part.figure("tpot_ms")
        return UNKNOWN if value is None else tr("{n} ms", n=self.formatter.estimate(value.value))

    def _why_none(self, part: Part) -> str:
        if part.column.estimate is None:
            return tr("cannot be estimated")
        if not part.column.estimate.fits:
            return tr("does not fit: {missing}", missing=missing_text(part, self.desk))
        return tr("this load has no such time")

    # In words and numbers

    def summary(self) -> str:
        """Say for each accelerator how the time of a request divides."""
        said = []
        for split in self._splits:
            if split.request is None:
                said.append(f"{split.part.name}: {self._why_none(split.part)}.")
                continue
            waiting, prefill, decode = (self.formatter.estimate(seconds) for seconds in split.request)
            said.append(
                tr(
                    "{name}: {waiting} s waiting, {prefill} s prefill, {decode} s decode.",
                    name=split.part.name,
                    waiting=waiting,
                    prefill=prefill,
                    decode=decode,
                )
            )
        return " ".join(said)

    def data(self, formatter: Formatter) -> Data:
        """Return seconds and shares of every column."""
        heads = [tr("Accelerator"), tr("Waiting, s"), tr("Prefill, s"), tr("Decode, s")]
        heads += [tr("Token: {share}, %", share=share_label(name)) for name in (*_ORDER, PREFILL)]
        heads += [tr("Prompt: {share}, %", share=share_label(name)) for name in _ORDER]
        rows = []
        for split in self._splits:
            times = split.request or (None, None, None)
            cells = [formatter.estimate(seconds) for seconds in times]
            for figure_name, order in (("tpot_ms", (*_ORDER, PREFILL)), ("ttft_ms", _ORDER)):
                shares = {share.name: share.share for share in _shares_of(split, figure_name) or ()}
                cells += [
                    formatter.number(shares[name] * 100, 1) if name in shares else UNKNOWN for name in order
                ]
            rows.append((split.part.name, *cells))
        return Data(tr("Prefill and decode"), tuple(heads), tuple(rows))


def _shares_of(split: Split, figure_name: str) -> tuple[Share, ...] | None:
    if split.shares is None:
        return None
    return split.shares.token if figure_name == "tpot_ms" else split.shares.prefill
