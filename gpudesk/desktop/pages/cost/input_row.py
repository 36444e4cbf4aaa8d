"""One input of costs: least, likely and most, to be edited, with its unit and where it comes from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QGridLayout, QWidget

from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.buttons import LinkButton
from gpudesk.desktop.widgets.cut_label import CutLabel
from gpudesk.desktop.widgets.label import Label
from gpudesk.desktop.widgets.number_edit import NumberEdit
from gpudesk.desktop.widgets.numbers import NumberFormat
from gpudesk.domain.cost_inputs import INPUTS, Currency, Origin
from gpudesk.domain.costs import ResolvedInput
from gpudesk.domain.formatting import UNKNOWN, NumberStyle
from gpudesk.domain.ranges import Range
from gpudesk.sheets.cost_words import input_label, input_unit, is_share, origin_text
from gpudesk.text import tr

_DECIMALS: Final = 4
#: The smallest number above nothing that a field takes.
_LEAST: Final = 0.0001
_EDIT: Final = 92
#: Stands in a field for a value that nobody stated.
_NONE: Final = -1.0
_ENDS: Final = 3


@dataclass(frozen=True, slots=True)
class InputFormat(NumberFormat):
    """A number of an input; a field that is emptied leaves the input to the program."""

    def text(self, value: float) -> str:
        """Write a number, or that there is none."""
        return UNKNOWN if value == _NONE else NumberFormat.text(self, value)

    def parse(self, text: str) -> float:
        """Read a number; nothing stands for none."""
        return _NONE if text.strip() in ("", "-", UNKNOWN) else NumberFormat.parse(self, text)


class InputRow(QObject):
    """The widgets of an input in the lines of a grid."""

    #: The input's name, the accelerator or None, and the range that was stated, None to leave it.
    edited = Signal(str, object, object)

    def __init__(
        self,
        theme: Theme,
        name: str,
        style: NumberStyle,
        parent: QWidget,
        accelerator: str | None = None,
        whose: str = "",
    ) -> None:
        """Make the fields of an input, of one accelerator, called `whose`, or of all."""
        super().__init__(parent)
        self.name, self.accelerator = name, accelerator
        self._style, self._scale = style, 1.0
        self._spread: Range | None = None
        label = input_label(name)
        self.label = Label(theme, label, parent=parent)
        told = tr("{input} of {name}", input=label, name=whose) if whose else label
        ends = (tr("{name}, at least", name=told), told, tr("{name}, at most", name=told))
        self.edits = tuple(NumberEdit(theme, each, self._format(), parent) for each in ends)
        for place, edit in enumerate(self.edits):
            edit.setFixedWidth(theme.px(_EDIT))
            edit.setAlignment(Qt.AlignmentFlag.AlignRight)
            edit.edited.connect(lambda value, place=place: self._edit(place, value))
        self.unit = Label(theme, font="small", colour="text2", parent=parent)
        self.origin = CutLabel(theme, parent)
        self.reset = LinkButton(theme, tr("Take it back"), parent=parent)
        self.reset.setAccessibleName(tr("Take back what you stated: {name}", name=told))
        self.reset.clicked.connect(lambda: self.edited.emit(name, accelerator, None))

    def add_to(self, grid: QGridLayout, line: int) -> None:
        """Stand in a line of a grid."""
        widgets = (self.label, *self.edits, self.unit, self.origin, self.reset)
        for column, widget in enumerate(widgets):
            grid.addWidget(widget, line, column)

    def show_input(
        self, found: ResolvedInput, currency: Currency | None, revision: str, *, lacking: bool
    ) -> None:
        """Show the value in force, in the currency of the scenario where it is money.

        `lacking` says that it has none although another one is of no use without it.
        """
        money = (INPUTS[self.name].unit or "").startswith("USD") and currency is not None
        self._scale = currency.per_usd if money and currency is not None else 1.0
        self._scale *= 100.0 if is_share(self.name) else 1.0
        self._spread = found.spread
        shown = [_NONE] * _ENDS if found.spread is None else [each * self._scale for each in found.spread]
        for edit, value in zip(self.edits, shown, strict=True):
            edit.set_format(self._format())
            edit.set_fault("")
            edit.set_value(float(f"{value:.9g}"))
        self.unit.setText(input_unit(self.name, currency))
        self.origin.set_whole(tr("state both prices") if lacking else origin_text(found, revision))
        self.reset.setVisible(found.origin is Origin.YOURS)

    def _format(self) -> InputFormat:
        bounds = INPUTS[self.name].bounds
        scale = self._scale
        least = _LEAST if bounds.above else bounds.low * scale
        return InputFormat(least, bounds.high * scale, _DECIMALS, self._style)

    def _edit(self, place: int, typed: float) -> None:
        """State a range with one number changed; the others give way to a likely one, and only to that."""
        if typed == _NONE:
            self.edited.emit(self.name, self.accelerator, None)
            return
        value = typed / self._scale
        spread = self._spread
        if spread is None or (spread.is_known and place == 1):
            stated = Range.exactly(value)
        elif place == 1:
            stated = Range(min(spread.low, value), value, max(spread.high, value))
        else:
            stated = spread._replace(**{("low", "likely", "high")[place]: value})
        if not stated.in_order:
            likely = InputFormat(0.0, 1.0, _DECIMALS, self._style).text(stated.likely * self._scale)
            if place == 0:
                said = tr("At most the likely {value}", value=likely)
            else:
                said = tr("At least the likely {value}", value=likely)
            self.edits[place].set_fault(said)
            return
        self.edited.emit(self.name, self.accelerator, stated)
