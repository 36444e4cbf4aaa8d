"""Builds the comparison sheet of an answer, with counts, costs and the recommendation on request."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Final

from gpudesk.domain.answer import Answer, ComparisonColumn, SheetExtras, assign_palette_indexes
from gpudesk.domain.claim import PRICE_BOUND_ATTRIBUTES, StalenessLimits, is_user_entry
from gpudesk.domain.cost import CostAnswer, CostColumn, CostInputOrigin
from gpudesk.domain.decision import Decision
from gpudesk.domain.estimate import Estimate, LoadKind
from gpudesk.domain.fleet import FleetAnswer, make_load_curve
from gpudesk.domain.registry import ATTRIBUTES, MAX_CONCURRENCY, list_sheet_attributes, list_sheet_figures
from gpudesk.domain.sizing import AcceleratorNeeds, SizingOption, SizingResult, SmallestDeployments
from gpudesk.report.comparison.attribute_rows import (
    SourceNumbering,
    add_notes,
    build_attribute_rows,
    build_price_row,
    build_source_rows,
    describe_price_record,
    is_user_chosen,
)
from gpudesk.report.comparison.estimate_rows import (
    INSTANCES_ROW,
    SYSTEMS_ROW,
    build_difference_group,
    build_memory_use_rows,
    build_workload_rows,
    make_interval_cell,
)
from gpudesk.report.comparison.headlines import build_sheet_headlines, get_column_looks
from gpudesk.report.comparison.tables import (
    NO_TABLE,
    TIES,
    CellMarking,
    ComparisonCell,
    ComparisonGroup,
    ComparisonHead,
    ComparisonRow,
    ComparisonSheet,
    ComparisonTable,
    LabeledValue,
    SheetDispute,
    SheetFleet,
    SheetMemoryBar,
    SheetRemark,
    ThroughputSeries,
    build_heads,
    label_tie,
)
from gpudesk.report.comparison.verdicts import describe_comparison
from gpudesk.report.costs import (
    MoneyFormatter,
    describe_rent_terms,
    describe_software_share,
    describe_utilization,
    format_input_range,
    label_cost_input,
    list_api_remarks,
    list_missing_costs,
    list_partly_used,
    list_rent_class_remarks,
)
from gpudesk.report.decision.recommendation import build_recommendation, build_trace_rows
from gpudesk.report.explanation.working import WorkingSource, build_sheet_workings, describe_bias
from gpudesk.report.fleet_tables import build_sheet_fleet
from gpudesk.report.labels import (
    count_days_since,
    describe_refusal,
    format_age,
    format_degrees,
    format_load,
    format_tokens,
    format_years,
    label_attribute_alone,
    label_dispute_topic,
    label_precision,
    label_serving_engine,
    list_accelerator_names,
    list_column_names,
)
from gpudesk.report.sizing import (
    describe_demand,
    describe_sizing_with_notes,
    explain_degrees,
    format_max_power,
    label_requests_in_flight,
    label_single_request,
    label_weight_width,
    summarize_reason,
)
from gpudesk.text.formatting import MACHINE_NUMBERS, MISSING_VALUE_TEXT, Formatter
from gpudesk.text.messages import format_message, lower_for_sentence, to_sentence
from gpudesk.text.translation import tr, translate_data, trn
from gpudesk.text.units import GIB, MONTHS_PER_YEAR


def build_counts_table(
    answer: Answer, how_many: AcceleratorNeeds, heads: tuple[ComparisonHead, ...], formatter: Formatter
) -> ComparisonTable:
    """Return the counts: for one request, for all in flight, and for the demand on the service."""
    groups = tuple(_build_count_groups(answer, how_many, formatter))
    return ComparisonTable(heads, groups, tr("Accelerators needed"))


def list_sizing_remarks(
    sizing: SizingResult, names: Sequence[str], formatter: Formatter, decision: Decision | None
) -> Iterator[SheetRemark]:
    """Yield the sentence on each candidate, and why a decision about the same demand counts others."""
    counts = [None] * len(names) if decision is None else [each.count for each in decision.candidates]
    for place, (each, name, count) in enumerate(zip(sizing.candidates, names, counts, strict=True)):
        text = describe_sizing_with_notes(sizing, each, name, formatter)
        if decision is not None and count and each.count and count != each.count:
            is_set = decision.columns[place] in decision.set_counts
            n = formatter.count(count)
            by_answers = tr("Your answers change the count to {n}", n=n)
            text = f"{text} {tr('The recommendation keeps the {n} that you set', n=n) if is_set else by_answers}"
        yield SheetRemark("", text.rstrip("."))


def _build_count_groups(answer: Answer, how_many: AcceleratorNeeds, formatter: Formatter) -> Iterator[ComparisonGroup]:
    across = tuple(zip(*how_many.needed, strict=True))
    workload = answer.scenario.workload
    titles = {"load": label_requests_in_flight(workload, formatter), "one": label_single_request(workload, formatter)}
    for key, title in titles.items():
        if across and title is not None:
            rows = (
                _build_count_row(f"{key}.{place}", needed, formatter, for_load=key == "load")
                for place, needed in enumerate(across)
            )
            yield ComparisonGroup(key, tr("Accelerators needed: {what}", what=lower_for_sentence(title)), tuple(rows))
    if how_many.sizing is not None:
        yield _build_sizing_group(how_many.sizing, formatter)


def _build_count_row(
    key: str, across: Sequence[SmallestDeployments], formatter: Formatter, *, for_load: bool
) -> ComparisonRow:
    alike = len({needed.weights for needed in across}) == 1
    cells = (_build_count_cell(needed, formatter, for_load=for_load, name_format=not alike) for needed in across)
    return ComparisonRow(key, tr("{format} weights", format=label_weight_width(across, formatter)), None, tuple(cells))


def _build_count_cell(
    needed: SmallestDeployments, formatter: Formatter, *, for_load: bool, name_format: bool
) -> ComparisonCell:
    size = needed.load if for_load else needed.one
    if size is None:
        return ComparisonCell(
            MISSING_VALUE_TEXT, detail=summarize_reason(needed.reason) or None, mark=CellMarking.FAILS
        )
    format_label = label_precision(needed.weights) if name_format else ""
    detail = ", ".join(each for each in (format_label, format_degrees(size.plan, formatter)) if each)
    return ComparisonCell(formatter.count(size.count), detail=detail or None)


def _build_sizing_group(sizing: SizingResult, formatter: Formatter) -> ComparisonGroup:
    # The reason for its absence is a separate sentence.
    without = ComparisonCell(MISSING_VALUE_TEXT, mark=CellMarking.FAILS)

    def row(key: str, label: str, unit: str | None, cell: Callable[[SizingOption], ComparisonCell]) -> ComparisonRow:
        return ComparisonRow(
            key, label, unit, tuple(without if each.count is None else cell(each) for each in sizing.candidates)
        )

    def count(value: Callable[[SizingOption], int]) -> Callable[[SizingOption], ComparisonCell]:
        return lambda each: ComparisonCell(formatter.count(value(each)))

    fewest = min((each.count for each in sizing.candidates if each.count is not None), default=None)

    def total(each: SizingOption) -> ComparisonCell:
        best = CellMarking.BEST if each.count == fewest and len(sizing.candidates) > 1 else None
        return ComparisonCell(formatter.count(each.count), detail=_format_product(each, formatter), mark=best)

    def rate(each: SizingOption) -> ComparisonCell:
        return make_interval_cell(each.output_tokens_per_s, formatter)

    per_replica = count(lambda each: each.concurrency_per_replica)
    rows = (
        row("accelerators", tr("Accelerators"), None, total),
        row("replicas", tr("Replicas for peak load"), None, count(lambda each: each.replicas)),
        row("spare", tr("Spare accelerators"), None, count(lambda each: each.spare)),
        row("hosts", tr("Hosts"), None, count(lambda each: each.nodes)),
        row("concurrency_per_replica", tr("In flight per replica"), None, per_replica),
        row("concurrency", tr("In flight, all replicas"), None, count(lambda each: each.concurrency)),
        row("throughput", tr("Max throughput"), "tok/s", rate),
        row("power", tr("Power, max"), "kW", lambda each: _format_power(each, formatter)),
    )
    return ComparisonGroup("sizing", describe_demand(sizing.demand, formatter), rows)


def _format_product(candidate: SizingOption, formatter: Formatter) -> str:
    plan = format_degrees(candidate.plan, formatter)
    replicas = formatter.count(candidate.replicas)
    each = tr("{n} × {plan}", n=replicas, plan=plan) if plan else replicas
    if not candidate.spare:
        return each
    return tr("{working} + {spare} spare", working=each, spare=formatter.count(candidate.spare))


def _format_power(candidate: SizingOption, formatter: Formatter) -> ComparisonCell:
    power, basis = format_max_power(candidate, formatter)
    return ComparisonCell(power, detail=basis or None)


#: Common inputs named below the figures; the others are in the program.
_NAMED: Final = (
    "utilisation",
    "server_share",
    "residual",
    "capital_rate",
    "energy_usd_per_kwh",
    "pue",
    "hosting_usd_per_kw_month",
    "support",
)


def build_costs_table(
    answer: Answer, costs: CostAnswer, heads: tuple[ComparisonHead, ...], formatter: Formatter
) -> ComparisonTable:
    """Return rent and ownership costs, and break-even points; token costs are compared above."""
    money = MoneyFormatter(formatter, answer.scenario.costs.currency)
    title = tr(
        "Cost in {code}: {utilization}, {rent}, before tax",
        code=money.code,
        utilization=describe_utilization(costs.utilisation, formatter),
        rent=describe_rent_terms(answer.scenario.costs.rent_term, costs),
    )
    software = describe_software_share(costs.columns, formatter)
    if software:
        title = f"{title}, {software}"
    group = ComparisonGroup("cost", title, _build_cost_rows(answer, costs, money, formatter))
    return ComparisonTable(heads, (group,), tr("Cost"))


def _build_cost_rows(
    answer: Answer, costs: CostAnswer, money: MoneyFormatter, formatter: Formatter
) -> tuple[ComparisonRow, ...]:
    def row(key: str, label: str, unit: str | None, cell: Callable[[CostColumn], ComparisonCell]) -> ComparisonRow:
        return ComparisonRow(key, label, unit, tuple(cell(column) for column in costs.columns))

    def months(column: CostColumn) -> ComparisonCell:
        figure = (each for each in costs.break_evens if each.key == column.key)
        value = next((each.value for each in figure if each.name == "months_to_own"), None)
        if value is None and column.tco is not None and column.rented is not None:
            # Longer than the service life.
            return ComparisonCell(tr("over {n}", n=formatter.number(column.tco.years * MONTHS_PER_YEAR)))
        return ComparisonCell(MISSING_VALUE_TEXT if value is None else formatter.estimate(value))

    def total(column: CostColumn) -> ComparisonCell:
        if column.tco is None:
            return ComparisonCell(MISSING_VALUE_TEXT)
        return ComparisonCell(money.thousands(column.tco.total_usd))

    def joules(column: CostColumn) -> ComparisonCell:
        figure = column.efficiency.joules_per_token if column.efficiency else None
        return ComparisonCell(MISSING_VALUE_TEXT if figure is None else formatter.estimate(figure.value))

    def rent(column: CostColumn) -> ComparisonCell:
        detail = describe_price_record(column.inputs["rent_usd_per_hour"])
        return ComparisonCell(money.small(column.rent_usd_per_hour), detail=detail)

    years = next((column.tco.years for column in costs.columns if column.tco is not None), None)
    price = build_price_row(answer, costs, formatter)
    rows = [row("rent", tr("Rental price, median"), money.unit("USD/h"), rent)]
    if price is not None:
        rows.append(price)
    if years is not None:
        label = tr("Cost over {years}, owned", years=format_years(years, formatter))
        rows.append(row("total", label, tr("thousand {code}", code=money.code), total))
        rows.append(row("months_to_own", tr("Payback period"), tr("months"), months))
    rows.append(row("energy", tr("Energy per output token"), "J", joules))
    return tuple(rows)


def list_cost_remarks(
    answer: Answer, costs: CostAnswer, names: Sequence[str], formatter: Formatter
) -> tuple[SheetRemark, ...]:
    lines = [
        line for column, name in zip(costs.columns, names, strict=True) for line in list_missing_costs(column, name)
    ]
    names_by_key = dict(zip(answer.keys, names, strict=True))
    rents = list_rent_class_remarks(costs, names_by_key)
    systems = list_partly_used(costs.columns, names_by_key, formatter)
    lines += [*rents, *list_api_remarks(costs), *systems, *_explain_utilization(answer, costs, formatter)]
    if costs.columns:
        inputs, currency = costs.columns[0].inputs, answer.scenario.costs.currency
        ranges = ", ".join(
            f"{label_cost_input(name)} {format_input_range(name, inputs[name].spread, formatter, currency)}"
            for name in _NAMED
            if name in inputs
        )
        lines.append(tr("Cost assumptions and their ranges: {inputs}", inputs=ranges))
        lines.append(tr("Output token cost includes the processing of input tokens"))
    return tuple(SheetRemark("", line) for line in lines)


def _explain_utilization(answer: Answer, costs: CostAnswer, formatter: Formatter) -> Iterator[str]:
    """Yield how utilization follows from a demand: a sheet has that of the costs and that of each fleet."""
    demand = answer.scenario.demand
    if demand is not None and costs.utilisation.origin is CostInputOrigin.DEMAND:
        average = 1.0 / make_load_curve(answer.scenario.fleet).peak_factor
        yield tr(
            "Utilization of {share}: demand averages {average} of its peak, and replicas carry at most {cap}. "
            "Fleets round up to whole replicas",
            share=formatter.per_cent(average * demand.utilisation_cap),
            average=formatter.per_cent(average),
            cap=formatter.per_cent(demand.utilisation_cap),
        )


def _is_on_sheet(name: str) -> bool:
    """Whether a sheet shows an attribute, or another that includes it."""
    attribute = ATTRIBUTES.get(name)
    return (attribute is not None and attribute.sheet is not None) or name in ("memory_label", *PRICE_BOUND_ATTRIBUTES)


def list_stale_remarks(
    answer: Answer, names: tuple[str, ...], today: str, rule: StalenessLimits
) -> tuple[SheetRemark, ...]:
    """Return a remark if displayed prices or other facts are stale, by the dates of their sources.

    `today` is the day of the sheet in ISO form.
    """
    prices, facts = [], []
    for position, (name, column) in enumerate(zip(names, answer.columns, strict=True)):
        price = _find_price_age(answer, position, today)
        if price is not None and price > rule.prices:
            prices.append(f"{name} ({format_age(price)})")
        old = [
            label_attribute_alone(attribute)
            for attribute in column.attributes
            if _is_on_sheet(attribute)
            and attribute not in PRICE_BOUND_ATTRIBUTES
            and (_find_age(column, attribute, today) or 0) > rule.facts
        ]
        if old:
            facts.append(f"{name} ({'; '.join(old)})")
    remarks = []
    if prices:
        limit = trn("{n} day", "{n} days", rule.prices)
        remarks.append(tr("Purchase prices older than {limit}: {names}", limit=limit, names=", ".join(prices)))
    if facts:
        limit = trn("{n} day", "{n} days", rule.facts)
        remarks.append(tr("Sources older than {limit}: {names}", limit=limit, names=", ".join(facts)))
    return (SheetRemark("", ". ".join(remarks)),) if remarks else ()


def _find_price_age(answer: Answer, position: int, today: str) -> int | None:
    """Return the age in days of the newest price behind a purchase price; None if unknown."""
    if answer.costs is None:
        return _find_age(answer.columns[position], PRICE_BOUND_ATTRIBUTES[0], today)
    record = answer.costs.columns[position].inputs["price_usd"].prices
    return None if record is None else count_days_since(record.newest, today)


def _find_age(column: ComparisonColumn, name: str, today: str) -> int | None:
    """Return the age in days of a value's source by its own date; None if unknown."""
    attribute = column.attributes.get(name)
    claim = None if attribute is None else attribute.preferred
    return None if claim is None else count_days_since(claim.source.date, today)


