"""Import previews, and signed packs that carry facts from one user to another."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from gpudesk.domain.claim import AttributeClaims, Claim, PriceSummary
from gpudesk.domain.user_facts import FactKey, UserFact, UserFacts
from gpudesk.text.messages import InputError, message

NOTHING_TO_IMPORT: Final = message(
    "import.unknown",
    "is not a supported import; choose a config.json, a GGUF file, an accelerator as JSON, prices as CSV, or a "
    "catalog pack",
)


@dataclass(frozen=True, slots=True)
class ImportedModelFigures:
    """A model as it would be: parameters, and the bytes that a token takes in a KV cache at 16 bits.

    `windowed_bytes_per_token` is what layers with a window hold, up to `window` tokens; `state_bytes` what a
    sequence holds whatever its length.
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


@dataclass(frozen=True, slots=True)
class ImportedPriceFigures:
    """The prices of one part by one term, and what the part is called."""

    name: str
    range: PriceSummary


@dataclass(frozen=True, slots=True)
class ImportPreviewFigures:
    """What a proposal holds: one of the three, by its kind. An accelerator shows its attributes."""

    model: ImportedModelFigures | None = None
    attributes: tuple[AttributeClaims, ...] = ()
    prices: tuple[ImportedPriceFigures, ...] = ()


@dataclass(frozen=True, slots=True)
class TrustedSigner:
    """A public key in hexadecimal digits, the name that the user knows it by, and the day of the trust."""

    key: str
    name: str
    trusted_on: str


class PackTrust(StrEnum):
    """How far the signature of a pack is trusted. Invalid signatures are refused earlier."""

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
class FactPack:
    """A pack whose contents are whole; `digest` is that of them.

    `made` is an ISO day, `about` the revision of the shipped catalog on that day.
    """

    name: str
    made: str
    about: str
    facts: UserFacts
    digest: str
    signature: PackSignature | None = None

    def signer(self, signers: Collection[TrustedSigner]) -> TrustedSigner | None:
        key = None if self.signature is None else self.signature.key
        return next((signer for signer in signers if signer.key == key), None)

    def trust(self, signers: Collection[TrustedSigner]) -> PackTrust:
        """Return what is known of who made it; `signers` are those whom the user trusts."""
        if self.signature is None:
            return PackTrust.UNSIGNED
        return PackTrust.UNKNOWN if self.signer(signers) is None else PackTrust.KNOWN


class CarriedFactsError(InputError):
    """A scenario names entries that its file brings along and the catalog lacks; `pack` holds them."""

    def __init__(self, pack: FactPack, names: tuple[str, ...]) -> None:
        super().__init__(
            message(
                "scenario.carries_entries",
                "uses {names}, which only the file contains; import the file first",
                names=names,
            )
        )
        self.pack = pack


class PackRowStatus(StrEnum):
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
_OPEN = frozenset({PackRowStatus.NEW, PackRowStatus.DIFFERS, PackRowStatus.OVERRIDES})


@dataclass(frozen=True, slots=True)
class PackRow:
    """One fact of a pack. `yours` is the user's own fact in its place, `shipped` the claim that it overrides.

    `name` is that of the entry that it is about, empty for sources; `unit` is that of its figure. A row that
    is `part_of` another comes along with it: it belongs to an entry that the pack brings.
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
        """Whether it is brought in unless the user says otherwise: own facts stay where they differ."""
        return self.can_be_chosen and self.standing is not PackRowStatus.DIFFERS


def get_chosen_keys(rows: Collection[PackRow]) -> frozenset[FactKey]:
    return frozenset(row.key for row in rows if row.chosen)
