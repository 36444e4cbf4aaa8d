"""The block Loading the weights: the time for each column, its formulas, and a rate of storage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from gpudesk.desktop.pages.decide.decided import Decided
from gpudesk.desktop.pages.decide.record_table import Cell, Head, Para, RecordRow, RecordTable, cell
from gpudesk.desktop.pages.decide.result_parts import Look, Said, SaidList
from gpudesk.desktop.session.deciding import with_plan
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.selection import attribute
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.label import Label
from gpudesk.desktop.widgets.number_edit import NumberEdit
from gpudesk.desktop.widgets.numbers import NumberFormat
from gpudesk.domain.formatting import UNKNOWN, Formatter
from gpudesk.domain.messages import Message
from gpudesk.domain.weight_loading import LoadTime, WeightLoading
from gpudesk.sheets.beside_lines import all_loading_notes, as_text, loading_lines
from gpudesk.sheets.loading_words import (
    in_host_text,
    quoted_text,
    time_text,
    unknown_text,
    weights_text,
    working_lines,
)
from gpudesk.text import tr

STORAGE: Final = "storage_gb_s"
_LINK: Final = "pcie_bandwidth"
#: Stands in the field for a rate that nobody stated.
_NONE: Final = -1.0
_LEAST, _MOST, _DECIMALS = 0.001, 1e6, 3


@dataclass(frozen=True, slots=True)
class _RateFormat(NumberFormat):
    """A rate in GB/s; an emptied field states none."""

    def text(self, value: float) -> str:
        """Write a rate, or nothing."""
        return "" if value == _NONE else NumberFormat.text(self, value)

    def parse(self, text: str) -> float:
        """Read a rate; nothing stands for none."""
        return _NONE if text.strip() in ("", UNKNOWN) else NumberFormat.parse(self, text)


class LoadingBlock(QWidget):
    """One row for each column: per accelerator, per host, and what documents quote of the link."""

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        """Make field and table; it is empty yet."""
        super().__init__(parent)
        self._desk, self._theme = desk, theme
        self._loadings: Mapping[str, WeightLoading | Message] = {}
        self._names: Mapping[str, str] = {}
        rates = _RateFormat(_LEAST, _MOST, _DECIMALS, desk.formatter.style)
        self.storage = NumberEdit(theme, tr("What storage gives to a host, in GB/s"), rates, self)
        self.storage.setPlaceholderText(tr("not stated"))
        self.storage.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.storage.edited.connect(self._set_storage)
        self.fault = Label(theme, font="small", colour="unfit", parent=self)
        self.storage.fault_changed.connect(self.fault.setText)
        self.table = RecordTable(
            theme,
            tr("Loading the weights"),
            (
                Head(tr("Column"), 130),
                Head(tr("Weights of one"), 120),
                Head(tr("One accelerator"), 190, 1.0),
                Head(tr("All of one host"), 190, 1.0),
                Head(tr("Quoted"), 130, 0.6),
            ),
            self,
        )
        self.table.chosen.connect(self._select)
        self.notes = SaidList(theme, tr("Notes"), self)
        self._lay_out()

    def _lay_out(self) -> None:
        theme = self._theme
        self.storage.setFixedWidth(theme.px(110))
        head = QHBoxLayout()
        head.setSpacing(theme.px(8))
        head.addWidget(Label(theme, tr("Loading the weights"), font="section", parent=self))
        head.addStretch(1)
        head.addWidget(self.fault)
        words = Label(theme, tr("Storage gives a host"), font="small", colour="text2", parent=self)
        for widget in (words, self.storage, Label(theme, "GB/s", font="small", colour="text2", parent=self)):
            head.addWidget(widget)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(theme.px(4))
        whole.addLayout(head)
        whole.addWidget(self.table)
        whole.addSpacing(theme.px(6))
        whole.addWidget(self.notes)

    # Showing

    def show_decision(self, found: Decided) -> None:
        """Show the times of all columns."""
        self._loadings = self._desk.workbench.beside.loadings(found.answer)
        self._names = found.names
        stated = found.answer.scenario.decision.plans.get(STORAGE)
        self.storage.set_value(_NONE if stated is None else float(stated))
        self.table.show_rows([_row(found, key, loading) for key, loading in self._loadings.items()])
        notes = all_loading_notes(self._loadings, found.names, found.formatter)
        self.notes.show_lines([Said("info", "text3", note) for note in notes])

    def text(self, formatter: Formatter) -> str:
        """Return all of it as text."""
        return as_text(loading_lines(self._loadings, self._names, formatter))

    # Acting

    def _set_storage(self, typed: float) -> None:
        value = None if typed == _NONE else float(typed)
        self._desk.apply(with_plan(self._desk.scenario, STORAGE, value), tr("Rate of storage"))

    def _select(self, row: int) -> None:
        selection = self.table.rows[row].selection
        if selection is not None:
            self._desk.select(selection)


def _row(found: Decided, key: str, loading: WeightLoading | Message) -> RecordRow:
    formatter = found.formatter
    name = Cell((Para(found.names[key], "small_strong"),), look=Look(found.slots[key], found.hollow[key]))
    if isinstance(loading, Message):
        unknown = cell(unknown_text(loading, formatter), colour="unfit")
        return RecordRow((name, cell(UNKNOWN, colour="text3"), unknown, cell(""), cell("")))
    quoted = [Para(quoted_text(each, formatter), colour="text2") for each in loading.quoted]
    return RecordRow(
        (
            name,
            cell(weights_text(loading, formatter)),
            Cell(tuple(_time(loading.one, formatter))),
            Cell(tuple(_host_time(loading, formatter))),
            Cell(tuple(quoted)) if quoted else cell(tr("nothing quoted"), colour="text3"),
        ),
        attribute(key, _LINK),
    )


def _time(time: LoadTime, formatter: Formatter) -> Iterator[Para]:
    """Yield the time, then its formulas, or why it is not known."""
    known = time.seconds is not None
    yield Para(time_text(time, formatter), "small_strong", "text1" if known else "disputed_text")
    for line in working_lines(time, formatter):
        yield Para(line, "caption", "text2")


def _host_time(loading: WeightLoading, formatter: Formatter) -> Iterator[Para]:
    """Yield the time of a host, and how many are in it; its formulas where they are not those of one."""
    first, *lines = _time(loading.host, formatter)
    if loading.in_host is not None:
        text = tr("{time}, {count}", time=first.text, count=in_host_text(loading, formatter))
        first = first._replace(text=text)
    yield first
    _, *of_one = _time(loading.one, formatter)
    if lines != of_one:
        yield from lines
    elif lines:
        yield Para(tr("worked out as for one"), "caption", "text2")
