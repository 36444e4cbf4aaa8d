"""What pages with several views share: what is made when, what is remembered, and what needs an answer."""

from collections.abc import Sequence

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from gpudesk.desktop.pages.page import MultiViewPage, PageView, PageViewSpec, VerdictLine
from gpudesk.desktop.session import scenario_edits
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.settings import UserSettings
from gpudesk.desktop.ui.theme.theme import DARK, Theme
from gpudesk.desktop.ui.widgets.buttons import Button
from gpudesk.desktop.ui.widgets.layouts import FullWidthScrollArea


class Sheet(PageView):
    """A view with one control, which counts how often it was shown again."""

    def __init__(self, desk: Desk, theme: Theme) -> None:
        super().__init__()
        self.desk = desk
        self.shown = 0
        self.button = Button(theme, "Do")
        QVBoxLayout(self).addWidget(self.button)


class SamplePage(MultiViewPage[Sheet]):
    """Three views, of which the last neither scrolls nor needs an answer."""

    page_id = "sample"
    menu_section = 7

    def title(self) -> str:
        return "Sample"

    def view_specs(self) -> Sequence[PageViewSpec[Sheet]]:
        return (
            PageViewSpec("first", "First", Sheet),
            PageViewSpec("second", "Second", Sheet),
            PageViewSpec("free", "Free", Sheet),
        )

    def make_scroll_area(self, view: Sheet) -> FullWidthScrollArea | None:
        return None if self.view_key == "free" else super().make_scroll_area(view)

    def needs_answer(self) -> bool:
        return self.view_key != "free"

    def show_view(self) -> None:
        self.view.shown += 1


@pytest.fixture
def page(desk: Desk, theme: Theme, settings: UserSettings, qtbot: QtBot) -> SamplePage:
    made = SamplePage(desk, theme, settings)
    qtbot.addWidget(made)
    made.resize(700, 400)
    return made


def show(page: SamplePage, qtbot: QtBot) -> None:
    with qtbot.waitExposed(page):
        page.show()
    page.activateWindow()


def test_a_view_is_made_when_it_is_first_shown(page: SamplePage, qtbot: QtBot) -> None:
    assert page.views == {}
    show(page, qtbot)
    assert list(page.views) == ["first"]
    page.choose_view("second")
    first, second = page.views.values()
    assert second.isVisible()
    assert not first.isVisible()
    page.choose_view("first")
    assert page.view is first
    assert (first.shown, second.shown) == (2, 1)


class GrowingPage(SamplePage):
    """Each answer makes its views higher."""

    def show_view(self) -> None:
        super().show_view()
        self.view.button.setFixedHeight(400 * self.view.shown)


def test_content_has_its_height_before_it_is_painted(
    desk: Desk, theme: Theme, settings: UserSettings, qtbot: QtBot
) -> None:
    page = GrowingPage(desk, theme, settings)
    qtbot.addWidget(page)
    show(page, qtbot)
    page.choose_view("first")
    assert page.view.height() > 800


def test_the_page_begins_with_the_view_that_was_chosen_last(
    page: SamplePage, desk: Desk, theme: Theme, settings: UserSettings
) -> None:
    assert page.head.segment.value == "first"
    page.choose_view("second")
    assert settings.get("sample.view", "") == "second"
    assert SamplePage(desk, theme, settings).head.segment.value == "second"
    settings.put("sample.view", "gone")
    assert SamplePage(desk, theme, settings).head.segment.value == "first"


def test_a_view_chosen_out_of_sight_is_shown_with_the_page(page: SamplePage, qtbot: QtBot) -> None:
    show(page, qtbot)
    page.hide()
    page.choose_view("second")
    assert list(page.views) == ["first"]
    page.show()
    assert page.view.isVisible()
    assert page.view.shown == 1


def test_views_scroll_unless_the_page_frames_them_otherwise(page: SamplePage, qtbot: QtBot) -> None:
    show(page, qtbot)
    areas = page.findChildren(FullWidthScrollArea)
    assert [area.widget() for area in areas] == [page.view]
    page.choose_view("free")
    assert page.view.isVisible()
    assert page.findChildren(FullWidthScrollArea) == areas


def test_a_view_that_needs_no_answer_is_shown_without(page: SamplePage, desk: Desk, qtbot: QtBot) -> None:
    show(page, qtbot)
    desk.open(scenario_edits.make_empty_scenario())
    assert not page.body.usable
    assert not page.head.copy.isEnabled()
    page.choose_view("free")
    assert page.view.isVisible()
    assert page.head.copy.isEnabled()
    page.choose_view("second")
    assert page.body.missing.isVisible()
    assert page.view.shown == 0


def test_the_focus_goes_with_the_view(page: SamplePage, qtbot: QtBot) -> None:
    show(page, qtbot)
    page.view.button.setFocus()
    page.choose_view("second")
    assert page.focusWidget() is page.view.button


def test_every_view_is_an_action(page: SamplePage) -> None:
    actions = {action.id: action for action in page.list_page_actions()}
    assert list(actions) == ["sample.first", "sample.second", "sample.free"]
    assert {(action.section, action.group) for action in actions.values()} == {(7, "Sample")}
    actions["sample.second"].run()
    assert page.head.segment.value == "second"


