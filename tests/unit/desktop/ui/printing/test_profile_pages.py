"""The profile on paper: two pages per accelerator, clear of the footer."""

from functools import cache
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from gpudesk.desktop.ui.printing.layout import lay_out_sheet
from gpudesk.desktop.ui.printing.paper import PaperSize
from gpudesk.desktop.ui.printing.profile_pages import lay_out_profile
from gpudesk.documents.scenario_file import read_template
from gpudesk.domain.profile import AcceleratorProfile, ProfileQuestion
from gpudesk.report.comparison.sheet import build_sheet
from gpudesk.report.profile_sections import ProfileTables
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import Formatter
from gpudesk.text.translation import use_language
from tests.unit.desktop.ui.printing.conftest import needs_poppler, read_words


@cache
def get_profile(service: GpuDeskService, question: ProfileQuestion) -> AcceleratorProfile:
    return service.profile(question)


@pytest.mark.parametrize("size", list(PaperSize))
@pytest.mark.parametrize("accelerator", ["mi325x", "rtx-4090", "h100-pcie", "tpu-v6e", "mi455x", "h200-sxm"])
def test_every_profile_has_two_pages(
    service: GpuDeskService, qapp: QApplication, accelerator: str, size: PaperSize
) -> None:
    tables = ProfileTables(get_profile(service, ProfileQuestion(accelerator)), Formatter(), str)
    pages = lay_out_profile(tables, size, "2026-11-26", "2026-11-25")
    assert len(pages.pages) == 2
    for page in pages.pages:
        *pieces, foot = page
        assert max(placed.y + placed.piece.height for placed in pieces) <= foot.y
        assert foot.y + foot.piece.height <= pages.paper.height


@needs_poppler
@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("size", list(PaperSize))
@pytest.mark.parametrize("accelerator", ["h200-sxm", "rtx-5090", "tpu-v5e", "h100-pcie", "gb300-desktop"])
def test_no_text_is_elided_or_omitted(
    service: GpuDeskService, qapp: QApplication, accelerator: str, size: PaperSize, language: str, tmp_path: Path
) -> None:
    profile = get_profile(service, ProfileQuestion(accelerator))
    with use_language(language):
        tables = ProfileTables.from_entries(profile, Formatter(), service.catalog.things())
        pages = lay_out_profile(tables, size, "2026-11-26", "2026-11-25")
        last_note = list(tables.notes())[-1]
    target = tmp_path / "profile.pdf"
    target.write_bytes(pages.render_pdf(accelerator, None))
    words = read_words(target)
    assert "…" not in words
    assert last_note.split(" ")[-1] in words.split(" ")


@needs_poppler
def test_all_considerations_are_printed(service: GpuDeskService, qapp: QApplication, tmp_path: Path) -> None:
    profile = get_profile(service, ProfileQuestion("mi325x"))
    tables = ProfileTables.from_entries(profile, Formatter(), service.catalog.things())
    target = tmp_path / "profile.pdf"
    target.write_bytes(lay_out_profile(tables, PaperSize.A4, "2026-11-26", "2026-11-25").render_pdf("x", None))
    words = read_words(target)
    assert len(tables.considerations()) > 6
    assert all(" ".join(text.split()[:5]) in words for text in tables.considerations())


@needs_poppler
def test_printed_peaks_are_labeled_dense_or_sparse(service: GpuDeskService, qapp: QApplication, tmp_path: Path) -> None:
    tables = ProfileTables(get_profile(service, ProfileQuestion("h200-sxm")), Formatter(), str)
    target = tmp_path / "profile.pdf"
    target.write_bytes(lay_out_profile(tables, PaperSize.A4, "2026-11-26", "2026-11-25").render_pdf("x", None))
    words = read_words(target)
    assert "FP8, dense: 1,978 TFLOPS" in words
    assert "FP8, sparse: 3,958 TFLOPS" in words


@pytest.mark.parametrize("size", list(PaperSize))
@pytest.mark.parametrize("template", ["mi325x-or-h200-70b", "405b-one-node"])
def test_profiles_follow_the_sheet(service: GpuDeskService, qapp: QApplication, template: str, size: PaperSize) -> None:
    scenario = read_template(template)
    sheet = build_sheet(service.answer(scenario, with_curves=True), date="2026-11-26")
    questions = [ProfileQuestion.from_scenario(scenario, each) for each in ("h200-sxm", "tpu-v5e")]
    profiles = [ProfileTables(get_profile(service, each), Formatter(), str) for each in questions]
    pages = lay_out_sheet(sheet, size, Formatter(), profiles)
    alone = lay_out_sheet(sheet, size, Formatter())
    assert not pages.paper.landscape
    assert len(pages.pages) >= len(profiles) * 2 + 1
    if not alone.paper.landscape:
        assert len(pages.pages) == len(alone.pages) + 2 * len(profiles)
    for page in pages.pages[-4:]:
        *pieces, foot = page
        assert max(placed.y + placed.piece.height for placed in pieces) <= foot.y
