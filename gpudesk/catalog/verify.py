"""Verification of an open catalog: sources, claims, references, revision."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from gpudesk.catalog.database import CatalogDatabase, CatalogFileError, compute_stored_revision
from gpudesk.catalog.model_definition import ShapeFault, ShapeRelation, find_shape_faults
from gpudesk.catalog.read import Catalog
from gpudesk.engine.diffusion import count_block_parameters
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.messages import Message, MessageParameter, message

#: Words in place of a second claim: the first is refuted by calculation or by dated pages.
REFUTATIONS: Final = frozenset({"ARITHMETIC", "PUBLIC-RECORD"})


@frozen_dataclass
class VerificationFinding:
    """A fault in the catalog; `where` names the entry, attribute, claim or table."""

    where: str
    problem: Message


def verify_catalog(catalog: Catalog) -> tuple[VerificationFinding, ...]:
    """Return all problems; empty if the catalog agrees with data/."""
    store = catalog.shipped.store
    # Each of the first two relies on the success of the check before.
    findings = tuple(_check_integrity(store)) or tuple(_check_references(store))
    if findings:
        return findings
    return (
        *_check_revision(catalog),
        *_check_claims(store),
        *_check_preferences(store),
        *_check_statements(store),
        *_check_disputes(store),
        *_check_models(catalog),
        *_check_diffusion_models(catalog),
        *_check_systems(catalog),
    )


def _check_integrity(store: CatalogDatabase) -> Iterator[VerificationFinding]:
    try:
        problems = [row[0] for row in store.rows("PRAGMA integrity_check")]
    except CatalogFileError as error:
        problems = [str(error.problem.parameters["reason"])]
    yield from (
        VerificationFinding("", message("catalog.verify.integrity", "the file is damaged: {reason}", reason=line))
        for line in problems
        if line != "ok"
    )


def _check_references(store: CatalogDatabase) -> Iterator[VerificationFinding]:
    for table, row, parent, _ in store.rows("PRAGMA foreign_key_check"):
        yield VerificationFinding(
            f"{table} {row}",
            message(
                "catalog.verify.dangling",
                "a row of {table} refers to a missing row of {parent}",
                table=table,
                parent=parent,
            ),
        )


def _check_revision(catalog: Catalog) -> Iterator[VerificationFinding]:
    digest, recorded_revision = compute_stored_revision(catalog.shipped.store), catalog.shipped_revision
    if digest != recorded_revision:
        problem = message(
            "catalog.verify.revision",
            "the rows differ from the built catalog: revision {digest} instead of {stated}",
            stated=recorded_revision,
            digest=digest,
        )
        yield VerificationFinding("meta", problem)


def _check_claims(store: CatalogDatabase) -> Iterator[VerificationFinding]:
    for thing, name in store.rows(
        "SELECT thing, name FROM attribute WHERE NOT EXISTS"
        " (SELECT 1 FROM claim WHERE claim.thing = attribute.thing AND claim.attribute = attribute.name)"
    ):
        yield VerificationFinding(f"{thing} {name}", message("catalog.verify.no_claim", "has no claim"))
    for (thing,) in store.rows(
        "SELECT id FROM thing WHERE kind != 'serving_engine' AND NOT EXISTS"
        " (SELECT 1 FROM attribute WHERE attribute.thing = thing.id)"
    ):
        yield VerificationFinding(thing, message("catalog.verify.no_attribute", "has no attribute"))


def _check_preferences(store: CatalogDatabase) -> Iterator[VerificationFinding]:
    """At most one claim of an attribute is preferred; differing claims have a reason.

    The reason is one of the attribute, or a verdict on every claim that states another value.
    """
    for thing, name, preferred in store.rows(
        "SELECT thing, attribute, sum(preferred) FROM claim GROUP BY thing, attribute HAVING sum(preferred) > 1"
    ):
        yield VerificationFinding(
            f"{thing} {name}",
            message("catalog.verify.preferred", "has {count} preferred claims; the limit is one", count=preferred),
        )
    for thing, name in store.rows(
        "SELECT thing, name FROM attribute WHERE reason IS NULL AND EXISTS"
        " (SELECT 1 FROM claim AS rival WHERE rival.thing = attribute.thing"
        " AND rival.attribute = attribute.name AND NOT rival.preferred AND rival.verdict IS NULL"
        " AND NOT EXISTS (SELECT 1 FROM claim AS taken WHERE taken.thing = attribute.thing"
        " AND taken.attribute = attribute.name AND taken.preferred AND taken.value = rival.value))"
    ):
        yield VerificationFinding(
            f"{thing} {name}", message("catalog.verify.no_reason", "claims differ, but the preferred one has no reason")
        )


def _check_statements(store: CatalogDatabase) -> Iterator[VerificationFinding]:
    for statement, thing, attribute in store.rows(
        "SELECT seed_claim.id, claim.thing, claim.attribute FROM seed_subject"
        " JOIN seed_claim ON seed_claim.id = seed_subject.seed_claim"
        " JOIN claim ON claim.thing = seed_subject.thing AND claim.attribute = seed_subject.attribute"
        " AND claim.position = seed_subject.claim WHERE claim.source != seed_claim.source"
    ):
        problem = message(
            "catalog.verify.other_source",
            "is linked to a claim of another source about {attribute} of {thing}",
            thing=thing,
            attribute=attribute,
        )
        yield VerificationFinding(statement, problem)


def _check_disputes(store: CatalogDatabase) -> Iterator[VerificationFinding]:
    """The second side of a dispute is a claim, a word for a refutation, or empty."""
    words = sorted(REFUTATIONS)
    marks = ", ".join("?" for _ in words)
    for dispute, claim in store.rows(
        "SELECT id, claim_b FROM dispute WHERE claim_b IS NOT NULL"
        f" AND claim_b NOT IN ({marks}) AND claim_b NOT IN (SELECT id FROM seed_claim)",
        words,
    ):
        yield VerificationFinding(
            dispute,
            message("catalog.verify.no_such_claim", "refers to the claim {claim}, which does not exist", claim=claim),
        )


def _check_models(catalog: Catalog) -> Iterator[VerificationFinding]:
    for model in catalog.models():
        for fault in find_shape_faults(model):
            where = f"{model.id} layers.{fault.group}"
            yield VerificationFinding(where, _describe_shape_fault(fault))


#: Share of a denoiser's parameters in its blocks; embeddings and projections have the rest.
_BLOCK_SHARES: Final = (0.75, 1.15)


def _check_diffusion_models(catalog: Catalog) -> Iterator[VerificationFinding]:
    """Compare the parameters of blocks, by their dimensions, with the stated ones of the denoiser."""
    least, most = _BLOCK_SHARES
    for model in catalog.diffusion_models():
        architecture = model.architecture
        if architecture is None or architecture.is_unet:
            continue
        blocks = count_block_parameters(architecture)
        if not least <= blocks / architecture.parameters <= most:
            problem = message(
                "catalog.verify.block_parameters",
                "the blocks have {blocks} parameters, which does not fit the {stated} of the model",
                blocks=blocks,
                stated=architecture.parameters,
            )
            yield VerificationFinding(f"{model.id} architecture.blocks", problem)


def _check_systems(catalog: Catalog) -> Iterator[VerificationFinding]:
    for system in catalog.systems():
        values = {each.name: each.value for each in catalog.attributes(system.id) if each.preferred is not None}
        for name, fault in find_system_faults({"accelerator_power": system.accelerator_power_w, **values}):
            yield VerificationFinding(f"{system.id} {name}", fault)


#: Minimum power of a system, as a share of the power of its accelerators.
_LEAST_POWER: Final = 0.9
#: Attributes of systems that cannot exceed another.
_ORDERED: Final = (
    ("power_typical", "power_max"),
    ("price_low", "price_high"),
    ("host_memory", "host_memory_max"),
    ("nodes", "accelerator_count"),
)


def find_system_faults(values: Mapping[str, Any]) -> Iterator[tuple[str, Message]]:
    """Yield the impossible attributes of a system with reasons; `values` are the preferred ones, in SI units.

    `accelerator_power` among them is that of the accelerator unless the system has its own.
    """
    count, slots, power = (values.get(name) for name in ("accelerator_count", "accelerator_slots", "power_max"))
    if count is None:
        yield "accelerator_count", message("catalog.verify.no_count", "needs a preferred claim")
    elif slots is not None and count > slots:
        yield (
            "accelerator_count",
            message(
                "catalog.verify.slots", "{count} accelerators do not fit into {slots} slots", count=count, slots=slots
            ),
        )
    for name, other in _ORDERED:
        if name in values and other in values and values[name] > values[other]:
            yield (
                name,
                message(
                    "catalog.verify.order",
                    "{value} exceeds {other}, which is {other_value}",
                    value=values[name],
                    other=other,
                    other_value=values[other],
                ),
            )
    single = values.get("accelerator_power")
    if power is not None and single is not None and count is not None and power < _LEAST_POWER * count * single:
        yield (
            "power_max",
            message(
                "catalog.verify.power",
                "{power} is less than {count} accelerators of {single} draw",
                power=(power, "W"),
                count=count,
                single=(single, "W"),
            ),
        )


def _describe_shape_fault(fault: ShapeFault) -> Message:
    if fault.relation is ShapeRelation.KEPT:
        return message("catalog.verify.nothing_kept", "reuses a cache, but no layer of its shape has one")
    parameters: dict[str, MessageParameter] = {
        "dimension": fault.dimension,
        "value": fault.value,
        "than": fault.other,
        "than_value": fault.other_value,
    }
    if fault.relation is ShapeRelation.MULTIPLE:
        return message(
            "catalog.verify.multiple",
            "{dimension} is {value}, which is not a multiple of {than}, {than_value}",
            **parameters,
        )
    return message("catalog.verify.at_most", "{dimension} is {value}, which exceeds {than}, {than_value}", **parameters)
