"""The view Size from users: what is asked of a service, how many accelerators that takes, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QContextMenuEvent, QHideEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedLayout, QVBoxLayout, QWidget

from gpudesk.desktop.charts.columns import parts
from gpudesk.desktop.charts.commands import Shown, context_menu, menu_position
from gpudesk.desktop.charts.data_table import Data
from gpudesk.desktop.charts.figures_table import FiguresTable
from gpudesk.desktop.pages.memory.size_answer import CandidateBlock
from gpudesk.desktop.pages.memory.size_figures import (
    Pairs,
    best_key,
    candidate_figures,
    factor_rows,
    sizing_data,
)
from gpudesk.desktop.pages.memory.size_form import DemandForm, first_demand
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.sizing import with_candidate
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.buttons import Button
from gpudesk.desktop.widgets.ground import Rule
from gpudesk.desktop.widgets.label import Label
from gpudesk.domain.answers import Answer
from gpudesk.domain.demand import Candidate, Demand, DemandKind, Sizing
from gpudesk.domain.formatting import Formatter
from gpudesk.domain.messages import InputError
from gpudesk.domain.scenarios import Scenario
from gpudesk.sentences import sentence
from gpudesk.sheets.sizing_words import bound_lines, demand_text, sizing_sentence
from gpudesk.text import tr

_MARGIN = 16
#: From this width on, in pixels of the design, the table has all its columns.
_WIDE = 1180
#: While something is dragged, the counts wait until it rests for this long, in milliseconds.
_REST = 120


class SizeView(QWidget):
    """A form, the candidates side by side, and one of them in full; an offer to begin without a demand."""

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        """Make an empty form and an empty table."""
        super().__init__(parent)
        self._desk = desk
        self.theme, self.formatter = theme, desk.formatter
        self._asked: Answer | None = None
        self._sizing: Sizing | None = None
        self._pairs: Pairs = ()
        self._chosen = ""
        #: Whether the user chose that candidate; without a choice it is the one with the fewest.
        self._picked = False
        self.form = DemandForm(theme, desk.formatter.style, self)
        self.asked = Label(theme, font="small", colour="text2", wrap=True, parent=self)
        self.problem = Label(theme, colour="unfit", wrap=True, parent=self)
        self.table = FiguresTable(theme, self)
        self.candidate = CandidateBlock(theme, self)
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(_REST)
        self._rest.timeout.connect(self._size)
        self.setAccessibleName(self.title)
        self._build()
        self.form.edited.connect(self._edit)
        self.table.chosen.connect(lambda key, _: self._choose(key))
        self.candidate.used.connect(self._use)
        desk.gesture_changed.connect(self._gesture_changed)

    def _build(self) -> None:
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self._make_empty())
        full = QWidget(self)
        self._stack.addWidget(full)
        upper, lower = QVBoxLayout(), QVBoxLayout()
        upper.setContentsMargins(_MARGIN - 6, 0, _MARGIN, 8)
        upper.addWidget(self.form)
        lower.setContentsMargins(_MARGIN, 10, _MARGIN, _MARGIN)
        lower.setSpacing(self.theme.px(6))
        lower.addWidget(Label(self.theme, tr("Candidates"), font="section", parent=full))
        lower.addWidget(self.asked)
        lower.addWidget(self.problem)
        lower.addWidget(self.table)
        lower.addSpacing(self.theme.px(10))
        lower.addWidget(self.candidate)
        lower.addStretch(1)
        whole = QVBoxLayout(full)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addLayout(upper)
        whole.addWidget(Rule(self.theme, full))
        whole.addLayout(lower, 1)

    def _make_empty(self) -> QWidget:
        """Return what is shown without a demand: what there is to find out, and three ways to begin."""
        empty = QWidget(self)
        title = Label(
            self.theme, tr("How many accelerators does the service take?"), font="verdict", parent=empty
        )
        words = Label(
            self.theme,
            tr("Say what users ask of it; peaks, latency limits and a reserve are counted in."),
            colour="text2",
            parent=empty,
        )
        offers = (
            (DemandKind.USERS, tr("From users")),
            (DemandKind.REQUEST_RATE, tr("From requests a second")),
            (DemandKind.TOKENS_PER_DAY, tr("From output tokens a day")),
        )
        self.offers: dict[DemandKind, Button] = {}
        row = QHBoxLayout()
        row.setSpacing(self.theme.px(8))
        row.addStretch(1)
        for kind, text in offers:
            primary = kind is DemandKind.USERS
            offer = Button(self.theme, text, kind="primary" if primary else "plain", parent=empty)
            offer.clicked.connect(partial(self._begin, kind))
            self.offers[kind] = offer
            row.addWidget(offer)
        row.addStretch(1)
        column = QVBoxLayout(empty)
        column.addStretch(2)
        for label in (title, words):
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            column.addWidget(label)
        column.addSpacing(self.theme.px(12))
        column.addLayout(row)
        column.addStretch(3)
        return empty

    @property
    def title(self) -> str:
        """What the view is called."""
        return tr("Accelerators for the demand")

    # Asking

    def _begin(self, kind: DemandKind) -> None:
        self._edit(first_demand(kind), tr("State a demand"))
        self.form.amounts[kind].setFocus(Qt.FocusReason.TabFocusReason)

    def _edit(self, demand: Demand | None, text: str) -> None:
        self._desk.apply(replace(self._desk.scenario, demand=demand), text)
        self._show_form()

    def refresh(self) -> None:
        """Show the desk's answer; while something is dragged, when it rests."""
        self._show_form()
        if self._desk.in_gesture:
            self._rest.start()
        else:
            self._size()

    def _show_form(self) -> None:
        demand = self._desk.scenario.demand
        self._stack.setCurrentIndex(0 if demand is None else 1)
        if demand is not None:
            self.form.show_demand(demand)

    def _size(self) -> None:
        """Size the demand of the answer that is shown, once for each answer."""
        self._rest.stop()
        answer = self._desk.answer
        if answer is None or answer.scenario.demand is None:
            self._asked, self._sizing, self._pairs = None, None, ()
            return
        if answer is not self._asked:
            self._asked = answer
            self._find(answer)
        self._show()

    def _find(self, answer: Answer) -> None:
        self._sizing, self._pairs = None, ()
        try:
            sizing = self._desk.workbench.size(answer.scenario)
        except InputError as error:
            said = sentence(error.problem, self.formatter)
            self.problem.setText(f"{said[:1].upper()}{said[1:]}")
            return
        self._sizing = sizing
        self._pairs = tuple(zip(parts(answer), sizing.candidates, strict=True))

    def _gesture_changed(self) -> None:
        if not self._desk.in_gesture and self.isVisible():
            self.refresh()

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802 - Qt's name
        """Leave nothing waiting."""
        super().hideEvent(event)
        self._rest.stop()

    # Showing

    def _show(self) -> None:
        sizing, found = self._sizing, self._sizing is not None
        self.problem.setVisible(not found)
        self.table.setVisible(found)
        self.candidate.setVisible(found)
        if sizing is None:
            self.asked.setText("")
            return
        self.asked.setText(self._asked_text(sizing))
        keys = [part.key for part, _ in self._pairs]
        if not self._picked or self._chosen not in keys:
            self._picked = False
            self._chosen = best_key(self._pairs) or keys[0]
        self.table.show_figures(candidate_figures(self._pairs, self.formatter, wide=self._is_wide()))
        self.table.choose_row(self._chosen)
        self._show_candidate(sizing)

    def _asked_text(self, sizing: Sizing) -> str:
        return tr(
            "{demand}: {rate} requests/s and {tokens} output tok/s at the peak",
            demand=demand_text(sizing.demand, self.formatter),
            rate=self.formatter.estimate(sizing.requests_per_s),
            tokens=self.formatter.estimate(sizing.output_tokens_per_s),
        )

    def _show_candidate(self, sizing: Sizing) -> None:
        _, name, candidate = self._current()
        said = sizing_sentence(sizing, candidate, name, self.formatter)
        if candidate.count is None:
            self.candidate.show_candidate(said, "", [], "")
            return
        count = self.formatter.count(candidate.count - candidate.spare)
        use = tr("Use {n} {name} under this load", n=count, name=name)
        is_used = self._desk.scenario == self._deployed(sizing)
        factors = factor_rows(candidate, self.formatter)
        notes = [sentence(note, self.formatter) for note in candidate.notes]
        bound = "\n".join([*bound_lines(candidate, self.formatter), *notes])
        self.candidate.show_candidate(said, bound, factors, "" if is_used else use)

    def _current(self) -> tuple[int, str, Candidate]:
        """Return position, name and findings of the chosen candidate."""
        keys = [part.key for part, _ in self._pairs]
        position = keys.index(self._chosen)
        part, candidate = self._pairs[position]
        return position, part.name.partition(" × ")[0], candidate

    def _choose(self, key: str) -> None:
        if self._sizing is not None:
            self._chosen, self._picked = key, True
            self._show_candidate(self._sizing)

    def _deployed(self, sizing: Sizing) -> Scenario:
        """Return the scenario with the deployment of the chosen candidate."""
        position, _, candidate = self._current()
        return with_candidate(self._desk.scenario, position, candidate, sizing.requests_per_s)

    def _use(self) -> None:
        if self._sizing is not None:
            self._desk.apply(self._deployed(self._sizing), self.candidate.use.text())

    def _is_wide(self) -> bool:
        return self.width() >= self.theme.px(_WIDE)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Show more or fewer columns."""
        super().resizeEvent(event)
        before = event.oldSize().width() >= self.theme.px(_WIDE)
        if before != self._is_wide() and self._sizing is not None:
            self._show()

    # What every chart can be asked for

    @property
    def charts(self) -> Sequence[Shown]:
        """What is shown."""
        return (self,)

    def data(self, formatter: Formatter) -> Data:
        """Return all that was found."""
        return sizing_data(self._sizing, self._pairs, formatter)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:  # noqa: N802 - Qt's name
        """Offer picture, numbers and table."""
        if self._sizing is not None:
            context_menu(self, self, []).popup(menu_position(event, self))

    def focus_first(self) -> None:
        """Give the focus to what is stated, or to the first way to begin."""
        demand = self._desk.scenario.demand
        first = self.offers[DemandKind.USERS] if demand is None else self.form.amounts[demand.kind]
        first.setFocus(Qt.FocusReason.ShortcutFocusReason)
