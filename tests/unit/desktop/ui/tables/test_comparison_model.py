"""The comparison table as an item model: what is shown in which order, and that figures change in place."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from pytestqt.modeltest import ModelTester

from gpudesk.desktop.pages.compare.comparison_model import (
    HEADING_ROLE,
    ComparisonArrangement,
    ComparisonModel,
    ComparisonSorting,
    RowChoiceModel,
    choose_next_row_sorting,
    list_lines,
    list_shown_columns,
    move_row,
)
from gpudesk.domain.answer import AcceleratorChoice, Answer, Scenario
from gpudesk.domain.estimate import Load, LoadKind, Workload
from gpudesk.domain.precision import Precision
from gpudesk.estimation.estimator import answer_scenario
from gpudesk.report.comparison.table import build_comparison_table
from gpudesk.report.comparison.tables import ComparisonTable
from gpudesk.text.formatting import ENGLISH_NUMBERS, Formatter
from tests.fakes import FakeCatalog, FakeEstimator

PLAIN = Formatter(ENGLISH_NUMBERS)
ALL = ComparisonArrangement()

MakeTable = Callable[..., ComparisonTable]


def answer(*parts: str, concurrency: int = 64, input_tokens: int = 2000) -> Answer:
    scenario = Scenario(
        name="Some",
        model="llama-3.1-70b",
        weights=Precision.FP8,
        workload=Workload(input_tokens, 500, Load(LoadKind.CONCURRENCY, concurrency=concurrency)),
        accelerators=tuple(AcceleratorChoice(part, 1) for part in parts),
    )
    return answer_scenario(scenario, FakeCatalog(), FakeEstimator(), "2026-08")


@pytest.fixture
def make_table() -> MakeTable:
    def make(*parts: str, **load: int) -> ComparisonTable:
        return build_comparison_table(answer(*(parts or ("h200-sxm", "mi325x", "b200-hgx")), **load), PLAIN)

    return make


def keys(table: ComparisonTable, arrangement: ComparisonArrangement) -> list[str]:
    return [line.key for line in list_lines(table, arrangement)]


def names(table: ComparisonTable, arrangement: ComparisonArrangement) -> list[str]:
    return [table.heads[position].name for position in list_shown_columns(table, arrangement)]


def test_every_group_has_its_heading_and_rows(make_table: MakeTable) -> None:
    shown = keys(make_table(), ALL)
    assert shown[0] == "group:workload"
    assert shown.index("group:memory") < shown.index("memory") < shown.index("group:dense")


def test_filter_looks_in_label_unit_and_group_for_every_word(make_table: MakeTable) -> None:
    table = make_table()
    assert keys(table, ComparisonArrangement(filter="BAND")) == ["group:memory", "memory_bandwidth"]
    assert "memory" in keys(table, ComparisonArrangement(filter="memory"))
    assert keys(table, ComparisonArrangement(filter="memory tb/s")) == ["group:memory", "memory_bandwidth"]
    assert keys(table, ComparisonArrangement(filter="nothing like it")) == []


def test_differences_only_leaves_out_what_is_the_same_in_the_columns_shown(make_table: MakeTable) -> None:
    table = make_table()
    only = ComparisonArrangement(differences_only=True)
    assert "tdp" not in keys(table, only)
    assert "memory_bandwidth" in keys(table, only)
    alone = replace(only, hidden_columns=frozenset({"mi325x", "b200-hgx"}))
    assert "tdp" in keys(table, alone), "one column has nothing to differ from"


def test_hidden_rows_and_empty_groups_go(make_table: MakeTable) -> None:
    shown = keys(make_table(), ComparisonArrangement(hidden_rows=frozenset({"peak_dense_bf16", "tdp"})))
    assert "group:dense" not in shown
    assert "tdp" not in shown


def test_columns_are_sorted_by_value_with_unknown_last_both_ways(make_table: MakeTable) -> None:
    good = answer("h200-sxm", "mi325x", "b200-hgx")
    short = answer("h200-sxm", "mi325x", "b200-hgx", input_tokens=120_000)
    mixed = replace(good, columns=(short.columns[0], *good.columns[1:]), differences=())
    table = build_comparison_table(mixed, PLAIN)
    row = "output_tokens_per_s"
    assert names(table, ComparisonArrangement(sorting=ComparisonSorting(row, descending=True))) == [
        "B200-HGX",
        "MI325X",
        "H200-SXM",
    ]
    assert names(table, ComparisonArrangement(sorting=ComparisonSorting(row, descending=False))) == [
        "MI325X",
        "B200-HGX",
        "H200-SXM",
    ]
    alike = ComparisonArrangement(sorting=ComparisonSorting("tdp", descending=True))
    assert names(table, alike) == ["H200-SXM", "MI325X", "B200-HGX"], "equals keep the scenario's order"


def test_sorting_goes_best_first_then_reverse_then_back(make_table: MakeTable) -> None:
    table = make_table()
    first = choose_next_row_sorting(table, None, "ttft_ms")
    assert first == ComparisonSorting("ttft_ms", descending=False), "less time is better"
    second = choose_next_row_sorting(table, first, "ttft_ms")
    assert second == ComparisonSorting("ttft_ms", descending=True)
    assert choose_next_row_sorting(table, second, "ttft_ms") is None
    assert choose_next_row_sorting(table, second, "memory") == ComparisonSorting("memory", descending=True)


def test_rows_move_within_their_group_past_hidden_ones(make_table: MakeTable) -> None:
    table = make_table()
    arrangement = ComparisonArrangement(hidden_rows=frozenset({"tpot_ms"}))
    after = move_row(table, arrangement, "output_tokens_per_s", 1)
    shown = keys(table, after)
    assert shown[:3] == ["group:workload", "ttft_ms", "output_tokens_per_s"]
    assert move_row(table, after, "ttft_ms", -1) == after, "the first row cannot go further up"
    back = move_row(table, after, "output_tokens_per_s", -1)
    assert keys(table, back) == keys(table, arrangement)


def test_model_is_sound(make_table: MakeTable, qtmodeltester: ModelTester) -> None:
    model = ComparisonModel(PLAIN)
    qtmodeltester.check(model)  # type: ignore[no-untyped-call]
    model.show(make_table(), ALL)
    model.show(make_table(concurrency=8), ALL)
    model.show(make_table("mi325x", "h200-sxm"), ComparisonArrangement(filter="band"))
    qtmodeltester.check(model)  # type: ignore[no-untyped-call]


def test_new_figures_are_changed_data_and_not_a_reset(make_table: MakeTable) -> None:
    model = ComparisonModel(PLAIN)
    model.show(make_table(), ALL)
    resets: list[int] = []
    changes: list[tuple[int, int]] = []
    model.modelReset.connect(lambda: resets.append(1))
    model.dataChanged.connect(lambda first, last: changes.append((first.row(), last.row())))
    model.show(make_table(), ALL)
    assert (resets, changes) == ([], [])
    table = make_table()
    group = table.groups[0]
    cell = replace(group.rows[1].cells[0], text="1,234")
    row = replace(group.rows[1], cells=(cell, *group.rows[1].cells[1:]))
    changed = replace(group, rows=(group.rows[0], row, *group.rows[2:]))
    model.show(replace(table, groups=(changed, *table.groups[1:])), ALL)
    assert (resets, changes) == ([], [(2, 2)])
    assert model.index(2, 0).data() == "1,234"
    model.show(table, ComparisonArrangement(filter="band"))
    assert resets == [1]


def test_cells_speak_in_sentences_and_headings_cannot_be_selected(make_table: MakeTable) -> None:
    model = ComparisonModel(PLAIN)
    model.show(make_table(), ALL)
    index = model.index_of("memory_bandwidth", "mi325x")
    spoken = index.data(Qt.ItemDataRole.AccessibleTextRole)
    assert spoken == ("Bandwidth, MI325X, 6.0 terabytes per second, +25% compared with H200-SXM, 2 sources disagree")
    assert not model.index(0, 0).flags() & Qt.ItemFlag.ItemIsSelectable
    across, down = Qt.Orientation.Horizontal, Qt.Orientation.Vertical
    assert model.headerData(0, across, Qt.ItemDataRole.AccessibleTextRole).endswith("baseline")
    assert model.headerData(index.row(), down) == "Bandwidth"
    assert (model.shown_rows, model.all_rows) == (model.rowCount() - 4, model.shown_rows)


def test_rows_are_chosen_one_by_one_or_by_group(make_table: MakeTable, qtmodeltester: ModelTester) -> None:
    model = RowChoiceModel()
    model.show(make_table().groups, {"memory"})
    qtmodeltester.check(model)  # type: ignore[no-untyped-call]
    chosen: list[frozenset[str]] = []
    model.chosen.connect(chosen.append)
    labels = [model.index(row).data() for row in range(model.rowCount())]
    heading = model.index(labels.index("Memory"))
    assert heading.data(HEADING_ROLE)
    tick = Qt.ItemDataRole.CheckStateRole
    assert heading.data(tick) == Qt.CheckState.PartiallyChecked
    model.setData(model.index(labels.index("Bandwidth")), Qt.CheckState.Unchecked, tick)
    assert chosen[-1] == {"memory", "memory_bandwidth"}
    model.setData(heading, Qt.CheckState.Checked, tick)
    assert chosen[-1] == frozenset()
    assert heading.data(tick) == Qt.CheckState.Checked
