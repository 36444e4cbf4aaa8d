"""The record view: software support, reference deployments, and the time to load weights."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from gpudesk.desktop.pages.decide.parts import DecideView
from gpudesk.desktop.pages.decide.record_table import (
    CellParagraph,
    RecordCell,
    RecordColumn,
    RecordRow,
    RecordTableView,
    make_cell,
)
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.evaluated_answer import EvaluatedAnswer
from gpudesk.desktop.session.scenario_edits import replace_plan_input
from gpudesk.desktop.session.selection import (
    Selection,
    select_attribute,
    select_catalog_dispute,
    select_catalog_statement,
)
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.buttons import SegmentedControl
from gpudesk.desktop.ui.widgets.layouts import STRETCH, Hairline, ThemedLabel, make_column, make_row
from gpudesk.desktop.ui.widgets.marked_list import MarkedList
from gpudesk.desktop.ui.widgets.number_edit import NO_VALUE, NumberEdit, NumberFormat
from gpudesk.domain.deployment_analysis import WeightLoading, WeightLoadTime
from gpudesk.domain.reference_data import ReferenceDeployment, SoftwareSupport, SupportEntry, find_references
from gpudesk.report.decision.advisory import (
    describe_missing_references,
    describe_missing_support,
    describe_quoted_link,
    describe_unknown_time,
    format_host_count,
    format_load_time,
    format_loaded_weights,
    format_scale,
    group_by_software,
    join_lines,
    list_load_workings,
    list_loading_lines,
    list_platforms,
    list_reference_lines,
    list_support_lines,
    merge_loading_notes,
    split_platforms,
)
from gpudesk.report.labels import format_date, label_document, shorten_name
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter
from gpudesk.text.messages import Message
from gpudesk.text.translation import tr, translate_data, trn


class PlatformSupportBlock(QWidget):
    """Support statements about software on one platform; for each software the newest first."""

    def __init__(self, theme: Theme, platform: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.platform = platform
        self.parts = ThemedLabel(theme, font="small", color="text3", parent=self)
        name = tr("Software on {platform}", platform=platform)
        heads = (
            RecordColumn(tr("Software"), 126),
            RecordColumn(tr("Level"), 100),
            RecordColumn(tr("Scope"), 220, 1.0),
            RecordColumn(tr("Date"), 84),
            RecordColumn(tr("Source"), 146),
            RecordColumn(tr("Disputes"), 106),
        )
        self.table = RecordTableView(theme, name, heads, self)
        self.nothing = ThemedLabel(
            theme, describe_missing_support(platform), font="small", color="text2", wrap=True, parent=self
        )
        head = make_row(ThemedLabel(theme, name, font="section", parent=self), (self.parts, 1), gap=theme.px(10))
        make_column(head, self.table, self.nothing, gap=theme.px(4), on=self)

    def show_support(self, support: SoftwareSupport, names: Sequence[str]) -> None:
        """Show the entries; `names` are the compared accelerators on the platform."""
        self.parts.setText(", ".join(names))
        rows = [
            _make_support_row(entry, first=not number)
            for entries in group_by_software(support, self.platform)
            for number, entry in enumerate(entries)
        ]
        self.table.show_rows(rows)
        self.table.setVisible(bool(rows))
        self.nothing.setVisible(not rows)


def _make_support_row(entry: SupportEntry, *, first: bool) -> RecordRow:
    """Return an entry; an older one is below the newest of its software, without the name."""
    color = "text1" if first else "text2"
    name = make_cell(translate_data(entry.name), "small_strong") if first else make_cell("")
    return RecordRow(
        (
            name,
            make_cell(entry.level.label, "small_strong" if first else "small", color),
            make_cell(translate_data(entry.scope), color=color),
            make_cell(format_date(entry.date), color=color),
            make_cell(label_document(entry.source), color=color),
            make_dispute_cell(entry.disputes),
        ),
        select_evidence(entry.statements, entry.disputes),
        begins=first,
    )


def make_dispute_cell(disputes: tuple[str, ...]) -> RecordCell:
    if not disputes:
        return make_cell(MISSING_VALUE_TEXT, color="text3")
    count = trn("{n} dispute", "{n} disputes", len(disputes))
    return make_cell(count, color="disputed_text", glyph="disputed")


def select_evidence(statements: tuple[str, ...], disputes: tuple[str, ...]) -> Selection | None:
    """Return the panel's selection for a record: its first dispute, else its first statement."""
    if disputes:
        return select_catalog_dispute(disputes[0])
    return select_catalog_statement(statements[0]) if statements else None


