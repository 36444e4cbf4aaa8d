"""The factor table as an item model: levels with figures, and sources with dates."""

from typing import cast

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from gpudesk.desktop.pages.decide.factors_view import FACTOR, FIRST, FactorsModel, make_factor_rows
from gpudesk.desktop.session.evaluated_answer import AcceleratorColumn
from gpudesk.documents.scenario_file import read_template
from gpudesk.domain.answer import ComparisonColumn
from gpudesk.domain.decision import FactorLevel
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import ENGLISH_NUMBERS, Formatter

HEADS = tuple(
    AcceleratorColumn(key, name, slot, is_variant=False, column=cast("ComparisonColumn", None))
    for slot, (key, name) in enumerate(
        (("h200-sxm", "H200"), ("mi325x", "MI325X"), ("b200-hgx", "B200"), ("mi355x", "MI355X")), 1
    )
)
_SPOKEN = Qt.ItemDataRole.AccessibleTextRole


@pytest.fixture
def model(service: GpuDeskService, qtbot: QtBot) -> FactorsModel:
    decision = service.decide(service.answer(read_template("70b-chat-on-four")))
    rules = {rule.id: rule for rule in service.decider.rules}
    factors_model = FactorsModel()
    factors_model.show(HEADS, make_factor_rows(decision, rules, Formatter(ENGLISH_NUMBERS)))
    return factors_model


def find_row(model: FactorsModel, factor: str) -> int:
    return next(number for number, row in enumerate(model.rows) if row.id == factor)


def test_levels_have_their_figures(model: FactorsModel) -> None:
    row = find_row(model, "throughput")
    assert model.rows[row].measure == "Output throughput, tok/s"
    b200 = model.cell(row, FIRST + 2)
    assert b200 is not None
    assert (b200.level, b200.word, b200.figure) == (FactorLevel.PREFERRED, "Preferred", "1,480")
    assert model.sentence(row, FIRST + 2).startswith("Throughput, B200: Preferred, 1,480 (")


def test_costs_name_the_way_of_paying(model: FactorsModel) -> None:
    cells = model.rows[find_row(model, "cost")].cells
    assert [cell.figure for cell in cells] == ["$0.80", "$0.55", "$0.58", "$1.79"]
    assert [cell.payment for cell in cells] == ["owned", "owned", "owned", "rented"]
    assert cells[-1].whole.endswith(" rented")


def test_factor_without_a_measure_is_unknown(model: FactorsModel) -> None:
    row = find_row(model, "community")
    assert model.rows[row].measure == "No measure available"
    assert {cell.level for cell in model.rows[row].cells} == {FactorLevel.UNKNOWN}
    assert model.index(row, FIRST).data() == "Unknown"


def test_missing_capability_has_no_figure(model: FactorsModel) -> None:
    row = find_row(model, "fp4")
    cells = model.rows[row].cells
    assert [cell.word for cell in cells] == ["Missing", "Missing", "Preferred", "Preferred"]
    assert [bool(cell.figure) for cell in cells] == [False, False, True, True]


def test_sources_have_dates(model: FactorsModel) -> None:
    row, last = find_row(model, "cost"), model.columnCount() - 1
    sources = model.rows[row].sources
    assert sources.startswith("B200 vs MI355X, Hostrunway, 2026-05")
    assert ";" not in sources, "each document once"
    accessible_text = model.index(row, last).data(_SPOKEN)
    for rule in model.rows[row].rules:
        assert rule.why in accessible_text
    across = Qt.Orientation.Horizontal
    heads = [model.headerData(column, across) for column in range(model.columnCount())]
    assert heads == ["Factor", "H200", "MI325X", "B200", "MI355X", "Sources"]


def test_factor_names_its_measure(model: FactorsModel) -> None:
    row = find_row(model, "long_context")
    assert model.index(row, FACTOR).data(_SPOKEN) == "Long context, Memory left for KV cache, GB"


def test_same_factors_change_data_without_a_reset(model: FactorsModel, qtbot: QtBot) -> None:
    resets: list[object] = []
    model.modelReset.connect(lambda: resets.append(None))
    with qtbot.waitSignal(model.dataChanged):
        model.show(HEADS, model.rows)
    assert not resets
    model.show(HEADS[:2], model.rows)
    assert len(resets) == 1
