"""Claims: figures with their sources, the value that the catalog prefers, disputes and prices."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeGuard

from gpudesk.text.formatting import ClaimValue
from gpudesk.text.messages import Message

#: How the verdict on a claim begins that says the same as the preferred one in other digits or words.
AGREEMENT_PREFIX: Final = "agrees"

#: How the ids of the user's own sources begin; those of the shipped catalog never do.
USER_SOURCE_PREFIX: Final = "own-"
#: The term of a price that is paid once; all other terms are rents.
PURCHASE_TERM: Final = "purchase"
#: What a source has for its publisher where nobody is named.
NO_PUBLISHER: Final = "not stated"
#: The ends of a purchase price among the attributes, which are stated, chosen and taken back together.
PRICE_BOUND_ATTRIBUTES: Final = ("price_low", "price_high")


def is_figure(value: object) -> TypeGuard[int | float]:
    """Whether a value is a number, which yes and no are not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


class SourceKind(StrEnum):
    """How a source came to its figure, which is what decides how far to trust it."""

    VENDOR_DATASHEET = "vendor_datasheet"
    VENDOR_CLAIM = "vendor_claim"
    CONFIG_COPY = "config_copy"
    MEASURED_VENDOR = "measured_vendor"
    MEASURED_MLPERF = "measured_mlperf"
    MEASURED_INDEPENDENT = "measured_independent"
    INDEPENDENT = "independent"
    PRESS = "press"
    ESTIMATE = "estimate"
    USER = "user"


class ClaimStatus(StrEnum):
    """How a claim stands to the one that is taken."""

    TAKEN = "taken"
    AGREES = "agrees"
    #: It states another value, and nobody said yet why that is not taken.
    DIFFERS = "differs"
    #: It states another value, and a verdict says why that is not taken.
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Source:
    """A publication that figures come from. Dates are ISO: a year, a month or a day."""

    id: str
    title: str
    publisher: str
    kind: SourceKind
    url: str | None = None
    date: str | None = None
    trust: str | None = None

    @property
    def own(self) -> bool:
        return self.id.startswith(USER_SOURCE_PREFIX)

    @property
    def named_publisher(self) -> str:
        """The publisher, empty if nobody is named."""
        return "" if self.publisher == NO_PUBLISHER else self.publisher


@dataclass(frozen=True, slots=True)
class Claim:
    """One figure as one source states it, in the unit used inside.

    `verdict` says, on a rival claim, why it is not the preferred one. `published` keeps the figure and
    unit as printed where they differ from `value` and `unit`. `own` is one that the user stated.
    `statements` are the ids of the source documents' statements that say it.
    """

    value: ClaimValue
    unit: str | None
    source: Source
    kind: SourceKind
    preferred: bool = False
    published: str | None = None
    conditions: str | None = None
    retrieved: str | None = None
    note: str | None = None
    verdict: str | None = None
    own: bool = False
    statements: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ClaimPreference:
    """The claim that the user takes for an attribute, shipped or own, named by its source and value.

    Where an upgrade took that claim away, the catalog's own choice holds again, and the preference waits.
    """

    thing: str
    attribute: str
    source: str
    value: ClaimValue
    reason: str
    date: str

    @property
    def key(self) -> tuple[str, ...]:
        return ("preference", self.thing, self.attribute)