def build_sheet(
    answer: Answer,
    formatter: Formatter | None = None,
    date: str | None = None,
    explain: WorkingSource | None = None,
    rule: StalenessLimits | None = None,
    further: SheetExtras | None = None,
) -> ComparisonSheet:
    """Return the sheet of an answer; `date` is its day, from which ages of facts are counted.

    Without a date ages are left out; `rule` defines stale values, by default the usual rule. With `explain` the sheet
    derives its headline figures, with `further` it has counts, their costs and the recommendation. In the machine style
    figures of tables have all digits and no separators; sentences are those of paper.
    """
    formatter, extras = formatter or Formatter(), further or SheetExtras()
    prose = Formatter() if formatter.style is MACHINE_NUMBERS else formatter
    how_many, costs, decision = extras.how_many, extras.costs, extras.decision
    sizing = None if how_many is None else how_many.sizing
    names = list_column_names(answer)
    references = SourceNumbering(prose)
    heads = build_heads(answer, _describe_sheet_column)
    differences = build_difference_group(answer, names, formatter)
    table = ComparisonTable(
        heads,
        (
            *(() if differences is None else (differences,)),
            *((_select_results(answer, formatter),) if answer.has_load else ()),
            *_list_attribute_groups(answer, formatter, references, with_price=costs is None),
        ),
        tr("Comparison"),
    )
    source_rows = build_source_rows(answer, references)
    whose = ComparisonTable(
        heads, (ComparisonGroup("source", "", source_rows),) if source_rows else (), tr("Source of each figure")
    )
    return ComparisonSheet(
        title=answer.scenario.name,
        note=answer.scenario.note,
        date=None if date is None else formatter.date(date),
        assumptions=_list_assumptions(answer, formatter),
        headlines=build_sheet_headlines(answer, prose),
        table=table,
        whose=whose,
        key=_list_key_texts(answer, table),
        notes=references.notes,
        remarks=(
            *_list_estimate_remarks(answer, names, prose),
            *_list_bias_remarks(answer, extras, prose),
            *(() if date is None else list_stale_remarks(answer, names, date, rule or StalenessLimits())),
            *(() if how_many is None else _list_count_remarks(how_many)),
            *(() if costs is None else list_cost_remarks(answer, costs, names, prose)),
        ),
        memory=_build_memory_bars(answer, names, formatter),
        throughput=_build_throughput_series(answer, names),
        concurrency=answer.scenario.workload.load.concurrency,
        disputes=_list_sheet_disputes(answer, references),
        sources=references.sources,
        foot=_list_foot_facts(answer, formatter),
        working=() if explain is None else build_sheet_workings(answer, names, formatter, explain),
        sizing=() if sizing is None else tuple(list_sizing_remarks(sizing, names, prose, extras.leading)),
        how_many=NO_TABLE if how_many is None else build_counts_table(answer, how_many, heads, formatter),
        costs=NO_TABLE if costs is None else build_costs_table(answer, costs, heads, formatter),
        recommendation=None
        if decision is None
        else build_recommendation(decision, extras.flips, heads, formatter, extras.decision_costs),
        verdict=() if extras.leading is None else tuple(describe_comparison(answer, extras.leading, prose)),
        trace=() if decision is None or not extras.with_rules else build_trace_rows(decision, formatter),
        fleet=None if extras.fleet is None else _build_fleet(answer, extras.fleet, heads, formatter),
    )


