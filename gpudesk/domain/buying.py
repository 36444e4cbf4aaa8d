"""Buying a part now or waiting for the next one: what is asked, and what was found.

Amounts are US dollars before taxes, months are a twelfth of a year and counted from today.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

from gpudesk.domain.messages import Message
from gpudesk.domain.ranges import Range


class Verdict(StrEnum):
    """What to do. `EQUAL` costs the same either way, `OPEN` cannot be told from what is known."""

    BUY = "buy"
    WAIT = "wait"
    EQUAL = "equal"
    OPEN = "cannot be told"


#: Stands for the next part that the program finds: the newest announced one, of the same vendor if it can.
NEWEST: Final = "newest"
#: A launch in fewer months than the first is for buying, one in the second or more for waiting (D002-16).
SOON_MONTHS: Final = 6.0
LATE_MONTHS: Final = 12.0
#: Taken where no slip is stated: none, or up to the two quarters that a late tape-out costs (seed-002).
USUAL_SLIP: Final = Range(0.0, 0.0, 6.0)
#: No month of a plan lies further away.
MOST_MONTHS: Final = 240.0


class MonthOrigin(StrEnum):
    """Where the cost of a month without either part comes from."""

    YOURS = "yours"
    RENT = "rent of the chosen part"
    RIVAL_RENT = "rent of a rival"


class TokenOrigin(StrEnum):
    """Where the tokens of the service come from."""

    YOURS = "yours"
    DEMAND = "demand"
    DEPLOYMENT = "deployment"


@dataclass(frozen=True, slots=True)
class WaitQuestion:
    """What the user says of launch and next part; None is taken from catalog and scenario.

    `next_part` is None where there is none to wait for. `months_to_next` is when it can be had if nothing
    slips, `slip_months` how much later that becomes. `years` are those of use from the launch on.
    `usd_per_month` is what a month without service is worth, or what its lack is fined with. With
    `tuned_for_next` models have to be served that are tuned for the next part. `today` is an ISO day.
    """

    months_to_launch: float
    next_part: str | None = NEWEST
    months_to_next: Range | None = None
    slip_months: Range | None = None
    years: float | None = None
    usd_per_month: Range | None = None
    tokens_per_month: float | None = None
    tuned_for_next: bool = False
    today: str | None = None


class RuleSays(NamedTuple):
    """What a rule of a source document says to this question; None where it leaves it undecided.

    `rule` is its id. Only what is `strong` decides.
    """

    rule: str
    verdict: Verdict | None
    said: Message
    strong: bool = False


@dataclass(frozen=True, slots=True)
class MonthlyCosts:
    """What a month of the service costs on each course, and a million output tokens of both parts.

    `stopgap` is the accelerator whose rent stands for a month without either part; None where its cost is
    stated. What is not known is None.
    """

    buy_usd: Range | None = None
    next_usd: Range | None = None
    without_usd: Range | None = None
    buy_usd_per_million: Range | None = None
    next_usd_per_million: Range | None = None
    without_origin: MonthOrigin | None = None
    stopgap: str | None = None


@dataclass(frozen=True, slots=True)
class WaitSums:
    """What waiting comes to over all months of use.

    `gap_usd` is paid or lost before the next part is there, `avoided_usd` what the chosen part would have
    cost meanwhile, and `waiting_usd` the first less the second. `gain_usd` is what the months after cost
    less, `saved_usd` that less `waiting_usd`: what waiting saves in all. `wait_share` is the share of draws
    of all that is not known in which it saves anything.
    """

    gap_usd: Range
    avoided_usd: Range
    waiting_usd: Range
    gain_usd: Range
    saved_usd: Range
    wait_share: float


class PricePoint(NamedTuple):
    """What waiting saves if an accelerator of the next generation costs so much, and what that says."""

    price_usd: float
    saved_usd: Range
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Turns:
    """Where the computed verdict turns, everything else as it most likely is; None where it does nowhere.

    `gap_months` is how long the service may be without the next part. It is reached with a delivery in
    `delivery_months`, with a slip of `slip_months`, or with a launch in `launch_months`. The next part's cost
    of a million output tokens, and its price, are known with the doubt of all else; an end may be infinite.
    """

    gap_months: float | None = None
    delivery_months: float | None = None
    slip_months: float | None = None
    launch_months: float | None = None
    usd_per_million: Range | None = None
    price_usd: Range | None = None


@dataclass(frozen=True, slots=True)
class BuyOrWait:
    """Whether to buy the chosen part now or to wait.

    `computed` is what the arithmetic says, with `likely` what it says where everything is as it most likely
    is. `delivery_months` has the slip in it. Without a next part the service would stay without either.
    """

    chosen: str
    next_part: str | None
    months_to_launch: float
    years: float
    rules: tuple[RuleSays, ...]
    computed: Verdict
    likely: Verdict
    slip_months: Range
    months_to_next: Range | None = None
    delivery_months: Range | None = None
    gap_months: Range | None = None
    tokens_per_month: Range | None = None
    tokens_origin: TokenOrigin | None = None
    monthly: MonthlyCosts = MonthlyCosts()
    sums: WaitSums | None = None
    turns: Turns = Turns()
    prices: tuple[PricePoint, ...] = ()
    notes: tuple[Message, ...] = ()

    @property
    def document(self) -> Verdict | None:
        """What the documents' strong rules say; None where they leave it open or contradict each other."""
        said = {rule.verdict for rule in self.rules if rule.strong and rule.verdict is not None}
        return said.pop() if len(said) == 1 else None

    @property
    def verdict(self) -> Verdict:
        """What to do: what the documents say where they decide, else what was computed."""
        return self.document or self.computed
