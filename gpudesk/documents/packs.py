"""Value packs: made, read, previewed, applied."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from gpudesk.catalog.model_definition import find_dimension, is_dimension
from gpudesk.catalog.overlay import find_unit, is_same_value
from gpudesk.catalog.read import Catalog
from gpudesk.catalog.user_store.edits import add_facts
from gpudesk.catalog.user_store.entry import (
    DERIVED_DIMENSION,
    check_choices,
    check_line,
    check_optional_date,
    is_consistent_model,
)
from gpudesk.documents.pack_file import (
    PackFile,
    PackSigner,
    SignatureFields,
    compute_digest,
    format_fingerprint,
    is_valid_signature,
    load_signer,
    make_signed_text,
    parse_pack_file,
    write_pack_bytes,
)
from gpudesk.documents.user_fact_json import add_needed_facts, find_entry_id, order_facts, read_user_facts, write_record
from gpudesk.domain.answer import Scenario
from gpudesk.domain.attributes import MODEL_STATED_UNITS, REGISTERED_ATTRIBUTES, get_units
from gpudesk.domain.claim import AttributeClaims, CatalogEntryKind, Claim, ClaimPreference, Source
from gpudesk.domain.field_checks import (
    EMPTY_FIELD,
    MISSING_FIELD,
    accept_plain_text,
    describe_unknown_field,
    make_type_error,
    quote_value,
)
from gpudesk.domain.progress import JobProgress, ProgressSteps
from gpudesk.domain.user_facts import (
    FACT_TABLES,
    CarriedFactsError,
    FactEdit,
    FactKey,
    FactPack,
    PackRow,
    PackRowStatus,
    PackSignature,
    PackTrust,
    TrustedSigner,
    UserClaim,
    UserEntry,
    UserFact,
    UserFacts,
    UserModel,
    UserPrice,
    UserSystem,
    get_fact_key,
)
from gpudesk.files import write_atomically
from gpudesk.text.messages import InputError, input_error, message

_WRITING_PACK: Final = message("handing_on.pack", "Writing the pack")


def preview_pack(pack: FactPack, catalog: Catalog) -> tuple[PackRow, ...]:
    """Return a row for each fact of a pack, compared with the user's facts and the shipped ones."""
    judge = _PackComparison(pack, catalog)
    return tuple(judge.make_row(fact) for fact in pack.facts)


