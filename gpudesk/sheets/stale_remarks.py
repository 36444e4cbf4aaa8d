"""What a sheet remarks on the age of the facts that it shows."""

from __future__ import annotations

from gpudesk.domain.age_rule import AgeRule
from gpudesk.domain.answers import Answer, Column
from gpudesk.domain.claims import PRICE_ENDS
from gpudesk.sheets.ages import age_days, age_text
from gpudesk.sheets.claim_lines import label_alone
from gpudesk.sheets.sheet import Remark
from gpudesk.sheets.specs import SHOWN
from gpudesk.text import tr


def stale_remarks(answer: Answer, names: tuple[str, ...], today: str, rule: AgeRule) -> tuple[Remark, ...]:
    """Return a remark where prices or other facts that are shown are stale, by the dates of their sources.

    `today` is the day of the sheet in ISO form.
    """
    prices, facts = [], []
    for name, column in dict(zip(names, answer.columns, strict=True)).items():
        price = _age(column, PRICE_ENDS[0], today)
        if price is not None and price > rule.prices:
            prices.append(f"{name} ({age_text(price)})")
        old = [
            label_alone(attribute)
            for attribute in column.attributes
            if attribute in SHOWN
            and attribute not in PRICE_ENDS
            and (_age(column, attribute, today) or 0) > rule.facts
        ]
        if old:
            facts.append(f"{name} ({'; '.join(old)})")
    said = []
    if prices:
        said.append(tr("Old purchase prices: {parts}", parts=", ".join(prices)))
    if facts:
        said.append(tr("Sources older than {n} days: {parts}", n=rule.facts, parts=", ".join(facts)))
    return (Remark("", ". ".join(said)),) if said else ()


def _age(column: Column, name: str, today: str) -> int | None:
    """Return how many days ago the source of a value dates itself; None where that is not known."""
    attribute = column.attributes.get(name)
    claim = None if attribute is None else attribute.preferred
    return None if claim is None else age_days(claim.source.date, today)
