"""The costs of one deployment: owned line by line, rented, and per token; and missing inputs.

The formulas take numbers or arrays that broadcast, so draws use the same ones. Amounts are US dollars, rates are shares
of 1. Hardware is bought at the beginning, depreciated linearly to its residual value, and operated in between. Taxes
are excluded.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gpudesk.domain.accelerator import SystemCount
from gpudesk.domain.answer import ComparisonColumn, ConcurrencyCurve
from gpudesk.domain.cost import (
    CostColumn,
    CostCurvePoint,
    CostLine,
    DeploymentEfficiency,
    ProviderRent,
    ResolvedCostInput,
    SoftwareCosts,
    TokenCosts,
    TotalCostOfOwnership,
)
from gpudesk.domain.estimate import Estimate
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.formatting import IntervalEstimate
from gpudesk.text.messages import Message, Term, message
from gpudesk.text.units import GIB, HOURS_PER_MONTH, HOURS_PER_YEAR, MONTHS_PER_YEAR, SECONDS_PER_HOUR

#: A number, or an array that broadcasts against the others.
Amount = float | NDArray[np.float64]
#: Inputs by the names of `COST_INPUTS`.
CostValues = Mapping[str, Amount]

_KILO: Final = 1000.0


@frozen_dataclass
class OwnershipInputs:
    """Owned accelerators, and the inputs of their cost by name, with the units and meanings of `COST_INPUTS`.

    `idle` accelerators of a partly used system are paid for and draw idle power. Shares of server, network and rack
    refer to the list price of an accelerator. Software is the deployment's share of that of the `fleet`.
    """

    values: CostValues
    accelerators: Amount
    idle: Amount = 0.0

    @property
    def bought(self) -> Amount:
        return self.accelerators + self.idle

    @property
    def net_price_usd(self) -> Amount:
        """Price paid for an accelerator: list price less discount."""
        return self.values["price_usd"] * (1.0 - self.values["discount"])

    @property
    def machine_kw(self) -> Amount:
        """Power of an accelerator with its share of the host's."""
        return (self.values["accelerator_w"] + self.values["host_w"]) / _KILO

    @property
    def average_kw(self) -> Amount:
        """Average power of the machines; hosts draw as much for idle accelerators."""
        values = self.values
        idle_kw = (values["accelerator_w"] * values["idle_draw"] + values["host_w"] * values["draw"]) / _KILO
        return self.accelerators * self.machine_kw * values["draw"] + self.idle * idle_kw


def list_ownership_lines(owned: OwnershipInputs) -> dict[str, Amount]:
    """Return the cost of each line over all years, in dollars and display order; the total is their sum.

    The residual value is negative. The cost of capital is its rate on the mean of the hardware's value at the beginning
    and at the end. Cooling is the site's power beyond its machines.
    """
    software = cost_software(owned.values, owned.accelerators)
    return {**_list_hardware_lines(owned), **_list_running_lines(owned), **software}


def sum_lines(lines: Mapping[str, Amount]) -> Amount:
    amounts = iter(lines.values())
    summed = next(amounts)
    for amount in amounts:
        summed = summed + amount
    return summed


def cost_software(values: CostValues, accelerators: Amount) -> dict[str, Amount]:
    """Return the cost of porting and upkeep for this many accelerators over all years, owned or rented."""
    share, usd_per_year = accelerators / values["fleet"], values["engineer_usd_per_year"]
    months = values["porting_engineer_months"]
    return {
        "porting": share * (months / MONTHS_PER_YEAR * usd_per_year),
        "upkeep": share * (values["engineers"] * usd_per_year * values["years"]),
    }


def compute_upfront_usd(owned: OwnershipInputs) -> Amount:
    """Return the upfront cost: hardware and porting."""
    return _compute_purchase_usd(owned) + cost_software(owned.values, owned.accelerators)["porting"]


def compute_monthly_usd(owned: OwnershipInputs) -> Amount:
    """Return the running cost per month, in cash: without cost of capital and residual value."""
    running = sum_lines(_list_running_lines(owned))
    upkeep = cost_software(owned.values, owned.accelerators)["upkeep"]
    return (running + upkeep) / (owned.values["years"] * MONTHS_PER_YEAR)


