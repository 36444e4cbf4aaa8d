"""One setting to type: its name, a line with the unit, what empty means, and what is wrong below it."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QGridLayout, QLineEdit, QWidget

from gpudesk.desktop.shell.dialogs.setting_fields import FieldFault, SettingField
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.label import Label
from gpudesk.domain.formatting import NumberStyle
from gpudesk.text import tr

_LABEL, _LINE = 168.0, 120.0


class SettingLine(QWidget):
    """Checks what was typed when the focus leaves it, and holds a fault until it is mended."""

    #: What is typed has become right or wrong.
    checked = Signal()

    def __init__(self, theme: Theme, field: SettingField, text: str, style: NumberStyle) -> None:
        """Show a setting."""
        super().__init__()
        self._theme = theme
        self._style = style
        self.field = field
        self._caption = Label(theme, field.label)
        self.edit = QLineEdit(text)
        self._unit = Label(theme, field.unit, font="small", colour="text3")
        self._fault = Label(theme, font="small", colour="unfit", wrap=True)
        self._fault.hide()
        self.edit.setPlaceholderText(field.empty)
        self.edit.setAccessibleName(tr("{name}, {unit}", name=field.label, unit=field.unit))
        self.edit.editingFinished.connect(self.check)
        self.edit.textEdited.connect(self._mending)
        self._caption.setBuddy(self.edit)
        self._describe()
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(theme.px(10))
        grid.setVerticalSpacing(theme.px(2))
        grid.addWidget(self._caption, 0, 0)
        grid.addWidget(self.edit, 0, 1)
        grid.addWidget(self._unit, 0, 2)
        grid.addWidget(self._fault, 1, 1, 1, 2)
        grid.setColumnMinimumWidth(0, theme.px(_LABEL))
        grid.setColumnStretch(1, 3)
        grid.setColumnStretch(2, 2)
        self.edit.setMinimumWidth(theme.px(_LINE))

    @property
    def fault(self) -> str:
        """What is wrong, empty where nothing is."""
        return self._fault.text()

    def check(self) -> bool:
        """Say what is wrong with what is typed, if anything; return whether it can be used."""
        try:
            self.value()
        except FieldFault as error:
            self._tell(str(error))
        else:
            self._tell("")
        return not self.fault

    def value(self) -> object:
        """Return the value that is typed; raises `FieldFault`."""
        return self.field.parse(self.edit.text(), self._style)

    def _mending(self) -> None:
        """Take a fault away as soon as it is mended, not before."""
        if self.fault:
            self.check()

    def _tell(self, fault: str) -> None:
        if fault == self.fault:
            return
        self._fault.setText(fault)
        self._fault.setVisible(bool(fault))
        self.edit.setProperty("fault", "true" if fault else "false")
        self.edit.style().unpolish(self.edit)
        self.edit.style().polish(self.edit)
        self._describe()
        self.checked.emit()

    def _describe(self) -> None:
        self.edit.setAccessibleDescription(
            self.fault or tr("Leave it empty for {meaning}", meaning=self.field.empty)
        )
