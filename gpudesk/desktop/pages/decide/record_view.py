"""The view Record: software by platform, deployments that documents tell of, and the time to load weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from gpudesk.desktop.pages.decide.decided import Decided
from gpudesk.desktop.pages.decide.record_loading import LoadingBlock
from gpudesk.desktop.pages.decide.record_support import PlatformBlock, ReferencesBlock
from gpudesk.desktop.pages.decide.record_table import RecordTable
from gpudesk.desktop.pages.decide.views import DecideView
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.ground import Rule
from gpudesk.desktop.widgets.label import Label
from gpudesk.desktop.widgets.segment import Segment
from gpudesk.domain.references import Reference, references_of
from gpudesk.sheets.beside_lines import as_text, reference_lines, support_lines
from gpudesk.sheets.names import short_name
from gpudesk.sheets.support_words import platform_names, platforms_of
from gpudesk.text import tr

COMPARED, ALL = "compared", "all"
_MARGIN: Final = 16


class RecordView(DecideView):
    """What is on record of what is compared, or all of it; nothing is merged or averaged."""

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        """Make the blocks; those of platforms come with the decision."""
        super().__init__(desk, theme, parent)
        self._found: Decided | None = None
        self.extent = Segment(
            theme,
            tr("What of the record is shown"),
            ((COMPARED, tr("What is compared")), (ALL, tr("All on record"))),
            self,
        )
        self.extent.chosen.connect(lambda _: self._show())
        self.platforms: list[PlatformBlock] = []
        self.references = ReferencesBlock(theme, self)
        self.references.table.chosen.connect(self._chooser(self.references.table))
        self.loading = LoadingBlock(desk, theme, self)
        self._lay_out()

    def _lay_out(self) -> None:
        theme = self.theme
        head = QHBoxLayout()
        head.setSpacing(theme.px(12))
        said = tr(
            "Each line is one document's word, the newest first. Older ones stay, and nothing is merged."
        )
        head.addWidget(self.extent)
        head.addWidget(Label(theme, said, font="small", colour="text2", wrap=True, parent=self), 1)
        self._blocks = QVBoxLayout()
        self._blocks.setSpacing(theme.px(16))
        whole = QVBoxLayout(self)
        whole.setContentsMargins(theme.px(_MARGIN), theme.px(4), theme.px(_MARGIN), theme.px(_MARGIN))
        whole.setSpacing(theme.px(14))
        whole.addLayout(head)
        whole.addLayout(self._blocks)
        for widget in (Rule(theme, self), self.references, Rule(theme, self), self.loading):
            whole.addWidget(widget)
        whole.addStretch(1)

    # Showing

    def show_decision(self, found: Decided) -> None:
        """Show the record for what is compared, and the times of its deployments."""
        self._found = found
        self._show()
        self.loading.show_decision(found)

    def _show(self) -> None:
        found = self._found
        if found is None:
            return
        support = self.desk.workbench.beside.support
        on = _names_by_platform(found)
        self._make_platforms(self._wanted_platforms())
        for block in self.platforms:
            block.show_support(support, on.get(block.platform, ()))
        self.references.show_references(self._wanted_references(), found.formatter)

    def _make_platforms(self, wanted: tuple[str, ...]) -> None:
        """Have one block for each platform that is wanted, in this order."""
        if tuple(block.platform for block in self.platforms) == wanted:
            return
        for block in self.platforms:
            self._blocks.removeWidget(block)
            block.hide()
            block.deleteLater()
        self.platforms = [PlatformBlock(self.theme, platform, self) for platform in wanted]
        for block in self.platforms:
            block.table.chosen.connect(self._chooser(block.table))
            self._blocks.addWidget(block)

    def _wanted_platforms(self) -> tuple[str, ...]:
        if self._found is None:
            return ()
        compared = tuple(_names_by_platform(self._found))
        if self.extent.value == COMPARED:
            return compared
        return tuple(dict.fromkeys((*compared, *platforms_of(self.desk.workbench.beside.support))))

    def _wanted_references(self) -> tuple[Reference, ...]:
        references = self.desk.workbench.beside.references
        if self._found is None or self.extent.value == ALL:
            return references
        return references_of(references, *(part.column.accelerator.id for part in self._found.parts))

    def _chooser(self, table: RecordTable) -> Callable[[int], None]:
        """Return what lets the panel explain a row of a table."""

        def choose(row: int) -> None:
            selection = table.rows[row].selection
            if selection is not None:
                self.desk.select(selection)

        return choose

    # What the page asks

    def copied(self) -> str:
        """Return what is shown as text."""
        formatter, support = self.desk.formatter, self.desk.workbench.beside.support
        parts = (
            as_text(support_lines(support, self._wanted_platforms())),
            as_text(reference_lines(self._wanted_references(), formatter)),
            self.loading.text(formatter),
        )
        return "\n\n".join(part for part in parts if part)

    def focus_first(self) -> None:
        """Give the focus to the choice of what is shown, and so to what stands below it."""
        first = next((block.table for block in self.platforms if block.table.isVisible()), None)
        (first or self.references.table).setFocus(Qt.FocusReason.OtherFocusReason)


def _names_by_platform(found: Decided) -> dict[str, tuple[str, ...]]:
    """Return the platforms of what is compared, each with the accelerators that run on it."""
    on: dict[str, dict[str, None]] = {}
    for part in found.parts:
        accelerator = part.column.accelerator
        for platform in platform_names(accelerator.platform):
            on.setdefault(platform, {})[short_name(accelerator.name)] = None
    return {platform: tuple(names) for platform, names in on.items()}
