"""What saving would do to the open scenario, told while one types."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QGridLayout, QWidget

from gpudesk.desktop.pages.catalog.editors.rows import LABEL, FieldFault
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.jobs import Jobs
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.label import Label
from gpudesk.domain.messages import InputError
from gpudesk.domain.own_facts import Edit
from gpudesk.domain.progress import Progress, Steps
from gpudesk.sheets.impact_words import impact_words
from gpudesk.text import tr

if TYPE_CHECKING:
    from gpudesk.domain.scenarios import Scenario
    from gpudesk.workbench.impact import Impact
    from gpudesk.workbench.workbench import Workbench

#: The typing rests for so long before an answer is made.
_WAIT_MS = 150
#: Lines of detail below the sentence.
_MOST_LINES = 2


class ImpactPreview(QWidget):
    """One sentence and a little more. The answer is made beside the window; an old one stays, paler."""

    def __init__(self, desk: Desk, theme: Theme, trial: Callable[[], Edit | None]) -> None:
        """Ask `trial` for the step that would be taken; it may raise `FieldFault` or `InputError`."""
        super().__init__()
        self._desk = desk
        self._trial = trial
        self._jobs = Jobs(desk.formatter, self)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_WAIT_MS)
        self._timer.timeout.connect(self._ask)
        caption = Label(theme, tr("Open scenario"))
        caption.setFixedWidth(theme.px(LABEL))
        self.words = Label(theme, font="body_strong", wrap=True)
        self.detail = Label(theme, font="small", colour="text2", wrap=True)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(theme.px(10))
        grid.setVerticalSpacing(0)
        grid.setColumnStretch(1, 1)
        grid.addWidget(caption, 0, 0, Qt.AlignmentFlag.AlignTop)
        grid.addWidget(self.words, 0, 1)
        grid.addWidget(self.detail, 1, 1)
        self.setVisible(desk.answer is not None)
        self._say(tr("Result as it is now"), (), pale=True)

    def ask_soon(self) -> None:
        """Answer when the typing rests."""
        if self._desk.answer is not None:
            self.words.set_colour("text3")
            self._timer.start()

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802 - Qt's name
        """Leave nothing running behind a form that closes."""
        super().hideEvent(event)
        self._timer.stop()
        self._jobs.stop()

    def _ask(self) -> None:
        try:
            step = self._trial()
        except (FieldFault, InputError):
            step = None
        if step is None:
            self._say(tr("Result as it is now"), (), pale=True)
            return
        work = _steps(self._desk.workbench, self._desk.scenario, step)
        self._jobs.start("impact", work, self._show, self._failed)

    def _show(self, impact: Impact) -> None:
        told = impact_words(impact, self._desk.formatter)
        self._say(told.sentence, told.lines[:_MOST_LINES], pale=False)

    def _failed(self, error: InputError) -> None:  # noqa: ARG002 - the form itself says what is wrong
        self._say(tr("It could not be answered with this"), (), pale=False)

    def _say(self, sentence: str, lines: tuple[str, ...], *, pale: bool) -> None:
        self.words.setText(sentence)
        self.words.set_colour("text3" if pale else "text1")
        self.detail.setText(" · ".join(lines))
        self.detail.setVisible(bool(lines))
        self.setAccessibleName(tr("Open scenario: {words}", words=". ".join((sentence, *lines))))


def _steps(workbench: Workbench, scenario: Scenario, step: Edit) -> Steps[Impact]:
    """Return the work of one answer."""
    from gpudesk.workbench.impact import impact_of

    yield from _no_progress()
    return impact_of(workbench, scenario, step)


def _no_progress() -> Steps[None]:
    """It is over before anybody asks how far it is."""
    nothing: tuple[Progress, ...] = ()
    yield from nothing
