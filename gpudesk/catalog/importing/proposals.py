"""Proposals with the user's overrides: another id, name, or title of the source."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection
from dataclasses import replace
from itertools import chain, count
from typing import Final

from gpudesk.catalog.model_definition import to_canonical_json
from gpudesk.catalog.user_store.entry import check_line, describe_taken_id, make_slug, make_user_source
from gpudesk.domain.claim import ClaimPreference, Source
from gpudesk.domain.user_facts import (
    UNKNOWN_MAKER,
    ImportProposal,
    UserClaim,
    UserEntry,
    UserFact,
    UserModel,
    UserPrice,
    UserSystem,
)
from gpudesk.text.messages import InputError, input_error

#: Syntax of ids, shipped and user's.
_ID: Final = re.compile(r"[a-z0-9]+(?:[.-][a-z0-9]+)*")
_LONGEST_ID: Final = 80


def get_subject(proposal: ImportProposal) -> UserEntry | None:
    """Return the model, accelerator or system of a proposal; None for prices and packs."""
    if proposal.kind in ("pack", "prices"):
        return None
    return next((fact for fact in proposal.facts if isinstance(fact, UserEntry)), None)


def list_proposal_sources(proposal: ImportProposal) -> tuple[Source, ...]:
    return tuple(fact for fact in proposal.facts if isinstance(fact, Source))


def find_free_id(wish: str, used_ids: Collection[str]) -> str:
    """Return an unused id made of a name, with a number if necessary."""
    base = make_slug(wish)[:_LONGEST_ID].strip("-.")
    if _ID.fullmatch(base) is None:
        base = "own"
    numbered = (f"{base}-{number}" for number in count(2))
    return next(name for name in chain((base,), numbered) if name not in used_ids)


def check_new_id(text: str, used_ids: Collection[str]) -> str:
    """Return an available id; raises `InputError` at the field `id`."""
    if len(text) > _LONGEST_ID or _ID.fullmatch(text) is None:
        raise input_error(
            "import.id",
            "may contain lowercase letters, digits, single dots and hyphens, at most {longest}",
            "id",
            longest=_LONGEST_ID,
        )
    if text in used_ids:
        raise InputError(describe_taken_id(text), "id")
    return text


def rename_subject(proposal: ImportProposal, thing_id: str, name: str) -> ImportProposal:
    """Return a proposal whose subject has this id and name; raises `InputError` at the field."""
    subject = get_subject(proposal)
    if subject is None or (subject.id, subject.name) == (thing_id, name):
        return proposal
    name_line = str(check_line("name", name.strip()))
    former = subject.id

    def renamed(fact: UserFact) -> UserFact:
        if fact is subject:
            if not isinstance(subject, UserModel):
                return replace(subject, id=thing_id, name=name_line)
            definition = to_canonical_json({**json.loads(subject.definition), "id": thing_id, "name": name_line})
            return replace(subject, id=thing_id, name=name_line, definition=definition)
        if isinstance(fact, UserClaim | ClaimPreference) and fact.thing == former:
            return replace(fact, thing=thing_id)
        if isinstance(fact, UserPrice | UserSystem) and fact.accelerator == former:
            return replace(fact, accelerator=thing_id)
        return fact

    return replace(proposal, name=name_line, facts=tuple(map(renamed, proposal.facts)))


def retitle_source(proposal: ImportProposal, title: str) -> ImportProposal:
    """Return a proposal whose first source has this title; raises `InputError` at the field `title`."""
    sources = list_proposal_sources(proposal)
    if not sources or sources[0].title == title.strip():
        return proposal
    return _replace_source(proposal, replace(sources[0], title=title))


def has_no_owner(proposal: ImportProposal) -> bool:
    """Whether a model comes from files that do not name its maker."""
    subject = get_subject(proposal)
    return isinstance(subject, UserModel) and subject.organisation == UNKNOWN_MAKER


def set_organization(proposal: ImportProposal, organisation: str) -> ImportProposal:
    """Return a proposal whose model is of this organization, which also becomes its publisher.

    Raises `InputError` at the field `organisation`, also without a model.
    """
    subject = get_subject(proposal)
    organization_line = str(check_line("organisation", organisation.strip()))
    if not isinstance(subject, UserModel):
        raise input_error("import.no_model", "is for models, but this file has none", "organisation")
    definition = to_canonical_json({**json.loads(subject.definition), "organisation": organization_line})
    renamed = replace(subject, organisation=organization_line, definition=definition)
    named_so = replace(proposal, facts=tuple(renamed if each is subject else each for each in proposal.facts))
    sources = list_proposal_sources(named_so)
    if not sources or sources[0].publisher != subject.organisation:
        return named_so
    return _replace_source(named_so, replace(sources[0], publisher=organization_line))


def _replace_source(proposal: ImportProposal, source: Source) -> ImportProposal:
    """Return a proposal with another first source: equal words give equal ids."""
    former = list_proposal_sources(proposal)[0]
    new_source = make_user_source(source.title, source.publisher, url=source.url, date=source.date, kind=source.kind)
    changed = _make_source_replacer(former.id, new_source.id)
    return replace(proposal, facts=tuple(new_source if fact is former else changed(fact) for fact in proposal.facts))


def _make_source_replacer(former: str, now: str) -> Callable[[UserFact], UserFact]:
    def changed(fact: UserFact) -> UserFact:
        if isinstance(fact, UserClaim | ClaimPreference | UserPrice) and fact.source == former:
            return replace(fact, source=now)
        return fact

    return changed


def find_missing_price_fields(proposal: ImportProposal) -> tuple[bool, bool]:
    """Return whether some price of a proposal has no provider, and whether some has no date."""
    prices = [fact for fact in proposal.facts if isinstance(fact, UserPrice)]
    return any(price.provider is None for price in prices), any(price.date is None for price in prices)
