"""Announced accelerators stand next to shipping ones with their figures, and are ranked only where that is asked."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpudesk.domain.accelerator import Accelerator
from gpudesk.domain.answer import AcceleratorChoice, Answer, Scenario, find_leaders
from gpudesk.domain.estimate import Load, LoadKind, Workload
from gpudesk.domain.precision import Precision
from gpudesk.estimation.estimator import answer_scenario
from gpudesk.report.comparison.headlines import build_screen_headlines, build_sheet_headlines
from gpudesk.report.comparison.sheet import build_sheet
from gpudesk.report.comparison.table import ComparisonTableBuilder, build_comparison_table, describe_headline
from gpudesk.report.comparison.tables import CellMarking, Headline
from gpudesk.report.writers.json import encode_answer
from gpudesk.text.formatting import ENGLISH_NUMBERS, Formatter
from tests.fakes import FakeCatalog, FakeEstimator

PLAIN = Formatter(ENGLISH_NUMBERS)
THROUGHPUT = "output_tokens_per_s"


class SomeAnnounced(FakeCatalog):
    """The usual parts, some of them announced."""

    def __init__(self, announced: tuple[str, ...]) -> None:
        super().__init__()
        self.announced = announced

    def accelerator(self, accelerator_id: str) -> Accelerator:
        part = super().accelerator(accelerator_id)
        return replace(part, announced=accelerator_id in self.announced)


def answer_columns(*parts: str, announced: tuple[str, ...], rank: bool = False) -> Answer:
    scenario = Scenario(
        name="With what is to come",
        model="llama-3.1-70b",
        weights=Precision.FP8,
        workload=Workload(2000, 500, Load(LoadKind.CONCURRENCY, concurrency=64)),
        accelerators=tuple(AcceleratorChoice(part, 1) for part in parts),
    )
    facts = SomeAnnounced(announced)
    return answer_scenario(scenario, facts, FakeEstimator(), "2026-08", rank_announced=rank)


def strip(answer: Answer, figure: str = THROUGHPUT) -> Headline:
    return next(each for each in build_screen_headlines(answer, PLAIN) if each.figure == figure)


def find_sheet_headline(answer: Answer) -> Headline:
    headlines = build_sheet_headlines(answer, PLAIN)
    return next(each for each in headlines if each.figure == THROUGHPUT)


def test_the_best_is_taken_among_shipping_parts() -> None:
    answer = answer_columns("h200-sxm", "mi325x", "b200-hgx", announced=("b200-hgx",))
    assert find_leaders(answer, THROUGHPUT) == (1,)
    assert [leader.key for leader in strip(answer).leaders] == ["mi325x"]
    assert strip(answer).unranked.text == "B200-HGX (announced) would lead by 60%, 99% odds"
    assert strip(answer).unranked.brief == "B200-HGX (announced): +60%"
    assert "would lead by 60%" in describe_headline(strip(answer))
    row = next(row for row in build_comparison_table(answer, PLAIN).rows if row.key == THROUGHPUT)
    assert [cell.mark for cell in row.cells] == [None, CellMarking.BEST, None]
    assert row.cells[2].text == "2,000", "its figure is shown all the same"


def test_sheet_and_json_agree_on_announced_accelerators() -> None:
    answer = answer_columns("h200-sxm", "mi325x", "b200-hgx", announced=("b200-hgx",))
    assert find_sheet_headline(answer).text == "MI325X"
    assert find_sheet_headline(answer).detail.endswith("; B200-HGX (announced) would lead by 60%, 99% odds")
    assert encode_answer(answer)["unranked"] == ["b200-hgx"]
    remarks = [remark.text for remark in build_sheet(answer, PLAIN).remarks]
    assert any(text.startswith("Announced, so not ranked with available accelerators: ") for text in remarks)


@pytest.mark.parametrize(
    ("parts", "announced", "rank"),
    [
        (("h200-sxm", "b200-hgx"), ("h200-sxm", "b200-hgx"), False),
        (("h200-sxm", "b200-hgx"), ("b200-hgx",), True),
        (("h200-sxm", "b200-hgx"), (), False),
    ],
)
def test_all_are_ranked_where_all_are_announced_or_it_is_asked_for(
    parts: tuple[str, ...], announced: tuple[str, ...], rank: bool
) -> None:
    answer = answer_columns(*parts, announced=announced, rank=rank)
    assert not answer.unranked
    assert find_leaders(answer, THROUGHPUT) == (1,)
    assert not strip(answer).unranked.text
    assert not answer.notes


def test_only_available_accelerator_is_not_called_best() -> None:
    answer = answer_columns("h200-sxm", "b200-hgx", announced=("b200-hgx",))
    assert find_leaders(answer, THROUGHPUT) == ()
    assert strip(answer).detail == "Only one available"
    assert strip(answer).unranked.text == "B200-HGX (announced) would lead by 100%, over 99% odds"
    assert find_sheet_headline(answer).text == "H200-SXM"
    assert "only one available" in find_sheet_headline(answer).detail


def test_a_slower_announced_part_needs_no_line() -> None:
    answer = answer_columns("h200-sxm", "b200-hgx", announced=("h200-sxm",))
    assert not strip(answer).unranked.text


def test_tied_announced_accelerator_is_too_close_to_call() -> None:
    answer = answer_columns("h200-sxm", "mi355x", announced=("mi355x",))
    assert strip(answer).unranked.text == "MI355X (announced): too close to call"


def test_ranking_is_part_of_what_is_answered() -> None:
    parts = ("h200-sxm", "mi325x", "b200-hgx")
    answer = answer_columns(*parts, announced=("b200-hgx",), rank=True)
    unasked = answer_columns(*parts, announced=("b200-hgx",))
    assert answer.content_hash != unasked.content_hash


def test_figures_of_announced_parts_are_the_best_only_where_they_are_ranked() -> None:
    maker = ComparisonTableBuilder(PLAIN)
    for rank in (False, True, False):
        answer = answer_columns("h200-sxm", "mi325x", "b200-hgx", announced=("b200-hgx",), rank=rank)
        row = next(each for each in maker.table(answer).rows if each.key == "memory_bandwidth")
        best = [position for position, cell in enumerate(row.cells) if cell.mark is CellMarking.BEST]
        assert best == ([2] if rank else [1])
        sheet = build_sheet(answer, PLAIN)
        paper = next(each for group in sheet.table.groups for each in group.rows if each.label == "Bandwidth")
        assert [cell.mark is CellMarking.BEST for cell in paper.cells].index(True) == best[0]
