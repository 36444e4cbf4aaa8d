"""The Profile page by keyboard and mouse, through the program's real entry."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QMenu

from gpudesk.desktop.pages.compare.page import ComparePage
from gpudesk.desktop.pages.page import QueryState
from gpudesk.desktop.pages.profile.page import ProfilePage
from gpudesk.desktop.pages.profile.views import DiffusionForm, ModelsView, OverviewView
from gpudesk.desktop.session.scenario_edits import replace_load_value
from gpudesk.desktop.session.selection import select_catalog_attribute
from gpudesk.desktop.ui.tables.data_table import DataTableView
from gpudesk.desktop.ui.widgets.layouts import ThemedLabel
from gpudesk.desktop.window.sheet_preview import ProfilePreview
from gpudesk.desktop.window.sources_panel import SourcesPanel
from gpudesk.domain.estimate import EstimateRequest
from gpudesk.service import GpuDeskService
from tests.e2e.conftest import StartProgram
from tests.e2e.window_user import User
from tests.unit.desktop.ui.printing.conftest import needs_poppler, read_words


def open_profile(user: User) -> ProfilePage:
    """Open the sample, and its profile as soon as it is there."""
    if not user.window.desk.scenario.accelerators:
        user.press("Return")
    user.press("Ctrl+4")
    page = user.window.page
    assert isinstance(page, ProfilePage)
    wait_for(user, page)
    return page


def wait_for(user: User, page: ProfilePage) -> None:
    def is_ready() -> bool:
        profile = page.query.result
        is_shown = profile is not None and profile.accelerator.id == page.accelerator
        return is_shown and page.query.state is QueryState.READY

    user.until(is_ready)


def table(page: ProfilePage, key: str) -> DataTableView:
    return page.view.sections[key].view


def first_cells(page: ProfilePage, key: str, column: int) -> list[str]:
    return [row.cells[column].text for row in table(page, key).table.rows]


def parts(user: User) -> list[str]:
    return [choice.accelerator for choice in user.window.desk.scenario.accelerators]


def test_no_line_is_squeezed_when_another_accelerator_appears(program: StartProgram) -> None:
    def at_window(user: User) -> None:
        page = open_profile(user)
        for accelerator in ("mi355x", "rtx-5090"):
            page.show_accelerator(accelerator)
            wait_for(user, page)
            labels = [each for each in page.view.findChildren(ThemedLabel) if each.isVisible() and each.wordWrap()]
            assert labels
            assert [each.text() for each in labels if each.height() < each.heightForWidth(each.width())] == []

    program(at_window)


def test_ctrl_4_opens_capabilities(program: StartProgram) -> None:
    def at_window(user: User) -> None:
        page = open_profile(user)
        assert page.accelerator == parts(user)[0] == "h200-sxm"
        assert first_cells(page, "capabilities", 0)[:5] == [
            "Chat, 8B",
            "Coding, 30B",
            "Large, 70B",
            "Dense, 405B",
            "MoE, 1T",
        ]
        tables = page.tables
        assert tables is not None
        headrooms = [each.headroom for each in tables.profile.limits if each.headroom is not None]
        assert headrooms == sorted(headrooms)
        assert "H200" in page.subject.name.accessibleName()
        assert isinstance(page.view, OverviewView)
        assert any(text.startswith("Fits: ") for text in page.view.notes.texts)
        assert "6 × 23.5 GiB HBM3e" in tables.architecture().sentence
        assert [button.isVisible() for button in page.subject.strip.buttons] == [True] * 5

    program(at_window)


def test_the_first_screen_has_head_drawing_limits_and_capabilities(program: StartProgram) -> None:
    def at_window(user: User) -> None:
        user.window.resize(1280, 800)
        page = open_profile(user)
        view = page.view
        assert isinstance(view, OverviewView)
        first_widgets = (page.subject, view.drawing, *(section.view for section in view.sections.values()))
        user.until(lambda: all(widget.visibleRegion().boundingRect() == widget.rect() for widget in first_widgets))

    program(at_window)


def test_the_overview_scrolls_no_further_than_its_content(program: StartProgram) -> None:
    def look(user: User) -> None:
        user.window.resize(1280, 800)
        page = open_profile(user)
        view = page.view
        assert isinstance(view, OverviewView)
        room = view.parentWidget()
        assert room is not None
        user.until(lambda: view.height() <= max(room.height(), view.heightForWidth(view.width())))

    program(look)


def test_the_menu_of_a_chip_shows_its_profile(program: StartProgram) -> None:
    def at_window(user: User) -> None:
        open_profile(user)
        user.press("Ctrl+1")
        user.window.chips.chips[2].click()
        user.until(QApplication.activePopupWidget)
        menu = QApplication.activePopupWidget()
        assert isinstance(menu, QMenu)
        next(action for action in menu.actions() if action.text() == "Show profile").trigger()
        menu.close()
        page = user.window.page
        assert isinstance(page, ProfilePage)
        wait_for(user, page)
        assert page.accelerator == parts(user)[2]

    program(at_window)


def test_row_opens_its_deployment_as_one_undo_step(program: StartProgram) -> None:
    def at_window(user: User) -> None:
        page = open_profile(user)
        desk = user.window.desk
        before, steps = desk.scenario, desk.undo_stack.count()
        view = table(page, "capabilities")
        view.setFocus()
        view.setCurrentIndex(view.find_row("huge_405b"))
        row = view.current_row
        assert row is not None
        assert row.request is not None
        user.press("Return")
        first = desk.scenario.accelerators[0]
        assert (desk.scenario.model, desk.scenario.weights) == (row.request.model, row.request.weights)
        assert (first.accelerator, first.count) == ("h200-sxm", row.request.count)
        assert desk.undo_stack.count() == steps + 1
        user.press("Ctrl+Z")
        assert desk.scenario == before

    program(at_window)


def test_a_selected_row_is_explained_in_the_panel(program: StartProgram) -> None:
    def at_window(user: User) -> None:
        page = open_profile(user)
        view = table(page, "capabilities")
        place = view.visualRect(view.find_row("chat_7b")).center()
        QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
        figure = view.table.rows[0].cells[3].text.split("\N{NO-BREAK SPACE}")[0]
        if not user.window.panel.is_visible:
            user.press("Ctrl+I")
        user.until(lambda: user.window.findChild(SourcesPanel))
        panel = user.window.findChild(SourcesPanel)
        assert isinstance(panel, SourcesPanel)
        user.until(lambda: panel.explanation is not None)
        explanation = panel.explanation
        assert explanation is not None
        assert explanation.figure == figure
        assert explanation.working is not None

    program(at_window)


def test_the_mode_changes_the_order_of_models_and_survives_a_restart(program: StartProgram) -> None:
    orders: list[list[str]] = []

    def choose(user: User) -> None:
        page = open_profile(user)
        user.click("View: Models")
        wait_for(user, page)
        orders.append(first_cells(page, "recommendations", 1))
        user.click("Operating mode: Throughput")
        wait_for(user, page)
        orders.append(first_cells(page, "recommendations", 1))
        user.window.desk.undo_stack.setClean()

    def read_changes(user: User) -> None:
        page = open_profile(user)
        assert isinstance(page.view, ModelsView)
        assert page.view.mode.value == "throughput"
        assert first_cells(page, "recommendations", 1) == orders[1]

    program(choose)
    assert orders[0] != orders[1]
    program(read_changes)


def test_weights_of_the_user_replace_those_of_the_mode_until_they_are_reset(program: StartProgram) -> None:
    def at_window(user: User) -> None:
        page = open_profile(user)
        user.click("View: Models")
        wait_for(user, page)
        view = page.view
        assert isinstance(view, ModelsView)
        assert not view.reset.isVisible()
        context = next(field for factor, field in view.weights.items() if factor.value == "context")
        context.edit.edited.emit(9.0)
        wait_for(user, page)
        tables = page.tables
        assert tables is not None
        changed = {factor.value: weight for factor, weight in tables.profile.weights.items() if weight != 1.0}
        assert changed == {"context": 9.0}
        user.click("Reset weights")
        wait_for(user, page)
        assert page.preferences.weights is None

    program(at_window)


def test_any_other_accelerator_can_be_shown_and_the_scenario_stays(program: StartProgram) -> None:
    def at_window(user: User) -> None:
        page = open_profile(user)
        before = user.window.desk.scenario
        user.press("Ctrl+J")
        user.type("l40s")
        user.press("Return")
        wait_for(user, page)
        assert page.accelerator == "l40s"
        assert "L40S" in page.subject.name.accessibleName()
        assert user.window.desk.scenario == before

    program(at_window)


def test_one_click_compares_with_a_rival(program: StartProgram) -> None:
    def at_window(user: User) -> None:
        page = open_profile(user)
        page.show_accelerator("l40s")
        user.click("View: Peers")
        wait_for(user, page)
        tables = page.tables
        assert tables is not None
        rival = next(each for each in tables.rivals() if each not in parts(user))
        name = f"Compare with {tables.name_of(rival)}"
        user.until(
            lambda: any(
                each.isVisible() and name in (each.text(), each.accessibleName())
                for each in user.window.findChildren(QAbstractButton)
            )
        )
        user.click(name)
        assert isinstance(user.window.page, ComparePage)
        assert parts(user)[-2:] == ["l40s", rival]
        user.press("Ctrl+Z")
        assert len(parts(user)) == 4

    program(at_window)


@needs_poppler
def test_the_profile_prints_on_two_pages(program: StartProgram, tmp_path: Path) -> None:
    def at_window(user: User) -> None:
        open_profile(user)
        user.click("Print profile")
        dialog = QApplication.activeModalWidget()
        assert isinstance(dialog, ProfilePreview)
        assert dialog.save_to(tmp_path / "profile.pdf")
        dialog.close()

    program(at_window)
    words = read_words(tmp_path / "profile.pdf")
    for text in (
        "Accelerator profile",
        "H200 SXM 141GB",
        "Capabilities",
        "Llama 3.1 8B",
        "Resource use",
        "Models for each job",
        "Considerations",
        "Buying advice",
        "Several accelerators",
        "Compared with its peers",
        "Specifications and sources",
        "Page 2 of 2",
    ):
        assert text in words
    info = subprocess.run(["pdfinfo", tmp_path / "profile.pdf"], capture_output=True, text=True, check=True).stdout
    assert "Pages:           2" in info


def test_returning_to_the_page_computes_nothing(program: StartProgram, monkeypatch: pytest.MonkeyPatch) -> None:
    requests: list[str] = []
    steps = GpuDeskService.build_profile_in_steps

    def count(service: GpuDeskService, question: object) -> object:
        requests.append(repr(question))
        ask: Callable[..., object] = steps
        return ask(service, question)

    monkeypatch.setattr(GpuDeskService, "build_profile_in_steps", count)

    def at_window(user: User) -> None:
        page = open_profile(user)
        for view in ("Models", "Upgrades", "Peers", "Specifications", "Overview"):
            user.click(f"View: {view}")
        user.press("Ctrl+1")
        open_profile(user)
        page.show_accelerator("mi325x")
        wait_for(user, page)
        page.show_accelerator("h200-sxm")
        wait_for(user, page)

    program(at_window)
    assert len(requests) == len(set(requests)) == 2


def test_the_panel_follows_the_accelerator_and_the_load(program: StartProgram) -> None:
    def at_window(user: User) -> None:
        page = open_profile(user)
        desk = user.window.desk

        def get_request() -> EstimateRequest | None:
            return None if desk.selection is None else desk.selection.request

        view = table(page, "capabilities")
        QTest.mouseClick(
            view.viewport(), Qt.MouseButton.LeftButton, pos=view.visualRect(view.find_row("chat_7b")).center()
        )
        user.until(get_request)
        desk.apply(replace_load_value(desk.scenario, 16), "Change of load")
        user.until(lambda: page.query.result is not None and page.query.result.question.concurrency == 16)
        request = get_request()
        assert request is not None
        assert request.workload.load.concurrency == 16
        page.show_accelerator("mi325x")
        assert get_request() is None
        wait_for(user, page)
        page.subject.chosen.emit("memory")
        page.show_accelerator("rtx-4090")
        assert desk.selection == select_catalog_attribute("rtx-4090", "memory")
        wait_for(user, page)

    program(at_window)


def select_media(user: User, row: str) -> tuple[ProfilePage, DataTableView, DiffusionForm]:
    """Select an image or video model in the Models view."""
    page = open_profile(user)
    user.click("View: Models")
    wait_for(user, page)
    view, form = table(page, "diffusion"), page.view.media_form
    assert form is not None
    view.setFocus()
    view.setCurrentIndex(view.find_row(row))
    return page, view, form


def test_settings_of_a_video_change_its_row(program: StartProgram) -> None:
    def times(view: DataTableView) -> dict[str, str]:
        return {row.key: row.cells[-1].text for row in view.table.rows}

    def at_window(user: User) -> None:
        page, view, form = select_media(user, "image:flux1-dev")
        assert form.isVisible()
        assert not form.numbers["frames"].isVisible()
        view.setCurrentIndex(view.find_row("video:wan2.1-14b"))
        assert form.numbers["frames"].isVisible()
        before = times(view)
        user.press("Return")
        assert form.numbers["width"].edit.hasFocus()
        form.numbers["steps"].edit.edited.emit(10)
        wait_for(user, page)
        form.weights.chosen.emit("fp8")
        wait_for(user, page)
        after = times(view)
        assert [key for key in before if before[key] != after[key]] == ["video:wan2.1-14b"]
        row = view.current_row
        assert row is not None
        assert row.diffusion is not None
        assert (row.diffusion.request.steps, row.diffusion.request.weights) == (10, "fp8")
        assert row.cells[1].mark == "own"

    program(at_window)


def test_settings_of_an_image_survive_a_restart_until_they_are_reset(program: StartProgram) -> None:
    def change(user: User) -> None:
        page, _, form = select_media(user, "image:flux1-dev")
        assert not form.reset.isVisible()
        form.numbers["steps"].edit.edited.emit(10)
        wait_for(user, page)
        assert form.reset.isVisible()
        user.window.desk.undo_stack.setClean()

    def reset(user: User) -> None:
        page, _, form = select_media(user, "image:flux1-dev")
        assert form.numbers["steps"].value == 10
        user.click("Reset settings")
        wait_for(user, page)
        assert form.numbers["steps"].value == 28
        assert page.preferences.media == {}

    program(change)
    program(reset)


def test_a_task_of_images_has_settings_of_its_own(program: StartProgram) -> None:
    def at_window(user: User) -> None:
        page = open_profile(user)
        view, form = table(page, "capabilities"), page.view.media_form
        assert form is not None
        view.setFocus()
        view.setCurrentIndex(view.find_row("image"))
        user.press("Return")
        assert form.numbers["width"].edit.hasFocus()
        form.numbers["width"].edit.edited.emit(2048)
        wait_for(user, page)
        row = view.current_row
        assert row is not None
        assert "2048 × 1024" in row.cells[2].detail
        view.setFocus()
        view.setCurrentIndex(view.find_row("chat_7b"))
        assert form.isHidden()

    program(at_window)


def test_user_tiers_are_edited_in_place_and_survive_a_restart(program: StartProgram) -> None:
    def give(user: User) -> None:
        page = open_profile(user)
        user.click("View: Models")
        wait_for(user, page)
        view = page.view
        assert isinstance(view, ModelsView)
        assert not view.tiers.reset.isVisible()
        rows = table(page, "recommendations")
        rows.setFocus()
        rows.setCurrentIndex(rows.model().index(1, 0))
        current_row = rows.current_row
        assert current_row is not None
        assert current_row.request is not None
        assert view.tiers.model.value == current_row.request.model
        view.tiers.tier.edit.edited.emit(7.0)
        wait_for(user, page)
        assert page.preferences.tiers == {current_row.request.model: 7.0}
        assert first_cells(page, "recommendations", 1)[0] == current_row.cells[1].text
        assert view.tiers.model.value == current_row.request.model
        assert table(page, "recommendations").table.rows[0].cells[1].detail.endswith("tier 7")
        user.window.desk.undo_stack.setClean()

    def take_back(user: User) -> None:
        page = open_profile(user)
        user.click("View: Models")
        wait_for(user, page)
        view = page.view
        assert isinstance(view, ModelsView)
        view.tiers.model.chosen.emit("llama-3.1-8b")
        view.tiers.tier.edit.edited.emit(2.0)
        wait_for(user, page)
        assert page.preferences.tiers is not None
        assert len(page.preferences.tiers) == 2
        user.click("Reset tiers")
        wait_for(user, page)
        assert page.preferences.tiers is None

    program(give)
    program(take_back)
