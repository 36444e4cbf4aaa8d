"""From a sheet to pages: nothing after the opening is cut, and the sheet takes as few pages as possible."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final

from PySide6.QtCore import QRectF

from gpudesk.desktop.ui.charts.pictures import measure_line, paint_racks
from gpudesk.desktop.ui.printing.charts import PaperMemoryChart, PaperThroughputChart
from gpudesk.desktop.ui.printing.paper import (
    MM,
    SIDE,
    SWATCH,
    TOP,
    Paper,
    PaperSize,
    PlacedPiece,
    SheetPages,
    SheetPainter,
    SheetPiece,
    TextRun,
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
from gpudesk.desktop.ui.printing.profile_pages import make_profile_pages
from gpudesk.desktop.ui.printing.table import (
    PaperTable,
    SectionLayout,
    TableDensity,
    TextEntry,
    TextSection,
    explain_marks,
    make_text_sections,
)
from gpudesk.desktop.ui.theme.theme_painter import ThemePainter
from gpudesk.desktop.ui.theme.tokens import load_fonts
from gpudesk.domain.decision import RuleEffect
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.report.comparison.tables import (
    CellMarking,
    ComparisonSheet,
    ComparisonTable,
    Headline,
    LabeledValue,
    SheetCandidate,
    SheetRecommendation,
    SheetRemark,
)
from gpudesk.report.decision.recommendation import build_trace_table
from gpudesk.report.decision.rules import get_effect_mark
from gpudesk.report.profile_sections import ProfileTables
from gpudesk.report.rack_drawing import FleetSketch, lay_out_racks
from gpudesk.text.formatting import Formatter
from gpudesk.text.translation import tr

#: Width shares of the verdict and the odds.
_VERDICT: Final = 0.63
_ODDS: Final = 0.34
_BAR: Final = 1.8
_HEADING: Final = 15.0
#: Space between a verdict and the smaller text below it.
_BELOW_VERDICT: Final = 2.5


def make_recommendation(recommendation: SheetRecommendation, room: float) -> SheetPiece:
    """Return the verdict with its reason, and next to it the odds of each candidate, if there are several."""
    left, right = room * (_VERDICT if recommendation.candidates else 1.0), room * _ODDS
    question = make_paragraph(wrap_text(tr("Recommendation"), "small_strong", left, "text3"), "small_strong")
    reason = make_space(0)
    if recommendation.reason:
        reason = make_paragraph(wrap_text(recommendation.reason, "body", left, "text2"), "body")
    odds = stack_pieces(
        [
            make_space(measure_line_height("small_strong") + 1),
            *(
                piece
                for each in recommendation.candidates
                for piece in (_make_candidate_line(each, right), make_space(1.5))
            ),
        ]
    )
    words = _make_verdict(recommendation.verdict, recommendation.slot, recommendation.is_variant, left)
    verdict = stack_pieces([question, make_space(1), words, make_space(_BELOW_VERDICT), reason])
    return stack_pieces([make_space(6), put_side_by_side([verdict, odds], [0.0, room - right])])


def _make_verdict(text: str, slot: int | None, is_variant: bool, room: float) -> SheetPiece:
    """Return large text, after the swatch of its accelerator if it is about one."""
    lead = 0.0 if slot is None else SWATCH + 5
    words = make_paragraph(wrap_text(text, "verdict", room - lead), "verdict")

    def draw(ink: SheetPainter, x: float, y: float) -> None:
        if slot is not None:
            ink.swatch(x, y + measure_line_height("verdict") / 2, slot, is_variant=is_variant)
        words.draw(ink, x + lead, y)

    return SheetPiece(words.height, draw)


def _make_candidate_line(each: SheetCandidate, room: float) -> SheetPiece:
    """Return a line of a candidate, over a bar of its odds."""
    line = measure_line_height("small")
    odds = measure_width(each.odds_text, "small_strong")
    text = tr("{deployment}: {value}", deployment=each.deployment, value=each.value)
    words = make_paragraph(wrap_text(text, "small", room - odds - 6), "small")

    def draw(ink: SheetPainter, x: float, y: float) -> None:
        words.draw(ink, x, y)
        baseline = y + find_first_baseline("small", line)
        ink.text(x + room, baseline, each.odds_text, style="small_strong", color="text1", align="right")
        ink.bar(x, y + words.height + 0.5, max(each.odds * room, 0.4), _BAR, each.slot)

    return SheetPiece(words.height + 0.5 + _BAR, draw)


def format_trace_heading(room: float) -> SheetPiece:
    """Return the title of the rules with the meaning of their signs; a removal has a glyph and no letter."""
    title, removes = tr("Rules"), RuleEffect.REMOVES.label
    others = "  ".join(f"{get_effect_mark(each)} {each.label}" for each in RuleEffect if each is not RuleEffect.REMOVES)
    across = make_rule(room, "hair", 0.5)

    def draw(ink: SheetPainter, x: float, y: float) -> None:
        ink.text(x, y + 8.5, title, style="group", color="text1")
        at = x + measure_width(title, "group") + 16
        ink.glyph("unfit", at - 5, y + 6)
        ink.text(at + 3, y + 8.5, removes, style="small", color="text2")
        ink.text(at + measure_width(removes, "small") + 11, y + 8.5, others, style="small", color="text2")
        across.draw(ink, x, y + 12.5)

    return SheetPiece(_HEADING, draw)


_TITLE_LINES: Final = 2
_VERDICT_LINES: Final = 3
_TERMS_LINES: Final = 2
#: Space between facts, and between headline answers.
_FACT_GAP: Final = 14.0
_ANSWER_GAP: Final = 14.0
#: Width of an error glyph before its text.
_GLYPH: Final = 13.0
#: Maximum line length of the note, for readability.
_NOTE_SHARE: Final = 0.86


class SheetOpening:
    """Title, note, assumptions, recommendation and headline answers; reports whether the note fit."""

    def __init__(self, sheet: ComparisonSheet, room: float, note_lines: int) -> None:
        """Lay out everything for a width; the note gets at most this many lines."""
        note = wrap_text(sheet.note, "lead", room * _NOTE_SHARE, "text2")
        self.note_is_cut = len(note) > note_lines
        note_lines_shown = limit_lines(note, note_lines, room * _NOTE_SHARE)
        title = limit_lines(wrap_text(sheet.title, "title", room), _TITLE_LINES, room)
        facts = sheet.assumptions
        needed = [max(measure_width(fact.label, "small"), measure_width(fact.value, "body_strong")) for fact in facts]
        rows = [_make_fact_row(facts, needed, row, room) for row in _group_facts_by_row(needed, room)]
        pieces = [
            make_brand(tr("Comparison sheet"), sheet.date or "", room),
            make_paragraph(title, "title"),
            *([make_space(1), make_paragraph(note_lines_shown, "lead")] if note_lines_shown else []),
            make_space(6),
            make_rule(room, "text1", 0.8),
            stack_pieces([make_space(4), *rows, make_space(2)]),
            make_rule(room, "hair", 0.5),
        ]
        # A recommendation names the leader itself, and a customer's sheet stays on one page.
        if sheet.verdict and sheet.recommendation is None:
            pieces += [make_space(5), _make_verdict_with_terms(sheet.verdict, room)]
        if sheet.recommendation is not None:
            pieces.append(make_recommendation(sheet.recommendation, room))
        if sheet.fleet is not None:
            pieces += [make_space(3), make_paragraph(wrap_text(sheet.fleet.order, "lead", room), "lead")]
        faults = [headline for headline in sheet.headlines if headline.mark is CellMarking.FAILS]
        answers = [headline for headline in sheet.headlines if headline.mark is not CellMarking.FAILS]
        pieces += [_make_fault_headline(headline, room) for headline in faults]
        if answers:
            pieces += [make_space(7), _answers(answers, room)]
        self.piece = stack_pieces(pieces)


def _make_verdict_with_terms(sentences: Sequence[str], room: float) -> SheetPiece:
    """Return the answer, and in smaller type the other sentences that fit: one cut off would say something else."""
    answer, *others = sentences
    words = make_paragraph(limit_lines(wrap_text(answer, "verdict", room), _VERDICT_LINES, room), "verdict")
    while len(lines := wrap_text(" ".join(others), "lead", room, "text2")) > _TERMS_LINES:
        others.pop()
    return stack_pieces([words, make_space(_BELOW_VERDICT), make_paragraph(lines, "lead")] if others else [words])


def _group_facts_by_row(needed: Sequence[float], room: float) -> list[range]:
    """Return which facts share a row: as many as fit, evenly distributed over several rows."""
    for count in range(1, len(needed) + 1):
        each = -(-len(needed) // count)
        rows = [range(start, min(start + each, len(needed))) for start in range(0, len(needed), each)]
        if all(sum(needed[at] + _FACT_GAP for at in row) - _FACT_GAP <= room for row in rows):
            return rows
    return [range(at, at + 1) for at in range(len(needed))]


def _make_fact_row(facts: Sequence[LabeledValue], needed: Sequence[float], row: range, room: float) -> SheetPiece:
    spare = room - sum(needed[at] for at in row)
    gap = spare / max(1, len(row) - 1)
    places = []
    x = 0.0
    for at in row:
        places.append((x, facts[at]))
        x += needed[at] + gap

    def draw(ink: SheetPainter, left: float, y: float) -> None:
        for start, fact in places:
            ink.text(left + start, y + 7, fact.label, style="small", color="text3")
            ink.text(left + start, y + 16.5, fact.value, style="body_strong", color="text1")

    return SheetPiece(21, draw)


def _make_fault_headline(headline: Headline, room: float) -> SheetPiece:
    runs = (TextRun(f"{headline.text}. ", "head", "unfit"), TextRun(f"{headline.detail}.", "lead", "text1"))
    words = make_paragraph(wrap_runs(runs, room - _GLYPH), "lead")

    def draw(ink: SheetPainter, x: float, y: float) -> None:
        ink.glyph("unfit", x + 4.5, y + 6 + measure_line_height("lead") / 2)
        words.draw(ink, x + _GLYPH, y + 6)

    return SheetPiece(words.height + 6, draw)


def _answers(headlines: Sequence[Headline], room: float) -> SheetPiece:
    column = (room - _ANSWER_GAP * (len(headlines) - 1)) / len(headlines)
    questions = [
        make_paragraph(wrap_text(headline.label, "small_strong", column, "text3"), "small_strong")
        for headline in headlines
    ]
    most = max(question.height for question in questions)
    answers = [
        _answer(headline, [make_space(most - question.height), question], column)
        for headline, question in zip(headlines, questions, strict=True)
    ]
    tallest = max(piece.height for piece in answers)

    def draw(ink: SheetPainter, x: float, y: float) -> None:
        for number, piece in enumerate(answers):
            left = x + number * (column + _ANSWER_GAP)
            if number:
                middle = left - _ANSWER_GAP / 2
                ink.rule(middle, y + 1, middle, y + tallest - 1, color="hair", width=0.5)
            piece.draw(ink, left, y)

    return SheetPiece(tallest, draw)


def _answer(headline: Headline, question: Sequence[SheetPiece], room: float) -> SheetPiece:
    detail = make_paragraph(wrap_text(headline.detail, "small", room, "text2"), "small")
    winner = headline.winner
    slot, is_variant = (None, False) if winner is None else (winner.slot, winner.is_variant)
    words = _make_verdict(headline.text, slot, is_variant, room)
    return stack_pieces([*question, make_space(1), words, make_space(1), detail])


#: More accelerators are set in landscape.
_MOST_UPRIGHT: Final = 4
#: Width share of the foot's facts next to the page number.
_FOOT_SHARE: Final = 0.8
_RUNNING_HEAD: Final = 17.0
_GAP: Final = 9.0
#: Space above a section of text, and in small print.
_SECTION_GAP: Final = 9.0
_FINE_GAP: Final = 6.0
#: Space between the sections of a recommendation, which fits on one page of either size.
_ADVICE_GAP: Final = 7.0
_REMARK_GAP: Final = 3.0
#: Width share of the curves, and the space between the two charts.
_CURVES: Final = 0.62
_BETWEEN: Final = 20.0
_MOST_PAGES: Final = 2
#: Height of the picture of racks.
_MOST_RACKS: Final = 110 * MM
#: Lower charts are hard to read: the plot is 16 mm lower, for title, ticks and axis title.
_READABLE_CHARTS: Final = 34 * MM
#: The lowest charts, which can save a page.
_LEAST_CHARTS: Final = 30 * MM
#: Minimum height at the foot of a page for starting a section of text.
_WORTH_BEGINNING: Final = 30 * MM


@frozen_dataclass
class _Arrangement:
    """Spacing of an arrangement: rows of the table, and the heights of charts: the minimum below it on the first page.

    With a minimum of 0 the charts begin the next page.
    """

    density: TableDensity
    least_charts: float
    fine: bool = False
    most_charts: float = 61 * MM


_ARRANGEMENTS: Final = (
    _Arrangement(TableDensity(4.5 * MM, 3.0 * MM, 6.4 * MM), 46 * MM),
    _Arrangement(TableDensity(4.3 * MM, 2.9 * MM, 5.8 * MM), 44 * MM),
    _Arrangement(TableDensity(3.9 * MM, 2.7 * MM, 5.0 * MM), 42 * MM, fine=True),
    _Arrangement(TableDensity(3.9 * MM, 2.7 * MM, 5.0 * MM), _READABLE_CHARTS, fine=True),
    _Arrangement(TableDensity(4.3 * MM, 2.9 * MM, 5.8 * MM), 0.0),
    _Arrangement(TableDensity(3.9 * MM, 2.7 * MM, 5.0 * MM), 0.0, fine=True),
    _Arrangement(TableDensity(3.9 * MM, 2.7 * MM, 5.0 * MM), 0.0, fine=True, most_charts=46 * MM),
    _Arrangement(TableDensity(3.7 * MM, 2.65 * MM, 4.6 * MM), _LEAST_CHARTS, fine=True),
    _Arrangement(TableDensity(3.7 * MM, 2.65 * MM, 4.6 * MM), 0.0, fine=True, most_charts=46 * MM),
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
    # Profiles are in portrait format, and all pages have one orientation.
    papers = [Paper(size)] if profiles else _list_orientations(sheet, size)
    arranged = [_find_best_arrangement(sheet, paper, formatter) for paper in papers]
    _, flow, arrangement = min(arranged, key=lambda each: _rank_orientation(each[0], each[1].paper))
    flow = _add_derivations(sheet, flow, arrangement, formatter)
    _put_recommendation(flow, sheet)
    _put_fleet(flow, sheet)
    _put_rules(flow, sheet)
    return SheetPages(flow.paper, tuple(_add_margins(sheet, flow.paper, flow.pages, profiles)))


#: Whether the first page is cut, the number of pages, and other faults by their weight.
_Rank = tuple[bool, int, bool, bool, bool]


def _rank_orientation(rank: _Rank, paper: Paper) -> _Rank:
    """Return the rank for a choice of orientation: landscape is worth a page, since more ranges stay in one line."""
    return rank[0], rank[1] + (rank[1] > _MOST_PAGES and not paper.landscape), *rank[2:]


def _find_best_arrangement(
    sheet: ComparisonSheet, paper: Paper, formatter: Formatter
) -> tuple[_Rank, _Flow, _Arrangement]:
    """Return the pages of the best arrangement in one orientation, after their rank: lower is better."""
    best: tuple[_Rank, _Flow, _Arrangement] | None = None
    for arrangement in _ARRANGEMENTS:
        flow, whole, is_filled, is_cut = _arrange_pages(sheet, paper, arrangement, formatter, working=False)
        # In landscape, a table over two pages is as good: the heads are repeated.
        is_low = 0.0 < arrangement.least_charts < _READABLE_CHARTS
        rank = (is_cut, max(_MOST_PAGES, len(flow.pages)), not is_filled, is_low, not (whole or paper.landscape))
        if best is None or rank < best[0]:
            best = rank, flow, arrangement
        if rank == (False, _MOST_PAGES, False, False, False):
            break
    assert best is not None
    return best


def _add_derivations(sheet: ComparisonSheet, flow: _Flow, arrangement: _Arrangement, formatter: Formatter) -> _Flow:
    """Return the pages with the derivation of figures, if that takes no further page; else unchanged."""
    if not sheet.working:
        return flow
    longer, *_ = _arrange_pages(sheet, flow.paper, arrangement, formatter, working=True)
    return longer if len(longer.pages) <= len(flow.pages) else flow


def _list_orientations(sheet: ComparisonSheet, size: PaperSize) -> tuple[Paper, ...]:
    """Return the possible orientations: many accelerators are set in landscape if that takes few pages."""
    upright = Paper(size)
    return (upright,) if len(sheet.heads) <= _MOST_UPRIGHT else (Paper(size, landscape=True), upright)


def _arrange_pages(
    sheet: ComparisonSheet, paper: Paper, arrangement: _Arrangement, formatter: Formatter, *, working: bool
) -> tuple[_Flow, bool, bool, bool]:
    """Return the pages of one arrangement, and of the first: whether it holds the whole table, is filled, and is cut.

    It is filled without an empty foot, and cut if the opening and the first group of the table are higher than it.
    """
    flow = _Flow(paper, paper.bottom - _make_page_foot(sheet, paper, 1, 1).height)
    room = paper.inner_width
    opening = SheetOpening(sheet, room, note_lines=2 if paper.landscape else 3)
    flow.put(opening.piece)
    further = ComparisonTable(sheet.heads, (*sheet.how_many.groups, *sheet.costs.groups))
    table = PaperTable(sheet.table, room, arrangement.density, further.groups)
    key = explain_marks(sheet, room)
    charts = bool(sheet.throughput or sheet.memory)
    reserved = key.height + (arrangement.least_charts + _GAP if charts and arrangement.least_charts else 0.0)
    remaining = _put_groups(flow, table, table.groups, reserved)
    whole = not remaining
    flow.put(key)
    is_cut = flow.room < 0.0
    is_filled = whole or flow.room < _WORTH_BEGINNING
    begins_page = flow.room - _GAP < (arrangement.least_charts or flow.room)
    if charts and not begins_page:
        _put_charts(flow, sheet, arrangement.most_charts, formatter)
        is_filled = whole or flow.room < _WORTH_BEGINNING
    _put_rest(flow, table, remaining)
    if charts and begins_page:
        if whole or flow.room - _GAP < _READABLE_CHARTS:
            flow.turn()
        _put_charts(flow, sheet, arrangement.most_charts, formatter)
    if further.groups:
        below = PaperTable(further, room, _ARRANGEMENTS[-1].density, sheet.table.groups)
        # The heads of a table that ends on this page also apply to the next one.
        _put_further(flow, below, sheet.sizing, heads=whole)
    columns = 3 if paper.landscape else 2
    for section in make_text_sections(sheet, whole_note=opening.note_is_cut, working=working):
        gap = _FINE_GAP if arrangement.fine else _SECTION_GAP
        _put_section(flow, SectionLayout(section, room, columns, style="fine" if arrangement.fine else "small"), gap)
    return flow, whole, is_filled, is_cut


def _put_charts(flow: _Flow, sheet: ComparisonSheet, most: float, formatter: Formatter) -> None:
    """Place the charts, up to the foot of the page if no other block can start below their maximum height."""
    height = flow.room - _GAP
    if height - most > _WORTH_BEGINNING:
        height = most
    flow.put(_make_charts(sheet, flow.paper.inner_width, height, formatter), _GAP)


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


def _put_rest(flow: _Flow, table: PaperTable, groups: Sequence[SheetPiece]) -> None:
    """Place groups on further pages, each below the heads."""
    while groups:
        flow.turn()
        groups = _put_groups(flow, table, groups, 0.0)


def _put_further(flow: _Flow, table: PaperTable, remarks: Sequence[SheetRemark], *, heads: bool) -> None:
    """Place a further table with its remarks, on the first page where its heads and its first group fit."""
    room = flow.paper.inner_width
    if flow.room < _GAP + table.head.height + table.groups[0].height:
        flow.turn()
        heads = True
    _put_rest(flow, table, _put_groups(flow, table, table.groups, 0.0, heads=heads))
    for remark in remarks:
        paragraph = make_paragraph(wrap_text(f"{remark.text}.", "body", room), "body")
        if flow.room < paragraph.height + _REMARK_GAP:
            flow.turn()
        flow.put(paragraph, _REMARK_GAP)


def _put_recommendation(flow: _Flow, sheet: ComparisonSheet) -> None:
    """Place the recommendation on a separate page."""
    recommendation = sheet.recommendation
    if recommendation is None or not recommendation.lines:
        return
    room = flow.paper.inner_width
    flow.turn()
    flow.put(make_recommendation(recommendation, room))
    sections = tuple(
        TextSection(subject, tuple(TextEntry((TextRun(f"{line.text}.", "body"),)) for line in lines))
        for subject, lines in groupby(recommendation.lines, key=lambda line: line.subject)
    )
    whole = (SectionLayout(each, room, 2, style="body").take(flow.paper.height) for each in sections)
    needed = sum(_ADVICE_GAP + piece.height for piece in whole if piece is not None)
    # A customer reads one page: smaller type is better than two lines on another.
    style = "body" if needed <= flow.room else "small"
    for section in sections:
        _put_section(flow, SectionLayout(section, room, 2, style=style), _ADVICE_GAP)


def _put_fleet(flow: _Flow, sheet: ComparisonSheet) -> None:
    """Place the fleets on a separate page: the answer, the table, and the racks in the remaining space.

    Racks that do not fit there follow on another page.
    """
    fleet = sheet.fleet
    if fleet is None:
        return
    room = flow.paper.inner_width
    flow.turn()
    flow.put(_make_verdict_with_terms(fleet.verdict, room))
    table = PaperTable(fleet.table, room, _ARRANGEMENTS[0].density)
    _put_groups(flow, table, table.groups, 0.0)
    if any(sketch.groups for sketch in fleet.sketches):
        height = min(flow.room - _SECTION_GAP, _MOST_RACKS)
        line = measure_line_height("small")
        if lay_out_racks(fleet.sketches, room, height, line).height > height:
            flow.turn()
            height = min(flow.room - _SECTION_GAP, _MOST_RACKS)
        flow.put(_make_racks(fleet.sketches, room, height), _SECTION_GAP)


def _make_racks(sketches: Sequence[FleetSketch], room: float, height: float) -> SheetPiece:
    def paint(pen: ThemePainter, area: QRectF) -> None:
        drawing = lay_out_racks(sketches, area.width(), area.height(), measure_line(pen))
        paint_racks(pen, area.left(), area.top(), drawing)

    return SheetPiece(height, lambda ink, x, y: ink.paint(x, y, room, height, paint))


def _put_rules(flow: _Flow, sheet: ComparisonSheet) -> None:
    """Place the appendix of rules, on separate pages."""
    if not sheet.trace:
        return
    flow.turn()
    room = flow.paper.inner_width
    table = PaperTable(build_trace_table(sheet, signed=False), room, _ARRANGEMENTS[-1].density)
    flow.put(format_trace_heading(room), _GAP)
    _put_rest(flow, table, _put_groups(flow, table, table.rows, 0.0))


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


def _make_charts(sheet: ComparisonSheet, room: float, height: float, formatter: Formatter) -> SheetPiece:
    """Return curves and bars side by side, or the ones that exist."""
    share = room * _CURVES
    rest = room - share - _BETWEEN
    pieces, steps = [], []
    if sheet.throughput:
        pieces.append(PaperThroughputChart(sheet, formatter).piece(share, height))
        steps.append(0.0)
    if sheet.memory:
        steps.append(room - rest if pieces else 0.0)
        pieces.append(PaperMemoryChart(sheet).piece(rest, height))
    return put_side_by_side(pieces, steps)


def _add_margins(
    sheet: ComparisonSheet, paper: Paper, pages: Sequence[Sequence[PlacedPiece]], profiles: Sequence[ProfileTables]
) -> Iterator[tuple[PlacedPiece, ...]]:
    room = paper.inner_width
    date = sheet.date or ""
    space = room - measure_width(date, "small") - 12
    title = make_paragraph(limit_lines(wrap_text(sheet.title, "group", space), 1, space), "group")

    def draw(ink: SheetPainter, x: float, y: float) -> None:
        title.draw(ink, x, y - 1)
        ink.text(x + room, y + 7, date, style="small", color="text2", align="right")
        make_rule(room, "hair", 0.5).draw(ink, x, y + 11)

    head = PlacedPiece(SIDE, TOP, SheetPiece(_RUNNING_HEAD, draw))
    whole = [(*([head] if number else []), *page) for number, page in enumerate(pages)]
    bottom = paper.bottom - _make_page_foot(sheet, paper, 1, 1).height
    whole += [page for tables in profiles for page in make_profile_pages(tables, paper, sheet.date or "", bottom)]
    for number, page in enumerate(whole):
        yield (*page, PlacedPiece(SIDE, bottom, _make_page_foot(sheet, paper, number + 1, len(whole))))


def _make_page_foot(sheet: ComparisonSheet, paper: Paper, number: int, count: int) -> SheetPiece:
    text = "  ·  ".join(f"{fact.label} {fact.value}" for fact in sheet.foot)
    lines = wrap_text(text, "small", paper.inner_width * _FOOT_SHARE, "text3")
    return make_foot(lines, number, count, paper.inner_width)
