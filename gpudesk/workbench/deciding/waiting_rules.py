"""What rules of the source documents say of buying now or waiting."""

from __future__ import annotations

from typing import Final

from gpudesk.domain.buying import LATE_MONTHS, SOON_MONTHS, USUAL_SLIP, RuleSays, Verdict, WaitQuestion
from gpudesk.domain.messages import message
from gpudesk.workbench.deciding.release_dates import year_after

#: Infrastructure planned for this year or later is told to compare figures and cost alone (D000-26).
_LEVEL_SOFTWARE: Final = 2027


def rules_on_waiting(
    question: WaitQuestion, today: str, next_name: str | None = None
) -> tuple[RuleSays, ...]:
    """Return what D002-16, D002-18, D002-19, D003-25 and D000-26 say to a question.

    `next_name` is the part that could be waited for, if any.
    """
    said = [_launch(question.months_to_launch)]
    if question.tuned_for_next and next_name is not None:
        tuned = message("buying.tuned", accelerator=next_name)
        said.append(RuleSays("D002-18", Verdict.WAIT, tuned, strong=True))
    said.append(_slip(question))
    said.append(_live(question.months_to_launch))
    year = year_after(today, question.months_to_launch)
    if year is not None and year >= _LEVEL_SOFTWARE:
        said.append(RuleSays("D000-26", None, message("buying.level_software", year=str(year))))
    elif year is not None:
        said.append(RuleSays("D000-26", None, message("buying.weigh_software", year=str(year))))
    return tuple(said)


def _launch(months: float) -> RuleSays:
    """D002-16: a launch that is near is for buying, one that is far for waiting; between it says nothing."""
    if months < SOON_MONTHS:
        said = message("buying.launch_soon", months=round(SOON_MONTHS))
        return RuleSays("D002-16", Verdict.BUY, said, strong=True)
    if months >= LATE_MONTHS:
        said = message("buying.launch_late", months=round(LATE_MONTHS))
        return RuleSays("D002-16", Verdict.WAIT, said, strong=True)
    said = message("buying.launch_between", soon=round(SOON_MONTHS), late=round(LATE_MONTHS))
    return RuleSays("D002-16", None, said, strong=True)


def _slip(question: WaitQuestion) -> RuleSays:
    """D002-19: who has not priced a slip is told to buy."""
    if question.slip_months is None:
        said = message("buying.slip_assumed", months=round(USUAL_SLIP.high))
        return RuleSays("D002-19", Verdict.BUY, said)
    return RuleSays("D002-19", None, message("buying.slip_stated"))


def _live(months: float) -> RuleSays:
    """D003-25: what runs already is for buying; anything else is looked at again at the release."""
    if months <= 0.0:
        return RuleSays("D003-25", Verdict.BUY, message("buying.live"), strong=True)
    return RuleSays("D003-25", None, message("buying.not_live"), strong=True)
