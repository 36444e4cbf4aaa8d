"""The forms of a user's accelerator and system with all figures, and the form that renames or removes an entry."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import ClassVar, Final

from PySide6.QtWidgets import QWidget

from gpudesk.catalog.importing.accelerator_plausibility import check_plausibility
from gpudesk.catalog.importing.entry_facts import FiguredEntry, StatedFigure, check_system
from gpudesk.catalog.user_store.edits import (
    STATUS_BY_ANNOUNCED,
    copy_figure,
    describe_shipped_entry,
    group_by_generation,
    list_dependent_systems,
    make_entry_id,
    make_entry_step,
    remove_entry,
    rename_entry,
)
from gpudesk.catalog.user_store.entry import UnitChoice, ValueKind, make_new_entry, make_slug
from gpudesk.desktop.pages.catalog.editors.fields import (
    ChoiceRow,
    DateRow,
    NumberLimits,
    NumberRow,
    PeakRow,
    PeakRowHeader,
    SegmentRow,
    TextRow,
    WordListRow,
)
from gpudesk.desktop.pages.catalog.editors.form import FormDialog, confirm_removal
from gpudesk.desktop.pages.catalog.editors.rows import (
    TELL_AFTER_MS,
    FieldError,
    FieldVerdict,
    FormRow,
    describe_findings,
)
from gpudesk.desktop.pages.catalog.editors.sources import SourceFields
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.qt_support import make_delay
from gpudesk.domain.accelerator import Accelerator, System, SystemKind
from gpudesk.domain.attributes import COUNTED_UNITS
from gpudesk.domain.claim import CatalogEntry, CatalogEntryKind, PlausibilityFinding, Source
from gpudesk.domain.registry import SYSTEM_ATTRIBUTES, Attribute, list_form_attributes
from gpudesk.domain.user_facts import FactEdit, UserAccelerator, UserSystem
from gpudesk.paths import MissingFileError
from gpudesk.report.catalog_lists import label_term_of_data
from gpudesk.report.labels import get_today, label_attribute_alone
from gpudesk.text.formatting import ClaimValue
from gpudesk.text.messages import InputError, capitalize_first
from gpudesk.text.translation import tr, trn


def ask_removal_step(parent: FormDialog, desk: Desk, thing: CatalogEntry) -> FactEdit | None:
    """Ask for confirmation of an entry's removal; return the step that removes it, None if the user declines."""
    question = tr("Remove {name}?", name=thing.name)
    scenario, fleet = desk.scenario, desk.scenario.fleet
    systems = (*fleet.systems.values(), *fleet.instances.values())
    used = (scenario.model, *(each.accelerator for each in scenario.accelerators), *systems)
    dependents = list_dependent_systems(desk.service.catalog, thing.id)
    sentences = [tr("Its values and prices are removed too.")]
    if dependents:
        names = ", ".join(system.name for system in dependents)
        sentences.append(tr("So are your systems with it: {names}.", names=names))
    if thing.id in used:
        sentences.append(tr("The open scenario uses it."))
    removes = confirm_removal(parent, question, tr("Remove {name}", name=thing.name), " ".join(sentences))
    return remove_entry(desk.service.catalog, thing.id) if removes else None


def label_form_attribute(attribute: Attribute) -> str:
    return tr(attribute.form_label) if attribute.form_label else label_attribute_alone(attribute.key)


def make_figure_row(theme: Theme, desk: Desk, kind: CatalogEntryKind, attribute: Attribute) -> FormRow:
    name, style = attribute.key, desk.formatter.style
    entry = make_new_entry(desk.service.catalog, kind, name)
    label = label_form_attribute(attribute)
    if entry.kind is ValueKind.NUMBER:
        is_count = attribute.unit in COUNTED_UNITS and not attribute.is_name
        limits = NumberLimits(1, whole=True) if is_count else NumberLimits()
        return NumberRow(theme, name, label, entry.units, required=attribute.required, style=style, limits=limits)
    if entry.kind is ValueKind.WORDS:
        return WordListRow(theme, name, label, words=entry.words, empty=tr("Words, separated by commas"))
    return TextRow(theme, name, label, required=attribute.required, words=entry.words)


