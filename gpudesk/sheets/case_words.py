"""Cases that documents make of costs: what they are called, and what follows from their own numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from gpudesk.domain.formatting import UNKNOWN, Formatter
from gpudesk.domain.worked_examples import WorkedFigure
from gpudesk.text import tr

_TITLES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "model_of_800": "Three years of 800 accelerators",
        "listed_rents": "Rents as listed",
        "rents_of_the_faq": "Rents of the same page's FAQ",
    }
)


def case_title(case: str) -> str:
    """Return what a case is called."""
    return tr(_TITLES[case])


def case_conclusion(case: str, figures: Sequence[WorkedFigure], formatter: Formatter) -> str:
    """Return what follows from the inputs of a case; every number is that of a worked-out figure."""
    values = {each.example.id: each.working.number for each in figures if each.working is not None}

    def number(example: str, decimals: int = 1) -> str:
        value = values.get(example)
        return UNKNOWN if value is None else formatter.number(value, decimals)

    return _CONCLUSIONS[case](number)


_Number = Callable[..., str]


def _model_of_800(n: _Number) -> str:
    said = (
        tr(
            "At equal throughput the stated weights of 60 to 40 give {saving} %: what is quoted as "
            "the figure after engineering, though no engineer is in it.",
            saving=n("W002-28"),
        ),
        tr(
            "31 % takes a throughput of {ratio} times that of H200 under those weights, or energy at "
            "{energy} USD/kWh where throughput is equal.",
            ratio=n("W002-30", 3),
            energy=n("W002-39", 3),
        ),
        tr(
            "Two engineers cost {each} USD for each accelerator and take 31 % to {low} to {high} %.",
            each=n("W002-41", 0),
            low=n("W002-42"),
            high=n("W002-44"),
        ),
        tr(
            "From 31 to 19 would leave {left} USD for everything else in an MI325X, less than its net price, "
            "so the two figures cannot both hold.",
            left=n("W002-46", 0),
        ),
    )
    return " ".join(said)


def _rents(n: _Number) -> str:
    said = (
        tr(
            "By the listed rents 1,000 hours a month save {low} to {high} USD, by those of the FAQ {faq}.",
            low=n("W000-33", 0),
            high=n("W000-34", 0),
            faq=n("W000-32", 0),
        ),
        tr(
            "The FAQ's rent of MI325X is {ratio} times the listed one of the same page.",
            ratio=n("W000-31"),
        ),
        tr(
            "At 1,000 hours a month a port pays back after {kind} months in the kindest case, and {worst} in "
            "the worst; within a year it takes {least} to {most} hours a month.",
            kind=n("W000-44"),
            worst=n("W000-46", 0),
            least=n("W000-47", 0),
            most=n("W000-49", 0),
        ),
    )
    return " ".join(said)


_CONCLUSIONS: Final[Mapping[str, Callable[[_Number], str]]] = MappingProxyType(
    {"model_of_800": _model_of_800, "listed_rents": _rents, "rents_of_the_faq": _rents}
)
