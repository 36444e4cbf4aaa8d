"""The search field and filters above a catalog list, and the note in an empty list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from typing import Any, Final

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QMenu

from gpudesk.catalog.list_columns import list_catalog_columns
from gpudesk.desktop.pages.catalog.catalog_model import FACETS, CatalogFacets
from gpudesk.desktop.pages.catalog.table import CatalogTableView
from gpudesk.desktop.session.settings import UserSettings
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.filters import FilterField, FilterPill
from gpudesk.desktop.ui.widgets.layouts import FlowRow, ThemedLabel
from gpudesk.domain.attributes import CatalogColumn, CatalogSection, get_stale_days
from gpudesk.domain.claim import SourceKind, StalenessLimits
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.messages import capitalize_first
from gpudesk.text.translation import tr, trn


@frozen_dataclass
class ColumnOrder:
    """Keys of the columns from left to right, keys of hidden ones, and user-set widths."""

    order: tuple[str, ...]
    hidden: frozenset[str]
    widths: Mapping[str, int] = field(default_factory=dict)


def read_column_order(stored: Mapping[str, Any], columns: Sequence[CatalogColumn]) -> ColumnOrder:
    """Return a stored arrangement, initially the default; unknown columns are left out."""
    keys = [column.key for column in columns]
    listed = _read_words(stored.get("order"))
    kept_keys = [key for key in dict.fromkeys(listed) if key in keys[1:]]
    order = (keys[0], *kept_keys, *(key for key in keys[1:] if key not in kept_keys))
    hidden = {column.key for column in columns if not column.is_visible}
    if "hidden" in stored:
        # Columns added by an upgrade have their default visibility.
        hidden = {key for key in hidden if key not in listed} | set(_read_words(stored["hidden"]))
    widths = stored.get("widths")
    user_widths = {
        key: width
        for key, width in (widths if isinstance(widths, dict) else {}).items()
        if key in keys and type(width) is int and 0 < width <= 4000
    }
    return ColumnOrder(order, frozenset(hidden & set(keys[1:])), user_widths)


def _read_words(value: object) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


#: The last section shown.
SECTION_SETTING: Final = "catalog.section"


class ColumnArrangement(QObject):
    """Arranges the header of one view by section, as stored in the settings."""

    def __init__(self, settings: UserSettings, view: CatalogTableView, parent: QObject) -> None:
        super().__init__(parent)
        self._settings = settings
        self._view = view
        self._section = CatalogSection.ACCELERATORS
        self._arranging = False
        view.columns_changed.connect(self._keep)

    @property
    def _key(self) -> str:
        return f"catalog.columns.{self._section.value}"

    @property
    def order(self) -> ColumnOrder:
        """The stored order of the section's columns."""
        return read_column_order(self._settings.get(self._key, {}), list_catalog_columns(self._section))

    def take_section(self, section: CatalogSection) -> None:
        self._section = section
        self._apply()

    def _apply(self) -> None:
        columns = list_catalog_columns(self._section)
        order = self.order
        heads, keys = self._view.heads, [column.key for column in columns]
        self._arranging = True
        try:
            for place, key in enumerate(order.order):
                number = keys.index(key)
                if heads.visualIndex(number) != place:
                    heads.moveSection(heads.visualIndex(number), place)
                if heads.isSectionHidden(number) != (key in order.hidden):
                    heads.setSectionHidden(number, key in order.hidden)
            self._view.user_widths = dict(order.widths)
        finally:
            self._arranging = False
        self._view.measure()

    def _keep(self) -> None:
        if self._arranging:
            return
        columns, heads = list_catalog_columns(self._section), self._view.heads
        order = tuple(columns[heads.logicalIndex(place)].key for place in range(heads.count()))
        self._store(replace(self.order, order=order, widths=self._view.user_widths))

    def _store(self, order: ColumnOrder) -> None:
        stored = {"order": list(order.order), "hidden": sorted(order.hidden), "widths": dict(order.widths)}
        self._settings.put(self._key, stored)

    # Column menu

    def toggle(self, key: str) -> None:
        order = self.order
        self._store(replace(order, hidden=order.hidden ^ {key}))
        self._apply()

    def can_move(self, number: int, step: int) -> bool:
        return self._find_neighbor(number, step) is not None

    def move(self, number: int, step: int) -> None:
        """Move a column past its visible neighbor, to the left (-1) or to the right (1)."""
        target = self._find_neighbor(number, step)
        if target is not None:
            heads = self._view.heads
            heads.moveSection(heads.visualIndex(number), heads.visualIndex(target))

    def _find_neighbor(self, number: int, step: int) -> int | None:
        shown_columns = self._view.heads.list_visible()
        if number == 0 or number not in shown_columns:
            return None
        place = shown_columns.index(number) + step
        return shown_columns[place] if 0 < place < len(shown_columns) else None

    def reset(self) -> None:
        self._settings.put(self._key, {})
        self._apply()


