"""Scaling of the answer's accelerators, and its tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from PySide6.QtCore import Signal
from PySide6.QtGui import QContextMenuEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.evaluated_answer import AcceleratorColumn
from gpudesk.desktop.session.scenario_edits import replace_count
from gpudesk.desktop.session.selection import select_figure
from gpudesk.desktop.ui.charts.chart_data import ChartData, show_chart_menu
from gpudesk.desktop.ui.tables.data_table import FiguresTable
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.buttons import LinkButton
from gpudesk.desktop.ui.widgets.choice_popup import ChoiceOption
from gpudesk.desktop.ui.widgets.fields import FIELD_SIDE, ChoiceField, align_with_fields
from gpudesk.desktop.ui.widgets.layouts import ThemedLabel, make_column, make_row
from gpudesk.domain.answer import Answer
from gpudesk.domain.deployment_analysis import (
    AcceleratorScaling,
    ScalingRow,
    ScalingRuleOfThumb,
    TopologyComparison,
    TopologySide,
    get_throughput,
)
from gpudesk.domain.estimate import NOTHING_TO_EXPLAIN, Estimate, format_plan
from gpudesk.domain.sizing import FitQuestion
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.report.data_table import CellSeverity, DataTable, FigureRow, build_accelerator_table
from gpudesk.report.labels import shorten_name
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter, IntervalEstimate
from gpudesk.text.messages import InputError, Message, capitalize_first, format_message
from gpudesk.text.translation import tr, trn


@frozen_dataclass
class ScaledColumn:
    """A column and the scaling of its accelerator, None if unknown."""

    part: AcceleratorColumn
    scaling: AcceleratorScaling | None

    @property
    def own_count(self) -> int | None:
        """The scenario's count, from the estimate if the user left it open."""
        estimate = self.part.column.estimate
        return None if estimate is None else estimate.count


