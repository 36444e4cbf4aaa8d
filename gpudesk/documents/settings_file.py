"""The user's choices in the window, for all their readers: one JSON file of named values."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, Final, TypeVar

from gpudesk import paths
from gpudesk.domain.claim import StalenessLimits
from gpudesk.files import read_side_file
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.messages import InputError

#: Settings of the age in days from which prices and other figures count as stale.
STALE_PRICE_DAYS: Final = "catalog.stale_price_days"
STALE_FACT_DAYS: Final = "catalog.stale_fact_days"

_MOST_BYTES: Final = 1 << 20
#: The largest number in settings, and the largest number of pixels.
_LARGEST: Final = 2**31 - 1

PlainSetting = TypeVar("PlainSetting")


def get_settings_path() -> Path:
    """Return the path of the settings file, which need not exist."""
    return paths.get_user_dir() / "settings.json"


@frozen_dataclass
class StoredSettings:
    """The content of a settings file."""

    values: dict[str, Any] = field(default_factory=dict)
    #: Names of unusable values that were left out.
    dropped: tuple[str, ...] = ()
    #: Why the file as a whole could not be used.
    fault: InputError | None = None


def read_settings(path: Path) -> StoredSettings:
    """Read the usable values; empty without a file."""
    try:
        if not path.exists():
            return StoredSettings()
    except (OSError, ValueError):
        # An unreadable folder: another user's, or created as root.
        return StoredSettings()
    try:
        stored = read_side_file(path, _MOST_BYTES)
    except InputError as error:
        return StoredSettings(fault=error)
    values = {name: value for name, value in stored.items() if _is_usable(value)}
    return StoredSettings(values, tuple(name for name in stored if name not in values))


def _is_usable(value: object) -> bool:
    """Whether a value has only finite numbers, and only text that is valid in a file name."""
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
    """Read the rule in the settings file; the default if that cannot be read."""
    return make_age_rule(read_settings(get_settings_path()).values)
