"""The popup list in which the rows of the comparison table are ticked."""

from __future__ import annotations

from collections.abc import Set

from PySide6.QtCore import QAbstractItemModel, QEvent, QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPainterStateGuard, QPaintEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from gpudesk.desktop.pages.compare.comparison_model import HEADING_ROLE, RowChoiceModel
from gpudesk.desktop.session.settings import resize_to_fit
from gpudesk.desktop.ui.tables.item_model import Index
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import ThemePainter
from gpudesk.desktop.ui.widgets.buttons import LinkButton
from gpudesk.desktop.ui.widgets.labels import ThemedLabel
from gpudesk.desktop.ui.widgets.layouts import STRETCH, make_column, make_row
from gpudesk.desktop.ui.widgets.qt_support import round_corners
from gpudesk.report.comparison.tables import ComparisonGroup
from gpudesk.text.translation import tr

_CheckState = Qt.CheckState
_CHECK_ROLE = Qt.ItemDataRole.CheckStateRole
_WIDTH = 260
_LINES = 16


class _CheckDelegate(QStyledItemDelegate):
    """Paints a tick and a label, headings stronger; any click on a line changes its tick."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:  # noqa: ARG002
        theme = self._theme
        return QSize(theme.px(120), theme.line("body") + theme.px(12 if index.data(HEADING_ROLE) else 6))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        with QPainterStateGuard(painter):
            self._draw(ThemePainter(painter, self._theme), option, index)

    def _draw(self, pen: ThemePainter, option: QStyleOptionViewItem, index: Index) -> None:
        theme, painter = self._theme, pen.painter
        place: QRectF = option.rect.toRectF()
        state = option.state
        if state & (QStyle.StateFlag.State_Selected | QStyle.StateFlag.State_MouseOver):
            pen.tint(place, "selection_raised", radius=4)
        heading = bool(index.data(HEADING_ROLE))
        side = theme.px(16)
        left = place.left() + theme.px(8 if heading else 20)
        box = QRectF(left, round(place.center().y() - side / 2), side, side)
        tick = _CheckState(index.data(_CHECK_ROLE))
        if tick == _CheckState.Unchecked:
            pen.frame(box, "control", radius=4, fill="page")
        else:
            pen.tint(box, "text1", radius=4)
            icon = "check" if tick == _CheckState.Checked else "minus"
            inset = theme.px(2)
            pen.icon(icon, box.left() + inset, box.top() + inset, side - 2 * inset, "page")
        words = QRectF(box.right() + theme.px(8), place.top(), place.right() - box.right() - 12, place.height())
        pen.text(words, str(index.data()), font="label" if heading else "body")
        painter.setBrush(Qt.BrushStyle.NoBrush)

    def editorEvent(
        self,
        event: QEvent,
        model: QAbstractItemModel,
        option: QStyleOptionViewItem,  # noqa: ARG002
        index: Index,
    ) -> bool:
        pressed = event.type() == QEvent.Type.MouseButtonRelease
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            pressed = event.key() in (Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if not pressed:
            return False
        off = _CheckState(index.data(_CHECK_ROLE)) == _CheckState.Checked
        return model.setData(index, _CheckState.Unchecked if off else _CheckState.Checked, _CHECK_ROLE)


class _CheckList(QListView):
    """Hands Enter to the delegate too, which the space bar reaches by itself."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self.edit(self.currentIndex(), QAbstractItemView.EditTrigger.AnyKeyPressed, event)
            return
        super().keyPressEvent(event)


class RowChooser(QFrame):
    """Stays open until Esc or a click outside; each tick applies at once."""

    #: Keys of the rows to hide.
    chosen = Signal(object)
    all_wanted = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self._theme = theme
        self._round = round_corners(self)
        self.setAccessibleName(tr("Visible rows"))
        self.model = RowChoiceModel(self)
        self.model.chosen.connect(self.chosen)
        self._list = _CheckList(self)
        self._list.setModel(self.model)
        self._list.setItemDelegate(_CheckDelegate(theme, self._list))
        self._list.setAccessibleName(tr("Visible rows"))
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._list.setMouseTracking(True)
        self._list.setProperty("kind", "raised")
        self._list.setFrameShape(QFrame.Shape.NoFrame)
        title = ThemedLabel(theme, tr("Visible rows"), font="caption_strong", colour="text3")
        show_all = LinkButton(theme, tr("Show all"))
        show_all.clicked.connect(self.all_wanted)
        head = make_row(title, STRETCH, show_all, margins=(8, 4, 8, 0))
        make_column(head, self._list, gap=4, margins=(6, 6, 6, 6), on=self)

    def show_rows(self, groups: tuple[ComparisonGroup, ...], hidden: Set[str]) -> None:
        """List rows with ticks at those that are not hidden; the line that is current stays."""
        row = self._list.currentIndex().row()
        scroll = self._list.verticalScrollBar().value()
        self.model.show(groups, hidden)
        self._list.setCurrentIndex(self.model.index(max(0, row)))
        self._list.verticalScrollBar().setValue(scroll)

    def open_below(self, anchor: QWidget) -> None:
        theme = self._theme
        line = theme.line("body") + theme.px(7)
        resize_to_fit(self, theme.px(_WIDTH), line * (_LINES + 1) + theme.px(24))
        corner = anchor.mapToGlobal(QPoint(anchor.width(), anchor.height() + 4)) - QPoint(self.width(), 0)
        lowest = self.screen().availableGeometry().bottom() - self.height()
        self.move(corner.x(), min(corner.y(), lowest))
        self.show()
        self._list.setFocus(Qt.FocusReason.PopupFocusReason)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's name
        with QPainter(self) as painter:
            radius = 8.0 if self._round else 0.0
            ThemePainter(painter, self._theme).frame(QRectF(self.rect()), "strong", radius=radius, fill="raised")
