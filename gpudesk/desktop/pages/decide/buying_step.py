"""One step of a purchase: whether it applies, what to ask, its figures, and ticks with notes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QVBoxLayout, QWidget

from gpudesk.desktop.pages.decide.note_edit import NoteEdit
from gpudesk.desktop.pages.decide.result_parts import Said, SaidList
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.buttons import LinkButton
from gpudesk.desktop.widgets.flow import FlowLayout
from gpudesk.desktop.widgets.label import Label
from gpudesk.domain.formatting import Formatter
from gpudesk.domain.procurement import ProcurementStep, StepFigure, StepLine
from gpudesk.sheets.beside_lines import step_remarks
from gpudesk.sheets.procurement_words import figure_text, summary_text
from gpudesk.sheets.support_words import document_label
from gpudesk.text import tr

LONGEST_NOTE: Final = 2_000
#: Where the words of a step begin, beside its tick.
_IN: Final = 22.0
_NOTE: Final = 300.0
_STATES: Final = {True: "best_text", False: "text3", None: "disputed_text"}


class Tick(QWidget):
    """What can be ticked, with a note that can be written once it is."""

    #: The id, and the note of what is done, None for what is not.
    changed = Signal(str, object)

    def __init__(
        self, theme: Theme, key: str, text: str, parent: QWidget | None = None, *, font: str = "small"
    ) -> None:
        """Be open yet."""
        super().__init__(parent)
        self.key = key
        self._theme, self._font = theme, font
        self.note = NoteEdit(
            theme, tr("Note on: {what}", what=text), LONGEST_NOTE, empty=tr("Add a note"), parent=self
        )
        self.note.edited.connect(lambda words: self.changed.emit(key, words))
        self.box = QCheckBox(text, self)
        self.box.setAccessibleName(text)
        self.box.clicked.connect(lambda on: self.changed.emit(key, self.note.words if on else None))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.px(12))
        row.addWidget(self.box)
        row.addStretch(1)
        row.addWidget(self.note)
        theme.follow(self._dress)

    def show_state(self, note: str, *, done: bool) -> None:
        """Show whether it is done, with the note on it."""
        self.box.setChecked(done)
        self.note.show_words(note)
        self.note.setVisible(done)

    def _dress(self) -> None:
        self.box.setFont(self._theme.font(self._font))
        self.note.setFixedWidth(self._theme.px(_NOTE))
        self.setMinimumHeight(self._theme.px(28))


class StepBlock(QWidget):
    """A step with its points; the words stand under the title."""

    #: The id of the step or of a point, and the note of what is done, None for what is not.
    ticked = Signal(str, object)
    #: The id of a statement or of a dispute, and whether it is a dispute.
    evidence_wanted = Signal(str, bool)

    def __init__(
        self, theme: Theme, step: ProcurementStep, formatter: Formatter, parent: QWidget | None = None
    ) -> None:
        """Make what does not change: what to ask, figures, points, what it rests on."""
        super().__init__(parent)
        self.step = step
        self._theme, self._formatter = theme, formatter
        self.setAccessibleName(step.title)
        self.title = Tick(theme, step.id, step.title, self, font="option")
        self.state = Label(theme, font="small_strong", parent=self)
        self.remarks = Label(theme, font="small", colour="text2", wrap=True, parent=self)
        self.ask = Label(theme, step.ask, wrap=True, parent=self)
        self.why = Label(theme, step.why, font="small", colour="text2", wrap=True, parent=self)
        for label in (self.ask, self.why, self.remarks):
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.figures = SaidList(theme, tr("Figures"), self)
        self.figures.show_lines([_figure(each, formatter) for each in step.figures])
        self.points = [Tick(theme, each.id, each.text, self) for each in step.points]
        for tick in (self.title, *self.points):
            tick.changed.connect(self.ticked)
        self._lay_out()

    def _lay_out(self) -> None:
        theme = self._theme
        self._words = QVBoxLayout()
        self._words.setSpacing(theme.px(5))
        for widget in (self.state, self.remarks, self.ask, self.why, self.figures):
            self._words.addWidget(widget)
        points = QVBoxLayout()
        points.setSpacing(0)
        for point in self.points:
            points.addWidget(point)
        self._words.addLayout(points)
        self._words.addLayout(self._evidence())
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, theme.px(6), 0, theme.px(6))
        whole.setSpacing(theme.px(2))
        whole.addWidget(self.title)
        whole.addLayout(self._words)
        theme.follow(self._dress)

    def _evidence(self) -> FlowLayout:
        """Return where the step comes from, and links to what it rests on and is disputed in."""
        flow = FlowLayout(self._theme.px(10))
        source = tr("{document}, {date}", document=document_label(self.step.source), date=self.step.dated)
        flow.addWidget(Label(self._theme, source, font="small", colour="text3", parent=self))
        for key, disputed in _evidence(self.step):
            link = LinkButton(self._theme, key, parent=self)
            name = tr("Show dispute {id}", id=key) if disputed else tr("Show statement {id}", id=key)
            link.setAccessibleName(name)
            link.setToolTip(name)
            link.clicked.connect(lambda _=False, k=key, d=disputed: self.evidence_wanted.emit(k, d))
            flow.addWidget(link)
        return flow

    def show_line(self, line: StepLine) -> None:
        """Show whether the step applies, and what of it is done."""
        self.state.setText(summary_text(line, self._formatter))
        self.state.set_colour(_STATES[line.applies])
        remarks = "\n".join(step_remarks(line, self._formatter))
        self.remarks.setText(remarks)
        self.remarks.setVisible(bool(remarks))
        self.title.show_state(line.note, done=line.done)
        for tick, point in zip(self.points, line.points, strict=True):
            tick.show_state(point.note, done=point.done)

    def _dress(self) -> None:
        self._words.setContentsMargins(self._theme.px(_IN), 0, 0, 0)


def _figure(figure: StepFigure, formatter: Formatter) -> Said:
    """Return a figure behind its mark: disputed, told by unnamed persons, or stated."""
    text = figure_text(figure, formatter)
    if figure.disputes:
        return Said("disputed", "disputed", text)
    return Said("circle-help", "disputed_text", text) if figure.anecdotal else Said("dot", "text3", text)


def _evidence(step: ProcurementStep) -> Iterator[tuple[str, bool]]:
    """Yield the ids of statements, then of disputes, of a step and its figures, each once."""
    for disputed, name in ((False, "statements"), (True, "disputes")):
        ids = (getattr(each, name) for each in (step, *step.figures))
        yield from ((key, disputed) for key in dict.fromkeys(each for group in ids for each in group))
