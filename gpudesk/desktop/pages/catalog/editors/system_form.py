"""The form of a user's system: a server, rack, workstation or instance with one kind of accelerator."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtWidgets import QWidget

from gpudesk.catalog.importing.entry_facts import FiguredEntry, check_system
from gpudesk.desktop.pages.catalog.editors.fields import ChoiceRow, TextRow
from gpudesk.desktop.pages.catalog.editors.figure_form import FigureForm, make_figure_row
from gpudesk.desktop.pages.catalog.editors.rows import FormRow
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.domain.claim import CatalogEntryKind, PlausibilityFinding
from gpudesk.domain.registry import SYSTEM_ATTRIBUTES, list_form_attributes
from gpudesk.domain.system import SystemKind
from gpudesk.domain.user_facts import UserSystem
from gpudesk.report.catalog_lists import label_term_of_data
from gpudesk.text.formatting import ClaimValue
from gpudesk.text.messages import capitalize_first
from gpudesk.text.translation import tr


class SystemForm(FigureForm):
    """Adds a system or changes one of the user's."""

    kind = CatalogEntryKind.SYSTEM

    def __init__(self, desk: Desk, theme: Theme, *, thing: str | None = None, parent: QWidget | None = None) -> None:
        """Begin with the system `thing`, or with nothing; raises `InputError` for an unknown one."""
        catalog = desk.service.catalog
        titles = tr("Add system"), tr("Edit system")
        super().__init__(desk, theme, catalog.systems(), thing, titles=titles, save=tr("Save system"), parent=parent)
        kinds = [(kind.value, capitalize_first(label_term_of_data(kind.value))) for kind in SystemKind]
        self.system_kind = ChoiceRow(theme, "kind", tr("Type"), kinds)
        parts = [("", tr("Choose…")), *((part.id, part.name) for part in catalog.accelerators())]
        self.accelerator = ChoiceRow(theme, "accelerator", tr("Accelerator"), parts, required=True)
        providers = sorted({price.provider for price in catalog.prices() if price.provider}, key=str.casefold)
        self.provider = TextRow(theme, "provider", tr("Provider"), words=providers)
        self.instance = TextRow(theme, "instance", tr("Instance"), empty=tr("Example: p5.48xlarge"))
        self.instance.set_echo(tr("Enter its rent in the list Prices, with this provider and instance."))
        self.system_kind.edited.connect(self._show_offer)
        rows = [self.system_kind, self.accelerator, self.provider, self.instance]
        self.lay_out(rows, self._make_sections())
        self._show_offer()

    def _make_sections(self) -> list[tuple[str, list[FormRow]]]:
        titles = {
            "accelerators": tr("Accelerators"),
            "host": tr("Host"),
            "network": tr("Network"),
            "site": tr("Power and cooling"),
            "price": tr("Purchase"),
        }
        return [
            (
                title,
                [
                    make_figure_row(self.theme, self.desk, self.kind, attribute)
                    for attribute in list_form_attributes(section, SYSTEM_ATTRIBUTES)
                ],
            )
            for section, title in titles.items()
        ]

    def make_entry(self, entry_id: str, name: str, vendor: str) -> FiguredEntry:
        kind = SystemKind(self.system_kind.key())
        offer = (self.provider.text(), self.instance.text()) if kind is SystemKind.INSTANCE else (None, None)
        return UserSystem(entry_id, name, vendor, kind, self.accelerator.key(), *offer)

    def find_doubts(self, values: Mapping[str, ClaimValue]) -> tuple[PlausibilityFinding, ...]:
        return check_system(values)

    def show_fields(self, thing: str) -> None:
        system = self.desk.service.catalog.system(thing)
        for row, value in (
            (self.system_kind, system.kind.value),
            (self.accelerator, system.accelerator),
            (self.provider, system.provider),
            (self.instance, system.instance),
        ):
            if not row.touched:
                row.show_value(value)
        self._show_offer()

    def _show_offer(self) -> None:
        is_rented = self.system_kind.key() == SystemKind.INSTANCE
        for row in (self.provider, self.instance):
            row.setVisible(is_rented)