def _build_fleet(
    answer: Answer, fleet: FleetAnswer, heads: tuple[ComparisonHead, ...], formatter: Formatter
) -> SheetFleet:
    choices = answer.scenario.accelerators
    indexes = assign_palette_indexes(choices)
    names = list_accelerator_names(answer)
    looks = {each.accelerator: (name, index) for each, name, index in zip(choices, names, indexes, strict=True)}
    money = MoneyFormatter(formatter, answer.scenario.costs.currency)
    return build_sheet_fleet(fleet, looks, heads, formatter, money)


def _select_results(answer: Answer, formatter: Formatter) -> ComparisonGroup:
    """Return the result rows of a sheet: values common to all are among the assumptions."""
    figures = list_sheet_figures()
    rows = build_workload_rows(answer, figures, formatter)
    shown_rows = [rows["fits"]] if "fits" in rows else []
    plan = rows["plan"]
    if len({(cell.text, cell.detail) for cell in plan.cells}) > 1 or any(cell.detail for cell in plan.cells):
        shown_rows.append(plan)
    shown_rows += [
        rows[figure.key]
        for figure in figures
        if figure.key in rows and any(cell.value is not None for cell in rows[figure.key].cells)
    ]
    shown_rows += [rows[key] for key in (INSTANCES_ROW, SYSTEMS_ROW, MAX_CONCURRENCY.key, "limiter") if key in rows]
    if len({column.estimate.serving_engine for column in answer.columns if column.estimate}) > 1:
        shown_rows.append(rows["serving_engine"])
    shown_rows.append(rows["basis"])
    return ComparisonGroup("workload", tr("At this workload"), tuple(shown_rows))