class FigureForm(FormDialog):
    """Adds or changes a user entry; a shipped entry is the start of a new one.

    A copied figure keeps its source until it is overtyped. Subclasses make the rows besides figures, call `lay_out`,
    and implement the three methods below.
    """

    manual_topic = "values#new"
    kind: ClassVar[CatalogEntryKind]

    def __init__(
        self,
        desk: Desk,
        theme: Theme,
        entries: Sequence[Accelerator | System],
        thing: str | None,
        *,
        titles: tuple[str, str],
        save: str,
        parent: QWidget | None = None,
    ) -> None:
        """Start with the entry `thing` of `entries`, or empty; raises `InputError` for an unknown one.

        `titles` are those for adding, also on the button, and for changing.
        """
        entry = None if thing is None else desk.service.catalog.thing(thing)
        self.user_entry = entry if entry is not None and entry.own else None
        title = titles[self.user_entry is not None]
        super().__init__(desk, theme, title, save=title if self.user_entry is None else save, parent=parent)
        self._start_with = entry
        self._origins: dict[str, StatedFigure] = {}
        self._form_findings: tuple[PlausibilityFinding, ...] = ()
        self.judging = make_delay(self, TELL_AFTER_MS, self._judge)
        self.figure_rows: list[FormRow] = []
        options = [("", tr("None")), *((each.id, each.name) for each in entries)]
        self.start = ChoiceRow(theme, "start", tr("Copy from"), options)
        self.start.edited.connect(lambda: self._copy(self.start.key(), with_name=False))
        self.name = TextRow(theme, "name", tr("Name"), required=True)
        vendors = sorted({each.vendor for each in entries}, key=str.casefold)
        self.vendor = TextRow(theme, "vendor", tr("Vendor"), required=True, words=vendors)
        self.source = SourceFields(theme, desk.service.user_catalog.facts, desk)

    # To implement in subclasses

    def make_entry(self, entry_id: str, name: str, vendor: str) -> FiguredEntry:
        raise NotImplementedError

    def find_doubts(self, values: Mapping[str, ClaimValue]) -> tuple[PlausibilityFinding, ...]:
        """Return the problems of figures in internal units."""
        raise NotImplementedError

    def show_fields(self, thing: str) -> None:
        """Show the other data of an entry in the rows that the user has not touched."""
        raise NotImplementedError

    def add_figure_rows(self, rows: list[FormRow]) -> None:
        self.add_rows(rows)

    # Saving

    def accept(self) -> None:
        self._judge()
        super().accept()

    def edit(self) -> FactEdit:
        catalog, name = self.desk.service.catalog, self.name.text() or ""
        entry_id = make_entry_id(catalog, name) if self.user_entry is None else self.user_entry.id
        entry = self.make_entry(entry_id, name, self.vendor.text() or "")
        return make_entry_step(catalog, entry, self.figures(), today=get_today())

    def figures(self) -> dict[str, StatedFigure]:
        """Return the entered figures by attribute; raises `FieldError` or `InputError`."""
        row_figures = [figure for row in self.figure_rows for figure in row.list_figures()]
        return {each.attribute: self.find_origin(each.attribute, each.value, each.unit) for each in row_figures}

    def find_origin(self, attribute: str, value: ClaimValue, unit: str | None) -> StatedFigure:
        """Return a figure with its copied source, else with that of the form."""
        return self._origins.get(attribute) or StatedFigure(value, unit, self.source.source())

    def get_copied(self, attribute: str) -> ClaimValue:
        return self._origins[attribute].value if attribute in self._origins else None

    def after_saving(self) -> None:
        self.source.remember()

    # Construction

    def lay_out(self, rows: list[FormRow], sections: Iterable[tuple[str, list[FormRow]]]) -> None:
        """Place these rows below the name, then the sections of figures, and show the initial values."""
        self.add_head(self.windowTitle(), tr("You enter the figures, each with its source"))
        if self.user_entry is None:
            self.add_rows([self.start])
        self.add_rows([self.name, self.vendor, *rows])
        for title, figure_rows in sections:
            self.add_section(title)
            self.add_figure_rows(figure_rows)
            self.figure_rows += figure_rows
        self.add_section(
            tr("Source"),
            self.source.rows(),
            remark=tr("Applies to figures typed here. Copied figures keep their sources."),
        )
        for row in self.figure_rows:
            row.edited.connect(lambda row=row: self._typed_over(row))
            row.edited.connect(self.judging.start)
            row.judge = lambda row=row: self._judge_row(row)
        self._begin()
        self.name.focus_control()

    def _begin(self) -> None:
        entry = self._start_with
        if entry is None:
            return
        self._copy(entry.id, with_name=entry.own)
        if not entry.own:
            self.start.show_value(entry.id)
            return
        sources = [figure.source for figure in self._origins.values()]
        if sources:
            most: Source = max(sources, key=sources.count)
            self.source.show_source(most)
        self.remove_button = self.add_left_button(tr("Remove…"), self._remove, "trash-2")

    def _remove(self) -> None:
        user_entry = self.user_entry
        if user_entry is not None:
            self.apply_immediately(lambda: ask_removal_step(self, self.desk, user_entry))

    # Copying

    def _copy(self, thing: str, *, with_name: bool) -> None:
        """Fill untouched rows from another entry; without one, clear them."""
        catalog = self.desk.service.catalog
        attributes = catalog.attributes(thing) if thing else ()
        self._origins = {
            each.name: copy_figure(each.preferred)
            for each in attributes
            if each.preferred is not None and each.value is not None
        }
        for row in self.figure_rows:
            if row.touched:
                self._forget(row.attributes)
            else:
                row.show_figures({name: figure.value for name, figure in self._origins.items()})
            self._say_origin(row)
        if thing:
            entry = catalog.thing(thing)
            if with_name:
                self.name.show_value(entry.name)
            if not self.vendor.touched:
                self.vendor.show_value(entry.maker)
            self.show_fields(thing)
        self._judge()

    def _forget(self, attributes: Iterable[str]) -> None:
        for name in attributes:
            self._origins.pop(name, None)

    def _typed_over(self, row: FormRow) -> None:
        self._forget(row.edited_attributes)
        self._say_origin(row)

    def _say_origin(self, row: FormRow) -> None:
        figures = [self._origins[name] for name in row.attributes if name in self._origins]
        titles = dict.fromkeys(figure.source.title for figure in figures)
        row.set_echo(tr("Source: {source}", source=", ".join(titles)) if titles else "")

    # Validation

    def _judge_row(self, row: FormRow) -> FieldVerdict:
        findings = [each for each in self._form_findings if each.attribute in row.attributes]
        return describe_findings(findings, self.desk.formatter)

    def _judge(self) -> None:
        self.judging.stop()
        values: dict[str, ClaimValue] = {}
        for row in self.figure_rows:
            with contextlib.suppress(FieldError):
                values |= {figure.attribute: figure.inside for figure in row.list_figures()}
        self._form_findings = self.find_doubts(values)
        for row in self.figure_rows:
            row.check()


