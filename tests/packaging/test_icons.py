"""The icons of program and file types: drawings that can be drawn, and files that systems can read."""

import struct
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QSize
from PySide6.QtGui import QImage, QImageReader, QPainter
from PySide6.QtSvg import QSvgRenderer

ROOT = Path(__file__).parents[2]
DRAWINGS = [ROOT / "resources/icons/gpudesk.svg", *sorted((ROOT / "packaging/icons").glob("*.svg"))]
PYTHON = ROOT / "build/packages/venv" / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
NAMES = ("gpudesk", "gpudesk-scenario", "gpudesk-pack")


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


@pytest.fixture(scope="module")
def icons(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not PYTHON.exists():
        pytest.skip("make freeze makes the environment that draws the icons")
    folder = tmp_path_factory.mktemp("icons")
    subprocess.run([PYTHON, ROOT / "packaging/make_icons.py", folder], check=True)
    return folder


@pytest.mark.parametrize("name", NAMES)
def test_every_size_and_form_is_made(icons: Path, name: str) -> None:
    assert (icons / f"{name}.svg").is_file()
    for size in (16, 22, 24, 32, 48, 64, 128, 256, 512):
        assert QImage(str(icons / f"{name}-{size}.png")).size() == QSize(size, size)
    reader = QImageReader(str(icons / f"{name}.ico"))
    found = set()
    for number in range(reader.imageCount()):
        reader.jumpToImage(number)
        found.add(reader.read().width())
    # Small ones too, so that nothing is shrunk where Windows has lists and the taskbar.
    assert found >= {16, 20, 24, 32, 48, 256}


@pytest.mark.parametrize("name", NAMES)
def test_icon_of_macos_keeps_the_margin_of_its_grid(icons: Path, name: str) -> None:
    pictures = pictures_of((icons / f"{name}.icns").read_bytes())
    assert set(pictures) == {32, 64, 128, 256, 512, 1024}
    largest = pictures[1024]
    seen = [y for y in range(1024) if largest.pixelColor(512, y).alpha() > 0]
    assert 50 <= seen[0] <= 110
    assert 50 <= 1023 - seen[-1] <= 110


def pictures_of(content: bytes) -> dict[int, QImage]:
    """Return the pictures in an icon of macOS by their size: pieces, each with its kind and its length."""
    kind, length = struct.unpack_from(">4sI", content)
    assert (kind, length) == (b"icns", len(content))
    found, place = {}, 8
    while place < len(content):
        kind, length = struct.unpack_from(">4sI", content, place)
        if kind != b"TOC ":
            picture = QImage.fromData(content[place + 8 : place + length])
            found[picture.width()] = picture
        place += length
    return found
