"""The user's facts as JSON records and back, for what leaves the program: packs and scenario files.

A record is an object with `fact`, the table that it belongs to, and the fields of the fact; what is not known
is left out. Reading believes nothing: every field is checked, and facts must hold together.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any, Final, cast

from gpudesk.catalog.attribute_names import ACCELERATOR_REQUIRED
from gpudesk.domain.claims import Preference, Source
from gpudesk.domain.messages import InputError, message
from gpudesk.domain.own_facts import (
    TABLES,
    Key,
    OwnAccelerator,
    OwnClaim,
    OwnFact,
    OwnFacts,
    OwnModel,
    OwnPrice,
    fact_key,
)
from gpudesk.domain.scenarios import Scenario
from gpudesk.workbench.fields import unknown_field, word, wrong_type
from gpudesk.workbench.own_fact_fields import SHAPES, check_fact

#: No collection of a person comes near this.
MOST_FACTS: Final = 200_000


# To JSON


def record_of(fact: OwnFact) -> dict[str, Any]:
    """Return a fact as JSON values; raises `InputError` for a model whose structure cannot be read."""
    record: dict[str, Any] = {"fact": fact_key(fact)[0]}
    for field in fields(fact):
        value = getattr(fact, field.name)
        if value is not None:
            record[field.name] = list(value) if isinstance(value, tuple) else value
    if isinstance(fact, OwnModel):
        record["definition"] = _structure(fact)
    return record


def _structure(model: OwnModel) -> object:
    try:
        return json.loads(model.definition)
    except (ValueError, RecursionError) as error:
        raise InputError(message("own.no_such_model", reason=str(error)), model.name) from error


def ordered(facts: Iterable[OwnFact]) -> list[OwnFact]:
    """Return facts so that none comes before what it refers to, the same facts always in the same order."""
    places = {table: place for place, table in enumerate(TABLES)}
    return sorted(facts, key=lambda fact: (places[fact_key(fact)[0]], fact_key(fact)))


def with_needed(facts: OwnFacts, chosen: Iterable[Key]) -> list[OwnFact]:
    """Return the chosen facts and what they cannot do without.

    That is the sources that they name, the user's own entries that they are about, and all that is stated of
    those entries.
    """
    keys = {key for key in chosen if key in facts.facts}
    own = {fact.id: fact for fact in facts if isinstance(fact, OwnAccelerator | OwnModel)}
    things = {thing_of(facts.facts[key]) for key in keys} & own.keys()
    keys |= {own[thing].key for thing in things}
    keys |= {
        fact_key(each) for each in facts if isinstance(each, OwnClaim | Preference) and each.thing in things
    }
    named = (("source", str(getattr(facts.facts[key], "source", ""))) for key in tuple(keys))
    keys |= {key for key in named if key in facts.facts}
    return ordered(facts.facts[key] for key in keys)


def thing_of(fact: OwnFact) -> str:
    """Return the id of the entry that a fact is about, empty for sources."""
    if isinstance(fact, OwnAccelerator | OwnModel):
        return fact.id
    if isinstance(fact, OwnPrice):
        return fact.accelerator
    return "" if isinstance(fact, Source) else fact.thing


def records_of(scenario: Scenario, own: OwnFacts) -> tuple[Mapping[str, object], ...]:
    """Return copies of the user's facts that a scenario uses: what is said of its parts and of its model."""
    things = {scenario.model, *(choice.accelerator for choice in scenario.accelerators)}
    chosen = [
        fact_key(fact) for fact in own if not isinstance(fact, Source | OwnPrice) and thing_of(fact) in things
    ]
    return tuple(record_of(fact) for fact in with_needed(own, chosen))


# From JSON


def own_facts_of(records: Sequence[object], where: str = "records") -> OwnFacts:
    """Return the facts of records; raises `InputError` with the place in them that cannot be taken."""
    if len(records) > MOST_FACTS:
        raise InputError(message("pack.too_many", count=len(records), most=MOST_FACTS), where)
    facts: dict[Key, OwnFact] = {}
    places: dict[Key, str] = {}
    for position, record in enumerate(records):
        place = f"{where}[{position}]"
        fact = _fact(place, record)
        key = fact_key(fact)
        if key in facts:
            raise InputError(message("pack.twice"), place)
        facts[key], places[key] = fact, place
    found = OwnFacts.of(facts.values())
    _check_together(found, places)
    return found


def _fact(where: str, record: object) -> OwnFact:
    if not isinstance(record, dict):
        raise wrong_type(where, record, "object")
    shape = word(SHAPES)(f"{where}.fact", record.get("fact"))
    values: dict[str, Any] = dict(shape.blank)
    for name, value in record.items():
        if name == "fact":
            continue
        if name not in shape.checks:
            raise unknown_field(where, name, shape.checks)
        if value is not None:
            values[name] = shape.checks[name](f"{where}.{name}", value)
    for name in shape.required:
        if name not in values:
            raise InputError(message("field.missing"), f"{where}.{name}")
    fact = shape.made(**values)
    check_fact(fact, where)
    return cast("OwnFact", fact)


def _check_together(facts: OwnFacts, places: Mapping[Key, str]) -> None:
    """Refuse facts whose sources are not among them, and accelerators that lack what estimates need."""
    stated: dict[str, set[str]] = {}
    for key, fact in facts.facts.items():
        if isinstance(fact, OwnClaim | OwnPrice) and ("source", fact.source) not in facts.facts:
            raise InputError(message("own.no_such_source", id=fact.source), f"{places[key]}.source")
        if isinstance(fact, OwnClaim):
            stated.setdefault(fact.thing, set()).add(fact.attribute)
    for key, fact in facts.facts.items():
        for name in ACCELERATOR_REQUIRED if isinstance(fact, OwnAccelerator) else ():
            if name not in stated.get(key[1], ()):
                raise InputError(message("own.required", attribute=name), places[key])
