"""The choices that the user made in the window, for all that reads them: one JSON file of named values."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

from gpudesk import paths
from gpudesk.domain.claim import StalenessLimits
from gpudesk.files import read_side_file
from gpudesk.text.messages import InputError

#: Names of the days from which on prices and other figures count as stale.
STALE_PRICE_DAYS: Final = "catalog.stale_price_days"
STALE_FACT_DAYS: Final = "catalog.stale_fact_days"

_MOST_BYTES: Final = 1 << 20
#: No setting is a larger number, and what counts pixels takes no larger one.
_LARGEST: Final = 2**31 - 1

PlainSetting = TypeVar("PlainSetting")


def get_settings_path() -> Path:
    """Return where the settings lie; they need not be there."""
    return paths.user_dir() / "settings.json"


@dataclass(frozen=True, slots=True)
class StoredSettings:
    """What a settings file states."""

    values: dict[str, Any] = field(default_factory=dict)
    #: Names of values that were left out, since nothing can be done with them.
    dropped: tuple[str, ...] = ()
    #: Why the file as a whole could not be used.
    fault: InputError | None = None


def read_settings(path: Path) -> StoredSettings:
    """Return the values that can be used; none where there is no file."""
    try:
        if not path.exists():
            return StoredSettings()
    except (OSError, ValueError):
        # A folder that lets nobody look in: another user's, or one that was made as root.
        return StoredSettings()
    try:
        stored = read_side_file(path, _MOST_BYTES)
    except InputError as error:
        return StoredSettings(fault=error)
    values = {name: value for name, value in stored.items() if _is_usable(value)}
    return StoredSettings(values, tuple(name for name in stored if name not in values))


def _is_usable(value: object) -> bool:
    """Whether a value holds finite numbers, and only text that can be the name of a file."""
    if isinstance(value, dict):
        return all(_is_usable(each) for pair in value.items() for each in pair)
    if isinstance(value, list):
        return all(_is_usable(each) for each in value)
    if isinstance(value, str):
        try:
            os.fsencode(value)
        except UnicodeEncodeError:
            return False
        return True
    return not isinstance(value, int | float) or abs(value) <= _LARGEST


def get_setting(values: Mapping[str, Any], name: str, default: PlainSetting) -> PlainSetting:
    value = values.get(name, default)
    if isinstance(default, float) and type(value) is int:
        value = float(value)
    return value if type(value) is type(default) else default


def make_age_rule(values: Mapping[str, Any]) -> StalenessLimits:
    usual = StalenessLimits()
    prices, facts = (
        get_setting(values, STALE_PRICE_DAYS, usual.prices),
        get_setting(values, STALE_FACT_DAYS, usual.facts),
    )
    return StalenessLimits(prices if prices > 0 else usual.prices, facts if facts > 0 else usual.facts)


def read_age_rule() -> StalenessLimits:
    """Return the rule in the settings file; the usual one where that cannot be read."""
    return make_age_rule(read_settings(get_settings_path()).values)