class ReferenceDeploymentsBlock(QWidget):
    """Deployments, each with its document as the source."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        heads = (
            RecordColumn(tr("Operator"), 130, 0.4),
            RecordColumn(tr("Deployment"), 190, 1.0),
            RecordColumn(tr("Scale"), 92),
            RecordColumn(tr("Date"), 80),
            RecordColumn(tr("Source"), 120, 0.6),
            RecordColumn(tr("Disputes"), 96),
        )
        self.table = RecordTableView(theme, tr("Reference deployments"), heads, self)
        self.nothing = ThemedLabel(
            theme, describe_missing_references(), font="small", color="text2", wrap=True, parent=self
        )
        make_column(
            ThemedLabel(theme, tr("Reference deployments"), font="section", parent=self),
            self.table,
            self.nothing,
            gap=theme.px(4),
            on=self,
        )

    def show_references(self, references: Sequence[ReferenceDeployment], formatter: Formatter) -> None:
        rows = [_make_reference_row(each, formatter) for each in references]
        self.table.show_rows(rows)
        self.table.setVisible(bool(rows))
        self.nothing.setVisible(not rows)


def _make_reference_row(reference: ReferenceDeployment, formatter: Formatter) -> RecordRow:
    operator_kind = tr("named company") if reference.named else tr("unnamed company")
    who = RecordCell(
        (CellParagraph(translate_data(reference.who), "small_strong"), CellParagraph(operator_kind, "caption", "text3"))
    )
    word = RecordCell(
        (
            CellParagraph(translate_data(reference.basis), color="text2"),
            CellParagraph(label_document(reference.source), "caption", "text3"),
        )
    )
    return RecordRow(
        (
            who,
            make_cell(translate_data(reference.what)),
            make_cell(format_scale(reference, formatter), color="text1" if reference.count else "text3"),
            make_cell(format_date(reference.date)),
            word,
            make_dispute_cell(reference.disputes),
        ),
        select_evidence(reference.statements, reference.disputes),
    )


STORAGE: Final = "storage_gb_s"
_LINK: Final = "pcie_bandwidth"
_LEAST, _MOST, _DECIMALS = 0.001, 1e6, 3


class WeightLoadingBlock(QWidget):
    """One row per column: per accelerator, per host, and quoted link rates."""

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._desk, self._theme = desk, theme
        self._loadings: Mapping[str, WeightLoading | Message] = {}
        self._names: Mapping[str, str] = {}
        self._contents: tuple[object, ...] = ()
        rates = NumberFormat(_LEAST, _MOST, _DECIMALS, desk.formatter.style, ("", MISSING_VALUE_TEXT))
        self.storage = NumberEdit(theme, tr("Storage bandwidth per host, GB/s"), rates, self)
        self.storage.setPlaceholderText(tr("not set"))
        self.storage.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.storage.edited.connect(self._set_storage)
        self.fault = ThemedLabel(theme, font="small", color="unfit", parent=self)
        self.storage.fault_changed.connect(self.fault.setText)
        self.table = RecordTableView(
            theme,
            tr("Weight loading time"),
            (
                RecordColumn(tr("Accelerator"), 130),
                RecordColumn(tr("Weights"), 120),
                RecordColumn(tr("One accelerator"), 190, 1.0),
                RecordColumn(tr("Whole host"), 190, 1.0),
                RecordColumn(tr("Published"), 130, 0.6),
            ),
            self,
        )
        self.table.explained.connect(desk.select)
        self.notes = MarkedList(theme, tr("Notes"), self)
        self._lay_out()

    def _lay_out(self) -> None:
        theme = self._theme
        self.storage.setFixedWidth(theme.px(110))
        head = make_row(
            ThemedLabel(theme, tr("Weight loading time"), font="section", parent=self),
            STRETCH,
            self.fault,
            ThemedLabel(theme, tr("Storage bandwidth per host"), font="small", color="text2", parent=self),
            self.storage,
            ThemedLabel(theme, "GB/s", font="small", color="text2", parent=self),
            gap=theme.px(8),
        )
        make_column(head, self.table, theme.px(6), self.notes, gap=theme.px(4), on=self)

    # Display

    def show_decision(self, evaluated: EvaluatedAnswer) -> None:
        storage_value = evaluated.answer.scenario.decision.plans.get(STORAGE)
        self.storage.set_value(NO_VALUE if storage_value is None else float(storage_value))
        loadings, names = self._desk.service.reference_data.loadings(evaluated.answer), evaluated.names
        contents = loadings, [column.identity for column in evaluated.columns]
        if contents == self._contents:
            # While only the load changes.
            return
        self._contents, self._loadings, self._names = contents, loadings, names
        self.table.show_rows([_make_loading_row(evaluated, key, loading) for key, loading in self._loadings.items()])
        self.notes.show_texts("info", "text3", merge_loading_notes(self._loadings, names, evaluated.formatter))

    def text(self, formatter: Formatter) -> str:
        return join_lines(list_loading_lines(self._loadings, self._names, formatter))

    # Commands

    def _set_storage(self, typed: float) -> None:
        value = None if typed == NO_VALUE else float(typed)
        self._desk.apply(replace_plan_input(self._desk.scenario, STORAGE, value), tr("Storage bandwidth"))


def _make_loading_row(evaluated: EvaluatedAnswer, key: str, loading: WeightLoading | Message) -> RecordRow:
    formatter, column = evaluated.formatter, evaluated.column(key)
    swatch = column.palette_index, column.is_variant
    name = RecordCell((CellParagraph(column.name, "small_strong"),), swatch=swatch)
    if isinstance(loading, Message):
        unknown = make_cell(describe_unknown_time(loading, formatter), color="unfit")
        return RecordRow((name, make_cell(MISSING_VALUE_TEXT, color="text3"), unknown, make_cell(""), make_cell("")))
    quoted = [CellParagraph(describe_quoted_link(each, formatter), color="text2") for each in loading.quoted]
    return RecordRow(
        (
            name,
            make_cell(format_loaded_weights(loading, formatter)),
            RecordCell(tuple(_format_load_time(loading.one, formatter))),
            RecordCell(tuple(_format_host_load_time(loading, formatter))),
            RecordCell(tuple(quoted)) if quoted else make_cell(tr("not published"), color="text3"),
        ),
        select_attribute(key, _LINK),
    )


def _format_load_time(time: WeightLoadTime, formatter: Formatter) -> Iterator[CellParagraph]:
    is_known = time.seconds is not None
    yield CellParagraph(format_load_time(time, formatter), "small_strong", "text1" if is_known else "disputed_text")
    for line in list_load_workings(time, formatter):
        yield CellParagraph(line, "caption", "text2")


def _format_host_load_time(loading: WeightLoading, formatter: Formatter) -> Iterator[CellParagraph]:
    """Yield the time of a host, and its number of accelerators; its formulas if they differ from those of one."""
    first, *lines = _format_load_time(loading.host, formatter)
    if loading.in_host is not None:
        text = tr("{time}, {count}", time=first.text, count=format_host_count(loading, formatter))
        first = first._replace(text=text)
    yield first
    _, *of_one = _format_load_time(loading.one, formatter)
    if lines != of_one:
        yield from lines
    elif lines:
        yield CellParagraph(tr("same calculation as for one accelerator"), "caption", "text2")


COMPARED, ALL_RECORDS = "compared", "all"
_MARGIN: Final = 16


class RecordView(DecideView):
    """Published statements about the compared accelerators, or all of them; none are merged or averaged."""

    needs_decision = False

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(desk, theme, parent)
        self.extent = SegmentedControl(
            theme, tr("Shown references"), ((COMPARED, tr("Compared accelerators")), (ALL_RECORDS, tr("All"))), self
        )
        self.extent.chosen.connect(lambda _: self.refresh())
        self.platforms: list[PlatformSupportBlock] = []
        self.references = ReferenceDeploymentsBlock(theme, self)
        self.references.table.explained.connect(desk.select)
        self.loading = WeightLoadingBlock(desk, theme, self)
        self._lay_out()

    def _lay_out(self) -> None:
        theme = self.theme
        note = tr("Each row is one published statement, newest first. Statements are not merged.")
        head = make_row(
            self.extent,
            (ThemedLabel(theme, note, font="small", color="text2", wrap=True, parent=self), 1),
            gap=theme.px(12),
        )
        self._blocks = make_column(gap=theme.px(16))
        make_column(
            head,
            self._blocks,
            Hairline(theme, self),
            self.references,
            Hairline(theme, self),
            self.loading,
            STRETCH,
            gap=theme.px(14),
            margins=(theme.px(_MARGIN), theme.px(4), theme.px(_MARGIN), theme.px(_MARGIN)),
            on=self,
        )

    # Display

    def show_decision(self, evaluated: EvaluatedAnswer) -> None:
        super().show_decision(evaluated)
        self.show_below(lambda: self.loading.show_decision(evaluated))

    def refresh(self) -> None:
        evaluated = self.evaluated
        support = self.desk.service.reference_data.support
        on = _group_by_platform(evaluated)
        self._make_platforms(self._select_platforms())
        for block in self.platforms:
            block.show_support(support, on.get(block.platform, ()))
        self.references.show_references(self._select_references(), evaluated.formatter)

    def _make_platforms(self, platforms: tuple[str, ...]) -> None:
        if tuple(block.platform for block in self.platforms) == platforms:
            return
        for block in self.platforms:
            self._blocks.removeWidget(block)
            block.hide()
            block.deleteLater()
        self.platforms = [PlatformSupportBlock(self.theme, platform, self) for platform in platforms]
        for block in self.platforms:
            block.table.explained.connect(self.desk.select)
            self._blocks.addWidget(block)

    def _select_platforms(self) -> tuple[str, ...]:
        compared = tuple(_group_by_platform(self.evaluated))
        if self.extent.value == COMPARED:
            return compared
        return tuple(dict.fromkeys((*compared, *list_platforms(self.desk.service.reference_data.support))))

    def _select_references(self) -> tuple[ReferenceDeployment, ...]:
        references = self.desk.service.reference_data.references
        if self.extent.value == ALL_RECORDS:
            return references
        return find_references(references, *(part.column.accelerator.id for part in self.evaluated.columns))

    # Interface for the page

    def copied(self) -> str:
        formatter, support = self.desk.formatter, self.desk.service.reference_data.support
        parts = (
            join_lines(list_support_lines(support, self._select_platforms())),
            join_lines(list_reference_lines(self._select_references(), formatter)),
            self.loading.text(formatter),
        )
        return "\n\n".join(part for part in parts if part)

    def focus_first(self) -> None:
        first = next((block.table for block in self.platforms if block.table.isVisible()), None)
        (first or self.references.table).setFocus(Qt.FocusReason.OtherFocusReason)


def _group_by_platform(evaluated: EvaluatedAnswer) -> dict[str, tuple[str, ...]]:
    """Return the software platforms of the compared accelerators, each with its accelerators."""
    on: dict[str, dict[str, None]] = {}
    for part in evaluated.columns:
        accelerator = part.column.accelerator
        for platform in split_platforms(accelerator.platform):
            on.setdefault(platform, {})[shorten_name(accelerator.name)] = None
    return {platform: tuple(names) for platform, names in on.items()}
