"""Rows of the first page that open something: a question in a frame, a recent file in a line."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QHBoxLayout, QSizePolicy, QWidget

from gpudesk.desktop.pages.first_run.questions import Question
from gpudesk.desktop.theme.pen import RIGHT, Pen
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.buttons import Button
from gpudesk.desktop.widgets.label import Label
from gpudesk.text import tr

_ENTRY, _FILE = 52.0, 34.0
_ICON_X, _TEXT_X, _SIDE = 18.0, 52.0, 18.0
_ICON = 16.0


@dataclass(frozen=True, slots=True)
class RecentFile:
    """A document that was used before; `time` says when it was saved, in words or figures."""

    path: str
    name: str
    time: str = ""


@dataclass(frozen=True, slots=True)
class RecoveredFile:
    """What a crash left: `key` names it to the caller, `time` says when it was edited last."""

    key: str
    name: str
    time: str


class _Row(QAbstractButton):
    """A row that is painted whole and opens with a click, Space or Enter."""

    def __init__(self, theme: Theme, height: float, radius: float) -> None:
        """Take a line of this height."""
        super().__init__()
        self._theme = theme
        self._height = height
        self.setProperty("ringRadius", radius)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.updateGeometry)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Be as wide as there is room."""
        return QSize(self._theme.px(200), self._theme.px(self._height))

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, ARG002 - Qt's name
        """Draw the row."""
        painter = QPainter(self)
        try:
            self._draw(Pen(painter, self._theme), QRectF(self.rect()))
        finally:
            painter.end()

    def _ground(self) -> str:
        """Return the colour behind the row by what the mouse does."""
        if self.isDown():
            return "selection"
        return "hover" if self.underMouse() else "page"

    def _draw(self, pen: Pen, rect: QRectF) -> None:
        raise NotImplementedError


class QuestionRow(_Row):
    """A question in a frame, with the line below it and its key."""

    def __init__(self, theme: Theme, question: Question, key: str) -> None:
        """Ask a question that `key` opens."""
        super().__init__(theme, _ENTRY, 8.0)
        self.question = question
        self._key = key
        self.setAccessibleName(question.title)
        self.setAccessibleDescription(tr("{detail}. Key {key}", detail=question.detail, key=key))

    def _draw(self, pen: Pen, rect: QRectF) -> None:
        theme, middle = self._theme, rect.center().y()
        px = theme.px
        pen.frame(rect, "hair", radius=8.0, fill=self._ground())
        side = float(px(_ICON))
        pen.icon(self.question.icon, px(_ICON_X), middle - side / 2, side)
        key_x = rect.right() - px(_SIDE) - pen.tag_width(self._key)
        pen.key_hint(key_x, middle, self._key)
        title, detail = theme.line("body"), theme.line("small")
        top = middle - (title + detail - 1) / 2
        room = key_x - px(12) - px(_TEXT_X)
        pen.text(QRectF(px(_TEXT_X), top, room, title), self.question.title, font="body_strong")
        below = QRectF(px(_TEXT_X), top + title - 1, room, detail)
        pen.text(below, self.question.detail, font="small", colour="text2")
        if pen.width(self.question.detail, "small") > room:
            self.setToolTip(self.question.detail)


class RecentRow(_Row):
    """A document that was used before, with its folder and the time of its last save."""

    def __init__(self, theme: Theme, file: RecentFile) -> None:
        """Offer a file."""
        super().__init__(theme, _FILE, 6.0)
        self.file = file
        self.setToolTip(file.path)
        self.setAccessibleName(tr("Open {name}", name=file.name))
        self.setAccessibleDescription(f"{file.path}, {file.time}" if file.time else file.path)

    def _draw(self, pen: Pen, rect: QRectF) -> None:
        px, middle = self._theme.px, rect.center().y()
        if self._ground() != "page":
            pen.tint(rect, self._ground(), 6.0)
        side = float(px(_ICON))
        pen.icon("file-text", px(_ICON_X), middle - side / 2, side)
        right = rect.right() - px(_SIDE)
        time = pen.width(self.file.time, "small")
        quiet = "text3" if self._ground() == "page" else "text2"
        pen.text(
            QRectF(right - time - 1, 0, time + 1, rect.height()),
            self.file.time,
            font="small",
            colour=quiet,
            align=RIGHT,
        )
        room = right - time - px(16) - px(_TEXT_X)
        name = QRectF(px(_TEXT_X), 0, room, rect.height())
        used = pen.text(name, self.file.name, font="body_strong") + px(10)
        if room - used > px(60):
            place = QRectF(px(_TEXT_X) + used, 0, room - used, rect.height())
            folder = str(Path(self.file.path).parent)
            pen.text(place, folder, font="small", colour=quiet, elide=Qt.TextElideMode.ElideMiddle)


class RecoveredNote(QWidget):
    """Offers what a crash left: to open it, or to discard it."""

    def __init__(self, theme: Theme, file: RecoveredFile, parent: QWidget | None = None) -> None:
        """Say what was recovered."""
        super().__init__(parent)
        self._theme = theme
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        said = tr("Recovered: {name}, edited {time}", name=file.name, time=file.time)
        self.label = Label(theme, said, wrap=True)
        self.setAccessibleName(said)
        self.open = Button(theme, tr("Open"), parent=self)
        self.open.setAccessibleName(tr("Open what was recovered of {name}", name=file.name))
        self.discard = Button(theme, tr("Discard"), parent=self)
        self.discard.setAccessibleName(tr("Discard what was recovered of {name}", name=file.name))
        self._row = QHBoxLayout(self)
        self._row.addWidget(self.label, 1)
        self._row.addWidget(self.open)
        self._row.addWidget(self.discard)
        theme.follow(self._dress)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, ARG002 - Qt's name
        """Draw the ground and the icon."""
        painter = QPainter(self)
        try:
            pen = Pen(painter, self._theme)
            pen.tint(QRectF(self.rect()), "sunken", 8.0)
            side = float(self._theme.px(_ICON))
            pen.icon("history", self._theme.px(_ICON_X), (self.height() - side) / 2, side, "text1")
        finally:
            painter.end()

    def _dress(self) -> None:
        px = self._theme.px
        self._row.setContentsMargins(px(_TEXT_X), px(10), px(12), px(10))
        self._row.setSpacing(px(8))
        self.updateGeometry()
