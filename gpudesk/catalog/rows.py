"""Records of the files as rows of the tables, each a mapping by column, whatever the order of the files."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from gpudesk.catalog.attribute_names import ACCELERATOR, DIFFUSION
from gpudesk.catalog.definitions import to_json
from gpudesk.catalog.files import DataFiles, Entry
from gpudesk.catalog.revisions import Row, Tables
from gpudesk.catalog.schemas import (
    AcceleratorFile,
    AttributeRecord,
    CloudPriceRecord,
    DiffusionFile,
    DisputeRecord,
    PurchasePriceRecord,
    SourceRecord,
    listed,
)
from gpudesk.catalog.serving_engine_files import to_json as engine_json
from gpudesk.catalog.statements import Statements, with_statements
from gpudesk.catalog.values import published, value_in_si
from gpudesk.domain.claims import PURCHASE, Kind
from gpudesk.domain.serving_engines import ServingEngine
from gpudesk.domain.things import ThingKind

#: Columns of the tables of statements and disputes that say what these are about.
_STATEMENT_JOINS: Final = {"thing", "thing_attribute", "stated", "verdict"}
_DISPUTE_JOINS: Final = {"thing", "thing_attribute", "accelerator"}


def table_rows(files: DataFiles, engines: Sequence[ServingEngine]) -> Tables:
    """Make the rows of all tables but `meta`."""
    kinds = {entry.place.removeprefix("sources."): entry.record.kind for entry in files.sources}
    accelerators = sorted((entry.record for entry in files.accelerators), key=_by_release)
    models = sorted((entry.record for entry in files.models), key=lambda m: (m.organisation, _natural(m.id)))
    diffusion = sorted((entry.record for entry in files.diffusion), key=lambda m: _natural(m.id))
    statements = with_statements(files)
    stated = statements.attributes
    attributes = [
        *(row for a in accelerators for row in _attribute_rows(a.id, stated[a.id], ACCELERATOR)),
        *(row for m in models for row in _attribute_rows(m.id, stated[m.id])),
        *(row for d in diffusion for row in _attribute_rows(d.id, stated[d.id], DIFFUSION)),
    ]
    described = (*(a.id for a in accelerators), *(m.id for m in models), *(d.id for d in diffusion))
    claims = [row for thing in described for row in _claim_rows(thing, stated, kinds)]
    return {
        "source": [_source_row(entry) for entry in files.sources],
        "thing": [
            *_thing_rows(ThingKind.ACCELERATOR, [(a.id, a.name, a.vendor) for a in accelerators]),
            *_thing_rows(ThingKind.MODEL, [(m.id, m.name, m.organisation) for m in models]),
            *_thing_rows(ThingKind.DIFFUSION_MODEL, [(d.id, d.name, None) for d in diffusion]),
            *_thing_rows(ThingKind.SERVING_ENGINE, [(e.id, e.name, None) for e in engines]),
        ],
        "accelerator": [
            {"id": a.id, "generation": a.generation, "announced": a.announced} for a in accelerators
        ],
        "model": [{"id": m.id, "definition": to_json(m.definition())} for m in models],
        "serving_engine": [{"id": e.id, "definition": engine_json(e)} for e in engines],
        "diffusion_model": [{"id": d.id, "medium": d.type} for d in diffusion],
        "diffusion_result": [row for d in diffusion for row in _result_rows(d, kinds)],
        "attribute": attributes,
        "claim": claims,
        "seed_claim": [entry.record.model_dump(exclude=_STATEMENT_JOINS) for entry in files.seed_claims],
        "seed_subject": _seed_subject_rows(statements),
        "dispute": [entry.record.model_dump(exclude=_DISPUTE_JOINS) for entry in files.disputes],
        "dispute_subject": [row for entry in files.disputes for row in _dispute_subject_rows(entry.record)],
        "price": _price_rows(files.rents, files.purchases),
    }


def data_date(tables: Tables) -> str:
    """Return the latest day on which a figure was retrieved, or "" where no figure says."""
    dates = (row["retrieved"] for name in ("claim", "diffusion_result") for row in tables[name])
    return max((date for date in dates if date is not None), default="")


def _natural(name: str) -> tuple[tuple[int, str], ...]:
    """Order names so that 8b comes before 70b."""
    parts = re.split(r"(\d+)", name)
    return tuple((int(part), "") if part.isdigit() else (0, part) for part in parts)


def _by_release(accelerator: AcceleratorFile) -> tuple[Any, ...]:
    """Order by vendor, then by release, the unreleased last."""
    attribute = accelerator.attributes.get("release_date")
    dates = (
        [str(claim.value) for claim in attribute.claims if claim.preferred] if attribute is not None else []
    )
    return accelerator.vendor, dates[0] if dates else "9999", _natural(accelerator.id)


def _source_row(entry: Entry[SourceRecord]) -> Row:
    return {"id": entry.place.removeprefix("sources."), **entry.record.model_dump(mode="json")}


def _thing_rows(kind: ThingKind, things: Sequence[tuple[str, str, str | None]]) -> list[Row]:
    return [
        {"id": thing, "kind": kind.value, "name": name, "maker": maker, "position": position}
        for position, (thing, name, maker) in enumerate(things)
    ]


def _attribute_rows(
    thing: str, attributes: Mapping[str, AttributeRecord], units: Mapping[str, str | None] | None = None
) -> list[Row]:
    """Make the rows of a thing's attributes; without `units` their own unit is the one used inside."""
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


