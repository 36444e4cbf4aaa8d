"""Tables of the catalog for export: figures, claims, prices, disputes, sources and the user's facts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import IO, Final

from gpudesk.domain.claim import (
    PRICE_BOUND_ATTRIBUTES,
    PURCHASE_TERM,
    AttributeClaims,
    CatalogEntry,
    CatalogEntryKind,
    ClaimPreference,
    PriceRecord,
    ProviderClass,
    Source,
    is_figure,
)
from gpudesk.domain.user_facts import UserClaim, UserEntry, UserFact, UserPrice, get_fact_key
from gpudesk.report.explanation.catalog_entry import ReportedCatalog
from gpudesk.report.labels import label_attribute, label_attribute_alone
from gpudesk.report.writers.export_table import (
    ExportCellConverter,
    ExportCellKind,
    ExportColumn,
    ExportFormat,
    ExportRow,
    ExportTable,
    ExportValue,
    build_sources_table,
    list_provenance_columns,
    list_source_columns,
    make_rows,
    merge_attribute_names,
)
from gpudesk.text.messages import format_message
from gpudesk.text.translation import tr

#: Entries with all their attributes, in the order of lists.
DescribedEntries = Sequence[tuple[CatalogEntry, Sequence[AttributeClaims]]]


def build_figures_table(title: str, described: DescribedEntries, cells: ExportCellConverter) -> ExportTable:
    """Return a row for each entry: every preferred value with its source.

    Dimensions of single layers, which no two models share, are only in the table of claims.
    """
    attributes_by_thing = {
        thing.id: {each.name: each for each in attributes if "." not in each.name} for thing, attributes in described
    }
    names = merge_attribute_names(attributes_by_thing)
    units = {each.name: each.unit for attributes in attributes_by_thing.values() for each in attributes.values()}
    head = [
        ExportColumn("id", tr("ID")),
        ExportColumn("name", tr("Name")),
        ExportColumn("maker", tr("Maker")),
        ExportColumn("own", tr("Yours"), kind=ExportCellKind.YES_NO),
    ]
    for name in names:
        label = label_attribute(name) if name in PRICE_BOUND_ATTRIBUTES else label_attribute_alone(name)
        values = [each[name].value for each in attributes_by_thing.values() if name in each]
        head.append(ExportColumn(name, label, cells.unit(name, units[name]), _choose_cell_kind(name, values)))
        head += list_provenance_columns(name, label)
    rows: list[ExportRow] = []
    sources: list[Source] = []
    for thing, _ in described:
        row: list[ExportValue] = [thing.id, thing.name, thing.maker, thing.own]
        for name in names:
            attribute = attributes_by_thing[thing.id].get(name)
            claim = None if attribute is None else attribute.preferred
            row.append(None if claim is None else cells.value(claim.value, name, units[name]))
            row += cells.whose(claim)
            if claim is not None:
                sources.append(claim.source)
        rows.append(tuple(row))
    return _add_sources(title, tuple(head), rows, sources)


def build_claims_table(described: DescribedEntries, cells: ExportCellConverter) -> ExportTable:
    """Return a row for each claim about each attribute of each entry, the preferred one first."""
    head = (
        ExportColumn("thing", tr("Entry")),
        ExportColumn("name", tr("Name")),
        ExportColumn("attribute", tr("Attribute")),
        ExportColumn("label", tr("Label")),
        ExportColumn("value", tr("Value"), kind=ExportCellKind.MIXED),
        ExportColumn("unit", tr("Unit")),
        ExportColumn("stance", tr("Status")),
        ExportColumn("verdict", tr("Verdict")),
        ExportColumn("reason", tr("Reason")),
    )
    claim_head = (
        ExportColumn("published", tr("As published")),
        ExportColumn("conditions", tr("Conditions")),
        *_list_kind_and_date(cells),
        *list_source_columns(),
        ExportColumn("retrieved", tr("Retrieved"), kind=ExportCellKind.DATE),
        ExportColumn("own", tr("Yours"), kind=ExportCellKind.YES_NO),
        ExportColumn("statements", tr("Statements"), value=lambda claim: ", ".join(claim.statements) or None),
        ExportColumn("note", tr("Note")),
    )
    described_claims = [
        (thing, attribute, claim)
        for thing, attributes in described
        for attribute in attributes
        for claim in sorted(attribute.claims, key=lambda each: not each.preferred)
    ]
    claims = [claim for _, _, claim in described_claims]
    rows = [
        (
            thing.id,
            thing.name,
            attribute.name,
            label_attribute_alone(attribute.name),
            cells.value(claim.value, attribute.name, attribute.unit),
            cells.unit(attribute.name, attribute.unit) if is_figure(claim.value) else None,
            cells.stance(attribute.stance(claim)),
            attribute.verdict(claim),
            attribute.reason if claim.preferred else None,
            *claim_row,
        )
        for (thing, attribute, claim), claim_row in zip(described_claims, make_rows(claim_head, claims), strict=True)
    ]
    return _add_sources(tr("Claims"), (*head, *claim_head), rows, (claim.source for claim in claims))


def _list_kind_and_date(cells: ExportCellConverter) -> tuple[ExportColumn, ...]:
    """Return the columns for a record's kind and for its source's date."""
    return (
        ExportColumn("kind", tr("Kind"), value=lambda each: cells.kind(each.kind)),
        ExportColumn("date", tr("Date"), kind=ExportCellKind.DATE, value=attrgetter("source.date")),
    )


def _join_ids(key: str) -> Callable[[object], str]:
    return lambda record: ", ".join(getattr(record, key))


def _choose_cell_kind(name: str, values: Sequence[object]) -> ExportCellKind:
    known_values = [value for value in values if value is not None]
    if name.endswith("_date"):
        return ExportCellKind.DATE
    if any(isinstance(value, str | tuple) for value in known_values):
        return (
            ExportCellKind.TEXT
            if all(isinstance(value, str | tuple) for value in known_values)
            else ExportCellKind.MIXED
        )
    return ExportCellKind.YES_NO if all(isinstance(value, bool) for value in known_values) else ExportCellKind.NUMBER


def _build_user_facts_head() -> tuple[ExportColumn, ...]:
    return (
        ExportColumn("fact", tr("Fact")),
        ExportColumn("thing", tr("Entry")),
        ExportColumn("attribute", tr("Attribute")),
        ExportColumn("value", tr("Yours"), kind=ExportCellKind.MIXED),
        ExportColumn("value_high", tr("Yours, high"), kind=ExportCellKind.MIXED),
        ExportColumn("unit", tr("Unit")),
        ExportColumn("shipped", tr("Shipped"), kind=ExportCellKind.MIXED),
        ExportColumn("shipped_source", tr("Shipped: source")),
        ExportColumn("reason", tr("Reason")),
        ExportColumn("published", tr("As entered")),
        ExportColumn("conditions", tr("Conditions")),
        ExportColumn("kind", tr("Kind")),
        ExportColumn("date", tr("Date"), kind=ExportCellKind.DATE),
        *list_source_columns(),
        ExportColumn("retrieved", tr("Entered"), kind=ExportCellKind.DATE),
        ExportColumn("note", tr("Note")),
        ExportColumn("waits", tr("Inactive because")),
    )


class _UserFactRows:
    """Makes the rows, looking up the entries that the facts refer to."""

    def __init__(self, catalog: ReportedCatalog, cells: ExportCellConverter) -> None:
        self._catalog, self._cells = catalog, cells
        self._things = {thing.id for thing in catalog.things()}
        self._waiting = {key: each for each in catalog.waiting for key in each.keys}
        self._cached_attributes: dict[str, dict[str, AttributeClaims]] = {}
        self._keys = [column.key for column in _build_user_facts_head()][:-1]

    def row(self, fact: UserFact) -> ExportRow:
        """Return the row of a fact other than a source, ending with the reason if it is inactive."""
        waiting = self._waiting.get(get_fact_key(fact))
        return (*self._make_row(fact), None if waiting is None else format_message(waiting.why))

    def _make_row(self, fact: UserFact) -> ExportRow:
        if isinstance(fact, UserClaim):
            return self._fill_row(
                fact="claim",
                **self._make_fact_cells(fact),
                **self._make_source_cells(fact.source),
                kind=self._cells.kind(fact.kind),
                published=fact.published,
                conditions=fact.conditions,
                retrieved=fact.retrieved,
                note=fact.note,
            )
        if isinstance(fact, ClaimPreference):
            return self._fill_row(
                fact="preference",
                **self._make_fact_cells(fact),
                **self._make_source_cells(fact.source, self._find_attribute(fact.thing, fact.attribute)),
                reason=fact.reason,
                retrieved=fact.date,
            )
        if isinstance(fact, UserPrice):
            return self._make_price_row(fact)
        if isinstance(fact, UserEntry):
            return self._fill_row(fact=get_fact_key(fact)[0], thing=fact.id, value=fact.name)
        raise TypeError(f"no row for a {type(fact).__name__}")

    def _make_price_row(self, price: UserPrice) -> ExportRow:
        low = price.usd if price.usd is not None else price.usd_low
        words = (price.term, price.provider, price.region, price.instance)
        return self._fill_row(
            fact="price",
            thing=price.accelerator,
            attribute=", ".join(word for word in words if word),
            value=low,
            value_high=None if price.usd is not None else price.usd_high,
            unit="USD" if price.term == PURCHASE_TERM else "USD/h",
            **{**self._make_source_cells(price.source), **({"date": price.date} if price.date else {})},
            kind=self._cells.kind(price.kind),
            note=price.note,
        )

    def _make_fact_cells(self, fact: UserClaim | ClaimPreference) -> dict[str, ExportValue]:
        thing, name, value = fact.thing, fact.attribute, fact.value
        attribute, waiting = self._find_attribute(thing, name), self._waiting.get(fact.key)
        unit = attribute.unit if attribute is not None else None if waiting is None else waiting.unit
        is_number = is_figure(value)
        fields: dict[str, ExportValue] = {
            "thing": thing,
            "attribute": name,
            "value": self._cells.value(value, name, unit),
            "unit": self._cells.unit(name, unit) if is_number else None,
        }
        shipped = None if attribute is None else attribute.catalog_choice
        if shipped is not None:
            fields["shipped"] = self._cells.value(shipped.value, name, unit)
            fields["shipped_source"] = shipped.source.id
        return fields

    def _find_attribute(self, thing: str, name: str) -> AttributeClaims | None:
        if thing not in self._things:
            return None
        if thing not in self._cached_attributes:
            self._cached_attributes[thing] = {each.name: each for each in self._catalog.attributes(thing)}
        return self._cached_attributes[thing].get(name)

    def _make_source_cells(self, source_id: str, attribute: AttributeClaims | None = None) -> dict[str, ExportValue]:
        source = self._catalog.user_facts.get("source", source_id)
        if attribute is not None and not isinstance(source, Source):
            source = next((each.source for each in attribute.claims if each.source.id == source_id), None)
        if not isinstance(source, Source):
            return {"source": source_id}
        columns = list_source_columns(lambda _: source)
        return {column.key: cell for column, cell in zip(columns, make_rows(columns, [source])[0], strict=True)} | {
            "date": source.date
        }

    def _fill_row(self, **cells: ExportValue) -> ExportRow:
        return tuple(cells.get(key) for key in self._keys)


def build_catalog_table(kind: str, catalog: ReportedCatalog, *, for_programs: bool = False) -> ExportTable:
    """Return the table of one of `EXPORT_KINDS`.

    `for_programs`: figures in internal units, and ids instead of translated words.
    """
    table = _TABLES[kind](catalog, ExportCellConverter(for_programs))
    catalog_line = tr("Catalog {revision} of {date}", revision=catalog.revision[:8], date=catalog.data_date)
    return replace(table, notes=(catalog_line, *table.notes))


def _build_figures_of_kind(
    kind: CatalogEntryKind, title: str
) -> Callable[[ReportedCatalog, ExportCellConverter], ExportTable]:
    def build(catalog: ReportedCatalog, cells: ExportCellConverter) -> ExportTable:
        things = catalog.things(kind)
        return build_figures_table(tr(title), [(thing, catalog.attributes(thing.id)) for thing in things], cells)

    return build


def _build_all_claims(catalog: ReportedCatalog, cells: ExportCellConverter) -> ExportTable:
    return build_claims_table([(thing, catalog.attributes(thing.id)) for thing in catalog.things()], cells)


def _build_results_table(catalog: ReportedCatalog, cells: ExportCellConverter) -> ExportTable:
    head = (
        ExportColumn("part", tr("Accelerator as published")),
        ExportColumn("accelerator", tr("Accelerator")),
        ExportColumn("count", tr("Count"), kind=ExportCellKind.NUMBER),
        ExportColumn("setting", tr("Setting")),
        ExportColumn("value", tr("Value"), kind=ExportCellKind.MIXED),
        ExportColumn("value_high", tr("Value, high"), kind=ExportCellKind.MIXED),
        ExportColumn("unit", tr("Unit")),
        ExportColumn("estimated", tr("Estimated"), kind=ExportCellKind.YES_NO),
        *_list_kind_and_date(cells),
        *list_source_columns(),
        ExportColumn("note", tr("Note")),
    )
    models = catalog.diffusion_models()
    rows = [(model.id, *row) for model in models for row in make_rows(head, model.results)]
    sources = (each.source for model in models for each in model.results)
    return _add_sources(tr("Times of diffusion models"), (ExportColumn("model", tr("Model")), *head), rows, sources)


def _build_prices_table(catalog: ReportedCatalog, cells: ExportCellConverter) -> ExportTable:
    def name_rhythm(price: PriceRecord) -> str:
        if price.term == PURCHASE_TERM:
            return "once" if cells.for_programs else tr("once")
        return "hour" if cells.for_programs else tr("by the hour")

    def name_provider_class(price: PriceRecord) -> str | None:
        return None if price.provider_class is ProviderClass.UNKNOWN else price.provider_class.value

    kind, date = _list_kind_and_date(cells)
    head = (
        ExportColumn("accelerator", tr("Accelerator")),
        ExportColumn("term", tr("Term")),
        ExportColumn("usd", tr("Price per accelerator"), "USD", ExportCellKind.NUMBER),
        ExportColumn("usd_low", tr("Low"), "USD", ExportCellKind.NUMBER),
        ExportColumn("usd_high", tr("High"), "USD", ExportCellKind.NUMBER),
        ExportColumn("per", tr("Paid"), value=name_rhythm),
        ExportColumn("provider", tr("Provider")),
        ExportColumn("provider_class", tr("Kind of provider"), value=name_provider_class),
        ExportColumn("region", tr("Region")),
        ExportColumn("instance", tr("Instance")),
        ExportColumn("accelerators_in_instance", tr("Accelerators per instance"), kind=ExportCellKind.NUMBER),
        ExportColumn("basis", tr("Basis")),
        replace(date, value=lambda price: price.date or price.source.date),
        kind,
        *list_source_columns(),
        ExportColumn("own", tr("Yours"), kind=ExportCellKind.YES_NO),
        ExportColumn("note", tr("Note")),
        ExportColumn("id", tr("ID")),
    )
    prices = catalog.prices()
    return _add_sources(tr("Prices"), head, make_rows(head, prices), (price.source for price in prices))


def _build_disputes_table(catalog: ReportedCatalog, _: ExportCellConverter) -> ExportTable:
    head = (
        ExportColumn("id", tr("ID")),
        ExportColumn("subject", tr("Subject")),
        ExportColumn("attribute", tr("Attribute")),
        ExportColumn("disagreement", tr("Disagreement")),
        ExportColumn("claim_a", tr("Statement")),
        ExportColumn("claim_b", tr("Contradicts")),
        ExportColumn("verdict", tr("Verdict")),
        ExportColumn("reason", tr("Reason")),
        ExportColumn("things", tr("Entries"), value=_join_ids("things")),
        ExportColumn("attributes", tr("Attributes"), value=_join_ids("attributes")),
    )
    return ExportTable(tr("Disputes"), head, make_rows(head, catalog.disputes()))


def _build_statements_table(catalog: ReportedCatalog, _: ExportCellConverter) -> ExportTable:
    head = (
        ExportColumn("id", tr("ID")),
        ExportColumn("subject", tr("Subject")),
        ExportColumn("attribute", tr("Attribute")),
        ExportColumn("value", tr("Value as published")),
        ExportColumn("value_high", tr("Value, high")),
        ExportColumn("unit", tr("Unit")),
        ExportColumn("conditions", tr("Conditions")),
        ExportColumn("as_of", tr("As of")),
        ExportColumn("stated_by", tr("Published by")),
        *list_source_columns(),
        ExportColumn("things", tr("Entries"), value=_join_ids("things")),
        ExportColumn("attributes", tr("Attributes"), value=_join_ids("attributes")),
        ExportColumn("note", tr("Note")),
    )
    claims = catalog.seed_claims()
    title = tr("Source document statements")
    return _add_sources(title, head, make_rows(head, claims), (claim.source for claim in claims))


def _build_all_sources(catalog: ReportedCatalog, cells: ExportCellConverter) -> ExportTable:
    return build_sources_table(catalog.sources(), cells)


def _build_user_table(catalog: ReportedCatalog, cells: ExportCellConverter) -> ExportTable:
    rows = _UserFactRows(catalog, cells)
    sources = tuple(fact for fact in catalog.user_facts if isinstance(fact, Source))
    fact_rows = [rows.row(fact) for fact in catalog.user_facts if not isinstance(fact, Source)]
    return ExportTable(tr("Your values"), _build_user_facts_head(), fact_rows, sources=sources)


def _add_sources(
    title: str, head: tuple[ExportColumn, ...], rows: Sequence[ExportRow], sources: Iterable[Source]
) -> ExportTable:
    """Return a table with the sources of its rows, each once, in the order of their ids."""
    sources_by_id = {source.id: source for source in sources}
    return ExportTable(title, head, rows, sources=tuple(sources_by_id[name] for name in sorted(sources_by_id)))


_TABLES: Final = {
    "accelerators": _build_figures_of_kind(CatalogEntryKind.ACCELERATOR, "Accelerators"),
    "models": _build_figures_of_kind(CatalogEntryKind.MODEL, "Models"),
    "diffusion-models": _build_figures_of_kind(CatalogEntryKind.DIFFUSION_MODEL, "Diffusion models"),
    "systems": _build_figures_of_kind(CatalogEntryKind.SYSTEM, "Systems"),
    "diffusion-results": _build_results_table,
    "prices": _build_prices_table,
    "claims": _build_all_claims,
    "statements": _build_statements_table,
    "disputes": _build_disputes_table,
    "sources": _build_all_sources,
    "own": _build_user_table,
}
EXPORT_KINDS: Final = tuple(_TABLES)


def write_table(table: ExportTable, form: ExportFormat, file: IO[bytes]) -> None:
    """Write a table in one format; raises OSError if the disk is full."""
    if form is ExportFormat.XLSX:
        from gpudesk.report.writers.xlsx import write_xlsx

        write_xlsx([table], file)
    elif form is ExportFormat.CSV:
        from gpudesk.report.writers.csv import write_table_csv

        file.write(write_table_csv(table))
    elif form is ExportFormat.JSON:
        from gpudesk.report.writers.json import write_table_json

        file.write(write_table_json(table))
    else:
        from gpudesk.report.writers.markdown import write_table_markdown

        file.write(write_table_markdown(table))
