"""Sentences of break-evens."""

from dataclasses import replace

import pytest

from gpudesk.documents.scenario_file import read_template
from gpudesk.domain.answer import AcceleratorChoice
from gpudesk.domain.cost import NO_COST_SETTINGS, BreakEven, UncertainValue
from gpudesk.domain.estimate import Load, LoadKind, Workload
from gpudesk.report.break_even import describe_break_even, describe_break_evens
from gpudesk.report.costs import MoneyFormatter
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import Formatter

NAMES = {"a": "H200 SXM", "b": "MI325X"}


def describe(name: str, value: float | None, against: str | None = None, *, cheaper: bool | None = None) -> str:
    break_even = BreakEven(name, "b", against, value, None, cheaper, USED.get(name))
    text = describe_break_even(break_even, NAMES, Formatter(), MoneyFormatter(Formatter()))
    return text.replace("\N{NO-BREAK SPACE}", " ")


USED = {"price_usd_to_tie": UncertainValue(20000.0, 22000.0, 25000.0), "engineers_to_tie": UncertainValue.exactly(0.0)}


def test_what_has_no_root_says_which_one_is_cheaper() -> None:
    cheaper = describe("discount_to_tie", None, "a", cheaper=True)
    assert cheaper == "MI325X costs less even without a discount."
    dearer = describe("engineers_to_tie", None, "a", cheaper=False)
    assert dearer == "MI325X costs more per token than H200 SXM, even without engineers."


def test_a_small_value_is_not_rounded_away() -> None:
    assert "engineers: 1% of one engineer; used: 0" in describe("engineers_to_tie", 0.01234, "a")
    assert "discount: 0.0400%." in describe("discount_to_tie", 0.0004, "a")


def test_a_price_is_compared_with_the_one_that_is_used() -> None:
    assert describe("price_usd_to_tie", 38017.4, "a") == (
        "MI325X: break-even purchase price: $38,000; used: $22,000 (20,000 – 25,000)."
        " Above it, H200 SXM costs less per token."
    )


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("months_to_own", 26.3, "MI325X: buying pays back after 26.3 months, compared with renting 24/7."),
        ("months_to_own", None, "Buying MI325X does not pay back within the service life, compared with renting 24/7."),
        ("hours_to_own", 603.0, "MI325X: break-even hours of use: 603 hours per month. Above it, buying is cheaper"),
        ("utilisation_to_own", 0.83, "MI325X: break-even share of hours: 83%. Above it, buying is cheaper"),
        (
            "tokens_to_own",
            412.0,
            "MI325X: break-even output, owned: 412 million tokens per month. Above it, buying is cheaper than",
        ),
        ("tokens_to_rent", None, "At any load, the hosted API is cheaper than renting MI325X."),
    ],
)
def test_break_even_sentence_names_the_comparison(name: str, value: float | None, words: str) -> None:
    assert words in describe(name, value)


def test_far_ties_become_one_sentence_and_equal_ones_name_all(service: GpuDeskService) -> None:
    """A break-even at ten times the price says only that the order is safe."""
    workload = Workload(1000, 300, Load(LoadKind.CONCURRENCY, concurrency=10))
    scenario = replace(read_template("mi300x-or-h100-70b"), workload=workload, costs=NO_COST_SETTINGS)
    choices = tuple(AcceleratorChoice(name, 1) for name in ("h100-sxm", "rtx-5090", "h200-sxm"))
    answer = service.answer(replace(scenario, model="llama-3.1-8b", accelerators=choices))
    names = dict(zip(answer.keys, ("H100 SXM", "RTX 5090", "H200 SXM"), strict=True))
    lines = list(describe_break_evens(service.costing.costs(answer), names, Formatter(), MoneyFormatter(Formatter())))
    assert (
        "Owned, RTX 5090 stays cheaper than H100 SXM even if a price or the throughput is off by a factor of 3."
        in lines
    )
    assert not [line for line in lines if "RTX 5090: break-even purchase price" in line]
    assert [line for line in lines if line.startswith("H200 SXM: break-even purchase price")]
    assert "At any load, the hosted API is cheaper than buying H100 SXM, RTX 5090 and H200 SXM." in lines
