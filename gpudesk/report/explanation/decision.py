"""Explains the effect of an answer, and of a rule on an accelerator."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Final

from gpudesk.domain.claim import Dispute, Source
from gpudesk.domain.decision import (
    DEFAULT_WEIGHTS,
    QUESTIONS,
    AnswerValue,
    Decision,
    DecisionCandidate,
    DecisionRule,
    FactValue,
    RuleEffect,
    RuleStrength,
    TraceCell,
    TraceLine,
)
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.report.decision.facts import format_answer, format_fact, label_fact
from gpudesk.report.decision.questions import ColumnOutcome, find_column_outcome, get_question_text
from gpudesk.report.decision.recommendation import describe_pilot
from gpudesk.report.decision.rules import (
    describe_condition_result,
    describe_exclusion,
    describe_rule_answers,
    label_rule_source,
    list_rule_lines,
)
from gpudesk.report.decision.verdict import label_odds
from gpudesk.report.explanation.catalog_entry import list_source_details
from gpudesk.report.explanation.claims import build_dispute_line
from gpudesk.report.explanation.parts import (
    ColumnOutcomeLine,
    DecisionExplanation,
    DecisionFinding,
    Explanation,
    ExplanationBasis,
    RulingLine,
)
from gpudesk.report.labels import format_odds, label_date
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter, IntervalEstimate
from gpudesk.text.messages import to_sentence
from gpudesk.text.translation import tr, translate_data

_NO_WEIGHTS: Final[Mapping[str, float]] = {}


@frozen_dataclass
class DecisionContext:
    """A decision with the data for its explanations.

    `names`, `slots` and `is_variant` are by column key; `rules` are all rules, `weights` the user's. `source` and
    `dispute` find a document or a contradiction by id, None if unknown. `catalog` names the catalog.
    """

    decision: Decision
    names: Mapping[str, str]
    slots: Mapping[str, int]
    is_variant: Mapping[str, bool]
    rules: Sequence[DecisionRule]
    formatter: Formatter
    source: Callable[[str], Source | None]
    dispute: Callable[[str], Dispute | None]
    catalog: str
    weights: Mapping[str, float] = field(default_factory=lambda: _NO_WEIGHTS)

    def line(self, rule: str) -> TraceLine | None:
        return next((line for line in self.decision.trace if line.rule.id == rule), None)

    def outcome(self, place: int, state: str, text: str) -> ColumnOutcomeLine:
        standing = self.decision.candidates[place]
        key = standing.key
        return ColumnOutcomeLine(
            self.names[key], self.slots[key], self.is_variant[key], find_column_outcome(standing), state, text
        )


# Answers


def explain_option(context: DecisionContext, question: str, value: AnswerValue) -> Explanation:
    """Explain the effect of an answer; `context` has the decision under it."""
    answered = f"{get_question_text(question)} {format_answer(question, value, context.formatter)}"
    asking = [rule for rule in context.rules if question in rule.asks]
    return Explanation(
        what=tr("Effect of this answer"),
        conditions=f"{answered} · {label_odds(context.decision.objective)}",
        figure="",
        facts=(context.catalog,),
        decision=DecisionExplanation(
            outcomes=tuple(_list_outcomes(context, question, asking)),
            findings=tuple(_list_doubts(context)),
            rulings_title=tr("Rule behind this question") if len(asking) == 1 else tr("Rules behind this question"),
            rulings=tuple(_make_ruling(rule, context) for rule in _sort_fired_first(asking, context)),
        ),
    )


def _list_outcomes(
    context: DecisionContext, question: str, asking: Sequence[DecisionRule]
) -> Iterator[ColumnOutcomeLine]:
    """Yield each column, remaining ones first, with the fact of the question."""
    decision = context.decision
    line = next((each for each in decision.trace if question in each.rule.asks and each.shows), None)
    shows = line.shows if line else next((rule.shows for rule in asking if rule.shows), None)
    weighs = QUESTIONS[question].screen.strength is not RuleStrength.HARD
    order = sorted(
        range(len(decision.candidates)),
        key=lambda place: (
            _EFFECT_RANKS[find_column_outcome(decision.candidates[place])],
            -decision.candidates[place].odds,
        ),
    )
    for place in order:
        fact = None if shows is None else decision.parts[place].get(shows)
        text = "" if shows is None else f"{label_fact(shows)} {format_fact(shows, fact, context.formatter)}"
        yield context.outcome(
            place, _describe_state(decision.candidates[place], context.formatter, weighs=weighs), text
        )


_EFFECT_RANKS: Final = {ColumnOutcome.STAYS: 0, ColumnOutcome.UNDECIDED: 1, ColumnOutcome.REMOVED: 2}


def _describe_state(standing: DecisionCandidate, formatter: Formatter, *, weighs: bool) -> str:
    fate = find_column_outcome(standing)
    if not weighs or fate is ColumnOutcome.REMOVED:
        return fate.label
    share = tr("{odds} odds", odds=format_odds(standing.odds, formatter))
    return share if fate is ColumnOutcome.STAYS else tr("{share}, {fate}", share=share, fate=fate.label)


def _list_doubts(context: DecisionContext) -> Iterator[DecisionFinding]:
    decision = context.decision
    for place, standing in enumerate(decision.candidates):
        name = context.names[standing.key]
        if standing.removed:
            out = [each for each in decision.exclusions if each.key == standing.key]
            texts = tuple(describe_exclusion(each, context.names, context.formatter, decision) for each in out)
            title = tr("Why {name} is ruled out", name=name)
            yield DecisionFinding(f"removed.{standing.key}", title, tuple(map(to_sentence, texts)))
        elif standing.open_rules:
            lines = [line for line in map(context.line, standing.open_rules) if line is not None]
            texts = tuple(_explain_undecided(line.cells[place], context) for line in lines)
            title = tr("Why {name} is undecided", name=name)
            yield DecisionFinding(f"undecided.{standing.key}", title, texts)


def _explain_undecided(cell: TraceCell, context: DecisionContext) -> str:
    """Return why a rule is undecided for a column: an interval that contains the limit, or an unknown fact."""
    open_tests = [each for each in cell.tested if each.holds is None]
    test_texts = "; ".join(describe_condition_result(each, context.formatter) for each in open_tests)
    if any(isinstance(side, IntervalEstimate) for each in open_tests for side in (each.left, each.right)):
        return tr(
            "The 80% interval includes the limit: {tested}. Measure to be sure; the accelerator is kept for now.",
            tested=test_texts,
        )
    return tr("Unknown: {tested}. The accelerator is kept for now.", tested=test_texts)


# Rules


def _sort_fired_first(rules: Sequence[DecisionRule], context: DecisionContext) -> list[DecisionRule]:
    """Return rules in the order of application, those that fired first."""
    place = {line.rule.id: number for number, line in enumerate(context.decision.trace)}
    return sorted(rules, key=lambda rule: place.get(rule.id, len(place)))


def _make_ruling(rule: DecisionRule, context: DecisionContext) -> RulingLine:
    applies = context.line(rule.id) is not None
    dated = label_date(rule.dated)
    parts = [rule.id, label_rule_source(rule)]
    if rule.source is not None:
        parts.append(dated)
    if not applies:
        parts.append(tr("does not apply here"))
    return RulingLine(
        rule.id,
        tr(rule.title),
        rule.strength.label,
        " · ".join(parts),
        applies,
        (*map(to_sentence, list_rule_lines(rule, context.formatter)), *_cite_document(rule, context)),
    )


def _cite_document(rule: DecisionRule, context: DecisionContext) -> Iterator[str]:
    source = None if rule.source is None else context.source(rule.source)
    if source is not None:
        date = label_date(rule.dated or source.date)
        citation = ", ".join(part for part in (source.title, source.named_publisher, date) if part)
        yield tr("Source: {document}.", document=citation)


def explain_ruling(context: DecisionContext, rule_id: str, key: str = "") -> Explanation | None:
    """Explain a rule for a column, or for all without a key; None for an unknown rule."""
    rule = next((each for each in context.rules if each.id == rule_id), None)
    if rule is None:
        return None
    line = context.line(rule_id)
    place = context.decision.columns.index(key) if key in context.decision.columns else None
    cell = None if line is None or place is None else line.cells[place]
    shows = rule.shows if line is None else line.shows
    figure, band, ground = _format_figure(shows, None if cell is None else cell.value, context)
    source = None if rule.source is None else context.source(rule.source)
    return Explanation(
        what=tr(rule.title),
        conditions=_describe_conditions(rule, line, cell, context.names.get(key, "")),
        figure=figure if cell is not None else "",
        band=band,
        ground=ground,
        basis=label_fact(shows) if cell is not None and shows else "",
        details=() if source is None else list_source_details(source),
        disputes=tuple(build_dispute_line(each) for each in map(context.dispute, rule.disputes) if each is not None),
        facts=(context.catalog,),
        decision=DecisionExplanation(
            outcomes=tuple(_list_effects(line, context)) if line is not None and cell is None else (),
            findings=tuple(_list_findings(rule, line, place, context)),
            rulings_title=tr("Rule") if not _find_related_rules(rule, line, context) else tr("Rule and related rules"),
            rulings=tuple(_make_ruling(each, context) for each in (rule, *_find_related_rules(rule, line, context))),
        ),
    )


def _describe_conditions(rule: DecisionRule, line: TraceLine | None, cell: TraceCell | None, name: str) -> str:
    strength = rule.strength.label
    if line is None:
        return tr("{strength}; does not apply here", strength=strength)
    if cell is None:
        return strength
    return tr("{strength}; {name}: {effect}", strength=strength, name=name, effect=cell.effect.label)


def _format_figure(shows: str | None, fact: FactValue, context: DecisionContext) -> tuple[str, str, ExplanationBasis]:
    if shows is None or fact is None:
        return MISSING_VALUE_TEXT, "", ExplanationBasis.UNKNOWN
    if not isinstance(fact, IntervalEstimate):
        return format_fact(shows, fact, context.formatter), "", ExplanationBasis.EXACT
    value, low, high = (format_fact(shows, each, context.formatter) for each in (fact.value, fact.low, fact.high))
    return value, tr("80% interval {low} to {high}", low=low, high=high), ExplanationBasis.ESTIMATED


def _list_effects(line: TraceLine, context: DecisionContext) -> Iterator[ColumnOutcomeLine]:
    shows = line.shows
    for place, cell in enumerate(line.cells):
        text = "" if shows is None else f"{label_fact(shows)} {format_fact(shows, cell.value, context.formatter)}"
        yield context.outcome(place, cell.effect.label, text)


def _list_findings(
    rule: DecisionRule, line: TraceLine | None, place: int | None, context: DecisionContext
) -> Iterator[DecisionFinding]:
    if line is None:
        return
    cell = None if place is None else line.cells[place]
    if cell is not None and cell.effect is RuleEffect.UNDECIDED:
        yield DecisionFinding("open", tr("Why it is undecided"), (_explain_undecided(cell, context),))
        if context.decision.pilot is not None:
            text = describe_pilot(context.decision.pilot, context.names, context.formatter)
            yield DecisionFinding("pilot", tr("Measure next"), (text,))
    tested = (*line.tested, *(() if cell is None else cell.tested))
    if tested:
        texts = tuple(to_sentence(describe_condition_result(each, context.formatter)) for each in tested)
        yield DecisionFinding("tested", tr("Conditions tested"), texts)
    if line.case.advice is not None:
        yield DecisionFinding("advice", tr("Next steps"), (translate_data(line.case.advice),))
    if line.answers:
        yield DecisionFinding(
            "answer",
            tr("Answer used"),
            (to_sentence(describe_rule_answers(line, context.formatter, context.decision.answers)),),
        )
    yield DecisionFinding("weight", tr("Weight"), tuple(_describe_weight(rule, line, context)))


def _describe_weight(rule: DecisionRule, line: TraceLine, context: DecisionContext) -> Iterator[str]:
    number = context.formatter.exact
    if line.case.requires is not None:
        yield tr("Rules out every accelerator that fails it; preferences cannot outweigh it.")
    elif line.case.favours is None:
        yield tr("None: this rule only shows a figure.")
    elif rule.id in context.weights:
        usual = DEFAULT_WEIGHTS[rule.strength] if rule.weight is None else rule.weight
        usual = 0.0 if rule.unfounded is not None else usual
        yield tr("{weight}, set by you; {usual} by default.", weight=number(line.weight),
                 usual=number(usual))  # fmt: skip
    elif rule.unfounded is not None:
        yield tr("None: {reason}", reason=translate_data(rule.unfounded))
    else:
        yield tr("{weight} for the accelerator it favors.", weight=number(line.weight))
    if line.counted_with is not None:
        yield tr("Counted once with {rule}, which covers the same subject.", rule=line.counted_with)


def _find_related_rules(rule: DecisionRule, line: TraceLine | None, context: DecisionContext) -> list[DecisionRule]:
    related_ids = [*rule.against, *(() if line is None or line.counted_with is None else (line.counted_with,))]
    return [each for each in context.rules if each.id in related_ids]
