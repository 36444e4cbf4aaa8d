"""User facts: the user's entries, claims, preferences and prices next to the shipped catalog; packs of them.

Every fact has a unique `key`. A `FactEdit` removes facts and adds others; its inverse undoes it. Watch-list notes are
in the same file and change by the same edits, but are not catalog facts. Figures are in SI units, dates are ISO days.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import field, fields
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeVar

from gpudesk.domain.accelerator import AcceleratorEntry, SystemEntry
from gpudesk.domain.claim import (
    PRICE_BOUND_ATTRIBUTES,
    PURCHASE_TERM,
    AttributeClaims,
    Claim,
    ClaimPreference,
    PriceRecord,
    PriceSummary,
    Source,
    SourceKind,
)
from gpudesk.domain.reference_data import WatchNote
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.formatting import ClaimValue
from gpudesk.text.messages import InputError, Message, message
from gpudesk.text.translation import LabeledEnum

#: The publisher of a model whose name does not tell.
UNKNOWN_MAKER: Final = "unknown"
#: Most facts of a user, a pack or a price list: all are read at each start, 100,000 in about a second.
MOST_FACTS: Final = 100_000
#: The table of a fact and its key there.
FactKey = tuple[str, ...]


@frozen_dataclass
class UserAccelerator(AcceleratorEntry):
    """An accelerator of the user; its figures are claims."""

    @property
    def key(self) -> FactKey:
        return ("accelerator", self.id)


@frozen_dataclass
class UserModel:
    """A model of the user. `definition` is its structure as canonical JSON, as in the shipped catalog.

    Each dimension is also a claim, so that its source is shown.
    """

    id: str
    name: str
    organisation: str
    definition: str

    @property
    def key(self) -> FactKey:
        return ("model", self.id)


@frozen_dataclass
class UserSystem(SystemEntry):
    """A server, rack or instance of the user with one kind of accelerator; its figures are claims."""

    @property
    def key(self) -> FactKey:
        return ("system", self.id)


UserEntry = UserAccelerator | UserModel | UserSystem


@frozen_dataclass
class UserClaim:
    """A figure that the user states for an entry, shipped or own; `source` is the id of one of the user's sources.

    One source states one value of an attribute. `published` is the figure as entered, with its unit.
    """

    thing: str
    attribute: str
    value: ClaimValue
    source: str
    kind: SourceKind
    retrieved: str
    published: str | None = None
    conditions: str | None = None
    note: str | None = None

    @property
    def key(self) -> FactKey:
        return ("claim", self.thing, self.attribute, self.source)


@frozen_dataclass
class UserPrice:
    """A price of the user: the fields of `Price`, with `source` as the id of one of the user's sources."""

    id: str
    accelerator: str
    term: str
    source: str
    kind: SourceKind
    usd: float | None = None
    usd_low: float | None = None
    usd_high: float | None = None
    provider: str | None = None
    region: str | None = None
    instance: str | None = None
    accelerators_in_instance: int | None = None
    basis: str | None = None
    date: str | None = None
    note: str | None = None

    @property
    def key(self) -> FactKey:
        return ("price", self.id)

    @property
    def own(self) -> bool:
        """Whether it is one of the user's, as of a `Price`."""
        return True

    @property
    def is_refused(self) -> bool:
        return False

    @property
    def offer(self) -> tuple[object, ...]:
        """What a price is for: two prices of one offer contradict each other."""
        instance = self.instance, self.accelerators_in_instance, self.region
        return self.provider, self.date, self.accelerator, self.term, *instance

    def price(self, source: Source) -> PriceRecord:
        values: dict[str, Any] = {each.name: getattr(self, each.name) for each in fields(self)}
        return PriceRecord(**{**values, "source": source}, own=True)


UserFact = Source | UserEntry | UserClaim | ClaimPreference | UserPrice

#: Tables in the order of their references.
FACT_TABLES: Final = ("source", "accelerator", "model", "system", "claim", "preference", "price")


def get_fact_key(fact: UserFact) -> FactKey:
    return ("source", fact.id) if isinstance(fact, Source) else fact.key


