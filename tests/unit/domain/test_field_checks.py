"""Suggestions for misspelled words, and ranges in errors as people write them."""

import pytest

from gpudesk.domain.field_checks import describe_not_above, describe_out_of_range, find_closest, quote_value
from gpudesk.text.messages import format_message

MODELS = ("gemma-3-27b", "llama-2-7b", "llama-2-70b", "llama-3.1-8b", "llama-3.1-70b", "llama-3.3-70b", "qwen3-8b")


@pytest.mark.parametrize(
    ("typed", "near"),
    [
        ("lama-70b", ("llama-2-70b", "llama-3.1-70b", "llama-3.3-70b")),
        ("Llama 3.1 70B", ("llama-3.1-70b", "llama-3.3-70b", "llama-3.1-8b")),
        ("meta-llama/Llama-3.1-70B-Instruct", ("llama-3.1-70b", "llama-3.3-70b", "llama-3.1-8b")),
        ("qwen", ("qwen3-8b",)),
        ("xyzzy", ()),
        ("", ()),
    ],
)
def test_similar_words_are_suggested(typed: str, near: tuple[str, ...]) -> None:
    assert find_closest(typed, MODELS) == near


def test_ranges_show_values_as_typed() -> None:
    assert format_message(describe_out_of_range(quote_value(-3.0), 0.25, 15.0)) == "-3 is not between 0.25 and 15"
    assert format_message(describe_not_above(60.0, 0.0, 1.0)) == "60 is out of range; use a value above 0, up to 1"
