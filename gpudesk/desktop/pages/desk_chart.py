"""A chart of the desk's answer: keyboard, interval bands, the notice of accelerators that do not fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
from PySide6.QtCore import QEvent, QMarginsF, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QFocusEvent, QHelpEvent, QKeyEvent, QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QAbstractScrollArea, QBoxLayout, QGridLayout, QLabel, QToolTip, QVBoxLayout, QWidget

from gpudesk.desktop.pages.page import ChartsView
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.evaluated_answer import AcceleratorColumn
from gpudesk.desktop.session.scenario_edits import replace_count
from gpudesk.desktop.session.selection import Selection, SelectionKind, select_figure
from gpudesk.desktop.ui.charts.canvas import PlotCanvas
from gpudesk.desktop.ui.charts.chart_data import ChartData, CursorReadout, PlotDrawing, measure_readout, show_chart_menu
from gpudesk.desktop.ui.charts.scales import AxisScale, FloatArray, find_emptiest_box
from gpudesk.desktop.ui.tables.data_table import FiguresTable
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import SWATCH_WIDTH, PaintedWidget, ThemePainter
from gpudesk.desktop.ui.widgets.buttons import Button
from gpudesk.desktop.ui.widgets.layouts import STRETCH, Hairline, ThemedLabel, make_column, make_row
from gpudesk.desktop.ui.widgets.qt_support import AccessibleRole
from gpudesk.domain.estimate import Estimate, LoadKind
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.report.data_table import DataTable
from gpudesk.text.formatting import Formatter
from gpudesk.text.messages import format_message
from gpudesk.text.translation import tr, trn

#: Maximum mouse distance for dragging the cursor line, and for clicking a curve, in pixels.
_GRIP: Final = 6.0
_NEAR_CURVE: Final = 9.0
#: A press with less movement is a click.
_CLICK: Final = 4.0
#: Visible share after one notch of the wheel.
_ZOOM: Final = 0.82
_NOTCH: Final = 120.0


def _is_in_scroll_area(widget: QWidget) -> bool:
    parent = widget.parentWidget()
    while parent is not None:
        if isinstance(parent, QAbstractScrollArea) and parent.verticalScrollBar().maximum() > 0:
            return True
        parent = parent.parentWidget()
    return False


def _compute_curve_distance(points: FloatArray, x: float, y: float) -> float:
    if len(points) < 2:
        return float(np.hypot(points[:, 0] - x, points[:, 1] - y).min()) if len(points) else float("inf")
    starts, steps = points[:-1], np.diff(points, axis=0)
    lengths = np.maximum((steps**2).sum(axis=1), 1e-9)
    along = np.clip(((x - starts[:, 0]) * steps[:, 0] + (y - starts[:, 1]) * steps[:, 1]) / lengths, 0, 1)
    return float(np.hypot(starts[:, 0] + along * steps[:, 0] - x, starts[:, 1] + along * steps[:, 1] - y).min())


@frozen_dataclass
class UnfitColumn:
    """An accelerator that does not fit: the reason, and the remedy as text and command of a button."""

    part: AcceleratorColumn
    reason: str
    remedy: str = ""
    remedy_spoken: str = ""
    apply: Callable[[], object] | None = None

    def list_contents(self) -> tuple[object, ...]:
        """Return the shown content, for comparison."""
        return *self.part.identity, self.reason, self.remedy


class UnfitNotice(PaintedWidget):
    """Floats on a plot, as large as necessary."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, parent)
        self._contents: tuple[object, ...] = ()
        self._layout = QVBoxLayout(self)
        self._rows: QWidget | None = None
        self.hide()
        theme.changed.connect(self._forget)

    def _forget(self) -> None:
        """Rebuild at the next call, since colors and sizes have changed."""
        self._contents = ()

    def show_unfit(self, title: str, unfit: Sequence[UnfitColumn]) -> bool:
        """Show what does not fit; hide if all fit. Return whether the notice has changed."""
        contents: tuple[object, ...] = (title, *(each.list_contents() for each in unfit)) if unfit else ()
        if contents == self._contents:
            return False
        self._contents = contents
        if self._rows is not None:
            self._layout.removeWidget(self._rows)
            # Hidden at once: it is deleted only in the event loop.
            self._rows.hide()
            self._rows.deleteLater()
            self._rows = None
        self.setVisible(bool(unfit))
        if unfit:
            self._rows = self._build_box(title, unfit)
            self._layout.addWidget(self._rows)
            self._rows.show()
            self.setAccessibleName(title)
        return True

    def _build_box(self, title: str, unfit: Sequence[UnfitColumn]) -> QWidget:
        px = self._theme.px
        box = QWidget(self)
        self._layout.setContentsMargins(px(12), px(8), px(12), px(10))
        icon = QLabel(box)
        icon.setPixmap(self._theme.pixmap("circle-slash-2", "unfit", self._theme.px(16), self.devicePixelRatioF()))
        label = ThemedLabel(self._theme, title, font="label", color="unfit", parent=box)
        grid = QGridLayout()
        grid.setHorizontalSpacing(px(8))
        grid.setVerticalSpacing(px(6))
        grid.setColumnStretch(1, 1)
        grid.setColumnMinimumWidth(2, px(24))
        for row, each in enumerate(unfit):
            grid.addWidget(_NoticeSwatch(self._theme, each.part, box), row, 0, Qt.AlignmentFlag.AlignTop)
            grid.addLayout(self._make_text_column(each, box), row, 1)
            if each.apply is not None:
                button = Button(self._theme, each.remedy, parent=box)
                button.setAccessibleName(each.remedy_spoken or each.remedy)
                button.clicked.connect(each.apply)
                grid.addWidget(button, row, 3)
        make_column(make_row(icon, label, STRETCH, gap=px(8)), grid, gap=px(6), on=box)
        return box

    def _make_text_column(self, each: UnfitColumn, box: QWidget) -> QBoxLayout:
        name = ThemedLabel(self._theme, each.part.name, font="label", parent=box)
        name.setStyleSheet(f"color: {self._theme.name_color(each.part.palette_index).name()};")
        return make_column(name, ThemedLabel(self._theme, each.reason, font="small", color="text2", parent=box), gap=0)

    def paint(self, pen: ThemePainter) -> None:
        pen.frame(QRectF(self.rect()), "strong", radius=6.0, fill="raised")


