"""Loading weights: times by hand, formulas that give them, and what is not known."""

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest

from gpudesk.decision.purchasing.weight_loading import compute_weight_loading
from gpudesk.documents.scenario_file import read_template
from gpudesk.domain.answer import AcceleratorChoice
from gpudesk.domain.deployment_analysis import DerivationTerm, to_placeholder
from gpudesk.domain.estimate import DisaggregationRequest, Estimate
from gpudesk.service import GpuDeskService
from gpudesk.text.messages import InputError, format_message

GB = 1e9


def estimate_weights(
    service: GpuDeskService, part: str, count: int, tp: int | None = None, pp: int | None = None
) -> Estimate:
    """Return Llama 3.1 70B in FP8 on so many of a part."""
    return find_estimate(service, AcceleratorChoice(part, count=count, tp=tp, pp=pp))


def find_estimate(service: GpuDeskService, choice: AcceleratorChoice) -> Estimate:
    template = read_template("70b-chat-on-four")
    return service.estimate(replace(template, accelerators=(choice,)).requests()[0])


def walk(term: DerivationTerm) -> Iterator[DerivationTerm]:
    yield term
    for each in term.inputs:
        yield from walk(each)


def evaluate_term(term: DerivationTerm) -> float:
    values = {to_placeholder(each.name): each.value for each in term.inputs}
    text = re.sub(r"\{(\w+)\}", lambda values_by_name: f"({values[values_by_name.group(1)]!r})", term.formula or "")
    return float(eval(text.replace("×", "*").replace("÷", "/")))


def test_weights_load_over_one_direction_of_pcie(service: GpuDeskService) -> None:
    """The catalog has 126 GB/s in both directions, of which 63 come in."""
    estimate = estimate_weights(service, "h200-sxm", 1)
    loading = compute_weight_loading(estimate, service)
    assert loading.weights_bytes == estimate.memory.weights_bytes
    assert loading.link_bytes_per_s == 63 * GB
    assert loading.one.seconds == pytest.approx(estimate.memory.weights_bytes / 63 / GB)
    assert loading.one.storage_s is None
    assert loading.host.seconds == loading.one.seconds
    assert {note.id for note in loading.notes} == {"loading.one_way", "loading.no_storage", "loading.least"}


def test_a_host_of_eight_loads_over_eight_links_and_one_storage(service: GpuDeskService) -> None:
    estimate = estimate_weights(service, "mi325x", 8, tp=8)
    loading = compute_weight_loading(estimate, service, 10 * GB)
    weights = estimate.memory.weights_bytes
    assert loading.in_host == 8
    assert loading.one.link_s == pytest.approx(weights / 63 / GB)
    assert loading.host.link_s == loading.one.link_s
    assert loading.one.storage_s == pytest.approx(weights / 10 / GB)
    assert loading.host.storage_s == pytest.approx(8 * weights / 10 / GB)
    assert loading.host.seconds == loading.host.storage_s


def test_storage_is_read_once_for_replicas_of_one_host(service: GpuDeskService) -> None:
    four = compute_weight_loading(estimate_weights(service, "mi325x", 4, tp=1, pp=1), service, 10 * GB)
    one = compute_weight_loading(estimate_weights(service, "mi325x", 1), service, 10 * GB)
    assert four.in_host == 4
    assert four.host.storage_s == one.host.storage_s


def test_deployment_over_hosts_is_reported_per_host(service: GpuDeskService) -> None:
    assert compute_weight_loading(estimate_weights(service, "h200-sxm", 16, tp=8, pp=2), service).in_host == 8


def test_fast_storage_leaves_the_link_to_set_the_time(service: GpuDeskService) -> None:
    loading = compute_weight_loading(estimate_weights(service, "h200-sxm", 1), service, 1000 * GB)
    assert loading.one.seconds == loading.one.link_s


