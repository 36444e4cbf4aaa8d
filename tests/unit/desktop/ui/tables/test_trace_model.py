"""The rule table as an item model: combined rules, sentences, weights, and the fold."""

from typing import cast

import pytest
from PySide6.QtCore import QModelIndex, Qt
from pytestqt.qtbot import QtBot

from gpudesk.desktop.pages.decide.trace_model import (
    ANSWER,
    FIRST,
    RULE,
    WEIGHT,
    TraceFold,
    TraceGroup,
    TraceModel,
    TraceRuleRow,
    find_common_unit,
    format_trace,
    make_line_key,
    make_trace_table,
    strip_unit,
)
from gpudesk.desktop.session.evaluated_answer import AcceleratorColumn
from gpudesk.documents.scenario_file import read_template
from gpudesk.domain.answer import ComparisonColumn
from gpudesk.domain.decision import Decision, DecisionRule, RuleEffect, RuleRole
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import ENGLISH_NUMBERS, Formatter

HEADS = tuple(
    AcceleratorColumn(key, name, slot, is_variant=False, column=cast("ComparisonColumn", None))
    for slot, (key, name) in enumerate(
        (("h200-sxm", "H200"), ("mi325x", "MI325X"), ("b200-hgx", "B200"), ("mi355x", "MI355X")), 1
    )
)
FORMATTER = Formatter(ENGLISH_NUMBERS)
_ROLE = Qt.ItemDataRole


@pytest.fixture
def decision(service: GpuDeskService) -> Decision:
    """Return a decision in which a limit is undecided for one accelerator, and the site rules out two."""
    answer = service.answer(read_template("70b-chat-on-four"))
    return service.decide(answer, {"ttft_limit_ms": 2000.0, "site": "oam", "priority": "cost"})


@pytest.fixture
def rules(service: GpuDeskService) -> tuple[DecisionRule, ...]:
    return service.decider.rules


@pytest.fixture
def model(decision: Decision, rules: tuple[DecisionRule, ...], qtbot: QtBot) -> TraceModel:
    trace_model = TraceModel(FORMATTER)
    trace_model.show(make_trace_table(decision, HEADS, rules, (), FORMATTER))
    return trace_model


def get_row(model: TraceModel, rule: str) -> TraceRuleRow:
    row = model.find_rule_row(model.row_of(rule))
    assert row is not None
    return row


def test_each_applied_rule_is_in_one_row(model: TraceModel, decision: Decision) -> None:
    rule_ids = [line.rule.id for row in model.table.rows for line in row.lines]
    assert sorted(rule_ids) == sorted(line.rule.id for line in decision.trace)
    assert len(rule_ids) == len(set(rule_ids))
    roles = {line.role.label for line in decision.trace}
    assert [group.title for group in model.table.groups] == [
        title for title in (role.label for role in RuleRole) if title in roles
    ]


def test_combined_rules_share_a_row(model: TraceModel, decision: Decision) -> None:
    folded = [line for line in decision.trace if line.counted_with is not None]
    assert folded
    for line in folded:
        row = get_row(model, line.counted_with or "")
        assert line.rule.id in row.ids
        assert model.find_line_of_rule(line.rule.id) == model.row_of(row.key)


def test_cells_have_effect_and_figure(model: TraceModel) -> None:
    row = model.row_of("L-01")
    h200 = model.cell(row, FIRST)
    assert h200 is not None
    assert h200.effect is RuleEffect.UNDECIDED
    assert get_row(model, "L-01").unit == "ms"
    assert h200.figure == "1,140"
    sentence = model.index(row, FIRST).data(_ROLE.AccessibleTextRole)
    assert sentence.startswith("TTFT limit, H200: ")
    assert "818" in sentence
    site = model.row_of("D004-06")
    effects = [model.cell(site, column) for column in range(FIRST, model.columnCount())]
    assert [cell.effect for cell in effects if cell] == [
        RuleEffect.REMOVES,
        RuleEffect.PASSES,
        RuleEffect.REMOVES,
        RuleEffect.PASSES,
    ]


def test_row_has_group_rules_and_answer(model: TraceModel) -> None:
    row = model.row_of("L-01")
    sentence = model.index(row, RULE).data(_ROLE.AccessibleTextRole)
    assert sentence.startswith("TTFT limit, Decisive, L-01, you: 2 s")
    assert model.index(row, ANSWER).data() == "you: 2 s"
    assert model.index(row, WEIGHT).data() == ""


def test_only_preferences_have_a_weight(model: TraceModel) -> None:
    assert not model.can_be_weighed(model.row_of("L-01"))
    row = model.row_of("D000-02")
    index = model.index(row, WEIGHT)
    assert model.flags(index) & Qt.ItemFlag.ItemIsEditable
    assert index.data(_ROLE.EditRole) == get_row(model, "D000-02").line.weight
    assert "weight" in index.data(_ROLE.ToolTipRole)