@dataclass(frozen=True, slots=True)
class AttributeClaims:
    """All claims about one attribute of one thing; at most one is preferred, `reason` says why.

    Where the user prefers another claim than the shipped catalog, `preference` is that choice and `shipped`
    the claim that the catalog itself takes, if it takes one, with `shipped_reason`.
    """

    thing: str
    name: str
    unit: str | None
    claims: tuple[Claim, ...]
    reason: str | None = None
    preference: ClaimPreference | None = None
    shipped: Claim | None = None
    shipped_reason: str | None = None

    @property
    def overridden(self) -> bool:
        return self.preference is not None

    @property
    def preferred(self) -> Claim | None:
        """The claim that the catalog takes, or None if it takes none."""
        return next((claim for claim in self.claims if claim.preferred), None)

    @property
    def value(self) -> ClaimValue:
        """The preferred value in the unit used inside, or None if nothing is known."""
        claim = self.preferred
        return None if claim is None else claim.value

    @property
    def catalog_choice(self) -> Claim | None:
        """The claim that the shipped catalog takes, whatever the user does; None if it takes none."""
        if self.overridden:
            return self.shipped
        preferred = self.preferred
        return None if preferred is None or preferred.own else preferred

    @property
    def rivals(self) -> tuple[Claim, ...]:
        """The claims that are not preferred, in the order of the data."""
        return tuple(claim for claim in self.claims if not claim.preferred)

    @property
    def disputed(self) -> bool:
        return any(not self.agrees(claim) for claim in self.rivals)

    def agrees(self, claim: Claim) -> bool:
        """Whether a claim says what is taken; a verdict may say that it does but for rounding or detail.

        Verdicts are about the value that the shipped catalog takes.
        """
        if claim.value == self.value:
            return True
        judged = self.shipped.value if self.shipped is not None else self.value
        return judged == self.value and (claim.verdict or "").startswith(AGREEMENT_PREFIX)

    def stance(self, claim: Claim) -> ClaimStatus:
        if claim.preferred:
            return ClaimStatus.TAKEN
        if self.agrees(claim):
            return ClaimStatus.AGREES
        return ClaimStatus.REFUSED if self.verdict(claim) else ClaimStatus.DIFFERS

    def verdict(self, claim: Claim) -> str | None:
        """Return the verdict on a claim; none if it agrees with a shipped value that is not used."""
        claim_verdict = claim.verdict
        return (
            None
            if claim_verdict and claim_verdict.startswith(AGREEMENT_PREFIX) and not self.agrees(claim)
            else claim_verdict
        )


def is_user_entry(attributes: Iterable[AttributeClaims]) -> bool:
    """Whether all that is taken of a thing is the user's own word: an entry that the user made."""
    claims = [attribute.preferred for attribute in attributes if attribute.preferred is not None]
    return bool(claims) and all(claim.own for claim in claims)


@dataclass(frozen=True, slots=True)
class DocumentStatement:
    """A statement of one of the five source documents, kept as it was printed.

    `things` are those of the catalog that it is about, `attributes` what it says of each of them.
    """

    id: str
    source: Source
    subject: str
    attribute: str
    value: str
    value_high: str | None
    unit: str | None
    conditions: str | None
    as_of: str | None
    stated_by: str | None
    note: str | None
    things: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()

    def concerns(self, thing: str, attribute: str | None = None) -> bool:
        return thing in self.things and (attribute is None or attribute in self.attributes)


@dataclass(frozen=True, slots=True)
class Dispute:
    """Two statements that cannot both hold, with the verdict and its reason.

    `claim_b` is a second claim, or ARITHMETIC (refused by calculation), or PUBLIC-RECORD (refused by
    dated public pages). `things` and `attributes` are what of the catalog it is about.
    """

    id: str
    claim_a: str | None
    claim_b: str | None
    subject: str
    attribute: str
    disagreement: str
    verdict: str
    reason: str
    things: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()

    def concerns(self, thing: str, attribute: str | None = None) -> bool:
        return thing in self.things and (attribute is None or attribute in self.attributes)


