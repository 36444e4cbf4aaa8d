"""The installation check of Qt: icons, fonts, platform plug-ins, the window's pages."""

from __future__ import annotations

import logging
import os
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path
from types import TracebackType
from typing import Final

from PySide6.QtCore import (
    QByteArray,
    QCoreApplication,
    QMessageLogContext,
    QPluginLoader,
    QRectF,
    Qt,
    QtMsgType,
    qInstallMessageHandler,
)
from PySide6.QtGui import QFontInfo, QGuiApplication, QImage, QPainter, QRawFont
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QApplication, QWidget

from gpudesk import paths
from gpudesk.desktop.ui.printing.pdf import require_offscreen_plugin
from gpudesk.desktop.ui.theme.tokens import FAMILY, WEIGHTS, load_fonts, make_font
from gpudesk.service import GpuDeskService
from gpudesk.text.translation import tr

log = logging.getLogger(__name__)

Faults = list[str]

#: Characters of the program besides letters: signs of figures, of quantities and of lists, and narrow spaces.
_SIGNS: Final = "0123456789+−±×÷·.,:;%°µΩ≤≥≈–—…→↑↓✓"
_SPACES: Final = "\u00a0\u2009\u202f"
_WEIGHT_NUMBERS: Final = {"Regular": 400, "Medium": 500, "SemiBold": 600}
_FONT_PIXELS: Final = 100.0
_ICON_PIXELS: Final = 32

#: The plug-ins for real screens, by system: one of them has to work.
_FOR_SCREENS: Final = {"win32": ("qwindows*",), "darwin": ("libqcocoa*",), "linux": ("libqxcb.so", "libqwayland*.so")}

_WINDOW: Final = (1280, 800)
#: Maximum seconds until a page is drawn and idle.
_PATIENCE_S: Final = 5.0
#: Sampling distance in pixels, and the minimum number of colors on a page.
_STEP: Final = 5
_LEAST_COLORS: Final = 8


def begin_check() -> str | None:
    """Start Qt without a screen; return why that is impossible, or None."""
    global _application
    # Its messages about a platform without a screen are useless.
    qInstallMessageHandler(_keep)
    existing = QCoreApplication.instance()
    if existing is None:
        require_offscreen_plugin()
        _application = QApplication(["gpudesk", "-platform", "offscreen"])
    elif not isinstance(existing, QApplication) or QGuiApplication.platformName() != "offscreen":
        return tr("close all windows to run this check")
    return None


def _keep(kind: QtMsgType, _context: QMessageLogContext, text: str | None) -> None:
    log.debug("%s: %s", kind.name, text)


def check_icons() -> tuple[int, Faults]:
    """Draw every icon; return how many there are, and the invisible ones."""
    files = sorted((paths.get_resources_dir() / "icons").glob("*.svg"))
    faults = [tr("icon {name} cannot be loaded", name=file.stem) for file in files if not _shows(file)]
    return len(files), faults if files else [tr("icons are missing")]