def _list_attribute_groups(
    answer: Answer, formatter: Formatter, references: SourceNumbering, *, with_price: bool
) -> Iterator[ComparisonGroup]:
    """Yield memory, compute and system with notes where sources differ; empty groups are left out.

    `with_price` is for sheets without a table of costs, which has the price.
    """
    titles = {"memory": tr("Memory"), "compute": tr("Compute, dense"), "system": tr("System")}
    names = list_accelerator_names(answer)
    for key, title in titles.items():
        attributes = [
            each for each in list_sheet_attributes(key) if with_price or each.key not in PRICE_BOUND_ATTRIBUTES
        ]
        rows = add_notes(build_attribute_rows(answer, attributes, formatter), answer, names, references)
        if key == "memory" and answer.has_load:
            rows += build_memory_use_rows(answer, formatter)
        if rows:
            yield ComparisonGroup(key, title, rows)


def _describe_sheet_column(column: ComparisonColumn) -> str:
    architecture = column.attributes.get("architecture")
    words = [
        None if architecture is None else architecture.value,
        column.accelerator.form_factor,
        tr("announced") if column.accelerator.announced else None,
        tr("custom entry") if is_user_entry(column.attributes.values()) else None,
    ]
    return ", ".join(str(word) for word in words if word)


def _format_model_name(answer: Answer) -> str:
    name = answer.model.name
    own = is_user_entry(answer.model_attributes.values())
    return tr("{name} (custom entry)", name=name) if own else name


