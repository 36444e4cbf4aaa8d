"""What the user does to the catalog, as edits: pure functions of the catalog, which writes nothing.

Each raises `InputError` at the field that is at fault: `value`, `unit`, `title`, `reason`, …
"""

from __future__ import annotations

from collections.abc import Sequence

from gpudesk.catalog.attribute_names import ACCELERATOR_REQUIRED
from gpudesk.catalog.overlay import same_value
from gpudesk.catalog.queries import Catalog
from gpudesk.domain.claims import PRICE_ENDS, Attribute, Claim, ClaimValue, Preference, Source
from gpudesk.domain.messages import InputError, message
from gpudesk.domain.own_facts import Edit, OwnAccelerator, OwnClaim, OwnFact, OwnFacts, OwnModel, OwnPrice
from gpudesk.domain.waiting import Waiting
from gpudesk.text import tr
from gpudesk.workbench.own_checks import (
    check_dimension,
    check_model,
    checked_value,
    line,
    optional_date,
    optional_line,
    optional_note,
    own_source,
    required,
)
from gpudesk.workbench.own_entry import attribute_or_empty, entry_of
from gpudesk.workbench.own_steps import step

__all__ = [
    "add",
    "change_source",
    "forget",
    "own_source",
    "prefer",
    "remove_price",
    "remove_thing",
    "revert",
    "state_price",
    "state_value",
    "take_shipped",
]


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
) -> Edit:
    """State a value of an attribute of a thing, which holds at once; `value` is in `unit`.

    It takes the place of a value of the user's that held, whoever stated that; rivals that did not hold stay.
    `high` is the upper end of a price, which is one amount without it.
    """
    about = optional_line("conditions", conditions)
    noted = optional_note("note", note)
    because = optional_note("reason", reason) or tr("Your value")
    facts: list[OwnFact] = [source]
    former: list[OwnFact] = []
    for name, given in _stated(attribute, value, high):
        entry = entry_of(catalog, thing, name)
        inside = checked_value(entry, given, unit)
        check_dimension(catalog, entry.attribute, inside)
        printed = f"{given} {unit}" if unit is not None else None
        facts += [
            OwnClaim(thing, name, inside, source.id, source.kind, today, printed, about, noted),
            Preference(thing, name, source.id, inside, because, today),
        ]
        former += _own_held(catalog, entry.attribute)
    text = message("own.step.state", thing=catalog.thing(thing).name, attribute=attribute)
    return step(catalog.own, text, take=former, put=facts)


def _own_held(catalog: Catalog, attribute: Attribute) -> list[OwnFact]:
    """Return the user's claim that holds for an attribute, if one does."""
    held = attribute.preferred
    own = None if held is None else catalog.own.get("claim", attribute.thing, attribute.name, held.source.id)
    return [] if own is None else [own]


def _stated(attribute: str, value: ClaimValue, high: float | None) -> tuple[tuple[str, ClaimValue], ...]:
    """Return the attributes that are stated with their values: of a price, both ends."""
    if attribute not in PRICE_ENDS:
        return ((attribute, value),)
    if high is not None and isinstance(value, int | float) and high < value:
        raise InputError(message("own.price_order"), "high")
    return ((PRICE_ENDS[0], value), (PRICE_ENDS[1], value if high is None else high))


def _together(attribute: str) -> tuple[str, ...]:
    return PRICE_ENDS if attribute in PRICE_ENDS else (attribute,)


