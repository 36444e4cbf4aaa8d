"""The panel "Sources and working": it explains the selection unless it is pinned."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QShowEvent
from PySide6.QtWidgets import QApplication, QHBoxLayout, QSplitter, QVBoxLayout, QWidget

from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.scenario_edits import apply_remedy, free_counts
from gpudesk.desktop.session.selection import Selection, SelectionKind
from gpudesk.desktop.session.settings import UserSettings
from gpudesk.desktop.ui.panel.blocks import LinkBlock, LinkCommand
from gpudesk.desktop.ui.panel.nodes import NodeBuilder, PanelNode, make_empty_nodes
from gpudesk.desktop.ui.panel.view import PanelView
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.buttons import IconButton
from gpudesk.desktop.ui.widgets.labels import ThemedLabel
from gpudesk.desktop.window.selection_explainer import (
    SelectionExplainer,
    forget_offer,
    make_editor_request,
    revert_offer,
)
from gpudesk.documents.settings_file import STALE_FACT_DAYS, STALE_PRICE_DAYS
from gpudesk.domain.answer import ComparisonColumn
from gpudesk.domain.sizing import FitRemedy
from gpudesk.report.explanation.claims import format_explanation, format_working
from gpudesk.report.explanation.parts import CatalogAction, CatalogActionKind, Explanation
from gpudesk.text.messages import InputError
from gpudesk.text.translation import tr

LEAST_WIDTH = 280
WIDTH = 312


class SourcesPanel(QWidget):
    """Explains the selected figure. `pinned` keeps it on the figure that it shows."""

    manual_topic = "working"

    #: The user asked to close the panel.
    close_requested = Signal()
    #: The user asked to edit a fact of the catalog: an `EditorRequest`.
    editor_requested = Signal(object)
    #: A fact could not be taken back: an `InputError`.
    failed = Signal(object)

    def __init__(self, desk: Desk, theme: Theme, settings: UserSettings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._desk = desk
        self._theme = theme
        self._settings = settings
        self._explainer = SelectionExplainer(desk, settings)
        self._nodes = NodeBuilder()
        self._explanation: Explanation | None = None
        self._selection: Selection | None = None
        self._shown_selection: Selection | None = None
        self._columns: tuple[ComparisonColumn, ...] | None = None
        self._pinned = False
        self._stale = True
        self._partial = False
        self.setObjectName("sources-panel")
        self.setAccessibleName(tr("Sources and calculation"))
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setMinimumWidth(LEAST_WIDTH)
        self._make()
        desk.selection_changed.connect(self._selected)
        desk.answered.connect(self._answered)
        desk.catalog_changed.connect(self._refresh_later)
        settings.changed.connect(self._rule_changed)
        desk.gesture_changed.connect(self._gesture_changed)
        theme.changed.connect(self._dress)
        self._dress()

    def _make(self) -> None:
        self._title = ThemedLabel(self._theme, tr("Sources and calculation"), font="section")
        self._pin = IconButton(self._theme, "pin", tr("Pin: keep showing this figure"))
        self._pin.setCheckable(True)
        self._pin.toggled.connect(self._set_pinned)
        self._close = IconButton(self._theme, "x", tr("Close panel"), key="Ctrl+I")
        self._close.clicked.connect(self.close_requested)
        self._head = QHBoxLayout()
        self._head.addWidget(self._title, 1)
        self._head.addWidget(self._pin)
        self._head.addWidget(self._close)
        self.view = PanelView(self._theme, self)
        self.view.setAccessibleName(tr("Sources and calculation"))
        self.view.followed.connect(self._follow)
        self.setFocusProxy(self.view)
        self._column = QVBoxLayout(self)
        self._column.setSpacing(0)
        self._column.addLayout(self._head)
        self._column.addWidget(self.view, 1)

    # What is shown

    @property
    def pinned(self) -> bool:
        return self._pinned

    @property
    def explanation(self) -> Explanation | None:
        return self._explanation

    def set_pinned(self, pinned: bool) -> None:
        self._pin.setChecked(pinned)

    def _set_pinned(self, pinned: bool) -> None:
        self._pinned = pinned
        self._pin.set_icon("pin-off" if pinned else "pin")
        self._pin.set_name(tr("Unpin: follow the selection") if pinned else tr("Pin: keep showing this figure"))
        if not pinned:
            self._selected()

    def _selected(self) -> None:
        if not self._pinned:
            self._selection = self._desk.selection
            self._refresh_later()

    def _gesture_changed(self) -> None:
        if not self._desk.in_gesture and self._partial:
            self._refresh_later()

    def _answered(self) -> None:
        if self._stale or self._selection != self._shown_selection or not self._is_explained():
            self._refresh_later()

    def _is_explained(self) -> bool:
        """Whether a new answer makes no difference: to nothing, or to a figure when costs alone changed."""
        if self._selection is None:
            return True
        answer = self._desk.answer
        is_figure = self._selection.kind is SelectionKind.FIGURE
        return is_figure and answer is not None and answer.columns is self._columns

    def _refresh_later(self) -> None:
        if self.isVisible():
            self.refresh()
        else:
            self._stale = True

    def refresh(self) -> None:
        """Explain the figure anew; while something is dragged only its head, which is all that is watched."""
        self._stale = False
        self._partial = self._desk.in_gesture
        whole = not self._partial
        explanation = self._explainer.explain(self._selection, whole=whole)
        former = self._explanation
        if not whole and explanation is not None and former is not None:
            explanation = self._explainer.updated(former, explanation)
        self._explanation = explanation
        nodes = make_empty_nodes() if explanation is None else self._nodes.build(explanation)
        self.view.show_nodes(nodes, stay=self._shown_selection == self._selection)
        self._shown_selection = self._selection
        self._columns = None if self._desk.answer is None else self._desk.answer.columns
        self.view.setAccessibleDescription(nodes[0].sentence)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._stale:
            if not self._pinned:
                self._selection = self._desk.selection
            self.refresh()

    # Links

    def _follow(self, node: PanelNode) -> None:
        if isinstance(node.block, LinkBlock):
            self._do(node.block)
        else:
            self._copy(node.copied)

    def _do(self, link: LinkBlock) -> None:
        explanation = self._explanation
        if explanation is None:
            return
        if link.command is LinkCommand.COPY_WITH_SOURCES:
            self._copy(format_explanation(explanation))
        elif link.command is LinkCommand.COPY_WORKING and explanation.working is not None:
            self._copy(format_working(explanation.working))
        elif link.command is LinkCommand.FREE_COUNTS:
            self._desk.apply(free_counts(self._desk.scenario), link.text)
        elif link.offer is not None:
            self._edit(link.offer)
        elif link.remedy is not None and self._selection is not None:
            self._take(link.remedy, link.text, self._selection.column)

    def _edit(self, offer: CatalogAction) -> None:
        take_back = {CatalogActionKind.REVERT: revert_offer, CatalogActionKind.FORGET: forget_offer}.get(offer.kind)
        if take_back is None:
            self.editor_requested.emit(make_editor_request(offer))
            return
        try:
            take_back(offer, self._desk)
        except InputError as error:
            self.failed.emit(error)

    def _rule_changed(self, name: str) -> None:
        if name in (STALE_PRICE_DAYS, STALE_FACT_DAYS):
            self._refresh_later()

    def _take(self, remedy: FitRemedy, text: str, key: str) -> None:
        column = self._desk.column(key)
        if column is not None:
            position, vendor = self._desk.keys.index(key), column.accelerator.vendor
            self._desk.apply(apply_remedy(self._desk.scenario, position, remedy, vendor), text)

    @staticmethod
    def _copy(text: str) -> None:
        QApplication.clipboard().setText(text)

    # Looks

    def sizeHint(self) -> QSize:
        return QSize(self._theme.px(WIDTH), self._theme.px(480))

    def _dress(self) -> None:
        px = self._theme.px
        self._head.setContentsMargins(px(16), px(6), px(6), px(7))
        self._head.setSpacing(px(2))
        self._column.setContentsMargins(1 if self._lies_over else 0, 0, 0, 0)
        self.update()

    @property
    def _lies_over(self) -> bool:
        """Whether the panel overlays the page: beside it, the splitter draws the line between them."""
        return not isinstance(self.parentWidget(), QSplitter)

    def event(self, event: QEvent) -> bool:
        """Draw a line of its own where the panel is taken out of the splitter."""
        done = super().event(event)
        if event.type() == QEvent.Type.ParentChange:
            self._dress()
        return done

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.fillRect(event.rect(), self._theme.colour("chrome"))
            y = self.view.y() - 1
            painter.fillRect(0, y, self.width(), 1, self._theme.colour("hair"))
            if self._lies_over:
                painter.fillRect(0, 0, 1, self.height(), self._theme.colour("strong"))
