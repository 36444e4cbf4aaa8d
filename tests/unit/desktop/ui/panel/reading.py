"""What tests read in the panel and do to it."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, Qt
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from gpudesk.desktop.ui.panel.blocks import HeadingBlock
from gpudesk.desktop.ui.panel.nodes import PanelNode
from gpudesk.desktop.ui.panel.view import PanelModel
from gpudesk.desktop.window.sources_panel import SourcesPanel


def lines(panel: SourcesPanel, kind: type) -> list[str]:
    return [node.sentence for node in _nodes(panel) if is_about(node, kind)]


def is_about(node: PanelNode, kind: type) -> bool:
    return isinstance(node.subject, kind) or isinstance(node.block, kind)


def sections(panel: SourcesPanel) -> list[str]:
    return [node.sentence for node in _nodes(panel) if _is_heading(node, group=False)]


def groups(panel: SourcesPanel) -> list[str]:
    return [node.sentence for node in _nodes(panel) if _is_heading(node, group=True)]


def folds(panel: SourcesPanel) -> list[str]:
    return [node.sentence for node in _nodes(panel) if is_fold(node)]


def is_fold(node: PanelNode) -> bool:
    return node.folding and node.subject is None


def _is_heading(node: PanelNode, *, group: bool) -> bool:
    return isinstance(node.block, HeadingBlock) and bool(node.block.title) and node.block.group is group


def _nodes(panel: SourcesPanel) -> list[PanelNode]:
    return [line.node for top in panel.view.lines.lines for line in top.walk()]


def current(panel: SourcesPanel) -> str:
    return str(panel.view.currentIndex().data())


def click(qtbot: QtBot, panel: SourcesPanel, index: QModelIndex) -> None:
    place = panel.view.visualRect(index).center()
    qtbot.mouseClick(panel.view.viewport(), Qt.MouseButton.LeftButton, pos=place)  # type: ignore[no-untyped-call]


def check(model_tester: ModelTester, model: PanelModel) -> None:
    model_tester.check(model)  # type: ignore[no-untyped-call]


def press(qtbot: QtBot, panel: SourcesPanel, *keys: Qt.Key) -> None:
    for key in keys:
        qtbot.keyClick(panel.view, key)  # type: ignore[no-untyped-call]
