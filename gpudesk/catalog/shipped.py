"""Shipped catalog as domain objects; each kind is read on first use."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from functools import cache, cached_property, lru_cache
from types import MappingProxyType, UnionType
from typing import Any, Final, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from gpudesk.catalog.database import CatalogDatabase, DatabaseRow
from gpudesk.domain.accelerator import Accelerator, AcceleratorEntry, ReferenceDesign, System, SystemEntry, SystemKind
from gpudesk.domain.claim import (
    ApiPrice,
    AttributeClaims,
    CatalogEntry,
    CatalogEntryKind,
    Claim,
    Dispute,
    DocumentStatement,
    MissingPrice,
    PriceRecord,
    ProviderClass,
    Source,
    SourceKind,
)
from gpudesk.domain.diffusion import DiffusionArchitecture, DiffusionModel, DiffusionResult, DiffusionRun
from gpudesk.domain.registry import PEAK_DENSE
from gpudesk.domain.serving_engine import ServingEngine
from gpudesk.text.formatting import ClaimValue

_T = TypeVar("_T")


def share_equal(entry: _T) -> _T:
    """Return the first of equal entries: catalogs make them again after each change of the user's facts.

    As keys of caches, entries that are equal but not the same are compared field by field, which takes longer than
    most of what the caches save.
    """
    return cast("_T", _find_first_equal(entry))


@lru_cache(maxsize=1_000)
def _find_first_equal(entry: Hashable) -> Hashable:
    return entry


def restore_dataclass(kind: type[_T], plain: object) -> _T:
    """Restore a value of `kind`: a dataclass, tuple, set, optional value or enumeration, or a plain type."""
    return cast("_T", _make_restorer(cast("Hashable", kind))(plain))


@cache
def _make_restorer(kind: Any) -> Callable[[Any], Any]:  # noqa: ANN401 - types from typing
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (UnionType, Union):
        restore_present = _make_restorer(_find_only_kind(inner))
        return lambda plain: None if plain is None else restore_present(plain)
    if origin in (tuple, frozenset):
        restore_item = _make_restorer(inner[0])
        return lambda plain: origin(map(restore_item, plain))
    if is_dataclass(kind):
        record_class = cast("type", kind)
        restorers = {name: _make_restorer(hint) for name, hint in _read_hints(record_class).items()}
        return lambda plain: record_class(**{name: restorers[name](value) for name, value in plain.items()})
    is_converted = kind is float or (isinstance(kind, type) and issubclass(kind, Enum))
    return kind if is_converted else lambda plain: plain


def _find_only_kind(kinds: tuple[Any, ...]) -> Any:  # noqa: ANN401
    """Return the only kind of an optional value; JSON does not say which of two was meant."""
    (kind,) = (kind for kind in kinds if kind is not type(None))
    return kind


@cache
def _read_hints(kind: type) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}


Sources = Mapping[str, Source]
_NO_SOURCES: Sources = MappingProxyType({})
#: Entries and attributes of a row.
_Subjects = tuple[tuple[str, ...], tuple[str, ...]]
_Statement = TypeVar("_Statement", DocumentStatement, Dispute)


def _parse_claim_value(text: str) -> ClaimValue:
    value = json.loads(text)
    return tuple(value) if isinstance(value, list) else value


#: By the annotation of a field; values stored as used have none.
_DECODERS: Mapping[Any, Callable[[Any], Any]] = {
    SourceKind: SourceKind,
    bool: bool,
    ClaimValue: _parse_claim_value,
    float | str: json.loads,
    DiffusionRun | None: lambda text: None if text is None else restore_dataclass(DiffusionRun, json.loads(text)),
}


def read_rows(
    store: CatalogDatabase,
    table: str,
    record: type,
    rest: str,
    parameters: Sequence[object] = (),
    *,
    sources: Sources = _NO_SOURCES,
    extra_columns: Sequence[str] = (),
) -> Iterator[tuple[dict[str, Any], DatabaseRow]]:
    """Yield for each row the fields of a dataclass in the table, and the `extra_columns`.

    `rest` is the end of the query after the table, such as its order.
    """
    hints, columns = _read_hints(record), store.columns(table)
    names = [name for name in hints if name in columns]
    decoders = [sources.__getitem__ if hints[name] is Source else _DECODERS.get(hints[name]) for name in names]
    for row in store.rows(f"SELECT {', '.join((*names, *extra_columns))} FROM {table} {rest}", parameters):
        values = zip(names, decoders, row[: len(names)], strict=True)
        yield ({name: value if decode is None else decode(value) for name, decode, value in values}, row[len(names) :])


def read_entry_rows(store: CatalogDatabase, table: str, *columns: str) -> list[DatabaseRow]:
    """Read id, name, maker and columns of the entries in a table, in the order of lists."""
    names = ", ".join(f"{table}.{column}" for column in columns)
    entries = f"thing JOIN {table} ON {table}.id = thing.id"
    return store.rows(f"SELECT thing.id, thing.name, thing.maker, {names} FROM {entries} ORDER BY thing.position")


def read_meta(store: CatalogDatabase) -> dict[str, str]:
    return dict(store.rows("SELECT key, value FROM meta"))


def read_preferred_values(store: CatalogDatabase, table: str) -> dict[str, dict[str, ClaimValue]]:
    """Read the catalog's preferred values of all entries in a table, by id and attribute."""
    rows = list(
        store.rows(
            f"SELECT claim.value, claim.thing, claim.attribute FROM claim JOIN {table} ON claim.thing = {table}.id"
            " WHERE claim.preferred"
        )
    )
    # Parsed together, which takes a third of the time.
    values = json.loads(f"[{','.join(text for text, *_ in rows)}]")
    preferred: dict[str, dict[str, ClaimValue]] = {}
    for value, (_, thing, attribute) in zip(values, rows, strict=True):
        preferred.setdefault(thing, {})[attribute] = value
    return preferred


