"""Entries of the command palette, and how they are matched and ranked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt

from gpudesk.desktop.session.actions import ActionSpec
from gpudesk.desktop.session.scenario_options import list_accelerator_options, list_model_options
from gpudesk.desktop.ui.widgets.choice_popup import GroupedListModel
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
        self._group = ""
        self.match_count = 0

    @property
    def total(self) -> int:
        return len(self._prepared)

    @property
    def groups(self) -> tuple[str, ...]:
        """The existing groups, in the order of the entries."""
        return tuple(self._groups)

    @property
    def group(self) -> str:
        """The searched group, empty for all."""
        return self._group

    def set_entries(self, entries: Sequence[PaletteEntry]) -> None:
        """Replace the entries; clear the search text and the group."""
        self._prepared = [_PreparedEntry(entry) for entry in entries]
        self._groups = list(dict.fromkeys(entry.group for entry in entries))
        self._text = self._group = ""
        self._fill()

    def search(self, text: str) -> None:
        self._text = text
        self._fill()

    def keep_group(self, group: str) -> None:
        """Search only one group; all with an empty name."""
        self._group = group
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
        candidates = [each for each in self._prepared if self._group in ("", each.entry.group)]
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
