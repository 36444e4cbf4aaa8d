"""A table as Markdown that reads well as plain text too; figures name their sources by number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gpudesk.domain.claims import Source
from gpudesk.domain.formatting import UNKNOWN
from gpudesk.sheets.labels import kind_label
from gpudesk.sheets.plain_text import markdown_text
from gpudesk.sheets.table_export import CellKind, CellValue, Column, ExportTable, Row, known
from gpudesk.text import tr

_NUMBERS = frozenset({CellKind.NUMBER, CellKind.MIXED})


def table_markdown(table: ExportTable) -> bytes:
    """Return the file's contents. Columns about a figure become the number of its source beside it."""
    numbers = {source.id: number for number, source in enumerate(table.sources, start=1)}
    shown = [place for place, column in enumerate(table.head) if column.about is None]
    whose = _source_places(table.head)
    heads = [table.head[place] for place in shown]
    lines = [
        _line(markdown_text(column.head) for column in heads),
        _line("---:" if column.kind in _NUMBERS else "---" for column in heads),
        *(_line(_cell(row, place, whose.get(place), numbers) for place in shown) for row in table.rows),
    ]
    blocks = [f"# {markdown_text(table.title)}", *map(markdown_text, table.notes), "\n".join(lines)]
    if table.sources:
        blocks += [f"## {markdown_text(tr('Sources'))}", "\n".join(_sources(table.sources))]
    return ("\n\n".join(blocks) + "\n").encode()


def _source_places(head: Sequence[Column]) -> dict[int, int]:
    """Return for the place of each figure that of the first column about it, which names its source."""
    places = {column.key: place for place, column in enumerate(head)}
    found: dict[int, int] = {}
    for place, column in enumerate(head):
        if column.about is not None:
            found.setdefault(places[column.about], place)
    return found


def _cell(row: Row, place: int, whose: int | None, numbers: dict[str, int]) -> str:
    text = _written(row[place])
    number = None if whose is None else numbers.get(str(row[whose]))
    return text if number is None else f"{text} \\[{number}\\]"


def _written(value: CellValue) -> str:
    if isinstance(value, str):
        return markdown_text(value)
    if isinstance(value, bool):
        return tr("yes") if value else tr("no")
    if known(value) is None:
        return UNKNOWN
    return repr(value)


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _sources(sources: Sequence[Source]) -> Iterable[str]:
    for number, source in enumerate(sources, start=1):
        words = (source.title, source.publisher, kind_label(source.kind), source.date, source.url)
        yield f"{number}. {', '.join(markdown_text(word) for word in words if word)}"
