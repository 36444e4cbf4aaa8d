"""The page Compare: headline answers over the table of everything that is known of the parts."""

from __future__ import annotations

from itertools import pairwise

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QStackedLayout, QVBoxLayout, QWidget

from gpudesk.desktop.actions import ActionSpec, Menu
from gpudesk.desktop.itemmodels.comparison_model import ComparisonModel
from gpudesk.desktop.pages.compare.arranger import Arranger
from gpudesk.desktop.pages.compare.commands import Commands
from gpudesk.desktop.pages.compare.corner import Corner
from gpudesk.desktop.pages.compare.headline_strip import HeadlineStrip
from gpudesk.desktop.pages.compare.legend import Legend, marks_in
from gpudesk.desktop.pages.compare.rows_chooser import RowsChooser
from gpudesk.desktop.pages.compare.table_view import ComparisonView
from gpudesk.desktop.pages.page import Page
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.selection import Selection, SelectionKind, attribute, figure
from gpudesk.desktop.session.settings import Settings
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.buttons import Button, IconButton
from gpudesk.desktop.widgets.filter_field import FilterField
from gpudesk.desktop.widgets.label import Label
from gpudesk.desktop.widgets.segment import Segment
from gpudesk.desktop.widgets.states import MissingState, ProblemNote
from gpudesk.domain.answers import Answer
from gpudesk.sentences import sentence
from gpudesk.sheets.comparison_headlines import headline_answers
from gpudesk.sheets.comparison_parts import ComparedRow, Origin
from gpudesk.sheets.comparison_table import TableMaker
from gpudesk.sheets.specs import as_sentence
from gpudesk.text import tr, trn

_ALL, _DIFFERENCES = "all", "differences"
_SECTION = 51


