"""Published figures near to one of an estimate as text, each with what was said of it unseen."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gpudesk.cli.tables import hanging
from gpudesk.domain.estimates import Estimate
from gpudesk.domain.formatting import Formatter
from gpudesk.domain.records import Record
from gpudesk.sheets.explanation_text import record_title
from gpudesk.sheets.record_lines import record_lines

_BULLET = "- "


def record_block(
    estimate: Estimate,
    figure: str,
    records: tuple[Record, ...],
    formatter: Formatter,
    width: int,
    strong: Callable[[str], str],
) -> Iterator[str]:
    """Yield the nearest published figures; nothing for a figure that nobody publishes."""
    found = record_lines(estimate, figure, records, formatter)
    if found is None:
        return
    yield strong(record_title(found))
    if found.remark is not None:
        yield from hanging("", f"{found.remark}.", width)
    for line in found.lines:
        text = ", ".join(part for part in (line.sentence, line.address) if part)
        yield from hanging(_BULLET, text, width)
