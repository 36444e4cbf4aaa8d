"""Announced parts are ranked where the user chose so, in every window, and next time too."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject
from pytestqt.qtbot import QtBot

from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.ranking import Ranking
from gpudesk.desktop.session.settings import Settings
from gpudesk.domain.comparison import leaders
from gpudesk.domain.formatting import ENGLISH, Formatter
from gpudesk.domain.scenarios import AcceleratorChoice
from gpudesk.workbench.workbench import Workbench

THROUGHPUT = "output_tokens_per_s"


def test_the_choice_holds_for_all_desks_and_is_kept(
    workbench: Workbench, desk: Desk, tmp_path: Path, qtbot: QtBot
) -> None:
    owner = QObject()
    settings = Settings(tmp_path / "settings.json")
    other = Desk(workbench, Formatter(ENGLISH))
    parts = tuple(AcceleratorChoice(part) for part in ("h200-sxm", "mi325x", "mi455x"))
    desk.edit("Parts", accelerators=parts)
    desk.flush()
    other.open(desk.scenario)
    first, second = Ranking(desk, settings, owner), Ranking(other, settings, owner)
    assert desk.answer is not None
    assert desk.answer.unranked == (2,)
    assert 2 not in leaders(desk.answer, THROUGHPUT)
    first.toggle()
    assert second.announced
    for each in (desk, other):
        assert each.answer is not None
        assert each.answer.unranked == ()
        assert leaders(each.answer, THROUGHPUT) == (2,)
    settings.write()
    assert Ranking(desk, Settings(tmp_path / "settings.json"), owner).announced
    first.toggle()
    assert desk.answer.unranked == (2,)
    workbench.rank_announced = False
