"""Pages of a sheet on screen, as they print."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPixmap
from PySide6.QtWidgets import QWidget

from gpudesk.desktop.ui.printing.layout import SheetPages
from gpudesk.desktop.ui.printing.paper import UNITS
from gpudesk.desktop.ui.printing.pieces import SheetPainter
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import ThemePainter
from gpudesk.text.translation import trn

#: Device-independent pixels of a point at 100%.
PIXELS_PER_POINT = 96 / 72
LEAST_ZOOM = 0.25
MOST_ZOOM = 4.0

_GAP = 16
#: Larger pictures of pages are not kept but drawn each time.
_MOST_PIXELS = 16_000_000


class PagesView(QWidget):
    """All pages below each other on a quiet ground, at a zoom."""

    #: The zoom or the pages have changed, and with them the size.
    resized = Signal()

    def __init__(self, pages: SheetPages, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._pages = pages
        self._theme = theme
        self._zoom = 1.0
        self._pictures: dict[int, QPixmap] = {}
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        theme.changed.connect(self.update)
        self._settle()

    @property
    def zoom(self) -> float:
        return self._zoom

    @property
    def count(self) -> int:
        return len(self._pages.pages)

    def set_pages(self, pages: SheetPages) -> None:
        self._pages = pages
        self._settle()

    def set_zoom(self, zoom: float) -> None:
        self._zoom = min(MOST_ZOOM, max(LEAST_ZOOM, zoom))
        self._settle()

    def zoom_to_fit(self, room: QSize, *, whole_page: bool) -> float:
        paper = self._pages.paper
        across = (room.width() - 2 * _GAP) / (paper.width * PIXELS_PER_POINT)
        down = (room.height() - 2 * _GAP) / (paper.height * PIXELS_PER_POINT)
        return min(across, down) if whole_page else across

    def page_rect(self, number: int) -> QRectF:
        """Return the rectangle of a page, counted from 0."""
        wide, high = self._page_size()
        left = max(_GAP, (self.width() - wide) / 2)
        return QRectF(round(left), _GAP + number * (high + _GAP), wide, high)

    def page_at(self, y: float) -> int:
        _, high = self._page_size()
        return min(self.count - 1, max(0, int((y - _GAP / 2) // (high + _GAP))))

    def sizeHint(self) -> QSize:
        wide, high = self._page_size()
        return QSize(wide + 2 * _GAP, _GAP + self.count * (high + _GAP))

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.fillRect(event.rect(), self._theme.colour("sunken"))
            for number in range(self.count):
                rect = self.page_rect(number)
                if rect.intersects(QRectF(event.rect())):
                    self._draw_page(painter, number, rect)

    def _draw_page(self, painter: QPainter, number: int, rect: QRectF) -> None:
        ratio = self.devicePixelRatioF()
        if rect.width() * rect.height() * ratio * ratio > _MOST_PIXELS:
            painter.save()
            painter.setClipRect(rect, Qt.ClipOperation.IntersectClip)
            painter.translate(rect.topLeft())
            self._print_page(painter, number, rect)
            painter.restore()
        else:
            painter.drawPixmap(rect.topLeft(), self._picture(number, rect, ratio))
        ThemePainter(painter, self._theme).frame(rect.adjusted(-1, -1, 1, 1), "strong", radius=0)

    def _picture(self, number: int, rect: QRectF, ratio: float) -> QPixmap:
        picture = self._pictures.get(number)
        if picture is None or picture.devicePixelRatio() != ratio:
            picture = QPixmap(round(rect.width() * ratio), round(rect.height() * ratio))
            picture.setDevicePixelRatio(ratio)
            with QPainter(picture) as painter:
                self._print_page(painter, number, rect)
            self._pictures[number] = picture
        return picture

    def _print_page(self, painter: QPainter, number: int, rect: QRectF) -> None:
        """Draw a page with the top left corner of the paper at the painter's origin."""
        painter.fillRect(QRectF(0, 0, rect.width(), rect.height()), Qt.GlobalColor.white)
        scale = self._zoom * PIXELS_PER_POINT / UNITS
        painter.scale(scale, scale)
        self._pages.draw(number, SheetPainter(painter))

    def _page_size(self) -> tuple[int, int]:
        scale = self._zoom * PIXELS_PER_POINT
        return round(self._pages.paper.width * scale), round(self._pages.paper.height * scale)

    def _settle(self) -> None:
        self._pictures.clear()
        self.setMinimumSize(self.sizeHint())
        self.resize(self.sizeHint().expandedTo(self.size()))
        self.setAccessibleName(trn("Comparison sheet, {n} page", "Comparison sheet, {n} pages", self.count))
        self.update()
        self.resized.emit()
