"""Purchases: buy now or wait, and the steps of procurement.

Amounts are US dollars before taxes; months are a twelfth of a year and count from today.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NamedTuple

from gpudesk.domain.cost import UncertainValue
from gpudesk.domain.decision import ConditionResult
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.messages import Message
from gpudesk.text.translation import LabeledEnum


class DeferralVerdict(LabeledEnum):
    """The recommended action. `EQUAL` costs the same, `OPEN` is undecided."""

    BUY = "buy", "buy now"
    WAIT = "wait", "wait"
    EQUAL = "equal", "same cost"
    OPEN = "cannot be told", "undecided"


#: Stands for the program's choice: the newest announced accelerator, of the same vendor if possible.
NEWEST_ACCELERATOR: Final = "newest"
#: A launch in fewer months than the first favors buying, one in the second or more favors waiting (D002-16).
SOON_MONTHS: Final = 6.0
LATE_MONTHS: Final = 12.0
#: Default slip: none, or up to the two quarters that a late tape-out costs (seed-002).
DEFAULT_SLIP_MONTHS: Final = UncertainValue(0.0, 0.0, 6.0)
#: Latest month of a plan.
MAX_MONTHS: Final = 240.0


class GapCostOrigin(StrEnum):
    """The source of the cost of a month without either accelerator."""

    YOURS = "yours"
    RENT = "rent of the chosen part"
    RIVAL_RENT = "rent of a rival"


class TokenDemandOrigin(StrEnum):
    """The source of the service's tokens."""

    YOURS = "yours"
    DEMAND = "demand"
    DEPLOYMENT = "deployment"


@frozen_dataclass
class DeferralQuestion:
    """The user's inputs about launch and next accelerator; None comes from catalog and scenario.

    `next_part` is None if there is nothing to wait for. `months_to_next` is its availability without delay,
    `slip_months` the delay. `years` are the years of use from the launch on. `usd_per_month` is the value of a month of
    service, or the penalty without it. With `tuned_for_next` the models are tuned for the next accelerator. `today` is
    an ISO day.
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
    """The recommendation of a rule of a source document; None if it leaves the question open.

    `rule` is its id. Only `strong` rules decide.
    """

    rule: str
    verdict: DeferralVerdict | None
    text: Message
    strong: bool = False


@frozen_dataclass
class DeferralMonthlyCosts:
    """The monthly cost of the service on each course, and the cost per million output tokens on both accelerators.

    `gap_rental` is the accelerator whose rent prices a month without either; None if its cost is stated. None is
    unknown.
    """

    buy_usd: UncertainValue | None = None
    next_usd: UncertainValue | None = None
    without_usd: UncertainValue | None = None
    buy_usd_per_million: UncertainValue | None = None
    next_usd_per_million: UncertainValue | None = None
    without_origin: GapCostOrigin | None = None
    gap_rental: str | None = None


@frozen_dataclass
class DeferralSavings:
    """The balance of waiting over all months of use.

    `gap_usd` is paid or lost before the next accelerator is available, `avoided_usd` the cost of the chosen one
    meanwhile, and `waiting_usd` the first less the second. `gain_usd` is the saving of the months after, `saved_usd`
    that less `waiting_usd`: the total saving by waiting. `wait_share` is the share of draws of all uncertain inputs in
    which waiting saves anything.
    """

    gap_usd: UncertainValue
    avoided_usd: UncertainValue
    waiting_usd: UncertainValue
    gain_usd: UncertainValue
    saved_usd: UncertainValue
    wait_share: float


class NextPricePoint(NamedTuple):
    """The saving by waiting at a price of the next accelerator, and the verdict for it."""

    price_usd: float
    saved_usd: UncertainValue
    verdict: DeferralVerdict


@frozen_dataclass
class DeferralThresholds:
    """Values at which the computed verdict changes, everything else at its likely value; None without one.

    `gap_months` is the longest acceptable time without the next accelerator. It is reached with a delivery in
    `delivery_months`, with a slip of `slip_months`, or with a launch in `launch_months`. The next accelerator's cost
    per million output tokens, and its price, carry the uncertainty of all other inputs; an end can be infinite.
    """

    gap_months: float | None = None
    delivery_months: float | None = None
    slip_months: float | None = None
    launch_months: float | None = None
    usd_per_million: UncertainValue | None = None
    price_usd: UncertainValue | None = None


@frozen_dataclass
class DeferralAnalysis:
    """Whether to buy the chosen accelerator now or to wait.

    `computed` is the result of the arithmetic, with `likely` its result at likely values. `delivery_months` includes
    the slip. Without a next accelerator the service would stay without either.
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
        """The verdict of the documents' strong rules; None if they leave it open or contradict each other."""
        verdicts = {rule.verdict for rule in self.rules if rule.strong and rule.verdict is not None}
        return verdicts.pop() if len(verdicts) == 1 else None

    @property
    def verdict(self) -> DeferralVerdict:
        """The verdict: that of the documents if they decide, else the computed one."""
        return self.document or self.computed


#: Possible conditions of a step: the accelerators of the order, whether a rival's quote is at hand, and whether the
#: workload runs on the platforms of both vendors.
PROCUREMENT_FACTS: Final = ("fleet_size", "competing_quote", "both_platforms")

#: Completed steps and points by id, each with the user's note.
CompletionNotes = Mapping[str, str]


class ProcurementStrength(LabeledEnum):
    """The importance of a step in its document."""

    STRONG = "strong", "High impact"
    MILD = "mild", "Low impact"


@frozen_dataclass
class ProcurementFigure:
    """A figure of a step: one value, or from `value` to `high`, in `unit`.

    `statements`, `disputes` and `worked` (printed figures that are computed again) are ids. `anecdotal` figures rely on
    unnamed persons.
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


@frozen_dataclass
class ProcurementCheckpoint:
    """A point of a step that can be checked off separately."""

    id: str
    text: str


@frozen_dataclass
class ProcurementStep:
    """A step of a purchase in the program's words.

    `when` is the condition under which it applies, None for always; `otherwise` is the text if it does not. `until` is
    the last ISO month for which its document was written.
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


@frozen_dataclass
class CheckpointStatus:
    """A point with its state and the user's note."""

    point: ProcurementCheckpoint
    is_done: bool
    note: str = ""


@frozen_dataclass
class ProcurementStepStatus:
    """The state of a step: `applies` is None if undecided.

    `tested` are the comparisons behind it and `missing` the facts that it lacks; `past` is whether the period of its
    document is over.
    """

    step: ProcurementStep
    applies: bool | None
    tested: tuple[ConditionResult, ...]
    missing: tuple[str, ...]
    past: bool
    is_done: bool
    note: str
    points: tuple[CheckpointStatus, ...]

    @property
    def open_points(self) -> int:
        """Number of open points; 0 once the step is done."""
        return 0 if self.is_done else sum(not each.is_done for each in self.points)


@frozen_dataclass
class NegotiationSheet:
    """All steps in their order."""

    lines: tuple[ProcurementStepStatus, ...]

    @property
    def done(self) -> int:
        return sum(line.is_done for line in self.lines)
