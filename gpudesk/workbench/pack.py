"""Catalog packs: make one of the user's facts, read one, and take it in.

Reading a pack writes nothing and shows nothing that is not whole: its digest, its signature and all its
facts are checked first.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, Final

from gpudesk.catalog.queries import Catalog
from gpudesk.domain.claims import Preference
from gpudesk.domain.messages import InputError, message
from gpudesk.domain.own_facts import Edit, Key, OwnClaim, OwnFact, OwnFacts, OwnPrice
from gpudesk.domain.packs import Pack, PackRow, PackSignature, Standing, Trust
from gpudesk.domain.signers import Signer
from gpudesk.workbench.fields import plain_text, quoted, wrong_type
from gpudesk.workbench.own_checks import check_choices, line, optional_date
from gpudesk.workbench.own_edits import add
from gpudesk.workbench.own_facts_json import ordered, own_facts_of, record_of, with_needed
from gpudesk.workbench.pack_format import (
    PackFile,
    SignatureFields,
    digest_of,
    pack_bytes,
    parse_file,
    signed_text,
)
from gpudesk.workbench.pack_signing import PackSigner, fingerprint, verified

_CONTENT: Final = ("name", "made", "about", "facts")


# Making


def make_pack(
    facts: OwnFacts,
    chosen: Collection[Key],
    name: str,
    *,
    made: str,
    about: str,
    signer: PackSigner | None = None,
) -> bytes:
    """Return the file of a pack of the chosen facts and of what they need.

    `made` is today's ISO day, `about` the revision of the shipped catalog. Raises `InputError` where there is
    nothing to hand on, or the name cannot be.
    """
    taken = with_needed(facts, chosen)
    if not taken:
        raise InputError(message("pack.empty"))
    named: str = line("name", name.strip())
    records = [record_of(fact) for fact in taken]
    content: dict[str, Any] = {"name": named, "made": made, "about": about, "facts": records}
    # What is handed on must be readable by others: the same checks as for what they hand on.
    own_facts_of(records, "facts")
    digest = digest_of(content)
    signature = None
    if signer is not None:
        by: str = plain_text(200)("signer", signer.name.strip())
        signature = SignatureFields(signer.key, by, signer.sign(signed_text(digest, by)))
    return pack_bytes(content, digest, signature)


# Reading


def read_pack(raw: bytes) -> Pack:
    """Return the pack that the contents of a file hold; raises `InputError` with the place in it.

    A digest or a signature that does not hold is refused; whether a signer is known is for the caller to see.
    """
    file = parse_file(raw)
    signature = _verified_signature(file)
    content = file.content
    for field in _CONTENT:
        if field not in content:
            raise InputError(message("field.missing"), f"content.{field}")
    if len(content) > len(_CONTENT):
        extra = next(name for name in content if name not in _CONTENT)
        raise InputError(message("field.unknown", given=quoted(extra), known=_CONTENT), "content")
    if type(content["facts"]) is not list:
        raise wrong_type("content.facts", content["facts"], "list")
    return Pack(
        name=line("content.name", content["name"]),
        made=_day(content["made"]),
        about=line("content.about", content["about"]),
        facts=own_facts_of(content["facts"], "content.facts"),
        digest=file.digest,
        signature=signature,
    )


def _verified_signature(file: PackFile) -> PackSignature | None:
    signature = file.signature
    if signature is None:
        return None
    if not verified(signature.key, signature.value, signed_text(file.digest, signature.name)):
        raise InputError(message("pack.broken_signature"), "signature")
    return PackSignature(signature.key, signature.name)


def _day(value: object) -> str:
    given: str = line("content.made", value)
    try:
        found = optional_date("content.made", given)
    except InputError as error:
        raise InputError(error.problem, "content.made") from error
    if found is None:
        raise InputError(message("field.empty"), "content.made")
    return found


def newly_trusted(pack: Pack, signers: Collection[Signer], *, trust: bool, today: str) -> Signer | None:
    """Return the signer to be trusted from now on, None where that is settled already.

    Raises `InputError` for a signer whom the user does not trust, unless `trust` says to.
    """
    if pack.signature is None or pack.trust(signers) is not Trust.UNKNOWN:
        return None
    if not trust:
        problem = message(
            "pack.unknown_signer", name=pack.signature.name, fingerprint=fingerprint(pack.signature.key)
        )
        raise InputError(problem)
    return Signer(pack.signature.key, pack.signature.name, today)


# Taking it in


def pack_edit(pack: Pack, rows: Iterable[PackRow], chosen: Collection[Key], catalog: Catalog) -> Edit:
    """Return the step that brings in the chosen rows with what they need; raises `InputError` where none is.

    Sources come along with the facts that name them, an entry with all that the pack states of it, and a
    choice with the claim that it takes.
    """
    shown = tuple(rows)
    keys = {row.key for row in shown if row.can_be_chosen and row.key in chosen}
    if not keys:
        raise InputError(message("pack.nothing_chosen"))
    priced = {fact.accelerator for fact in _facts(pack, keys) if isinstance(fact, OwnPrice)}
    keys |= {row.part_of for row in shown if row.part_of is not None and row.part_of[1] in priced}
    keys |= {row.key for row in shown if row.part_of in keys and row.standing is not Standing.UNFIT}
    keys |= _claims_taken(keys, pack)
    keys |= {key for key in _sources_named(keys, pack) if catalog.own.get(*key) is None}
    edit = add(catalog, ordered([*_facts(pack, keys), *_staying(keys, catalog.own)]), pack.name)
    check_choices(catalog.with_own(catalog.own.after(edit)), edit.things)
    return edit


def _facts(pack: Pack, keys: Iterable[Key]) -> list[OwnFact]:
    return [pack.facts.facts[key] for key in keys]


def _claims_taken(keys: Iterable[Key], pack: Pack) -> set[Key]:
    """Return the claims of the pack that chosen preferences take."""
    chosen = [fact for fact in _facts(pack, keys) if isinstance(fact, Preference)]
    claims = {("claim", each.thing, each.attribute, each.source) for each in chosen}
    return {key for key in claims if key in pack.facts.facts}


def _sources_named(keys: Iterable[Key], pack: Pack) -> set[Key]:
    facts = _facts(pack, keys)
    return {("source", fact.source) for fact in facts if isinstance(fact, OwnClaim | OwnPrice)}


def _staying(keys: Collection[Key], own: OwnFacts) -> list[OwnFact]:
    """Return what the user states already of entries that are replaced: it stays, and completes them."""
    things = {key[1] for key in keys if key[0] == "accelerator"}
    return [
        fact for fact in own if isinstance(fact, OwnClaim) and fact.thing in things and fact.key not in keys
    ]
