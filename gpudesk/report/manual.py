"""The manual: its Markdown as blocks, the glossary, its pages with their search, and both as HTML and as text."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from html import escape
from typing import Final

from gpudesk import paths
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.report.writers.text import align_table, indent_hanging, measure_text, wrap_text
from gpudesk.text.messages import capitalize_first
from gpudesk.text.translation import SOURCE_LANGUAGE, get_language, tr, translate_data

_FENCE: Final = "```"
#: A link can be followed by a name in braces, so that the words can change.
_HEADING: Final = re.compile(r"(#{1,4}) +(.+?)(?: +\{#([\w-]+)\})?")
_PICTURE: Final = re.compile(r"!\[([^\]]*)\]\(([^)]+)\)")
_ITEM: Final = re.compile(r"(?:[-*]|(\d+)\.) +(.+)")
_RULE_CELL: Final = re.compile(r":?-+:?")
#: Cells of a row; an escaped bar belongs to a cell.
_CELL_END: Final = re.compile(r"(?<!\\)\|")
_INLINE: Final = re.compile(r"`([^`]+)`|\*\*([^*]+)\*\*|\*([^*\s][^*]*)\*|\[([^\]]+)\]\(([^)\s]+)\)")


@frozen_dataclass
class Heading:
    """A heading of level 1 to 4; `anchor` is its name in links."""

    level: int
    text: str
    anchor: str


@frozen_dataclass
class Paragraph:
    """Text on one line, with its markup."""

    text: str


@frozen_dataclass
class ItemList:
    """Items of a list of one level."""

    items: tuple[str, ...]
    ordered: bool


@frozen_dataclass
class ManualTable:
    """A head and rows with the same number of cells."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@frozen_dataclass
class CodeBlock:
    """Lines with preserved breaks; `kind` is the word after the fence."""

    kind: str
    lines: tuple[str, ...]


@frozen_dataclass
class Picture:
    """A picture by the name of its file, with alternative text."""

    text: str
    file: str


Block = Heading | Paragraph | ItemList | ManualTable | CodeBlock | Picture


@frozen_dataclass
class InlineText:
    """A run of text: `kind` is `text`, `code`, `strong`, `emphasis` or `link`; only a link has a target."""

    kind: str
    text: str
    target: str = ""


def make_anchor(heading: str) -> str:
    """Return the name of a heading in links: lowercase words with hyphens, as on GitHub."""
    plain = re.sub(r"[^\w\s-]", "", make_plain(heading).casefold())
    return re.sub(r"\s+", "-", plain.strip())


def parse_blocks(text: str) -> tuple[Block, ...]:
    return tuple(_read_blocks(text.splitlines()))


def _read_blocks(lines: Sequence[str]) -> Iterator[Block]:
    number = 0
    while number < len(lines):
        line = lines[number].strip()
        end = number + 1
        if line.startswith(_FENCE):
            while not lines[end].startswith(_FENCE):
                end += 1
            yield CodeBlock(line.removeprefix(_FENCE), tuple(lines[number + 1 : end]))
            end += 1
        elif line.startswith("<!--") or not line:
            pass
        elif heading := _HEADING.fullmatch(line):
            yield Heading(len(heading[1]), heading[2], heading[3] or make_anchor(heading[2]))
        elif picture := _PICTURE.fullmatch(line):
            yield Picture(picture[1], picture[2])
        elif line.startswith("|"):
            end = _find_end(lines, number, lambda each: each.startswith("|"))
            yield _read_table(lines[number:end])
        elif _ITEM.fullmatch(line):
            end = _find_end(lines, number, bool)
            yield _read_list(lines[number:end])
        else:
            end = _find_end(lines, number, lambda each: bool(each) and not _begins_block(each))
            yield Paragraph(" ".join(each.strip() for each in lines[number:end]))
        number = end


