"""The options of the fit matrix and the controls that set them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QMenu, QWidget

from gpudesk.desktop.pages.memory.fit_model import BY_MAKER, BY_NAME, BY_PARAMETERS, FitColumn
from gpudesk.desktop.session.scenario_options import MOST_TOKENS, list_kv_options, list_precision_options
from gpudesk.desktop.session.settings import UserSettings
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.buttons import IconButton, LinkButton
from gpudesk.desktop.ui.widgets.choice_popup import ChoiceOption
from gpudesk.desktop.ui.widgets.fields import HEIGHT, ChoiceField, NumberField
from gpudesk.desktop.ui.widgets.filters import FilterField, FilterPill
from gpudesk.desktop.ui.widgets.labels import ThemedLabel
from gpudesk.desktop.ui.widgets.layouts import FlowRow, make_row
from gpudesk.desktop.ui.widgets.number_edit import NumberFormat
from gpudesk.domain.precision import KV_BYTES, Precision
from gpudesk.domain.scenario import Scenario
from gpudesk.domain.sizing import CapacityReadingId, FitQuestion
from gpudesk.report.labels import label_precision
from gpudesk.report.sizing import describe_reading, label_reading
from gpudesk.text.formatting import Formatter
from gpudesk.text.translation import tr, trn

#: The most sequences in flight that can be asked for.
MOST_IN_FLIGHT: Final = 1_000_000
#: Counts that rows and columns can be narrowed to.
MOST_COUNTS: Final = (1, 2, 4, 8, 16, 32)
_SETTING: Final = "memory.matrix."


@dataclass(frozen=True, slots=True)
class FitMatrixOptions:
    """Empty formats and a `context` of 0 follow the scenario; an empty `reading` is the estimator.

    `most` is 0 where nothing is narrowed; `by` and `descending` are as in `FitOrder`.
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
    """Controls of the query and the counting method. Choices are emitted, not stored."""

    #: The choices that the user asks for.
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
        self._offer_readings()
        self._connect()
        theme.follow(self._level)

    def _offer_readings(self) -> None:
        checks = tr("To check published figures")
        self.reading.set_options(
            [
                ChoiceOption("", tr("Estimator"), notes=(tr("complete memory use, exact to the byte"),)),
                *(ChoiceOption(key.value, label_reading(key), group=checks) for key in CapacityReadingId),
            ]
        )

    def _connect(self) -> None:
        for name in ("weights", "kv", "reading"):
            getattr(self, name).chosen.connect(partial(self._change, name))
        for name in ("context", "concurrency"):
            getattr(self, name).edited.connect(partial(self._change, name))
        self.order.chosen.connect(lambda by: self._tell(by=by, descending=False))
        self.direction.clicked.connect(lambda: self._tell(descending=not self._choices.descending))
        self.follow.clicked.connect(lambda: self._tell(weights="", kv="", context=0, concurrency=1))

    def _level(self) -> None:
        """Make what has no caption as high as the fields, and level with their values."""
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
        self._offer_orders(parts)
        self.direction.set_icon("arrow-down" if choices.descending else "arrow-up")
        for field in (self.kv, self.context, self.concurrency):
            # A reading is of the weights alone.
            field.setEnabled(not choices.reading)
        self.follow.setVisible(not choices.follows)
        self.flow.invalidate()
        self.updateGeometry()

    def _offer_orders(self, parts: Sequence[FitColumn]) -> None:
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

    def _change(self, name: str, value: Any) -> None:  # noqa: ANN401 - a key or a number
        self._tell(**{name: value})

    def _tell(self, **fields: Any) -> None:  # noqa: ANN401 - any field of the choices
        self.chosen.emit(replace(self._choices, **fields))


class MatrixFilterRow(FlowRow):
    """What narrows the rows and columns, and how many are left."""

    #: The words for models and for accelerators.
    words_changed = Signal(str, str)
    #: The count that is asked for at the most, 0 for any.
    most_changed = Signal(int)
    #: The user is done with the words.
    left = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, 8, (_MARGIN, 0, _MARGIN, 6), parent)
        self._most = 0
        tip = tr("Show only rows with these words in name or organization")
        self.models = FilterField(theme, tr("Filter models"), tip, framed=True, width=170)
        tip = tr("Show only columns with these words in name or vendor")
        self.parts = FilterField(theme, tr("Filter accelerators"), tip, framed=True, width=170)
        self.most = FilterPill(theme, "", self._fill)
        self.count = ThemedLabel(theme, font="small", colour="text3")
        for widget in (self.models, self.parts, self.most, self.count):
            self.flow.addWidget(widget)
        for field in (self.models, self.parts):
            field.changed.connect(self._tell_words)
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

    def _tell_words(self) -> None:
        self.words_changed.emit(self.models.text(), self.parts.text())

    def _fill(self, menu: QMenu) -> None:
        for count in (0, *MOST_COUNTS):
            entry = menu.addAction(_format_most_count(count))
            entry.setCheckable(True)
            entry.setChecked(count == self._most)
            entry.triggered.connect(lambda _, chosen=count: self.most_changed.emit(chosen))


def _format_most_count(most: int) -> str:
    return trn("Fits {n}", "Fits {n} or fewer", most, n=most) if most else tr("Any count")
