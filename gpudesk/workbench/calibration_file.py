"""Reads the calibration file: constants with unit, meaning and overrides, coverage, and bands."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from gpudesk.domain.messages import InputError, message
from gpudesk.engine.constants import BandRule, Calibration, Constant, Override

#: Version of the file format that this program reads.
FORMAT_VERSION = 1


def read_calibration(path: Path) -> Calibration:
    """Read a calibration file; raises InputError that names the file and what is wrong with it."""
    try:
        raw = path.read_bytes()
        content = json.loads(raw)
    except OSError as error:
        raise InputError(message("calibration.unreadable", reason=error.strerror or ""), str(path)) from error
    except ValueError as error:
        raise InputError(message("calibration.broken", reason=str(error)), str(path)) from error
    try:
        return _calibration(content, hashlib.sha256(raw).hexdigest())
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise InputError(message("calibration.broken", reason=repr(error)), str(path)) from error


def _calibration(content: Mapping[str, Any], revision: str) -> Calibration:
    if content["version"] != FORMAT_VERSION:
        raise ValueError(content["version"])
    constants = {name: _constant(name, entry) for name, entry in content["constants"].items()}
    return Calibration(
        name=content["name"],
        revision=revision,
        newest_month=content["newest_month"],
        constants=MappingProxyType(constants),
        bands=_bands(content["bands"]),
        pair_bands=_bands(content["pair_bands"]),
        coverage=MappingProxyType(
            {(entry["generation"], entry["family"]): int(entry["rows"]) for entry in content["coverage"]}
        ),
    )


def _constant(name: str, entry: Mapping[str, Any]) -> Constant:
    overrides = tuple(
        Override(
            where=MappingProxyType({key: frozenset(values) for key, values in override["where"].items()}),
            value=float(override["value"]),
            rows=int(override.get("rows", 0)),
            source=override.get("source"),
        )
        for override in entry["overrides"]
    )
    return Constant(
        name, entry["unit"], entry["meaning"], float(entry["default"]), overrides, entry.get("source")
    )


def _bands(entries: list[Mapping[str, Any]]) -> tuple[BandRule, ...]:
    return tuple(
        BandRule(
            entry["figure"],
            entry["basis"],
            float(entry["low"]),
            float(entry["high"]),
            MappingProxyType({key: frozenset(values) for key, values in entry.get("where", {}).items()}),
        )
        for entry in entries
    )
