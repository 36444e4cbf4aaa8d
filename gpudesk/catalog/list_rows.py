"""Rows of the catalog lists, made one at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from gpudesk.catalog.list_columns import list_catalog_columns, mark_user_cell
from gpudesk.catalog.list_user_rows import iterate_user_rows
from gpudesk.catalog.price_ranges import summarize_prices
from gpudesk.catalog.read import Catalog
from gpudesk.domain.attributes import (
    CatalogCellMark,
    CatalogCellValue,
    CatalogColumn,
    CatalogRow,
    CatalogSection,
    CatalogTable,
)
from gpudesk.domain.claim import (
    AGREEMENT_PREFIX,
    PRICE_BOUND_ATTRIBUTES,
    PURCHASE_TERM,
    AttributeClaims,
    CatalogEntry,
    CatalogEntryKind,
    Claim,
    ClaimStatus,
    DocumentStatement,
    PriceRecord,
    ProviderClass,
)
from gpudesk.domain.model import Model, MoeFfn

AttributesByName = Mapping[str, AttributeClaims]
#: A value with its mark.
_MarkedCell = tuple[CatalogCellValue, int]


def iterate_accelerator_rows(catalog: Catalog) -> Iterator[CatalogRow]:
    columns = list_catalog_columns(CatalogSection.ACCELERATORS)
    announced = {part.id for part in catalog.accelerators() if part.announced}
    purchases: dict[str, list[PriceRecord]] = {}
    for price in catalog.prices():
        if price.accelerator and price.term == PURCHASE_TERM:
            purchases.setdefault(price.accelerator, []).append(price)
    for thing in catalog.things(CatalogEntryKind.ACCELERATOR):
        attributes = _read_attributes(catalog, thing)
        cells = [_make_cell(column, thing, attributes) for column in columns]
        cells[[column.key for column in columns].index("price")] = _make_price_cell(
            attributes, purchases.get(thing.id, ())
        )
        yield _make_entry_row(thing, columns, cells, attributes, announced=thing.id in announced)


def iterate_system_rows(catalog: Catalog) -> Iterator[CatalogRow]:
    columns = list_catalog_columns(CatalogSection.SYSTEMS)
    for system in catalog.systems():
        thing = catalog.thing(system.id)
        attributes = _read_attributes(catalog, thing)
        cells = {column.key: _make_cell(column, thing, attributes) for column in columns}
        cells["system_kind"] = system.kind.value, 0
        cells["accelerator"] = catalog.thing(system.accelerator).name, 0
        cells["price"] = _make_price_cell(attributes, ())
        yield _make_entry_row(thing, columns, list(cells.values()), attributes)


def iterate_model_rows(catalog: Catalog) -> Iterator[CatalogRow]:
    """Yield every model; unstated parameters are counted from the dimensions."""
    columns = list_catalog_columns(CatalogSection.MODELS)
    for thing in catalog.things(CatalogEntryKind.MODEL):
        attributes = _read_attributes(catalog, thing)
        total = attributes.get("total_parameters")
        computed = _compute_values(catalog.model(thing.id), None if total is None else total.value)
        cells = []
        for column in columns:
            value, mark = _make_cell(column, thing, attributes)
            if value is None and column.key in computed:
                # The head says that all caches are computed.
                value, mark = computed[column.key], 0 if column.key == "kv" else CatalogCellMark.COMPUTED
            cells.append((value, mark))
        yield _make_entry_row(thing, columns, cells, attributes)


def compute_model_value(catalog: Catalog, thing: str, attribute: str) -> CatalogCellValue:
    """Return the value of an unstated attribute that follows from a model's dimensions; else None."""
    column = next((each for each in list_catalog_columns(CatalogSection.MODELS) if each.attribute == attribute), None)
    if column is None or catalog.get_entry_kind(thing) is not CatalogEntryKind.MODEL:
        return None
    total = _read_attributes(catalog, catalog.thing(thing)).get("total_parameters")
    return _compute_values(catalog.model(thing), None if total is None else total.value).get(column.key)


