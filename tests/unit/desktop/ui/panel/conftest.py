"""Fixtures for tests of the panel: a panel on a desk, and predictions of all measured runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from gpudesk import paths
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.settings import UserSettings
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.window.sources_panel import SourcesPanel
from gpudesk.estimation.published_runs import HeldOutFigure, write_held_out
from gpudesk.evidence.measured_runs import read_measured_runs
from gpudesk.service import GpuDeskService


@pytest.fixture
def panel(desk: Desk, theme: Theme, tmp_path: Path, qtbot: QtBot) -> SourcesPanel:
    sources_panel = SourcesPanel(desk, theme, UserSettings(tmp_path / "settings.json"))
    qtbot.addWidget(sources_panel)
    sources_panel.resize(312, 900)
    sources_panel.show()
    qtbot.waitExposed(sources_panel)
    return sources_panel


@pytest.fixture(scope="session")
def predictions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file with a prediction of every measured run, 10% above the measurement."""
    file = tmp_path_factory.mktemp("predictions") / "held-out.csv"
    runs = read_measured_runs(paths.get_data_path("measurements")).used
    write_held_out(
        file,
        (
            HeldOutFigure(run.id, name, "series", value, value * 1.1)
            for run in runs
            for name, value in run.figures.items()
        ),
    )
    return file


@pytest.fixture
def held_out_predictions(service: GpuDeskService, monkeypatch: pytest.MonkeyPatch, predictions: Path) -> None:
    """Let the service use these predictions."""
    monkeypatch.setattr(paths, "find_held_out_path", lambda: predictions)
    for name in ("measured_runs", "records"):
        service.__dict__.pop(name, None)