def _list_assumptions(answer: Answer, formatter: Formatter) -> tuple[LabeledValue, ...]:
    scenario = answer.scenario
    if not answer.has_load:
        return (
            LabeledValue(tr("Model"), _format_model_name(answer)),
            LabeledValue(tr("Load"), tr("none (specifications only)")),
        )
    work = scenario.workload
    engines = {column.estimate.serving_engine for column in answer.columns if column.estimate}
    counts = {column.estimate.count for column in answer.columns if column.estimate}
    facts = [
        LabeledValue(tr("Model"), _format_model_name(answer)),
        LabeledValue(tr("Weights"), label_precision(scenario.weights)),
        LabeledValue(tr("KV cache"), label_precision(scenario.kv)),
        LabeledValue(
            tr("Serving engine"), label_serving_engine(engines.pop()) if len(engines) == 1 else tr("see table")
        ),
        LabeledValue(tr("Input"), format_tokens(work.input_tokens, formatter)),
        LabeledValue(tr("Output"), format_tokens(work.output_tokens, formatter)),
        LabeledValue(tr("Concurrent requests"), formatter.count(work.load.concurrency))
        if work.load.kind is LoadKind.CONCURRENCY and work.load.requests is None
        else LabeledValue(tr("Load"), format_load(work.load, formatter)),
        LabeledValue(
            tr("Accelerators"), tr("{n} each", n=formatter.count(counts.pop())) if len(counts) == 1 else tr("see table")
        ),
    ]
    return (*facts, *_list_unusual_assumptions(answer, formatter))


