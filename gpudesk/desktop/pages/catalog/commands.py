"""Menus and actions on rows, columns and cells of a catalog list."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Final

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu

from gpudesk.desktop.pages.catalog.catalog_model import CatalogModel, CatalogSorting
from gpudesk.desktop.pages.catalog.filter_line import ColumnArrangement
from gpudesk.desktop.pages.catalog.table import CatalogTableView
from gpudesk.desktop.pages.page import DeskPage
from gpudesk.desktop.session import scenario_edits, selection
from gpudesk.desktop.session.actions import ActionSpec, MenuId
from gpudesk.desktop.session.selection import EditorKind, EditorRequest, Selection
from gpudesk.desktop.ui.widgets.qt_support import add_entry, make_menu, pop_up
from gpudesk.domain.answer import MAX_ACCELERATORS
from gpudesk.domain.attributes import CatalogColumn, CatalogRow, CatalogSection
from gpudesk.domain.claim import CatalogEntryKind, Claim, DocumentStatement, PriceRecord
from gpudesk.domain.user_facts import FactEdit
from gpudesk.report.catalog_lists import CatalogCellFormatter, build_catalog_clipping, describe_column, label_column
from gpudesk.text.messages import InputError, format_input_error
from gpudesk.text.translation import tr

#: Attributes for columns without one of their own.
_STANDS_FOR = {"price": "price_low"}


def find_attribute(section: CatalogSection, row: CatalogRow, column: CatalogColumn) -> str | None:
    if section in (CatalogSection.CLAIMS, CatalogSection.DISPUTES, CatalogSection.YOURS):
        return row.attribute
    return _STANDS_FOR.get(column.key, column.attribute)


def select_catalog_cell(section: CatalogSection, row: CatalogRow, column: CatalogColumn) -> Selection | None:
    """Return the catalog selection of a cell, None if the panel has no explanation."""
    if isinstance(row.item, PriceRecord):
        return selection.select_catalog_price(row.item.id)
    if isinstance(row.item, DocumentStatement):
        return selection.select_catalog_statement(row.item.id)
    if section is CatalogSection.SOURCES:
        return selection.select_catalog_source(row.key)
    if section is CatalogSection.DISPUTES:
        return selection.select_catalog_dispute(row.key)
    if row.thing is None:
        return None
    attribute = find_attribute(section, row, column)
    if attribute is None:
        return selection.select_catalog_entry(row.thing)
    return selection.select_catalog_attribute(row.thing, attribute)


#: The editor of a user entry, by the section that lists it.
_ENTRY_EDITORS: Final = {
    CatalogSection.ACCELERATORS: EditorKind.ACCELERATOR,
    CatalogSection.SYSTEMS: EditorKind.SYSTEM,
    CatalogSection.MODELS: EditorKind.MODEL,
}


def make_edit_request(section: CatalogSection, row: CatalogRow, column: CatalogColumn) -> EditorRequest | None:
    if row.waits is not None:
        return None
    if isinstance(row.item, PriceRecord):
        return EditorRequest(EditorKind.PRICE, thing=row.thing, price=row.item.id)
    if section is CatalogSection.SOURCES:
        return EditorRequest(EditorKind.SOURCE, source=row.key) if row.own else None
    attribute = find_attribute(section, row, column)
    if row.thing is None:
        return None
    if attribute is None:
        kind = _ENTRY_EDITORS.get(section)
        return EditorRequest(kind, thing=row.thing) if row.own and kind is not None and column.key == "name" else None
    claim = row.item.source.id if isinstance(row.item, Claim) else None
    return EditorRequest(EditorKind.VALUE, row.thing, attribute, claim)


def make_preference_request(section: CatalogSection, row: CatalogRow, column: CatalogColumn) -> EditorRequest | None:
    attribute = find_attribute(section, row, column)
    if row.thing is None or attribute is None or row.waits is not None:
        return None
    claim = row.item.source.id if isinstance(row.item, Claim) else None
    return EditorRequest(EditorKind.PREFERENCE, row.thing, attribute, claim)


#: Sections of the menus for the page's actions.
_SECTION: Final = 50
#: Copying more cells shows a busy cursor.
_MANY: Final = 20_000


class CatalogListPage(DeskPage):
    """A page with one catalog list, on which commands act."""

    section: CatalogSection
    model: CatalogModel
    view: CatalogTableView
    columns: ColumnArrangement

    @property
    def writer(self) -> CatalogCellFormatter:
        raise NotImplementedError

    @property
    def sorting(self) -> CatalogSorting | None:
        raise NotImplementedError

    def sort_by(self, number: int) -> None:
        raise NotImplementedError

    def unsort(self) -> None:
        raise NotImplementedError

    def open_columns(self) -> None:
        raise NotImplementedError

    def tell(self, text: str) -> None:
        raise NotImplementedError


class CatalogCommands:
    """Acts on the page's list, the scenario, the clipboard and the user's facts."""

    def __init__(self, page: CatalogListPage) -> None:
        self._page = page

    # Current item

    def current(self) -> tuple[CatalogRow, CatalogColumn] | None:
        index, model = self._page.view.currentIndex(), self._page.model
        row = model.row(index.row()) if index.isValid() else None
        return None if row is None else (row, model.column(index.column()))

    def _has_row(self) -> bool:
        return self.current() is not None

    def _find_kind(self, row: CatalogRow) -> CatalogEntryKind | None:
        if row.thing is None:
            return None
        try:
            return self._page.desk.service.catalog.get_entry_kind(row.thing)
        except InputError:
            return None

    # Scenario

    def can_use(self) -> bool:
        row = self.current()
        return row is not None and self._use_of(row[0]) is not None

    def _use_of(self, row: CatalogRow) -> tuple[str, Callable[[], object]] | None:
        kind = self._find_kind(row)
        if row.thing is None or kind is None:
            return None
        if kind is CatalogEntryKind.ACCELERATOR:
            if len(self._page.desk.scenario.accelerators) >= MAX_ACCELERATORS:
                return None
            return tr("Add to scenario"), partial(self._add_part, row.thing)
        if kind is CatalogEntryKind.MODEL:
            return tr("Set as model"), partial(self._set_model, row.thing)
        return None

    def use(self) -> None:
        """Use the current row in the scenario: add its accelerator, or set its model."""
        row = self.current()
        listed = self._page.section in (CatalogSection.ACCELERATORS, CatalogSection.MODELS)
        use = self._use_of(row[0]) if row is not None else None
        if use is not None and listed:
            use[1]()

    def _use_anywhere(self) -> None:
        row = self.current()
        use = self._use_of(row[0]) if row is not None else None
        if use is not None:
            use[1]()

    def _add_part(self, part: str) -> None:
        desk = self._page.desk
        count = scenario_edits.find_fitting_count(desk.scenario, part)
        name = desk.service.catalog.thing(part).name
        desk.apply(scenario_edits.add_accelerator(desk.scenario, part, count), tr("Add {name}", name=name))

    def _set_model(self, model: str) -> None:
        desk = self._page.desk
        name = desk.service.catalog.thing(model).name
        desk.edit(tr("Set model to {name}", name=name), model=model)

    # Editing

    def edit(self) -> None:
        self._ask(make_edit_request)

    def prefer(self) -> None:
        self._ask(make_preference_request)

    def _ask(self, request_of: Callable[[CatalogSection, CatalogRow, CatalogColumn], EditorRequest | None]) -> None:
        row = self.current()
        request = request_of(self._page.section, *row) if row is not None else None
        if request is not None and self._page.desk.service.user_catalog.writable:
            self._page.editing_requested.emit(request)

    def _can(self, request_of: Callable[[CatalogSection, CatalogRow, CatalogColumn], EditorRequest | None]) -> bool:
        row = self.current()
        writable = self._page.desk.service.user_catalog.writable
        return row is not None and writable and request_of(self._page.section, *row) is not None

    def _list_user_steps(
        self, row: CatalogRow, column: CatalogColumn
    ) -> Iterator[tuple[str, str, Callable[[], FactEdit]]]:
        """Yield the actions that remove the user's value of a cell, as (icon, text, step)."""
        from gpudesk.catalog.user_store import edits

        catalog = self._page.desk.service.catalog
        if row.waits is not None:
            yield "trash-2", tr("Remove from your values"), partial(edits.forget_inactive, catalog, row.waits)
            return
        name = find_attribute(self._page.section, row, column)
        if isinstance(row.item, PriceRecord):
            if row.own:
                yield ("trash-2", tr("Remove your price"), partial(edits.remove_price, catalog, row.item.id))
            return
        if row.thing is not None and name is not None:
            attribute = next((each for each in catalog.attributes(row.thing) if each.name == name), None)
            if attribute is not None and attribute.overridden:
                step = partial(edits.take_shipped, catalog, row.thing, name)
                yield "check", tr("Use shipped value, keep yours"), step
            if attribute is not None and (attribute.overridden or any(claim.own for claim in attribute.claims)):
                step = partial(edits.revert_attribute, catalog, row.thing, name)
                yield "rotate-ccw", tr("Reset to shipped value"), step
        if row.thing is not None and row.key == row.thing and catalog.thing(row.thing).own:
            entry = catalog.thing(row.thing).name
            step = partial(edits.remove_entry, catalog, row.thing)
            yield "trash-2", tr("Remove {name} from your values", name=entry), step

    def can_revert(self) -> bool:
        row = self.current()
        if row is None or not self._page.desk.service.user_catalog.writable:
            return False
        return any(True for _ in self._list_user_steps(*row))

    def revert(self) -> None:
        row = self.current()
        steps = list(self._list_user_steps(*row)) if row is not None else []
        if steps:
            self._do(steps[-1][2])

    def delete(self) -> None:
        """Remove the current row in the section of the user's values; in other sections Del does nothing."""
        if self._page.section is CatalogSection.YOURS:
            self.revert()

    def _do(self, step: Callable[[], FactEdit]) -> None:
        """Apply an edit of the user's values; show the reason if it is refused."""
        try:
            self._page.desk.service.user_catalog.do(step())
        except InputError as error:
            problem = format_input_error(error, self._page.desk.formatter).rstrip(".")
            self._page.tell(tr("No change: {problem}. Your values are unchanged.", problem=problem))

    # Copying

    def copy(self) -> None:
        """Copy the selected cells, several of them with the heads of their columns."""
        view, model = self._page.view, self._page.model
        lines, columns = view.list_selected_positions()
        rows = [row for line in lines if (row := model.row(line)) is not None]
        self._copy(rows, columns, with_heads=len(rows) * len(columns) > 1)

    def copy_table(self) -> None:
        model = self._page.model
        rows = [row for line in range(len(model.lines)) if (row := model.row(line)) is not None]
        self._copy(rows, self._page.view.heads.list_visible(), with_heads=True)

    def _copy(self, rows: list[CatalogRow], columns: list[int], *, with_heads: bool) -> None:
        if not rows or not columns:
            return
        page = self._page
        with _show_busy(many=len(rows) * len(columns) > _MANY):
            text = build_catalog_clipping(page.model.table, rows, columns, page.writer, with_heads=with_heads)
        QGuiApplication.clipboard().setText(text)

    # Menus

    def open_menu(self, line: int, number: int, place: QPoint) -> None:
        """Show the menu of a cell, or of a column if `line` is -1."""
        menu = make_menu(parent=self._page)
        row, column = self._page.model.row(line), self._page.model.column(number)
        if row is not None:
            self.fill_cell_menu(menu, row, column)
            menu.addSeparator()
        self.fill_column_menu(menu, number)
        pop_up(menu, place)

    def fill_cell_menu(self, menu: QMenu, row: CatalogRow, column: CatalogColumn) -> None:
        section, writable = self._page.section, self._page.desk.service.user_catalog.writable
        use = self._use_of(row)
        if use is not None:
            add_entry(menu, self._page.theme.icon("plus"), *use)
            menu.addSeparator()
        edit, choice = make_edit_request(section, row, column), make_preference_request(section, row, column)
        if edit is not None:
            add_entry(menu, self._page.theme.icon("pencil"), _format_edit_action(row, edit), self.edit).setEnabled(
                writable
            )
        if choice is not None:
            add_entry(menu, self._page.theme.icon("scale"), tr("Choose another claim…"), self.prefer).setEnabled(
                writable
            )
        for icon, text, step in self._list_user_steps(row, column):
            add_entry(menu, self._page.theme.icon(icon), text, partial(self._do, step)).setEnabled(writable)
        menu.addSeparator()
        add_entry(menu, self._page.theme.icon("copy"), tr("Copy"), self.copy)
        add_entry(menu, self._page.theme.icon("table-2"), tr("Copy table"), self.copy_table)

    def fill_column_menu(self, menu: QMenu, number: int) -> None:
        page = self._page
        column, arranger = page.model.column(number), page.columns
        sort = tr("Sort by {column}", column=label_column(page.section, column))
        add_entry(menu, self._page.theme.icon("arrow-up-down"), sort, lambda: page.sort_by(number))
        if page.sorting is not None:
            add_entry(menu, self._page.theme.icon("rotate-ccw"), tr("Reset sort order"), page.unsort)
        for step, icon, text in (
            (-1, "arrow-left", tr("Move column left")),
            (1, "arrow-right", tr("Move column right")),
        ):
            entry = add_entry(menu, self._page.theme.icon(icon), text, partial(arranger.move, number, step))
            entry.setEnabled(arranger.can_move(number, step))
        hide = add_entry(menu, self._page.theme.icon("eye-off"), tr("Hide column"), lambda: arranger.toggle(column.key))
        hide.setEnabled(number > 0)
        add_entry(menu, self._page.theme.icon("eye"), tr("Choose columns…"), page.open_columns)

    def fill_columns_chooser(self, menu: QMenu) -> None:
        page = self._page
        for column in page.model.table.columns[1:]:
            text = describe_column(page.section, column)
            entry = menu.addAction(text.replace("&", "&&"))
            entry.setCheckable(True)
            entry.setChecked(column.key not in page.columns.order.hidden)
            entry.triggered.connect(partial(self._toggle, column.key))
        menu.addSeparator()
        menu.addAction(tr("Reset columns")).triggered.connect(page.columns.reset)

    def _toggle(self, key: str, *_: object) -> None:
        self._page.columns.toggle(key)

    # Actions

    def actions(self) -> list[ActionSpec]:
        return [*self._edit_actions(), *self._list_column_actions()]

    def _edit_actions(self) -> list[ActionSpec]:
        def act(name: str, text: str, run: Callable[[], object], icon: str, enabled: Callable[[], bool],
                *keys: str, own: tuple[str, ...] = ()) -> ActionSpec:  # fmt: skip
            edit = partial(ActionSpec, menu=MenuId.EDIT, section=_SECTION)
            return edit(f"catalog.{name}", text, run, icon, keys, enabled=enabled, own_keys=own)

        return [
            act("use", tr("Use row in scenario"), self._use_anywhere, "plus", self.can_use,
                own=("Return",)),
            act("edit", tr("Edit value…"), self.edit, "pencil", lambda: self._can(make_edit_request),
                own=("F2",)),
            act("prefer", tr("Choose another claim…"), self.prefer, "scale",
                lambda: self._can(make_preference_request)),
            act("revert", tr("Reset to shipped value"), self.revert, "rotate-ccw", self.can_revert,
                own=("Del",) if self._page.section is CatalogSection.YOURS else ()),
            act("copy", tr("Copy selected cells"), self.copy, "copy", self._has_row, own=("Ctrl+C",)),
            act("copy_table", tr("Copy table"), self.copy_table, "table-2",
                lambda: bool(self._page.model.lines), "Ctrl+Shift+C"),
        ]  # fmt: skip

    def _list_column_actions(self) -> list[ActionSpec]:
        page = self._page

        def number() -> int:
            return page.view.currentIndex().column()

        def act(name: str, text: str, run: Callable[[], object], icon: str, enabled: Callable[[], bool],
                *keys: str) -> ActionSpec:  # fmt: skip
            view = partial(ActionSpec, menu=MenuId.VIEW, section=_SECTION + 2)
            return view(f"catalog.{name}", text, run, icon, keys, enabled=enabled)

        return [
            act("sort", tr("Sort by this column"), lambda: page.sort_by(number()), "arrow-up-down",
                self._has_row, "Alt+Down"),
            act("unsort", tr("Reset sort order"), page.unsort, "rotate-ccw",
                lambda: page.sorting is not None),
            act("left", tr("Move column left"), lambda: page.columns.move(number(), -1), "arrow-left",
                lambda: page.columns.can_move(number(), -1), "Alt+Shift+Left"),
            act("right", tr("Move column right"), lambda: page.columns.move(number(), 1), "arrow-right",
                lambda: page.columns.can_move(number(), 1), "Alt+Shift+Right"),
            act("hide_column", tr("Hide column"), lambda: page.columns.toggle(page.model.column(number()).key),
                "eye-off", lambda: number() > 0),
            act("columns", tr("Choose columns…"), page.open_columns, "sliders-horizontal", lambda: True),
            act("reset_columns", tr("Reset columns"), page.columns.reset, "eye", lambda: True),
        ]  # fmt: skip


def _format_edit_action(row: CatalogRow, request: EditorRequest) -> str:
    if isinstance(row.item, PriceRecord):
        return tr("Edit price…") if row.own else tr("Enter your price…")
    if request.source is not None:
        return tr("Edit source…")
    return tr("Enter your value…") if request.attribute is not None else tr("Edit entry…")


@contextmanager
def _show_busy(*, many: bool) -> Iterator[None]:
    if many:
        QGuiApplication.setOverrideCursor(Qt.CursorShape.WaitCursor)
    try:
        yield
    finally:
        if many:
            QGuiApplication.restoreOverrideCursor()
