"""Pages of the manual: all are linked, links lead somewhere, and every number is computed."""

import math
import re
from functools import cache
from pathlib import Path

import pytest
from babel.messages.pofile import read_po

from gpudesk import paths
from gpudesk.domain.answer import LEAST_ODDS, LeadVerdict
from gpudesk.domain.fleet import HOURS_PER_DAY, IDLE_SHARE, FleetSettings, LoadCurveKind, make_load_curve
from gpudesk.domain.precision import WIDE_FORMAT
from gpudesk.domain.profile import RankingFactor
from gpudesk.estimation.diffusion import read_diffusion_constants
from gpudesk.fleet.supply import FLEET_DRAWS, RACK_UNITS
from gpudesk.profile.settings import read_profile_settings
from gpudesk.profile.standing import LEAST_MEMBERS
from gpudesk.report.manual import (
    CodeBlock,
    Heading,
    Picture,
    find_topic,
    list_page_names,
    list_texts,
    parse_blocks,
    parse_inline,
    read_page,
    read_pages,
    search_manual,
    suggest_topics,
    write_html,
)
from gpudesk.text.formatting import Formatter
from gpudesk.text.translation import LANGUAGE_NAMES

MANUAL = paths.get_resources_dir() / "manual"
GERMAN_TEXTS = paths.get_resources_dir() / "translations/de/LC_MESSAGES/gpudesk.po"
PAGES = list_page_names()
#: Pages that are written by a program: their numbers are checked where they are made.
GENERATED = frozenset({"accuracy", "command-line", "glossary", "keyboard"})
_EMPHASIS = re.compile(r"(?<!\*)\*([^*\s][^*\n]*)\*(?!\*)")


def list_targets(text: str) -> list[str]:
    return [run.target for line in text.splitlines() for run in parse_inline(line) if run.kind == "link"]


def test_every_page_is_in_the_contents_once() -> None:
    assert sorted(PAGES) == sorted(file.stem for file in MANUAL.glob("*.md"))
    linked = [target.removesuffix(".md") for target in list_targets((MANUAL / "contents.md").read_text())]
    assert linked == list(PAGES[1:])


@pytest.mark.parametrize("name", PAGES)
def test_links_and_pictures_lead_somewhere(name: str) -> None:
    for target in list_targets((MANUAL / f"{name}.md").read_text(encoding="utf-8")):
        file, _, anchor = target.partition("#")
        assert (MANUAL / file).exists(), target
        if file.endswith(".md") or not file:
            page = read_page(file.removesuffix(".md") or name)
            assert not anchor or anchor in page.anchors, target
    for block in read_page(name).blocks:
        if isinstance(block, Picture):
            assert (MANUAL / block.file).is_file(), block.file
            assert block.text


@cache
def list_labels(language: str) -> set[str]:
    """Return all texts of the program in English or German, with … for placeholders."""
    with GERMAN_TEXTS.open("rb") as stream:
        entries = [entry for entry in read_po(stream) if entry.id]
    messages = [(entry.string or "") if language == "de" else entry.id for entry in entries]
    texts = [text for each in messages for text in ((each,) if isinstance(each, str) else each)]
    return {re.sub(r"\{\w+\}", "…", text.replace("&", "")) for text in texts} | set(LANGUAGE_NAMES.values())


@pytest.mark.parametrize("language", ["en", "de"])
def test_labels_in_the_manual_are_those_of_the_program(language: str) -> None:
    """Words in *emphasis* quote a label, or the way to it in a menu; words that are defined are **strong**."""
    folder = MANUAL / language if language == "de" else MANUAL
    for file in sorted(folder.glob("*.md")):
        prose = re.sub(r"```.*?```|`[^`\n]*`", "", file.read_text(encoding="utf-8"), flags=re.DOTALL)
        quoted = {label for way in _EMPHASIS.findall(prose) for label in way.split(" → ")}
        assert quoted - list_labels(language) == set(), file.name


