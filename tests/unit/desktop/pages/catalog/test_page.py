"""The Catalog page: browsing, searching, filtering, sorting, copying, editing."""

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
from tests.unit.desktop.pages.catalog.page_helpers import find_action, go_to, list_row_keys, map_menu_entries

# Browsing


def test_page_opens_with_all_accelerators(page: CatalogPage, user_desk: Desk) -> None:
    assert list_row_keys(page) == [accelerator.id for accelerator in user_desk.service.catalog.accelerators()]
    assert page.filter.count.text() == f"{len(list_row_keys(page))} rows"
    assert page.add_button.text() == "New accelerator…"
    assert set(page.view.scenario_swatches) == {"h200-sxm", "mi325x", "b200-hgx", "mi355x"}


@pytest.mark.parametrize("section", [each for each in CatalogSection if each is not CatalogSection.YOURS])
def test_every_section_has_rows_that_paint(page: CatalogPage, section: CatalogSection) -> None:
    page.show_section(section)
    assert list_row_keys(page)
    assert not page.view.grab().isNull()
    assert page.view.accessibleName()
    assert page.head.segment.value == section.value


def test_section_is_saved(
    page: CatalogPage, user_desk: Desk, theme: Theme, settings: UserSettings, qtbot: QtBot
) -> None:
    page.show_section(CatalogSection.SOURCES)
    second_page = CatalogPage(user_desk, theme, settings)
    qtbot.addWidget(second_page)
    assert second_page.section is CatalogSection.SOURCES


def test_prices_are_grouped_below_their_median(page: CatalogPage) -> None:
    page.show_section(CatalogSection.PRICES)
    assert page.model.row(0) is None
    headings = [page.model.sentence(row, 0) for row in page.model.headings]
    (heading,) = [each for each in headings if each.startswith("Instinct MI300X, on-demand")]
    assert "median" in heading
    page.sort_by(page.model.table.place("usd_hour"))
    assert not page.model.headings
    assert len(list_row_keys(page)) == len(page.model.lines)


def test_current_cell_is_the_selection_of_the_desk(page: CatalogPage, user_desk: Desk) -> None:
    go_to(page, "mi325x", "memory_bandwidth")
    assert user_desk.selection == select_catalog_attribute("mi325x", "memory_bandwidth")
    page.show_section(CatalogSection.PRICES)
    price = list_row_keys(page)[0]
    go_to(page, price, "provider")
    assert user_desk.selection == select_catalog_price(price)
    page.show_section(CatalogSection.DISPUTES)
    go_to(page, "D-001", "reason")
    assert user_desk.selection == select_catalog_dispute("D-001")
    page.show_section(CatalogSection.SOURCES)
    source = list_row_keys(page)[3]
    go_to(page, source, "trust")
    assert user_desk.selection == select_catalog_source(source)


def test_each_section_keeps_its_cell(page: CatalogPage) -> None:
    go_to(page, "mi325x", "tdp")
    page.show_section(CatalogSection.MODELS)
    page.show_section(CatalogSection.ACCELERATORS)
    assert page.view.get_current_keys() == ("mi325x", "tdp")


# Searching and filtering


def test_filter_counts_matches_in_all_sections(page: CatalogPage, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: not page.preparing)
    page.filter.field.setText("MI325X")
    assert list_row_keys(page) == ["mi325x"]
    assert page.filter.count.text().startswith("1 of ")
    segment = page.head.segment
    qtbot.waitUntil(lambda: "Accelerators  1" in list_segment_texts(page))
    assert any(text.startswith("Claims  ") for text in list_segment_texts(page))
    page.show_section(CatalogSection.CLAIMS)
    visible_keys = set(list_row_keys(page))
    assert {row.values[0] for row in page.model.table.rows if row.key in visible_keys} >= {"Instinct MI325X"}
    page.filter.field.setText("")
    qtbot.waitUntil(lambda: "Accelerators" in list_segment_texts(page))
    assert segment.value == "claims"


