"""The page Catalog as someone uses it: look, search, narrow, order, copy, edit."""

from dataclasses import replace
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QFontMetricsF
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from gpudesk.desktop.pages.catalog.page import CatalogPage
from gpudesk.desktop.session.actions import MenuId
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.selection import (
    EditorKind,
    EditorRequest,
    select_catalog_attribute,
    select_catalog_dispute,
    select_catalog_price,
    select_catalog_source,
)
from gpudesk.desktop.session.settings import UserSettings
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.window.dialogs.keyboard import list_shortcuts
from gpudesk.documents.settings_file import STALE_PRICE_DAYS
from gpudesk.domain.attributes import CatalogSection
from gpudesk.domain.claim import SourceKind
from tests.unit.desktop.pages.catalog.reading import action, entries, go_to, keys

# Looking


def test_the_page_opens_with_all_accelerators(page: CatalogPage, own_desk: Desk) -> None:
    assert keys(page) == [part.id for part in own_desk.service.catalog.accelerators()]
    assert page.filter.count.text() == f"{len(keys(page))} rows"
    assert page.add_button.text() == "New accelerator…"
    assert set(page.view.scenario_swatches) == {"h200-sxm", "mi325x", "b200-hgx", "mi355x"}


@pytest.mark.parametrize("section", [each for each in CatalogSection if each is not CatalogSection.YOURS])
def test_every_section_has_rows_that_paint(page: CatalogPage, section: CatalogSection) -> None:
    page.show_section(section)
    assert keys(page)
    assert not page.view.grab().isNull()
    assert page.view.accessibleName()
    assert page.head.segment.value == section.value


def test_the_section_is_the_same_at_the_next_start(
    page: CatalogPage, own_desk: Desk, theme: Theme, settings: UserSettings, qtbot: QtBot
) -> None:
    page.show_section(CatalogSection.SOURCES)
    again = CatalogPage(own_desk, theme, settings)
    qtbot.addWidget(again)
    assert again.section is CatalogSection.SOURCES


def test_prices_stand_under_what_they_come_to(page: CatalogPage) -> None:
    page.show_section(CatalogSection.PRICES)
    assert page.model.row(0) is None
    headings = [page.model.sentence(row, 0) for row in page.model.headings]
    (heading,) = [each for each in headings if each.startswith("Instinct MI300X, on-demand")]
    assert "median" in heading
    page.sort_by(page.model.table.place("usd_hour"))
    assert not page.model.headings
    assert len(keys(page)) == len(page.model.lines)


def test_selecting_a_cell_selects_it_for_the_panel(page: CatalogPage, own_desk: Desk) -> None:
    go_to(page, "mi325x", "memory_bandwidth")
    assert own_desk.selection == select_catalog_attribute("mi325x", "memory_bandwidth")
    page.show_section(CatalogSection.PRICES)
    price = keys(page)[0]
    go_to(page, price, "provider")
    assert own_desk.selection == select_catalog_price(price)
    page.show_section(CatalogSection.DISPUTES)
    go_to(page, "D-001", "reason")
    assert own_desk.selection == select_catalog_dispute("D-001")
    page.show_section(CatalogSection.SOURCES)
    source = keys(page)[3]
    go_to(page, source, "trust")
    assert own_desk.selection == select_catalog_source(source)


def test_each_section_keeps_its_cell(page: CatalogPage) -> None:
    go_to(page, "mi325x", "tdp")
    page.show_section(CatalogSection.MODELS)
    page.show_section(CatalogSection.ACCELERATORS)
    assert page.view.get_current_keys() == ("mi325x", "tdp")


# Searching and narrowing


def test_words_search_all_sections_at_once(page: CatalogPage, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: not page.preparing)
    page.filter.field.setText("MI325X")
    assert keys(page) == ["mi325x"]
    assert page.filter.count.text().startswith("1 of ")
    segment = page.head.segment
    qtbot.waitUntil(lambda: "Accelerators  1" in segment_texts(page))
    assert any(text.startswith("Claims  ") for text in segment_texts(page))
    page.show_section(CatalogSection.CLAIMS)
    shown = set(keys(page))
    assert {row.values[0] for row in page.model.table.rows if row.key in shown} >= {"Instinct MI325X"}
    page.filter.field.setText("")
    qtbot.waitUntil(lambda: "Accelerators" in segment_texts(page))
    assert segment.value == "claims"


def segment_texts(page: CatalogPage) -> list[str]:
    return [button.text() for button in page.head.segment._buttons.values()]


def test_figures_are_found_with_and_without_separators(page: CatalogPage) -> None:
    for words in ("1,307", "1307"):
        page.filter.field.setText(words)
        assert {"mi300x", "mi325x"} <= set(keys(page))


