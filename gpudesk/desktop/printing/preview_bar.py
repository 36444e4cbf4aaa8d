"""The bar above the preview: paper, zoom, pages, and what becomes of the sheet."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from gpudesk.desktop.printing.paper import PaperSize
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.buttons import Button, IconButton
from gpudesk.desktop.widgets.label import Label
from gpudesk.desktop.widgets.segment import Segment
from gpudesk.text import tr

#: One step of the zoom.
ZOOM_STEP = 1.25


class PreviewBar(QWidget):
    """Shows where the preview stands and says what the user asks for."""

    #: A `PaperSize` by its value.
    paper_chosen = Signal(str)
    #: The factor by which the zoom changes.
    zoomed = Signal(float)
    whole_page_wanted = Signal()
    #: −1 to the page before, 1 to the next.
    turned = Signal(int)
    print_wanted = Signal()
    save_wanted = Signal()

    def __init__(self, theme: Theme, paper: PaperSize, parent: QWidget | None = None) -> None:
        """Show the paper in use."""
        super().__init__(parent)
        self._theme = theme
        self._paper = Segment(
            theme, tr("Paper"), [(PaperSize.A4.value, tr("A4")), (PaperSize.LETTER.value, tr("Letter"))]
        )
        self._paper.set_value(paper.value)
        self._paper.chosen.connect(self.paper_chosen)
        self._smaller = self._icon_button("zoom-out", tr("Zoom out"), "Ctrl+-")
        self._smaller.clicked.connect(lambda: self.zoomed.emit(1 / ZOOM_STEP))
        self._zoom = Label(theme, font="small", colour="text2")
        self._zoom.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._larger = self._icon_button("zoom-in", tr("Zoom in"), "Ctrl++")
        self._larger.clicked.connect(lambda: self.zoomed.emit(ZOOM_STEP))
        self._whole = self._icon_button("maximize", tr("Show a whole page"), "Ctrl+0")
        self._whole.clicked.connect(self.whole_page_wanted)
        self._back = self._icon_button("chevron-up", tr("Go to the page before"), "PgUp")
        self._back.clicked.connect(lambda: self.turned.emit(-1))
        self._on = self._icon_button("chevron-down", tr("Go to the next page"), "PgDown")
        self._on.clicked.connect(lambda: self.turned.emit(1))
        self._place = Label(theme, font="small", colour="text2")
        self._print = Button(theme, tr("Print…"), icon="printer", key=tr("Ctrl P"))
        self._print.setAutoDefault(False)
        self._print.clicked.connect(self.print_wanted)
        self.save = Button(theme, tr("Save PDF…"), icon="file-down", kind="primary", key=tr("Ctrl S"))
        self.save.setDefault(True)
        self.save.clicked.connect(self.save_wanted)
        self._arrange()
        theme.follow(self._dress)

    def show_zoom(self, zoom: float) -> None:
        """Say the zoom in per cent."""
        text = tr("{n} %", n=round(zoom * 100))
        self._zoom.setText(text)
        self._zoom.setAccessibleName(tr("Zoom {zoom}", zoom=text))

    def show_place(self, number: int, count: int) -> None:
        """Say which page is in sight, counted from 0."""
        self._place.setText(tr("Page {number} of {count}", number=number + 1, count=count))
        self._back.setEnabled(number > 0)
        self._on.setEnabled(number < count - 1)

    def forbid_printing(self, reason: str) -> None:
        """Let nothing be printed, for this reason."""
        self._print.setEnabled(False)
        self._print.setToolTip(reason)
        self._print.setAccessibleDescription(reason)

    def _icon_button(self, icon: str, name: str, key: str) -> IconButton:
        return IconButton(self._theme, icon, name, key=key)

    def _arrange(self) -> None:
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 10, 16, 10)
        row.setSpacing(4)
        row.addWidget(self._paper)
        row.addSpacing(12)
        for widget in (self._smaller, self._zoom, self._larger, self._whole):
            row.addWidget(widget)
        row.addSpacing(12)
        for widget in (self._back, self._on, self._place):
            row.addWidget(widget)
        row.addStretch(1)
        row.addWidget(self._print)
        row.addSpacing(4)
        row.addWidget(self.save)

    def _dress(self) -> None:
        # As wide as the widest zoom, so that nothing beside it moves.
        self._zoom.setFixedWidth(self._theme.px(44))
