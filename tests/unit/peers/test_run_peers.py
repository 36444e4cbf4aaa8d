"""How measured runs are put to other estimators, and the file of what they answered."""

import csv
from pathlib import Path

import pytest

from gpudesk import paths
from gpudesk.domain.estimate import EstimateRequest, Load, LoadKind, ParallelPlan, Workload
from gpudesk.domain.model import Model
from gpudesk.domain.precision import Precision
from gpudesk.evidence.measured_runs import read_measured_runs
from tests.benchmarks.peers.run_peers import ANSWERS, SPEED, network, plans
from tests.unit.engine import published

WORK = Workload(1000, 500, Load(LoadKind.SATURATE, requests=3000))


def _request(**value: object) -> EstimateRequest:
    fields: dict[str, object] = {"accelerator": "h200-sxm", "model": "any", "weights": Precision.FP8} | value
    return EstimateRequest(workload=WORK, **fields)  # type: ignore[arg-type]


def test_given_degrees_leave_one_plan() -> None:
    """Nothing is left open."""
    request = _request(count=8, tp=4, pp=2, ep=1, dp=1, attention_dp=False)
    assert plans(request, published.llama_3_1_70b()) == [ParallelPlan(tp=4, pp=2)]


def test_an_open_degree_is_tried_as_far_as_it_divides_the_count() -> None:
    """Four accelerators are one replica of four, two of two, or four of one."""
    degrees = plans(_request(count=4), published.llama_3_1_70b())
    assert degrees == [ParallelPlan(tp=1, dp=4), ParallelPlan(tp=2, dp=2), ParallelPlan(tp=4)]


def test_experts_may_be_sharded_spread_or_served_by_data_parallel_attention() -> None:
    """The three ways of a mixture of experts over eight accelerators."""
    degrees = plans(_request(count=8, tp=8), published.deepseek_v3())
    assert degrees == [ParallelPlan(tp=8), ParallelPlan(tp=8, ep=8), ParallelPlan(tp=8, ep=8, attention_dp=True)]


def test_attention_data_parallelism_over_sharded_experts_is_taken_where_it_is_stated() -> None:
    """As SGLang has it."""
    degrees = plans(_request(count=8, tp=8, ep=1, attention_dp=True), published.deepseek_v3())
    assert degrees == [ParallelPlan(tp=8, attention_dp=True)]


def test_uniform_network_is_described_by_sizes() -> None:
    """Llama 3.1 70B, as its configuration has it."""
    sizes = network(published.llama_3_1_70b())
    assert sizes is not None
    assert (sizes["layers"], sizes["heads"], sizes["kv_heads"], sizes["ffn_width"]) == (80, 64, 8, 28672)
    assert sizes["experts"] == 0


@pytest.mark.parametrize("model", [published.deepseek_v3(), published.qwen3_next_80b()])
def test_nonuniform_network_has_no_sizes(model: Model) -> None:
    """Latent and linear attention are beyond the formulas that the sizes are for."""
    assert network(model) is None


def test_every_line_of_the_answers_has_a_value_or_a_reason_and_belongs_to_a_run() -> None:
    """The report takes the file as it is."""
    runs = read_measured_runs(paths.get_data_path("measurements"))
    run_ids = {run.id for run in runs.used} | {row.run for row in runs.unused}
    answered_ids = set()
    for line in _lines(ANSWERS):
        assert line["run"] in run_ids
        assert (line["value"] == "") != (line["reason"] == "")
        assert line["value"] == "" or float(line["value"]) > 0
        answered_ids.add((line["run"], line["peer"], line["setting"], line["figure"]))
    assert len(answered_ids) == len(_lines(ANSWERS))


def test_the_peers_and_this_program_were_timed() -> None:
    """This program also in one call, as it is used for many questions."""
    speeds = {(line["peer"], line["how"]): float(line["runs_per_s"]) for line in _lines(SPEED)}
    one_by_one = {(peer, "one by one") for peer in ("gpudesk", "aiconfigurator", "llm-analysis")}
    assert set(speeds) == one_by_one | {("gpudesk", "in one call")}
    assert min(speeds.values()) > 0


def _lines(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as source:
        return list(csv.DictReader(source))
