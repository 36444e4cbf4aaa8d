"""About: version, third-party works and their licenses."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from typing import NamedTuple

import PySide6
from PySide6.QtCore import Qt, Signal, qVersion
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QBoxLayout, QGridLayout, QLabel, QStackedLayout, QWidget

from gpudesk import paths
from gpudesk.desktop.ui.tables.data_table import TextTable
from gpudesk.desktop.ui.theme.focus_ring import ThemedDialog
from gpudesk.desktop.ui.theme.glyphs import make_program_icon
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.buttons import Button, CopyButton, IconButton
from gpudesk.desktop.ui.widgets.filters import FilterField
from gpudesk.desktop.ui.widgets.layouts import STRETCH, FixedWidthText, ThemedLabel, make_column, make_row
from gpudesk.release import Installation, ProgramRelease, find_installation, get_release
from gpudesk.report.data_table import DataCell
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter
from gpudesk.text.translation import tr
from gpudesk.third_party import ThirdPartyWork, get_package_version, make_license_text

#: Longer lists get a search field.
_MANY = 30
_FIELD = 200.0


def describe_work(part: ThirdPartyWork) -> str:
    return tr("{work} (in {holder})", work=part.work, holder=part.within) if part.within else part.work


class ThirdPartyList(QWidget):
    """Lists works with their licenses. Enter or a double click opens one, the field filters the list."""

    #: The license of a component is requested.
    opened = Signal(ThirdPartyWork)
    #: The current row changed.
    moved = Signal()

    def __init__(self, theme: Theme, parts: Sequence[ThirdPartyWork]) -> None:
        super().__init__()
        self._parts = tuple(parts)
        name = tr("Components and licenses")
        self._count = ThemedLabel(theme, font="small", color="text3")
        tip = tr("Filter by name, author or license")
        self.filter = FilterField(theme, tr("Filter"), tip, framed=True, width=_FIELD)
        self.filter.setVisible(len(self._parts) > _MANY)
        self.filter.changed.connect(self._narrow)
        self.filter.left.connect(self._go_to_rows)
        self.table = TextTable(theme, name, [tr("Component"), tr("License")], giving=(0, 1), scrolls=True)
        self.table.opened.connect(self.open_current)
        self.table.selectionModel().currentRowChanged.connect(self.moved)
        head = make_row(ThemedLabel(theme, name, font="section"), STRETCH, self._count, self.filter, gap=theme.px(12))
        make_column(head, (self.table, 1), gap=theme.px(6), on=self)
        self._narrow("")

    @property
    def current(self) -> ThirdPartyWork | None:
        row = self.table.current_row
        return None if row is None else self._parts[int(row.key)]

    def open_current(self) -> None:
        part = self.current
        if part is not None:
            self.opened.emit(part)

    def _narrow(self, text: str) -> None:
        words = text.casefold().split()
        rows = {
            str(place): [DataCell(describe_work(part)), DataCell(part.license or tr("not given"))]
            for place, part in enumerate(self._parts)
            if _has(part, words)
        }
        count_text = tr("{n} of {total}", n=len(rows), total=len(self._parts))
        self._count.setText(count_text if words else str(len(self._parts)))
        self.filter.setAccessibleDescription(count_text)
        self.table.set_cells(rows)
        self.table.choose_any()
        self.moved.emit()

    def _go_to_rows(self) -> None:
        self.table.setFocus(Qt.FocusReason.TabFocusReason)


def _has(part: ThirdPartyWork, words: Sequence[str]) -> bool:
    part_text = f"{describe_work(part)} {part.license} {part.author}".casefold()
    return all(word in part_text for word in words)


_MARGIN = 8.0


class LicenseView(QWidget):
    """Shows the owner and the license of a work; links are plain text, since the program opens no network."""

    #: Return to the list.
    left = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.back = IconButton(theme, "arrow-left", tr("Back to list"), self.left, key="Esc")
        self.title = ThemedLabel(theme, font="page", wrap=True)
        self.facts = ThemedLabel(theme, font="small", color="text2", wrap=True)
        self.text = FixedWidthText(theme, wraps=True)
        self.facts.setTextInteractionFlags(self.text.textInteractionFlags())
        self.facts.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        head = make_row((self.back, 0, Qt.AlignmentFlag.AlignTop), (self.title, 1), gap=theme.px(8))
        make_column(head, self.facts, (self.text, 1), gap=theme.px(8), on=self)
        theme.follow(self._dress)

    def show_part(self, part: ThirdPartyWork) -> None:
        self.title.setText(describe_work(part))
        facts = [(tr("License"), part.license), (tr("Author"), part.author), (tr("Website"), part.home)]
        self.facts.setText("\n".join(f"{name}: {value}" for name, value in facts if value))
        missing = tr("The package does not include this license text. Look up the license by its name.")
        self.text.setPlainText(make_license_text(part) or missing)
        self.text.setAccessibleName(tr("License of {work}", work=part.work))
        self.text.setFocus(Qt.FocusReason.OtherFocusReason)

    @property
    def terms(self) -> str:
        return f"{self.title.text()}\n{self.facts.text()}\n\n{self.text.toPlainText()}"

    def _dress(self) -> None:
        self.text.document().setDocumentMargin(self._theme.px(_MARGIN))


#: Characters of a revision that are enough to identify it.
_SHOWN = 16
_COMMIT = 10
_WIDTH, _HEIGHT, _ICON = 760.0, 640.0, 48.0


class ProgramFact(NamedTuple):
    """A label with a value; `copied` replaces the value in the clipboard, `wide` values get a full line."""

    name: str
    value: str
    copied: str = ""
    wide: bool = False


def list_program_facts(service: GpuDeskService) -> list[ProgramFact]:
    """Return the facts needed first to investigate a figure or a fault."""
    catalog, calibration = service.catalog, service.calibration
    calibrated = tr("published measurements, revision {revision}", revision=calibration.revision[:_SHOWN])
    release, dated = get_release(), Formatter().date(catalog.data_date)
    return [
        ProgramFact(tr("Version"), release.version),
        _commit(release),
        ProgramFact(tr("Catalog"), tr("{date}, revision {revision}", date=dated, revision=catalog.revision)),
        ProgramFact(tr("Calibration"), calibrated),
        ProgramFact(tr("Installed"), _label_installation(find_installation())),
        ProgramFact(tr("System"), f"{platform.system()} {platform.release()}, {platform.machine()}"),
        ProgramFact("Python", platform.python_version()),
        ProgramFact("Qt", qVersion()),
        ProgramFact("PySide6", PySide6.__version__),
        ProgramFact("NumPy", get_package_version("numpy") or MISSING_VALUE_TEXT),
        ProgramFact("pyqtgraph", get_package_version("pyqtgraph") or MISSING_VALUE_TEXT),
        ProgramFact(tr("Your data"), str(paths.get_user_dir()), wide=True),
    ]


def _commit(release: ProgramRelease) -> ProgramFact:
    """Return the abbreviated commit; the clipboard gets the full hash."""
    name = tr("Commit")
    if release.commit is None:
        return ProgramFact(name, tr("not recorded"))
    moment = release.committed or ""

    def fact(commit: str, time: str) -> str:
        if release.modified:
            return tr("{commit}, {time}, with local changes", commit=commit, time=time)
        return tr("{commit}, {time}", commit=commit, time=time)

    short = fact(release.commit[:_COMMIT], moment.partition("T")[0])
    return ProgramFact(name, short, fact(release.commit, moment))


def _label_installation(how: Installation) -> str:
    return {
        "checkout": tr("source checkout"),
        "package": tr("Python package"),
        "frozen": tr("standalone program"),
        "portable": tr("portable, with your data in the program folder"),
    }[how]


class AboutDialog(ThemedDialog):
    """Shows facts and components; Copy copies everything, Enter opens the license of a component."""

    manual_topic = "contents"

    def __init__(
        self, theme: Theme, facts: Sequence[ProgramFact], parts: Sequence[ThirdPartyWork], parent: QWidget | None = None
    ) -> None:
        super().__init__(theme, tr("About GPU Desk"), (_WIDTH, _HEIGHT), parent)
        self._facts = tuple(facts)
        self._parts = tuple(parts)
        self.parts = ThirdPartyList(theme, self._parts)
        self.parts.opened.connect(self.show_license)
        self.license = LicenseView(theme)
        self.license.left.connect(self.show_overview)
        self._stack = QStackedLayout()
        overview = QWidget()
        make_column(self._make_head(), self._make_fact_grid(), (self.parts, 1), gap=self._theme.px(12), on=overview)
        self._stack.addWidget(overview)
        self._stack.addWidget(self.license)
        self.copy = CopyButton(self._theme, tr("Copy"), self._list_copied_text)
        self.license_button = Button(self._theme, tr("Show license"), self.parts.open_current, icon="file-text")
        self.leave = Button(self._theme, tr("Close"), self.accept, kind="primary")
        make_column(
            (self._stack, 1),
            make_row(self.copy, self.license_button, STRETCH, self.leave, gap=self._theme.px(8)),
            gap=theme.px(12),
            margins=(theme.px(24), theme.px(20), theme.px(24), theme.px(16)),
            on=self,
        )
        self.parts.moved.connect(self._settle)
        self._settle()
        self.leave.setFocus()

    def _list_copied_text(self) -> str:
        """Return everything, or the visible license."""
        if self._reads:
            return self.license.terms
        facts = [f"{fact.name}: {fact.copied or fact.value}" for fact in self._facts]
        works = [f"{describe_work(part)}: {part.license or tr('not given')}" for part in self._parts]
        return "\n".join(["GPU Desk", *facts, "", *works]) + "\n"

    def show_license(self, part: ThirdPartyWork) -> None:
        """Show the license of a component instead of everything else."""
        self._stack.setCurrentWidget(self.license)
        self._settle()
        self.license.show_part(part)

    def show_overview(self) -> None:
        """Return to the list, at the component just shown."""
        self._stack.setCurrentIndex(0)
        self._settle()
        self.parts.table.setFocus(Qt.FocusReason.OtherFocusReason)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self._reads:
            self.show_overview()
        else:
            super().keyPressEvent(event)

    @property
    def _reads(self) -> bool:
        return self._stack.currentWidget() is self.license

    def _settle(self) -> None:
        self.copy.reset()
        self.copy.setToolTip(tr("Copy license text") if self._reads else tr("Copy version details and components"))
        self.license_button.setVisible(not self._reads)
        self.license_button.setEnabled(self.parts.current is not None)

    def _make_head(self) -> QBoxLayout:
        theme = self._theme
        icon = QLabel()
        icon.setPixmap(make_program_icon().pixmap(theme.px(_ICON)))
        row = make_row(icon, gap=theme.px(16))
        words = make_column(ThemedLabel(theme, "GPU Desk", font="verdict"), gap=0)
        about = tr("Compares AI accelerators for LLM inference, fully offline. Apache License 2.0.")
        words.addWidget(ThemedLabel(theme, about, font="small", color="text2", wrap=True))
        row.addLayout(words, 1)
        return row

    def _make_fact_grid(self) -> QGridLayout:
        """Return the facts: in two columns with independent line heights, and wide ones below."""
        narrow = [fact for fact in self._facts if not fact.wide]
        half = (len(narrow) + 1) // 2
        grid = QGridLayout()
        grid.setHorizontalSpacing(self._theme.px(32))
        grid.setVerticalSpacing(self._theme.px(2))
        grid.setColumnStretch(0, 3)
        grid.setColumnStretch(1, 2)
        captions: list[ThemedLabel] = []
        for column, facts in enumerate((narrow[:half], narrow[half:])):
            grid.addLayout(self._make_fact_lines(facts, captions if column == 0 else []), 0, column)
        grid.addLayout(self._make_fact_lines([fact for fact in self._facts if fact.wide], captions), 1, 0, 1, 2)
        width = max((each.sizeHint().width() for each in captions), default=0)
        for each in captions:
            each.setMinimumWidth(width)
        return grid

    def _make_fact_lines(self, facts: Sequence[ProgramFact], captions: list[ThemedLabel]) -> QGridLayout:
        theme, top = self._theme, Qt.AlignmentFlag.AlignTop
        lines = QGridLayout()
        lines.setHorizontalSpacing(theme.px(16))
        lines.setVerticalSpacing(theme.px(2))
        lines.setColumnStretch(1, 1)
        for line, fact in enumerate(facts):
            caption = ThemedLabel(theme, fact.name, font="small", color="text3")
            value_label = ThemedLabel(theme, fact.value, font="small", wrap=True, selectable=True)
            value_label.setAlignment(top)
            value_label.setAccessibleName(f"{fact.name}: {fact.value}")
            caption.setAlignment(top)
            captions.append(caption)
            lines.addWidget(caption, line, 0, top)
            lines.addWidget(value_label, line, 1)
        lines.setRowStretch(len(facts), 1)
        return lines
