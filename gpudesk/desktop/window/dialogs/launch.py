"""Commands that start and benchmark a deployment, for copying, with the reason for each variable."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from gpudesk.desktop.ui.theme.focus_ring import ThemedDialog
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.buttons import Button, CopyButton, SegmentedControl
from gpudesk.desktop.ui.widgets.choice_popup import ChoiceOption
from gpudesk.desktop.ui.widgets.fields import FIELD_SIDE, ChoiceField, align_with_fields
from gpudesk.desktop.ui.widgets.layouts import (
    STRETCH,
    FixedWidthText,
    FullWidthScrollArea,
    ThemedLabel,
    make_column,
    make_row,
)
from gpudesk.desktop.ui.widgets.marked_list import MarkedList
from gpudesk.domain.answer import Answer, ComparisonColumn
from gpudesk.domain.estimate import NOTHING_TO_START, LaunchPlan
from gpudesk.report.labels import list_column_names
from gpudesk.report.launch import describe_extra, describe_launched_plan, list_launch_sources
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import Formatter
from gpudesk.text.messages import InputError, Message, format_message
from gpudesk.text.translation import tr

_WIDTH, _HEIGHT, _AROUND = 760.0, 720.0, 6.0
_USE, _REPRODUCE = "use", "reproduce"


class CommandBox(QWidget):
    """A text with a label, to read and to copy; as high as its lines."""

    def __init__(self, theme: Theme, title: str) -> None:
        super().__init__()
        self._theme = theme
        self.title = ThemedLabel(theme, title, font="section")
        self.copy = CopyButton(theme, tr("Copy"), lambda: f"{self.text.toPlainText()}\n")
        self.text = FixedWidthText(theme)
        self.text.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        head = make_row(self.title, STRETCH, self.copy)
        make_column(head, self.text, gap=theme.px(6), on=self)
        self.set_title(title)

    def set_title(self, title: str) -> None:
        self.title.setText(title)
        self.text.setAccessibleName(title)

    def set_text(self, text: str) -> None:
        """Show a text; an empty one hides the box."""
        self.copy.reset()
        self.copy.setAccessibleName(tr("Copy: {what}", what=self.title.text()))
        self.text.setPlainText(text.rstrip("\n"))
        lines = self.text.blockCount()
        high = lines * self.text.fontMetrics().lineSpacing() + 2 * self._theme.px(_AROUND)
        self.text.setFixedHeight(high)
        self.setVisible(bool(text))


class LaunchDialog(ThemedDialog):
    """Shows the commands of one accelerator of the comparison, for its serving engine or another one."""

    manual_topic = "scenario#launch"

    def __init__(
        self, theme: Theme, service: GpuDeskService, answer: Answer, formatter: Formatter, parent: QWidget | None = None
    ) -> None:
        """Show the first accelerator with a fitting estimate; the first if none fits."""
        super().__init__(theme, tr("Launch commands"), (_WIDTH, _HEIGHT), parent)
        self._formatter = formatter
        self._service, self._answer = service, answer
        self._make_head(list_column_names(answer))
        self._make_body()
        self._lay_out()
        self._choose(
            str(
                next(
                    (
                        place
                        for place, each in enumerate(answer.columns)
                        if (each.estimate is not None and each.estimate.fits)
                    ),
                    0,
                )
            )
        )
        self.server.copy.setFocus()

    # Construction

    def _make_head(self, names: Sequence[str]) -> None:
        theme = self._theme
        self.accelerator = ChoiceField(theme, tr("Accelerators"))
        self.accelerator.set_options([ChoiceOption(str(place), name) for place, name in enumerate(names)])
        self.accelerator.chosen.connect(self._choose)
        engines = [(engine, versions[0].name) for engine, versions in self._service.launch_facts.items()]
        self.engine = SegmentedControl(theme, tr("Serving engine"), engines)
        self.engine.chosen.connect(self._choose_engine)
        self.version = ChoiceField(theme, tr("Version"))
        self.version.chosen.connect(self._choose_version)
        purposes = [(_USE, tr("Production")), (_REPRODUCE, tr("Reproduce estimate"))]
        self.purpose = SegmentedControl(theme, tr("Purpose"), purposes)
        self.purpose.chosen.connect(self._show)
        self.plan_label = ThemedLabel(theme, font="small", color="text2", wrap=True)

    def _make_body(self) -> None:
        theme = self._theme
        self.server = CommandBox(theme, tr("Start server"))
        self.file = CommandBox(theme, "")
        self.benchmark = CommandBox(theme, tr("Run benchmark"))
        self.extras = MarkedList(theme)
        self.extras.setAccessibleName(tr("Reasons for each option"))
        self.notes = MarkedList(theme)
        self.notes.setAccessibleName(tr("Notes"))
        self.sources = ThemedLabel(theme, font="small", color="text3", wrap=True, selectable=True)
        self.leave = Button(theme, tr("Close"), self.reject, kind="primary")

    def _lay_out(self) -> None:
        px = self._theme.px
        middle = Qt.AlignmentFlag.AlignVCenter
        head = make_row(self.accelerator, (self.engine, 0, middle), STRETCH, gap=px(12))
        second = make_row(self.version, (self.purpose, 0, middle), STRETCH, gap=px(12))
        foot = make_row(STRETCH, self.leave)
        holder = QWidget()
        make_column(
            self.notes,
            self.server,
            self.extras,
            self.file,
            self.benchmark,
            self.sources,
            STRETCH,
            gap=px(16),
            margins=(0, 0, px(16), 0),
            on=holder,
        )
        self._area = FullWidthScrollArea()
        self._area.show_widget(holder)
        text = tr(
            "Shell commands that start the estimated deployment and benchmark it. "
            "Options match the selected version. Check them if yours differs."
        )
        about = ThemedLabel(self._theme, text, color="text2", wrap=True)
        below = align_with_fields(self._theme, self.plan_label, (self._area, 1), foot, gap=12)
        parts = (align_with_fields(self._theme, about), head, second, (below, 1))
        make_column(*parts, gap=px(12), margins=(px(24 - FIELD_SIDE), px(20), px(24), px(16)), on=self)

    # Interaction

    def _choose(self, place: str) -> None:
        """Show an accelerator, with its own serving engine if there are commands for that."""
        self.accelerator.set_value(place)
        estimate = self._column.estimate
        if estimate is not None and estimate.serving_engine in self._service.launch_facts:
            self.engine.set_value(estimate.serving_engine)
        self._choose_engine()

    def _choose_engine(self) -> None:
        """Offer the versions of the current engine, the newest first."""
        versions = self._service.launch_facts[self.engine.value]
        self.version.set_options([ChoiceOption(each.version, each.version) for each in versions])
        self._choose_version(versions[0].version)

    def _choose_version(self, version: str) -> None:
        self.version.set_value(version)
        self._show()

    @property
    def _column(self) -> ComparisonColumn:
        return self._answer.columns[int(self.accelerator.value)]

    def _show(self) -> None:
        launched = self._make_plan()
        if isinstance(launched, LaunchPlan):
            text, color, plan = describe_launched_plan(launched.estimate, self._formatter), "text2", launched
        else:
            text, color, plan = format_message(launched, self._formatter), "unfit", None
        self.plan_label.set_color(color)
        self.plan_label.setText(text)
        self._area.setVisible(plan is not None)
        if plan is None:
            return
        self.server.set_text(plan.server)
        self.benchmark.set_text(plan.benchmark)
        file = plan.files[0] if plan.files else None
        if file is not None:
            self.file.set_title(tr("Save as {name} in the same folder", name=file.name))
        self.file.set_text("" if file is None else file.text)
        notes = (f"{format_message(note, self._formatter)}." for note in plan.notes)
        self.notes.show_texts("info", "text2", notes)
        self.extras.show_texts("minus", "text2", map(describe_extra, plan.extras))
        self.sources.setText("\n".join(list_launch_sources(plan)))

    def _make_plan(self) -> LaunchPlan | Message:
        column = self._column
        if column.estimate is None:
            return column.problem or NOTHING_TO_START
        try:
            return self._service.launch(
                column.estimate, self.engine.value, self.version.value, reproduce=self.purpose.value == _REPRODUCE
            )
        except InputError as error:
            return error.problem
