"""Plans that were really measured: none is refused, and their memory is what their engine leaves."""

from dataclasses import replace

import pytest

from gpudesk import paths
from gpudesk.domain.estimate import EstimateRequest
from gpudesk.estimation.search_space import SearchSpaceTable
from gpudesk.evidence.measured_runs import read_measured_runs
from gpudesk.service import GpuDeskService
from gpudesk.text.messages import InputError, format_message


def test_every_measured_plan_is_one_that_its_engine_loads(service: GpuDeskService) -> None:
    table = SearchSpaceTable(service.catalog, service.calibration)
    refused = set()
    for run in read_measured_runs(paths.get_data_path("measurements")).used:
        try:
            space = table.find_space(run.request)
            assert any(space.list_memory_plans(count) for count in space.counts)
        except InputError as error:
            refused.add((run.id, format_message(error.problem)))
    assert refused == set()


def test_attention_ranks_of_sglang_leave_less_memory_by_default(service: GpuDeskService) -> None:
    table = SearchSpaceTable(service.catalog, service.calibration)
    runs = read_measured_runs(paths.get_data_path("measurements")).used
    request = next(run.request for run in runs if run.id == "GPT0295")
    assert request.attention_dp
    assert request.memory_fraction is None

    def read_fraction(request: EstimateRequest) -> float | None:
        (memory,) = table.find_space(request).list_memory_plans(8)
        return memory.settings.usual_fraction

    usual = read_fraction(replace(request, attention_dp=False))
    assert usual is not None
    capacity = service.catalog.accelerator(request.accelerator).memory_bytes
    assert read_fraction(request) == pytest.approx(usual - 8 * 512 * 4.5 * 2**20 / capacity)
    assert read_fraction(replace(request, memory_fraction=0.85)) is None
