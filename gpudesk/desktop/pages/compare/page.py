"""The Compare page: headline answers above the comparison table, and the choice of its rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from functools import partial
from itertools import pairwise
from typing import Final

from PySide6.QtCore import QAbstractItemModel, QEvent, QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPainterStateGuard, QPaintEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from gpudesk.desktop.pages.compare.commands import ArrangementController, ComparisonCommands
from gpudesk.desktop.pages.compare.comparison_model import HEADING_ROLE, ComparisonModel, RowChoiceModel
from gpudesk.desktop.pages.compare.headlines import HeadlineStrip
from gpudesk.desktop.pages.compare.table import ComparisonTableView
from gpudesk.desktop.pages.page import DeskPage, VerdictLine
from gpudesk.desktop.session import scenario_edits
from gpudesk.desktop.session.actions import ActionSpec, MenuId
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.selection import Selection, select_attribute, select_compared_figure, select_figure
from gpudesk.desktop.session.settings import UserSettings
from gpudesk.desktop.ui.tables.painted_table import TableCorner
from gpudesk.desktop.ui.tables.table_base import Index
from gpudesk.desktop.ui.tables.text_layer import TINT, MarkLegend
from gpudesk.desktop.ui.theme.focus_ring import resize_to_fit
from gpudesk.desktop.ui.theme.glyphs import FAULT_GLYPHS
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import ThemePainter
from gpudesk.desktop.ui.widgets.buttons import Button, IconButton, LinkButton, SegmentedControl
from gpudesk.desktop.ui.widgets.filters import FilterField
from gpudesk.desktop.ui.widgets.layouts import STRETCH, ThemedLabel, fill_background, make_column, make_row
from gpudesk.desktop.ui.widgets.page_frame import AnswerStack
from gpudesk.desktop.ui.widgets.qt_support import format_key, round_corners, set_manual_topic
from gpudesk.domain.answer import Answer
from gpudesk.domain.estimate import EstimateBasis
from gpudesk.paths import MissingFileError
from gpudesk.report.comparison.headlines import build_screen_headlines
from gpudesk.report.comparison.table import ComparisonTableBuilder
from gpudesk.report.comparison.tables import CellMarking, ComparisonGroup, ComparisonRow, RowOrigin
from gpudesk.report.comparison.verdicts import describe_comparison
from gpudesk.text.messages import InputError, format_message, to_sentence
from gpudesk.text.translation import tr, trn

_CheckState = Qt.CheckState
_CHECK_ROLE = Qt.ItemDataRole.CheckStateRole
_WIDTH = 260
_LINES = 16


class _CheckDelegate(QStyledItemDelegate):
    """Paints a check box and a label, headings bold; any click on a line toggles it."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:  # noqa: ARG002
        theme = self._theme
        return QSize(theme.px(120), theme.line("body") + theme.px(12 if index.data(HEADING_ROLE) else 6))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        with QPainterStateGuard(painter):
            self._draw(ThemePainter(painter, self._theme), option, index)

    def _draw(self, pen: ThemePainter, option: QStyleOptionViewItem, index: Index) -> None:
        theme, painter = self._theme, pen.painter
        place: QRectF = option.rect.toRectF()
        state = option.state
        if state & (QStyle.StateFlag.State_Selected | QStyle.StateFlag.State_MouseOver):
            pen.tint(place, "selection_raised", radius=4)
        heading = bool(index.data(HEADING_ROLE))
        side = theme.px(16)
        left = place.left() + theme.px(8 if heading else 20)
        box = QRectF(left, round(place.center().y() - side / 2), side, side)
        tick = _CheckState(index.data(_CHECK_ROLE))
        if tick == _CheckState.Unchecked:
            pen.frame(box, "control", radius=4, fill="page")
        else:
            pen.tint(box, "text1", radius=4)
            icon = "check" if tick == _CheckState.Checked else "minus"
            inset = theme.px(2)
            pen.icon(icon, box.left() + inset, box.top() + inset, side - 2 * inset, "page")
        words = QRectF(box.right() + theme.px(8), place.top(), place.right() - box.right() - 12, place.height())
        pen.text(words, str(index.data()), font="label" if heading else "body")
        painter.setBrush(Qt.BrushStyle.NoBrush)

    def editorEvent(
        self,
        event: QEvent,
        model: QAbstractItemModel,
        option: QStyleOptionViewItem,  # noqa: ARG002
        index: Index,
    ) -> bool:
        pressed = event.type() == QEvent.Type.MouseButtonRelease
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            pressed = event.key() in (Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if not pressed:
            return False
        off = _CheckState(index.data(_CHECK_ROLE)) == _CheckState.Checked
        return model.setData(index, _CheckState.Unchecked if off else _CheckState.Checked, _CHECK_ROLE)


class _CheckList(QListView):
    """Passes Enter to the delegate too, like the space bar."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self.edit(self.currentIndex(), QAbstractItemView.EditTrigger.AnyKeyPressed, event)
            return
        super().keyPressEvent(event)


class RowChooser(QFrame):
    """Stays open until Esc or a click outside; each toggle applies at once."""

    #: Keys of the rows to hide.
    chosen = Signal(object)
    all_wanted = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self._theme = theme
        self._round = round_corners(self)
        self.setAccessibleName(tr("Visible rows"))
        self.model = RowChoiceModel(self)
        self.model.chosen.connect(self.chosen)
        self._list = _CheckList(self)
        self._list.setModel(self.model)
        self._list.setItemDelegate(_CheckDelegate(theme, self._list))
        self._list.setAccessibleName(tr("Visible rows"))
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._list.setMouseTracking(True)
        self._list.setProperty("kind", "raised")
        self._list.setFrameShape(QFrame.Shape.NoFrame)
        title = ThemedLabel(theme, tr("Visible rows"), font="caption_strong", color="text3")
        show_all = LinkButton(theme, tr("Show all"), self.all_wanted)
        head = make_row(title, STRETCH, show_all, margins=(8, 4, 8, 0))
        make_column(head, self._list, gap=4, margins=(6, 6, 6, 6), on=self)

    def show_rows(self, groups: tuple[ComparisonGroup, ...], hidden: Set[str]) -> None:
        """List rows, checked unless hidden; the current line stays."""
        row = self._list.currentIndex().row()
        scroll = self._list.verticalScrollBar().value()
        self.model.show(groups, hidden)
        self._list.setCurrentIndex(self.model.index(max(0, row)))
        self._list.verticalScrollBar().setValue(scroll)

    def open_below(self, anchor: QWidget) -> None:
        theme = self._theme
        line = theme.line("body") + theme.px(7)
        resize_to_fit(self, theme.px(_WIDTH), line * (_LINES + 1) + theme.px(24))
        corner = anchor.mapToGlobal(QPoint(anchor.width(), anchor.height() + 4)) - QPoint(self.width(), 0)
        lowest = self.screen().availableGeometry().bottom() - self.height()
        self.move(corner.x(), min(corner.y(), lowest))
        self.show()
        self._list.setFocus(Qt.FocusReason.PopupFocusReason)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's name
        with QPainter(self) as painter:
            radius = 8.0 if self._round else 0.0
            ThemePainter(painter, self._theme).frame(QRectF(self.rect()), "strong", radius=radius, fill="raised")


_BEST: Final = TINT
#: A lower page has no headline answers, in design lengths.
_LEAST_WITH_STRIP: Final = 440
#: The order of marks in the legend.
_ORDER: Final = (_BEST, "overlap", "own", "disputed", *(basis.value for basis in EstimateBasis), "partly", "unfit")


def find_marks(rows: Iterable[ComparisonRow]) -> tuple[str, ...]:
    """Return the marks used in these rows, in the order of the legend."""
    marks: set[str] = set()
    for row in rows:
        for cell in row.cells:
            if cell.mark in (CellMarking.BEST, CellMarking.TIED):
                marks.add(_BEST)
            if cell.mark in (CellMarking.TIED, CellMarking.OPEN):
                marks.add("overlap")
            elif cell.mark in FAULT_GLYPHS:
                marks.add(FAULT_GLYPHS[cell.mark])
            if cell.basis is not None:
                marks.add(cell.basis.value)
            if cell.own:
                marks.add("own")
            if cell.disputed:
                marks.add("disputed")
    return tuple(mark for mark in _ORDER if mark in marks)


def explain_mark(mark: str) -> str:
    return {
        _BEST: tr("Best one or two in row"),
        "overlap": tr("Too close to call"),
        "own": tr("Your value"),
        "disputed": tr("Sources disagree"),
        EstimateBasis.CALIBRATED.value: tr("Calibrated"),
        EstimateBasis.ESTIMATED.value: tr("Estimated"),
        EstimateBasis.UNCALIBRATED.value: tr("Uncalibrated"),
        "partly": tr("Requests queue"),
        "unfit": tr("Does not run"),
    }[mark]


class ComparisonLegend(MarkLegend):
    """Explains the marks in the table, and no others."""

    def show_marks(self, marks: tuple[str, ...], *, has_odds: bool) -> None:
        bars = [("ink3", tr("Bars: odds of being best"))] if has_odds else []
        self.explain([*((mark, explain_mark(mark)) for mark in marks), *bars])


class ComparisonCorner(TableCorner):
    """Shows the number of rows, and a link to hidden columns."""

    #: The user wants to show hidden columns.
    columns_wanted = Signal()

    def __init__(self, theme: Theme, view: QTableView) -> None:
        super().__init__(theme, view)
        self._text = ""
        self._link = LinkButton(theme, "", self.columns_wanted, parent=self)
        self._link.hide()

    def show_count(self, text: str, hidden_columns: int) -> None:
        self._text = text
        self.setAccessibleName(text)
        self._link.setVisible(hidden_columns > 0)
        if hidden_columns:
            self._link.setText(trn("Show {n} hidden column", "Show {n} hidden columns", hidden_columns))
        self.place()
        self.update()

    def place(self) -> None:
        super().place()
        theme, size = self._theme, self._link.sizeHint()
        width = min(size.width(), self.width() - theme.px(20))
        self._link.setGeometry(theme.px(16), theme.px(14), width, size.height())

    def paint(self, pen: ThemePainter) -> None:
        theme = self._theme
        pen.painter.fillRect(self.rect(), theme.color("page"))
        bottom = self.height() - 1
        pen.hairline(0, bottom, self.width(), bottom, "strong")
        line = theme.line("caption")
        place = QRectF(theme.px(16), self.height() - theme.px(8) - line, self.width() - theme.px(20), line)
        pen.text(place, self._text, font="small", color="text3")


_ALL_ROWS, _DIFFERENCES = "all", "differences"
_SECTION = 51


class ComparePage(DeskPage):
    """Which is better at what. Selecting a cell selects its figure on the desk."""

    page_id = "compare"

    def __init__(self, desk: Desk, theme: Theme, settings: UserSettings, parent: QWidget | None = None) -> None:
        super().__init__(desk, theme, settings, parent)
        self.setAccessibleName(tr("Compare"))
        self._maker = ComparisonTableBuilder(desk.formatter)
        self._arranger = ArrangementController(settings, self)
        self.model = ComparisonModel(desk.formatter, self)
        self.view = ComparisonTableView(theme, self.model)
        self.view.setAccessibleName(tr("Comparison"))
        self._commands = ComparisonCommands(desk, theme, self._arranger, self.model, self.view)
        self._chooser = RowChooser(theme, self)
        self.strip = HeadlineStrip(theme)
        # The first decision loads the rules, which takes 0.15 s.
        self.verdict = VerdictLine(theme, is_slow=True)
        self.free_counts = LinkButton(theme, tr("Use the smallest counts that fit"))
        self.decided_counts = LinkButton(theme, tr("Use the verdict's counts"))
        # Until the first verdict.
        self.decided_counts.hide()
        self._legend = ComparisonLegend(theme)
        self._has_odds = False
        self._corner = ComparisonCorner(theme, self.view)
        self._build()
        self._connect()
        theme.follow(self._dress)

    # Construction

    def _build(self) -> None:
        theme = self.theme
        self.filter = FilterField(theme, tr("Filter rows"), tr("Show only rows with these words  /"))
        self._segment = SegmentedControl(
            theme, tr("Rows"), ((_ALL_ROWS, tr("All rows")), (_DIFFERENCES, tr("Differences only")))
        )
        self._segment.set_value(_DIFFERENCES if self._arranger.arrangement.differences_only else _ALL_ROWS)
        self._rows = IconButton(theme, "sliders-horizontal", tr("Choose rows"))
        self._print = Button(theme, tr("Print sheet"), icon="printer", kind="primary", key=format_key("Ctrl+P"))
        set_manual_topic("sheet", self._print)
        self._title = ThemedLabel(theme, tr("Compare"), font="page")
        self._head = QWidget()
        make_row(
            self._title,
            STRETCH,
            self.filter,
            self._segment,
            self._rows,
            self._print,
            gap=8,
            margins=(16, 0, 16, 0),
            scaled=theme,
            on=self._head,
        )
        content = QWidget()
        self._remedy = QWidget()
        self._remedy.hide()
        margins = (16, 0, 16, 4)
        make_row(self.free_counts, self.decided_counts, STRETCH, margins=margins, scaled=theme, on=self._remedy)
        make_column(
            self.verdict, self.verdict.terms, self._remedy, self.strip, (self.view, 1), self._legend, gap=0, on=content
        )
        self.body = AnswerStack(theme, content)
        make_column(self._head, (self.body, 1), gap=0, on=self)
        links = (self.free_counts, self.decided_counts)
        in_order = (self.filter, self._segment, self._rows, self._print, *links, self.strip, self.view)
        for before, after in pairwise(in_order):
            QWidget.setTabOrder(before, after)

    def _connect(self) -> None:
        desk, arranger, view = self.desk, self._arranger, self.view
        desk.selection_changed.connect(self._follow_selection)
        arranger.changed.connect(self._rearranged)
        view.cell_chosen.connect(self._cell_chosen)
        view.sort_requested.connect(self._commands.sort_by)
        view.copy_requested.connect(self._commands.copy)
        view.menu_requested.connect(lambda row, column, place: self._commands.open_menu(row, column, place, self))
        self.strip.chosen.connect(lambda key, name: desk.select(select_compared_figure(key, name)))
        self.filter.changed.connect(lambda text: arranger.change(filter=text))
        self.filter.left.connect(self.focus_content)
        self._segment.chosen.connect(lambda key: arranger.change(differences_only=key == _DIFFERENCES))
        self._rows.clicked.connect(self._open_chooser)
        self._chooser.chosen.connect(lambda hidden: arranger.change(hidden_rows=hidden))
        self._chooser.all_wanted.connect(arranger.show_all_rows)
        self._corner.columns_wanted.connect(arranger.show_all_columns)
        self._print.clicked.connect(self.preview_requested)
        self.body.wanted.connect(self.wanted)
        self.verdict.due.connect(self._show_verdict)
        self.free_counts.clicked.connect(
            lambda: desk.apply(scenario_edits.free_counts(desk.scenario), self.free_counts.text())
        )
        self.decided_counts.clicked.connect(self._use_decided_counts)

    def _dress(self) -> None:
        self._head.setFixedHeight(self.theme.px(48))
        fill_background(self, self.theme.color("page"))
        self._fit_strip()

    # Display

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_strip()

    def _fit_strip(self) -> None:
        """Leave a low page, as with large text, to the table, which has the figures of the strip too."""
        self.strip.setVisible(self.height() >= self.theme.px(_LEAST_WITH_STRIP))

    def refresh(self) -> None:
        desk = self.desk
        if desk.missing is None and desk.answer is not None:
            answer = self._add_costs(desk.answer)
            table = self._maker.table(answer)
            self._arranger.forget_columns(table)
            self.free_counts.setVisible(_is_helped_by_other_counts(answer))
            self._show_remedy()
            self.model.show(table, self._arranger.arrangement)
            headlines = build_screen_headlines(answer, self.desk.formatter)
            self.strip.show_answers(headlines, steady=self.desk.in_gesture)
            self._has_odds = any(headline.odds for headline in headlines)
            self._tell_shown()
            self._follow_selection()
            self.verdict.request()
        usable = self.body.show_state(self._describe_problems(), desk.missing, answered=desk.answer is not None)
        for control in (self.filter, self._segment, self._rows, self._print):
            control.setVisible(usable)

    def _describe_problems(self) -> str:
        """Return why the scenario, or one of its columns, has no answer; empty if all have one."""
        desk, formatter = self.desk, self.desk.formatter
        if desk.missing is not None:
            return ""
        if desk.problem is not None:
            words = to_sentence(format_message(desk.problem.problem, formatter))
            if desk.answer is None:
                return words
            return tr("{problem} The figures below are from before this change.", problem=words)
        columns = () if desk.answer is None else desk.answer.columns
        problems = [
            tr("{name}: {problem}", name=name, problem=to_sentence(format_message(column.problem, formatter)))
            for name, column in zip(desk.names, columns, strict=True)
            if column.problem is not None
        ]
        return " ".join(problems)

    def _add_costs(self, answer: Answer) -> Answer:
        """Return the answer with its costs; unchanged if the cost assumptions cannot be read."""
        evaluated = self.desk.evaluated
        if evaluated is None:
            return answer
        try:
            return evaluated.answer_with_costs
        except (InputError, MissingFileError):
            return answer

    def _show_verdict(self) -> None:
        self.verdict.show_verdict(self._describe_verdict)
        self._show_remedy()

    def _show_remedy(self) -> None:
        self._remedy.setVisible(not (self.free_counts.isHidden() and self.decided_counts.isHidden()))

    def _use_decided_counts(self) -> None:
        evaluated = self.desk.evaluated
        if evaluated is not None:
            counts = [each.count if each.eligible else None for each in evaluated.decision.candidates]
            self.desk.apply(scenario_edits.use_counts(self.desk.scenario, counts), self.decided_counts.text())

    def _describe_verdict(self) -> Sequence[str]:
        evaluated = self.desk.evaluated
        self.decided_counts.hide()
        if evaluated is None:
            return ()
        # Counts that are stated are not sized for a demand.
        has_other_counts = self.desk.scenario.demand is None and bool(evaluated.list_counted_names())
        self.decided_counts.setVisible(has_other_counts)
        return describe_comparison(evaluated.answer_with_costs, evaluated.decision, self.desk.formatter)

    def _tell_shown(self) -> None:
        model, arrangement = self.model, self._arranger.arrangement
        rows = [line.row for line in model.lines if line.row is not None]
        self._legend.show_marks(find_marks(rows), has_odds=self._has_odds)
        row_count, every = len(rows), model.all_rows
        count = trn("{n} row", "{n} rows", every) if row_count == every else tr("{n} of {m} rows", n=row_count, m=every)
        self._corner.show_count(count, len(arrangement.hidden_columns))
        self.view.empty_text = self._explain_empty()
        self.view.setAccessibleDescription(count)

    def _explain_empty(self) -> str:
        arrangement = self._arranger.arrangement
        if arrangement.filter:
            return tr("No row contains “{words}”", words=arrangement.filter)
        if arrangement.differences_only:
            return tr("The shown rows are all equal")
        return tr("All rows are hidden")

    def _rearranged(self) -> None:
        arrangement = self._arranger.arrangement
        self._segment.set_value(_DIFFERENCES if arrangement.differences_only else _ALL_ROWS)
        self.filter.set_text(arrangement.filter)
        self.model.show(self.model.table, arrangement)
        self._tell_shown()
        if self._chooser.isVisible():
            self._chooser.show_rows(self.model.table.groups, arrangement.hidden_rows)

    # Selection

    def propose_selection(self) -> Selection | None:
        """Return the first figure, as the table does when it gets the focus."""
        return select_figure(self.desk.keys[0], "output_tokens_per_s") if self.body.usable else None

    def _cell_chosen(self, row_key: str, column_key: str) -> None:
        row = next((line.row for line in self.model.lines if line.key == row_key), None)
        if row is not None:
            self.desk.select(_select_row(row, column_key))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._follow_selection()

    def _follow_selection(self) -> None:
        """Make the selected figure's cell current; if several rows show it, the current one stays."""
        if not self.isVisible():
            return
        chosen = self.desk.selection
        keys = self.view.get_current_keys()
        if chosen is not None and keys is not None:
            row = next((line.row for line in self.model.lines if line.key == keys[0]), None)
            if row is not None and _select_row(row, keys[1]) == chosen:
                return
        if chosen is None or self.desk.is_selection_proposed:
            return
        row = next(
            (
                line.row
                for line in self.model.lines
                if line.row is not None and _select_row(line.row, chosen.column) == chosen
            ),
            None,
        )
        if row is not None:
            self.view.show_current(self.model.index_of(row.key, chosen.column))

    # Commands

    def focus_content(self) -> None:
        self.view.setFocus(Qt.FocusReason.OtherFocusReason)

    def focus_filter(self) -> None:
        self.filter.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _open_chooser(self) -> None:
        self._chooser.show_rows(self.model.table.groups, self._arranger.arrangement.hidden_rows)
        self._chooser.open_below(self._rows)

    def _toggle_differences(self) -> None:
        self._arranger.change(differences_only=not self._arranger.arrangement.differences_only)

    def list_page_actions(self) -> list[ActionSpec]:
        make = partial(ActionSpec, menu=MenuId.VIEW, section=_SECTION)
        return [
            make("compare.filter", tr("Filter rows"), self.focus_filter, "search", ("/",), single_key=True),
            make(
                "compare.differences",
                tr("Show differences only"),
                self._toggle_differences,
                "list-filter",
                checked=lambda: self._arranger.arrangement.differences_only,
            ),
            make("compare.rows", tr("Choose rows…"), self._open_chooser, "sliders-horizontal"),
            *self._commands.actions(),
        ]


def _select_row(row: ComparisonRow, column_key: str) -> Selection:
    assert row.reference is not None, "every row of Compare can be explained"
    if row.reference.origin is RowOrigin.ATTRIBUTE:
        return select_attribute(column_key, row.reference.name)
    return select_compared_figure(column_key, row.reference.name)


def _is_helped_by_other_counts(answer: Answer) -> bool:
    """Whether a column does not fit at its count, but would with another."""
    return any(
        choice.count is not None and column.estimate is not None and column.estimate.needs is not None
        for choice, column in zip(answer.scenario.accelerators, answer.columns, strict=True)
    )
