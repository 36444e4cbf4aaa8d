"""The rows that forms are made of: text, number with its unit, date, choice, a few lines."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QCompleter, QPlainTextEdit, QPushButton, QWidget

from gpudesk.desktop.pages.catalog.editors.rows import FieldFault, FormRow, LineEdit, NoWheel
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.numbers import NumberError, NumberFormat
from gpudesk.desktop.widgets.segment import Segment
from gpudesk.domain.formatting import ENGLISH, NumberStyle
from gpudesk.text import tr
from gpudesk.workbench.own_entry import UnitChoice

LONGEST_TEXT = 200
LONGEST_NOTE = 2_000
LONGEST_ADDRESS = 2_000
#: Digits that a typed number keeps.
NUMBER_DECIMALS = 9
_NOTE_LINES = 2
#: The widths of a number that has one unit, and of a choice of units.
_NUMBER, _UNIT = 150.0, 90.0
_DATE = re.compile(r"[12][0-9]{3}(-[0-9]{2}(-[0-9]{2})?)?")


@dataclass(frozen=True, slots=True)
class Limits:
    """Which numbers a row takes. Nought itself is never taken: what is not known is left empty."""

    least: float = 0.0
    most: float = float("inf")
    whole: bool = False


ABOVE_NOUGHT = Limits()


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


class NumberRow(FormRow):
    """A number, with a choice of units where there are several."""

    def __init__(
        self,
        theme: Theme,
        name: str,
        label: str,
        units: Sequence[UnitChoice],
        *,
        required: bool = False,
        empty: str = "",
        style: NumberStyle = ENGLISH,
        limits: Limits = ABOVE_NOUGHT,
    ) -> None:
        """Offer units, the first at first."""
        single = units[0].label if len(units) == 1 else ""
        super().__init__(theme, name, label, required=required, aside=tr(single) if single else "")
        self._units = tuple(units)
        self._limits = limits
        decimals = 0 if limits.whole else NUMBER_DECIMALS
        self._format = NumberFormat(float("-inf"), limits.most, decimals, style)
        self.edit = LineEdit(theme)
        self.edit.setPlaceholderText(empty)
        self.edit.textEdited.connect(self.user_edited)
        self.edit.editingFinished.connect(self._left)
        self.unit_box: QComboBox | None = None
        if len(units) > 1:
            self.unit_box = choice_box(theme, [(str(n), tr(unit.label)) for n, unit in enumerate(units)])
            self.unit_box.setAccessibleName(tr("Unit of {label}", label=label))
            self.unit_box.setFixedWidth(theme.px(_UNIT))
            self.unit_box.currentIndexChanged.connect(self.user_edited)
            self.lay_out(self.edit, self.unit_box)
        else:
            self.edit.setFixedWidth(theme.px(_NUMBER))
            self.lay_out(self.edit, left=True)

    @property
    def unit(self) -> UnitChoice:
        """The unit in force."""
        return self._units[0 if self.unit_box is None else self.unit_box.currentIndex()]

    def control(self) -> QWidget:
        """Return the line."""
        return self.edit

    def is_empty(self) -> bool:
        """Say whether nothing is typed."""
        return not self.edit.text().strip()

    def read(self) -> object:
        """Return the number as typed, whole where it is."""
        return self.number()

    def number(self) -> int | float:
        """Return the number as typed; raises `FieldFault`."""
        return read_number(self.edit.text(), self._format, self._limits.least)

    def stated(self) -> int | float | None:
        """Return the number in the unit `unit.unit`, None where there is none; raises `FieldFault`."""
        return None if self.is_empty() else self.unit.stated(self.number())

    def inside(self) -> int | float | None:
        """Return the number in the unit used inside, None where there is none; raises `FieldFault`."""
        return None if self.is_empty() else self.unit.inside(self.number())

    def number_or_none(self) -> int | float | None:
        """Return the number as typed, None where there is none; raises `FieldFault`."""
        return None if self.is_empty() else self.number()

    def whole_or_none(self) -> int | None:
        """Return the whole number that is typed, None where there is none; raises `FieldFault`."""
        return None if self.is_empty() else int(self.number())

    def show_number(self, value: float | None) -> None:
        """Show a number as it would be typed."""
        self.edit.setText("" if value is None else self._format.text(value))

    def set_units(self, units: Sequence[UnitChoice]) -> None:
        """Take another unit in the place of the one there is; the digits stay."""
        self._units = tuple(units)
        self.set_aside(tr(units[0].label) if len(units) == 1 else "")

    def show_inside(self, value: float | None) -> None:
        """Show a value that is in the unit used inside, in the unit in force."""
        self.edit.setText("" if value is None else self._format.text(self.unit.typed(value)))

    def set_unit(self, label: str) -> None:
        """Put a unit in force; the digits stay."""
        place = next((n for n, unit in enumerate(self._units) if unit.label == label), 0)
        if self.unit_box is not None:
            self.unit_box.setCurrentIndex(place)

    def _left(self) -> None:
        if not self.is_empty():
            self.check()


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
        self._filling = False
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
        self._filling = True
        self.edit.setPlainText(value or "")
        self._filling = False

    def _changed(self) -> None:
        if not self._filling:
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


def read_number(text: str, number_format: NumberFormat, least: float = 0.0) -> int | float:
    """Return the number that is typed, whole where it is; raises `FieldFault`. Nought is never taken."""
    try:
        typed = number_format.parse(text)
    except NumberError as error:
        raise FieldFault(str(error)) from error
    if typed < least or typed == 0:
        if least:
            raise FieldFault(tr("{value} at least", value=number_format.text(least)))
        raise FieldFault(tr("A number above 0 is wanted. Leave the line empty where nothing is known"))
    return int(typed) if typed.is_integer() else typed


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