def test_esc_clears_and_what_is_found_nowhere_says_so(page: CatalogPage, qtbot: QtBot) -> None:
    field = page.filter.field
    action(page, "filter").run()
    field.setText("no such part")
    assert page.empty.isVisibleTo(page)
    assert "Accelerators" in page.empty.title.text()
    assert page.empty.button.text() == "Clear filter"
    QTest.mouseClick(page.empty.button, Qt.MouseButton.LeftButton)
    assert field.text() == ""
    assert page.view.isVisibleTo(page)
    field.setText("mi3")
    QTest.keyClick(field, Qt.Key.Key_Escape)
    assert field.text() == ""


def test_pills_narrow_and_are_cleared_by_delete(page: CatalogPage, qtbot: QtBot) -> None:
    every = len(keys(page))
    pills = page.filter.pills
    QTest.mouseClick(pills["disputes"], Qt.MouseButton.LeftButton)
    assert pills["disputes"].on
    assert 0 < len(keys(page)) < every
    QTest.keyClick(pills["disputes"], Qt.Key.Key_Delete)
    assert len(keys(page)) == every
    page.narrow(replace(page.facets, makers=frozenset({"AMD", "Intel"})))
    assert pills["makers"].text() == "AMD, Intel"
    shown = set(keys(page))
    assert {row.maker for row in page.model.table.rows if row.key in shown} == {"AMD", "Intel"}
    pills["makers"].cleared.emit()
    assert len(keys(page)) == every
    QTest.mouseClick(pills["status"], Qt.MouseButton.LeftButton)
    shown = set(keys(page))
    assert not any(row.announced for row in page.model.table.rows if row.key in shown)


def test_menus_of_pills_offer_what_the_section_has(page: CatalogPage) -> None:
    menu = QMenu(page)
    page.filter._fill_makers(menu)
    assert "AMD" in entries(menu)
    kinds = QMenu(page)
    page.filter._fill_kinds(kinds)
    next(each for each in kinds.actions() if each.text() == "Vendor data sheet").trigger()
    assert page.facets.kinds == {SourceKind.VENDOR_DATASHEET}
    ages = QMenu(page)
    page.filter._fill_ages(ages)
    assert "Only stale (older than 1 year)" in entries(ages)


def test_the_rule_for_stale_prices_is_that_of_the_settings(page: CatalogPage, settings: UserSettings) -> None:
    page.show_section(CatalogSection.PRICES)
    page.narrow(replace(page.facets, stale=True))
    before = len(keys(page))
    settings.put(STALE_PRICE_DAYS, 300)
    assert 0 < len(keys(page)) < before
    settings.put(STALE_PRICE_DAYS, 36_500)
    assert keys(page) == []
    assert page.empty.isVisibleTo(page)


def test_the_pill_of_ages_leads_to_the_rule(page: CatalogPage, qtbot: QtBot) -> None:
    menu = QMenu(page)
    page.filter._fill_ages(menu)
    with qtbot.waitSignal(page.editing_requested) as asked:
        next(each for each in menu.actions() if "age limits" in each.text()).trigger()
    assert asked.args == [EditorRequest(EditorKind.STALENESS)]


# Ordering and columns


def test_announced_parts_are_not_ranked_unless_asked_for(page: CatalogPage, qtbot: QtBot) -> None:
    page.sort_by(page.model.table.place("memory_bandwidth"))
    announced = [row.key for row in page.model.table.rows if row.announced]
    assert keys(page)[-len(announced) :] == sorted(announced, key=keys(page).index)
    assert page.model.rule == len(keys(page)) - len(announced)
    assert page.filter.pills["rank"].isVisibleTo(page)
    QTest.mouseClick(page.filter.pills["rank"], Qt.MouseButton.LeftButton)
    assert keys(page)[0] in announced
    assert page.model.rule == -1
    page.unsort()
    assert not page.filter.pills["rank"].isVisibleTo(page)


def test_a_click_on_a_head_orders_and_a_third_one_goes_back(page: CatalogPage, qtbot: QtBot) -> None:
    heads = page.view.heads
    number = page.model.table.place("tdp")
    before = keys(page)
    place = QPoint(heads.sectionViewportPosition(number) + 20, heads.height() - 8)
    orders = []
    for _ in range(3):
        QTest.mouseClick(heads.viewport(), Qt.MouseButton.LeftButton, pos=place)
        orders.append(keys(page))
    assert orders[0] != before
    assert orders[2] == before


