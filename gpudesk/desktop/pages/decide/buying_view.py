"""The view Export and terms: what rules on exports count, and what to negotiate before signing."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QScrollArea, QVBoxLayout, QWidget

from gpudesk.desktop.pages.decide.buying_export import ExportBlock
from gpudesk.desktop.pages.decide.buying_steps import StepsBlock
from gpudesk.desktop.pages.decide.decided import Decided
from gpudesk.desktop.pages.decide.views import DecideView
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.buttons import LinkButton
from gpudesk.desktop.widgets.ground import Rule
from gpudesk.text import tr

_MARGIN: Final = 16


class BuyingView(DecideView):
    """The export check above, the negotiation sheet below."""

    #: The negotiation sheet is to be saved.
    save_wanted = Signal()

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        """Make both blocks."""
        super().__init__(desk, theme, parent)
        self.found: Decided | None = None
        self.export = ExportBlock(desk, theme, self)
        self.steps = StepsBlock(desk, theme, self)
        self.steps.save_wanted.connect(self.save_wanted)
        self.to_steps = LinkButton(theme, tr("Go to the negotiation sheet"), parent=self)
        self.to_steps.clicked.connect(self.show_steps)
        self.export.add_to_head(self.to_steps)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(theme.px(_MARGIN), theme.px(4), theme.px(_MARGIN), theme.px(_MARGIN))
        whole.setSpacing(theme.px(14))
        for widget in (self.export, Rule(theme, self), self.steps):
            whole.addWidget(widget)
        whole.addStretch(1)

    def show_decision(self, found: Decided) -> None:
        """Show checks and steps for a decision."""
        self.found = found
        self.export.show_decision(found)
        self.steps.show_decision(found)

    def show_steps(self) -> None:
        """Scroll to the negotiation sheet, and give it the focus."""
        area = self.parentWidget()
        while area is not None and not isinstance(area, QScrollArea):
            area = area.parentWidget()
        if area is not None:
            area.verticalScrollBar().setValue(self.steps.y())
        self.steps.focus_first()

    def copied(self) -> str:
        """Return both blocks as text."""
        formatter = self.desk.formatter
        return "\n\n".join((self.export.text(formatter), self.steps.text(formatter)))

    def focus_first(self) -> None:
        """Give the focus to the scores."""
        self.export.scores.setFocus(Qt.FocusReason.OtherFocusReason)
