"""Whether everything that the files of `data/` name exists: sources, things, attributes, claims."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Final

from pydantic import BaseModel

from gpudesk.catalog.files import DataFiles, Entry
from gpudesk.catalog.model_attributes import model_attributes
from gpudesk.catalog.problems import Problem
from gpudesk.catalog.schemas import (
    AcceleratorFile,
    AttributeRecord,
    CloudPriceRecord,
    DiffusionFile,
    DisputeRecord,
    PurchasePriceRecord,
    SeedClaimRecord,
    listed,
)

#: What can stand in the place of a second claim: the first is refused by calculation or by dated pages.
REFUTATIONS: Final = frozenset({"ARITHMETIC", "PUBLIC-RECORD"})

#: Attributes by thing and name.
Attributes = Mapping[str, Mapping[str, AttributeRecord]]
_Naming = tuple[Entry[BaseModel], str, str]


def references(files: DataFiles, broken: frozenset[str] = frozenset()) -> Iterator[Problem]:
    """Yield every name of something that is not there; what `broken` files held counts as being there."""
    if not any(file.startswith("sources/") for file in broken):
        yield from _sources_exist(files)
    lost = frozenset(PurePosixPath(file).stem for file in broken)
    yield from _accelerators_exist(files, lost)
    yield from _subjects_exist(files, lost)
    if "claims/seeds.csv" not in broken:
        yield from _disputed_claims_exist(files)


def attributes_of_things(files: DataFiles) -> dict[str, dict[str, AttributeRecord]]:
    """Return the attributes of every accelerator, model and diffusion model by its id."""
    found = {entry.record.id: dict(entry.record.attributes) for entry in _written(files)}
    return found | {entry.record.id: model_attributes(entry.record) for entry in files.models}


def _sources_exist(files: DataFiles) -> Iterator[Problem]:
    """Every source that is named stands in data/sources/."""
    known = {entry.place.removeprefix("sources.") for entry in files.sources}
    for entry, field, source in (*_sources_of_things(files), *_sources_of_rows(files)):
        if source not in known:
            yield entry.problem(field, f"there is no source {source!r} in sources/")


def _written(files: DataFiles) -> tuple[Entry[AcceleratorFile] | Entry[DiffusionFile], ...]:
    """Return the files in which attributes are written out."""
    return (*files.accelerators, *files.diffusion)


def _priced(files: DataFiles) -> tuple[Entry[CloudPriceRecord] | Entry[PurchasePriceRecord], ...]:
    return (*files.rents, *files.purchases)


def _sources_of_things(files: DataFiles) -> Iterator[_Naming]:
    """Yield where files of things name a source, and which."""
    for entry in _written(files):
        for name, attribute in entry.record.attributes.items():
            for number, claim in enumerate(attribute.claims, start=1):
                yield entry, f"attributes.{name}.claims.{number}.source", claim.source
    for diffusion in files.diffusion:
        for field, result in diffusion.record.results():
            yield diffusion, f"{field}.source", result.source
    for model in files.models:
        if model.record.dimensions_source is not None:
            yield model, "dimensions_source", model.record.dimensions_source
        for number, claim in enumerate(model.record.claims, start=1):
            yield model, f"claims.{number}.source", claim.source


def _sources_of_rows(files: DataFiles) -> Iterator[_Naming]:
    """Yield where rows of tables name a source, and which."""
    for price in _priced(files):
        yield price, "source", price.record.source
    for claim in files.seed_claims:
        yield claim, "source", claim.record.source


def _accelerators_exist(files: DataFiles, lost: frozenset[str]) -> Iterator[Problem]:
    """Prices and reported times are those of parts in the catalog, or of none."""
    known = lost | {entry.record.id for entry in files.accelerators}
    named: list[tuple[Entry[BaseModel], str, str | None]] = [
        (price, "accelerator", price.record.accelerator) for price in _priced(files)
    ]
    for diffusion in files.diffusion:
        results = diffusion.record.results()
        named += [(diffusion, f"{field}.accelerator", result.accelerator) for field, result in results]
    for entry, field, accelerator in named:
        if accelerator is not None and accelerator not in known:
            yield entry.problem(field, f"there is no accelerator {accelerator!r}")


def _subjects_exist(files: DataFiles, lost: frozenset[str]) -> Iterator[Problem]:
    """Claims of the source documents and disputes are about things and attributes of the catalog, or none."""
    things = attributes_of_things(files)
    statements: tuple[Entry[SeedClaimRecord] | Entry[DisputeRecord], ...] = (
        *files.seed_claims,
        *files.disputes,
    )
    for entry in statements:
        named, attributes = listed(entry.record.thing), listed(entry.record.thing_attribute)
        if attributes and not named:
            yield entry.problem("thing", "is empty, but thing_attribute is not")
        for thing in named:
            if thing in lost:
                continue
            if thing not in things:
                yield entry.problem("thing", f"there is no {thing!r} in the catalog")
                continue
            for attribute in attributes:
                if attribute not in things[thing]:
                    yield entry.problem("thing_attribute", f"{thing} has no attribute {attribute!r}")


def _disputed_claims_exist(files: DataFiles) -> Iterator[Problem]:
    """Both sides are claims of the source documents, or the second is a word for a refutation."""
    claims = {entry.record.id for entry in files.seed_claims}
    for entry in files.disputes:
        sides: Iterable[tuple[str, str | None, frozenset[str]]] = (
            ("claim_a", entry.record.claim_a, frozenset()),
            ("claim_b", entry.record.claim_b, REFUTATIONS),
        )
        for field, claim, words in sides:
            if claim is not None and claim not in claims and claim not in words:
                yield entry.problem(field, f"there is no claim {claim!r}")
