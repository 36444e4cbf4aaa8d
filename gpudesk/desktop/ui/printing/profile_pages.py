"""The profile of an accelerator on two pages: what it is and can do, then what to do next and its data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gpudesk.desktop.ui.charts.architecture_drawing import paint_architecture
from gpudesk.desktop.ui.printing.paper import (
    MM,
    SIDE,
    TOP,
    Paper,
    PaperSize,
    TextRun,
    limit_lines,
    measure_line_height,
    measure_width,
    wrap_text,
)
from gpudesk.desktop.ui.printing.pieces import (
    PlacedPiece,
    SheetPages,
    SheetPainter,
    SheetPiece,
    find_first_baseline,
    make_paragraph,
    make_rule,
    make_space,
    put_side_by_side,
    stack_pieces,
)
from gpudesk.desktop.ui.printing.running_text import SectionLayout, TextEntry, TextSection
from gpudesk.desktop.ui.theme.tokens import load_fonts
from gpudesk.report.architecture import ArchitectureSketch
from gpudesk.report.profile_sections import SPECIFICATION_GROUPS, ProfileTables
from gpudesk.report.profile_tables import HeadlineSpecification, ProfileCell, ProfileColumn, ProfileRow, ProfileTable
from gpudesk.text.translation import tr, trn

#: Points: rows of one line and of two, the line of titles, the white between blocks and between columns.
_ROW, _TALL_ROW, _TITLE = 11.5, 21.5, 15.0
_GAP: Final = 11.0
_BETWEEN: Final = 20.0
_PAD: Final = 5.0
_MARK: Final = 11.0
_DRAWING: Final = 38 * MM
_LEFT: Final = 0.56
#: Height of the foot, and the least white above it.
_FOOT, _WHITE = 14.0, 4.0
#: Rows of long tables.
_MOST_ROWS: Final = {"out_of_reach": 6, "upgrades": 7, "peers": 10}
_MOST_TEXTS: Final = 6


def lay_out_profile(tables: ProfileTables, size: PaperSize, date: str, data_date: str) -> SheetPages:
    """Return the two pages of a profile; needs a running application, for its fonts.

    Both dates are in ISO form: the day on which it is made, and that of the catalog.
    """
    load_fonts()
    paper = Paper(size)
    bottom = paper.bottom - _FOOT
    pages = make_profile_pages(tables, paper, tables.formatter.date(date), bottom)
    foot = tr("Catalog {date}", date=tables.formatter.date(data_date))
    feet = [_make_foot(foot, number, len(pages), paper.inner_width) for number in range(1, len(pages) + 1)]
    return SheetPages(
        paper, tuple((*page, PlacedPiece(SIDE, bottom, foot)) for page, foot in zip(pages, feet, strict=True))
    )


def make_profile_pages(tables: ProfileTables, paper: Paper, date: str, bottom: float) -> list[tuple[PlacedPiece, ...]]:
    """Return the two pages without feet, which begin at `bottom`; `date` is written as it is."""
    end = bottom - _WHITE
    pages = (_make_first_page(tables, paper.inner_width, date, end), _make_second_page(tables, paper.inner_width, end))
    return [tuple(_place(pieces)) for pieces in pages]


def _place(pieces: Sequence[SheetPiece]) -> list[PlacedPiece]:
    y, placed = TOP, []
    for piece in pieces:
        placed.append(PlacedPiece(SIDE, y, piece))
        y += piece.height
    return placed


def _get_room(end: float, pieces: Sequence[SheetPiece]) -> float:
    return end - TOP - sum(piece.height for piece in pieces)


def _make_first_page(tables: ProfileTables, room: float, date: str, end: float) -> list[SheetPiece]:
    left, right = (room - _BETWEEN) * _LEFT, (room - _BETWEEN) * (1 - _LEFT)
    beside = [0.0, left + _BETWEEN]
    drawing = _make_drawing(tables.architecture(), right)
    pieces = [
        _make_brand(date, room),
        make_paragraph(limit_lines(wrap_text(tables.profile.accelerator.name, "title", room), 1, room), "title"),
        make_paragraph(limit_lines(wrap_text(_describe(tables), "body", room, "text2"), 2, room), "body"),
        make_paragraph(limit_lines(wrap_text(tables.headline(), "lead", room), 2, room), "lead"),
        make_space(5),
        make_rule(room, "text1", 0.8),
        _make_specifications(tables.headline_specifications(), room),
        make_rule(room, "hair", 0.5),
        make_space(_GAP),
        put_side_by_side(
            [
                make_table_piece(tables.capabilities(), left),
                stack_pieces([drawing, make_space(_GAP), make_table_piece(tables.limits(), right)]),
            ],
            beside,
        ),
        make_space(_GAP),
        make_table_piece(tables.recommendations(best_only=True), room),
        make_space(_GAP),
        put_side_by_side(
            [
                _make_texts(tr("Strengths"), tables.strengths(), left),
                _make_texts(tr("Considerations"), tables.considerations(), right),
            ],
            beside,
        ),
        make_space(_GAP),
    ]
    advice = SectionLayout(_make_text_section(tr("Buying advice"), tables.advice()), room, 2)
    piece = advice.take(_get_room(end, pieces))
    return pieces if piece is None else [*pieces, piece]


def _make_second_page(tables: ProfileTables, room: float, end: float) -> list[SheetPiece]:
    name = tables.profile.accelerator.name
    half = (room - _BETWEEN) / 2
    pieces = [
        make_paragraph(limit_lines(wrap_text(name, "group", room), 1, room), "group"),
        make_rule(room, "hair", 0.5),
        make_space(_GAP),
        put_side_by_side(
            [make_table_piece(tables.scale(), half), make_table_piece(tables.out_of_reach(), half)],
            [0.0, half + _BETWEEN],
        ),
        make_space(_GAP),
        make_table_piece(tables.upgrades(), room),
        make_space(_GAP),
        make_table_piece(tables.peers(), room),
    ]
    for section in (_make_data_section(tables), _make_text_section(tr("Notes"), tables.notes())):
        if section.entries:
            piece = SectionLayout(section, room, 3, style="fine").take(_get_room(end, pieces) - _GAP)
            if piece is not None:
                pieces += [make_space(_GAP), piece]
    return pieces


def _describe(tables: ProfileTables) -> str:
    return "  ·  ".join((tables.status(), *(text for text, _ in tables.tags())))


def _make_brand(date: str, room: float) -> SheetPiece:
    def draw(ink: SheetPainter, x: float, y: float) -> None:
        ink.text(x, y + 7, "GPU Desk", style="group", colour="text1")
        start = x + measure_width("GPU Desk", "group") + 4
        ink.text(start, y + 7, tr("Accelerator profile"), style="body", colour="text2")
        ink.text(x + room, y + 7, date, style="body", colour="text2", align="right")

    return SheetPiece(16, draw)


def _make_foot(text: str, number: int, count: int, room: float) -> SheetPiece:
    place = tr("Page {number} of {count}", number=number, count=count)

    def draw(ink: SheetPainter, x: float, y: float) -> None:
        make_rule(room, "hair", 0.5).draw(ink, x, y + 2)
        ink.text(x, y + 11, text, style="small", colour="text3")
        ink.text(x + room, y + 11, place, style="small", colour="text3", align="right")

    return SheetPiece(_FOOT, draw)


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
            ink.text(left, y + 10, each.label, style="small", colour="text3")
            ink.text(left, y + 25, each.text, style="verdict", colour="text1")
            end = left + measure_width(each.text, "verdict") + 4
            ink.text(end, y + 25, each.unit, style="small", colour="text2")
            if each.is_disputed:
                ink.glyph("disputed", left + measure_width(each.label, "small") + 8, y + 7.5)

    return SheetPiece(31, draw)


def _make_drawing(sketch: ArchitectureSketch, room: float) -> SheetPiece:
    return SheetPiece(
        _DRAWING,
        lambda ink, x, y: ink.paint(x, y, room, _DRAWING, lambda pen, area: paint_architecture(pen, area, sketch)),
    )


def _make_texts(title: str, texts: Sequence[str], room: float) -> SheetPiece:
    lines = [make_paragraph(wrap_text(text, "small", room), "small") for text in texts[:_MOST_TEXTS]]
    return stack_pieces([_make_heading(title, "", room), *lines])


def _make_text_section(title: str, texts: Sequence[str]) -> TextSection:
    return TextSection(title, tuple(TextEntry((TextRun(text),)) for text in texts if text))


def _make_data_section(tables: ProfileTables) -> TextSection:
    """Return every known value with its source, group by group."""
    entries = []
    for group in SPECIFICATION_GROUPS:
        for row in tables.specification_group(group).rows:
            label, value, source = (cell.text for cell in row.cells)
            runs = (TextRun(f"{label}: ", "small_strong"), TextRun(f"{value}. "), TextRun(source, colour="text3"))
            entries.append(TextEntry(runs))
    return TextSection(tr("Specifications and sources"), tuple(entries))


# Tables


def _make_heading(title: str, subtitle: str, room: float) -> SheetPiece:
    start = measure_width(title, "group") + 8
    lines = limit_lines(wrap_text(subtitle, "small", room - start, "text2"), 1, room - start)

    def draw(ink: SheetPainter, x: float, y: float) -> None:
        ink.text(x, y + 8.5, title, style="group", colour="text1")
        for line in lines:
            for run in line:
                ink.text(x + start + run.x, y + 8.5, run.text, style=run.style, colour=run.colour)

    return SheetPiece(_TITLE - 2, draw)


def make_table_piece(table: ProfileTable, room: float) -> SheetPiece:
    """Return a table with its title, heads and note; of a long one the first rows, and how many more there are."""
    most = _MOST_ROWS.get(table.id, len(table.rows))
    rows, left_out = table.rows[:most], len(table.rows) - most
    widths = _share_widths(table.columns, rows, room)
    tall = any(cell.detail for row in rows for cell in row.cells)
    pieces = [_make_heading(table.title, table.subtitle, room)]
    if rows:
        pieces.append(_make_heads(table.columns, widths, room))
        pieces += [_make_row(table.columns, row, widths, _TALL_ROW if tall else _ROW, room) for row in rows]
    notes = [table.note] if table.note else []
    if left_out > 0:
        notes.append(trn("{n} more in GPU Desk", "{n} more in GPU Desk", left_out))
    pieces += [make_paragraph(wrap_text(note, "small", room, "text2"), "small") for note in notes]
    return stack_pieces(pieces)


def _share_widths(columns: Sequence[ProfileColumn], rows: Sequence[ProfileRow], room: float) -> list[float]:
    needed = [0.0] * len(columns)
    for number, column in enumerate(columns):
        if column.is_figure:
            cells = [row.cells[number] for row in rows]
            texts = [measure_width(cell.text, _style(cell)) + (_MARK if cell.mark else 0) for cell in cells]
            texts += [measure_width(cell.detail, "small") for cell in cells]
            needed[number] = max([*texts, measure_width(column.head, "small")], default=0.0) + 1.5 * _PAD
    free = max(room - sum(needed), 0.0)
    parts = sum(column.stretch for column in columns) or 1
    return [need + free * column.stretch / parts for need, column in zip(needed, columns, strict=True)]


def _style(cell: ProfileCell) -> str:
    return "best" if cell.is_strong else "body"


def _make_heads(columns: Sequence[ProfileColumn], widths: Sequence[float], room: float) -> SheetPiece:
    def draw(ink: SheetPainter, x: float, y: float) -> None:
        left = x
        for column, width in zip(columns, widths, strict=True):
            if column.is_figure:
                ink.text(left + width - _PAD, y + 8, column.head, style="small", colour="text3", align="right")
            else:
                ink.text(left, y + 8, column.head, style="small", colour="text3")
            left += width
        make_rule(room, "text1", 0.6).draw(ink, x, y + 11)

    return SheetPiece(11.6, draw)


def _make_row(
    columns: Sequence[ProfileColumn], row: ProfileRow, widths: Sequence[float], height: float, room: float
) -> SheetPiece:
    def draw(ink: SheetPainter, x: float, y: float) -> None:
        left = x
        for column, cell, width in zip(columns, row.cells, widths, strict=True):
            _draw_cell(ink, column, cell, left, y, width, height)
            left += width
        make_rule(room, "grid", 0.4).draw(ink, x, y + height - 0.4)

    return SheetPiece(height, draw)


def _draw_cell(
    ink: SheetPainter, column: ProfileColumn, cell: ProfileCell, x: float, y: float, width: float, height: float
) -> None:
    if column.is_bar and cell.share is not None:
        track, ink_name = width - 2 * _PAD, "ink1" if cell.is_strong else "ink2"
        ink.tint(x, y + height / 2 - 2.5, track, 5, "sunken", radius=1)
        ink.tint(x, y + height / 2 - 2.5, track * min(max(cell.share, 0.0), 1.0), 5, ink_name, radius=1)
        return
    colour = "text2" if cell.is_quiet else "text1"
    body, small = measure_line_height("body"), measure_line_height("small")
    top = y + (height - body - (small if cell.detail else 0.0)) / 2
    mark = _MARK if cell.mark else 0.0
    for text, style, ink_colour, line_top, step in (
        (cell.text, _style(cell), colour, top, body),
        (cell.detail, "small", "text3", top + body, small),
    ):
        space = width - _PAD - (mark if style != "small" else 0.0)
        shown = "".join(run.text for line in limit_lines(wrap_text(text, style, space), 1, space) for run in line)
        baseline = line_top + find_first_baseline(style, step)
        if column.is_figure:
            end = x + width - _PAD - (mark if style != "small" else 0.0)
            ink.text(end, baseline, text, style=style, colour=ink_colour, align="right")
        else:
            ink.text(x, baseline, shown, style=style, colour=ink_colour)
    if cell.mark:
        at = x + width - _PAD - 4 if column.is_figure else x + measure_width(cell.text, _style(cell)) + 8
        ink.glyph(cell.mark, at, top + body / 2)
