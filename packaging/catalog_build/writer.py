"""Building the catalog file from `data/`: table rows, written completely and put in place atomically."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from sqlalchemy import URL, create_engine, insert
from sqlalchemy.exc import IntegrityError
from sqlalchemy.pool import NullPool

from catalog_build.checks import find_data_problems
from catalog_build.claims import JoinedStatements, join_statements, list_attributes_by_thing
from catalog_build.files import DataEntry, DataError, DataFiles, compute_inputs_digest, read_data_files
from catalog_build.records import (
    AcceleratorFile,
    ApiPriceRecord,
    AttributeRecord,
    CloudPriceRecord,
    DiffusionFile,
    DisputeRecord,
    MissingPriceRecord,
    PurchasePriceRecord,
    SourceRecord,
    SystemFile,
    split_names,
)
from catalog_build.schema import SHIPPED_METADATA
from catalog_build.serving_engines import find_unknown_names, write_engine_json
from gpudesk.catalog.database import (
    APPLICATION_ID,
    EMPTY_SEAL,
    SCHEMA_VERSION,
    CatalogBugError,
    CatalogDatabase,
    CatalogFileError,
    TableRow,
    TableRows,
    compute_revision,
    find_file_problem,
    seal_file,
    sync_to_disk,
)
from gpudesk.catalog.model_definition import to_canonical_json
from gpudesk.catalog.model_record import FileRecord
from gpudesk.catalog.shipped import read_meta
from gpudesk.domain.accelerator import SystemKind
from gpudesk.domain.attributes import convert_claim_to_si, format_published, get_units
from gpudesk.domain.claim import PURCHASE_TERM, CatalogEntryKind, SourceKind

#: Columns of statements and disputes about their targets.
_STATEMENT_JOINS: Final = {"thing", "thing_attribute", "stated", "verdict"}
_DISPUTE_JOINS: Final = {"thing", "thing_attribute", "accelerator"}


def make_table_rows(files: DataFiles) -> TableRows:
    """Make the rows of all tables but `meta`."""
    kinds = {entry.place.removeprefix("sources."): entry.record.kind for entry in files.sources}
    accelerators = sorted((entry.record for entry in files.accelerators), key=_release_order)
    models = sorted((entry.record for entry in files.models), key=lambda m: (m.organisation, _make_natural_key(m.id)))
    diffusion = sorted((entry.record for entry in files.diffusion), key=lambda m: _make_natural_key(m.id))
    engines = sorted((entry.record for entry in files.engines), key=lambda engine: engine.id)
    systems = sorted((entry.record for entry in files.systems), key=_make_system_key)
    designs = [entry.record for entry in files.reference_designs]
    statements = join_statements(files, list_attributes_by_thing(files))
    attributes_by_entry = statements.attributes
    units: dict[str, Mapping[str, str | None] | None] = {
        **dict.fromkeys((a.id for a in accelerators), get_units(CatalogEntryKind.ACCELERATOR)),
        **dict.fromkeys(m.id for m in models),
        **dict.fromkeys((d.id for d in diffusion), get_units(CatalogEntryKind.DIFFUSION_MODEL)),
        **dict.fromkeys((s.id for s in systems), get_units(CatalogEntryKind.SYSTEM)),
        **dict.fromkeys((d.id for d in designs), get_units(CatalogEntryKind.REFERENCE_DESIGN)),
    }
    attributes = [
        row for thing, each in units.items() for row in _make_attribute_rows(thing, attributes_by_entry[thing], each)
    ]
    claims = [row for thing in units for row in _iterate_claim_rows(thing, attributes_by_entry, kinds)]
    return {
        "source": [_make_source_row(entry) for entry in files.sources],
        "thing": [
            *_make_thing_rows(CatalogEntryKind.ACCELERATOR, [(a.id, a.name, a.vendor) for a in accelerators]),
            *_make_thing_rows(CatalogEntryKind.MODEL, [(m.id, m.name, m.organisation) for m in models]),
            *_make_thing_rows(CatalogEntryKind.DIFFUSION_MODEL, [(d.id, d.name, None) for d in diffusion]),
            *_make_thing_rows(CatalogEntryKind.SERVING_ENGINE, [(e.id, e.name, None) for e in engines]),
            *_make_thing_rows(CatalogEntryKind.SYSTEM, [(s.id, s.name, s.vendor) for s in systems]),
            *_make_thing_rows(CatalogEntryKind.REFERENCE_DESIGN, [(d.id, d.name, d.vendor) for d in designs]),
        ],
        "accelerator": [{"id": a.id, "generation": a.generation, "announced": a.announced} for a in accelerators],
        "model": [{"id": m.id, "definition": to_canonical_json(m.definition())} for m in models],
        "serving_engine": [{"id": e.id, "definition": write_engine_json(e)} for e in engines],
        "system": [s.model_dump(mode="json", exclude={"name", "vendor", "attributes"}) for s in systems],
        "reference_design": [d.model_dump(include={"id", "system", "accelerator_count"}) for d in designs],
        "diffusion_model": [_make_diffusion_row(d) for d in diffusion],
        "diffusion_result": [row for d in diffusion for row in _iterate_result_rows(d, kinds)],
        "attribute": attributes,
        "claim": claims,
        "seed_claim": [entry.record.model_dump(exclude=_STATEMENT_JOINS) for entry in files.seed_claims],
        "seed_subject": _make_seed_subject_rows(statements),
        "dispute": [entry.record.model_dump(exclude=_DISPUTE_JOINS) for entry in files.disputes],
        "dispute_subject": [row for entry in files.disputes for row in _iterate_dispute_subject_rows(entry.record)],
        "price": _make_price_rows(files.rents, files.purchases),
        "provider": [entry.record.model_dump(mode="json", exclude={"note"}) for entry in files.providers],
        "api_price": _add_positions(files.api_prices),
        "missing_price": _add_positions(files.missing_prices),
    }


def _make_natural_key(name: str) -> tuple[tuple[int, str], ...]:
    parts = re.split(r"(\d+)", name)
    return tuple((int(part), "") if part.isdigit() else (0, part) for part in parts)


#: The last months of quarters and halves, which are sorted behind known days in them.
_LAST_MONTHS: Final = {"Q1": "03-99", "Q2": "06-99", "Q3": "09-99", "Q4": "12-99", "H1": "06-99", "H2": "12-99"}


def _release_order(accelerator: AcceleratorFile) -> tuple[Any, ...]:
    attribute = accelerator.attributes.get("release_date")
    dates = [str(claim.value) for claim in attribute.claims if claim.preferred] if attribute is not None else []
    year, _, part = (dates[0] if dates else "9999").partition("-")
    return accelerator.vendor, year, _LAST_MONTHS.get(part, part), _make_natural_key(accelerator.id)


def _make_system_key(system: SystemFile) -> tuple[Any, ...]:
    return list(SystemKind).index(system.kind), system.vendor, _make_natural_key(system.id)


def _make_source_row(entry: DataEntry[SourceRecord]) -> TableRow:
    return {"id": entry.place.removeprefix("sources."), **entry.record.model_dump(mode="json")}


def _make_thing_rows(kind: CatalogEntryKind, things: Sequence[tuple[str, str, str | None]]) -> list[TableRow]:
    return [
        {"id": thing, "kind": kind.value, "name": name, "maker": maker, "position": position}
        for position, (thing, name, maker) in enumerate(things)
    ]


def _make_attribute_rows(
    thing: str, attributes: Mapping[str, AttributeRecord], units: Mapping[str, str | None] | None = None
) -> list[TableRow]:
    """Make the rows of an entry's attributes; without `units` their own unit is the internal one."""
    return [
        {
            "thing": thing,
            "name": name,
            "position": position,
            "unit": attribute.unit if units is None else units[name],
            "reason": attribute.reason,
        }
        for position, (name, attribute) in enumerate(attributes.items())
    ]


