"""A chart of the desk's answer: a plot with commands, a keyboard, a table of its numbers and words for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from PySide6.QtCore import QMarginsF, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QContextMenuEvent, QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QMenu, QWidget

from gpudesk.desktop.charts.commands import context_menu, menu_position
from gpudesk.desktop.charts.data_table import Data
from gpudesk.desktop.charts.drawing import Drawing, ReadOut
from gpudesk.desktop.charts.labels import emptiest, resampled
from gpudesk.desktop.charts.notice import Notice
from gpudesk.desktop.charts.plot import Plot
from gpudesk.desktop.charts.read_out import measure
from gpudesk.desktop.charts.scales import Scale
from gpudesk.desktop.charts.unfit import unfit_columns
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.selection import figure
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.roles import Role
from gpudesk.domain.formatting import Formatter
from gpudesk.text import tr

_KEY_ZOOM: Final = 0.75
#: At most this many bands lie over each other.
MOST_BANDS: Final = 4

_Key = Qt.Key


class Chart(Plot):
    """Shows part of the desk's answer. Subclasses say what is drawn, in words, in numbers, and at a place."""

    accessible_role = Role.Chart
    #: The figure of an estimate that the chart shows, which Enter and a click select.
    figure = ""

    def __init__(
        self, desk: Desk, theme: Theme, scales: tuple[Scale, Scale], parent: QWidget | None = None
    ) -> None:
        """Make a chart of two scales, x and y; nothing is drawn before `refresh`."""
        super().__init__(theme, desk.formatter, *scales, parent)
        self.desk = desk
        self.bands_wanted = True
        self._hovered_key: str | None = None
        self.notice: Notice | None = None
        self._least_height = 0
        self.hovered.connect(self._hover)
        self.curve_clicked.connect(self._select)
        desk.gesture_changed.connect(self._gesture_changed)
        desk.selection_changed.connect(self._show_bands)

    # What subclasses say

    def make_drawing(self) -> Drawing:
        """Return what is to be drawn of the answer."""
        raise NotImplementedError

    def data(self, formatter: Formatter) -> Data:
        """Return the chart's numbers."""
        raise NotImplementedError

    def summary(self) -> str:
        """Return the chart in a few sentences."""
        raise NotImplementedError

    def read_at(self, x: float) -> tuple[float, ReadOut] | None:
        """Return the figures at a value of x, and the value that they are really read at."""
        del x
        return None

    def step(self, value: float, forward: bool, far: bool) -> float | None:
        """Return the next value of the working line; None where it cannot move."""
        del value, forward, far
        return None

    def move_rule(self, value: float) -> None:
        """Put the working line elsewhere."""
        del value

    # Showing

    def refresh(self) -> None:
        """Show the desk's answer."""
        drawing = self.make_drawing()
        keys = [line.key for line in drawing.lines]
        if self.current not in keys:
            self.current = None
        self.show_drawing(drawing)
        self._show_bands()
        self._show_notice()
        if self.least_height() != self._least_height:
            self._least_height = self.least_height()
            self.updateGeometry()
        if self.hover_x is not None:
            self._show_hover(self.hover_x)
        if not self.desk.in_gesture:
            self.setAccessibleName(tr("{title}, chart", title=self.title))
            self.viewport().setAccessibleName(self.title)
            self.setAccessibleDescription(self.summary())

    def say_what_does_not_fit(self) -> None:
        """Say on the chart, from now on, which columns have no curve."""
        self.notice = Notice(self.theme, self)
        self.ranged.connect(self._place_notice)
        self.theme.changed.connect(self._show_notice)

    def _show_notice(self) -> None:
        if self.notice is not None and self.notice.show_unfit(*unfit_columns(self.desk)):
            self._place_notice()

    def _place_notice(self) -> None:
        """Put the box into the corner with the fewest curves."""
        notice = self.notice
        if notice is None or notice.isHidden():
            self.blocked = ()
            return
        inset, area, size = self.theme.px(10), self.frame.area, notice.sizeHint()
        lefts = (area.left() + inset, area.right() - inset - size.width())
        tops = (area.top() + inset, area.bottom() - inset - size.height())
        boxes = [QRectF(x, y, size.width(), size.height()) for y in tops for x in lefts]
        curves = [resampled(self.pixels_of(number)) for number in range(len(self.drawing.lines))]
        points = np.concatenate([np.empty((0, 2)), *curves])
        best, _ = emptiest([(b.left(), b.top(), b.right(), b.bottom()) for b in boxes], points, None, 0)
        notice.setGeometry(boxes[best].toRect())
        self.blocked = (QRectF(notice.geometry()),)
        self.dock = None

    def set_bands_wanted(self, wanted: bool) -> None:
        """Shade bands, or none."""
        self.bands_wanted = wanted
        self._show_bands()

    def _show_bands(self) -> None:
        self.set_bands(self._keys_with_band() if self.bands_wanted else frozenset())

    def _keys_with_band(self) -> frozenset[str]:
        keys = [line.key for line in self.drawing.lines]
        chosen = self.desk.selection.column if self.desk.selection is not None else None
        if self.desk.in_gesture:
            return frozenset({chosen} if chosen in keys else keys[:1])
        if len(keys) <= MOST_BANDS:
            return frozenset(keys)
        first = self.desk.keys[:1]
        return frozenset(key for key in (*first, chosen, self._hovered_key, self.current) if key in keys)

    def _gesture_changed(self) -> None:
        self.hold(self.desk.in_gesture)
        self._show_bands()
        if not self.desk.in_gesture and self.isVisible():
            self.setAccessibleDescription(self.summary())

    # Mouse over the chart

    def _hover(self, x: float | None) -> None:
        if x is None:
            self._hovered_key = None
            self.set_hover(None, None)
        else:
            position = QPointF(self.viewport().mapFromGlobal(self.cursor().pos()))
            self._hovered_key = self.curve_at(position)
            self._show_hover(x)
        self._show_bands()

    def _show_hover(self, x: float) -> None:
        found = self.read_at(x)
        self.set_hover(*found) if found is not None else self.set_hover(None, None)

    # Keyboard

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Move the working line, choose a curve, select its figure, look closer, go back."""
        commands: dict[int, Callable[[], object]] = {
            _Key.Key_Left: lambda: self._step(event, forward=False),
            _Key.Key_Right: lambda: self._step(event, forward=True),
            _Key.Key_Home: lambda: self._jump(0),
            _Key.Key_End: lambda: self._jump(1),
            _Key.Key_Up: lambda: self._choose(-1),
            _Key.Key_Down: lambda: self._choose(1),
            _Key.Key_Return: self._select_current,
            _Key.Key_Enter: self._select_current,
            _Key.Key_Plus: lambda: self.zoom(_KEY_ZOOM),
            _Key.Key_Equal: lambda: self.zoom(_KEY_ZOOM),
            _Key.Key_Minus: lambda: self.zoom(1 / _KEY_ZOOM),
            _Key.Key_0: self.fit_view,
        }
        command = commands.get(event.key())
        if event.key() == _Key.Key_Escape:
            event.setAccepted(self._go_back())
        elif command is None or event.modifiers() & ~(
            Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier
        ):
            event.ignore()
        else:
            command()
            event.accept()

    def keyReleaseEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """A key let go ends the step that it made."""
        if event.key() in (_Key.Key_Left, _Key.Key_Right) and not event.isAutoRepeat():
            self.rule_released.emit()
        event.ignore()

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802 - Qt's name
        """Mark the chosen curve."""
        super().focusInEvent(event)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:  # noqa: N802 - Qt's name
        """End what the keyboard was doing."""
        super().focusOutEvent(event)
        self.rule_released.emit()
        self.viewport().update()

    def _step(self, event: QKeyEvent, *, forward: bool) -> None:
        rule = self.drawing.rule
        far = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if rule is not None and rule.movable:
            value = self.step(rule.value, forward, far)
            if value is not None:
                self.move_rule(value)
            return
        start = self.hover_x
        if start is None:
            low, high = self.frame.values_x()
            start = rule.value if rule is not None else self.frame.x_scale.value_at(sum(self.frame.x) / 2)
            start = min(high, max(low, start))
        value = self.step(start, forward, far)
        if value is not None:
            self._show_hover(value)

    def _jump(self, end: int) -> None:
        low, high = self.ends()
        value = high if end else low
        rule = self.drawing.rule
        if rule is not None and rule.movable:
            self.move_rule(value)
        else:
            self._show_hover(value)

    def ends(self) -> tuple[float, float]:
        """Return the first and the last value of x that any curve has."""
        lines = [line for line in self.drawing.lines if len(line.x)]
        if not lines:
            return self.frame.values_x()
        return min(float(line.x.min()) for line in lines), max(float(line.x.max()) for line in lines)

    def _choose(self, by: int) -> None:
        read_out = self.read_out()
        keys = [row.key for row in read_out.rows] if read_out is not None else []
        keys = [key for key in keys if key in {line.key for line in self.drawing.lines}]
        if not keys:
            keys = [line.key for line in self.drawing.lines]
        if keys:
            at = keys.index(self.current) + by if self.current in keys else (0 if by > 0 else -1)
            self.set_current(keys[at % len(keys)])
            self._show_bands()

    def _select_current(self) -> None:
        if self.current is None:
            self._choose(1)
        if self.current is not None:
            self._select(self.current)

    def _select(self, key: str) -> None:
        self.set_current(key)
        if self.figure:
            self.desk.select(figure(key, self.figure))

    def _go_back(self) -> bool:
        """Leave the place read off, then the close look; say whether there was anything to leave."""
        if self.hover_x is not None:
            self.set_hover(None, None)
            return True
        if self.frame.zoomed:
            self.fit_view()
            return True
        return False

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:  # noqa: N802 - Qt's name
        """Offer what the chart can be asked for."""
        self.context_menu().popup(menu_position(event, self))

    def context_menu(self) -> QMenu:
        """Make the menu of commands."""
        return context_menu(self, self, [((tr("Fit view"), self.fit_view), self.frame.zoomed)])

    # Size

    def least_height(self) -> int:
        """Return the height that leaves the curves their least room, read-out and notice their own."""
        margins: QMarginsF = self.margins()
        area = float(self.theme.px(120))
        if self.drawing.read_out is not None:
            size = measure(self.drawing.read_out, self.lettering, self.theme)
            area = max(area, size.height + self.theme.px(20))
        if self.notice is not None and not self.notice.isHidden():
            area = max(area, float(self.notice.sizeHint().height() + self.theme.px(20)))
        return int(margins.top() + margins.bottom() + area)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Leave the curves at least 120 pixels."""
        return QSize(self.theme.px(220), self.least_height())
