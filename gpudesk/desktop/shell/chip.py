"""The chip of an accelerator: its key, name and count, and everything that can be done with it."""

from __future__ import annotations

from typing import cast

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QWidget

from gpudesk.desktop.theme.pen import Pen
from gpudesk.desktop.theme.theme import Theme
from gpudesk.text import tr

_HEIGHT = 28.0
_SIDE = 9.0
_SWATCH = 20.0
_CHEVRON = 13.0


class Chip(QAbstractButton):
    """One accelerator of the scenario; click, Space or Enter opens its menu.

    Del removes it, B makes it the baseline, ↑ and ↓ change the count, ← and → go to its neighbours.
    """

    removed = Signal()
    made_baseline = Signal()
    #: How many steps the count is to go up or down.
    stepped = Signal(int)
    #: To which neighbour the focus is to go: -1 or 1.
    left_for = Signal(int)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        """Begin without a part; `show_part` says which."""
        super().__init__(parent)
        self._theme = theme
        self._name = ""
        self._count = ""
        self._slot = 0
        self._hollow = False
        self._announced = False
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setProperty("ringRadius", 6.0)
        theme.changed.connect(self.updateGeometry)

    def show_part(
        self, name: str, count: int | None, slot: int, *, hollow: bool, announced: bool, baseline: bool
    ) -> None:
        """Show a part; a count of None is chosen by the program."""
        self._name = name
        self._count = "" if count is None else f"× {count}"
        self._slot = slot
        self._hollow = hollow
        self._announced = announced
        said = [name, tr("count chosen by the program") if count is None else tr("{n} of them", n=count)]
        said += [tr("announced")] if announced else []
        said += [tr("baseline")] if baseline else []
        self.setAccessibleName(", ".join(said))
        self.setAccessibleDescription(
            tr("Enter opens its menu, Del removes it, B makes it the baseline, ↑ and ↓ change the count")
        )
        self.setToolTip(", ".join(said))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Leave room for all parts."""
        theme = self._theme
        name = QFontMetricsF(theme.font("body_strong")).horizontalAdvance(self._name)
        count = QFontMetricsF(theme.font("body")).horizontalAdvance(self._count)
        fixed = 2 * theme.px(_SIDE) + theme.px(_SWATCH) + theme.px(5) + theme.px(_CHEVRON) + theme.px(8)
        tag = theme.px(_TAG_GAP) + self._tag_width() if self._announced else 0
        gap = theme.px(8) if self._count else 0
        return QSize(round(fixed + name + gap + count + tag) + 1, theme.px(_HEIGHT))

    def event(self, event: QEvent) -> bool:
        """Keep B for this chip where it is a shortcut for something else too."""
        if event.type() == QEvent.Type.ShortcutOverride and _is_plain_b(cast("QKeyEvent", event)):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Answer the chip's own keys."""
        key = event.key()
        if key in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.removed.emit()
        elif _is_plain_b(event):
            self.made_baseline.emit()
        elif key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self.stepped.emit(1 if key == Qt.Key.Key_Up else -1)
        elif key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            self.left_for.emit(1 if key == Qt.Key.Key_Right else -1)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, ARG002 - Qt's name
        """Draw frame, key, name, count and chevron."""
        painter = QPainter(self)
        try:
            self._draw(Pen(painter, self._theme))
        finally:
            painter.end()

    def _draw(self, pen: Pen) -> None:
        theme, height = self._theme, float(self.height())
        rect = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        border = "control" if self.underMouse() else "strong"
        pen.frame(rect, border, radius=6.0, fill="page", dashed=self._announced)
        x = float(theme.px(_SIDE))
        pen.swatch(x, height / 2, self._slot, hollow=self._hollow)
        x += theme.px(_SWATCH) + theme.px(5)
        x += pen.text(QRectF(x, 0, self.width() - x, height), self._name, font="body_strong", colour="text1")
        if self._count:
            x += theme.px(8)
            x += pen.text(QRectF(x, 0, self.width() - x, height), self._count, font="body", colour="text2")
        if self._announced:
            x += theme.px(_TAG_GAP)
            pen.tag(x, height / 2, tr("announced"), dashed=True)
        side = float(theme.px(_CHEVRON))
        pen.icon(
            "chevron-down", self.width() - theme.px(_SIDE) - side + 2, (height - side) / 2, side, "text2"
        )

    def _tag_width(self) -> float:
        metrics = QFontMetricsF(self._theme.font("caption_strong"))
        return metrics.horizontalAdvance(tr("announced")) + 2 * self._theme.px(6)


_TAG_GAP = 8.0


def _is_plain_b(event: QKeyEvent) -> bool:
    return event.key() == Qt.Key.Key_B and event.modifiers() == Qt.KeyboardModifier.NoModifier
