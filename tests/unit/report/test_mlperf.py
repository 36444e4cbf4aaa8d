"""MLPerf head to head: numbers as submitted, one round, the winner by MLPerf scenario, stated ratios."""

import csv
from pathlib import Path

import pytest

from gpudesk import paths
from gpudesk.domain.mlperf import MlperfHeadToHead, MlperfOutcome, MlperfScenario
from gpudesk.estimation.mlperf_comparison import MlperfComparison, read_mlperf
from gpudesk.report.mlperf import cite_mlperf_result, describe_mlperf_verdict, describe_stated_ratio
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import Formatter
from gpudesk.text.messages import InputError

OFFLINE, SERVER, INTERACTIVE = MlperfScenario
NAMES = {"mi355x": "MI355X", "b200-hgx": "B200", "gb200-nvl72": "GB200"}


@pytest.fixture(scope="module")
def mlperf(service: GpuDeskService) -> MlperfComparison:
    return service.mlperf


def find_head_to_head(mlperf: MlperfComparison, round_name: str, model: str, baseline: str) -> MlperfHeadToHead:
    head = mlperf.head_to_head(round_name, model, baseline)
    assert head is not None
    return head


def best(head: MlperfHeadToHead, part: str, scenario: MlperfScenario) -> float:
    row = head.row(part)
    assert row is not None
    return row.cells[scenario].best.per_accelerator


def test_results_are_those_of_the_files(mlperf: MlperfComparison) -> None:
    """Each row of the closed division that ranks a language model is there once, with its submitter."""
    rows: dict[str, dict[str, str]] = {}
    for path in paths.get_data_path("measurements").glob("runs-mlperf-*.csv"):
        with path.open(encoding="utf-8", newline="") as file:
            rows |= {row["id"]: row for row in csv.DictReader(file)}
    assert len(mlperf.results) > 550
    for each in mlperf.results:
        row = rows[each.id]
        assert float(row["value"]) == each.output_tokens_per_s
        assert int(row["count"]) == each.count
        assert each.submitter in row["note"]
        assert each.system in row["note"]
        assert each.preview is ("Preview" in row["note"])
        assert each.round.removeprefix("v").replace(".", "-") in row["source"]


def test_all_rounds_have_results(mlperf: MlperfComparison) -> None:
    assert mlperf.rounds == ("v6.1", "v6.0", "v5.1", "v4.1")
    assert mlperf.models("v6.0")[0] == "llama-2-70b"


def test_the_winner_changes_with_the_scenario(mlperf: MlperfComparison) -> None:
    head = find_head_to_head(mlperf, "v6.0", "llama-2-70b", "b200-hgx")
    assert best(head, "mi355x", OFFLINE) == pytest.approx(103_480 / 8, rel=1e-4)
    assert best(head, "b200-hgx", OFFLINE) == pytest.approx(13_072, rel=1e-4)
    assert head.outcomes("mi355x") == {
        OFFLINE: MlperfOutcome.TIE,
        SERVER: MlperfOutcome.BEHIND,
        INTERACTIVE: MlperfOutcome.AHEAD,
    }
    verdict = describe_mlperf_verdict(head, "mi355x", NAMES, Formatter())
    assert (
        "offline: too close to call (B200 by 1.1%); server: B200 leads MI355X by 3.3%; "
        "interactive: MI355X leads B200 by 19.4%." in verdict
    )
    assert "The leader depends on the MLPerf scenario." in verdict
    assert "Leads below 2.4% are noise" in verdict


def test_results_are_set_against_those_of_their_round_alone(mlperf: MlperfComparison) -> None:
    for round_name in mlperf.rounds:
        for model in mlperf.models(round_name):
            head = mlperf.head_to_head(round_name, model)
            assert head is not None
            results = [each for row in head.rows for cell in row.cells.values() for each in cell.results]
            assert {(each.round, each.model) for each in results} == {(round_name, model)}
            base = head.row(head.baseline)
            assert base is not None
            assert all(cell.ratio == 1.0 for cell in base.cells.values())
            for row in head.rows:
                for scenario, cell in row.cells.items():
                    assert all(each.mlperf_scenario is scenario for each in cell.results)
                    assert (cell.ratio is None) == (scenario not in base.cells)
                    ordered = [each.per_accelerator for each in cell.results]
                    assert ordered == sorted(ordered, reverse=True)


def test_results_are_of_each_accelerator_whatever_the_size_of_the_system(mlperf: MlperfComparison) -> None:
    head = find_head_to_head(mlperf, "v6.0", "llama-2-70b", "b200-hgx")
    row = head.row("gb200-nvl72")
    assert row is not None
    assert row.cells[OFFLINE].best.count == 72
    assert row.cells[OFFLINE].ratio == pytest.approx(0.944, abs=0.001)
    assert row.cells[INTERACTIVE].ratio == pytest.approx(1.361, abs=0.001)


def test_requested_entry_can_be_missing(mlperf: MlperfComparison) -> None:
    assert mlperf.head_to_head("v6.0", "llama-3.1-70b") is None
    other = mlperf.head_to_head("v5.1", "llama-2-70b", "mi355x")
    assert other is not None
    assert other.baseline != "mi355x"
    assert other.row(other.baseline) is not None


def test_stated_ratios_are_checked_and_their_claims_are_in_the_catalog(
    mlperf: MlperfComparison, service: GpuDeskService
) -> None:
    claims = {claim.id: claim for claim in service.catalog.seed_claims()}
    verdicts = {}
    for each in mlperf.published_ratios:
        claim = claims[each.claim]
        assert each.source == claim.source.id
        assert each.accelerator in claim.things
        assert each.baseline in claim.things
        ends = [float(claim.value), float(claim.value_high or claim.value)]
        per_cent = each.ratio * 100 if ends[0] > 50 else (each.ratio - 1) * 100
        assert per_cent == pytest.approx(ends[0]) or per_cent == pytest.approx(ends[1])
        verdicts[each.claim, each.mlperf_scenario] = describe_stated_ratio(each)
    assert verdicts == {
        ("C003-039", OFFLINE): "confirmed",
        ("C003-040", SERVER): "confirmed",
        ("C003-041", INTERACTIVE): "confirmed",
        ("C003-042", OFFLINE): "not confirmed",
        ("C003-042", SERVER): "not confirmed",
        ("C003-044", None): "no MLPerf round stated",
        ("C001-032", OFFLINE): "no MLPerf round stated",
    }
    assert all(each.computed_by for each in mlperf.published_ratios)


def test_citation_shows_the_requested_claim(mlperf: MlperfComparison, service: GpuDeskService) -> None:
    head = find_head_to_head(mlperf, "v6.0", "llama-2-70b", "b200-hgx")
    source = service.catalog.source(head.source)
    citation = cite_mlperf_result(head, "Llama 2 70B", source, "2026-11-21")
    assert citation.startswith("MLPerf® v6.0 Inference Closed Llama 2 70B: offline, server, interactive. Retrieved")
    for part in (
        "https://github.com/mlcommons/inference_results_v6.0, 2026-11-21",
        "verified by MLCommons Association",
        "not the primary metric of MLPerf",
        "trademarks of MLCommons Association",
        "Unauthorized use strictly prohibited",
    ):
        assert part in citation


def test_a_file_that_is_broken_is_named(tmp_path: Path) -> None:
    (tmp_path / "mlperf.toml").write_text("[rounds", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_mlperf(tmp_path)
    assert str(tmp_path / "mlperf.toml") in str(caught.value.where)
