"""Facts of the user that wait: they are kept, but the catalog as it is has no place for them."""

from __future__ import annotations

from dataclasses import dataclass

from gpudesk.domain.claims import PRICE_ENDS, ClaimValue, Preference
from gpudesk.domain.messages import Message
from gpudesk.domain.own_facts import Key, OwnAccelerator, OwnClaim, OwnFact, OwnModel, OwnPrice, fact_key


@dataclass(frozen=True, slots=True)
class Waiting:
    """Facts that wait together: all about one entry, one price, or one attribute; and why they wait.

    `unit` is that of the attribute's figures inside. Of the two ends of a price, `attribute` is the low one.
    """

    thing: str
    attribute: str | None
    why: Message
    facts: tuple[OwnFact, ...]
    unit: str | None = None

    def concerns(self, thing: str, attribute: str | None) -> bool:
        """Whether it is about an attribute of a thing, without one about the thing as an entry."""
        if self.thing != thing or self.price is not None:
            return False
        return self.attribute == (PRICE_ENDS[0] if attribute in PRICE_ENDS else attribute)

    @property
    def keys(self) -> tuple[Key, ...]:
        """By what the facts are found."""
        return tuple(fact_key(fact) for fact in self.facts)

    @property
    def claims(self) -> tuple[OwnClaim, ...]:
        """The figures among them."""
        return tuple(fact for fact in self.facts if isinstance(fact, OwnClaim))

    @property
    def choices(self) -> tuple[Preference, ...]:
        """The choices among them."""
        return tuple(fact for fact in self.facts if isinstance(fact, Preference))

    @property
    def values(self) -> tuple[ClaimValue, ...]:
        """What the user states or takes for the attribute."""
        stated = (*(claim.value for claim in self.claims), *(choice.value for choice in self.choices))
        return tuple(dict.fromkeys(stated))

    @property
    def price(self) -> OwnPrice | None:
        """The price that waits, where it is one."""
        return next((fact for fact in self.facts if isinstance(fact, OwnPrice)), None)

    @property
    def entry(self) -> OwnAccelerator | OwnModel | None:
        """The entry that waits, where it is one."""
        found = (fact for fact in self.facts if isinstance(fact, OwnAccelerator | OwnModel))
        return next(found, None)
