"""The user's values on the Catalog page: edited, marked, listed, reset."""

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
from tests.unit.desktop.pages.catalog.page_helpers import (
    enter_bandwidth,
    find_action,
    go_to,
    list_row_keys,
    map_menu_entries,
)
from tests.unit.domain.user_samples import LAB, OFFER, TODAY


@pytest.mark.parametrize(
    ("section", "row", "column", "expected"),
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
def test_f2_requests_the_editor_of_the_cell(
    page: CatalogPage,
    qtbot: QtBot,
    section: CatalogSection,
    row: str,
    column: str,
    expected: EditorRequest | str | None,
) -> None:
    page.show_section(section)
    go_to(page, row, column)
    requests: list[EditorRequest] = []
    page.editing_requested.connect(requests.append)
    QTest.keyClick(page.view, Qt.Key.Key_F2)
    if expected == "VALUE":
        assert requests[0].kind is EditorKind.VALUE
        assert requests[0].thing == "mi325x"
    else:
        assert requests == ([] if expected is None else [expected])


def test_claim_is_preferred_from_its_row(page: CatalogPage) -> None:
    page.show_section(CatalogSection.CLAIMS)
    rival = next(
        row for row in page.model.table.rows if row.attribute == "memory_bandwidth" and row.values[4] == "refused"
    )
    go_to(page, rival.key, "value")
    requests: list[EditorRequest] = []
    page.editing_requested.connect(requests.append)
    find_action(page, "prefer").run()
    assert requests[0].kind is EditorKind.PREFERENCE
    assert (requests[0].thing, requests[0].attribute) == (rival.thing, rival.attribute)
    assert requests[0].claim is not None


def test_edit_is_marked_and_reverted(page: CatalogPage, user_desk: Desk, qtbot: QtBot) -> None:
    go_to(page, "mi325x", "memory_bandwidth")
    enter_bandwidth(user_desk)
    line = page.model.find_catalog_line("mi325x")
    column = page.model.table.place("memory_bandwidth")
    qtbot.waitUntil(lambda: page.model.index(line, column).data() == "5.90")
    assert "your value" in page.model.sentence(line, column)
    assert page.view.get_current_keys() == ("mi325x", "memory_bandwidth"), "the current cell stays"
    menu = QMenu(page)
    row = page.model.row(line)
    assert row is not None
    page.commands.fill_cell_menu(menu, row, page.model.column(column))
    assert "Use shipped value, keep yours" in map_menu_entries(menu)
    find_action(page, "revert").run()
    qtbot.waitUntil(lambda: page.model.index(line, column).data() == "6.00")


def test_user_values_are_listed_and_deleted(page: CatalogPage, user_desk: Desk, qtbot: QtBot) -> None:
    page.show_section(CatalogSection.YOURS)
    assert page.empty.isVisibleTo(page)
    with qtbot.waitSignal(page.import_requested):
        QTest.mouseClick(page.empty.button, Qt.MouseButton.LeftButton)
    enter_bandwidth(user_desk, 5.7)
    qtbot.waitUntil(lambda: list_row_keys(page) == ["mi325x/memory_bandwidth"])
    texts = [page.model.index(0, column).data() for column in range(6)]
    assert texts == ["MI325X", "Bandwidth", "5.7", "TB/s", "6.0", "−5%"]
    go_to(page, "mi325x/memory_bandwidth", "yours")
    QTest.keyClick(page.view, Qt.Key.Key_Delete)
    qtbot.waitUntil(lambda: not list_row_keys(page))


def _has_row_count(page: CatalogPage, count: int) -> bool:
    return len(list_row_keys(page)) == count


def test_inactive_values_have_a_reason_and_are_deleted(page: CatalogPage, user_desk: Desk, qtbot: QtBot) -> None:
    claim = UserClaim("removed-accelerator", "memory", 2**30, LAB.id, SourceKind.USER, TODAY)
    price = UserPrice("o-1", "removed-accelerator", "on_demand", OFFER.id, SourceKind.USER, 2.5)
    facts = (LAB, OFFER, claim, price)
    user_desk.service.user_catalog.do(FactEdit(message("own.step.add", "Add {name}", name="former facts"), after=facts))
    page.show_section(CatalogSection.YOURS)
    reason_column = page.model.table.place("reason")
    reason_text = "the entry removed-accelerator is no longer in the catalog"
    for remaining in (2, 1):
        (*_, row_key) = list_row_keys(page)
        assert len(list_row_keys(page)) == remaining
        go_to(page, row_key, "reason")
        assert page.model.index(page.model.find_catalog_line(row_key), reason_column).data() == reason_text
        assert not page.commands.can_use()
        requests: list[EditorRequest] = []
        page.editing_requested.connect(requests.append)
        QTest.keyClick(page.view, Qt.Key.Key_F2)
        assert not requests, "the entry is missing"
        menu, row = QMenu(page), page.model.row(page.model.find_catalog_line(row_key))
        assert row is not None
        page.commands.fill_cell_menu(menu, row, page.model.column(reason_column))
        assert map_menu_entries(menu)["Remove from your values"]
        QTest.keyClick(page.view, Qt.Key.Key_Delete)
        qtbot.waitUntil(partial(_has_row_count, page, remaining - 1))
    assert len(user_desk.service.user_catalog.facts) == 0, "the sources are removed with them"


def test_unusable_file_is_reported_with_a_link_to_backups(
    user_desk: Desk, theme: Theme, settings: UserSettings, qtbot: QtBot
) -> None:
    broken = message("file.unreadable", "cannot be read: {reason}", reason="it is broken")
    user_desk.service.user_catalog.problem = InputError(broken)
    page = CatalogPage(user_desk, theme, settings)
    qtbot.addWidget(page)
    page.show()
    assert not page.note.text, "the window reports it"
    assert not page.add_button.isEnabled()
    page.show_section(CatalogSection.YOURS)
    assert page.empty.title.text() == "Your values are not used"
    assert "it is broken" in page.empty.words.text()
    with qtbot.waitSignal(page.backups_requested):
        QTest.mouseClick(page.empty.button, Qt.MouseButton.LeftButton)
    page.show_section(CatalogSection.ACCELERATORS)
    go_to(page, "mi325x", "tdp")
    assert not find_action(page, "edit").enabled()
