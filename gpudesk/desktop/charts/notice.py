"""The box on a plot that says which accelerators do not fit, with one remedy each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from gpudesk.desktop.theme.pen import SWATCH_WIDTH, Pen
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.buttons import Button
from gpudesk.desktop.widgets.label import Label


@dataclass(frozen=True, slots=True)
class Unfit:
    """An accelerator that does not fit: why, and what would help, as words on a button with what it does."""

    slot: int
    hollow: bool
    name: str
    reason: str
    remedy: str = ""
    remedy_spoken: str = ""
    apply: Callable[[], object] | None = None

    def told(self) -> tuple[object, ...]:
        """Return what is shown, by which two are the same."""
        return self.slot, self.hollow, self.name, self.reason, self.remedy


class Notice(QWidget):
    """Floats on a plot; it is as large as it needs to be."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        """Begin hidden."""
        super().__init__(parent)
        self._theme = theme
        self._told: tuple[object, ...] = ()
        self._layout = QVBoxLayout(self)
        self._rows: QWidget | None = None
        self.hide()
        theme.changed.connect(self._forget)

    def _forget(self) -> None:
        """Colours and sizes have changed: the next call builds anew."""
        self._told = ()

    def show_unfit(self, title: str, unfit: Sequence[Unfit]) -> bool:
        """Show who does not fit; hide where all fit. Return whether the box has changed."""
        told: tuple[object, ...] = (title, *(each.told() for each in unfit)) if unfit else ()
        if told == self._told:
            return False
        self._told = told
        if self._rows is not None:
            self._layout.removeWidget(self._rows)
            # Out of sight at once: it is deleted only when the event loop has its turn.
            self._rows.hide()
            self._rows.deleteLater()
            self._rows = None
        self.setVisible(bool(unfit))
        if unfit:
            self._rows = self._built(title, unfit)
            self._layout.addWidget(self._rows)
            self._rows.show()
            self.setAccessibleName(title)
        return True

    def _built(self, title: str, unfit: Sequence[Unfit]) -> QWidget:
        px = self._theme.px
        box = QWidget(self)
        self._layout.setContentsMargins(px(12), px(8), px(12), px(10))
        outer = QVBoxLayout(box)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(px(6))
        outer.addLayout(self._head(title, box))
        grid = QGridLayout()
        grid.setHorizontalSpacing(px(8))
        grid.setVerticalSpacing(px(6))
        grid.setColumnStretch(1, 1)
        grid.setColumnMinimumWidth(2, px(24))
        for row, each in enumerate(unfit):
            grid.addWidget(
                _Swatch(self._theme, each.slot, each.hollow, box), row, 0, Qt.AlignmentFlag.AlignTop
            )
            grid.addLayout(self._words(each, box), row, 1)
            if each.apply is not None:
                button = Button(self._theme, each.remedy, parent=box)
                button.setAccessibleName(each.remedy_spoken or each.remedy)
                button.clicked.connect(each.apply)
                grid.addWidget(button, row, 3)
        outer.addLayout(grid)
        return box

    def _head(self, title: str, box: QWidget) -> QHBoxLayout:
        head = QHBoxLayout()
        head.setSpacing(self._theme.px(8))
        icon = QLabel(box)
        icon.setPixmap(
            self._theme.pixmap("circle-slash-2", "unfit", self._theme.px(16), self.devicePixelRatioF())
        )
        head.addWidget(icon)
        head.addWidget(Label(self._theme, title, font="label", colour="unfit", parent=box))
        head.addStretch()
        return head

    def _words(self, each: Unfit, box: QWidget) -> QVBoxLayout:
        words = QVBoxLayout()
        words.setSpacing(0)
        name = Label(self._theme, each.name, font="label", parent=box)
        name.setStyleSheet(f"color: {self._theme.slot_label(each.slot).name()};")
        words.addWidget(name)
        words.addWidget(Label(self._theme, each.reason, font="small", colour="text2", parent=box))
        return words

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Paint the box."""
        del event
        painter = QPainter(self)
        try:
            Pen(painter, self._theme).frame(QRectF(self.rect()), "strong", radius=6.0, fill="raised")
        finally:
            painter.end()


class _Swatch(QWidget):
    """The key of an accelerator beside its name."""

    def __init__(self, theme: Theme, slot: int, hollow: bool, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme, self._slot, self._hollow = theme, slot, hollow
        self.setFixedSize(theme.px(SWATCH_WIDTH), theme.line("label"))

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        del event
        painter = QPainter(self)
        try:
            Pen(painter, self._theme).swatch(0, self.height() / 2, self._slot, hollow=self._hollow)
        finally:
            painter.end()