def list_segment_texts(page: CatalogPage) -> list[str]:
    return [button.text() for button in page.head.segment._buttons.values()]


def test_figures_are_found_with_and_without_separators(page: CatalogPage) -> None:
    for words in ("1,307", "1307"):
        page.filter.field.setText(words)
        assert {"mi300x", "mi325x"} <= set(list_row_keys(page))


def test_escape_clears_the_filter_and_no_match_has_a_hint(page: CatalogPage, qtbot: QtBot) -> None:
    field = page.filter.field
    find_action(page, "filter").run()
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


def test_pills_filter_rows_and_delete_clears_them(page: CatalogPage, qtbot: QtBot) -> None:
    row_count = len(list_row_keys(page))
    pills = page.filter.pills
    QTest.mouseClick(pills["disputes"], Qt.MouseButton.LeftButton)
    assert pills["disputes"].on
    assert 0 < len(list_row_keys(page)) < row_count
    QTest.keyClick(pills["disputes"], Qt.Key.Key_Delete)
    assert len(list_row_keys(page)) == row_count
    page.narrow(replace(page.facets, makers=frozenset({"AMD", "Intel"})))
    assert pills["makers"].text() == "AMD, Intel"
    visible_keys = set(list_row_keys(page))
    assert {row.maker for row in page.model.table.rows if row.key in visible_keys} == {"AMD", "Intel"}
    pills["makers"].cleared.emit()
    assert len(list_row_keys(page)) == row_count
    QTest.mouseClick(pills["status"], Qt.MouseButton.LeftButton)
    visible_keys = set(list_row_keys(page))
    assert not any(row.announced for row in page.model.table.rows if row.key in visible_keys)


def test_menus_of_pills_offer_values_of_the_section(page: CatalogPage) -> None:
    menu = QMenu(page)
    page.filter._fill_makers(menu)
    assert "AMD" in map_menu_entries(menu)
    kinds = QMenu(page)
    page.filter._fill_kinds(kinds)
    next(each for each in kinds.actions() if each.text() == "Vendor data sheet").trigger()
    assert page.facets.kinds == {SourceKind.VENDOR_DATASHEET}
    ages = QMenu(page)
    page.filter._fill_ages(ages)
    assert "Only stale (older than 1 year)" in map_menu_entries(ages)


def test_staleness_of_prices_follows_the_settings(page: CatalogPage, settings: UserSettings) -> None:
    page.show_section(CatalogSection.PRICES)
    page.narrow(replace(page.facets, stale=True))
    before = len(list_row_keys(page))
    settings.put(STALE_PRICE_DAYS, 300)
    assert 0 < len(list_row_keys(page)) < before
    settings.put(STALE_PRICE_DAYS, 36_500)
    assert list_row_keys(page) == []
    assert page.empty.isVisibleTo(page)


def test_age_menu_opens_the_staleness_rule(page: CatalogPage, qtbot: QtBot) -> None:
    menu = QMenu(page)
    page.filter._fill_ages(menu)
    with qtbot.waitSignal(page.editing_requested) as signal:
        next(each for each in menu.actions() if "age limits" in each.text()).trigger()
    assert signal.args == [EditorRequest(EditorKind.STALENESS)]


# Sorting and columns


def test_announced_accelerators_are_ranked_only_on_request(page: CatalogPage, qtbot: QtBot) -> None:
    page.sort_by(page.model.table.place("memory_bandwidth"))
    announced = [row.key for row in page.model.table.rows if row.announced]
    assert list_row_keys(page)[-len(announced) :] == sorted(announced, key=list_row_keys(page).index)
    assert page.model.rule == len(list_row_keys(page)) - len(announced)
    assert page.filter.pills["rank"].isVisibleTo(page)
    QTest.mouseClick(page.filter.pills["rank"], Qt.MouseButton.LeftButton)
    assert list_row_keys(page)[0] in announced
    assert page.model.rule == -1
    page.unsort()
    assert not page.filter.pills["rank"].isVisibleTo(page)