class ComparePage(Page):
    """Which is better at what. Selecting a cell selects its figure on the desk."""

    page_id = "compare"

    def __init__(self, desk: Desk, theme: Theme, settings: Settings, parent: QWidget | None = None) -> None:
        """Show nothing until there is an answer."""
        super().__init__(desk, theme, settings, parent)
        self.setAccessibleName(tr("Compare"))
        self._maker = TableMaker(desk.formatter)
        self._arranger = Arranger(settings, self)
        self.model = ComparisonModel(desk.formatter, self)
        self.view = ComparisonView(theme, self.model)
        self.view.setAccessibleName(tr("Comparison"))
        self._commands = Commands(desk, theme, self._arranger, self.model, self.view)
        self._chooser = RowsChooser(theme, self)
        self.strip = HeadlineStrip(theme)
        self._legend = Legend(theme)
        self._corner = Corner(theme, self.view)
        self._missing = MissingState(theme)
        self.note = ProblemNote(theme)
        self._build()
        self._connect()
        theme.follow(self._dress)

    # Putting together

    def _build(self) -> None:
        theme = self.theme
        self.filter = FilterField(theme, tr("Filter rows"), tr("Show only rows that have these words  /"))
        self._segment = Segment(
            theme,
            tr("Rows"),
            ((_ALL, tr("All rows")), (_DIFFERENCES, tr("Differences only"))),
        )
        self._segment.set_value(_DIFFERENCES if self._arranger.arrangement.differences_only else _ALL)
        self._rows = IconButton(theme, "sliders-horizontal", tr("Choose rows"))
        self._print = Button(theme, tr("Print sheet"), icon="printer", kind="primary", key=tr("Ctrl P"))
        self._title = Label(theme, tr("Compare"), font="page")
        self._head = QWidget()
        row = QHBoxLayout(self._head)
        row.setContentsMargins(16, 0, 16, 0)
        row.setSpacing(8)
        row.addWidget(self._title)
        row.addStretch(1)
        for control in (self.filter, self._segment, self._rows, self._print):
            row.addWidget(control)
        self._content = QWidget()
        inner = QVBoxLayout(self._content)
        inner.addWidget(self.strip)
        inner.addWidget(self.view, 1)
        inner.addWidget(self._legend)
        whole = QVBoxLayout(self)
        whole.addWidget(self._head)
        whole.addWidget(self.note)
        in_order = (self.filter, self._segment, self._rows, self._print, self.strip, self.view)
        for before, after in pairwise(in_order):
            QWidget.setTabOrder(before, after)
        self._stack = QStackedLayout()
        # First to the page: a stack that belongs to none shows what it is given as a window.
        whole.addLayout(self._stack, 1)
        self._stack.addWidget(self._content)
        self._stack.addWidget(self._missing)
        self._stack.addWidget(QWidget())
        for layout in (inner, whole):
            layout.setContentsMargins(0, 0, 0, 0)
            layout.setSpacing(0)

    def _connect(self) -> None:
        desk, arranger, view = self.desk, self._arranger, self.view
        desk.selection_changed.connect(self._follow_selection)
        arranger.changed.connect(self._rearranged)
        view.cell_chosen.connect(self._cell_chosen)
        view.sort_requested.connect(self._commands.sort_by)
        view.copy_requested.connect(self._commands.copy)
        view.menu_requested.connect(
            lambda row, column, place: self._commands.open_menu(row, column, place, self)
        )
        self.strip.chosen.connect(lambda key, name: desk.select(figure(key, name)))
        self.filter.changed.connect(lambda text: arranger.change(filter=text))
        self.filter.left.connect(self.focus_content)
        self._segment.chosen.connect(lambda key: arranger.change(differences_only=key == _DIFFERENCES))
        self._rows.clicked.connect(self._open_chooser)
        self._chooser.chosen.connect(lambda hidden: arranger.change(hidden_rows=hidden))
        self._chooser.all_wanted.connect(arranger.show_all_rows)
        self._corner.columns_wanted.connect(arranger.show_all_columns)
        self._print.clicked.connect(self.preview_requested)
        self._missing.wanted.connect(self.wanted)

    def _dress(self) -> None:
        self._head.setFixedHeight(self.theme.px(48))
        self.setAutoFillBackground(True)
        palette = self.palette()
        palette.setColor(self.backgroundRole(), self.theme.colour("page"))
        self.setPalette(palette)

    # Showing

    def refresh(self) -> None:
        """Show the desk's answer, or what is missing."""
        desk = self.desk
        self.note.show_text(self._problems())
        if desk.missing is not None:
            self._missing.show_missing(desk.missing)
            self._stack.setCurrentIndex(1)
        elif desk.answer is None:
            self._stack.setCurrentIndex(2)
        else:
            self._show(desk.answer)
            self._stack.setCurrentIndex(0)
        for control in (self.filter, self._segment, self._rows, self._print):
            control.setVisible(self._stack.currentIndex() == 0)

    def _problems(self) -> str:
        """Return why the scenario, or one of its columns, has no answer; nothing where all have."""
        desk, formatter = self.desk, self.desk.formatter
        if desk.missing is not None:
            return ""
        if desk.problem is not None:
            words = as_sentence(sentence(desk.problem.problem, formatter))
            if desk.answer is None:
                return words
            return tr("{problem} The figures are those from before.", problem=words)
        columns = () if desk.answer is None else desk.answer.columns
        said = [
            tr("{name}: {problem}", name=name, problem=as_sentence(sentence(column.problem, formatter)))
            for name, column in zip(desk.names, columns, strict=True)
            if column.problem is not None
        ]
        return " ".join(said)

    def _show(self, answer: Answer) -> None:
        table = self._maker.table(answer)
        self._arranger.forget_columns(table)
        self.model.show(table, self._arranger.arrangement)
        self.strip.show_answers(headline_answers(answer, self.desk.formatter), steady=self.desk.in_gesture)
        self._tell_shown()
        self._follow_selection()

    def _tell_shown(self) -> None:
        """Say how much of the table is in sight, and what its marks mean."""
        model, arrangement = self.model, self._arranger.arrangement
        rows = [line.row for line in model.lines if line.row is not None]
        self._legend.show_marks(marks_in(rows))
        shown, every = len(rows), model.all_rows
        count = (
            trn("{n} row", "{n} rows", every) if shown == every else tr("{n} of {m} rows", n=shown, m=every)
        )
        self._corner.show_count(count, len(arrangement.hidden_columns))
        self._corner.place(self.view.label_width, self.view.horizontalHeader().height())
        self.view.empty_text = self._why_empty()
        self.view.setAccessibleDescription(count)

    def _why_empty(self) -> str:
        arrangement = self._arranger.arrangement
        if arrangement.filter:
            return tr("No row has “{words}” in it", words=arrangement.filter)
        if arrangement.differences_only:
            return tr("Nothing differs in the rows that are shown")
        return tr("All rows are hidden")

    def _rearranged(self) -> None:
        arrangement = self._arranger.arrangement
        self._segment.set_value(_DIFFERENCES if arrangement.differences_only else _ALL)
        self.filter.set_text(arrangement.filter)
        self.model.show(self.model.table, arrangement)
        self._tell_shown()
        if self._chooser.isVisible():
            self._chooser.show_rows(self.model.table.groups, arrangement.hidden_rows)

    # Selection

    def _cell_chosen(self, row_key: str, column_key: str) -> None:
        row = next((line.row for line in self.model.lines if line.key == row_key), None)
        if row is not None:
            self.desk.select(_selection(row, column_key))

    def _follow_selection(self) -> None:
        """Make the selected figure's cell current; where several rows show it, the one that is stays."""
        chosen = self.desk.selection
        keys = self.view.current_keys()
        if chosen is not None and keys is not None:
            row = next((line.row for line in self.model.lines if line.key == keys[0]), None)
            if row is not None and _selection(row, keys[1]) == chosen:
                return
        if chosen is None or chosen.kind is SelectionKind.MODEL:
            return
        row = next(
            (
                line.row
                for line in self.model.lines
                if line.row is not None and _selection(line.row, chosen.column) == chosen
            ),
            None,
        )
        if row is not None:
            self.view.show_current(self.model.index_of(row.key, chosen.column))

    # Commands

    def focus_content(self) -> None:
        """Give the focus to the table."""
        self.view.setFocus(Qt.FocusReason.OtherFocusReason)

    def focus_filter(self) -> None:
        """Give the focus to the filter."""
        self.filter.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _open_chooser(self) -> None:
        self._chooser.show_rows(self.model.table.groups, self._arranger.arrangement.hidden_rows)
        self._chooser.open_below(self._rows)

    def _toggle_differences(self) -> None:
        self._arranger.change(differences_only=not self._arranger.arrangement.differences_only)

    def actions_of_page(self) -> list[ActionSpec]:
        """Return the page's commands."""
        return [
            ActionSpec(
                "compare.filter",
                tr("Filter rows"),
                self.focus_filter,
                Menu.VIEW,
                _SECTION,
                "search",
                ("/",),
                single_key=True,
            ),
            ActionSpec(
                "compare.differences",
                tr("Show differences only"),
                self._toggle_differences,
                Menu.VIEW,
                _SECTION,
                "list-filter",
                checked=lambda: self._arranger.arrangement.differences_only,
            ),
            ActionSpec(
                "compare.rows",
                tr("Choose rows…"),
                self._open_chooser,
                Menu.VIEW,
                _SECTION,
                "sliders-horizontal",
            ),
            *self._commands.actions(),
        ]


def _selection(row: ComparedRow, column_key: str) -> Selection:
    make = attribute if row.reference.origin is Origin.ATTRIBUTE else figure
    return make(column_key, row.reference.name)
