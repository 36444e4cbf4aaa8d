"""The comparison table as an item model: rows and columns, sorting, and changes in place."""

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


def make_answer(*accelerators: str, concurrency: int = 64, input_tokens: int = 2000) -> Answer:
    scenario = Scenario(
        name="Some",
        model="llama-3.1-70b",
        weights=Precision.FP8,
        workload=Workload(input_tokens, 500, Load(LoadKind.CONCURRENCY, concurrency=concurrency)),
        accelerators=tuple(AcceleratorChoice(accelerator, 1) for accelerator in accelerators),
    )
    return answer_scenario(scenario, FakeCatalog(), FakeEstimator(), "2026-08")


@pytest.fixture
def make_table() -> MakeTable:
    def build(*accelerators: str, **load: int) -> ComparisonTable:
        return build_comparison_table(make_answer(*(accelerators or ("h200-sxm", "mi325x", "b200-hgx")), **load), PLAIN)

    return build


def list_keys(table: ComparisonTable, arrangement: ComparisonArrangement) -> list[str]:
    return [line.key for line in list_lines(table, arrangement)]


def list_names(table: ComparisonTable, arrangement: ComparisonArrangement) -> list[str]:
    return [table.heads[position].name for position in list_shown_columns(table, arrangement)]


def test_every_group_has_its_heading_and_rows(make_table: MakeTable) -> None:
    row_keys = list_keys(make_table(), ALL)
    assert row_keys[0] == "group:workload"
    assert row_keys.index("group:memory") < row_keys.index("memory") < row_keys.index("group:dense")


def test_filter_searches_label_unit_and_group(make_table: MakeTable) -> None:
    table = make_table()
    assert list_keys(table, ComparisonArrangement(filter="BAND")) == ["group:memory", "memory_bandwidth"]
    assert "memory" in list_keys(table, ComparisonArrangement(filter="memory"))
    assert list_keys(table, ComparisonArrangement(filter="memory tb/s")) == ["group:memory", "memory_bandwidth"]
    assert list_keys(table, ComparisonArrangement(filter="nothing like it")) == []


def test_differences_only_compares_visible_columns(make_table: MakeTable) -> None:
    table = make_table()
    only = ComparisonArrangement(differences_only=True)
    assert "tdp" not in list_keys(table, only)
    assert "memory_bandwidth" in list_keys(table, only)
    alone = replace(only, hidden_columns=frozenset({"mi325x", "b200-hgx"}))
    assert "tdp" in list_keys(table, alone), "one column has nothing to differ from"


def test_hidden_rows_and_empty_groups_are_omitted(make_table: MakeTable) -> None:
    row_keys = list_keys(make_table(), ComparisonArrangement(hidden_rows=frozenset({"peak_dense_bf16", "tdp"})))
    assert "group:dense" not in row_keys
    assert "tdp" not in row_keys


def test_columns_are_sorted_with_unknown_last(make_table: MakeTable) -> None:
    full = make_answer("h200-sxm", "mi325x", "b200-hgx")
    partial = make_answer("h200-sxm", "mi325x", "b200-hgx", input_tokens=120_000)
    mixed = replace(full, columns=(partial.columns[0], *full.columns[1:]), differences=())
    table = build_comparison_table(mixed, PLAIN)
    row = "output_tokens_per_s"
    assert list_names(table, ComparisonArrangement(sorting=ComparisonSorting(row, descending=True))) == [
        "B200-HGX",
        "MI325X",
        "H200-SXM",
    ]
    assert list_names(table, ComparisonArrangement(sorting=ComparisonSorting(row, descending=False))) == [
        "MI325X",
        "B200-HGX",
        "H200-SXM",
    ]
    equal = ComparisonArrangement(sorting=ComparisonSorting("tdp", descending=True))
    assert list_names(table, equal) == ["H200-SXM", "MI325X", "B200-HGX"], "equal values keep the scenario's order"


def test_sorting_cycles_through_best_first_reverse_and_none(make_table: MakeTable) -> None:
    table = make_table()
    first = choose_next_row_sorting(table, None, "ttft_ms")
    assert first == ComparisonSorting("ttft_ms", descending=False), "less time is better"
    second = choose_next_row_sorting(table, first, "ttft_ms")
    assert second == ComparisonSorting("ttft_ms", descending=True)
    assert choose_next_row_sorting(table, second, "ttft_ms") is None
    assert choose_next_row_sorting(table, second, "memory") == ComparisonSorting("memory", descending=True)


def test_rows_move_within_their_group(make_table: MakeTable) -> None:
    table = make_table()
    arrangement = ComparisonArrangement(hidden_rows=frozenset({"tpot_ms"}))
    after = move_row(table, arrangement, "output_tokens_per_s", 1)
    row_keys = list_keys(table, after)
    assert row_keys[:3] == ["group:workload", "ttft_ms", "output_tokens_per_s"]
    assert move_row(table, after, "ttft_ms", -1) == after, "the first row cannot move up"
    restored = move_row(table, after, "output_tokens_per_s", -1)
    assert list_keys(table, restored) == list_keys(table, arrangement)


def test_model_passes_the_model_tester(make_table: MakeTable, qtmodeltester: ModelTester) -> None:
    model = ComparisonModel(PLAIN)
    qtmodeltester.check(model)  # type: ignore[no-untyped-call]
    model.show(make_table(), ALL)
    model.show(make_table(concurrency=8), ALL)
    model.show(make_table("mi325x", "h200-sxm"), ComparisonArrangement(filter="band"))
    qtmodeltester.check(model)  # type: ignore[no-untyped-call]


def test_new_figures_change_data_without_a_reset(make_table: MakeTable) -> None:
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


def test_cells_have_accessible_sentences_and_headings_are_not_selectable(make_table: MakeTable) -> None:
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


def test_rows_are_hidden_singly_or_by_group(make_table: MakeTable, qtmodeltester: ModelTester) -> None:
    model = RowChoiceModel()
    model.show(make_table().groups, {"memory"})
    qtmodeltester.check(model)  # type: ignore[no-untyped-call]
    hidden_sets: list[frozenset[str]] = []
    model.chosen.connect(hidden_sets.append)
    labels = [model.index(row).data() for row in range(model.rowCount())]
    heading = model.index(labels.index("Memory"))
    assert heading.data(HEADING_ROLE)
    tick = Qt.ItemDataRole.CheckStateRole
    assert heading.data(tick) == Qt.CheckState.PartiallyChecked
    model.setData(model.index(labels.index("Bandwidth")), Qt.CheckState.Unchecked, tick)
    assert hidden_sets[-1] == {"memory", "memory_bandwidth"}
    model.setData(heading, Qt.CheckState.Checked, tick)
    assert hidden_sets[-1] == frozenset()
    assert heading.data(tick) == Qt.CheckState.Checked
