"""Base class and shared widgets of the decision views: marks, swatches, lists of reasons, notes, job results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, Generic, TypeVar

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QLineEdit, QSizePolicy, QWidget

from gpudesk.desktop.pages.page import PageView
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.evaluated_answer import AcceleratorColumn, EvaluatedAnswer
from gpudesk.desktop.session.jobs import Jobs
from gpudesk.desktop.session.scenario_edits import replace_answer
from gpudesk.desktop.session.selection import Selection
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import RIGHT, SWATCH_WIDTH, PaintedWidget, ThemePainter
from gpudesk.desktop.ui.widgets.layouts import STRETCH, ThemedLabel, fill_background, make_column, make_row, set_beside
from gpudesk.desktop.ui.widgets.qt_support import AccessibleRole, call_after_paint, leaves_undo
from gpudesk.domain.decision import AnswerValue
from gpudesk.domain.progress import ProgressSteps
from gpudesk.report.comparison.tables import SheetCandidate
from gpudesk.report.decision.facts import format_answer
from gpudesk.report.decision.questions import get_question_text
from gpudesk.report.decision.recommendation import list_candidate_lines
from gpudesk.report.decision.verdict import (
    describe_verdict_reason,
    describe_verdict_terms,
    find_leading_column,
    format_verdict,
    label_odds,
)
from gpudesk.text.messages import InputError, format_message
from gpudesk.text.translation import tr


class DecideView(PageView):
    """One view of a decision; it edits the scenario through the desk, and selects there for the panel."""

    #: The key of another view to show: `questions`, `result` or another.
    view_requested = Signal(str)
    #: Another page to show, by its id, with the column concerned, if any.
    page_requested = Signal(str, str)
    #: Open the print preview of the sheet.
    sheet_requested = Signal()

    #: Whether the page puts the view in a separate scroll area.
    scrolls = True
    #: Whether the view shows the decision itself; otherwise the page does not compute it.
    needs_decision = True

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.desk = desk
        self.theme = theme
        self._evaluated: EvaluatedAnswer | None = None
        self._is_painted = False
        theme.follow(self._fill_background)

    @property
    def evaluated(self) -> EvaluatedAnswer:
        """The shown decision: the page shows one before it uses the view."""
        assert self._evaluated is not None
        return self._evaluated

    def show_decision(self, evaluated: EvaluatedAnswer) -> None:
        """Show a decision; called for every new one, while the view is visible."""
        self._evaluated = evaluated
        self.refresh()

    def propose_selection(self) -> Selection | None:
        """Return what the panel explains until the user selects a figure; None for nothing."""
        return None

    def show_below(self, show: Callable[[], object]) -> None:
        """Show the widgets below the fold; those of a new view one turn after its first paint."""
        if self._is_painted:
            show()
            return

        def show_first() -> None:
            self._is_painted = True
            show()

        call_after_paint(self, show_first)

    def answer(self, question: str, value: AnswerValue | None) -> None:
        """Answer a question, or reset the answer with None; one undo step."""
        title = get_question_text(question)
        text = tr("Reset answer: {question}", question=title)
        if value is not None:
            text = f"{title} {format_answer(question, value, self.desk.formatter)}"
        self.desk.apply(replace_answer(self.desk.scenario, question, value), text)

    def copied(self) -> str:
        """Return the copied text of the view; empty without any."""
        return ""

    def ask_and_save(self) -> None:
        """Save the document of the view, if it has one."""

    def focus_first(self) -> None:
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    def _fill_background(self) -> None:
        fill_background(self, self.theme.color("page"))


ResultT = TypeVar("ResultT")


class SearchBlock(QWidget, Generic[ResultT]):
    """Results of a job about a decision, below a title and a subtitle.

    The job runs while the block is visible and nothing is dragged. Its result is cached with the decision; results of a
    former decision are disabled, and late ones are dropped.
    """

    def __init__(self, desk: Desk, theme: Theme, title: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.desk, self.theme = desk, theme
        self.title = ThemedLabel(theme, title, font="section", parent=self)
        self.status_label = ThemedLabel(theme, font="small", color="text3", wrap=True, parent=self)
        self._evaluated: EvaluatedAnswer | None = None
        self._searching_for: EvaluatedAnswer | None = None
        self._jobs = Jobs(desk.formatter, self)
        self._jobs.shown.connect(self._show_progress)
        desk.gesture_changed.connect(self._gesture_changed)

    # To implement in subclasses

    def get_result(self, evaluated: EvaluatedAnswer) -> ResultT | None:
        """Return the cached result; None if it was not computed yet."""
        raise NotImplementedError

    def start_search(self, evaluated: EvaluatedAnswer) -> ProgressSteps[ResultT]:
        raise NotImplementedError

    def keep_result(self, evaluated: EvaluatedAnswer, result: ResultT) -> None:
        raise NotImplementedError

    def show_result(self, evaluated: EvaluatedAnswer) -> None:
        """Show the known results of a decision."""
        raise NotImplementedError

    def dim(self) -> None:
        """Show that the content belongs to a former decision."""
        raise NotImplementedError

    # Searching

    @property
    def busy(self) -> bool:
        return self._jobs.running

    def show_decision(self, evaluated: EvaluatedAnswer) -> None:
        """Search for the results of a decision, unless they are known or being computed."""
        self._evaluated = evaluated
        self._look()

    def _look(self) -> None:
        evaluated = self._evaluated
        if evaluated is None or evaluated is self._searching_for:
            return
        self._searching_for = None
        self._jobs.cancel()
        self.dim()
        if self.desk.in_gesture or not self.isVisible():
            return
        self._searching_for = evaluated
        self.status_label.setText("")
        if self.get_result(evaluated) is None:
            self._jobs.start("search", self.start_search(evaluated), partial(self._done, evaluated), self._failed)
        else:
            self.show_result(evaluated)

    def _gesture_changed(self) -> None:
        if not self.desk.in_gesture and self.isVisible():
            self._look()

    def _done(self, evaluated: EvaluatedAnswer, result: ResultT) -> None:
        self.keep_result(evaluated, result)
        if evaluated is self._searching_for:
            self.show_result(evaluated)

    def _failed(self, error: InputError) -> None:
        self.status_label.setText(format_message(error.problem, self.desk.formatter))

    def _show_progress(self, text: str, can_stop: bool) -> None:
        """Show the progress; the text on the result stays."""
        del can_stop
        if text or (self._searching_for is not None and self.get_result(self._searching_for) is None):
            self.status_label.setText(text)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._look()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        if self._jobs.running:
            self._jobs.stop()
            self._searching_for = None


_GAP: Final = 6.0


class Swatches(PaintedWidget):
    """The swatches of accelerators side by side, in the middle of a line; an error mark without any."""

    def __init__(self, theme: Theme, parent: QWidget | None = None, *, line: str = "verdict") -> None:
        """Start without any; `line` is the font token of the text after them."""
        super().__init__(theme, parent)
        self._line = line
        self._columns: tuple[AcceleratorColumn, ...] = ()
        theme.follow(self._dress)

    def show_columns(self, columns: Sequence[AcceleratorColumn]) -> None:
        self._columns = tuple(columns)
        self._dress()

    def _dress(self) -> None:
        count = max(1, len(self._columns))
        px = self._theme.px
        self.setFixedSize(count * px(SWATCH_WIDTH) + (count - 1) * px(_GAP), self._theme.line(self._line))
        self.update()

    def paint(self, pen: ThemePainter) -> None:
        middle, x = self.height() / 2, 0.0
        if not self._columns:
            pen.glyph("unfit", self.width() / 2, middle)
        for column in self._columns:
            pen.swatch(x, middle, column.palette_index, is_variant=column.is_variant)
            x += self._theme.px(SWATCH_WIDTH) + self._theme.px(_GAP)


class NoteEdit(QLineEdit):
    """Esc restores the current text; control characters are removed."""

    #: The user's text, on one line.
    edited = Signal(str)

    def __init__(
        self, theme: Theme, name: str, longest: int, *, empty: str = "", parent: QWidget | None = None
    ) -> None:
        """Start empty; `name` is the accessible name of the list, `empty` is the placeholder."""
        super().__init__(parent)
        self._theme = theme
        self.words = ""
        self.setAccessibleName(name)
        self.setMaxLength(longest)
        self.setPlaceholderText(empty)
        self.editingFinished.connect(self.commit)

    def show_words(self, words: str) -> None:
        """Show the current text; unfinished typing stays while it is the same."""
        if words == self.words and self.isModified():
            return
        self.words = words
        self._show()

    def commit(self) -> None:
        if not self.isModified():
            return
        typed = _strip_controls(self.text())
        changed = typed != self.words
        self.words = typed
        self._show()
        if changed:
            self.edited.emit(typed)

    def event(self, event: QEvent) -> bool:
        return False if leaves_undo(self, event) else super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.isModified():
            self._show()
            self.selectAll()
        else:
            super().keyPressEvent(event)

    def _show(self) -> None:
        self.setText(" ".join(self.words.split()))
        self.setModified(False)
        self.setCursorPosition(0)


def _strip_controls(text: str) -> str:
    """Return a text on one line without control and direction-changing characters."""
    return "".join(character for character in " ".join(text.split()) if character.isprintable())


#: Design lengths.
_BAR: Final = 4.0
_ROW_GAP: Final = 7.0
_PAD: Final = 16.0
_ODDS: Final = 360.0
_BESIDE: Final = 620.0


class OddsBars(PaintedWidget):
    """A line per candidate over a bar of its odds: deployment, figure by the objective, odds."""

    accessible_role = AccessibleRole.StaticText

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.lines: tuple[SheetCandidate, ...] = ()
        self._columns: tuple[AcceleratorColumn, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        theme.follow(self._dress)

    def show_odds(self, evaluated: EvaluatedAnswer) -> None:
        self.lines = list_candidate_lines(evaluated.decision, evaluated.names, evaluated.formatter)
        self._columns = tuple(evaluated.column(each.key) for each in self.lines)
        description = "; ".join(f"{each.deployment}, {each.full_value}, {each.odds_text}" for each in self.lines)
        self.setAccessibleName(tr("Odds: {odds}", odds=description))
        self.setToolTip(description)
        self.setVisible(bool(self.lines))
        self._dress()

    def _measure_row(self) -> int:
        return self._theme.line("small") + self._theme.px(_BAR + _ROW_GAP)

    def _dress(self) -> None:
        self.setFixedHeight(max(1, len(self.lines)) * self._measure_row())
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(self._theme.px(_ODDS), self.height())

    def paint(self, pen: ThemePainter) -> None:
        theme = self._theme
        line, width = theme.line("small"), float(self.width())
        for number, (each, column) in enumerate(zip(self.lines, self._columns, strict=True)):
            y = float(number * self._measure_row())
            x = pen.swatch(0.0, y + line / 2, column.palette_index, is_variant=column.is_variant) + theme.px(6)
            odds = pen.width(each.odds_text, "small_strong")
            pen.text(QRectF(0, y, width, line), each.odds_text, font="small_strong", align=RIGHT)
            value = pen.width(each.value, "small")
            right = width - max(odds, theme.px(44)) - theme.px(8)
            pen.text(QRectF(0, y, right, line), each.value, font="small", color="text2", align=RIGHT)
            name = QRectF(x, y, max(1.0, right - value - theme.px(8) - x), line)
            pen.text(name, each.deployment, font="small", color=theme.name_color(column.palette_index))
            bar = QRectF(0, y + line + 1, width, theme.px(_BAR))
            pen.tint(bar, "sunken", radius=2)
            bar.setWidth(max(2.0, each.odds * width))
            pen.tint(bar, theme.mark_color(column.palette_index), radius=2)


def find_leaders(evaluated: EvaluatedAnswer) -> tuple[AcceleratorColumn, ...]:
    """Return the recommended column; empty without one."""
    first = find_leading_column(evaluated.decision)
    return () if first is None else (evaluated.column(first),)


class VerdictBlock(PaintedWidget):
    """The recommendation with reasons at the left, the odds of each at the right, or below in a narrow window."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.swatches = Swatches(theme, self)
        self.title = ThemedLabel(theme, font="verdict", wrap=True, parent=self, selectable=True)
        self.reason = ThemedLabel(theme, color="text2", wrap=True, parent=self, selectable=True)
        self.terms = ThemedLabel(theme, font="small", color="text2", wrap=True, parent=self, selectable=True)
        self.odds_title = ThemedLabel(theme, font="caption_strong", color="text2", parent=self)
        self.bars = OddsBars(theme, self)
        caption = ThemedLabel(theme, tr("Recommendation"), font="caption_strong", color="text2", parent=self)
        line = make_row((self.swatches, 0, Qt.AlignmentFlag.AlignTop), (self.title, 1), gap=theme.px(8))
        text_column = make_column(caption, line, self.reason, self.terms, STRETCH, gap=theme.px(4))
        self._odds = QWidget(self)
        make_column(self.odds_title, self.bars, STRETCH, gap=theme.px(6), on=self._odds)
        self._row = make_row((text_column, 1), self._odds, on=self)
        theme.follow(self._dress)

    def show_verdict(self, evaluated: EvaluatedAnswer) -> None:
        decision, names = evaluated.decision, evaluated.names
        self.swatches.show_columns(find_leaders(evaluated))
        self.title.setText(format_verdict(decision, names, evaluated.formatter))
        self.reason.show_text(describe_verdict_reason(decision, names, evaluated.formatter))
        self.terms.show_text(describe_verdict_terms(decision, names, evaluated.formatter))
        self.odds_title.setText(label_odds(decision.objective))
        self.bars.show_odds(evaluated)
        is_contest = bool(self.bars.lines)
        self._odds.setVisible(is_contest)
        labels = (self.title.text(), self.reason.text(), self.terms.text())
        parts = (*labels, self.bars.accessibleName() if is_contest else "")
        self.setAccessibleName(". ".join(part.rstrip(".") for part in parts if part))
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        beside = self.width() >= self._theme.px(_BESIDE)
        if beside != (self._row.direction() == QBoxLayout.Direction.LeftToRight):
            set_beside(self._row, beside)
            self._dress()

    def _dress(self) -> None:
        px = self._theme.px
        beside = self._row.direction() == QBoxLayout.Direction.LeftToRight
        self._row.setContentsMargins(px(_PAD), px(12), px(_PAD), px(12))
        self._row.setSpacing(px(32) if beside else px(12))
        self._odds.setMinimumWidth(px(_ODDS) if beside else 0)
        self._odds.setMaximumWidth(px(_ODDS) if beside else 16_777_215)
        self.update()

    def paint(self, pen: ThemePainter) -> None:
        pen.frame(QRectF(self.rect()), "hair", radius=8.0, fill="chrome")
        if self._odds.isVisible() and self._row.direction() == QBoxLayout.Direction.LeftToRight:
            x = self._odds.x() - self._theme.px(16)
            pen.hairline(x, self._theme.px(14), x, self.height() - self._theme.px(14))
