"""What the page Catalog says around its lists: how much is shown, why nothing is, what marks mean."""

from __future__ import annotations

from functools import reduce
from operator import or_

from gpudesk.desktop.itemmodels.catalog_query import Facets
from gpudesk.desktop.pages.catalog.cell_painter import MARKS, STALE
from gpudesk.desktop.pages.catalog.filter_line import days_text
from gpudesk.domain.catalog_tables import CatalogTable, CellMark, Section
from gpudesk.domain.formatting import Formatter
from gpudesk.sheets.catalog_words import section_label
from gpudesk.text import tr, trn


def count_text(shown: int, every: int, formatter: Formatter) -> str:
    """Return how many of the rows are shown."""
    if shown == every:
        return trn("{count} row", "{count} rows", every, count=formatter.count(every))
    return tr("{n} of {m}", n=formatter.count(shown), m=formatter.count(every))


def add_text(section: Section) -> str:
    """Return what adding to a section by hand is called; nothing where it is not offered."""
    return {
        Section.ACCELERATORS: tr("Add accelerator"),
        Section.PRICES: tr("Add price"),
        Section.SOURCES: tr("Add source"),
    }.get(section, "")


def why_empty(section: Section, words: str, facets: Facets, problem: str) -> tuple[str, str, str]:
    """Return why there are no rows, what to know of it, and what the button says.

    `problem` is why the user's own facts cannot be used, empty where they can.
    """
    if words.strip() or facets.active:
        said = tr("“{words}”", words=words.strip()) if words.strip() else ""
        return tr("Nothing in {section} matches", section=section_label(section)), said, tr("Clear filter")
    if section is Section.YOURS and problem:
        return tr("Your own facts are not used"), problem, tr("Show backups")
    if section is Section.YOURS:
        said = tr(
            "What you state, take instead of the shipped value, or import is listed here, and kept in a file "
            "of your own. F2 on a figure enters your value."
        )
        return tr("Nothing of yours is in the catalog yet"), said, tr("Import…")
    return tr("There is nothing in this section"), "", ""


def marks_of(table: CatalogTable, stale_days: int) -> list[tuple[str, str]]:
    """Return glyph and meaning of each mark that stands in a list."""
    marks = reduce(or_, (mark for row in table.rows for mark in row.marks), 0)
    meanings = {
        CellMark.OWN: tr("Your value"),
        CellMark.COMPUTED: tr("Computed from the dimensions"),
        CellMark.DISPUTED: tr("Sources differ"),
    }
    shown = [(glyph, meanings[flag]) for flag, glyph, _ in MARKS if marks & flag]
    if table.place("age") >= 0:
        shown.append((STALE[0], tr("Stale: older than {age}", age=days_text(stale_days))))
    return shown
