"""The frame of a page: its head with the choice of views, and the placeholder for missing content."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QResizeEvent
from PySide6.QtWidgets import QPushButton, QSizePolicy, QStackedLayout, QVBoxLayout, QWidget

from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import PaintedWidget, ThemePainter, break_words
from gpudesk.desktop.ui.widgets.buttons import Button, SegmentedControl
from gpudesk.desktop.ui.widgets.layouts import STRETCH, ThemedLabel, make_column, make_row
from gpudesk.text.messages import capitalize_first
from gpudesk.text.translation import tr

_GAP = 18
_MARGIN = 16
_SPACING = 8
_TITLE_HEIGHT = 30
#: Position of the view choice in the upper line: after the title and the gap.
_PLACE = 2


class PageHeader(QWidget):
    """Controls of a page, the copy button last; the page connects them."""

    def __init__(
        self,
        theme: Theme,
        title: str,
        views: Sequence[tuple[str, str]],
        controls: Sequence[QWidget] = (),
        *,
        with_copy: bool = True,
    ) -> None:
        """Offer views as (key, text), with `controls` at the right, and a copy button."""
        super().__init__()
        self._theme = theme
        self._wrapped: bool | None = None
        self._button_texts: dict[QPushButton, Sequence[str]] = {}
        self.segment = SegmentedControl(theme, tr("View"), views)
        self.copy = Button(theme, tr("Copy"), icon="copy", parent=self)
        self.copy.setVisible(with_copy)
        self._fixed = (ThemedLabel(theme, title, font="page"), *controls, *((self.copy,) if with_copy else ()))
        self._upper = make_row(self._fixed[0], _GAP, STRETCH, *self._fixed[1:])
        self._lower = make_row(STRETCH)
        self._whole = make_column(gap=4, on=self)
        for row in (self._upper, self._lower):
            row.setSpacing(_SPACING)
            self._whole.addLayout(row)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        theme.follow(self._dress)

    def add_below(self, widget: QWidget) -> None:
        self._lower.addWidget(widget)

    def keep_room(self, button: QPushButton, texts: Sequence[str]) -> None:
        """Reserve the width of a button's longest text, even if it has another one or is hidden."""
        self._button_texts[button] = texts
        self.arrange()

    def _measure_part(self, part: QWidget) -> int:
        """Return the reserved or actual width of a part of the upper line."""
        hint = part.sizeHint().width()
        if isinstance(part, QPushButton) and part in self._button_texts:
            letters = part.fontMetrics()
            longest = max(letters.horizontalAdvance(text) for text in self._button_texts[part])
            return hint + longest - letters.horizontalAdvance(part.text())
        return 0 if part.isHidden() else hint

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.arrange()

    def sizeHint(self) -> QSize:
        return QSize(200, super().sizeHint().height())

    def _dress(self) -> None:
        px = self._theme.px
        self._whole.setContentsMargins(0, px(9), 0, px(5))
        for row in (self._upper, self._lower):
            row.setContentsMargins(px(_MARGIN), 0, px(_MARGIN), 0)
        # So that titles are at the same height on all pages, with and without buttons.
        self._fixed[0].setMinimumHeight(px(_TITLE_HEIGHT))
        self._wrapped = None
        self.arrange()

    def arrange(self) -> None:
        """Move the view choice where it fits, also after text changes."""
        views = self.segment.measure_one_line_width()
        needed = sum(map(self._measure_part, self._fixed)) + views
        wrapped = needed + _GAP + 2 * self._theme.px(_MARGIN) + (len(self._fixed) + 2) * _SPACING > self.width()
        self.segment.set_lines(2 if wrapped and views + 2 * self._theme.px(_MARGIN) + _SPACING > self.width() else 1)
        if wrapped == self._wrapped:
            return
        self._wrapped = wrapped
        for row in (self._upper, self._lower):
            row.removeWidget(self.segment)
        if wrapped:
            self._lower.insertWidget(0, self.segment)
        else:
            self._upper.insertWidget(_PLACE, self.segment)
        self.updateGeometry()


