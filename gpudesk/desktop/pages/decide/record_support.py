"""The blocks of the record: software by platform, and deployments that documents tell of."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from gpudesk.desktop.pages.decide.record_table import Cell, Head, Para, RecordRow, RecordTable, cell
from gpudesk.desktop.session.selection import Selection, catalog_dispute, catalog_statement
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.label import Label
from gpudesk.domain.formatting import UNKNOWN, Formatter
from gpudesk.domain.references import Reference
from gpudesk.domain.software_support import SoftwareSupport, SupportEntry
from gpudesk.sheets.beside_lines import no_references, nothing_on
from gpudesk.sheets.support_words import (
    by_software,
    day_text,
    document_label,
    ids_text,
    level_text,
    scale_text,
)
from gpudesk.text import tr


class PlatformBlock(QWidget):
    """What is said of software on one platform: the newest of each first, older entries below it."""

    def __init__(self, theme: Theme, platform: str, parent: QWidget | None = None) -> None:
        """Make the table; it is empty yet."""
        super().__init__(parent)
        self.platform = platform
        self.parts = Label(theme, font="small", colour="text3", parent=self)
        name = tr("Software on {platform}", platform=platform)
        heads = (
            Head(tr("Software"), 120),
            Head(tr("Level"), 100),
            Head(tr("Said of it"), 220, 1.0),
            Head(tr("Date"), 84),
            Head(tr("Document"), 76),
            Head(tr("Disputed in"), 96),
        )
        self.table = RecordTable(theme, name, heads, self)
        self.nothing = Label(
            theme, nothing_on(platform), font="small", colour="text2", wrap=True, parent=self
        )
        head = QHBoxLayout()
        head.setSpacing(theme.px(10))
        head.addWidget(Label(theme, name, font="section", parent=self))
        head.addWidget(self.parts, 1)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(theme.px(4))
        whole.addLayout(head)
        whole.addWidget(self.table)
        whole.addWidget(self.nothing)

    def show_support(self, support: SoftwareSupport, names: Sequence[str]) -> None:
        """Show the entries; `names` are those of the accelerators compared that run on the platform."""
        self.parts.setText(", ".join(names))
        rows = [
            _entry_row(entry, first=not number)
            for entries in by_software(support, self.platform)
            for number, entry in enumerate(entries)
        ]
        self.table.show_rows(rows)
        self.table.setVisible(bool(rows))
        self.nothing.setVisible(not rows)


def _entry_row(entry: SupportEntry, *, first: bool) -> RecordRow:
    """Return an entry; an older one stands below the newest of its software, without the name."""
    colour = "text1" if first else "text2"
    name = cell(entry.name, "small_strong") if first else cell("")
    return RecordRow(
        (
            name,
            cell(level_text(entry), "small_strong" if first else "small", colour),
            cell(entry.scope, colour=colour),
            cell(day_text(entry.date), colour=colour),
            cell(document_label(entry.source), colour=colour),
            disputed_cell(entry.disputes),
        ),
        evidence(entry.statements, entry.disputes),
        begins=first,
    )


def disputed_cell(disputes: tuple[str, ...]) -> Cell:
    """Return the mark of a dispute with its ids, a dash without any."""
    if not disputes:
        return cell(UNKNOWN, colour="text3")
    return cell(ids_text(disputes), colour="disputed_text", glyph="disputed")


def evidence(statements: tuple[str, ...], disputes: tuple[str, ...]) -> Selection | None:
    """Return what the panel explains of a record: its first dispute, else its first statement."""
    if disputes:
        return catalog_dispute(disputes[0])
    return catalog_statement(statements[0]) if statements else None


class ReferencesBlock(QWidget):
    """Deployments, each on the word of its document."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        """Make the table; it is empty yet."""
        super().__init__(parent)
        heads = (
            Head(tr("Who"), 130, 0.4),
            Head(tr("What"), 190, 1.0),
            Head(tr("How many"), 92),
            Head(tr("Date"), 80),
            Head(tr("On whose word"), 120, 0.6),
            Head(tr("Disputed in"), 96),
        )
        self.table = RecordTable(theme, tr("Reference deployments"), heads, self)
        self.nothing = Label(theme, no_references(), font="small", colour="text2", wrap=True, parent=self)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(theme.px(4))
        whole.addWidget(Label(theme, tr("Reference deployments"), font="section", parent=self))
        whole.addWidget(self.table)
        whole.addWidget(self.nothing)

    def show_references(self, references: Sequence[Reference], formatter: Formatter) -> None:
        """Show deployments."""
        rows = [_reference_row(each, formatter) for each in references]
        self.table.show_rows(rows)
        self.table.setVisible(bool(rows))
        self.nothing.setVisible(not rows)


def _reference_row(reference: Reference, formatter: Formatter) -> RecordRow:
    named = tr("named") if reference.named else tr("not named")
    who = Cell((Para(reference.who, "small_strong"), Para(named, "caption", "text3")))
    word = Cell(
        (Para(reference.basis, colour="text2"), Para(document_label(reference.source), "caption", "text3"))
    )
    return RecordRow(
        (
            who,
            cell(reference.what),
            cell(scale_text(reference, formatter), colour="text1" if reference.count else "text3"),
            cell(day_text(reference.date)),
            word,
            disputed_cell(reference.disputes),
        ),
        evidence(reference.statements, reference.disputes),
    )