def _list_unusual_assumptions(answer: Answer, formatter: Formatter) -> tuple[LabeledValue, ...]:
    """Return the assumptions worth mentioning only if they are unusual."""
    scenario, work = answer.scenario, answer.scenario.workload
    facts = []
    if not work.varied:
        facts.append(LabeledValue(tr("Request lengths"), tr("fixed")))
    if work.prefix_hit_rate:
        facts.append(LabeledValue(tr("Prefix cache"), formatter.per_cent(work.prefix_hit_rate)))
    if work.acceptance_length > 1:
        facts.append(LabeledValue(tr("Tokens per step"), formatter.estimate(work.acceptance_length)))
    if work.eager:
        facts.append(LabeledValue(tr("Graph capture"), tr("off")))
    if scenario.date:
        facts.append(LabeledValue(tr("Software as of"), formatter.date(scenario.date)))
    if scenario.memory_fraction:
        facts.append(LabeledValue(tr("Memory fraction"), formatter.per_cent(scenario.memory_fraction)))
    return tuple(facts)


def _list_key_texts(answer: Answer, table: ComparisonTable) -> tuple[str, ...]:
    marks = {cell.mark for row in table.rows for cell in row.cells}
    own = any(
        is_user_chosen(each)
        for column in answer.columns
        for name, each in column.attributes.items()
        if _is_on_sheet(name)
    )
    raised = tr("superscript: sources disagree, see notes")
    queues = (tr("△ requests queue"),) if any(column.queues for column in answer.columns) else ()
    return (
        tr("tinted: best one or two in row"),
        *((tr("{tie}: too close to call", tie=label_tie()),) if marks & TIES else ()),
        *queues,
        tr("small type: 80% interval"),
        tr("superscript: custom value or sources disagree, see notes") if own else raised,
    )