class _PackComparison:
    """Compares the facts of a pack with a catalog."""

    def __init__(self, pack: FactPack, catalog: Catalog) -> None:
        self._pack, self._catalog = pack, catalog
        self._kinds = {thing.id: thing.kind for thing in catalog.things()}
        self._names = {thing.id: thing.name for thing in catalog.things()}
        entries = [fact for fact in pack.facts if isinstance(fact, UserEntry)]
        self._pack_things = {fact.id: fact.key for fact in entries if fact.id not in self._kinds}
        self._names |= {fact.id: fact.name for fact in entries if fact.id in self._pack_things}
        self._attributes: dict[str, dict[str, AttributeClaims]] = {}
        self._definitions: dict[str, Mapping[str, Any]] = {}

    def make_row(self, fact: UserFact) -> PackRow:
        yours = self._catalog.user_facts.get(*get_fact_key(fact))
        if isinstance(fact, UserClaim | ClaimPreference):
            return self._make_figure_row(fact, yours)
        standing = _find_user_standing(fact, yours)
        if isinstance(fact, UserEntry) and yours is None and fact.id in self._kinds:
            standing = PackRowStatus.TAKEN
        if (
            isinstance(fact, UserPrice | UserSystem)
            and self._find_kind(fact.accelerator) is not CatalogEntryKind.ACCELERATOR
        ):
            standing = PackRowStatus.NO_ENTRY
        return self._build_row(fact, standing, yours)

    def _make_figure_row(self, fact: UserClaim | ClaimPreference, yours: UserFact | None) -> PackRow:
        fault = self._find_fault(fact)
        if fault is not None:
            return self._build_row(fact, fault, yours)
        standing = _find_user_standing(fact, yours)
        attribute = self._find_attribute(fact)
        shipped = None if attribute is None else attribute.catalog_choice
        if isinstance(fact, ClaimPreference) and standing is PackRowStatus.NEW:
            yours = self._find_displaced_claim(fact)
            if yours is not None:
                standing = PackRowStatus.DIFFERS
            elif shipped is not None and not is_same_value(shipped.value, fact.value):
                standing = PackRowStatus.OVERRIDES
        return self._build_row(fact, standing, yours, shipped, self._pack_things.get(fact.thing))

    def _find_fault(self, fact: UserClaim | ClaimPreference) -> PackRowStatus | None:
        """Return why a figure cannot be imported, or None if it can."""
        kind = self._find_kind(fact.thing)
        if kind is None:
            return PackRowStatus.NO_ENTRY
        if not self._can_have(kind, fact):
            return PackRowStatus.UNFIT
        if isinstance(fact, ClaimPreference) and not self._is_stated(fact):
            return PackRowStatus.NO_CLAIM
        return None

    def _can_have(self, kind: CatalogEntryKind, fact: UserClaim | ClaimPreference) -> bool:
        """Whether a kind of entry has an attribute, or a model such a dimension."""
        if kind is not CatalogEntryKind.MODEL:
            return fact.attribute in get_units(kind)
        definition = self._find_definition(fact.thing)
        if is_dimension(definition, fact.attribute):
            dimension = find_dimension(definition, fact.attribute)
            if isinstance(fact, ClaimPreference):
                return self._is_consistent(fact, definition)
            return type(fact.value) is type(dimension)
        if fact.attribute == DERIVED_DIMENSION:
            # It can be stated like a source's value, but not preferred to the value that it follows from.
            return isinstance(fact, UserClaim)
        return fact.attribute in MODEL_STATED_UNITS or fact.attribute in self._find_attributes(fact.thing)

    def _is_consistent(self, choice: ClaimPreference, definition: Mapping[str, Any]) -> bool:
        """Whether a dimension agrees with the others, including those imported from the pack, or by itself."""
        together = {
            each.attribute: each.value
            for each in self._pack.facts
            if isinstance(each, ClaimPreference)
            and each.thing == choice.thing
            and is_dimension(definition, each.attribute)
        }
        return any(is_consistent_model(definition, choices) for choices in (together, {choice.attribute: choice.value}))

    def _find_definition(self, thing: str) -> Mapping[str, Any]:
        if thing not in self._definitions:
            definition = self._pack.facts.get("model", thing) if thing in self._pack_things else None
            self._definitions[thing] = (
                json.loads(definition.definition)
                if isinstance(definition, UserModel)
                else self._catalog.definition(thing)
            )
        return self._definitions[thing]

    def _find_attributes(self, thing: str) -> Mapping[str, AttributeClaims]:
        if thing not in self._kinds:
            return {}
        if thing not in self._attributes:
            self._attributes[thing] = {each.name: each for each in self._catalog.attributes(thing)}
        return self._attributes[thing]

    def _find_kind(self, thing: str) -> CatalogEntryKind | None:
        if thing in self._pack_things:
            return CatalogEntryKind(self._pack_things[thing][0])
        return self._kinds.get(thing)

    def _find_attribute(self, fact: UserClaim | ClaimPreference) -> AttributeClaims | None:
        return self._find_attributes(fact.thing).get(fact.attribute)

    def _is_stated(self, choice: ClaimPreference) -> bool:
        user_claim = self._pack.facts.get("claim", choice.thing, choice.attribute, choice.source)
        if isinstance(user_claim, UserClaim) and is_same_value(user_claim.value, choice.value):
            return True
        attribute = self._find_attribute(choice)
        return attribute is not None and any(
            claim.source.id == choice.source and is_same_value(claim.value, choice.value) for claim in attribute.claims
        )

    def _find_displaced_claim(self, choice: ClaimPreference) -> UserClaim | None:
        key = ("claim", choice.thing, choice.attribute, choice.source)
        yours, pack_claim = self._catalog.user_facts.get(*key), self._pack.facts.get(*key)
        return yours if isinstance(yours, UserClaim) and pack_claim not in (None, yours) else None

    def _build_row(
        self,
        fact: UserFact,
        standing: PackRowStatus,
        yours: UserFact | None,
        shipped: Claim | None = None,
        part_of: FactKey | None = None,
    ) -> PackRow:
        thing = find_entry_id(fact)
        kind, unit = self._find_kind(thing), None
        if kind is not None and isinstance(fact, UserClaim | ClaimPreference):
            unit = find_unit(kind, fact.attribute)
        return PackRow(
            key=get_fact_key(fact),
            fact=fact,
            standing=standing,
            name="" if isinstance(fact, Source) else self._names.get(thing, thing),
            unit=unit,
            yours=yours,
            shipped=shipped,
            part_of=part_of,
        )


def _find_user_standing(fact: UserFact, yours: UserFact | None) -> PackRowStatus:
    if yours is None:
        return PackRowStatus.NEW
    return PackRowStatus.SAME if yours == fact else PackRowStatus.DIFFERS


