"""User changes to the catalog as edits: pure functions that write nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from gpudesk.catalog.importing.entry_facts import FiguredEntry, StatedFigure, make_entry_facts
from gpudesk.catalog.importing.proposals import find_free_id
from gpudesk.catalog.overlay import is_same_value
from gpudesk.catalog.read import Catalog
from gpudesk.catalog.user_store.entry import (
    REVERSED_PRICES,
    check_dimension,
    check_line,
    check_model,
    check_optional_date,
    check_optional_line,
    check_optional_note,
    check_value,
    describe_no_such_source,
    describe_required,
    describe_taken_id,
    find_attribute,
    is_required,
    make_entry,
    make_user_source,
)
from gpudesk.domain.attributes import REGISTERED_ATTRIBUTES
from gpudesk.domain.claim import (
    PRICE_BOUND_ATTRIBUTES,
    PURCHASE_TERM,
    AttributeClaims,
    CatalogEntryKind,
    Claim,
    ClaimPreference,
    Source,
)
from gpudesk.domain.cost import RENT_TERMS
from gpudesk.domain.field_checks import MISSING_FIELD, describe_not_above
from gpudesk.domain.registry import list_required_attributes
from gpudesk.domain.user_facts import (
    MOST_FACTS,
    FactEdit,
    InactiveOverride,
    UserClaim,
    UserEntry,
    UserFact,
    UserFacts,
    UserModel,
    UserPrice,
    UserSystem,
    get_fact_key,
)
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.formatting import ClaimValue
from gpudesk.text.messages import InputError, Message, input_error, message, quote_input
from gpudesk.text.translation import tr

NOTHING_CHANGED: Final = message("own.same_value", "matches the current catalog value")


def make_step(
    user_facts: UserFacts, text: Message, take: Iterable[UserFact] = (), added: Iterable[UserFact] = ()
) -> FactEdit:
    """Return the step that replaces facts by others; unchanged facts are left out.

    Sources that become unused are removed with the facts. Raises `InputError` if nothing would change.
    """
    added_by_key = {get_fact_key(fact): fact for fact in added}
    new = {key: fact for key, fact in added_by_key.items() if user_facts.get(*key) != fact}
    removed_by_key = {get_fact_key(fact): fact for fact in take if get_fact_key(fact) not in added_by_key}
    for key in new:
        replaced = user_facts.get(*key)
        if replaced is not None:
            removed_by_key[key] = replaced
    if not new and not removed_by_key:
        raise InputError(NOTHING_CHANGED, "value")
    edit = FactEdit(text, before=tuple(removed_by_key.values()), after=tuple(new.values()))
    after = user_facts.after(edit)
    rested, rests = _list_used_sources(user_facts), _list_used_sources(after)
    orphans = [fact for fact in after if isinstance(fact, Source) and fact.id in rested - rests]
    return FactEdit(text, before=(*edit.before, *orphans), after=edit.after)


def _list_used_sources(facts: UserFacts) -> set[str]:
    return {fact.source for fact in facts if isinstance(fact, UserClaim | UserPrice)}


# One figure


def state_value(  # noqa: PLR0913 - the fields of one form
    catalog: Catalog,
    thing: str,
    attribute: str,
    value: ClaimValue,
    unit: str | None,
    source: Source,
    *,
    today: str,
    conditions: str | None = None,
    note: str | None = None,
    reason: str | None = None,
    high: float | None = None,
) -> FactEdit:
    """State a value of an attribute of an entry, effective immediately; `value` is in `unit`.

    It replaces the user's preferred value, from any source; other claims stay. `high` is the upper end of a price,
    which is one amount without it.
    """
    about = check_optional_line("conditions", conditions)
    noted = check_optional_note("note", note)
    because = check_optional_note("reason", reason) or tr("Your value")
    facts: list[UserFact] = [source]
    former: list[UserFact] = []
    for name, field_value in _list_stated(attribute, value, high):
        entry = make_entry(catalog, thing, name)
        inside = check_value(entry, field_value, unit)
        check_dimension(catalog, entry.attribute, inside)
        printed = f"{field_value} {unit}" if unit is not None else None
        facts += [
            UserClaim(thing, name, inside, source.id, source.kind, today, printed, about, noted),
            ClaimPreference(thing, name, source.id, inside, because, today),
        ]
        former += _find_active_user_claim(catalog, entry.attribute)
    text = message(
        "own.step.state", "Your value for {attribute} of {thing}", thing=catalog.thing(thing).name, attribute=attribute
    )
    return make_step(catalog.user_facts, text, take=former, added=facts)


def _find_active_user_claim(catalog: Catalog, attribute: AttributeClaims) -> list[UserFact]:
    """Return the user's preferred claim for an attribute, if any."""
    preferred = attribute.preferred
    own = (
        None
        if preferred is None
        else catalog.user_facts.get("claim", attribute.thing, attribute.name, preferred.source.id)
    )
    return [] if own is None else [own]


