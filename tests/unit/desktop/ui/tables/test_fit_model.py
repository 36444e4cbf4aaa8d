"""The fit matrix as items: what is shown in which order, what a cell says, and what Qt is told."""

import pytest
from PySide6.QtCore import Qt
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from gpudesk.desktop.pages.memory.fit_matrix import BY_MAKER, BY_NAME, FitModel, FitOrder, FitTable, arrange_fit_table
from gpudesk.domain.precision import Precision
from gpudesk.domain.sizing import FitMatrix, FitQuestion
from gpudesk.estimation.sizing.fit_matrix import count_model_parameters
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import ENGLISH_NUMBERS, Formatter

PARTS = ("h100-sxm", "mi300x", "tpu-v5e", "h200-sxm", "vera-rubin-nvl72")
MODELS = ("llama-3.1-405b", "phi-4", "devstral-2-123b", "llama-3.1-70b")
QUESTION = FitQuestion(Precision.FP8, Precision.FP8, 8192)


@pytest.fixture(scope="module")
def matrix(service: GpuDeskService) -> FitMatrix:
    return service.fit_matrix(QUESTION, PARTS, MODELS)


@pytest.fixture(scope="module")
def parameters(service: GpuDeskService) -> dict[str, float]:
    return count_model_parameters(service.catalog, service.catalog.models())


def models(table: FitTable) -> list[str]:
    return [row.model.id for row in table.rows]


def parts(table: FitTable) -> list[str]:
    return [column.part.id for column in table.columns]


def test_columns_stand_under_their_vendors_and_rows_by_size(matrix: FitMatrix, parameters: dict[str, float]) -> None:
    table = arrange_fit_table(matrix, parameters, FitOrder(), "")
    assert parts(table) == ["h100-sxm", "h200-sxm", "vera-rubin-nvl72", "mi300x", "tpu-v5e"]
    assert models(table) == ["phi-4", "llama-3.1-70b", "devstral-2-123b", "llama-3.1-405b"]
    assert [cell.accelerator for cell in table.rows[0].cells] == parts(table)


@pytest.mark.parametrize(
    ("by", "descending", "expected"),
    [
        (BY_NAME, False, ["devstral-2-123b", "llama-3.1-405b", "llama-3.1-70b", "phi-4"]),
        (BY_NAME, True, ["phi-4", "llama-3.1-70b", "llama-3.1-405b", "devstral-2-123b"]),
        (BY_MAKER, False, ["llama-3.1-70b", "llama-3.1-405b", "phi-4", "devstral-2-123b"]),
        ("h200-sxm", False, ["phi-4", "llama-3.1-70b", "llama-3.1-405b", "devstral-2-123b"]),
        ("h200-sxm", True, ["llama-3.1-405b", "llama-3.1-70b", "phi-4", "devstral-2-123b"]),
        ("parameters", True, ["llama-3.1-405b", "devstral-2-123b", "llama-3.1-70b", "phi-4"]),
    ],
)
def test_rows_are_ordered_and_what_is_not_known_comes_last(
    matrix: FitMatrix, parameters: dict[str, float], by: str, descending: bool, expected: list[str]
) -> None:
    table = arrange_fit_table(matrix, parameters, FitOrder(by=by, descending=descending), "")
    assert models(table) == expected


def test_words_narrow_models_and_accelerators_each_by_what_they_are(
    matrix: FitMatrix, parameters: dict[str, float]
) -> None:
    table = arrange_fit_table(matrix, parameters, FitOrder("meta 70b", "nvidia h"), "")
    assert models(table) == ["llama-3.1-70b"]
    assert parts(table) == ["h100-sxm", "h200-sxm"]
    assert arrange_fit_table(matrix, parameters, FitOrder("nvidia"), "").rows == ()


def test_a_most_leaves_what_holds_something_with_so_few(matrix: FitMatrix, parameters: dict[str, float]) -> None:
    table = arrange_fit_table(matrix, parameters, FitOrder(most=1), "")
    assert models(table) == ["phi-4", "llama-3.1-70b"]
    assert "tpu-v5e" not in parts(table)
    assert all(any(row.cells[place].count == 1 for row in table.rows) for place in range(len(table.columns)))


@pytest.fixture
def model(matrix: FitMatrix, parameters: dict[str, float], qtbot: QtBot) -> FitModel:
    made = FitModel(Formatter(ENGLISH_NUMBERS))
    made.show(arrange_fit_table(matrix, parameters, FitOrder(), ""))
    return made


def test_the_model_keeps_to_the_rules_of_qt(
    matrix: FitMatrix, parameters: dict[str, float], qtmodeltester: ModelTester
) -> None:
    model = FitModel(Formatter(ENGLISH_NUMBERS))
    qtmodeltester.check(model)  # type: ignore[no-untyped-call]
    model.show(arrange_fit_table(matrix, parameters, FitOrder(), ""))
    qtmodeltester.check(model)  # type: ignore[no-untyped-call]
    model.show(arrange_fit_table(matrix, parameters, FitOrder("llama"), ""))
    assert model.rowCount() == 2
    assert model.rowCount(model.index(0, 0)) == 0


def test_new_counts_of_the_same_pairs_are_changed_data(
    service: GpuDeskService, model: FitModel, parameters: dict[str, float], qtbot: QtBot
) -> None:
    longer = service.fit_matrix(FitQuestion(Precision.FP16, Precision.FP16, 131_072, 8), PARTS, MODELS)
    before = model.index_of("llama-3.1-70b", "h100-sxm").data()
    with qtbot.assertNotEmitted(model.modelReset), qtbot.waitSignal(model.dataChanged):
        model.show(arrange_fit_table(longer, parameters, FitOrder(), ""))
    assert int(model.index_of("llama-3.1-70b", "h100-sxm").data()) > int(before)
    with qtbot.assertNotEmitted(model.dataChanged), qtbot.assertNotEmitted(model.modelReset):
        model.show(arrange_fit_table(longer, parameters, FitOrder(), ""))


def test_a_cell_says_its_count_and_all_about_it(model: FitModel) -> None:
    index = model.index_of("llama-3.1-405b", "h200-sxm")
    assert index.data() == "4"
    said = index.data(Qt.ItemDataRole.AccessibleTextRole)
    assert said.startswith("Llama 3.1 405B on H200 SXM, FP8 weights: fits on 4 with vLLM, TP 4; ")
    assert said == index.data(Qt.ItemDataRole.ToolTipRole)


def test_what_nothing_holds_says_why(model: FitModel) -> None:
    index = model.index_of("devstral-2-123b", "h200-sxm")
    assert index.data() == "—"
    assert "no deployment. " in index.data(Qt.ItemDataRole.ToolTipRole)
    assert not model.index_of("devstral-2-123b", "no-such-part").isValid()


def test_heads_are_short_to_see_and_whole_to_hear(model: FitModel) -> None:
    spoken = Qt.ItemDataRole.AccessibleTextRole
    across, down = Qt.Orientation.Horizontal, Qt.Orientation.Vertical
    assert model.headerData(0, across) == "H100 SXM"
    assert model.headerData(0, across, spoken) == "H100 SXM 80GB, NVIDIA, 80.0 GiB"
    assert str(model.headerData(2, across, spoken)).endswith("announced")
    assert model.headerData(0, down) == "Phi-4 14B"
    assert model.headerData(1, down, spoken) == "Llama 3.1 70B, Meta, 70.0 billion parameters"
    assert model.headerData(99, down) is None
