"""Rows of the lists of things: a row an accelerator or model, its figures the values that hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from gpudesk.catalog.queries import Catalog
from gpudesk.domain.catalog_tables import CatalogRow, CellMark, CellValue, Column, Section
from gpudesk.domain.claims import PRICE_ENDS, PURCHASE, Attribute, Claim, Kind, Price
from gpudesk.domain.models import Model, MoeFfn
from gpudesk.domain.things import Thing, ThingKind
from gpudesk.workbench.catalog_columns import COLUMNS
from gpudesk.workbench.price_summary import price_summary

Attributes = Mapping[str, Attribute]
#: A value with its mark.
_Marked = tuple[CellValue, int]


def accelerator_rows(catalog: Catalog) -> Iterator[CatalogRow]:
    """Yield every accelerator."""
    columns = COLUMNS[Section.ACCELERATORS]
    announced = {part.id for part in catalog.accelerators() if part.announced}
    purchases: dict[str, list[Price]] = {}
    for price in catalog.prices():
        if price.accelerator and price.term == PURCHASE:
            purchases.setdefault(price.accelerator, []).append(price)
    for thing in catalog.things(ThingKind.ACCELERATOR):
        attributes = _attributes(catalog, thing)
        cells = [_cell(column, thing, attributes) for column in columns]
        cells[[column.key for column in columns].index("price")] = _price(
            attributes, purchases.get(thing.id, ())
        )
        yield _row(thing, columns, cells, attributes, announced=thing.id in announced)


def model_rows(catalog: Catalog) -> Iterator[CatalogRow]:
    """Yield every model; parameters that nobody states are counted from the dimensions."""
    columns = COLUMNS[Section.MODELS]
    for thing in catalog.things(ThingKind.MODEL):
        attributes = _attributes(catalog, thing)
        total = attributes.get("total_parameters")
        computed = _computed(catalog.model(thing.id), None if total is None else total.value)
        cells = []
        for column in columns:
            value, mark = _cell(column, thing, attributes)
            if value is None and column.key in computed:
                # That all caches are computed is said by the head.
                value, mark = computed[column.key], 0 if column.key == "kv" else CellMark.COMPUTED
            cells.append((value, mark))
        yield _row(thing, columns, cells, attributes)


def computed_value(catalog: Catalog, thing: str, attribute: str) -> CellValue:
    """Return what follows from a model's dimensions for an attribute that nobody states; else None."""
    column = next((each for each in COLUMNS[Section.MODELS] if each.attribute == attribute), None)
    if column is None or catalog.kind_of(thing) is not ThingKind.MODEL:
        return None
    total = _attributes(catalog, catalog.thing(thing)).get("total_parameters")
    return _computed(catalog.model(thing), None if total is None else total.value).get(column.key)


def diffusion_rows(catalog: Catalog) -> Iterator[CatalogRow]:
    """Yield every diffusion model."""
    columns = COLUMNS[Section.DIFFUSION]
    for model in catalog.diffusion_models():
        thing = catalog.thing(model.id)
        attributes = _attributes(catalog, thing)
        known: dict[str, CellValue] = {"medium": model.medium, "results": len(model.results)}
        cells = [
            (known[column.key], 0) if column.key in known else _cell(column, thing, attributes)
            for column in columns
        ]
        yield _row(thing, columns, cells, attributes)


def _attributes(catalog: Catalog, thing: Thing) -> Attributes:
    return {attribute.name: attribute for attribute in catalog.attributes(thing.id)}


def _cell(column: Column, thing: Thing, attributes: Attributes) -> _Marked:
    """Return the value that holds of a column's attribute; names and makers are those of the thing."""
    if column.attribute is not None:
        attribute = attributes.get(column.attribute)
        if attribute is None:
            return None, 0
        disputed = any(side.disputed for side in _sides(attribute, attributes))
        return attribute.value, _mark(attribute) | (CellMark.DISPUTED if disputed else 0)
    if column.key == "name":
        return thing.name, CellMark.OWN if thing.own else 0
    return (thing.maker, 0) if column.key in ("vendor", "organisation") else (None, 0)


def _sides(attribute: Attribute, attributes: Attributes) -> tuple[Attribute, ...]:
    """Return what is said of one thing: a memory is in dispute where the capacity it is sold by is."""
    sold = attributes.get("memory_label") if attribute.name == "memory" else None
    return (attribute,) if sold is None else (attribute, sold)


def _mark(attribute: Attribute) -> int:
    taken = attribute.preferred
    own = attribute.overridden or (taken is not None and taken.own)
    return (CellMark.OWN if own else 0) | (CellMark.DISPUTED if attribute.disputed else 0)


def _price(attributes: Attributes, purchases: Iterable[Price]) -> _Marked:
    """Return the ends of what a part costs, by the claims about it, else by the prices on record."""
    ends = [attributes[name] for name in PRICE_ENDS if name in attributes]
    stated = [each for each in ends if isinstance(each.value, int | float)]
    if stated:
        mark = 0
        for each in stated:
            mark |= _mark(each)
        return _range(float(each.value) for each in stated if isinstance(each.value, int | float)), mark
    recorded = price_summary(purchases)
    if not recorded:
        return None, 0
    return _range((recorded[0].low, recorded[0].high)), CellMark.OWN if recorded[0].own_count else 0


def _range(amounts: Iterable[float]) -> CellValue:
    listed = list(amounts)
    return listed[0] if len(set(listed)) == 1 else (min(listed), max(listed))


def _computed(model: Model, stated: CellValue) -> dict[str, CellValue]:
    """Return what follows from a model's dimensions: parameters, and the bytes of FP16 cache a token.

    `stated` are the parameters that a source states; of a model without experts all are active.
    """
    # The engine is loaded with the first look at models, not with the page.
    from gpudesk.domain.deployments import ParallelPlan
    from gpudesk.domain.precision import Precision
    from gpudesk.engine.kv import cache_profile
    from gpudesk.engine.tensors import active_parameter_count, parameter_count

    if not model.dimensions_known:
        return {}
    dense = not any(isinstance(group.ffn, MoeFfn) for group in model.layers)
    stored = cache_profile(model, Precision.FP16, ParallelPlan()).stored
    return {
        "total": parameter_count(model),
        "active": stated if dense and stated else active_parameter_count(model, with_embedding=True),
        # What grows without end: layers with a window are full after it.
        "kv": sum(growth.per_token for growth in stored if growth.window is None),
    }


def _row(
    thing: Thing,
    columns: tuple[Column, ...],
    cells: list[_Marked],
    attributes: Attributes,
    *,
    announced: bool = False,
) -> CatalogRow:
    """Put a row together; kinds and date are those of the claims that its columns show."""
    found = (attributes.get(column.attribute) for column in columns if column.attribute is not None)
    shown = [attribute for attribute in found if attribute is not None]
    taken = [claim for claim in (attribute.preferred for attribute in shown) if claim is not None]
    marks = tuple(mark for _, mark in cells)
    return CatalogRow(
        key=thing.id,
        values=tuple(value for value, _ in cells),
        marks=marks if any(marks) else (),
        thing=thing.id,
        maker=thing.maker,
        kinds=_kinds(taken),
        date=min(filter(None, (claim.source.date for claim in taken)), default=None),
        announced=announced,
        disputed=any(side.disputed for each in shown for side in _sides(each, attributes)),
        own=any(mark & CellMark.OWN for mark in marks),
    )


def _kinds(claims: Iterable[Claim]) -> tuple[Kind, ...]:
    return tuple(dict.fromkeys(claim.kind for claim in claims))
