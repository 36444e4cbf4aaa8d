"""The command palette: its box, its rows, and its keyboard control."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import (
    QEasingCurve,
    QEvent,
    QModelIndex,
    QObject,
    QPoint,
    QPropertyAnimation,
    QRect,
    QRectF,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QFontMetricsF,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QFrame, QLineEdit, QListView, QStyle, QWidget
from shiboken6 import isValid

from gpudesk.desktop.session.actions import ActionSpec
from gpudesk.desktop.session.scenario_options import list_accelerator_options, list_model_options
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import RIGHT, ThemePainter
from gpudesk.desktop.ui.widgets.choice_popup import (
    PAGE_KEYS,
    ROW_ROLE,
    STEP_KEYS,
    GroupedListDelegate,
    GroupedListModel,
    paint_matches,
    set_up_list,
)
from gpudesk.desktop.ui.widgets.layouts import ThemedLabel
from gpudesk.desktop.ui.widgets.qt_support import format_key
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.translation import tr

if TYPE_CHECKING:
    from gpudesk.desktop.window.document_window import DocumentWindow


#: Scores of a word by its position: at the start, at the start of a word, inside one, in pieces that start words or
#: follow on, in order with gaps, in the text next to the title.
_BEGINNING, _WORD, _INSIDE, _PIECES, _GAPS, _BESIDE = 100.0, 80.0, 50.0, 40.0, 20.0, 10.0
#: Shorter words would be found with gaps in almost anything.
_LEAST_WITH_GAPS = 4


@frozen_dataclass
class PaletteEntry:
    """An entry to find and run.

    `detail` is at the right, followed by `shortcut` as displayed. `words` are hidden search words.
    """

    group: str
    title: str
    detail: str
    icon: str
    shortcut: str
    run: Callable[[], object]
    enabled: bool = True
    words: str = ""

    @property
    def spoken(self) -> str:
        state = "" if self.enabled else tr("not available now")
        return ", ".join(part for part in (self.title, self.detail, self.shortcut, state) if part)


@frozen_dataclass
class PaletteMatch:
    """An entry with the positions in its title that match the search text, in rising order."""

    entry: PaletteEntry
    matched: tuple[int, ...] = ()


class _PreparedEntry:
    """An entry prepared once for matching."""

    __slots__ = ("details", "entry", "starts", "title")

    def __init__(self, entry: PaletteEntry) -> None:
        self.entry = entry
        self.title = _fold_case(entry.title)
        self.details = f" {_fold_case(f'{entry.detail} {entry.words} {entry.group}')}"
        self.starts = frozenset(
            place
            for place, character in enumerate(self.title)
            if character.isalnum() and (place == 0 or not self.title[place - 1].isalnum())
        )


def _fold_case(text: str) -> str:
    """Return a text without case, with unchanged character positions."""
    folded = text.casefold()
    return folded if len(folded) == len(text) else "".join(c.casefold()[:1] or c for c in text)


def _match(words: Sequence[str], prepared: _PreparedEntry) -> tuple[float, tuple[int, ...]] | None:
    """Return how well an entry matches all words, and where in its title; None if it does not."""
    total = 0.0
    places: set[int] = set()
    for word in words:
        match = _place(word, prepared)
        if match is None:
            return None
        total += match[0]
        places.update(match[1])
    return total - len(prepared.title) / 100, tuple(sorted(places))


def _place(word: str, prepared: _PreparedEntry) -> tuple[float, Sequence[int]] | None:
    title, starts = prepared.title, prepared.starts
    at = title.find(word)
    if at >= 0:
        whole = at
        while whole >= 0 and whole not in starts:
            whole = title.find(word, whole + 1)
        if whole >= 0:
            return (_BEGINNING if whole == 0 else _WORD), range(whole, whole + len(word))
        return _INSIDE, range(at, at + len(word))
    pieces = _match_word_starts(word, prepared)
    if pieces is not None:
        return _PIECES, pieces
    if f" {word}" in prepared.details:
        return _BESIDE, ()
    gaps = _match_with_gaps(word, title) if len(word) >= _LEAST_WITH_GAPS else None
    return None if gaps is None else (_GAPS, gaps)


def _match_word_starts(word: str, prepared: _PreparedEntry) -> list[int] | None:
    """Find a word's characters in order, each right after the one before or at the start of a word."""
    title, starts = prepared.title, sorted(prepared.starts)
    places: list[int] = []
    for character in word:
        following = places[-1] + 1 if places else -1
        if places and following < len(title) and title[following] == character:
            places.append(following)
            continue
        at = next((start for start in starts if start >= following and title[start] == character), None)
        if at is None:
            return None
        places.append(at)
    return places


