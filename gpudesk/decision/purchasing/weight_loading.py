"""The time to load the weights of a deployment, with its derivation.

The catalog has PCIe rates for both directions; loading uses half. All times are lower bounds: no file is opened,
checked or converted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gpudesk.decision.services import PlanningServices
from gpudesk.domain.accelerator import Accelerator
from gpudesk.domain.deployment_analysis import (
    DerivationTerm,
    QuotedLinkRate,
    WeightLoading,
    WeightLoadTime,
    derive_term,
)
from gpudesk.domain.estimate import NOTHING_TO_EXPLAIN, Estimate
from gpudesk.domain.sizing import NumberBounds
from gpudesk.text.formatting import Quantity
from gpudesk.text.messages import InputError, Message, message
from gpudesk.text.units import convert_to_si_unit

_STORAGE: Final = NumberBounds(0.0, 1e15, above=True)
_LINK: Final = "one direction of the host link"
_WEIGHTS: Final = "weights"
_BY_LINK: Final = "over the host link"
_BY_STORAGE: Final = "from storage"
_ATTRIBUTE: Final = "pcie_bandwidth"


def compute_weight_loading(
    estimate: Estimate, service: PlanningServices, storage_bytes_per_s: float | None = None
) -> WeightLoading:
    """Return the loading time of the weights; `storage_bytes_per_s` is the rate of storage per host.

    Raises `InputError` if the model does not fit, and for an invalid rate of storage.
    """
    if not estimate.fits:
        raise InputError(estimate.reason or NOTHING_TO_EXPLAIN, estimate.request.accelerator)
    _STORAGE.check(storage_bytes_per_s, "storage_bytes_per_s")
    part = service.catalog.accelerator(estimate.request.accelerator)
    weights = _get_stored_weights(estimate, service)
    in_host = _fits_host(estimate, part)
    return WeightLoading(
        accelerator=part.id,
        weights_bytes=estimate.memory.weights_bytes,
        in_host=in_host,
        link_bytes_per_s=None if part.pcie_bandwidth is None else part.pcie_bandwidth / 2,
        storage_bytes_per_s=storage_bytes_per_s,
        one=_make_loading_time(part, weights, weights, storage_bytes_per_s),
        host=_compute_host_time(estimate, part, weights, in_host, storage_bytes_per_s),
        quoted=tuple(_quote_claim(part, weights.number, service)),
        notes=tuple(_make_loading_notes(part, in_host, storage_bytes_per_s)),
    )


def _get_stored_weights(estimate: Estimate, service: PlanningServices) -> DerivationTerm:
    memory = service.explain(estimate, "memory")
    return next(term for term in memory.inputs if term.name == _WEIGHTS)


def _fits_host(estimate: Estimate, part: Accelerator) -> int | None:
    """Return how many accelerators of a deployment share a host; with pools those of the decode pool."""
    count = estimate.count if estimate.pools is None else estimate.pools.decode.count
    return None if part.domain_over_machines is not None else min(count, part.cards_per_host)


def _compute_host_time(
    estimate: Estimate, part: Accelerator, weights: DerivationTerm, in_host: int | None, storage: float | None
) -> WeightLoadTime:
    """Return the time for all accelerators of a host: each has its own link, storage is shared.

    Storage is read once per replica: further replicas on the host copy from its memory.
    """
    if in_host is None:
        reason = message(
            "loading.no_host",
            "The number of {accelerator} per host is unknown; {domain} share a scale-up domain",
            accelerator=part.name,
            domain=part.domain_over_machines or 0,
        )
        term = derive_term("time to load", None, "s", "accelerators per host unknown", weights)
        return WeightLoadTime(None, None, None, term, reason)
    ranks = min(in_host, estimate.plan.replica)
    read_term = derive_term(
        "weights read",
        ranks * weights.number,
        "B",
        "{accelerators_of_a_replica_in_the_host} × {weights}",
        DerivationTerm("accelerators of a replica in the host", ranks, None),
        weights,
    )
    return _make_loading_time(part, weights, read_term, storage)


def _make_loading_time(
    part: Accelerator, weights: DerivationTerm, read_term: DerivationTerm, storage: float | None
) -> WeightLoadTime:
    """Return the time to read `read_term` from storage and transfer `weights` over the link of an accelerator."""
    by_link = _make_link_term(part, weights)
    by_storage = None if storage is None else _make_storage_term(read_term, storage)
    if by_link.value is None:
        term = derive_term("time to load", None, "s", "host link bandwidth unknown", by_link)
        reason = message(
            "loading.no_link", "The host-to-accelerator bandwidth of {accelerator} is unknown", accelerator=part.name
        )
        return WeightLoadTime(None, None, None if by_storage is None else by_storage.number, term, reason)
    if by_storage is None:
        term = derive_term("time to load", by_link.number, "s", "{over_the_host_link}", by_link)
        return WeightLoadTime(by_link.number, by_link.number, None, term)
    slower = max(by_link.number, by_storage.number)
    formula = "max({over_the_host_link}, {from_storage})"
    term = derive_term("time to load", slower, "s", formula, by_link, by_storage)
    return WeightLoadTime(slower, by_link.number, by_storage.number, term)


def _make_link_term(part: Accelerator, weights: DerivationTerm) -> DerivationTerm:
    if part.pcie_bandwidth is None:
        return derive_term(_BY_LINK, None, "s", "PCIe bandwidth unknown", weights)
    link = derive_term(
        _LINK,
        part.pcie_bandwidth / 2,
        "B/s",
        "{PCIe_both_directions} ÷ 2",
        DerivationTerm("PCIe, both directions", part.pcie_bandwidth, "B/s", source=f"catalog:{part.id}/{_ATTRIBUTE}"),
    )
    formula = "{weights} ÷ {one_direction_of_the_host_link}"
    return derive_term(_BY_LINK, weights.number / link.number, "s", formula, weights, link)


def _make_storage_term(read_term: DerivationTerm, storage: float) -> DerivationTerm:
    rate = DerivationTerm("storage bandwidth", storage, "B/s", source="scenario")
    formula = f"{{{read_term.name.replace(' ', '_')}}} ÷ {{storage_bandwidth}}"
    return derive_term(_BY_STORAGE, read_term.number / storage, "s", formula, read_term, rate)


def _quote_claim(part: Accelerator, weights_bytes: float, service: PlanningServices) -> Iterator[QuotedLinkRate]:
    for claim in service.catalog.seed_claims(part.id):
        if claim.concerns(part.id, _ATTRIBUTE) and claim.unit is not None:
            low = convert_to_si_unit(float(claim.value), claim.unit)
            high = low if claim.value_high is None else convert_to_si_unit(float(claim.value_high), claim.unit)
            yield QuotedLinkRate(claim.id, claim.source.date, low, high, weights_bytes / low, weights_bytes / high)


def _make_loading_notes(part: Accelerator, in_host: int | None, storage: float | None) -> Iterator[Message]:
    form = (part.form_factor or "").lower()
    if "apu" in form:
        yield message(
            "loading.one_memory",
            "{accelerator} shares memory with its processor, so only data from outside the package uses PCIe",
            accelerator=part.name,
        )
    elif "superchip" in form:
        yield message(
            "loading.superchip",
            "{accelerator} has a faster link to its processor than PCIe, so loading from host memory is faster",
            accelerator=part.name,
        )
    if part.pcie_bandwidth is not None:
        yield message(
            "loading.one_way",
            "The catalog lists PCIe bandwidth for both directions; weights load at half of it, {bandwidth}",
            bandwidth=(part.pcie_bandwidth / 2, Quantity.LINK_BANDWIDTH),
        )
        if in_host is not None and in_host > 1:
            total = part.pcie_bandwidth / 2 * in_host
            yield message(
                "loading.own_links",
                "Each of the {count} accelerators has its own link, if host memory sustains {bandwidth}",
                count=in_host,
                bandwidth=(total, Quantity.LINK_BANDWIDTH),
            )
    if storage is None:
        yield message("loading.no_storage", "Storage speed is not set, so the time assumes weights in host memory")
    yield message("loading.least", "These are lower bounds: opening, checking and rearranging files take extra time")
