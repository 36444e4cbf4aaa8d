"""The steps of a purchase in words: whether each applies and why, its figures, what is done."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from gpudesk.domain.decisions import Tested
from gpudesk.domain.formatting import Formatter
from gpudesk.domain.procurement import NegotiationSheet, StepFigure, StepLine, StepStrength
from gpudesk.sheets.support_words import ids_text
from gpudesk.text import tr, trn

_SPACE: Final = "\N{NO-BREAK SPACE}"
#: What a step depends on -> what it is called.
_FACTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "fleet_size": "accelerators that share the software",
        "competing_quote": "a rival's quote is at hand",
        "both_platforms": "the serving engine runs on all that is compared",
    }
)
#: What a step depends on -> what has to be known of it.
_MISSING: Final[Mapping[str, str]] = MappingProxyType(
    {
        "fleet_size": "how many accelerators share the software",
        "competing_quote": "whether a rival's quote is at hand",
        "both_platforms": "whether the serving engine runs on all that is compared",
    }
)
_STRENGTHS: Final[Mapping[StepStrength, str]] = MappingProxyType(
    {StepStrength.STRONG: "Weighs much", StepStrength.MILD: "Weighs a little"}
)


def state_text(line: StepLine) -> str:
    """Return whether a step applies here."""
    if line.applies is None:
        return tr("Cannot be told")
    return tr("Applies") if line.applies else tr("Does not apply")


def strength_text(strength: StepStrength) -> str:
    """Return how much a step matters to its document."""
    return tr(_STRENGTHS[strength])


def because_text(line: StepLine, formatter: Formatter) -> str | None:
    """Return the comparisons behind a step, and what is missing to tell; None where it always applies."""
    if not line.tested:
        return None
    said = [_tested_text(each, formatter) for each in line.tested]
    return tr("{tested}.", tested=_capitalised("; ".join(said)))


def missing_text(line: StepLine) -> str | None:
    """Return what is missing to tell whether a step applies; None where it can be told."""
    if line.applies is not None or not line.missing:
        return None
    return tr("Missing to tell: {facts}.", facts="; ".join(tr(_MISSING[each]) for each in line.missing))


def otherwise_text(line: StepLine) -> str | None:
    """Return what holds instead where a step does not apply, or may not."""
    if line.applies is True or line.step.otherwise is None:
        return None
    return tr("Otherwise: {text}", text=line.step.otherwise)


def past_text(line: StepLine) -> str | None:
    """Return that the time which the document had in mind is over; None where it is not, or has no end."""
    if not line.past or line.step.until is None:
        return None
    return tr("The document speaks of the time until {month}, which is over.", month=line.step.until)


def _tested_text(tested: Tested, formatter: Formatter) -> str:
    """Return one comparison, `accelerators that share the software, 800 > 200: yes`."""
    name, sign, _ = (*tested.text.split(maxsplit=2), "", "")[:3]
    said = tr(_FACTS[name])
    if not sign:
        return tr("{fact}: {outcome}", fact=said, outcome=_outcome(tested.holds))
    left = tr("not known") if tested.left is None else formatter.stated(_number(tested.left))
    right = formatter.stated(_number(tested.right))
    return tr(
        "{fact}, {left} {sign} {right}: {outcome}",
        fact=said,
        left=left,
        sign=sign,
        right=right,
        outcome=_outcome(tested.holds),
    )


def _number(fact: object) -> float | None:
    return float(fact) if isinstance(fact, (int, float)) else None


def _outcome(holds: bool | None) -> str:
    if holds is None:
        return tr("not known")
    return tr("yes") if holds else tr("no")


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]


# Figures


def amount_text(figure: StepFigure, formatter: Formatter) -> str:
    """Return a figure with its unit, `16 – 22 %`."""
    amount = formatter.stated(figure.value)
    if figure.high is not None:
        amount = f"{amount}{_SPACE}–{_SPACE}{formatter.stated(figure.high)}"
    if figure.unit == "accelerators":
        return trn("{n} accelerator", "{n} accelerators", round(figure.value), n=amount)
    if figure.unit == "years":
        return trn("{n} year", "{n} years", round(figure.value), n=amount)
    return f"{amount}{_SPACE}{figure.unit}"


def figure_text(figure: StepFigure, formatter: Formatter) -> str:
    """Return a figure with what it is of, its date and its marks: anecdotal, worked out again, disputed."""
    marks = [figure.dated or tr("undated")]
    if figure.anecdotal:
        marks.append(tr("anecdotal: unnamed persons"))
    if figure.worked:
        marks.append(tr("worked out again: {ids}", ids=ids_text(figure.worked)))
    if figure.disputes:
        marks.append(tr("disputed in {ids}", ids=ids_text(figure.disputes)))
    return tr(
        "{amount}: {label} ({marks})",
        amount=amount_text(figure, formatter),
        label=figure.label,
        marks="; ".join(marks),
    )


# What is done


def progress_text(sheet: NegotiationSheet, formatter: Formatter) -> str:
    """Return how far the purchase has come."""
    return tr(
        "{n} of {total} steps done", n=formatter.count(sheet.done), total=formatter.count(len(sheet.lines))
    )


def summary_text(line: StepLine, formatter: Formatter) -> str:
    """Return whether a step applies, how much it matters, and how many of its points are open."""
    said = tr("{state}. {strength}.", state=state_text(line), strength=strength_text(line.step.strength))
    if not line.open_points:
        return said
    left = trn("{n} point open", "{n} points open", line.open_points, n=formatter.count(line.open_points))
    return tr("{said} {open}.", said=said, open=_capitalised(left))