def test_setting_a_weight_only_emits_a_signal(model: TraceModel, qtbot: QtBot) -> None:
    index = model.index(model.row_of("D000-02"), WEIGHT)
    before = index.data(_ROLE.EditRole)
    with qtbot.waitSignal(model.weighed) as signal:
        assert model.setData(index, 8.0)
    assert signal.args == ["D000-02", 8.0]
    assert index.data(_ROLE.EditRole) == before
    assert not model.setData(index, 101.0)
    assert not model.setData(model.index(model.row_of("L-01"), WEIGHT), 3.0)


def test_user_weights_are_marked(decision: Decision, rules: tuple[DecisionRule, ...], model: TraceModel) -> None:
    combined = next(row for row in model.table.rows if row.also and row.weight is not None)
    table = make_trace_table(decision, HEADS, rules, {combined.also[0].rule.id}, FORMATTER)
    assert [row.key for row in table.rows if row.changed] == [combined.key]


def test_group_headings_are_not_selectable(model: TraceModel) -> None:
    for position, line in enumerate(model.lines):
        flags = model.flags(model.index(position, RULE))
        assert bool(flags & Qt.ItemFlag.ItemIsSelectable) is not isinstance(line, TraceGroup)


def test_fold_has_rules_that_do_not_apply(model: TraceModel, decision: Decision) -> None:
    before = model.rowCount()
    fold = model.row_of("fold")
    line = model.lines[fold]
    assert isinstance(line, TraceFold)
    assert line.title == f"Rules that do not apply ({len(decision.silent)})"
    model.set_opened(True)
    assert model.rowCount() == before + len(decision.silent)
    assert model.index(fold, RULE).data(_ROLE.AccessibleTextRole).endswith("expanded")
    silent = model.index(before, RULE).data(_ROLE.AccessibleTextRole)
    assert silent.endswith("does not apply")
    assert decision.silent[0] in silent
    model.set_opened(False)
    assert model.rowCount() == before


def test_same_rows_change_data_without_a_reset(
    decision: Decision, rules: tuple[DecisionRule, ...], model: TraceModel, qtbot: QtBot
) -> None:
    resets: list[object] = []
    model.modelReset.connect(lambda: resets.append(None))
    with qtbot.waitSignal(model.dataChanged):
        model.show(make_trace_table(decision, HEADS, rules, ("D000-02",), FORMATTER))
    assert not resets
    model.show(make_trace_table(decision, HEADS[:3], rules, (), FORMATTER))
    assert len(resets) == 1


def test_rows_have_unique_keys(model: TraceModel) -> None:
    model.set_opened(True)
    keys = [make_line_key(line) for line in model.lines]
    assert len(set(keys)) == len(keys)
    assert model.row_of("no such rule") == -1
    assert model.data(QModelIndex()) is None


def test_disputed_figures_and_refuted_rules_are_marked(
    service: GpuDeskService, rules: tuple[DecisionRule, ...], qtbot: QtBot
) -> None:
    answer = service.answer(read_template("70b-chat-on-four"))
    decision = service.decide(answer, {"vendor_policy": "two_pools"})
    rows = {row.key: row for row in make_trace_table(decision, HEADS, rules, (), FORMATTER).rows}
    unfounded = {line.rule.id for line in decision.trace if line.rule.unfounded is not None}
    assert unfounded
    assert {key for key, row in rows.items() if row.refuted} == unfounded & set(rows)
    disputed = next(line for line in decision.trace if line.rule.disputes and line.counted_with is None)
    assert rows[disputed.rule.id].disputed


def test_rules_are_copied_as_a_table(model: TraceModel) -> None:
    lines = format_trace(model.table, FORMATTER).splitlines()
    assert lines[0].split("\t") == ["Group", "Rule", "IDs", "Answer", "Weight", *(h.name for h in HEADS)]
    assert len(lines) == 1 + len(model.table.rows)
    assert lines[1].startswith("Decisive\tTTFT limit\tL-01\tyou: 2 s\t\t")


@pytest.mark.parametrize(
    ("figures", "unit"),
    [
        (["1,110\N{NO-BREAK SPACE}ms", "904\N{NO-BREAK SPACE}ms", "—"], "ms"),
        (["4", "2"], ""),
        (["CUDA", "ROCm"], ""),
        (["1\N{NO-BREAK SPACE}GB", "2\N{NO-BREAK SPACE}TB"], ""),
        (["1\N{NO-BREAK SPACE}234", "5\N{NO-BREAK SPACE}678"], ""),
        ([], ""),
    ],
)
def test_common_unit_is_found_and_stripped(figures: list[str], unit: str) -> None:
    assert find_common_unit(figures) == unit
    if unit:
        assert strip_unit(figures[0], unit) == "1,110"
    assert strip_unit("4", "") == "4"