def iterate_diffusion_rows(catalog: Catalog) -> Iterator[CatalogRow]:
    columns = list_catalog_columns(CatalogSection.DIFFUSION)
    for model in catalog.diffusion_models():
        thing = catalog.thing(model.id)
        attributes = _read_attributes(catalog, thing)
        cell_values: dict[str, CatalogCellValue] = {"medium": model.medium, "results": len(model.results)}
        cells = [
            (cell_values[column.key], 0) if column.key in cell_values else _make_cell(column, thing, attributes)
            for column in columns
        ]
        yield _make_entry_row(thing, columns, cells, attributes)


def _read_attributes(catalog: Catalog, thing: CatalogEntry) -> AttributesByName:
    return {attribute.name: attribute for attribute in catalog.attributes(thing.id)}


def _make_cell(column: CatalogColumn, thing: CatalogEntry, attributes: AttributesByName) -> _MarkedCell:
    """Return the current value of a column's attribute; names and makers are those of the entry."""
    if column.attribute is not None:
        attribute = attributes.get(column.attribute)
        if attribute is None:
            return None, 0
        disputed = any(side.disputed for side in _find_sides(attribute, attributes))
        return attribute.value, _find_mark(attribute) | (CatalogCellMark.DISPUTED if disputed else 0)
    if column.key == "name":
        return thing.name, CatalogCellMark.OWN if thing.own else 0
    return (thing.maker, 0) if column.key in ("vendor", "organisation") else (None, 0)


def _find_sides(attribute: AttributeClaims, attributes: AttributesByName) -> tuple[AttributeClaims, ...]:
    """Return the attributes whose disputes mark this one: memory is disputed if its marketed capacity is."""
    sold = attributes.get("memory_label") if attribute.name == "memory" else None
    return (attribute,) if sold is None else (attribute, sold)


def _find_mark(attribute: AttributeClaims) -> int:
    preferred = attribute.preferred
    own = attribute.overridden or (preferred is not None and preferred.own)
    return (CatalogCellMark.OWN if own else 0) | (CatalogCellMark.DISPUTED if attribute.disputed else 0)


def _make_price_cell(attributes: AttributesByName, purchases: Iterable[PriceRecord]) -> _MarkedCell:
    """Return the price range of an accelerator, by claims about it, else by the prices on record."""
    ends = [attributes[name] for name in PRICE_BOUND_ATTRIBUTES if name in attributes]
    bounds = [each for each in ends if isinstance(each.value, int | float)]
    if bounds:
        mark = 0
        for each in bounds:
            mark |= _find_mark(each)
        return _make_range_cell(float(each.value) for each in bounds if isinstance(each.value, int | float)), mark
    recorded = summarize_prices(purchases)
    if not recorded:
        return None, 0
    return _make_range_cell((recorded[0].low, recorded[0].high)), CatalogCellMark.OWN if recorded[0].user_count else 0


def _make_range_cell(amounts: Iterable[float]) -> CatalogCellValue:
    listed = list(amounts)
    return listed[0] if len(set(listed)) == 1 else (min(listed), max(listed))


def _compute_values(model: Model, source_parameters: CatalogCellValue) -> dict[str, CatalogCellValue]:
    """Return values computed from a model's dimensions: parameters, and FP16 cache bytes per token.

    `source_parameters` are the parameters of a source; in a model without experts all are active.
    """
    # The engine is loaded with the first look at models, not with the page.
    from gpudesk.domain.estimate import ParallelPlan
    from gpudesk.domain.precision import Precision
    from gpudesk.engine.memory import compute_cache_profile
    from gpudesk.engine.tensors import count_active_parameters, count_parameters

    if not model.dimensions_known:
        return {}
    dense = not any(isinstance(group.ffn, MoeFfn) for group in model.layers)
    stored = compute_cache_profile(model, Precision.FP16, ParallelPlan()).stored
    return {
        "total": count_parameters(model),
        "active": source_parameters
        if dense and source_parameters
        else count_active_parameters(model, with_embedding=True),
        # The growth without limit: layers with a window are full after it.
        "kv": sum(growth.per_token for growth in stored if growth.window is None),
    }


