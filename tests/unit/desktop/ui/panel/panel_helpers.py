"""Readings and operations of the panel for its tests."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, Qt
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from gpudesk.desktop.ui.panel.blocks import HeadingBlock
from gpudesk.desktop.ui.panel.nodes import PanelNode
from gpudesk.desktop.ui.panel.view import PanelModel
from gpudesk.desktop.window.sources_panel import SourcesPanel


def list_sentences(panel: SourcesPanel, kind: type) -> list[str]:
    return [node.sentence for node in _list_nodes(panel) if is_about(node, kind)]


def is_about(node: PanelNode, kind: type) -> bool:
    return isinstance(node.subject, kind) or isinstance(node.block, kind)


def list_sections(panel: SourcesPanel) -> list[str]:
    return [node.sentence for node in _list_nodes(panel) if _is_heading(node, group=False)]


def list_groups(panel: SourcesPanel) -> list[str]:
    return [node.sentence for node in _list_nodes(panel) if _is_heading(node, group=True)]


def list_folds(panel: SourcesPanel) -> list[str]:
    return [node.sentence for node in _list_nodes(panel) if is_fold(node)]


def is_fold(node: PanelNode) -> bool:
    return node.folding and node.subject is None


def _is_heading(node: PanelNode, *, group: bool) -> bool:
    return isinstance(node.block, HeadingBlock) and bool(node.block.title) and node.block.group is group


def _list_nodes(panel: SourcesPanel) -> list[PanelNode]:
    return [line.node for top in panel.view.lines.lines for line in top.walk()]


def get_current_text(panel: SourcesPanel) -> str:
    return str(panel.view.currentIndex().data())


def click_row(qtbot: QtBot, panel: SourcesPanel, index: QModelIndex) -> None:
    position = panel.view.visualRect(index).center()
    qtbot.mouseClick(panel.view.viewport(), Qt.MouseButton.LeftButton, pos=position)  # type: ignore[no-untyped-call]


def check_model(model_tester: ModelTester, model: PanelModel) -> None:
    model_tester.check(model)  # type: ignore[no-untyped-call]


def press_keys(qtbot: QtBot, panel: SourcesPanel, *keys: Qt.Key) -> None:
    for key in keys:
        qtbot.keyClick(panel.view, key)  # type: ignore[no-untyped-call]
