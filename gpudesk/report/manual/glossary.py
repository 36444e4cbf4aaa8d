"""The glossary: what terms mean, and what serving engines, MLPerf and finance call them."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from typing import Final

from gpudesk import paths
from gpudesk.report.manual.markdown import Block, Heading, ManualTable, Paragraph, make_anchor
from gpudesk.text.translation import tr, translate_data

GLOSSARY: Final = "glossary"
_FILE: Final = "manual/glossary.toml"
#: Fields of other names -> whose they are.
_USERS: Final = {
    "vllm": "vLLM",
    "sglang": "SGLang",
    "tensorrt_llm": "TensorRT-LLM",
    "mlperf": "MLPerf",
    "finance": "Finance",
}


@dataclass(frozen=True, slots=True)
class GlossaryTerm:
    """A term with its meaning.

    `other_names` has pairs of who and what they call it; `registry` has patterns of the keys of attributes and
    figures that it explains.
    """

    term: str
    meaning: str
    abbreviation: str = ""
    other_names: tuple[tuple[str, str], ...] = ()
    registry: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        return self._add_abbreviation(translate_data(self.term))

    @property
    def names(self) -> tuple[str, ...]:
        """What a person may call the term: in English, in the active language, and by its abbreviation."""
        return self.term, translate_data(self.term), self.abbreviation, self.title

    @property
    def anchor(self) -> str:
        """The term's place on the page of the glossary, the same in every language."""
        return make_anchor(self._add_abbreviation(self.term))

    @property
    def topic(self) -> str:
        """The topic of the manual that explains the term."""
        return f"{GLOSSARY}#{self.anchor}"

    def _add_abbreviation(self, name: str) -> str:
        return f"{name} ({self.abbreviation})" if self.abbreviation and self.abbreviation not in name else name


@cache
def read_glossary() -> tuple[GlossaryTerm, ...]:
    """Return all terms in alphabetical order; raises `MissingFileError`."""
    stated = tomllib.loads(paths.resource(_FILE).read_text(encoding="utf-8"))
    return tuple(
        GlossaryTerm(
            entry["term"],
            entry["meaning"],
            entry.get("abbreviation", ""),
            tuple((user, entry[field]) for field, user in _USERS.items() if field in entry),
            tuple(entry.get("registry", ())),
        )
        for entry in stated["terms"]
    )


@lru_cache(maxsize=256)
def find_term(key: str) -> GlossaryTerm | None:
    """Return the term that explains an attribute or figure of the registry; None for other keys."""
    return next((term for term in read_glossary() if any(fnmatchcase(key, each) for each in term.registry)), None)


def explain_key(key: str) -> str:
    """Return the meaning of an attribute or figure, for a tooltip, a sentence a line; empty where no term has it."""
    try:
        term = find_term(key)
    except paths.MissingFileError:
        # A tooltip is no place to report a damaged installation.
        return ""
    return "" if term is None else translate_data(term.meaning).replace(". ", ".\n")


def list_glossary_blocks() -> tuple[Block, ...]:
    """Return the glossary as blocks of a page: for each term its meaning and its other names."""
    blocks: list[Block] = []
    for term in sorted(read_glossary(), key=lambda term: term.title.casefold()):
        blocks += [Heading(3, term.title, term.anchor), Paragraph(translate_data(term.meaning))]
        if term.other_names:
            rows = tuple((user, f"`{name}`") for user, name in term.other_names)
            blocks.append(ManualTable((tr("Used by"), tr("Name")), rows))
    return tuple(blocks)
