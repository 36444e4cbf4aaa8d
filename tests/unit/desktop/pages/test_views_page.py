"""Pages with several views: lazy creation, the remembered view, and views that need no answer."""

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
from gpudesk.desktop.ui.widgets.layouts import FullWidthScrollArea, find_scroll_area


class CountingView(PageView):
    """A view with one control, which counts how often it was shown."""

    def __init__(self, desk: Desk, theme: Theme) -> None:
        super().__init__()
        self.desk = desk
        self.show_count = 0
        self.button = Button(theme, "Do")
        QVBoxLayout(self).addWidget(self.button)

    def focus_first(self) -> None:
        self.button.setFocus()


class SamplePage(MultiViewPage[CountingView]):
    """Three views, the last of which neither scrolls nor needs an answer."""

    page_id = "sample"
    menu_section = 7

    def title(self) -> str:
        return "Sample"

    def view_specs(self) -> Sequence[PageViewSpec[CountingView]]:
        return (
            PageViewSpec("first", "First", CountingView),
            PageViewSpec("second", "Second", CountingView),
            PageViewSpec("free", "Free", CountingView),
        )

    def make_scroll_area(self, view: CountingView) -> FullWidthScrollArea | None:
        return None if self.view_key == "free" else super().make_scroll_area(view)

    def needs_answer(self) -> bool:
        return self.view_key != "free"

    def show_view(self) -> None:
        self.view.show_count += 1


@pytest.fixture
def page(desk: Desk, theme: Theme, settings: UserSettings, qtbot: QtBot) -> SamplePage:
    sample_page = SamplePage(desk, theme, settings)
    qtbot.addWidget(sample_page)
    sample_page.resize(700, 400)
    return sample_page


def show(page: SamplePage, qtbot: QtBot) -> None:
    with qtbot.waitExposed(page):
        page.show()
    page.activateWindow()


def test_views_are_created_when_first_shown(page: SamplePage, qtbot: QtBot) -> None:
    assert page.views == {}
    show(page, qtbot)
    assert list(page.views) == ["first"]
    page.choose_view("second")
    first, second = page.views.values()
    assert second.isVisible()
    assert not first.isVisible()
    page.choose_view("first")
    assert page.view is first
    assert (first.show_count, second.show_count) == (2, 1)


class GrowingPage(SamplePage):
    """A page whose views grow with each answer."""

    def show_view(self) -> None:
        super().show_view()
        self.view.button.setFixedHeight(400 * self.view.show_count)


def test_content_has_its_height_before_it_is_painted(
    desk: Desk, theme: Theme, settings: UserSettings, qtbot: QtBot
) -> None:
    page = GrowingPage(desk, theme, settings)
    qtbot.addWidget(page)
    show(page, qtbot)
    page.choose_view("first")
    assert page.view.height() > 800


def test_page_opens_with_the_last_view(page: SamplePage, desk: Desk, theme: Theme, settings: UserSettings) -> None:
    assert page.head.segment.value == "first"
    page.choose_view("second")
    assert settings.get("sample.view", "") == "second"
    assert SamplePage(desk, theme, settings).head.segment.value == "second"
    settings.put("sample.view", "gone")
    assert SamplePage(desk, theme, settings).head.segment.value == "first"


def test_view_chosen_while_hidden_is_created_with_the_page(page: SamplePage, qtbot: QtBot) -> None:
    show(page, qtbot)
    page.hide()
    page.choose_view("second")
    assert list(page.views) == ["first"]
    page.show()
    assert page.view.isVisible()
    assert page.view.show_count == 1


def test_views_scroll_by_default(page: SamplePage, qtbot: QtBot) -> None:
    show(page, qtbot)
    areas = page.findChildren(FullWidthScrollArea)
    assert [area.widget() for area in areas] == [page.view]
    page.choose_view("free")
    assert page.view.isVisible()
    assert page.findChildren(FullWidthScrollArea) == areas


def test_view_without_need_of_an_answer_is_shown(page: SamplePage, desk: Desk, qtbot: QtBot) -> None:
    show(page, qtbot)
    desk.open(scenario_edits.make_empty_scenario())
    assert not page.body.usable
    assert not page.head.copy.isEnabled()
    page.choose_view("free")
    assert page.view.isVisible()
    assert page.head.copy.isEnabled()
    page.choose_view("second")
    assert page.body.missing.isVisible()
    assert page.view.show_count == 0


def test_focus_moves_to_the_chosen_view(page: SamplePage, qtbot: QtBot) -> None:
    show(page, qtbot)
    page.view.button.setFocus()
    page.choose_view("second")
    assert page.focusWidget() is page.view.button


def test_chosen_view_begins_at_its_top(page: SamplePage, qtbot: QtBot) -> None:
    show(page, qtbot)
    page.choose_view("second")
    view = page.view
    head = QWidget()
    head.setFixedHeight(900)
    head.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    layout = view.layout()
    assert isinstance(layout, QVBoxLayout)
    layout.insertWidget(0, head)
    view.focus_first = head.setFocus  # type: ignore[method-assign]
    area = find_scroll_area(view)
    assert area is not None
    qtbot.waitUntil(lambda: area.verticalScrollBar().maximum() > 0)
    page.choose_view("first")
    page.view.button.setFocus()
    page.choose_view("second")
    assert area.verticalScrollBar().value() == 0
    assert head.hasFocus()


def test_every_view_is_an_action(page: SamplePage) -> None:
    actions = {action.id: action for action in page.list_page_actions()}
    assert list(actions) == ["sample.first", "sample.second", "sample.free"]
    assert {(action.section, action.group) for action in actions.values()} == {(7, "Sample")}
    actions["sample.second"].run()
    assert page.head.segment.value == "second"


