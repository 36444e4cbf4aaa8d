"""The menu of an accelerator chip: every plan in it survives saving."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget
from pytestqt.qtbot import QtBot

from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.window.accelerator_chips import make_chip_menu
from gpudesk.documents.scenario_file import read_template
from gpudesk.domain.answer import AcceleratorChoice
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import ENGLISH_NUMBERS, Formatter


@pytest.fixture
def desk(service: GpuDeskService) -> Desk:
    desk = Desk(service, Formatter(ENGLISH_NUMBERS))
    template = read_template("mi325x-or-h200-70b")
    desk.open(replace(template, accelerators=(AcceleratorChoice("h200-sxm", 8),)))
    return desk


def list_plan_actions(desk: Desk, theme: Theme, parent: QWidget) -> list[QAction]:
    menu = make_chip_menu(desk, theme, 0, "H200", parent)
    submenu = next(action.menu() for action in menu.actions() if action.text() == "Parallel plan")
    assert isinstance(submenu, QMenu)
    return [action for action in submenu.actions() if action.isEnabled() and not action.isSeparator()]


def test_every_pair_of_plans_survives_saving(desk: Desk, theme: Theme, qtbot: QtBot, tmp_path: Path) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    path = tmp_path / "plan.gpudesk"
    start = desk.scenario
    for first in range(len(list_plan_actions(desk, theme, parent))):
        desk.open(start)
        list_plan_actions(desk, theme, parent)[first].trigger()
        after_first = desk.scenario
        for second in range(len(list_plan_actions(desk, theme, parent))):
            desk.open(after_first)
            list_plan_actions(desk, theme, parent)[second].trigger()
            desk.service.save_scenario(desk.scenario, path)
            assert desk.service.read_scenario(path).accelerators == desk.scenario.accelerators


def test_expert_parallelism_follows_the_plan(desk: Desk, theme: Theme, qtbot: QtBot) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    texts = [action.text() for action in list_plan_actions(desk, theme, parent)]
    assert "Expert parallel 8" in texts
    next(each for each in list_plan_actions(desk, theme, parent) if each.text() == "TP 2 × PP 2 × DP 2").trigger()
    texts = [action.text() for action in list_plan_actions(desk, theme, parent)]
    assert "Expert parallel 4" in texts
    assert "Expert parallel 8" not in texts
