"""The form of an entry with all its figures: typed, or copied from another entry with their sources."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QWidget

from gpudesk.catalog.importing.entry_facts import FiguredEntry, StatedFigure
from gpudesk.catalog.user_store.edits import (
    copy_figure,
    list_dependent_systems,
    make_entry_id,
    make_entry_step,
    remove_entry,
)
from gpudesk.catalog.user_store.entry import ValueKind, make_new_entry
from gpudesk.desktop.pages.catalog.editors.fields import ChoiceRow, NumberLimits, NumberRow, TextRow, WordListRow
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
from gpudesk.domain.accelerator import Accelerator, System
from gpudesk.domain.attributes import COUNTED_UNITS
from gpudesk.domain.claim import CatalogEntry, CatalogEntryKind, PlausibilityFinding, Source
from gpudesk.domain.registry import Attribute
from gpudesk.domain.user_facts import FactEdit
from gpudesk.report.labels import get_today, label_attribute_alone
from gpudesk.text.formatting import ClaimValue
from gpudesk.text.translation import tr


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
        counted = attribute.unit in COUNTED_UNITS and not attribute.is_name
        limits = NumberLimits(1, whole=True) if counted else NumberLimits()
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
        self.held = entry if entry is not None and entry.own else None
        title = titles[self.held is not None]
        super().__init__(desk, theme, title, save=title if self.held is None else save, parent=parent)
        self._start_with = entry
        self._origins: dict[str, StatedFigure] = {}
        self._form_findings: tuple[PlausibilityFinding, ...] = ()
        self.judging = QTimer(self, singleShot=True, interval=TELL_AFTER_MS)
        self.judging.timeout.connect(self._judge)
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
        entry_id = make_entry_id(catalog, name) if self.held is None else self.held.id
        entry = self.make_entry(entry_id, name, self.vendor.text() or "")
        return make_entry_step(catalog, entry, self.figures(), today=get_today())

    def figures(self) -> dict[str, StatedFigure]:
        """Return the entered figures by attribute; raises `FieldError` or `InputError`."""
        stated = [figure for row in self.figure_rows for figure in row.list_figures()]
        return {each.attribute: self.find_origin(each.attribute, each.value, each.unit) for each in stated}

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
        if self.held is None:
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
            row.judge = lambda row=row: self._judgement(row)
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
        user_entry = self.held
        if user_entry is not None:
            self.take_at_once(lambda: ask_removal_step(self, self.desk, user_entry))

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

    def _judgement(self, row: FormRow) -> FieldVerdict:
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
