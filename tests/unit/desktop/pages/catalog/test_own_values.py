"""The user's own values on the page Catalog: edited, marked, listed, reset."""

from functools import partial

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot

from gpudesk.desktop.pages.catalog.page import CatalogPage
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.selection import EditorKind, EditorRequest
from gpudesk.desktop.session.settings import UserSettings
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.domain.attributes import CatalogSection
from gpudesk.domain.claim import SourceKind
from gpudesk.domain.user_facts import FactEdit, UserClaim, UserPrice
from gpudesk.text.messages import InputError, message
from tests.unit.desktop.pages.catalog.reading import action, entries, go_to, keys, state
from tests.unit.domain.own_samples import LAB, OFFER, TODAY


@pytest.mark.parametrize(
    ("section", "row", "column", "request_"),
    [
        (
            CatalogSection.ACCELERATORS,
            "mi325x",
            "memory_bandwidth",
            EditorRequest(EditorKind.VALUE, "mi325x", "memory_bandwidth"),
        ),
        (CatalogSection.ACCELERATORS, "mi355x", "price", EditorRequest(EditorKind.VALUE, "mi355x", "price_low")),
        (CatalogSection.ACCELERATORS, "mi355x", "name", None),
        (CatalogSection.DISPUTES, "D-001", "verdict", "VALUE"),
    ],
)
def test_f2_asks_for_the_editor_of_the_cell(
    page: CatalogPage,
    qtbot: QtBot,
    section: CatalogSection,
    row: str,
    column: str,
    request_: EditorRequest | str | None,
) -> None:
    page.show_section(section)
    go_to(page, row, column)
    asked: list[EditorRequest] = []
    page.editing_requested.connect(asked.append)
    QTest.keyClick(page.view, Qt.Key.Key_F2)
    if request_ == "VALUE":
        assert asked[0].kind is EditorKind.VALUE
        assert asked[0].thing == "mi325x"
    else:
        assert asked == ([] if request_ is None else [request_])


def test_a_claim_can_be_preferred_from_its_row(page: CatalogPage) -> None:
    page.show_section(CatalogSection.CLAIMS)
    rival = next(
        row for row in page.model.table.rows if row.attribute == "memory_bandwidth" and row.values[4] == "refused"
    )
    go_to(page, rival.key, "value")
    asked: list[EditorRequest] = []
    page.editing_requested.connect(asked.append)
    action(page, "prefer").run()
    assert asked[0].kind is EditorKind.PREFERENCE
    assert (asked[0].thing, asked[0].attribute) == (rival.thing, rival.attribute)
    assert asked[0].claim is not None


def test_an_edit_shows_at_once_with_its_mark_and_is_taken_back(page: CatalogPage, own_desk: Desk, qtbot: QtBot) -> None:
    go_to(page, "mi325x", "memory_bandwidth")
    state(own_desk)
    line = page.model.find_catalog_line("mi325x")
    number = page.model.table.place("memory_bandwidth")
    qtbot.waitUntil(lambda: page.model.index(line, number).data() == "5.90")
    assert "your value" in page.model.sentence(line, number)
    assert page.view.get_current_keys() == ("mi325x", "memory_bandwidth"), "the place stays"
    menu = QMenu(page)
    row = page.model.row(line)
    assert row is not None
    page.commands.fill_cell_menu(menu, row, page.model.column(number))
    assert "Use shipped value, keep yours" in entries(menu)
    action(page, "revert").run()
    qtbot.waitUntil(lambda: page.model.index(line, number).data() == "6.00")


def test_yours_lists_what_was_stated_and_delete_takes_it_back(page: CatalogPage, own_desk: Desk, qtbot: QtBot) -> None:
    page.show_section(CatalogSection.YOURS)
    assert page.empty.isVisibleTo(page)
    with qtbot.waitSignal(page.import_requested):
        QTest.mouseClick(page.empty.button, Qt.MouseButton.LeftButton)
    state(own_desk, 5.7)
    qtbot.waitUntil(lambda: keys(page) == ["mi325x/memory_bandwidth"])
    texts = [page.model.index(0, n).data() for n in range(6)]
    assert texts == ["MI325X", "Bandwidth", "5.7", "TB/s", "6.0", "−5%"]
    go_to(page, "mi325x/memory_bandwidth", "yours")
    QTest.keyClick(page.view, Qt.Key.Key_Delete)
    qtbot.waitUntil(lambda: not keys(page))


def _lists(page: CatalogPage, count: int) -> bool:
    return len(keys(page)) == count


def test_what_waits_says_why_and_delete_removes_it(page: CatalogPage, own_desk: Desk, qtbot: QtBot) -> None:
    claim = UserClaim("part-of-yesterday", "memory", 2**30, LAB.id, SourceKind.USER, TODAY)
    price = UserPrice("o-1", "part-of-yesterday", "on_demand", OFFER.id, SourceKind.USER, 2.5)
    stated = (LAB, OFFER, claim, price)
    own_desk.service.user_catalog.do(FactEdit(message("own.step.add", "Add {name}", name="former facts"), after=stated))
    page.show_section(CatalogSection.YOURS)
    reason = page.model.table.place("reason")
    why = "the entry part-of-yesterday is no longer in the catalog"
    for left in (2, 1):
        (*_, last) = keys(page)
        assert len(keys(page)) == left
        go_to(page, last, "reason")
        assert page.model.index(page.model.find_catalog_line(last), reason).data() == why
        assert not page.commands.can_use()
        asked: list[EditorRequest] = []
        page.editing_requested.connect(asked.append)
        QTest.keyClick(page.view, Qt.Key.Key_F2)
        assert not asked, "there is nothing to enter it for"
        menu, row = QMenu(page), page.model.row(page.model.find_catalog_line(last))
        assert row is not None
        page.commands.fill_cell_menu(menu, row, page.model.column(reason))
        assert entries(menu)["Remove from your values"]
        QTest.keyClick(page.view, Qt.Key.Key_Delete)
        qtbot.waitUntil(partial(_lists, page, left - 1))
    assert len(own_desk.service.user_catalog.facts) == 0, "their sources went with them"


def test_a_file_that_cannot_be_used_is_said_with_a_way_to_its_backups(
    own_desk: Desk, theme: Theme, settings: UserSettings, qtbot: QtBot
) -> None:
    broken = message("file.unreadable", "cannot be read: {reason}", reason="it is broken")
    own_desk.service.user_catalog.problem = InputError(broken)
    page = CatalogPage(own_desk, theme, settings)
    qtbot.addWidget(page)
    page.show()
    assert not page.note.text, "the window says it"
    assert not page.add_button.isEnabled()
    page.show_section(CatalogSection.YOURS)
    assert page.empty.title.text() == "Your values are not used"
    assert "it is broken" in page.empty.words.text()
    with qtbot.waitSignal(page.backups_requested):
        QTest.mouseClick(page.empty.button, Qt.MouseButton.LeftButton)
    page.show_section(CatalogSection.ACCELERATORS)
    go_to(page, "mi325x", "tdp")
    assert not action(page, "edit").enabled()
