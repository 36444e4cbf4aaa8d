"""From an answer to a sheet: every text in its order, ready for any form of output."""

from __future__ import annotations

from itertools import product

from gpudesk.domain.age_rule import AgeRule
from gpudesk.domain.answers import Answer, Column
from gpudesk.domain.claims import entered
from gpudesk.domain.estimates import Estimate
from gpudesk.domain.formatting import ENGLISH, MACHINE, Formatter
from gpudesk.domain.further import Further
from gpudesk.domain.units import GIB
from gpudesk.sentences import sentence
from gpudesk.sheets.claim_lines import refused_by
from gpudesk.sheets.costs_table import cost_remarks, costs_table
from gpudesk.sheets.figures import difference_groups, memory_rows, workload_group
from gpudesk.sheets.headlines import headlines, looks
from gpudesk.sheets.how_many import how_many_table, sizing_remarks
from gpudesk.sheets.labels import engine_name, precision_name
from gpudesk.sheets.names import column_names, load_text, part_names, tokens_text
from gpudesk.sheets.recommendation import recommendation, trace_rows
from gpudesk.sheets.sheet import (
    NO_TABLE,
    DisputeEntry,
    Fact,
    Group,
    Head,
    MemoryBar,
    Remark,
    Row,
    Series,
    Sheet,
    Table,
)
from gpudesk.sheets.specs import SHOWN, References, as_sentence, is_own, source_rows, spec_groups
from gpudesk.sheets.stale_remarks import stale_remarks
from gpudesk.sheets.working_text import Explain, workings
from gpudesk.text import tr


def make_sheet(
    answer: Answer,
    formatter: Formatter | None = None,
    date: str | None = None,
    explain: Explain | None = None,
    rule: AgeRule | None = None,
    further: Further | None = None,
) -> Sheet:
    """Return the sheet of an answer; `date` is the day that it is made, to which ages of facts are counted.

    Without it nothing is said of ages; `rule` says what counts as stale, the usual rule if none is given.
    With `explain` the sheet tells how its headline figures come about, with `further` how many are
    needed, what that costs and which to take.
    With the machine style figures have no separators and unit names stay beside the rows.
    """
    formatter = formatter or Formatter(ENGLISH)
    how_many = None if further is None else further.how_many
    costs = None if further is None else further.costs
    decision = None if further is None else further.decision
    names = column_names(answer)
    parts = part_names(answer)
    references = References(formatter)
    table = Table(
        tr("Comparison"),
        (
            *difference_groups(answer, names, formatter),
            workload_group(answer, formatter),
            *spec_groups(answer, parts, formatter, references, memory_rows(answer, formatter)),
        ),
    )
    whose = Table(tr("Whose figures these are"), _one_group(source_rows(answer, references)))
    heads = _heads(answer, names)
    return Sheet(
        title=answer.scenario.name,
        note=answer.scenario.note,
        date=date,
        assumptions=_assumptions(answer, formatter),
        headlines=headlines(answer, names, formatter),
        heads=heads,
        table=table,
        whose=whose,
        key=_key(answer),
        notes=references.notes,
        remarks=(
            *_remarks(answer, names, formatter),
            *(() if date is None else stale_remarks(answer, names, date, rule or AgeRule())),
            *(() if costs is None else cost_remarks(answer, costs, names, formatter)),
        ),
        memory=_memory_bars(answer, names, formatter),
        throughput=_series(answer, names),
        concurrency=answer.scenario.workload.load.concurrency,
        disputes=_disputes(answer, references),
        sources=references.sources,
        foot=_foot(answer),
        working=() if explain is None else workings(answer, names, formatter, explain),
        sizing=() if how_many is None else sizing_remarks(how_many.sizing, names, formatter),
        how_many=NO_TABLE if how_many is None else how_many_table(answer, how_many, formatter),
        costs=NO_TABLE if costs is None else costs_table(answer, costs, formatter),
        recommendation=None
        if decision is None or further is None
        else recommendation(decision, further.flips, heads, formatter),
        trace=() if decision is None else trace_rows(decision, formatter),
    )


def _one_group(rows: tuple[Row, ...]) -> tuple[Group, ...]:
    return (Group("", rows),) if rows else ()


def _heads(answer: Answer, names: tuple[str, ...]) -> tuple[Head, ...]:
    return tuple(
        Head(name, _head_detail(column), *look)
        for name, column, look in zip(names, answer.columns, looks(answer), strict=True)
    )


def _head_detail(column: Column) -> str:
    architecture = column.attributes.get("architecture")
    stated = [
        None if architecture is None else architecture.value,
        column.accelerator.form_factor,
        tr("announced") if column.accelerator.announced else None,
        tr("own entry") if entered(column.attributes.values()) else None,
    ]
    return ", ".join(str(word) for word in stated if word)


def _model_name(answer: Answer) -> str:
    """Return the name of the model, and whether it is one that the author entered."""
    name = answer.model.name
    own = entered(answer.model_attributes.values())
    return tr("{name} (own entry)", name=name) if own else name


def _assumptions(answer: Answer, formatter: Formatter) -> tuple[Fact, ...]:
    scenario = answer.scenario
    work = scenario.workload
    engines = {column.estimate.serving_engine for column in answer.columns if column.estimate}
    counts = {column.estimate.count for column in answer.columns if column.estimate}
    facts = [
        Fact(tr("Model"), _model_name(answer)),
        Fact(tr("Weights"), precision_name(scenario.weights)),
        Fact(tr("KV cache"), precision_name(scenario.kv)),
        Fact(tr("Serving engine"), engine_name(engines.pop()) if len(engines) == 1 else tr("see the table")),
        Fact(tr("Input"), tokens_text(work.input_tokens, formatter)),
        Fact(tr("Output"), tokens_text(work.output_tokens, formatter)),
        Fact(tr("Load"), load_text(work.load, formatter)),
        Fact(
            tr("Count"),
            tr("{n} each", n=formatter.count(counts.pop())) if len(counts) == 1 else tr("see the table"),
        ),
    ]
    return (*facts, *_less_usual(answer, formatter))


