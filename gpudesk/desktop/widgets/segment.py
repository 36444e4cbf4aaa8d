"""The segmented choice: a few alternatives side by side, one of which is in force."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QFrame, QGridLayout, QPushButton, QSizePolicy, QWidget

from gpudesk.desktop.theme.theme import Theme


class Segment(QFrame):
    """Arrow keys move the choice; Tab reaches the alternative in force."""

    #: The key of the alternative that the user chose.
    chosen = Signal(str)

    def __init__(
        self,
        theme: Theme,
        name: str,
        options: Sequence[tuple[str, str]],
        parent: QWidget | None = None,
    ) -> None:
        """Offer alternatives as (key, text); the first is in force. `name` says what is chosen."""
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
            button = self._button(name, text)
            self._buttons[key] = button
            self._grid.addWidget(button, 0, place)
            button.toggled.connect(lambda on, key=key: self._toggled(key, on))
        self._quiet = False
        if self._buttons:
            self.set_value(next(iter(self._buttons)))

    @property
    def value(self) -> str:
        """The key of the alternative in force."""
        return next((key for key, button in self._buttons.items() if button.isChecked()), "")

    def set_value(self, key: str) -> None:
        """Put an alternative in force without saying so."""
        self._quiet = True
        try:
            self._buttons[key].setChecked(True)
        finally:
            self._quiet = False

    def set_text(self, key: str, text: str) -> None:
        """Change what an alternative is called."""
        button = self._buttons[key]
        if text != button.text():
            button.setText(text)
            button.setAccessibleName(f"{self._name}: {text}")

    def width_in_one_line(self) -> int:
        """Return the width that all alternatives take side by side."""
        return sum(button.sizeHint().width() for button in self._buttons.values()) + 4

    def set_lines(self, lines: int) -> None:
        """Set the alternatives in so many lines, for where they have no room side by side."""
        if lines == self._lines:
            return
        self._lines = lines
        columns = -(-len(self._buttons) // lines)
        for place, button in enumerate(self._buttons.values()):
            self._grid.addWidget(button, place // columns, place % columns)
        self.updateGeometry()

    def set_enabled(self, key: str, enabled: bool, reason: str = "") -> None:
        """Let an alternative be chosen or not; the reason why not becomes its tool tip."""
        button = self._buttons[key]
        button.setEnabled(enabled)
        button.setToolTip("" if enabled else reason)

    def _button(self, name: str, text: str) -> QPushButton:
        button = QPushButton(text, self)
        button.setCheckable(True)
        button.setProperty("kind", "segment")
        button.setProperty("ringParent", True)
        button.setAccessibleName(f"{name}: {text}")
        button.setAttribute(Qt.WidgetAttribute.WA_LayoutUsesWidgetRect)
        self._group.addButton(button)
        return button

    def _toggled(self, key: str, on: bool) -> None:
        if on and not self._quiet:
            self.chosen.emit(key)
