"""The profile of an accelerator as a file: Markdown, one HTML file, or CSV."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from gpudesk.files import describe_unknown_format
from gpudesk.report.profile_sections import SPECIFICATION_GROUPS, ProfileTables
from gpudesk.report.profile_tables import ProfileCell, ProfileTable
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
from gpudesk.text.formatting import MACHINE_NUMBERS, Formatter
from gpudesk.text.messages import InputError
from gpudesk.text.translation import tr

#: Suffixes of the files that can be written; PDF is made by the window's printing.
PDF_FORM: Final = ".pdf"
FORMS: Final = (PDF_FORM, ".html", ".md", ".csv")


def write_profile_file(tables: ProfileTables, suffix: str, date: str) -> bytes:
    """Return the contents of a file of a suffix other than PDF; raises `InputError` for one that is no form of it.

    `date` is the day on which it is made, in ISO form.
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
    raise InputError(describe_unknown_format(suffix or tr("without a suffix"), FORMS))


def _list_tables(tables: ProfileTables) -> Iterator[ProfileTable]:
    yield tables.capabilities()
    yield tables.limits()
    yield tables.recommendations()
    yield tables.diffusion()
    yield tables.scale()
    yield tables.out_of_reach()
    yield tables.upgrades()
    yield tables.peers()
    for group in SPECIFICATION_GROUPS:
        yield tables.specification_group(group)


def list_profile_blocks(tables: ProfileTables, level: int = 1) -> Iterator[DocumentBlock]:
    """Yield the profile under a heading of a level; its sections are one level below."""
    yield DocumentHeading(level, tables.profile.accelerator.name)
    yield DocumentParagraph(f"{tables.status()}. {tables.headline()}.", strong=True)
    yield BulletList(tuple(each.sentence for each in tables.headline_specifications()))
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


def _list_table_blocks(table: ProfileTable, level: int) -> Iterator[DocumentBlock]:
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


def _join(cell: ProfileCell) -> str:
    return f"{cell.text} ({cell.detail})" if cell.text and cell.detail else cell.text or cell.detail


def _list_csv_lines(tables: Iterable[ProfileTable]) -> Iterator[list[str]]:
    """Yield a line for each cell: the section, the key of its row, its column, its text and its second line."""
    yield ["section", "row", "column", "value", "detail"]
    for table in tables:
        for row in table.rows:
            for column, cell in zip(table.columns, row.cells, strict=True):
                yield [table.id, row.key, *map(quote_formula, (column.head, cell.text, cell.detail))]
