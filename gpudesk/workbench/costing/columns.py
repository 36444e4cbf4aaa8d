"""The costs of one accelerator of a comparison."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from gpudesk.domain.answers import Column, Curve
from gpudesk.domain.costs import (
    CostColumn,
    CostLine,
    CostPoint,
    Efficiency,
    ResolvedInput,
    Software,
    Tco,
    TokenCosts,
)
from gpudesk.domain.estimates import Banded, Estimate
from gpudesk.domain.price_ranges import PriceRange
from gpudesk.domain.units import GIB, MONTHS_PER_YEAR
from gpudesk.economics.owning import (
    Amount,
    Ownership,
    energy_kwh,
    ownership_lines,
    paid_at_once_usd,
    paid_per_month_usd,
)
from gpudesk.economics.tokens import joules_per_token
from gpudesk.workbench.costing.formulas import (
    NEEDED_TO_OWN,
    NEEDED_TO_RENT,
    THROUGHPUT,
    Deployment,
    owned_per_million,
    ownership,
    rented_per_million,
    software_of,
)

_MILLION = 1e6
_GRAMS = 1000.0
_MS = 1000.0
#: Ten machines of 1.1 kW fill a rack of 11 kW, though quotients of floats may lie just below.
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Situation:
    """One accelerator with its estimate and all of its inputs, likely values in `values`.

    `key` is that of its column. `deployment` is None without an estimate that fits and has a throughput.
    """

    key: str
    accelerator: str
    estimate: Estimate | None
    inputs: Mapping[str, ResolvedInput]
    deployment: Deployment | None
    tokens_per_s: Banded | None
    values: Mapping[str, float]

    @property
    def missing(self) -> tuple[str, ...]:
        """Inputs without which a cost of owning or of renting cannot be told."""
        needed = dict.fromkeys((*NEEDED_TO_OWN, *NEEDED_TO_RENT))
        return tuple(name for name in needed if name not in self.values)

    def knows(self, names: tuple[str, ...]) -> bool:
        """Whether there is a value of each of these."""
        return self.deployment is not None and all(name in self.values for name in names)


def situation(key: str, column: Column, inputs: Mapping[str, ResolvedInput]) -> Situation:
    """Return what the costs of a column are worked out from."""
    estimate = column.estimate
    values = {name: each.spread.likely for name, each in inputs.items() if each.spread is not None}
    rate = None if estimate is None or not estimate.fits else estimate.output_tokens_per_s
    deployment = None
    if estimate is not None and rate is not None:
        work = estimate.request.workload
        deployment = Deployment(estimate.count, work.input_tokens, work.output_tokens)
        values[THROUGHPUT] = rate.value
    return Situation(key, column.choice.accelerator, estimate, inputs, deployment, rate, values)


def cost_column(found: Situation, column: Column, prices: Mapping[str, PriceRange], term: str) -> CostColumn:
    """Return the costs of one accelerator."""
    deployment = found.deployment
    count = None if found.estimate is None or not found.estimate.fits else found.estimate.count
    rent = found.inputs["rent_usd_per_hour"].spread
    own = found.knows(NEEDED_TO_OWN)
    hire = found.knows(NEEDED_TO_RENT)
    owned = ownership(found.values, count) if own and count is not None else None
    return CostColumn(
        key=found.key,
        accelerator=found.accelerator,
        count=count,
        inputs=found.inputs,
        missing=found.missing,
        tokens_per_s=found.tokens_per_s,
        tco=None if owned is None else _tco(owned),
        owned=_token_costs(found, owned_per_million) if own and deployment else None,
        rented=_token_costs(found, rented_per_million) if hire and deployment else None,
        rent=prices.get(term),
        rent_usd_per_hour=None if rent is None else rent.likely,
        software=None if count is None else _software(found.values, count),
        efficiency=None if count is None else _efficiency(found, column, owned),
        curve=_curve(found, column.curve, own=own, hire=hire),
    )


def _tco(owned: Ownership) -> Tco:
    lines = tuple(CostLine(name, float(usd)) for name, usd in ownership_lines(owned).items())
    return Tco(
        years=float(owned.years),
        total_usd=math.fsum(line.usd for line in lines),
        lines=lines,
        at_once_usd=float(paid_at_once_usd(owned)),
        per_month_usd=float(paid_per_month_usd(owned)),
    )


def _software(values: Mapping[str, float], count: int) -> Software:
    lines = software_of(values, count)
    months = values["years"] * MONTHS_PER_YEAR
    return Software(_amount(lines["porting"]), _amount(lines["upkeep"]) / months)


_PerMillion = Callable[[Mapping[str, float], Deployment], object]


def _token_costs(found: Situation, per_million: _PerMillion) -> TokenCosts:
    """Return what tokens cost over the band of the throughput: the slowest is the dearest."""
    rate, deployment = found.tokens_per_s, found.deployment
    assert rate is not None
    assert deployment is not None
    at = [_amount(per_million({**found.values, THROUGHPUT: each}, deployment)) for each in rate]
    output = Banded(at[0], at[2], at[1])
    given, made = deployment.input_tokens, deployment.output_tokens
    request = _scaled(output, made / _MILLION)
    return TokenCosts(
        output=output,
        input=_scaled(output, made / given),
        blended=_scaled(output, made / (given + made)),
        request=request,
        user_month=_scaled(request, found.values["requests_per_user_month"]),
    )


def _amount(value: object) -> float:
    return float(value)  # type: ignore[arg-type]


def _scaled(banded: Banded, factor: float) -> Banded:
    return Banded(*(each * factor for each in banded))


def _efficiency(found: Situation, column: Column, owned: Ownership | None) -> Efficiency:
    values, rate, estimate = found.values, found.tokens_per_s, found.estimate
    assert estimate is not None
    count = estimate.count
    watts = values.get("accelerator_w")
    kilowatts = None if watts is None else (watts + values["host_w"]) / _MS
    in_rack = None if not kilowatts else math.floor(values["rack_kw"] / kilowatts + _ROUNDING)
    meter = None if kilowatts is None else kilowatts * count * values["draw"] * values["pue"]
    memory = column.accelerator.memory_bytes
    price = values.get("price_usd")
    net = None if price is None else price * (1.0 - values["discount"])
    energy = None if owned is None else float(energy_kwh(owned))
    for_kv = estimate.memory.kv_bytes + estimate.memory.free_bytes
    return Efficiency(
        tokens_per_s_per_kw=None if not (rate and kilowatts) else _scaled(rate, 1 / (kilowatts * count)),
        tokens_per_s_per_rack=None if not (rate and in_rack) else _scaled(rate, in_rack / count),
        accelerators_per_rack=in_rack,
        joules_per_token=_joules(meter, rate),
        usd_per_gib=None if net is None else net / (memory / GIB),
        usd_per_gib_for_kv=None if net is None or for_kv <= 0 else net / (for_kv / GIB),
        energy_kwh=energy,
        carbon_kg=_carbon(energy, values, count),
    )


def _joules(kilowatts: float | None, rate: Banded | None) -> Banded | None:
    if kilowatts is None or rate is None:
        return None
    at = [float(joules_per_token(kilowatts, each)) for each in rate]
    return Banded(at[0], at[2], at[1])


def _carbon(energy: float | None, values: Mapping[str, float], count: int) -> float | None:
    """Return the carbon of the energy, with that of making where it is stated; None without the grid's."""
    grid = values.get("grid_g_per_kwh")
    if energy is None or grid is None:
        return None
    return energy * grid / _GRAMS + count * values.get("embodied_kg", 0.0)


def _curve(found: Situation, curve: Curve | None, *, own: bool, hire: bool) -> tuple[CostPoint, ...]:
    """Return costs against what each user gets, from few in flight to many."""
    deployment = found.deployment
    if curve is None or deployment is None:
        return ()
    rates, paces = np.array(curve.output_tokens_per_s.value), np.array(curve.tpot_ms.value)
    known = (rates > 0.0) & (paces > 0.0)
    values: dict[str, Amount] = {**found.values, THROUGHPUT: rates[known]}
    nothing = [None] * int(known.sum())
    return tuple(
        CostPoint(*point)
        for point in zip(
            np.array(curve.concurrency)[known].tolist(),
            (_MS / paces[known]).tolist(),
            np.asarray(owned_per_million(values, deployment)).tolist() if own else nothing,
            np.asarray(rented_per_million(values, deployment)).tolist() if hire else nothing,
            strict=True,
        )
    )
