"""The choices that the user made in the window, for all that reads them: one JSON file of named values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

from gpudesk import paths
from gpudesk.domain.claim import StalenessLimits
from gpudesk.files import read_bytes
from gpudesk.text.messages import InputError

#: Names of the days from which on prices and other figures count as stale.
STALE_PRICE_DAYS: Final = "catalog.stale_price_days"
STALE_FACT_DAYS: Final = "catalog.stale_fact_days"

_MOST_BYTES: Final = 1 << 20

PlainSetting = TypeVar("PlainSetting")


def get_settings_path() -> Path:
    """Return where the settings lie; they need not be there."""
    return paths.user_dir() / "settings.json"


def read_settings(path: Path) -> dict[str, Any] | None:
    """Return the named values, none where there is no file; None where it cannot be read."""
    try:
        if not path.exists():
            return {}
    except OSError:
        # A folder that lets nobody look in: another user's, or one that was made as root.
        return {}
    try:
        values = json.loads(read_bytes(path, _MOST_BYTES))
    except (InputError, ValueError, RecursionError):
        return None
    return values if isinstance(values, dict) else None


def get_setting(values: Mapping[str, Any], name: str, default: PlainSetting) -> PlainSetting:
    value = values.get(name, default)
    if isinstance(default, float) and type(value) is int:
        value = float(value)
    return value if type(value) is type(default) else default


def make_age_rule(values: Mapping[str, Any]) -> StalenessLimits:
    usual = StalenessLimits()
    return StalenessLimits(
        get_setting(values, STALE_PRICE_DAYS, usual.prices), get_setting(values, STALE_FACT_DAYS, usual.facts)
    )


def read_age_rule() -> StalenessLimits:
    """Return the rule in the settings file; the usual one where that cannot be read."""
    return make_age_rule(read_settings(get_settings_path()) or {})
