"""Purchases: buy now or wait, and the steps of a procurement.

Amounts are US dollars before taxes; months are a twelfth of a year and count from today."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

from gpudesk.domain.cost import UncertainValue
from gpudesk.domain.decision import ConditionResult
from gpudesk.text.messages import Message


class DeferralVerdict(StrEnum):
    """What to do. `EQUAL` costs the same either way, `OPEN` cannot be told from what is known."""

    BUY = "buy"
    WAIT = "wait"
    EQUAL = "equal"
    OPEN = "cannot be told"


#: Stands for the next part that the program finds: the newest announced one, of the same vendor if it can.
NEWEST_ACCELERATOR: Final = "newest"
#: A launch in fewer months than the first is for buying, one in the second or more for waiting (D002-16).
SOON_MONTHS: Final = 6.0
LATE_MONTHS: Final = 12.0
#: Taken where no slip is stated: none, or up to the two quarters that a late tape-out costs (seed-002).
DEFAULT_SLIP_MONTHS: Final = UncertainValue(0.0, 0.0, 6.0)
#: No month of a plan lies further away.
MAX_MONTHS: Final = 240.0


class GapCostOrigin(StrEnum):
    """Where the cost of a month without either part comes from."""

    YOURS = "yours"
    RENT = "rent of the chosen part"
    RIVAL_RENT = "rent of a rival"


class TokenDemandOrigin(StrEnum):
    """Where the tokens of the service come from."""

    YOURS = "yours"
    DEMAND = "demand"
    DEPLOYMENT = "deployment"


@dataclass(frozen=True, slots=True)
class DeferralQuestion:
    """What the user says of launch and next part; None is taken from catalog and scenario.

    `next_part` is None if none exists to wait for. `months_to_next` is when it can be had if nothing
    slips, `slip_months` how much later that becomes. `years` are those of use from the launch on.
    `usd_per_month` is what a month without service is worth, or what its lack is fined with. With
    `tuned_for_next` models have to be served that are tuned for the next part. `today` is an ISO day.
    """

    months_to_launch: float
    next_part: str | None = NEWEST_ACCELERATOR
    months_to_next: UncertainValue | None = None
    slip_months: UncertainValue | None = None
    years: float | None = None
    usd_per_month: UncertainValue | None = None
    tokens_per_month: float | None = None
    tuned_for_next: bool = False
    today: str | None = None


class RuleOpinion(NamedTuple):
    """What a rule of a source document says to this question; None if it leaves it undecided.

    `rule` is its id. Only what is `strong` decides.
    """

    rule: str
    verdict: DeferralVerdict | None
    text: Message
    strong: bool = False


@dataclass(frozen=True, slots=True)
class DeferralMonthlyCosts:
    """What a month of the service costs on each course, and a million output tokens of both parts.

    `gap_rental` is the accelerator whose rent stands for a month without either part; None if its cost is
    stated. What is not known is None.
    """

    buy_usd: UncertainValue | None = None
    next_usd: UncertainValue | None = None
    without_usd: UncertainValue | None = None
    buy_usd_per_million: UncertainValue | None = None
    next_usd_per_million: UncertainValue | None = None
    without_origin: GapCostOrigin | None = None
    gap_rental: str | None = None


@dataclass(frozen=True, slots=True)
class DeferralSavings:
    """The balance of waiting over all months of use.

    `gap_usd` is paid or lost before the next part is there, `avoided_usd` what the chosen part would have
    cost meanwhile, and `waiting_usd` the first less the second. `gain_usd` is what the months after cost
    less, `saved_usd` that less `waiting_usd`: what waiting saves in all. `wait_share` is the share of draws
    of all that is not known in which it saves anything.
    """

    gap_usd: UncertainValue
    avoided_usd: UncertainValue
    waiting_usd: UncertainValue
    gain_usd: UncertainValue
    saved_usd: UncertainValue
    wait_share: float


class NextPricePoint(NamedTuple):
    """What waiting saves if an accelerator of the next generation costs so much, and what that says."""

    price_usd: float
    saved_usd: UncertainValue
    verdict: DeferralVerdict


@dataclass(frozen=True, slots=True)
class DeferralThresholds:
    """Where the computed verdict turns, everything else as it most likely is; None if it does nowhere.

    `gap_months` is how long the service may be without the next part. It is reached with a delivery in
    `delivery_months`, with a slip of `slip_months`, or with a launch in `launch_months`. The next part's cost
    of a million output tokens, and its price, are known with the doubt of all else; an end may be infinite.
    """

    gap_months: float | None = None
    delivery_months: float | None = None
    slip_months: float | None = None
    launch_months: float | None = None
    usd_per_million: UncertainValue | None = None
    price_usd: UncertainValue | None = None


@dataclass(frozen=True, slots=True)
class DeferralAnalysis:
    """Whether to buy the chosen part now or to wait.

    `computed` is what the arithmetic says, with `likely` what it says where everything is as it most likely
    is. `delivery_months` has the slip in it. Without a next part the service would stay without either.
    """

    chosen: str
    next_part: str | None
    months_to_launch: float
    years: float
    rules: tuple[RuleOpinion, ...]
    computed: DeferralVerdict
    likely: DeferralVerdict
    slip_months: UncertainValue
    months_to_next: UncertainValue | None = None
    delivery_months: UncertainValue | None = None
    gap_months: UncertainValue | None = None
    tokens_per_month: UncertainValue | None = None
    tokens_origin: TokenDemandOrigin | None = None
    monthly: DeferralMonthlyCosts = DeferralMonthlyCosts()
    sums: DeferralSavings | None = None
    turns: DeferralThresholds = DeferralThresholds()
    prices: tuple[NextPricePoint, ...] = ()
    notes: tuple[Message, ...] = ()

    @property
    def document(self) -> DeferralVerdict | None:
        """What the documents' strong rules say; None if they leave it open or contradict each other."""
        verdicts = {rule.verdict for rule in self.rules if rule.strong and rule.verdict is not None}
        return verdicts.pop() if len(verdicts) == 1 else None

    @property
    def verdict(self) -> DeferralVerdict:
        """What to do: what the documents say where they decide, else what was computed."""
        return self.document or self.computed


