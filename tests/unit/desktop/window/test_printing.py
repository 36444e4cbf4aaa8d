"""The sheet uses the decision and costs that the desk has already computed."""

import threading
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

from pytestqt.qtbot import QtBot

from gpudesk.costing.scenario_costs import CostCalculator
from gpudesk.decision.outcome.decision import Decider
from gpudesk.desktop.window.main_window import MainWindow
from gpudesk.desktop.window.sheet_preview import SheetPreview, show_preview
from gpudesk.domain.answer import Answer
from gpudesk.domain.decision import WayOut, WayOutKind
from gpudesk.domain.progress import JobProgress
from gpudesk.text.messages import message


def test_printing_reuses_decision_and_costs(window: MainWindow, tmp_path: Path) -> None:
    desk = window.desk
    desk.edit("Answer", decision=replace(desk.scenario.decision, answers={"priority": "cost"}))
    desk.flush()
    evaluated = desk.evaluated
    assert evaluated is not None
    assert evaluated.decision.recommended is not None
    assert evaluated.costs.columns
    assert evaluated.full_costs.columns
    with (
        patch.object(Decider, "decide", autospec=True, side_effect=Decider.decide) as decide,
        patch.object(CostCalculator, "costs", autospec=True, side_effect=CostCalculator.costs) as costs,
    ):
        show_preview(window)
        preview = window.findChild(SheetPreview)
        assert isinstance(preview, SheetPreview)
        assert preview.save_to(tmp_path / "sheet.pdf")
        preview.close()
    assert (tmp_path / "sheet.pdf").read_bytes().startswith(b"%PDF")
    assert decide.call_count == 0
    assert costs.call_count == 0


def test_sheet_waits_for_alternatives_without_blocking_the_window(window: MainWindow, qtbot: QtBot) -> None:
    window.desk.edit("Answer", decision=replace(window.desk.scenario.decision, answers={"ttft_limit_ms": 1.0}))
    with patch("gpudesk.decision.outcome.ways_out.search_ways_out", autospec=True) as search:
        search.side_effect = _find_one_way
        show_preview(window)
        assert window.findChild(SheetPreview) is None, "the search runs as a job"
        qtbot.waitUntil(lambda: window.findChild(SheetPreview) is not None, timeout=10_000)
    preview = window.findChild(SheetPreview)
    assert isinstance(preview, SheetPreview)
    assert preview.sheet.recommendation is not None
    assert preview.sheet.recommendation.reason.startswith("Alternatives: 1 × H200 SXM")
    preview.close()


def _find_one_way(
    _service: object, answer: Answer, *_others: object
) -> Generator[JobProgress, None, tuple[WayOut, ...]]:
    assert threading.current_thread() is not threading.main_thread()
    yield JobProgress(message("decide.ways_out", "Searching for alternatives"))
    estimate = answer.columns[0].estimate
    assert estimate is not None
    return (WayOut(WayOutKind.COUNT, "H200 SXM", estimate),)


def test_sheet_title_names_the_current_model(window: MainWindow) -> None:
    window.desk.edit("Change model", model="llama-3.1-405b")
    show_preview(window)
    preview = window.findChild(SheetPreview)
    assert isinstance(preview, SheetPreview)
    assert preview.sheet.title == "Llama 3.1 405B on 4 accelerators"
    assert preview.sheet.note == ""
    assert window.desk.scenario.name == "Llama 3.1 70B chat, four accelerators compared"
    preview.close()
