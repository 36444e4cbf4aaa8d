"""The preview of an import: names, source, figures, and the fields that the file leaves open."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtWidgets import QBoxLayout, QGridLayout, QWidget

from gpudesk.catalog.importing.fields import describe_choice
from gpudesk.catalog.importing.proposals import (
    find_missing_price_fields,
    get_subject,
    has_no_owner,
    list_proposal_sources,
)
from gpudesk.catalog.user_store.entry import UnitChoice
from gpudesk.desktop.pages.catalog.editors.fields import ChoiceRow, DateRow, NumberRow, TextRow
from gpudesk.desktop.pages.catalog.editors.form import BackgroundFormDialog
from gpudesk.desktop.pages.catalog.editors.rows import FieldError, FieldRemark, FormRow
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.jobs import Jobs
from gpudesk.desktop.ui.tables.data_table import TextTable
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import PaintedWidget, ThemePainter
from gpudesk.desktop.ui.widgets.layouts import FullWidthScrollArea, ThemedLabel, make_column
from gpudesk.desktop.ui.widgets.qt_support import make_delay
from gpudesk.documents.imports import FileImport, ImportOverrides, apply_import, compute_import_figures
from gpudesk.domain.user_facts import (
    FactEdit,
    ImportPreviewFigures,
    ImportProposal,
    MissingImportField,
    UserFacts,
    UserPrice,
)
from gpudesk.report.catalog_import import (
    ImportPriceLine,
    label_proposal_kind,
    list_import_lines,
    list_price_heads,
    list_price_lines,
)
from gpudesk.report.data_table import DataCell
from gpudesk.text.formatting import Formatter
from gpudesk.text.messages import InputError, format_input_error, format_message
from gpudesk.text.translation import tr, trn

_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
#: Maximum price ranges shown; further ones are counted.
_MOST_PRICES = 60
_PRICE_FIGURES = range(2, 6)


class ImportFiguresView(QWidget):
    """Shows figures under a title with notes below; can be refilled."""

    def __init__(self, theme: Theme, formatter: Formatter) -> None:
        super().__init__()
        self._theme = theme
        self._formatter = formatter
        self._body: QWidget | None = None
        self._column = make_column(gap=0, on=self)

    def show_figures(self, figures: ImportPreviewFigures, notes: Sequence[str], left_out: Sequence[str]) -> None:
        column = self._begin(tr("Import preview"))
        if figures.prices:
            column.addWidget(_make_price_table(self._theme, list_price_lines(figures.prices, self._formatter)))
        else:
            theme = self._theme
            lines = list_import_lines(figures, self._formatter)
            table = QWidget()
            grid = QGridLayout(table)
            grid.setContentsMargins(0, 0, 0, 0)
            grid.setHorizontalSpacing(theme.px(16))
            grid.setVerticalSpacing(theme.px(4))
            grid.setColumnStretch(1, 1)
            row = 0
            for line in lines:
                value = ThemedLabel(theme, line.value, font="body_strong", wrap=True, selectable=True)
                value.setAlignment(_RIGHT)
                value.setAccessibleName(f"{line.label}: {line.value}")
                grid.addWidget(ThemedLabel(theme, line.label, color="text2"), row, 0, Qt.AlignmentFlag.AlignTop)
                grid.addWidget(value, row, 1)
                row += 1
                if line.note:
                    note = ThemedLabel(theme, line.note, font="caption", color="text3", wrap=True)
                    note.setAlignment(_RIGHT)
                    grid.addWidget(note, row, 0, 1, 2)
                    row += 1
            column.addWidget(table)
        self._remarks(column, tr("Notes"), "info", notes)
        self._remarks(column, tr("Not imported"), "minus", left_out)
        column.addStretch(1)

    def show_sentence(self, text: str, notes: Sequence[str] = ()) -> None:
        column = self._begin(tr("Import preview"))
        column.addWidget(ThemedLabel(self._theme, text, font="small", color="text2", wrap=True))
        self._remarks(column, tr("Notes"), "info", notes)
        column.addStretch(1)

    def _begin(self, title: str) -> QBoxLayout:
        if self._body is not None:
            self._body.hide()
            self._body.deleteLater()
        self._body = QWidget()
        column = make_column(ThemedLabel(self._theme, title, font="section"), gap=self._theme.px(6), on=self._body)
        self._column.addWidget(self._body)
        return column

    def _remarks(self, column: QBoxLayout, title: str, icon: str, sentences: Sequence[str]) -> None:
        if not sentences:
            return
        column.addSpacing(self._theme.px(8))
        column.addWidget(ThemedLabel(self._theme, title, font="section"))
        for text in sentences:
            remark = FieldRemark(self._theme, icon, "text3", "text2")
            remark.show_text(text)
            column.addWidget(remark)


def _make_price_table(theme: Theme, lines: Sequence[ImportPriceLine]) -> QWidget:
    name, heads = tr("Import preview"), list_price_heads()
    table = TextTable(theme, name, heads, numbers=_PRICE_FIGURES, giving=(0,))
    table.set_cells({str(row): _make_price_cells(line) for row, line in enumerate(lines[:_MOST_PRICES])})
    unit = tr("Rents: USD per accelerator-hour. Purchases: USD per accelerator")
    if len(lines) > _MOST_PRICES:
        more = tr("{n} more rows are imported but not shown", n=len(lines) - _MOST_PRICES)
        unit = f"{more}. {unit}"
    whole = QWidget()
    make_column(table, ThemedLabel(theme, unit, font="caption", color="text3", wrap=True), gap=theme.px(6), on=whole)
    return whole


def _make_price_cells(line: ImportPriceLine) -> list[DataCell]:
    """Return the cells of a price: name and median are strong, term and dates quiet."""
    return [
        DataCell(text, is_strong=place in (0, 4), is_quiet=place in (1, 6)) for place, text in enumerate(line.cells)
    ]


class ImportFiguresPanel(PaintedWidget):
    """Figures next to a form, on the panel's color, with a divider; scrolls if necessary."""

    def __init__(self, theme: Theme, figures: ImportFiguresView) -> None:
        super().__init__(theme)
        self._figures = figures
        self._body = QWidget()
        padding = theme.px(16)
        make_column(figures, margins=(padding, padding, padding, padding), on=self._body)
        area = FullWidthScrollArea()
        area.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        area.setAccessibleName(tr("Import preview"))
        area.show_widget(self._body)
        make_column(area, margins=(1, 0, 0, 0), on=self)

    def measure_height_for(self, width: int) -> int:
        return max(self._body.heightForWidth(width), self._body.sizeHint().height())

    def paint(self, pen: ThemePainter) -> None:
        pen.painter.fillRect(self.rect(), self._theme.color("chrome"))
        pen.hairline(0, 0, 0, self.height())
        pen.hairline(0, 0, self.width(), 0)


