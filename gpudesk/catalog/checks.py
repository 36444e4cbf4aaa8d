"""Whether the records of `data/` make sense together: sources exist, units fit, one claim is preferred."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import TypeVar

from pydantic import BaseModel

from gpudesk.catalog import attribute_names
from gpudesk.catalog.definitions import model_of
from gpudesk.catalog.files import DataFiles, Entry
from gpudesk.catalog.model_attributes import claim_problems, model_attributes
from gpudesk.catalog.model_schema import ModelFile
from gpudesk.catalog.model_shapes import shape_faults
from gpudesk.catalog.problems import Problem
from gpudesk.catalog.references import references
from gpudesk.catalog.schemas import AcceleratorFile, AttributeRecord, DiffusionFile
from gpudesk.catalog.statements import with_statements
from gpudesk.catalog.values import value_in_si
from gpudesk.domain.claims import is_figure
from gpudesk.domain.units import UnknownUnitError, si_unit

#: The path of a field and what is wrong with it.
_Fault = tuple[str, str]
_R = TypeVar("_R", bound=BaseModel)


def check(files: DataFiles, broken: frozenset[str] = frozenset()) -> Iterator[Problem]:
    """Yield every problem that is not one of a single field's type.

    `broken` are the files with such problems: what they would have held is not said to be missing.
    """
    yield from _ids(files)
    for accelerator in files.accelerators:
        yield from _accelerator(accelerator)
    for diffusion in files.diffusion:
        yield from _attributes(diffusion, diffusion.record.attributes, attribute_names.DIFFUSION)
    for model in files.models:
        yield from (model.problem(*found) for found in _model(model.record))
    for rent in files.rents:
        if rent.record.usd_per_accelerator_hour is None and rent.record.usd_low is None:
            yield rent.problem("usd_per_accelerator_hour", "is empty, and so is usd_low")
    yield from references(files, broken)
    yield from with_statements(files).problems


def _ids(files: DataFiles) -> Iterator[Problem]:
    """A file is named by its id, and no two things or sources share one."""
    seen: dict[str, str] = {}
    things: Iterable[Entry[AcceleratorFile] | Entry[ModelFile] | Entry[DiffusionFile]] = (
        *files.accelerators,
        *files.models,
        *files.diffusion,
    )
    for entry in things:
        if PurePosixPath(entry.file).stem != entry.record.id:
            yield entry.problem("id", f"{entry.record.id!r} is not the name of the file")
        if entry.record.id in seen:
            yield entry.problem("id", f"{entry.record.id!r} stands in {seen[entry.record.id]} too")
        seen[entry.record.id] = entry.file
    yield from _repeated(files.sources, lambda entry: entry.place)
    yield from _repeated(files.seed_claims, lambda entry: entry.record.id)
    yield from _repeated(files.disputes, lambda entry: entry.record.id)
    yield from _repeated((*files.rents, *files.purchases), lambda entry: entry.record.model_dump_json())


def _repeated(entries: Iterable[Entry[_R]], key: Callable[[Entry[_R]], str]) -> Iterator[Problem]:
    """Yield every entry whose key another before it has."""
    seen: dict[str, Entry[_R]] = {}
    for entry in entries:
        first = seen.setdefault(key(entry), entry)
        if first is not entry:
            yield entry.problem("", f"is the same as {first.file} {first.place}")


def _accelerator(entry: Entry[AcceleratorFile]) -> Iterator[Problem]:
    """Check the attributes, and that there is what every estimate needs."""
    yield from _attributes(entry, entry.record.attributes, attribute_names.ACCELERATOR)
    for name in attribute_names.ACCELERATOR_REQUIRED:
        attribute = entry.record.attributes.get(name)
        if attribute is None or not any(claim.preferred for claim in attribute.claims):
            yield entry.problem(
                f"attributes.{name}", "needs a preferred claim: no estimate is possible without"
            )


def _attributes(
    entry: Entry[_R], attributes: Mapping[str, AttributeRecord], units: Mapping[str, str | None]
) -> Iterator[Problem]:
    """Check the attributes of a thing whose possible attributes and their units are `units`."""
    for name, attribute in attributes.items():
        if name not in units:
            yield entry.problem(f"attributes.{name}", "is no attribute that such a thing can have")
            continue
        faults = [*_claims(attribute, units[name]), *_preference(attribute, verdicts_suffice=False)]
        yield from (entry.problem(f"attributes.{name}.{field}".rstrip("."), told) for field, told in faults)


def _model(model: ModelFile) -> Iterator[_Fault]:
    """Check the names of layers, the shapes, and the claims about dimensions."""
    yield from claim_problems(model)
    for name, attribute in model_attributes(model).items():
        faults = [*_claims(attribute, attribute.unit), *_preference(attribute, verdicts_suffice=True)]
        yield from ((f"claims about {name}", told) for _, told in faults)
    unnamed = list(_layer_names(model))
    yield from unnamed
    if not unnamed and model.layers:
        definition = model.definition()
        missing = [
            name for name in ("hidden_size", "vocab_size", "tied_embeddings") if name not in definition
        ]
        yield from ((name, "is missing: the layers are known, so this must be too") for name in missing)
        yield from ((f"layers.{fault.group}", str(fault)) for fault in shape_faults(model_of(definition)))


def _layer_names(model: ModelFile) -> Iterator[_Fault]:
    """Every layer names kinds that the file describes, and every kind is used."""
    used: set[tuple[str, str]] = set()
    for number, group in enumerate(model.layers, start=1):
        for part, name, known in (("mixer", group.mixer, model.mixers), ("ffn", group.ffn, model.ffns)):
            if name is not None and name not in known:
                yield f"layers.{number}.{part}", f"there is no [{part}s.{name}]"
            used.add((part, name or ""))
    for part, known in (("mixer", model.mixers), ("ffn", model.ffns)):
        for name in known:
            if (part, name) not in used:
                yield f"{part}s.{name}", "is used by no layer"


def _claims(attribute: AttributeRecord, unit: str | None) -> Iterator[_Fault]:
    """Figures carry a unit that the attribute can have, words carry none."""
    for number, claim in enumerate(attribute.claims, start=1):
        given = claim.unit or attribute.unit
        field = f"claims.{number}"
        if unit is None:
            if given is not None:
                yield f"{field}.unit", f"is {given!r}, but the attribute has no unit"
        elif not is_figure(claim.value):
            yield f"{field}.value", f"{claim.value!r} is no figure, and the attribute is one in {unit}"
        elif claim.value <= 0:
            yield f"{field}.value", f"{claim.value!r} is not above zero"
        elif given is None:
            yield f"{field}.unit", f"is missing; the figure must be one in {unit}"
        else:
            yield from ((f"{field}.unit", told) for told in _unit_faults(given, unit))


def _unit_faults(given: str, wanted: str) -> Iterator[str]:
    try:
        found = si_unit(given)
    except UnknownUnitError:
        yield f"{given!r} is no unit that the program knows"
        return
    if found != wanted:
        yield f"{given!r} is a unit of {found}, not of {wanted}"


def _preference(attribute: AttributeRecord, *, verdicts_suffice: bool) -> Iterator[_Fault]:
    """One claim is preferred, or none and the attribute says so; where claims differ it is said why."""
    preferred = sum(claim.preferred for claim in attribute.claims)
    if preferred > 1:
        yield "", f"{preferred} claims are preferred; one can be"
    elif attribute.none_preferred and preferred:
        yield "none_preferred", "is set, but a claim is preferred"
    elif not attribute.none_preferred and not preferred:
        yield "", "no claim is preferred; prefer one, or set none_preferred with a reason"
    judged = verdicts_suffice and all(claim.preferred or claim.verdict for claim in attribute.claims)
    if attribute.reason is None and not judged and (attribute.none_preferred or _differ(attribute)):
        yield "reason", "is missing: the claims differ, so say why the preferred one is"


def _differ(attribute: AttributeRecord) -> bool:
    """Whether the claims state more than one value, compared in the unit used inside."""
    stated = set()
    for claim in attribute.claims:
        try:
            stated.add(repr(value_in_si(claim.value, claim.unit or attribute.unit)))
        except UnknownUnitError:
            stated.add(repr(claim.value))
    return len(stated) > 1
