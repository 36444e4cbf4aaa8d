"""A decision as text: the recommendation, what speaks for and against it, what would change it, the trace."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby

from gpudesk.cli.decide_trace import trace_lines
from gpudesk.cli.tables import hanging, wrapped
from gpudesk.domain.decisions import Decision, Flip
from gpudesk.domain.formatting import Formatter
from gpudesk.sheets.decision_words import firmness, shares_text, verdict_reason, verdict_title
from gpudesk.sheets.recommendation import recommendation_lines
from gpudesk.text import tr

Strong = Callable[[str], str]


def decision_lines(
    decision: Decision, flips: Sequence[Flip], names: Mapping[str, str], width: int, strong: Strong
) -> Iterator[str]:
    """Yield the verdict, how firm it is, reasons, exclusions, advice, changes, and every rule that fired."""
    formatter = Formatter()
    for line in wrapped(verdict_title(decision, names, formatter), width):
        yield strong(line)
    yield from wrapped(verdict_reason(decision, names, formatter), width)
    yield from wrapped(_firm(decision, names), width)
    lines = recommendation_lines(decision, flips, names, formatter)
    for subject, said in groupby(lines, key=lambda line: line.subject):
        yield ""
        yield strong(subject)
        for each in said:
            yield from hanging("  ", f"{each.text}.", width)
    yield ""
    yield from trace_lines(decision, names, formatter, width, strong)


def _firm(decision: Decision, names: Mapping[str, str]) -> str:
    shares, firm = shares_text(decision, names), firmness(decision, names)
    return tr("{firm}: {shares}.", firm=firm, shares=shares) if shares else f"{firm}."
