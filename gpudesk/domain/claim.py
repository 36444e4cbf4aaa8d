"""Claims: figures with their sources, preferred values, disputes and prices."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Final, TypeGuard

from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.formatting import ClaimValue
from gpudesk.text.messages import Message
from gpudesk.text.translation import LabeledEnum

#: Prefix of the verdict on a claim that agrees with the preferred claim in other digits or words.
AGREEMENT_PREFIX: Final = "agrees"

#: Prefix of the ids of the user's sources; ids of the shipped catalog never have it.
USER_SOURCE_PREFIX: Final = "own-"
#: The term of a one-time price; all other terms are rents.
PURCHASE_TERM: Final = "purchase"
#: Publisher of sources that name none.
NO_PUBLISHER: Final = "not stated"
#: The ends of a purchase price among the attributes; edits always apply to both.
PRICE_BOUND_ATTRIBUTES: Final = ("price_low", "price_high")


def is_figure(value: object) -> TypeGuard[int | float]:
    """Whether a value is a number; yes and no are not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


class SourceKind(LabeledEnum):
    """How a source obtained its figure, which decides how far to trust it."""

    VENDOR_DATASHEET = "vendor_datasheet", "vendor data sheet"
    VENDOR_CLAIM = "vendor_claim", "vendor claim"
    CONFIG_COPY = "config_copy", "published configuration"
    MEASURED_VENDOR = "measured_vendor", "measured by vendor"
    MEASURED_MLPERF = "measured_mlperf", "measured (MLPerf)"
    MEASURED_INDEPENDENT = "measured_independent", "measured independently"
    INDEPENDENT = "independent", "independent"
    PRESS = "press", "press"
    ESTIMATE = "estimate", "estimate"
    USER = "user", "entered by you"


class ClaimStatus(LabeledEnum):
    """How a claim compares with the preferred claim."""

    TAKEN = "taken", "used"
    AGREES = "agrees", "agrees"
    #: It states a different value, without a verdict yet.
    DIFFERS = "differs", "differs"
    #: It states a different value, and a verdict explains why it is not used.
    REFUSED = "refused", "rejected"


@frozen_dataclass
class Source:
    """A publication with figures. Dates are ISO: a year, a month or a day."""

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
        """The publisher, empty if unknown."""
        return "" if self.publisher == NO_PUBLISHER else self.publisher


@frozen_dataclass
class Claim:
    """One figure as one source states it, in the internal unit.

    `verdict` explains, on a rival claim, why it is not the preferred one. `published` keeps the figure and unit as
    printed if they differ from `value` and `unit`. `own` marks a claim of the user. `statements` are the ids of the
    source documents' statements behind it.
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


@frozen_dataclass
class ClaimPreference:
    """The claim that the user prefers for an attribute, shipped or own, named by its source and value.

    If an upgrade removes that claim, the catalog's choice applies again, and the preference is inactive.
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


@frozen_dataclass
class AttributeClaims:
    """All claims about one attribute of one entry; at most one is preferred, `reason` explains the choice.

    If the user prefers another claim than the shipped catalog, `preference` is that choice and `shipped` the catalog's
    preferred claim, if any, with `shipped_reason`.
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
        """The preferred claim, or None."""
        return next((claim for claim in self.claims if claim.preferred), None)

    @property
    def value(self) -> ClaimValue:
        """The preferred value in the internal unit, or None if unknown."""
        claim = self.preferred
        return None if claim is None else claim.value

    @property
    def catalog_choice(self) -> Claim | None:
        """The claim that the shipped catalog prefers, regardless of the user; None without one."""
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
        """Whether a claim agrees with the preferred value; a verdict can state that they agree but for rounding.

        Verdicts refer to the value that the shipped catalog prefers.
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
        """Return the verdict on a claim; empty if it agrees with a shipped value that is not used."""
        claim_verdict = claim.verdict
        return (
            None
            if claim_verdict and claim_verdict.startswith(AGREEMENT_PREFIX) and not self.agrees(claim)
            else claim_verdict
        )


def is_user_entry(attributes: Iterable[AttributeClaims]) -> bool:
    """Whether all preferred values of an entry are the user's: the user created the entry."""
    claims = [attribute.preferred for attribute in attributes if attribute.preferred is not None]
    return bool(claims) and all(claim.own for claim in claims)


