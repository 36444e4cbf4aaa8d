"""No plan that was really measured is refused by the rules for serving engines."""

from gpudesk import paths
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
