"""What the page asks for where something is to be added or changed."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class EditorKind(StrEnum):
    """What an editor is about. Without an id in the request it is for a new one."""

    ACCELERATOR = "accelerator"
    MODEL = "model"
    PRICE = "price"
    SOURCE = "source"
    #: A value of the user's for one attribute of one thing.
    VALUE = "value"
    #: Which of the claims about one attribute is taken, and why.
    PREFERENCE = "preference"
    #: From how many days on prices and facts count as stale.
    STALENESS = "staleness"


@dataclass(frozen=True, slots=True)
class EditorRequest:
    """What to open an editor for.

    `thing` and `attribute` are names of the catalog, `price` and `source` ids. `claim` is the id of the
    source of a claim about the attribute, where one was in sight when the editor was asked for.
    """

    kind: EditorKind
    thing: str | None = None
    attribute: str | None = None
    claim: str | None = None
    price: str | None = None
    source: str | None = None