def _begins_block(line: str) -> bool:
    return line.startswith((_FENCE, "|", "#", "![", "- ", "* "))


def _find_end(lines: Sequence[str], start: int, belongs: Callable[[str], bool]) -> int:
    return next((n for n in range(start + 1, len(lines)) if not belongs(lines[n].strip())), len(lines))


def _read_table(lines: Sequence[str]) -> ManualTable:
    rows = [
        tuple(cell.strip().replace("\\|", "|") for cell in _CELL_END.split(line.strip().strip("|"))) for line in lines
    ]
    return ManualTable(rows[0], tuple(row for row in rows[1:] if not all(map(_RULE_CELL.fullmatch, row))))


def _read_list(lines: Sequence[str]) -> ItemList:
    items: list[str] = []
    ordered = False
    for line in lines:
        if item := _ITEM.fullmatch(line.strip()):
            ordered = ordered or item[1] is not None
            items.append(item[2])
        else:
            items[-1] += f" {line.strip()}"
    return ItemList(tuple(items), ordered)


def parse_inline(text: str) -> Iterator[InlineText]:
    position = 0
    for mark in _INLINE.finditer(text):
        if mark.start() > position:
            yield InlineText("text", text[position : mark.start()])
        code, strong, emphasis, link, target = mark.groups()
        if link:
            yield InlineText("link", make_plain(link), target)
        else:
            kind = "code" if code else "strong" if strong else "emphasis"
            yield InlineText(kind, code or strong or emphasis)
        position = mark.end()
    if position < len(text):
        yield InlineText("text", text[position:])


def make_plain(text: str) -> str:
    """Return a line without its markup."""
    return "".join(run.text for run in parse_inline(text))


def list_texts(block: Block) -> list[str]:
    """Return the lines of a block without markup, for search and counting."""
    match block:
        case CodeBlock(lines=lines):
            return list(lines)
        case ItemList(items=items):
            return [make_plain(item) for item in items]
        case ManualTable(head=head, rows=rows):
            return [" · ".join(make_plain(cell) for cell in row) for row in (head, *rows)]
        case _:
            return [make_plain(block.text)]


def write_html(blocks: Sequence[Block], link: Callable[[str], str] = str) -> str:
    """Return blocks as HTML for browsers and Qt; `link` gives the address of a target, empty without one."""
    return "\n".join(_write_block(block, link) for block in blocks)


def _write_block(block: Block, link: Callable[[str], str]) -> str:
    match block:
        case Heading(level=level, text=text, anchor=anchor):
            return f'<h{level} id="{anchor}"><a name="{anchor}"></a>{_write_inline(text, link)}</h{level}>'
        case Paragraph(text=text):
            return f"<p>{_write_inline(text, link)}</p>"
        case Picture(text=text, file=file):
            return f'<div><img src="{escape(link(file))}" alt="{escape(text)}"></div>'
        case CodeBlock(kind=kind, lines=lines):
            return f'<pre class="{kind}">{escape(chr(10).join(lines))}</pre>'
        case ItemList(items=items, ordered=ordered):
            name = "ol" if ordered else "ul"
            return f"<{name}>{''.join(f'<li>{_write_inline(item, link)}</li>' for item in items)}</{name}>"
    cells = ["".join(f"<td>{_write_inline(cell, link)}</td>" for cell in row) for row in block.rows]
    head = "".join(f"<th>{_write_inline(cell, link)}</th>" for cell in block.head)
    body = "".join(f"<tr>{row}</tr>" for row in cells)
    return f'<table border="1" cellspacing="0" cellpadding="5"><tr>{head}</tr>{body}</table>'


_ELEMENTS: Final = {"code": "code", "strong": "b", "emphasis": "i"}


def _write_inline(text: str, link: Callable[[str], str]) -> str:
    return "".join(_write_run(run, link) for run in parse_inline(text))


