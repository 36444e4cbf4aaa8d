"""Parsing and formatting of typed numbers, and steps of sliders."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpudesk.desktop.ui.widgets.number_edit import (
    NumberError,
    NumberFormat,
    find_nearest_step,
    make_count_steps,
    make_decade_steps,
    step_by,
)
from gpudesk.text.formatting import GERMAN_NUMBERS

TOKENS = NumberFormat(1, 10_000_000)
RATE = NumberFormat(0.01, 10_000, decimals=2)
GERMAN_RATE = NumberFormat(0.01, 10_000, decimals=2, style=GERMAN_NUMBERS)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("4000", 4000),
        ("4,000", 4000),
        (" 4 000 ", 4000),
        ("4k", 4000),
        ("1.5k", 1500),
        ("2M", 2_000_000),
        ("1,000,000", 1_000_000),
        ("4’000", 4000),
    ],
)
def test_whole_numbers_with_any_grouping(text: str, value: float) -> None:
    assert TOKENS.parse(text) == value


@pytest.mark.parametrize(
    ("style", "text", "value"),
    [
        (RATE, "2.5", 2.5),
        (RATE, "2,5", 2.5),
        (RATE, "1,250.75", 1250.75),
        (GERMAN_RATE, "2,5", 2.5),
        (GERMAN_RATE, "1.250,75", 1250.75),
        (GERMAN_RATE, "1.250", 1250.0),
        (GERMAN_RATE, "2.5", 2.5),
    ],
)
def test_decimals_follow_the_language(style: NumberFormat, text: str, value: float) -> None:
    assert style.parse(text) == value


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "Enter a number, such as 64"),
        ("many", "Enter a number, such as 64"),
        ("nan", "Enter a number, such as 64"),
        ("inf", "Enter a number, such as 64"),
        ("1e9", "Maximum: 10,000,000"),
        ("0", "Minimum: 1"),
        ("-5", "Minimum: 1"),
        ("−5", "Minimum: 1"),
        ("99,999,999", "Maximum: 10,000,000"),
        ("1.5", "Enter a whole number, such as 2"),
    ],
)
def test_invalid_numbers_are_reported_with_a_remedy(text: str, sentence: str) -> None:
    with pytest.raises(NumberError, match=f"^{sentence}$"):
        TOKENS.parse(text)


@given(st.integers(1, 10_000_000))
def test_whole_numbers_round_trip(value: int) -> None:
    assert TOKENS.parse(TOKENS.text(value)) == value


@given(st.floats(0.01, 10_000).map(lambda value: round(value, 2)))
def test_decimals_round_trip(value: float) -> None:
    assert RATE.parse(RATE.text(value)) == value
    assert GERMAN_RATE.parse(GERMAN_RATE.text(value)) == value


@given(st.text(max_size=20))
def test_any_text_is_a_number_or_an_error(text: str) -> None:
    with contextlib.suppress(NumberError):
        assert 1 <= TOKENS.parse(text) <= 10_000_000


def test_count_steps_are_round_and_include_both_ends() -> None:
    assert make_count_steps(1, 40) == (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 40)


def test_decade_steps_are_round_and_include_both_ends() -> None:
    assert make_decade_steps(0.5, 7) == (0.5, 0.6, 0.8, 1, 1.5, 2, 3, 4, 5, 6, 7)


def test_nearest_step_is_nearest_by_ratio() -> None:
    steps = make_count_steps(1, 1024)
    assert steps[find_nearest_step(steps, 64)] == 64
    assert steps[find_nearest_step(steps, 56)] == 64
    assert steps[find_nearest_step(steps, 54)] == 48
    assert find_nearest_step(steps, 0.1) == 0
    assert find_nearest_step(steps, 1e9) == len(steps) - 1


def test_step_from_an_intermediate_value() -> None:
    steps = make_count_steps(1, 1024)
    assert step_by(steps, 50, 1) == 64
    assert step_by(steps, 50, -1) == 48
    assert step_by(steps, 64, 1) == 96
    assert step_by(steps, 64, -1) == 48
    assert step_by(steps, 1024, 4) == 1024
    assert step_by(steps, 1, -1) == 1
