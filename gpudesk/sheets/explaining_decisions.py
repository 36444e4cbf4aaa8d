"""Explanations of decisions: what an answer would do and why, and what a rule says of an accelerator."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from gpudesk.domain.claims import Dispute, Source
from gpudesk.domain.decisions import Decision, Effect, Fact, Rule, Standing, TraceCell, TraceLine
from gpudesk.domain.estimates import Banded
from gpudesk.domain.formatting import UNKNOWN, Formatter
from gpudesk.domain.questions import QUESTIONS, USUAL_WEIGHTS, AnswerValue, Strength
from gpudesk.sheets.claim_lines import dispute_line
from gpudesk.sheets.decision_words import (
    answer_line,
    effect_text,
    exclusion_text,
    fact_name,
    fact_text,
    pilot_text,
    rule_lines,
    source_label,
    strength_text,
    tested_text,
)
from gpudesk.sheets.explaining_entries import source_details
from gpudesk.sheets.explanation import Explanation, Ground
from gpudesk.sheets.explanation_decisions import DecisionLines, Finding, OutcomeLine, RulingLine
from gpudesk.sheets.option_words import Fate, fate_of, fate_text
from gpudesk.sheets.question_words import answer_text, question_title
from gpudesk.sheets.specs import as_sentence
from gpudesk.text import tr

_NO_WEIGHTS: Final[Mapping[str, float]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Told:
    """A decision with what is needed to tell of it.

    `names`, `slots` and `hollow` are by the key of a column; `rules` are all there are, `weights` those that
    the user set. `source` and `dispute` find a document or a contradiction by its id, None where there is
    none. `catalog` says on which catalog it all rests.
    """

    decision: Decision
    names: Mapping[str, str]
    slots: Mapping[str, int]
    hollow: Mapping[str, bool]
    rules: Sequence[Rule]
    formatter: Formatter
    source: Callable[[str], Source | None]
    dispute: Callable[[str], Dispute | None]
    catalog: str
    weights: Mapping[str, float] = field(default_factory=lambda: _NO_WEIGHTS)

    def line(self, rule: str) -> TraceLine | None:
        """Return what a rule does, None where it does not fire."""
        return next((line for line in self.decision.trace if line.rule.id == rule), None)

    def outcome(self, place: int, state: str, text: str) -> OutcomeLine:
        """Return the line of a column."""
        standing = self.decision.standings[place]
        key = standing.key
        return OutcomeLine(self.names[key], self.slots[key], self.hollow[key], fate_of(standing), state, text)


# An answer


def explain_option(told: Told, question: str, value: AnswerValue) -> Explanation:
    """Explain what an answer does; `told` has the decision under it."""
    answered = f"{question_title(question)} {answer_text(question, value, told.formatter)}"
    asking = [rule for rule in told.rules if question in rule.asks]
    return Explanation(
        what=tr("After this answer"),
        conditions=answered,
        figure="",
        unit=None,
        band="",
        ground=Ground.UNKNOWN,
        basis="",
        facts=(told.catalog,),
        decision=DecisionLines(
            outcomes=tuple(_outcomes(told, question, asking)),
            findings=tuple(_doubts(told)),
            rulings_title=tr("Rule behind this question")
            if len(asking) == 1
            else tr("Rules behind this question"),
            rulings=tuple(_ruling(rule, told) for rule in _fired_first(asking, told)),
        ),
    )


def _outcomes(told: Told, question: str, asking: Sequence[Rule]) -> Iterator[OutcomeLine]:
    """Yield each column, those that stay first, with the fact that the question is about."""
    decision = told.decision
    line = next((each for each in decision.trace if question in each.rule.asks and each.rule.shows), None)
    shows = line.rule.shows if line else next((rule.shows for rule in asking if rule.shows), None)
    weighs = QUESTIONS[question].screen.strength is not Strength.HARD
    order = sorted(
        range(len(decision.standings)),
        key=lambda place: (_RANKS[fate_of(decision.standings[place])], -decision.standings[place].share),
    )
    for place in order:
        fact = None if shows is None else decision.parts[place].get(shows)
        text = "" if shows is None else f"{fact_name(shows)} {fact_text(shows, fact, told.formatter)}"
        yield told.outcome(place, _state(decision.standings[place], weighs=weighs), text)


_RANKS: Final = {Fate.STAYS: 0, Fate.UNDECIDED: 1, Fate.REMOVED: 2}


def _state(standing: Standing, *, weighs: bool) -> str:
    """Return what becomes of a column, with its share of the draws where the answer moves that."""
    fate = fate_of(standing)
    if not weighs or fate is Fate.REMOVED:
        return fate_text(fate)
    share = tr("{n} of 100", n=round(standing.share * 100.0))
    return share if fate is Fate.STAYS else tr("{share}, {fate}", share=share, fate=fate_text(fate))


def _doubts(told: Told) -> Iterator[Finding]:
    """Yield why columns are undecided or removed."""
    decision = told.decision
    for place, standing in enumerate(decision.standings):
        name = told.names[standing.key]
        if standing.removed:
            out = [each for each in decision.exclusions if each.key == standing.key]
            texts = tuple(exclusion_text(each, told.names, told.formatter, decision) for each in out)
            title = tr("Why {name} is removed", name=name)
            yield Finding(f"removed.{standing.key}", title, tuple(map(as_sentence, texts)))
        elif standing.open_rules:
            lines = [line for line in map(told.line, standing.open_rules) if line is not None]
            texts = tuple(_why_open(line.cells[place], told) for line in lines)
            title = tr("Why {name} is undecided", name=name)
            yield Finding(f"undecided.{standing.key}", title, texts)


def _why_open(cell: TraceCell, told: Told) -> str:
    """Return why a rule cannot be decided for a column: a band that holds the limit, or an unknown fact."""
    open_tests = [each for each in cell.tested if each.holds is None]
    said = "; ".join(tested_text(each, told.formatter) for each in open_tests)
    if any(isinstance(side, Banded) for each in open_tests for side in (each.left, each.right)):
        return tr(
            "The limit lies inside the band: {tested}. It stays in until a measurement says otherwise.",
            tested=said,
        )
    return tr("A fact is not known: {tested}. It stays in until it is.", tested=said)


# Rules


def _fired_first(rules: Sequence[Rule], told: Told) -> list[Rule]:
    """Return rules, those first that say something here, in the order in which they are applied."""
    place = {line.rule.id: number for number, line in enumerate(told.decision.trace)}
    return sorted(rules, key=lambda rule: place.get(rule.id, len(place)))


def _ruling(rule: Rule, told: Told) -> RulingLine:
    applies = told.line(rule.id) is not None
    dated = rule.dated or tr("no date")
    parts = [rule.id, source_label(rule)]
    if rule.source is not None:
        parts.append(dated)
    if not applies:
        parts.append(tr("says nothing here"))
    return RulingLine(
        rule.id,
        tr(rule.title),
        strength_text(rule.strength),
        " · ".join(parts),
        applies,
        (*map(as_sentence, rule_lines(rule, told.formatter)), *_document(rule, told)),
    )


def _document(rule: Rule, told: Told) -> Iterator[str]:
    """Yield by what the document of a rule can be found."""
    source = None if rule.source is None else told.source(rule.source)
    if source is not None:
        date = rule.dated or source.date or tr("no date")
        publisher = "" if source.publisher in ("", "not stated") else source.publisher
        found = ", ".join(part for part in (source.title, publisher, date) if part)
        yield tr("Source: {document}.", document=found)


def explain_ruling(told: Told, rule_id: str, key: str = "") -> Explanation | None:
    """Explain what a rule says of a column, or with no key of all; None where there is no such rule."""
    rule = next((each for each in told.rules if each.id == rule_id), None)
    if rule is None:
        return None
    line = told.line(rule_id)
    place = told.decision.columns.index(key) if key in told.decision.columns else None
    cell = None if line is None or place is None else line.cells[place]
    figure, band, ground = _figure(rule, None if cell is None else cell.value, told)
    source = None if rule.source is None else told.source(rule.source)
    return Explanation(
        what=tr(rule.title),
        conditions=_conditions(rule, line, cell, told.names.get(key, "")),
        figure=figure if cell is not None else "",
        unit=None,
        band=band,
        ground=ground,
        basis=fact_name(rule.shows) if cell is not None and rule.shows else "",
        details=() if source is None else source_details(source),
        disputes=tuple(dispute_line(each) for each in map(told.dispute, rule.disputes) if each is not None),
        facts=(told.catalog,),
        decision=DecisionLines(
            outcomes=tuple(_effects(line, told)) if line is not None and cell is None else (),
            findings=tuple(_findings(rule, line, place, told)),
            rulings_title=tr("The rule")
            if not _kin(rule, line, told)
            else tr("The rule, and those beside it"),
            rulings=tuple(_ruling(each, told) for each in (rule, *_kin(rule, line, told))),
        ),
    )


def _conditions(rule: Rule, line: TraceLine | None, cell: TraceCell | None, name: str) -> str:
    strength = strength_text(rule.strength)
    if line is None:
        return tr("{strength}; says nothing here", strength=strength)
    if cell is None:
        return strength
    return tr("{strength}; {name}: {effect}", strength=strength, name=name, effect=effect_text(cell.effect))


def _figure(rule: Rule, fact: Fact, told: Told) -> tuple[str, str, Ground]:
    """Return the fact that a rule is about, its band in words, and what it rests on."""
    if rule.shows is None or fact is None:
        return UNKNOWN, "", Ground.UNKNOWN
    if not isinstance(fact, Banded):
        return fact_text(rule.shows, fact, told.formatter), "", Ground.EXACT
    value, low, high = (
        fact_text(rule.shows, each, told.formatter) for each in (fact.value, fact.low, fact.high)
    )
    return value, tr("{low} to {high}, four times in five", low=low, high=high), Ground.ESTIMATED


def _effects(line: TraceLine, told: Told) -> Iterator[OutcomeLine]:
    """Yield what a rule does to each column."""
    shows = line.rule.shows
    for place, cell in enumerate(line.cells):
        text = "" if shows is None else f"{fact_name(shows)} {fact_text(shows, cell.value, told.formatter)}"
        yield told.outcome(place, effect_text(cell.effect), text)


def _findings(rule: Rule, line: TraceLine | None, place: int | None, told: Told) -> Iterator[Finding]:
    """Yield why a column is not decided on, what was tested, the answer behind it, and what it weighs."""
    if line is None:
        return
    cell = None if place is None else line.cells[place]
    if cell is not None and cell.effect is Effect.UNDECIDED:
        yield Finding("open", tr("Why it cannot be told"), (_why_open(cell, told),))
        if told.decision.pilot is not None:
            text = pilot_text(told.decision.pilot, told.decision, told.names, told.formatter)
            yield Finding("pilot", tr("What would settle it"), (text,))
    tested = (*line.tested, *(() if cell is None else cell.tested))
    if tested:
        texts = tuple(as_sentence(tested_text(each, told.formatter)) for each in tested)
        yield Finding("tested", tr("What was tested"), texts)
    if line.case.advice is not None:
        yield Finding("advice", tr("What to do"), (line.case.advice,))
    if line.answers:
        yield Finding(
            "answer",
            tr("The answer behind it"),
            (as_sentence(answer_line(line, told.formatter, told.decision.answers)),),
        )
    yield Finding("weight", tr("What it weighs"), tuple(_weight(rule, line, told)))


def _weight(rule: Rule, line: TraceLine, told: Told) -> Iterator[str]:
    """Yield what a rule adds to the score of what it favours, and by whose will."""
    number = told.formatter.stated
    if line.case.requires is not None:
        yield tr("It removes what does not meet it; no preference outvotes it.")
    elif line.case.favours is None:
        yield tr("Nothing: it only shows.")
    elif rule.id in told.weights:
        usual = USUAL_WEIGHTS[rule.strength] if rule.weight is None else rule.weight
        usual = 0.0 if rule.unfounded is not None else usual
        yield tr("{weight}, which is your weight; {usual} without it.", weight=number(line.weight),
                 usual=number(usual))  # fmt: skip
    elif rule.unfounded is not None:
        yield tr("Nothing: {reason}", reason=rule.unfounded)
    else:
        yield tr("{weight} for what it favours.", weight=number(line.weight))
    if line.counted_with is not None:
        yield tr("Counted once with {rule}, which is about the same.", rule=line.counted_with)


def _kin(rule: Rule, line: TraceLine | None, told: Told) -> list[Rule]:
    """Return the rules that say otherwise, and the one that it is counted with."""
    named = [*rule.against, *(() if line is None or line.counted_with is None else (line.counted_with,))]
    return [each for each in told.rules if each.id in named]
