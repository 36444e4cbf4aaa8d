"""The search field and filters above a catalog list, and what takes the place of an empty one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QMenu, QVBoxLayout, QWidget

from gpudesk.desktop.pages.catalog.catalog_model import FACETS, CatalogFacets
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.buttons import Button
from gpudesk.desktop.ui.widgets.filters import FilterField, FilterPill
from gpudesk.desktop.ui.widgets.labels import ThemedLabel
from gpudesk.desktop.ui.widgets.layouts import STRETCH, FlowRow, make_row
from gpudesk.domain.catalog_table import CatalogSection, get_stale_days
from gpudesk.domain.claim import SourceKind, StalenessLimits
from gpudesk.report.labels import label_source_kind
from gpudesk.text.messages import capitalize_first
from gpudesk.text.translation import tr, trn

#: Ages that can be asked for, in days.
_AGES: Final = (30, 90, 180, 365, 730)
#: More makers than these in a menu are no choice any more; typing finds them.
_MOST_MAKERS: Final = 40


class CatalogFilterBar(FlowRow):
    """Search field, count and pills. Choices are emitted, not stored: the page sets what is shown."""

    #: The words that were typed.
    words_changed = Signal(str)
    #: The user is done with the search field.
    left = Signal()
    #: The facets that the user asks for.
    facets_changed = Signal(object)
    #: Whether announced parts are to be ranked among the others.
    ranking_changed = Signal(bool)
    #: The user wants to set what counts as stale.
    rule_wanted = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, 6, (16, 0, 16, 8), parent)
        self._facets = CatalogFacets()
        self._section = CatalogSection.ACCELERATORS
        self._makers: Sequence[str] = ()
        self._kinds: Sequence[SourceKind] = ()
        self._rule = StalenessLimits()
        self._ranked = False
        tip = tr("Show only rows with these words, in all sections  /")
        name = tr("Filter: name, architecture, value")
        self.field = FilterField(theme, name, tip, framed=True, width=244)
        self.count = ThemedLabel(theme, font="body", colour="text2")
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
        # As high as the pills, so that its words are level with theirs.
        self.count.setFixedHeight(self._theme.px(28))
        self.updateGeometry()

    # Showing

    def show_section(self, section: CatalogSection, makers: Sequence[str], kinds: Sequence[SourceKind]) -> None:
        self._section, self._makers, self._kinds = section, makers, kinds

    def show_facets(self, facets: CatalogFacets, rule: StalenessLimits, *, ranked: bool | None) -> None:
        """Show the active filters; `ranked` None hides the pill for announced accelerators."""
        self._facets, self._rule, self._ranked = facets, rule, bool(ranked)
        offered = FACETS[self._section]
        pills = self.pills
        for name, pill in pills.items():
            pill.setVisible(ranked is not None if name == "rank" else name in offered)
        pills["makers"].show_text(self._makers_text(), on=bool(facets.makers))
        pills["kinds"].show_text(self._kinds_text(), on=bool(facets.kinds))
        pills["age"].show_text(self._age_text(), on=facets.stale or facets.newer_than is not None)
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

    def _maker_word(self) -> str:
        return {
            CatalogSection.ACCELERATORS: tr("Vendor"),
            CatalogSection.MODELS: tr("Organization"),
            CatalogSection.PRICES: tr("Provider"),
            CatalogSection.SOURCES: tr("Publisher"),
        }.get(self._section, tr("Vendor"))

    def _makers_text(self) -> str:
        chosen = sorted(self._facets.makers)
        return _format_few_names(chosen) if chosen else self._maker_word()

    def _kinds_text(self) -> str:
        chosen = [label_source_kind(kind) for kind in SourceKind if kind in self._facets.kinds]
        return _format_few_names(chosen) if chosen else tr("Kind")

    def _age_text(self) -> str:
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
            entry.triggered.connect(partial(self._toggle_maker, maker))

    def _fill_kinds(self, menu: QMenu) -> None:
        for kind in self._kinds:
            entry = menu.addAction(capitalize_first(label_source_kind(kind)))
            entry.setCheckable(True)
            entry.setChecked(kind in self._facets.kinds)
            entry.triggered.connect(partial(self._toggle_kind, kind))

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

    def _toggle_maker(self, maker: str, *_: object) -> None:
        self._change(makers=self._facets.makers ^ {maker})

    def _toggle_kind(self, kind: SourceKind, *_: object) -> None:
        self._change(kinds=self._facets.kinds ^ {kind})

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


class EmptyListNote(QWidget):
    """A sentence with one button."""

    #: The button was pressed.
    wanted = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.title = ThemedLabel(theme, font="option")
        self.words = ThemedLabel(theme, font="small", colour="text2")
        self.button = Button(theme, "")
        self.button.clicked.connect(self.wanted)
        row = make_row(STRETCH, self.button, STRETCH)
        column = QVBoxLayout(self)
        column.addStretch(2)
        for label in (self.title, self.words):
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            label.setWordWrap(True)
            column.addWidget(label)
        column.addSpacing(theme.px(10))
        column.addLayout(row)
        column.addStretch(3)

    def show_reason(self, title: str, words: str, button: str) -> None:
        """Show why the list is empty; an empty `button` hides the button."""
        self.title.setText(title)
        self.words.setText(words)
        self.words.setVisible(bool(words))
        self.button.setText(button)
        self.button.setVisible(bool(button))
        self.setAccessibleName(f"{title}. {words}" if words else title)
