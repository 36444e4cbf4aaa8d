"""The panel: its item model, its tree view, delegate, keyboard and context menu."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Final

from PySide6.QtCore import (
    QAbstractItemModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPainterStateGuard,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QFrame,
    QLineEdit,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeView,
    QWidget,
)

from gpudesk.desktop.ui.panel.blocks import BlockLayout, BlockLayouts, BlockState, HeadingBlock, LinkBlock, RowBlock
from gpudesk.desktop.ui.panel.nodes import PanelNode
from gpudesk.desktop.ui.theme.focus_ring import FocusRing
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import TextMeasure, ThemePainter
from gpudesk.desktop.ui.widgets.qt_support import make_menu
from gpudesk.report.explanation.parts import Explanation, TermLine
from gpudesk.text.translation import tr

Index = QModelIndex | QPersistentModelIndex

#: Role: the text to copy from a line.
COPIED_ROLE = Qt.ItemDataRole.UserRole + 1


class PanelRow:
    """A node at its position in the tree."""

    def __init__(self, node: PanelNode, row: int, parent: PanelRow | None) -> None:
        """Take the node; its children are created on demand."""
        self.node = node
        self.row = row
        self.parent = parent
        self.depth: int = 0 if parent is None else parent.depth + 1
        self._children: list[PanelRow] | None = None

    @property
    def children(self) -> list[PanelRow]:
        if self._children is None:
            self._children = [PanelRow(child, place, self) for place, child in enumerate(self.node.children)]
        return self._children

    @property
    def made_children(self) -> list[PanelRow]:
        return self._children or []

    def walk(self) -> Iterator[PanelRow]:
        yield self
        for child in self.children:
            yield from child.walk()


class PanelModel(QAbstractItemModel):
    """The lines of one explanation."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.lines: list[PanelRow] = []
        self._shape: tuple[object, ...] = ()

    def show(self, nodes: Sequence[PanelNode]) -> bool:
        """Show other nodes; return whether the lines stayed and only their texts changed."""
        shape = tuple(node.shape for node in nodes)
        if shape == self._shape:
            self._update(self.lines, nodes, QModelIndex())
            return True
        self.beginResetModel()
        self._shape = shape
        self.lines = [PanelRow(node, row, None) for row, node in enumerate(nodes)]
        self.endResetModel()
        return False

    def _update(self, lines: list[PanelRow], nodes: Sequence[PanelNode], parent: QModelIndex) -> None:
        """Put new nodes into lines of the same shape, and signal which lines changed."""
        changed = []
        for line, node in zip(lines, nodes, strict=True):
            if line.node is node:
                continue
            if _differs(line.node, node):
                changed.append(line.row)
            line.node = node
            if line.made_children:
                self._update(line.made_children, node.children, self.index(line.row, 0, parent))
        if changed:
            first, last = self.index(changed[0], 0, parent), self.index(changed[-1], 0, parent)
            self.dataChanged.emit(first, last)

    # Lookup

    def line(self, index: Index) -> PanelRow | None:
        row: PanelRow | None = index.internalPointer() if index.isValid() else None
        return row

    def index_of(self, line: PanelRow) -> QModelIndex:
        return self.createIndex(line.row, 0, line)

    def find(self, key: str) -> QModelIndex:
        lines = self.lines
        while lines:
            # The key of a line starts with those of its parents.
            on_the_way = [line for line in lines if key.startswith(line.node.key)]
            row = next((line for line in on_the_way if line.node.key == key), None)
            if row is not None:
                return self.index_of(row)
            lines = [child for line in on_the_way for child in line.children]
        return QModelIndex()

    # Qt overrides

    def index(self, row: int, column: int, parent: Index | None = None) -> QModelIndex:
        above = None if parent is None else self.line(parent)
        lines = self.lines if above is None else above.children
        if column != 0 or not 0 <= row < len(lines):
            return QModelIndex()
        return self.createIndex(row, 0, lines[row])

    def parent(self, index: Index) -> QModelIndex:  # type: ignore[override]
        line = self.line(index)
        return QModelIndex() if line is None or line.parent is None else self.index_of(line.parent)

    def rowCount(self, parent: Index | None = None) -> int:
        if parent is None or not parent.isValid():
            return len(self.lines)
        line = self.line(parent)
        return 0 if line is None else len(line.children)

    def hasChildren(self, parent: Index | None = None) -> bool:
        line = None if parent is None else self.line(parent)
        return bool(self.lines) if line is None else line.node.has_children

    def columnCount(self, parent: Index | None = None) -> int:  # noqa: ARG002 - Qt's name
        return 1

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Return the flags of a line: headings take no focus, and addresses can be selected as text."""
        line = self.line(index)
        if line is None or line.node.passive:
            return Qt.ItemFlag.NoItemFlags
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        if not line.node.has_children:
            flags |= Qt.ItemFlag.ItemNeverHasChildren
        if line.node.address:
            flags |= Qt.ItemFlag.ItemIsEditable
        return flags

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:  # noqa: ANN401 - Qt's own
        line = self.line(index)
        if line is None:
            return None
        node = line.node
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return node.sentence
        if role == Qt.ItemDataRole.EditRole and node.address:
            return node.address
        if role == Qt.ItemDataRole.ToolTipRole:
            if isinstance(node.block, RowBlock):
                return node.block.tool_tip
            if isinstance(node.block, HeadingBlock):
                return "\n".join(filter(None, (node.block.title, node.block.aside)))
            return node.sentence if isinstance(node.block, Explanation) else None
        return node.copied if role == COPIED_ROLE else None


def _differs(former: PanelNode, node: PanelNode) -> bool:
    """Whether a line looks different; for an explanation only its head counts, which is its sentence."""
    head = isinstance(node.block, Explanation)
    return former.sentence != node.sentence if head else former.block != node.block


_INSET: Final = 8.0
_RADIUS: Final = 6.0


class PanelDelegate(QStyledItemDelegate):
    """Draws each line by its layout."""

    def __init__(self, theme: Theme, view: PanelView) -> None:
        super().__init__(view)
        self._theme = theme
        self._view = view
        self._blocks = BlockLayouts(TextMeasure(theme))

    def layout(self, line: PanelRow, index: Index) -> BlockLayout:
        node = line.node
        foldable = node.has_children
        state = BlockState(
            width=self._view.width(),
            edge=self._view.compute_box_edge(),
            depth=line.depth,
            foldable=foldable,
            expanded=foldable and self._view.isExpanded(index),
            current=index == self._view.currentIndex(),
        )
        return self._blocks.layout(node.key, node.block, state)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:  # noqa: ARG002 - Qt's
        line = self._model().line(index)
        return QSize(0, 0) if line is None else QSize(0, math.ceil(self.layout(line, index).height))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        line = self._model().line(index)
        if line is None:
            return
        rect = QRectF(option.rect)
        with QPainterStateGuard(painter):
            pen = ThemePainter(painter, self._theme)
            fill = self._fill(line, index)
            if fill is not None:
                rect.setLeft(self._theme.px(_INSET))
                rect.setRight(self._view.compute_box_edge())
                pen.tint(rect, fill, radius=_RADIUS)
            self.layout(line, index).draw(pen, rect.y())

    def _fill(self, line: PanelRow, index: Index) -> str | None:
        if not isinstance(line.node.block, RowBlock | LinkBlock):
            return None
        if index == self._view.currentIndex():
            return "selection"
        return "hover" if line is self._view.hovered else None

    def createEditor(
        self,
        parent: QWidget,
        option: QStyleOptionViewItem,  # noqa: ARG002
        index: Index,
    ) -> QWidget:
        """Return a field in which an address can be selected as text, but not changed."""
        field = QLineEdit(parent)
        field.setReadOnly(True)
        field.setAccessibleName(str(index.data()))
        return field

    def setModelData(self, editor: QWidget, model: object, index: Index) -> None:
        """Change nothing: the field is there to read."""

    def _model(self) -> PanelModel:
        model = self._view.model()
        assert isinstance(model, PanelModel)
        return model


#: Terms above this depth are initially open.
OPEN_LEVELS = 2


class PanelView(QTreeView):
    """Shows the lines of an explanation."""

    #: A link was followed; carries its node.
    followed = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._folds: dict[str, bool] = {}
        self._restoring = False
        self._staying = False
        self.hovered: PanelRow | None = None
        self.lines = PanelModel(self)
        self.setModel(self.lines)
        self._delegate = PanelDelegate(theme, self)
        self.setItemDelegate(self._delegate)
        # The content scrolls behind the scroll bar too.
        self.setStyleSheet("QTreeView { background: transparent; }")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHeaderHidden(True)
        self.setIndentation(0)
        self.setRootIsDecorated(False)
        self.setMouseTracking(True)
        self.setExpandsOnDoubleClick(False)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setEditTriggers(QAbstractItemView.EditTrigger.DoubleClicked | QAbstractItemView.EditTrigger.EditKeyPressed)
        self.expanded.connect(lambda index: self._keep_fold(index, open_=True))
        self.collapsed.connect(lambda index: self._keep_fold(index, open_=False))
        theme.changed.connect(self._redo)

    # Display

    def show_nodes(self, nodes: tuple[PanelNode, ...], *, stay: bool = False) -> None:
        """Show other lines; folds stay, and the current line if it still exists.

        With `stay` they are about the same figure: the scroll position stays too.
        """
        places = self._list_visible_lines() if stay else []
        current = self._get_line(self.currentIndex())
        self.hovered = None
        if not self.lines.show(nodes):
            self._restoring = True
            try:
                self._open(self.lines.lines)
            finally:
                self._restoring = False
            self._staying = stay
            if current is not None:
                self.setCurrentIndex(self.lines.find(current.node.key))
            self._staying = False
            if not stay and not self.currentIndex().isValid():
                self.scrollToTop()
        if places:
            # Other texts have other heights.
            self.executeDelayedItemsLayout()
        for key, top in places:
            rect = self.visualRect(self.lines.find(key))
            if rect.isValid():
                bar = self.verticalScrollBar()
                bar.setValue(bar.value() + rect.top() - top)
                return

    def _list_visible_lines(self) -> list[tuple[str, int]]:
        """Return the keys of the visible lines, and their y; empty at the very top.

        A line that is cut off at the top comes last.
        """
        if self.verticalScrollBar().value() == 0:
            return []
        places: list[tuple[str, int]] = []
        index = self.indexAt(QPoint(0, 0))
        while (line := self._get_line(index)) is not None:
            top = self.visualRect(index).top()
            if top > self.viewport().height():
                break
            places.append((line.node.key, top))
            index = self.indexBelow(index)
        return sorted(places, key=lambda place: place[1] < 0)

    def compute_box_edge(self) -> int:
        """Return the right edge of boxes and fills: at their margin, clear of the scroll bar."""
        return min(self.width() - self._theme.px(8), self.viewport().width() - 2)

    def focus_rect(self) -> QRect | None:
        index = self.currentIndex()
        if not index.isValid():
            return None
        rect = self.visualRect(index).intersected(self.viewport().rect())
        rect.setLeft(self._theme.px(8))
        rect.setRight(self.compute_box_edge())
        return None if rect.isEmpty() else rect

    def go_to(self, key: str) -> bool:
        """Make the line with a key current, and show it; return whether it exists."""
        index = self.lines.find(key)
        if index.isValid():
            self.setCurrentIndex(index)
            self.scrollTo(index, QAbstractItemView.ScrollHint.EnsureVisible)
        return index.isValid()

    def _get_line(self, index: Index) -> PanelRow | None:
        return self.lines.line(index)

    # Folding

    def _open(self, lines: list[PanelRow]) -> None:
        for line in lines:
            if line.node.has_children and self._is_open(line):
                self.setExpanded(self.lines.index_of(line), True)
                self._open(line.children)

    def _is_open(self, line: PanelRow) -> bool:
        default = isinstance(line.node.subject, TermLine) and line.depth < OPEN_LEVELS
        return self._folds.get(line.node.key, default)

    def _keep_fold(self, index: Index, *, open_: bool) -> None:
        line = self._get_line(index)
        if line is not None and not self._restoring:
            self._folds[line.node.key] = open_

    def _toggle(self, line: PanelRow) -> None:
        index = self.lines.index_of(line)
        self.setExpanded(index, not self.isExpanded(index))

    # Keys and mouse

    def currentChanged(self, current: Index, previous: Index) -> None:
        super().currentChanged(current, previous)
        for index in (previous, current):
            line = self._get_line(index)
            if line is not None:
                place = self.lines.index_of(line)
                self.lines.dataChanged.emit(place, place)
        if current.isValid() and not self._staying:
            self.scrollTo(current)
        FocusRing.moved(self)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Follow links with Enter, copy with the platform's key; the tree handles the rest."""
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_current()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.follow(self.currentIndex())
        elif event.key() == Qt.Key.Key_F2 and self._follow_edit_link():
            event.accept()
        elif event.key() == Qt.Key.Key_Down and not self.currentIndex().isValid():
            self._go_first()
        else:
            super().keyPressEvent(event)

    def _follow_edit_link(self) -> bool:
        """Follow the link with the key F2; an address gets the key press itself, to be selected as text."""
        current = self._get_line(self.currentIndex())
        if current is not None and current.node.address:
            return False
        nodes = (line.node for line in self.lines.lines)
        link = next((node for node in nodes if _key_of(node) == "F2"), None)
        if link is not None:
            self.followed.emit(link)
        return link is not None

    def copy_current(self) -> None:
        text = self.currentIndex().data(COPIED_ROLE)
        if text:
            QApplication.clipboard().setText(str(text))

    def follow(self, index: Index) -> None:
        """Handle Enter or a click: follow a link, go from a term to its claims, fold or unfold."""
        line = self._get_line(index)
        if line is None:
            return
        if isinstance(line.node.block, LinkBlock) or line.node.address:
            self.followed.emit(line.node)
        elif line.node.has_children:
            self._toggle(line)
        elif isinstance(line.node.subject, TermLine) and line.node.subject.claims:
            self.go_to(f"claim.{line.node.subject.claims}.0")

    def _go_first(self) -> None:
        if self.lines.lines:
            self.setCurrentIndex(self.lines.index_of(self.lines.lines[0]))

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if not self.currentIndex().isValid():
            self._go_first()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Fold at the arrow, open claims and groups, follow links; anything else is selected."""
        super().mousePressEvent(event)
        if event.button() != Qt.MouseButton.LeftButton:
            return
        point = event.position().toPoint()
        index = self.indexAt(point)
        line = self._get_line(index)
        if line is None:
            return
        if line.node.folding or self._on_fold(line, index, point):
            self._toggle(line)
        elif isinstance(line.node.block, LinkBlock):
            self.followed.emit(line.node)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        index = self.indexAt(event.position().toPoint())
        line = self._get_line(index)
        if line is not None and isinstance(line.node.subject, TermLine) and line.node.has_children:
            self._toggle(line)
        elif line is not None and line.node.address:
            self.edit(index)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        line = self._get_line(self.currentIndex())
        if line is None:
            return
        menu = make_menu(parent=self)
        menu.addAction(tr("Copy"), self.copy_current).setEnabled(bool(line.node.copied))
        if line.node.has_children:
            is_open = self.isExpanded(self.currentIndex())
            menu.addAction(tr("Collapse") if is_open else tr("Expand"), lambda: self._toggle(line))
        menu.aboutToHide.connect(menu.deleteLater)
        place = event.globalPos()
        if event.reason() == QContextMenuEvent.Reason.Keyboard:
            place = self.viewport().mapToGlobal(self.visualRect(self.currentIndex()).bottomLeft())
        menu.popup(place)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        self._hover(self.indexAt(event.position().toPoint()))

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._hover(QModelIndex())

    def _hover(self, index: QModelIndex) -> None:
        line = self._get_line(index)
        if line is self.hovered:
            return
        former, self.hovered = self.hovered, line
        for changed in (former, line):
            if changed is not None:
                self.viewport().update(self.visualRect(self.lines.index_of(changed)))
        hand = line is not None and isinstance(line.node.block, LinkBlock)
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if hand else Qt.CursorShape.ArrowCursor)

    def _on_fold(self, line: PanelRow, index: QModelIndex, point: QPoint) -> bool:
        fold = self._delegate.layout(line, index).fold
        return line.node.has_children and fold is not None and fold.contains(point - self.visualRect(index).topLeft())

    # Painting

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self.viewport()) as painter:
            painter.fillRect(event.rect(), self._theme.color("chrome"))
        super().paintEvent(event)

    def drawRow(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        self._delegate.paint(painter, option, index)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.oldSize().width() != event.size().width():
            self.scheduleDelayedItemsLayout()
        FocusRing.moved(self)

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        super().scrollContentsBy(dx, dy)
        FocusRing.moved(self)

    def _redo(self) -> None:
        self.scheduleDelayedItemsLayout()
        self.viewport().update()


def _key_of(node: PanelNode) -> str:
    return node.block.key if isinstance(node.block, LinkBlock) else ""
