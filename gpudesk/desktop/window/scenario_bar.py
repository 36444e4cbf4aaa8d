"""The scenario bar: model, formats, serving engine, lengths and load, with Undo and Redo."""

from __future__ import annotations

from PySide6.QtCore import QObject, QSize
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent, QUndoStack
from PySide6.QtWidgets import QSizePolicy, QWidget

from gpudesk.desktop.session import scenario_edits
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.scenario_options import (
    MOST_TOKENS,
    list_engine_options,
    list_kv_options,
    list_load_options,
    list_model_options,
    list_precision_options,
    make_load_scale,
)
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import ThemePainter
from gpudesk.desktop.ui.widgets.buttons import IconButton
from gpudesk.desktop.ui.widgets.fields import ChoiceField, NumberField
from gpudesk.desktop.ui.widgets.layouts import STRETCH, make_row
from gpudesk.desktop.ui.widgets.load_slider import LoadSlider
from gpudesk.desktop.ui.widgets.number_edit import NumberFormat
from gpudesk.desktop.ui.widgets.qt_support import set_manual_topic
from gpudesk.domain.answer import check_context
from gpudesk.domain.estimate import LoadKind
from gpudesk.domain.model import Model
from gpudesk.domain.precision import Precision
from gpudesk.report.labels import list_model_warnings
from gpudesk.text.messages import InputError, format_message
from gpudesk.text.translation import tr

_UNDO, _REDO = "Ctrl+Z", "Ctrl+Shift+Z"


class UndoButtons(QObject):
    """Keeps two buttons up to date with an undo stack."""

    def __init__(self, theme: Theme, stack: QUndoStack, parent: QObject) -> None:
        super().__init__(parent)
        self._stack = stack
        self._texts: tuple[str, str] | None = None
        self.undo = IconButton(theme, "undo-2", tr("Undo"), stack.undo, key=_UNDO)
        self.redo = IconButton(theme, "redo-2", tr("Redo"), stack.redo, key=_REDO)
        set_manual_topic("scenario#undo", self.undo, self.redo)
        for signal in (stack.canUndoChanged, stack.canRedoChanged, stack.undoTextChanged, stack.redoTextChanged):
            signal.connect(self._show)
        self._show()

    def _show(self) -> None:
        stack = self._stack
        undo, redo = texts = stack.undoText(), stack.redoText()
        self.undo.setEnabled(stack.canUndo())
        self.redo.setEnabled(stack.canRedo())
        if texts == self._texts:
            return
        self._texts = texts
        self.undo.set_name(tr("Undo: {step}", step=undo) if undo else tr("Undo"), _UNDO)
        self.redo.set_name(tr("Redo: {step}", step=redo) if redo else tr("Redo"), _REDO)


_HEIGHT = 48.0
_MARGIN = 10
_LINE = 28.0
_WIDEST_LOAD = 330.0
#: The fields of a scenario shown next to its workload.
_FIELDS = frozenset({"model", "weights", "kv", "serving_engine"})