def _claim_rows(
    thing: str, stated: Mapping[str, Mapping[str, AttributeRecord]], kinds: Mapping[str, Kind]
) -> Iterable[Row]:
    """Make the rows of a thing's claims, in the unit used inside; the kind is the source's unless stated."""
    for name, attribute in stated[thing].items():
        for position, claim in enumerate(attribute.claims):
            unit = claim.unit or attribute.unit
            yield {
                "thing": thing,
                "attribute": name,
                "position": position,
                "value": to_json(value_in_si(claim.value, unit)),
                "source": claim.source,
                "kind": (claim.kind or kinds[claim.source]).value,
                "preferred": claim.preferred,
                "published": published(claim.value, unit),
                "conditions": claim.conditions,
                "retrieved": claim.retrieved,
                "note": claim.note,
                "verdict": claim.verdict,
            }


def _seed_subject_rows(statements: Statements) -> list[Row]:
    """Make the rows of what each statement is about, numbered for each statement."""
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


def _dispute_subject_rows(dispute: DisputeRecord) -> Iterable[Row]:
    """Make the rows of what a dispute is about: each attribute of each thing that it names."""
    named = [
        (thing, attribute)
        for thing in listed(dispute.thing)
        for attribute in listed(dispute.thing_attribute) or (None,)
    ]
    for position, (thing, attribute) in enumerate(named):
        yield {"dispute": dispute.id, "position": position, "thing": thing, "attribute": attribute}


def _result_rows(model: DiffusionFile, kinds: Mapping[str, Kind]) -> Iterable[Row]:
    """Make the rows of reported times; a word in the place of a figure has no unit."""
    for position, (field, result) in enumerate(model.results()):
        yield {
            "model": model.id,
            "position": position,
            "part": result.part,
            "accelerator": result.accelerator,
            "count": result.count,
            "setting": result.setting,
            "value": to_json(result.value),
            "value_high": result.value_high,
            "unit": None if isinstance(result.value, str) else result.unit,
            "estimated": field.startswith("estimates"),
            "source": result.source,
            "kind": (result.kind or kinds[result.source]).value,
            "retrieved": result.retrieved,
            "note": result.note,
        }


def _price_rows(
    rents: Sequence[Entry[CloudPriceRecord]], purchases: Sequence[Entry[PurchasePriceRecord]]
) -> list[Row]:
    """Make the rows of all prices; an id lasts as long as nothing in the row changes."""
    rows = [
        *(_rent_row(entry.record) for entry in rents),
        *(_purchase_row(entry.record) for entry in purchases),
    ]
    for row in rows:
        row["id"] = f"{row['accelerator'] or 'other'}-{hashlib.sha256(to_json(row).encode()).hexdigest()[:8]}"
    rows.sort(
        key=lambda row: (row["term"] == PURCHASE, row["accelerator"] or "~", row["provider"] or "", row["id"])
    )
    return [{**row, "position": position} for position, row in enumerate(rows)]


def _rent_row(price: CloudPriceRecord) -> Row:
    row = price.model_dump(mode="json", exclude={"usd_per_accelerator_hour"})
    return {**row, "usd": price.usd_per_accelerator_hour, "basis": None}


def _purchase_row(price: PurchasePriceRecord) -> Row:
    """A range of one amount is that amount; the verdict is the note."""
    row = price.model_dump(mode="json", exclude={"verdict"})
    return {
        **row,
        "term": PURCHASE,
        "usd": price.usd_low if price.usd_low == price.usd_high else None,
        "note": price.verdict,
        **dict.fromkeys(("provider", "region", "instance", "accelerators_in_instance")),
    }
