"""The Catalog page: all values with their sources, search and filters, and the user's values."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial, reduce
from itertools import groupby, pairwise
from operator import or_
from typing import Final

from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QStackedLayout, QWidget

from gpudesk.catalog.price_ranges import summarize_prices
from gpudesk.desktop.pages.catalog.backups import make_rewrite_actions
from gpudesk.desktop.pages.catalog.catalog_model import (
    CatalogFacets,
    CatalogHeading,
    CatalogLine,
    CatalogModel,
    CatalogSections,
    CatalogSorting,
    choose_next_column_sorting,
    find_ranked_end,
    is_largest_first,
    share_sections,
)
from gpudesk.desktop.pages.catalog.commands import CatalogCommands, CatalogListPage, select_catalog_cell
from gpudesk.desktop.pages.catalog.filter_line import SECTION_SETTING, CatalogFilterBar, ColumnArrangement, format_days
from gpudesk.desktop.pages.catalog.table import MARKS, STALE, CatalogTableView
from gpudesk.desktop.pages.page import make_view_actions
from gpudesk.desktop.session.actions import ActionSpec, MenuId
from gpudesk.desktop.session.desk import RANK_ANNOUNCED, Desk
from gpudesk.desktop.session.selection import EditorKind, EditorRequest
from gpudesk.desktop.session.settings import UserSettings
from gpudesk.desktop.ui.tables.text_layer import MarkLegend
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.buttons import Button, IconButton
from gpudesk.desktop.ui.widgets.layouts import fill_background, make_column
from gpudesk.desktop.ui.widgets.note_bar import NoteBar
from gpudesk.desktop.ui.widgets.page_frame import CentralNote, PageHeader
from gpudesk.desktop.ui.widgets.qt_support import call_after_paint, make_menu, pop_up, set_manual_topic
from gpudesk.documents.settings_file import STALE_FACT_DAYS, STALE_PRICE_DAYS, make_age_rule
from gpudesk.domain.answer import assign_palette_indexes, find_variants
from gpudesk.domain.attributes import CatalogCellMark, CatalogRow, CatalogSection, CatalogTable, get_stale_days
from gpudesk.domain.claim import PriceRecord, PriceSummary, SourceKind, StalenessLimits
from gpudesk.report.catalog_lists import CatalogCellFormatter, format_price_summary, label_term_of_data
from gpudesk.report.labels import get_today
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter
from gpudesk.text.messages import format_message, to_sentence
from gpudesk.text.translation import tr, trn


def format_row_count(row_count: int, every: int, formatter: Formatter) -> str:
    if row_count == every:
        return trn("{count} row", "{count} rows", every, count=formatter.count(every))
    return tr("{n} of {m}", n=formatter.count(row_count), m=formatter.count(every))


def format_add_action(section: CatalogSection) -> str:
    """Return the text of the button that adds an entry to a section, empty without one."""
    return {
        CatalogSection.ACCELERATORS: tr("New accelerator…"),
        CatalogSection.SYSTEMS: tr("New system…"),
        CatalogSection.PRICES: tr("Add price"),
        CatalogSection.SOURCES: tr("Add source"),
    }.get(section, "")


def explain_empty_list(
    section: CatalogSection, words: str, facets: CatalogFacets, problem: str
) -> tuple[str, str, str]:
    """Return why there are no rows, an explanation, and the text of the button.

    `problem` is why the user's facts cannot be used, empty otherwise.
    """
    if words.strip() or facets.active:
        query_text = tr("“{words}”", words=words.strip()) if words.strip() else ""
        return tr("No match in {section}", section=section.label), query_text, tr("Clear filter")
    if section is CatalogSection.YOURS and problem:
        return tr("Your values are not used"), problem, tr("Show backups")
    if section is CatalogSection.YOURS:
        query_text = tr(
            "Values that you enter, choose or import appear here and are stored in your own file. Press F2 "
            "on a figure to enter a value."
        )
        return tr("No values of yours yet"), query_text, tr("Import…")
    return tr("This section is empty"), "", ""


_BETWEEN: Final = "   ·   "


def insert_price_headings(
    table: CatalogTable, places: Sequence[int], sorting: CatalogSorting | None, formatter: Formatter
) -> tuple[Sequence[CatalogLine], Sequence[int]]:
    """Return the lines of a list, with the heading lines.

    Prices in catalog order have a heading per accelerator; other lists have none.
    """
    if table.section is not CatalogSection.PRICES or sorting is not None:
        return places, ()
    rows = table.rows
    lines: list[CatalogLine] = []
    headings: list[int] = []
    for _, group in groupby(places, key=lambda place: rows[place].thing):
        members = list(group)
        title = rows[members[0]].values[0]
        note = partial(_summarize_prices, rows, members, formatter)
        headings.append(len(lines))
        lines.append(CatalogHeading(MISSING_VALUE_TEXT if title is None else str(title), note))
        lines.extend(members)
    return lines, headings


def _summarize_prices(rows: Sequence[CatalogRow], members: Sequence[int], formatter: Formatter) -> str:
    prices = [item for place in members if isinstance(item := rows[place].item, PriceRecord)]
    return _BETWEEN.join(_format_price_range(each, formatter) for each in summarize_prices(prices))


def _format_price_range(summary: PriceSummary, formatter: Formatter) -> str:
    low, median, high = format_price_summary(summary, formatter)
    if low == high:
        return f"{label_term_of_data(summary.term)} {low}"
    return tr(
        "{term} {low} – {high}, median {median}",
        term=label_term_of_data(summary.term),
        low=low,
        high=high,
        median=median,
    )


_SECTION_OF_MENU: Final = 51
#: Settings that change the order or the marks of rows.
_FOLLOWED: Final = (STALE_PRICE_DAYS, STALE_FACT_DAYS, RANK_ANNOUNCED)
#: Seconds per idle slot for building sections.
_PIECE_S: Final = 0.004
#: Kinds that can be added by hand, by section.
_ADDED: Final = {
    CatalogSection.ACCELERATORS: EditorKind.ACCELERATOR,
    CatalogSection.SYSTEMS: EditorKind.SYSTEM,
    CatalogSection.PRICES: EditorKind.PRICE,
    CatalogSection.SOURCES: EditorKind.SOURCE,
}


#: Sections of the manual about sections of the catalog; the others are on the page itself.
_MANUAL_TOPICS: Final = {
    CatalogSection.SYSTEMS: "catalog#systems",
    CatalogSection.CLAIMS: "catalog#claims-and-disputes",
    CatalogSection.DISPUTES: "catalog#claims-and-disputes",
    CatalogSection.DIFFUSION: "image-video",
    CatalogSection.YOURS: "catalog#your-values",
}


def _find_manual_topic(section: CatalogSection) -> str:
    return _MANUAL_TOPICS.get(section, "catalog")


class CatalogPage(CatalogListPage):
    """Lists of the catalog. Selecting a cell selects it on the desk; edits are only requested."""

    page_id = "catalog"

    def __init__(self, desk: Desk, theme: Theme, settings: UserSettings, parent: QWidget | None = None) -> None:
        super().__init__(desk, theme, settings, parent)
        self.setAccessibleName(tr("Catalog"))
        name = settings.get(SECTION_SETTING, CatalogSection.ACCELERATORS.value)
        sections: Sequence[CatalogSection] = tuple(CatalogSection)
        self.section = next((section for section in sections if section.value == name), CatalogSection.ACCELERATORS)
        self._words = ""
        self._facets: dict[CatalogSection, CatalogFacets] = {}
        self._sortings: dict[CatalogSection, CatalogSorting | None] = {}
        self._cells: dict[CatalogSection, tuple[str, str]] = {}
        self._shelf: CatalogSections | None = None
        self.model = CatalogModel(self)
        self.view = CatalogTableView(theme, self.model)
        self.columns = ColumnArrangement(settings, self.view, self)
        self.commands = CatalogCommands(self)
        self.filter = CatalogFilterBar(theme)
        self.note = NoteBar(theme)
        self.note.focus_lost.connect(self.focus_content)
        self.empty = CentralNote(theme, "option", "small", 10)
        self.legend = MarkLegend(theme)
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._prepare)
        self._counting = QTimer(self, singleShot=True)
        self._counting.timeout.connect(self._show_counts)
        self._build()
        self._connect()
        theme.follow(self._dress)

    # Construction

    def _build(self) -> None:
        theme = self.theme
        self._columns_button = IconButton(theme, "sliders-horizontal", tr("Choose columns"))
        self.import_button = Button(theme, tr("Import…"), icon="import")
        self.add_button = Button(theme, tr("New accelerator…"), icon="plus")
        controls = (self._columns_button, self.import_button, self.add_button)
        views = [(section.value, section.label) for section in CatalogSection]
        self.head = PageHeader(theme, tr("Catalog"), views, controls, with_copy=False)
        self.head.segment.set_value(self.section.value)
        self.head.segment.set_manual_topics({each.value: _find_manual_topic(each) for each in CatalogSection})
        set_manual_topic("catalog#import", self.import_button)
        set_manual_topic("catalog#search", self.filter)
        # So that the lists of all sections start at the same y.
        self.head.keep_room(self.add_button, [format_add_action(section) for section in CatalogSection])
        self._content = QWidget()
        make_column((self.view, 1), self.legend, gap=0, on=self._content)
        whole = make_column(self.note, self.head, self.filter, gap=0, on=self)
        self._stack = QStackedLayout()
        # Added to the page first: a stack without a parent shows its widgets as windows.
        whole.addLayout(self._stack, 1)
        self._stack.addWidget(self._content)
        self._stack.addWidget(self.empty)
        in_order = (*controls, self.filter.field, *self.filter.pills.values(), self.view)
        for before, after in pairwise(in_order):
            QWidget.setTabOrder(before, after)

    def _connect(self) -> None:
        desk, view, line, commands = self.desk, self.view, self.filter, self.commands
        desk.catalog_changed.connect(self._catalog_changed)
        desk.scenario_changed.connect(self._scenario_changed)
        self.settings.changed.connect(self._setting_changed)
        self.head.segment.chosen.connect(lambda key: self.show_section(CatalogSection(key)))
        self._columns_button.clicked.connect(self.open_columns)
        self.import_button.clicked.connect(self.import_requested)
        self.add_button.clicked.connect(self.add)
        line.words_changed.connect(self._filter)
        line.left.connect(self.focus_content)
        line.facets_changed.connect(self.narrow)
        line.ranking_changed.connect(lambda on: self.settings.put(RANK_ANNOUNCED, on))
        line.rule_wanted.connect(lambda: self.editing_requested.emit(EditorRequest(EditorKind.STALENESS)))
        view.cell_chosen.connect(self._cell_chosen)
        view.sort_requested.connect(self.sort_by)
        view.copy_requested.connect(commands.copy)
        view.menu_requested.connect(commands.open_menu)
        view.used.connect(commands.use)
        view.add_requested.connect(commands.use)
        view.edit_requested.connect(commands.edit)
        view.delete_requested.connect(commands.delete)
        self.empty.pressed.connect(self._leave_empty)

    def _dress(self) -> None:
        fill_background(self, self.theme.color("page"))

    # Display

    @property
    def manual_topic(self) -> str:
        return _find_manual_topic(self.section)

    @property
    def shelf(self) -> CatalogSections:
        if self._shelf is None:
            self._shelf = share_sections(self.desk.service.catalog, self.desk.formatter, get_today())
        return self._shelf

    @property
    def writer(self) -> CatalogCellFormatter:
        return self.shelf.writer(self.section)

    @property
    def sorting(self) -> CatalogSorting | None:
        """The sorting of the visible section; None for catalog order."""
        return self._sortings.get(self.section)

    @property
    def facets(self) -> CatalogFacets:
        return self._facets.get(self.section, CatalogFacets())

    @property
    def rule(self) -> StalenessLimits:
        return make_age_rule(self.settings.values)

    @property
    def includes_announced_in_ranking(self) -> bool:
        return self.settings.get(RANK_ANNOUNCED, default=False)

    def refresh(self) -> None:
        """Show the section; lists follow the catalog rather than the answer, which changes more often."""
        if self.model.table.section is self.section and self.model.columnCount() and self._shelf is not None:
            self._show_swatches()
            return
        self._show_section()

    def show_section(self, section: CatalogSection) -> None:
        if section is self.section:
            return
        self.section = section
        self.settings.put(SECTION_SETTING, section.value)
        self.head.segment.set_value(section.value)
        self._show_section()

    def _show_section(self) -> None:
        table = self.shelf.table(self.section)
        makers = sorted({row.maker for row in table.rows if row.maker}, key=str.casefold)
        kinds = {kind for row in table.rows for kind in row.kinds}
        self.filter.show_section(self.section, makers, [kind for kind in SourceKind if kind in kinds])
        self.view.accepts_add_key = self.section is CatalogSection.ACCELERATORS
        self._show_swatches()
        text = format_add_action(self.section)
        self.add_button.setVisible(bool(text))
        if text:
            self.add_button.setText(text)
        self.add_button.setEnabled(self.desk.service.user_catalog.writable)
        self.head.arrange()
        self._show_rows()
        self.columns.take_section(self.section)
        self._explain_marks()
        self.view.setAccessibleName(self.section.label)
        cell = self._cells.get(self.section)
        if cell is not None:
            self.view.show_cell(*cell)

    def _show_rows(self) -> None:
        shelf, section = self.shelf, self.section
        table = shelf.table(section)
        places = self.matches(section, self._words)
        model = self.model
        model.mark_stale(shelf.today, get_stale_days(self.rule, section))
        sorting = self.sorting
        rule = -1 if self.includes_announced_in_ranking else find_ranked_end(table, places, sorting)
        self.view.heads.sorting = sorting
        lines, headings = insert_price_headings(table, places, sorting, self.desk.formatter)
        model.show(table, shelf.writer(section), lines, headings=headings, rule=rule)
        self.filter.show_count(format_row_count(len(places), len(table.rows), self.desk.formatter))
        self.filter.show_facets(self.facets, self.rule, ranked=self._get_announced_ranking(rule >= 0))
        self.view.setAccessibleDescription(self.filter.count.text())
        # Of the other sections: after the list has been painted.
        self._counting.start(0)
        empty = not places
        if empty:
            self.empty.show_note(*explain_empty_list(self.section, self._words, self.facets, self._describe_problem()))
        self._stack.setCurrentIndex(int(empty))

    def matches(self, section: CatalogSection, words: str) -> list[int]:
        """Return the positions of the rows of a section that contain these words, within its facets."""
        return self.shelf.places(
            section,
            words,
            self._facets.get(section, CatalogFacets()),
            self._sortings.get(section),
            announced_among=self.includes_announced_in_ranking,
            stale_days=get_stale_days(self.rule, section),
        )

    def _get_announced_ranking(self, has_tail: bool) -> bool | None:
        """Return whether announced rows are ranked, None without a ranking."""
        if self.section is not CatalogSection.ACCELERATORS or self.sorting is None:
            return None
        return self.includes_announced_in_ranking if has_tail or self.includes_announced_in_ranking else None

    def _show_counts(self) -> None:
        """Show the number of matches in each segment during a search."""
        segment = self.head.segment
        for section in CatalogSection:
            text = section.label
            if self._words.split() and self.shelf.is_ready(section):
                text = f"{text}  {self.desk.formatter.count(len(self.matches(section, self._words)))}"
            segment.set_text(section.value, text)
        self.head.arrange()

    def _show_swatches(self) -> None:
        choices = self.desk.scenario.accelerators
        swatches: dict[str, tuple[int, bool]] = {}
        for choice, index, is_variant in zip(
            choices, assign_palette_indexes(choices), find_variants(choices), strict=True
        ):
            swatches.setdefault(choice.accelerator, (index, is_variant))
        if swatches != self.view.scenario_swatches:
            self.view.scenario_swatches = swatches
            self.view.viewport().update()

    def _explain_marks(self) -> None:
        table = self.model.table
        stale_days = get_stale_days(self.rule, self.section)
        marks = reduce(or_, (mark for row in table.rows for mark in row.marks), 0)
        meanings = {
            CatalogCellMark.OWN: tr("Your value"),
            CatalogCellMark.COMPUTED: tr("Computed from model dimensions"),
            CatalogCellMark.DISPUTED: tr("Sources disagree"),
        }
        list_marks = [(glyph, meanings[flag]) for flag, glyph, _ in MARKS if marks & flag]
        if table.place("age") >= 0:
            list_marks.append((STALE[0], tr("Stale: older than {age}", age=format_days(stale_days))))
        self.legend.explain(list_marks)
        self.legend.setVisible(bool(list_marks))

    def _leave_empty(self) -> None:
        if self._words.split() or self.facets.active:
            self.clear_filter()
        elif self._describe_problem():
            self.backups_requested.emit()
        else:
            self.import_requested.emit()

    def _describe_problem(self) -> str:
        """Return why the user's facts cannot be used, empty if they can."""
        problem = self.desk.service.user_catalog.problem
        return "" if problem is None else to_sentence(format_message(problem.problem, self.desk.formatter))

    # Search, filters, order

    def _filter(self, text: str) -> None:
        self._words = text
        self._show_rows()

    def clear_filter(self) -> None:
        self._facets.pop(self.section, None)
        self._words = ""
        self.filter.field.set_text("")
        self._show_rows()
        self.focus_content()

    def narrow(self, facets: CatalogFacets) -> None:
        self._facets[self.section] = facets
        self._show_rows()

    def sort_by(self, number: int) -> None:
        """Sort the rows by a column; again reverses, then restores the order."""
        if not 0 <= number < self.model.columnCount():
            return
        column = self.model.column(number)
        first = is_largest_first(column.kind)
        self._sortings[self.section] = choose_next_column_sorting(self.sorting, column.key, largest_first=first)
        self._show_rows()
        self.view.heads.viewport().update()

    def unsort(self) -> None:
        """Show the rows in catalog order."""
        self._sortings.pop(self.section, None)
        self._show_rows()
        self.view.heads.viewport().update()

    # Changes elsewhere

    def _catalog_changed(self, _things: object) -> None:
        """Rebuild the lists from the changed catalog; scroll position and current cell stay."""
        self._shelf = None
        if self.isVisible():
            self._show_section()
            self._prepare_later()
        else:
            self._stale = True

    def _scenario_changed(self, changed: frozenset[str]) -> None:
        if "accelerators" in changed and self.isVisible():
            self._show_swatches()

    def _setting_changed(self, name: str) -> None:
        if name in _FOLLOWED and self.isVisible() and self._shelf is not None:
            self._show_rows()
            self._explain_marks()

    def tell(self, text: str) -> None:
        remedies = make_rewrite_actions(self.desk.service.user_catalog, self.desk.formatter, self._show_rewrite_offer)
        if remedies:
            remedies.append((tr("Show backups"), self.backups_requested.emit))
        self.note.show_note(text, remedies)

    def _show_rewrite_offer(self, text: str, fault: bool) -> None:
        self.note.show_note(text, fault=fault)

    # Building sections in advance

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._prepare_later()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._timer.stop()

    @property
    def preparing(self) -> bool:
        return not all(map(self.shelf.is_ready, CatalogSection))

    def _prepare_later(self) -> None:
        call_after_paint(self.view.viewport(), lambda: self._timer.start(0))

    def _prepare(self) -> None:
        if self.shelf.step(_PIECE_S):
            return
        self._timer.stop()
        if self._words.split():
            self._show_counts()

    # Commands

    def _cell_chosen(self, row_key: str, column_key: str) -> None:
        self._cells[self.section] = (row_key, column_key)
        row = self.commands.current()
        if row is not None:
            selection = select_catalog_cell(self.section, *row)
            if selection is not None:
                self.desk.select(selection)

    def focus_content(self) -> None:
        target = self.view if self._stack.currentIndex() == 0 else self.filter.field
        target.setFocus(Qt.FocusReason.OtherFocusReason)

    def focus_filter(self) -> None:
        self.filter.field.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def add(self) -> None:
        kind = _ADDED.get(self.section)
        if kind is not None:
            self.editing_requested.emit(EditorRequest(kind))

    def open_columns(self) -> None:
        menu = make_menu(parent=self)
        self.commands.fill_columns_chooser(menu)
        button = self._columns_button
        pop_up(menu, button.mapToGlobal(QPoint(0, button.height() + 4)))

    def list_page_actions(self) -> list[ActionSpec]:
        views = [(section.value, section.label) for section in CatalogSection]
        make = partial(ActionSpec, menu=MenuId.VIEW, section=_SECTION_OF_MENU)
        return [
            make("catalog.filter", tr("Filter catalog"), self.focus_filter, "search", ("/",), single_key=True),
            make("catalog.clear_filter", tr("Clear filter"), self.clear_filter, "x",
                 enabled=lambda: bool(self._words) or self.facets.active),
            *make_view_actions(self.page_id, tr("Catalog"), views, lambda key: self.show_section(CatalogSection(key)),
                          _SECTION_OF_MENU),
            *self.commands.actions(),
        ]  # fmt: skip
