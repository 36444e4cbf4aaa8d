"""The fleet page of the sheet: the table and the racks, clear of the footer."""

from dataclasses import replace

import pytest
from PySide6.QtWidgets import QApplication

from gpudesk.desktop.ui.printing.layout import lay_out_sheet
from gpudesk.desktop.ui.printing.paper import PaperSize
from gpudesk.documents.scenario_file import read_template
from gpudesk.domain.answer import AcceleratorChoice, SheetExtras
from gpudesk.report.comparison.sheet import build_sheet
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import Formatter
from tests.fleets import make_fleets

DATE = "2026-11-26"
ACCELERATORS = ("h200-sxm", "mi325x", "b200-hgx", "mi355x", "h100-sxm", "mi300x")


@pytest.mark.parametrize("size", list(PaperSize))
@pytest.mark.parametrize("count", [1, 4, 6])
def test_fleets_have_their_own_page(service: GpuDeskService, qapp: QApplication, size: PaperSize, count: int) -> None:
    accelerators = ACCELERATORS[:count]
    choices = tuple(AcceleratorChoice(each) for each in accelerators)
    answer = service.answer(replace(read_template("70b-chat-on-four"), accelerators=choices), with_curves=True)
    without = lay_out_sheet(build_sheet(answer, date=DATE), size, Formatter())
    sheet = build_sheet(answer, date=DATE, further=SheetExtras(fleet=make_fleets(accelerators)))
    pages = lay_out_sheet(sheet, size, Formatter())
    assert len(pages.pages) == len(without.pages) + 1
    *pieces, foot = pages.pages[-1]
    assert max(placed.y + placed.piece.height for placed in pieces) <= foot.y
    assert pages.render_pdf(sheet.title, None).startswith(b"%PDF")
