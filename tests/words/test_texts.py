"""Every text that the program shows keeps the rules."""

from tests.words.rules import find_faults
from tests.words.texts import read_all


def test_shown_texts_have_no_faults() -> None:
    faults = [f"{shown.place}: {fault}: {shown.text}" for shown in read_all() for fault in find_faults(shown.text)]
    assert not faults
