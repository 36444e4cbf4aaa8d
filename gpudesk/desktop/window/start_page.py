"""The start page, its questions, unsaved work, and the hints for first use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, QRectF, QSize, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractButton, QBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from gpudesk import paths
from gpudesk.desktop.session.document import RecoveredScenario, discard_recovered, list_recovered
from gpudesk.desktop.session.settings import list_recent_files
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import RIGHT, PaintedButton, PaintedWidget, ThemePainter
from gpudesk.desktop.ui.widgets.buttons import Button
from gpudesk.desktop.ui.widgets.layouts import (
    STRETCH,
    FullWidthScrollArea,
    ThemedLabel,
    clear_layout,
    make_column,
    make_row,
)
from gpudesk.desktop.ui.widgets.qt_support import format_key
from gpudesk.files import read_change_time
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.translation import tr

if TYPE_CHECKING:
    from gpudesk.desktop.window.document_window import DocumentWindow


#: The template of the main button.
SAMPLE_TEMPLATE_ID = "70b-chat-on-four"


@frozen_dataclass
class StartQuestion:
    """A template with the question that it answers and a line on its content."""

    template: str
    title: str
    detail: str
    icon: str


def list_start_questions() -> tuple[StartQuestion, ...]:
    """Return the questions; the position in this list, from 1, is the key of each."""
    return (
        StartQuestion(
            "mi325x-or-h200-70b",
            tr("MI325X or H200 for 70B?"),
            tr("Llama 3.1 70B (FP8), 1 accelerator each, 64 requests in flight"),
            "scale",
        ),
        StartQuestion(
            "mi300x-or-h100-70b",
            tr("MI300X or H100?"),
            tr("Llama 3.1 70B (BF16), 4 accelerators each, 32 requests in flight"),
            "cpu",
        ),
        StartQuestion(
            "b200-or-mi355x",
            tr("B200 or MI355X?"),
            tr("gpt-oss-120b (MXFP4), 1 accelerator each, 128 requests in flight"),
            "gauge",
        ),
        StartQuestion(
            "405b-one-node",
            tr("405B on one node?"),
            tr("Llama 3.1 405B (FP8), 8 each of 6 accelerators, 64 requests in flight"),
            "memory-stick",
        ),
    )


_ENTRY, _FILE = 52.0, 34.0
_ICON_X, _TEXT_X, _SIDE = 18, 52, 18
_ENTRY_ICON = 16.0


class _OpeningButton(PaintedButton):
    """A custom painted row that opens with a click, Space or Enter."""

    def __init__(self, theme: Theme, height: float, radius: float) -> None:
        super().__init__(theme)
        self._height = height
        self.setProperty("ringRadius", radius)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.updateGeometry)

    def sizeHint(self) -> QSize:
        return QSize(self._theme.px(200), self._theme.px(self._height))

    def _choose_background(self) -> str:
        if self.isDown():
            return "selection"
        return "hover" if self.underMouse() else "page"


class StartQuestionButton(_OpeningButton):
    """A question in a frame, with the line below it and its key."""

    def __init__(self, theme: Theme, question: StartQuestion, key: str) -> None:
        super().__init__(theme, _ENTRY, 8.0)
        self.question = question
        self._key = key
        self.setAccessibleName(question.title)
        self.setAccessibleDescription(tr("{detail}. Press {key}", detail=question.detail, key=key))

    def paint(self, pen: ThemePainter) -> None:
        theme, rect = self._theme, QRectF(self.rect())
        middle = rect.center().y()
        px = theme.px
        pen.frame(rect, "hair", radius=8.0, fill=self._choose_background())
        side = float(px(_ENTRY_ICON))
        pen.icon(self.question.icon, px(_ICON_X), middle - side / 2, side)
        key_x = rect.right() - px(_SIDE) - pen.tag_width(self._key)
        pen.key_hint(key_x, middle, self._key)
        title, detail = theme.line("body"), theme.line("small")
        top = middle - (title + detail - 1) / 2
        room = key_x - px(12) - px(_TEXT_X)
        pen.text(QRectF(px(_TEXT_X), top, room, title), self.question.title, font="body_strong")
        below = QRectF(px(_TEXT_X), top + title - 1, room, detail)
        pen.text(below, self.question.detail, font="small", color="text2")
        if pen.width(self.question.detail, "small") > room:
            self.setToolTip(self.question.detail)


class RecentFileButton(_OpeningButton):
    """A recently used document, with its folder and the time of its last save."""

    def __init__(self, theme: Theme, path: Path) -> None:
        super().__init__(theme, _FILE, 6.0)
        self._path = path
        self._time = _format_edit_time(read_change_time(path))
        self.setToolTip(str(path))
        self.setAccessibleName(tr("Open {name}", name=path.stem))
        self.setAccessibleDescription(f"{path}, {self._time}")

    def paint(self, pen: ThemePainter) -> None:
        px, rect = self._theme.px, QRectF(self.rect())
        middle = rect.center().y()
        if self._choose_background() != "page":
            pen.tint(rect, self._choose_background(), 6.0)
        side = float(px(_ENTRY_ICON))
        pen.icon("file-text", px(_ICON_X), middle - side / 2, side)
        right = rect.right() - px(_SIDE)
        time = pen.width(self._time, "small")
        quiet = "text3" if self._choose_background() == "page" else "text2"
        pen.text(
            QRectF(right - time - 1, 0, time + 1, rect.height()), self._time, font="small", color=quiet, align=RIGHT
        )
        room = right - time - px(16) - px(_TEXT_X)
        name = QRectF(px(_TEXT_X), 0, room, rect.height())
        used = pen.text(name, self._path.stem, font="body_strong") + px(10)
        if room - used > px(60):
            place = QRectF(px(_TEXT_X) + used, 0, room - used, rect.height())
            pen.text(place, str(self._path.parent), font="small", color=quiet, elide=Qt.TextElideMode.ElideMiddle)


class RecoveredFileNote(PaintedWidget):
    """Offers to open or discard what a crash left."""

    def __init__(self, theme: Theme, recovered: RecoveredScenario) -> None:
        super().__init__(theme)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        name, text = _name_recovered(recovered), _describe_recovered(recovered)
        self.label = ThemedLabel(theme, text, wrap=True)
        self.setAccessibleName(text)
        self.open = Button(theme, tr("Open"), parent=self)
        self.open.setAccessibleName(tr("Open recovered {name}", name=name))
        self.discard = Button(theme, tr("Discard"), parent=self)
        self.discard.setAccessibleName(tr("Discard recovered {name}", name=name))
        around = (_TEXT_X, 10, 12, 10)
        make_row((self.label, 1), self.open, self.discard, gap=8, margins=around, scaled=theme, on=self)

    def paint(self, pen: ThemePainter) -> None:
        pen.tint(QRectF(self.rect()), "sunken", 8.0)
        side = float(self._theme.px(_ENTRY_ICON))
        pen.icon("history", self._theme.px(_ICON_X), (self.height() - side) / 2, side, "text1")


_PAGE_WIDTH = 680.0
_MARGIN = 24
#: Maximum line length, for readability.
_WORDS = 640.0
_BUTTON = 32.0
#: Digits of the numeric keypad count too.
_KEYPAD = Qt.KeyboardModifier.KeypadModifier


class _StartButton(Button):
    """A button of the height used for the two on this page."""

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width(), self._theme.px(_BUTTON))


class StartPage(PaintedWidget):
    """One sentence, one main button, questions to start from, recent files and what a crash left.

    Enter opens the sample unless another control is focused; the digits open the questions.
    """

    def __init__(self, window: DocumentWindow) -> None:
        theme = window.theme
        super().__init__(theme)
        self._window = window
        self.setAccessibleName(tr("Start"))
        self._column = make_column(gap=8, margins=(_MARGIN, _MARGIN, _MARGIN, _MARGIN), scaled=theme)
        self._recovered = QVBoxLayout()
        self._recent = make_column(gap=0)
        self._questions: list[StartQuestionButton] = []
        self._make_head()
        self._column.addWidget(ThemedLabel(self._theme, tr("Or start from a question"), font="section"))
        rows = make_column(gap=8, margins=(0, 2, 0, 10), scaled=theme)
        for position, question in enumerate(list_start_questions(), 1):
            row = StartQuestionButton(self._theme, question, str(position))
            row.clicked.connect(lambda _on, template=question.template: window.open_template(template))
            rows.addWidget(row)
            self._questions.append(row)
        self._column.addLayout(rows)
        self._column.addWidget(ThemedLabel(theme, tr("Recent"), font="section"))
        self._column.addLayout(self._recent)
        self._body = QWidget()
        self._body.setLayout(self._column)
        content = QWidget()
        upright = QVBoxLayout(content)
        upright.addStretch(2)
        level = make_row(STRETCH, (self._body, 1000), STRETCH)
        upright.addLayout(level)
        upright.addStretch(3)
        # The page draws the background.
        self._area = FullWidthScrollArea(parent=self)
        self._area.show_widget(content)
        make_column(self._area, on=self)
        self.set_recent(())
        theme.follow(self._dress)

    def refresh(self) -> None:
        self.set_recent(list_recent_files(self._window.settings))
        self.set_recovered(list_recovered())

    def set_recent(self, files: Sequence[Path]) -> None:
        clear_layout(self._recent)
        for path in files:
            row = RecentFileButton(self._theme, path)
            row.clicked.connect(lambda _on, path=path: self._window.open_path(path))
            self._recent.addWidget(row)
        if not files:
            none = tr("Your saved scenarios appear here.")
            self._recent.addWidget(ThemedLabel(self._theme, none, font="small", color="text2"))
        self._order()

    def set_recovered(self, scenarios: Sequence[RecoveredScenario]) -> None:
        clear_layout(self._recovered)
        for recovered in scenarios:
            note = RecoveredFileNote(self._theme, recovered)
            note.open.clicked.connect(lambda _on, each=recovered: self.open_recovered(each))
            note.discard.clicked.connect(lambda _on, each=recovered: self.discard_recovered(each))
            self._recovered.addWidget(note)
        # Only existing content keeps a distance to the heading.
        margin = self._theme.px(_MARGIN) if scenarios else 0
        self._recovered.setContentsMargins(0, 0, 0, margin)
        self._order()

    def open_recovered(self, recovered: RecoveredScenario) -> None:
        self.set_recovered(list_recovered())
        if _is_left(self._window, recovered):
            self._window.open_recovered(recovered)

    def discard_recovered(self, recovered: RecoveredScenario) -> None:
        if _is_left(self._window, recovered):
            discard_recovered(recovered)
        self.set_recovered(list_recovered())

    def focus_content(self) -> None:
        self.sample.setFocus(Qt.FocusReason.TabFocusReason)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Open the focused item with Enter, else the sample; a question with its digit."""
        focus = self.focusWidget()
        digit = int(event.text()) if event.text().isdecimal() else 0
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            button = focus if isinstance(focus, QAbstractButton) and focus.hasFocus() else self.sample
            button.click()
        elif 1 <= digit <= len(self._questions) and not event.modifiers() & ~_KEYPAD:
            self._questions[digit - 1].click()
        else:
            super().keyPressEvent(event)

    def paint(self, pen: ThemePainter) -> None:
        pen.painter.fillRect(self.rect(), self._theme.color("page"))

    def _order(self) -> None:
        """Set the tab order to the reading order."""
        notes = [note for note in _list_widgets(self._recovered) if isinstance(note, RecoveredFileNote)]
        stops: list[QWidget] = [button for note in notes for button in (note.open, note.discard)]
        stops += [self.sample, self.help, self.empty, *self._questions, *_list_widgets(self._recent)]
        for before, after in pairwise(stops):
            QWidget.setTabOrder(before, after)

    def _make_head(self) -> None:
        theme = self._theme
        self._column.addLayout(self._recovered)
        self._column.addWidget(
            ThemedLabel(theme, tr("Compare accelerators for one workload"), font="figure", wrap=True)
        )
        words = tr(
            "Choose a model and a load above, then add up to six accelerators. Each figure shows its 80% "
            "interval, source and formula. Your data stays on this computer."
        )
        self._words = ThemedLabel(theme, font="present_small", color="text2", wrap=True)
        self._words.setTextFormat(Qt.TextFormat.RichText)
        self._words.setText(f'<p style="line-height: 115%">{escape(words)}</p>')
        self._words.setAccessibleName(words)
        self._column.addWidget(self._words)
        self.sample = _StartButton(
            theme,
            tr("Open sample: 70B chat"),
            lambda: self._window.open_template(SAMPLE_TEMPLATE_ID),
            kind="primary",
            key=format_key("Enter"),
        )
        self.help = _StartButton(theme, tr("Help me choose"), self._choose)
        self.empty = _StartButton(theme, tr("New empty scenario"), self._window.new)
        buttons = (self.sample, self.help, self.empty, STRETCH)
        self._column.addLayout(make_row(*buttons, gap=14, margins=(0, 12, 0, 26), scaled=theme))

    def _choose(self) -> None:
        from gpudesk.desktop.window.action_list import show_chooser

        show_chooser(self._window)

    def _dress(self) -> None:
        px = self._theme.px
        self._body.setMaximumWidth(px(_PAGE_WIDTH) + 2 * px(_MARGIN))
        self._recovered.setSpacing(px(8))
        self._words.setMaximumWidth(px(_WORDS))
        self.update()


