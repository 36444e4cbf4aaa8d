"""The source of facts that a file brings: the file itself."""

from __future__ import annotations

import hashlib
import re
from typing import Final

from gpudesk.domain.claims import OWN_SOURCE, Kind, Source

_LONGEST_SLUG: Final = 40
_LONGEST_TEXT: Final = 200
_DIGITS: Final = 8


def slug(text: str, longest: int = _LONGEST_SLUG) -> str:
    """Return a text as an id: small letters, digits, dots and hyphens; "file" where nothing is left."""
    found = re.sub(r"[^a-z0-9.]+", "-", text.lower())
    found = re.sub(r"[.-]*-[.-]*", "-", re.sub(r"\.{2,}", ".", found))[:longest].strip(".-")
    return found or "file"


def plain_text(text: str, longest: int = _LONGEST_TEXT) -> str:
    """Return a text on one line without characters that print nothing or turn the writing round."""
    printable = "".join(each if each.isprintable() else " " for each in text[: 4 * longest])
    return " ".join(printable.split())[:longest]


def file_source(
    title: str,
    publisher: str,
    kind: Kind,
    *,
    date: str | None = None,
    url: str | None = None,
    trust: str | None = None,
) -> Source:
    """Return a source of the user's; the same words make the same id, also when a file is read again."""
    words = (plain_text(title) or "file", plain_text(publisher) or "file")
    digest = hashlib.sha256("\n".join((*words, date or "", url or "")).encode()).hexdigest()[:_DIGITS]
    return Source(f"{OWN_SOURCE}{slug(words[0])}-{digest}", *words, kind, url=url, date=date, trust=trust)
