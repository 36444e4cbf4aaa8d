"""Steps made of facts: what goes, what comes, and the sources that nothing rests on any more."""

from __future__ import annotations

from collections.abc import Iterable

from gpudesk.domain.claims import Source
from gpudesk.domain.messages import InputError, Message, message
from gpudesk.domain.own_facts import Edit, OwnClaim, OwnFact, OwnFacts, OwnPrice, fact_key


def step(own: OwnFacts, text: Message, take: Iterable[OwnFact] = (), put: Iterable[OwnFact] = ()) -> Edit:
    """Return the step that takes facts away and puts others; what stays as it is takes no part in it.

    Sources that nothing rests on any more go with the facts that rested on them. Raises `InputError` where
    nothing would change.
    """
    wanted = {fact_key(fact): fact for fact in put}
    new = {key: fact for key, fact in wanted.items() if own.get(*key) != fact}
    gone = {fact_key(fact): fact for fact in take if fact_key(fact) not in wanted}
    for key in new:
        replaced = own.get(*key)
        if replaced is not None:
            gone[key] = replaced
    if not new and not gone:
        raise InputError(message("own.same_value"), "value")
    edit = Edit(text, before=tuple(gone.values()), after=tuple(new.values()))
    orphans = _orphans(own, own.after(edit))
    return Edit(text, before=(*edit.before, *orphans), after=edit.after)


def _orphans(before: OwnFacts, after: OwnFacts) -> list[Source]:
    """Return the sources that facts rested on before, and none does now."""
    rested, rests = _rested_on(before), _rested_on(after)
    return [fact for fact in after if isinstance(fact, Source) and fact.id in rested - rests]


def _rested_on(facts: OwnFacts) -> set[str]:
    return {fact.source for fact in facts if isinstance(fact, OwnClaim | OwnPrice)}
