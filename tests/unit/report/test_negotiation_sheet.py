"""The negotiation sheet to print: what is on it, and that nothing in it breaks its form."""

import re
from dataclasses import replace

import pytest

from gpudesk.documents.scenario_file import read_template
from gpudesk.report.decision.advisory import NegotiationDocument, build_negotiation_blocks, write_negotiation_file
from gpudesk.report.labels import list_column_names
from gpudesk.report.writers.document import (
    BulletList,
    CheckList,
    DocumentBlock,
    DocumentHeading,
    DocumentParagraph,
    DocumentTable,
    write_blocks_html,
    write_blocks_markdown,
)
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import Formatter
from gpudesk.text.messages import InputError

#: What a user may write, and what must not be read as markup.
NOTE = "Two <b>quotes</b> | 12 *May* & more"


@pytest.fixture(scope="module")
def paper(service: GpuDeskService) -> NegotiationDocument:
    scenario = read_template("70b-chat-on-four")
    settings = replace(
        scenario.decision, done={"P002-01": NOTE, "P002-04.response": ""}, plans={"destination_name": "Peru"}
    )
    scenario = replace(scenario, decision=settings)
    answer = service.answer(scenario)
    decision = service.decide(answer)
    return NegotiationDocument(
        title=scenario.name,
        decision=decision,
        names=dict(zip(decision.columns, list_column_names(answer), strict=True)),
        sheet=service.reference_data.negotiation(scenario, decision, "2026-11-23"),
        checks=(*service.reference_data.export_checks(scenario), service.reference_data.export_check("mi300x", "Peru")),
        rules=service.reference_data.export_rules,
        sources={"seed-002": service.catalog.source("seed-002")},
        made_on="2026-11-23",
        revision="0123abcd",
        formatter=Formatter(),
    )


def text_of(paper: NegotiationDocument, suffix: str) -> str:
    return write_negotiation_file(paper, suffix).decode("utf-8")


def test_the_recommended_deployment_is_its_head(paper: NegotiationDocument) -> None:
    title, date_block, recommended, *_ = build_negotiation_blocks(paper)
    assert title == DocumentHeading(1, "Negotiation sheet: Llama 3.1 70B chat, four accelerators compared")
    assert date_block == DocumentParagraph("Made on 2026-11-23 from catalog 0123abcd")
    assert isinstance(recommended, DocumentHeading)
    assert any(name in recommended.text for name in paper.names.values())


def test_every_step_has_its_ticks_and_notes(paper: NegotiationDocument) -> None:
    ticks = [block for block in build_negotiation_blocks(paper) if isinstance(block, CheckList)]
    assert len(ticks) == 6
    assert ticks[0].points[0] == (True, "Whole step", NOTE)
    assert (True, "A response time for faults", "") in ticks[3].points
    assert [len(each.points) for each in ticks] == [3, 3, 2, 4, 2, 5]


def test_the_export_check_carries_its_warning(paper: NegotiationDocument) -> None:
    blocks = build_negotiation_blocks(paper)
    place = blocks.index(DocumentHeading(2, "Export check"))
    warning, grid, notes = blocks[place + 1 : place + 4]
    assert warning == DocumentParagraph(
        "Arithmetic, not legal advice: check the current rule and ask counsel.", strong=True
    )
    assert isinstance(grid, DocumentTable)
    assert [row[0] for row in grid.rows] == ["H200 SXM", "MI325X", "B200 SXM", "MI355X", "MI300X"]
    assert isinstance(notes, BulletList)
    assert any("1,307 × 16 = 20,912" in line for line in notes.lines)
    assert any("does not name Peru" in line for line in notes.lines)


def test_markdown_shows_words_of_the_user_as_they_are(paper: NegotiationDocument) -> None:
    text = text_of(paper, ".md")
    assert r"- [x] Whole step: Two \<b\>quotes\</b\> \| 12 \*May\* \& more" in text
    assert text.count("- [ ] ") + text.count("- [x] ") == 19
    assert "**Arithmetic, not legal advice: check the current rule and ask counsel.**" in text
    widths = {line.count("|") - line.count(r"\|") for line in text.splitlines() if line.startswith("|")}
    assert len(widths) == 1, "all rows of the table have as many cells"
    assert "AMD stack scorecard, 2024-02" in text


def test_html_needs_nothing_else_and_escapes_words(paper: NegotiationDocument) -> None:
    text = text_of(paper, ".HTML")
    assert "Two &lt;b&gt;quotes&lt;/b&gt; | 12 *May* &amp; more" in text
    assert "<b>" not in text
    assert "<p class=warning>Arithmetic, not legal advice" in text
    assert re.search(r'(?:src|href)="', text) is None
    assert text.count("☑") == 2
    for tag in ("ul", "li", "table", "tr", "td", "th", "h2", "h3", "p"):
        assert len(re.findall(f"<{tag}[ >]", text)) == text.count(f"</{tag}>"), tag


@pytest.mark.parametrize(("suffix", "problem"), [(".txt", "sheet.format"), ("", "file.no_suffix")])
def test_another_form_is_refused(paper: NegotiationDocument, suffix: str, problem: str) -> None:
    with pytest.raises(InputError) as refused:
        write_negotiation_file(paper, suffix)
    assert refused.value.problem.id == problem


def test_no_winner_and_no_name_have_a_sheet_too(paper: NegotiationDocument, service: GpuDeskService) -> None:
    scenario = read_template("70b-chat-on-four")
    none = service.decide(service.answer(scenario), {"serving_engine": "tgi", "precision": "fp4"})
    text = text_of(replace(paper, decision=none, title=""), ".md")
    assert text.startswith("# Negotiation sheet\n")


def test_controls_are_shown_as_signs() -> None:
    blocks: list[DocumentBlock] = [DocumentParagraph("a\x07b\u202ec"), CheckList(((False, "x", "n\x00"),))]
    for text in (write_blocks_markdown(blocks), write_blocks_html("t\x07", blocks)):
        assert not any(each in text for each in "\x07\x00\u202e")