class ScalingResults:
    """Queries the service for each answer; during a drag only what the chart shows."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._answer: Answer | None = None
        self._whole = False
        self._columns: tuple[ScaledColumn, ...] = ()
        self._compared: tuple[Answer, ScaledColumn, ScaledColumn, TopologyComparison | Message] | None = None

    def columns(self) -> tuple[ScaledColumn, ...]:
        """Return the columns of the answer; those of one accelerator and serving engine scale equally."""
        answer, whole = self._desk.answer, not self._desk.in_gesture
        if self._answer is not answer or whole > self._whole:
            self._answer, self._whole = answer, whole
            self._columns = () if answer is None else self._ask(answer, whole)
        return self._columns

    def _ask(self, answer: Answer, whole: bool) -> tuple[ScaledColumn, ...]:
        scalings = self._desk.service.scaling(answer.scenario, brief=not whole)
        return tuple(
            ScaledColumn(part, None if isinstance(scaling, InputError) or scaling.start is None else scaling)
            for part, scaling in zip(self._desk.columns, scalings, strict=True)
        )

    def lines(self) -> tuple[ScaledColumn, ...]:
        """Return the columns with separate curves: the first of each accelerator and serving engine."""
        keys: set[tuple[str, str | None]] = set()
        columns = []
        for each in self.columns():
            choice = each.part.column.choice
            key = (choice.accelerator, choice.serving_engine)
            if key not in keys and each.scaling is not None:
                columns.append(each)
            keys.add(key)
        return tuple(columns)

    def chosen(self) -> ScaledColumn | None:
        """Return the column selected on the desk, else the baseline."""
        columns = self.columns()
        selection = self._desk.selection
        key = "" if selection is None else selection.column
        first = columns[0] if columns else None
        return next((each for each in columns if each.part.key == key), first)

    def models(self, scaled: ScaledColumn) -> dict[int, int]:
        """Return by count how many catalog models an accelerator holds, with one request of this length each."""
        estimate = scaled.part.column.estimate
        if estimate is None or scaled.scaling is None:
            return {}
        request = estimate.request
        context = request.workload.input_tokens + request.workload.output_tokens
        question = FitQuestion(request.weights, request.kv, context, memory_fraction=request.memory_fraction)
        matrix = self._desk.service.fit_matrix(question, [request.accelerator])
        counts = [cell.count for (cell,) in matrix.rows if cell.count is not None]
        return {row.count: sum(each <= row.count for each in counts) for row in scaled.scaling.rows}

    def pair(self) -> tuple[ScaledColumn, ScaledColumn] | None:
        """Return the baseline and its counterpart: the selected column, else the next one."""
        columns, chosen = self.columns(), self.chosen()
        if len(columns) < 2 or chosen is None:
            return None
        return columns[0], columns[1] if chosen is columns[0] else chosen

    def topology(self) -> TopologyComparison | Message | None:
        """Return the comparison of the pair, or why none exists; None without a second column."""
        answer, pair = self._desk.answer, self.pair()
        if pair is None or answer is None:
            return None
        former = self._compared
        if former is None or former[0] is not answer or former[1] is not pair[0] or former[2] is not pair[1]:
            former = self._compared = (answer, *pair, self._compare(*pair))
        return former[3]

    def _compare(self, one: ScaledColumn, other: ScaledColumn) -> TopologyComparison | Message:
        for each in (one, other):
            column = each.part.column
            if column.estimate is None:
                return column.problem or NOTHING_TO_EXPLAIN
        baseline, against = one.part.column.estimate, other.part.column.estimate
        if baseline is None or against is None:
            return NOTHING_TO_EXPLAIN
        try:
            return self._desk.service.estimator.topology(baseline, against)
        except InputError as error:
            return error.problem


def list_rule_names() -> dict[ScalingRuleOfThumb, str]:
    """Return the names of the rules of thumb, that of the published table first."""
    return {
        ScalingRuleOfThumb.FLAT: tr("Flat 0.88 (published table)"),
        ScalingRuleOfThumb.ADDED: tr("0.88 per added accelerator"),
        ScalingRuleOfThumb.COMPOUNDING: tr("0.88 compounding"),
        ScalingRuleOfThumb.PER_DOUBLING: tr("0.88 per doubling"),
    }


def format_rule_head(rule: ScalingRuleOfThumb) -> str:
    return {
        ScalingRuleOfThumb.FLAT: tr("Flat 0.88, GB/s"),
        ScalingRuleOfThumb.ADDED: tr("Added 0.88, GB/s"),
        ScalingRuleOfThumb.COMPOUNDING: tr("0.88ⁿ⁻¹, GB/s"),
        ScalingRuleOfThumb.PER_DOUBLING: tr("Per doubling 0.88, GB/s"),
    }[rule]


def format_gigabytes(bandwidth: float | None, formatter: Formatter) -> str:
    """Return bytes/s as GB/s with the digits of an estimate."""
    return formatter.estimate(None if bandwidth is None else bandwidth / 1e9)


def format_rule(bandwidth: float, formatter: Formatter) -> str:
    """Return bytes/s by a rule of thumb as whole GB/s, for comparison with published tables."""
    return formatter.count(bandwidth / 1e9)


def format_memory(memory_bytes: float, formatter: Formatter) -> str:
    return f"{formatter.gib(memory_bytes)} ({formatter.gb(memory_bytes)})"


def describe_plan(row: ScalingRow, formatter: Formatter) -> str:
    texts = [_format_plan_or_problem(row, formatter)]
    if row.falls is not None:
        texts.append(format_message(row.falls, formatter))
    if row.replicas is not None and row.replicas.output_tokens_per_s is not None:
        rate = formatter.estimate(row.replicas.output_tokens_per_s.value)
        texts.append(tr("{plan}: {rate} tok/s", plan=format_plan(row.replicas.plan), rate=rate))
    if row.hosts > 1 and row.fits:
        texts.append(trn("{n} host", "{n} hosts", row.hosts, n=formatter.count(row.hosts)))
    return "; ".join(texts)


def _format_plan_or_problem(row: ScalingRow, formatter: Formatter) -> str:
    if row.estimate is None:
        return tr("no plan for this count") if row.problem is None else format_message(row.problem, formatter)
    if not row.estimate.fits:
        estimate = row.estimate
        missing = None if estimate.reason is None else estimate.reason.parameters.get("missing")
        if not isinstance(missing, tuple) or isinstance(missing[0], str):
            return tr("does not fit")
        return tr("does not fit: {size} GiB short per accelerator", size=formatter.gib(missing[0]))
    waits = _describe_wait(row.estimate, formatter)
    return f"{format_plan(row.estimate.plan)}, {waits}" if waits else format_plan(row.estimate.plan)


def _describe_wait(estimate: Estimate, formatter: Formatter) -> str:
    concurrency, admitted = estimate.concurrency, estimate.admitted
    if concurrency is None or admitted is None or admitted >= concurrency:
        return ""
    return tr("runs {n} of {all}, the rest queue", n=formatter.count(admitted), all=formatter.count(concurrency))


def make_scaling_figures(
    scaled: ScaledColumn, models: Mapping[int, int], rule: ScalingRuleOfThumb, formatter: Formatter, *, wide: bool
) -> DataTable:
    """Return the rows of one accelerator; in a narrow table the most important columns."""
    name = scaled.part.name.partition(" × ")[0]
    heads = (
        *((tr("Memory, GiB (GB)"), tr("Models")) if wide else ()),
        tr("Estimated, GB/s"),
        format_rule_head(rule),
        *((tr("Read, GB/s"),) if wide else ()),
        tr("Link time"),
        tr("Total, tok/s"),
        tr("80% interval"),
        *((tr("Per accelerator, tok/s"), tr("TPOT, batch 1, ms"), tr("Efficiency")) if wide else ()),
    )
    part = scaled.part
    rows = () if scaled.scaling is None else scaled.scaling.rows
    return build_accelerator_table(
        title=tr("{name} by count", name=name),
        heads=heads,
        leading={6 if wide else 3},
        figures=("output_tokens_per_s",) * len(heads),
        rows=tuple(
            FigureRow(
                str(row.count),
                part.palette_index,
                part.is_variant,
                f"{formatter.count(row.count)} × {name}",
                (
                    *(
                        ((format_memory(row.memory_bytes, formatter), formatter.count(models.get(row.count))))
                        if wide
                        else ()
                    ),
                    *_make_scaling_cells(row, scaled.scaling, rule, formatter, wide=wide),
                ),
                describe_plan(row, formatter),
                severity=CellSeverity.NONE if row.fits else CellSeverity.FAULT,
            )
            for row in rows
        ),
        remarks=tr("Plan; as replicas"),
    )


def _make_scaling_cells(
    row: ScalingRow, scaling: AcceleratorScaling | None, rule: ScalingRuleOfThumb, formatter: Formatter, *, wide: bool
) -> tuple[str, ...]:
    estimate, single, spread = row.estimate, row.single, row.spread
    rate = None if estimate is None else estimate.output_tokens_per_s
    each = None if estimate is None else estimate.output_tokens_per_s_per_accelerator
    alone = None if single is None else single.tpot_ms
    efficiency = formatter.per_cent(None if scaling is None else scaling.efficiency(row))
    return (
        format_gigabytes(row.bandwidth, formatter),
        format_rule(row.by_rule[rule], formatter),
        *((format_gigabytes(row.bandwidth_per_s, formatter),) if wide else ()),
        formatter.per_cent(None if spread is None else spread.collectives),
        _format_scaling_value(rate, formatter),
        formatter.band(rate),
        *(
            (_format_scaling_value(each, formatter), _format_scaling_value(alone, formatter), efficiency)
            if wide
            else ()
        ),
    )


def _format_scaling_value(banded: IntervalEstimate | None, formatter: Formatter) -> str:
    return MISSING_VALUE_TEXT if banded is None else formatter.estimate(banded.value)


def describe_rule_error(scaled: ScaledColumn, rule: ScalingRuleOfThumb, formatter: Formatter) -> str:
    """Compare the estimate with a rule of thumb at the highest count within one host."""
    scaling = scaled.scaling
    rows = () if scaling is None else [row for row in scaling.rows if row.bandwidth and row.count > 1]
    inside = [row for row in rows if row.hosts == 1] or rows
    if scaling is None or not inside:
        return ""
    row = inside[-1]
    estimated, by_rule = row.bandwidth or 0.0, row.by_rule[rule]
    return tr(
        "With {n} accelerators: {estimated} GB/s estimated, {by_rule} GB/s by the rule ({difference}). "
        "The rule ignores links and load.",
        n=formatter.count(row.count),
        estimated=format_gigabytes(estimated, formatter),
        by_rule=format_rule(by_rule, formatter),
        difference=formatter.difference(by_rule / estimated),
    )


def describe_fastest_count(lines: Sequence[ScaledColumn], formatter: Formatter) -> list[str]:
    """Return the highest throughput of one replica, its count, the remaining output per accelerator, and the next."""
    peaks = [(each, each.scaling.peak) for each in lines if each.scaling is not None]
    rates = [(get_throughput(peak.estimate) or 0.0, each, peak) for each, peak in peaks if peak is not None]
    if not rates:
        return []
    (rate, fastest, peak), *others = sorted(rates, key=lambda each: each[0], reverse=True)
    start = None if fastest.scaling is None else fastest.scaling.start
    efficiency = None if fastest.scaling is None else fastest.scaling.efficiency(peak)
    values = {
        "n": formatter.count(peak.count),
        "name": fastest.part.name.partition(" × ")[0],
        "rate": formatter.estimate(rate),
    }
    sentences = [tr("One replica is fastest on {n} × {name}: {rate} tok/s.", **values)]
    if start is not None and efficiency is not None and start.count != peak.count:
        values |= {"share": formatter.per_cent(efficiency), "start": formatter.count(start.count)}
        sentences.append(tr("Throughput per accelerator: {share} of that with {start} × {name}.", **values))
    for other_rate, other, other_peak in others[:1]:
        count, name = formatter.count(other_peak.count), other.part.name.partition(" × ")[0]
        next_rate = formatter.estimate(other_rate)
        sentences.append(tr("Next: {n} × {name}, {rate} tok/s.", n=count, name=name, rate=next_rate))
    return sentences


# Two deployments side by side


def make_topology_figures(
    pair: tuple[ScaledColumn, ScaledColumn], topology: TopologyComparison, formatter: Formatter, *, wide: bool
) -> DataTable:
    """Return both deployments; in a narrow table without the gain of instant links."""
    heads = (
        tr("KV cache space, GiB (GB)"),
        tr("Max concurrency"),
        *((tr("Link time, batch 1"), tr("Link time")) if wide else ()),
        tr("TPOT, batch 1, ms"),
        *((tr("TPOT, ideal links, ms"),) if wide else ()),
        tr("Total, tok/s"),
        tr("80% interval"),
        *((tr("Total, ideal links, tok/s"), tr("Per accelerator, tok/s")) if wide else ()),
    )
    return build_accelerator_table(
        title=tr("Two deployments compared"),
        heads=heads,
        leading={4, 6} if wide else {2, 3},
        figures=tuple(_FIGURE_OF.get(head, "output_tokens_per_s") for head in _list_keys(wide=wide)),
        rows=tuple(
            FigureRow(
                each.part.key,
                each.part.palette_index,
                each.part.is_variant,
                _name_deployment(each, side, formatter),
                _make_side_cells(side, formatter, wide=wide),
                _format_ceiling(side, formatter),
            )
            for each, side in zip(pair, (topology.baseline, topology.other), strict=True)
        ),
        remarks=tr("Plan; rule of thumb") if wide else tr("Plan"),
    )


#: Figures selected by cells of the comparison, other than throughput.
_FIGURE_OF = {"room": "memory", "held": "max_concurrency", "alone": "tpot_ms"}


def _list_keys(*, wide: bool) -> tuple[str, ...]:
    if wide:
        return ("room", "held", "links", "links", "alone", "free", "all", "all", "free", "each")
    return ("room", "held", "alone", "all", "all")


def _name_deployment(scaled: ScaledColumn, side: TopologySide, formatter: Formatter) -> str:
    return f"{formatter.count(side.estimate.count)} × {scaled.part.name.partition(' × ')[0]}"


def _make_side_cells(side: TopologySide, formatter: Formatter, *, wide: bool) -> tuple[str, ...]:
    estimate = side.estimate
    rate, each = estimate.output_tokens_per_s, estimate.output_tokens_per_s_per_accelerator
    return (
        format_memory(side.kv_room_bytes, formatter),
        formatter.count(estimate.max_concurrency),
        *(map(formatter.per_cent, (side.single_spread.collectives, side.spread.collectives)) if wide else ()),
        _format_scaling_value(side.single.tpot_ms, formatter),
        *((formatter.estimate(side.free_single_tpot_ms),) if wide else ()),
        _format_scaling_value(rate, formatter),
        formatter.band(rate),
        *((formatter.estimate(side.free_output_tokens_per_s), _format_scaling_value(each, formatter)) if wide else ()),
    )


def _format_ceiling(side: TopologySide, formatter: Formatter) -> str:
    plan, rate = format_plan(side.estimate.plan), formatter.number(side.ceiling, 1)
    return tr("{plan}; flat 0.88: {rate} tok/s for one request", plan=plan, rate=rate)


def make_topology_data(
    pair: tuple[ScaledColumn, ScaledColumn] | None, topology: TopologyComparison | None, formatter: Formatter
) -> ChartData:
    title = tr("Two deployments compared")
    if pair is None or topology is None:
        return ChartData(title, (tr("Figure"),), ())
    sides = (topology.baseline, topology.other)
    names = (_name_deployment(each, side, formatter) for each, side in zip(pair, sides, strict=True))
    columns = [_list_topology_figures(side, formatter) for side in sides]
    rows = tuple((name, value, columns[1][name]) for name, value in columns[0].items())
    return ChartData(title, (tr("Figure"), *names), rows)


def _list_topology_figures(side: TopologySide, formatter: Formatter) -> dict[str, str]:
    estimate, spread, alone = side.estimate, side.spread, side.single_spread
    number = formatter.estimate
    return {
        tr("Plan"): format_plan(estimate.plan),
        tr("KV cache space, GiB"): formatter.gib(side.kv_room_bytes),
        tr("KV cache space, GB"): formatter.gb(side.kv_room_bytes),
        tr("Max concurrency"): formatter.count(estimate.max_concurrency),
        tr("Memory bandwidth, GB/s"): format_gigabytes(side.bandwidth, formatter),
        tr("Effective bandwidth, batch 1, GB/s"): format_gigabytes(side.single_effective_bandwidth, formatter),
        tr("Effective bandwidth at this load, GB/s"): format_gigabytes(side.effective_bandwidth, formatter),
        tr("Link time, batch 1, % of step"): formatter.number(alone.collectives * 100, 1),
        tr("Link time at this load, % of step"): formatter.number(spread.collectives * 100, 1),
        tr("Link time, batch 1, ms per token"): number(alone.collective_ms),
        tr("Link time at this load, ms per token"): number(spread.collective_ms),
        tr("TPOT, batch 1, ms"): formatter.estimate_with_interval(side.single.tpot_ms),
        tr("TPOT, batch 1, ideal links, ms"): number(side.free_single_tpot_ms),
        tr("TPOT at this load, ms"): formatter.estimate_with_interval(estimate.tpot_ms),
        tr("TPOT, ideal links, ms"): number(side.free_tpot_ms),
        tr("Output throughput, tok/s"): formatter.estimate_with_interval(estimate.output_tokens_per_s),
        tr("Throughput, ideal links, tok/s"): number(side.free_output_tokens_per_s),
        tr("Per accelerator, tok/s"): formatter.estimate_with_interval(estimate.output_tokens_per_s_per_accelerator),
        tr("Flat 0.88 limit, batch 1, tok/s"): formatter.number(side.ceiling, 1),
    }


#: From this width on, in design pixels, tables have all columns.
_WIDE = 1500


class CountsTableBlock(QWidget):
    """The rows of one accelerator, with a choice of accelerator and rule, and the offer to use a count."""

    rule_chosen = Signal(str)

    def __init__(self, desk: Desk, theme: Theme, results: ScalingResults) -> None:
        super().__init__()
        self._desk, self._theme, self._results = desk, theme, results
        self.rule = ScalingRuleOfThumb.FLAT
        self._row: str | None = None
        self.part = ChoiceField(theme, tr("Accelerator"), self)
        self.rule_field = ChoiceField(theme, tr("Rule of thumb"), self)
        self.remark = ThemedLabel(theme, font="small", color="text2", wrap=True, parent=self)
        self.remark.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.offer = LinkButton(theme, "", parent=self)
        self.offer.hide()
        self.table = FiguresTable(theme, self)
        head = make_row(self.part, self.rule_field, (self.remark, 1), self.offer, gap=10)
        make_column(head, align_with_fields(theme, self.table), gap=4, on=self)
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
        self.table.show_table(figures)
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
            self.offer.setText(tr("Use {n} × {name}", n=self._desk.formatter.count(count), name=name))
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
    """Compares the baseline and the selected column."""

    def __init__(self, desk: Desk, theme: Theme, results: ScalingResults) -> None:
        super().__init__()
        self._desk, self._results = desk, results
        self.theme, self.formatter = theme, desk.formatter
        self.summary_label = ThemedLabel(theme, font="body", color="text1", wrap=True, parent=self)
        self.table = FiguresTable(theme, self)
        make_column(
            ThemedLabel(theme, tr("Two deployments compared"), font="section", parent=self),
            self.summary_label,
            self.table,
            gap=4,
            margins=(FIELD_SIDE, 0, 0, 0),
            scaled=theme,
            on=self,
        )
        self.table.chosen.connect(lambda key, name: desk.select(select_figure(key, name)))
        self.setAccessibleName(tr("Two deployments compared"))

    def refresh(self) -> None:
        pair, topology = self._results.pair(), self._results.topology()
        self.table.setVisible(isinstance(topology, TopologyComparison))
        if isinstance(topology, TopologyComparison) and pair is not None:
            figures = make_topology_figures(pair, topology, self.formatter, wide=has_wide_layout(self, self.theme))
            self.table.show_table(figures)
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
        return " ".join(format_message(_shorten_names(each), self.formatter) for each in topology.sentences)

    def data(self, formatter: Formatter) -> ChartData:
        topology = self._results.topology()
        return make_topology_data(
            self._results.pair(), topology if isinstance(topology, TopologyComparison) else None, formatter
        )

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        show_chart_menu(self, self, event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        before = event.oldSize().width() >= self.theme.px(_WIDE)
        if before != has_wide_layout(self, self.theme) and self._desk.answer is not None:
            self.refresh()


def _shorten_names(sentence: Message) -> Message:
    """Name accelerators as the table does: "1 × MI325X", not "1 × Instinct MI325X"."""
    parameters = {
        name: shorten_name(value) if type(value) is str else value for name, value in sentence.parameters.items()
    }
    return replace(sentence, parameters=parameters)


def has_wide_layout(widget: QWidget, theme: Theme) -> bool:
    return widget.width() >= theme.px(_WIDE)
