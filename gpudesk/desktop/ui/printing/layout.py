"""From a sheet to pages: nothing is cut, and the sheet takes as few pages as possible."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from PySide6.QtCore import QRectF

from gpudesk.desktop.ui.charts.rack_picture import measure_line, paint_racks
from gpudesk.desktop.ui.printing.charts import PaperMemoryChart, PaperThroughputChart
from gpudesk.desktop.ui.printing.opening import (
    SheetOpening,
    format_trace_heading,
    make_recommendation,
    make_recommendation_sections,
)
from gpudesk.desktop.ui.printing.paper import (
    MM,
    SIDE,
    TOP,
    Paper,
    PaperSize,
    TextLine,
    limit_lines,
    measure_width,
    wrap_text,
)
from gpudesk.desktop.ui.printing.pieces import (
    PlacedPiece,
    SheetPages,
    SheetPainter,
    SheetPiece,
    make_paragraph,
    make_rule,
    put_side_by_side,
)
from gpudesk.desktop.ui.printing.profile_pages import make_profile_pages
from gpudesk.desktop.ui.printing.running_text import SectionLayout, make_text_sections
from gpudesk.desktop.ui.printing.table import PaperTable, TableDensity, explain_marks
from gpudesk.desktop.ui.theme.theme_painter import ThemePainter
from gpudesk.desktop.ui.theme.tokens import load_fonts
from gpudesk.report.comparison.tables import ComparisonSheet, ComparisonTable, SheetRemark
from gpudesk.report.decision.recommendation import build_trace_table
from gpudesk.report.profile_sections import ProfileTables
from gpudesk.report.rack_drawing import FleetSketch, lay_out_racks
from gpudesk.text.formatting import Formatter
from gpudesk.text.translation import tr

#: More accelerators than these are set across the long side.
_MOST_UPRIGHT: Final = 4
#: Share of the width that the foot's facts have beside the number of the page.
_FOOT_SHARE: Final = 0.8
_RUNNING_HEAD: Final = 17.0
_GAP: Final = 9.0
#: White above a section of text, and that where it is set fine.
_SECTION_GAP: Final = 9.0
_FINE_GAP: Final = 6.0
_REMARK_GAP: Final = 3.0
#: Share of the width that the curves take, and the white between the two charts.
_CURVES: Final = 0.62
_BETWEEN: Final = 20.0
_MOST_PAGES: Final = 2
#: Height of the picture of racks.
_MOST_RACKS: Final = 110 * MM
#: Height at the foot of a page in which a section of text may begin.
_WORTH_BEGINNING: Final = 30 * MM


@dataclass(frozen=True, slots=True)
class _Arrangement:
    """How generously things are set: rows of the table, and the heights that the charts may have."""

    density: TableDensity
    least_charts: float
    most_charts: float
    fine: bool = False


_ARRANGEMENTS: Final = (
    _Arrangement(TableDensity(4.5 * MM, 2.8 * MM, 6.4 * MM), 46 * MM, 61 * MM),
    _Arrangement(TableDensity(4.3 * MM, 2.7 * MM, 5.8 * MM), 44 * MM, 61 * MM),
    _Arrangement(TableDensity(3.9 * MM, 2.5 * MM, 5.0 * MM), 42 * MM, 61 * MM, fine=True),
    _Arrangement(TableDensity(3.9 * MM, 2.5 * MM, 5.0 * MM), 25 * MM, 61 * MM, fine=True),
    _Arrangement(TableDensity(3.7 * MM, 2.4 * MM, 4.6 * MM), 25 * MM, 61 * MM, fine=True),
)


@dataclass(slots=True)
class _Flow:
    """Fills pages from the top."""

    paper: Paper
    bottom: float
    pages: list[list[PlacedPiece]] = field(default_factory=lambda: [[]])
    y: float = TOP

    @property
    def room(self) -> float:
        return self.bottom - self.y

    def put(self, piece: SheetPiece, gap: float = 0.0) -> None:
        self.pages[-1].append(PlacedPiece(SIDE, self.y + gap, piece))
        self.y += gap + piece.height

    def turn(self) -> None:
        self.pages.append([])
        self.y = TOP + _RUNNING_HEAD


def lay_out_sheet(
    sheet: ComparisonSheet, size: PaperSize, formatter: Formatter, profiles: Sequence[ProfileTables] = ()
) -> SheetPages:
    """Return the pages of a sheet, then two for each profile; needs a running application, for its fonts."""
    load_fonts()
    best: tuple[tuple[int, bool, bool], _Flow] | None = None
    # Profiles are laid out upright, and all pages lie alike.
    for paper in [Paper(size)] if profiles else _papers(sheet, size):
        for arrangement in _ARRANGEMENTS:
            flow, whole, is_filled = _arranged(sheet, paper, arrangement, formatter, working=False)
            # Across, a table over two pages is as good: the heads are repeated.
            rank = (max(_MOST_PAGES, len(flow.pages)), not is_filled, not (whole or paper.landscape))
            if best is None or rank < best[0]:
                best = rank, _with_working(sheet, flow, arrangement, formatter)
        if best is not None and best[0] == (_MOST_PAGES, False, False):
            break
    assert best is not None
    flow = best[1]
    _put_recommendation(flow, sheet)
    _put_fleet(flow, sheet)
    _put_rules(flow, sheet)
    return SheetPages(flow.paper, tuple(_with_margins(sheet, flow.paper, flow.pages, profiles)))


def _with_working(sheet: ComparisonSheet, flow: _Flow, arrangement: _Arrangement, formatter: Formatter) -> _Flow:
    """Return the pages with the working of figures, where that takes no further page; else as they are."""
    if not sheet.working:
        return flow
    longer, *_ = _arranged(sheet, flow.paper, arrangement, formatter, working=True)
    return longer if len(longer.pages) <= len(flow.pages) else flow


def _papers(sheet: ComparisonSheet, size: PaperSize) -> tuple[Paper, ...]:
    """Return the ways to hold the paper: many accelerators are set across where that takes few pages."""
    upright = Paper(size)
    return (upright,) if len(sheet.heads) <= _MOST_UPRIGHT else (Paper(size, landscape=True), upright)


def _arranged(
    sheet: ComparisonSheet, paper: Paper, arrangement: _Arrangement, formatter: Formatter, *, working: bool
) -> tuple[_Flow, bool, bool]:
    """Return the pages of one arrangement, and whether the first one holds the whole table and has no empty foot."""
    flow = _Flow(paper, paper.bottom - _foot(sheet, paper, 1, 1).height)
    room = paper.inner_width
    opening = SheetOpening(sheet, room, note_lines=2 if paper.landscape else 3)
    flow.put(opening.piece)
    further = ComparisonTable(sheet.heads, (*sheet.how_many.groups, *sheet.costs.groups))
    table = PaperTable(sheet.table, room, arrangement.density, further.groups)
    key = explain_marks(sheet, room)
    charts = _Charts(sheet, room, formatter)
    reserved = key.height + (arrangement.least_charts + _GAP if charts else 0.0)
    remaining = _put_groups(flow, table, table.groups, reserved)
    whole = not remaining
    flow.put(key)
    if charts:
        height = flow.room - _GAP
        if height - arrangement.most_charts > _WORTH_BEGINNING:
            # Below, something else can be begun; otherwise the charts take all there is.
            height = arrangement.most_charts
        flow.put(charts.piece(height), _GAP)
    is_filled = whole or flow.room < _WORTH_BEGINNING
    while remaining:
        flow.turn()
        remaining = _put_groups(flow, table, remaining, 0.0)
    if further.groups:
        below = PaperTable(further, room, _ARRANGEMENTS[-1].density, sheet.table.groups)
        # The heads of a table that ends on this page hold for the next one, too.
        _put_further(flow, below, sheet.sizing, heads=whole)
    columns = 3 if paper.landscape else 2
    for section in make_text_sections(sheet, whole_note=opening.note_is_cut, working=working):
        gap = _FINE_GAP if arrangement.fine else _SECTION_GAP
        _put_section(flow, SectionLayout(section, room, columns, style="fine" if arrangement.fine else "small"), gap)
    return flow, whole, is_filled


def _put_groups(
    flow: _Flow, table: PaperTable, groups: Sequence[SheetPiece], reserved: float, *, heads: bool = True
) -> Sequence[SheetPiece]:
    """Place the heads and as many groups as leave the reserved height free; return the rest."""
    gap = _GAP if heads and flow.y > TOP + _RUNNING_HEAD else 0.0
    room = flow.room - reserved - gap - (table.head.height if heads else 0.0)
    count = 0
    for group in groups:
        room -= group.height
        if room < 0 and count:
            break
        count += 1
    if heads:
        flow.put(table.head, gap)
    for group in groups[:count]:
        flow.put(group)
    return groups[count:]


def _put_further(flow: _Flow, table: PaperTable, remarks: Sequence[SheetRemark], *, heads: bool) -> None:
    """Place a further table with its remarks, from where there is room for its heads and its first group."""
    room = flow.paper.inner_width
    remaining: Sequence[SheetPiece] = table.groups
    if flow.room < _GAP + table.head.height + remaining[0].height:
        flow.turn()
        heads = True
    remaining = _put_groups(flow, table, remaining, 0.0, heads=heads)
    while remaining:
        flow.turn()
        remaining = _put_groups(flow, table, remaining, 0.0)
    for remark in remarks:
        paragraph = make_paragraph(wrap_text(f"{remark.text}.", "body", room), "body")
        if flow.room < paragraph.height + _REMARK_GAP:
            flow.turn()
        flow.put(paragraph, _REMARK_GAP)


def _put_recommendation(flow: _Flow, sheet: ComparisonSheet) -> None:
    """Place the recommendation on a page of its own."""
    recommendation = sheet.recommendation
    if recommendation is None or not recommendation.lines:
        return
    room = flow.paper.inner_width
    flow.turn()
    flow.put(make_recommendation(recommendation, room))
    for section in make_recommendation_sections(recommendation):
        _put_section(flow, SectionLayout(section, room, 2, style="body"), _SECTION_GAP)


def _put_fleet(flow: _Flow, sheet: ComparisonSheet) -> None:
    """Place the fleets on a page of their own: the answer, the table, and the racks in the room that is left."""
    fleet = sheet.fleet
    if fleet is None:
        return
    room = flow.paper.inner_width
    flow.turn()
    flow.put(make_paragraph(wrap_text(fleet.verdict, "verdict", room), "verdict"))
    table = PaperTable(fleet.table, room, _ARRANGEMENTS[0].density)
    _put_groups(flow, table, table.groups, 0.0)
    if any(sketch.groups for sketch in fleet.sketches):
        height = min(flow.room - _SECTION_GAP, _MOST_RACKS)
        flow.put(_make_racks(fleet.sketches, room, height), _SECTION_GAP)


def _make_racks(sketches: Sequence[FleetSketch], room: float, height: float) -> SheetPiece:
    def paint(pen: ThemePainter, area: QRectF) -> None:
        drawing = lay_out_racks(sketches, area.width(), area.height(), measure_line(pen))
        paint_racks(pen, area.left(), area.top(), drawing)

    return SheetPiece(height, lambda ink, x, y: ink.paint(x, y, room, height, paint))


def _put_rules(flow: _Flow, sheet: ComparisonSheet) -> None:
    """Place the appendix of rules, on pages of its own."""
    if not sheet.trace:
        return
    flow.turn()
    room = flow.paper.inner_width
    table = PaperTable(build_trace_table(sheet, signed=False), room, _ARRANGEMENTS[-1].density)
    flow.put(format_trace_heading(room), _GAP)
    remaining = _put_groups(flow, table, table.rows, 0.0)
    while remaining:
        flow.turn()
        remaining = _put_groups(flow, table, remaining, 0.0)


def _put_section(flow: _Flow, section: SectionLayout, gap: float) -> None:
    fresh = False
    while section:
        piece = section.take(flow.room - gap)
        if piece is not None:
            flow.put(piece, 0.0 if fresh else gap)
        if section:
            flow.turn()
            fresh = True
            section.title = tr("{title}, continued", title=section.title) if piece else section.title


class _Charts:
    """Curves and bars side by side; whichever there are."""

    def __init__(self, sheet: ComparisonSheet, room: float, formatter: Formatter) -> None:
        self._sheet = sheet
        self._room = room
        self._formatter = formatter

    def __bool__(self) -> bool:
        return bool(self._sheet.throughput or self._sheet.memory)

    def piece(self, height: float) -> SheetPiece:
        share = self._room * _CURVES
        rest = self._room - share - _BETWEEN
        pieces, steps = [], []
        if self._sheet.throughput:
            pieces.append(PaperThroughputChart(self._sheet, self._formatter).piece(share, height))
            steps.append(0.0)
        if self._sheet.memory:
            steps.append(self._room - rest if pieces else 0.0)
            pieces.append(PaperMemoryChart(self._sheet).piece(rest, height))
        return put_side_by_side(pieces, steps)


def _with_margins(
    sheet: ComparisonSheet, paper: Paper, pages: Sequence[Sequence[PlacedPiece]], profiles: Sequence[ProfileTables]
) -> Iterator[tuple[PlacedPiece, ...]]:
    head = PlacedPiece(SIDE, TOP, _running_head(sheet, paper))
    whole = [(*([head] if number else []), *page) for number, page in enumerate(pages)]
    bottom = paper.bottom - _foot(sheet, paper, 1, 1).height
    whole += [page for tables in profiles for page in make_profile_pages(tables, paper, sheet.date or "", bottom)]
    for number, page in enumerate(whole):
        yield (*page, PlacedPiece(SIDE, bottom, _foot(sheet, paper, number + 1, len(whole))))


def _running_head(sheet: ComparisonSheet, paper: Paper) -> SheetPiece:
    room = paper.inner_width
    date = sheet.date or ""
    space = room - measure_width(date, "small") - 12
    title = make_paragraph(limit_lines(wrap_text(sheet.title, "group", space), 1, space), "group")

    def draw(ink: SheetPainter, x: float, y: float) -> None:
        title.draw(ink, x, y - 1)
        ink.text(x + room, y + 7, date, style="small", colour="text2", align="right")
        make_rule(room, "hair", 0.5).draw(ink, x, y + 11)

    return SheetPiece(_RUNNING_HEAD, draw)


def _foot_lines(sheet: ComparisonSheet, paper: Paper) -> tuple[TextLine, ...]:
    foot_text = "  ·  ".join(f"{fact.label} {fact.value}" for fact in sheet.foot)
    return wrap_text(foot_text, "small", paper.inner_width * _FOOT_SHARE, "text3")


def _foot(sheet: ComparisonSheet, paper: Paper, number: int, count: int) -> SheetPiece:
    room = paper.inner_width
    paragraph = make_paragraph(_foot_lines(sheet, paper), "small")
    place = tr("Page {number} of {count}", number=number, count=count)

    def draw(ink: SheetPainter, x: float, y: float) -> None:
        make_rule(room, "hair", 0.5).draw(ink, x, y + 2)
        paragraph.draw(ink, x, y + 4)
        ink.text(x + room, y + 11, place, style="small", colour="text3", align="right")

    return SheetPiece(paragraph.height + 4, draw)