def _list_stated(attribute: str, value: ClaimValue, high: float | None) -> tuple[tuple[str, ClaimValue], ...]:
    """Return the attributes to state with their values: for a price, both ends."""
    if attribute not in PRICE_BOUND_ATTRIBUTES:
        return ((attribute, value),)
    if high is not None and isinstance(value, int | float) and high < value:
        raise InputError(REVERSED_PRICES, "high")
    return ((PRICE_BOUND_ATTRIBUTES[0], value), (PRICE_BOUND_ATTRIBUTES[1], value if high is None else high))


def _list_price_ends(attribute: str) -> tuple[str, ...]:
    return PRICE_BOUND_ATTRIBUTES if attribute in PRICE_BOUND_ATTRIBUTES else (attribute,)


def prefer_claim(catalog: Catalog, thing: str, attribute: str, claim: Claim, reason: str, *, today: str) -> FactEdit:
    """Prefer another existing claim, with a reason; choosing the shipped one drops the preference."""
    claims = find_attribute(catalog, thing, attribute)
    if not any(_is_same_claim(each, claim) for each in claims.claims):
        raise input_error("own.no_such_claim", "this value has no source; choose one of the claims", "claim")
    shipped = claims.shipped if claims.overridden else claims.preferred
    if shipped is not None and _is_same_claim(shipped, claim) and not catalog.thing(thing).own:
        return take_shipped(catalog, thing, attribute)
    because = check_optional_note("reason", reason)
    if because is None:
        raise input_error("own.reason_missing", "is missing: enter why you prefer this claim", "reason")
    check_dimension(catalog, claims, claim.value)
    chosen = [ClaimPreference(thing, attribute, claim.source.id, claim.value, because, today)]
    for name in _list_price_ends(attribute):
        # The other end of a price is taken from the same source.
        other = _find_claim_of_source(find_attribute(catalog, thing, name), claim.source.id)
        if name != attribute and other is not None:
            chosen.append(ClaimPreference(thing, name, claim.source.id, other.value, because, today))
    text = message(
        "own.step.prefer",
        "Chosen claim for {attribute} of {thing}",
        thing=catalog.thing(thing).name,
        attribute=attribute,
    )
    return make_step(catalog.user_facts, text, added=chosen)


def _find_claim_of_source(attribute: AttributeClaims, source: str) -> Claim | None:
    return next((claim for claim in attribute.claims if claim.source.id == source), None)


def take_shipped(catalog: Catalog, thing: str, attribute: str) -> FactEdit:
    """Return to the shipped choice; claims of the user stay as rivals."""
    chosen = [catalog.user_facts.get("preference", thing, name) for name in _list_price_ends(attribute)]
    removed = [fact for fact in chosen if fact is not None]
    if not removed:
        raise InputError(NOTHING_CHANGED, "claim")
    text = message(
        "own.step.take_shipped",
        "Shipped choice for {attribute} of {thing}",
        thing=catalog.thing(thing).name,
        attribute=attribute,
    )
    return make_step(catalog.user_facts, text, take=removed)


def revert_attribute(catalog: Catalog, thing: str, attribute: str) -> FactEdit:
    """Remove all of the user's data on an attribute: claims, preference, and sources that become unused."""
    entry, names = catalog.thing(thing), _list_price_ends(attribute)
    removed = [
        fact
        for fact in catalog.user_facts
        if isinstance(fact, UserClaim | ClaimPreference) and fact.thing == thing and fact.attribute in names
    ]
    if not removed:
        raise InputError(NOTHING_CHANGED, "value")
    if entry.own and is_required(entry.kind, attribute):
        raise InputError(describe_required(attribute), "value")
    text = message("own.step.revert", "Shipped value for {attribute} of {thing}", thing=entry.name, attribute=attribute)
    return make_step(catalog.user_facts, text, take=removed)


def _is_same_claim(one: Claim, other: Claim) -> bool:
    return one.source.id == other.source.id and is_same_value(one.value, other.value)


