"""The track record in the panel: published figures near to the selected one, and what was said of them unseen."""

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
from tests.unit.desktop.ui.panel.reading import click, groups, lines, press, sections

THROUGHPUT = select_figure("b200-hgx", "output_tokens_per_s")


@pytest.mark.usefixtures("recorded")
def test_a_figure_comes_with_what_was_published_near_it(desk: Desk, panel: SourcesPanel) -> None:
    desk.select(THROUGHPUT)
    nearest = lines(panel, MeasuredRunLine)
    assert len(nearest) == 3
    assert all(" tok/s, estimated " in text and "(+10%, inside the 80% interval)" in text for text in nearest)
    titles = sections(panel)
    assert titles[0] == "Similar measured runs, predicted without them"
    assert titles[1].startswith("Limiting factor")
    desk.select(select_figure("b200-hgx", "request_s"))
    assert "Time per output token" in groups(panel)[0]
    assert all(" ms, estimated " in text for text in lines(panel, MeasuredRunLine))
    desk.select(select_figure("b200-hgx", "memory"))
    assert not lines(panel, MeasuredRunLine)
    assert not any(text.startswith("Similar measured runs") for text in sections(panel))


@pytest.mark.usefixtures("recorded")
def test_a_published_figure_unfolds_its_source_whose_address_is_copied(
    desk: Desk, panel: SourcesPanel, qtbot: QtBot
) -> None:
    desk.select(THROUGHPUT)
    index = panel.view.lines.find("record.0")
    click(qtbot, panel, index)
    assert panel.view.isExpanded(index)
    details = [str(panel.view.lines.index(row, 0, index).data()) for row in range(panel.view.lines.rowCount(index))]
    assert [text.partition(":")[0] for text in details if ":" in text][:4] == ["Hardware", "Model", "Load", "Software"]
    address = panel.view.lines.index(panel.view.lines.rowCount(index) - 1, 0, index)
    panel.view.setCurrentIndex(address)
    press(qtbot, panel, Qt.Key.Key_Return)
    assert QGuiApplication.clipboard().text().startswith("https://")
    panel.view.setCurrentIndex(index)
    panel.view.copy_current()
    assert "https://" in QGuiApplication.clipboard().text()


@pytest.mark.usefixtures("recorded")
def test_during_a_drag_the_record_stays(desk: Desk, panel: SourcesPanel) -> None:
    desk.select(THROUGHPUT)
    before = lines(panel, MeasuredRunLine)
    desk.begin_gesture("load")
    desk.apply(scenario_edits.replace_load_value(desk.scenario, 1), "Change load")
    desk.flush()
    assert lines(panel, MeasuredRunLine) == before
    desk.end_gesture()
    assert lines(panel, MeasuredRunLine) != before


def test_without_predictions_the_panel_says_that_nothing_is_known(
    desk: Desk, panel: SourcesPanel, service: GpuDeskService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths, "find_held_out_path", lambda: None)
    for name in ("measured_runs", "records"):
        service.__dict__.pop(name, None)
    desk.select(THROUGHPUT)
    assert not lines(panel, MeasuredRunLine)
    assert any(text.startswith("No similar measured runs") for text in lines(panel, NoteBlock))
