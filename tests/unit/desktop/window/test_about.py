"""About: what it says, what it copies, and the licenses that it opens, all of it by keyboard."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from gpudesk import __version__, paths, release
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.window.dialogs import about
from gpudesk.desktop.window.dialogs.about import AboutDialog, list_program_facts
from gpudesk.release import ProgramRelease
from gpudesk.service import GpuDeskService
from gpudesk.third_party import PROGRAM, ThirdPartyWork, list_third_party

COMMIT = "0123456789abcdef0123456789abcdef01234567"
FEW = [
    ThirdPartyWork(PROGRAM, "0.1.0", "Apache-2.0", kind="program"),
    ThirdPartyWork(
        "libpng", "1.6.59", "libpng-2.0", "Cosmin Truta", within="Qt", copyright=("Copyright Cosmin Truta",)
    ),
    ThirdPartyWork("numpy", "2.4.6", "BSD-3-Clause"),
]
#: As many as a frozen program has.
MANY = [*FEW, *(ThirdPartyWork(f"crate-{number}", "1.0", "MIT OR Apache-2.0") for number in range(60))]


@pytest.fixture
def shown(theme: Theme, qtbot: QtBot, service: GpuDeskService) -> AboutDialog:
    return opened(theme, qtbot, AboutDialog(theme, list_program_facts(service), MANY))


def opened(theme: Theme, qtbot: QtBot, dialog: AboutDialog) -> AboutDialog:
    qtbot.addWidget(dialog)
    dialog.show()
    dialog.activateWindow()
    qtbot.waitUntil(dialog.isActiveWindow)
    return dialog


def press(key: Qt.Key, text: str = "") -> None:
    focused = QApplication.focusWidget()
    assert focused is not None
    if text:
        QTest.keyClicks(focused, text)
    QTest.keyClick(focused, key)


def tab_to(wanted: QWidget) -> None:
    for _ in range(20):
        if QApplication.focusWidget() is wanted:
            return
        press(Qt.Key.Key_Tab)
    pytest.fail(f"Tab does not reach {wanted.accessibleName()}")


def visible_rows(dialog: AboutDialog) -> list[str]:
    table = dialog.parts.table
    rows = [row for row in range(table.rowCount()) if not table.isRowHidden(row)]
    return [item.text() for row in rows if (item := table.item(row, 0)) is not None]


def test_facts_name_versions_commit_data_and_where_the_users_files_are(
    service: GpuDeskService, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted = ProgramRelease(__version__, COMMIT, "2026-11-22T20:00:00Z", modified=True)
    monkeypatch.setattr(about, "get_release", lambda: noted)
    facts = {fact.name: fact for fact in list_program_facts(service)}
    assert facts["Version"].value == __version__
    assert facts["Commit"].value == "0123456789, 2026-11-22, with local changes"
    assert facts["Commit"].copied == f"{COMMIT}, 2026-11-22T20:00:00Z, with local changes"
    assert service.catalog.revision in facts["Catalog"].value
    assert facts["Installed"].value == "source checkout"
    assert facts["Your data"].value == str(paths.get_user_dir())
    assert {"Python", "Qt", "PySide6", "NumPy", "pyqtgraph"} <= facts.keys()


def test_an_unknown_commit_is_said_to_be_unknown(service: GpuDeskService, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(about, "get_release", lambda: ProgramRelease(__version__))
    assert ("Commit", "not recorded") in {(fact.name, fact.value) for fact in list_program_facts(service)}


def test_about_asks_for_the_commit_once_it_is_opened_only(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Path] = []

    def answer(root: Path) -> ProgramRelease:
        asked.append(root)
        return ProgramRelease(__version__)

    monkeypatch.setattr(release, "read_release", answer)
    release.get_release.cache_clear()
    with GpuDeskService.open() as service:
        assert not asked
        list_program_facts(service)
    release.get_release.cache_clear()
    assert len(asked) == 1


def test_one_button_copies_everything(theme: Theme, qtbot: QtBot, service: GpuDeskService) -> None:
    facts = list_program_facts(service)
    dialog = opened(theme, qtbot, AboutDialog(theme, facts, FEW))
    said = " ".join(label.text() for label in dialog.findChildren(QLabel))
    assert all(fact.value in said for fact in facts)
    tab_to(dialog.copy)
    press(Qt.Key.Key_Space)
    copied = QGuiApplication.clipboard().text()
    assert all(f"{fact.name}: {fact.copied or fact.value}\n" in copied for fact in facts)
    assert "libpng 1.6.59 (in Qt): libpng-2.0\nnumpy 2.4.6: BSD-3-Clause\n" in copied
    assert dialog.copy.text() == "Copied"


def test_all_parts_are_listed_and_a_short_list_needs_no_filter(theme: Theme, qtbot: QtBot) -> None:
    dialog = opened(theme, qtbot, AboutDialog(theme, [], FEW))
    assert visible_rows(dialog) == ["GPU Desk 0.1.0", "libpng 1.6.59 (in Qt)", "numpy 2.4.6"]
    assert not dialog.parts.filter.isVisible()


def test_a_long_list_is_narrowed_by_name_and_by_licence(shown: AboutDialog) -> None:
    tab_to(shown.parts.filter)
    QTest.keyClicks(shown.parts.filter, "qt PNG")
    assert visible_rows(shown) == ["libpng 1.6.59 (in Qt)"]
    assert shown.parts.filter.accessibleDescription() == "1 of 63"
    QTest.keyClick(shown.parts.filter, Qt.Key.Key_Escape)
    assert len(visible_rows(shown)) == 63
    QTest.keyClicks(shown.parts.filter, "bsd")
    assert visible_rows(shown) == ["numpy 2.4.6"]


def test_a_filter_that_nothing_has_leaves_nothing_to_open(shown: AboutDialog) -> None:
    tab_to(shown.parts.filter)
    QTest.keyClicks(shown.parts.filter, "quux")
    assert visible_rows(shown) == []
    assert not shown.licence_button.isEnabled()
    shown.parts.open_current()
    assert shown.licence_button.isVisible()


def test_columns_have_names_to_be_read_out(shown: AboutDialog) -> None:
    model = shown.parts.table.model()
    names = [model.headerData(column, Qt.Orientation.Horizontal) for column in range(2)]
    assert names == ["Component", "License"]


def test_enter_in_the_list_opens_the_licence_and_escape_comes_back(shown: AboutDialog) -> None:
    tab_to(shown.parts.filter)
    press(Qt.Key.Key_Down, "libpng")
    assert shown.parts.table.hasFocus()
    press(Qt.Key.Key_Return)
    assert shown.isVisible()
    assert shown.licence.text.hasFocus()
    assert shown.licence.title.text() == "libpng 1.6.59 (in Qt)"
    assert "Cosmin Truta" in shown.licence.facts.text()
    assert "Copyright Cosmin Truta" in shown.licence.text.toPlainText()
    shown.copy.click()
    copied = QGuiApplication.clipboard().text()
    assert copied.startswith("libpng 1.6.59 (in Qt)\n")
    assert copied.endswith(shown.licence.text.toPlainText())
    press(Qt.Key.Key_Escape)
    assert shown.isVisible()
    assert shown.parts.table.hasFocus()
    press(Qt.Key.Key_Escape)
    assert not shown.isVisible()


def test_the_button_opens_the_licence_too_and_back_returns(shown: AboutDialog) -> None:
    tab_to(shown.licence_button)
    press(Qt.Key.Key_Space)
    assert shown.licence.isVisible()
    assert not shown.licence_button.isVisible()
    tab_to(shown.licence.back)
    press(Qt.Key.Key_Space)
    assert shown.parts.isVisible()
    assert shown.licence_button.isVisible()


def test_a_double_click_opens_the_licence(shown: AboutDialog) -> None:
    table = shown.parts.table
    place = table.visualRect(table.model().index(1, 0)).center()
    QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    QTest.mouseDClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert shown.licence.title.text() == "libpng 1.6.59 (in Qt)"


def test_a_part_whose_text_is_not_there_says_so(theme: Theme, qtbot: QtBot) -> None:
    dialog = opened(theme, qtbot, AboutDialog(theme, [], FEW))
    dialog.show_licence(FEW[2])
    assert "does not include this license text" in dialog.licence.text.toPlainText()


def test_the_program_opens_its_own_licence(theme: Theme, qtbot: QtBot) -> None:
    dialog = opened(theme, qtbot, AboutDialog(theme, [], list_third_party()))
    tab_to(dialog.parts.table)
    press(Qt.Key.Key_Return)
    assert "Apache License" in dialog.licence.text.toPlainText()


@pytest.mark.parametrize("percent", [100, 150])
def test_nothing_is_cut_off(theme: Theme, qtbot: QtBot, service: GpuDeskService, percent: int) -> None:
    theme.set_font_percent(percent)
    dialog = opened(theme, qtbot, AboutDialog(theme, list_program_facts(service), MANY))
    for label in dialog.findChildren(QLabel):
        if label.isVisible() and label.text():
            needed = label.heightForWidth(label.width()) if label.wordWrap() else label.sizeHint().height()
            assert label.height() >= needed, label.text()
    assert dialog.height() <= dialog.screen().availableSize().height()