@pytest.mark.parametrize("name", PAGES)
def test_headings_begin_with_one_title_and_have_names_of_their_own(name: str) -> None:
    headings = [block for block in read_page(name).blocks if isinstance(block, Heading)]
    assert isinstance(read_page(name).blocks[0], Heading)
    assert [heading.level for heading in headings].count(1) == 1
    if name != "accuracy":
        assert len(read_page(name).anchors) == len(headings)


def compute_numbers() -> set[str]:
    """Return the numbers that pages may state, as the program has them."""
    odds = {Formatter().number(LEAST_ODDS[verdict] * 100, 0) for verdict in LeadVerdict if verdict in LEAST_ODDS}
    return (
        {f"{each}%" for each in odds}
        | {"80%"}
        | compute_profile_numbers()
        | compute_diffusion_numbers()
        | compute_fleet_numbers()
    )


def compute_profile_numbers() -> set[str]:
    """Return the thresholds of profiles, the factors of their ranking, and the counts that a document prints."""
    settings = read_profile_settings(paths.get_data_path("profile.toml"))
    rule = settings.runs_well
    thresholds = (settings.generation_months, settings.strong_percentile, settings.weak_percentile, LEAST_MEMBERS)
    numbers = (*thresholds, *settings.counts, rule.tokens_per_s, rule.concurrency, len(RankingFactor))
    enough = {f"{settings.enough.free_share:.0%}", f"{settings.enough.tokens_per_s:g}"}
    printed = {"363", "374", "41", "50"}
    return {f"{each:g}" for each in numbers} | enough | printed


def compute_diffusion_numbers() -> set[str]:
    """Return the constants of diffusion models that the manual states, and the bits of formats that stay wide."""
    constants = read_diffusion_constants(paths.get_data_path("diffusion_constants.toml")).constants
    limits = (*constants.image_grades, *constants.video_grades)
    memory = (constants.activation_vectors, math.isqrt(constants.decoder_tile_pixels), WIDE_FORMAT.bits)
    return {f"{each:g}" for each in (*limits, *memory)} | {f"{constants.decoder_pixel_bytes:,.0f}"}


def compute_fleet_numbers() -> set[str]:
    """Return the hours of a day and of the load curves, the decimals of their peaks, and the constants of fleets."""
    curves = [make_load_curve(FleetSettings(curve=kind)) for kind in LoadCurveKind if kind is not LoadCurveKind.OWN]
    peaks = {f"{curve.peak_factor:.2f}".partition(".")[2] for curve in curves}
    busy = {str(hour) for curve in curves for hour, each in enumerate(curve.multipliers) if each == curve.peak_factor}
    draws = f"{FLEET_DRAWS:,}".partition(",")[2]
    return peaks | busy | {draws, f"{IDLE_SHARE:.0%}", f"{RACK_UNITS:g}", str(HOURS_PER_DAY)}


@pytest.mark.parametrize("name", [name for name in PAGES if name not in GENERATED])
def test_numbers_in_prose_are_computed(name: str) -> None:
    """Names of models and accelerators, keys and formats have digits too; these do not count."""
    texts = [text for block in read_page(name).blocks if not isinstance(block, CodeBlock) for text in list_texts(block)]
    prose = re.sub(r"\b(Llama 3\.1 70B|H200 SXM|F1|F6|\d-bit|Ctrl\+\d|A4|0|1|2)\b", "", "\n".join(texts))
    assert set(re.findall(r"(?<!\w)\d[\d.,]*%?", prose)) <= compute_numbers()


def test_page_is_read_as_blocks() -> None:
    text = "# One {#first}\n\nTwo **three**\nfour\n\n- a\n- b\n  c\n\n| x | y |\n| - | - |\n| `p\\|q` | r |\n"
    blocks = parse_blocks(text + "\n```sh\n# no heading\n```\n\n![Words](a.png)\n")
    assert [type(block).__name__ for block in blocks] == [
        "Heading", "Paragraph", "ItemList", "ManualTable", "CodeBlock", "Picture",
    ]  # fmt: skip
    html = write_html(blocks)
    assert 'id="first"' in html
    assert "<p>Two <b>three</b> four</p>" in html
    assert "<li>b c</li>" in html
    assert "<td><code>p|q</code></td><td>r</td>" in html
    assert "# no heading" in html
    assert '<img src="a.png" alt="Words">' in html


