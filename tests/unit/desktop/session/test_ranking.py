"""The choice to rank announced accelerators applies to every window and is saved."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gpudesk.desktop.pages.catalog.page import CatalogPage
from gpudesk.desktop.session.desk import AnnouncedRanking, Desk
from gpudesk.desktop.session.settings import UserSettings
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.domain.answer import AcceleratorChoice, find_leaders
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import ENGLISH_NUMBERS, Formatter

THROUGHPUT = "output_tokens_per_s"


def test_choice_applies_to_every_desk_and_is_saved(
    service: GpuDeskService, desk: Desk, tmp_path: Path, qtbot: QtBot
) -> None:
    owner = QObject()
    settings = UserSettings(tmp_path / "settings.json")
    other = Desk(service, Formatter(ENGLISH_NUMBERS))
    choices = tuple(AcceleratorChoice(accelerator) for accelerator in ("h200-sxm", "mi325x", "mi455x"))
    desk.edit("Parts", accelerators=choices)
    desk.flush()
    other.open(desk.scenario)
    first, second = AnnouncedRanking(desk, settings, owner), AnnouncedRanking(other, settings, owner)
    assert desk.answer is not None
    assert desk.answer.unranked == (2,)
    assert 2 not in find_leaders(desk.answer, THROUGHPUT)
    first.toggle()
    assert second.announced
    for each in (desk, other):
        assert each.answer is not None
        assert each.answer.unranked == ()
        assert find_leaders(each.answer, THROUGHPUT) == (2,)
    settings.write()
    assert AnnouncedRanking(desk, UserSettings(tmp_path / "settings.json"), owner).announced
    first.toggle()
    assert desk.answer.unranked == (2,)
    service.rank_announced = False


def get_unranked(desk: Desk) -> tuple[int, ...]:
    assert desk.answer is not None
    return desk.answer.unranked


def test_catalog_and_comparison_share_the_choice(
    desk: Desk, theme: Theme, settings: UserSettings, qtbot: QtBot
) -> None:
    desk.edit("Parts", accelerators=(AcceleratorChoice("h200-sxm"), AcceleratorChoice("mi455x")))
    desk.flush()
    assert get_unranked(desk) == (1,)
    page = CatalogPage(desk, theme, settings)
    qtbot.addWidget(page)
    page.show()
    ranking = AnnouncedRanking(desk, settings, page)
    page.sort_by(page.model.table.place("memory_bandwidth"))
    QTest.mouseClick(page.filter.pills["rank"], Qt.MouseButton.LeftButton)
    assert ranking.announced
    assert get_unranked(desk) == ()
    ranking.toggle()
    assert not page.includes_announced_in_ranking
    assert page.model.rule > 0
    assert get_unranked(desk) == (1,)
