"""The rows that forms are made of: text, number with its unit, date, choice, a few lines."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from datetime import date
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QCompleter, QPlainTextEdit, QPushButton, QWidget

from gpudesk.desktop.pages.catalog.editors.rows import FieldFault, FormRow, LineEdit, NoWheel
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.segment import Segment
from gpudesk.text import tr

LONGEST_TEXT = 200
LONGEST_NOTE = 2_000
LONGEST_ADDRESS = 2_000
_NOTE_LINES = 2
_YES, _NO = "yes", "no"
_DATE = re.compile(r"[12][0-9]{3}(-[0-9]{2}(-[0-9]{2})?)?")


class TextRow(FormRow):
    """One line of text."""

    def __init__(
        self,
        theme: Theme,
        name: str,
        label: str,
        *,
        required: bool = False,
        empty: str = "",
        words: Sequence[str] = (),
        longest: int = LONGEST_TEXT,
        aside: str = "",
    ) -> None:
        """Say in the empty line what would stand there; `words` are offered while one types."""
        super().__init__(theme, name, label, required=required, aside=aside)
        self._longest = longest
        self.edit = LineEdit(theme)
        self.edit.setPlaceholderText(empty)
        self.edit.textEdited.connect(self.user_edited)
        self.edit.editingFinished.connect(self._left)
        if words:
            self.offer(words)
        self.lay_out(self.edit)

    def offer(self, words: Sequence[str]) -> QCompleter:
        """Offer words while one types; return what offers them."""
        completer = QCompleter(list(words), self)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        # Signals of the line come from a person alone, a completion is one too.
        completer.activated.connect(partial(self._completed))
        self.edit.setCompleter(completer)
        return completer

    def control(self) -> QWidget:
        """Return the line."""
        return self.edit

    def is_empty(self) -> bool:
        """Say whether nothing but spaces is typed."""
        return not self.edit.text().strip()

    def read(self) -> object:
        """Return the text, without spaces around it."""
        return plain_text(self.edit.text(), self._longest)

    def text(self) -> str | None:
        """Return the text, None where there is none; raises `FieldFault`."""
        return None if self.is_empty() else plain_text(self.edit.text(), self._longest)

    def show_value(self, value: str | None) -> None:
        """Show a text."""
        self.edit.setText(value or "")
        self.edit.setCursorPosition(0)

    def _completed(self, _text: str) -> None:
        self.user_edited()

    def _left(self) -> None:
        if not self.is_empty():
            self.check()


class WordsRow(TextRow):
    """Several words with commas between them."""

    def read(self) -> object:
        """Return the words, each once."""
        words = [plain_text(word, LONGEST_TEXT) for word in self.edit.text().split(",") if word.strip()]
        if not words:
            raise FieldFault(tr("Words with commas between them are wanted"))
        return tuple(dict.fromkeys(words))


class DateRow(TextRow):
    """A year, a month or a day."""

    def __init__(self, theme: Theme, name: str, label: str, *, required: bool = False) -> None:
        """Say how dates are written."""
        super().__init__(theme, name, label, required=required, empty=tr("YYYY, YYYY-MM or YYYY-MM-DD"))

    def read(self) -> object:
        """Return the date as it was written."""
        return checked_date(self.edit.text().strip())

    def text(self) -> str | None:
        """Return the date, None where there is none; raises `FieldFault`."""
        return None if self.is_empty() else checked_date(self.edit.text().strip())


class ChoiceRow(FormRow):
    """One of several words."""

    def __init__(
        self,
        theme: Theme,
        name: str,
        label: str,
        options: Sequence[tuple[str, str]],
        *,
        required: bool = False,
    ) -> None:
        """Offer (key, text); the first is in force."""
        super().__init__(theme, name, label, required=required)
        self.box = choice_box(theme, options)
        self.box.currentIndexChanged.connect(self.user_edited)
        self.lay_out(self.box)

    def control(self) -> QWidget:
        """Return the box."""
        return self.box

    def is_empty(self) -> bool:
        """Say whether the choice is that of nothing."""
        return not self.key()

    def read(self) -> object:
        """Return the key of the choice."""
        return self.key()

    def key(self) -> str:
        """Return the key of the choice, empty where nothing is chosen."""
        return str(self.box.currentData() or "")

    def show_value(self, key: str | None) -> None:
        """Put a choice in force without it counting as one of the user's."""
        self.box.blockSignals(True)
        self.box.setCurrentIndex(max(self.box.findData(key or ""), 0))
        self.box.blockSignals(False)