_YES, _NO = "yes", "no"
_PLAIN = (UnitChoice("", None),)


def _make_missing_field_row(theme: Theme, field: MissingImportField, formatter: Formatter) -> FormRow:
    row: FormRow
    # Field names contain no spaces for line breaks in a narrow column.
    label = field.name.replace("_", "_\u200b").replace(".", ".\u200b")
    if field.kind == "yes_no":
        options = [("", tr("Choose…")), (_YES, tr("Yes")), (_NO, tr("No"))]
        row = ChoiceRow(theme, field.name, label, options, required=True)
    elif field.choices:
        words = [("", tr("Choose…")), *((word, describe_choice(word)) for word in field.choices)]
        row = ChoiceRow(theme, field.name, label, words, required=True)
    elif field.kind == "word":
        row = TextRow(theme, field.name, label, required=True)
    else:
        row = NumberRow(theme, field.name, label, _PLAIN, required=True, style=formatter.style)
    row.set_echo(format_message(field.why, formatter))
    return row


def read_missing_field(row: FormRow, field: MissingImportField) -> object:
    """Return the user's answer, None for an empty row; raises `FieldError`."""
    value = row.value()
    if value is None:
        return None
    if field.kind == "yes_no":
        return value == _YES
    if field.kind == "whole" and not isinstance(value, int):
        raise FieldError(tr("Enter a whole number"))
    return value