def make_accelerator(part: AcceleratorEntry, values: Mapping[str, Any]) -> Accelerator:
    """Return an accelerator from its preferred values; None without a preferred claim."""
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
        scale_up_bandwidth=_to_float(values.get("scale_up_bandwidth")),
        scale_up_domain=values.get("scale_up_domain"),
        pcie_bandwidth=_to_float(values.get("pcie_bandwidth")),
        tdp_w=_to_float(values.get("tdp")),
        form_factor=values.get("form_factor"),
        status=values.get("status"),
        license_limit=values.get("license_limit"),
        sales_region=values.get("sales_region"),
        peak_dense=MappingProxyType(peaks),
    )


#: Fields of `System` -> the attributes behind them.
_SYSTEM_FIELDS: Final[Mapping[str, str]] = {
    "accelerator_count": "accelerator_count",
    "accelerator_power_w": "accelerator_power",
    "nodes": "nodes",
    "nic_count": "nic_count",
    "nic_bits_per_s": "nic_rate",
    "network_bits_per_s": "network_rate",
    "power_max_w": "power_max",
    "rack_units": "rack_units",
    "cooling": "cooling",
    "price_low_usd": "price_low",
    "price_high_usd": "price_high",
    "delivery_weeks": "delivery",
}


def make_system(entry: SystemEntry, values: Mapping[str, Any], accelerator: Mapping[str, Any]) -> System:
    """Return a system from its preferred values; `accelerator` are those of the accelerator in it."""
    inherited = {"accelerator_power_w": accelerator.get("tdp")}
    system_values = {field: values[name] for field, name in _SYSTEM_FIELDS.items() if name in values}
    own_values = {field.name: getattr(entry, field.name) for field in fields(SystemEntry)}
    return System(**own_values, **{**inherited, **system_values})


def _to_float(value: float | None) -> float | None:
    return None if value is None else float(value)


def read_serving_engines(store: CatalogDatabase) -> dict[str, ServingEngine]:
    """Read every serving engine, in the order of lists."""
    rows = read_entry_rows(store, "serving_engine", "definition")
    return {engine: share_equal(restore_dataclass(ServingEngine, json.loads(text))) for engine, _, _, text in rows}