def compute_energy_kwh(owned: OwnershipInputs) -> Amount:
    """Return the energy at the meter over all years, in kWh."""
    return owned.average_kw * owned.values["pue"] * (owned.values["years"] * HOURS_PER_YEAR)


def _list_hardware_lines(owned: OwnershipInputs) -> dict[str, Amount]:
    values, price = owned.values, owned.values["price_usd"]
    pieces = owned.bought * (1.0 + values["spares"])
    paid = _compute_purchase_usd(owned)
    return {
        "accelerators": pieces * owned.net_price_usd,
        "server": pieces * (values["server_share"] * price),
        "network": pieces * (values["network_share"] * price),
        "rack": pieces * (values["rack_share"] * price),
        "residual": -values["residual"] * paid,
        "capital": values["capital_rate"] * values["years"] * paid * (1.0 + values["residual"]) / 2.0,
    }


def _compute_purchase_usd(owned: OwnershipInputs) -> Amount:
    values, price = owned.values, owned.values["price_usd"]
    each = (
        owned.net_price_usd
        + values["server_share"] * price
        + values["network_share"] * price
        + values["rack_share"] * price
    )
    return owned.bought * (1.0 + values["spares"]) * each


def _list_running_lines(owned: OwnershipInputs) -> dict[str, Amount]:
    values = owned.values
    months = values["years"] * MONTHS_PER_YEAR
    kilowatts = owned.bought * owned.machine_kw
    energy = owned.average_kw * (values["years"] * HOURS_PER_YEAR) * values["energy_usd_per_kwh"]
    return {
        "power": energy,
        "cooling": energy * (values["pue"] - 1.0),
        "demand": kilowatts * values["pue"] * months * values["demand_usd_per_kw_month"],
        "hosting": kilowatts * months * values["hosting_usd_per_kw_month"],
        "support": values["support"] * values["years"] * _compute_purchase_usd(owned),
        "staff": owned.bought * values["staff_usd_per_year"] * values["years"],
    }


_MILLION: Final = 1e6
_JOULES_PER_KWH: Final = 3.6e6


def count_served_tokens(tokens_per_s: Amount, hours: Amount, utilisation: Amount) -> Amount:
    """Return the tokens of this many hours at a utilization and the given rate."""
    return tokens_per_s * hours * utilisation * SECONDS_PER_HOUR


def compute_owned_usd_per_million(
    total_usd: Amount, tokens_per_s: Amount, years: Amount, utilisation: Amount
) -> Amount:
    return total_usd / count_served_tokens(tokens_per_s, years * HOURS_PER_YEAR, utilisation) * _MILLION


def compute_rented_usd_per_million(usd_per_hour: Amount, tokens_per_s: Amount, utilisation: Amount) -> Amount:
    """Return dollars per million tokens of a deployment rented by the hour.

    `usd_per_hour` is for the whole deployment, `utilisation` the used share of the rented hours.
    """
    return usd_per_hour / count_served_tokens(tokens_per_s, 1.0, utilisation) * _MILLION


def compute_api_usd_per_million(
    usd_per_million_input: Amount, usd_per_million_output: Amount, input_tokens: Amount, output_tokens: Amount
) -> Amount:
    """Return a hosted API's charge for a million output tokens with their prompts."""
    return usd_per_million_output + usd_per_million_input * input_tokens / output_tokens


def compute_joules_per_token(kilowatts: Amount, tokens_per_s: Amount) -> Amount:
    return kilowatts * _JOULES_PER_KWH / SECONDS_PER_HOUR / tokens_per_s


def solve_linear_root(difference: Callable[[float], Amount]) -> Amount:
    """Return the zero of a difference that is linear in its argument; NaN without one.

    The line is given by its values at 0 and 1.
    """
    at_zero = np.asarray(difference(0.0), dtype=np.float64)
    slope = np.asarray(difference(1.0), dtype=np.float64) - at_zero
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.where(slope == 0.0, np.nan, -at_zero / slope)
    return float(root) if root.ndim == 0 else root