def _match_with_gaps(word: str, title: str) -> list[int] | None:
    """Find a word's characters in order, with gaps of less than half of the letters."""
    places: list[int] = []
    at = -1
    for character in word:
        at = title.find(character, at + 1)
        if at < 0:
            return None
        places.append(at)
    return places if places[-1] - places[0] < 2 * len(word) else None


class PaletteModel(GroupedListModel):
    """The entries found, in groups ordered by their best entries."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._prepared: list[_PreparedEntry] = []
        self._groups: list[str] = []
        self._text = ""
        #: The searched group, empty for all.
        self.group = ""
        self.match_count = 0

    @property
    def total(self) -> int:
        return len(self._prepared)

    @property
    def groups(self) -> tuple[str, ...]:
        """The existing groups, in the order of the entries."""
        return tuple(self._groups)

    def set_entries(self, entries: Sequence[PaletteEntry]) -> None:
        """Replace the entries; clear the search text and the group."""
        self._prepared = [_PreparedEntry(entry) for entry in entries]
        self._groups = list(dict.fromkeys(entry.group for entry in entries))
        self._text = self.group = ""
        self._fill()

    def search(self, text: str) -> None:
        self._text = text
        self._fill()

    def keep_group(self, group: str) -> None:
        """Search only one group; all with an empty name."""
        self.group = group
        self._fill()

    def get_text(self, row: PaletteMatch, role: int) -> str | None:
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return row.entry.spoken
        return row.entry.title if role == Qt.ItemDataRole.DisplayRole else None

    def can_choose(self, row: PaletteMatch) -> bool:
        """Entries are enabled if they can be run now."""
        return row.entry.enabled

    def _fill(self) -> None:
        self.beginResetModel()
        matches = self._search()
        self.match_count = len(matches)
        self._rows = []
        by_group: dict[str, list[PaletteMatch]] = {}
        for each in matches:
            by_group.setdefault(each.entry.group, []).append(each)
        for group, members in by_group.items():
            self._rows.append(group)
            self._rows.extend(members)
        self.endResetModel()

    def _search(self) -> list[PaletteMatch]:
        """Return the results, the best first, disabled ones last; ties keep their order."""
        words = _fold_case(self._text).split()
        candidates = [each for each in self._prepared if self.group in ("", each.entry.group)]
        if not words:
            return [PaletteMatch(each.entry) for each in candidates]
        scored: list[tuple[bool, float, PaletteMatch]] = []
        for each in candidates:
            matched = _match(words, each)
            if matched is not None:
                score, places = matched
                scored.append((not each.entry.enabled, -score, PaletteMatch(each.entry, places)))
        scored.sort(key=lambda one: one[:2])
        return [positions for _, _, positions in scored]


#: Actions that would only open the palette itself.
_LEFT_OUT = frozenset({"help.palette"})
_NO_SCENARIOS = frozenset({"file.recent.clear"})


def list_palette_entries(window: DocumentWindow) -> list[PaletteEntry]:
    commands = [_make_command_entry(spec) for spec in window.list_window_actions() if spec.id not in _LEFT_OUT]
    return [*commands, *_list_accelerator_entries(window), *_list_model_entries(window)]


def _make_command_entry(spec: ActionSpec) -> PaletteEntry:
    is_scenario = spec.id.startswith(("file.template.", "file.recent.")) and spec.id not in _NO_SCENARIOS
    group = tr("Scenarios") if is_scenario else tr("Commands")
    return PaletteEntry(
        group=group,
        title=spec.palette or spec.text,
        detail=tr("active") if spec.checked is not None and spec.checked() else "",
        icon=spec.icon or "corner-down-right",
        shortcut=format_key(spec.shortcuts[0]) if spec.shortcuts else "",
        run=spec.run,
        enabled=spec.enabled(),
        words=spec.text,
    )


def _list_accelerator_entries(window: DocumentWindow) -> list[PaletteEntry]:
    desk = window.desk
    return [
        PaletteEntry(
            group=tr("Accelerators"),
            title=tr("Add {name}", name=option.text),
            detail=", ".join((*option.notes, *((option.tag,) if option.tag else ()))),
            icon="cpu",
            shortcut="",
            run=partial(window.chips.add_accelerator, option.key),
            enabled=not option.reason,
            words=f"{option.words} {option.group} {tr('accelerator memory')}",
        )
        for option in list_accelerator_options(desk.service, desk.scenario, desk.formatter)
    ]


def _list_model_entries(window: DocumentWindow) -> list[PaletteEntry]:
    desk = window.desk
    return [
        PaletteEntry(
            group=tr("Models"),
            title=option.text,
            detail=option.reason or ", ".join(note for note in option.notes if note),
            icon="layers",
            shortcut="",
            run=partial(desk.edit, tr("Change model"), model=option.key),
            enabled=not option.reason,
            words=f"{option.words} {option.group}",
        )
        for option in list_model_options(desk.service)
    ]


_INSET, _ICON_X, _ROW_TEXT_X, _ROW_SIDE, _GAP = 8.0, 20.0, 48.0, 20.0, 14.0
_ROW_ICON = 16.0
#: The title takes more than half of a row.
_MOST_DETAIL = 0.45


class PaletteDelegate(GroupedListDelegate):
    """Paints rows of a `PaletteModel`."""

    row_height, group_height = 36.0, 33.0
    group_look = ("small_strong", _ROW_SIDE, 6.0)

    def paint_row(self, pen: ThemePainter, rect: QRectF, row: PaletteMatch, *, is_selected: bool) -> None:
        px, entry, middle = self._theme.px, row.entry, rect.center().y()
        if is_selected:
            inset = px(_INSET)
            pen.tint(rect.adjusted(inset, 1, -inset, -1), "selection_raised", 6.0)
        color = "text1" if entry.enabled else "disabled"
        quiet = "text2" if entry.enabled else "disabled"
        side = float(px(_ROW_ICON))
        pen.icon(entry.icon, px(_ICON_X), middle - side / 2, side, color if is_selected else quiet)
        right = rect.right() - px(_ROW_SIDE)
        if entry.shortcut:
            right -= pen.tag_width(entry.shortcut)
            # The quiet third tone is unreadable on a selected row.
            pen.tag(right, middle, entry.shortcut, color=quiet if is_selected else "text3")
            right -= px(_GAP)
        if entry.detail:
            width = min(pen.width(entry.detail, "small") + 1, _MOST_DETAIL * rect.width())
            place = QRectF(right - width, rect.top(), width, rect.height())
            pen.text(place, entry.detail, font="small", color=quiet, align=RIGHT)
            right -= width + px(_GAP)
        room = QRectF(px(_ROW_TEXT_X), rect.top(), max(0.0, right - px(_ROW_TEXT_X)), rect.height())
        paint_matches(pen, room, entry.title, frozenset(row.matched), color)


HEAD, FOOT = 52.0, 36.0
_BOX_SIDE, _BOX_ICON, _BOX_TEXT_X = 20.0, 16.0, 48.0
_RADIUS = 12.0


class _PaletteSearch(QLineEdit):
    """The search line: the caret shows the focus, so it has no focus ring."""

    def focus_rect(self) -> QRect | None:
        return None


class PaletteBox(QFrame):
    """The floating box: search line, list, and key hints."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.count = ""
        self.filter = ""
        self.search = _PaletteSearch(self)
        self.view = QListView(self)
        self.nothing = ThemedLabel(theme, color="text2", parent=self)
        self.nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        theme.follow(self._dress)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's name
        with QPainter(self) as painter:
            theme, px = self._theme, self._theme.px
            pen = ThemePainter(painter, theme)
            pen.frame(QRectF(self.rect()), radius=_RADIUS, fill="raised")
            head, side = px(HEAD), float(px(_BOX_ICON))
            pen.icon("search", px(_BOX_SIDE), (head - side) / 2, side)
            room = QRectF(0, 0, self.width() - px(_BOX_SIDE), head)
            pen.text(room, self.count, font="small", color="text2", align=RIGHT)
            pen.hairline(1, head - 1, self.width() - 1, head - 1, "selection_raised")
            level = self.height() - px(FOOT)
            pen.hairline(1, level, self.width() - 1, level, "selection_raised")
            self._draw_keys(pen, level + px(FOOT) / 2)

    def _draw_keys(self, pen: ThemePainter, level: float) -> None:
        px, line = self._theme.px, self._theme.line("small")
        x = float(px(_BOX_SIDE))
        keys = (
            ("↑↓", tr("choose")),
            (format_key("Enter"), tr("run")),
            (tr("Tab"), tr("filter: {group}", group=self.filter)),
            (tr("Esc"), tr("close")),
        )
        for key, does in keys:
            x += pen.key_hint(x, level, key) + px(7)
            place = QRectF(x, level - line / 2, max(0.0, self.width() - x - px(8)), line)
            x += pen.text(place, does, font="small", color="text2") + px(16)

    def arrange(self) -> None:
        """Place the children manually: a layout's heights would be overridden by style sheets."""
        px, width = self._theme.px, self.width() - 2
        head, foot = px(HEAD), px(FOOT)
        left, right = (
            px(_BOX_TEXT_X) - 2,
            (int(QFontMetricsF(self._theme.font("small")).horizontalAdvance(self.count)) + 1) + px(_BOX_SIDE) + px(10),
        )
        self.search.setGeometry(left, 1, max(0, width - left - right), head - 2)
        body = QRect(1, head, width, max(0, self.height() - head - foot))
        self.view.setGeometry(body)
        self.nothing.setGeometry(body)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: ARG002 - Qt's name
        self.arrange()

    def _dress(self) -> None:
        self.search.setFont(self._theme.font("present_small"))
        self.arrange()
        self.update()


