"""The glossary has every abbreviation that is shown, and explains every attribute and figure."""

import re

import pytest

from gpudesk.domain.registry import ATTRIBUTES, COST_FIGURES, FIGURES, MAX_CONCURRENCY
from gpudesk.report.manual import GlossaryTerm, explain_key, find_term, find_topic, read_glossary
from tests.words.texts import read_code

#: Capitals that do not abbreviate a term of the field: names, placeholders of options, formats of files.
NAMES = frozenset(
    """
    ACTION AI API BACKUP COMMAND COUNT CSV DATE DeepSeek EUR FAQ FIELD FIGURE FILE FRACTION HIGH HTTP ID JSON KIND
    LIKELY LOW LoRA MI300X MI325X MI355X MLCommons MODEL NAME NUMBER NVL NaN NumPy PDF PLATFORM PRECISION PyNaCl PySide6
    PyTorch RATE RATIO SGLang SXM TEXT TOKENS TOPIC TensorRT URL US UTF VALUE WORD WORDS XLSX YYYY vLLM
    """.split()  # noqa: SIM905 - a list would be one word a line
)
_CAPITALS = re.compile(r"(?<![\w{.-])[A-Za-z]*[A-Z][A-Za-z0-9]*[A-Z][A-Za-z0-9]*\b")
_CODE = re.compile(r"`[^`]*`|\{[^}]*\}|[A-Z]+=\S+|--\S+")


def test_terms_are_in_alphabetical_order_and_unique() -> None:
    terms = [term.term.casefold() for term in read_glossary()]
    assert terms == sorted(set(terms))


def test_every_abbreviation_is_in_the_glossary() -> None:
    glossary_words = {word for term in read_glossary() for word in re.findall(r"\w+", f"{term.title} {term.meaning}")}
    abbreviations = {
        word.removesuffix("s"): text.place
        for text in read_code()
        for word in _CAPITALS.findall(_CODE.sub("", text.text))
        if word not in NAMES and word.removesuffix("s") not in NAMES
    }
    assert {word: place for word, place in abbreviations.items() if word not in glossary_words} == {}


def test_every_attribute_and_figure_has_a_term() -> None:
    keys = [*ATTRIBUTES, *(each.row_key for each in ATTRIBUTES.values()), *FIGURES, *COST_FIGURES, MAX_CONCURRENCY.key]
    assert [key for key in keys if find_term(key) is None] == []
    assert explain_key("tpot_ms").startswith("Mean time")
    assert explain_key("no such key") == ""


@pytest.mark.parametrize("term", read_glossary(), ids=lambda term: term.term)
def test_term_is_found_by_its_title(term: GlossaryTerm) -> None:
    """A page of the same name comes before the term."""
    assert find_topic(term.title) in (term.topic, term.title.casefold())
