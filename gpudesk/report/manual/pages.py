"""The pages of the manual: their order, topics, sections, and a search through all of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache
from typing import Final

from gpudesk import paths
from gpudesk.report.manual.glossary import GLOSSARY, list_glossary_blocks, read_glossary
from gpudesk.report.manual.markdown import Block, Heading, Paragraph, list_texts, parse_blocks, parse_inline
from gpudesk.text.messages import capitalize_first
from gpudesk.text.translation import SOURCE_LANGUAGE, get_language, tr

CONTENTS: Final = "contents"
_FOLDER: Final = "manual"
_SUFFIX: Final = ".md"
#: Characters of a search result's excerpt around the first hit.
_EXCERPT: Final = 120


@dataclass(frozen=True, slots=True)
class ManualSection:
    """A heading with what follows it, down to the next heading."""

    topic: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class ManualPage:
    """A page by name, which is that of its file without suffix; the first heading is its title."""

    name: str
    blocks: tuple[Block, ...]

    @property
    def title(self) -> str:
        return next(block.text for block in self.blocks if isinstance(block, Heading))

    @property
    def anchors(self) -> frozenset[str]:
        return frozenset(block.anchor for block in self.blocks if isinstance(block, Heading))

    @property
    def headings(self) -> tuple[Heading, ...]:
        """The headings of level 2, which a list of contents shows."""
        return tuple(block for block in self.blocks if isinstance(block, Heading) and block.level == 2)

    def list_sections(self) -> Iterator[ManualSection]:
        heading: Heading | None = None
        texts: list[str] = []
        for block in self.blocks:
            if isinstance(block, Heading):
                if heading is not None:
                    yield self._make_section(heading, texts)
                heading, texts = block, []
            else:
                texts += list_texts(block)
        if heading is not None:
            yield self._make_section(heading, texts)

    def _make_section(self, heading: Heading, texts: Sequence[str]) -> ManualSection:
        topic = self.name if heading.level == 1 else f"{self.name}#{heading.anchor}"
        title = self.title if heading.level == 1 else f"{self.title}: {heading.text}"
        return ManualSection(topic, title, " ".join(texts))


@dataclass(frozen=True, slots=True)
class ManualHit:
    """A section that has all words of a search, and where the first of them is."""

    topic: str
    title: str
    excerpt: str


@cache
def list_page_names() -> tuple[str, ...]:
    """Return the names of all pages in the order in which the contents link them, the contents first."""
    links = [run.target for text in _list_marked_texts() for run in parse_inline(text) if run.kind == "link"]
    return (CONTENTS, *dict.fromkeys(link.partition("#")[0].removesuffix(_SUFFIX) for link in links))


def _list_marked_texts() -> list[str]:
    return paths.resource(f"{_FOLDER}/{CONTENTS}{_SUFFIX}").read_text(encoding="utf-8").splitlines()


def read_page(name: str) -> ManualPage:
    """Return a page in the active language; raises `MissingFileError` where its file is gone.

    A page without a translation is in English and says so in the active language.
    """
    return _read_page(name, get_language())


@cache
def _read_page(name: str, language: str) -> ManualPage:
    blocks = parse_blocks(paths.resource(f"{_FOLDER}/{name}{_SUFFIX}").read_text(encoding="utf-8"))
    translation = paths.resources_dir() / _FOLDER / language / f"{name}{_SUFFIX}"
    if translation.exists():
        blocks = _keep_anchors(parse_blocks(translation.read_text(encoding="utf-8")), blocks)
    elif language != SOURCE_LANGUAGE:
        blocks = (blocks[0], Paragraph(tr("This page is available in English only.")), *blocks[1:])
    return ManualPage(name, (*blocks, *list_glossary_blocks()) if name == GLOSSARY else blocks)


def _keep_anchors(translated: Sequence[Block], source: Sequence[Block]) -> tuple[Block, ...]:
    """Give the headings of a translation the anchors of the English page, which links name."""
    anchors = (block.anchor for block in source if isinstance(block, Heading))
    return tuple(replace(block, anchor=next(anchors)) if isinstance(block, Heading) else block for block in translated)


def read_pages() -> tuple[ManualPage, ...]:
    return tuple(read_page(name) for name in list_page_names())


def find_topic(words: str) -> str | None:
    """Return the topic that a person names: a page or `page#section`, a heading, or a term of the glossary."""
    topic = words.strip().casefold()
    page, _, anchor = topic.partition("#")
    if page in list_page_names() and (not anchor or anchor in read_page(page).anchors):
        return topic
    for term in read_glossary():
        if topic in (each.casefold() for each in term.names):
            return term.topic
    return _list_titles(get_language()).get(topic)


def suggest_topics(words: str) -> list[str]:
    """Return up to three names of topics that are nearest to a name that is not one."""
    names = {name: name for name in list_page_names()} | {title: title for title in _list_titles(get_language())}
    for term in read_glossary():
        names |= {name.casefold(): name for name in term.names if name}
    return [names[name] for name in get_close_matches(words.strip().casefold(), names, n=3)]


@cache
def _list_titles(language: str) -> dict[str, str]:
    """Return headings without case -> topics; the first page that has a heading keeps it."""
    titles: dict[str, str] = {}
    for page in (_read_page(name, language) for name in list_page_names()):
        for block in page.blocks:
            if isinstance(block, Heading):
                topic = page.name if block.level == 1 else f"{page.name}#{block.anchor}"
                titles.setdefault(block.text.casefold(), topic)
    return titles


def search_manual(words: str) -> list[ManualHit]:
    """Return the sections that have all these words, those with all of them in the title first."""
    query_words = words.casefold().split()
    if not query_words:
        return []
    hits: list[tuple[int, ManualHit]] = []
    for page in read_pages():
        for section in page.list_sections():
            title, text = section.title.casefold(), section.text.casefold()
            if all(word in title or word in text for word in query_words):
                rank = sum(word not in title for word in query_words)
                hits.append((rank, ManualHit(section.topic, section.title, make_excerpt(section.text, query_words))))
    return [hit for _, hit in sorted(hits, key=lambda ranked: ranked[0])]


def make_excerpt(text: str, words: Sequence[str]) -> str:
    """Return the text around the first word that it has, cut at spaces."""
    folded = text.casefold()
    places = [place for place in (folded.find(word) for word in words) if place >= 0]
    start = max(0, min(places, default=0) - _EXCERPT // 3)
    if start:
        start = text.find(" ", start) + 1
    part = text[start : start + _EXCERPT]
    if start + _EXCERPT < len(text):
        part = part.rpartition(" ")[0] + " …"
    return ("… " if start else "") + re.sub(r"\s+", " ", part)


def list_topics() -> list[tuple[str, str]]:
    """Return (name, title) of all pages but the contents."""
    return [(page.name, capitalize_first(page.title)) for page in read_pages() if page.name != CONTENTS]
