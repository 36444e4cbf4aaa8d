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
    assert cheaper == "A token of MI325X is cheaper than one of H200 SXM at any discount on MI325X, none included"
    dearer = said("engineers_to_tie", None, "a", cheaper=False)
    assert dearer.startswith("A token of MI325X is dearer than one of H200 SXM with any number of engineers")


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("months_to_own", 26.3, "After 26.3 months less cash has gone for MI325X bought"),
        ("months_to_own", None, "Within the years planned no less cash goes for MI325X bought"),
        ("hours_to_own", 603.0, "from 603 hours a month on if idle ones cost no rent"),
        ("utilisation_to_own", 0.83, "In use 83% of all hours MI325X costs as much bought as rented"),
        ("tokens_to_own", 412.0, "cheaper than the hosted API from 412 million output tokens a month on"),
        ("tokens_to_rent", None, "The hosted API is cheaper than MI325X rented at any load that it serves"),
    ],
)
def test_each_says_what_is_compared(name: str, value: float | None, words: str) -> None:
    assert words in said(name, value).replace("\N{NO-BREAK SPACE}", " ")
