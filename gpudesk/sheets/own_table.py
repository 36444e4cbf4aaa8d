"""The user's own facts as a table to hand on: one row a fact, with what the shipped catalog has instead."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from gpudesk.domain.claims import PURCHASE, Attribute, Preference, Source, is_figure
from gpudesk.domain.own_facts import (
    Key,
    OwnAccelerator,
    OwnClaim,
    OwnFact,
    OwnFacts,
    OwnModel,
    OwnPrice,
    fact_key,
)
from gpudesk.domain.things import Thing
from gpudesk.domain.waiting import Waiting
from gpudesk.sentences import sentence
from gpudesk.sheets.export_cells import ExportCells, source_columns
from gpudesk.sheets.table_export import CellKind, CellValue, Column, ExportTable, Row
from gpudesk.text import tr


def own_table(
    facts: OwnFacts,
    things: Mapping[str, Thing],
    attributes: Callable[[str], Sequence[Attribute]],
    waiting: Iterable[Waiting],
    cells: ExportCells,
) -> ExportTable:
    """Return a row for each fact of the user but sources, which stand in the rows of what they state.

    `attributes` gives those of a thing of the catalog with the user's facts in it, `waiting` says which
    facts have no effect.
    """
    idle = {key: each for each in waiting for key in each.keys}
    rows = _Rows(facts, things, attributes, idle, cells)
    sources = tuple(fact for fact in facts if isinstance(fact, Source))
    made = [rows.row(fact) for fact in facts if not isinstance(fact, Source)]
    return ExportTable(tr("Your facts"), _head(), made, sources=sources)


def _head() -> tuple[Column, ...]:
    return (
        Column("fact", tr("Fact")),
        Column("thing", tr("Entry")),
        Column("attribute", tr("Attribute")),
        Column("value", tr("Yours"), kind=CellKind.MIXED),
        Column("value_high", tr("Yours, high"), kind=CellKind.MIXED),
        Column("unit", tr("Unit")),
        Column("shipped", tr("Shipped"), kind=CellKind.MIXED),
        Column("shipped_source", tr("Shipped: source")),
        Column("reason", tr("Reason")),
        Column("published", tr("As entered")),
        Column("conditions", tr("Conditions")),
        Column("kind", tr("Kind")),
        Column("date", tr("Date"), kind=CellKind.DATE),
        *source_columns(),
        Column("retrieved", tr("Entered"), kind=CellKind.DATE),
        Column("note", tr("Note")),
        Column("waits", tr("Without effect, since")),
    )


class _Rows:
    """Makes the rows, looking up what the facts refer to."""

    def __init__(
        self,
        facts: OwnFacts,
        things: Mapping[str, Thing],
        attributes: Callable[[str], Sequence[Attribute]],
        waiting: Mapping[Key, Waiting],
        cells: ExportCells,
    ) -> None:
        self._facts, self._things, self._attributes, self._cells = facts, things, attributes, cells
        self._waiting = waiting
        self._known: dict[str, dict[str, Attribute]] = {}
        self._keys = [column.key for column in _head()][:-1]

    def row(self, fact: OwnFact) -> Row:
        """Return the row of a fact that is no source, with why it has no effect at the end."""
        waiting = self._waiting.get(fact_key(fact))
        return (*self._row(fact), None if waiting is None else sentence(waiting.why))

    def _row(self, fact: OwnFact) -> Row:
        if isinstance(fact, OwnClaim):
            return self._claim(fact)
        if isinstance(fact, Preference):
            return self._preference(fact)
        if isinstance(fact, OwnPrice):
            return self._price(fact)
        if isinstance(fact, OwnAccelerator | OwnModel):
            return self._filled(fact=fact_key(fact)[0], thing=fact.id, value=fact.name)
        raise TypeError(f"no row for a {type(fact).__name__}")

    def _claim(self, claim: OwnClaim) -> Row:
        return self._filled(
            fact="claim",
            **self._about(claim),
            **self._source(claim.source),
            kind=self._cells.kind(claim.kind),
            published=claim.published,
            conditions=claim.conditions,
            retrieved=claim.retrieved,
            note=claim.note,
        )

    def _preference(self, choice: Preference) -> Row:
        return self._filled(
            fact="preference",
            **self._about(choice),
            **self._source(choice.source, self._attribute(choice.thing, choice.attribute)),
            reason=choice.reason,
            retrieved=choice.date,
        )

    def _price(self, price: OwnPrice) -> Row:
        low = price.usd if price.usd is not None else price.usd_low
        words = (price.term, price.provider, price.region, price.instance)
        return self._filled(
            fact="price",
            thing=price.accelerator,
            attribute=", ".join(word for word in words if word),
            value=low,
            value_high=None if price.usd is not None else price.usd_high,
            unit="USD" if price.term == PURCHASE else "USD/h",
            **{**self._source(price.source), **({"date": price.date} if price.date else {})},
            kind=self._cells.kind(price.kind),
            note=price.note,
        )

    def _about(self, fact: OwnClaim | Preference) -> dict[str, CellValue]:
        thing, name, value = fact.thing, fact.attribute, fact.value
        attribute, waiting = self._attribute(thing, name), self._waiting.get(fact.key)
        unit = attribute.unit if attribute is not None else None if waiting is None else waiting.unit
        stated = is_figure(value)
        found: dict[str, CellValue] = {
            "thing": thing,
            "attribute": name,
            "value": self._cells.value(value, name, unit),
            "unit": self._cells.unit(name, unit) if stated else None,
        }
        shipped = None if attribute is None else attribute.catalog_choice
        if shipped is not None:
            found["shipped"] = self._cells.value(shipped.value, name, unit)
            found["shipped_source"] = shipped.source.id
        return found

    def _attribute(self, thing: str, name: str) -> Attribute | None:
        if thing not in self._things:
            return None
        if thing not in self._known:
            self._known[thing] = {each.name: each for each in self._attributes(thing)}
        return self._known[thing].get(name)

    def _source(self, source_id: str, attribute: Attribute | None = None) -> dict[str, CellValue]:
        """Return the cells of a source of the user's, or of one of the claims about an attribute."""
        source = self._facts.get("source", source_id)
        if attribute is not None and not isinstance(source, Source):
            source = next((each.source for each in attribute.claims if each.source.id == source_id), None)
        if not isinstance(source, Source):
            return {"source": source_id}
        keys = (column.key for column in source_columns())
        return {**dict(zip(keys, self._cells.source(source), strict=True)), "date": source.date}

    def _filled(self, **cells: CellValue) -> Row:
        return tuple(cells.get(key) for key in self._keys)
