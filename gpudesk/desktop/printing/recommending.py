"""The recommendation on paper: verdict and reason beside how firm they are, and the lines behind them."""

from __future__ import annotations

from itertools import groupby
from typing import Final

from gpudesk.desktop.printing.columns import Entry, Section
from gpudesk.desktop.printing.ink import SWATCH, Ink
from gpudesk.desktop.printing.letters import Run, line_height, lines_of, width
from gpudesk.desktop.printing.pieces import Piece, beside, paragraph, rule, space, stacked
from gpudesk.domain.decisions import Effect
from gpudesk.sheets.rule_words import effect_mark, effect_text
from gpudesk.sheets.sheet import Recommendation, Share
from gpudesk.text import tr

#: Shares of the width that the verdict and how firm it is take.
_VERDICT: Final = 0.66
_FIRM: Final = 0.28
_BAR: Final = 7.0
#: White between the pieces of the bar.
_GAP: Final = 1.2
_HEADING: Final = 15.0


def recommending(found: Recommendation, room: float) -> Piece:
    """Return the verdict with its reason, and at the right in how many draws it holds."""
    left, right = room * _VERDICT, room * _FIRM
    question = paragraph(lines_of(tr("Recommendation"), "small_strong", left, "text3"), "small_strong")
    reason = paragraph(lines_of(found.reason, "body", left, "text2"), "body")
    firm = stacked(
        [
            space(line_height("small_strong") + 3),
            paragraph(lines_of(found.firm, "group", right), "group"),
            space(1.5),
            _bar(found.shares, right),
            paragraph(lines_of(found.shares_said, "small", right, "text2"), "small"),
        ]
    )
    verdict = stacked([question, space(1), _verdict(found, left), reason])
    return stacked([space(6), beside([verdict, firm], [0.0, room - right])])


def _verdict(found: Recommendation, room: float) -> Piece:
    lead = SWATCH + 5 if found.slot is not None else 0.0
    words = paragraph(lines_of(found.verdict, "verdict", room - lead), "verdict")
    step = line_height("verdict")

    def draw(ink: Ink, x: float, y: float) -> None:
        if found.slot is not None:
            ink.swatch(x, y + step / 2, found.slot, hollow=found.hollow)
        words.draw(ink, x + lead, y)

    return Piece(words.height, draw)


def _bar(shares: tuple[Share, ...], room: float) -> Piece:
    """Return the shares of the draws side by side; what is left of the width is of draws that leave none."""
    if not shares:
        return space(0.0)

    def draw(ink: Ink, x: float, y: float) -> None:
        at = x
        for each in shares:
            wide = max(each.share * room - _GAP, 0.4)
            ink.bar(at, y, wide, _BAR, each.slot)
            at += each.share * room

    return Piece(_BAR + 2.5, draw)


def recommendation_section(found: Recommendation) -> Section:
    """Return what there is to say of the recommendation, an entry for each line behind its subject."""
    entries = []
    for subject, lines in groupby(found.lines, key=lambda line: line.subject):
        for number, line in enumerate(lines):
            lead = (Run(f"{subject}: ", "small_strong"),) if number == 0 else ()
            entries.append(Entry((*lead, Run(f"{line.text}."))))
    return Section(tr("Recommendation"), tuple(entries))


def trace_heading(room: float) -> Piece:
    """Return the title of the trace with what its signs mean; what removes has a glyph and no letter."""
    title, removes = tr("Trace"), effect_text(Effect.REMOVES)
    others = "  ".join(
        f"{effect_mark(each)} {effect_text(each)}" for each in Effect if each is not Effect.REMOVES
    )
    across = rule(room, "hair", 0.5)

    def draw(ink: Ink, x: float, y: float) -> None:
        ink.text(x, y + 8.5, title, style="group", colour="text1")
        at = x + width(title, "group") + 16
        ink.glyph("unfit", at - 5, y + 6)
        ink.text(at + 3, y + 8.5, removes, style="small", colour="text2")
        ink.text(at + width(removes, "small") + 11, y + 8.5, others, style="small", colour="text2")
        across.draw(ink, x, y + 12.5)

    return Piece(_HEADING, draw)
