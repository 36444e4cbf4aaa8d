"""What others state about the figure of a form, beside its rows, as the panel shows it."""

from __future__ import annotations

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from gpudesk.desktop.panel.node import Kind, Node, Remark
from gpudesk.desktop.panel.view import PanelView
from gpudesk.desktop.theme.pen import Pen
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.label import Label
from gpudesk.domain.claims import Attribute
from gpudesk.domain.formatting import Formatter
from gpudesk.sheets.claim_lines import claim_group
from gpudesk.sheets.explanation import ClaimGroup
from gpudesk.text import tr


class ClaimsAside(QWidget):
    """All claims about an attribute, the one in force first; each unfolds into what is known about it."""

    def __init__(
        self, theme: Theme, attribute: Attribute, formatter: Formatter, high: Attribute | None = None
    ) -> None:
        """Show an attribute's claims; `high` is the upper end of what is stated as a range."""
        super().__init__()
        self._theme = theme
        self.view = PanelView(theme)
        self.view.setAccessibleName(tr("Claims"))
        group = claim_group(attribute, formatter, high)
        self.view.show_nodes(_nodes(group) if group.claims else (_nobody(),))
        px = theme.px
        head = QHBoxLayout()
        head.setContentsMargins(px(16), px(16), px(16), px(6))
        head.addWidget(Label(theme, tr("Claims"), font="section"))
        head.addStretch(1)
        if len(group.claims) > 1:
            head.addWidget(Label(theme, tr("preferred first"), font="caption", colour="text3"))
        column = QVBoxLayout(self)
        column.setContentsMargins(1, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(self.view, 1)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, ARG002 - Qt's name
        """Lie on the panel's colour, divided from the rows."""
        painter = QPainter(self)
        try:
            pen = Pen(painter, self._theme)
            painter.fillRect(self.rect(), self._theme.colour("chrome"))
            area = QRectF(self.rect())
            pen.hairline(0, area.top(), 0, area.bottom())
            pen.hairline(0, 0, area.right(), 0)
        finally:
            painter.end()


def _nodes(group: ClaimGroup) -> tuple[Node, ...]:
    lines = []
    for place, claim in enumerate(group.claims):
        key = f"claim.{place}"
        below = tuple(
            Node(Kind.DETAIL, f"{key}.{number}", detail, f"{detail.label}: {detail.value}")
            for number, detail in enumerate(claim.details)
        )
        lines.append(Node(Kind.CLAIM, key, claim, claim.sentence, claim.sentence, below))
    if group.reason:
        lines.append(Node(Kind.NOTE, "reason", Remark(group.reason, "scale"), group.reason))
    return tuple(lines)


def _nobody() -> Node:
    text = tr("Nobody states a value yet")
    return Node(Kind.EMPTY, "nobody", Remark(text, "info"), text)
