"""One row of the bar chart: a column's name, its bar, and the verdict with the ways out as links."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, Qt, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QFontMetricsF,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QToolTip, QWidget

from gpudesk.desktop.pages.memory.bar_painter import paint_bar, paint_ring
from gpudesk.desktop.pages.memory.bars import (
    MemoryBar,
    Part,
    PartKind,
    remedy_sentence,
    remedy_text,
)
from gpudesk.desktop.pages.memory.measures import BAR, BAR_TOP, GLYPH, LINE_APART, LINK_GAP, Measures
from gpudesk.desktop.theme.pen import Pen
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.buttons import LinkButton
from gpudesk.desktop.widgets.roles import Role
from gpudesk.domain.formatting import Formatter

_Key = Qt.Key
_ARROWS = (_Key.Key_Left, _Key.Key_Right, _Key.Key_Home, _Key.Key_End)

#: A place in a row: the bar as a whole, one of its parts, or the verdict.
WHOLE = "whole"
VERDICT = "verdict"


class BarRow(QWidget):
    """Arrow keys walk along the places of the row and, through `left_for`, from row to row."""

    accessible_role = Role.ListItem

    #: A place was chosen by the user.
    chosen = Signal(str)
    #: Up or down was pressed: by how many rows.
    left_for = Signal(int)
    #: The user takes a way out.
    remedied = Signal(object)

    def __init__(self, theme: Theme, formatter: Formatter, bar: MemoryBar, parent: QWidget) -> None:
        """Show a bar."""
        super().__init__(parent)
        self._theme = theme
        self._formatter = formatter
        self._measures: Measures | None = None
        self._links: list[LinkButton] = []
        self._selected = False
        self.bar = bar
        self.place = WHOLE
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._offer_links()

    def focus_rect(self) -> QRect | None:
        """Show the focus by itself, around the place that is current."""
        return None

    # What is shown

    def show_bar(self, bar: MemoryBar, measures: Measures, *, selected: bool, quiet: bool) -> None:
        """Show another state; `quiet` leaves what is read out as it was."""
        changed = (bar, measures, selected) != (self.bar, self._measures, self._selected)
        self.bar, self._measures, self._selected = bar, measures, selected
        if self.place not in self.places():
            self.place = WHOLE
        if changed:
            self._offer_links()
            self._place_links()
            self.update()
        if not quiet:
            self.setAccessibleName(bar.sentence)
            self.setAccessibleDescription(self.sentence_of(self.place))

    def set_place(self, place: str) -> None:
        """Make a place current."""
        self.place = place if place in self.places() else WHOLE
        self.setAccessibleDescription(self.sentence_of(self.place))
        self.update()

    def places(self) -> Sequence[str]:
        """Return the places of the row from left to right."""
        return (WHOLE, *(part.kind.value for part in self.bar.parts), VERDICT)

    def sentence_of(self, place: str) -> str:
        """Return what is to be said about a place; nothing about the whole, which the name says."""
        if place == VERDICT:
            return " ".join(each for each in (f"{self.bar.headline}.", self.bar.reason) if each)
        part = self._part(place)
        return "" if part is None else part.sentence

    def _part(self, place: str) -> Part | None:
        return next((part for part in self.bar.parts if part.kind.value == place), None)

    # The ways out

    @property
    def links(self) -> list[LinkButton]:
        """The links that are offered."""
        return self._links[: len(self.bar.remedies)]

    def _offer_links(self) -> None:
        """Offer the bar's ways out; buttons that are there are used again."""
        while len(self._links) < len(self.bar.remedies):
            number = len(self._links)
            link = LinkButton(self._theme, "", parent=self)
            link.clicked.connect(lambda _=False, number=number: self._take(number))
            self._links.append(link)
        for link, remedy in zip(self.links, self.bar.remedies, strict=True):
            said = remedy_sentence(remedy, self.bar, self._formatter)
            link.setText(remedy_text(remedy, self._formatter))
            link.setAccessibleName(said)
            link.setToolTip(said)
        for number, link in enumerate(self._links):
            link.setVisible(number < len(self.bar.remedies))

    def _take(self, number: int) -> None:
        self.remedied.emit(self.bar.remedies[number])

    def _place_links(self) -> None:
        if self._measures is None or not self.links:
            return
        theme, small = self._theme, QFontMetricsF(self._theme.font("small"))
        x = self._measures.verdict + theme.length(GLYPH) + small.horizontalAdvance(self.bar.detail)
        middle = self._bar_rect().center().y() + theme.length(LINE_APART) / 2
        for link in self.links:
            x += theme.length(LINK_GAP)
            width, height = round(small.horizontalAdvance(link.text())) + 2, theme.px(LINE_APART)
            link.setGeometry(round(x), round(middle - height / 2), width, height)
            x += width

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Put the links where the verdict ends."""
        super().resizeEvent(event)
        self._place_links()

    # Painting

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, ARG002 - Qt's name
        """Draw the row, and a ring around the place that is selected or has the focus."""
        if self._measures is None:
            return
        painter = QPainter(self)
        try:
            pen = Pen(painter, self._theme)
            paint_bar(pen, self.bar, self._measures)
            if self._selected or self.hasFocus():
                paint_ring(pen, self.rect_of(self.place))
        finally:
            painter.end()

    def _bar_rect(self) -> QRectF:
        theme = self._theme
        if self._measures is None:
            return QRectF()
        at, end = self._measures.left, self._measures.x(self.bar.extent)
        return QRectF(at, round(theme.length(BAR_TOP)), end - at, round(theme.length(BAR)))

    def rect_of(self, place: str) -> QRectF:
        """Return where a place lies."""
        rect = self._bar_rect()
        at, part = self._measures, self._part(place)
        if at is None:
            return rect
        if place == VERDICT:
            return QRectF(at.verdict - 2, rect.top() - 6, self.width() - at.verdict + 1, rect.height() + 12)
        if part is not None:
            rect.setLeft(at.x(part.start))
            rect.setRight(at.x(part.end))
        return rect

    def place_at(self, position: QPointF) -> str:
        """Return the place under a point: the part that is seen there, the verdict, or the whole."""
        at = self._measures
        if at is None:
            return WHOLE
        if position.x() >= at.verdict:
            return VERDICT
        # What is short lies over the parts that it is made of.
        found = [part.kind for part in self.bar.parts if at.x(part.start) <= position.x() < at.x(part.end)]
        inside = self._bar_rect().adjusted(0, -6, 0, 6).contains(position)
        if not found or not inside:
            return WHOLE
        return PartKind.SHORT.value if PartKind.SHORT in found else found[0].value

    # Mouse and keyboard

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Choose what is under the mouse."""
        if event.button() is Qt.MouseButton.LeftButton:
            self._choose(self.place_at(event.position()))

    def _choose(self, place: str) -> None:
        self.set_place(place)
        self.chosen.emit(self.place)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Walk along the places, to another row, or choose the place that is current."""
        key = _Key(event.key())
        if key in (_Key.Key_Up, _Key.Key_Down):
            self.left_for.emit(1 if key is _Key.Key_Down else -1)
        elif key in _ARROWS:
            places = self.places()
            last, at = len(places) - 1, places.index(self.place)
            target = {_Key.Key_Left: at - 1, _Key.Key_Right: at + 1, _Key.Key_Home: 0, _Key.Key_End: last}[
                key
            ]
            self._choose(places[min(max(target, 0), last)])
        elif key in (_Key.Key_Return, _Key.Key_Enter, _Key.Key_Space):
            self._choose(self.place)
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802 - Qt's name
        """Show the ring."""
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:  # noqa: N802 - Qt's name
        """Take the ring away."""
        super().focusOutEvent(event)
        self.update()

    def event(self, event: QEvent) -> bool:
        """Answer with the sentence of what is under the mouse."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            place = self.place_at(QPointF(event.pos()))
            text = self.bar.sentence if place == WHOLE else self.sentence_of(place)
            QToolTip.showText(event.globalPos(), text, self)
            return True
        return super().event(event)
