"""Catalog packs: facts of one user with their sources, as one file for others, and what they would change."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from gpudesk.domain.claims import Claim
from gpudesk.domain.messages import InputError, message
from gpudesk.domain.own_facts import Key, OwnFact, OwnFacts
from gpudesk.domain.signers import Signer


class Trust(StrEnum):
    """What is known of who made a pack. A signature that does not hold is refused before it comes to this."""

    UNSIGNED = "unsigned"
    #: Signed with a key that the user has not said to trust.
    UNKNOWN = "unknown"
    KNOWN = "known"


@dataclass(frozen=True, slots=True)
class PackSignature:
    """A signature that holds: the public key in hexadecimal digits, and the name that the signer gives."""

    key: str
    name: str


@dataclass(frozen=True, slots=True)
class Pack:
    """A pack whose contents are whole; `digest` is that of them.

    `made` is an ISO day, `about` the revision of the shipped catalog on that day.
    """

    name: str
    made: str
    about: str
    facts: OwnFacts
    digest: str
    signature: PackSignature | None = None

    def signer(self, signers: Collection[Signer]) -> Signer | None:
        """Return whoever of these signed it."""
        key = None if self.signature is None else self.signature.key
        return next((signer for signer in signers if signer.key == key), None)

    def trust(self, signers: Collection[Signer]) -> Trust:
        """Return what is known of who made it; `signers` are those whom the user trusts."""
        if self.signature is None:
            return Trust.UNSIGNED
        return Trust.UNKNOWN if self.signer(signers) is None else Trust.KNOWN


class CarriedFactsError(InputError):
    """A scenario names entries that its file brings along and the catalog lacks; `pack` holds them."""

    def __init__(self, pack: Pack, names: tuple[str, ...]) -> None:
        """Say which entries they are."""
        super().__init__(message("scenario.carries_entries", names=names))
        self.pack = pack


class Standing(StrEnum):
    """How a fact of a pack stands to what is here."""

    NEW = "new"
    SAME = "same"
    #: The user's own fact says something else.
    DIFFERS = "differs"
    #: It would hold in the place of what the shipped catalog takes.
    OVERRIDES = "overrides"
    #: It is about an entry that is neither here nor in the pack.
    NO_ENTRY = "no_entry"
    #: The claim that it takes is neither here nor in the pack.
    NO_CLAIM = "no_claim"
    #: The entry has no such attribute.
    UNFIT = "unfit"
    #: Another entry has its id.
    TAKEN = "taken"


#: What can be brought in.
_OPEN = frozenset({Standing.NEW, Standing.DIFFERS, Standing.OVERRIDES})


@dataclass(frozen=True, slots=True)
class PackRow:
    """One fact of a pack. `yours` is the user's own fact in its place, `shipped` the claim that it overrides.

    `name` is that of the entry that it is about, empty for sources; `unit` is that of its figure. A row that
    is `part_of` another comes along with it: it belongs to an entry that the pack brings.
    """

    key: Key
    fact: OwnFact
    standing: Standing
    name: str = ""
    unit: str | None = None
    yours: OwnFact | None = None
    shipped: Claim | None = None
    part_of: Key | None = None

    @property
    def can_be_chosen(self) -> bool:
        """Whether the user decides on it."""
        return self.standing in _OPEN and self.part_of is None

    @property
    def chosen(self) -> bool:
        """Whether it is brought in unless the user says otherwise: own facts stay where they differ."""
        return self.can_be_chosen and self.standing is not Standing.DIFFERS


def chosen_keys(rows: Collection[PackRow]) -> frozenset[Key]:
    """Return the keys of the rows that are chosen at first."""
    return frozenset(row.key for row in rows if row.chosen)
