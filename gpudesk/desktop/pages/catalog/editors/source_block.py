"""Who states it: the fields of a source, which every figure of the user's needs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import urlsplit

from PySide6.QtCore import QObject

from gpudesk.desktop.pages.catalog.editors.fields import LONGEST_ADDRESS, ChoiceRow, DateRow, TextRow
from gpudesk.desktop.pages.catalog.editors.rows import FieldFault, FormRow
from gpudesk.desktop.theme.theme import Theme
from gpudesk.domain.claims import Kind, Source
from gpudesk.domain.own_facts import OwnFacts
from gpudesk.sheets.labels import kind_label
from gpudesk.text import tr
from gpudesk.workbench.own_checks import NO_PUBLISHER
from gpudesk.workbench.own_edits import own_source

#: The order in which kinds are offered: the user's own first, then from firm to loose.
_KINDS = (
    Kind.USER,
    Kind.VENDOR_DATASHEET,
    Kind.VENDOR_CLAIM,
    Kind.CONFIG_COPY,
    Kind.MEASURED_INDEPENDENT,
    Kind.MEASURED_MLPERF,
    Kind.MEASURED_VENDOR,
    Kind.INDEPENDENT,
    Kind.PRESS,
    Kind.ESTIMATE,
)


class LastSource(QObject):
    """The source that was stated last in a session, which lasts as long as its desk."""

    source: Source | None = None

    @classmethod
    def of(cls, session: QObject) -> LastSource:
        """Return that of a session."""
        return session.findChild(cls) or cls(session)


class AddressRow(TextRow):
    """Where a source can be read."""

    def read(self) -> object:
        """Return the address as it was written."""
        return self.text()

    def text(self) -> str | None:
        """Return the address, None where there is none; raises `FieldFault`."""
        written = super().text()
        if written is None:
            return None
        try:
            parts = urlsplit(written)
        except ValueError:
            parts = urlsplit("")
        if parts.scheme not in ("http", "https") or not parts.netloc or " " in written:
            raise FieldFault(tr("An address begins with https:// or http://. Leave it empty for none"))
        return written


class SourceBlock:
    """The rows of a source. A title that is known fills in the rest."""

    def __init__(
        self,
        theme: Theme,
        facts: OwnFacts,
        session: QObject,
        *,
        required: bool = True,
        prefilled: bool = True,
    ) -> None:
        """Offer the sources of the user's; `session` is what the last one is remembered with.

        It stands in the rows from the start unless `prefilled` is not so.
        """
        self._last = LastSource.of(session)
        self._known = {fact.title: fact for fact in facts if isinstance(fact, Source)}
        self.title = TextRow(
            theme,
            "title",
            tr("Title"),
            required=required,
            empty=tr("Quote by mail, data sheet, own measurement"),
        )
        if self._known:
            completer = self.title.offer(sorted(self._known, key=str.casefold))
            completer.activated.connect(self._take_known)
        self.publisher = TextRow(theme, "publisher", tr("Publisher"), empty=tr("Company or person"))
        self.url = AddressRow(theme, "url", tr("Address"), empty="https://", longest=LONGEST_ADDRESS)
        self.date = DateRow(theme, "date", tr("Date of the source"))
        self.kind = ChoiceRow(theme, "kind", tr("Kind"), [(kind, kind_text(kind)) for kind in _KINDS])
        if prefilled and self._last.source is not None:
            self.show_source(self._last.source)

    def rows(self) -> Iterator[FormRow]:
        """Yield the rows in reading order."""
        yield from (self.title, self.publisher, self.url, self.date, self.kind)

    @property
    def is_empty(self) -> bool:
        """Whether no source is named."""
        return self.title.is_empty()

    def show_source(self, source: Source) -> None:
        """Fill the rows in."""
        self.title.show_value(source.title)
        self.publisher.show_value(None if source.publisher == NO_PUBLISHER else source.publisher)
        self.url.show_value(source.url)
        self.date.show_value(source.date)
        self.kind.show_value(source.kind)

    def source(self) -> Source:
        """Return the source that is stated; raises `FieldFault` or `InputError`."""
        return own_source(
            self.title.text() or "",
            self.publisher.text() or "",
            url=self.url.text(),
            date=self.date.text(),
            kind=Kind(self.kind.key()),
        )

    def changed(self, source: Source) -> Source:
        """Return a source of the user's with what stands in the rows, under the id that it has."""
        return replace(self.source(), id=source.id)

    def remember(self) -> None:
        """Keep the source for the next form of this session."""
        if not self.is_empty:
            self._last.source = self.source()

    def _take_known(self, title: str) -> None:
        if title in self._known:
            self.show_source(self._known[title])


def kind_text(kind: str) -> str:
    """Return a kind as a choice begins, the user's own as `Yours`."""
    if kind == Kind.USER:
        return tr("Yours")
    label = kind_label(kind)
    return f"{label[:1].upper()}{label[1:]}"