def _less_usual(answer: Answer, formatter: Formatter) -> tuple[Fact, ...]:
    """Return the assumptions that are worth a word only where they are not the usual ones."""
    scenario, work = answer.scenario, answer.scenario.workload
    facts = []
    if not work.varied:
        facts.append(Fact(tr("Lengths"), tr("all alike")))
    if work.prefix_hit_rate:
        facts.append(Fact(tr("Prefix cache"), formatter.per_cent(work.prefix_hit_rate)))
    if work.acceptance_length > 1:
        facts.append(Fact(tr("Tokens a step"), formatter.estimate(work.acceptance_length)))
    if work.eager:
        facts.append(Fact(tr("Graphs"), tr("none")))
    if scenario.date:
        facts.append(Fact(tr("Software of"), scenario.date))
    if scenario.memory_fraction:
        facts.append(Fact(tr("Memory fraction"), formatter.per_cent(scenario.memory_fraction)))
    return tuple(facts)


def _key(answer: Answer) -> tuple[str, ...]:
    own = any(
        is_own(each) for column in answer.columns for name, each in column.attributes.items() if name in SHOWN
    )
    raised = tr("raised: sources differ, see notes")
    return (
        tr("bold: best in the row"),
        tr("≈ no winner: within their bands"),
        tr("small: the band that holds four in five"),
        tr("raised: own value, or sources differ, see notes") if own else raised,
    )


def _remarks(answer: Answer, names: tuple[str, ...], formatter: Formatter) -> tuple[Remark, ...]:
    """Return what the estimates note, each once: what all columns share is said without a subject."""
    said: dict[str, list[str]] = {}
    for name, column in zip(names, answer.columns, strict=True):
        estimate = column.estimate
        messages = [column.problem] if column.problem else []
        if estimate is not None:
            messages += [estimate.reason] if estimate.reason else []
            messages += estimate.notes
        for text in dict.fromkeys(sentence(message, formatter) for message in messages):
            said.setdefault(text, []).append(name)
    general = [Remark("", sentence(note, formatter)) for note in answer.notes]
    return (
        *general,
        *(
            Remark("" if len(subjects) == len(names) > 1 else ", ".join(subjects), text)
            for text, subjects in said.items()
        ),
    )


def _memory_bars(answer: Answer, names: tuple[str, ...], formatter: Formatter) -> tuple[MemoryBar, ...]:
    return tuple(
        _memory_bar(name, column.estimate, look, formatter)
        for name, column, look in zip(names, answer.columns, looks(answer), strict=True)
        if column.estimate is not None
    )


def _memory_bar(name: str, estimate: Estimate, look: tuple[int, bool], formatter: Formatter) -> MemoryBar:
    use = estimate.memory
    parts = (
        (tr("weights"), use.weights_bytes),
        (tr("KV cache"), use.kv_bytes),
        (tr("other"), use.activations_bytes + use.runtime_bytes),
    )
    needed = sum(size for _, size in parts)
    return MemoryBar(
        slot=look[0],
        name=name,
        parts=tuple((label, size / GIB) for label, size in parts),
        capacity=use.capacity_bytes / GIB,
        label=formatter.gib(use.capacity_bytes),
        needed=None if estimate.fits else formatter.gib(needed),
        hollow=look[1],
    )


def _series(answer: Answer, names: tuple[str, ...]) -> tuple[Series, ...]:
    """Return the curves of the columns that have one of more than a point."""
    return tuple(
        Series(
            slot=slot,
            name=name,
            concurrency=column.curve.concurrency,
            value=column.curve.output_tokens_per_s.value,
            low=column.curve.output_tokens_per_s.low,
            high=column.curve.output_tokens_per_s.high,
            hollow=hollow,
        )
        for name, column, (slot, hollow) in zip(names, answer.columns, looks(answer), strict=True)
        if column.curve is not None and len(column.curve.concurrency) > 1
    )


def _disputes(answer: Answer, references: References) -> tuple[DisputeEntry, ...]:
    """Return the judged contradictions about what is shown, beyond those that have a note."""
    return tuple(
        DisputeEntry(
            subject=f"{dispute.subject}, {dispute.attribute.replace('_', ' ')}",
            disagreement=as_sentence(dispute.disagreement),
            verdict=", ".join(
                part for part in (dispute.verdict.rstrip("."), _lower(refused_by(dispute))) if part
            ),
            reason=as_sentence(dispute.reason),
        )
        for dispute in answer.disputes
        if any(name in SHOWN for name in dispute.attributes)
        and not any(pair in references.noted for pair in product(dispute.things, dispute.attributes))
    )


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


def _foot(answer: Answer) -> tuple[Fact, ...]:
    return (
        Fact(tr("Catalog"), f"{answer.data_date}, {answer.catalog_revision[:8]}"),
        Fact(tr("Calibration"), answer.calibration),
        Fact(tr("Content"), answer.content_hash[:16]),
    )


def machine_sheet(answer: Answer, further: Further | None = None) -> Sheet:
    """Return the sheet with figures as programs read them."""
    return make_sheet(answer, Formatter(MACHINE), further=further)