class ScenarioBar(QWidget):
    """Shows the desk's scenario and sends every change to the desk."""

    manual_topic = "scenario#bar"

    def __init__(self, desk: Desk, theme: Theme) -> None:
        super().__init__()
        self._desk = desk
        self._theme = theme
        self._model_warning = ""
        self.setAccessibleName(tr("Scenario"))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        style = desk.formatter.style
        tokens = NumberFormat(1, MOST_TOKENS, 0, style)
        self.model = ChoiceField(theme, tr("Model"), self, is_underlined=False)
        self.weights = ChoiceField(theme, tr("Weights"), self, is_underlined=False)
        self.kv = ChoiceField(theme, tr("KV cache"), self, is_underlined=False)
        self.engine = ChoiceField(theme, tr("Engine"), self, is_underlined=False)
        self.input_tokens = NumberField(theme, tr("Input tokens"), tokens, self, is_underlined=False)
        self.output_tokens = NumberField(theme, tr("Output tokens"), tokens, self, is_underlined=False)
        limit = NumberFormat(0.1, 1e9, 1, style)
        self.ttft = NumberField(theme, tr("TTFT limit, ms"), limit, self, is_underlined=False)
        self.load = LoadSlider(theme, self)
        # The slider gets the remaining width, down to its minimum, before any field is cut.
        self.load.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        set_manual_topic("scenario#load", self.input_tokens, self.output_tokens, self.ttft, self.load)
        self._kind: LoadKind | None = None
        self._ends: list[QWidget] = []
        self._fields: tuple[QWidget, ...] = (
            self.model,
            self.weights,
            self.kv,
            self.engine,
            self.input_tokens,
            self.output_tokens,
            self.ttft,
        )
        around = (_MARGIN, 0, _MARGIN, 0)
        self._row = make_row(*self._fields, 6, (self.load, 100), STRETCH, gap=9, margins=around, scaled=theme, on=self)
        service = self._desk.service
        self.model.set_provider(lambda: list_model_options(service))
        self.weights.set_options(list_precision_options())
        self.kv.set_options(list_kv_options())
        self.engine.set_options(list_engine_options(service))
        self._connect()
        desk.scenario_changed.connect(self._changed)
        desk.answered.connect(self._show_faults)
        theme.follow(self._dress)
        self._show()

    def add_at_end(self, widget: QWidget) -> None:
        """Place a widget at the right end; it shrinks if the fields need all the width."""
        self._row.addWidget(widget)
        self._ends.append(widget)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        visible_fields = [field for field in self._fields if not field.isHidden()]
        fields = sum(field.minimumSizeHint().width() for field in visible_fields) + self.load.minimumWidth()
        ends = sum(widget.sizeHint().width() for widget in self._ends)
        gaps = self._row.spacing() * (len(visible_fields) + len(self._ends) + 2) + 2 * self._theme.px(_MARGIN)
        for widget in self._ends:
            widget.setVisible(fields + ends + gaps <= self.width())

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width(), self._theme.px(_HEIGHT))

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            pen = ThemePainter(painter, self._theme)
            painter.fillRect(self.rect(), self._theme.color("chrome"))
            half, area = self._theme.px(_LINE) / 2, event.rect()
            for field in self._fields:
                x = field.geometry().right() + self._row.spacing() / 2 + 1
                # Only the slider is repainted while it is dragged.
                if field.isVisible() and area.left() - 1 <= x <= area.right() + 1:
                    pen.hairline(x, self.height() / 2 - half, x, self.height() / 2 + half)
            pen.hairline(0, self.height() - 1, self.width(), self.height() - 1)

    # Display

    def _changed(self, changed: frozenset[str]) -> None:
        # Called at each step of a load drag.
        if changed & _FIELDS:
            self._show()
        elif "workload" in changed:
            self._show_workload()

    def _show(self) -> None:
        scenario = self._desk.scenario
        self.model.set_value(scenario.model, self._model_name())
        model = self._model()
        warnings = () if model is None else list_model_warnings(model, self._desk.formatter)
        self._model_warning = ". ".join(warnings)
        self.weights.set_value(scenario.weights.value)
        self.kv.set_value(scenario.kv.value)
        self.engine.set_value(scenario.serving_engine or "")
        self._show_workload()

    def _show_workload(self) -> None:
        work = self._desk.scenario.workload
        self.input_tokens.set_value(work.input_tokens)
        self.output_tokens.set_value(work.output_tokens)
        self.ttft.setVisible(work.load.kind is LoadKind.LIMITS)
        if work.load.ttft_ms is not None:
            self.ttft.set_value(work.load.ttft_ms)
        if work.load.kind is not self._kind:
            self._kind = work.load.kind
            scale = make_load_scale(work.load.kind, self._desk.formatter.style)
            self.load.set_kinds(list_load_options(), work.load.kind.value)
            self.load.set_scale(scale.steps, scale.number_format)
        self.load.set_value(scenario_edits.read_load_value(work.load))
        # Show at the input field that the prompt exceeds the model context; until corrected, there are no results.
        model = self._model()
        fault = ""
        if model is not None:
            try:
                check_context(self._desk.scenario, model)
            except InputError as error:
                problem = format_message(error.problem, self._desk.formatter)
                fault = tr("{problem}. Your value is kept without results", problem=problem)
        self.input_tokens.set_fault(fault)

    def _model_name(self) -> str:
        model = self._model()
        return model.name if model else self._desk.scenario.model or tr("Choose a model")

    def _model(self) -> Model | None:
        """Return the scenario's model, None for a missing or unknown one."""
        try:
            return self._desk.service.catalog.model(self._desk.scenario.model)
        except InputError:
            return None

    def _show_faults(self) -> None:
        problem = self._desk.problem
        where = "" if problem is None else problem.where or ""
        problem_text = "" if problem is None else format_message(problem.problem, self._desk.formatter)
        self.model.set_fault(problem_text if where == "scenario.model" else self._model_warning)

    # Edits

    def _connect(self) -> None:
        desk = self._desk
        self.model.chosen.connect(lambda key: desk.edit(tr("Change model"), model=key))
        self.weights.chosen.connect(lambda key: desk.edit(tr("Change weight precision"), weights=Precision(key)))
        self.kv.chosen.connect(lambda key: desk.edit(tr("Change KV cache precision"), kv=Precision(key)))
        self.engine.chosen.connect(lambda key: desk.edit(tr("Change serving engine"), serving_engine=key or None))
        self.input_tokens.edited.connect(lambda n: self._workload(tr("Change input tokens"), input_tokens=int(n)))
        self.output_tokens.edited.connect(lambda n: self._workload(tr("Change output tokens"), output_tokens=int(n)))
        self.ttft.edited.connect(self._ttft_edited)
        desk.catalog_changed.connect(self._show)
        self.load.kind_chosen.connect(self._kind_chosen)
        self.load.moved.connect(self._moved)
        self.load.gesture_began.connect(lambda: desk.begin_gesture("load"))
        self.load.gesture_ended.connect(desk.end_gesture)

    def _workload(self, text: str, **fields: int) -> None:
        self._desk.apply(scenario_edits.replace_workload(self._desk.scenario, **fields), text)

    def _ttft_edited(self, value: float) -> None:
        edited = scenario_edits.replace_load_value(self._desk.scenario, float(value), "ttft_ms")
        self._desk.apply(edited, tr("Change TTFT limit"))

    def _kind_chosen(self, key: str) -> None:
        self._desk.apply(scenario_edits.replace_load_kind(self._desk.scenario, LoadKind(key)), tr("Change load type"))

    def _moved(self, value: float) -> None:
        kind = self._desk.scenario.workload.load.kind
        whole = kind not in (LoadKind.REQUEST_RATE, LoadKind.LIMITS)
        edited = scenario_edits.replace_load_value(self._desk.scenario, int(value) if whole else float(value))
        self._desk.apply(edited, tr("Change load"))

    def _dress(self) -> None:
        px = self._theme.px
        self.load.setMaximumWidth(px(_WIDEST_LOAD))
        self.setFixedHeight(px(_HEIGHT))
        self.update()
