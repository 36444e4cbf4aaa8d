"""Our own font, loaded from the resources once for the application."""

from __future__ import annotations

import logging
from typing import Final

from PySide6.QtGui import QFont, QFontDatabase

from gpudesk import paths
from gpudesk.desktop.theme.tokens import FAMILY, TypeStyle

log = logging.getLogger(__name__)

WEIGHTS: Final = ("Regular", "Medium", "SemiBold")

_loaded = False


def load_fonts() -> None:
    """Make our family known to Qt. Where a file is missing, Qt puts another family in its place."""
    global _loaded
    if _loaded:
        return
    for weight in WEIGHTS:
        file = paths.resources_dir() / "fonts" / f"DeskSans-{weight}.ttf"
        if QFontDatabase.addApplicationFont(str(file)) < 0:
            log.warning("the font %s cannot be loaded; install GPU Desk again", file)
    _loaded = True


def make_font(pixels: int, weight: int) -> QFont:
    """Return our font at a size in the painter's units; widths do not depend on the platform's hinting."""
    font = QFont(FAMILY)
    font.setPixelSize(max(1, pixels))
    font.setWeight(QFont.Weight(weight))
    font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    return font


def font_of(style: TypeStyle, scale: float = 1.0) -> QFont:
    """Return the font of a style at a scale, its size rounded to whole units."""
    return make_font(int(style.pixels * scale + 0.5), style.weight)
