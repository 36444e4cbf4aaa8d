"""What `make freeze` makes on the way: icons that systems can read, and what PyInstaller is given for Windows."""

import struct
import subprocess
from pathlib import Path

import pytest
from PySide6.QtCore import QSize
from PySide6.QtGui import QImage, QImageReader

from tests.frozen.conftest import BUILDERS_PYTHON, ROOT
from tests.packaging.scripts import load

ICONS = ROOT / "build/packages/icons"
NAMES = ("gpudesk", "gpudesk-scenario", "gpudesk-pack")


@pytest.mark.parametrize("name", NAMES)
def test_every_size_and_form_is_made(name: str) -> None:
    assert (ICONS / f"{name}.svg").is_file()
    for size in (16, 22, 24, 32, 48, 64, 128, 256, 512):
        assert QImage(str(ICONS / f"{name}-{size}.png")).size() == QSize(size, size)
    reader = QImageReader(str(ICONS / f"{name}.ico"))
    pictures = set()
    for number in range(reader.imageCount()):
        reader.jumpToImage(number)
        pictures.add(reader.read().width())
    # Small ones too, so that nothing is shrunk where Windows has lists and the taskbar.
    assert pictures >= {16, 20, 24, 32, 48, 256}


@pytest.mark.parametrize("name", NAMES)
def test_icon_of_macos_keeps_the_margin_of_its_grid(name: str) -> None:
    pictures = pictures_of((ICONS / f"{name}.icns").read_bytes())
    assert set(pictures) == {32, 64, 128, 256, 512, 1024}
    largest = pictures[1024]
    ys = [y for y in range(1024) if largest.pixelColor(512, y).alpha() > 0]
    assert 50 <= ys[0] <= 110
    assert 50 <= 1023 - ys[-1] <= 110


def pictures_of(content: bytes) -> dict[int, QImage]:
    """Return the pictures in an icon of macOS by their size: pieces, each with its kind and its length."""
    kind, length = struct.unpack_from(">4sI", content)
    assert (kind, length) == (b"icns", len(content))
    pictures, place = {}, 8
    while place < len(content):
        kind, length = struct.unpack_from(">4sI", content, place)
        if kind != b"TOC ":
            picture = QImage.fromData(content[place + 8 : place + length])
            pictures[picture.width()] = picture
        place += length
    return pictures


READ_BY_PYINSTALLER = """
import sys, types
import PyInstaller.compat
# What only Windows has, and what reads executables.
PyInstaller.compat.win32api = None
sys.modules["pefile"] = types.ModuleType("pefile")
from PyInstaller.utils.win32.versioninfo import load_version_info_from_text_file
read = load_version_info_from_text_file(sys.argv[1])
(table,) = read.kids[0].kids
print(read.ffi.fileVersionMS, read.ffi.fileVersionLS, table.name, len(table.kids), *read.kids[1].kids[0].kids)
"""


def test_pyinstaller_takes_the_version_resource(tmp_path: Path) -> None:
    version_info = load(ROOT / "packaging/windows/version_info.py")
    file = version_info.write_version_info(tmp_path, "1.2.3.4", "gpudesk.exe")
    command: list[str | Path] = [BUILDERS_PYTHON, "-c", READ_BY_PYINSTALLER, file]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    # Two numbers of the version in each word; eight strings, in American English and Unicode.
    assert ended.stdout.split() == [str(1 << 16 | 2), str(3 << 16 | 4), "040904B0", "8", "1033", "1200"]
