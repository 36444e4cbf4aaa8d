"""Software support by platform: what was said when and by whom, each beside the others and never merged."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class SupportLevel(StrEnum):
    """How well a software runs on a platform, in the words that documents use, from the least."""

    NONE = "none"
    COMMUNITY = "community"
    LAGS = "lags"
    WORKS = "works"
    VALIDATED = "validated"
    FIRST_CLASS = "first-class"
    FULL = "full"


@dataclass(frozen=True, slots=True)
class SupportEntry:
    """What one source says of one software on one platform.

    `date` is the ISO month or day of what is said, None where its source has none. `scope` says what it
    holds for. `statements` and `disputes` are ids of the catalog.
    """

    software: str
    name: str
    platform: str
    level: SupportLevel
    scope: str
    source: str
    date: str | None = None
    statements: tuple[str, ...] = ()
    disputes: tuple[str, ...] = ()

    @property
    def disputed(self) -> bool:
        """Whether a verdict is on record about it."""
        return bool(self.disputes)


@dataclass(frozen=True, slots=True)
class SoftwareSupport:
    """All entries, by software in the order of its file."""

    entries: tuple[SupportEntry, ...]

    @property
    def software(self) -> tuple[str, ...]:
        """The ids of what there are entries of."""
        return tuple(dict.fromkeys(entry.software for entry in self.entries))

    def support(self, platform: str, software: str | None = None) -> tuple[SupportEntry, ...]:
        """Return what is said of a platform, or of one software there: the newest first, undated last."""
        found = (
            entry
            for entry in self.entries
            if entry.platform == platform and software in (None, entry.software)
        )
        return newest_first(found)

    def latest(self, platform: str, software: str) -> SupportEntry | None:
        """Return the newest entry of one software on a platform, None where nothing is on record."""
        found = self.support(platform, software)
        return found[0] if found else None


def newest_first(entries: Iterable[SupportEntry]) -> tuple[SupportEntry, ...]:
    """Return entries by their dates, the newest first; those of one date stay in their order."""
    return tuple(sorted(entries, key=lambda entry: entry.date or "", reverse=True))
