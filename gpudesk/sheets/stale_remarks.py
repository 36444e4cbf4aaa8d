"""What a sheet remarks on the age of the facts that it shows."""

from __future__ import annotations

from collections.abc import Iterator

from gpudesk.domain.answers import Answer, Column
from gpudesk.sheets.ages import STALE_FACT_DAYS, STALE_PRICE_DAYS, age_days, age_text
from gpudesk.sheets.claim_lines import label_alone
from gpudesk.sheets.sheet import Remark
from gpudesk.sheets.specs import PRICE, SHOWN
from gpudesk.text import tr


def stale_remarks(
    answer: Answer,
    names: tuple[str, ...],
    today: str,
    price_days: int = STALE_PRICE_DAYS,
    fact_days: int = STALE_FACT_DAYS,
) -> tuple[Remark, ...]:
    """Return a remark for each part of which a price or another fact that is shown is too old, by its source.

    `today` is the day of the sheet in ISO form.
    """
    found: dict[str, list[str]] = {}
    for name, column in zip(names, answer.columns, strict=True):
        for text in _of_column(column, today, price_days, fact_days):
            subjects = found.setdefault(text, [])
            if name not in subjects:
                subjects.append(name)
    return tuple(Remark(", ".join(subjects), text) for text, subjects in found.items())


def _of_column(column: Column, today: str, price_days: int, fact_days: int) -> Iterator[str]:
    price = _age(column, PRICE[0], today)
    if price is not None and price > price_days:
        yield tr("The purchase price is {age} old.", age=age_text(price))
    ages = {
        name: age
        for name in column.attributes
        if name in SHOWN and name not in PRICE and (age := _age(column, name, today)) is not None
    }
    old = sorted({label_alone(name) for name, age in ages.items() if age > fact_days})
    if old:
        yield tr("Sources older than {n} days: {figures}.", n=fact_days, figures="; ".join(old))


def _age(column: Column, name: str, today: str) -> int | None:
    """Return how many days ago the source of a value dates itself; None where that is not known."""
    attribute = column.attributes.get(name)
    claim = None if attribute is None else attribute.preferred
    return None if claim is None else age_days(claim.source.date, today)