class _NoticeSwatch(PaintedWidget):
    """The swatch of an accelerator next to its name."""

    def __init__(self, theme: Theme, part: AcceleratorColumn, parent: QWidget) -> None:
        super().__init__(theme, parent)
        self._part = part
        self.setFixedSize(theme.px(SWATCH_WIDTH), theme.line("label"))

    def paint(self, pen: ThemePainter) -> None:
        pen.swatch(0, self.height() / 2, self._part.palette_index, is_variant=self._part.is_variant)


def list_unfit_columns(desk: Desk) -> tuple[str, tuple[UnfitColumn, ...]]:
    """Return a title for columns without a curve, and one entry for each; an empty title without any."""
    everyone = desk.columns
    short = [part for part in everyone if part.column.estimate is not None and not part.column.estimate.fits]
    unknown = [part for part in everyone if part.column.estimate is None]
    entries = [_make_short_column(part, number, desk) for number, part in enumerate(everyone) if part in short]
    entries += [_make_unknown_column(part, desk) for part in unknown]
    return _format_unfit_title(len(short), len(unknown), len(everyone)), tuple(entries)


def _format_unfit_title(short: int, unknown: int, everyone: int) -> str:
    if short:
        return trn("{n} of {all} does not fit", "{n} of {all} do not fit", short, all=everyone)
    if unknown:
        return trn("{n} of {all} have no estimate", "{n} of {all} have no estimate", unknown, all=everyone)
    return ""


def _make_short_column(part: AcceleratorColumn, position: int, desk: Desk) -> UnfitColumn:
    estimate = part.column.estimate
    if estimate is None or estimate.needs is None:
        return UnfitColumn(part, format_missing_memory(part, desk))
    count = estimate.needs
    number = desk.formatter.count(count)
    step = tr("Use {n} × {name}", n=number, name=part.name)

    def apply() -> None:
        desk.apply(replace_count(desk.scenario, position, count), step)

    return UnfitColumn(part, format_missing_memory(part, desk), tr("Use {n}", n=number), step, apply)


def format_missing_memory(part: AcceleratorColumn, desk: Desk) -> str:
    estimate = part.column.estimate
    missing = None if estimate is None or estimate.reason is None else estimate.reason.parameters.get("missing")
    if estimate is None or not isinstance(missing, tuple) or isinstance(missing[0], str):
        return "" if estimate is None or estimate.reason is None else format_message(estimate.reason, desk.formatter)
    size = desk.formatter.gib(missing[0])
    if estimate.count == 1:
        return tr("{size} GiB short", size=size)
    return tr("{size} GiB short per accelerator", size=size)


def _make_unknown_column(part: AcceleratorColumn, desk: Desk) -> UnfitColumn:
    problem = part.column.problem
    return UnfitColumn(part, "" if problem is None else format_message(problem, desk.formatter))


