"""The files of translators: complete, reviewed, and with the placeholders of the program's texts."""

from pathlib import Path

import pytest

from tests.packaging.scripts import load

translations = load(Path(__file__).parents[2] / "packaging" / "translations.py")


@pytest.mark.parametrize("language", translations.list_languages())
def test_every_text_has_a_finished_translation(language: str) -> None:
    assert translations.list_missing(language) == []


def test_texts_of_code_and_of_data_are_found() -> None:
    found = {text.singular: text.plural for text in translations.list_source_texts()}
    assert found["request"] == "requests"
    assert {
        "Output throughput",
        "no such file or directory",
        "case-by-case review",
        "the following arguments are required: %s",
    } <= {*found}


@pytest.mark.parametrize(
    ("texts", "translated", "fault"),
    [
        ("{n} of {all}", "{n} von {all}", ""),
        ("{n} of {all}", "{n} von {alle}", "other placeholders"),
        ("{n} of {all}", "", "not translated"),
        (("{n} card", "{n} cards"), ("Eine Karte", "{n} Karten"), ""),
        (("{n} card", "{n} cards"), ("Eine Karte", ""), "without a plural"),
        (("{n} card", "{n} cards"), ("Eine Karte", "Karten"), "other placeholders"),
    ],
)
def test_faults_of_translations(texts: str | tuple[str, str], translated: str | tuple[str, str], fault: str) -> None:
    message = translations.Message(texts, translated)
    assert translations.find_fault(message, [texts] if isinstance(texts, str) else list(texts)) == fault


def test_a_guess_is_to_be_reviewed() -> None:
    assert translations.find_fault(translations.Message("a", "b", flags=("fuzzy",)), ["a"]) == "to be reviewed"
