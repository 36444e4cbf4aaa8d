"""More settings: fields of a scenario that do not fit into the scenario bar."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from PySide6.QtWidgets import QCheckBox, QWidget

from gpudesk.desktop.pages.catalog.editors.fields import NUMBER_DECIMALS, NoteRow, SegmentRow, TextRow
from gpudesk.desktop.pages.catalog.editors.form import FormDialog
from gpudesk.desktop.pages.catalog.editors.rows import LABEL, NO_VERDICT, FieldError, FieldVerdict, FormRow
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.layouts import STRETCH, make_row
from gpudesk.desktop.ui.widgets.number_edit import NumberError, NumberFormat
from gpudesk.domain.answer import Scenario
from gpudesk.domain.field_checks import accept_text
from gpudesk.estimation.request_fields import REQUEST_FIELDS, WORKLOAD_FIELDS, get_workload_field
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.formatting import NumberStyle
from gpudesk.text.messages import Exact, InputError, Message, format_message, quote_input
from gpudesk.text.translation import tr

if TYPE_CHECKING:
    from gpudesk.desktop.session.desk import Desk


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
        try:
            return (WORKLOAD_FIELDS if self.in_workload else REQUEST_FIELDS)[self.name](
                self.name, typed if self.is_text else self._parse_number(typed, style)
            )
        except NumberError as error:
            raise FieldError(str(error)) from error
        except InputError as error:
            raise FieldError(self._describe_problem(error.problem, typed)) from error

    def _parse_number(self, typed: str, style: NumberStyle) -> int | float:
        value = _format(style).parse(typed.removesuffix("%")) / self.scale
        return int(value) if value.is_integer() else value

    def _describe_problem(self, problem: Message, typed: str) -> str:
        """Return an error with the limits in the displayed unit."""
        parameters: dict[str, Any] = dict(problem.parameters)
        for limit in ("low", "high"):
            if limit in parameters:
                parameters[limit] = Exact(parameters[limit] * self.scale)
        if "given" in parameters:
            parameters["given"] = quote_input(typed)
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
    return NumberFormat(float("-inf"), float("inf"), NUMBER_DECIMALS, style)


_LONGEST_NAME, _LONGEST_NOTE = 200, 20_000
_UNIT = 138.0


class SettingRow(TextRow):
    """A setting, checked as in a scenario file; an empty field has the default."""

    def __init__(self, theme: Theme, field: SettingField, scenario: Scenario, style: NumberStyle) -> None:
        super().__init__(theme, field.name, field.label, empty=field.empty, aside=field.unit)
        self.field, self._style = field, style
        if self._unit is not None:
            # The fields of all settings end at the same place.
            self._unit.setMinimumWidth(theme.px(_UNIT))
        self.edit.keeps_text = field.is_text
        self.edit.setText(field.format_value(scenario, style))

    def read(self) -> object:
        return self.field.parse(self.edit.text(), self._style)

    def value(self) -> object:
        return self.field.blank if self.is_empty() else self.read()


_VARIED, _FIXED = "varied", "fixed"
_BY_LOAD, _SERVER, _OFFLINE = "load", "server", "offline"
_SERVERS: Final = {_BY_LOAD: None, _SERVER: True, _OFFLINE: False}


class MoreSettingsDialog(FormDialog):
    """Edits a copy; Apply passes it on, once, and only if every field is valid."""

    manual_topic = "scenario#more-settings"

    def __init__(
        self,
        desk: Desk,
        theme: Theme,
        scenario: Scenario,
        apply: Callable[[Scenario], object],
        *,
        parent: QWidget | None = None,
    ) -> None:
        """Show a scenario's settings; `apply` is called with the edited scenario."""
        super().__init__(desk, theme, tr("More settings"), save=tr("Apply"), parent=parent, writes_facts=False)
        self._scenario, self._apply = scenario, apply
        work = scenario.workload
        self.name_row = TextRow(theme, "name", tr("Name"), empty=tr("Untitled"), longest=_LONGEST_NOTE)
        self.name_row.show_value(scenario.name)
        self.note_row = NoteRow(theme, "note", tr("Note"), longest=_LONGEST_NOTE)
        self.note_row.edit.setPlaceholderText(tr("Printed at the top of the sheet"))
        self.note_row.show_value(scenario.note)
        for row, longest in ((self.name_row, _LONGEST_NAME), (self.note_row, _LONGEST_NOTE)):
            row.judge = partial(_judge_text, row, longest)
        lengths = [(_VARIED, tr("Varied")), (_FIXED, tr("Fixed"))]
        self.lengths = SegmentRow(theme, "varied", tr("Request lengths"), lengths)
        self.lengths.show_value(_VARIED if work.varied else _FIXED)
        sources = [(_BY_LOAD, tr("Automatic")), (_SERVER, tr("HTTP server")), (_OFFLINE, tr("Offline"))]
        self.server = SegmentRow(theme, "server", tr("Request source"), sources)
        self.server.show_value(next(key for key, value in _SERVERS.items() if value is work.server))
        self.eager = QCheckBox(tr("Eager mode (no graph capture)"))
        self.eager.setChecked(work.eager)
        self.add_rows([self.name_row, self.note_row])
        self.add_section(tr("Workload"), [*self._make_rows(list_workload_fields()), self.lengths, self.server])
        self.add_section(tr("Serving"), self._make_rows(list_serving_fields()))
        self.column.addLayout(make_row(theme.px(LABEL) + theme.px(10), self.eager, STRETCH, gap=0))
        self.name_row.focus_control()

    def _make_rows(self, fields: Sequence[SettingField]) -> list[SettingRow]:
        return [SettingRow(self.theme, field, self._scenario, self.desk.formatter.style) for field in fields]

    @property
    def entered(self) -> bool:
        return super().entered or self.eager.isChecked() is not self._scenario.workload.eager

    def edit(self) -> None:
        """Return no step: the scenario is edited, not a fact."""

    def after_saving(self) -> None:
        scenario = self.edited()
        if scenario != self._scenario:
            self._apply(scenario)

    def edited(self) -> Scenario:
        """Return the edited scenario; raises `FieldError`."""
        return apply_settings(
            self._scenario,
            {row.field: row.value() for row in self.rows if isinstance(row, SettingRow)},
            name=self.name_row.text() or "",
            note=self.note_row.text() or "",
            varied=self.lengths.key() == _VARIED,
            server=_SERVERS[self.server.key()],
            eager=self.eager.isChecked(),
        )


def _judge_text(row: FormRow, longest: int) -> FieldVerdict:
    """Check a text like one of a scenario file."""
    try:
        accept_text(longest)("", row.text())
    except InputError as error:
        return FieldVerdict(format_message(error.problem))
    return NO_VERDICT
