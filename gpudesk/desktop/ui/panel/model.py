"""The tree model of the panel: it changes texts in place while its shape stays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from gpudesk.desktop.ui.panel.blocks import HeadingBlock, RowBlock
from gpudesk.desktop.ui.panel.nodes import PanelNode
from gpudesk.report.explanation.parts import Explanation

Index = QModelIndex | QPersistentModelIndex

#: What is copied of a line.
COPIED_ROLE = Qt.ItemDataRole.UserRole + 1


class PanelRow:
    """A node at its place in the tree."""

    def __init__(self, node: PanelNode, row: int, parent: PanelRow | None) -> None:
        """Take the node; what belongs to it follows when it is asked for."""
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
        """Put new nodes into lines of the same shape, and say which lines changed."""
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

    # Finding

    def line(self, index: Index) -> PanelRow | None:
        row: PanelRow | None = index.internalPointer() if index.isValid() else None
        return row

    def index_of(self, line: PanelRow) -> QModelIndex:
        return self.createIndex(line.row, 0, line)

    def find(self, key: str) -> QModelIndex:
        lines = self.lines
        while lines:
            # The key of a line begins with those of the lines that it belongs to.
            on_the_way = [line for line in lines if key.startswith(line.node.key)]
            row = next((line for line in on_the_way if line.node.key == key), None)
            if row is not None:
                return self.index_of(row)
            lines = [child for line in on_the_way for child in line.children]
        return QModelIndex()

    # What Qt asks

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
            return make_tool_tip(node)
        return node.copied if role == COPIED_ROLE else None


def _differs(former: PanelNode, node: PanelNode) -> bool:
    """Whether a line looks another way; of an explanation only its head counts, which its sentence says."""
    head = isinstance(node.block, Explanation)
    return former.sentence != node.sentence if head else former.block != node.block


def make_tool_tip(node: PanelNode) -> str | None:
    """Return the whole of what a line may have no room for."""
    if isinstance(node.block, RowBlock):
        return node.block.tool_tip
    if isinstance(node.block, HeadingBlock):
        return "\n".join(filter(None, (node.block.title, node.block.aside)))
    return node.sentence if isinstance(node.block, Explanation) else None
