"""The form of an accelerator of the user's: what it is, and figures, each with who states it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QWidget

from gpudesk.desktop.pages.catalog.editors.accelerator_rows import (
    NONE_OF_THESE,
    figure_rows,
    generation_options,
    generation_remark,
)
from gpudesk.desktop.pages.catalog.editors.fields import ChoiceRow, SegmentRow, TextRow
from gpudesk.desktop.pages.catalog.editors.form import FormDialog
from gpudesk.desktop.pages.catalog.editors.name_form import removal
from gpudesk.desktop.pages.catalog.editors.number_row import NumberRow
from gpudesk.desktop.pages.catalog.editors.peak_rows import DENSE, SPARSE, PeakHead, PeakRow
from gpudesk.desktop.pages.catalog.editors.rows import TELL_AFTER_MS, FieldFault, FormRow, Judgement, judged
from gpudesk.desktop.pages.catalog.editors.source_block import SourceBlock
from gpudesk.desktop.pages.catalog.editors.value_editor import show_in, stated_value
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.buttons import Button
from gpudesk.domain.accelerators import Accelerator
from gpudesk.domain.claims import ClaimValue, Source
from gpudesk.domain.own_facts import Edit, OwnAccelerator
from gpudesk.domain.plausibility import Finding
from gpudesk.sheets.dates import today
from gpudesk.text import tr
from gpudesk.workbench.own_checks import slug
from gpudesk.workbench.own_entry import UnitChoice
from gpudesk.workbench.own_parts import STATUS, StatedFigure, copied, new_id, part_step
from gpudesk.workbench.plausibility import part_plausibility

_SHIPPING, _ANNOUNCED = "shipping", "announced"
_RATES = (UnitChoice("TFLOPS", "TFLOPS"), UnitChoice("PFLOPS", "PFLOPS"))
_TOPS = UnitChoice("TOPS", "TOPS")


class AcceleratorForm(FormDialog):
    """Adds an accelerator or changes one of the user's; a shipped one is where a new one begins.

    A figure that is copied keeps the source that it has there until it is typed over.
    """

    def __init__(
        self, desk: Desk, theme: Theme, *, thing: str | None = None, parent: QWidget | None = None
    ) -> None:
        """Begin with the accelerator `thing`, or with nothing; raises `InputError` for an unknown one."""
        catalog = desk.workbench.catalog
        entry = None if thing is None else catalog.thing(thing)
        self.held = entry if entry is not None and entry.own else None
        adding = self.held is None
        super().__init__(
            desk,
            theme,
            tr("Add accelerator") if adding else tr("Change accelerator"),
            save=tr("Add accelerator") if adding else tr("Save accelerator"),
            leave=tr("Add none") if adding else tr("Keep as it was"),
            parent=parent,
        )
        self._origins: dict[str, StatedFigure] = {}
        self._found: tuple[Finding, ...] = ()
        self._judging = QTimer(self)
        self._judging.setSingleShot(True)
        self._judging.setInterval(TELL_AFTER_MS)
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
        self.name.take_focus()

    def accept(self) -> None:
        """Save figures that can be."""
        self._judge()
        super().accept()

    def edit(self) -> Edit:
        """Return the step that adds or changes the accelerator."""
        catalog, name = self.desk.workbench.catalog, self.name.text() or ""
        part = OwnAccelerator(
            id=new_id(catalog, name) if self.held is None else self.held.id,
            name=name,
            vendor=self.vendor.text() or "",
            generation=self._generation(name),
            announced=self.status.key() == _ANNOUNCED,
        )
        return part_step(catalog, part, self.figures(), today=today())

    def figures(self) -> dict[str, StatedFigure]:
        """Return what is stated, by attribute; raises `FieldFault` or `InputError`."""
        found = {
            name: self._origins.get(name) or self._typed(value, unit) for name, value, unit in self._stated()
        }
        status = STATUS[self.status.key() == _ANNOUNCED]
        kept = self._origins.get("status")
        announced = kept is not None and kept.value == _ANNOUNCED
        if kept is not None and announced == (status == _ANNOUNCED):
            found["status"] = kept
        else:
            found["status"] = self._typed(status, None)
        return found

    def after_saving(self) -> None:
        """Keep the source for the next form."""
        self.source.remember()

    # Reading the rows

    def _stated(self) -> Iterator[tuple[str, object, str | None]]:
        """Yield every attribute that something is stated of, with the value and its unit."""
        for row in self.figure_rows:
            if isinstance(row, PeakRow):
                unit = self._rate_unit(row).unit
                for prefix, edit in ((DENSE, row.dense), (SPARSE, row.sparse)):
                    rate = row.rate(edit)
                    if rate is not None:
                        yield f"{prefix}{row.precision}", self._rate_unit(row).stated(rate), unit
            elif not row.is_empty():
                value, unit = stated_value(row)
                yield row.name, value, unit

    def _typed(self, value: object, unit: str | None) -> StatedFigure:
        source = self.source.source()
        stated = value if isinstance(value, int | float | str | tuple) else None
        return StatedFigure(stated, unit, source)

    def _rate_unit(self, row: PeakRow) -> UnitChoice:
        if row.precision.startswith("int"):
            return _TOPS
        return next(unit for unit in _RATES if unit.label == self.rate_unit.key())

    def _generation(self, name: str) -> str:
        chosen = self.generation.key()
        return slug(name) or "own" if chosen == NONE_OF_THESE else chosen

    # Making the rows

    def _make_rows(self) -> None:
        theme, catalog = self.theme, self.desk.workbench.catalog
        parts = catalog.accelerators()
        self.start = ChoiceRow(
            theme,
            "start",
            tr("Copy from"),
            [("", tr("Nothing")), *((part.id, part.name) for part in parts)],
        )
        self.name = TextRow(theme, "name", tr("Name"), required=True)
        vendors = sorted({part.vendor for part in parts}, key=str.casefold)
        self.vendor = TextRow(theme, "vendor", tr("Vendor"), required=True, words=vendors)
        self.generation = ChoiceRow(
            theme,
            "generation",
            tr("Behaves like"),
            [("", tr("Choose…")), *generation_options(self.desk.workbench)],
            required=True,
        )
        self.status = SegmentRow(
            theme, "status", tr("Status"), [(_SHIPPING, tr("Shipping")), (_ANNOUNCED, tr("Announced"))]
        )
        self.rate_unit = SegmentRow(
            theme, "rate_unit", tr("Unit"), [(unit.label, unit.label) for unit in _RATES]
        )
        self.source = SourceBlock(theme, self.desk.workbench.own.facts, self.desk)
        self.start.edited.connect(self._copy)
        self.rate_unit.edited.connect(self._judging.start)
        self.generation.edited.connect(self._say_generation)

    def _lay_out_rows(self) -> None:
        self.add_head(self.windowTitle(), tr("Its figures are your own; each says who states it"))
        if self.held is None:
            self.add_rows([self.start])
        self.add_rows([self.name, self.vendor, self.generation, self.status])
        self.figure_rows: list[FormRow] = []
        for title, rows in figure_rows(self.theme, self.desk):
            self.add_section(title)
            if any(isinstance(row, PeakRow) for row in rows):
                self.add_rows([self.rate_unit])
                self.column.addWidget(PeakHead(self.theme))
            self.add_rows(rows)
            self.figure_rows += rows
        self.add_section(
            tr("Who states it"),
            self.source.rows(),
            remark=tr("For every figure that is typed here. One that was copied keeps its own source."),
        )
        for row in self.figure_rows:
            row.edited.connect(lambda row=row: self._typed_over(row))
            row.edited.connect(self._judging.start)
            row.judge = lambda row=row: self._judgement(row)

    def _finish_for_held(self) -> None:
        """Show where most figures of a part of the user's come from, and let it be removed."""
        sources = [figure.source for figure in self._origins.values()]
        if sources:
            most: Source = max(sources, key=sources.count)
            self.source.show_source(most)
        self.remove_button = Button(self.theme, tr("Remove…"), icon="trash-2")
        self.remove_button.clicked.connect(self._remove)
        self.add_left_button(self.remove_button)

    # Copying

    def _copy(self) -> None:
        """Fill in what the user has not typed from another accelerator."""
        chosen = self.start.key()
        self._fill(None if not chosen else self.desk.workbench.catalog.accelerator(chosen), with_name=False)

    def _fill(self, part: Accelerator | None, *, with_name: bool) -> None:
        catalog = self.desk.workbench.catalog
        attributes = {} if part is None else {each.name: each for each in catalog.attributes(part.id)}
        self._origins = {}
        for name, attribute in attributes.items():
            if attribute.preferred is not None and attribute.value is not None:
                self._origins[name] = copied(attribute.preferred)
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
        """Show what a row was copied with, and from where."""
        if isinstance(row, PeakRow):
            for prefix, edit in ((DENSE, row.dense), (SPARSE, row.sparse)):
                figure = self._origins.get(f"{prefix}{row.precision}")
                value = figure.value if figure is not None else None
                rate = value if isinstance(value, int | float) else None
                row.show_inside(edit, rate, self._rate_unit(row))
        else:
            figure = self._origins.get(row.name)
            show_in(row, None if figure is None else figure.value)
        self._say_origin(row)

    def _names(self, row: FormRow) -> tuple[str, ...]:
        if isinstance(row, PeakRow):
            return (f"{DENSE}{row.precision}", f"{SPARSE}{row.precision}")
        return (row.name,)

    def _say_origin(self, row: FormRow) -> None:
        figures = [self._origins[name] for name in self._names(row) if name in self._origins]
        titles = dict.fromkeys(figure.source.title for figure in figures)
        row.set_echo(tr("Source: {source}", source=", ".join(titles)) if titles else "")

    def _typed_over(self, row: FormRow) -> None:
        """Let a row that was typed over rest on the source of the form."""
        if isinstance(row, PeakRow):
            for prefix, edit in ((DENSE, row.dense), (SPARSE, row.sparse)):
                if edit.isModified():
                    self._origins.pop(f"{prefix}{row.precision}", None)
        else:
            self._forget(row)
        self._say_origin(row)

    def _forget(self, row: FormRow) -> None:
        for name in self._names(row):
            self._origins.pop(name, None)

    def _judgement(self, row: FormRow) -> Judgement:
        """Say what speaks against the figures of a row."""
        names = self._names(row)
        found = [each for each in self._found if each.attribute in names]
        return judged(found, self.desk.formatter)

    def _judge(self) -> None:
        """Look at the figures together, and say at each row what speaks against it."""
        self._judging.stop()
        self._found = self._findings()
        for row in self.figure_rows:
            row.check()

    def _findings(self) -> tuple[Finding, ...]:
        """Return what speaks against the figures as they stand, those that can be read."""
        values: dict[str, ClaimValue] = {}
        for row in self.figure_rows:
            with contextlib.suppress(FieldFault):
                values.update(self._inside(row))
        return part_plausibility(values, self.name.edit.text())

    def _inside(self, row: FormRow) -> Iterator[tuple[str, ClaimValue]]:
        """Yield what a row states in the units used inside."""
        if isinstance(row, PeakRow):
            for prefix, edit in ((DENSE, row.dense), (SPARSE, row.sparse)):
                rate = row.rate(edit)
                if rate is not None:
                    yield f"{prefix}{row.precision}", self._rate_unit(row).inside(rate)
        elif isinstance(row, NumberRow):
            if not row.is_empty():
                yield row.name, row.inside()
        elif not row.is_empty():
            yield row.name, stated_value(row)[0]

    def _say_generation(self) -> None:
        self.generation.set_echo(generation_remark(self.desk, self.generation.key()))

    def _remove(self) -> None:
        if self.held is not None:
            step = removal(self, self.desk, self.held)
            if step is not None:
                self.take(step)
