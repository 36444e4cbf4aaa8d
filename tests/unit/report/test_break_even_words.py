"""Sentences of break-evens."""

import pytest

from gpudesk.domain.cost import BreakEven
from gpudesk.report.costs import MoneyFormatter, describe_break_even
from gpudesk.text.formatting import Formatter

NAMES = {"a": "H200 SXM", "b": "MI325X"}


def said(name: str, value: float | None, against: str | None = None, *, cheaper: bool | None = None) -> str:
    found = BreakEven(name, "b", against, value, None, cheaper)
    return describe_break_even(found, NAMES, Formatter(), MoneyFormatter(Formatter()))


def test_what_has_no_root_says_which_one_is_cheaper() -> None:
    cheaper = said("discount_to_tie", None, "a", cheaper=True)
    assert cheaper == "MI325X costs less per token than H200 SXM at any discount"
    dearer = said("engineers_to_tie", None, "a", cheaper=False)
    assert dearer.startswith("MI325X costs more per token than H200 SXM with any number of engineers")


def test_a_small_value_is_not_rounded_away() -> None:
    assert "with 0.0123 engineers," in said("engineers_to_tie", 0.01234, "a")
    assert "at 0.0400%," in said("discount_to_tie", 0.0004, "a")


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("months_to_own", 26.3, "MI325X: buying pays back after 26.3 months, compared with renting"),
        ("months_to_own", None, "MI325X: buying does not pay back within its service life"),
        ("hours_to_own", 603.0, "buying is cheaper above 603 hours per month, if idle hours cost no rent"),
        ("utilisation_to_own", 0.83, "Above 83% utilization, buying MI325X is cheaper than renting"),
        (
            "tokens_to_own",
            412.0,
            "Above 412 million output tokens per month, buying MI325X is cheaper than the hosted API",
        ),
        ("tokens_to_rent", None, "The hosted API is cheaper than renting MI325X at any load"),
    ],
)
def test_each_says_what_is_compared(name: str, value: float | None, words: str) -> None:
    assert words in said(name, value).replace("\N{NO-BREAK SPACE}", " ")