def prefer(catalog: Catalog, thing: str, attribute: str, claim: Claim, reason: str, *, today: str) -> Edit:
    """Take another of the claims there are, for a reason; taking the shipped choice drops the preference."""
    found = attribute_or_empty(catalog, thing, attribute)
    if not any(_same(each, claim) for each in found.claims):
        raise InputError(message("own.no_such_claim"), "claim")
    shipped = found.shipped if found.overridden else found.preferred
    if shipped is not None and _same(shipped, claim) and not catalog.thing(thing).own:
        return take_shipped(catalog, thing, attribute)
    because = optional_note("reason", reason)
    if because is None:
        raise InputError(message("own.reason_missing"), "reason")
    check_dimension(catalog, found, claim.value)
    chosen = [Preference(thing, attribute, claim.source.id, claim.value, because, today)]
    for name in _together(attribute):
        # The other end of a price is taken from the same source.
        other = _of_source(attribute_or_empty(catalog, thing, name), claim.source.id)
        if name != attribute and other is not None:
            chosen.append(Preference(thing, name, claim.source.id, other.value, because, today))
    text = message("own.step.prefer", thing=catalog.thing(thing).name, attribute=attribute)
    return step(catalog.own, text, put=chosen)


def _of_source(attribute: Attribute, source: str) -> Claim | None:
    return next((claim for claim in attribute.claims if claim.source.id == source), None)


def take_shipped(catalog: Catalog, thing: str, attribute: str) -> Edit:
    """Let the shipped choice hold again; claims of the user's stay as rivals beside it."""
    chosen = [catalog.own.get("preference", thing, name) for name in _together(attribute)]
    gone = [fact for fact in chosen if fact is not None]
    if not gone:
        raise InputError(message("own.same_value"), "claim")
    text = message("own.step.take_shipped", thing=catalog.thing(thing).name, attribute=attribute)
    return step(catalog.own, text, take=gone)


def revert(catalog: Catalog, thing: str, attribute: str) -> Edit:
    """Take back all that the user says of an attribute: claims, choice, and sources nothing else rests on."""
    entry, names = catalog.thing(thing), _together(attribute)
    gone = [
        fact
        for fact in catalog.own
        if isinstance(fact, OwnClaim | Preference) and fact.thing == thing and fact.attribute in names
    ]
    if not gone:
        raise InputError(message("own.same_value"), "value")
    if entry.own and required(entry.kind, attribute):
        raise InputError(message("own.required", attribute=attribute), "value")
    text = message("own.step.revert", thing=entry.name, attribute=attribute)
    return step(catalog.own, text, take=gone)


def _same(one: Claim, other: Claim) -> bool:
    return one.source.id == other.source.id and same_value(one.value, other.value)


# Things, prices, sources


def add(catalog: Catalog, facts: Sequence[OwnFact], name: str) -> Edit:
    """Add facts that belong together, such as a model or a list of prices; those there already stay.

    Raises `InputError` where an id is taken, or where a fact is about something that is not there.
    """
    new = OwnFacts.of(facts)
    known = {thing.id for thing in catalog.things()}
    for fact in new:
        check_model(fact)
        if isinstance(fact, OwnAccelerator | OwnModel):
            _check_free(catalog, fact, new)
            known.add(fact.id)
    sources = {source.id for source in catalog.sources()} | {
        fact.id for fact in new if isinstance(fact, Source)
    }
    for fact in new:
        _check_reference(fact, known, sources)
    for fact in new:
        if isinstance(fact, OwnAccelerator):
            _check_complete(fact, new)
    return step(catalog.own, message("own.step.add", name=line("name", name)), put=facts)


def _check_free(catalog: Catalog, fact: OwnAccelerator | OwnModel, new: OwnFacts) -> None:
    """Refuse an id that another entry has; the user's own entry of the same kind may be replaced."""
    taken = any(thing.id == fact.id for thing in catalog.things())
    other = "model" if isinstance(fact, OwnAccelerator) else "accelerator"
    if (taken and catalog.own.get(*fact.key) is None) or new.get(other, fact.id) is not None:
        raise InputError(message("own.exists", id=fact.id), "id")


def _check_reference(fact: OwnFact, known: set[str], sources: set[str]) -> None:
    thing = fact.accelerator if isinstance(fact, OwnPrice) else getattr(fact, "thing", None)
    if thing is not None and thing not in known:
        raise InputError(message("own.no_such_thing", id=thing), thing)
    source = getattr(fact, "source", None)
    if source is not None and source not in sources:
        raise InputError(message("own.no_such_source", id=source), source)