def _iterate_claim_rows(
    thing: str, attributes_by_entry: Mapping[str, Mapping[str, AttributeRecord]], kinds: Mapping[str, SourceKind]
) -> Iterable[TableRow]:
    """Make the rows of an entry's claims, in the internal unit; the kind is the source's unless stated."""
    for name, attribute in attributes_by_entry[thing].items():
        for position, claim in enumerate(attribute.claims):
            unit = claim.unit or attribute.unit
            yield {
                "thing": thing,
                "attribute": name,
                "position": position,
                "value": to_canonical_json(convert_claim_to_si(claim.value, unit)),
                "source": claim.source,
                "kind": (claim.kind or kinds[claim.source]).value,
                "preferred": claim.preferred,
                "published": format_published(claim.value, unit),
                "conditions": claim.conditions,
                "retrieved": claim.retrieved,
                "note": claim.note,
                "verdict": claim.verdict,
            }


def _make_seed_subject_rows(statements: JoinedStatements) -> list[TableRow]:
    """Make the rows of each statement's targets, numbered per statement."""
    count: Counter[str] = Counter()
    rows = []
    for link in statements.links:
        rows.append(
            {
                "seed_claim": link.statement,
                "position": count[link.statement],
                "thing": link.thing,
                "attribute": link.attribute,
                "claim": link.claim,
            }
        )
        count[link.statement] += 1
    return rows


