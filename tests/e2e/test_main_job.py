"""The main job at the window by keyboard and mouse, through the program's real entry."""

import math
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget

from gpudesk.desktop.pages.compare.page import ComparePage
from gpudesk.desktop.session.scenario_edits import read_load_value
from gpudesk.desktop.window.main_window import MainWindow
from gpudesk.desktop.window.sheet_preview import SheetPreview
from gpudesk.desktop.window.sources_panel import SourcesPanel
from gpudesk.desktop.window.start_page import RecentFileButton, StartQuestionButton
from gpudesk.report.explanation.parts import ClaimLine
from tests.e2e.conftest import StartProgram
from tests.e2e.window_user import User

FOUR = ["h200-sxm", "mi325x", "b200-hgx", "mi355x"]


def parts(window: MainWindow) -> list[str]:
    return [choice.accelerator for choice in window.desk.scenario.accelerators]


def load(window: MainWindow) -> float:
    return read_load_value(window.desk.scenario.workload.load)


def undo_step(user: User) -> str:
    return user.window.undo.accessibleName()


def figure(user: User, row: str, column: str) -> str:
    page = user.window.page
    assert isinstance(page, ComparePage)
    return str(page.model.index_of(row, column).data())


def sheet_of(user: User) -> SheetPreview:
    dialog = QApplication.activeModalWidget()
    assert isinstance(dialog, SheetPreview)
    return dialog


def test_from_the_start_page_to_the_comparison_and_its_pages(program: StartProgram) -> None:
    def at_window(user: User) -> None:
        window = user.window
        assert window.windowTitle() == "Untitled[*] — GPU Desk"
        user.press("Return")
        assert parts(window) == FOUR
        assert window.windowTitle() == "Llama 3.1 70B chat, four accelerators compared[*] — GPU Desk"
        assert not window.isWindowModified()
        for key, page in (("Ctrl+2", "performance"), ("Ctrl+3", "memory"), ("Ctrl+1", "compare")):
            user.press(key)
            assert window.page is not None
            assert window.page.page_id == page
            assert window.page.isVisible()
        assert "Recalculated in" in window.status.accessibleDescription() or window.desk.elapsed_ms > 0

    program(at_window)


def test_a_question_is_opened_by_a_click_and_by_its_digit(program: StartProgram) -> None:
    def at_window(user: User) -> None:
        user.press("4")
        assert user.window.desk.scenario.model == "llama-3.1-405b"
        user.press("Ctrl+N")
        assert parts(user.window) == []

    def with_mouse(user: User) -> None:
        question = user.window.start.findChildren(StartQuestionButton)[0]
        user.click(question.accessibleName())
        assert set(parts(user.window)) == {"mi325x", "h200-sxm"}

    program(at_window)
    program(with_mouse)


def test_slider_keys_make_one_undo_step(program: StartProgram) -> None:
    def at_window(user: User) -> None:
        window = user.window
        user.press("Return")
        before = figure(user, "output_tokens_per_s", "mi325x")
        window.scenario.load.slider.setFocus()
        user.press("Right", "Right")
        user.until(lambda: figure(user, "output_tokens_per_s", "mi325x") != before)
        assert load(window) > 64
        assert undo_step(user) == "Undo: Change load"
        assert window.isWindowModified()
        user.press("Ctrl+Z", "Ctrl+Z")
        assert load(window) == 64
        assert not window.isWindowModified()
        assert not window.undo.isEnabled()
        user.press("Ctrl+Shift+Z")
        assert load(window) > 64
        user.until(lambda: figure(user, "output_tokens_per_s", "mi325x") != before)

    program(at_window)


def test_ctrl_z_undoes_a_typed_load(program: StartProgram) -> None:
    def at_window(user: User) -> None:
        window = user.window
        user.press("Return")
        window.scenario.load.field.setFocus(Qt.FocusReason.TabFocusReason)
        user.type("96")
        assert load(window) == 64
        user.press("Return")
        assert load(window) == 96
        user.press("Ctrl+Z")
        assert load(window) == 64
        assert window.scenario.load.field.text() == "64"

    program(at_window)