def _check_complete(part: OwnAccelerator, facts: OwnFacts) -> None:
    stated = {fact.attribute for fact in facts if isinstance(fact, OwnClaim) and fact.thing == part.id}
    for name in ACCELERATOR_REQUIRED:
        if name not in stated:
            raise InputError(message("own.required", attribute=name), name)


def remove_thing(catalog: Catalog, thing: str) -> Edit:
    """Remove an entry of the user's with all that is said of it."""
    entry = catalog.thing(thing)
    if not entry.own:
        raise InputError(message("own.not_own", id=thing), "id")
    gone = [
        fact
        for fact in catalog.own
        if (isinstance(fact, OwnAccelerator | OwnModel) and fact.id == thing)
        or (isinstance(fact, OwnClaim | Preference) and fact.thing == thing)
        or (isinstance(fact, OwnPrice) and fact.accelerator == thing)
    ]
    return step(catalog.own, message("own.step.remove", name=entry.name), take=gone)


def forget(catalog: Catalog, waiting: Waiting) -> Edit:
    """Remove facts that wait, and sources that nothing else rests on; raises `InputError` if one is gone."""
    gone = [_own(catalog, *key) for key in waiting.keys]
    entry, price, name = waiting.entry, waiting.price, _name(catalog, waiting.thing)
    if price is not None:
        text = message("own.step.remove_price", thing=name)
    elif entry is not None:
        text = message("own.step.remove", name=entry.name)
    else:
        text = message("own.step.forget", attribute=waiting.attribute or "", thing=name)
    return step(catalog.own, text, take=gone)


def _name(catalog: Catalog, thing: str) -> str:
    """Return what a thing is called: by its id where it is not there."""
    return next((each.name for each in catalog.things() if each.id == thing), thing)


def state_price(catalog: Catalog, price: OwnPrice, source: Source, replaces: str | None = None) -> Edit:
    """State a price, in the place of another of the user's where `replaces` names it."""
    part = catalog.thing(price.accelerator)
    ends = [("usd_low", price.usd_low), ("usd", price.usd), ("usd_high", price.usd_high)]
    stated = [(name, amount) for name, amount in ends if amount is not None]
    if not stated:
        raise InputError(message("field.missing"), "usd")
    for name, amount in stated:
        if not 0 < amount < 1e9:
            raise InputError(message("field.range_above", given=str(amount), low=0, high=1e9), name)
    if [amount for _, amount in stated] != sorted(amount for _, amount in stated):
        raise InputError(message("own.price_order"), "usd_high")
    line("term", price.term)
    for name in ("provider", "region", "instance", "basis"):
        optional_line(name, getattr(price, name))
    optional_date("date", price.date)
    optional_note("note", price.note)
    before = () if replaces is None else (_own(catalog, "price", replaces),)
    return step(catalog.own, message("own.step.price", thing=part.name), take=before, put=(source, price))


def remove_price(catalog: Catalog, price: str) -> Edit:
    """Remove a price of the user's."""
    found = _own(catalog, "price", price)
    name = _name(catalog, found.accelerator) if isinstance(found, OwnPrice) else price
    return step(catalog.own, message("own.step.remove_price", thing=name), take=(found,))


def change_source(catalog: Catalog, source: Source) -> Edit:
    """Change what is said of a source of the user's, which keeps its id."""
    _own(catalog, "source", source.id)
    return step(catalog.own, message("own.step.source", title=source.title), put=(source,))


def _own(catalog: Catalog, *key: str) -> OwnFact:
    """Return a fact of the user's; raises `InputError` where it is a shipped one or there is none."""
    found = catalog.own.get(*key)
    if found is None:
        raise InputError(message("own.not_own", id=key[-1]), "id")
    return found
