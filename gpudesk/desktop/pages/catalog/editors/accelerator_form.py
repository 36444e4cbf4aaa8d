"""The form of a user's accelerator with all figures, and the form that renames or removes an entry."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Final

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QWidget

from gpudesk.catalog.importing.accelerator_facts import StatedFigure
from gpudesk.catalog.importing.accelerator_plausibility import check_plausibility
from gpudesk.catalog.user_store.accelerator_edits import (
    STATUS_BY_ANNOUNCED,
    copy_figure,
    group_by_generation,
    make_accelerator_id,
    make_accelerator_step,
)
from gpudesk.catalog.user_store.edits import describe_shipped_entry, remove_thing, rename_entry
from gpudesk.catalog.user_store.entry import UnitChoice, ValueKind, make_accelerator_entry, make_slug
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
from gpudesk.domain.accelerator import Accelerator
from gpudesk.domain.attributes import COUNTED_UNITS
from gpudesk.domain.claim import CatalogEntry, CatalogEntryKind, PlausibilityFinding, Source
from gpudesk.domain.registry import Attribute, list_form_attributes
from gpudesk.domain.user_facts import FactEdit, UserAccelerator
from gpudesk.paths import MissingFileError
from gpudesk.report.labels import get_today, label_attribute_alone
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import ClaimValue
from gpudesk.text.messages import InputError
from gpudesk.text.translation import tr, trn


class NameForm(FormDialog):
    """Renames an entry of the user's, or removes it."""

    def __init__(self, desk: Desk, theme: Theme, thing: str, *, parent: QWidget | None = None) -> None:
        """Begin with the current names; raises `InputError` for an entry of the shipped catalog."""
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
        self.take_at_once(lambda: ask_removal_step(self, self.desk, self.thing))


def ask_removal_step(parent: FormDialog, desk: Desk, thing: CatalogEntry) -> FactEdit | None:
    """Ask whether an entry of the user's is to go; return the step that removes it, None where it stays."""
    question = tr("Remove {name}?", name=thing.name)
    removes = confirm_removal(parent, question, tr("Remove {name}", name=thing.name), _describe_dependents(desk, thing))
    return remove_thing(desk.service.catalog, thing.id) if removes else None


def _describe_dependents(desk: Desk, thing: CatalogEntry) -> str:
    scenario = desk.scenario
    used = thing.id == scenario.model or any(each.accelerator == thing.id for each in scenario.accelerators)
    sentences = [tr("Its values and prices are removed too.")]
    if used:
        sentences.append(tr("The open scenario uses it."))
    return " ".join(sentences)


#: Stands for a generation that the catalog has no other accelerator of.
NONE_OF_THESE: Final = "+"


def make_figure_rows(
    theme: Theme, desk: Desk, get_rate_unit: Callable[[], UnitChoice]
) -> list[tuple[str, list[FormRow]]]:
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
        (
            title,
            [_make_figure_row(theme, desk, attribute, get_rate_unit) for attribute in list_form_attributes(section)],
        )
        for section, title in titles.items()
    ]


def _make_figure_row(
    theme: Theme, desk: Desk, attribute: Attribute, get_rate_unit: Callable[[], UnitChoice]
) -> FormRow:
    name, style = attribute.key, desk.formatter.style
    if attribute.precision:
        unit = (lambda: _TOPS) if attribute.precision.startswith("int") else get_rate_unit
        return PeakRow(theme, attribute.precision, style, unit)
    entry = make_accelerator_entry(desk.service.catalog, "", name)
    label = tr(attribute.form_label) if attribute.form_label else label_attribute_alone(name)
    required = attribute.required
    if entry.kind is ValueKind.NUMBER:
        counted = attribute.unit in COUNTED_UNITS and not attribute.is_name
        limits = NumberLimits(1, whole=True) if counted else NumberLimits()
        return NumberRow(theme, name, label, entry.units, required=required, style=style, limits=limits)
    if name == "software_platform":
        # Serving engines are chosen by these very words.
        options = [("", tr("Choose…")), *((word, word) for word in entry.words)]
        return ChoiceRow(theme, name, label, options, required=True)
    if name == "release_date":
        return DateRow(theme, name, label)
    if entry.kind is ValueKind.WORDS:
        return WordListRow(theme, name, label, words=entry.words, empty=tr("Words, separated by commas"))
    return TextRow(theme, name, label, required=required, words=entry.words)