_CONTENT: Final = ("name", "made", "about", "facts")


# Creation


def make_pack(
    facts: UserFacts, chosen: Collection[FactKey], name: str, *, date: str, about: str, signer: PackSigner | None = None
) -> bytes:
    """Return the file of a pack of the chosen facts and of those they need.

    `date` is today's ISO day, `about` the revision of the shipped catalog. Raises `InputError` without any fact, and
    for an invalid name.
    """
    needed_facts = add_needed_facts(facts, chosen)
    if not needed_facts:
        raise input_error("pack.empty", "there is nothing to share; enter a value first")
    name_line: str = check_line("name", name.strip())
    records = [write_record(fact) for fact in needed_facts]
    content: dict[str, Any] = {"name": name_line, "made": date, "about": about, "facts": records}
    # Others must be able to read the pack: apply the same checks as for theirs.
    read_user_facts(records, "facts")
    digest = compute_digest(content)
    signature = None
    if signer is not None:
        by: str = accept_plain_text(200)("signer", signer.name.strip())
        signature = SignatureFields(signer.key, by, signer.sign(make_signed_text(digest, by)))
    return write_pack_bytes(content, digest, signature)


# Reading


def read_pack(raw: bytes) -> FactPack:
    """Return the pack in the contents of a file; raises `InputError` with the place in it.

    An invalid digest or signature is refused; the caller checks whether the signer is known.
    """
    file = parse_pack_file(raw)
    signature = _check_signature(file)
    content = file.content
    for field in _CONTENT:
        if field not in content:
            raise InputError(MISSING_FIELD, f"content.{field}")
    if len(content) > len(_CONTENT):
        extra = next(name for name in content if name not in _CONTENT)
        raise InputError(describe_unknown_field(quote_value(extra), _CONTENT), "content")
    if type(content["facts"]) is not list:
        raise make_type_error("content.facts", content["facts"], "list")
    text: str = check_line("content.made", content["made"])
    try:
        date = check_optional_date("content.made", text)
    except InputError as error:
        raise InputError(error.problem, "content.made") from error
    if date is None:
        raise InputError(EMPTY_FIELD, "content.made")
    return FactPack(
        name=check_line("content.name", content["name"]),
        date=date,
        about=check_line("content.about", content["about"]),
        facts=read_user_facts(content["facts"], "content.facts"),
        digest=file.digest,
        signature=signature,
    )


def _check_signature(file: PackFile) -> PackSignature | None:
    signature = file.signature
    if signature is None:
        return None
    if not is_valid_signature(signature.key, signature.value, make_signed_text(file.digest, signature.name)):
        raise input_error(
            "pack.broken_signature",
            "is not valid: the pack or its signature was changed; get the file from its signer again",
            "signature",
        )
    return PackSignature(signature.key, signature.name)


def find_new_signer(
    pack: FactPack, signers: Collection[TrustedSigner], *, trust: bool, today: str
) -> TrustedSigner | None:
    """Return the signer to trust from now on, None if already decided.

    Unless `trust`, raises `InputError` for an untrusted signer, and for an unsigned pack, whose signature could have
    been removed by the person who changed it.
    """
    if pack.signature is None:
        if not trust:
            raise input_error(
                "pack.unsigned", "is not signed, so anyone could have changed it; use --trust if you know its origin"
            )
        return None
    if pack.trust(signers) is PackTrust.KNOWN:
        return None
    if not trust:
        problem = message(
            "pack.unknown_signer",
            "is signed by {name}, whose key you do not trust yet; compare fingerprint {fingerprint} "
            "with the signer, then trust the key",
            name=pack.signature.name,
            fingerprint=format_fingerprint(pack.signature.key),
        )
        raise InputError(problem)
    return TrustedSigner(pack.signature.key, pack.signature.name, today)


# Import