_WIDTH, _TOP, _LOWEST = 640.0, 92.0, 24
_LIST = 410.0
_SLIDE_MS, _SLIDE = 120, 12

_PAGE_ROWS = 8


class CommandPalette(QWidget):
    """Covers its window while open; then the focus returns.

    ↑ ↓ PgUp PgDn choose, Enter runs, Tab changes the searched group, Esc or a click outside closes.
    """

    closed = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._window = parent
        self._before: QWidget | None = None
        self._model = PaletteModel(self)
        self._box = PaletteBox(theme, self)
        self._delegate = PaletteDelegate(theme, self._box.view)
        self._slide = QPropertyAnimation(self._box, b"pos", self)
        self._slide.setDuration(_SLIDE_MS)
        self._slide.setEasingCurve(QEasingCurve.Type.OutCubic)
        search, view = self._box.search, self._box.view
        search.setProperty("kind", "bare")
        search.setAccessibleName(tr("Search or run a command"))
        search.setPlaceholderText(tr("Search or run a command"))
        search.textChanged.connect(self._typed)
        search.installEventFilter(self)
        set_up_list(view, self._model, self._delegate, tr("Results"))
        view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        view.entered.connect(self._point_at)
        view.clicked.connect(self._run)
        self.setAccessibleName(tr("Command palette"))
        self.hide()
        parent.installEventFilter(self)
        theme.changed.connect(self._restyle)

    @property
    def search(self) -> QLineEdit:
        return self._box.search

    @property
    def view(self) -> QListView:
        return self._box.view

    def open(self, entries: Sequence[PaletteEntry]) -> None:
        if not self.isVisible():
            focus: QWidget | None = self._window.focusWidget()
            self._before = None if focus is None or self.isAncestorOf(focus) else focus
        self._model.set_entries(entries)
        self._box.search.clear()
        self._show_matches()
        self.setGeometry(self._window.rect())
        self.raise_()
        self.show()
        self._place()
        self._box.search.setFocus(Qt.FocusReason.PopupFocusReason)
        if self.style().styleHint(QStyle.StyleHint.SH_Widget_Animation_Duration) > 0:
            end = self._box.pos()
            self._slide.setStartValue(end - QPoint(0, _SLIDE))
            self._slide.setEndValue(end)
            self._slide.start()

    def close_palette(self) -> None:
        if not self.isVisible():
            return
        self._slide.stop()
        before, self._before = self._before, None
        self.hide()
        # The content behind can have changed meanwhile.
        if before is not None and isValid(before) and before.isVisible() and before.isEnabled():
            before.setFocus(Qt.FocusReason.PopupFocusReason)
        self.closed.emit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the window's size; handle the list's keys in the search line."""
        kind = event.type()
        if watched is self._window:
            if kind == QEvent.Type.Resize and self.isVisible():
                self.setGeometry(self._window.rect())
                self._place()
        elif kind == QEvent.Type.ShortcutOverride:
            # While the palette is open, no shortcut reaches the widgets behind it.
            event.accept()
            return True
        elif isinstance(event, QKeyEvent) and kind == QEvent.Type.KeyPress:
            return self._act_on_key(event)
        return super().eventFilter(watched, event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if not self._box.geometry().contains(event.position().toPoint()):
            self.close_palette()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's name
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), self._theme.color("scrim"))

    def _typed(self, text: str) -> None:
        self._model.search(text)
        self._show_matches()
        self._place()

    def _show_matches(self) -> None:
        model, box = self._model, self._box
        box.count = tr("{n} of {total}", n=model.match_count, total=model.total)
        box.filter = model.group or tr("all")
        box.search.setAccessibleDescription(box.count)
        box.arrange()
        first = model.next_row(-1, 1)
        box.view.setVisible(model.match_count > 0)
        box.nothing.setVisible(model.match_count == 0)
        if model.group:
            box.nothing.setText(tr("No results in {group}. Press Tab to search other groups.", group=model.group))
        else:
            box.nothing.setText(tr("No results. Try fewer letters."))
        box.view.scrollToTop()
        if first >= 0:
            box.view.setCurrentIndex(model.index(first))
        self._announce(tr("{count}: {first}", count=box.count, first=self._get_current_text()))
        box.update()

    def _get_current_text(self) -> str:
        row = self._box.view.currentIndex().data(ROW_ROLE)
        return row.entry.spoken if isinstance(row, PaletteMatch) else ""

    def _announce(self, text: str) -> None:
        if QAccessible.isActive() and self.isVisible():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self._box.search, text))

    def _act_on_key(self, event: QKeyEvent) -> bool:
        """Handle a key of the list; return whether it was one."""
        key = Qt.Key(event.key())
        if key in STEP_KEYS:
            self._step(STEP_KEYS[key], 1)
        elif key in PAGE_KEYS:
            self._step(PAGE_KEYS[key], _PAGE_ROWS)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._run(self._box.view.currentIndex())
        elif key == Qt.Key.Key_Tab:
            self._next_group(1)
        elif key == Qt.Key.Key_Backtab:
            self._next_group(-1)
        elif key == Qt.Key.Key_Escape:
            self.close_palette()
        else:
            return False
        return True

    def _step(self, by: int, count: int) -> None:
        """Move by this many rows, or to the last; a single step from the end wraps around."""
        row = self._box.view.currentIndex().row()
        target = self._model.walk(row, by, count)
        if target == row and count == 1:
            target = self._model.next_row(-1 if by > 0 else self._model.rowCount(), by)
        if target >= 0:
            view = self._box.view
            view.setCurrentIndex(self._model.index(target))
            if target > 0 and self._model.next_row(target, -1) < 0:
                # Show the name of the group above the first entry.
                view.scrollToTop()
            self._announce(self._get_current_text())

    def _next_group(self, by: int) -> None:
        groups = ("", *self._model.groups)
        self._model.keep_group(groups[(groups.index(self._model.group) + by) % len(groups)])
        self._show_matches()
        self._place()

    def _point_at(self, index: QModelIndex) -> None:
        if self._model.flags(index) & Qt.ItemFlag.ItemIsSelectable:
            self._box.view.setCurrentIndex(index)

    def _run(self, index: QModelIndex) -> None:
        row = index.data(ROW_ROLE)
        if isinstance(row, PaletteMatch) and row.entry.enabled:
            self.close_palette()
            row.entry.run()

    def _place(self) -> None:
        px = self._theme.px
        rows = (self._model.index(row).data(ROW_ROLE) for row in range(min(self._model.rowCount(), 24)))
        listed = sum(self._delegate.measure_row(row) for row in rows) + px(10)
        body = px(72) if self._model.match_count == 0 else min(listed, px(_LIST))
        width = min(px(_WIDTH), self.width() - 2 * _LOWEST)
        body_height = px(HEAD) + body + px(FOOT)
        top = min(px(_TOP), max(_LOWEST, self.height() - body_height - _LOWEST))
        height = min(body_height, self.height() - top - _LOWEST)
        self._slide.stop()
        self._box.setGeometry((self.width() - width) // 2, top, width, height)

    def _restyle(self) -> None:
        self._box.view.doItemsLayout()
        if self.isVisible():
            self._place()
            self.update()
