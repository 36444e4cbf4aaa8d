"""Lines of the panel that only decisions have: what becomes of each accelerator, why, and by which rules."""

from __future__ import annotations

from collections.abc import Iterator

from gpudesk.desktop.panel.node import Heading, Kind, Node, Remark, first_few, section
from gpudesk.sheets.explanation_decisions import DecisionLines, Finding, OutcomeLine, RulingLine

#: Findings that are remarks on what is in doubt, in a box with the sign of a verdict.
_JUDGED = ("undecided", "removed", "open")


def decision_nodes(decision: DecisionLines | None) -> Iterator[Node]:
    """Yield the lines of a decision."""
    if decision is None:
        return
    for place, line in enumerate(decision.outcomes):
        yield _outcome_node(place, line)
    for finding in decision.findings:
        yield from _finding_nodes(finding)
    if decision.rulings:
        yield section("rulings", decision.rulings_title)
    yield from first_few("ruling", decision.rulings, _ruling_node)


def _outcome_node(place: int, line: OutcomeLine) -> Node:
    return Node(Kind.OUTCOME, f"outcome.{place}", line, line.sentence)


def _finding_nodes(finding: Finding) -> Iterator[Node]:
    yield section(f"finding.{finding.key}", finding.title)
    judged = finding.key.split(".")[0] in _JUDGED
    for place, text in enumerate(finding.texts):
        key = f"finding.{finding.key}.{place}"
        if judged:
            yield Node(Kind.NOTE, key, Remark(text, "scale"), text)
        else:
            yield Node(Kind.SAID, key, Heading(text), text)


def _ruling_node(prefix: str, line: RulingLine) -> Node:
    key = f"{prefix}.{line.id}"
    below = tuple(
        Node(Kind.SAID, f"{key}.{place}", Heading(text), text) for place, text in enumerate(line.lines)
    )
    copied = "\n".join((line.sentence, *line.lines))
    return Node(Kind.RULING, key, line, line.sentence, copied, below)
