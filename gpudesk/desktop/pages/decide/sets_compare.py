"""Two sets of answers and what each comes to, as rows for tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from gpudesk.desktop.charts.figures_table import FigureRow, Figures
from gpudesk.desktop.pages.decide.decided import Decided
from gpudesk.domain.decisions import Answered, Decision, Origin, Standing
from gpudesk.domain.formatting import UNKNOWN, Formatter
from gpudesk.domain.questions import QUESTIONS
from gpudesk.sheets.question_words import answer_text, question_title
from gpudesk.text import tr


class Compared(NamedTuple):
    """A question with the answer of each set in words, and whether the answers are the same."""

    title: str
    now: str
    kept: str
    same: bool


@dataclass(frozen=True, slots=True)
class TwoSets:
    """The decision under the answers in force, and the one under the kept answers on the same scenario."""

    now: Decided
    kept: Decided

    def questions(self) -> tuple[Compared, ...]:
        """Return all questions in the order of the dialogue."""
        formatter = self.now.formatter
        pairs = (
            (self.now.decision.answers[name], self.kept.decision.answers[name], name) for name in QUESTIONS
        )
        return tuple(
            Compared(
                question_title(name),
                _answer(name, now, formatter),
                _answer(name, kept, formatter),
                now.value == kept.value,
            )
            for now, kept, name in pairs
        )

    def one_sided(self) -> tuple[tuple[str, str, str], ...]:
        """Return the rules that fire under one set only: what each is about, its id, and under which."""
        return (
            *_only(self.now.decision, self.kept.decision, in_force()),
            *_only(self.kept.decision, self.now.decision, with_kept()),
        )

    def ranking(self) -> Figures:
        """Return the places of all columns under both sets, those of the set in force first."""
        places = [_places(each.decision) for each in (self.now, self.kept)]
        shares = [_standings(each.decision) for each in (self.now, self.kept)]
        order = sorted(
            self.now.keys,
            key=lambda key: (places[0].get(key, len(self.now.keys)), places[1].get(key, len(self.now.keys))),
        )
        heads = (tr("In force"), tr("Draws"), tr("Kept"), tr("Draws"))
        rows = tuple(
            FigureRow(
                key,
                self.now.slots[key],
                self.now.hollow[key],
                self.now.names[key],
                tuple(
                    text
                    for place, share in zip(places, shares, strict=True)
                    for text in _ranked(key, place, share, self.now.formatter)
                ),
                self._removed_by(key),
            )
            for key in order
        )
        return Figures(tr("Both rankings"), heads, frozenset({0, 2}), (), rows, tr("Out by"))

    def _removed_by(self, key: str) -> str:
        """Return which rules remove a column, and under which set."""
        said = []
        for decided, words in ((self.now, in_force()), (self.kept, with_kept())):
            titles = [each.rule.title for each in decided.decision.exclusions if each.key == key]
            if titles:
                said.append(tr("{set}: {rules}", set=words, rules=", ".join(dict.fromkeys(titles))))
        return "; ".join(said)


def in_force() -> str:
    """Return what the answers of the scenario are called."""
    return tr("In force")


def with_kept() -> str:
    """Return what the kept answers are called."""
    return tr("Kept")


def _answer(name: str, answered: Answered, formatter: Formatter) -> str:
    text = answer_text(name, answered.value, formatter)
    if answered.origin is Origin.YOURS:
        return text
    if answered.origin is Origin.SCENARIO:
        return tr("{answer} (scenario)", answer=text)
    return tr("{answer} (not answered)", answer=text)


def _only(decision: Decision, other: Decision, words: str) -> list[tuple[str, str, str]]:
    """Return the rules that fire in a decision and not in the other."""
    fired = {line.rule.id for line in other.trace}
    return [(line.rule.title, line.rule.id, words) for line in decision.trace if line.rule.id not in fired]


def _standings(decision: Decision) -> dict[str, Standing]:
    return {each.key: each for each in decision.standings}


def _places(decision: Decision) -> dict[str, int]:
    """Return the place of each column that is not removed, from 1."""
    left = sorted(
        (each for each in decision.standings if not each.removed), key=lambda each: (-each.share, -each.score)
    )
    return {each.key: place for place, each in enumerate(left, 1)}


def _ranked(
    key: str, places: Mapping[str, int], shares: Mapping[str, Standing], formatter: Formatter
) -> tuple[str, str]:
    if key not in places:
        return tr("out"), UNKNOWN
    share = formatter.number(shares[key].share * 100.0)
    return formatter.count(places[key]), tr("{n} of 100", n=share)
