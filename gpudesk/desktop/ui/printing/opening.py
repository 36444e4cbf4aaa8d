"""The top of a sheet: title, assumptions, recommendation, answers to the headline questions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Final

from gpudesk.desktop.ui.printing.paper import (
    TextRun,
    limit_lines,
    measure_line_height,
    measure_width,
    wrap_runs,
    wrap_text,
)
from gpudesk.desktop.ui.printing.pieces import (
    SWATCH,
    SheetPainter,
    SheetPiece,
    find_first_baseline,
    make_paragraph,
    make_rule,
    make_space,
    put_side_by_side,
    stack_pieces,
)
from gpudesk.desktop.ui.printing.running_text import TextEntry, TextSection
from gpudesk.domain.decision import RuleEffect
from gpudesk.report.comparison.tables import (
    CellMarking,
    ComparisonSheet,
    Headline,
    LabeledValue,
    SheetCandidate,
    SheetRecommendation,
)
from gpudesk.report.decision.rules import get_effect_mark, label_effect
from gpudesk.text.translation import tr

#: Shares of the width that the verdict and the odds take.
_VERDICT: Final = 0.63
_ODDS: Final = 0.34
_BAR: Final = 1.8
_HEADING: Final = 15.0


def make_recommendation(recommendation: SheetRecommendation, room: float) -> SheetPiece:
    """Return the verdict with its reason, and beside it the odds of each candidate."""
    left, right = room * _VERDICT, room * _ODDS
    question = make_paragraph(wrap_text(tr("Recommendation"), "small_strong", left, "text3"), "small_strong")
    reason = make_paragraph(wrap_text(recommendation.reason, "body", left, "text2"), "body")
    odds = stack_pieces(
        [
            make_space(measure_line_height("small_strong") + 1),
            *(piece for each in recommendation.candidates for piece in (_candidate(each, right), make_space(1.5))),
        ]
    )
    verdict = stack_pieces([question, make_space(1), _verdict_piece(recommendation, left), reason])
    return stack_pieces([make_space(6), put_side_by_side([verdict, odds], [0.0, room - right])])


def _verdict_piece(recommendation: SheetRecommendation, room: float) -> SheetPiece:
    lead = SWATCH + 5 if recommendation.slot is not None else 0.0
    words = make_paragraph(wrap_text(recommendation.verdict, "verdict", room - lead), "verdict")
    step = measure_line_height("verdict")

    def draw(ink: SheetPainter, x: float, y: float) -> None:
        if recommendation.slot is not None:
            ink.swatch(x, y + step / 2, recommendation.slot, is_variant=recommendation.is_variant)
        words.draw(ink, x + lead, y)

    return SheetPiece(words.height, draw)


def _candidate(each: SheetCandidate, room: float) -> SheetPiece:
    """Return a line of what is compared with its odds, over a bar as long as they are."""
    line = measure_line_height("small")
    odds = measure_width(each.odds_text, "small_strong")
    text = tr("{deployment}: {value}", deployment=each.deployment, value=each.value)
    words = make_paragraph(wrap_text(text, "small", room - odds - 6), "small")

    def draw(ink: SheetPainter, x: float, y: float) -> None:
        words.draw(ink, x, y)
        baseline = y + find_first_baseline("small", line)
        ink.text(x + room, baseline, each.odds_text, style="small_strong", colour="text1", align="right")
        ink.bar(x, y + words.height + 0.5, max(each.odds * room, 0.4), _BAR, each.slot)

    return SheetPiece(words.height + 0.5 + _BAR, draw)


def make_recommendation_sections(recommendation: SheetRecommendation) -> tuple[TextSection, ...]:
    """Return what there is to say of the recommendation, a section for each subject."""
    return tuple(
        TextSection(subject, tuple(TextEntry((TextRun(f"{line.text}.", "body"),)) for line in lines))
        for subject, lines in groupby(recommendation.lines, key=lambda line: line.subject)
    )


def format_trace_heading(room: float) -> SheetPiece:
    """Return the title of the rules with what its signs mean; what removes has a glyph and no letter."""
    title, removes = tr("Rules"), label_effect(RuleEffect.REMOVES)
    others = "  ".join(
        f"{get_effect_mark(each)} {label_effect(each)}" for each in RuleEffect if each is not RuleEffect.REMOVES
    )
    across = make_rule(room, "hair", 0.5)

    def draw(ink: SheetPainter, x: float, y: float) -> None:
        ink.text(x, y + 8.5, title, style="group", colour="text1")
        at = x + measure_width(title, "group") + 16
        ink.glyph("unfit", at - 5, y + 6)
        ink.text(at + 3, y + 8.5, removes, style="small", colour="text2")
        ink.text(at + measure_width(removes, "small") + 11, y + 8.5, others, style="small", colour="text2")
        across.draw(ink, x, y + 12.5)

    return SheetPiece(_HEADING, draw)


_TITLE_LINES: Final = 2
_VERDICT_LINES: Final = 3
#: White between facts, and between headline answers.
_FACT_GAP: Final = 14.0
_ANSWER_GAP: Final = 14.0
#: What the glyph of a fault takes before its words.
_GLYPH: Final = 13.0
#: The note is read best in lines that are not too long.
_NOTE_SHARE: Final = 0.86


class SheetOpening:
    """Title, note, assumptions, recommendation and headline answers; says whether the note had room."""

    def __init__(self, sheet: ComparisonSheet, room: float, note_lines: int) -> None:
        """Set everything for a width; the note gets so many lines at the most."""
        note = wrap_text(sheet.note, "lead", room * _NOTE_SHARE, "text2")
        self.note_is_cut = len(note) > note_lines
        note_lines_shown = limit_lines(note, note_lines, room * _NOTE_SHARE)
        title = limit_lines(wrap_text(sheet.title, "title", room), _TITLE_LINES, room)
        pieces = [
            _brand(sheet, room),
            make_paragraph(title, "title"),
            *([make_space(1), make_paragraph(note_lines_shown, "lead")] if note_lines_shown else []),
            make_space(6),
            make_rule(room, "text1", 0.8),
            _facts(sheet.assumptions, room),
            make_rule(room, "hair", 0.5),
        ]
        # A recommendation says who leads itself, and a customer's sheet stays on one page.
        if sheet.verdict and sheet.recommendation is None:
            verdict = limit_lines(wrap_text(sheet.verdict, "verdict", room), _VERDICT_LINES, room)
            pieces += [make_space(5), make_paragraph(verdict, "verdict")]
        if sheet.recommendation is not None:
            pieces.append(make_recommendation(sheet.recommendation, room))
        faults = [headline for headline in sheet.headlines if headline.mark is CellMarking.FAILS]
        answers = [headline for headline in sheet.headlines if headline.mark is not CellMarking.FAILS]
        pieces += [_fault(headline, room) for headline in faults]
        if answers:
            pieces += [make_space(7), _answers(answers, room)]
        self.piece = stack_pieces(pieces)


def _brand(sheet: ComparisonSheet, room: float) -> SheetPiece:
    def draw(ink: SheetPainter, x: float, y: float) -> None:
        baseline = y + 7
        ink.text(x, baseline, "GPU Desk", style="group", colour="text1")
        start = x + measure_width("GPU Desk", "group") + 4
        ink.text(start, baseline, tr("Comparison sheet"), style="body", colour="text2")
        ink.text(x + room, baseline, sheet.date or "", style="body", colour="text2", align="right")

    return SheetPiece(16, draw)


def _facts(facts: Sequence[LabeledValue], room: float) -> SheetPiece:
    needed = [max(measure_width(fact.label, "small"), measure_width(fact.value, "body_strong")) for fact in facts]
    rows = [_fact_row(facts, needed, row, room) for row in _rows(needed, room)]
    return stack_pieces([make_space(4), *rows, make_space(2)])


def _rows(needed: Sequence[float], room: float) -> list[range]:
    """Return which facts share a row: as many as fit, and evenly many where it takes several rows."""
    for count in range(1, len(needed) + 1):
        each = -(-len(needed) // count)
        rows = [range(start, min(start + each, len(needed))) for start in range(0, len(needed), each)]
        if all(sum(needed[at] + _FACT_GAP for at in row) - _FACT_GAP <= room for row in rows):
            return rows
    return [range(at, at + 1) for at in range(len(needed))]


def _fact_row(facts: Sequence[LabeledValue], needed: Sequence[float], row: range, room: float) -> SheetPiece:
    spare = room - sum(needed[at] for at in row)
    gap = spare / max(1, len(row) - 1)
    places = []
    x = 0.0
    for at in row:
        places.append((x, facts[at]))
        x += needed[at] + gap

    def draw(ink: SheetPainter, left: float, y: float) -> None:
        for start, fact in places:
            ink.text(left + start, y + 7, fact.label, style="small", colour="text3")
            ink.text(left + start, y + 16.5, fact.value, style="body_strong", colour="text1")

    return SheetPiece(21, draw)


def _fault(headline: Headline, room: float) -> SheetPiece:
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
                ink.rule(middle, y + 1, middle, y + tallest - 1, colour="hair", width=0.5)
            piece.draw(ink, left, y)

    return SheetPiece(tallest, draw)


def _answer(headline: Headline, question: Sequence[SheetPiece], room: float) -> SheetPiece:
    detail = make_paragraph(wrap_text(headline.detail, "small", room, "text2"), "small")
    return stack_pieces([*question, make_space(1), _answer_verdict(headline, room), make_space(1), detail])


def _answer_verdict(headline: Headline, room: float) -> SheetPiece:
    winner = headline.winner
    lead = measure_width("≈ ", "verdict") if winner is None else SWATCH + 5
    step = measure_line_height("verdict")
    words = make_paragraph(wrap_text(headline.text, "verdict", room - lead), "verdict")

    def draw(ink: SheetPainter, x: float, y: float) -> None:
        if winner is not None:
            ink.swatch(x, y + step / 2, winner.slot, is_variant=winner.is_variant)
        else:
            ink.text(x, y + find_first_baseline("verdict", step), "≈", style="verdict", colour="text3")
        words.draw(ink, x + lead, y)

    return SheetPiece(words.height, draw)
