"""The form of a price: rent by the hour or a purchase."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtWidgets import QWidget

from gpudesk.catalog.user_store.edits import (
    NOTHING_CHANGED,
    list_rental_terms,
    make_price_id,
    remove_price,
    state_price,
)
from gpudesk.catalog.user_store.entry import UnitChoice
from gpudesk.desktop.pages.catalog.editors.fields import (
    ChoiceRow,
    DateRow,
    NoteRow,
    NumberLimits,
    NumberRow,
    SegmentRow,
    TextRow,
)
from gpudesk.desktop.pages.catalog.editors.form import FormDialog, confirm_removal
from gpudesk.desktop.pages.catalog.editors.rows import FormRow
from gpudesk.desktop.pages.catalog.editors.sources import SourceFields, find_user_fact
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.domain.claim import PURCHASE_TERM, CatalogEntryKind, Source
from gpudesk.domain.user_facts import FactEdit, UserPrice
from gpudesk.report.catalog_lists import label_term_of_data
from gpudesk.text.messages import InputError, capitalize_first
from gpudesk.text.translation import tr

_RENT = "rent"
_USD = (UnitChoice("USD", "USD"),)
_USD_PER_HOUR = (UnitChoice("USD/h", "USD/h"),)
_COUNT = (UnitChoice("accelerators", "accelerators"),)


class PriceForm(FormDialog):
    """Adds or changes a user price."""

    manual_topic = "values#new"

    def __init__(
        self,
        desk: Desk,
        theme: Theme,
        *,
        price: str | None = None,
        thing: str | None = None,
        parent: QWidget | None = None,
    ) -> None:
        """Start with the user's price `price`, else a new one of the accelerator `thing`.

        Raises `InputError` for an unknown or shipped price.
        """
        self.user_price = find_user_fact(desk, UserPrice, "price", price)
        adding = self.user_price is None
        super().__init__(
            desk,
            theme,
            tr("Add price") if adding else tr("Edit price"),
            save=tr("Add price") if adding else tr("Save price"),
            parent=parent,
        )
        self._make_rows(thing)
        self.add_head(self.windowTitle(), tr("US dollars per accelerator"))
        self.add_rows([self.what, self.accelerator, self.low, self.high])
        self.add_section(tr("Provider and terms"), self._list_term_rows())
        self.source = SourceFields(theme, desk.service.user_catalog.facts, desk)
        self.add_section(tr("Source"), self.source.rows())
        if self.user_price is not None:
            user_price = self.user_price
            self.what.show_value(PURCHASE_TERM if user_price.term == PURCHASE_TERM else _RENT)
            self.low.show_value(user_price.usd if user_price.usd is not None else user_price.usd_low)
            for row in (self.accelerator, self.high, *self._list_term_rows()):
                row.show_value(getattr(user_price, row.name))
            source = self.desk.service.user_catalog.facts.get("source", user_price.source)
            if isinstance(source, Source):
                self.source.show_source(source)
            self.remove_button = self.add_left_button(tr("Remove price…"), self._remove, "trash-2")
        self.what.edited.connect(self._turn)
        self._turn()
        (self.accelerator if thing is None and adding else self.low).focus_control()

    def edit(self) -> FactEdit:
        source = self.source.source()
        rented = self.what.key() == _RENT
        low, high = self.low.parse_number_or_none(), self.high.parse_number_or_none()
        single = high is None or high == low
        entered_price = UserPrice(
            id="",
            accelerator=self.accelerator.key(),
            term=self.term.key() if rented else PURCHASE_TERM,
            source=source.id,
            kind=source.kind,
            usd=low if single else None,
            usd_low=None if single else low,
            usd_high=None if single else high,
            provider=self.provider.text() if rented else None,
            region=self.region.text() if rented else None,
            instance=self.instance.text() if rented else None,
            accelerators_in_instance=self.in_instance.parse_whole_or_none() if rented else None,
            basis=None if rented else self.basis.text(),
            date=self.date.text(),
            note=self.note_row.text(),
        )
        replaced = None if self.user_price is None else self.user_price.id
        price = replace(
            entered_price, id=make_price_id(entered_price) if self.user_price is None else self.user_price.id
        )
        if price == self.user_price:
            raise InputError(NOTHING_CHANGED, "price")
        return state_price(self.desk.service.catalog, price, source, replaced)

    def after_saving(self) -> None:
        self.source.remember()

    def _make_rows(self, thing: str | None) -> None:
        theme, catalog = self.theme, self.desk.service.catalog
        style = self.desk.formatter.style
        self.what = SegmentRow(
            theme, "what", tr("Type"), [(_RENT, tr("Rent per hour")), (PURCHASE_TERM, tr("Purchase"))]
        )
        parts = [(each.id, each.name) for each in catalog.things(CatalogEntryKind.ACCELERATOR)]
        self.accelerator = ChoiceRow(
            theme, "accelerator", tr("Accelerator"), [("", tr("Choose…")), *parts], required=True
        )
        self.accelerator.show_value(thing)
        self.low = NumberRow(theme, "usd", tr("Price"), _USD_PER_HOUR, required=True, style=style)
        self.high = NumberRow(theme, "usd_high", tr("Up to"), _USD_PER_HOUR, empty=tr("For a range"), style=style)
        terms = [(term, capitalize_first(label_term_of_data(term))) for term in list_rental_terms(catalog)]
        self.term = ChoiceRow(theme, "term", tr("Term"), terms)
        prices = catalog.prices()
        providers = sorted({price.provider for price in prices if price.provider}, key=str.casefold)
        regions = sorted({price.region for price in prices if price.region}, key=str.casefold)
        self.provider = TextRow(theme, "provider", tr("Provider"), words=providers)
        self.region = TextRow(theme, "region", tr("Region"), words=regions)
        self.instance = TextRow(theme, "instance", tr("Instance"), empty=tr("Example: p5.48xlarge"))
        self.in_instance = NumberRow(
            theme,
            "accelerators_in_instance",
            tr("Accelerators per instance"),
            _COUNT,
            style=style,
            limits=NumberLimits(1, whole=True),
        )
        self.basis = TextRow(theme, "basis", tr("Basis"), empty=tr("Example: list price, quote for 64"))
        self.date = DateRow(theme, "date", tr("Price date"))
        self.note_row = NoteRow(theme, "note", tr("Note"))

    def _list_term_rows(self) -> list[FormRow]:
        return [
            self.term,
            self.provider,
            self.region,
            self.instance,
            self.in_instance,
            self.basis,
            self.date,
            self.note_row,
        ]

    def _turn(self) -> None:
        rented = self.what.key() == _RENT
        for row in (self.term, self.provider, self.region, self.instance, self.in_instance):
            row.setVisible(rented)
        self.basis.setVisible(not rented)
        for row in (self.low, self.high):
            row.set_units(_USD_PER_HOUR if rented else _USD)

    def _remove(self) -> None:
        user_price = self.user_price
        if user_price is not None and confirm_removal(self, tr("Remove this price?"), tr("Remove price")):
            self.apply_immediately(lambda: remove_price(self.desk.service.catalog, user_price.id))
