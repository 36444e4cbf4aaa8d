"""A number in a form, with its unit or a choice of units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtWidgets import QComboBox, QWidget

from gpudesk.desktop.pages.catalog.editors.fields import choice_box
from gpudesk.desktop.pages.catalog.editors.rows import FieldFault, FormRow, LineEdit
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.numbers import NumberError, NumberFormat
from gpudesk.domain.formatting import ENGLISH, NumberStyle
from gpudesk.text import tr
from gpudesk.workbench.own_entry import UnitChoice

#: Digits that a typed number keeps.
NUMBER_DECIMALS = 9
#: The widths of a number that has one unit, and of a choice of units.
_NUMBER, _UNIT = 150.0, 90.0


@dataclass(frozen=True, slots=True)
class Limits:
    """Which numbers a row takes. Nought itself is never taken: what is not known is left empty."""

    least: float = 0.0
    most: float = float("inf")
    whole: bool = False


ABOVE_NOUGHT = Limits()


class NumberRow(FormRow):
    """A number, with a choice of units where there are several."""

    def __init__(
        self,
        theme: Theme,
        name: str,
        label: str,
        units: Sequence[UnitChoice],
        *,
        required: bool = False,
        empty: str = "",
        style: NumberStyle = ENGLISH,
        limits: Limits = ABOVE_NOUGHT,
    ) -> None:
        """Offer units, the first at first."""
        single = units[0].label if len(units) == 1 else ""
        super().__init__(theme, name, label, required=required, aside=tr(single) if single else "")
        self._units = tuple(units)
        self._limits = limits
        decimals = 0 if limits.whole else NUMBER_DECIMALS
        self._format = NumberFormat(float("-inf"), limits.most, decimals, style)
        self.edit = LineEdit(theme)
        self.edit.setPlaceholderText(empty)
        self.edit.textEdited.connect(self.user_edited)
        self.edit.editingFinished.connect(self._left)
        self.unit_box: QComboBox | None = None
        if len(units) > 1:
            self.unit_box = choice_box(theme, [(str(n), tr(unit.label)) for n, unit in enumerate(units)])
            self.unit_box.setAccessibleName(tr("Unit of {label}", label=label))
            self.unit_box.setFixedWidth(theme.px(_UNIT))
            self.unit_box.currentIndexChanged.connect(self.user_edited)
            self.lay_out(self.edit, self.unit_box)
        else:
            self.edit.setFixedWidth(theme.px(_NUMBER))
            self.lay_out(self.edit, left=True)

    @property
    def unit(self) -> UnitChoice:
        """The unit that is typed after the number, else the one that is chosen beside it."""
        return self._typed_unit() or self._units[0 if self.unit_box is None else self.unit_box.currentIndex()]

    def control(self) -> QWidget:
        """Return the line."""
        return self.edit

    def is_empty(self) -> bool:
        """Say whether nothing is typed."""
        return not self.edit.text().strip()

    def read(self) -> object:
        """Return the number as typed, whole where it is."""
        return self.number()

    def number(self) -> int | float:
        """Return the number as typed; raises `FieldFault`."""
        text, unit = self.edit.text().strip(), self._typed_unit()
        plain = text if unit is None else text[: -len(tr(unit.label))]
        return read_number(plain, self._format, self._limits.least)

    def _typed_unit(self) -> UnitChoice | None:
        """Return the unit that stands after the number; None where none of those that can be does."""
        text = self.edit.text().strip().casefold()
        named = [unit for unit in self._units if unit.label and text.endswith(tr(unit.label).casefold())]
        return max(named, key=lambda unit: len(unit.label), default=None)

    def stated(self) -> int | float | None:
        """Return the number in the unit `unit.unit`, None where there is none; raises `FieldFault`."""
        return None if self.is_empty() else self.unit.stated(self.number())

    def inside(self) -> int | float | None:
        """Return the number in the unit used inside, None where there is none; raises `FieldFault`."""
        return None if self.is_empty() else self.unit.inside(self.number())

    def number_or_none(self) -> int | float | None:
        """Return the number as typed, None where there is none; raises `FieldFault`."""
        return None if self.is_empty() else self.number()

    def whole_or_none(self) -> int | None:
        """Return the whole number that is typed, None where there is none; raises `FieldFault`."""
        return None if self.is_empty() else int(self.number())

    def show_number(self, value: float | None) -> None:
        """Show a number as it would be typed."""
        self.edit.setText("" if value is None else self._format.text(value))

    def set_units(self, units: Sequence[UnitChoice]) -> None:
        """Take another unit in the place of the one there is; the digits stay."""
        self._units = tuple(units)
        self.set_aside(tr(units[0].label) if len(units) == 1 else "")

    def show_inside(self, value: float | None) -> None:
        """Show a value, given in the unit used inside, in the first unit that says it exactly."""
        if value is None:
            self.edit.setText("")
            return
        exact = [place for place, unit in enumerate(self._units) if self._says(unit, value)]
        place = exact[0] if exact else 0
        if self.unit_box is not None:
            self.unit_box.blockSignals(True)
            self.unit_box.setCurrentIndex(place)
            self.unit_box.blockSignals(False)
        self.edit.setText(self._format.text(self._units[place].typed(value)))

    def _says(self, unit: UnitChoice, value: float) -> bool:
        """Whether the digits that are shown in a unit are the whole value."""
        return unit.inside(self._format.parse(self._format.text(unit.typed(value)))) == value

    def _left(self) -> None:
        if not self.is_empty():
            self.check()


def read_number(text: str, number_format: NumberFormat, least: float = 0.0) -> int | float:
    """Return the number that is typed, whole where it is; raises `FieldFault`. Nought is never taken."""
    try:
        typed = number_format.parse(text)
    except NumberError as error:
        raise FieldFault(str(error)) from error
    if typed < least or typed == 0:
        if least:
            raise FieldFault(tr("{value} at least", value=number_format.text(least)))
        raise FieldFault(tr("A number above 0 is wanted. Leave the line empty where nothing is known"))
    return int(typed) if typed.is_integer() else typed
