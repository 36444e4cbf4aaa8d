"""What one source states, by the things that it is about."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Protocol

from gpudesk.domain.claims import PURCHASE, Attribute, Price, Source
from gpudesk.domain.formatting import UNKNOWN, Formatter, Quantity, display_unit
from gpudesk.domain.things import Thing
from gpudesk.sheets.catalog_words import word
from gpudesk.sheets.claim_lines import label_alone
from gpudesk.sheets.explanation import Detail, StatedGroup
from gpudesk.sheets.specs import claim_text
from gpudesk.text import tr

#: Figures of one thing that are listed, and things; the lists have them all.
_MOST: Final = 60
_MOST_GROUPS: Final = 60


class StatedFacts(Protocol):
    """What is looked through."""

    def things(self) -> tuple[Thing, ...]:
        """Return all entries."""

    def attributes(self, thing_id: str) -> tuple[Attribute, ...]:
        """Return all attributes of an entry."""

    def prices(self) -> tuple[Price, ...]:
        """Return all prices."""


def price_text(price: Price, formatter: Formatter) -> tuple[str, str | None]:
    """Return a price or the ends between which it lies, and its unit."""
    quantity = Quantity.USD if price.term == PURCHASE else Quantity.USD_PER_HOUR
    ends = (price.usd_low, price.usd_high) if price.usd is None else (price.usd,)
    stated = [formatter.catalog(end, quantity) for end in ends if end is not None]
    return " – ".join(dict.fromkeys(stated)) or UNKNOWN, display_unit(quantity)


def stated_groups(
    facts: StatedFacts, source: Source, formatter: Formatter
) -> tuple[int, tuple[StatedGroup, ...]]:
    """Return how many figures a source states, and these by thing, as many as are read with patience."""
    prices: dict[str, list[Detail]] = {}
    for price in facts.prices():
        if price.source.id == source.id:
            label = ", ".join(part for part in (word(price.term), price.provider, price.region) if part)
            text, unit = price_text(price, formatter)
            prices.setdefault(price.accelerator or "", []).append(Detail(label, f"{text} {unit}"))
    found: dict[tuple[str, str], list[Detail]] = {}
    for thing in facts.things():
        stated = [*_claims(facts, thing.id, source, formatter), *prices.pop(thing.id, ())]
        if stated:
            found[thing.id, thing.name] = stated
    others = [detail for stated in prices.values() for detail in stated]
    if others:
        found["", tr("Other parts")] = others
    groups = [_group(key, label, stated) for (key, label), stated in found.items()]
    return sum(map(len, found.values())), tuple(groups[:_MOST_GROUPS])


def _claims(facts: StatedFacts, thing: str, source: Source, formatter: Formatter) -> Iterator[Detail]:
    for attribute in facts.attributes(thing):
        for claim in attribute.claims:
            if claim.source.id == source.id:
                said = claim_text(attribute, claim.value, formatter)
                yield Detail(
                    label_alone(attribute.name),
                    said if claim.preferred else tr("{value}, not taken", value=said),
                )


def _group(key: str, label: str, found: list[Detail]) -> StatedGroup:
    left = len(found) - _MOST
    more = tr("and {n} more", n=left) if left > 0 else ""
    return StatedGroup(key, f"{label} ({len(found)})", tuple(found[:_MOST]), more)