class ProviderClass(StrEnum):
    """Kinds of providers, in the order in which the rents of one kind are chosen for a comparison.

    `MARKET` is a median or range over providers of several kinds.
    """

    SPECIALIZED = "specialized"
    HYPERSCALER = "hyperscaler"
    MARKETPLACE = "marketplace"
    MARKET = "market"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class PriceRecord:
    """One price row: a rent by the hour, or a purchase. Amounts are US dollars per accelerator.

    The catalog knows the class of a provider by its name.
    """

    id: str
    accelerator: str | None
    term: str
    source: Source
    kind: SourceKind
    usd: float | None
    usd_low: float | None
    usd_high: float | None
    provider: str | None = None
    region: str | None = None
    instance: str | None = None
    accelerators_in_instance: int | None = None
    basis: str | None = None
    date: str | None = None
    note: str | None = None
    own: bool = False
    provider_class: ProviderClass = ProviderClass.UNKNOWN

    @property
    def is_refused(self) -> bool:
        """Whether the catalog keeps a price but does not take it: shipped purchases say so in their note."""
        return not self.own and self.term == PURCHASE_TERM and self.note is not None


@dataclass(frozen=True, slots=True)
class ApiPrice:
    """A list price of a hosted model, in US dollars per million tokens; `provider_model` is its name there."""

    model: str
    provider: str
    provider_model: str
    usd_per_million_input: float
    usd_per_million_output: float
    usd_per_million_cached_input: float | None
    date: str
    source: Source
    note: str | None


@dataclass(frozen=True, slots=True)
class MissingPrice:
    """Prices of an accelerator that no source made public until `date`: `missing` names them."""

    accelerator: str
    missing: str
    note: str
    source: Source
    date: str


@dataclass(frozen=True, slots=True)
class PriceSummary:
    """The prices of one accelerator and term in US dollars per accelerator; a rent is by the hour.

    For a hosted model, the list prices of a million input or output tokens.

    `own_count` of them are the user's. `oldest` and `newest` are of the prices with a date, `undated` counts
    the others. `providers` are those that are named, `classes` theirs, each once. `smallest_instance` is how few
    accelerators can be rented at a time.
    """

    accelerator: str
    term: str
    low: float
    median: float
    high: float
    count: int
    own_count: int
    oldest: str | None
    newest: str | None
    undated: int
    providers: tuple[str, ...]
    classes: tuple[ProviderClass, ...] = ()
    smallest_instance: int = 1

    @property
    def is_own(self) -> bool:
        """Whether all of them are the user's."""
        return self.own_count == self.count

    def is_older_than_year(self, today: str) -> bool:
        """Whether all have a date, the newest before the year, month or day that is 12 months before an ISO day."""
        if self.newest is None or self.undated:
            return False
        year_ago = f"{int(today[:4]) - 1}{today[4:]}"
        return self.newest < year_ago[: len(self.newest)]


class CatalogEntryKind(StrEnum):
    """The kinds of things that can be looked up by id."""

    ACCELERATOR = "accelerator"
    MODEL = "model"
    DIFFUSION_MODEL = "diffusion_model"
    SERVING_ENGINE = "serving_engine"
    SYSTEM = "system"
    REFERENCE_DESIGN = "reference_design"


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    """One entry for a list: `maker` is the vendor or organisation, None if it has none.

    `own` is an entry that the user made.
    """

    id: str
    kind: CatalogEntryKind
    name: str
    maker: str | None = None
    own: bool = False


@dataclass(frozen=True, slots=True)
class StalenessLimits:
    """After how many days prices and other figures count as stale, unless the user sets otherwise."""

    prices: int = 90
    facts: int = 365


class PlausibilityGrade(StrEnum):
    """Whether a figure cannot be, or only is like that of no known part."""

    REFUSED = "refused"
    DOUBTFUL = "doubtful"


@dataclass(frozen=True, slots=True)
class PlausibilityFinding:
    """What speaks against a figure; `others` are the attributes that it does not go with."""

    attribute: str
    grade: PlausibilityGrade
    problem: Message
    others: tuple[str, ...] = ()

    def refuses(self, attribute: str) -> bool:
        """Whether it says that the figure of this attribute cannot be."""
        return self.grade is PlausibilityGrade.REFUSED and attribute == self.attribute

    def concerns(self, attribute: str) -> bool:
        """Whether the attribute is one of those that do not go together."""
        return attribute == self.attribute or attribute in self.others