def test_accelerators_are_added_removed_and_made_the_baseline_by_keys(program: StartProgram) -> None:
    def at_window(user: User) -> None:
        window = user.window
        user.press("Return")
        user.press("A")
        user.type("mi300x")
        user.press("Return")
        assert parts(window) == [*FOUR, "mi300x"]
        assert undo_step(user) == "Undo: Add MI300X"
        user.until(lambda: figure(user, "output_tokens_per_s", "mi300x") not in ("", "None"))
        window.chips.chips[0].setFocus()
        user.press("Right", "Delete")
        assert parts(window) == ["h200-sxm", "b200-hgx", "mi355x", "mi300x"]
        assert undo_step(user) == "Undo: Remove MI325X"
        user.press("B")
        assert parts(window)[0] == "b200-hgx"
        assert window.chips.baseline.accessibleName() == "Baseline: B200 SXM"
        assert undo_step(user) == "Undo: Set B200 SXM as baseline"
        user.press("Ctrl+Z", "Ctrl+Z", "Ctrl+Z")
        assert parts(window) == FOUR

    program(at_window)


def test_selecting_a_cell_by_keys_fills_the_panel(program: StartProgram) -> None:
    def at_window(user: User) -> None:
        window = user.window
        window.resize(1440, 900)
        user.press("Return")
        user.until(lambda: window.body.panel is not None)
        panel = window.body.panel
        assert isinstance(panel, SourcesPanel)
        assert window.page is not None
        window.page.focus_content()
        user.press("Ctrl+Home", "Down", "Right")
        assert window.desk.selection is not None
        user.until(lambda: panel.explanation is not None)
        nodes = [line.node for top in panel.view.lines.lines for line in top.walk()]
        assert any(isinstance(node.subject, ClaimLine) for node in nodes)
        user.press("F6")
        assert panel.isAncestorOf(window.focusWidget())
        user.press("Ctrl+I")
        assert not panel.isVisible()
        user.press("Ctrl+I")
        assert panel.isVisible()

    program(at_window)


def test_result_is_pinned_and_unpinned(program: StartProgram) -> None:
    def at_window(user: User) -> None:
        desk = user.window.desk
        user.press("Return", "Ctrl+2", "Ctrl+G")
        assert desk.ghost is not None
        pinned = desk.ghost
        user.window.scenario.load.slider.setFocus()
        user.press("Right")
        user.until(lambda: desk.answer is not None and desk.answer.scenario == desk.scenario)
        assert desk.ghost is pinned
        user.press("Ctrl+Shift+G")
        assert desk.ghost is None

    program(at_window)


def test_saved_scenario_is_listed_at_the_next_start(program: StartProgram, tmp_path: Path) -> None:
    file = tmp_path / "mine.gpudesk"
    saved_values = []

    def first(user: User) -> None:
        window = user.window
        user.press("Return")
        window.scenario.load.slider.setFocus()
        user.press("Right")
        user.will_choose(tmp_path / "mine")
        user.press("Ctrl+S")
        assert file.exists()
        assert window.windowTitle() == "mine.gpudesk[*] — GPU Desk"
        assert not window.isWindowModified()
        saved_values.append(window.desk.scenario)
        user.press("Ctrl+W")

    def reopened(user: User) -> None:
        assert user.window.page is not None
        assert user.window.desk.scenario.workload == saved_values[0].workload
        assert parts(user.window) == FOUR
        assert user.window.windowTitle() == "mine.gpudesk[*] — GPU Desk"

    def from_recent(user: User) -> None:
        recent = user.widget(RecentFileButton, "Open mine")
        recent.setFocus()
        user.press("Return")
        assert user.window.desk.scenario.workload == saved_values[0].workload

    program(first)
    program(reopened, str(file))
    program(from_recent)