class CentralNote(QWidget):
    """A title and a sentence in the middle, with a button below them."""

    #: The button was pressed.
    pressed = Signal()

    def __init__(self, theme: Theme, title_font: str, font: str, gap: float, kind: str = "plain") -> None:
        super().__init__()
        self.title = ThemedLabel(theme, font=title_font, wrap=True)
        self.words = ThemedLabel(theme, font=font, color="text2", wrap=True)
        self.button = Button(theme, "", self.pressed, kind=kind)
        column = QVBoxLayout(self)
        column.addStretch(2)
        for label in (self.title, self.words):
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            column.addWidget(label)
        column.addSpacing(theme.px(gap))
        column.addLayout(make_row(STRETCH, self.button, STRETCH))
        column.addStretch(3)

    def show_note(self, title: str, words: str, button: str) -> None:
        """Show a note; an empty `button` hides the button."""
        self.title.setText(title)
        self.words.show_text(words)
        self.button.setText(button)
        self.button.setVisible(bool(button))
        self.setAccessibleName(f"{title}. {words}" if words else title)


class ProblemNote(PaintedWidget):
    """One sentence on a sunken background: why the content does not show the current scenario."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self.text = ""
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.hide()
        theme.changed.connect(self._measure)

    def show_text(self, text: str) -> None:
        """Show a sentence; an empty text hides the note."""
        if text != self.text:
            self.text = text
            self.setAccessibleName(text)
            self._measure()
        self.setVisible(bool(text))

    def _measure(self) -> None:
        lines = max(1, len(self._wrap_text(self.width() or 600)))
        self.setFixedHeight(lines * self._theme.line("small") + self._theme.px(16 + 8))
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._measure()

    def sizeHint(self) -> QSize:
        return QSize(200, self.height())

    def _wrap_text(self, width: int) -> list[str]:
        metrics = QFontMetricsF(self._theme.font("small"))
        room = width - self._theme.px(16 + 16 + 12 + 26)
        return break_words(self.text, room, metrics)

    def paint(self, pen: ThemePainter) -> None:
        theme = self._theme
        margin, line = theme.px(16), theme.line("small")
        ground = QRectF(self.rect()).adjusted(margin, 0, -margin, -theme.px(8))
        pen.tint(ground, "unfit_tint", radius=8)
        x, top = ground.left() + theme.px(12), ground.top() + theme.px(8)
        pen.icon("circle-alert", x, top + (line - theme.px(15)) / 2, theme.px(15), "unfit")
        for number, words in enumerate(self._wrap_text(self.width())):
            row = QRectF(x + theme.px(24), top + number * line, ground.right() - x, line)
            pen.text(row, words, font="small")


_CONTENT, _MISSING, _NOTHING = range(3)


class AnswerStack(QWidget):
    """Shows the content, or the missing input, below a note if the last edit cannot be answered."""

    #: The missing input to fill in: `model` or `accelerators`.
    wanted = Signal(str)

    def __init__(self, theme: Theme, content: QWidget) -> None:
        super().__init__()
        self.note = ProblemNote(theme)
        self._input = ""
        self.missing = CentralNote(theme, "verdict", "body", 12, kind="primary")
        self.missing.pressed.connect(lambda: self.wanted.emit(self._input))
        self._stack = QStackedLayout()
        whole = make_column(self.note, gap=0, on=self)
        # Added to the page first: a stack without a parent shows its widgets as windows.
        whole.addLayout(self._stack, 1)
        for widget in (content, self.missing, QWidget()):
            self._stack.addWidget(widget)
        self._stack.setCurrentIndex(_NOTHING)

    @property
    def usable(self) -> bool:
        return self._stack.currentIndex() == _CONTENT

    def show_state(self, problem: str, missing: str | None, *, answered: bool) -> bool:
        """Show problems and missing inputs; return whether there is an answer to show."""
        self.note.show_text(capitalize_first(problem))
        if missing is not None:
            self._input = missing
            self.missing.show_note(*_describe_missing(missing))
            self._stack.setCurrentIndex(_MISSING)
        else:
            self._stack.setCurrentIndex(_CONTENT if answered else _NOTHING)
        return self.usable


def _describe_missing(missing: str) -> tuple[str, str, str]:
    """Return title, words and button of the note on a missing input."""
    if missing == "model":
        words = tr("A comparison shows one model on several accelerators")
        return tr("No model selected"), words, tr("Choose a model")
    return tr("No accelerator selected"), tr("Add up to six. The first is the baseline."), tr("Add an accelerator")