@pytest.mark.parametrize("key", ["first", "free"])
def test_copied_view_has_the_background_of_the_page(page: SamplePage, theme: Theme, qtbot: QtBot, key: str) -> None:
    show(page, qtbot)
    page.choose_view(key)
    for preference in (theme.preference, DARK):
        theme.set_preference(preference)
        QApplication.processEvents()
        assert page.view.grab().toImage().pixelColor(1, 1) == theme.color("page")


def test_page_is_named_and_views_change_by_keys(page: SamplePage, qtbot: QtBot) -> None:
    show(page, qtbot)
    assert page.accessibleName() == "Sample"
    segment = page.head.segment
    first = segment.findChildren(QPushButton)[0]
    first.setFocus()
    QTest.keyClick(first, Qt.Key.Key_Right)
    assert list(page.views) == ["first", "second"]


class VerdictPage(SamplePage):
    """A page with a one-line verdict."""

    has_verdict = True

    def describe_verdict(self) -> Sequence[str]:
        return ("B200 makes the most tokens per second.", "It is limited by memory bandwidth.")


def test_space_is_reserved_for_the_verdict(desk: Desk, theme: Theme, settings: UserSettings, qtbot: QtBot) -> None:
    page = VerdictPage(desk, theme, settings)
    qtbot.addWidget(page)
    page.resize(900, 600)
    with qtbot.waitExposed(page):
        page.show()
        # The verdict must not appear before the page has its height.
        page.verdict._timer.stop()
    qtbot.waitUntil(lambda: page.view.height() > 0)
    page.verdict._timer.stop()
    assert page.verdict.text() == ""
    assert page.verdict.isVisible()
    position = page.view.mapTo(page, QPoint(0, 0))
    page.verdict.due.emit()
    QApplication.sendPostedEvents()
    assert page.verdict.text()
    assert page.view.mapTo(page, QPoint(0, 0)) == position


def test_no_space_is_reserved_without_a_verdict(page: SamplePage, qtbot: QtBot) -> None:
    assert not page.verdict.isVisible()


def test_verdict_is_reached_by_tab_and_keeps_the_focus(
    desk: Desk, theme: Theme, settings: UserSettings, qtbot: QtBot
) -> None:
    page = VerdictPage(desk, theme, settings)
    qtbot.addWidget(page)
    page.show()
    page.activateWindow()
    qtbot.waitUntil(lambda: page.isActiveWindow() and bool(page.verdict.text()))
    page.head.segment.setFocus(Qt.FocusReason.TabFocusReason)
    focused_widgets = []
    for _ in range(8):
        QTest.keyClick(QApplication.focusWidget() or page, Qt.Key.Key_Tab)
        focused_widgets.append(QApplication.focusWidget())
    assert page.verdict in focused_widgets
    assert page.verdict.text() == "B200 makes the most tokens per second."
    assert page.verdict.terms.text() == "It is limited by memory bandwidth."
    assert page.verdict.accessibleName() == f"{page.verdict.text()} {page.verdict.terms.text()}"
    page.verdict.setFocus(Qt.FocusReason.TabFocusReason)
    desk.apply(scenario_edits.replace_load_value(desk.scenario, 4), "load")
    desk.flush()
    assert QApplication.focusWidget() is page.verdict


def test_dropped_view_is_recreated_when_shown(page: SamplePage, qtbot: QtBot) -> None:
    show(page, qtbot)
    first = page.view
    page.choose_view("second")
    with qtbot.waitSignal(first.destroyed):
        page.drop_view("first")
    assert list(page.views) == ["second"]
    assert page.view.isVisible()
    page.choose_view("first")
    assert page.view is not first
    assert (page.view.isVisible(), page.view.show_count) == (True, 1)


def test_current_view_of_a_hidden_page_is_recreated_with_it(page: SamplePage, qtbot: QtBot) -> None:
    show(page, qtbot)
    page.hide()
    page.drop_view("first")
    assert page.views == {}
    show(page, qtbot)
    assert (page.view.isVisible(), page.view.show_count) == (True, 1)


def test_slow_verdict_waits_for_the_first_paint(theme: Theme, qtbot: QtBot) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    line = VerdictLine(theme, is_slow=True)
    page.resize(400, 200)
    column = QVBoxLayout(page)
    column.addWidget(line)
    column.addWidget(line.terms)
    with qtbot.assertNotEmitted(line.due, wait=20):
        line.request()
    with qtbot.waitSignal(line.due):
        page.show()
    reserved = line.minimumHeight() + line.terms.minimumHeight()
    line.show_verdict(lambda: ["H200 SXM leads."])
    assert line.minimumHeight() == theme.px(2) + theme.line("page") + theme.px(1), "the terms follow at once"
    assert line.minimumHeight() + line.terms.minimumHeight() == reserved, "nothing below them moves"
    line.show_verdict(lambda: ["MI325X leads."])
    assert line.minimumHeight() + line.terms.minimumHeight() < reserved
    with qtbot.waitSignal(line.due):
        line.request()


def test_slow_verdict_needs_no_second_paint(theme: Theme, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpudesk.desktop.pages.page.call_after_paint", lambda _widget, _act: None)
    page = QWidget()
    qtbot.addWidget(page)
    line = VerdictLine(theme, is_slow=True)
    page.resize(400, 400)
    column = QVBoxLayout(page)
    column.addWidget(line)
    column.addWidget(line.terms)
    column.addStretch(1)
    page.show()
    with qtbot.waitSignal(line.due):
        line.request()
    line.show_verdict(lambda: ["H200 SXM leads, " * 20])
    qtbot.waitUntil(lambda: line.height() >= line.heightForWidth(line.width()))
