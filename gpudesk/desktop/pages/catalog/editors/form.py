"""Base dialogs of all forms: rows in sections, faults at their fields, one undoable step on saving."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QWidget

from gpudesk.desktop.pages.catalog.backups import RewriteButton
from gpudesk.desktop.pages.catalog.editors.rows import FieldError, FormRow
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.jobs import Jobs
from gpudesk.desktop.ui.theme.focus_ring import ThemedDialog
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import ThemePainter
from gpudesk.desktop.ui.widgets.buttons import Button
from gpudesk.desktop.ui.widgets.layouts import (
    STRETCH,
    FullWidthScrollArea,
    ThemedLabel,
    make_column,
    make_row,
    set_beside,
)
from gpudesk.desktop.ui.widgets.page_frame import ProblemNote
from gpudesk.desktop.ui.widgets.qt_support import ask_question, format_key
from gpudesk.domain.progress import ProgressSteps
from gpudesk.domain.user_facts import FactEdit, UserFacts
from gpudesk.text.messages import InputError, format_input_error, format_message
from gpudesk.text.translation import tr


def confirm_removal(parent: QWidget, question: str, verb: str, more: str = "") -> bool:
    """Ask for confirmation of a removal, which can be undone; return the answer."""
    text = f"{more} {tr('You can undo this until you quit.')}".strip()
    return ask_question(parent, tr("GPU Desk"), question, text, verb, tr("Cancel"))


_FORM_WIDTH, _FORM_HEIGHT = 560.0, 700.0
#: The side widget: its width next to the rows, its height below them, and the width of rows below which it is hidden.
_ASIDE, _ASIDE_BELOW, _NARROW = 300.0, 190.0, 420.0
#: Space kept above and below a row that is scrolled to.
_AROUND = 24.0
#: Qt's maximum size of a widget.
_FREE = 16_777_215
#: Room for the window's frame and the desktop's bars on a screen.
_SCREEN_MARGIN = 80


class FormDialog(ThemedDialog):
    """Subclasses add rows and implement `edit`; `save` writes its result.

    Enter saves. Escape closes, after confirmation if something was entered. If saving fails, the form stays, with the
    reason above the rows or at the faulty field.
    """

    manual_topic = "values"

    def __init__(
        self,
        desk: Desk,
        theme: Theme,
        title: str,
        *,
        save: str,
        leave: str = "",
        parent: QWidget | None = None,
        wide: bool = False,
        writes_facts: bool = True,
    ) -> None:
        """Name the form and its two buttons; with `wide` there is room for a side widget.

        Without `writes_facts` only settings are changed, which need no file of facts.
        """
        super().__init__(theme, title, parent=parent)
        self.desk = desk
        self.theme = theme
        self.rows: list[FormRow] = []
        self.saved = False
        self._wide = wide
        self._sized = False
        self._aside: QWidget | None = None
        self.note = ProblemNote(theme)
        self.save_button = Button(theme, save, self.accept, kind="primary", key=format_key("Enter"))
        self.leave_button = Button(theme, leave or tr("Cancel"), self.reject)
        self.column = make_column(gap=theme.px(10))
        self.anew = RewriteButton(theme, desk.service.user_catalog, desk.formatter, self._show_rewrite_offer)
        self.left_buttons = make_row(self.anew)
        px = self.theme.px
        self._body = QWidget()
        make_column(self.column, STRETCH, margins=(px(24), px(16), px(24), px(16)), on=self._body)
        area = self._area = FullWidthScrollArea()
        area.show_widget(self._body)
        self._fixed = make_column(gap=px(8))
        self._halves = make_row((area, 1), gap=0)
        self._top = make_column(self.note)
        make_column(self._top, (self._halves, 1), self._fixed, self._make_button_row(), gap=0, on=self)
        if writes_facts:
            self._show_file_problem()

    # To implement in subclasses

    def edit(self) -> FactEdit | None:
        """Return the step to save, None if nothing would change.

        Raises `FieldError` or `InputError`, whose `where` can name a row.
        """
        raise NotImplementedError

    def after_saving(self) -> None: ...

    # Construction

    def add_section(self, title: str, rows: Iterable[FormRow] = (), remark: str = "") -> None:
        self.column.addSpacing(self.theme.px(8))
        self.column.addWidget(ThemedLabel(self.theme, title, font="section"))
        if remark:
            self.column.addWidget(ThemedLabel(self.theme, remark, font="small", color="text2", wrap=True))
        self.add_rows(rows)

    def add_rows(self, rows: Iterable[FormRow]) -> None:
        for row in rows:
            self.rows.append(row)
            self.column.addWidget(row)

    def add_head(self, what: str, of_what: str = "") -> None:
        head = make_column(ThemedLabel(self.theme, what, font="page", wrap=True), gap=self.theme.px(2))
        if of_what:
            head.addWidget(ThemedLabel(self.theme, of_what, color="text2", wrap=True))
        self.column.addLayout(head)

    def set_aside(self, widget: QWidget) -> None:
        """Place a widget to the right of the rows, or below them in a narrow window."""
        self._aside = widget
        self._halves.addWidget(widget)
        self._arrange()

    def add_fixed(self, *parts: QWidget) -> None:
        """Place rows or remarks between the scroll area and the buttons, where they stay visible."""
        px = self.theme.px
        self._fixed.setContentsMargins(px(24), px(12), px(24), px(4))
        for part in parts:
            if isinstance(part, FormRow):
                self.rows.append(part)
            self._fixed.addWidget(part)

    def add_left_button(self, text: str, act: Callable[[], object], icon: str = "") -> Button:
        """Add a button at the left of the button row; return it."""
        button = Button(self.theme, text, act, icon=icon)
        self.left_buttons.addWidget(button)
        return button

    def row(self, name: str) -> FormRow | None:
        return next((row for row in self.rows if row.name == name), None)

    # Saving and closing

    @property
    def entered(self) -> bool:
        return any(row.touched for row in self.rows)

    def accept(self) -> None:
        """Save and close; show errors at their fields, keep all entries, and focus the first error."""
        self.show_top_message("")
        usable = [row.check(saving=True) for row in self.rows]
        if all(usable):
            self._try(self.save)
        else:
            self._go_to_fault()

    def save(self) -> None:
        """Save the valid entries and close; raises `FieldError` or `InputError`, whose `where` can name a row."""
        self._take(self.edit())

    def apply_immediately(self, make_step: Callable[[], FactEdit | None]) -> None:
        """Apply an edit that ignores the rows, if any; show the reason if it fails."""

        def save() -> None:
            step = make_step()
            if step is not None:
                self._take(step)

        self._try(save)

    def _try(self, save: Callable[[], object]) -> None:
        try:
            save()
        except FieldError as error:
            self.show_problem(str(error))
        except InputError as error:
            self.show_error(error)

    def _take(self, step: FactEdit | None) -> None:
        if step is not None:
            self.desk.service.user_catalog.do(step)
        self.saved = True
        self.after_saving()
        super().accept()

    def reject(self) -> None:
        """Close, unless something was entered and the user keeps it."""
        if not self.entered or self._confirm_discard():
            super().reject()

    def show_error(self, error: InputError) -> None:
        """Show an error at its field, else above the rows."""
        row = self.row(error.where) if error.where else None
        if row is not None:
            problem = format_message(error.problem, self.desk.formatter)
            row.show_fault(f"{row.label} {problem}" if problem[:1].islower() else problem)
            self._go_to_fault()
            return
        self.show_problem(
            tr("Not saved: {problem}. Your entries are kept.", problem=_strip_full_stop(error, self.desk))
        )
        self.anew.follow()

    def _show_rewrite_offer(self, text: str, _fault: bool) -> None:
        self.show_problem(text)
        self.save_button.setFocus()

    def show_problem(self, text: str) -> None:
        self.show_top_message(text)
        self._area.verticalScrollBar().setValue(0)

    def show_top_message(self, text: str) -> None:
        """Show a text above the rows; an empty text hides it."""
        self._top.setContentsMargins(0, self.theme.px(10) if text else 0, 0, 0)
        self.note.show_text(text)

    def scroll_to_widget(self, widget: QWidget) -> None:
        self._area.ensureWidgetVisible(widget, 0, self.theme.px(_AROUND))

    def _go_to_fault(self) -> None:
        faulty = next((row for row in self.rows if row.fault and row.isVisibleTo(self)), None)
        if faulty is not None:
            faulty.focus_control()
            self.scroll_to_widget(faulty)

    def _confirm_discard(self) -> bool:
        question, more = tr("Discard changes?"), tr("Your entries are not saved yet.")
        return ask_question(self, self.windowTitle(), question, more, tr("Discard changes"), tr("Keep editing"))

    def _show_file_problem(self) -> None:
        """Show before any input that saving is not possible."""
        user_catalog = self.desk.service.user_catalog
        if user_catalog.problem is not None:
            self.note.show_text(
                tr("Saving is not possible: {problem}.", problem=_strip_full_stop(user_catalog.problem, self.desk))
            )
        elif user_catalog.removed:
            self.show_top_message(tr("Saving is not possible: the file with your values was deleted."))
            self.anew.follow()
        elif not user_catalog.writable:
            self.show_top_message(tr("Saving is not possible: the file with your values is read-only."))

    # Window

    def keyPressEvent(self, event: QKeyEvent) -> None:
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if enter and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.accept()
        else:
            super().keyPressEvent(event)

    def showEvent(self, event: QShowEvent) -> None:
        if not self._sized:
            self._sized = True
            room = self.screen().availableGeometry().size() - QSize(_SCREEN_MARGIN, _SCREEN_MARGIN)
            self.resize(self.sizeHint().boundedTo(room))
        super().showEvent(event)

    def sizeHint(self) -> QSize:
        theme = self.theme
        body = self._body.sizeHint().height() + self._fixed.sizeHint().height() + self.theme.px(28 + 10 + 14) + 1
        if not self.note.isHidden():
            body += self.note.height() + theme.px(10)
        width = theme.px(_FORM_WIDTH + (_ASIDE if self._wide else 0))
        return QSize(width, min(body, theme.px(_FORM_HEIGHT)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Move the side widget below the rows in a narrow form."""
        super().resizeEvent(event)
        self._arrange()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        with QPainter(self) as painter:
            level = self._halves.geometry().bottom() + 1
            ThemePainter(painter, self.theme).hairline(0, level, self.width(), level)

    def _make_button_row(self) -> QBoxLayout:
        px = self.theme.px
        return make_row(
            self.left_buttons,
            STRETCH,
            self.leave_button,
            self.save_button,
            gap=px(8),
            margins=(px(24), px(10), px(24), px(14)),
        )

    def _arrange(self) -> None:
        aside, px = self._aside, self.theme.px
        if aside is None:
            return
        beside = self.width() >= px(_NARROW + _ASIDE)
        set_beside(self._halves, beside)
        aside.setFixedSize(_FREE, _FREE)
        if beside:
            aside.setFixedWidth(px(_ASIDE))
            aside.setMinimumHeight(0)
        else:
            aside.setFixedHeight(min(px(_ASIDE_BELOW), self.height() // 3))
            aside.setMinimumWidth(0)


def _strip_full_stop(error: InputError, desk: Desk) -> str:
    return format_input_error(error, desk.formatter).rstrip(".")


_ResultT = TypeVar("_ResultT")


class BackgroundFormDialog(FormDialog):
    """Subclasses call `write` when all input is valid, and `finish` with the result.

    While writing, the form is locked and cannot be closed; on failure all entries are kept.
    """

    def __init__(
        self, desk: Desk, theme: Theme, jobs: Jobs, title: str, *, save: str, parent: QWidget | None = None
    ) -> None:
        super().__init__(desk, theme, title, save=save, leave=tr("Skip file"), parent=parent, wide=True)
        self._jobs = jobs
        self.writing = False
        #: The written step, once it exists.
        self.step: FactEdit | None = None

    def write(self, steps: ProgressSteps[_ResultT], done: Callable[[_ResultT], object]) -> None:
        """Write in the background; `done` receives the result."""
        self.set_writing(writing=True)
        self._jobs.start("import.write", steps, done, self._not_written, self._canceled)

    def finish(self, step: FactEdit, facts: UserFacts) -> None:
        self.step = step
        self.desk.service.user_catalog.adopt(step, facts)
        self.set_writing(writing=False)
        self.saved = True
        self.done(FormDialog.DialogCode.Accepted)

    def accept(self) -> None:
        """Save, unless that is not possible now."""
        if self.save_button.isEnabled():
            super().accept()

    def reject(self) -> None:
        """Close, unless it is being written."""
        if not self.writing:
            super().reject()

    def set_writing(self, *, writing: bool) -> None:
        self.writing = writing
        for widget in self.list_locked_controls():
            widget.setEnabled(not writing)

    def list_locked_controls(self) -> tuple[QWidget, ...]:
        return (self.save_button, self.leave_button, *self.rows)

    def _not_written(self, error: InputError) -> None:
        self.set_writing(writing=False)
        self.show_error(error)

    def _canceled(self) -> None:
        self.set_writing(writing=False)
        self.show_problem(tr("Canceled. Your values are unchanged."))
