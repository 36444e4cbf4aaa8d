"""The parallel plans of an estimate as text: those that matter, or a table of all."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gpudesk.cli.tables import hanging, table
from gpudesk.domain.formatting import UNKNOWN, Formatter
from gpudesk.domain.plans import PlanChoice, PlanOption
from gpudesk.sentences import plan_name, reasons_text
from gpudesk.sheets.plan_lines import plan_lines
from gpudesk.text import tr

_BULLET = "- "


def plan_table(
    choice: PlanChoice, formatter: Formatter, width: int, strong: Callable[[str], str]
) -> list[str]:
    """Return all plans that were looked at, one in a row, with their figures and reasons."""
    head = (tr("Plan"), tr("Output tok/s"), tr("TTFT ms"), tr("TPOT ms"), tr("Why, or why not"))
    rows = [_row(option, formatter) for option in choice.options]
    return table(head, rows, width, right=(1, 2, 3), strong=strong)


def _row(option: PlanOption, formatter: Formatter) -> tuple[str, ...]:
    figures = (option.output_tokens_per_s, option.ttft_ms, option.tpot_ms)
    shown = (UNKNOWN if each is None else formatter.estimate(each.value) for each in figures)
    reason = reasons_text(option.reasons, formatter)
    if option.taken:
        reason = tr("taken: {reason}", reason=reason)
    return (plan_name(option.plan), *shown, reason)


def plan_block(
    choice: PlanChoice, formatter: Formatter, width: int, strong: Callable[[str], str]
) -> Iterator[str]:
    """Yield why the plan was taken, the plans next to it, and how many there are besides; or nothing."""
    lines = plan_lines(choice, formatter)
    if lines is None:
        return
    yield strong(tr("Why this plan"))
    for plan in lines.shown:
        yield from hanging(_BULLET, plan.sentence, width)
    for group in lines.more:
        yield from hanging(_BULLET, group.label, width)
