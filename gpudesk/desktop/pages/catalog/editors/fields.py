"""Form rows for text, dates, choices, notes, numbers with units, and peak rates."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QCompleter, QPlainTextEdit, QPushButton, QWidget

from gpudesk.catalog.user_store.entry import UnitChoice
from gpudesk.desktop.pages.catalog.editors.rows import (
    LABEL,
    FaultLineEdit,
    FieldError,
    FormRow,
    RowFigure,
    WheelBlocker,
)
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.buttons import SegmentedControl
from gpudesk.desktop.ui.widgets.layouts import STRETCH, ThemedLabel, make_row
from gpudesk.desktop.ui.widgets.number_edit import NumberError, NumberFormat
from gpudesk.desktop.ui.widgets.qt_support import mark_fault
from gpudesk.domain.registry import PEAK_DENSE, PEAK_SPARSE
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.report.labels import label_precision
from gpudesk.text.formatting import ENGLISH_NUMBERS, ClaimValue, NumberStyle
from gpudesk.text.messages import quote_input
from gpudesk.text.translation import tr

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
        """Show `empty` as the placeholder; `words` are completions."""
        super().__init__(theme, name, label, required=required, aside=aside)
        self._longest = longest
        self.edit = FaultLineEdit(theme)
        self.edit.keeps_text = True
        self.edit.setPlaceholderText(empty)
        self.edit.textEdited.connect(self.user_edited)
        self.edit.editingFinished.connect(self.check_entered)
        if words:
            self.offer(words)
        self.lay_out(self.edit)

    def offer(self, words: Sequence[str]) -> QCompleter:
        """Offer completions while typing; return the completer."""
        completer = QCompleter(list(words), self)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        # Only user input emits these signals of the line edit; a completion counts.
        completer.activated.connect(lambda _text: self.user_edited())
        self.edit.setCompleter(completer)
        return completer

    def control(self) -> QWidget:
        return self.edit

    def is_empty(self) -> bool:
        return not self.edit.text().strip()

    def read(self) -> object:
        return check_plain_text(self.edit.text(), self._longest)

    def show_value(self, value: ClaimValue) -> None:
        self.edit.setText(", ".join(value) if isinstance(value, tuple) else str(value or ""))
        self.edit.setCursorPosition(0)


class WordListRow(TextRow):
    """Several words with commas between them."""

    def read(self) -> object:
        """Return the words without duplicates."""
        words = [check_plain_text(word, LONGEST_TEXT) for word in self.edit.text().split(",") if word.strip()]
        if not words:
            raise FieldError(tr("Enter words, separated by commas"))
        return tuple(dict.fromkeys(words))


class DateRow(TextRow):
    """A year, a month or a day."""

    def __init__(self, theme: Theme, name: str, label: str) -> None:
        super().__init__(theme, name, label, empty=tr("YYYY, YYYY-MM or YYYY-MM-DD"))

    def read(self) -> object:
        return check_date(self.edit.text().strip())


class ChoiceRow(FormRow):
    """One of several words."""

    def __init__(
        self, theme: Theme, name: str, label: str, options: Sequence[tuple[str, str]], *, required: bool = False
    ) -> None:
        super().__init__(theme, name, label, required=required)
        self.box = make_choice_box(theme, options)
        self.box.currentIndexChanged.connect(self.user_edited)
        self.lay_out(self.box)

    def control(self) -> QWidget:
        return self.box

    def is_empty(self) -> bool:
        return not self.key()

    def read(self) -> object:
        return self.key()

    def key(self) -> str:
        """Return the key of the choice, empty without one."""
        return str(self.box.currentData() or "")

    def show_value(self, key: ClaimValue) -> None:
        self.box.blockSignals(True)
        self.box.setCurrentIndex(max(self.box.findData(key or ""), 0))
        self.box.blockSignals(False)


class YesNoRow(ChoiceRow):
    """Yes or no, initially neither."""

    def __init__(self, theme: Theme, name: str, label: str, *, required: bool = False) -> None:
        options = [("", tr("Choose…")), (_YES, tr("yes")), (_NO, tr("no"))]
        super().__init__(theme, name, label, options, required=required)

    def yes(self) -> bool | None:
        return self.key() == _YES if self.key() else None

    def show_yes(self, yes: bool) -> None:
        self.show_value(_YES if yes else _NO)

    def list_figures(self) -> Iterator[RowFigure]:
        if not self.is_empty():
            yield RowFigure(self.name, self.yes(), None, self.yes())

    def show_figures(self, values: Mapping[str, ClaimValue]) -> None:
        self.show_yes(values.get(self.name) is True)


class SegmentRow(FormRow):
    """One of two or three alternatives, side by side."""

    def __init__(self, theme: Theme, name: str, label: str, options: Sequence[tuple[str, str]]) -> None:
        super().__init__(theme, name, label)
        self.segment = SegmentedControl(theme, label, options)
        self.segment.chosen.connect(self.user_edited)
        self.lay_out(self.segment, keeps_width=True)

    def control(self) -> QWidget:
        return self.segment.findChildren(QPushButton)[0]

    def is_empty(self) -> bool:
        """Return False: one option is always selected."""
        return False

    def read(self) -> object:
        return self.key()

    def key(self) -> str:
        return self.segment.value

    def show_value(self, key: str | None) -> None:
        self.segment.set_value(key or "")


class NoteRow(FormRow):
    """A few lines of text."""

    def __init__(self, theme: Theme, name: str, label: str, *, longest: int = LONGEST_NOTE) -> None:
        super().__init__(theme, name, label)
        self._longest = longest
        self.edit = QPlainTextEdit()
        self.edit.setTabChangesFocus(True)
        self.edit.textChanged.connect(self._changed)
        self._last_text = ""
        # This aligns the text with that of the line above.
        self.edit.document().setDocumentMargin(theme.px(7))
        self.edit.setFixedHeight(_NOTE_LINES * theme.line("body") + theme.px(16))
        self.lay_out(self.edit, top=True)

    def control(self) -> QWidget:
        return self.edit

    def is_empty(self) -> bool:
        return not self.edit.toPlainText().strip()

    def read(self) -> object:
        return check_plain_text(self.edit.toPlainText(), self._longest)

    def show_value(self, value: str | None) -> None:
        self._last_text = value or ""
        self.edit.setPlainText(self._last_text)

    def _changed(self) -> None:
        """Record a change of the text, but not of its format."""
        text = self.edit.toPlainText()
        if text != self._last_text:
            self._last_text = text
            self.user_edited()


def make_choice_box(theme: Theme, options: Sequence[tuple[str, str]]) -> QComboBox:
    """Return a box of (key, text) that ignores the mouse wheel."""
    box = QComboBox()
    box.installEventFilter(WheelBlocker(box))
    box.setMinimumWidth(theme.px(60))
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    box.setMinimumContentsLength(4)
    for key, text in options:
        box.addItem(text, key)
    return box


def check_plain_text(text: str, longest: int) -> str:
    """Return a text without surrounding spaces; raises `FieldError` if it cannot be stored."""
    text_line = text.strip()
    if len(text_line) > longest:
        raise FieldError(tr("Enter at most {longest} characters", longest=longest))
    if any(_is_control_character(character) for character in text_line):
        raise FieldError(tr("Remove the control characters"))
    return text_line


def _is_control_character(character: str) -> bool:
    """Return whether a character is a control character, a lone surrogate, or changes the text direction."""
    if character in "\n\t":
        return False
    kind = unicodedata.category(character)
    return kind in ("Cc", "Cs") or character in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


def check_date(text: str) -> str:
    """Return a valid date as written; raises `FieldError`."""
    wrong = FieldError(tr("Not a date: {text}. Use YYYY, YYYY-MM or YYYY-MM-DD", text=quote_input(text[:40])))
    if _DATE.fullmatch(text) is None:
        raise wrong
    try:
        date.fromisoformat(text + "-01-01"[len(text) - 4 :])
    except ValueError:
        raise wrong from None
    return text


#: Digits kept of a typed number.
NUMBER_DECIMALS = 9
#: The widths of a number with one unit, and of a choice of units.
_NUMBER_WIDTH, _UNIT = 150.0, 90.0


@frozen_dataclass
class NumberLimits:
    """The range that a row accepts. Zero is never accepted: an unknown value leaves the row empty."""

    least: float = 0.0
    most: float = float("inf")
    whole: bool = False


POSITIVE = NumberLimits()


class NumberRow(FormRow):
    """A number, with a choice of units if there are several."""

    def __init__(
        self,
        theme: Theme,
        name: str,
        label: str,
        units: Sequence[UnitChoice],
        *,
        required: bool = False,
        empty: str = "",
        style: NumberStyle = ENGLISH_NUMBERS,
        limits: NumberLimits = POSITIVE,
    ) -> None:
        single = units[0].label if len(units) == 1 else ""
        super().__init__(theme, name, label, required=required, aside=tr(single) if single else "")
        self._units = tuple(units)
        self._limits = limits
        decimals = 0 if limits.whole else NUMBER_DECIMALS
        self._format = NumberFormat(float("-inf"), limits.most, decimals, style)
        self.edit = FaultLineEdit(theme)
        self.edit.setPlaceholderText(empty)
        self.edit.textEdited.connect(self.user_edited)
        self.edit.editingFinished.connect(self.check_entered)
        self.unit_box: QComboBox | None = None
        if len(units) > 1:
            self.unit_box = make_choice_box(theme, [(str(n), tr(unit.label)) for n, unit in enumerate(units)])
            self.unit_box.setAccessibleName(tr("Unit of {label}", label=label))
            self.unit_box.setFixedWidth(theme.px(_UNIT))
            self.unit_box.currentIndexChanged.connect(self.user_edited)
            self.lay_out(self.edit, self.unit_box)
        else:
            self.edit.setFixedWidth(theme.px(_NUMBER_WIDTH))
            self.lay_out(self.edit, keeps_width=True)

    @property
    def unit(self) -> UnitChoice:
        """The unit typed after the number, else the selected one."""
        return self._find_typed_unit() or self._units[0 if self.unit_box is None else self.unit_box.currentIndex()]

    def control(self) -> QWidget:
        return self.edit

    def is_empty(self) -> bool:
        return not self.edit.text().strip()

    def read(self) -> int | float:
        """Return the number as typed, an int if it is whole; raises `FieldError`."""
        text, unit = self.edit.text().strip(), self._find_typed_unit()
        plain = text if unit is None else text[: -len(tr(unit.label))]
        return parse_number(plain, self._format, self._limits.least)

    def _find_typed_unit(self) -> UnitChoice | None:
        """Return the allowed unit typed after the number, None without one."""
        text = self.edit.text().strip().casefold()
        named_units = [unit for unit in self._units if unit.label and text.endswith(tr(unit.label).casefold())]
        return max(named_units, key=lambda unit: len(unit.label), default=None)

    def read_in_unit(self) -> int | float | None:
        """Return the number in the unit `unit.unit`, None if empty; raises `FieldError`."""
        return None if self.is_empty() else self.unit.scale(self.read())

    def inside(self) -> int | float | None:
        """Return the number in the internal unit, None if empty; raises `FieldError`."""
        return None if self.is_empty() else self.unit.inside(self.read())

    def parse_number_or_none(self) -> int | float | None:
        """Return the number as typed, None if empty; raises `FieldError`."""
        return None if self.is_empty() else self.read()

    def parse_whole_or_none(self) -> int | None:
        """Return the typed whole number, None if empty; raises `FieldError`."""
        return None if self.is_empty() else int(self.read())

    def show_value(self, value: float | None) -> None:
        self.edit.setText("" if value is None else self._format.text(value))

    def list_figures(self) -> Iterator[RowFigure]:
        if not self.is_empty():
            yield RowFigure(self.name, self.read_in_unit(), self.unit.unit, self.inside())

    def show_figures(self, values: Mapping[str, ClaimValue]) -> None:
        value = values.get(self.name)
        self.show_inside(value if isinstance(value, int | float) else None)

    def set_units(self, units: Sequence[UnitChoice]) -> None:
        """Replace the unit; the digits stay."""
        self._units = tuple(units)
        self.set_aside(tr(units[0].label) if len(units) == 1 else "")

    def show_inside(self, value: float | None) -> None:
        """Show a value, given in the internal unit, in the first unit that represents it exactly."""
        if value is None:
            self.edit.setText("")
            return
        exact = [
            place
            for place, unit in enumerate(self._units)
            if unit.inside(self._format.parse(self._format.text(unit.typed(value)))) == value
        ]
        place = exact[0] if exact else 0
        if self.unit_box is not None:
            self.unit_box.blockSignals(True)
            self.unit_box.setCurrentIndex(place)
            self.unit_box.blockSignals(False)
        self.edit.setText(self._format.text(self._units[place].typed(value)))


def parse_number(text: str, number_format: NumberFormat, least: float = 0.0) -> int | float:
    """Return the typed number, an int if it is whole. Raises `FieldError`, also for zero."""
    try:
        typed = number_format.parse(text)
    except NumberError as error:
        raise FieldError(str(error)) from error
    if typed < least or typed == 0:
        if least:
            raise FieldError(tr("Enter at least {value}", value=number_format.text(least)))
        raise FieldError(tr("Enter a number above 0, or leave the field empty"))
    return int(typed) if typed.is_integer() else typed


_RATE_WIDTH = 116.0


class PeakRow(FormRow):
    """Two numbers of one format, each possibly empty."""

    def __init__(self, theme: Theme, precision: str, style: NumberStyle, get_unit: Callable[[], UnitChoice]) -> None:
        """Get the unit of the rates from `get_unit`."""
        unit = "TOPS" if precision.startswith("int") else ""
        format_label = label_precision(precision)
        super().__init__(theme, f"{PEAK_DENSE}{precision}", format_label, aside=unit)
        self.precision = precision
        self._format = NumberFormat(float("-inf"), float("inf"), NUMBER_DECIMALS, style)
        self.get_unit = get_unit
        self.dense, self.sparse = FaultLineEdit(theme), FaultLineEdit(theme)
        self._edits = {f"{PEAK_DENSE}{precision}": self.dense, f"{PEAK_SPARSE}{precision}": self.sparse}
        for edit in self._edits.values():
            edit.setFixedWidth(theme.px(_RATE_WIDTH))
            edit.textEdited.connect(self.user_edited)
            edit.editingFinished.connect(self.check)
        both = QWidget()
        make_row(self.dense, self.sparse, gap=theme.px(10), on=both)
        self.lay_out(both, keeps_width=True)
        self.dense.setAccessibleName(tr("{precision}, dense", precision=format_label))
        self.sparse.setAccessibleName(tr("{precision}, sparse", precision=format_label))

    def control(self) -> QWidget:
        """The invalid line edit, else the first."""
        return self.sparse if self.sparse.property("fault") == "true" else self.dense

    def is_empty(self) -> bool:
        return not (self.dense.text().strip() or self.sparse.text().strip())

    def read(self) -> object:
        return (self.rate(self.dense), self.rate(self.sparse))

    def rate(self, edit: FaultLineEdit) -> int | float | None:
        """Return the number typed in a line, None for an empty line; raises `FieldError`."""
        return parse_number(edit.text(), self._format) if edit.text().strip() else None

    @property
    def attributes(self) -> tuple[str, ...]:
        return tuple(self._edits)

    @property
    def edited_attributes(self) -> tuple[str, ...]:
        return tuple(name for name, edit in self._edits.items() if edit.isModified())

    def list_figures(self) -> Iterator[RowFigure]:
        for name, edit in self._edits.items():
            rate, unit = self.rate(edit), self.get_unit()
            if rate is not None:
                yield RowFigure(name, unit.scale(rate), unit.unit, unit.inside(rate))

    def show_figures(self, values: Mapping[str, ClaimValue]) -> None:
        for name, edit in self._edits.items():
            value = values.get(name)
            edit.setText(self._format.text(self.get_unit().typed(value)) if isinstance(value, int | float) else "")

    def mark_fault(self, wrong: bool) -> None:
        for edit in self._edits.values():
            mark_fault(edit, wrong and not self._usable(edit))

    def _usable(self, edit: FaultLineEdit) -> bool:
        try:
            self.rate(edit)
        except FieldError:
            return False
        return True


class PeakRowHeader(QWidget):
    """The heads of the two columns."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        px = theme.px
        labels = [
            ThemedLabel(theme, text, font="caption_strong", color="text3") for text in (tr("Dense"), tr("Sparse"))
        ]
        for label in labels:
            label.setFixedWidth(px(_RATE_WIDTH))
        make_row(*labels, STRETCH, gap=px(10), margins=(px(LABEL) + px(10), 0, 0, 0), on=self)
