"""Base of form rows: label, control, and the remark with an error or a warning."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QAction, QPainter, QPaintEvent
from PySide6.QtWidgets import QGridLayout, QLineEdit, QWidget

from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import ThemePainter
from gpudesk.desktop.ui.widgets.layouts import ThemedLabel
from gpudesk.desktop.ui.widgets.number_edit import ValueEdit
from gpudesk.desktop.ui.widgets.qt_support import make_delay, mark_fault
from gpudesk.domain.claim import PlausibilityFinding, PlausibilityGrade
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.formatting import ClaimValue, Formatter
from gpudesk.text.messages import capitalize_first, format_message
from gpudesk.text.translation import tr

LABEL = 140.0
_ICON = 14.0
#: Delay after typing before an error is shown; a corrected one disappears at once.
TELL_AFTER_MS = 350


class FieldError(Exception):
    """The content of a field is invalid; the message gives the reason and the expected input."""


@frozen_dataclass
class FieldVerdict:
    """The error and the warning of a value, each empty without one; a warning does not prevent saving."""

    fault: str = ""
    doubt: str = ""


NO_VERDICT = FieldVerdict()


def describe_findings(findings: Iterable[PlausibilityFinding], formatter: Formatter) -> FieldVerdict:
    texts = [(finding.grade, format_message(finding.problem, formatter)) for finding in findings]
    faults = _join_sentences(text for grade, text in texts if grade is PlausibilityGrade.REFUSED)
    # An impossible value needs no further doubts.
    doubts = "" if faults else _join_sentences(text for grade, text in texts if grade is PlausibilityGrade.DOUBTFUL)
    return FieldVerdict(faults, doubts)


def _join_sentences(texts: Iterable[str]) -> str:
    return ". ".join(capitalize_first(text) for text in texts)


class FieldRemark(ThemedLabel):
    """A sentence below a field, with an icon before it; hidden if empty."""

    def __init__(self, theme: Theme, icon: str, icon_color: str, color: str) -> None:
        super().__init__(theme, font="small", color=color, wrap=True)
        self._icon = icon
        self._icon_color = icon_color
        self._look = theme
        self.hide()
        if icon:
            theme.follow(self._indent)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self._icon:
            return
        with QPainter(self) as painter:
            side = self._look.px(_ICON)
            top = (self._look.line("small") - side) / 2
            ThemePainter(painter, self._look).icon(self._icon, 0, top, side, self._icon_color)

    def _indent(self) -> None:
        self.setContentsMargins(self._look.px(_ICON + 6), 0, 0, 0)


class RowFigure(NamedTuple):
    """The value that a row states for an attribute: in its entered unit, and in the internal unit."""

    attribute: str
    value: ClaimValue
    unit: str | None
    inside: ClaimValue


class FormRow(QWidget):
    """One row. Subclasses make the control and implement `is_empty`, `read` and `show_value`.

    `name` is the field's name in errors. Errors of a half-typed value appear after a pause; an empty required field is
    reported on saving.
    """

    #: The user changed the content of the row.
    edited = Signal()

    def __init__(self, theme: Theme, name: str, label: str, *, required: bool = False, aside: str = "") -> None:
        super().__init__()
        self.theme = theme
        self.name = name
        self.label = label
        self.required = required
        #: Returns the error and the doubt about a readable value.
        self.judge: Callable[[], FieldVerdict] | None = None
        self.touched = False
        self._aside = aside
        self._unit: ThemedLabel | None = None
        self._fault = FieldRemark(theme, "", "unfit", "unfit")
        self._doubt = FieldRemark(theme, "triangle-alert", "disputed", "text1")
        self._echo = FieldRemark(theme, "", "text3", "text3")
        self._timer = make_delay(self, TELL_AFTER_MS, self.check)

    # To implement in subclasses

    def is_empty(self) -> bool:
        raise NotImplementedError

    def read(self) -> object:
        """Return the value of a non-empty row; raises `FieldError`."""
        raise NotImplementedError

    def control(self) -> QWidget:
        raise NotImplementedError

    def show_value(self, value: Any) -> None:  # noqa: ANN401 - the value type of the row
        """Show a value, None for an empty row, without counting it as user input."""
        raise NotImplementedError

    @property
    def attributes(self) -> tuple[str, ...]:
        return (self.name,)

    @property
    def edited_attributes(self) -> tuple[str, ...]:
        return self.attributes

    def list_figures(self) -> Iterator[RowFigure]:
        """Yield the row's figures by attribute; raises `FieldError`."""
        if not self.is_empty():
            value = self.read()
            text = value if isinstance(value, str | tuple) else None
            yield RowFigure(self.name, text, None, text)

    def show_figures(self, values: Mapping[str, ClaimValue]) -> None:
        """Show values of its attributes, in internal units."""
        self.show_value(values.get(self.name))

    # Interface for forms

    @property
    def fault(self) -> str:
        return self._fault.text()

    @property
    def doubt(self) -> str:
        return self._doubt.text()

    @property
    def echo(self) -> str:
        return self._echo.text()

    def value(self) -> object:
        """Return the value, None if the row is empty; raises `FieldError`."""
        return None if self.is_empty() else self.read()

    def text(self) -> str | None:
        """Return the value in words, None if the row is empty; raises `FieldError`."""
        return None if self.is_empty() else str(self.read())

    def check_entered(self) -> None:
        if not self.is_empty():
            self.check()

    def check(self, *, saving: bool = False) -> bool:
        """Show the error of the row, if any; return whether the row is valid."""
        self._timer.stop()
        if saving and self.required and self.is_empty():
            self.show_fault(tr("{label} is missing", label=self.label))
            return False
        try:
            self.value()
        except FieldError as error:
            self.set_warning("")
            self.show_fault(str(error))
            return False
        verdict = NO_VERDICT if self.judge is None or self.is_empty() else self.judge()
        self.set_warning(verdict.doubt)
        self.show_fault(verdict.fault)
        return not verdict.fault

    def show_fault(self, fault: str) -> None:
        """Show an error at the row; an empty text clears it."""
        if fault == self.fault:
            return
        self._fault.show_text(fault)
        self.mark_fault(bool(fault))
        self._describe()

    def set_warning(self, doubt: str) -> None:
        """Show a warning, which does not prevent saving."""
        self._doubt.show_text(doubt)
        self._describe()

    def set_echo(self, echo: str) -> None:
        self._echo.show_text(echo)

    def set_aside(self, text: str) -> None:
        self._aside = text
        if self._unit is not None:
            self._unit.setText(text)
        self._describe()

    def focus_control(self) -> None:
        self.control().setFocus(Qt.FocusReason.TabFocusReason)

    def mark_fault(self, wrong: bool) -> None:
        mark_fault(self.control(), wrong)

    # Construction

    def lay_out(self, *parts: QWidget, top: bool = False, keeps_width: bool = False) -> None:
        """Place the control next to the label.

        `top` aligns the label at the top; `keeps_width` keeps the control's own width.
        """
        px = self.theme.px
        caption = ThemedLabel(self.theme, f"{self.label}\N{NO-BREAK SPACE}*" if self.required else self.label)
        caption.setBuddy(self.control())
        caption.setWordWrap(True)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(px(10))
        grid.setVerticalSpacing(px(3))
        grid.setColumnMinimumWidth(0, px(LABEL))
        grid.setColumnStretch(1, 1)
        upper = Qt.AlignmentFlag.AlignTop if top else Qt.AlignmentFlag.AlignVCenter
        caption.setFixedWidth(px(LABEL))
        if top:
            caption.setContentsMargins(0, px(4), 0, 0)
        grid.addWidget(caption, 0, 0, upper)
        for place, part in enumerate(parts, start=1):
            grid.addWidget(part, 0, place, Qt.AlignmentFlag.AlignLeft if keeps_width else Qt.AlignmentFlag(0))
        span = len(parts)
        if self._aside:
            span += 1
            self._unit = ThemedLabel(self.theme, self._aside, font="small", color="text3")
            grid.addWidget(self._unit, 0, span)
        if keeps_width:
            span += 1
            grid.setColumnStretch(1, 0)
            grid.setColumnStretch(span, 1)
        for line, remark in enumerate((self._fault, self._doubt, self._echo), start=1):
            grid.addWidget(remark, line, 1, 1, span)
        self.control().setAccessibleName(tr("{label}, required", label=self.label) if self.required else self.label)
        self._describe()

    def user_edited(self) -> None:
        """Record an edit by the user; its errors are shown after a pause in typing."""
        self.touched = True
        if self.fault:
            self.check()
        else:
            self._timer.start()
        self.edited.emit()

    def _describe(self) -> None:
        description = ". ".join(filter(None, (self.fault, self.doubt, self._aside)))
        self.control().setAccessibleDescription(description)


class FaultLineEdit(ValueEdit):
    """A line edit with an icon at its right end while its content is invalid."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._sign: QAction | None = None

    def event(self, event: QEvent) -> bool:
        """Follow the error mark, which is a property of the line edit."""
        is_handled = super().event(event)
        if event.type() == QEvent.Type.DynamicPropertyChange:
            wrong = self.property("fault") == "true"
            if wrong and self._sign is None:
                icon = self._theme.icon("circle-alert", "unfit", _ICON)
                self._sign = self.addAction(icon, QLineEdit.ActionPosition.TrailingPosition)
            elif not wrong and self._sign is not None:
                self.removeAction(self._sign)
                self._sign = None
        return is_handled


class WheelBlocker(QObject):
    """Passes wheel events to the form, so that scrolling over a combo box does not change its value."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Wheel and isinstance(watched, QWidget):
            event.ignore()
            return True
        return False
