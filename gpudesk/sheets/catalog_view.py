"""The catalog as explanations look at it: its facts, the day, the rule for ages, what the scenario uses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final, Protocol

from gpudesk.domain.age_rule import AgeRule
from gpudesk.domain.claims import Attribute, Dispute, Price, SeedClaim, Source
from gpudesk.domain.formatting import Formatter
from gpudesk.domain.messages import InputError
from gpudesk.domain.things import Thing
from gpudesk.domain.waiting import Waiting
from gpudesk.sheets.ages import age_days, age_text
from gpudesk.sheets.explanation import Detail, Explanation, StatementLine, UseLine
from gpudesk.sheets.names import short_name
from gpudesk.sheets.specs import as_sentence
from gpudesk.text import tr

#: The key that edits what is selected.
EDIT_KEY: Final = "F2"


class CatalogFacts(Protocol):
    """What explanations ask of the catalog; each raises `InputError` where there is no such thing."""

    @property
    def revision(self) -> str:
        """Digest of all facts."""

    @property
    def data_date(self) -> str:
        """Day of the newest fact."""

    @property
    def waiting(self) -> tuple[Waiting, ...]:
        """The facts of the user that have no effect, and why."""

    def thing(self, thing_id: str) -> Thing:
        """Return an entry."""

    def things(self) -> tuple[Thing, ...]:
        """Return all entries."""

    def attributes(self, thing_id: str) -> tuple[Attribute, ...]:
        """Return all attributes of an entry."""

    def source(self, source_id: str) -> Source:
        """Return a source."""

    def prices(self) -> tuple[Price, ...]:
        """Return all prices."""

    def seed_claims(self, thing: str | None = None) -> tuple[SeedClaim, ...]:
        """Return the statements of the source documents."""

    def disputes(self, thing: str | None = None) -> tuple[Dispute, ...]:
        """Return the judged contradictions."""


@dataclass(frozen=True)
class CatalogView:
    """The catalog as one user looks at it on one day.

    `rule` says from when on facts are stale. `used` is what the scenario called `scenario` has
    of it: the role of each thing by its id. What is not `writable` gets no offers. `computed` gives what
    follows from the rest of a thing for an attribute of it that nobody states.
    """

    facts: CatalogFacts
    formatter: Formatter
    today: str
    rule: AgeRule = field(default_factory=AgeRule)
    scenario: str = ""
    used: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    writable: bool = True
    computed: Callable[[str, str], object] = lambda _thing, _attribute: None

    def uses(self, thing: str | None) -> tuple[UseLine, ...]:
        """Return what rests on a thing: the open scenario where it has it."""
        role = self.used.get(thing or "")
        return () if role is None else (UseLine(self.scenario or tr("This scenario"), role),)

    @property
    def fact(self) -> str:
        """What all of it rests on, for copies."""
        return tr(
            "GPU Desk, catalog of {date}, revision {revision}",
            date=self.facts.data_date,
            revision=self.facts.revision[:8],
        )

    def named(self, thing: str | None) -> str:
        """Return the short name of a thing, its id where the catalog does not have it."""
        try:
            return short_name(self.facts.thing(thing or "").name)
        except InputError:
            return thing or ""


def aged(made: Explanation, date: str | None, days: int, view: CatalogView) -> Explanation:
    """Return the explanation with how old its fact is, and that it is stale where the rule says so."""
    age = age_days(date, view.today)
    if not age:
        # A year that has not ended has no age yet.
        return made
    said = tr("{age} old", age=age_text(age))
    if age <= days:
        return replace(made, age=said)
    return replace(
        made, age=tr("{age} old, stale by your rule of {n} days", age=age_text(age), n=days), stale=True
    )


def statement_line(statement: SeedClaim) -> StatementLine:
    """Return a statement of a source document as it was printed."""
    value = statement.value
    if statement.value_high not in (None, value):
        value = f"{value} – {statement.value_high}"
    unit = "" if statement.unit in (None, "text", "date", "year", "boolean") else f" {statement.unit}"
    said = f"{statement.subject}, {statement.attribute.replace('_', ' ')}: {value}{unit}"
    conditions = f" ({statement.conditions})" if statement.conditions else ""
    pairs = (
        (tr("Number"), statement.id),
        (tr("Stated by"), statement.stated_by),
        (tr("As of"), statement.as_of),
        (tr("Title"), statement.source.title),
        (tr("Remark"), statement.source.trust),
    )
    return StatementLine(
        id=statement.id,
        said=f"{said}{conditions}",
        origin=f"{statement.source.title} · {statement.id}",
        remark=as_sentence(statement.note) if statement.note else "",
        details=tuple(Detail(label, text) for label, text in pairs if text),
    )
