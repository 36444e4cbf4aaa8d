"""What a comparison costs: for each accelerator what owning, renting and an API come to, and what is missing.

Amounts are US dollars before taxes, for the whole deployment unless a name says otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from gpudesk.domain.cost_inputs import Origin
from gpudesk.domain.estimates import Banded
from gpudesk.domain.price_ranges import PriceRange
from gpudesk.domain.ranges import Range


@dataclass(frozen=True, slots=True)
class CostSource:
    """Where a default was found, and why so much; without a title nobody states it."""

    note: str
    title: str = ""
    url: str = ""
    date: str = ""


@dataclass(frozen=True, slots=True)
class ResolvedInput:
    """The value of an input for one accelerator, and where it comes from; no `spread` where it is missing.

    `record` are the prices of the catalog behind it, `source` is that of a default.
    """

    name: str
    origin: Origin
    spread: Range | None
    record: PriceRange | None = None
    source: CostSource | None = None


class CostLine(NamedTuple):
    """One line of a total."""

    name: str
    usd: float


@dataclass(frozen=True, slots=True)
class Tco:
    """What owning costs over `years`; the lines add up to the total.

    `at_once_usd` is paid at the beginning, `per_month_usd` each month: cash, without interest and residual.
    """

    years: float
    total_usd: float
    lines: tuple[CostLine, ...]
    at_once_usd: float
    per_month_usd: float


class Software(NamedTuple):
    """What software costs a deployment, whether it is owned or rented: porting once, upkeep each month."""

    at_once_usd: float
    per_month_usd: float


@dataclass(frozen=True, slots=True)
class TokenCosts:
    """What tokens cost, with the band of the throughput.

    All cost is over the output tokens, over the input tokens, or over both alike (`blended`).
    """

    output: Banded
    input: Banded
    blended: Banded
    request: Banded
    user_month: Banded


@dataclass(frozen=True, slots=True)
class Efficiency:
    """What a deployment yields for its power and price; None where an input is missing.

    `joules_per_token` is at the meter, while it works. `tokens_per_s_per_rack` fills a rack up to its power.
    """

    tokens_per_s_per_kw: Banded | None
    tokens_per_s_per_rack: Banded | None
    accelerators_per_rack: int | None
    joules_per_token: Banded | None
    usd_per_gib: float | None
    usd_per_gib_for_kv: float | None
    energy_kwh: float | None
    carbon_kg: float | None


class BreakEven(NamedTuple):
    """Where two costs are equal: the value of an input, or None where none within its bounds does it.

    `key` is that of the column whose input it is; `against` that of the one that it is compared with, None
    for its own rent. Without a value `cheaper` says whether the first costs less throughout.
    """

    name: str
    key: str
    against: str | None
    value: float | None
    unit: str | None
    cheaper: bool | None = None


class CostPoint(NamedTuple):
    """What a million output tokens costs where each user gets so many tokens a second."""

    concurrency: int
    tokens_per_s_per_user: float
    owned_usd: float | None
    rented_usd: float | None


@dataclass(frozen=True, slots=True)
class CostColumn:
    """The costs of one accelerator of a comparison; `key` is that of its column.

    What is owned and what is rented bear the same `software`.

    `missing` names the inputs without which a cost cannot be told: `throughput` where there is no estimate.
    `count` is None without a deployment that fits. `rent` sums up the rents on record.
    """

    key: str
    accelerator: str
    count: int | None
    inputs: Mapping[str, ResolvedInput]
    missing: tuple[str, ...]
    tokens_per_s: Banded | None = None
    tco: Tco | None = None
    owned: TokenCosts | None = None
    rented: TokenCosts | None = None
    rent: PriceRange | None = None
    rent_usd_per_hour: float | None = None
    software: Software | None = None
    efficiency: Efficiency | None = None
    curve: tuple[CostPoint, ...] = ()


@dataclass(frozen=True, slots=True)
class CostAnswer:
    """The costs of all accelerators of a comparison, in its order.

    `api` is what a hosted API charges for a million output tokens with their prompts, where its prices are
    stated; `api_missing` names the one that is not, where only the other is.
    """

    columns: tuple[CostColumn, ...]
    break_evens: tuple[BreakEven, ...]
    api: Banded | None
    utilisation: Range
    api_missing: tuple[str, ...] = ()


class Influence(NamedTuple):
    """What a cost becomes when one input is at its low and at its high end, all others likely."""

    name: str
    at_low: float
    at_high: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class CostDraws:
    """Costs of a million output tokens in many draws of all inputs that are not known.

    The same draws hold for all accelerators. `cheapest` is the share of draws in which each is, by the key of
    its column; those that lack an input are not among them. `quantiles` are those of one in ten, the median
    and nine in ten; `histogram` counts draws between `edges`.
    """

    n: int
    seed: int
    rented: bool
    cheapest: Mapping[str, float]
    quantiles: Mapping[str, tuple[float, float, float]]
    edges: tuple[float, ...]
    histogram: Mapping[str, tuple[int, ...]]