@frozen_dataclass
class DocumentStatement:
    """A statement of one of the five source documents, as printed.

    `things` are the catalog entries that it is about, `attributes` those that it gives for each of them.
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


@frozen_dataclass
class Dispute:
    """Two contradictory statements, with the verdict and its reason.

    `claim_b` is a second claim, or ARITHMETIC (refuted by calculation), or PUBLIC-RECORD (refuted by dated public
    pages). `things` and `attributes` are the catalog entries and attributes concerned.
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
    """Kinds of providers, in the order in which their rents are preferred for a comparison.

    `MARKET` is a median or range over providers of several kinds.
    """

    SPECIALIZED = "specialized"
    HYPERSCALER = "hyperscaler"
    MARKETPLACE = "marketplace"
    MARKET = "market"
    UNKNOWN = "unknown"


@frozen_dataclass
class PriceRecord:
    """One price: a rent by the hour, or a purchase. Amounts are US dollars per accelerator.

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
    def is_used(self) -> bool:
        """Whether this is the price of a used accelerator: the basis of shipped ones begins with that."""
        return self.basis is not None and self.basis.startswith("used")

    @property
    def is_refused(self) -> bool:
        """Whether the catalog keeps a price but does not use it: shipped purchase prices state this in their note."""
        return not self.own and self.term == PURCHASE_TERM and self.note is not None


@frozen_dataclass
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


@frozen_dataclass
class MissingPrice:
    """Prices of an accelerator that were not public as of `date`: `missing` names them."""

    accelerator: str
    missing: str
    note: str
    source: Source
    date: str


@frozen_dataclass
class PriceSummary:
    """The prices of one accelerator and term in US dollars per accelerator; a rent is by the hour.

    For a hosted model, the list prices per million input or output tokens. `user_count` of them are the user's.
    `oldest` and `newest` are of the prices with a date, `undated` counts the others. `providers` are those that are
    named, `classes` their classes, each once. `smallest_instance` is the minimum number of accelerators to rent.
    `sources` are those of the catalog's prices, each once, those with the newest prices first. `is_used` says whether
    all are of used accelerators.
    """

    accelerator: str
    term: str
    low: float
    median: float
    high: float
    count: int
    user_count: int
    oldest: str | None
    newest: str | None
    undated: int
    providers: tuple[str, ...]
    classes: tuple[ProviderClass, ...] = ()
    smallest_instance: int = 1
    sources: tuple[Source, ...] = ()
    is_used: bool = False

    @property
    def is_user_value(self) -> bool:
        """Whether all of them are the user's."""
        return self.user_count == self.count

    def is_older_than_year(self, today: str) -> bool:
        """Whether every price has a date, and the newest date is more than 12 months before an ISO day."""
        return self.newest is not None and not self.undated and is_older(self.newest, today, years=1)


def is_older(date: str, today: str, years: int) -> bool:
    """Whether a year, month or day is before the one that is some years before an ISO day."""
    return date < f"{int(today[:4]) - years}{today[4:]}"[: len(date)]


class CatalogEntryKind(LabeledEnum):
    """The kinds of catalog entries with ids."""

    ACCELERATOR = "accelerator", "Accelerator"
    MODEL = "model", "Model"
    DIFFUSION_MODEL = "diffusion_model", "Diffusion model"
    SERVING_ENGINE = "serving_engine", "Serving engine"
    SYSTEM = "system", "System"
    REFERENCE_DESIGN = "reference_design", "Reference design"


@frozen_dataclass
class CatalogEntry:
    """One entry in a list: `maker` is the vendor or organization, None without one.

    `own` marks an entry of the user.
    """

    id: str
    kind: CatalogEntryKind
    name: str
    maker: str | None = None
    own: bool = False


@frozen_dataclass
class StalenessLimits:
    """Age in days at which prices and other figures count as stale, unless the user changes it."""

    prices: int = 90
    facts: int = 365


class PlausibilityGrade(StrEnum):
    """Whether a figure is impossible, or only unlike any known accelerator."""

    REFUSED = "refused"
    DOUBTFUL = "doubtful"


@frozen_dataclass
class PlausibilityFinding:
    """A reason against a figure; `others` are the attributes that it contradicts."""

    attribute: str
    grade: PlausibilityGrade
    problem: Message
    others: tuple[str, ...] = ()

    def refuses(self, attribute: str) -> bool:
        """Whether it refuses the figure of this attribute."""
        return self.grade is PlausibilityGrade.REFUSED and attribute == self.attribute
