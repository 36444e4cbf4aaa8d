"""Rows of the catalog as domain objects: one function a kind, each with one query."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from gpudesk.catalog.attribute_names import PEAK_DENSE
from gpudesk.catalog.plain import restored
from gpudesk.catalog.store import Store
from gpudesk.domain.accelerators import Accelerator
from gpudesk.domain.claims import Attribute, Claim, ClaimValue, Dispute, Kind, Price, SeedClaim, Source
from gpudesk.domain.diffusion import DiffusionModel, DiffusionResult
from gpudesk.domain.serving_engines import ServingEngine
from gpudesk.domain.things import Thing, ThingKind

Sources = Mapping[str, Source]
#: Things and attributes that a row is about.
_Subjects = tuple[tuple[str, ...], tuple[str, ...]]
_Said = TypeVar("_Said", SeedClaim, Dispute)


def read_meta(store: Store) -> dict[str, str]:
    """Read what the catalog says of itself."""
    return dict(store.rows("SELECT key, value FROM meta"))


def read_sources(store: Store) -> dict[str, Source]:
    """Read every source by its id, in the order of the ids."""
    rows = store.rows("SELECT id, title, publisher, kind, url, date, trust FROM source ORDER BY id")
    return {
        row[0]: Source(
            id=row[0],
            title=row[1],
            publisher=row[2],
            kind=Kind(row[3]),
            url=row[4],
            date=row[5],
            trust=row[6],
        )
        for row in rows
    }


def read_things(store: Store) -> dict[str, Thing]:
    """Read every thing by its id, in the order of lists."""
    rows = store.rows("SELECT id, kind, name, maker FROM thing ORDER BY kind, position")
    return {row[0]: Thing(row[0], ThingKind(row[1]), row[2], row[3]) for row in rows}


class PartRow(NamedTuple):
    """What an accelerator is beyond its attributes."""

    id: str
    name: str
    vendor: str
    generation: str
    announced: bool


def read_parts(store: Store) -> dict[str, PartRow]:
    """Read what every accelerator is beyond its attributes, by id in the order of lists."""
    rows = store.rows(
        "SELECT thing.id, thing.name, thing.maker, accelerator.generation, accelerator.announced"
        " FROM thing JOIN accelerator ON accelerator.id = thing.id ORDER BY thing.position"
    )
    return {row[0]: PartRow(row[0], row[1], row[2], row[3], bool(row[4])) for row in rows}


def read_part_values(store: Store) -> dict[str, dict[str, ClaimValue]]:
    """Read the values that the catalog prefers of every accelerator, by its id and attribute."""
    preferred: dict[str, dict[str, ClaimValue]] = {}
    for thing, attribute, value in store.rows(
        "SELECT claim.thing, claim.attribute, claim.value FROM claim JOIN accelerator ON claim.thing ="
        " accelerator.id WHERE claim.preferred"
    ):
        preferred.setdefault(thing, {})[attribute] = json.loads(value)
    return preferred


def accelerator_of(part: PartRow, values: Mapping[str, Any]) -> Accelerator:
    """Name the preferred values as the domain does; what no claim is preferred for stays None."""
    peaks = {
        name.removeprefix(PEAK_DENSE): float(value)
        for name, value in sorted(values.items())
        if name.startswith(PEAK_DENSE)
    }
    return Accelerator(
        id=part.id,
        name=part.name,
        vendor=part.vendor,
        generation=part.generation,
        announced=part.announced,
        platform=values["software_platform"],
        memory_bytes=round(values["memory"]),
        memory_bandwidth=float(values["memory_bandwidth"]),
        memory_label=values.get("memory_label"),
        memory_type=values.get("memory_type"),
        scale_up_bandwidth=_float(values.get("scale_up_bandwidth")),
        scale_up_domain=values.get("scale_up_domain"),
        pcie_bandwidth=_float(values.get("pcie_bandwidth")),
        tdp_w=_float(values.get("tdp")),
        form_factor=values.get("form_factor"),
        status=values.get("status"),
        peak_dense=MappingProxyType(peaks),
    )


def _float(value: float | None) -> float | None:
    return None if value is None else float(value)


def read_definitions(store: Store) -> dict[str, str]:
    """Read the structure of every model as JSON, by id in the order of lists."""
    return dict(
        store.rows(
            "SELECT model.id, model.definition FROM model JOIN thing ON model.id = thing.id"
            " ORDER BY thing.position"
        )
    )


def read_serving_engines(store: Store) -> dict[str, ServingEngine]:
    """Read every serving engine, in the order of lists."""
    rows = store.rows(
        "SELECT serving_engine.id, serving_engine.definition FROM serving_engine"
        " JOIN thing ON serving_engine.id = thing.id ORDER BY thing.position"
    )
    return {engine: restored(ServingEngine, json.loads(definition)) for engine, definition in rows}


def read_diffusion_models(store: Store, sources: Sources) -> dict[str, DiffusionModel]:
    """Read every diffusion model with its results, in the order of lists."""
    results: dict[str, list[DiffusionResult]] = {}
    for row in store.rows(
        "SELECT model, part, accelerator, count, setting, value, value_high, unit, estimated, source, kind,"
        " retrieved, note FROM diffusion_result ORDER BY model, position"
    ):
        result = DiffusionResult(
            part=row[1],
            accelerator=row[2],
            count=row[3],
            setting=row[4],
            value=json.loads(row[5]),
            value_high=row[6],
            unit=row[7],
            estimated=bool(row[8]),
            source=sources[row[9]],
            kind=Kind(row[10]),
            retrieved=row[11],
            note=row[12],
        )
        results.setdefault(row[0], []).append(result)
    rows = store.rows(
        "SELECT thing.id, thing.name, diffusion_model.medium FROM diffusion_model JOIN thing"
        " ON diffusion_model.id = thing.id ORDER BY thing.position"
    )
    return {
        row[0]: DiffusionModel(id=row[0], name=row[1], medium=row[2], results=tuple(results.get(row[0], ())))
        for row in rows
    }


def read_attributes(store: Store, thing: str, sources: Sources) -> dict[str, Attribute]:
    """Read all attributes of one thing with all their claims, in the order of the data."""
    rows = store.rows("SELECT name, unit, reason FROM attribute WHERE thing = ? ORDER BY position", (thing,))
    units = {name: unit for name, unit, _ in rows}
    claims: dict[str, list[Claim]] = {name: [] for name in units}
    statements = _statements_of(store, thing)
    for row in store.rows(
        "SELECT attribute, value, source, kind, preferred, published, conditions, retrieved, note, verdict,"
        " position FROM claim WHERE thing = ? ORDER BY attribute, position",
        (thing,),
    ):
        claim = Claim(
            value=_value(row[1]),
            unit=units[row[0]],
            source=sources[row[2]],
            kind=Kind(row[3]),
            preferred=bool(row[4]),
            published=row[5],
            conditions=row[6],
            retrieved=row[7],
            note=row[8],
            verdict=row[9],
            statements=tuple(statements.get((row[0], row[10]), ())),
        )
        claims[row[0]].append(claim)
    return {
        name: Attribute(thing=thing, name=name, unit=unit, claims=tuple(claims[name]), reason=reason)
        for name, unit, reason in rows
    }


def _statements_of(store: Store, thing: str) -> dict[tuple[str, int], list[str]]:
    """Read which statements say what a thing's claims say, by attribute and place of the claim."""
    found: dict[tuple[str, int], list[str]] = {}
    for attribute, claim, statement in store.rows(
        "SELECT attribute, claim, seed_claim FROM seed_subject WHERE thing = ? AND claim IS NOT NULL"
        " ORDER BY seed_claim",
        (thing,),
    ):
        found.setdefault((attribute, claim), []).append(statement)
    return found