# Entries, prices, sources


def add_facts(catalog: Catalog, facts: Sequence[UserFact], name: str) -> FactEdit:
    """Add facts that belong together, such as a model or a price list; existing ones stay.

    Raises `InputError` if an id is taken, or if a fact is about an unknown entry.
    """
    new = UserFacts.of(facts)
    count = len(catalog.user_facts) + sum(catalog.user_facts.get(*get_fact_key(fact)) is None for fact in new)
    if count > MOST_FACTS:
        raise input_error(
            "own.too_many",
            "would make {count} values of yours, but the limit is {most}; remove those you do not need",
            name,
            count=count,
            most=MOST_FACTS,
        )
    thing_ids = {thing.id for thing in catalog.things()}
    for fact in new:
        check_model(fact)
        if isinstance(fact, UserEntry):
            # The user's own entry of the same kind can be replaced.
            is_used = any(thing.id == fact.id for thing in catalog.things())
            is_twice = sum(isinstance(each, UserEntry) and each.id == fact.id for each in new) > 1
            if (is_used and catalog.user_facts.get(*fact.key) is None) or is_twice:
                raise InputError(describe_taken_id(fact.id), "id")
            thing_ids.add(fact.id)
    sources = {source.id for source in catalog.sources()} | {fact.id for fact in new if isinstance(fact, Source)}
    for fact in new:
        _check_reference(fact, thing_ids, sources)
    for fact in new:
        if isinstance(fact, UserEntry):
            _check_complete(fact, new)
    return make_step(
        catalog.user_facts, message("own.step.add", "Add {name}", name=check_line("name", name)), added=facts
    )


def _check_reference(fact: UserFact, thing_ids: set[str], sources: set[str]) -> None:
    thing = fact.accelerator if isinstance(fact, UserPrice | UserSystem) else getattr(fact, "thing", None)
    if thing is not None and thing not in thing_ids:
        raise input_error("own.no_such_thing", "unknown entry {id}; add it first", thing, id=quote_input(thing))
    source = getattr(fact, "source", None)
    if source is not None and source not in sources:
        raise InputError(describe_no_such_source(source), source)


def _check_complete(entry: UserEntry, facts: UserFacts) -> None:
    claimed_attributes = {fact.attribute for fact in facts if isinstance(fact, UserClaim) and fact.thing == entry.id}
    for name in list_required_attributes(REGISTERED_ATTRIBUTES.get(CatalogEntryKind(entry.key[0]), {})):
        if name not in claimed_attributes:
            raise InputError(describe_required(name), name)


def list_dependent_systems(catalog: Catalog, thing: str) -> tuple[UserSystem, ...]:
    """Return the user's systems with this accelerator."""
    return tuple(fact for fact in catalog.user_facts if isinstance(fact, UserSystem) and fact.accelerator == thing)


def remove_entry(catalog: Catalog, thing: str) -> FactEdit:
    """Remove an entry of the user with its values and prices; systems are removed with their accelerator."""
    entry = catalog.thing(thing)
    if not entry.own:
        raise InputError(describe_shipped_entry(thing), "id")
    removed_ids = {thing} | {each.id for each in list_dependent_systems(catalog, thing)}
    removed = [
        fact
        for fact in catalog.user_facts
        if (isinstance(fact, UserEntry) and fact.id in removed_ids)
        or (isinstance(fact, UserClaim | ClaimPreference) and fact.thing in removed_ids)
        or (isinstance(fact, UserPrice) and fact.accelerator == thing)
    ]
    return make_step(catalog.user_facts, _describe_removal(entry.name), take=removed)


def forget_inactive(catalog: Catalog, waiting: InactiveOverride) -> FactEdit:
    """Remove inactive facts, and sources that become unused; raises `InputError` if one no longer exists."""
    removed = [_require_user_fact(catalog, *key) for key in waiting.keys]
    entry, price, name = waiting.entry, waiting.price, _find_name(catalog, waiting.thing)
    if price is not None:
        text = _describe_price_removal(name)
    elif entry is not None:
        text = _describe_removal(entry.name)
    else:
        text = message(
            "own.step.forget", "Remove {attribute} of {thing}", attribute=waiting.attribute or "", thing=name
        )
    return make_step(catalog.user_facts, text, take=removed)


def _find_name(catalog: Catalog, thing: str) -> str:
    """Return the name of an entry, or its id if it does not exist."""
    return next((each.name for each in catalog.things() if each.id == thing), thing)