class YesNoRow(ChoiceRow):
    """Yes or no, neither at first."""

    def __init__(self, theme: Theme, name: str, label: str, *, required: bool = False) -> None:
        """Have nothing chosen."""
        options = [("", tr("Choose…")), (_YES, tr("yes")), (_NO, tr("no"))]
        super().__init__(theme, name, label, options, required=required)

    def yes(self) -> bool | None:
        """Return whether it is yes, None where nothing is chosen."""
        return self.key() == _YES if self.key() else None

    def show_yes(self, yes: bool) -> None:
        """Put yes or no in force."""
        self.show_value(_YES if yes else _NO)


class SegmentRow(FormRow):
    """One of two or three alternatives, side by side."""

    def __init__(self, theme: Theme, name: str, label: str, options: Sequence[tuple[str, str]]) -> None:
        """Offer (key, text); the first is in force."""
        super().__init__(theme, name, label)
        self.segment = Segment(theme, label, options)
        self.segment.chosen.connect(self.user_edited)
        self.lay_out(self.segment, left=True)

    def control(self) -> QWidget:
        """Return the alternative in force."""
        return self.segment.findChildren(QPushButton)[0]

    def is_empty(self) -> bool:
        """Say no: one of them is always in force."""
        return False

    def read(self) -> object:
        """Return the key of the alternative in force."""
        return self.key()

    def key(self) -> str:
        """Return the key of the alternative in force."""
        return self.segment.value

    def show_value(self, key: str) -> None:
        """Put an alternative in force."""
        self.segment.set_value(key)


class NoteRow(FormRow):
    """A few lines of text."""

    def __init__(
        self, theme: Theme, name: str, label: str, *, required: bool = False, empty: str = ""
    ) -> None:
        """Begin empty."""
        super().__init__(theme, name, label, required=required)
        self.edit = QPlainTextEdit()
        self.edit.setPlaceholderText(empty)
        self.edit.setTabChangesFocus(True)
        self.edit.textChanged.connect(self._changed)
        self._known = ""
        # The text then begins under that of the line above.
        self.edit.document().setDocumentMargin(theme.px(7))
        self.edit.setFixedHeight(_NOTE_LINES * theme.line("body") + theme.px(16))
        self.lay_out(self.edit, top=True)

    def control(self) -> QWidget:
        """Return the text."""
        return self.edit

    def is_empty(self) -> bool:
        """Say whether nothing but spaces is typed."""
        return not self.edit.toPlainText().strip()

    def read(self) -> object:
        """Return the text."""
        return plain_text(self.edit.toPlainText(), LONGEST_NOTE)

    def text(self) -> str | None:
        """Return the text, None where there is none; raises `FieldFault`."""
        return None if self.is_empty() else plain_text(self.edit.toPlainText(), LONGEST_NOTE)

    def show_value(self, value: str | None) -> None:
        """Show a text."""
        self._known = value or ""
        self.edit.setPlainText(self._known)

    def _changed(self) -> None:
        """Take note of a change of the text; changes of its look count as none."""
        text = self.edit.toPlainText()
        if text != self._known:
            self._known = text
            self.user_edited()


def choice_box(theme: Theme, options: Sequence[tuple[str, str]]) -> QComboBox:
    """Return a box of (key, text) that the wheel does not turn."""
    box = QComboBox()
    box.installEventFilter(NoWheel(box))
    box.setMinimumWidth(theme.px(60))
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    box.setMinimumContentsLength(4)
    for key, text in options:
        box.addItem(text, key)
    return box


def plain_text(text: str, longest: int) -> str:
    """Return a text without spaces around it; raises `FieldFault` where it cannot be kept."""
    kept = text.strip()
    if len(kept) > longest:
        raise FieldFault(tr("Longer than {longest} characters. Shorten it", longest=longest))
    if any(_steers(character) for character in kept):
        raise FieldFault(tr("Holds a control character. Write it without"))
    return kept


def _steers(character: str) -> bool:
    """Say whether a character would steer what shows it: a control, half a character, a turn of direction."""
    if character in "\n\t":
        return False
    kind = unicodedata.category(character)
    return kind in ("Cc", "Cs") or character in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


def checked_date(text: str) -> str:
    """Return a date as it was written, if it is one; raises `FieldFault`."""
    wrong = FieldFault(tr("“{text}” is no date. Write YYYY, YYYY-MM or YYYY-MM-DD", text=text[:40]))
    if _DATE.fullmatch(text) is None:
        raise wrong
    try:
        date.fromisoformat(text + "-01-01"[len(text) - 4 :])
    except ValueError:
        raise wrong from None
    return text
