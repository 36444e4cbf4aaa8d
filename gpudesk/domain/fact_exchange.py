"""Import previews, and signed packs that transfer facts from one user to another."""

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
    "is not a supported import; choose a config.json, a GGUF file, an accelerator or a system as JSON, prices as CSV, "
    "or a catalog pack",
)


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class ImportedPriceFigures:
    """The prices of one accelerator and term, and the accelerator's name."""

    name: str
    range: PriceSummary


@dataclass(frozen=True, slots=True)
class ImportPreviewFigures:
    """The content of a proposal: one of the three, by its kind. An accelerator shows its attributes."""

    model: ImportedModelFigures | None = None
    attributes: tuple[AttributeClaims, ...] = ()
    prices: tuple[ImportedPriceFigures, ...] = ()


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class PackSignature:
    """A valid signature: the public key in hexadecimal digits, and the signer's own name."""

    key: str
    name: str


@dataclass(frozen=True, slots=True)
class FactPack:
    """A complete pack; `digest` is the digest of its content.

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


class PackRowStatus(StrEnum):
    """How a fact of a pack compares with the existing facts."""

    NEW = "new"
    SAME = "same"
    #: The user's own fact differs.
    DIFFERS = "differs"
    #: It would override the shipped catalog's value.
    OVERRIDES = "overrides"
    #: It is about an entry that is neither in the catalog nor in the pack.
    NO_ENTRY = "no_entry"
    #: The claim that it prefers is neither in the catalog nor in the pack.
    NO_CLAIM = "no_claim"
    #: The entry has no such attribute.
    UNFIT = "unfit"
    #: Another entry has its id.
    TAKEN = "taken"


#: Statuses that can be imported.
_OPEN = frozenset({PackRowStatus.NEW, PackRowStatus.DIFFERS, PackRowStatus.OVERRIDES})


@dataclass(frozen=True, slots=True)
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
