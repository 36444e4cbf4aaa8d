"""The fields of a source in any form, and the form of a source itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeVar
from urllib.parse import urlsplit

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from gpudesk.catalog.user_store.edits import add_facts, change_source, count_resting_figures, describe_shipped_entry
from gpudesk.catalog.user_store.entry import make_user_source
from gpudesk.desktop.pages.catalog.editors.fields import LONGEST_ADDRESS, ChoiceRow, DateRow, TextRow
from gpudesk.desktop.pages.catalog.editors.form import FormDialog
from gpudesk.desktop.pages.catalog.editors.rows import FieldError, FormRow
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.domain.claim import Source, SourceKind
from gpudesk.domain.user_facts import FactEdit, UserFacts
from gpudesk.text.messages import InputError, capitalize_first
from gpudesk.text.translation import tr, trn

_T = TypeVar("_T")

#: Order of the kinds: the user's own first, then by reliability.
_KINDS = (
    SourceKind.USER,
    SourceKind.VENDOR_DATASHEET,
    SourceKind.VENDOR_CLAIM,
    SourceKind.CONFIG_COPY,
    SourceKind.MEASURED_INDEPENDENT,
    SourceKind.MEASURED_MLPERF,
    SourceKind.MEASURED_VENDOR,
    SourceKind.INDEPENDENT,
    SourceKind.PRESS,
    SourceKind.ESTIMATE,
)


class LastSourceMemory(QObject):
    """The last stated source of a session, as long as its desk."""

    source: Source | None = None

    @classmethod
    def of(cls, session: QObject) -> LastSourceMemory:
        return session.findChild(cls) or cls(session)


class AddressRow(TextRow):
    """The web address of a source."""

    def read(self) -> object:
        """Return the address; raises `FieldError`."""
        address = str(super().read())
        try:
            parts = urlsplit(address)
        except ValueError:
            parts = urlsplit("")
        if parts.scheme not in ("http", "https") or not parts.netloc or " " in address:
            raise FieldError(tr("Enter an address that begins with https:// or http://, or leave the field empty"))
        return address


class SourceFields:
    """The rows of a source. A known title fills in the rest."""

    def __init__(self, theme: Theme, facts: UserFacts, session: QObject, *, prefilled: bool = True) -> None:
        """Offer the user's sources; `session` remembers the last one.

        It is filled in initially if `prefilled`.
        """
        self._last = LastSourceMemory.of(session)
        self._sources_by_title = {fact.title: fact for fact in facts if isinstance(fact, Source)}
        self.title = TextRow(
            theme, "title", tr("Title"), required=True, empty=tr("Email quote, data sheet, your measurement")
        )
        if self._sources_by_title:
            completer = self.title.offer(sorted(self._sources_by_title, key=str.casefold))
            completer.activated.connect(self._take_known)
        self.publisher = TextRow(theme, "publisher", tr("Publisher"), empty=tr("Company or person"))
        self.url = AddressRow(theme, "url", tr("Address"), empty="https://", longest=LONGEST_ADDRESS)
        self.date = DateRow(theme, "date", tr("Source date"))
        self.kind = ChoiceRow(theme, "kind", tr("Kind"), [(kind, format_kind_choice(kind)) for kind in _KINDS])
        if prefilled and self._last.source is not None:
            self.show_source(self._last.source)

    def rows(self) -> Iterator[FormRow]:
        yield from (self.title, self.publisher, self.url, self.date, self.kind)

    @property
    def is_empty(self) -> bool:
        return self.title.is_empty()

    def show_source(self, source: Source) -> None:
        self.title.show_value(source.title)
        self.publisher.show_value(source.named_publisher or None)
        self.url.show_value(source.url)
        self.date.show_value(source.date)
        self.kind.show_value(source.kind)

    def source(self) -> Source:
        """Return the stated source; raises `FieldError` or `InputError`."""
        return make_user_source(
            self.title.text() or "",
            self.publisher.text() or "",
            url=self.url.text(),
            date=self.date.text(),
            kind=SourceKind(self.kind.key()),
        )

    def changed(self, source: Source) -> Source:
        """Return a user's source with the content of the rows and its former id."""
        return replace(self.source(), id=source.id)

    def remember(self) -> None:
        if not self.is_empty:
            self._last.source = self.source()

    def _take_known(self, title: str) -> None:
        if title in self._sources_by_title:
            self.show_source(self._sources_by_title[title])


def format_kind_choice(kind: str) -> str:
    """Return the label of a kind, `Yours` for the user's own."""
    if kind == SourceKind.USER:
        return tr("Your value")
    return capitalize_first(SourceKind(kind).label)


class SourceForm(FormDialog):
    """Changes a user source for all its figures, or adds one."""

    def __init__(self, desk: Desk, theme: Theme, *, source: str | None = None, parent: QWidget | None = None) -> None:
        """Start with the user's source `source`; raises `InputError` for any other."""
        self.user_source = find_user_fact(desk, Source, "source", source)
        adding = self.user_source is None
        super().__init__(
            desk,
            theme,
            tr("Add source") if adding else tr("Edit source"),
            save=tr("Add source") if adding else tr("Save source"),
            parent=parent,
        )
        self.add_head(self.windowTitle(), self._describe_use())
        self.source = SourceFields(theme, desk.service.user_catalog.facts, desk, prefilled=False)
        self.add_rows(self.source.rows())
        if self.user_source is not None:
            self.source.show_source(self.user_source)
        self.source.title.focus_control()

    def edit(self) -> FactEdit:
        catalog = self.desk.service.catalog
        if self.user_source is None:
            new_source = self.source.source()
            return add_facts(catalog, (new_source,), new_source.title)
        return change_source(catalog, self.source.changed(self.user_source))

    def after_saving(self) -> None:
        if self.user_source is None:
            self.source.remember()

    def _describe_use(self) -> str:
        if self.user_source is None:
            return tr("Available in all forms after saving")
        count = count_resting_figures(self.desk.service.user_catalog.facts, self.user_source.id)
        return trn("Source of {n} of your values", "Source of {n} of your values", count)


def find_user_fact(desk: Desk, kind: type[_T], table: str, fact_id: str | None) -> _T | None:
    """Return the user's fact of an id, if any is given; raises `InputError` for an id that is not the user's."""
    if fact_id is None:
        return None
    fact = desk.service.user_catalog.facts.get(table, fact_id)
    if not isinstance(fact, kind):
        raise InputError(describe_shipped_entry(fact_id), "id")
    return fact
