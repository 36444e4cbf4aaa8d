"""Lines of the panel that only facts of the catalog have: as printed, what is stated, what rests on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gpudesk.desktop.panel.node import Heading, Kind, Node, Remark, detail_nodes, first_few, section
from gpudesk.sheets.explanation import Explanation, StatementLine
from gpudesk.text import tr


def detail_section(explanation: Explanation) -> Iterator[Node]:
    """Yield by what the source of a price, a source or a statement can be found."""
    if explanation.details:
        yield section("details", tr("Source"))
        yield from detail_nodes(explanation.details, "detail")


def remark_nodes(explanation: Explanation) -> Iterator[Node]:
    """Yield whose choice it is, and where it is kept."""
    for place, text in enumerate(explanation.remarks):
        yield Node(Kind.NOTE, f"remark.{place}", Remark(text, "info"), text)


def statement_nodes(explanation: Explanation) -> Iterator[Node]:
    """Yield what the source documents say, as they print it."""
    if explanation.statements:
        yield section("statements", tr("As printed"), tr("statements of source documents"))
    yield from first_few("statement", explanation.statements, _statement_node)


def _statement_node(prefix: str, line: StatementLine) -> Node:
    key = f"{prefix}.{line.id}"
    return Node(Kind.STATEMENT, key, line, line.sentence, below=detail_nodes(line.details, key))


def stated_nodes(explanation: Explanation) -> Iterator[Node]:
    """Yield what a source states, folded by what it is about."""
    if explanation.stated:
        yield section("stated", tr("What it states"))
    for group in explanation.stated:
        key = f"stated.{group.key}"
        figures = detail_nodes(group.figures, key)
        more = (Node(Kind.GROUP, f"{key}.more", Heading(group.more), group.more),) if group.more else ()
        yield Node(Kind.STATED, key, group, group.label, below=(*figures, *more))


def use_nodes(explanation: Explanation) -> Iterator[Node]:
    """Yield what rests on a fact."""
    if explanation.uses:
        yield section("uses", tr("Used by"))
    for place, use in enumerate(explanation.uses):
        yield Node(Kind.USE, f"use.{place}", use, f"{use.name}, {use.role}")


#: In the order in which they are read, after claims and their reason.
AFTER_CLAIMS: tuple[Callable[[Explanation], Iterator[Node]], ...] = (
    remark_nodes,
    detail_section,
    statement_nodes,
    stated_nodes,
)