class NameForm(FormDialog):
    """Renames or removes a user entry."""

    def __init__(self, desk: Desk, theme: Theme, thing: str, *, parent: QWidget | None = None) -> None:
        """Show the current names; raises `InputError` for an entry of the shipped catalog."""
        self.thing = desk.service.catalog.thing(thing)
        if not self.thing.own:
            raise InputError(describe_shipped_entry(thing), "id")
        super().__init__(desk, theme, tr("Rename"), save=tr("Save name"), parent=parent)
        of_model = self.thing.kind is CatalogEntryKind.MODEL
        self.add_head(tr("Rename {name}", name=self.thing.name), tr("The ID stays {id}", id=thing))
        self.name = TextRow(theme, "name", tr("Name"), required=True)
        self.maker = TextRow(theme, "maker", tr("Organization") if of_model else tr("Vendor"), required=True)
        self.name.show_value(self.thing.name)
        self.maker.show_value(self.thing.maker)
        self.add_rows([self.name, self.maker])
        self.remove_button = self.add_left_button(tr("Remove…"), self._remove, "trash-2")
        self.name.focus_control()

    def edit(self) -> FactEdit:
        catalog = self.desk.service.catalog
        return rename_entry(catalog, self.thing.id, self.name.text() or "", self.maker.text() or "")

    def _remove(self) -> None:
        self.apply_immediately(lambda: ask_removal_step(self, self.desk, self.thing))


#: Stands for a generation without other accelerators in the catalog.
NONE_OF_THESE: Final = "+"


def make_sections(theme: Theme, desk: Desk, get_rate_unit: Callable[[], UnitChoice]) -> list[tuple[str, list[FormRow]]]:
    """Return the titles of the sections, each with its rows; `get_rate_unit` is that of floating-point rates."""
    titles = {
        "memory": tr("Memory"),
        "peaks": tr("Peak compute"),
        "links": tr("Links"),
        "power": tr("Power"),
        "software": tr("Software"),
        "price": tr("Purchase price"),
        "more": tr("More"),
    }
    return [
        (title, [_make_row(theme, desk, attribute, get_rate_unit) for attribute in list_form_attributes(section)])
        for section, title in titles.items()
    ]


def _make_row(theme: Theme, desk: Desk, attribute: Attribute, get_rate_unit: Callable[[], UnitChoice]) -> FormRow:
    name, style = attribute.key, desk.formatter.style
    if attribute.precision:
        unit = (lambda: _TOPS) if attribute.precision.startswith("int") else get_rate_unit
        return PeakRow(theme, attribute.precision, style, unit)
    if name == "software_platform":
        # Rules of serving engines match exactly these words.
        words = make_new_entry(desk.service.catalog, CatalogEntryKind.ACCELERATOR, name).words
        options = [("", tr("Choose…")), *((word, word) for word in words)]
        return ChoiceRow(theme, name, label_form_attribute(attribute), options, required=True)
    if name == "release_date":
        return DateRow(theme, name, label_form_attribute(attribute))
    return make_figure_row(theme, desk, CatalogEntryKind.ACCELERATOR, attribute)