def _write_run(run: InlineText, link: Callable[[str], str]) -> str:
    address = link(run.target) if run.kind == "link" else ""
    if address:
        return f'<a href="{escape(address)}">{escape(run.text)}</a>'
    element = _ELEMENTS.get(run.kind)
    return f"<{element}>{escape(run.text)}</{element}>" if element else escape(run.text)


GLOSSARY: Final = "glossary"
_FILE: Final = "manual/glossary.toml"
#: Fields of other names in their order -> the owner, if it has a name of its own.
_USERS: Final = {
    "vllm": "vLLM",
    "sglang": "SGLang",
    "tensorrt_llm": "TensorRT-LLM",
    "mlperf": "MLPerf",
    "finance": "",
    "elsewhere": "",
}


@frozen_dataclass
class GlossaryTerm:
    """A term with its meaning.

    `other_names` has pairs of a field of `_USERS` and a name; `registry` has patterns of the keys of attributes and
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
        """All names of the term: in English, in the active language, its abbreviation, and those elsewhere."""
        elsewhere = (name for user, names in self.other_names if user == "elsewhere" for name in names.split(", "))
        return self.term, translate_data(self.term), self.abbreviation, self.title, *elsewhere

    @property
    def anchor(self) -> str:
        """The term's anchor on the glossary page, the same in every language."""
        return make_anchor(self._add_abbreviation(self.term))

    @property
    def topic(self) -> str:
        """The manual topic that explains the term."""
        return f"{GLOSSARY}#{self.anchor}"

    def _add_abbreviation(self, name: str) -> str:
        return f"{name} ({self.abbreviation})" if self.abbreviation and self.abbreviation not in name else name


@cache
def read_glossary() -> tuple[GlossaryTerm, ...]:
    """Return all terms in alphabetical order; raises `MissingFileError`."""
    document = tomllib.loads(paths.resource(_FILE).read_text(encoding="utf-8"))
    return tuple(
        GlossaryTerm(
            entry["term"],
            entry["meaning"],
            entry.get("abbreviation", ""),
            tuple((field, entry[field]) for field in _USERS if field in entry),
            tuple(entry.get("registry", ())),
        )
        for entry in document["terms"]
    )


@lru_cache(maxsize=256)
def find_term(key: str) -> GlossaryTerm | None:
    """Return the term that explains an attribute or figure of the registry; None for other keys."""
    return next((term for term in read_glossary() if any(fnmatchcase(key, each) for each in term.registry)), None)


def explain_key(key: str) -> str:
    """Return the meaning of an attribute or figure for a tooltip, one sentence per line; empty without a term."""
    try:
        term = find_term(key)
    except paths.MissingFileError:
        # A tooltip is not the place to report a damaged installation.
        return ""
    return "" if term is None else translate_data(term.meaning).replace(". ", ".\n")


def list_glossary_blocks() -> tuple[Block, ...]:
    """Return the glossary as blocks of a page: for each term its meaning and its other names."""
    blocks: list[Block] = []
    for term in sorted(read_glossary(), key=lambda term: term.title.casefold()):
        blocks += [Heading(3, term.title, term.anchor), Paragraph(translate_data(term.meaning))]
        if term.other_names:
            users = _USERS | {"finance": tr("Finance"), "elsewhere": tr("Elsewhere")}
            rows = tuple((users[user], f"`{name}`") for user, name in term.other_names)
            blocks.append(ManualTable((tr("Used by"), tr("Name")), rows))
    return tuple(blocks)


CONTENTS: Final = "contents"
_FOLDER: Final = "manual"
_SUFFIX: Final = ".md"
#: Characters of a search result's excerpt around the first hit.
_EXCERPT: Final = 120
#: Letters up to which a word that is searched for is an abbreviation rather than a part of a compound.
_SHORT_WORD: Final = 4


@frozen_dataclass
class ManualSection:
    """A heading with its text, up to the next heading."""

    topic: str
    title: str
    text: str