#: Width next to the rows, height for the buttons, and the maximum initial height.
_ASIDE, _FOOT, _HIGHEST = 300.0, 54.0, 700.0
#: Delay after typing before the parameters are counted again.
_FOLLOWS_MS = 200


class ImportDialog(BackgroundFormDialog):
    """Shows one import. Entries apply before anything is written, and are kept if writing fails."""

    manual_topic = "values#import"

    def __init__(
        self,
        desk: Desk,
        theme: Theme,
        jobs: Jobs,
        file_import: FileImport,
        *,
        place: str = "",
        parent: QWidget | None = None,
    ) -> None:
        """Preview the import of a file; `place` is its position among several."""
        title = tr("Import {file}", file=file_import.path.name)
        super().__init__(
            desk,
            theme,
            jobs,
            f"{title}, {place}" if place else title,
            save=_format_save_button(file_import.proposal, desk),
            parent=parent,
        )
        self._file_import = file_import
        self.proposal = file_import.proposal
        self._missing: list[tuple[FormRow, MissingImportField]] = []
        self._beside: ImportFiguresPanel | None = None
        self._figures = ImportFiguresView(theme, desk.formatter)
        self._timer = make_delay(self, _FOLLOWS_MS, self._follow)
        self._fill()
        self._show_figures()

    def sizeHint(self) -> QSize:
        hint, px = super().sizeHint(), self.theme.px
        if self._beside is None:
            return hint
        figures = self._beside.measure_height_for(px(_ASIDE)) + px(_FOOT)
        return QSize(hint.width(), min(max(hint.height(), figures), px(_HIGHEST)))

    # Rows

    def _fill(self) -> None:
        proposal = self.proposal
        self.add_head(proposal.name, f"{label_proposal_kind(proposal.kind)}, {self._file_import.path.name}")
        self.add_rows(self._make_name_rows())
        no_provider, no_date = find_missing_price_fields(self.proposal)
        rows: list[FormRow] = []
        if no_provider:
            providers = {price.provider for price in self.desk.service.catalog.prices() if price.provider}
            row = TextRow(
                self.theme,
                "provider",
                tr("Provider"),
                empty=tr("provider for prices without one"),
                words=sorted(providers),
            )
            rows.append(row)
        if no_date:
            rows.append(DateRow(self.theme, "date", tr("Price date")))
            rows[-1].set_echo(tr("The file has no date. Prices without a date are shown as undated."))
        self.add_rows(rows)
        if proposal.missing:
            remark = tr("Enter the missing values.")
            if proposal.kind == "model":
                remark = tr("Enter the values from the model card or its code.")
            self.add_section(tr("Missing in the file"), remark=remark)
            self._ask(proposal)
        if proposal.kind == "prices":
            self.column.addSpacing(self.theme.px(8))
            self.column.addWidget(self._figures)
        else:
            self._beside = ImportFiguresPanel(self.theme, self._figures)
            self.set_aside(self._beside)

    def _make_name_rows(self) -> list[FormRow]:
        subject = get_subject(self.proposal)
        if subject is None and not self.proposal.missing:
            return self._make_id_rows()
        name = TextRow(self.theme, "name", tr("Name"), required=True)
        name.show_value(self.proposal.name if subject is None else subject.name)
        return [name, *self._make_id_rows()]

    def _make_id_rows(self) -> list[FormRow]:
        subject, sources = get_subject(self.proposal), list_proposal_sources(self.proposal)
        rows: list[FormRow] = []
        if subject is not None:
            row = TextRow(self.theme, "id", tr("ID"), required=True)
            row.show_value(subject.id)
            rows.append(row)
        if has_no_owner(self.proposal):
            rows.append(self._make_organization_row())
        if sources:
            row = TextRow(self.theme, "title", tr("Source"), required=True)
            row.show_value(sources[0].title)
            rows.append(row)
        return rows

    def _make_organization_row(self) -> FormRow:
        """Ask for the organization of a model that neither its folder nor its file names."""
        organizations = {model.organisation for model in self.desk.service.catalog.models()}
        return TextRow(
            self.theme,
            "organisation",
            tr("Organization"),
            empty=tr("publisher of the model, missing in its files"),
            words=sorted(organizations, key=str.casefold),
        )

    def _ask(self, proposal: ImportProposal) -> bool:
        """Put a row for each missing field that was not asked for yet; return whether there was one."""
        asked_names = {field.name for _, field in self._missing}
        fields = [field for field in proposal.missing if field.name not in asked_names]
        # A row for each field: its name in the file, and its meaning below.
        rows = [_make_missing_field_row(self.theme, field, self.desk.formatter) for field in fields]
        self._missing += zip(rows, fields, strict=True)
        self.add_rows(rows)
        for row in rows:
            row.edited.connect(self._timer.start)
        return bool(rows)

    # Preview

    def _answers(self) -> dict[str, object] | None:
        """Return the answers by field, None while one is missing or invalid."""
        answers: dict[str, object] = {}
        for row, field in self._missing:
            try:
                value = read_missing_field(row, field)
            except FieldError:
                return None
            if value is None:
                return None
            answers[field.name] = value
        return answers

    def _follow(self) -> None:
        answers = self._answers()
        if answers is None or self._file_import.complete is None:
            self._show_figures()
            return
        try:
            self.proposal = self._file_import.complete(answers)
        except InputError as error:
            self._figures.show_sentence(format_input_error(error, self.desk.formatter))
            return
        self._ask(self.proposal)
        if self._missing and self.row("id") is None and get_subject(self.proposal) is not None:
            self.add_section(tr("Entry"), self._make_id_rows())
        self._show_figures()
        # New widgets get their size with the next event.
        QTimer.singleShot(0, self, self._grow)

    def _grow(self) -> None:
        room = self.screen().availableGeometry().bottom() - self.y()
        height = min(self.sizeHint().height(), room)
        if height > self.height():
            self.resize(self.width(), height)

    def _show_figures(self) -> None:
        notes = [format_message(note, self.desk.formatter) for note in self.proposal.notes]
        left_out = [format_message(note, self.desk.formatter) for note in self.proposal.left_out]
        open_fields = [row for row, field in self._missing if _is_undecided(row, field)]
        if open_fields:
            text = trn(
                "Parameters and KV cache appear once you fill in {n} field.",
                "Parameters and KV cache appear once you fill in {n} fields.",
                len(open_fields),
            )
            self._figures.show_sentence(text, notes)
            return
        figures = self._file_import.figures or compute_import_figures(self.proposal, self.desk.service.catalog)
        self._figures.show_figures(figures, notes, left_out)

    # Writing

    def save(self) -> None:
        """Write in the background, and then close."""
        proposal = self._complete_proposal()
        wishes = ImportOverrides(**{row.name: _read_field_text(row) for row in self.rows if row.name in _WISHES})
        self.write(apply_import(self.desk.service, self._file_import, proposal, wishes), self._finish_import)

    def _complete_proposal(self) -> ImportProposal:
        """Return the proposal completed with the answers; raises `InputError` or `FieldError`."""
        if not self._missing:
            return self.proposal
        answers = self._answers()
        if answers is None or self._file_import.complete is None:
            raise FieldError(tr("Fill in all fields"))
        proposal = self._file_import.complete(answers)
        if self._ask(proposal):
            raise FieldError(tr("More values are missing: fill in the new fields"))
        return proposal

    def _finish_import(self, saved: tuple[FactEdit, UserFacts, ImportProposal]) -> None:
        step, facts, self.proposal = saved
        self.finish(step, facts)


#: The rows of overrides, by field name.
_WISHES = frozenset({"id", "name", "organisation", "title", "provider", "date"})


def _is_undecided(row: FormRow, field: MissingImportField) -> bool:
    try:
        return read_missing_field(row, field) is None
    except FieldError:
        return True


def _read_field_text(row: FormRow) -> str:
    return "" if row.is_empty() else str(row.read())


def _format_save_button(proposal: ImportProposal, desk: Desk) -> str:
    """Return the text of the main button with the kind and number of imported items."""
    if proposal.kind == "model":
        return tr("Add model")
    if proposal.kind == "accelerator":
        return tr("Add accelerator")
    prices = sum(isinstance(fact, UserPrice) for fact in proposal.facts)
    return trn("Add {count} price", "Add {count} prices", prices, count=desk.formatter.count(prices))