@pytest.mark.parametrize("storage", [None, 1 * GB, 500 * GB])
@pytest.mark.parametrize(("part", "count"), [("h200-sxm", 1), ("mi325x", 8), ("l40s", 4)])
def test_every_formula_gives_its_term(service: GpuDeskService, part: str, count: int, storage: float | None) -> None:
    loading = compute_weight_loading(estimate_weights(service, part, count), service, storage)
    checked = 0
    for loaded in (loading.one, loading.host):
        assert loaded.working.value == loaded.seconds
        for term in walk(loaded.working):
            if term.formula and "{" in term.formula:
                assert evaluate_term(term) == pytest.approx(term.number)
                checked += 1
    assert checked >= 6


def test_the_pcie_of_the_working_is_that_of_the_catalog(service: GpuDeskService) -> None:
    loading = compute_weight_loading(estimate_weights(service, "h200-sxm", 1), service)
    (link,) = (term for term in walk(loading.one.working) if term.name == "PCIe, both directions")
    assert link.source == "catalog:h200-sxm/pcie_bandwidth"
    assert service.source_text(link.source) != link.source


def test_pools_load_the_weights_of_the_one_that_keeps_the_requests(service: GpuDeskService) -> None:
    estimate = find_estimate(service, AcceleratorChoice("h200-sxm", 16, disaggregated=DisaggregationRequest()))
    assert estimate.pools is not None
    loading = compute_weight_loading(estimate, service)
    assert loading.one.seconds == pytest.approx(estimate.memory.weights_bytes / 63 / GB)
    assert loading.in_host is not None
    assert loading.in_host <= estimate.pools.decode.count


def test_documents_link_rate_is_listed_next_to_the_computed_one(service: GpuDeskService) -> None:
    """64 to 128 GB/s: the one is one direction before its encoding, the other both."""
    loading = compute_weight_loading(estimate_weights(service, "mi325x", 1), service)
    (quoted,) = loading.quoted
    assert (quoted.claim, quoted.dated) == ("C000-035", "2026-03")
    assert (quoted.low_bytes_per_s, quoted.high_bytes_per_s) == (64 * GB, 128 * GB)
    assert loading.one.seconds is not None
    assert quoted.slowest_s == pytest.approx(loading.one.seconds * 63 / 64)
    assert quoted.fastest_s == pytest.approx(quoted.slowest_s / 2)
    assert compute_weight_loading(estimate_weights(service, "b200-hgx", 1), service).quoted == ()


# What is not known


def test_unknown_link_gives_no_time_with_the_reason(service: GpuDeskService) -> None:
    loading = compute_weight_loading(estimate_weights(service, "gaudi3", 1), service, 10 * GB)
    assert loading.link_bytes_per_s is None
    assert loading.one.seconds is None
    assert loading.one.working.value is None
    assert loading.one.reason is not None
    assert loading.one.reason.id == "loading.no_link"
    assert loading.one.storage_s is not None


def test_how_many_share_a_host_is_not_known_of_racks(service: GpuDeskService) -> None:
    loading = compute_weight_loading(estimate_weights(service, "gb200-nvl72", 8), service)
    assert loading.in_host is None
    assert loading.one.seconds is not None
    assert loading.host.seconds is None
    assert loading.host.reason is not None
    assert format_message(loading.host.reason).endswith("72 share a scale-up domain")
    assert "loading.superchip" in {note.id for note in loading.notes}


def test_a_package_with_its_processor_shares_the_memory(service: GpuDeskService) -> None:
    notes = compute_weight_loading(estimate_weights(service, "mi300a", 4), service).notes
    assert "loading.one_memory" in {note.id for note in notes}
    assert all("{" not in format_message(note) for note in notes)


def test_oversized_model_has_no_load_time(service: GpuDeskService) -> None:
    with pytest.raises(InputError) as refused:
        compute_weight_loading(estimate_weights(service, "l4", 1), service)
    assert refused.value.problem.id == "estimate.weights_do_not_fit"


@pytest.mark.parametrize("rate", [0.0, -1.0, float("nan"), float("inf")])
def test_storage_without_a_rate_is_refused(service: GpuDeskService, rate: float) -> None:
    with pytest.raises(InputError) as refused:
        compute_weight_loading(estimate_weights(service, "h200-sxm", 1), service, rate)
    assert refused.value.where == "storage_bytes_per_s"
