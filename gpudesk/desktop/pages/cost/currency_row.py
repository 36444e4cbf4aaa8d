"""The currency that amounts are shown in, with the rate and the day that the user sets."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QWidget

from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.label import Label
from gpudesk.desktop.widgets.number_edit import NumberEdit
from gpudesk.desktop.widgets.numbers import NumberFormat
from gpudesk.domain.cost_inputs import Currency
from gpudesk.domain.formatting import NumberStyle
from gpudesk.sheets.dates import today
from gpudesk.text import tr

_LONGEST_CODE: Final = 8
_LEAST, _MOST, _DECIMALS = 0.000001, 1_000_000_000.0, 6
_USD: Final = "USD"


class CurrencyRow(QWidget):
    """Code, rate and day; without a code, or with USD, amounts are dollars."""

    #: The currency that was stated, None for dollars.
    edited = Signal(object)

    def __init__(self, theme: Theme, style: NumberStyle, parent: QWidget | None = None) -> None:
        """Begin with dollars."""
        super().__init__(parent)
        px = theme.px
        self.code, self.day = QLineEdit(self), QLineEdit(self)
        rates = NumberFormat(_LEAST, _MOST, _DECIMALS, style)
        self.rate = NumberEdit(theme, tr("Units of the currency to a dollar"), rates, self)
        self.code.setAccessibleName(tr("Currency of amounts"))
        self.code.setMaxLength(_LONGEST_CODE)
        self.code.setPlaceholderText(_USD)
        self.day.setAccessibleName(tr("Day of the rate"))
        self.fault = Label(theme, font="small", colour="unfit", parent=self)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(px(8))
        for words, edit, width in (
            (tr("Amounts in"), self.code, 72),
            (tr("a dollar is"), self.rate, 92),
            (tr("of it on"), self.day, 104),
        ):
            row.addWidget(Label(theme, words, font="small", colour="text2", parent=self))
            edit.setFixedWidth(px(width))
            row.addWidget(edit)
        row.addWidget(self.fault)
        row.addStretch(1)
        self.code.editingFinished.connect(self._edit)
        self.day.editingFinished.connect(self._edit)
        self.rate.edited.connect(lambda _: self._edit())

    def show_currency(self, currency: Currency | None) -> None:
        """Show the currency in force."""
        self.fault.setText("")
        self.code.setText("" if currency is None else currency.code)
        self.day.setText(today() if currency is None else currency.date)
        self.rate.set_value(1.0 if currency is None else currency.per_usd)

    def _edit(self) -> None:
        code, day = self.code.text().strip().upper(), self.day.text().strip()
        if code in ("", _USD):
            self.edited.emit(None)
        elif not day:
            self.fault.setText(tr("Say of which day the rate is"))
        else:
            self.edited.emit(Currency(code, float(self.rate.value), day))
