"""Draw the icons of the program and of its file types in every size and form that the systems ask for.

    make_icons.py FOLDER

For each of `gpudesk`, `gpudesk-scenario` and `gpudesk-pack` FOLDER gets the drawing itself as SVG, PNG files
named by their size, an `.ico` for Windows and an `.icns` for macOS. Needs PySide6 and Pillow, and no display.
"""

from __future__ import annotations

import io
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from PIL import Image
from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QRectF
from PySide6.QtGui import QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

_ROOT = Path(__file__).resolve().parents[1]
_DRAWINGS = _ROOT / "packaging" / "icons"

PNG_SIZES = (16, 22, 24, 32, 48, 64, 128, 256, 512)
ICO_SIZES = (16, 20, 24, 32, 40, 48, 64, 128, 256)
ICNS_SIZES = (32, 64, 128, 256, 512, 1024)
#: The simpler drawing is used up to this size.
_SMALL = 24


@dataclass(frozen=True, slots=True)
class Icon:
    """One icon: its drawing, a simpler one for small sizes, and its scale on macOS.

    `small` is drawn instead of `drawing` if its lines would blur. macOS keeps a margin around every icon: `mac_scale`
    is the share of the side for the whole drawing.
    """

    name: str
    drawing: Path
    small: Path
    mac_scale: float

    def source(self, size: int) -> Path:
        """Return the drawing for a side in pixels."""
        return self.small if size <= _SMALL else self.drawing


ICONS = (
    Icon(
        "gpudesk",
        _ROOT / "resources" / "icons" / "gpudesk.svg",
        _DRAWINGS / "gpudesk-small.svg",
        # The tile takes 60 of the drawing's 64 units; on macOS a tile takes 824 of 1024.
        mac_scale=(824 / 1024) / (60 / 64),
    ),
    # A page with the margin that the system's own documents have, for the shadow that it draws.
    Icon(
        "gpudesk-scenario", _DRAWINGS / "gpudesk-scenario.svg", _DRAWINGS / "gpudesk-scenario-small.svg", mac_scale=0.9
    ),
    Icon("gpudesk-pack", _DRAWINGS / "gpudesk-pack.svg", _DRAWINGS / "gpudesk-pack-small.svg", mac_scale=0.9),
)


def draw(source: Path, size: int, scale: float = 1.0) -> Image.Image:
    """Draw an SVG file into a square of this many pixels, centered, at the size of `scale`."""
    renderer = QSvgRenderer(str(source))
    if not renderer.isValid():
        raise SystemExit(f"{source} is not a drawing that can be read")
    image = QImage(size, size, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(0)
    side = size * scale
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    renderer.render(painter, QRectF((size - side) / 2, (size - side) / 2, side, side))
    painter.end()
    content = QByteArray()
    buffer = QBuffer(content)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # type: ignore[call-overload]  # the stubs know only the name as bytes
    return Image.open(io.BytesIO(content.data())).convert("RGBA")


def make(icon: Icon, folder: Path) -> None:
    """Write all files of one icon."""
    shutil.copyfile(icon.drawing, folder / f"{icon.name}.svg")
    for size in PNG_SIZES:
        draw(icon.source(size), size).save(folder / f"{icon.name}-{size}.png", optimize=True)
    windows = [draw(icon.source(size), size) for size in ICO_SIZES]
    windows[-1].save(folder / f"{icon.name}.ico", sizes=[image.size for image in windows], append_images=windows[:-1])
    apple = [draw(icon.source(size), size, icon.mac_scale) for size in ICNS_SIZES]
    apple[-1].save(folder / f"{icon.name}.icns", append_images=apple[:-1])


def main() -> int:
    """Make all icons."""
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for icon in ICONS:
        make(icon, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
