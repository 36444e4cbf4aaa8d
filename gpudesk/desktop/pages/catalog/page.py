"""The page Catalog: every fact with who states it, searched, narrowed and put beside the user's own."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QStackedLayout, QVBoxLayout, QWidget

from gpudesk.desktop.actions import ActionSpec, Menu
from gpudesk.desktop.after_paint import after_paint
from gpudesk.desktop.itemmodels.catalog_model import CatalogModel
from gpudesk.desktop.itemmodels.catalog_query import (
    Facets,
    Sorting,
    largest_first,
    next_sorting,
    ranked_end,
)
from gpudesk.desktop.itemmodels.catalog_shelf import Shelf
from gpudesk.desktop.pages.catalog.arrangement import SECTION_SETTING, ColumnArrangement
from gpudesk.desktop.pages.catalog.commands import Commands
from gpudesk.desktop.pages.catalog.empty_state import EmptyState
from gpudesk.desktop.pages.catalog.filter_line import FilterLine
from gpudesk.desktop.pages.catalog.headings import with_headings
from gpudesk.desktop.pages.catalog.requests import EditorKind, EditorRequest
from gpudesk.desktop.pages.catalog.selecting import selection_of
from gpudesk.desktop.pages.catalog.table_view import CatalogView
from gpudesk.desktop.pages.catalog.words import add_text, count_text, marks_of, why_empty
from gpudesk.desktop.pages.page import Page, view_actions
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.ranking import RANK_ANNOUNCED
from gpudesk.desktop.session.settings import Settings
from gpudesk.desktop.shell.note_bar import NoteBar
from gpudesk.desktop.shell.writing_anew import anew_remedies
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.buttons import Button, IconButton
from gpudesk.desktop.widgets.mark_legend import MarkLegend
from gpudesk.desktop.widgets.page_head import PageHead
from gpudesk.domain.age_rule import AgeRule
from gpudesk.domain.catalog_tables import Section, stale_days
from gpudesk.domain.claims import Kind
from gpudesk.domain.comparison import repeated, slots
from gpudesk.sentences import sentence
from gpudesk.sheets.catalog_cells import CatalogWriter
from gpudesk.sheets.catalog_words import section_label
from gpudesk.sheets.dates import today
from gpudesk.sheets.specs import as_sentence
from gpudesk.text import tr
from gpudesk.workbench.settings_file import STALE_FACT_DAYS, STALE_PRICE_DAYS, age_rule

_SECTION_OF_MENU: Final = 51
#: Settings by which rows are ordered and marked.
_FOLLOWED: Final = (STALE_PRICE_DAYS, STALE_FACT_DAYS, RANK_ANNOUNCED)
#: How long sections are made in one go while nobody asks for them, in seconds.
_PIECE_S: Final = 0.004
#: What can be added by hand, by section.
_ADDED: Final = {
    Section.ACCELERATORS: EditorKind.ACCELERATOR,
    Section.PRICES: EditorKind.PRICE,
    Section.SOURCES: EditorKind.SOURCE,
}


class CatalogPage(Page):
    """Lists of the catalog. Selecting a cell selects it on the desk; what changes facts is asked for."""

    page_id = "catalog"

    def __init__(self, desk: Desk, theme: Theme, settings: Settings, parent: QWidget | None = None) -> None:
        """Read nothing yet: the first look makes the section that is shown."""
        super().__init__(desk, theme, settings, parent)
        self.setAccessibleName(tr("Catalog"))
        self.section = _section(settings.get(SECTION_SETTING, Section.ACCELERATORS.value))
        self._words = ""
        self._facets: dict[Section, Facets] = {}
        self._sortings: dict[Section, Sorting | None] = {}
        self._cells: dict[Section, tuple[str, str]] = {}
        self._shelf: Shelf | None = None
        self.model = CatalogModel(self)
        self.view = CatalogView(theme, self.model)
        self.columns = ColumnArrangement(settings, self.view, self)
        self.commands = Commands(self)
        self.filter = FilterLine(theme)
        self.note = NoteBar(theme)
        self.empty = EmptyState(theme)
        self.legend = MarkLegend(theme)
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._prepare)
        self._counting = QTimer(self)
        self._counting.setSingleShot(True)
        self._counting.timeout.connect(self._show_counts)
        self._build()
        self._connect()
        theme.follow(self._dress)

    # Putting together

    def _build(self) -> None:
        theme = self.theme
        self._columns_button = IconButton(theme, "sliders-horizontal", tr("Choose columns"))
        self.import_button = Button(theme, tr("Import…"), icon="import")
        self.add_button = Button(theme, tr("Add accelerator"), icon="plus")
        controls = (self._columns_button, self.import_button, self.add_button)
        views = [(section.value, section_label(section)) for section in Section]
        self.head = PageHead(theme, tr("Catalog"), views, controls, with_copy=False)
        self.head.segment.set_value(self.section.value)
        # So that the lists of all sections begin on one line.
        self.head.keep_room(self.add_button, [add_text(section) for section in Section])
        self._content = QWidget()
        inner = QVBoxLayout(self._content)
        inner.addWidget(self.view, 1)
        inner.addWidget(self.legend)
        whole = QVBoxLayout(self)
        for widget in (self.note, self.head, self.filter):
            whole.addWidget(widget)
        self._stack = QStackedLayout()
        # First to the page: a stack that belongs to none shows what it is given as a window.
        whole.addLayout(self._stack, 1)
        self._stack.addWidget(self._content)
        self._stack.addWidget(self.empty)
        for layout in (inner, whole):
            layout.setContentsMargins(0, 0, 0, 0)
            layout.setSpacing(0)
        in_order = (*controls, self.filter.field, *self.filter.pills.values(), self.view)
        for before, after in pairwise(in_order):
            QWidget.setTabOrder(before, after)

    def _connect(self) -> None:
        desk, view, line, commands = self.desk, self.view, self.filter, self.commands
        desk.catalog_changed.connect(self._catalog_changed)
        desk.scenario_changed.connect(self._scenario_changed)
        self.settings.changed.connect(self._setting_changed)
        self.head.segment.chosen.connect(lambda key: self.show_section(Section(key)))
        self._columns_button.clicked.connect(self.open_columns)
        self.import_button.clicked.connect(self.import_requested)
        self.add_button.clicked.connect(self.add)
        line.words_changed.connect(self._filter)
        line.left.connect(self.focus_content)
        line.facets_changed.connect(self.narrow)
        line.ranking_changed.connect(lambda on: self.settings.put(RANK_ANNOUNCED, on))
        line.rule_wanted.connect(lambda: self.wanted_editor.emit(EditorRequest(EditorKind.STALENESS)))
        view.cell_chosen.connect(self._cell_chosen)
        view.sort_requested.connect(self.sort_by)
        view.copy_requested.connect(commands.copy)
        view.menu_requested.connect(commands.open_menu)
        view.used.connect(commands.use)
        view.add_requested.connect(commands.use)
        view.edit_requested.connect(commands.edit)
        view.delete_requested.connect(commands.delete)
        self.empty.wanted.connect(self._leave_empty)

    def _dress(self) -> None:
        self.setAutoFillBackground(True)
        palette = self.palette()
        palette.setColor(self.backgroundRole(), self.theme.colour("page"))
        self.setPalette(palette)

    # What is shown

    @property
    def shelf(self) -> Shelf:
        """The sections of the catalog as it is now."""
        if self._shelf is None:
            self._shelf = Shelf(self.desk.workbench, self.desk.formatter, today())
        return self._shelf

    @property
    def writer(self) -> CatalogWriter:
        """What writes the cells of the section that is shown."""
        return self.shelf.writer(self.section)

    @property
    def sorting(self) -> Sorting | None:
        """What the section that is shown is ordered by; None for the order of the catalog."""
        return self._sortings.get(self.section)

    @property
    def facets(self) -> Facets:
        """What narrows the section that is shown."""
        return self._facets.get(self.section, Facets())

    @property
    def rule(self) -> AgeRule:
        """From when on ages are marked."""
        return age_rule(self.settings.values)

    @property
    def ranks_announced(self) -> bool:
        """Whether announced parts stand among the others where rows are ordered by a figure."""
        return self.settings.get(RANK_ANNOUNCED, default=False)

    def refresh(self) -> None:
        """Show the section; lists follow the catalog and not the answer, which changes more often."""
        if self.model.table.section is self.section and self.model.columnCount() and self._shelf is not None:
            self._show_slots()
            return
        self._show_section()

    def show_section(self, section: Section) -> None:
        """Show another section."""
        if section is self.section:
            return
        self.section = section
        self.settings.put(SECTION_SETTING, section.value)
        self.head.segment.set_value(section.value)
        self._show_section()

    def _show_section(self) -> None:
        table = self.shelf.table(self.section)
        makers = sorted({row.maker for row in table.rows if row.maker}, key=str.casefold)
        found = {kind for row in table.rows for kind in row.kinds}
        self.filter.show_section(self.section, makers, [kind for kind in Kind if kind in found])
        self.view.takes_a = self.section is Section.ACCELERATORS
        self._show_slots()
        self._show_add()
        self._show_rows()
        self.columns.take_section(self.section)
        self._explain_marks()
        self.view.setAccessibleName(section_label(self.section))
        cell = self._cells.get(self.section)
        if cell is not None:
            self.view.show_current(*cell)

    def _show_rows(self) -> None:
        """Put the rows that match into the list, and say how many there are."""
        shelf, section = self.shelf, self.section
        table = shelf.table(section)
        places = self.matches(section, self._words)
        model = self.model
        model.mark_stale(shelf.today, stale_days(self.rule, section))
        sorting = self.sorting
        rule = -1 if self.ranks_announced else ranked_end(table, places, sorting)
        self.view.heads.sorting = sorting
        lines, headings = with_headings(table, places, sorting, self.desk.formatter)
        model.show(table, shelf.writer(section), lines, headings=headings, rule=rule)
        self.filter.show_count(count_text(len(places), len(table.rows), self.desk.formatter))
        self.filter.show_facets(self.facets, self.rule, ranked=self._ranking(rule >= 0))
        self.view.setAccessibleDescription(self.filter.count.text())
        # Of the other sections: once the list has been painted.
        self._counting.start(0)
        self._show_empty(not places)

    def matches(self, section: Section, words: str) -> list[int]:
        """Return the places of the rows of a section that hold these words, within its facets."""
        return self.shelf.places(
            section,
            words,
            self._facets.get(section, Facets()),
            self._sortings.get(section),
            announced_among=self.ranks_announced,
            stale_days=stale_days(self.rule, section),
        )

    def _ranking(self, has_tail: bool) -> bool | None:
        """Return whether announced rows are ranked, None where there is nothing to rank them by."""
        if self.section is not Section.ACCELERATORS or self.sorting is None:
            return None
        return self.ranks_announced if has_tail or self.ranks_announced else None

    def _show_counts(self) -> None:
        """Say in each segment how many of its rows match, while something is searched."""
        segment = self.head.segment
        for section in Section:
            text = section_label(section)
            if self._words.split() and self.shelf.is_ready(section):
                text = f"{text}  {self.desk.formatter.count(len(self.matches(section, self._words)))}"
            segment.set_text(section.value, text)
        self.head.arrange()

    def _show_slots(self) -> None:
        choices = self.desk.scenario.accelerators
        found: dict[str, tuple[int, bool]] = {}
        for choice, slot, hollow in zip(choices, slots(choices), repeated(choices), strict=True):
            found.setdefault(choice.accelerator, (slot, hollow))
        if found != self.view.slots:
            self.view.slots = found
            self.view.viewport().update()

    def _show_add(self) -> None:
        text = add_text(self.section)
        self.add_button.setVisible(bool(text))
        if text:
            self.add_button.setText(text)
        self.add_button.setEnabled(self.desk.workbench.own.writable)
        self.head.arrange()

    def _explain_marks(self) -> None:
        shown = marks_of(self.model.table, stale_days(self.rule, self.section))
        self.legend.explain(shown)
        self.legend.setVisible(bool(shown))

    def _show_empty(self, empty: bool) -> None:
        if empty:
            self.empty.say(*why_empty(self.section, self._words, self.facets, self._problem()))
        self._stack.setCurrentIndex(int(empty))

    def _leave_empty(self) -> None:
        if self._words.split() or self.facets.active:
            self.clear_filter()
        elif self._problem():
            self.backups_requested.emit()
        else:
            self.import_requested.emit()

    def _problem(self) -> str:
        """Return why the user's own facts cannot be used, empty where they can."""
        problem = self.desk.workbench.own.problem
        return "" if problem is None else as_sentence(sentence(problem.problem, self.desk.formatter))

    # Searching, narrowing, ordering

    def _filter(self, text: str) -> None:
        self._words = text
        self._show_rows()

    def clear_filter(self) -> None:
        """Show all rows of the section again."""
        self._facets.pop(self.section, None)
        self._words = ""
        self.filter.field.set_text("")
        self._show_rows()
        self.focus_content()

    def narrow(self, facets: Facets) -> None:
        """Narrow the section that is shown."""
        self._facets[self.section] = facets
        self._show_rows()

    def sort_by(self, number: int) -> None:
        """Order the rows by a column; again turns the order round, then takes it back."""
        if not 0 <= number < self.model.columnCount():
            return
        column = self.model.column(number)
        first = largest_first(column.kind)
        self._sortings[self.section] = next_sorting(self.sorting, column.key, largest_first=first)
        self._show_rows()
        self.view.heads.viewport().update()

    def unsort(self) -> None:
        """Show the rows in the order of the catalog."""
        self._sortings.pop(self.section, None)
        self._show_rows()
        self.view.heads.viewport().update()

    # What happens elsewhere

    def _catalog_changed(self, _things: object) -> None:
        """Make the lists anew from the catalog as it is now; place and cell stay."""
        self._shelf = None
        if self.isVisible():
            self._show_section()
            self._prepare_later()
        else:
            self._stale = True

    def _scenario_changed(self, changed: frozenset[str]) -> None:
        if "accelerators" in changed and self.isVisible():
            self._show_slots()

    def _setting_changed(self, name: str) -> None:
        if name in _FOLLOWED and self.isVisible() and self._shelf is not None:
            self._show_rows()
            self._explain_marks()

    def tell(self, text: str) -> None:
        """Say what could not be done, and what can be done about it."""
        remedies = anew_remedies(self.desk.workbench.own, self.desk.formatter, self._say_anew)
        if remedies:
            remedies.append((tr("Show backups"), self.backups_requested.emit))
        self.note.show_note(text, remedies)

    def _say_anew(self, text: str, fault: bool) -> None:
        self.note.show_note(text, fault=fault)

    # Making sections before they are asked for

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """Catch up, then make the other sections bit by bit."""
        super().showEvent(event)
        self._prepare_later()

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802 - Qt's name
        """Rest."""
        super().hideEvent(event)
        self._timer.stop()

    @property
    def preparing(self) -> bool:
        """Whether some section is still to be made before it can be searched."""
        return not all(map(self.shelf.is_ready, Section))

    def _prepare_later(self) -> None:
        after_paint(self.view.viewport(), lambda: self._timer.start(0))

    def _prepare(self) -> None:
        if self.shelf.step(_PIECE_S):
            return
        self._timer.stop()
        if self._words.split():
            self._show_counts()

    # Commands

    def _cell_chosen(self, row_key: str, column_key: str) -> None:
        self._cells[self.section] = (row_key, column_key)
        found = self.commands.current()
        if found is not None:
            selection = selection_of(self.section, *found)
            if selection is not None:
                self.desk.select(selection)

    def focus_content(self) -> None:
        """Give the focus to the list."""
        target = self.view if self._stack.currentIndex() == 0 else self.filter.field
        target.setFocus(Qt.FocusReason.OtherFocusReason)

    def focus_filter(self) -> None:
        """Give the focus to the search field."""
        self.filter.field.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def add(self) -> None:
        """Ask for the form of what can be added in this section."""
        kind = _ADDED.get(self.section)
        if kind is not None:
            self.wanted_editor.emit(EditorRequest(kind))

    def open_columns(self) -> None:
        """Let the list of columns drop."""
        from gpudesk.desktop.widgets.menu import make_menu

        menu = make_menu(parent=self)
        self.commands.fill_columns_chooser(menu)
        menu.aboutToHide.connect(menu.deleteLater)
        button = self._columns_button
        menu.popup(button.mapToGlobal(QPoint(0, button.height() + 4)))

    def actions_of_page(self) -> list[ActionSpec]:
        """Return the page's commands."""
        views = [(section.value, section_label(section)) for section in Section]
        return [
            ActionSpec("catalog.filter", tr("Filter the catalog"), self.focus_filter, Menu.VIEW,
                       _SECTION_OF_MENU, "search", ("/",), single_key=True),
            ActionSpec("catalog.clear_filter", tr("Clear filter"), self.clear_filter, Menu.VIEW,
                       _SECTION_OF_MENU, "x", enabled=lambda: bool(self._words) or self.facets.active),
            *view_actions(self.page_id, tr("Catalog"), views, lambda key: self.show_section(Section(key)),
                          _SECTION_OF_MENU),
            *self.commands.actions(),
        ]  # fmt: skip


def _section(name: str) -> Section:
    sections: Sequence[Section] = tuple(Section)
    return next((section for section in sections if section.value == name), Section.ACCELERATORS)