@pytest.mark.parametrize("way", ["dropped", "given", "chosen"])
def test_saved_sheet_opens_as_the_same_comparison(program: StartProgram, tmp_path: Path, way: str) -> None:
    file = tmp_path / "sheet.pdf"
    hashes: list[str] = []

    def save_sheet(user: User) -> None:
        window = user.window
        user.press("Return")
        window.scenario.load.slider.setFocus()
        user.press("Right", "Ctrl+P")
        user.until(lambda: isinstance(QApplication.activeModalWidget(), SheetPreview))
        preview = sheet_of(user)
        user.will_choose(file)
        user.press("Ctrl+S")
        assert preview.note == f"Saved: {file}"
        user.press("Escape")
        user.until(lambda: QApplication.activeModalWidget() is None)
        assert window.desk.answer is not None
        hashes.append(window.desk.answer.content_hash)

    def open_sheet(user: User) -> None:
        if way == "dropped":
            user.drop(file)
        elif way == "chosen":
            user.will_choose(file)
            user.press("Ctrl+O")
        user.until(lambda: user.window.desk.answer is not None)
        answer = user.window.desk.answer
        assert answer is not None
        assert answer.content_hash == hashes[0]
        assert user.window.document.path is None
        assert not user.window.isWindowModified()

    program(save_sheet)
    program(open_sheet, *([str(file)] if way == "given" else []))


def test_every_visible_control_has_a_name(program: StartProgram) -> None:
    def at_window(user: User) -> None:
        def nameless() -> list[str]:
            buttons = user.window.findChildren(QAbstractButton)
            return [
                type(button).__name__
                for button in buttons
                if button.isVisible()
                and button.focusPolicy() is not Qt.FocusPolicy.NoFocus
                and not (button.accessibleName() or button.text())
            ]

        assert nameless() == []
        user.press("Return")
        for key in ("Ctrl+1", "Ctrl+2", "Ctrl+3"):
            user.press(key)
            assert nameless() == []

    program(at_window)


def test_a_second_document_opens_in_a_window_of_its_own(program: StartProgram) -> None:
    def at_window(user: User) -> None:
        first = user.window
        user.press("Return")
        first.scenario.load.slider.setFocus()
        user.press("Right", "Ctrl+N")
        user.until(lambda: len(user.windows) == 2)
        assert parts(first) == FOUR
        second = user.windows[-1]
        assert parts(second) == []
        assert second.page is not None
        assert math.dist(first.pos().toTuple(), second.pos().toTuple()) > 10

    program(at_window)


def test_the_palette_adds_accelerators_and_opens_pages(program: StartProgram) -> None:
    def at_window(user: User) -> None:
        window = user.window
        user.press("Return", "Ctrl+K")
        user.type("add mi300x")
        user.press("Return")
        assert parts(window) == [*FOUR, "mi300x"]
        assert undo_step(user) == "Undo: Add MI300X"
        user.press("Ctrl+K")
        user.type("memory and fit")
        user.press("Return")
        assert window.is_page("memory")
        user.press("Ctrl+K", "Escape", "Ctrl+Z")
        assert parts(window) == FOUR

    program(at_window)


class ShownWindows(QObject):
    """Keeps what was shown as a window of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.shown: list[str] = []

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Show and isinstance(watched, QWidget) and watched.isWindow():
            self.shown.append(type(watched).__name__)
        return False


def test_pages_and_panel_open_no_extra_window(program: StartProgram, qapp: QApplication) -> None:
    def at_window(user: User) -> None:
        user.window.resize(1440, 900)
        watch = ShownWindows()
        qapp.installEventFilter(watch)
        user.press("Return", "Ctrl+2", "Ctrl+3", "Ctrl+1", "Ctrl+I", "Ctrl+I")
        qapp.removeEventFilter(watch)
        assert watch.shown == []

    program(at_window)


def test_page_has_the_focus(program: StartProgram) -> None:
    def at_window(user: User) -> None:
        window = user.window
        user.press("Return")
        for key in ("Ctrl+2", "Ctrl+3", "Ctrl+1"):
            focus = QApplication.focusWidget()
            assert window.page is not None
            assert focus is not None
            assert window.page.isAncestorOf(focus)
            user.press(key)
        window.scenario.input_tokens.edit.setFocus()
        user.press("Ctrl+2")
        assert QApplication.focusWidget() is window.scenario.input_tokens.edit

    program(at_window)


def test_ctrl_i_opens_the_panel_at_once(program: StartProgram) -> None:
    def at_window(user: User) -> None:
        window = user.window
        window.resize(1440, 900)
        user.press("Ctrl+I")
        assert window.body.panel is not None
        assert window.body.panel.isVisible()
        user.press("Ctrl+I")
        assert not window.body.panel.isVisible()

    program(at_window)