@frozen_dataclass
class FactEdit:
    """One step: `before` is removed, `after` added; a changed fact is in both, with one key.

    `unwatched` and `watched` are the same for notes on the watch list. `text` names the step for undo.
    """

    text: Message
    before: tuple[UserFact, ...] = ()
    after: tuple[UserFact, ...] = ()
    unwatched: tuple[WatchNote, ...] = ()
    watched: tuple[WatchNote, ...] = ()

    def invert(self) -> FactEdit:
        return FactEdit(self.text, self.after, self.before, unwatched=self.watched, watched=self.unwatched)

    @property
    def changes_facts(self) -> bool:
        """Whether it changes the catalog, and not only the watch list."""
        return bool(self.before or self.after)

    def list_notes_after(self, notes: tuple[WatchNote, ...]) -> tuple[WatchNote, ...]:
        """Return the notes on the watch list after the step, one per signal."""
        removed = {note.signal for note in self.unwatched}
        replacements = {note.signal: note for note in self.watched}
        notes_after = [
            replacements.pop(each.signal, each)
            for each in notes
            if each.signal in replacements or each.signal not in removed
        ]
        return (*notes_after, *replacements.values())

    @property
    def moves_estimates(self) -> bool:
        """Whether it changes more than prices and sources, on which no estimate depends."""
        return not all(isinstance(fact, Source | UserPrice) for fact in (*self.before, *self.after))

    @property
    def things(self) -> frozenset[str]:
        return frozenset(filter(None, map(_get_entry_id, (*self.before, *self.after))))


def _get_entry_id(fact: UserFact) -> str | None:
    if isinstance(fact, UserEntry):
        return fact.id
    if isinstance(fact, UserClaim | ClaimPreference):
        return fact.thing
    return fact.accelerator if isinstance(fact, UserPrice) else None


@frozen_dataclass
class UserFacts:
    """All facts of the user by their keys, in the order of entry."""

    facts: Mapping[FactKey, UserFact] = field(default_factory=lambda: MappingProxyType({}))

    @classmethod
    def of(cls, facts: Iterable[UserFact]) -> UserFacts:
        """Return these facts; a later one with the same key replaces an earlier one."""
        return cls(MappingProxyType({get_fact_key(fact): fact for fact in facts}))

    def __len__(self) -> int:
        return len(self.facts)

    def __iter__(self) -> Iterator[UserFact]:
        return iter(self.facts.values())

    def get(self, *key: str) -> UserFact | None:
        return self.facts.get(key)

    def after(self, edit: FactEdit) -> UserFacts:
        removed = {get_fact_key(fact) for fact in edit.before}
        replacements = {get_fact_key(fact): fact for fact in edit.after}
        facts_after = {
            key: replacements.pop(key, fact)
            for key, fact in self.facts.items()
            if key in replacements or key not in removed
        }
        return UserFacts(MappingProxyType(facts_after | replacements))


@frozen_dataclass
class MissingImportField:
    """A field that the user must add to a file: its name there, and its constraints.

    `kind` is `whole`, `number`, `word` or `yes_no`; `choices` are the possible words, empty for any.
    """

    name: str
    kind: str
    why: Message
    choices: tuple[str, ...] = ()


@frozen_dataclass
class ImportProposal:
    """The content of a file to import, for review before anything is written.

    `kind` is `model`, `accelerator`, `prices` or `pack`. `facts` are complete and in the order of `TABLES`; empty while
    fields are `missing`. `notes` list the assumptions, `left_out` the content that is not imported, with reasons.
    """

    kind: str
    name: str
    facts: tuple[UserFact, ...]
    notes: tuple[Message, ...] = ()
    left_out: tuple[Message, ...] = ()
    missing: tuple[MissingImportField, ...] = ()