def _list_estimate_remarks(answer: Answer, names: tuple[str, ...], formatter: Formatter) -> tuple[SheetRemark, ...]:
    """Return the notes of the estimates, each once: common ones have no subject."""
    remarks: dict[str, list[str]] = {}
    for name, column in zip(names, answer.columns, strict=True):
        estimate = column.estimate
        messages = [column.problem] if column.problem else []
        if estimate is not None:
            messages += [estimate.reason] if estimate.reason else []
            messages += estimate.notes
        for text in dict.fromkeys(format_message(message, formatter) for message in messages):
            remarks.setdefault(text, []).append(name)
    general = [SheetRemark("", format_message(note, formatter)) for note in answer.notes]
    general.append(SheetRemark("", tr("Memory is in GiB. Vendors write GB on their labels, but mean GiB")))
    return (
        *general,
        *(
            SheetRemark("" if len(subjects) == len(names) > 1 else ", ".join(subjects), text)
            for text, subjects in remarks.items()
        ),
    )


def _list_bias_remarks(answer: Answer, extras: SheetExtras, formatter: Formatter) -> Iterator[SheetRemark]:
    """Yield how much the throughput of similar measured runs was estimated too high or too low, by accelerator."""
    biases = dict(zip(list_accelerator_names(answer), extras.throughput_biases, strict=False))
    for name, bias in biases.items():
        if bias is not None and answer.has_load:
            yield SheetRemark("", describe_bias(bias, "output_tokens_per_s", name, formatter))