def _list_widgets(layout: QBoxLayout) -> list[QWidget]:
    items = (layout.itemAt(position) for position in range(layout.count()))
    widgets = (item.widget() for item in items if item is not None)
    return [widget for widget in widgets if widget is not None]


def offer_recovered(window: DocumentWindow) -> None:
    """Offer above the page what a crash left, the newest first: for a start without the start page."""
    recovered = list_recovered()
    if not recovered:
        return
    newest = recovered[0]

    def open_it() -> None:
        if _is_left(window, newest):
            window.open_recovered(newest)
        offer_recovered(window)

    def discard_it() -> None:
        if _is_left(window, newest):
            discard_recovered(newest)
        offer_recovered(window)

    window.note.offer(_describe_recovered(newest), [(tr("Open"), open_it), (tr("Discard"), discard_it)])


def warn_unsaved_storage(window: DocumentWindow) -> None:
    """Warn at the start if nothing can be saved, as on a write-protected drive."""
    if not paths.can_write_user_dir():
        window.note.show_note(
            tr(
                "Cannot write to {folder}. Your values, settings and unsaved work are lost on exit. Save "
                "your files elsewhere.",
                folder=paths.get_user_dir(),
            )
        )


#: The hints that were closed, or whose move was made.
_SEEN_HINTS: Final = "hints.seen"


