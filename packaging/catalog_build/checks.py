"""Consistency checks of the data files: units, preferences, references."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import PurePosixPath
from typing import Any, Final, TypeVar

from pydantic import BaseModel

from catalog_build.claims import (
    find_claim_problems,
    join_statements,
    list_attribute_files,
    list_attributes_by_thing,
    make_model_attributes,
)
from catalog_build.files import DataEntry, DataFiles, DataProblem
from catalog_build.records import (
    AcceleratorFile,
    AttributeRecord,
    CloudPriceRecord,
    DisputeRecord,
    MissingPriceRecord,
    ModelFile,
    PurchasePriceRecord,
    SeedClaimRecord,
    split_names,
)
from catalog_build.serving_engines import find_engine_faults
from gpudesk.catalog.model_definition import find_shape_faults, parse_model
from gpudesk.catalog.verify import REFUTATIONS, find_system_faults
from gpudesk.domain.accelerator import SystemKind
from gpudesk.domain.attributes import convert_claim_to_si, get_units
from gpudesk.domain.claim import CatalogEntryKind, is_figure
from gpudesk.domain.registry import list_required_attributes
from gpudesk.text.messages import format_message
from gpudesk.text.units import UnknownUnitError, get_si_unit

#: Attributes by entry and name.
RecordsByThing = Mapping[str, Mapping[str, AttributeRecord]]
_SourceReference = tuple[DataEntry[BaseModel], str, str]


def find_missing_references(files: DataFiles, things: RecordsByThing, broken: frozenset[str]) -> Iterator[DataProblem]:
    """Yield every name that does not exist; contents of `broken` files count as existing."""
    if not _has_broken_sources(broken):
        source_ids = _list_sources(files)
        for entry, field, source in (*_iterate_entry_sources(files), *_iterate_row_sources(files)):
            if source not in source_ids:
                yield entry.problem(field, f"there is no source {source!r} in sources/")
    lost = frozenset(PurePosixPath(file).stem for file in broken)
    yield from _check_accelerators(files, lost)
    model_ids = lost | {entry.record.id for entry in files.models}
    for price in files.api_prices:
        if price.record.model not in model_ids:
            yield price.problem("model", f"there is no model {price.record.model!r}")
    yield from _check_providers(files, broken)
    yield from _check_subjects(files, things, lost)
    if "claims/seeds.csv" not in broken:
        yield from _check_disputed_claims(files)


def _has_broken_sources(broken: frozenset[str]) -> bool:
    return any(file.startswith("sources/") for file in broken)


def _list_sources(files: DataFiles) -> frozenset[str]:
    return frozenset(entry.place.removeprefix("sources.") for entry in files.sources)


def _list_accelerator_prices(
    files: DataFiles,
) -> tuple[DataEntry[CloudPriceRecord] | DataEntry[PurchasePriceRecord] | DataEntry[MissingPriceRecord], ...]:
    return (*files.rents, *files.purchases, *files.missing_prices)


def _iterate_entry_sources(files: DataFiles) -> Iterator[_SourceReference]:
    for entry in list_attribute_files(files):
        for name, attribute in entry.record.attributes.items():
            for number, claim in enumerate(attribute.claims, start=1):
                yield entry, f"attributes.{name}.claims.{number}.source", claim.source
    for diffusion in files.diffusion:
        for field, result in diffusion.record.results():
            yield diffusion, f"{field}.source", result.source
        if diffusion.record.architecture is not None:
            yield diffusion, "architecture.source", diffusion.record.architecture.source
    for model in files.models:
        if model.record.dimensions_source is not None:
            yield model, "dimensions_source", model.record.dimensions_source
        for number, claim in enumerate(model.record.claims, start=1):
            yield model, f"claims.{number}.source", claim.source


def _iterate_row_sources(files: DataFiles) -> Iterator[_SourceReference]:
    for price in (*_list_accelerator_prices(files), *files.api_prices):
        yield price, "source", price.record.source
    for claim in files.seed_claims:
        yield claim, "source", claim.record.source


def _check_accelerators(files: DataFiles, lost: frozenset[str]) -> Iterator[DataProblem]:
    accelerator_ids = lost | {entry.record.id for entry in files.accelerators}
    references: list[tuple[DataEntry[BaseModel], str, str | None]] = [
        (price, "accelerator", price.record.accelerator) for price in _list_accelerator_prices(files)
    ]
    references += [(system, "accelerator", system.record.accelerator) for system in files.systems]
    for diffusion in files.diffusion:
        results = diffusion.record.results()
        references += [(diffusion, f"{field}.accelerator", result.accelerator) for field, result in results]
    for entry, field, accelerator in references:
        if accelerator is not None and accelerator not in accelerator_ids:
            yield entry.problem(field, f"there is no accelerator {accelerator!r}")
    systems = lost | {entry.record.id for entry in files.systems}
    for design in files.reference_designs:
        if design.record.system not in systems:
            yield design.problem("system", f"there is no system {design.record.system!r}")


def _check_providers(files: DataFiles, broken: frozenset[str]) -> Iterator[DataProblem]:
    if "prices/providers.csv" in broken:
        return
    providers = {entry.record.provider for entry in files.providers}
    for price in files.rents:
        if price.record.provider not in providers:
            yield price.problem("provider", f"prices/providers.csv has no class of {price.record.provider!r}")


def _check_subjects(files: DataFiles, things: RecordsByThing, lost: frozenset[str]) -> Iterator[DataProblem]:
    statements: tuple[DataEntry[SeedClaimRecord] | DataEntry[DisputeRecord], ...] = (
        *files.seed_claims,
        *files.disputes,
    )
    for entry in statements:
        subjects, attributes = split_names(entry.record.thing), split_names(entry.record.thing_attribute)
        if attributes and not subjects:
            yield entry.problem("thing", "is empty, but thing_attribute is not")
        for thing in subjects:
            if thing in lost:
                continue
            if thing not in things:
                yield entry.problem("thing", f"there is no {thing!r} in the catalog")
                continue
            for attribute in attributes:
                if attribute not in things[thing]:
                    yield entry.problem("thing_attribute", f"{thing} has no attribute {attribute!r}")


def _check_disputed_claims(files: DataFiles) -> Iterator[DataProblem]:
    claims = {entry.record.id for entry in files.seed_claims}
    for entry in files.disputes:
        sides: Iterable[tuple[str, str | None, frozenset[str]]] = (
            ("claim_a", entry.record.claim_a, frozenset()),
            ("claim_b", entry.record.claim_b, REFUTATIONS),
        )
        for field, claim, words in sides:
            if claim is not None and claim not in claims and claim not in words:
                yield entry.problem(field, f"there is no claim {claim!r}")


#: The path of a field and its problem.
_Fault = tuple[str, str]
_R = TypeVar("_R", bound=BaseModel)


def find_data_problems(files: DataFiles, broken: frozenset[str] = frozenset()) -> Iterator[DataProblem]:
    """Yield every problem beyond the type of a single field.

    `broken` are the files with such problems: their content is not reported as missing.
    """
    yield from _check_ids(files)
    for accelerator in files.accelerators:
        yield from _check_accelerator(accelerator)
    for diffusion in files.diffusion:
        yield from _check_attributes(
            diffusion, diffusion.record.attributes, get_units(CatalogEntryKind.DIFFUSION_MODEL)
        )
    yield from _check_systems(files)
    for design in files.reference_designs:
        units = get_units(CatalogEntryKind.REFERENCE_DESIGN)
        yield from _check_attributes(design, design.record.attributes, units, verdicts_suffice=True)
    for model in files.models:
        yield from (model.problem(*fault) for fault in _check_model(model.record))
    for rent in files.rents:
        if rent.record.usd_per_accelerator_hour is None and rent.record.usd_low is None:
            yield rent.problem("usd_per_accelerator_hour", "is empty, and so is usd_low")
    sources = None if _has_broken_sources(broken) else _list_sources(files)
    yield from find_engine_faults(files.engines, sources)
    things = list_attributes_by_thing(files)
    yield from find_missing_references(files, things, broken)
    yield from join_statements(files, things).problems


def _check_ids(files: DataFiles) -> Iterator[DataProblem]:
    """A file is named by its id, and ids of entries and sources are unique."""
    first_places: dict[str, str] = {}
    things = (*list_attribute_files(files), *files.models)
    for entry in things:
        if PurePosixPath(entry.file).stem != entry.record.id:
            yield entry.problem("id", f"{entry.record.id!r} is not the name of the file")
        if entry.record.id in first_places:
            yield entry.problem("id", f"{entry.record.id!r} stands in {first_places[entry.record.id]} too")
        first_places[entry.record.id] = entry.file
    yield from _check_repeated(files.sources, lambda entry: entry.place)
    yield from _check_repeated(files.seed_claims, lambda entry: entry.record.id)
    yield from _check_repeated(files.disputes, lambda entry: entry.record.id)
    yield from _check_repeated(files.purchases, lambda entry: entry.record.model_dump_json())
    yield from _check_repeated(files.providers, lambda entry: entry.record.provider)
    yield from _check_repeated(
        files.rents,
        lambda entry: entry.record.model_dump_json(include=_OFFER),
        "is a second price of one provider, accelerator, term, instance, region and date, after",
    )
    yield from _check_repeated(
        files.api_prices,
        lambda entry: entry.record.model_dump_json(include={"model", "provider", "date"}),
        "is a second price of one provider, model and date, after",
    )


#: The fields that distinguish two rents of one provider.
_OFFER: Final = {"provider", "accelerator", "term", "accelerators_in_instance", "instance", "region", "date"}


def _check_repeated(
    entries: Iterable[DataEntry[_R]], key: Callable[[DataEntry[_R]], str], problem: str = "is the same as"
) -> Iterator[DataProblem]:
    first_entries: dict[str, DataEntry[_R]] = {}
    for entry in entries:
        first = first_entries.setdefault(key(entry), entry)
        if first is not entry:
            yield entry.problem("", f"{problem} {first.file} {first.place}")


def _check_accelerator(entry: DataEntry[AcceleratorFile]) -> Iterator[DataProblem]:
    units = get_units(CatalogEntryKind.ACCELERATOR)
    yield from _check_attributes(entry, entry.record.attributes, units)
    for name in list_required_attributes():
        attribute = entry.record.attributes.get(name)
        if attribute is None or not any(claim.preferred for claim in attribute.claims):
            yield entry.problem(f"attributes.{name}", "needs a preferred claim: no estimate is possible without")


def _check_systems(files: DataFiles) -> Iterator[DataProblem]:
    """Check attributes first: only readable ones are compared with each other."""
    units = get_units(CatalogEntryKind.SYSTEM)
    powers = {entry.record.id: _list_preferred(entry.record.attributes).get("tdp") for entry in files.accelerators}
    for entry in files.systems:
        system = entry.record
        problems = [*_check_attributes(entry, system.attributes, units, verdicts_suffice=True)]
        if (system.kind is SystemKind.INSTANCE) != (system.provider is not None):
            problems.append(entry.problem("provider", "is what an instance must have, and nothing else"))
        if not problems:
            values = {"accelerator_power": powers.get(system.accelerator), **_list_preferred(system.attributes)}
            problems += [
                entry.problem(f"attributes.{name}", format_message(fault)) for name, fault in find_system_faults(values)
            ]
        yield from problems


def _list_preferred(attributes: Mapping[str, AttributeRecord]) -> dict[str, Any]:
    """Return the preferred values in internal units, without those of unknown units."""
    values = {}
    for name, attribute in attributes.items():
        for claim in attribute.claims:
            if claim.preferred:
                with suppress(UnknownUnitError):
                    values[name] = convert_claim_to_si(claim.value, claim.unit or attribute.unit)
    return values


def _check_attributes(
    entry: DataEntry[_R],
    attributes: Mapping[str, AttributeRecord],
    units: Mapping[str, str | None],
    *,
    verdicts_suffice: bool = False,
) -> Iterator[DataProblem]:
    """Check the attributes of an entry whose possible attributes and their units are `units`."""
    for name, attribute in attributes.items():
        if name not in units:
            yield entry.problem(f"attributes.{name}", "is no attribute that such a thing can have")
            continue
        faults = [
            *_check_claims(attribute, units[name]),
            *_check_preference(attribute, verdicts_suffice=verdicts_suffice),
        ]
        yield from (entry.problem(f"attributes.{name}.{field}".rstrip("."), problem) for field, problem in faults)


def _check_model(model: ModelFile) -> Iterator[_Fault]:
    attributes = make_model_attributes(model)
    yield from find_claim_problems(model, attributes)
    for name, attribute in attributes.items():
        faults = [*_check_claims(attribute, attribute.unit), *_check_preference(attribute, verdicts_suffice=True)]
        yield from ((f"claims about {name}", problem) for _, problem in faults)
    unnamed = list(_check_layer_names(model))
    yield from unnamed
    if not unnamed and model.layers:
        definition = model.definition()
        missing = [name for name in ("hidden_size", "vocab_size", "tied_embeddings") if name not in definition]
        yield from ((name, "is missing: the layers are known, so this must be too") for name in missing)
        yield from ((f"layers.{fault.group}", str(fault)) for fault in find_shape_faults(parse_model(definition)))


def _check_layer_names(model: ModelFile) -> Iterator[_Fault]:
    used: set[tuple[str, str]] = set()
    for number, group in enumerate(model.layers, start=1):
        for part, name, definitions in (("mixer", group.mixer, model.mixers), ("ffn", group.ffn, model.ffns)):
            if name is not None and name not in definitions:
                yield f"layers.{number}.{part}", f"there is no [{part}s.{name}]"
            used.add((part, name or ""))
    for part, definitions in (("mixer", model.mixers), ("ffn", model.ffns)):
        for name in definitions:
            if (part, name) not in used:
                yield f"{part}s.{name}", "is used by no layer"


def _check_claims(attribute: AttributeRecord, unit: str | None) -> Iterator[_Fault]:
    """Figures need a unit that suits the attribute, words have none."""
    for number, claim in enumerate(attribute.claims, start=1):
        unit_text = claim.unit or attribute.unit
        field = f"claims.{number}"
        if unit is None:
            if unit_text is not None:
                yield f"{field}.unit", f"is {unit_text!r}, but the attribute has no unit"
        elif not is_figure(claim.value):
            yield f"{field}.value", f"{claim.value!r} is no figure, and the attribute is one in {unit}"
        elif claim.value <= 0:
            yield f"{field}.value", f"{claim.value!r} is not above zero"
        elif unit_text is None:
            yield f"{field}.unit", f"is missing; the figure must be one in {unit}"
        else:
            yield from ((f"{field}.unit", problem) for problem in _check_unit(unit_text, unit))


def _check_unit(unit_text: str, si_unit: str) -> Iterator[str]:
    try:
        actual_unit = get_si_unit(unit_text)
    except UnknownUnitError:
        yield f"{unit_text!r} is no unit that the program knows"
        return
    if actual_unit != si_unit:
        yield f"{unit_text!r} is a unit of {actual_unit}, not of {si_unit}"


def _check_preference(attribute: AttributeRecord, *, verdicts_suffice: bool) -> Iterator[_Fault]:
    """Exactly one claim is preferred, unless the attribute states otherwise; differing claims need a reason."""
    preferred = sum(claim.preferred for claim in attribute.claims)
    if preferred > 1:
        yield "", f"{preferred} claims are preferred; one can be"
    elif attribute.none_preferred and preferred:
        yield "none_preferred", "is set, but a claim is preferred"
    elif not attribute.none_preferred and not preferred:
        yield "", "no claim is preferred; prefer one, or set none_preferred with a reason"
    judged = verdicts_suffice and all(claim.preferred or claim.verdict for claim in attribute.claims)
    if attribute.reason is None and not judged and (attribute.none_preferred or _has_different_values(attribute)):
        yield "reason", "is missing: the claims differ, so say why the preferred one is"


def _has_different_values(attribute: AttributeRecord) -> bool:
    """Whether the claims state more than one value, compared in the internal unit."""
    si_values = set()
    for claim in attribute.claims:
        try:
            si_values.add(repr(convert_claim_to_si(claim.value, claim.unit or attribute.unit)))
        except UnknownUnitError:
            si_values.add(repr(claim.value))
    return len(si_values) > 1
