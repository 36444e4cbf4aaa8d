"""User facts as JSON records, for packs and scenario files."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, cast

from gpudesk.catalog.model_definition import to_canonical_json
from gpudesk.catalog.user_store.entry import (
    REVERSED_PRICES,
    URL_PATTERN,
    check_optional_date,
    describe_no_such_model,
    describe_no_such_source,
    describe_required,
)
from gpudesk.domain.accelerator import SystemKind
from gpudesk.domain.answer import Scenario
from gpudesk.domain.attributes import COUNTED_UNITS, LARGEST_BY_UNIT, REGISTERED_ATTRIBUTES, get_units
from gpudesk.domain.claim import USER_SOURCE_PREFIX, CatalogEntryKind, ClaimPreference, Source, SourceKind
from gpudesk.domain.field_checks import (
    MISSING_FIELD,
    FieldCheck,
    accept_boolean,
    accept_number,
    accept_plain_text,
    accept_text,
    accept_whole,
    accept_word,
    describe_out_of_range,
    describe_wrong_address,
    describe_wrong_date,
    make_type_error,
    quote_value,
)
from gpudesk.domain.registry import find_attribute_definition, list_required_attributes
from gpudesk.domain.user_facts import (
    FACT_TABLES,
    MOST_FACTS,
    FactKey,
    UserAccelerator,
    UserClaim,
    UserEntry,
    UserFact,
    UserFacts,
    UserModel,
    UserPrice,
    UserSystem,
    get_fact_key,
)
from gpudesk.text.formatting import ClaimValue
from gpudesk.text.messages import InputError, input_error

_MOST_WORDS: Final = 100
_MOST: Final = 1e30
#: Whole numbers have 64 bits in packs.
_MOST_WHOLE: Final = 2**63 - 1
_MOST_USD: Final = 1e9
_LINE: Final = accept_plain_text(300)
_NOTE: Final = accept_plain_text(4000)
_ID: Final = re.compile(r"[a-z0-9]+(?:[._-]+[a-z0-9]+)*")
_ATTRIBUTE: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)*")
#: Units of whole numbers.
_COUNTED: Final = COUNTED_UNITS | {"tokens", "parameters"}
_KINDS: Final = {kind.value: kind for kind in SourceKind}


def _make_pattern_check(pattern: re.Pattern[str]) -> FieldCheck:
    def check(where: str, value: object) -> str:
        line: str = _LINE(where, value)
        if pattern.fullmatch(line) is None:
            raise input_error(
                "pack.no_id",
                "{given} is not a valid id; use lowercase letters, digits and hyphens",
                where,
                given=quote_value(line),
            )
        return line

    return check


def _check_user_source_id(where: str, value: object) -> str:
    text: str = _make_pattern_check(_ID)(where, value)
    if not text.startswith(USER_SOURCE_PREFIX):
        raise input_error(
            "pack.not_own_source",
            "{given} is not a user source; ids of user sources begin with own-",
            where,
            given=quote_value(text),
        )
    return text


_THING: Final = _make_pattern_check(_ID)


def _check_date(where: str, value: object) -> str | None:
    line: str = _LINE(where, value)
    try:
        return check_optional_date(where, line)
    except InputError:
        raise InputError(describe_wrong_date(quote_value(line)), where) from None


def _check_address(where: str, value: object) -> str:
    address: str = accept_text(2000)(where, value)
    if URL_PATTERN.fullmatch(address) is None:
        raise InputError(describe_wrong_address(quote_value(address)), where)
    return address


def _check_value(where: str, value: object) -> ClaimValue:
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        accept_whole(-_MOST_WHOLE, _MOST_WHOLE)(where, value)
        return value
    if isinstance(value, float):
        return float(accept_number(-_MOST, _MOST)(where, value))
    if isinstance(value, list):
        if not 0 < len(value) <= _MOST_WORDS:
            raise InputError(describe_out_of_range(str(len(value)), 1, _MOST_WORDS), where)
        return tuple(_LINE(f"{where}[{place}]", each) for place, each in enumerate(value))
    return cast("str", _NOTE(where, value))


def _check_definition(where: str, value: object) -> str:
    from gpudesk.catalog.importing.model_facts import check_model_definition

    if not isinstance(value, dict):
        raise make_type_error(where, value, "object")
    try:
        return to_canonical_json(check_model_definition(value).definition())
    except RecursionError:
        raise input_error("pack.too_deep", "is nested too deeply for a model", where) from None
    except InputError as error:
        raise InputError(error.problem, f"{where}.{error.where}" if error.where else where) from error


_IN_ALL: Final[Mapping[str, FieldCheck]] = {
    **dict.fromkeys(
        (
            *("title", "publisher", "name", "vendor", "generation", "organisation", "published", "conditions"),
            *("term", "provider", "region", "instance", "basis"),
        ),
        _LINE,
    ),
    **dict.fromkeys(("trust", "note", "reason"), _NOTE),
    **dict.fromkeys(("date", "retrieved"), _check_date),
    **dict.fromkeys(("usd", "usd_low", "usd_high"), accept_number(0, _MOST_USD, above=True)),
    **dict.fromkeys(("id", "thing", "accelerator"), _THING),
    "kind": accept_word(_KINDS),
    "url": _check_address,
    "announced": accept_boolean,
    "attribute": _make_pattern_check(_ATTRIBUTE),
    "value": _check_value,
    "definition": _check_definition,
    "accelerators_in_instance": accept_whole(1, 1_000_000),
    "source": _check_user_source_id,
}
#: The checks of the fields of each kind of fact.
_FACTS: Final[Mapping[str, tuple[type[UserFact], Mapping[str, FieldCheck]]]] = {
    "source": (Source, {**_IN_ALL, "id": _check_user_source_id}),
    "accelerator": (UserAccelerator, _IN_ALL),
    "model": (UserModel, _IN_ALL),
    "system": (UserSystem, {**_IN_ALL, "kind": accept_word({kind.value: kind for kind in SystemKind})}),
    "claim": (UserClaim, _IN_ALL),
    # The source of a preferred claim can be a shipped one.
    "preference": (ClaimPreference, {**_IN_ALL, "source": _THING}),
    "price": (UserPrice, {**_IN_ALL, "id": _LINE}),
}


def _check_attribute_value(attribute: str, value: ClaimValue, where: str) -> None:
    """Refuse values of the wrong type for an attribute, and sizes below 0."""
    units = {name: unit for kind in CatalogEntryKind for name, unit in get_units(kind).items()}
    if attribute not in units:
        return
    unit = units[attribute]
    json_value = list(value) if isinstance(value, tuple) else value
    if unit is None:
        definition = find_attribute_definition(attribute)
        if definition is not None and not isinstance(value, tuple if definition.is_word_list else str):
            raise make_type_error(where, json_value, "list" if definition.is_word_list else "text")
    elif unit in _COUNTED and not isinstance(value, int):
        raise make_type_error(where, json_value, "whole")
    else:
        accept_number(0, LARGEST_BY_UNIT.get(unit, _MOST), above=True)(where, json_value)


# To JSON


def write_record(fact: UserFact) -> dict[str, Any]:
    """Return a fact as JSON values; raises `InputError` for a model whose structure cannot be read."""
    record: dict[str, Any] = {"fact": get_fact_key(fact)[0]}
    for field in dataclasses.fields(fact):
        value = getattr(fact, field.name)
        if value is not None:
            record[field.name] = list(value) if isinstance(value, tuple) else value
    if isinstance(fact, UserModel):
        record["definition"] = _parse_definition(fact)
    return record


def _parse_definition(model: UserModel) -> object:
    try:
        return json.loads(model.definition)
    except (ValueError, RecursionError) as error:
        raise InputError(describe_no_such_model(str(error)), model.name) from error


def order_facts(facts: Iterable[UserFact]) -> list[UserFact]:
    """Return facts after the facts they refer to, always in the same order."""
    places = {table: place for place, table in enumerate(FACT_TABLES)}
    return sorted(facts, key=lambda fact: (places[get_fact_key(fact)[0]], get_fact_key(fact)))


def add_needed_facts(facts: UserFacts, chosen: Iterable[FactKey]) -> list[UserFact]:
    """Return the chosen facts and those they need.

    These are the sources that they name, the user's own entries that they are about with the accelerators of systems,
    and all figures of those entries.
    """
    keys = {key for key in chosen if key in facts.facts}
    own = {fact.id: fact for fact in facts if isinstance(fact, UserEntry)}
    things = {find_entry_id(facts.facts[key]) for key in keys} & own.keys()
    systems = (each for thing in things if isinstance(each := own[thing], UserSystem))
    things |= {system.accelerator for system in systems} & own.keys()
    keys |= {own[thing].key for thing in things}
    keys |= {
        get_fact_key(each) for each in facts if isinstance(each, UserClaim | ClaimPreference) and each.thing in things
    }
    source_keys = (("source", str(getattr(facts.facts[key], "source", ""))) for key in tuple(keys))
    keys |= {key for key in source_keys if key in facts.facts}
    return order_facts(facts.facts[key] for key in keys)


def find_entry_id(fact: UserFact) -> str:
    """Return the id of the entry of a fact, empty for sources."""
    if isinstance(fact, UserEntry):
        return fact.id
    if isinstance(fact, UserPrice):
        return fact.accelerator
    return "" if isinstance(fact, Source) else fact.thing


def write_scenario_records(scenario: Scenario, user_facts: UserFacts) -> tuple[Mapping[str, object], ...]:
    """Return copies of the user's facts on a scenario's accelerators, systems and model."""
    accelerators = {choice.accelerator for choice in scenario.accelerators}
    systems = {fact.id for fact in user_facts if isinstance(fact, UserSystem) and fact.accelerator in accelerators}
    things = {scenario.model} | accelerators | systems
    chosen = [
        get_fact_key(fact)
        for fact in user_facts
        if not isinstance(fact, Source | UserPrice) and find_entry_id(fact) in things
    ]
    return tuple(write_record(fact) for fact in add_needed_facts(user_facts, chosen))


# From JSON


def read_user_facts(records: Sequence[object], where: str = "records") -> UserFacts:
    """Return the facts of records; raises `InputError` with the place of the faulty one."""
    if len(records) > MOST_FACTS:
        raise input_error(
            "pack.too_many",
            "has {count} values; a pack can have at most {most}",
            where,
            count=len(records),
            most=MOST_FACTS,
        )
    facts: dict[FactKey, UserFact] = {}
    places: dict[FactKey, str] = {}
    for position, record in enumerate(records):
        place = f"{where}[{position}]"
        fact = _read_fact(place, record)
        key = get_fact_key(fact)
        if key in facts:
            raise input_error("pack.twice", "repeats an earlier value; remove one of them", place)
        facts[key], places[key] = fact, place
    user_facts = UserFacts.of(facts.values())
    _check_together(user_facts, places)
    return user_facts


def _read_fact(where: str, record: object) -> UserFact:
    if not isinstance(record, dict):
        raise make_type_error(where, record, "object")
    # The module is slow to load, and scenarios are written while the window opens.
    from gpudesk.input_records import parse_record

    kind, checks = accept_word(_FACTS)(f"{where}.fact", record.get("fact"))
    fields = {name: value for name, value in record.items() if name != "fact"}
    fact: UserFact = parse_record(kind, fields, where, checks)
    if isinstance(fact, UserClaim | ClaimPreference):
        _check_attribute_value(fact.attribute, fact.value, f"{where}.value")
    if isinstance(fact, UserModel) and (described := json.loads(fact.definition)["id"]) != fact.id:
        raise input_error(
            "pack.other_id",
            "describes {id}; it must describe the model that contains it",
            f"{where}.definition",
            id=described,
        )
    if isinstance(fact, UserPrice):
        amounts = [amount for amount in (fact.usd_low, fact.usd, fact.usd_high) if amount is not None]
        if not amounts:
            raise InputError(MISSING_FIELD, f"{where}.usd")
        if amounts != sorted(amounts):
            raise InputError(REVERSED_PRICES, f"{where}.usd_high")
    return fact


#: The attributes of entries by the table of the entry.
_ATTRIBUTES_BY_TABLE: Final = {kind.value: attributes for kind, attributes in REGISTERED_ATTRIBUTES.items()}


def _check_together(facts: UserFacts, places: Mapping[FactKey, str]) -> None:
    """Refuse facts whose sources are missing, and entries that lack a required attribute."""
    claimed_attributes: dict[str, set[str]] = {}
    for key, fact in facts.facts.items():
        if isinstance(fact, UserClaim | UserPrice) and ("source", fact.source) not in facts.facts:
            raise InputError(describe_no_such_source(fact.source), f"{places[key]}.source")
        if isinstance(fact, UserClaim):
            claimed_attributes.setdefault(fact.thing, set()).add(fact.attribute)
    for key in facts.facts:
        for name in list_required_attributes(_ATTRIBUTES_BY_TABLE.get(key[0], {})):
            if name not in claimed_attributes.get(key[1], ()):
                raise InputError(describe_required(name), places[key])
