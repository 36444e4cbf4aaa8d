"""Proposals as the user would have them: under another id, name, or title of the source."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection
from dataclasses import replace
from itertools import chain, count
from typing import Final

from gpudesk.catalog.definitions import to_json
from gpudesk.domain.claims import Preference, Source
from gpudesk.domain.messages import InputError, message
from gpudesk.domain.own_facts import (
    NOBODY,
    OwnAccelerator,
    OwnClaim,
    OwnFact,
    OwnModel,
    OwnPrice,
    Proposal,
)
from gpudesk.workbench.own_checks import line, own_source, slug

#: How ids are written, shipped ones and those of the user.
_ID: Final = re.compile(r"[a-z0-9]+(?:[.-][a-z0-9]+)*")
_LONGEST_ID: Final = 80

Subject = OwnAccelerator | OwnModel


def subject_of(proposal: Proposal) -> Subject | None:
    """Return the model or accelerator that a proposal is about; None for prices and packs."""
    if proposal.kind == "pack":
        return None
    return next((fact for fact in proposal.facts if isinstance(fact, OwnAccelerator | OwnModel)), None)


def sources_of(proposal: Proposal) -> tuple[Source, ...]:
    """Return the sources that come with a proposal."""
    return tuple(fact for fact in proposal.facts if isinstance(fact, Source))


def free_id(wanted: str, taken: Collection[str]) -> str:
    """Return an id made of a name that nobody has: with a number behind it where it has to be."""
    base = slug(wanted)[:_LONGEST_ID].strip("-.")
    if _ID.fullmatch(base) is None:
        base = "own"
    numbered = (f"{base}-{number}" for number in count(2))
    return next(name for name in chain((base,), numbered) if name not in taken)


def check_id(given: str, taken: Collection[str]) -> str:
    """Return an id that can be taken; raises `InputError` at the field `id`."""
    if len(given) > _LONGEST_ID or _ID.fullmatch(given) is None:
        raise InputError(message("import.id", longest=_LONGEST_ID), "id")
    if given in taken:
        raise InputError(message("own.exists", id=given), "id")
    return given


def named(proposal: Proposal, thing_id: str, name: str) -> Proposal:
    """Return a proposal whose model or accelerator has this id and name; raises `InputError` at the field."""
    subject = subject_of(proposal)
    if subject is None or (subject.id, subject.name) == (thing_id, name):
        return proposal
    said = str(line("name", name.strip()))
    former = subject.id

    def renamed(fact: OwnFact) -> OwnFact:
        if fact is subject:
            return _renamed(subject, thing_id, said)
        if isinstance(fact, OwnClaim | Preference) and fact.thing == former:
            return replace(fact, thing=thing_id)
        if isinstance(fact, OwnPrice) and fact.accelerator == former:
            return replace(fact, accelerator=thing_id)
        return fact

    return replace(proposal, name=said, facts=tuple(map(renamed, proposal.facts)))


def _renamed(subject: Subject, thing_id: str, name: str) -> Subject:
    if isinstance(subject, OwnAccelerator):
        return replace(subject, id=thing_id, name=name)
    definition = to_json({**json.loads(subject.definition), "id": thing_id, "name": name})
    return replace(subject, id=thing_id, name=name, definition=definition)


def titled(proposal: Proposal, title: str) -> Proposal:
    """Return a proposal whose first source has this title; raises `InputError` at the field `title`."""
    sources = sources_of(proposal)
    if not sources or sources[0].title == title.strip():
        return proposal
    return _sourced(proposal, replace(sources[0], title=title))


def nobodys(proposal: Proposal) -> bool:
    """Whether a model comes from files that do not say whose it is."""
    subject = subject_of(proposal)
    return isinstance(subject, OwnModel) and subject.organisation == NOBODY


def made_by(proposal: Proposal, organisation: str) -> Proposal:
    """Return a proposal whose model is of this organisation, and so what published it.

    Raises `InputError` at the field `organisation`, also where there is no model.
    """
    subject = subject_of(proposal)
    said = str(line("organisation", organisation.strip()))
    if not isinstance(subject, OwnModel):
        raise InputError(message("import.no_model"), "organisation")
    definition = to_json({**json.loads(subject.definition), "organisation": said})
    made = replace(subject, organisation=said, definition=definition)
    named_so = replace(proposal, facts=tuple(made if each is subject else each for each in proposal.facts))
    sources = sources_of(named_so)
    if len(sources) != 1 or sources[0].publisher != subject.organisation:
        return named_so
    return _sourced(named_so, replace(sources[0], publisher=said))


def _sourced(proposal: Proposal, source: Source) -> Proposal:
    """Return a proposal with another first source: the same words make the same id."""
    former = sources_of(proposal)[0]
    made = own_source(source.title, source.publisher, url=source.url, date=source.date, kind=source.kind)
    changed = _with_source(former.id, made.id)
    return replace(
        proposal, facts=tuple(made if fact is former else changed(fact) for fact in proposal.facts)
    )


def _with_source(former: str, now: str) -> Callable[[OwnFact], OwnFact]:
    def changed(fact: OwnFact) -> OwnFact:
        if isinstance(fact, OwnClaim | Preference | OwnPrice) and fact.source == former:
            return replace(fact, source=now)
        return fact

    return changed


def lacks(proposal: Proposal) -> tuple[bool, bool]:
    """Whether some price of a proposal has no provider, and whether some has no date."""
    prices = [fact for fact in proposal.facts if isinstance(fact, OwnPrice)]
    return any(price.provider is None for price in prices), any(price.date is None for price in prices)