def _make_entry_row(
    thing: CatalogEntry,
    columns: tuple[CatalogColumn, ...],
    cells: list[_MarkedCell],
    attributes: AttributesByName,
    *,
    announced: bool = False,
) -> CatalogRow:
    """Build a row; kinds and date are those of the claims in its columns."""
    row_attributes = (attributes.get(column.attribute) for column in columns if column.attribute is not None)
    present = [attribute for attribute in row_attributes if attribute is not None]
    claims = [claim for claim in (attribute.preferred for attribute in present) if claim is not None]
    marks = tuple(mark for _, mark in cells)
    return CatalogRow(
        key=thing.id,
        values=tuple(value for value, _ in cells),
        marks=marks if any(marks) else (),
        thing=thing.id,
        maker=thing.maker,
        kinds=tuple(dict.fromkeys(claim.kind for claim in claims)),
        date=min(filter(None, (claim.source.date for claim in claims)), default=None),
        announced=announced,
        disputed=any(side.disputed for each in present for side in _find_sides(each, attributes)),
        own=any(mark & CatalogCellMark.OWN for mark in marks),
    )


#: Refutations that are not statements.
AUTHORITIES: Final = {"ARITHMETIC": "arithmetic", "PUBLIC-RECORD": "public_record"}
#: The kinds of entries whose attributes are listed claim by claim.
_LISTED_KINDS: Final = (
    CatalogEntryKind.ACCELERATOR,
    CatalogEntryKind.MODEL,
    CatalogEntryKind.DIFFUSION_MODEL,
    CatalogEntryKind.SERVING_ENGINE,
    CatalogEntryKind.SYSTEM,
    CatalogEntryKind.REFERENCE_DESIGN,
)

CatalogRows = Iterator[CatalogRow | None]


def make_catalog_table(section: CatalogSection, catalog: Catalog) -> CatalogTable:
    rows = tuple(row for row in iterate_catalog_rows(section, catalog) if row is not None)
    return CatalogTable(section, list_catalog_columns(section), rows)


def iterate_catalog_rows(section: CatalogSection, catalog: Catalog) -> CatalogRows:
    """Yield the rows of a section in the order of the catalog, and None before a slow row."""
    return _ROW_MAKERS[section](catalog)


# Prices


def _iterate_price_rows(catalog: Catalog) -> CatalogRows:
    names = {thing.id: thing for thing in catalog.things(CatalogEntryKind.ACCELERATOR)}
    # All prices of one accelerator together, in the order of accelerators.
    order = {thing: place for place, thing in enumerate(names)}
    prices = sorted(catalog.prices(), key=lambda price: order.get(price.accelerator or "", len(order)))
    inactive = {waiting.price.id: waiting for waiting in catalog.waiting if waiting.price is not None}
    for price in prices:
        row = _make_price_row(price, names.get(price.accelerator or ""))
        yield replace(row, waits=inactive[price.id]) if price.own and price.id in inactive else row


def _find_only_name(names: Sequence[str]) -> str | None:
    """Return the only name; None for none or several."""
    return names[0] if len(names) == 1 else None