def format_admitted(estimate: Estimate, desk: Desk) -> str:
    """Return how many requests run if fewer than the load asks for, else an empty text."""
    concurrency, admitted = estimate.concurrency, estimate.admitted
    queued = estimate.request.workload.load.kind is LoadKind.SATURATE
    if queued or concurrency is None or admitted is None or admitted >= concurrency:
        # In a saturated load, the rest is meant to wait.
        return ""
    count = desk.formatter.count
    return tr("runs {n} of {all}, the rest queue", n=count(admitted), all=count(concurrency))


_KEY_ZOOM: Final = 0.75
#: Maximum number of overlapping bands.
MOST_BANDS: Final = 4

_Key = Qt.Key


class DeskChart(PlotCanvas):
    """Shows part of the desk's answer. Subclasses give its drawing, summary, data and readout."""

    #: The key of a curve that was clicked.
    curve_clicked = Signal(str)

    accessible_role = AccessibleRole.Chart
    #: The estimate figure in the chart, selected with a curve.
    figure = ""
    #: Minimum height of the plot, in design pixels; with less room the page scrolls.
    least_plot = 200
    #: How far a key moves the cursor line, alone and with Shift; None to go from stop to stop.
    strides: tuple[float, float] | None = None

    def __init__(
        self, desk: Desk, theme: Theme, scales: tuple[AxisScale, AxisScale], parent: QWidget | None = None
    ) -> None:
        """Make a chart with scales for x and y; nothing is drawn before `refresh`."""
        super().__init__(theme, desk.formatter, *scales, parent)
        self.desk = desk
        self.bands_wanted = True
        self._pressed: QPointF | None = None
        self._panned = False
        self._dragging_rule = False
        self._hovered_key: str | None = None
        self.notice: UnfitNotice | None = None
        self._least_height = 0
        self.curve_clicked.connect(self.select_curve)
        desk.gesture_changed.connect(self._gesture_changed)
        desk.selection_changed.connect(self._show_bands)

    # To implement in subclasses

    def make_drawing(self) -> PlotDrawing:
        raise NotImplementedError

    def data(self, formatter: Formatter) -> ChartData:
        raise NotImplementedError

    def summary(self) -> str:
        raise NotImplementedError

    def make_selection(self, key: str) -> Selection | None:
        """Return the selection that a curve stands for, by the key of its accelerator."""
        return select_figure(key, self.figure) if self.figure else None

    def read_at(self, x: float) -> tuple[float, CursorReadout] | None:
        """Return the figures at a value of x, and the value at which they are read."""
        del x
        return None

    def stops(self) -> Sequence[float]:
        """Return the values at which the cursor line can stop, or its two ends if it moves by `strides`."""
        return ()

    def step(self, value: float, forward: bool, far: bool) -> float | None:
        """Return the next value of the cursor line; None if it cannot move."""
        stops = self.stops()
        if self.strides is not None and stops:
            by = self.strides[far] * (1.0 if forward else -1.0)
            return min(max(value + by, stops[0]), stops[-1])
        beyond = [each for each in stops if (each > value if forward else each < value)]
        return float(min(beyond) if forward else max(beyond)) if beyond else None

    def move_rule(self, value: float) -> None:
        del value

    def grab_rule(self) -> None:
        """Handle the start of a drag of the cursor line."""

    def drag_rule(self, value: float) -> None:
        self.move_rule(value)

    def release_rule(self) -> None:
        """Handle the end of a drag, or of a held key."""

    # Display

    def refresh(self) -> None:
        drawing = self.make_drawing()
        keys = [line.key for line in drawing.lines]
        if self.current not in keys:
            self.current = None
        self.show_drawing(drawing)
        self._show_bands()
        self._show_notice()
        if self.measure_least_height() != self._least_height:
            self._least_height = self.measure_least_height()
            self.updateGeometry()
        if self.hover_x is not None:
            self._show_hover(self.hover_x)
        if not self.desk.in_gesture:
            self.setAccessibleName(tr("{title}, chart", title=self.title))
            self.viewport().setAccessibleName(self.title)
            self.setAccessibleDescription(self.summary())

    def show_unfit_columns(self) -> None:
        """Show a notice on the chart for columns without a curve."""
        self.notice = UnfitNotice(self.theme, self)
        self.ranged.connect(self._place_notice)
        self.theme.changed.connect(self._show_notice)

    def _show_notice(self) -> None:
        if self.notice is not None and self.notice.show_unfit(*list_unfit_columns(self.desk)):
            self._place_notice()

    def _place_notice(self) -> None:
        notice = self.notice
        if notice is None or notice.isHidden():
            self.blocked = ()
            return
        inset, area, size = self.theme.px(10), self.frame.area, notice.sizeHint()
        lefts = (area.left() + inset, area.right() - inset - size.width())
        tops = (area.top() + inset, area.bottom() - inset - size.height())
        boxes = [QRectF(x, y, size.width(), size.height()) for y in tops for x in lefts]
        points = np.concatenate([np.empty((0, 2)), *self.sample_curves()])
        best, _ = find_emptiest_box([(b.left(), b.top(), b.right(), b.bottom()) for b in boxes], points, None, 0)
        notice.setGeometry(boxes[best].toRect())
        self.blocked = (QRectF(notice.geometry()),)
        self.dock = None

    def set_bands_wanted(self, are_wanted: bool) -> None:
        self.bands_wanted = are_wanted
        self._show_bands()

    def _show_bands(self) -> None:
        self.set_bands(self._select_band_keys() if self.bands_wanted else frozenset())

    def _select_band_keys(self) -> frozenset[str]:
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

    # Mouse

    def wheelEvent(self, event: QWheelEvent) -> None:
        control = event.modifiers() & Qt.KeyboardModifier.ControlModifier
        position = event.position()
        if not self.frame.area.contains(position) or (_is_in_scroll_area(self) and not control):
            event.ignore()
            return
        self.zoom(_ZOOM ** (event.angleDelta().y() / _NOTCH), position)
        event.accept()

    def zoom(self, factor: float, around: QPointF | None = None) -> None:
        """Zoom to a share of the visible range around a pixel, by default the middle."""
        around = self.frame.area.center() if around is None else around
        self.frame.zoom(factor, around.x(), around.y())
        self._range_changed()

    def viewportEvent(self, event: QEvent) -> bool:
        """Show the full subtitle, which can be cut, as a tooltip of the head."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), self.subtitle if event.pos().y() < self.head_height() else "", self)
            return True
        return bool(super().viewportEvent(event))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() is not Qt.MouseButton.LeftButton:
            return
        self._pressed, self._panned = event.position(), False
        if self._over_rule(event.position()):
            self._dragging_rule = True
            self.grab_rule()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        position = event.position()
        if self._dragging_rule:
            low, high = self.frame.get_x_range()
            self.drag_rule(min(high, max(low, self.frame.value_x(position.x()))))
        elif self._pressed is not None:
            self._drag_ground(position)
        else:
            over = self._over_rule(position)
            self.viewport().setCursor(Qt.CursorShape.SplitHCursor if over else Qt.CursorShape.ArrowCursor)
            inside = self.frame.area.contains(position) and not over
            self._hover(self.frame.value_x(position.x()) if inside else None)

    def _drag_ground(self, position: QPointF) -> None:
        if self._pressed is None:
            return
        moved = position - self._pressed
        if not self.frame.zoomed or (not self._panned and moved.manhattanLength() < _CLICK):
            return
        self._panned = True
        self.frame.pan(moved.x(), moved.y())
        self._pressed = position
        self._range_changed()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() is not Qt.MouseButton.LeftButton:
            return
        pressed, self._pressed = self._pressed, None
        if self._dragging_rule:
            self._dragging_rule = False
            self.release_rule()
        elif pressed is not None and not self._panned:
            key = self.find_curve_at(event.position())
            if key is not None:
                self.curve_clicked.emit(key)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        del event
        self.fit_view()

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._hover(None)

    def find_curve_at(self, position: QPointF) -> str | None:
        """Return the key of the curve nearest to a pixel, if one is near."""
        best, least = None, _NEAR_CURVE
        for number, line in enumerate(self.drawing.lines):
            distance = _compute_curve_distance(self.get_line_pixels(number), position.x(), position.y())
            if distance < least:
                best, least = line.key, distance
        return best

    def _over_rule(self, position: QPointF) -> bool:
        rule = self.drawing.rule
        if rule is None or not rule.movable:
            return False
        low, high = self.frame.get_x_range()
        near = low <= rule.value <= high and abs(position.x() - self.frame.pixel_x(rule.value)) <= _GRIP
        return near and self.rule_zone().contains(position)

    def rule_zone(self) -> QRectF:
        """Return where the cursor line can be grabbed."""
        return self.frame.area.adjusted(-_GRIP, 0, _GRIP, self.theme.px(20))

    def _hover(self, x: float | None) -> None:
        if x is None:
            self._hovered_key = None
            self.set_hover(None, None)
        else:
            position = QPointF(self.viewport().mapFromGlobal(self.cursor().pos()))
            self._hovered_key = self.find_curve_at(position)
            self._show_hover(x)
        self._show_bands()

    def _show_hover(self, x: float) -> None:
        reading = self.read_at(x)
        self.set_hover(*reading) if reading is not None else self.set_hover(None, None)

    # Keyboard

    def keyPressEvent(self, event: QKeyEvent) -> None:
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

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        if event.key() in (_Key.Key_Left, _Key.Key_Right) and not event.isAutoRepeat():
            self.release_rule()
        event.ignore()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.release_rule()
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
            low, high = self.frame.get_x_range()
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
        """Return the smallest and the largest x of all curves."""
        lines = [line for line in self.drawing.lines if len(line.x)]
        if not lines:
            return self.frame.get_x_range()
        return min(float(line.x.min()) for line in lines), max(float(line.x.max()) for line in lines)

    def _choose(self, by: int) -> None:
        cursor_readout = self.cursor_readout()
        keys = [row.key for row in cursor_readout.rows] if cursor_readout is not None else []
        keys = [key for key in keys if key in {line.key for line in self.drawing.lines}]
        if not keys:
            keys = [line.key for line in self.drawing.lines]
        if keys:
            at = keys.index(self.current) + by if self.current in keys else (0 if by > 0 else -1)
            self.select_curve(keys[at % len(keys)])
            self._show_bands()

    def _select_current(self) -> None:
        if self.current is None:
            self._choose(1)
        else:
            self.select_curve(self.current)

    def select_curve(self, key: str) -> None:
        self.set_current(key)
        selection = self.make_selection(key)
        if selection is not None:
            self.desk.select(selection)

    def _go_back(self) -> bool:
        """Clear the reading position, then the zoom; return whether there was anything to clear."""
        if self.hover_x is not None:
            self.set_hover(None, None)
            return True
        if self.frame.zoomed:
            self.fit_view()
            return True
        return False

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        show_chart_menu(self, self, event, (tr("Reset zoom"), self.fit_view, self.frame.zoomed))

    # Size

    def measure_least_height(self) -> int:
        """Return the height that leaves the curves their minimum, with readout and notice."""
        margins: QMarginsF = self.margins()
        area = float(self.theme.px(self.least_plot))
        if self.drawing.cursor_readout is not None:
            size = measure_readout(self.drawing.cursor_readout, self.text_painter, self.theme)
            # Curves that begin near zero stay visible below it.
            area = max(area, size.height + self.theme.px(24))
        if self.notice is not None and not self.notice.isHidden():
            area = max(area, float(self.notice.sizeHint().height() + self.theme.px(20)))
        return int(margins.top() + margins.bottom() + area)

    def minimumSizeHint(self) -> QSize:
        return QSize(self.theme.px(220), self.measure_least_height())


_MARGIN: Final = 16


class FiguresView(ChartsView):
    """Charts next to each other, with a table of accelerators' figures below, which follows the selection."""

    def __init__(
        self,
        desk: Desk,
        theme: Theme,
        charts: Sequence[DeskChart],
        make_figures: Callable[[], DataTable],
        *,
        above: tuple[int, int] = (0, 6),
        gap: int = 8,
    ) -> None:
        """Take the builder of the figures; `above` are the spaces above charts and figures."""
        super().__init__(charts)
        self._desk = desk
        self._make_table = make_figures
        whole = make_column(gap=gap, on=self)
        margins = ((_MARGIN, above[0], _MARGIN, 4), (_MARGIN, above[1], _MARGIN, 12))
        # The charts come first when Tab is pressed.
        whole.addLayout(make_row(*((chart, 1) for chart in charts), gap=32, margins=margins[0], scaled=theme), 1)
        self.table = FiguresTable(theme, self)
        self._title = ThemedLabel(theme, font="section", parent=self)
        whole.addWidget(Hairline(theme))
        whole.addLayout(make_column(self._title, self.table, margins=margins[1], scaled=theme))
        self.table.chosen.connect(lambda key, name: desk.select(select_figure(key, name)))
        desk.selection_changed.connect(self._follow_selection)

    def refresh(self) -> None:
        super().refresh()
        figures = self._make_table()
        self._title.setText(figures.title)
        self.table.show_table(figures)
        self._follow_selection()

    def _follow_selection(self) -> None:
        chosen = self._desk.selection
        is_figure = chosen is not None and chosen.kind is SelectionKind.FIGURE
        self.table.choose_row(chosen.column if chosen is not None and is_figure else None)
