"""Similar measured runs in the panel, with predictions that did not use them."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from gpudesk import paths
from gpudesk.desktop.session import scenario_edits
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.selection import select_figure
from gpudesk.desktop.ui.panel.blocks import NoteBlock
from gpudesk.desktop.window.sources_panel import SourcesPanel
from gpudesk.report.explanation.parts import MeasuredRunLine
from gpudesk.service import GpuDeskService
from tests.unit.desktop.ui.panel.panel_helpers import click_row, list_groups, list_sections, list_sentences, press_keys

THROUGHPUT = select_figure("b200-hgx", "output_tokens_per_s")


@pytest.mark.usefixtures("held_out_predictions")
def test_figure_has_similar_measured_runs(desk: Desk, panel: SourcesPanel) -> None:
    desk.select(THROUGHPUT)
    nearest = list_sentences(panel, MeasuredRunLine)
    assert len(nearest) == 3
    assert all(" tok/s, estimated " in text and "(+10%, inside the 80% interval)" in text for text in nearest)
    titles = list_sections(panel)
    assert titles[0] == "Similar measured runs, predicted without them"
    assert titles[1].startswith("Limiting factor")
    desk.select(select_figure("b200-hgx", "request_s"))
    assert "Time per output token" in list_groups(panel)[0]
    assert all(" ms, estimated " in text for text in list_sentences(panel, MeasuredRunLine))
    desk.select(select_figure("b200-hgx", "memory"))
    assert not list_sentences(panel, MeasuredRunLine)
    assert not any(text.startswith("Similar measured runs") for text in list_sections(panel))


@pytest.mark.usefixtures("held_out_predictions")
def test_measured_run_expands_to_its_source(desk: Desk, panel: SourcesPanel, qtbot: QtBot) -> None:
    desk.select(THROUGHPUT)
    index = panel.view.lines.find("record.0")
    click_row(qtbot, panel, index)
    assert panel.view.isExpanded(index)
    details = [str(panel.view.lines.index(row, 0, index).data()) for row in range(panel.view.lines.rowCount(index))]
    assert [text.partition(":")[0] for text in details if ":" in text][:4] == ["Hardware", "Model", "Load", "Software"]
    address = panel.view.lines.index(panel.view.lines.rowCount(index) - 1, 0, index)
    panel.view.setCurrentIndex(address)
    press_keys(qtbot, panel, Qt.Key.Key_Return)
    assert QGuiApplication.clipboard().text().startswith("https://")
    panel.view.setCurrentIndex(index)
    panel.view.copy_current()
    assert "https://" in QGuiApplication.clipboard().text()


@pytest.mark.usefixtures("held_out_predictions")
def test_measured_runs_are_unchanged_during_a_drag(desk: Desk, panel: SourcesPanel) -> None:
    desk.select(THROUGHPUT)
    before = list_sentences(panel, MeasuredRunLine)
    desk.begin_gesture("load")
    desk.apply(scenario_edits.replace_load_value(desk.scenario, 1), "Change load")
    desk.flush()
    assert list_sentences(panel, MeasuredRunLine) == before
    desk.end_gesture()
    assert list_sentences(panel, MeasuredRunLine) != before


def test_missing_predictions_are_reported(
    desk: Desk, panel: SourcesPanel, service: GpuDeskService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths, "find_held_out_path", lambda: None)
    for name in ("measured_runs", "records"):
        service.__dict__.pop(name, None)
    desk.select(THROUGHPUT)
    assert not list_sentences(panel, MeasuredRunLine)
    assert any(text.startswith("No similar measured runs") for text in list_sentences(panel, NoteBlock))