def describe_generation(desk: Desk, chosen: str) -> str:
    if not chosen:
        return tr("Estimates use the constants of the chosen generation")
    if chosen == NONE_OF_THESE:
        return tr("No measured runs exist: estimates are uncalibrated with wide 80% intervals")
    try:
        runs = desk.service.calibration.count_generation_rows(chosen)
    except (InputError, MissingFileError):
        return ""
    if not runs:
        return tr("No published runs exist: estimates are uncalibrated with wide 80% intervals")
    return trn(
        "Estimates use constants fitted to {n} published run",
        "Estimates use constants fitted to {n} published runs",
        runs,
    )


_SHIPPING, _ANNOUNCED = "shipping", "announced"
_RATES = (UnitChoice("TFLOPS", "TFLOPS"), UnitChoice("PFLOPS", "PFLOPS"))
_TOPS = UnitChoice("TOPS", "TOPS")


class AcceleratorForm(FigureForm):
    """Adds an accelerator or changes one of the user's."""

    kind = CatalogEntryKind.ACCELERATOR

    def __init__(self, desk: Desk, theme: Theme, *, thing: str | None = None, parent: QWidget | None = None) -> None:
        """Start with the accelerator `thing`, or empty; raises `InputError` for an unknown one."""
        parts = desk.service.catalog.accelerators()
        titles = tr("Add accelerator"), tr("Edit accelerator")
        super().__init__(desk, theme, parts, thing, titles=titles, save=tr("Save accelerator"), parent=parent)
        generations = [("", tr("Choose…"))]
        for generation in group_by_generation(desk.service.catalog):
            first_part, more = generation.parts[0], len(generation.parts) - 1
            names = (
                trn("{accelerator} and {n} more", "{accelerator} and {n} more", more, accelerator=first_part)
                if more
                else first_part
            )
            generations.append((generation.name, f"{generation.name} · {names}"))
        generations.append((NONE_OF_THESE, tr("Other")))
        self.generation = ChoiceRow(theme, "generation", tr("Generation"), generations, required=True)
        statuses = [(_SHIPPING, tr("Available")), (_ANNOUNCED, tr("Announced"))]
        self.status = SegmentRow(theme, "status", tr("Status"), statuses)
        self.rate_unit = SegmentRow(theme, "rate_unit", tr("Unit"), [(unit.label, unit.label) for unit in _RATES])
        self.rate_unit.edited.connect(self.judging.start)
        self.generation.edited.connect(self._say_generation)
        self.lay_out([self.generation, self.status], make_sections(theme, desk, self._find_rate_unit))
        self._say_generation()

    def add_figure_rows(self, rows: list[FormRow]) -> None:
        if any(isinstance(row, PeakRow) for row in rows):
            self.add_rows([self.rate_unit])
            self.column.addWidget(PeakRowHeader(self.theme))
        self.add_rows(rows)

    def make_entry(self, entry_id: str, name: str, vendor: str) -> FiguredEntry:
        chosen = self.generation.key()
        generation = make_slug(name) or "own" if chosen == NONE_OF_THESE else chosen
        return UserAccelerator(entry_id, name, vendor, generation, announced=self.status.key() == _ANNOUNCED)

    def figures(self) -> dict[str, StatedFigure]:
        announced = self.status.key() == _ANNOUNCED
        status = STATUS_BY_ANNOUNCED[announced]
        figures = super().figures()
        copied = self.get_copied("status")
        if copied is not None and (copied == _ANNOUNCED) == announced:
            figures["status"] = self.find_origin("status", status, None)
        else:
            figures["status"] = StatedFigure(status, None, self.source.source())
        return figures

    def find_doubts(self, values: Mapping[str, ClaimValue]) -> tuple[PlausibilityFinding, ...]:
        return check_plausibility(values, self.name.edit.text())

    def show_fields(self, thing: str) -> None:
        part = self.desk.service.catalog.accelerator(thing)
        if not self.generation.touched:
            self.generation.show_value(part.generation)
        if not self.status.touched:
            self.status.show_value(_ANNOUNCED if part.announced else _SHIPPING)
        self._say_generation()

    def _find_rate_unit(self) -> UnitChoice:
        return next(unit for unit in _RATES if unit.label == self.rate_unit.key())

    def _say_generation(self) -> None:
        self.generation.set_echo(describe_generation(self.desk, self.generation.key()))


class SystemForm(FigureForm):
    """Adds a system or changes one of the user's."""

    kind = CatalogEntryKind.SYSTEM

    def __init__(self, desk: Desk, theme: Theme, *, thing: str | None = None, parent: QWidget | None = None) -> None:
        """Start with the system `thing`, or empty; raises `InputError` for an unknown one."""
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