def test_columns_are_hidden_moved_and_remembered(
    page: CatalogPage, own_desk: Desk, theme: Theme, settings: UserSettings, qtbot: QtBot
) -> None:
    go_to(page, "mi325x", "tdp")
    action(page, "hide_column").run()
    heads = page.view.heads
    shown = [page.model.column(number).key for number in heads.shown()]
    assert "tdp" not in shown
    page.columns.toggle("form_factor")
    go_to(page, "mi325x", "memory_bandwidth")
    action(page, "left").run()
    again = CatalogPage(own_desk, theme, settings)
    qtbot.addWidget(again)
    again.resize(920, 700)
    again.show()
    now = [again.model.column(number).key for number in again.view.heads.shown()]
    assert now == [page.model.column(number).key for number in heads.shown()]
    assert "form_factor" in now
    assert now.index("memory_bandwidth") < now.index("memory")
    action(again, "reset_columns").run()
    assert [again.model.column(number).key for number in again.view.heads.shown()][:5] == [
        "name", "vendor", "architecture", "memory", "memory_bandwidth",
    ]  # fmt: skip


def test_the_first_column_stays_when_the_others_scroll(page: CatalogPage, qtbot: QtBot) -> None:
    page.resize(520, 600)
    bar = page.view.horizontalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 0)
    bar.setValue(bar.maximum())
    index = page.model.index(2, 0)
    rect = page.view.visualRect(index)
    assert rect.left() == 0
    assert page.view.indexAt(rect.center()) == index
    go_to(page, "mi325x", "vendor")
    cell = page.view.visualRect(page.view.currentIndex())
    assert cell.left() >= page.view.heads.frozen_width


# Keyboard, copying


def test_the_keyboard_moves_past_headings_and_finds_names(page: CatalogPage, qtbot: QtBot) -> None:
    page.show_section(CatalogSection.PRICES)
    view = page.view
    view.setFocus()
    QTest.keyClick(view, Qt.Key.Key_Home, Qt.KeyboardModifier.ControlModifier)
    assert view.currentIndex().row() == 1
    QTest.keyClick(view, Qt.Key.Key_Up)
    assert view.currentIndex().row() == 1
    second = page.model.headings[1]
    view.setCurrentIndex(page.model.index(second - 1, 0))
    QTest.keyClick(view, Qt.Key.Key_Down)
    assert view.currentIndex().row() == second + 1
    QTest.keyClick(view, Qt.Key.Key_End, Qt.KeyboardModifier.ControlModifier)
    assert view.currentIndex().row() == len(page.model.lines) - 1
    QTest.keyClick(view, Qt.Key.Key_PageUp)
    assert view.currentIndex().row() < len(page.model.lines) - 5
    QTest.keyClicks(view, "rtx 50")
    found = page.model.row(view.currentIndex().row())
    assert found is not None
    assert found.thing == "rtx-5090"


def test_copied_cells_are_a_table(page: CatalogPage, qtbot: QtBot) -> None:
    go_to(page, "mi325x", "memory_bandwidth")
    QTest.keyClick(page.view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QApplication.clipboard().text() == "6.00"
    QTest.keyClick(page.view, Qt.Key.Key_Space, Qt.KeyboardModifier.ShiftModifier)
    QTest.keyClick(page.view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    head, line = QApplication.clipboard().text().split("\n")
    assert head.split("\t")[:5] == ["Accelerator", "Vendor", "Architecture", "GiB", "TB/s"]
    assert line.split("\t")[:5] == ["Instinct MI325X", "AMD", "CDNA 3", "256.0", "6.00"]
    action(page, "copy_table").run()
    assert len(QApplication.clipboard().text().split("\n")) == len(keys(page)) + 1


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_A])
def test_enter_and_a_add_the_part_to_the_scenario(page: CatalogPage, own_desk: Desk, qtbot: QtBot, key: Qt.Key) -> None:
    go_to(page, "h100-sxm", "tdp")
    QTest.keyClick(page.view, key)
    assert [choice.accelerator for choice in own_desk.scenario.accelerators][-1] == "h100-sxm"
    assert "h100-sxm" in page.view.scenario_swatches


def test_enter_on_a_model_sets_it(page: CatalogPage, own_desk: Desk, qtbot: QtBot) -> None:
    page.show_section(CatalogSection.MODELS)
    go_to(page, "deepseek-r1", "layers")
    QTest.keyClick(page.view, Qt.Key.Key_Return)
    assert own_desk.scenario.model == "deepseek-r1"
    assert own_desk.undo_stack.undoText() == "Set model to DeepSeek R1"


# At any size, by any way