def test_third_click_on_a_head_restores_the_order(page: CatalogPage, qtbot: QtBot) -> None:
    heads = page.view.heads
    column = page.model.table.place("tdp")
    before = list_row_keys(page)
    position = QPoint(heads.sectionViewportPosition(column) + 20, heads.height() - 8)
    orders = []
    for _ in range(3):
        QTest.mouseClick(heads.viewport(), Qt.MouseButton.LeftButton, pos=position)
        orders.append(list_row_keys(page))
    assert orders[0] != before
    assert orders[2] == before


def test_column_layout_is_saved(
    page: CatalogPage, user_desk: Desk, theme: Theme, settings: UserSettings, qtbot: QtBot
) -> None:
    go_to(page, "mi325x", "tdp")
    find_action(page, "hide_column").run()
    heads = page.view.heads
    visible_columns = [page.model.column(column).key for column in heads.list_visible()]
    assert "tdp" not in visible_columns
    page.columns.toggle("form_factor")
    go_to(page, "mi325x", "memory_bandwidth")
    find_action(page, "left").run()
    second_page = CatalogPage(user_desk, theme, settings)
    qtbot.addWidget(second_page)
    second_page.resize(920, 700)
    second_page.show()
    second_columns = [second_page.model.column(column).key for column in second_page.view.heads.list_visible()]
    assert second_columns == [page.model.column(column).key for column in heads.list_visible()]
    assert "form_factor" in second_columns
    assert second_columns.index("memory_bandwidth") < second_columns.index("memory")
    find_action(second_page, "reset_columns").run()
    assert [second_page.model.column(column).key for column in second_page.view.heads.list_visible()][:5] == [
        "name", "vendor", "architecture", "memory", "memory_bandwidth",
    ]  # fmt: skip


def test_first_column_stays_when_the_others_scroll(page: CatalogPage, qtbot: QtBot) -> None:
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


# Keyboard and copying


def test_keyboard_skips_headings_and_finds_names(page: CatalogPage, qtbot: QtBot) -> None:
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
    row = page.model.row(view.currentIndex().row())
    assert row is not None
    assert row.thing == "rtx-5090"


def test_copied_cells_are_a_table(page: CatalogPage, qtbot: QtBot) -> None:
    go_to(page, "mi325x", "memory_bandwidth")
    QTest.keyClick(page.view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QApplication.clipboard().text() == "6.00"
    QTest.keyClick(page.view, Qt.Key.Key_Space, Qt.KeyboardModifier.ShiftModifier)
    QTest.keyClick(page.view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    head, line = QApplication.clipboard().text().split("\n")
    assert head.split("\t")[:5] == ["Accelerator", "Vendor", "Architecture", "GiB", "TB/s"]
    assert line.split("\t")[:5] == ["Instinct MI325X", "AMD", "CDNA 3", "256.0", "6.00"]
    find_action(page, "copy_table").run()
    assert len(QApplication.clipboard().text().split("\n")) == len(list_row_keys(page)) + 1


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_A])
def test_enter_and_a_key_add_the_accelerator_to_the_scenario(
    page: CatalogPage, user_desk: Desk, qtbot: QtBot, key: Qt.Key
) -> None:
    go_to(page, "h100-sxm", "tdp")
    QTest.keyClick(page.view, key)
    assert [choice.accelerator for choice in user_desk.scenario.accelerators][-1] == "h100-sxm"
    assert "h100-sxm" in page.view.scenario_swatches


def test_enter_on_a_model_sets_it(page: CatalogPage, user_desk: Desk, qtbot: QtBot) -> None:
    page.show_section(CatalogSection.MODELS)
    go_to(page, "deepseek-r1", "layers")
    QTest.keyClick(page.view, Qt.Key.Key_Return)
    assert user_desk.scenario.model == "deepseek-r1"
    assert user_desk.undo_stack.undoText() == "Set model to DeepSeek R1"


