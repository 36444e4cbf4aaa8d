"""Help me choose: questions, search of the catalog, and the recommendation."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton, QWidget
from pytestqt.qtbot import QtBot

from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.window.dialogs.chooser import ChooserDialog, list_use_cases
from gpudesk.desktop.window.main_window import MainWindow
from gpudesk.domain.answer import MAX_ACCELERATORS, AcceleratorChoice, Scenario
from gpudesk.domain.decision import DecisionVerdict
from gpudesk.domain.fleet import FleetSettings, make_load_curve
from gpudesk.domain.precision import Precision
from gpudesk.domain.progress import run_to_end
from gpudesk.domain.sizing import Demand, DemandKind
from gpudesk.report.labels import format_load
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import Formatter
from gpudesk.text.translation import PSEUDO, set_language

LONG_MS = 60_000


@pytest.fixture
def dialog(window: MainWindow) -> ChooserDialog:
    (action,) = (spec for spec in window.list_window_actions() if spec.id == "file.choose")
    action.run()
    (chooser,) = window.findChildren(ChooserDialog)
    return chooser


def test_every_use_case_names_a_model_of_the_catalog(service: GpuDeskService) -> None:
    models = {model.id: model for model in service.catalog.models()}
    for case in list_use_cases():
        assert case.model in models
        assert case.input_tokens > 0
        assert case.output_tokens > 0


def test_tab_follows_the_questions(dialog: ChooserDialog) -> None:
    buttons = [each.findChildren(QPushButton)[0] for each in (dialog.load_kind, dialog.payment, dialog.platform)]
    limits = (dialog.ttft.edit, dialog.tpot.edit, dialog.budget.edit)
    order = [dialog.use_case, buttons[0], dialog.amount.edit, *limits, *buttons[1:]]
    reached: list[QWidget | None] = [dialog.use_case]
    while (last := reached[-1]) is not None and last is not dialog.search:
        reached.append(last.nextInFocusChain())
    assert [each for each in reached if each in order] == order


def test_answers_become_a_scenario(dialog: ChooserDialog) -> None:
    default_scenario = dialog.make_scenario()
    assert default_scenario.accelerators == ()
    assert default_scenario.decision.answers == {"ttft_limit_ms": 2000.0, "tpot_limit_ms": 50.0}
    peak = make_load_curve(FleetSettings()).peak_factor
    assert default_scenario.demand == Demand(DemandKind.USERS, 200, peak_factor=peak, ttft_ms=2000, tpot_ms=50)
    # 12 requests per user and hour, times the peak factor.
    assert default_scenario.workload.load.request_rate == pytest.approx(200 * 12 / 3600 * peak)
    dialog.tpot.set_value(0)
    dialog.choose_use_case("code")
    _, in_flight = dialog.load_kind.findChildren(QPushButton)
    QTest.mouseClick(in_flight, Qt.MouseButton.LeftButton)
    assert dialog.amount.isVisible()
    assert dialog.amount.value == 64
    dialog.amount.set_value(16)
    dialog.ttft.set_value(2000)
    dialog.payment.set_value("rent")
    dialog.platform.set_value("CUDA")
    scenario = dialog.make_scenario()
    assert (scenario.model, scenario.weights) == ("gpt-oss-120b", Precision.MXFP4)
    assert (scenario.workload.input_tokens, scenario.workload.load.concurrency) == (16_000, 16)
    assert scenario.demand is None
    assert scenario.decision.answers == {"ttft_limit_ms": 2000.0, "acquisition": "rent", "current_platform": "CUDA"}


def test_a_budget_limits_the_search_unless_everything_is_rented(dialog: ChooserDialog) -> None:
    """Eight H200 cost more than this budget: what is proposed to buy must not."""
    dialog.choose_use_case("assistant")
    undecided, buy, rent = dialog.payment.findChildren(QPushButton)
    QTest.mouseClick(buy, Qt.MouseButton.LeftButton)
    dialog.budget.set_value(15_000)
    scenario = dialog.make_scenario()
    assert scenario.decision.answers["budget_usd"] == 15_000.0
    service = dialog._desk.service
    shortlist = run_to_end(service.shortlist_in_steps(scenario))
    decision = service.decide(service.answer(shortlist))
    assert decision.recommended is not None
    spends = [
        part["spend_usd"] for each, part in zip(decision.candidates, decision.parts, strict=True) if each.eligible
    ]
    assert all(isinstance(usd, float) and usd <= 15_000.0 for usd in spends)
    QTest.mouseClick(rent, Qt.MouseButton.LeftButton)
    assert not dialog.budget.isVisible()
    assert "budget_usd" not in dialog.make_scenario().decision.answers
    QTest.mouseClick(undecided, Qt.MouseButton.LeftButton)
    assert dialog.budget.isVisible()


def test_use_case_suggests_limits_but_keeps_typed_ones(dialog: ChooserDialog) -> None:
    dialog.tpot.set_value(20)
    dialog.choose_use_case("documents")
    assert (dialog.ttft.value, dialog.tpot.value) == (10_000, 20)


def test_best_accelerators_open_with_a_recommendation(dialog: ChooserDialog, window: MainWindow, qtbot: QtBot) -> None:
    dialog.choose_use_case("assistant")
    dialog.payment.set_value("rent")
    with qtbot.waitSignal(dialog.found, timeout=LONG_MS) as signal:
        QTest.mouseClick(dialog.search, Qt.MouseButton.LeftButton)
        assert not dialog.search.isEnabled()
    scenario = signal.args[0]
    assert format_load(scenario.workload.load, Formatter()) == "1.3333 requests/s"
    # Compare and Decide cost the same load.
    service = window.desk.service
    answer = service.answer(scenario)
    cost_page, decision = service.costing.costs(answer), service.decider.get_decision_costs(answer)
    rented = [[each.rented.output.value for each in costs.columns if each.rented] for costs in (cost_page, decision)]
    assert rented[0] == pytest.approx(rented[1], rel=1e-9)
    assert isinstance(scenario, Scenario)
    assert 0 < len(scenario.accelerators) <= MAX_ACCELERATORS
    assert not any(each.isVisible() for each in window.findChildren(ChooserDialog))


def test_recommendation_opens_as_a_new_document(window: MainWindow, qtbot: QtBot) -> None:
    former_scenario = window.desk.scenario
    recommendation = Scenario(
        "Chosen",
        former_scenario.model,
        former_scenario.weights,
        former_scenario.workload,
        (AcceleratorChoice("h200-sxm", 1),),
    )
    windows = len(window.program.windows)
    window.open_recommendation(recommendation)
    opened = window if window.document.title.startswith("Chosen") else window.program.windows[-1]
    assert opened.desk.scenario.name == "Chosen"
    assert opened.is_page("decide")
    assert len(window.program.windows) >= windows


def test_nearest_accelerators_open_when_none_meets_the_limits(
    dialog: ChooserDialog, window: MainWindow, qtbot: QtBot
) -> None:
    dialog.choose_use_case("frontier")
    dialog.tpot.set_value(1)
    with qtbot.waitSignal(dialog.found, timeout=LONG_MS) as signal:
        QTest.mouseClick(dialog.search, Qt.MouseButton.LeftButton)
    assert len(signal.args[0].accelerators) == MAX_ACCELERATORS
    service = window.desk.service
    assert service.decide(service.answer(signal.args[0])).verdict is DecisionVerdict.NONE_FITS


def test_closing_cancels_the_search(dialog: ChooserDialog, qtbot: QtBot) -> None:
    QTest.mouseClick(dialog.search, Qt.MouseButton.LeftButton)
    assert dialog.busy
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not dialog.isVisible())
    assert not dialog.busy


def test_choices_are_not_clipped_in_a_longer_language(window: MainWindow, theme: Theme, qtbot: QtBot) -> None:
    set_language(PSEUDO)
    dialog = ChooserDialog(window.desk, theme, window)
    dialog.show()
    qtbot.waitExposed(dialog)
    buttons = [each for each in dialog.findChildren(QPushButton) if each.isVisible()]
    assert len(buttons) > 8
    assert [each.text() for each in buttons if each.width() < each.sizeHint().width()] == []


def test_rows_are_whole_in_large_text(window: MainWindow, theme: Theme, qtbot: QtBot) -> None:
    theme.set_font_percent(150)
    dialog = ChooserDialog(window.desk, theme, window)
    dialog.show()
    qtbot.waitExposed(dialog)
    controls = (dialog.load_kind, dialog.payment, dialog.platform)
    assert all(each.height() >= each.sizeHint().height() for each in controls)
