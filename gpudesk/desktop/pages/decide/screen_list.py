"""The list of steps: the next question, and the screens of all questions with their answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import PaintedButton, PaintedWidget, ThemePainter
from gpudesk.desktop.ui.widgets.layouts import FullWidthScrollArea, ThemedLabel, make_column
from gpudesk.desktop.ui.widgets.qt_support import ArrowKeyGroup
from gpudesk.domain.decision import DialogueScreen
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.report.decision.questions import label_question_group
from gpudesk.text.translation import tr

WIDTH: Final = 246.0
_ROW, _PITCH = 40.0, 44.0
_MARK_X, _TEXT_X = 8.0, 30.0
_CHECK: Final = 15.0
_ABOVE: Final = 8.0
_BAR, _BAR_INSET = 3.0, 9.0
_PROGRESS: Final = 4.0


@frozen_dataclass
class ScreenEntry:
    """A screen's first question, its answer, and whether the user answered any question of the screen."""

    screen: DialogueScreen | None
    title: str
    answer: str
    is_answered: bool


class _ScreenButton(PaintedButton):
    """One screen: its number, or a check once answered, the question and the answer.

    Without a number it is the question to answer next.
    """

    def __init__(self, theme: Theme, screen: DialogueScreen | None = None, number: int = 0) -> None:
        super().__init__(theme)
        self._number = number
        self.step = ScreenEntry(screen, "", "", is_answered=False)
        self.setCheckable(True)
        # Screen readers then treat it as one of several.
        self.setAutoExclusive(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.updateGeometry)

    def show_step(self, step: ScreenEntry, *, current: bool) -> None:
        if (step, current) == (self.step, self.isChecked()):
            return
        self.step = step
        self.setChecked(current)
        state = tr("answered") if step.is_answered else ""
        numbered = () if step.screen is None else (str(self._number), step.screen.label)
        self.setAccessibleName(", ".join(part for part in (*numbered, step.title, step.answer, state) if part))
        self.setToolTip("" if step.screen is None else f"{step.screen.label}: {step.title}")
        self.update()

    def nextCheckState(self) -> None:
        """The dialogue decides which screen is shown."""

    def sizeHint(self) -> QSize:
        return QSize(self._theme.px(120), self._theme.px(_ROW))

    def paint(self, pen: ThemePainter) -> None:
        theme, px, current = self._theme, self._theme.px, self.isChecked()
        if current or self.isDown():
            pen.tint(QRectF(self.rect()), "selection", 6.0)
        elif self.underMouse():
            pen.tint(QRectF(self.rect()), "hover", 6.0)
        if current:
            inset = px(_BAR_INSET)
            pen.tint(QRectF(0, inset, _BAR, self.height() - 2 * inset), "selection_bar", 1.5)
        line, below = float(theme.line("small")), float(theme.line("caption"))
        top = (self.height() - line - below) / 2
        self._draw_mark(pen, top, line)
        x = px(_TEXT_X)
        room = self.width() - x - px(6)
        strong = current or self.step.is_answered
        title = QRectF(x, top, room, line)
        font, color = "label" if current else "small", "text1" if strong else "text2"
        # A screen has several questions: its short name covers all of them, and is never cut.
        name = self.step.title if self.step.screen is None else self.step.screen.label
        pen.text(title, name, font=font, color=color)
        quiet = "text2" if current else "text3"
        pen.text(QRectF(x, title.bottom(), room, below), self.step.answer, font="caption", color=quiet)

    def _draw_mark(self, pen: ThemePainter, top: float, line: float) -> None:
        px, current = self._theme.px, self.isChecked()
        checked = self.step.is_answered and not current
        if checked or not self._number:
            side = float(px(_CHECK))
            icon, color = ("check", "best_text") if checked else ("signpost", "text1" if current else "text3")
            pen.icon(icon, px(_MARK_X), top + (line - side) / 2, side, color)
            return
        place = QRectF(px(_MARK_X) + px(3), top, px(16), line)
        color = "text1" if current else "text3"
        pen.text(place, str(self._number), font="label" if current else "small", color=color)


