"""What buying now or waiting comes to: the verdict and whose it is, figures, chart, and where it turns."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QVBoxLayout, QWidget

from gpudesk.desktop.pages.decide.result_parts import Mark, Said, SaidList
from gpudesk.desktop.pages.decide.timing_chart import SlipChart, SlipFacts
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.label import Label
from gpudesk.desktop.widgets.text_table import TextTable
from gpudesk.domain.buying import RuleSays, Verdict
from gpudesk.domain.formatting import Formatter
from gpudesk.sheets.waiting_words import (
    against_text,
    computed_text,
    document_text,
    price_rows,
    rule_text,
    slip_summary,
    verdict_text,
    waiting_figures,
    waiting_notes,
    waiting_title,
    waiting_turns,
)
from gpudesk.text import tr

_CHART, _WIDEST = 240.0, 800.0
#: The marks of what a rule says.
_MARKS: Final = {Verdict.BUY: ("check", "text1"), Verdict.WAIT: ("history", "text1")}


class TimingResult(QWidget):
    """Shows one plan; what it has no figures for is hidden."""

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        """Begin without a plan."""
        super().__init__(parent)
        self._theme = theme
        self._formatter = desk.formatter
        self._facts: SlipFacts | None = None
        self.title = Label(theme, font="verdict", wrap=True, parent=self)
        self.document, self.computed = (Label(theme, wrap=True, parent=self) for _ in range(2))
        self.against = Label(theme, colour="disputed_text", wrap=True, parent=self)
        self._against_mark = Mark(theme, "triangle-alert", "disputed", self)
        self.rules = SaidList(theme, tr("What documents’ rules say"), self)
        self.figures = TextTable(
            theme,
            tr("Figures"),
            (tr("Figure"), tr("Low"), tr("Likely"), tr("High"), tr("Unit")),
            numbers=(1, 2, 3),
            giving=(0,),
            parent=self,
        )
        self.chart = SlipChart(desk, theme, self)
        self.summary = Label(theme, font="small", colour="text2", wrap=True, parent=self)
        self.turns = TextTable(
            theme, tr("Where it turns"), (tr("It turns where"), tr("Value")), giving=(0, 1), parent=self
        )
        self.prices = TextTable(
            theme,
            tr("What waiting saves, by the price of the next part"),
            (tr("Its price"), tr("Saved, likely"), tr("From – to"), tr("What that says")),
            numbers=(0, 1, 2),
            giving=(3,),
            parent=self,
        )
        self.turns_title = Label(theme, tr("Where it turns"), font="section", parent=self)
        self.prices_title = Label(theme, font="section", parent=self)
        self.notes = SaidList(theme, tr("What this rests on"), self)
        self._lay_out()
        theme.follow(self._dress)

    def _lay_out(self) -> None:
        px = self._theme.px
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(px(6))
        whole.addWidget(self.title)
        whole.addLayout(self._sides())
        for block, above in (
            (self.rules, 8),
            (self.figures, 8),
            (self.chart, 10),
            (self.summary, 0),
            (self.turns_title, 10),
            (self.turns, 0),
            (self.prices_title, 10),
            (self.prices, 0),
            (self.notes, 10),
        ):
            if above:
                whole.addSpacing(px(above))
            whole.addWidget(block)
        whole.addStretch(1)

    def _sides(self) -> QGridLayout:
        """Return documents beside arithmetic, and below them where they contradict."""
        grid = QGridLayout()
        grid.setHorizontalSpacing(self._theme.px(10))
        grid.setVerticalSpacing(self._theme.px(2))
        grid.setColumnStretch(1, 1)
        for line, (caption, said) in enumerate(
            ((tr("Documents"), self.document), (tr("Arithmetic"), self.computed))
        ):
            head = Label(self._theme, caption, font="small", colour="text2", parent=self)
            grid.addWidget(head, line, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(said, line, 1)
        grid.addWidget(self._against_mark, 2, 0, Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignRight)
        grid.addWidget(self.against, 2, 1)
        return grid

    def _dress(self) -> None:
        self.chart.setMinimumHeight(self._theme.px(_CHART))
        # Wider, figures would stand too far from what they are called.
        self.setMaximumWidth(self._theme.px(_WIDEST))

    # Showing

    def show_plan(self, facts: SlipFacts) -> None:
        """Show a plan."""
        self._facts = facts
        found, names, money, formatter = facts.found, facts.names, facts.money, self._formatter
        self.title.setText(waiting_title(found, names))
        self.document.setText(document_text(found))
        self.computed.setText(computed_text(found, formatter))
        against = against_text(found)
        self.against.setText(against)
        for widget in (self.against, self._against_mark):
            widget.setVisible(bool(against))
        self.rules.show_lines([_said(rule) for rule in found.rules])
        self.figures.set_rows(waiting_figures(found, names, money, formatter))
        self.chart.setVisible(self.chart.show_facts(facts))
        self.summary.setText(slip_summary(found, names, formatter))
        self.summary.setVisible(bool(self.summary.text()))
        turns = waiting_turns(found, names, money, formatter)
        self.turns.set_rows(turns)
        self._show_prices(facts)
        self.turns.setVisible(bool(turns))
        self.turns_title.setVisible(bool(turns))
        self.notes.show_lines([Said("info", "text2", note) for note in waiting_notes(found, formatter)])
        self.setAccessibleName(
            tr(
                "{title}. Documents: {document}. Arithmetic: {computed}",
                title=self.title.text(),
                document=self.document.text(),
                computed=self.computed.text(),
            )
        )

    def _show_prices(self, facts: SlipFacts) -> None:
        rows = price_rows(facts.found, facts.money)
        title = tr("What waiting saves, by the price of the next part, {code}", code=facts.money.code)
        self.prices_title.setText(title)
        self.prices.set_rows(rows)
        for widget in (self.prices, self.prices_title):
            widget.setVisible(bool(rows))

    def text(self, formatter: Formatter) -> str:
        """Return all of it as lines, tables with tabs."""
        facts = self._facts
        if facts is None:
            return ""
        found, names, money = facts.found, facts.names, facts.money
        lines = [
            waiting_title(found, names),
            tr("Documents: {said}", said=document_text(found)),
            tr("Arithmetic: {said}", said=computed_text(found, formatter)),
            against_text(found),
            *(f"{rule.rule}: {rule_text(rule)}" for rule in found.rules),
            *("\t".join(row) for row in waiting_figures(found, names, money, formatter)),
            *("\t".join(row) for row in waiting_turns(found, names, money, formatter)),
            *("\t".join(row) for row in price_rows(found, money)),
            slip_summary(found, names, formatter),
            *waiting_notes(found, formatter),
        ]
        return "".join(f"{line}\n" for line in lines if line)


def _said(rule: RuleSays) -> Said:
    verdict = rule.verdict
    mark, colour = ("minus", "text3") if verdict is None else _MARKS[verdict]
    leaning = tr("open") if verdict is None else verdict_text(verdict)
    return Said(
        mark, colour, tr("{rule}, {verdict}: {said}", rule=rule.rule, verdict=leaning, said=rule_text(rule))
    )