@pytest.mark.parametrize(("percent", "preference"), [(90, "light"), (150, "dark")])
def test_nothing_is_cut_off_at_any_size(
    page: CatalogPage, theme: Theme, percent: int, preference: str, qtbot: QtBot
) -> None:
    theme.set_preference(preference)
    theme.set_font_percent(percent)
    QApplication.processEvents()
    segment, view = page.head.segment, page.view
    assert segment.geometry().right() <= page.width()
    assert view.verticalHeader().defaultSectionSize() >= theme.line("body")
    for pill in page.filter.pills.values():
        if pill.isVisibleTo(page):
            assert page.rect().contains(pill.mapTo(page, pill.rect().bottomRight()))
    assert not page.grab().isNull()


def test_lists_of_all_sections_begin_on_one_line(page: CatalogPage, qtbot: QtBot) -> None:
    for width in (820, 950, 1200):
        page.resize(width, 700)
        qtbot.wait(20)
        tops = set()
        for section in CatalogSection:
            page.show_section(section)
            qtbot.wait(20)
            tops.add(page.filter.y())
            pills = [pill for pill in page.filter.pills.values() if not pill.isHidden()]
            assert all(pill.geometry().bottom() < page.filter.height() for pill in pills)
        assert len(tops) == 1, width


def test_nothing_to_scroll_shows_no_thumb(page: CatalogPage, qtbot: QtBot) -> None:
    def shades() -> set[int]:
        image = page.view.verticalScrollBar().grab().toImage()
        return {image.pixel(image.width() // 2, y) for y in range(image.height())}

    page.resize(950, 700)
    page.show_section(CatalogSection.CLAIMS)
    qtbot.wait(1)
    assert len(shades()) > 1
    page.resize(950, 1100)
    page.show_section(CatalogSection.DIFFUSION)
    qtbot.wait(1)
    assert len(shades()) == 1


def test_words_of_few_rows_do_not_take_the_room_of_the_others(page: CatalogPage, qtbot: QtBot) -> None:
    page.resize(950, 700)
    page.show_section(CatalogSection.MODELS)
    qtbot.wait(1)
    place = page.model.table.place("organisation")
    texts = {page.model.text(row, place) for row in page.model.table.rows}
    letters = page.view.fontMetrics()
    room = page.view.heads.sectionSize(place)
    assert sum(letters.horizontalAdvance(text) > room for text in texts) <= len(texts) // 10


def test_keys_of_the_list_are_among_the_shortcuts(page: CatalogPage) -> None:
    told = {
        entry.title: (entry.shortcut, entry.detail)
        for entry in list_shortcuts(page.list_page_actions(), {MenuId.EDIT: "Edit", MenuId.VIEW: "View"})
    }
    assert told["Edit value"] == ("F2", "in the list")
    assert told["Use row in scenario"] == ("Return", "in the list")
    assert told["Sort by this column"][0] == "Alt Down"
    assert told["Move column left"][0] == "Alt Shift Left"
    assert "Reset to shipped value" not in told
    page.show_section(CatalogSection.YOURS)
    assert action(page, "revert").own_keys == ("Del",)


def test_a_cell_that_nobody_states_is_selected_as_such(page: CatalogPage, own_desk: Desk) -> None:
    go_to(page, "mi325x", "fp4")
    assert own_desk.selection == select_catalog_attribute("mi325x", "peak_dense_fp4")


@pytest.mark.parametrize(
    ("section", "keys"),
    [
        (CatalogSection.DISPUTES, ("attribute", "disagreement", "verdict", "reason")),
        (CatalogSection.ACCELERATORS, ("architecture",)),
        (CatalogSection.SYSTEMS, ("name",)),
    ],
)
def test_words_are_whole_in_a_small_window(
    page: CatalogPage, section: CatalogSection, keys: tuple[str, ...], qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Next to the panel, a window of 1280 leaves the page 920."""
    cut: list[str] = []
    elide = QFontMetricsF.elidedText

    def elide_and_note(self: QFontMetricsF, text: str, *given: Any) -> str:  # noqa: ANN401 - as Qt has it
        shown = elide(self, text, *given)
        if shown != text:
            cut.append(text)
        return shown

    page.resize(920, 650)
    page.show_section(section)
    monkeypatch.setattr(QFontMetricsF, "elidedText", elide_and_note)
    for line in range(0, page.model.rowCount(), 6):
        page.view.scrollTo(page.model.index(line, 0), page.view.ScrollHint.PositionAtTop)
        page.grab()
    texts = {page.model.text(row, page.model.table.place(key)) for row in page.model.table.rows for key in keys}
    assert sum(text in cut for text in texts) <= len(texts) // 6, cut
