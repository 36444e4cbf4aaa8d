"""The tables of the scaling view: one accelerator by count, and two deployments compared."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QContextMenuEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from gpudesk.desktop.pages.performance.scaling_figures import (
    ScalingResults,
    describe_rule_error,
    list_rule_names,
    make_scaling_figures,
    make_topology_data,
    make_topology_figures,
)
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.scenario_edits import replace_count
from gpudesk.desktop.session.selection import select_figure
from gpudesk.desktop.ui.charts.chart_data import ChartData, find_menu_position, make_chart_menu
from gpudesk.desktop.ui.tables.figures_table import FiguresTable
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.buttons import LinkButton
from gpudesk.desktop.ui.widgets.choice_popup import ChoiceOption
from gpudesk.desktop.ui.widgets.fields import ChoiceField
from gpudesk.desktop.ui.widgets.labels import ThemedLabel
from gpudesk.domain.deployment_analysis import ScalingRuleOfThumb, TopologyComparison
from gpudesk.text.formatting import Formatter
from gpudesk.text.messages import Message, capitalize_first, format_message
from gpudesk.text.translation import tr

#: From this width on, in pixels of the design, tables have all their columns.
_WIDE = 1240


class CountsTableBlock(QWidget):
    """The rows of one part, with a choice of part and rule, and the offer to take a count."""

    rule_chosen = Signal(str)

    def __init__(self, desk: Desk, theme: Theme, results: ScalingResults, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._desk, self._theme, self._results = desk, theme, results
        self.rule = ScalingRuleOfThumb.FLAT
        self._row: str | None = None
        self.part = ChoiceField(theme, tr("Accelerator"), self)
        self.rule_field = ChoiceField(theme, tr("Rule of thumb"), self)
        self.remark = ThemedLabel(theme, font="small", colour="text2", wrap=True, parent=self)
        self.remark.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.offer = LinkButton(theme, "", parent=self)
        self.offer.hide()
        self.table = FiguresTable(theme, self)
        head = QHBoxLayout()
        head.setSpacing(10)
        head.addWidget(self.part)
        head.addWidget(self.rule_field)
        head.addWidget(self.remark, 1)
        head.addWidget(self.offer)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(4)
        whole.addLayout(head)
        whole.addWidget(self.table)
        self.rule_field.set_options([ChoiceOption(str(rule), text) for rule, text in list_rule_names().items()])
        self.rule_field.set_value(str(self.rule))
        self.part.chosen.connect(lambda key: desk.select(select_figure(key, "output_tokens_per_s")))
        self.rule_field.chosen.connect(self._choose_rule)
        self.table.chosen.connect(lambda key, _: self._choose_row(key))
        self.offer.clicked.connect(self._take)

    def refresh(self) -> None:
        chosen = self._results.chosen()
        self.setVisible(chosen is not None)
        if chosen is None:
            return
        options = [ChoiceOption(each.part.key, each.part.name) for each in self._results.columns()]
        self.part.set_options(options)
        self.part.set_value(chosen.part.key)
        wide = has_wide_layout(self, self._theme)
        models = self._results.models(chosen) if wide else {}
        figures = make_scaling_figures(chosen, models, self.rule, self._desk.formatter, wide=wide)
        self.table.show_figures(figures)
        self.remark.setText(describe_rule_error(chosen, self.rule, self._desk.formatter))
        own = "" if chosen.own_count is None else str(chosen.own_count)
        if self._row not in {row.key for row in figures.rows}:
            self._row = None
        self.table.choose_row(self._row or own)
        self._show_offer()

    def _choose_rule(self, key: str) -> None:
        self.rule = ScalingRuleOfThumb(key)
        self.rule_field.set_value(key)
        self.refresh()
        self.rule_chosen.emit(key)

    def _choose_row(self, key: str) -> None:
        self._row = key
        self._show_offer()

    def _show_offer(self) -> None:
        chosen = self._results.chosen()
        count = None if self._row is None else int(self._row)
        is_other = chosen is not None and count is not None and count != chosen.own_count
        if is_other and chosen is not None:
            name = chosen.part.name.partition(" × ")[0]
            text = tr("Use {n} × {name}", n=self._desk.formatter.count(count), name=name)
            self.offer.setText(text)
            self.offer.setAccessibleName(text)
        self.offer.setVisible(is_other)

    def _take(self) -> None:
        chosen = self._results.chosen()
        if chosen is None or self._row is None:
            return
        position = self._desk.keys.index(chosen.part.key)
        scenario = replace_count(self._desk.scenario, position, int(self._row))
        self._row = None
        self._desk.apply(scenario, self.offer.text())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        before = event.oldSize().width() >= self._theme.px(_WIDE)
        if before != has_wide_layout(self, self._theme) and self._desk.answer is not None:
            self.refresh()


class DeploymentComparisonBlock(QWidget):
    """Compares the baseline and the selected column: sharded vs. fewer accelerators."""

    def __init__(self, desk: Desk, theme: Theme, results: ScalingResults, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._desk, self._results = desk, results
        self.theme, self.formatter = theme, desk.formatter
        self.summary_label = ThemedLabel(theme, font="body", colour="text1", wrap=True, parent=self)
        self.table = FiguresTable(theme, self)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(4)
        whole.addWidget(ThemedLabel(theme, tr("Sharded vs. fewer accelerators"), font="section", parent=self))
        whole.addWidget(self.summary_label)
        whole.addWidget(self.table)
        self.table.chosen.connect(lambda key, name: desk.select(select_figure(key, name)))
        self.setAccessibleName(tr("Sharded vs. fewer accelerators"))

    def refresh(self) -> None:
        pair, topology = self._results.pair(), self._results.topology()
        self.table.setVisible(isinstance(topology, TopologyComparison))
        if isinstance(topology, TopologyComparison) and pair is not None:
            figures = make_topology_figures(pair, topology, self.formatter, wide=has_wide_layout(self, self.theme))
            self.table.show_figures(figures)
        text = self.summary()
        if text != self.summary_label.text():
            self.summary_label.setText(text)
            self.setAccessibleDescription(text)

    def summary(self) -> str:
        topology = self._results.topology()
        if topology is None:
            return tr("To compare, add a second accelerator, or the same one with another count.")
        if isinstance(topology, Message):
            text = format_message(topology, self.formatter)
            return capitalize_first(text)
        return " ".join(format_message(each, self.formatter) for each in topology.sentences)

    def data(self, formatter: Formatter) -> ChartData:
        topology = self._results.topology()
        return make_topology_data(
            self._results.pair(), topology if isinstance(topology, TopologyComparison) else None, formatter
        )

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        make_chart_menu(self, self, []).popup(find_menu_position(event, self))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        before = event.oldSize().width() >= self.theme.px(_WIDE)
        if before != has_wide_layout(self, self.theme) and self._desk.answer is not None:
            self.refresh()


def has_wide_layout(widget: QWidget, theme: Theme) -> bool:
    return widget.width() >= theme.px(_WIDE)
