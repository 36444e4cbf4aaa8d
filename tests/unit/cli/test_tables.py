"""Aligned text: widths, wrapping, numbers flushed right."""

import pytest

from gpudesk.report.writers.text import align_table, indent_hanging, measure_text, pad_text, wrap_text


@pytest.mark.parametrize(("text", "width"), [("abc", 3), ("1,234 ≈", 7), ("日本", 4), ("é", 1), ("", 0)])
def test_width_is_in_places_of_the_terminal(text: str, width: int) -> None:
    assert measure_text(text) == width


def test_padding_goes_to_either_side() -> None:
    assert pad_text("日", 4) == "日  "
    assert pad_text("7", 3, right=True) == "  7"


def test_wrapping_keeps_words_and_indents() -> None:
    assert wrap_text("one two three four", 9) == ["one two", "three", "four"]
    assert wrap_text("one two three", 9, indent="  ") == ["one two", "  three"]
    assert wrap_text("", 9) == [""]
    assert wrap_text("incomprehensibilities x", 5) == ["incomprehensibilities", "x"]


def test_wrapping_keeps_a_number_and_its_unit_together() -> None:
    assert wrap_text("ours 263 (+2 ms, inside)", 15) == ["ours 263", "(+2 ms, inside)"]
    assert wrap_text("takes 42 GB of 15.0 ms", 9) == ["takes", "42 GB of", "15.0 ms"]
    assert wrap_text("16 s", 2) == ["16 s"]
    assert wrap_text("for 4,00\N{NO-BREAK SPACE}$, then", 9) == ["for", "4,00 $,", "then"]
    assert wrap_text("of 3, some in 2026 sell", 11) == ["of 3, some", "in 2026", "sell"]


def test_hanging_text_begins_below_itself() -> None:
    assert indent_hanging("1  ", "some words that go on for a while", 20) == [
        "1  some words that go",
        "   on for a while",
    ]


def test_heads_of_a_table_that_is_too_wide_are_wrapped() -> None:
    lines = align_table(["Name", "Power per rack", "Count"], [["a", "2.0", "1"], ["b", "11.5", "2"]], 16, right=(1, 2))
    assert lines[:5] == ["Name  Power  Count", "        per", "       rack", "─" * 16, "a       2.0      1"]


def test_columns_of_words_are_wrapped_where_the_last_has_no_room() -> None:
    row = ["a name of five whole words", "10", "one two three"]
    lines = align_table(["Name", "N", "Text"], [row], 40, right=(1,))
    assert lines[2:] == ["a name of five whole   10  one two three", "words"]


def test_table_has_columns_and_wraps_the_last() -> None:
    lines = align_table(["Id", "N", "Text"], [["a", "10", "one two three four five"], ["bb", "9", "x"]], 24, right=(1,))
    assert lines[0] == "Id   N  Text"
    assert lines[2] == "a   10  one two three"
    assert lines[3] == "        four five"
    assert lines[4] == "bb   9  x"