@pytest.mark.parametrize("key", ["first", "free"])
def test_a_copied_view_has_the_ground_of_the_page(page: SamplePage, theme: Theme, qtbot: QtBot, key: str) -> None:
    show(page, qtbot)
    page.choose_view(key)
    for preference in (theme.preference, DARK):
        theme.set_preference(preference)
        QApplication.processEvents()
        assert page.view.grab().toImage().pixelColor(1, 1) == theme.color("page")


def test_the_page_is_named_and_views_are_reached_by_keys(page: SamplePage, qtbot: QtBot) -> None:
    show(page, qtbot)
    assert page.accessibleName() == "Sample"
    segment = page.head.segment
    first = segment.findChildren(QPushButton)[0]
    first.setFocus()
    QTest.keyClick(first, Qt.Key.Key_Right)
    assert list(page.views) == ["first", "second"]


class VerdictPage(SamplePage):
    """A page with a verdict of one line."""

    has_verdict = True

    def describe_verdict(self) -> str:
        return "B200 makes the most tokens per second."


def test_a_line_is_kept_free_for_the_verdict(desk: Desk, theme: Theme, settings: UserSettings, qtbot: QtBot) -> None:
    page = VerdictPage(desk, theme, settings)
    qtbot.addWidget(page)
    page.resize(900, 600)
    with qtbot.waitExposed(page):
        page.show()
        # Its verdict waits until the page has its height.
        page.verdict._timer.stop()
    qtbot.waitUntil(lambda: page.view.height() > 0)
    page.verdict._timer.stop()
    assert page.verdict.text() == ""
    assert page.verdict.isVisible()
    place = page.view.mapTo(page, QPoint(0, 0))
    page.verdict.due.emit()
    QApplication.sendPostedEvents()
    assert page.verdict.text()
    assert page.view.mapTo(page, QPoint(0, 0)) == place


def test_a_page_without_a_verdict_keeps_no_line_free(page: SamplePage, qtbot: QtBot) -> None:
    assert not page.verdict.isVisible()


def test_the_verdict_is_reached_by_tab_and_keeps_the_focus(
    desk: Desk, theme: Theme, settings: UserSettings, qtbot: QtBot
) -> None:
    page = VerdictPage(desk, theme, settings)
    qtbot.addWidget(page)
    page.show()
    page.activateWindow()
    qtbot.waitUntil(lambda: page.isActiveWindow() and bool(page.verdict.text()))
    page.head.segment.setFocus(Qt.FocusReason.TabFocusReason)
    met = []
    for _ in range(8):
        QTest.keyClick(QApplication.focusWidget() or page, Qt.Key.Key_Tab)
        met.append(QApplication.focusWidget())
    assert page.verdict in met
    assert page.verdict.accessibleName() == "B200 makes the most tokens per second."
    page.verdict.setFocus(Qt.FocusReason.TabFocusReason)
    desk.apply(scenario_edits.replace_load_value(desk.scenario, 4), "load")
    desk.flush()
    assert QApplication.focusWidget() is page.verdict


def test_a_dropped_view_is_made_again_when_it_is_shown(page: SamplePage, qtbot: QtBot) -> None:
    show(page, qtbot)
    first = page.view
    page.choose_view("second")
    with qtbot.waitSignal(first.destroyed):
        page.drop_view("first")
    assert list(page.views) == ["second"]
    assert page.view.isVisible()
    page.choose_view("first")
    assert page.view is not first
    assert (page.view.isVisible(), page.view.shown) == (True, 1)


def test_the_current_view_of_a_hidden_page_is_made_again_with_the_page(page: SamplePage, qtbot: QtBot) -> None:
    show(page, qtbot)
    page.hide()
    page.drop_view("first")
    assert page.views == {}
    show(page, qtbot)
    assert (page.view.isVisible(), page.view.shown) == (True, 1)


def test_a_slow_verdict_waits_for_its_first_paint(theme: Theme, qtbot: QtBot) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    line = VerdictLine(theme, is_slow=True)
    page.resize(400, 200)
    QVBoxLayout(page).addWidget(line)
    with qtbot.assertNotEmitted(line.due, wait=20):
        line.request()
    reserved = line.minimumHeight()
    with qtbot.waitSignal(line.due):
        page.show()
    line.show_verdict(lambda: "H200 SXM leads.")
    assert line.minimumHeight() < reserved
    with qtbot.waitSignal(line.due):
        line.request()


def test_a_slow_verdict_comes_without_another_paint_and_is_whole(
    theme: Theme, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gpudesk.desktop.pages.page.call_after_paint", lambda _widget, _act: None)
    page = QWidget()
    qtbot.addWidget(page)
    line = VerdictLine(theme, is_slow=True)
    page.resize(400, 400)
    column = QVBoxLayout(page)
    column.addWidget(line)
    column.addStretch(1)
    page.show()
    with qtbot.waitSignal(line.due):
        line.request()
    line.show_verdict(lambda: "H200 SXM leads. " * 20)
    qtbot.waitUntil(lambda: line.height() >= line.heightForWidth(line.width()))
