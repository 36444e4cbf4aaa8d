"""Builds the comparison sheet of an answer, with counts, costs and the recommendation where wanted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Final

from gpudesk.domain.answer import Answer, ComparisonColumn, SheetExtras
from gpudesk.domain.claim import PRICE_BOUND_ATTRIBUTES, StalenessLimits, is_user_entry
from gpudesk.domain.cost import CostAnswer, CostColumn, TokenCosts
from gpudesk.domain.estimate import Estimate
from gpudesk.domain.sizing import AcceleratorNeeds, SizingOption, SizingResult, SmallestDeployments
from gpudesk.report.comparison.attribute_rows import (
    SHEET_ATTRIBUTES,
    SourceNumbering,
    build_source_rows,
    build_spec_groups,
    is_user_chosen,
    to_sentence,
)
from gpudesk.report.comparison.estimate_rows import build_difference_groups, build_memory_rows, build_workload_group
from gpudesk.report.comparison.headlines import build_sheet_headlines, get_column_looks
from gpudesk.report.comparison.tables import (
    NO_TABLE,
    CellMarking,
    ComparisonSheet,
    LabeledValue,
    SheetCell,
    SheetDispute,
    SheetGroup,
    SheetHead,
    SheetMemoryBar,
    SheetRemark,
    SheetRow,
    SheetTable,
    ThroughputSeries,
)
from gpudesk.report.costs import (
    MoneyFormatter,
    describe_rent_terms,
    describe_utilization,
    format_input_range,
    label_cost_input,
    list_api_remarks,
    list_missing_costs,
)
from gpudesk.report.decision.recommendation import build_recommendation, build_trace_rows
from gpudesk.report.explanation.claims import describe_refusal, label_attribute_alone
from gpudesk.report.explanation.working import WorkingSource, build_sheet_workings
from gpudesk.report.labels import (
    count_days_since,
    format_age,
    format_load,
    format_tokens,
    label_precision,
    label_serving_engine,
    list_accelerator_names,
    list_column_names,
)
from gpudesk.report.sizing import (
    describe_demand,
    describe_sizing_with_notes,
    format_degrees,
    label_requests_in_flight,
    label_single_request,
    label_weight_width,
    summarize_reason,
)
from gpudesk.text.formatting import ENGLISH_NUMBERS, MACHINE_NUMBERS, MISSING_VALUE_TEXT, Formatter
from gpudesk.text.messages import format_message
from gpudesk.text.translation import tr
from gpudesk.text.units import GIB


def build_counts_table(answer: Answer, how_many: AcceleratorNeeds, formatter: Formatter) -> SheetTable:
    """Return the counts: for one request, for all in flight, and for what users ask of the service."""
    return SheetTable(tr("How many are needed"), tuple(_build_count_groups(answer, how_many, formatter)))


def list_sizing_remarks(
    sizing: SizingResult | None, names: Sequence[str], formatter: Formatter
) -> tuple[SheetRemark, ...]:
    if sizing is None:
        return ()
    return tuple(
        SheetRemark("", describe_sizing_with_notes(sizing, each, name, formatter).rstrip("."))
        for each, name in zip(sizing.candidates, names, strict=True)
    )


def _build_count_groups(answer: Answer, how_many: AcceleratorNeeds, formatter: Formatter) -> Iterator[SheetGroup]:
    across = tuple(zip(*how_many.needed, strict=True))
    workload = answer.scenario.workload
    title = label_requests_in_flight(workload, formatter)
    if across and title is not None:
        yield SheetGroup(
            _label_for(title), tuple(_build_count_row(needed, formatter, for_load=True) for needed in across)
        )
    if across:
        one = label_single_request(workload, formatter)
        yield SheetGroup(
            _label_for(one), tuple(_build_count_row(needed, formatter, for_load=False) for needed in across)
        )
    if how_many.sizing is not None:
        yield _build_sizing_group(how_many.sizing, formatter)


def _label_for(what: str) -> str:
    """Return the heading of rows of counts, which on paper stand by themselves."""
    return tr("Accelerators needed: {what}", what=what[:1].lower() + what[1:])


def _build_count_row(across: Sequence[SmallestDeployments], formatter: Formatter, *, for_load: bool) -> SheetRow:
    alike = len({needed.weights for needed in across}) == 1
    cells = (_build_count_cell(needed, formatter, for_load=for_load, name_format=not alike) for needed in across)
    return SheetRow(tr("Weights in {format}", format=label_weight_width(across, formatter)), None, tuple(cells))


def _build_count_cell(
    needed: SmallestDeployments, formatter: Formatter, *, for_load: bool, name_format: bool
) -> SheetCell:
    size = needed.load if for_load else needed.one
    if size is None:
        return SheetCell(MISSING_VALUE_TEXT, detail=summarize_reason(needed.reason) or None, mark=CellMarking.FAILS)
    shown = label_precision(needed.weights) if name_format else ""
    detail = ", ".join(each for each in (shown, format_degrees(size.plan, formatter)) if each)
    return SheetCell(formatter.count(size.count), detail=detail or None)


def _build_sizing_group(sizing: SizingResult, formatter: Formatter) -> SheetGroup:
    def row(label: str, unit: str | None, cell: Callable[[SizingOption], SheetCell]) -> SheetRow:
        return SheetRow(
            label,
            unit,
            tuple(_build_cell_without(each) if each.count is None else cell(each) for each in sizing.candidates),
        )

    def count(value: Callable[[SizingOption], int]) -> Callable[[SizingOption], SheetCell]:
        return lambda each: SheetCell(formatter.count(value(each)))

    fewest = min((each.count for each in sizing.candidates if each.count is not None), default=None)

    def total(each: SizingOption) -> SheetCell:
        best = CellMarking.BEST if each.count == fewest and len(sizing.candidates) > 1 else None
        return SheetCell(formatter.count(each.count), detail=_format_product(each, formatter), mark=best)

    rows = (
        row(tr("Accelerators"), None, total),
        row(tr("Working replicas"), None, count(lambda each: each.replicas)),
        row(tr("Accelerators in reserve"), None, count(lambda each: each.spare)),
        row(tr("Hosts"), None, count(lambda each: each.nodes)),
        row(tr("In flight, each replica"), None, count(lambda each: each.concurrency_per_replica)),
        row(tr("In flight, all replicas"), None, count(lambda each: each.concurrency)),
        row(tr("Throughput at the most"), "tok/s", lambda each: _format_rate(each, formatter)),
        row(tr("Power of accelerators at TDP"), "kW", lambda each: _format_power(each, formatter)),
    )
    return SheetGroup(describe_demand(sizing.demand, formatter), rows)


def _build_cell_without(candidate: SizingOption) -> SheetCell:  # noqa: ARG001 - the reason is a sentence of its own
    return SheetCell(MISSING_VALUE_TEXT, mark=CellMarking.FAILS)


def _format_product(candidate: SizingOption, formatter: Formatter) -> str:
    plan = format_degrees(candidate.plan, formatter)
    replicas = formatter.count(candidate.replicas)
    each = tr("{n} × {plan}", n=replicas, plan=plan) if plan else replicas
    if not candidate.spare:
        return each
    return tr("{working} + {spare} spare", working=each, spare=formatter.count(candidate.spare))


def _format_rate(candidate: SizingOption, formatter: Formatter) -> SheetCell:
    rate = candidate.output_tokens_per_s
    if rate is None:
        return SheetCell(MISSING_VALUE_TEXT)
    value, low, high = (formatter.estimate(each) for each in rate)
    return SheetCell(value, low, high)


def _format_power(candidate: SizingOption, formatter: Formatter) -> SheetCell:
    power = candidate.power_kw
    return SheetCell(MISSING_VALUE_TEXT if power is None else formatter.estimate(power))


#: Inputs of all that are named below the figures; the others are in the program.
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


def build_costs_table(answer: Answer, costs: CostAnswer, formatter: Formatter) -> SheetTable:
    money = MoneyFormatter(formatter, answer.scenario.costs.currency)
    title = tr(
        "Cost of a million output tokens in {code}, {busy}, {rents}, taxes excluded",
        code=money.code,
        busy=describe_utilization(costs.utilisation, formatter),
        rents=describe_rent_terms(answer.scenario.costs.rent_term, costs.utilisation),
    )
    return SheetTable(tr("Cost"), (SheetGroup(title, _build_cost_rows(costs, money, formatter)),))


def _build_cost_rows(costs: CostAnswer, money: MoneyFormatter, formatter: Formatter) -> tuple[SheetRow, ...]:
    def row(label: str, unit: str | None, cell: Callable[[CostColumn], SheetCell]) -> SheetRow:
        return SheetRow(label, unit, tuple(cell(column) for column in costs.columns))

    def tokens(found: TokenCosts | None) -> SheetCell:
        if found is None:
            return SheetCell(MISSING_VALUE_TEXT, mark=CellMarking.FAILS)
        value, low, high = (money.small(each) for each in found.output)
        return SheetCell(value, low, high)

    def months(column: CostColumn) -> SheetCell:
        found = (each for each in costs.break_evens if each.key == column.key)
        value = next((each.value for each in found if each.name == "months_to_own"), None)
        return SheetCell(MISSING_VALUE_TEXT if value is None else formatter.number(value, 1))

    def total(column: CostColumn) -> SheetCell:
        if column.tco is None:
            return SheetCell(MISSING_VALUE_TEXT, mark=CellMarking.FAILS)
        return SheetCell(money.thousands(column.tco.total_usd))

    def joules(column: CostColumn) -> SheetCell:
        found = column.efficiency.joules_per_token if column.efficiency else None
        return SheetCell(MISSING_VALUE_TEXT if found is None else formatter.estimate(found.value))

    years = next((column.tco.years for column in costs.columns if column.tco is not None), None)
    rows = [
        row(tr("Owned"), money.code, lambda each: tokens(each.owned)),
        row(tr("Rented"), money.code, lambda each: tokens(each.rented)),
        row(tr("Rent of one"), money.unit("USD/h"), lambda each: SheetCell(money.small(each.rent_usd_per_hour))),
    ]
    if years is not None:
        label = tr("{years} years of owning", years=formatter.stated(years))
        rows.append(row(label, tr("k{code}", code=money.code), total))
        rows.append(row(tr("Below rent after"), tr("months"), months))
    rows.append(row(tr("Energy of an output token"), "J", joules))
    return tuple(rows)


def list_cost_remarks(
    answer: Answer, costs: CostAnswer, names: Sequence[str], formatter: Formatter
) -> tuple[SheetRemark, ...]:
    lines = [
        SheetRemark(tr("Cost"), line)
        for column, name in zip(costs.columns, names, strict=True)
        for line in list_missing_costs(column, name)
    ]
    lines += [SheetRemark(tr("Cost"), line) for line in list_api_remarks(costs)]
    if costs.columns:
        inputs, currency = costs.columns[0].inputs, answer.scenario.costs.currency
        said = ", ".join(
            f"{label_cost_input(name)} {format_input_range(name, inputs[name].spread, formatter, currency)}"
            for name in _NAMED
            if name in inputs
        )
        lines.append(SheetRemark(tr("Cost"), tr("Taken for granted, with what it may be: {inputs}", inputs=said)))
    return tuple(lines)


def list_stale_remarks(
    answer: Answer, names: tuple[str, ...], today: str, rule: StalenessLimits
) -> tuple[SheetRemark, ...]:
    """Return a remark where prices or other facts that are shown are stale, by the dates of their sources.

    `today` is the day of the sheet in ISO form.
    """
    prices, facts = [], []
    for name, column in dict(zip(names, answer.columns, strict=True)).items():
        price = _format_stale_age(column, PRICE_BOUND_ATTRIBUTES[0], today)
        if price is not None and price > rule.prices:
            prices.append(f"{name} ({format_age(price)})")
        old = [
            label_attribute_alone(attribute)
            for attribute in column.attributes
            if attribute in SHEET_ATTRIBUTES
            and attribute not in PRICE_BOUND_ATTRIBUTES
            and (_format_stale_age(column, attribute, today) or 0) > rule.facts
        ]
        if old:
            facts.append(f"{name} ({'; '.join(old)})")
    said = []
    if prices:
        said.append(tr("Old purchase prices: {parts}", parts=", ".join(prices)))
    if facts:
        said.append(tr("Sources older than {n} days: {parts}", n=rule.facts, parts=", ".join(facts)))
    return (SheetRemark("", ". ".join(said)),) if said else ()


def _format_stale_age(column: ComparisonColumn, name: str, today: str) -> int | None:
    """Return how many days ago the source of a value dates itself; None where that is not known."""
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
    """Return the sheet of an answer; `date` is the day that it is made, to which ages of facts are counted.

    Without it nothing is said of ages; `rule` says what counts as stale, the usual rule if none is given.
    With `explain` the sheet tells how its headline figures come about, with `further` how many are
    needed, what that costs and which to take.
    With the machine style figures have no separators and unit names stay beside the rows.
    """
    formatter = formatter or Formatter(ENGLISH_NUMBERS)
    how_many = None if further is None else further.how_many
    costs = None if further is None else further.costs
    decision = None if further is None else further.decision
    names = list_column_names(answer)
    parts = list_accelerator_names(answer)
    references = SourceNumbering(formatter)
    table = SheetTable(
        tr("Comparison"),
        (
            *build_difference_groups(answer, names, formatter),
            build_workload_group(answer, formatter),
            *build_spec_groups(answer, parts, formatter, references, build_memory_rows(answer, formatter)),
        ),
    )
    whose = SheetTable(tr("Whose figures these are"), _make_single_group(build_source_rows(answer, references)))
    heads = _build_sheet_heads(answer, names)
    return ComparisonSheet(
        title=answer.scenario.name,
        note=answer.scenario.note,
        date=date,
        assumptions=_list_assumptions(answer, formatter),
        headlines=build_sheet_headlines(answer, names, formatter),
        heads=heads,
        table=table,
        whose=whose,
        key=_list_key_texts(answer),
        notes=references.notes,
        remarks=(
            *_list_estimate_remarks(answer, names, formatter),
            *(() if date is None else list_stale_remarks(answer, names, date, rule or StalenessLimits())),
            *(() if costs is None else list_cost_remarks(answer, costs, names, formatter)),
        ),
        memory=_build_memory_bars(answer, names, formatter),
        throughput=_build_throughput_series(answer, names),
        concurrency=answer.scenario.workload.load.concurrency,
        disputes=_list_sheet_disputes(answer, references),
        sources=references.sources,
        foot=_list_foot_facts(answer),
        working=() if explain is None else build_sheet_workings(answer, names, formatter, explain),
        sizing=() if how_many is None else list_sizing_remarks(how_many.sizing, names, formatter),
        how_many=NO_TABLE if how_many is None else build_counts_table(answer, how_many, formatter),
        costs=NO_TABLE if costs is None else build_costs_table(answer, costs, formatter),
        recommendation=None
        if decision is None or further is None
        else build_recommendation(decision, further.flips, heads, formatter),
        trace=() if decision is None else build_trace_rows(decision, formatter),
    )


def _make_single_group(rows: tuple[SheetRow, ...]) -> tuple[SheetGroup, ...]:
    return (SheetGroup("", rows),) if rows else ()


def _build_sheet_heads(answer: Answer, names: tuple[str, ...]) -> tuple[SheetHead, ...]:
    return tuple(
        SheetHead(name, _describe_sheet_column(column), *look)
        for name, column, look in zip(names, answer.columns, get_column_looks(answer), strict=True)
    )


def _describe_sheet_column(column: ComparisonColumn) -> str:
    architecture = column.attributes.get("architecture")
    stated = [
        None if architecture is None else architecture.value,
        column.accelerator.form_factor,
        tr("announced") if column.accelerator.announced else None,
        tr("own entry") if is_user_entry(column.attributes.values()) else None,
    ]
    return ", ".join(str(word) for word in stated if word)


def _format_model_name(answer: Answer) -> str:
    name = answer.model.name
    own = is_user_entry(answer.model_attributes.values())
    return tr("{name} (own entry)", name=name) if own else name


def _list_assumptions(answer: Answer, formatter: Formatter) -> tuple[LabeledValue, ...]:
    scenario = answer.scenario
    work = scenario.workload
    engines = {column.estimate.serving_engine for column in answer.columns if column.estimate}
    counts = {column.estimate.count for column in answer.columns if column.estimate}
    facts = [
        LabeledValue(tr("Model"), _format_model_name(answer)),
        LabeledValue(tr("Weights"), label_precision(scenario.weights)),
        LabeledValue(tr("KV cache"), label_precision(scenario.kv)),
        LabeledValue(
            tr("Serving engine"), label_serving_engine(engines.pop()) if len(engines) == 1 else tr("see the table")
        ),
        LabeledValue(tr("Input"), format_tokens(work.input_tokens, formatter)),
        LabeledValue(tr("Output"), format_tokens(work.output_tokens, formatter)),
        LabeledValue(tr("Load"), format_load(work.load, formatter)),
        LabeledValue(
            tr("Count"), tr("{n} each", n=formatter.count(counts.pop())) if len(counts) == 1 else tr("see the table")
        ),
    ]
    return (*facts, *_list_unusual_assumptions(answer, formatter))


def _list_unusual_assumptions(answer: Answer, formatter: Formatter) -> tuple[LabeledValue, ...]:
    """Return the assumptions that are worth a word only where they are not the usual ones."""
    scenario, work = answer.scenario, answer.scenario.workload
    facts = []
    if not work.varied:
        facts.append(LabeledValue(tr("Lengths"), tr("all alike")))
    if work.prefix_hit_rate:
        facts.append(LabeledValue(tr("Prefix cache"), formatter.per_cent(work.prefix_hit_rate)))
    if work.acceptance_length > 1:
        facts.append(LabeledValue(tr("Tokens a step"), formatter.estimate(work.acceptance_length)))
    if work.eager:
        facts.append(LabeledValue(tr("Graphs"), tr("none")))
    if scenario.date:
        facts.append(LabeledValue(tr("Software of"), scenario.date))
    if scenario.memory_fraction:
        facts.append(LabeledValue(tr("Memory fraction"), formatter.per_cent(scenario.memory_fraction)))
    return tuple(facts)


def _list_key_texts(answer: Answer) -> tuple[str, ...]:
    own = any(
        is_user_chosen(each)
        for column in answer.columns
        for name, each in column.attributes.items()
        if name in SHEET_ATTRIBUTES
    )
    raised = tr("raised: sources differ, see notes")
    return (
        tr("bold: best in the row"),
        tr("≈ no winner: within their bands"),
        tr("small: the band that holds four in five"),
        tr("raised: own value, or sources differ, see notes") if own else raised,
    )


def _list_estimate_remarks(answer: Answer, names: tuple[str, ...], formatter: Formatter) -> tuple[SheetRemark, ...]:
    """Return what the estimates note, each once: what all columns share is said without a subject."""
    said: dict[str, list[str]] = {}
    for name, column in zip(names, answer.columns, strict=True):
        estimate = column.estimate
        messages = [column.problem] if column.problem else []
        if estimate is not None:
            messages += [estimate.reason] if estimate.reason else []
            messages += estimate.notes
        for text in dict.fromkeys(format_message(message, formatter) for message in messages):
            said.setdefault(text, []).append(name)
    general = [SheetRemark("", format_message(note, formatter)) for note in answer.notes]
    return (
        *general,
        *(
            SheetRemark("" if len(subjects) == len(names) > 1 else ", ".join(subjects), text)
            for text, subjects in said.items()
        ),
    )


def _build_memory_bars(answer: Answer, names: tuple[str, ...], formatter: Formatter) -> tuple[SheetMemoryBar, ...]:
    return tuple(
        _build_memory_bar(name, column.estimate, look, formatter)
        for name, column, look in zip(names, answer.columns, get_column_looks(answer), strict=True)
        if column.estimate is not None
    )


def _build_memory_bar(name: str, estimate: Estimate, look: tuple[int, bool], formatter: Formatter) -> SheetMemoryBar:
    use = estimate.memory
    parts = (
        (tr("weights"), use.weights_bytes),
        (tr("KV cache"), use.kv_bytes),
        (tr("other"), use.activations_bytes + use.runtime_bytes),
    )
    needed = sum(size for _, size in parts)
    return SheetMemoryBar(
        slot=look[0],
        name=name,
        parts=tuple((label, size / GIB) for label, size in parts),
        capacity=use.capacity_bytes / GIB,
        label=formatter.gib(use.capacity_bytes),
        needed=None if estimate.fits else formatter.gib(needed),
        is_variant=look[1],
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
            subject=f"{dispute.subject}, {dispute.attribute.replace('_', ' ')}",
            disagreement=to_sentence(dispute.disagreement),
            verdict=", ".join(
                part for part in (dispute.verdict.rstrip("."), _lower_first(describe_refusal(dispute))) if part
            ),
            reason=to_sentence(dispute.reason),
        )
        for dispute in answer.disputes
        if any(name in SHEET_ATTRIBUTES for name in dispute.attributes)
        and not any(pair in references.noted for pair in product(dispute.things, dispute.attributes))
    )


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:]


def _list_foot_facts(answer: Answer) -> tuple[LabeledValue, ...]:
    return (
        LabeledValue(tr("Catalog"), f"{answer.data_date}, {answer.catalog_revision[:8]}"),
        LabeledValue(tr("Calibration"), answer.calibration),
        LabeledValue(tr("Content"), answer.content_hash[:16]),
    )


def build_machine_sheet(answer: Answer, further: SheetExtras | None = None) -> ComparisonSheet:
    return build_sheet(answer, Formatter(MACHINE_NUMBERS), further=further)
