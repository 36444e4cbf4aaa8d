"""The sheet as a PDF: page count, margins, figures as text, and the embedded scenario."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from gpudesk.desktop.ui.printing.layout import lay_out_sheet
from gpudesk.desktop.ui.printing.paper import FOOT, SIDE, TOP, PaperSize
from gpudesk.desktop.ui.printing.pdf import save_answer_as_pdf, write_pdf
from gpudesk.documents.scenario_file import list_template_ids, read_template
from gpudesk.domain.answer import Answer, Scenario
from gpudesk.report.comparison.sheet import build_sheet
from gpudesk.report.comparison.tables import ComparisonSheet
from gpudesk.service import GpuDeskService
from gpudesk.text import translation
from gpudesk.text.formatting import Formatter
from gpudesk.text.messages import InputError
from tests.unit.desktop.ui.printing.conftest import (
    DATE,
    lay_out_answer,
    measure_ink,
    needs_poppler,
    read_info,
    read_words,
    replace_accelerators,
    save_pdf,
)

AnswerTo = Callable[[Scenario], Answer]

#: Scenarios that are hard to lay out: one accelerator, misfits, none that fits, long texts and words.
HARD = {
    "one": replace_accelerators("mi325x-or-h200-70b", "h200-sxm:1"),
    "two do not fit": replace_accelerators("405b-one-node", "h100-sxm:1", "h100-sxm:8", "mi325x:1", "mi325x:8"),
    "none fits": replace_accelerators("405b-one-node", "h100-sxm:1", "l40s:1"),
    "much to say": replace_accelerators(
        "405b-one-node", "h100-sxm:8", "h200-sxm:8", "b200-hgx:8", "mi300x:8", "mi325x:8",
        name="A title that is long enough to take two lines of the paper, and then some more " * 2,
        note="Why this was asked, by whom, and what it is for.\n" * 60,
    ),
    "long words": replace_accelerators(
        "mi325x-or-h200-70b", "h200-sxm:1", "mi325x:1",
        name="Donaudampfschifffahrtsgesellschaftskapitänskajütenbeschleunigervergleich" * 3,
    ),
}  # fmt: skip


def remove_spaces(words: str) -> str:
    return "".join(words.split())


@pytest.mark.parametrize("size", list(PaperSize))
@pytest.mark.parametrize("name", list_template_ids())
def test_page_count_of_templates(answer_to: AnswerTo, name: str, size: PaperSize) -> None:
    sheet, pages = lay_out_answer(answer_to(read_template(name)), size)
    assert len(pages.pages) <= (2 if len(sheet.heads) <= 5 else 3)


def list_figures(sheet: ComparisonSheet) -> list[str]:
    cells = [cell for group in sheet.table.groups for row in group.rows for cell in row.cells]
    texts = [text for cell in cells for text in (cell.text, cell.band, cell.detail) if text]
    texts += [text for headline in sheet.headlines for text in (headline.text, headline.detail)]
    return texts + [fact.value for fact in (*sheet.assumptions, *sheet.foot)]


@needs_poppler
@pytest.mark.parametrize("name", list_template_ids())
def test_every_figure_is_text_in_the_pdf(answer_to: AnswerTo, tmp_path: Path, name: str) -> None:
    answer = answer_to(read_template(name))
    words = remove_spaces(read_words(save_pdf(answer, tmp_path / "sheet.pdf")))
    sheet, _ = lay_out_answer(answer)
    split_texts = [text for text in list_figures(sheet) if all(word not in words for word in (remove_spaces(text),))]
    # Texts may wrap in a narrow column.
    missing = [text for text in split_texts if any(word not in words for word in text.split())]
    assert missing == []
    assert DATE in words


@needs_poppler
def test_notes_sources_and_disputes_are_complete(answer_to: AnswerTo, tmp_path: Path) -> None:
    answer = answer_to(read_template("405b-one-node"))
    words = read_words(save_pdf(answer, tmp_path / "sheet.pdf"))
    sheet = build_sheet(answer, date=DATE)
    texts = [note.text for note in sheet.notes] + [entry.reason for entry in sheet.disputes]
    texts += [source.title for source in sheet.sources] + [remark.text for remark in sheet.remarks]
    assert sheet.notes
    assert sheet.sources
    assert [word for text_ in texts for word in text_.split() if word not in words] == []


@needs_poppler
@pytest.mark.parametrize("size", list(PaperSize))
@pytest.mark.parametrize("name", [*list_template_ids(), *HARD])
def test_ink_is_within_the_margins(answer_to: AnswerTo, tmp_path: Path, name: str, size: PaperSize) -> None:
    answer = answer_to(HARD[name] if name in HARD else read_template(name))
    dpi = 60
    for (width, height), (left, top, right, bottom) in measure_ink(
        save_pdf(answer, tmp_path / "sheet.pdf", size), tmp_path, dpi
    ):
        point = dpi / 72
        assert left >= SIDE * point - 1.5
        assert right <= width - SIDE * point + 1.5
        assert top >= TOP * point - 1.5
        assert bottom <= height - FOOT * point + 1.5


@pytest.mark.parametrize("name", HARD)
def test_pieces_of_a_page_do_not_overlap(answer_to: AnswerTo, name: str) -> None:
    _, pages = lay_out_answer(answer_to(HARD[name]))
    for page in pages.pages:
        end = 0.0
        for placed in page:
            assert placed.y >= end - 0.01
            end = placed.y + placed.piece.height
        assert end <= pages.paper.height - FOOT + 0.01


def test_translated_sheets_have_few_pages(answer_to: AnswerTo) -> None:
    answer = answer_to(replace_accelerators("mi325x-or-h200-70b", "h200-sxm:1", "mi325x:1", "b200-hgx:1", "mi355x:1"))
    translation.set_language("pseudo")
    _, pages = lay_out_answer(answer)
    assert len(pages.pages) <= 3
    translation.set_language("de")
    _, pages = lay_out_answer(answer)
    assert len(pages.pages) == 2


@needs_poppler
def test_long_note_is_complete(answer_to: AnswerTo, tmp_path: Path) -> None:
    scenario = HARD["much to say"]
    words = read_words(save_pdf(answer_to(scenario), tmp_path / "sheet.pdf"))
    assert words.count("Why this was asked") >= 60


@needs_poppler
def test_calculations_are_printed_if_they_need_no_extra_page(
    answer_to: AnswerTo, service: GpuDeskService, tmp_path: Path
) -> None:
    title = "Headline figure calculations"
    two, six = (answer_to(read_template(name)) for name in ("mi325x-or-h200-70b", "405b-one-node"))
    for answer, has_calculations in ((two, True), (six, False)):
        save_answer_as_pdf(answer, tmp_path / "sheet.pdf", "a4", service.explain)
        assert read_info(tmp_path / "sheet.pdf")["Pages"] == "2"
        words = read_words(tmp_path / "sheet.pdf")
        assert (title in words) is has_calculations
    sheet = build_sheet(two, explain=service.explain)
    throughput = next(row for row in sheet.table.groups[1].rows if row.label == "Output throughput")
    (working,) = [each for each in sheet.working if each.figure == "Output throughput"]
    for (_, numbers), cell in zip(working.lines, throughput.cells, strict=True):
        assert f"= {cell.text} tok/s" in numbers


@needs_poppler
def test_fonts_are_embedded_as_subsets(answer_to: AnswerTo, tmp_path: Path) -> None:
    import subprocess

    pdf = save_pdf(answer_to(read_template("mi325x-or-h200-70b")), tmp_path / "sheet.pdf")
    output = subprocess.run(["pdffonts", pdf], check=True, capture_output=True, text=True).stdout
    fonts = [line.split() for line in output.splitlines()[2:]]
    assert {font[0].partition("+")[2] or font[0] for font in fonts} == {
        "DeskSans-Regular", "DeskSans-Medium", "DeskSans-SemiBold",
    }  # fmt: skip
    # Columns from the right: object number, generation, unicode, subset, embedded.
    assert all((font[-5], font[-3]) == ("yes", "yes") for font in fonts)


@needs_poppler
@pytest.mark.parametrize(("size", "points"), [(PaperSize.A4, "595 x 842"), (PaperSize.LETTER, "612 x 792")])
def test_pdf_has_its_metadata(answer_to: AnswerTo, tmp_path: Path, size: PaperSize, points: str) -> None:
    answer = answer_to(read_template("mi325x-or-h200-70b"))
    info = read_info(save_pdf(answer, tmp_path / "sheet.pdf", size))
    assert info["Title"] == answer.scenario.name
    assert info["Creator"].startswith("GPU Desk ")
    assert info["Page size"].startswith(points)


def test_pictures_of_the_pdf_are_vectors(answer_to: AnswerTo, tmp_path: Path) -> None:
    raw = save_pdf(answer_to(read_template("405b-one-node")), tmp_path / "sheet.pdf").read_bytes()
    assert b"/Subtype /Image" not in raw
    assert len(raw) < 200_000


@pytest.mark.parametrize("name", list_template_ids())
def test_comparison_reopens_from_its_pdf(
    answer_to: AnswerTo, service: GpuDeskService, tmp_path: Path, name: str
) -> None:
    answer = answer_to(read_template(name))
    reopened = service.read_scenario(save_pdf(answer, tmp_path / "sheet.pdf"))
    assert reopened.catalog_revision == answer.catalog_revision
    second_answer = service.answer(reopened, with_curves=True)
    assert second_answer.content_hash == answer.content_hash
    assert second_answer.scenario.accelerators == answer.scenario.accelerators
    assert second_answer.scenario.name == answer.scenario.name


def test_unwritable_path_is_named(answer_to: AnswerTo, tmp_path: Path) -> None:
    answer = answer_to(read_template("mi325x-or-h200-70b"))
    target = tmp_path / "no such folder" / "sheet.pdf"
    with pytest.raises(InputError) as caught:
        write_pdf(build_sheet(answer), target, scenario=b"{}")
    assert (caught.value.problem.id, caught.value.where) == ("file.unwritable", str(target))


def test_failed_save_leaves_the_old_file(answer_to: AnswerTo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = answer_to(read_template("mi325x-or-h200-70b"))
    target = tmp_path / "sheet.pdf"
    target.write_bytes(b"old")

    def raise_disk_full(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", raise_disk_full)
    with pytest.raises(InputError):
        save_answer_as_pdf(answer, target, "a4")
    assert target.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [target]


@needs_poppler
def test_specifications_are_printed_without_a_load(answer_to: AnswerTo, tmp_path: Path) -> None:
    words = read_words(save_pdf(answer_to(read_template("mi325x-or-h200-70b")).without_load(), tmp_path / "sheet.pdf"))
    assert "Bandwidth" in words
    assert "specifications only" in words
    assert "Output throughput" not in words


@needs_poppler
def test_long_verdict_ends_after_a_sentence(answer_to: AnswerTo, tmp_path: Path) -> None:
    sheet, _ = lay_out_answer(answer_to(read_template("mi325x-or-h200-70b")))
    long_sheet = replace(sheet, verdict=("One leads.", "Another is faster.", f"{'There is more to say ' * 15}here."))
    pages = lay_out_sheet(long_sheet, PaperSize.A4, Formatter())
    (tmp_path / "long.pdf").write_bytes(pages.render_pdf(sheet.title, None))
    words = read_words(tmp_path / "long.pdf")
    assert "One leads." in words
    assert "Another is faster." in words
    assert "more to say" not in words