def _shows(file: Path) -> bool:
    try:
        drawing = QSvgRenderer(QByteArray(file.read_bytes().replace(b"currentColor", b"#000000")))
    except OSError:
        return False
    image = QImage(_ICON_PIXELS, _ICON_PIXELS, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(Qt.GlobalColor.transparent)
    with QPainter(image) as painter:
        drawing.render(painter, QRectF(image.rect()))
    return drawing.isValid() and len(_collect_colors(image, step=1)) > 1


def check_fonts() -> Faults:
    """Return the faults of the font: its files, its digits and signs, and Qt's resolution of its name."""
    load_fonts()
    faults = [fault for weight in WEIGHTS for fault in _list_font_faults(weight)]
    return faults or [fault for weight in WEIGHTS for fault in _list_family_faults(weight)]


def _list_font_faults(weight: str) -> Iterator[str]:
    file = paths.get_resources_dir() / "fonts" / f"DeskSans-{weight}.ttf"
    font = QRawFont(str(file), _FONT_PIXELS) if file.is_file() else QRawFont()
    if not font.isValid():
        yield tr("font {name} cannot be loaded", name=file.name)
        return
    if not font.familyName().startswith(FAMILY):
        yield tr("font {name} has the unexpected family {family}", name=file.name, family=font.familyName())
    lacking = [sign for sign in _SIGNS + _SPACES if not font.supportsCharacter(ord(sign))]
    if lacking:
        codes = ", ".join(f"U+{ord(sign):04X}" for sign in lacking)
        yield tr("font {name} has no glyphs for {codes}", name=file.name, codes=codes)
    digits = font.glyphIndexesForString("0123456789")
    if len({round(advance.x(), 3) for advance in font.advancesForGlyphIndexes(digits)}) != 1:
        yield tr("digits in font {name} differ in width", name=file.name)


def _list_family_faults(weight: str) -> Iterator[str]:
    info = QFontInfo(make_font(int(_FONT_PIXELS), _WEIGHT_NUMBERS[weight]))
    if info.family() != FAMILY or info.weight() != _WEIGHT_NUMBERS[weight]:
        font_text = f"{info.family()} {info.weight()}"
        yield tr("requested font {family} {weight}, Qt uses {found}", family=FAMILY, weight=weight, found=font_text)


def check_display() -> tuple[list[str], Faults]:
    """Load the plug-ins for real screens; return the usable ones, and the reasons against others."""
    patterns = _FOR_SCREENS.get(sys.platform, _FOR_SCREENS["linux"])
    files = [
        file
        for folder in QCoreApplication.libraryPaths()
        for file in sorted((Path(folder) / "platforms").glob("*"))
        if any(fnmatch(file.name, pattern) for pattern in patterns)
    ]
    usable: list[str] = []
    faults: Faults = []
    for file in files:
        loader = QPluginLoader(str(file))
        if loader.load():
            usable.append(file.stem.removeprefix("lib").removeprefix("q"))
        else:
            faults.append(loader.errorString())
    return usable, faults if files else [tr("Qt platform plug-ins are missing")]


def check_window(service: GpuDeskService, template: str) -> tuple[list[str], Faults]:
    """Open the main window on a template, and visit its pages.

    Returns the titles of the pages drawn, and all errors.
    """
    from gpudesk.desktop.ui.widgets.qt_support import install_accessible_roles
    from gpudesk.desktop.window.app import DesktopProgram

    app = QApplication.instance()
    assert isinstance(app, QApplication)
    drawn_pages: list[str] = []
    with _use_temporary_home(), _collect_faults() as faults:
        install_accessible_roles()
        program = DesktopProgram(app, service)
        try:
            window = program.open_new_window()
            window.resize(*_WINDOW)
            window.open_template(template)
            for spec in window.page_specs:
                window.show_page(spec.id)
                page = window.page
                if page is None or not _settled(window, page):
                    faults.append(tr("page {name} is empty", name=spec.title))
                else:
                    drawn_pages.append(spec.title)
            if window.desk.answer is None:
                faults.append(tr("the sample scenario has no result"))
        finally:
            program.end()
    return drawn_pages, faults


def _settled(window: QWidget, page: QWidget) -> bool:
    """Let a page be drawn and finish its deferred work; return whether it has visible content."""
    until = time.monotonic() + _PATIENCE_S
    while time.monotonic() < until:
        QCoreApplication.processEvents()
        if len(_collect_colors(page.grab().toImage(), _STEP)) >= _LEAST_COLORS and window.isVisible():
            return True
        time.sleep(0.01)
    return False


def _collect_colors(image: QImage, step: int) -> set[int]:
    rows, columns = range(0, image.height(), step), range(0, image.width(), step)
    return {image.pixel(x, y) for y in rows for x in columns}


@contextmanager
def _use_temporary_home() -> Iterator[None]:
    """Redirect the user's files to a temporary folder, which is removed afterwards."""
    former = os.environ.get("GPUDESK_HOME")
    # On Windows, files held by a file watcher cannot be removed; it is the system's temporary folder.
    with tempfile.TemporaryDirectory(prefix="gpudesk-", ignore_cleanup_errors=True) as folder:
        os.environ["GPUDESK_HOME"] = folder
        try:
            yield
        finally:
            if former is None:
                del os.environ["GPUDESK_HOME"]
            else:
                os.environ["GPUDESK_HOME"] = former


@contextmanager
def _collect_faults() -> Iterator[Faults]:
    """Yield a list that collects the program's reports: uncaught errors and warnings."""
    faults: Faults = []

    def caught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        where = traceback.extract_tb(trace)[-1:] if trace is not None else []
        place = "".join(f" ({Path(frame.filename).name}, {frame.lineno})" for frame in where)
        faults.append(f"{kind.__name__}: {error}{place}")

    class Collector(logging.Handler):
        """Collects warnings."""

        def emit(self, record: logging.LogRecord) -> None:
            faults.append(record.getMessage())

    former, sys.excepthook = sys.excepthook, caught
    collector = Collector(logging.WARNING)
    program_log = logging.getLogger("gpudesk")
    program_log.addHandler(collector)
    try:
        yield faults
    finally:
        program_log.removeHandler(collector)
        sys.excepthook = former


#: Qt's application lives as long as the program.
_application: QApplication | None = None
