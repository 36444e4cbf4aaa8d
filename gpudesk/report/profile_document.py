"""The profile of an accelerator as lines of text, as JSON values, and as a file: Markdown, one HTML file, or CSV."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

from gpudesk.domain.claim import AttributeClaims
from gpudesk.domain.estimate import EstimateRequest
from gpudesk.domain.estimate_json import encode_each, encode_fields, encode_value
from gpudesk.domain.profile import AcceleratorProfile, Capability, Trait
from gpudesk.files import describe_unknown_format
from gpudesk.report.data_table import DataCell, DataRow, DataTable
from gpudesk.report.profile_sections import SPECIFICATION_GROUPS, ProfileTables
from gpudesk.report.writers.csv import join_csv
from gpudesk.report.writers.document import (
    BulletList,
    DocumentBlock,
    DocumentHeading,
    DocumentParagraph,
    DocumentTable,
    write_blocks_html,
    write_blocks_markdown,
)
from gpudesk.report.writers.safe_text import quote_formula
from gpudesk.report.writers.text import align_table, indent_hanging, measure_text, wrap_text
from gpudesk.text.formatting import MACHINE_NUMBERS, MISSING_VALUE_TEXT, Formatter
from gpudesk.text.messages import InputError, format_message
from gpudesk.text.translation import tr

#: Suffixes of writable files; PDF comes from the window's printing.
PDF_FORM: Final = ".pdf"
FORMS: Final = (PDF_FORM, ".html", ".md", ".csv")


_BULLET: Final = "- "
#: Long texts in less room than the first lose their details; in less than the second, they move below their row.
_LEAST_WORDS, _LEAST_COLUMN = 40, 20
_ANY_WIDTH: Final = 1000
Strong = Callable[[str], str]


def list_profile_lines(tables: ProfileTables, width: int, strong: Strong) -> Iterator[str]:
    """Yield a profile for a terminal, the verdict first."""
    profile, formatter = tables.profile, tables.formatter
    yield from map(strong, wrap_text(f"{tables.headline()}.", width))
    yield from wrap_text(f"{format_message(profile.advice.verdict, formatter)}.", width)
    yield " · ".join([profile.accelerator.name, *(text for text, _ in tables.tags())])
    yield from wrap_text(_describe_load(tables), width)
    yield from _list_bullets(tr("Strengths"), tables.strengths(), width, strong)
    yield from _list_bullets(tr("Considerations"), tables.considerations(), width, strong)
    for table in _list_tables(tables):
        if table.rows:
            yield ""
            title = (
                tr("{title}: {subtitle}", title=table.title, subtitle=table.subtitle) if table.subtitle else table.title
            )
            yield from map(strong, wrap_text(title, width))
            yield from _align_profile_table(table, width)
            yield from wrap_text(table.note, width) if table.note else ()
    unlocked = [row.sentence for row in tables.upgrades().rows]
    yield from _list_bullets(tr("Unlocked models"), unlocked, width, strong)
    advice = profile.advice
    fits, models = formatter.count(advice.fits), formatter.count(advice.models)
    shares = tr("{fits} of {models} models fit", fits=fits, models=models)
    if advice.runs_well is not None:
        shares = tr(
            "{well} of {models} models run well, {fits} of {models} fit",
            well=formatter.count(advice.runs_well),
            fits=fits,
            models=models,
        )
    texts = [format_message(each, formatter) for each in (advice.rule, *advice.checks)]
    yield from _list_bullets(tr("Before you buy"), [shares, *texts], width, strong)
    yield from _list_bullets(tr("Notes"), tables.notes(), width, strong)


def _align_profile_table(table: DataTable, width: int) -> list[str]:
    """Return a table with its longest texts last, where lines are wrapped.

    In little room they lose their details; in less they move below their row, after those of other texts.
    """
    words = [number for number, column in enumerate(table.columns) if number and not column.is_figure]
    longest = max(words, key=lambda number: table.columns[number].stretch, default=None)
    order = sorted(range(len(table.columns)), key=lambda number: number == longest)
    columns = [table.columns[number] for number in order]
    rows = [[_join(row.cells[number]) for number in order] for row in table.rows]
    heads = [column.head for column in columns]
    right = [place for place, column in enumerate(columns) if column.is_figure]
    others = zip(*(line[:-1] for line in (heads, *rows)), strict=True)
    first, *further = (max(map(measure_text, each)) for each in others)
    room = width - first - sum(further)
    if longest is None or room >= _LEAST_WORDS:
        return align_table(heads, rows, width, right=right)
    if room >= _LEAST_COLUMN:
        for row, line in zip(table.rows, rows, strict=True):
            line[-1] = row.cells[longest].text or row.cells[longest].detail
        return align_table(heads, rows, width, right=right)
    for number in words:
        place = order.index(number)
        for row, line in zip(table.rows, rows, strict=True):
            line[place] = row.cells[number].text
    # Nothing is wrapped, so that each row has one line.
    head, rule, *lines = align_table(heads[:-1], [line[:-1] for line in rows], _ANY_WIDTH, right=right)
    lead = " " * (first + 2 if len(words) > 1 else 4)
    below = (indent_hanging(lead, _join_words(row, words, longest), width) for row in table.rows)
    return [head, rule[:width], *(each for line, texts in zip(lines, below, strict=True) for each in (line, *texts))]


def _join_words(row: DataRow, words: Sequence[int], longest: int) -> str:
    """Return the details of a row's other texts, then its longest texts."""
    details = ", ".join(row.cells[number].detail for number in words if number != longest and row.cells[number].detail)
    reasons = "; ".join(part for part in (row.cells[longest].text, row.cells[longest].detail) if part)
    return ". ".join(part for part in (details, reasons) if part)


