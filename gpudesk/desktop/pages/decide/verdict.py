"""The verdict block: the recommended accelerator and how often it wins in the simulation."""

from __future__ import annotations

from typing import Final, NamedTuple

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from gpudesk.desktop.pages.decide.parts import ColumnStyle, ElidedParagraph, Swatches
from gpudesk.desktop.session.evaluated_answer import EvaluatedAnswer
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import ThemePainter
from gpudesk.desktop.ui.widgets.labels import ThemedLabel
from gpudesk.desktop.ui.widgets.layouts import make_row
from gpudesk.desktop.ui.widgets.qt_support import AccessibleRole
from gpudesk.domain.decision import DecisionVerdict
from gpudesk.report.decision.verdict import (
    describe_robustness,
    describe_verdict_reason,
    find_leading_column,
    format_verdict,
)
from gpudesk.text.formatting import Formatter
from gpudesk.text.translation import tr

#: Lengths of the design.
_BAR: Final = 10.0
_PAD: Final = 16.0
_FIRM: Final = 260.0
_BESIDE: Final = 620.0
_LEAST_SHARE: Final = 0.005


class WinShare(NamedTuple):
    """What leads in a share of the draws; without a key the draws in which nothing is left."""

    key: str
    name: str
    look: ColumnStyle
    share: float


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
                pen.tint(part, theme.mark_color(each.look.slot) if each.key else "strong", radius=2)
                text = self.text_of(each)
                if x >= free and x + pen.width(text, "caption") <= self.width() + 1:
                    colour = theme.name_color(each.look.slot) if each.key else theme.colour("text3")
                    place = QRectF(x, below, self.width() - x + 1, theme.line("caption"))
                    free = x + pen.text(place, text, font="caption", colour=colour) + theme.px(8)
                x += width


def list_win_shares(found: EvaluatedAnswer) -> tuple[WinShare, ...]:
    """Return in which shares of the draws each column leads, the most first, and nothing is left."""
    shares = [
        WinShare(
            each.key,
            found.names[each.key],
            ColumnStyle(found.palette_indexes[each.key], found.is_variant[each.key]),
            each.share,
        )
        for each in found.decision.standings
        if each.share >= _LEAST_SHARE
    ]
    shares.sort(key=lambda each: -each.share)
    none = 1.0 - sum(each.share for each in found.decision.standings)
    if none >= _LEAST_SHARE:
        shares.append(WinShare("", tr("none left"), ColumnStyle(0, False), none))
    return tuple(shares)


def find_leaders(found: EvaluatedAnswer) -> tuple[str, ...]:
    """Return the key of the column that leads, and of the next where there is no clear winner."""
    decision = found.decision
    first = find_leading_column(decision)
    keys = (first, decision.runner_up if decision.verdict is DecisionVerdict.OPEN else None)
    return tuple(key for key in keys if key is not None)


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
        line = make_row((self.swatches, 0, Qt.AlignmentFlag.AlignTop), (self.title, 1), gap=theme.px(8))
        left, right = QVBoxLayout(), QVBoxLayout()
        for column, words in ((left, tr("Recommendation")), (right, tr("How firm"))):
            column.setSpacing(theme.px(4))
            column.addWidget(ThemedLabel(theme, words, font="caption_strong", colour="text2", parent=self))
        left.addLayout(line)
        left.addWidget(self.reason)
        left.addStretch(1)
        self._firm = QWidget(self)
        self._firm.setLayout(right)
        right.setContentsMargins(0, 0, 0, 0)
        right.addWidget(self.firmness)
        right.addWidget(self.bar)
        right.addStretch(1)
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._row.addLayout(left, 1)
        self._row.addWidget(self._firm)
        theme.follow(self._dress)

    def show_verdict(self, found: EvaluatedAnswer) -> None:
        decision, names = found.decision, found.names
        keys = find_leaders(found)
        self.swatches.show_looks([ColumnStyle(found.palette_indexes[key], found.is_variant[key]) for key in keys])
        self.title.setText(format_verdict(decision, names, found.formatter))
        self.reason.set_text(describe_verdict_reason(decision, names, found.formatter))
        self.firmness.setText(describe_robustness(decision, names))
        self.bar.show_shares(list_win_shares(found))
        self.bar.setVisible(decision.verdict is not DecisionVerdict.NONE_FITS)
        parts = (self.title.text(), self.reason.text, self.firmness.text())
        self.setAccessibleName(". ".join(part.rstrip(".") for part in parts if part))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        beside = self.width() >= self._theme.px(_BESIDE)
        way = QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom
        if self._row.direction() != way:
            self._row.setDirection(way)
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
