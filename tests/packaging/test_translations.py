"""The files of translators: complete, reviewed, and with the placeholders of the program's texts."""

from pathlib import Path
from typing import Any

import pytest

from tests.packaging.scripts import load

translations = load(Path(__file__).parents[2] / "packaging" / "translations.py")


@pytest.mark.parametrize("language", translations.list_languages())
def test_every_text_has_a_finished_translation(language: str) -> None:
    assert translations.list_missing(language) == []


def test_texts_of_code_and_of_data_are_found() -> None:
    source_texts = {text.singular: text.plural for text in translations.list_source_texts()}
    assert source_texts["request"] == "requests"
    assert {
        "Output throughput",
        "no such file or directory",
        "case-by-case review",
        "the following arguments are required: %s",
    } <= {*source_texts}


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


def make_catalog(*texts: str) -> Any:  # noqa: ANN401 - of the script's own library
    catalog = translations.Catalog(locale="de")
    for text in texts:
        catalog.add(text, f"{text} auf Deutsch", locations=[("a.py", 0)])
    return catalog


def test_an_update_adds_texts_where_they_come_and_moves_no_other() -> None:
    catalog = make_catalog("b", "gone", "d", "a")
    catalog.add(("{n} card", "{n} cards"), ("{n} Karte", "{n} Karten"))
    template = translations.Catalog()
    for text in ("first", "a", "b", "c", ("{n} card", "{n} cards"), "d", "e"):
        template.add(text, locations=[("b.py", 0)])
    translations.update_catalog(catalog, template)
    updated = {message.id: message.string for message in catalog if message.id}
    assert [*updated] == ["first", "b", "c", "d", "e", "a", ("{n} card", "{n} cards")]
    assert [text for text, translated in updated.items() if not translated] == ["first", "c", "e"]
    assert (updated["b"], updated["{n} card", "{n} cards"]) == ("b auf Deutsch", ("{n} Karte", "{n} Karten"))


def test_a_second_update_changes_nothing(tmp_path: Path) -> None:
    template, file = translations.make_template(), tmp_path / "gpudesk.po"
    (catalog,) = map(translations.read_language, translations.list_languages())
    translations.update_catalog(catalog, template)
    translations.write_catalog(catalog, file)
    first = file.read_bytes()
    with file.open("rb") as stream:
        again = translations.read_po(stream, locale="de")
    translations.update_catalog(again, template)
    translations.write_catalog(again, file)
    assert file.read_bytes() == first
