"""The fit matrix as an item model: order, filters, accessible texts, and signals."""

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

ACCELERATORS = ("h100-sxm", "mi300x", "tpu-v5e", "h200-sxm", "vera-rubin-nvl72")
MODELS = ("llama-3.1-405b", "phi-4", "devstral-2-123b", "llama-3.1-70b")
QUESTION = FitQuestion(Precision.FP8, Precision.FP8, 8192)


@pytest.fixture(scope="module")
def matrix(service: GpuDeskService) -> FitMatrix:
    return service.fit_matrix(QUESTION, ACCELERATORS, MODELS)


@pytest.fixture(scope="module")
def parameters(service: GpuDeskService) -> dict[str, float]:
    return count_model_parameters(service.catalog, service.catalog.models())


def list_models(table: FitTable) -> list[str]:
    return [row.model.id for row in table.rows]


def list_accelerators(table: FitTable) -> list[str]:
    return [column.part.id for column in table.columns]


def test_columns_are_grouped_by_vendor_and_rows_sorted_by_size(matrix: FitMatrix, parameters: dict[str, float]) -> None:
    table = arrange_fit_table(matrix, parameters, FitOrder(), "")
    assert list_accelerators(table) == ["h100-sxm", "h200-sxm", "vera-rubin-nvl72", "mi300x", "tpu-v5e"]
    assert list_models(table) == ["phi-4", "llama-3.1-70b", "devstral-2-123b", "llama-3.1-405b"]
    assert [cell.accelerator for cell in table.rows[0].cells] == list_accelerators(table)


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
def test_rows_are_sorted_with_unknown_last(
    matrix: FitMatrix, parameters: dict[str, float], by: str, descending: bool, expected: list[str]
) -> None:
    table = arrange_fit_table(matrix, parameters, FitOrder(by=by, descending=descending), "")
    assert list_models(table) == expected


def test_filters_apply_to_models_and_accelerators_separately(matrix: FitMatrix, parameters: dict[str, float]) -> None:
    table = arrange_fit_table(matrix, parameters, FitOrder("meta 70b", "nvidia h"), "")
    assert list_models(table) == ["llama-3.1-70b"]
    assert list_accelerators(table) == ["h100-sxm", "h200-sxm"]
    assert arrange_fit_table(matrix, parameters, FitOrder("nvidia"), "").rows == ()


def test_filter_by_accelerator_count(matrix: FitMatrix, parameters: dict[str, float]) -> None:
    table = arrange_fit_table(matrix, parameters, FitOrder(most=1), "")
    assert list_models(table) == ["phi-4", "llama-3.1-70b"]
    assert "tpu-v5e" not in list_accelerators(table)
    assert all(any(row.cells[position].count == 1 for row in table.rows) for position in range(len(table.columns)))


@pytest.fixture
def model(matrix: FitMatrix, parameters: dict[str, float], qtbot: QtBot) -> FitModel:
    fit_model = FitModel(Formatter(ENGLISH_NUMBERS))
    fit_model.show(arrange_fit_table(matrix, parameters, FitOrder(), ""))
    return fit_model


def test_model_passes_the_model_tester(
    matrix: FitMatrix, parameters: dict[str, float], qtmodeltester: ModelTester
) -> None:
    model = FitModel(Formatter(ENGLISH_NUMBERS))
    qtmodeltester.check(model)  # type: ignore[no-untyped-call]
    model.show(arrange_fit_table(matrix, parameters, FitOrder(), ""))
    qtmodeltester.check(model)  # type: ignore[no-untyped-call]
    model.show(arrange_fit_table(matrix, parameters, FitOrder("llama"), ""))
    assert model.rowCount() == 2
    assert model.rowCount(model.index(0, 0)) == 0


def test_new_counts_change_data_without_a_reset(
    service: GpuDeskService, model: FitModel, parameters: dict[str, float], qtbot: QtBot
) -> None:
    longer = service.fit_matrix(FitQuestion(Precision.FP16, Precision.FP16, 131_072, 8), ACCELERATORS, MODELS)
    before = model.index_of("llama-3.1-70b", "h100-sxm").data()
    with qtbot.assertNotEmitted(model.modelReset), qtbot.waitSignal(model.dataChanged):
        model.show(arrange_fit_table(longer, parameters, FitOrder(), ""))
    assert int(model.index_of("llama-3.1-70b", "h100-sxm").data()) > int(before)
    with qtbot.assertNotEmitted(model.dataChanged), qtbot.assertNotEmitted(model.modelReset):
        model.show(arrange_fit_table(longer, parameters, FitOrder(), ""))


def test_cell_has_its_count_and_a_sentence(model: FitModel) -> None:
    index = model.index_of("llama-3.1-405b", "h200-sxm")
    assert index.data() == "4"
    sentence = index.data(Qt.ItemDataRole.AccessibleTextRole)
    assert sentence.startswith("Llama 3.1 405B on H200 SXM, FP8 weights: fits on 4 with vLLM, TP 4; ")
    assert sentence == index.data(Qt.ItemDataRole.ToolTipRole)


def test_cell_without_deployment_has_a_reason(model: FitModel) -> None:
    index = model.index_of("devstral-2-123b", "h200-sxm")
    assert index.data() == "—"
    assert "no deployment. " in index.data(Qt.ItemDataRole.ToolTipRole)
    assert not model.index_of("devstral-2-123b", "no-such-part").isValid()


def test_heads_are_short_with_full_accessible_texts(model: FitModel) -> None:
    accessible_role = Qt.ItemDataRole.AccessibleTextRole
    across, down = Qt.Orientation.Horizontal, Qt.Orientation.Vertical
    assert model.headerData(0, across) == "H100 SXM"
    assert model.headerData(0, across, accessible_role) == "H100 SXM 80GB, NVIDIA, 80.0 GiB"
    assert str(model.headerData(2, across, accessible_role)).endswith("announced")
    assert model.headerData(0, down) == "Phi-4 14B"
    assert model.headerData(1, down, accessible_role) == "Llama 3.1 70B, Meta, 70.0 billion parameters"
    assert model.headerData(99, down) is None
