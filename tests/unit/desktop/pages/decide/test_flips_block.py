"""Changes that flip the decision: searched in the background, listed, applied by a click as one undo step."""

from copy import copy

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gpudesk.desktop.pages.decide.flips import FlipsBlock, apply_flip
from gpudesk.desktop.pages.decide.result_view import ResultView
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.domain.cost import UncertainValue
from gpudesk.domain.decision import COUNTED_IN_USE, COUNTED_WHOLE, SYSTEMS_COUNTED, DecisionFlip, DecisionVerdict
from tests.unit.desktop.pages.decide.view_helpers import get_evaluated, set_answers, show_view

LONG_MS = 20_000


@pytest.fixture
def block(desk: Desk, theme: Theme, qtbot: QtBot) -> FlipsBlock:
    """Return the changes on a site where no accelerator fits: the search is fast, since few changes help."""
    set_answers(desk, site="pcie")
    flips_block = show_view(ResultView(desk, theme), desk, qtbot).flips
    qtbot.waitUntil(lambda: flips_block.flips is not None, timeout=LONG_MS)
    return flips_block


def is_busy(block: FlipsBlock) -> bool:
    return block.busy


def test_changes_are_listed(block: FlipsBlock, desk: Desk) -> None:
    assert block.flips is not None
    assert block.flips == desk.service.flips(get_evaluated(desk).answer)
    box = block.boxes[0]
    assert block.flips[0].input == "site"
    assert box.change_text.after(desk.scenario) == apply_flip(desk.scenario, block.flips[0])
    assert box.accessibleName() == box.change_text.sentence
    assert "now PCIe slots" in box.change_text.sentence
    assert box.accessibleDescription() == "Applies this change. You can undo it."
    assert not is_busy(block)


def test_click_applies_the_change_as_one_step(block: FlipsBlock, desk: Desk, qtbot: QtBot) -> None:
    steps = desk.undo_stack.count()
    assert block.flips is not None
    after = block.flips[0].after
    QTest.mouseClick(block.boxes[0], Qt.MouseButton.LeftButton)
    desk.flush()
    assert desk.undo_stack.count() == steps + 1
    assert desk.scenario.decision.answers == {"site": after}
    assert get_evaluated(desk).decision.verdict is not DecisionVerdict.NONE_FITS
    assert is_busy(block)
    assert not any(each.isEnabled() for each in block.boxes)
    desk.undo_stack.undo()
    assert desk.scenario.decision.answers == {"site": "pcie"}


def test_enter_applies_the_change(block: FlipsBlock, desk: Desk) -> None:
    block.boxes[0].setFocus()
    QTest.keyClick(block.boxes[0], Qt.Key.Key_Return)
    assert desk.scenario.decision.answers != {"site": "pcie"}


def test_no_search_during_a_drag(block: FlipsBlock, desk: Desk, qtbot: QtBot) -> None:
    desk.begin_gesture("load")
    set_answers(desk, site="rack")
    assert not is_busy(block)
    assert block.flips is None
    desk.end_gesture()
    assert is_busy(block)


def test_no_search_while_hidden(block: FlipsBlock, desk: Desk, qtbot: QtBot) -> None:
    set_answers(desk, site="rack")
    assert is_busy(block)
    block.window().hide()
    assert not is_busy(block)
    block.window().show()
    assert is_busy(block)


def test_more_than_three_changes_are_folded(block: FlipsBlock, qtbot: QtBot) -> None:
    flips = tuple(
        DecisionFlip("priority", "balanced", after, ("b200-hgx",), DecisionVerdict.OPEN)
        for after in ("cost", "speed", "users", "certainty")
    )
    block._done(block._searching_for, flips)  # type: ignore[arg-type]
    assert len(block.boxes) == 3
    assert block.more.text() == "Show all (4)"
    QTest.mouseClick(block.more, Qt.MouseButton.LeftButton)
    assert len(block.boxes) == 4
    assert block.more.text() == "Show fewer"
    assert all(box.isVisible() for box in block.boxes)


def test_absence_of_changes_is_reported(block: FlipsBlock) -> None:
    block._done(block._searching_for, ())  # type: ignore[arg-type]
    assert block.boxes == []
    assert block.status_label.text() == "changing one answer or price does not help"


def test_result_for_a_former_answer_is_dropped(block: FlipsBlock, desk: Desk) -> None:
    before, question = block.flips, block._searching_for
    assert question is not None
    block._done(copy(question), ())
    assert block.flips == before


def test_price_change_edits_the_costs(desk: Desk) -> None:
    flip = DecisionFlip("mi325x.rent_usd_per_hour", 1.95, 3.14, ("b200-hgx",), DecisionVerdict.WINNER)
    changed = apply_flip(desk.scenario, flip)
    assert changed.costs.parts["mi325x"]["rent_usd_per_hour"] == UncertainValue.exactly(3.14)
    assert changed.decision == desk.scenario.decision


def test_change_of_system_counting_edits_the_costs(desk: Desk) -> None:
    singly = desk.scenario.costs.single_accelerators
    after = COUNTED_WHOLE if singly else COUNTED_IN_USE
    flip = DecisionFlip(SYSTEMS_COUNTED, None, after, ("b200-hgx",), DecisionVerdict.WINNER)
    assert apply_flip(desk.scenario, flip).costs.single_accelerators is not singly
