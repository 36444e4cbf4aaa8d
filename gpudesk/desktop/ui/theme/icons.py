"""Icons: SVG strokes tinted by token when they are painted."""

from __future__ import annotations

from functools import lru_cache
from typing import Protocol

from PySide6.QtCore import QByteArray, QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QIcon, QIconEngine, QImage, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from gpudesk import paths

#: What the SVG files have in the place of a colour.
_PLACEHOLDER = "currentColor"
_PROGRAM_SIZES = (16, 24, 32, 48, 64, 128, 256)


@lru_cache(maxsize=256)
def _source(name: str) -> str:
    return paths.resource(f"icons/{name}.svg").read_text(encoding="utf-8")


def tint_svg(name: str, colour: QColor) -> bytes:
    return _source(name).replace(_PLACEHOLDER, colour.name()).encode()


@lru_cache(maxsize=1024)
def _renderer_of(name: str, rgba: int, width: int, height: int) -> QPixmap:
    colour = QColor.fromRgba(rgba)
    image = QImage(width, height, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(Qt.GlobalColor.transparent)
    renderer = QSvgRenderer(QByteArray(tint_svg(name, colour)))
    renderer.setAspectRatioMode(Qt.AspectRatioMode.KeepAspectRatio)
    with QPainter(image) as painter:
        renderer.render(painter, QRectF(0, 0, width, height))
    return QPixmap.fromImage(image)


def render_icon(name: str, colour: QColor, size: float, ratio: float) -> QPixmap:
    """Return an icon `size` device-independent pixels wide for a screen with this many pixels to each."""
    pixels = max(1, round(size * ratio))
    pixmap = QPixmap(_renderer_of(name, colour.rgba(), pixels, pixels))
    pixmap.setDevicePixelRatio(ratio)
    return pixmap


def draw_icon(painter: QPainter, name: str, colour: QColor, rect: QRectF) -> None:
    renderer = QSvgRenderer(QByteArray(tint_svg(name, colour)))
    renderer.setAspectRatioMode(Qt.AspectRatioMode.KeepAspectRatio)
    renderer.render(painter, rect)


def make_program_icon() -> QIcon:
    """Return the program's own icon, which looks the same in every theme."""
    renderer = QSvgRenderer(str(paths.resource("icons/gpudesk.svg")))
    icon = QIcon()
    for side in _PROGRAM_SIZES:
        pixmap = QPixmap(side, side)
        pixmap.fill(Qt.GlobalColor.transparent)
        with QPainter(pixmap) as painter:
            renderer.render(painter)
        icon.addPixmap(pixmap)
    return icon


class IconColors(Protocol):
    """What an icon asks of the theme when it is painted."""

    def colour(self, token: str) -> QColor: ...

    def px(self, n: float) -> int:
        """Return a length of the design in pixels."""


class TintedIconEngine(QIconEngine):
    """Paints an icon in the colours of the theme in force, so that an icon once set follows its switches.

    However large the place is, the icon is painted no larger than its own size, in the middle.
    """

    def __init__(self, name: str, colour: str, size: float, theme: IconColors) -> None:
        """Keep what to look up when painting; `size` is a length of the design."""
        super().__init__()
        self._name = name
        self._token = colour
        self._size = size
        self._theme = theme

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:  # noqa: ARG002
        ratio = painter.device().devicePixelRatio()
        side = self._side(min(rect.width(), rect.height()))
        pixmap = render_icon(self._name, self._colour(mode), side, ratio)
        corner = QPoint(rect.x() + (rect.width() - side) // 2, rect.y() + (rect.height() - side) // 2)
        painter.drawPixmap(corner, pixmap)

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        """Return a picture of at most this many pixels."""
        return self.scaledPixmap(size, mode, state, 1.0)

    def scaledPixmap(
        self,
        size: QSize,
        mode: QIcon.Mode,
        state: QIcon.State,  # noqa: ARG002 - Qt's signature
        scale: float,
    ) -> QPixmap:
        """Return a picture of at most this many device-independent pixels, sharp at this scale."""
        side = self._side(min(size.width(), size.height()))
        return render_icon(self._name, self._colour(mode), side, scale)

    def clone(self) -> QIconEngine:
        return TintedIconEngine(self._name, self._token, self._size, self._theme)

    def _side(self, room: int) -> int:
        return max(1, min(room, self._theme.px(self._size)))

    def _colour(self, mode: QIcon.Mode) -> QColor:
        return self._theme.colour("disabled" if mode == QIcon.Mode.Disabled else self._token)
