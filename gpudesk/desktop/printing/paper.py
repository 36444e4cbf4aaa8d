"""Sheets of paper: their sizes and margins in points, and which one a country uses."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from PySide6.QtCore import QLocale, QMarginsF
from PySide6.QtGui import QPageLayout, QPageSize

#: Points in a millimetre.
MM: Final = 72 / 25.4

#: White around what is printed, in points.
SIDE: Final = 15 * MM
TOP: Final = 12 * MM
FOOT: Final = 11 * MM


class PaperSize(StrEnum):
    """A size of paper that sheets are laid out for."""

    A4 = "a4"
    LETTER = "letter"


_IDS: Final = {PaperSize.A4: QPageSize.PageSizeId.A4, PaperSize.LETTER: QPageSize.PageSizeId.Letter}

#: Where US Letter is the usual paper, by the Unicode locale data.
_LETTER_COUNTRIES: Final = frozenset(
    {
        QLocale.Country.UnitedStates,
        QLocale.Country.Canada,
        QLocale.Country.Mexico,
        QLocale.Country.Belize,
        QLocale.Country.Chile,
        QLocale.Country.Colombia,
        QLocale.Country.CostaRica,
        QLocale.Country.ElSalvador,
        QLocale.Country.Guatemala,
        QLocale.Country.Nicaragua,
        QLocale.Country.Panama,
        QLocale.Country.Philippines,
        QLocale.Country.PuertoRico,
        QLocale.Country.Venezuela,
    }
)


def usual_paper(locale: QLocale | None = None) -> PaperSize:
    """Return the paper that printers of a locale hold; of the system's locale if none is given."""
    country = (locale or QLocale.system()).territory()
    return PaperSize.LETTER if country in _LETTER_COUNTRIES else PaperSize.A4


@dataclass(frozen=True, slots=True)
class Paper:
    """One side of paper with its orientation; lengths in points."""

    size: PaperSize
    landscape: bool = False

    @property
    def width(self) -> float:
        """Whole width."""
        return self._sides[1 if self.landscape else 0]

    @property
    def height(self) -> float:
        """Whole height."""
        return self._sides[0 if self.landscape else 1]

    @property
    def inner_width(self) -> float:
        """Width between the margins."""
        return self.width - 2 * SIDE

    @property
    def bottom(self) -> float:
        """Where the foot margin begins, from the top edge."""
        return self.height - FOOT

    def page_layout(self) -> QPageLayout:
        """Return what a printer or a PDF is told; the margins are ours, so it gets none."""
        orientation = QPageLayout.Orientation
        return QPageLayout(
            QPageSize(_IDS[self.size]),
            orientation.Landscape if self.landscape else orientation.Portrait,
            QMarginsF(0, 0, 0, 0),
        )

    @property
    def _sides(self) -> tuple[float, float]:
        size = QPageSize.size(_IDS[self.size], QPageSize.Unit.Point)
        return size.width(), size.height()
