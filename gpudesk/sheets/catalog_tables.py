"""The tables of the catalog to hand on: each figure with its unit, its source, its date and its kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final, Protocol

from gpudesk.domain.claims import PURCHASE, Attribute, Dispute, Price, SeedClaim, Source
from gpudesk.domain.diffusion import DiffusionModel
from gpudesk.domain.own_facts import OwnFacts
from gpudesk.domain.things import Thing, ThingKind
from gpudesk.domain.waiting import Waiting
from gpudesk.sheets.catalog_figures import claims_table, figures_table
from gpudesk.sheets.export_cells import ExportCells, source_columns
from gpudesk.sheets.own_table import own_table
from gpudesk.sheets.source_table import sources_table
from gpudesk.sheets.table_export import CellKind, Column, ExportTable, Row
from gpudesk.text import tr


class CatalogFacts(Protocol):
    """What is asked of a catalog."""

    @property
    def revision(self) -> str:
        """The digest of all facts."""

    @property
    def data_date(self) -> str:
        """The latest day on which a shipped figure was retrieved."""

    @property
    def own(self) -> OwnFacts:
        """The facts of the user in it."""

    @property
    def waiting(self) -> Sequence[Waiting]:
        """The facts of the user that have no effect."""

    def things(self, kind: ThingKind | None = None) -> Sequence[Thing]:
        """Return the entries of one kind or of all."""

    def attributes(self, thing_id: str) -> Sequence[Attribute]:
        """Return all attributes of a thing."""

    def diffusion_models(self) -> Sequence[DiffusionModel]:
        """Return every diffusion model."""

    def prices(self) -> Sequence[Price]:
        """Return all prices."""

    def seed_claims(self) -> Sequence[SeedClaim]:
        """Return what the source documents state."""

    def disputes(self) -> Sequence[Dispute]:
        """Return the judged contradictions."""

    def sources(self) -> Sequence[Source]:
        """Return every source."""


def catalog_table(kind: str, catalog: CatalogFacts, *, for_programs: bool = False) -> ExportTable:
    """Return the table of one of `EXPORT_KINDS`.

    `for_programs`: figures in the units used inside, and ids in the place of words that are translated.
    """
    table = _TABLES[kind](catalog, ExportCells(for_programs))
    said = tr("Catalog {revision} of {date}", revision=catalog.revision[:8], date=catalog.data_date)
    return replace(table, notes=(said, *table.notes))


def _figures(kind: ThingKind, title: str) -> Callable[[CatalogFacts, ExportCells], ExportTable]:
    def made(catalog: CatalogFacts, cells: ExportCells) -> ExportTable:
        things = catalog.things(kind)
        return figures_table(tr(title), [(thing, catalog.attributes(thing.id)) for thing in things], cells)

    return made


def _claims(catalog: CatalogFacts, cells: ExportCells) -> ExportTable:
    return claims_table([(thing, catalog.attributes(thing.id)) for thing in catalog.things()], cells)


def _results(catalog: CatalogFacts, cells: ExportCells) -> ExportTable:
    head = (
        Column("model", tr("Model")),
        Column("part", tr("Part as printed")),
        Column("accelerator", tr("Accelerator")),
        Column("count", tr("Count"), kind=CellKind.NUMBER),
        Column("setting", tr("Setting")),
        Column("value", tr("Value"), kind=CellKind.MIXED),
        Column("value_high", tr("Value, high"), kind=CellKind.MIXED),
        Column("unit", tr("Unit")),
        Column("estimated", tr("Estimated"), kind=CellKind.YES_NO),
        Column("kind", tr("Kind")),
        Column("date", tr("Date"), kind=CellKind.DATE),
        *source_columns(),
        Column("note", tr("Note")),
    )
    results = [(model.id, each) for model in catalog.diffusion_models() for each in model.results]
    rows: list[Row] = [
        (
            model,
            each.part,
            each.accelerator,
            each.count,
            each.setting,
            each.value,
            each.value_high,
            each.unit,
            each.estimated,
            cells.kind(each.kind),
            each.source.date,
            *cells.source(each.source),
            each.note,
        )
        for model, each in results
    ]
    return _with_sources(tr("Times of diffusion models"), head, rows, (each.source for _, each in results))


def _prices(catalog: CatalogFacts, cells: ExportCells) -> ExportTable:
    head = (
        Column("accelerator", tr("Accelerator")),
        Column("term", tr("Term")),
        Column("usd", tr("Price an accelerator"), "USD", CellKind.NUMBER),
        Column("usd_low", tr("Low"), "USD", CellKind.NUMBER),
        Column("usd_high", tr("High"), "USD", CellKind.NUMBER),
        Column("per", tr("Paid")),
        Column("provider", tr("Provider")),
        Column("region", tr("Region")),
        Column("instance", tr("Instance")),
        Column("accelerators_in_instance", tr("Accelerators in it"), kind=CellKind.NUMBER),
        Column("basis", tr("Basis")),
        Column("date", tr("Date"), kind=CellKind.DATE),
        Column("kind", tr("Kind")),
        *source_columns(),
        Column("own", tr("Own"), kind=CellKind.YES_NO),
        Column("note", tr("Note")),
        Column("id", tr("Id")),
    )
    prices = catalog.prices()
    rows = [_price(price, cells) for price in prices]
    return _with_sources(tr("Prices"), head, rows, (price.source for price in prices))


def _price(price: Price, cells: ExportCells) -> Row:
    once = price.term == PURCHASE
    per = ("once" if once else "hour") if cells.for_programs else (tr("once") if once else tr("by the hour"))
    return (
        price.accelerator,
        price.term,
        price.usd,
        price.usd_low,
        price.usd_high,
        per,
        price.provider,
        price.region,
        price.instance,
        price.accelerators_in_instance,
        price.basis,
        price.date or price.source.date,
        cells.kind(price.kind),
        *cells.source(price.source),
        price.own,
        price.note,
        price.id,
    )


def _disputes(catalog: CatalogFacts, _: ExportCells) -> ExportTable:
    head = (
        Column("id", tr("Id")),
        Column("subject", tr("Subject")),
        Column("attribute", tr("Attribute")),
        Column("disagreement", tr("Disagreement")),
        Column("claim_a", tr("Statement")),
        Column("claim_b", tr("Against")),
        Column("verdict", tr("Verdict")),
        Column("reason", tr("Reason")),
        Column("things", tr("Entries")),
        Column("attributes", tr("Attributes")),
    )
    rows: list[Row] = [
        (
            dispute.id,
            dispute.subject,
            dispute.attribute,
            dispute.disagreement,
            dispute.claim_a,
            dispute.claim_b,
            dispute.verdict,
            dispute.reason,
            ", ".join(dispute.things),
            ", ".join(dispute.attributes),
        )
        for dispute in catalog.disputes()
    ]
    return ExportTable(tr("Disputes"), head, rows)


def _statements(catalog: CatalogFacts, cells: ExportCells) -> ExportTable:
    head = (
        Column("id", tr("Id")),
        Column("subject", tr("Subject")),
        Column("attribute", tr("Attribute")),
        Column("value", tr("Value as printed")),
        Column("value_high", tr("Value, high")),
        Column("unit", tr("Unit")),
        Column("conditions", tr("Conditions")),
        Column("as_of", tr("As of")),
        Column("stated_by", tr("Stated by")),
        *source_columns(),
        Column("things", tr("Entries")),
        Column("attributes", tr("Attributes")),
        Column("note", tr("Note")),
    )
    claims = catalog.seed_claims()
    rows: list[Row] = [
        (
            claim.id,
            claim.subject,
            claim.attribute,
            claim.value,
            claim.value_high,
            claim.unit,
            claim.conditions,
            claim.as_of,
            claim.stated_by,
            *cells.source(claim.source),
            ", ".join(claim.things),
            ", ".join(claim.attributes),
            claim.note,
        )
        for claim in claims
    ]
    title = tr("Statements of source documents")
    return _with_sources(title, head, rows, (claim.source for claim in claims))


def _sources(catalog: CatalogFacts, cells: ExportCells) -> ExportTable:
    return sources_table(catalog.sources(), cells)


def _own(catalog: CatalogFacts, cells: ExportCells) -> ExportTable:
    things = {thing.id: thing for thing in catalog.things()}
    return own_table(catalog.own, things, catalog.attributes, catalog.waiting, cells)


def _with_sources(
    title: str, head: tuple[Column, ...], rows: Sequence[Row], sources: Iterable[Source]
) -> ExportTable:
    """Return a table with the sources of its rows, each once, in the order of their ids."""
    named = {source.id: source for source in sources}
    return ExportTable(title, head, rows, sources=tuple(named[name] for name in sorted(named)))


_TABLES: Final = {
    "accelerators": _figures(ThingKind.ACCELERATOR, "Accelerators"),
    "models": _figures(ThingKind.MODEL, "Models"),
    "diffusion-models": _figures(ThingKind.DIFFUSION_MODEL, "Diffusion models"),
    "diffusion-results": _results,
    "prices": _prices,
    "claims": _claims,
    "statements": _statements,
    "disputes": _disputes,
    "sources": _sources,
    "own": _own,
}
EXPORT_KINDS: Final = tuple(_TABLES)
