"""Why a parallel plan was taken and the others were not, in words."""

from __future__ import annotations

from typing import Final

from gpudesk.domain.estimates import Banded
from gpudesk.domain.formatting import UNKNOWN, Formatter
from gpudesk.domain.plans import PlanChoice, PlanOption
from gpudesk.sentences import plan_name, reasons_text
from gpudesk.sheets.explanation import PlanGroup, PlanLine, PlanLines
from gpudesk.sheets.labels import FIGURE_UNITS
from gpudesk.text import trn

#: Plans that fit and are shown at once, that of the estimate among them.
_SHOWN: Final = 4


def plan_lines(choice: PlanChoice, formatter: Formatter) -> PlanLines | None:
    """Return the plans that were looked at; None where there was no choice, or none fits."""
    if choice.taken is None or not choice.searched:
        return None
    fitting = [option for option in choice.options if option.fits]
    groups = (
        _group("slower", fitting[_SHOWN:], formatter),
        _group("unfit", [option for option in choice.options if option.fits is False], formatter),
        _group("untried", [option for option in choice.options if option.fits is None], formatter),
    )
    return PlanLines(
        shown=tuple(plan_line(option, formatter) for option in fitting[:_SHOWN]),
        more=tuple(group for group in groups if group.plans),
    )


def plan_line(option: PlanOption, formatter: Formatter) -> PlanLine:
    """Return one plan in words."""
    rate = option.output_tokens_per_s
    return PlanLine(
        name=plan_name(option.plan),
        figure=UNKNOWN if rate is None else formatter.estimate(rate.value),
        unit=None if rate is None else FIGURE_UNITS["output_tokens_per_s"],
        reason=reasons_text(option.reasons, formatter),
        latency=", ".join(
            text
            for text in (
                _figure("TTFT", option.ttft_ms, formatter),
                _figure("TPOT", option.tpot_ms, formatter),
            )
            if text
        ),
        taken=option.taken,
    )


def _figure(name: str, value: Banded | None, formatter: Formatter) -> str:
    return "" if value is None else f"{name} {formatter.quantity(value.value, 'ms')}"


def _group(key: str, options: list[PlanOption], formatter: Formatter) -> PlanGroup:
    count = len(options)
    label = {
        "slower": trn("{n} slower plan", "{n} slower plans", count),
        "unfit": trn("{n} plan that does not fit", "{n} plans that do not fit", count),
        "untried": trn("{n} plan not tried", "{n} plans not tried", count),
    }[key]
    return PlanGroup(key, label, tuple(plan_line(option, formatter) for option in options))


def plan_reason(choice: PlanChoice, formatter: Formatter) -> str | None:
    """Return in a line why the plan was taken; None where there was no choice."""
    taken = choice.taken
    return reasons_text(taken.reasons, formatter) if taken is not None and choice.searched else None