@frozen_dataclass
class InactiveOverride:
    """Facts that are inactive together: all about one entry, one price, or one attribute, with the reason.

    `unit` is the internal unit of the attribute. Of the two ends of a price, `attribute` is the low one.
    """

    thing: str
    attribute: str | None
    why: Message
    facts: tuple[UserFact, ...]
    unit: str | None = None

    def concerns(self, thing: str, attribute: str | None) -> bool:
        """Whether it is about an attribute of an entry, rather than the entry itself."""
        if self.thing != thing or self.price is not None:
            return False
        return self.attribute == (PRICE_BOUND_ATTRIBUTES[0] if attribute in PRICE_BOUND_ATTRIBUTES else attribute)

    @property
    def keys(self) -> tuple[FactKey, ...]:
        return tuple(get_fact_key(fact) for fact in self.facts)

    @property
    def claims(self) -> tuple[UserClaim, ...]:
        return tuple(fact for fact in self.facts if isinstance(fact, UserClaim))

    @property
    def choices(self) -> tuple[ClaimPreference, ...]:
        return tuple(fact for fact in self.facts if isinstance(fact, ClaimPreference))

    @property
    def values(self) -> tuple[ClaimValue, ...]:
        values = (*(claim.value for claim in self.claims), *(choice.value for choice in self.choices))
        return tuple(dict.fromkeys(values))

    @property
    def price(self) -> UserPrice | None:
        """The inactive price, if it is one."""
        return next((fact for fact in self.facts if isinstance(fact, UserPrice)), None)

    @property
    def entry(self) -> UserEntry | None:
        """The inactive entry, if it is one."""
        entries = (fact for fact in self.facts if isinstance(fact, UserEntry))
        return next(entries, None)


class BackupReason(LabeledEnum):
    """The change before which the backup was made."""

    DAY = "day", "the first change of the day"
    """The first change of a day."""
    EDIT = "edit", "a change of many values"
    """A change of many facts at once."""
    MIGRATION = "migration", "an update of the file"
    """New tables for a newer program."""
    RESTORE = "restore", "a backup was restored"
    """An earlier state in place of this one."""


@frozen_dataclass
class Backup:
    """One copy. `facts` counts its content; if it is unusable that is None, with the `problem`."""

    path: Path
    time: datetime
    version: int
    reason: BackupReason
    size_bytes: int
    facts: int | None
    problem: Message | None = None


NOTHING_TO_IMPORT: Final = message(
    "import.unknown",
    "is not a supported import; choose a config.json, a GGUF file, an accelerator or a system as JSON, prices as CSV, "
    "or a value pack",
)


@frozen_dataclass
class ImportedModelFigures:
    """Preview of an imported model: parameters, and bytes per token of a 16-bit KV cache.

    `windowed_bytes_per_token` is for layers with a window, up to `window` tokens; `state_bytes` is per sequence at any
    length.
    """

    layers: int
    hidden_size: int
    vocab_size: int
    max_context: int | None
    parameters: int
    active_parameters: int
    kv_bytes_per_token: float
    windowed_bytes_per_token: float
    window: int | None
    state_bytes: int
    precision: str | None


@frozen_dataclass
class ImportedPriceFigures:
    """The prices of one accelerator and term, and the accelerator's name."""

    name: str
    range: PriceSummary


@frozen_dataclass
class ImportPreviewFigures:
    """The content of a proposal: one of the three, by its kind. An accelerator shows its attributes."""

    model: ImportedModelFigures | None = None
    attributes: tuple[AttributeClaims, ...] = ()
    prices: tuple[ImportedPriceFigures, ...] = ()


@frozen_dataclass
class TrustedSigner:
    """A public key in hexadecimal digits, the name that the user gave it, and the day of the trust."""

    key: str
    name: str
    trusted_on: str


class PackTrust(StrEnum):
    """How far the signature of a pack is trusted. Invalid signatures are refused earlier."""

    UNSIGNED = "unsigned"
    #: Signed with a key that the user has not trusted.
    UNKNOWN = "unknown"
    KNOWN = "known"


@frozen_dataclass
class PackSignature:
    """A valid signature: the public key in hexadecimal digits, and the signer's own name."""

    key: str
    name: str