# Sizes


@pytest.mark.parametrize(("percent", "preference"), [(90, "light"), (150, "dark")])
def test_controls_fit_at_any_text_size(
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


def test_lists_of_all_sections_start_at_the_same_height(page: CatalogPage, qtbot: QtBot) -> None:
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


def test_scroll_bar_without_range_has_no_thumb(page: CatalogPage, qtbot: QtBot) -> None:
    def list_colors() -> set[int]:
        image = page.view.verticalScrollBar().grab().toImage()
        return {image.pixel(image.width() // 2, y) for y in range(image.height())}

    page.resize(950, 700)
    page.show_section(CatalogSection.CLAIMS)
    qtbot.wait(1)
    assert len(list_colors()) > 1
    page.resize(950, 1100)
    page.show_section(CatalogSection.DIFFUSION)
    qtbot.wait(1)
    assert len(list_colors()) == 1


def test_few_long_texts_do_not_widen_a_column(page: CatalogPage, qtbot: QtBot) -> None:
    page.resize(950, 700)
    page.show_section(CatalogSection.MODELS)
    qtbot.wait(1)
    column = page.model.table.place("organisation")
    texts = {page.model.text(row, column) for row in page.model.table.rows}
    font_metrics = page.view.fontMetrics()
    width = page.view.heads.sectionSize(column)
    assert sum(font_metrics.horizontalAdvance(text) > width for text in texts) <= len(texts) // 10


def test_shortcut_list_includes_keys_of_the_table(page: CatalogPage) -> None:
    shortcuts = {
        entry.title: (entry.shortcut, entry.detail)
        for entry in list_shortcuts(page.list_page_actions(), {MenuId.EDIT: "Edit", MenuId.VIEW: "View"})
    }
    assert shortcuts["Edit value"] == ("F2", "in the list")
    assert shortcuts["Use row in scenario"] == ("Return", "in the list")
    assert shortcuts["Sort by this column"][0] == "Alt Down"
    assert shortcuts["Move column left"][0] == "Alt Shift Left"
    assert "Reset to shipped value" not in shortcuts
    page.show_section(CatalogSection.YOURS)
    assert find_action(page, "revert").own_keys == ("Del",)


def test_cell_without_a_value_can_be_selected(page: CatalogPage, user_desk: Desk) -> None:
    go_to(page, "mi325x", "fp4")
    assert user_desk.selection == select_catalog_attribute("mi325x", "peak_dense_fp4")


@pytest.mark.parametrize(
    ("section", "column_keys"),
    [
        (CatalogSection.DISPUTES, ("attribute", "disagreement", "verdict", "reason")),
        (CatalogSection.ACCELERATORS, ("architecture",)),
        (CatalogSection.SYSTEMS, ("name",)),
    ],
)
def test_few_texts_are_elided_in_a_small_window(
    page: CatalogPage,
    section: CatalogSection,
    column_keys: tuple[str, ...],
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The page's width next to the panel in a window of 1280 px.
    elided_texts: list[str] = []
    elide = QFontMetricsF.elidedText

    def elide_and_record(self: QFontMetricsF, text: str, *options: Any) -> str:  # noqa: ANN401 - as Qt has it
        elided = elide(self, text, *options)
        if elided != text:
            elided_texts.append(text)
        return elided

    page.resize(920, 650)
    page.show_section(section)
    monkeypatch.setattr(QFontMetricsF, "elidedText", elide_and_record)
    for line in range(0, page.model.rowCount(), 6):
        page.view.scrollTo(page.model.index(line, 0), page.view.ScrollHint.PositionAtTop)
        page.grab()
    texts = {page.model.text(row, page.model.table.place(key)) for row in page.model.table.rows for key in column_keys}
    assert sum(text in elided_texts for text in texts) <= len(texts) // 6, elided_texts