def list_generations(service: GpuDeskService) -> list[tuple[str, str]]:
    choices = []
    for generation in group_by_generation(service.catalog):
        first_part, more = generation.parts[0], len(generation.parts) - 1
        names = (
            trn("{accelerator} and {n} more", "{accelerator} and {n} more", more, accelerator=first_part)
            if more
            else first_part
        )
        choices.append((generation.name, f"{generation.name} · {names}"))
    return [*choices, (NONE_OF_THESE, tr("Other"))]


def describe_generation(desk: Desk, chosen: str) -> str:
    if not chosen:
        return tr("Estimates use the constants of the chosen generation")
    if chosen == NONE_OF_THESE:
        return tr("No measured runs exist: estimates are uncalibrated with wide 80% intervals")
    try:
        runs = desk.service.calibration.generation_rows(chosen)
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


class AcceleratorForm(FormDialog):
    """Adds an accelerator or changes one of the user's; a shipped one is where a new one begins.

    A figure that is copied keeps the source that it has there until it is typed over.
    """

    manual_topic = "values#new"

    def __init__(self, desk: Desk, theme: Theme, *, thing: str | None = None, parent: QWidget | None = None) -> None:
        """Begin with the accelerator `thing`, or with nothing; raises `InputError` for an unknown one."""
        catalog = desk.service.catalog
        entry = None if thing is None else catalog.thing(thing)
        self.held = entry if entry is not None and entry.own else None
        adding = self.held is None
        super().__init__(
            desk,
            theme,
            tr("Add accelerator") if adding else tr("Edit accelerator"),
            save=tr("Add accelerator") if adding else tr("Save accelerator"),
            parent=parent,
        )
        self._origins: dict[str, StatedFigure] = {}
        self._form_findings: tuple[PlausibilityFinding, ...] = ()
        self._judging = QTimer(self, singleShot=True, interval=TELL_AFTER_MS)
        self._judging.timeout.connect(self._judge)
        self._make_rows()
        self._lay_out_rows()
        if thing is not None:
            self._fill(catalog.accelerator(thing), with_name=not adding)
        if entry is not None and adding:
            self.start.show_value(entry.id)
        if self.held is not None:
            self._finish_for_held()
        self._say_generation()
        self.name.focus_control()

    def accept(self) -> None:
        self._judge()
        super().accept()

    def edit(self) -> FactEdit:
        catalog, name = self.desk.service.catalog, self.name.text() or ""
        part = UserAccelerator(
            id=make_accelerator_id(catalog, name) if self.held is None else self.held.id,
            name=name,
            vendor=self.vendor.text() or "",
            generation=self._generation(name),
            announced=self.status.key() == _ANNOUNCED,
        )
        return make_accelerator_step(catalog, part, self.figures(), today=get_today())

    def figures(self) -> dict[str, StatedFigure]:
        """Return the entered figures by attribute; raises `FieldError` or `InputError`."""
        stated = [figure for row in self.figure_rows for figure in row.list_figures()]
        stated_figures = {
            each.attribute: self._origins.get(each.attribute) or self._typed(each.value, each.unit) for each in stated
        }
        status = STATUS_BY_ANNOUNCED[self.status.key() == _ANNOUNCED]
        status_origin = self._origins.get("status")
        announced = status_origin is not None and status_origin.value == _ANNOUNCED
        if status_origin is not None and announced == (status == _ANNOUNCED):
            stated_figures["status"] = status_origin
        else:
            stated_figures["status"] = self._typed(status, None)
        return stated_figures

    def after_saving(self) -> None:
        self.source.remember()

    # Reading the rows

    def _typed(self, value: object, unit: str | None) -> StatedFigure:
        source = self.source.source()
        stated = value if isinstance(value, int | float | str | tuple) else None
        return StatedFigure(stated, unit, source)

    def _find_rate_unit(self) -> UnitChoice:
        return next(unit for unit in _RATES if unit.label == self.rate_unit.key())

    def _generation(self, name: str) -> str:
        chosen = self.generation.key()
        return make_slug(name) or "own" if chosen == NONE_OF_THESE else chosen

    # Making the rows

    def _make_rows(self) -> None:
        theme, catalog = self.theme, self.desk.service.catalog
        parts = catalog.accelerators()
        self.start = ChoiceRow(
            theme, "start", tr("Copy from"), [("", tr("None")), *((part.id, part.name) for part in parts)]
        )
        self.name = TextRow(theme, "name", tr("Name"), required=True)
        vendors = sorted({part.vendor for part in parts}, key=str.casefold)
        self.vendor = TextRow(theme, "vendor", tr("Vendor"), required=True, words=vendors)
        self.generation = ChoiceRow(
            theme,
            "generation",
            tr("Generation"),
            [("", tr("Choose…")), *list_generations(self.desk.service)],
            required=True,
        )
        self.status = SegmentRow(
            theme, "status", tr("Status"), [(_SHIPPING, tr("Available")), (_ANNOUNCED, tr("Announced"))]
        )
        self.rate_unit = SegmentRow(theme, "rate_unit", tr("Unit"), [(unit.label, unit.label) for unit in _RATES])
        self.source = SourceFields(theme, self.desk.service.user_catalog.facts, self.desk)
        self.start.edited.connect(self._copy)
        self.rate_unit.edited.connect(self._judging.start)
        self.generation.edited.connect(self._say_generation)

    def _lay_out_rows(self) -> None:
        self.add_head(self.windowTitle(), tr("You enter the figures, each with its source"))
        if self.held is None:
            self.add_rows([self.start])
        self.add_rows([self.name, self.vendor, self.generation, self.status])
        self.figure_rows: list[FormRow] = []
        for title, rows in make_figure_rows(self.theme, self.desk, self._find_rate_unit):
            self.add_section(title)
            if any(isinstance(row, PeakRow) for row in rows):
                self.add_rows([self.rate_unit])
                self.column.addWidget(PeakRowHeader(self.theme))
            self.add_rows(rows)
            self.figure_rows += rows
        self.add_section(
            tr("Source"),
            self.source.rows(),
            remark=tr("Applies to figures typed here. Copied figures keep their sources."),
        )
        for row in self.figure_rows:
            row.edited.connect(lambda row=row: self._typed_over(row))
            row.edited.connect(self._judging.start)
            row.judge = lambda row=row: self._judgement(row)

    def _finish_for_held(self) -> None:
        """Show the most frequent source of the user's accelerator, and a button that removes it."""
        sources = [figure.source for figure in self._origins.values()]
        if sources:
            most: Source = max(sources, key=sources.count)
            self.source.show_source(most)
        self.remove_button = self.add_left_button(tr("Remove…"), self._remove, "trash-2")

    # Copying

    def _copy(self) -> None:
        """Fill in what the user has not typed from another accelerator."""
        chosen = self.start.key()
        self._fill(None if not chosen else self.desk.service.catalog.accelerator(chosen), with_name=False)

    def _fill(self, part: Accelerator | None, *, with_name: bool) -> None:
        catalog = self.desk.service.catalog
        attributes = {} if part is None else {each.name: each for each in catalog.attributes(part.id)}
        self._origins = {}
        for name, attribute in attributes.items():
            if attribute.preferred is not None and attribute.value is not None:
                self._origins[name] = copy_figure(attribute.preferred)
        for row in self.figure_rows:
            if row.touched:
                self._forget(row)
            else:
                self._show_origin(row)
        if part is not None:
            if with_name:
                self.name.show_value(part.name)
            for row, value in ((self.vendor, part.vendor), (self.generation, part.generation)):
                if not row.touched:
                    row.show_value(value)
            if not self.status.touched:
                self.status.show_value(_ANNOUNCED if part.announced else _SHIPPING)
        self._say_generation()
        self._judge()

    def _show_origin(self, row: FormRow) -> None:
        row.show_figures({name: figure.value for name, figure in self._origins.items()})
        self._say_origin(row)

    def _say_origin(self, row: FormRow) -> None:
        figures = [self._origins[name] for name in row.attributes if name in self._origins]
        titles = dict.fromkeys(figure.source.title for figure in figures)
        row.set_echo(tr("Source: {source}", source=", ".join(titles)) if titles else "")

    def _typed_over(self, row: FormRow) -> None:
        for name in row.edited_attributes:
            self._origins.pop(name, None)
        self._say_origin(row)

    def _forget(self, row: FormRow) -> None:
        for name in row.attributes:
            self._origins.pop(name, None)

    def _judgement(self, row: FormRow) -> FieldVerdict:
        findings = [each for each in self._form_findings if each.attribute in row.attributes]
        return describe_findings(findings, self.desk.formatter)

    def _judge(self) -> None:
        self._judging.stop()
        self._form_findings = self._findings()
        for row in self.figure_rows:
            row.check()

    def _findings(self) -> tuple[PlausibilityFinding, ...]:
        values: dict[str, ClaimValue] = {}
        for row in self.figure_rows:
            with contextlib.suppress(FieldError):
                for figure in row.list_figures():
                    values[figure.attribute] = figure.inside
        return check_plausibility(values, self.name.edit.text())

    def _say_generation(self) -> None:
        self.generation.set_echo(describe_generation(self.desk, self.generation.key()))

    def _remove(self) -> None:
        user_part = self.held
        if user_part is not None:
            self.take_at_once(lambda: ask_removal_step(self, self.desk, user_part))
