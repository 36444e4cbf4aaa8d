"""Which questions of the dialogue can still matter, by the answers so far and by what is compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

from gpudesk.domain.decisions import Answered, Facts, Origin
from gpudesk.domain.messages import Message, message

#: Who starts sooner cannot wait for the next part: below it the documents say to take what there is.
_TOO_SOON_MONTHS: Final = 6.0


class _Said(NamedTuple):
    """What is known when a question comes up: the answers, facts of the scenario, and of each column."""

    answers: Mapping[str, Answered]
    facts: Facts
    parts: Sequence[Facts]


def matters(question: str, answers: Mapping[str, Answered], facts: Facts, parts: Sequence[Facts]) -> bool:
    """Whether an answer to a question may change the decision; one that the user answered always does.

    `facts` are those of the scenario and `parts` those of each column, of a decision under the answers.
    """
    return why_not_asked(question, answers, facts, parts) is None


def why_not_asked(
    question: str, answers: Mapping[str, Answered], facts: Facts, parts: Sequence[Facts]
) -> Message | None:
    """Return why a question need not be asked; None where it matters."""
    if answers[question].origin is Origin.YOURS:
        return None
    said = _Said(answers, facts, parts)
    found = (test(said) for test in _TESTS.get(question, ()))
    return next((reason for reason in found if reason is not None), None)


def _nothing_to_port(said: _Said) -> Message | None:
    """Say that software runs unchanged on all that is compared."""
    return message("dialogue.nothing_to_port") if said.facts.get("some_need_port") is False else None


def _one_platform(said: _Said) -> Message | None:
    """Say that all that is compared has one platform: no skill or time chooses between equals."""
    platforms = {part.get("platform") for part in said.parts}
    return message("dialogue.one_platform") if len(platforms) == 1 and None not in platforms else None


def _owned(said: _Said) -> Message | None:
    return message("dialogue.owned") if said.answers["acquisition"].value == "own" else None


def _rented(said: _Said) -> Message | None:
    return message("dialogue.rented") if said.answers["acquisition"].value == "rent" else None


def _starts_soon(said: _Said) -> Message | None:
    months = said.answers["months_to_launch"].value
    soon = isinstance(months, (int, float)) and months < _TOO_SOON_MONTHS
    return message("dialogue.starts_soon") if soon else None


_TESTS: Final[Mapping[str, tuple[Callable[[_Said], Message | None], ...]]] = MappingProxyType(
    {
        "porting": (_nothing_to_port,),
        "team": (_one_platform,),
        "adoption_months": (_nothing_to_port, _one_platform),
        "monthly_hours": (_owned, _nothing_to_port),
        "budget_usd": (_rented,),
        "waiting": (_starts_soon,),
    }
)
