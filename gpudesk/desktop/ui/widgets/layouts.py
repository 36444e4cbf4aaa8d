"""Labels, rows and columns of widgets, a wrapping layout, a scroll area as wide as its content."""

from __future__ import annotations

from functools import partial
from typing import Final

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QPoint, QRect, QSize, Qt, QTimer
from PySide6.QtGui import QColor, QFontDatabase, QPalette, QResizeEvent
from PySide6.QtWidgets import (
    QApplication,
    QBoxLayout,
    QFrame,
    QLabel,
    QLayout,
    QLayoutItem,
    QPlainTextEdit,
    QScrollArea,
    QScrollBar,
    QSizePolicy,
    QWidget,
)
from shiboken6 import delete, invalidate, isValid

from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import PaintedWidget, ThemePainter
from gpudesk.text.formatting import bind_end, bind_units


class ThemedLabel(QLabel):
    """Plain text whose style token stays through switches of theme and text size.

    A wrapped text never breaks between a figure and its unit, and never has a single word in its last line.
    """

    def __init__(
        self,
        theme: Theme,
        text: str = "",
        *,
        font: str = "body",
        color: str = "text1",
        wrap: bool = False,
        selectable: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._token = font
        self._color = color
        self._text = ""
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(wrap)
        if selectable:
            self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.setText(text)
        theme.follow(self._dress)

    def text(self) -> str:
        return self._text

    def setText(self, text: str) -> None:
        self._text = text
        super().setText(bind_end(bind_units(text)) if self.wordWrap() else text)

    def show_text(self, text: str) -> None:
        """Show a text; an empty one hides the label."""
        self.setText(text)
        self.setVisible(bool(text))

    def set_color(self, color: str) -> None:
        if color != self._color:
            self._color = color
            self._dress()

    def changeEvent(self, event: QEvent) -> None:
        """Keep the color: a reapplied style sheet, as after reparenting, restores an old one."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange and (
            self.palette().color(QPalette.ColorRole.WindowText) != self._theme.color(self._color)
        ):
            self._dress()

    def _dress(self) -> None:
        self.setFont(self._theme.font(self._token))
        palette = self.palette()
        for group in (QPalette.ColorGroup.Active, QPalette.ColorGroup.Inactive):
            palette.setColor(group, QPalette.ColorRole.WindowText, self._theme.color(self._color))
        self.setPalette(palette)


class ElidedLabel(ThemedLabel):
    """A line that is cut if too long, and then shown in full in its tooltip."""

    def __init__(
        self, theme: Theme, parent: QWidget | None = None, *, cut: Qt.TextElideMode = Qt.TextElideMode.ElideRight
    ) -> None:
        """Start empty; `cut` is the side on which the text is cut."""
        self._whole = ""
        self._side = cut
        super().__init__(theme, font="small", color="text2", parent=parent)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)

    def set_whole(self, text: str) -> None:
        self._whole = text
        self.setAccessibleName(text)
        self._cut()

    def minimumSizeHint(self) -> QSize:
        return QSize(0, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._cut()

    def _dress(self) -> None:
        super()._dress()
        self._cut()

    def _cut(self) -> None:
        cut = self.fontMetrics().elidedText(self._whole, self._side, self.width())
        self.setText(cut)
        self.setToolTip(self._whole if cut != self._whole else "")


#: Size of fixed-width text, in design lengths.
_FIXED_WIDTH: Final = 12.0


class FixedWidthText(QPlainTextEdit):
    """Read-only lines in a fixed-width font, which can be selected with the mouse and the keyboard."""

    def __init__(self, theme: Theme, *, wraps: bool = False) -> None:
        super().__init__()
        self._theme = theme
        self.setReadOnly(True)
        self.setTabChangesFocus(True)
        if not wraps:
            self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        flags = Qt.TextInteractionFlag
        self.setTextInteractionFlags(flags.TextSelectableByMouse | flags.TextSelectableByKeyboard)
        theme.follow(self._dress)

    def _dress(self) -> None:
        font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        font.setPixelSize(self._theme.px(_FIXED_WIDTH))
        self.setFont(font)


class Hairline(PaintedWidget):
    """A horizontal hairline."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.setFixedHeight(1)
        theme.changed.connect(self.update)

    def paint(self, pen: ThemePainter) -> None:
        pen.hairline(0, 0, self.width(), 0)


def fill_background(widget: QWidget, color: QColor) -> None:
    widget.setAutoFillBackground(True)
    palette = widget.palette()
    palette.setColor(widget.backgroundRole(), color)
    widget.setPalette(palette)


#: Takes the remaining space in a row or a column.
STRETCH: Final = -1

#: A widget or a layout, alone or with its stretch and alignment; pixels of space; `STRETCH`.
BoxItem = QWidget | QLayout | int | tuple[QWidget | QLayout, int] | tuple[QWidget | QLayout, int, Qt.AlignmentFlag]
Margins = tuple[int, int, int, int]


class _ScaledSpacing(QObject):
    """Keeps the margins and the gap of a layout at design lengths while the text size changes."""

    def __init__(self, theme: Theme, layout: QLayout, margins: Margins, gap: int | None) -> None:
        super().__init__(layout)
        self._theme, self._layout, self._margins, self._gap = theme, layout, margins, gap
        theme.follow(self._apply)

    def _apply(self) -> None:
        self._layout.setContentsMargins(*map(self._theme.px, self._margins))
        if self._gap is not None:
            self._layout.setSpacing(self._theme.px(self._gap))


def _make_box(
    direction: QBoxLayout.Direction,
    *items: BoxItem,
    gap: int | None = None,
    margins: Margins = (0, 0, 0, 0),
    scaled: Theme | None = None,
    on: QWidget | None = None,
) -> QBoxLayout:
    """Return a layout of items in a row or a column; `gap` and `margins` (left, top, right, bottom) are in pixels.

    With the theme as `scaled` they are design lengths, and follow the text size. It becomes the layout of the widget
    `on` if one is given.
    """
    box = QBoxLayout(direction) if on is None else QBoxLayout(direction, on)
    box.setContentsMargins(*margins)
    if scaled is not None:
        _ScaledSpacing(scaled, box, margins, gap)
    elif gap is not None:
        box.setSpacing(gap)
    for item in items:
        if isinstance(item, int):
            box.addStretch(1) if item == STRETCH else box.addSpacing(item)
            continue
        content, stretch, *alignment = item if isinstance(item, tuple) else (item, 0)
        if isinstance(content, QLayout):
            box.addLayout(content, stretch)
            if on is not None:
                release_items(content)
            if alignment:
                box.setAlignment(content, alignment[0])
        else:
            box.addWidget(content, stretch, *alignment)
    return box


make_row = partial(_make_box, QBoxLayout.Direction.LeftToRight)
make_column = partial(_make_box, QBoxLayout.Direction.TopToBottom)


def release_items(layout: QLayout) -> None:
    """Release the wrappers that PySide makes of all items of a layout that is added to the layout of a widget.

    Qt deletes an item with its widget, but the wrapper would stay. An object of Python that is created at the address
    of that item, such as an icon, then ends the program when it is deleted.
    """
    if isinstance(layout, FlowLayout):
        return
    for position in range(layout.count()):
        item = layout.itemAt(position)
        if isinstance(item, QLayout):
            release_items(item)
        elif item is not None:
            invalidate(item)


def set_beside(box: QBoxLayout, beside: bool) -> None:
    """Place the items of a box side by side, or below one another if they do not fit."""
    directions = QBoxLayout.Direction
    box.setDirection(directions.LeftToRight if beside else directions.TopToBottom)


def clear_layout(layout: QLayout) -> None:
    """Delete all widgets of a layout later; the call can come from a link in one of them."""
    while (item := layout.takeAt(0)) is not None:
        widget = item.widget()
        if widget is not None:
            widget.hide()
            widget.deleteLater()


class FlowLayout(QLayout):
    """Caches the size hint of each widget; hidden ones take no space.

    With `is_even` all items get the width of the widest, so that those of several lines are below each other.
    """

    def __init__(self, gap: int = 8, parent: QWidget | None = None, *, is_even: bool = False) -> None:
        # By width: Qt asks a dozen times for each change, initially when the layout is set.
        self._heights: dict[int, int] = {}
        super().__init__(parent)
        self._gap = gap
        self._is_even = is_even
        self._items: list[QLayoutItem] = []
        # Qt leaves its items to the layout, but Python does not own them: 100 bytes of each widget would stay.
        self.destroyed.connect(partial(_delete_items, self._items))

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)
        self.invalidate()

    def invalidate(self) -> None:
        self._heights.clear()
        super().invalidate()

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, place: int) -> QLayoutItem | None:
        return self._items[place] if 0 <= place < len(self._items) else None

    def takeAt(self, place: int) -> QLayoutItem | None:
        if not 0 <= place < len(self._items):
            return None
        self.invalidate()
        return self._items.pop(place)

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        if width not in self._heights:
            self._heights[width] = self._set(QRect(0, 0, width, 0), move=False)
        return self._heights[width]

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        self._set(rect, move=True)

    def sizeHint(self) -> QSize:
        return self.minimumSize()

    def minimumSize(self) -> QSize:
        size = QSize()
        for item in self._items:
            size = size.expandedTo(item.minimumSize())
        margins = self.contentsMargins()
        return size + QSize(margins.left() + margins.right(), margins.top() + margins.bottom())

    def _set(self, rect: QRect, *, move: bool) -> int:
        """Place the items line by line, each vertically centered in its line; return the height."""
        margins = self.contentsMargins()
        inner = rect.marginsRemoved(margins)
        lines: list[list[tuple[QLayoutItem, QRect]]] = [[]]
        x, y = inner.left(), inner.top()
        items = [(item, item.sizeHint()) for item in self._items if not item.isEmpty()]
        least = max((size.width() for _, size in items), default=0) if self._is_even else 0
        for item, hint in items:
            size = hint.expandedTo(QSize(least, 0))
            if x > inner.left() and x + size.width() > inner.right() + 1:
                x, y = inner.left(), max(place.bottom() for _, place in lines[-1]) + 1 + self._gap
                lines.append([])
            lines[-1].append((item, QRect(QPoint(x, y), size)))
            x += size.width() + self._gap
        heights = [max((place.height() for _, place in line), default=0) for line in lines]
        if move:
            for line, height in zip(lines, heights, strict=True):
                for item, place in line:
                    item.setGeometry(place.translated(0, (height - place.height()) // 2))
        return y + heights[-1] - rect.top() + margins.bottom()


def _delete_items(items: list[QLayoutItem]) -> None:
    for item in items:
        delete(item)
    items.clear()


def find_scroll_area(widget: QWidget) -> QScrollArea | None:
    area = widget.parentWidget()
    while area is not None and not isinstance(area, QScrollArea):
        area = area.parentWidget()
    return area


class FlowRow(QWidget):
    """Widgets in a line that wraps if necessary; `flow` holds them."""

    def __init__(
        self,
        theme: Theme,
        gap: int,
        margins: tuple[float, float, float, float],
        parent: QWidget | None = None,
        *,
        is_even: bool = False,
    ) -> None:
        """Start empty; `margins` (left, top, right, bottom) are design lengths, `is_even` as for a `FlowLayout`."""
        super().__init__(parent)
        self._theme, self._margins = theme, margins
        self.flow = FlowLayout(gap, self, is_even=is_even)
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        theme.follow(self._set_margins)

    def _set_margins(self) -> None:
        left, top, right, bottom = map(self._theme.px, self._margins)
        self.flow.setContentsMargins(left, top, right, bottom)
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        return QSize(200, self.flow.heightForWidth(max(self.width(), 200)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self.height() != self.sizeHint().height():
            self.updateGeometry()


#: The thickness of scroll bars at every text size.
BAR = 10


class FullWidthScrollArea(QScrollArea):
    """Shows a widget over its full width, whether it scrolls or not.

    The visible bars cover the margin of the content and are not children of the area: a screen reader counts the
    children before it asks for each, and Qt does not check whether the requested one still exists, so a bar of the area
    that vanishes meanwhile would crash the program.
    """

    def __init__(self, *, sideways: bool = False, parent: QWidget | None = None) -> None:
        """Start empty; with `sideways` wide content scrolls too."""
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.viewport().setAutoFillBackground(False)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        own = (self.verticalScrollBar(), self.horizontalScrollBar())
        self._bars = {bar: self._make_overlay_bar(bar) for bar in own[: 1 + sideways]}
        app = QApplication.instance()
        if isinstance(app, QApplication):
            app.focusChanged.connect(self._show_focused)

    def show_widget(self, widget: QWidget) -> None:
        """Show a widget, which draws no background."""
        self.setWidget(widget)
        widget.setAutoFillBackground(False)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place()

    def _show_focused(self, old: QWidget | None, new: QWidget | None) -> None:
        """Scroll to a hidden widget that gets the focus from outside: Qt does so only from within."""
        viewport = self.viewport()
        if new is None or not viewport.isAncestorOf(new) or (old is not None and viewport.isAncestorOf(old)):
            return
        if not QRect(new.mapTo(viewport, QPoint(0, 0)), new.size()).intersects(viewport.rect()):
            self.ensureWidgetVisible(new)

    def _make_overlay_bar(self, bar: QScrollBar) -> QScrollBar:
        """Return a bar linked to one of the area's own and visible while it can be moved."""
        bar_above = QScrollBar(bar.orientation(), self)

        def take(low: int, high: int) -> None:
            bar_above.setRange(low, high)
            bar_above.setVisible(high > low)
            self._place()

        bar_above.hide()
        bar.rangeChanged.connect(take)
        bar.valueChanged.connect(bar_above.setValue)
        bar_above.valueChanged.connect(bar.setValue)
        return bar_above

    def _place(self) -> None:
        for own, bar in self._bars.items():
            bar.setPageStep(own.pageStep())
            bar.setSingleStep(own.singleStep())
            if bar.orientation() is Qt.Orientation.Vertical:
                bar.setGeometry(self.width() - BAR, 0, BAR, self.height())
            else:
                bar.setGeometry(0, self.height() - BAR, self.width() - BAR, BAR)
            bar.raise_()


def scroll_into_view(widget: QWidget) -> None:
    """Scroll the area around a widget to it once pending layouts are done; a widget outside an area stays."""
    area = widget.parentWidget()
    while area is not None and not isinstance(area, QScrollArea):
        area = area.parentWidget()
    if area is None:
        return

    def scroll() -> None:
        QTimer.singleShot(0, area, partial(_scroll_to, area, widget))

    scroll()
    # A page that is shown for the first time lays out its texts over several turns.
    changes = area.verticalScrollBar().rangeChanged
    connection = changes.connect(scroll)
    QTimer.singleShot(_SETTLING_MS, area, lambda: changes.disconnect(connection))


#: Milliseconds in which the layout of a page settles.
_SETTLING_MS: Final = 500


def _scroll_to(area: QScrollArea, widget: QWidget) -> None:
    if not isValid(widget):
        return
    # A newly shown widget gets its height, and so do the lines above it.
    QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest)
    area.ensureWidgetVisible(widget)