def compute_months_to_own(at_once_usd: Amount, per_month_usd: Amount, rent_usd_per_month: Amount) -> Amount:
    """Return the months after which owning has cost less than renting; infinity if never."""
    saved = np.asarray(rent_usd_per_month - per_month_usd, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        months = np.where(saved > 0.0, at_once_usd / saved, np.inf)
    return float(months) if months.ndim == 0 else months


def compute_hours_to_own(total_usd: Amount, years: Amount, rent_usd_per_hour: Amount) -> Amount:
    """Return the rented hours per month above which owning is cheaper over all years."""
    return total_usd / (years * MONTHS_PER_YEAR) / rent_usd_per_hour


def compute_utilization_to_own(total_usd: Amount, years: Amount, rent_usd_per_hour: Amount) -> Amount:
    """Return the utilization above which owning is cheaper; above 1 if it never is."""
    return compute_hours_to_own(total_usd, years, rent_usd_per_hour) / HOURS_PER_MONTH


def compute_payback_hours(cost_usd: Amount, months: Amount, saved_usd_per_hour: Amount) -> Amount:
    """Return the hours per month that pay back a one-time cost in the given months."""
    return cost_usd / (saved_usd_per_hour * months)


#: Name of the output tokens/s of the deployment, taken from the estimate, among the inputs.
THROUGHPUT = "throughput"

#: Required for the cost of owning, or of renting.
NEEDED_TO_OWN = ("price_usd", "accelerator_w", THROUGHPUT)
NEEDED_TO_RENT = ("rent_usd_per_hour", THROUGHPUT)
#: Inputs of software costs, which are the same for owned and rented hardware.
_OF_SOFTWARE = ("engineer_usd_per_year", "engineers", "porting_engineer_months", "fleet")
#: Inputs that the cost of owning, or of renting, depends on.
OF_OWNING = (
    THROUGHPUT,
    "utilisation",
    "years",
    "price_usd",
    "discount",
    "server_share",
    "network_share",
    "rack_share",
    "spares",
    "residual",
    "capital_rate",
    "energy_usd_per_kwh",
    "pue",
    "accelerator_w",
    "host_w",
    "draw",
    "idle_draw",
    "demand_usd_per_kw_month",
    "hosting_usd_per_kw_month",
    "support",
    "staff_usd_per_year",
    *_OF_SOFTWARE,
)
OF_RENTING = (THROUGHPUT, "utilisation", "years", "rent_usd_per_hour", *_OF_SOFTWARE)


@frozen_dataclass
class PaidDeployment:
    """The accelerators that are paid for, and the request length in tokens.

    `idle` accelerators are added for owned whole systems, `idle_rented` for rented whole instances.
    """

    accelerators: int
    input_tokens: int
    output_tokens: int
    idle: int = 0
    idle_rented: int = 0

    @property
    def rented(self) -> int:
        return self.accelerators + self.idle_rented


def compute_owned_total(values: CostValues, deployment: PaidDeployment) -> Amount:
    return sum_lines(list_ownership_lines(OwnershipInputs(values, deployment.accelerators, deployment.idle)))


def compute_upfront_cost(values: CostValues, deployment: PaidDeployment) -> Amount:
    """Return the dollars that are paid at once for a deployment that is owned."""
    return compute_upfront_usd(OwnershipInputs(values, deployment.accelerators, deployment.idle))


def compute_owned_token_cost(values: CostValues, deployment: PaidDeployment) -> Amount:
    """Return dollars per million output tokens of an owned deployment."""
    return compute_owned_usd_per_million(
        compute_owned_total(values, deployment), values[THROUGHPUT], values["years"], values["utilisation"]
    )


def compute_rented_token_cost(values: CostValues, deployment: PaidDeployment) -> Amount:
    """Return dollars per million output tokens of a deployment rented around the clock, with its software."""
    rate, utilisation = values[THROUGHPUT], values["utilisation"]
    hourly = deployment.rented * values["rent_usd_per_hour"]
    software = sum_lines(cost_software(values, deployment.accelerators))
    return compute_rented_usd_per_million(hourly, rate, utilisation) + compute_owned_usd_per_million(
        software, rate, values["years"], utilisation
    )


_RENT: Final = "rent_usd_per_hour"
#: Quantiles at the ends of an 80% interval.
_INTERVAL_ENDS: Final = (0.1, 0.9)
_GRAMS = 1000.0
_MS = 1000.0
#: Ten machines of 1.1 kW fill a rack of 11 kW, although a quotient of floats can be just below 10.
_ROUNDING = 1e-9


@frozen_dataclass
class AcceleratorCostInputs:
    """One accelerator with its estimate and all inputs, likely values in `values`.

    `key` is that of its column. `deployment` is None without an estimate that fits and has a throughput. `sold` are the
    whole systems that the accelerators are sold in, None for cards; `systems` are the same if costs count them whole.
    """

    key: str
    accelerator: str
    estimate: Estimate | None
    inputs: Mapping[str, ResolvedCostInput]
    deployment: PaidDeployment | None
    tokens_per_s: IntervalEstimate | None
    values: Mapping[str, float]
    sold: SystemCount | None
    systems: SystemCount | None
    #: Draws of the logarithm of the token cost, by whether it is rented.
    log_costs: dict[bool, NDArray[np.float64]] = field(default_factory=dict, compare=False)

    @property
    def missing(self) -> tuple[str, ...]:
        needed = dict.fromkeys((*NEEDED_TO_OWN, *NEEDED_TO_RENT))
        return tuple(name for name in needed if name not in self.values)

    def knows(self, names: tuple[str, ...]) -> bool:
        return self.deployment is not None and all(name in self.values for name in names)


def gather_cost_inputs(
    key: str,
    column: ComparisonColumn,
    inputs: Mapping[str, ResolvedCostInput],
    sold: SystemCount | None,
    systems: SystemCount | None,
    idle_rented: int,
) -> AcceleratorCostInputs:
    estimate = column.estimate
    values = {name: each.spread.likely for name, each in inputs.items() if each.spread is not None}
    rate = None if estimate is None or not estimate.fits else estimate.output_tokens_per_s
    deployment = None
    if estimate is not None and rate is not None:
        work = estimate.request.workload
        idle = 0 if systems is None else systems.idle
        deployment = PaidDeployment(estimate.count, work.input_tokens, work.output_tokens, idle, idle_rented)
        values[THROUGHPUT] = rate.value
    accelerator = column.choice.accelerator
    return AcceleratorCostInputs(key, accelerator, estimate, inputs, deployment, rate, values, sold, systems)


def make_cost_column(
    inputs: AcceleratorCostInputs, column: ComparisonColumn, rents: tuple[ProviderRent, ...] = ()
) -> CostColumn:
    """Return the costs of a column; `rents` are those of its accelerator by provider."""
    deployment = inputs.deployment
    count = None if inputs.estimate is None or not inputs.estimate.fits else inputs.estimate.count
    rent = inputs.inputs[_RENT]
    own = inputs.knows(NEEDED_TO_OWN)
    hire = inputs.knows(NEEDED_TO_RENT)
    systems = inputs.systems
    idle = 0 if systems is None else systems.idle
    owned = OwnershipInputs(inputs.values, count, idle) if own and count is not None else None
    return CostColumn(
        key=inputs.key,
        accelerator=inputs.accelerator,
        count=count,
        inputs=inputs.inputs,
        missing=inputs.missing,
        idle_rented=0 if deployment is None else deployment.idle_rented,
        provider_rents=rents,
        tokens_per_s=inputs.tokens_per_s,
        sold=inputs.sold,
        systems=systems,
        tco=None if owned is None else _make_tco(owned),
        owned=_make_token_costs(inputs, "price_usd", compute_owned_token_cost) if own and deployment else None,
        rented=_make_token_costs(inputs, _RENT, compute_rented_token_cost) if hire and deployment else None,
        like_for_like_usd=_cost_like_for_like(inputs) if hire else None,
        rent=rent.record,
        rent_usd_per_hour=None if rent.spread is None else rent.spread.likely,
        software=None if count is None else _make_software(inputs.values, count),
        efficiency=None if count is None else _make_efficiency(inputs, column, owned),
        curve=_make_cost_curve(inputs, column.curve, own=own, hire=hire),
    )


def cost_provider_rents(inputs: AcceleratorCostInputs, rents: tuple[ProviderRent, ...]) -> tuple[ProviderRent, ...]:
    """Return the rents with the token cost at each, all other inputs unchanged."""
    if inputs.deployment is None or THROUGHPUT not in inputs.values or not rents:
        return rents
    hourly = np.array([each.usd_per_hour for each in rents])
    costs = compute_rented_token_cost({**inputs.values, "rent_usd_per_hour": hourly}, inputs.deployment)
    return tuple(
        each._replace(usd_per_million_output=usd) for each, usd in zip(rents, np.asarray(costs).tolist(), strict=True)
    )


def _make_tco(owned: OwnershipInputs) -> TotalCostOfOwnership:
    lines = tuple(CostLine(name, float(usd)) for name, usd in list_ownership_lines(owned).items())
    return TotalCostOfOwnership(
        years=float(owned.values["years"]),
        total_usd=math.fsum(line.usd for line in lines),
        lines=lines,
        at_once_usd=float(compute_upfront_usd(owned)),
        per_month_usd=float(compute_monthly_usd(owned)),
    )


def _make_software(values: Mapping[str, float], count: int) -> SoftwareCosts:
    lines = cost_software(values, count)
    months = values["years"] * MONTHS_PER_YEAR
    return SoftwareCosts(_to_float(lines["porting"]), _to_float(lines["upkeep"]) / months)


_PerMillion = Callable[[CostValues, PaidDeployment], Amount]


def _make_token_costs(inputs: AcceleratorCostInputs, paid: str, per_million: _PerMillion) -> TokenCosts:
    """Return the costs per token with the 80% interval of throughput and of the price that is `paid`.

    The two are independent, so their logarithmic distances from the likely cost add as squares.
    """
    rate, deployment, price = inputs.tokens_per_s, inputs.deployment, inputs.inputs[paid].doubt
    assert rate is not None
    assert deployment is not None
    assert price is not None
    rates = np.array([rate.value, rate.high, rate.low, rate.value, rate.value])
    prices = np.array([*[price.likely] * 3, *map(price.find_quantile, _INTERVAL_ENDS)])
    costs = np.broadcast_to(per_million({**inputs.values, THROUGHPUT: rates, paid: prices}, deployment), rates.shape)
    likely, *ends = costs.tolist()
    low = math.hypot(*(math.log(min(1.0, each / likely)) for each in ends[::2]))
    high = math.hypot(*(math.log(max(1.0, each / likely)) for each in ends[1::2]))
    output = IntervalEstimate(likely, likely * math.exp(-low), likely * math.exp(high))
    input_tokens, output_tokens = deployment.input_tokens, deployment.output_tokens
    request = _scale_figure(output, output_tokens / _MILLION)
    return TokenCosts(
        output=output,
        input=_scale_figure(output, output_tokens / input_tokens),
        blended=_scale_figure(output, output_tokens / (input_tokens + output_tokens)),
        request=request,
        user_month=_scale_figure(request, inputs.values["requests_per_user_month"]),
    )


def _cost_like_for_like(inputs: AcceleratorCostInputs) -> float | None:
    """Return the cost per million output tokens at the usual rent of specialized clouds; None if they rent it."""
    rent = inputs.inputs[_RENT].like_for_like
    if rent is None or inputs.deployment is None:
        return None
    return _to_float(compute_rented_token_cost({**inputs.values, _RENT: rent.likely}, inputs.deployment))


def _to_float(value: object) -> float:
    return float(value)  # type: ignore[arg-type]


def _scale_figure(banded: IntervalEstimate, factor: float) -> IntervalEstimate:
    return IntervalEstimate(*(each * factor for each in banded))


def _make_efficiency(
    inputs: AcceleratorCostInputs, column: ComparisonColumn, owned: OwnershipInputs | None
) -> DeploymentEfficiency:
    values, rate, estimate = inputs.values, inputs.tokens_per_s, inputs.estimate
    assert estimate is not None
    count = estimate.count
    watts = values.get("accelerator_w")
    kilowatts = None if watts is None else (watts + values["host_w"]) / _KILO
    in_rack = None if not kilowatts else math.floor(values["rack_kw"] / kilowatts + _ROUNDING)
    meter = None if kilowatts is None else kilowatts * count * values["draw"] * values["pue"]
    memory = column.accelerator.memory_bytes
    price = values.get("price_usd")
    net = None if price is None else price * (1.0 - values["discount"])
    energy = None if owned is None else float(compute_energy_kwh(owned))
    for_kv = estimate.memory.kv_bytes + estimate.memory.free_bytes
    return DeploymentEfficiency(
        tokens_per_s_per_kw=None if not (rate and kilowatts) else _scale_figure(rate, 1 / (kilowatts * count)),
        tokens_per_s_per_rack=None if not (rate and in_rack) else _scale_figure(rate, in_rack / count),
        accelerators_per_rack=in_rack,
        joules_per_token=_compute_joules(meter, rate),
        usd_per_gib=None if net is None else net / (memory / GIB),
        usd_per_gib_for_kv=None if net is None or for_kv <= 0 else net / (for_kv / GIB),
        energy_kwh=energy,
        carbon_kg=None if owned is None else _compute_carbon(energy, values, owned.bought),
    )


def _compute_joules(kilowatts: float | None, rate: IntervalEstimate | None) -> IntervalEstimate | None:
    if kilowatts is None or rate is None:
        return None
    at = [float(compute_joules_per_token(kilowatts, each)) for each in rate]
    return IntervalEstimate(at[0], at[2], at[1])


def _compute_carbon(energy: float | None, values: Mapping[str, float], count: Amount) -> float | None:
    """Return the carbon of the energy, plus embodied carbon if stated; None without the grid's intensity."""
    grid = values.get("grid_g_per_kwh")
    if energy is None or grid is None:
        return None
    return energy * grid / _GRAMS + float(count) * values.get("embodied_kg", 0.0)


def _make_cost_curve(
    inputs: AcceleratorCostInputs, curve: ConcurrencyCurve | None, *, own: bool, hire: bool
) -> tuple[CostCurvePoint, ...]:
    """Return cost against speed per user, from few requests in flight to many."""
    deployment = inputs.deployment
    if curve is None or deployment is None:
        return ()
    rates, paces = np.array(curve.output_tokens_per_s.value), np.array(curve.tpot_ms.value)
    is_positive = (rates > 0.0) & (paces > 0.0)
    values: dict[str, Amount] = {**inputs.values, THROUGHPUT: rates[is_positive]}
    nothing = [None] * int(is_positive.sum())
    return tuple(
        CostCurvePoint(*point)
        for point in zip(
            np.array(curve.concurrency)[is_positive].tolist(),
            (_MS / paces[is_positive]).tolist(),
            np.asarray(compute_owned_token_cost(values, deployment)).tolist() if own else nothing,
            np.asarray(compute_rented_token_cost(values, deployment)).tolist() if hire else nothing,
            strict=True,
        )
    )


#: Inputs that can be missing, and their names in messages.
_MISSING_TERMS: Final = {
    "price_usd": Term("lacks.price", "purchase price"),
    "accelerator_w": Term("lacks.power", "power"),
    "rent_usd_per_hour": Term("lacks.rent", "rent"),
}


def list_missing_inputs(
    inputs: AcceleratorCostInputs, column: ComparisonColumn, needed: tuple[str, ...]
) -> Iterator[Message]:
    """Yield the missing inputs of a column: the reason for no throughput, and the missing figures."""
    name = column.accelerator.name
    for each in needed:
        if each == THROUGHPUT:
            if inputs.deployment is None:
                yield message(
                    "deciding.no_throughput",
                    "{accelerator} has no throughput for this load, so its cost per token is unknown",
                    accelerator=name,
                )
                yield from _explain_no_throughput(column)
        elif each not in inputs.values:
            yield message(
                "deciding.lacks",
                "Missing {kind} for {accelerator}; enter it in the cost inputs",
                accelerator=name,
                kind=_MISSING_TERMS[each],
            )


def _explain_no_throughput(column: ComparisonColumn) -> Iterator[Message]:
    """Yield the problem of a column, or the reason why its deployment does not fit or has no throughput."""
    estimate = column.estimate
    if column.problem is not None:
        yield column.problem
    elif estimate is not None and estimate.reason is not None:
        yield estimate.reason
    elif estimate is not None:
        yield from estimate.notes
