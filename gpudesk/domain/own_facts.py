"""The user's own facts: what lies beside the shipped catalog, in a file of the user's.

Every fact has a `key` of its own. An `Edit` takes facts away and puts facts in their place; turned round it
takes itself back. Notes on the watch list lie in the same file and change by the same steps, but are no facts
of the catalog. Figures are in the unit used inside, dates are ISO days.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from gpudesk.domain.claims import ClaimValue, Kind, Preference, Price, Source
from gpudesk.domain.messages import Message
from gpudesk.domain.watching import WatchNote

#: Who made a model, where no name tells.
NOBODY: Final = "unknown"
#: The table of a fact and what tells it from the others in there.
Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OwnAccelerator:
    """An accelerator of the user's; its figures are claims. `generation` is the one that it behaves like."""

    id: str
    name: str
    vendor: str
    generation: str
    announced: bool = False

    @property
    def key(self) -> Key:
        """Its table and id."""
        return ("accelerator", self.id)


@dataclass(frozen=True, slots=True)
class OwnModel:
    """A model of the user's. `definition` is its structure as canonical JSON, as the shipped catalog has it.

    Each dimension is a claim too, so that it shows where it comes from.
    """

    id: str
    name: str
    organisation: str
    definition: str

    @property
    def key(self) -> Key:
        """Its table and id."""
        return ("model", self.id)


@dataclass(frozen=True, slots=True)
class OwnClaim:
    """A figure that the user states of a thing, shipped or own; `source` is the id of one of the user's.

    One source states one value of an attribute. `published` is the figure as it was entered, with its unit.
    """

    thing: str
    attribute: str
    value: ClaimValue
    source: str
    kind: Kind
    retrieved: str
    published: str | None = None
    conditions: str | None = None
    note: str | None = None

    @property
    def key(self) -> Key:
        """Its table, and whose claim about what."""
        return ("claim", self.thing, self.attribute, self.source)


@dataclass(frozen=True, slots=True)
class OwnPrice:
    """A price of the user's: the fields of `Price`, with `source` as the id of one of the user's sources."""

    id: str
    accelerator: str
    term: str
    source: str
    kind: Kind
    usd: float | None
    usd_low: float | None = None
    usd_high: float | None = None
    provider: str | None = None
    region: str | None = None
    instance: str | None = None
    accelerators_in_instance: int | None = None
    basis: str | None = None
    date: str | None = None
    note: str | None = None

    @property
    def key(self) -> Key:
        """Its table and id."""
        return ("price", self.id)

    @property
    def own(self) -> bool:
        """Whether it is one of the user's, as of a `Price`."""
        return True

    def price(self, source: Source) -> Price:
        """Return the price with the source that it names."""
        return Price(
            id=self.id,
            accelerator=self.accelerator,
            term=self.term,
            source=source,
            kind=self.kind,
            usd=self.usd,
            usd_low=self.usd_low,
            usd_high=self.usd_high,
            provider=self.provider,
            region=self.region,
            instance=self.instance,
            accelerators_in_instance=self.accelerators_in_instance,
            basis=self.basis,
            date=self.date,
            note=self.note,
            own=True,
        )


OwnFact = Source | OwnAccelerator | OwnModel | OwnClaim | Preference | OwnPrice

#: Tables in the order in which facts refer to each other.
TABLES: Final = ("source", "accelerator", "model", "claim", "preference", "price")


def fact_key(fact: OwnFact) -> Key:
    """Return the key of a fact."""
    return ("source", fact.id) if isinstance(fact, Source) else fact.key


@dataclass(frozen=True, slots=True)
class Edit:
    """One step: `before` is taken away, `after` put there; a fact that changes is in both, by one key.

    `unwatched` and `watched` are the same for notes on the watch list. `text` names the step for undo.
    """

    text: Message
    before: tuple[OwnFact, ...] = ()
    after: tuple[OwnFact, ...] = ()
    unwatched: tuple[WatchNote, ...] = ()
    watched: tuple[WatchNote, ...] = ()

    def inverse(self) -> Edit:
        """Return the step that takes this one back."""
        return Edit(self.text, self.after, self.before, unwatched=self.watched, watched=self.unwatched)

    @property
    def changes_facts(self) -> bool:
        """Whether it is about the catalog, and not the watch list alone."""
        return bool(self.before or self.after)

    def watched_after(self, notes: tuple[WatchNote, ...]) -> tuple[WatchNote, ...]:
        """Return the notes on the watch list after the step, one for a signal."""
        gone = {note.signal for note in self.unwatched}
        put = {note.signal: note for note in self.watched}
        kept = [put.pop(each.signal, each) for each in notes if each.signal in put or each.signal not in gone]
        return (*kept, *put.values())

    @property
    def moves_estimates(self) -> bool:
        """Whether it says anything but prices and sources, which no estimate rests on."""
        return not all(isinstance(fact, Source | OwnPrice) for fact in (*self.before, *self.after))

    @property
    def things(self) -> frozenset[str]:
        """The ids of the things that the step is about."""
        return frozenset(filter(None, map(_thing_of, (*self.before, *self.after))))


def _thing_of(fact: OwnFact) -> str | None:
    if isinstance(fact, OwnAccelerator | OwnModel):
        return fact.id
    if isinstance(fact, OwnClaim | Preference):
        return fact.thing
    return fact.accelerator if isinstance(fact, OwnPrice) else None


@dataclass(frozen=True, slots=True)
class OwnFacts:
    """All facts of the user by their keys, in the order in which they were entered."""

    facts: Mapping[Key, OwnFact] = field(default_factory=lambda: MappingProxyType({}))

    @classmethod
    def of(cls, facts: Iterable[OwnFact]) -> OwnFacts:
        """Return these facts; of two with one key the later holds."""
        return cls(MappingProxyType({fact_key(fact): fact for fact in facts}))

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.facts)

    def __iter__(self) -> Iterator[OwnFact]:
        """Yield every fact."""
        return iter(self.facts.values())

    def get(self, *key: str) -> OwnFact | None:
        """Return the fact of a key, or None."""
        return self.facts.get(key)

    def after(self, edit: Edit) -> OwnFacts:
        """Return the facts after a step."""
        gone = {fact_key(fact) for fact in edit.before}
        put = {fact_key(fact): fact for fact in edit.after}
        kept = {key: put.pop(key, fact) for key, fact in self.facts.items() if key in put or key not in gone}
        return OwnFacts(MappingProxyType(kept | put))


@dataclass(frozen=True, slots=True)
class MissingField:
    """What a file does not tell and the user must: the field by its name there, and what is known of it.

    `kind` is `whole`, `number`, `word` or `yes_no`; `choices` are the words that can be, empty for any.
    """

    name: str
    kind: str
    why: Message
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a file would bring, for the user to look at before anything is written.

    `kind` is `model`, `accelerator`, `prices` or `pack`. `facts` are complete and in the order of `TABLES`;
    where fields are `missing` there are none yet. `notes` say what was taken for granted, `left_out` what
    the file has that is not taken, and why.
    """

    kind: str
    name: str
    facts: tuple[OwnFact, ...]
    notes: tuple[Message, ...] = ()
    left_out: tuple[Message, ...] = ()
    missing: tuple[MissingField, ...] = ()
