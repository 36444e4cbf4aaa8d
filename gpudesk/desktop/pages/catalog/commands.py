"""What can be done with rows, columns and cells of the catalog: as menus and as actions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QMenu

from gpudesk.desktop.actions import ActionSpec, Menu
from gpudesk.desktop.pages.catalog.requests import EditorRequest
from gpudesk.desktop.pages.catalog.selecting import attribute_of, edit_request, preference_request
from gpudesk.desktop.session import edits
from gpudesk.desktop.widgets.menu import make_menu
from gpudesk.domain.catalog_tables import CatalogRow, Column, Section
from gpudesk.domain.claims import Price
from gpudesk.domain.messages import InputError
from gpudesk.domain.own_facts import Edit
from gpudesk.domain.scenarios import MOST_ACCELERATORS
from gpudesk.domain.things import ThingKind
from gpudesk.sentences import problem
from gpudesk.sheets.catalog_cells import clipping
from gpudesk.sheets.catalog_words import column_head, column_meaning
from gpudesk.text import tr

if TYPE_CHECKING:
    from gpudesk.desktop.pages.catalog.page import CatalogPage

#: Sections of the menus that the page adds its actions to.
_SECTION: Final = 50
#: Copying more cells than these shows that it works.
_MANY: Final = 20_000


class Commands:
    """Acts on the page's list, the scenario, the clipboard and the user's facts."""

    def __init__(self, page: CatalogPage) -> None:
        """Keep what to act on."""
        self._page = page

    # What is current

    def current(self) -> tuple[CatalogRow, Column] | None:
        """Return row and column of the current cell."""
        index, model = self._page.view.currentIndex(), self._page.model
        row = model.row(index.row()) if index.isValid() else None
        return None if row is None else (row, model.column(index.column()))

    def _has_row(self) -> bool:
        return self.current() is not None

    def _kind(self, row: CatalogRow) -> ThingKind | None:
        """Return what kind of thing a row is about."""
        if row.thing is None:
            return None
        try:
            return self._page.desk.workbench.catalog.kind_of(row.thing)
        except InputError:
            return None

    # The scenario

    def can_use(self) -> bool:
        """Return whether the current row can be taken into the scenario."""
        found = self.current()
        return found is not None and self._use_of(found[0]) is not None

    def _use_of(self, row: CatalogRow) -> tuple[str, Callable[[], object]] | None:
        """Return what taking a row into the scenario is called, and what does it."""
        kind = self._kind(row)
        if row.thing is None or kind is None:
            return None
        if kind is ThingKind.ACCELERATOR:
            if len(self._page.desk.scenario.accelerators) >= MOST_ACCELERATORS:
                return None
            return tr("Add to the scenario"), partial(self._add_part, row.thing)
        if kind is ThingKind.MODEL:
            return tr("Set as the model"), partial(self._set_model, row.thing)
        return None

    def use(self) -> None:
        """Take the current row into the scenario: a part as one more, a model as the model."""
        found = self.current()
        listed = self._page.section in (Section.ACCELERATORS, Section.MODELS)
        use = self._use_of(found[0]) if found is not None else None
        if use is not None and listed:
            use[1]()

    def _use_anywhere(self) -> None:
        found = self.current()
        use = self._use_of(found[0]) if found is not None else None
        if use is not None:
            use[1]()

    def _add_part(self, part: str) -> None:
        desk = self._page.desk
        count = edits.fitting_count(desk.scenario, part)
        name = desk.workbench.catalog.thing(part).name
        desk.apply(edits.add_accelerator(desk.scenario, part, count), tr("Add {name}", name=name))

    def _set_model(self, model: str) -> None:
        desk = self._page.desk
        name = desk.workbench.catalog.thing(model).name
        desk.edit(tr("Set model {name}", name=name), model=model)

    # Editing

    def edit(self) -> None:
        """Ask for the editor of the current cell."""
        self._ask(edit_request)

    def prefer(self) -> None:
        """Ask for the choice among the claims about the current cell."""
        self._ask(preference_request)

    def _ask(self, request_of: Callable[[Section, CatalogRow, Column], EditorRequest | None]) -> None:
        found = self.current()
        request = request_of(self._page.section, *found) if found is not None else None
        if request is not None and self._page.desk.workbench.own.writable:
            self._page.wanted_editor.emit(request)

    def _can(self, request_of: Callable[[Section, CatalogRow, Column], EditorRequest | None]) -> bool:
        found = self.current()
        writable = self._page.desk.workbench.own.writable
        return found is not None and writable and request_of(self._page.section, *found) is not None

    def _own_steps(self, row: CatalogRow, column: Column) -> Iterator[tuple[str, str, Callable[[], Edit]]]:
        """Yield what takes back what the user said in a cell, as (icon, text, step)."""
        from gpudesk.workbench import own_edits

        catalog = self._page.desk.workbench.catalog
        if row.waits is not None:
            yield "trash-2", tr("Remove from your facts"), partial(own_edits.forget, catalog, row.waits)
            return
        name = attribute_of(self._page.section, row, column)
        if isinstance(row.item, Price):
            if row.own:
                yield (
                    "trash-2",
                    tr("Remove your price"),
                    partial(own_edits.remove_price, catalog, row.item.id),
                )
            return
        if row.thing is not None and name is not None:
            found = next((each for each in catalog.attributes(row.thing) if each.name == name), None)
            if found is not None and found.overridden:
                step = partial(own_edits.take_shipped, catalog, row.thing, name)
                yield "check", tr("Take the shipped value, keep yours beside it"), step
            if found is not None and (found.overridden or any(claim.own for claim in found.claims)):
                step = partial(own_edits.revert, catalog, row.thing, name)
                yield "rotate-ccw", tr("Revert to the shipped value"), step
        if row.thing is not None and row.key == row.thing and catalog.thing(row.thing).own:
            entry = catalog.thing(row.thing).name
            step = partial(own_edits.remove_thing, catalog, row.thing)
            yield "trash-2", tr("Remove {name} from your facts", name=entry), step

    def can_revert(self) -> bool:
        """Return whether the user said anything in the current cell."""
        found = self.current()
        if found is None or not self._page.desk.workbench.own.writable:
            return False
        return any(True for _ in self._own_steps(*found))

    def revert(self) -> None:
        """Take back what the user said in the current cell."""
        found = self.current()
        steps = list(self._own_steps(*found)) if found is not None else []
        if steps:
            self._do(steps[-1][2])

    def delete(self) -> None:
        """Take back what a row of the user's facts says; elsewhere too much would hang on one key."""
        if self._page.section is Section.YOURS:
            self.revert()

    def _do(self, step: Callable[[], Edit]) -> None:
        """Take a step of the user's facts; where that is refused, say why."""
        try:
            self._page.desk.workbench.own.do(step())
        except InputError as error:
            said = problem(error, self._page.desk.formatter).rstrip(".")
            self._page.tell(tr("Not done: {problem}. Your facts are as they were.", problem=said))

    # Copying

    def copy(self) -> None:
        """Copy the selected cells, several of them with the heads of their columns."""
        view, model = self._page.view, self._page.model
        lines, columns = view.selected_lines_and_columns()
        rows = [row for line in lines if (row := model.row(line)) is not None]
        self._copy(rows, columns, with_heads=len(rows) * len(columns) > 1)

    def copy_table(self) -> None:
        """Copy all rows and columns that are shown."""
        model = self._page.model
        rows = [row for line in range(len(model.lines)) if (row := model.row(line)) is not None]
        self._copy(rows, self._page.view.heads.shown(), with_heads=True)

    def _copy(self, rows: list[CatalogRow], columns: list[int], *, with_heads: bool) -> None:
        if not rows or not columns:
            return
        page = self._page
        with _busy(many=len(rows) * len(columns) > _MANY):
            text = clipping(
                page.model.table, rows, columns, page.writer, page.desk.formatter, with_heads=with_heads
            )
        QGuiApplication.clipboard().setText(text)

    # Menus

    def open_menu(self, line: int, number: int, place: QPoint) -> None:
        """Show what can be done with a cell, or with a column where `line` is -1."""
        menu = make_menu(parent=self._page)
        row, column = self._page.model.row(line), self._page.model.column(number)
        if row is not None:
            self.fill_cell_menu(menu, row, column)
            menu.addSeparator()
        self.fill_column_menu(menu, number)
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(place)

    def fill_cell_menu(self, menu: QMenu, row: CatalogRow, column: Column) -> None:
        """Offer what can be done with a cell and its row."""
        section, writable = self._page.section, self._page.desk.workbench.own.writable
        use = self._use_of(row)
        if use is not None:
            self._entry(menu, "plus", *use)
            menu.addSeparator()
        edit, choice = edit_request(section, row, column), preference_request(section, row, column)
        if edit is not None:
            self._entry(menu, "pencil", _edit_text(row, edit), self.edit).setEnabled(writable)
        if choice is not None:
            self._entry(menu, "scale", tr("Prefer another claim…"), self.prefer).setEnabled(writable)
        for icon, text, step in self._own_steps(row, column):
            self._entry(menu, icon, text, partial(self._do, step)).setEnabled(writable)
        menu.addSeparator()
        self._entry(menu, "copy", tr("Copy"), self.copy)
        self._entry(menu, "table-2", tr("Copy table"), self.copy_table)

    def fill_column_menu(self, menu: QMenu, number: int) -> None:
        """Offer what can be done with a column."""
        page = self._page
        column, arranger = page.model.column(number), page.columns
        sort = tr("Order by {column}", column=column_head(page.section, column))
        self._entry(menu, "arrow-up-down", sort, lambda: page.sort_by(number))
        if page.sorting is not None:
            self._entry(menu, "rotate-ccw", tr("Order as in the catalog"), page.unsort)
        for step, icon, text in (
            (-1, "arrow-left", tr("Move column left")),
            (1, "arrow-right", tr("Move column right")),
        ):
            entry = self._entry(menu, icon, text, partial(arranger.move, number, step))
            entry.setEnabled(arranger.can_move(number, step))
        hide = self._entry(menu, "eye-off", tr("Hide column"), lambda: arranger.toggle(column.key))
        hide.setEnabled(number > 0)
        self._entry(menu, "eye", tr("Choose columns…"), page.open_columns)

    def fill_columns_chooser(self, menu: QMenu) -> None:
        """Offer every column of the section with a tick."""
        page = self._page
        for column in page.model.table.columns[1:]:
            text = column_meaning(page.section, column)
            entry = menu.addAction(text.replace("&", "&&"))
            entry.setCheckable(True)
            entry.setChecked(column.key not in page.columns.hidden)
            entry.triggered.connect(partial(self._toggle, column.key))
        menu.addSeparator()
        menu.addAction(tr("Columns as designed")).triggered.connect(page.columns.reset)

    def _hide(self, number: int) -> None:
        self._page.columns.toggle(self._page.model.column(number).key)

    def _toggle(self, key: str, *_: object) -> None:
        self._page.columns.toggle(key)

    def _entry(self, menu: QMenu, icon: str, text: str, act: Callable[[], object]) -> QAction:
        entry = menu.addAction(self._page.theme.icon(icon), text.replace("&", "&&"))
        entry.triggered.connect(lambda _checked: act())
        return entry

    # Actions

    def actions(self) -> list[ActionSpec]:
        """Return everything that can be done, with the current cell in mind."""
        return [*self._edit_actions(), *self._column_actions()]

    def _edit_actions(self) -> list[ActionSpec]:
        def act(name: str, text: str, run: Callable[[], object], icon: str, enabled: Callable[[], bool],
                *keys: str, own: tuple[str, ...] = ()) -> ActionSpec:  # fmt: skip
            return ActionSpec(
                f"catalog.{name}", text, run, Menu.EDIT, _SECTION, icon, keys, enabled=enabled, own_keys=own
            )

        return [
            act("use", tr("Take the row into the scenario"), self._use_anywhere, "plus", self.can_use,
                own=("Return",)),
            act("edit", tr("Edit value…"), self.edit, "pencil", lambda: self._can(edit_request),
                own=("F2",)),
            act("prefer", tr("Prefer another claim…"), self.prefer, "scale",
                lambda: self._can(preference_request)),
            act("revert", tr("Revert to the shipped value"), self.revert, "rotate-ccw", self.can_revert,
                own=("Del",) if self._page.section is Section.YOURS else ()),
            act("copy", tr("Copy selected cells"), self.copy, "copy", self._has_row, own=("Ctrl+C",)),
            act("copy_table", tr("Copy table"), self.copy_table, "table-2",
                lambda: bool(self._page.model.lines), "Ctrl+Shift+C"),
        ]  # fmt: skip

    def _column_actions(self) -> list[ActionSpec]:
        page = self._page

        def number() -> int:
            return page.view.currentIndex().column()

        def act(name: str, text: str, run: Callable[[], object], icon: str, enabled: Callable[[], bool],
                *keys: str) -> ActionSpec:  # fmt: skip
            return ActionSpec(
                f"catalog.{name}", text, run, Menu.VIEW, _SECTION + 2, icon, keys, enabled=enabled
            )

        return [
            act("sort", tr("Order by this column"), lambda: page.sort_by(number()), "arrow-up-down",
                self._has_row, "Alt+Down"),
            act("unsort", tr("Order as in the catalog"), page.unsort, "rotate-ccw",
                lambda: page.sorting is not None),
            act("left", tr("Move column left"), lambda: page.columns.move(number(), -1), "arrow-left",
                lambda: page.columns.can_move(number(), -1), "Alt+Shift+Left"),
            act("right", tr("Move column right"), lambda: page.columns.move(number(), 1), "arrow-right",
                lambda: page.columns.can_move(number(), 1), "Alt+Shift+Right"),
            act("hide_column", tr("Hide column"), lambda: self._hide(number()),
                "eye-off", lambda: number() > 0),
            act("columns", tr("Choose columns…"), page.open_columns, "sliders-horizontal", lambda: True),
            act("reset_columns", tr("Columns as designed"), page.columns.reset, "eye", lambda: True),
        ]  # fmt: skip


def _edit_text(row: CatalogRow, request: EditorRequest) -> str:
    if isinstance(row.item, Price):
        return tr("Edit price…") if row.own else tr("Enter your own price…")
    if request.source is not None:
        return tr("Edit source…")
    return tr("Enter your own value…") if request.attribute is not None else tr("Edit entry…")


@contextmanager
def _busy(*, many: bool) -> Iterator[None]:
    """Show that the program works while a long copy is made."""
    if many:
        QGuiApplication.setOverrideCursor(Qt.CursorShape.WaitCursor)
    try:
        yield
    finally:
        if many:
            QGuiApplication.restoreOverrideCursor()
