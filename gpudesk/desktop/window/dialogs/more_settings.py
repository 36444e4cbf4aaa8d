"""More settings: fields of a scenario that do not fit into the scenario bar."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QBoxLayout, QCheckBox, QGridLayout, QLineEdit, QPlainTextEdit, QWidget

from gpudesk.desktop.ui.theme.focus_ring import ThemedDialog
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import ThemePainter
from gpudesk.desktop.ui.widgets.buttons import Button, SegmentedControl
from gpudesk.desktop.ui.widgets.layouts import STRETCH, FullWidthScrollArea, ThemedLabel, make_column, make_row
from gpudesk.desktop.ui.widgets.number_edit import NumberError, NumberFormat, ValueEdit
from gpudesk.desktop.ui.widgets.qt_support import format_key
from gpudesk.domain.answer import Scenario
from gpudesk.domain.field_checks import accept_text as text_check
from gpudesk.estimation.request_fields import REQUEST_FIELDS, WORKLOAD_FIELDS, get_workload_field
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.formatting import ENGLISH_NUMBERS, NumberStyle
from gpudesk.text.messages import InputError, Message, format_message
from gpudesk.text.translation import tr

#: Digits kept of a typed number: more than any field needs.
_DECIMALS: Final = 9


class SettingError(Exception):
    """The typed text is invalid; the message gives the reason and the valid range."""


@frozen_dataclass
class SettingField:
    """One line edit.

    `name` is that of scenario files. `empty` describes the default for an empty field, and `blank` is its value in the
    scenario. `scale` is the displayed value over the internal one: 100 for percent.
    """

    name: str
    label: str
    unit: str
    empty: str
    in_workload: bool = False
    blank: object = None
    scale: int = 1
    is_text: bool = False

    @property
    def target(self) -> str:
        return get_workload_field(self.name)

    def format_value(self, scenario: Scenario, style: NumberStyle) -> str:
        """Return the text of the line for a scenario; empty if that is the default."""
        value = getattr(scenario.workload if self.in_workload else scenario, self.target)
        if value == self.blank:
            return ""
        return str(value) if self.is_text else _format(style).text(value * self.scale)

    def parse(self, text: str, style: NumberStyle) -> object:
        """Return the value of a text; raises `FieldError`."""
        typed = text.strip()
        if not typed:
            return self.blank
        try:
            return (WORKLOAD_FIELDS if self.in_workload else REQUEST_FIELDS)[self.name](
                self.name, typed if self.is_text else self._parse_number(typed, style)
            )
        except NumberError as error:
            raise SettingError(str(error)) from error
        except InputError as error:
            raise SettingError(self._describe_problem(error.problem, typed)) from error

    def _parse_number(self, typed: str, style: NumberStyle) -> int | float:
        value = _format(style).parse(typed.removesuffix("%")) / self.scale
        return int(value) if value.is_integer() else value

    def _describe_problem(self, problem: Message, typed: str) -> str:
        """Return an error with the limits in the displayed unit."""
        parameters: dict[str, Any] = dict(problem.parameters)
        for limit in ("low", "high"):
            if limit in parameters:
                parameters[limit] *= self.scale
        if "given" in parameters:
            parameters["given"] = f"“{typed}”"
        text = format_message(replace(problem, parameters=MappingProxyType(parameters)))
        return tr("{fault}. Default: {meaning}", fault=text, meaning=self.empty)


def list_workload_fields() -> tuple[SettingField, ...]:
    return (
        SettingField(
            "prefix_hit_rate",
            tr("Prefix hit rate"),
            tr("% of input tokens"),
            tr("none"),
            in_workload=True,
            blank=0.0,
            scale=100,
        ),
        SettingField(
            "acceptance_length",
            tr("Acceptance length"),
            tr("tokens per step"),
            tr("1 (no speculative decoding)"),
            in_workload=True,
            blank=1.0,
        ),
    )


def list_serving_fields() -> tuple[SettingField, ...]:
    return (
        SettingField("date", tr("Software date"), tr("YYYY-MM"), tr("latest measured version"), is_text=True),
        SettingField(
            "memory_fraction",
            tr("Memory fraction"),
            tr("% of each accelerator"),
            tr("serving engine default"),
            scale=100,
        ),
        SettingField("max_batch", tr("Max batch size"), tr("requests"), tr("serving engine default")),
        SettingField("max_batched_tokens", tr("Max tokens per step"), tr("tokens"), tr("serving engine default")),
    )


def apply_settings(scenario: Scenario, values: Mapping[SettingField, object], **fields: object) -> Scenario:
    """Return the scenario with the typed settings and other fields, including those of the workload by name."""
    workload = {field.target: value for field, value in values.items() if field.in_workload}
    outside = {field.target: value for field, value in values.items() if not field.in_workload}
    for name, value in fields.items():
        (workload if name in ("varied", "server", "eager") else outside)[name] = value
    changed: Callable[..., Any] = replace
    edited: Scenario = changed(scenario, workload=changed(scenario.workload, **workload), **outside)
    return edited


def _format(style: NumberStyle) -> NumberFormat:
    """Return the number format here: without limits, which are checked separately."""
    return NumberFormat(float("-inf"), float("inf"), _DECIMALS, style)


_ROW_LABEL, _ROW_LINE = 168.0, 120.0


class SettingRow(QWidget):
    """Checks the text when it loses the focus, and keeps an error until it is corrected."""

    #: The validity of the text changed.
    checked = Signal()

    def __init__(self, theme: Theme, field: SettingField, text: str, style: NumberStyle) -> None:
        super().__init__()
        self._theme = theme
        self._style = style
        self.field = field
        self._caption = ThemedLabel(theme, field.label)
        self.edit = QLineEdit(text) if field.is_text else ValueEdit(text)
        self._unit = ThemedLabel(theme, field.unit, font="small", color="text3")
        self._fault = ThemedLabel(theme, font="small", color="unfit", wrap=True)
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
        grid.setColumnMinimumWidth(0, theme.px(_ROW_LABEL))
        grid.setColumnStretch(1, 3)
        grid.setColumnStretch(2, 2)
        self.edit.setMinimumWidth(theme.px(_ROW_LINE))

    @property
    def fault(self) -> str:
        return self._fault.text()

    def check(self) -> bool:
        """Show the problem of the typed text, if any; return whether it can be used."""
        try:
            self.value()
        except SettingError as error:
            self._show_fault(str(error))
        else:
            self._show_fault("")
        return not self.fault

    def value(self) -> object:
        """Return the typed value; raises `FieldError`."""
        return self.field.parse(self.edit.text(), self._style)

    def _mending(self) -> None:
        """Remove an error as soon as it is corrected, not before."""
        if self.fault:
            self.check()

    def _show_fault(self, fault: str) -> None:
        if fault == self.fault:
            return
        self._fault.show_text(fault)
        self.edit.setProperty("fault", "true" if fault else "false")
        self.edit.style().unpolish(self.edit)
        self.edit.style().polish(self.edit)
        self._describe()
        self.checked.emit()

    def _describe(self) -> None:
        self.edit.setAccessibleDescription(self.fault or tr("Default: {meaning}", meaning=self.field.empty))


_WIDTH, _HEIGHT = 640.0, 640.0
_LABEL, _NOTE = 168.0, 72.0
_LONGEST_NAME, _LONGEST_NOTE = 200, 20_000

_VARIED, _FIXED = "varied", "fixed"
_BY_LOAD, _SERVER, _OFFLINE = "load", "server", "offline"
_SERVERS = {_BY_LOAD: None, _SERVER: True, _OFFLINE: False}


class MoreSettingsDialog(ThemedDialog):
    """Edits a copy; Apply passes it on, once, and only if every field is valid."""

    manual_topic = "scenario#more-settings"

    def __init__(
        self,
        theme: Theme,
        scenario: Scenario,
        apply: Callable[[Scenario], object],
        *,
        style: NumberStyle = ENGLISH_NUMBERS,
        parent: QWidget | None = None,
    ) -> None:
        """Show a scenario's settings; `apply` is called with the edited scenario."""
        super().__init__(theme, tr("More settings"), (_WIDTH, _HEIGHT), parent)
        self._scenario = scenario
        self._apply = apply
        self._style = style
        self.lines: list[SettingRow] = []
        self._make_controls()
        self._lay_out()
        self.name.setFocus()

    def line(self, name: str) -> SettingRow:
        return next(line for line in self.lines if line.field.name == name)

    def edited(self) -> Scenario | None:
        """Return the edited scenario, None if a field is invalid and shows an error."""
        usable = [line.check() for line in self.lines]
        # Check name and note like those of a file; show errors below them.
        texts: Sequence[tuple[QWidget, str, int, ThemedLabel]] = (
            (self.name, self.name.text(), _LONGEST_NAME, self._name_fault),
            (self.note, self.note.toPlainText(), _LONGEST_NOTE, self._note_fault),
        )
        for control, text, longest, label in texts:
            try:
                text_check(longest, empty=True)("", text)
                fault = ""
            except InputError as error:
                fault = format_message(error.problem)
            label.show_text(fault)
            control.setAccessibleDescription(fault)
        if self._name_fault.text() or self._note_fault.text() or not all(usable):
            return None
        return apply_settings(
            self._scenario,
            {line.field: line.value() for line in self.lines},
            name=self.name.text().strip(),
            note=self.note.toPlainText(),
            varied=self.lengths.value == _VARIED,
            server=_SERVERS[self.server.value],
            eager=self.eager.isChecked(),
        )

    def accept(self) -> None:
        """Apply and close; if a field is invalid, focus it."""
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

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        with QPainter(self) as painter:
            level = self._area.geometry().bottom() + 1
            ThemePainter(painter, self._theme).hairline(0, level, self.width(), level)

    def _make_controls(self) -> None:
        theme, scenario = self._theme, self._scenario
        work = scenario.workload
        self.name = QLineEdit(scenario.name)
        self.name.setPlaceholderText(tr("Untitled"))
        self.name.setAccessibleName(tr("Scenario name"))
        self._name_fault = self._make_fault_label()
        self.note = QPlainTextEdit(scenario.note)
        self.note.setTabChangesFocus(True)
        self.note.setAccessibleName(tr("Note, printed at the top of the sheet"))
        self.note.setPlaceholderText(tr("Printed at the top of the sheet"))
        self.note.setFixedHeight(theme.px(_NOTE))
        # This aligns the text with that of the line above.
        self.note.document().setDocumentMargin(theme.px(8))
        self._note_fault = self._make_fault_label()
        self.lengths = SegmentedControl(theme, tr("Request lengths"), [(_VARIED, tr("Varied")), (_FIXED, tr("Fixed"))])
        self.lengths.set_value(_VARIED if work.varied else _FIXED)
        self.server = SegmentedControl(
            theme,
            tr("Request source"),
            [(_BY_LOAD, tr("Automatic")), (_SERVER, tr("HTTP server")), (_OFFLINE, tr("Offline"))],
        )
        self.server.set_value(next(key for key, value in _SERVERS.items() if value is work.server))
        self.eager = QCheckBox(tr("Eager mode (no graph capture)"))
        self.eager.setChecked(work.eager)

    def _lay_out(self) -> None:
        theme, px = self._theme, self._theme.px
        body = QWidget()
        column = make_column(
            self._make_setting_row(tr("Name"), self.name, self._name_fault),
            self._make_setting_row(tr("Note"), self.note, self._note_fault),
            gap=px(10),
            margins=(px(24), px(20), px(24), px(16)),
            on=body,
        )
        self._add_section(column, tr("Workload"), list_workload_fields())
        column.addLayout(self._make_setting_row(tr("Request lengths"), self.lengths))
        column.addLayout(self._make_setting_row(tr("Request source"), self.server))
        self._add_section(column, tr("Serving"), list_serving_fields())
        column.addLayout(self._make_setting_row("", self.eager))
        column.addStretch(1)
        area = self._area = FullWidthScrollArea()
        area.show_widget(body)
        make_column((area, 1), self._make_button_row(theme), gap=0, on=self)

    def _add_section(self, column: QBoxLayout, title: str, fields: Sequence[SettingField]) -> None:
        column.addSpacing(self._theme.px(6))
        column.addWidget(ThemedLabel(self._theme, title, font="section"))
        for field in fields:
            value = field.format_value(self._scenario, self._style)
            line = SettingRow(self._theme, field, value, self._style)
            self.lines.append(line)
            column.addWidget(line)

    def _make_setting_row(self, caption: str, control: QWidget, fault: ThemedLabel | None = None) -> QGridLayout:
        px = self._theme.px
        grid = QGridLayout()
        grid.setHorizontalSpacing(px(10))
        grid.setVerticalSpacing(px(2))
        grid.setColumnMinimumWidth(0, px(_LABEL))
        grid.setColumnStretch(1, 1)
        label = ThemedLabel(self._theme, caption)
        label.setBuddy(control)
        wide = isinstance(control, QLineEdit | QPlainTextEdit)
        upper = Qt.AlignmentFlag.AlignTop if isinstance(control, QPlainTextEdit) else Qt.AlignmentFlag(0)
        grid.addWidget(label, 0, 0, upper)
        grid.addWidget(control, 0, 1, Qt.AlignmentFlag(0) if wide else Qt.AlignmentFlag.AlignLeft)
        if fault is not None:
            grid.addWidget(fault, 1, 1)
        return grid

    def _make_button_row(self, theme: Theme) -> QBoxLayout:
        cancel = Button(theme, tr("Cancel"), self.reject)
        apply = Button(theme, tr("Apply"), self.accept, kind="primary", key=format_key("Enter"))
        return make_row(
            STRETCH, cancel, apply, gap=theme.px(8), margins=(theme.px(24), theme.px(10), theme.px(24), theme.px(16))
        )

    def _make_fault_label(self) -> ThemedLabel:
        label = ThemedLabel(self._theme, font="small", color="unfit", wrap=True)
        label.hide()
        return label
