"""The calibration file: constants with unit, meaning and overrides, coverage, and intervals."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from gpudesk.domain.estimate import EstimateBasis
from gpudesk.engine.calibration import (
    Calibration,
    CalibrationConstant,
    ConstantOverride,
    IntervalRule,
    LeadScaleKey,
    PairRelation,
)
from gpudesk.engine.loads import SchedulingConstants
from gpudesk.engine.rates import list_rate_constants
from gpudesk.text.messages import InputError, Message, explain_system_error, input_error, message

#: Version of the file format that this program reads.
FORMAT_VERSION = 1

#: Constants looked up individually, besides those of rates and of serving dynamics.
_SINGLE: Final = frozenset({"node_bandwidth", "handover_time"})
#: Figures with intervals.
_FIGURES: Final = ("throughput", "ttft", "tpot")
_MONTH: Final = re.compile(r"20\d\d-(?:0[1-9]|1[0-2])")


def read_calibration(path: Path) -> Calibration:
    """Read a calibration file; raises InputError that names the file and what is wrong with it."""
    try:
        raw = path.read_bytes()
        content = json.loads(raw)
    except OSError as error:
        raise input_error(
            "calibration.unreadable",
            "cannot read the calibration file: {reason}; reinstall GPU Desk",
            str(path),
            reason=explain_system_error(error),
        ) from error
    except ValueError as error:
        raise InputError(_describe_broken(str(error)), str(path)) from error
    try:
        calibration = _parse_calibration(content, hashlib.sha256(raw).hexdigest())
    except KeyError as error:
        raise InputError(_describe_broken(f"{error} is missing"), str(path)) from error
    except (TypeError, AttributeError, ValueError) as error:
        raise InputError(_describe_broken(str(error)), str(path)) from error
    for fault in _report_faults(calibration):
        raise InputError(_describe_broken(fault), str(path))
    return calibration


def _report_faults(calibration: Calibration) -> Iterator[str]:
    """Yield faults that prevent estimates: missing entries and impossible values."""
    if not _MONTH.fullmatch(str(calibration.newest_month)):
        yield f"newest_month is {calibration.newest_month}"
    for name in sorted(_require() - calibration.constants.keys()):
        yield f"the constant {name} is missing"
    for name, constant in calibration.constants.items():
        values = (constant.default, *(each.value for each in constant.overrides))
        least = math.ulp(0.0) if name.endswith("_efficiency") else 0.0
        if not all(least <= value < math.inf for value in values):
            yield f"the constant {name} has a value that cannot be"
    for title, rules in (("bands", calibration.bands), ("plan_bands", calibration.plan_bands)):
        if not all(0 < rule.low <= 1 <= rule.high < math.inf for rule in rules):
            yield f"one of the {title} does not enclose its value"
        general = {(rule.figure, rule.basis) for rule in rules if not rule.where}
        for figure, basis in product(_FIGURES, EstimateBasis):
            if (figure, str(basis)) not in general:
                yield f"{title} has none for {figure}, {basis}"
    for key in product(_FIGURES, EstimateBasis, PairRelation):
        yield from _report_scale_faults(key, calibration.lead_scales.get(LeadScaleKey(*key)))


def _report_scale_faults(key: tuple[str, ...], scale: float | None) -> Iterator[str]:
    if scale is None:
        yield f"lead_scales has none for {', '.join(key)}"
    elif not 0 < scale < math.inf:
        yield f"the lead scale of {', '.join(key)} is {scale}"


def _require() -> frozenset[str]:
    of_rates = {name for name, _ in list_rate_constants()}
    return frozenset(of_rates | {each.name for each in fields(SchedulingConstants)} | _SINGLE)


def _parse_calibration(content: Mapping[str, Any], revision: str) -> Calibration:
    if content["version"] != FORMAT_VERSION:
        raise ValueError(f"version {content['version']}, where this program reads {FORMAT_VERSION}")
    constants = {name: _parse_constant(name, entry) for name, entry in content["constants"].items()}
    return Calibration(
        name=content["name"],
        revision=revision,
        newest_month=content["newest_month"],
        constants=MappingProxyType(constants),
        bands=_parse_intervals(content["bands"]),
        plan_bands=_parse_intervals(content["plan_bands"]),
        coverage=MappingProxyType(
            {(entry["generation"], entry["family"]): int(entry["rows"]) for entry in content["coverage"]}
        ),
        lead_scales=MappingProxyType(
            {
                LeadScaleKey(entry["figure"], entry["basis"], entry["between"]): float(entry["scale"])
                for entry in content["lead_scales"]
            }
        ),
    )


def _parse_constant(name: str, entry: Mapping[str, Any]) -> CalibrationConstant:
    overrides = tuple(
        ConstantOverride(
            where=MappingProxyType({key: frozenset(values) for key, values in override["where"].items()}),
            value=float(override["value"]),
            rows=int(override.get("rows", 0)),
            source=override.get("source"),
        )
        for override in entry["overrides"]
    )
    return CalibrationConstant(
        name, entry["unit"], entry["meaning"], float(entry["default"]), overrides, entry.get("source")
    )


def _parse_intervals(entries: list[Mapping[str, Any]]) -> tuple[IntervalRule, ...]:
    return tuple(
        IntervalRule(
            entry["figure"],
            entry["basis"],
            float(entry["low"]),
            float(entry["high"]),
            MappingProxyType({key: frozenset(values) for key, values in entry.get("where", {}).items()}),
        )
        for entry in entries
    )


def _describe_broken(reason: str) -> Message:
    return message("calibration.broken", "the calibration file is damaged: {reason}; reinstall GPU Desk", reason=reason)