@frozen_dataclass
class ManualPage:
    """Manual page by name, which is its file name without suffix; the first heading is its title."""

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
        """The headings of level 2, for a table of contents."""
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


@frozen_dataclass
class ManualHit:
    """A section with all words of a search, and the position of the first."""

    topic: str
    title: str
    excerpt: str


@cache
def list_page_names() -> tuple[str, ...]:
    """Return the names of all pages in the order of the contents page, which comes first."""
    links = [run.target for text in _list_marked_texts() for run in parse_inline(text) if run.kind == "link"]
    return (CONTENTS, *dict.fromkeys(link.partition("#")[0].removesuffix(_SUFFIX) for link in links))


def _list_marked_texts() -> list[str]:
    return paths.resource(f"{_FOLDER}/{CONTENTS}{_SUFFIX}").read_text(encoding="utf-8").splitlines()


def read_page(name: str) -> ManualPage:
    """Return a page in the active language; raises `MissingFileError` if its file is missing.

    An untranslated page is in English and states so in the active language.
    """
    return _read_page(name, get_language())


#: Of 25 kB each: a search reads all pages of a language.
@lru_cache(maxsize=32)
def _read_page(name: str, language: str) -> ManualPage:
    blocks = parse_blocks(paths.resource(f"{_FOLDER}/{name}{_SUFFIX}").read_text(encoding="utf-8"))
    translation = paths.get_resources_dir() / _FOLDER / language / f"{name}{_SUFFIX}"
    if translation.exists():
        blocks = _keep_anchors(parse_blocks(translation.read_text(encoding="utf-8")), blocks)
    elif language != SOURCE_LANGUAGE:
        blocks = (blocks[0], Paragraph(tr("This page is available in English only.")), *blocks[1:])
    return ManualPage(name, (*blocks, *list_glossary_blocks()) if name == GLOSSARY else blocks)


def _keep_anchors(translated: Sequence[Block], source: Sequence[Block]) -> tuple[Block, ...]:
    """Give the headings of a translation the anchors of the English page, which links use."""
    anchors = (block.anchor for block in source if isinstance(block, Heading))
    return tuple(replace(block, anchor=next(anchors)) if isinstance(block, Heading) else block for block in translated)


def read_pages() -> tuple[ManualPage, ...]:
    return tuple(read_page(name) for name in list_page_names())


def find_topic(words: str) -> str | None:
    """Return the topic of a name: a page or `page#section`, a heading, or a term of the glossary."""
    topic = words.strip().casefold()
    page, _, anchor = topic.partition("#")
    if page in list_page_names() and (not anchor or anchor in read_page(page).anchors):
        return topic
    for term in read_glossary():
        if topic in (each.casefold() for each in term.names):
            return term.topic
    return _list_titles(get_language()).get(topic)


def suggest_topics(words: str) -> list[str]:
    """Return up to three topic names similar to an unknown name."""
    names = {name: name for name in list_page_names()} | {title: title for title in _list_titles(get_language())}
    for term in read_glossary():
        names |= {name.casefold(): name for name in term.names if name}
    return [names[name] for name in get_close_matches(words.strip().casefold(), names, n=3)]


@cache
def _list_titles(language: str) -> dict[str, str]:
    """Return headings in lower case -> topics; the first page with a heading keeps it."""
    titles: dict[str, str] = {}
    for page in (_read_page(name, language) for name in list_page_names()):
        for block in page.blocks:
            if isinstance(block, Heading):
                topic = page.name if block.level == 1 else f"{page.name}#{block.anchor}"
                titles.setdefault(block.text.casefold(), topic)
    return titles


