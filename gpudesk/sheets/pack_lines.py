"""The facts of a catalog pack in words: what each says, and what is here in its place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from gpudesk.domain.claims import PURCHASE, ClaimValue, Preference, Source
from gpudesk.domain.formatting import Formatter, Quantity, quantity_of
from gpudesk.domain.own_facts import Key, OwnAccelerator, OwnClaim, OwnFact, OwnModel, OwnPrice
from gpudesk.domain.packs import Pack, PackRow, Standing, Trust
from gpudesk.sheets.claim_lines import label_alone
from gpudesk.sheets.labels import kind_label
from gpudesk.sheets.plain_text import one_line
from gpudesk.text import tr

_STANDINGS: Final = MappingProxyType(
    {
        Standing.NEW: "new",
        Standing.SAME: "as you have it",
        Standing.DIFFERS: "differs from yours",
        Standing.OVERRIDES: "instead of the shipped value",
        Standing.NO_ENTRY: "no such entry here",
        Standing.NO_CLAIM: "the claim that it takes is not here",
        Standing.UNFIT: "the entry has no such attribute",
        Standing.TAKEN: "another entry has its id",
    }
)


@dataclass(frozen=True, slots=True)
class PackLine:
    """One row of the preview: what it is about, what the pack says, what the user and the catalog say.

    What there is nothing of is empty. `standing` is how the first stands to the others.
    """

    key: Key
    label: str
    theirs: str
    yours: str
    shipped: str
    standing: str


def pack_lines(pack: Pack, rows: Sequence[PackRow], formatter: Formatter) -> tuple[PackLine, ...]:
    """Return the rows of a preview in words, each text in one line."""
    sources = {fact.id: fact for fact in pack.facts if isinstance(fact, Source)}
    return tuple(_line(row, sources, formatter) for row in rows)


def _line(row: PackRow, sources: dict[str, Source], formatter: Formatter) -> PackLine:
    shipped = ""
    if row.shipped is not None:
        shipped = _with_source(_figure(row, row.shipped.value, formatter), row.shipped.source)
    return PackLine(
        key=row.key,
        label=one_line(_label(row)),
        theirs=one_line(_with_source(_said(row, row.fact, formatter), _source(row.fact, sources))),
        yours="" if row.yours is None else one_line(_said(row, row.yours, formatter)),
        shipped=one_line(shipped),
        standing=tr(_STANDINGS[row.standing]),
    )


def _label(row: PackRow) -> str:
    fact = row.fact
    if isinstance(fact, OwnClaim):
        return f"{row.name}: {label_alone(fact.attribute)}"
    if isinstance(fact, Preference):
        return tr("{thing}: {attribute}, chosen", thing=row.name, attribute=label_alone(fact.attribute))
    if isinstance(fact, OwnPrice):
        return tr("{thing}: price", thing=row.name)
    if isinstance(fact, Source):
        return tr("Source {title}", title=fact.title)
    kind = tr("Accelerator") if isinstance(fact, OwnAccelerator) else tr("Model")
    return f"{kind} {row.name}"


def _said(row: PackRow, fact: OwnFact, formatter: Formatter) -> str:
    """Return what a fact states."""
    if isinstance(fact, OwnClaim | Preference):
        return _figure(row, fact.value, formatter)
    if isinstance(fact, OwnPrice):
        return _price(fact, formatter)
    if isinstance(fact, OwnAccelerator):
        return ", ".join((fact.id, fact.vendor, tr("announced") if fact.announced else tr("shipping")))
    if isinstance(fact, OwnModel):
        return f"{fact.id}, {fact.organisation}"
    return ", ".join(filter(None, (fact.publisher, kind_label(fact.kind), fact.date, fact.url)))


def _figure(row: PackRow, value: ClaimValue, formatter: Formatter) -> str:
    attribute = row.key[2]
    if isinstance(value, str | bool | tuple) or value is None:
        return formatter.catalog(value, Quantity.TEXT)
    return formatter.catalog_with_unit(value, quantity_of(attribute, row.unit), attribute)


def _price(price: OwnPrice, formatter: Formatter) -> str:
    once = price.term == PURCHASE
    amounts = dict.fromkeys(
        formatter.number(amount, 0 if once else 2)
        for amount in ((price.usd,) if price.usd is not None else (price.usd_low, price.usd_high))
        if amount is not None
    )
    unit = "USD" if once else "USD/h"
    words = (f"{' – '.join(amounts)} {unit}", price.term, price.provider, price.region, price.date)
    return ", ".join(word for word in words if word)


def _source(fact: OwnFact, sources: dict[str, Source]) -> Source | None:
    return sources.get(fact.source) if isinstance(fact, OwnClaim | OwnPrice) else None


def _with_source(said: str, source: Source | None) -> str:
    return said if source is None else tr("{figure} by {source}", figure=said, source=source.title)


def signer_text(pack: Pack, trust: Trust, fingerprint: str, known_as: str | None = None) -> str:
    """Return who stands for a pack; `known_as` is the name that the user knows a trusted signer by."""
    if pack.signature is None or trust is Trust.UNSIGNED:
        return tr("Not signed: nobody vouches for it. That it is whole is checked all the same.")
    name = one_line(pack.signature.name)
    if trust is Trust.KNOWN:
        return tr("Signed by {name}, whom you trust.", name=one_line(known_as or name))
    return tr(
        "Signed by {name}, whom you do not know yet. Compare the fingerprint with the signer: {fingerprint}.",
        name=name,
        fingerprint=fingerprint,
    )
