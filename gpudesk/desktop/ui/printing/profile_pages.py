"""The profile of an accelerator on two pages: description and capabilities, then next steps and data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import add
from typing import Final

from gpudesk.desktop.ui.charts.pictures import paint_architecture
from gpudesk.desktop.ui.printing.paper import (
    MM,
    SIDE,
    TOP,
    Paper,
    PaperSize,
    PlacedPiece,
    SheetPages,
    SheetPainter,
    SheetPiece,
    TextLine,
    TextRun,
    draw_lines,
    find_first_baseline,
    limit_lines,
    make_brand,
    make_foot,
    make_paragraph,
    make_rule,
    make_space,
    measure_line_height,
    measure_width,
    put_side_by_side,
    stack_pieces,
    wrap_runs,
    wrap_text,
)
from gpudesk.desktop.ui.printing.table import SectionLayout, TextEntry, TextSection
from gpudesk.desktop.ui.theme.tokens import load_fonts
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.report.architecture import ArchitectureSketch
from gpudesk.report.data_table import DataCell, DataColumn, DataRow, DataTable, explain_cell_marks
from gpudesk.report.labels import label_attribute_alone
from gpudesk.report.profile_sections import SPECIFICATION_GROUPS, ProfileTables
from gpudesk.report.profile_tables import HeadlineSpecification
from gpudesk.text.translation import tr, trn

#: Points: the padding of a row, the title line, the space between blocks and between columns.
_ROW_WHITE, _TITLE = 1.5, 15.0
_GAP: Final = 11.0
_BETWEEN: Final = 20.0
_PAD: Final = 5.0
_MARK: Final = 11.0
_LEAST_BAR: Final = 60.0
#: The widest head on one line above narrower figures.
_LONGEST_HEAD: Final = 72.0
#: Maximum lines of a table text, if there is space.
_MOST_LINES: Final = 5
#: Settings of a page, in order of preference: maximum lines of a table text, and the reduction of rows below
#: `_MOST_ROWS` in each long table.
_SETTINGS: Final = (*((_MOST_LINES, fewer) for fewer in range(-4, 4)), (2, 3), (1, 3))
_DRAWING: Final = 38 * MM
_LEFT: Final = 0.56
#: Width shares of the strengths, the usual one first.
_SHARES: Final = (_LEFT, 0.5, 0.44, 0.36)
#: Height of the foot, and the minimum space above it.
_FOOT, _WHITE = 14.0, 4.0
#: Rows of long tables.
_MOST_ROWS: Final = {"out_of_reach": 6, "upgrades": 7, "peers": 10}
_MOST_TEXTS: Final = 6
#: Tables whose figures have no details: details of texts follow on the same line.
_FLAT_TABLES: Final = frozenset({"upgrades"})


def lay_out_profile(tables: ProfileTables, size: PaperSize, date: str, data_date: str) -> SheetPages:
    """Return the two pages of a profile; needs a running application, for its fonts.

    Both dates are in ISO form: its own day, and that of the catalog.
    """
    load_fonts()
    paper = Paper(size)
    bottom = paper.bottom - _FOOT
    pages = make_profile_pages(tables, paper, tables.formatter.date(date), bottom)
    catalog = tr("Catalog {date}", date=tables.formatter.date(data_date))
    foot = wrap_text(catalog, "small", paper.inner_width, "text3")
    feet = [make_foot(foot, number, len(pages), paper.inner_width) for number in range(1, len(pages) + 1)]
    return SheetPages(
        paper, tuple((*page, PlacedPiece(SIDE, bottom, foot)) for page, foot in zip(pages, feet, strict=True))
    )


def make_profile_pages(tables: ProfileTables, paper: Paper, date: str, bottom: float) -> list[tuple[PlacedPiece, ...]]:
    """Return the two pages without feet, which start at `bottom`; `date` is written unchanged."""
    room, end = paper.inner_width, bottom - _WHITE
    first = _fit_page(lambda lines, fewer: _make_first_page(tables, room, date, end, lines, fewer))
    second = _fit_page(lambda lines, fewer: _make_second_page(tables, room, end, lines, fewer))
    return [tuple(_place(pieces)) for pieces in (first, second)]


def _fit_page(make: Callable[[int, int], tuple[list[SheetPiece], bool]]) -> list[SheetPiece]:
    """Return the page in the first of `_SETTINGS` that holds everything, else in the last.

    `make` returns the pieces of a page in a setting, and whether nothing is left out.
    """
    pieces: list[SheetPiece] = []
    for lines, fewer in _SETTINGS:
        pieces, is_whole = make(lines, fewer)
        if is_whole:
            break
    return pieces


def _place(pieces: Sequence[SheetPiece]) -> list[PlacedPiece]:
    y, placed_pieces = TOP, []
    for piece in pieces:
        placed_pieces.append(PlacedPiece(SIDE, y, piece))
        y += piece.height
    return placed_pieces


def _get_room(end: float, pieces: Sequence[SheetPiece]) -> float:
    return end - TOP - sum(piece.height for piece in pieces)


def _make_first_page(
    tables: ProfileTables, room: float, date: str, end: float, lines: int, fewer: int
) -> tuple[list[SheetPiece], bool]:
    left, right = (room - _BETWEEN) * _LEFT, (room - _BETWEEN) * (1 - _LEFT)
    beside = [0.0, left + _BETWEEN]
    drawing = _make_drawing(tables.architecture(), right)
    capabilities, recommendations = tables.capabilities(), tables.recommendations(best_only=True)
    limits = _make_table(tables.limits(), right, max(lines, 2))
    legend = _make_legend(explain_cell_marks((*capabilities.rows, *recommendations.rows)))
    aside = stack_pieces([drawing, make_space(_GAP), limits, make_space(_PAD), legend])
    status = tables.status()
    tags = (text for text, _ in tables.tags() if text.casefold() not in status.casefold())
    pieces = [
        make_brand(tr("Accelerator profile"), date, room),
        make_paragraph(limit_lines(wrap_text(tables.profile.accelerator.name, "title", room), 2, room), "title"),
        make_paragraph(limit_lines(wrap_text("  ·  ".join((status, *tags)), "body", room, "text2"), 2, room), "body"),
        make_paragraph(limit_lines(wrap_text(tables.headline(), "lead", room), 2, room), "lead"),
        make_space(5),
        make_rule(room, "text1", 0.8),
        _make_specifications(tables.list_headline_specifications(), room),
        make_rule(room, "hair", 0.5),
        make_space(_GAP),
        put_side_by_side([_make_table_beside(capabilities, left, lines, aside.height), aside], beside),
        make_space(_GAP),
        _make_table(recommendations, room, lines),
        make_space(_GAP),
        _make_texts_side_by_side(
            (tr("Strengths"), tables.strengths()[: _MOST_TEXTS - fewer]),
            (tr("Considerations"), tables.considerations()[: _MOST_TEXTS - fewer]),
            room,
        ),
        make_space(_GAP),
    ]
    style = "fine" if fewer > 0 else "small"
    advice = SectionLayout(_make_text_section(tr("Buying advice"), tables.advice()), room, 2, style=style)
    piece = advice.take(_get_room(end, pieces))
    return pieces if piece is None else [*pieces, piece], not advice


def _make_second_page(
    tables: ProfileTables, room: float, end: float, lines: int, fewer: int
) -> tuple[list[SheetPiece], bool]:
    name = tables.profile.accelerator.name
    left, right = (room - _BETWEEN) * (1 - _LEFT), (room - _BETWEEN) * _LEFT
    pieces = [
        make_paragraph(limit_lines(wrap_text(name, "group", room), 1, room), "group"),
        make_rule(room, "hair", 0.5),
        make_space(_GAP),
        put_side_by_side(
            [_make_table(tables.scale(), left, lines), _make_table(tables.out_of_reach(), right, lines, fewer)],
            [0.0, left + _BETWEEN],
        ),
        make_space(_GAP),
        _make_table(tables.upgrades(), room, lines, fewer),
        make_space(_GAP),
        _make_table(tables.peers(), room, lines),
    ]
    is_whole = True
    for section in (_make_data_section(tables), _make_text_section(tr("Notes"), tables.notes())):
        if section.entries:
            layout = SectionLayout(section, room, 3, style="fine")
            piece = layout.take(_get_room(end, pieces) - _GAP)
            is_whole = is_whole and not layout
            if piece is not None:
                pieces += [make_space(_GAP), piece]
    return pieces, is_whole


def _make_specifications(specifications: Sequence[HeadlineSpecification], room: float) -> SheetPiece:
    needed = [
        max(
            measure_width(each.text, "verdict") + 4 + measure_width(each.unit, "small"),
            measure_width(each.label, "small"),
        )
        for each in specifications
    ]
    gap = (room - sum(needed)) / (len(needed) - 1)

    def draw(ink: SheetPainter, x: float, y: float) -> None:
        for number, each in enumerate(specifications):
            left = x + sum(needed[:number]) + number * gap
            ink.text(left, y + 10, each.label, style="small", color="text3")
            ink.text(left, y + 25, each.text, style="verdict", color="text1")
            end = left + measure_width(each.text, "verdict") + 4
            ink.text(end, y + 25, each.unit, style="small", color="text2")
            if each.is_disputed:
                ink.glyph("disputed", left + measure_width(each.label, "small") + 8, y + 7.5)

    return SheetPiece(31, draw)


def _make_drawing(sketch: ArchitectureSketch, room: float) -> SheetPiece:
    return SheetPiece(
        _DRAWING,
        lambda ink, x, y: ink.paint(x, y, room, _DRAWING, lambda pen, area: paint_architecture(pen, area, sketch)),
    )


def _make_texts_side_by_side(
    first: tuple[str, Sequence[str]], second: tuple[str, Sequence[str]], room: float
) -> SheetPiece:
    """Return two lists with the width divided for the minimum height."""
    pieces = []
    for share in _SHARES:
        left = (room - _BETWEEN) * share
        texts = [_make_texts(*first, left), _make_texts(*second, room - _BETWEEN - left)]
        pieces.append(put_side_by_side(texts, [0.0, left + _BETWEEN]))
    return min(pieces, key=lambda piece: piece.height)


def _make_texts(title: str, texts: Sequence[str], room: float) -> SheetPiece:
    lines = [make_paragraph(wrap_text(text, "small", room), "small") for text in texts]
    return stack_pieces([_make_heading(title, "", room), *lines])


def _make_text_section(title: str, texts: Sequence[str]) -> TextSection:
    return TextSection(title, tuple(TextEntry((TextRun(text),)) for text in texts if text))


def _make_data_section(tables: ProfileTables) -> TextSection:
    """Return every known value, group by group, with the number of its source, then the sources."""
    entries = []
    sources: dict[str, int] = {}
    for group in SPECIFICATION_GROUPS:
        for row in tables.make_specification_table(group).rows:
            label, value, source = (cell.text for cell in row.cells)
            if group in ("dense", "sparse"):
                # The title of the group, which tells them apart, is not printed.
                label = label_attribute_alone(row.attribute)
            runs = [TextRun(f"{label}: ", "small_strong"), TextRun(value)]
            if source:
                runs.append(TextRun(f" [{sources.setdefault(source, len(sources) + 1)}]", color="text3"))
            entries.append(TextEntry(tuple(runs)))
    entries += [TextEntry((TextRun(f"[{number}] {source}", color="text3"),)) for source, number in sources.items()]
    return TextSection(tr("Specifications and sources"), tuple(entries))


# Tables


def _make_heading(title: str, subtitle: str, room: float) -> SheetPiece:
    """Return a title with the subtitle next to it, or below it if that needs more than a line."""
    beside = measure_width(title, "group") + 8
    lines = wrap_text(subtitle, "small", room - beside, "text2")
    below = len(lines) > 1
    if below:
        lines = limit_lines(wrap_text(subtitle, "small", room, "text2"), _MOST_LINES, room)
    paragraph = make_paragraph(lines, "small")

    def draw(ink: SheetPainter, x: float, y: float) -> None:
        ink.text(x, y + 8.5, title, style="group", color="text1")
        if below:
            paragraph.draw(ink, x, y + _TITLE - 2)
        else:
            paragraph.draw(ink, x + beside, y + 8.5 - find_first_baseline("small", measure_line_height("small")))

    return SheetPiece(_TITLE - 2 + (paragraph.height + 2 if below else 0.0), draw)


def _make_table(table: DataTable, room: float, lines: int, fewer: int = 0) -> SheetPiece:
    """Return a table with its title, heads and note; for a long one the first rows, and the number of others.

    A cell text has at most the given number of lines.
    """
    most = _MOST_ROWS[table.id] - fewer if table.id in _MOST_ROWS else len(table.rows)
    rows, left_out = table.rows[:most], len(table.rows) - most
    is_flat = table.id in _FLAT_TABLES
    widths = _share_widths(table.columns, rows, room, is_flat=is_flat)
    pieces = [_make_heading(table.title, table.subtitle, room)]
    if rows:
        pieces.append(_make_heads(table.columns, widths, room))
        pieces += [_make_row(table.columns, row, widths, room, lines, is_flat=is_flat) for row in rows]
    notes = [table.note] if table.note else []
    if left_out > 0:
        notes.append(trn("{n} more in GPU Desk", "{n} more in GPU Desk", left_out))
    pieces += [make_paragraph(wrap_text(note, "small", room, "text2"), "small") for note in notes]
    return stack_pieces(pieces)


def _make_legend(marks: Sequence[tuple[str, str]]) -> SheetPiece:
    """Return the meaning of each mark, on one line."""
    height = measure_line_height("small")

    def draw(ink: SheetPainter, x: float, y: float) -> None:
        for mark, text in marks:
            ink.glyph(mark, x + 4, y + height / 2)
            ink.text(x + _MARK, y + find_first_baseline("small", height), text, style="small", color="text2")
            x += _MARK + measure_width(text, "small") + 2 * _PAD

    return SheetPiece(height, draw)


def _make_table_beside(table: DataTable, room: float, lines: int, height: float) -> SheetPiece:
    """Return a table with more lines in its cells if it is not higher than its neighbor."""
    pieces = (_make_table(table, room, most) for most in range(_MOST_LINES, lines, -1))
    return next((piece for piece in pieces if piece.height <= height), None) or _make_table(table, room, lines)


def _share_widths(columns: Sequence[DataColumn], rows: Sequence[DataRow], room: float, *, is_flat: bool) -> list[float]:
    """Give figures their width and texts theirs of the rest; remaining width is shared by column stretch.

    If texts do not fit, heads take two lines, as does one much longer than its figures, and long texts get more than
    short ones, none less than its longest word.
    """
    cells = [[row.cells[number] for row in rows] for number in range(len(columns))]
    needs = [_measure_cells(column, each, is_flat=is_flat) for column, each in zip(columns, cells, strict=True)]
    heads = [measure_width(column.head, "small") + 1.5 * _PAD for column in columns]
    halves = [_measure_head(column.head) + 1.5 * _PAD for column in columns]
    is_tight = sum(map(max, needs, heads)) > room
    heads = [half if is_tight or head > _LONGEST_HEAD else head for head, half in zip(heads, halves, strict=True)]
    needs = list(map(max, needs, heads))
    free = room - sum(needs)
    if free >= 0:
        parts = sum(column.stretch for column in columns) or 1
        return [need + free * column.stretch / parts for need, column in zip(needs, columns, strict=True)]
    words = [number for number, column in enumerate(columns) if not column.is_figure]
    left = room - sum(need for need, column in zip(needs, columns, strict=True) if column.is_figure)
    for place, number in enumerate(sorted(words, key=lambda each: needs[each])):
        needs[number] = min(
            needs[number], max(left / (len(words) - place), _measure_longest_word(columns[number], cells[number]))
        )
        left -= needs[number]
    return needs


def _measure_cells(column: DataColumn, cells: Sequence[DataCell], *, is_flat: bool) -> float:
    texts = [measure_width(cell.text, _choose_cell_style(cell)) + (_MARK if cell.mark else 0) for cell in cells]
    details = [measure_width(cell.detail, "small") + (_PAD if is_flat else 0) for cell in cells]
    texts = list(map(add if is_flat else max, texts, details))
    return max([*texts, _LEAST_BAR if column.is_bar else 0.0], default=0.0) + 1.5 * _PAD


def _measure_longest_word(column: DataColumn, cells: Sequence[DataCell]) -> float:
    words = [(word, _choose_cell_style(cell)) for cell in cells for word in cell.text.split(" ")]
    words += [(word, "small") for text in (column.head, *(cell.detail for cell in cells)) for word in text.split(" ")]
    return max(measure_width(word, style) for word, style in words) + _PAD


def _measure_head(head: str) -> float:
    words = head.split(" ")
    splits = ((" ".join(words[:place]), " ".join(words[place:])) for place in range(1, len(words) + 1))
    return min(max(measure_width(line, "small") for line in lines) for lines in splits)


def _choose_cell_style(cell: DataCell) -> str:
    return "best" if cell.is_strong else "body"


def _make_heads(columns: Sequence[DataColumn], widths: Sequence[float], room: float) -> SheetPiece:
    heads = [
        limit_lines(wrap_text(column.head, "small", width - _PAD + 0.5, "text3"), _MOST_LINES, width)
        for column, width in zip(columns, widths, strict=True)
    ]
    step = measure_line_height("small")
    height = 2.6 + step * max(map(len, heads), default=1)

    def draw(ink: SheetPainter, x: float, y: float) -> None:
        left = x
        for column, lines, width in zip(columns, heads, widths, strict=True):
            top = y + height - 2.6 - step * len(lines)
            at = left + width - _PAD if column.is_figure else left
            draw_lines(ink, lines, at, top, "small", is_right=column.is_figure)
            left += width
        make_rule(room, "text1", 0.6).draw(ink, x, y + height - 0.6)

    return SheetPiece(height, draw)


@frozen_dataclass
class _CellLines:
    """The lines of a cell: its text, then its detail."""

    text: tuple[TextLine, ...]
    detail: tuple[TextLine, ...]

    @property
    def height(self) -> float:
        return len(self.text) * measure_line_height("body") + len(self.detail) * measure_line_height("small")


def _break_cell(column: DataColumn, cell: DataCell, width: float, most: int, *, is_flat: bool) -> _CellLines:
    if column.is_bar and cell.share is not None:
        return _CellLines((), ())
    color, space = "text2" if cell.is_quiet else "text1", width - _PAD + 0.5
    beside = space - (_MARK if cell.mark else 0.0)
    if is_flat and cell.detail:
        runs = (TextRun(cell.text, _choose_cell_style(cell), color), TextRun(f" {cell.detail}", "small", "text3"))
        return _CellLines(limit_lines(wrap_runs(runs, beside), max(most, 2), beside), ())
    text = limit_lines(wrap_text(cell.text, _choose_cell_style(cell), beside, color), most, beside)
    detail = wrap_text(cell.detail, "small", space, "text3") if cell.detail else ()
    return _CellLines(text, limit_lines(detail, most, space))


def _make_row(
    columns: Sequence[DataColumn], row: DataRow, widths: Sequence[float], room: float, most: int, *, is_flat: bool
) -> SheetPiece:
    cells = [
        _break_cell(column, cell, width, most, is_flat=is_flat)
        for column, cell, width in zip(columns, row.cells, widths, strict=True)
    ]
    height = max(each.height for each in cells) + _ROW_WHITE

    def draw(ink: SheetPainter, x: float, y: float) -> None:
        left = x
        for column, cell, lines, width in zip(columns, row.cells, cells, widths, strict=True):
            if column.is_bar and cell.share is not None:
                _draw_bar(ink, cell.share, left, y + height / 2, width - 2 * _PAD, is_strong=cell.is_strong)
            else:
                _draw_cell(ink, column, cell, lines, left, y + (height - lines.height) / 2, width)
            left += width
        make_rule(room, "grid", 0.4).draw(ink, x, y + height - 0.4)

    return SheetPiece(height, draw)


def _draw_bar(ink: SheetPainter, share: float, x: float, middle: float, track: float, *, is_strong: bool) -> None:
    ink.tint(x, middle - 2.5, track, 5, "sunken", radius=1)
    ink.tint(x, middle - 2.5, track * min(max(share, 0.0), 1.0), 5, "ink1" if is_strong else "ink2", radius=1)


def _draw_cell(
    ink: SheetPainter, column: DataColumn, cell: DataCell, lines: _CellLines, x: float, top: float, width: float
) -> None:
    body, mark = measure_line_height("body"), _MARK if cell.mark else 0.0
    right = x + width - _PAD
    draw_lines(ink, lines.text, right - mark if column.is_figure else x, top, "body", is_right=column.is_figure)
    below = top + len(lines.text) * body
    draw_lines(ink, lines.detail, right if column.is_figure else x, below, "small", is_right=column.is_figure)
    if cell.mark:
        at = right - 4 if column.is_figure else x + measure_width(cell.text, _choose_cell_style(cell)) + 8
        ink.glyph(cell.mark, at, top + body / 2)
