"""The fit matrix as an item model, and the controls that choose its rows and columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from typing import Any, Final

from PySide6.QtCore import QModelIndex, QObject, Qt, Signal
from PySide6.QtWidgets import QMenu, QWidget

from gpudesk.desktop.session.scenario_options import MOST_TOKENS, list_kv_options, list_precision_options
from gpudesk.desktop.session.settings import UserSettings
from gpudesk.desktop.ui.tables.table_base import Index, TableItemModel
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.buttons import IconButton, LinkButton
from gpudesk.desktop.ui.widgets.choice_popup import ChoiceOption
from gpudesk.desktop.ui.widgets.fields import HEIGHT, ChoiceField, NumberField
from gpudesk.desktop.ui.widgets.filters import FilterField, FilterPill
from gpudesk.desktop.ui.widgets.layouts import FlowRow, ThemedLabel, make_row
from gpudesk.desktop.ui.widgets.number_edit import NumberFormat
from gpudesk.domain.accelerator import Accelerator
from gpudesk.domain.answer import Scenario
from gpudesk.domain.model import Model
from gpudesk.domain.precision import KV_BYTES, Precision
from gpudesk.domain.sizing import CapacityReadingId, FitCell, FitMatrix, FitQuestion
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.report.labels import label_precision, shorten_name
from gpudesk.report.sizing import (
    compute_headroom_share,
    describe_fit_cell,
    describe_reading,
    describe_reading_cell,
    label_reading,
)
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter
from gpudesk.text.translation import tr, trn

#: Sort keys of rows besides the counts of one accelerator, which is named by its id.
BY_PARAMETERS: Final = "parameters"
BY_NAME: Final = "name"
BY_MAKER: Final = "maker"


@frozen_dataclass
class FitOrder:
    """Filter and order of a matrix.

    `models` and `parts` are search words, all of which a row or a column must contain. With `most` above 0 only rows
    and columns stay that have a cell of that many or fewer. `by` is one of the `BY_…` or an accelerator's id.
    """

    models: str = ""
    parts: str = ""
    most: int = 0
    by: str = BY_PARAMETERS
    descending: bool = False


@frozen_dataclass
class FitColumn:
    """An accelerator with its name in the head."""

    part: Accelerator
    name: str


@frozen_dataclass
class FitRow:
    """A model with its cells, in column order; `parameters` None if unknown."""

    model: Model
    parameters: float | None
    cells: tuple[FitCell, ...]


@frozen_dataclass
class FitTable:
    """The visible table; without a question nothing was asked yet. `reading` is empty for the estimator."""

    question: FitQuestion | None = None
    reading: str = ""
    columns: tuple[FitColumn, ...] = ()
    rows: tuple[FitRow, ...] = ()


def arrange_fit_table(matrix: FitMatrix, parameters: Mapping[str, float], order: FitOrder, reading: str) -> FitTable:
    places = {part.id: place for place, part in enumerate(matrix.accelerators)}
    words, part_words = order.models.casefold().split(), order.parts.casefold().split()
    columns = [
        column
        for column in list_fit_columns(matrix.accelerators)
        if _has(f"{column.part.name} {column.part.vendor} {column.part.id}", part_words)
    ]
    rows = [
        FitRow(model, parameters.get(model.id), cells)
        for model, cells in zip(matrix.models, matrix.rows, strict=True)
        if _has(f"{model.name} {model.organisation} {model.id}", words)
    ]
    rows = _sort_rows(rows, order, places.get(order.by))
    if order.most:
        columns_shown = [places[column.part.id] for column in columns]
        rows = [row for row in rows if any(_within(row.cells[place], order.most) for place in columns_shown)]
        columns = [
            column for column in columns if any(_within(row.cells[places[column.part.id]], order.most) for row in rows)
        ]
    part_places = [places[column.part.id] for column in columns]
    return FitTable(
        matrix.question,
        reading,
        tuple(columns),
        tuple(FitRow(row.model, row.parameters, tuple(row.cells[place] for place in part_places)) for row in rows),
    )


def list_fit_columns(parts: Sequence[Accelerator]) -> tuple[FitColumn, ...]:
    """Return the columns of accelerators, grouped by vendor."""
    vendors = {vendor: place for place, vendor in enumerate(dict.fromkeys(part.vendor for part in parts))}
    ordered = sorted(parts, key=lambda part: vendors[part.vendor])
    short = [shorten_name(part.name) for part in ordered]
    # Names must be unique.
    return tuple(
        FitColumn(part, brief if short.count(brief) == 1 else part.name)
        for part, brief in zip(ordered, short, strict=True)
    )


def _has(text: str, words: Sequence[str]) -> bool:
    folded = text.casefold()
    return all(word in folded for word in words)


def _within(cell: FitCell, most: int) -> bool:
    return cell.count is not None and cell.count <= most


def _sort_rows(rows: list[FitRow], order: FitOrder, by: int | None) -> list[FitRow]:
    """Sort the rows; unknown values come last in both directions."""
    rows = sorted(rows, key=lambda row: (row.parameters is None, row.parameters or 0.0))
    if by is not None:
        known_rows = [row for row in rows if row.cells[by].count is not None]
        # On equal counts the one with more free memory first: it fits more easily.
        known_rows.sort(key=lambda row: (row.cells[by].count, -compute_headroom_share(row.cells[by])),
                   reverse=order.descending)  # fmt: skip
        return [*known_rows, *(row for row in rows if row.cells[by].count is None)]
    if order.by == BY_NAME:
        return sorted(rows, key=lambda row: row.model.name.casefold(), reverse=order.descending)
    if order.by == BY_MAKER:
        return sorted(rows, key=lambda row: row.model.organisation.casefold(), reverse=order.descending)
    known_rows = [row for row in rows if row.parameters is not None]
    return [*(reversed(known_rows) if order.descending else known_rows), *rows[len(known_rows) :]]


class FitModel(TableItemModel):
    """Cells over a `FitTable`. New counts of the same models and accelerators are signaled as changed data."""

    def __init__(self, formatter: Formatter, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._formatter = formatter
        self.table = FitTable()

    def show(self, table: FitTable) -> None:
        if table != self.table:
            with self.exchanging(is_alike=_list_ids(table) == _list_ids(self.table)):
                self.table = table

    # Lookup

    def row(self, number: int) -> FitRow:
        return self.table.rows[number]

    def column(self, number: int) -> FitColumn:
        return self.table.columns[number]

    def cell(self, index: Index) -> FitCell | None:
        return self.table.rows[index.row()].cells[index.column()] if index.isValid() else None

    def index_of(self, model: str, part: str) -> QModelIndex:
        """Return the index of a model and an accelerator by id, invalid if not shown."""
        row = next((n for n, row in enumerate(self.table.rows) if row.model.id == model), -1)
        column = next((n for n, each in enumerate(self.table.columns) if each.part.id == part), -1)
        return self.index(row, column) if row >= 0 and column >= 0 else QModelIndex()

    def sentence(self, row: int, column: int) -> str:
        """Return the full text of a cell, empty before the first query."""
        cell, table = self.table.rows[row].cells[column], self.table
        if table.question is None:
            return ""
        part, model = self.column(column).name, self.row(row).model
        if table.reading:
            return describe_reading_cell(cell, part, model, self._formatter)
        return describe_fit_cell(cell, part, model, table.question, self._formatter)

    # Display and accessibility

    def count_rows(self) -> int:
        return len(self.table.rows)

    def count_columns(self) -> int:
        return len(self.table.columns)

    def get_text(self, row: int, column: int) -> str:
        count = self.table.rows[row].cells[column].count
        return MISSING_VALUE_TEXT if count is None else self._formatter.count(count)

    def get_alignment(self, column: int) -> Qt.AlignmentFlag:  # noqa: ARG002 - the same for all
        return Qt.AlignmentFlag.AlignHCenter

    def get_head(self, section: int, *, spoken: bool) -> str:
        column = self.table.columns[section]
        if not spoken:
            return column.name
        part = column.part
        text = f"{part.name}, {part.vendor}, {self._formatter.gib(part.memory_bytes)} GiB"
        return f"{text}, {tr('announced')}" if part.announced else text

    def get_label(self, section: int, *, spoken: bool) -> str:
        row = self.table.rows[section]
        if not spoken:
            return row.model.name
        text = f"{row.model.name}, {row.model.organisation}"
        if row.parameters is None:
            return text
        return tr("{model}, {n} billion parameters", model=text, n=format_parameters(row, self._formatter))


def format_parameters(row: FitRow, formatter: Formatter) -> str:
    return MISSING_VALUE_TEXT if row.parameters is None else formatter.number(row.parameters / 1e9, 1)


def _list_ids(table: FitTable) -> tuple[list[str], list[str]]:
    return [row.model.id for row in table.rows], [each.part.id for each in table.columns]


#: Maximum sequences in flight in the field.
MOST_IN_FLIGHT: Final = 1_000_000
#: Counts for filtering rows and columns.
MOST_COUNTS: Final = (1, 2, 4, 8, 16, 32)
_SETTING: Final = "memory.matrix."


@frozen_dataclass
class FitMatrixOptions:
    """Empty formats and a `context` of 0 follow the scenario; an empty `reading` is the estimator.

    `most` is 0 without a filter; `by` and `descending` are as in `FitOrder`.
    """

    weights: str = ""
    kv: str = ""
    context: int = 0
    concurrency: int = 1
    reading: str = ""
    by: str = BY_PARAMETERS
    descending: bool = False
    most: int = 0

    @property
    def follows(self) -> bool:
        return (self.weights, self.kv, self.context, self.concurrency) == ("", "", 0, 1)

    def question(self, scenario: Scenario) -> FitQuestion:
        work = scenario.workload
        return FitQuestion(
            weights=Precision(self.weights) if self.weights else scenario.weights,
            kv=Precision(self.kv) if self.kv else scenario.kv,
            context=self.context or work.input_tokens + work.output_tokens,
            concurrency=self.concurrency,
            serving_engine=scenario.serving_engine,
            memory_fraction=scenario.memory_fraction,
        )


def read_matrix_options(settings: UserSettings) -> FitMatrixOptions:
    """Return the last options; invalid ones are replaced by defaults."""
    usual = FitMatrixOptions()
    stored_options = {
        each.name: settings.get(_SETTING + each.name, getattr(usual, each.name)) for each in fields(FitMatrixOptions)
    }
    allowed = {
        "weights": stored_options["weights"] in tuple(Precision),
        "kv": stored_options["kv"] in tuple(KV_BYTES),
        "context": 0 <= stored_options["context"] <= MOST_TOKENS,
        "concurrency": 1 <= stored_options["concurrency"] <= MOST_IN_FLIGHT,
        "reading": stored_options["reading"] in ("", *CapacityReadingId),
        "most": stored_options["most"] in MOST_COUNTS,
    }
    return FitMatrixOptions(
        **{name: value if allowed.get(name, True) else getattr(usual, name) for name, value in stored_options.items()}
    )


def store_matrix_options(settings: UserSettings, choices: FitMatrixOptions) -> None:
    for each in fields(FitMatrixOptions):
        settings.put(_SETTING + each.name, getattr(choices, each.name))


_MARGIN: Final = 16.0
#: The height of the captions above the values of the fields.
_CAPTION: Final = 12.0


class MatrixQueryRow(FlowRow):
    """Controls of the query and the counting method. Choices are only emitted."""

    #: The requested options.
    chosen = Signal(object)

    def __init__(self, theme: Theme, formatter: Formatter, parent: QWidget | None = None) -> None:
        super().__init__(theme, 4, (_MARGIN - 8, 0, _MARGIN, 6), parent)
        self._choices = FitMatrixOptions()
        tokens = NumberFormat(1, MOST_TOKENS, 0, formatter.style)
        in_flight = NumberFormat(1, MOST_IN_FLIGHT, 0, formatter.style)
        self.weights = ChoiceField(theme, tr("Weights"), self)
        self.kv = ChoiceField(theme, tr("KV cache"), self)
        self.context = NumberField(theme, tr("Context, tokens"), tokens, self)
        self.concurrency = NumberField(theme, tr("Requests in flight"), in_flight, self)
        self.reading = ChoiceField(theme, tr("Counting method"), self)
        self.order = ChoiceField(theme, tr("Sort models by"), self)
        self.direction = IconButton(theme, "arrow-up", tr("Reverse sort order"))
        self.follow = LinkButton(theme, tr("From the scenario"))
        self.follow.setToolTip(tr("Use formats and lengths of the scenario, with one request in flight"))
        for widget in (self.weights, self.kv, self.context, self.concurrency, self.reading, self.order):
            self.flow.addWidget(widget)
        self._end = QWidget(self)
        make_row(self.direction, self.follow, on=self._end)
        self.flow.addWidget(self._end)
        checks = tr("To check published figures")
        self.reading.set_options(
            [
                ChoiceOption("", tr("Estimator"), notes=(tr("complete memory use, exact to the byte"),)),
                *(ChoiceOption(key.value, label_reading(key), group=checks) for key in CapacityReadingId),
            ]
        )
        for name in ("weights", "kv", "reading"):
            getattr(self, name).chosen.connect(partial(self._change, name))
        for name in ("context", "concurrency"):
            getattr(self, name).edited.connect(partial(self._change, name))
        self.order.chosen.connect(lambda by: self._tell(by=by, descending=False))
        self.direction.clicked.connect(lambda: self._tell(descending=not self._choices.descending))
        self.follow.clicked.connect(lambda: self._tell(weights="", kv="", context=0, concurrency=1))
        theme.follow(self._level)

    def _level(self) -> None:
        """Align a control without a caption with the fields and their values."""
        self._end.setFixedHeight(self._theme.px(HEIGHT))
        layout = self._end.layout()
        if layout is not None:
            layout.setContentsMargins(0, self._theme.px(_CAPTION), 0, 0)

    def show_choices(
        self,
        choices: FitMatrixOptions,
        question: FitQuestion,
        scenario: tuple[Precision, Precision],
        parts: Sequence[FitColumn],
    ) -> None:
        """Show the current options; `scenario` holds its formats, `parts` the accelerators to sort by."""
        self._choices = choices
        own = (tr("From the scenario"), *(label_precision(each) for each in scenario))
        self.weights.set_options([ChoiceOption("", own[0], notes=(own[1],)), *list_precision_options()])
        self.kv.set_options([ChoiceOption("", own[0], notes=(own[2],)), *list_kv_options()])
        self.weights.set_value(choices.weights, label_precision(question.weights))
        self.kv.set_value(choices.kv, label_precision(question.kv))
        self.context.set_value(question.context)
        self.concurrency.set_value(question.concurrency)
        self.reading.set_value(choices.reading)
        self.reading.setToolTip(describe_reading(choices.reading) if choices.reading else "")
        group = tr("Smallest count by accelerator")
        plain = (
            ChoiceOption(BY_PARAMETERS, tr("Parameters")),
            ChoiceOption(BY_NAME, tr("Name")),
            ChoiceOption(BY_MAKER, tr("Organization")),
        )
        ways = [*plain, *(ChoiceOption(each.part.id, each.name, group=group) for each in parts)]
        self.order.set_options(ways)
        is_possible = self._choices.by in {way.key for way in ways}
        self.order.set_value(self._choices.by if is_possible else BY_PARAMETERS)
        self.direction.set_icon("arrow-down" if choices.descending else "arrow-up")
        for field in (self.kv, self.context, self.concurrency):
            # A reading is of the weights alone.
            field.setEnabled(not choices.reading)
        self.follow.setVisible(not choices.follows)
        self.flow.invalidate()
        self.updateGeometry()

    def _change(self, name: str, value: Any) -> None:  # noqa: ANN401 - a key or a number
        self._tell(**{name: value})

    def _tell(self, **fields: Any) -> None:  # noqa: ANN401 - any field of the choices
        self.chosen.emit(replace(self._choices, **fields))


class MatrixFilterRow(FlowRow):
    """Filters of the rows and columns, and the number that match."""

    #: The search words for models and for accelerators.
    words_changed = Signal(str, str)
    #: The maximum count, 0 for any.
    most_changed = Signal(int)
    #: The user leaves the search field.
    left = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, 8, (_MARGIN, 0, _MARGIN, 6), parent)
        self._most = 0
        tip = tr("Show only rows with these words in name or organization")
        self.models = FilterField(theme, tr("Filter models"), tip, framed=True, width=170)
        tip = tr("Show only columns with these words in name or vendor")
        self.parts = FilterField(theme, tr("Filter accelerators"), tip, framed=True, width=186)
        self.most = FilterPill(theme, "", self._fill)
        self.count = ThemedLabel(theme, font="small", color="text3")
        for widget in (self.models, self.parts, self.most, self.count):
            self.flow.addWidget(widget)
        for field in (self.models, self.parts):
            field.changed.connect(lambda: self.words_changed.emit(self.models.text(), self.parts.text()))
            field.left.connect(self.left)
        self.most.cleared.connect(lambda: self.most_changed.emit(0))
        self.show_most(0)
        theme.follow(self._level)

    def _level(self) -> None:
        self.count.setFixedHeight(self._theme.px(28))

    def show_most(self, most: int) -> None:
        self._most = most
        self.most.show_text(_format_most_count(most), on=most > 0)
        self.flow.invalidate()

    def show_count(self, text: str) -> None:
        if text != self.count.text():
            self.count.setText(text)
            self.flow.invalidate()

    def _fill(self, menu: QMenu) -> None:
        for count in (0, *MOST_COUNTS):
            entry = menu.addAction(_format_most_count(count))
            entry.setCheckable(True)
            entry.setChecked(count == self._most)
            entry.triggered.connect(lambda _, chosen=count: self.most_changed.emit(chosen))


def _format_most_count(most: int) -> str:
    return trn("Fits {n}", "Fits {n} or fewer", most, n=most) if most else tr("Any count")