#: What a step can depend on: accelerators in the order, whether a rival's quote is at hand, and whether the
#: workload runs on the platforms of both vendors.
PROCUREMENT_FACTS: Final = ("fleet_size", "competing_quote", "both_platforms")

#: Steps and points that are done, by their ids, each with what the user notes.
CompletionNotes = Mapping[str, str]


class ProcurementStrength(StrEnum):
    """How much a step matters to the document that gives it."""

    STRONG = "strong"
    MILD = "mild"


@dataclass(frozen=True, slots=True)
class ProcurementFigure:
    """A figure that belongs to a step: one value, or from `value` to `high`, in `unit`.

    `statements`, `disputes` and `worked` (printed figures that are computed again) are ids. `anecdotal` is
    what rests on unnamed persons.
    """

    label: str
    value: float
    unit: str
    high: float | None = None
    dated: str | None = None
    accelerators: tuple[str, ...] = ()
    anecdotal: bool = False
    statements: tuple[str, ...] = ()
    disputes: tuple[str, ...] = ()
    worked: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ProcurementCheckpoint:
    """One point of a step that can be ticked by itself."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class ProcurementStep:
    """A step of a purchase in the program's words.

    `when` is the condition under which it applies, None for always; `otherwise` says what holds where it
    does not. `until` is the last ISO month of the time that its document had in mind.
    """

    id: str
    source: str
    dated: str
    strength: ProcurementStrength
    title: str
    ask: str
    why: str
    when: str | None = None
    otherwise: str | None = None
    until: str | None = None
    figures: tuple[ProcurementFigure, ...] = ()
    points: tuple[ProcurementCheckpoint, ...] = ()
    statements: tuple[str, ...] = ()
    disputes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckpointStatus:
    """A point and whether it is done, with the user's note."""

    point: ProcurementCheckpoint
    done: bool
    note: str = ""


@dataclass(frozen=True, slots=True)
class ProcurementStepStatus:
    """A step here and now: `applies` is None if that cannot be told.

    `tested` are the comparisons behind it and `missing` the facts that it lacks; `past` is whether the time
    that the document had in mind is over.
    """

    step: ProcurementStep
    applies: bool | None
    tested: tuple[ConditionResult, ...]
    missing: tuple[str, ...]
    past: bool
    done: bool
    note: str
    points: tuple[CheckpointStatus, ...]

    @property
    def open_points(self) -> int:
        """How many points are still to be done; none once the step is."""
        return 0 if self.done else sum(not each.done for each in self.points)


@dataclass(frozen=True, slots=True)
class NegotiationSheet:
    """All steps in their order."""

    lines: tuple[ProcurementStepStatus, ...]

    @property
    def done(self) -> int:
        return sum(line.done for line in self.lines)
