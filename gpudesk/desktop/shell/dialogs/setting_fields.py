"""The settings of a scenario that are typed: what they are called, what empty means, how they are checked.

A value that is typed passes the check that it would pass in a scenario file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final

from gpudesk.desktop.widgets.numbers import NumberError, NumberFormat
from gpudesk.domain.formatting import NumberStyle
from gpudesk.domain.messages import InputError, Message
from gpudesk.domain.scenarios import Scenario
from gpudesk.sentences import sentence
from gpudesk.text import tr
from gpudesk.workbench.fields import Check
from gpudesk.workbench.requests import REQUEST_FIELDS, WORKLOAD_FIELDS

#: Digits that a typed number keeps: more than any of these fields needs.
_DECIMALS: Final = 9


class FieldFault(Exception):  # noqa: N818 - a fault of the user's, as everywhere in the window
    """What was typed cannot be used; the message says why and what can."""


@dataclass(frozen=True, slots=True)
class SettingField:
    """One line to type in.

    `name` is that of scenario files. `empty` says what holds where nothing is typed, and `blank` is the value
    that then stands in the scenario. `scale` is how many of what is typed make one inside: 100 for per cent.
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
        """The field of the scenario, or of its workload."""
        return self._known[0]

    @property
    def _known(self) -> tuple[str, Check]:
        return (WORKLOAD_FIELDS if self.in_workload else REQUEST_FIELDS)[self.name]

    def shown(self, scenario: Scenario, style: NumberStyle) -> str:
        """Return what stands in the line for a scenario; nothing where that means the same."""
        value = getattr(scenario.workload if self.in_workload else scenario, self.target)
        if value == self.blank:
            return ""
        return str(value) if self.is_text else _format(style).text(value * self.scale)

    def parse(self, text: str, style: NumberStyle) -> object:
        """Return the value that a text stands for; raises `FieldFault`."""
        typed = text.strip()
        if not typed:
            return self.blank
        try:
            return self._known[1](self.name, typed if self.is_text else self._number(typed, style))
        except NumberError as error:
            raise FieldFault(str(error)) from error
        except InputError as error:
            raise FieldFault(self._sentence(error.problem, typed)) from error

    def _number(self, typed: str, style: NumberStyle) -> int | float:
        value = _format(style).parse(typed.removesuffix("%")) / self.scale
        return int(value) if value.is_integer() else value

    def _sentence(self, said: Message, typed: str) -> str:
        """Return a fault with the limits in the unit that is typed."""
        parameters: dict[str, Any] = dict(said.parameters)
        for limit in ("low", "high"):
            if limit in parameters:
                parameters[limit] *= self.scale
        if "given" in parameters:
            parameters["given"] = f"“{typed}”"
        told = sentence(replace(said, parameters=MappingProxyType(parameters)))
        return tr("{fault}. Leave it empty for {meaning}", fault=told, meaning=self.empty)


def workload_fields() -> tuple[SettingField, ...]:
    """Return the typed settings of the workload."""
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
            tr("tokens a step"),
            tr("1, no speculative decoding"),
            in_workload=True,
            blank=1.0,
        ),
    )


def serving_fields() -> tuple[SettingField, ...]:
    """Return the typed settings of how the model is served."""
    return (
        SettingField(
            "date", tr("Software of"), tr("YYYY-MM"), tr("the newest that was measured"), is_text=True
        ),
        SettingField(
            "memory_fraction",
            tr("Memory fraction"),
            tr("% of each accelerator"),
            tr("that of the serving engine"),
            scale=100,
        ),
        SettingField("max_batch", tr("Largest batch"), tr("requests"), tr("that of the serving engine")),
        SettingField(
            "max_batched_tokens",
            tr("Most tokens a step"),
            tr("tokens"),
            tr("that of the serving engine"),
        ),
    )


def with_settings(scenario: Scenario, values: Mapping[SettingField, object], **fields: object) -> Scenario:
    """Return the scenario with typed settings and other fields, those of the workload by their names too."""
    workload = {field.target: value for field, value in values.items() if field.in_workload}
    outside = {field.target: value for field, value in values.items() if not field.in_workload}
    for name, value in fields.items():
        (workload if name in ("varied", "server", "eager") else outside)[name] = value
    changed: Callable[..., Any] = replace
    edited: Scenario = changed(scenario, workload=changed(scenario.workload, **workload), **outside)
    return edited


def _format(style: NumberStyle) -> NumberFormat:
    """Return how numbers are read here: without limits, which are the check's."""
    return NumberFormat(float("-inf"), float("inf"), _DECIMALS, style)
