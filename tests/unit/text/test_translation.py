"""Translation and placeholders: every sentence a user sees goes through these."""

import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpudesk import paths
from gpudesk.text import translation
from gpudesk.text.formatting import join_unit
from gpudesk.text.translation import set_language, tr, trn


def write_mo(file: Path, messages: dict[str, str]) -> None:
    """Write a gettext catalog: the header, two tables of (length, offset), and the strings."""
    entries = sorted((source.encode(), target.encode()) for source, target in messages.items())
    tables = 28 + 16 * len(entries)
    blob = b""
    rows: tuple[list[tuple[int, int]], list[tuple[int, int]]] = ([], [])
    for side in (0, 1):
        for entry in entries:
            rows[side].append((len(entry[side]), tables + len(blob)))
            blob += entry[side] + b"\0"
    numbers = [number for pair in rows[0] + rows[1] for number in pair]
    head = struct.pack("<7I", 0x950412DE, 0, len(entries), 28, 28 + 8 * len(entries), 0, 0)
    file.parent.mkdir(parents=True)
    file.write_bytes(head + struct.pack(f"<{len(numbers)}I", *numbers) + blob)


@pytest.fixture
def german(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Provide a small German translation; it is not yet in effect."""
    messages = {
        "": "Content-Type: text/plain; charset=UTF-8\nPlural-Forms: nplurals=2; plural=(n != 1);\n",
        "{part} fits": "{part} passt",
        "Needs {count}": "Braucht {anzahl}",
        "{n} card\0{n} cards": "{n} Karte\0{n} Karten",
    }
    write_mo(tmp_path / "de" / "LC_MESSAGES" / "gpudesk.mo", messages)
    monkeypatch.setattr(translation, "_get_folder", lambda: tmp_path)


def test_english_is_the_message_itself() -> None:
    assert tr("{part} fits {model}", part="H200", model="70B") == "H200 fits 70B"
    assert tr("{{literal}} {part}", part="{x}") == "{literal} {x}"


def test_placeholders_reach_no_further_than_their_name() -> None:
    assert tr("{part.__class__} {part[0]}", part="H200") == "{part.__class__} {part[0]}"


def test_missing_parameter_is_the_callers_mistake() -> None:
    with pytest.raises(KeyError, match="model"):
        tr("{part} fits {model}", part="H200")


def test_parameters_may_have_any_name() -> None:
    assert tr("{msgid}", msgid="a") == "a"


@pytest.mark.parametrize(("n", "expected"), [(0, "0 cards"), (1, "1 card"), (2, "2 cards")])
def test_plural_in_english(n: int, expected: str) -> None:
    assert trn("{n} card", "{n} cards", n) == expected


@pytest.mark.usefixtures("german")
def test_translation_in_force() -> None:
    assert translation.list_available_languages() == ("en", "de", "pseudo")
    set_language("de")
    assert tr("{part} fits", part="H200") == "H200 passt"
    assert trn("{n} card", "{n} cards", 1) == "1 Karte"
    assert trn("{n} card", "{n} cards", 3) == "3 Karten"
    assert tr("{n} card", n=1) == "1 Karte", "the same text by itself"
    assert tr("not translated") == "not translated"


@pytest.mark.usefixtures("german")
def test_translation_with_a_wrong_placeholder_falls_back_to_the_source() -> None:
    set_language("de")
    assert tr("Needs {count}", count=2) == "Needs 2"


@pytest.mark.usefixtures("german")
def test_language_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUDESK_LANGUAGE", "de")
    set_language(None)
    assert tr("{part} fits", part="H200") == "H200 passt"
    monkeypatch.setenv("GPUDESK_LANGUAGE", "xx")
    set_language(None)
    assert tr("{part} fits", part="H200") == "H200 fits"
    monkeypatch.delenv("GPUDESK_LANGUAGE")
    monkeypatch.setenv("LANGUAGE", "de_AT:en")
    set_language(None)
    assert tr("{part} fits", part="H200") == "H200 passt"


def test_texts_work_without_resource_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(translation, "_get_folder", lambda: tmp_path / "gone")
    set_language(None)
    assert tr("{part} fits", part="H200") == "H200 fits"
    assert translation.list_available_languages() == ("en", "pseudo")


def test_unknown_language_names_those_there_are() -> None:
    with pytest.raises(ValueError, match=r"no translations for 'xx'; there are en, .*pseudo"):
        set_language("xx")


def test_pseudo_language_marks_what_is_translated_and_only_that() -> None:
    set_language("pseudo")
    assert tr("{part} fits on {count}", part="Mix", count=1) == "⟦Mix fîîts ööñ 1⟧"
    assert trn("{n} card", "{n} cards", 2) == "⟦2 çåårds⟧"


@given(st.text(), st.text())
def test_values_are_shown_as_they_are(first: str, second: str) -> None:
    assert tr("{a}|{b}", a=first, b=second) == f"{first}|{second}"


def test_what_the_fit_check_uses_is_a_genitive_in_german() -> None:
    entries = (paths.get_resources_dir() / "translations/de/LC_MESSAGES/gpudesk.po").read_text(encoding="utf-8")
    assert 'msgid "all memory"\nmsgstr "des gesamten Speichers"' in entries
    assert "nutzt {fraction} {of}, die höchste" in entries


@pytest.mark.parametrize(("unit", "german"), [("nodes", "Knoten"), ("cores", "Kerne"), ("adapters", "Adapter")])
def test_counted_hardware_has_german_units(unit: str, german: str) -> None:
    set_language("de")
    assert join_unit("8", unit) == f"8\N{NO-BREAK SPACE}{german}"