def _make_price_row(price: PriceRecord, part: CatalogEntry | None) -> CatalogRow:
    amount = _find_amount(price)
    provider = price.provider or price.source.named_publisher or None
    rented = price.term != PURCHASE_TERM
    marks = [0] * len(list_catalog_columns(CatalogSection.PRICES))
    if price.own:
        marks[2 if rented else 3] = CatalogCellMark.OWN
    return CatalogRow(
        key=price.id,
        values=(
            part.name if part is not None else price.accelerator,
            price.term,
            amount if rented else None,
            None if rented else amount,
            provider,
            None if price.provider_class is ProviderClass.UNKNOWN else price.provider_class.value,
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


def _find_amount(price: PriceRecord) -> CatalogCellValue:
    if price.usd is not None:
        return price.usd
    ends = [end for end in (price.usd_low, price.usd_high) if end is not None]
    return (min(ends), max(ends)) if len(set(ends)) > 1 else ends[0] if ends else None


# Claims


def _iterate_claim_rows(catalog: Catalog) -> CatalogRows:
    for kind in _LISTED_KINDS:
        for thing in catalog.things(kind):
            for attribute in catalog.attributes(thing.id):
                for number, claim in enumerate(attribute.claims):
                    yield _make_claim_row(thing, attribute, number, claim)
    judged = {claim for dispute in catalog.disputes() for claim in (dispute.claim_a, dispute.claim_b)}
    for statement in catalog.seed_claims():
        if not _is_claim(statement):
            yield _make_statement_row(statement, judged=statement.id in judged)


def _is_claim(statement: DocumentStatement) -> bool:
    return bool(statement.things and statement.attributes)


def _make_claim_row(thing: CatalogEntry, attribute: AttributeClaims, number: int, claim: Claim) -> CatalogRow:
    date = claim.source.date
    stance = attribute.stance(claim)
    verdict = attribute.verdict(claim) or None
    return CatalogRow(
        key=f"{thing.id}/{attribute.name}/{claim.source.id}/{number}",
        values=(
            thing.name,
            attribute.name,
            claim.value,
            attribute.unit,
            stance.value,
            claim.source.title,
            claim.kind.value,
            date,
            date or claim.retrieved,
            None if verdict == AGREEMENT_PREFIX else verdict,
            claim.published,
            claim.conditions,
            claim.retrieved,
            ", ".join(claim.statements) or None,
        ),
        marks=_USER_CLAIM if claim.own else (),
        thing=thing.id,
        attribute=attribute.name,
        unit=attribute.unit,
        maker=thing.maker,
        kinds=(claim.kind,),
        date=date or claim.retrieved,
        disputed=stance in (ClaimStatus.DIFFERS, ClaimStatus.REFUSED),
        own=claim.own,
        item=claim,
    )


_USER_CLAIM: Final = mark_user_cell(CatalogSection.CLAIMS, "value")


def _make_statement_row(statement: DocumentStatement, *, judged: bool) -> CatalogRow:
    """Return the row of a statement about no attribute of the catalog."""
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
            ClaimStatus.DIFFERS.value if judged else None,
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
        thing=_find_only_name(statement.things),
        unit=statement.unit,
        maker=source.named_publisher or None,
        kinds=(source.kind,),
        date=source.date,
        disputed=judged,
        item=statement,
    )


# Disputes


def _iterate_dispute_rows(catalog: Catalog) -> CatalogRows:
    for dispute in catalog.disputes():
        against = AUTHORITIES.get(dispute.claim_b or "", "claim" if dispute.claim_b else None)
        claims = [each for each in (dispute.claim_a, dispute.claim_b) if each and each not in AUTHORITIES]
        yield CatalogRow(
            key=dispute.id,
            values=(
                dispute.subject,
                _find_only_name(dispute.attributes) or dispute.attribute,
                dispute.disagreement,
                dispute.verdict,
                dispute.reason,
                against,
                ", ".join(claims) or None,
                dispute.id,
            ),
            thing=_find_only_name(dispute.things),
            attribute=_find_only_name(dispute.attributes),
            disputed=True,
            item=dispute,
        )


# Sources


def _iterate_source_rows(catalog: Catalog) -> CatalogRows:
    claim_counts: Counter[str] = Counter()
    for counts in _count_claims_by_source(catalog):
        claim_counts.update(counts)
        yield None
    for source in catalog.sources():
        yield CatalogRow(
            key=source.id,
            values=(
                source.title,
                source.named_publisher or None,
                source.kind.value,
                source.date,
                source.date,
                claim_counts[source.id],
                source.trust,
                source.url,
                source.id,
            ),
            maker=source.named_publisher or None,
            kinds=(source.kind,),
            date=source.date,
            own=source.own,
            item=source,
        )


def _count_claims_by_source(catalog: Catalog) -> Iterator[Counter[str]]:
    for thing in catalog.things():
        claims = (claim for attribute in catalog.attributes(thing.id) for claim in attribute.claims)
        yield Counter(claim.source.id for claim in claims)
    yield Counter(each.source.id for model in catalog.diffusion_models() for each in model.results)
    yield Counter(each.source.id for each in catalog.seed_claims() if not _is_claim(each))
    yield Counter(price.source.id for price in catalog.prices())


_ROW_MAKERS: Final[Mapping[CatalogSection, Callable[[Catalog], CatalogRows]]] = {
    CatalogSection.ACCELERATORS: iterate_accelerator_rows,
    CatalogSection.SYSTEMS: iterate_system_rows,
    CatalogSection.MODELS: iterate_model_rows,
    CatalogSection.DIFFUSION: iterate_diffusion_rows,
    CatalogSection.PRICES: _iterate_price_rows,
    CatalogSection.CLAIMS: _iterate_claim_rows,
    CatalogSection.DISPUTES: _iterate_dispute_rows,
    CatalogSection.SOURCES: _iterate_source_rows,
    CatalogSection.YOURS: iterate_user_rows,
}