def _list_count_remarks(how_many: AcceleratorNeeds) -> tuple[SheetRemark, ...]:
    words = explain_degrees(how_many.needed)
    return (SheetRemark("", words),) if words else ()


def _build_memory_bars(answer: Answer, names: tuple[str, ...], formatter: Formatter) -> tuple[SheetMemoryBar, ...]:
    return tuple(
        _build_memory_bar(name, column.estimate, slot, formatter)
        for name, column, (slot, _) in zip(names, answer.columns, get_column_looks(answer), strict=True)
        if column.estimate is not None
    )


def _build_memory_bar(name: str, estimate: Estimate, slot: int, formatter: Formatter) -> SheetMemoryBar:
    use = estimate.memory
    parts = (
        (tr("weights"), use.weights_bytes),
        (tr("KV cache"), use.kv_bytes),
        (tr("other"), use.activations_bytes + use.runtime_bytes),
    )
    needed = sum(size for _, size in parts)
    return SheetMemoryBar(
        slot=slot,
        name=name,
        parts=tuple((label, size / GIB) for label, size in parts),
        capacity=use.capacity_bytes / GIB,
        label=formatter.gib(use.capacity_bytes),
        needed=None if estimate.fits else formatter.gib(needed),
    )


def _build_throughput_series(answer: Answer, names: tuple[str, ...]) -> tuple[ThroughputSeries, ...]:
    return tuple(
        ThroughputSeries(
            slot=slot,
            name=name,
            concurrency=column.curve.concurrency,
            value=column.curve.output_tokens_per_s.value,
            low=column.curve.output_tokens_per_s.low,
            high=column.curve.output_tokens_per_s.high,
            is_variant=is_variant,
        )
        for name, column, (slot, is_variant) in zip(names, answer.columns, get_column_looks(answer), strict=True)
        if column.curve is not None and len(column.curve.concurrency) > 1
    )


def _list_sheet_disputes(answer: Answer, references: SourceNumbering) -> tuple[SheetDispute, ...]:
    return tuple(
        SheetDispute(
            subject=tr("{subject}: {topic}", subject=dispute.subject, topic=label_dispute_topic(dispute)),
            disagreement=to_sentence(translate_data(dispute.disagreement)),
            verdict=", ".join(
                part
                for part in (translate_data(dispute.verdict).rstrip("."), lower_for_sentence(describe_refusal(dispute)))
                if part
            ),
            reason=to_sentence(translate_data(dispute.reason)),
        )
        for dispute in answer.disputes
        # Numbered notes explain disputes about other values; prices are ranges and have none.
        if not set(PRICE_BOUND_ATTRIBUTES).isdisjoint(dispute.attributes)
        and not any(pair in references.noted for pair in product(dispute.things, dispute.attributes))
    )


def _list_foot_facts(answer: Answer, formatter: Formatter) -> tuple[LabeledValue, ...]:
    return (
        LabeledValue(tr("Catalog"), formatter.date(answer.data_date)),
        LabeledValue(tr("Calibration"), formatter.date(answer.calibration.partition(",")[0])),
        LabeledValue(tr("Sheet ID"), answer.content_hash[:16]),
    )


def build_machine_sheet(answer: Answer, further: SheetExtras | None = None) -> ComparisonSheet:
    return build_sheet(answer, Formatter(MACHINE_NUMBERS), further=further)