@frozen_dataclass
class FactPack:
    """A complete pack; `digest` is the digest of its content.

    `date` is an ISO day, `about` the revision of the shipped catalog on that day.
    """

    name: str
    date: str
    about: str
    facts: UserFacts
    digest: str
    signature: PackSignature | None = None

    def signer(self, signers: Collection[TrustedSigner]) -> TrustedSigner | None:
        key = None if self.signature is None else self.signature.key
        return next((signer for signer in signers if signer.key == key), None)

    def trust(self, signers: Collection[TrustedSigner]) -> PackTrust:
        """Return the trust in the author; `signers` are those whom the user trusts."""
        if self.signature is None:
            return PackTrust.UNSIGNED
        return PackTrust.UNKNOWN if self.signer(signers) is None else PackTrust.KNOWN


class CarriedFactsError(InputError):
    """A scenario names entries that its file carries and the catalog lacks; `pack` holds them."""

    def __init__(self, pack: FactPack, names: tuple[str, ...]) -> None:
        super().__init__(
            message(
                "scenario.carries_entries",
                "uses {names}, which only the file contains; import the file first",
                names=names,
            )
        )
        self.pack = pack


class PackRowStatus(LabeledEnum):
    """How a fact of a pack compares with the existing facts."""

    NEW = "new", "new"
    SAME = "same", "as you have it"
    #: The user's own fact differs.
    DIFFERS = "differs", "differs from yours"
    #: It would override the shipped catalog's value.
    OVERRIDES = "overrides", "instead of the shipped value"
    #: It is about an entry that is neither in the catalog nor in the pack.
    NO_ENTRY = "no_entry", "no such entry here"
    #: The claim that it prefers is neither in the catalog nor in the pack.
    NO_CLAIM = "no_claim", "the claim that it takes is not here"
    #: The entry has no such attribute.
    UNFIT = "unfit", "the entry has no such attribute"
    #: Another entry has its id.
    TAKEN = "taken", "another entry has its id"


#: Statuses that can be imported.
_OPEN = frozenset({PackRowStatus.NEW, PackRowStatus.DIFFERS, PackRowStatus.OVERRIDES})


@frozen_dataclass
class PackRow:
    """One fact of a pack. `yours` is the user's own fact in its place, `shipped` the claim that it overrides.

    `name` is that of its entry, empty for sources; `unit` is that of its figure. A row that is `part_of` another is
    imported with it: it belongs to an entry of the pack.
    """

    key: FactKey
    fact: UserFact
    standing: PackRowStatus
    name: str = ""
    unit: str | None = None
    yours: UserFact | None = None
    shipped: Claim | None = None
    part_of: FactKey | None = None

    @property
    def can_be_chosen(self) -> bool:
        return self.standing in _OPEN and self.part_of is None

    @property
    def chosen(self) -> bool:
        """Whether it is imported by default: differing facts of the user stay."""
        return self.can_be_chosen and self.standing is not PackRowStatus.DIFFERS


def get_chosen_keys(rows: Collection[PackRow]) -> frozenset[FactKey]:
    return frozenset(row.key for row in rows if row.chosen)


_PriceT = TypeVar("_PriceT", PriceRecord, UserPrice, PriceRecord | UserPrice)


def list_current_prices(prices: Iterable[_PriceT]) -> list[_PriceT]:
    """Return the prices that count: of one provider's rents of an accelerator and term, those of its newest list.

    An older list is out of date, even if it names other instance sizes. All prices of the user, all purchase prices and
    all prices without a date or provider count. Prices outside the catalog, without an amount, or refused by the
    catalog are left out.
    """
    usable = [each for each in prices if each.accelerator and list_amounts(each) and not each.is_refused]
    newest: dict[tuple[str | None, ...], str] = {}
    for each in usable:
        if not each.own and each.date is not None:
            key = each.accelerator, each.term, each.provider
            newest[key] = max(newest.get(key, ""), each.date)
    return [
        each
        for each in usable
        if each.own
        or each.term == PURCHASE_TERM
        or each.provider is None
        or each.date is None
        or each.date == newest[each.accelerator, each.term, each.provider]
    ]


def list_amounts(price: PriceRecord | UserPrice) -> list[float]:
    return [each for each in (price.usd_low, price.usd, price.usd_high) if each is not None]