def state_price(catalog: Catalog, price: UserPrice, source: Source, replaces: str | None = None) -> FactEdit:
    """State a price, replacing another of the user's if `replaces` names it."""
    part = catalog.thing(price.accelerator)
    ends = [("usd_low", price.usd_low), ("usd", price.usd), ("usd_high", price.usd_high)]
    amounts = [(name, amount) for name, amount in ends if amount is not None]
    if not amounts:
        raise InputError(MISSING_FIELD, "usd")
    for name, amount in amounts:
        if not 0 < amount < 1e9:
            raise InputError(describe_not_above(str(amount), 0, 1e9), name)
    if [amount for _, amount in amounts] != sorted(amount for _, amount in amounts):
        raise InputError(REVERSED_PRICES, "usd_high")
    check_line("term", price.term)
    for name in ("provider", "region", "instance", "basis"):
        check_optional_line(name, getattr(price, name))
    check_optional_date("date", price.date)
    check_optional_note("note", price.note)
    before = () if replaces is None else (_require_user_fact(catalog, "price", replaces),)
    others = (
        fact for fact in catalog.user_facts if isinstance(fact, UserPrice) and fact.id not in (price.id, replaces)
    )
    if price.provider and price.date and any(other.offer == price.offer for other in others):
        raise input_error(
            "own.second_price",
            "you already have a price of {provider} dated {date} for this instance and region; change that price",
            "usd",
            provider=price.provider,
            date=price.date,
        )
    return make_step(
        catalog.user_facts,
        message("own.step.price", "Price of {thing}", thing=part.name),
        take=before,
        added=(source, price),
    )


def remove_price(catalog: Catalog, price: str) -> FactEdit:
    price_fact = _require_user_fact(catalog, "price", price)
    name = _find_name(catalog, price_fact.accelerator) if isinstance(price_fact, UserPrice) else price
    return make_step(catalog.user_facts, _describe_price_removal(name), take=(price_fact,))


def change_source(catalog: Catalog, source: Source) -> FactEdit:
    _require_user_fact(catalog, "source", source.id)
    return make_step(
        catalog.user_facts, message("own.step.source", "Change source {title}", title=source.title), added=(source,)
    )


def _require_user_fact(catalog: Catalog, *key: str) -> UserFact:
    """Return a fact of the user; raises `InputError` if it is shipped or unknown."""
    fact = catalog.user_facts.get(*key)
    if fact is None:
        raise InputError(describe_shipped_entry(key[-1]), "id")
    return fact


def rename_entry(catalog: Catalog, thing: str, name: str, maker: str) -> FactEdit:
    """Change the name and maker of a user's entry; its id stays, so that scenarios find it."""
    entry = next((fact for fact in catalog.user_facts if isinstance(fact, UserEntry) and fact.id == thing), None)
    name_line, by = check_line("name", name.strip()), check_line("maker", maker.strip())
    if entry is None:
        raise InputError(describe_shipped_entry(thing), "id")
    if isinstance(entry, UserModel):
        changed: UserFact = replace(entry, name=name_line, organisation=by)
    else:
        changed = replace(entry, name=name_line, vendor=by)
    if changed == entry:
        raise InputError(NOTHING_CHANGED, "name")
    text = message("own.step.rename", "Rename {name} to {new}", name=entry.name, new=name_line)
    return FactEdit(text, before=(entry,), after=(changed,))


def make_price_id(price: UserPrice) -> str:
    """Return an id for a new price of the user: equal words give equal ids."""
    digest = hashlib.sha256(repr(replace(price, id="")).encode("utf-8", "surrogatepass")).hexdigest()
    return f"own-{price.accelerator}-{digest[:8]}"


def list_rental_terms(catalog: Catalog) -> tuple[str, ...]:
    """Return the terms on which accelerators are rented, including those of the catalog."""
    terms = dict.fromkeys((*RENT_TERMS, *(price.term for price in catalog.prices())))
    return tuple(term for term in terms if term != PURCHASE_TERM)


def count_resting_figures(facts: UserFacts, source: str) -> int:
    return sum(isinstance(fact, UserClaim | UserPrice) and fact.source == source for fact in facts)


def find_upper_end(catalog: Catalog, attribute: AttributeClaims) -> AttributeClaims | None:
    """Return the other end of a range if an attribute is the lower one; None otherwise."""
    if attribute.name != PRICE_BOUND_ATTRIBUTES[0]:
        return None
    return find_attribute(catalog, attribute.thing, PRICE_BOUND_ATTRIBUTES[1])