def list_hints() -> dict[str, str]:
    """Return the hints by the move that each teaches, in order."""
    return {
        "load": tr("Tip: drag the slider above to change the load. All figures follow."),
        "figure": tr("Tip: select a figure to see its formula and its sources on the right."),
        "print": tr("Tip: press {key} to print the comparison or save it as PDF.", key=format_key("Ctrl+P")),
    }


class FirstHints(QObject):
    """Teaches three moves above the page, one at a time; a hint never returns once closed or its move is made."""

    def __init__(self, window: DocumentWindow) -> None:
        super().__init__(window)
        self._window = window
        self._shown_hint = ""
        self._withdraw: Callable[[], None] = lambda: None
        self._load = window.desk.scenario.workload.load
        window.desk.answered.connect(self.show_next)
        window.desk.selection_changed.connect(self._note_selection)

    @property
    def seen_hints(self) -> list[str]:
        stored: list[str] = self._window.settings.get(_SEEN_HINTS, [])
        return stored

    def show_next(self) -> None:
        """Show the first hint not yet seen, once there are figures; a changed load is the first move."""
        desk = self._window.desk
        if self._shown_hint == "load" and desk.scenario.workload.load != self._load:
            self.finish("load")
        remaining = [name for name in list_hints() if name not in self.seen_hints]
        if self._shown_hint or not remaining or self._window.page is None or desk.answer is None:
            return
        self._shown_hint, self._load = remaining[0], desk.scenario.workload.load
        self._withdraw = self._window.note.offer(
            list_hints()[remaining[0]], [(tr("Hide tips"), self.hide)], lambda: self.finish(remaining[0])
        )

    def finish(self, name: str) -> None:
        """Mark a hint as seen, and show the next one."""
        if name != self._shown_hint:
            return
        self._window.settings.put(_SEEN_HINTS, [*self.seen_hints, name])
        self._shown_hint = ""
        self._withdraw()
        self.show_next()

    def hide(self) -> None:
        self._window.settings.put(_SEEN_HINTS, list(list_hints()))
        self._shown_hint = ""
        self._withdraw()
        self.deleteLater()

    def _note_selection(self) -> None:
        desk = self._window.desk
        if desk.selection is not None and not desk.is_selection_proposed:
            self.finish("figure")


def _is_left(window: DocumentWindow, recovered: RecoveredScenario) -> bool:
    """Whether what a crash left is still there; otherwise reports so in the window."""
    if any(each.file == recovered.file for each in list_recovered()):
        return True
    window.note.show_note(tr("These edits are already open in another window."), fault=False)
    return False


def _name_recovered(recovered: RecoveredScenario) -> str:
    return recovered.document.stem if recovered.document else recovered.scenario.name or tr("Untitled")


def _describe_recovered(recovered: RecoveredScenario) -> str:
    name, time = _name_recovered(recovered), _format_edit_time(recovered.edited)
    return tr("Recovered: {name}, edited {time}", name=name, time=time)


def _format_edit_time(moment: datetime) -> str:
    today = datetime.now().astimezone().date()
    return f"{moment:%H:%M}" if moment.astimezone().date() == today else f"{moment:%Y-%m-%d}"
