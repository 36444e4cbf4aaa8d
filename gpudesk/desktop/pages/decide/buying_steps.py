"""The block Negotiation sheet: the steps of a purchase with what is done, and what it is saved as."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from gpudesk.desktop.pages.decide.buying_step import StepBlock
from gpudesk.desktop.pages.decide.decided import Decided
from gpudesk.desktop.session.deciding import with_plan, with_step_done
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.selection import catalog_dispute, catalog_statement
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.buttons import Button
from gpudesk.desktop.widgets.ground import Rule
from gpudesk.desktop.widgets.label import Label
from gpudesk.desktop.widgets.segment import Segment
from gpudesk.domain.formatting import Formatter
from gpudesk.domain.procurement import NegotiationSheet
from gpudesk.sheets.beside_lines import as_text, negotiation_lines
from gpudesk.sheets.dates import today
from gpudesk.sheets.procurement_words import progress_text
from gpudesk.text import tr

QUOTE: Final = "competing_quote"
_UNSAID: Final = "unsaid"


class StepsBlock(QWidget):
    """Whether a rival's quote is at hand, then one block for each step."""

    save_wanted = Signal()

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        """Make the head; the steps are made when they are first shown."""
        super().__init__(parent)
        self._desk, self._theme = desk, theme
        self.sheet: NegotiationSheet | None = None
        self.steps: list[StepBlock] = []
        self.progress = Label(theme, font="small", colour="text3", parent=self)
        self.quote = Segment(
            theme,
            tr("A rival's quote is at hand"),
            ((_UNSAID, tr("Not said")), ("yes", tr("Yes")), ("no", tr("No"))),
            self,
        )
        self.quote.chosen.connect(self._set_quote)
        self.save = Button(theme, tr("Save the negotiation sheet…"), icon="file-down", parent=self)
        self.save.clicked.connect(self.save_wanted)
        self.said = Label(theme, font="small", colour="text2", wrap=True, parent=self)
        self.said.hide()
        self._lay_out()

    def _lay_out(self) -> None:
        theme = self._theme
        head = QHBoxLayout()
        head.setSpacing(theme.px(10))
        head.addWidget(Label(theme, tr("Negotiation sheet"), font="page", parent=self))
        head.addWidget(self.progress)
        head.addStretch(1)
        head.addWidget(self.save)
        asked = QHBoxLayout()
        asked.setSpacing(theme.px(10))
        words = Label(theme, tr("A rival's quote is at hand"), font="small", colour="text2", parent=self)
        asked.addWidget(words)
        asked.addWidget(self.quote)
        asked.addStretch(1)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(theme.px(8))
        self._column.addLayout(head)
        self._column.addWidget(self.said)
        self._column.addLayout(asked)

    # Showing

    def show_decision(self, found: Decided) -> None:
        """Show the steps for a decision."""
        scenario = found.answer.scenario
        sheet = self._desk.workbench.beside.negotiation(scenario, found.decision, today())
        self.sheet = sheet
        if [block.step for block in self.steps] != [line.step for line in sheet.lines]:
            self._make_steps(sheet, found.formatter)
        self.quote.set_value(str(scenario.decision.plans.get(QUOTE, _UNSAID)))
        self.progress.setText(progress_text(sheet, found.formatter))
        for block, line in zip(self.steps, sheet.lines, strict=True):
            block.show_line(line)

    def _make_steps(self, sheet: NegotiationSheet, formatter: Formatter) -> None:
        for line in sheet.lines:
            block = StepBlock(self._theme, line.step, formatter, self)
            block.ticked.connect(self._set_done)
            block.evidence_wanted.connect(self._show_evidence)
            self._column.addWidget(Rule(self._theme, self))
            self._column.addWidget(block)
            self.steps.append(block)

    def say(self, text: str, *, wrong: bool = False) -> None:
        """Say what became of saving."""
        self.said.set_colour("unfit" if wrong else "text2")
        self.said.setText(text)
        self.said.setVisible(bool(text))

    def text(self, formatter: Formatter) -> str:
        """Return all of it as text."""
        return "" if self.sheet is None else as_text(negotiation_lines(self.sheet, formatter))

    def focus_first(self) -> None:
        """Give the focus to the first tick."""
        if self.steps:
            self.steps[0].title.box.setFocus(Qt.FocusReason.OtherFocusReason)

    # Acting

    def _set_quote(self, answer: str) -> None:
        value = None if answer == _UNSAID else answer
        self._desk.apply(with_plan(self._desk.scenario, QUOTE, value), tr("A rival's quote is at hand"))

    def _set_done(self, key: str, note: str | None) -> None:
        done = self._desk.scenario.decision.done
        if note is None:
            text = tr("Step of the purchase open again")
        else:
            text = tr("Note on the purchase") if key in done else tr("Step of the purchase done")
        self._desk.apply(with_step_done(self._desk.scenario, key, note), text)

    def _show_evidence(self, key: str, disputed: bool) -> None:
        self._desk.select(catalog_dispute(key) if disputed else catalog_statement(key))