def search_manual(words: str) -> list[ManualHit]:
    """Return the sections with all these words: first the topic of that name, then by words in the title."""
    queries = [_make_query(word) for word in words.casefold().split()]
    if not queries:
        return []
    named = find_topic(words)
    hits: list[tuple[int, ManualHit]] = []
    for page in read_pages():
        for section in page.list_sections():
            title, text = section.title.casefold(), section.text.casefold()
            if all(query.search(title) or query.search(text) for query in queries):
                rank = sum(query.search(title) is None for query in queries)
                places = [place.start() for query in queries if (place := query.search(text))]
                excerpt = _cut_excerpt(section.text, places)
                hit = ManualHit(section.topic, section.title, excerpt)
                hits.append((-1 if section.topic == named else rank, hit))
    return [hit for _, hit in sorted(hits, key=lambda ranked: ranked[0])]


def _make_query(word: str) -> re.Pattern[str]:
    """Return a pattern that finds a lowercase word, a short one only where a word begins, since `title` has `itl`."""
    inside = "" if len(word) > _SHORT_WORD else r"(?<![^\W_])"
    return re.compile(inside + re.escape(word))


def _cut_excerpt(text: str, places: Sequence[int]) -> str:
    """Return the part of a text around the first of some places, on one line."""
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


#: Longer lines of prose are hard to read, even in a wide terminal.
_WIDEST: Final = 88
_CODE_INDENT: Final = "    "


def list_page_lines(page: ManualPage, anchor: str, width: int, strong: Callable[[str], str]) -> Iterator[str]:
    """Yield the lines of a page, or of the section with an anchor: up to the next heading of its level."""
    for number, block in enumerate(_select_blocks(page, anchor)):
        if number and not isinstance(block, Picture):
            yield ""
        prose = min(width, _WIDEST)
        match block:
            case Heading(text=text, level=level):
                yield strong(text.upper() if level == 1 else text)
            case Paragraph(text=text):
                yield from wrap_text(make_plain(text), prose)
            case CodeBlock(lines=lines):
                yield from (_CODE_INDENT + line for line in lines)
            case ItemList(ordered=ordered):
                for place, text in enumerate(list_texts(block), 1):
                    yield from indent_hanging(f"{place}. " if ordered else "- ", text, prose)
            case ManualTable():
                yield from _list_table_lines(block, width, strong)


def _select_blocks(page: ManualPage, anchor: str) -> Sequence[Block]:
    if not anchor:
        return page.blocks
    start = next(n for n, block in enumerate(page.blocks) if isinstance(block, Heading) and block.anchor == anchor)
    level = page.blocks[start].level  # type: ignore[union-attr]
    following = range(start + 1, len(page.blocks))
    end = next((n for n in following if isinstance(block := page.blocks[n], Heading) and block.level <= level), None)
    return page.blocks[start:end]


def _list_table_lines(table: ManualTable, width: int, strong: Callable[[str], str]) -> list[str]:
    """Return an aligned table, or each row as label and text if the columns do not fit."""
    head = [make_plain(cell) for cell in table.head]
    rows = [[make_plain(cell) for cell in row] for row in table.rows]
    widths = [max(map(measure_text, column)) for column in zip(head, *rows, strict=True)]
    if sum(widths[:-1]) + 2 * len(widths) + 16 <= width:
        return align_table(head, rows, width, strong=strong)
    lines: list[str] = []
    for row in rows:
        lines += wrap_text(row[0], width)
        for label, cell in zip(head[1:], row[1:], strict=True):
            lines += indent_hanging("  ", f"{label}: {cell}" if label else cell, width)
    return lines


def list_topic_lines(topics: Sequence[tuple[str, str]], width: int) -> list[str]:
    """Return (name, title) of topics as a table."""
    return align_table((tr("Topic"), tr("Title")), topics, width)


def list_hit_lines(hits: Sequence[ManualHit], width: int, strong: Callable[[str], str]) -> Iterator[str]:
    for hit in hits:
        yield strong(hit.title)
        yield from indent_hanging("  ", hit.excerpt, min(width, _WIDEST))
        yield f"  gpudesk help {hit.topic}"
