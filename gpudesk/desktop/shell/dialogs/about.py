"""About: what this program is made of, to read and to copy into a question or a report."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from typing import NamedTuple

import PySide6
from PySide6.QtCore import Qt, qVersion
from PySide6.QtGui import QGuiApplication, QKeyEvent
from PySide6.QtWidgets import QDialog, QGridLayout, QHBoxLayout, QLabel, QStackedLayout, QVBoxLayout, QWidget

from gpudesk import paths
from gpudesk.desktop.shell.dialogs.licence_view import LicenceView
from gpudesk.desktop.shell.dialogs.parts_list import PartsList, described
from gpudesk.desktop.shell.geometry import take_size
from gpudesk.desktop.theme.focus_ring import FocusRing
from gpudesk.desktop.theme.icons import program_icon
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.buttons import Button
from gpudesk.desktop.widgets.label import Label
from gpudesk.domain.formatting import UNKNOWN
from gpudesk.parts import Part, version_of
from gpudesk.release import Installation, Release, installation, release
from gpudesk.text import tr
from gpudesk.workbench.workbench import Workbench

#: As many characters of a revision as tell it from others.
_SHOWN = 16
_COMMIT = 10
_WIDTH, _HEIGHT, _ICON = 760.0, 640.0, 48.0


class Fact(NamedTuple):
    """What a line says, and of what; `copied` where the clipboard gets more, `wide` where it needs room."""

    name: str
    value: str
    copied: str = ""
    wide: bool = False


def program_facts(workbench: Workbench) -> list[Fact]:
    """Return what is asked for first when a figure or a fault is looked into."""
    catalog, calibration = workbench.catalog, workbench.calibration
    calibrated = tr(
        "{name}, revision {revision}", name=calibration.name, revision=calibration.revision[:_SHOWN]
    )
    known = release()
    return [
        Fact(tr("Version"), known.version),
        _commit(known),
        Fact(
            tr("Catalog"),
            tr("{date}, revision {revision}", date=catalog.data_date, revision=catalog.revision),
        ),
        Fact(tr("Calibration"), calibrated),
        Fact(tr("Installed"), _installed(installation())),
        Fact(tr("System"), f"{platform.system()} {platform.release()}, {platform.machine()}"),
        Fact("Python", platform.python_version()),
        Fact("Qt", qVersion()),
        Fact("PySide6", PySide6.__version__),
        Fact("NumPy", version_of("numpy") or UNKNOWN),
        Fact("pyqtgraph", version_of("pyqtgraph") or UNKNOWN),
        Fact(tr("Your data"), str(paths.user_dir()), wide=True),
    ]


def _commit(known: Release) -> Fact:
    """Return the commit in short; its whole name is for the clipboard."""
    name = tr("Commit")
    if known.commit is None:
        return Fact(name, tr("not recorded"))
    moment = known.committed or ""

    def told(commit: str, time: str) -> str:
        if known.modified:
            return tr("{commit} of {time}, with changes", commit=commit, time=time)
        return tr("{commit} of {time}", commit=commit, time=time)

    short = told(known.commit[:_COMMIT], moment.partition("T")[0])
    return Fact(name, short, told(known.commit, moment))


def _installed(how: Installation) -> str:
    return {
        "checkout": tr("a checkout of the sources"),
        "package": tr("a Python package"),
        "frozen": tr("a program of its own"),
        "portable": tr("portable, with your data beside it"),
    }[how]


class AboutDialog(QDialog):
    """Shows facts and parts; Copy puts all of it on the clipboard, Enter opens the terms of a part."""

    def __init__(
        self,
        theme: Theme,
        facts: Sequence[Fact],
        parts: Sequence[Part],
        parent: QWidget | None = None,
    ) -> None:
        """Show what is given."""
        super().__init__(parent)
        self._theme = theme
        self._facts = tuple(facts)
        self._parts = tuple(parts)
        self.setWindowTitle(tr("About GPU Desk"))
        self.parts = PartsList(theme, self._parts)
        self.parts.opened.connect(self.show_licence)
        self.licence = LicenceView(theme)
        self.licence.left.connect(self.show_overview)
        self._stack = QStackedLayout()
        self._stack.addWidget(self._overview())
        self._stack.addWidget(self.licence)
        column = QVBoxLayout(self)
        column.setContentsMargins(theme.px(24), theme.px(20), theme.px(24), theme.px(16))
        column.setSpacing(theme.px(12))
        column.addLayout(self._stack, 1)
        column.addLayout(self._buttons())
        self.parts.moved.connect(self._settle)
        self._settle()
        take_size(self, theme.px(_WIDTH), theme.px(_HEIGHT))
        self._ring = FocusRing(self, theme)
        self.leave.setFocus()

    @property
    def text(self) -> str:
        """All that there is to know, as plain text."""
        facts = [f"{fact.name}: {fact.copied or fact.value}" for fact in self._facts]
        works = [f"{described(part)}: {part.licence or tr('not stated')}" for part in self._parts]
        return "\n".join(["GPU Desk", *facts, "", *works]) + "\n"

    def copy_text(self) -> None:
        """Put on the clipboard all there is, or the terms that are read, and say so on the button."""
        QGuiApplication.clipboard().setText(self.licence.terms if self._reads else self.text)
        self.copy.setText(tr("Copied"))

    def show_licence(self, part: Part) -> None:
        """Show the terms of a part in the place of everything else."""
        self._stack.setCurrentWidget(self.licence)
        self._settle()
        self.licence.show_part(part)

    def show_overview(self) -> None:
        """Go back to the list, at the part that was read about."""
        self._stack.setCurrentIndex(0)
        self._settle()
        self.parts.table.setFocus(Qt.FocusReason.OtherFocusReason)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Esc leaves the terms first, then the dialog."""
        if event.key() == Qt.Key.Key_Escape and self._reads:
            self.show_overview()
        else:
            super().keyPressEvent(event)

    @property
    def _reads(self) -> bool:
        """Whether the terms of a work stand in the place of everything else."""
        return self._stack.currentWidget() is self.licence

    def _settle(self) -> None:
        """Offer what can be done now."""
        self.copy.setText(tr("Copy"))
        self.copy.setToolTip(
            tr("Copy the terms of this work") if self._reads else tr("Copy all facts and the list of works")
        )
        self.read.setVisible(not self._reads)
        self.read.setEnabled(self.parts.current is not None)

    def _overview(self) -> QWidget:
        overview = QWidget()
        column = QVBoxLayout(overview)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(self._theme.px(12))
        column.addLayout(self._head())
        column.addLayout(self._grid())
        column.addWidget(self.parts, 1)
        return overview

    def _head(self) -> QHBoxLayout:
        theme = self._theme
        icon = QLabel()
        icon.setPixmap(program_icon().pixmap(theme.px(_ICON)))
        row = QHBoxLayout()
        row.setSpacing(theme.px(16))
        row.addWidget(icon)
        words = QVBoxLayout()
        words.setSpacing(0)
        words.addWidget(Label(theme, "GPU Desk", font="verdict"))
        about = tr("Compares AI accelerators for one workload, on this computer alone. Apache License 2.0.")
        words.addWidget(Label(theme, about, font="small", colour="text2", wrap=True))
        row.addLayout(words, 1)
        return row

    def _grid(self) -> QGridLayout:
        """Return the facts: in two columns, each with lines of its own height, and below what needs room."""
        narrow = [fact for fact in self._facts if not fact.wide]
        half = (len(narrow) + 1) // 2
        grid = QGridLayout()
        grid.setHorizontalSpacing(self._theme.px(32))
        grid.setVerticalSpacing(self._theme.px(2))
        grid.setColumnStretch(0, 3)
        grid.setColumnStretch(1, 2)
        captions: list[Label] = []
        for column, facts in enumerate((narrow[:half], narrow[half:])):
            grid.addLayout(self._lines(facts, captions if column == 0 else []), 0, column)
        grid.addLayout(self._lines([fact for fact in self._facts if fact.wide], captions), 1, 0, 1, 2)
        width = max((each.sizeHint().width() for each in captions), default=0)
        for each in captions:
            each.setMinimumWidth(width)
        return grid

    def _lines(self, facts: Sequence[Fact], captions: list[Label]) -> QGridLayout:
        """Return a line a fact, and add its caption to those that are to be of one width."""
        theme, top = self._theme, Qt.AlignmentFlag.AlignTop
        lines = QGridLayout()
        lines.setHorizontalSpacing(theme.px(16))
        lines.setVerticalSpacing(theme.px(2))
        lines.setColumnStretch(1, 1)
        for line, fact in enumerate(facts):
            caption = Label(theme, fact.name, font="small", colour="text3")
            shown = Label(theme, fact.value, font="small", wrap=True)
            shown.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            shown.setAlignment(top)
            shown.setAccessibleName(f"{fact.name}: {fact.value}")
            caption.setAlignment(top)
            captions.append(caption)
            lines.addWidget(caption, line, 0, top)
            lines.addWidget(shown, line, 1)
        lines.setRowStretch(len(facts), 1)
        return lines

    def _buttons(self) -> QHBoxLayout:
        self.copy = Button(self._theme, tr("Copy"), icon="copy")
        self.copy.setAutoDefault(False)
        self.copy.clicked.connect(self.copy_text)
        self.read = Button(self._theme, tr("Show licence"), icon="file-text")
        self.read.setAutoDefault(False)
        self.read.clicked.connect(self.parts.open_current)
        self.leave = Button(self._theme, tr("Close"), kind="primary")
        self.leave.setDefault(True)
        self.leave.clicked.connect(self.accept)
        row = QHBoxLayout()
        row.setSpacing(self._theme.px(8))
        row.addWidget(self.copy)
        row.addWidget(self.read)
        row.addStretch(1)
        row.addWidget(self.leave)
        return row
