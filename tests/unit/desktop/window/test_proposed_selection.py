"""Each page proposes the figure behind its verdict to the panel, until the user selects one."""

from dataclasses import replace

import pytest
from pytestqt.qtbot import QtBot

from gpudesk.desktop.pages.page import MultiViewPage
from gpudesk.desktop.session.scenario_edits import replace_load_value
from gpudesk.desktop.session.selection import (
    Selection,
    select_catalog_attribute,
    select_cost,
    select_figure,
    select_fleet_figure,
)
from gpudesk.desktop.window.main_window import MainWindow
from gpudesk.desktop.window.sources_panel import SourcesPanel
from gpudesk.desktop.window.start_page import FirstHints
from gpudesk.domain.fleet import FleetSettings
from gpudesk.domain.sizing import Demand, DemandKind

THROUGHPUT = select_figure("b200-hgx", "output_tokens_per_s")


def open_view(window: MainWindow, page: str, view: str, qtbot: QtBot) -> None:
    window.show_page(page)
    assert isinstance(window.page, MultiViewPage)
    window.page.choose_view(view)
    # The proposal follows the paint.
    qtbot.wait(20)


@pytest.mark.parametrize(
    ("page", "view", "selection"),
    [
        ("performance", "overview", THROUGHPUT),
        ("performance", "latency", select_figure("b200-hgx", "ttft_ms")),
        ("performance", "mlperf", None),
        ("memory", "fit", select_figure("h200-sxm", "memory")),
        ("memory", "matrix", None),
        ("cost", "overview", select_cost("mi325x", "usd_owned")),
        ("cost", "assumptions", None),
        ("decide", "result", select_cost("mi325x", "usd_owned")),
        ("decide", "questions", None),
    ],
)
def test_page_proposes_figure_of_its_verdict(
    window: MainWindow, page: str, view: str, selection: Selection | None, qtbot: QtBot
) -> None:
    open_view(window, page, view, qtbot)
    assert window.desk.selection == selection


def test_compare_proposes_its_first_figure_without_the_focus(window: MainWindow, qtbot: QtBot) -> None:
    window.scenario.setFocus()
    window.desk.open(window.desk.scenario)
    qtbot.waitUntil(lambda: window.desk.selection == select_figure("h200-sxm", "output_tokens_per_s"))
    assert window.desk.is_selection_proposed


def test_profile_and_fleet_select_a_figure(window: MainWindow, qtbot: QtBot) -> None:
    window.desk.edit("", demand=Demand(DemandKind.USERS, 2000.0), fleet=FleetSettings())
    window.desk.flush()
    window.show_page("profile")
    qtbot.waitUntil(lambda: window.desk.selection == select_catalog_attribute("h200-sxm", "memory_bandwidth"))
    window.show_page("fleet")
    qtbot.waitUntil(lambda: window.desk.selection == select_fleet_figure("b200-hgx", "fleet_systems"))


def test_proposal_follows_the_view_and_the_answer(window: MainWindow, qtbot: QtBot) -> None:
    open_view(window, "performance", "latency", qtbot)
    open_view(window, "performance", "overview", qtbot)
    assert window.desk.selection == THROUGHPUT
    window.desk.apply(replace(window.desk.scenario, accelerators=window.desk.scenario.accelerators[:2]), "")
    qtbot.waitUntil(lambda: window.desk.selection == select_figure("mi325x", "output_tokens_per_s"))


def test_selection_of_the_user_stays(window: MainWindow, qtbot: QtBot) -> None:
    open_view(window, "performance", "overview", qtbot)
    chosen = select_figure("h200-sxm", "output_tokens_per_s")
    window.desk.select(chosen)
    window.desk.apply(replace_load_value(window.desk.scenario, 32), "")
    open_view(window, "cost", "overview", qtbot)
    open_view(window, "performance", "latency", qtbot)
    assert window.desk.selection == chosen


def test_proposal_does_not_complete_the_hint(window: MainWindow, qtbot: QtBot) -> None:
    window.settings.put("hints.seen", ["load"])
    hints = FirstHints(window)
    hints.show_next()
    open_view(window, "performance", "overview", qtbot)
    assert window.desk.selection == THROUGHPUT
    assert hints.seen_hints == ["load"]


def test_panel_follows_a_drag_and_is_whole_after_it(window: MainWindow, qtbot: QtBot) -> None:
    open_view(window, "performance", "overview", qtbot)
    panel = window.body.panel
    assert isinstance(panel, SourcesPanel)
    before = panel.view.accessibleDescription()
    window.desk.begin_gesture("load")
    window.desk.apply(replace_load_value(window.desk.scenario, 32), "Load")
    qtbot.waitUntil(lambda: panel.view.accessibleDescription() != before)
    window.desk.end_gesture()
    qtbot.waitUntil(lambda: panel.explanation is not None and panel.explanation.working is not None)