def _value(text: str) -> ClaimValue:
    """Read a claim's value; lists become tuples."""
    value = json.loads(text)
    return tuple(value) if isinstance(value, list) else value


def read_prices(store: Store, sources: Sources) -> tuple[Price, ...]:
    """Read every price: rents first, then purchases, each by accelerator."""
    rows = store.rows(
        "SELECT id, accelerator, term, source, kind, usd, usd_low, usd_high, provider, region, instance,"
        " accelerators_in_instance, basis, date, note FROM price ORDER BY position"
    )
    return tuple(
        Price(
            id=row[0],
            accelerator=row[1],
            term=row[2],
            source=sources[row[3]],
            kind=Kind(row[4]),
            usd=row[5],
            usd_low=row[6],
            usd_high=row[7],
            provider=row[8],
            region=row[9],
            instance=row[10],
            accelerators_in_instance=row[11],
            basis=row[12],
            date=row[13],
            note=row[14],
        )
        for row in rows
    )


def read_seed_claims(store: Store, sources: Sources) -> tuple[SeedClaim, ...]:
    """Read the statements of the source documents, in the order of their ids."""
    subjects = _subjects(store, "seed_subject", "seed_claim")
    rows = store.rows(
        "SELECT id, source, subject, attribute, value, value_high, unit, conditions, as_of, stated_by, note"
        " FROM seed_claim ORDER BY id"
    )
    return tuple(_about(SeedClaim(row[0], sources[row[1]], *row[2:]), subjects.get(row[0])) for row in rows)


def read_disputes(store: Store) -> tuple[Dispute, ...]:
    """Read the disputes, in the order of their ids."""
    subjects = _subjects(store, "dispute_subject", "dispute")
    rows = store.rows(
        "SELECT id, claim_a, claim_b, subject, attribute, disagreement, verdict, reason FROM dispute"
        " ORDER BY id"
    )
    return tuple(_about(Dispute(*row), subjects.get(row[0])) for row in rows)


def _subjects(store: Store, table: str, column: str) -> dict[str, _Subjects]:
    """Read the things and the attributes that each row of a table is about, by the id of the row."""
    things: dict[str, dict[str, None]] = {}
    attributes: dict[str, dict[str, None]] = {}
    for row, thing, attribute in store.rows(
        f"SELECT {column}, thing, attribute FROM {table} ORDER BY {column}, position"
    ):
        things.setdefault(row, {})[thing] = None
        if attribute is not None:
            attributes.setdefault(row, {})[attribute] = None
    return {row: (tuple(named), tuple(attributes.get(row, ()))) for row, named in things.items()}


def _about(said: _Said, subjects: _Subjects | None) -> _Said:
    """Return a statement or dispute with what it is about."""
    return said if subjects is None else replace(said, things=subjects[0], attributes=subjects[1])
