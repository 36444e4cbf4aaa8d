"""The field in which the weight of a rule is edited in place."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QAbstractItemModel, QEvent, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem, QWidget

from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.number_edit import NumberEdit
from gpudesk.desktop.widgets.numbers import NumberFormat
from gpudesk.domain.formatting import Formatter
from gpudesk.domain.questions import WEIGHT_BOUNDS
from gpudesk.text import tr

_Index = QModelIndex | QPersistentModelIndex
_DECIMALS: Final = 2
_ENTER: Final = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class WeightDelegate(QStyledItemDelegate):
    """Makes a number field of the bounds of weights; what cannot be one stays to be mended."""

    def __init__(self, theme: Theme, formatter: Formatter, parent: QObject) -> None:
        """Keep how numbers are written."""
        super().__init__(parent)
        self._theme = theme
        self._format = NumberFormat(WEIGHT_BOUNDS.low, WEIGHT_BOUNDS.high, _DECIMALS, formatter.style)

    def createEditor(  # noqa: N802 - Qt's name
        self,
        parent: QWidget,
        option: QStyleOptionViewItem,  # noqa: ARG002 - Qt's signature
        index: _Index,
    ) -> QWidget:
        """Return the field, named by the rule that it weighs."""
        rule = index.sibling(index.row(), 0).data()
        edit = NumberEdit(self._theme, tr("Weight of {rule}, 0 to 100", rule=rule), self._format, parent)
        edit.setFrame(False)
        edit.setAlignment(Qt.AlignmentFlag.AlignRight)
        return edit

    def setEditorData(self, editor: QWidget, index: _Index) -> None:  # noqa: N802 - Qt's name
        """Show the weight in force, selected."""
        if isinstance(editor, NumberEdit):
            editor.set_value(float(index.data(Qt.ItemDataRole.EditRole)))
            editor.selectAll()

    def setModelData(  # noqa: N802 - Qt's name
        self, editor: QWidget, model: QAbstractItemModel, index: _Index
    ) -> None:
        """Take over the weight, unless it cannot be one."""
        if isinstance(editor, NumberEdit):
            editor.commit()
            if not editor.fault:
                model.setData(index, editor.value)

    def updateEditorGeometry(  # noqa: N802 - Qt's name
        self,
        editor: QWidget,
        option: QStyleOptionViewItem,
        index: _Index,  # noqa: ARG002 - Qt's signature
    ) -> None:
        """Lie over the cell."""
        editor.setGeometry(option.rect.adjusted(0, 0, -4, -1))

    def eventFilter(self, editor: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """Keep a field open whose number has to be mended; the arrow keys take round weights."""
        if isinstance(editor, NumberEdit) and isinstance(event, QKeyEvent):
            pressed = event.type() == QEvent.Type.KeyPress
            if pressed and event.key() in _ENTER:
                editor.commit()
                if editor.fault:
                    return True
        return super().eventFilter(editor, event)
