"""The About dialog: facts, copying, and licenses of third-party software, all by keyboard."""

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
WORKS = [
    ThirdPartyWork(PROGRAM, "0.1.0", "Apache-2.0", kind="program"),
    ThirdPartyWork(
        "libpng", "1.6.59", "libpng-2.0", "Cosmin Truta", within="Qt", copyright=("Copyright Cosmin Truta",)
    ),
    ThirdPartyWork("numpy", "2.4.6", "BSD-3-Clause"),
]
#: As many as a frozen program lists.
MANY_WORKS = [*WORKS, *(ThirdPartyWork(f"crate-{number}", "1.0", "MIT OR Apache-2.0") for number in range(60))]


@pytest.fixture
def dialog(theme: Theme, qtbot: QtBot, service: GpuDeskService) -> AboutDialog:
    return open_dialog(theme, qtbot, AboutDialog(theme, list_program_facts(service), MANY_WORKS))


def open_dialog(theme: Theme, qtbot: QtBot, dialog: AboutDialog) -> AboutDialog:
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


def tab_to(widget: QWidget) -> None:
    for _ in range(20):
        if QApplication.focusWidget() is widget:
            return
        press(Qt.Key.Key_Tab)
    pytest.fail(f"Tab does not reach {widget.accessibleName()}")


def visible_rows(dialog: AboutDialog) -> list[str]:
    return [name for name, _ in dialog.parts.table.texts()]


def test_facts_name_versions_commit_data_and_user_folder(
    service: GpuDeskService, monkeypatch: pytest.MonkeyPatch
) -> None:
    program_release = ProgramRelease(__version__, COMMIT, "2026-11-22T20:00:00Z", modified=True)
    monkeypatch.setattr(about, "get_release", lambda: program_release)
    facts = {fact.name: fact for fact in list_program_facts(service)}
    assert facts["Version"].value == __version__
    assert facts["Commit"].value == "0123456789, 2026-11-22, with local changes"
    assert facts["Commit"].copied == f"{COMMIT}, 2026-11-22T20:00:00Z, with local changes"
    assert service.catalog.revision in facts["Catalog"].value
    assert facts["Installed"].value == "source checkout"
    assert facts["Your data"].value == str(paths.get_user_dir())
    assert {"Python", "Qt", "PySide6", "NumPy", "pyqtgraph"} <= facts.keys()


