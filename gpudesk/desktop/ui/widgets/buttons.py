"""Buttons: push, link and icon buttons, and the segmented choice."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import QRectF, QSize, Qt, Signal, SignalInstance
from PySide6.QtGui import QFontMetricsF, QGuiApplication, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QButtonGroup,
    QDialog,
    QFrame,
    QGridLayout,
    QPushButton,
    QSizePolicy,
    QStyle,
    QStyleOptionButton,
    QToolButton,
    QWidget,
)

from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import ThemePainter
from gpudesk.desktop.ui.widgets.qt_support import format_key, set_manual_topic
from gpudesk.text.translation import tr

_PADDING = 12.0
_ICON = 16.0
_GAP = 7.0


#: What a click does: a call, or a signal to emit.
ClickAction = Callable[[], object] | SignalInstance


def connect_click(button: QAbstractButton, act: ClickAction | None) -> None:
    if act is not None:
        button.clicked.connect(act)


class Button(QPushButton):
    """A push button that lays out icon, text and key itself, which styles do not do well.

    A click calls `act`, or emits it. `kind` is `plain`, `primary` (the one main action of a page; in a dialog Enter
    presses it) or `quiet` (no border until hovered). `key` is a shortcut shown in the button, as `Ctrl P`; it is not
    registered here.
    """

    def __init__(
        self,
        theme: Theme,
        text: str,
        act: ClickAction | None = None,
        *,
        icon: str = "",
        kind: str = "plain",
        key: str = "",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(text, parent)
        self._theme = theme
        self._icon = icon
        self._key = key
        self.setProperty("kind", kind)
        self._primary = kind == "primary"
        self.setAutoDefault(False)
        self.setDefault(self._primary)
        self.setAccessibleName(text)
        connect_click(self, act)
        theme.changed.connect(self.updateGeometry)

    def sizeHint(self) -> QSize:
        width = 2 * self._theme.px(_PADDING) + self._measure_parts()
        return QSize(round(width) + 1, self._theme.px(28))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def setText(self, text: str) -> None:
        super().setText(text)
        self.setAccessibleName(text)
        self.updateGeometry()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter activates the focused button, not the dialog's default button."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and isinstance(self.window(), QDialog):
            self.click()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's name
        with QPainter(self) as painter:
            option = QStyleOptionButton()
            self.initStyleOption(option)
            option.text = ""
            self.style().drawControl(QStyle.ControlElement.CE_PushButton, option, painter, self)
            pen = ThemePainter(painter, self._theme)
            theme, middle = self._theme, self.height() / 2
            color = self._choose_text_color()
            x = (self.width() - self._measure_parts()) / 2
            if self._icon:
                side = theme.px(_ICON)
                pen.icon(self._icon, x, middle - side / 2, side, "text2" if color == "text1" else color)
                x += side + (theme.px(_GAP) if self.text() else 0)
            width = self._measure_text()
            pen.text(QRectF(x, 0, width + 1, self.height()), self.text(), font="body_strong", color=color)
            if self._key:
                hint = theme.color(color)
                hint.setAlphaF(0.72)
                place = QRectF(x + width + theme.px(_GAP + 4), 0, self._key_width() + 1, self.height())
                pen.text(place, self._key, font="caption_strong", color=hint)

    def _choose_text_color(self) -> str:
        if not self.isEnabled():
            return "page" if self._primary else "disabled"
        return "button_text" if self._primary else "text1"

    def _measure_text(self) -> float:
        return QFontMetricsF(self._theme.font("body_strong")).horizontalAdvance(self.text())

    def _key_width(self) -> float:
        return QFontMetricsF(self._theme.font("caption_strong")).horizontalAdvance(self._key)

    def _measure_parts(self) -> float:
        theme = self._theme
        icon = theme.px(_ICON) + (theme.px(_GAP) if self.text() else 0) if self._icon else 0
        key = theme.px(_GAP + 4) + self._key_width() if self._key else 0
        return icon + self._measure_text() + key


class CopyButton(Button):
    """Copies a text, and says so until `reset`."""

    def __init__(
        self, theme: Theme, text: str, make_copied_text: Callable[[], str], parent: QWidget | None = None
    ) -> None:
        super().__init__(theme, text, self._copy, icon="copy", parent=parent)
        self._caption, self._make_copied_text = text, make_copied_text

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._make_copied_text())
        self.setText(tr("Copied"))

    def reset(self) -> None:
        self.setText(self._caption)


class LinkButton(QPushButton):
    """An action in running text."""

    def __init__(
        self, theme: Theme, text: str, act: ClickAction | None = None, *, parent: QWidget | None = None
    ) -> None:
        super().__init__(text, parent)
        self._theme = theme
        self.setProperty("kind", "link")
        self.setProperty("ringRadius", 3.0)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAutoDefault(False)
        self.setAccessibleName(text)
        connect_click(self, act)
        theme.follow(self._dress)

    def setText(self, text: str) -> None:
        super().setText(text)
        self.setAccessibleName(text)

    def _dress(self) -> None:
        self.setFont(self._theme.font("small"))


class IconButton(QToolButton):
    """A button with only an icon: it always has an accessible name, and a tooltip."""

    def __init__(
        self,
        theme: Theme,
        icon: str,
        name: str,
        act: ClickAction | None = None,
        *,
        key: str = "",
        size: float = 16.0,
        parent: QWidget | None = None,
    ) -> None:
        """Show an icon; `name` starts with a verb, `key` is a portable key sequence for the tooltip."""
        super().__init__(parent)
        self._theme = theme
        self._size = size
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.set_icon(icon)
        self.set_name(name, key)
        connect_click(self, act)
        theme.follow(self._dress)

    def set_icon(self, icon: str) -> None:
        self.setIcon(self._theme.icon(icon, "text2", self._size))

    def set_name(self, name: str, key: str = "") -> None:
        self.setAccessibleName(name)
        self.setToolTip(f"{name}  {format_key(key)}" if key else name)

    def _dress(self) -> None:
        side = self._theme.px(self._size)
        self.setIconSize(QSize(side, side))


class SegmentedControl(QFrame):
    """Arrow keys move the choice; Tab reaches the current alternative."""

    #: The key of the chosen alternative.
    chosen = Signal(str)

    def __init__(
        self, theme: Theme, name: str, options: Sequence[tuple[str, str]], parent: QWidget | None = None
    ) -> None:
        """Offer alternatives as (key, text); the first is active. `name` is the accessible name of the choice."""
        super().__init__(parent)
        self._theme = theme
        self._buttons: dict[str, QPushButton] = {}
        self.setProperty("kind", "segment")
        self.setProperty("ringRadius", 6.0)
        self.setAccessibleName(name)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._group = QButtonGroup(self)
        self._group.setExclusive(True)
        self._name = name
        self._lines = 1
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(2, 2, 2, 2)
        self._grid.setSpacing(0)
        for place, (key, text) in enumerate(options):
            button = QPushButton(text, self)
            button.setCheckable(True)
            button.setProperty("kind", "segment")
            button.setProperty("ringParent", True)
            button.setAccessibleName(f"{name}: {text}")
            button.setAttribute(Qt.WidgetAttribute.WA_LayoutUsesWidgetRect)
            self._group.addButton(button)
            self._buttons[key] = button
            self._grid.addWidget(button, 0, place)
            button.toggled.connect(lambda on, key=key: self._toggled(key, on))
        self._quiet = False
        if self._buttons:
            self.set_value(next(iter(self._buttons)))

    @property
    def value(self) -> str:
        return next((key for key, button in self._buttons.items() if button.isChecked()), "")

    def set_value(self, key: str) -> None:
        self._quiet = True
        try:
            self._buttons[key].setChecked(True)
        finally:
            self._quiet = False

    def set_text(self, key: str, text: str) -> None:
        button = self._buttons[key]
        if text != button.text():
            button.setText(text)
            button.setAccessibleName(f"{self._name}: {text}")

    def set_manual_topics(self, topics: Mapping[str, str]) -> None:
        """Set the topic of the manual that F1 opens at each alternative, by key."""
        for key, button in self._buttons.items():
            set_manual_topic(topics[key], button)

    def measure_one_line_width(self) -> int:
        """Return the width of all alternatives side by side."""
        return sum(button.sizeHint().width() for button in self._buttons.values()) + 4

    def set_lines(self, lines: int) -> None:
        """Arrange the alternatives in this many lines, if they do not fit side by side."""
        if lines == self._lines:
            return
        self._lines = lines
        columns = -(-len(self._buttons) // lines)
        for place, button in enumerate(self._buttons.values()):
            self._grid.addWidget(button, place // columns, place % columns)
        self.updateGeometry()

    def _toggled(self, key: str, on: bool) -> None:
        if on and not self._quiet:
            self.chosen.emit(key)
