"""Backups: copies of the user's file, each with the reason for which it was made."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from gpudesk.domain.messages import Message


class BackupReason(StrEnum):
    """What was about to happen to the file."""

    DAY = "day"
    """The first change of a day."""
    EDIT = "edit"
    """A change of many facts at once."""
    MIGRATION = "migration"
    """New tables for a newer program."""
    RESTORE = "restore"
    """An earlier state in place of this one."""


@dataclass(frozen=True, slots=True)
class Backup:
    """One copy. `facts` counts what is in it; where it cannot be used that is None and `problem` says why."""

    path: Path
    made: datetime
    version: int
    reason: BackupReason
    size_bytes: int
    facts: int | None
    problem: Message | None = None
