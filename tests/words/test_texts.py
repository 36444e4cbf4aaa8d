"""Every text that the program shows keeps the rules."""

from tests.words.rules import find_code_faults, find_faults
from tests.words.texts import read_all, read_comments


def test_shown_texts_have_no_faults() -> None:
    faults = [
        f"{shown_text.place}: {fault}: {shown_text.text}"
        for shown_text in read_all()
        for fault in find_faults(shown_text.text)
    ]
    assert not faults


def test_docstrings_and_comments_have_no_faults() -> None:
    texts = read_comments("gpudesk", "packaging", "tests")
    faults = [f"{each.place}: {fault}" for each in texts for fault in find_code_faults(each.text)]
    assert not faults
