"""The top of a sheet: title and note, assumptions, recommendation, answers to the headline questions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gpudesk.desktop.printing.ink import SWATCH, Ink
from gpudesk.desktop.printing.letters import Run, at_most, line_height, lines_of, width, wrapped
from gpudesk.desktop.printing.pieces import Piece, first_baseline, paragraph, rule, space, stacked
from gpudesk.desktop.printing.recommending import recommending
from gpudesk.sheets.sheet import Fact, Headline, Mark, Sheet
from gpudesk.text import tr

_TITLE_LINES: Final = 2
#: White between facts, and between headline answers.
_FACT_GAP: Final = 14.0
_ANSWER_GAP: Final = 14.0
#: What the glyph of a fault takes before its words.
_GLYPH: Final = 13.0
#: The note is read best in lines that are not too long.
_NOTE_SHARE: Final = 0.86


class Opening:
    """Title, note, assumptions, recommendation and headline answers; says whether the note had room."""

    def __init__(self, sheet: Sheet, room: float, note_lines: int) -> None:
        """Set everything for a width; the note gets so many lines at the most."""
        note = lines_of(sheet.note, "lead", room * _NOTE_SHARE, "text2")
        self.note_is_cut = len(note) > note_lines
        shown = at_most(note, note_lines, room * _NOTE_SHARE)
        title = at_most(lines_of(sheet.title, "title", room), _TITLE_LINES, room)
        pieces = [
            _brand(sheet, room),
            paragraph(title, "title"),
            *([space(1), paragraph(shown, "lead")] if shown else []),
            space(6),
            rule(room, "text1", 0.8),
            _facts(sheet.assumptions, room),
            rule(room, "hair", 0.5),
        ]
        if sheet.recommendation is not None:
            pieces.append(recommending(sheet.recommendation, room))
        faults = [headline for headline in sheet.headlines if headline.mark is Mark.FAILS]
        answers = [headline for headline in sheet.headlines if headline.mark is not Mark.FAILS]
        pieces += [_fault(headline, room) for headline in faults]
        if answers:
            pieces += [space(7), _answers(answers, room)]
        self.piece = stacked(pieces)


def _brand(sheet: Sheet, room: float) -> Piece:
    def draw(ink: Ink, x: float, y: float) -> None:
        baseline = y + 7
        ink.text(x, baseline, "GPU Desk", style="group", colour="text1")
        start = x + width("GPU Desk", "group") + 4
        ink.text(start, baseline, tr("Comparison sheet"), style="body", colour="text2")
        ink.text(x + room, baseline, sheet.date or "", style="body", colour="text2", align="right")

    return Piece(16, draw)


def _facts(facts: Sequence[Fact], room: float) -> Piece:
    """Return captions over values in as few rows as they take, spread over the width."""
    needed = [max(width(fact.label, "small"), width(fact.value, "body_strong")) for fact in facts]
    rows = [_fact_row(facts, needed, row, room) for row in _rows(needed, room)]
    return stacked([space(4), *rows, space(2)])


def _rows(needed: Sequence[float], room: float) -> list[range]:
    """Return which facts share a row: as many as fit, and evenly many where it takes several rows."""
    for count in range(1, len(needed) + 1):
        each = -(-len(needed) // count)
        rows = [range(start, min(start + each, len(needed))) for start in range(0, len(needed), each)]
        if all(sum(needed[at] + _FACT_GAP for at in row) - _FACT_GAP <= room for row in rows):
            return rows
    return [range(at, at + 1) for at in range(len(needed))]


def _fact_row(facts: Sequence[Fact], needed: Sequence[float], row: range, room: float) -> Piece:
    spare = room - sum(needed[at] for at in row)
    gap = spare / max(1, len(row) - 1)
    places = []
    x = 0.0
    for at in row:
        places.append((x, facts[at]))
        x += needed[at] + gap

    def draw(ink: Ink, left: float, y: float) -> None:
        for start, fact in places:
            ink.text(left + start, y + 7, fact.label, style="small", colour="text3")
            ink.text(left + start, y + 16.5, fact.value, style="body_strong", colour="text1")

    return Piece(21, draw)


def _fault(headline: Headline, room: float) -> Piece:
    """Return what does not fit and what helps, on lines of its own above the answers."""
    runs = (Run(f"{headline.answer}. ", "head", "unfit"), Run(f"{headline.detail}.", "lead", "text1"))
    words = paragraph(wrapped(runs, room - _GLYPH), "lead")

    def draw(ink: Ink, x: float, y: float) -> None:
        ink.glyph("unfit", x + 4.5, y + 6 + line_height("lead") / 2)
        words.draw(ink, x + _GLYPH, y + 6)

    return Piece(words.height + 6, draw)


def _answers(headlines: Sequence[Headline], room: float) -> Piece:
    """Return the questions side by side, each with its answer and the figures behind it."""
    column = (room - _ANSWER_GAP * (len(headlines) - 1)) / len(headlines)
    made = [_answer(headline, column) for headline in headlines]
    tallest = max(piece.height for piece in made)

    def draw(ink: Ink, x: float, y: float) -> None:
        for number, piece in enumerate(made):
            left = x + number * (column + _ANSWER_GAP)
            if number:
                middle = left - _ANSWER_GAP / 2
                ink.rule(middle, y + 1, middle, y + tallest - 1, colour="hair", width=0.5)
            piece.draw(ink, left, y)

    return Piece(tallest, draw)


def _answer(headline: Headline, room: float) -> Piece:
    question = paragraph(lines_of(headline.question, "small_strong", room, "text3"), "small_strong")
    detail = paragraph(lines_of(headline.detail, "small", room, "text2"), "small")
    return stacked([question, space(1), _verdict(headline, room), space(1), detail])


def _verdict(headline: Headline, room: float) -> Piece:
    """Return the winner with its swatch, or what there is instead, with the sign for it."""
    lead = SWATCH + 5 if headline.slot is not None else width("≈ ", "verdict")
    step = line_height("verdict")
    words = paragraph(lines_of(headline.answer, "verdict", room - lead), "verdict")

    def draw(ink: Ink, x: float, y: float) -> None:
        if headline.slot is not None:
            ink.swatch(x, y + step / 2, headline.slot, hollow=headline.hollow)
        else:
            ink.text(x, y + first_baseline("verdict", step), "≈", style="verdict", colour="text3")
        words.draw(ink, x + lead, y)

    return Piece(words.height, draw)
