"""Rows of the lists of the catalog, one after the other, so that they can be made in pieces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from gpudesk.catalog.queries import Catalog
from gpudesk.domain.catalog_tables import CatalogRow, CatalogTable, CellMark, CellValue, Section
from gpudesk.domain.claims import AGREES, PURCHASE, Attribute, Claim, Price, SeedClaim, Stance
from gpudesk.domain.things import Thing, ThingKind
from gpudesk.workbench.catalog_columns import COLUMNS, marked
from gpudesk.workbench.catalog_own_rows import own_rows
from gpudesk.workbench.catalog_things import accelerator_rows, diffusion_rows, model_rows
from gpudesk.workbench.own_checks import NO_PUBLISHER

#: Names of what refuses a statement without being one.
AUTHORITIES: Final = MappingProxyType({"ARITHMETIC": "arithmetic", "PUBLIC-RECORD": "public_record"})
#: The kinds of things whose attributes are listed claim by claim.
_KINDS: Final = (ThingKind.ACCELERATOR, ThingKind.MODEL, ThingKind.DIFFUSION_MODEL, ThingKind.SERVING_ENGINE)

Rows = Iterator[CatalogRow | None]


def catalog_table(section: Section, catalog: Catalog) -> CatalogTable:
    """Return a whole section."""
    rows = tuple(row for row in catalog_rows(section, catalog) if row is not None)
    return CatalogTable(section, COLUMNS[section], rows)


def catalog_rows(section: Section, catalog: Catalog) -> Rows:
    """Yield the rows of a section in the order of the catalog, and None where a row takes longer."""
    return _MAKERS[section](catalog)


# Prices


def _price_rows(catalog: Catalog) -> Rows:
    names = {thing.id: thing for thing in catalog.things(ThingKind.ACCELERATOR)}
    # All prices of one part together, parts in the order of their list.
    order = {thing: place for place, thing in enumerate(names)}
    prices = sorted(catalog.prices(), key=lambda price: order.get(price.accelerator or "", len(order)))
    gone = {waiting.price.id: waiting for waiting in catalog.waiting if waiting.price is not None}
    for price in prices:
        row = _price_row(price, names.get(price.accelerator or ""))
        yield replace(row, waits=gone[price.id]) if price.own and price.id in gone else row


def _only(names: Sequence[str]) -> str | None:
    """Return the one name there is; None where there is none or several."""
    return names[0] if len(names) == 1 else None


def _named(publisher: str) -> str | None:
    """Return who publishes a source; None where that is not known."""
    return publisher if publisher not in ("", NO_PUBLISHER) else None


def _price_row(price: Price, part: Thing | None) -> CatalogRow:
    amount = _amount(price)
    provider = price.provider or _named(price.source.publisher)
    rented = price.term != PURCHASE
    marks = [0] * len(COLUMNS[Section.PRICES])
    if price.own:
        marks[2 if rented else 3] = CellMark.OWN
    return CatalogRow(
        key=price.id,
        values=(
            part.name if part is not None else price.accelerator,
            price.term,
            amount if rented else None,
            None if rented else amount,
            provider,
            price.region,
            price.date,
            price.date,
            price.kind.value,
            price.source.title,
            price.instance,
            price.basis,
        ),
        marks=tuple(marks) if price.own else (),
        thing=price.accelerator,
        maker=provider,
        kinds=(price.kind,),
        date=price.date,
        own=price.own,
        item=price,
    )


def _amount(price: Price) -> CellValue:
    """Return the price, or the ends between which it lies."""
    if price.usd is not None:
        return price.usd
    ends = [end for end in (price.usd_low, price.usd_high) if end is not None]
    return (min(ends), max(ends)) if len(set(ends)) > 1 else ends[0] if ends else None


# Claims


def _claim_rows(catalog: Catalog) -> Rows:
    for kind in _KINDS:
        for thing in catalog.things(kind):
            for attribute in catalog.attributes(thing.id):
                for number, claim in enumerate(attribute.claims):
                    yield _claim_row(thing, attribute, number, claim)
    judged = {claim for dispute in catalog.disputes() for claim in (dispute.claim_a, dispute.claim_b)}
    for statement in catalog.seed_claims():
        if not _is_claim(statement):
            yield _statement_row(statement, judged=statement.id in judged)


def _is_claim(statement: SeedClaim) -> bool:
    """Whether a statement is listed already, as a claim about an attribute."""
    return bool(statement.things and statement.attributes)


def _said_of(attribute: Attribute, claim: Claim) -> str | None:
    """Return the verdict on a claim, without the word that its stance says already."""
    verdict = attribute.verdict(claim)
    return verdict.removeprefix(AGREES).lstrip(":;, ") or None if verdict is not None else None


def _claim_row(thing: Thing, attribute: Attribute, number: int, claim: Claim) -> CatalogRow:
    date = claim.source.date
    stands = attribute.stance(claim)
    return CatalogRow(
        key=f"{thing.id}/{attribute.name}/{claim.source.id}/{number}",
        values=(
            thing.name,
            attribute.name,
            claim.value,
            attribute.unit,
            stands.value,
            claim.source.title,
            claim.kind.value,
            date,
            date or claim.retrieved,
            _said_of(attribute, claim),
            claim.published,
            claim.conditions,
            claim.retrieved,
            ", ".join(claim.statements) or None,
        ),
        marks=_OWN_CLAIM if claim.own else (),
        thing=thing.id,
        attribute=attribute.name,
        unit=attribute.unit,
        maker=thing.maker,
        kinds=(claim.kind,),
        date=date or claim.retrieved,
        disputed=stands in (Stance.DIFFERS, Stance.REFUSED),
        own=claim.own,
        item=claim,
    )


_OWN_CLAIM: Final = marked(Section.CLAIMS, "value", CellMark.OWN)


def _statement_row(statement: SeedClaim, *, judged: bool) -> CatalogRow:
    """Return the row of a statement that is about no attribute of the catalog."""
    source = statement.source
    value = statement.value
    if statement.value_high is not None and statement.value_high != value:
        value = f"{value} – {statement.value_high}"
    return CatalogRow(
        key=statement.id,
        values=(
            statement.subject,
            statement.attribute,
            value,
            statement.unit,
            Stance.DIFFERS.value if judged else None,
            source.title,
            source.kind.value,
            source.date or statement.as_of,
            source.date or statement.as_of,
            None,
            None,
            statement.conditions,
            None,
            statement.id,
        ),
        thing=_only(statement.things),
        unit=statement.unit,
        maker=_named(source.publisher),
        kinds=(source.kind,),
        date=source.date,
        disputed=judged,
        item=statement,
    )


# Disputes


def _dispute_rows(catalog: Catalog) -> Rows:
    for dispute in catalog.disputes():
        against = AUTHORITIES.get(dispute.claim_b or "", "claim" if dispute.claim_b else None)
        claims = [each for each in (dispute.claim_a, dispute.claim_b) if each and each not in AUTHORITIES]
        yield CatalogRow(
            key=dispute.id,
            values=(
                dispute.subject,
                _only(dispute.attributes) or dispute.attribute,
                dispute.disagreement,
                dispute.verdict,
                dispute.reason,
                against,
                ", ".join(claims) or None,
                dispute.id,
            ),
            thing=_only(dispute.things),
            attribute=_only(dispute.attributes),
            disputed=True,
            item=dispute,
        )


# Sources


def _source_rows(catalog: Catalog) -> Rows:
    counted: Counter[str] = Counter()
    for counts in _claims_by_source(catalog):
        counted.update(counts)
        yield None
    for source in catalog.sources():
        yield CatalogRow(
            key=source.id,
            values=(
                source.title,
                _named(source.publisher),
                source.kind.value,
                source.date,
                source.date,
                counted[source.id],
                source.trust,
                source.url,
                source.id,
            ),
            maker=_named(source.publisher),
            kinds=(source.kind,),
            date=source.date,
            own=source.own,
            item=source,
        )


def _claims_by_source(catalog: Catalog) -> Iterator[Counter[str]]:
    """Yield counts of claims, results, statements and prices by the id of their source, piece by piece."""
    for thing in catalog.things():
        claims = (claim for attribute in catalog.attributes(thing.id) for claim in attribute.claims)
        yield Counter(claim.source.id for claim in claims)
    yield Counter(each.source.id for model in catalog.diffusion_models() for each in model.results)
    yield Counter(each.source.id for each in catalog.seed_claims() if not _is_claim(each))
    yield Counter(price.source.id for price in catalog.prices())


_MAKERS: Final[Mapping[Section, Callable[[Catalog], Rows]]] = MappingProxyType(
    {
        Section.ACCELERATORS: accelerator_rows,
        Section.MODELS: model_rows,
        Section.DIFFUSION: diffusion_rows,
        Section.PRICES: _price_rows,
        Section.CLAIMS: _claim_rows,
        Section.DISPUTES: _dispute_rows,
        Section.SOURCES: _source_rows,
        Section.YOURS: own_rows,
    }
)