def read_attributes(store: CatalogDatabase, thing: str, sources: Sources) -> dict[str, AttributeClaims]:
    """Read all attributes of one entry with all their claims, in the order of the data."""
    rows = store.rows("SELECT name, unit, reason FROM attribute WHERE thing = ? ORDER BY position", (thing,))
    units = {name: unit for name, unit, _ in rows}
    claims: dict[str, list[Claim]] = {name: [] for name in units}
    # Read which statements equal an entry's claims, by attribute and position of the claim.
    statements: dict[tuple[str, int], list[str]] = {}
    for attribute, claim, statement in store.rows(
        "SELECT attribute, claim, seed_claim FROM seed_subject WHERE thing = ? AND claim IS NOT NULL"
        " ORDER BY seed_claim",
        (thing,),
    ):
        statements.setdefault((attribute, claim), []).append(statement)
    for values, (attribute, place) in read_rows(
        store,
        "claim",
        Claim,
        "WHERE thing = ? ORDER BY attribute, position",
        (thing,),
        sources=sources,
        extra_columns=("attribute", "position"),
    ):
        statement_ids = tuple(statements.get((attribute, place), ()))
        claims[attribute].append(Claim(unit=units[attribute], statements=statement_ids, **values))
    return {
        name: AttributeClaims(thing=thing, name=name, unit=unit, claims=tuple(claims[name]), reason=reason)
        for name, unit, reason in rows
    }


def _read_subjects(store: CatalogDatabase, table: str, column: str) -> dict[str, _Subjects]:
    """Read the entries and the attributes of each row of a table, by the id of the row."""
    things: dict[str, dict[str, None]] = {}
    attributes: dict[str, dict[str, None]] = {}
    for row, thing, attribute in store.rows(
        f"SELECT {column}, thing, attribute FROM {table} ORDER BY {column}, position"
    ):
        things.setdefault(row, {})[thing] = None
        if attribute is not None:
            attributes.setdefault(row, {})[attribute] = None
    return {row: (tuple(subjects), tuple(attributes.get(row, ()))) for row, subjects in things.items()}


def _replace_subjects(statement: _Statement, subjects: _Subjects | None) -> _Statement:
    return statement if subjects is None else replace(statement, things=subjects[0], attributes=subjects[1])