def test_markup_in_text_is_escaped() -> None:
    assert write_html(parse_blocks("a < b & `<i>`")) == "<p>a &lt; b &amp; <code>&lt;i&gt;</code></p>"


def test_search_ranks_titles_first_and_shows_where_the_words_are() -> None:
    first, *others = search_manual("payback period")
    assert first.topic == "glossary#payback-period"
    assert any(hit.topic == "cost#rent" for hit in others)
    assert "payback" in next(hit for hit in others if hit.topic == "cost#rent").excerpt.casefold()
    assert search_manual("") == search_manual("xyzzy") == []


#: What an engineer types, and the topic that comes first.
SEARCHES = {
    "AWQ": "glossary#quantization",
    "backup": "catalog#backups",
    "bottleneck": "glossary#limiter",
    "chunked prefill": "glossary#chunked-prefill",
    "CPU offload": "scope#not-covered",
    "dark": "first-steps#adjust-the-window",
    "depreciation": "glossary#residual-value",
    "embeddings": "scope#not-covered",
    "euro": "cost",
    "Excel": "cost#workbook",
    "expert parallelism": "glossary#expert-parallelism-ep",
    "fine-tuning": "scope#not-covered",
    "font size": "first-steps#adjust-the-window",
    "Gaudi": "scope#covered",
    "GGUF": "glossary#gguf",
    "goodput": "glossary#goodput",
    "HBM": "glossary#memory-type",
    "InfiniBand": "glossary#network",
    "ITL": "glossary#inter-token-latency-itl",
    "LoRA": "scope#not-covered",
    "MIG": "scope#not-covered",
    "NVLink": "glossary#interconnect",
    "out of memory": "troubleshooting#fit",
    "p99": "glossary#percentile",
    "prefix caching": "glossary#prefix-cache",
    "price list": "glossary#list-price",
    "PUE": "glossary#power-usage-effectiveness-pue",
    "QPS": "glossary#request-rate",
    "quantization": "glossary#quantization",
    "rent": "glossary#rent",
    "screen reader": "first-steps#adjust-the-window",
    "sheet": "sheet",
    "speculative decoding": "glossary#speculative-decoding",
    "TCO": "glossary#total-cost-of-ownership-tco",
    "telemetry": "scope#updates",
    "TPOT": "glossary#time-per-output-token-tpot",
    "Trainium": "scope#covered",
    "uninstall": "files#remove",
}


@pytest.mark.parametrize("words", SEARCHES)
def test_what_engineers_type_is_found(words: str) -> None:
    assert search_manual(words)[0].topic == SEARCHES[words]


def test_short_words_are_found_where_a_word_begins() -> None:
    """Long ones are found inside compounds as well."""
    assert [hit.topic for hit in search_manual("itl")] == ["glossary#inter-token-latency-itl"]
    assert search_manual("oom") == []
    assert "compare#headline-figures" in [hit.topic for hit in search_manual("roughput")]


@pytest.mark.parametrize(
    ("words", "topic"),
    [
        ("compare", "compare"),
        ("TPOT", "glossary#time-per-output-token-tpot"),
        ("Current fit", "memory#fit"),
        ("nowhere", None),
    ],
)
def test_topics_are_found_by_what_people_type(words: str, topic: str | None) -> None:
    assert find_topic(words) == topic


def test_nearest_topics_are_suggested() -> None:
    assert "troubleshooting" in suggest_topics("trouble shooting")
    assert suggest_topics("xyzzy") == []


def test_search_covers_every_page() -> None:
    assert all(list(page.list_sections()) for page in read_pages())
    assert Path(MANUAL / "glossary.toml").is_file()


def test_the_first_steps_name_all_pages() -> None:
    pages = re.findall(
        r"^\| Go to (.+?) \| Ctrl \+ \d", (MANUAL / "keyboard.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert len(pages) == 8
    listed = f"{', '.join(pages[:-1])} and {pages[-1]}."
    assert f"between the answers: {listed}" in (MANUAL / "first-steps.md").read_text(encoding="utf-8")
