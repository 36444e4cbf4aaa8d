"""The controls of the view of all models: what is asked in one line, what is shown in another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QSizePolicy, QWidget

from gpudesk.desktop.itemmodels.fit_arrangement import BY_MAKER, BY_NAME, BY_PARAMETERS, FitColumn
from gpudesk.desktop.pages.memory.matrix_choices import (
    MOST_COUNTS,
    MOST_IN_FLIGHT,
    MatrixChoices,
)
from gpudesk.desktop.shell.choices import MOST_TOKENS, kv_options, precision_options
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.buttons import IconButton, LinkButton
from gpudesk.desktop.widgets.field import HEIGHT, ChoiceField, NumberField
from gpudesk.desktop.widgets.filter_field import FilterField
from gpudesk.desktop.widgets.flow import FlowLayout
from gpudesk.desktop.widgets.label import Label
from gpudesk.desktop.widgets.numbers import NumberFormat
from gpudesk.desktop.widgets.options import Option
from gpudesk.desktop.widgets.pill import Pill
from gpudesk.domain.fit_matrix import FitQuestion, ReadingId
from gpudesk.domain.formatting import Formatter
from gpudesk.domain.precision import Precision
from gpudesk.sheets.fit_words import reading_name, reading_note
from gpudesk.sheets.labels import precision_name
from gpudesk.text import tr, trn

_MARGIN: Final = 16.0
#: The height of the captions above the values of the fields.
_CAPTION: Final = 12.0


class FlowRow(QWidget):
    """Widgets in a line, which goes on below where there is no room."""

    def __init__(self, theme: Theme, gap: int, left: float, parent: QWidget | None = None) -> None:
        """Begin empty; `left` is the margin of the design left of the first widget."""
        super().__init__(parent)
        self._theme, self._left = theme, left
        self.flow = FlowLayout(gap, self)
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        theme.follow(self._dress)

    def _dress(self) -> None:
        px = self._theme.px
        self.flow.setContentsMargins(px(self._left), 0, px(_MARGIN), px(6))
        self.updateGeometry()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Leave the width to the page."""
        return QSize(200, self.flow.heightForWidth(max(self.width(), 200)))

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Ask for the lines that the widgets take at this width."""
        super().resizeEvent(event)
        if self.height() != self.sizeHint().height():
            self.updateGeometry()


class QuestionRow(FlowRow):
    """What every cell is asked, and how it is counted. What is chosen is told, not kept."""

    #: The choices that the user asks for.
    chosen = Signal(object)

    def __init__(self, theme: Theme, formatter: Formatter, parent: QWidget | None = None) -> None:
        """Make the fields."""
        super().__init__(theme, 4, _MARGIN - 8, parent)
        self._choices = MatrixChoices()
        tokens = NumberFormat(1, MOST_TOKENS, 0, formatter.style)
        in_flight = NumberFormat(1, MOST_IN_FLIGHT, 0, formatter.style)
        self.weights = ChoiceField(theme, tr("Weights"), self)
        self.kv = ChoiceField(theme, tr("KV cache"), self)
        self.context = NumberField(theme, tr("Context, tokens"), tokens, self)
        self.concurrency = NumberField(theme, tr("In flight"), in_flight, self)
        self.reading = ChoiceField(theme, tr("Counted by"), self)
        self.order = ChoiceField(theme, tr("Order of the models"), self)
        self.direction = IconButton(theme, "arrow-up", tr("Turn the order round"))
        self.follow = LinkButton(theme, tr("As in the scenario"))
        self.follow.setToolTip(tr("Take formats and lengths from the scenario, one sequence in flight"))
        for widget in (self.weights, self.kv, self.context, self.concurrency, self.reading, self.order):
            self.flow.addWidget(widget)
        self._end = QWidget(self)
        end = QHBoxLayout(self._end)
        end.setContentsMargins(0, 0, 0, 0)
        for control in (self.direction, self.follow):
            end.addWidget(control)
        self.flow.addWidget(self._end)
        self._offer_readings()
        self._connect()
        theme.follow(self._level)

    def _offer_readings(self) -> None:
        checks = tr("For checking printed figures")
        self.reading.set_options(
            [
                Option("", tr("Estimator"), notes=(tr("all of the memory, to the byte"),)),
                *(Option(key.value, reading_name(key), group=checks) for key in ReadingId),
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
        choices: MatrixChoices,
        question: FitQuestion,
        scenario: tuple[Precision, Precision],
        parts: Sequence[FitColumn],
    ) -> None:
        """Show what is in force; `scenario` are its formats, `parts` what rows can be ordered by."""
        self._choices = choices
        own = (tr("As in the scenario"), *(precision_name(each) for each in scenario))
        self.weights.set_options([Option("", own[0], notes=(own[1],)), *precision_options()])
        self.kv.set_options([Option("", own[0], notes=(own[2],)), *kv_options()])
        self.weights.set_value(choices.weights, precision_name(question.weights))
        self.kv.set_value(choices.kv, precision_name(question.kv))
        self.context.set_value(question.context)
        self.concurrency.set_value(question.concurrency)
        self.reading.set_value(choices.reading)
        self.reading.setToolTip(reading_note(choices.reading) if choices.reading else "")
        self._offer_orders(parts)
        self.direction.set_icon("arrow-down" if choices.descending else "arrow-up")
        for field in (self.kv, self.context, self.concurrency):
            # A reading is of the weights alone.
            field.setEnabled(not choices.reading)
        self.follow.setVisible(not choices.follows)
        self.flow.invalidate()
        self.updateGeometry()

    def _offer_orders(self, parts: Sequence[FitColumn]) -> None:
        group = tr("Fewest of an accelerator")
        plain = (
            Option(BY_PARAMETERS, tr("Parameters")),
            Option(BY_NAME, tr("Name")),
            Option(BY_MAKER, tr("Organisation")),
        )
        ways = [*plain, *(Option(each.part.id, each.name, group=group) for each in parts)]
        self.order.set_options(ways)
        known = self._choices.by in {way.key for way in ways}
        self.order.set_value(self._choices.by if known else BY_PARAMETERS)

    def _change(self, name: str, value: Any) -> None:  # noqa: ANN401 - a key or a number
        self._tell(**{name: value})

    def _tell(self, **fields: Any) -> None:  # noqa: ANN401 - any field of the choices
        self.chosen.emit(replace(self._choices, **fields))


class NarrowRow(FlowRow):
    """What narrows the rows and columns, and how many are left."""

    #: The words for models and for accelerators.
    words_changed = Signal(str, str)
    #: The count that is asked for at the most, 0 for any.
    most_changed = Signal(int)
    #: The user is done with the words.
    left = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        """Narrow nothing."""
        super().__init__(theme, 8, _MARGIN, parent)
        self._most = 0
        tip = tr("Show only rows that have these words: name, organisation")
        self.models = FilterField(theme, tr("Filter models"), tip, framed=True, width=170)
        tip = tr("Show only columns that have these words: name, vendor")
        self.parts = FilterField(theme, tr("Filter accelerators"), tip, framed=True, width=170)
        self.most = Pill(theme, "", self._fill)
        self.count = Label(theme, font="small", colour="text3")
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
        """Say which count is asked for at the most."""
        self._most = most
        self.most.show_text(_most_text(most), on=most > 0)
        self.flow.invalidate()

    def show_count(self, text: str) -> None:
        """Say how much is shown."""
        if text != self.count.text():
            self.count.setText(text)
            self.flow.invalidate()

    def _tell_words(self) -> None:
        self.words_changed.emit(self.models.text(), self.parts.text())

    def _fill(self, menu: QMenu) -> None:
        for count in (0, *MOST_COUNTS):
            entry = menu.addAction(_most_text(count))
            entry.setCheckable(True)
            entry.setChecked(count == self._most)
            entry.triggered.connect(lambda _, chosen=count: self.most_changed.emit(chosen))


def _most_text(most: int) -> str:
    return trn("Fits {n}", "Fits {n} or fewer", most, n=most) if most else tr("Any count")
