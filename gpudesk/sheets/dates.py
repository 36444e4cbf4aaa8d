"""The day that a sheet is made."""

from __future__ import annotations

from datetime import datetime


def today() -> str:
    """Return the day as the user's calendar has it."""
    return datetime.now().astimezone().date().isoformat()