class ShippedCatalog:
    """The content of one catalog file. Catalogs with different user facts share it."""

    def __init__(self, store: CatalogDatabase) -> None:
        self.store = store
        self._attributes: dict[str, dict[str, AttributeClaims]] = {}

    @cached_property
    def meta(self) -> dict[str, str]:
        return read_meta(self.store)

    @cached_property
    def things(self) -> dict[str, CatalogEntry]:
        """Every entry by id, in the order of lists."""
        rows = self.store.rows("SELECT id, kind, name, maker FROM thing ORDER BY kind, position")
        return {row[0]: CatalogEntry(row[0], CatalogEntryKind(row[1]), row[2], row[3]) for row in rows}

    @cached_property
    def sources(self) -> dict[str, Source]:
        """Every source by its id, in the order of the ids."""
        sources = (Source(**values) for values, _ in read_rows(self.store, "source", Source, "ORDER BY id"))
        return {source.id: source for source in sources}

    @cached_property
    def parts(self) -> dict[str, AcceleratorEntry]:
        """Every accelerator without its attributes, by id in the order of lists."""
        rows = read_entry_rows(self.store, "accelerator", "generation", "announced")
        return {row[0]: replace(AcceleratorEntry(*row), announced=bool(row[4])) for row in rows}

    @cached_property
    def part_values(self) -> dict[str, dict[str, ClaimValue]]:
        return read_preferred_values(self.store, "accelerator")

    @cached_property
    def systems(self) -> dict[str, SystemEntry]:
        """Every system without its attributes, by id in the order of lists."""
        rows = read_entry_rows(self.store, "system", "kind", "accelerator", "provider", "instance")
        return {row[0]: replace(SystemEntry(*row), kind=SystemKind(row[3])) for row in rows}

    @cached_property
    def system_values(self) -> dict[str, dict[str, ClaimValue]]:
        return read_preferred_values(self.store, "system")

    @cached_property
    def reference_designs(self) -> tuple[ReferenceDesign, ...]:
        """Every reference design, in the order of lists."""
        rows = read_entry_rows(self.store, "reference_design", "system", "accelerator_count")
        return tuple(ReferenceDesign(row[0], *row[3:]) for row in rows)

    @cached_property
    def definitions(self) -> dict[str, str]:
        """The structure of every model as JSON, by id in the order of lists."""
        return {model: text for model, _, _, text in read_entry_rows(self.store, "model", "definition")}

    @cached_property
    def model_values(self) -> dict[str, dict[str, ClaimValue]]:
        return read_preferred_values(self.store, "model")

    @cached_property
    def diffusion_models(self) -> dict[str, DiffusionModel]:
        """Every diffusion model with its results, in the order of lists."""
        results: dict[str, list[DiffusionResult]] = {}
        for values, (model,) in read_rows(
            self.store,
            "diffusion_result",
            DiffusionResult,
            "ORDER BY model, position",
            sources=self.sources,
            extra_columns=("model",),
        ):
            results.setdefault(model, []).append(DiffusionResult(**values))
        rows = read_entry_rows(self.store, "diffusion_model", "medium", "architecture")
        return {
            model: DiffusionModel(
                model,
                name,
                medium,
                tuple(results.get(model, ())),
                None if definition is None else restore_dataclass(DiffusionArchitecture, json.loads(definition)),
            )
            for model, name, _, medium, definition in rows
        }

    @cached_property
    def serving_engines(self) -> dict[str, ServingEngine]:
        return read_serving_engines(self.store)

    @cached_property
    def provider_classes(self) -> dict[str, ProviderClass]:
        rows = self.store.rows("SELECT provider, provider_class FROM provider")
        return {provider: ProviderClass(provider_class) for provider, provider_class in rows}

    @cached_property
    def prices(self) -> tuple[PriceRecord, ...]:
        """Every price: rents first, then purchases, each by accelerator."""
        rows = read_rows(self.store, "price", PriceRecord, "ORDER BY position", sources=self.sources)
        return tuple(
            PriceRecord(**values, provider_class=self.provider_classes.get(values["provider"], ProviderClass.UNKNOWN))
            for values, _ in rows
        )

    @cached_property
    def api_prices(self) -> tuple[ApiPrice, ...]:
        rows = read_rows(self.store, "api_price", ApiPrice, "ORDER BY position", sources=self.sources)
        return tuple(ApiPrice(**values) for values, _ in rows)

    @cached_property
    def missing_prices(self) -> tuple[MissingPrice, ...]:
        rows = read_rows(self.store, "missing_price", MissingPrice, "ORDER BY position", sources=self.sources)
        return tuple(MissingPrice(**values) for values, _ in rows)

    @cached_property
    def seed_claims(self) -> tuple[DocumentStatement, ...]:
        """The statements of the source documents, in the order of their ids."""
        subjects = _read_subjects(self.store, "seed_subject", "seed_claim")
        rows = read_rows(self.store, "seed_claim", DocumentStatement, "ORDER BY id", sources=self.sources)
        return tuple(_replace_subjects(DocumentStatement(**values), subjects.get(values["id"])) for values, _ in rows)

    @cached_property
    def disputes(self) -> tuple[Dispute, ...]:
        """The disputes, in the order of their ids."""
        subjects = _read_subjects(self.store, "dispute_subject", "dispute")
        rows = read_rows(self.store, "dispute", Dispute, "ORDER BY id")
        return tuple(_replace_subjects(Dispute(**values), subjects.get(values["id"])) for values, _ in rows)

    @cached_property
    def disputes_by_thing(self) -> dict[str, tuple[Dispute, ...]]:
        by_thing: dict[str, list[Dispute]] = {}
        for dispute in self.disputes:
            for thing in dict.fromkeys(dispute.things):
                by_thing.setdefault(thing, []).append(dispute)
        return {thing: tuple(disputes) for thing, disputes in by_thing.items()}

    def get_attribute_claims(self, thing: str) -> dict[str, AttributeClaims]:
        """Return the attributes of an entry, read once; empty for an unknown entry."""
        if thing not in self._attributes:
            self._attributes[thing] = read_attributes(self.store, thing, self.sources)
        return self._attributes[thing]
