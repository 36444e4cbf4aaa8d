"""The view Two sets: the answers in force beside a kept set, and what each comes to."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from gpudesk.desktop.charts.figures_table import FiguresTable
from gpudesk.desktop.pages.decide.decided import Decided
from gpudesk.desktop.pages.decide.result_parts import Look, Swatches
from gpudesk.desktop.pages.decide.result_verdict import ShareBar, leaders, shares_of
from gpudesk.desktop.pages.decide.sets_compare import Compared, TwoSets, in_force, with_kept
from gpudesk.desktop.pages.decide.views import DecideView
from gpudesk.desktop.session.deciding import with_kept as keep
from gpudesk.desktop.session.deciding import with_sets_swapped
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.buttons import Button, LinkButton
from gpudesk.desktop.widgets.ground import Rule
from gpudesk.desktop.widgets.label import Label
from gpudesk.desktop.widgets.text_table import TextTable
from gpudesk.domain.decisions import Verdict
from gpudesk.domain.formatting import Formatter
from gpudesk.sheets.decision_words import firmness, verdict_title
from gpudesk.text import tr

_MARGIN: Final = 16.0


class SetVerdict(QWidget):
    """What one set of answers comes to, and how firm that is."""

    def __init__(self, theme: Theme, formatter: Formatter, name: str, parent: QWidget | None = None) -> None:
        """Say nothing yet of the set called `name`."""
        super().__init__(parent)
        self._name = name
        self.swatches = Swatches(theme, self, line="option")
        self.title = Label(theme, font="option", wrap=True, parent=self)
        self.firmness = Label(theme, font="small", colour="text2", wrap=True, parent=self)
        self.bar = ShareBar(theme, formatter, self)
        line = QHBoxLayout()
        line.setSpacing(theme.px(8))
        line.addWidget(self.swatches, 0, Qt.AlignmentFlag.AlignTop)
        line.addWidget(self.title, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.px(4))
        column.addWidget(Label(theme, name, font="caption_strong", colour="text2", parent=self))
        column.addLayout(line)
        column.addWidget(self.firmness)
        column.addWidget(self.bar)
        column.addStretch(1)

    def show_verdict(self, found: Decided) -> None:
        """Show what the set comes to."""
        self.swatches.show_looks([Look(found.slots[key], found.hollow[key]) for key in leaders(found)])
        self.title.setText(verdict_title(found.decision, found.names, found.formatter))
        self.firmness.setText(firmness(found.decision, found.names))
        self.bar.show_shares(shares_of(found))
        self.bar.setVisible(found.decision.verdict is not Verdict.NONE_FITS)
        self.setAccessibleName(f"{self._name}: {self.title.text()}. {self.firmness.text()}")


class SetsView(DecideView):
    """Keeps the answers in force, exchanges both sets, and shows where they differ and what follows."""

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        """Make buttons and tables; they say nothing yet."""
        super().__init__(desk, theme, parent)
        self.sets: TwoSets | None = None
        self._same: tuple[Compared, ...] = ()
        self.said = Label(theme, font="small", colour="text2", wrap=True, parent=self)
        self.keep = Button(theme, tr("Keep these answers"), icon="copy-plus", parent=self)
        self.keep.clicked.connect(self._keep)
        self.exchange = Button(theme, tr("Exchange"), icon="arrow-up-down", parent=self)
        self.exchange.setToolTip(tr("Put the kept answers in force, and keep those in force"))
        self.exchange.clicked.connect(self._exchange)
        self.forget = Button(theme, tr("Forget"), icon="trash-2", parent=self)
        self.forget.setToolTip(tr("Let the kept answers go"))
        self.forget.clicked.connect(self._forget)
        formatter = desk.formatter
        self.verdicts = tuple(SetVerdict(theme, formatter, name, self) for name in (in_force(), with_kept()))
        heads = [tr("Question"), in_force(), with_kept()]
        self.differ = TextTable(theme, tr("Questions that differ"), heads, giving=(0, 1, 2), parent=self)
        self.alike = TextTable(theme, tr("Questions that are the same"), heads, giving=(0, 1, 2), parent=self)
        self.alike.hide()
        self.fold = LinkButton(theme, "", parent=self)
        self.fold.clicked.connect(self._toggle)
        self.ranking = FiguresTable(theme, self)
        self.rules_title = Label(theme, tr("Rules that fire under one set only"), font="section", parent=self)
        rule_heads = [tr("Rule"), tr("Id"), tr("Fires")]
        self.rules = TextTable(theme, self.rules_title.text(), rule_heads, giving=(0, 1, 2), parent=self)
        self.differ_title = Label(theme, font="section", parent=self)
        self._content = QWidget(self)
        self._lay_out()

    def _lay_out(self) -> None:
        px = self.theme.px
        head, both = QHBoxLayout(), QHBoxLayout()
        head.setSpacing(px(8))
        head.addWidget(self.said, 1)
        for button in (self.keep, self.exchange, self.forget):
            head.addWidget(button)
        both.setSpacing(px(32))
        for verdict in self.verdicts:
            both.addWidget(verdict, 1)
        content = QVBoxLayout(self._content)
        content.setContentsMargins(0, 0, 0, 0)
        content.setSpacing(px(6))
        content.addLayout(both)
        blocks: tuple[tuple[QWidget, ...], ...] = (
            (self.differ_title, self.differ, self.fold, self.alike),
            (Label(self.theme, tr("Both rankings"), font="section", parent=self), self.ranking),
            (self.rules_title, self.rules),
        )
        for widgets in blocks:
            content.addSpacing(px(8))
            content.addWidget(Rule(self.theme, self))
            content.addSpacing(px(4))
            for widget in widgets:
                side = Qt.AlignmentFlag.AlignLeft if widget is self.fold else Qt.AlignmentFlag(0)
                content.addWidget(widget, 0, side)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(px(_MARGIN), px(2), px(_MARGIN), px(_MARGIN))
        whole.setSpacing(px(14))
        whole.addLayout(head)
        whole.addWidget(self._content)
        whole.addStretch(1)

    # Showing

    def show_decision(self, found: Decided) -> None:
        """Show both sets; without a kept one what the buttons are for."""
        kept = found.answer.scenario.decision.kept
        for button in (self.exchange, self.forget):
            button.setEnabled(kept is not None)
        self.keep.setEnabled(kept != found.answer.scenario.decision.answers)
        self._content.setVisible(kept is not None)
        if kept is None:
            self.sets = None
            self.said.setText(
                tr("Keep the answers in force, then change some: both sets and what they come to stand here.")
            )
            return
        decision = self.desk.workbench.decide(found.answer, kept)
        self.sets = TwoSets(found, replace(found, decision=decision))
        self._show_sets(self.sets)

    def _show_sets(self, sets: TwoSets) -> None:
        for verdict, decided in zip(self.verdicts, (sets.now, sets.kept), strict=True):
            verdict.show_verdict(decided)
        questions = sets.questions()
        differing = [each for each in questions if not each.same]
        self._same = tuple(each for each in questions if each.same)
        self.said.setText(_summary(sets, len(differing), self.desk.formatter))
        count = self.desk.formatter.count
        self.differ_title.setText(tr("Questions that differ ({n})", n=count(len(differing))))
        self.differ.set_rows([each[:3] for each in differing])
        self.differ.setVisible(bool(differing))
        self.alike.set_rows([each[:3] for each in self._same])
        self._name_fold()
        self.ranking.show_figures(sets.ranking())
        self.rules.set_rows(sets.one_sided() or [(tr("The same rules fire under both"), "", "")])

    def _toggle(self) -> None:
        self.alike.setVisible(self.alike.isHidden())
        self._name_fold()

    def _name_fold(self) -> None:
        count = self.desk.formatter.count(len(self._same))
        shown = not self.alike.isHidden()
        text = tr("Hide what is the same") if shown else tr("Show what is the same ({n})", n=count)
        self.fold.setText(text)
        self.fold.setAccessibleName(text)

    # Both sets as edits

    def _keep(self) -> None:
        scenario = self.desk.scenario
        self.desk.apply(keep(scenario, scenario.decision.answers), tr("Keep these answers"))

    def _exchange(self) -> None:
        self.desk.apply(with_sets_swapped(self.desk.scenario), tr("Exchange both sets of answers"))

    def _forget(self) -> None:
        self.desk.apply(keep(self.desk.scenario, None), tr("Forget the kept answers"))

    # What the page asks

    def copied(self) -> str:
        """Return both sets with what they come to as text."""
        if self.sets is None:
            return ""
        lines = [verdict.accessibleName() for verdict in self.verdicts]
        rows = [(tr("Question"), in_force(), with_kept())]
        rows += [each[:3] for each in self.sets.questions()]
        return "\n".join([*lines, "", *("\t".join(row) for row in rows)]) + "\n"

    def focus_first(self) -> None:
        """Give the focus to what can be done first."""
        self.keep.setFocus(Qt.FocusReason.OtherFocusReason)


def _summary(sets: TwoSets, differing: int, formatter: Formatter) -> str:
    if not differing:
        return tr("Both sets are the same. Change an answer, and what that does stands here.")
    same = leaders(sets.now)[:1] == leaders(sets.kept)[:1]
    count = formatter.count(differing)
    if same:
        return tr("Answers that differ: {n}. The same accelerator leads under both sets.", n=count)
    return tr("Answers that differ: {n}. Another accelerator leads under the kept set.", n=count)