def _describe_load(tables: ProfileTables) -> str:
    question, model, formatter = tables.profile.question, tables.profile.model, tables.formatter
    return tr(
        "Load: {concurrency} requests in flight, {input} input and {output} output tokens. Counts and limits are for "
        "{model}.",
        concurrency=formatter.count(question.concurrency),
        input=formatter.count(question.input_tokens),
        output=formatter.count(question.output_tokens),
        model=MISSING_VALUE_TEXT if model is None else tables.name_of(model),
    )


def _list_bullets(title: str, texts: Sequence[str], width: int, strong: Strong) -> Iterator[str]:
    lines = [line for text in texts for line in indent_hanging(_BULLET, text, width)]
    if lines:
        yield ""
        yield strong(title)
        yield from lines


def write_profile_file(tables: ProfileTables, suffix: str, date: str) -> bytes:
    """Return the contents of a file of a suffix other than PDF; raises `InputError` for an unknown suffix.

    `date` is its day in ISO form.
    """
    form = suffix.lower()
    if form == ".csv":
        machine = tables.with_formatter(Formatter(MACHINE_NUMBERS))
        return join_csv(_list_csv_lines(_list_tables(machine))).encode()
    blocks = (*list_profile_blocks(tables), DocumentParagraph(tables.formatter.date(date)))
    if form == ".md":
        return write_blocks_markdown(blocks).encode()
    if form == ".html":
        return write_blocks_html(tables.profile.accelerator.name, blocks).encode()
    raise InputError(describe_unknown_format(suffix, FORMS))


def _list_tables(tables: ProfileTables) -> Iterator[DataTable]:
    yield tables.capabilities()
    yield tables.limits()
    yield tables.recommendations()
    yield tables.diffusion()
    yield tables.scale()
    yield tables.out_of_reach()
    yield tables.upgrades()
    yield tables.peers()
    for group in SPECIFICATION_GROUPS:
        yield tables.make_specification_table(group)


def list_profile_blocks(tables: ProfileTables, level: int = 1) -> Iterator[DocumentBlock]:
    """Yield the profile below a heading of a level; its sections are one level below."""
    yield DocumentHeading(level, tables.profile.accelerator.name)
    yield DocumentParagraph(f"{tables.status()}. {tables.headline()}.", strong=True)
    yield BulletList(tuple(each.sentence for each in tables.list_headline_specifications()))
    yield BulletList(tuple(f"{text}: {rule}" for text, rule in tables.tags()))
    yield DocumentParagraph(tables.architecture().sentence)
    for title, texts in (
        (tr("Strengths"), tables.strengths()),
        (tr("Considerations"), tables.considerations()),
        (tr("Buying advice"), tables.advice()),
    ):
        if texts:
            yield DocumentHeading(level + 1, title)
            yield BulletList(tuple(texts))
    for table in _list_tables(tables):
        yield from _list_table_blocks(table, level + 1)
    yield DocumentHeading(level + 1, tr("Notes"))
    yield BulletList(tuple(tables.notes()))


def _list_table_blocks(table: DataTable, level: int) -> Iterator[DocumentBlock]:
    if not (table.rows or table.note):
        return
    yield DocumentHeading(level, table.title)
    if table.subtitle:
        yield DocumentParagraph(table.subtitle)
    if table.rows:
        heads = tuple(column.head for column in table.columns)
        yield DocumentTable(heads, tuple(tuple(map(_join, row.cells)) for row in table.rows))
    if table.note:
        yield DocumentParagraph(table.note)


