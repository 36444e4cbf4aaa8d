"""The view MLPerf: round, model and baseline; leaders; published ratios; the citation."""

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gpudesk import paths
from gpudesk.desktop.pages.performance.page import MlperfView, PerformancePage
from gpudesk.desktop.pages.performance.views import MlperfBlock
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.settings import UserSettings
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.fields import FIELD_SIDE
from gpudesk.documents.scenario_file import read_template
from tests.fakes import replace_data_path


@pytest.fixture
def page(desk: Desk, theme: Theme, settings: UserSettings, qtbot: QtBot) -> PerformancePage:
    desk.open(read_template("70b-chat-on-four"))
    performance_page = PerformancePage(desk, theme, settings)
    qtbot.addWidget(performance_page)
    performance_page.resize(944, 753)
    performance_page.show()
    performance_page.choose_view("mlperf")
    desk.evaluate()
    performance_page.refresh()
    return performance_page


@pytest.fixture
def block(page: PerformancePage) -> MlperfBlock:
    assert isinstance(page.view, MlperfView)
    return page.view.block


def list_names(block: MlperfBlock) -> list[str]:
    return [row.cells[0].text for row in block.table.table.rows]


def get_cells(block: MlperfBlock, name: str) -> tuple[str, ...]:
    rows = (tuple(cell.text for cell in row.cells) for row in block.table.table.rows)
    return next(texts[1:-1] for texts in rows if texts[0] == name)


def test_model_follows_the_scenario(block: MlperfBlock) -> None:
    assert block.round.value == "v6.1"
    assert block.model.value == "llama-2-70b"
    assert "MI355X" in list_names(block)


def test_texts_of_fields_start_where_the_tables_do(block: MlperfBlock, page: PerformancePage) -> None:
    left = block.round.mapTo(page, QPoint(0, 0)).x() + page.theme.px(FIELD_SIDE)
    assert left == block.table.mapTo(page, QPoint(0, 0)).x() == page.theme.px(16)


def test_round_and_baseline_are_saved(
    block: MlperfBlock, desk: Desk, theme: Theme, settings: UserSettings, qtbot: QtBot
) -> None:
    block.round.chosen.emit("v6.0")
    block.baseline.chosen.emit("b200-hgx")
    assert get_cells(block, "MI355X") == ("12,935", "0.99", "12,535", "0.97", "9,201", "1.19")
    assert get_cells(block, "MI300X")[4:] == ("—", "—")
    assert "server: B200 SXM leads MI355X by 3.3%" in block.status_label.text()
    second_page = PerformancePage(desk, theme, settings)
    qtbot.addWidget(second_page)
    second_page.show()
    second_page.choose_view("mlperf")
    assert isinstance(second_page.view, MlperfView)
    second_page.refresh()
    assert (second_page.view.block.round.value, second_page.view.block.baseline.value) == ("v6.0", "b200-hgx")


def test_enter_shows_the_submissions_of_a_row(block: MlperfBlock) -> None:
    block.round.chosen.emit("v6.0")
    block.baseline.chosen.emit("b200-hgx")
    block.table.setFocus()
    model = block.table.model()
    block.table.setCurrentIndex(model.index(list_names(block).index("GB200 NVL72"), 1))
    QTest.keyClick(block.table, Qt.Key.Key_Return)
    rows = block.submissions.texts()
    assert [row[0] for row in rows] == ["Offline", "Server", "Interactive"]
    assert {row[3] for row in rows} == {"72"}
    assert all(row[4].startswith("NVIDIA, ") for row in rows)
    assert "interactive: GB200 NVL72 leads B200 SXM by 36.1%" in block.status_label.text()


def test_published_ratios_are_compared_with_results(block: MlperfBlock) -> None:
    rows = block.ratio_table.texts()
    assert len(rows) == 7
    assert ("v6.0: MI355X to B200 SXM, Llama 2 70B, interactive", "1.19", "1.19", "confirmed", "AMD") in [
        row[:5] for row in rows
    ]
    assert any(row[3] == "not confirmed" and row[1:3] == ("1.15", "0.94") for row in rows)


def test_citation_is_copied(block: MlperfBlock) -> None:
    QTest.mouseClick(block.copy_citation, Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text().startswith("MLPerf® v6.1 Inference Closed Llama 2 70B")
    assert block.copy_citation.text() == "Copied"


def test_all_results_are_copied(page: PerformancePage, block: MlperfBlock) -> None:
    page.copy()
    text = QGuiApplication.clipboard().text()
    assert text.startswith("MLPerf v6.1, Llama 2 70B\n")
    assert "MI355X\tOffline\tAMD\t8xMI355X_2xEPYC_9575F\t8\t106,517" in text


def test_missing_file_is_reported(
    page: PerformancePage, block: MlperfBlock, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def raise_missing() -> Path:
        raise paths.MissingFileError("/measurements is missing; restore it")

    desk.service.__dict__.pop("mlperf", None)
    with monkeypatch.context() as patch:
        replace_data_path(patch, "measurements", raise_missing)
        block.refresh()
    assert block.status_label.text() == "/measurements is missing; restore it"
    assert not block.table.isVisible()
    block.refresh()
    assert block.table.isVisible()


def test_view_has_no_verdict_on_estimates(page: PerformancePage, block: MlperfBlock) -> None:
    assert "leads" in block.status_label.text()
    assert not page.describe_verdict()
    page.choose_view("throughput")
    assert page.describe_verdict()


def test_no_line_is_reserved_for_a_verdict_on_estimates(page: PerformancePage) -> None:
    """The view has its own verdict; the reserved line once left a gap above it, and then jumped."""
    assert page.verdict.isHidden()
    assert page.verdict.terms.isHidden()
    page.choose_view("throughput")
    assert not page.verdict.isHidden()