def _iterate_dispute_subject_rows(dispute: DisputeRecord) -> Iterable[TableRow]:
    """Make the rows of a dispute's targets: each attribute of each entry that it names."""
    subjects = [
        (thing, attribute)
        for thing in split_names(dispute.thing)
        for attribute in split_names(dispute.thing_attribute) or (None,)
    ]
    for position, (thing, attribute) in enumerate(subjects):
        yield {"dispute": dispute.id, "position": position, "thing": thing, "attribute": attribute}


def _iterate_result_rows(model: DiffusionFile, kinds: Mapping[str, SourceKind]) -> Iterable[TableRow]:
    """Make the rows of reported times; a word in place of a figure has no unit."""
    for position, (field, result) in enumerate(model.results()):
        yield {
            "model": model.id,
            "position": position,
            "part": result.part,
            "accelerator": result.accelerator,
            "count": result.count,
            "setting": result.setting,
            "value": to_canonical_json(result.value),
            "value_high": result.value_high,
            "unit": None if isinstance(result.value, str) else result.unit,
            "estimated": field.startswith("estimates"),
            "source": result.source,
            "kind": (result.kind or kinds[result.source]).value,
            "retrieved": result.retrieved,
            "note": result.note,
            "run": None if result.run is None else _encode_without_defaults(result.run),
        }


def _make_diffusion_row(model: DiffusionFile) -> TableRow:
    definition = None if model.architecture is None else _encode_without_defaults(model.architecture)
    return {"id": model.id, "medium": model.type, "architecture": definition}


def _encode_without_defaults(record: FileRecord) -> str:
    """Return a record as JSON, without default values."""
    return to_canonical_json(record.model_dump(mode="json", exclude_unset=True))


def _make_price_rows(
    rents: Sequence[DataEntry[CloudPriceRecord]], purchases: Sequence[DataEntry[PurchasePriceRecord]]
) -> list[TableRow]:
    """Make the rows of all prices; an id stays the same while its row is unchanged."""
    rows = [
        *(_make_rent_row(entry.record) for entry in rents),
        *(_make_purchase_row(entry.record) for entry in purchases),
    ]
    for row in rows:
        row["id"] = f"{row['accelerator'] or 'other'}-{hashlib.sha256(to_canonical_json(row).encode()).hexdigest()[:8]}"
    rows.sort(
        key=lambda row: (row["term"] == PURCHASE_TERM, row["accelerator"] or "~", row["provider"] or "", row["id"])
    )
    return [{**row, "position": position} for position, row in enumerate(rows)]


def _make_rent_row(price: CloudPriceRecord) -> TableRow:
    row = price.model_dump(mode="json", exclude={"usd_per_accelerator_hour"})
    return {**row, "usd": price.usd_per_accelerator_hour, "basis": None}


def _make_purchase_row(price: PurchasePriceRecord) -> TableRow:
    """A range of one amount is that amount; the verdict is the note."""
    row = price.model_dump(mode="json", exclude={"verdict", "seller"})
    return {
        **row,
        "term": PURCHASE_TERM,
        "provider": price.seller,
        "usd": price.usd_low if price.usd_low == price.usd_high else None,
        "note": price.verdict,
        **dict.fromkeys(("region", "instance", "accelerators_in_instance")),
    }