def test_unknown_commit_is_not_recorded(service: GpuDeskService, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(about, "get_release", lambda: ProgramRelease(__version__))
    assert ("Commit", "not recorded") in {(fact.name, fact.value) for fact in list_program_facts(service)}


def test_commit_is_read_only_when_about_opens(monkeypatch: pytest.MonkeyPatch) -> None:
    queries: list[Path] = []

    def read_release(root: Path) -> ProgramRelease:
        queries.append(root)
        return ProgramRelease(__version__)

    monkeypatch.setattr(release, "read_release", read_release)
    release.get_release.cache_clear()
    with GpuDeskService.open() as service:
        assert not queries
        list_program_facts(service)
    release.get_release.cache_clear()
    assert len(queries) == 1


def test_one_button_copies_everything(theme: Theme, qtbot: QtBot, service: GpuDeskService) -> None:
    facts = list_program_facts(service)
    dialog = open_dialog(theme, qtbot, AboutDialog(theme, facts, WORKS))
    visible_text = " ".join(label.text() for label in dialog.findChildren(QLabel))
    assert all(fact.value in visible_text for fact in facts)
    tab_to(dialog.copy)
    press(Qt.Key.Key_Space)
    copied = QGuiApplication.clipboard().text()
    assert all(f"{fact.name}: {fact.copied or fact.value}\n" in copied for fact in facts)
    assert "libpng 1.6.59 (in Qt): libpng-2.0\nnumpy 2.4.6: BSD-3-Clause\n" in copied
    assert dialog.copy.text() == "Copied"


def test_short_list_has_no_filter(theme: Theme, qtbot: QtBot) -> None:
    dialog = open_dialog(theme, qtbot, AboutDialog(theme, [], WORKS))
    assert visible_rows(dialog) == ["GPU Desk 0.1.0", "libpng 1.6.59 (in Qt)", "numpy 2.4.6"]
    assert not dialog.parts.filter.isVisible()


def test_long_list_is_filtered_by_name_and_license(dialog: AboutDialog) -> None:
    tab_to(dialog.parts.filter)
    QTest.keyClicks(dialog.parts.filter, "qt PNG")
    assert visible_rows(dialog) == ["libpng 1.6.59 (in Qt)"]
    assert dialog.parts.filter.accessibleDescription() == "1 of 63"
    QTest.keyClick(dialog.parts.filter, Qt.Key.Key_Escape)
    assert len(visible_rows(dialog)) == 63
    QTest.keyClicks(dialog.parts.filter, "bsd")
    assert visible_rows(dialog) == ["numpy 2.4.6"]


def test_filter_without_matches_disables_opening(dialog: AboutDialog) -> None:
    tab_to(dialog.parts.filter)
    QTest.keyClicks(dialog.parts.filter, "quux")
    assert visible_rows(dialog) == []
    assert not dialog.license_button.isEnabled()
    dialog.parts.open_current()
    assert dialog.license_button.isVisible()


def test_columns_have_accessible_names(dialog: AboutDialog) -> None:
    model = dialog.parts.table.model()
    names = [model.headerData(column, Qt.Orientation.Horizontal) for column in range(2)]
    assert names == ["Component", "License"]


def test_enter_opens_the_license_and_escape_returns(dialog: AboutDialog) -> None:
    tab_to(dialog.parts.filter)
    press(Qt.Key.Key_Down, "libpng")
    assert dialog.parts.table.hasFocus()
    press(Qt.Key.Key_Return)
    assert dialog.isVisible()
    assert dialog.license.text.hasFocus()
    assert dialog.license.title.text() == "libpng 1.6.59 (in Qt)"
    assert "Cosmin Truta" in dialog.license.facts.text()
    assert "Copyright Cosmin Truta" in dialog.license.text.toPlainText()
    dialog.copy.click()
    copied = QGuiApplication.clipboard().text()
    assert copied.startswith("libpng 1.6.59 (in Qt)\n")
    assert copied.endswith(dialog.license.text.toPlainText())
    press(Qt.Key.Key_Escape)
    assert dialog.isVisible()
    assert dialog.parts.table.hasFocus()
    press(Qt.Key.Key_Escape)
    assert not dialog.isVisible()


def test_button_opens_the_license_and_back_returns(dialog: AboutDialog) -> None:
    tab_to(dialog.license_button)
    press(Qt.Key.Key_Space)
    assert dialog.license.isVisible()
    assert not dialog.license_button.isVisible()
    tab_to(dialog.license.back)
    press(Qt.Key.Key_Space)
    assert dialog.parts.isVisible()
    assert dialog.license_button.isVisible()


def test_double_click_opens_the_license(dialog: AboutDialog) -> None:
    table = dialog.parts.table
    position = table.visualRect(table.model().index(1, 0)).center()
    QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=position)
    QTest.mouseDClick(table.viewport(), Qt.MouseButton.LeftButton, pos=position)
    assert dialog.license.title.text() == "libpng 1.6.59 (in Qt)"


def test_missing_license_text_is_reported(theme: Theme, qtbot: QtBot) -> None:
    dialog = open_dialog(theme, qtbot, AboutDialog(theme, [], WORKS))
    dialog.show_license(WORKS[2])
    assert "does not include this license text" in dialog.license.text.toPlainText()


def test_program_opens_its_own_license(theme: Theme, qtbot: QtBot) -> None:
    dialog = open_dialog(theme, qtbot, AboutDialog(theme, [], list_third_party()))
    tab_to(dialog.parts.table)
    press(Qt.Key.Key_Return)
    assert "Apache License" in dialog.license.text.toPlainText()


@pytest.mark.parametrize("percent", [100, 150])
def test_no_label_is_clipped(theme: Theme, qtbot: QtBot, service: GpuDeskService, percent: int) -> None:
    theme.set_font_percent(percent)
    dialog = open_dialog(theme, qtbot, AboutDialog(theme, list_program_facts(service), MANY_WORKS))
    for label in dialog.findChildren(QLabel):
        if label.isVisible() and label.text():
            needed = label.heightForWidth(label.width()) if label.wordWrap() else label.sizeHint().height()
            assert label.height() >= needed, label.text()
    assert dialog.height() <= dialog.screen().availableSize().height()