#: Age filters in days.
_AGES: Final = (30, 90, 180, 365, 730)
#: With more makers the menu is too long; the search finds them.
_MOST_MAKERS: Final = 40


class CatalogFilterBar(FlowRow):
    """Search field, count and pills. Choices are only emitted; the page applies them."""

    #: The search text.
    words_changed = Signal(str)
    #: The user leaves the search field.
    left = Signal()
    #: The requested facets.
    facets_changed = Signal(object)
    #: Whether to rank announced accelerators with the others.
    ranking_changed = Signal(bool)
    #: The user wants to set the age limits.
    rule_wanted = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, 6, (16, 0, 16, 8))
        self._facets = CatalogFacets()
        self._section = CatalogSection.ACCELERATORS
        self._makers: Sequence[str] = ()
        self._kinds: Sequence[SourceKind] = ()
        self._rule = StalenessLimits()
        self._ranked = False
        tip = tr("Show only rows with these words, in all sections  /")
        name = tr("Filter: name, architecture, value")
        self.field = FilterField(theme, name, tip, framed=True, width=244)
        self.count = ThemedLabel(theme, font="body", color="text2")
        self.pills = {
            "makers": FilterPill(theme, "", self._fill_makers),
            "status": FilterPill(theme, ""),
            "rank": FilterPill(theme, ""),
            "kinds": FilterPill(theme, "", self._fill_kinds),
            "age": FilterPill(theme, "", self._fill_ages),
            "disputes": FilterPill(theme, ""),
            "own": FilterPill(theme, ""),
        }
        for widget in (self.field, self.count, *self.pills.values()):
            self.flow.addWidget(widget)
        self._connect()
        theme.follow(self._level)

    def _connect(self) -> None:
        self.field.changed.connect(self.words_changed)
        self.field.left.connect(self.left)
        pills = self.pills
        pills["status"].switched.connect(lambda: self._change(shipping=not self._facets.shipping))
        pills["disputes"].switched.connect(lambda: self._change(disputes=not self._facets.disputes))
        pills["own"].switched.connect(lambda: self._change(own=not self._facets.own))
        pills["rank"].switched.connect(lambda: self.ranking_changed.emit(not self._ranked))
        pills["rank"].cleared.connect(lambda: self.ranking_changed.emit(False))
        nothing: dict[str, dict[str, Any]] = {
            "makers": {"makers": frozenset()},
            "status": {"shipping": False},
            "kinds": {"kinds": frozenset()},
            "age": {"newer_than": None, "stale": False},
            "disputes": {"disputes": False},
            "own": {"own": False},
        }
        for name, fields in nothing.items():
            pills[name].cleared.connect(partial(self._change, **fields))

    def _level(self) -> None:
        # As high as the pills, so that its text is aligned with theirs.
        self.count.setFixedHeight(self._theme.px(28))
        self.updateGeometry()

    # Display

    def show_section(self, section: CatalogSection, makers: Sequence[str], kinds: Sequence[SourceKind]) -> None:
        self._section, self._makers, self._kinds = section, makers, kinds

    def show_facets(self, facets: CatalogFacets, rule: StalenessLimits, *, ranked: bool | None) -> None:
        """Show the active filters; `ranked` None hides the pill for announced accelerators."""
        self._facets, self._rule, self._ranked = facets, rule, bool(ranked)
        offered = FACETS[self._section]
        pills = self.pills
        for name, pill in pills.items():
            pill.setVisible(ranked is not None if name == "rank" else name in offered)
        chosen = sorted(self._facets.makers)
        pills["makers"].show_text(_format_few_names(chosen) if chosen else self._label_maker(), on=bool(facets.makers))
        pills["kinds"].show_text(self._format_kinds(), on=bool(facets.kinds))
        pills["age"].show_text(self._format_age(), on=facets.stale or facets.newer_than is not None)
        pills["disputes"].show_text(tr("Disputed"), on=facets.disputes)
        pills["own"].show_text(tr("Your values"), on=facets.own)
        status = tr("Available") if facets.shipping else tr("Available and announced")
        pills["status"].show_text(status, on=facets.shipping)
        pills["rank"].show_text(tr("Include announced in ranking"), on=self._ranked)
        self.flow.invalidate()
        self.updateGeometry()

    def show_count(self, text: str) -> None:
        self.count.setText(text)
        self.flow.invalidate()

    def _label_maker(self) -> str:
        return {
            CatalogSection.ACCELERATORS: tr("Vendor"),
            CatalogSection.MODELS: tr("Organization"),
            CatalogSection.PRICES: tr("Provider"),
            CatalogSection.SOURCES: tr("Publisher"),
        }.get(self._section, tr("Vendor"))

    def _format_kinds(self) -> str:
        chosen = [kind.label for kind in SourceKind if kind in self._facets.kinds]
        return _format_few_names(chosen) if chosen else tr("Kind")

    def _format_age(self) -> str:
        if self._facets.stale:
            return tr("Stale")
        days = self._facets.newer_than
        return tr("Age") if days is None else tr("Newer than {age}", age=format_days(days))

    # Menus

    def _fill_makers(self, menu: QMenu) -> None:
        for maker in self._makers[:_MOST_MAKERS]:
            entry = menu.addAction(maker.replace("&", "&&"))
            entry.setCheckable(True)
            entry.setChecked(maker in self._facets.makers)
            entry.triggered.connect(partial(self._change, makers=self._facets.makers ^ {maker}))

    def _fill_kinds(self, menu: QMenu) -> None:
        for kind in self._kinds:
            entry = menu.addAction(capitalize_first(kind.label))
            entry.setCheckable(True)
            entry.setChecked(kind in self._facets.kinds)
            entry.triggered.connect(partial(self._change, kinds=self._facets.kinds ^ {kind}))

    def _fill_ages(self, menu: QMenu) -> None:
        for days in _AGES:
            entry = menu.addAction(tr("Newer than {age}", age=format_days(days)))
            entry.setCheckable(True)
            entry.setChecked(self._facets.newer_than == days)
            entry.triggered.connect(partial(self._change, newer_than=days, stale=False))
        menu.addSeparator()
        stale = menu.addAction(
            tr("Only stale (older than {age})", age=format_days(get_stale_days(self._rule, self._section)))
        )
        stale.setCheckable(True)
        stale.setChecked(self._facets.stale)
        stale.triggered.connect(partial(self._change, newer_than=None, stale=True))
        menu.addSeparator()
        menu.addAction(tr("Set age limits…")).triggered.connect(self.rule_wanted)

    def _change(self, *_: object, **fields: Any) -> None:  # noqa: ANN401 - any field of the facets
        self.facets_changed.emit(replace(self._facets, **fields))


def _format_few_names(names: Sequence[str]) -> str:
    first_names = ", ".join(names[:2])
    return tr("{names} and {n} more", names=first_names, n=len(names) - 2) if len(names) > 2 else first_names


def format_days(days: int) -> str:
    """Return a number of days in words, whole years as such."""
    if days % 365 == 0:
        return trn("{n} year", "{n} years", days // 365)
    return trn("{n} day", "{n} days", days)
