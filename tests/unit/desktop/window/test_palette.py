"""The command palette: what it finds, and how it is driven."""

from collections.abc import Callable
from time import thread_time

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QShortcut
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot
from shiboken6 import delete

from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.choice_popup import ROW_ROLE
from gpudesk.desktop.window.command_palette import CommandPalette, PaletteEntry, PaletteMatch, PaletteModel

COMMANDS, PARTS = "Commands", "Accelerators"


def nothing() -> None: ...


def entry(
    title: str, group: str = COMMANDS, detail: str = "", run: Callable[[], object] = nothing, *, enabled: bool = True
) -> PaletteEntry:
    return PaletteEntry(group, title, detail, "cpu", "", run, enabled)


def titles(model: PaletteModel) -> list[str]:
    rows = [model.index(row).data(ROW_ROLE) for row in range(model.rowCount())]
    return [row.entry.title for row in rows if isinstance(row, PaletteMatch)]


def searched(text: str, *entries: PaletteEntry) -> list[str]:
    model = PaletteModel()
    model.set_entries(entries)
    model.search(text)
    return titles(model)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("memory", ["Go to Memory and fit"]),
        ("MEM FIT", ["Go to Memory and fit"]),
        ("gtm", ["Go to Memory and fit"]),
        ("gomem", ["Go to Memory and fit"]),
        ("memry", ["Go to Memory and fit"]),
        ("25x", ["MI325X"]),
        ("256", ["MI325X"]),
        ("acc", ["MI325X", "B200"]),
        ("quux", []),
        ("mem save", []),
    ],
)
def test_words_are_found_whole_in_pieces_and_with_letters_left_out(text: str, expected: list[str]) -> None:
    found = searched(
        text,
        entry("Go to Memory and fit"),
        entry("Save as…"),
        entry("MI325X", PARTS, "256 GiB"),
        entry("B200", PARTS, "180 GiB"),
    )
    assert sorted(found) == sorted(expected)


def test_the_best_comes_first_and_its_group_with_it() -> None:
    found = searched("b2", entry("Web 2"), entry("Sub2"), entry("GB200", PARTS), entry("B200", PARTS))
    assert found == ["B200", "GB200", "Sub2"]


def test_what_cannot_be_run_comes_last_and_is_never_chosen() -> None:
    model = PaletteModel()
    model.set_entries([entry("Undo", enabled=False), entry("Show undo list")])
    model.search("undo")
    assert titles(model) == ["Show undo list", "Undo"]
    assert model.next_row(1, 1) == -1


def test_matches_are_marked_in_the_title_itself() -> None:
    model = PaletteModel()
    model.set_entries([entry("Straße zur Memory")])
    model.search("mem")
    row = model.index(1).data(ROW_ROLE)
    assert isinstance(row, PaletteMatch)
    assert "".join(row.entry.title[place] for place in row.matched) == "Mem"


def test_the_model_keeps_to_the_rules_of_models(qtmodeltester: ModelTester) -> None:
    model = PaletteModel()
    model.set_entries([entry("Undo", enabled=False), entry("Save"), entry("B200", PARTS)])
    qtmodeltester.check(model)  # type: ignore[no-untyped-call]


def test_five_hundred_entries_are_searched_at_once() -> None:
    model = PaletteModel()
    model.set_entries([entry(f"Entry {n} of memory and fit", f"G{n % 4}", "detail") for n in range(500)])
    best = {}
    for text in ("m", "mem fit", "nmbr", "x"):
        spent = []
        for _ in range(5):
            begun = thread_time()
            model.search(text)
            spent.append(thread_time() - begun)
        best[text] = min(spent)
    assert max(best.values()) < 0.005, best


