"""What an explanation of a decision has beside others: what becomes of each column, findings, and rules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gpudesk.sheets.option_words import Fate


@dataclass(frozen=True, slots=True)
class OutcomeLine:
    """One column under an answer or a rule: its name and how it is drawn, its fate, and the fact behind it.

    `slot` is its place in the palette, from 1. `state` stands at the right; `text` below.
    """

    name: str
    slot: int
    hollow: bool
    fate: Fate
    state: str
    text: str

    @property
    def sentence(self) -> str:
        """The line as one reads it out."""
        return ", ".join(part for part in (self.name, self.state, self.text) if part)


@dataclass(frozen=True, slots=True)
class Finding:
    """A sentence or a few under a heading: why something is undecided, what a rule weighs."""

    key: str
    title: str
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RulingLine:
    """A rule with its strength and source; `lines` are why it is there, what it tests, what was printed."""

    id: str
    title: str
    strength: str
    origin: str
    applies: bool
    lines: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """The line as one reads it out."""
        return f"{self.title}, {self.strength}, {self.origin}"


@dataclass(frozen=True, slots=True)
class DecisionLines:
    """The parts of an explanation of a decision in the order in which they are read."""

    outcomes: tuple[OutcomeLine, ...] = ()
    findings: tuple[Finding, ...] = ()
    rulings_title: str = ""
    rulings: tuple[RulingLine, ...] = ()

    def as_text(self) -> Iterator[str]:
        """Yield all of it line by line, to be pasted."""
        yield from (f"- {line.sentence}" for line in self.outcomes)
        for finding in self.findings:
            yield f"{finding.title}: {' '.join(finding.texts)}"
        if self.rulings:
            yield f"{self.rulings_title}:"
        for ruling in self.rulings:
            yield f"- {ruling.sentence}"
            yield from (f"  {line}" for line in ruling.lines)
