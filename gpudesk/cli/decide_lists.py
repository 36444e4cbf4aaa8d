"""Questions with the answers in force, and rules with their weights, as text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby

from gpudesk.cli.tables import hanging, table
from gpudesk.domain.decisions import Answered, Origin, Rule
from gpudesk.domain.formatting import Formatter
from gpudesk.domain.questions import QUESTIONS, Question
from gpudesk.sheets.decision_words import source_label, strength_text
from gpudesk.sheets.fact_words import in_sentence
from gpudesk.sheets.question_words import answer_text, option_words, question_title, screen_title
from gpudesk.text import tr


def question_lines(
    answers: Mapping[str, Answered], width: int, strong: Callable[[str], str]
) -> Iterator[str]:
    """Yield the questions of each screen: id, title, what is in force and whence, and the options."""
    for number, (screen, questions) in enumerate(groupby(QUESTIONS.values(), key=lambda each: each.screen)):
        if number:
            yield ""
        yield strong(screen_title(screen))
        for question in questions:
            yield from _question(question, answers[question.id], width)


def _question(question: Question, answered: Answered, width: int) -> Iterator[str]:
    formatter = Formatter()
    yield from hanging(f"{question.id}  ", question_title(question.id), width)
    origins = {
        Origin.YOURS: tr("yours"),
        Origin.SCENARIO: tr("of the scenario"),
        Origin.DEFAULT: tr("default"),
    }
    value = in_sentence(answer_text(question.id, answered.value, formatter))
    in_force = tr("now {value}, {origin}", value=value, origin=origins[answered.origin])
    if answered.origin is not Origin.DEFAULT:
        default = in_sentence(answer_text(question.id, question.default, formatter))
        in_force = tr("{now}; default {value}", now=in_force, value=default)
    yield from hanging("    ", in_force, width)
    for option in question.options:
        words = option_words(question.id, option, formatter)
        yield from hanging(f"    {option}  ", tr("{title}: {use}", title=words.title, use=words.use), width)
    if question.bounds is not None:
        low, high = formatter.stated(question.bounds.low), formatter.stated(question.bounds.high)
        said = tr("a number from {low} to {high}", low=low, high=high)
        if question.bounds.above:
            said = tr("a number above {low}, up to {high}", low=low, high=high)
        yield from hanging("    ", tr("{number}, {unit}", number=said, unit=question.unit), width)


def rule_table(
    rules: Sequence[tuple[Rule, float]], width: int, strong: Callable[[str], str]
) -> Iterator[str]:
    """Yield a table of the rules: id, strength, weight, answers that it rests on, title and document."""
    formatter = Formatter()
    rows = [
        (
            rule.id,
            strength_text(rule.strength),
            formatter.stated(weight),
            ", ".join(rule.asks) or tr("figures alone"),
            tr("{title}; {source}", title=rule.title, source=source_label(rule)),
        )
        for rule, weight in rules
    ]
    head = (tr("Rule"), tr("Strength"), tr("Weight"), tr("Answers"), tr("Title and source"))
    yield from table(head, rows, width, right=(2,), strong=strong)
