"""The sheet takes what the desk has decided and costed."""

from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

from gpudesk.costing.scenario_costs import CostCalculator
from gpudesk.decision.outcome.decision import Decider
from gpudesk.desktop.window.main_window import MainWindow
from gpudesk.desktop.window.sheet_preview import SheetPreview, show_preview


def test_printing_decides_nothing_again(window: MainWindow, tmp_path: Path) -> None:
    desk = window.desk
    desk.edit("Answer", decision=replace(desk.scenario.decision, answers={"priority": "cost"}))
    desk.flush()
    evaluated = desk.evaluated
    assert evaluated is not None
    assert evaluated.decision.recommended is not None
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


def test_the_sheet_is_titled_by_what_it_compares(window: MainWindow) -> None:
    window.desk.edit("Change model", model="llama-3.1-405b")
    show_preview(window)
    preview = window.findChild(SheetPreview)
    assert isinstance(preview, SheetPreview)
    assert preview.sheet.title.endswith("for Llama 3.1 405B")
    assert preview.sheet.note == ""
    assert window.desk.scenario.name == "Llama 3.1 70B chat, four accelerators compared"
    preview.close()
