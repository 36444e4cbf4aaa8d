"""The drawings of the icons of program and file types; tests/frozen looks at the files that are made of them."""

from pathlib import Path

import pytest
from PySide6.QtGui import QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

ROOT = Path(__file__).parents[2]
DRAWINGS = [ROOT / "resources/icons/gpudesk.svg", *sorted((ROOT / "packaging/icons").glob("*.svg"))]


@pytest.mark.parametrize("drawing", DRAWINGS, ids=lambda path: path.stem)
def test_drawing_fills_a_square_and_has_more_than_one_tone(drawing: Path) -> None:
    renderer = QSvgRenderer(str(drawing))
    assert renderer.isValid()
    assert renderer.defaultSize().width() == renderer.defaultSize().height()
    image = QImage(16, 16, QImage.Format.Format_ARGB32)
    image.fill(0)
    painter = QPainter(image)
    renderer.render(painter)
    painter.end()
    tones = {image.pixelColor(x, y).name() for x in range(16) for y in range(16)}
    assert len(tones) > 8
    # Pages leave room at their sides, not above and below.
    assert any(image.pixelColor(8, y).alpha() > 128 for y in (0, 1))
    assert any(image.pixelColor(8, y).alpha() > 128 for y in (14, 15))