class Window(QWidget):
    """A window with a button and a palette that notes what it ran."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.ran: list[str] = []
        self.button = QPushButton("Behind")
        QVBoxLayout(self).addWidget(self.button)
        self.shortcut = QShortcut("Ctrl+3", self)
        self.shortcut.activated.connect(lambda: self.ran.append("shortcut"))
        self.palette_ = CommandPalette(theme, self)

    def open(self) -> CommandPalette:
        names = ["Save", "Save as…", "Go to Memory and fit"]
        entries = [entry(name, run=lambda name=name: self.ran.append(name)) for name in names]  # type: ignore[misc]
        entries += [entry("B200", PARTS, run=lambda: self.ran.append("B200"))]
        self.palette_.open(entries)
        return self.palette_


@pytest.fixture
def window(theme: Theme, qtbot: QtBot) -> Window:
    made = Window(theme)
    qtbot.addWidget(made)
    made.resize(1000, 700)
    made.show()
    made.activateWindow()
    qtbot.waitUntil(made.isActiveWindow)
    made.button.setFocus()
    return made


def chosen(palette: CommandPalette) -> str:
    return str(palette.view.currentIndex().data())


def test_typing_and_enter_run_the_best_and_give_the_focus_back(window: Window) -> None:
    palette = window.open()
    assert palette.search.hasFocus()
    QTest.keyClicks(palette.search, "mem")
    assert chosen(palette) == "Go to Memory and fit"
    assert palette.search.accessibleDescription() == "1 of 4"
    QTest.keyClick(palette.search, Qt.Key.Key_Return)
    assert window.ran == ["Go to Memory and fit"]
    assert not palette.isVisible()
    assert window.button.hasFocus()


def test_it_closes_where_what_had_the_focus_has_gone(window: Window) -> None:
    palette = window.open()
    delete(window.button)
    palette.close_palette()
    assert not palette.isVisible()


def test_arrows_go_over_groups_and_around(window: Window) -> None:
    palette = window.open()
    passed = []
    for _ in range(5):
        passed.append(chosen(palette))
        QTest.keyClick(palette.search, Qt.Key.Key_Down)
    assert passed == ["Save", "Save as…", "Go to Memory and fit", "B200", "Save"]
    QTest.keyClick(palette.search, Qt.Key.Key_PageDown)
    assert chosen(palette) == "B200"
    QTest.keyClick(palette.search, Qt.Key.Key_PageUp)
    assert chosen(palette) == "Save"


def test_tab_searches_one_group_after_the_other(window: Window) -> None:
    palette = window.open()
    seen = []
    for _ in range(3):
        QTest.keyClick(palette.search, Qt.Key.Key_Tab)
        seen.append(palette.search.accessibleDescription())
    assert seen == ["3 of 4", "1 of 4", "4 of 4"]
    assert palette.search.hasFocus()


@pytest.mark.parametrize("way", ["escape", "outside"])
def test_it_closes_without_running_anything(window: Window, way: str) -> None:
    palette = window.open()
    if way == "escape":
        QTest.keyClick(palette.search, Qt.Key.Key_Escape)
    else:
        QTest.mouseClick(palette, Qt.MouseButton.LeftButton, pos=QPoint(5, 690))
    assert not palette.isVisible()
    assert window.ran == []
    assert window.button.hasFocus()


def test_a_click_runs_a_row(window: Window) -> None:
    palette = window.open()
    row = palette.view.visualRect(palette.view.model().index(2, 0)).center()
    QTest.mouseClick(palette.view.viewport(), Qt.MouseButton.LeftButton, pos=row)
    assert window.ran == ["Save as…"]


def test_shortcuts_do_not_reach_what_lies_behind(window: Window) -> None:
    palette = window.open()
    QTest.keyClick(palette.search, Qt.Key.Key_3, Qt.KeyboardModifier.ControlModifier)
    assert window.ran == []
    QTest.keyClick(palette.search, Qt.Key.Key_Escape)
    QTest.keyClick(window.button, Qt.Key.Key_3, Qt.KeyboardModifier.ControlModifier)
    assert window.ran == ["shortcut"]


def test_it_stays_within_a_small_window(window: Window, theme: Theme) -> None:
    palette = window.open()
    theme.set_font_percent(150)
    window.resize(420, 260)
    box = palette.view.parentWidget()
    assert box is not None
    assert palette.rect() == window.rect()
    assert window.rect().contains(box.geometry())


def test_nothing_found_says_so_and_runs_nothing(window: Window) -> None:
    palette = window.open()
    QTest.keyClicks(palette.search, "quux")
    QTest.keyClick(palette.search, Qt.Key.Key_Return)
    assert palette.isVisible()
    assert window.ran == []
    assert palette.search.accessibleDescription() == "0 of 4"
