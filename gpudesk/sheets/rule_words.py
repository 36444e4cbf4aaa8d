"""Rules of decisions in words: what each says, its document, and the answers that it rests on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from gpudesk.domain.decisions import Answered, Effect, Level, Origin, Rule, TraceLine
from gpudesk.domain.formatting import Formatter
from gpudesk.domain.questions import Strength
from gpudesk.sheets.condition_words import condition_text
from gpudesk.sheets.fact_words import in_sentence
from gpudesk.sheets.question_words import answer_text
from gpudesk.text import tr

_EFFECTS: Final[Mapping[Effect, str]] = MappingProxyType(
    {
        Effect.REMOVES: "removes it",
        Effect.FAVOURS: "favours it",
        Effect.PASSES: "passes",
        Effect.NONE: "no effect",
        Effect.UNDECIDED: "cannot be told",
    }
)
_MARKS: Final[Mapping[Effect, str]] = MappingProxyType(
    {
        Effect.REMOVES: "⊘",
        Effect.FAVOURS: "↑",
        Effect.PASSES: "✓",
        Effect.NONE: "−",
        Effect.UNDECIDED: "?",
    }
)
_FACTORS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "software": "Software",
        "very_large_models": "Very large models",
        "cluster": "Many accelerators together",
        "cost": "Cost of tokens",
        "fine_tuning": "Fine-tuning",
        "experts": "Mixture of experts",
        "community": "Community and support",
        "flexibility": "Freedom to change",
        "throughput": "Throughput",
        "first_token": "First token",
        "long_context": "Long context",
        "fp4": "FP4",
    }
)
_LEVELS: Final[Mapping[Level, str]] = MappingProxyType(
    {
        Level.PREFERRED: "preferred",
        Level.CAPABLE: "capable",
        Level.EQUAL: "equal",
        Level.LACKS: "lacks it",
        Level.UNKNOWN: "not known",
    }
)
_STRENGTHS: Final[Mapping[Strength, str]] = MappingProxyType(
    {
        Strength.HARD: "Must hold",
        Strength.STRONG: "Strong preference",
        Strength.MILD: "Mild preference",
    }
)
#: What is asked where nothing is: that the deployment fits, which all have that are compared at all.
_ANYWAY: Final = "fits"


def effect_text(effect: Effect) -> str:
    """Return what a rule does to an accelerator."""
    return tr(_EFFECTS[effect])


def effect_mark(effect: Effect) -> str:
    """Return the sign of what a rule does, the same on screen, paper and terminal."""
    return _MARKS[effect]


def effects_key() -> str:
    """Return what the signs mean."""
    return ", ".join(f"{effect_mark(each)} {effect_text(each)}" for each in Effect)


def factor_name(factor_id: str) -> str:
    """Return what a row of the factor table is about."""
    return tr(_FACTORS[factor_id])


def level_text(level: Level) -> str:
    """Return how an accelerator does in a factor."""
    return tr(_LEVELS[level])


def strength_text(strength: Strength) -> str:
    """Return how much a rule weighs."""
    return tr(_STRENGTHS[strength])


def source_label(rule: Rule) -> str:
    """Return the document of a rule and the accelerators that it compared, `Seed 000, MI325X vs H200`."""
    if rule.source is None:
        return tr("Your own limit")
    number = rule.source.rpartition("-")[2]
    label = tr("Seed {number}", number=number)
    if not rule.pair:
        return label
    between = tr(" vs ") if len(rule.pair) == 2 else ", "
    return tr("{seed}, {pair}", seed=label, pair=between.join(short_id(each) for each in rule.pair))


def short_id(accelerator: str) -> str:
    """Return what an accelerator is called in talk, by its id."""
    return accelerator.partition("-")[0].upper()


def rule_lines(rule: Rule, formatter: Formatter) -> tuple[str, ...]:
    """Return what there is to say of a rule: why, its conditions, what its document prints and what holds."""
    lines = [rule.why, *_case_lines(rule, formatter)]
    if rule.printed is not None:
        lines.append(tr("Printed: {text}", text=rule.printed))
    if rule.corrected is not None:
        lines.append(tr("What holds: {text}", text=rule.corrected))
    if rule.unfounded is not None:
        lines.append(tr("Adds nothing: {text}", text=rule.unfounded))
    if rule.against:
        lines.append(tr("Says otherwise: {rules}", rules=", ".join(rule.against)))
    if rule.disputes:
        lines.append(tr("Disputed: {disputes}", disputes=", ".join(rule.disputes)))
    return tuple(lines)


def _case_lines(rule: Rule, formatter: Formatter) -> Iterator[str]:
    for case in rule.cases:
        when = _capitalised(condition_text(case.when, formatter))
        asked = "" if case.asked is None else condition_text(case.asked, formatter)
        if case.requires is not None:
            yield tr("{when} → required: {asked}", when=when, asked=asked)
        elif case.favours is not None:
            yield tr("{when} → favoured: {asked}", when=when, asked=asked)
        elif case.checks == _ANYWAY:
            yield tr("{when} → shown, without weight", when=when)
        elif case.checks is not None:
            yield tr("{when} → shown, without weight: {asked}", when=when, asked=asked)
        if case.advice is not None:
            yield tr("{when} → {advice}", when=when, advice=case.advice)


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]


def answer_line(line: TraceLine, formatter: Formatter, answers: Mapping[str, Answered] | None = None) -> str:
    """Return the answers that a rule rests on, `you: 2 s`; with all answers, also from whom each comes."""
    if not line.answers:
        return tr("not asked")
    return ", ".join(
        tr(
            _ORIGINS[Origin.YOURS if answers is None else answers[name].origin],
            answer=in_sentence(answer_text(name, value, formatter)),
        )
        for name, value in line.answers.items()
    )


_ORIGINS: Final[Mapping[Origin, str]] = MappingProxyType(
    {
        Origin.YOURS: "you: {answer}",
        Origin.SCENARIO: "scenario: {answer}",
        Origin.DEFAULT: "not answered: {answer}",
    }
)
