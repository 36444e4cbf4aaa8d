"""The facts of one accelerator of a comparison, under the names used in rule conditions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

from gpudesk.costing.systems import SiteNeeds
from gpudesk.decision.facts.deployments import carries_load
from gpudesk.domain.accelerator import EVERYWHERE, Accelerator
from gpudesk.domain.answer import ComparisonColumn
from gpudesk.domain.claim import is_older
from gpudesk.domain.cost import CostColumn, UncertainValue
from gpudesk.domain.dates import count_months_until
from gpudesk.domain.decision import FactValue
from gpudesk.domain.estimate import Estimate
from gpudesk.domain.serving_engine import list_platforms
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.formatting import IntervalEstimate
from gpudesk.text.messages import InputError
from gpudesk.text.units import GB, GIB, MONTHS_PER_YEAR

_TERA: Final = 1e12
_PETA: Final = 1e15
_MS: Final = 1000.0
_WEEKS_PER_MONTH: Final = 365.25 / 12.0 / 7.0
#: Bytes per token between accelerator and host: its id and its probability.
_TOKEN_BYTES: Final = 8.0
_FORMS: Final = (("OAM", "oam"), ("SXM", "sxm"), ("PCIe", "pcie"))
_FOUR_BITS: Final = ("fp4", "nvfp4", "mxfp4")


@frozen_dataclass
class AcceleratorView:
    """The data of a column: its estimate, one request on one accelerator and on the fewest, its costs.

    `engines` are the ids of the serving engines that run on it, `serving` counts those that serve the model in its
    formats. `model_count` counts the catalog models that one of them holds, `rows` published rows behind the constants
    of its estimate, `references` named deployments; `export` are the facts of the export check. `site` is what its
    systems need of a site, `usual_weeks` the delivery of similar ones; None without a record.
    """

    key: str
    column: ComparisonColumn
    alone: Estimate | InputError
    fewest: Estimate | InputError
    costs: CostColumn
    engines: tuple[str, ...]
    serving: int
    model_count: int
    rows: int
    references: int
    export: Mapping[str, FactValue]
    site: SiteNeeds
    usual_weeks: IntervalEstimate | None

    @property
    def estimate(self) -> Estimate | None:
        """The estimate of the column; None without one that fits."""
        held_estimate = self.column.estimate
        return held_estimate if held_estimate is not None and held_estimate.fits else None


def list_accelerator_facts(view: AcceleratorView) -> dict[str, FactValue]:
    """Return the facts of one column that do not depend on other columns."""
    return {
        **_list_specification_facts(view.column.accelerator, view),
        **_list_memory_facts(view),
        **_list_speed_facts(view),
        **_list_cost_facts(view),
        **_list_site_facts(view.site, view.usual_weeks),
    }


def _list_specification_facts(part: Accelerator, view: AcceleratorView) -> dict[str, FactValue]:
    names = sorted(list_platforms(part))
    four = [part.peak_dense[name] for name in _FOUR_BITS if name in part.peak_dense]
    wide = [part.peak_dense[name] for name in ("bf16", "fp16") if name in part.peak_dense]
    release = view.column.attributes.get("release_date")
    return {
        "platform": names[0] if len(names) == 1 else ", ".join(names),
        "vendor": part.vendor,
        "generation": part.generation,
        "announced": part.announced,
        "discontinued": part.discontinued,
        "sold": not part.is_rented_only,
        "license_limit": part.is_barred_from_data_centers,
        "sales_region": part.sales_region or EVERYWHERE,
        "available": str(release.value) if release is not None and release.value is not None else None,
        "form": _get_form(part.form_factor),
        "form_factor": part.form_factor,
        "memory_gib": part.memory_bytes / GIB,
        "memory_gb": part.memory_bytes / GB,
        "bandwidth_tbs": part.memory_bandwidth / _TERA,
        "link_gbs": None if part.scale_up_bandwidth is None else part.scale_up_bandwidth / GB,
        "host_link_gbs": None if part.pcie_bandwidth is None else part.pcie_bandwidth / GB,
        "peak_pflops": max(wide) / _PETA if wide else None,
        "fp4_pflops": max(four) / _PETA if four else 0.0 if part.peak_dense else None,
        "native_fp4": bool(four) if part.peak_dense else None,
        "engine_count": float(len(view.engines)),
        "engines": ", ".join(view.engines) or None,
        "model_engine_count": float(view.serving),
        "runs_on_record": float(view.rows),
        "references": float(view.references),
        "models_held": float(view.model_count),
        **view.export,
    }


def _get_form(form_factor: str | None) -> str | None:
    if form_factor is None:
        return None
    return next((form for start, form in _FORMS if form_factor.startswith(start)), "other")


def _list_memory_facts(view: AcceleratorView) -> dict[str, FactValue]:
    facts: dict[str, FactValue] = {"fits": view.estimate is not None, "holds_load": carries_load(view.estimate)}
    if isinstance(view.alone, Estimate):
        use = view.alone.memory
        needs = use.capacity_bytes - use.free_bytes
        facts |= {
            "fits_alone": view.alone.fits,
            "needs_alone_gb": needs / GB,
            "alone_weights_gb": use.weights_bytes / GB,
            "kv_one_gb": use.kv_bytes / GB,
        }
    fewest = view.fewest if isinstance(view.fewest, Estimate) and view.fewest.fits else None
    facts["count"] = None if fewest is None else float(fewest.count)
    estimate = view.estimate
    if estimate is None:
        return facts
    hosts = math.ceil(estimate.count / view.column.accelerator.cards_per_host)
    kv_one = facts.get("kv_one_gb")
    room = estimate.max_concurrency * kv_one if isinstance(kv_one, float) else None
    return facts | {
        "deployed": float(estimate.count),
        "hosts": float(hosts),
        "headroom_gb": estimate.memory.free_bytes / GB,
        "max_concurrency": float(estimate.max_concurrency),
        "in_flight": None if estimate.concurrency is None else float(estimate.concurrency),
        "kv_room_gb": room,
        "kv_needed_gb": None
        if not isinstance(kv_one, float) or estimate.concurrency is None
        else kv_one * estimate.concurrency,
    }


def _list_speed_facts(view: AcceleratorView) -> dict[str, FactValue]:
    estimate = view.estimate
    if estimate is None:
        return {}
    rate, tpot = estimate.output_tokens_per_s, estimate.tpot_ms
    return {
        "tokens_per_s": rate,
        "tokens_per_s_each": estimate.output_tokens_per_s_per_accelerator,
        "ttft_ms": estimate.ttft_ms,
        "tpot_ms": tpot,
        "likely_tpot_ms": 0.0 if tpot is None else tpot.value,
        "request_s": estimate.request_s,
        "requests_each": estimate.max_concurrency / estimate.count,
        "basis": estimate.basis.value,
        "interactivity": None if tpot is None else IntervalEstimate(_MS / tpot.value, _MS / tpot.high, _MS / tpot.low),
        "limiter": None if estimate.limiter is None else estimate.limiter.value,
        "decode_share": _compute_decode_share(view),
        "host_traffic_gbs": None if rate is None else rate.value / estimate.count * _TOKEN_BYTES / GB,
    }


def _compute_decode_share(view: AcceleratorView) -> float | None:
    """Return the share of decode in the processing time of a request, without waiting.

    Its times are those of a single request.
    """
    one = view.fewest
    if not isinstance(one, Estimate) or one.tpot_ms is None or one.ttft_ms is None:
        return None
    decode = one.tpot_ms.value * (one.request.workload.output_tokens - 1)
    return decode / (decode + one.ttft_ms.value)


def _list_cost_facts(view: AcceleratorView) -> dict[str, FactValue]:
    costs = view.costs
    efficiency = costs.efficiency
    watts = None if efficiency is None else efficiency.joules_per_token
    software = costs.software
    years = get_likely_input(costs, "years")
    return {
        "price_usd": get_likely_input(costs, "price_usd"),
        "spend_usd": None if costs.tco is None else costs.tco.at_once_usd,
        "rent_usd_h": costs.rent_usd_per_hour,
        "old_price": _find_old_price_date(costs, "price_usd"),
        "old_rent": _find_old_price_date(costs, "rent_usd_per_hour"),
        "used_price": costs.inputs["price_usd"].is_used,
        "rent_providers": float(len(costs.rent.providers)) if costs.rent is not None else 0.0,
        "owned_usd_per_million": None if costs.owned is None else costs.owned.output,
        "rented_usd_per_million": None if costs.rented is None else costs.rented.output,
        "software_usd": None
        if software is None or years is None
        else software.at_once_usd + software.per_month_usd * years * MONTHS_PER_YEAR,
        "tokens_per_s_kw": None if efficiency is None else efficiency.tokens_per_s_per_kw,
        "watts_per_token_s": watts,
    }


def _find_old_price_date(costs: CostColumn, name: str) -> str | None:
    """Return the date of the newest price if all are old; None otherwise."""
    price = costs.inputs[name]
    return price.prices.newest if price.is_old and price.prices is not None else None


def _list_site_facts(site: SiteNeeds, usual: IntervalEstimate | None) -> dict[str, FactValue]:
    kw, assumed = site.kw, None
    months: FactValue = None if site.delivery_weeks is None else site.delivery_weeks / _WEEKS_PER_MONTH
    if months is None and usual is not None:
        months = assumed = IntervalEstimate(*(each / _WEEKS_PER_MONTH for each in usual))
    return {
        "air_cooled": site.air_cooled,
        "system_kw": kw.value if kw is not None and kw.low == kw.high else kw,
        "delivery_months": months,
        "assumed_delivery_months": assumed,
    }


#: Months to port software to another platform: from a month of three engineers' work to two months of three (seed-000).
_PORT_MONTHS: Final = IntervalEstimate(4.5, 3.0, 6.0)


#: Accelerators are sold new for about five years: A100 from 2020 until 2024 or 2025, V100 from 2017 until 2022.
_RELEASE_YEARS: Final = 6


def arrives_late(part: Mapping[str, FactValue], launch: FactValue) -> bool:
    """Whether a bought column is delivered after the launch: by its record, else usually for similar systems."""
    months = get_number(part, "delivery_months")
    return isinstance(launch, float) and months is not None and months > launch


def must_buy(part: Mapping[str, FactValue], acquisition: FactValue) -> bool:
    """Whether a column is in production only once bought: as answered, or since no one rents it out."""
    return acquisition == "own" or (acquisition != "rent" and part.get("rent_usd_h") is None)


def list_timing_facts(
    part: Mapping[str, FactValue], today: str, launch: FactValue, acquisition: FactValue
) -> dict[str, FactValue]:
    """Return the months until a column can be in production: release, then delivery, then a port if needed.

    `today` is an ISO date. What can be rented is there at once, unless it must be bought; what is bought is delivered:
    as usual for similar systems without a record. A planned quarter or half of a year is an interval. Unknown for an
    announced accelerator without a release date or past it, and for a rent that no one offers. With the release date
    of one so old that it may no longer be sold new.
    """
    is_bought = must_buy(part, acquisition)
    release_date = str(part.get("available"))
    aging: dict[str, FactValue] = {
        "arrives_late": arrives_late(part, launch),
        "old_release": release_date if is_older(release_date, today, _RELEASE_YEARS) else None,
    }
    port = _PORT_MONTHS if part.get("needs_port") is True else IntervalEstimate(0.0, 0.0, 0.0)
    wait = UncertainValue.exactly(0.0)
    if part.get("announced") is True:
        planned = count_months_until(release_date, today)
        if planned is None or planned.high <= 0.0:
            return aging | {"months_to_production": None}
        wait = planned
    if acquisition == "rent" and part.get("rent_usd_h") is None:
        return aging | {"months_to_production": None}
    months = part.get("delivery_months")
    if not is_bought or months is None:
        delivery = IntervalEstimate(0.0, 0.0, 0.0)
    else:
        delivery = months if isinstance(months, IntervalEstimate) else IntervalEstimate(*[float(months)] * 3)
    ends = zip((wait.likely, wait.low, wait.high), delivery, port, strict=True)
    return aging | {"months_to_production": IntervalEstimate(*map(sum, ends))}


def get_likely_input(costs: CostColumn, name: str) -> float | None:
    """Return the likely value of a cost input; None if it is missing."""
    cost_input = costs.inputs.get(name)
    return None if cost_input is None or cost_input.spread is None else cost_input.spread.likely


def get_number(facts: Mapping[str, FactValue], name: str) -> float | None:
    """Return a fact as a plain number, the value of an interval; None for other facts."""
    fact = facts.get(name)
    if isinstance(fact, IntervalEstimate):
        return fact.value
    return float(fact) if isinstance(fact, (int, float)) and not isinstance(fact, bool) else None


def get_interval(facts: Mapping[str, FactValue], name: str) -> IntervalEstimate | None:
    """Return a fact with its interval; None for facts without one."""
    fact = facts.get(name)
    return fact if isinstance(fact, IntervalEstimate) else None