def make_pack_edit(pack: FactPack, rows: Iterable[PackRow], chosen: Collection[FactKey], catalog: Catalog) -> FactEdit:
    """Return the step that imports the chosen rows with the facts they need; raises `InputError` without any.

    Sources come with the facts that name them, an entry with all its figures in the pack, and a preference with its
    claim.
    """
    visible_rows = tuple(rows)
    keys = {row.key for row in visible_rows if row.can_be_chosen and row.key in chosen}
    if not keys:
        raise input_error("pack.nothing_chosen", "nothing is selected; select at least one value")
    needed = {fact.accelerator for fact in _list_facts(pack, keys) if isinstance(fact, UserPrice | UserSystem)}
    keys |= {row.part_of for row in visible_rows if row.part_of is not None and row.part_of[1] in needed}
    keys |= {row.key for row in visible_rows if row.part_of in keys and row.standing is not PackRowStatus.UNFIT}
    keys |= _list_preferred_claims(keys, pack)
    keys |= {key for key in _list_named_sources(keys, pack) if catalog.user_facts.get(*key) is None}
    edit = add_facts(
        catalog, order_facts([*_list_facts(pack, keys), *_list_staying_claims(keys, catalog.user_facts)]), pack.name
    )
    check_choices(catalog.with_user_facts(catalog.user_facts.after(edit)), edit.things)
    return edit


def _list_facts(pack: FactPack, keys: Iterable[FactKey]) -> list[UserFact]:
    return [pack.facts.facts[key] for key in keys]


def _list_preferred_claims(keys: Iterable[FactKey], pack: FactPack) -> set[FactKey]:
    chosen = [fact for fact in _list_facts(pack, keys) if isinstance(fact, ClaimPreference)]
    claims = {("claim", each.thing, each.attribute, each.source) for each in chosen}
    return {key for key in claims if key in pack.facts.facts}


def _list_named_sources(keys: Iterable[FactKey], pack: FactPack) -> set[FactKey]:
    facts = _list_facts(pack, keys)
    return {("source", fact.source) for fact in facts if isinstance(fact, UserClaim | UserPrice)}


def _list_staying_claims(keys: Collection[FactKey], user_facts: UserFacts) -> list[UserFact]:
    """Return the user's existing claims on replaced entries: they stay, and complete the entries."""
    things = {key[1] for key in keys if key[0] in REGISTERED_ATTRIBUTES}
    return [
        fact for fact in user_facts if isinstance(fact, UserClaim) and fact.thing in things and fact.key not in keys
    ]


#: Subsets of the user's facts for export, by tables.
EXPORT_PARTS: Final[dict[str, frozenset[str]]] = {
    "all": frozenset(FACT_TABLES),
    "things": frozenset({"accelerator", "model", "system"}),
    "figures": frozenset({"claim", "preference"}),
    "prices": frozenset({"price"}),
}


def select_keys(facts: UserFacts, part: str) -> frozenset[FactKey]:
    """Return the keys of the facts of one of `PARTS`; of the user's entries with their figures."""
    tables = EXPORT_PARTS[part]
    own = {key[1] for key in facts.facts if key[0] in EXPORT_PARTS["things"]}
    return frozenset(
        key
        for key in facts.facts
        if key[0] in tables or (part == "things" and key[0] in EXPORT_PARTS["figures"] and key[1] in own)
    )


def write_pack(
    facts: UserFacts, part: str, name: str, target: Path, *, date: str, about: str, signed_by: str | None
) -> ProgressSteps[Path]:
    """Write a pack of a part of the user's facts; raises `InputError` at `name`, or if writing fails."""
    yield JobProgress(_WRITING_PACK)
    by = None if signed_by is None else load_signer(signed_by)
    raw = make_pack(facts, select_keys(facts, part), name, date=date, about=about, signer=by)
    yield JobProgress(_WRITING_PACK)
    write_atomically(target, raw)
    return target


_RECORDS: Final = "own_records.records"


def make_carried_pack(scenario: Scenario) -> FactPack | None:
    """Return the facts that a scenario carries, None without any; raises `InputError` with the place."""
    if not scenario.user_records:
        return None
    facts = read_user_facts(scenario.user_records, _RECORDS)
    return FactPack(scenario.name, date="", about=scenario.catalog_revision or "", facts=facts, digest="")


def check_carried_facts(scenario: Scenario, catalog: Catalog) -> None:
    """Raise `CarriedFactsError` if a scenario names entries that it carries and the catalog lacks."""
    pack = make_carried_pack(scenario)
    if pack is None:
        return
    there = {thing.id for thing in catalog.things()}
    used = {scenario.model, *(choice.accelerator for choice in scenario.accelerators)} - there
    names = tuple(fact.name for fact in pack.facts if isinstance(fact, UserEntry) and fact.id in used)
    if names:
        raise CarriedFactsError(pack, names)


def find_new_carried_facts(scenario: Scenario, catalog: Catalog) -> FactPack | None:
    """Return the facts that a scenario carries if the catalog lacks some of them or has different ones."""
    pack = make_carried_pack(scenario)
    if pack is None or not any(row.can_be_chosen for row in preview_pack(pack, catalog)):
        return None
    return pack
