"""More settings: what a scenario holds and the scenario bar has no room for, taken over in one step."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QPlainTextEdit,
    QVBoxLayout,
    QWidget,
)

from gpudesk.desktop.shell.dialogs.setting_fields import (
    SettingField,
    serving_fields,
    with_settings,
    workload_fields,
)
from gpudesk.desktop.shell.dialogs.setting_line import SettingLine
from gpudesk.desktop.theme.focus_ring import FocusRing
from gpudesk.desktop.theme.pen import Pen
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.buttons import Button
from gpudesk.desktop.widgets.label import Label
from gpudesk.desktop.widgets.scroll_area import ScrollArea
from gpudesk.desktop.widgets.segment import Segment
from gpudesk.domain.formatting import ENGLISH, NumberStyle
from gpudesk.domain.messages import InputError
from gpudesk.domain.scenarios import Scenario
from gpudesk.sentences import sentence
from gpudesk.text import tr
from gpudesk.workbench.fields import text as text_check

_WIDTH, _HEIGHT = 640.0, 640.0
_LABEL, _NOTE = 168.0, 72.0
_LONGEST_NAME, _LONGEST_NOTE = 200, 20_000

_VARIED, _FIXED = "varied", "fixed"
_BY_LOAD, _SERVER, _OFFLINE = "load", "server", "offline"
_SERVERS = {_BY_LOAD: None, _SERVER: True, _OFFLINE: False}


class MoreSettingsDialog(QDialog):
    """Edits a copy; Apply hands it over, once, and only where every field can be used."""

    def __init__(
        self,
        theme: Theme,
        scenario: Scenario,
        apply: Callable[[Scenario], object],
        *,
        style: NumberStyle = ENGLISH,
        parent: QWidget | None = None,
    ) -> None:
        """Show a scenario's settings; `apply` is given the scenario with the new ones."""
        super().__init__(parent)
        self._theme = theme
        self._scenario = scenario
        self._apply = apply
        self._style = style
        self.lines: list[SettingLine] = []
        self.setWindowTitle(tr("More settings"))
        self._make_controls()
        self._lay_out()
        self.resize(theme.px(_WIDTH), theme.px(_HEIGHT))
        self._ring = FocusRing(self, theme)
        self.name.setFocus()

    def line(self, name: str) -> SettingLine:
        """Return the line of a field, by its name in scenario files."""
        return next(line for line in self.lines if line.field.name == name)

    def edited(self) -> Scenario | None:
        """Return the scenario with what is set here, None where a field is at fault and says so."""
        usable = [line.check() for line in self.lines]
        if not all([self._check_texts(), *usable]):
            return None
        return with_settings(
            self._scenario,
            {line.field: line.value() for line in self.lines},
            name=self.name.text().strip(),
            note=self.note.toPlainText(),
            varied=self.lengths.value == _VARIED,
            server=_SERVERS[self.server.value],
            eager=self.eager.isChecked(),
        )

    def accept(self) -> None:
        """Hand the scenario over and close; where a field is at fault, go there."""
        scenario = self.edited()
        if scenario is None:
            faulty: list[QWidget] = [self.name] if self._name_fault.text() else []
            faulty += [self.note] if self._note_fault.text() else []
            faulty += [line.edit for line in self.lines if line.fault]
            faulty[0].setFocus(Qt.FocusReason.TabFocusReason)
            return
        if scenario != self._scenario:
            self._apply(scenario)
        super().accept()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Divide the buttons from what scrolls above them."""
        super().paintEvent(event)
        painter = QPainter(self)
        try:
            level = self._area.geometry().bottom() + 1
            Pen(painter, self._theme).hairline(0, level, self.width(), level)
        finally:
            painter.end()

    def _make_controls(self) -> None:
        theme, scenario = self._theme, self._scenario
        work = scenario.workload
        self.name = QLineEdit(scenario.name)
        self.name.setPlaceholderText(tr("Untitled"))
        self.name.setAccessibleName(tr("Name of the scenario"))
        self._name_fault = self._fault_label()
        self.note = QPlainTextEdit(scenario.note)
        self.note.setTabChangesFocus(True)
        self.note.setAccessibleName(tr("Note, printed at the head of the sheet"))
        self.note.setPlaceholderText(tr("Stands at the head of the sheet: for whom, and why"))
        self.note.setFixedHeight(theme.px(_NOTE))
        # The text then begins under that of the line above.
        self.note.document().setDocumentMargin(theme.px(8))
        self._note_fault = self._fault_label()
        self.lengths = Segment(
            theme, tr("Lengths of requests"), [(_VARIED, tr("Varied")), (_FIXED, tr("All alike"))]
        )
        self.lengths.set_value(_VARIED if work.varied else _FIXED)
        self.server = Segment(
            theme,
            tr("Requests come"),
            [
                (_BY_LOAD, tr("By the load")),
                (_SERVER, tr("Through a server")),
                (_OFFLINE, tr("Offline")),
            ],
        )
        self.server.set_value(next(key for key, value in _SERVERS.items() if value is work.server))
        self.eager = QCheckBox(tr("Eager mode, without graphs"))
        self.eager.setChecked(work.eager)

    def _lay_out(self) -> None:
        theme, px = self._theme, self._theme.px
        body = QWidget()
        column = QVBoxLayout(body)
        column.setContentsMargins(px(24), px(20), px(24), px(16))
        column.setSpacing(px(10))
        column.addLayout(self._row(tr("Name"), self.name, self._name_fault))
        column.addLayout(self._row(tr("Note"), self.note, self._note_fault))
        self._add_section(column, tr("Workload"), workload_fields())
        column.addLayout(self._row(tr("Lengths of requests"), self.lengths))
        column.addLayout(self._row(tr("Requests come"), self.server))
        self._add_section(column, tr("Serving"), serving_fields())
        column.addLayout(self._row("", self.eager))
        column.addStretch(1)
        area = self._area = ScrollArea()
        area.show_widget(body)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addWidget(area, 1)
        whole.addLayout(self._buttons(theme))

    def _add_section(self, column: QVBoxLayout, title: str, fields: Sequence[SettingField]) -> None:
        column.addSpacing(self._theme.px(6))
        column.addWidget(Label(self._theme, title, font="section"))
        for field in fields:
            shown = field.shown(self._scenario, self._style)
            line = SettingLine(self._theme, field, shown, self._style)
            self.lines.append(line)
            column.addWidget(line)

    def _row(self, caption: str, control: QWidget, fault: Label | None = None) -> QGridLayout:
        px = self._theme.px
        grid = QGridLayout()
        grid.setHorizontalSpacing(px(10))
        grid.setVerticalSpacing(px(2))
        grid.setColumnMinimumWidth(0, px(_LABEL))
        grid.setColumnStretch(1, 1)
        label = Label(self._theme, caption)
        label.setBuddy(control)
        wide = isinstance(control, QLineEdit | QPlainTextEdit)
        upper = Qt.AlignmentFlag.AlignTop if isinstance(control, QPlainTextEdit) else Qt.AlignmentFlag(0)
        grid.addWidget(label, 0, 0, upper)
        grid.addWidget(control, 0, 1, Qt.AlignmentFlag(0) if wide else Qt.AlignmentFlag.AlignLeft)
        if fault is not None:
            grid.addWidget(fault, 1, 1)
        return grid

    def _buttons(self, theme: Theme) -> QHBoxLayout:
        cancel = Button(theme, tr("Keep as it was"))
        cancel.setAutoDefault(False)
        cancel.clicked.connect(self.reject)
        apply = Button(theme, tr("Apply"), kind="primary", key=tr("Enter"))
        apply.setDefault(True)
        apply.clicked.connect(self.accept)
        row = QHBoxLayout()
        row.setContentsMargins(theme.px(24), theme.px(10), theme.px(24), theme.px(16))
        row.setSpacing(theme.px(8))
        row.addStretch(1)
        row.addWidget(cancel)
        row.addWidget(apply)
        return row

    def _fault_label(self) -> Label:
        label = Label(self._theme, font="small", colour="unfit", wrap=True)
        label.hide()
        return label

    def _check_texts(self) -> bool:
        """Check name and note as those of a file are; say below them what is wrong."""
        texts: Sequence[tuple[QWidget, str, int, Label]] = (
            (self.name, self.name.text(), _LONGEST_NAME, self._name_fault),
            (self.note, self.note.toPlainText(), _LONGEST_NOTE, self._note_fault),
        )
        for control, text, longest, label in texts:
            try:
                text_check(longest, empty=True)("", text)
                fault = ""
            except InputError as error:
                fault = sentence(error.problem)
            label.setText(fault)
            label.setVisible(bool(fault))
            control.setAccessibleDescription(fault)
        return not (self._name_fault.text() or self._note_fault.text())