def describe_shipped_entry(entry_id: str) -> Message:
    return message(
        "own.not_own", "{id} is part of the shipped catalog; you can remove only your own entries", id=entry_id
    )


def _describe_removal(name: str) -> Message:
    return message("own.step.remove", "Remove {name}", name=name)


def _describe_price_removal(thing: str) -> Message:
    return message("own.step.remove_price", "Remove price of {thing}", thing=thing)


#: Words of the attribute `status`, by whether an accelerator is only announced.
STATUS_BY_ANNOUNCED: Final = {True: "announced", False: "shipping"}


@frozen_dataclass
class AcceleratorGeneration:
    """Accelerators of one die, by name."""

    name: str
    parts: tuple[str, ...]


def group_by_generation(catalog: Catalog) -> tuple[AcceleratorGeneration, ...]:
    ids_by_generation: dict[str, list[str]] = {}
    for part in catalog.accelerators():
        ids_by_generation.setdefault(part.generation, []).append(part.name)
    return tuple(AcceleratorGeneration(name, tuple(parts)) for name, parts in sorted(ids_by_generation.items()))


def copy_figure(claim: Claim) -> StatedFigure:
    """Return the figure of a claim, with a user source that copies the claim's source."""
    source = claim.source
    if not source.own:
        source = make_user_source(source.title, source.publisher, url=source.url, date=source.date, kind=source.kind)
    unit = claim.unit if isinstance(claim.value, int | float) else None
    return StatedFigure(
        claim.value,
        unit,
        source,
        claim.kind,
        conditions=claim.conditions,
        note=claim.note,
        retrieved=claim.retrieved,
        printed=claim.published,
    )


def make_entry_id(catalog: Catalog, name: str) -> str:
    return find_free_id(name, {thing.id for thing in catalog.things()})


def make_entry_step(
    catalog: Catalog, entry: FiguredEntry, figures: Mapping[str, StatedFigure], *, today: str
) -> FactEdit:
    """Return the step that adds an entry with its figures, or changes an existing one of the user.

    Raises `InputError` at the missing or invalid attribute.
    """
    facts = make_entry_facts(entry, {name: (each,) for name, each in figures.items()}, today=today)
    if catalog.user_facts.get(*entry.key) is None:
        return add_facts(catalog, facts, entry.name)
    new = UserFacts.of(facts)
    user_facts = catalog.user_facts
    claims = {fact.attribute: fact for fact in new if isinstance(fact, UserClaim)}
    sources = {fact.id: fact for fact in new if isinstance(fact, Source)}
    removed: list[UserFact] = []
    added: list[UserFact] = [entry]
    for name in REGISTERED_ATTRIBUTES[CatalogEntryKind(entry.key[0])]:
        claim, active_claim = claims.get(name), _find_active_claim(catalog, entry.id, name)
        if claim is not None and active_claim is not None and _is_same_statement(claim, active_claim):
            continue
        user_claims = list(_list_user_claims(user_facts, entry.id, name))
        rivals = [fact for fact in user_claims if fact != active_claim and claim is not None and fact.key != claim.key]
        removed += [fact for fact in user_claims if fact not in rivals]
        chosen = user_facts.get("preference", entry.id, name)
        removed += [] if chosen is None else [chosen]
        if claim is not None:
            added += [sources[claim.source], claim]
        if claim is not None and rivals:
            added.append(ClaimPreference(entry.id, name, claim.source, claim.value, tr("Your value"), today))
    return make_step(
        user_facts, message("own.step.change", "Change {name}", name=entry.name), take=removed, added=added
    )


def _find_active_claim(catalog: Catalog, part: str, name: str) -> UserClaim | None:
    attribute = find_attribute(catalog, part, name)
    if attribute.preferred is None:
        return None
    user_claim = catalog.user_facts.get("claim", part, name, attribute.preferred.source.id)
    return user_claim if isinstance(user_claim, UserClaim) else None


def _list_user_claims(user_facts: UserFacts, part: str, name: str) -> Iterator[UserClaim]:
    for fact in user_facts:
        if isinstance(fact, UserClaim) and (fact.thing, fact.attribute) == (part, name):
            yield fact


def _is_same_statement(one: UserClaim, other: UserClaim) -> bool:
    """Whether two claims differ at most in the day of entry and the printed form."""
    return replace(one, retrieved="", published=None) == replace(other, retrieved="", published=None)
