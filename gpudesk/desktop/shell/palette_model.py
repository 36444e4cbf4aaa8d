"""What the command palette finds: entries that match what is typed, the best first, under their groups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from gpudesk.desktop.widgets.options import next_selectable
from gpudesk.text import tr

Index = QModelIndex | QPersistentModelIndex

#: Role under which a row hands out its `Found`, or the name of a group as str.
FOUND_ROLE = Qt.ItemDataRole.UserRole + 1

#: What a word is worth by where it is found: at the beginning, at the beginning of a word, inside one,
#: in pieces that begin words or follow on, in order with gaps, in what stands beside the title.
_BEGINNING, _WORD, _INSIDE, _PIECES, _GAPS, _BESIDE = 100.0, 80.0, 50.0, 40.0, 20.0, 10.0
#: Shorter words would be found with gaps in almost anything.
_LEAST_WITH_GAPS = 4


@dataclass(frozen=True, slots=True)
class PaletteEntry:
    """Something to find and run.

    `detail` stands at the right, `shortcut` after it as it is to be shown. `words` are found though they are
    not shown.
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
        """All that is shown, as one line."""
        state = "" if self.enabled else tr("not available now")
        return ", ".join(part for part in (self.title, self.detail, self.shortcut, state) if part)


@dataclass(frozen=True, slots=True)
class Found:
    """An entry with the places in its title that match what was typed, in rising order."""

    entry: PaletteEntry
    matched: tuple[int, ...] = ()


class _Prepared:
    """An entry made ready for comparing, once for all that is typed afterwards."""

    __slots__ = ("beside", "entry", "starts", "title")

    def __init__(self, entry: PaletteEntry) -> None:
        self.entry = entry
        self.title = _folded(entry.title)
        self.beside = f" {_folded(f'{entry.detail} {entry.words} {entry.group}')}"
        self.starts = frozenset(
            place
            for place, character in enumerate(self.title)
            if character.isalnum() and (place == 0 or not self.title[place - 1].isalnum())
        )


def _folded(text: str) -> str:
    """Return a text without regard to case, each character still in its place."""
    folded = text.casefold()
    return folded if len(folded) == len(text) else "".join(c.casefold()[:1] or c for c in text)


def _match(words: Sequence[str], prepared: _Prepared) -> tuple[float, tuple[int, ...]] | None:
    """Return how well an entry matches all words, and where in its title; None if it does not."""
    total = 0.0
    places: set[int] = set()
    for word in words:
        found = _place(word, prepared)
        if found is None:
            return None
        total += found[0]
        places.update(found[1])
    return total - len(prepared.title) / 100, tuple(sorted(places))


def _place(word: str, prepared: _Prepared) -> tuple[float, Sequence[int]] | None:
    title, starts = prepared.title, prepared.starts
    at = title.find(word)
    if at >= 0:
        whole = at
        while whole >= 0 and whole not in starts:
            whole = title.find(word, whole + 1)
        if whole >= 0:
            return (_BEGINNING if whole == 0 else _WORD), range(whole, whole + len(word))
        return _INSIDE, range(at, at + len(word))
    pieces = _in_pieces(word, prepared)
    if pieces is not None:
        return _PIECES, pieces
    if f" {word}" in prepared.beside:
        return _BESIDE, ()
    gaps = _with_gaps(word, title) if len(word) >= _LEAST_WITH_GAPS else None
    return None if gaps is None else (_GAPS, gaps)


def _in_pieces(word: str, prepared: _Prepared) -> list[int] | None:
    """Find a word's characters in order, each right after the one before or at the beginning of a word."""
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


def _with_gaps(word: str, title: str) -> list[int] | None:
    """Find a word's characters in order, where letters are left out but not half of them."""
    places: list[int] = []
    at = -1
    for character in word:
        at = title.find(character, at + 1)
        if at < 0:
            return None
        places.append(at)
    return places if places[-1] - places[0] < 2 * len(word) else None


class PaletteModel(QAbstractListModel):
    """The entries found, in groups; a group stands where its best entry would."""

    def __init__(self, parent: QObject | None = None) -> None:
        """Begin empty."""
        super().__init__(parent)
        self._prepared: list[_Prepared] = []
        self._groups: list[str] = []
        self._rows: list[Found | str] = []
        self._text = ""
        self._group = ""
        self.found = 0

    @property
    def total(self) -> int:
        """How many entries there are, found or not."""
        return len(self._prepared)

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups that there are, in the order of the entries."""
        return tuple(self._groups)

    @property
    def group(self) -> str:
        """The group that alone is searched, empty for all."""
        return self._group

    def set_entries(self, entries: Sequence[PaletteEntry]) -> None:
        """Take other entries, with nothing typed and all groups searched."""
        self._prepared = [_Prepared(entry) for entry in entries]
        self._groups = list(dict.fromkeys(entry.group for entry in entries))
        self._text = self._group = ""
        self._fill()

    def search(self, text: str) -> None:
        """Keep what matches all words of a text."""
        self._text = text
        self._fill()

    def keep_group(self, group: str) -> None:
        """Search one group alone; all with an empty name."""
        self._group = group
        self._fill()

    def next_row(self, row: int, by: int) -> int:
        """Return the nearest row from here on to run, going by 1 or -1; -1 where there is none."""
        return next_selectable(self, row, by)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: N802, B008 - Qt's name and default
        """Return how many rows there are, groups included."""
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:  # noqa: ANN401 - Qt's type
        """Return a row's text, its sentence, or what was found."""
        if not index.isValid():
            return None
        row = self._rows[index.row()]
        if role == FOUND_ROLE:
            return row
        if role == Qt.ItemDataRole.DisplayRole:
            return row if isinstance(row, str) else row.entry.title
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return row if isinstance(row, str) else row.entry.spoken
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Let entries be chosen that can be run now, but no names of groups."""
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        row = self._rows[index.row()]
        leaf = Qt.ItemFlag.ItemNeverHasChildren
        if isinstance(row, str) or not row.entry.enabled:
            return leaf
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | leaf

    def _fill(self) -> None:
        self.beginResetModel()
        found = self._search()
        self.found = len(found)
        self._rows = []
        by_group: dict[str, list[Found]] = {}
        for each in found:
            by_group.setdefault(each.entry.group, []).append(each)
        for group, members in by_group.items():
            self._rows.append(group)
            self._rows.extend(members)
        self.endResetModel()

    def _search(self) -> list[Found]:
        """Return what is found, the best first, what cannot be run now last; equals keep their order."""
        words = _folded(self._text).split()
        kept = [each for each in self._prepared if self._group in ("", each.entry.group)]
        if not words:
            return [Found(each.entry) for each in kept]
        scored: list[tuple[bool, float, Found]] = []
        for each in kept:
            matched = _match(words, each)
            if matched is not None:
                score, places = matched
                scored.append((not each.entry.enabled, -score, Found(each.entry, places)))
        scored.sort(key=lambda one: one[:2])
        return [found for _, _, found in scored]
