"""One line of the panel: its kind, key and content, its sentence, and the lines that belong to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Final, TypeVar

from gpudesk.domain.sizing import Remedy
from gpudesk.sheets.explanation import (
    ClaimLine,
    Detail,
    DisputeLine,
    Explanation,
    Limits,
    Offer,
    PlanGroup,
    PlanLine,
    RecordLine,
    RemedyLine,
    ShareLine,
    StatedGroup,
    StatementLine,
    TermLine,
    UseLine,
)
from gpudesk.sheets.explanation_decisions import OutcomeLine, RulingLine
from gpudesk.text import tr

T = TypeVar("T")

#: How many lines of a long list are in sight before it is unfolded.
_FIRST: Final = 5


class Kind(StrEnum):
    """What a line of the panel shows."""

    HEAD = "head"
    SECTION = "section"
    BAR = "bar"
    SHARE = "share"
    RECORD = "record"
    TERM = "term"
    GROUP = "group"
    CLAIM = "claim"
    DETAIL = "detail"
    NOTE = "note"
    DISPUTE = "dispute"
    REMEDY = "remedy"
    PLAN = "plan"
    PLANS = "plans"
    STATEMENT = "statement"
    STATED = "stated"
    MORE = "more"
    USE = "use"
    OUTCOME = "outcome"
    RULING = "ruling"
    SAID = "said"
    RULE = "rule"
    LINK = "link"
    EMPTY = "empty"


#: Lines that cannot be moved to: they only set others apart.
PASSIVE = frozenset({Kind.SECTION, Kind.BAR, Kind.GROUP, Kind.RULE})

#: Lines that a click anywhere on them folds in or out.
FOLDING = frozenset(
    {Kind.CLAIM, Kind.PLANS, Kind.RECORD, Kind.STATEMENT, Kind.STATED, Kind.MORE, Kind.RULING}
)


class Command(StrEnum):
    """What a link does."""

    COPY_WITH_SOURCES = "copy with sources"
    COPY_WORKING = "copy working"
    APPLY = "apply"
    EDIT = "edit"


@dataclass(frozen=True, slots=True)
class Heading:
    """The title of a part of the panel, and a word at its right."""

    title: str
    aside: str = ""


@dataclass(frozen=True, slots=True)
class Remark:
    """A sentence with an icon."""

    text: str
    icon: str


@dataclass(frozen=True, slots=True)
class Share:
    """One part of the bar with its place in it, the largest being 0."""

    line: ShareLine
    place: int


@dataclass(frozen=True, slots=True)
class Link:
    """An action: its wording, what it does, with what, and the key that does it too."""

    text: str
    command: Command
    remedy: Remedy | None = None
    offer: Offer | None = None

    @property
    def key(self) -> str:
        """The key that does the same, empty where there is none."""
        return "" if self.offer is None else self.offer.key


Content = (
    Explanation
    | Heading
    | Limits
    | Share
    | TermLine
    | ClaimLine
    | Detail
    | Remark
    | DisputeLine
    | RemedyLine
    | RecordLine
    | PlanLine
    | PlanGroup
    | StatementLine
    | StatedGroup
    | UseLine
    | OutcomeLine
    | RulingLine
    | Link
    | None
)


@dataclass(frozen=True)
class Node:
    """One line; `key` tells it from all others. A term says itself what is read out, when it is asked."""

    kind: Kind
    key: str
    content: Content
    said: str | None = None
    copied_as: str | None = None
    below: tuple[Node, ...] = ()

    @property
    def has_children(self) -> bool:
        """Whether lines belong to this one."""
        return bool(self.content.outline[1]) if isinstance(self.content, TermLine) else bool(self.below)

    @cached_property
    def children(self) -> tuple[Node, ...]:
        """The lines that belong to this one; those of a term are made when they are asked for."""
        if isinstance(self.content, TermLine):
            return tuple(term_node(each, f"{self.key}/{each.name}") for each in self.content.inputs)
        return self.below

    @property
    def sentence(self) -> str:
        """What is read out."""
        if self.said is not None:
            return self.said
        return self.content.sentence if isinstance(self.content, TermLine) else ""

    @property
    def copied(self) -> str:
        """What is copied: the sentence where nothing else is given."""
        return self.sentence if self.copied_as is None else self.copied_as

    @property
    def shape(self) -> tuple[object, ...]:
        """What has to be equal for the tree to keep its lines and change their texts only."""
        if isinstance(self.content, TermLine):
            return (self.kind, self.key, self.content.outline)
        return (self.kind, self.key, tuple(child.shape for child in self.below))


def term_node(term: TermLine, key: str) -> Node:
    """Return the line of a term of a working."""
    return Node(Kind.TERM, key, term)


def section(key: str, title: str, aside: str = "") -> Node:
    """Return the heading of a part of the panel."""
    said = f"{title}, {aside}" if aside else title
    return Node(Kind.SECTION, f"section.{key}", Heading(title, aside), said)


def first_few(prefix: str, items: Sequence[T], node_of: Callable[[str, T], Node]) -> Iterator[Node]:
    """Yield the lines of a list, of a long one the first few and a fold with the others.

    `node_of` makes the line of an item, whose key begins as it is told.
    """
    shown = len(items) if len(items) <= _FIRST + 1 else _FIRST
    for item in items[:shown]:
        yield node_of(prefix, item)
    if others := items[shown:]:
        key = f"{prefix}.more"
        label = tr("… and {n} more", n=len(others))
        yield Node(Kind.MORE, key, Heading(label), label, below=tuple(node_of(key, each) for each in others))


def detail_nodes(details: tuple[Detail, ...], key: str) -> tuple[Node, ...]:
    """Return what is folded below a line; of an address itself is copied."""
    return tuple(
        Node(
            Kind.DETAIL,
            f"{key}.{number}",
            detail,
            f"{detail.label}: {detail.value}",
            detail.value if detail.url else f"{detail.label}: {detail.value}",
        )
        for number, detail in enumerate(details)
    )
