"""Base class and shared widgets of the decision views: marks, swatches, paragraphs, lists of reasons, notes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QGridLayout, QLineEdit, QSizePolicy, QWidget

from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.evaluated_answer import AcceleratorColumn, EvaluatedAnswer
from gpudesk.desktop.ui.theme.glyphs import GLYPHS
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import SWATCH_WIDTH, ThemePainter, break_words
from gpudesk.desktop.ui.widgets.labels import ThemedLabel
from gpudesk.desktop.ui.widgets.layouts import STRETCH, make_column, make_row, set_beside
from gpudesk.desktop.ui.widgets.qt_support import AccessibleRole, leaves_undo
from gpudesk.domain.decision import DecisionVerdict
from gpudesk.report.decision.verdict import (
    describe_robustness,
    describe_verdict_reason,
    find_leading_column,
    format_verdict,
)
from gpudesk.text.formatting import Formatter
from gpudesk.text.translation import tr


class DecideView(QWidget):
    """One view of a decision; it edits the scenario through the desk, and selects for the panel there."""

    #: The key of another view that is to be shown: `questions`, `result` and so on.
    view_requested = Signal(str)
    #: The sheet is to be shown before it is printed.
    sheet_requested = Signal()

    #: Whether the page puts the view in a scroll area of its own.
    scrolls = True

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.desk = desk
        self.theme = theme

    def show_decision(self, found: EvaluatedAnswer) -> None:
        """Show a decision; called whenever there is another one, while the view is visible."""
        raise NotImplementedError

    def copied(self) -> str:
        """Return what is copied of the view as text; empty where there is nothing."""
        return ""

    def focus_first(self) -> None:
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.fillRect(event.rect(), self.theme.colour("page"))


_SIDE: Final = 14.0
_GAP: Final = 6.0


class MarkIcon(QWidget):
    """An icon or a glyph in a colour, as high as a line of small text."""

    def __init__(self, theme: Theme, name: str, colour: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._name, self._colour = theme, name, colour
        theme.follow(self._dress)

    def _dress(self) -> None:
        self.setFixedSize(self._theme.px(_SIDE), self._theme.line("small"))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's name
        with QPainter(self) as painter:
            pen, middle = ThemePainter(painter, self._theme), self.height() / 2
            if self._name in GLYPHS:
                pen.glyph(self._name, self.width() / 2, middle, self._colour)
            else:
                pen.icon(self._name, 0, middle - self.width() / 2, self.width(), self._colour)


class Swatches(QWidget):
    """The keys of accelerators side by side, in the middle of a line; the mark of a fault without any."""

    def __init__(self, theme: Theme, parent: QWidget | None = None, *, line: str = "verdict") -> None:
        """Begin without any; `line` is the font token of the text that they stand before."""
        super().__init__(parent)
        self._theme, self._line = theme, line
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

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's name
        with QPainter(self) as painter:
            pen, middle, x = ThemePainter(painter, self._theme), self.height() / 2, 0.0
            if not self._columns:
                pen.glyph("unfit", self.width() / 2, middle)
            for column in self._columns:
                pen.swatch(x, middle, column.palette_index, is_variant=column.is_variant)
                x += self._theme.px(SWATCH_WIDTH) + self._theme.px(_GAP)


class ElidedParagraph(QWidget):
    """A text on so many lines at most; the last one is cut where there are more, and then whole in a tip."""

    accessible_role = AccessibleRole.StaticText

    def __init__(
        self, theme: Theme, *, font: str = "body", colour: str = "text2", most: int = 2, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._theme, self._font, self._colour, self._most = theme, font, colour, most
        self._text = ""
        self._lines: list[str] = []
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        theme.follow(self._measure)

    @property
    def text(self) -> str:
        return self._text

    @property
    def lines(self) -> tuple[str, ...]:
        return tuple(self._lines)

    def set_text(self, text: str) -> None:
        if text != self._text:
            self._text = text
            self.setAccessibleName(text)
            self._measure()

    def sizeHint(self) -> QSize:
        return QSize(self._theme.px(240), self.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._measure()

    def _measure(self) -> None:
        metrics = QFontMetricsF(self._theme.font(self._font))
        room = max(1, self.width())
        lines = break_words(self._text.split(), room, metrics)
        cut = len(lines) > self._most
        if cut:
            rest = " ".join(lines[self._most - 1 :])
            lines = lines[: self._most - 1]
            lines.append(metrics.elidedText(rest, Qt.TextElideMode.ElideRight, room))
        self._lines = lines
        self.setToolTip(self._text if cut else "")
        self.setFixedHeight(max(1, len(lines)) * self._theme.line(self._font))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's name
        with QPainter(self) as painter:
            pen, high = ThemePainter(painter, self._theme), self._theme.line(self._font)
            for number, line in enumerate(self._lines):
                row = QRectF(0, number * high, self.width(), high)
                pen.text(row, line, font=self._font, colour=self._colour)


class MarkedLine(NamedTuple):
    """One line of a list: an icon or a glyph, its colour, and what is said."""

    mark: str
    colour: str
    text: str


class MarkedList(QWidget):
    """Lines, each behind its mark, under a title if there is one; hidden where there are none."""

    def __init__(self, theme: Theme, title: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._said: tuple[MarkedLine, ...] = ()
        self.title = ThemedLabel(theme, font="section", parent=self)
        self._holder: QWidget | None = None
        self._column = make_column(self.title, STRETCH, gap=theme.px(4), on=self)
        self.set_title(title)
        self.hide()

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(each.text for each in self._said)

    def set_title(self, title: str) -> None:
        self.title.setText(title)
        self.title.setVisible(bool(title))
        self.setAccessibleName(title)

    def show_lines(self, said: Sequence[MarkedLine]) -> None:
        if tuple(said) != self._said:
            self._said = tuple(said)
            if self._holder is not None:
                self._holder.hide()
                self._holder.deleteLater()
            self._holder = self._made()
            self._column.insertWidget(1, self._holder)
        self.setVisible(bool(said))

    def _made(self) -> QWidget:
        holder = QWidget(self)
        grid = QGridLayout(holder)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(self._theme.px(6))
        grid.setVerticalSpacing(self._theme.px(3))
        grid.setColumnStretch(1, 1)
        for row, each in enumerate(self._said):
            grid.addWidget(MarkIcon(self._theme, each.mark, each.colour, holder), row, 0, Qt.AlignmentFlag.AlignTop)
            text = ThemedLabel(self._theme, each.text, font="small", colour="text1", wrap=True, parent=holder)
            text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            grid.addWidget(text, row, 1)
        return holder


class NoteEdit(QLineEdit):
    """Esc brings back the words in force; what steers a screen is left out of them."""

    #: The words that the user gave, on one line.
    edited = Signal(str)

    def __init__(
        self, theme: Theme, name: str, longest: int, *, empty: str = "", parent: QWidget | None = None
    ) -> None:
        """Begin empty; `name` says what the words are, `empty` is shown as long as there are none."""
        super().__init__(parent)
        self._theme = theme
        self._words = ""
        self.setAccessibleName(name)
        self.setMaxLength(longest)
        self.setPlaceholderText(empty)
        self.editingFinished.connect(self.commit)

    @property
    def words(self) -> str:
        return self._words

    def show_words(self, words: str) -> None:
        """Show words as those in force; what is being typed stays while they are the same."""
        if words == self._words and self.isModified():
            return
        self._words = words
        self._show()

    def commit(self) -> None:
        if not self.isModified():
            return
        typed = _strip_controls(self.text())
        changed = typed != self._words
        self._words = typed
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
        self.setText(" ".join(self._words.split()))
        self.setModified(False)
        self.setCursorPosition(0)


def _strip_controls(text: str) -> str:
    """Return a text on one line without what is not printed: controls, and what turns its direction."""
    return "".join(character for character in " ".join(text.split()) if character.isprintable())


#: Lengths of the design.
_BAR: Final = 10.0
_PAD: Final = 16.0
_FIRM: Final = 260.0
_BESIDE: Final = 620.0
_LEAST_SHARE: Final = 0.005


class WinShare(NamedTuple):
    """What leads in a share of the draws; without a column the draws in which nothing is left."""

    column: AcceleratorColumn | None
    share: float

    @property
    def name(self) -> str:
        return tr("none left") if self.column is None else self.column.name


class WinShareBar(QWidget):
    """A bar of the shares of draws in the colours of their accelerators, names and numbers below."""

    accessible_role = AccessibleRole.StaticText

    def __init__(self, theme: Theme, formatter: Formatter, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._formatter = theme, formatter
        self.shares: tuple[WinShare, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        theme.follow(self._dress)

    def show_shares(self, shares: tuple[WinShare, ...]) -> None:
        """Show shares of 1, the first at the left."""
        self.shares = shares
        said = ", ".join(self.text_of(each) for each in shares)
        self.setAccessibleName(tr("Of 100 draws: {shares}", shares=said))
        self.setToolTip(said)
        self.update()

    def text_of(self, share: WinShare) -> str:
        """Return a name with its number of 100 draws."""
        return f"{share.name} {self._formatter.number(share.share * 100.0)}"

    def _dress(self) -> None:
        self.setFixedHeight(self._theme.px(_BAR + 4) + self._theme.line("caption"))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(self._theme.px(_FIRM), self.height())

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's name
        with QPainter(self) as painter:
            pen, theme = ThemePainter(painter, self._theme), self._theme
            high, below = theme.px(_BAR), theme.px(_BAR + 4)
            x, free = 0.0, 0.0
            for each in self.shares:
                width = each.share * self.width()
                part = QRectF(x, 0, max(2.0, width - 2), high)
                index = None if each.column is None else each.column.palette_index
                pen.tint(part, "strong" if index is None else theme.mark_color(index), radius=2)
                text = self.text_of(each)
                if x >= free and x + pen.width(text, "caption") <= self.width() + 1:
                    colour = theme.colour("text3") if index is None else theme.name_color(index)
                    place = QRectF(x, below, self.width() - x + 1, theme.line("caption"))
                    free = x + pen.text(place, text, font="caption", colour=colour) + theme.px(8)
                x += width


def list_win_shares(found: EvaluatedAnswer) -> tuple[WinShare, ...]:
    """Return in which shares of the draws each column leads, the most first, and nothing is left."""
    shares = [
        WinShare(found.column(each.key), each.odds) for each in found.decision.candidates if each.odds >= _LEAST_SHARE
    ]
    shares.sort(key=lambda each: -each.share)
    none = 1.0 - sum(each.odds for each in found.decision.candidates)
    if none >= _LEAST_SHARE:
        shares.append(WinShare(None, none))
    return tuple(shares)


def find_leaders(found: EvaluatedAnswer) -> tuple[AcceleratorColumn, ...]:
    """Return the column that leads, and the next where there is no clear winner."""
    decision = found.decision
    first = find_leading_column(decision)
    keys = (first, decision.runner_up if decision.verdict is DecisionVerdict.OPEN else None)
    return tuple(found.column(key) for key in keys if key is not None)


class VerdictBlock(QWidget):
    """What is recommended and why at the left, how firm it is at the right, or below where room is short."""

    def __init__(self, theme: Theme, formatter: Formatter, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.swatches = Swatches(theme, self)
        self.title = ThemedLabel(theme, font="verdict", wrap=True, parent=self)
        self.title.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.reason = ElidedParagraph(theme, parent=self)
        self.firmness = ThemedLabel(theme, font="section", wrap=True, parent=self)
        self.bar = WinShareBar(theme, formatter, self)
        captions = [
            ThemedLabel(theme, words, font="caption_strong", colour="text2", parent=self)
            for words in (tr("Recommendation"), tr("How firm"))
        ]
        line = make_row((self.swatches, 0, Qt.AlignmentFlag.AlignTop), (self.title, 1), gap=theme.px(8))
        left = make_column(captions[0], line, self.reason, STRETCH, gap=theme.px(4))
        self._firm = QWidget(self)
        make_column(captions[1], self.firmness, self.bar, STRETCH, gap=theme.px(4), on=self._firm)
        self._row = make_row((left, 1), self._firm, on=self)
        theme.follow(self._dress)

    def show_verdict(self, found: EvaluatedAnswer) -> None:
        decision, names = found.decision, found.names
        self.swatches.show_columns(find_leaders(found))
        self.title.setText(format_verdict(decision, names, found.formatter))
        self.reason.set_text(describe_verdict_reason(decision, names, found.formatter))
        self.firmness.setText(describe_robustness(decision, names, found.formatter))
        self.bar.show_shares(list_win_shares(found))
        self.bar.setVisible(decision.verdict is not DecisionVerdict.NONE_FITS)
        parts = (self.title.text(), self.reason.text, self.firmness.text())
        self.setAccessibleName(". ".join(part.rstrip(".") for part in parts if part))

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
        self._firm.setMinimumWidth(px(_FIRM) if beside else 0)
        self._firm.setMaximumWidth(px(_FIRM) if beside else 16_777_215)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's name
        with QPainter(self) as painter:
            pen = ThemePainter(painter, self._theme)
            pen.frame(QRectF(self.rect()), "hair", radius=8.0, fill="chrome")
            if self._row.direction() == QBoxLayout.Direction.LeftToRight:
                x = self._firm.x() - self._theme.px(16)
                pen.hairline(x, self._theme.px(14), x, self.height() - self._theme.px(14))
