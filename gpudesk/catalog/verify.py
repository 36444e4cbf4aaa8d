"""Verifies an open catalog: every attribute has a source, every claim resolves, no row dangles.

The files were checked before the catalog was built. This looks at what was built, as it lies on the disk.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gpudesk.catalog.model_shapes import Relation, ShapeFault, shape_faults
from gpudesk.catalog.queries import Catalog
from gpudesk.catalog.references import REFUTATIONS
from gpudesk.catalog.revisions import stored_revision
from gpudesk.catalog.store import CatalogFileError, Store
from gpudesk.domain.messages import Message, message


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong with the catalog; `where` names the thing, attribute, claim or table."""

    where: str
    problem: Message


def verify(catalog: Catalog) -> tuple[Finding, ...]:
    """Return everything that is wrong; nothing means that the catalog says what data/ said."""
    store = catalog.shipped.store
    # Each of the first two reads what only holds where the one before found nothing.
    findings = tuple(_integrity(store)) or tuple(_dangling(store))
    if findings:
        return findings
    return (
        *_revision(catalog),
        *_claims(store),
        *_preferences(store),
        *_statements(store),
        *_disputes(store),
        *_models(catalog),
    )


def _integrity(store: Store) -> Iterator[Finding]:
    """SQLite's own check of pages, indexes and constraints."""
    try:
        told = [row[0] for row in store.rows("PRAGMA integrity_check")]
    except CatalogFileError as error:
        told = [str(error.problem.parameters["reason"])]
    yield from (
        Finding("", message("catalog.verify.integrity", reason=line)) for line in told if line != "ok"
    )


def _dangling(store: Store) -> Iterator[Finding]:
    """Every row that names a source, thing, attribute or claim that is not there."""
    for table, row, parent, _ in store.rows("PRAGMA foreign_key_check"):
        yield Finding(f"{table} {row}", message("catalog.verify.dangling", table=table, parent=parent))


def _revision(catalog: Catalog) -> Iterator[Finding]:
    """The rows are those that were built."""
    digest, stated = stored_revision(catalog.shipped.store), catalog.shipped_revision
    if digest != stated:
        problem = message("catalog.verify.revision", stated=stated, digest=digest)
        yield Finding("meta", problem)


def _claims(store: Store) -> Iterator[Finding]:
    """Every attribute has a claim, and every thing that is looked up has attributes."""
    for thing, name in store.rows(
        "SELECT thing, name FROM attribute WHERE NOT EXISTS"
        " (SELECT 1 FROM claim WHERE claim.thing = attribute.thing AND claim.attribute = attribute.name)"
    ):
        yield Finding(f"{thing} {name}", message("catalog.verify.no_claim"))
    for (thing,) in store.rows(
        "SELECT id FROM thing WHERE kind != 'serving_engine' AND NOT EXISTS"
        " (SELECT 1 FROM attribute WHERE attribute.thing = thing.id)"
    ):
        yield Finding(thing, message("catalog.verify.no_attribute"))


def _preferences(store: Store) -> Iterator[Finding]:
    """At most one claim of an attribute is preferred; where claims differ it is said why.

    A reason of the attribute says why, and so does a verdict on every claim that states another value.
    """
    for thing, name, preferred in store.rows(
        "SELECT thing, attribute, sum(preferred) FROM claim GROUP BY thing, attribute"
        " HAVING sum(preferred) > 1"
    ):
        yield Finding(f"{thing} {name}", message("catalog.verify.preferred", count=preferred))
    for thing, name in store.rows(
        "SELECT thing, name FROM attribute WHERE reason IS NULL AND EXISTS"
        " (SELECT 1 FROM claim AS rival WHERE rival.thing = attribute.thing"
        " AND rival.attribute = attribute.name AND NOT rival.preferred AND rival.verdict IS NULL"
        " AND NOT EXISTS (SELECT 1 FROM claim AS taken WHERE taken.thing = attribute.thing"
        " AND taken.attribute = attribute.name AND taken.preferred AND taken.value = rival.value))"
    ):
        yield Finding(f"{thing} {name}", message("catalog.verify.no_reason"))


def _statements(store: Store) -> Iterator[Finding]:
    """A statement of a source document is linked to claims of that document alone."""
    for statement, thing, attribute in store.rows(
        "SELECT seed_claim.id, claim.thing, claim.attribute FROM seed_subject"
        " JOIN seed_claim ON seed_claim.id = seed_subject.seed_claim"
        " JOIN claim ON claim.thing = seed_subject.thing AND claim.attribute = seed_subject.attribute"
        " AND claim.position = seed_subject.claim WHERE claim.source != seed_claim.source"
    ):
        problem = message("catalog.verify.other_source", thing=thing, attribute=attribute)
        yield Finding(statement, problem)


def _disputes(store: Store) -> Iterator[Finding]:
    """The second side of a dispute is a claim, a word for a refutation, or nothing."""
    words = sorted(REFUTATIONS)
    marks = ", ".join("?" for _ in words)
    for dispute, claim in store.rows(
        "SELECT id, claim_b FROM dispute WHERE claim_b IS NOT NULL"
        f" AND claim_b NOT IN ({marks}) AND claim_b NOT IN (SELECT id FROM seed_claim)",
        words,
    ):
        yield Finding(dispute, message("catalog.verify.no_such_claim", claim=claim))


def _models(catalog: Catalog) -> Iterator[Finding]:
    """The dimensions of every model can belong together."""
    for model in catalog.models():
        for fault in shape_faults(model):
            where = f"{model.id} layers.{fault.group}"
            yield Finding(where, _said(fault))


def _said(fault: ShapeFault) -> Message:
    if fault.relation is Relation.KEPT:
        return message("catalog.verify.nothing_kept")
    return message(
        "catalog.verify.multiple" if fault.relation is Relation.MULTIPLE else "catalog.verify.at_most",
        dimension=fault.dimension,
        value=fault.value,
        than=fault.other,
        than_value=fault.other_value,
    )
