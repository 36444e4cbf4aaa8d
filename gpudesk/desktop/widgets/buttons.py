"""Buttons: with icon and key hint, as a link in text, and of an icon alone."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QDialog,
    QPushButton,
    QStyle,
    QStyleOptionButton,
    QToolButton,
    QWidget,
)

from gpudesk.desktop.theme.pen import Pen
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.key_names import key_name

_PADDING = 12.0
_ICON = 16.0
_GAP = 7.0


class Button(QPushButton):
    """A push button that sets icon, text and key apart by itself, which styles do not do well.

    `kind` is `plain`, `primary` (the one main action of a page) or `quiet` (no border until pointed at).
    `key` is a shortcut shown in the button, as `Ctrl P`; giving it here does not make it work.
    """

    def __init__(
        self,
        theme: Theme,
        text: str,
        *,
        icon: str = "",
        kind: str = "plain",
        key: str = "",
        parent: QWidget | None = None,
    ) -> None:
        """Show a text that begins with a verb."""
        super().__init__(text, parent)
        self._theme = theme
        self._icon = icon
        self._key = key
        self.setProperty("kind", kind)
        self._primary = kind == "primary"
        self.setAccessibleName(text)
        theme.changed.connect(self.updateGeometry)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Leave room for all parts."""
        width = 2 * self._theme.px(_PADDING) + self._parts_width()
        return QSize(round(width) + 1, self._theme.px(28))

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Never cut the text."""
        return self.sizeHint()

    def setText(self, text: str) -> None:  # noqa: N802 - Qt's name
        """Change the text and the name that is read out."""
        super().setText(text)
        self.setAccessibleName(text)
        self.updateGeometry()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Enter does what the button with the focus says, and not what the dialog's main button does."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and isinstance(self.window(), QDialog):
            self.click()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, ARG002 - Qt's name
        """Draw the frame as the style has it, and what is in it by ourselves."""
        painter = QPainter(self)
        try:
            option = QStyleOptionButton()
            self.initStyleOption(option)
            option.text = ""
            self.style().drawControl(QStyle.ControlElement.CE_PushButton, option, painter, self)
            self._draw_parts(Pen(painter, self._theme))
        finally:
            painter.end()

    def _draw_parts(self, pen: Pen) -> None:
        theme, middle = self._theme, self.height() / 2
        colour = self._text_colour()
        x = (self.width() - self._parts_width()) / 2
        if self._icon:
            side = theme.px(_ICON)
            pen.icon(self._icon, x, middle - side / 2, side, "text2" if colour == "text1" else colour)
            x += side + (theme.px(_GAP) if self.text() else 0)
        width = self._text_width()
        pen.text(QRectF(x, 0, width + 1, self.height()), self.text(), font="body_strong", colour=colour)
        if self._key:
            hint = theme.colour(colour)
            hint.setAlphaF(0.72)
            place = QRectF(x + width + theme.px(_GAP + 4), 0, self._key_width() + 1, self.height())
            pen.text(place, self._key, font="caption_strong", colour=hint)

    def _text_colour(self) -> str:
        if not self.isEnabled():
            return "page" if self._primary else "disabled"
        return "button_text" if self._primary else "text1"

    def _text_width(self) -> float:
        return QFontMetricsF(self._theme.font("body_strong")).horizontalAdvance(self.text())

    def _key_width(self) -> float:
        return QFontMetricsF(self._theme.font("caption_strong")).horizontalAdvance(self._key)

    def _parts_width(self) -> float:
        theme = self._theme
        icon = theme.px(_ICON) + (theme.px(_GAP) if self.text() else 0) if self._icon else 0
        key = theme.px(_GAP + 4) + self._key_width() if self._key else 0
        return icon + self._text_width() + key


class LinkButton(QPushButton):
    """An action in running text."""

    def __init__(
        self, theme: Theme, text: str, *, font: str = "small", parent: QWidget | None = None
    ) -> None:
        """Show a text that begins with a verb."""
        super().__init__(text, parent)
        self._theme = theme
        self._token = font
        self.setProperty("kind", "link")
        self.setProperty("ringRadius", 3.0)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName(text)
        theme.follow(self._dress)

    def _dress(self) -> None:
        self.setFont(self._theme.font(self._token))


class IconButton(QToolButton):
    """A button of an icon alone: it always has a name for those who cannot see it, and a tool tip."""

    def __init__(
        self,
        theme: Theme,
        icon: str,
        name: str,
        *,
        key: str = "",
        size: float = 16.0,
        colour: str = "text2",
        parent: QWidget | None = None,
    ) -> None:
        """Show an icon; `name` begins with a verb, `key` is a portable key sequence named in the tool tip."""
        super().__init__(parent)
        self._theme = theme
        self._size = size
        self._colour = colour
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.set_icon(icon)
        self.set_name(name, key)
        theme.follow(self._dress)

    def set_icon(self, icon: str) -> None:
        """Show another icon."""
        self.setIcon(self._theme.icon(icon, self._colour, self._size))

    def set_name(self, name: str, key: str = "") -> None:
        """Name the action, in the tool tip with its key."""
        self.setAccessibleName(name)
        self.setToolTip(f"{name}  {key_name(key)}" if key else name)

    def _dress(self) -> None:
        side = self._theme.px(self._size)
        self.setIconSize(QSize(side, side))
