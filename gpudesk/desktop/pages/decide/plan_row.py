"""One input of a plan in a form: its name, its numbers with their unit, and where the value comes from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.buttons import LinkButton
from gpudesk.desktop.widgets.label import Label
from gpudesk.desktop.widgets.number_edit import NumberEdit
from gpudesk.desktop.widgets.numbers import NumberFormat
from gpudesk.domain.demand import Bounds
from gpudesk.domain.formatting import UNKNOWN, NumberStyle
from gpudesk.text import tr

_DECIMALS: Final = 4
#: The smallest number above nothing that a field takes.
_LEAST: Final = 0.0001
#: Stands in a field for a value that is not known; typed, it leaves the input to the program.
NONE: Final = -1.0
_EDIT, _SMALL_EDIT, _UNIT = 92, 52, 74


@dataclass(frozen=True, slots=True)
class PlanFormat(NumberFormat):
    """A number of a plan; a field that is emptied leaves it to the program."""

    def text(self, value: float) -> str:
        """Write a number, or that it is not known."""
        return UNKNOWN if value == NONE else NumberFormat.text(self, value)

    def parse(self, text: str) -> float:
        """Read a number; nothing stands for none."""
        return NONE if text.strip() in ("", "-", UNKNOWN) else NumberFormat.parse(self, text)


class PlanRow(QWidget):
    """A label, numbers and their unit on one line, the origin below; `label` can be changed."""

    #: The place of the number that was typed, and the number; None where the input is left to the program.
    edited = Signal(int, object)

    def __init__(
        self,
        theme: Theme,
        label: str,
        names: Sequence[str],
        bounds: Bounds,
        style: NumberStyle,
        parent: QWidget | None = None,
        *,
        whole: bool = False,
    ) -> None:
        """Make a field for each of the `names`, which say what the number in it is."""
        super().__init__(parent)
        self._theme, self._style, self._bounds = theme, style, bounds
        self._decimals = 0 if whole else _DECIMALS
        self._scale = 1.0
        self.label = Label(theme, label, wrap=True, parent=self)
        self.edits = tuple(NumberEdit(theme, name, self._format(), self) for name in names)
        for place, edit in enumerate(self.edits):
            edit.setAlignment(Qt.AlignmentFlag.AlignRight)
            edit.edited.connect(lambda typed, place=place: self._edit(place, typed))
        self.unit = Label(theme, font="small", colour="text2", parent=self)
        self.origin = Label(theme, font="caption", colour="text3", wrap=True, parent=self)
        self.reset = LinkButton(theme, tr("Take it back"), parent=self)
        self.reset.setAccessibleName(tr("Take back what you stated: {name}", name=label))
        self.reset.clicked.connect(lambda: self.edited.emit(0, None))
        self._lay_out()
        theme.follow(self._dress)

    def _lay_out(self) -> None:
        px = self._theme.px
        numbers, below = QHBoxLayout(), QHBoxLayout()
        numbers.setSpacing(px(6))
        numbers.addWidget(self.label, 1)
        for edit in self.edits:
            numbers.addWidget(edit)
        numbers.addWidget(self.unit)
        below.setSpacing(px(8))
        below.addWidget(self.origin, 1)
        below.addWidget(self.reset, 0, Qt.AlignmentFlag.AlignTop)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, px(5))
        whole.setSpacing(px(2))
        whole.addLayout(numbers)
        whole.addLayout(below)

    def show_values(
        self, values: Sequence[float | None], unit: str, origin: str, *, stated: bool, scale: float = 1.0
    ) -> None:
        """Show the values in force, times `scale`, and where they come from."""
        if scale != self._scale:
            self._scale = scale
            for edit in self.edits:
                edit.set_format(self._format())
        # What somebody stated keeps its digits, what was found has no more than it deserves.
        digits = "{:.9g}" if stated or not self._decimals else "{:.3g}"
        for edit, value in zip(self.edits, values, strict=True):
            edit.set_value(NONE if value is None else float(digits.format(value * scale)))
            edit.set_fault("")
            edit.setAccessibleDescription(", ".join(part for part in (unit, origin) if part))
        self.unit.setText(unit)
        self.origin.setText(origin)
        self.origin.setVisible(bool(origin))
        self.reset.setVisible(stated)

    def set_fault(self, sentence: str) -> None:
        """Say what is wrong with the value in force."""
        self.edits[0].set_fault(sentence)

    def _format(self) -> PlanFormat:
        bounds, scale = self._bounds, self._scale
        least = _LEAST if bounds.above else bounds.low * scale
        return PlanFormat(least, bounds.high * scale, self._decimals, self._style)

    def _edit(self, place: int, typed: float) -> None:
        self.edited.emit(place, None if typed == NONE else typed / self._scale)

    def _dress(self) -> None:
        px = self._theme.px
        for edit in self.edits:
            edit.setFixedWidth(px(_EDIT if len(self.edits) == 1 else _SMALL_EDIT))
        self.unit.setFixedWidth(px(_UNIT))
