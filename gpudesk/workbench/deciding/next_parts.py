"""The part that could be waited for, and when it can be had."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpudesk.domain.accelerators import Accelerator
from gpudesk.domain.buying import NEWEST, WaitQuestion
from gpudesk.domain.messages import InputError, Message, message
from gpudesk.domain.ranges import Range
from gpudesk.workbench.deciding.release_dates import months_until, span_of

if TYPE_CHECKING:
    from gpudesk.catalog.queries import Catalog


def next_part_of(chosen: Accelerator, question: WaitQuestion, catalog: Catalog) -> Accelerator | None:
    """Return the part that is waited for: the one asked for, else the newest announced one, if any.

    Announced parts of the chosen part's vendor come first. Raises `InputError` for an unknown part, and for
    the chosen one.
    """
    if question.next_part is None:
        return None
    if question.next_part != NEWEST:
        if question.next_part == chosen.id:
            raise InputError(message("buying.same", accelerator=chosen.name), "next_part")
        return catalog.accelerator(question.next_part)
    announced = [each for each in catalog.accelerators() if each.announced and each.id != chosen.id]
    own = [each for each in announced if each.vendor == chosen.vendor]
    return max(own or announced, key=lambda each: _released(each, catalog), default=None)


def months_to_next(
    part: Accelerator | None, question: WaitQuestion, today: str, catalog: Catalog
) -> tuple[Range | None, Message | None]:
    """Return when a part can be had if nothing slips, and what that rests on where nobody stated it."""
    if part is None:
        return None, message("buying.no_next")
    if question.months_to_next is not None:
        return question.months_to_next, None
    if not part.announced:
        return Range.exactly(0.0), message("buying.shipping", accelerator=part.name)
    date = release_date(part, catalog)
    months = None if date is None else months_until(date, today)
    if date is None or months is None:
        return None, message("buying.no_date", accelerator=part.name)
    if months.high <= 0.0:
        return months, message("buying.overdue", accelerator=part.name, date=date)
    return months, message("buying.planned", accelerator=part.name, date=date, today=today)


def release_date(part: Accelerator, catalog: Catalog) -> str | None:
    """Return the date of release that the catalog prefers."""
    for attribute in catalog.attributes(part.id):
        if attribute.name == "release_date" and isinstance(attribute.value, str):
            return attribute.value
    return None


def _released(part: Accelerator, catalog: Catalog) -> float:
    date = release_date(part, catalog)
    span = None if date is None else span_of(date)
    return 0.0 if span is None else span[1]