def _join(cell: DataCell) -> str:
    return f"{cell.text} ({cell.detail})" if cell.text and cell.detail else cell.text or cell.detail


def _list_csv_lines(tables: Iterable[DataTable]) -> Iterator[list[str]]:
    """Yield a line for each cell: the section, the key of its row, its column, its text and its second line."""
    yield ["section", "row", "column", "value", "detail"]
    for table in tables:
        for row in table.rows:
            for column, cell in zip(table.columns, row.cells, strict=True):
                yield [table.id, row.key, *map(quote_formula, (column.head, cell.text, cell.detail))]


def write_profile_json(profile: AcceleratorProfile) -> dict[str, Any]:
    """Return a profile as JSON values: figures as {value, low, high}, messages as sentences."""
    question = profile.question
    return {
        "question": {
            **encode_fields(
                question, "accelerator input_tokens output_tokens concurrency serving_engine mode budget_usd"
            ),
            "model": profile.model,
            "weights": encode_value(profile.weights),
            "single_accelerators": question.costs.single_accelerators,
            "tiers": None if question.tiers is None else dict(question.tiers),
        },
        "headline": format_message(profile.headline),
        "accelerator": encode_fields(profile.accelerator, "id name vendor announced status form_factor platform")
        | {"category": profile.category, "released": _find_text(profile, "release_date")},
        "tags": encode_each(profile.tags, "id text rule"),
        "specifications": [_write_specification(each) for each in profile.attributes.values() if each.preferred],
        "strengths": [_write_trait(each) for each in profile.traits if each.is_strength],
        "considerations": [_write_trait(each) for each in profile.traits if not each.is_strength],
        "capabilities": [_write_capability(each) for each in profile.capabilities],
        "diffusion": [_write_capability(each) for each in profile.diffusion],
        "limits": encode_each(profile.limits, "resource headroom used remedy reason"),
        "scale": encode_each(
            profile.scale, "count memory_bytes models_held models figure per_accelerator bandwidth_rule reason"
        ),
        "out_of_reach": [
            encode_fields(each, "model weights missing_bytes count smaller_format figure usd_per_million_output reason")
            | {"request": _write_request(each.request)}
            for each in profile.out_of_reach
        ],
        "upgrades": encode_each(
            profile.upgrades,
            "accelerator count unlocked speedup extra_usd usd_per_unlocked announced within_budget reason",
        ),
        "recommendations": [
            encode_fields(each, "job model weights score factors context_tokens single figure serving_engine basis why")
            | {"request": _write_request(each.request)}
            for each in profile.recommendations
        ],
        "peers": encode_each(profile.peers, "attribute value mean members rivals"),
        "category_members": list(profile.category_members),
        "generation_members": list(profile.generation_members),
        "rivals_by_price": list(profile.rivals_by_price),
        "rivals_by_memory": list(profile.rivals_by_memory),
        "advice": encode_fields(profile.advice, "verdict runs_well fits models rule checks"),
        "notes": [format_message(each) for each in profile.notes],
    }


def _find_text(profile: AcceleratorProfile, attribute: str) -> str | None:
    claims = profile.attributes.get(attribute)
    return None if claims is None or claims.value is None else str(claims.value)


def _write_specification(claims: AttributeClaims) -> dict[str, Any]:
    claim = claims.preferred
    source = None if claim is None else claim.source
    return {
        "attribute": claims.name,
        "value": encode_value(claims.value),
        "unit": claims.unit,
        "disputed": claims.disputed,
        "source": None if source is None else encode_fields(source, "id title publisher url date"),
        "retrieved": None if claim is None else claim.retrieved,
    }


def _write_capability(capability: Capability) -> dict[str, Any]:
    """Return a row; for images and videos with their settings, for text with its request."""
    row = encode_fields(
        capability, "task status model weights count context_tokens figure single unit basis queues reason"
    )
    if capability.unit == "tok/s":
        return row | {"request": _write_request(capability.request)}
    estimate = capability.diffusion
    if estimate is None:
        return row | {"settings": None, "grade": None}
    settings = encode_fields(estimate.request, "width height frames steps batch software")
    return row | {"settings": settings, "grade": encode_value(estimate.grade)}


def _write_trait(trait: Trait) -> dict[str, Any]:
    return encode_fields(trait, "id text attribute standing")


def _write_request(request: EstimateRequest | None) -> dict[str, Any] | None:
    """Return the options of `gpudesk estimate` for the scenario of a row."""
    if request is None:
        return None
    work = request.workload
    return encode_fields(request, "accelerator model weights kv count serving_engine") | {
        "input_tokens": work.input_tokens,
        "output_tokens": work.output_tokens,
        "concurrency": work.load.concurrency,
    }
