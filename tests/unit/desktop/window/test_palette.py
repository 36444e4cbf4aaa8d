"""The command palette: search and navigation."""

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

COMMANDS, ACCELERATORS = "Commands", "Accelerators"


def do_nothing() -> None: ...


def make_entry(
    title: str, group: str = COMMANDS, detail: str = "", run: Callable[[], object] = do_nothing, *, enabled: bool = True
) -> PaletteEntry:
    return PaletteEntry(group, title, detail, "cpu", "", run, enabled)


def list_titles(model: PaletteModel) -> list[str]:
    rows = [model.index(row).data(ROW_ROLE) for row in range(model.rowCount())]
    return [row.entry.title for row in rows if isinstance(row, PaletteMatch)]


def search(text: str, *entries: PaletteEntry) -> list[str]:
    model = PaletteModel()
    model.set_entries(entries)
    model.search(text)
    return list_titles(model)


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
def test_search_finds_words_parts_initials_and_typos(text: str, expected: list[str]) -> None:
    titles_ = search(
        text,
        make_entry("Go to Memory and fit"),
        make_entry("Save as…"),
        make_entry("MI325X", ACCELERATORS, "256 GiB"),
        make_entry("B200", ACCELERATORS, "180 GiB"),
    )
    assert sorted(titles_) == sorted(expected)


def test_best_match_and_its_group_come_first() -> None:
    matches = search(
        "b2",
        make_entry("Web 2"),
        make_entry("Sub2"),
        make_entry("GB200", ACCELERATORS),
        make_entry("B200", ACCELERATORS),
    )
    assert matches == ["B200", "GB200", "Sub2"]


def test_disabled_entries_come_last_and_are_skipped() -> None:
    model = PaletteModel()
    model.set_entries([make_entry("Undo", enabled=False), make_entry("Show undo list")])
    model.search("undo")
    assert list_titles(model) == ["Show undo list", "Undo"]
    assert model.next_row(1, 1) == -1


def test_matches_are_marked_in_the_title_itself() -> None:
    model = PaletteModel()
    model.set_entries([make_entry("Straße zur Memory")])
    model.search("mem")
    row = model.index(1).data(ROW_ROLE)
    assert isinstance(row, PaletteMatch)
    assert "".join(row.entry.title[index] for index in row.matched) == "Mem"


def test_model_passes_the_model_tester(qtmodeltester: ModelTester) -> None:
    model = PaletteModel()
    model.set_entries([make_entry("Undo", enabled=False), make_entry("Save"), make_entry("B200", ACCELERATORS)])
    qtmodeltester.check(model)  # type: ignore[no-untyped-call]


def test_search_of_500_entries_is_fast() -> None:
    model = PaletteModel()
    model.set_entries([make_entry(f"Entry {n} of memory and fit", f"G{n % 4}", "detail") for n in range(500)])
    best = {}
    for text in ("m", "mem fit", "nmbr", "x"):
        times = []
        for _ in range(5):
            start = thread_time()
            model.search(text)
            times.append(thread_time() - start)
        best[text] = min(times)
    assert max(best.values()) < 0.005, best


class Window(QWidget):
    """A window with a button and a palette, which records the commands that ran."""

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
        entries = [make_entry(name, run=lambda name=name: self.ran.append(name)) for name in names]  # type: ignore[misc]
        entries += [make_entry("B200", ACCELERATORS, run=lambda: self.ran.append("B200"))]
        self.palette_.open(entries)
        return self.palette_


@pytest.fixture
def window(theme: Theme, qtbot: QtBot) -> Window:
    window = Window(theme)
    qtbot.addWidget(window)
    window.resize(1000, 700)
    window.show()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    window.button.setFocus()
    return window


def get_current(palette: CommandPalette) -> str:
    return str(palette.view.currentIndex().data())


def test_enter_runs_the_best_match_and_returns_the_focus(window: Window) -> None:
    palette = window.open()
    assert palette.search.hasFocus()
    QTest.keyClicks(palette.search, "mem")
    assert get_current(palette) == "Go to Memory and fit"
    assert palette.search.accessibleDescription() == "1 of 4"
    QTest.keyClick(palette.search, Qt.Key.Key_Return)
    assert window.ran == ["Go to Memory and fit"]
    assert not palette.isVisible()
    assert window.button.hasFocus()


def test_palette_closes_after_the_focused_widget_was_deleted(window: Window) -> None:
    palette = window.open()
    delete(window.button)
    palette.close_palette()
    assert not palette.isVisible()


def test_arrow_keys_cross_groups_and_wrap_around(window: Window) -> None:
    palette = window.open()
    choices = []
    for _ in range(5):
        choices.append(get_current(palette))
        QTest.keyClick(palette.search, Qt.Key.Key_Down)
    assert choices == ["Save", "Save as…", "Go to Memory and fit", "B200", "Save"]
    QTest.keyClick(palette.search, Qt.Key.Key_PageDown)
    assert get_current(palette) == "B200"
    QTest.keyClick(palette.search, Qt.Key.Key_PageUp)
    assert get_current(palette) == "Save"


def test_tab_cycles_through_groups(window: Window) -> None:
    palette = window.open()
    counts = []
    for _ in range(3):
        QTest.keyClick(palette.search, Qt.Key.Key_Tab)
        counts.append(palette.search.accessibleDescription())
    assert counts == ["3 of 4", "1 of 4", "4 of 4"]
    assert palette.search.hasFocus()


@pytest.mark.parametrize("closing_way", ["escape", "outside"])
def test_escape_or_click_outside_closes_the_palette(window: Window, closing_way: str) -> None:
    palette = window.open()
    if closing_way == "escape":
        QTest.keyClick(palette.search, Qt.Key.Key_Escape)
    else:
        QTest.mouseClick(palette, Qt.MouseButton.LeftButton, pos=QPoint(5, 690))
    assert not palette.isVisible()
    assert window.ran == []
    assert window.button.hasFocus()


def test_click_runs_a_command(window: Window) -> None:
    palette = window.open()
    row = palette.view.visualRect(palette.view.model().index(2, 0)).center()
    QTest.mouseClick(palette.view.viewport(), Qt.MouseButton.LeftButton, pos=row)
    assert window.ran == ["Save as…"]


def test_shortcuts_do_not_reach_the_window_behind(window: Window) -> None:
    palette = window.open()
    QTest.keyClick(palette.search, Qt.Key.Key_3, Qt.KeyboardModifier.ControlModifier)
    assert window.ran == []
    QTest.keyClick(palette.search, Qt.Key.Key_Escape)
    QTest.keyClick(window.button, Qt.Key.Key_3, Qt.KeyboardModifier.ControlModifier)
    assert window.ran == ["shortcut"]


def test_palette_fits_a_small_window(window: Window, theme: Theme) -> None:
    palette = window.open()
    theme.set_font_percent(150)
    window.resize(420, 260)
    box = palette.view.parentWidget()
    assert box is not None
    assert palette.rect() == window.rect()
    assert window.rect().contains(box.geometry())


def test_enter_without_matches_runs_nothing(window: Window) -> None:
    palette = window.open()
    QTest.keyClicks(palette.search, "quux")
    QTest.keyClick(palette.search, Qt.Key.Key_Return)
    assert palette.isVisible()
    assert window.ran == []
    assert palette.search.accessibleDescription() == "0 of 4"
