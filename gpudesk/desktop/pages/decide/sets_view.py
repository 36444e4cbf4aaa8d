"""The view of two answer sets: where they differ and what each recommends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from gpudesk.desktop.pages.decide.parts import DecideView, OddsBars, Swatches, find_leaders
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.evaluated_answer import EvaluatedAnswer
from gpudesk.desktop.session.scenario_edits import replace_kept_answers as keep
from gpudesk.desktop.session.scenario_edits import swap_answers
from gpudesk.desktop.ui.tables.data_table import FiguresTable, TextTable
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.buttons import Button, LinkButton
from gpudesk.desktop.ui.widgets.layouts import STRETCH, Hairline, ThemedLabel, make_column, make_row
from gpudesk.domain.decision import QUESTIONS, AnswerOrigin, Decision, DecisionCandidate, QuestionAnswer
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.report.data_table import DataTable, FigureRow, build_accelerator_table
from gpudesk.report.decision.facts import format_answer
from gpudesk.report.decision.questions import get_question_text
from gpudesk.report.decision.verdict import describe_verdict_reason, format_verdict
from gpudesk.report.labels import format_odds
from gpudesk.report.writers.clipboard import format_tab_separated
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter
from gpudesk.text.translation import tr, translate_data


class AnswerPair(NamedTuple):
    """A question with the answer of each set in words, and whether the answers are the same."""

    title: str
    current_answer: str
    saved_answer: str
    same: bool


@frozen_dataclass
class AnswerSetComparison:
    """The decision with the current answers, and with the saved answers, for the same scenario."""

    current_set: EvaluatedAnswer
    saved_set: EvaluatedAnswer

    def questions(self) -> tuple[AnswerPair, ...]:
        """Return all questions in the order of the dialogue."""
        formatter = self.current_set.formatter
        pairs = (
            (self.current_set.decision.answers[name], self.saved_set.decision.answers[name], name) for name in QUESTIONS
        )
        return tuple(
            AnswerPair(
                get_question_text(name),
                _format_answer(name, now, formatter),
                _format_answer(name, kept_answer, formatter),
                now.value == kept_answer.value,
            )
            for now, kept_answer, name in pairs
        )

    def one_sided(self) -> tuple[tuple[str, str, str], ...]:
        """Return the rules that fire under one set only: subject, id, and set."""
        return (
            *_list_rules_only_in(self.current_set.decision, self.saved_set.decision, name_current_set()),
            *_list_rules_only_in(self.saved_set.decision, self.current_set.decision, name_kept_set()),
        )

    def ranking(self) -> DataTable:
        """Return the ranks of all columns in both sets, the current set first."""
        places = [_rank_columns(each.decision) for each in (self.current_set, self.saved_set)]
        shares = [_find_standings(each.decision) for each in (self.current_set, self.saved_set)]
        order = sorted(
            self.current_set.keys,
            key=lambda key: (
                places[0].get(key, len(self.current_set.keys)),
                places[1].get(key, len(self.current_set.keys)),
            ),
        )
        heads = (tr("Current"), tr("Odds"), tr("Saved"), tr("Odds"))
        rows = tuple(
            FigureRow(
                *self.current_set.column(key).identity,
                tuple(
                    text
                    for place, share in zip(places, shares, strict=True)
                    for text in _format_ranking(key, place, share, self.current_set.formatter)
                ),
                self._describe_exclusions(key),
            )
            for key in order
        )
        return build_accelerator_table(tr("Rankings"), heads, rows, leading={0, 2}, remarks=tr("Ruled out by"))

    def _describe_exclusions(self, key: str) -> str:
        rules = []
        for decided, words in ((self.current_set, name_current_set()), (self.saved_set, name_kept_set())):
            titles = [translate_data(each.rule.title) for each in decided.decision.exclusions if each.key == key]
            if titles:
                rules.append(tr("{set}: {rules}", set=words, rules=", ".join(dict.fromkeys(titles))))
        return "; ".join(rules)


def name_current_set() -> str:
    return tr("Current")


def name_kept_set() -> str:
    return tr("Saved")


def _format_answer(name: str, answered: QuestionAnswer, formatter: Formatter) -> str:
    text = format_answer(name, answered.value, formatter)
    if answered.origin is AnswerOrigin.YOURS:
        return text
    if answered.origin is AnswerOrigin.SCENARIO:
        return tr("{answer} (scenario)", answer=text)
    return tr("{answer} (default)", answer=text)


def _list_rules_only_in(decision: Decision, other: Decision, words: str) -> list[tuple[str, str, str]]:
    fired = {line.rule.id for line in other.trace}
    return [
        (translate_data(line.rule.title), line.rule.id, words) for line in decision.trace if line.rule.id not in fired
    ]


def _find_standings(decision: Decision) -> dict[str, DecisionCandidate]:
    return {each.key: each for each in decision.candidates}


def _rank_columns(decision: Decision) -> dict[str, int]:
    """Return the rank of each column that is not removed, from 1."""
    remaining = sorted(
        (each for each in decision.candidates if not each.removed), key=lambda each: (-each.odds, -each.score)
    )
    return {each.key: place for place, each in enumerate(remaining, 1)}


def _format_ranking(
    key: str, places: Mapping[str, int], shares: Mapping[str, DecisionCandidate], formatter: Formatter
) -> tuple[str, str]:
    if key not in places:
        return tr("ruled out"), MISSING_VALUE_TEXT
    return formatter.count(places[key]), format_odds(shares[key].odds, formatter)


_MARGIN: Final = 16.0


class AnswerSetVerdict(QWidget):
    """The recommendation of one set of answers, with the odds of each candidate."""

    def __init__(self, theme: Theme, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._name = name
        self.swatches = Swatches(theme, self, line="option")
        self.title = ThemedLabel(theme, font="option", wrap=True, parent=self)
        self.reason = ThemedLabel(theme, font="small", color="text2", wrap=True, parent=self)
        self.bars = OddsBars(theme, self)
        line = make_row((self.swatches, 0, Qt.AlignmentFlag.AlignTop), (self.title, 1), gap=theme.px(8))
        make_column(
            ThemedLabel(theme, name, font="caption_strong", color="text2", parent=self),
            line,
            self.reason,
            self.bars,
            STRETCH,
            gap=theme.px(4),
            on=self,
        )

    def show_verdict(self, evaluated: EvaluatedAnswer) -> None:
        self.swatches.show_columns(find_leaders(evaluated))
        self.title.setText(format_verdict(evaluated.decision, evaluated.names, evaluated.formatter))
        self.reason.show_text(describe_verdict_reason(evaluated.decision, evaluated.names, evaluated.formatter))
        self.bars.show_odds(evaluated)
        self.setAccessibleName(f"{self._name}: {self.title.text()}. {self.reason.text()}".rstrip())


class AnswerSetsView(DecideView):
    """Saves the current answers, swaps both sets, and shows their differences and results."""

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(desk, theme, parent)
        self.sets: AnswerSetComparison | None = None
        self._same: tuple[AnswerPair, ...] = ()
        self.status_label = ThemedLabel(theme, font="small", color="text2", wrap=True, parent=self)
        self.keep = Button(theme, tr("Save these answers"), self._keep, icon="copy-plus", parent=self)
        self.begin = Button(theme, tr("Save these answers"), self._keep, icon="copy-plus", kind="primary", parent=self)
        self.exchange = Button(theme, tr("Swap"), self._exchange, icon="arrow-up-down", parent=self)
        self.exchange.setToolTip(tr("Use the saved answers and save the current ones"))
        self.forget = Button(theme, tr("Delete"), self._forget, icon="trash-2", parent=self)
        self.forget.setToolTip(tr("Delete the saved answers"))
        self.verdicts = tuple(AnswerSetVerdict(theme, name, self) for name in (name_current_set(), name_kept_set()))
        heads = [tr("Question"), name_current_set(), name_kept_set()]
        self.differ = TextTable(theme, tr("Different answers"), heads, giving=(0, 1, 2), parent=self)
        self.alike = TextTable(theme, tr("Equal answers"), heads, giving=(0, 1, 2), parent=self)
        self.alike.hide()
        self.fold = LinkButton(theme, "", self._toggle, parent=self)
        self.ranking = FiguresTable(theme, self)
        self.rules_title = ThemedLabel(theme, tr("Rules in one set only"), font="section", parent=self)
        rule_heads = [tr("Rule"), tr("Applies to")]
        self.rules = TextTable(theme, self.rules_title.text(), rule_heads, giving=(0, 1), parent=self)
        self.differ_title = ThemedLabel(theme, font="section", parent=self)
        self._head, self._start, self._content = QWidget(self), QWidget(self), QWidget(self)
        self._lay_out()

    def _lay_out(self) -> None:
        px = self.theme.px
        make_row((self.status_label, 1), self.keep, self.exchange, self.forget, gap=px(8), on=self._head)
        self._lay_out_start()
        both = make_row(*((verdict, 1) for verdict in self.verdicts), gap=px(32))
        content = make_column(both, gap=px(6), on=self._content)
        blocks: tuple[tuple[QWidget, ...], ...] = (
            (self.differ_title, self.differ, self.fold, self.alike),
            (ThemedLabel(self.theme, tr("Rankings"), font="section", parent=self), self.ranking),
            (self.rules_title, self.rules),
        )
        for widgets in blocks:
            content.addSpacing(px(8))
            content.addWidget(Hairline(self.theme, self))
            content.addSpacing(px(4))
            for widget in widgets:
                side = Qt.AlignmentFlag.AlignLeft if widget is self.fold else Qt.AlignmentFlag(0)
                content.addWidget(widget, 0, side)
        make_column(
            self._head,
            self._content,
            (self._start, 1),
            STRETCH,
            gap=px(14),
            margins=(px(_MARGIN), px(2), px(_MARGIN), px(_MARGIN)),
            on=self,
        )

    def _lay_out_start(self) -> None:
        words = tr("Save your answers, then change some. Both recommendations appear here side by side.")
        labels = (
            ThemedLabel(self.theme, tr("Compare two sets of answers"), font="verdict", parent=self._start),
            ThemedLabel(self.theme, words, color="text2", wrap=True, parent=self._start),
        )
        for label in labels:
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        row = make_row(STRETCH, self.begin, STRETCH)
        make_column(STRETCH, *labels, 12, row, STRETCH, STRETCH, on=self._start)

    # Showing

    def refresh(self) -> None:
        """Show both sets; without a saved one the purpose of the view."""
        evaluated = self.evaluated
        kept_answers = evaluated.answer.scenario.decision.kept
        self.keep.setEnabled(kept_answers != evaluated.answer.scenario.decision.answers)
        for widget in (self._head, self._content):
            widget.setVisible(kept_answers is not None)
        self._start.setVisible(kept_answers is None)
        if kept_answers is None:
            self.sets = None
            return
        self.sets = sets = AnswerSetComparison(evaluated, evaluated.decide_with_answers(kept_answers))
        for verdict, decided in zip(self.verdicts, (sets.current_set, sets.saved_set), strict=True):
            verdict.show_verdict(decided)
        questions = sets.questions()
        differing = [each for each in questions if not each.same]
        self._same = tuple(each for each in questions if each.same)
        self.status_label.setText(_format_summary(sets, len(differing), self.desk.formatter))
        count = self.desk.formatter.count
        self.differ_title.setText(tr("Different answers ({n})", n=count(len(differing))))
        self.differ.set_rows([each[:3] for each in differing])
        self.differ.setVisible(bool(differing))
        self.alike.set_rows([each[:3] for each in self._same])
        self._name_fold()
        self.ranking.show_table(sets.ranking())
        self.rules.set_rows(
            [(title, words) for title, _, words in sets.one_sided()] or [(tr("Both sets apply the same rules"), "")]
        )

    def _toggle(self) -> None:
        self.alike.setVisible(self.alike.isHidden())
        self._name_fold()

    def _name_fold(self) -> None:
        count = self.desk.formatter.count(len(self._same))
        is_open = not self.alike.isHidden()
        self.fold.setText(tr("Hide equal answers") if is_open else tr("Show equal answers ({n})", n=count))

    # Editing both sets

    def _keep(self) -> None:
        scenario = self.desk.scenario
        self.desk.apply(keep(scenario, scenario.decision.answers), tr("Save these answers"))

    def _exchange(self) -> None:
        self.desk.apply(swap_answers(self.desk.scenario), tr("Swap answer sets"))

    def _forget(self) -> None:
        self.desk.apply(keep(self.desk.scenario, None), tr("Delete saved answers"))

    # Interface for the page

    def copied(self) -> str:
        if self.sets is None:
            return ""
        lines = [verdict.accessibleName() for verdict in self.verdicts]
        rows = [(tr("Question"), name_current_set(), name_kept_set())]
        rows += [each[:3] for each in self.sets.questions()]
        return "\n".join([*lines, "", format_tab_separated(rows)])

    def focus_first(self) -> None:
        """Focus the first usable control."""
        first = self.begin if self.sets is None else self.keep
        first.setFocus(Qt.FocusReason.OtherFocusReason)


def _format_summary(sets: AnswerSetComparison, differing: int, formatter: Formatter) -> str:
    if not differing:
        return tr("Both sets are equal. Change an answer to compare the results here.")
    same = find_leaders(sets.current_set)[:1] == find_leaders(sets.saved_set)[:1]
    count = formatter.count(differing)
    if same:
        return tr("Different answers: {n}. Both sets recommend the same accelerator.", n=count)
    return tr("Different answers: {n}. The saved set recommends another accelerator.", n=count)