class _ProgressBar(PaintedWidget):
    """The position of the screen, and a bar of the answered ones."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self._text, self._share = "", 0.0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.updateGeometry)

    def show_progress(self, text: str, share: float, progress_text: str) -> None:
        """Show a text and a share of 1."""
        if (text, share, progress_text) == (self._text, self._share, self.accessibleName()):
            return
        self._text, self._share = text, share
        self.setAccessibleName(progress_text)
        self.setToolTip(progress_text)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(self._theme.px(120), self._theme.line("label"))

    def paint(self, pen: ThemePainter) -> None:
        px = self._theme.px
        x, thick = px(_MARK_X), px(_PROGRESS)
        place = QRectF(x, 0, self.width() - x, self.height())
        left = x + pen.text(place, self._text, font="label") + px(14)
        bar = QRectF(left, (self.height() - thick) / 2, self.width() - left - px(8), thick)
        pen.tint(bar, "sunken", 2.0)
        if self._share > 0.0:
            pen.tint(bar.adjusted(0, 0, -bar.width() * (1.0 - self._share), 0), "text1", 2.0)


class ScreenList(PaintedWidget):
    """Lists the screens in their groups. ↑ ↓ Home End move the focus, Enter opens; a single tab stop."""

    #: The user wants to see a screen, or with None the question to answer next.
    chosen = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self.setAccessibleName(tr("Steps"))
        self.setProperty("readAsBlock", True)
        self.progress = _ProgressBar(theme)
        inner = QWidget()
        self._column = QVBoxLayout(inner)
        self._column.addWidget(self.progress)
        self.rows: list[_ScreenButton] = []
        self._keys = ArrowKeyGroup(self)
        self.next_row = _ScreenButton(theme)
        self.next_row.clicked.connect(lambda: self.chosen.emit(None))
        self._keys.add(self.next_row)
        self._column.addWidget(self.next_row)
        self._heads: list[ThemedLabel] = []
        group = None
        for number, screen in enumerate(DialogueScreen, start=1):
            if screen.strength is not group:
                group = screen.strength
                head = ThemedLabel(theme, label_question_group(group), font="caption_strong", color="text3")
                self._heads.append(head)
                self._column.addSpacing(theme.px(_ABOVE))
                self._column.addWidget(head)
            row = _ScreenButton(theme, screen, number)
            row.clicked.connect(lambda _on, screen=screen: self.chosen.emit(screen))
            self.rows.append(row)
            self._keys.add(row)
            self._column.addWidget(row)
        self._column.addStretch(1)
        scroll = FullWidthScrollArea()
        scroll.show_widget(inner)
        make_column(scroll, on=self)
        theme.follow(self._dress)

    def show_steps(
        self, steps: Sequence[ScreenEntry], current: DialogueScreen | None, answered: int, questions: int
    ) -> None:
        """Show the screens, the open one, and how many questions the user answered."""
        entry = ScreenEntry(None, tr("Next question"), tr("most important question"), is_answered=False)
        self.next_row.show_step(entry, current=current is None)
        for row, step in zip(self.rows, steps, strict=True):
            row.show_step(step, current=step.screen is current)
        if current is None:
            text = progress_text = tr("{n} of {total} answered", n=answered, total=questions)
            next_row = self.next_row
        else:
            place = list(DialogueScreen).index(current)
            text = tr("{n} of {total}", n=place + 1, total=len(steps))
            progress_text = tr("Step {n} of {total}, {done} answered", n=place + 1, total=len(steps), done=answered)
            next_row = self.rows[place]
        self.progress.show_progress(text, answered / questions, progress_text)
        self._keys.set_tab_stop(next_row)

    def focus_current(self) -> None:
        row = next((row for row in self.rows if row.isChecked()), self.next_row)
        row.setFocus(Qt.FocusReason.TabFocusReason)

    def _dress(self) -> None:
        px = self._theme.px
        self.setFixedWidth(px(WIDTH))
        self._column.setContentsMargins(px(8), px(14), px(9), px(10))
        self._column.setSpacing(px(_PITCH) - px(_ROW))
        for head in self._heads:
            head.setIndent(px(8))
        self.update()

    def paint(self, pen: ThemePainter) -> None:
        pen.hairline(self.width() - 1, 0, self.width() - 1, self.height())