def _add_positions(entries: Sequence[DataEntry[ApiPriceRecord] | DataEntry[MissingPriceRecord]]) -> list[TableRow]:
    return [{**entry.record.model_dump(mode="json"), "position": place} for place, entry in enumerate(entries)]


def build_catalog(data_dir: Path, target: Path) -> str:
    """Build the catalog of `data_dir` at `target` and return its revision.

    An existing file stays complete until the new one replaces it atomically. Raises `DataError` with every problem of
    the data.
    """
    inputs = compute_inputs_digest(data_dir)
    tables = read_data_tables(data_dir)
    built = compute_revision(tables)
    dates = (row["retrieved"] for name in ("claim", "diffusion_result") for row in tables[name])
    meta = {
        "revision": built,
        "data_date": max((date for date in dates if date is not None), default=""),
        "schema_version": str(SCHEMA_VERSION),
        "inputs": inputs,
        "seal": EMPTY_SEAL,
    }
    with _replace_file(target) as fresh:
        _write_tables(fresh, tables | {"meta": [{"key": key, "value": value} for key, value in sorted(meta.items())]})
        seal_file(fresh)
    return built


def read_data_tables(data_dir: Path) -> TableRows:
    """Read and check the files and return the rows of all tables; raises `DataError` with every problem."""
    files, problems = read_data_files(data_dir)
    problems += find_data_problems(files, frozenset(problem.file for problem in problems))
    if not problems:
        # Names in rules are checked against readable files.
        problems += find_unknown_names(files)
    if problems:
        raise DataError(problems)
    return make_table_rows(files)


@contextmanager
def _replace_file(target: Path) -> Iterator[Path]:
    """Yield a free name next to `target`; the file written there replaces it if no error occurs."""
    fresh = target.with_name(f"{target.name}.{secrets.token_hex(8)}.new")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        yield fresh
        sync_to_disk(fresh)
        fresh.replace(target)
        sync_to_disk(target.parent)
    finally:
        with suppress(OSError):
            fresh.unlink(missing_ok=True)


def _write_tables(path: Path, tables: TableRows) -> None:
    engine = create_engine(URL.create("sqlite", database=str(path)), poolclass=NullPool)
    try:
        with engine.connect() as connection:
            # The file is not in use yet: on failure it is deleted.
            for setting in ("foreign_keys = ON", "journal_mode = OFF", "synchronous = OFF"):
                connection.exec_driver_sql(f"PRAGMA {setting}")
            connection.exec_driver_sql(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.exec_driver_sql(f"PRAGMA user_version = {SCHEMA_VERSION}")
            SHIPPED_METADATA.create_all(connection)
            for table in SHIPPED_METADATA.sorted_tables:
                rows = tables[table.name]
                if rows:
                    connection.execute(insert(table), rows)
            connection.commit()
    except IntegrityError as error:
        raise CatalogBugError(f"rows that passed every check do not fit the tables: {error.orig}") from error
    finally:
        engine.dispose()


def ensure_built(data_dir: Path, path: Path) -> bool:
    """Build the catalog of `data_dir` at `path` if it is stale, and return whether it was.

    Two processes can do so at once: each builds a separate file, and either replaces it atomically. A file other than a
    catalog is not overwritten; that raises `CatalogFileError`.
    """
    problem = find_file_problem(path)
    if problem is not None and problem.id == "catalog.file.foreign":
        raise CatalogFileError(problem, path)
    if not is_catalog_stale(data_dir, path):
        return False
    build_catalog(data_dir, path)
    return True


def is_catalog_stale(data_dir: Path, path: Path) -> bool:
    """Whether the catalog at `path` is missing, unusable, or built from other data than in `data_dir`."""
    if find_file_problem(path) is not None:
        return True
    try:
        with CatalogDatabase(path) as store:
            return read_meta(store).get("inputs") != compute_inputs_digest(data_dir)
    except CatalogFileError:
        return True
