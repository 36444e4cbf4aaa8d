"""JSON that others wrote, read without leniency: no key twice, no NaN, no halves of characters."""

from __future__ import annotations

from typing import Any, NoReturn


class DuplicateKeyError(ValueError):
    """An object states one key twice."""

    def __init__(self, key: str) -> None:
        """Keep the key for the message."""
        super().__init__(key)
        self.key = key


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; raises `DuplicateKeyError`."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise DuplicateKeyError(key)
        found[key] = value
    return found


def no_constant(name: str) -> NoReturn:
    """Refuse NaN and Infinity, which Python reads although they are not JSON."""
    raise ValueError(name)
