"""The time to load the weights of a deployment, with its working.

The catalog gives PCIe as the sum of both directions, so that half of it is what weights come in with: 126
GB/s are 63 GB/s. All times are the least there can be: no file is opened, checked or rearranged in them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from gpudesk.domain.accelerators import Accelerator
from gpudesk.domain.answers import Term
from gpudesk.domain.demand import Bounds
from gpudesk.domain.estimates import Estimate
from gpudesk.domain.messages import InputError, Message, message
from gpudesk.domain.units import to_si
from gpudesk.domain.weight_loading import LoadTime, QuotedLink, WeightLoading

if TYPE_CHECKING:
    from gpudesk.workbench.workbench import Workbench

_STORAGE: Final = Bounds(0.0, 1e15, above=True)
_LINK: Final = "one direction of the host link"
_WEIGHTS: Final = "weights"
_BY_LINK: Final = "over the host link"
_BY_STORAGE: Final = "from storage"
_ATTRIBUTE: Final = "pcie_bandwidth"


def weight_loading(
    estimate: Estimate, workbench: Workbench, storage_bytes_per_s: float | None = None
) -> WeightLoading:
    """Return how long loading the weights takes; `storage_bytes_per_s` is what storage gives to a host.

    Raises `InputError` where the model does not fit, and for a rate of storage that cannot be.
    """
    if not estimate.fits:
        raise InputError(estimate.reason or message("explain.does_not_fit"), estimate.request.accelerator)
    if storage_bytes_per_s is not None and not _STORAGE.hold(storage_bytes_per_s):
        low, high = _STORAGE.low, _STORAGE.high
        problem = message("field.range_above", given=storage_bytes_per_s, low=low, high=high)
        raise InputError(problem, "storage_bytes_per_s")
    part = workbench.catalog.accelerator(estimate.request.accelerator)
    weights = _weights(estimate, workbench)
    in_host = _in_host(estimate, part)
    return WeightLoading(
        accelerator=part.id,
        weights_bytes=estimate.memory.weights_bytes,
        in_host=in_host,
        link_bytes_per_s=None if part.pcie_bandwidth is None else part.pcie_bandwidth / 2,
        storage_bytes_per_s=storage_bytes_per_s,
        one=_time(part, weights, weights, storage_bytes_per_s),
        host=_host_time(estimate, part, weights, in_host, storage_bytes_per_s),
        quoted=tuple(_quoted(part, weights.number, workbench)),
        notes=tuple(_notes(part, in_host, storage_bytes_per_s)),
    )


def _weights(estimate: Estimate, workbench: Workbench) -> Term:
    """Return the weights of the fullest accelerator as the working of its memory has them."""
    memory = workbench.explain(estimate, "memory")
    return next(term for term in memory.inputs if term.name == _WEIGHTS)


def _in_host(estimate: Estimate, part: Accelerator) -> int | None:
    """Return how many of a deployment are in one host; of one with pools those that keep the requests."""
    count = estimate.count if estimate.pools is None else estimate.pools.decode.count
    return None if part.domain_over_machines is not None else min(count, part.cards_per_host)


def _host_time(
    estimate: Estimate, part: Accelerator, weights: Term, in_host: int | None, storage: float | None
) -> LoadTime:
    """Return the time for all accelerators of a host: each has a link of its own, storage is shared.

    Storage is read once for a replica: further replicas of the host take what its memory then holds.
    """
    if in_host is None:
        reason = message("loading.no_host", accelerator=part.name, domain=part.domain_over_machines or 0)
        term = Term("time to load", None, "s", "how many share a host is not known", inputs=(weights,))
        return LoadTime(None, None, None, term, reason)
    ranks = min(in_host, estimate.plan.replica)
    read = Term(
        "weights read",
        ranks * weights.number,
        "B",
        "{accelerators_of_a_replica_in_the_host} × {weights}",
        inputs=(Term("accelerators of a replica in the host", ranks, None), weights),
    )
    return _time(part, weights, read, storage)


def _time(part: Accelerator, weights: Term, read: Term, storage: float | None) -> LoadTime:
    """Return the time in which `read` comes from storage and `weights` pass the link of an accelerator."""
    by_link = _link_term(part, weights)
    by_storage = None if storage is None else _storage_term(read, storage)
    if by_link.value is None:
        term = Term("time to load", None, "s", "the rate of the host link is not known", inputs=(by_link,))
        reason = message("loading.no_link", accelerator=part.name)
        return LoadTime(None, None, None if by_storage is None else by_storage.number, term, reason)
    if by_storage is None:
        term = Term("time to load", by_link.number, "s", "{over_the_host_link}", inputs=(by_link,))
        return LoadTime(by_link.number, by_link.number, None, term)
    slower = max(by_link.number, by_storage.number)
    formula = "max({over_the_host_link}, {from_storage})"
    term = Term("time to load", slower, "s", formula, inputs=(by_link, by_storage))
    return LoadTime(slower, by_link.number, by_storage.number, term)


def _link_term(part: Accelerator, weights: Term) -> Term:
    if part.pcie_bandwidth is None:
        return Term(_BY_LINK, None, "s", "no rate of PCIe is stated", inputs=(weights,))
    link = Term(
        _LINK,
        part.pcie_bandwidth / 2,
        "B/s",
        "{PCIe_both_directions} ÷ 2",
        inputs=(
            Term(
                "PCIe, both directions", part.pcie_bandwidth, "B/s", source=f"catalog:{part.id}/{_ATTRIBUTE}"
            ),
        ),
    )
    formula = "{weights} ÷ {one_direction_of_the_host_link}"
    return Term(_BY_LINK, weights.number / link.number, "s", formula, inputs=(weights, link))


def _storage_term(read: Term, storage: float) -> Term:
    rate = Term("rate of storage", storage, "B/s", source="scenario")
    formula = f"{{{read.name.replace(' ', '_')}}} ÷ {{rate_of_storage}}"
    return Term(_BY_STORAGE, read.number / storage, "s", formula, inputs=(read, rate))


def _quoted(part: Accelerator, weights_bytes: float, workbench: Workbench) -> Iterator[QuotedLink]:
    """Yield what source documents state of the part's host link."""
    for claim in workbench.catalog.seed_claims(part.id):
        if claim.concerns(part.id, _ATTRIBUTE) and claim.unit is not None:
            low = to_si(float(claim.value), claim.unit)
            high = low if claim.value_high is None else to_si(float(claim.value_high), claim.unit)
            yield QuotedLink(
                claim.id, claim.source.date, low, high, weights_bytes / low, weights_bytes / high
            )


def _notes(part: Accelerator, in_host: int | None, storage: float | None) -> Iterator[Message]:
    """Yield what the times rest on, and what they leave out."""
    form = (part.form_factor or "").lower()
    if "apu" in form:
        yield message("loading.one_memory", accelerator=part.name)
    elif "superchip" in form:
        yield message("loading.superchip", accelerator=part.name)
    if part.pcie_bandwidth is not None:
        yield message("loading.one_way", bandwidth=(part.pcie_bandwidth / 2, "B/s"))
        if in_host is not None and in_host > 1:
            total = part.pcie_bandwidth / 2 * in_host
            yield message("loading.own_links", count=in_host, bandwidth=(total, "B/s"))
    if storage is None:
        yield message("loading.no_storage")
    yield message("loading.least")
